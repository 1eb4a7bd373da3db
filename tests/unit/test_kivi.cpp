// KIVI formats of the KV cache. Their codes against the definition in kv_cache.h written out, and sequences against what they must equal:
// rows see i8 or packed groups by their position alone, so chunks, threads, instruction sets, rollback, forks, cancel and saved states
// change no byte.
#include <algorithm>
#include <random>

#include "kernels_cpu/kivi.h"
#include "tests/models.h"

using namespace test;
using linnet::KvLayout;

namespace {

constexpr linnet_format kKivi[] = {LINNET_KIVI4, LINNET_KIVI2};

Tokens random_tokens(uint32_t n, uint32_t n_vocab, uint32_t seed) {
  std::mt19937 random(seed);
  Tokens t;
  for (uint32_t i = 0; i < n; ++i) t.push_back(static_cast<int32_t>(random() % n_vocab));
  return t;
}

linnet_session_params kivi(uint32_t k, uint32_t v, uint32_t context, uint32_t chunk = 64, uint32_t threads = 1) {
  auto p = params(k, threads, chunk, 1, context);
  p.v_format = v;
  return p;
}

// Logits after all tokens, in calls of `piece`.
Row in_pieces(const Model& model, const Tokens& tokens, const linnet_session_params& p, size_t piece) {
  const Session s(model, p);
  for (size_t at = 0; at < tokens.size(); at += piece) {
    linnet_error err{};
    check(linnet_prefill(s.s, 0, tokens.data() + at, std::min(piece, tokens.size() - at), &err), err);
  }
  return s.logits();
}

size_t bytes_of(const Session& s, const std::string& purpose) {
  const char* name = nullptr;
  size_t bytes = 0;
  for (uint32_t i = 0; linnet_session_memory(s.s, i, &name, &bytes, nullptr) == LINNET_OK; ++i)
    if (purpose == name) return bytes;
  return 0;
}

Tokens first(const Tokens& t, size_t n) { return Tokens(t.begin(), t.begin() + static_cast<long>(n)); }

// ---- one KV head's 32 tokens

struct Head {
  KvLayout i8, packed;
  std::vector<uint8_t> pages[2], group;

  Head(linnet_format k, linnet_format v, uint32_t dim)
      : i8(linnet::kv_layout(LINNET_I8, LINNET_I8, 1, dim, 0)), packed(linnet::kv_layout(k, v, 1, dim, 0)) {
    for (auto& page : pages) page.resize(i8.head_bytes);
    group.assign(packed.head_bytes, 0xEE);
  }
  template <class T>
  T read(const std::vector<uint8_t>& from, size_t at) const {
    T x;
    std::memcpy(&x, from.data() + at, sizeof x);
    return x;
  }
  size_t key_at(uint32_t t, uint32_t d) const { return d / 4 * 64 + t % 16 * 4 + d % 4; }
  size_t value_at(uint32_t t, uint32_t d) const { return i8.v_at + d / 16 * 256 + t % 16 / 4 * 64 + d % 16 * 4 + t % 4; }
  double key_scale(uint32_t t, uint32_t d) const {
    return static_cast<double>(linnet::f16_to_f32(read<uint16_t>(pages[t / 16], i8.k_scale_at + (d / 32 * 16 + t % 16) * 2)));
  }
  double value_scale(uint32_t t) const { return static_cast<double>(read<float>(pages[t / 16], i8.v_scale_at + t % 16 * 4)); }
  // What the pages hold.
  double key(uint32_t t, uint32_t d) const {
    double code = static_cast<int8_t>(pages[t / 16][key_at(t, d)]);
    if (i8.head_dim <= 16) code += static_cast<int8_t>(pages[t / 16][key_at(t, d + 16)]) / 256.0;
    return code * key_scale(t, d);
  }
  double value(uint32_t t, uint32_t d) const { return static_cast<int8_t>(pages[t / 16][value_at(t, d)]) * value_scale(t); }

