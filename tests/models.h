// Models and sessions for tests, over the public ABI alone.
#pragma once
#include <linnet_chat.h>
#include <linnet_device.h>

#include <cmath>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "runtime/convert/convert.h"
#include "tests/catch2.h"
#include "tests/data.h"

namespace test {

using Tokens = std::vector<int32_t>;
using Row = std::vector<float>;

inline void check(linnet_status status, const linnet_error& err) {
  INFO(linnet_status_text(status) << ": " << (status == LINNET_OK ? "" : err.text));
  REQUIRE(status == LINNET_OK);
}

// Memory of exactly the size asked for, so that ASan sees a byte too far.
struct Memory {
  void* p = nullptr;
  explicit Memory(size_t bytes, int fill = 0xA5) : p(::operator new((bytes + 63) / 64 * 64, std::align_val_t{64})) {
    std::memset(p, fill, bytes);
  }
  ~Memory() { ::operator delete(p, std::align_val_t{64}); }
  Memory(const Memory&) = delete;
};

struct Model {
  linnet::convert::Image image;  // packed; tests may damage it before open()
  std::unique_ptr<Memory> memory;
  linnet_model* m = nullptr;
  linnet_model_desc desc{};

  Model(const std::string& src, linnet_format weights, uint32_t isa = 0, bool open_now = true) {
    linnet::convert::Options options;
    options.weights = weights;
    linnet_error err{};
    check(linnet::convert::convert_to_memory(src, options, &image, &err), err);
    if (open_now) open(isa);
  }
  explicit Model(const linnet::convert::Image& packed) : image(packed) { open(0); }
  void open(uint32_t isa) {
    linnet_profile profile{};
    profile.size = sizeof profile;
    profile.isa = isa;
    open(profile);
  }
  void open(const linnet_profile& profile) {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    const linnet_view file = image.view();
    check(linnet_model_need(&file, &profile, &need, &err), err);
    memory = std::make_unique<Memory>(need.bytes);
    check(linnet_model_init(&m, memory->p, need.bytes, &file, &profile, &err), err);
    desc.size = sizeof desc;
    REQUIRE(linnet_model_info(m, &desc, nullptr) == LINNET_OK);
  }
  ~Model() {
    linnet_model_fini(m);
    linnet::convert::image_free(&image);
  }
  Model(const Model&) = delete;
};

inline linnet_session_params params(uint32_t kv = 0, uint32_t threads = 1, uint32_t chunk = 0, uint32_t n_logits = 0, uint32_t context = 0,
                                    uint32_t rope_length = 0) {
  linnet_session_params p{};
  p.size = sizeof p;
  p.k_format = kv;
  p.n_threads = threads;
  p.n_chunk = chunk;
  p.n_logits = n_logits;
  p.n_context = context;
  p.rope_length = rope_length;
  p.spin = 300;  // tests run beside each other: who waits for long keeps others from running
  return p;
}

inline linnet_sampling sampling(float temperature = 0, uint64_t seed = 0) {
  linnet_sampling s{.size = sizeof s};
  REQUIRE(linnet_sampling_init(&s, nullptr) == LINNET_OK);
  s.temperature = temperature;
  s.seed = seed;
  return s;
}

struct Session {
  std::unique_ptr<Memory> memory;
  size_t bytes = 0;
  linnet_session* s = nullptr;
  const Model& model;

  Session(const Model& of, const linnet_session_params& p, int fill = 0xA5) : model(of) {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    check(linnet_session_need(of.m, &p, &need, &err), err);
    bytes = need.bytes;
    memory = std::make_unique<Memory>(bytes, fill);
    check(linnet_session_init(&s, memory->p, bytes, of.m, &p, &err), err);
  }
  ~Session() { linnet_session_fini(s); }
  Session(const Session&) = delete;

  void prefill(const Tokens& t) {
    linnet_error err{};
    check(linnet_prefill(s, 0, t.data(), t.size(), &err), err);
  }
  int32_t decode() {
    linnet_error err{};
    int32_t token = -1;
    check(linnet_decode(s, 0, &token, &err), err);
    return token;
  }
  Row logits(uint32_t back = 0) const {
    const float* p = nullptr;
    size_t n = 0;
    REQUIRE(linnet_logits(s, 0, back, &p, &n, nullptr) == LINNET_OK);
    return Row(p, p + n);
  }
  size_t length() const {
    size_t n = 0;
    REQUIRE(linnet_length(s, 0, &n, nullptr) == LINNET_OK);
    return n;
  }
};

// Logits of every token, from one prefill call.
inline std::vector<Row> all_logits(const Model& model, const Tokens& tokens, uint32_t kv, uint32_t threads = 1) {
  const uint32_t n = static_cast<uint32_t>(tokens.size());
  Session session(model, params(kv, threads, n, n, n));
  session.prefill(tokens);
  std::vector<Row> rows;
  for (uint32_t i = 0; i < n; ++i) rows.push_back(session.logits(n - 1 - i));
  return rows;
}

inline double log_sum_exp(const Row& x) {
  double top = static_cast<double>(x[0]), sum = 0;
  for (const float v : x) top = std::max(top, static_cast<double>(v));
  for (const float v : x) sum += std::exp(static_cast<double>(v) - top);
  return top + std::log(sum);
}
// KL(p || q) in nats of two rows of logits.
inline double kl(const Row& p, const Row& q) {
  const double zp = log_sum_exp(p), zq = log_sum_exp(q);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double lp = static_cast<double>(p[i]) - zp;
    sum += std::exp(lp) * (lp - (static_cast<double>(q[i]) - zq));
  }
  return sum;
}
inline double mean_kl(const std::vector<Row>& p, const std::vector<Row>& q) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += kl(p[i], q[i]);
  return sum / static_cast<double>(p.size());
}
// Largest |a - b| over the largest |a|.
inline double max_error(const std::vector<Row>& a, const std::vector<Row>& b) {
  double error = 0, top = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].size(); ++j) {
      top = std::max(top, std::fabs(static_cast<double>(a[i][j])));
      error = std::max(error, std::fabs(static_cast<double>(a[i][j]) - static_cast<double>(b[i][j])));
    }
  return error / top;
}
inline bool same_bytes(const Row& a, const Row& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0; }

