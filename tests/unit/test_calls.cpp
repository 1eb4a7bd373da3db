// Every call where an app goes too far: counts that no memory holds, a session of before a fork, calls from inside a call, little stack.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>

#include "runtime/model.h"
#include "tests/models.h"

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
  linnet_sampling sampling{};
  sampling.size = sizeof sampling;
  linnet_stats stats{};
  stats.size = sizeof stats;
  linnet_generate_params g{};
  g.size = sizeof g;
  g.max_tokens = 1;
  linnet_stop why = LINNET_STOP_NONE;
  const linnet_rows rows = {0, kPrompt.size(), kPrompt.data()};
  const std::string path = "/tmp/linnet-test-calls-" + std::to_string(getpid());
  out["memory"] = linnet_session_memory(s, 0, &purpose, &n);
  out["length"] = linnet_length(s, 0, &n);
  out["stats_get"] = linnet_stats_get(s, &stats);
  out["sampling_get"] = linnet_sampling_get(s, &sampling);
  out["prefill"] = linnet_prefill(s, 0, kPrompt.data(), kPrompt.size(), nullptr);
  out["prefill_batch"] = linnet_prefill_batch(s, &rows, 1, nullptr);
  out["logits"] = linnet_logits(s, 0, 0, &logits, &n);
  out["sample"] = linnet_sample(s, 0, &token, nullptr);
  out["decode"] = linnet_decode(s, 0, &token, nullptr);
  out["generate"] = linnet_generate(s, 0, &g, nullptr, nullptr, &why, nullptr);
  out["fork"] = linnet_fork(s, 0, 1, 1, nullptr);
  out["truncate"] = linnet_truncate(s, 0, 1);
  out["sampling_set"] = linnet_sampling_set(s, nullptr, nullptr);
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
      const linnet_rows rows[] = {{1, 1, kPrompt.data()}, {0, n, kPrompt.data()}};
      CHECK(linnet_prefill(s.s, 0, kPrompt.data(), n, &err) == LINNET_CONTEXT_FULL);
      CHECK(linnet_prefill_batch(s.s, rows, 2, &err) == LINNET_CONTEXT_FULL);
      CHECK(linnet_truncate(s.s, 0, n) == LINNET_BAD_ARG);
      CHECK(linnet_fork(s.s, 0, 1, n, &err) == LINNET_BAD_ARG);
      CHECK(linnet_state_load(s.s, 0, before.data(), n, &err) == LINNET_BAD_FILE);
      size_t length = 0;
      CHECK(linnet_state_length(before.data(), n, &length, &err) == LINNET_BAD_FILE);
    }
    linnet_error err{};
    const linnet_rows row = {0, 1, kPrompt.data()};
    CHECK(linnet_prefill_batch(s.s, &row, UINT32_MAX, &err) == LINNET_BAD_ARG);
    const char* const stop = "x";
    linnet_generate_params g{};
    g.size = sizeof g;
    g.n_stop = UINT32_MAX;
    g.stop = &stop;
    linnet_stop why = LINNET_STOP_NONE;
    CHECK(linnet_generate(s.s, 0, &g, nullptr, nullptr, &why, &err) == LINNET_BAD_ARG);
    const float* logits = nullptr;
    size_t n = 0;
    CHECK(linnet_logits(s.s, 0, UINT32_MAX, &logits, &n) == LINNET_BAD_ARG);
    CHECK(linnet_session_memory(s.s, UINT32_MAX, g.stop ? const_cast<const char**>(&stop) : nullptr, &n) == LINNET_BAD_ARG);
    CHECK((saved(s) == before));
  }
  auto p = two_sequences();
  const linnet_kv_layers layer = {0, 0, LINNET_F16, 0};
  p.kv_layers = &layer;
  p.n_kv_layers = UINT32_MAX;
  linnet_need need{};
  linnet_error err{};
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);
  linnet_measurement m{};
  m.size = sizeof m;
  CHECK(linnet_measure(nullptr, 1, kPrompt.data(), SIZE_MAX, &m, &err) == LINNET_BAD_ARG);
  CHECK(linnet_measure(nullptr, UINT32_MAX, nullptr, 0, &m, &err) == LINNET_BAD_ARG);
  CHECK(linnet_mem_alloc(SIZE_MAX) == nullptr);

  const Mapped file;
  linnet_model* text = nullptr;
  check(linnet_model_need(file.view, nullptr, &need, &err), err);
  const Memory memory(need.bytes);
  check(linnet_model_init(&text, memory.p, need.bytes, file.view, nullptr, &err), err);
  const std::string hello = "hello";
  size_t scratch = 0, n = 0;
  CHECK(linnet_tokenize_need(text, SIZE_MAX, &scratch) == LINNET_OK);
  CHECK(linnet_tokenize(text, hello.data(), SIZE_MAX, 0, &n, sizeof n, nullptr, 0, &n, &err) == LINNET_TOO_SMALL);
  CHECK(linnet_tokenize(text, hello.data(), SIZE_MAX, 0, &n, scratch, nullptr, 0, &n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_detokenize(text, kPrompt.data(), SIZE_MAX, nullptr, 0, &n, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, "n_tokens is"));

  // Counts in structs that an app may fill itself.
  linnet_board board{};
  board.size = sizeof board;
  check(linnet_board_detect(nullptr, &board, &err), err);
  board.n_clusters = UINT32_MAX;
  linnet_profile profile{};
  profile.size = sizeof profile;
  profile.cores = LINNET_CORES_BIG;
  CHECK(linnet_profile_fit(&profile, &board, &err) == LINNET_BAD_ARG);
  linnet_sensors sensors{};
  sensors.size = sizeof sensors;
  sensors.n_meters = UINT32_MAX;
  CHECK(linnet_sensors_read(&sensors, 0, &err) == LINNET_OK);
  CHECK(sensors.n_meters <= LINNET_MAX_METERS);
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
    REQUIRE(linnet_logits(s.s, 1, 0, &a, &n) == LINNET_OK);
    REQUIRE(linnet_logits(fresh.s, 1, 0, &b, &n) == LINNET_OK);
    INFO("when_full " << when);
    CHECK(std::memcmp(a, b, n * sizeof *a) == 0);
    CHECK((saved(s) == before));
  }
}

