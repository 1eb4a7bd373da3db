// One thread, one session of many sequences: requests join and leave between passes over the weights. Rows of answers go first, pieces of
// prompts fill the rest of a pass; who was served least gets room first. Nobody's tokens depend on who else is there.
#pragma once

#include <linnet.h>
#include <linnet_serve.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "disk_cache.h"
#include "served_model.h"

namespace server {

using Clock = std::chrono::steady_clock;
inline double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}
inline Refusal refusal_of(const linnet_error& err, int status, const char* code) { return {status, err.text, code, {}}; }

struct Drawn {
  int32_t token = -1;
  float logprob = 0;  // these two only where a job asks for them
  std::vector<std::pair<int32_t, float>> top;
};

enum class End {
  kEos,       // the model ended its answer
  kLength,    // max_tokens, the context, or a deadline
  kListener,  // the job said so
  kGone,      // nobody listens
  kFailed
};

struct Counts {
  size_t n_prompt = 0, n_cached = 0, n_drawn = 0;
  uint64_t n_passes = 0;  // from its coming until its first token
  double queue_ms = 0, prompt_ms = 0, drawing_ms = 0;
};

// What is to be done for a request. What is public is set before submit(); the virtual calls come on the scheduler's thread.
class Job {
 public:
  virtual ~Job() = default;

  std::vector<int32_t> prompt;  // at least one
  std::vector<size_t> keep;     // lengths of the prompt that others may have in common with it
  linnet_sampling sampling = {};
  size_t max_tokens = 0;  // 0: what the context leaves
  bool ignore_eos = false, cache = true;
  int n_logprobs = -1;             // -1: none are asked for
  std::vector<float> lora_scales;  // of the model's adapters, each its own
  bool adapted() const {
    return std::any_of(lora_scales.begin(), lora_scales.end(), [](float s) { return s != 0; });
  }
  std::shared_ptr<Grammar> grammar;
  bool grammar_of_calls = false;  // behind prompt_tail, which may have opened something
  std::string prompt_tail;
  bool grammar_waits = false;  // until grammar_begins() says that what is drawn from here on is the grammar's
  size_t key = 0;              // who asks
  double weight = 1;           // of this request's tokens against others'
  Clock::time_point deadline = Clock::time_point::max();

  // A token was drawn that is no end of generation. False: the answer ends with it.
  virtual bool on_token(const Drawn& drawn) = 0;
  virtual bool grammar_begins() { return false; }        // asked after each token while the grammar waits
  virtual void on_end(End end, const Refusal& why) = 0;  // once
  virtual bool on_prompt() { return true; }              // its prompt is computed

  std::atomic<bool> gone{false};    // nobody listens any more (Scheduler::look)
  std::atomic<bool> paused{false};  // no tokens are drawn meanwhile (Scheduler::look)
  Clock::time_point paused_at;      // whoever sets it to true, on the scheduler's thread, says when
  Counts counts;
};

struct SchedulerOptions {
  linnet_session_params session = {};
  size_t prefix_bytes = size_t{256} << 20;  // of the prefix cache; 0: none
  size_t max_queue = 64;                    // jobs that wait
  size_t max_queue_key = 0;                 // of one key; 0: no other limit
  size_t max_key = 0;                       // sequences of one key; 0: no limit but fairness
  std::chrono::seconds stalled{60};         // jobs that are paused for so long are dropped
  bool spare = true;                        // a sequence beside, for run()
  uint32_t rows =
      0;  // of prompts beside answers in a pass; 0: as many as let a pass take 1.85 times as long as without, 3 times in a flood
  std::vector<double> weights;      // of keys; those that are not said have 1
  std::shared_ptr<DiskCache> disk;  // behind the prefix cache; all models' may be one
};

class Scheduler {
 public:
  Scheduler() = default;
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Bytes that start() takes for this model.
  static bool plan(const Model& model, const SchedulerOptions& options, size_t* bytes, std::string* why);
  // shared (may be NULL): held during each pass, so that models that share a machine take turns.
  bool start(std::shared_ptr<Model> model, const SchedulerOptions& options, std::mutex* shared, std::string* why);
  // All of them or, with the reason, none. From any thread.
  bool submit(std::vector<std::shared_ptr<Job>> jobs, Refusal* why);
  // Something of a job's gone or paused changed. From any thread, and a listener's.
  void look();
  // Runs on the scheduler's thread between two passes, with the session and a sequence that is free for it (the last one). False, or
  // dropped later: the server stops.
  bool run(std::function<void(linnet_session*, uint32_t seq)> call);
  linnet_prefix* prefix() { return prefix_; }  // inside run() alone; NULL: there is none
  // To an empty sequence: run()'s inside run(). scales: by the adapters' ids; none: no adapters.
  linnet_status give_adapters(uint32_t seq, const std::vector<float>& scales, linnet_error* err);
  // No new jobs; waits for those that are there, at most so long, then drops them. Ends the thread.
  void stop(std::chrono::milliseconds wait);

