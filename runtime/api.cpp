// The C ABI of the core, but for templates (chat/api_chat.cpp): checks arguments, calls inward.
#include <cstddef>
#include <cstring>
#include <new>

#include "../kernels_cpu/measure.h"
#include "../platform/board.h"
#include "../platform/file.h"
#include "../platform/fp.h"
#include "../platform/sensors.h"
#include "../platform/team.h"
#include "chat/render.h"
#include "params.h"
#include "power.h"
#include "state.h"

using namespace linnet;

namespace {

// A call that may call the app's callbacks and hooks.
struct Call {
  linnet_session& s;
  explicit Call(linnet_session* session) : s(*session) { s.within = Within::kCall; }
  ~Call() { s.within = Within::kNothing; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

// For an object that is one struct.
template <class T>
Status check_room(const void* mem, size_t bytes, const char* what, Error* err) {
  if (!mem) return fail(err, LINNET_BAD_ARG, what, ": mem is NULL");
  LINNET_TRY(check_memory(mem, err));
  return bytes >= sizeof(T) ? LINNET_OK : fail(err, LINNET_TOO_SMALL, what, ": memory of ", bytes, " bytes, needs ", sizeof(T));
}

template <class T>
Status board_row(const T* rows, uint32_t n, uint32_t i, const char* what, T* out, Error* err) {
  if (i >= n) return fail(err, LINNET_BAD_ARG, "board: row ", i, " of ", n, " ", what);
  return write_out(rows[i], out, what, err);
}

}  // namespace

extern "C" {

uint32_t linnet_version(void) { return LINNET_VERSION_MAJOR << 16 | LINNET_VERSION_MINOR << 8 | LINNET_VERSION_PATCH; }

const char* linnet_build_info(void) {
  static_assert(LINNET_VERSION_MAJOR == 0 && LINNET_VERSION_MINOR == 2 && LINNET_VERSION_PATCH == 0);
  return "linnet 0.2.0"
#if defined(__clang__)
         ", clang " __clang_version__
#else
         ", gcc " __VERSION__
#endif
#if LINNET_HAVE_OPENMP
         ", OpenMP"
#endif
      LINNET_BACKENDS;
}

const char* linnet_status_text(linnet_status status) {
  switch (status) {
    case LINNET_OK:
      return "LINNET_OK";
    case LINNET_BAD_ARG:
      return "LINNET_BAD_ARG";
    case LINNET_BAD_FILE:
      return "LINNET_BAD_FILE";
    case LINNET_BAD_PROFILE:
      return "LINNET_BAD_PROFILE";
    case LINNET_UNSUPPORTED:
      return "LINNET_UNSUPPORTED";
    case LINNET_TOO_SMALL:
      return "LINNET_TOO_SMALL";
    case LINNET_CONTEXT_FULL:
      return "LINNET_CONTEXT_FULL";
    case LINNET_BAD_STATE:
      return "LINNET_BAD_STATE";
    case LINNET_IO:
      return "LINNET_IO";
    case LINNET_DEVICE:
      return "LINNET_DEVICE";
    case LINNET_CANCELLED:
      return "LINNET_CANCELLED";
    case LINNET_NOT_FINITE:
      return "LINNET_NOT_FINITE";
    case LINNET_NO_MEMORY:
      return "LINNET_NO_MEMORY";
  }
  return "unknown status";
}

/* ---- helpers outside the core */

linnet_status linnet_file_map(const char* path, linnet_load how, linnet_view* out, linnet_error* err) {
  return linnet_file_load(path, how, nullptr, nullptr, out, err);
}
linnet_status linnet_file_load(const char* path, linnet_load how, linnet_progress_fn fn, void* user, linnet_view* out, linnet_error* err) {
  LINNET_NEED_ARG(path);
  LINNET_NEED_ARG(out);
  return file_load(path, how, {fn, user}, out, err);
}
linnet_status linnet_file_save(const char* path, const void* data, size_t bytes, uint32_t mode, linnet_error* err) {
  LINNET_NEED_ARG(path);
  if (bytes) LINNET_NEED_ARG(data);
  LINNET_TRY(check_count(bytes, 1, "file: bytes", err));
  if (mode > 07777) return fail(err, LINNET_BAD_ARG, "file: mode is ", mode, ", more than permissions have");
  Replacement file;
  LINNET_TRY(file.open(path, err, mode ? mode : 0666));
  LINNET_TRY(file.write(data, bytes, err));
  return file.commit(err);
}
void linnet_file_unmap(linnet_view* view) {
  if (view) file_unmap(view);
}
void* linnet_mem_alloc(size_t bytes) { return memory_alloc(bytes); }
void linnet_mem_free(void* mem, size_t bytes) { memory_free(mem, bytes); }

/* ---- board and profile */

linnet_status linnet_board_need(linnet_need* out, linnet_error* err) { return write_need(out, sizeof(linnet_board), 0, err); }

linnet_status linnet_board_init(linnet_board** out, void* mem, size_t bytes, const char* root, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_room<linnet_board>(mem, bytes, "board", err));
  if (!root) root = "";
  linnet_board board;
  uint64_t seen = 0;
  LINNET_TRY(board_detect(root, &board, &seen, err));
  board.isa_mask = isa_mask_of(seen);
  if (!*root) {  // this CPU itself says what it has
    board.isa_mask = 0;
    for (uint32_t i = 0; const KernelTable* t = kernel_tier(i); ++i)
      if (!(isa_row(t->isa)->required & ~cpu_bits())) board.isa_mask |= 1u << t->isa;
#if defined(__x86_64__)
    board.arch = LINNET_ARCH_X86_64;
#elif defined(__aarch64__)
    board.arch = LINNET_ARCH_AARCH64;
#elif defined(__arm__)
    board.arch = LINNET_ARCH_ARM;
#endif
  }
  *out = new (mem) linnet_board(board);
  return LINNET_OK;
}

linnet_status linnet_board_info(const linnet_board* board, linnet_board_desc* out, linnet_error* err) {
  LINNET_NEED_ARG(board);
  LINNET_NEED_ARG(out);
  return write_out<linnet_board_desc>(*board, out, "board", err);
}

linnet_status linnet_board_cluster(const linnet_board* board, uint32_t i, linnet_cluster* out, linnet_error* err) {
  LINNET_NEED_ARG(board);
  LINNET_NEED_ARG(out);
  return board_row(board->clusters, board->n_clusters, i, "clusters", out, err);
}
linnet_status linnet_board_cache(const linnet_board* board, uint32_t i, linnet_cache* out, linnet_error* err) {
  LINNET_NEED_ARG(board);
  LINNET_NEED_ARG(out);
  return board_row(board->caches, board->n_caches, i, "caches", out, err);
}
linnet_status linnet_board_zone(const linnet_board* board, uint32_t i, linnet_zone* out, linnet_error* err) {
  LINNET_NEED_ARG(board);
  LINNET_NEED_ARG(out);
  return board_row(board->zones, board->n_zones, i, "zones", out, err);
}

linnet_status linnet_cpus_parse(const char* list, linnet_cpus* out, linnet_error* err) {
  LINNET_NEED_ARG(list);
  LINNET_NEED_ARG(out);
  return cpu_parse(list, out) ? LINNET_OK : fail(err, LINNET_BAD_ARG, "'", list, "' is no list of CPUs, like 0-3,6");
}

linnet_status linnet_profile_fit(linnet_profile* profile, const linnet_board* board, linnet_error* err) {
  LINNET_NEED_ARG(profile);
  LINNET_NEED_ARG(board);
  linnet_profile p;
  LINNET_TRY(read_params(profile, "profile", &p, err));
  LINNET_TRY(profile_fit(&p, *board, err));
  return write_out(p, profile, "profile", err);
}

/* ---- formats and tiers */

const char* linnet_isa_name(linnet_isa isa) { return isa_name(static_cast<uint32_t>(isa)); }

linnet_status linnet_cuda_detect(linnet_cuda_device* out, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_out(out, "linnet_cuda_device", err));
  linnet_cuda_device found;
  LINNET_TRY(backend_detect(&found, err));
  return write_out(found, out, "linnet_cuda_device", err);
}

linnet_status linnet_isa_pick(const linnet_profile* profile, linnet_isa* out, linnet_error* err) {
  LINNET_NEED_ARG(out);
  linnet_profile p;
  LINNET_TRY(read_params(profile, "profile", &p, err));
  LINNET_TRY(check_profile(p, err));
  Kernels kernels;
  LINNET_TRY(profile_kernels(p, false, &kernels, err));
  *out = kernels.t.isa;
  return LINNET_OK;
}

const char* linnet_format_name(linnet_format format) { return format_name(format); }
linnet_format linnet_format_from_name(const char* name) { return name ? format_from_name(name) : LINNET_FORMAT_DEFAULT; }

linnet_status linnet_measure(const linnet_profile* profile, uint32_t n_threads, const void* data, size_t bytes, linnet_measurement* out,
                             linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_out(out, "measure", err));
  if (n_threads == 0 || n_threads > 256) return fail(err, LINNET_BAD_ARG, "measure: n_threads is ", n_threads, ", must be 1..256");
  if (data) LINNET_TRY(check_count(bytes, 1, "measure: bytes", err));
  linnet_profile p;
  LINNET_TRY(read_params(profile, "profile", &p, err));
  LINNET_TRY(check_profile(p, err));
  Kernels kernels;
  LINNET_TRY(kernels_resolve(p.isa, p.isa_mask, &kernels, err));
  linnet_measurement m{};
  const bool products = out->size > offsetof(linnet_measurement, decode_gb_s);
  const Backend* backend = nullptr;
  LINNET_TRY(backend_choose(p, &backend, err));
  m.isa = kernels.t.isa;
  LINNET_TRY(backend->measure(p, kernels, n_threads, data, bytes, products, &m, err));
  return write_out(m, out, "measure", err);
}

