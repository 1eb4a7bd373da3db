// Generating: token by token or all at once, what is told of its end, and the tokens of a sequence. Over a vocabulary of our own, whose
// texts begin and end in the midst of characters and stop strings, and of which two are longer than what a generation holds back.
#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "platform/text_out.h"
#include "runtime/convert/source.h"
#include "runtime/convert/tokenizer_parts.h"
#include "runtime/include/linnet_convert.h"
#include "tests/models.h"

using namespace test;

namespace {

constexpr int32_t kEos = 2, kFirstLong = 3 + 256 + 155;
constexpr size_t kLong = 60;  // tokens whose text is as long as a tokenizer takes; those behind them have none
const Tokens kPrompt = {300, 301, 302, 303};

linnet::convert::Image made_model(linnet_format weights = LINNET_I8G64) {
  namespace c = linnet::convert;
  c::TokenizerParts parts;
  parts.kind = linnet::tok::kSpm;
  const auto add = [&](const std::string& text, int32_t type) { parts.tokens.push_back(text), parts.types.push_back(type); };
  add("<unk>", 2), add("<s>", 3), add("</s>", 3);
  for (int b = 0; b < 256; ++b) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(b));
    add(name, 6);
  }
  const std::vector<std::string> letters = {"a", "b", "\u00E9", "\u20AC", "\U0001F600"};
  for (const auto& x : letters) add(x, 1);
  for (const auto& x : letters)
    for (const auto& y : letters) add(x + y, 1);
  for (const auto& x : letters)
    for (const auto& y : letters)
      for (const auto& z : letters) add(x + y + z, 1);
  for (size_t i = 0; i < kLong; ++i) {
    std::string text(i % 2 ? 4000 + i : 0, 'x');
    for (size_t k = i; text.size() + 8 < linnet::kHeldBytes; ++k) text += letters[k * k % 5] + std::to_string(k % 10);
    text.resize(linnet::kHeldBytes, '~');
    add(text, 1);
  }
  parts.is_added.assign(parts.tokens.size(), false);
  parts.unk_id = 0, parts.bos_id = 1, parts.eos_id = kEos;
  linnet_error err{};
  c::Source source;
  check(c::source_synthetic("stories260k", 3, &source, &err), err);
  check(c::build_tokenizer(parts, &source.tokenizer, &err), err);
  c::Options options;
  options.weights = weights;
  c::Image image;
  check(c::write_to_memory(source, options, &image, &err), err);
  return image;
}
const Model& model() {
  static const Model m(made_model());
  return m;
}

std::string text_of(int32_t token) {
  size_t n = 0;
  const linnet_status sized = linnet_token_text(model().m, token, nullptr, 0, &n, nullptr);
  REQUIRE((sized == LINNET_OK || sized == LINNET_TOO_SMALL));
  std::string out(n, '\0');
  REQUIRE(linnet_token_text(model().m, token, out.data(), n, &n, nullptr) == LINNET_OK);
  return out;
}

// Bytes of the character, or of the longest beginning of one, that s begins with; *whole tells which.
size_t character(std::string_view s, bool* whole) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  *whole = at(0) < 0x80;
  const size_t want = at(0) < 0xC2 ? 1 : at(0) < 0xE0 ? 2 : at(0) < 0xF0 ? 3 : at(0) < 0xF5 ? 4 : 1;
  if (want == 1) return 1;
  size_t n = 1;
  for (; n < want && n < s.size(); ++n) {
    const unsigned low = n > 1 ? 0x80 : at(0) == 0xE0 ? 0xA0 : at(0) == 0xF0 ? 0x90 : 0x80;
    const unsigned high = n > 1 ? 0xBF : at(0) == 0xED ? 0x9F : at(0) == 0xF4 ? 0x8F : 0xBF;
    if (at(n) < low || at(n) > high) break;
  }
  *whole = n == want;
  return n;
}
std::string lossy(std::string_view s) {
  std::string out;
  for (bool whole; !s.empty();) {
    const size_t n = character(s, &whole);
    out += whole ? s.substr(0, n) : "\uFFFD";
    s.remove_prefix(n);
  }
  return out;
}

// What there is to say of a generation of these tokens, from their texts alone.
struct Wanted {
  std::string text;
  size_t n_tokens = 0;  // until the stop string was there
  uint32_t stop_index = 0, n_stop_tokens = 0;
  bool stopped = false;
};
Wanted wanted(const Tokens& tokens, const std::vector<std::string>& stops) {
  Wanted w;
  std::string raw;
  std::vector<size_t> begins;
  for (const int32_t t : tokens) {
    begins.push_back(raw.size());
    for (const char byte : text_of(t)) {
      raw += byte;
      for (uint32_t i = 0; i < stops.size(); ++i) {
        if (!std::string_view(raw).ends_with(stops[i])) continue;
        const size_t from = raw.size() - stops[i].size();
        w.stopped = true;
        w.stop_index = i;
        w.n_tokens = begins.size();
        for (size_t j = begins.size(); j-- > 0 && !w.n_stop_tokens;)
          if (begins[j] <= from) w.n_stop_tokens = static_cast<uint32_t>(begins.size() - j);
        w.text = lossy(std::string_view(raw).substr(0, from));
        return w;
      }
    }
  }
  w.n_tokens = tokens.size();
  w.text = lossy(raw);
  return w;
}

struct Params {
  linnet_generate_params p{.size = sizeof p};
  std::vector<std::string> texts;
  std::vector<const char*> stop;
  explicit Params(uint32_t max_tokens, const std::vector<std::string>& stops = {}, bool ignore_eos = true) : texts(stops) {
    for (const auto& s : texts) stop.push_back(s.c_str());
    p.max_tokens = max_tokens;
    p.ignore_eos = ignore_eos;
    p.n_stop = static_cast<uint32_t>(stop.size());
    p.stop = stop.data();
  }
  std::vector<std::string> banned_texts;
  std::vector<const char*> banned_list;
  Params& ban(const std::vector<std::string>& strings) {
    banned_texts = strings;
    for (const auto& s : banned_texts) banned_list.push_back(s.c_str());
    p.n_banned = static_cast<uint32_t>(banned_list.size());
    p.banned = banned_list.data();
    return *this;
  }
  Params(const Params&) = delete;
};

