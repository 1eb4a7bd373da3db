// linnet chat: a conversation with a model.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli.h"

namespace linnet::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view kTool = "/tool ";
constexpr size_t kMaxLine = size_t{1} << 20;  // bytes of one line of input

// The messages of a conversation, and what the session holds of it.
class Conversation {
 public:
  Conversation(const Args& args, Engine& engine, Template& format, json tools)
      : args_(args), engine_(engine), format_(format), tools_(std::move(tools)) {}

  // Empties the conversation; what the session computed stays until other tokens come.
  void begin() { messages_ = json::array(); }
  void push(json message) { messages_.push_back(std::move(message)); }
  void add(const char* role, std::string_view text) { messages_.push_back({{"role", role}, {"content", text}}); }
  size_t size() const { return messages_.size(); }
  void resize(size_t n) {
    while (messages_.size() > n) messages_.erase(messages_.size() - 1);
  }

  // The assistant's turn: computes what is new, generates until an end-of-generation token or the text that stands behind an answer. On an
  // error the conversation is as before.
  linnet_status answer(uint32_t n, Answer* out, size_t* n_new, linnet_error* err) {
    std::vector<int32_t> tokens;
    if (!render(&tokens)) return LINNET_BAD_STATE;
    size_t same = std::min(keep_, tokens.empty() ? 0 : tokens.size() - 1);  // the last row gives the logits
    linnet_status status = linnet_truncate(engine_.session, 0, same, nullptr);
    if (status != LINNET_OK) status = linnet_truncate(engine_.session, 0, same = 0, err);  // what is to be seen from there was dropped
    if (status == LINNET_OK) status = linnet_stats_reset(engine_.session, err);
    *n_new = tokens.size() - same;
    if (status == LINNET_OK)
      status = generate(args_, engine_, tokens.data() + same, *n_new, n, args_.flag("--ignore-eos") ? "" : format_.stop.c_str(), out, err);
    size_t length = 0;
    (void)linnet_length(engine_.session, 0, &length, nullptr);
    held_ = std::move(tokens);
    held_.insert(held_.end(), out->tokens.begin(), out->tokens.end());
    held_.resize(std::min(length, held_.size()));
    if (status == LINNET_OK) add("assistant", out->text);
    return status;
  }

 private:
  // The whole conversation as tokens, of which the first keep_ are the session's.
  bool render(std::vector<int32_t>* tokens) {
    json conversation = {{"messages", messages_}, {"add_generation_prompt", true}};
    if (!tools_.is_null()) conversation["tools"] = tools_;
    const std::string text = conversation.dump(-1, ' ', false, json::error_handler_t::replace);
    linnet_rendered out = {};
    out.size = sizeof out;
    return format_.render(args_, text, local_now(), &out) && format_.tokens(args_, engine_, out.text_bytes, held_, tokens, &keep_);
  }

  const Args& args_;
  Engine& engine_;
  Template& format_;
  const json tools_;  // for the template; null: none
  json messages_ = json::array();
  std::vector<int32_t> held_ = {};
  size_t keep_ = 0;
};

enum class Line { kRead, kEnd, kTooLong, kBad };

// One line without its newline (CR LF too). What is wrong is said on stderr: that it is too long, and was skipped, or cannot be read.
Line read_line(const Args& args, std::string* out) {
  out->clear();
  int c;
  while ((c = input_byte()) != EOF && c != '\n')
    if (out->size() <= kMaxLine) out->push_back(static_cast<char>(c));
  if (c == EOF && errno && !interrupted()) {
    failed(args, "stdin could not be read");
    return Line::kBad;
  }
  if (!interrupted() && out->size() > kMaxLine) {
    failed(args, "a line of input is longer than %zu bytes", kMaxLine);
    return Line::kTooLong;
  }
  if (interrupted() || (out->empty() && c == EOF)) return Line::kEnd;
  if (!out->empty() && out->back() == '\r') out->pop_back();
  return Line::kRead;
}

