// Sound in and out: WAV files as they come, hostile ones too; where somebody speaks; engines that are there.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "examples/assistant/audio.h"
#include "examples/assistant/process.h"
#include "examples/assistant/recognizer.h"
#include "examples/assistant/synthesizer.h"
#include "examples/assistant/voice_activity.h"
#include "tests/catch2.h"

using namespace assistant;

namespace {

struct Header {
  unsigned tag = 1, channels = 1, rate = 16000, bits = 16;
  int align = -1;
  uint32_t data_size = 0;
  bool lie = false;
};

std::string wav(const Header& h, const std::string& data) {
  std::string s;
  const auto put = [&](uint32_t x, size_t n) { s.append(reinterpret_cast<const char*>(&x), n); };
  const unsigned align = h.align < 0 ? h.channels * h.bits / 8 : static_cast<unsigned>(h.align);
  s += "RIFF";
  put(static_cast<uint32_t>(36 + data.size()), 4);
  s += "WAVEfmt ";
  put(16, 4), put(h.tag, 2), put(h.channels, 2), put(h.rate, 4), put(h.rate * align, 4), put(align, 2), put(h.bits, 2);
  s += "data";
  put(h.lie ? h.data_size : static_cast<uint32_t>(data.size()), 4);
  return s + data;
}

bool parse(const std::string& bytes, Wav* w, std::string* why) {
  return read_wav(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "x.wav", w, why);
}

// Half of full scale, in any format.
std::string tone(const Header& h, double hz, double seconds) {
  std::string s;
  for (size_t k = 0; k < static_cast<size_t>(seconds * h.rate); ++k) {
    const double x = 0.5 * std::sin(2 * std::numbers::pi * hz * static_cast<double>(k) / h.rate);
    for (unsigned c = 0; c < h.channels; ++c) {
      const float f = static_cast<float>(x);
      const double d = x;
      const int32_t i = h.bits == 8 ? static_cast<int32_t>(std::lround(x * 127) + 128)
                                    : static_cast<int32_t>(std::lround(x * (std::ldexp(1.0, static_cast<int>(h.bits) - 1) - 1)));
      const void* p = h.tag == 3 ? (h.bits == 32 ? static_cast<const void*>(&f) : &d) : &i;
      s.append(static_cast<const char*>(p), h.bits / 8);
    }
  }
  return s;
}

// Amplitude at a frequency, edges left out.
double level(const std::vector<int16_t>& x, double hz) {
  double re = 0, im = 0;
  const size_t edge = 1600, n = x.size() - 2 * edge;
  for (size_t k = 0; k < n; ++k) {
    const double w = 2 * std::numbers::pi * hz * static_cast<double>(k) / kRate;
    re += x[k + edge] * std::cos(w), im += x[k + edge] * std::sin(w);
  }
  return 2 * std::hypot(re, im) / static_cast<double>(n) / 32768;
}

double rms(const std::vector<int16_t>& x) {
  double sum = 0;
  for (size_t k = 1600; k + 1600 < x.size(); ++k) sum += static_cast<double>(x[k]) * x[k];
  return std::sqrt(sum / static_cast<double>(x.size() - 3200)) / 32768;
}

// Starts and ends.
std::vector<std::pair<char, double>> events(const std::vector<int16_t>& x) {
  VoiceActivity v;
  std::vector<std::pair<char, double>> e;
  for (size_t at = 0; at + VoiceActivity::kFrame <= x.size(); at += VoiceActivity::kFrame) {
    const auto event = v.feed(x.data() + at);
    if (event != VoiceActivity::Event::none)
      e.emplace_back(event == VoiceActivity::Event::start ? 's' : 'e', static_cast<double>(at) / kRate);
  }
  return e;
}

std::vector<int16_t> noise(double db, double seconds) {
  std::mt19937 rng(1);
  std::normal_distribution<double> d(0, 32768 * std::pow(10, db / 20));
  std::vector<int16_t> x(static_cast<size_t>(seconds * kRate));
  for (auto& s : x) s = static_cast<int16_t>(std::clamp(d(rng), -32768.0, 32767.0));
  return x;
}

// Like a voice: harmonics of a gliding pitch, four syllables a second.
void add_voice(std::vector<int16_t>* x, double from, double to, double gain, double offset = 0) {
  double phase = 0;
  for (size_t k = static_cast<size_t>(from * kRate); k < static_cast<size_t>(to * kRate); ++k) {
    const double t = static_cast<double>(k) / kRate;
    phase += 2 * std::numbers::pi * (120 + 15 * std::sin(2 * t)) / kRate;
    double s = 0;
    for (int h = 1; h < 12; ++h) s += std::sin(h * phase) / h;
    (*x)[k] = static_cast<int16_t>(
        std::clamp((*x)[k] + 32768 * (offset + gain * s * (0.55 + 0.45 * std::sin(8 * std::numbers::pi * t))), -32768.0, 32767.0));
  }
}

}  // namespace

