// Generating: what `linnet run` and `linnet chat` share.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

#include "cli.h"

namespace linnet::cli {

bool Parts::open(const Args& args, const Template& format, bool hide, size_t call_bytes) {
  hide_ = hide;
  styled_ = shows_style(stdout);
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  if (linnet_answer_need(call_bytes, &need, &err) != LINNET_OK) return failed(args, err), false;
  if (!memory_.alloc(need.bytes)) return failed(args, "no memory for the answer's %zu bytes", need.bytes), false;
  return linnet_answer_init(&answer_, memory_.data, memory_.bytes, format.handle, call_bytes, &err) == LINNET_OK ||
         (failed(args, err), false);
}

linnet_status Parts::begin(std::string_view tools, linnet_error* err) {
  content.clear(), reasoning.clear(), calls.clear(), shown_.clear();
  thinks_ = called_ = false;
  thrown_ = nullptr;
  const auto hears = [](void* self, const linnet_answer_event* event) {
    Parts& parts = *static_cast<Parts*>(self);
    if (parts.thrown_) return;
    try {
      parts.hear(*event);
    } catch (...) {
      parts.thrown_ = std::current_exception();
    }
  };
  return linnet_answer_begin(answer_, tools.data(), tools.size(), hears, this, err);
}

void Parts::rethrow() {
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}
bool Parts::is_mark(std::string_view text) const {
  uint32_t is = 0;
  return linnet_answer_is_mark(answer_, text.data(), text.size(), &is, nullptr) == LINNET_OK && is;
}
std::string Parts::feed(std::string_view text) {
  (void)linnet_answer_feed(answer_, text.data(), text.size(), nullptr);  // it has begun
  rethrow();
  return std::exchange(shown_, "");
}
std::string Parts::end() {
  (void)linnet_answer_end(answer_, nullptr);
  rethrow();
  end_thought();
  return std::exchange(shown_, "");
}

void put_calls(Json* json, const Parts& parts) {
  json->key("tool_calls").array();
  for (const Parts::Call& call : parts.calls) {
    json->object().field("name", call.name).key("arguments").raw(call.arguments);
    if (!call.id.empty()) json->field("id", call.id);
    json->end();
  }
  json->end();
}

std::string Parts::Call::line() const {
  Json json;
  return json.object().field("name", name).key("arguments").raw(arguments).end().text();
}

// JSON on one line, without white space.
static std::string compact(std::string_view json) {
  std::string out;
  bool text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (!text && std::string_view(" \t\r\n").find(json[i]) != std::string_view::npos) continue;
    if (json[i] == '"') text = !text;
    out += json[i];
    if (text && json[i] == '\\' && i + 1 < json.size()) out += json[++i];
  }
  return out;
}

void Parts::hear(const linnet_answer_event& event) {
  const std::string_view text(event.text, event.text_bytes);
  switch (event.kind) {
    case LINNET_ANSWER_REASONING:
      end_call();
      if (!hide_ && !thinks_) shown_ += styled_ ? "\x1b[2m" : "<think>\n";
      thinks_ = true;
      reasoning += text;
      if (!hide_) shown_ += text;
      break;
    case LINNET_ANSWER_CONTENT:
      end_thought();
      end_call();
      content += text;
      shown_ += text;
      break;
    case LINNET_ANSWER_CALL:
      name_ = text;
      arguments_.clear();
      break;
    case LINNET_ANSWER_ARGUMENTS:
      arguments_ += text;
      break;
    case LINNET_ANSWER_CALL_END: {
      end_thought();
      if (!content.empty() || !calls.empty()) shown_ += '\n';
      calls.push_back({name_, compact(arguments_), std::string(event.id, event.id_bytes)});
      shown_ += calls.back().line();
      called_ = true;
      break;
    }
    default:
      break;
  }
}

void Parts::end_thought() {
  if (thinks_ && !hide_) shown_ += styled_ ? "\x1b[0m\n\n" : "\n</think>\n\n";
  thinks_ = false;
}
// A call has its line for itself.
void Parts::end_call() {
  if (called_) shown_ += '\n';
  called_ = false;
}

