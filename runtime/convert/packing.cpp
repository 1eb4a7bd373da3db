#include "packing.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "../../kernels_cpu/pack.h"

namespace linnet::convert {

bool held_blocks(const SourceTensor& t, Format f) { return t.gguf_blocks && t.gguf_format == f; }
bool held_codes(const SourceTensor& t, Format f) { return t.exact_rows && pack_exact(f, t.exact, t.k); }

Status not_made(const SourceTensor& t, Format f, Error* err) {
  return fail(err, LINNET_UNSUPPORTED, "tensor '", t.source_name, "' (", t.source_type, "): ", format_name(f),
              " is what files have, it is not made from other weights");
}

Status plan_packed(const std::string& name, const SourceTensor& t, Format format, GgufBuilder* b, Error* err) {
  if (t.k % format_block(format))
    return fail(err, LINNET_UNSUPPORTED, "tensor '", t.source_name, "': rows have ", t.k, " inputs, ", format_name(format),
                " wants a multiple of ", format_block(format), ": ask for --weights i4g32, i8g32 or another");
  if (!packs_floats(format) && !held_blocks(t, format)) return not_made(t, format, err);
  const uint64_t bytes = packed_bytes(format, t.n, t.k);
  b->u64s(std::string("linnet.tensor.") + name, {format, t.n, t.k, format_row(format).w_group});
  b->tensor(std::string("linnet.") + name, {bytes}, kGgmlI8, bytes);
  return LINNET_OK;
}

Status Rounding::add(const SourceTensor& t, Format format, const Squares& s, Error* err) {
  all.weights += s.weights;
  all.errors += s.errors;
  result.mean = all.error();
  if (s.error() > result.worst) result.worst = s.error(), result.tensor = t.source_name;
  const double most = options.max_error > 0 ? options.max_error : format_row(format).bits <= 4 ? 0.5 : 0.1;
  if (s.error() <= most || most >= 1) return LINNET_OK;
  char percent[2][16];
  std::snprintf(percent[0], sizeof percent[0], "%.3g", 100 * s.error());
  std::snprintf(percent[1], sizeof percent[1], "%.3g", 100 * most);
  const bool small = format == LINNET_F16 || format_row(format).scale.half;
  return fail(
      err, LINNET_UNSUPPORTED, "tensor '", t.source_name, "': ", format_name(format), " changes its weights by ", percent[0],
      " % (RMS), more than ", percent[1], " %",
      small ? ": they are too small for f16; ask for --weights i8g128 or another format without f16, or convert with a larger --max-error"
            : "; ask for another format, or convert with a larger --max-error");
}

namespace {

Status not_finite(const SourceTensor& t, Error* err) {
  return fail(err, LINNET_BAD_FILE, "tensor '", t.source_name,
              "' holds a weight that is infinite or not a number (or too large for the format)");
}

constexpr uint16_t kCoarse = 64;  // numbers below 2^-18 have fewer than 7 bits in f16, as its bits are below this

// Whether f16 may have lost weights of a panel: a scale, or all of its weights where they are f16 themselves, are that small.
bool may_lose(Format f, const float* rows, uint32_t count, uint32_t k, const uint8_t* panel, const uint8_t* scales) {
  const FormatRow& row = format_row(f);
  const uint16_t least = row.stored == Stored::kBlocks ? 2 : kCoarse;  // the outer scale of blocks is a small part of a weight
  const auto coarse = [least](const uint8_t* at) {
    uint16_t half;
    std::memcpy(&half, at, sizeof half);
    return (half & 0x7FFF) < least;
  };
  const auto any = [](const float* w, size_t n) { return std::any_of(w, w + n, [](float v) { return v != 0; }); };
  if (f == LINNET_F16) {
    for (size_t i = 0; i < size_t{kPanel} * k; ++i)
      if (!coarse(panel + 2 * i)) return false;
    return any(rows, size_t{count} * k);
  }
  if (!row.scale.half) return false;
  for (uint32_t g = 0; g < n_w_groups(f, k); ++g)
    for (uint32_t r = 0; r < count; ++r) {
      const uint32_t from = g * row.w_group, n = k - from < row.w_group ? k - from : row.w_group;
      if (coarse(scales + size_t{g} * kPanel * row.scale.bytes + 2 * r) && any(rows + size_t{r} * k + from, n)) return true;
    }
  return false;
}

void add_panel(Format format, const float* rows, uint32_t count, uint32_t k, const uint8_t* panel, const uint8_t* scales, Squares* out) {
  std::vector<float> unpacked(k);
  for (uint32_t i = 0; i < count; ++i) {
    unpack_row(panel, scales, format, kPanel, k, i, unpacked.data());
    out->add(rows + size_t{i} * k, unpacked.data(), k);
  }
}

// What a thread packs with. For files a job's panels wait here until they are written.
struct Bench {
  std::vector<float> rows, wide;
  std::vector<int8_t> codes;
  std::vector<uint16_t> halves;
  std::vector<uint8_t> zeros, block_rows, panels, scales;
};

// A tensor packed to a format: panel by panel, in whatever order threads come to it.
class Packing {
 public:
  Packing(const SourceTensor& t, Format format) : t_(t), format_(format) {}