/* ---- model */

linnet_status linnet_model_need(const linnet_view* file, const linnet_profile* profile, linnet_need* out, linnet_error* err) {
  LINNET_NEED_ARG(file);
  LINNET_NEED_ARG(file->data);
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_out(out, "need", err));
  linnet_profile p;
  LINNET_TRY(read_params(profile, "profile", &p, err));
  linnet_need need;
  LINNET_TRY(model_need(*file, p, &need, err));
  return write_out(need, out, "need", err);
}

linnet_status linnet_model_init(linnet_model** out, void* mem, size_t bytes, const linnet_view* file, const linnet_profile* profile,
                                linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(file);
  LINNET_NEED_ARG(file->data);
  LINNET_TRY(check_memory(mem, err));
  linnet_profile p;
  LINNET_TRY(read_params(profile, "profile", &p, err));
  return model_init(out, mem, bytes, *file, p, err);
}

linnet_status linnet_model_info(const linnet_model* model, linnet_model_desc* out, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(out);
  const ModelSpec& s = model->spec;
  linnet_model_desc d{};
  d.n_layers = s.n_layers;
  d.d_model = s.d_model;
  d.n_heads = s.n_heads;
  d.n_kv_heads = s.n_kv_heads;
  d.head_dim = s.head_dim;
  d.d_ff = s.d_ff;
  d.n_vocab = s.n_vocab;
  d.n_context = s.n_context;
  d.has_tokenizer = model->tokenizer.blob != nullptr;
  d.bos_id = d.has_tokenizer ? model->tokenizer.bos_id : -1;
  d.eos_id = d.has_tokenizer ? model->tokenizer.eos_id : -1;
  d.isa = model->kernels.t.isa;
  d.n_params = model->n_params;
  d.weight_bytes = model->weight_bytes;
  d.layer_embd_bytes = model->layer_embd_bytes;
  d.decode_bytes = model->decode_bytes;
  d.matrix_ops = model->matrix_ops;
  d.head_ops = model->head_ops;
  d.architecture = s.architecture;
  d.name = model->name;
  d.weights = s.n_layers ? format_name(model->main_format) : "";
  d.embedding_bits = model->bits[kPartEmbedding];
  d.attention_bits = model->bits[kPartAttention];
  d.ffn_bits = model->bits[kPartFfn];
  d.head_bits = model->bits[kPartHead];
  backend_describe(*model->backend, &d);
  return write_out(d, out, "model", err);
}