struct Chat {
  const Args& args;
  Engine& engine;
  const linnet_sampling& draw;
  Conversation& conversation;
  uint32_t n;
  size_t number = 0;  // of the line, where each line is a conversation

  // One answer; false after printing what is wrong.
  bool answer(bool report) {
    Answer out;
    out.silent = args.json();
    size_t n_new = 0;
    linnet_error err = {};
    const linnet_status status = conversation.answer(n, &out, &n_new, &err);
    if (status != LINNET_OK) {
      if (err.code && number)
        failed(args, "line %zu: %s", number, err.text);
      else if (err.code)
        failed(args, err);
      if (status == LINNET_CONTEXT_FULL) full(report);
      return false;
    }
    if (report)
      report_answer(args, engine, out, n_new, draw);
    else
      std::putchar('\n');
    if (!out.broken && out.end.why == LINNET_STOP_CONTEXT) full(report);
    return std::fflush(stdout) == 0 && !out.broken;
  }

  void full(bool report) const {
    if (!report && says(Log::kNote)) std::fprintf(stderr, "(the context is full: /reset begins anew)\n");
  }

  // From the seed again.
  bool begin_draws() {
    linnet_error err = {};
    if (linnet_sampling_set(engine.session, 0, &draw, &err) == LINNET_OK) return true;
    failed(args, err);
    return false;
  }

  void restart() {
    conversation.begin();
    if (args.given("--system")) conversation.add("system", args.text("--system"));
  }

  // [{"role": "user", "content": "..."}, ...] as the whole conversation; what else a message has is for the template.
  bool add_messages(const std::string& line) {
    json messages = json::parse(line, nullptr, false);
    // The parser takes a zero byte for the end.
    if (!messages.is_array() || messages.empty() || line.find('\0') != std::string::npos)
      return failed(args, "line %zu: not a JSON array of messages", number), false;
    for (const json& m : messages)
      if (!m.is_object() || !m.contains("role") || !m["role"].is_string())
        return failed(args, "line %zu: a message has no text 'role'", number), false;
    restart();
    for (json& m : messages) conversation.push(std::move(m));
    return true;
  }

  // A line that has no answer is answered too, so that each answer stays beside its line; the exit code tells of it.
  int json_lines() {
    std::string line;
    for (int code = kExitOk;;) {
      const Line read = read_line(args, &line);
      if (read == Line::kBad || interrupted()) return kExitError;
      if (read == Line::kEnd) return code;
      ++number;
      if (line.empty()) continue;
      if (!begin_draws()) return kExitError;
      if (read == Line::kRead && add_messages(line) && answer(true)) continue;
      if (interrupted() || std::ferror(stdout)) return kExitError;
      code = kExitError;
      Json().object().field("line", uint64_t{number}).field("stop", "error").end().print();
      if (std::fflush(stdout) != 0) return kExitError;
    }
  }

  int lines() {
    const bool terminal = on_terminal(stdin);
    if (terminal && says(Log::kInfo))
      std::fprintf(stderr,
                   "Each line is a message (//... one that begins with /). /tool TEXT gives a tool's result, /reset begins anew, Ctrl-C "
                   "ends an answer, /exit or %s "
                   "the chat.\n",
                   kEndOfInput);
    if (!begin_draws()) return kExitError;
    restart();
    std::string line;
    // A message that cannot be answered is forgotten; where nobody sees that, the exit code tells of it.
    for (int code = kExitOk;;) {
      if (terminal) std::fputs("> ", stderr);
      const Line read = read_line(args, &line);
      if (terminal && interrupted() == SIGINT)
        return interrupt_cancels(engine.session), kExitOk;  // at the prompt it is a way to end the chat
      if (read == Line::kBad || interrupted()) return kExitError;
      if (read == Line::kEnd || line == "/exit") return code;
      if (read == Line::kTooLong && !terminal) code = kExitError;
      if (read == Line::kTooLong || line.empty()) continue;
      if (line == "/reset") {
        restart();
        continue;
      }
      const bool tool = line.starts_with(kTool);
      const bool slash = line.starts_with("//");
      if (line[0] == '/' && !tool && !slash) {
        failed(args, "there is no '%.40s'; /tool TEXT, /reset and /exit are known, // begins a message with /", line.c_str());
        if (!terminal) code = kExitError;
        continue;
      }
      if (tool || slash) line.erase(0, tool ? kTool.size() : 1);
      const size_t before = conversation.size();
      conversation.add(tool ? "tool" : "user", line);
      const bool answered = answer(false);
      if (answered && !interrupted()) continue;
      if (interrupted() == SIGTERM || (!terminal && (interrupted() || std::ferror(stdout)))) return kExitError;
      if (!terminal) code = kExitError;
      conversation.resize(before);
      if (!interrupted()) continue;
      if (says(Log::kNote)) std::fprintf(stderr, "(stopped: the message is forgotten)\n");
      interrupt_cancels(engine.session);
    }
  }
};

