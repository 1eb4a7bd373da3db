# macOS 14.4 and newer on Apple's processors, by zig; nothing here runs what it makes.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(zig_target aarch64-macos.14.4)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
# Libraries of headers alone serve every system; nothing else of the host's does.
set(CMAKE_PREFIX_PATH /usr)
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/zig)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
