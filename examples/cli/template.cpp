// What a conversation looks like to a model: its own template, one that is given, or one made of its file's chat format.
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli.h"

namespace linnet::cli {
namespace {

using nlohmann::json;

// Of a conversation that fills a large context; memory that is not written to costs nothing.
constexpr size_t kTextBytes = size_t{16} << 20, kValueBytes = size_t{128} << 20;
constexpr uint64_t kSteps = 200'000'000;

// A Jinja text that writes what linnet.chat.* of a file say.
bool template_of_format(const Args& args, const Engine& engine, std::string* text, std::string* tokens, std::string* stop) {
  linnet_error err = {};
  const auto literal = [](const char* s) { return json(std::string(s)).dump(); };
  std::string roles;
  for (uint32_t r = LINNET_ROLE_SYSTEM; linnet_role_name(static_cast<linnet_role>(r)); ++r) {
    const linnet_role role = static_cast<linnet_role>(r);
    const char *prefix = nullptr, *suffix = nullptr;
    if (linnet_chat_format(engine.model, role, &prefix, &suffix, &err) != LINNET_OK) continue;
    roles += std::string(roles.empty() ? "{%- if" : "{%- elif") + " m.role == " + literal(linnet_role_name(role)) + " %}{{ " +
             literal(prefix) + " }}{{ m.content }}{{ " + literal(suffix) + " }}";
    if (role != LINNET_ROLE_ASSISTANT) continue;
    *text = literal(prefix);
    *stop = suffix;
  }
  if (text->empty()) return false;
  *text =
      "{{ bos_token }}{%- for m in messages -%}"
      "{%- if m.content is not string %}{{ raise_exception(\"a message has no text 'content'\") }}{%- endif -%}" +
      roles +
      "{%- else %}{{ raise_exception(\"the model was not trained for messages of role '\" + m.role + \"'\") }}{%- endif -%}{%- endfor -%}"
      "{%- if add_generation_prompt %}{{ " +
      *text + " }}{%- endif -%}";
  // Only what stands before a text; an EOS behind it has no place here.
  std::vector<int32_t> bos;
  std::string bos_text;
  if (!tokenize(args, engine, "", LINNET_ADD_SPECIAL, &bos)) return false;
  if (!bos.empty() && bos.front() == engine.desc.bos_id && !token_text(args, engine, bos.front(), &bos_text)) return false;
  *tokens = json{{"bos_token", bos_text}}.dump();
  return true;
}

}  // namespace

bool Template::init(const Args& args, const linnet_view& from, const char* name, const linnet_model* model, const std::string* tokens,
                    const std::string& source) {
  linnet_template_params params = {};
  params.size = sizeof params;
  params.text_bytes = kTextBytes;
  params.value_bytes = kValueBytes;
  params.max_steps = kSteps;
  params.text_tokens = text_tokens;
  if (tokens) params.tokens = tokens->data(), params.tokens_bytes = static_cast<uint32_t>(tokens->size());
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  if (text.empty()) text = convert::chat_template_text(from, name ? name : "");
  if (linnet_template_need(&from, name, &params, &need, &err) != LINNET_OK)
    return failed(args, "%s%s%s", source.c_str(), source.empty() ? "" : ": ", err.text), false;
  if (!memory.alloc(need.bytes)) return failed(args, "no memory for the template's %zu bytes", need.bytes), false;
  if (linnet_template_init(&handle, memory.data, memory.bytes, &from, name, model, &params, &err) == LINNET_OK) return true;
  return failed(args, "%s%s%s", source.c_str(), source.empty() ? "" : ": ", err.text), false;
}

bool Template::compile(const Args& args, const std::string& jinja, const std::string& name, const linnet_model* model,
                       const std::string* tokens) {
  text = jinja;
  linnet_error err = {};
  size_t n = 0;
  std::vector<char> program;
  linnet_status status = linnet_template_compile(text.data(), text.size(), name.c_str(), nullptr, 0, &n, &err);
  if (status == LINNET_TOO_SMALL) {
    program.resize(n);
    status = linnet_template_compile(text.data(), text.size(), name.c_str(), program.data(), n, &n, &err);
  }
  if (status != LINNET_OK) return failed(args, err), false;
  return init(args, {program.data(), program.size()}, nullptr, model, tokens, "");
}

bool Template::open(const Args& args, const Engine& engine, const std::string& which, bool tools) {
  if (!which.empty()) {
    std::string jinja;
    bool found = false;
    linnet_error err = {};
    if (convert::read_file(which, size_t{1} << 20, &jinja, &found, &err) != LINNET_OK) return failed(args, err), false;
    if (found) return compile(args, jinja, which, engine.model, nullptr);
    return init(args, engine.loaded.file, which.c_str(), engine.model, nullptr, engine.source);
  }
  std::string jinja, tokens;
  if (text_tokens = template_of_format(args, engine, &jinja, &tokens, &stop); text_tokens)
    return compile(args, jinja, "chat format", engine.model, &tokens);
  // As transformers chooses where a model has several.
  linnet_need need = {};
  need.size = sizeof need;
  const bool tool_use = tools && linnet_template_need(&engine.loaded.file, "tool_use", nullptr, &need, nullptr) == LINNET_OK;
  return init(args, engine.loaded.file, tool_use ? "tool_use" : nullptr, engine.model, nullptr, engine.source);
}

linnet_status Template::render(std::string_view conversation, int64_t now, linnet_rendered* out, linnet_error* err) const {
  return linnet_template_render(handle, conversation.data(), conversation.size(), now, out, err);
}

linnet_status Template::tokens(const Engine& engine, size_t text_bytes, const std::vector<int32_t>& held, std::vector<int32_t>* out,
                               size_t* n_keep, linnet_error* err) const {
  size_t scratch_bytes = 0, n = 0;
  linnet_status status = linnet_tokenize_need(engine.model, text_bytes, &scratch_bytes, err);
  if (status == LINNET_OK) {
    std::vector<uint8_t> scratch(scratch_bytes);
    out->resize(text_bytes + held.size() + 16);
    const auto tokenise = [&] {
      return linnet_template_tokens(handle, held.data(), held.size(), scratch.data(), scratch.size(), out->data(), out->size(), &n, n_keep,
                                    err);
    };
    status = tokenise();
    if (status == LINNET_TOO_SMALL) out->resize(n), status = tokenise();
  }
  out->resize(status == LINNET_OK ? n : 0);
  return status;
}

// In code, that is between {{ }} or {% %} and in no string.
bool Template::names(std::string_view variable) const {
  const auto in_name = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '{') continue;
    const char kind = text[i + 1];
    if (kind == '#') i = std::min(text.find("#}", i + 2), text.size());
    if (kind != '{' && kind != '%') continue;
    for (i += 2; i < text.size() && !(text[i] == (kind == '{' ? '}' : '%') && text.compare(i + 1, 1, "}") == 0); ++i) {
      if (const char quote = text[i]; quote == '"' || quote == '\'') {
        for (++i; i < text.size() && text[i] != quote; ++i)
          if (text[i] == '\\') ++i;
      } else if (in_name(text[i])) {
        const size_t begin = i;
        while (i < text.size() && in_name(text[i])) ++i;
        if (std::string_view(text).substr(begin, i - begin) == variable && (begin == 0 || text[begin - 1] != '.')) return true;
        --i;
      }
    }
  }
  return false;
}

int64_t day_number(int64_t year, int64_t month, int64_t day) {
  const int64_t y = year - (month <= 2), era = y / 400, of_era = y - era * 400;  // years that begin in March
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int64_t local_now() {
  const std::time_t now = std::time(nullptr);
  // What the clock on the wall shows, as if it were UTC.
  std::tm local = *std::localtime(&now);
  const int64_t day = day_number(local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
  return (day * 24 + local.tm_hour) * 3600 + local.tm_min * 60 + local.tm_sec;
}

}  // namespace linnet::cli
