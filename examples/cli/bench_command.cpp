// linnet bench: speed, held against what this machine can do in the same minute.
//
// DRAM bandwidth and clocks of shared machines wander, so the plain read bandwidth and the int8 peak are measured just before and just
// after every repetition; a repetition whose two limits differ by more than a tenth says nothing and is made again.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <variant>

#include "../../platform/file.h"
#include "cli.h"

namespace linnet::cli {
namespace {

constexpr double kSteady = 0.10;
constexpr size_t kBigEnough = size_t{1} << 30;  // weights of this size are read themselves, smaller ones would sit in caches

// Memory that is read for the bandwidth: the weights, or a buffer with pages like theirs.
class ReadTarget {
 public:
  bool prepare(const Engine& engine);
  linnet_view view() const { return view_; }

 private:
  linnet_view view_ = {};
  Memory memory_;
};

bool ReadTarget::prepare(const Engine& engine) {
  view_ = engine.loaded.file;
  if (engine.desc.device) return true;  // its memory is read
  if (view_.bytes >= kBigEnough) return true;
  const size_t bytes = measure_bytes();
  if (!memory_.alloc(bytes)) return false;
  if (engine.loaded.mapped) memory_huge(memory_.data, bytes, LINNET_SWITCH_OFF);  // as the page cache
  std::memset(memory_.data, 1, bytes);                                            // memory that was never written is one page of zeros
  view_ = {memory_.data, bytes};
  return true;
}

struct Work {  // of one repetition
  double seconds = 0, tokens = 0, bytes = 0, ops = 0;
  double joules = -1;  // -1: not known
};

// Energy while work runs, of the whole board or package, whatever else runs on it. Counters are read before and after; power is looked at
// in between too.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  ~Meter() { join(); }
  bool open(const Args& args) { return sensors_.open(args) && (sensors_.read(), true); }
  const char* source() const { return sensors_.last().energy_source; }
  const char* why_not() const {
    const char* why = sensors_.last().no_energy;
    return why ? why : "the counter was reset or stopped while it was read";
  }
  const JetsonPower& jetson() const { return jetson_; }
  void start() {
    const linnet_reading now = sensors_.read();
    joules_ = now.joules, gaps_ = now.energy_gaps;
    const bool power = now.energy_source && std::strcmp(now.energy_source, "ina3221") == 0;
    if (power)
      watcher_ = std::thread([this] {
        for (std::unique_lock lock(mutex_); !done_; wake_.wait_for(lock, std::chrono::milliseconds(100))) sensors_.read();
      });
  }
  // Joules since start(), -1 where that is not known.
  double stop() {
    if (is_jetson()) {  // clocks as they are while there is work
      const JetsonPower now = jetson_power();
      if (now.gpu_mhz >= jetson_.gpu_mhz) jetson_ = now;
    }
    join();
    const linnet_reading now = sensors_.read();
    return (now.has & LINNET_HAS_ENERGY) && now.energy_gaps == gaps_ ? now.joules - joules_ : -1;
  }

 private:
  void join() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    if (watcher_.joinable()) watcher_.join();
    done_ = false;
  }
  Sensors sensors_;
  JetsonPower jetson_;
  double joules_ = 0;
  uint32_t gaps_ = 0;
  std::thread watcher_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
};

struct Rep {
  Work work;
  double read_gb_s, int8_tops;  // mean of before and after
};

struct Result {
  uint64_t size = 0;  // depth or prompt
  std::vector<Rep> reps;
  size_t dropped = 0;
  double spread = 0;       // largest difference of the limits before and after, of the repetitions kept
  double predicted_s = 0;  // of a token or a prompt: the cost table's floor at the limits measured beside it
};

class Bench {
 public:
  Bench(const Args& args, const Settings& settings, Engine& engine) : args_(args), settings_(settings), engine_(engine) {}
  bool prepare() {
    if (!target_.prepare(engine_)) return failed(args_, "no memory to measure the read bandwidth with"), false;
    return meter_.open(args_);
  }
  bool decode(uint64_t depth, uint64_t gen, size_t reps, Result* out);
  bool prefill(uint64_t tokens, size_t reps, Result* out);
  bool peaks(Limits* out);  // of products, nothing is read
  const Meter& meter() const { return meter_; }