void linnet_model_fini(linnet_model* model) {
  if (model) model_fini(*model);
}

linnet_status linnet_model_memory(const linnet_model* model, uint32_t i, const char** purpose, size_t* bytes, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(purpose);
  LINNET_NEED_ARG(bytes);
  return footprint_row(model->arena, model->own, nullptr, i, purpose, bytes, err);
}

/* ---- tokenizer */

// static, not in a nameless namespace: inside extern "C" that would still be a global symbol
static Status need_tokenizer(const linnet_model* model, Error* err) {
  return model->tokenizer.blob ? LINNET_OK : fail(err, LINNET_UNSUPPORTED, "this model has no tokenizer; use token ids");
}
static Status check_token(const linnet_model* model, int32_t token, Error* err) {
  return token >= 0 && static_cast<uint32_t>(token) < model->spec.n_vocab
             ? LINNET_OK
             : fail(err, LINNET_BAD_ARG, "token ", token, " is outside 0..", model->spec.n_vocab - 1);
}

linnet_status linnet_tokenize_need(const linnet_model* model, size_t text_bytes, size_t* scratch_bytes, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(scratch_bytes);
  LINNET_TRY(need_tokenizer(model, err));
  const size_t need = tokenize_scratch_bytes(model->tokenizer, text_bytes);
  if (need == SIZE_MAX) return fail(err, LINNET_BAD_ARG, "tokenize: a text of ", text_bytes, " bytes is more than is taken at once");
  *scratch_bytes = need;
  return LINNET_OK;
}