// Text comes later than its tokens where it may be a stop string or half a character; what is left out is found in it by itself.
void Answer::show(std::string_view utf8) {
  coming_ += utf8;
  std::string shown;
  while (!hidden_.empty()) {
    const std::string& next = hidden_.front().text;
    const size_t at = coming_.find(next);
    if (at == std::string::npos) break;
    shown += coming_.substr(0, at);
    coming_.erase(0, at + next.size());
    hidden_.erase(hidden_.begin());
  }
  size_t keep = hidden_.empty() ? 0 : std::min(coming_.size(), hidden_.front().text.size() - 1);
  while (keep > 0 && !coming_.ends_with(std::string_view(hidden_.front().text).substr(0, keep))) --keep;
  shown += coming_.substr(0, coming_.size() - keep);
  coming_.erase(0, coming_.size() - keep);
  text += shown;
  write(parts ? parts->feed(shown) : shown);
}

void Answer::write(const std::string& shown) {
  if (silent || shown.empty()) return;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  broken = std::fflush(stdout) != 0;
}

void Answer::finish() {
  hidden_.clear();
  show("");
  if (parts) write(parts->end());
}

// Nothing of their text has been shown.
void Answer::take_back(size_t n) {
  tokens.resize(tokens.size() - n);
  while (!hidden_.empty() && hidden_.back().at >= tokens.size()) hidden_.pop_back();
}

int Answer::on_token(void* answer, int32_t token, const char* utf8, size_t n_bytes) {
  Answer& out = *static_cast<Answer*>(answer);
  try {
    if (token >= 0) out.tokens.push_back(token);
    if (token < -1) out.take_back(static_cast<size_t>(-1 - token));
    uint32_t kind = 0;
    if (token >= 0 && out.hides && linnet_token_kind(out.hides, token, &kind, nullptr) == LINNET_OK && kind & LINNET_TOKEN_SPECIAL) {
      size_t n = 0;
      (void)linnet_token_text(out.hides, token, nullptr, 0, &n, nullptr);  // for the size
      std::string hidden(n, '\0');
      if (n > 0 && linnet_token_text(out.hides, token, hidden.data(), n, &n, nullptr) == LINNET_OK &&
          !(out.parts && out.parts->is_mark(hidden)))
        out.hidden_.push_back({out.tokens.size() - 1, hidden});
    }
    out.show({utf8 ? utf8 : "", n_bytes});
  } catch (...) {
    out.thrown = std::current_exception();
    return 1;
  }
  return out.broken;
}

// As linnet_generate, with a look at the logits that each token was drawn from.
static linnet_status generate_seen(const Args& args, Engine& engine, const linnet_generate_params& params, Answer* out, linnet_error* err) {
  const uint32_t n = std::min(static_cast<uint32_t>(args.count("--logprobs")), engine.desc.n_vocab);
  std::vector<int32_t> tokens(n);
  std::vector<float> values(n);
  linnet_status status = linnet_generate_begin(engine.session, 0, &params, err);
  while (status == LINNET_OK && out->end.why == LINNET_STOP_NONE) {
    status = linnet_generate_next(engine.session, 0, &out->end, err);
    if (status != LINNET_OK) break;
    if (const size_t n_tokens = out->end.n_tokens; n_tokens < out->tokens.size()) {
      out->take_back(out->tokens.size() - n_tokens);
      out->likely.resize(n_tokens * (n + 1));
    }
    if (const int32_t token = out->end.token; token >= 0) {
      float value = 0;
      status = linnet_logprobs(engine.session, 0, 0, token, &value, n, tokens.data(), values.data(), err);
      out->likely.push_back({token, value});
      for (uint32_t i = 0; i < n; ++i) out->likely.push_back({tokens[i], values[i]});
    }
    if (Answer::on_token(out, out->end.token, out->end.utf8, out->end.n_bytes) && out->end.why == LINNET_STOP_NONE)
      out->end.why = LINNET_STOP_CALLBACK;
  }
  return status;
}

