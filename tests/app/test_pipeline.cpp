// The assistant's pipeline: turns, interruptions at any moment, and that nothing is left behind.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "examples/assistant/pipeline.h"
#include "examples/assistant/voice_activity.h"
#include "tests/catch2.h"

using namespace assistant;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kInterruptions = 12;  // each takes up to half a second there
#else
constexpr int kInterruptions = 100;
#endif

size_t entries(const char* folder) {
  size_t n = 0;
  if (DIR* d = opendir(folder)) {
    while (readdir(d)) ++n;
    closedir(d);
  }
  return n;
}

// A tone for as long as the text would take to say.
struct Tone : Synthesizer {
  bool speak(const std::string& text, const SpeechOut& out, std::string*) override {
    std::vector<int16_t> samples(text.size() * kRate / 14);
    for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<int16_t>(8000 * std::sin(static_cast<double>(i) * 0.2));
    return out(samples.data(), samples.size(), kRate);
  }
};

// Plays `speed` times as fast as a loudspeaker would.
struct Player : AudioSink {
  explicit Player(double times) : speed(times) {}
  bool write(const int16_t*, size_t n, int rate) override {
    samples += n;
    std::this_thread::sleep_for(std::chrono::duration<double>(static_cast<double>(n) / rate / speed));
    return true;
  }
  void stop() override { ++stops; }
  const double speed;
  std::atomic<size_t> samples{0}, stops{0};
};

// Says what it was told to, a word for each tenth of a second of sound.
struct Script : Recognizer {
  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> minds;  // partial texts of each
  size_t n_started = 0, n_fed = 0, n_partial = 0;
  bool start(std::string*) override { return n_fed = n_partial = 0, ++n_started <= texts.size(); }
  bool feed(const int16_t*, size_t n, std::string*) override { return n_fed += n, true; }
  std::string partial() override {
    const auto& m = minds[n_started - 1];
    return m.empty() ? "" : m[std::min(n_partial++, m.size() - 1)];
  }
  bool finish(std::string* text, std::string*) override { return *text = texts[n_started - 1], true; }
};

struct Source : AudioSource {
  std::vector<int16_t> samples;
  size_t at = 0;
  size_t read(int16_t* out, size_t n) override {
    n = std::min(n, samples.size() - at);
    std::copy_n(samples.begin() + static_cast<ptrdiff_t>(at), n, out);
    at += n;
    return n;
  }
  void silence(double s) { samples.resize(samples.size() + static_cast<size_t>(s * kRate)); }
  // Much like a voice: harmonics of 120 Hz that swell and fade four times a second.
  void voice(double s) {
    for (size_t i = 0; i < static_cast<size_t>(s * kRate); ++i) {
      const double t = static_cast<double>(i) / kRate;
      double x = 0;
      for (int h = 1; h < 20; ++h) x += std::sin(2 * 3.14159265358979 * 120 * h * t) / h;
      samples.push_back(static_cast<int16_t>(4000 * x * (0.6 + 0.4 * std::sin(2 * 3.14159265358979 * 4 * t))));
    }
  }
};

struct Assistant {
  Tools tools;
  Conversation conversation;
  Tone tone;
  Player player;
  Script script;
  std::mutex mutex;
  std::vector<json> events;
  std::string why, note;
  Pipeline pipeline;

  explicit Assistant(double speed = 1e9, PipelineConfig config = {})
      : player(speed), pipeline(config, &conversation, &tools, &script, &tone, &player, [this](const json& e) {
          const std::lock_guard lock(mutex);
          events.push_back(e);
        }) {
    REQUIRE(tools.open({"", "living room", {}}, [] { return int64_t{1772452800000}; }, &note, &why));
    REQUIRE(conversation.open(
        {"examples/assistant/model/linnet-assistant.gguf", "examples/assistant/tools.json"},
        [this](std::string_view call) { return pipeline.call_tool(call); }, &why));
    pipeline.start();
  }
  std::vector<json> of(const std::string& kind) {
    const std::lock_guard lock(mutex);
    std::vector<json> out;
    for (const json& e : events)
      if (e["event"] == kind) out.push_back(e);
    return out;
  }
  std::string ask(const std::string& text) {
    REQUIRE(pipeline.request(text));
    pipeline.wait_idle();
    const auto answers = of("answer");
    return answers.empty() ? "" : answers.back()["text"].get<std::string>();
  }
  std::vector<float> logits() {
    const float* row = nullptr;
    size_t n = 0;
    REQUIRE(linnet_logits(conversation.session(), 0, 0, &row, &n, nullptr) == LINNET_OK);
    return {row, row + n};
  }
};

}  // namespace

TEST_CASE("a typed request is answered, acted on and spoken") {
  Assistant a;
  CHECK(a.ask("set a timer for ten minutes") == "Timer set for 10 minutes.");
  CHECK(a.player.samples > kRate);
  std::vector<std::string> phases;
  for (const json& e : a.of("phase")) phases.push_back(e["phase"]);
  CHECK(phases == std::vector<std::string>{"listening", "thinking", "speaking", "listening"});
  CHECK(a.of("tool").at(0)["result"].dump() == R"({"ok":true})");
  CHECK(a.of("home").back()["timers"].size() == 1);
  std::string streamed;
  for (const json& e : a.of("token")) streamed += e["text"];
  CHECK(streamed == "Timer set for 10 minutes.");
  const json latency = a.of("latency").at(0);
  CHECK(latency["text_to_first_token_ms"].get<double>() > 0);
  CHECK(latency["text_to_first_audio_ms"].get<double>() >= latency["text_to_first_token_ms"].get<double>());
  CHECK(a.of("stats").at(0)["rss_bytes"].get<int64_t>() > 1 << 20);
  CHECK_FALSE(a.pipeline.failed());
}

