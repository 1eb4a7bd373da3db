# Jetson Orin (Cortex-A78AE: NEON with dot products) and Thor (Neoverse V3AE): what aarch64-linux-gnu.cmake makes serves them, since kernels are chosen where they run.
# JetPack 6 is Ubuntu 22.04 with glibc 2.35: a newer one here (Debian 12 has 2.36) may ask for more than the board has, so the C++ and GCC runtimes are linked in.
include(${CMAKE_CURRENT_LIST_DIR}/aarch64-linux-gnu.cmake)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-libgcc -static-libstdc++")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static-libgcc -static-libstdc++")
