// libFuzzer: any envelope that is taken, and any answer under it. Events fit together, calls that end have a JSON object for arguments,
// pieces change nothing, and what goes in comes out: no more than it, and with nothing but marks and white space left out.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/chat/answers.h"

using namespace linnet;
using namespace linnet::chat;

static void require(bool ok) {
  if (!ok) std::abort();
}

// Marks of envelopes, and what answers are made of beside single characters.
static const char* const kTexts[] = {"",
                                     "<a>",
                                     "</a>",
                                     "<b ",
                                     "\">",
                                     ">",
                                     "<think>",
                                     "</think>",
                                     "{",
                                     "}",
                                     "[",
                                     "]",
                                     "(",
                                     ")",
                                     "=",
                                     ":",
                                     "|||",
                                     "<a>\n<c>",
                                     "⟦",
                                     "⟦x⟧",
                                     "name",
                                     "arguments",
                                     "ping",
                                     "{\"name\": \"ping\", \"arguments\": {",
                                     "\"k\": \"v\"",
                                     "}}",
                                     "<|start|>assistant",
                                     "<|channel|>commentary to=ping",
                                     "<|message|>",
                                     "<|end|>",
                                     "ping(k='v')",
                                     "\n"};
static constexpr size_t kTextCount = sizeof kTexts / sizeof *kTexts;
static constexpr char kTools[] =
    R"([{"type": "function", "function": {"name": "ping", "parameters": {"properties": {"k": {"type": "string"}, "n": {"type": ["null", "integer"]}}}}}])";

struct Said {
  std::string text[2], calls, arguments;
  bool open = false;
  size_t bytes = 0;
};
static void hear(void* user, const AnswerEvent& e) {
  Said& s = *static_cast<Said*>(user);
  switch (e.kind) {
    case AnswerKind::kContent:
      s.text[0] += e.text;
      break;
    case AnswerKind::kReasoning:
      s.text[1] += e.text;
      break;
    case AnswerKind::kCall:
      require(!s.open && !e.text.empty());
      s.open = true;
      s.arguments = std::string(e.text) + "\n";
      break;
    case AnswerKind::kArguments:
      s.arguments += e.text;
      require(s.open);
      break;
    case AnswerKind::kCallEnd: {
      require(s.open);
      s.open = false;
      const auto value = nlohmann::json::parse(s.arguments.substr(s.arguments.find('\n') + 1), nullptr, false);
      require(value.is_object());
      s.calls += s.arguments + "\n" + std::string(e.id) + "\n";
      break;
    }
    case AnswerKind::kCallLost:
      require(s.open);
      s.open = false;
      break;
    case AnswerKind::kReasoned:
      require(!s.open);
  }
}
static Said parse(const Envelope& e, const std::string& prompt, const std::string& answer, size_t step, size_t bytes) {
  std::vector<char> memory(Answer::need(bytes));
  Said s;
  Answer a;
  a.begin(e, prompt, kTools, memory.data(), memory.size(), hear, &s);
  for (size_t at = 0; at < answer.size(); at += step) {
    const std::vector<char> piece(answer.begin() + static_cast<std::ptrdiff_t>(at),
                                  answer.begin() + static_cast<std::ptrdiff_t>(std::min(answer.size(), at + step)));
    a.feed({piece.data(), piece.size()});
  }
  a.end();
  require(!s.open);
  return s;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMarks = (sizeof(Envelope) - offsetof(Envelope, reason_open)) / sizeof(Mark), kHead = 8;
  if (size < kHead + kMarks) return 0;
  Envelope e = {}, opened;
  e.magic = kEnvelopeMagic, e.version = kEnvelopeVersion;
  e.head = static_cast<Head>(data[0] % 6), e.arguments = static_cast<Arguments>(data[1] % 6), e.bare = static_cast<Bare>(data[2] % 4);
  e.value_lines = data[3] & 1, e.counted = data[3] & 2 ? ':' : 0, e.python = data[3] & 4, e.ends_reasoning = data[3] & 8;
  for (size_t i = 0; i < kMarks; ++i) std::strcpy((&e.reason_open + i)->text, kTexts[data[kHead + i] % kTextCount]);
  linnet_error err = {};
  if (envelope_open(&e, sizeof e, "it", &opened, &err) != LINNET_OK) return require(err.text[0]), 0;
  const std::string prompt = kTexts[data[4] % kTextCount];
  std::string answer;
  for (size_t i = kHead + kMarks; i < size; ++i) {
    if (data[i] < 0x20)
      answer += kTexts[data[i]];
    else if (data[i] < 0x7F)
      answer += static_cast<char>(data[i]);
    else if (data[i] - 0x7Fu < kMarks)
      answer += (&e.reason_open + (data[i] - 0x7F))->view();
    else
      answer += "é";
  }
  const size_t bytes = data[5] & 1 ? 1024 : 4096;
  const Said whole = parse(e, prompt, answer, answer.size() + 1, bytes);
  const size_t n_marks = static_cast<size_t>(std::count(answer.begin(), answer.end(), '<'));
  require(whole.text[0].size() + whole.text[1].size() <= answer.size() + n_marks);  // messages of harmony are joined by line ends
  for (const size_t step : {size_t{1}, size_t{data[6]} % 9 + 2}) {
    const Said said = parse(e, prompt, answer, step, bytes);
    require(said.text[0] == whole.text[0] && said.text[1] == whole.text[1] && said.calls == whole.calls);
  }
  return 0;
}