  void fill(std::mt19937& random) {
    for (auto& page : pages) {
      for (auto& b : page) b = static_cast<uint8_t>(random());
      for (size_t i = 0; i < i8.head_bytes; ++i)
        if (page[i] == 0x80) page[i] = 0x81;  // codes are +-127
      for (uint32_t i = 0; i < i8.k_groups * 16; ++i) {
        const uint16_t h = linnet::f32_to_f16(random() % 50 == 0 ? 0.0f : 0.001f * static_cast<float>(1 + random() % 1000));
        std::memcpy(page.data() + i8.k_scale_at + i * 2, &h, 2);
      }
      for (uint32_t t = 0; t < 16; ++t) {
        const float s = random() % 50 == 0 ? 0.0f : 0.01f * static_cast<float>(1 + random() % 1000);
        std::memcpy(page.data() + i8.v_scale_at + t * 4, &s, 4);
      }
    }
    for (uint32_t d = 0; d < i8.head_dim; d += 3)  // channels of a range of their own
      for (uint32_t t = 0; t < 32; ++t) pages[t / 16][key_at(t, d)] = static_cast<uint8_t>(90 + random() % 8);
  }
  uint32_t code(uint32_t bits, size_t part, uint32_t row, uint32_t j, uint32_t t) const {  // kv_cache.h in other words
    return bits == 4 ? group[part + row * 64 + j] >> (t / 16 * 4) & 15u : group[part + row / 2 * 64 + j] >> (row % 2 * 4 + t / 16 * 2) & 3u;
  }
  // What the group says, by the definition. Their scale: the size of one i8 code.
  struct Number {
    double value, scale, range;
  };
  Number said_key(uint32_t t, uint32_t d) const {
    const uint32_t bits = packed.k == LINNET_KIVI4 ? 4 : 2, rows = (i8.head_dim + 7) / 8 * 2;
    const size_t low = rows * 64 * bits / 4, range = low + rows * 4, scale = range + rows * 4 + d / 32 * 2;
    const double r = group[range + d], s = static_cast<double>(linnet::f16_to_f32(read<uint16_t>(group, scale)));
    return {(static_cast<int8_t>(group[low + d]) + r * code(bits, 0, d / 4, t % 16 * 4 + d % 4, t) / (bits == 4 ? 15 : 3)) * s, s, r};
  }
  Number said_value(uint32_t t, uint32_t d) const {
    const uint32_t bits = packed.v == LINNET_KIVI4 ? 4 : 2, groups = (i8.head_dim + 31) / 32;
    const size_t low = packed.v_at + (i8.head_dim + 15) / 16 * 4 * 64 * bits / 4, range = low + groups * 32,
                 scale = range + groups * 32 + t * 2, at = d / 32 * 32 + t;
    const double r = group[range + at], s = static_cast<double>(linnet::bf16_to_f32(read<uint16_t>(group, scale)));
    return {(static_cast<int8_t>(group[low + at]) +
             r * code(bits, packed.v_at, d / 16 * 4 + t % 16 / 4, d % 16 * 4 + t % 4, t) / (bits == 4 ? 15 : 3)) *
                s,
            s, r};
  }
};

}  // namespace

TEST_CASE("a group's codes are the nearest to what the i8 pages hold, and are read as kv_cache.h says") {
  std::mt19937 random(1);
  double nearest_key = 0, nearest_value = 0;  // the largest errors, of what is allowed
  for (const linnet_format k : kKivi)
    for (const linnet_format v : kKivi)
      for (const uint32_t dim : {8u, 12u, 16u, 20u, 24u, 40u, 64u, 80u, 128u, 256u}) {
        Head in(k, v, dim), out(k, v, dim);
        in.fill(random);
        const uint8_t* from[2] = {in.pages[0].data(), in.pages[1].data()};
        uint8_t* to[2] = {out.pages[0].data(), out.pages[1].data()};
        linnet::kivi_pack(in.packed, in.i8, from, in.group.data());
        linnet::kivi_unpack(in.packed, in.i8, in.group.data(), to);
        INFO(linnet_format_name(k) << "/" << linnet_format_name(v) << " head_dim " << dim);
        for (uint32_t d = 0; d < dim; ++d)
          for (uint32_t t = 0; t < 32; ++t) {
            const auto said = in.said_key(t, d), also = in.said_value(t, d);
            // The smallest value and the range are whole i8 codes: half a code at either end. And half a step of the code.
            const double allowed = said.scale * (0.5 + (said.range + 1) / (k == LINNET_KIVI4 ? 30 : 6) + 0.01),
                         error = std::fabs(said.value - in.key(t, d));
            REQUIRE(error <= allowed);
            nearest_key = std::max(nearest_key, error / allowed);
            const double most = also.scale * (also.range / (v == LINNET_KIVI4 ? 30 : 6) + 0.001) + std::fabs(in.value(t, d)) / 256,
                         off = std::fabs(also.value - in.value(t, d));
            REQUIRE(off <= most);
            nearest_value = std::max(nearest_value, most > 0 ? off / most : 0);
            // What attention reads: rounded to i8, in small heads to a second byte.
            REQUIRE(std::fabs(out.key(t, d) - said.value) <= said.scale * (dim <= 16 ? 0.05 : 0.55));
            REQUIRE(std::fabs(out.value(t, d) - also.value) <= also.scale * 0.55);
          }
      }
  CHECK(nearest_key > 0.7);  // the bounds are not idle
  CHECK(nearest_value > 0.7);
}

