#include "scheduler.h"

#include <linnet_device.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

namespace server {
namespace {

constexpr size_t kRecent = 32;                          // prompts that are remembered for what later ones have in common with them
constexpr size_t kWorthKeeping = 32;                    // tokens in common that are worth a piece of their own
constexpr size_t kTurn = 1024;                          // tokens of a key before another's turn
constexpr double kSlower = 1.85;                        // how much longer a pass may take by the prompts in it
constexpr uint32_t kOld = 64;                           // passes until it is measured again how long one without prompts takes
constexpr uint32_t kLeastRows = 4;                      // of prompts beside answers
constexpr size_t kKeeping = 256;                        // sequences that wait to be written to the disk
constexpr auto kImport = std::chrono::milliseconds(4);  // of what was read from it, between two passes
constexpr auto kFlush = std::chrono::seconds(10);       // for what is not written yet, at the end
constexpr double kNew = 0.2;                            // weight of a new measurement in an average

double seconds_between(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }
double ms_between(Clock::time_point from, Clock::time_point to) { return 1e3 * seconds_between(from, to); }
void average(double* average, double value) { *average = *average > 0 ? (1 - kNew) * *average + kNew * value : value; }

size_t common(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// Each adds its constant to the seed, so that one that was preempted goes on where it was.
uint64_t numbers_of_a_draw(const linnet_sampling& s) {
  const uint32_t* const end = s.samplers + s.n_samplers;
  const bool xtc = s.xtc_probability > 0 && s.xtc_threshold <= 0.5f && !s.mirostat &&
                   (!s.n_samplers || std::find(s.samplers, end, static_cast<uint32_t>(LINNET_SAMPLER_XTC)) != end);
  return xtc ? 2 : 1;
}

Refusal refused(const linnet_error& err, int status, const char* code) { return {status, err.text, code, {}}; }

}  // namespace

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

// ---- who is next (under mutex_, which the thread lets go while it works on sequences)
// --------------------------------------------------------------------------------------------------------

Scheduler::Key& Scheduler::key_of(size_t key) {
  if (keys_.size() > 4096 && !keys_.count(key))  // keys that come from a field of requests are as many as clients like
    for (auto k = keys_.begin(); k != keys_.end();) k = k->second.waiting || k->second.running ? std::next(k) : keys_.erase(k);
  return keys_[key];
}

double Scheduler::weight_of(size_t key) const { return key < options_.weights.size() ? options_.weights[key] : 1; }

// Of the sequences, by weight among those who have work; at least one.
double Scheduler::share_of(size_t key) const {
  double all = 0;
  for (const auto& [id, k] : keys_)
    if (k.waiting || k.running) all += weight_of(id);
  return std::max(1.0, std::floor(n_slots_ * weight_of(key) / std::max(all, 1e-9)));
}

// Another sequence computes right now what a good part of this prompt is: it is taken from the prefix cache when that is done.
bool Scheduler::computed_elsewhere(const Active& a) {
  if (!prefix_ || a.begun || !a.job->cache) return false;
  for (const Entry& other : active_) {
    if (other->prompt_done || other->over || !other->job->cache) continue;
    const size_t n = std::min(common(other->job->prompt, a.job->prompt), a.job->prompt.size() - states_);
    if (n < kWorthKeeping || n <= other->computed) continue;
    if (const auto at = std::lower_bound(other->keep.begin(), other->keep.end(), n); at == other->keep.end() || *at != n)
      other->keep.insert(at, n);
    return true;
  }
  return false;
}

// Start-time fair queueing (Goyal, Vin and Cheng 1996) with tokens as cost (as VTC: Sheng et al. 2024): the key that was served least, its
// oldest request. Who comes begins where the others are, and has less running than who floods.
size_t Scheduler::next_waiting() const {
  size_t best = waiting_.size();
  for (size_t i = 0; i < waiting_.size(); ++i) {
    const size_t key = waiting_[i]->job->key;
    const Key& k = keys_.at(key);
    if (waiting_[i]->skipped || waiting_[i]->job->paused || (options_.max_key && k.running >= options_.max_key)) continue;
    const Key* const other = best == waiting_.size() ? nullptr : &keys_.at(waiting_[best]->job->key);
    if (!other || (other != &k && (k.served != other->served ? k.served < other->served : k.running < other->running))) best = i;
  }
  return best;
}

size_t Scheduler::victim_for(size_t key) const {
  size_t victim = active_.size();
  for (size_t i = 0; i < active_.size(); ++i)  // whose client does not read
    if (active_[i]->job->paused && !active_[i]->over && !active_[i]->job->sampling.mirostat) return i;
  if (static_cast<double>(keys_.at(key).running) + 1 > share_of(key)) return victim;
  for (size_t i = 0; i < active_.size(); ++i) {
    const Job& job = *active_[i]->job;
    const size_t other = job.key;
    if (active_[i]->over || active_[i]->reading || other == key || job.sampling.mirostat ||
        static_cast<double>(keys_.at(other).running) <= share_of(other))
      continue;
    if (victim == active_.size() || active_[i]->order > active_[victim]->order) victim = i;
  }
  if (victim < active_.size()) return victim;
  // With more keys than sequences they take turns, of so many tokens that computing some again does not take most of the time.
  for (size_t i = 0; i < active_.size(); ++i) {
    const Active& a = *active_[i];
    const double ahead = keys_.at(a.job->key).served - keys_.at(key).served;
    if (a.over || a.job->key == key || a.job->sampling.mirostat || ahead < static_cast<double>(std::max(kTurn, a.tokens.size() / 4)))
      continue;
    if (victim == active_.size() || keys_.at(a.job->key).served > keys_.at(active_[victim]->job->key).served) victim = i;
  }
  return victim;
}

void Scheduler::admit(std::unique_lock<std::mutex>* lock) {
  for (Entry& a : waiting_) a->skipped = false;
  for (;;) {
    const size_t i = next_waiting();
    if (i == waiting_.size()) return;
    if (computed_elsewhere(*waiting_[i])) {
      waiting_[i]->skipped = true;
      continue;
    }
    const size_t key = waiting_[i]->job->key;
    const bool room = !free_.empty() && reserved_ + waiting_[i]->reserved <= pool_;
    Entry entry;
    if (room) {
      entry = std::move(waiting_[i]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      entry->seq = free_.back();
      free_.pop_back();
      --keys_.at(key).waiting;
      ++keys_.at(key).running;
      begun_at_ = std::max(begun_at_, keys_.at(key).served);
    } else {
      const size_t v = victim_for(key);
      if (v == active_.size()) return;
      entry = std::move(active_[v]);
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(v));
    }
    lock->unlock();
    if (room) {
      begin(std::move(entry));
    } else {  // what it computed goes to the prefix cache, and if that has no room it is computed again, to the same tokens
      leave(entry.get());
      entry->computed = 0;
      entry->grammar_on = false;
      entry->skipped = true;
    }
    lock->lock();
    if (room) continue;
    Key& k = key_of(entry->job->key);
    --k.running;
    ++k.waiting;
    ++status_.n_preempted;
    waiting_.push_front(std::move(entry));
  }
}

// ---- sequences -------------------------------------------------------------------------------------------------------------------------

void Scheduler::begin(Entry entry) {
  Active& a = *entry;
  Job& job = *a.job;
  linnet_error err = {};
  const size_t n_prompt = job.prompt.size();
  reserved_ += a.reserved;
  if (job.grammar && !job.grammar_waits) a.grammar_at = n_prompt;
  linnet_sampling sampling = job.sampling;
  sampling.size = sizeof sampling;
  sampling.seed += 0x9E3779B97F4A7C15u * ((a.tokens.size() - n_prompt) * numbers_of_a_draw(sampling));
  linnet_status status = linnet_sampling_set(session_, a.seq, &sampling, &err);
  a.computed = status == LINNET_OK && prefix_ && job.cache ? match(&a) : 0;
  const auto now = Clock::now();
  if (!a.begun) {
    a.begun = true;
    a.started = now;
    job.counts.n_prompt = n_prompt;
    job.counts.n_cached = a.computed;
    job.counts.queue_ms = ms_between(a.came, now);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      status_.n_cached_tokens += a.computed;
    }
    a.keep = job.keep;
    size_t most = 0;
    for (const auto& other : recent_) {
      const size_t n = common(other, job.prompt);
      if (n < n_prompt) most = std::max(most, n);
    }
    if (most > a.computed + kWorthKeeping) a.keep.push_back(most);
    // The same prompt needs its last token computed for the logits, and states go on from where one was kept alone.
    if (!states_)
      a.keep.push_back(n_prompt);
    else if (prefix_ && job.cache)
      a.keep.push_back(n_prompt - 1);
    std::sort(a.keep.begin(), a.keep.end());
    if (std::find(recent_.begin(), recent_.end(), job.prompt) == recent_.end()) recent_.push_back(job.prompt);
    if (recent_.size() > kRecent) recent_.pop_front();
  }
  active_.push_back(std::move(entry));
  if (status != LINNET_OK) return finish(&a, End::kFailed, refused(err, 400, "invalid_request"));
  if (options_.disk && job.cache) {
    // Where all pages are there from the first on, a prompt can go on from a part of what was kept, too.
    const size_t n = states_ ? std::min(a.tokens.size() - 1, a.grammar_at) : a.tokens.size();
    auto pieces = options_.disk->find(model_hash_, a.tokens, n, a.computed, states_);
    if (!pieces.empty() && pieces.back().n_tokens >= a.computed + kWorthKeeping) {
      a.reading = options_.disk->read(std::move(pieces), bell_);
      return;
    }
  }
  go_on(&a);
}

// Takes the longest beginning that the prefix cache has: how many tokens.
size_t Scheduler::match(Active* a) {
  linnet_error err = {};
  size_t n_taken = 0;
  const size_t n = std::min(a->tokens.size() - 1, a->grammar_at);
  return linnet_prefix_match(prefix_, session_, a->seq, a->tokens.data(), n, &n_taken, &err) == LINNET_OK ? n_taken : a->computed;
}

void Scheduler::go_on(Active* a) {
  if (a->computed == a->grammar_at && a->computed < a->tokens.size()) after_pass(a);  // the grammar begins here
}

// ---- the disk --------------------------------------------------------------------------------------------------------------------------

// What was read goes into the prefix cache; a sequence whose pieces are all there, or that gets no more, goes on from them.
bool Scheduler::from_disk() {
  bool worked = false;
  const auto until = Clock::now() + kImport;
  for (const Entry& entry : active_) {
    Active& a = *entry;
    bool more = a.reading && !a.over;
    while (more && Clock::now() < until) {
      DiskCache::Piece piece;
      std::vector<char> bytes;
      const DiskCache::Take take = options_.disk->take(a.reading.get(), &piece, &bytes);
      if (take == DiskCache::Take::kWait) break;
      worked = true;
      if (take == DiskCache::Take::kPiece) {
        linnet_error err = {};
        size_t n = 0;
        const linnet_status status = linnet_prefix_import(prefix_, bytes.data(), bytes.size(), &n, &err);
        if (status == LINNET_BAD_FILE || status == LINNET_UNSUPPORTED) options_.disk->damaged(piece);
        if (status == LINNET_OK && n == piece.n_tokens) continue;
      }
      more = false;
      a.reading = nullptr;
      const size_t before = a.computed;
      a.computed = match(&a);
      const size_t n_more = a.computed > before ? a.computed - before : 0;
      if (!a.job->counts.n_drawn) a.job->counts.n_cached = a.computed;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        status_.n_cached_tokens += n_more;
        status_.n_disk_tokens += n_more;
      }
      go_on(&a);
    }
  }
  return worked;
}

