// linnet devices: what this machine offers to linnet.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli.h"

namespace linnet::cli {
namespace {

struct Tier {
  std::string name;
  bool runs;        // built into this linnet and offered by this CPU
  std::string why;  // if it does not
  linnet_measurement measured = {};
};

// The folder that a file would be written in is there and may be written in.
bool can_write(const Args& args, const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) == 0) return true;
  failed(args, "%s: %s", path.c_str(), std::strerror(errno));
  return false;
}

std::vector<Tier> tiers() {
  std::vector<Tier> out;
  for (uint32_t i = LINNET_ISA_SCALAR; const char* name = linnet_isa_name(static_cast<linnet_isa>(i)); ++i) {
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

int check_profile(const Args& args) {
  ProfileFile file;
  std::string why;
  if (!read_profile(args.text("--check"), &file, &why)) return failed(args, "%s", why.c_str());
  linnet_profile profile = {};
  profile.size = sizeof profile;
  profile.isa = file.isa;
  linnet_isa isa = LINNET_ISA_AUTO;
  linnet_error err = {};
  if (linnet_isa_pick(&profile, &isa, &err) != LINNET_OK) return failed(args, "%s: %s", args.text("--check").c_str(), err.text);
  const uint32_t cpus = machine().cpus;
  if (file.threads > cpus) return failed(args, "%s: 'threads' is %u, but this process may use %u CPUs", args.text("--check").c_str(), file.threads, cpus);
  if (args.json())
    Json().object().field("profile", args.text("--check")).field("name", file.name).field("ok", true).field("isa", linnet_isa_name(isa)).end().print();
  else
    std::printf("%s: fits this machine (%s)\n", args.text("--check").c_str(), linnet_isa_name(isa));
  return kExitOk;
}

// Decode over the plain read measured beside it: memory may be faster for one tier's turn than for another's.
double decode_share(const linnet_measurement& m) { return m.read_gb_s > 0 ? std::min(1.0, m.decode_gb_s / m.read_gb_s) : 0; }

// Measures every tier that runs, three times in turn; of each the better decode and the better prefill.
bool measure(const Args& args, const Machine& m, uint32_t threads, std::vector<Tier>* all) {
  Memory buffer;
  if (!buffer.alloc(measure_bytes(m))) {
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
    if (t.runs && decode_share(t.measured) >= kAboutAsFast * decode && (!best || t.measured.prefill_tops > kTie * best->measured.prefill_tops)) best = &t;
  return *best;
}

// A device profile with what was measured; there under its name whole or not at all.
bool write_profile(const Args& args, const std::string& path, const Machine& m, const Tier& tier, uint32_t threads) {
  std::string name;
  for (const char c : m.cpu)
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') name += c;
  const std::string temporary = path + ".tmp";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  bool ok = file && std::fprintf(file, "# linnet devices --measure: %.1f GB/s of weights in decode, %.2f TOPS in prefill\nname: \"%s\"\nisa: %s\nthreads: %u\n"
                                 "read_gb_s: %.6g\nint8_tops: %.6g\nf8_tops: %.6g\nfloat_tops: %.6g\n",
                                 tier.measured.decode_gb_s, tier.measured.prefill_tops, name.c_str(), tier.name.c_str(), threads, tier.measured.read_gb_s,
                                 tier.measured.int8_tops, tier.measured.f8_tops, tier.measured.float_tops) > 0;
  if (file) ok = std::fclose(file) == 0 && ok;
  if (ok && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int error = errno;
  if (file) std::remove(temporary.c_str());
  failed(args, "%s: %s", path.c_str(), std::strerror(error));
  return false;
}

void print_json(const Machine& m, const std::vector<Tier>& all, const char* picked, uint32_t threads, const Tier* best) {
  Json json;
  json.object().field("linnet", linnet_build_info()).field("cpu", m.cpu).field("cpus", m.cpus).field("cores", m.cores).field("threads", threads);
  if (m.cpu_quota > 0) json.field("cpu_quota", m.cpu_quota);
  json.field("isa", picked).key("tiers").array();
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
  for (const Cache& c : m.caches) json.object().field("level", c.level).field("type", c.type).field("bytes", c.bytes).field("shared_cpus", c.shared_cpus).end();
  json.end().field("memory_bytes", m.memory_bytes).field("available_bytes", m.available_bytes);
  if (m.memory_limit) json.field("memory_limit_bytes", m.memory_limit);
  if (best) json.field("read_gb_s", best->measured.read_gb_s).field("int8_tops", best->measured.int8_tops).field("fastest", best->name);
  json.end().print();
}

void print_text(const Machine& m, const std::vector<Tier>& all, const char* picked, uint32_t threads, const Tier* best) {
  std::printf("%s\nCPU     %s\n        %u CPU%s on %u core%s for this process", linnet_build_info(), m.cpu.c_str(), m.cpus, m.cpus == 1 ? "" : "s", m.cores,
              m.cores == 1 ? "" : "s");
  if (m.cpu_quota > 0) std::printf(", limited to %.2f CPUs of time", m.cpu_quota);
  std::printf("; %u thread%s by default\n", threads, threads == 1 ? "" : "s");
  for (const Cache& c : m.caches)
    std::printf("        L%u %s %llu KiB, CPUs %s\n", c.level, c.type.c_str(), static_cast<unsigned long long>(c.bytes >> 10), c.shared_cpus.c_str());
  std::printf("memory  %s, %s available", human_bytes(m.memory_bytes).c_str(), human_bytes(m.available_bytes).c_str());
  if (m.memory_limit) std::printf(", limited to %s", human_bytes(m.memory_limit).c_str());
  std::printf("\n");
  for (const Tier& tier : all) {
    std::printf("tier    %-12s %s", tier.name.c_str(), tier.name == picked ? "runs here, picked" : tier.runs ? "runs here" : tier.why.c_str());
    if (tier.measured.size)
      std::printf("%s: decode %.1f GB/s of weights, prefill %.2f of %.2f TOPS int8", &tier == best ? ", fastest" : "", tier.measured.decode_gb_s, tier.measured.prefill_tops, tier.measured.int8_tops);
    std::printf("\n");
  }
  if (best)
    std::printf("limits  %.1f GB/s plain read, %.2f TOPS int8 (%s, %u thread%s)\n", best->measured.read_gb_s, best->measured.int8_tops, best->name.c_str(), threads,
                threads == 1 ? "" : "s");
}

int run(const Args& args) {
  if (args.given("--check")) return check_profile(args);
  const Machine m = machine();
  const uint32_t threads = args.given("--threads") ? static_cast<uint32_t>(args.count("--threads")) : default_threads();
  linnet_isa picked = LINNET_ISA_AUTO;
  linnet_error err = {};
  if (linnet_isa_pick(nullptr, &picked, &err) != LINNET_OK) return failed(args, err);
  if (args.given("--write") && !args.flag("--measure")) return usage_error(args, "--write needs --measure");
  std::vector<Tier> all = tiers();
  const Tier* best = nullptr;
  if (args.flag("--measure")) {
    if (args.given("--write") && !can_write(args, args.text("--write"))) return kExitError;
    if (!measure(args, m, threads, &all)) return kExitError;
    best = &fastest(all);
    if (args.given("--write") && !write_profile(args, args.text("--write"), m, *best, threads)) return kExitError;
  }
  const auto print = args.json() ? print_json : print_text;
  print(m, all, linnet_isa_name(picked), threads, best);
  return kExitOk;
}

}  // namespace

Command devices_command() {
  return {"devices", "what this machine offers: CPU, instruction tiers, caches, memory, limits", "", 0, 0,
          "example: linnet devices --measure --write this.yaml",
          {
              {"--check", "FILE", Kind::kText, "check a device profile against this machine"},
              {"--measure", nullptr, Kind::kFlag, "measure the read bandwidth, and each tier's int8 peak and products (1 GiB of memory, some seconds)"},
              {"--write", "FILE", Kind::kText, "with --measure: write a device profile of the fastest tier"},
              {"--threads", "N", Kind::kCount, "threads to measure with (default: the cores this process may use)", nullptr, 1, 256},
          },
          run};
}

}  // namespace linnet::cli
