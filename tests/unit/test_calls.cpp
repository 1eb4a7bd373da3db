// Every call where an app goes too far: counts that no memory holds, a session of before a fork, calls from inside a call, little stack.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>

#include "runtime/model.h"
#include "tests/templates.h"

using namespace test;

namespace {

const Tokens kPrompt = {1, 5, 9, 13, 17, 21};

// A model with a tokenizer.
struct Mapped {
  linnet_view view{};
  Mapped() {
    linnet_error err{};
    check(linnet_file_map("examples/assistant/model/linnet-assistant.gguf", LINNET_LOAD_MAP, &view, &err), err);
  }
  ~Mapped() { linnet_file_unmap(&view); }
  Mapped(const Mapped&) = delete;
};

// An object with a need and an init of its own, in memory of exactly that size.
template <class T>
struct Made {
  std::unique_ptr<Memory> memory;
  size_t bytes = 0;
  T* p = nullptr;
  template <class Init>
  Made(linnet_status (*need)(linnet_need*, linnet_error*), Init init) {
    linnet_error err{};
    linnet_need n{.size = sizeof n};
    check(need(&n, &err), err);
    bytes = n.bytes;
    memory = std::make_unique<Memory>(bytes);
    check(init(&p, memory->p, bytes, &err), err);
  }
  T* operator->() const { return p; }
  operator T*() const { return p; }
};
using Board = Made<linnet_board>;
using Sensors = Made<linnet_sensors>;
using Power = Made<linnet_power>;
Board this_board() {
  return Board(linnet_board_need,
               [](auto out, void* mem, size_t n, linnet_error* e) { return linnet_board_init(out, mem, n, nullptr, e); });
}
Sensors its_sensors() {
  return Sensors(linnet_sensors_need,
                 [](auto out, void* mem, size_t n, linnet_error* e) { return linnet_sensors_init(out, mem, n, nullptr, e); });
}
Power governor(const linnet_power_params& p, const linnet_profile* profile = nullptr) {
  return Power(linnet_power_need,
               [&](auto out, void* mem, size_t n, linnet_error* e) { return linnet_power_init(out, mem, n, profile, &p, e); });
}

// A chat template, compiled and ready.
constexpr char kTalk[] = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}";
constexpr char kConversation[] = R"({"messages":[{"role":"user","content":"set a timer for ten minutes"}]})";
linnet_session_params two_sequences(uint32_t threads = 1, uint32_t kind = LINNET_THREADS_OWN) {
  auto p = params(LINNET_I8, threads, 8, 1, 128);
  p.threads = kind;
  p.n_sequences = 2;
  return p;
}

using Statuses = std::map<std::string, linnet_status>;

// Every call on a session that returns a status, with arguments that are right. Nothing is asserted here: it runs in callbacks and child
// processes too.
Statuses every_call(linnet_session* s, const std::vector<uint8_t>& state) {
  Statuses out;
  const char* purpose = nullptr;
  const float* logits = nullptr;
  size_t n = 0;
  int32_t token = 0;
  std::vector<uint8_t> saved(1 << 20);
  linnet_sampling drawing{};
  drawing.size = sizeof drawing;
  linnet_stats stats{};
  stats.size = sizeof stats;
  linnet_generate_params g{};
  g.size = sizeof g;
  g.max_tokens = 1;
  linnet_generated end{.size = sizeof end};
  const linnet_rows rows = {sizeof rows, 0, kPrompt.size(), kPrompt.data()};
  const std::string path = "/tmp/linnet-test-calls-" + std::to_string(getpid());
  out["memory"] = linnet_session_memory(s, 0, &purpose, &n, nullptr);
  linnet_session_params as_made{.size = sizeof as_made};
  out["info"] = linnet_session_info(s, &as_made, nullptr);
  out["length"] = linnet_length(s, 0, &n, nullptr);
  out["tokens"] = linnet_tokens(s, 0, 0, nullptr, 0, &n, nullptr);
  if (out["tokens"] == LINNET_TOO_SMALL) out["tokens"] = LINNET_OK;  // it has told how many
  out["stats_get"] = linnet_stats_get(s, &stats, nullptr);
  out["sampling_get"] = linnet_sampling_get(s, 0, &drawing, nullptr);
  out["prefill"] = linnet_prefill(s, 0, kPrompt.data(), kPrompt.size(), nullptr);
  out["prefill_batch"] = linnet_prefill_batch(s, &rows, 1, nullptr);
  out["logits"] = linnet_logits(s, 0, 0, &logits, &n, nullptr);
  out["logprobs"] = linnet_logprobs(s, 0, 0, 0, nullptr, 0, nullptr, nullptr, nullptr);
  out["sample"] = linnet_sample(s, 0, &token, nullptr);
  out["decode"] = linnet_decode(s, 0, &token, nullptr);
  out["generate"] = linnet_generate(s, 0, &g, nullptr, nullptr, &end, nullptr);
  out["generate_begin"] = linnet_generate_begin(s, 0, &g, nullptr);
  out["generate_next"] = linnet_generate_next(s, 0, &end, nullptr);
  out["fork"] = linnet_fork(s, 0, 1, 1, nullptr);
  out["truncate"] = linnet_truncate(s, 0, 1, nullptr);
  out["sampling_set"] = linnet_sampling_set(s, 0, nullptr, nullptr);
  out["grammar_set"] = linnet_grammar_set(s, 0, nullptr, nullptr);
  out["state_need"] = linnet_state_need(s, 0, &n, nullptr);
  out["state_save"] = linnet_state_save(s, 0, saved.data(), saved.size(), &n, nullptr);
  out["state_load"] = linnet_state_load(s, 0, state.data(), state.size(), nullptr);
  out["state_save_file"] = linnet_state_save_file(s, 0, path.c_str(), nullptr);
  out["state_load_file"] = linnet_state_load_file(s, 0, path.c_str(), nullptr);
  out["power_set"] = linnet_power_set(s, nullptr, nullptr);
  out["threads_set"] = linnet_threads_set(s, 1, nullptr);
  unlink(path.c_str());
  return out;
}

std::vector<uint8_t> saved(const Session& s) {
  size_t n = 0;
  linnet_error err{};
  check(linnet_state_need(s.s, 0, &n, &err), err);
  std::vector<uint8_t> out(n);
  check(linnet_state_save(s.s, 0, out.data(), n, &n, &err), err);
  return out;
}

// Those that gave something else than LINNET_BAD_STATE.
std::string let_through(const Statuses& all) {
  std::string out;
  for (const auto& [name, status] : all)
    if (status != LINNET_BAD_STATE) out += name + (status == LINNET_OK ? " " : "? ");
  return out;
}

}  // namespace

TEST_CASE("counts are held against their bounds before anything is read") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  for (uint32_t when = LINNET_FULL_STOP; when <= LINNET_FULL_SNAPKV; ++when) {
    auto p = two_sequences();
    p.when_full = when;
    Session s(model, p);
    s.prefill(kPrompt);
    const auto before = saved(s);
    for (const size_t n :
         {SIZE_MAX, SIZE_MAX / sizeof(int32_t), size_t{1} << 31, size_t{1} << 30,
          sizeof(size_t) > 4 ? static_cast<size_t>((uint64_t{1} << 32) + kPrompt.size()) : SIZE_MAX}) {  // the last: few in 32 bits
      INFO("when_full " << when << ", n " << n);
      linnet_error err{};
      const linnet_rows rows[] = {{sizeof *rows, 1, 1, kPrompt.data()}, {sizeof *rows, 0, n, kPrompt.data()}};
      CHECK(linnet_prefill(s.s, 0, kPrompt.data(), n, &err) == LINNET_CONTEXT_FULL);
      CHECK(linnet_prefill_batch(s.s, rows, 2, &err) == LINNET_CONTEXT_FULL);
      CHECK(linnet_truncate(s.s, 0, n, nullptr) == LINNET_BAD_ARG);
      CHECK(linnet_fork(s.s, 0, 1, n, &err) == LINNET_BAD_ARG);
      CHECK(linnet_state_load(s.s, 0, before.data(), n, &err) == LINNET_BAD_FILE);
      size_t length = 0;
      CHECK(linnet_state_length(before.data(), n, &length, &err) == LINNET_BAD_FILE);
    }
    linnet_error err{};
    size_t row_n = 0;
    const linnet_rows row = {sizeof row, 0, 1, kPrompt.data()};
    CHECK(linnet_prefill_batch(s.s, &row, UINT32_MAX, &err) == LINNET_BAD_ARG);
    const char* const stop = "x";
    linnet_generate_params g{};
    g.size = sizeof g;
    g.n_stop = UINT32_MAX;
    g.stop = &stop;
    linnet_generated end{.size = sizeof end};
    CHECK(linnet_generate(s.s, 0, &g, nullptr, nullptr, &end, &err) == LINNET_BAD_ARG);
    CHECK(linnet_generate_begin(s.s, 0, &g, &err) == LINNET_BAD_ARG);
    CHECK(linnet_tokens(s.s, 0, SIZE_MAX, nullptr, 0, &row_n, &err) == LINNET_BAD_ARG);
    const float* logits = nullptr;
    size_t n = 0;
    CHECK(linnet_logits(s.s, 0, UINT32_MAX, &logits, &n, nullptr) == LINNET_BAD_ARG);
    CHECK(linnet_session_memory(s.s, UINT32_MAX, g.stop ? const_cast<const char**>(&stop) : nullptr, &n, nullptr) == LINNET_BAD_ARG);
    CHECK((saved(s) == before));
  }
  auto p = two_sequences();
  const linnet_kv_layers layer = {sizeof layer, 0, 0, LINNET_F16, 0};
  p.kv_layers = &layer;
  p.n_kv_layers = UINT32_MAX;
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);
  linnet_measurement m{};
  m.size = sizeof m;
  CHECK(linnet_measure(nullptr, 1, kPrompt.data(), SIZE_MAX, &m, &err) == LINNET_BAD_ARG);
  CHECK(linnet_measure(nullptr, UINT32_MAX, nullptr, 0, &m, &err) == LINNET_BAD_ARG);
  CHECK(linnet_mem_alloc(SIZE_MAX) == nullptr);

  const Mapped file;
  linnet_model* text = nullptr;
  check(linnet_model_need(&file.view, nullptr, &need, &err), err);
  const Memory memory(need.bytes);
  check(linnet_model_init(&text, memory.p, need.bytes, &file.view, nullptr, &err), err);
  const std::string hello = "hello";
  size_t scratch = 0, n = 0;
  for (const size_t bytes : {SIZE_MAX, (size_t{1} << 27) + 1}) {
    CHECK(linnet_tokenize_need(text, bytes, &scratch, &err) == LINNET_BAD_ARG);
    CHECK(std::strstr(err.text, std::to_string(bytes).c_str()));
    CHECK(linnet_tokenize(text, hello.data(), bytes, 0, &n, SIZE_MAX, nullptr, 0, &n, &err) == LINNET_BAD_ARG);
  }
  CHECK(linnet_detokenize(text, kPrompt.data(), SIZE_MAX, 0, nullptr, 0, &n, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, "n_tokens is"));

  const Board board = this_board();
  linnet_cluster cluster{.size = sizeof cluster};
  linnet_cache cache{.size = sizeof cache};
  linnet_zone zone{.size = sizeof zone};
  CHECK(linnet_board_cluster(board, UINT32_MAX, &cluster, &err) == LINNET_BAD_ARG);
  CHECK(linnet_board_cache(board, UINT32_MAX, &cache, &err) == LINNET_BAD_ARG);
  CHECK(linnet_board_zone(board, UINT32_MAX, &zone, &err) == LINNET_BAD_ARG);
  linnet_model_fini(text);
}