struct Got {
  Tokens tokens;
  std::string text;
  linnet_generated end{.size = sizeof end};
  linnet_status status = LINNET_OK;
  size_t taken_back = 0;
};
bool whole_characters(std::string_view s) {
  for (bool whole; !s.empty();) {
    s.remove_prefix(character(s, &whole));
    if (!whole) return false;
  }
  return true;
}
bool holds_any(const std::string& text, const std::vector<std::string>& strings) {
  return std::any_of(strings.begin(), strings.end(), [&](const std::string& s) { return text.find(s) != text.npos; });
}
Got called(const Session& s, uint32_t seq, const Params& g, const std::function<bool(size_t)>& stop_at = {}) {
  Got got;
  struct Heard {
    Got& got;
    const std::function<bool(size_t)>& stop_at;
    bool whole = true;
  } heard{got, stop_at};
  const auto fn = [](void* user, int32_t token, const char* utf8, size_t n) -> int {
    Heard& h = *static_cast<Heard*>(user);
    if (token >= 0) h.got.tokens.push_back(token);
    if (token < -1) {
      const size_t n_back = static_cast<size_t>(-1 - token);
      h.whole = h.whole && n == 0 && n_back <= h.got.tokens.size();
      h.got.tokens.resize(h.got.tokens.size() - std::min(n_back, h.got.tokens.size()));
      h.got.taken_back += n_back;
    }
    h.whole = h.whole && whole_characters({utf8, n});
    h.got.text.append(utf8, n);
    return h.stop_at && h.stop_at(h.got.tokens.size());
  };
  linnet_error err{};
  got.status = linnet_generate(s.s, seq, &g.p, fn, &heard, &got.end, &err);
  CHECK(heard.whole);
  return got;
}
// One step; false at the end.
bool pull(const Session& s, uint32_t seq, Got* got) {
  linnet_generated piece{.size = sizeof piece};
  linnet_error err{};
  got->status = linnet_generate_next(s.s, seq, &piece, &err);
  INFO(err.text);
  if (got->status != LINNET_OK) return false;
  REQUIRE(whole_characters({piece.utf8, piece.n_bytes}));
  got->text.append(piece.utf8, piece.n_bytes);
  if (piece.token >= 0) got->tokens.push_back(piece.token);
  if (piece.token < 0 && piece.n_tokens < got->tokens.size()) {
    got->taken_back += got->tokens.size() - piece.n_tokens;
    got->tokens.resize(piece.n_tokens);
  }
  REQUIRE(piece.n_tokens == got->tokens.size());
  got->end = piece;
  return piece.why == LINNET_STOP_NONE;
}
void begin(const Session& s, uint32_t seq, const Params& g) {
  linnet_error err{};
  check(linnet_generate_begin(s.s, seq, &g.p, &err), err);
}
Got pulled(const Session& s, uint32_t seq, const Params& g) {
  Got got;
  begin(s, seq, g);
  while (pull(s, seq, &got)) {
  }
  return got;
}

Tokens tokens_of(const Session& s, uint32_t seq, size_t first = 0) {
  size_t n = 0;
  linnet_error err{};
  const linnet_status sized = linnet_tokens(s.s, seq, first, nullptr, 0, &n, &err);
  INFO(err.text);
  REQUIRE(sized == (n ? LINNET_TOO_SMALL : LINNET_OK));
  Tokens out(n);
  check(linnet_tokens(s.s, seq, first, out.data(), n, &n, &err), err);
  return out;
}
Tokens operator+(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void draw(const Session& s, uint32_t seq, float temperature, uint64_t seed) {
  const auto p = sampling(temperature, seed);
  linnet_error err{};
  check(linnet_sampling_set(s.s, seq, &p, &err), err);
}
void restart(const Session& s, uint32_t seq, uint64_t seed) {
  linnet_error err{};
  check(linnet_truncate(s.s, seq, 0, &err), err);
  draw(s, seq, 100, seed);  // all tokens are about as likely
  check(linnet_prefill(s.s, seq, kPrompt.data(), kPrompt.size(), &err), err);
}

linnet_session_params sequences(uint32_t n, uint32_t kv = LINNET_I8, uint32_t context = 256) {
  auto p = params(kv, 1, 16, 1, context);
  p.n_sequences = n;
  return p;
}
bool bad_state(const Session& s, uint32_t seq) {
  linnet_generated piece{.size = sizeof piece};
  linnet_error err{};
  return linnet_generate_next(s.s, seq, &piece, &err) == LINNET_BAD_STATE && err.text[0];
}

}  // namespace

TEST_CASE("pulled and called: the same tokens, text and end, which are those of the tokens' texts") {
  const Session s(model(), sequences(2));
  const std::vector<std::vector<std::string>> all = {{},
                                                     {"ab"},
                                                     {"b", "ab", "aab"},
                                                     {"ba\u00E9", "a\u00E9"},
                                                     {"\xA9"},      // the last byte of a character
                                                     {"\xC3"},      // the first
                                                     {"\x9F\x98"},  // in the midst of one
                                                     {"\x82\xAC"
                                                      "a",
                                                      "\u20AC\u20AC"},
                                                     {"x~", "b\u00E9"},
                                                     {std::string(200, 'x') + "~"},
                                                     {"\U0001F600\U0001F600", "\u00E9\U0001F600\u20AC", "aa", "bb"}};
  int stopped = 0, across = 0, behind = 0, ends = 0, whole = 0;
  for (uint64_t seed = 0; seed < (kSlow ? 12 : 60); ++seed)
    for (const auto& stops : all) {
      const Params g(80, stops, seed % 2);
      restart(s, 0, seed), restart(s, 1, seed);
      const Got a = called(s, 0, g), b = pulled(s, 1, g);
      INFO("seed " << seed << ", " << stops.size() << " stops" << (stops.empty() ? "" : ", " + stops[0]));
      REQUIRE((a.status == LINNET_OK && b.status == LINNET_OK));
      REQUIRE(a.tokens == b.tokens);
      REQUIRE((a.text == b.text));
      REQUIRE(bad_state(s, 1));  // after the end
      REQUIRE(tokens_of(s, 0) == kPrompt + a.tokens);
      REQUIRE(tokens_of(s, 1) == kPrompt + a.tokens);
      const Wanted w = wanted(a.tokens, stops);
      REQUIRE((a.text == w.text));
      REQUIRE(w.n_tokens == a.tokens.size());
      for (const linnet_generated& end : {a.end, b.end}) {
        REQUIRE(end.n_tokens == a.tokens.size());
        REQUIRE((end.why == LINNET_STOP_STRING) == w.stopped);
        REQUIRE(end.stop_index == w.stop_index);
        REQUIRE(end.n_stop_tokens == w.n_stop_tokens);
        REQUIRE((w.stopped || end.why == (end.eog >= 0 ? LINNET_STOP_EOS : LINNET_STOP_LENGTH)));
        REQUIRE((end.eog == -1 || (end.eog == kEos && end.why == LINNET_STOP_EOS)));
        REQUIRE((end.why != LINNET_STOP_LENGTH || end.n_tokens == 80));
      }
      REQUIRE((a.end.token == (a.tokens.empty() ? -1 : a.tokens.back()) && !a.end.utf8 && a.end.n_bytes == 0));
      stopped += w.stopped;
      across += w.n_stop_tokens > 1;
      ends += a.end.why == LINNET_STOP_EOS;
      if (w.stopped) behind += !text_of(a.tokens.back()).ends_with(stops[w.stop_index]);
      whole += text_of(w.stopped ? a.tokens.back() : 0).size() == linnet::kHeldBytes;
    }
  std::printf("%d stopped, %d over several tokens, %d with text behind, %d in a long token; %d ended\n", stopped, across, behind, whole,
              ends);
  CHECK((stopped > 50 && across > 2 && behind > 10 && ends > 0 && whole > 0));
}

