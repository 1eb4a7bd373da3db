#include "disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace server {
namespace {

constexpr char kMagic[8] = {'L', 'N', 'T', 'B', 'L', 'O', 'C', 'K'};
constexpr size_t kBuffer = size_t{64} << 20;  // of what waits to be written; one piece may be larger
constexpr size_t kLargest = size_t{1} << 30;  // of a file
constexpr size_t kFiles = 65536;              // that are remembered
constexpr size_t kReadAhead = 2;              // pieces of a reading
constexpr int64_t kFresh = 60'000'000'000;    // ns within which a file that is used again is not marked again
constexpr int64_t kStep = 1000;               // ns that a token makes a piece older than its beginnings, which must outlive it
constexpr char kPrefix[] = "linnet-", kSuffix[] = ".kv", kTemporary[] = ".kv.tmp";

struct FileHead {
  char magic[8];
  uint32_t version, n_tokens;
  uint64_t end[2], kept, bytes;
  uint64_t check;  // of the fields before it
};
static_assert(sizeof(FileHead) == 56);

uint64_t check_of(const FileHead& head) {
  DiskCache::Hash hash;
  uint64_t words[sizeof head / 8 - 1];
  memcpy(words, &head, sizeof words);
  for (const uint64_t w : words) hash.add(w);
  return hash.at[0];
}

FileHead head_of(const DiskCache::Piece& p) {
  FileHead head = {{}, 1, p.n_tokens, {p.end.at[0], p.end.at[1]}, p.kept, p.bytes, 0};
  memcpy(head.magic, kMagic, sizeof kMagic);
  head.check = check_of(head);
  return head;
}

void set_time(int fd, int64_t ns) {
  timespec times[2] = {{0, UTIME_OMIT}, {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)}};
  (void)!futimens(fd, times);
}