linnet_status linnet_tokenize(const linnet_model* model, const char* text, size_t text_bytes, uint32_t flags, void* scratch,
                              size_t scratch_bytes, int32_t* out, size_t cap, size_t* n_tokens, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(n_tokens);
  if (text_bytes) LINNET_NEED_ARG(text);
  if (cap) LINNET_NEED_ARG(out);
  if (flags & ~uint32_t{LINNET_ADD_SPECIAL | LINNET_PARSE_SPECIAL}) return fail(err, LINNET_BAD_ARG, "tokenize: flags are ", flags);
  LINNET_TRY(need_tokenizer(model, err));
  return tokenize(model->tokenizer, std::string_view(text, text_bytes), flags, scratch, scratch_bytes, out, cap, n_tokens, err);
}

linnet_status linnet_detokenize(const linnet_model* model, const int32_t* tokens, size_t n_tokens, uint32_t flags, char* out, size_t cap,
                                size_t* n_bytes, linnet_error* err) {
  LINNET_NEED_ARG(model);
  if (flags & ~uint32_t{LINNET_SKIP_SPECIAL}) return fail(err, LINNET_BAD_ARG, "detokenize: flags are ", flags);
  LINNET_NEED_ARG(n_bytes);
  if (n_tokens) LINNET_NEED_ARG(tokens);
  LINNET_TRY(check_count(n_tokens, sizeof *tokens, "detokenize: n_tokens", err));
  if (cap) LINNET_NEED_ARG(out);
  LINNET_TRY(need_tokenizer(model, err));
  for (size_t i = 0; i < n_tokens; ++i)
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= model->spec.n_vocab)
      return fail(err, LINNET_BAD_ARG, "detokenize: token ", tokens[i], " at ", i, " is outside 0..", model->spec.n_vocab - 1);
  return detokenize(model->tokenizer, tokens, n_tokens, flags, out, cap, n_bytes, err);
}

linnet_status linnet_token_text(const linnet_model* model, int32_t token, char* out, size_t cap, size_t* n_bytes, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(n_bytes);
  if (cap) LINNET_NEED_ARG(out);
  LINNET_TRY(need_tokenizer(model, err));
  LINNET_TRY(check_token(model, token, err));
  const std::string_view bytes = token_bytes(model->tokenizer, token, false);
  *n_bytes = bytes.size();
  if (bytes.size() > cap) return fail(err, LINNET_TOO_SMALL, "token ", token, " has ", bytes.size(), " bytes, there is room for ", cap);
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return LINNET_OK;
}

linnet_status linnet_token_kind(const linnet_model* model, int32_t token, uint32_t* kind, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(kind);
  LINNET_TRY(need_tokenizer(model, err));
  LINNET_TRY(check_token(model, token, err));
  *kind = (token_is_eog(model->tokenizer, token) ? uint32_t{LINNET_TOKEN_EOG} : 0) |
          (token_is_special(model->tokenizer, token) ? uint32_t{LINNET_TOKEN_SPECIAL} : 0);
  return LINNET_OK;
}

/* ---- chat */

const char* linnet_role_name(linnet_role role) { return chat_role_name(role); }

linnet_status linnet_chat_format(const linnet_model* model, linnet_role role, const char** prefix, const char** suffix, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(prefix);
  LINNET_NEED_ARG(suffix);
  if (!chat_role_name(role)) return fail(err, LINNET_BAD_ARG, "chat: there is no role ", uint32_t{role});
  const ChatFormat::Text& t = model->chat.role[role];
  if (!t.present)
    return model->chat.role[LINNET_ROLE_USER].present
               ? fail(err, LINNET_UNSUPPORTED, "chat: the model was not trained for messages of role '", chat_role_name(role), "'")
           : model->chat.has_template ? fail(err, LINNET_UNSUPPORTED, "chat: the model has a template (", kChatTemplateKey,
                                             "), which linnet_template_init takes, and no linnet.chat.* keys")
                                      : fail(err, LINNET_UNSUPPORTED, "chat: the model file has no chat format (linnet.chat.* keys)");
  *prefix = t.prefix;
  *suffix = t.suffix;
  return LINNET_OK;
}

/* ---- session */