  struct Slot {
    bool busy = false;
    size_t key = 0, n_tokens = 0, n_drawn = 0, n_prompt = 0;
  };
  struct Status {
    size_t waiting = 0, running = 0;
    std::vector<Slot> slots;
    uint64_t n_prompt_tokens = 0, n_cached_tokens = 0, n_drawn_tokens = 0, n_passes = 0, n_jobs = 0, n_refused = 0, n_cancelled = 0,
             n_failed = 0, n_preempted = 0, n_disk_tokens = 0, n_calls = 0;
    double pass_s = 0;
    size_t session_bytes = 0, prefix_bytes = 0, prefix_used = 0;
    std::string no_prefix;  // why there is no prefix cache
  };
  Status status() const;
  uint32_t n_context() const { return n_context_; }
  uint32_t n_sequences() const { return n_slots_; }
  // Sequences carry states: a prompt goes on from the lengths at which one was kept and from nowhere else.
  bool states() const { return states_; }
  const linnet_session_params& params() const { return options_.session; }

 private:
  struct Active {
    std::shared_ptr<Job> job;
    uint32_t seq = 0;
    std::vector<int32_t> tokens;   // the prompt and what was drawn
    size_t computed = 0;           // of them in the sequence
    size_t kept = 0;               // ... when the prefix cache was last asked to take them
    size_t grammar_at = SIZE_MAX;  // tokens before the grammar's text
    size_t reserved = 0;           // positions of the pool
    std::vector<size_t> keep;      // lengths at which the prefix cache takes it
    bool prompt_done = false, grammar_on = false, begun = false, over = false, skipped = false;
    std::shared_ptr<DiskCache::Reading> reading;  // what is to be taken from the disk before it is in any pass
    uint64_t order = 0, first_pass = 0;           // first_pass: there were so many before it came
    uint32_t rows = 0;                            // in the pass
    Clock::time_point came, started, prompted;
  };
  struct Key {
    double served = 0;  // tokens over weight, as a clock that goes on while it has work
    size_t waiting = 0, running = 0;
  };
  using Entry = std::unique_ptr<Active>;
  struct Keeping {  // what goes from the prefix cache to the disk, block by block
    std::vector<int32_t> tokens;
    size_t done = 0;
    DiskCache::Hash hash;  // of those
    int64_t when = 0;
  };

  // scheduler.cpp
  static linnet_session_params session_params(const Model& model, const SchedulerOptions& options);
  void work();
  void take_calls(std::unique_lock<std::mutex>* lock);
  void drop_gone(std::unique_lock<std::mutex>* lock);
  bool is_gone(const Job& job, Clock::time_point now) const;
  Clock::time_point ends(const Job& job) const;  // when something is to be done about it by itself
  void publish();
  // scheduler_queue.cpp
  Key& key_of(size_t key);
  double weight_of(size_t key) const;
  double share_of(size_t key) const;
  bool computed_elsewhere(const Active& a);
  size_t next_waiting() const;          // of waiting_, its size where none may begin
  size_t victim_for(size_t key) const;  // of active_, its size where nobody has more than a fair share
  void admit(std::unique_lock<std::mutex>* lock);
  void begin(Entry entry);
  size_t match(Active* a);
  void go_on(Active* a);
  void leave(Active* a);
  void finish(Active* a, End end, const Refusal& why);
  static void tell(Job* job, End end, const Refusal& why);
  void sweep();
  // scheduler_disk.cpp
  bool from_disk();
  bool to_disk();
  void flush_disk();
  void keep(Active* a);  // in the prefix cache, from where it goes to the disk
  // scheduler_pass.cpp
  uint32_t chunk() const { return options_.session.n_chunk ? options_.session.n_chunk : 256; }  // rows of a prompt at a time
  uint32_t prompt_rows(bool flood) const;
  bool pass();
  bool compute(const std::vector<linnet_rows>& rows, double* seconds);
  void after_pass(Active* a);
  void draw(Active* a);

  std::shared_ptr<Model> model_;
  SchedulerOptions options_;
  std::mutex* shared_ = nullptr;
  Memory session_memory_, prefix_memory_, echo_memory_;
  linnet_session* session_ = nullptr;
  linnet_prefix* prefix_ = nullptr;
  linnet_template* echo_ = nullptr;  // writes the text that it is given: what a prompt has opened, for linnet_grammar_begin
  std::vector<char> echo_program_;
  uint32_t n_context_ = 0, n_slots_ = 0;
  bool states_ = false;
  std::thread thread_;

  // the thread's own
  std::vector<Entry> active_;
  std::deque<Keeping> keeping_;
  std::shared_ptr<DiskCache::Bell> bell_;
  DiskCache::Hash model_hash_;
  std::deque<std::vector<int32_t>> recent_;  // prompts: what two have in common a third one may have, too
  size_t pool_ = 0, reserved_ = 0;
  bool cancel_left_ = false;  // a cancel may wait for the next call on the session
  struct Alone {
    double seconds = 0;   // a moving average
    uint32_t passes = 0;  // with prompts in them since one was measured
  };
  Alone alone_[32];                   // passes of 1, of 2 or 3, of 4 to 7, ... answers without prompts
  double rows_beside_[2] = {16, 16};  // of prompts beside answers, and of others' in a flood
  std::vector<linnet_rows> rows_;
  std::vector<Active*> in_pass_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_, ended_;
  std::deque<Entry> waiting_;   // in the order of coming; those that were preempted first
  std::vector<uint32_t> free_;  // sequences
  std::map<size_t, Key> keys_;
  double begun_at_ = 0;  // the clock of the key whose request began last
  uint64_t order_ = 0;
  std::deque<std::function<void(linnet_session*, uint32_t)>> calls_;
  std::vector<std::shared_ptr<Job>> computing_;  // jobs of the pass that runs
  bool looked_ = false, cancelled_ = false, stopping_ = false, dropping_ = false, over_ = true;
  Status status_;
};

}  // namespace server
