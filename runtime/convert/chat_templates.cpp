#include "chat_templates.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "../chat/render.h"
#include "convert.h"
#include "hf_config.h"
#include "json.h"
#include "template.h"
#include "template_probe.h"

namespace linnet::convert {
namespace {

constexpr size_t kMaxTemplates = 16, kMaxTemplateName = 48;
constexpr const char* kTokenNames[] = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

void add(ChatTemplates* out, const std::string& name, std::string text) {
  const bool known = std::any_of(out->all.begin(), out->all.end(), [&](const ChatTemplate& t) { return t.name == name; });
  if (!known && !text.empty() && name.size() <= kMaxTemplateName && out->all.size() < kMaxTemplates)
    out->all.push_back({name, std::move(text)});
}

// {"content": "<s>"} or "<s>".
bool token_text(const nlohmann::json& from, const char* name, std::string* out) {
  const nlohmann::json* const token = json_member(from, name);
  if (!token) return false;
  if (token->is_object()) return get_string(*token, "content", out) == Got::kFound;
  return get_string(from, name, out) == Got::kFound;
}

void set_tokens(const nlohmann::ordered_json& tokens, ChatTemplates* out) {
  if (!tokens.empty()) out->tokens = tokens.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

Status templates_from_folder(const std::string& folder, ChatTemplates* out, Error* err) {
  std::string text;
  bool found = false;
  LINNET_TRY(read_file(folder + "/chat_template.jinja", kConfigMaxBytes, &text, &found, err));
  if (found) add(out, "", std::move(text));
  std::error_code none;
  std::vector<std::string> names;
  for (auto it = std::filesystem::directory_iterator(folder + "/additional_chat_templates", none);
       !none && it != std::filesystem::directory_iterator() && names.size() < kMaxTemplates; it.increment(none))
    if (it->path().extension() == ".jinja") names.push_back(it->path().stem().string());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    LINNET_TRY(read_file(folder + "/additional_chat_templates/" + name + ".jinja", kConfigMaxBytes, &text, &found, err));
    if (found) add(out, name == "default" ? "" : name, std::move(text));
  }
  JsonTree config, map;
  LINNET_TRY(read_file(folder + "/tokenizer_config.json", kConfigMaxBytes, &text, &found, err));
  if (found) LINNET_TRY(json_parse_python(text, "tokenizer_config.json", &config.root, err));
  if (const nlohmann::json* const t = json_member(config.root, "chat_template"); t && t->is_array()) {
    for (const nlohmann::json& one : *t) {
      std::string name;
      if (get_string(one, "name", &name) == Got::kFound && get_string(one, "template", &text) == Got::kFound)
        add(out, name == "default" ? "" : name, std::move(text));
    }
  } else if (get_string(config.root, "chat_template", &text) == Got::kFound) {
    add(out, "", std::move(text));
  }
  LINNET_TRY(read_file(folder + "/special_tokens_map.json", kConfigMaxBytes, &text, &found, err));
  if (found) LINNET_TRY(json_parse_python(text, "special_tokens_map.json", &map.root, err));
  nlohmann::ordered_json tokens;
  for (const char* const name : kTokenNames)
    if (std::string token; token_text(config.root, name, &token) || token_text(map.root, name, &token)) tokens[name] = token;
  set_tokens(tokens, out);
  return LINNET_OK;
}

void templates_from_gguf(const Gguf& file, ChatTemplates* out) {
  GgufValue v, tokens;
  const std::string base = kChatTemplateKey;
  if (file.key(base, &v) && v.type == kGgufString) add(out, "", std::string(v.text));
  if (file.key(base + "s", &v) && v.type == kGgufArray && v.array_type == kGgufString) {
    std::string_view name;
    for (size_t at = 0, i = 0; i < kMaxTemplates && gguf_next_string(v, &at, &name); ++i) {
      GgufValue one;
      if (file.key(base + "." + std::string(name), &one) && one.type == kGgufString) add(out, std::string(name), std::string(one.text));
    }
  }
  static constexpr std::pair<const char*, const char*> kIds[] = {
      {"bos", "bos_token"},       {"eos", "eos_token"},     {"unknown", "unk_token"}, {"separator", "sep_token"},
      {"seperator", "sep_token"}, {"padding", "pad_token"}, {"cls", "cls_token"},     {"mask", "mask_token"}};
  nlohmann::ordered_json found;
  if (file.key("tokenizer.ggml.tokens", &tokens) && tokens.type == kGgufArray && tokens.array_type == kGgufString)
    for (const auto& [id_name, name] : kIds) {
      if (!file.key(std::string("tokenizer.ggml.") + id_name + "_token_id", &v) || v.type != kGgufU32) continue;
      std::string_view text;
      size_t at = 0;
      bool there = false;
      for (uint64_t i = 0; i <= v.u; ++i)
        if (there = gguf_next_string(tokens, &at, &text); !there) break;
      if (there) found[name] = std::string(text);
    }
  set_tokens(found, out);
}

std::string template_label(const std::string& name) { return name.empty() ? "chat template" : "chat template " + name; }

Status compile_chat(std::string_view text, const char* name, const std::string& tokens, const std::vector<std::string>& added,
                    std::vector<uint8_t>* program, Error* err) {
  LINNET_TRY(template_compile(text, name, program, err));
  chat::Envelope e;
  ReasoningSwitch reasoning;
  learn_envelope(text, *program, tokens, added, &e, &reasoning);
  if (reasoning.variable.size() < chat::kMarkBytes && reasoning.on.size() < chat::kMarkBytes && reasoning.off.size() < chat::kMarkBytes) {
    std::memcpy(e.switch_name.text, reasoning.variable.data(), reasoning.variable.size());
    std::memcpy(e.switch_on.text, reasoning.on.data(), reasoning.on.size());
    std::memcpy(e.switch_off.text, reasoning.off.data(), reasoning.off.size());
  }
  chat::ProgramHeader h;
  std::memcpy(&h, program->data(), sizeof h);
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(&e);
  h.n_envelope = sizeof e;
  program->insert(program->end() - h.n_texts, bytes, bytes + sizeof e);
  std::memcpy(program->data(), &h, sizeof h);
  return LINNET_OK;
}

void put_templates(const ChatTemplates& templates, const TokenizerBlob& tokenizer, bool plain, std::vector<std::string>* notes,
                   GgufBuilder* b) {
  std::vector<std::string> added;
  for (size_t i = 0; i < tokenizer.types.size() && i < tokenizer.tokens.size(); ++i)
    if (tokenizer.types[i] == 3 || tokenizer.types[i] == 4) added.push_back(tokenizer.tokens[i]);
  std::vector<std::string> names;
  for (const ChatTemplate& t : templates.all) {
    const std::string suffix = t.name.empty() ? "" : "." + t.name;
    b->text(kChatTemplateKey + suffix, t.text);
    if (!t.name.empty()) names.push_back(t.name);
    if (plain) continue;
    std::vector<uint8_t> program;
    Error why = {};
    if (compile_chat(t.text, template_label(t.name).c_str(), templates.tokens, added, &program, &why) == LINNET_OK) {
      b->bytes(kTemplateKey + suffix, {reinterpret_cast<const char*>(program.data()), program.size()});
    } else {
      b->text(kTemplateErrorKey + suffix, why.text);
      if (notes) notes->push_back(std::string(why.text) + ": `linnet chat` will refuse it");
    }
  }
  if (!names.empty()) b->texts(std::string(kChatTemplateKey) + "s", names);
  if (!plain && !templates.tokens.empty()) b->text(kChatTokensKey, templates.tokens);
}

}  // namespace linnet::convert
