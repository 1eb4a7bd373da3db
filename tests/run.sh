#!/bin/sh
# Everything that must pass before a change is in: tests/run.sh [--full | --packages]
# Installs what the tests need, then: the code's format, Clang with all warnings as errors, ASan + UBSan and the fuzzers, TSan, the ARM kernels under qemu, and the release build last, so
# that the output ends with its summary. --full fuzzes longer, has CUDA's kernels, whole programs, the assistant, sweeps and figures of errors under sanitizers, GCC's ASan + UBSan too, runs all tests for 64-bit and 32-bit ARM, the kernels with oneDNN, and builds with link-time optimisation,
# for one tier, with musl, for Windows and macOS (where zig is) and as a shared library, and in bare roots of Debian. --packages installs what the tests need, and ends.
set -u
full=
packages=
case ${1:-} in
--full) full=1 ;;
--packages) packages=1 ;;
"") ;;
*) echo "usage: tests/run.sh [--full | --packages]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.." || exit 1

. platform/packages.sh
IFS='
'
# shellcheck disable=SC2086 # one word per line
set -- $LINNET_BUILD_PACKAGES
unset IFS
need_packages "$@" "catch2|the tests' framework" "python3|tests of the command line" "python3-jsonschema|judges what schemas let through" "groff-base|formats its man page" "mandoc|finds faults in it" "python3-pip|gets NVRTC, which compiles device code" "pkg-config|test of the installed package" \
  "libdnnl-dev|oneDNN, the reference of the matrix kernels" "ocl-icd-opencl-dev|OpenCL, which its CMake files ask for" \
  "libpocketsphinx-dev|the assistant's speech recogniser" "pocketsphinx-en-us|its English acoustic model" "flite1-dev|the assistant's voice, which speaks the tests' requests too" \
  "libasound2-dev|the assistant's microphone and loudspeaker" "libmicrohttpd-dev|the assistant's page, the server" "chromium-headless-shell|tests of that page" \
  "libpcre2-dev|the regular expressions that the tokenizers' splitters are proven equal to" "binutils|nm and objdump, for the symbol checks" "make|the generator that CMake takes where an app names none" \
  "clang|second compiler, and the fuzzers" "lld|its linker" "libclang-rt-dev|its sanitizers" "libomp-dev|its OpenMP" \
  "g++-aarch64-linux-gnu|compiler for 64-bit ARM" "qemu-user|runs what it makes" "llvm-19|llvm-mca, which counts cycles of the ARM kernels" || exit 1
[ -z "$full" ] || need_packages "g++-arm-linux-gnueabihf|compiler for 32-bit ARM" "debootstrap|bare roots of Debian" || exit 1
[ -z "$packages" ] || exit 0

# What compiles device code comes from PyPI; all builds share what it makes.
cuda=OFF
mkdir -p build
if python3 -c 'import ctypes; [ctypes.CDLL("build/nvrtc/nvidia/" + l) for l in ("cuda_nvrtc/lib/libnvrtc.so.12", "cu13/lib/libnvrtc.so.13")]' 2>/dev/null ||
  python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --upgrade --target build/nvrtc nvidia-cuda-nvrtc-cu12==12.6.85 nvidia-cuda-nvrtc==13.0.88 >build/nvrtc.log 2>&1; then
  cuda=ON
else
  echo "skipped: CUDA: NVRTC cannot be had from PyPI: $(tail -n 1 build/nvrtc.log)"
fi

