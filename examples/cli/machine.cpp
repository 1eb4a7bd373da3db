// What Linux says about this machine, and what it reaches at most.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {

std::string sysroot() { return environment("LINNET_SYSROOT"); }

// The rows of a table of the board.
template <class Row>
static linnet_status read_rows(const linnet_board* board, uint32_t n,
                               linnet_status (*read)(const linnet_board*, uint32_t, Row*, linnet_error*), std::vector<Row>* out,
                               linnet_error* err) {
  linnet_status status = LINNET_OK;
  for (uint32_t i = 0; i < n && status == LINNET_OK; ++i) {
    Row& row = out->emplace_back();
    row.size = sizeof row;
    status = read(board, i, &row, err);
  }
  return status;
}

static linnet_status detect(Memory* memory, Board* out, linnet_error* err) {
  linnet_need need = {};
  need.size = sizeof need;
  linnet_status status = linnet_board_need(&need, err);
  if (status == LINNET_OK && !memory->alloc(need.bytes)) throw std::bad_alloc();
  if (status == LINNET_OK) status = linnet_board_init(&out->handle, memory->data, memory->bytes, sysroot().c_str(), err);
  out->size = sizeof(linnet_board_desc);
  if (status == LINNET_OK) status = linnet_board_info(out->handle, out, err);
  if (status == LINNET_OK) status = read_rows(out->handle, out->n_clusters, linnet_board_cluster, &out->clusters, err);
  if (status == LINNET_OK) status = read_rows(out->handle, out->n_caches, linnet_board_cache, &out->caches, err);
  if (status == LINNET_OK) status = read_rows(out->handle, out->n_zones, linnet_board_zone, &out->zones, err);
  return status;
}

const Board& board() {
  static Memory memory;
  static const Board detected = [] {
    Board b = {};
    linnet_error err = {};
    if (detect(&memory, &b, &err) != LINNET_OK) {
      if (says(Log::kNote)) std::fprintf(stderr, "linnet: %s; one thread is used\n", err.text);
      b = {};
      b.n_cpus = b.n_cores = b.n_threads = 1;
      b.isa_mask = 1u << LINNET_ISA_SCALAR;
    }
    return b;
  }();
  return detected;
}

uint32_t usable_threads(const Args& args, uint32_t n) {
  const Board& b = board();
  if (!b.handle) return n;
  const uint32_t granted = b.cpu_quota > 0 ? static_cast<uint32_t>(std::ceil(b.cpu_quota)) : b.n_cpus;
  const uint32_t most = std::max(1u, std::min(b.n_cpus, granted));
  if (n <= most) return n;
  say(args, Log::kNote, "%u threads are cut to %u: this process may use %u CPU%s%s", n, most, most, most == 1 ? "" : "s",
      granted < b.n_cpus ? " (the quota of its control group)" : "");
  return most;
}

linnet_status fit_to_board(linnet_profile* profile, linnet_error* err) {
  if (board().handle) return linnet_profile_fit(profile, board().handle, err);
  profile->n_threads = 1;
  profile->cpus = {};
  return LINNET_OK;
}

bool Sensors::open(const Args& args) {
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  linnet_status status = linnet_sensors_need(&need, &err);
  if (status == LINNET_OK && !memory.alloc(need.bytes)) throw std::bad_alloc();
  if (status == LINNET_OK) status = linnet_sensors_init(&handle, memory.data, memory.bytes, sysroot().c_str(), &err);
  return status == LINNET_OK || (failed(args, err), false);
}

linnet_reading Sensors::read() {
  linnet_reading reading = {};
  reading.size = sizeof reading;
  (void)linnet_sensors_read(handle, 0, &reading, nullptr);  // what cannot be read is missing from `has`
  return reading;
}

linnet_reading Sensors::last() const {
  linnet_reading reading = {};
  reading.size = sizeof reading;
  (void)linnet_sensors_last(handle, &reading, nullptr);
  return reading;
}

std::string isa_name(uint32_t isa) {
  const char* name = linnet_isa_name(static_cast<linnet_isa>(isa));
  return name ? name : "?";
}

const char* tier_name(const linnet_model_desc& model) {
  return model.device ? "cuda" : linnet_isa_name(static_cast<linnet_isa>(model.isa));
}

std::string gpu_text() {
  linnet_cuda_device d = {};
  linnet_error err = {};
  d.size = sizeof d;
  if (linnet_cuda_detect(&d, &err) != LINNET_OK) return err.text;
  std::string text = std::string(d.name) + ", " + std::to_string(d.n_sms) + " SMs, " + human_bytes(d.memory_bytes) +
                     (d.integrated ? " shared with the CPUs" : "");
  if (d.clock_mhz) text += ", up to " + std::to_string(d.clock_mhz) + " MHz";
  if (d.memory_clock_mhz)
    text += ", memory up to " + std::to_string(d.memory_clock_mhz) + " MHz" +
            (d.memory_bits ? " by " + std::to_string(d.memory_bits) + " bits" : "");
  return text + ", driver for CUDA " + std::to_string(d.driver / 1000) + "." + std::to_string(d.driver % 1000 / 10);
}

