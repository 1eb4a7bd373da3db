// Speaks the requests that test_assistant_app.py lets the assistant hear: say VOICE SPEED OUT.wav TEXT
#include <cstdio>
#include <cstdlib>

#include "examples/assistant/audio.h"
#include "examples/assistant/synthesizer.h"

int main(int argc, char** argv) {
  if (argc != 5) return std::fputs("say VOICE SPEED OUT.wav TEXT\n", stderr), 2;
  std::string why;
  assistant::SynthesizerConfig config;
  config.voice = argv[1];
  config.speed = std::atof(argv[2]);
  assistant::WavSink out;
  const auto voice = assistant::make_synthesizer(config, &why);
  if (voice &&
      voice->speak(
          argv[4], [&](const int16_t* samples, size_t n, int rate) { return n == 0 || out.write(samples, n, rate); }, &why) &&
      out.save(argv[3], &why))
    return 0;
  return std::fprintf(stderr, "%s\n", why.c_str()), 1;
}