TEST_CASE("groups of any bytes are read without going astray") {
  std::mt19937 random(2);
  for (const linnet_format f : kKivi)
    for (const uint32_t dim : {8u, 64u}) {
      Head head(f, f, dim);
      for (auto& page : head.pages)
        for (auto& b : page) b = static_cast<uint8_t>(random());  // scales too: NaN, infinities, negative ones
      const uint8_t* from[2] = {head.pages[0].data(), head.pages[1].data()};
      uint8_t* to[2] = {head.pages[0].data(), head.pages[1].data()};
      linnet::kivi_pack(head.packed, head.i8, from, head.group.data());
      for (auto& b : head.group) b = static_cast<uint8_t>(random());
      linnet::kivi_unpack(head.packed, head.i8, head.group.data(), to);
    }
}

TEST_CASE("up to 64 tokens a KIVI cache is the i8 cache; from then on it is not") {
  for (const char* name : {"llama", "smollm2", "qwen3"}) {
    const Model model(std::string("tests/golden/") + name, LINNET_I8G64);
    const Tokens tokens = random_tokens(200, model.desc.n_vocab, 5);
    for (const linnet_format f : kKivi)
      for (const uint32_t context : {40u, 64u, 65u}) {  // no group ever, and one
        const Tokens all = first(tokens, context);
        CHECK(same_bytes(in_pieces(model, all, kivi(f, f, context), 13), in_pieces(model, all, kivi(LINNET_I8, LINNET_I8, context), 13)) ==
              (context <= 64));
      }
    for (const linnet_format f : kKivi)
      for (const uint32_t n : {1u, 33u, 64u, 65u, 66u, 200u}) {
        INFO(name << " " << linnet_format_name(f) << " " << n);
        CHECK(same_bytes(in_pieces(model, first(tokens, n), kivi(f, f, 256), n),
                         in_pieces(model, first(tokens, n), kivi(LINNET_I8, LINNET_I8, 256), n)) == (n <= 64));
      }
  }
}

