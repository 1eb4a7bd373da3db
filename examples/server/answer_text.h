// From drawn tokens to an answer's text: whole characters, up to a stop string, taken apart into reasoning, content and calls as the
// model's template marks them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "served_model.h"

namespace server {

// Text that becomes certain: whole characters of UTF-8 (what is none becomes U+FFFD), held back while it may begin a stop string.
class CertainText {
 public:
  explicit CertainText(std::vector<std::string> stops) : stops_(std::move(stops)) {}
  std::string feed(std::string_view bytes);
  std::string end();                        // what was still held back
  int stopped() const { return stopped_; }  // which stop string came, -1: none yet

 private:
  std::string take(bool all);
  std::vector<std::string> stops_;
  std::string held_;  // bytes of characters, then those of one that is not whole
  int stopped_ = -1;
};

class AnswerText {
 public:
  struct Call {
    std::string id, name, arguments;  // arguments: a JSON object
    bool whole = false;
  };
  enum class Piece { kReasoning, kContent, kCall, kArguments, kCallEnd };
  // text: more of it; of a call its number from 0.
  using Hear = std::function<void(Piece piece, std::string_view text, size_t call)>;

  AnswerText(const Model& model, std::vector<std::string> stops) : model_(model), certain_(std::move(stops)) {}
  // Takes the text apart, as an answer to what `chat` rendered last; without it all is content. tools: JSON that is kept.
  bool open(const Chat& chat, std::string tools, Refusal* why);
  void take_as_it_is() { answer_ = nullptr; }  // all is content, whatever it looks like
  void hear(Hear hear) { hear_ = std::move(hear); }

  bool feed(int32_t token);  // false: a stop string came
  void end();
  int stopped() const { return certain_.stopped(); }
  bool reasons() const { return reasons_; }    // reasoning is open: the prompt or the answer began some
  bool reasoned() const { return reasoned_; }  // some was, and a mark has ended it
  const std::string& content() const { return content_; }
  const std::string& reasoning() const { return reasoning_; }
  const std::vector<Call>& calls() const { return calls_; }

 private:
  void event(const linnet_answer_event& e);
  void put(std::string_view text);
  void say(Piece piece, std::string_view text);

  const Model& model_;
  CertainText certain_;
  Memory memory_;
  linnet_answer* answer_ = nullptr;
  std::string tools_;
  Hear hear_;
  bool reasons_ = false, reasoned_ = false, probing_ = false, lost_ = false;
  std::string content_, reasoning_, given_;
  std::vector<Call> calls_;
};

}  // namespace server
