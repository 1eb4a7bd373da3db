// linnet inspect: what is in a model file or folder.
#include <algorithm>
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t d : shape) text += (text.empty() ? "" : " x ") + std::to_string(d);
  return text;
}

void print_json(const std::string& path, const convert::Description& d) {
  Json json;
  json.object().field("path", path).field("kind", d.kind).field("name", d.name).field("architecture", d.architecture);
  json.field("tokenizer", d.tokenizer).field("vocabulary", d.n_tokens).field("tensor_bytes", d.tensor_bytes);
  if (d.n_ahead) json.key("speculation").object().field("layers", d.n_ahead).field("bytes", d.ahead_bytes).field("drafts", false).end();
  json.field("chat", d.chat).key("chat_templates").array();
  for (const convert::TemplateInfo& t : d.templates) {
    json.object().field("name", t.name.empty() ? "default" : t.name).field("compiled", t.error.empty());
    if (!t.error.empty()) json.field("error", t.error);
    json.end();
  }
  json.end();
  if (!d.unsupported.empty()) json.field("unsupported", d.unsupported);
  json.key("spec").object();
  for (const convert::SpecInfo& s : d.spec) {
    double number = 0;
    uint64_t whole = 0;
    if (!s.is_text && parse_count(s.value, &whole))
      json.field(s.name, whole);
    else if (!s.is_text && parse_real(s.value, &number))
      json.field(s.name, number);
    else
      json.field(s.name, s.value);
  }
  json.end().key("tensors").array();
  for (const convert::TensorInfo& t : d.tensors) {
    json.object().field("name", t.name).field("format", t.format).field("shape", t.shape).field("bytes", t.bytes);
    if (!t.packed.empty()) json.field("packed", t.packed);
    if (t.ahead) json.field("speculation", true);
    if (t.bits > 0) json.field("bits", t.bits);
    if (t.error >= 0) json.field("error", t.error);
    json.end();
  }
  json.end().end().print();
}

void print_text(const std::string& path, const convert::Description& d) {
  std::printf("%s: %s", printable(path).c_str(), d.kind.c_str());
  if (!d.architecture.empty()) std::printf(", architecture %s", printable(d.architecture).c_str());
  if (!d.name.empty()) std::printf(", \"%s\"", printable(d.name).c_str());
  std::printf("\n%zu tensors, %s; ", d.tensors.size(), human_bytes(d.tensor_bytes).c_str());
  if (d.n_tokens > 0)
    std::printf("tokenizer %s, %llu tokens\n", printable(d.tokenizer).c_str(), static_cast<unsigned long long>(d.n_tokens));
  else
    std::printf("no tokenizer\n");
  std::string roles;
  for (const std::string& role : d.chat) roles += " " + role;
  if (!roles.empty()) std::printf("chat format:%s\n", roles.c_str());
  for (const convert::TemplateInfo& t : d.templates)
    std::printf("chat template %s: %s\n", t.name.empty() ? "default" : printable(t.name).c_str(),
                t.error.empty() ? "compiled" : printable(t.error).c_str());
  if (d.n_ahead)
    std::printf("layers for speculation: %u, %s of the tensors' bytes; nothing drafts by them yet\n", d.n_ahead,
                human_bytes(d.ahead_bytes).c_str());
  if (!d.unsupported.empty()) std::printf("linnet cannot run it: %s\n", d.unsupported.c_str());
  for (const convert::SpecInfo& s : d.spec) std::printf("  %-16s %s\n", s.name.c_str(), printable(s.value).c_str());
  size_t width = 20;
  for (const convert::TensorInfo& t : d.tensors) width = std::max(width, printable(t.name).size());
  for (const convert::TensorInfo& t : d.tensors) {
    std::printf("%-*s  %-7s %-16s %12llu bytes", static_cast<int>(width), printable(t.name).c_str(), printable(t.format).c_str(),
                shape_text(t.shape).c_str(), static_cast<unsigned long long>(t.bytes));
    if (!t.packed.empty()) std::printf(", packed as %s:", t.packed.c_str());
    if (t.bits > 0) std::printf("%s %.2f bits", t.packed.empty() ? "," : "", t.bits);
    if (t.error == 0) std::printf(", as it is");
    if (t.error > 0) std::printf(", RMS error %.2g %%", 100 * t.error);
    if (t.ahead) std::printf(", for speculation");
    std::printf("\n");
  }
}

