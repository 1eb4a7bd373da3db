// Adapters of the command line (--lora), beside a model or merged into it.
#include <algorithm>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {

bool read_loras(const Args& args, std::vector<std::pair<std::string, float>>* out) {
  for (const std::string& text : args.texts("--lora")) {
    const size_t colon = text.rfind(':');
    double scale = 1;
    const bool whole = colon == text.npos || path_info(text).there;  // a path may hold one itself
    if (!whole && !parse_real(std::string_view(text).substr(colon + 1), &scale) && colon > 1)
      return failed(args, "--lora %s: takes a path, or PATH:SCALE", text.c_str()), false;
    out->emplace_back(whole ? text : text.substr(0, colon), static_cast<float>(scale));
  }
  if (out->size() > LINNET_LORA_MOST) return failed(args, "--lora: at most %d adapters", LINNET_LORA_MOST), false;
  return true;
}

bool Engine::adapt(const Args& args, linnet_session_params* session_params) {
  std::vector<std::pair<std::string, float>> wanted;
  if (!read_loras(args, &wanted)) return false;
  uint32_t rank = 0;
  for (const auto& [path, scale] : wanted) {
    loras.push_back(std::make_unique<Adapter>());
    Adapter& a = *loras.back();
    a.scale = scale;
    convert::Loaded file;
    linnet_error err = {};
    linnet_need need = {};
    need.size = sizeof need;
    linnet_status status = convert::load_adapter(path, loaded.file, &file, &err);
    if (status == LINNET_OK) status = linnet_lora_need(model, &file.file, &need, &err);
    const bool room = status != LINNET_OK || a.memory.alloc(need.bytes);
    if (status == LINNET_OK && room) status = linnet_lora_init(&a.lora, a.memory.data, a.memory.bytes, model, &file.file, &err);
    convert::unload(&file);
    if (!room) return failed(args, "%s: no memory for the adapter's %zu bytes", path.c_str(), need.bytes), false;
    if (status != LINNET_OK) {
      const bool named = std::string_view(err.text).starts_with(path);
      return failed(args, "%s%s%s", named ? "" : path.c_str(), named ? "" : ": ", err.text), false;
    }
    linnet_lora_desc of = {};
    of.size = sizeof of;
    if (linnet_lora_info(a.lora, &of, &err) != LINNET_OK) return failed(args, err), false;
    rank += (of.rank + 15) / 16 * 16;
    say(args, Log::kDebug, "%s: rank %u, %u matrices, %s, scale %g", path.c_str(), of.rank, of.n_matrices, human_bytes(of.bytes).c_str(),
        static_cast<double>(scale));
  }
  session_params->lora_rank = rank;
  return true;
}

bool Engine::give_adapters(const Args& args) {
  std::vector<const linnet_lora*> list;
  std::vector<float> scales;
  for (const auto& a : loras) list.push_back(a->lora), scales.push_back(a->scale);
  linnet_error err = {};
  for (uint32_t seq = 0; !list.empty() && seq < std::max(params.n_sequences, 1u); ++seq)
    if (linnet_lora_set(session, seq, list.data(), scales.data(), static_cast<uint32_t>(list.size()), &err) != LINNET_OK)
      return failed(args, err), false;
  return true;
}

uint64_t Engine::adapter_bytes() const {
  uint64_t bytes = 0;
  for (const auto& a : loras) bytes += a->memory.bytes;
  return bytes;
}

}  // namespace linnet::cli
