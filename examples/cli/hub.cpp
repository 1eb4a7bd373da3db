// Names of models on the hub, what belongs to one, the cache, and what the hub's API says; no network here.
#include "hub.h"

#include <json.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace linnet::cli {
namespace {

constexpr std::string_view kPrefix = "hf:";
constexpr size_t kMaxFiles = 100000, kMaxPath = 1024, kMaxName = 255, kMaxDepth = 16;

// Paths are UTF-8 everywhere.
fs::path path_of(const std::string& utf8) { return std::u8string(utf8.begin(), utf8.end()); }
std::string text_of(const fs::path& path) {
  const std::u8string utf8 = path.generic_u8string();
  return std::string(utf8.begin(), utf8.end());
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Of a repository, or of a step of a revision: letters, digits and - _ . inside.
bool is_word(std::string_view text) {
  if (text.empty() || text.size() > 96 || text.front() == '.' || text.front() == '-') return false;
  for (const char c : text)
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.')) return false;
  return text.find("..") == std::string_view::npos;
}

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

// Files that are one model: parts by their number.
struct Group {
  std::string name;  // in lower case, without folders, number of the part and .gguf
  std::string stem;  // the path without the two last
  size_t parts = 1;
  std::vector<std::string> files;
};

// GGUF files of models: not what sees, hears, or guides quantisation beside one.
std::vector<Group> gguf_groups(const std::vector<std::string>& paths) {
  constexpr std::string_view kEnd = ".gguf", kPart = "-00000-of-00000";
  std::vector<Group> groups;
  for (const std::string& path : paths) {
    const std::string name = lower(std::string(base_name(path)));
    if (!name.ends_with(kEnd) || name.starts_with("mmproj") || name.starts_with("mtp-") || name.find("imatrix") != std::string::npos)
      continue;
    Group group;
    group.stem = path.substr(0, path.size() - kEnd.size());
    group.name = name.substr(0, name.size() - kEnd.size());
    bool part = group.name.size() > kPart.size();
    for (size_t i = 0; part && i < kPart.size(); ++i) {
      const char c = group.name[group.name.size() - kPart.size() + i];
      part = kPart[i] == '0' ? c >= '0' && c <= '9' : c == kPart[i];
    }
    if (part) {
      group.parts = static_cast<size_t>(std::strtoul(group.name.c_str() + group.name.size() - 5, nullptr, 10));
      group.name.resize(group.name.size() - kPart.size());
      group.stem.resize(group.stem.size() - kPart.size());
    }
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.stem == group.stem && g.parts == group.parts; });
    if (same != groups.end()) {
      same->files.push_back(path);
    } else {
      group.files = {path};
      groups.push_back(std::move(group));
    }
  }
  for (Group& group : groups) std::sort(group.files.begin(), group.files.end());
  return groups;
}

// Whether the group's name ends with that quantisation: model-Q8_0, model.q8_0, q8_0.
bool ends_with_word(const Group& group, const std::string& word) {
  if (!group.name.ends_with(word)) return false;
  const size_t before = group.name.size() - word.size();
  return before == 0 || group.name[before - 1] == '-' || group.name[before - 1] == '.';
}

std::string list_of(const std::vector<Group>& groups) {
  constexpr size_t kMost = 24;
  std::string text;
  for (size_t i = 0; i < groups.size() && i < kMost; ++i) {
    const std::string_view name = base_name(groups[i].files.front());
    text += (i ? ", " : "") + std::string(name);
  }
  return text + (groups.size() > kMost ? ", ..." : "");
}

bool take_group(const HubName& name, const Group& group, HubPick* out, std::string* why) {
  if (group.files.size() != group.parts)
    return no(why, name.repo + ": of the " + std::to_string(group.parts) + " parts of " + group.stem + " there are " +
                       std::to_string(group.files.size()));
  out->files = group.files;
  out->model = group.files.front();
  return true;
}

// What a folder of safetensors is read from. Weights of one kind: Mistral's repositories hold them twice.
bool take_folder(const HubName& name, const std::vector<std::string>& paths, HubPick* out, std::string* why) {
  const auto ends = [](const std::string& path, std::string_view end) { return path.ends_with(end); };
  bool config = false, model = false, any = false;
  for (const std::string& path : paths) {
    config = config || path == "config.json";
    any = any || (ends(path, ".safetensors") && path.find('/') == std::string::npos);
    model = model || path == "model.safetensors" || path.starts_with("model-0");
  }
  if (!config || !any) return no(why, name.repo + " holds no model that linnet reads: neither GGUF files nor config.json with safetensors");
  std::vector<std::string> weights;
  for (const std::string& path : paths) {
    if (path.find('/') != std::string::npos) continue;
    if (ends(path, ".safetensors") && (!model || path.starts_with("model")))
      weights.push_back(path);
    else if (ends(path, ".json") || ends(path, ".jinja") || path == "merges.txt" || path == "vocab.txt" || ends(path, "tokenizer.model"))
      out->files.push_back(path);
  }
  std::sort(weights.begin(), weights.end());
  out->files.insert(out->files.end(), weights.begin(), weights.end());  // last, so that a cut leaves no folder that looks whole
  out->model = "";
  return true;
}

}  // namespace

