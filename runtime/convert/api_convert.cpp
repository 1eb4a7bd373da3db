// The only extern "C" file of linnet::convert: checks arguments, calls inward.
#include <algorithm>
#include <cstring>

#include "../chat/render.h"
#include "../guard.h"
#include "../params.h"
#include "../sampling/grammar.h"
#include "call_grammar.h"
#include "chat_templates.h"
#include "convert.h"

using namespace linnet;

struct linnet_grammar_compiler {
  convert::GrammarMemory memory;
};

struct linnet_source {
  convert::Loaded loaded = {};
};

namespace {

// A field that holds one of 0 .. last.
Status check_choice(const char* field, uint32_t value, uint32_t last, Error* err, const char* params = "linnet_convert_params") {
  return value <= last ? LINNET_OK : fail(err, LINNET_BAD_ARG, params, ": ", field, " is ", value, ": it has the values 0 to ", last);
}

// What was compiled goes to the caller's out[0, cap).
template <class Bytes>
Status hand_out(const Bytes& bytes, const char* name, void* out, size_t cap, size_t* n_bytes, Error* err) {
  *n_bytes = bytes.size();
  if (bytes.size() > cap) return fail(err, LINNET_TOO_SMALL, name, ": compiled to ", bytes.size(), " bytes, there is room for ", cap);
  std::memcpy(out, bytes.data(), bytes.size());
  return LINNET_OK;
}

constexpr uint64_t kBytesOfState = 2048, kBytesBeside = uint64_t{1} << 20;  // of what is compiled in the tests none takes more

Status place_compiler(Arena& arena, uint32_t max_states, linnet_grammar_compiler** out, Error* err) {
  if (max_states == 0 || max_states > kGrammarMaxStates)
    return fail(err, LINNET_BAD_ARG, "grammar compiler: max_states is ", max_states, ": 1 to ", kGrammarMaxStates);
  const uint64_t bytes = kBytesBeside + max_states * kBytesOfState;
  auto* const compiler = arena.take<linnet_grammar_compiler>("compiler", 1);
  auto* const memory = arena.take<uint8_t>("grammars", bytes);
  if (!arena.ok()) return fail(err, LINNET_BAD_ARG, "grammar compiler: ", max_states, " states are more than this machine can address");
  if (out) *out = new (compiler) linnet_grammar_compiler{{memory, static_cast<size_t>(bytes), max_states}};
  return LINNET_OK;
}

// fn() with what it makes in the compiler's memory.
template <class Fn>
Status compile_in(linnet_grammar_compiler* compiler, const char* name, Error* err, const Fn& fn) {
  const Status status = guarded(name, err, [&] {
    const convert::CompileIn memory(compiler ? &compiler->memory : nullptr);
    return fn();
  });
  if (!compiler || status != LINNET_NO_MEMORY) return status;
  const char* const place = compiler->memory.place();
  return fail(err, LINNET_NO_MEMORY, name, *place ? ": " : "", place, ": compiling takes more than the ", compiler->memory.bytes(),
              " bytes for ", compiler->memory.max_states(), " states");
}

constexpr uint32_t kMostMerged = 64;

// What a conversion is asked for, and where it says what it did.
struct Call {
  linnet_convert_params params = {};
  convert::Options options = {};
  convert::WeightError error = {};
  uint64_t file_bytes = 0;
  std::vector<std::string> notes = {};

