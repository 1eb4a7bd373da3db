// How a model marks its answers, learned from its chat template: conversations are rendered with an assistant's message that has a text,
// one call, two calls, reasoning, and what they differ in says it. What no rendering shows comes from a table of families, chosen by marks
// in the template's text or among the added tokens.
#pragma once
#include <string>
#include <vector>

#include "../chat/answers.h"

namespace linnet::convert {

// How reasoning is switched on and off, for those who write the conversation.
struct ReasoningSwitch {
  std::string variable;  // "enable_thinking"; "" = none
  std::string on, off;   // its values as JSON
};

// text: the template; program: of template_compile; tokens: JSON of its special tokens ("" = none); added: texts of the tokenizer's added
// tokens. A template that says nothing of calls gets an envelope of what many models do. Never fails.
void learn_envelope(std::string_view text, const std::vector<uint8_t>& program, const std::string& tokens,
                    const std::vector<std::string>& added, chat::Envelope* out, ReasoningSwitch* reasoning);

}  // namespace linnet::convert