linnet_status generate(const Args& args, Engine& engine, const int32_t* prompt, size_t n_prompt, uint32_t n, const char* stop, Answer* out,
                       linnet_error* err) {
  const std::vector<std::string> stop_texts = args.texts("--stop");
  std::vector<const char*> stops;
  for (const std::string& s : stop_texts) stops.push_back(s.c_str());
  if (stop[0]) stops.push_back(stop);
  const std::vector<std::string> banned_texts = args.texts("--banned-string");
  std::vector<const char*> banned;
  for (const std::string& s : banned_texts) banned.push_back(s.c_str());
  linnet_generate_params params = {};
  params.size = sizeof params;
  params.max_tokens = n;
  params.ignore_eos = args.flag("--ignore-eos");
  params.n_stop = static_cast<uint32_t>(stops.size());
  params.stop = stops.data();
  params.n_banned = static_cast<uint32_t>(banned.size());
  params.banned = banned.data();
  // Where old tokens are dropped, calls are short.
  const linnet_session_params& p = engine.params;
  const size_t piece = p.when_full == LINNET_FULL_STOP
                           ? n_prompt
                           : std::min<size_t>(p.n_chunk ? p.n_chunk : 64, p.n_context ? p.n_context : engine.desc.n_context);
  linnet_status status = LINNET_OK;
  for (size_t at = 0; at < n_prompt && status == LINNET_OK; at += piece)
    status = linnet_prefill(engine.session, 0, prompt + at, std::min(piece, n_prompt - at), err);
  if (status == LINNET_OK && engine.grammar)
    status = engine.grammar_template ? linnet_grammar_begin(engine.session, 0, engine.grammar, engine.grammar_template, err)
                                     : linnet_grammar_set(engine.session, 0, engine.grammar, err);
  out->hides = args.flag("--special") ? nullptr : engine.model;
  if (status == LINNET_OK)
    status = args.given("--logprobs") ? generate_seen(args, engine, params, out, err)
                                      : linnet_generate(engine.session, 0, &params, Answer::on_token, out, &out->end, err);
  if (out->thrown) std::rethrow_exception(out->thrown);
  out->finish();
  if (status != LINNET_CANCELLED) return status;
  out->end.why = LINNET_STOP_CANCEL;
  return LINNET_OK;
}

static constexpr char kSamplerOrder[] = "penalties;dry;top_n_sigma;top_k;temperature;typical_p;top_p;min_p;xtc";
struct SamplerName {
  const char* name;
  linnet_sampler sampler;
};
constexpr SamplerName kSamplers[] = {{"penalties", LINNET_SAMPLER_PENALTIES},
                                     {"dry", LINNET_SAMPLER_DRY},
                                     {"top_n_sigma", LINNET_SAMPLER_TOP_N_SIGMA},
                                     {"top_k", LINNET_SAMPLER_TOP_K},
                                     {"temperature", LINNET_SAMPLER_TEMPERATURE},
                                     {"typical_p", LINNET_SAMPLER_TYPICAL_P},
                                     {"typ_p", LINNET_SAMPLER_TYPICAL_P},
                                     {"top_p", LINNET_SAMPLER_TOP_P},
                                     {"min_p", LINNET_SAMPLER_MIN_P},
                                     {"xtc", LINNET_SAMPLER_XTC}};

// "top_k;top_p"
static bool read_samplers(const std::string& list, linnet_sampling* out) {
  out->n_samplers = 0;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find_first_of(";,", at), list.size());
    const std::string name = list.substr(at, end - at);
    const auto* known = std::find_if(std::begin(kSamplers), std::end(kSamplers), [&](const SamplerName& s) { return name == s.name; });
    if (known == std::end(kSamplers) || out->n_samplers == std::size(out->samplers)) return false;
    out->samplers[out->n_samplers++] = known->sampler;
    at = end + 1;
  }
  return true;
}

// "1234-2.5", "1234+1", "1234-inf"
static bool read_bias(const std::string& text, linnet_sampling* out) {
  const size_t sign = text.find_first_of("+-");
  if (sign == 0 || sign == text.npos || sign > 9 || out->n_logit_bias == std::size(out->biases)) return false;
  if (text.find_first_not_of("0123456789") != sign) return false;
  const std::string number = text.substr(sign + 1);
  float bias = INFINITY;
  if (number != "inf") {
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), bias);
    if (fault != std::errc() || end != number.data() + number.size() || !(bias >= 0 && bias <= 100)) return false;
  } else if (text[sign] == '+') {
    return false;
  }
  out->bias_tokens[out->n_logit_bias] = static_cast<int32_t>(std::stol(text.substr(0, sign)));
  out->biases[out->n_logit_bias++] = text[sign] == '-' ? -bias : bias;
  return true;
}

// "none" takes away what is there.
static bool read_breakers(const std::vector<std::string>& texts, linnet_sampling* out) {
  size_t n = 0;
  if (!texts.empty()) std::fill(std::begin(out->dry_breakers), std::end(out->dry_breakers), '\0');
  for (const std::string& text : texts) {
    if (text == "none") continue;
    if (text.empty() || n + text.size() + 1 > sizeof out->dry_breakers) return false;
    n = static_cast<size_t>(std::copy(text.begin(), text.end(), out->dry_breakers + n) - out->dry_breakers) + 1;
  }
  return true;
}

