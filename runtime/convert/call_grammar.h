// Grammars of answers that call tools as the model writes calls: JSON schemas inside of what surrounds a call (chat/answers.h).
#pragma once
#include "../chat/answers.h"
#include "json_schema.h"

namespace linnet::convert {

struct CallRules {
  bool required;            // calls alone; otherwise text, until the model begins a call
  bool parallel;            // more than one
  std::string_view chosen;  // the one tool that may be called; "": any
  bool any_format = false;  // unknown formats say nothing
};
// tools: a list as templates take it.
Status compile_calls(const Value& tools, const chat::Envelope& envelope, const CallRules& rules, const char* name, Vector<uint8_t>* out,
                     Error* err);

}  // namespace linnet::convert
