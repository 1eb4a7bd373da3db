#include "config.h"

#include <yaml.h>

#include <charconv>
#include <cstdio>
#include <set>

#include "files.h"

namespace assistant {
namespace {

constexpr size_t kMaxFile = 64 << 10, kMaxItems = 64, kMaxText = 1000;

enum class Kind { kText, kPath, kFlag, kCount, kReal, kTexts, kSection };
struct Key {
  const char* section;  // "" = top
  const char* name;
  Kind kind;
  void* to = nullptr;
  double min = 0, max = 0;
};

class Reader {
 public:
  Reader(const std::string& path, Config* c, std::string* why)
      : path_(path),
        why_(why),
        keys_{
            {"", "model", Kind::kPath, &c->conversation.model},
            {"", "tools", Kind::kPath, &c->conversation.tools},
            {"", "state", Kind::kPath, &c->tools.state},
            {"", "threads", Kind::kCount, &c->conversation.n_threads, 1, 256},
            {"", "context", Kind::kCount, &c->conversation.n_context, 0, 1 << 24},
            {"", "turns", Kind::kCount, &c->conversation.n_turns, 1, 1000},
            {"", "room", Kind::kText, &c->tools.room},
            {"", "rooms", Kind::kTexts, &c->tools.rooms},
            {"", "barge_in", Kind::kFlag, &c->pipeline.barge_in},
            {"", "early_prefill", Kind::kFlag, &c->pipeline.early_prefill},
            {"", "microphone", Kind::kText, &c->microphone},
            {"", "speaker", Kind::kText, &c->speaker},
            {"", "recognizer", Kind::kSection},
            {"recognizer", "engine", Kind::kText, &c->recognizer.engine},
            {"recognizer", "acoustic", Kind::kPath, &c->recognizer.acoustic},
            {"recognizer", "language", Kind::kPath, &c->recognizer.language},
            {"recognizer", "dictionary", Kind::kPath, &c->recognizer.dictionary},
            {"recognizer", "voice", Kind::kPath, &c->recognizer.voice},
            {"recognizer", "command", Kind::kTexts, &c->recognizer.command},
            {"recognizer", "time_limit_s", Kind::kReal, &c->recognizer.time_limit_s, 0.1, 600},
            {"", "synthesizer", Kind::kSection},
            {"synthesizer", "engine", Kind::kText, &c->synthesizer.engine},
            {"synthesizer", "voice", Kind::kText, &c->synthesizer.voice},
            {"synthesizer", "speed", Kind::kReal, &c->synthesizer.speed, 0.5, 2},
            {"synthesizer", "command", Kind::kTexts, &c->synthesizer.command},
            {"synthesizer", "time_limit_s", Kind::kReal, &c->synthesizer.time_limit_s, 0.1, 600},
        } {
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos) folder_ = path.substr(0, slash + 1);
  }
  ~Reader() {
    drop();
    if (made_) yaml_parser_delete(&parser_);
  }

  bool read(const std::string& text) {
    if (!yaml_parser_initialize(&parser_)) return *why_ = path_ + ": no memory", false;
    made_ = true;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    if (!next() || !next()) return false;                   // stream, document
    if (event_.type == YAML_STREAM_END_EVENT) return true;  // an empty file says nothing
    if (!next()) return false;
    if (event_.type == YAML_SCALAR_EVENT && event_.data.scalar.length == 0) return next() && end_of_stream();
    return mapping("") && next() && end_of_stream();
  }

 private:
  void drop() {
    if (have_) yaml_event_delete(&event_);
    have_ = false;
  }
  bool fail(const yaml_mark_t& at, const std::string& what) {
    *why_ = path_ + ":" + std::to_string(at.line + 1) + ":" + std::to_string(at.column + 1) + ": " + what;
    return false;
  }
  bool fail(const std::string& what) { return fail(event_.start_mark, what); }

  bool next() {
    drop();
    if (!yaml_parser_parse(&parser_, &event_)) {
      if (parser_.error == YAML_MEMORY_ERROR) return *why_ = path_ + ": no memory", false;
      return fail(parser_.problem_mark, parser_.problem ? parser_.problem : "no YAML");
    }
    have_ = true;
    switch (event_.type) {
      case YAML_ALIAS_EVENT:
        return fail("aliases are not taken");
      case YAML_SCALAR_EVENT:
        if (event_.data.scalar.anchor || event_.data.scalar.tag) return fail("anchors and tags are not taken");
        return true;
      case YAML_SEQUENCE_START_EVENT:
        if (event_.data.sequence_start.anchor || event_.data.sequence_start.tag) return fail("anchors and tags are not taken");
        return true;
      case YAML_MAPPING_START_EVENT:
        if (event_.data.mapping_start.anchor || event_.data.mapping_start.tag) return fail("anchors and tags are not taken");
        return true;
      default:
        return true;
    }
  }
  bool end_of_stream() {
    return event_.type == YAML_DOCUMENT_END_EVENT && next() && (event_.type == YAML_STREAM_END_EVENT || fail("only one document is taken"));
  }

