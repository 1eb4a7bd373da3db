// How threads share the work of a pass: every operation is cut into pieces, which they take as they come.
#pragma once
#include <atomic>
#include <cstdint>

namespace linnet {

uint64_t slow_ticks();  // nanoseconds
// A clock for short times, as cheap as this CPU has one.
inline uint64_t ticks_now() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t t;
  asm volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t;
#else
  return slow_ticks();
#endif
}

inline uint64_t ticks_since(uint64_t start) {
  const uint64_t now = ticks_now();
  return now > start ? now - start : 0;  // clocks of two cores may differ
}

// How long a thread looks at a word before it sleeps: until one of the two is used up.
struct Spin {
  uint32_t pauses;
  uint64_t ticks;
};

// The pieces of all operations of a pass, numbered in one row that every thread counts alike. A thread takes the next one that nobody has;
// behind a sync it goes on when all before are done. A thread that comes late finds the pieces taken and runs after the others; one that
// the machine stops holds up the piece that it has, and nothing else.
struct alignas(64) Tickets {
  std::atomic<uint32_t> taken{0};
  alignas(64) std::atomic<uint32_t> done{0};
  std::atomic<uint32_t> sleepers{0};  // threads that sleep until `done` has changed enough for them
  std::atomic<uint64_t> late{0};      // ticks of waits that outlasted their spin: somebody held a piece and was not run
  Spin spin{};                        // of every wait; a thread also spins as long as it computed itself before

  void reset() {
    taken.store(0, std::memory_order_relaxed);
    done.store(0, std::memory_order_relaxed);
    late.store(0, std::memory_order_relaxed);
  }
  // The next of pieces first .. first + count - 1 that is free; false: none. at: a guess of `taken`, no smaller than first.
  bool take(uint32_t first, uint32_t count, uint32_t at, uint32_t* piece);
  void finish(uint32_t n);
  // Until the pieces before `target` are done. *since: when the calling thread last went on; set anew.
  void wait(uint32_t target, uint64_t* since);
  // The same for a word that the holder of a piece waits for and the holder of an earlier one publishes.
  void await(std::atomic<uint32_t>& word, uint32_t value, uint64_t since);
  void publish(std::atomic<uint32_t>& word, uint32_t value);

 private:
  std::atomic<uint32_t> word_sleepers_{0};
  Spin spin_from(uint64_t since) const {
    const uint64_t computed = ticks_since(since);
    return {spin.pauses, computed > spin.ticks ? computed : spin.ticks};
  }
};

// One thread of those that compute a pass.
struct Member {
  uint32_t id = 0, n = 1;      // 0 <= id < n; n: how many the work is cut for, of which fewer may come
  Tickets* tickets = nullptr;  // of the pass; nullptr: one thread computes alone
  mutable uint32_t begun = 0;  // pieces of all operations so far; all threads begin the same operations in the same order
  mutable uint64_t since = 0;  // when this thread last came out of a sync
};

struct Share {
  uint32_t from, to;
};

// An operation's pieces, which threads take as they get done, since one core may be slower than another, or not there at all. How many
// there are is the same on every thread: it must not depend on what the pass computes. take() is called until it says false. A single
// thread takes all at once.
class Pieces {
 public:
  // `pieces` of n_items items: whole units but for the end of the last, the larger ones first.
  Pieces(const Member& w, uint32_t n_items, uint32_t items_a_unit, uint32_t pieces)
      : w_(w), n_(n_items), unit_(items_a_unit), count_(n_items ? pieces : 0), first_(w.begun) {
    if (w.tickets)
      w.begun += count_;
    else
      count_ = count_ ? 1 : 0;
  }
  Pieces(const Member& w, uint32_t n_items) : Pieces(w, n_items, 1, n_items) {}
  bool take(uint32_t* piece);
  bool take(Share* out);
  // What a piece is where there are n items after all, which only the pass itself knows; empty where there are more pieces than units.
  Share of(uint32_t piece, uint32_t n) const;

 private:
  const Member& w_;
  uint32_t n_, unit_, count_, first_;
  uint32_t mine_ = 0, next_ = 0;  // pieces that this thread has taken, and the one behind the last of them
};

// each(i) for rows, or what is as quick to do, in few pieces, since taking one costs about as much as a row.
template <class Each>
void for_rows(const Member& w, uint32_t m, Each each) {
  Pieces pieces(w, m, 1, m >= 8 * w.n ? 4 * w.n : m < w.n ? m : w.n);
  for (Share rows; pieces.take(&rows);)
    for (uint32_t i = rows.from; i < rows.to; ++i) each(i);
}
inline void sync(const Member& w) {
  if (w.tickets) w.tickets->wait(w.begun, &w.since);
}

}  // namespace linnet
