// Device profiles in YAML, read strictly. YAML's conveniences (anchors, tags, deep nesting, several documents) have no place in a file that
// decides how a device runs, so each is refused where it stands. A library of its own: the core needs no libyaml, and takes a
// linnet_profile that was filled by hand as well. Its API is in linnet_device.h.
#include <yaml.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../platform/board.h"
#include "../platform/folder.h"
#include "format.h"
#include "guard.h"
#include "params.h"

namespace linnet {
namespace {

constexpr size_t kMaxProfileBytes = 64 << 10, kMaxItems = 16, kMaxTextBytes = 63;

// `match:` of a profile; what is empty or 0 is no rule.
struct Rules {
  uint32_t arch, isa, android;  // linnet_arch; the board has this tier; linnet_switch
  uint32_t cores_min, cores_max, clusters_min, memory_min_mib, memory_max_mib;
};
struct Names {
  std::vector<std::string> model, cpu, part;  // one of them: is contained in the board's model (or in what it is compatible with), in its
                                              // CPU's name, is the part of some cluster
};

struct Word {
  const char* name;
  uint32_t value;
};
constexpr Word kArchs[] = {{"x86_64", LINNET_ARCH_X86_64}, {"aarch64", LINNET_ARCH_AARCH64}, {"arm", LINNET_ARCH_ARM}, {}};
constexpr Word kCudaUse[] = {{"on", LINNET_CUDA_ON},   {"off", LINNET_CUDA_OFF},   {"auto", LINNET_CUDA_AUTO},
                             {"true", LINNET_CUDA_ON}, {"false", LINNET_CUDA_OFF}, {}};
constexpr Word kGemm[] = {{"exact", LINNET_GEMM_EXACT}, {"fast", LINNET_GEMM_FAST}, {}};
constexpr Word kSwitch[] = {{"true", LINNET_SWITCH_ON}, {"false", LINNET_SWITCH_OFF}, {}};
constexpr Word kTeams[] = {{"openmp", LINNET_THREADS_OPENMP}, {"own", LINNET_THREADS_OWN}, {}};
constexpr Word kWaits[] = {{"spin", LINNET_WAIT_SPIN}, {"sleep", LINNET_WAIT_SLEEP}, {}};
constexpr Word kFull[] = {{"stop", LINNET_FULL_STOP},     {"drop-oldest", LINNET_FULL_DROP_OLDEST},
                          {"sinks", LINNET_FULL_SINKS},   {"heavy-hitters", LINNET_FULL_HEAVY_HITTERS},
                          {"snapkv", LINNET_FULL_SNAPKV}, {}};
constexpr Word kPrefill[] = {
    {"native", LINNET_PREFILL_NATIVE}, {"onednn", LINNET_PREFILL_ONEDNN}, {"measured", LINNET_PREFILL_MEASURED}, {}};
constexpr Word kBattery[] = {{"ignore", LINNET_BATTERY_IGNORE}, {"save", LINNET_BATTERY_SAVE}, {}};
constexpr Word kCores[] = {{"all", LINNET_CORES_ALL}, {"big", LINNET_CORES_BIG}, {"little", LINNET_CORES_LITTLE}, {}};
constexpr Word kSections[] = {{"match", 1}, {"power", 2}, {"peaks", 3}, {"cuda", 4}, {}};
enum Section : uint32_t { kTop, kMatch, kPower, kPeaks, kCuda };

enum class Kind {
  kName,    // text of at most 63 bytes
  kTexts,   // text, or a list of texts
  kWord,    // one of `words`
  kCount,   // a whole number in [min, max]
  kSigned,  // ... that may be negative
  kMib,     // ... of MiB, kept in bytes
  kReal,    // a number above min and at most max, double
  kReal32,  // ... float
  kSteps,   // a list of whole numbers, each smaller than the one before
  kIsa,
  kWeights,
  kKv,
  kCpus,
  kSection,  // a mapping of its own
};

struct Key {
  Section section;
  const char* name;
  Kind kind;
  size_t offset = 0;        // in linnet_profile, in Rules for kMatch
  double min = 0, max = 0;  // whole ones but for kReal and kReal32
  const Word* words = nullptr;
};

#define AT(field) offsetof(linnet_profile, field)
const Key kKeys[] = {
    {kTop, "name", Kind::kName},
    {kTop, "match", Kind::kSection},
    {kTop, "isa", Kind::kIsa, AT(isa)},
    {kTop, "threads", Kind::kCount, AT(n_threads), 1, 256},
    {kTop, "thread_kind", Kind::kWord, AT(threads), 0, 0, kTeams},
    {kTop, "cores", Kind::kCpus},
    {kTop, "wait", Kind::kWord, AT(wait), 0, 0, kWaits},
    {kTop, "spin", Kind::kCount, AT(spin), 1, 1 << 30},
    {kTop, "weights", Kind::kWeights, AT(weights)},
    {kTop, "kv", Kind::kKv},
    {kTop, "context", Kind::kCount, AT(n_context), 1, 1 << 24},
    {kTop, "chunk", Kind::kCount, AT(n_chunk), 1, 4096},
    {kTop, "when_full", Kind::kWord, AT(when_full), 0, 0, kFull},
    {kTop, "keep", Kind::kCount, AT(n_keep), 1, 1 << 24},
    {kTop, "memory_mib", Kind::kMib, AT(memory_bytes), 1, 1 << 30},
    {kTop, "huge_pages", Kind::kWord, AT(huge_pages), 0, 0, kSwitch},
    {kTop, "prefill", Kind::kWord, AT(prefill), 0, 0, kPrefill},
    {kTop, "power", Kind::kSection},
    {kTop, "peaks", Kind::kSection},
    {kTop, "cuda", Kind::kSection},
    {kMatch, "arch", Kind::kWord, offsetof(Rules, arch), 0, 0, kArchs},
    {kMatch, "isa", Kind::kIsa, offsetof(Rules, isa)},
    {kMatch, "model", Kind::kTexts},
    {kMatch, "cpu", Kind::kTexts},
    {kMatch, "part", Kind::kTexts},
    {kMatch, "android", Kind::kWord, offsetof(Rules, android), 0, 0, kSwitch},
    {kMatch, "cores_min", Kind::kCount, offsetof(Rules, cores_min), 1, LINNET_MAX_CPUS},
    {kMatch, "cores_max", Kind::kCount, offsetof(Rules, cores_max), 1, LINNET_MAX_CPUS},
    {kMatch, "clusters_min", Kind::kCount, offsetof(Rules, clusters_min), 1, 8},
    {kMatch, "memory_min_mib", Kind::kCount, offsetof(Rules, memory_min_mib), 1, 1 << 30},
    {kMatch, "memory_max_mib", Kind::kCount, offsetof(Rules, memory_max_mib), 1, 1 << 30},
    {kPower, "temperature_limit", Kind::kReal32, AT(temperature_limit), 0, 150},
    {kPower, "steps", Kind::kSteps, AT(steps), 1, 256},
    {kPower, "tokens_per_s", Kind::kReal32, AT(tokens_per_s), 0, 1e6},
    {kPower, "battery", Kind::kWord, AT(battery), 0, 0, kBattery},
    {kPower, "priority", Kind::kSigned, AT(priority), -20, 19},
    {kPower, "free_cores", Kind::kCount, AT(n_free_cores), 0, 255},
    {kPeaks, "read_gb_s", Kind::kReal, AT(read_gb_s), 0, 1e6},
    {kPeaks, "int8_tops", Kind::kReal, AT(int8_tops), 0, 1e6},
    {kPeaks, "f8_tops", Kind::kReal, AT(f8_tops), 0, 1e6},
    {kPeaks, "float_tops", Kind::kReal, AT(float_tops), 0, 1e6},
    {kCuda, "use", Kind::kWord, AT(cuda), 0, 0, kCudaUse},
    {kCuda, "sms", Kind::kCount, AT(cuda_sms), 1, 1024},
    {kCuda, "graph", Kind::kWord, AT(cuda_graph), 0, 0, kSwitch},
    {kCuda, "block_mib", Kind::kMib, AT(cuda_block_bytes), 1, 1 << 20},
    {kCuda, "zero_copy", Kind::kWord, AT(cuda_zero_copy), 0, 0, kSwitch},
    {kCuda, "gemm", Kind::kWord, AT(cuda_gemm), 0, 0, kGemm},
};
#undef AT

bool whole(std::string_view text, int64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}
bool real(std::string_view text, double* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

// What a plain (unquoted) scalar means in YAML's core schema, as far as it matters here.
bool plain_text(std::string_view s) {
  for (const char* w : {"", "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE"})
    if (s == w) return false;
  double number = 0;
  return !real(s[0] == '+' ? s.substr(1) : s, &number) && s.substr(0, 2) != "0x";
}

std::string words_text(const Word* words) {
  std::string out;
  for (; words->name; ++words) out += (out.empty() ? "" : words[1].name ? ", " : " or ") + std::string(words->name);
  return out;
}

std::string number_text(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", v);
  return text;
}

struct Scalar {
  std::string text;
  bool quoted = false;
  yaml_mark_t at = {};
};

class Reader {
 public:
  Reader(const char* name, linnet_profile* out, Rules* rules, Names* names, Error* err)
      : name_(name), out_(out), rules_(rules), names_(names), err_(err) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (event_there_) yaml_event_delete(&event_);
    if (started_) yaml_parser_delete(&parser_);
  }
  Status read(std::string_view text);

 private:
  Status refuse(const yaml_mark_t& at, const std::string& what);
  Status next();  // into event_
  Status expect(yaml_event_type_t type, const char* what);
  Status mapping(Section section);
  Status value(const Key& key);
  Status scalar(const Key& key, const Scalar& s);
  Status list(const Key& key);
  Status check_scalar(const char* what, Scalar* out);

  std::string name_;
  linnet_profile* out_;
  Rules* rules_;
  Names* names_;
  Error* err_;
  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
  bool started_ = false, event_there_ = false;
};

Status Reader::refuse(const yaml_mark_t& at, const std::string& what) {
  const Status status = fail(err_, LINNET_BAD_PROFILE, PathName(name_), ":", at.line + 1, ":", at.column + 1, ": ", what);
  if (err_) err_->line = static_cast<uint32_t>(std::min<size_t>(at.line + 1, UINT32_MAX));
  return status;
}

std::string shown(std::string_view value) { return "'" + std::string(value.substr(0, 40)) + (value.size() > 40 ? "...'" : "'"); }

const char* event_name(yaml_event_type_t type) {
  switch (type) {
    case YAML_ALIAS_EVENT:
      return "an alias";
    case YAML_SCALAR_EVENT:
      return "a value";
    case YAML_SEQUENCE_START_EVENT:
      return "a list";
    case YAML_MAPPING_START_EVENT:
      return "a nested mapping";
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      return "its end";
    case YAML_DOCUMENT_START_EVENT:
      return "a second document";
    case YAML_STREAM_END_EVENT:
      return "an empty file";
    default:
      return "something else";
  }
}

Status Reader::next() {
  if (event_there_) yaml_event_delete(&event_);
  event_there_ = false;
  if (!yaml_parser_parse(&parser_, &event_)) {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    const bool reader = parser_.error == YAML_READER_ERROR;  // gives an offset, not a place
    return refuse(reader ? yaml_mark_t{} : parser_.problem_mark, std::string("no YAML: ") + (parser_.problem ? parser_.problem : "?") +
                                                                     (reader ? " at byte " + std::to_string(parser_.problem_offset) : ""));
  }
  event_there_ = true;
  const yaml_event_t& e = event_;
  const bool anchor = (e.type == YAML_SCALAR_EVENT && e.data.scalar.anchor) ||
                      (e.type == YAML_MAPPING_START_EVENT && e.data.mapping_start.anchor) ||
                      (e.type == YAML_SEQUENCE_START_EVENT && e.data.sequence_start.anchor);
  const bool tag = (e.type == YAML_SCALAR_EVENT && e.data.scalar.tag) || (e.type == YAML_MAPPING_START_EVENT && e.data.mapping_start.tag) ||
                   (e.type == YAML_SEQUENCE_START_EVENT && e.data.sequence_start.tag);
  const bool directive =
      e.type == YAML_DOCUMENT_START_EVENT &&
      (e.data.document_start.version_directive || e.data.document_start.tag_directives.start != e.data.document_start.tag_directives.end);
  if (anchor) return refuse(e.start_mark, "anchors are not allowed");
  if (tag) return refuse(e.start_mark, "tags are not allowed");
  if (directive) return refuse(e.start_mark, "directives are not allowed");
  return LINNET_OK;
}

Status Reader::expect(yaml_event_type_t type, const char* what) {
  LINNET_TRY(next());
  return event_.type == type ? LINNET_OK
                             : refuse(event_.start_mark, std::string("expected ") + what + ", found " + event_name(event_.type));
}

// The event is to be a scalar.
Status Reader::check_scalar(const char* what, Scalar* out) {
  if (event_.type != YAML_SCALAR_EVENT)
    return refuse(event_.start_mark, std::string("expected ") + what + ", found " + event_name(event_.type));
  out->text.assign(reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length);
  out->quoted = event_.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  out->at = event_.start_mark;
  return LINNET_OK;
}

template <class T>
void put(void* base, size_t offset, T v) {
  static_assert(std::is_arithmetic_v<T>);
  std::memcpy(static_cast<char*>(base) + offset, &v, sizeof v);
}

bool isa_from_name(std::string_view name, uint32_t* out) {
  for (int i = LINNET_ISA_AUTO; const char* n = linnet_isa_name(static_cast<linnet_isa>(i)); ++i)
    if (name == n) {
      *out = static_cast<uint32_t>(i);
      return true;
    }
  return false;
}

bool kv_from_name(const std::string& name, uint32_t* out) {
  const linnet_format f = linnet_format_from_name(name.c_str());
  if (!format_kv(f)) return false;
  *out = f;
  return true;
}

Status Reader::scalar(const Key& key, const Scalar& s) {
  void* base = key.section == kMatch ? static_cast<void*>(rules_) : out_;
  const auto wrong = [&](const std::string& expected) {
    return refuse(s.at, "'" + std::string(key.name) + "' must be " + expected + ", not " + shown(s.text));
  };
  const bool text = s.quoted || plain_text(s.text);
  int64_t n = 0;
  double d = 0;
  uint32_t v = 0;
  const bool counted = !s.quoted && whole(s.text, &n) && n >= static_cast<int64_t>(key.min) && n <= static_cast<int64_t>(key.max);
  const std::string range = number_text(key.min) + " to " + number_text(key.max);
  switch (key.kind) {
    case Kind::kName:
      if (!text || s.text.size() > kMaxTextBytes) return wrong("text of 1 to 63 bytes");
      s.text.copy(out_->name, kMaxTextBytes);
      return LINNET_OK;
    case Kind::kTexts: {
      if (!text || s.text.empty() || s.text.size() > kMaxTextBytes) return wrong("text of 1 to 63 bytes, or a list of such");
      std::vector<std::string>& to = key.name[0] == 'm' ? names_->model : key.name[0] == 'c' ? names_->cpu : names_->part;
      to.push_back(s.text);
      return LINNET_OK;
    }
    case Kind::kWord:
      for (const Word* w = key.words; w->name; ++w)
        if (!s.quoted && s.text == w->name) {
          put(base, key.offset, w->value);
          return LINNET_OK;
        }
      return wrong(words_text(key.words));
    case Kind::kCount:
      if (!counted) return wrong("a whole number from " + range);
      put(base, key.offset, static_cast<uint32_t>(n));
      return LINNET_OK;
    case Kind::kSigned:
      if (!counted) return wrong("a whole number from " + range);
      put(base, key.offset, static_cast<int32_t>(n));
      return LINNET_OK;
    case Kind::kMib:
      if (!counted) return wrong("a whole number of MiB from " + range);
      put(base, key.offset, static_cast<uint64_t>(n) << 20);
      return LINNET_OK;
    case Kind::kReal:
    case Kind::kReal32:
      if (s.quoted || !real(s.text, &d) || !(d > key.min && d <= key.max))
        return wrong("a number above " + number_text(key.min) + ", at most " + number_text(key.max));
      if (key.kind == Kind::kReal)
        put(base, key.offset, d);
      else
        put(base, key.offset, static_cast<float>(d));
      return LINNET_OK;
    case Kind::kIsa:
      if (!text || !isa_from_name(s.text, &v)) return wrong("auto or a tier that 'linnet devices' lists");
      put(base, key.offset, v);
      return LINNET_OK;
    case Kind::kWeights:
      v = text ? linnet_format_from_name(s.text.c_str()) : LINNET_FORMAT_DEFAULT;
      if (!format_known(v)) return wrong("a format of weights, i8g128 for one");
      put(base, key.offset, v);
      return LINNET_OK;
    case Kind::kKv: {
      const size_t slash = s.text.find('/');
      const std::string k = s.text.substr(0, slash);
      if (!text || !kv_from_name(k, &out_->k_format) ||
          !kv_from_name(slash == std::string::npos ? k : s.text.substr(slash + 1), &out_->v_format))
        return wrong(std::string("a format of the KV cache, or two as i8/f16: ") + kKvFormatNames);
      return LINNET_OK;
    }
    case Kind::kCpus:
      for (const Word* w = kCores; w->name; ++w)
        if (!s.quoted && s.text == w->name) {
          out_->cores = w->value;
          return LINNET_OK;
        }
      if (linnet_cpus_parse(s.text.c_str(), &out_->cpus, nullptr) != LINNET_OK || s.text.find('\0') != std::string::npos)
        return wrong(words_text(kCores) + ", or a list of CPUs as 4-7");
      return LINNET_OK;
    case Kind::kSteps:
    case Kind::kSection:
      break;
  }
  return LINNET_OK;
}

// A list is made of single values; its start was the last event.
Status Reader::list(const Key& key) {
  size_t n = 0;
  uint32_t steps[sizeof(linnet_profile::steps) / sizeof(uint32_t)] = {};
  const yaml_mark_t start = event_.start_mark;
  for (;; ++n) {
    LINNET_TRY(next());
    if (event_.type == YAML_SEQUENCE_END_EVENT) break;
    Scalar s;
    LINNET_TRY(check_scalar("a single value in the list", &s));
    const size_t most = key.kind == Kind::kSteps ? sizeof steps / sizeof *steps : kMaxItems;
    if (n == most) return refuse(s.at, "'" + std::string(key.name) + "' has more than " + std::to_string(most) + " items");
    if (key.kind == Kind::kSteps) {
      int64_t v = 0;
      if (s.quoted || !whole(s.text, &v) || v < static_cast<int64_t>(key.min) || v > static_cast<int64_t>(key.max) ||
          (n && v >= int64_t{steps[n - 1]}))
        return refuse(s.at, "'steps' must be whole numbers from " + number_text(key.min) + " to " + number_text(key.max) +
                                ", each smaller than the one before, not " + shown(s.text));
      steps[n] = static_cast<uint32_t>(v);
    } else {
      LINNET_TRY(scalar(key, s));
    }
  }
  if (n == 0) return refuse(start, "'" + std::string(key.name) + "' is an empty list");
  if (key.kind == Kind::kSteps) std::memcpy(out_->steps, steps, sizeof steps);
  return LINNET_OK;
}

Status Reader::value(const Key& key) {
  LINNET_TRY(next());
  const bool is_list = event_.type == YAML_SEQUENCE_START_EVENT, is_mapping = event_.type == YAML_MAPPING_START_EVENT;
  if (key.kind == Kind::kSection) {
    if (!is_mapping)
      return refuse(event_.start_mark,
                    "expected a mapping of keys to values behind '" + std::string(key.name) + "', found " + event_name(event_.type));
    for (const Word* w = kSections; w->name; ++w)
      if (std::string_view(w->name) == key.name) return mapping(static_cast<Section>(w->value));
  }
  if (is_list && (key.kind == Kind::kTexts || key.kind == Kind::kSteps)) return list(key);
  if (key.kind == Kind::kSteps)
    return refuse(event_.start_mark, "expected a list behind 'steps', found " + std::string(event_name(event_.type)));
  Scalar s;
  LINNET_TRY(check_scalar(("a single value behind '" + std::string(key.name) + "'").c_str(), &s));
  return scalar(key, s);
}

// The mapping's start was the last event.
Status Reader::mapping(Section section) {
  std::set<std::string> seen;
  for (;;) {
    LINNET_TRY(next());
    if (event_.type == YAML_MAPPING_END_EVENT) return LINNET_OK;
    Scalar s;
    LINNET_TRY(check_scalar("a key", &s));
    const Key* key = nullptr;
    std::string known;
    for (const Key& k : kKeys) {
      if (k.section != section) continue;
      if (s.text == k.name) key = &k;
      known += (known.empty() ? "" : ", ") + std::string(k.name);
    }
    if (!key) return refuse(s.at, "unknown key " + shown(s.text) + ", expected one of " + known);
    if (!seen.insert(s.text).second) return refuse(s.at, "key '" + s.text + "' is there twice");
    LINNET_TRY(value(*key));
  }
}

Status Reader::read(std::string_view text) {
  if (!yaml_parser_initialize(&parser_)) throw std::bad_alloc();
  started_ = true;
  yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);  // else a byte order mark turns it to UTF-16
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  LINNET_TRY(expect(YAML_STREAM_START_EVENT, "a file"));
  LINNET_TRY(expect(YAML_DOCUMENT_START_EVENT, "a mapping of keys to values"));
  LINNET_TRY(expect(YAML_MAPPING_START_EVENT, "a mapping of keys to values"));
  LINNET_TRY(mapping(kTop));
  LINNET_TRY(expect(YAML_DOCUMENT_END_EVENT, "the end"));
  return expect(YAML_STREAM_END_EVENT, "the end");
}

// ---- matching --------------------------------------------------------------------------------------------------------------

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

std::string join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : " | ") + n;
  return out;
}

