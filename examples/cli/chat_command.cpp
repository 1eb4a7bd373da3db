// linnet chat: a conversation with a model.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.h"

namespace linnet::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr size_t kMaxSaved = size_t{64} << 20;  // bytes of a saved conversation

// Discarded: it is no JSON, or nested so deep that what copies and writes it would run out of stack.
json parsed(std::string_view text) {
  constexpr int kDeepest = 100;  // templates take 64
  bool deep = false;
  json out = json::parse(text, [&deep](int depth, json::parse_event_t, json&) { return deep |= depth > kDeepest, !deep; }, false);
  return deep ? json(json::value_t::discarded) : out;
}

// The messages of a conversation, and what the session holds of it.
class Conversation {
 public:
  // given: what templates get beside the messages.
  Conversation(const Args& args, Engine& engine, Template& format, json given)
      : args_(args),
        engine_(engine),
        format_(format),
        given_(std::move(given)),
        tools_(given_.contains("tools") ? given_["tools"].dump() : "") {}

  // Empties the conversation; what the session computed stays until other tokens come.
  void begin() { messages_ = json::array(); }
  void push(json message) { messages_.push_back(std::move(message)); }
  void add(const char* role, std::string_view text) { messages_.push_back({{"role", role}, {"content", text}}); }
  size_t size() const { return messages_.size(); }
  // All behind the first n messages.
  json cut(size_t n) {
    json tail = json::array();
    for (size_t i = n; i < messages_.size(); ++i) tail.push_back(std::move(messages_[i]));
    while (messages_.size() > n) messages_.erase(messages_.size() - 1);
    return tail;
  }
  const json& messages() const { return messages_; }
  std::string role(size_t i) const { return messages_[i].value("role", ""); }
  void replace(json messages) { messages_ = std::move(messages); }
  // The system message at the beginning becomes this one, or goes.
  void set_system(const std::optional<std::string>& text) {
    if (!messages_.empty() && role(0) == "system") messages_.erase(0);
    if (text) messages_.insert(messages_.begin(), json{{"role", "system"}, {"content", *text}});
  }

  // Tokens of all messages.
  linnet_status count(size_t* n, linnet_error* err) {
    std::vector<int32_t> tokens;
    size_t keep = 0;
    const linnet_status status = messages_.empty() ? LINNET_OK : render(false, &tokens, &keep, err);
    *n = tokens.size();
    return status;
  }

  // The assistant's turn: computes what is new, generates until an end-of-generation token or the text that stands behind an answer. On an
  // error the conversation is as before, and where the answer was stopped before any of it came.
  linnet_status answer(uint32_t n, Answer* out, size_t* n_new, linnet_error* err) {
    std::vector<int32_t> tokens;
    size_t same = 0;
    if (const linnet_status status = render(true, &tokens, &same, err); status != LINNET_OK) return status;
    if (out->parts)
      if (const linnet_status status = out->parts->begin(tools_, err); status != LINNET_OK) return status;
    same = std::min(same, tokens.empty() ? 0 : tokens.size() - 1);  // the last row gives the logits
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
    if (status != LINNET_OK) return status;
    if (out->parts && (out->parts->calls.empty() || knows_calls()))
      add_answer(*out->parts, out->end.why != LINNET_STOP_CANCEL);
    else if (out->parts && !out->parts->reasoning.empty())
      add("assistant", as_said(*out->parts));
    else if (out->end.why != LINNET_STOP_CANCEL || !out->text.empty())
      add("assistant", out->text);
    return status;
  }

  // A tool's result, for the first call that has none; *left: how many others have none. False: the template knows calls, and none waits.
  bool add_result(std::string_view text, size_t* left) {
    json result = {{"role", "tool"}, {"content", text}};
    size_t at = messages_.size();
    while (at > 0 && role(at - 1) == "tool") --at;
    const size_t n_results = messages_.size() - at;
    const json* const calls = at > 0 && messages_[at - 1].contains("tool_calls") ? &messages_[at - 1]["tool_calls"] : nullptr;
    const bool known = calls && calls->is_array() && n_results < calls->size() && (*calls)[n_results].is_object();
    if (!known && knows_calls()) return false;
    if (known) {
      const json& call = (*calls)[n_results];
      if (call.contains("function") && call["function"].is_object() && call["function"].contains("name"))
        result["name"] = call["function"]["name"];
      if (call.contains("id")) result["tool_call_id"] = call["id"];
    }
    push(std::move(result));
    *left = known ? calls->size() - n_results - 1 : 0;
    return true;
  }

