#include "writer.h"

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/mman.h>
#endif

#include <cerrno>
#include <cstring>

#include "../guard.h"

namespace linnet::convert {
namespace {

constexpr size_t kFlushBytes = size_t{4} << 20;
constexpr uint64_t kProgressBytes = uint64_t{16} << 20;

template <class T>
void put(std::string* to, T v) {
  to->append(reinterpret_cast<const char*>(&v), sizeof v);
}
void put_text(std::string* to, std::string_view s) {
  put(to, uint64_t{s.size()});
  to->append(s);
}
template <class T>
void put_array(std::string* to, uint32_t type, const std::vector<T>& v) {
  put(to, type);
  put(to, uint64_t{v.size()});
  to->append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}

}  // namespace

GgufBuilder::GgufBuilder(uint32_t alignment) : alignment_(alignment) {
  if (alignment != kPlainAlignment) u32("general.alignment", alignment);
}

void GgufBuilder::key(std::string_view name, uint32_t type) {
  put_text(&keys_, name);
  put(&keys_, type);
  ++n_keys_;
}
void GgufBuilder::u32(std::string_view name, uint32_t v) { key(name, kGgufU32), put(&keys_, v); }
void GgufBuilder::f32(std::string_view name, float v) { key(name, kGgufF32), put(&keys_, v); }
void GgufBuilder::f64(std::string_view name, double v) { key(name, kGgufF64), put(&keys_, v); }
void GgufBuilder::boolean(std::string_view name, bool v) { key(name, kGgufBool), put(&keys_, static_cast<uint8_t>(v)); }
void GgufBuilder::text(std::string_view name, std::string_view v) { key(name, kGgufString), put_text(&keys_, v); }
void GgufBuilder::u32s(std::string_view name, const std::vector<uint32_t>& v) { key(name, kGgufArray), put_array(&keys_, kGgufU32, v); }
void GgufBuilder::u64s(std::string_view name, const std::vector<uint64_t>& v) { key(name, kGgufArray), put_array(&keys_, kGgufU64, v); }
void GgufBuilder::booleans(std::string_view name, const std::vector<bool>& v) {
  key(name, kGgufArray), put_array(&keys_, kGgufBool, std::vector<uint8_t>(v.begin(), v.end()));
}
void GgufBuilder::i32s(std::string_view name, const std::vector<int32_t>& v) { key(name, kGgufArray), put_array(&keys_, kGgufI32, v); }
void GgufBuilder::bytes(std::string_view name, std::string_view v) {
  key(name, kGgufArray), put_array(&keys_, kGgufU8, std::vector<uint8_t>(v.begin(), v.end()));
}
void GgufBuilder::f32s(std::string_view name, const std::vector<float>& v) { key(name, kGgufArray), put_array(&keys_, kGgufF32, v); }
void GgufBuilder::texts(std::string_view name, const std::vector<std::string>& v) {
  key(name, kGgufArray);
  put(&keys_, uint32_t{kGgufString});
  put(&keys_, uint64_t{v.size()});
  for (const std::string& s : v) put_text(&keys_, s);
}

void GgufBuilder::tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type, uint64_t bytes) {
  put_text(&tensors_, name);
  put(&tensors_, static_cast<uint32_t>(dims.size()));
  for (const uint64_t d : dims) put(&tensors_, d);
  put(&tensors_, type);
  put(&tensors_, data_bytes_);
  ++n_tensors_;
  data_bytes_ += align_up(bytes, alignment_);
}

uint64_t GgufBuilder::header_bytes() const { return align_up(4 + 4 + 8 + 8 + keys_.size() + tensors_.size(), alignment_); }

std::string GgufBuilder::header() const {
  std::string h = "GGUF";
  put(&h, uint32_t{3});
  put(&h, n_tensors_);
  put(&h, n_keys_);
  h += keys_;
  h += tensors_;
  h.resize(static_cast<size_t>(header_bytes()), '\0');
  return h;
}

Output::~Output() { memory_free(memory_, static_cast<size_t>(total_)); }

