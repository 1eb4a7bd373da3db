#include "state.h"

#include <bit>
#include <cstring>

#include "../platform/crc32c.h"
#include "../platform/file.h"

namespace linnet {

uint64_t state_hash(const linnet_session& s) {
  const ModelSpec& spec = s.model->spec;
  const uint32_t length = s.params.rope_length;
  if (!rope_by_length(spec) || length <= spec.rope_original) return s.model->hash;
  return (s.model->hash ^ (spec.rope_scaling == kRopeScaleLong ? 1 : length)) * 0x9E3779B97F4A7C15u;
}

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kMagic[8] = {'L', 'N', 'T', 'S', 'T', 'A', 'T', 'E'};
constexpr uint32_t kVersion = 3, kReplayVersion = 4, kMaxLayers = 1024;  // 4: some tokens are to be computed again
constexpr uint32_t kWithAdapters = 2;                                    // 5 and 6: the same of a sequence that has adapters

struct Header {
  char magic[8];
  uint32_t version, header_bytes;
  uint64_t bytes, model_hash;
  uint32_t n_vocab, n_layers, n_kv_heads, head_dim, length, pending, n_logit_rows, n_forgotten;
  uint32_t when_full, n_keep, n_context, n_rollback;
};
using PartRow = CachePart;
enum Kind : uint32_t { kTokens = 1, kSampler = 2, kLogits = 3, kKv = 4, kSlot = 5, kAdapters = 6 };
struct SectionHead {
  uint32_t kind, index;
  uint64_t bytes;
};
struct SamplerRow {
  uint64_t n_draws;
  float mu;
  uint32_t reserved;
  linnet_sampling params;  // with zeros between its fields
};
static_assert(sizeof(Header) == 80 && sizeof(PartRow) == 20 && sizeof(SectionHead) == 16 && sizeof(SamplerRow) == 16 + 1328);

constexpr uint32_t header_bytes(uint32_t n_parts) {
  return static_cast<uint32_t>(sizeof(Header) + n_parts * sizeof(PartRow) + sizeof(uint32_t));
}
constexpr uint64_t section_bytes(uint64_t payload) { return sizeof(SectionHead) + payload + sizeof(uint32_t); }

bool with_adapters(const Header& h) { return h.version > kReplayVersion; }
uint64_t adapter_bytes(const Header& h) { return with_adapters(h) ? section_bytes(sizeof(uint64_t)) : 0; }
uint32_t replay_of(const Header& h) { return h.pending / 2; }
uint64_t whole_length(const Header& h) { return uint64_t{h.length} + replay_of(h) + h.pending % 2; }
uint64_t n_tokens(const Header& h) { return whole_length(h) - h.n_forgotten; }
uint64_t token_bytes(const Header& h) { return n_tokens(h) * sizeof(int32_t); }
uint64_t logit_bytes(const Header& h) { return uint64_t{h.n_logit_rows} * h.n_vocab * sizeof(float); }
uint64_t whole_bytes(const Cache& cache, const Header& h, const CacheBegin& begin) {
  uint64_t bytes = header_bytes(cache.n_parts()) + section_bytes(token_bytes(h)) + section_bytes(sizeof(SamplerRow)) +
                   section_bytes(logit_bytes(h)) + adapter_bytes(h);
  for (uint32_t i = 0; i < cache.n_parts(); ++i) bytes += section_bytes(cache.saved_bytes(i, h.length, begin));
  return bytes;
}
Kind kind_of(const Cache& cache, uint32_t part) { return cache.is_state(part) ? kSlot : kKv; }
uint32_t window_of(const linnet_session& s, uint32_t part) {
  return s.cache.is_state(part) || !s.cache.kv.has_pages(part) ? 0 : s.model->layers[part].spec.window;
}

// "kv 12", for error texts.
struct SectionName {
  char text[24];
  SectionName(Kind kind, uint32_t index) {
    static constexpr const char* kNames[] = {"", "tokens", "sampler", "logits", "kv ", "slot ", "adapters"};
    const size_t n = std::strlen(kNames[kind]);
    std::memcpy(text, kNames[kind], n + 1);
    if (kind != kKv && kind != kSlot) return;
    size_t digits = 1;
    for (uint32_t v = index; v /= 10;) ++digits;
    text[n + digits] = '\0';
    for (size_t i = digits; i-- > 0; index /= 10) text[n + i] = static_cast<char>('0' + index % 10);
  }
};
struct Hex {
  char text[17];
  explicit Hex(uint64_t v) {
    for (size_t i = 16; i-- > 0; v >>= 4) text[i] = "0123456789abcdef"[v & 15];
    text[16] = '\0';
  }
};

// ---- saving

// What decides which tokens are dropped.
void set_drops(const linnet_session& s, Header* h) {
  const linnet_session_params& p = s.params;
  h->when_full = p.when_full;
  h->n_keep = p.n_keep;
  h->n_context = p.when_full == LINNET_FULL_STOP ? 0 : p.n_context;
  h->n_rollback = p.when_full == LINNET_FULL_HEAVY_HITTERS ? p.n_rollback : 0;
}

Header describe(const linnet_session& s, uint32_t seq, CacheBegin* begin) {
  const ModelSpec& spec = s.model->spec;
  const Sequence& q = s.seqs[seq];
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.version = (q.replay ? kReplayVersion : kVersion) + (q.lora_hash ? kWithAdapters : 0);
  h.header_bytes = header_bytes(s.cache.n_parts());
  h.model_hash = state_hash(s);
  h.n_vocab = spec.n_vocab;
  h.n_layers = spec.n_layers;
  h.n_kv_heads = spec.n_kv_heads;
  h.head_dim = spec.head_dim;
  h.length = q.length;
  h.pending = 2 * q.replay + q.pending;
  h.n_logit_rows = q.n_logit_rows;
  h.n_forgotten = q.n_forgotten;
  set_drops(s, &h);
  *begin = s.cache.begin_of(seq);
  h.bytes = whole_bytes(s.cache, h, *begin);
  return h;
}

// Where a state goes: memory, or a file in writes of a fair size. A failure stays; what follows it is passed over.
struct Sink : SavedTo {
  uint8_t* out;
  Replacement* file;  // or nullptr
  Error* err;
  Status status = LINNET_OK;
  uint32_t crc = 0;
  size_t n = 0;
  uint8_t buffer[16384];

