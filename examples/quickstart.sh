#!/bin/sh
# Builds linnet and generates text: examples/quickstart.sh [HF FOLDER | GGUF [PROMPT]]
# Without a model it runs random weights in the shape of a small known model, which shows the speed of this machine.
set -eu
model=${1:-}
prompt=${2:-Once upon a time}
[ -z "$model" ] || model=$(realpath "$model")
cd "$(dirname "$0")/.."

. platform/packages.sh
IFS='
'
# shellcheck disable=SC2086 # one word per line
set -- $LINNET_BUILD_PACKAGES
unset IFS
need_packages "$@"

echo "== building (release)"
mkdir -p build
log=build/quickstart.log
cmake --preset release -DLINNET_TESTS=OFF >$log 2>&1 && cmake --build --preset release >>$log 2>&1 || {
  tail -n 40 $log
  echo "The build failed; $log has everything."
  exit 1
}
linnet=build/release/linnet
"$linnet" --version

if [ -n "$model" ]; then
  echo "== linnet run -m $model -p \"$prompt\""
  exec "$linnet" run -m "$model" -p "$prompt" -n 200 --echo
fi

shape=qwen2.5-0.5b
echo "== no model was given: random weights in the shape of $shape (what they say means nothing, their speed is real)"
echo "== linnet run -m synthetic:$shape --tokens 1,2,3,4,5 -n 16 --seed 1 --ignore-eos --json"
"$linnet" run -m synthetic:$shape --tokens 1,2,3,4,5 -n 16 --seed 1 --ignore-eos --json
echo "== linnet bench --synthetic $shape: speed beside the limits of this machine"
"$linnet" bench --synthetic $shape --reps 3
echo "== next: examples/quickstart.sh FOLDER_OR_GGUF \"your prompt\""
