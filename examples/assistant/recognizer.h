// Speech recognisers behind one interface.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assistant {

struct RecognizerConfig {
  std::string engine = "pocketsphinx";  // or "command"
  std::string acoustic;                 // a folder; empty: the package's en-us
  std::string language, dictionary;     // empty: the package's
  std::string voice;  // a folder: the acoustic model's means and variances adapted to a speaker (language/adapt.py); empty: everybody's
  // "command": argument list; {wav} becomes the name of a WAV file, without it the WAV comes on stdin. Its stdout is the text.
  std::vector<std::string> command;
  double time_limit_s = 30;
};

// start, feed..., finish is one utterance. start() again gives one up.
struct Recognizer {
  virtual ~Recognizer() = default;
  virtual bool start(std::string* why) = 0;
  virtual bool feed(const int16_t* samples, size_t n, std::string* why) = 0;
  virtual std::string partial() = 0;  // the best text so far; empty where the engine has none before the end
  virtual bool finish(std::string* text, std::string* why) = 0;
};

std::unique_ptr<Recognizer> make_recognizer(const RecognizerConfig& config, std::string* why);

// Each engine's own; nullptr with the reason where it was not built.
std::unique_ptr<Recognizer> make_pocketsphinx(const RecognizerConfig& config, std::string* why);
std::unique_ptr<Recognizer> make_command_recognizer(const RecognizerConfig& config, std::string* why);

inline constexpr size_t kLongestUtterance = 60 * 16000;  // samples; more is refused by feed()

}  // namespace assistant
