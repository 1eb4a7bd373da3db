// linnet devices: what this machine offers to linnet.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {
namespace {

struct Tier {
  std::string name;
  bool runs;        // built into this linnet and offered by this CPU
  std::string why;  // if it does not
  linnet_measurement measured = {};
};

// The folder that a file would be written in is there and may be written in, or what is no file may be.
bool can_write(const Args& args, const std::string& path) {
  const size_t slash = path.find_last_of(kSlashes);
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const PathInfo info = path_info(path);
  if (info.there && !info.regular ? path_access(path, W_OK) : path_access(folder, W_OK | X_OK)) return true;
  failed(args, "%s: %s", path.c_str(), std::strerror(errno));
  return false;
}

// Of the board in $LINNET_SYSROOT what /proc/cpuinfo speaks of, built in or not.
std::vector<Tier> tiers() {
  std::vector<Tier> out;
  for (uint32_t i = LINNET_ISA_SCALAR; const char* name = linnet_isa_name(static_cast<linnet_isa>(i)); ++i) {
    if (!sysroot().empty()) {
      const bool has = board().isa_mask >> i & 1;
      out.push_back({name, has, has ? "" : "this board has it not", {}});
      continue;
    }
    linnet_profile profile = {};
    profile.size = sizeof profile;
    profile.isa = i;
    linnet_isa got = LINNET_ISA_AUTO;
    linnet_error err = {};
    const bool runs = linnet_isa_pick(&profile, &got, &err) == LINNET_OK;
    out.push_back({name, runs, runs ? "" : err.text, {}});
  }
  return out;
}

// The tier that the profile takes on this board; false: *out is why it takes none.
bool pick_isa(const linnet_profile& profile, std::string* out) {
  if (!sysroot().empty()) {
    const uint32_t isa = profile.isa ? profile.isa : strongest_isa(board());
    const bool has = board().isa_mask >> isa & 1;
    *out = has ? isa_name(isa) : "isa '" + isa_name(isa) + "': this board has it not";
    return has;
  }
  linnet_isa isa = LINNET_ISA_AUTO;
  linnet_error err = {};
  const bool picked = linnet_isa_pick(&profile, &isa, &err) == LINNET_OK;
  *out = picked ? isa_name(isa) : err.text;
  return picked;
}

std::string kv_name(const linnet_profile& p) {
  const char* k = linnet_format_name(static_cast<linnet_format>(p.k_format));
  const char* v = linnet_format_name(static_cast<linnet_format>(p.v_format));
  return !k ? "i8" : !v || p.k_format == p.v_format ? k : std::string(k) + "/" + v;
}

std::string weights_name(const linnet_profile& p) {
  const char* w = linnet_format_name(static_cast<linnet_format>(p.weights));
  return w ? w : "i8g32";
}

// One line on what a profile does; of a fitted one: here.
std::string profile_text(const linnet_profile& p, const std::string& isa) {
  const std::string cpus = cpus_text(p.cpus), n = p.n_threads ? std::to_string(p.n_threads) : "all";
  std::string out = isa + ", " + n + (p.n_threads == 1 ? " thread" : " threads") + (cpus.empty() ? "" : " on CPUs " + cpus) + ", " +
                    weights_name(p) + " weights, " + kv_name(p) + " KV cache";
  if (p.n_context) out += ", context " + std::to_string(p.n_context);
  if (p.memory_bytes) out += ", memory cap " + human_bytes(p.memory_bytes);
  return out;
}

void json_profile(Json* json, const linnet_profile& p, const std::string& isa) {
  json->field("name", std::string(p.name))
      .field("isa", isa)
      .field("threads", p.n_threads)
      .field("cpus", cpus_text(p.cpus))
      .field("weights", weights_name(p))
      .field("kv", kv_name(p));
  if (p.n_context) json->field("context", p.n_context);
  if (p.memory_bytes) json->field("memory_bytes", p.memory_bytes);
}

// A profile, and whether it is for this board.
linnet_status read_matched(const std::string& path, linnet_profile* out, linnet_match* match, linnet_error* err) {
  out->size = sizeof *out;
  match->size = sizeof *match;
  if (!board().handle) std::snprintf(match->why, sizeof match->why, "nothing is known of this board");
  return linnet_profile_read(path.c_str(), board().handle, out, match, err);
}

// Checks the file. What it asks of a machine is held against this one only where it is for this one; a tier that this build or CPU has not
// makes no file wrong.
int check_profile(const Args& args) {
  const std::string path = args.text("--check");
  linnet_profile profile = {}, fitted = {};
  linnet_match match = {};
  linnet_error err = {};
  if (read_matched(path, &profile, &match, &err) != LINNET_OK) return failed(args, err);
  const bool for_another = !match.matches && std::strncmp(match.why, "no rules", 8) != 0;
  fitted = profile;
  std::string wrong, isa;
  if (fit_to_board(&fitted, &err) != LINNET_OK)
    wrong = err.text;
  else if (profile.n_threads > fitted.n_threads)
    wrong = "'threads' is " + std::to_string(profile.n_threads) + ", but this process has CPUs and time for " +
            std::to_string(fitted.n_threads);
  if (!wrong.empty() && !for_another) return failed(args, "%s: %s", path.c_str(), wrong.c_str());
  if (std::string tier; pick_isa(fitted, &tier))
    isa = tier;
  else
    wrong = tier;
  const bool fits = wrong.empty();
  if (!fits) isa = isa_name(profile.isa);
  const linnet_profile& shown = fits ? fitted : profile;
  if (args.json()) {
    Json json;
    json.object()
        .field("profile", path)
        .field("ok", true)
        .field("fits", fits)
        .field("matches", match.matches != 0)
        .field("points", match.points)
        .field("why", std::string(match.why));
    if (!fits) json.field("note", wrong);
    json_profile(&json, shown, isa);
    json.end().print();
  } else {
    std::printf("%s: %s: %s\n%s: %s\n", printable(path).c_str(), fits ? "fits this machine" : "a device profile",
                printable(profile_text(shown, isa)).c_str(), match.matches ? "matches" : "does not match", printable(match.why).c_str());
    if (!fits) std::printf("note: it does not run here: %s\n", printable(wrong).c_str());
  }
  return kExitOk;
}

struct Listed {
  std::string file, name;
  linnet_profile profile = {};
  linnet_match match = {};
};

// The profiles of the folder and which of them is picked (past the end: none); a file that is none fails.
bool list_profiles(const Args& args, std::vector<Listed>* out, size_t* picked) {
  const std::string folder = configs_folder();
  *picked = 0;
  if (!LINNET_HAVE_PROFILE || !path_access(folder, R_OK)) return true;  // the tool alone was copied here
  linnet_error err = {};
  linnet_profile best = {};
  best.size = sizeof best;
  std::string path(4096, '\0');
  linnet_status status = LINNET_UNSUPPORTED;
  if (board().handle) status = linnet_profile_pick(folder.c_str(), board().handle, &best, path.data(), path.size(), nullptr, &err);
  if (status != LINNET_OK && status != LINNET_UNSUPPORTED) {
    failed(args, err);
    return false;
  }
  std::vector<std::string> files;
  (void)folder_names(folder, &files);
  std::erase_if(files, [](const std::string& f) { return f.size() <= 5 || f[0] == '.' || !f.ends_with(".yaml"); });
  std::sort(files.begin(), files.end());
  for (const std::string& f : files) {
    Listed l;
    l.file = folder + "/" + f;
    l.name = f.substr(0, f.size() - 5);
    if (read_matched(l.file, &l.profile, &l.match, &err) != LINNET_OK) {
      failed(args, err);
      return false;
    }
    out->push_back(l);
  }
  *picked = out->size();
  for (size_t i = 0; status == LINNET_OK && i < out->size(); ++i)
    if ((*out)[i].file == path.c_str()) {
      (*out)[i].profile = best;
      *picked = i;
    }
  return true;
}

// Decode over the plain read measured beside it: memory may be faster for one tier's turn than for another's.
double decode_share(const linnet_measurement& m) { return m.read_gb_s > 0 ? std::min(1.0, m.decode_gb_s / m.read_gb_s) : 0; }

// Measures every tier that runs, three times in turn; of each the better decode and the better prefill.
bool measure(const Args& args, uint32_t threads, std::vector<Tier>* all) {
  Memory buffer;
  if (!buffer.alloc(measure_bytes())) {
    failed(args, "no memory to measure with");
    return false;
  }
  std::memset(buffer.data, 1, buffer.bytes);  // memory that was never written is one page of zeros
  for (uint32_t turn = 0; turn < 3 * all->size(); ++turn) {
    const uint32_t i = turn % static_cast<uint32_t>(all->size());
    Tier& tier = (*all)[i];
    if (!tier.runs) continue;
    linnet_profile profile = {};
    profile.size = sizeof profile;
    profile.isa = LINNET_ISA_SCALAR + i;
    linnet_measurement now = {};
    now.size = sizeof now;
    linnet_error err = {};
    if (linnet_measure(&profile, threads, buffer.data, buffer.bytes, &now, &err) != LINNET_OK) {
      failed(args, err);
      return false;
    }
    linnet_measurement& best = tier.measured;
    const linnet_measurement before = best;
    if (decode_share(now) >= decode_share(before)) best = now;
    const linnet_measurement& prefill = now.prefill_tops > before.prefill_tops ? now : before;
    best.prefill_tops = prefill.prefill_tops;
    best.int8_tops = prefill.int8_tops;
  }
  return true;
}

// Of the tiers that decode about as fast as the fastest (memory decides there), the one that prefills fastest.
const Tier& fastest(const std::vector<Tier>& all) {
  constexpr double kAboutAsFast = 0.85, kTie = 0.97;  // of tiers that share their int8 kernels the stronger one: it has more formats
  double decode = 0;
  for (const Tier& t : all)
    if (t.runs) decode = std::max(decode, decode_share(t.measured));
  const Tier* best = nullptr;
  for (const Tier& t : all)
    if (t.runs && decode_share(t.measured) >= kAboutAsFast * decode &&
        (!best || t.measured.prefill_tops > kTie * best->measured.prefill_tops))
      best = &t;
  return *best;
}

// A device profile with what was measured.
bool write_profile(const Args& args, const std::string& path, const Tier& tier, uint32_t threads) {
  std::string name;
  for (const char c : std::string(board().cpu))
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\' && name.size() < 63) name += c;
  if (name.empty()) name = "this machine";
  char text[1024];
  const linnet_measurement& m = tier.measured;
  const int n =
      std::snprintf(text, sizeof text,
                    "# linnet devices --measure: %.1f GB/s of weights in decode, %.2f TOPS in prefill\nname: \"%s\"\nisa: %s\nthreads: %u\n"
                    "match:\n  cpu: \"%s\"\npeaks:\n  read_gb_s: %.6g\n  int8_tops: %.6g\n  f8_tops: %.6g\n  float_tops: %.6g\n",
                    m.decode_gb_s, m.prefill_tops, name.c_str(), tier.name.c_str(), threads, name.c_str(), m.read_gb_s, m.int8_tops,
                    m.f8_tops, m.float_tops);
  convert::WholeFile file;
  linnet_error err = {};
  const bool written = begin_file(path, nullptr, &file, &err) == LINNET_OK && file.write(text, static_cast<size_t>(n), &err) == LINNET_OK &&
                       file.commit(&err) == LINNET_OK;
  interrupt_ends();
  return written || (failed(args, err), false);
}

// The GPU, or why there is none. Of another board (LINNET_SYSROOT) nothing is known.
struct Gpu {
  linnet_cuda_device device = {};
  std::string why;
};
Gpu gpu() {
  Gpu out;
  linnet_error err = {};
  out.device.size = sizeof out.device;
  if (!sysroot().empty())
    out.why = "not looked for: LINNET_SYSROOT is set";
  else if (linnet_cuda_detect(&out.device, &err) != LINNET_OK)
    out.why = err.text;
  return out;
}

void print_gpu() {
  const Gpu g = gpu();
  const linnet_cuda_device& d = g.device;
  if (!g.why.empty()) {
    std::printf("GPU     %s\n", g.why.c_str());
    return;
  }
  std::printf("GPU     %s, compute capability %u.%u, %u SMs", printable(d.name).c_str(), d.compute / 10, d.compute % 10, d.n_sms);
  if (d.clock_mhz) std::printf(" at up to %u MHz", d.clock_mhz);
  std::printf(", %s%s\n        driver for CUDA %u.%u; kernels for %u.%u%s\n", human_bytes(d.memory_bytes).c_str(),
              d.integrated ? " shared with the CPUs" : "", d.driver / 1000, d.driver % 1000 / 10, d.compiled_for / 10, d.compiled_for % 10,
              d.compiles_at_start ? ", which the driver compiles for it when a model is opened first" : "");
  std::printf("        gemm: fast runs f16 and bf16 weights on tensor cores\n");
}

void json_gpu(Json* json) {
  const Gpu g = gpu();
  const linnet_cuda_device& d = g.device;
  json->key("cuda").object();
  if (!g.why.empty())
    json->field("why", g.why);
  else
    json->field("name", std::string(d.name))
        .field("compute_capability", d.compute / 10.0)
        .field("sms", d.n_sms)
        .field("clock_mhz", d.clock_mhz)
        .field("memory_bytes", d.memory_bytes)
        .field("memory_clock_mhz", d.memory_clock_mhz)
        .field("memory_bits", d.memory_bits)
        .field("l2_bytes", d.l2_bytes)
        .field("integrated", d.integrated != 0)
        .field("driver", d.driver)
        .field("compiled_for", d.compiled_for / 10.0)
        .field("compiles_at_start", d.compiles_at_start != 0);
  json->end();
}

const char* arch_name(uint32_t arch) {
  return arch == LINNET_ARCH_X86_64 ? "x86_64" : arch == LINNET_ARCH_AARCH64 ? "aarch64" : arch == LINNET_ARCH_ARM ? "arm" : "unknown";
}

void print_json(const std::vector<Tier>& all, const std::string& picked, uint32_t threads, const Tier* best,
                const std::vector<Listed>& profiles, size_t match) {
  const Board& b = board();
  Json json;
  json.object()
      .field("linnet", linnet_build_info())
      .field("board", std::string(b.model))
      .field("arch", arch_name(b.arch))
      .field("cpu", std::string(b.cpu))
      .field("cpus", b.n_cpus)
      .field("cores", b.n_cores);
  json.field("cpu_list", cpus_text(b.cpus)).field("threads", threads);
  if (b.cpu_quota > 0) json.field("cpu_quota", b.cpu_quota);
  json.key("clusters").array();
  for (uint32_t i = 0; i < b.n_clusters; ++i) {
    const linnet_cluster& c = b.clusters[i];
    json.object()
        .field("part", std::string(c.part))
        .field("cpus", cpus_text(c.cpus))
        .field("capacity", c.capacity)
        .field("max_mhz", c.max_mhz)
        .end();
  }
  json.end().field("isa", picked).key("tiers").array();
  for (const Tier& tier : all) {
    json.object().field("name", tier.name).field("runs", tier.runs);
    if (!tier.runs) json.field("why", tier.why);
    if (tier.measured.size)
      json.field("int8_tops", tier.measured.int8_tops)
          .field("read_gb_s", tier.measured.read_gb_s)
          .field("decode_gb_s", tier.measured.decode_gb_s)
          .field("prefill_tops", tier.measured.prefill_tops);
    json.end();
  }
  json.end().key("caches").array();
  for (uint32_t i = 0; i < b.n_caches; ++i)
    json.object()
        .field("level", b.caches[i].level)
        .field("type", std::string(b.caches[i].type))
        .field("bytes", b.caches[i].bytes)
        .field("shared_cpus", cpus_text(b.caches[i].cpus))
        .end();
  json.end().field("memory_bytes", b.memory_bytes).field("available_bytes", b.available_bytes);
  if (b.memory_limit_bytes) json.field("memory_limit_bytes", b.memory_limit_bytes);
  json_gpu(&json);
  json.key("thermal_zones").array();
  for (uint32_t i = 0; i < b.n_zones; ++i)
    json.object().field("type", std::string(b.zones[i].type)).field("celsius", b.zones[i].millidegrees / 1000.0).end();
  json.end().key("profiles").array();
  for (const Listed& l : profiles)
    json.object()
        .field("name", l.name)
        .field("matches", l.match.matches != 0)
        .field("points", l.match.points)
        .field("why", std::string(l.match.why))
        .end();
  json.end().key("profile");
  if (match < profiles.size()) {
    const linnet_profile& p = profiles[match].profile;
    json.object().field("file", profiles[match].file);
    json_profile(&json, p, p.isa ? isa_name(p.isa) : picked);
    json.end();
  } else {
    json.null();
  }
  if (best) json.field("read_gb_s", best->measured.read_gb_s).field("int8_tops", best->measured.int8_tops).field("fastest", best->name);
  json.end().print();
}

void print_text(const std::vector<Tier>& all, const std::string& picked, uint32_t threads, const Tier* best,
                const std::vector<Listed>& profiles, size_t match) {
  const Board& b = board();
  std::printf("%s\n", linnet_build_info());
  if (b.model[0]) std::printf("board   %s\n", printable(b.model).c_str());
  std::printf("CPU     %s, %s\n        %u CPU%s on %u core%s for this process", b.cpu[0] ? printable(b.cpu).c_str() : "unknown",
              arch_name(b.arch), b.n_cpus, b.n_cpus == 1 ? "" : "s", b.n_cores, b.n_cores == 1 ? "" : "s");
  if (b.cpu_quota > 0) std::printf(", limited to %.2f CPUs of time", b.cpu_quota);
  std::printf("; %u thread%s by default\n", threads, threads == 1 ? "" : "s");
  for (uint32_t i = 0; b.n_clusters > 1 && i < b.n_clusters; ++i) {
    const linnet_cluster& c = b.clusters[i];
    std::printf("        %s, CPUs %s, capacity %u, up to %u MHz\n", c.part[0] ? printable(c.part).c_str() : "cluster",
                cpus_text(c.cpus).c_str(), c.capacity, c.max_mhz);
  }
  for (uint32_t i = 0; i < b.n_caches; ++i)
    std::printf("        L%u %s %llu KiB, CPUs %s\n", b.caches[i].level, printable(b.caches[i].type).c_str(),
                static_cast<unsigned long long>(b.caches[i].bytes >> 10), cpus_text(b.caches[i].cpus).c_str());
  std::printf("memory  %s, %s available", human_bytes(b.memory_bytes).c_str(), human_bytes(b.available_bytes).c_str());
  if (b.memory_limit_bytes) std::printf(", limited to %s", human_bytes(b.memory_limit_bytes).c_str());
  std::printf("\n");
  print_gpu();
  for (uint32_t i = 0; i < b.n_zones; ++i)
    std::printf("heat    %-12s %.1f degrees Celsius\n", printable(b.zones[i].type).c_str(), b.zones[i].millidegrees / 1000.0);
  for (const Tier& tier : all) {
    std::printf("tier    %-12s %s", tier.name.c_str(),
                tier.name == picked ? "runs here, picked"
                : tier.runs         ? "runs here"
                                    : tier.why.c_str());
    if (tier.measured.size)
      std::printf("%s: decode %.1f GB/s of weights, prefill %.2f of %.2f TOPS int8", &tier == best ? ", fastest" : "",
                  tier.measured.decode_gb_s, tier.measured.prefill_tops, tier.measured.int8_tops);
    std::printf("\n");
  }
  if (best)
    std::printf("limits  %.1f GB/s plain read, %.2f TOPS int8 (%s, %u thread%s)\n", best->measured.read_gb_s, best->measured.int8_tops,
                best->name.c_str(), threads, threads == 1 ? "" : "s");
  for (size_t i = 0; i < profiles.size(); ++i) {
    const linnet_match& m = profiles[i].match;
    if (m.matches)
      std::printf("profile %-17s matches%s, %u points: %s\n", printable(profiles[i].name).c_str(), i == match ? " best" : "", m.points,
                  printable(m.why).c_str());
    else
      std::printf("profile %-17s no: %s\n", printable(profiles[i].name).c_str(), printable(m.why).c_str());
  }
  if (match < profiles.size()) {
    const linnet_profile& p = profiles[match].profile;
    std::printf("picked  %s: %s\n", printable(profiles[match].name).c_str(),
                printable(profile_text(p, p.isa ? isa_name(p.isa) : picked)).c_str());
  } else {
    std::printf("picked  none: %s %s\n", profiles.empty() ? "there are no profiles in" : "nothing matches in",
                printable(configs_folder()).c_str());
  }
}

int run(const Args& args) {
  if (args.given("--check")) return check_profile(args);
  const uint32_t threads =
      args.given("--threads") ? usable_threads(args, static_cast<uint32_t>(args.count("--threads"))) : board().n_threads;
  std::string picked;
  linnet_profile none = {};
  none.size = sizeof none;
  if (!pick_isa(none, &picked)) return failed(args, "%s", picked.c_str());
  if (args.given("--write") && !args.flag("--measure")) return usage_error(args, "--write needs --measure");
  if (args.flag("--measure") && !sysroot().empty()) return usage_error(args, "--measure is of this machine: unset LINNET_SYSROOT");
  std::vector<Tier> all = tiers();
  const Tier* best = nullptr;
  if (args.flag("--measure")) {
    if (args.given("--write") && !can_write(args, args.text("--write"))) return kExitError;
    if (!measure(args, threads, &all)) return kExitError;
    best = &fastest(all);
    if (args.given("--write") && !write_profile(args, args.text("--write"), *best, threads)) return kExitError;
  }
  std::vector<Listed> profiles;
  size_t match = 0;
  if (!list_profiles(args, &profiles, &match)) return kExitError;
  const auto print = args.json() ? print_json : print_text;
  print(all, picked, threads, best, profiles, match);
  return kExitOk;
}

}  // namespace

Command devices_command() {
  return {"devices",
          "what this machine offers, and the device profile that matches it",
          "",
          0,
          0,
          "Profiles lie in $LINNET_CONFIGS, or in share/linnet/configs beside the tool. $LINNET_SYSROOT, a folder with copies of another "
          "board's\n/proc and /sys, describes that board instead.\n\nexample: linnet devices --measure --write this.yaml",
          {
              {"--check", "FILE", Kind::kPath, "check the file of a device profile, and say whether it fits this machine"},
              {"--measure", nullptr, Kind::kFlag,
               "measure the read bandwidth, and each tier's int8 peak and products (1 GiB of memory, some seconds)"},
              {"--write", "FILE", Kind::kPath,
               "with --measure: write a device profile of the fastest tier; what is a FIFO or character device is written to as it is"},
              {"-t, --threads", "N", Kind::kCount, "threads to measure with (default: the cores this process may use)", nullptr, 1, 256},
          },
          run};
}

}  // namespace linnet::cli
