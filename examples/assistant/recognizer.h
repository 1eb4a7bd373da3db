#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
namespace assistant {
struct RecognizerConfig {
  std::string engine = "pocketsphinx", acoustic, language, dictionary;
  std::vector<std::string> command;
  double time_limit_s = 30;
};
struct Recognizer {
  virtual ~Recognizer() = default;
  virtual bool start(std::string* why) = 0;
  virtual bool feed(const int16_t* samples, size_t n, std::string* why) = 0;
  virtual std::string partial() = 0;
  virtual bool finish(std::string* text, std::string* why) = 0;
};
}  // namespace assistant
