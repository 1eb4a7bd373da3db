// linnet run: text in, text out.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

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

// As many positions as this call needs: within what the model was trained for, unless -n asks for more.
uint32_t context_for(const Args& args, const Engine& engine, size_t n_prompt, uint32_t n) {
  const uint64_t needed = n_prompt + n, trained = engine.desc.n_context;
  if (needed <= trained || !args.given("-n")) return static_cast<uint32_t>(std::min(needed, trained));
  std::fprintf(stderr, "linnet run: %llu positions are needed, the model was trained for %llu; the text may get worse\n",
               static_cast<unsigned long long>(needed), static_cast<unsigned long long>(trained));
  return static_cast<uint32_t>(std::min<uint64_t>(needed, 1u << 24));
}

int run(const Args& args) {
  if (args.given("--tokens") && args.given("-p")) return usage_error(args, "give either -p or --tokens");
  linnet_sampling draw = {};
  if (const int code = read_sampling(args, &draw); code != kExitOk) return code;
  Settings settings;
  Engine engine;
  on_interrupt_cancel(nullptr);
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  std::vector<int32_t> prompt;
  if (!read_prompt(args, engine, &prompt)) return kExitError;

  const uint32_t n = static_cast<uint32_t>(args.count("-n"));
  if (settings.session.n_context == 0) settings.session.n_context = context_for(args, engine, prompt.size(), n);
  linnet_error err = {};
  if (!engine.start(args, settings.session)) return kExitError;
  if (linnet_sampling_set(engine.session, &draw, &err) != LINNET_OK) return failed(args, err);
  on_interrupt_cancel(engine.session);

  Answer out;
  out.silent = args.json();
  if (generate(args, engine, prompt.data(), prompt.size(), n, "", &out, &err) != LINNET_OK) {
    on_interrupt_cancel(nullptr);
    return failed(args, err);
  }
  report_answer(args, engine, out, prompt.size(), draw);
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
                  {"--raw", nullptr, Kind::kFlag, "add no special tokens (BOS) to the prompt"},
                  {"--no-parse-special", nullptr, Kind::kFlag, "special tokens written in the prompt are plain text"},
                  {"--echo", nullptr, Kind::kFlag, "print the prompt before the answer"},
              },
              join(sampling_options("0.8"), join(engine_options(), session_options()))),
          run};
}

}  // namespace linnet::cli