linnet_status linnet_session_need(const linnet_model* model, const linnet_session_params* params, linnet_need* out, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(out);
  linnet_session_params p;
  LINNET_TRY(session_params(*model, params, &p, err));
  Footprint memory;
  session_count(&memory, *model, p);
  LINNET_TRY(footprint_fits(memory, p, err));
  return write_need(out, memory.host.used(), memory.own.used() + memory.pinned.used(), err);
}

linnet_status linnet_session_plan(const linnet_model* model, const linnet_session_params* params, uint32_t i, const char** purpose,
                                  size_t* bytes, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(purpose);
  LINNET_NEED_ARG(bytes);
  linnet_session_params p;
  LINNET_TRY(session_params(*model, params, &p, err));
  Footprint memory;
  session_count(&memory, *model, p);
  LINNET_TRY(footprint_fits(memory, p, err));
  return footprint_row(memory.host, memory.own, &memory.pinned, i, purpose, bytes, err);
}

linnet_status linnet_session_init(linnet_session** out, void* mem, size_t bytes, const linnet_model* model,
                                  const linnet_session_params* params, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(model);
  LINNET_TRY(check_memory(mem, err));
  return session_init(out, mem, bytes, model, params, err);
}

linnet_status linnet_session_info(const linnet_session* session, linnet_session_params* out, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_process(*session, err));
  linnet_session_params p = session->params;
  p.n_kv_layers = 0;  // those were the caller's for the time of init
  p.kv_layers = nullptr;
  return write_out(p, out, "session", err);
}

void linnet_session_fini(linnet_session* session) {
  if (session && check_idle(*session, nullptr) == LINNET_OK) session_fini(*session);
}

linnet_status linnet_session_memory(const linnet_session* session, uint32_t i, const char** purpose, size_t* bytes, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(purpose);
  LINNET_NEED_ARG(bytes);
  LINNET_TRY(check_process(*session, err));
  return footprint_row(session->arena, session->own, &session->pinned, i, purpose, bytes, err);
}

linnet_status linnet_length(const linnet_session* session, uint32_t seq, size_t* n_tokens, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(n_tokens);
  LINNET_TRY(check_seq(*session, seq, err));
  LINNET_TRY(check_process(*session, err));
  *n_tokens = session_length(*session, seq);
  return LINNET_OK;
}

linnet_status linnet_tokens(const linnet_session* session, uint32_t seq, size_t first, int32_t* out, size_t cap, size_t* n_tokens,
                            linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(n_tokens);
  if (cap) LINNET_NEED_ARG(out);
  LINNET_TRY(check_seq(*session, seq, err));
  LINNET_TRY(check_process(*session, err));
  return session_tokens(*session, seq, first, out, cap, n_tokens, err);
}

linnet_status linnet_truncate(linnet_session* session, uint32_t seq, size_t keep, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  if (const size_t n = session_length(*session, seq); keep > n)
    return fail(err, LINNET_BAD_ARG, "truncate: keep is ", keep, ", sequence ", seq, " has ", n, " tokens");
  return session_truncate(*session, seq, static_cast<uint32_t>(keep), err);
}

linnet_status linnet_fork(linnet_session* session, uint32_t from, uint32_t to, size_t keep, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, from, err));
  LINNET_TRY(check_seq(*session, to, err));
  if (from == to) return fail(err, LINNET_BAD_ARG, "fork: from and to are both ", from);
  if (keep > session_length(*session, from))
    return fail(err, LINNET_BAD_ARG, "fork: keep is ", keep, ", sequence ", from, " has ", session_length(*session, from), " tokens");
  return session_fork(*session, from, to, static_cast<uint32_t>(keep), err);
}

linnet_status linnet_checkpoint(linnet_session* session, uint32_t seq, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  return session_checkpoint(*session, seq, err);
}

linnet_status linnet_prefill(linnet_session* session, uint32_t seq, const int32_t* tokens, size_t n, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(tokens);
  LINNET_TRY(check_seq(*session, seq, err));
  const linnet_rows rows = {.size = sizeof rows, .seq = seq, .n_tokens = n, .tokens = tokens};
  const Call call(session);
  return session_prefill(*session, &rows, 1, err);
}

linnet_status linnet_prefill_batch(linnet_session* session, const linnet_rows* rows, uint32_t n_rows, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(rows);
  const Call call(session);
  return session_prefill(*session, rows, n_rows, err);
}

linnet_status linnet_sample(linnet_session* session, uint32_t seq, int32_t* token, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(token);
  LINNET_TRY(check_seq(*session, seq, err));
  const Call call(session);
  return session_sample(*session, seq, token, err);
}

