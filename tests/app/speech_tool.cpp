// Recognises WAV files with the assistant's recogniser: speech_tool LANGUAGE DICTIONARY VOICE FILE... One line each: the text, for
// language/measure.py.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "audio.h"
#include "recognizer.h"

int main(int argc, char** argv) {
  std::string why, text;
  if (argc < 4) return std::fputs("speech_tool LANGUAGE DICTIONARY VOICE FILE...\n", stderr), 2;
  assistant::RecognizerConfig config;
  config.language = argv[1];
  config.dictionary = argv[2];
  config.voice = argv[3];
  const auto recognizer = assistant::make_recognizer(config, &why);
  if (!recognizer) return std::fprintf(stderr, "%s\n", why.c_str()), 1;
  double audio = 0, finish = 0;
  const auto now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  const double begin = now();
  for (int k = 4; k < argc; ++k) {
    assistant::Wav wav;
    bool ok = assistant::read_wav(argv[k], &wav, &why) && recognizer->start(&why);
    for (size_t at = 0; ok && at < wav.samples.size(); at += 1600) {  // as a microphone gives them, with a partial text every 100 ms
      ok = recognizer->feed(wav.samples.data() + at, std::min<size_t>(1600, wav.samples.size() - at), &why);
      if (ok) recognizer->partial();
    }
    const double end = now();
    if (!ok || !recognizer->finish(&text, &why)) return std::fprintf(stderr, "%s: %s\n", argv[k], why.c_str()), 1;
    finish += now() - end;
    audio += wav.seconds();
    std::printf("%s\n", text.c_str());
  }
  std::fprintf(stderr, "%.1f s of speech, %.3f of real time, %.0f ms to finish\n", audio, (now() - begin) / audio,
               1000 * finish / std::max(1, argc - 4));
}
