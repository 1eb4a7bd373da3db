#include "safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "../../platform/folder.h"
#include "../../platform/reader.h"
#include "json.h"

namespace linnet::convert {
namespace {

using nlohmann::json;

struct Dtype {
  std::string_view name;
  uint32_t bits;
  Format format;
};
constexpr Dtype kDtypes[] = {
    {"F32", 32, LINNET_F32},
    {"F16", 16, LINNET_F16},
    {"BF16", 16, LINNET_BF16},
    {"F64", 64, LINNET_FORMAT_DEFAULT},
    {"F8_E4M3", 8, LINNET_FORMAT_DEFAULT},
    {"F8_E5M2", 8, LINNET_FORMAT_DEFAULT},
    {"F8_E8M0", 8, LINNET_FORMAT_DEFAULT},
    {"F6_E2M3", 6, LINNET_FORMAT_DEFAULT},
    {"F6_E3M2", 6, LINNET_FORMAT_DEFAULT},
    {"F4", 4, LINNET_FORMAT_DEFAULT},
    {"I64", 64, LINNET_FORMAT_DEFAULT},
    {"I32", 32, LINNET_FORMAT_DEFAULT},
    {"I16", 16, LINNET_FORMAT_DEFAULT},
    {"I8", 8, LINNET_FORMAT_DEFAULT},
    {"U64", 64, LINNET_FORMAT_DEFAULT},
    {"U32", 32, LINNET_FORMAT_DEFAULT},
    {"U16", 16, LINNET_FORMAT_DEFAULT},
    {"U8", 8, LINNET_FORMAT_DEFAULT},
    {"BOOL", 8, LINNET_FORMAT_DEFAULT},
    {"C64", 64, LINNET_FORMAT_DEFAULT},
};

// One file's header.
class HeaderReader {
 public:
  HeaderReader(const std::string& label, Error* err) : label_(label), err_(err) {}

  Status read(const void* data, size_t bytes, SafetensorsTensors* out) {
    if (is_lfs_pointer(data, bytes)) return refuse(kLfsPointer);
    ByteReader reader(data, bytes);
    const uint64_t header_bytes = reader.read<uint64_t>();
    if (!reader.ok()) return refuse("the file has ", bytes, " bytes, too short for a header");
    if (header_bytes > kSafetensorsMaxHeader)
      return refuse("a header of ", header_bytes, " bytes is over the limit of ", kSafetensorsMaxHeader);
    const std::string_view text = reader.view(header_bytes);
    if (!reader.ok()) return refuse("a header of ", header_bytes, " bytes ends outside the file, which has ", bytes);
    if (text.empty() || text[0] != '{') return refuse("the header does not begin with '{'");
    JsonTree tree;
    json& header = tree.root;
    LINNET_TRY(json_parse(text, label_.c_str(), &header, err_));

    std::vector<std::pair<std::string_view, SafetensorsTensor*>> placed;
    for (const auto& [name, entry] : *header.get_ptr<const json::object_t*>()) {
      if (name == "__metadata__") {
        LINNET_TRY(check_metadata(entry));
        continue;
      }
      const auto [at, is_new] = out->try_emplace(name);
      if (!is_new) return refuse("tensor '", name, "' is in '", at->second.file, "' too");
      LINNET_TRY(read_tensor(name, entry, &at->second));
      placed.emplace_back(at->first, &at->second);
    }
    return place(reader.data() + reader.pos(), reader.left(), &placed);
  }

 private:
  template <class... Parts>
  Status refuse(const Parts&... parts) {
    return fail(err_, LINNET_BAD_FILE, label_, ": ", parts...);
  }

  Status check_metadata(const json& metadata) {
    if (!metadata.is_object()) return refuse("'__metadata__' is ", json_show(metadata), ", not an object");
    for (const auto& [key, value] : *metadata.get_ptr<const json::object_t*>())
      if (!value.is_string()) return refuse("'__metadata__': '", key, "' is ", json_show(value), ", not a string");
    return LINNET_OK;
  }

