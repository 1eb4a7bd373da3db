#!/bin/sh
# Whether all C, C++ and CUDA code is as .clang-format says: tests/format.sh [--fix]. The version is fixed, since others break lines elsewhere.
set -eu
cd "$(dirname "$0")/.."
version=19.1.7
tool=build/clang-format/bin/clang-format
if ! PYTHONPATH=build/clang-format $tool --version 2>/dev/null | grep -qF " $version"; then
  mkdir -p build
  python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --upgrade --target build/clang-format clang-format==$version >build/clang-format.log 2>&1 || {
    echo "skipped: format: clang-format $version cannot be had from PyPI: $(tail -n 1 build/clang-format.log)"
    exit 0
  }
fi
check="--dry-run -Werror"
[ "${1:-}" != --fix ] || check=-i
if [ -e .git ]; then
  git ls-files -co --exclude-standard
else
  find . -name build -prune -o -type f -print
fi | grep -E '\.(c|h|cpp|cu)$' | while read -r f; do [ ! -f "$f" ] || echo "$f"; done | PYTHONPATH=build/clang-format xargs "$tool" $check