linnet_status linnet_decode(linnet_session* session, uint32_t seq, int32_t* token, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(token);
  LINNET_TRY(check_seq(*session, seq, err));
  const Call call(session);
  return session_decode(*session, seq, token, err);
}

linnet_status linnet_generate(linnet_session* session, uint32_t seq, const linnet_generate_params* params, linnet_token_fn fn, void* user,
                              linnet_generated* out, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_out(out, "generate", err));
  linnet_generated end = {.size = sizeof end, .token = -1, .eog = -1};
  Status status = linnet_generate_begin(session, seq, params, err);
  if (status == LINNET_OK) {
    const Call call(session);
    status = session_generate(*session, seq, true, fn, user, &end, err);
  }
  LINNET_TRY(write_out(end, out, "generate", err));
  return status;
}

linnet_status linnet_generate_begin(linnet_session* session, uint32_t seq, const linnet_generate_params* params, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  linnet_generate_params p;
  LINNET_TRY(read_params(params, "generate", &p, err));
  return session_generate_begin(*session, seq, p, err);
}

linnet_status linnet_generate_next(linnet_session* session, uint32_t seq, linnet_generated* out, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_out(out, "generate", err));
  const Call call(session);
  linnet_generated piece;
  LINNET_TRY(session_generate(*session, seq, false, nullptr, nullptr, &piece, err));
  return write_out(piece, out, "generate", err);
}

void linnet_cancel(linnet_session* session) {
  if (session) session->cancel.store(1, std::memory_order_relaxed);
}

linnet_status linnet_logits(const linnet_session* session, uint32_t seq, uint32_t back, const float** logits, size_t* n_vocab,
                            linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(logits);
  LINNET_NEED_ARG(n_vocab);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  const Sequence& s = session->seqs[seq];
  if (s.n_logit_rows == 0) return fail(err, LINNET_BAD_STATE, "logits: sequence ", seq, " has none; prefill or decode first");
  if (back >= s.n_logit_rows) return fail(err, LINNET_BAD_ARG, "logits: back is ", back, ", there are ", s.n_logit_rows, " rows");
  *logits = s.logits + (s.n_logit_rows - 1 - back) * session->logits_stride;
  *n_vocab = session->model->spec.n_vocab;
  return LINNET_OK;
}

linnet_status linnet_sampling_init(linnet_sampling* sampling, linnet_error* err) {
  LINNET_NEED_ARG(sampling);
  linnet_sampling defaults;
  sampling_default(&defaults);
  const uint32_t size = sampling->size;
  if (size > sizeof defaults + kMostBeyond)
    return fail(err, LINNET_BAD_ARG, "sampling: size is ", size, ", of this version ", sizeof defaults);
  LINNET_TRY(write_out(defaults, sampling, "sampling", err));
  if (size > sizeof defaults)  // of a newer app: nothing is said there
    std::memset(reinterpret_cast<uint8_t*>(sampling) + sizeof defaults, 0, size - sizeof defaults);
  sampling->size = size;
  return LINNET_OK;
}

linnet_status linnet_sampling_set(linnet_session* session, uint32_t seq, const linnet_sampling* sampling, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  linnet_sampling checked;
  LINNET_TRY(sampling_check(sampling, &checked, err));
  for (uint32_t i = 0; i < checked.n_logit_bias; ++i)
    if (static_cast<uint32_t>(checked.bias_tokens[i]) >= session->model->spec.n_vocab)
      return fail(err, LINNET_BAD_ARG, "sampling: bias_tokens[", i, "] is ", checked.bias_tokens[i], ", outside 0..",
                  session->model->spec.n_vocab - 1);
  session->seqs[seq].sampling = checked;
  session->seqs[seq].n_draws = 0;
  session->seqs[seq].mu = sampling_mu(checked);
  return LINNET_OK;
}

linnet_status linnet_sampling_get(const linnet_session* session, uint32_t seq, linnet_sampling* out, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_seq(*session, seq, err));
  LINNET_TRY(check_process(*session, err));
  return write_out(session->seqs[seq].sampling, out, "sampling", err);
}

