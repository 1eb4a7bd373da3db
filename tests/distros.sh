#!/bin/sh
# Whether README's two commands do what they say on a bare Debian 12 and 13, and what they take: tests/distros.sh [FOLDER [SUITE...]]
#
# Each SUITE (bookworm trixie) gets a root of its own by debootstrap, in which README's commands run from a copy of this tree: the quickstart, then what the tests need, a part of the
# tests, and what people have: no network, no root, a path with spaces, no Catch2, CMake 3.22 with GCC 11, presets. Needs root, debootstrap and a network; half an hour on two cores.
# Bare roots are kept in FOLDER (if none is given, in a temporary one that goes); all else is removed. Mounts and processes are those of a namespace, and end with it.
# DEBIAN_MIRROR is taken if it is set.
set -eu
skip() {
  echo "skipped: distros: $1"
  exit 0
}
here=$(cd "$(dirname "$0")/.." && pwd)

if [ "${1:-}" != --inside ]; then
  [ "$(id -u)" = 0 ] || skip "not root"
  for tool in debootstrap unshare setpriv tar; do
    command -v $tool >/dev/null || skip "$tool is not installed"
  done
  unshare --mount --pid --net true 2>/dev/null || skip "this system gives no namespaces"
  temporary=
  if [ -n "${1:-}" ]; then
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    shift
  else
    folder=$(mktemp -d)
    temporary=$folder
    [ $# = 0 ] || shift
  fi
  work=$(mktemp -d "$folder/work.XXXXXX")
  child=
  # Of its mounts nothing is seen out here, so that what is removed is its files alone.
  gone() {
    [ -z "$child" ] || { kill -KILL "$child" && wait "$child"; } 2>/dev/null || true
    case $work in "$folder"/work.??????) rm -rf --one-file-system -- "$work" ;; esac
    [ -z "$temporary" ] || rm -rf --one-file-system -- "$temporary"
  }
  trap gone EXIT
  trap 'exit 130' INT TERM HUP
  [ $# -gt 0 ] || set -- bookworm trixie
  status=0
  for suite in "$@"; do
    unshare --mount --propagation private --pid --fork --kill-child "$here/tests/distros.sh" --inside "$folder" "$work" "$suite" &
    child=$!
    wait "$child" || status=1
    child=
  done
  exit $status
fi

folder=$2
work=$3
suite=$4
root=$work/$suite
log=$work/$suite.log
user=1000

say() { echo "-- $suite: $*"; }
# The last lines of what failed, and the end.
fail() {
  tail -n 30 "$log"
  say "FAILED: $*"
  exit 1
}
now() { date +%s; }
# in_root FOLDER COMMAND: by sh as root, with nothing of this environment but the ways to packages.
in_root() {
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
    ${PIP_INDEX_URL:+"PIP_INDEX_URL=$PIP_INDEX_URL"} ${PIP_CERT:+PIP_CERT=/etc/host.crt} chroot "$root" sh -ec "cd \"\$1\"; $2" sh "$1"
}
# The same as somebody who may do nothing, without a network.
as_user() {
  env -i HOME=/home/user PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb unshare --net chroot "$root" setpriv --reuid $user --regid $user --clear-groups sh -ec "cd \"\$1\"; $2" sh "$1"
}
# step NAME COMMAND...: its time.
step() {
  name=$1
  shift
  begin=$(now)
  "$@" >"$log" 2>&1 || fail "$name"
  say "$name: $(($(now) - begin)) s"
}
shows() { grep -qF -- "$1" "$log" || fail "it does not say: $1"; }

packages() { in_root / "dpkg-query -W | wc -l"; }
megabytes() { du -smx --exclude=./linnet --exclude=./var/cache/apt --exclude=./var/lib/apt/lists --exclude=./home --exclude=./root . | cut -f 1; }
downloaded() { find "$root/var/cache/apt/archives" -name '*.deb' -printf '%s\n' | awk '{ n += $1 } END { printf "%.0f\n", n / 1e6 }'; }
# measured NAME COMMAND...: a command of README with what it takes.
measured() {
  what=$1
  shift
  p=$(packages)
  m=$(cd "$root" && megabytes)
  d=$(downloaded)
  begin=$(now)
  "$@" >"$log" 2>&1 || fail "$what"
  seconds=$(($(now) - begin))
  say "$what: $seconds s; packages: $(($(packages) - p)) installed, $(($(downloaded) - d)) MB downloaded, $(($(cd "$root" && megabytes) - m)) MB of disk; build/: $(du -smx "$root/linnet/build" | cut -f 1) MB"
}
copy_source() { # where
  mkdir -p "$1"
  if [ -e "$here/.git" ]; then
    (cd "$here" && git -c safe.directory="$here" ls-files -co --exclude-standard | while IFS= read -r f; do [ ! -f "$f" ] || printf '%s\n' "$f"; done | tar -cf - -T -) | tar -xf - -C "$1" --no-same-owner
  else
    (cd "$here" && tar -cf - --exclude=./build .) | tar -xf - -C "$1" --no-same-owner
  fi
}

begin=$(now)
if [ ! -f "$folder/$suite.tar" ]; then
  debootstrap --variant=minbase "$suite" "$work/bare" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$log" 2>&1 || skip "$suite: debootstrap: $(tail -n 1 "$log")"
  rm -f "$work/bare/var/cache/apt/archives/"*.deb
  tar -C "$work/bare" --numeric-owner -cf "$folder/$suite.part" .
  mv "$folder/$suite.part" "$folder/$suite.tar"
  rm -rf --one-file-system -- "$work/bare"
fi
mkdir "$root"
tar -C "$root" --numeric-owner -xpf "$folder/$suite.tar"
mount -t proc proc "$root/proc"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
[ -z "${PIP_CERT:-}" ] || cp -L "$PIP_CERT" "$root/etc/host.crt"
if command -v apt-config >/dev/null; then
  apt-config dump | grep -iE '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date)' >"$root/etc/apt/apt.conf.d/90host" || true
fi
copy_source "$root/linnet"
copy_source "$root/home/user/my own linnet"
chown -R $user:$user "$root/home/user"
say "a bare root of $(du -smx "$root" | cut -f 1) MB with $(packages) packages: $(($(now) - begin)) s; $(nproc) cores"
in_root / "apt-get update -q" >"$log" 2>&1 || skip "$suite: apt-get update: $(tail -n 1 "$log")"

# Where packages are missing, who may not install them is told what to ask for.
if as_user "/home/user/my own linnet" "./examples/quickstart.sh" >"$log" 2>&1; then fail "the quickstart ended well without a compiler"; fi
shows "as root, run: apt-get install g++ cmake ninja-build"

measured "./examples/quickstart.sh" in_root /linnet "./examples/quickstart.sh"
shows '{"name":"set_timer","arguments":{"minutes":10}}'
shows "into PATH: "
step "the quickstart again, on a terminal" in_root /linnet "rm build/release/liblinnet_profile.a; script -qec './examples/quickstart.sh turn off all the lights' /dev/null"
grep -q "$(printf '\r   \\[[0-9]*/[0-9]*\\] ')" "$log" || fail "no progress on a terminal"
step "into PATH" in_root /linnet 'cmake --install build/release --prefix ~/.local; export PATH="$HOME/.local/bin:$PATH"; linnet --version; linnet devices'
step "a plain configuration without Catch2, and the preset" in_root /linnet "cmake -B build/plain -G Ninja; cmake --preset release -B build/preset"
[ "$(grep -cxF -- '-- skipped: tests: Catch2 (2 or 3) is not installed' "$log")" = 2 ] || fail "it does not say that the tests are left out"
step "no network, no root, a path with spaces: the quickstart" as_user "/home/user/my own linnet" "./examples/quickstart.sh play some jazz"
shows '"name":"'

measured "./tests/run.sh, its packages" in_root /linnet "./tests/run.sh --packages"
# What differs by compiler, libc and the libraries' versions.
some="test_exact test_session test_safetensors test_tokenizer test_onednn test_calls test_memory test_web test_conversation check_kernels"
step "tests: the build of some" in_root /linnet "cmake --preset release -DLINNET_TESTS=ON -DLINNET_WERROR=ON -DLINNET_CUDA=OFF
  cmake --build --preset release --target $some linnet_shared linnet_convert_shared hello_one_tier -j $(nproc)"
step "tests: test_symbols $some" in_root /linnet "ctest --preset release --no-tests=error -R '^(test_symbols|$(echo "$some" | tr ' ' '|'))\$'"
step "preset arm64: hello" in_root /linnet "cmake --preset arm64; cmake --build --preset arm64 --target hello -j $(nproc); qemu-aarch64 -L /usr/aarch64-linux-gnu build/arm64/hello examples/assistant/model/linnet-assistant.gguf 'play some'"
if [ "$suite" = bookworm ]; then # the compiler and the CMake of Ubuntu 22.04 and JetPack 6
  step "GCC 11 and CMake 3.22" in_root /linnet "apt-get install -y -q --no-install-recommends g++-11; python3 -m pip install -q --root-user-action ignore --target build/cmake322 cmake==3.22.6
    export PATH=\"\$PWD/build/cmake322/cmake/data/bin:\$PATH\" CC=gcc-11 CXX=g++-11; cmake --version; cmake --preset release -B build/old -DLINNET_TESTS=ON -DLINNET_WERROR=ON; cmake --build build/old --target linnet-cli test_exact -j $(nproc)
    build/old/linnet chat -m examples/assistant/model/linnet-assistant.gguf -p 'set a timer for ten minutes'; build/old/tests/test_exact"
  shows "cmake version 3.22.6"
  shows '"name":"set_timer"'
fi
say "passed"
