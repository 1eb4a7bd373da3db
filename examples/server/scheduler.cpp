#include "scheduler.h"

#include <linnet_device.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

namespace server {

Scheduler::~Scheduler() {
  stop(std::chrono::milliseconds(0));
  if (bell_) bell_->end();
  linnet_session_fini(session_);
}

linnet_session_params Scheduler::session_params(const Model& model, const SchedulerOptions& options) {
  linnet_session_params p = options.session;
  p.size = sizeof p;
  const uint32_t n_slots = p.n_sequences ? p.n_sequences : 1;
  if (!p.n_context) p.n_context = std::min(model.desc().n_context, 4096u);
  if (!p.n_pool) p.n_pool = n_slots * p.n_context;
  p.n_sequences = n_slots + options.spare;
  p.n_logits = 1;
  for (const auto& l : model.loras()) p.lora_rank += (l->rank + 15) / 16 * 16;
  return p;
}

bool Scheduler::plan(const Model& model, const SchedulerOptions& options, size_t* bytes, std::string* why) {
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  const linnet_session_params p = session_params(model, options);
  if (linnet_session_need(model.handle(), &p, &need, &err) != LINNET_OK) return *why = model.path() + ": " + err.text, false;
  *bytes = need.bytes + options.prefix_bytes;  // of which a small model's cache may take less
  return true;
}

bool Scheduler::start(std::shared_ptr<Model> model, const SchedulerOptions& options, std::mutex* shared, std::string* why) {
  model_ = std::move(model);
  options_ = options;
  shared_ = shared;
  linnet_error err = {};
  linnet_need need = {};
  linnet_session_params& p = options_.session;
  p = session_params(*model_, options);
  n_slots_ = p.n_sequences - options_.spare;
  n_context_ = p.n_context;
  model_->n_context = n_context_;
  pool_ = p.n_pool;
  need.size = sizeof need;
  const auto failed = [&] { return *why = model_->path() + ": " + err.text, false; };
  if (linnet_session_need(model_->handle(), &p, &need, &err) != LINNET_OK) return failed();
  if (!session_memory_.alloc(need.bytes)) return *why = "no memory for the session's " + std::to_string(need.bytes) + " bytes", false;
  if (linnet_session_init(&session_, session_memory_.data, session_memory_.bytes, model_->handle(), &p, &err) != LINNET_OK)
    return session_ = nullptr, failed();
  const char* purpose = nullptr;
  size_t bytes = 0;
  for (uint32_t i = 0; linnet_session_memory(session_, i, &purpose, &bytes, nullptr) == LINNET_OK && purpose; ++i)
    states_ = states_ || (bytes && std::strstr(purpose, "states"));
  if (options_.prefix_bytes) {
    need = {};
    need.size = sizeof need;
    if (linnet_prefix_need(session_, options_.prefix_bytes, &need, &err) != LINNET_OK) {
      status_.no_prefix = err.text;
    } else if (!prefix_memory_.alloc(need.bytes)) {
      return *why = "no memory for the prefix cache's " + std::to_string(need.bytes) + " bytes", false;
    } else if (linnet_prefix_init(&prefix_, prefix_memory_.data, prefix_memory_.bytes, session_, &err) != LINNET_OK) {
      return failed();
    }
  }
  if (!prefix_) options_.disk = nullptr;
  if (options_.disk) {
    // An export of no tokens is what all of this model and kind of session begin with. Another version may compute other bytes,
    // and of formats that are not exact so may another instruction set.
    const int32_t none = 0;
    std::vector<char> kind(4096);
    size_t n_bytes = 0, n_tokens = 0;
    if (linnet_prefix_export(prefix_, &none, 0, 0, kind.data(), kind.size(), &n_bytes, &n_tokens, &err) != LINNET_OK) return failed();
    kind.resize(n_bytes);
    model_hash_ = DiskCache::Hash(std::string(kind.begin(), kind.end()) + linnet_build_info());
    model_hash_.add(model_->desc().isa);
    bell_ = std::make_shared<DiskCache::Bell>([this] { look(); });
  }
  // A template that writes what it is given.
  static constexpr char kEcho[] = "{{ text }}";
  size_t n = 0;
  echo_program_.resize(size_t{64} << 10);
  if (linnet_template_compile(kEcho, sizeof kEcho - 1, "echo", echo_program_.data(), echo_program_.size(), &n, &err) != LINNET_OK)
    return failed();
  echo_program_.resize(n);
  const linnet_view from = {echo_program_.data(), n};
  linnet_template_params echo = {};
  echo.size = sizeof echo;
  echo.text_bytes = echo.value_bytes = size_t{64} << 10;
  need = {};
  need.size = sizeof need;
  if (linnet_template_need(&from, nullptr, &echo, &need, &err) != LINNET_OK) return failed();
  if (!echo_memory_.alloc(need.bytes)) return *why = "no memory for a template", false;
  if (linnet_template_init(&echo_, echo_memory_.data, echo_memory_.bytes, &from, nullptr, model_->handle(), &echo, &err) != LINNET_OK)
    return failed();
  for (uint32_t i = n_slots_; i-- > 0;) free_.push_back(i);
  status_.slots.resize(n_slots_);
  status_.session_bytes = session_memory_.bytes;
  status_.prefix_bytes = prefix_ ? prefix_memory_.bytes : 0;
  over_ = false;
  thread_ = std::thread([this] { work(); });
  return true;
}

// ---- from other threads --------------------------------------------------------------------------------------------------------------

bool Scheduler::submit(std::vector<std::shared_ptr<Job>> jobs, Refusal* why) {
  std::vector<Entry> entries;
  for (auto& job : jobs) {
    const size_t n_prompt = job->prompt.size();
    if (!model_->fits(job->prompt, "", why)) return false;
    auto entry = std::make_unique<Active>();
    entry->tokens = job->prompt;
    const size_t room = n_context_ - n_prompt;
    job->max_tokens = job->max_tokens ? std::min(job->max_tokens, room) : room;
    entry->reserved = std::min<size_t>(n_context_, (n_prompt + job->max_tokens + 63) / 64 * 64);
    entry->job = std::move(job);
    entry->came = Clock::now();
    entries.push_back(std::move(entry));
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Key& k = key_of(entries.front()->job->key);
    if (stopping_ || over_) return *why = {503, "the server is stopping", "stopping", {}}, false;
    // Those of one request come together or not at all, also where they are more than ever may wait.
    if (waiting_.size() >= options_.max_queue + free_.size() ||
        (options_.max_queue_key && k.waiting >= options_.max_queue_key + free_.size())) {
      status_.n_refused += entries.size();
      *why = {429, std::to_string(waiting_.size()) + " requests wait already", "queue_full", {}};
      return false;
    }
    // A key that had nothing to wait for takes no credit along from that time.
    if (!k.waiting) {
      double least = INFINITY;
      for (const auto& [id, other] : keys_)
        if (other.waiting) least = std::min(least, other.served);
      k.served = std::max(k.served, least < INFINITY ? least : begun_at_);
    }
    k.waiting += entries.size();
    status_.n_jobs += entries.size();
    for (Entry& entry : entries) {
      entry->order = ++order_;
      entry->first_pass = status_.n_passes;
      waiting_.push_back(std::move(entry));
    }
    status_.waiting = waiting_.size();
    looked_ = true;
  }
  wake_.notify_one();
  return true;
}

void Scheduler::look() {
  const std::lock_guard<std::mutex> lock(mutex_);
  looked_ = true;
  // Who computes for nobody stops within a layer; beside others the pass goes on.
  if (!computing_.empty() && std::all_of(computing_.begin(), computing_.end(), [](const auto& job) { return job->gone.load(); }))
    cancelled_ = true, linnet_cancel(session_);
  wake_.notify_one();
}

bool Scheduler::run(std::function<void(linnet_session*, uint32_t)> call) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (over_ || stopping_) return false;
    calls_.push_back(std::move(call));
    looked_ = true;
  }
  wake_.notify_one();
  return true;
}