// --tools, as templates see them: the list of tools, each with "type" and "function".
bool read_tools(const Args& args, json* out) {
  if (!args.given("--tools")) return true;
  std::string text;
  if (!read_text_file(args, args.text("--tools"), &text)) return false;
  const json given = json::parse(text, nullptr, false);
  if (!given.is_array()) return true;  // what is wrong with it the grammar says
  *out = json::array();
  for (const json& tool : given)
    out->push_back(tool.is_object() && tool.contains("function") ? tool : json{{"type", "function"}, {"function", tool}});
  return true;
}

int run(const Args& args) {
  Settings settings;
  Engine engine;
  linnet_sampling draw = {};
  if (const int code = read_sampling(args, &draw); code != kExitOk) return code;
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  Template format;
  json tools;
  if (!format.open(args, engine, args.text("--template"), args.given("--tools")) || !read_tools(args, &tools)) return kExitError;
  if (!engine.start(args, settings.session) || !engine.govern(args, settings.profile) || !engine.constrain(args)) return kExitError;
  interrupt_cancels(engine.session);

  Conversation conversation(args, engine, format, std::move(tools));
  Chat chat{args, engine, draw, conversation, static_cast<uint32_t>(args.count("-n"))};
  int code = kExitError;
  if (!args.given("-p"))
    code = args.json() ? chat.json_lines() : chat.lines();
  else if (chat.begin_draws()) {
    chat.restart();
    conversation.add("user", args.text("-p"));
    if (chat.answer(true)) code = kExitOk;
  }
  interrupt_ends();
  return code;
}

}  // namespace

Command chat_command() {
  return {
      "chat",
      "talk with a model",
      "",
      0,
      0,
      "Each line of stdin is a message, each answer is streamed to stdout. A line '/tool TEXT' is a tool's result, '/reset' begins "
      "anew, '/exit' ends;\n"
      "a message that begins with / is written with two of them. A message that cannot be answered is forgotten.\n"
      "With --json each line of stdin is a whole conversation, a JSON array of {\"role\", \"content\"}, and each line of stdout the "
      "answer to it with its\n"
      "speed (\"stop\": \"error\" where there is none); what two conversations have in common at their beginning is computed once. With "
      "-p one message is\nanswered.\n"
      "The conversation is written as the model's own chat template says, or as the format in its file does.\n\n"
      "example: linnet chat -m model.gguf -p \"set a timer for ten minutes\"",
      join(
          {
              model_option(),
              {"-p, --prompt", "TEXT", Kind::kText, "one message; without it they come from stdin"},
              {"--system", "TEXT", Kind::kText, "a system message at the beginning"},
              {"--template", "NAME|FILE", Kind::kText, "one of several templates of the model (tool_use), or a Jinja text"},
              {"-n, --n-tokens", "N", Kind::kCountOrOpen, "tokens of an answer at most; -1 = to its end", "512", 1, 16777216},
          },
          join(join(sampling_options("0"), grammar_options()), join(engine_options(), session_options()))),
      run};
}

}  // namespace linnet::cli
