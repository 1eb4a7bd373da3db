// One session's queue of work on a GPU: what operations put kernels into. The host side of the CUDA backend.
#pragma once
#include "../runtime/ops.h"
#include "cuda_types.h"
#include "driver.h"
#include "kernel_list.h"

namespace linnet {

enum CudaKernel : uint32_t {
#define LINNET_X(name) kCuda_##name,
  LINNET_CUDA_KERNELS(LINNET_X)
#undef LINNET_X
      kCudaKernels
};
inline constexpr const char* kCudaKernelNames[kCudaKernels + 1] = {
#define LINNET_X(name) #name,
    LINNET_CUDA_KERNELS(LINNET_X)
#undef LINNET_X
        nullptr};

struct CudaQueue {
  const CudaDriver* driver;
  CuStream stream;
  CuFunction kernels[kCudaKernels];
  uint32_t n_sms, arch;   // streaming multiprocessors; 87 = compute capability 8.7
  bool fast;              // profile's cuda_gemm
  uint32_t shared_bytes;  // of a block at most, opted in
  uint32_t n_chunk;       // rows of a pass at most
  uint32_t n_rows;        // of this pass, which sizes the grids of experts; 0: not known, n_chunk
  uint8_t* scratch;       // device memory that operations use between two others; scratch_bytes of it
  size_t scratch_bytes;
  uint32_t* not_finite;  // device: set to 1 where an activation is infinite or NaN
  CudaPass pass;
  CuResult failed;  // of the first call that failed; nothing is launched after it
};

inline CudaQueue& cuda_queue(const Worker& w) { return *static_cast<CudaQueue*>(w.queue); }

struct CudaGrid {
  uint32_t x, y, z;
};
// args: the one struct that the kernel takes, copied by the driver.
inline void cuda_launch(CudaQueue& q, CudaKernel kernel, CudaGrid grid, uint32_t threads, uint32_t shared_bytes, const void* args) {
  if (q.failed || grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  void* params[1] = {const_cast<void*>(args)};
  q.failed = q.driver->launch(q.kernels[kernel], grid.x, grid.y, grid.z, threads, 1, 1, shared_bytes, q.stream, params, nullptr);
}

// Matrix::panels of a model on a GPU is one of these.
inline const CudaMatrix& cuda_matrix(const Matrix& m) { return *static_cast<const CudaMatrix*>(m.panels); }

extern const Ops cuda_ops;
// The operations, by the file of their kernels.
// gemm.cu
void cuda_embed(const Worker& w, const Matrix& table, const int32_t* tokens, uint32_t m, float* y, size_t y_stride);
void cuda_gemm(const Worker& w, const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, const float* bias,
               bool accumulate, float* y, size_t y_stride);
void cuda_gemm_heads(const Worker& w, const Matrix& mat, uint32_t n_heads, const float* x, size_t x_stride, size_t x_head, uint32_t m,
                     uint32_t carry, float* y, size_t y_stride, size_t y_head);
void cuda_gemm_experts(const Worker& w, const Matrix& mat, uint32_t n_experts, const Pairs& pairs, const float* x, size_t x_stride,
                       const QuantRows* q, const float* bias, float* y, size_t y_stride);
bool cuda_multiplies(Format f);  // whether there are kernels for such weights
// Bytes of scratch that gemm takes for a row of k inputs where it is fast; 0: weights whose products are the same then.
uint64_t cuda_terms_bytes(Format f, uint32_t k);
// Bytes of scratch that gemm_heads takes for `rows` rows of n_heads heads of k inputs.
size_t cuda_gemm_heads_scratch(uint32_t rows, uint32_t n_heads, uint32_t k);
// rows.cu
void cuda_norm(const Worker& w, const float* x, size_t stride, const Norm& norm, uint32_t m, uint32_t n, float* y, QuantRows* q);
void cuda_gated_norm(const Worker& w, const GatedNormArgs& a);
void cuda_add(const Worker& w, float* y, float* x, size_t stride, const Norm& norm, float scale, uint32_t m, uint32_t n);
void cuda_scale(const Worker& w, float* x, size_t stride, float by, float cap, uint32_t m, uint32_t n);
void cuda_clip(const Worker& w, float* x, size_t stride, float limit, uint32_t m, uint32_t n);
void cuda_quantize(const Worker& w, const float* x, size_t x_stride, uint32_t m, uint32_t k, QuantRows* q);
void cuda_rope(const Worker& w, float* x, size_t stride, uint32_t m, uint32_t n_heads, uint32_t head_dim, const HeadNorm& norm,
               const RopeView& rope);
void cuda_scale_rows(const Worker& w, float* x, size_t stride, const float* factors, uint32_t m, uint32_t n);
void cuda_act_mul(const Worker& w, uint32_t act, float limit, float* gate, float* up, size_t stride, uint32_t m, uint32_t n, float* y,
                  QuantRows* q);
void cuda_xielu(const Worker& w, float* x, size_t stride, const float* by, uint32_t m, uint32_t n, QuantRows* q);
void cuda_predict(const Worker& w, const Streams& s, const float* coefs, uint32_t m, uint32_t n, size_t stride, float* to);
void cuda_correct(const Worker& w, const Streams& s, const float* coefs, const float* scale, uint32_t m, uint32_t n, size_t stride,
                  float* x);
void cuda_match(const Worker& w, float* x, const float* like, size_t stride, uint32_t m, uint32_t n);
void cuda_sparsify(const Worker& w, float* x, size_t stride, float cut, uint32_t m, uint32_t n);
void cuda_check_finite(const Worker& w, const float* x, size_t stride, uint32_t m,
                       uint32_t n);  // sets q.not_finite where a float is infinite or NaN
struct CudaQuant;                    // rows_args.h
CudaQuant cuda_quant(const CudaQueue& queue, const QuantRows* q);
// experts.cu
void cuda_route(const Worker& w, const Router& router, const Capacity& capacity, float* logits, size_t stride, uint32_t m,
                const Pairs& pairs);
void cuda_gather(const Worker& w, const float* x, size_t stride, const QuantRows* q, uint32_t n_pairs, uint32_t k, uint32_t n_active,
                 const Pairs& pairs, bool weigh, float* y, QuantRows* pair_q);
void cuda_combine(const Worker& w, const float* x, size_t stride, uint32_t m, uint32_t n, uint32_t n_active, const Pairs& pairs, bool weigh,
                  const float* shared, const float* gate, size_t gate_stride, bool accumulate, float* y);
// flash.cu
void cuda_kv_append(const Worker& w, const KvCache& kv, uint32_t layer, const float* k, const float* v, size_t stride, const RowSpan* spans,
                    uint32_t n_spans, const RopeView& rope);
void cuda_attention(const Worker& w, const AttentionArgs& a);
size_t cuda_attention_scratch(const KvCache& kv, uint32_t n_chunk, uint32_t n_sms);
// states.cu
void cuda_short_conv(const Worker& w, const ShortConvArgs& a);
void cuda_delta_net(const Worker& w, const DeltaNetArgs& a);
void cuda_mamba(const Worker& w, const MambaArgs& a);
CudaSlot cuda_slot(const Slots& slots, uint32_t seq);  // of a sequence in a pass that the slots have been advanced for
// cuda_device.cpp
void cuda_pace(const Worker& w);
// sample.cu
struct CudaSampleArgs;  // sample_args.h
// Whether tokens are drawn here as sample() draws them; else it draws from a copy of the logits.
bool cuda_can_sample(const linnet_sampling& s);
size_t cuda_sample_scratch(uint32_t n_rows, uint32_t n_vocab);
void cuda_sample(CudaQueue& q, const CudaSampleArgs& args);
// measure.cu
// int8_tops, with `products` f8_tops, and read_gb_s of `bytes` (0: not measured) of device memory that it allocates and gives back. Waits
// for the GPU.
void cuda_measure(CudaQueue& q, uint64_t bytes, bool products, linnet_measurement* out);

}  // namespace linnet
