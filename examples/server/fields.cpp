#include "fields.h"

#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace server {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxMembers = 1024;
constexpr size_t kMaxValues = 400'000;  // a value takes up to 64 bytes of memory

}  // namespace

bool read_json(const std::string& body, json* out, Refusal* why, bool list) {
  int depth = 0;
  size_t n_values = 0;
  std::vector<size_t> members;  // of what is open; finding one goes through all of them
  bool in_string = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++n_values;
      if (++depth > kMaxDepth) return *why = {400, "the body's JSON is more than 64 levels deep", "invalid_json", {}}, false;
      members.push_back(0);
    } else if (c == ']' || c == '}') {
      --depth;
      if (!members.empty()) members.pop_back();
    } else if (c == ',' || c == ':') {
      ++n_values;
      if (c == ':' && !members.empty() && ++members.back() > kMaxMembers)
        return *why = {413, "an object of the body's JSON has more than 1024 members", "invalid_json", {}}, false;
    }
  }
  if (n_values > kMaxValues) return *why = {413, "the body's JSON has too many values", "invalid_json", {}}, false;
  try {
    *out = json::parse(body);
  } catch (const json::exception& e) {
    std::string text = e.what();
    if (const size_t at = text.find("] "); at != std::string::npos) text.erase(0, at + 2);  // the library's number of the error
    return *why = {400, "the body is not valid JSON: " + text, "invalid_json", {}}, false;
  }
  if (list ? !out->is_array() : !out->is_object())
    return *why = {400, std::string("the body is no JSON ") + (list ? "array" : "object"), "invalid_json", {}}, false;
  return true;
}

// ---- fields --------------------------------------------------------------------------------------------------------------------------

void Fields::refuse(const std::string& name, const std::string& message, int status, const char* code) {
  if (!ok_) return;
  ok_ = false;
  *why_ = {status, "'" + inside_ + name + "' " + message, code, inside_ + name};
}

void Fields::refuse(const Refusal& why) {
  if (!ok_) return;
  ok_ = false;
  *why_ = why;
}

const json* Fields::any(const char* name) {
  known_.push_back(name);
  const auto at = object_.find(name);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

bool Fields::has(const char* name) { return any(name) != nullptr; }

bool Fields::flag(const char* name, bool absent) {
  const json* v = any(name);
  if (!v) return absent;
  if (!v->is_boolean()) return refuse(name, "must be true or false"), absent;
  return v->get<bool>();
}

double Fields::number(const char* name, double least, double most, double absent) {
  const json* v = any(name);
  if (!v) return absent;
  const double value = v->is_number() ? v->get<double>() : NAN;
  if (value >= least && value <= most) return value;
  char text[96];
  std::snprintf(text, sizeof text, "must be a number from %g to %g", least, most);
  return refuse(name, text), absent;
}

int64_t Fields::whole(const char* name, int64_t least, int64_t most, int64_t absent) {
  const json* v = any(name);
  if (!v) return absent;
  const double value = v->is_number() ? v->get<double>() : NAN;
  if (value == std::floor(value) && value >= static_cast<double>(least) && value <= static_cast<double>(most)) {
    if (v->is_number_unsigned()) return static_cast<int64_t>(v->get<uint64_t>());
    return v->is_number_integer() ? v->get<int64_t>() : static_cast<int64_t>(value);
  }
  return refuse(name, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most)), absent;
}

std::string Fields::text(const char* name, const char* absent) {
  const json* v = any(name);
  if (!v) return absent;
  if (!v->is_string()) return refuse(name, "must be a string"), absent;
  return v->get<std::string>();
}

const json* Fields::array(const char* name) {
  const json* v = any(name);
  if (v && !v->is_array()) return refuse(name, "must be an array"), nullptr;
  return v;
}

const json* Fields::object(const char* name) {
  const json* v = any(name);
  if (v && !v->is_object()) return refuse(name, "must be an object"), nullptr;
  return v;
}

std::string Fields::one_of(const char* name, std::initializer_list<const char*> words, const char* absent) {
  const std::string value = text(name, absent);
  std::string list;
  for (const char* w : words) {
    if (value == w) return value;
    (list += list.empty() ? "" : ", ") += w;
  }
  if (ok_ && value != absent) refuse(name, "must be one of " + list);
  return absent;
}

