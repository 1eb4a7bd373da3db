// From the common options to a model and a session that run.
#include <cstdio>

#include "cli.h"

namespace linnet::cli {

bool read_profile(const Args& args, const std::string& name, bool fit, linnet_profile* out) {
  linnet_error err = {};
  out->size = sizeof *out;
  linnet_status status = LINNET_OK;
  if (name == "auto") {
    status = linnet_profile_pick(configs_folder().c_str(), &board(), out, nullptr, 0, nullptr, &err);
  } else {
    const bool is_name = name.find_first_of("/.") == std::string::npos;
    status = linnet_profile_read((is_name ? configs_folder() + "/" + name + ".yaml" : name).c_str(), nullptr, out, nullptr, &err);
    if (status == LINNET_OK && fit && (status = linnet_profile_fit(out, &board(), &err)) != LINNET_OK) {
      failed(args, "%s: %s", name.c_str(), err.text);
      return false;
    }
  }
  if (status != LINNET_OK) failed(args, err);
  return status == LINNET_OK;
}

bool read_settings(const Args& args, Settings* out) {
  linnet_profile& p = out->profile;
  if (args.given("--profile")) {
    if (!read_profile(args, args.text("--profile"), out->fit, &p)) return false;
  } else {
    p.cores = LINNET_CORES_BIG;  // little cores make the others wait at every step
    linnet_profile_fit(&p, &board(), nullptr);
  }
  if (args.given("--isa")) p.isa = args.choice("--isa");
  if (args.given("--cuda")) p.cuda = args.choice("--cuda");

  linnet_session_params& s = out->session;
  s.size = sizeof s;
  parse_kv(args.text("--kv"), &out->kv);
  if (!args.given("--kv") && p.k_format)
    out->kv = {static_cast<linnet_format>(p.k_format), static_cast<linnet_format>(p.v_format ? p.v_format : p.k_format), {}};
  out->kv.apply(&s);
  // A profile speaks where the command line does not; what is said here is not the profile's to change in the library either.
  s.when_full = p.when_full;
  s.n_keep = args.given("--when-full") || !p.when_full ? 0 : p.n_keep;
  if (args.given("--when-full")) s.when_full = args.choice("--when-full");
  if (args.given("--keep")) s.n_keep = static_cast<uint32_t>(args.count("--keep"));
  p.when_full = LINNET_FULL_STOP;
  p.n_keep = 0;
  if (args.given("--keep") && s.n_keep == 0 && s.when_full > LINNET_FULL_DROP_OLDEST) {  // to the library 0 is the default
    usage_error(args, "option '--keep' takes a number above 0 beside sinks, heavy-hitters and snapkv, not '%s'",
                args.text("--keep").c_str());
    return false;
  }
  s.n_context = args.given("--context") ? static_cast<uint32_t>(args.count("--context")) : p.n_context;
  s.n_chunk = args.given("--chunk") ? static_cast<uint32_t>(args.count("--chunk")) : p.n_chunk;
  s.n_threads = args.given("--threads") ? static_cast<uint32_t>(args.count("--threads")) : p.n_threads ? p.n_threads : board().n_threads;
  uint32_t bound = 0;
  for (const uint64_t w : p.cpus.word) bound += static_cast<uint32_t>(__builtin_popcountll(w));
  if (s.n_threads > bound) p.cpus = {};  // as many threads as somebody asked for have room
  out->weights = static_cast<linnet_format>(args.given("--weights") || !p.weights ? args.choice("--weights") : p.weights);
  out->load = static_cast<linnet_load>(args.choice("--load"));
  return true;
}

bool Memory::alloc(size_t n) {
  data = linnet_mem_alloc(n);
  bytes = data ? n : 0;
  return data != nullptr;
}

Engine::~Engine() {
  linnet_session_fini(session);
  linnet_model_fini(model);
  convert::unload(&loaded);
}

bool Engine::open(const Args& args, const std::string& path, const Settings& settings, bool vocab_only) {
  linnet_error err = {};
  source = path;
  profile_context = settings.profile.n_context;
  std::vector<std::string> notes;
  {
    Progress bar("loading");
    convert::Options options;
    options.weights = settings.weights;
    options.vocab_only = vocab_only;
    options.shape_only = settings.shape_only;
    options.progress = Progress::callback;
    options.user = &bar;
    options.weight_error = settings.weight_error;
    options.notes = &notes;
    if (convert::load(path, settings.load, options, &loaded, &err) != LINNET_OK) {
      failed(args, err);
      return false;
    }
  }
  print_notes(args, notes);
  linnet_need need = {};
  if (linnet_model_need(loaded.file, &settings.profile, &need, &err) != LINNET_OK) {
    failed(args, path, err);
    return false;
  }
  if (!model_memory.alloc(need.bytes)) {
    failed(args, "%s: no memory for the model's %zu bytes", path.c_str(), need.bytes);
    return false;
  }
  if (linnet_model_init(&model, model_memory.data, model_memory.bytes, loaded.file, &settings.profile, &err) != LINNET_OK) {
    model = nullptr;
    failed(args, path, err);
    return false;
  }
  desc.size = sizeof desc;
  linnet_model_info(model, &desc);
  return true;
}

bool Engine::start(const Args& args, const linnet_session_params& wanted) {
  params = wanted;
  // A profile's context is for models of any length.
  if (!args.given("--context") && params.n_context == profile_context && params.n_context > desc.n_context)
    params.n_context = desc.n_context;
  linnet_error err = {};
  linnet_need need = {};
  if (linnet_session_need(model, &params, &need, &err) != LINNET_OK) {
    failed(args, err);
    return false;
  }
  if (!session_memory.alloc(need.bytes)) {
    failed(args, "no memory for the session's %zu bytes (a smaller --context needs less)", need.bytes);
    return false;
  }
  if (linnet_session_init(&session, session_memory.data, session_memory.bytes, model, &params, &err) != LINNET_OK) {
    session = nullptr;
    failed(args, err);
    return false;
  }
  return true;
}

bool Engine::govern(const Args& args, const linnet_profile& profile) {
  if (profile.temperature_limit <= 0 && profile.tokens_per_s <= 0 && profile.battery == LINNET_BATTERY_IGNORE) return true;
  root = sysroot();
  sensors.size = sizeof sensors;
  sensors.root = root.c_str();
  power.size = sizeof power;
  power.sensors = &sensors;
  power.user = this;
  power.fn = [](void* engine, const linnet_power*) { ++static_cast<Engine*>(engine)->n_power_changes; };
  linnet_error err = {};
  if (linnet_power_init(&power, &profile, params.n_threads, &err) == LINNET_OK && linnet_power_set(session, &power, &err) == LINNET_OK)
    return true;
  failed(args, err);
  return false;
}

bool Engine::constrain(const Args& args) {
  const bool tools = args.given("--tools");
  if (!tools && !args.given("--schema")) return true;
  if (tools && args.given("--schema")) return failed(args, "give either --tools or --schema"), false;
  const std::string path = args.text(tools ? "--tools" : "--schema");
  linnet_error err = {};
  linnet_view blob = {};
  std::string text;
  std::vector<char> bytes;
  size_t n = 0;
  linnet_status status = convert::read_file(path, convert::kMaxGrammarJson, &text, nullptr, &err);
  const linnet_view json = {text.data(), text.size()};
  const linnet_grammar_kind kind = tools ? LINNET_GRAMMAR_TEXT_OR_CALL : LINNET_GRAMMAR_SCHEMA;
  if (status == LINNET_OK) status = linnet_grammar_compile(json, path.c_str(), kind, nullptr, 0, &n, &err);
  if (status == LINNET_TOO_SMALL) {
    bytes.resize(n);
    status = linnet_grammar_compile(json, path.c_str(), kind, bytes.data(), n, &n, &err);
  }
  blob = {bytes.data(), bytes.size()};
  linnet_need need = {};
  if (status == LINNET_OK) status = linnet_grammar_need(model, blob, &need, &err);
  if (status == LINNET_OK && !grammar_memory.alloc(need.bytes))
    return failed(args, "no memory for the grammar's %zu bytes", need.bytes), false;
  if (status == LINNET_OK) status = linnet_grammar_init(&grammar, grammar_memory.data, grammar_memory.bytes, model, blob, &err);
  return status == LINNET_OK || (failed(args, err), false);
}

const char* Engine::power_why() const {
  switch (power.why) {
    case LINNET_POWER_HEAT:
      return "heat";
    case LINNET_POWER_RATE:
      return "rate";
    case LINNET_POWER_BATTERY:
      return "battery";
    default:
      return "free";
  }
}

std::string Engine::power_text() const {
  if (!power.size) return "";
  std::string text = "governor: ";
  char number[64];
  if (power.blind)
    text += "no temperature can be read, so the limit is not held; ";
  else if (power.temperature_limit > 0) {
    std::snprintf(number, sizeof number, "%.1f of at most %.0f C, ", static_cast<double>(sensors.temperature),
                  static_cast<double>(power.temperature_limit));
    text += number;
  }
  std::snprintf(number, sizeof number, "%u of %u threads%s", power.n_threads, params.n_threads,
                power.level >= power.n_steps ? " and pauses" : "");
  text += number;
  if (power.why != LINNET_POWER_FREE) text += std::string(" (") + power_why() + ")";
  return text + ", " + std::to_string(n_power_changes) + (n_power_changes == 1 ? " change" : " changes");
}

uint32_t token_flags(const Args& args, const char* no_add) {
  uint32_t flags = 0;
  if (args.flag(no_add)) flags |= LINNET_NO_ADD_SPECIAL;
  if (args.flag("--no-parse-special")) flags |= LINNET_NO_PARSE_SPECIAL;
  return flags;
}

bool tokenize(const Args& args, const Engine& engine, std::string_view text, uint32_t flags, std::vector<int32_t>* out) {
  linnet_error err = {};
  size_t scratch_bytes = 0, n = 0;
  if (linnet_tokenize_need(engine.model, text.size(), &scratch_bytes) != LINNET_OK) {
    failed(args, "%s: %s", engine.source.c_str(),
           engine.desc.has_tokenizer ? "the text is too long" : "the model has no tokenizer: only --tokens works with it");
    return false;
  }
  std::vector<char> scratch(scratch_bytes + 1);
  out->resize(3 * text.size() + 8);
  const auto encode = [&] {
    return linnet_tokenize(engine.model, text.data(), text.size(), flags, scratch.data(), scratch_bytes, out->data(), out->size(), &n,
                           &err);
  };
  linnet_status status = encode();
  if (status == LINNET_TOO_SMALL && n > out->size()) {  // a normaliser that lengthens a text by more than NFC does
    out->resize(n);
    status = encode();
  }
  if (status != LINNET_OK) {
    failed(args, engine.source, err);
    return false;
  }
  out->resize(n);
  return true;
}

bool detokenize(const Args& args, const Engine& engine, const std::vector<int32_t>& tokens, std::string* out) {
  linnet_error err = {};
  size_t n = 0;
  const linnet_status sized = linnet_detokenize(engine.model, tokens.data(), tokens.size(), nullptr, 0, &n, &err);
  if (sized == LINNET_TOO_SMALL || sized == LINNET_OK) {
    out->resize(n);
    if (linnet_detokenize(engine.model, tokens.data(), tokens.size(), out->data(), n, &n, &err) == LINNET_OK) return true;
  }
  failed(args, engine.source, err);
  return false;
}

bool check_ids(const Args& args, const Engine& engine, const std::vector<int32_t>& tokens) {
  for (const int32_t id : tokens)
    if (id < 0 || static_cast<uint32_t>(id) >= engine.desc.n_vocab) {
      failed(args, "token id %d is outside the model's vocabulary of %u", id, engine.desc.n_vocab);
      return false;
    }
  return true;
}

}  // namespace linnet::cli
