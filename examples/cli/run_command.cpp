// linnet run: text in, text out.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

struct Output {
  bool json = false;
  std::vector<int32_t> tokens;
  std::string text;
  bool broken = false;  // nobody reads us any more
};

int on_token(void* user, int32_t token, const char* utf8, size_t n_bytes) {
  Output& out = *static_cast<Output*>(user);
  if (token >= 0) out.tokens.push_back(token);
  out.text.append(utf8 ? utf8 : "", n_bytes);
  if (!out.json && n_bytes > 0) {
    std::fwrite(utf8, 1, n_bytes, stdout);
    out.broken = std::fflush(stdout) != 0;
  }
  return out.broken;
}

const char* stop_name(linnet_stop why) {
  switch (why) {
    case LINNET_STOP_EOS: return "eos";
    case LINNET_STOP_STRING: return "string";
    case LINNET_STOP_CANCEL: return "cancel";
    case LINNET_STOP_CALLBACK: return "callback";
    default: return "length";  // a full context too
  }
}

linnet_sampling sampling(const Args& args) {
  linnet_sampling s = {};
  s.size = sizeof s;
  s.temperature = static_cast<float>(args.real("--temp"));
  s.top_k = static_cast<uint32_t>(args.count("--top-k"));
  s.top_p = static_cast<float>(args.real("--top-p"));
  s.min_p = static_cast<float>(args.real("--min-p"));
  s.repeat_penalty = static_cast<float>(args.real("--repeat-penalty"));
  s.presence_penalty = static_cast<float>(args.real("--presence-penalty"));
  s.frequency_penalty = static_cast<float>(args.real("--frequency-penalty"));
  s.penalty_last_n = static_cast<uint32_t>(args.count("--repeat-last-n"));
  s.seed = args.given("--seed") ? args.count("--seed")
                                : static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) & 0xFFFFFFFFu;
  return s;
}

// The prompt's tokens; false after printing what is wrong.
bool read_prompt(const Args& args, const Engine& engine, std::vector<int32_t>* tokens) {
  if (args.given("--tokens")) {
    *tokens = args.ids("--tokens");
    return check_ids(args, engine, *tokens);
  }
  std::string text = args.text("-p");
  if (!args.given("-p")) {
    if (isatty(STDIN_FILENO)) std::fprintf(stderr, "reading the prompt from the terminal, end it with Ctrl-D\n");
    if (!read_stream(stdin, &text)) {
      failed(args, "the prompt could not be read from stdin");
      return false;
    }
    if (!text.empty() && text.back() == '\n') text.pop_back();  // of `echo ... | linnet run`
  }
  if (!tokenize(args, engine, text, token_flags(args, "--raw"), tokens)) return false;
  if (args.flag("--echo") && !args.json()) std::fwrite(text.data(), 1, text.size(), stdout);
  if (tokens->empty()) failed(args, "the prompt is empty");
  return !tokens->empty();
}

void report(const Args& args, const Engine& engine, const Output& out, size_t n_prompt, linnet_stop why, uint64_t seed) {
  linnet_stats stats = {};
  stats.size = sizeof stats;
  linnet_stats_get(engine.session, &stats);
  const double per_s = stats.decode_ns ? static_cast<double>(stats.decode_tokens) / (static_cast<double>(stats.decode_ns) * 1e-9) : 0;
  const double prompt_per_s = stats.prefill_ns ? static_cast<double>(stats.prefill_tokens) / (static_cast<double>(stats.prefill_ns) * 1e-9) : 0;
  const double ttft_ms = static_cast<double>(stats.first_token_ns) * 1e-6;
  if (args.json()) {
    Json().object().field("tokens", out.tokens).field("text", out.text).field("prompt_tokens", static_cast<uint64_t>(n_prompt))
        .field("ttft_ms", ttft_ms).field("tokens_per_s", per_s).field("prompt_tokens_per_s", prompt_per_s)
        .field("max_token_ms", static_cast<double>(stats.max_token_ns) * 1e-6).field("arena_bytes", engine.arena_bytes())
        .field("peak_rss_bytes", peak_rss_bytes()).field("stop", stop_name(why)).field("seed", seed)
        .field("isa", linnet_isa_name(static_cast<linnet_isa>(engine.desc.isa))).field("threads", stats.n_threads)
        .field("weights", engine.desc.weights).end().print();
    return;
  }
  const std::string how = args.real("--temp") > 0 ? "seed " + std::to_string(seed) : "greedy";
  std::fputc('\n', stdout);
  std::fflush(stdout);
  std::fprintf(stderr,
               "\n%zu prompt tokens, %zu generated (%s), %s\nfirst token after %.1f ms, %.1f tokens/s (prompt %.0f tokens/s), %s on %u thread%s\n"
               "memory: %s of linnet's own beside the weights, %s peak of the process\n",
               n_prompt, out.tokens.size(), stop_name(why), how.c_str(), ttft_ms, per_s, prompt_per_s,
               linnet_isa_name(static_cast<linnet_isa>(engine.desc.isa)), stats.n_threads, stats.n_threads == 1 ? "" : "s",
               human_bytes(engine.arena_bytes()).c_str(), human_bytes(peak_rss_bytes()).c_str());
}