std::string cpus_text(const linnet_cpus& cpus) {
  std::string out;
  const auto in = [&](uint32_t i) { return i < LINNET_MAX_CPUS && (cpus.word[i / 64] >> (i % 64) & 1); };
  for (uint32_t i = 0; i < LINNET_MAX_CPUS; ++i) {
    if (!in(i)) continue;
    uint32_t last = i;
    while (in(last + 1)) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(i) + (last > i ? "-" + std::to_string(last) : "");
    i = last;
  }
  return out;
}

std::string read_system(const std::string& path) {
  std::string text;
#if !defined(__linux__)
  if (sysroot().empty()) return "";  // what other systems have under these names is something else
#endif
  linnet_error err = {};
  (void)convert::read_file(sysroot() + path, 64 << 10, &text, nullptr, &err);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

bool is_jetson() { return std::strstr(board().compatible, "nvidia,tegra") != nullptr; }

JetsonPower jetson_power() {
  JetsonPower out;
  // "pmode:0002", and in the list of modes "< POWER_MODEL ID=2 NAME=MODE_30W >".
  const std::string status = read_system("/var/lib/nvpmodel/status"), modes = read_system("/etc/nvpmodel.conf");
  if (status.rfind("pmode:", 0) == 0) {
    const std::string id = std::to_string(std::strtoul(status.c_str() + 6, nullptr, 10)), line = "POWER_MODEL ID=" + id + " NAME=";
    const size_t at = modes.find(line);
    out.mode =
        at == std::string::npos ? id : modes.substr(at + line.size(), modes.find_first_of(" >\n", at + line.size()) - at - line.size());
  }
  const auto mhz = [](const std::string& path) { return std::strtoull(read_system(path).c_str(), nullptr, 10) / 1000000; };
  std::vector<std::string> names;
  (void)folder_names(sysroot() + "/sys/class/devfreq", &names);
  for (const std::string& name : names) {
    const std::string folder = "/sys/class/devfreq/" + name;
    if (name.find("gpu") != std::string::npos || name.find("ga10b") != std::string::npos || name.find("gv11b") != std::string::npos) {
      out.gpu_mhz = std::max<uint64_t>(out.gpu_mhz, mhz(folder + "/cur_freq"));
      out.gpu_max_mhz = std::max<uint64_t>(out.gpu_max_mhz, mhz(folder + "/max_freq"));
    }
    if (name == "bwmgr") out.emc_mhz = mhz(folder + "/cur_freq"), out.emc_max_mhz = mhz(folder + "/max_freq");  // Thor
  }
  const std::string emc = "/sys/kernel/debug/bpmp/debug/clk/emc/";
  if (!out.emc_mhz) out.emc_mhz = mhz(emc + "rate"), out.emc_max_mhz = mhz(emc + "max_rate");
  return out;
}

std::string configs_folder() {
  if (const std::string named = environment("LINNET_CONFIGS"); !named.empty()) return named;
  const std::string path = own_path(), installed = path.substr(0, path.rfind('/') + 1) + "../share/linnet/configs";
  return !path.empty() && path_access(installed, R_OK) ? installed : LINNET_CONFIGS;
}

uint32_t strongest_isa(const linnet_board_desc& b) {
  uint32_t best = LINNET_ISA_SCALAR;
  for (uint32_t i = best; linnet_isa_name(static_cast<linnet_isa>(i)); ++i)
    if (b.isa_mask >> i & 1) best = i;
  return best;
}

Limits limits_of(const linnet_profile& p) { return {p.read_gb_s, p.int8_tops, p.f8_tops, p.float_tops}; }

uint64_t usable_memory() {
  const Board& b = board();
  return b.memory_limit_bytes ? std::min<uint64_t>(b.available_bytes, b.memory_limit_bytes) : b.available_bytes;
}

bool measure_limits(const Args& args, const linnet_profile& profile, uint32_t threads, Limits* out) {
  Memory buffer;
  if (!buffer.alloc(measure_bytes())) {
    failed(args, "no memory to measure with");
    return false;
  }
  std::memset(buffer.data, 1, buffer.bytes);  // memory that was never written is one page of zeros
  linnet_measurement m = {};
  m.size = sizeof m;
  linnet_error err = {};
  if (linnet_measure(&profile, threads, buffer.data, buffer.bytes, &m, &err) != LINNET_OK) {
    failed(args, err);
    return false;
  }
  *out = {m.read_gb_s, m.int8_tops, m.f8_tops, m.float_tops};
  return true;
}

double floor_of(const convert::CostStep& step, const Limits& limits, bool* compute) {
  const double tops = step.by == convert::Arithmetic::kInt8 ? limits.int8_tops
                      : step.by == convert::Arithmetic::kF8 ? limits.f8_tops
                                                            : limits.float_tops;
  const double read = (step.weight_bytes + step.kv_bytes) / (limits.read_gb_s * 1e9),
               work = tops > 0 ? step.ops / (tops * 1e12) : 0;  // of a GPU's floats nothing is measured
  if (compute) *compute = work > read;
  return std::max(read, work);
}

double floor_of(const convert::CostPass& pass, const Limits& limits) {
  double seconds = 0;
  for (const convert::CostStep& c : pass.steps) seconds += floor_of(c, limits, nullptr);
  return seconds;
}

size_t measure_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const uint64_t most = 64u << 20;  // what such a build measures means nothing
#else
  const uint64_t most = 1u << 30;
#endif
  return static_cast<size_t>(std::clamp<uint64_t>(usable_memory() / 4, 64u << 20, most)) & ~size_t{4095};
}

}  // namespace linnet::cli
