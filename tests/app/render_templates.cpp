// Renders chat templates for test_templates.py and fuzz_templates.py: each line of the input is {"template", "context", "tokens", "now"},
// the context as a text of JSON; each line of the output {"text", "data": [[from, to], ...]}, the byte ranges of the text that came out of
// the conversation, or {"error"}.
#include <linnet_chat.h>
#include <template.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

constexpr size_t kMemoryBytes = 96u << 20;

// Memory that lasts for all lines, and is the system's until it is written to.
struct Room {
  std::string source;  // what `program` was compiled from
  std::vector<uint8_t> program;
  std::unique_ptr<char, decltype(&std::free)> memory{static_cast<char*>(std::aligned_alloc(64, kMemoryBytes)), &std::free};
};

json answer(Room& room, const json& line) {
  linnet_error err{};
  const auto refused = [&] { return json{{"error", err.text}}; };
  const std::string text = line["template"], context = line["context"], tokens = line["tokens"].dump();
  // Without what an answer looks like, which takes many renderings and is not asked here; once for many conversations.
  if (room.program.empty() || room.source != text) {
    room.source = text;
    room.program.clear();
    if (linnet::convert::template_compile(text, "it", &room.program, &err)) return room.program.clear(), refused();
  }
  const linnet_view program{room.program.data(), room.program.size()};
  linnet_template_params params{};
  params.size = sizeof params;
  params.tokens = tokens.data();
  params.tokens_bytes = static_cast<uint32_t>(tokens.size());
  params.text_bytes = 4u << 20;
  params.value_bytes = 32u << 20;
  linnet_need need{};
  need.size = sizeof need;
  linnet_template* t = nullptr;
  if (linnet_template_need(&program, nullptr, &params, &need, &err) ||
      linnet_template_init(&t, room.memory.get(), kMemoryBytes, &program, nullptr, nullptr, &params, &err))
    return refused();
  linnet_rendered out{};
  out.size = sizeof out;
  if (linnet_template_render(t, context.data(), context.size(), line["now"], &out, &err)) return refused();
  json data = json::array();
  for (size_t at = 0; at < out.text_bytes; ++at) {
    const size_t begin = at;
    while (at < out.text_bytes && out.data[at]) ++at;
    if (at > begin) data.push_back({begin, at});
  }
  return {{"text", std::string(out.text, out.text_bytes)}, {"data", std::move(data)}};
}

}  // namespace

int main() {
  Room room;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << answer(room, json::parse(line)).dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
}
