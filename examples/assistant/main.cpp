// linnet-assistant: a voice assistant without a network.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <new>

#include "config.h"
#include "files.h"
#include "paced.h"
#if LINNET_ASSISTANT_WEB
#include "web.h"
#endif

namespace assistant {
namespace {

enum { kExitOk = 0, kExitFailed = 1, kExitUsage = 2 };

constexpr char kUsage[] =
    "usage: linnet-assistant [--wav IN.wav | --text TEXT...] [--web [PORT]] [options]\n"
    "A voice assistant without a network: it listens, calls tools and speaks. Without --wav and --text it listens to the microphone until "
    "ctrl-C.\n"
    "\n"
    "  --wav FILE          hear this instead of a microphone; each utterance is a request\n"
    "  --text TEXT         a request that was typed; may be given more than once. - reads requests from stdin, one a line\n"
    "  --web [PORT]        show the conversation on a page of 127.0.0.1:PORT (default 8080, 0 = any free), until ctrl-C; requests may be "
    "typed there. The address that is\n"
    "                      printed holds a token, so that no other user of the machine gets at it\n"
    "  --out FILE          speak into this WAV file instead of a loudspeaker\n"
    "  --json              print events, one JSON object a line\n"
    "  --real-time         a WAV file is heard as fast as it was spoken, and answers may be interrupted\n"
    "  --config FILE       settings (default: assistant.yaml as installed)\n"
    "  -m, --model FILE    the model, a packed GGUF\n"
    "  --state FILE        where timers, alarms, lists and the rest are kept; \"\" keeps nothing\n"
    "  --no-early-prefill  compute nothing before the request is complete\n"
    "  --help, --version\n";

struct Options {
  std::string config, wav, out, model, state;
  std::vector<std::string> texts;
  bool has_state = false, has_wav = false, json = false, real_time = false, no_early = false, web = false;
  int port = 8080;
};

int usage(const std::string& why) {
  std::fprintf(stderr, "linnet-assistant: %s\n%s", printable(why).c_str(), kUsage);
  return kExitUsage;
}
int failed(const std::string& why) {
  std::fprintf(stderr, "linnet-assistant: %s\n", printable(why).c_str());
  return kExitFailed;
}

bool parse_port(const char* text, int* port) {
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || n > 65535) return false;
  *port = static_cast<int>(n);
  return true;
}

// -1: go on.
int parse(int argc, char** argv, Options* o) {
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--help" || a == "-h") return std::fputs(kUsage, stdout), std::fflush(stdout) ? kExitFailed : kExitOk;
    if (a == "--version") return std::printf("%s\n", linnet_build_info()), std::fflush(stdout) ? kExitFailed : kExitOk;
    if (a == "--json")
      o->json = true;
    else if (a == "--real-time")
      o->real_time = true;
    else if (a == "--no-early-prefill")
      o->no_early = true;
    else if (a == "--web") {
      o->web = true;
      if (i + 1 < argc && argv[i + 1][0] != '-' && !parse_port(argv[++i], &o->port))
        return usage(std::string("--web: \"") + argv[i] + "\" is no port");
    } else {
      std::string* to = a == "--wav"                  ? &o->wav
                        : a == "--out"                ? &o->out
                        : a == "--config"             ? &o->config
                        : a == "--state"              ? &o->state
                        : a == "-m" || a == "--model" ? &o->model
                                                      : nullptr;
      if (!to && a != "--text") return usage("there is no option " + a);
      if (++i == argc) return usage(a + " needs a value");
      if (a == "--state") o->has_state = true;
      if (a == "--wav") o->has_wav = true;
      if (to)
        *to = argv[i];
      else
        o->texts.emplace_back(argv[i]);
    }
  }
  return o->has_wav && !o->texts.empty() ? usage("give either --wav or --text") : -1;
}

// Where model, tools and settings lie: beside the installed program, else in the source tree.
std::string data_folder() {
  std::error_code ec;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ec);
  const std::filesystem::path installed = self.parent_path().parent_path() / LINNET_ASSISTANT_SHARE;
  if (!ec && std::filesystem::exists(installed / "tools.json", ec)) return installed.string();
  return LINNET_ASSISTANT_SOURCE;
}

