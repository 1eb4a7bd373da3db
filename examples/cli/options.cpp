// The argument parser: everything it knows about an option comes from the option's row.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli.h"

namespace linnet::cli {
namespace {

// Calls fn(item) for the items between commas; false as soon as fn is.
template <class Fn>
bool for_each_item(std::string_view list, const Fn& fn) {
  for (;;) {
    const size_t comma = list.find(',');
    if (!fn(list.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

constexpr std::string_view kOpen = "-1";  // of kCountOrOpen

// A format of formats.inc, and where it may be used.
struct Format {
  const char* name;
  uint32_t format;
  bool weights, kv;
};
constexpr bool kWithKV = true, kWithNONE = false;
constexpr Format kFormats[] = {
#define LINNET_FLOATS(name, NAME, ...) {#name, LINNET_##NAME, true, true},
#define LINNET_FP8(name, NAME, type, w_group, kv) {#name, LINNET_##NAME, true, kWith##kv},
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) {#name, LINNET_##NAME, true, kWith##kv},
#define LINNET_BLOCKS(name, NAME, ...) {#name, LINNET_##NAME, true, false},
#define LINNET_TABLES(name, NAME, ...) {#name, LINNET_##NAME, true, false},
#define LINNET_KV_ALONE(name, NAME, ...) {#name, LINNET_##NAME, false, true},
#include "../../runtime/formats.inc"
};

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);  // npos + 1 is 0
}

bool find_choice(Kind kind, std::string_view text, uint32_t* value) {
  for (const Choice& choice : choices(kind))
    if (choice.name == text) {
      *value = choice.value;
      return true;
    }
  return false;
}

// "a, b or c"
std::string alternatives(const std::vector<Choice>& all) {
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) text += (i == 0 ? "" : i + 1 < all.size() ? ", " : " or ") + all[i].name;
  return text;
}

std::string range_text(const char* what, const Option& option) {
  char text[96];
  if (option.kind == Kind::kReal)
    std::snprintf(text, sizeof text, "%s from %.10g to %.10g", what, option.min.real, option.max.real);
  else
    std::snprintf(text, sizeof text, "%s from %llu to %llu", what, static_cast<unsigned long long>(option.min.whole),
                  static_cast<unsigned long long>(option.max.whole));
  return text;
}

// The items of a list. One that names layers of a KV cache goes with the one before it.
std::vector<std::string> items_of(Kind kind, std::string_view list) {
  std::vector<std::string> items;
  for_each_item(list, [&](std::string_view item) {
    if (kind == Kind::kKvs && !items.empty() && item.find('=') != std::string_view::npos)
      items.back() += "," + std::string(item);
    else
      items.emplace_back(item);
    return true;
  });
  return items;
}

bool fits(const Option& option, const std::string& value) {
  uint64_t n = 0;
  double d = 0;
  uint32_t word = 0;
  std::vector<int32_t> ids;
  KvFormats kv;
  const auto is_count = [&](std::string_view item) { return parse_count(item, &n) && n >= option.min.whole && n <= option.max.whole; };
  switch (option.kind) {
    case Kind::kFlag:
    case Kind::kText:
    case Kind::kTexts:
    case Kind::kPath:
    case Kind::kModel:
      return true;
    case Kind::kCount:
      return is_count(value);
    case Kind::kCountOrOpen:
      return value == kOpen || is_count(value);
    case Kind::kReal:
      return parse_real(value, &d) && d >= option.min.real && d <= option.max.real;
    case Kind::kIds:
      return parse_ids(value, &ids) && !ids.empty();
    case Kind::kCounts:
      return for_each_item(value, is_count);
    case Kind::kKv:
      return parse_kv(value, &kv);
    case Kind::kKvs:
      for (const std::string& item : items_of(option.kind, value))
        if (!parse_kv(item, &kv)) return false;
      return true;
    case Kind::kFormats:
      return for_each_item(value, [&](std::string_view item) { return find_choice(option.kind, item, &word); });
    default:
      return find_choice(option.kind, value, &word);
  }
}

// What an error says may stand there: of tiers those that run here.
std::string allowed(const Option& option) {
  std::vector<Choice> words = choices(option.kind);
  if (option.kind != Kind::kIsa && option.kind != Kind::kShape) return takes(option);
  if (option.kind == Kind::kIsa)
    std::erase_if(words, [](const Choice& c) { return c.value != LINNET_ISA_AUTO && !(board().isa_mask >> c.value & 1); });
  return alternatives(words);
}

void complain(const char* command, const char* kind, const char* format, va_list list) {
  va_list again;
  va_copy(again, list);
  std::string text(static_cast<size_t>(std::max(0, std::vsnprintf(nullptr, 0, format, again))) + 1, '\0');
  va_end(again);
  std::vsnprintf(text.data(), text.size(), format, list);
  text.pop_back();
  text = printable(text);
  std::fflush(stdout);
  std::fprintf(stderr, "linnet %s: %s%s\n", command, kind, text.c_str());
}

Log the_log = Log::kInfo;

}  // namespace

bool parse_count(std::string_view text, uint64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_real(std::string_view text, double* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_ids(std::string_view text, std::vector<int32_t>* out) {
  out->clear();
  text = trimmed(text);
  if (text.starts_with('[') && text.ends_with(']')) {
    text = trimmed(text.substr(1, text.size() - 2));
    if (text.empty()) return true;
  }
  return for_each_item(text, [&](std::string_view item) {
    uint64_t id = 0;
    if (!parse_count(trimmed(item), &id) || id > INT32_MAX) return false;
    out->push_back(static_cast<int32_t>(id));
    return true;
  });
}

std::vector<Choice> choices(Kind kind) {
  std::vector<Choice> all;
  switch (kind) {
    case Kind::kFormat:
    case Kind::kFormats:
    case Kind::kKv:
    case Kind::kKvs:
      for (const Format& f : kFormats) {
        const bool kv = kind == Kind::kKv || kind == Kind::kKvs;
        if (kv ? f.kv : f.weights) all.push_back({f.name, f.format});
        const char* plain = kv ? nullptr : convert::plain_name(linnet_format{f.format});  // what others call it
        if (plain && std::strcmp(plain, f.name) != 0) all.push_back({plain, f.format, f.name});
      }
      return all;
    case Kind::kFull:
      return {{"stop", LINNET_FULL_STOP},
              {"drop-oldest", LINNET_FULL_DROP_OLDEST, "but the first --keep"},
              {"sinks", LINNET_FULL_SINKS, "endless, with the first --keep"},
              {"heavy-hitters", LINNET_FULL_HEAVY_HITTERS},
              {"snapkv", LINNET_FULL_SNAPKV, "prompts become --keep"}};
    case Kind::kIsa:
      all.push_back({"auto", LINNET_ISA_AUTO});
      for (int i = LINNET_ISA_SCALAR; const char* name = linnet_isa_name(static_cast<linnet_isa>(i)); ++i)
        all.push_back({name, static_cast<uint32_t>(i)});
      return all;
    case Kind::kCuda:
      return {{"on", LINNET_CUDA_ON}, {"off", LINNET_CUDA_OFF}, {"auto", LINNET_CUDA_AUTO, "where this build and this machine have it"}};
    case Kind::kLoad:
      return {{"map", LINNET_LOAD_MAP, "starts at once"},
              {"copy", LINNET_LOAD_COPY, "into memory"},
              {"prewarm", LINNET_LOAD_PREWARM, "read ahead"},
              {"lock", LINNET_LOAD_LOCK, "mlock"}};
    case Kind::kLayout:
      return {{"packed", 0}, {"plain", 1, "as other tools read it"}};
    case Kind::kShape:
      for (const std::string& name : convert::shapes()) all.push_back({name});
      return all;
    case Kind::kCacheTask:
      return {{"list", 0}, {"clear", 1}};
    case Kind::kShell:
      return {{"bash"}, {"zsh"}, {"fish"}};
    case Kind::kReasoning:
      return {{"show", 0}, {"hide", 1, "the model thinks, unseen"}, {"off", 2, "it does not, where its template has a switch"}};
    case Kind::kPooling:
      return {{"model", LINNET_POOLING_DEFAULT, "its own, else last"},
              {"mean", LINNET_POOLING_MEAN},
              {"last", LINNET_POOLING_LAST},
              {"cls", LINNET_POOLING_CLS, "the first row"}};
    case Kind::kNormalise:
      return {{"model", LINNET_NORMALISE_DEFAULT, "as it says, else on"},
              {"on", LINNET_NORMALISE_ON, "length 1"},
              {"off", LINNET_NORMALISE_OFF}};
    case Kind::kTranscript:
      return {{"text", 0, "a line a segment"}, {"times", 1, "the same with times"}, {"srt", 2}, {"vtt", 3}};
    case Kind::kWindows:
      return {{"each", 0, "every token is predicted once"}, {"llama", 1, "as llama-perplexity has them"}};
    case Kind::kRows:
      return {{"text", 0}, {"md", 1, "a Markdown table"}, {"csv", 2}, {"jsonl", 3, "an object a line"}};
    case Kind::kLog:
      return {{"error", static_cast<uint32_t>(Log::kError), "that is -q"},
              {"note", static_cast<uint32_t>(Log::kNote)},
              {"info", static_cast<uint32_t>(Log::kInfo), "progress and speed"},
              {"debug", static_cast<uint32_t>(Log::kDebug), "what is set up"}};
    default:
      return all;
  }
}

std::vector<std::string> names_of(const Option& option) {
  const std::string_view names = option.name;
  const size_t comma = names.find(", ");
  if (comma == std::string_view::npos) return {option.name};
  return {std::string(names.substr(0, comma)), std::string(names.substr(comma + 2))};
}

std::string help_of(const Option& option) {
  std::string text = option.help;
  const size_t at = text.find("{}");
  if (at == std::string::npos) return text;
  std::string words;
  for (const Choice& choice : choices(option.kind)) {
    words += (words.empty() ? "" : ", ") + choice.name;
    if (*choice.note) words += std::string(" (") + choice.note + ")";
  }
  return text.replace(at, 2, words);
}

std::string takes(const Option& option) {
  switch (option.kind) {
    case Kind::kFlag:
    case Kind::kText:
    case Kind::kTexts:
    case Kind::kPath:
    case Kind::kModel:
    case Kind::kShape:
      return "";
    case Kind::kCount:
      return range_text("a whole number", option);
    case Kind::kCountOrOpen:
      return range_text("-1 or a whole number", option);
    case Kind::kReal:
      return range_text("a number", option);
    case Kind::kIds:
      return "token ids with commas between them";
    case Kind::kCounts:
      return range_text("whole numbers with commas between them, each", option);
    case Kind::kFormats:
      return "formats with commas between them, each " + alternatives(choices(option.kind));
    case Kind::kKv:
    case Kind::kKvs:
      return "formats as i8, K/V as i8/f16, and layers as i8,0-3=f16/i8; each " + alternatives(choices(option.kind));
    default:
      return alternatives(choices(option.kind));
  }
}

static bool parse_kv_pair(std::string_view text, uint32_t* k, uint32_t* v) {
  const size_t slash = text.find('/');
  return find_choice(Kind::kKv, text.substr(0, slash), k) &&
         find_choice(Kind::kKv, slash == std::string_view::npos ? text : text.substr(slash + 1), v);
}

bool parse_kv(std::string_view text, KvFormats* out) {
  *out = {};
  bool first = true;
  return for_each_item(text, [&](std::string_view item) {
    const size_t equals = item.find('=');
    uint32_t k = 0, v = 0;
    if (!parse_kv_pair(equals == std::string_view::npos ? item : item.substr(equals + 1), &k, &v)) return false;
    if (equals == std::string_view::npos) {
      if (!first) return false;
      out->k = static_cast<linnet_format>(k);
      out->v = static_cast<linnet_format>(v);
    } else {
      const std::string_view layers = item.substr(0, equals);
      const size_t dash = layers.find('-');
      uint64_t from = 0, to = 0;
      if (!parse_count(layers.substr(0, dash), &from) ||
          !parse_count(dash == std::string_view::npos ? layers : layers.substr(dash + 1), &to) || from > 65535 || to > 65535)
        return false;
      out->layers.push_back({sizeof(linnet_kv_layers), static_cast<uint32_t>(from), static_cast<uint32_t>(to), k, v});
    }
    first = false;
    return true;
  });
}

void KvFormats::apply(linnet_session_params* params) const {
  params->k_format = k;
  params->v_format = v;
  params->kv_layers = layers.data();
  params->n_kv_layers = static_cast<uint32_t>(layers.size());
}

const Option* Args::lookup(std::string_view name) const {
  const Option* found = nullptr;
  for (const Option& option : command_.options)
    for (const std::string& n : names_of(option))
      if (n == name) found = &option;
  return found;
}

const Option& Args::find(const char* name) const {
  static const Option kNone{"", nullptr, Kind::kText, ""};
  const Option* option = lookup(name);
  return option ? *option : kNone;
}

bool Args::accept(const Option& option, const std::string& value) {
  if (!fits(option, value)) {
    usage_error(*this, "option '%s' takes %s, not '%s'", option.name, allowed(option).c_str(), value.c_str());
    return false;
  }
  std::vector<std::string>& values = values_[&option];
  if (option.kind != Kind::kTexts) values.clear();  // the last one counts, so that scripts can append
  values.push_back(value);
  return true;
}

bool Args::parse(int argc, char** argv) {
  bool options_end = false;
  for (int i = 0; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (options_end || arg.size() < 2 || arg[0] != '-') {
      positional_.emplace_back(arg);
      continue;
    }
    if (arg == "--") {
      options_end = true;
      continue;
    }
    const size_t equals = arg.substr(0, 2) == "--" ? arg.find('=') : std::string_view::npos;
    const std::string_view name = arg.substr(0, equals);
    const Option* option = lookup(name);
    if (!option) {
      usage_error(*this, "unknown option '%.*s'%s", static_cast<int>(name.size()), name.data(), meant_option(command_, name).c_str());
      return false;
    }
    if (option->kind == Kind::kFlag) {
      if (equals != std::string_view::npos) {
        usage_error(*this, "option '%s' takes no value", option->name);
        return false;
      }
      values_[option] = {""};
      continue;
    }
    if (equals == std::string_view::npos && i + 1 >= argc) {
      usage_error(*this, "option '%s' needs a value: %s", option->name, option->argument);
      return false;
    }
    if (!accept(*option, equals != std::string_view::npos ? std::string(arg.substr(equals + 1)) : std::string(argv[++i]))) return false;
  }
  set_log(flag("--quiet") ? Log::kError : static_cast<Log>(choice("--log-level")));
  if (help()) return true;
  const int n = static_cast<int>(positional_.size());
  if (n > command_.max_positional) {
    usage_error(*this, "unexpected argument '%s'", positional_[static_cast<size_t>(command_.max_positional)].c_str());
    return false;
  }
  if (n < command_.min_positional) {
    usage_error(*this, "missing argument: %s", command_.positional);
    return false;
  }
  const Option each{command_.positional, nullptr, command_.takes, ""};
  for (const std::string& value : positional_)
    if (!fits(each, value)) {
      usage_error(*this, "%s is %s, not '%s'", each.name, takes(each).c_str(), value.c_str());
      return false;
    }
  for (const Option& option : command_.options)
    if (option.required && !values_.count(&option)) {
      usage_error(*this, "option '%s %s' is missing", option.name, option.argument);
      return false;
    }
  return true;
}

int Args::find_models() {
  for (auto& [option, values] : values_)
    if (option->kind == Kind::kModel)
      for (std::string& value : values)
        if (const int code = find_hub_model(*this, &value)) return code;
  if (command_.takes == Kind::kModel)
    for (std::string& value : positional_)
      if (const int code = find_hub_model(*this, &value)) return code;
  return kExitOk;
}

std::string Args::text(const char* name) const {
  const Option& option = find(name);
  const auto it = values_.find(&option);
  return it != values_.end() ? it->second.back() : option.fallback ? option.fallback : "";
}

std::vector<std::string> Args::texts(const char* name) const {
  const auto it = values_.find(&find(name));
  return it != values_.end() ? it->second : std::vector<std::string>();
}

bool Args::open(const char* name) const { return find(name).kind == Kind::kCountOrOpen && text(name) == kOpen; }

uint64_t Args::count(const char* name) const {
  uint64_t n = 0;
  if (open(name)) return find(name).max.whole;
  return parse_count(text(name), &n) ? n : 0;
}

double Args::real(const char* name) const {
  double d = 0;
  return parse_real(text(name), &d) ? d : 0;
}

std::vector<int32_t> Args::ids(const char* name) const {
  std::vector<int32_t> out;
  return parse_ids(text(name), &out) ? out : std::vector<int32_t>();
}

std::vector<uint64_t> Args::counts(const char* name) const {
  std::vector<uint64_t> out;
  for_each_item(text(name), [&](std::string_view item) {
    uint64_t n = 0;
    if (parse_count(item, &n)) out.push_back(n);
    return true;
  });
  return out;
}

std::vector<std::string> Args::items(const char* name) const { return items_of(find(name).kind, text(name)); }

uint32_t Args::choice(const char* name) const {
  uint32_t value = 0;
  return find_choice(find(name).kind, text(name), &value) ? value : 0;
}

void print_help(const Command& command) {
  constexpr size_t kLeft = 28, kText = 170;  // columns
  const std::string next = "\n" + std::string(kLeft + 1, ' ');
  std::printf("usage: linnet %s%s%s [options]\n\n%s\n\noptions:\n", command.name, *command.positional ? " " : "", command.positional,
              command.summary);
  for (const Option& option : command.options) {
    std::string left = std::string("  ") + option.name;
    if (option.argument) left += std::string(" ") + option.argument;
    std::string text = help_of(option);
    if (option.fallback) text += std::string(" (default ") + option.fallback + ")";
    left += left.size() > kLeft ? next : std::string(kLeft + 1 - left.size(), ' ');
    for (size_t space; text.size() > kText; text.erase(0, space + 1)) {
      space = text.rfind(' ', kText);
      left += text.substr(0, space) + next;
    }
    std::printf("%s%s\n", left.c_str(), text.c_str());
  }
  if (*command.details) std::printf("\n%s\n", command.details);
}

Options join(Options a, const Options& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Option model_option() {
  return {"-m, --model",
          "M",
          Kind::kModel,
          "packed or plain GGUF file, Hugging Face folder, hf:USER/REPO, or synthetic:SHAPE (random weights)",
          nullptr,
          0,
          0,
          true};
}

Option weights_option() {
  return {"--weights", "FMT", Kind::kFormat, "packs on the way in: {} (default as the file has them, floats as i8g32)"};
}

Options engine_options() {
  return {
      weights_option(),
      {"--load", "HOW", Kind::kLoad, "packed files: {}", "map"},
      {"--no-cache", nullptr, Kind::kFlag, "pack in memory: neither keep a packed file for the next start nor take one (linnet cache)"},
      {"--isa", "TIER", Kind::kIsa, "CPU instructions to use: auto, or a tier that linnet devices lists", "auto"},
      {"--cuda", "WHEN", Kind::kCuda, "compute on the GPU: {}", "off"},
      {"-t, --threads", "N", Kind::kCount, "threads that compute (default: the strong cores this process may use)", nullptr, 1, 256},
      {"--profile", "P", Kind::kPath,
       "device profile: a YAML file, a name that linnet devices lists, or auto; options given here win over it"},
  };
}

Options session_options() {
  return {
      {"--kv", "FMT", Kind::kKv, "KV cache: {}; K and V apart: i8/f16; single layers: i8,0-3=f16,9=i8/f16", "i8"},
      {"-c, --context", "N", Kind::kCount, "positions to hold (default: what the call needs)", nullptr, 1, 16777216},
      {"--chunk", "N", Kind::kCount, "rows computed at a time in prefill, changes no result (default: 256)", nullptr, 1, 4096},
      {"--when-full", "HOW", Kind::kFull, "full context: {}", "stop"},
      {"--keep", "N", Kind::kCount,
       "tokens that stay (default: 0; sinks 4, at most 16; heavy-hitters half of the context, snapkv a quarter)", nullptr, 0, 16777216},
      {"--lora", "PATH[:SCALE]", Kind::kTexts, "adapter beside the model: a GGUF file or a PEFT folder; may be given several times"},
  };
}

Options all_options() { return join({model_option()}, join(engine_options(), session_options())); }

int usage_error(const Args& args, const char* format, ...) {
  va_list list;
  va_start(list, format);
  complain(args.command().name, "", format, list);
  va_end(list);
  std::fputs("--help shows how it is used.\n", stderr);
  return kExitUsage;
}

int failed(const Args& args, const char* format, ...) {
  va_list list;
  va_start(list, format);
  complain(args.command().name, "", format, list);
  va_end(list);
  return kExitError;
}

void set_log(Log level) { the_log = level; }

bool says(Log level) { return level <= the_log; }

void say(const Args& args, Log level, const char* format, ...) {
  if (!says(level)) return;
  va_list list;
  va_start(list, format);
  complain(args.command().name, level == Log::kNote ? "note: " : "", format, list);
  va_end(list);
}

int failed(const Args& args, const linnet_error& err) {
  return failed(args, "%s", err.text[0] ? err.text : linnet_status_text(static_cast<linnet_status>(err.code)));
}

int failed(const Args& args, const std::string& path, const linnet_error& err) {
  constexpr std::string_view kUnnamed = "model file: ";
  std::string_view text = err.text;
  const bool unnamed = text.substr(0, kUnnamed.size()) == kUnnamed;
  if (unnamed) text.remove_prefix(kUnnamed.size());
  if (!unnamed && (err.code != LINNET_BAD_FILE || text.substr(0, path.size()) == path)) return failed(args, err);
  return failed(args, "%s: %.*s", path.c_str(), static_cast<int>(text.size()), text.data());
}

}  // namespace linnet::cli