jobs=$(nproc)
export OMP_WAIT_POLICY=passive # several tests run at a time, each with threads: none may spin while another waits for a core
same_addresses= # TSan of older compilers cannot live with much address randomisation
setarch "$(uname -m)" -R true 2>/dev/null && same_addresses="setarch $(uname -m) -R"
[ -n "$full" ] || export LINNET_TEST_SHORT=1 # see tests/data.h
# Of whole programs, figures and sweeps: minutes with sanitizers, which --full has time for.
long_sanitized="test_server_clients test_server_packages test_server_disk test_cli test_habits test_manual test_assistant_app test_activations test_characters test_templates test_schemas test_schema_texts test_sampling"
failed=
stage() { # name, command...
  name=$1
  shift
  start=$(date +%s)
  echo "== $name"
  "$@" || { failed="$failed, $name"; echo "== FAILED: $name"; }
  echo "== $name: $(($(date +%s) - start)) s"
}
build() { # preset, option for CMake, targets (default all)
  preset=$1
  option=$2
  shift 2
  mkdir -p build
  assistant=AUTO
  [ "$preset" != fuzz ] || [ -n "$full" ] || assistant=OFF
  case $preset in
  armhf | musl-arm64 | windows | macos | tsan) with_cuda=OFF ;; # 32 bits; no loader; no driver; the emulator's fibers are no threads
  fuzz) with_cuda=$([ -n "$full" ] && echo $cuda || echo OFF) ;; # Clang's sanitizers take minutes over the emulated kernels, and over the assistant
  *) with_cuda=$cuda ;;
  esac
  left_out=
  [ "$preset" != fuzz ] || [ -n "$full" ] || left_out=$(echo "$long_sanitized" | sed 's/test_schema_texts/schema_texts/; s/ /;/g')
  cmake --preset "$preset" -DLINNET_TESTS=ON -DLINNET_WERROR=ON -DLINNET_CUDA=$with_cuda "-DLINNET_NVRTC=$PWD/build/nvrtc" "-DLINNET_CUBINS=$PWD/build/cubins" "-DLINNET_ASSISTANT=$assistant" "-DLINNET_UNITY=$([ -n "$full" ] && echo OFF || echo ON)" "-DLINNET_TESTS_LEFT_OUT=$left_out" "$option" >"build/$preset.log" 2>&1 &&
    cmake --build --preset "$preset" -j "$jobs" --target "${@:-all}" -- -k 0 >>"build/$preset.log" 2>&1 || {
    grep -E -A8 'error|Error|FAILED' "build/$preset.log" | head -n 80
    echo "build/$preset.log has everything"
    return 1
  }
}
tests() { # preset, more options for ctest...
  preset=$1
  shift
  $same_addresses ctest --preset "$preset" -j "$jobs" --no-tests=error "$@"
}

cross=1
[ -f /usr/include/catch2/catch.hpp ] || {
  cross=
  echo "skipped: ARM under qemu-user: the tests' framework here is no Catch2 2, which is a header, and a Catch2 3 is for this machine alone"
}
# Windows under Wine; for macOS there is nothing to run it on.
other_systems() {
  python3 -m ziglang version >/dev/null 2>&1 || { echo "skipped: Windows, macOS: no zig (pip install ziglang)"; return; }
  yaml=$(libyaml_source)
  [ -n "$yaml" ] || echo "skipped: device profiles on Windows and macOS: no source of libyaml (apt-get source libyaml, which needs a deb-src among apt's sources)"
  stage "build: zig, macOS" build macos "-DLINNET_YAML_SOURCE=$yaml" linnet linnet_convert hello linnet-cli
  stage "build: zig, Windows" build windows "-DLINNET_YAML_SOURCE=$yaml" linnet linnet_convert hello linnet-cli test_exact test_golden test_session test_windows
  command -v wine >/dev/null || { echo "skipped: tests of Windows: no wine (apt-get install wine64)"; return; }
  stage "tests: Windows, Wine" tests windows -j 1 --timeout 600
  stage "hello: Windows, Wine" same_text_under_wine
  stage "the tool: Windows, Wine" same_tool_under_wine
}
# The folder that apt-get unpacks libyaml's source to, fetched once; nothing where it cannot be had.
libyaml_source() {
  mkdir -p build/libyaml
  [ -f build/libyaml/source/src/parser.c ] ||
    (cd build/libyaml && apt-get source --download-only libyaml >apt.log 2>&1 && mkdir -p source && tar -xf libyaml_*.orig.tar.* -C source --strip-components=1) || return
  echo "$PWD/build/libyaml/source"
}
# The same model and the same words give the same bytes as on ARM.
same_text_under_wine() {
  set -- examples/assistant/model/linnet-assistant.gguf "<|user|>set a timer for ten minutes<|end|><|assistant|>"
  qemu-aarch64 -L /usr/aarch64-linux-gnu build/arm64/hello "$@" >build/hello-arm64.text && ./tests/wine.sh build/windows/hello.exe "$@" | tr -d '\r' >build/hello-windows.text &&
    [ -s build/hello-arm64.text ] && cmp build/hello-arm64.text build/hello-windows.text
}
# The quickstart's request, and a model that is converted, in a folder whose name is no ASCII: the tool of Linux and that of Windows write the same bytes.
same_tool_under_wine() {
  build release -DLINNET_ONEDNN=OFF linnet-cli && rm -rf build/wine-tool && mkdir -p "build/wine-tool/möwe 鷗" && python3 -B tests/app/tiny_model.py build/wine-tool/tiny >/dev/null &&
    cp examples/assistant/model/linnet-assistant.gguf "build/wine-tool/möwe 鷗/model.gguf" && tool_answers linux build/release/linnet && tool_answers windows ./tests/wine.sh build/windows/linnet.exe &&
    diff -r build/wine-tool/linux build/wine-tool/windows
}
tool_answers() { # folder, command...
  into=build/wine-tool/$1
  shift
  mkdir "$into" && "$@" chat -m examples/assistant/model/linnet-assistant.gguf -p "turn off all the lights" >"$into/quickstart" 2>/dev/null && [ -s "$into/quickstart" ] &&
    "$@" tokenize -m "build/wine-tool/möwe 鷗/model.gguf" "Grüße an die 鷗" >"$into/ids" && printf 'set a timer\nfor ten minutes\n' | "$@" tokenize -m "build/wine-tool/möwe 鷗/model.gguf" >"$into/piped" &&
    printf 'what time is it\nturn on the lamp\n' | "$@" chat -m "build/wine-tool/möwe 鷗/model.gguf" >"$into/chat" 2>/dev/null &&
    "$@" convert -q build/wine-tool/tiny -o "$into/mówię.gguf" >/dev/null
}

