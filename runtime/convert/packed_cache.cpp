#include "packed_cache.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "../../platform/folder.h"
#include "../chat/program.h"
#include "../tokenizer/blob.h"
#include "source.h"
#include "writer.h"

namespace linnet::convert {
namespace {

// Counted up where a change makes other bytes of the same source, and no version below says so.
constexpr uint32_t kPackingVersion = 4;

// ---- hashes -----------------------------------------------------------------------------------------------------------------------

// 128 bits that tell files apart which were not made to be taken for each other: each lane takes every fourth word.
struct Digest {
  uint64_t lane[4] = {0x243F6A8885A308D3u, 0x13198A2E03707344u, 0xA4093822299F31D0u, 0x082EFA98EC4E6C89u};  // digits of pi
  void add(const void* data, size_t n) {
    const auto* p = static_cast<const uint8_t*>(data);
    for (; n >= 32; n -= 32, p += 32)
      for (size_t i = 0; i < 4; ++i) mix(i, p + 8 * i, 8);
    for (size_t i = 0; n; ++i) {
      const size_t some = n < 8 ? n : 8;
      mix(i, p, some);
      n -= some, p += some;
    }
    ++lane[3];  // so that a text is not its two halves
  }
  std::string text() const {
    constexpr char kHex[] = "0123456789abcdef";
    Digest all;
    for (size_t round = 0; round < 2; ++round)
      for (size_t i = 0; i < 4; ++i) {
        for (const uint64_t l : lane) all.mix(i, &l, sizeof l);
        all.lane[(i + 1) % 4] ^= all.lane[i] >> 31;
      }
    std::string out;
    for (size_t i = 0; i < 2; ++i)
      for (int shift = 60; shift >= 0; shift -= 4) out += kHex[(all.lane[i] ^ all.lane[i + 2]) >> shift & 15];
    return out;
  }

