# 64-bit Android through the toolchain file of the NDK, r26 or newer, whose folder ANDROID_NDK_HOME names. Written after the NDK's documentation
# (developer.android.com/ndk/guides/cmake, guides/page-sizes); not run by linnet's own tests, which have no NDK.
if(NOT DEFINED ENV{ANDROID_NDK_HOME} OR NOT EXISTS $ENV{ANDROID_NDK_HOME}/build/cmake/android.toolchain.cmake)
  message(FATAL_ERROR "ANDROID_NDK_HOME is '$ENV{ANDROID_NDK_HOME}': it must name the folder of an Android NDK, r26 or newer")
endif()
file(STRINGS $ENV{ANDROID_NDK_HOME}/source.properties revision REGEX "^Pkg.Revision")
if(NOT revision MATCHES "= *([0-9]+)" OR CMAKE_MATCH_1 LESS 26)
  message(FATAL_ERROR "$ENV{ANDROID_NDK_HOME}: ${revision}: linnet needs the Android NDK r26 or newer")
endif()
if(NOT ANDROID_ABI)
  set(ANDROID_ABI arm64-v8a)  # armeabi-v7a and x86_64 work as well
endif()
if(NOT ANDROID_PLATFORM)
  set(ANDROID_PLATFORM android-24)
endif()
set(ANDROID_STL c++_static)  # linnet itself takes nothing of it
string(APPEND CMAKE_SHARED_LINKER_FLAGS_INIT " -Wl,-z,max-page-size=16384")  # phones with pages of 16 KB refuse less; r28 does it by itself
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-z,max-page-size=16384")
include($ENV{ANDROID_NDK_HOME}/build/cmake/android.toolchain.cmake)
