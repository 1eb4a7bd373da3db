// The shared library as apps load it at run time: test_shared liblinnet.so MODEL [STEP]. Each step is a process of its own, so that one
// that crashes is told by name.
#include <dlfcn.h>
#include <linnet.h>
#include <linnet_device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

const char *library_path, *model_path;

[[noreturn]] void fault(const std::string& text) {
  std::fprintf(stderr, "  %s\n", text.c_str());
  std::_Exit(1);
}
void expect(bool right, const char* text) {
  if (!right) fault(text);
}

// What is called of the library, by name alone.
struct Linnet {
  void* handle;
#define LINNET_FOUND(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(find(#name))
  LINNET_FOUND(linnet_file_map);
  LINNET_FOUND(linnet_file_unmap);
  LINNET_FOUND(linnet_model_need);
  LINNET_FOUND(linnet_model_init);
  LINNET_FOUND(linnet_model_fini);
  LINNET_FOUND(linnet_session_need);
  LINNET_FOUND(linnet_session_init);
  LINNET_FOUND(linnet_session_fini);
  LINNET_FOUND(linnet_prefill);
  LINNET_FOUND(linnet_truncate);
  LINNET_FOUND(linnet_generate);
#undef LINNET_FOUND

 private:
  void* find(const char* name) const {
    void* const found = handle ? dlsym(handle, name) : nullptr;
    if (!found) fault(dlerror());
    return found;
  }
};
Linnet load() { return {dlopen(library_path, RTLD_NOW | RTLD_LOCAL)}; }

// A model and a session in memory of the app's own.
class Chat {
 public:
  Chat(const Linnet& linnet, linnet_threads threads) : linnet_(linnet) {
    const int32_t prompt[] = {300, 301, 302, 303, 304, 305, 306, 307};
    linnet_need need = {};
    need.size = sizeof need;
    linnet_session_params p = {};
    p.size = sizeof p;
    p.n_context = 64;
    p.n_threads = 2;
    p.threads = threads;
    check(linnet_.linnet_file_map(model_path, LINNET_LOAD_MAP, &file_, &err));
    check(linnet_.linnet_model_need(&file_, nullptr, &need, &err));
    model_memory_ = room(need.bytes);
    check(linnet_.linnet_model_init(&model_, model_memory_, need.bytes, &file_, nullptr, &err));
    if (linnet_.linnet_session_need(model_, &p, &need, &err) == LINNET_UNSUPPORTED && threads == LINNET_THREADS_OPENMP) {
      std::printf("  skipped: OpenMP: %s\n", err.text);
      p.threads = LINNET_THREADS_OWN;
    }
    check(linnet_.linnet_session_need(model_, &p, &need, &err));
    session_memory_ = room(need.bytes);
    check(linnet_.linnet_session_init(&session, session_memory_, need.bytes, model_, &p, &err));
    check(linnet_.linnet_prefill(session, 0, prompt, 8, &err));
  }
  ~Chat() {
    linnet_.linnet_session_fini(session);
    linnet_.linnet_model_fini(model_);
    linnet_.linnet_file_unmap(&file_);
    std::free(session_memory_);
    std::free(model_memory_);
  }
  Chat(const Chat&) = delete;
  Chat& operator=(const Chat&) = delete;

  linnet_status generate(linnet_token_fn fn, void* user) {
    linnet_generate_params how = {};
    how.size = sizeof how;
    how.max_tokens = 8;
    how.ignore_eos = 1;
    linnet_generated made = {};
    made.size = sizeof made;
    return linnet_.linnet_generate(session, 0, &how, fn, user, &made, &err);
  }
  std::vector<int32_t> tokens() {
    std::vector<int32_t> out;
    const auto add = [](void* to, int32_t token, const char*, size_t) {
      if (token >= 0) static_cast<std::vector<int32_t>*>(to)->push_back(token);
      return 0;
    };
    check(generate(add, &out));
    expect(out.size() == 8, "not all tokens came");
    return out;
  }
  void check(linnet_status status) {
    if (status != LINNET_OK) fault(err.text);
  }

  linnet_session* session = nullptr;
  linnet_error err = {};

 private:
  static void* room(size_t bytes) {
    void* p = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    expect(p != nullptr, "no memory");
    return p;
  }
  const Linnet& linnet_;
  linnet_view file_ = {};
  linnet_model* model_ = nullptr;
  void *model_memory_ = nullptr, *session_memory_ = nullptr;
};

