// From the common options to a model and a session that run.
#include <algorithm>
#include <cstdio>
#include <iterator>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {

bool read_profile(const Args& args, const std::string& name, bool fit, linnet_profile* out) {
  linnet_error err = {};
  out->size = sizeof *out;
  linnet_status status = LINNET_OK;
  if (name == "auto") {
    if (!board().handle) return failed(args, "no profile can be picked: nothing is known of this board"), false;
    status = linnet_profile_pick(configs_folder().c_str(), board().handle, out, nullptr, 0, nullptr, &err);
  } else {
    const bool is_name = name.find_first_of(kSlashes) == std::string::npos && name.find('.') == std::string::npos;
    const std::string path = is_name ? configs_folder() + "/" + name + ".yaml" : name;
    if (is_name && !path_access(path, F_OK))
      return failed(args, "there is no profile '%s' in %s; linnet devices lists those that are", name.c_str(), configs_folder().c_str()),
             false;
    status = linnet_profile_read(path.c_str(), nullptr, out, nullptr, &err);
    if (status == LINNET_OK && fit && (status = fit_to_board(out, &err)) != LINNET_OK) {
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
    linnet_error err = {};
    if (fit_to_board(&p, &err) != LINNET_OK) return failed(args, err), false;
  }
  if (args.given("--isa")) p.isa = args.choice("--isa");
  if (args.given("--cuda")) p.cuda = args.choice("--cuda");

  linnet_session_params& s = out->session;
  s.size = sizeof s;
  parse_kv(args.text("--kv"), &out->kv);
  if (!args.given("--kv") && p.k_format)
    out->kv = {static_cast<linnet_format>(p.k_format), static_cast<linnet_format>(p.v_format ? p.v_format : p.k_format), {}};
  out->kv.apply(&s);
  // A profile's number to keep is of its own way to go on.
  s.when_full = args.given("--when-full") || !p.when_full ? args.choice("--when-full") : p.when_full;
  s.n_keep = args.given("--when-full") ? 0 : p.n_keep;
  if (args.given("--keep")) s.n_keep = static_cast<uint32_t>(args.count("--keep"));
  if (args.given("--keep") && s.n_keep == 0 && s.when_full > LINNET_FULL_DROP_OLDEST) {  // to the library 0 is the default
    usage_error(args, "option '--keep' takes a number above 0 beside sinks, heavy-hitters and snapkv, not '%s'",
                args.text("--keep").c_str());
    return false;
  }
  if (s.n_keep == 0 && s.when_full == LINNET_FULL_DROP_OLDEST) s.n_keep = static_cast<uint32_t>(LINNET_KEEP_NONE);
  s.n_context = args.given("--context") ? static_cast<uint32_t>(args.count("--context")) : p.n_context;
  s.n_chunk = args.given("--chunk") ? static_cast<uint32_t>(args.count("--chunk")) : p.n_chunk;
  s.n_threads = args.given("--threads") ? static_cast<uint32_t>(args.count("--threads")) : p.n_threads ? p.n_threads : board().n_threads;
  uint32_t bound = 0;
  for (const uint64_t w : p.cpus.word) bound += static_cast<uint32_t>(__builtin_popcountll(w));
  if (s.n_threads > bound) p.cpus = {};  // as many threads as somebody asked for have room
  out->weights = static_cast<linnet_format>(args.choice("--weights"));
  out->floats = static_cast<linnet_format>(p.weights);
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

// With --cuda auto: why the CPU computes. That there is no GPU is no news.
static void say_why_cpu(const Args& args, const linnet_view& file, linnet_profile profile) {
  linnet_error err = {};
  linnet_need need = {};
  linnet_cuda_device gpu = {};
  need.size = sizeof need;
  gpu.size = sizeof gpu;
  profile.cuda = LINNET_CUDA_ON;
  if (linnet_model_need(&file, &profile, &need, &err) == LINNET_OK) return;
  say(args, linnet_cuda_detect(&gpu, nullptr) == LINNET_OK ? Log::kNote : Log::kDebug, "the CPU computes: %s", err.text);
}

bool Engine::open(const Args& args, const std::string& path, const Settings& settings, bool vocab_only) {
  linnet_error err = {};
  source = path;
  profile_context = settings.profile.n_context;
  std::vector<std::string> notes;
  const double begin = seconds_now();
  {
    Progress bar("loading");
    convert::Options options;
    options.weights = settings.weights;
    options.floats = settings.floats;
    options.vocab_only = vocab_only;
    options.shape_only = settings.shape_only;
    options.n_threads = settings.session.n_threads;
    options.progress = Progress::callback;
    options.user = &bar;
    options.weight_error = settings.weight_error;
    options.notes = &notes;
    const bool keep = settings.keep && !args.flag("--no-cache") && !vocab_only && !settings.shape_only;
    if (keep) options.cache = cache_folder();
    const bool leaves = !options.cache.empty();  // a temporary file, were a signal to end the process at once
    if (leaves) interrupt_cancels(nullptr);
    const linnet_status status = convert::load(path, settings.load, options, &loaded, &err);
    if (leaves) interrupt_ends();
    if (status != LINNET_OK || (leaves && interrupted())) {
      if (status != LINNET_OK) failed(args, err);
      return false;
    }
    if (keep && options.cache.empty() && loaded.image.data && path.rfind("synthetic:", 0) != 0)
      notes.push_back("the packed model is not kept for the next start: neither XDG_CACHE_HOME nor HOME names a folder");
  }
  for (const std::string& text : notes) say(args, Log::kNote, "%s", text.c_str());
  linnet_profile profile = settings.profile;
  linnet_need need = {};
  need.size = sizeof need;
  if (linnet_model_need(&loaded.file, &profile, &need, &err) != LINNET_OK) {
    failed(args, path, err);
    return false;
  }
  if (!model_memory.alloc(need.bytes)) {
    failed(args, "%s: no memory for the model's %zu bytes", path.c_str(), need.bytes);
    return false;
  }
  desc.size = sizeof desc;
  layer_embd_stays = loaded.mapped && settings.load <= LINNET_LOAD_MAP;
  // Embeddings of layers that are in memory all the same come off the cap, once it is known how large they are.
  for (uint64_t of_cap = 0;; of_cap = desc.layer_embd_bytes) {
    if (of_cap) profile.memory_bytes = profile.memory_bytes > of_cap ? profile.memory_bytes - of_cap : 1;
    if (linnet_model_init(&model, model_memory.data, model_memory.bytes, &loaded.file, &profile, &err) != LINNET_OK) {
      model = nullptr;
      failed(args, path, err);
      return false;
    }
    if (linnet_model_info(model, &desc, &err) != LINNET_OK) return failed(args, path, err), false;
    if (of_cap || !profile.memory_bytes || !desc.layer_embd_bytes || layer_embd_stays) break;
    linnet_model_fini(model);
  }
  if (settings.profile.cuda == LINNET_CUDA_AUTO && !desc.device) say_why_cpu(args, loaded.file, settings.profile);
  say(args, Log::kDebug, "%s: %s of %s weights, %s, %s of linnet's own, %.3f s", path.c_str(), human_bytes(desc.weight_bytes).c_str(),
      desc.weights, loaded.mapped ? "the file as it is" : "packed here", human_bytes(model_memory.bytes).c_str(), seconds_now() - begin);
  return true;
}

bool Engine::start(const Args& args, const linnet_session_params& wanted) {
  params = wanted;
  // A profile's context is for models of any length.
  if (!args.given("--context") && params.n_context == profile_context && params.n_context > desc.n_context)
    params.n_context = desc.n_context;
  params.n_threads = usable_threads(args, params.n_threads);
  if (takes_loras && !adapt(args, &params)) return false;
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
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
  say(args, Log::kDebug, "a session of %u positions on %u thread%s of %s, %s", params.n_context ? params.n_context : desc.n_context,
      params.n_threads, params.n_threads == 1 ? "" : "s", tier_name(desc), human_bytes(session_memory.bytes).c_str());
  return give_adapters(args);
}

bool Engine::govern(const Args& args, const linnet_profile& profile) {
  if (profile.temperature_limit <= 0 && profile.tokens_per_s <= 0 && profile.battery != LINNET_BATTERY_SAVE) return true;
  if (!sensors.open(args)) return false;
  temperature_limit = profile.temperature_limit;
  linnet_power_params wanted = {};
  wanted.size = sizeof wanted;
  wanted.n_threads = params.n_threads;
  wanted.sensors = sensors.handle;
  wanted.user = this;
  wanted.fn = [](void* engine, const linnet_power_state*) { ++static_cast<Engine*>(engine)->n_power_changes; };
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  linnet_status status = linnet_power_need(&need, &err);
  if (status == LINNET_OK && !power_memory.alloc(need.bytes))
    return failed(args, "no memory for the governor's %zu bytes", need.bytes), false;
  if (status == LINNET_OK) status = linnet_power_init(&power, power_memory.data, power_memory.bytes, &profile, &wanted, &err);
  if (status == LINNET_OK) status = linnet_power_set(session, power, &err);
  return status == LINNET_OK || (failed(args, err), false);
}

// Texts with commas between them as JSON.
static std::string list_of(const std::string& texts) {
  std::vector<std::string> list;
  for (size_t at = 0; at <= texts.size();) {
    const size_t comma = std::min(texts.find(',', at), texts.size());
    list.push_back(texts.substr(at, comma - at));
    at = comma + 1;
  }
  return Json().value(list).text();
}

static constexpr struct {
  const char* option;
  linnet_grammar_kind kind;
  bool file;
} kGrammars[] = {{"--tools", LINNET_GRAMMAR_TEXT_OR_CALL, true},
                 {"--schema", LINNET_GRAMMAR_SCHEMA, true},
                 {"--grammar", LINNET_GRAMMAR_GBNF, true},
                 {"--regex", LINNET_GRAMMAR_REGEX, false},
                 {"--choices", LINNET_GRAMMAR_CHOICES, false}};

void jump_forward(const Args& args, linnet_session_params* session) {
  const bool constrained = std::any_of(std::begin(kGrammars), std::end(kGrammars), [&](const auto& one) { return args.given(one.option); });
  if (!constrained) return;
  session->n_logits = 16;
  for (const uint32_t most : {session->n_chunk, session->n_context})
    if (most) session->n_logits = std::min(session->n_logits, most);
}

bool Engine::constrain(const Args& args, const linnet_template* calls) {
  const auto* given = std::end(kGrammars);
  for (const auto& one : kGrammars) {
    if (!args.given(one.option)) continue;
    if (given != std::end(kGrammars)) return failed(args, "give either %s or %s", given->option, one.option), false;
    given = &one;
  }
  uint32_t flags = 0;
  for (const auto& [option, flag] : {std::pair{"--spaced", LINNET_GRAMMAR_SPACED}, {"--any-format", LINNET_GRAMMAR_ANY_FORMAT}}) {
    if (!args.given(option)) continue;
    if (given == std::end(kGrammars) || given->kind > LINNET_GRAMMAR_TEXT_OR_CALL)
      return failed(args, "%s goes with --schema or --tools", option), false;
    flags |= flag;
  }
  if (given == std::end(kGrammars)) return true;
  std::string text = args.text(given->option);
  const bool file = given->file && !(given->kind == LINNET_GRAMMAR_GBNF && text.find("::=") != text.npos);  // or it is the grammar itself
  const std::string name = file ? text : given->option;
  linnet_error err = {};
  std::vector<char> bytes;
  size_t n = 0;
  linnet_status status = file ? convert::read_file(name, convert::kMaxGrammarJson, &text, nullptr, &err) : LINNET_OK;
  if (given->kind == LINNET_GRAMMAR_CHOICES && text[0] != '[') text = list_of(text);
  if (given->kind == LINNET_GRAMMAR_TEXT_OR_CALL) grammar_template = calls;
  const auto compile = [&] {
    linnet_call_rules rules = {};
    rules.size = sizeof rules;
    rules.parallel = 1;
    rules.flags = flags & LINNET_GRAMMAR_ANY_FORMAT;  // calls have white space as the model's format has it
    if (grammar_template)
      return linnet_grammar_calls(nullptr, calls, text.data(), text.size(), name.c_str(), &rules, bytes.data(), bytes.size(), &n, &err);
    const auto kind = static_cast<linnet_grammar_kind>(given->kind | flags);
    return linnet_grammar_compile(nullptr, text.data(), text.size(), name.c_str(), kind, bytes.data(), bytes.size(), &n, &err);
  };
  if (status == LINNET_OK) status = compile();
  if (status == LINNET_TOO_SMALL) {
    bytes.resize(n);
    status = compile();
  }
  linnet_need need = {};
  need.size = sizeof need;
  if (status == LINNET_OK) status = linnet_grammar_need(model, bytes.data(), n, &need, &err);
  if (status == LINNET_OK && !grammar_memory.alloc(need.bytes))
    return failed(args, "no memory for the grammar's %zu bytes", need.bytes), false;
  if (status == LINNET_OK) status = linnet_grammar_init(&grammar, grammar_memory.data, grammar_memory.bytes, model, bytes.data(), n, &err);
  return status == LINNET_OK || (failed(args, err), false);
}

linnet_power_state Engine::power_state() const {
  linnet_power_state state = {};
  state.size = sizeof state;
  (void)linnet_power_get(power, &state, nullptr);
  return state;
}

const char* power_why(const linnet_power_state& state) {
  switch (state.why) {
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
  if (!power) return "";
  const linnet_power_state state = power_state();
  std::string text = "governor: ";
  char number[64];
  if (state.blind)
    text += "no temperature can be read, so the limit is not held; ";
  else if (temperature_limit > 0) {
    std::snprintf(number, sizeof number, "%.1f of at most %.0f C, ", static_cast<double>(sensors.last().temperature),
                  static_cast<double>(temperature_limit));
    text += number;
  }
  std::snprintf(number, sizeof number, "%u of %u threads%s", state.n_threads, params.n_threads,
                state.level >= state.n_steps ? " and pauses" : "");
  text += number;
  if (state.why != LINNET_POWER_FREE) text += std::string(" (") + power_why(state) + ")";
  return text + ", " + std::to_string(n_power_changes) + (n_power_changes == 1 ? " change" : " changes");
}

uint32_t token_flags(const Args& args, const char* no_add) {
  return (args.flag(no_add) ? 0 : uint32_t{LINNET_ADD_SPECIAL}) | (args.flag("--no-parse-special") ? 0 : uint32_t{LINNET_PARSE_SPECIAL});
}

bool tokenize(const Args& args, const Engine& engine, std::string_view text, uint32_t flags, std::vector<int32_t>* out) {
  linnet_error err = {};
  size_t scratch_bytes = 0, n = 0;
  if (!engine.desc.has_tokenizer) {
    failed(args, "%s: the model has no tokenizer: only --tokens works with it", engine.source.c_str());
    return false;
  }
  if (linnet_tokenize_need(engine.model, text.size(), &scratch_bytes, &err) != LINNET_OK) {
    failed(args, engine.source, err);
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
  const linnet_status sized = linnet_detokenize(engine.model, tokens.data(), tokens.size(), 0, nullptr, 0, &n, &err);
  if (sized == LINNET_TOO_SMALL || sized == LINNET_OK) {
    out->resize(n);
    if (linnet_detokenize(engine.model, tokens.data(), tokens.size(), 0, out->data(), n, &n, &err) == LINNET_OK) return true;
  }
  failed(args, engine.source, err);
  return false;
}

bool token_text(const Args& args, const Engine& engine, int32_t token, std::string* out) {
  linnet_error err = {};
  size_t n = 0;
  (void)linnet_token_text(engine.model, token, nullptr, 0, &n, nullptr);  // for the size
  out->resize(n);
  return linnet_token_text(engine.model, token, out->data(), n, &n, &err) == LINNET_OK || (failed(args, engine.source, err), false);
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
