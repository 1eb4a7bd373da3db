#include "log_mel.h"

#include "../rope.h"

namespace linnet {
namespace {

constexpr uint32_t kLanes = 8;  // spectra that are made side by side
constexpr uint32_t kHalf = kFftSize / 2;
constexpr double kPi = 3.14159265358979323846, kLn10 = 2.30258509299404568402;
constexpr uint32_t kRadices[] = {4, 2, 5, 5};  // of kHalf

using Lanes = double[kLanes];
// Complex numbers of all lanes.
struct Numbers {
  Lanes *re, *im;
};

size_t room_doubles() { return size_t{4} * kHalf * kLanes + size_t{kFftBins} * kLanes; }

// y = x (n of them, `apart` from each other) under the DFT of size r: sums in the order of x.
template <uint32_t r>
void small_dft(const Lanes* re, const Lanes* im, const LogMel& m, Lanes* to_re, Lanes* to_im) {
  for (uint32_t j = 0; j < r; ++j) {
    for (uint32_t l = 0; l < kLanes; ++l) to_re[j][l] = re[0][l], to_im[j][l] = im[0][l];
    for (uint32_t i = 1; i < r; ++i) {
      const uint32_t at = i * j % r * (kFftSize / r);
      const double c = m.cos[at], s = -m.sin[at];
      for (uint32_t l = 0; l < kLanes; ++l) {
        to_re[j][l] += re[i][l] * c - im[i][l] * s;
        to_im[j][l] += re[i][l] * s + im[i][l] * c;
      }
    }
  }
}
template <>
void small_dft<4>(const Lanes* re, const Lanes* im, const LogMel&, Lanes* to_re, Lanes* to_im) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    const double ar = re[0][l] + re[2][l], ai = im[0][l] + im[2][l], br = re[0][l] - re[2][l], bi = im[0][l] - im[2][l];
    const double cr = re[1][l] + re[3][l], ci = im[1][l] + im[3][l], dr = re[1][l] - re[3][l], di = im[1][l] - im[3][l];
    to_re[0][l] = ar + cr, to_im[0][l] = ai + ci;
    to_re[1][l] = br + di, to_im[1][l] = bi - dr;
    to_re[2][l] = ar - cr, to_im[2][l] = ai - ci;
    to_re[3][l] = br - di, to_im[3][l] = bi + dr;
  }
}
template <>
void small_dft<2>(const Lanes* re, const Lanes* im, const LogMel&, Lanes* to_re, Lanes* to_im) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    const double ar = re[0][l], ai = im[0][l], br = re[1][l], bi = im[1][l];
    to_re[0][l] = ar + br, to_im[0][l] = ai + bi;
    to_re[1][l] = ar - br, to_im[1][l] = ai - bi;
  }
}

// A step of the Stockham FFT: n numbers in s interleaved sequences become n / r in s * r.
template <uint32_t r>
void step(const LogMel& m, uint32_t n, uint32_t s, Numbers x, Numbers y) {
  const uint32_t part = n / r;
  Lanes re[r], im[r], to_re[r], to_im[r];
  for (uint32_t p = 0; p < part; ++p)
    for (uint32_t q = 0; q < s; ++q) {
      for (uint32_t i = 0; i < r; ++i)
        for (uint32_t l = 0; l < kLanes; ++l) re[i][l] = x.re[q + s * (p + part * i)][l], im[i][l] = x.im[q + s * (p + part * i)][l];
      small_dft<r>(re, im, m, to_re, to_im);
      for (uint32_t j = 0; j < r; ++j) {
        const uint32_t at = p * j * (kFftSize / n) % kFftSize;
        const double c = m.cos[at], d = -m.sin[at];
        Lanes &yr = y.re[q + s * (r * p + j)], &yi = y.im[q + s * (r * p + j)];
        for (uint32_t l = 0; l < kLanes; ++l) {
          yr[l] = to_re[j][l] * c - to_im[j][l] * d;
          yi[l] = to_re[j][l] * d + to_im[j][l] * c;
        }
      }
    }
}

// x becomes its DFT, by way of y; returns where it lies.
Numbers fft(const LogMel& m, Numbers x, Numbers y) {
  uint32_t n = kHalf, s = 1;
  for (const uint32_t r : kRadices) {
    if (r == 4)
      step<4>(m, n, s, x, y);
    else if (r == 2)
      step<2>(m, n, s, x, y);
    else
      step<5>(m, n, s, x, y);
    const Numbers swap = x;
    x = y, y = swap;
    n /= r, s *= r;
  }
  return x;
}

// The sample at `at` of a window of `n_window`, of which n are there and the others silence; beyond both ends it is mirrored.
double sample(const float* pcm, size_t n, size_t n_window, int64_t at) {
  if (at < 0) at = -at;
  const int64_t last = static_cast<int64_t>(n_window) - 1;
  if (at > last) at = 2 * last - at;
  return at >= 0 && at < static_cast<int64_t>(n) ? static_cast<double>(pcm[at]) : 0.0;
}

