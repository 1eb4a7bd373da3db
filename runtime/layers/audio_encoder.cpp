// An encoder of sound: convolutions over time, then layers whose rows see each other. Keys and values of a layer are those of all rows, so
// each layer goes through them twice, a chunk at a time: no buffer but the residual stream is as long as the sound.
#include "audio_pass.h"

namespace linnet {
namespace {

struct Encoder : AudioWorker {
  const uint32_t rows;  // that come out
  Encoder(Pass& p, const Worker& worker) : AudioWorker(p, worker, true), rows(p.m) {}

  // y(m, n) = act(x * W^T + bias): x's rows overlap. to: where the next convolution's rows lie, one behind the other.
  void convolve(uint32_t i, const Convolution& c, const float* x, uint32_t n_rows, float* to) const {
    const Matrix& mat = m.conv[i];
    QuantRows q = quant_rows(a.codes, mat);
    const size_t x_stride = size_t{c.stride} * c.inputs;
    if (q.q) ops.quantize(w, x, x_stride, n_rows, mat.k, &q);
    if (q.q) sync();
    ops.gemm(w, mat, x, x_stride, &q, n_rows, m.conv_bias[i], false, to, c.n);
    sync();
  }
  void gelu(float* x, uint32_t n_rows, uint32_t n) const {
    ops.act_mul(w, kActGeluErf, 0, x, nullptr, n, n_rows, n, x, nullptr);
    sync();
  }

  // Spectra, two convolutions and learned positions.
  bool spectra() const {
    Convolution c[3];
    audio_convolutions(spec, c);
    const uint32_t n_frames = 2 * rows;
    float* const mel = s.spectra + spec.n_mels;
    for_rows(w, 2, [&](uint32_t i) {  // silence before and behind
      std::memset(s.spectra + size_t{i} * (n_frames + 1) * spec.n_mels, 0, spec.n_mels * sizeof(float));
    });
    look();
    mel_frames(w, s.mel, pass.pcm, pass.n, pass.n_window, n_frames, mel);
    sync();
    if (stopped()) return false;
    for_rows(w, 1, [&](uint32_t) { s.loudest = mel_loudest(mel, size_t{n_frames} * spec.n_mels); });
    sync();
    mel_scale(w, s.mel, n_frames, mel, s.loudest);
    sync();
    float* const between = a.wide;  // of a chunk: rows 2 * first - 1 .. of the first convolution
    for (uint32_t first = 0; first < rows; first += kAudioChunk) {
      const uint32_t n = rows - first < kAudioChunk ? rows - first : kAudioChunk;
      look();
      const uint32_t from = first ? 2 * first - 1 : 0, count = 2 * (first + n) - from;
      float* const begin = between + (first ? 0 : spec.d_model);
      if (!first) for_rows(w, 1, [&](uint32_t) { std::memset(between, 0, spec.d_model * sizeof(float)); });
      convolve(0, c[0], s.spectra + size_t{from} * spec.n_mels, count, begin);
      gelu(begin, count, c[0].n);
      float* const x = a.x + size_t{first} * stride();
      convolve(1, c[1], between, n, x);
      gelu(x, n, c[1].n);
      ops.embed(w, m.enc_positions, s.positions + first, n, a.normed, stride());
      sync();
      ops.add(w, x, a.normed, stride(), {}, 0, n, spec.d_model);
      sync();
      if (stopped()) return false;
    }
    return true;
  }

  // The sound itself: tanh of the first convolution, normed over all rows and channels, then two more. What is normed is made twice, first
  // for its sums, so that no buffer is as long as the sound.
  bool sound() const {
    Convolution c[3];
    audio_convolutions(spec, c);
    const uint32_t middle = (rows - 1) * c[2].stride + c[2].taps, all = (middle - 1) * c[1].stride + c[1].taps;
    constexpr uint32_t kMiddle = 2 * kAudioChunk + 1, kFirst = 3 * (kMiddle - 1) + 7;  // rows that a chunk takes
    float *const one = a.wide, *const two = one + size_t{kFirst} * c[0].n;
    const auto first_rows = [&](uint32_t from, uint32_t n_rows) {
      convolve(0, c[0], pass.pcm + size_t{from} * c[0].stride, n_rows, one);
      ops.scale(w, one, c[0].n, 0, 1, n_rows, c[0].n);
      sync();
    };
    for (uint32_t from = 0; from < all; from += kFirst) {
      const uint32_t n_rows = all - from < kFirst ? all - from : kFirst;
      look();
      first_rows(from, n_rows);
      for_rows(w, n_rows, [&](uint32_t i) {
        double sum = 0, squares = 0;
        for (uint32_t j = 0; j < c[0].n; ++j) {
          const double v = static_cast<double>(one[size_t{i} * c[0].n + j]);
          sum += v, squares += v * v;
        }
        s.sums[2 * (from + i)] = sum, s.sums[2 * (from + i) + 1] = squares;
      });
      sync();
      if (stopped()) return false;
    }
    for_rows(w, 1, [&](uint32_t) {
      double sum = 0, squares = 0;
      for (uint32_t i = 0; i < all; ++i) sum += s.sums[2 * i], squares += s.sums[2 * i + 1];
      const double n = static_cast<double>(all) * c[0].n, mean = sum / n, variance = squares / n - mean * mean;
      s.mean = static_cast<float>(mean);
      s.inverse = static_cast<float>(1 / __builtin_sqrt((variance > 0 ? variance : 0) + static_cast<double>(m.conv_norm.eps)));
    });
    sync();
    for (uint32_t first = 0; first < rows; first += kAudioChunk) {
      const uint32_t n = rows - first < kAudioChunk ? rows - first : kAudioChunk;
      const uint32_t n_middle = (n - 1) * c[2].stride + c[2].taps, n_first = (n_middle - 1) * c[1].stride + c[1].taps;
      look();
      first_rows(first * c[2].stride * c[1].stride, n_first);
      for_rows(w, n_first, [&](uint32_t i) {
        float* const row = one + size_t{i} * c[0].n;
        for (uint32_t j = 0; j < c[0].n; ++j) row[j] = (row[j] - s.mean) * s.inverse * m.conv_norm.weight[j] + m.conv_norm.bias[j];
      });
      sync();
      convolve(1, c[1], one, n_middle, two);
      gelu(two, n_middle, c[1].n);
      float* const x = a.x + size_t{first} * stride();
      convolve(2, c[2], two, n, x);
      gelu(x, n, c[2].n);
      if (stopped()) return false;
    }
    return true;
  }