// As Piece::name() writes it.
bool parse(const char* name, DiskCache::Piece* out) {
  unsigned long long h[2];
  unsigned n = 0;
  char kept = 0;
  if (sscanf(name, "linnet-%16llx%16llx-%9u%c", &h[0], &h[1], &n, &kept) != 4 || n == 0) return false;
  out->end.at = {h[0], h[1]};
  out->n_tokens = n;
  out->kept = kept == 'k';
  return out->name() == name;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

class File {
 public:
  File(int folder, const char* name, int flags) : fd_(openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  operator int() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

DiskCache::Hash::Hash(std::string_view model) {
  at = {0x243F6A8885A308D3, 0x13198A2E03707344};
  for (const char c : model) add(static_cast<unsigned char>(c));
}

void DiskCache::Hash::add(uint64_t value) {
  at[0] = (at[0] ^ value) * 0x9E3779B97F4A7C15;
  at[0] ^= at[0] >> 32;
  at[1] = (at[1] + value + 1) * 0xD6E8FEB86659FD93;
  at[1] ^= at[1] >> 29;
}

std::string DiskCache::Piece::name() const {
  char text[128];
  const auto u = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  snprintf(text, sizeof text, "%s%016llx%016llx-%u%c%s", kPrefix, u(end.at[0]), u(end.at[1]), n_tokens, kept ? 'k' : 'p', kSuffix);
  return text;
}

int64_t DiskCache::now() {
  timespec t = {};
  clock_gettime(CLOCK_REALTIME, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

DiskCache::~DiskCache() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  to_read_.notify_all();
  to_write_.notify_all();
  if (reader_.joinable()) reader_.join();
  if (writer_.joinable()) writer_.join();
  if (fd_ >= 0) close(fd_);
}

bool DiskCache::open(const std::string& folder, uint64_t budget, std::string* why) {
  folder_ = folder;
  budget_ = status_.budget = budget;
  const auto failed = [&](const char* what) { return *why = "option '--cache-dir': " + folder + ": " + what, false; };
  if (mkdir(folder.c_str(), 0700) && errno != EEXIST && errno != EROFS) return failed(strerror(errno));
  fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat st = {};
  if (fd_ < 0 || fstat(fd_, &st)) return failed(strerror(errno));
  if (st.st_uid != geteuid()) return failed("belongs to somebody else, who could put anything there");
  if (st.st_mode & 022) return failed("others may write there: they could put anything there; chmod 700 it");
  status_.writes = faccessat(fd_, ".", W_OK, AT_EACCESS) == 0;
  if (!status_.writes) fprintf(stderr, "linnet: serve: disk cache %s: %s: nothing is written to it\n", folder.c_str(), strerror(errno));
  scan();
  reader_ = std::thread([this] { reads(); });
  writer_ = std::thread([this] { writes(); });
  return true;
}

DiskCache::Status DiskCache::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

// ---- the folder ----------------------------------------------------------------------------------------------------------------------

// Links, and what belongs to others, are not.
bool DiskCache::ours(const std::string& name, uint64_t* bytes, int64_t* used) const {
  struct stat st = {};
  if (fstatat(fd_, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) return false;
  *bytes = static_cast<uint64_t>(st.st_size);
  *used = int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec;
  return true;
}

// Other servers write here, too. What one that was killed has left half written goes; it holds no lock any more.
void DiskCache::scan() {
  Index index;
  uint64_t bytes = 0, files = 0;
  std::vector<Piece> over;
  const int fd = dup(fd_);
  DIR* const dir = fd < 0 ? nullptr : fdopendir(fd);
  if (!dir) {
    if (fd >= 0) close(fd);
    return;
  }
  rewinddir(dir);
  while (const dirent* e = readdir(dir)) {
    const std::string name = e->d_name;
    Piece p;
    if (name.compare(0, sizeof kPrefix - 1, kPrefix)) continue;
    if (ends_with(name, kTemporary)) {
      if (!parse(name.substr(0, name.size() - 4).c_str(), &p) || !ours(name, &p.bytes, &p.used)) continue;
      const File left(fd_, name.c_str(), O_RDWR);
      if (left >= 0 && flock(left, LOCK_EX | LOCK_NB) == 0) (void)!unlinkat(fd_, name.c_str(), 0);
      continue;
    }
    if (!parse(name.c_str(), &p) || !ours(name, &p.bytes, &p.used)) continue;
    const auto [at, added] = files < kFiles ? index.emplace(p.end, p) : std::pair(index.end(), false);
    if (!added) {  // too many, or twice by two servers
      over.push_back(p);
      continue;
    }
    bytes += p.bytes;
    ++files;
  }
  closedir(dir);
  for (const Piece& p : over) (void)!unlinkat(fd_, p.name().c_str(), 0);
  const std::lock_guard<std::mutex> lock(mutex_);
  index_ = std::move(index);
  status_.bytes = bytes;
  status_.files = files;
  since_scan_ = 0;
}

void DiskCache::forget(const Piece& piece) {
  const auto at = index_.find(piece.end);
  if (at == index_.end()) return;
  status_.bytes -= at->second.bytes;
  --status_.files;
  index_.erase(at);
}

void DiskCache::remove(const Piece& piece) {
  (void)!unlinkat(fd_, piece.name().c_str(), 0);
  const std::lock_guard<std::mutex> lock(mutex_);
  forget(piece);
}

void DiskCache::stop_writing(int error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!status_.writes) return;
  status_.writes = false;
  fprintf(stderr, "linnet: serve: disk cache %s: %s: nothing more is written to it\n", folder_.c_str(), strerror(error));
}

// The writer's. What was used least recently goes, and with it room for some more: others may write at the same time.
bool DiskCache::make_room(uint64_t bytes) {
  if (bytes > budget_ - budget_ / 16) return false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status_.bytes + bytes <= budget_ && status_.files < kFiles && since_scan_ <= budget_ / 32) return true;
  }
  scan();
  std::vector<Piece> all;
  uint64_t there = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    there = status_.bytes;
    if (there + bytes <= budget_ && status_.files < kFiles) return true;
    for (const auto& [end, p] : index_) all.push_back(p);
  }
  std::sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) { return a.used < b.used; });
  size_t files = all.size();
  for (const Piece& p : all) {
    if (there + bytes <= budget_ - budget_ / 16 && files < kFiles - kFiles / 16) break;
    remove(p);
    there -= p.bytes;
    --files;
  }
  return there + bytes <= budget_;
}

// ---- reading -------------------------------------------------------------------------------------------------------------------------