  std::string scalar() const { return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length}; }

  bool mapping(const std::string& section) {
    if (event_.type != YAML_MAPPING_START_EVENT) return fail((section.empty() ? "the file" : section) + " is a mapping of keys to values");
    std::set<std::string> seen;
    for (;;) {
      if (!next()) return false;
      if (event_.type == YAML_MAPPING_END_EVENT) return true;
      if (event_.type != YAML_SCALAR_EVENT) return fail("a key is a word");
      const std::string name = scalar().substr(0, 40);
      const Key* key = nullptr;
      for (const Key& k : keys_)
        if (section == k.section && name == k.name) key = &k;
      if (!key) return fail((section.empty() ? "" : section + ": ") + "there is no key \"" + name + "\"");
      if (!seen.insert(name).second) return fail("\"" + name + "\" stands here twice");
      if (!next()) return false;
      if (key->kind == Kind::kSection ? !mapping(name) : !value(*key)) return false;
    }
  }

  bool text(const Key& key, std::string* out) {
    if (event_.type != YAML_SCALAR_EVENT) return fail(std::string(key.name) + " is a text");
    *out = scalar();
    if (out->size() > kMaxText || out->find('\0') != std::string::npos)
      return fail(std::string(key.name) + " is a text of at most 1000 bytes");
    return true;
  }

  bool value(const Key& key) {
    std::string s;
    if (key.kind == Kind::kTexts) {
      auto& out = *static_cast<std::vector<std::string>*>(key.to);
      out.clear();
      if (event_.type != YAML_SEQUENCE_START_EVENT) return fail(std::string(key.name) + " is a list of texts");
      for (;;) {
        if (!next()) return false;
        if (event_.type == YAML_SEQUENCE_END_EVENT) return true;
        if (out.size() == kMaxItems) return fail(std::string(key.name) + " holds at most 64 texts");
        if (!text(key, &s)) return false;
        out.push_back(s);
      }
    }
    if (!text(key, &s)) return false;
    switch (key.kind) {
      case Kind::kText:
        *static_cast<std::string*>(key.to) = s;
        return true;
      case Kind::kPath:
        *static_cast<std::string*>(key.to) = s.empty() || s.front() == '/' ? s : folder_ + s;
        return true;
      case Kind::kFlag:
        if (s != "true" && s != "false") return fail(std::string(key.name) + " is true or false, not \"" + s.substr(0, 40) + "\"");
        *static_cast<bool*>(key.to) = s == "true";
        return true;
      default:
        break;
    }
    double x = 0;
    uint32_t n = 0;
    const bool whole = key.kind == Kind::kCount;
    const auto [end, ec] = whole ? std::from_chars(s.data(), s.data() + s.size(), n) : std::from_chars(s.data(), s.data() + s.size(), x);
    const bool in_range = whole ? n >= static_cast<uint32_t>(key.min) && n <= static_cast<uint32_t>(key.max) : x >= key.min && x <= key.max;
    if (ec != std::errc() || end != s.data() + s.size() || !in_range) {
      char range[80];
      std::snprintf(range, sizeof range, "a %s from %.10g to %.10g", whole ? "whole number" : "number", key.min, key.max);
      return fail(std::string(key.name) + " is " + range + ", not \"" + s.substr(0, 40) + "\"");
    }
    if (whole)
      *static_cast<uint32_t*>(key.to) = n;
    else
      *static_cast<double*>(key.to) = x;
    return true;
  }

  const std::string path_;
  std::string* const why_;
  const std::vector<Key> keys_;
  std::string folder_;
  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
  bool made_ = false, have_ = false;
};

}  // namespace

bool read_config(const std::string& path, Config* config, std::string* why) {
  std::string text;
  if (read_file(path, kMaxFile, &text, nullptr, why) != LINNET_OK) return false;
  return Reader(path, config, why).read(text);
}

}  // namespace assistant
