// Speech synthesisers behind one interface.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assistant {

// Gets the speech in pieces; false: enough, stop at once. It is also asked with n = 0 while there is nothing yet.
using SpeechOut = std::function<bool(const int16_t* samples, size_t n, int rate)>;

struct SynthesizerConfig {
  std::string engine = "flite";  // or "command"
  std::string voice;             // flite: slt, rms, awb, kal16; empty: slt
  double speed = 1;              // 0.5..2
  // "command": argument list; {text} becomes the text, without it the text comes on stdin. Its stdout is a WAV file.
  std::vector<std::string> command;
  double time_limit_s = 30;
};

struct Synthesizer {
  virtual ~Synthesizer() = default;
  virtual bool speak(const std::string& text, const SpeechOut& out, std::string* why) = 0;  // true also where `out` had enough
};

std::unique_ptr<Synthesizer> make_synthesizer(const SynthesizerConfig& config, std::string* why);

std::unique_ptr<Synthesizer> make_flite(const SynthesizerConfig& config, std::string* why);
std::unique_ptr<Synthesizer> make_command_synthesizer(const SynthesizerConfig& config, std::string* why);

inline constexpr size_t kLongestText = 4000;  // bytes

}  // namespace assistant
