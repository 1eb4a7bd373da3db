// linnet plan: what a model and a session take, before anything runs.
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
    session.kv_format = session.v_format = static_cast<uint32_t>(f);
    session.n_kv_layers = 0;
    const char* name = nullptr;
    size_t bytes = 0;
    for (uint32_t i = 0; linnet_session_plan(engine.model, &session, i, &name, &bytes, nullptr) == LINNET_OK; ++i)
      if (std::strcmp(name, "kv") == 0) rows.push_back({format, bytes});
  }
  return rows;
}

int run(const Args& args) {
  Settings settings;
  Engine engine;
  on_interrupt_cancel(nullptr);
  if (!read_settings(args, &settings) || !engine.open(args, args.text("-m"), settings)) return kExitError;
  linnet_error err = {};
  linnet_need need = {};
  if (linnet_session_need(engine.model, &settings.session, &need, &err) != LINNET_OK) return failed(args, err);

  std::vector<Purpose> rows;
  const char* name = nullptr;
  size_t bytes = 0;
  uint64_t total = 0;
  add(&rows, "weights", engine.desc.weight_bytes);
  for (uint32_t i = 0; linnet_model_memory(engine.model, i, &name, &bytes) == LINNET_OK; ++i) add(&rows, name, bytes);
  for (uint32_t i = 0; linnet_session_plan(engine.model, &settings.session, i, &name, &bytes, &err) == LINNET_OK; ++i) add(&rows, name, bytes);
  for (const Purpose& row : rows) total += row.bytes;
  const bool mapped = engine.loaded.mapped;
  if (args.json()) {
    Json json;
    json.object().field("total", total).field("arena_bytes", uint64_t{engine.model_memory.bytes + need.bytes}).field("weights_mapped", mapped);
    json.key("purposes").object();
    for (const Purpose& row : rows) json.field(row.name, row.bytes);
    json.end().key("kv_formats").object();
    for (const Purpose& row : kv_formats(engine, settings.session)) json.field(row.name, row.bytes);
    json.end().end().print();
    return kExitOk;
  }
  for (const Purpose& row : rows)
    if (row.bytes > 0)
      std::printf("%-14s %14llu bytes  %9s%s\n", row.name.c_str(), static_cast<unsigned long long>(row.bytes), human_bytes(row.bytes).c_str(),
                  row.name != "weights" ? "" : mapped ? "  mapped from the file, shared by all processes that use it" : "  in memory");
  std::printf("%-14s %14llu bytes  %9s\n", "total", static_cast<unsigned long long>(total), human_bytes(total).c_str());
  for (const Purpose& row : kv_formats(engine, settings.session))
    std::printf("kv as %-8s %14llu bytes  %9s\n", row.name.c_str(), static_cast<unsigned long long>(row.bytes), human_bytes(row.bytes).c_str());
  return kExitOk;
}

}  // namespace

Command plan_command() {
  return {"plan", "exact bytes by purpose that a model and a session take", "", 0, 0,
          "All but the weights is memory that the app hands to linnet; after that nothing more is allocated.\n\n"
          "example: linnet plan -m model.gguf --context 4096",
          all_options(), run};
}

}  // namespace linnet::cli
