// Which kernel of gemm.cu a product takes, and its grid.
#include "cuda_queue.h"
#include "gemm_args.h"
#include "rows_args.h"

namespace linnet {
namespace {

uint32_t min_of(uint64_t a, uint64_t b) { return static_cast<uint32_t>(a < b ? a : b); }

// Kernels of a format: for few rows, for blocks of 16 rows and of 64.
struct Choice {
  CudaKernel few, some, many;
  uint32_t x_bytes;       // of an input; 0: float weights one by one, which have no kernel for few rows
  uint32_t weight_bytes;  // of a float weight
  bool scales;            // x has some, by group
  // Of blocks of GGUF files, for 256 inputs: bytes of scales of a panel, pieces of a lane, minima of an output.
  uint32_t blocks = 0, pieces = 0, minima = 0;
};
constexpr CudaKernel kNone = kCudaKernels;
Choice choice_of(Format f) {
  const FormatRow& row = format_row(f);
  const bool wide = row.x_group == 128;
  switch (row.stored) {
    case Stored::kF32:
      return {kCuda_gemm16_f32, kCuda_gemm16_f32, kCuda_gemm64_f32, 0, 4, false};
    case Stored::kF16:
      return {kCuda_gemm16_f16, kCuda_gemm16_f16, kCuda_gemm64_f16, 0, 2, false};
    case Stored::kBf16:
      return {kCuda_gemm16_bf16, kCuda_gemm16_bf16, kCuda_gemm64_bf16, 0, 2, false};
    case Stored::kE4m3:
      if (row.w_group) return {kNone, kNone, kNone, 2, 0, false};
      return {kCuda_gemv_e4m3, kCuda_gemm16_e4m3, kCuda_gemm64_e4m3, 2, 0, false};
    case Stored::kE5m2:
      return {kCuda_gemv_e5m2, kCuda_gemm16_e5m2, kCuda_gemm64_e5m2, 2, 0, false};
    case Stored::kNibbles:
    case Stored::kNibblesZero:
      if (row.scale.zero && !wide) return {kNone, kNone, kNone, 1, 0, true};
      return wide ? Choice{kCuda_gemv_i4, kCuda_gemm16_i4, kCuda_gemm64_i4, 1, 0, true}
                  : Choice{kCuda_gemv_i4s, kCuda_gemm16_i4s, kCuda_gemm64_i4s, 1, 0, true};
    case Stored::kTables:
      return {kNone, kNone, kNone, 0, 0, false};
    case Stored::kBlocks: {
      Choice c = {kNone, kNone, kNone, 1, 0, true, kPanel * row.scale.bytes * (256u / row.w_group)};
#define LINNET_X(NAME, name, kind, n_pieces, n_minima) \
  if (f == LINNET_##NAME)                              \
    c.few = kCuda_gemv_##name, c.some = kCuda_gemm16_##name, c.many = kCuda_gemm64_##name, c.pieces = n_pieces, c.minima = n_minima;
      LINNET_CUDA_BLOCKS(LINNET_X)
#undef LINNET_X
      return c;
    }
    default:
      return wide ? Choice{kCuda_gemv_i8, kCuda_gemm16_i8, kCuda_gemm64_i8, 1, 0, true}
                  : Choice{kCuda_gemv_i8s, kCuda_gemm16_i8s, kCuda_gemm64_i8s, 1, 0, true};
  }
}

// Of x in terms; few is not there, and none of all of formats that have no such kernels.
Choice terms_of(const CudaQueue& q, Format f) {
  if (q.fast && f == LINNET_F16) return {kNone, kCuda_gemm16_terms_f16, kCuda_gemm64_terms_f16, 4, 2, true};
  if (q.fast && f == LINNET_BF16) return {kNone, kCuda_gemm16_terms_bf16, kCuda_gemm64_terms_bf16, 6, 2, false};
  return {};
}

// rows: of a matrix at most; matrices: of which each block may take several.
void run(CudaQueue& q, GemmArgs& a, const Choice& c, uint32_t rows, uint32_t matrices) {
  const uint32_t row_blocks = a.first ? 4 : 65535;  // most experts have few rows
  if (c.x_bytes == 0) {
    const bool many = rows > kFloatRows;
    const uint32_t block = kFloatRows * (many ? 4 : 1),
                   shared = 2 * 64 * 16 * c.weight_bytes + 2 * block * 68 * static_cast<uint32_t>(sizeof(float));
    cuda_launch(q, many ? c.many : c.some, {a.panels, min_of(div_up(rows, block), row_blocks), matrices}, 256, shared, &a);
    return;
  }
  const uint32_t pairs = (a.panels + 1) / 2;
  if (rows <= kGemvRows && c.few != kNone) {
    // 12 warps are what a multiprocessor holds; they have 48 KB under way together.
    const uint64_t wanted = uint64_t{q.n_sms} * 12, warps = uint64_t{pairs} * (a.first ? 1 : matrices),
                   stages = div_up(a.w.k, c.blocks ? 256 : 128);
    a.split = 1;
    while (a.split < kGemvWarps && a.split * 2 <= stages && warps * a.split < wanted) a.split *= 2;
    uint32_t shared = a.split == 1 ? 0 : kGemvShared;
    if (c.blocks)
      shared = kGemvWarps * 2 * (c.pieces * 512 + 2 * (c.blocks + kScalePad)) +
               (a.split == 1 ? kGemvWarps * c.minima * (32 + 8) * 4 : kBlocksShared);
    cuda_launch(q, c.few, {static_cast<uint32_t>(div_up(pairs, kGemvWarps / a.split)), 1, matrices}, kGemvWarps * 32, shared, &a);
    return;
  }
  const uint32_t panel_blocks = static_cast<uint32_t>(div_up(pairs, kGemmWarps)), blocks = static_cast<uint32_t>(div_up(rows, 64));
  const bool many = rows > 16 && (a.first ? rows >= matrices : uint64_t{panel_blocks} * blocks * matrices >= q.n_sms);
  const uint32_t block = many ? 64 : 16;
  // Of a row in a stage: its inputs; the scales of its groups, and a sum.
  const uint32_t of_row =
      c.x_bytes * 128 + (c.scales ? (a.group == 128 ? 1 : 4) * 4 : 0) + (a.w.format == kCudaI4G128 || a.w.format == kCudaI4G128Z ? 4 : 0);
  uint32_t shared = (block * of_row + (a.group == 128 ? 0 : kGemmWarps * 2 * kStageScales)) * (c.x_bytes == 1   ? kGemmStages<8>
                                                                                               : c.x_bytes == 2 ? kGemmStages<16>
                                                                                                                : kGemmStages<32>);
  if (c.blocks)
    shared =
        (many ? kBlocksStages<64> : kBlocksStages<16>)*(block * (kStageRow<0> + c.minima * 4) + kGemmWarps * 2 * (c.blocks + kScalePad));
  cuda_launch(q, many ? c.many : c.some, {min_of(div_up(rows, block), row_blocks), panel_blocks, matrices}, kGemmWarps * 32, shared, &a);
}

GemmArgs args_of(const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, float* y, size_t y_stride) {
  GemmArgs a{};
  a.w = cuda_matrix(mat);
  a.panels = a.w.n_panels;
  a.y = y;
  a.y_stride = y_stride;
  a.group = 128;
  if (format_row(mat.format).x == LINNET_F32) {
    a.x = reinterpret_cast<const uint8_t*>(x);
    a.x_stride = x_stride * sizeof(float);
  } else {
    a.x = q->q;
    a.x_stride = q->stride;
  }
  if (format_integer(mat.format)) {
    a.x_scale = q->scale;
    a.x_sum128 = q->sum128;
    a.x_groups = q->groups;
    a.group = q->group;
  }
  return a;
}

// The rows of `a` in terms, in scratch, and the kernels for them; as they were where that has no room.
void take_terms(CudaQueue& q, const Choice& terms, const Matrix& mat, uint32_t m, GemmArgs* a, Choice* c) {
  const uint64_t stride = align_up(uint64_t{mat.k}, 32) * terms.x_bytes, codes = align_up(m * stride, 16);
  TermArgs t{};
  t.groups = static_cast<uint32_t>(div_up(mat.k, 128));
  if (m * cuda_terms_bytes(mat.format, mat.k) > q.scratch_bytes) return;
  t.x = a->x;
  t.x_stride = a->x_stride;
  t.to = q.scratch;
  t.stride = stride;
  t.scale = reinterpret_cast<float*>(q.scratch + codes);
  t.not_finite = q.not_finite;
  t.k = mat.k;
  t.pieces = static_cast<uint32_t>(div_up(mat.k, kPiece));
  t.kind = mat.format == LINNET_F16 ? kCudaF16 : kCudaBf16;
  cuda_launch(q, kCuda_term_rows, {m * t.pieces, 1, 1}, kRowThreads, 0, &t);
  a->x = t.to;
  a->x_stride = stride;
  a->x_scale = terms.scales ? t.scale : nullptr;
  a->x_groups = t.groups;
  *c = terms;
}

}  // namespace

bool cuda_multiplies(Format f) { return choice_of(f).many != kNone; }

uint64_t cuda_terms_bytes(Format f, uint32_t k) {
  const uint64_t of_input = f == LINNET_F16 ? 4 : f == LINNET_BF16 ? 6 : 0;
  return of_input ? align_up(uint64_t{k}, 32) * of_input + div_up(k, 128) * sizeof(float) : 0;
}

void cuda_embed(const Worker& w, const Matrix& table, const int32_t* tokens, uint32_t m, float* y, size_t y_stride) {
  EmbedArgs a{};
  a.table = cuda_matrix(table);
  a.tokens = tokens;
  a.y = y;
  a.y_stride = y_stride;
  a.group = format_row(table.format).w_group;
  cuda_launch(cuda_queue(w), kCuda_embed, {m, 1, 1}, 256, 0, &a);
}

void cuda_gemm(const Worker& w, const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, const float* bias,
               bool accumulate, float* y, size_t y_stride) {
  GemmArgs a = args_of(mat, x, x_stride, q, y, y_stride);
  a.bias = bias;
  a.accumulate = accumulate;
  Choice c = choice_of(mat.format);
  if (const Choice terms = terms_of(cuda_queue(w), mat.format); terms.x_bytes && m > kGemvRows)
    take_terms(cuda_queue(w), terms, mat, m, &a, &c);
  // Rows that stay in the second-level cache while the weights go by, but enough to fill the GPU.
  CudaQueue& queue = cuda_queue(w);
  uint64_t at_once = 512;
  while (div_up(a.panels, 2 * kGemmWarps) * at_once < uint64_t{queue.n_sms} * 512) at_once *= 2;
  for (uint64_t row = 0; row < m; row += at_once) {
    a.m = min_of(at_once, m - row);
    run(queue, a, c, a.m, 1);
    a.x += at_once * a.x_stride;
    if (a.x_scale) a.x_scale += at_once * a.x_groups;
    if (a.x_sum128) a.x_sum128 += at_once * a.x_groups;
    a.y += at_once * y_stride;
  }
}

void cuda_gemm_experts(const Worker& w, const Matrix& mat, uint32_t n_experts, const Pairs& pairs, const float* x, size_t x_stride,
                       const QuantRows* q, const float* bias, float* y, size_t y_stride) {
  CudaQueue& queue = cuda_queue(w);
  const uint32_t rows = queue.n_rows ? queue.n_rows : queue.n_chunk;
  GemmArgs a = args_of(mat, x, x_stride, q, y, y_stride);
  a.panels = a.w.n_panels / n_experts;
  a.bias = bias;
  a.first = pairs.first;
  a.active = pairs.active;
  a.n_active = pairs.n_active_experts;
  run(queue, a, choice_of(mat.format), rows, min_of(n_experts, uint64_t{rows} * 8));  // more of them than that are taken in turns
}

void cuda_gemm_heads(const Worker& w, const Matrix& mat, uint32_t n_heads, const float* x, size_t x_stride, size_t x_head, uint32_t m,
                     uint32_t carry, float* y, size_t y_stride, size_t y_head) {
  if (m == 0) return;
  CudaQueue& queue = cuda_queue(w);
  const FormatRow& f = format_row(mat.format);
  QuantRows q;
  HeadRowsArgs rows{};
  rows.x = x;
  rows.x_stride = x_stride;
  rows.x_head = x_head;
  rows.y = y;
  rows.y_stride = y_stride;
  rows.y_head = y_head;
  rows.k = mat.k;
  rows.carry = carry;
  rows.not_finite = queue.not_finite;
  if (f.x != LINNET_F32) {
    const uint32_t groups = static_cast<uint32_t>(n_x_groups(mat.format, mat.k));
    q.stride = quant_stride(f.x, mat.k);
    q.q = queue.scratch;
    q.scale = reinterpret_cast<float*>(q.q + align_up(size_t{m} * n_heads * q.stride, 64));
    q.sum128 = reinterpret_cast<int32_t*>(q.scale + size_t{m} * n_heads * groups);
    q.group = f.x_group;
    q.groups = groups;
    rows.q = q.q;
    rows.scale = q.scale;
    rows.sum128 = q.sum128;
    rows.stride = q.stride;
    rows.group = q.group;
    rows.groups = groups;
    rows.bf16 = f.x == LINNET_BF16;
  }
  if (f.x != LINNET_F32 || carry) cuda_launch(queue, kCuda_head_rows, {m, n_heads, 1}, 256, 0, &rows);
  GemmArgs a = args_of(mat, x, x_stride, &q, y + carry, y_stride);
  a.panels = a.w.n_panels / n_heads;
  a.m = m;
  a.x_z = f.x == LINNET_F32 ? x_head * sizeof(float) : m * q.stride;
  a.scale_z = uint64_t{m} * q.groups;
  a.y_z = y_head;
  run(queue, a, choice_of(mat.format), m, n_heads);
}

size_t cuda_gemm_heads_scratch(uint32_t rows, uint32_t n_heads, uint32_t k) {
  return static_cast<size_t>(align_up(uint64_t{rows} * n_heads * quant_stride(LINNET_BF16, k), 64) +
                             uint64_t{rows} * n_heads * div_up(k, 32) * (sizeof(float) + sizeof(int32_t)));
}

}  // namespace linnet