TEST_CASE("a token whose text is longer than what can be held comes in pieces") {
  REQUIRE(text_of(kFirstLong).size() == linnet::kHeldBytes);
  const Session s(model(), sequences(2));
  int found = 0, pieces = 0, banned = 0;
  for (uint64_t seed = 0; seed < 200 && found < (kSlow ? 5 : 30); ++seed) {
    restart(s, 0, seed);
    const Tokens drawn = called(s, 0, Params(2)).tokens;
    const std::string before = text_of(drawn[0]), text = text_of(drawn[1]);
    if (text.size() < linnet::kHeldBytes || before.empty() || before[before.size() - 1] == 0) continue;
    ++found;
    const std::string held = before.substr(before.size() - std::min<size_t>(before.size(), 200));
    for (const auto& stops : {std::vector<std::string>{},
                              {held + "never"},                                            // held back, and more is than there is room for
                              {held + "never", text.substr(linnet::kHeldBytes - 40, 33)},  // behind it
                              {held + "never", text.substr(text.size() - 3)},              // at the very end
                              {held + text.substr(0, 50), "zz"}})
      for (const uint32_t most : {2u, 3u}) {
        const Params g(most, stops);
        restart(s, 0, seed), restart(s, 1, seed);
        const Got a = called(s, 0, g);
        Got b;
        begin(s, 1, g);
        for (bool more = true; more;) {
          const size_t n = b.tokens.size();
          more = pull(s, 1, &b);
          pieces += more && b.tokens.size() == n;  // no token by this call, and not the end
        }
        const Wanted w = wanted(a.tokens, stops);
        REQUIRE((a.text == w.text && b.text == w.text && a.tokens == b.tokens));
        REQUIRE((a.end.why == b.end.why && (a.end.why == LINNET_STOP_STRING) == w.stopped));
        REQUIRE((a.end.n_stop_tokens == w.n_stop_tokens && b.end.n_stop_tokens == w.n_stop_tokens));
      }
    // A banned string in such a token, of which a part has been passed on: the text ends before it, as before a stop string.
    const std::vector<std::string> ban = {text.substr(text.size() - 14)};
    if (holds_any(before + text.substr(0, text.size() - 1), ban)) continue;
    Params g(3, {held + "never"});
    g.ban(ban);
    restart(s, 0, seed), restart(s, 1, seed);
    const Got a = called(s, 0, g), b = pulled(s, 1, g);
    const Wanted w = wanted({drawn[0], drawn[1]}, ban);
    REQUIRE((a.end.why == LINNET_STOP_BANNED && a.tokens == drawn && a.text == w.text && a.end.n_stop_tokens == 1));
    REQUIRE((b.end.why == LINNET_STOP_BANNED && b.tokens == drawn && b.text == w.text && b.end.n_stop_tokens == 1));
    ++banned;
  }
  std::printf("%d such tokens, %d pieces of their own, %d with a banned string\n", found, pieces, banned);
  CHECK((found >= 5 && pieces >= 5 && banned > 0));
}

namespace {

std::string raw_text(const Tokens& tokens) {
  std::string out;
  for (const int32_t t : tokens) out += text_of(t);
  return out;
}

// Greedy, from the logits of whole prefills: what banned strings mean, written down as it is said. *alone: times that the last token was
// barred alone. Nothing where a token is longer than what can be held.
Tokens greedy_around(const Session& s, const Tokens& prompt, const std::vector<std::string>& bans, size_t n, size_t* times, size_t* alone) {
  Tokens out;
  size_t certain = 0;
  std::vector<std::vector<int32_t>> barred(n + 1);
  linnet_error err{};
  *times = *alone = 0;
  const auto token_at = [&](size_t byte) {
    size_t j = 0;
    for (size_t end = text_of(out[0]).size(); end <= byte;) end += text_of(out[++j]).size();
    return j;
  };
  while (out.size() < n) {
    const Tokens all = prompt + out;
    check(linnet_truncate(s.s, 0, 0, &err), err);
    check(linnet_prefill(s.s, 0, all.data(), all.size(), &err), err);
    const float* row = nullptr;
    size_t n_vocab = 0;
    check(linnet_logits(s.s, 0, 0, &row, &n_vocab, &err), err);
    int32_t best = -1;
    for (int32_t i = 0; i < static_cast<int32_t>(n_vocab); ++i)
      if (std::count(barred[out.size()].begin(), barred[out.size()].end(), i) == 0 && (best < 0 || row[i] > row[best])) best = i;
    out.push_back(best);
    if (text_of(best).size() > 1000) return {};
    const std::string text = raw_text(out);
    size_t first_end = text.npos, from = 0;
    for (const std::string& ban : bans)
      if (const size_t at = text.find(ban); at != text.npos && at + ban.size() < first_end) first_end = at + ban.size(), from = at;
    if (first_end == text.npos) {
      size_t begun = 0;
      const size_t open = text.size() - raw_text(Tokens(out.begin(), out.begin() + static_cast<long>(certain))).size();
      for (const std::string& ban : bans)
        for (size_t k = 1; k < ban.size() && k <= open; ++k)
          if (text.ends_with(ban.substr(0, k))) begun = std::max(begun, k);
      certain = begun ? token_at(text.size() - begun) : out.size();
      continue;
    }
    ++*times;
    size_t j = token_at(from);
    if (j < certain) j = out.size() - 1, ++*alone;
    barred[j].push_back(out[j]);
    for (size_t k = j + 1; k <= n; ++k) barred[k].clear();
    out.resize(j);
  }
  return out;
}

}  // namespace