TEST_CASE("WAV: every format gives the same tone at the same level") {
  for (const Header& h :
       {Header{1, 1, 16000, 16}, Header{1, 2, 44100, 16}, Header{1, 1, 8000, 8}, Header{1, 8, 48000, 24}, Header{1, 1, 96000, 32},
        Header{3, 2, 22050, 32}, Header{3, 1, 192000, 64}, Header{1, 1, 4000, 16}, Header{1, 1, 11111, 16}}) {
    Wav w;
    std::string why;
    CAPTURE(h.tag, h.channels, h.rate, h.bits);
    REQUIRE(parse(wav(h, tone(h, 1000, 1)), &w, &why));
    CHECK(std::abs(w.seconds() - 1) < 0.001);
    CHECK(w.file_rate == static_cast<int>(h.rate));
    CHECK(std::abs(level(w.samples, 1000) - 0.5) < 0.01);
    CHECK(std::abs(rms(w.samples) - 0.5 / std::numbers::sqrt2) < 0.01);  // and nothing else
  }
}

TEST_CASE("WAV: what 16 kHz cannot carry does not come back as another tone") {
  for (const double hz : {9000.0, 12000.0, 15000.0, 20000.0}) {
    const Header h{1, 1, 48000, 16};
    Wav w;
    std::string why;
    REQUIRE(parse(wav(h, tone(h, hz, 1)), &w, &why));
    CHECK(rms(w.samples) < 0.5 * 0.003);  // 50 dB down
  }
}

TEST_CASE("WAV: what cannot be read is refused by name") {
  const Header ok;
  const std::string data = tone(ok, 440, 0.1);
  const auto refused = [&](const std::string& bytes, const char* part) {
    Wav w;
    std::string why;
    CHECK_FALSE(parse(bytes, &w, &why));
    CAPTURE(why, part);
    CHECK(why.find("x.wav: ") == 0);
    CHECK(why.find(part) != std::string::npos);
  };
  refused("", "shorter than its header");
  refused("RIFF....WAV!....", "not a WAV");
  refused(wav({7, 1, 8000, 8}, data), "mu-law");
  refused(wav({1, 0, 16000, 16}, data), "0 channels");
  refused(wav({1, 9, 16000, 16}, data), "9 channels");
  refused(wav({1, 1, 3999, 16}, data), "3999 Hz");
  refused(wav({1, 1, 192001, 16}, data), "192001 Hz");
  refused(wav({1, 1, 16000, 12}, data), "12 bits");
  refused(wav({1, 1, 16000, 16, 3}, data), "block align 3");
  refused(wav({1, 1, 16000, 16, 0}, data), "block align 0");
  refused(wav({1, 1, 16000, 16, -1, static_cast<uint32_t>(data.size() + 2), true}, data), "cut off");
  refused(wav({1, 1, 4000, 16, -1, 4000 * 2 * 901, true}, data), "15 minutes");
  const std::string good = wav(ok, data);
  for (size_t n = 0; n < 44; ++n) {
    Wav w;
    std::string why;
    CHECK_FALSE(parse(good.substr(0, n), &w, &why));
  }
  // 3 GB: a length that a program gave that writes into a pipe. What is there is taken.
  Wav w;
  std::string why;
  REQUIRE(parse(wav({1, 1, 16000, 16, -1, 0xC0000000u, true}, data), &w, &why));
  CHECK(w.samples.size() == data.size() / 2);
  REQUIRE(parse(wav(ok, ""), &w, &why));
  CHECK(w.samples.empty());
}

TEST_CASE("WAV: written and read again") {
  std::string path = "/tmp/linnet-test-XXXXXX", why;
  close(mkstemp(path.data()));
  const std::vector<int16_t> x = noise(-12, 0.5);
  REQUIRE(write_wav(path.c_str(), x.data(), x.size(), kRate, &why));
  Wav w;
  CHECK(read_wav(path.c_str(), &w, &why));
  CHECK(w.samples == x);
  unlink(path.c_str());
  CHECK_FALSE(read_wav(path.c_str(), &w, &why));
  CHECK_FALSE(write_wav("/nowhere/x.wav", x.data(), x.size(), kRate, &why));
}

TEST_CASE("voice activity: silence, noise and ticks are nobody") {
  std::vector<int16_t> dc(kRate * 3, 12000), square(kRate * 3);
  for (size_t k = 0; k < square.size(); k += 8000) square[k] = 32767;
  CHECK(events(std::vector<int16_t>(kRate * 3)).empty());
  CHECK(events(noise(-30, 5)).empty());
  CHECK(events(noise(-3, 5)).empty());  // clipped
  CHECK(events(dc).empty());
  CHECK(events(square).empty());
}