std::string default_state() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  if ((!state || !state[0]) && (!home || !home[0])) return "";
  const std::filesystem::path folder =
      state && state[0] ? std::filesystem::path(state) / "linnet" : std::filesystem::path(home) / ".local/state/linnet";
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  return (folder / "assistant.json").string();
}

int64_t wall_ms() {
  timespec t = {};
  clock_gettime(CLOCK_REALTIME, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

// What a person at a terminal sees.
void print(const json& e) {
  const std::string event = e["event"];
  const auto text = [&](const char* key) { return printable(e[key].get<std::string>()); };
  if (event == "user")
    std::printf("> %s\n", text("text").c_str());
  else if (event == "tool")
    std::printf("  %s %s -> %s\n", text("name").c_str(),
                printable(e["arguments"].dump(-1, ' ', false, json::error_handler_t::replace)).c_str(),
                printable(e["result"].dump(-1, ' ', false, json::error_handler_t::replace)).c_str());
  else if (event == "answer" || event == "ring")
    std::printf("%s\n", text("text").c_str());
  else if (event == "interrupted")
    std::printf("  (interrupted)\n");
  else if (event == "error")
    std::fprintf(stderr, "linnet-assistant: %s\n", text("text").c_str());
  else if (event == "latency")
    std::printf("  (%.1f ms to the first token, %d of %d tokens computed before; %.0f tokens/s)\n",
                e["text_to_first_token_ms"].get<double>(), e["prefilled_early_tokens"].get<int>(), e["prompt_tokens"].get<int>(),
                e["tokens_per_s"].get<double>());
  std::fflush(stdout);
}

std::atomic<int> g_end{0};  // the signal
int g_pipe[2] = {-1, -1};   // a byte for it, so that one that comes just before a wait for input ends it too
void on_signal(int signal) {
  const int e = errno;
  g_end = signal;
  [[maybe_unused]] const ssize_t told = write(g_pipe[1], "", 1);
  errno = e;
}

// A microphone until ctrl-C.
struct UntilEnd : AudioSource {
  explicit UntilEnd(AudioSource* source) : from(source) {}
  size_t read(int16_t* samples, size_t n) override { return g_end ? 0 : from->read(samples, n); }
  AudioSource* const from;
};

bool read_line(std::string* line) {
  line->clear();
  for (char c;;) {  // byte by byte: people type
    pollfd wait[] = {{STDIN_FILENO, POLLIN, 0}, {g_pipe[0], POLLIN, 0}};
    if (poll(wait, 2, -1) < 0 && errno != EINTR) return false;
    if (g_end) return false;
    if (wait[0].revents == 0) continue;
    if (read(STDIN_FILENO, &c, 1) <= 0) return !line->empty();
    if (c == '\n') return true;
    if (line->size() <= 2000) line->push_back(c);
  }
}

int run(const Options& o) {
  Config config;
  std::string why, note;
  const std::string data = data_folder();
  config.conversation.model = data + "/model/linnet-assistant.gguf";
  config.conversation.tools = data + "/tools.json";
  config.tools.state = o.has_state ? "" : default_state();
  std::error_code ec;
  if (std::filesystem::exists(data + "/language/assistant.lm.bin", ec)) {
    config.recognizer.language = data + "/language/assistant.lm.bin";
    config.recognizer.dictionary = data + "/language/assistant.dict";
  }
  const std::string settings = o.config.empty() ? data + "/assistant.yaml" : o.config;
  if (!read_config(settings, &config, &why)) return failed(why);
  if (!o.model.empty()) config.conversation.model = o.model;
  if (o.has_state) config.tools.state = o.state;
  if (o.no_early) config.pipeline.early_prefill = false;

  Tools tools;
  if (!tools.open(config.tools, wall_ms, &note, &why)) return failed(why);
  if (!note.empty()) std::fprintf(stderr, "linnet-assistant: %s\n", printable(note).c_str());
  if (pipe2(g_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return failed("no pipe");
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one ends the program as usual
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
#if LINNET_ASSISTANT_WEB
  Web web;
#else
  if (o.web) return failed("--web: this linnet-assistant was built without the page (libmicrohttpd)");
#endif
  // Ears and mouth: files, or microphone and loudspeaker.
  const bool live = !o.has_wav && o.texts.empty();
  WavReader wav;
  WavSink out;
  std::unique_ptr<AudioSource> microphone;
  std::unique_ptr<AudioSink> speaker;
  if (o.has_wav && !wav.open(o.wav.c_str(), &why)) return failed(why);
  if (live && !(microphone = open_microphone(config.microphone, &why))) {
    if (!o.web) return failed(why);
    std::fprintf(stderr, "linnet-assistant: %s; requests can be typed on the page\n", printable(why).c_str());
  }
  if (live && o.out.empty() && !(speaker = open_speaker(config.speaker, &why))) {
    if (!o.web) return failed(why);
    std::fprintf(stderr, "linnet-assistant: %s; answers can be read on the page\n", printable(why).c_str());
  }
  std::unique_ptr<Recognizer> recognizer;
  if ((o.has_wav || microphone) && !(recognizer = make_recognizer(config.recognizer, &why))) return failed(why);
  PacedSource paced_in(&wav);
  PacedSink paced_out(&out);
  AudioSink* sink = o.out.empty() ? speaker.get() : o.real_time ? static_cast<AudioSink*>(&paced_out) : &out;
  std::unique_ptr<Synthesizer> synthesizer;
  if (sink && !(synthesizer = make_synthesizer(config.synthesizer, &why))) return failed(why);

  Conversation conversation;
  const auto emit = [&](const json& e) {
    const std::string line = e.dump(-1, ' ', false, json::error_handler_t::replace);
    if (o.json)
      std::printf("%s\n", line.c_str()), std::fflush(stdout);
    else
      print(e);
#if LINNET_ASSISTANT_WEB
    web.publish(line);
#endif
  };
  Pipeline pipeline(config.pipeline, &conversation, &tools, recognizer.get(), synthesizer.get(), sink, emit);
  if (!conversation.open(config.conversation, [&](std::string_view call) { return pipeline.call_tool(call); }, &why)) return failed(why);
#if LINNET_ASSISTANT_WEB
  web.on_request([&](const std::string& text) { return pipeline.request(text); });
  if (o.web && !web.start(o.port, &why)) return failed(why);
  if (o.web) std::fprintf(stderr, "%s\n", web.address().c_str());
#endif
  pipeline.start();
  for (const std::string& text : o.texts) {
    std::string line = text;
    while (!g_end && (text != "-" || read_line(&line))) {
      if (!line.empty()) pipeline.request(line);
      pipeline.wait_idle();
      if (text != "-") break;
    }
  }
  AudioSource* source = o.has_wav ? o.real_time ? static_cast<AudioSource*>(&paced_in) : &wav : microphone.get();
  if (source) {
    UntilEnd until_end(source);
    pipeline.listen(&until_end, o.has_wav && !o.real_time);
    pipeline.wait_idle();
  }
  const bool cut_short = o.has_wav && !wav.error().empty();
  if (cut_short) failed(wav.error());
  while (o.web && !g_end) poll(nullptr, 0, 200);
#if LINNET_ASSISTANT_WEB
  web.stop();
#endif
  pipeline.stop();
  if (live || o.web) g_end = 0;  // it is how to end it
  if (!o.out.empty() && !out.save(o.out.c_str(), &why)) return failed(why);
  return pipeline.failed() || cut_short ? kExitFailed : kExitOk;
}

// Needs no memory itself.
int out_of_memory() {
  static constexpr char kText[] = "linnet-assistant: out of memory\n";
  return write(STDERR_FILENO, kText, sizeof kText - 1) < 0 ? kExitFailed : kExitFailed;
}

// In the model's thread, and where nothing can be thrown any more.
[[noreturn]] void end_of_memory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    _exit(out_of_memory());
  } catch (...) {
  }
  std::abort();
}

}  // namespace
}  // namespace assistant

int main(int argc, char** argv) {
  std::set_terminate(assistant::end_of_memory);
  try {
    assistant::Options options;
    const int done = assistant::parse(argc, argv, &options);
    const int code = done >= 0 ? done : assistant::run(options);
    if (const int signal = assistant::g_end) {  // requests of a script were cut short, which its shell wants to know
      std::signal(signal, SIG_DFL);
      std::raise(signal);
    }
    return code;
  } catch (const std::bad_alloc&) {
    return assistant::out_of_memory();
  } catch (const std::exception& e) {  // a thread that cannot be made
    return assistant::failed(std::string("cannot go on: ") + e.what());
  }
}
