// Models that hear, behind the C ABI: what transformers gives, the same bytes on every tier and thread count, exact memory, texts and the
// checks on them, cancelling, and what is refused.
#define JSON_NOEXCEPTION 1  // as the library is compiled
#include <linnet_audio.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "kernels_cpu/registry.h"
#include "runtime/audio/audio_session.h"
#include "runtime/audio/transcribe.h"
#include "tests/folders.h"
#include "tests/models.h"

using namespace test;

namespace {

const std::string kFolder = "tests/golden/audio/";

struct Npy {
  std::vector<float> values;
  size_t rows = 0, columns = 0;
  explicit Npy(const std::string& path) {
    const std::string npy = slurp(path);
    REQUIRE(npy.substr(1, 5) == "NUMPY");
    const size_t header = 10 + static_cast<unsigned char>(npy[8]) + 256u * static_cast<unsigned char>(npy[9]);
    values.resize((npy.size() - header) / 4);
    std::memcpy(values.data(), npy.data() + header, values.size() * 4);
    const size_t at = npy.find("'shape': (") + 10;
    rows = std::stoul(npy.substr(at));
    columns = values.size() / rows;
  }
};
double apart(const float* a, const std::vector<float>& b) {
  double most = 0, top = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    top = std::max(top, std::abs(static_cast<double>(b[i])));
  }
  return most / top;
}

struct Audio {
  linnet::convert::Image image;
  std::unique_ptr<Memory> memory;
  linnet_audio* a = nullptr;
  linnet_audio_desc desc{.size = sizeof desc};

  explicit Audio(const std::string& name, linnet_format weights, uint32_t isa = 0) {
    linnet::convert::Options options;
    options.weights = weights;
    linnet_error err{};
    check(linnet::convert::convert_to_memory(kFolder + name, options, &image, &err), err);
    linnet_profile profile{};
    profile.size = sizeof profile;
    profile.isa = isa;
    linnet_need need{.size = sizeof need};
    const linnet_view file = image.view();
    check(linnet_audio_need(&file, &profile, &need, &err), err);
    memory = std::make_unique<Memory>(need.bytes);
    CHECK(linnet_audio_init(&a, memory->p, need.bytes - 1, &file, &profile, &err) == LINNET_TOO_SMALL);
    check(linnet_audio_init(&a, memory->p, need.bytes, &file, &profile, &err), err);
    check(linnet_audio_info(a, &desc, &err), err);
  }
  ~Audio() { linnet::convert::image_free(&image); }
  Audio(const Audio&) = delete;
};

struct Listener {
  std::unique_ptr<Memory> memory;
  linnet_audio_session* s = nullptr;
  const Audio& audio;
  explicit Listener(const Audio& of, uint32_t kv = 0, uint32_t threads = 1, uint32_t beams = 1) : audio(of) {
    const linnet_audio_session_params p{
        .size = sizeof p, .n_threads = threads, .threads = 0, .n_beams = beams, .k_format = kv, .v_format = 0};
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    check(linnet_audio_session_need(of.a, &p, &need, &err), err);
    memory = std::make_unique<Memory>(need.bytes);
    CHECK(linnet_audio_session_init(&s, memory->p, need.bytes - 1, of.a, &p, &err) == LINNET_TOO_SMALL);
    check(linnet_audio_session_init(&s, memory->p, need.bytes, of.a, &p, &err), err);
    CHECK(s->arena.used() == need.bytes);
  }
  ~Listener() { linnet_audio_session_fini(s); }
  Listener(const Listener&) = delete;

  std::vector<float> hear(const std::vector<float>& pcm) {
    linnet_error err{};
    const float* states = nullptr;
    size_t n = 0;
    check(linnet_audio_hear(s, pcm.data(), pcm.size(), 0, &states, &n, &err), err);
    return std::vector<float>(states, states + n * audio.desc.d_model);
  }
  Row read(const Tokens& t) {
    linnet_error err{};
    const float* logits = nullptr;
    check(linnet_audio_read(s, t.data(), t.size(), &logits, &err), err);
    return Row(logits, logits + audio.desc.n_vocab);
  }
};

