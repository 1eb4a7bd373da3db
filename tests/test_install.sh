#!/bin/sh
# Installs a build into a temporary prefix and builds examples against it as an app would: test_install.sh BUILD SOURCE
set -eu
build=$1
source=$2
cc=${CC:-cc}
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
linnet="$work/prefix/bin/linnet"
"$linnet" --version
python3 "$source/tests/tiny_model.py" "$work/tiny"
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

# The host side from C++.
cat >"$work/host/main.cpp" <<'END'
#include <convert.h>
int main() {
  linnet_error err = {};
  linnet::convert::Loaded loaded;
  const bool refused = linnet::convert::load("/nowhere", LINNET_LOAD_MAP, {}, &loaded, &err) != LINNET_OK;
  return refused && err.text[0] && !linnet::convert::shapes().empty() ? 0 : 1;
}
END
cat >"$work/host/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(host LANGUAGES C CXX)
find_package(linnet 0.1 REQUIRED)
add_executable(host main.cpp)
target_compile_features(host PRIVATE cxx_std_20)
target_link_libraries(host PRIVATE linnet::convert)
END
cmake -S "$work/host" -B "$work/host/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/host.log" || { cat "$work/host.log"; exit 1; }
cmake --build "$work/host/build" >>"$work/host.log" || { cat "$work/host.log"; exit 1; }
"$work/host/build/host"
echo "installed, moved, used from C with CMake and pkg-config, and from C++"