void Scheduler::stop(std::chrono::milliseconds wait) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
    if (!over_) ended_.wait_for(lock, wait, [this] { return over_; });
    dropping_ = true;
    if (!over_ && session_) linnet_cancel(session_);
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

Scheduler::Status Scheduler::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

// ---- the thread ----------------------------------------------------------------------------------------------------------------------

void Scheduler::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!dropping_) {
    looked_ = false;
    drop_gone(&lock);
    take_calls(&lock);
    if (stopping_ && waiting_.empty() && active_.empty() && calls_.empty()) break;
    admit(&lock);
    lock.unlock();
    bool worked = options_.disk && from_disk();
    worked |= options_.disk && to_disk();
    worked |= pass();
    sweep();
    lock.lock();
    publish();
    if (worked || looked_ || dropping_) continue;
    auto until = Clock::time_point::max();
    for (const Entry& a : active_) until = std::min(until, ends(*a->job));
    for (const Entry& a : waiting_) until = std::min(until, ends(*a->job));
    const auto woken = [this] { return looked_ || dropping_ || (stopping_ && waiting_.empty() && active_.empty()); };
    if (until == Clock::time_point::max())
      wake_.wait(lock, woken);
    else
      wake_.wait_until(lock, until, woken);
  }
  std::deque<Entry> left = std::move(waiting_);
  std::deque<std::function<void(linnet_session*, uint32_t)>> calls = std::move(calls_);
  waiting_.clear();
  calls_.clear();
  lock.unlock();
  calls.clear();
  const Refusal why = {503, "the server is stopping", "stopping", {}};
  for (Entry& a : left) tell(a->job.get(), End::kFailed, why);
  for (Entry& a : active_) finish(a.get(), End::kFailed, why);
  sweep();
  if (options_.disk) flush_disk();
  lock.lock();
  publish();
  over_ = true;
  ended_.notify_all();
}

