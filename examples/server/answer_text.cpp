#include "answer_text.h"

#include <algorithm>

namespace server {
namespace {

constexpr size_t kCallBytes = size_t{64} << 10;
constexpr char kReplacement[] = "\xef\xbf\xbd";

// Bytes of the character that begins s, 0: none does, -1: more have to come.
int character(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const int n = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (!n) return 0;
  for (int i = 1; i < n; ++i) {
    if (static_cast<size_t>(i) == s.size()) return -1;
    const unsigned c = byte(static_cast<size_t>(i));
    const unsigned least = i > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned most = i > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (c < least || c > most) return 0;
  }
  return n;
}

}  // namespace

// ---- certain text --------------------------------------------------------------------------------------------------------------------

std::string CertainText::feed(std::string_view bytes) {
  if (stopped_ >= 0) return {};
  held_ += bytes;
  return take(false);
}

std::string CertainText::end() { return stopped_ >= 0 ? std::string() : take(true); }

std::string CertainText::take(bool all) {
  size_t found = std::string::npos;
  for (size_t i = 0; i < stops_.size(); ++i)
    if (const size_t at = held_.find(stops_[i]); at < found) found = at, stopped_ = static_cast<int>(i);
  size_t n = std::min(found, held_.size());
  if (found == std::string::npos && !all) {
    // from where a stop string may have begun
    for (const std::string& stop : stops_)
      for (size_t k = std::min(stop.size() - 1, held_.size()); k > 0; --k)
        if (held_.compare(held_.size() - k, k, stop, 0, k) == 0) {
          n = std::min(n, held_.size() - k);
          break;
        }
  }
  std::string out;
  size_t at = 0;
  while (at < n) {
    const int k = character(std::string_view(held_).substr(at));
    if (k < 0 && !all && found == std::string::npos) break;
    if (k > 0 && at + static_cast<size_t>(k) > n) break;
    if (k > 0)
      out.append(held_, at, static_cast<size_t>(k));
    else
      out += kReplacement;
    at += k > 0 ? static_cast<size_t>(k) : 1;
  }
  held_.erase(0, at);
  return out;
}

// ---- answers ---------------------------------------------------------------------------------------------------------------------------

bool AnswerText::open(const Chat& chat, std::string tools, Refusal* why) {
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  tools_ = std::move(tools);
  if (linnet_answer_need(kCallBytes, &need, &err) != LINNET_OK) return *why = {500, err.text, "server_error", {}}, false;
  if (!memory_.alloc(need.bytes)) return *why = {503, "no memory for an answer", "no_memory", {}}, false;
  linnet_status status = linnet_answer_init(&answer_, memory_.data, memory_.bytes, chat.handle(), kCallBytes, &err);
  const auto begin = [&] {
    return linnet_answer_begin(
        answer_, tools_.data(), tools_.size(), [](void* self, const linnet_answer_event* e) { static_cast<AnswerText*>(self)->event(*e); },
        this, &err);
  };
  // What the prompt has opened is seen by what a letter would be.
  probing_ = true;
  for (int step = 0; step < 4 && status == LINNET_OK; ++step)
    status = step == 0 || step == 3 ? (probing_ = step == 0, begin())
             : step == 1            ? linnet_answer_feed(answer_, "x", 1, &err)
                                    : linnet_answer_end(answer_, &err);
  if (status != LINNET_OK) return *why = {500, err.text, "server_error", {}}, answer_ = nullptr, false;
  return true;
}

void AnswerText::say(Piece piece, std::string_view text) {
  if (hear_) hear_(piece, text, calls_.empty() ? 0 : calls_.size() - 1);
}

void AnswerText::event(const linnet_answer_event& e) {
  const std::string_view text(e.text, e.text_bytes);
  if (probing_) {
    reasons_ = reasons_ || e.kind == LINNET_ANSWER_REASONING;
    return;
  }
  switch (e.kind) {
    case LINNET_ANSWER_REASONING:
      reasons_ = true;
      reasoning_ += text;
      return say(Piece::kReasoning, text);
    case LINNET_ANSWER_CONTENT:
      if (lost_ && hear_) return;  // the text of a call that was cut, of which a stream has had a part
      content_ += text;
      return say(Piece::kContent, text);
    case LINNET_ANSWER_CALL:
      calls_.push_back({{e.id, e.id_bytes}, std::string(text), {}, false});
      return say(Piece::kCall, text);
    case LINNET_ANSWER_ARGUMENTS:
      if (calls_.empty()) return;
      calls_.back().arguments += text;
      return say(Piece::kArguments, text);
    case LINNET_ANSWER_CALL_END:
      if (calls_.empty()) return;
      calls_.back().whole = true;
      if (e.id_bytes) calls_.back().id.assign(e.id, e.id_bytes);
      return say(Piece::kCallEnd, {});
    case LINNET_ANSWER_CALL_LOST:
      lost_ = true;
      if (!hear_ && !calls_.empty()) calls_.pop_back();
      return;
    case LINNET_ANSWER_REASONED:
      reasons_ = false;
      reasoned_ = true;
      return;
    default:
      return;
  }
}

void AnswerText::put(std::string_view text) {
  if (text.empty()) return;
  if (!answer_) {
    content_ += text;
    return say(Piece::kContent, text);
  }
  linnet_error err = {};
  (void)!linnet_answer_feed(answer_, text.data(), text.size(), &err);
}

bool AnswerText::feed(int32_t token) {
  const std::string bytes = model_.token_text(token);
  if (answer_) {
    uint32_t mark = 0;
    linnet_error err = {};
    if (linnet_answer_is_mark(answer_, bytes.data(), bytes.size(), &mark, &err) != LINNET_OK) mark = 0;
    const bool special = model_.token_kind(token) & LINNET_TOKEN_SPECIAL;
    if (special && !mark) return true;  // it stands for no text
    put(certain_.feed(bytes));
  } else if (!(model_.token_kind(token) & LINNET_TOKEN_SPECIAL)) {
    put(certain_.feed(bytes));
  }
  return certain_.stopped() < 0;
}

void AnswerText::end() {
  put(certain_.end());
  linnet_error err = {};
  if (answer_) (void)!linnet_answer_end(answer_, &err);
}

}  // namespace server
