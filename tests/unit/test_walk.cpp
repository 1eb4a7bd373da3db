// Random walks of everything that is done to sequences, in sessions that differ in their threads and in what their memory held before: the
// same statuses, logits and saved states, byte for byte; what a call does not name stays as it was, and so does what a call names that is
// refused. Over the public ABI alone, so that two versions of the library can walk the same way: every walk prints a digest of all
// statuses, lengths and logits, and one of all saved states (which may hold more or less of what no token sees any more), and `diff` of two
// outputs tells which walks differ. LINNET_TEST_SEED=n walks the n-th way alone.
#include <cinttypes>
#include <map>
#include <random>

#include "platform/crc32c.h"
#include "runtime/format.h"
#include "tests/models.h"

using namespace test;

namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kSequences = 3, kAll = (1u << kSequences) - 1, kSteps = 200;
constexpr uint32_t kThreads[] = {1, 2, 4};  // of the lanes
constexpr const char* kModels[] = {"llama", "qwen2-window", "mistral-window", "lfm2", "qwen3-5", "falcon-h1", "deepseek-v2"};
const std::vector<uint32_t> kPlain = [] {  // formats of the KV cache that go with all policies
  std::vector<uint32_t> out;
  for (const linnet::FormatRow& row : linnet::kFormats)
    if (linnet::format_kv(row.format) && !linnet::format_groups(row.format)) out.push_back(row.format);
  return out;
}();
constexpr const char* kPolicies[] = {"", "stop", "drop-oldest", "sinks", "heavy-hitters", "snapkv"};

struct Cell {
  uint32_t policy, format;
};
std::vector<Cell> cells() {
  std::vector<Cell> out;
  for (uint32_t policy = LINNET_FULL_STOP; policy <= LINNET_FULL_SNAPKV; ++policy)
    for (const linnet::FormatRow& row : linnet::kFormats)
      if (linnet::format_kv(row.format) && (policy == LINNET_FULL_STOP || !linnet::format_groups(row.format)))
        out.push_back({policy, row.format});
  return out;
}

const Model& model_of(const char* name) {
  static std::map<std::string, std::unique_ptr<Model>> models;
  auto& m = models[name];
  if (!m) m = std::make_unique<Model>(std::string("tests/golden/") + name, LINNET_I8G64);
  return *m;
}

// What there is to know of a sequence.
struct Seen {
  Bytes logits, state;  // length and all rows of logits; saved
};

struct Lane {
  Session session;
  Seen seen[kSequences];  // after the last step
  Lane(const Model& model, const linnet_session_params& p, int fill) : session(model, p, fill) {}

  void look(uint32_t seq) {
    linnet_error err{};
    size_t n = 0;
    REQUIRE(linnet_length(session.s, seq, &n, nullptr) == LINNET_OK);
    Seen& to = seen[seq];
    to.logits.assign(reinterpret_cast<const uint8_t*>(&n), reinterpret_cast<const uint8_t*>(&n + 1));
    const float* row = nullptr;
    for (uint32_t back = 0; linnet_logits(session.s, seq, back, &row, &n, nullptr) == LINNET_OK; ++back)
      to.logits.insert(to.logits.end(), reinterpret_cast<const uint8_t*>(row), reinterpret_cast<const uint8_t*>(row + n));
    check(linnet_state_need(session.s, seq, &n, &err), err);
    to.state.resize(n);
    check(linnet_state_save(session.s, seq, to.state.data(), to.state.size(), &n, &err), err);
  }
};

class Walk {
 public:
  // Of `cell`; the rest is drawn.
  Walk(uint32_t seed, const Cell& cell) : engine_(seed) {
    const bool kivi = linnet::format_groups(cell.format);
    uint32_t which = below((kivi ? 3 : 4) + 3 * (cell.policy == LINNET_FULL_STOP));  // KIVI packs no latent, no token leaves a state
    if (cell.policy != LINNET_FULL_STOP && which == 3) which = 6;
    name_ = kModels[which];
    with_states_ = which >= 3 && which <= 5;
    const Model& model = model_of(name_);
    const bool latent = std::string_view(name_) == "deepseek-v2";
    p_ = params(cell.format, 1, 1 + below(24), 1, 64 + below(100));
    p_.threads = LINNET_THREADS_OWN;
    p_.n_sequences = kSequences;
    p_.n_pool = p_.n_context + below(2 * p_.n_context);
    p_.n_rollback = 1 + below(24);
    if (with_states_)
      p_.n_checkpoints = std::array{0u, 1u, 2u, 50u, uint32_t{LINNET_CHECKPOINTS_NONE}}[below(5)], p_.checkpoint_every = 1 + below(70);
    p_.n_logits = 1 + below(p_.n_chunk < 3 ? p_.n_chunk : 3);
    p_.when_full = cell.policy;
    if (cell.policy == LINNET_FULL_DROP_OLDEST) p_.n_keep = below(33);
    if (cell.policy == LINNET_FULL_SINKS) p_.n_keep = 1 + below(16);
    if (cell.policy >= LINNET_FULL_HEAVY_HITTERS) p_.n_keep = 16 + 16 * below(2);
    p_.v_format = p_.k_format;
    if (!latent && !kivi && below(4) == 0) p_.v_format = kPlain[below(static_cast<uint32_t>(kPlain.size()))];
    layer_ = {sizeof layer_, 0, 0, kPlain[below(static_cast<uint32_t>(kPlain.size()))], 0};
    if (below(4) == 0) p_.n_kv_layers = 1, p_.kv_layers = &layer_;  // another class of pages
    for (uint32_t i = 0; i < std::size(kThreads); ++i) {
      p_.n_threads = kThreads[i];
      lanes_.push_back(std::make_unique<Lane>(model, p_, std::array{0xA5, 0xFF, 0x3C}[i]));
    }
    auto drawing = sampling(below(2) ? 1.0f : 0.0f, seed);
    drawing.repeat_penalty = 1.1f;
    const linnet_status set = each([&](Lane& l) {
      linnet_status all = LINNET_OK;
      for (uint32_t seq = 0; seq < kSequences && all == LINNET_OK; ++seq) all = linnet_sampling_set(l.session.s, seq, &drawing, nullptr);
      return all;
    });
    REQUIRE(set == LINNET_OK);
    look(kAll);
  }