TEST_CASE("prefill equals decode: the same bytes over ISA, threads, chunks and calls") {
  const struct {
    const char* name;
    linnet_format k, v;
    uint32_t n;
  } kinds[] = {{"llama", LINNET_KIVI4, LINNET_KIVI2, 290},
               {"llama-mha-linear", LINNET_KIVI2, LINNET_KIVI2, 161},
               {"smollm2", LINNET_KIVI4, LINNET_KIVI4, 97},
               {"mistral", LINNET_KIVI2, LINNET_KIVI4, 128}};
  for (const auto& kind : kinds) {
    const std::string src = std::string("tests/golden/") + kind.name;
    const Model oracle(src, LINNET_I8G64, LINNET_ISA_SCALAR);
    const Tokens tokens = random_tokens(kind.n, oracle.desc.n_vocab, 7);
    const Row want = in_pieces(oracle, tokens, kivi(kind.k, kind.v, kind.n, 1), 1);
    for (const linnet_isa isa : tiers()) {
      const Model model(src, LINNET_I8G64, isa);
      for (const uint32_t threads : {1u, 3u})
        for (const uint32_t chunk : {1u, 7u, 32u, kind.n})
          for (const uint32_t call : {13u, kind.n}) {
            if ((threads == 3 || kSanitized) && (chunk == 1 || call == 13)) continue;
            auto p = kivi(kind.k, kind.v, kind.n, chunk, threads);
            p.threads = LINNET_THREADS_OWN;
            p.n_rollback = call == 13 ? 3 : 0;
            INFO(kind.name << " " << linnet_format_name(kind.k) << "/" << linnet_format_name(kind.v) << " isa " << linnet_isa_name(isa)
                           << " threads " << threads << " chunk " << chunk << " call " << call);
            REQUIRE(same_bytes(in_pieces(model, tokens, p, call), want));
          }
    }
  }
  // Long enough that threads share the blocks of one KV head.
  const Model model("tests/golden/mistral", LINNET_I8G128);
  const uint32_t n = kSanitized ? 1200 : 2300;
  const Tokens tokens = random_tokens(n, model.desc.n_vocab, 8);
  const Row want = in_pieces(model, tokens, kivi(LINNET_KIVI4, LINNET_KIVI2, n, 256, 1), n);
  for (const uint32_t threads : {2u, 3u})
    for (const uint32_t tail : {1u, 40u}) {
      Session s(model, kivi(LINNET_KIVI4, LINNET_KIVI2, n, 256, threads));
      s.prefill(first(tokens, n - tail));
      s.prefill(Tokens(tokens.end() - tail, tokens.end()));
      CHECK(same_bytes(s.logits(), want));
    }
}

// ---- sequences; test_kv's random walk takes KIVI formats too

TEST_CASE("rollback: the last n_rollback tokens, as with windows; what follows is as if nothing had been") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  const Tokens tokens = random_tokens(300, model.desc.n_vocab, 9), other = random_tokens(300, model.desc.n_vocab, 10);
  for (const linnet_format f : kKivi)
    for (const uint32_t length : {70u, 96u, 97u, 130u, 200u}) {
      auto p = kivi(f, f, 300, 16);
      p.n_rollback = 40;
      Session s(model, p);
      s.prefill(first(tokens, length));
      size_t refused = 0;
      for (uint32_t keep = length; keep-- > 1 && !refused;) {
        const linnet_status status = linnet_truncate(s.s, 0, keep, nullptr);
        INFO(linnet_format_name(f) << " " << length << " to " << keep);
        REQUIRE((status == LINNET_OK || status == LINNET_BAD_STATE));
        if (status == LINNET_BAD_STATE) refused = keep;
      }
      INFO(linnet_format_name(f) << " " << length << ": refused " << refused);
      CHECK(refused < length - 40);
      CHECK((refused > 0) == (length >= 40 + 65));  // where row 64, which packs the first group, is more than 40 tokens back
      Tokens mixed = first(tokens, refused + 1);
      mixed.insert(mixed.end(), other.begin(), other.begin() + 90);
      s.prefill(first(other, 90));
      CHECK(same_bytes(s.logits(), in_pieces(model, mixed, kivi(f, f, 300), 300)));
    }
}

TEST_CASE("cancel in any layer of any chunk leaves the sequence as it was") {
  const Model model("tests/golden/llama-mha-linear", LINNET_I8G64);  // 4 layers
  const Tokens tokens = random_tokens(400, model.desc.n_vocab, 11);
  for (const linnet_format f : kKivi) {
    auto p = kivi(f, f, 400, 16);
    p.n_rollback = 16;
    Session s(model, p);
    size_t length = 0;
    for (const uint32_t n : {10u, 60u, 26u, 32u, 1u, 95u, 40u}) {
      linnet_error err{};
      const Tokens wrong = random_tokens(100, model.desc.n_vocab, n);
      linnet_cancel(s.s);
      REQUIRE(linnet_prefill(s.s, 0, wrong.data(), wrong.size(), &err) == LINNET_CANCELLED);
      REQUIRE(s.length() == length);
      check(linnet_prefill(s.s, 0, tokens.data() + length, n, &err), err);
      length += n;
      REQUIRE(same_bytes(s.logits(), in_pieces(model, first(tokens, length), kivi(f, f, 400), 400)));
    }
  }
}