 private:
  bool knows_calls() const { return format_.text.find("tool_calls") != std::string::npos; }  // or they are text to the template
  // Without reasoning, calls as they are shown.
  static std::string as_said(const Parts& parts) {
    std::string text = parts.content;
    for (const Parts::Call& call : parts.calls) text += (text.empty() ? "" : "\n") + call.line();
    return text;
  }
  // The whole conversation as tokens, of which the first *keep are the session's.
  linnet_status render(bool prompts, std::vector<int32_t>* tokens, size_t* keep, linnet_error* err) {
    json conversation = {{"messages", messages_}, {"add_generation_prompt", prompts}};
    conversation.update(given_);
    linnet_rendered out = {};
    out.size = sizeof out;
    const auto rendered = [&](linnet_error* why) {
      return format_.render(conversation.dump(-1, ' ', false, json::error_handler_t::replace), local_now(), &out, why);
    };
    // Most templates take the arguments of calls as objects, some as the JSON text that they are in an answer, and in what others saved.
    change_arguments(&conversation["messages"], false);
    linnet_error as_text = {};
    if (const linnet_status status = rendered(err); status != LINNET_OK)
      if (!change_arguments(&conversation["messages"], true) || rendered(&as_text) != LINNET_OK) return status;
    return format_.tokens(engine_, out.text_bytes, held_, tokens, keep, err);
  }

  // Of all calls, to texts or to objects. Whether there were any others.
  static bool change_arguments(json* messages, bool to_text) {
    bool any = false;
    for (json& message : *messages) {
      if (!message.is_object() || !message.contains("tool_calls") || !message["tool_calls"].is_array()) continue;
      for (json& call : message["tool_calls"]) {
        if (!call.is_object() || !call.contains("function") || !call["function"].is_object() || !call["function"].contains("arguments"))
          continue;
        json& arguments = call["function"]["arguments"];
        if (to_text && arguments.is_object()) {
          arguments = arguments.dump(-1, ' ', false, json::error_handler_t::replace);
          any = true;
        } else if (!to_text && arguments.is_string()) {
          json object = parsed(arguments.get_ref<const std::string&>());
          if (!object.is_object()) continue;
          arguments = std::move(object);
          any = true;
        }
      }
    }
    return any;
  }

  void add_answer(const Parts& parts, bool whole) {
    if (!whole && parts.content.empty() && (parts.hides() || parts.reasoning.empty()) && parts.calls.empty()) return;
    json message = {{"role", "assistant"}, {"content", parts.content}};
    if (!parts.reasoning.empty()) message["reasoning_content"] = parts.reasoning;
    for (const Parts::Call& call : parts.calls) {
      json arguments = parsed(call.arguments);
      if (!arguments.is_object()) arguments = call.arguments;  // with a number that no JSON library holds
      message["tool_calls"].push_back({{"id", call.id.empty() ? new_id() : call.id},
                                       {"type", "function"},
                                       {"function", {{"name", call.name}, {"arguments", std::move(arguments)}}}});
    }
    push(std::move(message));
  }

  // Nine letters and digits, as some templates demand, that no call has yet.
  std::string new_id() {
    for (;;) {
      char id[16];
      std::snprintf(id, sizeof id, "call%05u", ++n_calls_ % 100000);
      bool taken = false;
      for (const json& message : messages_)
        if (message.contains("tool_calls") && message["tool_calls"].is_array())
          for (const json& call : message["tool_calls"]) taken |= call.is_object() && call.contains("id") && call["id"] == id;
      if (!taken) return id;
    }
  }

  const Args& args_;
  Engine& engine_;
  Template& format_;
  const json given_;
  const std::string tools_;  // as the parser of answers reads them
  json messages_ = json::array();
  std::vector<int32_t> held_ = {};
  unsigned n_calls_ = 0;
};

// What a list of messages must be.
const char* fault_of(const json& messages) {
  if (!messages.is_array() || messages.empty()) return "not a JSON array of messages";
  for (const json& m : messages)
    if (!m.is_object() || !m.contains("role") || !m["role"].is_string()) return "a message has no text 'role'";
  return nullptr;
}