  bool with_states() const { return with_states_; }
  std::string title() const {
    return std::string(name_) + " " + kPolicies[p_.when_full] + " " + linnet_format_name(static_cast<linnet_format>(p_.k_format)) + "/" +
           linnet_format_name(static_cast<linnet_format>(p_.v_format)) +
           (p_.n_kv_layers ? std::string(" first layer ") + linnet_format_name(static_cast<linnet_format>(layer_.k_format)) : "");
  }
  uint32_t logits() const { return logits_; }
  uint32_t states() const { return states_; }

  void step(std::map<std::string, int>& done) {
    const uint32_t seq = below(kSequences), other = (seq + 1 + below(kSequences - 1)) % kSequences, what = below(12 + with_states_);
    const size_t length = length_of(seq);
    uint32_t named = 1u << seq;  // sequences that the call may change
    bool whole = true;           // refused, it changes nothing at all
    linnet_status status = LINNET_OK;
    const char* op = "prefill";
    if (what == 11) (void)each([&](Lane& l) { return linnet_cancel(l.session.s), LINNET_OK; });
    if (what < 3 || what == 11) {
      const Tokens more = tokens(what == 0 ? 90 : what == 1 ? 16 : 3);
      status = each([&](Lane& l) { return linnet_prefill(l.session.s, seq, more.data(), more.size(), nullptr); });
    } else if (what < 5) {
      op = "decode";
      whole = false;  // the token that was pending is computed then
      drawn_.fill(-1);
      size_t i = 0;
      status = each([&](Lane& l) { return linnet_decode(l.session.s, seq, &drawn_[i++], nullptr); });
    } else if (what == 5) {
      op = "generate";
      whole = false;
      linnet_generate_params g{};
      g.size = sizeof g;
      g.max_tokens = 1 + below(4);
      g.ignore_eos = 1;
      linnet_generated end[std::size(kThreads)] = {};
      size_t i = 0;
      status = each([&](Lane& l) {
        end[i].size = sizeof *end;
        return linnet_generate(l.session.s, seq, &g, nullptr, nullptr, &end[i++], nullptr);
      });
      for (const linnet_generated& e : end) REQUIRE((e.why == end[0].why && e.token == end[0].token && e.n_tokens == end[0].n_tokens));
      note(&logits_, &end[0].why, sizeof end->why);
    } else if (what == 6) {
      op = "truncate";
      const size_t keep = keep_of(length);
      status = each([&](Lane& l) { return linnet_truncate(l.session.s, seq, keep, nullptr); });
    } else if (what == 12) {
      op = "checkpoint";
      status = each([&](Lane& l) { return linnet_checkpoint(l.session.s, seq, nullptr); });
    } else if (what < 9) {
      op = "fork";
      const size_t keep = below(2) ? length : keep_of(length);
      named = 1u << other;
      status = each([&](Lane& l) { return linnet_fork(l.session.s, seq, other, keep, nullptr); });
    } else if (what == 9) {
      op = "batch";
      const Tokens a = tokens(20), b = tokens(20);
      const linnet_rows rows[] = {{sizeof *rows, seq, a.size(), a.data()}, {sizeof *rows, other, b.size(), b.data()}};
      named |= 1u << other;
      status = each([&](Lane& l) { return linnet_prefill_batch(l.session.s, rows, 2, nullptr); });
    } else {
      op = "load";
      named = 1u << other;
      status =
          each([&](Lane& l) { return linnet_state_load(l.session.s, other, l.seen[seq].state.data(), l.seen[seq].state.size(), nullptr); });
    }
    ++done[std::string(op) + (status == LINNET_OK ? "" : " refused")];
    REQUIRE((status == LINNET_OK || status == LINNET_CONTEXT_FULL || status == LINNET_BAD_STATE || status == LINNET_CANCELLED));
    INFO(op << ": " << linnet_status_text(status) << ", sequence " << seq << " of " << length << ", other " << other);
    const Seen before[kSequences] = {lanes_[0]->seen[0], lanes_[0]->seen[1], lanes_[0]->seen[2]};
    look(named);
    if (status != LINNET_OK && whole) named = 0;
    for (uint32_t s = 0; s < kSequences; ++s) {
      const Seen& now = lanes_[0]->seen[s];
      INFO("sequence " << s);
      if (named >> s & 1) {
        note(&logits_, now.logits.data(), now.logits.size());
        note(&states_, now.state.data(), now.state.size());
      } else {
        REQUIRE((now.logits == before[s].logits));
        if (status != LINNET_CANCELLED)
          REQUIRE((now.state == before[s].state));  // what was computed until then stays behind the last token
      }
    }
    if (status != LINNET_CONTEXT_FULL) return;
    REQUIRE(each([&](Lane& l) { return linnet_truncate(l.session.s, seq, 0, nullptr); }) == LINNET_OK);  // goes on from the beginning
    look(1u << seq);
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_()) % n; }
  Tokens tokens(uint32_t most) {
    Tokens t(1 + below(most));
    for (int32_t& x : t) x = static_cast<int32_t>(below(lanes_[0]->session.model.desc.n_vocab));
    return t;
  }
  // Of a sequence: mostly a few tokens less, at times any number, a whole number of pages, nothing.
  size_t keep_of(size_t length) {
    const uint32_t n = static_cast<uint32_t>(length);
    switch (below(6)) {
      case 0:
        return 0;
      case 1:
        return below(n + 1);
      case 2:
        return n / 16 * 16;
      case 3:
        return n < 32 ? 0 : n / 16 * 16 - 16 * below(n / 16);
      default:
        return n - (n < 20 ? below(n + 1) : below(20));
    }
  }
  static void note(uint32_t* digest, const void* data, size_t bytes) { *digest = linnet::crc32c(*digest, data, bytes); }
  // The call in all lanes, with one status.
  template <class Fn>
  linnet_status each(Fn fn) {
    linnet_status all = LINNET_OK;
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const linnet_status status = fn(*lanes_[i]);
      if (i == 0) all = status;
      INFO(kThreads[i] << " threads");
      REQUIRE(std::string(linnet_status_text(status)) == linnet_status_text(all));
    }
    note(&logits_, &all, sizeof all);
    return all;
  }
  size_t length_of(uint32_t seq) {
    size_t n = 0;
    REQUIRE(linnet_length(lanes_[0]->session.s, seq, &n, nullptr) == LINNET_OK);
    return n;
  }
  // At the sequences that a call names, and in the first lane at the others too, at times in all lanes. They must have the same bytes.
  void look(uint32_t named) {
    if (++looks_ % 16 == 0) named = kAll;
    for (const auto& l : lanes_)
      for (uint32_t seq = 0; seq < kSequences; ++seq)
        if (l == lanes_[0] || named >> seq & 1) l->look(seq);
    for (size_t i = 1; i < lanes_.size(); ++i)
      for (uint32_t seq = 0; seq < kSequences; ++seq) {
        INFO(kThreads[i] << " threads, sequence " << seq);
        REQUIRE((lanes_[i]->seen[seq].logits == lanes_[0]->seen[seq].logits));
        REQUIRE((lanes_[i]->seen[seq].state == lanes_[0]->seen[seq].state));
      }
  }

  std::mt19937 engine_;
  const char* name_;
  linnet_session_params p_;
  bool with_states_;
  linnet_kv_layers layer_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::array<int32_t, std::size(kThreads)> drawn_;
  uint32_t logits_ = 0, states_ = 0;  // digests
  uint32_t looks_ = 0;
};

}  // namespace