void Fields::ignore(std::initializer_list<const char*> names) { known_.insert(known_.end(), names.begin(), names.end()); }

bool Fields::end() {
  for (const auto& item : object_.items()) {
    if (!ok_) break;
    if (std::find(known_.begin(), known_.end(), item.key()) == known_.end())
      refuse(item.key().substr(0, 64), "is no known field of this request", 400, "unknown_parameter");
  }
  return ok_;
}

// ---- sampling --------------------------------------------------------------------------------------------------------------------------

uint64_t random_seed() {
  uint64_t out = 0;
  if (getrandom(&out, sizeof out, 0) != static_cast<ssize_t>(sizeof out)) {
    timespec t = {};
    clock_gettime(CLOCK_MONOTONIC, &t);
    out = static_cast<uint64_t>(t.tv_nsec) * 0x9E3779B97F4A7C15u;
  }
  return out;
}

std::string random_id(const char* prefix) {
  static constexpr char kLetters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string out = prefix;
  for (int i = 0; i < 3; ++i) {
    uint64_t r = random_seed();
    for (int k = 0; k < 8; ++k, r /= 62) out += kLetters[r % 62];
  }
  return out;
}

int64_t unix_seconds() { return static_cast<int64_t>(time(nullptr)); }

bool read_sampling(Fields* f, const Model& model, double temperature, linnet_sampling* out) {
  *out = {};
  out->size = sizeof *out;
  linnet_error err = {};
  if (linnet_sampling_init(out, &err) != LINNET_OK) return f->refuse("temperature", err.text), false;
  const auto real = [&](const char* name, double least, double most, float* to) {
    *to = static_cast<float>(f->number(name, least, most, static_cast<double>(*to)));
  };
  const auto count = [&](const char* name, int64_t least, int64_t most, uint32_t* to) {
    *to = static_cast<uint32_t>(f->whole(name, least, most, *to));
  };
  out->temperature = static_cast<float>(temperature);
  real("temperature", 0, 100, &out->temperature);
  real("top_p", 0, 1, &out->top_p);
  real("min_p", 0, 1, &out->min_p);
  real("typical_p", 0, 1, &out->typical_p);
  real("top_n_sigma", -1, 100, &out->top_n_sigma);
  if (out->top_n_sigma < 0) out->top_n_sigma = 0;  // llama.cpp's way to say off
  real("xtc_probability", 0, 1, &out->xtc_probability);
  real("xtc_threshold", 0, 1, &out->xtc_threshold);
  real("dynatemp_range", 0, 100, &out->dynatemp_range);
  real("dynatemp_exponent", 0, 100, &out->dynatemp_exponent);
  real("repeat_penalty", 0.01, 100, &out->repeat_penalty);
  real("presence_penalty", -100, 100, &out->presence_penalty);
  real("frequency_penalty", -100, 100, &out->frequency_penalty);
  real("dry_multiplier", 0, 100, &out->dry_multiplier);
  real("dry_base", 1, 100, &out->dry_base);
  real("mirostat_tau", 0, 100, &out->mirostat_tau);
  real("mirostat_eta", 0, 1, &out->mirostat_eta);
  count("top_k", 0, model.desc().n_vocab, &out->top_k);
  count("min_keep", 0, model.desc().n_vocab, &out->min_keep);
  count("mirostat", 0, 2, &out->mirostat);
  count("dry_allowed_length", 1, 1024, &out->dry_allowed_length);
  const auto last_n = [&](const char* name, uint32_t* to) {
    const int64_t n = f->whole(name, -1, INT32_MAX, *to);
    *to = n < 0 || n > 1024 ? 1024 : static_cast<uint32_t>(n);  // -1: all, of which so many are looked at
  };
  last_n("repeat_last_n", &out->penalty_last_n);
  last_n("dry_penalty_last_n", &out->dry_last_n);
  if (f->has("seed")) {
    const int64_t seed = f->whole("seed", INT64_MIN / 2, INT64_MAX / 2, 0);
    out->seed = seed == -1 ? random_seed() : static_cast<uint64_t>(seed);
  } else {
    out->seed = random_seed();
  }
  if (const json* breakers = f->array("dry_sequence_breakers")) {
    char* to = out->dry_breakers;
    std::memset(to, 0, sizeof out->dry_breakers);
    for (const json& b : *breakers) {
      const std::string text = b.is_string() ? b.get<std::string>() : "";
      if (text.empty() || text.find('\0') != std::string::npos ||
          text.size() + 2 > static_cast<size_t>(out->dry_breakers + sizeof out->dry_breakers - to)) {
        f->refuse("dry_sequence_breakers", "must be strings of 126 bytes at most in all");
        break;
      }
      to = static_cast<char*>(std::memcpy(to, text.data(), text.size())) + text.size() + 1;
    }
  }
  if (const json* list = f->array("samplers")) {
    static constexpr std::pair<const char*, linnet_sampler> kNames[] = {{"penalties", LINNET_SAMPLER_PENALTIES},
                                                                        {"dry", LINNET_SAMPLER_DRY},
                                                                        {"top_n_sigma", LINNET_SAMPLER_TOP_N_SIGMA},
                                                                        {"top_k", LINNET_SAMPLER_TOP_K},
                                                                        {"typ_p", LINNET_SAMPLER_TYPICAL_P},
                                                                        {"typical_p", LINNET_SAMPLER_TYPICAL_P},
                                                                        {"top_p", LINNET_SAMPLER_TOP_P},
                                                                        {"min_p", LINNET_SAMPLER_MIN_P},
                                                                        {"xtc", LINNET_SAMPLER_XTC},
                                                                        {"temperature", LINNET_SAMPLER_TEMPERATURE}};
    out->n_samplers = 0;
    for (const json& name : *list) {
      const auto* known = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) { return name == n.first; });
      const bool twice = known != std::end(kNames) && std::count(out->samplers, out->samplers + out->n_samplers, known->second);
      if (known == std::end(kNames) || twice) {
        f->refuse("samplers", twice ? "has one twice" : "has one that is not known");
        break;
      }
      out->samplers[out->n_samplers++] = known->second;
    }
  }
  // {"50256": -100} as OpenAI has it, [[50256, -100]] as llama.cpp has it, false: never.
  if (const json* bias = f->any("logit_bias")) {
    const auto add = [&](int64_t token, const json& value) {
      const double v = value.is_boolean() && !value.get<bool>() ? -INFINITY : value.is_number() ? value.get<double>() : NAN;
      if (token < 0 || token >= model.desc().n_vocab || std::isnan(v) || (std::isfinite(v) && std::abs(v) > 100) ||
          out->n_logit_bias == 128)
        return f->refuse("logit_bias", out->n_logit_bias == 128 ? "has more than 128 tokens"
                                                                : "must be tokens of the model with numbers from -100 to 100");
      out->bias_tokens[out->n_logit_bias] = static_cast<int32_t>(token);
      // the API's -100 bans a token
      out->biases[out->n_logit_bias++] = v <= -100 ? -INFINITY : static_cast<float>(v);
    };
    if (bias->is_object()) {
      for (const auto& item : bias->items()) {
        char* stop = nullptr;
        const long long id = std::strtoll(item.key().c_str(), &stop, 10);
        add(*stop || item.key().empty() ? -1 : id, item.value());
      }
    } else if (bias->is_array()) {
      for (const json& pair : *bias)
        add(pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() ? pair[0].get<int64_t>() : -1,
            pair.is_array() && pair.size() == 2 ? pair[1] : json());
    } else {
      f->refuse("logit_bias", "must be an object of token ids");
    }
  }
  return f->ok();
}

bool read_scales(const json& list, size_t n_loras, std::vector<float>* scales) {
  scales->assign(n_loras, 0.0f);
  for (const json& one : list) {
    const json none;
    const auto field = [&](const char* name) -> const json& { return one.is_object() && one.contains(name) ? one[name] : none; };
    const json &id = field("id"), &scale = field("scale");
    const int64_t i = id.is_number_integer() ? id.get<int64_t>() : -1;
    const double s = scale.is_number() ? scale.get<double>() : NAN;
    if (i < 0 || i >= static_cast<int64_t>(n_loras) || !(std::abs(s) <= 1000)) return false;
    (*scales)[static_cast<size_t>(i)] = static_cast<float>(s);
  }
  return true;
}

bool read_loras(Fields* f, const Model& model, std::vector<float>* scales) {
  const json* list = f->array("lora");
  if (!list) *scales = model.lora_scales().get();
  if (list && !read_scales(*list, model.loras().size(), scales)) f->refuse("lora", kWrongScales);
  return f->ok();
}

}  // namespace server