// One block at a time: false where there is none, or no room for it now.
bool Scheduler::to_disk() {
  while (!keeping_.empty()) {
    Keeping& k = keeping_.front();
    linnet_error err = {};
    const size_t end = std::min(k.done + DiskCache::kBlock, k.tokens.size());
    size_t n_bytes = 0, n_tokens = 0;
    const auto exported = [&](void* to, size_t cap) {
      const linnet_status status = linnet_prefix_export(prefix_, k.tokens.data(), end, k.done, to, cap, &n_bytes, &n_tokens, &err);
      return n_tokens == end && status == (to ? LINNET_OK : LINNET_TOO_SMALL);
    };
    if (end == k.done || !exported(nullptr, 0)) {  // done, or it went to make room
      keeping_.pop_front();
      continue;
    }
    DiskCache::Piece piece;
    piece.end = k.hash;
    piece.end.add(k.tokens, k.done, end);
    piece.n_tokens = static_cast<uint32_t>(end);
    piece.kept = end == k.tokens.size();
    piece.used = k.when;
    const DiskCache::Room room = options_.disk->room(piece, n_bytes, bell_);
    if (room == DiskCache::Room::kLater) return false;
    if (room == DiskCache::Room::kYes) {
      std::vector<char> bytes(n_bytes);
      if (exported(bytes.data(), bytes.size())) options_.disk->write(piece, std::move(bytes));
    }
    k.hash = piece.end;
    k.done = end;
    if (room == DiskCache::Room::kYes) return true;
  }
  return false;
}

