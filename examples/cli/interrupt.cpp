// SIGINT and SIGTERM. The process dies of them, as any program does; what would be lost or left behind is seen to before, by those who ask
// for it here.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
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

}  // namespace

void interrupt_cancels(linnet_session* session) {
  if (the_pipe[0] < 0 && pipe2(the_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    the_pipe[0] = the_pipe[1] = -1;  // then a signal may be seen at the next line alone
  for (char byte; the_pipe[0] >= 0 && read(the_pipe[0], &byte, 1) > 0;) {
  }
  the_session = session;
  the_signal = 0;
  // The second one ends the process at once. A session's only slow call is the wait for a line of input, which is to end.
  set(handle, static_cast<int>(SA_RESETHAND) | (session ? 0 : SA_RESTART));
}

void interrupt_ends() {
  set(SIG_DFL, 0);
  the_session = nullptr;
}

linnet_status begin_file(const std::string& path, linnet_session* session, convert::WholeFile* file, linnet_error* err) {
  struct stat st;
  // A device or FIFO is written to as it is: nothing is left behind, and to open it may wait for somebody.
  if (stat(path.c_str(), &st) != 0 || S_ISREG(st.st_mode)) interrupt_cancels(session);
  return file->open(path, true, err);
}

int interrupted() { return the_signal; }

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