  uint32_t n_panels() const { return static_cast<uint32_t>(padded_n(t_.n) / kPanel); }
  size_t panel_size() const { return static_cast<size_t>(panel_bytes(format_, t_.k)); }
  size_t scale_size() const { return static_cast<size_t>(panel_scale_bytes(format_, t_.k)); }

  // squares (may be NULL): gets what rounding did. *lost: f16 may have lost weights.
  Status pack(uint32_t p, Bench* b, uint8_t* to, uint8_t* to_scales, Squares* squares, bool* lost, Error* err) const {
    const uint32_t first = p * kPanel, count = t_.n - first < kPanel ? t_.n - first : kPanel, k = t_.k;
    if (as_panels_) return t_.panel(format_, p, to, to_scales), LINNET_OK;
    if (exact_) {
      b->codes.resize(size_t{kPanel} * k);
      const ExactForm& form = t_.exact;
      const size_t n_scales = size_t{kPanel} * div_up(k, form.group);
      b->halves.resize(form.half ? n_scales : 0);
      b->wide.resize(form.half ? 0 : n_scales);
      b->zeros.resize(form.zeros ? n_scales : 0);
      const ExactRows rows = {b->codes.data(), form.half ? b->halves.data() : nullptr, form.half ? nullptr : b->wide.data(),
                              form.zeros ? b->zeros.data() : nullptr, form.group};
      LINNET_TRY(t_.exact_rows(first, count, rows, err));
      pack_panel_exact(format_, rows, count, k, to, to_scales);
      return LINNET_OK;
    }
    if (blocks_) {
      b->block_rows.resize(kPanel * t_.gguf_row_bytes());
      LINNET_TRY(t_.gguf_blocks(first, count, b->block_rows.data(), err));
      float outer[kPanel][2];
      if (t_.outer) t_.outer(first, count, outer[0]);
      pack_gguf_blocks(format_, b->block_rows.data(), t_.gguf_row_bytes(), count, k, to, to_scales, t_.outer ? outer[0] : nullptr);
      return LINNET_OK;
    }
    b->rows.resize(size_t{kPanel} * k);
    LINNET_TRY(t_.rows(first, count, b->rows.data(), err));
    if (!pack_panel(format_, b->rows.data(), k, count, k, to, to_scales)) return not_finite(t_, err);
    *lost = *lost || may_lose(format_, b->rows.data(), count, k, to, to_scales);
    if (squares) add_panel(format_, b->rows.data(), count, k, to, to_scales, squares);
    return LINNET_OK;
  }

