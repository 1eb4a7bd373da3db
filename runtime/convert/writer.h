// Writing a GGUF file: GgufBuilder puts the header together, Output takes the bytes in order, to a file or to memory.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../platform/file.h"
#include "../../platform/status.h"
#include "../gguf.h"
#include "convert.h"

namespace linnet::convert {

// Packed files are aligned to 64 and say so in a key. Plain ones have GGUF's own alignment and no key: llama-quantize copies the key, but
// aligns to 32 whatever it says.
inline constexpr uint32_t kPackedAlignment = 64, kPlainAlignment = 32;

// Keys and tensors in the order of the calls. Every tensor begins at a multiple of the alignment, and the file ends at one.
class GgufBuilder {
 public:
  explicit GgufBuilder(uint32_t alignment);
  void u32(std::string_view key, uint32_t v);
  void f32(std::string_view key, float v);
  void f64(std::string_view key, double v);
  void boolean(std::string_view key, bool v);
  void text(std::string_view key, std::string_view v);
  void u32s(std::string_view key, const std::vector<uint32_t>& v);
  void u64s(std::string_view key, const std::vector<uint64_t>& v);
  void booleans(std::string_view key, const std::vector<bool>& v);
  void i32s(std::string_view key, const std::vector<int32_t>& v);
  void bytes(std::string_view key, std::string_view v);
  void f32s(std::string_view key, const std::vector<float>& v);
  void texts(std::string_view key, const std::vector<std::string>& v);
  // dims[0] is the fastest. bytes: of the data.
  void tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type, uint64_t bytes);

  std::string header() const;  // up to the first tensor's data
  uint64_t file_bytes() const { return header_bytes() + data_bytes_; }
  uint32_t alignment() const { return alignment_; }

 private:
  uint64_t header_bytes() const;
  void key(std::string_view name, uint32_t type);
  uint32_t alignment_;
  std::string keys_, tensors_;
  uint64_t n_keys_ = 0, n_tensors_ = 0, data_bytes_ = 0;
};

// Takes exactly the bytes that the builder's file has, in order. Without commit() nothing stays behind: a file's temporary one is removed,
// memory is freed.
class Output {
 public:
  Output(const Options& options, const GgufBuilder& file) : options_(options), alignment_(file.alignment()), total_(file.file_bytes()) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  Status open_file(const std::string& path, Error* err, uint32_t mode = 0666);
  Status open_memory(Error* err);
  uint64_t total() const { return total_; }
  // The next `bytes` bytes of the output, to be filled before the next call. *to may hold anything.
  Status claim(size_t bytes, uint8_t** to, Error* err);
  Status write(const void* data, size_t bytes, Error* err);
  Status pad(Error* err);  // zeros up to a multiple of the alignment
  // Takes the next `bytes` bytes, from *at on. Any thread fills them before the commit: in place, where they are in memory, or by put().
  Status reserve(uint64_t bytes, uint64_t* at, Error* err);
  uint8_t* place(uint64_t at) const { return memory_ ? memory_ + at : nullptr; }
  Status put(uint64_t at, const void* data, size_t bytes, Error* err);
  void filled(uint64_t bytes) { filled_.fetch_add(bytes, std::memory_order_relaxed); }  // says that so much of it is
  Status progress(Error* err);                                   // tells the caller's function, in the caller's thread
  Status read(uint64_t at, size_t bytes, void* to, Error* err);  // of a file, what was written
  Status commit_file(Error* err, std::string_view behind = {});  // behind: more bytes, after all others
  Status commit_memory(Image* out, Error* err);
  Status commit_shape(Image* out, Error* err);  // what was not claimed is zeros

 private:
  Status flush(Error* err);
  Status whole(Error* err);
  const Options& options_;
  uint32_t alignment_;
  uint64_t total_, next_ = 0, reported_ = 0;
  std::atomic<uint64_t> filled_{0};
  bool begun_ = false;  // something was reported
  Replacement file_;
  std::vector<uint8_t> buffer_;  // files: claimed and not written yet, up to next_
  size_t buffered_ = 0;
  uint8_t* memory_ = nullptr;
};

}  // namespace linnet::convert
