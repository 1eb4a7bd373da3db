#include "generation.h"

#include <algorithm>

namespace server {
namespace {

constexpr size_t kMuchPending = size_t{256} << 10, kLittlePending = size_t{64} << 10;  // bytes, as http.h's on_change has them

}  // namespace

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json openai_error(const Refusal& why) {
  const char* type = why.status == 401   ? "authentication_error"
                     : why.status == 404 ? "not_found_error"
                     : why.status == 429 ? "rate_limit_error"
                     : why.status >= 500 ? "server_error"
                                         : "invalid_request_error";
  return {
      {"error", {{"message", why.message}, {"type", type}, {"param", why.param.empty() ? json() : json(why.param)}, {"code", why.code}}}};
}

void refuse(Exchange* exchange, const Refusal& why) {
  Exchange::Headers headers;
  if (why.status == 429 || why.status == 503) headers.push_back({"Retry-After", "1"});
  exchange->reply(why.status, "application/json", dump(openai_error(why)), headers);
}

json timings(const Counts& c) {
  const auto per_second = [](double n, double ms) { return ms > 0 ? 1e3 * n / ms : 0.0; };
  const double n_prompt = static_cast<double>(c.n_prompt - c.n_cached), n_drawn = static_cast<double>(c.n_drawn);
  return {{"cache_n", c.n_cached},
          {"prompt_n", c.n_prompt - c.n_cached},
          {"prompt_ms", c.prompt_ms},
          {"prompt_per_second", per_second(n_prompt, c.prompt_ms)},
          {"predicted_n", c.n_drawn},
          {"predicted_ms", c.drawing_ms},
          {"predicted_per_second", per_second(n_drawn, c.drawing_ms)},
          {"queue_ms", c.queue_ms}};
}

// ---- jobs ------------------------------------------------------------------------------------------------------------------------------

bool Generation::on_prompt() {
  writer_->begin();
  return true;
}

bool Generation::on_token(const Drawn& d) {
  if (n_logprobs >= 0) drawn.push_back(d);
  const bool goes_on = text.feed(d.token);
  if (writer_->streams && writer_->exchange_->pending() > kMuchPending) {
    paused = true;
    if (writer_->exchange_->pending() <= kLittlePending) paused = false;  // it was taken meanwhile, and told of before there was a pause
  }
  // The content began, and nothing has held it to what was asked for: there was no mark before it.
  if (grammar && grammar_waits && !text.reasoned() && !text.content().empty()) {
    refusal = {500, "the model's answer began without an end of its reasoning, so that response_format could not hold it", "grammar", {}};
    return false;
  }
  return goes_on;
}

void Generation::on_end(End how, const Refusal& why) {
  end = how;
  if (how == End::kFailed) refusal = why;
  if (how != End::kGone) text.end();
  const std::shared_ptr<Writer> writer = writer_;  // it may drop this
  writer->end_of(*this);
}

// ---- writers ---------------------------------------------------------------------------------------------------------------------------

Writer* Writer::add(std::shared_ptr<Generation> g) {
  g->index = generations_.size();
  if (streams)
    g->text.hear([this, raw = g.get()](AnswerText::Piece p, std::string_view text, size_t call) {
      if (!failed_) piece(*raw, p, text, call);
    });
  generations_.push_back(std::move(g));
  return this;
}

void Writer::begin() {
  if (begun_ || failed_) return;
  begun_ = true;
  if (!streams) return;
  exchange_->begin("text/event-stream; charset=utf-8", {{"X-Accel-Buffering", "no"}});
  begun();
}

void Writer::write(std::string_view event) { exchange_->write(event); }

void Writer::reply(int status, const json& body, Exchange::Headers headers) {
  exchange_->reply(status, "application/json", dump(body), std::move(headers));
}

void Writer::fail(const Refusal& why) {
  if (failed_) return;
  failed_ = true;
  failed(why);
}

void Writer::submit() {
  watch();
  Refusal why;
  if (served_->scheduler.submit({generations_.begin(), generations_.end()}, &why)) return;
  fail(why);
  let_go();
}

// They hold this, and it holds them.
void Writer::let_go() {
  std::vector<std::shared_ptr<Generation>> all;
  const std::lock_guard<std::mutex> lock(mutex_);
  all.swap(generations_);
}

// It is called once, so each time anew.
void Writer::watch() {
  exchange_->on_change([weak = weak_from_this()] {
    if (const auto writer = weak.lock()) writer->changed();
  });
}

void Writer::changed() {
  const bool gone = exchange_->gone();
  const bool flows = exchange_->pending() <= kLittlePending;
  std::vector<std::shared_ptr<Generation>> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all = generations_;
  }
  for (const auto& g : all) {
    if (gone) g->gone = true;
    if (flows) g->paused = false;
  }
  served_->scheduler.look();
  if (!gone && !all.empty()) watch();  // it is told once
}

void Writer::end_of(Generation& g) {
  if (!g.refusal.message.empty()) {
    fail(g.refusal);
    for (const auto& other : generations_) other->gone = true;  // one that failed ends all
    if (generations_.size() > 1) served_->scheduler.look();
  } else if (g.end != End::kGone && !failed_) {
    begin();
    if (streams) ended(g);
  }
  if (++n_ended_ < generations_.size()) return;
  if (!failed_ && std::all_of(generations_.begin(), generations_.end(), [](const auto& one) { return one->end != End::kGone; })) finished();
  let_go();
}

}  // namespace server