TEST_CASE("a fork of nothing is an empty sequence, whatever the other one has dropped") {
  const Model model("tests/golden/qwen2-window", LINNET_I8G64);
  for (uint32_t when = LINNET_FULL_STOP; when <= LINNET_FULL_SNAPKV; ++when) {
    auto p = two_sequences(2);
    p.n_context = 64;
    p.when_full = when;
    if (when != LINNET_FULL_SINKS) p.n_keep = 16;
    Session s(model, p), fresh(model, p);
    Tokens tokens;
    for (int32_t i = 0; i < 64; ++i) tokens.push_back(i * 7 % 50);
    linnet_error err{};
    s.prefill(tokens);
    for (int i = 0; i < 6 && when != LINNET_FULL_STOP && when != LINNET_FULL_SNAPKV; ++i) s.prefill(kPrompt);  // past n_context
    check(linnet_fork(s.s, 0, 1, 0, &err), err);
    const auto before = saved(s);
    check(linnet_prefill(s.s, 1, tokens.data(), tokens.size(), &err), err);
    check(linnet_prefill(fresh.s, 1, tokens.data(), tokens.size(), &err), err);
    const float *a = nullptr, *b = nullptr;
    size_t n = 0;
    REQUIRE(linnet_logits(s.s, 1, 0, &a, &n, nullptr) == LINNET_OK);
    REQUIRE(linnet_logits(fresh.s, 1, 0, &b, &n, nullptr) == LINNET_OK);
    INFO("when_full " << when);
    CHECK(std::memcmp(a, b, n * sizeof *a) == 0);
    CHECK((saved(s) == before));
  }
}

TEST_CASE("a ladder that changes while it governs asks for no more threads than there are") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  Session s(model, two_sequences(2));
  linnet_power_params of_power{.size = sizeof of_power, .n_threads = 2};
  Power power = governor(of_power);
  linnet_error err{};
  check(linnet_power_set(s.s, power, &err), err);
  s.prefill(kPrompt);
  of_power.n_threads = 256;
  check(linnet_power_init(&power.p, power.memory->p, power.bytes, nullptr, &of_power, &err), err);
  for (int i = 0; i < 3; ++i) s.decode();
  linnet_stats stats{};
  stats.size = sizeof stats;
  REQUIRE(linnet_stats_get(s.s, &stats, nullptr) == LINNET_OK);
  CHECK(stats.n_threads == 2);
}

TEST_CASE("after a fork of the process a session is refused by every call, and a new one works") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  for (const uint32_t kind : {LINNET_THREADS_OWN, LINNET_THREADS_DEFAULT}) {
    Session s(model, two_sequences(2, kind));
    s.prefill(kPrompt);
    const Row want = s.logits();
    const auto state = saved(s);
    for (const auto& [name, status] : every_call(s.s, state)) {  // they all work here
      INFO(name);
      CHECK(status == LINNET_OK);
    }
    REQUIRE(linnet_truncate(s.s, 0, 0, nullptr) == LINNET_OK);
    s.prefill(kPrompt);
    int result[2];
    REQUIRE(pipe(result) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(60);  // a hang
      std::string wrong = let_through(every_call(s.s, state));
      linnet_error err{};
      if (linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), &err) != LINNET_BAD_STATE || !std::strstr(err.text, "after a fork"))
        wrong += "text ";
      if (linnet_stats_reset(s.s, nullptr) != LINNET_BAD_STATE) wrong += "stats_reset ";
      linnet_cancel(s.s);
      linnet_session_fini(s.s);
      auto p = two_sequences(kSlow ? 1 : 2);  // ThreadSanitizer and qemu start no threads after a fork
      linnet_need need{.size = sizeof need};
      linnet_session* own = nullptr;
      if (linnet_session_need(model.m, &p, &need, &err) != LINNET_OK) wrong += "need ";
      const Memory memory(need.bytes);
      if (linnet_session_init(&own, memory.p, need.bytes, model.m, &p, &err) != LINNET_OK) wrong += "init ";
      const float* logits = nullptr;
      size_t n = 0;
      if (linnet_prefill(own, 0, kPrompt.data(), kPrompt.size(), &err) != LINNET_OK ||
          linnet_logits(own, 0, 0, &logits, &n, nullptr) != LINNET_OK || std::memcmp(logits, want.data(), n * sizeof *logits))
        wrong += "new session ";
      linnet_session_fini(own);
      if (write(result[1], wrong.data(), wrong.size()) != static_cast<ssize_t>(wrong.size())) _exit(1);
      _exit(0);
    }
    close(result[1]);
    std::string wrong(4096, '\0');
    const ssize_t n = read(result[0], wrong.data(), wrong.size());
    close(result[0]);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK(wrong.substr(0, static_cast<size_t>(n)) == "");
    CHECK(same_bytes(s.logits(), want));  // nothing happened here
    CHECK(s.decode() >= 0);
  }
}

TEST_CASE("a session whose threads do not start gives back what its backend had") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  auto p = params(LINNET_I8, 2, 8, 1, 64);
  p.threads = LINNET_THREADS_OPENMP;
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  if (linnet_session_need(model.m, &p, &need, &err) == LINNET_UNSUPPORTED) {
    std::printf("skipped: a build without OpenMP\n");
    return;
  }
  {
    const Session s(model, p);  // from now on OpenMP starts no threads after a fork
  }
  static uint32_t started, stopped;
  linnet::Backend counting = linnet::cpu_backend;
  counting.start = [](void*, void*, linnet::Footprint*, linnet::Error*) { return ++started, LINNET_OK; };
  counting.stop = [](void*) { ++stopped; };
  model.m->backend = &counting;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // a hang
    const Memory memory(need.bytes);
    linnet_session* s = nullptr;
    const linnet_status status = linnet_session_init(&s, memory.p, need.bytes, model.m, &p, &err);
    _exit(status != LINNET_UNSUPPORTED || s ? 1 : started != 1 ? 2 : stopped != 1 ? 3 : 0);
  }
  model.m->backend = &linnet::cpu_backend;
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a callback that forks: what comes back in the child stops there") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  Session s(model, two_sequences(2));
  s.prefill(kPrompt);
  struct Forked {
    pid_t child = -1;
    int calls = 0;
  } forked;
  const auto fn = [](void* user, int32_t, const char*, size_t) {
    Forked& f = *static_cast<Forked*>(user);
    if (++f.calls == 2) f.child = fork();
    return 0;
  };
  linnet_generate_params g{};
  g.size = sizeof g;
  g.max_tokens = 6;
  g.ignore_eos = 1;
  linnet_generated end{.size = sizeof end};
  linnet_error err{};
  const pid_t parent = getpid();
  const linnet_status status = linnet_generate(s.s, 0, &g, fn, &forked, &end, &err);
  if (getpid() != parent) {
    linnet_session_fini(s.s);
    _exit(end.why == LINNET_STOP_CALLBACK ? 0 : 1);
  }
  check(status, err);
  CHECK(forked.calls == 6);
  int exited = -1;
  REQUIRE(waitpid(forked.child, &exited, 0) == forked.child);
  CHECK((WIFEXITED(exited) && WEXITSTATUS(exited) == 0));
}