  Status read_tensor(const std::string& name, const json& entry, SafetensorsTensor* tensor) {
    if (!entry.is_object()) return refuse("tensor '", name, "': ", json_show(entry), " is not an object");
    for (const auto& [key, value] : *entry.get_ptr<const json::object_t*>())
      if (key != "dtype" && key != "shape" && key != "data_offsets") return refuse("tensor '", name, "': unknown field '", key, "'");
    tensor->file = label_;
    if (get_string(entry, "dtype", &tensor->dtype) != Got::kFound) return refuse("tensor '", name, "': 'dtype' is missing or no string");
    const auto* type = std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const Dtype& d) { return d.name == tensor->dtype; });
    if (type == std::end(kDtypes)) return refuse("tensor '", name, "': unknown dtype '", tensor->dtype, "'");
    tensor->format = type->format;

    if (!read_counts(entry, "shape", &tensor->shape)) return refuse("tensor '", name, "': 'shape' is not a list of sizes");
    if (tensor->shape.size() > kSafetensorsMaxDims)
      return refuse("tensor '", name, "': ", tensor->shape.size(), " dimensions, the limit is ", kSafetensorsMaxDims);
    uint64_t bits = type->bits;
    for (const uint64_t n : tensor->shape) {
      if (n == 0) return refuse("tensor '", name, "': shape ", shape_text(tensor->shape), " has a zero");
      if (!checked_mul(bits, n, &bits)) return refuse("tensor '", name, "': shape ", shape_text(tensor->shape), " overflows");
    }
    if (bits % 8 != 0)
      return refuse("tensor '", name, "': shape ", shape_text(tensor->shape), " of ", tensor->dtype, " ends within a byte");

    std::vector<uint64_t> span;
    if (!read_counts(entry, "data_offsets", &span) || span.size() != 2)
      return refuse("tensor '", name, "': 'data_offsets' is not a list of two offsets");
    if (span[0] > span[1]) return refuse("tensor '", name, "': 'data_offsets' ", shape_text(span), " are reversed");
    tensor->begin = span[0];
    tensor->bytes = span[1] - span[0];
    if (tensor->bytes != bits / 8)
      return refuse("tensor '", name, "': 'data_offsets' ", shape_text(span), " hold ", tensor->bytes, " bytes, but shape ",
                    shape_text(tensor->shape), " of ", tensor->dtype, " takes ", bits / 8);
    return LINNET_OK;
  }

  static bool read_counts(const json& entry, const char* key, std::vector<uint64_t>* out) {
    const json* list = json_member(entry, key);
    if (!list || !list->is_array()) return false;
    for (const json& item : *list) {
      const auto* number = item.get_ptr<const json::number_unsigned_t*>();
      if (!number) return false;
      out->push_back(*number);
    }
    return true;
  }

  // The tensors must fill the rest of the file, one after the other.
  Status place(const uint8_t* data, uint64_t bytes, std::vector<std::pair<std::string_view, SafetensorsTensor*>>* placed) {
    std::sort(placed->begin(), placed->end(), [](const auto& a, const auto& b) { return a.second->begin < b.second->begin; });
    uint64_t end = 0;
    std::string_view before = "the header";
    for (const auto& [name, tensor] : *placed) {
      if (tensor->begin < end) return refuse("tensor '", name, "' overlaps '", before, "': it begins at ", tensor->begin, " before ", end);
      if (tensor->begin > end)
        return refuse("tensor '", name, "' leaves a gap after '", before, "': it begins at ", tensor->begin, ", not ", end);
      if (!fits(tensor->begin, tensor->bytes, bytes))
        return refuse("tensor '", name, "' ends at ", tensor->begin + tensor->bytes, ", but the file holds ", bytes, " bytes of data");
      tensor->data = data + tensor->begin;
      end = tensor->begin + tensor->bytes;
      before = name;
    }
    if (end != bytes) return refuse("the tensors end at ", end, ", but the file holds ", bytes, " bytes of data");
    return LINNET_OK;
  }

  const std::string& label_;
  Error* err_;
};