TEST_CASE("banned strings: greedy, what drawing anew from whole prefills gives") {
  const Session s(model(), sequences(2)), reference(model(), sequences(1));
  linnet_error err{};
  std::mt19937 random(11);
  size_t took_back = 0, over_borders = 0, again = 0, alone = 0, checked = 0;
  for (int round = 0; round < (kSlow ? 20 : 100); ++round) {
    Tokens prompt;
    for (int i = 0; i < 4; ++i) prompt.push_back(259 + static_cast<int32_t>(random() % 155));
    std::vector<std::string> bans;
    size_t times = 0, before = 0, last_alone = 0;
    Tokens want = greedy_around(reference, prompt, {}, 24, &times, &last_alone);
    for (int more = 0; more < 6 && !want.empty(); ++more) {  // each bans something of what came, also of what came instead
      const std::string text = raw_text(want);
      for (int tries = 0; tries < 20 && !text.empty(); ++tries) {
        const size_t from = random() % text.size(), n = 1 + random() % 7;
        const std::string ban = text.substr(from, n);
        if (ban.find('\0') != ban.npos) continue;
        bans.push_back(ban);
        break;
      }
      want = greedy_around(reference, prompt, bans, 24, &times, &last_alone);
      if (want.empty()) break;
      ++checked;
      alone += last_alone;
      again += times > before + 1;
      before = times;
      Params g(24);
      g.ban(bans);
      for (uint32_t seq = 0; seq < 2; ++seq) {
        check(linnet_truncate(s.s, seq, 0, &err), err);
        draw(s, seq, 0, 1);
        check(linnet_prefill(s.s, seq, prompt.data(), prompt.size(), &err), err);
      }
      const Got a = called(s, 0, g), b = pulled(s, 1, g);
      INFO("round " << round << ", " << bans.size() << " bans, " << times << " times");
      REQUIRE((a.status == LINNET_OK && b.status == LINNET_OK));
      REQUIRE((a.end.why == LINNET_STOP_LENGTH && b.end.why == LINNET_STOP_LENGTH));
      REQUIRE(a.tokens == want);
      REQUIRE(b.tokens == want);
      REQUIRE(tokens_of(s, 0) == prompt + want);
      REQUIRE(tokens_of(s, 1) == prompt + want);
      REQUIRE((a.text == lossy(raw_text(want)) && b.text == a.text));
      took_back += times;
      over_borders += a.taken_back + b.taken_back;
    }
  }
  std::printf("%zu texts, %zu times something was taken back, %zu tokens that were told; %zu times again, %zu the last token alone\n",
              checked, took_back, over_borders, again, alone);
  CHECK((checked > 50 && took_back > 50 && over_borders > 10 && again > 5));
}

TEST_CASE("banned strings never come, whatever is drawn: with stop strings, windows, samplers of all kinds") {
  struct Case {
    const char* name;
    uint32_t kv, when, n_rollback;
    bool chain;
  };
  size_t took_back = 0, stopped = 0;
  for (const Case& c : {Case{"", LINNET_I8, LINNET_FULL_STOP, 0, false}, Case{"", LINNET_I8, LINNET_FULL_STOP, 0, true},
                        Case{"", LINNET_KIVI4, LINNET_FULL_STOP, 1, false}, Case{"", LINNET_F16, LINNET_FULL_SINKS, 0, false},
                        Case{"", LINNET_I8, LINNET_FULL_DROP_OLDEST, 2, false}}) {
    auto p = sequences(2, c.kv, c.when == LINNET_FULL_STOP ? 128 : 48);
    p.when_full = c.when;
    p.n_rollback = c.n_rollback;
    const Session s(model(), p), fresh(model(), sequences(1, c.kv, 128));
    linnet_error err{};
    for (uint64_t seed = 0; seed < (kSlow ? 6 : 30); ++seed) {
      const std::vector<std::string> bans = {"a", "b\u00E9", "\x9F\x98\x80\xE2", "\u20AC\u20AC", "xx", "~"};
      Params g(80, seed % 3 ? std::vector<std::string>{} : std::vector<std::string>{"\u00E9\u20AC", "\x7F"});
      g.ban(bans);
      for (uint32_t seq = 0; seq < 2; ++seq) {
        restart(s, seq, seed);
        auto how = sampling(20, seed);
        if (c.chain)
          how.typical_p = 0.9f, how.mirostat = static_cast<uint32_t>(seed % 3), how.mirostat_tau = 8, how.xtc_probability = 0.5f,
          how.repeat_penalty = 1.2f;
        check(linnet_sampling_set(s.s, seq, &how, &err), err);
      }
      const Got a = called(s, 0, g), b = pulled(s, 1, g);
      INFO(c.kv << " " << c.when << " seed " << seed);
      REQUIRE((a.status == LINNET_OK && b.status == LINNET_OK && a.end.why == b.end.why));
      REQUIRE((a.tokens == b.tokens && a.text == b.text));
      const bool banned = a.end.why == LINNET_STOP_BANNED, stop = a.end.why == LINNET_STOP_STRING;
      std::string raw = raw_text(a.tokens);
      const Wanted w = wanted(a.tokens, banned ? bans : g.texts);
      for (const linnet_generated& end : {a.end, b.end}) REQUIRE(end.n_stop_tokens == w.n_stop_tokens);
      REQUIRE(a.text == w.text);
      REQUIRE_FALSE(holds_any(a.text, bans));
      if (w.stopped) REQUIRE((a.end.stop_index == w.stop_index && (banned || stop)));
      if (stop) REQUIRE(w.stopped);
      if (!banned && !stop) REQUIRE_FALSE(holds_any(raw, bans));
      took_back += a.taken_back;
      stopped += stop;
      // What is left in the cache is what a sequence of these tokens alone has.
      if (c.when != LINNET_FULL_STOP || c.kv != LINNET_I8) continue;
      const Tokens all = tokens_of(s, 0);
      const float *row = nullptr, *want = nullptr;
      size_t n = 0;
      check(linnet_prefill(s.s, 0, kPrompt.data(), 1, &err), err);
      check(linnet_truncate(fresh.s, 0, 0, &err), err);
      check(linnet_prefill(fresh.s, 0, all.data(), all.size(), &err), err);
      check(linnet_prefill(fresh.s, 0, kPrompt.data(), 1, &err), err);
      check(linnet_logits(s.s, 0, 0, &row, &n, &err), err);
      check(linnet_logits(fresh.s, 0, 0, &want, &n, &err), err);
      REQUIRE(std::memcmp(row, want, n * sizeof *row) == 0);
    }
  }
  std::printf("%zu tokens were told and taken back; %zu ended at a stop string\n", took_back, stopped);
  CHECK((took_back > (kSlow ? 0u : 50u) && stopped > 0));
}