// Mean negative log-likelihood of tokens 1..n-1.
inline double mean_nll(const std::vector<Row>& logits, const Tokens& tokens) {
  double sum = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i)
    sum += log_sum_exp(logits[i]) - static_cast<double>(logits[i][static_cast<size_t>(tokens[i + 1])]);
  return sum / static_cast<double>(tokens.size() - 1);
}

inline Tokens tokenize(const Model& model, const std::string& text, uint32_t flags = LINNET_ADD_SPECIAL | LINNET_PARSE_SPECIAL) {
  linnet_error err{};
  size_t need = 0, n = 0;
  REQUIRE(linnet_tokenize_need(model.m, text.size(), &need, nullptr) == LINNET_OK);
  std::vector<char> scratch(need + 1);
  Tokens out(3 * text.size() + 8);
  check(linnet_tokenize(model.m, text.data(), text.size(), flags, scratch.data(), need, out.data(), out.size(), &n, &err), err);
  out.resize(n);
  return out;
}
inline std::string detokenize(const Model& model, const Tokens& tokens) {
  linnet_error err{};
  size_t n = 0;
  const linnet_status sized = linnet_detokenize(model.m, tokens.data(), tokens.size(), 0, nullptr, 0, &n, &err);
  REQUIRE((sized == LINNET_OK || sized == LINNET_TOO_SMALL));
  std::string text(n, '\0');
  check(linnet_detokenize(model.m, tokens.data(), tokens.size(), 0, text.data(), n, &n, &err), err);
  return text;
}

// Threads of an app, which has its own use for them: a round takes as many as `grant` says, at most.
class AppPool {
 public:
  explicit AppPool(uint32_t n) {
    for (uint32_t i = 1; i < n; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~AppPool() {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  AppPool(const AppPool&) = delete;

  uint32_t (*grant)(uint32_t round, uint32_t n) = [](uint32_t, uint32_t n) { return n; };
  uint32_t rounds = 0;
  static void parallel_for(void* user, uint32_t n, linnet_share_fn share, void* arg) { static_cast<AppPool*>(user)->run(n, share, arg); }

 private:
  void run(uint32_t n, linnet_share_fn share, void* arg) {
    const uint32_t k = std::min(grant(rounds++, n), static_cast<uint32_t>(threads_.size()) + 1);
    if (k == 0) return;
    {
      const std::lock_guard lock(mutex_);
      share_ = share, arg_ = arg, k_ = k, left_ = k - 1;
      ++round_;
    }
    wake_.notify_all();
    share(arg, 0, k);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return left_ == 0; });
  }
  void work(uint32_t i) {
    std::unique_lock lock(mutex_);
    for (uint64_t seen = 0;;) {
      wake_.wait(lock, [&] { return quit_ || round_ != seen; });
      if (quit_) return;
      seen = round_;
      if (i >= k_) continue;
      const auto share = share_;
      void* const arg = arg_;
      const uint32_t k = k_;
      lock.unlock();
      share(arg, i, k);
      lock.lock();
      if (--left_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  linnet_share_fn share_ = nullptr;
  void* arg_ = nullptr;
  uint32_t k_ = 0, left_ = 0;
  uint64_t round_ = 0;
  bool quit_ = false;
  std::vector<std::thread> threads_;
};

// What the assistant's model is asked where KV formats are compared: 135 tokens, so that no single one decides.
inline std::string assistant_requests() {
  std::string out;
  for (const char* what : {"ten minutes", "a quarter of an hour", "half past seven", "twenty seconds", "tomorrow morning"})
    out += std::string("<|user|>set a timer for ") + what +
           " and another one for a quarter of an hour and turn the lights off in the kitchen please";
  return out;
}

// Tiers that this machine runs, weakest first. LINNET_TEST_TIER names one, where a second build differs from the first in that alone; none
// are left where the machine does not run it.
inline std::vector<linnet_isa> tiers() {
  std::vector<linnet_isa> out;
  const char* const only = std::getenv("LINNET_TEST_TIER");
  for (int i = LINNET_ISA_SCALAR; linnet_isa_name(static_cast<linnet_isa>(i)); ++i) {
    const linnet_isa isa = static_cast<linnet_isa>(i);
    if (only && std::strcmp(only, linnet_isa_name(isa)) != 0) continue;
    linnet_profile p{};
    p.size = sizeof p;
    p.isa = isa;
    linnet_isa picked = LINNET_ISA_AUTO;
    linnet_error err{};
    if (linnet_isa_pick(&p, &picked, &err) == LINNET_OK)
      out.push_back(picked);
    else
      std::printf("skipped: tier %s: %s\n", linnet_isa_name(isa), err.text);
  }
  return out;
}

}  // namespace test
