// linnet chat: a conversation with a model whose file holds a chat format.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli.h"

namespace linnet::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kTool = "/tool ";
constexpr size_t kMaxLine = size_t{1} << 20;  // bytes of one line of input

// The tokens of a conversation, and how many of them the session holds already.
class Conversation {
 public:
  Conversation(const Args& args, Engine& engine) : args_(args), engine_(engine) {}

  // Empties the conversation; what the session computed stays until other tokens come.
  bool begin() {
    tokens_.clear();
    std::vector<int32_t> bos;
    if (!tokenize(args_, engine_, "", LINNET_ADD_SPECIAL, &bos)) return false;
    // Only what stands before a text; an EOS behind it has no place here.
    if (!bos.empty() && bos.front() == engine_.desc.bos_id) tokens_.push_back(bos.front());
    return true;
  }

  bool add(linnet_role role, std::string_view text) { return edge(role, false) && piece(text, 0) && edge(role, true); }

  size_t size() const { return tokens_.size(); }
  void resize(size_t n) { tokens_.resize(n); }

  // The assistant's turn: computes what is new, generates until an end-of-generation token or the text that stands behind an answer. On an
  // error the conversation is as before.
  linnet_status answer(uint32_t n, Answer* out, size_t* n_new, linnet_error* err) {
    const size_t before = tokens_.size();
    const char *prefix = nullptr, *suffix = nullptr;
    if (linnet_chat_format(engine_.model, LINNET_ROLE_ASSISTANT, &prefix, &suffix, err) != LINNET_OK) return LINNET_BAD_STATE;
    if (!edge(LINNET_ROLE_ASSISTANT, false)) return LINNET_BAD_STATE;
    size_t same = static_cast<size_t>(std::mismatch(tokens_.begin(), tokens_.end(), held_.begin(), held_.end()).first - tokens_.begin());
    same = std::min(same, tokens_.size() - 1);  // the last row gives the logits
    linnet_status status = linnet_truncate(engine_.session, 0, same, nullptr);
    if (status != LINNET_OK) status = linnet_truncate(engine_.session, 0, same = 0, err);  // what is to be seen from there was dropped
    if (status == LINNET_OK) status = linnet_stats_reset(engine_.session, err);
    *n_new = tokens_.size() - same;
    if (status == LINNET_OK)
      status = generate(args_, engine_, tokens_.data() + same, *n_new, n, args_.flag("--ignore-eos") ? "" : suffix, out, err);
    size_t length = 0;
    (void)linnet_length(engine_.session, 0, &length, nullptr);
    held_ = tokens_;
    held_.insert(held_.end(), out->tokens.begin(), out->tokens.end());
    held_.resize(std::min(length, held_.size()));
    if (status != LINNET_OK) {
      tokens_.resize(before);
      return status;
    }
    // A stop string is in the sequence, but not in the answer. Where its first token holds text too, that is tokenized anew.
    const size_t n_stop = out->end.n_stop_tokens;
    if (n_stop && !ends_before_token(*out, suffix)) {
      if (!piece(out->text, 0)) return LINNET_BAD_STATE;
    } else {
      tokens_.insert(tokens_.end(), out->tokens.begin(), out->tokens.end() - static_cast<std::ptrdiff_t>(n_stop));
    }
    return edge(LINNET_ROLE_ASSISTANT, true) ? LINNET_OK : LINNET_BAD_STATE;
  }

 private:
  // Whether the tokens that hold the stop string begin with it.
  bool ends_before_token(const Answer& out, const char* suffix) const {
    const std::vector<std::string> stops = args_.texts("--stop");
    const std::string stop = out.end.stop_index < stops.size() ? stops[out.end.stop_index] : suffix;
    std::string text;
    for (size_t i = out.tokens.size() - out.end.n_stop_tokens; i < out.tokens.size() && text.size() < stop.size(); ++i) {
      std::string piece;
      if (!token_text(args_, engine_, out.tokens[i], &piece)) return false;
      text += piece;
    }
    return text.starts_with(stop);
  }
  bool edge(linnet_role role, bool suffix) {
    const char* text[2];
    linnet_error err = {};
    if (linnet_chat_format(engine_.model, role, &text[0], &text[1], &err) == LINNET_OK) return piece(text[suffix], LINNET_PARSE_SPECIAL);
    failed(args_, "%s: %s", engine_.source.c_str(), err.text);
    return false;
  }
  bool piece(std::string_view text, uint32_t flags) {
    std::vector<int32_t> ids;
    if (!tokenize(args_, engine_, text, flags, &ids)) return false;
    tokens_.insert(tokens_.end(), ids.begin(), ids.end());
    return true;
  }

