#include "chat_request.h"

#include <algorithm>

namespace server {
namespace {

constexpr size_t kMaxMessages = 10'000, kMaxTools = 512;

bool refuse(Refusal* why, std::string place, std::string message) {
  *why = {400, "'" + place + "' " + message, "invalid_value", place};
  return false;
}

std::string string_of(const json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

bool read_content(const json& content, std::string* out, Refusal* why, const std::string& place) {
  out->clear();
  if (content.is_null()) return true;
  if (content.is_string()) return *out = content.get<std::string>(), true;
  if (!content.is_array()) return refuse(why, place, "must be a string or an array of parts");
  for (size_t i = 0; i < content.size(); ++i) {
    const json& part = content[i];
    const std::string at = place + "[" + std::to_string(i) + "]";
    if (part.is_string()) {
      *out += part.get<std::string>();
      continue;
    }
    const std::string type = part.is_object() ? string_of(part, "type") : "";
    if (type == "text" || type == "input_text" || type == "output_text" || type == "refusal") {
      const char* name = type == "refusal" ? "refusal" : "text";
      if (!part.contains(name) || !part[name].is_string()) return refuse(why, at + "." + name, "must be a string");
      *out += part[name].get<std::string>();
    } else if (type.empty()) {
      return refuse(why, at, "must be an object with a type");
    } else {
      return refuse(why, at, "is of type '" + type.substr(0, 64) + "': this model takes text alone");
    }
  }
  return true;
}

bool read_response_format(const json& format, Model::GrammarText* out, Refusal* why, const std::string& name) {
  const std::string type = format.is_object() ? string_of(format, "type") : "";
  if (type == "text") return true;
  out->kind = LINNET_GRAMMAR_SCHEMA;
  out->spaced = true;
  if (type == "json_object") {
    // llama.cpp's form has a schema beside it
    out->text = format.contains("schema") ? dump(format["schema"]) : "{\"type\":\"object\"}";
    return true;
  }
  if (type != "json_schema") return refuse(why, name + ".type", "must be text, json_object or json_schema");
  // OpenAI's chat has an object in it, Responses has its members beside the type
  const auto inner = format.find("json_schema");
  const json& holder = inner != format.end() ? *inner : format;
  const std::string place = inner != format.end() ? name + ".json_schema" : name;
  if (!holder.is_object() || !holder.contains("schema")) return refuse(why, place + ".schema", "is missing");
  if (!holder["schema"].is_object() && !holder["schema"].is_boolean()) return refuse(why, place + ".schema", "must be a JSON schema");
  out->text = dump(holder["schema"]);
  return true;
}

bool read_format(Fields* f, Model::GrammarText* out) {
  Refusal why;
  int n = 0;
  if (const json* format = f->any("response_format")) {
    if (!read_response_format(*format, out, &why, "response_format")) return f->refuse("response_format", why.message), false;
    n += !out->text.empty();
  }
  if (const json* schema = f->any("json_schema")) {
    *out = {LINNET_GRAMMAR_SCHEMA, true, false, false, true, dump(*schema), {}, "json_schema"};
    ++n;
  }
  for (const auto& [name, kind] : {std::pair{"grammar", LINNET_GRAMMAR_GBNF}, std::pair{"regex", LINNET_GRAMMAR_REGEX}}) {
    const std::string text = f->text(name);
    if (text.empty()) continue;
    *out = {kind, false, false, false, true, text, {}, name};
    ++n;
  }
  if (const json* choices = f->array("choices")) {
    *out = {LINNET_GRAMMAR_CHOICES, false, false, false, true, dump(*choices), {}, "choices"};
    ++n;
  }
  if (n > 1) f->refuse("response_format", "does not go with another grammar, schema, regex or choices");
  return f->ok();
}

// ---- the conversation ------------------------------------------------------------------------------------------------------------------

// Messages as templates know them: text alone, a system message in the place of a developer's, arguments of calls as objects, the names of
// tools beside their results. *prefix: what the last message has begun of the answer.
bool ChatRequest::plain_conversation(json* out, std::string* prefix, Refusal* why) const {
  if (messages.empty()) return refuse(why, "messages", "must not be empty");
  if (messages.size() > kMaxMessages) return refuse(why, "messages", "has more than 10000 messages");
  json list = json::array();
  std::map<std::string, std::string> names;  // of calls, by id
  for (size_t i = 0; i < messages.size(); ++i) {
    const json& m = messages[i];
    const std::string place = "messages[" + std::to_string(i) + "]";
    if (!m.is_object()) return refuse(why, place, "must be an object");
    std::string role = string_of(m, "role"), text;
    if (role == "developer") role = "system";
    if (role == "function") role = "tool";
    if (role != "system" && role != "user" && role != "assistant" && role != "tool")
      return refuse(why, place + ".role", "must be system, developer, user, assistant or tool");
    if (!read_content(m.contains("content") ? m["content"] : json(), &text, why, place + ".content")) return false;
    json to = {{"role", role}, {"content", text}};
    if (const std::string name = string_of(m, "name"); !name.empty()) to["name"] = name;
    if (role == "assistant") {
      const std::string thought = string_of(m, m.contains("reasoning_content") ? "reasoning_content" : "reasoning");
      if (!thought.empty()) to["reasoning_content"] = thought;
      if (m.contains("tool_calls") && !m["tool_calls"].is_null()) {
        if (!m["tool_calls"].is_array()) return refuse(why, place + ".tool_calls", "must be an array");
        json calls = json::array();
        for (size_t k = 0; k < m["tool_calls"].size(); ++k) {
          const json& call = m["tool_calls"][k];
          const std::string at = place + ".tool_calls[" + std::to_string(k) + "]";
          if (!call.is_object() || !call.contains("function") || !call["function"].is_object())
            return refuse(why, at, "must have a function");
          const json& fn = call["function"];
          const std::string name = string_of(fn, "name"), id = string_of(call, "id");
          if (name.empty()) return refuse(why, at + ".function.name", "must be a string that is not empty");
          json arguments = fn.contains("arguments") ? fn["arguments"] : json::object();
          if (arguments.is_string()) {
            const std::string& s = arguments.get_ref<const std::string&>();
            json parsed;
            Refusal no;
            if (s.find_first_not_of(" \t\r\n") == std::string::npos)
              arguments = json::object();
            else if (read_json(s, &parsed, &no))
              arguments = std::move(parsed);
            else
              return refuse(why, at + ".function.arguments", "must be a JSON object as text");
          }
          names[id] = name;
          calls.push_back({{"id", id}, {"type", "function"}, {"function", {{"name", name}, {"arguments", arguments}}}});
        }
        if (!calls.empty()) to["tool_calls"] = std::move(calls);
      }
    }
    if (role == "tool") {
      const std::string id = string_of(m, "tool_call_id");
      to["tool_call_id"] = id;
      if (!to.contains("name") && names.count(id)) to["name"] = names[id];
    }
    list.push_back(std::move(to));
  }
  // An answer that was begun goes on.
  const json& last = list.back();
  if (last["role"] == "assistant" && !last.contains("tool_calls")) {
    *prefix = last["content"].get<std::string>();
    list.erase(list.size() - 1);
    if (list.empty()) return refuse(why, "messages", "must have a message before the assistant's");
  }
  *out = {{"messages", std::move(list)}, {"add_generation_prompt", true}};
  return true;
}

// With tools and the template's variables.
bool ChatRequest::conversation(const Model& model, json* out, std::string* prefix, Refusal* why) const {
  if (!plain_conversation(out, prefix, why)) return false;
  if (tools.size() > kMaxTools) return refuse(why, "tools", "has more than 512 tools");
  if (!tools.empty() && choice != Choice::kNone) (*out)["tools"] = tools;
  for (const auto& item : variables.items())
    if (item.key() != "messages" && item.key() != "tools" && item.key() != "add_generation_prompt") (*out)[item.key()] = item.value();
  const linnet_template_desc& desc = model.chat_desc();
  if (!effort.empty()) (*out)["reasoning_effort"] = effort;
  if (model.has_chat() && desc.switch_name[0] && reasoning != Reasoning::kDefault && !out->contains(desc.switch_name))
    (*out)[desc.switch_name] = json::parse(reasoning == Reasoning::kOn ? desc.switch_on : desc.switch_off, nullptr, false);
  return true;
}

bool ChatRequest::render(Model* model, std::string* text, size_t* n_tokens, Refusal* why) {
  json all;
  std::string prefix;
  if (!conversation(*model, &all, &prefix, why)) return false;
  std::unique_ptr<Chat> chat = model->lend_chat(why);
  if (!chat) return false;
  Prompt prompt;
  std::vector<int32_t> more;
  const bool good = chat->render(dump(all), &prompt, text, why) && (prefix.empty() || model->tokenize(prefix, 0, &more, why));
  model->take_back(std::move(chat));
  *text += prefix;
  *n_tokens = prompt.tokens.size() + more.size();
  return good;
}

bool ChatRequest::prepare(Model* model, bool states, const std::vector<std::shared_ptr<Generation>>& jobs, Refusal* why) {
  json conversation_json;
  std::string prefix;
  if (!conversation(*model, &conversation_json, &prefix, why)) return false;
  const linnet_template_desc& desc = model->chat_desc();
  const bool calls = !tools.empty() && choice != Choice::kNone;
  if (calls && !desc.calls && model->has_chat())
    return *why = {400, "the chat template of " + model->name() + " has no tool calls that are known", "unsupported", "tools"}, false;
  if (calls && !format.text.empty()) return refuse(why, "response_format", "does not go with tools");
  if (choice == Choice::kNamed && std::none_of(tools.begin(), tools.end(), [&](const json& t) {
        return t.contains("function") && string_of(t["function"], "name") == tool;
      }))
    return refuse(why, "tool_choice", "names a tool that is not among the tools");
  if ((choice == Choice::kRequired || choice == Choice::kNamed) && !calls) return refuse(why, "tool_choice", "needs tools");
  std::unique_ptr<Chat> chat = model->lend_chat(why);
  if (!chat) return false;
  Prompt prompt;
  const std::string tools_text = calls ? dump(tools) : std::string();
  std::vector<int32_t> past;
  if (states) {
    // What opens the answer may be written otherwise when that is a message of the past: both have the messages in common.
    Prompt alone;
    Refusal no;
    conversation_json["add_generation_prompt"] = false;
    if (chat->render(dump(conversation_json), &alone, nullptr, &no)) past = std::move(alone.tokens);
    conversation_json["add_generation_prompt"] = true;
  }
  bool good = chat->render(dump(conversation_json), &prompt, nullptr, why);
  const auto in_common =
      static_cast<size_t>(std::mismatch(past.begin(), past.end(), prompt.tokens.begin(), prompt.tokens.end()).first - past.begin());
  if (good && !prefix.empty()) {
    std::vector<int32_t> more;
    good = model->tokenize(prefix, 0, &more, why);
    prompt.tokens.insert(prompt.tokens.end(), more.begin(), more.end());
    prompt.tail += prefix;
  }
  good = good && model->fits(prompt.tokens, "messages", why);
  for (const auto& job : jobs) {
    if (!good) break;
    job->prompt = prompt.tokens;
    job->prompt_tail = prompt.tail;
    if (in_common) job->keep = {in_common};
    good = job->text.open(*chat, tools_text, why);
  }
  if (good && (calls || !format.text.empty())) {
    Model::GrammarText of = format;
    if (calls)
      of = {
          LINNET_GRAMMAR_SCHEMA, false, true, choice == Choice::kRequired || choice == Choice::kNamed, parallel, tools_text, tool, "tools"};
    const auto grammar = model->grammar(of, chat.get(), why);
    good = grammar != nullptr;
    for (const auto& job : jobs) {
      job->grammar = grammar;
      job->grammar_of_calls = calls;
      job->grammar_waits = !calls && job->text.reasons();
      if (!calls && !job->grammar_waits) job->text.take_as_it_is();  // JSON that was asked for may look like a call
    }
  }
  model->take_back(std::move(chat));
  return good;
}

}  // namespace server