 private:
  bool limits(linnet_measurement* out);
  // Calls rep until `reps` steady repetitions are there, at most three times as often.
  bool repeat(const char* what, size_t reps, double linnet_measurement::* limit, const std::function<bool(Work*)>& rep, Result* out);
  bool run_prefill(const std::vector<int32_t>& tokens);
  bool back_to(const std::vector<int32_t>& tokens);  // the session holds these, and the last one's logits
  bool empty();
  std::vector<int32_t> random_tokens(uint64_t n);

  const Args& args_;
  const Settings& settings_;
  Engine& engine_;
  ReadTarget target_;
  Meter meter_;
  uint64_t random_ = 1;
};

bool Bench::limits(linnet_measurement* out) {
  *out = {};
  out->size = offsetof(linnet_measurement, decode_gb_s);  // the limits alone
  linnet_error err = {};
  const linnet_view view = target_.view();
  if (linnet_measure(&settings_.profile, engine_.params.n_threads, view.data, view.bytes, out, &err) == LINNET_OK) return true;
  failed(args_, err);
  return false;
}

bool Bench::peaks(Limits* out) {
  linnet_measurement m = {};
  m.size = sizeof m;
  linnet_error err = {};
  if (linnet_measure(&settings_.profile, engine_.params.n_threads, nullptr, 0, &m, &err) != LINNET_OK) {
    failed(args_, err);
    return false;
  }
  *out = {0, m.int8_tops, m.f8_tops, m.float_tops};
  return true;
}

bool Bench::repeat(const char* what, size_t reps, double linnet_measurement::* limit, const std::function<bool(Work*)>& rep, Result* out) {
  std::vector<std::pair<double, Rep>> unsteady;
  linnet_measurement before = {}, after = {};
  Progress bar(what);
  if (!limits(&before)) return false;
  for (size_t i = 0; i < 3 * reps && out->reps.size() < reps; ++i) {
    Work work;
    if (!rep(&work) || !limits(&after)) return false;
    const double a = before.*limit, b = after.*limit, change = std::max(a, b) > 0 ? 1 - std::min(a, b) / std::max(a, b) : 0;
    const Rep done = {work, (before.read_gb_s + after.read_gb_s) / 2, (before.int8_tops + after.int8_tops) / 2};
    if (change <= kSteady) {
      out->reps.push_back(done);
      out->spread = std::max(out->spread, change);
    } else {
      unsteady.emplace_back(change, done);
    }
    before = after;
    Progress::callback(&bar, out->reps.size(), reps);
  }
  out->dropped = unsteady.size();
  if (!out->reps.empty()) return true;
  // The machine never held still: show what was measured, and how far its limits moved.
  for (const auto& [change, done] : unsteady) {
    out->reps.push_back(done);
    out->spread = std::max(out->spread, change);
  }
  return true;
}

std::vector<int32_t> Bench::random_tokens(uint64_t n) {
  std::vector<int32_t> tokens(n);
  for (int32_t& token : tokens) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    token = static_cast<int32_t>((random_ >> 33) % engine_.desc.n_vocab);
  }
  return tokens;
}

bool Bench::run_prefill(const std::vector<int32_t>& tokens) {
  linnet_error err = {};
  if (linnet_prefill(engine_.session, 0, tokens.data(), tokens.size(), &err) == LINNET_OK) return true;
  failed(args_, err);
  return false;
}

bool Bench::empty() {
  linnet_error err = {};
  return linnet_truncate(engine_.session, 0, 0, &err) == LINNET_OK || (failed(args_, err), false);
}

bool Bench::back_to(const std::vector<int32_t>& tokens) {
  const bool kept = linnet_truncate(engine_.session, 0, tokens.size() - 1, nullptr) == LINNET_OK;
  if (kept) return run_prefill({tokens.back()});
  return empty() && run_prefill(tokens);  // layers with a window have dropped what the last token sees
}

