#include <string>

#include "recognizer.h"

#ifdef LINNET_POCKETSPHINX
#include <pocketsphinx.h>
#include <sphinxbase/cmn.h>
#include <sphinxbase/err.h>
#include <sphinxbase/feat.h>
#include <unistd.h>
#endif

namespace assistant {

#ifdef LINNET_POCKETSPHINX
namespace {

class PocketSphinx : public Recognizer {
 public:
  ~PocketSphinx() override {
    if (decoder_) ps_free(decoder_);
    if (options_) cmd_ln_free_r(options_);
  }

  bool open(const RecognizerConfig& config, std::string* why) {
    const std::string base = LINNET_POCKETSPHINX;  // the package's models
    const std::string acoustic = config.acoustic.empty() ? base + "/en-us/en-us" : config.acoustic;
    const std::string language = config.language.empty() ? base + "/en-us/en-us.lm.bin" : config.language;
    const std::string dictionary = config.dictionary.empty() ? base + "/en-us/cmudict-en-us.dict" : config.dictionary;
    const std::string adapted = config.voice.empty() ? acoustic : config.voice, means = adapted + "/means",
                      variances = adapted + "/variances";
    for (const std::string& path : {acoustic + "/mdef", language, dictionary, means, variances})
      if (access(path.c_str(), R_OK) != 0) return *why = "pocketsphinx: " + path + " cannot be read", false;
    err_set_logfp(nullptr);
    // Wide beams and the language model's weight: found on sentences of the training patterns.
    options_ = cmd_ln_init(nullptr, ps_args(), TRUE, "-hmm", acoustic.c_str(), "-mean", means.c_str(), "-var", variances.c_str(), "-lm",
                           language.c_str(), "-dict", dictionary.c_str(), "-logfn", "/dev/null", "-lw", "5.5", "-beam", "1e-60", "-wbeam",
                           "1e-40", "-pbeam", "1e-60", "-remove_silence", "no", nullptr);
    if (options_) decoder_ = ps_init(options_);
    // Where the first utterance's cepstral mean begins: that of a plain voice, close by. The acoustic model's own is of telephones.
    static const mfcc_t mean[13] = {45.99F, 6.23F, 1.08F, 12.16F, -7.87F, -0.09F, -0.56F, -9.24F, -0.67F, -2.19F, 2.93F, -2.78F, 1.23F};
    if (decoder_) cmn_live_set(ps_get_feat(decoder_)->cmn_struct, mean);
    return decoder_ ? true : (*why = "pocketsphinx cannot use " + acoustic + ", " + language + " and " + dictionary, false);
  }

  bool start(std::string* why) override {
    if (in_utterance_) ps_end_utt(decoder_);
    fed_ = 0;
    in_utterance_ = ps_start_utt(decoder_) == 0;
    return in_utterance_ ? true : (*why = "pocketsphinx cannot begin", false);
  }

  bool feed(const int16_t* samples, size_t n, std::string* why) override {
    if (!in_utterance_) return *why = "pocketsphinx: feed() before start()", false;
    if (fed_ + n > kLongestUtterance) return *why = "an utterance of more than a minute", false;
    fed_ += n;
    return ps_process_raw(decoder_, samples, n, FALSE, FALSE) >= 0 ? true : (*why = "pocketsphinx cannot go on", false);
  }

  std::string partial() override { return hypothesis(); }

  bool finish(std::string* text, std::string* why) override {
    if (!in_utterance_) return *why = "pocketsphinx: finish() before start()", false;
    in_utterance_ = false;
    if (ps_end_utt(decoder_) < 0) return *why = "pocketsphinx cannot end", false;
    *text = hypothesis();
    return true;
  }

 private:
  std::string hypothesis() {
    const char* text = ps_get_hyp(decoder_, nullptr);
    return text ? text : "";
  }

  cmd_ln_t* options_ = nullptr;
  ps_decoder_t* decoder_ = nullptr;
  size_t fed_ = 0;
  bool in_utterance_ = false;
};

}  // namespace

std::unique_ptr<Recognizer> make_pocketsphinx(const RecognizerConfig& config, std::string* why) {
  auto r = std::make_unique<PocketSphinx>();
  return r->open(config, why) ? std::move(r) : nullptr;
}
#else
std::unique_ptr<Recognizer> make_pocketsphinx(const RecognizerConfig&, std::string* why) {
  return *why = "recognizer: built without PocketSphinx (libpocketsphinx-dev)", nullptr;
}
#endif

}  // namespace assistant