const std::vector<float>& sound() {
  static const Npy pcm(kFolder + "sound.npy");
  return pcm.values;
}
Tokens tokens_of(const std::string& name) { return nlohmann::json::parse(slurp(kFolder + "audio.json"))[name].get<Tokens>(); }

// What a session wrote: segments as text, and the sum of it.
struct Written {
  std::string text;
  linnet_transcribed done{.size = sizeof done};
  linnet_status status = LINNET_OK;
  linnet_error err{};
  uint32_t stop_at = UINT32_MAX;
  uint64_t end = 0;
  bool sound = true;  // segments are in order, with what they are to have

  static int add(void* to, const linnet_segment* s) {
    Written& w = *static_cast<Written*>(to);
    w.sound = w.sound && s->size == sizeof *s && s->first_sample >= w.end && s->end_sample > s->first_sample && s->n_bytes && s->n_words &&
              s->confidence > 0 && s->confidence <= 1.0001f;
    for (uint32_t i = 0; i < s->n_words; ++i)
      w.sound = w.sound && s->words[i].from + s->words[i].n_bytes <= s->n_bytes && s->words[i].confidence >= 0 &&
                s->words[i].confidence <= 1.0001f;
    w.end = s->end_sample;
    w.text += "[" + std::to_string(s->first_sample) + " " + std::to_string(s->end_sample) + "]" + std::string(s->text, s->n_bytes);
    return s->index + 1 >= w.stop_at;
  }
  void run(Listener& l, const std::vector<float>& pcm, linnet_transcribe_params p) {
    p.size = sizeof p;
    status = linnet_transcribe(l.s, pcm.data(), pcm.size(), &p, add, this, &done, &err);
  }
};

}  // namespace

TEST_CASE("Whisper and Moonshine give transformers' numbers: spectra, states and logits in f32") {
  for (const std::string name : {"whisper", "moonshine"}) {
    INFO(name);
    const Audio audio(name, LINNET_F32);
    CHECK(std::string(audio.desc.architecture) == name);
    Listener l(audio, LINNET_F32, 2);
    const Npy states(kFolder + name + ".states.npy"), logits(kFolder + name + ".logits.npy");
    const std::vector<float> got = l.hear(sound());
    REQUIRE(got.size() == states.values.size());
    const double of_states = apart(got.data(), states.values);
    CAPTURE(of_states);
    CHECK(of_states < 1e-5);
    if (name == "whisper") {
      const Npy features(kFolder + "whisper.features.npy");
      CHECK(apart(l.s->spectra + 80, features.values) < 1e-5);
    }
    const Tokens tokens = tokens_of(name);
    std::vector<float> rows;
    for (const int32_t t : tokens) {
      const Row row = l.read({t});
      rows.insert(rows.end(), row.begin(), row.end());
    }
    REQUIRE(rows.size() == logits.values.size());
    const double of_logits = apart(rows.data(), logits.values);
    CAPTURE(of_logits);
    CHECK(of_logits < 1e-5);
    // Negative control: another sound, another text.
    std::vector<float> other = sound();
    for (float& x : other) x *= 0.5f;
    other[5000] = 0.9f;
    CHECK(apart(l.hear(other).data(), states.values) > 1e-4);
  }
}