// Files that stay mapped while tensors are read from them.
struct Mappings {
  Mappings() = default;
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;
  ~Mappings() {
    for (linnet_view& view : views) file_unmap(&view);
  }
  Status add(const std::string& folder, const std::string& file, SafetensorsTensors* out, Error* err) {
    linnet_view view = {};
    LINNET_TRY(file_load((folder + "/" + file).c_str(), LINNET_LOAD_MAP, {}, &view, err));
    views.push_back(view);
    return safetensors_parse(view.data, view.bytes, file, out, err);
  }
  std::vector<linnet_view> views;
};

// "../x", "/etc/x" and "a/b" name files outside the folder or below it, and no published model does that.
bool plain_name(std::string_view name) {
  return name.size() <= 255 && !name.starts_with('.') && name.ends_with(".safetensors") &&
         name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace

Status safetensors_parse(const void* data, size_t bytes, const std::string& label, SafetensorsTensors* out, Error* err) {
  return HeaderReader(label, err).read(data, bytes, out);
}

Status safetensors_index(std::string_view text, const char* label, SafetensorsIndex* out, Error* err) {
  JsonTree tree;
  json& index = tree.root;
  LINNET_TRY(json_parse(text, label, &index, err));
  const json* map = json_member(index, "weight_map");
  if (!map || !map->is_object() || map->empty()) return fail(err, LINNET_BAD_FILE, label, ": 'weight_map' is missing, empty or no object");
  for (const auto& [name, value] : *map->get_ptr<const json::object_t*>()) {
    const auto* file = value.get_ptr<const json::string_t*>();
    if (!file || !plain_name(*file))
      return fail(err, LINNET_BAD_FILE, label, ": tensor '", name, "': ", json_show(value),
                  " is not the plain name of a .safetensors file");
    out->emplace(name, *file);
  }
  return LINNET_OK;
}

Status safetensors_open_folder(const std::string& folder, SafetensorsTensors* out, std::shared_ptr<void>* keep, SafetensorsIndex* absent,
                               Error* err) {
  constexpr const char* kSingle = "model.safetensors";
  const auto mappings = std::make_shared<Mappings>();
  *keep = mappings;
  std::string text;
  bool found = false;
  LINNET_TRY(read_file(folder + "/" + kSafetensorsIndex, kJsonMaxBytes, &text, &found, err));
  if (!found) {
    if (path_info(folder + "/" + kSingle).there) return mappings->add(folder, kSingle, out, err);
    for (const char* pickled : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
      if (path_info(folder + "/" + pickled).there)
        return fail(err, LINNET_UNSUPPORTED, pickled,
                    " is not read, since a pickle may run code: save the model as safetensors "
                    "(transformers: model.save_pretrained(folder, safe_serialization=True))");
    return fail(err, LINNET_BAD_FILE, PathName(folder), ": holds no model.safetensors and no model.safetensors.index.json");
  }

  SafetensorsIndex index;
  LINNET_TRY(safetensors_index(text, kSafetensorsIndex, &index, err));
  std::set<std::string> shards;
  for (const auto& [name, file] : index) shards.insert(file);
  for (const std::string& shard : shards) {
    if (!path_info(folder + "/" + shard).there) continue;
    SafetensorsTensors tensors;
    LINNET_TRY(mappings->add(folder, shard, &tensors, err));
    for (auto& [name, tensor] : tensors) {
      const auto at = index.find(name);
      if (at == index.end()) return fail(err, LINNET_BAD_FILE, kSafetensorsIndex, ": tensor '", name, "' of '", shard, "' is not listed");
      if (at->second == shard) out->emplace(name, std::move(tensor));
    }
  }
  for (const auto& [name, file] : index)
    if (!out->contains(name)) absent->emplace(name, file);
  return LINNET_OK;
}

void safetensors_read(const SafetensorsTensor& tensor, uint64_t first, uint64_t count, float* out) {
  if (tensor.format == LINNET_F32) {
    std::memcpy(out, tensor.data + first * 4, static_cast<size_t>(count) * 4);
    return;
  }
  const uint8_t* from = tensor.data + first * 2;
  const bool half = tensor.format == LINNET_F16;
  for (uint64_t i = 0; i < count; i++) {
    uint16_t bits;
    std::memcpy(&bits, from + i * 2, sizeof bits);
    out[i] = half ? f16_to_f32(bits) : bf16_to_f32(bits);
  }
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); i++) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace linnet::convert