int read_sampling(const Args& args, linnet_sampling* out) {
  if (args.given("--logprobs") && !args.json()) return usage_error(args, "option '--logprobs' goes with '--json'");
  for (const std::string& s : args.texts("--stop"))
    if (s.empty() || s.size() > 255) return usage_error(args, "a stop string has 1 to 255 bytes");
  for (const std::string& s : args.texts("--banned-string"))
    if (s.empty() || s.size() > 255)
      return usage_error(args, "option '--banned-string' takes 1 to 255 bytes, not %zu: '%.32s'", s.size(), s.c_str());
  linnet_error err = {};
  *out = {};
  out->size = sizeof *out;
  if (linnet_sampling_init(out, &err) != LINNET_OK) return failed(args, err);
  out->temperature = static_cast<float>(args.real("--temp"));
  out->top_k = static_cast<uint32_t>(args.count("--top-k"));
  out->top_p = static_cast<float>(args.real("--top-p"));
  out->min_p = static_cast<float>(args.real("--min-p"));
  out->repeat_penalty = static_cast<float>(args.real("--repeat-penalty"));
  out->presence_penalty = static_cast<float>(args.real("--presence-penalty"));
  out->frequency_penalty = static_cast<float>(args.real("--frequency-penalty"));
  out->penalty_last_n = static_cast<uint32_t>(args.count("--repeat-last-n"));
  out->typical_p = static_cast<float>(args.real("--typical-p"));
  out->top_n_sigma = static_cast<float>(args.real("--top-n-sigma"));
  out->xtc_probability = static_cast<float>(args.real("--xtc-probability"));
  out->xtc_threshold = static_cast<float>(args.real("--xtc-threshold"));
  out->min_keep = static_cast<uint32_t>(args.count("--min-keep"));
  out->dynatemp_range = static_cast<float>(args.real("--dynatemp-range"));
  out->dynatemp_exponent = static_cast<float>(args.real("--dynatemp-exp"));
  out->dry_multiplier = static_cast<float>(args.real("--dry-multiplier"));
  out->dry_base = static_cast<float>(args.real("--dry-base"));
  out->dry_allowed_length = static_cast<uint32_t>(args.count("--dry-allowed-length"));
  out->dry_last_n = static_cast<uint32_t>(args.count("--dry-penalty-last-n"));
  out->mirostat = static_cast<uint32_t>(args.count("--mirostat"));
  out->mirostat_tau = static_cast<float>(args.real("--mirostat-ent"));
  out->mirostat_eta = static_cast<float>(args.real("--mirostat-lr"));
  if (!read_breakers(args.texts("--dry-sequence-breaker"), out))
    return usage_error(args, "texts of '--dry-sequence-breaker' take at least a byte each and 127 together, with one between two");
  for (const std::string& bias : args.texts("--logit-bias"))
    if (!read_bias(bias, out))
      return usage_error(args, "option '--logit-bias' takes a token and what is added, '1234+2.5', '1234-inf', up to 128 times, not '%s'",
                         bias.c_str());
  if (args.given("--samplers") && !read_samplers(args.text("--samplers"), out))
    return usage_error(args, "option '--samplers' takes some of %s, not '%s'", kSamplerOrder, args.text("--samplers").c_str());
  out->seed = args.given("--seed") && !args.open("--seed")
                  ? args.count("--seed")
                  : static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) & 0xFFFFFFFFu;
  return kExitOk;
}

