// What happens to the sequences of a session: rollback, forks, prefill, drawing, decoding and generating.
#include <cfloat>
#include <cstring>

#include "../platform/file.h"
#include "../platform/fp.h"
#include "forward.h"
#include "params.h"
#include "power.h"

namespace linnet {

namespace {

// Tokens of the sequence that are to be computed, and all.
uint32_t waiting(const Sequence& seq) { return seq.replay + seq.pending; }
uint32_t length_of(const Sequence& seq) { return seq.length + waiting(seq); }

}  // namespace

uint32_t session_length(const linnet_session& s, uint32_t seq) { return length_of(s.seqs[seq]); }

void session_grammar(linnet_session& s, uint32_t seq, linnet_grammar* grammar, uint32_t start) {
  const uint32_t n = session_length(s, seq);
  s.seqs[seq].place = {.grammar = grammar, .start = start, .from = n, .from_state = start, .at = n, .state = start};
}

namespace {

// The first `keep` tokens are left.
void rewind(GrammarPlace& p, uint32_t keep) {
  if (keep < p.from) p.from = keep, p.from_state = p.start;
  if (keep < p.at) p.at = p.from, p.state = p.from_state;
}

// As far as token `end`, which the sequence remembers as all from p.from on.
void follow(Sequence& seq, uint32_t end) {
  GrammarPlace& p = seq.place;
  if (!grammar_knows(*p.grammar, p.state)) p.at = p.from, p.state = p.from_state;
  for (; p.at < end; ++p.at) p.state = grammar_advance(*p.grammar, p.state, seq.history[p.at - seq.n_forgotten]);
}

// Where a cut to `keep` tokens leaves the cache.
uint32_t base_of(const linnet_session& s, uint32_t i, uint32_t keep) {
  const Sequence& seq = s.seqs[i];
  if (keep >= seq.length) return seq.length;
  const uint32_t base = s.cache.base(i, keep);
  return keep && base < seq.n_forgotten ? Cache::kNoBase : base;
}

Status check_base(const linnet_session& s, uint32_t i, uint32_t keep, uint32_t base, const char* what, Error* err) {
  if (base != Cache::kNoBase) return LINNET_OK;
  return fail(err, LINNET_BAD_STATE, what, ": layers with a window, in KIVI or with a state no longer hold what a sequence of ", keep,
              " tokens sees: it has ", s.seqs[i].length, ", n_rollback is ", s.params.n_rollback,
              s.cache.slots.any() ? ", and there are no checkpoints" : "");
}

}  // namespace

Status session_truncate(linnet_session& s, uint32_t i, uint32_t keep, Error* err) {
  Sequence& seq = s.seqs[i];
  if (keep == session_length(s, i)) return LINNET_OK;
  const uint32_t base = base_of(s, i, keep);
  LINNET_TRY(check_base(s, i, keep, base, "truncate", err));
  if (base < seq.length) {
    const BackendGuard bound(s);
    s.cache.truncate(i, base);
    seq.length = base;
  }
  if (keep == 0) seq.n_forgotten = 0;
  seq.replay = keep - base;
  seq.pending = 0;
  seq.n_logit_rows = 0;
  seq.generation->going = false;
  rewind(seq.place, keep);
  return LINNET_OK;
}

uint32_t session_most(const linnet_session& s) {
  switch (s.params.when_full) {
    case LINNET_FULL_DROP_OLDEST:
    case LINNET_FULL_HEAVY_HITTERS:
      return s.model->spec.n_context > s.params.n_context ? s.model->spec.n_context : s.params.n_context;
    case LINNET_FULL_SINKS:
      return (1u << 31) - 1;
    default:
      return s.params.n_context;
  }
}

uint64_t session_history(const linnet_session& s) { return history_tokens(s.params); }

Status session_fork(linnet_session& s, uint32_t from, uint32_t to, uint32_t keep, Error* err) {
  const Sequence& a = s.seqs[from];
  Sequence& b = s.seqs[to];
  const uint32_t base = base_of(s, from, keep);
  LINNET_TRY(check_base(s, from, keep, base, "fork", err));
  const BackendGuard bound(s);
  s.cache.truncate(to, 0);
  b.length = base;
  b.pending = keep == length_of(a) ? a.pending : 0;
  b.replay = keep - base - b.pending;
  s.cache.fork(from, to, b.length);
  b.n_forgotten = keep ? a.n_forgotten : 0;
  std::memcpy(b.history, a.history, (keep - b.n_forgotten) * sizeof *b.history);
  if (const ModelSpec& spec = s.model->spec; spec.expert_capacity)
    for (uint32_t i = 0; i < spec.n_layers; ++i) {
      const size_t layer = size_t{i} * s.params.n_context * spec.n_active;
      const size_t bytes = size_t{b.length} * spec.n_active * sizeof *b.chosen;
      s.model->backend->copy(s.handle, reinterpret_cast<uint8_t*>(b.chosen + layer), reinterpret_cast<const uint8_t*>(a.chosen + layer), 0,
                             bytes, bytes != 0);
    }
  b.n_logit_rows = keep == session_length(s, from) ? a.n_logit_rows : 0;
  std::memcpy(b.logits, a.logits, b.n_logit_rows * s.logits_stride * sizeof *b.logits);
  b.lora = a.lora;
  b.lora_hash = a.lora_hash;
  b.sampling = a.sampling;
  b.n_draws = a.n_draws;
  b.mu = a.mu;
  b.generation->going = false;
  b.place = a.place;
  rewind(b.place, keep);
  return LINNET_OK;
}

Status session_checkpoint(linnet_session& s, uint32_t seq, Error* err) {
  if (!s.cache.slots.any()) return LINNET_OK;  // pages can be cut anywhere
  if (s.cache.slots.n_checkpoints == 0)
    return fail(err, LINNET_BAD_STATE, "checkpoint: this session has none: n_checkpoints is LINNET_CHECKPOINTS_NONE");
  const BackendGuard bound(s);
  s.cache.checkpoint(seq);
  return LINNET_OK;
}

Status session_tokens(const linnet_session& s, uint32_t i, size_t first, int32_t* out, size_t cap, size_t* n_tokens, Error* err) {
  const Sequence& seq = s.seqs[i];
  const size_t length = session_length(s, i);
  if (first > length) return fail(err, LINNET_BAD_ARG, "tokens: first is ", first, ", sequence ", i, " has ", length, " tokens");
  if (first < seq.n_forgotten && first < length)
    return fail(err, LINNET_BAD_STATE, "tokens: first is ", first, ", sequence ", i, " knows its tokens from ", seq.n_forgotten, " on");
  const size_t n = length - first;
  *n_tokens = n;
  if (n && cap) std::memcpy(out, seq.history + (first - seq.n_forgotten), (n < cap ? n : cap) * sizeof *out);
  return n > cap ? fail(err, LINNET_TOO_SMALL, "tokens: ", n, " tokens, there is room for ", cap) : LINNET_OK;
}

namespace {

Status check_strings(const char* const* strings, uint32_t n, const char* name, Error* err) {
  for (uint32_t i = 0; i < n; ++i) {
    const size_t len = strings[i] ? strnlen(strings[i], kMaxStopBytes + 1) : 0;
    if (len == 0 || len > kMaxStopBytes)
      return fail(err, LINNET_BAD_ARG, "generate: ", name, "[", i, "] is empty or longer than ", kMaxStopBytes, " bytes");
  }
  return LINNET_OK;
}

Status check_generate(const linnet_session& s, const linnet_generate_params& p, Error* err) {
  if (p.ignore_eos > 1) return fail(err, LINNET_BAD_ARG, "generate: ignore_eos is ", p.ignore_eos, ", must be 0 or 1");
  if (p.n_stop > kMaxStops) return fail(err, LINNET_BAD_ARG, "generate: n_stop is ", p.n_stop, ", at most ", kMaxStops);
  if (p.n_stop && !p.stop) return fail(err, LINNET_BAD_ARG, "generate: stop is NULL, n_stop is ", p.n_stop);
  if (p.n_banned > kMaxStops) return fail(err, LINNET_BAD_ARG, "generate: n_banned is ", p.n_banned, ", at most ", kMaxStops);
  if (p.n_banned && !p.banned) return fail(err, LINNET_BAD_ARG, "generate: banned is NULL, n_banned is ", p.n_banned);
  LINNET_TRY(check_strings(p.stop, p.n_stop, "stop", err));
  LINNET_TRY(check_strings(p.banned, p.n_banned, "banned", err));
  if ((p.n_stop || p.n_banned) && !s.model->tokenizer.blob)
    return fail(err, LINNET_UNSUPPORTED, "generate: ", p.n_stop ? "stop" : "banned", " strings need a tokenizer, the model has none");
  return LINNET_OK;
}

void copy_strings(const char* const* from, uint32_t n, StopStrings* out) {
  out->n = n;
  for (uint32_t i = 0; i < n; ++i) {
    const size_t bytes = std::strlen(from[i]);
    out->bytes[i] = static_cast<uint8_t>(bytes);
    std::memcpy(out->text[i], from[i], bytes);
  }
}

// Tokens of one sequence to be computed: those of it that wait, then others.
struct PartRows {
  uint32_t seq, n, n_logits;
  const int32_t* tokens;  // (n - waiting)
};

int32_t* history_end(Sequence& seq) { return seq.history + seq.length - seq.n_forgotten; }

// Room for `n` tokens more after seq.length; forgets old ones.
void make_room(const linnet_session& s, Sequence& seq, uint32_t n) {
  const uint32_t have = seq.length - seq.n_forgotten, stay = remembered(s.params);
  if (have + n <= history_tokens(s.params)) return;
  if (GrammarPlace& p = seq.place;
      p.grammar && p.from < seq.n_forgotten + have - stay) {  // its beginning is forgotten, so the state there is kept
    rewind(p, p.from);
    follow(seq, seq.n_forgotten + have - stay);
    p.from = p.at;
    p.from_state = p.state = grammar_keep(*p.grammar, p.state);
  }
  std::memmove(seq.history, seq.history + have - stay, stay * sizeof *seq.history);
  seq.n_forgotten += have - stay;
}

void remember(const linnet_session& s, Sequence& seq, const int32_t* tokens, uint32_t n) {
  make_room(s, seq, n);
  if (n) std::memcpy(history_end(seq), tokens, n * sizeof *tokens);  // waiting ones alone: there are no others
}

// Ends the call for its sequences: all that was computed counts, or nothing does.
void end_call(linnet_session& s, const PartRows* parts, uint32_t n_parts, bool ok) {
  for (uint32_t i = 0; i < n_parts; ++i) {
    Sequence& seq = s.seqs[parts[i].seq];
    if (ok) {
      const uint32_t before = seq.length, n = parts[i].n, old = n < waiting(seq) ? n : waiting(seq);
      const uint32_t again = old < seq.replay ? old : seq.replay;
      seq.replay -= again;
      seq.pending -= old - again;
      seq.length += old;
      remember(s, seq, parts[i].tokens, n - old);
      seq.length += n - old;
      seq.n_logit_rows = parts[i].n_logits;
      s.cache.commit(parts[i].seq, before, seq.length);
    } else {
      s.cache.cancel(parts[i].seq);
    }
  }
}

// Fills a batch of at most n_chunk rows with what is left of the parts, in their order. Rows that get logits are in one batch with each
// other, so the batch before it may be cut short; so may one where a checkpoint is due. Returns its rows.
uint32_t next_batch(linnet_session& s, const PartRows* parts, uint32_t n_parts, Batch* batch) {
  uint32_t m = 0;
  batch->n_spans = batch->n_logits = 0;
  for (uint32_t i = 0; i < n_parts && m < s.params.n_chunk; ++i) {
    const PartRows& part = parts[i];
    Sequence& seq = s.seqs[part.seq];
    const uint32_t done = s.parts_done[i], left = part.n - done, room = s.params.n_chunk - m;
    uint32_t n = left < room ? left : room;
    if (n < left && left - n < part.n_logits) n = left - part.n_logits;
    if (n == 0) continue;
    if (const uint32_t due = s.cache.until_checkpoint(part.seq, seq.length + done); due < n && left - due >= part.n_logits) n = due;
    s.cache.advance(part.seq, seq.length + done, n);
    s.spans[batch->n_spans++] = {part.seq, m, n, seq.length + done};
    for (uint32_t j = 0; j < n; ++j)
      s.act.made.tokens[m + j] = done + j < waiting(seq) ? history_end(seq)[done + j] : part.tokens[done + j - waiting(seq)];
    m += n;
    s.parts_done[i] += n;
    if (done + n < part.n) break;  // parts end in their order
    for (uint32_t j = part.n_logits; j; --j) s.logit_rows[batch->n_logits++] = m - j;
  }
  return m;
}

// Computes the parts, for which there is room. All or nothing.
Status compute_parts(linnet_session& s, const PartRows* parts, uint32_t n_parts, Error* err) {
  for (uint32_t i = 0; i < n_parts; ++i) {
    s.cache.begin(parts[i].seq, s.seqs[parts[i].seq].length, s.seqs[parts[i].seq].length + parts[i].n);
    s.parts_done[i] = 0;
  }
  Status status = LINNET_OK;
  Batch batch{};
  batch.spans = s.spans;
  batch.logit_rows = s.logit_rows;
  // Several parts have one row of logits each. They are done in their order, and their rows wait until all are: a call that fails leaves
  // those that were there.
  const bool one = n_parts == 1;
  uint32_t waiting = 0;
  while (status == LINNET_OK && (batch.m = next_batch(s, parts, n_parts, &batch)) != 0) {
    batch.logits = one ? s.seqs[parts->seq].logits : s.batch_logits + waiting * s.logits_stride;
    status = forward(s, batch, err);
    waiting += batch.n_logits;
    if (status == LINNET_OK) govern(s, batch.m == batch.n_spans);
  }
  if (one && status != LINNET_OK && status != LINNET_CANCELLED && batch.n_logits)
    s.seqs[parts->seq].n_logit_rows = 0;  // a cancelled pass never came to the logits
  for (uint32_t i = 0; status == LINNET_OK && !one && i < n_parts; ++i)
    std::memcpy(s.seqs[parts[i].seq].logits, s.batch_logits + i * s.logits_stride, s.logits_stride * sizeof(float));
  end_call(s, parts, n_parts, status == LINNET_OK);
  return status;
}

// Computes the parts, of different sequences each. All or nothing, but that tokens which are the sequence's already stay computed: of those
// that a cut left a chunk is a call, and the rest goes with what is new.
Status compute(linnet_session& s, PartRows* parts, uint32_t n_parts, Error* err) {
  const CpuGuard cpus(s.cpus);
  const BackendGuard bound(s);
  LINNET_TRY(bound.check(err));
  std::memset(s.taken, 0, kMaxKvClasses * sizeof *s.taken);
  for (uint32_t i = 0; i < n_parts; ++i)
    if (!s.cache.has_room(parts[i].seq, s.seqs[parts[i].seq].length, parts[i].n, s.taken))
      return fail(err, LINNET_CONTEXT_FULL, "the pool of ", s.params.n_pool, " positions for all sequences has no room for ", parts[i].n,
                  " tokens more in sequence ", parts[i].seq);
  for (uint32_t i = 0; i < n_parts; ++i)
    for (const PartRows some = {parts[i].seq, s.params.n_chunk, 0, nullptr}; s.seqs[some.seq].replay > some.n; parts[i].n -= some.n)
      LINNET_TRY(compute_parts(s, &some, 1, err));
  return compute_parts(s, parts, n_parts, err);
}

void note_decoded(linnet_session& s, uint32_t length, uint64_t start_ns) {
  ++s.stats.decode_tokens;
  ++s.stats.decode_passes;
  s.stats.decode_ns += clock_ns() - start_ns;
  s.stats.decode_bytes = s.model->decode_bytes + s.cache.read_bytes(length - 1);
}

// One row of decoding: the pending token, or this one; and what has to come before it.
Status compute_one(linnet_session& s, uint32_t seq, const int32_t* token, Error* err) {
  const uint64_t start = clock_ns();
  PartRows part = {seq, waiting(s.seqs[seq]) + (token != nullptr), 1, token};
  LINNET_TRY(compute(s, &part, 1, err));
  note_decoded(s, s.seqs[seq].length, start);
  return LINNET_OK;
}

// The logits after the last token, where that is still to be computed.
Status catch_up(linnet_session& s, uint32_t i, Error* err) {
  Sequence& seq = s.seqs[i];
  if (!seq.pending) return LINNET_OK;
  return compute_one(s, i, nullptr, err);
}

// What was computed ahead of the sequence is given back.
void drop_forced(linnet_session& s, uint32_t i) {
  if (s.forced.n == 0) return;
  s.cache.truncate(i, s.seqs[i].length);
  s.forced.n = 0;
}

// Tokens that the grammar leaves no choice about behind the pending one, as many as may be taken back again.
uint32_t find_forced(linnet_session& s, uint32_t i) {
  Sequence& seq = s.seqs[i];
  const Generation& g = *seq.generation;
  const uint32_t length = length_of(seq);
  uint32_t most = s.forced.most;
  if (!seq.place.grammar || !s.forced.tokens || g.bans.n || s.params.when_full != LINNET_FULL_STOP) return 0;
  if (most > s.params.n_rollback) most = s.params.n_rollback;
  if (most > session_most(s) - length) most = session_most(s) - length;
  if (g.max_tokens && most > g.max_tokens - g.n_tokens) most = g.max_tokens - g.n_tokens;
  follow(seq, length);
  const uint32_t n_said = g.n_tokens < length - seq.n_forgotten ? g.n_tokens : length - seq.n_forgotten;
  forced_find(*seq.place.grammar, seq.place.state, seq.history + length - seq.n_forgotten - n_said, n_said, most, &s.forced);
  std::memset(s.taken, 0, kMaxKvClasses * sizeof *s.taken);
  if (!s.cache.has_room(i, seq.length, waiting(seq) + s.forced.n, s.taken)) s.forced.n = 0;
  return s.forced.n;
}

// The logits behind the pending token of a generation. Tokens that the grammar forces are computed in the same pass, but are none of the
// sequence's before they are drawn: then there is nothing left to compute. What is drawn instead of one ends that.
Status catch_up_forced(linnet_session& s, uint32_t i, Error* err) {
  Sequence& seq = s.seqs[i];
  Forced& f = s.forced;
  if (f.n && *history_end(seq) == f.tokens[f.at]) {
    ++f.at;
    if (--f.n == 0) f.most = s.params.n_logits - 1;
    std::memcpy(seq.logits, seq.logits + ++f.row * s.logits_stride, s.logits_stride * sizeof *seq.logits);
    ++seq.length;
    seq.pending = 0;
    ++s.stats.decode_tokens;
    return LINNET_OK;
  }
  if (f.n) f.most = f.row ? f.row : 1;  // a model that spells otherwise costs one row more
  drop_forced(s, i);
  const uint32_t n = find_forced(s, i);
  if (n == 0) return catch_up(s, i, err);
  const uint64_t start = clock_ns();
  PartRows part = {i, waiting(seq) + n, n + 1, f.tokens + f.at};
  f.n = 0;
  LINNET_TRY(compute(s, &part, 1, err));
  f.n = n;
  f.row = 0;
  seq.length -= n;
  seq.n_logit_rows = 1;
  note_decoded(s, seq.length, start);
  return LINNET_OK;
}

// A token was drawn: how long it took.
void note_draw(linnet_session& s) {
  const uint64_t now = clock_ns();
  if (s.ttft_pending) {
    s.stats.first_token_ns = now - s.ttft_start_ns;
    s.ttft_pending = false;
  } else if (s.last_sample_ns) {
    s.stats.last_token_ns = now - s.last_sample_ns;
    if (s.stats.last_token_ns > s.stats.max_token_ns) s.stats.max_token_ns = s.stats.last_token_ns;
  }
  s.last_sample_ns = now;
}

Draw draw_of(linnet_session& s, const Sequence& seq) {
  s.host.sampler.params = seq.sampling;
  if (seq.sampling.top_p == 0) s.host.sampler.params.top_p = FLT_MIN;  // of any set the likeliest token alone reaches that
  s.host.sampler.n_draws = seq.n_draws;
  s.host.sampler.mu = seq.mu;
  return {&s.host.sampler, seq.logits + (seq.n_logit_rows - 1) * s.logits_stride, s.model->spec.n_vocab, seq.length - seq.n_forgotten,
          seq.history};
}

// Takes the tokens out of the mask that began a banned string at this place.
void bar(linnet_session& s, const Generation& g, uint32_t at, TokenMask* mask) {
  for (uint32_t i = g.n_barred; i-- > 0 && g.barred[i].at == at;) {
    if (mask->bits != s.may_follow) {
      const uint32_t n = s.model->spec.n_vocab;
      if (mask->bits)
        std::memcpy(s.may_follow, mask->bits, (n + 31) / 32 * sizeof *s.may_follow);
      else
        std::memset(s.may_follow, 0xFF, (n + 31) / 32 * sizeof *s.may_follow);
      *mask = {s.may_follow, mask->bits ? mask->n_allowed : n};
    }
    const uint32_t token = static_cast<uint32_t>(g.barred[i].token), bit = 1u << token % 32;
    mask->n_allowed -= (s.may_follow[token / 32] & bit) != 0;
    s.may_follow[token / 32] &= ~bit;
  }
}

// By the host; *token -1: there is none that may be drawn. With the generation's ignore_eos end-of-generation tokens are text to the
// caller, and none of a grammar's.
Status draw(linnet_session& s, Sequence& seq, const Generation* g, int32_t* token, Error* err) {
  TokenMask mask;
  if (seq.place.grammar) {
    follow(seq, seq.length);
    LINNET_TRY(grammar_mask(*seq.place.grammar, seq.place.state, g && g->ignore_eos, &mask, err));
  }
  if (g) bar(s, *g, seq.length, &mask);
  *token = -1;
  if (mask.bits && mask.n_allowed == 0) return LINNET_OK;
  const FpGuard guard;
  const Draw d = draw_of(s, seq);
  *token = sample(*d.sampler, d.logits, d.n_vocab, d.history, d.n_history, mask);
  seq.n_draws = s.host.sampler.n_draws;
  seq.mu = s.host.sampler.mu;
  note_draw(s);
  return LINNET_OK;
}

bool text_complete(Sequence& seq) {
  if (!seq.place.grammar) return false;
  follow(seq, length_of(seq));
  return grammar_complete(*seq.place.grammar, seq.place.state);
}

// Passes the text that became certain to the app's callback, from inside which little may be called.
bool hear(linnet_session& s, linnet_token_fn fn, void* user, int32_t token, TextOut& text) {
  const size_t n = text.n_utf8;
  text.n_utf8 = 0;
  if (!fn || (token == -1 && n == 0)) return false;
  s.within = Within::kTokenFn;
  const int stop = fn(user, token, text.utf8, n);
  s.within = Within::kCall;
  return stop || process_id() != s.process;  // it came back in a process that it forked off, which has no threads to go on with
}

std::string_view bytes_of(const linnet_session& s, int32_t token) {
  return s.model->tokenizer.blob ? token_bytes(s.model->tokenizer, token, false) : std::string_view();
}

// Tokens at the end of the sequence that the last `k` bytes of the text are in, of which `fed` are of the last token; *bytes: what they
// have in all.
uint32_t last_tokens(const linnet_session& s, uint32_t id, size_t fed, size_t k, size_t* bytes) {
  const Generation& g = *s.seqs[id].generation;
  const size_t length = session_length(s, id) - s.seqs[id].n_forgotten;
  uint32_t n = 1;
  for (*bytes = fed; *bytes < k && n < g.n_tokens && n < length; ++n) *bytes += bytes_of(s, s.seqs[id].history[length - 1 - n]).size();
  return n;
}

// A banned string appeared: the tokens that it is in are taken back, *n of them, and the first is barred from then on; where that one's
// text has been passed on, or what was before it is gone, the last one alone. False where the generation ends there: without the token
// that would have ended the string, or, where a part of its text has been passed on, with it, as with a stop string (*n is 0 then).
bool take_back(linnet_session& s, uint32_t id, uint32_t* n) {
  Sequence& seq = s.seqs[id];
  Generation& g = *seq.generation;
  const uint32_t length = session_length(s, id);
  size_t bytes = 0;
  *n = last_tokens(s, id, g.text.stop_end, g.bans.bytes[g.text.ban], &bytes);
  uint32_t keep = length - *n;
  uint32_t base = *n > 1 && keep > seq.n_forgotten ? base_of(s, id, keep - 1) : Cache::kNoBase;
  if (keep < g.certain || (*n > 1 && base == Cache::kNoBase)) {
    *n = 1;
    keep = length - 1;
    bytes = g.text.stop_end;
  }
  if (keep < g.certain) {
    *n = 0;
    g.text.cut(g.bans.bytes[g.text.ban]);
    return false;
  }
  while (g.n_barred && g.barred[g.n_barred - 1].at > keep) --g.n_barred;
  const bool goes_on = g.n_barred < kMostRetries && g.n_retries++ < kMostRetries;
  if (goes_on) {
    g.barred[g.n_barred++] = {keep, seq.history[keep - seq.n_forgotten]};
  } else {
    *n = 1;
    keep = length - 1;
    bytes = g.text.stop_end;
  }
  if (*n > 1) {  // the row that the first of them was drawn from is to be computed again; of the last one it is there
    const BackendGuard bound(s);
    s.cache.truncate(id, base);
    seq.length = base;
    seq.replay = keep - 1 - base;
    seq.n_logit_rows = 0;
  }
  seq.pending = *n > 1;
  rewind(seq.place, keep);
  g.text.n -= bytes;
  g.text.open -= bytes - g.text.stop_end;
  g.text.stop_end = 0;
  g.n_tokens -= *n;
  g.token = g.n_tokens ? seq.history[keep - 1 - seq.n_forgotten] : -1;
  g.fed = bytes_of(s, g.token).size();
  if (goes_on) g.text.ban = TextOut::kNoStop;
  return goes_on;
}

// Adds the last token's text, as far as it can be held: false where there is more. *back: tokens that a banned string took back; where it
// ends the generation `ban` stays.
bool feed(linnet_session& s, uint32_t id, uint32_t* back) {
  Generation& g = *s.seqs[id].generation;
  *back = 0;
  const auto border = [&](size_t k) {
    size_t bytes = 0;
    (void)last_tokens(s, id, g.fed, k, &bytes);
    return bytes;
  };
  if (!g.text.feed(g.stops, g.bans, bytes_of(s, g.token), &g.fed, border)) {
    g.certain = session_length(s, id);
    return false;
  }
  if (g.text.ban != TextOut::kNoStop) {
    (void)take_back(s, id, back);
  } else if (g.bans.n) {
    size_t bytes = 0;
    const uint32_t certain = session_length(s, id) - (g.text.open ? last_tokens(s, id, g.fed, g.text.open, &bytes) : 0);
    if (certain > g.certain) {
      g.certain = certain;
      g.n_retries = 0;
      uint32_t gone = 0;
      while (gone < g.n_barred && g.barred[gone].at < certain) ++gone;
      g.n_barred -= gone;
      std::memmove(g.barred, g.barred + gone, g.n_barred * sizeof *g.barred);
    }
  }
  return true;
}

// Lets the backend draw; with `ahead`, where there is room, the pass of that token begins too. Whether it does.
bool begin_draw(linnet_session& s, uint32_t id, bool kept, bool ahead) {
  const Sequence& seq = s.seqs[id];
  Draw d = draw_of(s, seq);
  if (kept) d.logits = nullptr;
  std::memset(s.taken, 0, kMaxKvClasses * sizeof *s.taken);
  if (!ahead || seq.length + 1 >= session_most(s) || !s.cache.has_room(id, seq.length, 1, s.taken)) {
    s.model->backend->draw(s.handle, d, nullptr);
    return false;
  }
  s.cache.begin(id, seq.length, seq.length + 1);
  s.cache.advance(id, seq.length, 1);
  s.spans[0] = {id, 0, 1, seq.length};
  s.logit_rows[0] = 0;
  forward_ahead(s, {s.spans, 1, 1, s.logit_rows, 1, nullptr}, d);
  return true;
}

// Draws tokens until something stops it, or one. Where a backend runs ahead the pass of the token that is drawn begins before the host has
// seen it, and does not count where that ends the generation; but a grammar's masks are the host's, and nobody knows when a next token will
// be asked for. What becomes certain of the text stays in it, or goes to `fn`.
Status generate(linnet_session& s, uint32_t id, bool all, linnet_token_fn fn, void* user, linnet_stop* why, Error* err) {
  const BackendGuard bound(s);
  const Backend& backend = *s.model->backend;
  const Tokenizer& tokenizer = s.model->tokenizer;
  Sequence& seq = s.seqs[id];
  Generation& g = *seq.generation;
  const bool by_host = seq.place.grammar || g.bans.n || !sampling_is_plain(seq.sampling);
  const bool runs_ahead = all && backend.runs_ahead && !by_host && !s.act.made.layer_floats;  // 0: the host looks at no token
  if (runs_ahead) LINNET_TRY(bound.check(err));
  s.forced.most = s.params.n_logits - 1;
  bool kept = false;  // the last row of logits is the backend's alone
  // The last token, which was passed on, is to be computed again.
  const auto uncount = [&] {
    s.cache.truncate(id, --seq.length);
    seq.pending = 1;
    kept = false;
  };
  Status status = LINNET_OK;
  do {
    if (text_complete(seq)) {
      *why = LINNET_STOP_GRAMMAR;
    } else if (g.max_tokens && g.n_tokens == g.max_tokens) {
      *why = LINNET_STOP_LENGTH;
    } else if (session_length(s, id) == session_most(s)) {
      *why = LINNET_STOP_CONTEXT;
    } else if (runs_ahead && s.cancel.exchange(0, std::memory_order_relaxed)) {  // such a pass sees none
      *why = LINNET_STOP_CANCEL;
      if (kept && !seq.pending) uncount();  // nobody has looked at its logits
    }
    if (*why != LINNET_STOP_NONE) break;
    if (seq.pending) {
      status = all ? catch_up_forced(s, id, err) : catch_up(s, id, err);
      kept = false;
      if (status == LINNET_CANCELLED) *why = LINNET_STOP_CANCEL;
      if (status != LINNET_OK) break;
    }
    const uint64_t start = clock_ns();
    bool ahead = false;
    Drawn got{};
    if (by_host) {
      status = draw(s, seq, &g, &got.token, err);
    } else {
      const CpuGuard cpus(s.cpus);
      ahead = begin_draw(s, id, kept, runs_ahead && g.n_tokens + 1 != g.max_tokens);
      status = backend.drawn(s.handle, &got, err);
      if (status == LINNET_OK) seq.n_draws = got.n_draws;
      if (status == LINNET_OK && got.not_finite) {
        status = fail(err, LINNET_NOT_FINITE, "an activation became infinite or NaN at position ", seq.length ? seq.length - 1 : 0);
        if (ahead) s.cache.cancel(id);
        if (kept) uncount();
        break;
      }
      if (status == LINNET_OK) note_draw(s);
    }
    if (status == LINNET_OK && got.token < 0) {
      *why = LINNET_STOP_BANNED;
    } else if (status == LINNET_OK && !g.ignore_eos && tokenizer.blob && token_is_eog(tokenizer, got.token)) {
      *why = LINNET_STOP_EOS;
      g.eog = got.token;
    } else if (status == LINNET_OK) {
      // In the sequence at once, computed when its logits are needed: the last token of a generation costs nothing.
      make_room(s, seq, 1);
      *history_end(seq) = got.token;
      seq.pending = 1;
      ++g.n_tokens;
      g.token = got.token;
      g.fed = 0;
      uint32_t back = 0;
      for (bool fed = feed(s, id, &back); all && !fed; fed = feed(s, id, &back))
        if (hear(s, fn, user, -1, g.text)) *why = LINNET_STOP_CALLBACK;
      // Of the tokens that were taken back this one is not known to the app.
      const int32_t told = back ? -static_cast<int32_t>(back) : got.token;
      if (all && hear(s, fn, user, told, g.text)) *why = LINNET_STOP_CALLBACK;
      if (g.text.stop != TextOut::kNoStop) *why = LINNET_STOP_STRING;
      if (g.text.ban != TextOut::kNoStop) *why = LINNET_STOP_BANNED;
    }
    if (!ahead) continue;
    if (*why != LINNET_STOP_NONE || status != LINNET_OK) {
      s.cache.cancel(id);
      break;
    }
    s.cache.commit(id, seq.length, seq.length + 1);
    ++seq.length;
    seq.pending = 0;
    seq.n_logit_rows = 1;
    backend.keep_logits(s.handle);
    kept = true;
    note_decoded(s, seq.length, start);
    govern(s, true);
  } while (all && *why == LINNET_STOP_NONE && status == LINNET_OK);
  drop_forced(s, id);
  if (kept && status == LINNET_OK)
    status = backend.kept_logits(s.handle, seq.logits, err);  // the row that the last token was drawn from, or that the next one will be
  return status;
}

Status check_rows(const linnet_session& s, const linnet_rows* rows, uint32_t n_rows, Error* err) {
  if (s.model->spec.bidirectional)
    return fail(err, LINNET_UNSUPPORTED,
                "prefill: the model's attention is bidirectional: it embeds texts (linnet_embed) and generates none");
  if (s.model->spec.headless)
    return fail(err, LINNET_UNSUPPORTED, "prefill: the model has no LM head: it embeds texts (linnet_embed) and generates none");
  if (n_rows == 0 || n_rows > s.params.n_sequences)
    return fail(err, LINNET_BAD_ARG, "prefill: n_rows is ", n_rows, ", must be 1..", s.params.n_sequences);
  for (uint32_t j = 0; j < n_rows; ++j) {
    linnet_rows r;
    LINNET_TRY(read_element(rows, j, "prefill: rows", &r, err));
    if (r.seq >= s.params.n_sequences)
      return fail(err, LINNET_BAD_ARG, "prefill: seq is ", r.seq, ", this session holds 0..", s.params.n_sequences - 1);
    for (uint32_t i = 0; i < j; ++i)
      if (element(rows, i).seq == r.seq) return fail(err, LINNET_BAD_ARG, "prefill: sequence ", r.seq, " is named twice");
    if (r.n_tokens == 0) return fail(err, LINNET_BAD_ARG, "prefill: no tokens");
    if (!r.tokens) return fail(err, LINNET_BAD_ARG, "prefill: tokens is NULL");
    const uint32_t before = session_length(s, r.seq);
    if (r.n_tokens > session_most(s) - before)
      return fail(err, LINNET_CONTEXT_FULL, "prefill: ", r.n_tokens, " tokens after ", before, " do not fit the context of ",
                  session_most(s));
    const uint32_t short_call = s.params.n_chunk > s.params.n_rollback ? s.params.n_chunk : s.params.n_rollback;
    if (drops_tokens(s.params) && before + r.n_tokens > s.params.n_context && r.n_tokens > short_call)
      return fail(err, LINNET_CONTEXT_FULL, "prefill: ", r.n_tokens, " tokens after ", before,
                  " in one call: past n_context = ", s.params.n_context, ", where old ones are dropped, a call brings at most ",
                  short_call);
    for (size_t i = 0; i < r.n_tokens; ++i)  // last: n_tokens is one that the sequence can hold
      if (r.tokens[i] < 0 || static_cast<uint32_t>(r.tokens[i]) >= s.model->spec.n_vocab)
        return fail(err, LINNET_BAD_ARG, "prefill: token ", r.tokens[i], " at ", i, " is outside 0..", s.model->spec.n_vocab - 1);
  }
  return LINNET_OK;
}

}  // namespace

Status session_prefill(linnet_session& s, const linnet_rows* rows, uint32_t n_rows, Error* err) {
  LINNET_TRY(check_rows(s, rows, n_rows, err));
  const uint64_t start = clock_ns();
  PartRows parts[kMaxSequences] = {};
  uint32_t n_again = 0;
  for (uint32_t i = 0; i < n_rows; ++i) {
    const linnet_rows r = element(rows, i);
    const Sequence& seq = s.seqs[r.seq];
    const uint32_t n = static_cast<uint32_t>(r.n_tokens);
    parts[i] = {r.seq, n + waiting(seq), n_rows > 1 ? 1 : n < s.params.n_logits ? n : s.params.n_logits, r.tokens};
    n_again += seq.replay;
  }
  LINNET_TRY(compute(s, parts, n_rows, err));
  const BackendGuard bound(s);
  for (uint32_t i = 0; i < n_rows; ++i) {
    s.seqs[parts[i].seq].generation->going = false;
    s.stats.prefill_tokens += element(rows, i).n_tokens;
    if (element(rows, i).n_tokens > 1) s.cache.checkpoint(parts[i].seq);  // not after each token of an app that draws by itself
  }
  s.stats.prefill_tokens += n_again;
  if (!s.ttft_pending) {
    s.ttft_pending = true;
    s.ttft_start_ns = start;
  }
  s.stats.prefill_ns += clock_ns() - start;
  return LINNET_OK;
}

Status session_sample(linnet_session& s, uint32_t seq, int32_t* token, Error* err) {
  LINNET_TRY(catch_up(s, seq, err));
  if (s.seqs[seq].n_logit_rows == 0) return fail(err, LINNET_BAD_STATE, "sample: no logits; prefill first");
  return draw(s, s.seqs[seq], nullptr, token, err);
}

Status session_decode(linnet_session& s, uint32_t i, int32_t* token, Error* err) {
  Sequence& seq = s.seqs[i];
  // Room first, so that a full context costs no draw of the generator.
  if (session_length(s, i) == session_most(s))
    return fail(err, LINNET_CONTEXT_FULL, "decode: the context of ", session_most(s), " is full");
  const uint64_t draws = seq.n_draws;
  const float mu = seq.mu;
  int32_t drawn = -1;
  LINNET_TRY(session_sample(s, i, &drawn, err));
  if (const Status status = compute_one(s, i, &drawn, err); status != LINNET_OK) {
    seq.n_draws = draws;
    seq.mu = mu;
    return status;
  }
  *token = drawn;
  seq.generation->going = false;
  return LINNET_OK;
}

Status session_generate_begin(linnet_session& s, uint32_t id, const linnet_generate_params& params, Error* err) {
  LINNET_TRY(check_generate(s, params, err));
  const Sequence& seq = s.seqs[id];
  if (seq.n_logit_rows == 0 && !seq.pending) return fail(err, LINNET_BAD_STATE, "generate: no logits; prefill first");
  Generation& g = *seq.generation;
  g.going = true;
  g.ignore_eos = params.ignore_eos != 0;
  g.max_tokens = params.max_tokens;
  g.n_tokens = 0;
  g.token = g.eog = -1;
  g.fed = 0;
  g.n_barred = g.n_retries = 0;
  g.certain = session_length(s, id);
  copy_strings(params.stop, params.n_stop, &g.stops);
  copy_strings(params.banned, params.n_banned, &g.bans);
  g.text.begin(s.utf8);
  return LINNET_OK;
}

Status session_generate(linnet_session& s, uint32_t id, bool all, linnet_token_fn fn, void* user, linnet_generated* out, Error* err) {
  Generation& g = *s.seqs[id].generation;
  if (!g.going)
    return fail(err, LINNET_BAD_STATE, "generate: sequence ", id, " has no generation to go on with; linnet_generate_begin makes one");
  if (s.seqs[id].n_logit_rows == 0 && !s.seqs[id].pending)  // a call that failed took them
    return fail(err, LINNET_BAD_STATE, "generate: no logits; prefill first");
  const uint32_t before = g.n_tokens;
  linnet_stop why = LINNET_STOP_NONE;
  Status status = LINNET_OK;
  g.text.n_utf8 = 0;
  const std::string_view rest = bytes_of(s, g.token);
  if (!all && g.n_tokens && g.fed < rest.size()) {  // of a token whose text is longer than what can be held
    uint32_t back = 0;
    (void)feed(s, id, &back);
  } else {
    status = generate(s, id, all, fn, user, &why, err);
    if (status == LINNET_CANCELLED) status = LINNET_OK;
  }
  const bool stop = g.text.stop != TextOut::kNoStop, banned = g.text.ban != TextOut::kNoStop;
  if (!all && stop) why = LINNET_STOP_STRING;
  if (!all && banned) why = LINNET_STOP_BANNED;
  if (all || why != LINNET_STOP_NONE) {
    g.text.emit(g.text.n, true);
    if (all) hear(s, fn, user, -1, g.text);
    g.going = false;
  }
  const uint32_t string = stop ? g.text.stop : banned ? g.text.ban : 0;
  size_t bytes = 0;
  *out = {.size = sizeof *out,
          .why = status == LINNET_OK ? why : LINNET_STOP_NONE,
          .token = all || g.n_tokens > before ? g.token : -1,
          .eog = g.eog,
          .n_tokens = g.n_tokens,
          .stop_index = string,
          .n_stop_tokens = g.text.stop_end ? last_tokens(s, id, g.text.stop_end, (stop ? g.stops : g.bans).bytes[string], &bytes) : 0,
          .utf8 = all ? nullptr : g.text.utf8,
          .n_bytes = all ? 0 : g.text.n_utf8};
  return status;
}

}  // namespace linnet
