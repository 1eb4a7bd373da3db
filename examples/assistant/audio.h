// Sound out: WAV files, memory; and ALSA, both ways. What comes in is wav.h's.
#pragma once
#include "wav.h"

namespace assistant {

struct AudioSink {
  virtual ~AudioSink() = default;
  virtual bool write(const int16_t* samples, size_t n, int rate) = 0;
  virtual void stop() = 0;  // from any thread, at once; what waits is dropped, a later write() plays again
};

bool write_wav(const char* path, const int16_t* samples, size_t n, int rate, std::string* why);  // beside it first, then renamed
std::vector<uint8_t> wav_bytes(const int16_t* samples, size_t n, int rate);

// Samples of memory, then `silence_s` of silence, so that a last utterance ends.
class MemorySource : public AudioSource {
 public:
  explicit MemorySource(std::vector<int16_t> samples, double silence_s = 0);
  size_t read(int16_t* samples, size_t n) override;

 private:
  std::vector<int16_t> samples_;
  size_t at_ = 0;
};

// Keeps what is written, as 16 kHz; stop() drops nothing here, since it "plays" at once. save() makes it a file.
class WavSink : public AudioSink {
 public:
  bool write(const int16_t* samples, size_t n, int rate) override;
  void stop() override {}
  const std::vector<int16_t>& samples() const { return samples_; }
  void clear() { samples_.clear(); }
  bool save(const char* path, std::string* why) const { return write_wav(path, samples_.data(), samples_.size(), kRate, why); }

 private:
  std::vector<int16_t> samples_;
};

// nullptr with the reason where the build has no ALSA or the machine no such device.
std::unique_ptr<AudioSource> open_microphone(const std::string& device, std::string* why);
std::unique_ptr<AudioSink> open_speaker(const std::string& device, std::string* why);

}  // namespace assistant