 private:
  void mix(size_t i, const void* from, size_t n) {
    uint64_t word = 0;
    std::memcpy(&word, from, n);
    uint64_t& l = lane[i];
    l = (l ^ word ^ uint64_t{n} << 60) * 0x9E3779B97F4A7C15u;
    l ^= l >> 29;
  }
};

// Of what begins a file, where metadata and vocabularies stand, and of pieces all over the rest. bytes(at, n): those at `at`, or nullptr
// where they cannot be read.
constexpr uint64_t kHead = uint64_t{8} << 20, kSample = 4096, kSamples = 64;
bool digest_of(uint64_t size, const std::function<const void*(uint64_t at, size_t n)>& bytes, Digest* out) {
  const auto take = [&](uint64_t at, uint64_t n) {
    const void* p = bytes(at, static_cast<size_t>(n));
    if (p) out->add(p, static_cast<size_t>(n));
    return p != nullptr;
  };
  out->add(&size, sizeof size);
  const uint64_t head = std::min(size, kHead), rest = size - head;
  if (head && !take(0, head)) return false;
  if (rest <= kSample * kSamples) return rest == 0 || take(head, rest);
  for (uint64_t i = 0; i < kSamples; ++i)
    if (!take(head + (rest - kSample) / (kSamples - 1) * i, kSample)) return false;
  return take(size - kSample, kSample);
}
bool digest_of(const uint8_t* data, uint64_t size, Digest* out) {
  return digest_of(size, [data](uint64_t at, size_t) { return data + at; }, out);
}

// ---- what decides the bytes -------------------------------------------------------------------------------------------------------

// A path may hold a newline: how long it is comes first.
std::string counted(const std::string& text) { return std::to_string(text.size()) + " " + text; }

bool add_file(const std::string& path, std::string* key) {
  const PathInfo info = path_info(path);
  Mapped file;
  Digest digest;
  if (!info.regular) return false;
  if (info.bytes) {
    if (file_load(path.c_str(), LINNET_LOAD_MAP, {}, &file.view, nullptr) != LINNET_OK) return false;
    digest_of(static_cast<const uint8_t*>(file.view.data), file.view.bytes, &digest);
  }
  *key += "file " + counted(path) + "\nbytes " + std::to_string(info.bytes) + " changed " + std::to_string(info.changed_ns) + " hash " +
          digest.text() + "\n";
  return true;
}

// Every file that a folder's model could be read from; they are few.
bool add_folder(const std::string& folder, bool below, std::string* key) {
  std::vector<std::string> names;
  if (!folder_names(folder, &names)) return false;
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (name.starts_with('.')) continue;  // of tools, not of the model
    const PathInfo info = path_info(path);
    if (info.regular ? !add_file(path, key) : info.folder && below && !add_folder(path, false, key)) return false;
  }
  return true;
}

// "" where the source cannot be read: packing it says why.
std::string key_of(const std::string& src, const Options& options) {
  char most[40];
  std::snprintf(most, sizeof most, "%a", options.max_error);
  std::string key = "linnet " + std::to_string(linnet_version()) + " packing " + std::to_string(kPackingVersion) + " layout " +
                    std::to_string(kLayoutVersion) + " template " + std::to_string(chat::kProgramVersion) + " tokenizer " +
                    std::to_string(tok::kVersion) + "\nweights " + std::to_string(options.weights) + " floats " +
                    std::to_string(options.floats) + " most " + most + "\nsource " + counted(path_real(src)) + "\n";
  if (is_folder(src)) {
    key += "name " + counted(folder_name(src)) + "\n";
    return add_folder(path_real(src), true, &key) ? key : "";
  }
  for (const std::string& part : gguf_parts(src))
    if (!add_file(path_real(part), &key)) return "";
  return key;
}

// ---- the seal: lines of text and this, behind the packed bytes ----------------------------------------------------------------------

constexpr char kMagic[8] = {'L', 'N', 'T', 'S', 'E', 'A', 'L', '1'};
struct Tail {
  char magic[8];
  uint64_t packed_bytes, key_bytes, said_bytes;  // in this order in the file
  char packed[32], text[32];                     // digests; of key and said together
};
static_assert(sizeof(Tail) == 96);

struct Seal {
  Tail tail = {};
  std::string_view key, said;  // what decided the bytes; what packing said, a line each
};

// Whether the file ends with a seal; it may be one of a file that was changed since.
bool read_seal(const linnet_view& file, Seal* out) {
  const auto* data = static_cast<const uint8_t*>(file.data);
  if (file.bytes < sizeof(Tail)) return false;
  Tail& tail = out->tail;
  std::memcpy(&tail, data + file.bytes - sizeof(Tail), sizeof(Tail));
  const uint64_t before = file.bytes - sizeof(Tail);
  if (std::memcmp(tail.magic, kMagic, sizeof kMagic) != 0 || !fits(tail.packed_bytes, tail.key_bytes, before) ||
      tail.said_bytes != before - tail.packed_bytes - tail.key_bytes)
    return false;
  out->key = {reinterpret_cast<const char*>(data) + tail.packed_bytes, static_cast<size_t>(tail.key_bytes)};
  out->said = {out->key.data() + out->key.size(), static_cast<size_t>(tail.said_bytes)};
  Digest text;
  text.add(out->key.data(), static_cast<size_t>(tail.key_bytes + tail.said_bytes));
  return text.text() == std::string_view(tail.text, sizeof tail.text);
}
bool is_whole(const linnet_view& file, const Seal& seal) {
  Digest packed;
  digest_of(static_cast<const uint8_t*>(file.data), seal.tail.packed_bytes, &packed);
  return packed.text() == std::string_view(seal.tail.packed, sizeof seal.tail.packed);
}

constexpr std::string_view kError = "error ", kNote = "note ";

std::string said_by(const Options& options) {
  std::string said;
  if (const WeightError* e = options.weight_error) {
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, "%a %a ", e->mean, e->worst);
    said += std::string(kError) + numbers + e->tensor + "\n";
  }
  if (options.notes)
    for (std::string note : *options.notes) {
      std::replace(note.begin(), note.end(), '\n', ' ');
      said += std::string(kNote) + note + "\n";
    }
  return said;
}
// Says it again; false where the error of rounding is asked for and was not measured.
bool say_again(std::string_view said, const Options& options) {
  WeightError error;
  bool measured = false;
  std::vector<std::string> notes;
  while (!said.empty()) {
    const size_t n = std::min(said.find('\n'), said.size() - 1);
    const std::string line(said.substr(0, n));
    said.remove_prefix(n + 1);
    if (line.starts_with(kNote)) notes.push_back(line.substr(kNote.size()));
    if (!line.starts_with(kError)) continue;
    char* end = nullptr;
    error.mean = std::strtod(line.c_str() + kError.size(), &end);
    error.worst = std::strtod(end, &end);
    error.tensor = *end == ' ' ? end + 1 : "";
    measured = true;
  }
  if (options.weight_error && !measured) return false;
  if (options.weight_error) *options.weight_error = error;
  if (options.notes) *options.notes = notes;
  return true;
}

