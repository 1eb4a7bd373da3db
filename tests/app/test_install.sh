#!/bin/sh
# Installs a build into a temporary prefix and builds examples against it as an app would: test_install.sh BUILD SOURCE
set -eu
build=$1
source=$2
cc=${CC:-cc}
launcher=$(command -v ccache || true)
skip() {
  echo "skipped: $1"
  exit 77
}
command -v pkg-config >/dev/null || skip "pkg-config is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/prefix" # an installed tree may be moved
# What comes with it: these folders, and of the tests and of what the assistant's model was trained by nothing, by name or by content.
(cd "$work/prefix" && find . -type f -o -type l | sed -n 's|^\./||p' | sort) >"$work/installed"
while read -r file; do
  case $file in
  bin/linnet | bin/linnet-assistant | bin/linnet-server | include/linnet*.h) ;;
  lib/liblinnet* | lib/pkgconfig/linnet*.pc | lib/cmake/linnet/*.cmake | lib64/* | lib/*-linux-gnu*/*linnet*) ;;
  share/linnet/linnet.json | share/linnet/configs/*.yaml | share/linnet/configs/README.md) ;;
  share/linnet/assistant/tools.json | share/linnet/assistant/assistant.yaml | share/linnet/assistant/model/linnet-assistant.gguf) ;;
  share/linnet/assistant/language/assistant.lm.bin | share/linnet/assistant/language/assistant.dict) ;;
  share/doc/linnet/LICENSE) ;;
  share/man/man1/linnet* | share/bash-completion/completions/linnet*) ;;
  share/zsh/site-functions/_linnet* | share/fish/vendor_completions.d/linnet*) ;;
  *) echo "installed, though no app needs it: $file"; exit 1 ;;
  esac
done <"$work/installed"
top=$(cut -d / -f 1 "$work/installed" | sort -u | tr '\n' ' ')
[ "$top" = "bin include lib share " ] || [ "$top" = "bin include lib64 share " ] || { echo "the installed folders are $top"; exit 1; }
app=$source/examples/assistant
find "$source/tests" "$app/training" "$app/model/checkpoint" "$app/language" -type f -size +0 \
  ! -name assistant.lm.bin ! -name assistant.dict -exec cksum {} + | cut -d ' ' -f 1,2 | sort -u >"$work/ours"
[ "$(wc -l <"$work/ours")" -gt 100 ] || { echo "the tests' files were not found"; exit 1; }
(cd "$work/prefix" && find . -type f -size +0 -exec cksum {} +) >"$work/sums"
while read -r sum bytes file; do
  if grep -qx "$sum $bytes" "$work/ours"; then echo "installed, though it belongs to the tests or to the training: $file"; exit 1; fi
done <"$work/sums"
linnet="$work/prefix/bin/linnet"
"$linnet" --version
cmp "$source/LICENSE" "$work/prefix/share/doc/linnet/LICENSE"
grep -q '"name": "linnet_generate"' "$work/prefix/share/linnet/linnet.json" || { echo "linnet.json is not installed"; exit 1; }
python3 "$source/tests/app/tiny_model.py" "$work/tiny"
"$linnet" convert "$work/tiny" -o "$work/tiny.gguf"

# Without the tests' framework a plain build leaves the tests out and says so; where they are asked for it fails.
plain() { cmake -S "$source" -B "$work/plain" -DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON "$@" >"$work/plain.log" 2>&1; }
plain || { cat "$work/plain.log"; exit 1; }
grep -qx -- '-- skipped: tests: Catch2 (2 or 3) is not installed' "$work/plain.log" || { echo "a build without Catch2 does not say that it has no tests"; exit 1; }
if plain -DLINNET_TESTS=ON; then echo "LINNET_TESTS=ON was configured without Catch2"; exit 1; fi
grep -q 'Catch2' "$work/plain.log"

# C alone: a project that has no C++ enabled, on CMake's package.
mkdir "$work/app" "$work/host"
cp "$source/examples/hello.c" "$work/app"
cat >"$work/app/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(app LANGUAGES C)
find_package(linnet 0.2 REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE linnet::linnet)
END
cmake -S "$work/app" -B "$work/app/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/app.log" || { cat "$work/app.log"; exit 1; }
cmake --build "$work/app/build" >>"$work/app.log" || { cat "$work/app.log"; exit 1; }
"$work/app/build/hello" "$work/tiny.gguf" "Hello" >"$work/cmake.txt"

# As a part of another project, which has no C++ enabled either, linnet sets nothing of that project's, and its install installs nothing of linnet's.
mkdir "$work/parent"
cp "$source/examples/hello.c" "$work/parent"
cat >"$work/parent/shape.c" <<'END'
#include <linnet_convert.h>
int main(void) { return !linnet_convert_shape(0); }
END
cat >"$work/parent/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(parent LANGUAGES C)
include(FetchContent)
set(LINNET_CONVERT ON)
FetchContent_Declare(linnet SOURCE_DIR ${LINNET_SOURCE})
FetchContent_MakeAvailable(linnet)
foreach(setting CMAKE_BUILD_TYPE CMAKE_C_STANDARD CMAKE_CXX_STANDARD CMAKE_POSITION_INDEPENDENT_CODE CMAKE_EXPORT_COMPILE_COMMANDS CMAKE_INSTALL_DOCDIR)
  if(${setting} AND NOT "${${setting}}" STREQUAL "${GIVEN}")
    message(FATAL_ERROR "linnet set ${setting} to ${${setting}}")
  endif()
endforeach()
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE linnet::linnet)
add_executable(shape shape.c)
target_link_libraries(shape PRIVATE linnet::convert)
install(TARGETS hello shape RUNTIME DESTINATION bin)
END
parent() { cmake -S "$work/parent" -B "$work/parent/build" -DLINNET_SOURCE="$source" -DLINNET_ISA_ONLY=scalar -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" "$@"; }
# Without a build type, and with one, which is compiled sooner; that takes minutes all the same.
{ parent && parent -DCMAKE_BUILD_TYPE=Debug -DGIVEN=Debug; } >"$work/parent.log" 2>&1 || { tail -n 40 "$work/parent.log"; exit 1; }
if [ -n "${LINNET_TEST_FULL:-}" ]; then
  { cmake --build "$work/parent/build" -j "$(nproc)" && cmake --install "$work/parent/build" --prefix "$work/parent/prefix"; } >"$work/parent.log" 2>&1 || { tail -n 40 "$work/parent.log"; exit 1; }
  [ "$(cd "$work/parent/prefix" && find . -type f | sort | xargs)" = "./bin/hello ./bin/shape" ] || { echo "a parent project installs more than its own:"; find "$work/parent/prefix" -type f; exit 1; }
  "$work/parent/prefix/bin/hello" "$work/tiny.gguf" "Hello" | cmp - "$work/cmake.txt"
  "$work/parent/prefix/bin/shape"
else
  echo "skipped: compiled as a subdirectory: with --full (LINNET_TEST_FULL=1)"
fi

# The same through pkg-config.
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name linnet.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # several words on purpose
$cc -std=c11 "$source/examples/hello.c" $(pkg-config --cflags --libs linnet) -o "$work/hello"
"$work/hello" "$work/tiny.gguf" "Hello" >"$work/pkgconfig.txt"
cmp "$work/cmake.txt" "$work/pkgconfig.txt"
[ -s "$work/cmake.txt" ] || { echo "hello generated nothing"; exit 1; }
if "$work/hello" "$work/absent.gguf" "Hello" 2>"$work/error.txt"; then echo "hello ran without a model"; exit 1; fi
grep -q absent.gguf "$work/error.txt"

# A profile filled by hand needs neither YAML nor C++: the board is asked, what it gives is taken.
cat >"$work/byhand.c" <<'END'
#include <linnet_device.h>
#include <stdio.h>
int main(void) {
  static _Alignas(64) char memory[1 << 17];
  linnet_error err = {0};
  linnet_need need = {.size = sizeof need};
  linnet_board* board;
  linnet_board_desc desc = {.size = sizeof desc};
  linnet_profile profile = {.size = sizeof profile, .n_threads = 255, .k_format = LINNET_I8, .memory_bytes = 1u << 30};
  if (linnet_board_need(&need, &err) || linnet_board_init(&board, memory, sizeof memory, NULL, &err) ||
      linnet_board_info(board, &desc, &err) || linnet_profile_fit(&profile, board, &err)) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  return need.bytes <= sizeof memory && profile.n_threads >= 1 && profile.n_threads <= desc.n_cpus ? 0 : 1;
}
END
# shellcheck disable=SC2046
$cc -std=c11 "$work/byhand.c" $(pkg-config --cflags --libs linnet) -o "$work/byhand"
"$work/byhand"
for program in "$work/hello" "$work/byhand"; do
  if ldd "$program" | grep -i yaml; then echo "$program is linked to libyaml"; exit 1; fi
done
if nm "$work/prefix"/lib*/liblinnet.a "$work/prefix"/lib*/*/liblinnet.a 2>/dev/null | grep -i yaml_; then echo "the core library speaks of libyaml"; exit 1; fi
for page in man/man1/linnet.1:manual bash-completion/completions/linnet:completion.bash zsh/site-functions/_linnet:completion.zsh fish/vendor_completions.d/linnet.fish:completion.fish; do
  # shellcheck disable=SC2046 # several words on purpose
  "$linnet" $(echo "${page#*:}" | tr . ' ') | cmp - "$work/prefix/share/${page%%:*}"
done
"$linnet" devices --json | grep -q '"name":"raspberry-pi-5"' || { echo "the installed tool finds no profiles"; exit 1; }

# The headers that are installed, and no other of linnet's.
headers=$(cd "$work/prefix/include" && find . -type f | sort | xargs)
[ "$headers" = "$(cd "$source/runtime/include" && find . -name '*.h' | sort | xargs)" ] || { echo "installed headers: $headers"; exit 1; }

# The host side from C, and profiles; a folder is packed, and a conversion stopped.
cat >"$work/host/pack.c" <<'END'
#include <linnet_convert.h>
#include <stdio.h>
#include <string.h>
static uint64_t seen, limit;
static int progress(void* user, uint64_t done, uint64_t total) {
  (void)user, (void)total;
  seen = done;
  return done > limit;
}
/* pack FOLDER OUT: into a file, and again in memory, which has the same bytes; before that a run that is cancelled. */
int main(int argc, char** argv) {
  static char room[4096];
  linnet_error err = {0};
  linnet_convert_params params = {.size = sizeof params, .progress = progress};
  linnet_converted done = {.size = sizeof done};
  linnet_source* source;
  linnet_view file;
  size_t n = 0;
  FILE* out;
  if (argc != 3) return 2;
  if (linnet_convert_file(argv[1], argv[2], &params, &done, &err) != LINNET_CANCELLED || !seen) return 3;
  if ((out = fopen(argv[2], "rb"))) return 4;
  limit = UINT64_MAX;
  if (linnet_convert_file(argv[1], argv[2], &params, &done, &err)) return fprintf(stderr, "%s\n", err.text), 5;
  if (seen != done.file_bytes || !done.packed || !(done.worst_error > 0) || !done.worst_tensor[0]) return 6;
  if (linnet_convert_open(&source, argv[1], NULL, &file, NULL, &err)) return fprintf(stderr, "%s\n", err.text), 7;
  if (file.bytes != done.file_bytes || !(out = fopen(argv[2], "rb"))) return 8;
  for (size_t at = 0, got; (got = fread(room, 1, sizeof room, out)); at += got)
    if (at + got > file.bytes || memcmp(room, (const char*)file.data + at, got)) return 9;
  fclose(out);
  linnet_convert_close(source);
  if (linnet_convert_open(&source, "/nowhere", NULL, &file, NULL, &err) != LINNET_IO || !strstr(err.text, "/nowhere")) return 10;
  if (linnet_grammar_compile(NULL, "{\"type\":\"boolean\"}", 18, NULL, LINNET_GRAMMAR_SCHEMA, room, sizeof room, &n, &err) || !n) return 11;
  return linnet_convert_shape(0) ? 0 : 12;
}
END
cat >"$work/host/host.c" <<'END'
#include <linnet_convert.h>
#include <linnet_device.h>
#include <stdio.h>
int main(int argc, char** argv) {
  static _Alignas(64) char memory[1 << 17];
  linnet_error err = {0};
  linnet_profile profile = {.size = sizeof profile};
  linnet_board* board;
  if (argc != 2 || !linnet_convert_shape(0)) return 1;
  if (linnet_board_init(&board, memory, sizeof memory, NULL, &err)) return fprintf(stderr, "%s\n", err.text), 2;
  if (linnet_profile_pick(argv[1], board, &profile, NULL, 0, NULL, &err)) return fprintf(stderr, "%s\n", err.text), 3;
  return profile.name[0] ? 0 : 4;
}
END
cat >"$work/host/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(host LANGUAGES C)
find_package(linnet 0.2 REQUIRED)
add_executable(host host.c)
target_link_libraries(host PRIVATE linnet::convert linnet::profile)
add_executable(pack pack.c)
target_link_libraries(pack PRIVATE linnet::convert)
END
cmake -S "$work/host" -B "$work/host/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/host.log" || { cat "$work/host.log"; exit 1; }
cmake --build "$work/host/build" >>"$work/host.log" || { cat "$work/host.log"; exit 1; }
"$work/host/build/host" "$work/prefix/share/linnet/configs"
# shellcheck disable=SC2046
$cc -std=c11 "$work/host/host.c" $(pkg-config --cflags --libs linnet_convert linnet_profile) -o "$work/host/by_pkgconfig"
"$work/host/by_pkgconfig" "$work/prefix/share/linnet/configs"
# shellcheck disable=SC2046
$cc -std=c11 "$work/host/host.c" $(pkg-config --static --cflags --libs linnet_convert linnet_profile) -o "$work/host/by_static"
"$work/host/by_static" "$work/prefix/share/linnet/configs"
pack() { # program
  rm -f "$work/packed.gguf"
  "$1" "$work/tiny" "$work/packed.gguf" || { echo "$1: exit $?"; exit 1; }
  cmp "$work/packed.gguf" "$work/tiny.gguf"
}
pack "$work/host/build/pack"
# shellcheck disable=SC2046
$cc -std=c11 "$work/host/pack.c" $(pkg-config --cflags --libs linnet_convert) -o "$work/pack"
pack "$work/pack"
# The shared library needs nothing but the C++ library, OpenMP's and the system's.
shared=$(find "$build" -maxdepth 1 -name 'liblinnet_convert.so.*.*.*')
$cc -std=c11 -I"$work/prefix/include" "$work/host/pack.c" "$shared" -Wl,-rpath,"$build" -o "$work/pack_shared"
objdump -p "$work/pack_shared" | grep -q 'NEEDED *liblinnet_convert\.so\.[0-9]*\.[0-9]*$' || { echo "$work/pack_shared does not use the shared library"; exit 1; }
pack "$work/pack_shared"
# The assistant: as it was installed, and built by itself against the installed package.
said="with no assistant"
assistant=$work/prefix/bin/linnet-assistant
if [ -x "$assistant" ]; then
  (cd / && "$assistant" --state "" --text "set a timer for ten minutes") | grep -qx "Timer set for 10 minutes." || { echo "the installed assistant does not answer"; exit 1; }
  cp -r "$source/examples/assistant" "$work/assistant"
  if grep -rhE '#include [<"](runtime|platform|kernels_cpu|linnet/|convert\.h)' "$work"/assistant/*.cpp "$work"/assistant/*.h; then echo "the assistant uses more of linnet than the installed headers"; exit 1; fi
  if [ -n "${LINNET_TEST_FULL:-}" ]; then
    cmake -S "$work/assistant" -B "$work/assistant/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" >"$work/assistant.log" ||
      { cat "$work/assistant.log"; exit 1; }
    cmake --build "$work/assistant/build" >>"$work/assistant.log" || { cat "$work/assistant.log"; exit 1; }
    "$work/assistant/build/linnet-assistant" --state "" --text "set a timer for ten minutes" | grep -qx "Timer set for 10 minutes." || { echo "the assistant built by itself does not answer"; exit 1; }
    said="the assistant by itself"
  else
    echo "skipped: the assistant built by itself: with --full (LINNET_TEST_FULL=1)"
    said="the assistant"
  fi
fi
echo "installed, moved, used from C with CMake and pkg-config, convert from archive and shared library, and $said"
