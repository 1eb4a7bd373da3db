#!/bin/sh
# Runs a command beside N busy processes of the same priority, which end with it: tests/app/busy.sh N COMMAND [ARGUMENT...]
set -u
case ${1:-} in '' | *[!0-9]*) echo "usage: tests/app/busy.sh N COMMAND [ARGUMENT...]" >&2; exit 2 ;; esac
n=$1
shift
[ $# -gt 0 ] || { echo "usage: tests/app/busy.sh N COMMAND [ARGUMENT...]" >&2; exit 2; }
busy=
# shellcheck disable=SC2086 # pids on purpose
end() { [ -z "$busy" ] || kill $busy 2>/dev/null; }
trap end EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
while [ "$n" -gt 0 ]; do
  sh -c 'while :; do :; done' & # a process of its own, ended by its pid
  busy="$busy $!"
  n=$((n - 1))
done
"$@"