// What the passes between the tokens of a generation read.
struct Passes {
  linnet_session* session;
  uint64_t n;
  double bytes;
  static int count(void* user, int32_t token, const char*, size_t) {
    Passes& p = *static_cast<Passes*>(user);
    if (token < 0 || p.n++ == 0) return 0;
    linnet_stats stats = {};
    stats.size = sizeof stats;
    (void)linnet_stats_get(p.session, &stats, nullptr);
    p.bytes += static_cast<double>(stats.decode_bytes);
    return 0;
  }
};

bool Bench::decode(uint64_t depth, uint64_t gen, size_t reps, Result* out) {
  out->size = depth;
  const std::vector<int32_t> past = random_tokens(std::max<uint64_t>(depth, 1));  // a first token is needed to draw from
  if (!empty() || !run_prefill(past)) return false;
  const auto rep = [&](Work* work) {
    linnet_error err = {};
    if (!back_to(past)) return false;
    // The last token of a generation is drawn and not computed: so one more than `gen` passes.
    linnet_generate_params params = {};
    params.size = sizeof params;
    params.max_tokens = static_cast<uint32_t>(gen + 1);
    params.ignore_eos = 1;
    linnet_generated end = {};
    end.size = sizeof end;
    Passes passes{engine_.session, 0, 0};
    meter_.start();
    const double start = seconds_now();
    if (linnet_generate(engine_.session, 0, &params, Passes::count, &passes, &end, &err) != LINNET_OK) return failed(args_, err), false;
    if (end.why != LINNET_STOP_LENGTH) return failed(args_, "stopped after %llu tokens", static_cast<unsigned long long>(passes.n)), false;
    work->bytes += passes.bytes;
    work->seconds = seconds_now() - start;
    work->joules = meter_.stop();
    work->tokens = static_cast<double>(gen);
    return true;
  };
  Work warm;
  return rep(&warm) && repeat("decode", reps, &linnet_measurement::read_gb_s, rep, out);
}

bool Bench::prefill(uint64_t n, size_t reps, Result* out) {
  out->size = n;
  const std::vector<int32_t> tokens = random_tokens(n);
  const auto rep = [&](Work* work) {
    if (!empty()) return false;
    meter_.start();
    const double start = seconds_now();
    if (!run_prefill(tokens)) return false;
    work->seconds = seconds_now() - start;
    work->joules = meter_.stop();
    work->tokens = static_cast<double>(n);
    work->ops = static_cast<double>(engine_.desc.matrix_ops) * static_cast<double>(n) + static_cast<double>(engine_.desc.head_ops);
    return true;
  };
  Work warm;
  return rep(&warm) && repeat("prefill", reps, &linnet_measurement::int8_tops, rep, out);
}

double median_of(const Result& r, const std::function<double(const Rep&)>& figure) {
  std::vector<double> values;
  for (const Rep& rep : r.reps) values.push_back(figure(rep));
  return median(values);
}
double tokens_per_s(const Rep& r) { return r.work.tokens / r.work.seconds; }
double bytes_per_token(const Rep& r) { return r.work.bytes / r.work.tokens; }
double gb_s(const Rep& r) { return r.work.bytes / r.work.seconds * 1e-9; }
double tops(const Rep& r) { return r.work.ops / r.work.seconds * 1e-12; }
// Median of the repetitions whose energy is known, -1 if there is none.
double joules_per_token(const Result& r) {
  std::vector<double> values;
  for (const Rep& rep : r.reps)
    if (rep.work.joules >= 0) values.push_back(rep.work.joules / rep.work.tokens);
  return values.empty() ? -1 : median(values);
}
double share_of_read(const Rep& r) { return gb_s(r) / r.read_gb_s; }
double share_of_peak(const Rep& r) { return tops(r) / r.int8_tops; }

// Median of a figure over all repetitions of several results.
double overall(const std::vector<Result>& a, const std::vector<Result>& b, double Rep::* figure) {
  std::vector<double> values;
  for (const std::vector<Result>* results : {&a, &b})
    for (const Result& r : *results)
      for (const Rep& rep : r.reps) values.push_back(rep.*figure);
  return median(values);
}