TEST_CASE("states, logits and texts are the same bytes on every tier and thread count, however a text is cut into calls") {
  for (const std::string name : {"whisper", "moonshine"}) {
    const Tokens tokens = tokens_of(name);
    for (const linnet_format weights : {LINNET_I8G128, LINNET_I8G32, LINNET_F32}) {
      std::vector<float> states;
      Row logits;
      std::string text;
      for (uint32_t i = 0; const linnet::KernelTable* t = linnet::kernel_tier(i); ++i) {
        linnet::Kernels kernels;
        if (linnet::kernels_resolve(t->isa, 0, &kernels, nullptr) != LINNET_OK) continue;  // not on this CPU
        const Audio audio(name, weights, t->isa);
        for (const uint32_t threads : {1u, 3u}) {
          INFO(name << " " << linnet_format_name(weights) << " " << linnet_isa_name(t->isa) << " " << threads);
          Listener l(audio, weights == LINNET_F32 ? LINNET_F32 : LINNET_I8, threads, 3);
          const std::vector<float> got = l.hear(sound());
          const Row whole = l.read(tokens);
          l.hear(sound());
          l.read(Tokens(tokens.begin(), tokens.begin() + 3));
          const Row parts = l.read(Tokens(tokens.begin() + 3, tokens.end()));
          CHECK(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(float)) == 0);
          linnet_transcribe_params p{};
          p.seed = 7;
          Written w;
          w.run(l, sound(), p);
          check(w.status, w.err);
          CHECK(w.sound);
          if (states.empty()) states = got, logits = whole, text = w.text;
          CHECK(std::memcmp(states.data(), got.data(), got.size() * sizeof(float)) == 0);
          CHECK(std::memcmp(logits.data(), whole.data(), whole.size() * sizeof(float)) == 0);
          CHECK(text == w.text);
        }
      }
      CHECK(!states.empty());
    }
  }
}

TEST_CASE("texts follow Whisper's rules: times in pairs that never go back, languages found or given, nothing suppressed") {
  const Audio audio("whisper", LINNET_F32);
  REQUIRE(audio.desc.n_languages == 3);
  CHECK(std::string(linnet_audio_language(audio.a, 1)) == "de");
  CHECK(linnet_audio_language(audio.a, 3) == nullptr);
  const uint32_t first_time = audio.a->spec.first_timestamp - 1, end = audio.a->spec.end;
  Listener l(audio, LINNET_F32, 2, 4);
  struct Seen {
    uint32_t first_time, end;
    std::vector<Tokens> tokens;
    std::string language;
  };
  for (const uint32_t beams : {1u, 4u})
    for (const char* language : {"", "de"})
      for (const bool times : {true, false}) {
        INFO(beams << " " << language << " " << times);
        Seen seen{first_time, end, {}, ""};
        linnet_transcribe_params p{.size = sizeof p};
        std::strcpy(p.language, language);
        p.n_beams = beams;
        p.timestamps = times ? LINNET_SWITCH_ON : LINNET_SWITCH_OFF;
        p.logprob = 1, p.compression_ratio = -1;  // a random model passes no check
        linnet_transcribed done{.size = sizeof done};
        linnet_error err{};
        check(linnet_transcribe(
                  l.s, sound().data(), sound().size(), &p,
                  [](void* to, const linnet_segment* s) {
                    Seen& of = *static_cast<Seen*>(to);
                    of.tokens.push_back(Tokens(s->tokens, s->tokens + s->n_tokens));
                    of.language = s->language;
                    return 0;
                  },
                  &seen, &done, &err),
              err);
        REQUIRE(!seen.tokens.empty());
        CHECK(done.n_segments == seen.tokens.size());
        if (*language) CHECK(seen.language == "de");
        CHECK(seen.language == done.language);
        int32_t last = static_cast<int32_t>(first_time);
        for (const Tokens& t : seen.tokens) {
          for (const int32_t id : t) {
            CHECK(static_cast<uint32_t>(id) != end);
            CHECK((id != 1 && id != 2));  // suppressed by config.json
            if (static_cast<uint32_t>(id) < first_time) {
              CHECK(static_cast<uint32_t>(id) < end);
              continue;
            }
            CHECK(times);
            CHECK(id >= last);
            last = id;
          }
          if (times) CHECK(static_cast<uint32_t>(t[0]) >= first_time);
        }
      }
}