  void layer(const EncoderLayer& l) const {
    const AudioAttention& t = l.attention;
    const size_t d = stride();
    float *const q = a.wide, *const k = a.wide, *const v = k + kAudioChunk * d;
    for (uint32_t first = 0; first < rows; first += kAudioChunk) {
      const uint32_t n = rows - first < kAudioChunk ? rows - first : kAudioChunk;
      look();
      const QuantRows in = norm(t.norm, t.q, a.x + first * d, n);
      ops.gemm(w, t.k, a.normed, d, &in, n, nullptr, false, k, d);
      ops.gemm(w, t.v, a.normed, d, &in, n, t.v_bias, false, v, d);
      sync();
      turn(k, first, n);
      const RowSpan span = {0, 0, n, first};
      ops.kv_append(w, s.heard, 0, k, v, d, &span, 1, {});
      sync();
      if (stopped()) return;
    }
    for (uint32_t first = 0; first < rows; first += kAudioChunk) {
      const uint32_t n = rows - first < kAudioChunk ? rows - first : kAudioChunk;
      float* const x = a.x + first * d;
      look();
      const QuantRows in = norm(t.norm, t.q, x, n);
      ops.gemm(w, t.q, a.normed, d, &in, n, t.q_bias, false, q, d);
      sync();
      turn(q, first, n);
      attend(s.heard, 0, n, q);
      project(t, q, n, x);
      feed_forward(l.feed_forward, kActGeluErf, spec.d_ff_encoder, n, x);
      if (stopped()) return;
    }
  }
  void turn(float* x, uint32_t first, uint32_t n) const {
    const uint32_t pairs = spec.rope_dim / 2;
    if (!pairs) return;
    ops.rope(w, x, stride(), n, spec.n_heads, spec.head_dim(), {},
             {s.cos + size_t{first} * pairs, s.sin + size_t{first} * pairs, pairs, 1, 1});
    sync();
  }
  // Rows that see all others: their place among them is of no matter.
  void attend(const KvCache& kv, uint32_t layer, uint32_t n, float* q) const {
    const RowSpan span = {0, 0, n, rows - n};
    ops.attention(w, {&kv,
                      layer,
                      &span,
                      1,
                      q,
                      stride(),
                      spec.n_heads,
                      1.0f / __builtin_sqrtf(static_cast<float>(spec.head_dim())),
                      0,
                      nullptr,
                      nullptr,
                      q,
                      stride(),
                      {}});
    sync();
  }

  // Keys and values of what was heard, for the decoder.
  void keep() const {
    const size_t d = stride();
    float *const k = a.wide, *const v = k + kAudioChunk * d;
    for (uint32_t first = 0; first < rows; first += kAudioChunk) {
      const uint32_t n = rows - first < kAudioChunk ? rows - first : kAudioChunk;
      float* const x = a.x + first * d;
      look();
      ops.norm(w, x, d, m.enc_norm, n, spec.d_model, x, nullptr);
      sync();
      for (uint32_t i = 0; i < spec.n_decoder; ++i) {
        const AudioAttention& t = m.decoder[i].cross;
        QuantRows in = quant_rows(a.codes, t.k);
        if (in.q) ops.quantize(w, x, d, n, spec.d_model, &in);
        if (in.q) sync();
        ops.gemm(w, t.k, x, d, &in, n, nullptr, false, k, d);
        ops.gemm(w, t.v, x, d, &in, n, t.v_bias, false, v, d);
        sync();
        const RowSpan span = {0, 0, n, first};
        ops.kv_append(w, s.cross, i, k, v, d, &span, 1, {});
        sync();
      }
      if (stopped()) return;
    }
  }
};

}  // namespace

uint64_t audio_first_rows(const AudioSpec& s) {
  Convolution c[3] = {};
  uint64_t rows = s.n_audio;
  for (uint32_t i = audio_convolutions(s, c); i-- > 1;) rows = (rows - 1) * c[i].stride + c[i].taps;
  return rows;
}
uint64_t audio_front_rows(const AudioSpec& s) { return s.whisper() ? kAudioChunk : 2 * kAudioChunk + 1; }
uint64_t audio_front_floats(const AudioSpec& s) {
  Convolution c[3] = {};
  audio_convolutions(s, c);
  if (s.whisper()) return uint64_t{2 * kAudioChunk + 2} * c[0].n;
  const uint64_t middle = 2 * kAudioChunk + 1, first = 3 * (middle - 1) + 7;
  return first * c[0].n + middle * c[1].n;
}

void encode_audio(Pass& pass, const Worker& w, bool, float*) {
  const Encoder e(pass, w);
  if (!(e.spec.whisper() ? e.spectra() : e.sound())) return;
  for (uint32_t i = 0; i < e.spec.n_encoder; ++i) {
    e.layer(e.m.encoder[i]);
    if (e.stopped()) return;
  }
  e.keep();
}

}  // namespace linnet
