#!/bin/sh
# Other ways to build linnet give the same bytes: link-time optimisation, one tier for firmware, and a shared library that an app finds. Builds in build/ways.
set -eu
cd "$(dirname "$0")/../.."
jobs=$(nproc)
way() { # name, targets, options...
  name=$1
  targets=$2
  shift 2
  echo "-- $name: $*"
  mkdir -p build/ways
  # shellcheck disable=SC2086 # several targets
  { cmake -S . -B "build/ways/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLINNET_WERROR=ON "$@" && cmake --build "build/ways/$name" -j "$jobs" --target $targets; } >"build/ways/$name.log" 2>&1 || {
    tail -n 40 "build/ways/$name.log"
    exit 1
  }
}
exact() { OMP_WAIT_POLICY=passive "build/ways/$1/tests/test_exact" "stories260K*"; }

way lto "check_kernels test_exact" -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
build/ways/lto/tests/check_kernels --cases 10
exact lto

tier=avx2
[ "$(uname -m)" = x86_64 ] || tier=neon
for only in scalar $tier; do
  way "only-$only" test_exact -DLINNET_ISA_ONLY=$only -DLINNET_OPENMP=OFF
  exact "only-$only"
done
if cmake -S . -B build/ways/only-nothing -DLINNET_ISA_ONLY=sse9 >build/ways/only-nothing.log 2>&1; then echo "LINNET_ISA_ONLY=sse9 was taken"; exit 1; fi
grep -q 'LINNET_ISA_ONLY=sse9: one of scalar' build/ways/only-nothing.log

# For Jetson, with CUDA: nothing of CUDA is there to link, and without a driver it says so and runs on the CPU.
if [ -d build/nvrtc ] && command -v qemu-aarch64 >/dev/null; then
  way jetson "hello$([ ! -f /usr/include/catch2/catch.hpp ] || echo ' test_golden')" --toolchain platform/cmake/jetson.cmake -DLINNET_CLI=OFF -DLINNET_CUDA=ON "-DLINNET_NVRTC=$PWD/build/nvrtc" "-DLINNET_CUBINS=$PWD/build/cubins"
  ! aarch64-linux-gnu-objdump -p build/ways/jetson/hello | grep -i 'NEEDED.*cuda' || exit 1
  qemu-aarch64 -L /usr/aarch64-linux-gnu build/ways/jetson/hello examples/assistant/model/linnet-assistant.gguf "set a timer for ten minutes" >build/ways/jetson.text
  [ -s build/ways/jetson.text ]
else
  echo "skipped: Jetson with CUDA: no NVRTC, or no qemu-user"
fi

# Installed with the shared library, an app gets that one, from CMake and from pkg-config.
way shared all -DBUILD_SHARED_LIBS=ON -DLINNET_TESTS=OFF -DLINNET_CLI=OFF -DLINNET_ASSISTANT=OFF
prefix=$PWD/build/ways/prefix
rm -rf "$prefix" build/ways/app
cmake --install build/ways/shared --prefix "$prefix" >/dev/null
mkdir build/ways/app
cp examples/hello.c build/ways/app
cat >build/ways/app/shape.c <<'END'
#include <linnet_convert.h>
#include <stdio.h>
int main(void) {
  linnet_source* source;
  linnet_view file;
  linnet_need need = {.size = sizeof need};
  linnet_error err;
  const linnet_convert_params params = {.size = sizeof params, .shape_only = 1};
  if (linnet_convert_open(&source, "synthetic:llama-3.2-1b", &params, &file, NULL, &err) || linnet_model_need(&file, NULL, &need, &err))
    return fprintf(stderr, "%s\n", err.text), 1;
  linnet_convert_close(source);
  return need.bytes == 0;
}
END
cat >build/ways/app/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(app LANGUAGES C)
find_package(linnet 0.2 REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE linnet::linnet)
add_executable(shape shape.c)
target_link_libraries(shape PRIVATE linnet::convert)
add_executable(profile profile.c)
target_link_libraries(profile PRIVATE linnet::profile)
END
cat >build/ways/app/profile.c <<'END'
#include <linnet_device.h>
#include <stdio.h>
int main(void) {
  static _Alignas(64) char memory[1 << 17];
  linnet_error err;
  linnet_board* board;
  linnet_profile profile = {.size = sizeof profile};
  if (linnet_board_init(&board, memory, sizeof memory, NULL, &err) || linnet_profile_pick("configs", board, &profile, NULL, 0, NULL, &err))
    return fprintf(stderr, "%s\n", err.text), 1;
  return !profile.name[0];
}
END
cmake -S build/ways/app -B build/ways/app/build -DCMAKE_PREFIX_PATH="$prefix" >build/ways/app.log && cmake --build build/ways/app/build >>build/ways/app.log || { cat build/ways/app.log; exit 1; }
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name linnet.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # several words on purpose
cc -std=c11 examples/hello.c $(pkg-config --cflags --libs linnet) -Wl,-rpath,"$(dirname "$PKG_CONFIG_PATH")" -o build/ways/app/hello
# shellcheck disable=SC2046
cc -std=c11 build/ways/app/shape.c $(pkg-config --cflags --libs linnet_convert) -Wl,-rpath,"$(dirname "$PKG_CONFIG_PATH")" -o build/ways/app/shape
# shellcheck disable=SC2046
cc -std=c11 build/ways/app/profile.c $(pkg-config --cflags --libs linnet_profile) -Wl,-rpath,"$(dirname "$PKG_CONFIG_PATH")" -o build/ways/app/profile
for profile in build/ways/app/build/profile build/ways/app/profile; do
  for lib in linnet linnet_profile; do
    objdump -p "$profile" | grep -q "NEEDED *lib$lib\.so\.0\." || { echo "$profile does not use the shared library $lib"; exit 1; }
  done
  "$profile"
done
for shape in build/ways/app/build/shape build/ways/app/shape; do
  for lib in linnet linnet_convert; do
    objdump -p "$shape" | grep -q "NEEDED *lib$lib\.so\.0\." || { echo "$shape does not use the shared library $lib"; exit 1; }
  done
  "$shape"
done
for hello in build/ways/app/build/hello build/ways/app/hello; do
  objdump -p "$hello" | grep -q 'NEEDED *liblinnet\.so\.0\.' || { echo "$hello does not use the shared library"; exit 1; }
  "$hello" examples/assistant/model/linnet-assistant.gguf "set a timer for ten minutes" >build/ways/app/text || exit 1
  [ -s build/ways/app/text ]
done
echo "link-time optimisation, one tier, a shared library: the same bytes"
