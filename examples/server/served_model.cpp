#include "served_model.h"

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace server {
namespace {

using nlohmann::json;

constexpr size_t kTextBytes = size_t{8} << 20, kValueBytes = size_t{64} << 20;  // of a template; untouched memory costs nothing
constexpr uint64_t kTemplateSteps = 100'000'000;
constexpr size_t kTail = 512;  // bytes of a prompt's end that a grammar looks at
constexpr uint32_t kGrammarStates = 65535;

std::string literal(const char* s) { return json(std::string(s)).dump(); }

int64_t local_now() {
  const time_t now = time(nullptr);
  tm local = {};
  localtime_r(&now, &local);
  return static_cast<int64_t>(now) + local.tm_gmtoff;
}

Refusal refusal(const linnet_error& err, int status = 400, const char* code = "invalid_request") {
  return {err.code == LINNET_NO_MEMORY ? 503 : status, err.text, code, {}};
}

}  // namespace

bool Memory::alloc(size_t n) {
  linnet_mem_free(data, bytes);
  data = linnet_mem_alloc(n);
  bytes = data ? n : 0;
  return data != nullptr;
}

Model::~Model() {
  linnet_model_fini(model_);
  linnet_convert_close(source_);
}

bool Model::open(const Options& options, std::string* why) {
  options_ = options;
  linnet_error err = {};
  linnet_convert_params params = {};
  params.size = sizeof params;
  params.weights = options.weights;
  params.load = options.load;
  params.n_threads = options.n_threads;
  params.shape_only = options.shape_only;
  params.cache = options.cache.empty() ? nullptr : options.cache.c_str();
  const auto failed = [&] {
    *why = err.text;
    if (why->compare(0, options.path.size(), options.path)) *why = options.path + ": " + *why;
    return false;
  };
  if (linnet_convert_open(&source_, options.path.c_str(), &params, &file_, nullptr, &err) != LINNET_OK) return failed();
  linnet_need need = {};
  need.size = sizeof need;
  if (linnet_model_need(&file_, nullptr, &need, &err) != LINNET_OK) return failed();
  if (!memory_.alloc(need.bytes))
    return *why = options.path + ": no memory for the model's " + std::to_string(need.bytes) + " bytes", false;
  if (linnet_model_init(&model_, memory_.data, memory_.bytes, &file_, nullptr, &err) != LINNET_OK) return model_ = nullptr, failed();
  desc_.size = sizeof desc_;
  if (linnet_model_info(model_, &desc_, &err) != LINNET_OK) return failed();
  if (!options_.scales) options_.scales = first_scales(options_);
  for (const auto& [path, scale] : options.loras) {
    loras_.push_back(std::make_unique<Lora>());
    loras_.back()->path = path;
    if (!open_lora(loras_.back().get(), why)) return false;
  }
  if (options.shape_only) return true;
  open_chat();
  return true;
}

std::shared_ptr<LoraScales> Model::first_scales(const Options& options) {
  auto scales = std::make_shared<LoraScales>();
  std::vector<float> said;
  for (const auto& lora : options.loras) said.push_back(lora.second);
  scales->set(std::move(said));
  return scales;
}

// Its values are copied, and its file is closed again.
bool Model::open_lora(Lora* lora, std::string* why) {
  linnet_error err = {};
  linnet_view file = {};
  linnet_source* folder = nullptr;
  linnet_convert_params params = {};
  params.size = sizeof params;
  params.base = options_.path.c_str();
  const bool is_folder = std::filesystem::is_directory(lora->path);
  linnet_status status = is_folder ? linnet_convert_open(&folder, lora->path.c_str(), &params, &file, nullptr, &err)
                                   : linnet_file_map(lora->path.c_str(), LINNET_LOAD_MAP, &file, &err);
  linnet_need need = {};
  need.size = sizeof need;
  if (status == LINNET_OK) status = linnet_lora_need(model_, &file, &need, &err);
  const bool room = status != LINNET_OK || lora->memory.alloc(need.bytes);
  if (status == LINNET_OK && room) status = linnet_lora_init(&lora->handle, lora->memory.data, lora->memory.bytes, model_, &file, &err);
  if (is_folder)
    linnet_convert_close(folder);
  else
    linnet_file_unmap(&file);
  if (!room) return *why = lora->path + ": no memory for the adapter's " + std::to_string(need.bytes) + " bytes", false;
  linnet_lora_desc desc = {};
  desc.size = sizeof desc;
  if (status == LINNET_OK) status = linnet_lora_info(lora->handle, &desc, &err);
  lora->rank = desc.rank;
  if (status == LINNET_OK) return true;
  *why = err.text;
  if (why->compare(0, lora->path.size(), lora->path)) *why = lora->path + ": " + *why;
  return false;
}

size_t Model::memory_bytes() const {
  size_t bytes = memory_.bytes;
  for (const auto& l : loras_) bytes += l->memory.bytes;
  return bytes;
}

// ---- templates -------------------------------------------------------------------------------------------------------------------

// A Jinja text that writes what linnet.chat.* of a file say.
bool Model::format_template(std::string* text, std::string* tokens) {
  std::string roles, prompt;
  for (uint32_t r = LINNET_ROLE_SYSTEM; linnet_role_name(static_cast<linnet_role>(r)); ++r) {
    const auto role = static_cast<linnet_role>(r);
    const char *prefix = nullptr, *suffix = nullptr;
    if (linnet_chat_format(model_, role, &prefix, &suffix, nullptr) != LINNET_OK) continue;
    roles += std::string(roles.empty() ? "{%- if" : "{%- elif") + " m.role == " + literal(linnet_role_name(role)) + " %}{{ " +
             literal(prefix) + " }}{{ m.content }}{{ " + literal(suffix) + " }}";
    if (role == LINNET_ROLE_ASSISTANT) prompt = literal(prefix), chat_stop_ = suffix;
  }
  if (prompt.empty()) return false;
  *text =
      "{{ bos_token }}{%- for m in messages -%}{%- if m.content is not string -%}"
      "{{ raise_exception('a message has no text as its content') }}{%- endif -%}" +
      roles +
      "{%- else -%}{{ raise_exception('the model was not trained for messages of role ' + m.role) }}{%- endif -%}{%- endfor -%}"
      "{%- if add_generation_prompt -%}{{ " +
      prompt + " }}{%- endif -%}";
  Refusal why;
  std::vector<int32_t> bos;
  const bool has_bos = tokenize("", LINNET_ADD_SPECIAL, &bos, &why) && !bos.empty() && bos.front() == desc_.bos_id;
  *tokens = json{{"bos_token", has_bos ? token_text(bos.front()) : ""}}.dump();
  return true;
}

bool Model::open_chat() {
  if (!desc_.has_tokenizer) return no_chat_ = "the model has no tokenizer", false;
  std::string text;
  if (format_template(&text, &special_tokens_)) {
    linnet_error err = {};
    size_t n = 0;
    linnet_status status = linnet_template_compile(text.data(), text.size(), "chat format", nullptr, 0, &n, &err);
    if (status == LINNET_TOO_SMALL) {
      program_.resize(n);
      status = linnet_template_compile(text.data(), text.size(), "chat format", program_.data(), n, &n, &err);
    }
    if (status != LINNET_OK) return program_.clear(), no_chat_ = err.text, false;
    text_tokens_ = true;
  } else {
    own_template_ = true;
  }
  auto chat = std::make_unique<Chat>();
  if (!make_chat(chat.get(), &no_chat_)) return own_template_ = false, program_.clear(), false;
  chat_desc_.size = sizeof chat_desc_;
  linnet_error err = {};
  if (linnet_template_describe(chat->handle_, &chat_desc_, &err) != LINNET_OK) return no_chat_ = err.text, own_template_ = false, false;
  switch_name_ = chat_desc_.switch_name;
  switch_on_ = chat_desc_.switch_on;
  switch_off_ = chat_desc_.switch_off;
  chat_desc_.switch_name = switch_name_.c_str();
  chat_desc_.switch_on = switch_on_.c_str();
  chat_desc_.switch_off = switch_off_.c_str();
  chats_.push_back(std::move(chat));
  return true;
}

bool Model::make_chat(Chat* out, std::string* why) const {
  linnet_template_params params = {};
  params.size = sizeof params;
  params.text_bytes = kTextBytes;
  params.value_bytes = kValueBytes;
  params.max_steps = kTemplateSteps;
  params.text_tokens = text_tokens_;
  if (!special_tokens_.empty() && !program_.empty())
    params.tokens = special_tokens_.data(), params.tokens_bytes = static_cast<uint32_t>(special_tokens_.size());
  const linnet_view from = program_.empty() ? file_ : linnet_view{program_.data(), program_.size()};
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  if (linnet_template_need(&from, nullptr, &params, &need, &err) != LINNET_OK) return *why = err.text, false;
  if (!out->memory_.alloc(need.bytes)) return *why = "no memory for the template", false;
  if (linnet_template_init(&out->handle_, out->memory_.data, out->memory_.bytes, &from, nullptr, model_, &params, &err) != LINNET_OK)
    return *why = err.text, false;
  out->model_ = this;
  return true;
}

std::unique_ptr<Chat> Model::lend_chat(Refusal* why) {
  {
    const std::lock_guard<std::mutex> lock(chats_mutex_);
    if (!has_chat()) return *why = {400, options_.name + " has no chat template: " + no_chat_, "no_chat_template", {}}, nullptr;
    if (!chats_.empty()) {
      auto chat = std::move(chats_.back());
      chats_.pop_back();
      return chat;
    }
  }
  auto chat = std::make_unique<Chat>();
  std::string text;
  if (!make_chat(chat.get(), &text)) return *why = {503, text, "no_memory", {}}, nullptr;
  return chat;
}

void Model::take_back(std::unique_ptr<Chat> chat) {
  const std::lock_guard<std::mutex> lock(chats_mutex_);
  chats_.push_back(std::move(chat));
}

bool Chat::render(std::string_view conversation, Prompt* out, std::string* text, Refusal* why) {
  linnet_error err = {};
  linnet_rendered rendered = {};
  rendered.size = sizeof rendered;
  if (const linnet_status status = linnet_template_render(handle_, conversation.data(), conversation.size(), local_now(), &rendered, &err);
      status != LINNET_OK) {
    *why = refusal(err, status == LINNET_TOO_SMALL ? 413 : 400, "chat_template");
    why->param = "messages";
    return false;
  }
  size_t scratch_bytes = 0, n = 0, keep = 0;
  if (linnet_tokenize_need(model_->handle(), rendered.text_bytes, &scratch_bytes, &err) != LINNET_OK) return *why = refusal(err), false;
  std::vector<uint8_t> scratch(scratch_bytes);
  std::vector<int32_t> tokens(rendered.text_bytes / 2 + 64);
  linnet_status status = LINNET_TOO_SMALL;
  for (int i = 0; i < 2 && status == LINNET_TOO_SMALL; ++i) {
    if (i) tokens.resize(n);
    status = linnet_template_tokens(handle_, nullptr, 0, scratch.data(), scratch.size(), tokens.data(), tokens.size(), &n, &keep, &err);
  }
  if (status != LINNET_OK) return *why = refusal(err), false;
  tokens.resize(n);
  out->tokens = std::move(tokens);
  out->tail.assign(rendered.text + (rendered.text_bytes > kTail ? rendered.text_bytes - kTail : 0), std::min(rendered.text_bytes, kTail));
  if (text) text->assign(rendered.text, rendered.text_bytes);
  return true;
}

// ---- text ------------------------------------------------------------------------------------------------------------------------

bool Model::fits(const std::vector<int32_t>& prompt, const char* field, Refusal* why) const {
  if (prompt.empty()) return *why = {400, "the prompt has no tokens", "invalid_request", field}, false;
  if (prompt.size() < n_context) return true;
  *why = {400,
          "the prompt has " + std::to_string(prompt.size()) + " tokens, of " + std::to_string(n_context) +
              " positions of the context at least one is for the answer",
          "context_length_exceeded", field};
  return false;
}

bool Model::tokenize(std::string_view text, uint32_t flags, std::vector<int32_t>* out, Refusal* why) const {
  linnet_error err = {};
  size_t scratch_bytes = 0, n = 0;
  if (linnet_tokenize_need(model_, text.size(), &scratch_bytes, &err) != LINNET_OK) return *why = refusal(err), false;
  std::vector<uint8_t> scratch(scratch_bytes);
  out->resize(text.size() / 2 + 16);
  linnet_status status = LINNET_TOO_SMALL;
  for (int i = 0; i < 2 && status == LINNET_TOO_SMALL; ++i) {
    if (i) out->resize(n);
    status = linnet_tokenize(model_, text.data(), text.size(), flags, scratch.data(), scratch.size(), out->data(), out->size(), &n, &err);
  }
  if (status != LINNET_OK) return *why = refusal(err), false;
  out->resize(n);
  return true;
}

bool Model::detokenize(const std::vector<int32_t>& tokens, std::string* out, Refusal* why) const {
  linnet_error err = {};
  size_t n = 0;
  out->resize(tokens.size() * 8 + 16);
  linnet_status status = LINNET_TOO_SMALL;
  for (int i = 0; i < 2 && status == LINNET_TOO_SMALL; ++i) {
    if (i) out->resize(n);
    status = linnet_detokenize(model_, tokens.data(), tokens.size(), 0, out->data(), out->size(), &n, &err);
  }
  if (status != LINNET_OK) return *why = refusal(err), false;
  out->resize(n);
  return true;
}

std::string Model::token_text(int32_t token) const {
  char small[256];
  size_t n = 0;
  linnet_status status = linnet_token_text(model_, token, small, sizeof small, &n, nullptr);
  if (status == LINNET_OK) return {small, n};
  if (status != LINNET_TOO_SMALL) return {};
  std::string out(n, 0);
  status = linnet_token_text(model_, token, out.data(), out.size(), &n, nullptr);
  return status == LINNET_OK ? out : std::string();
}

uint32_t Model::token_kind(int32_t token) const {
  uint32_t kind = 0;
  return linnet_token_kind(model_, token, &kind, nullptr) == LINNET_OK ? kind : 0;
}

// ---- grammars --------------------------------------------------------------------------------------------------------------------

size_t Model::compiler_bytes() {
  linnet_need need = {};
  need.size = sizeof need;
  return linnet_grammar_compiler_need(kGrammarStates, &need, nullptr) == LINNET_OK ? need.bytes : 0;
}

bool Model::compile(const GrammarText& of, const Chat* chat, std::vector<char>* out, Refusal* why) const {
  static std::mutex one;
  const std::lock_guard<std::mutex> lock(one);
  Memory memory;  // what of it is not touched costs nothing
  linnet_grammar_compiler* compiler = nullptr;
  linnet_error err = {};
  if (!memory.alloc(compiler_bytes())) return *why = {503, "no memory for compiling the grammar", "no_memory", {}}, false;
  if (linnet_grammar_compiler_init(&compiler, memory.data, memory.bytes, kGrammarStates, &err) != LINNET_OK)
    return *why = refusal(err), false;
  linnet_call_rules rules = {};
  rules.size = sizeof rules;
  rules.choice = of.required ? LINNET_CALL_REQUIRED : LINNET_CALL_AUTO;
  rules.parallel = of.parallel;
  rules.flags = LINNET_GRAMMAR_ANY_FORMAT;
  rules.tool = of.tool.empty() ? nullptr : of.tool.c_str();
  const auto kind = static_cast<linnet_grammar_kind>(
      of.kind | (of.kind == LINNET_GRAMMAR_SCHEMA ? static_cast<uint32_t>(LINNET_GRAMMAR_ANY_FORMAT) : 0u) |
      (of.spaced ? static_cast<uint32_t>(LINNET_GRAMMAR_SPACED) : 0u));
  size_t n = 0;
  linnet_status status = LINNET_TOO_SMALL;
  out->resize(size_t{256} << 10);
  for (int i = 0; i < 2 && status == LINNET_TOO_SMALL; ++i) {
    if (i) out->resize(n);
    status = of.calls ? linnet_grammar_calls(compiler, chat->handle(), of.text.data(), of.text.size(), "tools", &rules, out->data(),
                                             out->size(), &n, &err)
                      : linnet_grammar_compile(compiler, of.text.data(), of.text.size(), of.field.c_str(), kind, out->data(), out->size(),
                                               &n, &err);
  }
  if (status != LINNET_OK) return *why = {400, err.text, "grammar", of.calls ? "tools" : of.field}, false;
  out->resize(n);
  return true;
}

std::shared_ptr<Grammar> Model::grammar(const GrammarText& of, const Chat* chat, Refusal* why) {
  const std::string key = std::to_string(of.kind) + (of.spaced ? "s" : "-") + (of.calls ? "c" : "-") + (of.required ? "r" : "-") +
                          (of.parallel ? "p" : "-") + std::to_string(of.tool.size()) + of.tool + "\n" + of.text;
  const std::lock_guard<std::mutex> lock(grammars_mutex_);
  for (auto g = grammars_.begin(); g != grammars_.end(); ++g) {
    if ((*g)->key != key) continue;
    grammars_.splice(grammars_.begin(), grammars_, g);
    return grammars_.front();
  }
  std::vector<char> blob;
  if (!compile(of, chat, &blob, why)) return nullptr;
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  if (linnet_grammar_need(model_, blob.data(), blob.size(), &need, &err) != LINNET_OK) return *why = refusal(err), nullptr;
  const size_t most = options_.grammar_bytes, bytes = need.bytes + key.size();
  if (bytes > most) {
    *why = {413, "the grammar takes " + std::to_string(bytes) + " bytes, --grammars allows " + std::to_string(most), "grammar",
            of.calls ? "tools" : of.field};
    return nullptr;
  }
  for (auto g = grammars_.end(); *grammars_held_ + bytes > most && g != grammars_.begin();)
    if ((--g)->use_count() == 1) g = grammars_.erase(g);  // nobody draws with it
  if (*grammars_held_ + bytes > most) {
    *why = {503,
            "the grammar takes " + std::to_string(bytes) + " bytes; those that are at work have " + std::to_string(*grammars_held_) +
                " of the " + std::to_string(most) + " that --grammars allows",
            "no_memory", of.calls ? "tools" : of.field};
    return nullptr;
  }
  auto g = std::make_shared<Grammar>(grammars_held_, key);
  if (!g->memory.alloc(need.bytes)) return *why = {503, "no memory for the grammar", "no_memory", {}}, nullptr;
  g->count();
  if (linnet_grammar_init(&g->handle, g->memory.data, g->memory.bytes, model_, blob.data(), blob.size(), &err) != LINNET_OK)
    return *why = refusal(err), nullptr;
  grammars_.push_front(g);
  return g;
}

}  // namespace server
