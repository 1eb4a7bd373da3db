// linnet's matrix kernels against oneDNN, an implementation by others: f32 within rounding, int8 dots exactly.
#include <oneapi/dnnl/dnnl.hpp>
#include <random>

#include "kernels_cpu/pack.h"
#include "kernels_cpu/registry.h"
#include "runtime/tensor.h"
#include "tests/models.h"

namespace {

using dt = dnnl::memory::data_type;
using tag = dnnl::memory::format_tag;

// y(m, n) = x(m, k) * w(n, k)^T by oneDNN; types of x, w and y.
void reference(dt x_type, dt w_type, dt y_type, int m, int n, int k, const void* x, const void* w, void* y) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc xd({m, k}, x_type, tag::ab), wd({k, n}, w_type, tag::ba), yd({m, n}, y_type, tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul matmul(dnnl::matmul::primitive_desc(engine, xd, wd, yd));
#else
  const dnnl::matmul matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(xd, wd, yd), engine));
#endif
  matmul.execute(stream, {{DNNL_ARG_SRC, dnnl::memory(xd, engine, const_cast<void*>(x))},
                          {DNNL_ARG_WEIGHTS, dnnl::memory(wd, engine, const_cast<void*>(w))},
                          {DNNL_ARG_DST, dnnl::memory(yd, engine, y)}});
  stream.wait();
}

// Whether oneDNN multiplies bf16 on this CPU.
bool has_bf16() {
  const uint16_t one = 0x3F80;
  float y = 0;
  try {
    reference(dt::bf16, dt::bf16, dt::f32, 1, 1, 1, &one, &one, &y);
  } catch (const dnnl::error& e) {
    if (e.status != dnnl_unimplemented) throw;
    std::printf("skipped: bf16: oneDNN has no product of bf16 for this CPU\n");
    return false;
  }
  return y == 1.0f;
}

struct Shape {
  int m, n, k;
};
const Shape kShapes[] = {{1, 16, 32}, {7, 33, 100}, {16, 48, 128}, {5, 17, 61}};

// Packs w(n, k) and runs one tier's kernel. y(m, padded n).
struct Packed {
  std::vector<uint8_t> bytes;
  Packed(linnet_format f, const std::vector<float>& w, int n, int k)
      : bytes(linnet::packed_bytes(f, static_cast<uint64_t>(n), static_cast<uint64_t>(k)) + 64) {
    const uint32_t un = static_cast<uint32_t>(n), uk = static_cast<uint32_t>(k);
    for (uint32_t p = 0; p * 16 < un; ++p)
      REQUIRE(linnet::pack_panel(f, w.data() + size_t{p} * 16 * uk, uk, std::min(16u, un - p * 16), uk,
                                 at() + p * linnet::panel_bytes(f, uk),
                                 at() + linnet::scales_offset(f, un, uk) + p * linnet::panel_scale_bytes(f, uk)));
  }
  uint8_t* at() { return bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64; }
};

linnet::GemmArgs args(linnet_format f, Packed& w, const Shape& s, std::vector<float>* y) {
  const uint32_t n = static_cast<uint32_t>(s.n), k = static_cast<uint32_t>(s.k), padded = static_cast<uint32_t>(linnet::padded_n(n));
  y->assign(size_t{padded} * static_cast<uint32_t>(s.m), 0.0f);
  linnet::GemmArgs a{};
  a.w = w.at();
  a.w_stride = linnet::panel_bytes(f, k);
  a.w_scale = w.at() + linnet::scales_offset(f, n, k);
  a.w_scale_stride = linnet::panel_scale_bytes(f, k);
  a.y = y->data();
  a.y_stride = padded;
  a.m = static_cast<uint32_t>(s.m);
  a.n_panels = padded / 16;
  a.k = k;
  return a;
}

}  // namespace