enum class Done { kWell, kBadly, kEnd };  // of a line

struct Chat;
// What begins with / and is no message.
struct ChatCommand {
  const char *name, *argument, *help;
  enum { kNone, kMay, kMust } takes;
  Done (Chat::*run)(const std::string& text);
};

struct Chat {
  const Args& args;
  Engine& engine;
  linnet_sampling draw;
  Conversation& conversation;
  uint32_t n;
  Parts* parts;  // NULL: an answer is one text
  bool stats = false, terminal = false;
  std::optional<std::string> system = {};
  size_t number = 0;  // of the line, where each line is a conversation

  // One answer; false after printing what is wrong.
  bool answer(bool report) {
    Answer out;
    size_t n_new = 0;
    linnet_error err = {};
    linnet_status status = LINNET_OK;
    // A Ctrl-C that came a moment after an answer had ended would stop the next one, which nobody wants.
    for (int tries = 0; tries < 2; ++tries) {
      out = Answer();
      out.silent = args.json();
      out.parts = parts;
      status = conversation.answer(n, &out, &n_new, &err);
      if (status != LINNET_OK || out.end.why != LINNET_STOP_CANCEL || interrupted() || !out.tokens.empty()) break;
    }
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
    else if (!out.tokens.empty() || out.end.why != LINNET_STOP_CANCEL)
      std::putchar('\n');
    if (!out.broken && out.end.why == LINNET_STOP_CONTEXT) full(report);
    if (stats && !report) say_stats(out.tokens.size(), n_new);
    return std::fflush(stdout) == 0 && !out.broken;
  }

  void full(bool report) const {
    if (!report && says(Log::kNote)) std::fprintf(stderr, "(the context is full: /reset begins anew)\n");
  }

  uint32_t context() const { return engine.params.n_context ? engine.params.n_context : engine.desc.n_context; }

  void say_stats(size_t generated, size_t n_new) const {
    linnet_stats s = {};
    s.size = sizeof s;
    size_t length = 0;
    (void)linnet_stats_get(engine.session, &s, nullptr);
    (void)linnet_length(engine.session, 0, &length, nullptr);
    const auto per_s = [](uint64_t tokens, uint64_t ns) { return ns ? static_cast<double>(tokens) * 1e9 / static_cast<double>(ns) : 0; };
    std::fflush(stdout);
    std::fprintf(stderr, "(%zu tokens, %.1f tokens/s; %zu new before them, %.0f tokens/s, first token after %.0f ms; context %zu of %u)\n",
                 generated, per_s(s.decode_tokens, s.decode_ns), n_new, per_s(s.prefill_tokens, s.prefill_ns),
                 static_cast<double>(s.first_token_ns) * 1e-6, length, context());
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
    conversation.set_system(system);
  }