// ---- what a pass costs ------------------------------------------------------------------------------------------------------

uint64_t whole(double count) { return static_cast<uint64_t>(count + 0.5); }
double bytes_of(const convert::CostStep& c) { return c.weight_bytes + c.kv_bytes; }

convert::CostStep total_of(const convert::CostPass& pass) {
  convert::CostStep total{"total"};
  for (const convert::CostStep& c : pass.steps) total.ops += c.ops, total.weight_bytes += c.weight_bytes, total.kv_bytes += c.kv_bytes;
  return total;
}

void json_pass(Json* json, const char* name, uint64_t rows, const convert::CostPass& pass, const Limits& limits) {
  json->key(name).object().field("tokens", rows).key("steps").array();
  for (const convert::CostStep& c : pass.steps) {
    bool compute = false;
    const double floor = floor_of(c, limits, &compute);
    json->object()
        .field("name", c.name)
        .field("ops", whole(c.ops))
        .field("weight_bytes", whole(c.weight_bytes))
        .field("kv_bytes", whole(c.kv_bytes))
        .field("ops_per_byte", c.ops / bytes_of(c))
        .field("bound", compute ? "compute" : "memory")
        .field("floor_ms", 1000 * floor)
        .end();
  }
  const convert::CostStep total = total_of(pass);
  json->end()
      .field("ops", whole(total.ops))
      .field("weight_bytes", whole(total.weight_bytes))
      .field("kv_bytes", whole(total.kv_bytes))
      .field("floor_ms", 1000 * floor_of(pass, limits))
      .end();
}

void text_pass(const char* title, const convert::CostPass& pass, const Limits& limits) {
  std::printf("%s\n%-20s %12s %12s %12s %10s  %-8s %10s\n", title, "", "GOP", "weights", "KV", "op/byte", "bound", "floor ms");
  const auto row = [&](const convert::CostStep& c, const char* bound, double floor) {
    std::printf("%-20s %12.3f %12s %12s %10.2f  %-8s %10.3f\n", c.name, c.ops * 1e-9, human_bytes(whole(c.weight_bytes)).c_str(),
                human_bytes(whole(c.kv_bytes)).c_str(), c.ops / bytes_of(c), bound, 1000 * floor);
  };
  for (const convert::CostStep& c : pass.steps) {
    bool compute = false;
    const double floor = floor_of(c, limits, &compute);
    row(c, compute ? "compute" : "memory", floor);
  }
  row(total_of(pass), "", floor_of(pass, limits));
}