TEST_CASE("beams find texts that are at least as likely, temperatures draw by the seed, hot words come") {
  const Audio audio("whisper", LINNET_F32);
  Listener l(audio, LINNET_F32, 2, 8);
  const auto run = [&](uint32_t beams, float temperature, uint64_t seed, const linnet_hot_word* hot) {
    struct Best {
      double logprob = 0;
      std::string text;
    } best;
    linnet_transcribe_params p{.size = sizeof p};
    p.n_beams = beams, p.temperatures = &temperature, p.n_temperatures = 1, p.seed = seed, p.timestamps = LINNET_SWITCH_OFF;
    p.logprob = 1, p.compression_ratio = -1, p.n_tokens = 12;
    p.hot_words = hot, p.n_hot_words = hot != nullptr;
    linnet_error err{};
    check(linnet_transcribe(
              l.s, sound().data(), sound().size(), &p,
              [](void* to, const linnet_segment* s) {
                *static_cast<Best*>(to) = {static_cast<double>(s->logprob), std::string(s->text, s->n_bytes)};
                return 0;
              },
              &best, nullptr, &err),
          err);
    return best;
  };
  const auto one = run(1, 0, 0, nullptr), eight = run(8, 0, 0, nullptr);
  CHECK(eight.logprob >= one.logprob - 1e-6);
  CHECK(run(1, 1, 3, nullptr).text == run(1, 1, 3, nullptr).text);
  CHECK(run(1, 1, 3, nullptr).text != run(1, 1, 4, nullptr).text);
  const linnet_hot_word hot{.size = sizeof hot, .bias = 40, .text = "zz", .n_bytes = 2};
  CHECK(one.text.find("zz") == std::string::npos);
  CHECK(run(1, 0, 0, &hot).text.find("zz") != std::string::npos);
}

TEST_CASE("long sounds go window by window, a callback and a cancel end them, and the session is as new") {
  const Audio audio("whisper", LINNET_I8G128);
  Listener l(audio, 0, 2, 2);
  std::vector<float> longer;
  for (uint32_t i = 0; i < 5; ++i) longer.insert(longer.end(), sound().begin(), sound().end());
  linnet_transcribe_params p{.size = sizeof p};
  p.logprob = 1, p.compression_ratio = -1;
  const auto run = [&](uint32_t stop_at) {
    Written w;
    w.stop_at = stop_at;
    w.run(l, longer, p);
    return w;
  };
  const Written whole = run(UINT32_MAX);
  check(whole.status, whole.err);
  CHECK(whole.sound);
  CHECK(whole.done.n_windows >= 4);
  CHECK(whole.end <= longer.size());
  const Written cut = run(2);
  CHECK(cut.status == LINNET_CANCELLED);
  CHECK(whole.text.compare(0, cut.text.size(), cut.text) == 0);
  linnet_audio_cancel(l.s);
  const Written cancelled = run(UINT32_MAX);
  CHECK(cancelled.status == LINNET_CANCELLED);
  CHECK(cancelled.text.empty());
  // Cancels at random moments.
  std::mt19937 random(5);
  for (uint32_t i = 0; i < 20; ++i) {
    std::thread other([&, us = random() % 3000] {
      std::this_thread::sleep_for(std::chrono::microseconds(us));
      linnet_audio_cancel(l.s);
    });
    const Written w = run(UINT32_MAX);
    other.join();
    if (w.status == LINNET_CANCELLED) CHECK(whole.text.compare(0, w.text.size(), w.text) == 0);
    l.s->cancel = 0;
  }
  CHECK(run(UINT32_MAX).text == whole.text);
}