// Goes through the rules; each that holds adds its points, the first that does not ends it.
class Matcher {
 public:
  uint32_t points = 0;
  bool ok = true;
  std::string why;
  void rule(bool there, bool holds, uint32_t worth, const std::string& says, const std::string& has) {
    if (!there || !ok) return;
    if (holds) {
      points += worth;
      why += (why.empty() ? "" : ", ") + says;
      return;
    }
    ok = false;
    points = 0;
    why = says + ", but the board " + has;
  }
};

Status match_board(const Rules& r, const Names& n, const linnet_board& b, linnet_match* out, Error* err) {
  Matcher m;
  std::string arch = "is unknown", parts;
  for (const Word& w : kArchs)
    if (w.name && w.value == b.arch) arch = "is " + std::string(w.name);
  bool part = false;
  for (uint32_t i = 0; i < b.n_clusters; ++i) {
    parts += (i ? ", " : "") + std::string(b.clusters[i].part[0] ? b.clusters[i].part : "?");
    for (const std::string& p : n.part) part |= p == b.clusters[i].part;
  }
  const auto any = [](const std::vector<std::string>& names, const char* text) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& s) { return contains(text, s); });
  };
  const uint64_t mib = b.memory_bytes >> 20;
  const uint32_t memory_max = r.memory_max_mib ? r.memory_max_mib : UINT32_MAX, cores_max = r.cores_max ? r.cores_max : UINT32_MAX;
  const auto word_of = [](const Word* words, uint32_t v) {
    for (; words->name; ++words)
      if (words->value == v) return std::string(words->name);
    return std::string();
  };
  m.rule(r.arch, r.arch == b.arch, 1, "arch " + word_of(kArchs, r.arch), arch);
  m.rule(!n.model.empty(), any(n.model, b.model) || any(n.model, b.compatible), 1024, "model '" + join(n.model) + "'",
         b.model[0] ? "is a '" + std::string(b.model) + "'" : "does not say its model");
  m.rule(!n.cpu.empty(), any(n.cpu, b.cpu), 512, "cpu '" + join(n.cpu) + "'",
         b.cpu[0] ? "has '" + std::string(b.cpu) + "'" : "does not say its CPU");
  m.rule(!n.part.empty(), part, 256, "part " + join(n.part), "has " + parts);
  m.rule(r.android, (r.android == LINNET_SWITCH_ON) == (b.android != 0), 64,
         std::string("android ") + (r.android == LINNET_SWITCH_ON ? "true" : "false"), b.android ? "runs it" : "does not run it");
  m.rule(r.isa, b.isa_mask >> r.isa & 1, r.isa, std::string("isa ") + (r.isa ? linnet_isa_name(static_cast<linnet_isa>(r.isa)) : ""),
         "has it not");
  m.rule(r.clusters_min, b.n_clusters >= r.clusters_min, 16, "clusters from " + std::to_string(r.clusters_min),
         "has " + std::to_string(b.n_clusters));
  m.rule(r.cores_min || r.cores_max, b.n_cores >= r.cores_min && b.n_cores <= cores_max, 16,
         "cores " + std::to_string(r.cores_min) + " to " + (r.cores_max ? std::to_string(r.cores_max) : "any"),
         "has " + std::to_string(b.n_cores));
  m.rule(r.memory_min_mib || r.memory_max_mib, mib >= r.memory_min_mib && mib <= memory_max, 32,
         "memory " + std::to_string(r.memory_min_mib) + " to " + (r.memory_max_mib ? std::to_string(r.memory_max_mib) : "any") + " MiB",
         "has " + std::to_string(mib));
  if (m.ok && m.points == 0) {
    m.ok = false;
    m.why = "no rules: taken by name alone";
  }
  linnet_match found = {};
  found.matches = m.ok;
  found.points = m.points;
  m.why.copy(found.why, sizeof found.why - 1);
  return write_out(found, out, "match", err);
}

