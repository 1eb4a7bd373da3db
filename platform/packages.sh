# Sourced by examples/quickstart.sh and tests/run.sh.
# need_packages "package|what it is for"...: installs the Debian packages that are missing, after saying which and why.
need_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || {
    echo "This is no Debian: these must be there already:"
    printf '  %s\n' "$@"
    return 0
  }
  missing=
  for item in "$@"; do
    package=${item%%|*}
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
    [ -n "$missing" ] || echo "Missing Debian packages:"
    printf '  %-22s %s\n' "$package" "${item#*|}"
    missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  as_root=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "Neither root nor sudo is at hand; as root, run: apt-get install$missing"
      return 1
    }
    as_root="sudo"
  fi
  # shellcheck disable=SC2086 # several words on purpose
  $as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}

LINNET_BUILD_PACKAGES="
g++|the compiler, with OpenMP for the worker threads
cmake|configures the build
ninja-build|runs it
nlohmann-json3-dev|reads config.json and tokenizer.json when a model is converted
libyaml-dev|reads device profiles
libcurl4-openssl-dev|linnet pull gets models with it
libedit-dev|linnet chat edits lines with it
ca-certificates|whom it trusts"