TEST_CASE("banned strings: states are taken back to a checkpoint as to a mark") {
  namespace c = linnet::convert;
  linnet_error err{};
  c::Source source;
  check(c::source_from_folder("tests/golden/qwen3-5", &source, &err), err);
  c::TokenizerParts parts;
  parts.kind = linnet::tok::kSpm;
  const auto add = [&](const std::string& text, int32_t type) { parts.tokens.push_back(text), parts.types.push_back(type); };
  add("<unk>", 2), add("<s>", 3), add("</s>", 3);
  for (int i = 0; i < 64; ++i) add({char('a' + i % 4), char('a' + i / 4 % 4), char('a' + i / 16)}, 1);
  parts.is_added.assign(parts.tokens.size(), false);
  parts.unk_id = 0, parts.bos_id = 1, parts.eos_id = kEos;
  check(c::build_tokenizer(parts, &source.tokenizer, &err), err);
  c::Options options;
  options.weights = LINNET_I8G64;
  c::Image image;
  check(c::write_to_memory(source, options, &image, &err), err);
  const Model states(image);
  auto p = sequences(1);
  p.n_rollback = 64;
  const Session rows(states, p);
  p.n_rollback = 1;
  p.n_checkpoints = 3;
  p.checkpoint_every = 20;
  const Session checkpoints(states, p);
  p.n_checkpoints = LINNET_CHECKPOINTS_NONE;
  const Session none(states, p);
  const Tokens prompt = {10, 11, 12, 13};
  size_t took_back = 0, otherwise = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const Session* const all[] = {&rows, &checkpoints, &none};
    Got got[3];
    for (int i = 0; i < 3; ++i) {
      check(linnet_truncate(all[i]->s, 0, 0, &err), err);
      draw(*all[i], 0, 100, seed);
      check(linnet_prefill(all[i]->s, 0, prompt.data(), prompt.size(), &err), err);
      Params g(150);
      g.ban({"abcd", "aabb", "dddd", "cacbcc"});
      got[i] = called(*all[i], 0, g);
      REQUIRE(got[i].status == LINNET_OK);
    }
    INFO("seed " << seed);
    REQUIRE((got[0].tokens == got[1].tokens && got[0].text == got[1].text && got[0].taken_back == got[1].taken_back));
    took_back += got[0].taken_back;
    otherwise += got[0].tokens != got[2].tokens;
    const Tokens tokens = tokens_of(checkpoints, 0);
    const float *row = nullptr, *want = nullptr;
    size_t n = 0;
    check(linnet_prefill(checkpoints.s, 0, prompt.data(), 1, &err), err);
    check(linnet_truncate(rows.s, 0, 0, &err), err);
    check(linnet_prefill(rows.s, 0, tokens.data(), tokens.size(), &err), err);
    check(linnet_prefill(rows.s, 0, prompt.data(), 1, &err), err);
    check(linnet_logits(checkpoints.s, 0, 0, &row, &n, &err), err);
    check(linnet_logits(rows.s, 0, 0, &want, &n, &err), err);
    REQUIRE(std::memcmp(row, want, n * sizeof *row) == 0);
  }
  CHECK((took_back > 20 && otherwise > 3));
}

TEST_CASE("banned strings: no way around them is an end, and what is wrong is refused by name") {
  linnet_error err{};
  const auto compiled = [&](const std::string& schema) {
    std::vector<uint8_t> blob(1 << 17);
    size_t n = 0;
    check(linnet_grammar_compile(nullptr, schema.data(), schema.size(), nullptr, LINNET_GRAMMAR_SCHEMA, blob.data(), blob.size(), &n, &err),
          err);
    blob.resize(n);
    return blob;
  };
  const Session s(model(), sequences(2));
  const auto ends = [&](const std::string& schema, const std::vector<std::string>& bans,
                        const std::function<void(linnet_sampling&)>& change) {
    const std::vector<uint8_t> blob = compiled(schema);
    linnet_need need{.size = sizeof need};
    check(linnet_grammar_need(model().m, blob.data(), blob.size(), &need, &err), err);
    const Memory memory(need.bytes);
    linnet_grammar* grammar = nullptr;
    check(linnet_grammar_init(&grammar, memory.p, need.bytes, model().m, blob.data(), blob.size(), &err), err);
    Params g(60, {}, false);
    g.ban(bans);
    Got got[2];
    for (uint32_t seq = 0; seq < 2; ++seq) {
      restart(s, seq, 5);
      auto p = sampling();
      change(p);
      check(linnet_sampling_set(s.s, seq, &p, &err), err);
      check(linnet_grammar_set(s.s, seq, grammar, &err), err);
      got[seq] = seq ? pulled(s, seq, g) : called(s, seq, g);
      check(linnet_grammar_set(s.s, seq, nullptr, &err), err);
      CHECK_FALSE(holds_any(got[seq].text, bans));
      CHECK(tokens_of(s, seq) == kPrompt + got[seq].tokens);
    }
    CHECK((got[0].text == got[1].text && got[0].end.why == got[1].end.why && got[0].tokens == got[1].tokens));
    return got[0];
  };
  const auto as_is = [](linnet_sampling&) {};
  const std::string ab = R"({"type":"array","items":{"enum":["a","b"]},"minItems":2,"maxItems":2})";
  const Got around = ends(ab, {"a"}, as_is);
  CHECK((around.end.why == LINNET_STOP_GRAMMAR && around.text.find("\"b\"") != std::string::npos));
  const Got none = ends(ab, {"a", "b"}, as_is);
  CHECK((none.end.why == LINNET_STOP_BANNED && none.text.starts_with("[") && none.end.n_stop_tokens == 0));
  // "z" is the last that is drawn, and holds text back: all letters are tried before it and behind it.
  const Got many = ends(R"({"type":"string","pattern":"^[zab\u00e9\u20ac\ud83d\ude00]{4}$"})", {"a", "b", "\xC3", "\xE2", "\xF0", "zy"},
                        [](linnet_sampling& p) { p.n_logit_bias = 1, p.bias_tokens[0] = 3 + 'z', p.biases[0] = -100; });
  CHECK((many.end.why == LINNET_STOP_BANNED && many.end.n_stop_tokens == 0 && many.end.stop_index < 5 && many.text == "\"z"));

  restart(s, 0, 1);
  const auto refused = [&](const Params& g, const char* word) {
    CHECK(linnet_generate_begin(s.s, 0, &g.p, &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find(word) != std::string::npos);
  };
  Params bad(5);
  bad.ban({"fine", ""});
  refused(bad, "banned[1]");
  Params wide(5);
  wide.ban({std::string(256, 'x')});
  refused(wide, "banned[0]");
  Params many_of(5);
  many_of.ban(std::vector<std::string>(17, "x"));
  refused(many_of, "n_banned is 17");
  Params null(5);
  null.p.n_banned = 1;
  refused(null, "banned is NULL");
}

TEST_CASE("pulled in turns, looked at between: sequences, formats and windows do not notice each other") {
  struct Case {
    const char* name;
    uint32_t kv, when, context;
  };
  for (const Case& c : {Case{"", LINNET_I8, LINNET_FULL_STOP, 100}, Case{"", LINNET_KIVI4, LINNET_FULL_STOP, 200},
                        Case{"", LINNET_F16, LINNET_FULL_SINKS, 48}, Case{"", LINNET_I8, LINNET_FULL_DROP_OLDEST, 48},
                        Case{"tests/golden/qwen2-window", LINNET_KIVI2, LINNET_FULL_STOP, 200},
                        Case{"tests/golden/mistral-window", LINNET_I8, LINNET_FULL_STOP, 100}}) {
    INFO(c.name << " " << c.kv << " " << c.when);
    const std::unique_ptr<Model> golden = *c.name ? std::make_unique<Model>(c.name, LINNET_I8G64) : nullptr;
    const Model& m = golden ? *golden : model();
    auto p = sequences(4, c.kv, c.context);
    p.when_full = c.when;
    const Session s(m, p), alone(m, p);
    const Params g(c.when == LINNET_FULL_STOP ? 0 : 150);
    const auto prompt = [&](const Session& to, uint32_t seq) {
      linnet_error err{};
      draw(to, seq, 1, seq);
      const Tokens t = {1, 5, static_cast<int32_t>(seq), 9};
      check(linnet_prefill(to.s, seq, t.data(), t.size(), &err), err);
    };
    Got got[4];
    for (uint32_t seq = 0; seq < 4; ++seq) prompt(s, seq), begin(s, seq, g);
    bool going[4] = {true, true, true, true};
    std::mt19937 random(5);
    for (int left = 4, step = 0; left;) {
      const uint32_t seq = static_cast<uint32_t>(random() % 4);
      if (!going[seq]) continue;
      going[seq] = pull(s, seq, &got[seq]);
      left -= !going[seq];
      const float* row = nullptr;
      size_t n = 0;
      linnet_stats stats{.size = sizeof stats};
      REQUIRE(linnet_logits(s.s, seq, 0, &row, &n, nullptr) == LINNET_OK);
      REQUIRE(linnet_stats_get(s.s, &stats, nullptr) == LINNET_OK);
      if (++step % 7 == 0 && got[seq].tokens.size() > 3) {
        const size_t at = kPrompt.size() + got[seq].tokens.size() - 3;
        REQUIRE(tokens_of(s, seq, at) == Tokens(got[seq].tokens.end() - 3, got[seq].tokens.end()));
      }
    }
    for (uint32_t seq = 0; seq < 4; ++seq) {
      prompt(alone, seq);
      const Got want = called(alone, seq, g);
      CHECK((got[seq].tokens == want.tokens && got[seq].text == want.text && got[seq].end.why == want.end.why));
      CHECK(want.end.why == (c.when == LINNET_FULL_STOP ? LINNET_STOP_CONTEXT : LINNET_STOP_LENGTH));
      CHECK(want.tokens.size() == (c.when == LINNET_FULL_STOP ? c.context - 4 : 150));
    }
  }
}

TEST_CASE("cancel ends a pull as it ends a call") {
  const Session s(model(), sequences(2));
  restart(s, 0, 3), restart(s, 1, 3);
  const Params g(40);
  const Got all = called(s, 1, g, [&](size_t n) { return linnet_cancel(s.s), n > 100; });
  CHECK((all.end.why == LINNET_STOP_CANCEL && all.tokens.size() == 1));
  Got got;
  begin(s, 0, g);
  CHECK(pull(s, 0, &got));
  linnet_cancel(s.s);
  CHECK_FALSE(pull(s, 0, &got));
  CHECK((got.status == LINNET_OK && got.end.why == LINNET_STOP_CANCEL && got.end.token == -1 && got.end.n_tokens == 1));
  CHECK((got.tokens == all.tokens && got.text == all.text));
  CHECK(bad_state(s, 0));
  CHECK(tokens_of(s, 0) == kPrompt + got.tokens);
}

TEST_CASE("a grammar holds what is pulled, and says when it is at its end") {
  const std::string schema = R"({"type":"array","items":{"enum":["a","b"]},"minItems":1,"maxItems":4})";
  std::vector<uint8_t> blob(1 << 16);
  size_t n = 0;
  linnet_error err{};
  check(linnet_grammar_compile(nullptr, schema.data(), schema.size(), nullptr, LINNET_GRAMMAR_SCHEMA, blob.data(), blob.size(), &n, &err),
        err);
  linnet_need need{.size = sizeof need};
  check(linnet_grammar_need(model().m, blob.data(), n, &need, &err), err);
  const Memory memory(need.bytes);
  linnet_grammar* grammar = nullptr;
  check(linnet_grammar_init(&grammar, memory.p, need.bytes, model().m, blob.data(), n, &err), err);
  const Session s(model(), sequences(2));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (uint32_t seq = 0; seq < 2; ++seq) {
      restart(s, seq, seed);
      check(linnet_grammar_set(s.s, seq, grammar, &err), err);
    }
    const Params g(60, {}, false);
    const Got a = called(s, 0, g), b = pulled(s, 1, g);
    CHECK((a.end.why == LINNET_STOP_GRAMMAR && b.end.why == LINNET_STOP_GRAMMAR));
    CHECK((a.tokens == b.tokens && a.text == b.text && a.text.starts_with("[\"") && a.text.ends_with("\"]")));
  }
}

