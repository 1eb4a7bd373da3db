// A pass over the weights: a row for each answer that goes on, pieces of prompts beside them, and what is drawn from it.
#include <algorithm>
#include <bit>
#include <iterator>

#include "scheduler.h"

namespace server {
namespace {

constexpr double kSlower = 1.85;      // how much longer a pass may take by the prompts in it,
constexpr double kSlowerInFlood = 3;  // and by another's in a flood of those who have the answers in it
constexpr uint32_t kOld = 64;         // passes until it is measured again how long one without prompts takes
constexpr uint32_t kLeastRows = 4;    // of prompts beside answers
constexpr double kNew = 0.2;          // weight of a new measurement in an average

void average(double* average, double value) { *average = *average > 0 ? (1 - kNew) * *average + kNew * value : value; }

}  // namespace

uint32_t Scheduler::prompt_rows(bool flood) const {
  const uint32_t most = chunk();
  if (options_.rows) return std::min(options_.rows, most);
  return static_cast<uint32_t>(std::clamp(rows_beside_[flood], static_cast<double>(std::min(kLeastRows, most)), static_cast<double>(most)));
}

bool Scheduler::pass() {
  rows_.clear();
  in_pass_.clear();
  std::vector<Active*> prompts;
  for (const Entry& entry : active_) {
    Active& a = *entry;
    a.rows = 0;
    if (a.over || a.job->paused || a.reading) continue;
    if (a.prompt_done && a.tokens.size() - a.computed == 1) {
      a.rows = 1;
      in_pass_.push_back(&a);
    } else {
      prompts.push_back(&a);
    }
  }
  const size_t n_answers = in_pass_.size();
  bool flood = n_answers && !prompts.empty();  // the answers are of who has more to wait for, the first prompt is not
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::stable_sort(prompts.begin(), prompts.end(), [this](const Active* x, const Active* y) {
      const double sx = keys_.at(x->job->key).served, sy = keys_.at(y->job->key).served;
      return sx != sy ? sx < sy : x->order < y->order;
    });
    for (const Active* a : in_pass_) flood = flood && a->job->key != prompts[0]->job->key && keys_.at(a->job->key).waiting;
  }
  // What the answers take by themselves is measured where nobody's first row waits for it; without it prompts would go by their least rows
  // for as long as prompts keep coming.
  Alone& alone = alone_[std::min<size_t>(std::bit_width(n_answers), std::size(alone_) - 1)];
  const bool measured = alone.seconds > 0 && alone.passes < kOld,
             measures = n_answers && !measured && !prompts.empty() && prompts[0]->computed;
  uint32_t left = measures ? 0 : n_answers ? prompt_rows(flood) : chunk();
  size_t n_prompt_rows = 0;
  for (Active* a : prompts) {
    if (!left) break;
    size_t end = a->tokens.size();
    if (!a->grammar_on && a->grammar_at > a->computed) end = std::min(end, a->grammar_at);
    for (const size_t k : a->keep)
      if (k > a->computed) {
        end = std::min(end, k);
        break;
      }
    a->rows = static_cast<uint32_t>(std::min<size_t>(left, end - a->computed));
    left -= a->rows;
    n_prompt_rows += a->rows;
    in_pass_.push_back(a);
  }
  if (in_pass_.empty()) return false;
  for (const Active* a : in_pass_) rows_.push_back({sizeof(linnet_rows), a->seq, a->rows, a->tokens.data() + a->computed});
  double seconds = 0;
  const bool all = compute(rows_, &seconds);
  if (n_prompt_rows) ++alone.passes;
  if (all && n_answers && !n_prompt_rows) {
    average(&alone.seconds, seconds);
    alone.passes = 0;
  }
  // By steps towards the time that is wanted: what a row costs depends on how many there are (the first ones hide behind the weights'
  // read), but twice as many take at most twice as long.
  if (all && n_answers && n_prompt_rows && alone.seconds > 0) {
    const double step = std::clamp((flood ? kSlowerInFlood : kSlower) * alone.seconds / seconds, 0.8, 2.0);
    double& rows = rows_beside_[flood];
    if (step < 1 || n_prompt_rows >= prompt_rows(flood)) rows = std::clamp<double>(rows * step, std::min(kLeastRows, chunk()), chunk());
  }
  for (Active* a : in_pass_)
    if (!a->over && a->rows) after_pass(a);
  return true;
}

