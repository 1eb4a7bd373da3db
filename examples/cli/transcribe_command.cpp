// linnet transcribe: speech as text.
#include <cmath>
#include <cstring>

#include "../sound/wav.h"
#include "cli.h"

namespace linnet::cli {
namespace {

constexpr int kMostMinutes = 24 * 60;

enum Form : uint32_t { kLines, kTimes, kSrt, kVtt };

// Sound of a file, or of what comes on stdin.
bool read_sound(const Args& args, const std::string& path, std::vector<float>* out) {
  assistant::WavReader reader(kMostMinutes);
  std::string bytes, why;
  bool ok = false;
  if (path == "-") {
    if (!read_stdin(&bytes)) return failed(args, "stdin could not be read"), false;
    ok = reader.open(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "stdin", &why);
  } else {
    ok = reader.open(path.c_str(), &why);
  }
  int16_t block[4096];
  for (size_t n; ok && (n = reader.read(block, std::size(block))) != 0;)
    for (size_t i = 0; i < n; ++i) out->push_back(static_cast<float>(block[i]) / 32768);
  if (ok && !reader.error().empty()) ok = false, why = reader.error();
  return ok || (failed(args, "%s", why.c_str()), false);
}

// 00:01:02.345
std::string time_text(uint64_t sample, char point, bool hours) {
  const uint64_t ms = sample / 16;
  char text[40];
  if (hours || ms >= 3600000)
    std::snprintf(text, sizeof text, "%02u:%02u:%02u%c%03u", static_cast<unsigned>(ms / 3600000), static_cast<unsigned>(ms / 60000 % 60),
                  static_cast<unsigned>(ms / 1000 % 60), point, static_cast<unsigned>(ms % 1000));
  else
    std::snprintf(text, sizeof text, "%02u:%02u%c%03u", static_cast<unsigned>(ms / 60000), static_cast<unsigned>(ms / 1000 % 60), point,
                  static_cast<unsigned>(ms % 1000));
  return text;
}

struct Output {
  Form form;
  bool json;
  Json segments;
  std::string text;
  uint32_t n = 0;