std::vector<int32_t> answer(const Linnet& linnet, linnet_threads threads) { return Chat(linnet, threads).tokens(); }

// A number of /proc/self/status.
long of_process(const char* key) {
  long value = -1;
  char line[256];
  std::FILE* const f = std::fopen("/proc/self/status", "r");
  while (f && std::fgets(line, sizeof line, f))
    if (std::strncmp(line, key, std::strlen(key)) == 0) value = std::strtol(line + std::strlen(key), nullptr, 10);
  if (f) std::fclose(f);
  return value;
}

// OpenMP's threads wait for more work after the session's end: the code that they wait in must stay.
void reload() {
  setenv("OMP_WAIT_POLICY", "active", 1);  // they spin, and notice at once
  std::vector<int32_t> first;
  for (int i = 0; i < 3; ++i) {
    const Linnet linnet = load();
    for (const linnet_threads kind : {LINNET_THREADS_OPENMP, LINNET_THREADS_OWN}) {
      const std::vector<int32_t> got = answer(linnet, kind);
      if (first.empty()) first = got;
      expect(got == first, "another answer after dlclose and dlopen");
    }
    expect(dlclose(linnet.handle) == 0, "dlclose");
    usleep(50000);
  }
}

// Two handles are one library; two namespaces are two that know nothing of each other.
void twice() {
  const Linnet a = load(), b = load();
  expect(a.handle == b.handle && a.linnet_prefill == b.linnet_prefill, "a second dlopen is not the first");
  const std::vector<int32_t> want = answer(a, LINNET_THREADS_OWN);
  expect(dlclose(b.handle) == 0, "dlclose");
  expect(answer(a, LINNET_THREADS_OWN) == want, "another answer after the other handle was closed");
#ifdef LM_ID_NEWLM
  const Linnet apart = {dlmopen(LM_ID_NEWLM, library_path, RTLD_NOW | RTLD_LOCAL)};
  expect(apart.linnet_prefill != a.linnet_prefill, "a namespace has the library of another");
  Chat here(a, LINNET_THREADS_OWN), there(apart, LINNET_THREADS_OWN);
  expect(here.tokens() == want && there.tokens() == want, "another answer in another namespace");
#endif
}

// A session that always another thread calls, as languages with threads of their own do it.
void threads_come_and_go() {
  const Linnet linnet = load();
  for (const linnet_threads kind : {LINNET_THREADS_OWN, LINNET_THREADS_OPENMP}) {
    Chat chat(linnet, kind);
    const auto calls = [&](int n) {
      for (int i = 0; i < n; ++i)
        std::thread([&] {
          const int32_t token = 307;
          chat.check(linnet.linnet_truncate(chat.session, 0, 7, &chat.err));
          chat.check(linnet.linnet_prefill(chat.session, 0, &token, 1, &chat.err));
        }).join();
    };
    calls(100);
    const long kib = of_process("VmRSS:"), threads = of_process("Threads:");
    calls(kind == LINNET_THREADS_OWN || std::getenv("LINNET_TEST_FULL") ? 1000 : 200);
    const long more_kib = of_process("VmRSS:") - kib, more_threads = of_process("Threads:") - threads;
    std::printf("  %s: %ld threads, %+ld afterwards, %+ld KiB\n", kind == LINNET_THREADS_OWN ? "own" : "OpenMP", threads, more_threads,
                more_kib);
    expect(kind != LINNET_THREADS_OWN || (more_threads == 0 && more_kib < 1024), "threads that came and went left something");
  }
}

const struct {
  const char* name;
  void (*fn)();
} kSteps[] = {{"reload", reload}, {"twice", twice}, {"threads", threads_come_and_go}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: test_shared LIBRARY MODEL [STEP]\n"), 2;
  library_path = argv[1];
  model_path = argv[2];
  int bad = 0;
  for (const auto& step : kSteps) {
    if (argc > 3 && std::strcmp(argv[3], step.name) != 0) continue;
    std::printf("%s\n", step.name);
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      step.fn();
      std::exit(0);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
      std::fprintf(stderr, "%s: %s %d\n", step.name, WIFSIGNALED(status) ? "signal" : "exit",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
      bad = 1;
    }
  }
  return bad;
}