Status parse(std::string_view text, const char* name, const linnet_board* board, linnet_profile* out, linnet_match* match, Error* err) {
  if (text.size() > kMaxProfileBytes) return fail(err, LINNET_BAD_PROFILE, PathName(name), ": larger than 64 KiB, no device profile");
  linnet_profile p = {};
  Rules rules = {};
  Names names;
  LINNET_TRY(Reader(name, &p, &rules, &names, err).read(text));
  if (board && match) LINNET_TRY(match_board(rules, names, *board, match, err));
  return write_out(p, out, "profile", err);
}

Status system_error(const char* path, Error* err) {
  const int e = errno;
  return fail(err, e == ENOMEM ? LINNET_NO_MEMORY : LINNET_IO, PathName(path), ": ", static_cast<const char*>(std::strerror(e)));
}

Status read_file(const char* path, const linnet_board* board, linnet_profile* out, linnet_match* match, Error* err) {
  std::string text(kMaxProfileBytes, '\0');
  size_t n = 0;
  if (const Status status = file_read(path, text.data(), text.size(), &n, err); status != LINNET_OK)
    return status == LINNET_TOO_SMALL ? fail(err, LINNET_BAD_PROFILE, PathName(path), ": larger than 64 KiB, no device profile") : status;
  text.resize(n);
  return parse(text, path, board, out, match, err);
}

