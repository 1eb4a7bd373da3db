// The bar that check_kernels --bench prints beside its own figures: the same product by oneDNN, cut into slices for the same threads.
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "check_kernels.h"

namespace check {

using dnnl::memory;

// int8: linnet's panels in place, whole k, 32-bit sums without scales; f32 and bf16: weights in oneDNN's own layout, f32 results.
static std::function<void(uint32_t)> job(linnet_format f, uint32_t n, uint32_t k, uint32_t m, uint32_t threads, void* panels) try {
  const bool integer = f == LINNET_I8 || f == LINNET_I8G128 || f == LINNET_I8G64 || f == LINNET_I8G32;
  const auto in = f == LINNET_F32 ? memory::data_type::f32 : f == LINNET_BF16 ? memory::data_type::bf16 : memory::data_type::u8;
  if ((!integer && f != LINNET_F32 && f != LINNET_BF16) || (integer && k % 64) || n % 16) return nullptr;
  struct Call {
    dnnl::matmul product;
    std::unordered_map<int, memory> args;
  };
  struct Plan {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    std::vector<dnnl::stream> streams;
    std::vector<std::vector<Call>> calls;  // of each thread
    std::vector<uint8_t> x, w, y;
  };
  omp_set_num_threads(1);  // each of the bench's threads calls for itself
  const auto plan = std::make_shared<Plan>();
  const uint32_t in_bytes = in == memory::data_type::f32 ? 4 : in == memory::data_type::bf16 ? 2 : 1, rows = std::min(m, 64u), cols = 256;
  plan->x.assign(size_t{m} * k * in_bytes, 3);
  plan->w.resize(integer ? 0 : size_t{n} * k * in_bytes + size_t{n / 16} * 4096);
  plan->y.resize(size_t{m} * n * 4);  // each slice on its own: of rows that lie apart it takes no fast path
  plan->calls.resize(threads);
  uint8_t* own = plan->w.data();
  const auto dim = [](uint32_t v) { return static_cast<memory::dim>(v); };
  for (uint32_t t = 0; t < threads; ++t) {
    plan->streams.emplace_back(plan->engine);
    const uint32_t from = n / 16 * t / threads * 16, to = n / 16 * (t + 1) / threads * 16;
    for (uint32_t col = from; col < to; col += cols) {
      const uint32_t nn = std::min(cols, to - col);
      memory w;
      for (uint32_t row = 0; row < m; row += rows) {
        const uint32_t mm = std::min(rows, m - row);
        const memory::desc xd({dim(mm), dim(k)}, in, memory::dims{dim(k), 1}),
            yd({dim(mm), dim(nn)}, integer ? memory::data_type::s32 : memory::data_type::f32, memory::dims{dim(nn), 1});
        const memory::desc wd({dim(k), dim(nn)}, integer ? memory::data_type::s8 : in,
                              integer ? memory::format_tag::BA16a16b4a : memory::format_tag::any);
#if DNNL_VERSION_MAJOR >= 3
        const dnnl::matmul::primitive_desc pd(plan->engine, xd, wd, yd);
#else
        const dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(xd, wd, yd), plan->engine);
#endif
        if (std::strncmp(pd.impl_info_str(), "ref", 3) == 0) return nullptr;  // its reference, thousands of times slower, is no bar
        if (!row) {
          w = memory(pd.weights_desc(), plan->engine, integer ? static_cast<uint8_t*>(panels) + size_t{col} * k : own);
          if (!integer) {
            if (own + pd.weights_desc().get_size() > plan->w.data() + plan->w.size()) return nullptr;
            for (size_t i = 0; i < pd.weights_desc().get_size(); ++i) own[i] = i % in_bytes == in_bytes - 1u ? 0x3E : 0x10;
            own += pd.weights_desc().get_size();
          }
        }
        plan->calls[t].push_back({dnnl::matmul(pd),
                                  {{DNNL_ARG_SRC, memory(xd, plan->engine, plan->x.data() + size_t{row} * k * in_bytes)},
                                   {DNNL_ARG_WEIGHTS, w},
                                   {DNNL_ARG_DST, memory(yd, plan->engine, plan->y.data() + (size_t{row} * n + size_t{mm} * col) * 4)}}});
      }
    }
  }
  return [plan](uint32_t id) {
    omp_set_num_threads(1);
    for (const Call& c : plan->calls[id]) c.product.execute(plan->streams[id], c.args);
    plan->streams[id].wait();
  };
} catch (const dnnl::error&) {
  return nullptr;  // it has no such product on this CPU
}

static const bool g_there = (g_bar = {"oneDNN", job}, true);

}  // namespace check