void Scheduler::flush_disk() {
  const auto until = Clock::now() + kFlush;
  do {
    while (to_disk()) {
    }
  } while (options_.disk->flush(until) && !keeping_.empty());
}

void Scheduler::keep(const Active& a) {
  linnet_error err = {};
  size_t n_kept = 0;
  if (!prefix_ || !a.job->cache || linnet_prefix_keep(prefix_, session_, a.seq, &n_kept, &err) != LINNET_OK) return;
  n_kept = std::min(n_kept, a.computed);
  if (!options_.disk || n_kept == 0) return;
  if (keeping_.size() == kKeeping) keeping_.pop_front();
  keeping_.push_back({{a.tokens.begin(), a.tokens.begin() + static_cast<std::ptrdiff_t>(n_kept)}, 0, model_hash_, DiskCache::now()});
}

// Gives a sequence back, and what it holds to the prefix cache.
void Scheduler::leave(Active* a) {
  linnet_error err = {};
  keep(*a);
  (void)!linnet_grammar_set(session_, a->seq, nullptr, &err);
  (void)!linnet_truncate(session_, a->seq, 0, &err);
  reserved_ -= a->reserved;
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(a->seq);
}

// What listens may run out of memory: its request ends then, and nobody else's.
void Scheduler::tell(Job* job, End end, const Refusal& why) {
  try {
    job->on_end(end, why);
  } catch (const std::exception&) {  // an exchange that is dropped is answered by that
  }
}

