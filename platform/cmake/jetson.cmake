# Jetson Orin (Cortex-A78AE: NEON with dot products) and Thor (Neoverse V3AE): what aarch64-linux-gnu.cmake makes serves them, since kernels are chosen where they run.
# With LINNET_CUDA the driver is looked for on the board: nothing of CUDA is needed here but NVRTC. JetPack 6 is Ubuntu 22.04: programs bring the runtime of this newer compiler along.
include(${CMAKE_CURRENT_LIST_DIR}/aarch64-linux-gnu.cmake)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-libgcc -static-libstdc++")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static-libgcc -static-libstdc++")
