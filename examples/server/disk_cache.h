// What prefix caches hold, on disk: a file for each block of 128 tokens, and for the rest where a sequence was kept. A file's name is a
// hash of the model and of all tokens up to its end, so that a prompt finds its own block by block; what is inside are exported pieces
// (linnet_serve.h), which bring their tokens along and go into the prefix cache under these: a name, right or wrong, never decides what a
// prompt goes on from. Two threads read and write; nobody else waits for a disk. Any thread may call.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace server {

class DiskCache {
 public:
  static constexpr size_t kBlock = 128;  // tokens

  // Of the model and of tokens from the first one on.
  struct Hash {
    std::array<uint64_t, 2> at = {};
    explicit Hash(std::string_view model = {});
    void add(uint64_t value);
    void add(const std::vector<int32_t>& tokens, size_t from, size_t to) {
      for (; from < to; ++from) add(static_cast<uint32_t>(tokens[from]));
    }
    bool operator==(const Hash&) const = default;
  };
  struct Piece {
    Hash end;               // of all tokens up to its end
    uint32_t n_tokens = 0;  // as many
    bool kept = false;      // a sequence was kept at its end: states are there
    uint64_t bytes = 0;     // of the file
    int64_t used = 0;       // ns since 1970
    std::string name() const;
  };

  // Something to tell when there is room to write, or something was read; silent once ended.
  class Bell {
   public:
    explicit Bell(std::function<void()> call) : call_(std::move(call)) {}
    void ring() {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (call_) call_();
    }
    void end() {
      const std::lock_guard<std::mutex> lock(mutex_);
      call_ = nullptr;
    }

   private:
    std::mutex mutex_;
    std::function<void()> call_;
  };

  // Pieces that are being read, in their order. Dropped: no more are.
  struct Reading {
    std::vector<Piece> pieces;
    std::shared_ptr<Bell> bell;
    int64_t when = 0;
    size_t n_read = 0, n_taken = 0;
    std::deque<std::vector<char>> done;
    bool over = false;  // none comes behind those of `done`
  };
  enum class Take { kWait, kPiece, kOver };

  static int64_t now();  // as Piece::used

  DiskCache() = default;
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  // budget: bytes of all files in the folder. One that cannot be written to is read alone.
  bool open(const std::string& folder, uint64_t budget, std::string* why);

  // The blocks that lead furthest into tokens[0, n), without those that end in tokens[0, from). kept: the last one where one was kept.
  std::vector<Piece> find(const Hash& model, const std::vector<int32_t>& tokens, size_t n, size_t from, bool kept) const;
  std::shared_ptr<Reading> read(std::vector<Piece> pieces, std::shared_ptr<Bell> bell);
  Take take(Reading* reading, Piece* piece, std::vector<char>* bytes);  // what linnet_prefix_export gave
  void damaged(const Piece& piece);                                     // it goes

  enum class Room { kNone, kLater, kYes };
  // Whether bytes of the same tokens and more than are there would be written now; kLater: when the bell rings.
  Room room(const Piece& piece, size_t bytes, const std::shared_ptr<Bell>& bell);
  void write(const Piece& piece, std::vector<char> bytes);
  bool flush(std::chrono::steady_clock::time_point until);

  struct Status {
    uint64_t budget = 0, bytes = 0, files = 0, written = 0, read = 0, n_damaged = 0, buffered = 0;
    bool writes = false;
  };
  Status status() const;

 private:
  struct Task {  // without bytes: to touch, or to remove
    Piece piece;
    std::vector<char> bytes;
    bool remove = false;
  };
  struct Place {
    size_t operator()(const Hash& hash) const { return hash.at[0]; }
  };
  using Index = std::unordered_map<Hash, Piece, Place>;  // by the end

  void reads();
  void writes();
  bool read_file(const Piece& piece, int64_t when, std::vector<char>* bytes);
  bool write_file(const Piece& piece, const std::vector<char>& bytes);  // false: errno says why
  bool make_room(uint64_t bytes);
  void scan();
  bool ours(const std::string& name, uint64_t* bytes, int64_t* used) const;
  void remove(const Piece& piece);
  void forget(const Piece& piece);  // under mutex_
  void stop_writing(int error);

  std::string folder_;
  int fd_ = -1;
  uint64_t budget_ = 0, since_scan_ = 0;
  std::thread reader_, writer_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable to_read_, to_write_, written_;
  Index index_;
  std::set<std::string> queued_;
  std::deque<std::weak_ptr<Reading>> readings_;
  std::deque<Task> tasks_;
  std::vector<std::weak_ptr<Bell>> bells_;
  bool ending_ = false, writing_ = false;
  Status status_;
};

}  // namespace server