 private:
  const SourceTensor& t_;
  Format format_;
  const FormatRow& row_ = format_row(format_);
  bool as_panels_ = t_.panel && format_integer(format_) && row_.bits == 8, exact_ = held_codes(t_, format_),
       blocks_ = t_.gguf_blocks && t_.gguf_format == format_;
};

}  // namespace

Status rounding_error(const SourceTensor& t, Format f, double* error, Error* err) {
  constexpr uint32_t kSome = 1u << 17;  // weights
  *error = 0;
  if (held_blocks(t, f) || held_codes(t, f)) return LINNET_OK;
  SourceTensor floats = t;
  floats.panel = nullptr;
  const Packing packing(floats, f);
  const uint32_t most = kSome / kPanel / t.k ? kSome / kPanel / t.k : 1, n = packing.n_panels(), step = n > most ? n / most : 1;
  std::vector<uint8_t> panel(packing.panel_size() + 1), scales(packing.scale_size() + 1);
  Bench bench;
  Squares squares;
  bool lost = false;
  for (uint32_t p = 0; p < n; p += step) LINNET_TRY(packing.pack(p, &bench, panel.data(), scales.data(), &squares, &lost, err));
  *error = squares.error();
  return LINNET_OK;
}

// Threads take several panels at a time, which go into the file from the cache they were packed in. The scales lie behind all panels.
Status write_packed(const SourceTensor& t, Format format, Output* out, Workers* workers, Rounding* rounding, Error* err) {
  constexpr size_t kJobBytes = size_t{256} << 10;
  const Packing packing(t, format);
  const size_t panel = packing.panel_size(), scale = packing.scale_size();
  const uint32_t n_panels = packing.n_panels(), some = static_cast<uint32_t>(panel < kJobBytes ? kJobBytes / panel : 1);
  uint64_t at = 0, at_scales = 0;
  LINNET_TRY(out->reserve(uint64_t{n_panels} * panel, &at, err));
  LINNET_TRY(out->pad(err));
  LINNET_TRY(out->reserve(uint64_t{n_panels} * scale, &at_scales, err));
  LINNET_TRY(out->pad(err));
  std::vector<Bench> benches(workers->threads());
  std::vector<Squares> squares(n_panels);
  std::atomic<bool> may_have_lost{false};
  // Twice over what f16 may have lost if nobody had asked for the error of rounding before.
  const auto each = [&](bool writes, bool measures) {
    const auto job = [&](uint32_t i, uint32_t thread, Error* e) -> Status {
      Bench& b = benches[thread];
      const uint32_t from = i * some, n = n_panels - from < some ? n_panels - from : some;
      uint8_t *to = writes ? out->place(at + uint64_t{from} * panel) : nullptr, *to_scales = nullptr;
      if (to) {
        to_scales = out->place(at_scales + uint64_t{from} * scale);
      } else {
        b.panels.resize(some * panel + 1);
        b.scales.resize(some * scale + 1);
        to = b.panels.data(), to_scales = b.scales.data();
      }
      bool lost = false;
      for (uint32_t p = 0; p < n; ++p)
        LINNET_TRY(packing.pack(from + p, &b, to + p * panel, to_scales + p * scale, measures ? &squares[from + p] : nullptr, &lost, e));
      if (lost) may_have_lost = true;
      if (!writes) return LINNET_OK;
      if (!out->place(at)) {
        LINNET_TRY(out->put(at + uint64_t{from} * panel, to, n * panel, e));
        LINNET_TRY(out->put(at_scales + uint64_t{from} * scale, to_scales, n * scale, e));
      }
      out->filled(n * (panel + scale));
      return LINNET_OK;
    };
    return workers->run(static_cast<uint32_t>(div_up(n_panels, some)), job, [&](Error* e) { return out->progress(e); }, err);
  };
  const bool measures = rounding->options.weight_error;
  LINNET_TRY(each(true, measures));
  if (may_have_lost && !measures) LINNET_TRY(each(false, true));
  Squares all;
  for (const Squares& s : squares) all.weights += s.weights, all.errors += s.errors;  // in order, whoever packed them
  return rounding->add(t, format, all, err);
}

Status write_blocks(const SourceTensor& t, Format format, Output* out, Rounding* rounding, Error* err) {
  const Packing packing(t, format);
  const bool measures = rounding->options.weight_error;
  const size_t row_bytes = t.k / gguf_block_values(format) * gguf_block_bytes(format);
  std::vector<uint64_t> panel(packing.panel_size() / 8 + 1), scales(packing.scale_size() / 8 + 1);
  auto *lines = reinterpret_cast<uint8_t*>(panel.data()), *entries = reinterpret_cast<uint8_t*>(scales.data());
  Bench bench;
  Squares squares;
  bool lost = false;
  for (uint32_t p = 0; p < packing.n_panels(); ++p) {
    const uint32_t rows = t.n - p * kPanel < kPanel ? t.n - p * kPanel : kPanel;
    uint8_t* to = nullptr;
    LINNET_TRY(out->claim(rows * row_bytes, &to, err));
    LINNET_TRY(packing.pack(p, &bench, lines, entries, measures ? &squares : nullptr, &lost, err));
    for (uint32_t i = 0; i < rows; ++i) unpack_gguf_blocks(lines, entries, format, t.k, i, to + i * row_bytes);
  }
  for (uint32_t p = 0; lost && !measures && p < packing.n_panels(); ++p)  // f16 may have lost some
    LINNET_TRY(packing.pack(p, &bench, lines, entries, &squares, &lost, err));
  LINNET_TRY(rounding->add(t, format, squares, err));
  return out->pad(err);
}

Status write_plain(const SourceTensor& t, Format format, Output* out, Rounding* rounding, Error* err) {
  const uint32_t step = t.k >= 4096 ? 1 : 4096 / t.k;
  std::vector<float> rows(size_t{step} * t.k), stored(rows.size());
  Squares squares;
  for (uint32_t first = 0; first < t.n; first += step) {
    const uint32_t count = t.n - first < step ? t.n - first : step;
    LINNET_TRY(t.rows(first, count, rows.data(), err));
    const size_t n = size_t{count} * t.k, bytes = format_row(format).bits / 8;
    uint8_t* to = nullptr;
    LINNET_TRY(out->claim(n * bytes, &to, err));
    for (size_t i = 0; i < n; ++i) {
      const uint16_t half = format == LINNET_F16 ? f32_to_f16(rows[i]) : format == LINNET_BF16 ? f32_to_bf16(rows[i]) : uint16_t{0};
      stored[i] = format == LINNET_F16 ? f16_to_f32(half) : format == LINNET_BF16 ? bf16_to_f32(half) : rows[i];
      if (!std::isfinite(stored[i])) return not_finite(t, err);
      std::memcpy(to + i * bytes, format == LINNET_F32 ? static_cast<const void*>(&stored[i]) : &half, bytes);
    }
    if (format != LINNET_F32) squares.add(rows.data(), stored.data(), n);
  }
  if (format != LINNET_F32) LINNET_TRY(rounding->add(t, format, squares, err));
  return out->pad(err);
}

}  // namespace linnet::convert