TEST_CASE("forks share groups; a pool that is too small is refused, and freed by the other") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const Tokens tokens = random_tokens(400, model.desc.n_vocab, 12);
  auto p = kivi(LINNET_KIVI2, LINNET_KIVI4, 320, 32);
  p.n_sequences = 3;
  p.n_pool = 352;
  const Session s(model, p);
  linnet_error err{};
  check(linnet_prefill(s.s, 0, tokens.data(), 300, &err), err);
  for (const uint32_t to : {1u, 2u}) check(linnet_fork(s.s, 0, to, 290, &err), err);
  for (const uint32_t seq : {1u, 2u}) {
    Tokens mine = first(tokens, 290);
    mine.insert(mine.end(), tokens.begin() + 100 * seq, tokens.begin() + 100 * seq + 25);
    check(linnet_prefill(s.s, seq, tokens.data() + 100 * seq, 25, &err), err);
    const float* logits = nullptr;
    size_t n = 0;
    REQUIRE(linnet_logits(s.s, seq, 0, &logits, &n, nullptr) == LINNET_OK);
    CHECK(same_bytes(Row(logits, logits + n), in_pieces(model, mine, kivi(LINNET_KIVI2, LINNET_KIVI4, 320), 320)));
  }
  REQUIRE(linnet_truncate(s.s, 1, 0, nullptr) == LINNET_OK);
  CHECK(linnet_prefill(s.s, 1, tokens.data(), 200, &err) == LINNET_CONTEXT_FULL);
  CHECK(std::string(err.text).find("pool of 352") != std::string::npos);
  REQUIRE(linnet_truncate(s.s, 0, 0, nullptr) == LINNET_OK);
  REQUIRE(linnet_truncate(s.s, 2, 0, nullptr) == LINNET_OK);
  CHECK(linnet_prefill(s.s, 1, tokens.data(), 200, &err) == LINNET_OK);
}

TEST_CASE("saved sequences go on with the same bytes in sessions of other sizes; other formats are refused") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  const Tokens tokens = random_tokens(300, model.desc.n_vocab, 13);
  linnet_error err{};
  for (const uint32_t length : {1u, 50u, 96u, 150u, 257u}) {
    auto p = kivi(LINNET_KIVI4, LINNET_KIVI2, 300, 32);
    const Session s(model, p);
    check(linnet_prefill(s.s, 0, tokens.data(), length, &err), err);
    size_t n = 0;
    check(linnet_state_need(s.s, 0, &n, &err), err);
    std::vector<uint8_t> state(n);
    check(linnet_state_save(s.s, 0, state.data(), n, &n, &err), err);
    const Row want = in_pieces(model, tokens, kivi(LINNET_KIVI4, LINNET_KIVI2, 300), 300);
    for (const uint32_t rollback : {5u, 100u}) {
      p = kivi(LINNET_KIVI4, LINNET_KIVI2, 1000, 16);
      p.n_rollback = rollback;
      const Session to(model, p);
      check(linnet_state_load(to.s, 0, state.data(), n, &err), err);
      check(linnet_prefill(to.s, 0, tokens.data() + length, 300 - length, &err), err);
      INFO("length " << length << " rollback " << rollback);
      CHECK(same_bytes(to.logits(), want));
    }
    const Session wrong(model, kivi(LINNET_KIVI2, LINNET_KIVI2, 300)), plain(model, kivi(LINNET_I8, LINNET_I8, 300));
    CHECK(linnet_state_load(wrong.s, 0, state.data(), n, &err) == LINNET_UNSUPPORTED);
    CHECK(std::string(err.text).find("K in kivi4 (14) and V in kivi2 (15), this session has kivi2 and kivi2") != std::string::npos);
    CHECK(linnet_state_load(plain.s, 0, state.data(), n, &err) == LINNET_UNSUPPORTED);
  }
}

// ---- memory, what is refused

