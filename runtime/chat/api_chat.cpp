// The C ABI of templates: checks arguments, calls inward. Apart from api.cpp, so that a program that renders none links none of it.
#include <new>

#include "../params.h"
#include "render.h"

using namespace linnet;

// The type that linnet_chat.h leaves opaque.
struct linnet_answer {
  const linnet_template* t = nullptr;
  char* memory = nullptr;  // (bytes)
  size_t bytes = 0;
  linnet_answer_fn fn = nullptr;
  void* user = nullptr;
  bool begun = false;
  chat::Answer parser = {};
};

namespace {

linnet_answer* answer_layout(Arena& arena, size_t call_bytes) {
  void* const mem = arena.take<linnet_answer>("answer", 1);
  const size_t bytes = chat::Answer::need(call_bytes ? call_bytes : size_t{64} << 10);
  char* const memory = arena.take<char>("answer", bytes);
  if (!mem || !memory) return nullptr;
  linnet_answer* const answer = new (mem) linnet_answer();
  answer->memory = memory;
  answer->bytes = bytes;
  return answer;
}

void tell(void* user, const chat::AnswerEvent& event) {
  const linnet_answer& answer = *static_cast<const linnet_answer*>(user);
  const linnet_answer_event out = {
      sizeof out, static_cast<uint32_t>(event.kind) + 1, event.text.data(), event.text.size(), event.id.data(), event.id.size()};
  answer.fn(answer.user, &out);
}

}  // namespace

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

linnet_status linnet_template_describe(const linnet_template* t, linnet_template_desc* out, linnet_error* err) {
  LINNET_NEED_ARG(t);
  LINNET_NEED_ARG(out);
  const chat::Envelope& e = t->envelope;
  return write_out<linnet_template_desc>(
      {sizeof *out, e.head != chat::Head::kNone, !e.reason_close.empty(), 0, e.switch_name.text, e.switch_on.text, e.switch_off.text}, out,
      "linnet_template_desc", err);
}

linnet_status linnet_answer_need(size_t call_bytes, linnet_need* out, linnet_error* err) {
  Arena counted;
  answer_layout(counted, call_bytes);
  if (!counted.ok()) return fail(err, LINNET_BAD_ARG, "answer: calls of ", call_bytes, " bytes are more than this machine can address");
  return write_need(out, counted.used(), 0, err);
}

linnet_status linnet_answer_init(linnet_answer** out, void* mem, size_t bytes, const linnet_template* t, size_t call_bytes,
                                 linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(t);
  LINNET_TRY(check_memory(mem, err));
  Arena counted;
  answer_layout(counted, call_bytes);
  if (!counted.ok() || counted.used() > bytes)
    return fail(err, LINNET_TOO_SMALL, "answer: memory of ", bytes, " bytes, needs ", counted.used());
  if (!t->envelope.magic) return fail(err, LINNET_UNSUPPORTED, t->name, ": it was compiled without the format of answers");
  Arena arena(mem, bytes);
  linnet_answer* const answer = answer_layout(arena, call_bytes);
  answer->t = t;
  *out = answer;
  return LINNET_OK;
}

linnet_status linnet_answer_is_mark(const linnet_answer* answer, const char* text, size_t text_bytes, uint32_t* out, linnet_error* err) {
  LINNET_NEED_ARG(answer);
  LINNET_NEED_ARG(text);
  LINNET_NEED_ARG(out);
  *out = chat::is_mark(answer->t->envelope, {text, text_bytes});
  return LINNET_OK;
}

linnet_status linnet_answer_begin(linnet_answer* answer, const char* tools, size_t tools_bytes, linnet_answer_fn fn, void* user,
                                  linnet_error* err) {
  LINNET_NEED_ARG(answer);
  LINNET_NEED_ARG(fn);
  if (tools_bytes) LINNET_NEED_ARG(tools);
  answer->fn = fn;
  answer->user = user;
  answer->begun = true;
  answer->parser.begin(answer->t->envelope, {answer->t->text, answer->t->n_text}, {tools, tools_bytes}, answer->memory, answer->bytes, tell,
                       answer);
  return LINNET_OK;
}

linnet_status linnet_answer_feed(linnet_answer* answer, const char* text, size_t text_bytes, linnet_error* err) {
  LINNET_NEED_ARG(answer);
  if (text_bytes) LINNET_NEED_ARG(text);
  if (!answer->begun) return fail(err, LINNET_BAD_STATE, "answer: linnet_answer_begin comes first");
  if (text_bytes) answer->parser.feed({text, text_bytes});
  return LINNET_OK;
}

linnet_status linnet_answer_end(linnet_answer* answer, linnet_error* err) {
  LINNET_NEED_ARG(answer);
  if (!answer->begun) return fail(err, LINNET_BAD_STATE, "answer: linnet_answer_begin comes first");
  answer->begun = false;
  answer->parser.end();
  return LINNET_OK;
}

}  // extern "C"