  // [{"role": "user", "content": "..."}, ...] as the whole conversation; what else a message has is for the template.
  bool add_messages(const std::string& line) {
    json messages = parsed(line);
    const char* fault = fault_of(messages);
    if (line.find('\0') != std::string::npos) fault = fault_of(nullptr);  // the parser takes it for the end
    if (fault) return failed(args, "line %zu: %s", number, fault), false;
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

  // ---- messages and commands, a line each

  // The answer to what the conversation holds. Without one `before` comes back in place of the messages behind the first `keep`. One that
  // was stopped stays as far as it came, as whoever stopped it has seen it.
  Done turn(size_t keep, json before) {
    interrupt_cancels(engine.session);
    const size_t asked = conversation.size();
    const bool well = answer(false);
    if (well && !interrupted()) return Done::kWell;
    const bool came = well && conversation.size() > asked;
    if (!came) {
      conversation.cut(keep);
      for (json& m : before) conversation.push(std::move(m));
    }
    if (interrupted() && says(Log::kNote) && terminal)
      std::fprintf(stderr, came             ? "(stopped: what came stays, /undo takes it back)\n"
                           : before.empty() ? "(stopped: the message is forgotten)\n"
                                            : "(stopped: the answer stays as it was)\n");
    return interrupted() && terminal ? Done::kWell : Done::kBadly;
  }

  Done say_message(const char* role, const std::string& text) {
    const size_t keep = conversation.size();
    conversation.add(role, text);
    return turn(keep, json::array());
  }

  static const std::vector<ChatCommand>& all();

  Done help(const std::string&) {
    std::string text =
        "Each line is a message. A line that ends with \\ goes on in the next one; \"\"\" begins and ends a message of several lines.\n";
    for (const ChatCommand& c : all()) {
      const std::string usage = std::string(c.name) + (*c.argument ? " " : "") + c.argument;
      text += "  " + usage + std::string(usage.size() < 16 ? 16 - usage.size() : 1, ' ') + c.help + "\n";
    }
    text += std::string(
                "  //...           a message that begins with /\nCtrl-C ends an answer, what came of it stays; at the prompt it clears "
                "the line, and a second one or ") +
            kEndOfInput + " ends the chat.\n";
    std::fputs(text.c_str(), stderr);
    return Done::kWell;
  }

  Done regen(const std::string&) {
    const size_t at = conversation.size();
    if (!at || conversation.role(at - 1) != "assistant") return failed(args, "/regen: there is no answer yet"), Done::kBadly;
    if (draw.temperature <= 0 && says(Log::kNote))
      std::fprintf(stderr, "(the likeliest token is taken each time, so that the answer is the same: --temp 0.7 draws)\n");
    ++draw.seed;
    if (!begin_draws()) return Done::kBadly;
    return turn(at - 1, conversation.cut(at - 1));
  }

  Done undo(const std::string&) {
    size_t at = conversation.size();
    while (at > 0 && conversation.role(at - 1) == "assistant") --at;
    if (at == 0 || conversation.role(at - 1) == "system") return failed(args, "/undo: there is no message yet"), Done::kBadly;
    conversation.cut(at - 1);
    note_size();
    return Done::kWell;
  }

  void note_size() const {
    const size_t k = conversation.size();
    if (terminal && says(Log::kNote)) std::fprintf(stderr, "(the conversation has %zu message%s)\n", k, k == 1 ? "" : "s");
  }

  static std::string path_of(const std::string& text) { return text.starts_with("~/") ? home_folder() + text.substr(1) : text; }

  Done save(const std::string& text) {
    const std::string out = json{{"messages", conversation.messages()}}.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
    convert::WholeFile file;
    linnet_error err = {};
    linnet_status status = file.open(path_of(text), true, &err);
    if (status == LINNET_OK) status = file.write(out.data(), out.size(), &err);
    if (status == LINNET_OK) status = file.commit(&err);
    return status == LINNET_OK ? Done::kWell : (failed(args, err), Done::kBadly);
  }

  Done load(const std::string& text) {
    std::string content;
    linnet_error err = {};
    if (convert::read_file(path_of(text), kMaxSaved, &content, nullptr, &err) != LINNET_OK) return failed(args, err), Done::kBadly;
    json saved = parsed(content);
    if (saved.is_object() && saved.contains("messages")) saved = json(std::move(saved["messages"]));
    if (saved.is_array() && saved.empty()) return conversation.begin(), Done::kWell;
    if (const char* const fault = fault_of(saved)) return failed(args, "%s: %s", text.c_str(), fault), Done::kBadly;
    conversation.replace(std::move(saved));
    note_size();
    return Done::kWell;
  }

  Done set_system(const std::string& text) {
    if (!text.empty()) {
      system = text == "-" ? std::nullopt : std::optional(text);
      conversation.set_system(system);
      return Done::kWell;
    }
    const json& messages = conversation.messages();
    if (messages.empty() || conversation.role(0) != "system" || !messages[0].contains("content") || !messages[0]["content"].is_string())
      return std::fprintf(stderr, "(there is no system message)\n"), Done::kWell;
    const std::string shown = messages[0]["content"];
    for (size_t at = 0, end; at <= shown.size(); at = end + 1) {
      end = std::min(shown.find('\n', at), shown.size());
      std::fprintf(stderr, "%s\n", printable(shown.substr(at, end - at)).c_str());
    }
    return Done::kWell;
  }

  Done tokens(const std::string&) {
    size_t k = 0;
    linnet_error err = {};
    if (conversation.count(&k, &err) != LINNET_OK) return failed(args, err), Done::kBadly;
    std::fprintf(stderr, "%zu tokens of %u\n", k, context());
    return Done::kWell;
  }

  Done set_stats(const std::string& text) {
    if (text != "on" && text != "off") return failed(args, "/stats takes on or off, not '%.40s'", text.c_str()), Done::kBadly;
    stats = text == "on";
    return Done::kWell;
  }

  Done tool(const std::string& text) {
    const size_t keep = conversation.size();
    size_t left = 0;
    if (!conversation.add_result(text, &left)) return failed(args, "/tool: no call waits for a result"), Done::kBadly;
    if (!left) return turn(keep, json::array());
    if (says(Log::kNote)) std::fprintf(stderr, "(%zu more call%s without a result)\n", left, left == 1 ? "" : "s");
    return Done::kWell;
  }
  Done reset(const std::string&) { return restart(), Done::kWell; }
  Done exit(const std::string&) { return Done::kEnd; }

  Done command(const std::string& line) {
    const size_t end = std::min(line.find_first_of(" \n"), line.size());
    const std::string name = line.substr(0, end), text = end < line.size() ? line.substr(end + 1) : "";
    std::vector<std::string> names;
    for (const ChatCommand& c : all()) {
      names.push_back(c.name);
      if (name != c.name) continue;
      if (text.empty() && c.takes == ChatCommand::kMust) return failed(args, "%s takes %s", c.name, c.argument), Done::kBadly;
      if (end < line.size() && c.takes == ChatCommand::kNone) return failed(args, "%s takes nothing behind it", c.name), Done::kBadly;
      return (this->*c.run)(text);
    }
    const std::string meant = meant_in_chat(name, names);
    failed(args, "there is no '%.40s'%s%s", name.c_str(), meant.c_str(),
           meant.empty() ? ": /help lists what there is, // begins a message with /" : "");
    return Done::kBadly;
  }

  int lines() {
    ChatInput input(args);
    terminal = input.terminal();
    if (terminal && says(Log::kInfo))
      std::fprintf(stderr, "Each line is a message; /help lists what else there is. Ctrl-C ends an answer, %s the chat.\n", kEndOfInput);
    if (!begin_draws()) return kExitError;
    restart();
    std::string line;
    bool warned = false;
    // A message that cannot be answered is forgotten; where nobody sees that, the exit code tells of it.
    for (int code = kExitOk;;) {
      interrupt_cancels(nullptr);
      const Line read = input.read(&line);
      if (terminal && interrupted() == SIGINT) {  // what was typed goes first, the chat at the next one
        std::fputc('\n', stderr);
        if (warned && !input.cleared()) return interrupt_cancels(nullptr), kExitOk;
        if (says(Log::kNote)) std::fprintf(stderr, "(Ctrl-C again or %s ends the chat)\n", kEndOfInput);
        warned = true;
        continue;
      }
      warned = false;
      if (read == Line::kBad || interrupted()) return kExitError;
      if (read == Line::kEnd) return terminal ? std::fputc('\n', stderr) : 0, code;
      Done done = read == Line::kSkipped ? Done::kBadly : Done::kWell;
      if (read == Line::kRead && line.starts_with('/') && !line.starts_with("//"))
        done = command(line);
      else if (read == Line::kRead && !line.empty())
        done = say_message("user", line.substr(line.starts_with('/')));
      if (done == Done::kEnd) return code;
      if (interrupted() == SIGTERM || (!terminal && (interrupted() || std::ferror(stdout)))) return kExitError;
      if (done == Done::kBadly && !terminal) code = kExitError;
    }
  }
};

const std::vector<ChatCommand>& Chat::all() {
  static const std::vector<ChatCommand> commands = {
      {"/help", "", "lists all this", ChatCommand::kNone, &Chat::help},
      {"/regen", "", "the last answer anew, with the next seed", ChatCommand::kNone, &Chat::regen},
      {"/undo", "", "the last message and its answer go", ChatCommand::kNone, &Chat::undo},
      {"/reset", "", "begins anew", ChatCommand::kNone, &Chat::reset},
      {"/system", "TEXT", "sets the system message; - takes it away, without TEXT it is shown", ChatCommand::kMay, &Chat::set_system},
      {"/tool", "TEXT", "gives a tool's result", ChatCommand::kMust, &Chat::tool},
      {"/save", "FILE", "writes the conversation to FILE, as JSON", ChatCommand::kMust, &Chat::save},
      {"/load", "FILE", "takes the conversation in FILE in place of this one", ChatCommand::kMust, &Chat::load},
      {"/tokens", "", "how many tokens the conversation has", ChatCommand::kNone, &Chat::tokens},
      {"/stats", "on|off", "speed and context use after each answer", ChatCommand::kMust, &Chat::set_stats},
      {"/exit", "", "ends the chat", ChatCommand::kNone, &Chat::exit},
  };
  return commands;
}

// --tools, as templates see them: the list of tools, each with "type" and "function".
bool read_tools(const Args& args, json* out) {
  if (!args.given("--tools")) return true;
  std::string text;
  if (!read_text_file(args, args.text("--tools"), &text)) return false;
  const json given = parsed(text);
  if (!given.is_array()) return true;  // what is wrong with it the grammar says
  *out = json::array();
  for (const json& tool : given)
    out->push_back(tool.is_object() && tool.contains("function") ? tool : json{{"type", "function"}, {"function", tool}});
  return true;
}

// --reasoning, by the variable that switches it in the template.
bool switch_reasoning(const Args& args, const Template& format, json* given) {
  if (!args.given("--reasoning")) return true;
  linnet_template_desc desc = {};
  desc.size = sizeof desc;
  linnet_error err = {};
  if (linnet_template_describe(format.handle, &desc, &err) != LINNET_OK) return failed(args, err), false;
  const bool on = args.text("--reasoning") != "off", effort = !on && format.names("reasoning_effort");
  if (desc.switch_name[0]) (*given)[desc.switch_name] = json::parse(on ? desc.switch_on : desc.switch_off, nullptr, false);
  if (effort) (*given)["reasoning_effort"] = "low";
  if (!on && !effort && !desc.switch_name[0])
    say(args, Log::kNote, "the model's template has no switch for reasoning: what comes of it is hidden");
  return true;
}

int run(const Args& args) {
  Settings settings;
  Engine engine;
  linnet_sampling draw = {};
  if (const int code = read_sampling(args, &draw); code != kExitOk) return code;
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  Template format;
  json tools, given = json::object();
  if (!format.open(args, engine, args.text("--template"), args.given("--tools")) || !read_tools(args, &tools)) return kExitError;
  if (!tools.is_null()) given["tools"] = std::move(tools);
  if (!switch_reasoning(args, format, &given)) return kExitError;
  // The format in the model's own file has no marks that would take an answer apart, and a text that obeys a schema is that text.
  Parts parts;
  bool held = false;
  for (const char* option : {"--schema", "--grammar", "--regex", "--choices"}) held |= args.given(option);
  Parts* const apart = format.text_tokens || held ? nullptr : &parts;
  if (apart && !parts.open(args, format, args.text("--reasoning") != "show")) return kExitError;
  jump_forward(args, &settings.session);
  if (!engine.start(args, settings.session) || !engine.govern(args, settings.profile) ||
      !engine.constrain(args, apart ? format.handle : nullptr))
    return kExitError;
  interrupt_cancels(engine.session);

  Conversation conversation(args, engine, format, std::move(given));
  Chat chat{args, engine, draw, conversation, static_cast<uint32_t>(args.count("-n")), apart};
  chat.stats = args.flag("--stats");
  if (args.given("--system")) chat.system = args.text("--system");
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
      "Each line of stdin is a message, each answer is streamed to stdout. A line that ends with \\ goes on in the next one, and all "
      "between \"\"\" and\n"
      "\"\"\" is one message. '/help' lists what else can be said: '/regen' has the last answer anew, '/undo' takes it and its message "
      "back, '/tool TEXT' is a\n"
      "tool's result, '/exit' ends; a message that begins with / is written with two of them. A message that cannot be answered is "
      "forgotten. On a terminal\n"
      "lines are edited by libedit, where it is, and kept in ~/.local/state/linnet/history; Ctrl-C ends an answer, what came of it "
      "stays.\n"
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
              {"--reasoning", "HOW", Kind::kReasoning, "what a model thinks before it answers: {}", "show"},
              {"--stats", nullptr, Kind::kFlag, "speed and context use after each answer"},
              {"--no-history", nullptr, Kind::kFlag, "keep nothing of what is typed in a file"},
              {"-n, --n-tokens", "N", Kind::kCountOrOpen, "tokens of an answer at most; -1 = to its end", "512", 1, 16777216},
          },
          join(join(sampling_options("0"), grammar_options()), join(engine_options(), session_options()))),
      run};
}

}  // namespace linnet::cli
