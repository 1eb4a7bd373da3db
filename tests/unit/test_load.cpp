// Loading files: mapped, copied, read ahead, locked; progress, cancel, refusals; memory and threads on pages of any size.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "tests/models.h"

// As Android's: a stack that does not begin and end at pages is refused. glibc would take any.
extern "C" int pthread_attr_setstack(pthread_attr_t* attr, void* stack, size_t bytes) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  if (reinterpret_cast<uintptr_t>(stack) % page || bytes % page) return EINVAL;
  static auto real = reinterpret_cast<int (*)(pthread_attr_t*, void*, size_t)>(dlsym(RTLD_NEXT, "pthread_attr_setstack"));
  return real(attr, stack, bytes);
}

using namespace test;

namespace {

constexpr linnet_load kLoads[] = {LINNET_LOAD_MAP, LINNET_LOAD_COPY, LINNET_LOAD_PREWARM, LINNET_LOAD_LOCK, LINNET_LOAD_DEFAULT};
constexpr size_t kMiB = size_t{1} << 20;

size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// A file that goes away with the test.
struct File {
  std::string path = "/tmp/linnet-load-XXXXXX", bytes;
  explicit File(size_t n) : bytes(n, '\0') {
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
    const int fd = mkstemp(path.data());
    REQUIRE((fd >= 0 && write(fd, bytes.data(), n) == static_cast<ssize_t>(n) && close(fd) == 0));
  }
  ~File() { unlink(path.c_str()); }
};

struct Calls {
  std::vector<uint64_t> done;
  uint64_t total = 0, stop_at = UINT64_MAX;
  static int fn(void* user, uint64_t done, uint64_t total) {
    Calls& c = *static_cast<Calls*>(user);
    c.done.push_back(done);
    c.total = total;
    return done >= c.stop_at;
  }
};

// Pages of the file that are mapped into this process or were copied; the mapping of `path` in /proc, -1 where that cannot be read.
long mapped_times(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return -1;
  long n = 0;
  for (std::string line; std::getline(maps, line);) n += line.find(path) != std::string::npos;
  return n;
}

long locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 6, "VmLck:") == 0) return std::strtol(line.c_str() + 6, nullptr, 10);
  return -1;
}

}  // namespace

TEST_CASE("the page size is the one that is asked for") {
  if (const char* asked = std::getenv("LINNET_TEST_PAGE")) CHECK(page() == static_cast<size_t>(std::atol(asked)));
  std::printf("pages of %zu bytes\n", page());
}

TEST_CASE("every way of loading gives the bytes of the file, whatever its length and the page size") {
  linnet_error err{};
  for (const size_t n :
       {size_t{1}, size_t{4096}, page() - 1, page(), page() + 1, 2 * kMiB - 1, 2 * kMiB, 2 * kMiB + page() / 2, 17 * kMiB + 5}) {
    const File file(n);
    for (const linnet_load how : kLoads) {
      if (how == LINNET_LOAD_LOCK && n > kMiB) continue;  // the usual limit is 8 MiB in all
      INFO("way " << how << ", " << n << " bytes");
      linnet_view view{};
      Calls calls;
      const linnet_status s = linnet_file_load(file.path.c_str(), how, Calls::fn, &calls, &view, &err);
      if (how == LINNET_LOAD_LOCK && s == LINNET_TOO_SMALL) {
        std::printf("skipped: %s\n", err.text);
        continue;
      }
      check(s, err);
      REQUIRE(view.bytes == n);
      CHECK(std::memcmp(view.data, file.bytes.data(), n) == 0);
      // Told in order, to the end, and now and then in between.
      REQUIRE_FALSE(calls.done.empty());
      CHECK((calls.total == n && calls.done.back() == n));
      CHECK((std::is_sorted(calls.done.begin(), calls.done.end()) &&
             (how == LINNET_LOAD_MAP || how == LINNET_LOAD_DEFAULT || calls.done.size() >= n / (16 * kMiB))));
      linnet_file_unmap(&view);
      CHECK((view.data == nullptr && view.bytes == 0));
      CHECK(mapped_times(file.path) <= 0);
    }
  }
}

TEST_CASE("a load that is cancelled leaves nothing behind") {
  linnet_error err{};
  const File file(20 * kMiB);
  for (const linnet_load how : {LINNET_LOAD_MAP, LINNET_LOAD_COPY, LINNET_LOAD_PREWARM}) {
    INFO("way " << how);
    char mark = 0;
    linnet_view view{&mark, 7};
    Calls calls;
    calls.stop_at = how == LINNET_LOAD_MAP ? 0 : 10 * kMiB;
    CHECK(linnet_file_load(file.path.c_str(), how, Calls::fn, &calls, &view, &err) == LINNET_CANCELLED);
    CHECK(std::string(err.text).find(file.path) != std::string::npos);
    CHECK((view.data == &mark && view.bytes == 7));
    CHECK((how == LINNET_LOAD_MAP || calls.done.back() < file.bytes.size()));
    CHECK(mapped_times(file.path) <= 0);
  }
  CHECK(slurp(file.path) == file.bytes);
}