// What the cost table says for a result's shape, at the limits that were measured while it ran.
bool predict(const Args& args, const std::string& path, const Settings& settings, const Engine& engine, const Limits& peaks,
             uint64_t prompt, uint64_t depth, Result* r) {
  convert::CostParams params;
  params.prompt = static_cast<uint32_t>(std::max<uint64_t>(prompt, 1)), params.depth = static_cast<uint32_t>(depth);
  params.weights = settings.weights, params.floats = settings.floats;
  params.k = static_cast<linnet_format>(engine.params.k_format), params.v = static_cast<linnet_format>(engine.params.v_format);
  convert::Cost cost;
  linnet_error err = {};
  if (convert::cost(path, params, &cost, &err) != LINNET_OK) {
    failed(args, err);
    return false;
  }
  Limits limits = peaks;
  limits.read_gb_s = median_of(*r, [](const Rep& rep) { return rep.read_gb_s; });
  limits.int8_tops = median_of(*r, [](const Rep& rep) { return rep.int8_tops; });
  r->predicted_s = floor_of(prompt ? cost.prefill : cost.decode, limits);
  return true;
}

struct Report {
  const Args& args;
  const Engine& engine;
  std::string model;
  bool synthetic;
  std::vector<Result> decode, prefill;
  const Meter* meter = nullptr;

  bool integer_weights() const { return engine.desc.weights[0] != 'f' && engine.desc.weights[0] != 'b'; }
  double bits_per_weight() const { return 8.0 * static_cast<double>(engine.desc.weight_bytes) / static_cast<double>(engine.desc.n_params); }
  const char* isa() const { return tier_name(engine.desc); }
  std::string kv() const {
    const linnet_session_params& p = engine.params;
    if (p.n_kv_layers) return args.text("--kv");
    const std::string k = linnet_format_name(static_cast<linnet_format>(p.k_format)),
                      v = linnet_format_name(static_cast<linnet_format>(p.v_format));
    return k == v ? k : k + "/" + v;
  }
  bool energy_known() const {
    const auto known = [](const Result& r) { return joules_per_token(r) >= 0; };
    return std::all_of(decode.begin(), decode.end(), known) && std::all_of(prefill.begin(), prefill.end(), known);
  }
  void add_to(Json* out) const;
  void print_text() const;
};

void Report::add_to(Json* out) const {
  Json& json = *out;
  json.object()
      .field("model", model)
      .field("random_weights", synthetic)
      .field("isa", isa())
      .field("threads", engine.params.n_threads)
      .field("weights", engine.desc.weights)
      .field("kv", kv())
      .field("weight_bytes", engine.desc.weight_bytes)
      .key("bits_per_weight")
      .object()
      .field("embedding", engine.desc.embedding_bits)
      .field("attention", engine.desc.attention_bits)
      .field("ffn", engine.desc.ffn_bits)
      .field("head", engine.desc.head_bits)
      .field("all", bits_per_weight())
      .end()
      .field("read_gb_s", overall(decode, prefill, &Rep::read_gb_s))
      .field("int8_tops", overall(decode, prefill, &Rep::int8_tops));
  json.key("energy_source");
  if (meter->source())
    json.value(meter->source());
  else
    json.null();
  if (!energy_known()) json.field("energy_why", meter->why_not());
  if (engine.desc.device) json.field("gpu", gpu_text());
  if (is_jetson()) {
    const JetsonPower& p = meter->jetson();
    json.key("jetson")
        .object()
        .field("power_mode", p.mode)
        .field("gpu_mhz", p.gpu_mhz)
        .field("gpu_max_mhz", p.gpu_max_mhz)
        .field("emc_mhz", p.emc_mhz)
        .field("emc_max_mhz", p.emc_max_mhz)
        .end();
  }
  const auto common = [&](const Result& r) {
    json.key("joules_per_token");
    if (const double joules = joules_per_token(r); joules >= 0)
      json.value(joules);
    else
      json.null();
    json.field("reps", static_cast<uint64_t>(r.reps.size()))
        .field("dropped", static_cast<uint64_t>(r.dropped))
        .field("steady", r.spread <= kSteady)
        .field("spread", r.spread)
        .end();
  };
  json.key("decode").array();
  for (const Result& r : decode) {
    json.object()
        .field("depth", r.size)
        .field("tokens_per_s", median_of(r, tokens_per_s))
        .field("ms_per_token", 1000 / median_of(r, tokens_per_s))
        .field("predicted_ms", 1000 * r.predicted_s)
        .field("bytes_per_token", static_cast<uint64_t>(median_of(r, bytes_per_token)))
        .field("gb_s", median_of(r, gb_s))
        .field("read_gb_s", median_of(r, [](const Rep& rep) { return rep.read_gb_s; }))
        .field("share_of_read", median_of(r, share_of_read));
    common(r);
  }
  json.end().key("prefill").array();
  for (const Result& r : prefill) {
    json.object()
        .field("tokens", r.size)
        .field("tokens_per_s", median_of(r, tokens_per_s))
        .field("ms", 1000 * static_cast<double>(r.size) / median_of(r, tokens_per_s))
        .field("predicted_ms", 1000 * r.predicted_s)
        .field("tops", median_of(r, tops))
        .field("int8_tops", median_of(r, [](const Rep& rep) { return rep.int8_tops; }))
        .key("share_of_int8_peak");
    if (integer_weights())
      json.value(median_of(r, share_of_peak));
    else
      json.null();
    common(r);
  }
  json.end().end();
}