TEST_CASE("what changes the sequence ends its generation, and nothing else does") {
  Session s(model(), sequences(3));
  const Params g(50);
  linnet_error err{};
  linnet_generated never{.size = sizeof never};  // whatever the memory held before the session
  for (uint32_t seq = 0; seq < 3; ++seq) {
    CHECK(linnet_generate_next(s.s, seq, &never, &err) == LINNET_BAD_STATE);
    CHECK(std::strstr(err.text, "linnet_generate_begin"));
  }
  const std::vector<uint8_t> state = [&] {
    restart(s, 2, 1);
    size_t n = 0;
    check(linnet_state_need(s.s, 2, &n, &err), err);
    std::vector<uint8_t> out(n);
    check(linnet_state_save(s.s, 2, out.data(), n, &n, &err), err);
    return out;
  }();
  int32_t token = 0;
  const int32_t outside = 1 << 20;
  linnet_generated end{.size = sizeof end};
  const Params one(1), none(1, {""});
  const auto rows = [&](uint32_t seq) { return linnet_rows{sizeof(linnet_rows), seq, 1, kPrompt.data()}; };
  const linnet_rows mine = rows(0), others = rows(1);
  const std::vector<std::pair<const char*, std::function<linnet_status()>>> ends = {
      {"truncate", [&] { return linnet_truncate(s.s, 0, 2, &err); }},
      {"truncate to nothing", [&] { return linnet_truncate(s.s, 0, 0, &err); }},
      {"fork into", [&] { return linnet_fork(s.s, 1, 0, 3, &err); }},
      {"prefill", [&] { return linnet_prefill(s.s, 0, kPrompt.data(), 1, &err); }},
      {"prefill_batch", [&] { return linnet_prefill_batch(s.s, &mine, 1, &err); }},
      {"decode", [&] { return linnet_decode(s.s, 0, &token, &err); }},
      {"generate", [&] { return linnet_generate(s.s, 0, &one.p, nullptr, nullptr, &end, &err); }},
      {"state_load", [&] { return linnet_state_load(s.s, 0, state.data(), state.size(), &err); }}};
  for (const auto& [name, call] : ends) {
    INFO(name);
    restart(s, 0, 1), restart(s, 1, 1);
    CHECK(bad_state(s, 0));  // before a begin
    begin(s, 0, g);
    Got got;
    CHECK(pull(s, 0, &got));
    check(call(), err);
    CHECK(bad_state(s, 0));
  }
  restart(s, 0, 7), restart(s, 1, 7);
  const Got want = called(s, 1, g);
  size_t n = 0;
  const float* row = nullptr;
  std::vector<uint8_t> room(1 << 20);
  linnet_sampling p{.size = sizeof p};
  const std::vector<std::pair<const char*, std::function<linnet_status()>>> keep = {
      {"fork from", [&] { return linnet_fork(s.s, 0, 1, 3, &err); }},
      {"prefill of another", [&] { return linnet_prefill(s.s, 1, kPrompt.data(), 1, &err); }},
      {"prefill_batch of another", [&] { return linnet_prefill_batch(s.s, &others, 1, &err); }},
      {"decode of another", [&] { return linnet_decode(s.s, 1, &token, &err); }},
      {"truncate of another", [&] { return linnet_truncate(s.s, 1, 1, &err); }},
      {"load into another", [&] { return linnet_state_load(s.s, 1, state.data(), state.size(), &err); }},
      {"generate of another", [&] { return linnet_generate(s.s, 1, &one.p, nullptr, nullptr, &end, &err); }},
      {"begin of another", [&] { return linnet_generate_begin(s.s, 1, &g.p, &err); }},
      {"next of another", [&] { return linnet_generate_next(s.s, 1, &end, &err); }},
      {"save", [&] { return linnet_state_save(s.s, 0, room.data(), room.size(), &n, &err); }},
      {"logits", [&] { return linnet_logits(s.s, 0, 0, &row, &n, &err); }},
      {"sampling_get", [&] { return linnet_sampling_get(s.s, 0, &p, &err); }},
      {"length", [&] { return linnet_length(s.s, 0, &n, &err); }},
      {"stats_reset", [&] { return linnet_stats_reset(s.s, &err); }},
      {"truncate to all", [&] { return linnet_length(s.s, 0, &n, &err) ? LINNET_BAD_STATE : linnet_truncate(s.s, 0, n, &err); }}};
  const std::vector<std::pair<const char*, std::function<linnet_status()>>> refused = {
      // they change nothing either
      {"prefill", [&] { return linnet_prefill(s.s, 0, &outside, 1, &err); }},
      {"truncate", [&] { return linnet_truncate(s.s, 0, 10000, &err); }},
      {"fork", [&] { return linnet_fork(s.s, 1, 0, 10000, &err); }},
      {"generate", [&] { return linnet_generate(s.s, 0, &none.p, nullptr, nullptr, &end, &err); }},
      {"begin", [&] { return linnet_generate_begin(s.s, 0, &none.p, &err); }},
      {"load", [&] { return linnet_state_load(s.s, 0, state.data(), state.size() - 1, &err); }}};
  Got got;
  begin(s, 0, g);
  for (const auto& [name, call] : keep) {
    INFO(name);
    check(call(), err);
    REQUIRE(pull(s, 0, &got));
  }
  for (const auto& [name, call] : refused) {
    INFO(name);
    CHECK(call() != LINNET_OK);
    REQUIRE(pull(s, 0, &got));
  }
  end.why = LINNET_STOP_EOS, end.n_tokens = 7;  // of the generation before
  CHECK(linnet_generate(s.s, 0, &none.p, nullptr, nullptr, &end, &err) == LINNET_BAD_ARG);
  CHECK((end.why == LINNET_STOP_NONE && end.n_tokens == 0 && end.token == -1 && end.eog == -1));
  linnet_cancel(s.s);
  CHECK(linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), &err) == LINNET_CANCELLED);
  while (pull(s, 0, &got)) {
  }
  CHECK((got.tokens == want.tokens && got.text == want.text));
}

