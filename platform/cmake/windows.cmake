# Windows 10 and newer on x86-64, by zig; what it makes runs under Wine in the tests.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(zig_target x86_64-windows-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
set(CMAKE_RC_COMPILER ${CMAKE_BINARY_DIR}/zig/rc)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../../tests/wine.sh)
# Libraries of headers alone serve every system; nothing else of the host's does.
set(CMAKE_PREFIX_PATH /usr)
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/zig)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
