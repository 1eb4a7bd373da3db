#include <algorithm>

#include "audio.h"
#include "process.h"
#include "synthesizer.h"

namespace assistant {

namespace {

class CommandSynthesizer : public Synthesizer {
 public:
  explicit CommandSynthesizer(const SynthesizerConfig& config) : config_(config) {}
  bool speak(const std::string& text, const SpeechOut& out, std::string* why) override {
    if (text.size() > kLongestText) return *why = "a text of " + std::to_string(text.size()) + " bytes to speak", false;
    if (text.find('\0') != std::string::npos) return *why = "a zero byte in the text to speak", false;
    std::vector<std::string> command = config_.command;
    bool placed = false;
    for (size_t k = 1; k < command.size(); ++k) {
      const size_t at = command[k].find("{text}");
      if (at == std::string::npos) continue;
      // A text that begins with "-" must not become an option.
      command[k].replace(at, 6, at == 0 && text.starts_with('-') ? " " + text : text);
      placed = true;
    }
    bool enough = false;
    ProcessLimits limits;
    limits.seconds = config_.time_limit_s;
    limits.keep_going = [&] { return !(enough = !out(nullptr, 0, kRate)); };
    std::string bytes;
    if (!run_process(command, placed ? "" : text + "\n", limits, &bytes, why)) return enough;
    Wav wav;
    if (!read_wav(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), command[0].c_str(), &wav, why)) return false;
    for (size_t at = 0; at < wav.samples.size();) {
      const size_t n = std::min<size_t>(kRate / 20, wav.samples.size() - at);
      if (!out(wav.samples.data() + at, n, kRate)) return true;
      at += n;
    }
    return true;
  }

 private:
  const SynthesizerConfig config_;
};

}  // namespace

std::unique_ptr<Synthesizer> make_command_synthesizer(const SynthesizerConfig& config, std::string* why) {
  if (config.command.empty()) return *why = "synthesizer: engine \"command\" needs a command", nullptr;
  return std::make_unique<CommandSynthesizer>(config);
}

std::unique_ptr<Synthesizer> make_synthesizer(const SynthesizerConfig& config, std::string* why) {
  if (config.engine == "flite") return make_flite(config, why);
  if (config.engine == "command") return make_command_synthesizer(config, why);
  return *why = "synthesizer: engine \"" + config.engine + "\" is not known (flite, command)", nullptr;
}

}  // namespace assistant