stage "format" ./tests/format.sh
stage "build: Clang, ASan + UBSan, fuzzers" build fuzz "-DLINNET_FUZZ_SECONDS=$([ -n "$full" ] && echo 300 || echo 10)"
leave_out="^($(echo "$long_sanitized" | tr ' ' '|'))\$"
[ -z "$full" ] || leave_out='^$'
stage "tests: Clang, ASan + UBSan, fuzzers" tests fuzz -E "$leave_out"
if [ -n "$full" ]; then
  stage "build: GCC, ASan + UBSan" build dev -DLINNET_FUZZ=OFF
  stage "tests: GCC, ASan + UBSan" tests dev
fi
# Under TSan only what runs on several threads; the logits of others, whose threads run what test_exact's do, the assistant's pipeline and its page with --full.
apps=
[ -z "$full" ] || apps="test_golden test_pipeline$([ -f /usr/include/microhttpd.h ] && echo ' test_web linnet-server')"
# shellcheck disable=SC2086 # one word per target
stage "build: GCC, TSan" build tsan -DLINNET_FUZZ=OFF test_exact test_session test_kv test_power test_team $apps
stage "tests: TSan" tests tsan -R "^test_(exact|session|kv|power|team${full:+|golden|pipeline|web|server_(endpoints|exact|fairness|models|signals|soak)})\$"
if [ -n "$full" ]; then
  if [ -n "$cross" ]; then
    stage "build: GCC for ARM" build arm64 -DLINNET_FUZZ=OFF
    stage "tests: ARM, qemu-user" tests arm64
    stage "build: GCC for 32-bit ARM" build armhf -DLINNET_FUZZ=OFF
    stage "tests: 32-bit ARM, qemu-user" tests armhf
    if python3 -m ziglang version >/dev/null 2>&1; then
      stage "build: zig, musl" build musl-arm64 -DLINNET_FUZZ=OFF check_kernels test_exact
      stage "tests: musl, qemu-user" tests musl-arm64 -R '^(check_kernels_max|test_exact_max)$'
    else
      echo "skipped: musl-arm64: no zig (pip install ziglang)"
    fi
    other_systems
  fi
  stage "other ways to build" ./tests/app/test_builds.sh
  stage "Debian 12 and 13" ./tests/distros.sh build/distros
  stage "Python: wheel, ARM, lm_eval, Ray" ./tests/python/full.sh build/python-full
elif [ -n "$cross" ]; then
  stage "build: GCC for ARM" build arm64 -DLINNET_FUZZ=OFF check_kernels test_exact test_golden test_calls test_load
  stage "tests: ARM, qemu-user" tests arm64 -L arch
fi
stage "ARM inner loops, llvm-mca" python3 -B tests/kernels/mca_table.py
if [ -n "$full" ] && [ "$(uname -m)" = x86_64 ]; then
  # In the folder of the release build, which then makes only what is different.
  stage "build: with oneDNN" build release -DLINNET_ONEDNN=ON check_kernels test_exact test_profile linnet_shared hello_one_tier
  export LINNET_TEST_TIER=onednn
  stage "tests: with oneDNN" tests release -R '^(check_kernels|test_exact|test_profile|test_symbols)$'
  unset LINNET_TEST_TIER
fi
echo "== skipped in the tests above:"
grep -h '^skipped: ' build/*/Testing/Temporary/LastTest.log 2>/dev/null | sort -u || true
stage "build: release" build release -DLINNET_ONEDNN=OFF
if [ -n "$failed" ]; then
  echo "== FAILED before the release tests: ${failed#, }"
fi
echo "== tests: release"
[ -z "$full" ] || export LINNET_TEST_FULL=1
tests release || failed="$failed, release"
[ -z "$failed" ]
