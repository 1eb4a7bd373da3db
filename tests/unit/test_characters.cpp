// Classes and cases of characters against Python's: sums over all code points, as runtime/tokenizer/make_unicode.py takes them.
#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/chat/machine.h"
#include "runtime/tokenizer/unicode.h"
#include "tests/catch2.h"

using namespace linnet;
using namespace linnet::chat;

namespace {

// CRC-32 as zlib's.
struct Sum {
  uint32_t state = 0xFFFFFFFF;
  void add(uint8_t byte) {
    static const std::array<uint32_t, 256> table = [] {
      std::array<uint32_t, 256> t{};
      for (uint32_t i = 0; i < 256; ++i) {
        uint32_t v = i;
        for (int bit = 0; bit < 8; ++bit) v = v >> 1 ^ (v & 1 ? 0xEDB88320 : 0);
        t[i] = v;
      }
      return t;
    }();
    state = state >> 8 ^ table[(state ^ byte) & 0xFF];
  }
  uint32_t value() const { return ~state; }
};

// Ranges that Python 3.11 sees otherwise than Unicode 16 has them, and surrogates.
std::vector<std::pair<uint32_t, uint32_t>> newer = {{0xD800, 0xDFFF}};

uint32_t sum_of(const std::function<void(uint32_t, Sum*)>& add) {
  static const std::vector<bool> left_out = [] {
    std::vector<bool> all(0x110000);
    for (const auto& [first, last] : newer) std::fill(all.begin() + first, all.begin() + last + 1, true);
    return all;
  }();
  Sum sum;
  for (uint32_t code = 0; code < 0x110000; ++code)
    if (!left_out[code]) add(code, &sum);
  return sum.value();
}
uint32_t sum_of_class(bool (*test)(uint32_t)) {
  return sum_of([test](uint32_t code, Sum* sum) { sum->add(test(code)); });
}
uint32_t sum_of_map(size_t (*map)(uint32_t, uint32_t (&)[3])) {
  return sum_of([map](uint32_t code, Sum* sum) {
    uint32_t to[3];
    const size_t n = map(code, to);
    for (size_t i = 0; i < n; ++i) {
      char bytes[4];
      const size_t n_bytes = tok::put_char(to[i], bytes);
      for (size_t b = 0; b < n_bytes; ++b) sum->add(static_cast<uint8_t>(bytes[b]));
    }
  });
}

}  // namespace

TEST_CASE("characters are Python's") {
  const std::map<std::string, std::function<uint32_t()>> sums = {
      {"printable", [] { return sum_of_class(is_printable); }},
      {"space", [] { return sum_of_class(is_space); }},
      {"alpha", [] { return sum_of_class(is_alpha); }},
      {"decimal", [] { return sum_of_class(is_decimal); }},
      {"digit", [] { return sum_of_class(is_digit); }},
      {"numeric", [] { return sum_of_class(is_numeric); }},
      {"alnum", [] { return sum_of_class(is_alnum); }},
      {"upper", [] { return sum_of_class(is_upper); }},
      {"lower", [] { return sum_of_class(is_lower); }},
      {"titlecase", [] { return sum_of_class(is_titlecase); }},
      {"start", [] { return sum_of_class(is_identifier_start); }},
      {"part", [] { return sum_of_class(is_identifier_part); }},
      {"line", [] { return sum_of_class(ends_line); }},
      {"ignorable", [] { return sum_of_class(is_case_ignorable); }},
      {"value", [] { return sum_of([](uint32_t code, Sum* sum) { sum->add(static_cast<uint8_t>(decimal_value(code))); }); }},
      {"to_upper", [] { return sum_of_map(to_upper); }},
      {"to_lower", [] { return sum_of_map(to_lower); }},
      {"to_title", [] { return sum_of_map(to_title); }},
      {"to_folded", [] { return sum_of_map(to_folded); }},
  };
  std::ifstream in("tests/data/character_sums.txt");
  REQUIRE(in);
  size_t n = 0;
  std::string name;
  REQUIRE((in >> name && name == "but"));
  uint32_t first, last;
  char dash;
  while (in >> std::hex >> first >> dash >> last) newer.push_back({first, last});
  in.clear();
  REQUIRE(in.get() == ';');
  CHECK(newer.size() > 50);
  for (uint32_t want; in >> name >> want; ++n) {
    INFO(name);
    REQUIRE(sums.count(name));
    CHECK(sums.at(name)() == want);
  }
  CHECK(n == sums.size());
}
