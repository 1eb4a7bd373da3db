// SIGINT and SIGTERM. The process dies of them, as any program does; what would be lost or left behind is seen to before, by those who ask for it here.
#include <signal.h>

#include <atomic>

#include "cli.h"

namespace linnet::cli {
namespace {

std::atomic<linnet_session*> the_session{nullptr};
std::atomic<int> the_signal{0};
static_assert(std::atomic<linnet_session*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);  // used in a signal handler

void handle(int signal) {
  the_signal = signal;
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
  the_session = session;
  the_signal = 0;
  // The second one ends the process at once. A session's only slow call is the wait for a line of input, which is to end.
  set(handle, static_cast<int>(SA_RESETHAND) | (session ? 0 : SA_RESTART));
}

void interrupt_ends() {
  set(SIG_DFL, 0);
  the_session = nullptr;
}

int interrupted() { return the_signal; }

void die_if_interrupted() {
  if (!the_signal) return;
  interrupt_ends();
  raise(the_signal);
}

}  // namespace linnet::cli
