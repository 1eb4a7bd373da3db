#include "session.h"

#include <cstring>
#include <new>

#include "../platform/file.h"
#include "../platform/fp.h"
#include "forward.h"

namespace linnet {
namespace {

constexpr uint32_t kMaxContext = 1u << 24, kMaxChunk = 4096, kMaxThreads = 256, kDefaultSpin = 20000;

size_t row_floats(uint64_t n) { return static_cast<size_t>(padded_n(n)); }

template <class Fn>
void each_matrix(const linnet_model& model, Fn fn) {
  for (uint32_t i = 0; i < model.spec.n_layers; ++i) {
    const Layer& l = model.layers[i];
    for (const Matrix* m : {&l.q, &l.k, &l.v, &l.out, &l.gate, &l.up, &l.down}) fn(*m);
  }
  fn(model.head);
}

void layout_activations(Arena& arena, const linnet_model& model, const linnet_session_params& p, Activations* a) {
  const ModelSpec& spec = model.spec;
  const uint64_t c = p.n_chunk;
  a->d_stride = row_floats(spec.d_model);
  a->q_stride = row_floats(uint64_t{spec.n_heads} * spec.head_dim);
  a->kv_stride = row_floats(uint64_t{spec.n_kv_heads} * spec.head_dim);
  a->ff_stride = row_floats(spec.d_ff);
  const uint64_t qkv = a->q_stride + 2 * a->kv_stride, gate_up = 2 * a->ff_stride;
  uint64_t longest = 0, groups = 0;
  each_matrix(model, [&](const Matrix& m) {
    if (!format_row(m.format).integer) return;
    if (m.k > longest) longest = m.k;
    if (n_x_groups(m.format, m.k) > groups) groups = n_x_groups(m.format, m.k);
  });
  a->x = arena.take<float>("activations", c * a->d_stride);
  a->normed = arena.take<float>("activations", c * a->d_stride);
  a->wide = arena.take<float>("activations", c * (qkv > gate_up ? qkv : gate_up));
  a->codes = arena.take<int8_t>("activations", longest ? c * quant_stride(longest) : 0);
  a->scales = arena.take<float>("activations", c * groups);
  a->sums = arena.take<int32_t>("activations", c * groups);
  const uint64_t n_pairs = spec.rope_kind == kRopeNone ? 0 : spec.rope_dim / 2;
  a->cos = arena.take<float>("activations", c * n_pairs);
  a->sin = arena.take<float>("activations", c * n_pairs);
  a->positions = arena.take<uint32_t>("activations", c);
}

size_t attention_scratch(const linnet_session& s, const ModelSpec& spec) {
  return align_up(cpu_scratch_bytes(s.kv.view(), spec.n_heads), kAlign);
}

void fill(linnet_session& f, Arena& arena, const linnet_model& model, const linnet_session_params& p) {
  const ModelSpec& spec = model.spec;
  const KvLayout kv = kv_layout(static_cast<Format>(p.kv_format), spec.n_layers, spec.n_kv_heads, spec.head_dim);
  f.kv.layout_in(arena, kv, p.n_context);
  layout_activations(arena, model, p, &f.act);
  f.act.scratch_stride = attention_scratch(f, spec);
  f.act.scratch = arena.take<uint8_t>("activations", uint64_t{p.n_threads} * f.act.scratch_stride);
  f.logits_stride = row_floats(spec.n_vocab);
  f.logits = arena.take<float>("logits", uint64_t{p.n_logits} * f.logits_stride);
  f.sampler.order = arena.take<uint64_t>("sampling", spec.n_vocab);
  f.sampler.logits = arena.take<float>("sampling", spec.n_vocab);
  f.history = arena.take<int32_t>("history", p.n_context);
  f.held = arena.take<char>("text", kHeldBytes);
  f.utf8 = arena.take<char>("text", 3 * kHeldBytes);
  f.team.layout_in(arena, p.n_threads, p.threads);
}

// Text that linnet_generate holds back: bytes of an unfinished character and what may become a stop string.
struct TextOut {
  linnet_session& s;
  const linnet_generate_params& params;
  linnet_token_fn fn;
  void* user;
  size_t n = 0;  // bytes in s.held

