# zig's Clang (PyPI: pip install ziglang) as a cross compiler, for toolchain files that have set zig_target. The variable LINNET_ZIG of the environment holds the command, if it
# is not python3 -m ziglang.
set(zig "python3 -m ziglang")
if(DEFINED ENV{LINNET_ZIG})
  set(zig $ENV{LINNET_ZIG})
endif()
set(LINNET_ZIG ${zig} CACHE STRING "The zig command")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LINNET_ZIG)
# CMake wants each tool to be one program, zig knows extensions of ARM's instruction set by -mcpu alone, and at -O0 it would sanitize.
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
  file(WRITE ${CMAKE_BINARY_DIR}/zig/${tool} "${compile}exec ${LINNET_ZIG} ${tool} -target ${zig_target} -fno-sanitize=undefined \"$@\"\n")
endforeach()
foreach(tool ar ranlib rc)
  file(WRITE ${CMAKE_BINARY_DIR}/zig/${tool} "#!/bin/sh\nexec ${LINNET_ZIG} ${tool} \"$@\"\n")
endforeach()
file(CHMOD_RECURSE ${CMAKE_BINARY_DIR}/zig PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(CMAKE_C_COMPILER ${CMAKE_BINARY_DIR}/zig/cc)
set(CMAKE_CXX_COMPILER ${CMAKE_BINARY_DIR}/zig/c++)
set(CMAKE_AR ${CMAKE_BINARY_DIR}/zig/ar)
set(CMAKE_RANLIB ${CMAKE_BINARY_DIR}/zig/ranlib)
