#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

extern char** environ;

namespace assistant {

namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void close(int k) {
    if (ends[k] >= 0) ::close(ends[k]);
    ends[k] = -1;
  }
  ~Pipe() { close(0), close(1); }
};

}  // namespace

bool run_process(const std::vector<std::string>& command, const std::string& input, const ProcessLimits& limits, std::string* output,
                 std::string* why) {
  output->clear();
  if (command.empty() || command[0].empty()) return *why = "no command", false;
  const std::string& name = command[0];
  Pipe in, out;
  if (!in.open() || !out.open()) return *why = name + ": " + std::strerror(errno), false;
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);  // a group of its own, so that its children can be ended with it
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed) return *why = name + ": " + std::strerror(failed), false;
  in.close(0);
  out.close(1);
  fcntl(in.ends[1], F_SETFL, O_NONBLOCK);
  fcntl(out.ends[0], F_SETFL, O_NONBLOCK);
  // A program that does not read its input must not end this one: SIGPIPE stays blocked in this thread while it is written.
  sigset_t pipe_signal, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  bool broken_pipe = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limits.seconds);
  std::string error;
  size_t written = 0;
  int status = 0;
  bool exited = false;
  if (input.empty()) in.close(1);
  while (error.empty() && (out.ends[0] >= 0 || !exited)) {
    if (std::chrono::steady_clock::now() > end) {
      error = "did not finish within " + std::to_string(static_cast<int>(limits.seconds * 1000)) + " ms";
      break;
    }
    if (limits.keep_going && !limits.keep_going()) {
      error = "stopped";
      break;
    }
    const bool ended = exited;                                             // before this look at its output
    pollfd fds[2] = {{out.ends[0], POLLIN, 0}, {in.ends[1], POLLOUT, 0}};  // negative ones are ignored
    poll(fds, 2, 20);
    if (in.ends[1] >= 0 && fds[1].revents) {
      const ssize_t n = write(in.ends[1], input.data() + written, input.size() - written);
      if (n > 0) written += static_cast<size_t>(n);
      broken_pipe |= n < 0 && errno == EPIPE;
      if (written == input.size() || (n < 0 && errno != EAGAIN && errno != EINTR)) in.close(1);
    }
    if (out.ends[0] >= 0 && fds[0].revents) {
      char block[16384];
      const ssize_t n = read(out.ends[0], block, sizeof block);
      if (n > 0 && output->size() + static_cast<size_t>(n) > limits.output)
        error = "wrote more than " + std::to_string(limits.output) + " bytes";
      else if (n > 0)
        output->append(block, static_cast<size_t>(n));
      else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        out.close(0);
    }
    if (!exited) exited = waitpid(pid, &status, WNOHANG) == pid;
    if (ended && out.ends[0] >= 0 && !fds[0].revents) out.close(0);  // a child of it holds the pipe
  }
  kill(-pid, SIGKILL);
  if (!exited) waitpid(pid, &status, 0);
  if (broken_pipe) {
    const timespec now = {};
    sigset_t pending;
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1) sigtimedwait(&pipe_signal, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error.empty() && WIFSIGNALED(status)) error = "was ended by signal " + std::to_string(WTERMSIG(status));
  if (error.empty() && WEXITSTATUS(status) != 0) error = "exited with status " + std::to_string(WEXITSTATUS(status));
  if (error.empty()) return true;
  return *why = name + ": " + error, false;
}

}  // namespace assistant