Options sampling_options(const char* temperature) {
  return {
      {"--temp", "T", Kind::kReal, "temperature; 0 = always the likeliest token", temperature, 0, 100},
      {"--top-k", "K", Kind::kCount, "draw from the K likeliest; 0 = all", "40"},
      {"--top-p", "P", Kind::kReal, "draw from the smallest set of this probability; 1 = all, 0 = the likeliest token alone", "0.95", 0, 1},
      {"--min-p", "P", Kind::kReal, "drop tokens below P times the likeliest; 0 = none", "0.05", 0, 1},
      {"--repeat-penalty", "F", Kind::kReal, "on logits of tokens seen; 1 = off", "1", 0.001, 100},
      {"--presence-penalty", "F", Kind::kReal, "subtracted from logits of tokens seen", "0", -100, 100},
      {"--frequency-penalty", "F", Kind::kReal, "the same, per occurrence", "0", -100, 100},
      {"--repeat-last-n", "N", Kind::kCount, "tokens that the penalties look back; 0 = none", "64", 0, 1024},
      {"--typical, --typical-p", "P", Kind::kReal,
       "draw from the smallest set of this probability that surprises as is expected; 0, 1 = all", "0", 0, 1},
      {"--top-nsigma, --top-n-sigma", "N", Kind::kReal, "drop logits of more than N standard deviations below the largest; 0 = none", "0",
       0, 100},
      {"--xtc-probability", "P", Kind::kReal, "of dropping all tokens but the last of those that --xtc-threshold says; 0 = never", "0", 0,
       1},
      {"--xtc-threshold", "P", Kind::kReal, "a token's probability, from which on it may be dropped; above 0.5 = never", "0.1", 0, 1},
      {"--min-keep", "N", Kind::kCount, "tokens that typical-p, top-p, min-p and XTC leave at least", "0"},
      {"--dynatemp-range", "T", Kind::kReal, "the temperature goes so far below and above --temp as the entropy is; 0 = stays", "0", 0,
       100},
      {"--dynatemp-exp", "E", Kind::kReal, "power of the entropy's share in that", "1", 0, 100},
      {"--dry-multiplier", "F", Kind::kReal, "penalty on a token that would lengthen a repetition; 0 = off", "0", 0, 100},
      {"--dry-base", "F", Kind::kReal, "times this for each token more of the repetition", "1.75", 1, 100},
      {"--dry-allowed-length", "N", Kind::kCount, "tokens that may repeat", "2", 1, 1024},
      {"--dry-penalty-last-n", "N", Kind::kCount, "tokens looked back for repetitions; 0 = none", "1024", 0, 1024},
      {"--dry-sequence-breaker", "TEXT", Kind::kTexts,
       "no repetition goes over it; in place of newline : \" and *; may be given several times; none = none"},
      {"--mirostat", "N", Kind::kCount, "Mirostat 1 or 2 in place of all samplers that cut; 0 = off", "0", 0, 2},
      {"--mirostat-ent", "B", Kind::kReal, "surprise that Mirostat aims at, in bits (tau)", "5", 0, 100},
      {"--mirostat-lr", "R", Kind::kReal, "its learning rate (eta)", "0.1", 0, 1},
      {"-l, --logit-bias", "ID+B", Kind::kTexts, "added to the logit of a token: 1234+2, 1234-0.5; 1234-inf bans it; up to 128 times"},
      {"--samplers", "LIST", Kind::kText,
       "what is done, and its order: penalties, dry, top_n_sigma, top_k, temperature, typical_p, top_p, min_p, xtc (default)"},
      {"--logprobs", "N", Kind::kCount, "with --json: log probabilities of each token and the N likeliest, before samplers", nullptr, 0,
       1024},
      {"-s, --seed", "S", Kind::kCountOrOpen, "of the sampler; -1 = from the clock, printed (default)", nullptr, 0, UINT64_MAX},
      {"--stop", "TEXT", Kind::kTexts, "stop before this text; may be given up to 16 times"},
      {"--banned-string", "TEXT", Kind::kTexts, "text that never comes: what began it is drawn anew; may be given up to 16 times"},
      {"--ignore-eos", nullptr, Kind::kFlag, "go on after end-of-generation tokens"},
      {"--special", nullptr, Kind::kFlag, "show special tokens of the answer, which are hidden otherwise"},
  };
}

Options grammar_options() {
  return {
      {"--tools", "FILE", Kind::kPath, "answers are text, or a call of one of the tools in FILE (JSON) that obeys its parameters"},
      {"--schema", "FILE", Kind::kPath, "answers are JSON that obeys the schema in FILE"},
      {"--spaced", nullptr, Kind::kFlag, "JSON of --schema and --tools may have white space between its tokens, on one line or indented"},
      {"--any-format", nullptr, Kind::kFlag,
       "a 'format' in --schema and --tools that is not known says nothing; without this it is refused"},
      {"--grammar", "FILE", Kind::kPath, "answers obey the grammar in FILE, or given itself: GBNF, as llama.cpp's"},
      {"--regex", "RE", Kind::kText, "answers are what the regular expression says, from one end to the other"},
      {"--choices", "LIST", Kind::kText, "answers are one of these texts, A,B,C or a JSON array of them"},
  };
}