// ---- a row for each result -----------------------------------------------------------------------------------------------------------

enum class Rows : uint32_t { kText, kMarkdown, kCsv, kJson };

using Cell = std::variant<std::nullptr_t, bool, uint64_t, double, std::string>;
struct Field {
  const char* name;
  Cell cell;
};

std::vector<Field> row_of(const Report& report, const Result& r, bool decode, uint64_t gen) {
  std::vector<double> rates;
  for (const Rep& rep : r.reps) rates.push_back(tokens_per_s(rep));
  const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
  const auto known = [](bool is, double value) { return is ? Cell(value) : Cell(nullptr); };
  const double joules = joules_per_token(r);
  return {{"model", report.model},
          {"random_weights", report.synthetic},
          {"weights", std::string(report.engine.desc.weights)},
          {"weight_bytes", report.engine.desc.weight_bytes},
          {"kv", report.kv()},
          {"isa", std::string(report.isa())},
          {"threads", uint64_t{report.engine.params.n_threads}},
          {"test", std::string(decode ? "decode" : "prefill")},
          {"tokens", decode ? gen : r.size},
          {"depth", decode ? r.size : uint64_t{0}},
          {"tokens_per_s", median(rates)},
          {"tokens_per_s_min", *least},
          {"tokens_per_s_max", *most},
          {"predicted_tokens_per_s", known(r.predicted_s > 0, (decode ? 1 : static_cast<double>(r.size)) / r.predicted_s)},
          {"gb_s", known(decode, median_of(r, gb_s))},
          {"read_gb_s", median_of(r, [](const Rep& rep) { return rep.read_gb_s; })},
          {"share_of_read", known(decode, median_of(r, share_of_read))},
          {"tops", known(!decode, median_of(r, tops))},
          {"int8_tops", median_of(r, [](const Rep& rep) { return rep.int8_tops; })},
          {"share_of_int8_peak", known(!decode && report.integer_weights(), median_of(r, share_of_peak))},
          {"joules_per_token", known(joules >= 0, joules)},
          {"reps", static_cast<uint64_t>(r.reps.size())},
          {"dropped", static_cast<uint64_t>(r.dropped)},
          {"steady", r.spread <= kSteady}};
}

void print_json_row(const std::vector<Field>& row) {
  Json json;
  json.object();
  for (const Field& field : row) {
    json.key(field.name);
    if (std::holds_alternative<std::nullptr_t>(field.cell)) json.null();
    if (const bool* b = std::get_if<bool>(&field.cell)) json.value(*b);
    if (const uint64_t* n = std::get_if<uint64_t>(&field.cell)) json.value(*n);
    if (const double* d = std::get_if<double>(&field.cell)) json.value(*d);
    if (const std::string* s = std::get_if<std::string>(&field.cell)) json.value(*s);
  }
  json.end().print();
}