TEST_CASE("from inside a call a session is refused by all calls but those that only look") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  struct Inside {
    linnet_session* s = nullptr;
    const std::vector<uint8_t>* state = nullptr;
    std::string through;
    int calls = 0;
    void look() {
      if (calls++) return;
      through = let_through(every_call(s, *state));
      if (linnet_stats_reset(s, nullptr) != LINNET_OK) through += "no stats_reset ";
      linnet_session_fini(s);  // does nothing
    }
  };
  const std::string only_look = "info length memory sampling_get stats_get tokens ";
  const auto like_plain = [&](const Session& s) {
    Session plain(model, two_sequences());
    plain.prefill(kPrompt);
    linnet_error err{};
    check(
        linnet_truncate(s.s, 0, 0, nullptr) == LINNET_OK ? linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), &err) : LINNET_BAD_STATE,
        err);
    CHECK(same_bytes(s.logits(), plain.logits()));
  };
  linnet_error err{};
  {  // the callback of a generation
    Session s(model, two_sequences(2));
    s.prefill(kPrompt);
    const auto state = saved(s);
    Inside inside{s.s, &state, {}, 0};
    linnet_generate_params g{};
    g.size = sizeof g;
    g.max_tokens = 5;
    g.ignore_eos = 1;
    linnet_generated end{.size = sizeof end};
    const auto fn = [](void* user, int32_t, const char*, size_t) { return static_cast<Inside*>(user)->look(), 0; };
    check(linnet_generate(s.s, 0, &g, fn, &inside, &end, &err), err);
    CHECK((inside.calls == 5 && inside.through == "info length memory sampling_get stats_get threads_set tokens "));
    CHECK(s.length() == kPrompt.size() + 5);
    // A cancel is for the generation that runs.
    const auto cancel = [](void* user, int32_t, const char*, size_t) { return linnet_cancel(static_cast<linnet_session*>(user)), 0; };
    check(linnet_generate(s.s, 0, &g, cancel, s.s, &end, &err), err);
    CHECK(end.why == LINNET_STOP_CANCEL);
    like_plain(s);
  }
  {  // the governor's
    Session s(model, two_sequences(2));
    s.prefill(kPrompt);
    const auto state = saved(s);
    Inside inside{s.s, &state, {}, 0};
    const Sensors sensors = its_sensors();
    const linnet_reading hot{.size = sizeof hot, .has = LINNET_HAS_TEMPERATURE, .temperature = 99, .time_ns = 1};
    check(linnet_sensors_report(sensors, &hot, &err), err);
    const Power power = governor({.size = sizeof(linnet_power_params),
                                  .n_threads = 2,
                                  .temperature_limit = 50,
                                  .sensors = sensors,
                                  .fn = [](void* user, const linnet_power_state*) { static_cast<Inside*>(user)->look(); },
                                  .user = &inside});
    check(linnet_power_set(s.s, power, &err), err);
    s.decode();
    CHECK((inside.calls == 1 && inside.through == only_look));
    check(linnet_power_set(s.s, nullptr, &err), err);
    like_plain(s);
  }
  {  // the app's threads
    Inside inside;
    auto p = two_sequences(2, LINNET_THREADS_APP);
    p.parallel_for_user = &inside;
    p.parallel_for = [](void* user, uint32_t, linnet_share_fn share, void* arg) {
      static_cast<Inside*>(user)->look();
      share(arg, 0, 1);
    };
    inside.calls = 1;  // not yet
    Session s(model, p);
    s.prefill(kPrompt);
    const auto state = saved(s);
    inside = {s.s, &state, {}, 0};
    s.decode();
    CHECK(inside.calls >= 1);
    CHECK(inside.through == only_look);
    like_plain(s);
  }
}

namespace {

// Bytes of stack that fn takes: it runs on a thread whose stack was painted before.
size_t stack_of(const std::function<void()>& fn) {
  constexpr size_t kBytes = size_t{1} << 20;
  constexpr uint8_t kPaint = 0xC7;
  uint8_t* const stack = static_cast<uint8_t*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(stack != MAP_FAILED);
  std::memset(stack, kPaint, kBytes);
  struct Job {
    const std::function<void()>& fn;
    uint8_t* top;
  } job{fn, nullptr};
  pthread_attr_t attr;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attr) == 0);
  REQUIRE(pthread_attr_setstack(&attr, stack, kBytes) == 0);
  REQUIRE(pthread_create(
              &thread, &attr,
              [](void* p) -> void* {
                Job& j = *static_cast<Job*>(p);
                j.top = static_cast<uint8_t*>(__builtin_frame_address(0));
                j.fn();
                return nullptr;
              },
              &job) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attr);
  const uint8_t* low = stack;
  while (*low == kPaint) ++low;
  const size_t used = static_cast<size_t>(job.top - low);
  munmap(stack, kBytes);
  return used;
}

constexpr size_t kNeedStack = size_t{64} << 10, kStack = size_t{192} << 10;  // as linnet.h says

}  // namespace