// Not under mutex_. The entry goes at the next sweep.
void Scheduler::finish(Active* a, End end, const Refusal& why) {
  if (a->over) return;
  a->over = true;
  Counts& c = a->job->counts;
  const auto now = Clock::now();
  if (a->prompt_done)
    c.drawing_ms = ms_between(a->prompted, now);
  else
    c.prompt_ms = ms_between(a->started, now);
  leave(a);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --key_of(a->job->key).running;
    status_.n_failed += end == End::kFailed;
    status_.n_cancelled += end == End::kGone;
  }
  tell(a->job.get(), end, why);
}

void Scheduler::sweep() {
  std::erase_if(active_, [](const Entry& a) { return a->over; });
}

// ---- passes
// ------------------------------------------------------------------------------------------------------------------------------

uint32_t Scheduler::prompt_rows() const {
  const uint32_t most = chunk();
  if (options_.rows) return std::min(options_.rows, most);
  return static_cast<uint32_t>(std::clamp(rows_beside_, static_cast<double>(std::min(kLeastRows, most)), static_cast<double>(most)));
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
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::stable_sort(prompts.begin(), prompts.end(), [this](const Active* x, const Active* y) {
      const double sx = keys_.at(x->job->key).served, sy = keys_.at(y->job->key).served;
      return sx != sy ? sx < sy : x->order < y->order;
    });
  }
  // What the answers take by themselves is measured where nobody's first row waits for it; without it prompts would go by their least rows
  // for as long as prompts keep coming.
  Alone& alone = alone_[std::min<size_t>(std::bit_width(n_answers), std::size(alone_) - 1)];
  const bool measured = alone.seconds > 0 && alone.passes < kOld,
             measures = n_answers && !measured && !prompts.empty() && prompts[0]->computed;
  uint32_t left = measures ? 0 : n_answers ? prompt_rows() : chunk();
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
  // read).
  if (all && n_answers && n_prompt_rows && alone.seconds > 0) {
    const double step = std::clamp(kSlower * alone.seconds / seconds, 0.8, 1.25), least = std::min(kLeastRows, chunk());
    if (step < 1 || n_prompt_rows >= prompt_rows()) rows_beside_ = std::clamp<double>(rows_beside_ * step, least, chunk());
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
  *seconds = seconds_between(begin, Clock::now());
  std::vector<std::pair<Active*, Refusal>> wrong;
  for (size_t i = 0; i < rows.size() && status != LINNET_OK; ++i) {
    Active& a = *in_pass_[i];
    linnet_status alone = status;
    if (status != LINNET_CANCELLED && rows.size() > 1) alone = linnet_prefill_batch(session_, &rows[i], 1, &err);
    if (alone == LINNET_OK) continue;
    if (alone != LINNET_CANCELLED) wrong.push_back({&a, refused(err, 500, alone == LINNET_NOT_FINITE ? "not_finite" : "server_error")});
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
    if (status != LINNET_OK) return finish(a, End::kFailed, refused(err, 500, "server_error"));
    a->grammar_on = true;
  }
  if (std::find(a->keep.begin(), a->keep.end(), a->computed) != a->keep.end() && a->computed <= job.prompt.size()) keep(*a);
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
    return finish(a, End::kFailed, refused(err, 500, job.grammar ? "grammar" : "server_error"));
  // With a grammar an end is drawn where its text may end, and nothing comes behind it.
  if ((!job.ignore_eos || a->grammar_on) && model_->token_kind(drawn.token) & LINNET_TOKEN_EOG) return finish(a, End::kEos, {});
  if (job.n_logprobs >= 0) {
    const auto n = static_cast<uint32_t>(job.n_logprobs);
    std::vector<int32_t> tokens(n);
    std::vector<float> values(n);
    if (linnet_logprobs(session_, a->seq, 0, drawn.token, &drawn.logprob, n, tokens.data(), values.data(), &err) != LINNET_OK)
      return finish(a, End::kFailed, refused(err, 500, "server_error"));
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
