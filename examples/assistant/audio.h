#pragma once
#include <cstddef>
#include <cstdint>
namespace assistant {
inline constexpr int kRate = 16000;
struct AudioSource {
  virtual ~AudioSource() = default;
  virtual size_t read(int16_t* samples, size_t n) = 0;
};
struct AudioSink {
  virtual ~AudioSink() = default;
  virtual bool write(const int16_t* samples, size_t n, int rate) = 0;
  virtual void stop() = 0;
};
}  // namespace assistant