std::vector<DiskCache::Piece> DiskCache::find(const Hash& model, const std::vector<int32_t>& tokens, size_t n, size_t from,
                                              bool kept) const {
  std::vector<Piece> path, best;
  Hash hash = model;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < n;) {
    hash.add(static_cast<uint32_t>(tokens[i++]));
    const auto at = index_.find(hash);
    const bool here = at != index_.end() && at->second.n_tokens == i;
    if (here && (at->second.kept || !kept)) (best = path).push_back(at->second);
    if (i % kBlock) continue;
    if (!here) break;
    path.push_back(at->second);
  }
  std::erase_if(best, [from](const Piece& p) { return p.n_tokens <= from; });
  return best;
}

std::shared_ptr<DiskCache::Reading> DiskCache::read(std::vector<Piece> pieces, std::shared_ptr<Bell> bell) {
  auto reading = std::make_shared<Reading>();
  reading->pieces = std::move(pieces);
  reading->bell = std::move(bell);
  reading->when = now();
  const std::lock_guard<std::mutex> lock(mutex_);
  readings_.push_back(reading);
  to_read_.notify_one();
  return reading;
}

DiskCache::Take DiskCache::take(Reading* r, Piece* piece, std::vector<char>* bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (r->done.empty()) return r->over ? Take::kOver : Take::kWait;
  *bytes = std::move(r->done.front());
  r->done.pop_front();
  *piece = r->pieces[r->n_taken++];
  to_read_.notify_one();
  return Take::kPiece;
}

void DiskCache::damaged(const Piece& piece) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++status_.n_damaged;
  forget(piece);
  tasks_.push_back({piece, {}, true});
  to_write_.notify_one();
}

void DiskCache::reads() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    std::shared_ptr<Reading> next;
    for (size_t i = readings_.size(); i-- > 0 && !next;) {  // in turn
      std::shared_ptr<Reading> r = readings_.front().lock();
      readings_.pop_front();
      if (!r || r->over) continue;
      readings_.push_back(r);
      if (r->done.size() < kReadAhead) next = std::move(r);
    }
    if (!next) {
      to_read_.wait(lock);
      continue;
    }
    const Piece piece = next->pieces[next->n_read];
    lock.unlock();
    std::vector<char> bytes;
    const bool ok = read_file(piece, next->when, &bytes);
    lock.lock();
    if (ok) {
      status_.read += bytes.size();
      next->done.push_back(std::move(bytes));
      if (const auto at = index_.find(piece.end); at != index_.end()) at->second.used = next->when - piece.n_tokens * kStep;
    }
    next->over = !ok || ++next->n_read == next->pieces.size();
    const std::shared_ptr<Bell> bell = next->bell;
    next.reset();
    lock.unlock();
    bell->ring();
    lock.lock();
  }
}

bool DiskCache::read_file(const Piece& piece, int64_t when, std::vector<char>* bytes) {
  const std::string name = piece.name();
  const auto gone = [&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    return forget(piece), false;
  };
  const File file(fd_, name.c_str(), O_RDONLY);
  struct stat st = {};
  if (file < 0 || fstat(file, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) return gone();
  FileHead head = {};
  const size_t size = static_cast<size_t>(st.st_size);
  if (size > sizeof head && size <= kLargest) {
    bytes->resize(size - sizeof head);
    size_t n = 0;
    while (n < size) {
      const ssize_t got = n < sizeof head ? pread(file, reinterpret_cast<char*>(&head) + n, sizeof head - n, static_cast<off_t>(n))
                                          : pread(file, bytes->data() + n - sizeof head, size - n, static_cast<off_t>(n));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      n += static_cast<size_t>(got);
    }
    Piece is = piece;
    is.bytes = size;
    const FileHead right = head_of(is);
    if (n == size && memcmp(&head, &right, sizeof head) == 0) {
      set_time(file, when - piece.n_tokens * kStep);
      return true;
    }
  }
  damaged(piece);
  return false;
}

// ---- writing -------------------------------------------------------------------------------------------------------------------------

DiskCache::Room DiskCache::room(const Piece& piece, size_t bytes, const std::shared_ptr<Bell>& bell) {
  bytes += sizeof(FileHead);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!status_.writes || bytes > kLargest || bytes > budget_ / 2) return Room::kNone;
  const auto at = index_.find(piece.end);
  if (at != index_.end() && at->second.bytes >= bytes && at->second.kept >= piece.kept) {
    Piece& there = at->second;
    if (piece.used - there.used > kFresh) {
      there.used = piece.used - piece.n_tokens * kStep;
      tasks_.push_back({there, {}, false});
      to_write_.notify_one();
    }
    return Room::kNone;
  }
  if (queued_.count(piece.name())) return Room::kNone;
  if (status_.buffered == 0 || status_.buffered + bytes <= kBuffer) return Room::kYes;
  if (std::none_of(bells_.begin(), bells_.end(), [&](const auto& b) { return b.lock() == bell; })) bells_.push_back(bell);
  return Room::kLater;
}

