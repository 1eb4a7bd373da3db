// Every kernel's name, by the .cu file that holds it; their arguments are in the header of that file.
#pragma once
#define LINNET_CUDA_GEMM_KERNELS(X)
#define LINNET_CUDA_ROWS_KERNELS(X) X(norm_rows) X(change_rows) X(quantize_rows) X(act_mul_rows) X(rope_heads) X(check_finite)
#define LINNET_CUDA_EXPERTS_KERNELS(X) X(route_rows) X(group_pairs) X(limit_pairs) X(gather_pairs) X(combine_pairs)
#define LINNET_CUDA_FLASH_KERNELS(X) X(kv_append) X(flash8_i8) X(flash16_i8) X(flash8) X(flash16) X(flash_merge)
#define LINNET_CUDA_SAMPLE_KERNELS(X) X(sample_top) X(sample_draw)
#define LINNET_CUDA_KERNELS(X) \
  LINNET_CUDA_GEMM_KERNELS(X) LINNET_CUDA_ROWS_KERNELS(X) LINNET_CUDA_EXPERTS_KERNELS(X) LINNET_CUDA_FLASH_KERNELS(X) LINNET_CUDA_SAMPLE_KERNELS(X)