TEST_CASE("a pool without room: what was asked for in vain changes nothing, and next goes on where there is room again") {
  auto p = sequences(2, LINNET_I8, 64);
  p.n_pool = 64;
  const Session s(model(), p);
  linnet_error err{};
  restart(s, 0, 1);
  const Params g(50);
  const Got want = called(s, 0, g);
  restart(s, 0, 1);
  const Tokens most(44, 300);
  check(linnet_prefill(s.s, 1, most.data(), most.size(), &err), err);
  begin(s, 0, g);
  Got got;
  for (int i = 0; i < 60 && got.status == LINNET_OK; ++i) pull(s, 0, &got);
  CHECK(got.status == LINNET_CONTEXT_FULL);
  CHECK(linnet_prefill(s.s, 0, most.data(), most.size(), &err) == LINNET_CONTEXT_FULL);
  int32_t token = 0;
  CHECK(linnet_decode(s.s, 0, &token, &err) == LINNET_CONTEXT_FULL);
  Got again;
  CHECK_FALSE(pull(s, 0, &again));
  CHECK(again.status == LINNET_CONTEXT_FULL);
  check(linnet_truncate(s.s, 1, 0, &err), err);
  while (pull(s, 0, &got)) {
  }
  CHECK((got.status == LINNET_OK && got.tokens == want.tokens && got.text == want.text && got.end.why == want.end.why));
}

TEST_CASE("a number that is not finite is an error of next, which may be called again") {
  const Model broken(made_model(LINNET_F32));
  const Session s(broken, sequences(2, LINNET_F32));
  float* const weights = reinterpret_cast<float*>(static_cast<char*>(broken.image.data) + broken.image.bytes) - 16 * 40;
  const std::vector<float> sane(weights, weights + 16);
  const auto damage = [&] { std::fill_n(weights, 16, INFINITY); };
  const auto repair = [&] { std::copy(sane.begin(), sane.end(), weights); };
  const Params g(20);
  restart(s, 0, 5);
  const Got want = called(s, 0, g);
  restart(s, 0, 5);
  begin(s, 0, g);
  Got got;
  for (int i = 0; i < 3; ++i) CHECK(pull(s, 0, &got));
  damage();
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(pull(s, 0, &got));
    CHECK(got.status == LINNET_NOT_FINITE);
    CHECK(tokens_of(s, 0) == kPrompt + got.tokens);
  }
  repair();
  while (pull(s, 0, &got)) {
  }
  CHECK((got.status == LINNET_OK && got.tokens == want.tokens && got.text == want.text));
  // A prefill that fails so takes the logits along that a generation was to begin from.
  linnet_error err{};
  restart(s, 0, 5);
  begin(s, 0, g);
  damage();
  CHECK(linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), &err) == LINNET_NOT_FINITE);
  repair();
  CHECK(bad_state(s, 0));
  linnet_generated end{.size = sizeof end};
  CHECK(linnet_generate(s.s, 0, &g.p, nullptr, nullptr, &end, &err) == LINNET_BAD_STATE);
  restart(s, 0, 5);
  CHECK(called(s, 0, g).tokens == want.tokens);
}

