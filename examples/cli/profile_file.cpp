// Device profiles: a flat YAML mapping, read strictly. YAML's conveniences (anchors, tags, nesting, several documents) have no
// place in a file that decides how a device runs, so each is refused where it stands.
#include <yaml.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "cli.h"

namespace linnet::cli {
namespace {

constexpr size_t kMaxProfileBytes = 64 << 10;

// What a plain (unquoted) scalar means in YAML's core schema, as far as it matters here.
bool is_plain_text(const std::string& s) {
  static const std::set<std::string> kWords = {"", "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE"};
  double number = 0;
  return !kWords.count(s) && !parse_real(s[0] == '+' ? s.substr(1) : s, &number) && s.substr(0, 2) != "0x";
}

constexpr struct LimitKey {
  const char* name;
  double Limits::*field;
} kLimitKeys[] = {{"read_gb_s", &Limits::read_gb_s}, {"int8_tops", &Limits::int8_tops}, {"f8_tops", &Limits::f8_tops}, {"float_tops", &Limits::float_tops}};

class Reader {
 public:
  Reader(const std::string& path, ProfileFile* out, std::string* why) : path_(path), out_(out), why_(why) {}
  ~Reader() {
    if (started_) yaml_parser_delete(&parser_);
  }
  bool read(const std::string& text);

 private:
  bool next(yaml_event_type_t want, const char* what, yaml_mark_t* mark = nullptr, std::string* text = nullptr, bool* quoted = nullptr);
  bool entry(const std::string& key, yaml_mark_t key_at);
  bool refuse(const yaml_mark_t& at, const std::string& what);
  bool number(const std::string& key, const std::string& value, bool quoted, const yaml_mark_t& at, uint32_t max, uint32_t* out);

