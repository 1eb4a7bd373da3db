// The text of linnet_generate on its way to the caller: whole characters only, and nothing that may become a stop string.
#pragma once
#include <cstring>
#include <string_view>

#include "../runtime/include/linnet.h"

namespace linnet {

inline constexpr size_t kHeldBytes = 4096;  // text of linnet_generate that is held back

// Text that linnet_generate holds back: bytes of an unfinished character and what may become a stop string.
struct TextOut {
  char *held, *utf8;  // (kHeldBytes), (3 * kHeldBytes)
  const linnet_generate_params& params;
  linnet_token_fn fn;
  void* user;
  size_t n = 0;  // bytes in `held`

  // Bytes at the end of held that may be the beginning of a stop string.
  size_t may_stop() const {
    size_t most = 0;
    for (uint32_t i = 0; i < params.n_stop; ++i) {
      const size_t len = std::strlen(params.stop[i]);
      for (size_t k = len - 1 < n ? len - 1 : n; k > most; --k)
        if (std::memcmp(held + n - k, params.stop[i], k) == 0) {
          most = k;
          break;
        }
    }
    return most;
  }
  // Length of a stop string that held ends with, or 0.
  size_t stop_match() const {
    for (uint32_t i = 0; i < params.n_stop; ++i) {
      const size_t len = std::strlen(params.stop[i]);
      if (len <= n && std::memcmp(held + n - len, params.stop[i], len) == 0) return len;
    }
    return 0;
  }
  // Passes the first `count` bytes on, bytes that are no UTF-8 as U+FFFD; keeps an unfinished last character unless `all`.
  bool emit(int32_t token, size_t count, bool all) {
    size_t in = 0, out = 0;
    while (in < count) {
      const unsigned char c = static_cast<unsigned char>(held[in]);
      const size_t want = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
      size_t have = want ? 1 : 0;
      while (have < want && in + have < count && continues(c, have, static_cast<unsigned char>(held[in + have]))) ++have;
      if (want && have == want) {
        std::memcpy(utf8 + out, held + in, want);
        out += want;
        in += want;
      } else if (want && in + have == count && !all) {
        break;  // may be completed by the next token
      } else {
        std::memcpy(utf8 + out, "\xEF\xBF\xBD", 3);
        out += 3;
        in += have ? have : 1;
      }
    }
    std::memmove(held, held + in, n - in);
    n -= in;
    return fn && (token >= 0 || out) && fn(user, token, utf8, out) != 0;
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
};

// Adds a token's bytes one by one. *why becomes STOP_STRING or STOP_CALLBACK where they end the generation.
inline void pass_token(TextOut& text, int32_t token, std::string_view bytes, linnet_stop* why) {
  for (const char c : bytes) {
    if (text.n == kHeldBytes && text.emit(-1, text.n - text.may_stop(), false)) *why = LINNET_STOP_CALLBACK;
    text.held[text.n++] = c;
    if (const size_t stop = text.stop_match()) {
      text.n -= stop;
      text.emit(token, text.n, true);
      *why = LINNET_STOP_STRING;
      return;
    }
  }
  if (text.emit(token, text.n - text.may_stop(), false)) *why = LINNET_STOP_CALLBACK;
}

}  // namespace linnet
