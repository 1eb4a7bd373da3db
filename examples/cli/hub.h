// Models on the hub of Hugging Face, and the cache on disk that huggingface_hub and other programs share with linnet. What needs no network
// is in hub.cpp, what comes over it in download.cpp, which is built where libcurl's headers are.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli.h"

namespace linnet::cli {

// hf:USER/REPO[@REVISION][:PICK]
struct HubName {
  std::string repo;      // USER/REPO
  std::string revision;  // branch, tag or commit; "main" where none was given
  std::string pick;      // a file or a quantisation, "" where none was given
};
bool is_hub_name(std::string_view text);  // whether it begins with hf:
// Functions that return a bool say in *why, in a sentence, what is wrong; with this.
inline bool no(std::string* why, std::string text) {
  *why = std::move(text);
  return false;
}
bool parse_hub_name(std::string_view text, HubName* out, std::string* why);

struct HubFile {
  std::string path;  // in the repository
  std::string etag;  // the SHA-256 of large files (LFS), git's SHA-1 of the others; it is the blob's name in the cache
  uint64_t bytes = 0;
};
constexpr uint64_t kMaxHubFile = uint64_t{1} << 46;  // 70 TB: sums of all files of a repository fit in 64 bits

bool safe_hub_path(std::string_view path);  // what a server calls a file may name it on this disk
bool is_commit(std::string_view text);      // 40 hexadecimal digits
bool is_etag(std::string_view text);        // the same, or 64

// What belongs to a model: names of files among `paths`.
struct HubPick {
  std::vector<std::string> files;
  std::string model;  // what -m takes of the snapshot: a file, "" for the folder itself
};
bool pick_model(const HubName& name, const std::vector<std::string>& paths, HubPick* out, std::string* why);

// <cache>/models--USER--REPO, and what is in it.
struct HubCache {
  std::string root, repo;  // of all repositories, of this one
  bool open(const HubName& name, std::string* why);
  std::string snapshot(const std::string& commit) const { return repo + "/snapshots/" + commit; }
  std::string blob(const std::string& etag) const { return repo + "/blobs/" + etag; }
  // The model that lies there whole, "" where none does.
  std::string find(const HubName& name) const;
};

struct HubEndpoint {
  std::string url;    // without a slash at its end
  std::string token;  // "" for none
  bool open(std::string* why);
};
bool hub_is_offline();
bool hub_home(std::string* out, std::string* why);  // the folder of Hugging Face's programs
std::string at_home(const std::string& path);       // with $HOME for a ~ at its front

// One page of a repository's tree, as the hub's API gives it.
bool parse_hub_tree(std::string_view json, std::vector<HubFile>* files, std::string* why);
bool parse_hub_commit(std::string_view json, std::string* commit, std::string* why);

// SHA-1 and SHA-256.
class Digest {
 public:
  explicit Digest(bool sha256);
  void add(const void* data, size_t bytes);
  std::string hex();  // ends it
 private:
  void block(const uint8_t* p);
  bool wide_;
  uint32_t h_[8];
  uint64_t bytes_ = 0;
  uint8_t rest_[64];
};

// ---- over the network (download.cpp) -----------------------------------------------------------------------------------------------

// A line on terminals: how far, how fast, how long still.
struct HubProgress {
  uint64_t done = 0, total = 0;  // bytes of all files
  std::string file;              // that comes now
  bool terminal = false;
  void show(uint64_t done_now);
  void show_check(uint64_t at, uint64_t of);
  void clear();

 private:
  std::string short_name() const;
  bool shown = false;
  double start = 0, last = 0, rate = 0;  // rate: bytes a second, lately
  uint64_t last_done = 0;
};

struct Curl;
class Hub {
 public:
  Hub(const Args& args, const HubName& name) : args_(args), name_(name) {}
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;
  ~Hub();
  bool open(std::string* why);
  // The commit of the name's revision, and all of its files. *unreachable: nobody answers there.
  bool list(std::string* commit, std::vector<HubFile>* files, bool* unreachable, std::string* why);
  // Into the cache, through `<etag>.linnet.incomplete`, where the next call goes on with what a cut left. *came: bytes over the network.
  bool get(const HubCache& cache, const std::string& commit, const HubFile& file, uint32_t connections, HubProgress* progress,
           uint64_t* came, std::string* why);

 private:
  friend struct Transfer;
  struct Reply;
  enum class Next { kDone, kFollow, kAgain, kNever };
  std::string origin(const std::string& url, std::string* scheme, std::string* host);
  bool aim(void* easy, const std::string& url, Reply* reply, std::string* why);
  Next judge(void* easy, int result, const std::string& what, Reply* reply, std::string* url, double* wait, std::string* why);
  void note_wait(const Reply& reply, double wait);
  bool text(const std::string& url, const std::string& what, std::string* body, Reply* reply, bool* unreachable, std::string* why);
  const Args& args_;
  const HubName& name_;
  HubEndpoint endpoint_;
  Curl* curl_ = nullptr;
};
// Whether the file lies in the cache; of one that does not, the bytes that an earlier call has left there.
bool hub_has(const HubCache& cache, const std::string& commit, const HubFile& file);
uint64_t hub_bytes_left(const HubCache& cache, const HubFile& file);

}  // namespace linnet::cli