TEST_CASE("what a model that hears refuses, by name") {
  const Audio audio("whisper", LINNET_F32), moonshine("moonshine", LINNET_F32);
  Listener l(audio, 0), m(moonshine, 0);
  linnet_error err{};
  const auto refused = [&](Listener& of, linnet_status status, const char* text, auto change) {
    linnet_transcribe_params p{.size = sizeof p};
    change(p);
    CHECK(linnet_transcribe(of.s, sound().data(), sound().size(), &p, nullptr, nullptr, nullptr, &err) == status);
    INFO(err.text);
    CHECK(std::string(err.text).find(text) != std::string::npos);
  };
  refused(l, LINNET_UNSUPPORTED, "'xx'", [](auto& p) { std::strcpy(p.language, "xx"); });
  refused(m, LINNET_UNSUPPORTED, "one language", [](auto& p) { p.task = LINNET_AUDIO_TRANSLATE; });
  refused(m, LINNET_UNSUPPORTED, "timestamps", [](auto& p) { p.timestamps = LINNET_SWITCH_ON; });
  refused(l, LINNET_BAD_ARG, "task is 9", [](auto& p) { p.task = 9; });
  refused(l, LINNET_BAD_ARG, "n_beams is 2", [](auto& p) { p.n_beams = 2; });
  refused(l, LINNET_BAD_ARG, "n_tokens is 41", [](auto& p) { p.n_tokens = 41; });
  refused(l, LINNET_BAD_ARG, "previous is 7", [](auto& p) { p.previous = 7; });
  refused(l, LINNET_BAD_ARG, "temperatures", [](auto& p) { p.n_temperatures = 1; });
  refused(l, LINNET_BAD_ARG, "hot_words is NULL", [](auto& p) { p.n_hot_words = 1; });
  refused(l, LINNET_BAD_ARG, "prompt", [](auto& p) { p.n_prompt = 5000; });
  refused(l, LINNET_BAD_ARG, "reserved", [](auto& p) { p.reserved = 1; });
  CHECK(linnet_audio_hear(l.s, sound().data(), sound().size(), 100, nullptr, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_audio_hear(m.s, sound().data(), 700, 0, nullptr, nullptr, &err) == LINNET_BAD_ARG);
  const int32_t token = 5, wild = 100000;
  Listener fresh(audio, 0);
  CHECK(linnet_audio_read(fresh.s, &token, 1, nullptr, &err) == LINNET_BAD_STATE);
  l.hear(sound());
  CHECK(linnet_audio_read(l.s, &wild, 1, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_audio_read(l.s, Tokens(41, 5).data(), 41, nullptr, &err) == LINNET_CONTEXT_FULL);
  CHECK(linnet_audio_session_need(nullptr, nullptr, nullptr, &err) == LINNET_BAD_ARG);
  // Silence, nothing, and what is no number.
  Written w;
  w.run(l, std::vector<float>(16000), {});
  CHECK(w.status == LINNET_OK);
  w.run(l, {}, {});
  CHECK(w.status == LINNET_OK);
  std::vector<float> nan = sound();
  nan[100] = std::nanf("");
  w.run(l, nan, {});
  CHECK(w.status == LINNET_NOT_FINITE);
  w.run(l, sound(), {});
  CHECK(w.status == LINNET_OK);
  // A language model, and a model that hears where one of language belongs.
  const Model language("tests/golden/llama", LINNET_F32);
  linnet_need need{.size = sizeof need};
  linnet_view view = language.image.view();
  CHECK(linnet_audio_need(&view, nullptr, &need, &err) == LINNET_UNSUPPORTED);
  view = audio.image.view();
  CHECK(linnet_model_need(&view, nullptr, &need, &err) == LINNET_UNSUPPORTED);
  INFO(err.text);
  CHECK(std::string(err.text).find("hears") != std::string::npos);
}

TEST_CASE("damaged files are refused or compute something, never more") {
  const Audio audio("whisper", LINNET_I8G128);
  const std::string bytes(static_cast<const char*>(audio.image.data), audio.image.bytes);
  std::mt19937 random(1);
  const auto open = [&](const std::string& damaged) {
    const Memory file(damaged.size());
    std::memcpy(file.p, damaged.data(), damaged.size());
    const linnet_view view{file.p, damaged.size()};
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    if (linnet_audio_need(&view, nullptr, &need, &err) != LINNET_OK) return false;
    const Memory memory(need.bytes);
    linnet_audio* a = nullptr;
    return linnet_audio_init(&a, memory.p, need.bytes, &view, nullptr, &err) == LINNET_OK;
  };
  REQUIRE(open(bytes));
  uint32_t refused = 0;
  const size_t header = bytes.size() - audio.desc.weight_bytes;
  for (uint32_t i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    damaged[random() % header] ^= static_cast<char>(1 << random() % 8);
    refused += !open(damaged);
  }
  CHECK(refused > 20);
  for (uint32_t i = 0; i < 60; ++i) CHECK(!open(bytes.substr(0, random() % (bytes.size() - 64))));
}

TEST_CASE("whisper.cpp's files: sizes, ranks as tokens, marks that are not said, and every cut refused") {
  // A vocabulary of Whisper's size, a model of almost none.
  constexpr uint32_t kD = 16, kVocab = 51864, kRanks = 50256, kMels = 80, kAudioRows = 8, kText = 8;
  std::string f;
  const auto word = [&](uint32_t v) { f.append(reinterpret_cast<const char*>(&v), 4); };
  for (const uint32_t v : {0x67676d6cu, kVocab, kAudioRows, kD, 1u, 1u, kText, kD, 1u, 1u, kMels, 1u, kMels, 201u}) word(v);
  f.append(size_t{kMels} * 201 * 4, '\0');
  word(kRanks);
  for (uint32_t i = 0; i < kRanks; ++i) {  // bytes, then words of letters that nothing merges to
    const std::string text = i < 256 ? std::string(1, static_cast<char>(i)) : i == 256 ? " -" : "w" + std::to_string(i);
    word(static_cast<uint32_t>(text.size()));
    f += text;
  }
  const size_t tensors_at = f.size();
  uint32_t seed = 1;
  const auto put = [&](const std::string& name, const std::vector<uint32_t>& shape, bool half) {
    word(static_cast<uint32_t>(shape.size())), word(static_cast<uint32_t>(name.size())), word(half);
    size_t n = 1;
    for (size_t d = shape.size(); d-- > 0;) word(shape[d]), n *= shape[d];
    f += name;
    for (size_t i = 0; i < n; ++i) {
      seed = seed * 1664525 + 1013904223;
      const float v = (static_cast<float>(seed >> 8) / 16777216.0f - 0.5f) / 4;
      const uint16_t h = linnet::f32_to_f16(v);
      f.append(half ? reinterpret_cast<const char*>(&h) : reinterpret_cast<const char*>(&v), half ? 2 : 4);
    }
  };
  for (const std::string part : {"encoder", "decoder"}) {
    const bool encoder = part == "encoder";
    put(part + ".positional_embedding", {encoder ? kAudioRows : kText, kD}, false);
    if (encoder) {
      put("encoder.conv1.weight", {kD, kMels, 3}, true), put("encoder.conv1.bias", {kD, 1}, false);
      put("encoder.conv2.weight", {kD, kD, 3}, true), put("encoder.conv2.bias", {kD, 1}, false);
    }
    for (const std::string of : {"attn", "cross_attn"}) {
      if (encoder && of != "attn") continue;
      const std::string b = part + ".blocks.0." + of;
      for (const char* m : {".query", ".key", ".value", ".out"}) put(b + m + ".weight", {kD, kD}, true);
      for (const char* m : {".query", ".value", ".out"}) put(b + m + ".bias", {kD}, false);
      put(b + "_ln.weight", {kD}, false), put(b + "_ln.bias", {kD}, false);
    }
    const std::string b = part + ".blocks.0.mlp";
    put(b + ".0.weight", {4 * kD, kD}, true), put(b + ".0.bias", {4 * kD}, false);
    put(b + ".2.weight", {kD, 4 * kD}, true), put(b + ".2.bias", {kD}, false);
    put(b + "_ln.weight", {kD}, false), put(b + "_ln.bias", {kD}, false);
    const std::string end = encoder ? "encoder.ln_post" : "decoder.ln";
    put(end + ".weight", {kD}, false), put(end + ".bias", {kD}, false);
  }
  put("decoder.token_embedding.weight", {kVocab, kD}, true);

  const TemporaryFolder tmp;
  const std::string path = tmp.path + "/ggml.bin", cut = tmp.path + "/cut.bin";
  const auto write = [](const std::string& to, std::string_view bytes) {
    std::ofstream(to, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  write(path, f);
  linnet::convert::Options options;
  linnet::convert::Image image;
  linnet_error err{};
  check(linnet::convert::convert_to_memory(path, options, &image, &err), err);
  const linnet_view view = image.view();
  linnet_need need{.size = sizeof need};
  check(linnet_audio_need(&view, nullptr, &need, &err), err);
  const Memory memory(need.bytes);
  linnet_audio* a = nullptr;
  check(linnet_audio_init(&a, memory.p, need.bytes, &view, nullptr, &err), err);
  const linnet::AudioSpec& s = a->spec;
  CHECK((s.end == 50256 && s.start == 50257 && s.no_timestamps == 1 + 50362 && s.first_timestamp == 1 + 50363 && s.no_speech == 1 + 50361));
  CHECK((s.n_languages == 0 && s.d_ff_encoder == 64 && s.n_audio == kAudioRows));
  const auto bit = [](const uint32_t* bits, uint32_t id) { return bits[id / 32] >> (id % 32) & 1; };
  CHECK((bit(a->suppressed, '[') && bit(a->suppressed, 256) && !bit(a->suppressed, 'a')));
  CHECK((bit(a->suppressed_first, ' ') && bit(a->suppressed_first, s.end)));
  const linnet_audio_session_params p{.size = sizeof p};
  check(linnet_audio_session_need(a, &p, &need, &err), err);
  const Memory room(need.bytes);
  linnet_audio_session* session = nullptr;
  check(linnet_audio_session_init(&session, room.p, need.bytes, a, &p, &err), err);
  check(linnet_transcribe(session, sound().data(), sound().size(), nullptr, nullptr, nullptr, nullptr, &err), err);
  linnet_audio_session_fini(session);
  linnet::convert::image_free(&image);
  std::mt19937 random(2);
  for (uint32_t i = 0; i < 24; ++i) {
    write(cut, std::string_view(f).substr(0, i < 12 ? random() % tensors_at : tensors_at + random() % (f.size() - tensors_at - 1)));
    CHECK(linnet::convert::convert_to_memory(cut, options, &image, &err) != LINNET_OK);
    INFO(err.text);
    CHECK(std::string(err.text).find("cut.bin") != std::string::npos);
  }
  for (uint32_t i = 0; i < 60; ++i) {  // what is damaged is refused, or another model
    std::string damaged = f;
    damaged[i < 30 ? random() % 64 : tensors_at + random() % 4000] ^= static_cast<char>(1 << random() % 8);
    write(cut, damaged);
    if (linnet::convert::convert_to_memory(cut, options, &image, &err) == LINNET_OK) linnet::convert::image_free(&image);
  }
}

TEST_CASE("a text's ratio is what zlib makes of it, within a tenth") {
  uint16_t seen[4096];
  const auto ratio = [&](const std::string& t) { return linnet::packed_ratio(t.data(), t.size(), seen); };
  const std::string plain = "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.";
  std::string again;
  for (uint32_t i = 0; i < 10; ++i) again += " and so on";
  CHECK(ratio("") == 0);
  CHECK(ratio(plain) == Approx(107.0 / 79).epsilon(0.1));  // zlib.compress: 79 bytes
  CHECK(ratio(again) == Approx(100.0 / 21).epsilon(0.1));  // 21 bytes
}