  void flush() {
    if (status == LINNET_OK && n) status = file->write(buffer, n, err);
    n = 0;
  }
  Sink(uint8_t* to, Replacement* of_file, Error* error)
      : SavedTo{[](SavedTo& sink, const void* data, size_t bytes) { static_cast<Sink&>(sink).put(data, bytes); }},
        out(to),
        file(of_file),
        err(error) {}
  [[gnu::noinline]] void put(const void* data, size_t bytes) {
    crc = crc32c(crc, data, bytes);
    if (!file) {
      std::memcpy(out, data, bytes);
      out += bytes;
      return;
    }
    if (bytes > sizeof buffer - n) flush();
    if (bytes > sizeof buffer) {
      if (status == LINNET_OK) status = file->write(data, bytes, err);
      return;
    }
    std::memcpy(buffer + n, data, bytes);
    n += bytes;
  }
  void begin(Kind kind, uint32_t index, uint64_t bytes) {
    const SectionHead head = {kind, index, bytes};
    put(&head, sizeof head);
  }
  void end() {
    const uint32_t sum = crc;
    put(&sum, sizeof sum);
    crc = 0;
  }
};

void put_header(Sink& sink, const linnet_session& s, const Header& h, const CacheBegin& begin) {
  sink.put(&h, sizeof h);
  for (uint32_t i = 0; i < s.cache.n_parts(); ++i) {
    const PartRow row = s.cache.part(i, window_of(s, i), begin);
    sink.put(&row, sizeof row);
  }
  sink.end();
}

void put_state(Sink& sink, const linnet_session& s, uint32_t seq, const Header& h, const CacheBegin& begin) {
  const Sequence& q = s.seqs[seq];
  put_header(sink, s, h, begin);
  sink.begin(kTokens, 0, token_bytes(h));
  sink.put(q.history, static_cast<size_t>(token_bytes(h)));
  sink.end();
  SamplerRow sampler;
  std::memset(&sampler, 0, sizeof sampler);
  sampler.n_draws = q.n_draws;
  sampler.mu = q.mu;
  constexpr size_t kGap = offsetof(linnet_sampling, penalty_last_n) + sizeof(uint32_t), kBehind = offsetof(linnet_sampling, seed);
  std::memcpy(&sampler.params, &q.sampling, kGap);
  std::memcpy(&sampler.params.seed, &q.sampling.seed, sizeof q.sampling - kBehind);
  sink.begin(kSampler, 0, sizeof sampler);
  sink.put(&sampler, sizeof sampler);
  sink.end();
  sink.begin(kLogits, 0, logit_bytes(h));
  for (uint32_t i = 0; i < h.n_logit_rows; ++i) sink.put(q.logits + i * s.logits_stride, h.n_vocab * sizeof(float));
  sink.end();
  if (with_adapters(h)) {
    sink.begin(kAdapters, 0, sizeof q.lora_hash);
    sink.put(&q.lora_hash, sizeof q.lora_hash);
    sink.end();
  }
  for (uint32_t i = 0; i < s.cache.n_parts(); ++i) {
    sink.begin(kind_of(s.cache, i), s.cache.layer_of(i), s.cache.saved_bytes(i, h.length, begin));
    s.cache.save(seq, i, h.length, sink);
    sink.end();
  }
}

// ---- loading

// What the checks found. The copying that follows looks at nothing else, so that a file which changes meanwhile cannot lead it astray.
struct Checked {
  Header h;
  CacheBegin saved;      // where what is held begins in the state
  CacheBegin begin;      // and in the session: a smaller n_rollback keeps less
  uint32_t n_forgotten;  // as this session does
  linnet_sampling sampling;
  uint64_t n_draws;
  float mu;
};

Status read_header(ByteReader& r, Header* h, Error* err) {
  *h = r.read<Header>();
  if (r.size() < sizeof kMagic || std::memcmp(r.data(), kMagic, sizeof kMagic) != 0)
    return fail(err, LINNET_BAD_FILE, "state: no saved state: it does not begin with 'LNTSTATE'");
  if (!r.ok()) return fail(err, LINNET_BAD_FILE, "state: ends inside its header, after ", r.size(), " bytes");
  if (h->version < kVersion || h->version > kReplayVersion + kWithAdapters)
    return fail(err, LINNET_UNSUPPORTED, "state: version ", h->version, ", this linnet reads ", kVersion, " to ",
                kReplayVersion + kWithAdapters);
  if (h->n_layers > kMaxLayers || h->header_bytes < header_bytes(h->n_layers) || h->header_bytes > header_bytes(2 * h->n_layers) ||
      (h->header_bytes - header_bytes(0)) % sizeof(PartRow))
    return fail(err, LINNET_BAD_FILE, "state: header of ", h->header_bytes, " bytes for ", h->n_layers, " layers: the file is damaged");
  if (h->header_bytes > r.size()) return fail(err, LINNET_BAD_FILE, "state: ends inside its header, after ", r.size(), " bytes");
  uint32_t sum;
  std::memcpy(&sum, r.data() + h->header_bytes - sizeof sum, sizeof sum);
  if (crc32c(0, r.data(), h->header_bytes - sizeof sum) != sum)
    return fail(err, LINNET_BAD_FILE, "state: CRC of the header is wrong: the file is damaged");
  if (h->bytes != r.size())
    return fail(err, LINNET_BAD_FILE, "state: ", r.size(), " bytes, its header says ", h->bytes, ": cut short or made longer");
  if ((h->version != kReplayVersion && h->version != kReplayVersion + kWithAdapters && h->pending > 1) ||
      h->n_logit_rows > (replay_of(*h) ? 0 : h->length) || h->n_forgotten > h->length)
    return fail(err, LINNET_BAD_FILE, "state: header: pending ", h->pending, ", n_logit_rows ", h->n_logit_rows, ", n_forgotten ",
                h->n_forgotten, " contradict length ", h->length);
  return LINNET_OK;
}

// That the state is one of this model and that its tokens fit.
Status check_model(const linnet_session& s, const Header& h, Error* err) {
  const ModelSpec& spec = s.model->spec;
  if (h.model_hash != state_hash(s))
    return fail(err, LINNET_UNSUPPORTED, "state: made for another model", rope_by_length(spec) ? " or with another rope_length" : "",
                " (hash ", Hex(h.model_hash).text, ", this one has ", Hex(state_hash(s)).text, ")");
  if (h.n_vocab != spec.n_vocab || h.n_layers != spec.n_layers || h.n_kv_heads != spec.n_kv_heads || h.head_dim != spec.head_dim)
    return fail(err, LINNET_UNSUPPORTED, "state: made for another model (n_vocab ", h.n_vocab, ", ", h.n_layers, " layers, ", h.n_kv_heads,
                " KV heads of ", h.head_dim, ")");
  Header own{};
  set_drops(s, &own);
  if (h.when_full != own.when_full || h.n_keep != own.n_keep || h.n_context != own.n_context || h.n_rollback != own.n_rollback)
    return fail(err, LINNET_UNSUPPORTED, "state: made with when_full ", h.when_full, ", n_keep ", h.n_keep, ", n_context ", h.n_context,
                ", n_rollback ", h.n_rollback, ", this session has ", own.when_full, ", ", own.n_keep, ", ", own.n_context, ", ",
                own.n_rollback, ": other tokens would be dropped");
  if (replay_of(h) && !s.cache.slots.any())
    return fail(err, LINNET_BAD_FILE, "state: header: pending ", h.pending, " in a model without states");
  if (const uint64_t n = whole_length(h); n > session_most(s))
    return fail(err, LINNET_CONTEXT_FULL, "state: its ", n, " tokens do not fit the context of ", session_most(s));
  return LINNET_OK;
}

const char* known_name(uint32_t format) {
  const char* name = format_kv(format) ? format_name(static_cast<Format>(format)) : nullptr;
  return name ? name : "?";
}

// That layers are cached in the same way, and that the pages and states are there which the next row goes on from.
Status check_parts(const linnet_session& s, ByteReader& r, Checked* o, Error* err) {
  const Cache& cache = s.cache;
  if (o->h.header_bytes != header_bytes(cache.n_parts()))
    return fail(err, LINNET_UNSUPPORTED, "state: header of ", o->h.header_bytes, " bytes: other layers have a state than in this model");
  for (uint32_t i = 0; i < cache.n_parts(); ++i) {
    const auto row = r.read<PartRow>();
    const uint32_t layer = cache.layer_of(i);
    const PartRow own = cache.part(i, window_of(s, i), o->begin);
    if (cache.is_state(i)) {
      if (row.bytes != own.bytes || row.window != own.window)
        return fail(err, LINNET_UNSUPPORTED, "state: layer ", layer, " has a state of ", row.bytes, " bytes and rows of ", row.window,
                    ", this session has ", own.bytes, " and ", own.window);
    } else if (row.k_format != own.k_format || row.v_format != own.v_format) {
      return fail(err, LINNET_UNSUPPORTED, "state: layer ", layer, " has K in ", known_name(row.k_format), " (", row.k_format,
                  ") and V in ", known_name(row.v_format), " (", row.v_format, "), this session has ", known_name(own.k_format), " and ",
                  known_name(own.v_format));
    } else if (row.window != own.window || row.bytes != own.bytes) {
      return fail(err, LINNET_UNSUPPORTED, "state: layer ", layer, " has a window of ", row.window, " and pages of ", row.bytes,
                  " bytes, this session has ", own.window, " and ", own.bytes);
    }
    if (!cache.begin_at(i, row, o->h.length, &o->saved))
      return fail(err, LINNET_BAD_FILE, "state: layer ", layer, " begins with ", cache.is_state(i) ? "token " : "page ", row.first,
                  ": less than the next token sees, or not as other layers do");
  }
  if (!cache.keep(o->saved, o->h.length, &o->begin))
    return fail(err, LINNET_UNSUPPORTED,
                "state: of layers with a state it holds the rows of more tokens than n_rollback = ", s.params.n_rollback, " has room for");
  r.skip(sizeof(uint32_t));  // the header's CRC
  // Tokens are forgotten long after their pages are dropped: a rollback, which asks for the pages, never comes to where no tokens are.
  o->n_forgotten = o->h.n_forgotten;
  if (const uint64_t n = n_tokens(o->h), room = session_history(s); n > room) o->n_forgotten += static_cast<uint32_t>(n - room);
  if (o->n_forgotten && !cache.gone(o->begin, o->n_forgotten - 1))
    return fail(err, LINNET_BAD_FILE, "state: header: n_forgotten ", o->h.n_forgotten, " of ", o->h.length,
                " tokens, whose pages are there");
  return LINNET_OK;
}

Status check_section(ByteReader& r, Kind kind, uint32_t index, uint64_t bytes, const uint8_t** payload, Error* err) {
  const SectionName name(kind, index);
  const size_t from = r.pos();
  const auto head = r.read<SectionHead>();
  *payload = r.data() + r.pos();
  r.skip(bytes);
  const size_t to = r.pos();
  const auto sum = r.read<uint32_t>();
  if (!r.ok()) return fail(err, LINNET_BAD_FILE, "state: ends inside section '", name.text, "'");
  if (head.kind != kind || head.index != index || head.bytes != bytes)
    return fail(err, LINNET_BAD_FILE, "state: section '", name.text, "' of ", bytes, " bytes is not where it must be (kind ", head.kind,
                ", index ", head.index, ", ", head.bytes, " bytes)");
  if (crc32c(0, r.data() + from, to - from) != sum)
    return fail(err, LINNET_BAD_FILE, "state: CRC of section '", name.text, "' is wrong: the file is damaged");
  return LINNET_OK;
}

int32_t token_at(const uint8_t* tokens, uint64_t i) {
  int32_t token;
  std::memcpy(&token, tokens + i * sizeof token, sizeof token);
  return token;
}

// That the sequence's keys and values are those that these adapters make.
Status check_adapters(const linnet_session& s, uint32_t seq, const Header& h, const uint8_t* payload, Error* err) {
  uint64_t saved = 0;
  if (with_adapters(h)) std::memcpy(&saved, payload, sizeof saved);
  const uint64_t own = s.seqs[seq].lora_hash;
  if (saved == own) return LINNET_OK;
  if (!saved) return fail(err, LINNET_UNSUPPORTED, "state: made without adapters, sequence ", seq, " has some (hash ", Hex(own).text, ")");
  if (!own)
    return fail(err, LINNET_UNSUPPORTED, "state: made with adapters (hash ", Hex(saved).text, "), sequence ", seq,
                " has none: linnet_lora_set gives it the same ones");
  return fail(err, LINNET_UNSUPPORTED, "state: made with other adapters or scales (hash ", Hex(saved).text, ", those of sequence ", seq,
              " have ", Hex(own).text, ")");
}

Status check_contents(const linnet_session& s, const uint8_t* tokens, const uint8_t* sampler, Checked* o, Error* err) {
  for (uint64_t i = 0; i < n_tokens(o->h); ++i)
    if (const int32_t t = token_at(tokens, i); t < 0 || static_cast<uint32_t>(t) >= s.model->spec.n_vocab)
      return fail(err, LINNET_BAD_FILE, "state: token ", t, " at ", i, " is outside 0..", s.model->spec.n_vocab - 1);
  SamplerRow p;
  std::memcpy(&p, sampler, sizeof p);
  if (!(p.mu - p.mu == 0) || p.params.size != sizeof p.params || sampling_check(&p.params, &o->sampling, nullptr) != LINNET_OK)
    return fail(err, LINNET_BAD_FILE, "state: section 'sampler': a value is out of its range");
  o->n_draws = p.n_draws;
  o->mu = p.mu;
  return LINNET_OK;
}

Status check_state(const linnet_session& s, uint32_t seq, const void* data, size_t bytes, Checked* o, Error* err) {
  ByteReader r(data, bytes);
  LINNET_TRY(read_header(r, &o->h, err));
  LINNET_TRY(check_model(s, o->h, err));
  LINNET_TRY(check_parts(s, r, o, err));
  if (const uint64_t whole = whole_bytes(s.cache, o->h, o->saved); whole != bytes)
    return fail(err, LINNET_BAD_FILE, "state: ", bytes, " bytes, ", o->h.length, " positions make ", whole);
  const uint8_t *tokens, *sampler, *rest;
  LINNET_TRY(check_section(r, kTokens, 0, token_bytes(o->h), &tokens, err));
  LINNET_TRY(check_section(r, kSampler, 0, sizeof(SamplerRow), &sampler, err));
  LINNET_TRY(check_section(r, kLogits, 0, logit_bytes(o->h), &rest, err));
  if (with_adapters(o->h)) LINNET_TRY(check_section(r, kAdapters, 0, sizeof(uint64_t), &rest, err));
  LINNET_TRY(check_adapters(s, seq, o->h, rest, err));
  for (uint32_t i = 0; i < s.cache.n_parts(); ++i)
    LINNET_TRY(check_section(r, kind_of(s.cache, i), s.cache.layer_of(i), s.cache.saved_bytes(i, o->h.length, o->saved), &rest, err));
  LINNET_TRY(check_contents(s, tokens, sampler, o, err));
  if (!s.cache.can_restore(seq, o->h.length, o->begin))
    return fail(err, LINNET_CONTEXT_FULL, "state: the pool of ", s.params.n_pool, " positions for all sequences has no room for its ",
                o->h.length);
  return LINNET_OK;
}

// Nothing fails from here on.
void take_over(linnet_session& s, uint32_t seq, const uint8_t* at, const Checked& o) {
  const Header& h = o.h;
  Sequence& q = s.seqs[seq];
  q.length = h.length;
  q.replay = replay_of(h);
  q.pending = h.pending % 2;
  q.n_draws = o.n_draws;
  q.mu = o.mu;
  q.sampling = o.sampling;
  q.generation->going = false;
  q.n_forgotten = o.n_forgotten;
  session_grammar(s, seq, q.place.grammar, q.place.start);
  at += h.header_bytes + sizeof(SectionHead);
  for (uint64_t from = o.n_forgotten - h.n_forgotten, i = from; i < n_tokens(h); ++i) {
    const int32_t token = token_at(at, i);
    q.history[i - from] = static_cast<uint32_t>(token) < h.n_vocab ? token : 0;  // a mapped file may have changed since the check
  }
  at += section_bytes(token_bytes(h)) + section_bytes(sizeof(SamplerRow));
  const uint32_t rows = h.n_logit_rows < s.params.n_logits ? h.n_logit_rows : s.params.n_logits;  // the last ones
  const size_t row_bytes = h.n_vocab * sizeof(float);
  for (uint32_t i = 0; i < rows; ++i) std::memcpy(q.logits + i * s.logits_stride, at + (h.n_logit_rows - rows + i) * row_bytes, row_bytes);
  q.n_logit_rows = rows;
  at += section_bytes(logit_bytes(h)) + adapter_bytes(h);

  s.cache.restore(seq, h.length, o.begin);
  for (uint32_t i = 0; i < s.cache.n_parts(); ++i) {
    s.cache.load(seq, i, h.length, o.saved, at);
    at += section_bytes(s.cache.saved_bytes(i, h.length, o.saved));
  }
  s.cache.checkpoint(seq);  // the file holds none, and rollbacks end soon
}

}  // namespace

