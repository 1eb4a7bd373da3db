/* What Python's loop is too slow for, or cannot do: many tokens a call, and Ctrl-C while a call computes. Any thread, but for
 * `main_thread`. */
#define _GNU_SOURCE /* signals, clocks */
#include <errno.h>
#include <linnet_embed.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- Ctrl-C ------------------------------------------------------------------------------------------------------------------------
 * Python's own handler only takes a note, which is read when the call has returned. So the call is cancelled as well. */
static _Atomic(linnet_session*) g_running;
static atomic_int g_fired;
static struct sigaction g_before;

static void interrupted(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  linnet_session* const session = atomic_load(&g_running);
  if (session) atomic_store(&g_fired, 1), linnet_cancel(session);
  if (g_before.sa_flags & SA_SIGINFO)
    g_before.sa_sigaction(number, info, context);
  else
    g_before.sa_handler(number);
  errno = saved;
}

/* main_thread: 1 on the interpreter's main thread where Ctrl-C raises KeyboardInterrupt; else nothing is watched. */
static int watch(linnet_session* session, int main_thread) {
  struct sigaction mine;
  if (!main_thread || sigaction(SIGINT, NULL, &g_before) != 0) return 0;
  if (!(g_before.sa_flags & SA_SIGINFO) && (g_before.sa_handler == SIG_DFL || g_before.sa_handler == SIG_IGN)) return 0;
  memset(&mine, 0, sizeof mine);
  sigemptyset(&mine.sa_mask);
  mine.sa_flags = SA_SIGINFO | (g_before.sa_flags & (SA_ONSTACK | SA_RESTART));
  mine.sa_sigaction = interrupted;
  atomic_store(&g_fired, 0);
  atomic_store(&g_running, session);
  return sigaction(SIGINT, &mine, NULL) == 0;
}

/* *left: a cancel that came when its call was through, and would stop the next one. */
static void unwatch(int watched, linnet_status status, int* left) {
  if (watched) (void)!sigaction(SIGINT, &g_before, NULL);
  atomic_store(&g_running, NULL);
  if (status == LINNET_CANCELLED)
    *left = 0;
  else if (watched && atomic_load(&g_fired))
    *left = 1;
}

static int again(linnet_status status, int watched, int* left) {
  if (status != LINNET_CANCELLED || !*left || (watched && atomic_load(&g_fired))) return 0;
  *left = 0;
  return 1;
}

EXPORT int linnet_python_prefill(linnet_session* session, const linnet_rows* rows, uint32_t n_rows, int main_thread, int* left,
                                 linnet_error* err) {
  const int watched = watch(session, main_thread);
  linnet_status status;
  do
    status = n_rows == 1 ? linnet_prefill(session, rows->seq, rows->tokens, rows->n_tokens, err)
                         : linnet_prefill_batch(session, rows, n_rows, err);
  while (again(status, watched, left));
  unwatch(watched, status, left);
  return status;
}

EXPORT int linnet_python_embed(linnet_session* session, const linnet_rows* rows, uint32_t n_rows, const linnet_embed_params* params,
                               float* out, size_t cap, int main_thread, int* left, linnet_error* err) {
  const int watched = watch(session, main_thread);
  linnet_status status;
  do status = linnet_embed(session, rows, n_rows, params, out, cap, err);
  while (again(status, watched, left));
  unwatch(watched, status, left);
  return status;
}

/* Back to `keep` tokens, which may compute (layers with a state); to < 0: the sequence itself, else a copy. */
EXPORT int linnet_python_rewind(linnet_session* session, uint32_t from, int64_t to, size_t keep, int main_thread, int* left,
                                linnet_error* err) {
  const int watched = watch(session, main_thread);
  linnet_status status;
  do status = to < 0 ? linnet_truncate(session, from, keep, err) : linnet_fork(session, from, (uint32_t)to, keep, err);
  while (again(status, watched, left));
  unwatch(watched, status, left);
  return status;
}

/* ---- generating -------------------------------------------------------------------------------------------------------------------- */

typedef struct linnet_python_batch {
  int32_t* tokens; /* (n_tokens) of room for cap */
  char* text;      /* (n_text) of room for text_cap */
  size_t text_cap, n_text;
  uint32_t cap, n_tokens;
  uint32_t n_back; /* tokens of earlier batches that were taken back */
  uint32_t rest;   /* 1: of `last` text has not been copied; it is there until the next call */
  size_t n_before; /* drawn before this batch; kept from one to the next */
  linnet_generated last;
} linnet_python_batch;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Tokens until most_ns have passed, or `cap` of them, or the end: last.why. On an error what came before it is in the batch. */
EXPORT int linnet_python_generate(linnet_session* session, uint32_t seq, uint64_t most_ns, linnet_python_batch* b, int main_thread,
                                  int* left, linnet_error* err) {
  const int watched = watch(session, main_thread);
  const uint64_t begun = now_ns();
  linnet_status status = LINNET_OK;
  b->n_tokens = b->n_back = b->rest = 0;
  b->n_text = 0;
  do {
    b->last.size = sizeof b->last;
    do status = linnet_generate_next(session, seq, &b->last, err);
    while (again(status, watched, left));
    if (status != LINNET_OK) break;
    if (b->last.n_tokens < b->n_before) {
      size_t back = b->n_before - b->last.n_tokens;
      const size_t here = back < b->n_tokens ? back : b->n_tokens;
      b->n_tokens -= (uint32_t)here;
      b->n_back += (uint32_t)(back - here);
    } else if (b->last.n_tokens > b->n_before) {
      b->tokens[b->n_tokens++] = b->last.token;
    }
    b->n_before = b->last.n_tokens;
    if (b->last.n_bytes > b->text_cap - b->n_text) {
      b->rest = 1;
      break;
    }
    memcpy(b->text + b->n_text, b->last.utf8, b->last.n_bytes);
    b->n_text += b->last.n_bytes;
  } while (b->last.why == LINNET_STOP_NONE && b->n_tokens < b->cap && now_ns() - begun < most_ns);
  unwatch(watched, status == LINNET_OK && b->last.why == LINNET_STOP_CANCEL ? LINNET_CANCELLED : status, left);
  return status;
}