TEST_CASE("a ladder that changes while it governs asks for no more threads than there are") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  Session s(model, two_sequences(2));
  linnet_power power{};
  power.size = sizeof power;
  linnet_error err{};
  check(linnet_power_init(&power, nullptr, 2, &err), err);
  check(linnet_power_set(s.s, &power, &err), err);
  s.prefill(kPrompt);
  check(linnet_power_init(&power, nullptr, 256, &err), err);
  for (int i = 0; i < 3; ++i) s.decode();
  linnet_stats stats{};
  stats.size = sizeof stats;
  REQUIRE(linnet_stats_get(s.s, &stats) == LINNET_OK);
  CHECK(stats.n_threads == 2);
  power.n_steps = UINT32_MAX;
  s.decode();
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
    REQUIRE(linnet_truncate(s.s, 0, 0) == LINNET_OK);
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
      linnet_stats_reset(s.s);
      linnet_cancel(s.s);
      linnet_session_fini(s.s);
      auto p = two_sequences(kSlow ? 1 : 2);  // ThreadSanitizer and qemu start no threads after a fork
      linnet_need need{};
      linnet_session* own = nullptr;
      if (linnet_session_need(model.m, &p, &need, &err) != LINNET_OK) wrong += "need ";
      const Memory memory(need.bytes);
      if (linnet_session_init(&own, memory.p, need.bytes, model.m, &p, &err) != LINNET_OK) wrong += "init ";
      const float* logits = nullptr;
      size_t n = 0;
      if (linnet_prefill(own, 0, kPrompt.data(), kPrompt.size(), &err) != LINNET_OK || linnet_logits(own, 0, 0, &logits, &n) != LINNET_OK ||
          std::memcmp(logits, want.data(), n * sizeof *logits))
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
  linnet_need need{};
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
  linnet_stop why = LINNET_STOP_NONE;
  linnet_error err{};
  const pid_t parent = getpid();
  const linnet_status status = linnet_generate(s.s, 0, &g, fn, &forked, &why, &err);
  if (getpid() != parent) {
    linnet_session_fini(s.s);
    _exit(why == LINNET_STOP_CALLBACK ? 0 : 1);
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
      linnet_stats_reset(s);
      linnet_session_fini(s);  // does nothing
    }
  };
  const std::string only_look = "length memory sampling_get stats_get ";
  const auto like_plain = [&](const Session& s) {
    Session plain(model, two_sequences());
    plain.prefill(kPrompt);
    linnet_error err{};
    check(linnet_truncate(s.s, 0, 0) == LINNET_OK ? linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), &err) : LINNET_BAD_STATE, err);
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
    linnet_stop why = LINNET_STOP_NONE;
    const auto fn = [](void* user, int32_t, const char*, size_t) { return static_cast<Inside*>(user)->look(), 0; };
    check(linnet_generate(s.s, 0, &g, fn, &inside, &why, &err), err);
    CHECK((inside.calls == 5 && inside.through == only_look + "threads_set "));
    CHECK(s.length() == kPrompt.size() + 5);
    // A cancel is for the generation that runs.
    const auto cancel = [](void* user, int32_t, const char*, size_t) { return linnet_cancel(static_cast<linnet_session*>(user)), 0; };
    check(linnet_generate(s.s, 0, &g, cancel, s.s, &why, &err), err);
    CHECK(why == LINNET_STOP_CANCEL);
    like_plain(s);
  }
  {  // the governor's
    Session s(model, two_sequences(2));
    s.prefill(kPrompt);
    const auto state = saved(s);
    Inside inside{s.s, &state, {}, 0};
    linnet_sensors sensors{};
    sensors.size = sizeof sensors;
    sensors.by_app = 1;
    sensors.has = LINNET_HAS_TEMPERATURE;
    sensors.temperature = 99;
    sensors.time_ns = 1;
    linnet_profile profile{};
    profile.size = sizeof profile;
    profile.temperature_limit = 50;
    linnet_power power{};
    power.size = sizeof power;
    power.fn = [](void* user, const linnet_power*) { static_cast<Inside*>(user)->look(); };
    power.user = &inside;
    power.sensors = &sensors;
    check(linnet_power_init(&power, &profile, 2, &err), err);
    check(linnet_power_set(s.s, &power, &err), err);
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
  CHECK(stack_of([] {}) < 1024);
  CHECK(stack_of([] {
          volatile uint8_t room[100000];
          for (volatile uint8_t& b : room) b = 1;
        }) >= 100000);

  linnet_board board{};
  board.size = sizeof board;
  linnet_profile profile{};
  profile.size = sizeof profile;
  linnet_sensors sensors{};
  sensors.size = sizeof sensors;
  linnet_power power{};
  power.size = sizeof power;
  linnet_measurement measured{};
  measured.size = sizeof measured;
  linnet_cpus cpus{};
  linnet_isa isa = LINNET_ISA_AUTO;
  within("board_detect", kStack, [&] { return linnet_board_detect(nullptr, &board, &err); });
  within("profile_fit", kStack, [&] { return linnet_profile_fit(&profile, &board, &err); });
  within("cpus_parse", kStack, [&] { return linnet_cpus_parse("0-3,6", &cpus, &err); });
  within("isa_pick", kStack, [&] { return linnet_isa_pick(nullptr, &isa, &err); });
  within("sensors_read", kStack, [&] { return linnet_sensors_read(&sensors, 0, &err); });
  within("power_init", kStack, [&] { return linnet_power_init(&power, nullptr, 2, &err); });
  within("power_step", kStack, [&] { return linnet_power_step(&power, 1, 1000); });
  within("measure", kStack, [&] { return linnet_measure(nullptr, 1, nullptr, 0, &measured, &err); });

  const std::string tools =
      R"([{"name":"act","parameters":{"type":"object","properties":{"what":{"type":"string"},"n":{"type":"integer"}}}}])";
  std::vector<char> blob(1 << 16);
  size_t n_blob = 0;
  check(linnet_grammar_compile({tools.data(), tools.size()}, nullptr, LINNET_GRAMMAR_TEXT_OR_CALL, blob.data(), blob.size(), &n_blob, &err),
        err);
  const std::string path = "/tmp/linnet-test-stack-" + std::to_string(getpid());
  const Mapped with_text;
  for (const char* name :
       {"", "tests/golden/llama", "tests/golden/qwen2-window", "tests/golden/deepseek-v3", "tests/golden/gpt-oss", "tests/golden/gemma3"}) {
    INFO(name);
    const std::unique_ptr<Model> golden = *name ? std::make_unique<Model>(name, LINNET_I8G64, 0, false) : nullptr;
    const linnet_view file = golden ? golden->image.view() : with_text.view;
    linnet_model* m = nullptr;
    linnet_need need{};
    within("model_need", kNeedStack, [&] { return linnet_model_need(file, nullptr, &need, &err); });
    const Memory memory(need.bytes);
    within("model_init", kStack, [&] { return linnet_model_init(&m, memory.p, need.bytes, file, nullptr, &err); });
    linnet_model_desc desc{};
    desc.size = sizeof desc;
    within("model_info", kStack, [&] { return linnet_model_info(m, &desc); });

    for (uint32_t when = LINNET_FULL_STOP; when <= LINNET_FULL_SNAPKV; ++when)
      for (const uint32_t kv : {LINNET_I8, LINNET_F8E4M3, LINNET_F32, LINNET_KIVI4}) {
        if (kSlow && kv != LINNET_I8 && when != LINNET_FULL_STOP) continue;
        if (kv == LINNET_KIVI4 && (when != LINNET_FULL_STOP || desc.n_kv_heads == 1)) continue;  // a latent
        INFO("when_full " << when << ", KV " << linnet_format_name(static_cast<linnet_format>(kv)));
        auto p = two_sequences(2);
        p.kv_format = kv;
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
        const linnet_rows rows[] = {{0, 3, tokens.data()}, {1, 3, tokens.data()}};
        int32_t token = 0;
        linnet_generate_params g{};
        g.size = sizeof g;
        g.max_tokens = 4;
        g.ignore_eos = 1;
        linnet_stop why = LINNET_STOP_NONE;
        std::vector<uint8_t> state;
        linnet_sampling sampling{};
        sampling.size = sizeof sampling;
        sampling.temperature = 1;
        sampling.top_p = 0.9f;
        within("sampling_set", kStack, [&] { return linnet_sampling_set(s, &sampling, &err); });
        within("prefill", kStack, [&] { return linnet_prefill(s, 0, tokens.data(), tokens.size(), &err); });
        within("prefill_batch", kStack, [&] { return linnet_prefill_batch(s, rows, 2, &err); });
        within("sample", kStack, [&] { return linnet_sample(s, 0, &token, &err); });
        within("decode", kStack, [&] { return linnet_decode(s, 0, &token, &err); });
        within("generate", kStack, [&] { return linnet_generate(s, 0, &g, nullptr, nullptr, &why, &err); });
        within("fork", kStack, [&] { return linnet_fork(s, 0, 1, tokens.size() + 8, &err); });
        within("truncate", kStack, [&] { return linnet_truncate(s, 0, tokens.size() + 7); });
        within("state_need", kStack, [&] { return linnet_state_need(s, 1, &bytes, &err); });
        state.resize(bytes);
        within("state_save", kStack, [&] { return linnet_state_save(s, 1, state.data(), state.size(), &bytes, &err); });
        within("state_load", kStack, [&] { return linnet_state_load(s, 0, state.data(), state.size(), &err); });
        within("state_length", kStack, [&] { return linnet_state_length(state.data(), state.size(), &bytes, &err); });
        within("state_save_file", kStack, [&] { return linnet_state_save_file(s, 0, path.c_str(), &err); });
        within("state_load_file", kStack, [&] { return linnet_state_load_file(s, 0, path.c_str(), &err); });
        within("power_set", kStack, [&] { return linnet_power_set(s, &power, &err); });
        within("decode, governed", kStack, [&] { return linnet_decode(s, 0, &token, &err); });
        within("threads_set", kStack, [&] { return linnet_threads_set(s, 1, &err); });
        if (desc.has_tokenizer && when == LINNET_FULL_STOP) {
          linnet_grammar* grammar = nullptr;
          linnet_need of_grammar{};
          within("grammar_need", kStack, [&] { return linnet_grammar_need(m, {blob.data(), n_blob}, &of_grammar, &err); });
          const Memory its(of_grammar.bytes);
          within("grammar_init", kStack,
                 [&] { return linnet_grammar_init(&grammar, its.p, of_grammar.bytes, m, {blob.data(), n_blob}, &err); });
          within("grammar_set", kStack, [&] { return linnet_grammar_set(s, 0, grammar, &err); });
          within("generate with a grammar", kStack, [&] { return linnet_generate(s, 0, &g, nullptr, nullptr, &why, &err); });
        }
        within("session_fini", kStack, [&] { return linnet_session_fini(s), LINNET_OK; });
      }
    if (desc.has_tokenizer) {
      const std::string text = "<|user|>set a timer for ten minutes";
      size_t scratch = 0, n = 0;
      within("tokenize_need", kStack, [&] { return linnet_tokenize_need(m, text.size(), &scratch); });
      std::vector<uint8_t> mem(scratch);
      Tokens ids(200);
      std::string out(2000, '\0');
      within("tokenize", kStack,
             [&] { return linnet_tokenize(m, text.data(), text.size(), 0, mem.data(), scratch, ids.data(), ids.size(), &n, &err); });
      within("detokenize", kStack, [&, ids_n = n] { return linnet_detokenize(m, ids.data(), ids_n, out.data(), out.size(), &n, &err); });
      within("token_text", kStack, [&] { return linnet_token_text(m, ids[0], out.data(), out.size(), &n); });
    }
    // The memory cap looks for what would fit.
    linnet_model_fini(m);
    linnet_need capped{};
    check(linnet_model_need(file, nullptr, &capped, &err), err);
    profile.memory_bytes = capped.bytes + desc.weight_bytes;
    const Memory again(capped.bytes);
    check(linnet_model_init(&m, again.p, capped.bytes, file, &profile, &err), err);
    const auto p = two_sequences();
    linnet_need refused{};
    within("session_need, refused by the cap", kStack, [&] { return linnet_session_need(m, &p, &refused, &err); }, LINNET_TOO_SMALL);
    profile.memory_bytes = 0;
    within("model_fini", kStack, [&] { return linnet_model_fini(m), LINNET_OK; });
  }
  unlink(path.c_str());
  std::printf("most stack: %zu bytes, %s\n", most, of);
}
