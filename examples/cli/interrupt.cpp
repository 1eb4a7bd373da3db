// Ctrl-C: a session is told to stop, a conversion sees it through its progress callback.
#include <signal.h>

#include <atomic>

#include "cli.h"

namespace linnet::cli {
namespace {

std::atomic<linnet_session*> the_session{nullptr};
std::atomic<bool> was_interrupted{false};
static_assert(std::atomic<linnet_session*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);  // used in a signal handler

void handle(int) {
  was_interrupted = true;
  if (linnet_session* session = the_session) linnet_cancel(session);
}

}  // namespace

void on_interrupt_cancel(linnet_session* session) {
  the_session = session;
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one acts as usual
  if (!session) action.sa_flags |= SA_RESTART;       // a session's only slow call is the wait for a line of input, which is to end
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // One that came while the model was loading must not be lost.
  if (session && was_interrupted) linnet_cancel(session);
}

bool interrupted() { return was_interrupted; }

void forget_interrupt(linnet_session* session) {
  was_interrupted = false;
  on_interrupt_cancel(session);
}

}  // namespace linnet::cli
