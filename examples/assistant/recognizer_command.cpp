#include <unistd.h>

#include <cstdlib>

#include "audio.h"
#include "process.h"
#include "recognizer.h"

namespace assistant {

namespace {

class CommandRecognizer : public Recognizer {
 public:
  explicit CommandRecognizer(const RecognizerConfig& config) : config_(config) {}
  bool start(std::string*) override {
    samples_.clear();
    return true;
  }
  bool feed(const int16_t* samples, size_t n, std::string* why) override {
    if (samples_.size() + n > kLongestUtterance) return *why = "an utterance of more than a minute", false;
    samples_.insert(samples_.end(), samples, samples + n);
    return true;
  }
  std::string partial() override { return ""; }
  bool finish(std::string* text, std::string* why) override {
    const std::vector<uint8_t> wav = wav_bytes(samples_.data(), samples_.size(), kRate);
    std::vector<std::string> command = config_.command;
    std::string input(wav.begin(), wav.end()), file, out;
    for (std::string& a : command) {
      const size_t at = a.find("{wav}");
      if (at == std::string::npos) continue;
      if (file.empty()) {
        const char* folder = std::getenv("TMPDIR");
        file = std::string(folder && *folder ? folder : "/tmp") + "/linnet-speech-XXXXXX";
        const int fd = mkstemp(file.data());
        const bool ok = fd >= 0 && write(fd, wav.data(), wav.size()) == static_cast<ssize_t>(wav.size());
        if (fd >= 0) close(fd);
        if (!ok) {
          if (fd >= 0) unlink(file.c_str());
          return *why = "cannot write " + file, false;
        }
        input.clear();
      }
      a.replace(at, 5, file);
    }
    ProcessLimits limits;
    limits.seconds = config_.time_limit_s;
    limits.output = 64 << 10;
    const bool ok = run_process(command, input, limits, &out, why);
    if (!file.empty()) unlink(file.c_str());
    if (!ok) return false;
    text->clear();  // one line, words with single spaces
    for (const char c : out) {
      if (static_cast<unsigned char>(c) > ' ' && c != 0x7f)
        *text += c;
      else if (!text->empty() && text->back() != ' ')
        *text += ' ';
    }
    if (!text->empty() && text->back() == ' ') text->pop_back();
    if (text->size() > 2000) return *why = command[0] + ": a text of " + std::to_string(text->size()) + " bytes for one utterance", false;
    return true;
  }

 private:
  const RecognizerConfig config_;
  std::vector<int16_t> samples_;
};

}  // namespace

std::unique_ptr<Recognizer> make_command_recognizer(const RecognizerConfig& config, std::string* why) {
  if (config.command.empty()) return *why = "recognizer: engine \"command\" needs a command", nullptr;
  return std::make_unique<CommandRecognizer>(config);
}

std::unique_ptr<Recognizer> make_recognizer(const RecognizerConfig& config, std::string* why) {
  if (config.engine == "pocketsphinx") return make_pocketsphinx(config, why);
  if (config.engine == "command") return make_command_recognizer(config, why);
  return *why = "recognizer: engine \"" + config.engine + "\" is not known (pocketsphinx, command)", nullptr;
}

}  // namespace assistant
