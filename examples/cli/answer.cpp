// Generating: what `linnet run` and `linnet chat` share.
#include <algorithm>
#include <chrono>
#include <cstdio>
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
    const std::string& next = hidden_.front();
    const size_t at = coming_.find(next);
    if (at == std::string::npos) break;
    shown += coming_.substr(0, at);
    coming_.erase(0, at + next.size());
    hidden_.erase(hidden_.begin());
  }
  size_t keep = hidden_.empty() ? 0 : std::min(coming_.size(), hidden_.front().size() - 1);
  while (keep > 0 && !coming_.ends_with(std::string_view(hidden_.front()).substr(0, keep))) --keep;
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

int Answer::on_token(void* answer, int32_t token, const char* utf8, size_t n_bytes) {
  Answer& out = *static_cast<Answer*>(answer);
  try {
    if (token >= 0) out.tokens.push_back(token);
    uint32_t kind = 0;
    if (token >= 0 && out.hides && linnet_token_kind(out.hides, token, &kind, nullptr) == LINNET_OK && kind & LINNET_TOKEN_SPECIAL) {
      size_t n = 0;
      (void)linnet_token_text(out.hides, token, nullptr, 0, &n, nullptr);  // for the size
      std::string hidden(n, '\0');
      if (n > 0 && linnet_token_text(out.hides, token, hidden.data(), n, &n, nullptr) == LINNET_OK &&
          !(out.parts && out.parts->is_mark(hidden)))
        out.hidden_.push_back(hidden);
    }
    out.show({utf8 ? utf8 : "", n_bytes});
  } catch (...) {
    out.thrown = std::current_exception();
    return 1;
  }
  return out.broken;
}

linnet_status generate(const Args& args, Engine& engine, const int32_t* prompt, size_t n_prompt, uint32_t n, const char* stop, Answer* out,
                       linnet_error* err) {
  const std::vector<std::string> stop_texts = args.texts("--stop");
  std::vector<const char*> stops;
  for (const std::string& s : stop_texts) stops.push_back(s.c_str());
  if (stop[0]) stops.push_back(stop);
  linnet_generate_params params = {};
  params.size = sizeof params;
  params.max_tokens = n;
  params.ignore_eos = args.flag("--ignore-eos");
  params.n_stop = static_cast<uint32_t>(stops.size());
  params.stop = stops.data();
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
  if (status == LINNET_OK) status = linnet_generate(engine.session, 0, &params, Answer::on_token, out, &out->end, err);
  if (out->thrown) std::rethrow_exception(out->thrown);
  out->finish();
  if (status != LINNET_CANCELLED) return status;
  out->end.why = LINNET_STOP_CANCEL;
  return LINNET_OK;
}

int read_sampling(const Args& args, linnet_sampling* out) {
  for (const std::string& s : args.texts("--stop"))
    if (s.empty() || s.size() > 255) return usage_error(args, "a stop string has 1 to 255 bytes");
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
      {"-s, --seed", "S", Kind::kCountOrOpen, "of the sampler; -1 = from the clock, printed (default)", nullptr, 0, UINT64_MAX},
      {"--stop", "TEXT", Kind::kTexts, "stop before this text; may be given up to 16 times"},
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
    json.field("state_tokens", static_cast<uint64_t>(out.n_state))
        .field("prompt_tokens", static_cast<uint64_t>(n_prompt))
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