bool is_hub_name(std::string_view text) { return text.starts_with(kPrefix); }
bool is_commit(std::string_view text) { return text.size() == 40 && is_hex(text); }
bool is_etag(std::string_view text) { return (text.size() == 40 || text.size() == 64) && is_hex(text); }

bool parse_hub_name(std::string_view text, HubName* out, std::string* why) {
  const std::string shown(text);
  const auto wrong = [&](const std::string& what) {
    return no(why, "'" + shown + "': " + what + "; a model's name is hf:USER/REPO[@REVISION][:FILE|:QUANT]");
  };
  if (!is_hub_name(text)) return wrong("it does not begin with hf:");
  text.remove_prefix(kPrefix.size());
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    out->pick = text.substr(colon + 1);
    if (!safe_hub_path(out->pick)) return wrong("no file or quantisation behind the colon");
    text = text.substr(0, colon);
  }
  const size_t at = text.find('@');
  out->revision = at == std::string_view::npos ? "main" : text.substr(at + 1);
  out->repo = text.substr(0, at);
  for (std::string_view rest = out->revision;;) {
    const size_t slash = rest.find('/');
    if (!is_word(rest.substr(0, slash))) return wrong("no revision");
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  const size_t slash = out->repo.find('/');
  const std::string_view repo = out->repo;
  if (slash == std::string_view::npos || !is_word(repo.substr(0, slash)) || !is_word(repo.substr(slash + 1)) ||
      repo.find("--") != std::string_view::npos)
    return wrong("no USER/REPO");
  return true;
}

bool safe_hub_path(std::string_view path) {
  if (path.empty() || path.size() > kMaxPath) return false;
  for (const char c : path)
    if (c == '\\') return false;
  if (printable(path) != path) return false;  // pull prints it as it is: nothing that a terminal obeys
  size_t depth = 0;
  for (std::string_view rest = path; ++depth <= kMaxDepth;) {
    const size_t slash = rest.find('/');
    const std::string_view step = rest.substr(0, slash);
    if (step.empty() || step.size() > kMaxName || step == "." || step == "..") return false;
    if (slash == std::string_view::npos) return true;
    rest.remove_prefix(slash + 1);
  }
  return false;
}

bool pick_model(const HubName& name, const std::vector<std::string>& paths, HubPick* out, std::string* why) {
  *out = {};
  const std::vector<Group> groups = gguf_groups(paths);
  if (!name.pick.empty()) {
    for (const Group& group : groups)
      if (std::find(group.files.begin(), group.files.end(), name.pick) != group.files.end()) return take_group(name, group, out, why);
    if (std::find(paths.begin(), paths.end(), name.pick) != paths.end()) {
      out->files = {name.pick};
      out->model = name.pick;
      return true;
    }
    if (name.pick.find_first_of("./") != std::string::npos)
      return no(why, name.repo + " has no file '" + name.pick + "'; linnet pull --list shows what it has");
  }
  // What comes first is what linnet packs with the least loss: a matrix of 8 bits takes the same memory whatever it was packed from.
  static constexpr const char* kLiked[] = {"q8_0", "q6_k", "q5_k_m", "q5_k_s", "q5_1", "q5_0", "q4_k_m", "q4_k_s",
                                           "q4_1", "q4_0", "mxfp4",  "bf16",   "f16",  "fp16", "f32"};
  std::vector<std::string> words;
  if (!name.pick.empty()) {
    words = {lower(name.pick)};
  } else {
    if (groups.empty()) return take_folder(name, paths, out, why);
    if (groups.size() == 1) return take_group(name, groups[0], out, why);
    words.assign(std::begin(kLiked), std::end(kLiked));
  }
  for (const std::string& word : words) {
    std::vector<Group> found;
    for (const Group& group : groups)
      if (ends_with_word(group, word)) found.push_back(group);
    if (found.size() == 1) return take_group(name, found[0], out, why);
    if (!found.empty()) return no(why, name.repo + ": more than one file is meant: name one of " + list_of(found) + " behind a colon");
  }
  if (groups.empty()) return no(why, name.repo + " has no GGUF files; without ':" + name.pick + "' its folder is taken");
  return no(why, name.repo + " has no GGUF file of " + (name.pick.empty() ? "a quantisation that linnet reads" : "'" + name.pick + "'") +
                     ": it has " + list_of(groups));
}