linnet_status linnet_logprobs(linnet_session* session, uint32_t seq, uint32_t back, int32_t token, float* value, uint32_t n,
                              int32_t* tokens, float* values, linnet_error* err) {
  LINNET_NEED_ARG(session);
  if (n) LINNET_NEED_ARG(tokens);
  if (n) LINNET_NEED_ARG(values);
  const float* logits = nullptr;
  size_t n_vocab = 0;
  LINNET_TRY(linnet_logits(session, seq, back, &logits, &n_vocab, err));
  const uint32_t most = n_vocab < kMaxLogprobs ? static_cast<uint32_t>(n_vocab) : kMaxLogprobs;
  if (n > most) return fail(err, LINNET_BAD_ARG, "logprobs: n is ", n, ", at most ", most);
  if (value) LINNET_TRY(check_token(session->model, token, err));
  const FpGuard guard;
  log_probabilities(session->host.sampler, logits, static_cast<uint32_t>(n_vocab), token, value, n, tokens, values);
  return LINNET_OK;
}

/* ---- grammars */

linnet_status linnet_grammar_need(const linnet_model* model, const void* grammar, size_t grammar_bytes, linnet_need* out,
                                  linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(grammar);
  LINNET_NEED_ARG(out);
  size_t bytes = 0;
  LINNET_TRY(grammar_need(*model, {grammar, grammar_bytes}, &bytes, err));
  return write_need(out, bytes, 0, err);
}

linnet_status linnet_grammar_init(linnet_grammar** out, void* mem, size_t bytes, const linnet_model* model, const void* grammar,
                                  size_t grammar_bytes, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(grammar);
  LINNET_TRY(check_memory(mem, err));
  return grammar_init(out, mem, bytes, model, {grammar, grammar_bytes}, err);
}

static Status set_grammar(linnet_session& s, uint32_t seq, linnet_grammar* grammar, std::string_view prompt, Error* err) {
  LINNET_TRY(check_idle(s, err));
  LINNET_TRY(check_seq(s, seq, err));
  if (grammar && grammar->model != s.model) return fail(err, LINNET_BAD_ARG, "grammar: it was made for another model than the session's");
  session_grammar(s, seq, grammar, grammar ? grammar_start(*grammar, prompt) : 0);
  return LINNET_OK;
}
linnet_status linnet_grammar_set(linnet_session* session, uint32_t seq, linnet_grammar* grammar, linnet_error* err) {
  LINNET_NEED_ARG(session);
  return set_grammar(*session, seq, grammar, {}, err);
}
linnet_status linnet_grammar_begin(linnet_session* session, uint32_t seq, linnet_grammar* grammar, const linnet_template* t,
                                   linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(grammar);
  LINNET_NEED_ARG(t);
  return set_grammar(*session, seq, grammar, {t->text, t->n_text}, err);
}

/* ---- state */

linnet_status linnet_state_need(const linnet_session* session, uint32_t seq, size_t* n_bytes, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(n_bytes);
  LINNET_TRY(check_seq(*session, seq, err));
  *n_bytes = static_cast<size_t>(state_bytes(*session, seq));  // no more than the session's own
  return LINNET_OK;
}

linnet_status linnet_state_save(const linnet_session* session, uint32_t seq, void* out, size_t cap, size_t* n_bytes, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(n_bytes);
  if (cap) LINNET_NEED_ARG(out);
  LINNET_TRY(check_seq(*session, seq, err));
  return state_save(*session, seq, out, cap, n_bytes, err);
}

linnet_status linnet_state_load(linnet_session* session, uint32_t seq, const void* data, size_t n_bytes, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  if (n_bytes) LINNET_NEED_ARG(data);
  LINNET_TRY(check_seq(*session, seq, err));
  return state_load(*session, seq, data, n_bytes, err);
}

linnet_status linnet_state_save_file(const linnet_session* session, uint32_t seq, const char* path, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(path);
  LINNET_TRY(check_seq(*session, seq, err));
  return state_save_file(*session, seq, path, err);
}

linnet_status linnet_state_load_file(linnet_session* session, uint32_t seq, const char* path, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(path);
  LINNET_TRY(check_seq(*session, seq, err));
  return state_load_file(*session, seq, path, err);
}

linnet_status linnet_state_length(const void* data, size_t n_bytes, size_t* n_tokens, linnet_error* err) {
  LINNET_NEED_ARG(data);
  LINNET_NEED_ARG(n_tokens);
  return state_length(data, n_bytes, n_tokens, err);
}

/* ---- power */

linnet_status linnet_sensors_need(linnet_need* out, linnet_error* err) { return write_need(out, sizeof(linnet_sensors), 0, err); }

