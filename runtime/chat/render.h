// A chat template in the caller's memory: renders conversations, and turns what it rendered to tokens.
#pragma once
#include "../model.h"
#include "answers.h"
#include "machine.h"

// The type that linnet_chat.h leaves opaque.
struct linnet_template {
  linnet::chat::Program program;
  linnet::chat::Envelope envelope;
  const linnet_model* model;  // whose tokenizer, or nullptr
  char name[64];
  uint8_t* blob;    // the program's bytes
  char* tokens;     // (n_tokens) JSON: the model's own special tokens by name, "" = none
  uint8_t* values;  // (n_values)
  char* text;       // (text_bytes) what was rendered last
  uint8_t* marks;   // (text_bytes) 1 where the conversation brought a byte
  size_t n_tokens, n_values, text_bytes, n_text;
  uint64_t max_steps;
  bool text_tokens;
};

namespace linnet {

inline constexpr char kTemplateKey[] = "linnet.template";             // the program, bytes; .NAME behind it for one of several
inline constexpr char kTemplateErrorKey[] = "linnet.template_error";  // why there is none, though there is a template
inline constexpr char kChatTokensKey[] = "linnet.chat.tokens";        // JSON: {"bos_token": "<s>", ...}

Status template_need(linnet_view from, const char* name, const linnet_template_params& params, size_t* bytes, Error* err);
Status template_init(linnet_template** out, void* mem, size_t bytes, linnet_view from, const char* name, const linnet_model* model,
                     const linnet_template_params& params, Error* err);
Status template_render(linnet_template& t, std::string_view conversation, int64_t now, linnet_rendered* out, Error* err);
// What was rendered last, as tokens. held: those that a sequence has, of which the first *n_keep are out's too.
Status template_tokens(const linnet_template& t, const int32_t* held, size_t n_held, void* scratch, size_t scratch_bytes, int32_t* out,
                       size_t cap, size_t* n_tokens, size_t* n_keep, Error* err);

}  // namespace linnet
