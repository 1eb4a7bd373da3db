// linnet template: what a model's chat template makes of a conversation, and what an answer to it says.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli.h"

namespace linnet::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kDate = "strftime_now";

// Midnight of "2026-11-25".
bool read_date(const std::string& s, int64_t* out) {
  int year = 0, month = 0, day = 0, end = 0;
  if (std::sscanf(s.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || static_cast<size_t>(end) != s.size()) return false;
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  *out = day_number(year, month, day) * 86400;
  return true;
}

// The fixed date stands under the name of a function that templates call: it gets another one, in the text as it is, so that all else keeps
// its characters.
void rename_date(std::string* text) {
  int depth = 0;
  for (size_t i = 0; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    size_t end = i + 1;
    while (end < text->size() && (*text)[end] != '"') end += (*text)[end] == '\\' ? 2 : 1;
    size_t colon = end + 1;
    while (colon < text->size() && std::string_view(" \t\r\n").find((*text)[colon]) != std::string_view::npos) ++colon;
    if (depth == 1 && colon < text->size() && (*text)[colon] == ':' && text->compare(i + 1, end - i - 1, kDate) == 0) (*text)[i + 1] = 'S';
    i = end;
  }
}

int parse_answer(const Args& args, const Template& chat, const std::string& tools) {
  std::string text;
  if (!(args.text("--parse") == "-" ? read_stdin(&text) : read_text_file(args, args.text("--parse"), &text))) return kExitError;
  linnet_error err = {};
  Parts parts;
  if (!parts.open(args, chat, true, text.size() + 1)) return kExitError;
  if (parts.begin(tools, &err) != LINNET_OK) return failed(args, err);
  const size_t piece = args.given("--pieces") ? args.count("--pieces") : text.size();
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    for (size_t n = 0; end < text.size() && n < piece; ++n) do
        ++end;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
    (void)parts.feed(std::string_view(text).substr(at, end - at));
    at = end;
  }
  (void)parts.end();
  Json json;
  json.object().field("content", parts.content).field("reasoning_content", parts.reasoning);
  put_calls(&json, parts);
  json.end().print();
  return std::fflush(stdout) == 0 ? kExitOk : kExitError;
}

int run_template(const Args& args) {
  const std::string& path = args.positional()[0];
  std::string conversation = args.given("--parse") ? R"({"messages":[{"role":"user","content":"Hi"}]})" : R"({"messages":[]})";
  linnet_error err = {};
  if (args.given("--conversation") &&
      !(args.text("--conversation") == "-" ? read_stdin(&conversation) : read_text_file(args, args.text("--conversation"), &conversation)))
    return kExitError;
  if (args.given("--conversation") && args.given("--parse") && args.text("--conversation") == "-" && args.text("--parse") == "-")
    return usage_error(args, "stdin is either the conversation or the answer");
  int64_t now = local_now();
  const ordered_json given = ordered_json::parse(conversation, nullptr, false);
  ordered_json tokens = ordered_json::object();
  if (given.is_object()) {
    for (const char* name : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
      if (given.contains(name) && given[name].is_string()) tokens[name] = given[name];
    if (given.contains(kDate)) {
      if (!given[kDate].is_string() || !read_date(given[kDate].get<std::string>(), &now))
        return failed(args, "the conversation's \"strftime_now\" is no date as 2026-11-25");
      rename_date(&conversation);
    }
  }
  Engine engine;
  Template chat;
  const bool is_text = path.ends_with(".jinja") || path.ends_with(".j2") || path.ends_with(".txt");
  if (is_text) {
    std::string text;
    bool found = false;
    if (convert::read_file(path, size_t{1} << 20, &text, &found, &err) != LINNET_OK) return failed(args, err);
    if (!found) return failed(args, "%s: no such file", path.c_str());
    const std::string own = tokens.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    if (!chat.compile(args, text, path, nullptr, &own)) return kExitError;
  } else if (!engine.open(args, path, Settings(), true) ||
             !chat.open(args, engine, args.text("--template"), given.is_object() && given.contains("tools") && !given["tools"].is_null())) {
    return kExitError;
  }
  linnet_rendered out = {};
  out.size = sizeof out;
  const bool parse = args.given("--parse");
  // An answer continues what was rendered for it, which may have begun reasoning.
  if (const size_t brace = conversation.find('{'); parse && given.is_object() && !given.contains("add_generation_prompt"))
    conversation.insert(brace + 1, given.empty() ? "\"add_generation_prompt\":true" : "\"add_generation_prompt\":true,");
  if (chat.render(conversation, now, &out, &err) != LINNET_OK) return failed(args, err);
  if (parse) {
    const bool tools = given.is_object() && given.contains("tools") && given["tools"].is_array();
    return parse_answer(args, chat, tools ? given["tools"].dump(-1, ' ', false, ordered_json::error_handler_t::replace) : "");
  }
  if (!args.json()) {
    std::fwrite(out.text, 1, out.text_bytes, stdout);
    return std::fflush(stdout) == 0 ? kExitOk : kExitError;
  }
  Json json;
  json.object().field("text", std::string(out.text, out.text_bytes)).key("data").array();
  for (size_t i = 0; i < out.text_bytes;) {
    size_t end = i;
    while (end < out.text_bytes && out.data[end] == out.data[i]) ++end;
    if (out.data[i]) json.array().value(uint64_t{i}).value(uint64_t{end}).end();
    i = end;
  }
  json.end();
  if (!is_text) {
    std::vector<int32_t> ids;
    if (chat.tokens(engine, out.text_bytes, {}, &ids, nullptr, &err) != LINNET_OK) return failed(args, err);
    json.key("tokens").value(ids);
  }
  json.end().print();
  return kExitOk;
}

}  // namespace

Command template_command() {
  return {"template",
          "print what a chat template makes of a conversation",
          "TEMPLATE",
          1,
          1,
          "TEMPLATE is a Jinja text (*.jinja) or a model with one. The conversation is a JSON object: \"messages\", and \"tools\",\n"
          "\"add_generation_prompt\" and what else the template asks for; \"strftime_now\":\"2026-11-25\" fixes the day. Of a text "
          "\"bos_token\" and\n"
          "\"eos_token\" are the model's own; a model brings its own. The text is printed as it is, no newline is added. A template that "
          "refuses\n"
          "the conversation is an error, with its own message. With --json {\"text\", \"data\": [[from, to], ...]}, the bytes that came "
          "out of the\n"
          "conversation, and of a model \"tokens\". --parse takes apart what a model has answered to it.\n\n"
          "example: linnet template model.gguf --conversation chat.json",
          {
              {"--conversation", "FILE", Kind::kPath, "the conversation; - is stdin; without it one without messages"},
              {"--parse", "FILE", Kind::kPath, "an answer; - is stdin: prints its content, reasoning and calls of tools as JSON"},
              {"--pieces", "N", Kind::kCount, "with --parse: hand the answer over N characters at a time", "", 1, 1 << 20},
              {"--template", "NAME", Kind::kText, "one of several templates of a model (tool_use), or a file"},
          },
          run_template};
}

}  // namespace linnet::cli
