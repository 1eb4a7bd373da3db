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
    ops.rope(w, x, stride(), n, spec.n_heads, spec.head_dim(), {}, {s.cos + size_t{first} * pairs, s.sin + size_t{first} * pairs, pairs, 1, 1});
    sync();
  }
  // Rows that see all others: their place among them is of no matter.
  void attend(const KvCache& kv, uint32_t layer, uint32_t n, float* q) const {
    const RowSpan span = {0, 0, n, rows - n};
    ops.attention(w, {&kv, layer, &span, 1, q, stride(), spec.n_heads, 1.0f / __builtin_sqrtf(static_cast<float>(spec.head_dim())), 0, nullptr, nullptr, q,
                      stride(), {}});
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

uint64_t audio_front_floats(const AudioSpec& s) {
  Convolution c[3] = {};
  audio_convolutions(s, c);
  return s.whisper() ? uint64_t{2 * kAudioChunk + 2} * c[0].n : 0;
}

void encode_audio(Pass& pass, const Worker& w, bool, float*) {
  const Encoder e(pass, w);
  if (!e.spectra()) return;
  for (uint32_t i = 0; i < e.spec.n_encoder; ++i) {
    e.layer(e.m.encoder[i]);
    if (e.stopped()) return;
  }
  e.keep();
}

}  // namespace linnet