TEST_CASE("memory: what the plan says, by formula; read bytes") {
  const Model model("tests/golden/llama-k-outliers", LINNET_I8G64);
  const auto& d = model.desc;
  REQUIRE(d.head_dim == 64);
  for (const linnet_format f : kKivi)
    for (const uint32_t sequences : {1u, 3u}) {
      auto p = kivi(f, f, 4096, 64);
      p.n_rollback = 32;
      p.n_sequences = sequences;
      const Session s(model, p);
      const char* purpose = nullptr;
      size_t bytes = 0, sum = 0;
      for (uint32_t i = 0; linnet_session_plan(model.m, &p, i, &purpose, &bytes, nullptr) == LINNET_OK; ++i) {
        CHECK(bytes_of(s, purpose) == bytes);
        sum += bytes;
      }
      CHECK(sum == s.bytes);
      const size_t bits = f == LINNET_KIVI4 ? 4 : 2, heads = d.n_layers * d.n_kv_heads;
      // 64 channels of 32 tokens: K codes, smallest and range of 64 channels, 2 f16 scales; V codes, smallest and range of 2 groups of 32
      // tokens, 32 bf16 scales.
      const size_t group = 64 * 32 * bits / 8 + 64 * 2 + 2 * 2 + 64 * 32 * bits / 8 + 2 * 32 * 2 + 32 * 2,
                   page = 16 * 64 + 2 * 16 * 2 + 16 * 64 + 64;
      const size_t head = (group + 15) / 16 * 16;
      const size_t tail = (64 + 64) / 16 + 1 + (64 + 32) / 16 + 1;  // the queue, and what stays until a call ends
      CHECK(bytes_of(s, "kv") == heads * sequences * ((4096 / 32 - 2) * head + (tail + (sequences > 1)) * page));
      Session one(model, kivi(f, f, 4096, 64));
      one.prefill(random_tokens(1000, d.n_vocab, 14));
      one.decode();
      linnet_stats stats{};
      stats.size = sizeof stats;
      REQUIRE(linnet_stats_get(one.s, &stats, nullptr) == LINNET_OK);
      CHECK(stats.decode_bytes ==
            d.decode_bytes + heads * (30 * head + 3 * page));  // the row at 1000: tokens 0 .. 959 packed, 960 .. 1000 in three pages
    }
  // Tokens of a long context take little more than their groups; in a short one the tail holds all.
  const auto kv = [&](linnet_format f, uint32_t context) { return bytes_of(Session(model, kivi(f, f, context)), "kv"); };
  CHECK(100 * kv(LINNET_KIVI2, 8192) < 36 * kv(LINNET_I8, 8192));
  CHECK(100 * kv(LINNET_KIVI4, 8192) < 60 * kv(LINNET_I8, 8192));
}

TEST_CASE("layers with a window stay in i8; layers of several formats") {
  const Model window("tests/golden/mistral-window", LINNET_I8G64), mixed("tests/golden/qwen2-window", LINNET_I8G64);
  const Tokens tokens = random_tokens(300, window.desc.n_vocab, 15);
  CHECK(same_bytes(in_pieces(window, tokens, kivi(LINNET_KIVI2, LINNET_KIVI2, 300), 300),
                   in_pieces(window, tokens, kivi(LINNET_I8, LINNET_I8, 300), 300)));
  CHECK(bytes_of(Session(window, kivi(LINNET_KIVI2, LINNET_KIVI2, 300)), "kv") ==
        bytes_of(Session(window, kivi(LINNET_I8, LINNET_I8, 300)), "kv"));
  const Tokens more = random_tokens(300, mixed.desc.n_vocab, 16);  // one layer without a window
  CHECK_FALSE(same_bytes(in_pieces(mixed, more, kivi(LINNET_KIVI2, LINNET_KIVI2, 300), 300),
                         in_pieces(mixed, more, kivi(LINNET_I8, LINNET_I8, 300), 300)));

  // i8 below, KIVI above and one f16: each layer its own, and the i8 pages of a tail are not those of an i8 layer.
  const Model model("tests/golden/llama-mha-linear", LINNET_I8G128);
  const Tokens text = random_tokens(200, model.desc.n_vocab, 17);
  const linnet_kv_layers layers[] = {{sizeof *layers, 1, 2, LINNET_KIVI2, LINNET_KIVI4}, {sizeof *layers, 3, 3, LINNET_F16, 0}},
                         all[] = {{sizeof *all, 0, 3, LINNET_KIVI4, 0}};
  auto p = kivi(LINNET_I8, LINNET_I8, 256);
  p.kv_layers = layers;
  p.n_kv_layers = 2;
  const Row want = in_pieces(model, text, p, 200);
  CHECK(same_bytes(in_pieces(model, text, p, 9), want));
  CHECK_FALSE(same_bytes(in_pieces(model, text, kivi(LINNET_I8, LINNET_I8, 256), 200), want));
  p.kv_layers = all;
  p.n_kv_layers = 1;
  CHECK(same_bytes(in_pieces(model, text, p, 200), in_pieces(model, text, kivi(LINNET_KIVI4, LINNET_KIVI4, 256), 200)));
}