TEST_CASE("random walks give the same bytes with 1, 2 and 4 threads, and touch nothing that they do not name") {
  const auto all = cells();
  const char* const asked = std::getenv("LINNET_TEST_SEED");
  const uint32_t first = asked ? static_cast<uint32_t>(std::strtoul(asked, nullptr, 10)) : 0,
                 n = asked                             ? 1
                     : std::getenv("LINNET_TEST_FULL") ? 10000
                                                       : 3 * static_cast<uint32_t>(all.size());
  std::map<std::string, int> done;
  for (uint32_t seed = first; seed < first + n; ++seed) {
    Walk walk(seed, all[seed % all.size()]);
    if (kSlow && seed % 5 && !walk.with_states()) continue;  // 5 and the number of cells have no divisor in common
    INFO("LINNET_TEST_SEED=" << seed << ": " << walk.title());
    for (uint32_t i = 0; i < kSteps; ++i) {
      INFO("step " << i);
      walk.step(done);
    }
    std::printf("walk %u: %s: logits %08" PRIx32 " states %08" PRIx32 "\n", seed, walk.title().c_str(), walk.logits(), walk.states());
  }
  for (const auto& [name, count] : done) std::printf("%d %s\n", count, name.c_str());
  for (const char* op : {"prefill", "prefill refused", "decode", "generate", "truncate", "truncate refused", "fork", "fork refused",
                         "batch", "load", "checkpoint", "checkpoint refused"})
    CHECK((asked || done[op] > 0));
}