  Status read(const linnet_convert_params* in, const linnet_converted* out, Error* err) {
    LINNET_TRY(read_params(in, "linnet_convert_params", &params, err));
    if (out) LINNET_TRY(check_out(out, "linnet_converted", err));
    LINNET_TRY(check_choice("layout", params.layout, LINNET_LAYOUT_PLAIN, err));
    LINNET_TRY(check_choice("vocab_only", params.vocab_only, 1, err));
    LINNET_TRY(check_choice("shape_only", params.shape_only, 1, err));
    LINNET_TRY(check_choice("load", params.load, LINNET_LOAD_LOCK, err));
    if (!(params.max_error >= 0)) return fail(err, LINNET_BAD_ARG, "linnet_convert_params: max_error is negative or not a number");
    if (params.layout == LINNET_LAYOUT_PLAIN && params.weights == LINNET_FORMAT_DEFAULT)
      return fail(err, LINNET_BAD_ARG, "linnet_convert_params: layout is LINNET_LAYOUT_PLAIN: weights must be said");
    options.weights = linnet_format{params.weights};
    options.floats = linnet_format{params.floats};
    options.plain = params.layout == LINNET_LAYOUT_PLAIN;
    options.seed = params.seed ? params.seed : 1;
    options.vocab_only = params.vocab_only != 0;
    options.shape_only = params.shape_only != 0;
    options.n_threads = params.n_threads;
    if (params.cache) options.cache = params.cache;
    if (params.base) options.base = params.base;
    if (params.reserved) return fail(err, LINNET_BAD_ARG, "linnet_convert_params: reserved is ", params.reserved, ", must be 0");
    if (params.n_loras > kMostMerged || (params.n_loras && !params.loras))
      return fail(err, LINNET_BAD_ARG, "linnet_convert_params: n_loras is ", params.n_loras,
                  params.loras ? ", at most 64" : ", loras is NULL");
    for (uint32_t i = 0; i < params.n_loras; ++i) {
      if (!params.loras[i]) return fail(err, LINNET_BAD_ARG, "linnet_convert_params: loras[", i, "] is NULL");
      options.loras.emplace_back(params.loras[i], params.lora_scales ? params.lora_scales[i] : 1.0f);
    }
    options.progress = params.progress;
    options.user = params.user;
    options.max_error = params.max_error;
    options.weight_error = out ? &error : nullptr;
    options.file_bytes = &file_bytes;
    options.notes = params.note ? &notes : nullptr;
    return LINNET_OK;
  }

  void say_notes() const {
    for (const std::string& note : notes) params.note(params.user, note.c_str());
  }

  Status report(linnet_converted* out, Error* err) const {
    if (!out) return LINNET_OK;
    linnet_converted done = {};
    done.packed = error.mean >= 0;
    done.mean_error = error.mean;
    done.worst_error = done.packed ? error.worst : -1;
    std::memcpy(done.worst_tensor, error.tensor.data(), std::min(error.tensor.size(), sizeof done.worst_tensor - 1));
    done.file_bytes = file_bytes;
    return write_out(done, out, "linnet_converted", err);
  }
};

}  // namespace

