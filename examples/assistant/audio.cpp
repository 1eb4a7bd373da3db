#include "audio.h"

#include <algorithm>
#include <cstring>

#include "files.h"

namespace assistant {

// ---- WAV out -------------------------------------------------------------------------------------------------------------

std::vector<uint8_t> wav_bytes(const int16_t* samples, size_t n, int rate) {
  std::vector<uint8_t> out(44 + 2 * n);
  const auto put32 = [&](size_t at, uint32_t x) { std::memcpy(out.data() + at, &x, 4); };
  const auto put16 = [&](size_t at, uint16_t x) { std::memcpy(out.data() + at, &x, 2); };
  const uint32_t size = static_cast<uint32_t>(2 * n);
  std::memcpy(out.data(), "RIFF", 4);
  put32(4, 36 + size);
  std::memcpy(out.data() + 8, "WAVEfmt ", 8);
  put32(16, 16);
  put16(20, 1);
  put16(22, 1);
  put32(24, static_cast<uint32_t>(rate));
  put32(28, static_cast<uint32_t>(2 * rate));
  put16(32, 2);
  put16(34, 16);
  std::memcpy(out.data() + 36, "data", 4);
  put32(40, size);
  if (n) std::memcpy(out.data() + 44, samples, 2 * n);
  return out;
}

bool write_wav(const char* path, const int16_t* samples, size_t n, int rate, std::string* why) {
  if (n > static_cast<size_t>(kLongestMinutes) * 60 * 192000)
    return *why = std::string(path) + ": longer than " + std::to_string(kLongestMinutes) + " minutes", false;
  const std::vector<uint8_t> bytes = wav_bytes(samples, n, rate);
  return write_file(path, bytes.data(), bytes.size(), why);
}

// ---- memory --------------------------------------------------------------------------------------------------------------

MemorySource::MemorySource(std::vector<int16_t> samples, double silence_s) : samples_(std::move(samples)) {
  samples_.resize(samples_.size() + static_cast<size_t>(silence_s * kRate));
}

size_t MemorySource::read(int16_t* samples, size_t n) {
  n = std::min(n, samples_.size() - at_);
  std::copy_n(samples_.begin() + static_cast<ptrdiff_t>(at_), n, samples);
  at_ += n;
  return n;
}

bool WavSink::write(const int16_t* samples, size_t n, int rate) {
  if (samples_.size() > static_cast<size_t>(kLongestMinutes) * 60 * kRate) return false;
  if (rate == kRate) {
    samples_.insert(samples_.end(), samples, samples + n);
    return true;
  }
  Resampler r(rate, kRate);
  std::vector<float> x(n);
  for (size_t k = 0; k < n; ++k) x[k] = static_cast<float>(samples[k]) / 32768;
  r.feed(x.data(), n);
  r.end();
  const std::vector<int16_t> y = r.take();
  samples_.insert(samples_.end(), y.begin(), y.end());
  return true;
}

}  // namespace assistant