void frames(const LogMel& m, const float* pcm, size_t n, size_t n_window, uint32_t first, uint32_t count, double* room, float* to) {
  auto* const at = reinterpret_cast<Lanes*>(room);
  const Numbers x = {at, at + kHalf}, y = {at + 2 * kHalf, at + 3 * kHalf};
  Lanes* const power = at + 4 * kHalf;
  bool any = false;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const int64_t begin = static_cast<int64_t>(first + l) * kHop - kHalf;
    const bool inside = begin >= 0 && begin + kFftSize <= static_cast<int64_t>(n), silent = l >= count || begin >= static_cast<int64_t>(n);
    for (uint32_t i = 0; i < kHalf; ++i) {
      double a = 0, b = 0;
      if (inside && !silent)
        a = static_cast<double>(pcm[begin + 2 * i]), b = static_cast<double>(pcm[begin + 2 * i + 1]);
      else if (l < count)
        a = sample(pcm, n, n_window, begin + 2 * i), b = sample(pcm, n, n_window, begin + 2 * i + 1);
      any = any || a != 0 || b != 0;
      x.re[i][l] = a * m.window[2 * i];
      x.im[i][l] = b * m.window[2 * i + 1];
    }
  }
  if (any) {
    const Numbers z = fft(m, x, y);
    for (uint32_t k = 0; k < kFftBins; ++k) {  // of the numbers that were taken two by two
      const uint32_t i = k % kHalf, j = (kHalf - k) % kHalf;
      const double c = m.cos[k], s = m.sin[k];
      for (uint32_t l = 0; l < kLanes; ++l) {
        const double er = (z.re[i][l] + z.re[j][l]) * 0.5, ei = (z.im[i][l] - z.im[j][l]) * 0.5;
        const double odd_r = (z.im[i][l] + z.im[j][l]) * 0.5, odd_i = (z.re[j][l] - z.re[i][l]) * 0.5;
        const double re = er + (odd_r * c + odd_i * s), im = ei + (odd_i * c - odd_r * s);
        power[k][l] = re * re + im * im;
      }
    }
  } else {
    for (uint32_t k = 0; k < kFftBins; ++k)
      for (uint32_t l = 0; l < kLanes; ++l) power[k][l] = 0;
  }
  for (uint32_t i = 0; i < m.n_mels; ++i) {
    const float* const filter = m.filters + size_t{i} * kFftBins;
    Lanes sum = {};
    for (uint32_t k = m.first[i]; k < m.end[i]; ++k)
      for (uint32_t l = 0; l < kLanes; ++l) sum[l] += static_cast<double>(filter[k]) * power[k][l];
    for (uint32_t l = 0; l < count; ++l)
      to[size_t{first + l} * m.n_mels + i] = sum[l] > 1e-10 ? static_cast<float>(rope_log(sum[l]) / kLn10) : -10.0f;
  }
}

}  // namespace

void mel_layout(Arena& arena, uint32_t n_mels, uint32_t n_threads, LogMel* out) {
  const bool any = n_mels != 0;
  out->n_mels = n_mels;
  out->cos = arena.take<double>("spectra", any ? kFftSize : 0);
  out->sin = arena.take<double>("spectra", any ? kFftSize : 0);
  out->window = arena.take<double>("spectra", any ? kFftSize : 0);
  out->filters = arena.take<float>("spectra", uint64_t{n_mels} * kFftBins);
  out->first = arena.take<uint32_t>("spectra", n_mels);
  out->end = arena.take<uint32_t>("spectra", n_mels);
  out->room = arena.take<double>("spectra", any ? n_threads * room_doubles() : 0);
}

void mel_start(LogMel* m) {
  for (uint32_t i = 0; i < kFftSize; ++i) {
    rope_sin_cos(2 * kPi * i / kFftSize, &m->sin[i], &m->cos[i]);
    m->window[i] = 0.5 - 0.5 * m->cos[i];
  }
  for (uint32_t i = 0; i < m->n_mels; ++i) {
    const float* const filter = m->filters + size_t{i} * kFftBins;
    m->first[i] = 0, m->end[i] = kFftBins;
    while (m->first[i] < kFftBins && filter[m->first[i]] == 0) ++m->first[i];
    while (m->end[i] > m->first[i] && filter[m->end[i] - 1] == 0) --m->end[i];
  }
}

void mel_frames(const Member& w, const LogMel& m, const float* pcm, size_t n, size_t n_window, uint32_t n_frames, float* to) {
  Pieces pieces(w, n_frames, kLanes, static_cast<uint32_t>(div_up(n_frames, kLanes * 8)));
  for (Share piece; pieces.take(&piece);)
    for (uint32_t i = piece.from; i < piece.to; i += kLanes)
      frames(m, pcm, n, n_window, i, piece.to - i < kLanes ? piece.to - i : kLanes, m.room + w.id * room_doubles(), to);
}

float mel_loudest(const float* mel, size_t n) {
  float most[16];
  for (float& m : most) m = -10.0f;
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (uint32_t j = 0; j < 16; ++j) most[j] = mel[i + j] > most[j] ? mel[i + j] : most[j];
  for (; i < n; ++i) most[0] = mel[i] > most[0] ? mel[i] : most[0];
  for (uint32_t j = 1; j < 16; ++j) most[0] = most[j] > most[0] ? most[j] : most[0];
  return most[0];
}

void mel_scale(const Member& w, const LogMel& m, uint32_t n_frames, float* to, float loudest) {
  const float least = loudest - 8.0f;
  for_rows(w, n_frames, [&](uint32_t row) {
    float* const x = to + size_t{row} * m.n_mels;
    for (uint32_t i = 0; i < m.n_mels; ++i) x[i] = ((x[i] > least ? x[i] : least) + 4.0f) / 4.0f;
  });
}

}  // namespace linnet