extern "C" {

linnet_status linnet_convert_file(const char* src, const char* out_path, const linnet_convert_params* params, linnet_converted* out,
                                  linnet_error* err) {
  LINNET_NEED_ARG(src);
  LINNET_NEED_ARG(out_path);
  return guarded(src, err, [&] {
    Call call;
    LINNET_TRY(call.read(params, out, err));
    const Status status = convert::convert_to_file(src, out_path, call.options, err);
    call.say_notes();
    return status == LINNET_OK ? call.report(out, err) : status;
  });
}

linnet_status linnet_convert_open(linnet_source** out, const char* path, const linnet_convert_params* params, linnet_view* file,
                                  linnet_converted* converted, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(path);
  LINNET_NEED_ARG(file);
  return guarded(path, err, [&] {
    Call call;
    LINNET_TRY(call.read(params, converted, err));
    auto source = std::make_unique<linnet_source>();
    const Status status = convert::load(path, linnet_load{call.params.load}, call.options, &source->loaded, err);
    call.say_notes();
    LINNET_TRY(status);
    call.file_bytes = source->loaded.file.bytes;
    LINNET_TRY(call.report(converted, err));
    *file = source->loaded.file;
    *out = source.release();
    return LINNET_OK;
  });
}

void linnet_convert_close(linnet_source* source) {
  if (source) convert::unload(&source->loaded);
  delete source;
}

const char* linnet_convert_shape(uint32_t i) { return convert::synthetic_shape(i); }

linnet_status linnet_grammar_compiler_need(uint32_t max_states, linnet_need* out, linnet_error* err) {
  Arena counted;
  LINNET_TRY(place_compiler(counted, max_states, nullptr, err));
  return write_need(out, counted.used(), 0, err);
}

linnet_status linnet_grammar_compiler_init(linnet_grammar_compiler** out, void* mem, size_t bytes, uint32_t max_states, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_TRY(check_memory(mem, err));
  Arena counted, arena(mem, bytes);
  LINNET_TRY(place_compiler(counted, max_states, nullptr, err));
  if (counted.used() > bytes) return fail(err, LINNET_TOO_SMALL, "grammar compiler: memory of ", bytes, " bytes, needs ", counted.used());
  return place_compiler(arena, max_states, out, err);
}

linnet_status linnet_grammar_compile(linnet_grammar_compiler* compiler, const char* json, size_t json_bytes, const char* name,
                                     linnet_grammar_kind kind, void* out, size_t cap, size_t* n_bytes, linnet_error* err) {
  LINNET_NEED_ARG(json);
  LINNET_NEED_ARG(n_bytes);
  if (cap) LINNET_NEED_ARG(out);
  if (!name) name = "grammar";
  const uint32_t what = kind & ~uint32_t{LINNET_GRAMMAR_SPACED | LINNET_GRAMMAR_ANY_FORMAT};
  if (what < LINNET_GRAMMAR_SCHEMA || what > LINNET_GRAMMAR_CHOICES || (what != kind && what > LINNET_GRAMMAR_TEXT_OR_CALL))
    return fail(err, LINNET_BAD_ARG, "linnet_grammar_compile: kind is ", uint32_t{kind}, ": there is no such linnet_grammar_kind");
  if (json_bytes > convert::kMaxGrammarJson)
    return fail(err, LINNET_BAD_FILE, name, ": ", json_bytes, " bytes, at most ", convert::kMaxGrammarJson);
  return compile_in(compiler, name, err, [&] {
    convert::Vector<uint8_t> grammar;
    LINNET_TRY(convert::compile_grammar({json, json_bytes}, name, kind, &grammar, err));
    return hand_out(grammar, name, out, cap, n_bytes, err);
  });
}

linnet_status linnet_grammar_calls(linnet_grammar_compiler* compiler, const linnet_template* t, const char* tools, size_t tools_bytes,
                                   const char* name, const linnet_call_rules* rules, void* out, size_t cap, size_t* n_bytes,
                                   linnet_error* err) {
  LINNET_NEED_ARG(t);
  LINNET_NEED_ARG(tools);
  LINNET_NEED_ARG(n_bytes);
  if (cap) LINNET_NEED_ARG(out);
  if (!name) name = "tools";
  linnet_call_rules r = {};
  if (rules) {
    LINNET_TRY(read_params(rules, "linnet_call_rules", &r, err));
    LINNET_TRY(check_choice("choice", r.choice, LINNET_CALL_REQUIRED, err, "linnet_call_rules"));
    LINNET_TRY(check_choice("parallel", r.parallel, 1, err, "linnet_call_rules"));
    if (r.flags & ~uint32_t{LINNET_GRAMMAR_ANY_FORMAT})
      return fail(err, LINNET_BAD_ARG, "linnet_call_rules: flags are ", r.flags, ": LINNET_GRAMMAR_ANY_FORMAT is known");
  }
  if (tools_bytes > convert::kMaxGrammarJson)
    return fail(err, LINNET_BAD_FILE, name, ": ", tools_bytes, " bytes, at most ", convert::kMaxGrammarJson);
  if (!t->envelope.magic) return fail(err, LINNET_UNSUPPORTED, t->name, ": it was compiled without the format of answers");
  return compile_in(compiler, name, err, [&] {
    convert::Value list;
    LINNET_TRY(convert::schema_parse({tools, tools_bytes}, name, &list, err));
    convert::Vector<uint8_t> grammar;
    const convert::CallRules what = {r.choice == LINNET_CALL_REQUIRED, r.parallel != 0, r.tool ? r.tool : "",
                                     (r.flags & LINNET_GRAMMAR_ANY_FORMAT) != 0};
    LINNET_TRY(convert::compile_calls(list, t->envelope, what, name, &grammar, err));
    return hand_out(grammar, name, out, cap, n_bytes, err);
  });
}

linnet_status linnet_template_compile(const char* text, size_t text_bytes, const char* name, void* out, size_t cap, size_t* n_bytes,
                                      linnet_error* err) {
  LINNET_NEED_ARG(text);
  LINNET_NEED_ARG(n_bytes);
  if (cap) LINNET_NEED_ARG(out);
  if (!name) name = "template";
  return guarded(name, err, [&] {
    std::vector<uint8_t> program;
    LINNET_TRY(convert::compile_chat({text, text_bytes}, name, "", {}, &program, err));
    return hand_out(program, name, out, cap, n_bytes, err);
  });
}

}  // extern "C"
