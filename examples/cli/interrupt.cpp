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
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second one acts as usual
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // One that came while the model was loading must not be lost.
  if (session && was_interrupted) linnet_cancel(session);
}

bool interrupted() { return was_interrupted; }

}  // namespace linnet::cli