TEST_CASE("stack: every call within what the manual says") {
  if (kSanitized) {
    std::printf("skipped: sanitizers keep their own things on the stack\n");
    return;
  }
  size_t most = 0;
  const char* of = "";
  linnet_error err{};
  const auto within = [&](const char* name, size_t limit, const std::function<linnet_status()>& fn, linnet_status want = LINNET_OK) {
    linnet_status status = LINNET_OK;
    const size_t used = stack_of([&] { status = fn(); });
    INFO(name << ": " << err.text);
    CHECK(status == want);
    CHECK(used < limit);
    if (std::getenv("LINNET_TEST_FULL")) std::printf("%6zu %s\n", used, name);
    if (used > most) most = used, of = name;
  };
  // What the paint measures.
  CHECK(stack_of([] {}) < 4096);  // the end of a thread, which differs by libc
  CHECK(stack_of([] {
          volatile uint8_t room[100000];
          for (volatile uint8_t& b : room) b = 1;
        }) >= 100000);

  linnet_profile profile{};
  profile.size = sizeof profile;
  Board board = this_board();
  Sensors sensors = its_sensors();
  const linnet_power_params two_threads{.size = sizeof two_threads, .n_threads = 2};
  Power power = governor(two_threads);
  linnet_board_desc of_board{.size = sizeof of_board};
  linnet_reading reading{.size = sizeof reading};
  linnet_power_state state_of_power{.size = sizeof state_of_power};
  linnet_measurement measured{};
  measured.size = sizeof measured;
  linnet_cpus cpus{};
  linnet_isa isa = LINNET_ISA_AUTO;
  within("board_init", kStack, [&] { return linnet_board_init(&board.p, board.memory->p, board.bytes, nullptr, &err); });
  within("board_info", kStack, [&] { return linnet_board_info(board, &of_board, &err); });
  within("profile_fit", kStack, [&] { return linnet_profile_fit(&profile, board, &err); });
  within("cpus_parse", kStack, [&] { return linnet_cpus_parse("0-3,6", &cpus, &err); });
  within("isa_pick", kStack, [&] { return linnet_isa_pick(nullptr, &isa, &err); });
  within("sensors_init", kStack, [&] { return linnet_sensors_init(&sensors.p, sensors.memory->p, sensors.bytes, nullptr, &err); });
  within("sensors_read", kStack, [&] { return linnet_sensors_read(sensors, 0, &reading, &err); });
  within("power_init", kStack, [&] { return linnet_power_init(&power.p, power.memory->p, power.bytes, nullptr, &two_threads, &err); });
  within("power_step", kStack, [&] { return linnet_power_step(power, 1, 1000, &state_of_power, &err); });
  within("measure", kStack, [&] { return linnet_measure(nullptr, 1, nullptr, 0, &measured, &err); });

  const std::string tools =
      R"([{"name":"act","parameters":{"type":"object","properties":{"what":{"type":"string"},"n":{"type":"integer"}}}}])";
  std::vector<char> blob(1 << 16);
  size_t n_blob = 0;
  check(linnet_grammar_compile(nullptr, tools.data(), tools.size(), nullptr, LINNET_GRAMMAR_TEXT_OR_CALL, blob.data(), blob.size(), &n_blob,
                               &err),
        err);
  // Templates: as deep as they may go, by calls that a filter, a loop's filter and a recursive loop make of one another.
  {
    const auto nested = [](const std::string& open, const std::string& close) {
      std::string out;
      for (int i = 0; i < 24; ++i) out += open;
      out += "1";
      for (int i = 0; i < 24; ++i) out += close;
      return out;
    };
    const std::string macro = "{% macro f(n) %}{% if n %}";
    const std::string texts[] = {
        kTalk,
        macro + "{% for x in [1] if f(n - 1) == 'z' %}{% else %}.{% endfor %}{% endif %}{% endmacro %}{{ f(31) }}",
        macro + "{% call f(n - 1) %}{% endcall %}{% endif %}{{ caller() }}{% endmacro %}{% call f(60) %}!{% endcall %}",
        macro +
            "{{ [f(n - 1)] | map('upper') | select('string') | join | length | tojson(indent=2) | replace('1', '2') }}{% endif %}{% "
            "endmacro %}{{ f(60) }}",
        "{% for x in messages[0].deep recursive %}{{ loop(x) if loop.depth < 60 }}{{ '%s' | format(x) }}{% endfor %}",
        "{% set d = messages[0].deep %}{{ d }}{{ d | tojson }}{{ d | pprint }}{{ d == d }}{{ d | string | length }}{{ d < [d] }}",
        "{{ " + nested("[", "]") + " | tojson(indent=1) }}",
        "{{ '%.1000f %s %r' % (1.5e300, messages, messages) }}{{ 1e300 | round(3) }}{{ '{:,.50f}{!r:>40}'.format(0.1, 'x') }}",
        "{{ messages | groupby('role') }}{{ [3, 1, 2] | sort }}{{ 'ab cd' | title | wordwrap(2) | urlize }}{{ strftime_now('%A %B %c') }}",
    };
    const std::string context =
        R"({"messages":[{"role":"user","content":"set a timer","deep":)" + std::string(60, '[') + std::string(60, ']') + "}]}";
    for (const std::string& text : texts) {
      INFO(text);
      const Program program(text);
      linnet_need of_template{.size = sizeof of_template};
      linnet_template* t = nullptr;
      within("template_need", kNeedStack, [&] { return linnet_template_need(&program.view, nullptr, nullptr, &of_template, &err); });
      const Memory its(of_template.bytes);
      within("template_init", kStack,
             [&] { return linnet_template_init(&t, its.p, of_template.bytes, &program.view, nullptr, nullptr, nullptr, &err); });
      within("template_render", kStack, [&] { return linnet_template_render(t, context.data(), context.size(), 0, nullptr, &err); });
    }
  }
  const std::string path = "/tmp/linnet-test-stack-" + std::to_string(getpid());
  const Mapped with_text;
  const char* const whole_blocks = "examples/assistant/model/checkpoint";  // of GGUF, which kernels unpack on the stack
  for (const char* name : {"", "tests/golden/llama", "tests/golden/qwen2-window", "tests/golden/deepseek-v3", "tests/golden/gpt-oss",
                           "tests/golden/gemma3", whole_blocks}) {
    INFO(name);
    const std::unique_ptr<Model> golden =
        *name ? std::make_unique<Model>(name, name == whole_blocks ? LINNET_Q6_K : LINNET_I8G64, 0, false) : nullptr;
    const linnet_view file = golden ? golden->image.view() : with_text.view;
    linnet_model* m = nullptr;
    linnet_need need{.size = sizeof need};
    within("model_need", kNeedStack, [&] { return linnet_model_need(&file, nullptr, &need, &err); });
    const Memory memory(need.bytes);
    within("model_init", kStack, [&] { return linnet_model_init(&m, memory.p, need.bytes, &file, nullptr, &err); });
    linnet_model_desc desc{};
    desc.size = sizeof desc;
    within("model_info", kStack, [&] { return linnet_model_info(m, &desc, nullptr); });

    for (uint32_t when = LINNET_FULL_STOP; when <= LINNET_FULL_SNAPKV; ++when)
      for (const uint32_t kv : {LINNET_I8, LINNET_F8E4M3, LINNET_F32, LINNET_KIVI4}) {
        if (kSlow && kv != LINNET_I8 && when != LINNET_FULL_STOP) continue;
        if (name == whole_blocks && (kv != LINNET_I8 || when != LINNET_FULL_STOP)) continue;
        if (kv == LINNET_KIVI4 && (when != LINNET_FULL_STOP || desc.n_kv_heads == 1)) continue;  // a latent
        INFO("when_full " << when << ", KV " << linnet_format_name(static_cast<linnet_format>(kv)));
        auto p = two_sequences(2);
        p.k_format = kv;
        p.when_full = when;
        const char* purpose = nullptr;
        size_t bytes = 0;
        linnet_session* s = nullptr;
        within("session_need", kStack, [&] { return linnet_session_need(m, &p, &need, &err); });
        within("session_plan", kStack, [&] { return linnet_session_plan(m, &p, 0, &purpose, &bytes, &err); });
        const Memory room(need.bytes);
        within("session_init", kStack, [&] { return linnet_session_init(&s, room.p, need.bytes, m, &p, &err); });
        Tokens tokens;
        for (int32_t i = 0; i < 100; ++i) tokens.push_back(i * 7 % 50);
        const linnet_rows rows[] = {{sizeof *rows, 0, 3, tokens.data()}, {sizeof *rows, 1, 3, tokens.data()}};
        int32_t token = 0, ids_back[16];
        linnet_generate_params g{};
        g.size = sizeof g;
        g.max_tokens = 4;
        g.ignore_eos = 1;
        linnet_generated end{.size = sizeof end};
        std::vector<uint8_t> state;
        auto drawing = sampling(1);
        drawing.top_p = 0.9f;
        within("sampling_set", kStack, [&] { return linnet_sampling_set(s, 0, &drawing, &err); });
        within("prefill", kStack, [&] { return linnet_prefill(s, 0, tokens.data(), tokens.size(), &err); });
        within("prefill_batch", kStack, [&] { return linnet_prefill_batch(s, rows, 2, &err); });
        within("sample", kStack, [&] { return linnet_sample(s, 0, &token, &err); });
        within("decode", kStack, [&] { return linnet_decode(s, 0, &token, &err); });
        float values[16];
        within("logprobs", kStack, [&] { return linnet_logprobs(s, 0, 0, 0, values, 16, ids_back, values, &err); });
        auto chain = drawing;
        chain.dry_multiplier = chain.typical_p = 0.5f;
        within("sampling_set", kStack, [&] { return linnet_sampling_set(s, 0, &chain, &err); });
        within("sample", kStack, [&] { return linnet_sample(s, 0, &token, &err); });
        within("sampling_set", kStack, [&] { return linnet_sampling_set(s, 0, &drawing, &err); });
        within("generate", kStack, [&] { return linnet_generate(s, 0, &g, nullptr, nullptr, &end, &err); });
        within("tokens", kStack, [&] { return linnet_tokens(s, 0, tokens.size(), ids_back, 16, &bytes, &err); });
        within("fork", kStack, [&] { return linnet_fork(s, 0, 1, tokens.size() + 8, &err); });
        within("truncate", kStack, [&] { return linnet_truncate(s, 0, tokens.size() + 7, nullptr); });
        within("state_need", kStack, [&] { return linnet_state_need(s, 1, &bytes, &err); });
        state.resize(bytes);
        within("state_save", kStack, [&] { return linnet_state_save(s, 1, state.data(), state.size(), &bytes, &err); });
        within("state_load", kStack, [&] { return linnet_state_load(s, 0, state.data(), state.size(), &err); });
        within("state_length", kStack, [&] { return linnet_state_length(state.data(), state.size(), &bytes, &err); });
        within("state_save_file", kStack, [&] { return linnet_state_save_file(s, 0, path.c_str(), &err); });
        within("state_load_file", kStack, [&] { return linnet_state_load_file(s, 0, path.c_str(), &err); });
        within("power_set", kStack, [&] { return linnet_power_set(s, power, &err); });
        within("decode, governed", kStack, [&] { return linnet_decode(s, 0, &token, &err); });
        within("threads_set", kStack, [&] { return linnet_threads_set(s, 1, &err); });
        if (desc.has_tokenizer && when == LINNET_FULL_STOP) {
          linnet_grammar* grammar = nullptr;
          linnet_need of_grammar{.size = sizeof of_grammar};
          within("grammar_need", kStack, [&] { return linnet_grammar_need(m, blob.data(), n_blob, &of_grammar, &err); });
          const Memory its(of_grammar.bytes);
          within("grammar_init", kStack,
                 [&] { return linnet_grammar_init(&grammar, its.p, of_grammar.bytes, m, blob.data(), n_blob, &err); });
          within("grammar_set", kStack, [&] { return linnet_grammar_set(s, 0, grammar, &err); });
          const Program program(kTalk);
          const Template talk(program.view, m);
          check(linnet_template_render(talk.t, kConversation, sizeof kConversation - 1, 0, nullptr, &err), err);
          within("grammar_begin", kStack, [&] { return linnet_grammar_begin(s, 0, grammar, talk.t, &err); });
          within("generate with a grammar", kStack, [&] { return linnet_generate(s, 0, &g, nullptr, nullptr, &end, &err); });
          within("generate_begin", kStack, [&] { return linnet_generate_begin(s, 0, &g, &err); });
          within("generate_next with a grammar", kStack, [&] { return linnet_generate_next(s, 0, &end, &err); });
        }
        within("session_fini", kStack, [&] { return linnet_session_fini(s), LINNET_OK; });
      }
    if (desc.has_tokenizer) {
      const std::string text = "<|user|>set a timer for ten minutes";
      size_t scratch = 0, n = 0;
      within("tokenize_need", kStack, [&] { return linnet_tokenize_need(m, text.size(), &scratch, nullptr); });
      std::vector<uint8_t> mem(scratch);
      Tokens ids(200);
      std::string out(2000, '\0');
      within("tokenize", kStack,
             [&] { return linnet_tokenize(m, text.data(), text.size(), 0, mem.data(), scratch, ids.data(), ids.size(), &n, &err); });
      within("detokenize", kStack, [&, ids_n = n] { return linnet_detokenize(m, ids.data(), ids_n, 0, out.data(), out.size(), &n, &err); });
      const Program program(kTalk);
      const Template talk(program.view, m);
      check(linnet_template_render(talk.t, kConversation, sizeof kConversation - 1, 0, nullptr, &err), err);
      check(linnet_tokenize_need(m, 1000, &scratch, &err), err);
      mem.resize(scratch);
      within("template_tokens", kStack, [&] {
        size_t keep = 0, n_talk = 0;
        return linnet_template_tokens(talk.t, ids.data(), 1, mem.data(), scratch, ids.data() + 1, ids.size() - 1, &n_talk, &keep, &err);
      });
      within("token_text", kStack, [&] { return linnet_token_text(m, ids[0], out.data(), out.size(), &n, nullptr); });
      // An answer whose call is nested as deep as it may be.
      linnet_need of_answer{.size = sizeof of_answer};
      linnet_answer* answer = nullptr;
      within("answer_need", kStack, [&] { return linnet_answer_need(0, &of_answer, &err); });
      const Memory its(of_answer.bytes);
      within("answer_init", kStack, [&] { return linnet_answer_init(&answer, its.p, of_answer.bytes, talk.t, 0, &err); });
      const std::string deep =
          "<tool_call>{\"name\": \"act\", \"arguments\": {\"what\": " + std::string(60, '[') + std::string(60, ']') + "}}";
      const auto hear = [](void*, const linnet_answer_event*) {};
      within("answer_begin", kStack, [&] { return linnet_answer_begin(answer, tools.data(), tools.size(), hear, nullptr, &err); });
      within("answer_feed", kStack, [&] { return linnet_answer_feed(answer, deep.data(), deep.size(), &err); });
      within("answer_end", kStack, [&] { return linnet_answer_end(answer, &err); });
    }
    // The memory cap looks for what would fit.
    linnet_model_fini(m);
    linnet_need capped{.size = sizeof capped};
    check(linnet_model_need(&file, nullptr, &capped, &err), err);
    profile.memory_bytes = capped.bytes + desc.weight_bytes;
    const Memory again(capped.bytes);
    check(linnet_model_init(&m, again.p, capped.bytes, &file, &profile, &err), err);
    const auto p = two_sequences();
    linnet_need refused{.size = sizeof refused};
    within("session_need, refused by the cap", kStack, [&] { return linnet_session_need(m, &p, &refused, &err); }, LINNET_TOO_SMALL);
    profile.memory_bytes = 0;
    within("model_fini", kStack, [&] { return linnet_model_fini(m), LINNET_OK; });
  }
  unlink(path.c_str());
  std::printf("most stack: %zu bytes, %s\n", most, of);
}

