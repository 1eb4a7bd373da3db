// linnet plan: what a model and a session take, before anything runs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cli.h"

namespace linnet::cli {
namespace {

struct Purpose {
  std::string name;
  uint64_t bytes;
};

void add(std::vector<Purpose>* rows, const char* name, uint64_t bytes) {
  for (Purpose& row : *rows)
    if (row.name == name) {
      row.bytes += bytes;
      return;
    }
  rows->push_back({name, bytes});
}

// What the KV cache would take in each format, everything else as asked for.
std::vector<Purpose> kv_formats(const Engine& engine, linnet_session_params session) {
  std::vector<Purpose> rows;
  const char* format = nullptr;
  for (int f = LINNET_F32; (format = linnet_format_name(static_cast<linnet_format>(f))) != nullptr; ++f) {
    session.k_format = session.v_format = static_cast<uint32_t>(f);
    session.n_kv_layers = 0;
    const char* name = nullptr;
    size_t bytes = 0;
    for (uint32_t i = 0; linnet_session_plan(engine.model, &session, i, &name, &bytes, nullptr) == LINNET_OK; ++i)
      if (std::strcmp(name, "kv") == 0) rows.push_back({format, bytes});
  }
  return rows;
}

// ---- what fits --------------------------------------------------------------------------------------------------------------------

// A well-known shape in one format, with the longest context that fits.
struct Fit {
  std::string shape;
  linnet_format weights = LINNET_FORMAT_DEFAULT;
  uint64_t n_params = 0, weight_bytes = 0, total = 0;
  uint32_t context = 0;                                   // 0: none fits
  double decode_empty = 0, decode_full = 0, prefill = 0;  // tokens/s; 0 = nothing to predict from
};
constexpr uint32_t kShortest = 512, kPrompt = 512;

// Tokens/s at the limits, 0 where one that counts is not known.
double per_second(double tokens, const convert::CostPass& pass, const Limits& limits) {
  const double seconds = floor_of(pass, limits);
  return std::isfinite(seconds) && seconds > 0 ? tokens / seconds : 0;
}

bool predict(const Args& args, const Settings& settings, const Limits& limits, Fit* fit) {
  convert::CostParams params;
  params.prompt = std::min(kPrompt, fit->context);
  params.weights = fit->weights, params.k = settings.kv.k, params.v = settings.kv.v;
  for (const uint32_t depth : {0u, fit->context - 1}) {
    params.depth = depth;
    convert::Cost cost;
    linnet_error err = {};
    if (convert::cost("synthetic:" + fit->shape, params, &cost, &err) != LINNET_OK) {
      failed(args, err);
      return false;
    }
    (depth ? fit->decode_full : fit->decode_empty) = per_second(1, cost.decode, limits);
    fit->prefill = per_second(params.prompt, cost.prefill, limits);
  }
  return true;
}

// Exact bytes by the need functions, on a model whose weights are never touched.
bool find_fit(const Args& args, Settings settings, uint64_t budget, Fit* fit) {
  Engine engine;
  settings.weights = fit->weights;
  settings.shape_only = true;
  settings.profile.isa = LINNET_ISA_AUTO;  // the device may have another CPU than this one; bytes are the same
  settings.profile.memory_bytes = 0;       // it is the budget
  if (!engine.open(args, "synthetic:" + fit->shape, settings)) return false;
  fit->n_params = engine.desc.n_params;
  fit->weight_bytes = engine.desc.weight_bytes;
  const uint32_t longest = settings.session.n_context ? std::min(settings.session.n_context, engine.desc.n_context) : engine.desc.n_context;
  for (uint32_t context = std::min(kShortest, longest);; context = std::min(2 * context, longest)) {
    settings.session.n_context = context;
    linnet_error err = {};
    linnet_need need = {};
    need.size = sizeof need;
    if (linnet_session_need(engine.model, &settings.session, &need, &err) != LINNET_OK) {
      failed(args, err);
      return false;
    }
    const uint64_t stays = settings.load <= LINNET_LOAD_MAP ? engine.desc.layer_embd_bytes : 0;  // of a packed file
    const uint64_t total = fit->weight_bytes - stays + engine.model_memory.bytes + need.bytes;
    if (total > budget) break;
    fit->context = context;
    fit->total = total;
    if (context == longest) break;
  }
  return true;
}

int run_fits(const Args& args) {
  Settings settings;
  settings.fit = args.text("--profile") == "auto";
  if (!read_settings(args, &settings)) return kExitError;
  if (args.given("--lora")) return usage_error(args, "--lora goes with -m");
  if (!settings.kv.layers.empty()) return usage_error(args, "--fits takes one KV format for all layers");
  const bool asked = args.given("--memory"), capped = !asked && settings.profile.memory_bytes > 0;
  const uint64_t budget = asked    ? static_cast<uint64_t>(args.real("--memory") * 1e9)
                          : capped ? settings.profile.memory_bytes
                                   : usable_memory();
  Limits limits = limits_of(settings.profile);
  const bool known = limits.read_gb_s > 0 && limits.int8_tops > 0;
  // Another device cannot be measured here.
  const bool measured = !known && !args.given("--profile") && sysroot().empty();
  if (measured) settings.session.n_threads = usable_threads(args, settings.session.n_threads);
  if (measured && !measure_limits(args, settings.profile, settings.session.n_threads, &limits)) return kExitError;

  std::vector<linnet_format> formats = {LINNET_BF16, LINNET_I8G32, LINNET_I4G32};
  if (args.given("--weights")) formats = {settings.weights};
  std::vector<Fit> fits;
  size_t n_tried = 0;
  for (const std::string& shape : convert::shapes()) {
    for (const linnet_format weights : formats) {
      Fit fit;
      fit.shape = shape;
      fit.weights = weights;
      ++n_tried;
      if (!find_fit(args, settings, budget, &fit)) return kExitError;
      if (fit.context == 0) continue;
      if (!predict(args, settings, limits, &fit)) return kExitError;
      fits.push_back(fit);
    }
  }
  std::stable_sort(fits.begin(), fits.end(), [](const Fit& a, const Fit& b) { return a.n_params > b.n_params; });
  const char* const k = linnet_format_name(settings.kv.k ? settings.kv.k : LINNET_I8);
  const char* const v = linnet_format_name(settings.kv.v ? settings.kv.v : settings.kv.k ? settings.kv.k : LINNET_I8);
  const std::string kv = std::string(k) + (std::string(k) == v ? "" : std::string("/") + v);
  if (args.json()) {
    Json json;
    json.object()
        .field("memory_bytes", budget)
        .field("memory_of", asked    ? "--memory"
                            : capped ? "profile"
                                     : "this machine")
        .field("kv", kv)
        .field("threads", settings.session.n_threads);
    json.key("limits").object().field("measured_now", measured);
    for (const auto& [name, value] : {std::pair{"read_gb_s", limits.read_gb_s},
                                      {"int8_tops", limits.int8_tops},
                                      {"f8_tops", limits.f8_tops},
                                      {"float_tops", limits.float_tops}})
      if (json.key(name); value > 0)
        json.value(value);
      else
        json.null();
    json.end().field("tried", static_cast<uint64_t>(n_tried)).key("fits").array();
    for (const Fit& f : fits) {
      json.object()
          .field("shape", f.shape)
          .field("weights", linnet_format_name(f.weights))
          .field("n_params", f.n_params)
          .field("context", f.context)
          .field("weight_bytes", f.weight_bytes)
          .field("total", f.total)
          .key("predicted")
          .object();
      for (const auto& [name, value] : {std::pair{"decode_tokens_per_s", f.decode_empty},
                                        {"decode_tokens_per_s_full", f.decode_full},
                                        {"prefill_tokens_per_s", f.prefill}})
        if (json.key(name); value > 0)
          json.value(value);
        else
          json.null();
      json.end().end();
    }
    json.end().end().print();
    return kExitOk;
  }
  std::printf("memory: %s (%s); %s KV cache, %u thread%s\n", human_bytes(budget).c_str(),
              asked    ? "--memory"
              : capped ? "memory of the profile"
                       : "what this machine has free; --memory says what another has",
              kv.c_str(), settings.session.n_threads, settings.session.n_threads == 1 ? "" : "s");
  if (limits.read_gb_s > 0)
    std::printf(
        "tokens/s are PREDICTIONS, the most that %.1f GB/s and %.2f TOPS int8 (%s) allow: with an empty context, with a full one, and of a "
        "prompt of %u\n",
        limits.read_gb_s, limits.int8_tops, measured ? "measured now" : "of the profile", kPrompt);
  else
    std::printf("no predictions: the profile has no read_gb_s and int8_tops\n");
  std::printf("\n%-16s %8s  %-8s %9s %9s %9s %11s %11s %11s\n", "shape", "weights", "format", "bytes", "context", "in all", "decode",
              "... full", "prompt");
  for (const Fit& f : fits) {
    const bool billions = f.n_params >= 1000000000;
    std::printf("%-16s %6.*f %c  %-8s %9s %9u %9s", f.shape.c_str(), billions ? 2 : 1,
                static_cast<double>(f.n_params) * (billions ? 1e-9 : 1e-6), billions ? 'B' : 'M', linnet_format_name(f.weights),
                human_bytes(f.weight_bytes).c_str(), f.context, human_bytes(f.total).c_str());
    for (const double rate : {f.decode_empty, f.decode_full, f.prefill})
      if (rate > 0)
        std::printf(" %9.*f/s", rate < 100 ? 1 : 0, rate);
      else
        std::printf(" %11s", "-");
    std::printf("\n");
  }
  std::printf("%zu of %zu fit with a context of %u or more\n", fits.size(), n_tried, kShortest);
  return kExitOk;
}

int run(const Args& args) {
  if (args.flag("--fits")) return args.given("-m") ? usage_error(args, "give either -m or --fits") : run_fits(args);
  if (!args.given("-m")) return usage_error(args, "give -m MODEL, or --fits");
  Settings settings;
  Engine engine;
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  if (!engine.adapt(args, &settings.session)) return kExitError;
  if (linnet_session_need(engine.model, &settings.session, &need, &err) != LINNET_OK) return failed(args, err);

  std::vector<Purpose> rows;
  const char* name = nullptr;
  size_t bytes = 0;
  uint64_t total = 0;
  constexpr const char* kLayerEmbd = "layer embeddings";
  const bool mapped = engine.loaded.mapped, stays = engine.layer_embd_stays;
  add(&rows, "weights", engine.desc.weight_bytes - engine.desc.layer_embd_bytes);
  if (engine.desc.layer_embd_bytes) add(&rows, kLayerEmbd, engine.desc.layer_embd_bytes);
  for (uint32_t i = 0; linnet_model_memory(engine.model, i, &name, &bytes, nullptr) == LINNET_OK; ++i) add(&rows, name, bytes);
  for (uint32_t i = 0; linnet_session_plan(engine.model, &settings.session, i, &name, &bytes, &err) == LINNET_OK; ++i)
    add(&rows, name, bytes);
  if (const uint64_t adapters = engine.adapter_bytes()) add(&rows, "adapters", adapters);
  for (const Purpose& row : rows) total += stays && row.name == kLayerEmbd ? 0 : row.bytes;
  if (args.json()) {
    Json json;
    json.object()
        .field("total", total)
        .field("arena_bytes", engine.model_memory.bytes + need.bytes + engine.adapter_bytes())
        .field("weights_mapped", mapped);
    json.key("purposes").object();
    for (const Purpose& row : rows) json.field(row.name, row.bytes);
    json.end().key("kv_formats").object();
    for (const Purpose& row : kv_formats(engine, settings.session)) json.field(row.name, row.bytes);
    json.end().end().print();
    return kExitOk;
  }
  for (const Purpose& row : rows)
    if (row.bytes > 0)
      std::printf("%-18s %14llu bytes  %9s%s\n", row.name.c_str(), static_cast<unsigned long long>(row.bytes),
                  human_bytes(row.bytes).c_str(),
                  row.name == kLayerEmbd && stays ? "  stays in the file, of which a token reads its own; not in the total"
                  : row.name != "weights" && row.name != kLayerEmbd ? ""
                  : mapped                                          ? "  mapped from the file, shared by all processes that use it"
                                                                    : "  in memory");
  std::printf("%-18s %14llu bytes  %9s\n", "total", static_cast<unsigned long long>(total), human_bytes(total).c_str());
  for (const Purpose& row : kv_formats(engine, settings.session))
    std::printf("kv as %-12s %14llu bytes  %9s\n", row.name.c_str(), static_cast<unsigned long long>(row.bytes),
                human_bytes(row.bytes).c_str());
  return kExitOk;
}

}  // namespace

Command plan_command() {
  Option model = model_option();
  model.required = false;
  return {"plan",
          "exact bytes by purpose that a model and a session take; what fits a device",
          "",
          0,
          0,
          "All but the weights is memory that the app hands to linnet; after that nothing more is allocated.\n\n"
          "--fits lists well-known shapes in bf16, i8g32 and i4g32 (or --weights) with the longest context that fits the memory "
          "(--memory, the profile's, or what this\n"
          "machine has free), in exact bytes, and predicts tokens/s from the profile's peaks (without one: measured now). Predictions are "
          "floors of time: nothing is faster.\n\n"
          "example: linnet plan -m model.gguf --context 4096\nexample: linnet plan --fits --profile raspberry-pi-5 --memory 7.5",
          join({model,
                {"--fits", nullptr, Kind::kFlag, "list well-known shapes that fit, instead of -m"},
                {"--memory", "GB", Kind::kReal,
                 "with --fits: memory to fit in, 10^9 bytes (default: the profile's, else what is free here)", nullptr, 0.000001, 1000000}},
               join(engine_options(), session_options())),
          run};
}

}  // namespace linnet::cli