// As many positions as this call needs: within what the model was trained for, unless -n asks for more.
uint32_t context_for(const Args& args, const Engine& engine, size_t n_prompt, uint32_t n) {
  const uint64_t needed = n_prompt + n, trained = engine.desc.n_context;
  if (needed <= trained || !args.given("-n")) return static_cast<uint32_t>(std::min(needed, trained));
  std::fprintf(stderr, "linnet run: %llu positions are needed, the model was trained for %llu; the text may get worse\n",
               static_cast<unsigned long long>(needed), static_cast<unsigned long long>(trained));
  return static_cast<uint32_t>(std::min<uint64_t>(needed, 1u << 24));
}

// Prefill, then tokens until something stops. A cancel in either is a clean end.
linnet_status generate(const Args& args, Engine& engine, const std::vector<int32_t>& prompt, uint32_t n, Output* out, linnet_stop* why,
                       linnet_error* err) {
  const std::vector<std::string> stop_texts = args.texts("--stop");
  std::vector<const char*> stops;
  for (const std::string& s : stop_texts) stops.push_back(s.c_str());
  linnet_generate_params params = {};
  params.size = sizeof params;
  params.max_tokens = n;
  params.ignore_eos = args.flag("--ignore-eos");
  params.n_stop = static_cast<uint32_t>(stops.size());
  params.stop = stops.data();
  linnet_status status = linnet_prefill(engine.session, 0, prompt.data(), prompt.size(), err);
  if (status == LINNET_OK) status = linnet_generate(engine.session, 0, &params, on_token, out, why, err);
  if (status != LINNET_CANCELLED) return status;
  *why = LINNET_STOP_CANCEL;
  return LINNET_OK;
}

int run(const Args& args) {
  if (args.given("--typical-p")) return failed(args, "typical-p is not supported yet");
  if (args.given("--tokens") && args.given("-p")) return usage_error(args, "give either -p or --tokens");
  for (const std::string& s : args.texts("--stop"))
    if (s.empty() || s.size() > 255) return usage_error(args, "a stop string has 1 to 255 bytes");
  Settings settings;
  Engine engine;
  on_interrupt_cancel(nullptr);
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  std::vector<int32_t> prompt;
  if (!read_prompt(args, engine, &prompt)) return kExitError;

  const uint32_t n = static_cast<uint32_t>(args.count("-n"));
  if (settings.session.n_context == 0) settings.session.n_context = context_for(args, engine, prompt.size(), n);
  const linnet_sampling draw = sampling(args);
  linnet_error err = {};
  if (!engine.start(args, settings.session)) return kExitError;
  if (linnet_sampling_set(engine.session, &draw, &err) != LINNET_OK) return failed(args, err);
  on_interrupt_cancel(engine.session);

  Output out;
  out.json = args.json();
  linnet_stop why = LINNET_STOP_NONE;
  const linnet_status status = generate(args, engine, prompt, n, &out, &why, &err);
  if (status != LINNET_OK) {
    on_interrupt_cancel(nullptr);
    return failed(args, err);
  }
  report(args, engine, out, prompt.size(), why, draw.seed);
  on_interrupt_cancel(nullptr);
  return kExitOk;
}

}  // namespace

Command run_command() {
  return {"run", "generate text (what belongs to no answer goes to stderr)", "", 0, 0,
          "The prompt comes from -p, --tokens or stdin (one newline at its end is dropped). The same seed gives the same text on every machine.\n\n"
          "example: linnet run -m model.gguf -p \"Once upon a time\" -n 200 --temp 0",
          join(
              {
                  model_option(),
                  {"-p, --prompt", "TEXT", Kind::kText, "prompt"},
                  {"--tokens", "IDS", Kind::kIds, "prompt as token ids: 1,2,3"},
                  {"-n, --n-tokens", "N", Kind::kCount, "tokens to generate at most", "512", 1, 16777216},
                  {"--temp", "T", Kind::kReal, "temperature; 0 = always the likeliest token", "0.8", 0, 100},
                  {"--top-k", "K", Kind::kCount, "draw from the K likeliest; 0 = all", "40"},
                  {"--top-p", "P", Kind::kReal, "draw from the smallest set of this probability; 1 = all", "0.95", 0, 1},
                  {"--min-p", "P", Kind::kReal, "drop tokens below P times the likeliest; 0 = none", "0.05", 0, 1},
                  {"--typical-p", "P", Kind::kReal, "not supported yet", nullptr, 0, 1},
                  {"--repeat-penalty", "F", Kind::kReal, "on logits of tokens seen; 1 = off", "1", 0, 100},
                  {"--presence-penalty", "F", Kind::kReal, "subtracted from logits of tokens seen", "0", -100, 100},
                  {"--frequency-penalty", "F", Kind::kReal, "the same, per occurrence", "0", -100, 100},
                  {"--repeat-last-n", "N", Kind::kCount, "tokens that the penalties look back", "64", 1, 1024},
                  {"--seed", "S", Kind::kCount, "of the sampler (default: from the clock, printed)", nullptr, 0, 18446744073709549568.0},
                  {"--stop", "TEXT", Kind::kTexts, "stop before this text; may be given up to 16 times"},
                  {"--ignore-eos", nullptr, Kind::kFlag, "go on after end-of-generation tokens"},
                  {"--raw", nullptr, Kind::kFlag, "add no special tokens (BOS) to the prompt"},
                  {"--no-parse-special", nullptr, Kind::kFlag, "special tokens written in the prompt are plain text"},
                  {"--echo", nullptr, Kind::kFlag, "print the prompt before the answer"},
              },
              join(engine_options(), session_options())),
          run};
}

}  // namespace linnet::cli
