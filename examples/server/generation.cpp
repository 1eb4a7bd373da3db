#include "generation.h"

#include <algorithm>
#include <cmath>

namespace server {
namespace {

constexpr size_t kMuchPending = size_t{256} << 10, kLittlePending = size_t{64} << 10;  // bytes, as http.h's on_change has them

json bytes_of(const std::string& text) {
  json out = json::array();
  for (const char c : text) out.push_back(static_cast<unsigned char>(c));
  return out;
}

// As the API writes them; the smallest is -9999.
json one_logprob(const Model& model, int32_t token, float logprob) {
  const std::string text = model.token_text(token);
  return {{"token", text},
          {"logprob", std::isfinite(logprob) ? std::max(logprob, -9999.0f) : -9999.0f},
          {"bytes", bytes_of(text)},
          {"id", token}};
}

bool blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

}  // namespace

json logprobs_of(const Model& model, const std::vector<Drawn>& drawn) {
  json list = json::array();
  for (const Drawn& d : drawn) {
    json one = one_logprob(model, d.token, d.logprob);
    one["top_logprobs"] = json::array();
    for (const auto& [token, value] : d.top) one["top_logprobs"].push_back(one_logprob(model, token, value));
    list.push_back(std::move(one));
  }
  return list;
}

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

json anthropic_error(const Refusal& why) {
  const char* type = why.status == 401   ? "authentication_error"
                     : why.status == 403 ? "permission_error"
                     : why.status == 404 ? "not_found_error"
                     : why.status == 413 ? "request_too_large"
                     : why.status == 429 ? "rate_limit_error"
                     : why.status == 503 ? "overloaded_error"
                     : why.status >= 500 ? "api_error"
                                         : "invalid_request_error";
  // the API's own words for what it does not know
  const std::string message = why.code == "unknown_parameter" ? why.param + ": Extra inputs are not permitted" : why.message;
  return {{"type", "error"}, {"error", {{"type", type}, {"message", message}}}};
}

void refuse(Exchange* exchange, const Refusal& why, Exchange::Headers headers) {
  static constexpr std::string_view kAnthropic = "/v1/messages";
  const bool anthropic = exchange->path.compare(0, kAnthropic.size(), kAnthropic) == 0;
  if (why.status == 429 || why.status == 503) headers.push_back({"Retry-After", "1"});
  exchange->reply(anthropic && why.status == 503 ? 529 : why.status, "application/json",
                  dump(anthropic ? anthropic_error(why) : openai_error(why)), headers);
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
          {"queue_ms", c.queue_ms},
          {"passes", c.n_passes}};
}

// ---- jobs ------------------------------------------------------------------------------------------------------------------------------

bool Generation::on_prompt() {
  writer_->begin();
  return true;
}

bool Generation::on_token(const Drawn& d) {
  const bool reasons = text.reasons();
  const size_t n_content = text.content().size();
  if (n_logprobs >= 0 && !(drawn_content && reasons)) drawn.push_back(d);
  const bool goes_on = text.feed(d.token);
  n_reasoning += reasons || text.reasons();
  if (text.content().size() > n_content)
    n_drawn_content = drawn.size();
  else if (drawn_content && (text.reasons() || (!n_content && blank(writer_->served_->model->token_text(d.token)))))
    drawn.clear();  // marks and white space before the content
  if (writer_->streams && writer_->exchange_->pending() > kMuchPending) {
    paused_at = Clock::now();
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
  const size_t n_content = text.content().size();
  if (how != End::kGone) text.end();
  if (text.content().size() > n_content) n_drawn_content = drawn.size();
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
