#include "synthesizer.h"

#ifdef LINNET_FLITE
#include <flite/flite.h>

#include <mutex>

extern "C" {
cst_voice* register_cmu_us_slt(const char* folder);
cst_voice* register_cmu_us_rms(const char* folder);
cst_voice* register_cmu_us_awb(const char* folder);
cst_voice* register_cmu_us_kal16(const char* folder);
}
#endif

namespace assistant {

#ifdef LINNET_FLITE
namespace {

// flite is not made for threads: one speaks at a time.
std::mutex g_flite;

class Flite : public Synthesizer {
 public:
  explicit Flite(cst_voice* voice, double speed) : voice_(voice), speed_(speed) {}  // voices are flite's own and stay

  bool speak(const std::string& text, const SpeechOut& out, std::string* why) override {
    if (text.size() > kLongestText) return *why = "a text of " + std::to_string(text.size()) + " bytes to speak", false;
    std::string plain;  // flite's English reads ASCII
    bool words = false;
    for (size_t k = 0; k < text.size(); ++k) {
      const unsigned char c = static_cast<unsigned char>(text[k]);
      if (text.compare(k, 2, "\xc2\xb0") == 0)
        plain += " degrees", ++k;
      else
        plain += c >= ' ' && c < 0x7f ? text[k] : ' ';
      words |= (c | 32) >= 'a' && (c | 32) <= 'z';
      words |= c >= '0' && c <= '9';
    }
    if (!words) return true;
    const std::lock_guard lock(g_flite);
    cst_audio_streaming_info* info = new_audio_streaming_info();
    State state{&out, {}, false};
    info->asc = piece;
    info->userdata = &state;
    feat_set(voice_->features, "streaming_info", audio_streaming_info_val(info));
    feat_set_float(voice_->features, "duration_stretch", static_cast<float>(1 / speed_));
    cst_wave* wave = flite_text_to_wave(plain.c_str(), voice_);
    if (wave) delete_wave(wave);
    feat_remove(voice_->features, "streaming_info");
    if (!wave && !state.enough) return *why = "flite cannot speak \"" + plain + "\"", false;
    return true;
  }

 private:
  struct State {
    const SpeechOut* out;
    std::string why;
    bool enough;
  };
  static int piece(const cst_wave* wave, int start, int size, int, cst_audio_streaming_info* info) {
    State* state = static_cast<State*>(info->userdata);
    if (state->enough) return CST_AUDIO_STREAM_STOP;
    if (size > 0 && !(*state->out)(wave->samples + start, static_cast<size_t>(size), wave->sample_rate)) state->enough = true;
    return state->enough ? CST_AUDIO_STREAM_STOP : CST_AUDIO_STREAM_CONT;
  }
  cst_voice* const voice_;
  const double speed_;
};

}  // namespace

std::unique_ptr<Synthesizer> make_flite(const SynthesizerConfig& config, std::string* why) {
  if (!(config.speed >= 0.5 && config.speed <= 2))
    return *why = "synthesizer: speed " + std::to_string(config.speed) + " is not in 0.5..2", nullptr;
  const std::string voice = config.voice.empty() ? "slt" : config.voice;
  const std::lock_guard lock(g_flite);
  flite_init();
  static const struct {
    const char* name;
    cst_voice* (*make)(const char*);
  } voices[] = {{"slt", register_cmu_us_slt}, {"rms", register_cmu_us_rms}, {"awb", register_cmu_us_awb}, {"kal16", register_cmu_us_kal16}};
  for (const auto& v : voices)
    if (voice == v.name) return std::make_unique<Flite>(v.make(nullptr), config.speed);
  return *why = "synthesizer: flite has no voice \"" + voice + "\" (slt, rms, awb, kal16)", nullptr;
}
#else
std::unique_ptr<Synthesizer> make_flite(const SynthesizerConfig&, std::string* why) {
  return *why = "synthesizer: built without flite (flite1-dev)", nullptr;
}
#endif

}  // namespace assistant
