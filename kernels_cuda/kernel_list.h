// Every kernel's name, by the .cu file that holds it; their arguments are in the header of that file.
#pragma once
// clang-format off: lists
#define LINNET_CUDA_GEMM_KERNELS(X)                                                                                                      \
  X(gemv_i8) X(gemv_i8s) X(gemv_i4) X(gemv_i4s) X(gemv_e4m3) X(gemv_e5m2)                                                                \
  X(gemm16_i8) X(gemm16_i8s) X(gemm16_i4) X(gemm16_i4s) X(gemm16_e4m3) X(gemm16_e5m2) X(gemm16_f32) X(gemm16_f16) X(gemm16_bf16)         \
  X(gemm64_i8) X(gemm64_i8s) X(gemm64_i4) X(gemm64_i4s) X(gemm64_e4m3) X(gemm64_e5m2) X(gemm64_f32) X(gemm64_f16) X(gemm64_bf16)         \
  X(gemm16_terms_f16) X(gemm64_terms_f16) X(gemm16_terms_bf16) X(gemm64_terms_bf16)                                                      \
  X(embed) X(head_rows)
#define LINNET_CUDA_GEMM_BLOCKS_KERNELS(X)                                                                                               \
  X(gemv_q4_k) X(gemm16_q4_k) X(gemm64_q4_k) X(gemv_q5_k) X(gemm16_q5_k) X(gemm64_q5_k) X(gemv_q6_k) X(gemm16_q6_k) X(gemm64_q6_k) \
  X(gemv_mxfp4) X(gemm16_mxfp4) X(gemm64_mxfp4) \
  X(gemv_iq4_xs) X(gemm16_iq4_xs) X(gemm64_iq4_xs) X(gemv_iq4_nl) X(gemm16_iq4_nl) X(gemm64_iq4_nl) \
  X(gemv_q5_0) X(gemm16_q5_0) X(gemm64_q5_0) X(gemv_q3_k) X(gemm16_q3_k) X(gemm64_q3_k) \
  X(gemv_q2_k) X(gemm16_q2_k) X(gemm64_q2_k) X(gemv_q4_1) X(gemm16_q4_1) X(gemm64_q4_1) \
  X(gemv_q5_1) X(gemm16_q5_1) X(gemm64_q5_1)
#define LINNET_CUDA_ROWS_KERNELS(X) X(norm_rows) X(gated_norm_rows) X(change_rows) X(quantize_rows) X(term_rows) X(act_mul_rows) X(xielu_rows) X(predict_rows) X(correct_rows) X(match_rows) X(sparsify_rows) X(rope_heads)              \
  X(check_finite)
#define LINNET_CUDA_EXPERTS_KERNELS(X) X(route_rows) X(group_pairs) X(limit_pairs) X(gather_pairs) X(combine_pairs)
#define LINNET_CUDA_FLASH_KERNELS(X) X(kv_append) X(flash_sinks) X(flash8_i8) X(flash16_i8) X(flash8) X(flash16) X(flash_merge)
#define LINNET_CUDA_STATES_KERNELS(X) X(conv_rows) X(conv_states) X(keep_rows) X(delta_heads) X(mamba_heads)
#define LINNET_CUDA_SAMPLE_KERNELS(X) X(sample_top) X(sample_draw)
#define LINNET_CUDA_MEASURE_KERNELS(X) X(read_all) X(peak_i8) X(peak_bf16)
#define LINNET_CUDA_KERNELS(X)                                                                                                           \
  LINNET_CUDA_GEMM_KERNELS(X) LINNET_CUDA_GEMM_BLOCKS_KERNELS(X) LINNET_CUDA_ROWS_KERNELS(X) LINNET_CUDA_EXPERTS_KERNELS(X)              \
  LINNET_CUDA_FLASH_KERNELS(X) LINNET_CUDA_STATES_KERNELS(X) LINNET_CUDA_SAMPLE_KERNELS(X) LINNET_CUDA_MEASURE_KERNELS(X)
// clang-format on