TEST_CASE("what KIVI does not go with is refused by name") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  const auto refused = [&](const linnet_session_params& p, const std::string& text) {
    CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_UNSUPPORTED);
    INFO(err.text);
    CHECK(std::string(err.text).find(text) != std::string::npos);
  };
  refused(kivi(LINNET_KIVI2, LINNET_I8, 256), "layer 0 has K in kivi2 and V in i8");
  const Model latent("tests/golden/deepseek-v2", LINNET_I8G64);
  const auto packed = kivi(LINNET_KIVI4, LINNET_KIVI4, 256);
  CHECK(linnet_session_need(latent.m, &packed, &need, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("kivi4: the model caches a latent") != std::string::npos);
  refused(kivi(LINNET_F16, LINNET_KIVI4, 256), "layer 0 has K in f16 and V in kivi4");
  const linnet_kv_layers layers[] = {{sizeof *layers, 1, 1, 0, LINNET_KIVI4}};
  auto p = kivi(LINNET_I8, LINNET_I8, 256);
  p.kv_layers = layers;
  p.n_kv_layers = 1;
  refused(p, "layer 1 has K in i8 and V in kivi4");
  for (const uint32_t when : {LINNET_FULL_DROP_OLDEST, LINNET_FULL_SINKS, LINNET_FULL_HEAVY_HITTERS, LINNET_FULL_SNAPKV}) {
    p = kivi(LINNET_KIVI4, LINNET_KIVI2, 256);
    p.when_full = when;
    refused(p, "in kivi4 and when_full is " + std::to_string(when));
  }
  // As weights.
  linnet::convert::Options options;
  linnet::convert::Image image;
  for (const linnet_format f : kKivi) {
    options.weights = f;
    CHECK(linnet::convert::convert_to_memory("tests/golden/llama", options, &image, &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find(std::string(linnet_format_name(f)) + " is a format of KV caches alone") != std::string::npos);
  }
}

// ---- how far logits are from those of an f32 cache

TEST_CASE("KL divergence from an f32 cache") {
  const auto compare = [](const std::string& name, const Model& model, const Tokens& tokens, double most4, double most2) {
    const auto want = all_logits(model, tokens, LINNET_F32);
    std::printf("KV cache %-17s %4zu tokens:", name.c_str(), tokens.size());
    double kl[3];
    const linnet_format formats[] = {LINNET_I8, LINNET_KIVI4, LINNET_KIVI2};
    for (size_t i = 0; i < 3; ++i)
      std::printf(" %s %.1e", linnet_format_name(formats[i]), kl[i] = mean_kl(want, all_logits(model, tokens, formats[i])));
    std::printf("\n");
    INFO(name);
    CHECK(kl[1] < most4);
    CHECK(kl[2] < most2);
    CHECK(kl[0] < kl[1]);
    CHECK(kl[1] < kl[2]);
  };
  for (const char* name : {"llama", "llama-mha-linear", "mistral", "qwen2", "qwen3", "smollm2", "llama-k-outliers"}) {
    const Model model(std::string("tests/golden/") + name, LINNET_F32);
    compare(name, model, random_tokens(400, model.desc.n_vocab, 18), 1e-2, 3e-1);
  }
  const Model assistant("examples/assistant/model/checkpoint", LINNET_F32);
  compare("assistant", assistant, tokenize(assistant, assistant_requests()), 2e-3, 2e-2);
  const std::string folder = data_path("models/stories260K"), sample = data_path("vectors/text/tinystories_sample.txt");
  if (folder.empty() || sample.empty()) {
    std::printf("skipped: no stories260K under LINNET_DATA or ../shared/data\n");
    return;
  }
  const Model stories(folder, LINNET_F32);
  Tokens tokens = tokenize(stories, slurp(sample));
  tokens.resize(std::min<size_t>(tokens.size(), 500));
  compare("stories260K", stories, tokens, 5e-3, 2e-1);
}