TEST_CASE("voice activity: an utterance begins and ends, soft, loud, in noise, with DC") {
  for (const auto& [gain, background, offset] :
       {std::array<double, 3>{0.1, -90, 0}, {0.01, -90, 0}, {3, -90, 0}, {0.3, -40, 0}, {0.1, -90, 0.3}}) {
    std::vector<int16_t> x = noise(background, 6);
    if (offset != 0)
      for (auto& s : x) s = static_cast<int16_t>(s + 32768 * offset);
    add_voice(&x, 2, 3.5, gain, 0);
    const auto e = events(x);
    CAPTURE(gain, background, offset, e.size());
    REQUIRE(e.size() == 2);
    CHECK((e[0].first == 's' && e[0].second > 1.9 && e[0].second < 2 + VoiceActivity::kLeadMs / 1000.0));
    CHECK((e[1].first == 'e' && e[1].second > 3.5 && e[1].second < 3.7 + VoiceActivity::kHangoverMs / 1000.0));
  }
}

TEST_CASE("programs: output, errors and limits") {
  std::string out, why;
  ProcessLimits limits;
  CHECK(run_process({"cat"}, "some text", limits, &out, &why));
  CHECK(out == "some text");
  // However long this thread is kept from running between two steps, nothing that the program wrote is lost.
  struct sigaction sleepy = {}, old = {};
  sleepy.sa_handler = [](int) { usleep(1000); };
  sigaction(SIGALRM, &sleepy, &old);
  const itimerval often = {{0, 1400}, {0, 1400}}, never = {};
  int lost = 0;
  for (int i = 0; i < 150; ++i) {
    setitimer(ITIMER_REAL, &often, nullptr);
    const bool ran = run_process({"cat"}, "some text", limits, &out, &why);
    setitimer(ITIMER_REAL, &never, nullptr);
    lost += !ran || out != "some text";
  }
  sigaction(SIGALRM, &old, nullptr);
  CHECK(lost == 0);
  CHECK(run_process({"true"}, std::string(1 << 20, 'x'), limits, &out, &why));  // does not read
  CHECK_FALSE(run_process({"false"}, "", limits, &out, &why));
  CHECK(why == "false: exited with status 1");
  CHECK_FALSE(run_process({"no-such-program"}, "", limits, &out, &why));
  CHECK(why.find("no-such-program: No such file") == 0);
  limits.output = 1000;
  CHECK_FALSE(run_process({"yes"}, "", limits, &out, &why));
  CHECK(why == "yes: wrote more than 1000 bytes");
  limits.seconds = 0.1;
  CHECK_FALSE(run_process({"sleep", "20"}, "", limits, &out, &why));
  CHECK(why == "sleep: did not finish within 100 ms");
  limits.seconds = 20;
  int asked = 0;
  limits.keep_going = [&] { return ++asked < 3; };
  CHECK_FALSE(run_process({"sleep", "20"}, "", limits, &out, &why));
  CHECK(why == "sleep: stopped");
}

TEST_CASE("engines: what is not known or not there is refused by name") {
  std::string why;
  RecognizerConfig r;
  SynthesizerConfig s;
  r.engine = s.engine = "parrot";
  CHECK_FALSE(make_recognizer(r, &why));
  CHECK(why.find("parrot") != std::string::npos);
  CHECK_FALSE(make_synthesizer(s, &why));
  CHECK(why.find("parrot") != std::string::npos);
  r = {};
  r.language = "/nowhere.lm";
  CHECK_FALSE(make_recognizer(r, &why));
  CHECK_FALSE(why.empty());
  CHECK_FALSE(open_microphone("no such device", &why));
  CHECK(why.find("microphone") == 0);
  CHECK_FALSE(open_speaker("no such device", &why));
  CHECK(why.find("speaker") == 0);
}

TEST_CASE("engines: what is spoken is understood") {
  std::string why, text;
  SynthesizerConfig s;
  s.voice = "kal16";
  const auto speaker = make_synthesizer(s, &why);
  if (!speaker) {
    WARN("skipped: " + why);
    return;
  }
  WavSink sink;
  REQUIRE(
      speaker->speak("set a timer for ten minutes", [&](const int16_t* x, size_t n, int rate) { return sink.write(x, n, rate); }, &why));
  CHECK(sink.samples().size() > kRate);
  size_t pieces = 0;
  CHECK(speaker->speak("a long text that is stopped at once", [&](const int16_t*, size_t, int) { return ++pieces > 100; }, &why));
  CHECK(pieces == 1);
  RecognizerConfig r;
  r.language = "examples/assistant/language/assistant.lm.bin";
  r.dictionary = "examples/assistant/language/assistant.dict";
  const auto recognizer = make_recognizer(r, &why);
  if (!recognizer) {
    WARN("skipped: " + why);
    return;
  }
  REQUIRE(recognizer->start(&why));
  REQUIRE(recognizer->feed(sink.samples().data(), sink.samples().size(), &why));
  REQUIRE(recognizer->finish(&text, &why));
  CHECK(text == "set a timer for ten minutes");
}
