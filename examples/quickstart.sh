#!/bin/sh
# Builds linnet and asks a model something:
#   examples/quickstart.sh                         the assistant's model that comes with linnet answers one question
#   examples/quickstart.sh turn on the lights      ... or these words
#   examples/quickstart.sh HF_FOLDER|GGUF [PROMPT] another model goes on with a text
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
model=
if [ $# -gt 0 ] && { [ -f "$1" ] || [ -f "$1/config.json" ]; }; then
  model=$(realpath "$1")
else
  case ${1:-} in
  *' '*) ;; # words with a slash or a name in them
  *.gguf | */*) model=$(realpath -e "$1") ;;
  esac
fi
[ -z "$model" ] || shift
words=$*
cd "$here"

. platform/packages.sh
IFS='
'
# shellcheck disable=SC2086 # one word per line
set -- $LINNET_BUILD_PACKAGES
unset IFS
echo "== packages of Debian: looking for $# of them (what is missing is installed: 90 MB and about a minute where all are)"
need_packages "$@"

mkdir -p build
log=build/quickstart.log
stop() {
  tail -n 40 $log
  echo "The build failed; $log has everything."
  exit 1
}
# What is built, from stdin: every line into the log, and on a terminal how far it is.
progress() {
  while IFS= read -r line; do
    printf '%s\n' "$line" >>$log
    case $line in
    '['*/*']'*) [ ! -t 1 ] || printf '\r   %s ' "${line%%]*}]" ;;
    esac
  done
  [ ! -t 1 ] || printf '\r\033[K'
}
echo "== configuring build/release (some seconds; the log is $log)"
cmake -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DLINNET_TESTS=OFF >$log 2>&1 || stop
cores=$(nproc)
echo "== building the library and the tool on $cores cores (roughly $(((3 + cores) / cores)) minutes the first time)"
{ cmake --build build/release 2>&1 || echo "FAILED: cmake --build"; } | progress
[ "$(tail -n 1 $log)" != "FAILED: cmake --build" ] || stop
linnet=build/release/linnet
echo "== built: $("$linnet" --version | head -n 1)"
# shellcheck disable=SC2016 # to be typed as it stands
echo '   into PATH: cmake --install build/release --prefix ~/.local && export PATH="$HOME/.local/bin:$PATH" (this shell; ~/.profile for those to come)'

if [ -n "$model" ]; then
  echo "== linnet run -m $model -p \"${words:=Once upon a time}\""
  exec "$linnet" run -m "$model" -p "$words" -n 200 --echo
fi
model=examples/assistant/model/linnet-assistant.gguf
echo "== linnet chat -m $model -p \"${words:=set a timer for ten minutes}\""
"$linnet" chat -m $model -p "$words"
echo "== next: linnet chat -m $model (a conversation), linnet bench --synthetic llama-3.2-1b (speed of this machine), or another model: examples/quickstart.sh FOLDER_OR_GGUF \"your prompt\""