void DiskCache::write(const Piece& piece, std::vector<char> bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  status_.buffered += bytes.size();
  queued_.insert(piece.name());
  tasks_.push_back({piece, std::move(bytes), false});
  to_write_.notify_one();
}

void DiskCache::writes() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    while (!ending_ && tasks_.empty()) to_write_.wait(lock);
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    const bool goes_on = status_.writes && !ending_;
    writing_ = true;
    lock.unlock();
    Piece& p = task.piece;
    if (task.remove) {
      (void)!unlinkat(fd_, p.name().c_str(), 0);
    } else if (task.bytes.empty()) {
      const File file(fd_, p.name().c_str(), O_RDONLY);
      if (file >= 0) set_time(file, p.used);
    } else if (goes_on) {
      p.bytes = task.bytes.size() + sizeof(FileHead);
      p.used -= p.n_tokens * kStep;
      if (make_room(p.bytes) && !write_file(p, task.bytes)) stop_writing(errno);
    }
    std::vector<std::weak_ptr<Bell>> bells;
    lock.lock();
    writing_ = false;
    if (!task.bytes.empty()) {
      status_.buffered -= task.bytes.size();
      queued_.erase(p.name());
      bells.swap(bells_);
    }
    if (tasks_.empty()) written_.notify_all();
    lock.unlock();
    for (const auto& weak : bells)
      if (const std::shared_ptr<Bell> bell = weak.lock()) bell->ring();
    lock.lock();
  }
}

// Under its own name once it is whole. Not synced: what a power cut leaves of it has a wrong checksum.
bool DiskCache::write_file(const Piece& piece, const std::vector<char>& bytes) {
  const std::string name = piece.name(), temporary = name + ".tmp";
  struct stat st = {};
  if (fstatat(fd_, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && (!S_ISREG(st.st_mode) || st.st_uid != geteuid())) return true;
  const File file(fd_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL);
  if (file < 0) return errno == EEXIST;  // another server writes it, or has left it: until the next scan
  if (flock(file, LOCK_EX | LOCK_NB)) return true;
  const FileHead head = head_of(piece);
  const auto put = [&](const void* data, size_t n) {
    for (const char* at = static_cast<const char*>(data); n;) {
      const ssize_t done = ::write(file, at, n);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return done == 0 ? (errno = EIO, false) : false;
      at += done;
      n -= static_cast<size_t>(done);
    }
    return true;
  };
  if (!put(&head, sizeof head) || !put(bytes.data(), bytes.size())) {
    const int error = errno;
    (void)!unlinkat(fd_, temporary.c_str(), 0);
    return errno = error, false;
  }
  set_time(file, piece.used);
  if (renameat(fd_, temporary.c_str(), fd_, name.c_str())) return errno == ENOENT;  // taken for a rest between open and lock
  Piece other = piece;                                                              // of the same tokens
  other.kept = !piece.kept;
  uint64_t other_bytes = 0;
  int64_t used = 0;
  if (ours(other.name(), &other_bytes, &used)) (void)!unlinkat(fd_, other.name().c_str(), 0);
  const std::lock_guard<std::mutex> lock(mutex_);
  forget(piece);
  index_.emplace(piece.end, piece);
  status_.bytes += piece.bytes;
  status_.written += piece.bytes;
  since_scan_ += piece.bytes;
  ++status_.files;
  return true;
}

bool DiskCache::flush(std::chrono::steady_clock::time_point until) {
  std::unique_lock<std::mutex> lock(mutex_);
  return written_.wait_until(lock, until, [this] { return tasks_.empty() && !writing_; });
}

}  // namespace server