void print_csv_row(const std::vector<Field>& row, bool head) {
  const char* comma = "";
  for (const Field& field : row) {
    if (head) std::printf("%s%s", comma, field.name);
    comma = ",";
  }
  if (head) std::printf("\n");
  comma = "";
  for (const Field& field : row) {
    std::printf("%s", comma);
    comma = ",";
    if (const bool* b = std::get_if<bool>(&field.cell)) std::printf("%s", *b ? "true" : "false");
    if (const uint64_t* n = std::get_if<uint64_t>(&field.cell)) std::printf("%llu", static_cast<unsigned long long>(*n));
    if (const double* d = std::get_if<double>(&field.cell)) std::printf("%.9g", *d);
    if (const std::string* s = std::get_if<std::string>(&field.cell)) {
      std::string text = printable(*s);
      for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
      std::printf("\"%s\"", text.c_str());
    }
  }
  std::printf("\n");
}

void print_markdown_row(const Report& report, const Result& r, bool decode, uint64_t gen, bool head) {
  if (head)
    std::printf(
        "| model | weights | bytes | KV | tier | threads | test | tokens/s | of the limit | J/token |\n"
        "|---|---|--:|---|---|--:|---|--:|--:|--:|\n");
  std::string model = printable(report.model), test = decode ? "decode " + std::to_string(gen) : "prefill " + std::to_string(r.size);
  for (size_t at = 0; (at = model.find('|', at)) != std::string::npos; at += 2) model.insert(at, 1, '\\');
  if (decode && r.size) test += " after " + std::to_string(r.size);
  char limit[64] = "", joules[32] = "";
  if (decode || report.integer_weights())
    std::snprintf(limit, sizeof limit, "%.0f %% of %s%s", 100 * median_of(r, decode ? share_of_read : share_of_peak),
                  decode ? "the read" : "int8", r.spread > kSteady ? ", unsteady" : "");
  if (joules_per_token(r) >= 0) std::snprintf(joules, sizeof joules, "%.3g", joules_per_token(r));
  std::printf("| %s%s | %s | %s | %s | %s | %u | %s | %.2f | %s | %s |\n", model.c_str(), report.synthetic ? " (random)" : "",
              report.engine.desc.weights, human_bytes(report.engine.desc.weight_bytes).c_str(), report.kv().c_str(), report.isa(),
              report.engine.params.n_threads, test.c_str(), median_of(r, tokens_per_s), limit, joules);
}

// As it is measured; `head`: the first one, which brings what stands above a table.
void print_row(Rows rows, const Report& report, const Result& r, bool decode, uint64_t gen, bool* head) {
  if (rows == Rows::kText) return;
  if (rows == Rows::kMarkdown) print_markdown_row(report, r, decode, gen, *head);
  if (rows == Rows::kCsv) print_csv_row(row_of(report, r, decode, gen), *head);
  if (rows == Rows::kJson) print_json_row(row_of(report, r, decode, gen));
  *head = false;
  std::fflush(stdout);
}

void print_reps(const Result& r) {
  if (const double joules = joules_per_token(r); joules >= 0) std::printf("  %.3g J/token", joules);
  std::printf("  %zu reps", r.reps.size());
  if (r.dropped > 0 && r.spread <= kSteady) std::printf(", %zu dropped: the machine's limits moved", r.dropped);
  if (r.spread > kSteady) std::printf(", UNSTEADY: the machine's limits moved by up to %.0f %%", 100 * r.spread);
  std::printf("\n");
}

