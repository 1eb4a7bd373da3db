// The chat templates of a model: where published models have them, and how a packed file holds them.
#pragma once
#include <string>
#include <vector>

#include "../gguf.h"
#include "tokenizer_build.h"
#include "writer.h"

namespace linnet::convert {

struct ChatTemplate {
  std::string name;  // "" for the one that is meant where nobody asks; "tool_use", "rag"
  std::string text;  // Jinja
};
struct ChatTemplates {
  std::vector<ChatTemplate> all;
  std::string tokens;  // JSON: the special tokens that templates see, {"bos_token": "<s>", ...}, "" = none
};

// chat_template.jinja, additional_chat_templates/*.jinja, tokenizer_config.json, special_tokens_map.json.
Status templates_from_folder(const std::string& folder, ChatTemplates* out, Error* err);
// tokenizer.chat_template[.NAME]; the special tokens by their ids.
void templates_from_gguf(const Gguf& file, ChatTemplates* out);
std::string template_label(const std::string& name);  // what errors call it
// The program of a template, with the envelope of answers that it tells.
Status compile_chat(std::string_view text, const char* name, const std::string& tokens, const std::vector<std::string>& added,
                    std::vector<uint8_t>* program, Error* err);
// Texts as they are, and for linnet itself their programs, or why there is none. notes may be nullptr.
void put_templates(const ChatTemplates& templates, const TokenizerBlob& tokenizer, bool plain, std::vector<std::string>* notes,
                   GgufBuilder* b);

}  // namespace linnet::convert