bool HubCache::open(const HubName& name, std::string* why) {
  root = environment("HF_HUB_CACHE");
  if (root.empty()) root = environment("HUGGINGFACE_HUB_CACHE");
  if (root.empty()) {
    std::string home;
    if (!hub_home(&home, why)) return false;
    root = home + "/hub";
  }
  root = at_home(root);
  repo = root + "/models--" + name.repo;
  repo.replace(repo.rfind('/'), 1, "--");
  return true;
}

bool hub_home(std::string* out, std::string* why) {
  *out = at_home(environment("HF_HOME"));
  if (!out->empty()) return true;
  std::string cache = environment("XDG_CACHE_HOME");
  if (cache.empty()) {
    if (home_folder().empty()) return no(why, "there is no cache for models: none of HF_HUB_CACHE, HF_HOME and HOME is set");
    cache = home_folder() + "/.cache";
  }
  *out = at_home(cache) + "/huggingface";
  return true;
}

std::string at_home(const std::string& path) { return path == "~" || path.starts_with("~/") ? home_folder() + path.substr(1) : path; }

std::string HubCache::find(const HubName& name) const {
  std::string commit = name.revision, why;
  linnet_error err = {};
  if (!is_commit(commit)) {
    if (convert::read_file(repo + "/refs/" + name.revision, 64, &commit, nullptr, &err) != LINNET_OK) return "";
    commit.erase(commit.find_last_not_of(" \r\n") + 1);
    if (!is_commit(commit)) return "";
  }
  const std::string folder = snapshot(commit);
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator it(path_of(folder), error), end; !error && it != end && paths.size() < kMaxFiles;
       it.increment(error)) {
    if (it.depth() > static_cast<int>(kMaxDepth)) it.disable_recursion_pending();
    std::error_code gone;  // a link to a blob that is not there
    if (it->is_regular_file(gone)) paths.push_back(text_of(it->path().lexically_relative(path_of(folder))));
  }
  HubPick pick;
  if (paths.empty() || !pick_model(name, paths, &pick, &why)) return "";
  if (pick.model.empty()) {
    const auto there = [&](std::string_view file) { return std::find(paths.begin(), paths.end(), file) != paths.end(); };
    if (!there("tokenizer.json") && !there("tokenizer.model") && !there("vocab.json") && !there("vocab.txt")) return "";
    // Of weights in several files all must be there.
    const std::string index = "model.safetensors.index.json";
    if (!there("model.safetensors") && there(index)) {
      std::string text;
      convert::JsonTree tree;
      if (convert::read_file(folder + "/" + index, convert::kJsonMaxBytes, &text, nullptr, &err) != LINNET_OK ||
          convert::json_parse(text, index.c_str(), &tree.root, &err) != LINNET_OK)
        return "";
      const nlohmann::json* map = convert::json_member(tree.root, "weight_map");
      if (!map || !map->is_object()) return "";
      std::set<std::string> shards;
      for (const auto& [tensor, shard] : map->items())
        if (!shard.is_string() ||
            (shards.insert(shard.get_ref<const std::string&>()).second && !there(shard.get_ref<const std::string&>())))
          return "";
    }
    return folder;
  }
  return folder + "/" + pick.model;
}

// Of the first of two variables that is set.
static bool is_on(const char* name, const char* other) {
  std::string value = lower(environment(name));
  if (value.empty() && other) value = lower(environment(other));
  return value == "1" || value == "on" || value == "yes" || value == "true";
}

bool hub_is_offline() { return is_on("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"); }

