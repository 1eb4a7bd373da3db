// JSON out (and single JSON strings in), progress, small helpers for text and numbers.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {
namespace {

// Length of the well-formed UTF-8 character at the front of `s` (no surrogates, no overlong forms), 0 if there is none.
size_t utf8_length(std::string_view s) {
  const auto at = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const auto follows = [&](size_t i) { return (at(i) & 0xC0u) == 0x80u; };
  const unsigned a = at(0), b = at(1);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a < 0xE0) return follows(1) ? 2 : 0;
  if (a >= 0xE0 && a < 0xF0) {
    if ((a == 0xE0 && b < 0xA0) || (a == 0xED && b >= 0xA0)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (a >= 0xF0 && a < 0xF5) {
    if ((a == 0xF0 && b < 0x90) || (a == 0xF4 && b >= 0x90)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string* out, uint32_t c) {
  const auto put = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  }
}

bool hex4(std::string_view s, uint32_t* out) {
  if (s.size() < 4) return false;
  *out = 0;
  for (const char c : s.substr(0, 4)) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return false;
    *out = *out << 4 | static_cast<uint32_t>(digit);
  }
  return true;
}

// One escape, `s` behind its backslash. Returns the bytes used, 0 if it is none.
size_t read_escape(std::string_view s, std::string* out, const char** why) {
  static constexpr char kFrom[] = "\"\\/bfnrt", kTo[] = "\"\\/\b\f\n\r\t";
  *why = "unknown escape";
  if (s.empty()) return 0;
  if (const char* at = std::strchr(kFrom, s[0]); at && s[0]) {
    out->push_back(kTo[at - kFrom]);
    return 1;
  }
  uint32_t c = 0, low = 0;
  if (s[0] != 'u' || !hex4(s.substr(1), &c)) return 0;
  if (c < 0xD800 || c > 0xDFFF) {
    append_utf8(out, c);
    return 5;
  }
  *why = "half of a surrogate pair";
  if (c > 0xDBFF || s.size() < 11 || s[5] != '\\' || s[6] != 'u' || !hex4(s.substr(7), &low) || low < 0xDC00 || low > 0xDFFF) return 0;
  append_utf8(out, 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00));
  return 11;
}

std::string_view trim_blanks(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

}  // namespace

void Json::separate() {
  if (comma_) text_ += ',';
  comma_ = true;
}

Json& Json::open(char bracket) {
  separate();
  text_ += bracket;
  open_.push_back(bracket == '{' ? '}' : ']');
  comma_ = false;
  return *this;
}

Json& Json::end() {
  text_ += open_.back();
  open_.pop_back();
  comma_ = true;
  return *this;
}

Json& Json::key(std::string_view name) {
  value(name);
  text_ += ':';
  comma_ = false;
  return *this;
}

Json& Json::value(std::string_view text) {
  separate();
  text_ += '"';
  while (!text.empty()) {
    const size_t n = utf8_length(text);
    const char c = text[0];
    if (n == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (c == '\t') {
      text_ += "\\t";
    } else if (const std::string shown = printable(text.substr(0, n));
               shown.size() > n && shown[0] == '\\') {  // as a terminal may see it, in JSON's way
      text_ += shown[1] == 'x' ? "\\u00" + shown.substr(2) : shown;
    } else {
      text_ += text.substr(0, n);
    }
    text.remove_prefix(std::max<size_t>(n, 1));
  }
  text_ += '"';
  return *this;
}

Json& Json::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", number);
  text_ += text;
  return *this;
}

Json& Json::value(uint64_t number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

Json& Json::value(int64_t number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

Json& Json::value(bool b) {
  separate();
  text_ += b ? "true" : "false";
  return *this;
}

bool shows_style(std::FILE* file) { return on_terminal(file) && environment("NO_COLOR").empty() && environment("TERM") != "dumb"; }

Json& Json::null() {
  separate();
  text_ += "null";
  return *this;
}

Json& Json::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

void Json::print() const {
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  std::fputc('\n', stdout);
}

bool parse_json_string(std::string_view line, std::string* out, const char** why) {
  out->clear();
  std::string_view s = trim_blanks(line);
  *why = "not a JSON string";
  if (s.size() < 2 || s[0] != '"') return false;
  s.remove_prefix(1);
  while (!s.empty() && s[0] != '"') {
    size_t n = 0;
    if (s[0] == '\\') {
      n = read_escape(s.substr(1), out, why);
      if (n == 0) return false;
      ++n;
    } else {
      n = utf8_length(s);
      *why = n == 0 ? "bytes that are no UTF-8" : "a control character that is not escaped";
      if (n == 0 || static_cast<unsigned char>(s[0]) < 0x20) return false;
      out->append(s.substr(0, n));
    }
    s.remove_prefix(n);
  }
  *why = s.empty() ? "the string does not end" : "something follows the string";
  return s.size() == 1;
}

std::string human_bytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double v = static_cast<double>(bytes);
  size_t unit = 0;
  while (v >= 999.5 && unit + 1 < std::size(kUnits)) v /= 1000, ++unit;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 || v >= 99.95 ? "%.0f %s" : v >= 9.995 ? "%.1f %s" : "%.2f %s", v, kUnits[unit]);
  return text;
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

bool read_stdin(std::string* out) {
  out->clear();
  for (int c; (c = input_byte()) != EOF;) out->push_back(static_cast<char>(c));
  return errno == 0;
}

bool read_text_file(const Args& args, const std::string& path, std::string* out) {
  linnet_error err = {};
  if (convert::read_file(path, size_t{1} << 30, out, nullptr, &err) == LINNET_OK) return true;
  failed(args, err);
  return false;
}

linnet_status begin_file(const std::string& path, linnet_session* session, convert::WholeFile* file, linnet_error* err) {
  const PathInfo info = path_info(path);
  // A device or FIFO is written to as it is: nothing is left behind, and to open it may wait for somebody.
  if (!info.there || info.regular) interrupt_cancels(session);
  return file->open(path, true, err);
}

Progress::Progress(const char* what) : what_(what), terminal_(says(Log::kInfo) && on_terminal(stderr)) {}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
}

int Progress::callback(void* progress, uint64_t done, uint64_t total) {
  Progress& p = *static_cast<Progress*>(progress);
  const double now = seconds_now();
  if (p.terminal_ && total > 0 && now - p.last_ > 0.1) {
    static constexpr char kBar[] = "##############################";
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const int width = static_cast<int>(sizeof kBar) - 1;
    std::fprintf(stderr, "\r%s [%-*.*s] %3.0f %%  %s ", p.what_, width, static_cast<int>(share * width), kBar, share * 100,
                 human_bytes(done).c_str());
    p.shown_ = true;
    p.last_ = now;
  }
  return interrupted() ? 1 : 0;
}

}  // namespace linnet::cli