Status Output::open_file(const std::string& path, Error* err, uint32_t mode) {
  LINNET_TRY(file_.open(path.c_str(), err, mode));
  LINNET_TRY(progress(err));  // from here on there is something to remove
#if defined(__linux__)
  // A disk without room is found out now, not after minutes of packing; a file system that cannot tell goes on.
  if (fallocate(file_.fd(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(total_)) != 0 &&
      (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)) {
    const int e = errno;
    return fail(err, LINNET_IO, "cannot write '", path, "' (", total_, " bytes): ", std::strerror(e));
  }
#endif
  buffer_.resize(kFlushBytes);
  return LINNET_OK;
}

Status Output::open_memory(Error* err) {
  if (total_ > SIZE_MAX / 2) return fail(err, LINNET_TOO_SMALL, "a model of ", total_, " bytes is too large for this address space");
#if defined(MAP_NORESERVE)
  if (options_.shape_only) {  // more than there is memory, maybe
    void* p = mmap(nullptr, static_cast<size_t>(total_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_ = p == MAP_FAILED ? nullptr : static_cast<uint8_t*>(p);
  } else
#endif
    memory_ = static_cast<uint8_t*>(memory_alloc(static_cast<size_t>(total_)));
  if (!memory_) return fail(err, LINNET_NO_MEMORY, "no memory for a model of ", total_, " bytes");
  return LINNET_OK;
}

Status Output::progress(Error* err) {
  const uint64_t done = filled_.load(std::memory_order_relaxed);
  if (!options_.progress || (begun_ && done - reported_ < kProgressBytes && done != total_)) return LINNET_OK;
  begun_ = true;
  reported_ = done;
  if (options_.progress(options_.user, done, total_)) return fail(err, LINNET_CANCELLED, "convert: cancelled");
  return LINNET_OK;
}

Status Output::flush(Error* err) {
  const size_t n = buffered_;
  buffered_ = 0;
  return file_.write_at(next_ - n, buffer_.data(), n, err);
}

Status Output::claim(size_t bytes, uint8_t** to, Error* err) {
  if (!fits(next_, bytes, total_)) return fail(err, LINNET_BAD_STATE, "convert: more bytes than planned");
  LINNET_TRY(progress(err));
  if (memory_) {
    *to = memory_ + next_;
  } else {
    if (bytes > buffer_.size() - buffered_) LINNET_TRY(flush(err));
    if (bytes > buffer_.size()) buffer_.resize(bytes);
    *to = buffer_.data() + buffered_;
    buffered_ += bytes;
  }
  next_ += bytes;
  filled(bytes);
  return LINNET_OK;
}

Status Output::reserve(uint64_t bytes, uint64_t* at, Error* err) {
  if (!fits(next_, bytes, total_)) return fail(err, LINNET_BAD_STATE, "convert: more bytes than planned");
  if (!memory_) LINNET_TRY(flush(err));
  *at = next_;
  next_ += bytes;
  return LINNET_OK;
}

Status Output::put(uint64_t at, const void* data, size_t bytes, Error* err) { return file_.write_at(at, data, bytes, err); }

Status Output::write(const void* data, size_t bytes, Error* err) {
  for (size_t at = 0; at < bytes;) {
    const size_t n = bytes - at < kFlushBytes ? bytes - at : kFlushBytes;
    uint8_t* to = nullptr;
    LINNET_TRY(claim(n, &to, err));
    std::memcpy(to, static_cast<const uint8_t*>(data) + at, n);
    at += n;
  }
  return LINNET_OK;
}

Status Output::pad(Error* err) {
  static constexpr uint8_t kZeros[kPackedAlignment] = {};
  return write(kZeros, static_cast<size_t>(align_up(next_, alignment_) - next_), err);
}

Status Output::read(uint64_t at, size_t bytes, void* to, Error* err) {
  LINNET_TRY(flush(err));
  return file_.read_at(at, to, bytes, err);
}

Status Output::whole(Error* err) {
  const uint64_t done = filled_.load(std::memory_order_relaxed);
  if (done != total_) return fail(err, LINNET_BAD_STATE, "convert: ", done, " bytes, not the planned ", total_);
  return progress(err);
}

Status Output::commit_file(Error* err, std::string_view behind) {
  LINNET_TRY(whole(err));
  LINNET_TRY(flush(err));
  LINNET_TRY(file_.write_at(total_, behind.data(), behind.size(), err));
  return file_.commit(err);
}

Status Output::commit_shape(Image* out, Error* err) {
  filled_ = total_;
  return commit_memory(out, err);
}

Status Output::commit_memory(Image* out, Error* err) {
  LINNET_TRY(whole(err));
  *out = {memory_, static_cast<size_t>(total_), static_cast<size_t>(total_)};
  memory_ = nullptr;
  return LINNET_OK;
}

WholeFile::WholeFile() = default;
WholeFile::~WholeFile() = default;

linnet_status WholeFile::open(const std::string& path, bool through, linnet_error* err, uint32_t mode) {
  return guarded(PathName(path), err, [&] {
    file_ = std::make_unique<Replacement>();
    return file_->open(path.c_str(), err, mode, through);
  });
}
linnet_status WholeFile::write(const void* data, size_t bytes, linnet_error* err) {
  return file_ ? file_->write(data, bytes, err) : fail(err, LINNET_BAD_STATE, "the file is not open");
}
linnet_status WholeFile::commit(linnet_error* err) {
  const std::unique_ptr<Replacement> file = std::move(file_);
  return file ? file->commit(err) : fail(err, LINNET_BAD_STATE, "the file is not open");
}

}  // namespace linnet::convert