// ---- the folder -------------------------------------------------------------------------------------------------------------------

constexpr std::string_view kEnding = ".gguf", kTemporary = ".gguf.tmp";

bool named(std::string_view name, std::string_view ending) {
  constexpr size_t kDigits = 32;
  return name.size() == kDigits + ending.size() && name.ends_with(ending) && name.find_first_not_of("0123456789abcdef") == kDigits;
}

struct Kept {
  std::string path;
  PathInfo info;
};
// What is kept, least recently used first, whatever the clock was then. Other files are nobody's business here.
std::vector<Kept> kept(const std::string& folder) {
  std::vector<std::string> names;
  std::vector<Kept> out;
  (void)folder_names(folder, &names);
  for (const std::string& name : names)
    if (named(name, kEnding)) out.push_back({folder + "/" + name, link_info(folder + "/" + name)});
  std::sort(out.begin(), out.end(), [](const Kept& a, const Kept& b) {
    return a.info.changed_ns != b.info.changed_ns ? a.info.changed_ns < b.info.changed_ns : a.path < b.path;
  });
  return out;
}
uint64_t bytes_of(const std::vector<Kept>& files) {
  uint64_t bytes = 0;
  for (const Kept& f : files) bytes += f.info.bytes;
  return bytes;
}

// What packing leaves when it is killed.
void sweep(const std::string& folder) {
  std::vector<std::string> names;
  (void)folder_names(folder, &names);
  for (const std::string& name : names)
    if (named(name, kTemporary)) Replacement::sweep((folder + "/" + name).c_str());
}

// Of the space that would be free without the cache, so that what it takes does not lower its own bound.
uint64_t most_bytes(const std::string& folder, uint64_t asked, uint64_t held) {
  if (asked) return asked;
  const uint64_t room = folder_room(folder);
  return room ? std::min(kCacheBytes, (room + std::min(held, UINT64_MAX - room)) / 4) : kCacheBytes;
}

// As the last one used: a clock that was set back since the others were used does not count.
void mark_used(const std::string& path, const std::string& folder) {
  using namespace std::chrono;
  int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  for (const Kept& f : kept(folder))
    if (f.path != path && f.info.changed_ns >= now && f.info.changed_ns < INT64_MAX - kSecondNs) now = f.info.changed_ns + kSecondNs;
  (void)path_changed(path, now);  // of a folder that cannot be written to, nothing goes
}

}  // namespace

bool CacheEntry::open() {
  key_ = key_of(src_, options_);
  if (key_.empty()) return false;
  std::string why;
  if (!private_folder(options_.cache, &why)) return not_kept(why.c_str()), false;
  Digest digest;
  digest.add(key_.data(), key_.size());
  name_ = digest.text() + std::string(kEnding);
  return true;
}

void CacheEntry::not_kept(const char* why) const {
  if (options_.notes) options_.notes->push_back("the packed model is not kept in the cache " + options_.cache + ": " + why);
}

linnet_status CacheEntry::find(Loaded* out, linnet_error* err) {
  const PathInfo info = link_info(path());
  if (!info.there) return LINNET_OK;
  Mapped file;
  Seal seal;
  if (!info.regular || file_load(path().c_str(), LINNET_LOAD_MAP, {}, &file.view, nullptr) != LINNET_OK || !read_seal(file.view, &seal) ||
      seal.key != key_ || !is_whole(file.view, seal))
    return (void)path_remove(path()), LINNET_OK;  // cut, changed or no file of ours
  linnet_view view = {};
  const auto gguf = std::make_unique<Gguf>();
  const auto packed = static_cast<size_t>(seal.tail.packed_bytes);
  const bool read = gguf_open(file.view.data, packed, path().c_str(), gguf.get(), nullptr) == LINNET_OK;
  const Status status =
      file_load(path().c_str(), how_, {options_.progress, options_.user}, &view, err, read ? bytes_to_run(*gguf) : SIZE_MAX);
  if (status == LINNET_IO || status == LINNET_BAD_FILE) return LINNET_OK;  // it has just been removed
  LINNET_TRY(status);
  if (view.bytes != file.view.bytes || !say_again(seal.said, options_)) return file_unmap(&view), LINNET_OK;
  mark_used(path(), options_.cache);
  out->whole = view;
  out->file = {view.data, packed};
  out->mapped = true;
  return LINNET_OK;
}