// ---- structs that carry their size ----------------------------------------------------------------------------------------------

namespace {

// A struct as an app of another version has it: `size` bytes, and no byte more of memory.
template <class T>
struct Sized {
  std::unique_ptr<uint8_t[]> bytes;
  uint32_t size;
  Sized(const T& of, uint32_t n, uint32_t says) : bytes(new uint8_t[std::max(n, 4u)]()), size(std::max(n, 4u)) {
    std::memcpy(bytes.get(), &of, std::min<size_t>(size, sizeof of));
    std::memcpy(bytes.get(), &says, sizeof says);
  }
  Sized(const T& of, uint32_t n) : Sized(of, n, n) {}
  T* get() { return reinterpret_cast<T*>(bytes.get()); }
};
bool says(const linnet_error& err, size_t number) { return std::strstr(err.text, std::to_string(number).c_str()); }

// A struct that the app fills: `call` works with all of it.
template <class T>
void check_in(const char* name, T value, const std::function<linnet_status(const T*, linnet_error*)>& call) {
  INFO(name);
  constexpr uint32_t known = sizeof(T);
  value.size = known;
  linnet_error err{};
  check(call(&value, &err), err);
  for (const uint32_t beyond : {4u, 64u, 4096u}) {
    Sized<T> newer(value, known + beyond);
    check(call(newer.get(), &err), err);
    for (const uint32_t at : {known, known + beyond - 1}) {
      newer.bytes[at] = 1;
      err = {};
      CHECK(call(newer.get(), &err) == LINNET_BAD_ARG);
      CHECK((says(err, at) && err.code == LINNET_BAD_ARG));
      newer.bytes[at] = 0;
    }
  }
  for (const uint32_t size : {0u, 1u, 3u, known + 4097, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    Sized<T> wrong(value, known, size);
    err = {};
    CHECK(call(wrong.get(), &err) == LINNET_BAD_ARG);
    CHECK(says(err, size));
  }
  constexpr uint32_t step = alignof(T);
  for (uint32_t size = 4; size < known; size += size % step ? 4 : step) {  // none ends within a pointer
    Sized<T> older(value, size);
    err = {};
    const linnet_status status = call(older.get(), &err);
    CHECK((status == LINNET_OK || err.text[0]));
  }
}

// A struct that linnet fills.
template <class T>
void check_out(const char* name, bool steady, const std::function<linnet_status(T*, linnet_error*)>& call) {
  INFO(name);
  constexpr uint32_t known = sizeof(T), behind = 24;
  linnet_error err{};
  T whole{};
  whole.size = known;
  check(call(&whole, &err), err);
  CHECK(whole.size == known);
  for (uint32_t size = 0; size <= known + 64; size = size < 4 ? size + 1 : size + 4) {
    const std::unique_ptr<uint8_t[]> room(new uint8_t[size + behind]);
    std::memset(room.get(), 0xA5, size + behind);
    std::memcpy(room.get(), &size, sizeof size);
    const std::vector<uint8_t> before(room.get(), room.get() + size + behind);
    err = {};
    const linnet_status status = call(reinterpret_cast<T*>(room.get()), &err);
    INFO("size " << size << ": " << err.text);
    if (size < 4) {
      CHECK(status == LINNET_BAD_ARG);
      CHECK(std::equal(before.begin(), before.end(), room.get()));
      continue;
    }
    REQUIRE(status == LINNET_OK);
    const uint32_t filled = std::min(size, known);
    uint32_t now = 0;
    std::memcpy(&now, room.get(), sizeof now);
    CHECK(now == filled);
    CHECK(std::equal(before.begin() + filled, before.end(), room.get() + filled));
    if (steady) CHECK(std::memcmp(room.get() + 4, reinterpret_cast<const uint8_t*>(&whole) + 4, filled - 4) == 0);
  }
}

}  // namespace

TEST_CASE("structs of newer and older apps: what is filled in, read, refused") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  const linnet_view file = model.image.view();
  const auto params = two_sequences();
  Session s(model, params);
  const Board board = this_board();
  const Sensors sensors = its_sensors();
  const Power power = governor({.size = sizeof(linnet_power_params), .n_threads = 2});
  linnet_need need{.size = sizeof need};
  linnet_error error{};
  const Memory room(s.bytes);
  const char* purpose = nullptr;
  size_t n = 0;
  linnet_isa isa = LINNET_ISA_AUTO;

  check_in<linnet_profile>("model_need", {}, [&](auto* p, auto* err) { return linnet_model_need(&file, p, &need, err); });
  check_in<linnet_profile>("isa_pick", {}, [&](auto* p, auto* err) { return linnet_isa_pick(p, &isa, err); });
  check_in<linnet_profile>("power_init", {}, [&](auto* p, auto* err) {
    linnet_power* out = nullptr;
    const Memory its(power.bytes);
    return linnet_power_init(&out, its.p, power.bytes, p, nullptr, err);
  });
  check_in<linnet_power_params>("power_init", {.n_threads = 2, .sensors = sensors}, [&](auto* p, auto* err) {
    linnet_power* out = nullptr;
    const Memory its(power.bytes);
    return linnet_power_init(&out, its.p, power.bytes, nullptr, p, err);
  });
  check_in<linnet_reading>("sensors_report", {}, [&](auto* p, auto* err) { return linnet_sensors_report(sensors, p, err); });
  check_in<linnet_session_params>("session_need", params, [&](auto* p, auto* err) { return linnet_session_need(model.m, p, &need, err); });
  check_in<linnet_session_params>("session_plan", params,
                                  [&](auto* p, auto* err) { return linnet_session_plan(model.m, p, 0, &purpose, &n, err); });
  check_in<linnet_session_params>("session_init", params, [&](auto* p, auto* err) {
    linnet_session* out = nullptr;
    const linnet_status status = linnet_session_init(&out, room.p, s.bytes, model.m, p, err);
    if (status == LINNET_OK) linnet_session_fini(out);
    return status;
  });
  check_in<linnet_sampling>("sampling_set", sampling(1, 5), [&](auto* p, auto* err) { return linnet_sampling_set(s.s, 0, p, err); });
  s.prefill(kPrompt);
  check_in<linnet_generate_params>("generate_begin", {.max_tokens = 1},
                                   [&](auto* p, auto* err) { return linnet_generate_begin(s.s, 0, p, err); });
  check_in<linnet_rows>("prefill_batch", {.seq = 1, .n_tokens = 2, .tokens = kPrompt.data()}, [&](auto* p, auto* err) {
    if (const linnet_status status = linnet_truncate(s.s, 1, 0, err); status != LINNET_OK) return status;
    return linnet_prefill_batch(s.s, p, 1, err);
  });
  check_in<linnet_kv_layers>("kv_layers", {.first = 0, .last = 1, .k_format = LINNET_F16}, [&](auto* p, auto* err) {
    auto q = params;
    q.kv_layers = p;
    q.n_kv_layers = 1;
    return linnet_session_need(model.m, &q, &need, err);
  });

  const Program program(kTalk);
  const Template talk(program.view);
  linnet_template_params of_talk{.size = sizeof of_talk, .text_bytes = 4096, .value_bytes = 1 << 16};
  check_in<linnet_template_params>("template_need", of_talk,
                                   [&](auto* p, auto* err) { return linnet_template_need(&program.view, nullptr, p, &need, err); });
  const Memory of_template(talk.bytes);
  check_in<linnet_template_params>("template_init", of_talk, [&](auto* p, auto* err) {
    linnet_template* out = nullptr;
    return linnet_template_init(&out, of_template.p, talk.bytes, &program.view, nullptr, nullptr, p, err);
  });
  check_out<linnet_template_desc>("template_describe", true, [&](auto* p, auto* err) { return linnet_template_describe(talk.t, p, err); });
  check_out<linnet_need>("answer_need", true, [&](auto* p, auto* err) { return linnet_answer_need(0, p, err); });
  check_in<linnet_call_rules>(
      "grammar_calls", {.size = sizeof(linnet_call_rules), .choice = LINNET_CALL_REQUIRED, .parallel = 1, .tool = "act"},
      [&](auto* p, auto* err) {
        std::vector<char> bytes(1 << 16);
        size_t n_bytes = 0;
        const char* const tools = R"([{"name":"act"}])";
        return linnet_grammar_calls(nullptr, talk.t, tools, std::strlen(tools), nullptr, p, bytes.data(), bytes.size(), &n_bytes, err);
      });
  check_out<linnet_need>("template_need", true,
                         [&](auto* p, auto* err) { return linnet_template_need(&program.view, nullptr, nullptr, p, err); });
  check_out<linnet_rendered>("template_render", true, [&](auto* p, auto* err) {
    return linnet_template_render(talk.t, kConversation, sizeof kConversation - 1, 0, p, err);
  });

