// The C ABI of the prefix cache: checks arguments, calls inward. Apart from api.cpp, so that a program that has none links none of it.
#include "../params.h"
#include "prefix.h"

using namespace linnet;

extern "C" {

linnet_status linnet_prefix_need(const linnet_session* session, size_t budget, linnet_need* out, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_process(*session, err));
  LINNET_TRY(prefix_check(*session, err));
  Arena count;
  prefix_layout(count, *session, budget);
  if (count.used() == 0 || !count.ok())
    return fail(err, LINNET_TOO_SMALL, "prefix: ", budget, " bytes do not hold one page and one state of this session's sequences");
  return write_need(out, count.used(), 0, err);
}

linnet_status linnet_prefix_init(linnet_prefix** out, void* mem, size_t bytes, const linnet_session* session, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_memory(mem, err));
  LINNET_TRY(check_process(*session, err));
  LINNET_TRY(prefix_check(*session, err));
  Arena arena(mem, bytes);
  linnet_prefix* const made = prefix_layout(arena, *session, bytes);
  if (!made)
    return fail(err, LINNET_TOO_SMALL, "prefix: memory of ", bytes,
                " bytes does not hold one page and one state of this session's sequences");
  *out = made;
  return LINNET_OK;
}

linnet_status linnet_prefix_keep(linnet_prefix* prefix, const linnet_session* session, uint32_t seq, size_t* n_kept, linnet_error* err) {
  LINNET_NEED_ARG(prefix);
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  size_t kept = 0;
  const linnet_status status = prefix_keep(*prefix, *session, seq, &kept, err);
  if (n_kept) *n_kept = kept;
  return status;
}

linnet_status linnet_prefix_match(linnet_prefix* prefix, linnet_session* session, uint32_t seq, const int32_t* tokens, size_t n,
                                  size_t* n_taken, linnet_error* err) {
  LINNET_NEED_ARG(prefix);
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(n_taken);
  if (n) LINNET_NEED_ARG(tokens);
  LINNET_TRY(check_count(n, sizeof *tokens, "prefix: n", err));
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  return prefix_match(*prefix, *session, seq, tokens, n, n_taken, err);
}

linnet_status linnet_prefix_drop(linnet_prefix* prefix, const int32_t* tokens, size_t n, linnet_error* err) {
  LINNET_NEED_ARG(prefix);
  if (n) LINNET_NEED_ARG(tokens);
  LINNET_TRY(check_count(n, sizeof *tokens, "prefix: n", err));
  prefix_drop(*prefix, tokens, n);
  return LINNET_OK;
}

linnet_status linnet_prefix_export(const linnet_prefix* prefix, const int32_t* tokens, size_t n, size_t first, void* out, size_t cap,
                                   size_t* n_bytes, size_t* n_tokens, linnet_error* err) {
  LINNET_NEED_ARG(prefix);
  LINNET_NEED_ARG(n_bytes);
  if (n) LINNET_NEED_ARG(tokens);
  if (cap) LINNET_NEED_ARG(out);
  if (n > INT32_MAX) return fail(err, LINNET_BAD_ARG, "prefix: n is ", n, ": more tokens than a sequence can have");
  size_t to = 0;
  const linnet_status status = prefix_export(*prefix, tokens, n, first, static_cast<uint8_t*>(out), cap, n_bytes, &to, err);
  if (n_tokens) *n_tokens = to;
  return status;
}

linnet_status linnet_prefix_import(linnet_prefix* prefix, const void* data, size_t n_bytes, size_t* n_tokens, linnet_error* err) {
  LINNET_NEED_ARG(prefix);
  LINNET_NEED_ARG(data);
  size_t to = 0;
  const linnet_status status = prefix_import(*prefix, data, n_bytes, &to, err);
  if (n_tokens) *n_tokens = to;
  return status;
}

linnet_status linnet_prefix_info(const linnet_prefix* prefix, linnet_prefix_desc* out, linnet_error* err) {
  LINNET_NEED_ARG(prefix);
  LINNET_NEED_ARG(out);
  const linnet_prefix& c = *prefix;
  return write_out<linnet_prefix_desc>({sizeof *out, c.n_nodes - 1 - c.n_free_nodes, c.n_states, 0, c.n_units * uint64_t{c.unit_bytes},
                                        (c.n_units - c.n_free_units) * uint64_t{c.unit_bytes}, c.n_dropped},
                                       out, "prefix", err);
}

}  // extern "C"
