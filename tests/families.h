// Answers of models under the envelopes that their templates give: families of tests/data/answers, and the parser that reads them.
#pragma once
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/chat/answers.h"
#include "runtime/convert/template.h"
#include "runtime/convert/template_probe.h"
#include "tests/catch2.h"
#include "tests/data.h"

namespace test {

using namespace linnet;
using namespace linnet::chat;
using nlohmann::json;

struct Said {
  std::string content, reasoning;
  json calls = json::array();
  std::string name, arguments;  // of the call at hand
  bool open = false, good = true;
  size_t n_reasoned = 0;
  std::string told;  // everything that came out
  bool operator==(const Said& o) const { return content == o.content && reasoning == o.reasoning && calls == o.calls; }
};

inline void hear(void* user, const AnswerEvent& e) {
  Said& s = *static_cast<Said*>(user);
  const std::string text(e.text);
  switch (e.kind) {
    case AnswerKind::kContent:
      s.content += text;
      break;
    case AnswerKind::kReasoning:
      s.reasoning += text;
      break;
    case AnswerKind::kCall:
      s.good &= !s.open && !text.empty();
      s.open = true;
      s.name = text;
      s.arguments.clear();
      break;
    case AnswerKind::kArguments:
      s.good &= s.open;
      s.arguments += text;
      break;
    case AnswerKind::kCallEnd: {
      const json arguments = json::parse(s.arguments, nullptr, false);
      s.good &= s.open && arguments.is_object();
      s.open = false;
      s.calls.push_back({{"name", s.name}, {"arguments", arguments}});
      s.told += s.name + s.arguments + std::string(e.id) + "\n";
      break;
    }
    case AnswerKind::kCallLost:
      s.good &= s.open;
      s.open = false;
      break;
    case AnswerKind::kReasoned:
      s.good &= !s.open;
      ++s.n_reasoned;
      break;
  }
}

// step: characters, or bytes, at a time; 0: whole.
inline Said parse(const Envelope& e, const std::string& answer, const std::string& prompt, const std::string& tools, size_t step,
                  bool bytes = false, size_t call_bytes = 65536) {
  std::vector<char> memory(Answer::need(call_bytes));
  Said s;
  Answer a;
  a.begin(e, std::string_view(prompt), std::string_view(tools), memory.data(), memory.size(), hear, &s);
  for (size_t at = 0; at < answer.size();) {
    size_t end = step ? at : answer.size();
    for (size_t k = 0; k < step && end < answer.size(); ++k) {
      ++end;
      while (!bytes && end < answer.size() && (static_cast<uint8_t>(answer[end]) & 0xC0) == 0x80) ++end;
    }
    // a copy of its own, so that reading beyond it is found
    const std::vector<char> piece(answer.begin() + static_cast<std::ptrdiff_t>(at), answer.begin() + static_cast<std::ptrdiff_t>(end));
    a.feed({piece.data(), piece.size()});
    at = end;
  }
  a.end();
  s.good &= !s.open;
  s.told += s.content + "\n" + s.reasoning;
  return s;
}

inline Envelope learn(const std::string& text, const std::vector<std::string>& added = {}, convert::ReasoningSwitch* reasoning = nullptr) {
  std::vector<uint8_t> program;
  Error err = {};
  const bool compiled = convert::template_compile(text, "template", &program, &err) == LINNET_OK;
  INFO(err.text);
  REQUIRE(compiled);
  Envelope e;
  convert::ReasoningSwitch unused;
  convert::learn_envelope(text, program, "", added, &e, reasoning ? reasoning : &unused);
  Envelope opened;
  REQUIRE(envelope_open(&e, sizeof e, "it", &opened, nullptr) == LINNET_OK);
  return e;
}

struct Family {
  std::string name;
  Envelope envelope;
  json cases;
};
// Those whose templates are there.
inline const std::vector<Family>& families() {
  static std::vector<Family> all;
  if (!all.empty()) return all;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/answers"))
    if (entry.path().extension() == ".json" && entry.path().stem() != "tools") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    json family = json::parse(slurp(path.string()));
    std::string text;
    if (family.contains("shared")) {
      const std::string shared = data_path("vectors/chat-templates/" + family["shared"].get<std::string>());
      if (shared.empty()) continue;
      text = slurp(shared);
    } else {
      text = family["template"];
    }
    CAPTURE(path.string());
    all.push_back({path.stem().string(), learn(text), std::move(family["cases"])});
  }
  return all;
}
inline const std::string& tools() {
  static const std::string text = slurp("tests/data/answers/tools.json");
  return text;
}

}  // namespace test