  check_out<linnet_need>("model_need", true, [&](auto* p, auto* err) { return linnet_model_need(&file, nullptr, p, err); });
  check_out<linnet_need>("session_need", true, [&](auto* p, auto* err) { return linnet_session_need(model.m, &params, p, err); });
  check_out<linnet_need>("board_need", true, [&](auto* p, auto* err) { return linnet_board_need(p, err); });
  check_out<linnet_need>("sensors_need", true, [&](auto* p, auto* err) { return linnet_sensors_need(p, err); });
  check_out<linnet_need>("power_need", true, [&](auto* p, auto* err) { return linnet_power_need(p, err); });
  check_out<linnet_model_desc>("model_info", true, [&](auto* p, auto* err) { return linnet_model_info(model.m, p, err); });
  check_out<linnet_sampling>("sampling_get", true, [&](auto* p, auto* err) { return linnet_sampling_get(s.s, 0, p, err); });
  check_out<linnet_session_params>("session_info", true, [&](auto* p, auto* err) { return linnet_session_info(s.s, p, err); });
  check_out<linnet_stats>("stats_get", true, [&](auto* p, auto* err) { return linnet_stats_get(s.s, p, err); });
  check_out<linnet_board_desc>("board_info", true, [&](auto* p, auto* err) { return linnet_board_info(board, p, err); });
  check_out<linnet_cluster>("board_cluster", true, [&](auto* p, auto* err) { return linnet_board_cluster(board, 0, p, err); });
  check_out<linnet_reading>("sensors_last", true, [&](auto* p, auto* err) { return linnet_sensors_last(sensors, p, err); });
  check_out<linnet_reading>("sensors_read", false, [&](auto* p, auto* err) { return linnet_sensors_read(sensors, 0, p, err); });
  check_out<linnet_power_state>("power_get", true, [&](auto* p, auto* err) { return linnet_power_get(power, p, err); });
  check_out<linnet_power_state>("power_step", false, [&](auto* p, auto* err) { return linnet_power_step(power, 1, 1000, p, err); });
  linnet_board_desc of{.size = sizeof of};
  check(linnet_board_info(board, &of, &error), error);
  if (of.n_caches) check_out<linnet_cache>("board_cache", true, [&](auto* p, auto* err) { return linnet_board_cache(board, 0, p, err); });
  if (of.n_zones) check_out<linnet_zone>("board_zone", true, [&](auto* p, auto* err) { return linnet_board_zone(board, 0, p, err); });
  const linnet_generate_params one{.size = sizeof one, .max_tokens = 1, .ignore_eos = 1};
  const auto anew = [&](linnet_error* err) {
    const linnet_status status = linnet_truncate(s.s, 0, 0, err);
    return status == LINNET_OK ? linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), err) : status;
  };
  check(linnet_sampling_set(s.s, 0, nullptr, &error), error);
  check_out<linnet_generated>("generate", true, [&](auto* p, auto* err) {
    const linnet_status status = anew(err);
    return status == LINNET_OK ? linnet_generate(s.s, 0, &one, nullptr, nullptr, p, err) : status;
  });
  check_out<linnet_generated>("generate_next", true, [&](auto* p, auto* err) {
    linnet_status status = anew(err);
    if (status == LINNET_OK) status = linnet_generate_begin(s.s, 0, &one, err);
    return status == LINNET_OK ? linnet_generate_next(s.s, 0, p, err) : status;
  });
  for (const uint32_t size : {0u, 3u}) {
    linnet_measurement m{.size = size};
    linnet_cuda_device gpu{.size = size};
    CHECK(linnet_measure(nullptr, 1, nullptr, 0, &m, &error) == LINNET_BAD_ARG);
    CHECK(linnet_cuda_detect(&gpu, &error) == LINNET_BAD_ARG);
    CHECK((m.size == size && m.isa == 0 && gpu.size == size));
  }
  linnet_measurement half[2] = {{.size = offsetof(linnet_measurement, decode_gb_s)}, {.size = sizeof *half + 8}};
  std::memset(&half[0].decode_gb_s, 0xA5, sizeof half[0].decode_gb_s);
  const double untouched = half[0].decode_gb_s;
  for (linnet_measurement& m : half) check(linnet_measure(nullptr, 1, nullptr, 0, &m, &error), error);
  CHECK((half[0].size == offsetof(linnet_measurement, decode_gb_s) && std::memcmp(&half[0].decode_gb_s, &untouched, 8) == 0));
  CHECK((half[1].size == sizeof *half && half[1].prefill_tops > 0));
}

TEST_CASE("arrays of structs: the first one's size is the distance, and all have it") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  struct NewerRows {
    linnet_rows r;
    uint64_t more;
  };
  struct NewerLayers {
    linnet_kv_layers l;
    uint32_t more[5];
  };
  Session s(model, two_sequences()), plain(model, two_sequences());
  linnet_error err{};
  NewerRows rows[2] = {{{sizeof *rows, 0, 6, kPrompt.data()}, 0}, {{sizeof *rows, 1, 3, kPrompt.data()}, 0}};
  const linnet_rows own[2] = {{sizeof *own, 0, 6, kPrompt.data()}, {sizeof *own, 1, 3, kPrompt.data()}};
  check(linnet_prefill_batch(s.s, &rows[0].r, 2, &err), err);
  check(linnet_prefill_batch(plain.s, own, 2, &err), err);
  for (uint32_t seq = 0; seq < 2; ++seq) {
    const float *a = nullptr, *b = nullptr;
    size_t n = 0, length = 0;
    REQUIRE(linnet_logits(s.s, seq, 0, &a, &n, nullptr) == LINNET_OK);
    REQUIRE(linnet_logits(plain.s, seq, 0, &b, &n, nullptr) == LINNET_OK);
    CHECK(std::memcmp(a, b, n * sizeof *a) == 0);
    REQUIRE(linnet_length(s.s, seq, &length, nullptr) == LINNET_OK);
    CHECK(length == (seq ? 3 : 6));
  }
  const auto before = saved(s);
  rows[1].more = uint64_t{1} << 40;
  CHECK(linnet_prefill_batch(s.s, &rows[0].r, 2, &err) == LINNET_BAD_ARG);
  CHECK(says(err, sizeof(linnet_rows) + 5));
  rows[1].more = 0;
  rows[1].r.size = sizeof(linnet_rows);
  CHECK(linnet_prefill_batch(s.s, &rows[0].r, 2, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, "[1]"));
  CHECK((saved(s) == before));

  NewerLayers layers[2] = {{{sizeof *layers, 0, 0, LINNET_F16, 0}, {}}, {{sizeof *layers, 1, 1, LINNET_F32, 0}, {}}};
  const linnet_kv_layers known[2] = {{sizeof *known, 0, 0, LINNET_F16, 0}, {sizeof *known, 1, 1, LINNET_F32, 0}};
  auto p = two_sequences(), q = p;
  p.n_kv_layers = q.n_kv_layers = 2;
  p.kv_layers = &layers[0].l;
  q.kv_layers = known;
  Session a(model, p), b(model, q);
  a.prefill(kPrompt), b.prefill(kPrompt);
  CHECK(same_bytes(a.logits(), b.logits()));
  CHECK_FALSE(same_bytes(a.logits(), s.logits()));
  linnet_need need{.size = sizeof need};
  layers[1].more[4] = 1;
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);
  layers[1].more[4] = 0;
  layers[1].l.size = sizeof(linnet_kv_layers);
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, "[1]"));
  for (const uint32_t size : {0u, 3u, 0xFFFFFFFFu}) {
    linnet_kv_layers wrong[2] = {{size, 0, 0, LINNET_F16, 0}, {size, 1, 1, LINNET_F32, 0}};
    q.kv_layers = wrong;
    q.n_kv_layers = 1;
    CHECK(linnet_session_need(model.m, &q, &need, &err) == LINNET_BAD_ARG);
  }
  const linnet_kv_layers odd[2] = {{5, 0, 0, LINNET_F16, 0}, {5, 1, 1, LINNET_F32, 0}};  // the second one would lie where no struct can
  q.kv_layers = odd;
  q.n_kv_layers = 2;
  CHECK(linnet_session_need(model.m, &q, &need, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, "kv_layers: size is 5"));
}