// All of them (true), or those that can be computed one by one: what is wrong with one request is no other's matter.
bool Scheduler::compute(const std::vector<linnet_rows>& rows, double* seconds) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Active* a : in_pass_) computing_.push_back(a->job);
    cancelled_ = false;
  }
  linnet_error err = {};
  std::unique_lock<std::mutex> turn;
  if (shared_) turn = std::unique_lock<std::mutex>(*shared_);
  const auto begin = Clock::now();
  linnet_status status = linnet_prefill_batch(session_, rows.data(), static_cast<uint32_t>(rows.size()), &err);
  *seconds = ms_between(begin, Clock::now()) / 1e3;
  std::vector<std::pair<Active*, Refusal>> wrong;
  for (size_t i = 0; i < rows.size() && status != LINNET_OK; ++i) {
    Active& a = *in_pass_[i];
    linnet_status alone = status;
    if (status != LINNET_CANCELLED && rows.size() > 1) alone = linnet_prefill_batch(session_, &rows[i], 1, &err);
    if (alone == LINNET_OK) continue;
    if (alone != LINNET_CANCELLED) wrong.push_back({&a, refusal_of(err, 500, alone == LINNET_NOT_FINITE ? "not_finite" : "server_error")});
    a.rows = 0;
  }
  turn = {};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    computing_.clear();
    cancel_left_ = cancelled_ && status != LINNET_CANCELLED;
    ++status_.n_passes;
    status_.pass_s += *seconds;
    for (const Active* a : in_pass_) {
      Key& k = key_of(a->job->key);
      k.served += a->rows / (weight_of(a->job->key) * a->job->weight);
      if (!a->prompt_done) status_.n_prompt_tokens += a->rows;
    }
  }
  for (auto& [a, why] : wrong) finish(a, End::kFailed, why);
  return status == LINNET_OK;
}

void Scheduler::after_pass(Active* a) {
  Job& job = *a->job;
  linnet_error err = {};
  a->computed += a->rows;
  a->rows = 0;
  if (job.grammar && !a->grammar_on && a->computed == a->grammar_at) {
    linnet_status status = LINNET_OK;
    if (job.grammar_of_calls) {
      std::string text = "{\"messages\":[],\"text\":\"";  // without messages there is no conversation
      for (const char c : job.prompt_tail) {  // as JSON: a prompt's end is UTF-8 cut anywhere, so what is no ASCII counts as a letter
        const auto u = static_cast<unsigned char>(c);
        static constexpr char kHex[] = "0123456789abcdef";
        if (u >= 0x80)
          text += 'x';
        else if (u < 0x20 || u == '"' || u == '\\')
          (text += "\\u00") += {kHex[u >> 4], kHex[u & 15]};
        else
          text += c;
      }
      text += "\"}";
      status = linnet_template_render(echo_, text.data(), text.size(), 0, nullptr, &err);
      if (status == LINNET_OK) status = linnet_grammar_begin(session_, a->seq, job.grammar->handle, echo_, &err);
    } else {
      status = linnet_grammar_set(session_, a->seq, job.grammar->handle, &err);
    }
    if (status != LINNET_OK) return finish(a, End::kFailed, refusal_of(err, 500, "server_error"));
    a->grammar_on = true;
  }
  if (std::find(a->keep.begin(), a->keep.end(), a->computed) != a->keep.end() && a->computed <= job.prompt.size()) keep(a);
  if (a->computed == a->tokens.size()) draw(a);
}

void Scheduler::draw(Active* a) {
  Job& job = *a->job;
  if (!a->prompt_done) {
    a->prompt_done = true;
    a->prompted = Clock::now();
    job.counts.prompt_ms = ms_between(a->started, a->prompted);
    job.counts.n_passes = status_.n_passes - a->first_pass;  // which this thread alone counts
    if (!job.on_prompt()) return finish(a, End::kListener, {});
  }
  linnet_error err = {};
  Drawn drawn;
  if (linnet_sample(session_, a->seq, &drawn.token, &err) != LINNET_OK)
    return finish(a, End::kFailed, refusal_of(err, 500, job.grammar ? "grammar" : "server_error"));
  // With a grammar an end is drawn where its text may end, and nothing comes behind it.
  if ((!job.ignore_eos || a->grammar_on) && model_->token_kind(drawn.token) & LINNET_TOKEN_EOG) return finish(a, End::kEos, {});
  if (job.n_logprobs >= 0) {
    const auto n = static_cast<uint32_t>(job.n_logprobs);
    std::vector<int32_t> tokens(n);
    std::vector<float> values(n);
    if (linnet_logprobs(session_, a->seq, 0, drawn.token, &drawn.logprob, n, tokens.data(), values.data(), &err) != LINNET_OK)
      return finish(a, End::kFailed, refusal_of(err, 500, "server_error"));
    for (uint32_t i = 0; i < n; ++i) drawn.top.push_back({tokens[i], values[i]});
  }
  a->tokens.push_back(drawn.token);
  ++job.counts.n_drawn;
  job.counts.drawing_ms = ms_between(a->prompted, Clock::now());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++status_.n_drawn_tokens;
  }
  if (!job.on_token(drawn)) return finish(a, End::kListener, {});
  if (job.grammar && a->grammar_at == SIZE_MAX && job.grammar_begins()) a->grammar_at = a->tokens.size();
  if (job.counts.n_drawn >= job.max_tokens || a->tokens.size() >= n_context_) finish(a, End::kLength, {});
}

}  // namespace server