void Report::print_text() const {
  std::printf("%s%s, %s weights (%s), %s KV cache, %s, %u thread%s\n", printable(model).c_str(), synthetic ? " (random weights)" : "",
              engine.desc.weights, human_bytes(engine.desc.weight_bytes).c_str(), kv().c_str(), isa(), engine.params.n_threads,
              engine.params.n_threads == 1 ? "" : "s");
  std::printf("bits per weight: embedding %.2f, attention %.2f, feed-forward %.2f, head %.2f, all %.2f\n", engine.desc.embedding_bits,
              engine.desc.attention_bits, engine.desc.ffn_bits, engine.desc.head_bits, bits_per_weight());
  std::printf("this %s, measured in between: %.1f GB/s plain read, %.2f TOPS int8\n", engine.desc.device ? "GPU" : "machine",
              overall(decode, prefill, &Rep::read_gb_s), overall(decode, prefill, &Rep::int8_tops));
  if (energy_known())
    std::printf("energy: %s, all that the %s draws\n", meter->source(),
                std::strcmp(meter->source(), "rapl") == 0 ? "processor with its memory" : "board");
  else
    std::printf("energy: not known: %s\n", meter->why_not());
  if (engine.power) std::printf("%s\n", engine.power_text().c_str());
  if (engine.desc.device) std::printf("GPU: %s\n", printable(gpu_text()).c_str());
  if (is_jetson()) {
    const JetsonPower& p = meter->jetson();
    std::printf("Jetson: power mode %s, GPU at %llu of %llu MHz, memory (EMC) ", p.mode.empty() ? "not known" : printable(p.mode).c_str(),
                static_cast<unsigned long long>(p.gpu_mhz), static_cast<unsigned long long>(p.gpu_max_mhz));
    if (p.emc_mhz)
      std::printf("at %llu of %llu MHz\n", static_cast<unsigned long long>(p.emc_mhz), static_cast<unsigned long long>(p.emc_max_mhz));
    else
      std::printf("not known: root may read it\n");
  }
  for (const Result& r : decode) {
    std::printf("decode   depth %-6llu %9.2f tokens/s %9.2f ms/token (predicted %.2f)  %8s/token %7.1f GB/s = %3.0f %% of the plain read",
                static_cast<unsigned long long>(r.size), median_of(r, tokens_per_s), 1000 / median_of(r, tokens_per_s),
                1000 * r.predicted_s, human_bytes(static_cast<uint64_t>(median_of(r, bytes_per_token))).c_str(), median_of(r, gb_s),
                100 * median_of(r, share_of_read));
    print_reps(r);
  }
  for (const Result& r : prefill) {
    std::printf("prefill  %5llu tokens %9.1f tokens/s %9.1f ms (predicted %.1f)  %7.3f TOPS", static_cast<unsigned long long>(r.size),
                median_of(r, tokens_per_s), 1000 * static_cast<double>(r.size) / median_of(r, tokens_per_s), 1000 * r.predicted_s,
                median_of(r, tops));
    if (integer_weights()) std::printf(" = %3.0f %% of the int8 peak", 100 * median_of(r, share_of_peak));
    print_reps(r);
  }
}

// One model, cache and number of threads. `json`: where the report goes with --json.
int run_one(const Args& args, Rows rows, Json* json, bool* head) {
  const bool synthetic = args.given("--synthetic");
  const std::string model = synthetic ? args.text("--synthetic") : args.text("-m"), path = synthetic ? "synthetic:" + model : model;
  const std::vector<uint64_t> prompts = args.counts("--prompt"), depths = args.counts("--depth");
  const uint64_t gen = args.count("--gen");
  const size_t reps = args.count("--reps");

  Settings settings;
  Engine engine;
  settings.keep = !args.given("--weights");  // lists of formats would drive others out
  if (!read_settings(args, &settings) || !engine.open(args, path, settings)) return kExitError;
  uint64_t need = *std::max_element(prompts.begin(), prompts.end());
  for (const uint64_t depth : depths) need = std::max(need, std::max<uint64_t>(depth, 1) + gen + 1);
  linnet_session_params& s = settings.session;
  if (s.n_context == 0) s.n_context = static_cast<uint32_t>(need);
  if (s.n_context < need)
    return usage_error(args, "--context %u is too small: prompt, depth and gen need %llu", s.n_context,
                       static_cast<unsigned long long>(need));
  linnet_profile power = settings.profile;
  power.tokens_per_s = 0;  // a rate that is held says nothing of what is possible
  if (!engine.start(args, s) || !engine.govern(args, power)) return kExitError;

  Bench bench(args, settings, engine);
  if (!bench.prepare()) return kExitError;
  Report report{args, engine, model, synthetic || model.rfind("synthetic:", 0) == 0, {}, {}, &bench.meter()};
  Limits peaks;
  if (!bench.peaks(&peaks)) return kExitError;
  for (const uint64_t depth : depths) {
    if (gen == 0) break;
    Result& r = report.decode.emplace_back();
    if (!bench.decode(depth, gen, reps, &r) || !predict(args, path, settings, engine, peaks, 0, depth + gen / 2, &r)) return kExitError;
    print_row(rows, report, r, true, gen, head);
  }
  for (const uint64_t prompt : prompts) {
    if (prompt == 0) continue;
    Result& r = report.prefill.emplace_back();
    if (!bench.prefill(prompt, reps, &r) || !predict(args, path, settings, engine, peaks, prompt, 0, &r)) return kExitError;
    print_row(rows, report, r, false, gen, head);
  }
  if (args.json()) {
    report.add_to(json);
  } else if (rows == Rows::kText) {
    if (!*head) std::printf("\n");
    report.print_text();
    *head = false;
    std::fflush(stdout);
  }
  return kExitOk;
}

