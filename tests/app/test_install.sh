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
  bin/linnet | bin/linnet-assistant | include/linnet*.h | include/linnet/*.h) ;;
  lib/liblinnet* | lib/pkgconfig/linnet.pc | lib/cmake/linnet/*.cmake | lib64/* | lib/*-linux-gnu*/*linnet*) ;;
  share/linnet/configs/*.yaml | share/linnet/configs/README.md) ;;
  share/linnet/assistant/tools.json | share/linnet/assistant/assistant.yaml | share/linnet/assistant/model/linnet-assistant.gguf) ;;
  share/linnet/assistant/language/assistant.lm.bin | share/linnet/assistant/language/assistant.dict) ;;
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
python3 "$source/tests/app/tiny_model.py" "$work/tiny"
"$linnet" convert "$work/tiny" -o "$work/tiny.gguf"

# C alone: a project that has no C++ enabled, on CMake's package.
mkdir "$work/app" "$work/host"
cp "$source/examples/hello.c" "$work/app"
cat >"$work/app/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES C)
find_package(linnet 0.1 REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE linnet::linnet)
END
cmake -S "$work/app" -B "$work/app/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/app.log" || { cat "$work/app.log"; exit 1; }
cmake --build "$work/app/build" >>"$work/app.log" || { cat "$work/app.log"; exit 1; }
"$work/app/build/hello" "$work/tiny.gguf" "Hello" >"$work/cmake.txt"

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
#include <linnet.h>
#include <stdio.h>
int main(void) {
  linnet_error err = {0};
  linnet_board board = {.size = sizeof board};
  linnet_profile profile = {.size = sizeof profile, .n_threads = 255, .k_format = LINNET_I8, .memory_bytes = 1u << 30};
  if (linnet_board_detect(NULL, &board, &err) != LINNET_OK || linnet_profile_fit(&profile, &board, &err) != LINNET_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  return profile.n_threads >= 1 && profile.n_threads <= board.n_cpus ? 0 : 1;
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

# The host side from C++, and profiles.
cat >"$work/host/main.cpp" <<'END'
#include <convert.h>
int main(int, char** argv) {
  linnet_error err = {};
  linnet::convert::Loaded loaded;
  const bool refused = linnet::convert::load("/nowhere", LINNET_LOAD_MAP, {}, &loaded, &err) != LINNET_OK;
  linnet_board board = {};
  board.size = sizeof board;
  linnet_profile profile = {};
  profile.size = sizeof profile;
  if (linnet_board_detect(nullptr, &board, &err) != LINNET_OK) return 2;
  if (linnet_profile_pick(argv[1], &board, &profile, nullptr, 0, nullptr, &err) != LINNET_OK || !profile.name[0]) return 3;
  return refused && err.text[0] && !linnet::convert::shapes().empty() ? 0 : 1;
}
END
cat >"$work/host/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(host LANGUAGES C CXX)
find_package(linnet 0.1 REQUIRED)
add_executable(host main.cpp)
target_compile_features(host PRIVATE cxx_std_20)
target_link_libraries(host PRIVATE linnet::convert linnet::profile)
END
cmake -S "$work/host" -B "$work/host/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/host.log" || { cat "$work/host.log"; exit 1; }
cmake --build "$work/host/build" >>"$work/host.log" || { cat "$work/host.log"; exit 1; }
"$work/host/build/host" "$work/prefix/share/linnet/configs"
# The assistant: as it was installed, and built by itself against the installed package.
said="with no assistant"
assistant=$work/prefix/bin/linnet-assistant
if [ -x "$assistant" ]; then
  (cd / && "$assistant" --state "" --text "set a timer for ten minutes") | grep -qx "Timer set for 10 minutes." || { echo "the installed assistant does not answer"; exit 1; }
  cp -r "$source/examples/assistant" "$work/assistant"
  cmake -S "$work/assistant" -B "$work/assistant/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" >"$work/assistant.log" ||
    { cat "$work/assistant.log"; exit 1; }
  cmake --build "$work/assistant/build" >>"$work/assistant.log" || { cat "$work/assistant.log"; exit 1; }
  "$work/assistant/build/linnet-assistant" --state "" --text "set a timer for ten minutes" | grep -qx "Timer set for 10 minutes." || { echo "the assistant built by itself does not answer"; exit 1; }
  if grep -rhE '#include [<"](runtime|platform|kernels_cpu|linnet/)' "$work"/assistant/*.cpp "$work"/assistant/*.h; then echo "the assistant uses more of linnet than linnet.h and convert.h"; exit 1; fi
  said="the assistant by itself"
fi
echo "installed, moved, used from C with CMake and pkg-config, from C++, and $said"