bool HubEndpoint::open(std::string* why) {
  url = environment("HF_ENDPOINT");
  if (url.empty()) url = "https://huggingface.co";
  while (url.ends_with('/')) url.pop_back();
  if (!url.starts_with("https://") && !url.starts_with("http://"))
    return no(why, "HF_ENDPOINT is '" + url + "', not an address that begins with https://");
  if (is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN", nullptr)) return true;
  std::string text = environment("HF_TOKEN"), where = "HF_TOKEN";
  if (text.empty()) text = environment("HUGGING_FACE_HUB_TOKEN"), where = "HUGGING_FACE_HUB_TOKEN";
  if (text.empty()) {
    std::string home;
    where = at_home(environment("HF_TOKEN_PATH"));
    if (where.empty() && hub_home(&home, why)) where = home + "/token";
    bool found = false;
    linnet_error err = {};
    if (!where.empty() && convert::read_file(where, 4096, &text, &found, &err) != LINNET_OK) return no(why, err.text);
  }
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  for (const char c : text)
    if (c <= ' ' || c > '~') return no(why, where + " holds no token: letters, digits and signs alone");
  token = text;
  return true;
}

bool parse_hub_commit(std::string_view json, std::string* commit, std::string* why) {
  linnet_error err = {};
  convert::JsonTree tree;
  if (convert::json_parse(json, "the hub's answer", &tree.root, &err) != LINNET_OK) return no(why, err.text);
  if (convert::get_string(tree.root, "sha", commit) != convert::Got::kFound || !is_commit(*commit))
    return no(why, "the hub's answer: 'sha' names no commit");
  return true;
}

bool parse_hub_tree(std::string_view json, std::vector<HubFile>* files, std::string* why) {
  using convert::Got;
  linnet_error err = {};
  convert::JsonTree tree;
  if (convert::json_parse(json, "the hub's list of files", &tree.root, &err) != LINNET_OK) return no(why, err.text);
  if (!tree.root.is_array()) return no(why, "the hub's list of files is none");
  for (const nlohmann::json& entry : tree.root) {
    std::string type;
    HubFile file;
    int64_t bytes = -1;
    if (convert::get_string(entry, "type", &type) == Got::kFound && type != "file") continue;
    const Got path = convert::get_string(entry, "path", &file.path);
    if (path != Got::kFound || !safe_hub_path(file.path))
      return no(why, "the hub's list of files: '" + file.path + "' is no name that a file of a repository may have");
    const nlohmann::json* lfs = convert::json_member(entry, "lfs");
    const bool large = lfs && !lfs->is_null();
    const nlohmann::json& sums = large ? *lfs : entry;
    if (convert::get_string(sums, "oid", &file.etag) != Got::kFound || !is_etag(file.etag) || (file.etag.size() == 64) != large)
      return no(why, "the hub's list of files: " + file.path + " has no checksum");
    if (convert::get_i64(sums, "size", &bytes) != Got::kFound || bytes < 0 || static_cast<uint64_t>(bytes) > kMaxHubFile)
      return no(why, "the hub's list of files: " + file.path + " has no size");
    file.bytes = static_cast<uint64_t>(bytes);
    if (files->size() >= kMaxFiles) return no(why, "the hub's list of files has more than " + std::to_string(kMaxFiles));
    files->push_back(std::move(file));
  }
  return true;
}

// ---- SHA-1 and SHA-256 (FIPS 180-4) ------------------------------------------------------------------------------------------------

namespace {

constexpr uint32_t rotl(uint32_t x, int n) { return x << n | x >> (32 - n); }
constexpr uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

constexpr uint32_t kSha256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
constexpr uint32_t kStart256[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr uint32_t kStart1[8] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

}  // namespace

Digest::Digest(bool sha256) : wide_(sha256) { std::copy_n(sha256 ? kStart256 : kStart1, 8, h_); }

void Digest::block(const uint8_t* p) {
  uint32_t w[80], v[8];
  std::copy_n(h_, 8, v);
  for (size_t i = 0; i < 16; ++i)
    w[i] = uint32_t{p[4 * i]} << 24 | uint32_t{p[4 * i + 1]} << 16 | uint32_t{p[4 * i + 2]} << 8 | p[4 * i + 3];
  if (wide_) {
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t a = v[0], e = v[4];
      const uint32_t t = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + kSha256[i] + w[i];
      const uint32_t u = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
      std::copy_backward(v, v + 7, v + 8);
      v[4] += t;
      v[0] = t + u;
    }
  } else {
    for (size_t i = 16; i < 80; ++i) w[i] = rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (size_t i = 0; i < 80; ++i) {
      const uint32_t b = v[1], c = v[2], d = v[3];
      const uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                         : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                         : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                  : (b ^ c ^ d) + 0xca62c1d6;
      const uint32_t t = rotl(v[0], 5) + f + v[4] + w[i];
      std::copy_backward(v, v + 4, v + 5);
      v[2] = rotl(v[2], 30);
      v[0] = t;
    }
  }
  for (size_t i = 0; i < 8; ++i) h_[i] += v[i];
}

void Digest::add(const void* data, size_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  for (size_t held = bytes_ % 64; bytes;) {
    if (held == 0 && bytes >= 64) {
      block(p);
      p += 64, bytes -= 64, bytes_ += 64;
      continue;
    }
    const size_t n = std::min(bytes, 64 - held);
    std::memcpy(rest_ + held, p, n);
    p += n, bytes -= n, bytes_ += n;
    if ((held = (held + n) % 64) == 0) block(rest_);
  }
}

std::string Digest::hex() {
  const uint64_t bits = bytes_ * 8;
  const uint8_t one = 0x80, zeros[64] = {};
  add(&one, 1);
  add(zeros, (120 - bytes_ % 64) % 64);
  uint8_t length[8];
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  add(length, 8);
  std::string text;
  for (size_t i = 0; i < (wide_ ? 8 : 5); ++i) {
    char word[9];
    std::snprintf(word, sizeof word, "%08x", h_[i]);
    text += word;
  }
  return text;
}

}  // namespace linnet::cli
