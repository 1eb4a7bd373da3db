// PCRE2 as the tokenizer tests use it.
#pragma once
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "platform/utf8.h"
#include "runtime/tokenizer/unicode.h"
#include "tests/catch2.h"

class Regex {
 public:
  explicit Regex(const char* pattern) {
    int error = 0;
    size_t at = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
    REQUIRE(code_);
    pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
    match_ = pcre2_match_data_create(8, nullptr);
  }
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  ~Regex() {
    pcre2_match_data_free(match_);
    pcre2_code_free(code_);
  }
  // Bytes of the match that begins at `at`, 0 if there is none.
  size_t match(std::string_view text, size_t at) const {
    const int n = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK,
                              match_, nullptr);
    return n > 0 ? pcre2_get_ovector_pointer(match_)[1] - at : 0;
  }

 private:
  pcre2_code* code_;
  pcre2_match_data* match_;
};

// PCRE2's \s has U+180E, which lost White_Space in Unicode 6.3; the regex library behind the reference tokenizers leaves it out, as we do.
inline constexpr uint32_t kOnlyPcreSpace = 0x180E;

// The tables are of Unicode 16; what they are of characters that Unicode 14 has is held against PCRE2.
inline bool pcre_knows_unicode_14() {
  char version[32] = {};
  pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version);
  if (std::string(version) == "14.0.0") return true;
  std::printf("skipped: PCRE2 has Unicode %s, which is not 14.0.0\n", version);
  return false;
}
// Whether Unicode 14 has the character, and as it is today. U+1171E became a spacing mark.
inline bool in_unicode_14(uint32_t code) {
  static const std::vector<bool> all = [] {
    const Regex assigned("\\P{Cn}");
    std::vector<bool> out(0x110000);
    for (uint32_t c = 0; c < 0x110000; ++c) {
      if (c >= 0xD800 && c < 0xE000) continue;
      char text[4];
      out[c] = linnet::tok::char_kind(c) == linnet::tok::CharKind::kOther || assigned.match({text, linnet::tok::put_char(c, text)}, 0) != 0;
    }
    out[0x1171E] = false;
    return out;
  }();
  return all[code];  // false: surrogates
}
// Whether PCRE2 sees the character as we do.
inline bool pcre_agrees(uint32_t code) { return in_unicode_14(code) && code != kOnlyPcreSpace; }

// Matches, and what lies between them.
inline std::vector<size_t> regex_words(const Regex& regex, std::string_view text) {
  std::vector<size_t> out;
  size_t gap = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t n = regex.match(text, at);
    if (n == 0) {
      const size_t bytes = linnet::next_char(text.data() + at, text.size() - at).bytes;
      gap += bytes;
      at += bytes;
      continue;
    }
    if (gap) out.push_back(gap);
    gap = 0;
    out.push_back(n);
    at += n;
  }
  if (gap) out.push_back(gap);
  return out;
}