// [{"token": 1, "logprob": -0.5, "top": [{"token": 1, "logprob": -0.5}, ...]}, ...]
static void put_logprobs(Json* json, const Answer& out) {
  const size_t step = out.tokens.empty() ? 1 : out.likely.size() / out.tokens.size();
  const auto put = [&](const Answer::Likely& l) {
    json->object().field("token", l.token).field("logprob", static_cast<double>(l.logprob));
  };
  json->key("logprobs").array();
  for (size_t i = 0; i < out.likely.size(); i += step) {
    put(out.likely[i]);
    json->key("top").array();
    for (size_t j = i + 1; j < i + step; ++j) {
      put(out.likely[j]);
      json->end();
    }
    json->end().end();
  }
  json->end();
}

void report_answer(const Args& args, const Engine& engine, const Answer& out, size_t n_prompt, const linnet_sampling& draw) {
  linnet_stats stats = {};
  stats.size = sizeof stats;
  (void)linnet_stats_get(engine.session, &stats, nullptr);
  const auto stop_name = [&] {
    switch (out.end.why) {
      case LINNET_STOP_EOS:
        return "eos";
      case LINNET_STOP_STRING:
        return "string";
      case LINNET_STOP_CANCEL:
        return "cancel";
      case LINNET_STOP_CALLBACK:
        return "callback";
      case LINNET_STOP_CONTEXT:
        return "context";
      case LINNET_STOP_GRAMMAR:
        return "grammar";
      case LINNET_STOP_BANNED:
        return "banned";
      default:
        return "length";
    }
  };
  const double per_s = stats.decode_ns ? static_cast<double>(stats.decode_tokens) / (static_cast<double>(stats.decode_ns) * 1e-9) : 0;
  const double prompt_per_s =
      stats.prefill_ns ? static_cast<double>(stats.prefill_tokens) / (static_cast<double>(stats.prefill_ns) * 1e-9) : 0;
  const double ttft_ms = static_cast<double>(stats.first_token_ns) * 1e-6;
  if (args.json()) {
    Json json;
    json.object().field("tokens", out.tokens).field("text", out.parts ? out.parts->content : out.text);
    if (out.parts) {
      json.field("reasoning_content", out.parts->reasoning);
      put_calls(&json, *out.parts);
    }
    if (args.given("--logprobs")) put_logprobs(&json, out);
    json.field("state_tokens", static_cast<uint64_t>(out.n_state))
        .field("prompt_tokens", static_cast<uint64_t>(n_prompt))
        .field("decode_passes", stats.decode_passes)
        .field("ttft_ms", ttft_ms)
        .field("tokens_per_s", per_s)
        .field("prompt_tokens_per_s", prompt_per_s)
        .field("max_token_ms", static_cast<double>(stats.max_token_ns) * 1e-6)
        .field("arena_bytes", engine.arena_bytes())
        .field("peak_rss_bytes", peak_rss_bytes())
        .field("stop", stop_name())
        .field("seed", draw.seed)
        .field("isa", tier_name(engine.desc))
        .field("threads", stats.n_threads)
        .field("weights", engine.desc.weights);
    if (engine.power) {
      const linnet_power_state power = engine.power_state();
      const linnet_reading reading = engine.sensors.last();
      json.key("power")
          .object()
          .field("threads", power.n_threads)
          .field("level", power.level)
          .field("why", power_why(power))
          .field("changes", engine.n_power_changes)
          .field("blind", power.blind != 0)
          .field("cpu_mhz", reading.cpu_mhz)
          .key("temperature");
      if (reading.has & LINNET_HAS_TEMPERATURE)
        json.value(static_cast<double>(reading.temperature));
      else
        json.null();
      json.end();
    }
    json.end().print();
    return;
  }
  const std::string how = draw.temperature > 0 ? "seed " + std::to_string(draw.seed) : "greedy";
  std::fputc('\n', stdout);
  std::fflush(stdout);
  if (!says(Log::kInfo)) return;
  std::fputc('\n', stderr);
  if (out.n_state) std::fprintf(stderr, "%zu tokens of a saved sequence, ", out.n_state);
  std::fprintf(
      stderr,
      "%zu prompt tokens, %zu generated (%s), %s\nfirst token after %.1f ms, %.1f tokens/s (prompt %.0f tokens/s), %s on %u thread%s\n"
      "memory: %s of linnet's own beside the weights, %s peak of the process\n",
      n_prompt, out.tokens.size(), stop_name(), how.c_str(), ttft_ms, per_s, prompt_per_s, tier_name(engine.desc), stats.n_threads,
      stats.n_threads == 1 ? "" : "s", human_bytes(engine.arena_bytes()).c_str(), human_bytes(peak_rss_bytes()).c_str());
  if (engine.power) std::fprintf(stderr, "%s\n", engine.power_text().c_str());
}

}  // namespace linnet::cli
