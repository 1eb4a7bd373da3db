// NFC and NFD over caller memory. For NFC a text is cut at characters that never join what stands before them (quick check "yes", class 0);
// only stretches in which something may change are decomposed, put in canonical order and composed.
#include <cstring>

#include "unicode.h"

namespace linnet::tok {
namespace {

#include "unicode_nfc.inc"

constexpr uint32_t kHangulS = 0xAC00, kHangulL = 0x1100, kHangulV = 0x1161, kHangulT = 0x11A7;
constexpr uint32_t kHangulVs = 21, kHangulTs = 28, kHangulSs = 19 * kHangulVs * kHangulTs, kHangulLs = 19;
constexpr uint32_t kCodeBits = 21, kCodeMask = (1u << kCodeBits) - 1;
constexpr size_t kDecomposeCount = sizeof kDecompose / sizeof kDecompose[0], kComposeCount = sizeof kCompose / sizeof kCompose[0];

struct NfcKind {
  uint8_t combining, check;
};
NfcKind kind_of(uint32_t code) {
  const uint32_t block = code / 64;
  if (block >= sizeof kNfcIndex / sizeof kNfcIndex[0]) return {0, 0};
  const auto& kind = kNfcKinds[kNfcKind[kNfcIndex[block] * 64u + code % 64]];
  return {kind.combining, kind.check};
}

// The entry of kDecompose for a code point, nullptr if it does not decompose.
const uint64_t* find_decomposition(uint32_t code) {
  size_t low = 0, high = kDecomposeCount;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const uint32_t there = static_cast<uint32_t>(kDecompose[middle] >> (2 * kCodeBits));
    if (there == code) return &kDecompose[middle];
    if (there < code)
      low = middle + 1;
    else
      high = middle;
  }
  return nullptr;
}

// 0 if the pair does not compose.
uint32_t compose_pair(uint32_t first, uint32_t second) {
  if (first - kHangulL < kHangulLs && second - kHangulV < kHangulVs)
    return kHangulS + ((first - kHangulL) * kHangulVs + (second - kHangulV)) * kHangulTs;
  if (first - kHangulS < kHangulSs && (first - kHangulS) % kHangulTs == 0 && second - kHangulT - 1 < kHangulTs - 1)
    return first + (second - kHangulT);
  const uint64_t want = uint64_t{first} << kCodeBits | second;
  constexpr uint64_t mask = (uint64_t{1} << (2 * kCodeBits)) - 1;
  size_t low = 0, high = kComposeCount;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const uint64_t entry = kDecompose[kCompose[middle]];
    if ((entry & mask) == want) return static_cast<uint32_t>(entry >> (2 * kCodeBits));
    if ((entry & mask) < want)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

// Code points of a stretch, each with its combining class in the bits above.
struct Codes {
  uint32_t* at;
  size_t n;
  void push(uint32_t code) { at[n++] = code | uint32_t{kind_of(code).combining} << kCodeBits; }
};

void decompose(uint32_t code, Codes* out) {
  if (code - kHangulS < kHangulSs) {
    const uint32_t s = code - kHangulS;
    out->push(kHangulL + s / (kHangulVs * kHangulTs));
    out->push(kHangulV + s % (kHangulVs * kHangulTs) / kHangulTs);
    if (s % kHangulTs) out->push(kHangulT + s % kHangulTs);
    return;
  }
  const uint64_t* entry = find_decomposition(code);
  if (!entry) return out->push(code);
  decompose(static_cast<uint32_t>(*entry >> kCodeBits) & kCodeMask, out);  // the table is ours: at most four deep
  if (const uint32_t second = static_cast<uint32_t>(*entry) & kCodeMask) decompose(second, out);
}

// Stable by combining class. Runs of marks are short in real text, but a counting sort keeps hostile ones linear.
void sort_marks(uint32_t* codes, size_t n, uint32_t* spare) {
  if (n < 32) {
    for (size_t i = 1; i < n; ++i) {
      const uint32_t code = codes[i];
      size_t j = i;
      for (; j && codes[j - 1] >> kCodeBits > code >> kCodeBits; --j) codes[j] = codes[j - 1];
      codes[j] = code;
    }
    return;
  }
  size_t start[257] = {};
  for (size_t i = 0; i < n; ++i) ++start[(codes[i] >> kCodeBits) + 1];
  for (size_t c = 1; c < 257; ++c) start[c] += start[c - 1];
  for (size_t i = 0; i < n; ++i) spare[start[codes[i] >> kCodeBits]++] = codes[i];
  std::memcpy(codes, spare, n * sizeof *codes);
}

void order_marks(const Codes& codes, uint32_t* spare) {
  for (size_t i = 0; i < codes.n;) {
    if (codes.at[i] >> kCodeBits == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < codes.n && codes.at[end] >> kCodeBits) ++end;
    sort_marks(codes.at + i, end - i, spare);
    i = end;
  }
}

void compose(Codes* codes) {
  size_t out = 0, starter = SIZE_MAX;
  uint32_t last_class = 0;  // of what was kept since the starter
  for (size_t i = 0; i < codes->n; ++i) {
    const uint32_t code = codes->at[i] & kCodeMask, combining = codes->at[i] >> kCodeBits;
    const bool adjacent = starter != SIZE_MAX && out == starter + 1;
    if (starter != SIZE_MAX && (adjacent || (last_class < combining && last_class != 0))) {
      if (const uint32_t joined = compose_pair(codes->at[starter], code)) {
        codes->at[starter] = joined;
        continue;
      }
    }
    if (combining == 0) starter = out;
    last_class = combining;
    codes->at[out++] = combining == 0 ? code : codes->at[i];
  }
  codes->n = out;
}

}  // namespace

size_t put_char(uint32_t code, char* out) {
  const auto put = [out](size_t i, uint32_t byte) { out[i] = static_cast<char>(byte); };
  if (code < 0x80) return put(0, code), 1;
  if (code < 0x800) return put(0, 0xC0 | code >> 6), put(1, 0x80 | (code & 0x3F)), 2;
  if (code < 0x10000) return put(0, 0xE0 | code >> 12), put(1, 0x80 | (code >> 6 & 0x3F)), put(2, 0x80 | (code & 0x3F)), 3;
  return put(0, 0xF0 | code >> 18), put(1, 0x80 | (code >> 12 & 0x3F)), put(2, 0x80 | (code >> 6 & 0x3F)), put(3, 0x80 | (code & 0x3F)), 4;
}

namespace {

// A stretch without bad bytes -> out.
void normal_stretch(const char* text, size_t n, bool composed, Writer* out, uint32_t* work) {
  Codes codes{work, 0};
  for (size_t i = 0; i < n;) {
    const Char c = next_char(text + i, n - i);
    decompose(c.code, &codes);
    i += c.bytes;
  }
  order_marks(codes, work + codes.n);
  if (composed) compose(&codes);
  char bytes[4];
  for (size_t i = 0; i < codes.n; ++i) out->put(bytes, put_char(codes.at[i] & kCodeMask, bytes));
}

}  // namespace

void nfc(const char* text, size_t n, Writer* out, uint32_t* work) {
  size_t done = 0;      // input that is written
  size_t begin = 0;     // the last character that joins nothing before it
  bool change = false;  // something since `begin` is not plainly NFC
  uint32_t last_class = 0;
  for (size_t i = 0; i <= n;) {
    Char c{kBadByte, 1};
    NfcKind kind{0, 0};
    if (i < n) {
      c = next_char(text + i, n - i);
      if (c.code != kBadByte) kind = kind_of(c.code);
    }
    if (kind.combining == 0 && kind.check == 0) {  // also a bad byte and the end
      if (change) {
        out->put(text + done, begin - done);
        normal_stretch(text + begin, i - begin, true, out, work);
        done = i;
      }
      begin = c.code == kBadByte ? i + (i < n) : i;
      change = false;
      last_class = 0;
    } else {
      change = change || kind.check != 0 || (kind.combining != 0 && kind.combining < last_class);
      last_class = kind.combining;
    }
    i += c.bytes;
  }
  out->put(text + done, n - done);
}

void nfd(const char* text, size_t n, Writer* out, uint32_t* work) {
  size_t begin = 0;
  for (size_t i = 0; i <= n;) {
    const Char c = i < n ? next_char(text + i, n - i) : Char{kBadByte, 1};
    if (c.code == kBadByte) {
      normal_stretch(text + begin, i - begin, false, out, work);
      if (i < n) out->put(text + i, 1);
      begin = i + 1;
    }
    i += c.bytes;
  }
}

}  // namespace linnet::tok
