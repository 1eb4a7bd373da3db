// The C ABI of embeddings: checks arguments, calls inward. Apart from api.cpp, so that a program that makes none links none of it.
#include <cstring>

#include "embed.h"
#include "params.h"

using namespace linnet;

extern "C" {

linnet_status linnet_embed_info(const linnet_model* model, linnet_embed_desc* out, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_out(out, "embed", err));
  LINNET_TRY(embed_check(*model, err));
  return write_out(embed_desc(model->spec), out, "embed", err);
}

linnet_status linnet_embed(linnet_session* session, const linnet_rows* rows, uint32_t n_rows, const linnet_embed_params* params, float* out,
                           size_t cap, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_idle(*session, err));
  LINNET_NEED_ARG(rows);
  LINNET_TRY(embed_check(*session->model, err));
  linnet_embed_params p;
  LINNET_TRY(embed_params(session->model->spec, params, &p, err));
  if (n_rows == 0 || n_rows > session->params.n_sequences)
    return fail(err, LINNET_BAD_ARG, "embed: n_rows is ", n_rows, ", must be 1..", session->params.n_sequences);
  if (const uint64_t floats = uint64_t{n_rows} * p.n_dim; cap < floats)
    return fail(err, LINNET_TOO_SMALL, "embed: out holds ", cap, " floats, ", n_rows, " vectors of ", p.n_dim, " have ", floats);
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_count(cap, sizeof *out, "embed: cap", err));
  session->within = Within::kCall;  // the app's hooks may run inside
  const Status status = session_embed(*session, rows, n_rows, p, out, err);
  session->within = Within::kNothing;
  return status;
}

linnet_status linnet_embed_prompt(const linnet_view* file, uint32_t i, linnet_view* name, linnet_view* text, uint32_t* is_default,
                                  linnet_error* err) {
  LINNET_NEED_ARG(file);
  LINNET_NEED_ARG(file->data);
  LINNET_NEED_ARG(name);
  LINNET_NEED_ARG(text);
  Gguf gguf;
  LINNET_TRY(gguf_open(file->data, file->bytes, "model file", &gguf, err));
  constexpr std::string_view kPrefix = kEmbedPromptPrefix;
  GgufValue v;
  std::string_view by_default, key;
  if (gguf.key(kEmbedDefaultPrompt, &v) && v.type == kGgufString) by_default = v.text;
  uint32_t n = 0;
  for (uint32_t at = 0; at < gguf.n_keys && n < kMaxEmbedPrompts; ++at) {
    gguf.key_entry(at, &key, &v);
    if (key.size() <= kPrefix.size() || key.substr(0, kPrefix.size()) != kPrefix || v.type != kGgufString || n++ != i) continue;
    key.remove_prefix(kPrefix.size());
    *name = {key.data(), key.size()};
    *text = {v.text.data(), v.text.size()};
    if (is_default) *is_default = key.size() == by_default.size() && !std::memcmp(key.data(), by_default.data(), key.size());
    return LINNET_OK;
  }
  return fail(err, LINNET_BAD_ARG, "embed: there is no prompt ", i, ", the file has ", n);
}

}  // extern "C"