TEST_CASE("f32 and bf16 products equal oneDNN's within rounding") {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<linnet_format> formats = {LINNET_F32};
  if (has_bf16()) formats.push_back(LINNET_BF16);
  for (const linnet_isa isa : test::tiers())
    for (const linnet_format f : formats)
      for (const Shape& s : kShapes) {
        linnet::Kernels kernels;
        REQUIRE(linnet::kernels_resolve(isa, 0, &kernels, nullptr) == LINNET_OK);
        std::vector<float> x(static_cast<size_t>(s.m * s.k)), w(static_cast<size_t>(s.n * s.k)), want(static_cast<size_t>(s.m * s.n)), y;
        std::vector<uint16_t> halves[2];
        for (auto* v : {&x, &w})
          for (float& f32 : *v) {
            f32 = normal(random);
            if (f != LINNET_BF16) continue;
            halves[v == &w].push_back(linnet::f32_to_bf16(f32));
            f32 = linnet::bf16_to_f32(halves[v == &w].back());
          }
        if (f == LINNET_BF16)
          reference(dt::bf16, dt::bf16, dt::f32, s.m, s.n, s.k, halves[0].data(), halves[1].data(), want.data());
        else
          reference(dt::f32, dt::f32, dt::f32, s.m, s.n, s.k, x.data(), w.data(), want.data());
        Packed packed(f, w, s.n, s.k);
        linnet::GemmArgs a = args(f, packed, s, &y);
        a.x = x.data();
        a.x_stride = static_cast<size_t>(s.k) * 4;
        kernels.gemm[f].run(&a);
        for (int i = 0; i < s.m; ++i)
          for (int j = 0; j < s.n; ++j)
            REQUIRE(std::fabs(y[static_cast<size_t>(i) * a.y_stride + static_cast<size_t>(j)] - want[static_cast<size_t>(i * s.n + j)]) <
                    1e-4f);
      }
}

TEST_CASE("int8 dots equal oneDNN's exactly") {
  std::mt19937 random(2);
  for (const linnet_isa isa : test::tiers())
    for (const Shape& s : kShapes) {
      linnet::Kernels kernels;
      REQUIRE(linnet::kernels_resolve(isa, 0, &kernels, nullptr) == LINNET_OK);
      const uint32_t k = static_cast<uint32_t>(s.k), m = static_cast<uint32_t>(s.m);
      const size_t stride = linnet::quant_stride(LINNET_I8, k);
      std::vector<int8_t> x(static_cast<size_t>(s.m * s.k)), w(static_cast<size_t>(s.n * s.k)), codes(m * stride);
      std::vector<uint8_t> above(x.size()), below(x.size());
      std::vector<float> weights(w.size()), scale(m, 1.0f), y;
      std::vector<int32_t> want(static_cast<size_t>(s.m * s.n)), of_below(want.size()), sum128(m, 0);
      for (int8_t& v : x) v = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
      for (int8_t& v : w) v = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
      for (int j = 0; j < s.n; ++j) w[static_cast<size_t>(j * s.k)] = 127;  // so that every output's scale is 1 and its codes are these
      for (size_t i = 0; i < w.size(); ++i) weights[i] = w[i];
      for (uint32_t i = 0; i < m; ++i)
        for (uint32_t j = 0; j < k; ++j) {
          codes[i * stride + j] = x[i * k + j];
          sum128[i] -= 128 * x[i * k + j];
        }
      // Without VNNI oneDNN adds two products in 16 bits that saturate. They cannot where x is 0..127: x is what is above zero less what is
      // below.
      for (size_t i = 0; i < x.size(); ++i) {
        above[i] = static_cast<uint8_t>(std::max<int>(x[i], 0));
        below[i] = static_cast<uint8_t>(std::max(-x[i], 0));
      }
      reference(dt::u8, dt::s8, dt::s32, s.m, s.n, s.k, above.data(), w.data(), want.data());
      reference(dt::u8, dt::s8, dt::s32, s.m, s.n, s.k, below.data(), w.data(), of_below.data());
      for (size_t i = 0; i < want.size(); ++i) want[i] -= of_below[i];
      Packed packed(LINNET_I8, weights, s.n, s.k);
      linnet::GemmArgs a = args(LINNET_I8, packed, s, &y);
      a.x = codes.data();
      a.x_stride = stride;
      a.x_scale = scale.data();
      a.x_sum128 = sum128.data();
      a.x_groups = 1;  // k <= 128
      a.x_group = 128;
      kernels.gemm[LINNET_I8].run(&a);
      for (int i = 0; i < s.m; ++i)
        for (int j = 0; j < s.n; ++j)
          REQUIRE(y[static_cast<size_t>(i) * a.y_stride + static_cast<size_t>(j)] ==
                  static_cast<float>(want[static_cast<size_t>(i * s.n + j)]));
    }
}
