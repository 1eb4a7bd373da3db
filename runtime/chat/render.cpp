#include "render.h"

#include "../../platform/fp.h"
#include "../gguf.h"
#include "interpreter.h"

namespace linnet {
namespace {

constexpr size_t kDefaultText = size_t{1} << 20, kDefaultValues = size_t{8} << 20;
constexpr uint64_t kDefaultSteps = 20'000'000;
constexpr size_t kMaxName = 48, kMaxTokens = 4096;

// Where a template comes from: a program by itself, or a packed model's.
struct Origin {
  std::string_view program, tokens;
};
Status find_program(linnet_view from, const char* name, Origin* out, Error* err) {
  uint32_t magic = 0;
  if (from.bytes >= sizeof magic) std::memcpy(&magic, from.data, sizeof magic);
  if (magic == chat::kProgramMagic) {
    *out = {{static_cast<const char*>(from.data), from.bytes}, {}};
    return LINNET_OK;
  }
  Gguf file;
  LINNET_TRY(gguf_open(from.data, from.bytes, "model file", &file, err));
  char key[sizeof kTemplateErrorKey + kMaxName + 1];
  const auto named = [&](const char* base) {
    size_t n = std::strlen(base);
    std::memcpy(key, base, n);
    if (name) {
      key[n++] = '.';
      std::memcpy(key + n, name, std::strlen(name));
      n += std::strlen(name);
    }
    return std::string_view(key, n);
  };
  GgufValue v;
  if (!file.key(named(kTemplateKey), &v)) {
    if (file.key(named(kTemplateErrorKey), &v) && v.type == kGgufString)
      return fail(err, LINNET_UNSUPPORTED, file.label, ": its chat template was not understood: ", v.text);
    if (name) return fail(err, LINNET_UNSUPPORTED, file.label, ": the file has no chat template named '", name, "'");
    return fail(err, LINNET_UNSUPPORTED, file.label, ": the file has no chat template");
  }
  if (v.type != kGgufArray || v.array_type != kGgufU8)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", std::string_view(key), "' holds no bytes");
  out->program = v.raw;
  out->tokens = {};
  if (file.key(kChatTokensKey, &v)) {
    if (v.type != kGgufString || v.text.size() > kMaxTokens)
      return fail(err, LINNET_BAD_FILE, file.label, ": key '", kChatTokensKey, "' is no short text");
    out->tokens = v.text;
  }
  return LINNET_OK;
}

Status read_origin(linnet_view from, const char* name, const linnet_template_params& params, Origin* out, Error* err) {
  if (params.text_tokens > 1)
    return fail(err, LINNET_BAD_ARG, "linnet_template_params: text_tokens is ", params.text_tokens, ", not 0 or 1");
  if (name && std::strlen(name) > kMaxName) return fail(err, LINNET_BAD_ARG, "template: a name of more than ", kMaxName, " bytes");
  LINNET_TRY(find_program(from, name, out, err));
  if (!params.tokens) return LINNET_OK;
  out->tokens = {params.tokens, params.tokens_bytes};
  return out->tokens.size() <= kMaxTokens ? LINNET_OK : fail(err, LINNET_BAD_ARG, "template: tokens of more than ", kMaxTokens, " bytes");
}

linnet_template* layout(Arena& arena, const Origin& origin, const linnet_template_params& params) {
  linnet_template* const t = arena.take<linnet_template>("template", 1);
  const size_t text = params.text_bytes ? params.text_bytes : kDefaultText,
               values = params.value_bytes ? params.value_bytes : kDefaultValues;
  uint8_t* const blob = arena.take<uint8_t>("template", origin.program.size());
  char* const tokens = arena.take<char>("template", origin.tokens.size());
  uint8_t* const memory = arena.take<uint8_t>("values", values);
  char* const out = arena.take<char>("text", text);
  uint8_t* const marks = arena.take<uint8_t>("text", text);
  if (!t) return nullptr;
  *t = {};
  t->blob = blob, t->tokens = tokens, t->values = memory, t->text = out, t->marks = marks;
  t->n_tokens = origin.tokens.size(), t->n_values = values, t->text_bytes = text;
  t->text_tokens = params.text_tokens != 0;
  t->max_steps = params.max_steps ? params.max_steps : kDefaultSteps;
  return t;
}

// The first tokens of a sequence, and the bytes that they have.
struct Walk {
  const linnet_template& t;
  const int32_t* ids;
  size_t n, i = 0, at = 0;  // tokens gone by, and their bytes
  std::string_view next() const { return token_bytes(t.model->tokenizer, ids[i], i == 0); }
  // One token further; false at the end, or where it is not the text that stands there: an added token is none.
  bool step() {
    if (i == n || token_is_added(t.model->tokenizer, ids[i])) return false;
    const std::string_view s = next();
    if (s.empty() || at > t.n_text || s.size() > t.n_text - at || std::memcmp(t.text + at, s.data(), s.size()) != 0) return false;
    at += s.size();
    ++i;
    return true;
  }
};

}  // namespace

Status template_need(linnet_view from, const char* name, const linnet_template_params& params, size_t* bytes, Error* err) {
  Origin origin;
  LINNET_TRY(read_origin(from, name, params, &origin, err));
  Arena counted;
  layout(counted, origin, params);
  if (!counted.ok()) return fail(err, LINNET_BAD_ARG, "template: needs more bytes than this machine can address");
  *bytes = counted.used();
  return LINNET_OK;
}

Status template_init(linnet_template** out, void* mem, size_t bytes, linnet_view from, const char* name, const linnet_model* model,
                     const linnet_template_params& params, Error* err) {
  Origin origin;
  LINNET_TRY(read_origin(from, name, params, &origin, err));
  Arena counted;
  layout(counted, origin, params);
  if (!counted.ok() || counted.used() > bytes)
    return fail(err, LINNET_TOO_SMALL, "template: memory of ", bytes, " bytes, needs ", counted.used());
  Arena arena(mem, bytes);
  linnet_template* const t = layout(arena, origin, params);
  const std::string_view label = name ? name : "template";
  std::memcpy(t->name, label.data(), label.size());
  std::memcpy(t->blob, origin.program.data(), origin.program.size());
  if (t->n_tokens) std::memcpy(t->tokens, origin.tokens.data(), t->n_tokens);
  t->model = model;
  LINNET_TRY(chat::program_open(t->blob, origin.program.size(), t->name, &t->program, err));
  if (!t->program.envelope.empty())
    LINNET_TRY(chat::envelope_open(t->program.envelope.data(), t->program.envelope.size(), t->name, &t->envelope, err));
  *out = t;
  return LINNET_OK;
}

Status template_render(linnet_template& t, std::string_view conversation, int64_t now, linnet_rendered* out, Error* err) {
  using namespace chat;
  const FpGuard guard;
  Machine m;
  m.program = &t.program;
  m.err = err;
  m.name = t.name;
  m.now = now;
  m.max_steps = UINT64_MAX;  // reading a conversation is linear
  m.memory = t.values, m.memory_bytes = t.n_values;
  m.out = t.text, m.marks = t.marks, m.out_bytes = t.text_bytes;
  t.n_text = 0;
  if (t.n_tokens) {
    if (!read_json(m, {t.tokens, t.n_tokens}, &m.tokens)) return m.status;
    if (!m.tokens.is(Kind::kDict)) return fail(err, LINNET_BAD_ARG, t.name, ": the special tokens are no JSON object");
    Value* const entries = const_cast<Value*>(m.tokens.dict->entries);
    for (uint32_t i = 0; i < m.tokens.n; ++i) entries[2 * i + 1].flags = 0;  // the template's own
  }
  if (!read_json(m, conversation, &m.context)) return m.status;
  if (!m.context.is(Kind::kDict)) return fail(err, LINNET_BAD_ARG, "the conversation is no JSON object");
  const Value* const messages = find(m, *m.context.dict, std::string_view("messages"));
  if (!messages) return fail(err, LINNET_BAD_ARG, "the conversation has no /messages");
  if (!messages->is(Kind::kList)) return fail(err, LINNET_BAD_ARG, "the conversation: /messages is no array");
  for (uint32_t i = 0; i < messages->n; ++i)
    if (!messages->items[i].is(Kind::kDict)) return fail(err, LINNET_BAD_ARG, "the conversation: /messages/", i, " is no object");
  m.steps = 0;
  m.max_steps = t.max_steps;
  if (!run_template(m)) return m.status;
  t.n_text = m.n_out;
  if (out) {
    out->text = t.text;
    out->data = t.marks;
    out->text_bytes = m.n_out;
    out->value_bytes = m.peak;
    out->steps = m.steps;
  }
  return LINNET_OK;
}

Status template_tokens(const linnet_template& t, const int32_t* held, size_t n_held, void* scratch, size_t scratch_bytes, int32_t* out,
                       size_t cap, size_t* n_tokens, size_t* n_keep, Error* err) {
  if (!t.model || !t.model->tokenizer.blob) return fail(err, LINNET_UNSUPPORTED, "template: there is no model with a tokenizer beside it");
  size_t n = 0;
  const uint32_t flags = LINNET_PARSE_SPECIAL | (t.text_tokens ? uint32_t{kTextInForeign} : 0);
  const Status status =
      tokenize(t.model->tokenizer, {t.text, t.n_text}, flags, scratch, scratch_bytes, out, cap, &n, err, nullptr, t.marks);
  if (n > cap) *n_tokens = n_held + n;  // what may stay of `held` is not known yet
  if (status != LINNET_OK) return status;
  // An answer was generated with other tokens than its text would get: those stay as long as they spell the text, up to a place where a
  // token begins both ways. Added tokens must be the same: what the conversation says is text also where one stood before, and what the
  // template says is one also where its text did.
  Walk have{t, held, n_held}, want{t, out, n};
  size_t keep = 0, from = 0;  // tokens of `held` that stay, and the first of `out` behind them
  for (;;) {
    if (have.at == want.at) {
      keep = have.i, from = want.i;
      if (keep < n_held && from < n && held[keep] == out[from]) {
        have.at += have.next().size(), want.at += want.next().size();
        ++have.i, ++want.i;
        continue;
      }
    }
    if (!(have.at <= want.at ? have.step() : want.step())) break;
  }
  const size_t total = keep + (n - from);
  *n_tokens = total;
  if (total > cap) return fail(err, LINNET_TOO_SMALL, total, " tokens, there is room for ", cap);
  std::memmove(out + keep, out + from, (n - from) * sizeof *out);
  if (keep) std::memcpy(out, held, keep * sizeof *out);
  if (n_keep) *n_keep = keep;
  return LINNET_OK;
}

}  // namespace linnet