  // Bytes at the end of s.held that may be the beginning of a stop string.
  size_t held() const {
    size_t most = 0;
    for (uint32_t i = 0; i < params.n_stop; ++i) {
      const size_t len = std::strlen(params.stop[i]);
      for (size_t k = len - 1 < n ? len - 1 : n; k > most; --k)
        if (std::memcmp(s.held + n - k, params.stop[i], k) == 0) {
          most = k;
          break;
        }
    }
    return most;
  }
  // Length of a stop string that s.held ends with, or 0.
  size_t stop_match() const {
    for (uint32_t i = 0; i < params.n_stop; ++i) {
      const size_t len = std::strlen(params.stop[i]);
      if (len <= n && std::memcmp(s.held + n - len, params.stop[i], len) == 0) return len;
    }
    return 0;
  }
  // Passes the first `count` bytes on, bytes that are no UTF-8 as U+FFFD; keeps an unfinished last character unless `all`.
  bool emit(int32_t token, size_t count, bool all) {
    size_t in = 0, out = 0;
    while (in < count) {
      const unsigned char c = static_cast<unsigned char>(s.held[in]);
      const size_t want = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
      size_t have = want ? 1 : 0;
      while (have < want && in + have < count && continues(c, have, static_cast<unsigned char>(s.held[in + have]))) ++have;
      if (want && have == want) {
        std::memcpy(s.utf8 + out, s.held + in, want);
        out += want;
        in += want;
      } else if (want && in + have == count && !all) {
        break;  // may be completed by the next token
      } else {
        std::memcpy(s.utf8 + out, "\xEF\xBF\xBD", 3);
        out += 3;
        in += have ? have : 1;
      }
    }
    std::memmove(s.held, s.held + in, n - in);
    n -= in;
    return fn && (token >= 0 || out) && fn(user, token, s.utf8, out) != 0;
  }
  static bool continues(unsigned char lead, size_t at, unsigned char c) {
    if (at == 1) {
      if (lead == 0xE0) return c >= 0xA0 && c < 0xC0;
      if (lead == 0xED) return c >= 0x80 && c < 0xA0;
      if (lead == 0xF0) return c >= 0x90 && c < 0xC0;
      if (lead == 0xF4) return c >= 0x80 && c < 0x90;
    }
    return c >= 0x80 && c < 0xC0;
  }
};

// Adds a token's bytes one by one. *why becomes STOP_STRING or STOP_CALLBACK where they end the generation.
void pass_token(TextOut& text, int32_t token, std::string_view bytes, linnet_stop* why) {
  for (const char c : bytes) {
    if (text.n == kHeldBytes && text.emit(-1, text.n - text.held(), false)) *why = LINNET_STOP_CALLBACK;
    text.s.held[text.n++] = c;
    if (const size_t stop = text.stop_match()) {
      text.n -= stop;
      text.emit(token, text.n, true);
      *why = LINNET_STOP_STRING;
      return;
    }
  }
  if (text.emit(token, text.n - text.held(), false)) *why = LINNET_STOP_CALLBACK;
}

Status check_generate(const linnet_session& s, const linnet_generate_params& p, Error* err) {
  if (p.n_stop > kMaxStops) return fail(err, LINNET_BAD_ARG, "generate: n_stop is ", p.n_stop, ", at most ", kMaxStops);
  if (p.n_stop && !p.stop) return fail(err, LINNET_BAD_ARG, "generate: stop is NULL, n_stop is ", p.n_stop);
  for (uint32_t i = 0; i < p.n_stop; ++i) {
    const size_t len = p.stop[i] ? strnlen(p.stop[i], kMaxStopBytes + 1) : 0;
    if (len == 0 || len > kMaxStopBytes) return fail(err, LINNET_BAD_ARG, "generate: stop[", i, "] is empty or longer than ", kMaxStopBytes, " bytes");
  }
  if (p.n_stop && !s.model->tokenizer.blob) return fail(err, LINNET_UNSUPPORTED, "generate: stop strings need a tokenizer, the model has none");
  return LINNET_OK;
}

}  // namespace

Status session_params(const linnet_model& model, const linnet_session_params* in, linnet_session_params* out, Error* err) {
  linnet_session_params p{};
  if (in) {
    if (in->size < sizeof(uint32_t)) return fail(err, LINNET_BAD_ARG, "session: size is ", in->size);
    std::memcpy(&p, in, in->size < sizeof p ? in->size : sizeof p);
  }
  p.size = sizeof p;
  if (model.spec.n_layers == 0) return fail(err, LINNET_UNSUPPORTED, "session: the model holds only a vocabulary");
  if (p.n_context == 0) p.n_context = model.spec.n_context < 4096 ? model.spec.n_context : 4096;
  if (p.n_context > kMaxContext) return fail(err, LINNET_BAD_ARG, "session: n_context is ", p.n_context, ", at most ", kMaxContext);
  if (p.n_chunk == 0) p.n_chunk = 256;
  if (p.n_chunk > kMaxChunk) return fail(err, LINNET_BAD_ARG, "session: n_chunk is ", p.n_chunk, ", at most ", kMaxChunk);
  if (p.n_chunk > p.n_context) p.n_chunk = p.n_context;
  if (p.kv_format == 0) p.kv_format = LINNET_I8;
  if (p.kv_format != LINNET_F32 && p.kv_format != LINNET_F16 && p.kv_format != LINNET_BF16 && p.kv_format != LINNET_I8) {
    const char* name = format_name(static_cast<Format>(p.kv_format));
    return fail(err, LINNET_UNSUPPORTED, "session: KV format ", name ? name : "?", " (", p.kv_format, "): one of f32, f16, bf16, i8");
  }
  if (p.n_threads == 0) p.n_threads = 1;
  if (p.n_threads > kMaxThreads) return fail(err, LINNET_BAD_ARG, "session: n_threads is ", p.n_threads, ", at most ", kMaxThreads);
  LINNET_TRY(team_kind(p.threads, &p.threads, err));
  if (p.spin == 0) p.spin = kDefaultSpin;
  if (p.n_logits == 0) p.n_logits = 1;
  if (p.n_logits > p.n_chunk) return fail(err, LINNET_BAD_ARG, "session: n_logits is ", p.n_logits, ", at most n_chunk = ", p.n_chunk);
  *out = p;
  return LINNET_OK;
}

linnet_session* session_layout(Arena& arena, const linnet_model& model, const linnet_session_params& params) {
  linnet_session* s = arena.take<linnet_session>("session", 1);
  if (s) {
    new (s) linnet_session{};
    fill(*s, arena, model, params);
  } else {
    linnet_session counted{};
    fill(counted, arena, model, params);
  }
  return s;
}

Status session_init(linnet_session** out, void* mem, size_t bytes, const linnet_model* model, const linnet_session_params* in, Error* err) {
  linnet_session_params params;
  LINNET_TRY(session_params(*model, in, &params, err));
  Arena count;
  session_layout(count, *model, params);
  if (!count.ok()) return fail(err, LINNET_BAD_ARG, "session: n_context = ", params.n_context, " needs more bytes than this machine can address");
  if (count.used() > bytes) return fail(err, LINNET_TOO_SMALL, "session: memory of ", bytes, " bytes, needs ", count.used());
  Arena arena(mem, bytes);
  linnet_session* s = session_layout(arena, *model, params);
  s->model = model;
  s->params = params;
  s->arena = arena;
  s->kv.reset();
  s->sampler.exp_row = model->kernels.t.exp_row;
  s->stats.size = sizeof s->stats;
  s->stats.n_threads = params.n_threads;
  s->stats.memory_bytes = arena.used();
  LINNET_TRY(sampling_check(nullptr, &s->sampler.params, err));
  LINNET_TRY(s->team.start(params.n_threads, params.threads, params.spin, err));
  *out = s;
  return LINNET_OK;
}

uint32_t session_length(const linnet_session& s) { return s.kv.length + s.pending; }

void session_truncate(linnet_session& s, uint32_t keep) {
  if (keep == session_length(s)) return;
  s.pending = 0;
  s.kv.truncate(keep);
  s.n_logit_rows = 0;
}

namespace {

// Computes `n` tokens that stand in history after the KV cache's length, with logits for the last n_logits. All or nothing.
Status compute(linnet_session& s, uint32_t n, uint32_t n_logits, Error* err) {
  const uint32_t before = s.kv.length, rows_before = s.n_logit_rows;
  s.kv.reserve(before + n);  // the pool holds n_context positions
  Status status = LINNET_OK;
  bool last = false;
  for (uint32_t done = 0; done < n && status == LINNET_OK;) {
    // The rows that get logits must be in one chunk, so the chunk before it may be cut short.
    uint32_t m = n - done < s.params.n_chunk ? n - done : s.params.n_chunk;
    const uint32_t left = n - done - m;
    if (left && left < n_logits) m = n - done - n_logits;
    last = done + m == n;
    status = forward(s, {s.history + before + done, m, before + done, last ? n_logits : 0}, err);
    done += m;
  }
  if (status != LINNET_OK) {
    s.kv.truncate(before);
    // A cancelled pass never came to the logits.
    s.n_logit_rows = last && status != LINNET_CANCELLED ? 0 : rows_before;
    return status;
  }
  s.kv.length = before + n;
  s.n_logit_rows = n_logits;
  return LINNET_OK;
}

// One token after the KV cache's length, as a row of decoding.
Status compute_one(linnet_session& s, Error* err) {
  const uint64_t start = clock_ns();
  LINNET_TRY(compute(s, 1, 1, err));
  ++s.stats.decode_tokens;
  s.stats.decode_ns += clock_ns() - start;
  s.stats.decode_bytes = s.model->decode_bytes + uint64_t{s.kv.n_used_pages} * s.kv.layout.n_layers * s.kv.layout.page_bytes;
  return LINNET_OK;
}

// The logits after the last token, where that is still to be computed.
Status catch_up(linnet_session& s, Error* err) {
  if (!s.pending) return LINNET_OK;
  LINNET_TRY(compute_one(s, err));
  s.pending = 0;
  return LINNET_OK;
}

int32_t draw(linnet_session& s) {
  const FpGuard guard;
  const int32_t token = sample(s.sampler, s.logits + (s.n_logit_rows - 1) * s.logits_stride, s.model->spec.n_vocab, s.history, s.kv.length);
  const uint64_t now = clock_ns();
  if (s.ttft_pending) {
    s.stats.first_token_ns = now - s.ttft_start_ns;
    s.ttft_pending = false;
  } else if (s.last_sample_ns) {
    s.stats.last_token_ns = now - s.last_sample_ns;
    if (s.stats.last_token_ns > s.stats.max_token_ns) s.stats.max_token_ns = s.stats.last_token_ns;
  }
  s.last_sample_ns = now;
  return token;
}

}  // namespace

Status session_prefill(linnet_session& s, const int32_t* tokens, size_t n, Error* err) {
  const uint32_t before = session_length(s);
  if (n == 0) return fail(err, LINNET_BAD_ARG, "prefill: no tokens");
  for (size_t i = 0; i < n; ++i)
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= s.model->spec.n_vocab)
      return fail(err, LINNET_BAD_ARG, "prefill: token ", tokens[i], " at ", i, " is outside 0..", s.model->spec.n_vocab - 1);
  if (n > s.params.n_context - before)
    return fail(err, LINNET_CONTEXT_FULL, "prefill: ", n, " tokens after ", before, " do not fit the context of ", s.params.n_context);
  const uint64_t start = clock_ns();
  const uint32_t n_new = static_cast<uint32_t>(n);
  std::memcpy(s.history + before, tokens, n * sizeof *tokens);
  LINNET_TRY(compute(s, n_new + s.pending, n_new < s.params.n_logits ? n_new : s.params.n_logits, err));
  s.pending = 0;
  if (!s.ttft_pending) {
    s.ttft_pending = true;
    s.ttft_start_ns = start;
  }
  s.stats.prefill_tokens += n;
  s.stats.prefill_ns += clock_ns() - start;
  return LINNET_OK;
}

