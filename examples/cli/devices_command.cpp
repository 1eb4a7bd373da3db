// linnet devices: what this machine offers to linnet.
#include <cstdio>
#include <cstring>

#include "cli.h"

namespace linnet::cli {
namespace {

struct Tier {
  std::string name;
  bool runs;        // built into this linnet and offered by this CPU
  std::string why;  // if it does not
};

std::vector<Tier> tiers() {
  std::vector<Tier> out;
  for (uint32_t i = LINNET_ISA_SCALAR; const char* name = linnet_isa_name(static_cast<linnet_isa>(i)); ++i) {
    linnet_profile profile = {};
    profile.size = sizeof profile;
    profile.isa = i;
    linnet_isa got = LINNET_ISA_AUTO;
    linnet_error err = {};
    const bool runs = linnet_isa_pick(&profile, &got, &err) == LINNET_OK;
    out.push_back({name, runs, runs ? "" : err.text});
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

bool measure(const Args& args, const Machine& m, uint32_t threads, linnet_measurement* out) {
  Memory buffer;
  if (!buffer.alloc(measure_bytes(m))) {
    failed(args, "no memory to measure with");
    return false;
  }
  std::memset(buffer.data, 1, buffer.bytes);  // memory that was never written is one page of zeros
  out->size = sizeof *out;
  linnet_error err = {};
  if (linnet_measure(nullptr, threads, buffer.data, buffer.bytes, out, &err) == LINNET_OK) return true;
  failed(args, err);
  return false;
}

void print_json(const Machine& m, const std::vector<Tier>& all, const char* picked, uint32_t threads, const linnet_measurement* measured) {
  Json json;
  json.object().field("linnet", linnet_build_info()).field("cpu", m.cpu).field("cpus", m.cpus).field("cores", m.cores).field("threads", threads);
  if (m.cpu_quota > 0) json.field("cpu_quota", m.cpu_quota);
  json.field("isa", picked).key("tiers").array();
  for (const Tier& tier : all) {
    json.object().field("name", tier.name).field("runs", tier.runs);
    if (!tier.runs) json.field("why", tier.why);
    json.end();
  }
  json.end().key("caches").array();
  for (const Cache& c : m.caches) json.object().field("level", c.level).field("type", c.type).field("bytes", c.bytes).field("shared_cpus", c.shared_cpus).end();
  json.end().field("memory_bytes", m.memory_bytes).field("available_bytes", m.available_bytes);
  if (m.memory_limit) json.field("memory_limit_bytes", m.memory_limit);
  if (measured) json.field("read_gb_s", measured->read_gb_s).field("int8_tops", measured->int8_tops);
  json.end().print();
}

void print_text(const Machine& m, const std::vector<Tier>& all, const char* picked, uint32_t threads, const linnet_measurement* measured) {
  std::printf("%s\nCPU     %s\n        %u CPU%s on %u core%s for this process", linnet_build_info(), m.cpu.c_str(), m.cpus, m.cpus == 1 ? "" : "s", m.cores,
              m.cores == 1 ? "" : "s");
  if (m.cpu_quota > 0) std::printf(", limited to %.2f CPUs of time", m.cpu_quota);
  std::printf("; %u thread%s by default\n", threads, threads == 1 ? "" : "s");
  for (const Cache& c : m.caches)
    std::printf("        L%u %s %llu KiB, CPUs %s\n", c.level, c.type.c_str(), static_cast<unsigned long long>(c.bytes >> 10), c.shared_cpus.c_str());
  std::printf("memory  %s, %s available", human_bytes(m.memory_bytes).c_str(), human_bytes(m.available_bytes).c_str());
  if (m.memory_limit) std::printf(", limited to %s", human_bytes(m.memory_limit).c_str());
  std::printf("\n");
  for (const Tier& tier : all)
    std::printf("tier    %-8s %s\n", tier.name.c_str(), tier.name == picked ? "runs here, picked" : tier.runs ? "runs here" : tier.why.c_str());
  if (measured)
    std::printf("limits  %.1f GB/s plain read, %.2f TOPS int8 (%s, %u thread%s)\n", measured->read_gb_s, measured->int8_tops, picked, threads,
                threads == 1 ? "" : "s");
}

int run(const Args& args) {
  if (args.given("--check")) return check_profile(args);
  const Machine m = machine();
  const uint32_t threads = args.given("--threads") ? static_cast<uint32_t>(args.count("--threads")) : default_threads();
  linnet_isa picked = LINNET_ISA_AUTO;
  linnet_error err = {};
  if (linnet_isa_pick(nullptr, &picked, &err) != LINNET_OK) return failed(args, err);
  linnet_measurement measured = {};
  const bool wanted = args.flag("--measure");
  if (wanted && !measure(args, m, threads, &measured)) return kExitError;
  const auto print = args.json() ? print_json : print_text;
  print(m, tiers(), linnet_isa_name(picked), threads, wanted ? &measured : nullptr);
  return kExitOk;
}

}  // namespace

Command devices_command() {
  return {"devices", "what this machine offers: CPU, instruction tiers, caches, memory, limits", "", 0, 0,
          "example: linnet devices --measure",
          {
              {"--check", "FILE", Kind::kText, "check a device profile against this machine"},
              {"--measure", nullptr, Kind::kFlag, "measure read bandwidth and int8 peak (1 GiB of memory, a second)"},
              {"--threads", "N", Kind::kCount, "threads to measure with (default: the cores this process may use)", nullptr, 1, 256},
          },
          run};
}

}  // namespace linnet::cli
