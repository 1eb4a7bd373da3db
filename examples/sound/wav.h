// Sound out of WAV files and memory. Everything inside is 16 kHz mono int16_t.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace assistant {

inline constexpr int kRate = 16000;
inline constexpr int kLongestMinutes = 15;  // of a file, where nobody says more

struct Wav {
  std::vector<int16_t> samples;
  int file_rate = 0;
  int file_channels = 0;
  double seconds() const { return static_cast<double>(samples.size()) / kRate; }
};

struct AudioSource {
  virtual ~AudioSource() = default;
  virtual size_t read(int16_t* samples, size_t n) = 0;  // up to n samples, blocks for a microphone; 0: the end
};

// Any rate to any other by a windowed sinc, in pieces. What the new rate cannot carry is filtered out before.
class Resampler {
 public:
  Resampler(int from, int to);
  void feed(const float* samples, size_t n);  // -1..1
  void end();                                 // the tail that waits for what follows
  std::vector<int16_t> take();                // what is ready

 private:
  void produce();
  uint64_t from_, to_;
  size_t half_;               // taps on either side
  std::vector<float> table_;  // kPhases + 1 rows of 2 * half_ taps
  std::vector<float> in_;
  uint64_t first_ = 0, received_ = 0, made_ = 0;  // position of in_[0]; samples in; samples out
  bool ended_ = false;
  std::vector<int16_t> out_;
};

// PCM of 8, 16, 24 or 32 bits or float, 1..8 channels, 4..192 kHz, at most 15 minutes. Anything else is refused by name. Read in blocks:
// memory does not grow with the file.
class WavReader : public AudioSource {
 public:
  explicit WavReader(int longest_minutes = kLongestMinutes) : longest_minutes_(longest_minutes) {}
  ~WavReader() override;
  WavReader(const WavReader&) = delete;
  bool open(const char* path, std::string* why);
  bool open(const uint8_t* bytes, size_t n, const char* name, std::string* why);  // bytes must stay
  size_t read(int16_t* samples, size_t n) override;
  int rate() const { return rate_; }
  int channels() const { return channels_; }
  const std::string& error() const { return error_; }  // of read(): a file that is shorter than it says it is

 private:
  bool header(std::string* why);
  bool bytes(void* to, size_t n);
  size_t some(void* to, size_t n);
  int longest_minutes_;
  FILE* file_ = nullptr;
  const uint8_t* at_ = nullptr;
  size_t left_ = 0;
  std::string name_, error_;
  int rate_ = 0, channels_ = 0, bits_ = 0;
  bool is_float_ = false, open_end_ = false;
  uint64_t frames_ = 0, read_ = 0;  // frames of the file that are still to come and have come
  std::unique_ptr<Resampler> resampler_;
  std::vector<int16_t> ready_;
  size_t taken_ = 0;
};

bool read_wav(const char* path, Wav* wav, std::string* why);
bool read_wav(const uint8_t* bytes, size_t n, const char* name, Wav* wav, std::string* why);

}  // namespace assistant
