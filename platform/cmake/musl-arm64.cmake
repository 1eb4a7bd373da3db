# 64-bit ARM, musl, static: one binary for boards with any libc. The compiler is zig's Clang (PyPI: pip install ziglang); the variable LINNET_ZIG of the environment holds the
# command, if it is not python3 -m ziglang.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(zig "python3 -m ziglang")
if(DEFINED ENV{LINNET_ZIG})
  set(zig $ENV{LINNET_ZIG})
endif()
set(LINNET_ZIG ${zig} CACHE STRING "The zig command")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LINNET_ZIG)
# CMake wants each tool to be one program, zig knows extensions of the instruction set by -mcpu alone, and at -O0 it would sanitize.
set(compile [=[#!/bin/sh
for arg; do
  shift
  case $arg in
  -march=armv8-a) arg=-mcpu=generic ;;
  -march=armv8.2-a+*) arg=-mcpu=generic+${arg#*+} ;;
  esac
  set -- "$@" "$arg"
done
]=])
foreach(tool cc c++)
  file(WRITE ${CMAKE_BINARY_DIR}/zig/${tool} "${compile}exec ${LINNET_ZIG} ${tool} -target aarch64-linux-musl -fno-sanitize=undefined \"$@\"\n")
endforeach()
foreach(tool ar ranlib)
  file(WRITE ${CMAKE_BINARY_DIR}/zig/${tool} "#!/bin/sh\nexec ${LINNET_ZIG} ${tool} \"$@\"\n")
endforeach()
file(CHMOD_RECURSE ${CMAKE_BINARY_DIR}/zig PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(CMAKE_C_COMPILER ${CMAKE_BINARY_DIR}/zig/cc)
set(CMAKE_CXX_COMPILER ${CMAKE_BINARY_DIR}/zig/c++)
set(CMAKE_AR ${CMAKE_BINARY_DIR}/zig/ar)
set(CMAKE_RANLIB ${CMAKE_BINARY_DIR}/zig/ranlib)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
