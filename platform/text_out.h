// The text of a generation on its way to the caller: whole characters only, and nothing that may become a stop string.
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

// Text that is held back: bytes of an unfinished character and what may become a stop string.
struct TextOut {
  char held[kHeldBytes];
  size_t n;         // bytes in `held`
  char* utf8;       // (3 * kHeldBytes) what became certain is appended here
  size_t n_utf8;    // bytes there
  uint32_t stop;    // the string that appeared; kNoStop: none has
  size_t stop_end;  // bytes of the last token up to its end
  static constexpr uint32_t kNoStop = kMaxStops;

  void begin(char* room) { n = n_utf8 = stop_end = 0, utf8 = room, stop = kNoStop; }

  // Bytes at the end of held that may be the beginning of a stop string.
  size_t may_stop(const StopStrings& stops) const {
    size_t most = 0;
    for (uint32_t i = 0; i < stops.n; ++i) {
      const size_t len = stops.bytes[i];
      for (size_t k = len - 1 < n ? len - 1 : n; k > most; --k)
        if (std::memcmp(held + n - k, stops.text[i], k) == 0) {
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
  // Adds a token's bytes from *at on, one by one. False: what is held is full, and utf8 too, so that the caller takes that and comes again.
  // After a stop string nothing is held, and the rest of the token is no text.
  bool feed(const StopStrings& stops, std::string_view bytes, size_t* at) {
    for (; *at < bytes.size(); ++*at) {
      if (n == kHeldBytes) {
        emit(n - may_stop(stops), false);
        return false;
      }
      held[n++] = bytes[*at];
      for (uint32_t i = 0; i < stops.n; ++i) {
        const size_t len = stops.bytes[i];
        if (len > n || std::memcmp(held + n - len, stops.text[i], len) != 0) continue;
        n -= len;
        emit(n, true);
        stop = i;
        stop_end = *at + 1;
        *at = bytes.size();
        return true;
      }
    }
    emit(n - may_stop(stops), false);
    return true;
  }
};

}  // namespace linnet