TEST_CASE("what cannot be loaded is refused by name") {
  linnet_error err{};
  linnet_view view{};
  const File file(3 * kMiB);
  CHECK(linnet_file_load(nullptr, LINNET_LOAD_MAP, nullptr, nullptr, &view, &err) == LINNET_BAD_ARG);
  for (const linnet_load how : kLoads) {
    CHECK(linnet_file_load("/nowhere/at-all", how, nullptr, nullptr, &view, &err) == LINNET_IO);
    CHECK(std::string(err.text).find("/nowhere/at-all") == 0);
    CHECK(linnet_file_load("/tmp", how, nullptr, nullptr, &view, &err) == LINNET_IO);
    CHECK(linnet_file_load("/dev/zero", how, nullptr, nullptr, &view, &err) == LINNET_IO);
  }
  for (const uint32_t how : {LINNET_LOAD_LOCK + 1u, UINT32_MAX}) {
    CHECK(linnet_file_load(file.path.c_str(), static_cast<linnet_load>(how), nullptr, nullptr, &view, &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text) == "load: how is " + std::to_string(how) + ", there is no such way");
  }
  CHECK(view.data == nullptr);
}

namespace {

// A folder that goes away with the test.
struct Folder {
  std::string path = "/tmp/linnet-save-XXXXXX";
  Folder() { REQUIRE(mkdtemp(path.data())); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  std::string at(const char* name) const { return path + "/" + name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator()));
  }
};
uint32_t mode_of(const std::string& path) {
  struct stat st;
  REQUIRE(lstat(path.c_str(), &st) == 0);
  return st.st_mode & 07777;
}
linnet_status save(const std::string& path, const std::string& text, uint32_t mode, linnet_error* err) {
  return linnet_file_save(path.c_str(), text.data(), text.size(), mode, err);
}

}  // namespace

TEST_CASE("saving: a file is made with its mode, replaced at once, and nothing is left beside it") {
  linnet_error err{};
  const Folder folder;
  const mode_t before = umask(022);
  check(save(folder.at("a"), "one", 0, &err), err);
  CHECK((slurp(folder.at("a")) == "one" && mode_of(folder.at("a")) == 0644));
  check(save(folder.at("b"), "secret", 0600, &err), err);
  CHECK(mode_of(folder.at("b")) == 0600);
  check(save(folder.at("c"), "", 0777, &err), err);
  CHECK((slurp(folder.at("c")).empty() && mode_of(folder.at("c")) == 0755));
  check(linnet_file_save(folder.at("c").c_str(), nullptr, 0, 0, &err), err);
  check(save(folder.at("b"), "replaced", 0666, &err), err);
  CHECK((slurp(folder.at("b")) == "replaced" && mode_of(folder.at("b")) == 0600));  // no permission that the old one had not
  // Who has the old one open reads it to its end.
  const int old = open(folder.at("a").c_str(), O_RDONLY);
  REQUIRE(old >= 0);
  const std::string large(3 * kMiB + 5, 'x');
  check(save(folder.at("a"), large, 0, &err), err);
  char text[8];
  CHECK((read(old, text, sizeof text) == 3 && std::memcmp(text, "one", 3) == 0));
  close(old);
  CHECK(slurp(folder.at("a")) == large);
  // Through a link: what it leads to is replaced, or made.
  REQUIRE(symlink("a", folder.at("link").c_str()) == 0);
  check(save(folder.at("link"), "two", 0, &err), err);
  CHECK((slurp(folder.at("a")) == "two" && std::filesystem::is_symlink(folder.at("link"))));
  REQUIRE(symlink("new", folder.at("to-new").c_str()) == 0);
  check(save(folder.at("to-new"), "three", 0640, &err), err);
  CHECK((slurp(folder.at("new")) == "three" && mode_of(folder.at("new")) == 0640 && std::filesystem::is_symlink(folder.at("to-new"))));
  umask(before);
  CHECK(folder.files() == 6);
}

