// The C ABI of adapters: checks arguments, calls inward. Apart from api.cpp, so that a program that has none links none of it.
#include "lora.h"
#include "params.h"
#include "session.h"

using namespace linnet;

extern "C" {

linnet_status linnet_lora_need(const linnet_model* model, const linnet_view* file, linnet_need* out, linnet_error* err) {
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(file);
  LINNET_NEED_ARG(file->data);
  LINNET_NEED_ARG(out);
  LINNET_TRY(check_out(out, "need", err));
  size_t bytes = 0;
  LINNET_TRY(lora_need(*model, *file, &bytes, err));
  return write_need(out, bytes, 0, err);
}

linnet_status linnet_lora_init(linnet_lora** out, void* mem, size_t bytes, const linnet_model* model, const linnet_view* file,
                               linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(model);
  LINNET_NEED_ARG(file);
  LINNET_NEED_ARG(file->data);
  LINNET_TRY(check_memory(mem, err));
  return lora_init(out, mem, bytes, *model, *file, err);
}

linnet_status linnet_lora_info(const linnet_lora* lora, linnet_lora_desc* out, linnet_error* err) {
  LINNET_NEED_ARG(lora);
  LINNET_NEED_ARG(out);
  return write_out(lora->desc, out, "adapter", err);
}

linnet_status linnet_lora_set(linnet_session* session, uint32_t seq, const linnet_lora* const* loras, const float* scales, uint32_t n,
                              linnet_error* err) {
  LINNET_NEED_ARG(session);
  if (n) LINNET_NEED_ARG(loras);
  LINNET_TRY(check_idle(*session, err));
  LINNET_TRY(check_seq(*session, seq, err));
  return lora_set(*session, seq, loras, scales, n, err);
}

}  // extern "C"
