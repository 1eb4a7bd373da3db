// Renders chat templates for test_templates.py and fuzz_templates.py: each line of the input is {"template", "context", "tokens", "now"},
// the context as a text of JSON; each line of the output {"text", "data": [[from, to], ...]}, the byte ranges of the text that came out of
// the conversation, or {"error"}.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/chat/interpreter.h"
#include "runtime/convert/template.h"

namespace {

using nlohmann::json;
using namespace linnet;

constexpr size_t kMemoryBytes = 32u << 20, kTextBytes = 4u << 20;
constexpr uint64_t kMaxSteps = 32u << 20;

// Memory that lasts for all lines, and is the system's until it is written to.
struct Room {
  std::unique_ptr<uint64_t[]> memory{new uint64_t[kMemoryBytes / 8]};
  std::unique_ptr<char[]> text{new char[kTextBytes]};
  std::unique_ptr<uint8_t[]> marks{new uint8_t[kTextBytes]};
  std::vector<uint8_t> program;
  std::vector<uint64_t> aligned;
};

struct Rendered {
  std::string_view text;
  const uint8_t* marks;
};

// What knows linnet's calls.
bool render(Room* room, const std::string& source, std::string context, const json& tokens, int64_t now, Rendered* out, Error* err) {
  room->program.clear();
  if (convert::template_compile(source, "it", &room->program, err)) return false;
  room->aligned.assign((room->program.size() + 7) / 8, 0);
  std::memcpy(room->aligned.data(), room->program.data(), room->program.size());
  chat::Program program;
  if (chat::program_open(room->aligned.data(), room->program.size(), "it", &program, err)) return false;
  chat::Machine m;
  m.program = &program;
  m.err = err;
  m.name = "it";
  m.now = now;
  m.memory = reinterpret_cast<uint8_t*>(room->memory.get());
  m.memory_bytes = kMemoryBytes;
  m.out = room->text.get();
  m.marks = room->marks.get();
  m.out_bytes = kTextBytes;
  m.max_steps = kMaxSteps;
  const size_t brace = context.find('{');
  if (brace != std::string::npos) {
    context.insert(brace + 1, R"("tools": null, "documents": null, "add_generation_prompt": false, )");
  }
  if (!chat::read_json(m, context, &m.context)) return false;
  std::vector<std::string> texts;
  texts.reserve(2 * tokens.size());
  auto* entries = m.take_values(2 * tokens.size());
  size_t n = 0;
  for (const auto& [name, text] : tokens.items()) {
    texts.push_back(name), texts.push_back(text);
    entries[n++] = chat::text(texts[texts.size() - 2]), entries[n++] = chat::text(texts.back());
  }
  if (!chat::make_dict(m, entries, n / 2, &m.tokens) || !chat::run_template(m)) return false;
  *out = {{m.out, m.n_out}, m.marks};
  return true;
}

json answer(Room* room, const json& line) {
  Error err{};
  Rendered out{};
  if (!render(room, line["template"], line["context"], line["tokens"], line["now"], &out, &err)) return {{"error", err.text}};
  json data = json::array();
  for (size_t at = 0; at < out.text.size();) {
    size_t end = at;
    while (end < out.text.size() && out.marks[end]) end++;
    if (end > at) data.push_back({at, end});
    at = end + 1;
  }
  return {{"text", out.text}, {"data", std::move(data)}};
}

}  // namespace

int main() {
  Room room;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << answer(&room, json::parse(line)).dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
}