TEST_CASE("linnet_tokens: what a sequence holds, however it came to it") {
  const Session s(model(), sequences(3));
  linnet_error err{};
  restart(s, 0, 2);
  CHECK(tokens_of(s, 1).empty());
  CHECK(tokens_of(s, 0) == kPrompt);
  Tokens want = kPrompt;
  for (int i = 0; i < 5; ++i) {
    int32_t token = -1;
    check(linnet_decode(s.s, 0, &token, &err), err);
    want.push_back(token);
  }
  CHECK(tokens_of(s, 0) == want);
  want = want + called(s, 0, Params(6)).tokens;  // the last of them is still to be computed
  CHECK(tokens_of(s, 0) == want);
  for (size_t first = 0; first <= want.size(); ++first)
    CHECK(tokens_of(s, 0, first) == Tokens(want.begin() + static_cast<long>(first), want.end()));
  size_t n = 77;
  int32_t some[4] = {-7, -7, -7, -7};
  CHECK(linnet_tokens(s.s, 0, want.size() + 1, some, 4, &n, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, std::to_string(want.size() + 1).c_str()));
  CHECK(linnet_tokens(s.s, 3, 0, some, 4, &n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_tokens(s.s, 0, 0, nullptr, 4, &n, &err) == LINNET_BAD_ARG);
  CHECK((n == 77 && some[0] == -7));
  CHECK(linnet_tokens(s.s, 0, 2, some, 3, &n, &err) == LINNET_TOO_SMALL);
  CHECK((n == want.size() - 2 && some[0] == want[2] && some[2] == want[4] && some[3] == -7));
  check(linnet_fork(s.s, 0, 1, want.size(), &err), err);
  check(linnet_fork(s.s, 0, 2, 7, &err), err);
  CHECK(tokens_of(s, 1) == want);
  CHECK(tokens_of(s, 2) == Tokens(want.begin(), want.begin() + 7));
  size_t bytes = 0;
  check(linnet_state_need(s.s, 0, &bytes, &err), err);
  std::vector<uint8_t> state(bytes);
  check(linnet_state_save(s.s, 0, state.data(), bytes, &bytes, &err), err);
  check(linnet_truncate(s.s, 0, 3, &err), err);
  CHECK(tokens_of(s, 0) == Tokens(want.begin(), want.begin() + 3));
  check(linnet_state_load(s.s, 2, state.data(), bytes, &err), err);
  CHECK(tokens_of(s, 2) == want);
  check(linnet_truncate(s.s, 2, want.size() - 1, &err), err);  // the one that is still to be computed
  want.pop_back();
  CHECK(tokens_of(s, 2) == want);
}

TEST_CASE("linnet_tokens where old ones are dropped: those that are forgotten are an error with the first known one in it") {
  for (const uint32_t when : {LINNET_FULL_DROP_OLDEST, LINNET_FULL_SINKS, LINNET_FULL_HEAVY_HITTERS}) {
    if (when == LINNET_FULL_HEAVY_HITTERS && kSlow) continue;
    INFO("when_full " << when);
    auto p = sequences(2, LINNET_I8, 48);
    p.when_full = when;
    p.n_rollback = 4;
    const Session s(model(), p);
    Tokens want;
    linnet_error err{};
    draw(s, 0, 100, 9);
    size_t known = 0;
    const size_t all = when == LINNET_FULL_SINKS ? 5000 : 500;
    for (std::mt19937 random(3); want.size() + 16 < all;) {
      Tokens more(1 + random() % 16);
      for (int32_t& t : more) t = static_cast<int32_t>(random() % 400);
      check(linnet_prefill(s.s, 0, more.data(), more.size(), &err), err);
      want = want + more;
      if (random() % 4 == 0) want = want + called(s, 0, Params(1)).tokens;
      size_t n = 0;
      const linnet_status status = linnet_tokens(s.s, 0, 0, nullptr, 0, &n, &err);
      if (status == LINNET_BAD_STATE) {
        const char* const at = std::strstr(err.text, "from ");
        REQUIRE(at);
        const size_t from = std::strtoul(at + 5, nullptr, 10);
        REQUIRE(from >= known);
        known = from;
        CHECK(linnet_tokens(s.s, 0, from - 1, nullptr, 0, &n, &err) == LINNET_BAD_STATE);
      } else {
        REQUIRE((status == LINNET_TOO_SMALL && n == want.size() && known == 0));
      }
      REQUIRE(want.size() - known >= std::min<size_t>(want.size(), 48));
      REQUIRE(tokens_of(s, 0, known) == Tokens(want.begin() + static_cast<long>(known), want.end()));
    }
    CHECK((known > 0) == (when == LINNET_FULL_SINKS));
    check(linnet_fork(s.s, 0, 1, want.size(), &err), err);
    CHECK(tokens_of(s, 1, known) == Tokens(want.begin() + static_cast<long>(known), want.end()));
    check(linnet_truncate(s.s, 0, 0, &err), err);
    CHECK(tokens_of(s, 0).empty());
  }
}

TEST_CASE("linnet_tokens from inside: as before the call in a hook, with what was passed on in a callback") {
  struct Inside {
    linnet_session* s = nullptr;
    Tokens want;
    int calls = 0, wrong = 0;
    void look() {
      if (!s) return;
      Tokens out(want.size() + 4);
      size_t n = 0, length = 0;
      ++calls;
      const linnet_status status = linnet_tokens(s, 0, 0, out.data(), out.size(), &n, nullptr);
      out.resize(n);
      wrong += status != LINNET_OK || out != want || linnet_length(s, 0, &length, nullptr) != LINNET_OK || length != want.size();
    }
  } inside;
  auto p = sequences(1);
  p.n_threads = 2;
  p.parallel_for_user = &inside;
  p.parallel_for = [](void* user, uint32_t, linnet_share_fn share, void* arg) {
    static_cast<Inside*>(user)->look();
    share(arg, 0, 1);
  };
  Session s(model(), p);
  draw(s, 0, 100, 4);
  s.prefill(kPrompt);
  inside.s = s.s;
  inside.want = kPrompt;
  s.prefill({310, 311, 312});
  inside.want = kPrompt + Tokens{310, 311, 312};
  inside.want.push_back(s.decode());
  CHECK((inside.calls >= 2 && inside.wrong == 0));
  inside.calls = 0;
  const Params g(8);
  linnet_generated end{.size = sizeof end};
  linnet_error err{};
  const auto fn = [](void* user, int32_t token, const char*, size_t) {
    Inside& in = *static_cast<Inside*>(user);
    if (token >= 0) in.want.push_back(token);
    in.look();
    return 0;
  };
  check(linnet_generate(s.s, 0, &g.p, fn, &inside, &end, &err), err);
  CHECK((inside.calls >= 8 && inside.wrong == 0));
  inside.s = nullptr;
}