  void add(const linnet_segment& s) {
    const std::string words(s.text, s.n_bytes);
    ++n;
    if (json) {
      text += (text.empty() ? "" : " ") + words;
      segments.object().field("start", seconds(s.first_sample)).field("end", seconds(s.end_sample)).field("text", words);
      segments.field("confidence", rounded(s.confidence))
          .field("avg_logprob", rounded(s.logprob))
          .field("no_speech_prob", rounded(s.no_speech));
      segments.field("compression_ratio", rounded(s.compression_ratio)).field("temperature", rounded(s.temperature)).key("words").array();
      for (uint32_t i = 0; i < s.n_words; ++i)
        segments.object()
            .field("word", words.substr(s.words[i].from, s.words[i].n_bytes))
            .field("confidence", rounded(s.words[i].confidence))
            .end();
      segments.end().key("tokens").value(std::vector<int32_t>(s.tokens, s.tokens + s.n_tokens)).end();
      return;
    }
    const char point = form == kSrt ? ',' : '.';
    const std::string from = time_text(s.first_sample, point, form == kSrt), to = time_text(s.end_sample, point, form == kSrt);
    if (form == kTimes) std::printf("[%s --> %s]  ", from.c_str(), to.c_str());
    if (form == kSrt) std::printf("%u\n", n);
    if (form >= kSrt) std::printf("%s --> %s\n", from.c_str(), to.c_str());
    std::printf("%s\n%s", words.c_str(), form >= kSrt ? "\n" : "");
    std::fflush(stdout);
  }
  static double seconds(uint64_t sample) { return static_cast<double>(sample / 16) / 1000; }
  static double rounded(float x) { return std::round(static_cast<double>(x) * 1e4) / 1e4; }
};

bool read_hot_words(const Args& args, std::vector<std::string>* texts, std::vector<linnet_hot_word>* out) {
  *texts = args.texts("--hot-word");
  std::vector<float> biases(texts->size(), 3.0f);
  for (size_t i = 0; i < texts->size(); ++i) {
    std::string& text = (*texts)[i];
    const size_t at = text.rfind(':');
    double bias = 0;
    if (at == std::string::npos) continue;
    if (!parse_real(text.substr(at + 1), &bias) || !(std::abs(bias) <= 100))
      return usage_error(args, "option '--hot-word' takes a word, or WORD:BIAS with a number within 100, not '%s'", text.c_str()), false;
    biases[i] = static_cast<float>(bias);
    text.resize(at);
  }
  for (size_t i = 0; i < texts->size(); ++i)
    out->push_back({.size = sizeof(linnet_hot_word), .bias = biases[i], .text = (*texts)[i].c_str(), .n_bytes = (*texts)[i].size()});
  return true;
}

int run(const Args& args) {
  std::vector<std::string> words;
  std::vector<linnet_hot_word> hot;
  if (!read_hot_words(args, &words, &hot)) return kExitUsage;
  if (args.choice("--cuda") == LINNET_CUDA_ON) return failed(args, "--cuda on: sound is heard on the CPU");
  const std::string path = args.text("-m"), language = args.text("--language"), prompt = args.text("--prompt");
  linnet_transcribe_params p = {.size = sizeof p};
  if (language.size() >= sizeof p.language) return usage_error(args, "option '--language' takes a code as en, not '%s'", language.c_str());
  std::memcpy(p.language, language.data(), language.size());
  p.task = args.flag("--translate") ? LINNET_AUDIO_TRANSLATE : LINNET_AUDIO_TRANSCRIBE;
  p.timestamps = args.flag("--no-timestamps") ? LINNET_SWITCH_OFF : LINNET_SWITCH_DEFAULT;
  p.previous = args.flag("--no-previous") ? LINNET_SWITCH_OFF : LINNET_SWITCH_DEFAULT;
  p.short_windows = args.flag("--short-windows") ? LINNET_SWITCH_ON : LINNET_SWITCH_OFF;
  p.seed = args.count("--seed");
  p.prompt = prompt.data(), p.n_prompt = prompt.size();
  p.hot_words = hot.data(), p.n_hot_words = static_cast<uint32_t>(hot.size());
  const float zero = 0;
  if (args.flag("--no-fallback")) p.temperatures = &zero, p.n_temperatures = 1;

  Settings settings;
  std::vector<float> sound;
  if (!read_settings(args, &settings) || !read_sound(args, args.positional()[0], &sound)) return kExitError;
  linnet_error err = {};
  convert::Loaded loaded;
  convert::Options options;
  options.weights = settings.weights;
  options.n_threads = settings.session.n_threads;
  std::vector<std::string> notes;
  options.notes = &notes;
  const double begin = seconds_now();
  if (convert::load(path, settings.load, options, &loaded, &err) != LINNET_OK) return failed(args, err);
  for (const std::string& note : notes) say(args, Log::kNote, "%s", note.c_str());
  linnet_need need = {.size = sizeof need};
  Memory model_memory, session_memory;
  linnet_audio* audio = nullptr;
  linnet_audio_session* session = nullptr;
  const auto ends = [&](int code) {
    linnet_audio_session_fini(session);
    convert::unload(&loaded);
    return code;
  };
  if (linnet_audio_need(&loaded.file, &settings.profile, &need, &err) != LINNET_OK) return failed(args, path, err), ends(kExitError);
  if (!model_memory.alloc(need.bytes)) return failed(args, "no memory for the model's %zu bytes", need.bytes), ends(kExitError);
  if (linnet_audio_init(&audio, model_memory.data, model_memory.bytes, &loaded.file, &settings.profile, &err) != LINNET_OK)
    return failed(args, path, err), ends(kExitError);
  const linnet_audio_session_params sp = {.size = sizeof sp,
                                          .n_threads = usable_threads(args, settings.session.n_threads),
                                          .threads = 0,
                                          .n_beams = static_cast<uint32_t>(args.count("--beams")),
                                          .k_format = settings.session.k_format,
                                          .v_format = settings.session.v_format};
  if (linnet_audio_session_need(audio, &sp, &need, &err) != LINNET_OK) return failed(args, err), ends(kExitError);
  if (!session_memory.alloc(need.bytes)) return failed(args, "no memory for the session's %zu bytes", need.bytes), ends(kExitError);
  if (linnet_audio_session_init(&session, session_memory.data, session_memory.bytes, audio, &sp, &err) != LINNET_OK)
    return session = nullptr, failed(args, err), ends(kExitError);
  const double loaded_at = seconds_now();

  Output output = {.form = static_cast<Form>(args.choice("--format")), .json = args.json(), .segments = {}, .text = {}, .n = 0};
  if (output.json) output.segments.array();
  if (!output.json && output.form == kVtt) std::printf("WEBVTT\n\n");
  linnet_transcribed done = {.size = sizeof done};
  const linnet_status status = linnet_transcribe(
      session, sound.data(), sound.size(), &p,
      [](void* to, const linnet_segment* s) {
        static_cast<Output*>(to)->add(*s);
        return 0;
      },
      &output, &done, &err);
  if (status != LINNET_OK) return failed(args, err), ends(kExitError);
  const double took = seconds_now() - loaded_at, length = static_cast<double>(sound.size()) / assistant::kRate;
  say(args, Log::kInfo, "%.1f s of sound in %.3f s (%.1f times its speed), %u windows, %llu tokens; ready after %.3f s", length, took,
      length / (took > 0 ? took : 1), done.n_windows, static_cast<unsigned long long>(done.n_tokens), loaded_at - begin);
  if (output.json) {
    output.segments.end();
    Json json;
    json.object().field("text", output.text).field("language", static_cast<const char*>(done.language)).field("duration", length);
    json.key("segments").raw(output.segments.text());
    json.field("windows", done.n_windows).field("failed_windows", done.n_failed).field("n_tokens", done.n_tokens).field("seconds", took);
    json.field("arena_bytes", static_cast<uint64_t>(model_memory.bytes + session_memory.bytes)).end().print();
  }
  return ends(kExitOk);
}

}  // namespace

Command transcribe_command() {
  return {
      "transcribe",
      "print what is said in a sound file (Whisper, Moonshine)",
      "FILE.wav",
      1,
      1,
      "FILE is a WAV file of any rate, - for stdin. The model is a packed file, a Hugging Face folder or CTranslate2's. With --json "
      "{\"text\",\n\"language\", \"duration\", \"segments\": [{\"start\", \"end\", \"text\", \"confidence\", \"words\", ...}], ...}.\n\n"
      "example: linnet transcribe -m whisper-tiny.en.gguf speech.wav --format srt",
      join({model_option(),
            {"--format", "HOW", Kind::kTranscript, "what is printed: {}", "text"},
            {"--language", "CODE", Kind::kText, "what is spoken, en, de, ... (default: found out)"},
            {"--translate", nullptr, Kind::kFlag, "into English, with models that can"},
            {"--beams", "N", Kind::kCount, "texts that are followed at a time; 1 is fastest", "5", 1, 16},
            {"--hot-word", "WORD[:BIAS]", Kind::kTexts, "a word or several that are likely (BIAS 3); may be given several times"},
            {"--prompt", "TEXT", Kind::kText, "text as if it had been said before"},
            {"--no-timestamps", nullptr, Kind::kFlag, "a segment a window"},
            {"--no-previous", nullptr, Kind::kFlag, "windows do not see the text before them"},
            {"--no-fallback", nullptr, Kind::kFlag, "take the first text of a window, whatever the checks say"},
            {"--short-windows", nullptr, Kind::kFlag, "hear the last window as long as it is, not 30 s: faster, and a little worse"},
            {"--seed", "N", Kind::kCount, "of texts that are drawn where a check fails", "0", 0, uint64_t{UINT64_MAX}},
            {"--kv", "FMT", Kind::kKv, "what attention looks at: {}", "i8"}},
           engine_options()),
      run};
}

}  // namespace linnet::cli