linnet_status linnet_sensors_init(linnet_sensors** out, void* mem, size_t bytes, const char* root, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_room<linnet_sensors>(mem, bytes, "sensors", err));
  const size_t n = root ? strnlen(root, linnet_sensors::kMaxRoot + 1) : 0;
  if (n > linnet_sensors::kMaxRoot) return fail(err, LINNET_BAD_ARG, "sensors: root has more than ", linnet_sensors::kMaxRoot, " bytes");
  linnet_sensors* s = new (mem) linnet_sensors{};
  s->size = sizeof(linnet_reading);
  if (n) std::memcpy(s->root, root, n);
  *out = s;
  return LINNET_OK;
}

linnet_status linnet_sensors_read(linnet_sensors* sensors, uint64_t now_ns, linnet_reading* out, linnet_error* err) {
  LINNET_NEED_ARG(sensors);
  if (out) LINNET_TRY(check_out(out, "sensors", err));
  if (!sensors->by_app) sensors_read(*sensors, now_ns);
  return out ? write_out<linnet_reading>(*sensors, out, "sensors", err) : LINNET_OK;
}

linnet_status linnet_sensors_last(const linnet_sensors* sensors, linnet_reading* out, linnet_error* err) {
  LINNET_NEED_ARG(sensors);
  LINNET_NEED_ARG(out);
  return write_out<linnet_reading>(*sensors, out, "sensors", err);
}

linnet_status linnet_sensors_report(linnet_sensors* sensors, const linnet_reading* reading, linnet_error* err) {
  LINNET_NEED_ARG(sensors);
  LINNET_NEED_ARG(reading);
  linnet_reading r;
  LINNET_TRY(read_params(reading, "sensors", &r, err));
  if (r.has & ~uint32_t{LINNET_HAS_TEMPERATURE | LINNET_HAS_BATTERY})
    return fail(err, LINNET_BAD_ARG, "sensors: has is ", r.has, ": an app tells of temperature and battery alone");
  static_cast<linnet_reading&>(*sensors) = {};  // no pointers of the app's
  sensors->size = sizeof r;
  sensors->has = r.has;
  sensors->temperature = r.temperature;
  sensors->on_battery = r.on_battery;
  sensors->time_ns = r.time_ns;
  sensors->by_app = 1;
  return LINNET_OK;
}

linnet_status linnet_power_need(linnet_need* out, linnet_error* err) { return write_need(out, sizeof(linnet_power), 0, err); }

linnet_status linnet_power_init(linnet_power** out, void* mem, size_t bytes, const linnet_profile* profile,
                                const linnet_power_params* params, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_room<linnet_power>(mem, bytes, "power", err));
  linnet_profile p;
  linnet_power_params own;
  LINNET_TRY(read_params(profile, "profile", &p, err));
  LINNET_TRY(read_params(params, "power", &own, err));
  linnet_power power;
  LINNET_TRY(power_init(power, p, own, err));
  *out = new (mem) linnet_power(power);
  return LINNET_OK;
}

linnet_status linnet_power_step(linnet_power* power, uint32_t n_tokens, uint64_t now_ns, linnet_power_state* out, linnet_error* err) {
  LINNET_NEED_ARG(power);
  if (out) LINNET_TRY(check_out(out, "power", err));
  power_step(*power, n_tokens, now_ns);
  return out ? write_out<linnet_power_state>(*power, out, "power", err) : LINNET_OK;
}

linnet_status linnet_power_get(const linnet_power* power, linnet_power_state* out, linnet_error* err) {
  LINNET_NEED_ARG(power);
  LINNET_NEED_ARG(out);
  return write_out<linnet_power_state>(*power, out, "power", err);
}

linnet_status linnet_power_set(linnet_session* session, linnet_power* power, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  return power_set(*session, power, err);
}

linnet_status linnet_threads_set(linnet_session* session, uint32_t n_threads, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(session->within == Within::kTokenFn ? check_process(*session, err) : check_idle(*session, err));
  if (n_threads == 0 || n_threads > session->params.n_threads)
    return fail(err, LINNET_BAD_ARG, "threads: ", n_threads, ", this session has 1..", session->params.n_threads);
  session->team.n_active = session->stats.n_threads = n_threads;
  return LINNET_OK;
}

/* ---- statistics */

linnet_status linnet_stats_get(const linnet_session* session, linnet_stats* out, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_process(*session, err));
  return write_out(session->stats, out, "stats", err);
}

linnet_status linnet_stats_reset(linnet_session* session, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_process(*session, err));
  linnet_stats& s = session->stats;
  s.prefill_tokens = s.prefill_ns = s.decode_tokens = s.decode_passes = s.decode_ns = 0;
  s.first_token_ns = s.last_token_ns = s.max_token_ns = s.decode_bytes = 0;
  session->last_sample_ns = 0;
  return LINNET_OK;
}

}  // extern "C"
