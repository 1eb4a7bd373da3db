// Whose request begins next, in which sequence, and from where; and how a sequence is given back.
#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "scheduler.h"

namespace server {
namespace {

constexpr size_t kRecent = 32;        // prompts that are remembered for what later ones have in common with them
constexpr size_t kWorthKeeping = 32;  // tokens in common that are worth a piece of their own
constexpr size_t kTurn = 1024;        // tokens of a key before another's turn

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

}  // namespace

// ---- who is next (under mutex_, which the thread lets go while it works on sequences) ------------------------------------------------

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
    if (other->prompt_done || other->over || !other->job->cache || other->job->lora_scales != a.job->lora_scales) continue;
    const size_t n = std::min(common(other->job->prompt, a.job->prompt), a.job->prompt.size() - states_);
    if (n < kWorthKeeping) continue;
    if (n <= other->computed) {  // it is there, and in the prefix cache only behind the prompt's end
      if (!states_ && other->kept < n) keep(other.get());
      continue;
    }
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
      entry->computed = entry->kept = 0;
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

// ---- sequences -----------------------------------------------------------------------------------------------------------------------

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
  if (status == LINNET_OK) status = give_adapters(a.seq, job.lora_scales, &err);
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
  if (status != LINNET_OK) return finish(&a, End::kFailed, refusal_of(err, 400, "invalid_request"));
  if (options_.disk && job.cache && !job.adapted()) {  // no file says of which adapters it is
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

linnet_status Scheduler::give_adapters(uint32_t seq, const std::vector<float>& scales, linnet_error* err) {
  std::vector<const linnet_lora*> loras;
  for (const auto& l : model_->loras()) loras.push_back(l->handle);
  if (scales.size() != loras.size()) loras.clear();  // nothing was said
  return linnet_lora_set(session_, seq, loras.data(), scales.data(), static_cast<uint32_t>(loras.size()), err);
}

void Scheduler::go_on(Active* a) {
  if (a->computed == a->grammar_at && a->computed < a->tokens.size()) after_pass(a);  // the grammar begins here
}

// Gives a sequence back, and what it holds to the prefix cache.
void Scheduler::leave(Active* a) {
  linnet_error err = {};
  keep(a);
  (void)!linnet_grammar_set(session_, a->seq, nullptr, &err);
  (void)!linnet_truncate(session_, a->seq, 0, &err);
  reserved_ -= a->reserved;
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(a->seq);
}

// What listens may run out of memory: its request ends then, and nobody else's.
void Scheduler::tell(Job* job, End end, const Refusal& why) {
  job->grammar = nullptr;  // who has the answer may ask for another one, in the same bytes
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

}  // namespace server