TEST_CASE("interrupted at 100 random moments the assistant answers what comes next") {
  const std::string first = "turn off the lamp in the hall", second = "add bread and butter and eighteen apples to the shopping list",
                    third = "how many feet are in a mile";
  Assistant cut(100);
  cut.ask(first);
  const size_t arena = cut.conversation.arena_bytes(), threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
  std::mt19937 random(11);
  for (int i = 0; i < kInterruptions; ++i) {
    const size_t before = cut.player.samples, wanted = before + random() % (3 * kRate);
    REQUIRE(cut.pipeline.request(second));
    if (i % 2)
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 9000));
    else
      while (cut.player.samples < wanted) std::this_thread::yield();  // some way into the answer of four seconds
    cut.pipeline.interrupt();
    cut.pipeline.wait_idle();
    REQUIRE(cut.ask(third) == "1 mile is 5280 feet.");
  }
  const auto interrupted = cut.of("interrupted");
  CHECK(interrupted.size() > kInterruptions / 4);
  for (const json& e : interrupted)
    CHECK(e["silent_after_ms"].get<double>() < 1000);  // the bound itself is measured where nothing else runs
  size_t unheard = 0, heard = 0;
  for (const json& e : interrupted) (e["heard"].get<std::string>().empty() ? unheard : heard) += 1;
  CHECK(unheard > 0);
  CHECK(heard > 0);
  CHECK(cut.conversation.arena_bytes() == arena);
  CHECK(entries("/proc/self/task") == threads);
  CHECK(entries("/proc/self/fd") == files);
  CHECK(cut.of("error").empty());
  CHECK(cut.of("home").back()["lists"]["shopping"].size() == 3);  // whatever was cut off, effects are whole: bread, butter, eighteen apples
}

TEST_CASE("a turn of which nothing was heard leaves the next one its bytes") {
  const std::string first = "turn off the lamp in the hall", second = "what's the time in paris and what's the weather like over there",
                    third = "how many feet are in a mile";
  Assistant plain, cut(1);
  plain.ask(first), cut.ask(first);
  for (int i = 0; i < 20; ++i) {
    cut.pipeline.request(second);
    while (cut.of("user").size() < static_cast<size_t>(2 + i)) std::this_thread::yield();
    cut.pipeline.interrupt();  // within the first word
    cut.pipeline.wait_idle();
  }
  size_t heard = 0;
  for (const json& e : cut.of("interrupted")) heard += !e["heard"].get<std::string>().empty();
  REQUIRE(cut.of("interrupted").size() == 20);
  REQUIRE(heard == 0);
  plain.ask(third), cut.ask(third);
  plain.pipeline.stop(), cut.pipeline.stop();
  const auto a = plain.logits(), b = cut.logits();
  CHECK(plain.conversation.context_used() == cut.conversation.context_used());
  CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

TEST_CASE("utterances become turns, and are computed while they are spoken") {
  const auto run = [](bool early) {
    Assistant a(1e9, {true, early});
    a.script.texts = {"set a timer for twenty minutes", "", "turn on the kitchen light"};
    a.script.minds = {{"set", "sad a time", "set a timer", "set a timer for twenty", "set a timer for twenty minutes"},
                      {},
                      {"turn", "turn on the kitten", "turn on the kitchen light"}};
    Source source;
    for (int i = 0; i < 3; ++i) source.silence(1), source.voice(1.5);
    source.silence(1.5);
    a.pipeline.listen(&source, true);
    CHECK(a.script.n_started == 3);
    std::vector<std::string> answers;
    for (const json& e : a.of("answer")) answers.push_back(e["text"]);
    CHECK(answers == std::vector<std::string>{"Timer set for 20 minutes.", "The kitchen light is on."});
    CHECK(a.of("partial").size() >= 5);
    const auto latency = a.of("latency");
    REQUIRE(latency.size() == 2);
    CHECK(latency[0]["end_of_speech_to_first_token_ms"].get<double>() > latency[0]["decision_to_first_token_ms"].get<double>());
    return latency[1]["prefilled_early_tokens"].get<int>();
  };
  run(true);
  CHECK(run(false) == 0);
}

TEST_CASE("speech ends an answer") {
  Assistant a(1);
  a.script.texts = {"turn on the kitchen light"};
  a.script.minds = {{}};
  Source source;
  source.silence(0.5), source.voice(1.5), source.silence(1.5);
  a.pipeline.request("what can you do for me in the kitchen and the hall");
  while (a.player.samples == 0) std::this_thread::yield();
  const size_t before = a.player.samples;
  a.pipeline.listen(&source, true);  // all at once: speech comes now
  CHECK(a.player.stops >= 1);
  REQUIRE(a.of("interrupted").size() == 1);
  CHECK(a.of("answer").back()["text"] == "The kitchen light is on.");
  CHECK(before > 0);
  // Without barge-in the answer is spoken to its end.
  Assistant b(50, {false, true});
  b.script = a.script;
  b.script.n_started = 0;
  source.at = 0;
  b.pipeline.request("what can you do for me in the kitchen and the hall");
  b.pipeline.listen(&source, true);
  CHECK(b.of("interrupted").empty());
  CHECK(b.of("answer").size() == 2);
}

TEST_CASE("requests that are too many are refused, and an end is an end") {
  Assistant a(2);
  size_t taken = 0;
  for (int i = 0; i < 30; ++i) taken += a.pipeline.request("what time is it");
  CHECK(taken >= 8);
  CHECK(taken < 30);
  a.pipeline.stop();
  CHECK_FALSE(a.pipeline.request("hello"));
  a.pipeline.wait_idle();
  a.pipeline.stop();
}