uint64_t state_bytes(const linnet_session& s, uint32_t seq) {
  CacheBegin begin;
  return describe(s, seq, &begin).bytes;
}

// What a state does not hold.
static Status check_model(const linnet_session& s, Error* err) {
  if (const uint32_t most = s.model->spec.expert_capacity)
    return fail(err, LINNET_UNSUPPORTED, "state: not of a model whose experts have a capacity (", most, ")");
  return LINNET_OK;
}

Status state_save(const linnet_session& s, uint32_t seq, void* out, size_t cap, size_t* n_bytes, Error* err) {
  LINNET_TRY(check_model(s, err));
  CacheBegin begin;
  const Header h = describe(s, seq, &begin);
  *n_bytes = static_cast<size_t>(h.bytes);
  if (cap < h.bytes) return fail(err, LINNET_TOO_SMALL, "state: memory of ", cap, " bytes, needs ", h.bytes);
  Sink sink(static_cast<uint8_t*>(out), nullptr, err);
  const BackendGuard bound(s);
  put_state(sink, s, seq, h, begin);
  return bound.check(err);
}

Status state_save_file(const linnet_session& s, uint32_t seq, const char* path, Error* err) {
  LINNET_TRY(check_model(s, err));
  CacheBegin begin;
  const Header h = describe(s, seq, &begin);
  Replacement file;
  LINNET_TRY(file.open(path, err));
  Sink sink(nullptr, &file, err);
  const BackendGuard bound(s);
  put_state(sink, s, seq, h, begin);
  sink.flush();
  LINNET_TRY(sink.status);
  LINNET_TRY(bound.check(err));
  return file.commit(err);
}

Status state_load(linnet_session& s, uint32_t seq, const void* data, size_t bytes, Error* err) {
  LINNET_TRY(check_model(s, err));
  Checked checked{};
  LINNET_TRY(check_state(s, seq, data, bytes, &checked, err));
  const BackendGuard bound(s);
  LINNET_TRY(bound.check(err));
  take_over(s, seq, static_cast<const uint8_t*>(data), checked);
  return bound.check(err);
}

Status state_load_file(linnet_session& s, uint32_t seq, const char* path, Error* err) {
  linnet_view view{};
  LINNET_TRY(file_load(path, LINNET_LOAD_MAP, {}, &view, err));
  Error why{};
  const Status status = state_load(s, seq, view.data, view.bytes, &why);
  file_unmap(&view);
  return status == LINNET_OK ? status : fail(err, status, path, ": ", why.text);
}

Status state_length(const void* data, size_t bytes, size_t* n_tokens, Error* err) {
  ByteReader r(data, bytes);
  Header h;
  LINNET_TRY(read_header(r, &h, err));
  *n_tokens = static_cast<size_t>(whole_length(h));
  return LINNET_OK;
}

}  // namespace linnet