linnet_status CacheEntry::begin(uint64_t bytes, Output* out, linnet_error* err) const {
  sweep(options_.cache);
  std::vector<Kept> files = kept(options_.cache);
  std::erase_if(files, [this](const Kept& f) { return f.path == path(); });  // which is replaced
  uint64_t held = bytes_of(files);
  const uint64_t most = most_bytes(options_.cache, options_.cache_bytes, held);
  if (bytes > most) return fail(err, LINNET_IO, "it has ", bytes, " bytes, the cache holds at most ", most);
  for (const Kept& f : files) {
    if (held <= most - bytes) break;
    if (path_remove(f.path)) held -= f.info.bytes;  // what others have mapped stays until they are done, or cannot be removed
  }
  if (held > most - bytes) return fail(err, LINNET_IO, "older files in it cannot be removed");
  if (const PathInfo there = link_info(path()); there.there && !there.regular) (void)path_remove(path());
  return out->open_file(path(), err, 0600);
}

linnet_status CacheEntry::commit(Output* out, linnet_error* err) const {
  if (key_of(src_, options_) != key_) return fail(err, LINNET_BAD_STATE, "the source changed while it was packed");
  const std::string said = said_by(options_);
  std::string text = key_ + said;
  Tail tail = {};
  std::memcpy(tail.magic, kMagic, sizeof kMagic);
  tail.packed_bytes = out->total();
  tail.key_bytes = key_.size();
  tail.said_bytes = said.size();
  Digest packed, lines;
  std::vector<uint8_t> piece;
  Status status = LINNET_OK;
  const auto read = [&](uint64_t at, size_t n) -> const void* {
    piece.resize(n);
    status = out->read(at, n, piece.data(), err);
    return status == LINNET_OK ? piece.data() : nullptr;
  };
  if (!digest_of(out->total(), read, &packed)) return status;
  lines.add(text.data(), text.size());
  packed.text().copy(tail.packed, sizeof tail.packed);
  lines.text().copy(tail.text, sizeof tail.text);
  text.append(reinterpret_cast<const char*>(&tail), sizeof tail);
  LINNET_TRY(out->commit_file(err, text));
  mark_used(path(), options_.cache);
  return LINNET_OK;
}

linnet_status cache_list(const std::string& folder, CacheList* out, linnet_error* err) {
  *out = {};
  return guarded(PathName(folder), err, [&] {
    std::vector<Kept> files = kept(folder);
    out->bytes = bytes_of(files);
    out->most_bytes = most_bytes(folder, 0, out->bytes);
    for (auto f = files.rbegin(); f != files.rend(); ++f) {
      CachedModel model = {f->path, "", "", f->info.bytes, f->info.changed_ns / kSecondNs};
      Mapped file;
      Seal seal;
      if (f->info.regular && file_load(f->path.c_str(), LINNET_LOAD_MAP, {}, &file.view, nullptr) == LINNET_OK &&
          read_seal(file.view, &seal)) {
        // "source N PATH", "weights F".
        const auto behind = [&](std::string_view word) {
          const size_t at = seal.key.find(word);
          return at == seal.key.npos ? "" : std::string(seal.key.substr(at + word.size()));
        };
        const std::string path = behind("\nsource "), weights = behind("\nweights ");
        const size_t blank = path.find(' '), n = std::strtoull(path.c_str(), nullptr, 10);
        if (blank < path.size()) model.source = path.substr(blank + 1, n);
        const char* name = linnet_format_name(static_cast<linnet_format>(std::strtoul(weights.c_str(), nullptr, 10)));
        model.weights = weights.starts_with("0 ") || !name ? "" : name;
      }
      out->models.push_back(std::move(model));
    }
    return LINNET_OK;
  });
}

linnet_status cache_clear(const std::string& folder, uint32_t* n_files, uint64_t* bytes, linnet_error* err) {
  *n_files = 0, *bytes = 0;
  return guarded(PathName(folder), err, [&] {
    Status status = LINNET_OK;
    sweep(folder);
    for (const Kept& f : kept(folder)) {
      if (path_remove(f.path))
        ++*n_files, *bytes += f.info.bytes;
      else
        status = fail(err, LINNET_IO, PathName(f.path), ": cannot be removed: ", std::strerror(errno));
    }
    return status;
  });
}

}  // namespace linnet::convert
