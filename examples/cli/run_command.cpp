// linnet run: text in, text out.
#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {
namespace {

// The prompt's tokens; false after printing what is wrong. What follows a saved sequence begins without BOS and may be empty.
bool read_prompt(const Args& args, const Engine& engine, bool follows, std::vector<int32_t>* tokens) {
  if (args.given("--tokens")) {
    *tokens = args.ids("--tokens");
    return check_ids(args, engine, *tokens);
  }
  const bool positional = !args.positional().empty();
  std::string text = positional ? args.positional()[0] : args.text("-p");
  if (!positional && !args.given("-p")) {
    if (on_terminal(stdin) && says(Log::kInfo)) std::fprintf(stderr, "reading the prompt from the terminal, end it with %s\n", kEndOfInput);
    if (!read_stdin(&text)) {
      failed(args, "the prompt could not be read from stdin");
      return false;
    }
    if (text.ends_with('\n')) text.resize(text.size() - (text.ends_with("\r\n") ? 2 : 1));  // of `echo ... | linnet run`
  }
  uint32_t flags = token_flags(args, "--raw");
  if (follows) flags &= ~uint32_t{LINNET_ADD_SPECIAL};
  if (!tokenize(args, engine, text, flags, tokens)) return false;
  if (args.flag("--echo") && !args.json()) std::fwrite(text.data(), 1, text.size(), stdout);
  if (tokens->empty() && !follows) failed(args, "the prompt is empty");
  return !tokens->empty() || follows;
}

// Tokens of the sequence that --state FILE holds, 0 where there is no such file yet; false after printing what is wrong.
bool state_tokens(const Args& args, const std::string& path, size_t* n) {
  *n = 0;
  if (path.empty() || (!path_access(path, F_OK) && errno == ENOENT)) return true;
  linnet_error err = {};
  linnet_view view = {};
  linnet_status status = linnet_file_map(path.c_str(), LINNET_LOAD_MAP, &view, &err);
  const bool mapped = status == LINNET_OK;
  if (mapped) status = linnet_state_length(view.data, view.bytes, n, &err);
  linnet_file_unmap(&view);
  if (status == LINNET_OK) return true;
  if (mapped)
    failed(args, "%s: %s", path.c_str(), err.text);
  else
    failed(args, err);
  return false;
}

// The sampling of the command line, or the state's where it is loaded and no option asks for another. *draw becomes what is used.
bool begin_session(const Args& args, Engine& engine, const std::string& state, bool load, linnet_sampling* draw) {
  linnet_error err = {};
  if (load && linnet_state_load_file(engine.session, 0, state.c_str(), &err) != LINNET_OK) {
    failed(args, err);
    return false;
  }
  bool asked = !load;
  for (const Option& option : sampling_options(""))
    if (const std::string name = names_of(option)[0]; name != "--stop" && name != "--banned-string" && name != "--logprobs")
      asked |= option.kind != Kind::kFlag && args.given(name.c_str());
  const linnet_status status =
      asked ? linnet_sampling_set(engine.session, 0, draw, &err) : linnet_sampling_get(engine.session, 0, draw, &err);
  return status == LINNET_OK || (failed(args, err), false);
}

// As many positions as this call needs: within what the model was trained for, unless -n asks for more.
uint32_t context_for(const Args& args, const Engine& engine, uint64_t needed) {
  const uint64_t trained = engine.desc.n_context;
  if (needed <= trained || !args.given("-n") || args.open("-n")) return static_cast<uint32_t>(std::min(needed, trained));
  say(args, Log::kNote, "%llu positions are needed, the model was trained for %llu; the text may get worse",
      static_cast<unsigned long long>(needed), static_cast<unsigned long long>(trained));
  return static_cast<uint32_t>(std::min<uint64_t>(needed, 1u << 24));
}

int run(const Args& args) {
  if (args.given("--tokens") + args.given("-p") + !args.positional().empty() > 1)
    return usage_error(args, "give one of PROMPT, -p and --tokens");
  linnet_sampling draw = {};
  if (const int code = read_sampling(args, &draw); code != kExitOk) return code;
  Settings settings;
  Engine engine;
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  const std::string state = args.text("--state");
  Answer out;
  std::vector<int32_t> prompt;
  if (!state_tokens(args, state, &out.n_state) || !read_prompt(args, engine, out.n_state > 0, &prompt)) return kExitError;

  const uint32_t n = static_cast<uint32_t>(args.count("-n"));
  linnet_session_params& session = settings.session;
  uint64_t length = out.n_state + prompt.size() + uint64_t{n};
  if (args.open("-n") && session.when_full == LINNET_FULL_STOP)  // it ends with the context
    length = session.n_context ? session.n_context : engine.desc.n_context;
  if (session.n_context == 0 && session.when_full == LINNET_FULL_STOP) session.n_context = context_for(args, engine, length);
  session.rope_length = static_cast<uint32_t>(std::min<uint64_t>(length, 1u << 24));
  jump_forward(args, &session);
  linnet_error err = {};
  if (!engine.start(args, session) || !engine.govern(args, settings.profile) || !engine.constrain(args, nullptr) ||
      !begin_session(args, engine, state, out.n_state > 0, &draw))
    return kExitError;
  interrupt_cancels(engine.session);

  out.silent = args.json();
  linnet_status status = generate(args, engine, prompt.data(), prompt.size(), n, "", &out, &err);
  size_t held = 0;
  if (status == LINNET_OK) status = linnet_length(engine.session, 0, &held, &err);
  if (status == LINNET_OK && !state.empty() && held) status = linnet_state_save_file(engine.session, 0, state.c_str(), &err);
  interrupt_ends();
  if (status != LINNET_OK) return failed(args, err);
  if (!(interrupted() && out.broken)) report_answer(args, engine, out, prompt.size(), draw);
  return kExitOk;
}

}  // namespace

Command run_command() {
  return {"run",
          "generate text (what belongs to no answer goes to stderr)",
          "[PROMPT]",
          0,
          1,
          "The prompt comes from PROMPT, -p, --tokens or stdin (one newline at its end is dropped, CR LF too). The same seed gives the "
          "same text "
          "on every machine.\n"
          "With --state, runs follow each other as if they were one: a prompt continues the sequence that FILE holds (without BOS, and may "
          "be empty), drawing goes\n"
          "on as it was set up unless a sampling option is given, and FILE is replaced at once. Model and --kv must be those that it was "
          "made with.\n\n"
          "example: linnet run -m model.gguf -p \"Once upon a time\" -n 200 --temp 0",
          join(
              {
                  model_option(),
                  {"-p, --prompt", "TEXT", Kind::kText, "prompt"},
                  {"--tokens", "IDS", Kind::kIds, "prompt as token ids: 1,2,3 or [1,2,3]"},
                  {"-n, --n-tokens", "N", Kind::kCountOrOpen, "tokens to generate at most; -1 = to the end, or of the context", "512", 1,
                   16777216},
                  {"--raw", nullptr, Kind::kFlag, "add no special tokens (BOS) to the prompt"},
                  {"--no-parse-special", nullptr, Kind::kFlag, "special tokens written in the prompt are plain text"},
                  {"--echo", nullptr, Kind::kFlag, "print the prompt before the answer"},
                  {"--state", "FILE", Kind::kPath, "continue the sequence in FILE if there is one, and save it there afterwards"},
              },
              join(join(sampling_options("0.8"), grammar_options()), join(engine_options(), session_options()))),
          run};
}

}  // namespace linnet::cli