Status session_sample(linnet_session& s, int32_t* token, Error* err) {
  LINNET_TRY(catch_up(s, err));
  if (s.n_logit_rows == 0) return fail(err, LINNET_BAD_STATE, "sample: no logits; prefill first");
  *token = draw(s);
  return LINNET_OK;
}

Status session_decode(linnet_session& s, int32_t* token, Error* err) {
  // Room first, so that a full context costs no draw of the generator.
  if (session_length(s) == s.params.n_context) return fail(err, LINNET_CONTEXT_FULL, "decode: the context of ", s.params.n_context, " is full");
  const uint64_t draws = s.sampler.n_draws;
  int32_t drawn = -1;
  LINNET_TRY(session_sample(s, &drawn, err));
  s.history[s.kv.length] = drawn;
  if (const Status status = compute_one(s, err); status != LINNET_OK) {
    s.sampler.n_draws = draws;
    return status;
  }
  *token = drawn;
  return LINNET_OK;
}

Status session_generate(linnet_session& s, const linnet_generate_params& params, linnet_token_fn fn, void* user, linnet_stop* why, Error* err) {
  LINNET_TRY(check_generate(s, params, err));
  if (s.n_logit_rows == 0 && !s.pending) return fail(err, LINNET_BAD_STATE, "generate: no logits; prefill first");
  const Tokenizer& tokenizer = s.model->tokenizer;
  TextOut text{s, params, fn, user};
  Status status = LINNET_OK;
  *why = LINNET_STOP_NONE;
  for (uint32_t i = 0; *why == LINNET_STOP_NONE; ++i) {
    if (params.max_tokens && i == params.max_tokens) {
      *why = LINNET_STOP_LENGTH;
    } else if (session_length(s) == s.params.n_context) {
      *why = LINNET_STOP_CONTEXT;
    } else if (status = catch_up(s, err); status != LINNET_OK) {
      *why = status == LINNET_CANCELLED ? LINNET_STOP_CANCEL : LINNET_STOP_NONE;
      break;
    } else if (const int32_t token = draw(s); !params.ignore_eos && tokenizer.blob && token_is_eog(tokenizer, token)) {
      *why = LINNET_STOP_EOS;
    } else {
      // In the sequence at once, computed when its logits are needed: the last token of a generation costs nothing.
      s.history[s.kv.length] = token;
      s.pending = 1;
      pass_token(text, token, tokenizer.blob ? token_bytes(tokenizer, token, false) : std::string_view(), why);
    }
  }
  text.emit(-1, text.n, true);
  return status == LINNET_CANCELLED ? LINNET_OK : status;
}

}  // namespace linnet
