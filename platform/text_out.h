// The text of a generation on its way to the caller: whole characters only, and nothing that may become a stop string or may be taken
// back with a banned one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace linnet {

inline constexpr size_t kHeldBytes = 4096;  // text that is held back at most
inline constexpr uint32_t kMaxStops = 16, kMaxStopBytes = 255;

struct StopStrings {
  uint32_t n;
  uint8_t bytes[kMaxStops];
  char text[kMaxStops][kMaxStopBytes];
};

// Text that is held back: bytes of an unfinished character and what may become a stop string or a banned one.
struct TextOut {
  char held[kHeldBytes];
  size_t n;         // bytes in `held`
  size_t open;      // bytes at its end that are of tokens that may be taken back: a banned string may begin in the first of them
  char* utf8;       // (3 * kHeldBytes) what became certain is appended here
  size_t n_utf8;    // bytes there
  uint32_t stop;    // the string that appeared; kNoStop: none has
  uint32_t ban;     // the banned string that appeared, at the end of held; kNoStop: none has
  size_t stop_end;  // bytes of the last token up to the end of what appeared
  char passed[kMaxStopBytes - 1];  // the last bytes before `held`: what is drawn anew may end a banned string that began there
  size_t n_passed;
  static constexpr uint32_t kNoStop = kMaxStops;

  void begin(char* room) { n = open = n_utf8 = stop_end = n_passed = 0, utf8 = room, stop = ban = kNoStop; }

  // Bytes at the end of held[from, end) that may be the beginning of a string.
  size_t may_begin(const StopStrings& strings, size_t from, size_t end) const {
    size_t most = 0;
    for (uint32_t i = 0; i < strings.n; ++i) {
      const size_t len = strings.bytes[i];
      for (size_t k = len - 1 < end - from ? len - 1 : end - from; k > most; --k)
        if (std::memcmp(held + end - k, strings.text[i], k) == 0) {
          most = k;
          break;
        }
    }
    return most;
  }
  // Passes the first `count` bytes on, bytes that are no UTF-8 as U+FFFD; keeps an unfinished last character unless `all`.
  void emit(size_t count, bool all) {
    size_t in = 0;
    while (in < count) {
      const unsigned char c = static_cast<unsigned char>(held[in]);
      const size_t want = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
      size_t have = want ? 1 : 0;
      while (have < want && in + have < count && continues(c, have, static_cast<unsigned char>(held[in + have]))) ++have;
      if (want && have == want) {
        std::memcpy(utf8 + n_utf8, held + in, want);
        n_utf8 += want;
        in += want;
      } else if (want && in + have == count && !all) {
        break;  // may be completed by the next token
      } else {
        std::memcpy(utf8 + n_utf8, "\xEF\xBF\xBD", 3);
        n_utf8 += 3;
        in += have ? have : 1;
      }
    }
    for (size_t i = in < sizeof passed ? 0 : in - sizeof passed; i < in; ++i) {
      if (n_passed == sizeof passed) std::memmove(passed, passed + 1, --n_passed);
      passed[n_passed++] = held[i];
    }
    std::memmove(held, held + in, n - in);
    n -= in;
  }
  static bool continues(unsigned char lead, size_t at, unsigned char c) {
    if (at == 1) {
      if (lead == 0xE0) return c >= 0xA0 && c < 0xC0;
      if (lead == 0xED) return c >= 0x80 && c < 0xA0;
      if (lead == 0xF0) return c >= 0x90 && c < 0xC0;
      if (lead == 0xF4) return c >= 0x80 && c < 0x90;
    }
    return c >= 0x80 && c < 0xC0;
  }
  // Which of the strings the text ends with; kNoStop: none. A stop string is held from its beginning on.
  uint32_t ends_with(const StopStrings& strings) const {
    for (uint32_t i = 0; i < strings.n; ++i) {
      const size_t len = strings.bytes[i], before = len > n ? len - n : 0;
      if (before <= n_passed && std::memcmp(held + n - (len - before), strings.text[i] + before, len - before) == 0 &&
          std::memcmp(passed + n_passed - before, strings.text[i], before) == 0)
        return i;
    }
    return kNoStop;
  }
  // The last `len` bytes are a string that ends the text, as far as it is held.
  void cut(size_t len) {
    n -= len < n ? len : n;
    emit(n, true);
  }
  // Adds a token's bytes from *at on, one by one. False: what is held is full, and utf8 too, so that the caller takes that and comes again.
  // After a stop string nothing is held, and the rest of the token is no text. After a banned string (`ban`) all is held: the caller takes
  // tokens back or cuts. So that it can, and sees a stop string that begins before them, they are held as long as they are open: border(k)
  // is how many bytes the last tokens have, up to and with the one that byte k from the end is in.
  template <class Border>
  bool feed(const StopStrings& stops, const StopStrings& bans, std::string_view bytes, size_t* at, Border border) {
    const auto larger = [](size_t a, size_t b) { return a > b ? a : b; };
    const bool whole = *at == 0;
    for (; *at < bytes.size(); ++*at) {
      if (n == kHeldBytes) {
        emit(n - larger(may_begin(stops, 0, n), may_begin(bans, 0, n)), false);
        open = 0;
        return false;
      }
      held[n++] = bytes[*at];
      if (const uint32_t i = ends_with(stops); i != kNoStop) {
        cut(stops.bytes[i]);
        stop = i;
        stop_end = *at + 1;
        *at = bytes.size();
        return true;
      }
      ban = ends_with(bans);
      if (ban != kNoStop) {
        stop_end = *at + 1;
        *at = bytes.size();
        return true;
      }
    }
    const size_t begun = whole ? may_begin(bans, n - open - bytes.size(), n) : 0;
    open = begun ? border(begun) : 0;
    emit(n - larger(may_begin(stops, 0, n), open ? open + may_begin(stops, 0, n - open) : 0), false);
    return true;
  }
};

}  // namespace linnet
