# Instruction-set flags live here and nowhere else: one line per tier's file.
function(linnet_isa_file target file define)
  include(CheckCXXCompilerFlag)
  string(REPLACE ";" " " flags "${ARGN}")
  check_cxx_compiler_flag("${flags}" LINNET_CAN_${define})
  if(LINNET_CAN_${define})
    target_sources(${target} PRIVATE ${file})
    # No link-time optimisation: the linker could move code between tiers.
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${ARGN};-fno-lto")
    set_property(SOURCE kernels_cpu/registry.cpp APPEND PROPERTY COMPILE_DEFINITIONS ${define}=1)
  endif()
endfunction()

function(linnet_add_isa target)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    linnet_isa_file(${target} kernels_cpu/avx2.cpp LINNET_HAVE_AVX2 -mavx2 -mfma -mf16c)
    linnet_isa_file(${target} kernels_cpu/avx512.cpp LINNET_HAVE_AVX512 -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni)
  endif()
endfunction()
