// Grammars that are no JSON Schema: GBNF, as llama.cpp writes grammars, a regular expression, a list of texts.
#pragma once
#include "automaton.h"

namespace linnet::convert {

// GBNF: rules `name ::= ...`, of which `root` is the whole text.
Status compile_gbnf(std::string_view text, const char* name, Vector<uint8_t>* out, Error* err);
// The whole text is what the expression says.
Status compile_regex(std::string_view pattern, const char* name, Vector<uint8_t>* out, Error* err);
// A JSON array of texts, of which one is written.
Status compile_choices(std::string_view json, const char* name, Vector<uint8_t>* out, Error* err);

}  // namespace linnet::convert