  const Args& args_;
  Engine& engine_;
  std::vector<int32_t> tokens_, held_;
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

bool role_of(const std::string& name, linnet_role* out) {
  for (uint32_t r = LINNET_ROLE_SYSTEM; linnet_role_name(static_cast<linnet_role>(r)); ++r)
    if (name == linnet_role_name(static_cast<linnet_role>(r))) {
      *out = static_cast<linnet_role>(r);
      return true;
    }
  return false;
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

  bool restart() {
    return conversation.begin() && (!args.given("--system") || conversation.add(LINNET_ROLE_SYSTEM, args.text("--system")));
  }

  // [{"role": "user", "content": "..."}, ...] as the whole conversation.
  bool add_messages(const std::string& line) {
    const json messages = json::parse(line, nullptr, false);
    // The parser takes a zero byte for the end.
    if (!messages.is_array() || messages.empty() || line.find('\0') != std::string::npos)
      return failed(args, "line %zu: not a JSON array of messages", number), false;
    if (!restart()) return false;
    for (const json& m : messages) {
      const auto text = [&](const char* key) -> const std::string* {
        const auto at = m.is_object() ? m.find(key) : m.end();
        return m.is_object() && at != m.end() && at->is_string() ? at->get_ptr<const std::string*>() : nullptr;
      };
      const std::string *role = text("role"), *content = text("content");
      linnet_role r = LINNET_ROLE_USER;
      if (!role || !content) return failed(args, "line %zu: a message has no text 'role' and 'content'", number), false;
      if (!role_of(*role, &r)) return failed(args, "line %zu: unknown role '%.40s'", number, role->c_str()), false;
      if (!conversation.add(r, *content)) return false;
    }
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
    if (!begin_draws() || !restart()) return kExitError;
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
        if (!restart()) return kExitError;
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
      const bool answered = conversation.add(tool ? LINNET_ROLE_TOOL : LINNET_ROLE_USER, line) && answer(false);
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

int run(const Args& args) {
  Settings settings;
  Engine engine;
  linnet_sampling draw = {};
  if (const int code = read_sampling(args, &draw); code != kExitOk) return code;
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  const char *prefix = nullptr, *suffix = nullptr;
  linnet_error err = {};
  for (const linnet_role role : {LINNET_ROLE_USER, LINNET_ROLE_ASSISTANT})
    if (linnet_chat_format(engine.model, role, &prefix, &suffix, &err) != LINNET_OK)
      return failed(args, "%s: %s", engine.source.c_str(), err.text);
  if (!engine.start(args, settings.session) || !engine.govern(args, settings.profile) || !engine.constrain(args)) return kExitError;
  interrupt_cancels(engine.session);

  Conversation conversation(args, engine);
  Chat chat{args, engine, draw, conversation, static_cast<uint32_t>(args.count("-n"))};
  int code = kExitError;
  if (!args.given("-p"))
    code = args.json() ? chat.json_lines() : chat.lines();
  else if (chat.begin_draws() && chat.restart() && conversation.add(LINNET_ROLE_USER, args.text("-p")) && chat.answer(true))
    code = kExitOk;
  interrupt_ends();
  return code;
}

}  // namespace

Command chat_command() {
  return {
      "chat",
      "talk with a model whose file holds a chat format",
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
      "Files that only have a Jinja template are refused by name.\n\n"
      "example: linnet chat -m model.gguf -p \"set a timer for ten minutes\"",
      join(
          {
              model_option(),
              {"-p, --prompt", "TEXT", Kind::kText, "one message; without it they come from stdin"},
              {"--system", "TEXT", Kind::kText, "a system message at the beginning"},
              {"-n, --n-tokens", "N", Kind::kCountOrOpen, "tokens of an answer at most; -1 = to its end", "512", 1, 16777216},
          },
          join(join(sampling_options("0"), grammar_options()), join(engine_options(), session_options()))),
      run};
}

}  // namespace linnet::cli
