// What `linnet inspect` shows: headers and specs are read, no weights.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "../../platform/folder.h"
#include "../chat/render.h"
#include "audio_source.h"
#include "convert.h"
#include "source.h"
#include "template.h"

namespace linnet::convert {
namespace {

std::string spec_value(const ModelSpec& spec, const SpecField& field) {
  const char* at = reinterpret_cast<const char*>(&spec) + field.offset;
  if (field.type == SpecType::kText) return at;
  if (field.type == SpecType::kU32) {
    uint32_t u;
    std::memcpy(&u, at, sizeof u);
    return std::to_string(u);
  }
  double d;
  char text[40];
  std::memcpy(&d, at, sizeof d);
  std::snprintf(text, sizeof text, "%.9g", d);
  return text;
}

std::string layer_text(const ModelSpec& spec, uint32_t field) {
  std::string text;
  for (uint32_t i = 0; i < spec.n_layers; ++i) {
    uint32_t v;
    std::memcpy(&v, spec.layer_values[field] + size_t{i} * sizeof v, sizeof v);
    text += (i ? "," : "") + std::to_string(v);
  }
  return text;
}

void put_spec(const ModelSpec& spec, Description* out) {
  for (size_t i = 0; i < kSpecFieldCount; ++i)
    out->spec.push_back({kSpecFields[i].name, spec_value(spec, kSpecFields[i]), kSpecFields[i].type == SpecType::kText});
  for (uint32_t f = 0; f < kLayerFieldCount; ++f)
    if (spec.layer_values[f]) out->spec.push_back({std::string("layers.") + kLayerFields[f].name, layer_text(spec, f), true});
}

void put_audio(const AudioSpec& spec, Description* out) {
  for (uint32_t i = 0; i < kAudioFieldCount; ++i) {
    uint32_t v;
    std::memcpy(&v, reinterpret_cast<const char*>(&spec) + kAudioFields[i].offset, sizeof v);
    out->spec.push_back({kAudioFields[i].name, std::to_string(v), false});
  }
}

uint64_t source_bytes(const SourceTensor& t) {
  const std::string& type = t.source_type;
  if (t.source_bytes) return t.source_bytes;
  return uint64_t{t.n} * t.k * (type == "F64" ? 8 : type == "F32" || type == "f32" ? 4 : type == "F16" || type == "BF16" ? 2 : 1);
}

void put_chat(const ChatFormat& chat, Description* out) {
  for (uint32_t r = LINNET_ROLE_SYSTEM; r < kRoleEnd; ++r)
    if (chat.role[r].present) out->chat.push_back(chat_role_name(r));
}

// What conversion would say of each.
void try_templates(const ChatTemplates& templates, Description* out) {
  for (const ChatTemplate& t : templates.all) {
    std::vector<uint8_t> program;
    Error why = {};
    const bool compiled = template_compile(t.text, template_label(t.name).c_str(), &program, &why) == LINNET_OK;
    out->templates.push_back({t.name, compiled ? "" : why.text});
  }
}

// What a matrix would be packed as.
void put_packed(const SourceTensor& t, TensorInfo* info) {
  if (!role_row(t.role).matrix()) return;
  const Format f = packed_format(t, {});
  Error why = {};
  info->packed = format_name(f);
  info->bits = 8 * static_cast<double>(packed_bytes(f, t.n, t.k)) / (static_cast<double>(t.n) * t.k);
  if (t.k % format_block(f) || rounding_error(t, f, &info->error, &why) != LINNET_OK) info->error = -1;
}

void put_source(const Source& source, Description* out) {
  out->name = source.name;
  out->architecture = source.spec.architecture;
  out->tokenizer = source.tokenizer.bytes.empty() ? "" : source.tokenizer.gguf_model;
  out->n_tokens = source.tokenizer.tokens.size();
  put_spec(source.spec, out);
  put_chat(source.chat, out);
  try_templates(source.templates, out);
  const auto put = [out](const SourceTensor& t, bool ahead) {
    TensorInfo info{t.source_name, t.source_type, {t.n}, source_bytes(t)};
    info.ahead = ahead;
    if (role_row(t.role).matrix()) info.shape.push_back(t.k);
    put_packed(t, &info);
    out->tensors.push_back(info);
    out->tensor_bytes += info.bytes;
    if (ahead) out->ahead_bytes += info.bytes;
  };
  for (const SourceTensor& t : source.tensors) put(t, false);
  if (!source.ahead) return;
  out->n_ahead = source.ahead->spec.n_ahead;
  for (const SourceTensor& t : source.ahead->tensors) put(t, true);
}

// Of the tensors of a GGUF file those behind the model's layers.
void mark_ahead(uint32_t n_layers, Description* out) {
  for (TensorInfo& info : out->tensors) {
    uint32_t layer = 0;
    if (!behind_layers(info.name, n_layers, &layer)) continue;
    info.ahead = true;
    out->ahead_bytes += info.bytes;
    if (layer >= n_layers + out->n_ahead) out->n_ahead = layer - n_layers + 1;
  }
}

std::string text_key(const Gguf& file, std::string_view name) {
  GgufValue v;
  return file.key(name, &v) && v.type == kGgufString ? std::string(v.text) : "";
}

// What conversion has said of each.
void put_packed_templates(const Gguf& file, Description* out) {
  ChatTemplates templates;
  templates_from_gguf(file, &templates);
  for (const ChatTemplate& t : templates.all) {
    const std::string suffix = t.name.empty() ? "" : "." + t.name;
    GgufValue v;
    std::string error = text_key(file, kTemplateErrorKey + suffix);
    if (error.empty() && !file.key(kTemplateKey + suffix, &v)) error = "the file was made by a linnet that did not compile templates";
    out->templates.push_back({t.name, std::move(error)});
  }
}

// The format and shape that a packed matrix has behind its raw bytes.
bool packed_shape(const Gguf& file, std::string_view name, TensorInfo* info) {
  constexpr std::string_view kPrefix = "linnet.";
  GgufValue v;
  uint64_t row[4];
  if (name.substr(0, kPrefix.size()) != kPrefix) return false;
  name.remove_prefix(kPrefix.size());
  if (!file.key("linnet.tensor." + std::string(name), &v) || v.type != kGgufArray || v.array_type != kGgufU64 || v.count != 4) return false;
  std::memcpy(row, v.raw.data(), sizeof row);
  const char* format =
      row[0] <= kMaxFormat && format_known(static_cast<uint32_t>(row[0])) ? format_name(static_cast<Format>(row[0])) : nullptr;
  info->name = name;
  info->format = format ? format : "format " + std::to_string(row[0]);
  info->shape = {row[1], row[2]};
  return true;
}

void put_tensors(const Gguf& file, Description* out) {
  std::vector<GgufTensor> tensors(file.n_tensors);
  for (uint32_t i = 0; i < file.n_tensors; ++i) file.tensor_entry(i, &tensors[i]);
  std::sort(tensors.begin(), tensors.end(), [](const GgufTensor& a, const GgufTensor& b) { return a.offset < b.offset; });
  for (const GgufTensor& t : tensors) {
    TensorInfo info;
    if (!packed_shape(file, t.name, &info)) {
      const char* type = ggml_type(t.type).name;
      info.name = t.name;
      info.format = type ? type : "type " + std::to_string(t.type);
      for (uint32_t d = t.n_dims; d-- > 0;) info.shape.push_back(t.dims[d]);
    }
    info.bytes = t.bytes;
    out->tensor_bytes += t.bytes;
    out->tensors.push_back(info);
  }
}

Status describe_gguf(const std::string& path, Description* out, Error* err) {
  Mapped mapped;
  LINNET_TRY(file_load(path.c_str(), LINNET_LOAD_MAP, {}, &mapped.view, err));
  const auto file = std::make_unique<Gguf>();
  LINNET_TRY(gguf_open(mapped.view.data, mapped.view.bytes, path.c_str(), file.get(), err));
  const bool packed = is_packed(*file);
  Error why = {};
  out->kind = packed ? "packed GGUF" : "GGUF";
  out->name = text_key(*file, "general.name");
  out->architecture = text_key(*file, "general.architecture");
  out->tokenizer = text_key(*file, "tokenizer.ggml.model");
  GgufValue tokens;
  if (file->key("tokenizer.ggml.tokens", &tokens) && tokens.type == kGgufArray) out->n_tokens = tokens.count;
  put_tensors(*file, out);
  ChatFormat chat;
  if (chat_read(*file, &chat, &why) == LINNET_OK)
    put_chat(chat, out);
  else
    out->unsupported = why.text;
  if (packed) {
    put_packed_templates(*file, out);
  } else {
    ChatTemplates templates;
    templates_from_gguf(*file, &templates);
    try_templates(templates, out);
  }
  ModelSpec spec = {};
  Source source;
  const Status readable = packed ? spec_read(*file, &spec, &why) : source_from_gguf(path, &source, &why);
  if (readable == LINNET_NO_MEMORY) return fail(err, readable, why.text);
  if (readable == LINNET_OK) {
    put_spec(packed ? spec : source.spec, out);
    mark_ahead(packed ? spec.n_layers : source.spec.n_layers, out);
  } else {
    AudioSpec hears;
    out->unsupported = why.text;
    if (packed && is_audio(*file) && audio_read(*file, &hears, nullptr) == LINNET_OK) put_audio(hears, out);
  }
  for (Source* s : {&source, source.ahead.get()}) {
    if (!s) continue;
    match_groups(s, {});
    for (TensorInfo& info : out->tensors)
      for (const SourceTensor& t : s->tensors)
        if (t.source_name == info.name) {  // of parts of one tensor the first
          put_packed(t, &info);
          break;
        }
  }
  if (packed)
    for (TensorInfo& info : out->tensors)
      if (info.shape.size() == 2)
        info.bits = 8 * static_cast<double>(info.bytes) / (static_cast<double>(info.shape[0]) * static_cast<double>(info.shape[1]));
  return LINNET_OK;
}

Status describe_audio(const std::string& path, Description* out, Error* err) {
  AudioSource source;
  LINNET_TRY(audio_source(path, &source, err));
  out->kind = is_folder(path) ? path_info(path + "/model.bin").there ? "CTranslate2 folder" : "Hugging Face folder" : "whisper.cpp's file";
  out->name = source.name;
  out->architecture = source.spec.whisper() ? "whisper" : "moonshine";
  out->tokenizer = source.tokenizer.gguf_model;
  out->n_tokens = source.tokenizer.tokens.size();
  out->unsupported = "it hears: `linnet transcribe` runs it";
  put_audio(source.spec, out);
  for (const AudioSourceTensor& t : source.tensors) {
    TensorInfo info{t.rows.source_name, t.rows.source_type, {t.rows.n}, source_bytes(t.rows)};
    if (audio_row(t.tensor).matrix()) {
      const Format f = audio_format(t, {});
      info.shape.push_back(t.rows.k);
      info.packed = format_name(f);
      info.bits = 8 * static_cast<double>(packed_bytes(f, t.rows.n, t.rows.k)) / (static_cast<double>(t.rows.n) * t.rows.k);
    }
    out->tensor_bytes += info.bytes;
    out->tensors.push_back(info);
  }
  return LINNET_OK;
}

}  // namespace

linnet_status describe(const std::string& path, Description* out, linnet_error* err) {
  return guarded_source(path, err, [&] {
    Description d;
    Source source;
    if (is_audio_source(path)) {
      LINNET_TRY(describe_audio(path, &d, err));
    } else if (is_synthetic(path)) {
      d.kind = "synthetic";
      LINNET_TRY(source_synthetic(path.substr(kSynthetic.size()), 1, &source, err));
    } else if (is_folder(path)) {
      d.kind = "Hugging Face folder";
      LINNET_TRY(source_from_folder(path, &source, err));
    } else {
      LINNET_TRY(describe_gguf(path, &d, err));
    }
    match_groups(&source, {});
    if (source.ahead) match_groups(source.ahead.get(), {});
    if (!source.tensors.empty()) put_source(source, &d);
    *out = std::move(d);
    return LINNET_OK;
  });
}

std::string chat_template_text(const linnet_view& file, const std::string& name) {
  const auto gguf = std::make_unique<Gguf>();
  Error err = {};
  if (gguf_open(file.data, file.bytes, "file", gguf.get(), &err) != LINNET_OK) return "";
  return text_key(*gguf, kChatTemplateKey + (name.empty() ? "" : "." + name));
}

}  // namespace linnet::convert