Status pick(const char* folder, const linnet_board* board, linnet_profile* out, char* path, size_t cap, linnet_match* match, Error* err) {
  std::vector<std::string> names;
  if (!folder_names(folder, &names)) return system_error(folder, err);
  std::set<std::string> files;
  for (const std::string_view name : names) {
    if (name.size() > 5 && name[0] != '.' && name.substr(name.size() - 5) == ".yaml") files.emplace(name);
  }
  linnet_profile best = {};
  linnet_match why = {};
  std::string found;
  for (const std::string& name : files) {
    linnet_profile p = {};
    linnet_match m = {};
    p.size = sizeof p;
    m.size = sizeof m;
    const std::string file = std::string(folder) + "/" + name;
    LINNET_TRY(read_file(file.c_str(), board, &p, &m, err));
    if (!m.matches || (!found.empty() && m.points <= why.points)) continue;
    best = p;
    why = m;
    found = file;
  }
  if (found.empty()) return fail(err, LINNET_UNSUPPORTED, PathName(folder), ": none of ", files.size(), " profiles matches this board");
  if (path && found.size() >= cap)
    return fail(err, LINNET_TOO_SMALL, PathName(found), ": a path of ", found.size() + 1, " bytes, room for ", cap);
  LINNET_TRY(linnet_profile_fit(&best, board, err));
  if (path) std::memcpy(path, found.c_str(), found.size() + 1);
  if (match) LINNET_TRY(write_out(why, match, "match", err));
  return write_out(best, out, "profile", err);
}