TEST_CASE("NULL where something must be is refused with a sentence, by every call") {
  const Mapped file;
  linnet_model* m = nullptr;
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  check(linnet_model_need(&file.view, nullptr, &need, &err), err);
  const Memory memory(need.bytes);
  check(linnet_model_init(&m, memory.p, need.bytes, &file.view, nullptr, &err), err);
  const auto params = two_sequences();
  check(linnet_session_need(m, &params, &need, &err), err);
  const Memory room(need.bytes);
  linnet_session* s = nullptr;
  check(linnet_session_init(&s, room.p, need.bytes, m, &params, &err), err);
  const Board board = this_board();
  const Sensors sensors = its_sensors();
  const Power power = governor({.size = sizeof(linnet_power_params)});
  const Program program(kTalk);
  const Template talk(program.view, m);
  linnet_template* no_template = nullptr;
  linnet_rendered rendered{.size = sizeof rendered};
  linnet_view view{};
  const linnet_view empty{};
  linnet_model_desc desc{.size = sizeof desc};
  linnet_generated end{.size = sizeof end};
  linnet_sampling drawing{.size = sizeof drawing};
  linnet_session_params made{.size = sizeof made};
  linnet_stats stats{.size = sizeof stats};
  linnet_cluster cluster{.size = sizeof cluster};
  linnet_cache cache{.size = sizeof cache};
  linnet_zone zone{.size = sizeof zone};
  linnet_reading reading{.size = sizeof reading};
  linnet_power_state state{.size = sizeof state};
  linnet_board_desc of_board{.size = sizeof of_board};
  linnet_profile profile{.size = sizeof profile};
  linnet_cpus cpus{};
  const float* row = nullptr;
  const char *a = nullptr, *b = nullptr;
  const linnet_rows no_tokens{.size = sizeof no_tokens, .seq = 0, .n_tokens = 1, .tokens = nullptr};
  const linnet_generate_params no_stop{.size = sizeof no_stop, .n_stop = 1};
  const char* const null_stop = nullptr;
  const linnet_generate_params stop_null{.size = sizeof stop_null, .n_stop = 1, .stop = &null_stop};
  auto no_layers = params;
  no_layers.n_kv_layers = 1;
  size_t n = 0;
  int32_t token = 0;
  uint32_t kind = 0;
  char text[64];
  char* const mem = static_cast<char*>(room.p);
  linnet_grammar* grammar = nullptr;
  linnet_template_desc described{.size = sizeof described};
  linnet_need of_one{.size = sizeof of_one};
  check(linnet_answer_need(1024, &of_one, &err), err);
  const Memory of_answer(of_one.bytes);
  linnet_answer *answer = nullptr, *no_answer = nullptr;
  check(linnet_answer_init(&answer, of_answer.p, of_one.bytes, talk.t, 1024, &err), err);
  const auto hear = [](void*, const linnet_answer_event*) {};
  linnet_call_rules other_tool{.size = sizeof other_tool};
  other_tool.tool = "b";
  linnet_session* no_session = nullptr;
  linnet_model* no_model = nullptr;
  linnet_board* no_board = nullptr;
  linnet_sensors* no_sensors = nullptr;
  linnet_power* no_power = nullptr;
  const Tokens one = {1};
  check(linnet_prefill(s, 0, one.data(), 1, &err), err);
#define REFUSED(...)                        \
  do {                                      \
    err = {};                               \
    INFO(#__VA_ARGS__);                     \
    CHECK((__VA_ARGS__) == LINNET_BAD_ARG); \
    CHECK(err.code == LINNET_BAD_ARG);      \
    CHECK(std::strlen(err.text) > 8);       \
  } while (0)
  // linnet.h
  REFUSED(linnet_file_map(nullptr, LINNET_LOAD_MAP, &view, &err));
  REFUSED(linnet_file_map("README.md", LINNET_LOAD_MAP, nullptr, &err));
  REFUSED(linnet_file_load(nullptr, LINNET_LOAD_MAP, nullptr, nullptr, &view, &err));
  REFUSED(linnet_file_load("README.md", LINNET_LOAD_MAP, nullptr, nullptr, nullptr, &err));
  REFUSED(linnet_file_save(nullptr, text, 1, 0, &err));
  REFUSED(linnet_file_save("/tmp/linnet-test-null", nullptr, 1, 0, &err));
  REFUSED(linnet_model_need(nullptr, nullptr, &need, &err));
  REFUSED(linnet_model_need(&empty, nullptr, &need, &err));
  REFUSED(linnet_model_need(&file.view, nullptr, nullptr, &err));
  REFUSED(linnet_model_init(nullptr, mem, 64, &file.view, nullptr, &err));
  REFUSED(linnet_model_init(&no_model, nullptr, 64, &file.view, nullptr, &err));
  REFUSED(linnet_model_init(&no_model, mem, 64, nullptr, nullptr, &err));
  REFUSED(linnet_model_init(&no_model, mem, 64, &empty, nullptr, &err));
  REFUSED(linnet_model_info(nullptr, &desc, &err));
  REFUSED(linnet_model_info(m, nullptr, &err));
  REFUSED(linnet_tokenize_need(nullptr, 1, &n, &err));
  REFUSED(linnet_tokenize_need(m, 1, nullptr, &err));
  REFUSED(linnet_tokenize(nullptr, "a", 1, 0, text, sizeof text, &token, 1, &n, &err));
  REFUSED(linnet_tokenize(m, nullptr, 1, 0, text, sizeof text, &token, 1, &n, &err));
  REFUSED(linnet_tokenize(m, "a", 1, 0, text, sizeof text, nullptr, 1, &n, &err));
  REFUSED(linnet_tokenize(m, "a", 1, 0, text, sizeof text, &token, 1, nullptr, &err));
  REFUSED(linnet_detokenize(nullptr, &token, 1, 0, text, 1, &n, &err));
  REFUSED(linnet_detokenize(m, nullptr, 1, 0, text, 1, &n, &err));
  REFUSED(linnet_detokenize(m, &token, 1, 0, nullptr, 1, &n, &err));
  REFUSED(linnet_detokenize(m, &token, 1, 0, text, 1, nullptr, &err));
  REFUSED(linnet_token_text(nullptr, 1, text, 1, &n, &err));
  REFUSED(linnet_token_text(m, 1, nullptr, 1, &n, &err));
  REFUSED(linnet_token_text(m, 1, text, 1, nullptr, &err));
  REFUSED(linnet_token_kind(nullptr, 1, &kind, &err));
  REFUSED(linnet_token_kind(m, 1, nullptr, &err));
  REFUSED(linnet_session_need(nullptr, &params, &need, &err));
  REFUSED(linnet_session_need(m, &params, nullptr, &err));
  REFUSED(linnet_session_need(m, &no_layers, &need, &err));
  REFUSED(linnet_session_init(nullptr, mem, 64, m, &params, &err));
  REFUSED(linnet_session_init(&no_session, nullptr, 64, m, &params, &err));
  REFUSED(linnet_session_init(&no_session, mem, 64, nullptr, &params, &err));
  REFUSED(linnet_length(nullptr, 0, &n, &err));
  REFUSED(linnet_length(s, 0, nullptr, &err));
  REFUSED(linnet_tokens(nullptr, 0, 0, &token, 1, &n, &err));
  REFUSED(linnet_tokens(s, 0, 0, nullptr, 1, &n, &err));
  REFUSED(linnet_tokens(s, 0, 0, &token, 1, nullptr, &err));
  REFUSED(linnet_truncate(nullptr, 0, 0, &err));
  REFUSED(linnet_fork(nullptr, 0, 1, 0, &err));
  REFUSED(linnet_prefill(nullptr, 0, &token, 1, &err));
  REFUSED(linnet_prefill(s, 0, nullptr, 1, &err));
  REFUSED(linnet_prefill_batch(nullptr, &no_tokens, 1, &err));
  REFUSED(linnet_prefill_batch(s, nullptr, 1, &err));
  REFUSED(linnet_prefill_batch(s, &no_tokens, 1, &err));
  REFUSED(linnet_logits(nullptr, 0, 0, &row, &n, &err));
  REFUSED(linnet_logits(s, 0, 0, nullptr, &n, &err));
  REFUSED(linnet_logits(s, 0, 0, &row, nullptr, &err));
  float value = 0;
  REFUSED(linnet_logprobs(nullptr, 0, 0, 0, &value, 1, &token, &value, &err));
  REFUSED(linnet_logprobs(s, 0, 0, 0, &value, 1, nullptr, &value, &err));
  REFUSED(linnet_logprobs(s, 0, 0, 0, &value, 1, &token, nullptr, &err));
  REFUSED(linnet_sampling_init(nullptr, &err));
  REFUSED(linnet_sampling_set(nullptr, 0, nullptr, &err));
  REFUSED(linnet_sampling_get(nullptr, 0, &drawing, &err));
  REFUSED(linnet_sampling_get(s, 0, nullptr, &err));
  REFUSED(linnet_decode(nullptr, 0, &token, &err));
  REFUSED(linnet_decode(s, 0, nullptr, &err));
  REFUSED(linnet_sample(nullptr, 0, &token, &err));
  REFUSED(linnet_sample(s, 0, nullptr, &err));
  REFUSED(linnet_generate(nullptr, 0, nullptr, nullptr, nullptr, &end, &err));
  REFUSED(linnet_generate(s, 0, nullptr, nullptr, nullptr, nullptr, &err));
  REFUSED(linnet_generate(s, 0, &no_stop, nullptr, nullptr, &end, &err));
  REFUSED(linnet_generate(s, 0, &stop_null, nullptr, nullptr, &end, &err));
  REFUSED(linnet_generate_begin(nullptr, 0, nullptr, &err));
  REFUSED(linnet_generate_begin(s, 0, &no_stop, &err));
  REFUSED(linnet_generate_begin(s, 0, &stop_null, &err));
  REFUSED(linnet_generate_next(nullptr, 0, &end, &err));
  REFUSED(linnet_generate_next(s, 0, nullptr, &err));
  REFUSED(linnet_state_need(nullptr, 0, &n, &err));
  REFUSED(linnet_state_need(s, 0, nullptr, &err));
  REFUSED(linnet_state_save(nullptr, 0, text, 1, &n, &err));
  REFUSED(linnet_state_save(s, 0, nullptr, 1, &n, &err));
  REFUSED(linnet_state_save(s, 0, text, 1, nullptr, &err));
  REFUSED(linnet_state_load(nullptr, 0, text, 1, &err));
  REFUSED(linnet_state_load(s, 0, nullptr, 1, &err));
  REFUSED(linnet_state_save_file(nullptr, 0, "/tmp/linnet-test-null", &err));
  REFUSED(linnet_state_save_file(s, 0, nullptr, &err));
  REFUSED(linnet_state_load_file(nullptr, 0, "/tmp/linnet-test-null", &err));
  REFUSED(linnet_state_load_file(s, 0, nullptr, &err));
  REFUSED(linnet_state_length(nullptr, 1, &n, &err));
  REFUSED(linnet_state_length(text, 1, nullptr, &err));
  // linnet_chat.h, linnet_convert.h
  REFUSED(linnet_chat_format(nullptr, LINNET_ROLE_USER, &a, &b, &err));
  REFUSED(linnet_chat_format(m, LINNET_ROLE_USER, nullptr, &b, &err));
  REFUSED(linnet_chat_format(m, LINNET_ROLE_USER, &a, nullptr, &err));
  REFUSED(linnet_template_need(nullptr, nullptr, nullptr, &need, &err));
  REFUSED(linnet_template_need(&empty, nullptr, nullptr, &need, &err));
  REFUSED(linnet_template_need(&program.view, nullptr, nullptr, nullptr, &err));
  REFUSED(linnet_template_init(nullptr, mem, 1 << 16, &program.view, nullptr, m, nullptr, &err));
  REFUSED(linnet_template_init(&no_template, nullptr, 1 << 16, &program.view, nullptr, m, nullptr, &err));
  REFUSED(linnet_template_init(&no_template, mem, 1 << 16, nullptr, nullptr, m, nullptr, &err));
  REFUSED(linnet_template_init(&no_template, mem, 1 << 16, &empty, nullptr, m, nullptr, &err));
  REFUSED(linnet_template_render(nullptr, kConversation, sizeof kConversation - 1, 0, &rendered, &err));
  REFUSED(linnet_template_render(talk.t, nullptr, 1, 0, &rendered, &err));
  REFUSED(linnet_template_tokens(nullptr, nullptr, 0, text, sizeof text, &token, 1, &n, &n, &err));
  REFUSED(linnet_template_tokens(talk.t, nullptr, 1, text, sizeof text, &token, 1, &n, &n, &err));
  REFUSED(linnet_template_tokens(talk.t, nullptr, 0, text, sizeof text, nullptr, 1, &n, &n, &err));
  REFUSED(linnet_template_tokens(talk.t, nullptr, 0, text, sizeof text, &token, 1, nullptr, &n, &err));
  REFUSED(linnet_template_compile(nullptr, 2, nullptr, text, 1, &n, &err));
  REFUSED(linnet_template_compile("{}", 2, nullptr, nullptr, 1, &n, &err));
  REFUSED(linnet_template_compile("{}", 2, nullptr, text, 1, nullptr, &err));
  REFUSED(linnet_template_describe(nullptr, &described, &err));
  REFUSED(linnet_template_describe(talk.t, nullptr, &err));
  REFUSED(linnet_answer_need(0, nullptr, &err));
  REFUSED(linnet_answer_need(SIZE_MAX, &need, &err));
  REFUSED(linnet_answer_init(nullptr, of_answer.p, of_one.bytes, talk.t, 1024, &err));
  REFUSED(linnet_answer_init(&no_answer, nullptr, of_one.bytes, talk.t, 1024, &err));
  REFUSED(linnet_answer_init(&no_answer, of_answer.p, of_one.bytes, nullptr, 1024, &err));
  REFUSED(linnet_answer_init(&no_answer, static_cast<char*>(of_answer.p) + 1, of_one.bytes, talk.t, 1024, &err));
  REFUSED(linnet_answer_begin(nullptr, nullptr, 0, hear, nullptr, &err));
  REFUSED(linnet_answer_begin(answer, nullptr, 1, hear, nullptr, &err));
  REFUSED(linnet_answer_begin(answer, nullptr, 0, nullptr, nullptr, &err));
  REFUSED(linnet_answer_is_mark(nullptr, "x", 1, &kind, &err));
  REFUSED(linnet_answer_is_mark(answer, nullptr, 1, &kind, &err));
  REFUSED(linnet_answer_is_mark(answer, "x", 1, nullptr, &err));
  REFUSED(linnet_answer_feed(nullptr, "x", 1, &err));
  REFUSED(linnet_answer_feed(answer, nullptr, 1, &err));
  REFUSED(linnet_answer_end(nullptr, &err));
  CHECK(linnet_answer_feed(answer, "x", 1, &err) == LINNET_BAD_STATE);
  CHECK(linnet_answer_end(answer, &err) == LINNET_BAD_STATE);
  REFUSED(linnet_grammar_begin(nullptr, 0, grammar, talk.t, &err));
  REFUSED(linnet_grammar_begin(s, 0, nullptr, talk.t, &err));
  REFUSED(linnet_grammar_calls(nullptr, nullptr, "[]", 2, nullptr, nullptr, text, 1, &n, &err));
  REFUSED(linnet_grammar_calls(nullptr, talk.t, nullptr, 2, nullptr, nullptr, text, 1, &n, &err));
  REFUSED(linnet_grammar_calls(nullptr, talk.t, "[]", 2, nullptr, nullptr, nullptr, 1, &n, &err));
  REFUSED(linnet_grammar_calls(nullptr, talk.t, "[]", 2, nullptr, nullptr, text, 1, nullptr, &err));
  REFUSED(linnet_grammar_calls(nullptr, talk.t, "[{\"name\":\"a\"}]", 14, nullptr, &other_tool, text, 1, &n, &err));
  REFUSED(linnet_grammar_need(nullptr, text, 1, &need, &err));
  REFUSED(linnet_grammar_need(m, nullptr, 1, &need, &err));
  REFUSED(linnet_grammar_need(m, text, 1, nullptr, &err));
  REFUSED(linnet_grammar_init(nullptr, mem, 64, m, text, 1, &err));
  REFUSED(linnet_grammar_init(&grammar, nullptr, 64, m, text, 1, &err));
  REFUSED(linnet_grammar_init(&grammar, mem, 64, nullptr, text, 1, &err));
  REFUSED(linnet_grammar_init(&grammar, mem, 64, m, nullptr, 1, &err));
  REFUSED(linnet_grammar_set(nullptr, 0, nullptr, &err));
  REFUSED(linnet_grammar_compile(nullptr, nullptr, 2, nullptr, LINNET_GRAMMAR_SCHEMA, text, 1, &n, &err));
  REFUSED(linnet_grammar_compile(nullptr, "{}", 2, nullptr, LINNET_GRAMMAR_SCHEMA, nullptr, 1, &n, &err));
  REFUSED(linnet_grammar_compile(nullptr, "{}", 2, nullptr, LINNET_GRAMMAR_SCHEMA, text, 1, nullptr, &err));
  // linnet_device.h
  REFUSED(linnet_isa_pick(nullptr, nullptr, &err));
  REFUSED(linnet_board_need(nullptr, &err));
  REFUSED(linnet_board_init(nullptr, mem, 1 << 16, nullptr, &err));
  REFUSED(linnet_board_init(&no_board, nullptr, 1 << 16, nullptr, &err));
  REFUSED(linnet_board_info(nullptr, &of_board, &err));
  REFUSED(linnet_board_info(board, nullptr, &err));
  REFUSED(linnet_board_cluster(nullptr, 0, &cluster, &err));
  REFUSED(linnet_board_cluster(board, 0, nullptr, &err));
  REFUSED(linnet_board_cache(nullptr, 0, &cache, &err));
  REFUSED(linnet_board_cache(board, 0, nullptr, &err));
  REFUSED(linnet_board_zone(nullptr, 0, &zone, &err));
  REFUSED(linnet_board_zone(board, 0, nullptr, &err));
  REFUSED(linnet_cuda_detect(nullptr, &err));
  REFUSED(linnet_cpus_parse(nullptr, &cpus, &err));
  REFUSED(linnet_cpus_parse("0", nullptr, &err));
  REFUSED(linnet_profile_fit(nullptr, board, &err));
  REFUSED(linnet_profile_fit(&profile, nullptr, &err));
  REFUSED(linnet_measure(nullptr, 1, nullptr, 0, nullptr, &err));
  REFUSED(linnet_session_info(nullptr, &made, &err));
  REFUSED(linnet_session_info(s, nullptr, &err));
  REFUSED(linnet_session_memory(nullptr, 0, &a, &n, &err));
  REFUSED(linnet_session_memory(s, 0, nullptr, &n, &err));
  REFUSED(linnet_session_memory(s, 0, &a, nullptr, &err));
  REFUSED(linnet_model_memory(nullptr, 0, &a, &n, &err));
  REFUSED(linnet_model_memory(m, 0, nullptr, &n, &err));
  REFUSED(linnet_model_memory(m, 0, &a, nullptr, &err));
  REFUSED(linnet_session_plan(nullptr, &params, 0, &a, &n, &err));
  REFUSED(linnet_session_plan(m, &params, 0, nullptr, &n, &err));
  REFUSED(linnet_session_plan(m, &params, 0, &a, nullptr, &err));
  REFUSED(linnet_stats_get(nullptr, &stats, &err));
  REFUSED(linnet_stats_get(s, nullptr, &err));
  REFUSED(linnet_stats_reset(nullptr, &err));
  REFUSED(linnet_sensors_need(nullptr, &err));
  REFUSED(linnet_sensors_init(nullptr, mem, 1 << 16, nullptr, &err));
  REFUSED(linnet_sensors_init(&no_sensors, nullptr, 1 << 16, nullptr, &err));
  REFUSED(linnet_sensors_read(nullptr, 0, &reading, &err));
  REFUSED(linnet_sensors_last(nullptr, &reading, &err));
  REFUSED(linnet_sensors_last(sensors, nullptr, &err));
  REFUSED(linnet_sensors_report(nullptr, &reading, &err));
  REFUSED(linnet_sensors_report(sensors, nullptr, &err));
  REFUSED(linnet_power_need(nullptr, &err));
  REFUSED(linnet_power_init(nullptr, mem, 1 << 16, nullptr, nullptr, &err));
  REFUSED(linnet_power_init(&no_power, nullptr, 1 << 16, nullptr, nullptr, &err));
  REFUSED(linnet_power_step(nullptr, 0, 1, &state, &err));
  REFUSED(linnet_power_get(nullptr, &state, &err));
  REFUSED(linnet_power_get(power, nullptr, &err));
  REFUSED(linnet_power_set(nullptr, power, &err));
  REFUSED(linnet_threads_set(nullptr, 1, &err));
#undef REFUSED
  // What may be NULL.
  check(linnet_sensors_read(sensors, 1, nullptr, &err), err);
  check(linnet_power_step(power, 0, 1, nullptr, &err), err);
  check(linnet_template_render(talk.t, kConversation, sizeof kConversation - 1, 0, nullptr, &err), err);
  linnet_file_unmap(nullptr);
  linnet_mem_free(nullptr, 0);
  linnet_session_fini(nullptr);
  linnet_model_fini(nullptr);
  linnet_cancel(nullptr);
  CHECK(linnet_format_from_name(nullptr) == LINNET_FORMAT_DEFAULT);
  CHECK(linnet_length(s, 0, &n, nullptr) == LINNET_OK);
  CHECK(n == 1);  // nothing of all that has changed it
  linnet_session_fini(s);
  linnet_model_fini(m);
}