int run(const Args& args) {
  if (args.given("--synthetic") == args.given("-m")) return usage_error(args, "give either -m MODEL or --synthetic SHAPE");
  if (args.json() && args.given("--output")) return usage_error(args, "give either --json or --output");
  const std::vector<uint64_t> prompts = args.counts("--prompt");
  if (args.count("--gen") == 0 && *std::max_element(prompts.begin(), prompts.end()) == 0)
    return usage_error(args, "--gen 0 and --prompt 0 leave nothing to measure");
  std::vector<Args> all;  // each an Args with one of each
  for (const std::string& weights : args.items("--weights"))
    for (const std::string& kv : args.items("--kv"))
      for (const std::string& threads : args.items("--threads")) {
        Args one = args;
        if (args.given("--weights")) one.set("--weights", weights);
        if (args.given("--kv")) one.set("--kv", kv);
        if (args.given("--threads")) one.set("--threads", threads);
        all.push_back(one);
      }
  const Rows rows = static_cast<Rows>(args.choice("--output"));
  Json json;
  if (all.size() > 1) json.array();
  bool head = true;
  for (const Args& one : all)
    if (const int code = run_one(one, rows, &json, &head); code != kExitOk) return code;
  if (all.size() > 1) json.end();
  if (args.json()) json.print();
  return kExitOk;
}

// Options of every command that are lists here.
Options with_lists(Options options) {
  for (Option& option : options) {
    const std::string name = names_of(option).back();
    if (name == "--weights") option.kind = Kind::kFormats, option.argument = "FMT,...";
    if (name == "--kv") option.kind = Kind::kKvs, option.argument = "FMT,...";
    if (name == "--threads") option.kind = Kind::kCounts, option.argument = "N,...";
  }
  return options;
}

}  // namespace

Command bench_command() {
  Option model = model_option();
  model.required = false;
  return {"bench",
          "speed of decode and prefill, beside the limits of this machine",
          "",
          0,
          0,
          "Medians. Before and after each repetition the plain read bandwidth and the int8 peak of the same threads, or of the GPU, are "
          "measured; repetitions whose\n"
          "limits moved by more than 10 % are made again. Bytes of a decoded token: packed matrices, scales and KV cache. Operations of a "
          "prefill:\n"
          "2*m*n*k of the matrices, the LM head for one row, attention not counted. Predicted: the floor of `linnet inspect --cost` at "
          "these limits. 0 leaves a part out.\n"
          "Of lists for --weights, --kv and --threads every combination is measured; with --output md, csv or jsonl each result is a row, "
          "printed as it is\nmeasured, with --json several combinations are an array.\n"
          "Joules are of the whole processor or board, where RAPL (root may have to allow it) or a Jetson's INA3221 tells them.\n\n"
          "example: linnet bench --synthetic llama-3.2-1b --threads 2",
          join(
              {
                  model,
                  {"--synthetic", "SHAPE", Kind::kShape, "random weights in the shape of a known model instead of -m"},
                  {"-p, --prompt", "N,...", Kind::kCounts, "tokens to prefill", "512", 0, 16777216},
                  {"-n, --gen", "N", Kind::kCount, "tokens to decode", "64", 0, 1000000},
                  {"-d, --depth", "N,...", Kind::kCounts, "tokens in the KV cache before decoding", "0", 0, 16777216},
                  {"-r, --reps", "N", Kind::kCount, "repetitions", "5", 1, 1000},
                  {"-o, --output", "HOW", Kind::kRows, "print: {}", "text"},
              },
              with_lists(join(engine_options(), session_options()))),
          run};
}

}  // namespace linnet::cli