// Before anything is read: what a call fills stays as it was if it fails.
Status check_outs(const linnet_profile* out, const linnet_match* match, Error* err) {
  if (!out) return fail(err, LINNET_BAD_ARG, "profile: out is NULL");
  LINNET_TRY(check_out(out, "profile", err));
  return match ? check_out(match, "match", err) : LINNET_OK;
}

}  // namespace
}  // namespace linnet

using namespace linnet;

extern "C" {

linnet_status linnet_profile_parse(const char* yaml, size_t yaml_bytes, const char* name, const linnet_board* board, linnet_profile* out,
                                   linnet_match* match, linnet_error* err) {
  LINNET_TRY(check_outs(out, match, err));
  if (!name || (!yaml && yaml_bytes)) return fail(err, LINNET_BAD_ARG, "linnet_profile_parse: name or yaml is NULL");
  return guarded(name, err, [&] { return parse({yaml, yaml_bytes}, name, board, out, match, err); });
}

linnet_status linnet_profile_read(const char* path, const linnet_board* board, linnet_profile* out, linnet_match* match,
                                  linnet_error* err) {
  LINNET_TRY(check_outs(out, match, err));
  if (!path) return fail(err, LINNET_BAD_ARG, "linnet_profile_read: path is NULL");
  return guarded(path, err, [&] { return read_file(path, board, out, match, err); });
}

linnet_status linnet_profile_pick(const char* folder, const linnet_board* board, linnet_profile* out, char* path, size_t cap,
                                  linnet_match* match, linnet_error* err) {
  LINNET_TRY(check_outs(out, match, err));
  if (!folder || !board) return fail(err, LINNET_BAD_ARG, "linnet_profile_pick: folder or board is NULL");
  return guarded(folder, err, [&] { return pick(folder, board, out, path, cap, match, err); });
}

}  // extern "C"
