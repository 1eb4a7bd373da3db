// Regular expressions of pre-tokenizers (Oniguruma's syntax) as tables for tokenizer/pattern.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../platform/status.h"

namespace linnet::convert {

struct SplitTables {  // see tok::Pattern
  uint32_t mode = 0, n_classes = 0, n_states = 0;
  std::vector<uint16_t> blocks, next;
  std::vector<uint8_t> classes;
  struct Look {  // see tok::Look
    bool ahead = false;
    uint32_t n_states = 0;
    std::vector<uint16_t> next = {};
  };
  std::vector<Look> looks = {};
  std::string text = {};      // the pattern
  bool may_be_empty = false;  // it may match nothing
};

// The alternatives are tried in their order, as backtracking does. What is not understood, or could make a text be read again and again, is
// LINNET_UNSUPPORTED, with the place in the pattern. label: the file, for error texts. meta: the pattern sees U+2581 where the tables'
// texts have ' '. Beside Oniguruma's properties there is \p{=word}, what the Rust library calls \w.
Status compile_split(std::string_view pattern, const char* label, SplitTables* out, Error* err, bool meta = false);
// What the tokenizers library's UnicodeScripts cuts: runs of one script.
void script_tables(SplitTables* out, bool meta);
// The pattern that matches this text alone.
std::string literal_pattern(std::string_view text);

}  // namespace linnet::convert
