// The C ABI of templates: checks arguments, calls inward. Apart from api.cpp, so that a program that renders none links none of it.
#include "../params.h"
#include "render.h"

using namespace linnet;

extern "C" {

linnet_status linnet_template_need(const linnet_view* from, const char* name, const linnet_template_params* params, linnet_need* out,
                                   linnet_error* err) {
  LINNET_NEED_ARG(from);
  LINNET_NEED_ARG(from->data);
  LINNET_NEED_ARG(out);
  linnet_template_params p;
  LINNET_TRY(read_params(params, "linnet_template_params", &p, err));
  size_t bytes = 0;
  LINNET_TRY(template_need(*from, name, p, &bytes, err));
  return write_need(out, bytes, 0, err);
}

linnet_status linnet_template_init(linnet_template** out, void* mem, size_t bytes, const linnet_view* from, const char* name,
                                   const linnet_model* model, const linnet_template_params* params, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(from);
  LINNET_NEED_ARG(from->data);
  LINNET_TRY(check_memory(mem, err));
  linnet_template_params p;
  LINNET_TRY(read_params(params, "linnet_template_params", &p, err));
  return template_init(out, mem, bytes, *from, name, model, p, err);
}

linnet_status linnet_template_render(linnet_template* t, const char* conversation, size_t conversation_bytes, int64_t now,
                                     linnet_rendered* out, linnet_error* err) {
  LINNET_NEED_ARG(t);
  LINNET_NEED_ARG(conversation);
  if (out) LINNET_TRY(check_out(out, "linnet_rendered", err));
  linnet_rendered r = {};
  LINNET_TRY(template_render(*t, std::string_view(conversation, conversation_bytes), now, &r, err));
  return out ? write_out(r, out, "linnet_rendered", err) : LINNET_OK;
}

linnet_status linnet_template_tokens(const linnet_template* t, const int32_t* held, size_t n_held, void* scratch, size_t scratch_bytes,
                                     int32_t* out, size_t cap, size_t* n_tokens, size_t* n_keep, linnet_error* err) {
  LINNET_NEED_ARG(t);
  LINNET_NEED_ARG(n_tokens);
  if (n_held) LINNET_NEED_ARG(held);
  if (cap) LINNET_NEED_ARG(out);
  LINNET_TRY(check_count(n_held, sizeof *held, "template: n_held", err));
  return template_tokens(*t, held, n_held, scratch, scratch_bytes, out, cap, n_tokens, n_keep, err);
}

}  // extern "C"
