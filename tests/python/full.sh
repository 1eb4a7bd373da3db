#!/bin/sh
# What takes a network and minutes of the Python package: tests/python/full.sh FOLDER. The wheel out of the clone in a fresh environment, its size and its tags; its tests; docs/python.md's chat; for 64-bit
# ARM under qemu-user; lm-evaluation-harness beside transformers; Ray. What cannot be had is skipped by name.
set -u
cd "$(dirname "$0")/../.." || exit 1
folder=${1:?usage: tests/python/full.sh FOLDER}
failed=
rm -rf "$folder" && mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 1
step() { # name, command...
  name=$1
  shift
  echo "== $name"
  "$@" || { failed="$failed, $name"; echo "== FAILED: $name"; }
}
clean() { env -i PATH=/usr/bin:/bin HOME="$folder" PYTHONDONTWRITEBYTECODE=1 "$@"; } # no PYTHONPATH of others
small() {
  bytes=$(stat -c %s "$folder"/wheel/*.whl)
  echo "wheel: $bytes bytes, $(basename "$folder"/wheel/*.whl)"
  [ "$bytes" -lt 3000000 ]
}
imports() { # ms: the least of ten
  ms=$(for _ in 1 2 3 4 5 6 7 8 9 10; do clean "$folder/venv/bin/python" -c 'import time; t = time.perf_counter(); import linnet; print(int(1e3 * (time.perf_counter() - t)))'; done | sort -n | head -n 1)
  echo "import linnet: $ms ms"
  [ "$ms" -le 50 ]
}
shown() { # the program of docs/python.md
  sed -n '/^import linnet/,/^print(model.plan/p' docs/python.md >"$folder/chat.py" && clean "$folder/venv/bin/python" "$folder/chat.py" >"$folder/chat.out" && cat "$folder/chat.out" &&
    sed -n '/venv\/bin\/python chat.py/,/^```/p' docs/python.md | sed '1d;$d' | diff - "$folder/chat.out"
}

python3 -m venv "$folder/venv" && step "wheel" "$folder/venv/bin/pip" wheel -q ./examples/python --no-deps -w "$folder/wheel" || exit 1
[ -z "$failed" ] || exit 1
step "install" "$folder/venv/bin/pip" install -q "$folder"/wheel/*.whl pytest==8.4.2 numpy==2.0.2 pydantic==2.11.9 auditwheel
step "size" small
step "import" imports
step "tags" clean "$folder/venv/bin/auditwheel" show "$folder"/wheel/*.whl
step "tests" clean "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider -rs tests/python
step "docs/python.md" shown

arm() {
  qemu-aarch64 -version >/dev/null 2>&1 || { echo "skipped: aarch64: no qemu-user"; return; }
  mkdir -p "$folder/arm" && dpkg --print-foreign-architectures | grep -q arm64 || { dpkg --add-architecture arm64 && apt-get update -qq; } || { echo "skipped: aarch64: no packages of arm64"; return; }
  (cd "$folder/arm" && apt-get download -qq python3.11-minimal:arm64 libpython3.11-minimal:arm64 libpython3.11-stdlib:arm64 libc6:arm64 libffi8:arm64 libexpat1:arm64 zlib1g:arm64 libgcc-s1:arm64 libstdc++6:arm64 \
    libssl3:arm64 libcrypt1:arm64 libbz2-1.0:arm64 liblzma5:arm64 libuuid1:arm64 && for d in *.deb; do dpkg -x "$d" root; done) >/dev/null 2>&1 || { echo "skipped: aarch64: no Python 3.11 of arm64 among the packages"; return; }
  "$folder/venv/bin/pip" install -q --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 --python-version 3.11 --only-binary=:all: --target "$folder/arm/site" numpy==2.0.2 pydantic==2.11.9 pytest==8.4.2 &&
    cmake --preset arm64 -B "$folder/arm/build" -DLINNET_PYTHON=ON -DLINNET_OPENMP=OFF -DLINNET_TESTS=OFF >/dev/null && cmake --build "$folder/arm/build" --target linnet_python_package >/dev/null || return 1
  # Programs of ARM cannot start others here, and what takes a second takes minutes.
  PYTHONPATH="$folder/arm/build/python:$folder/arm/site" PYTHONDONTWRITEBYTECODE=1 qemu-aarch64 -L "$folder/arm/root" "$folder/arm/root/usr/bin/python3.11" -m pytest -q -p no:cacheprovider -rs tests/python \
    -k "not exit and not imports_little and not cancel and not ctrl_c and not lock_is_free and not create_and_destroy"
}
step "aarch64, qemu-user" arm

if "$folder/venv/bin/pip" install -q "ray[data,serve]" httpx >"$folder/pip.log" 2>&1; then
  step "Ray" clean "$folder/venv/bin/python" tests/python/fleet.py
else
  echo "skipped: Ray cannot be had from PyPI: $(tail -n 1 "$folder/pip.log")"
fi
if "$folder/venv/bin/pip" install -q "lm_eval[hf]" torch transformers >"$folder/pip.log" 2>&1; then
  step "lm-evaluation-harness" clean "$folder/venv/bin/python" tests/python/lm_eval_tasks.py
else
  echo "skipped: lm_eval cannot be had from PyPI: $(tail -n 1 "$folder/pip.log")"
fi
[ -z "$failed" ] || { echo "FAILED: ${failed#, }"; exit 1; }
