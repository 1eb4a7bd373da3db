// The CUDA backend: Ops put kernels into the session's queue, in order, so that sync costs nothing.
#include "../runtime/cache/kv_cache.h"
#include "cuda_queue.h"

namespace linnet {
namespace {

static_assert(uint32_t{kCudaF32} == LINNET_F32 && uint32_t{kCudaI8G128} == LINNET_I8G128 && uint32_t{kCudaF8E4M3} == LINNET_F8E4M3 &&
              uint32_t{kCudaI4G128Z} == LINNET_I4G128Z);
#define LINNET_X(NAME, name, kind, ...) static_assert(uint32_t{kCuda##NAME} == LINNET_##NAME);
LINNET_CUDA_BLOCKS(LINNET_X)
#undef LINNET_X
static_assert(sizeof(CudaPass::table_at) / sizeof(uint32_t) == kMaxKvClasses);
static_assert(sizeof(CudaSpan) == sizeof(RowSpan) && offsetof(CudaSpan, position) == offsetof(RowSpan, position));

void sync(const Worker&) {}
bool kv_pack(const Worker&, const KvCache&, uint32_t, const RowSpan*, uint32_t) { return false; }  // sessions refuse KIVI's formats
void gate_up(const Worker& w, const GateUp& by, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, float* y, size_t stride,
             QuantRows* to) {
  float* up = by.gate.panels ? y + m * stride : nullptr;
  if (up) cuda_gemm(w, by.gate, x, x_stride, q, m, by.gate_bias, false, y, stride);
  cuda_gemm(w, by.up, x, x_stride, q, m, by.up_bias, false, up ? up : y, stride);
  cuda_act_mul(w, by.act, by.limit, y, up, stride, m, by.up.n, y, to);
}

}  // namespace

const Ops cuda_ops = {
    .sync = sync,
    .pace = cuda_pace,
    .embed = cuda_embed,
    .embed_layers = nullptr,  // the table stays in the file
    .norm = cuda_norm,
    .add = cuda_add,
    .scale = cuda_scale,
    .pool = nullptr,
    .clip = cuda_clip,
    .reorder = nullptr,
    .quantize = cuda_quantize,
    .gemm = cuda_gemm,
    .gemm_heads = cuda_gemm_heads,
    .rope = cuda_rope,
    .kv_append = cuda_kv_append,
    .kv_pack = kv_pack,
    .attention = cuda_attention,
    .short_conv = cuda_short_conv,
    .delta_net = cuda_delta_net,
    .mamba = cuda_mamba,
    .gated_norm = cuda_gated_norm,
    .predict = cuda_predict,
    .correct = cuda_correct,
    .match = cuda_match,
    .sparsify = cuda_sparsify,
    .xielu = cuda_xielu,
    .scale_rows = cuda_scale_rows,
    .act_mul = cuda_act_mul,
    .gate_up = gate_up,
    .gate_up_rows = UINT32_MAX,
    .route = cuda_route,
    .gather = cuda_gather,
    .gemm_experts = cuda_gemm_experts,
    .combine = cuda_combine,
};

}  // namespace linnet