void Scheduler::take_calls(std::unique_lock<std::mutex>* lock) {
  if (calls_.empty()) return;
  auto call = std::move(calls_.front());  // one between two passes: others' tokens do not wait for all of them
  calls_.pop_front();
  ++status_.n_calls;
  if (!calls_.empty()) looked_ = true;
  lock->unlock();
  {
    std::unique_lock<std::mutex> turn;
    if (shared_) turn = std::unique_lock<std::mutex>(*shared_);
    // A cancel that came when its pass was through would stop this call.
    static constexpr int32_t kAny = 0;
    linnet_error err = {};
    if (options_.spare && std::exchange(cancel_left_, false) && linnet_prefill(session_, n_slots_, &kAny, 1, &err) == LINNET_OK)
      (void)!linnet_truncate(session_, n_slots_, 0, &err);
    try {
      call(session_, n_slots_);
    } catch (const std::exception&) {  // what it holds is dropped, and answered by that
    }
  }
  lock->lock();
}

// Also one whose client takes next to nothing.
bool Scheduler::is_gone(const Job& job, Clock::time_point now) const {
  return job.gone || (job.paused && job.paused_at + options_.stalled <= now);
}

Clock::time_point Scheduler::ends(const Job& job) const {
  return job.paused ? std::min(job.deadline, job.paused_at + options_.stalled) : job.deadline;
}

void Scheduler::drop_gone(std::unique_lock<std::mutex>* lock) {
  const auto now = Clock::now();
  std::vector<Entry> gone;
  for (size_t i = 0; i < waiting_.size();) {
    Job& job = *waiting_[i]->job;
    if (is_gone(job, now)) job.gone = true;
    if (!job.gone && job.deadline > now) {
      ++i;
      continue;
    }
    --key_of(job.key).waiting;
    gone.push_back(std::move(waiting_[i]));
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  lock->unlock();
  for (Entry& a : gone) {
    if (a->job->gone)
      tell(a->job.get(), End::kGone, {});
    else if (a->prompt_done)  // it was preempted
      tell(a->job.get(), End::kLength, {});
    else
      tell(a->job.get(), End::kFailed, {504, "the deadline passed before it was this request's turn", "deadline", {}});
  }
  for (Entry& a : active_) {
    if (is_gone(*a->job, now))
      finish(a.get(), End::kGone, {});
    else if (a->job->deadline <= now)
      finish(a.get(), End::kLength, {});
  }
  sweep();
  lock->lock();
  for (const Entry& a : gone) ++(a->job->gone ? status_.n_cancelled : status_.n_failed);
}

// Under mutex_.
void Scheduler::publish() {
  status_.waiting = waiting_.size();
  status_.running = active_.size();
  for (Slot& slot : status_.slots) slot = {};
  for (const Entry& a : active_)
    status_.slots[a->seq] = {true, a->job->key, a->tokens.size(), a->job->counts.n_drawn, a->job->prompt.size()};
  if (!prefix_) return;
  linnet_prefix_desc desc = {};
  desc.size = sizeof desc;
  if (linnet_prefix_info(prefix_, &desc, nullptr) == LINNET_OK) status_.prefix_used = desc.used_bytes;
}

}  // namespace server
