// What the tool asks of Linux and macOS; system_windows.cpp has the same for Windows.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli.h"

namespace linnet::cli {

void begin_process(int*, char***) {}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string home_folder() { return environment("HOME"); }

bool on_terminal(std::FILE* file) { return isatty(fileno(file)) == 1; }

std::string own_path() {
  char path[4096];
#if defined(__APPLE__)
  uint32_t cap = sizeof path;
  return _NSGetExecutablePath(path, &cap) == 0 ? path : "";
#else
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 && n < static_cast<ssize_t>(sizeof path) ? std::string(path, static_cast<size_t>(n)) : "";
#endif
}

uint64_t peak_rss_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
  constexpr int kUnit = 0;  // bytes
#else
  constexpr int kUnit = 10;  // KiB
#endif
  return static_cast<uint64_t>(usage.ru_maxrss) << kUnit;
}

std::string become_program(const std::string& path, const char* name, char** argv) {
  execv(path.c_str(), argv);
  if (errno == ENOENT) execvp(name, argv);
  return errno == ENOENT ? "" : std::strerror(errno);
}

// ---- SIGINT and SIGTERM -------------------------------------------------------------------------------------------------------------

// The process dies of them, as any program does; what would be lost or left behind is seen to before, by those who ask for it here.
namespace {

std::atomic<linnet_session*> the_session{nullptr};
std::atomic<int> the_signal{0};
static_assert(std::atomic<linnet_session*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);  // used in a signal handler

int the_pipe[2] = {-1, -1};  // a byte for each signal, so that one that comes just before a wait for input ends it too

void handle(int signal) {
  const int e = errno;
  the_signal = signal;
  [[maybe_unused]] const ssize_t told = write(the_pipe[1], "", 1);
  errno = e;
  if (linnet_session* session = the_session) linnet_cancel(session);
}

void set(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool open_pipe() {
  if (pipe(the_pipe) != 0) return false;
  for (const int fd : the_pipe)
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return false;
  return true;
}

}  // namespace

void interrupt_cancels(linnet_session* session) {
  if (the_pipe[0] < 0 && !open_pipe()) the_pipe[0] = the_pipe[1] = -1;  // then a signal may be seen at the next line alone
  for (char byte; the_pipe[0] >= 0 && read(the_pipe[0], &byte, 1) > 0;) {
  }
  the_session = session;
  the_signal = 0;
  // The second one ends the process at once. What waits for whoever reads a session's output is to end; a terminal takes it, and would lose
  // text and seem to be gone. The wait for a line of input ends in any case.
  set(handle, static_cast<int>(SA_RESETHAND) | (session && !on_terminal(stdout) ? 0 : SA_RESTART));
}

void interrupt_ends() {
  set(SIG_DFL, 0);
  the_session = nullptr;
}

int interrupted() { return the_signal; }

const char* const kEndOfInput = "Ctrl-D";

int input_byte() {
  static char buffer[4096];
  static ssize_t at = 0, end = 0;
  while (at == end) {
    pollfd wait[] = {{STDIN_FILENO, POLLIN, 0}, {the_pipe[0], POLLIN, 0}};
    if (the_signal) return EOF;
    if (poll(wait, 2, -1) < 0 && errno != EINTR) return EOF;
    if (the_signal) return EOF;
    errno = 0;
    if (wait[0].revents == 0) continue;
    at = 0;
    end = read(STDIN_FILENO, buffer, sizeof buffer);
    if (end <= 0) return end = 0, EOF;
  }
  return static_cast<unsigned char>(buffer[at++]);
}

void die_if_interrupted() {
  if (!the_signal) return;
  interrupt_ends();
  raise(the_signal);
}

}  // namespace linnet::cli