TEST_CASE("saving: nodes, folders and bad arguments are refused by name, and nothing changes") {
  linnet_error err{};
  const Folder folder;
  REQUIRE(mkfifo(folder.at("fifo").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder.at("folder"));
  REQUIRE(symlink("/dev/null", folder.at("null").c_str()) == 0);
  for (const std::string& path :
       {folder.at("fifo"), folder.at("folder"), folder.at("null"), folder.at("none/x"), std::string("/dev/null"), std::string()}) {
    INFO("'" << path << "'");
    CHECK(save(path, "text", 0, &err) == LINNET_IO);
    CHECK(err.text[0]);
    if (!path.empty()) CHECK(std::string(err.text).find(path) == 0);
  }
  CHECK(save(folder.at("x"), "text", 010000, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("mode") != std::string::npos);
  CHECK(linnet_file_save(nullptr, "text", 4, 0, &err) == LINNET_BAD_ARG);
  CHECK(linnet_file_save(folder.at("x").c_str(), nullptr, 4, 0, &err) == LINNET_BAD_ARG);
  CHECK(linnet_file_save(folder.at("x").c_str(), "text", SIZE_MAX, 0, &err) == LINNET_BAD_ARG);
  CHECK(folder.files() == 3);
  // No room: the old file stays, and no other.
  check(save(folder.at("x"), "old", 0, &err), err);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) _exit(77);
    _exit(save(folder.at("x"), std::string(100000, 'x'), 0, &err) == LINNET_IO ? 0 : 1);
  }
  int how = -1;
  REQUIRE(waitpid(child, &how, 0) == child);
  CHECK((WIFEXITED(how) && WEXITSTATUS(how) == 0));
  CHECK((slurp(folder.at("x")) == "old" && folder.files() == 4));
}

TEST_CASE("locking: pages are locked until the file is unmapped, and a limit that is too small is named") {
  linnet_error err{};
  const File file(256 << 10);
  linnet_view view{};
  const long before = locked_kib();
  if (before < 0) {
    std::printf("skipped: /proc/self/status does not say what is locked\n");
    return;
  }
  const linnet_status s = linnet_file_load(file.path.c_str(), LINNET_LOAD_LOCK, nullptr, nullptr, &view, &err);
  if (s == LINNET_TOO_SMALL) {
    std::printf("skipped: %s\n", err.text);
  } else {
    check(s, err);
    const long now = locked_kib();
    linnet_file_unmap(&view);
    if (now > before)
      CHECK((now == before + 256 && locked_kib() == before));
    else
      std::printf("skipped: this kernel does not count locked pages\n");
  }
  // A limit below the file's size, in a process of its own: the superuser, whom no limit holds, becomes nobody there.
  REQUIRE(chmod(file.path.c_str(), 0644) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit low = {64 << 10, 64 << 10};
    if (setrlimit(RLIMIT_MEMLOCK, &low) != 0 || (geteuid() == 0 && setuid(65534) != 0)) _exit(77);
    const linnet_status refused = linnet_file_load(file.path.c_str(), LINNET_LOAD_LOCK, nullptr, nullptr, &view, &err);
    const auto says = [&](const char* what) { return std::strstr(err.text, what) != nullptr; };
    _exit(refused == LINNET_TOO_SMALL && says("262144") && says("65536") && says("RLIMIT_MEMLOCK") && !view.data &&
                  mapped_times(file.path) == 0
              ? 0
              : 1);
  }
  int how = -1;
  REQUIRE(waitpid(child, &how, 0) == child);
  REQUIRE(WIFEXITED(how));
  if (WEXITSTATUS(how) == 77)
    std::printf("skipped: this process cannot lower its limit of locked memory\n");
  else
    CHECK(WEXITSTATUS(how) == 0);
}

TEST_CASE("memory from the library is whole pages of this system, and all of it is given back") {
  for (const size_t n : {size_t{1}, page() - 1, page() + 1, 2 * kMiB - 1, 2 * kMiB + 1, 3 * kMiB + page() / 2 + 1, 5 * kMiB}) {
    INFO(n << " bytes");
    auto* p = static_cast<uint8_t*>(linnet_mem_alloc(n));
    REQUIRE(p);
    CHECK(reinterpret_cast<uintptr_t>(p) % page() == 0);
    bool zero = true;
    for (size_t i = 0; i < n; ++i) zero &= p[i] == 0;
    CHECK(zero);
    std::memset(p, 0x5A, n);
    linnet_mem_free(p, n);
    // Both ends are gone: the system can say so of an address that is not mapped.
    unsigned char in_core = 0;
    CHECK(mincore(p, 1, &in_core) != 0);
    CHECK(mincore(p + (n - 1) / page() * page(), 1, &in_core) != 0);
  }
}

TEST_CASE("linnet's own threads have stacks that begin at a page of this system, wherever the session lies") {
  // The session's memory is moved by 64 bytes so that luck does not help.
  const Model model("synthetic:moe-tiny", LINNET_I8G128);
  auto p = params(0, 3, 8, 1, 32);
  p.threads = LINNET_THREADS_OWN;
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  check(linnet_session_need(model.m, &p, &need, &err), err);
  const Memory memory(need.bytes + 64);
  linnet_session* s = nullptr;
  for (const size_t shift : {size_t{0}, size_t{64}}) {
    check(linnet_session_init(&s, static_cast<uint8_t*>(memory.p) + shift, need.bytes, model.m, &p, &err), err);
    const int32_t tokens[] = {1, 2, 3};
    check(linnet_prefill(s, 0, tokens, 3, &err), err);
    linnet_session_fini(s);
  }
}