  std::string path_;
  ProfileFile* out_;
  std::string* why_;
  yaml_parser_t parser_ = {};
  bool started_ = false;
  bool mapping_end_ = false;
};

bool Reader::refuse(const yaml_mark_t& at, const std::string& what) {
  *why_ = path_ + ":" + std::to_string(at.line + 1) + ":" + std::to_string(at.column + 1) + ": " + what;
  return false;
}

const char* event_name(yaml_event_type_t type) {
  switch (type) {
    case YAML_ALIAS_EVENT: return "an alias";
    case YAML_SCALAR_EVENT: return "a value";
    case YAML_SEQUENCE_START_EVENT: return "a list";
    case YAML_MAPPING_START_EVENT: return "a nested mapping";
    case YAML_DOCUMENT_START_EVENT: return "a second document";
    case YAML_STREAM_END_EVENT: return "an empty file";
    default: return "something else";
  }
}

// Takes the next event, which must be `want`. Where a key is expected, the mapping may end instead (mapping_end_).
bool Reader::next(yaml_event_type_t want, const char* what, yaml_mark_t* mark, std::string* text, bool* quoted) {
  yaml_event_t event;
  if (!yaml_parser_parse(&parser_, &event)) {
    const bool reader = parser_.error == YAML_READER_ERROR;  // gives an offset, not a place
    return refuse(reader ? yaml_mark_t{} : parser_.problem_mark,
                  std::string(parser_.problem ? parser_.problem : "no YAML") +
                      (reader ? " at byte " + std::to_string(parser_.problem_offset) : std::string()));
  }
  const yaml_mark_t at = event.start_mark;
  if (mark) *mark = at;
  bool ok = true;
  mapping_end_ = false;
  if (event.type == YAML_MAPPING_END_EVENT && want == YAML_SCALAR_EVENT && std::strcmp(what, "a key") == 0) {
    mapping_end_ = true;
  } else if (event.type != want) {
    ok = refuse(at, std::string("expected ") + what + ", found " + event_name(event.type));
  } else if (event.type == YAML_SCALAR_EVENT) {
    const auto& scalar = event.data.scalar;
    if (scalar.anchor) ok = refuse(at, "anchors are not allowed");
    else if (scalar.tag) ok = refuse(at, "tags are not allowed");
    text->assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    *quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
  } else if (event.type == YAML_MAPPING_START_EVENT && (event.data.mapping_start.anchor || event.data.mapping_start.tag)) {
    ok = refuse(at, event.data.mapping_start.anchor ? "anchors are not allowed" : "tags are not allowed");
  }
  yaml_event_delete(&event);
  return ok;
}

bool Reader::number(const std::string& key, const std::string& value, bool quoted, const yaml_mark_t& at, uint32_t max, uint32_t* out) {
  uint64_t n = 0;
  if (quoted || !parse_count(value, &n) || n < 1 || n > max)
    return refuse(at, "'" + key + "' must be a whole number from 1 to " + std::to_string(max) + ", not '" + value + "'");
  *out = static_cast<uint32_t>(n);
  return true;
}

bool Reader::entry(const std::string& key, yaml_mark_t key_at) {
  yaml_mark_t at = {};
  std::string value;
  bool quoted = false;
  if (!next(YAML_SCALAR_EVENT, "a single value", &at, &value, &quoted)) return false;
  if (key == "threads") return number(key, value, quoted, at, 256, &out_->threads);
  if (key == "context") return number(key, value, quoted, at, 1u << 24, &out_->context);
  if (key == "chunk") return number(key, value, quoted, at, 4096, &out_->chunk);
  if (key == "spin") return number(key, value, quoted, at, 1u << 30, &out_->spin);
  for (const LimitKey& k : kLimitKeys)
    if (key == k.name)
      return (!quoted && parse_real(value, &(out_->limits.*k.field)) && out_->limits.*k.field > 0 && out_->limits.*k.field < 1e9) ||
             refuse(at, "'" + key + "' must be a number above 0, not '" + value + "'");
  if (key != "name" && key != "isa" && key != "kv" && key != "weights")
    return refuse(key_at, "unknown key '" + key + "' (known: name, isa, threads, kv, context, chunk, weights, spin, read_gb_s, int8_tops, f8_tops, float_tops)");
  if (!quoted && !is_plain_text(value)) return refuse(at, "'" + key + "' must be text, not '" + value + "'");
  if (key == "name") {
    out_->name = value;
    return true;
  }
  if (key == "isa") return parse_isa(value, &out_->isa) || refuse(at, "'isa': no tier is called '" + value + "'");
  linnet_format& format = key == "kv" ? out_->kv : out_->weights;
  format = linnet_format_from_name(value.c_str());
  return format != LINNET_FORMAT_DEFAULT || refuse(at, "'" + key + "': no format is called '" + value + "'");
}

bool Reader::read(const std::string& text) {
  if (!yaml_parser_initialize(&parser_)) return refuse({}, "out of memory");
  started_ = true;
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  if (!next(YAML_STREAM_START_EVENT, "a file") || !next(YAML_DOCUMENT_START_EVENT, "a mapping of keys to values") ||
      !next(YAML_MAPPING_START_EVENT, "a mapping of keys to values"))
    return false;
  std::set<std::string> seen;
  for (;;) {
    yaml_mark_t at = {};
    std::string key;
    bool quoted = false;
    if (!next(YAML_SCALAR_EVENT, "a key", &at, &key, &quoted)) return false;
    if (mapping_end_) break;
    if (!seen.insert(key).second) return refuse(at, "key '" + key + "' is there twice");
    if (!entry(key, at)) return false;
  }
  return next(YAML_DOCUMENT_END_EVENT, "the end") && next(YAML_STREAM_END_EVENT, "the end");
}

}  // namespace

bool read_profile(const std::string& path, ProfileFile* out, std::string* why) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  std::string text(kMaxProfileBytes + 1, '\0');
  const size_t n = file ? std::fread(text.data(), 1, text.size(), file) : 0;
  const bool ok = file && !std::ferror(file);
  if (!ok) *why = path + ": " + std::strerror(errno);
  if (file) std::fclose(file);
  if (!ok) return false;
  text.resize(n);
  if (n > kMaxProfileBytes) {
    *why = path + ": larger than 64 KiB, no device profile";
    return false;
  }
  *out = {};
  return Reader(path, out, why).read(text);
}

}  // namespace linnet::cli
