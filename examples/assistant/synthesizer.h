#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
namespace assistant {
using SpeechOut = std::function<bool(const int16_t* samples, size_t n, int rate)>;
struct SynthesizerConfig {
  std::string engine = "flite", voice;
  double speed = 1;
  std::vector<std::string> command;
  double time_limit_s = 30;
};
struct Synthesizer {
  virtual ~Synthesizer() = default;
  virtual bool speak(const std::string& text, const SpeechOut& out, std::string* why) = 0;
};
}  // namespace assistant