int run_cost(const Args& args, const std::string& path) {
  Settings settings;
  if (!read_settings(args, &settings)) return kExitError;
  if (!settings.kv.layers.empty()) return usage_error(args, "--cost takes one KV format for all layers");
  convert::CostParams params;
  params.prompt = static_cast<uint32_t>(args.count("--prompt"));
  params.depth = static_cast<uint32_t>(args.count("--depth"));
  params.weights = settings.weights, params.floats = settings.floats, params.k = settings.kv.k, params.v = settings.kv.v;
  convert::Cost cost;
  linnet_error err = {};
  if (convert::cost(path, params, &cost, &err) != LINNET_OK) return failed(args, err);
  Limits limits = limits_of(settings.profile);
  const bool measured = limits.read_gb_s <= 0 || limits.int8_tops <= 0 || limits.f8_tops <= 0 || limits.float_tops <= 0;
  const uint32_t threads = measured ? usable_threads(args, settings.session.n_threads) : settings.session.n_threads;
  if (measured && !measure_limits(args, settings.profile, threads, &limits)) return kExitError;
  const std::string k = linnet_format_name(cost.k), v = linnet_format_name(cost.v), kv = k == v ? k : k + "/" + v,
                    weights = linnet_format_name(cost.weights_format);
  if (args.json()) {
    Json json;
    json.object()
        .field("path", path)
        .field("weights", weights)
        .field("kv", kv)
        .field("threads", threads)
        .key("limits")
        .object()
        .field("measured_now", measured)
        .field("read_gb_s", limits.read_gb_s)
        .field("int8_tops", limits.int8_tops)
        .field("f8_tops", limits.f8_tops)
        .field("float_tops", limits.float_tops)
        .end()
        .key("layer")
        .object()
        .field("weights", whole(cost.layer_weights))
        .field("bytes", whole(cost.layer_bytes))
        .field("prefill_ops", whole(cost.layer_ops))
        .end()
        .field("n_weights", whole(cost.weights))
        .field("weight_bytes", whole(cost.weight_bytes))
        .field("kv_bytes_per_token", whole(cost.kv_bytes_per_token));
    json_pass(&json, "prefill", params.prompt, cost.prefill, limits);
    json_pass(&json, "decode", 1, cost.decode, limits);
    json.end().print();
    return kExitOk;
  }
  std::printf("%s, %s weights, %s KV cache\n", printable(path).c_str(), weights.c_str(), kv.c_str());
  std::printf("model: %.2f M weights, %s; KV cache %s a token\n", cost.weights * 1e-6, human_bytes(whole(cost.weight_bytes)).c_str(),
              human_bytes(whole(cost.kv_bytes_per_token)).c_str());
  std::printf("a layer (of %u): %.1f M weights, %s; prefill %.3f TOP with attention\n", cost.n_layers, cost.layer_weights * 1e-6,
              human_bytes(whole(cost.layer_bytes)).c_str(), cost.layer_ops * 1e-12);
  std::printf("limits %s: %.1f GB/s plain read, %.2f TOPS int8, %.2f FP8, %.2f float, %u thread%s\n\n",
              measured ? "measured now" : "of the profile", limits.read_gb_s, limits.int8_tops, limits.f8_tops, limits.float_tops, threads,
              threads == 1 ? "" : "s");
  text_pass(("prefill of " + std::to_string(params.prompt) + " tokens").c_str(), cost.prefill, limits);
  std::printf("\n");
  text_pass(("decode at depth " + std::to_string(params.depth)).c_str(), cost.decode, limits);
  return kExitOk;
}

int run(const Args& args) {
  convert::Description description;
  linnet_error err = {};
  if (args.positional().empty() != args.given("-m")) return usage_error(args, "give M, or -m M");
  const std::string path = args.given("-m") ? args.text("-m") : args.positional()[0];
  if (args.flag("--cost")) return run_cost(args, path);
  if (convert::describe(path, &description, &err) != LINNET_OK) return failed(args, err);
  (args.json() ? print_json : print_text)(path, description);
  return kExitOk;
}

}  // namespace

Command inspect_command() {
  Option model = model_option();
  model.help = "the same as M";
  model.required = false;
  return {
      "inspect",
      "what a model file or folder holds: kind, spec, tensors",
      "[M]",
      0,
      1,
      "M is a packed or plain GGUF file, a Hugging Face folder, or synthetic:SHAPE.\n\n"
      "--cost counts 2 operations per multiply-add of matrices and attention (every row against all rows of the prompt, no causal half, "
      "within windows);\n"
      "bytes of matrices read, and of the KV cache, written once and read once; of experts those that rows spread evenly choose; logits of "
      "one row.\n"
      "The floor is what each step's bytes or operations take at the profile's limits, or at those measured now where it has none.\n\n"
      "example: linnet inspect synthetic:llama-3.1-8b --cost --prompt 2048 --depth 2048 --weights bf16 --kv bf16",
      {
          model,
          {"--cost", nullptr, Kind::kFlag,
           "what prefill and decode cost by step: operations, bytes, bound, and the least time on this machine"},
          {"--prompt", "N", Kind::kCount, "with --cost: tokens of the prefill", "512", 1, 16777216},
          {"--depth", "N", Kind::kCount, "with --cost: tokens in the KV cache when one is decoded", "512", 0, 16777216},
          weights_option(),
          {"--kv", "FMT", Kind::kKv, "with --cost: format of the KV cache; K and V apart: i8/f16", "i8"},
          {"--isa", "TIER", Kind::kIsa, "with --cost: CPU instructions whose limits are measured", "auto"},
          {"-t, --threads", "N", Kind::kCount, "with --cost: threads that compute (default: the cores this process may use)", nullptr, 1,
           256},
          {"--profile", "FILE", Kind::kPath,
           "with --cost: device profile (YAML) with limits, as linnet devices --measure --write makes it"},
      },
      run,
      Kind::kModel};
}

}  // namespace linnet::cli
