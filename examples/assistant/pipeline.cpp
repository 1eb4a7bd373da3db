#include "pipeline.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "voice_activity.h"

namespace assistant {
namespace {

constexpr size_t kFrame = kRate / 100;                   // samples of 10 ms
constexpr size_t kBefore = VoiceActivity::kLeadMs / 10;  // frames before the decision that somebody speaks: the first sound is in them
constexpr size_t kPartialEvery = 15;                     // frames between two looks at what has been recognised
constexpr size_t kMaxUtterance = 20 * 100;               // frames; what goes on is no request
constexpr size_t kMaxRequests = 8;
constexpr double kCharactersPerSecond = 14;  // of speech: how much of an answer was heard when it was cut off

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }
double ms(int64_t ns) { return static_cast<double>(ns / 1000) / 1000; }

int64_t rss_bytes() {
  long total = 0, resident = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &total, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return static_cast<int64_t>(resident) * sysconf(_SC_PAGESIZE);
}

// The whole words of a text that were played in this time.
std::string words_heard(const std::string& text, double seconds) {
  const double n = seconds * kCharactersPerSecond;
  if (n >= static_cast<double>(text.size())) return text;
  const size_t end = text.rfind(' ', static_cast<size_t>(n));
  return end == std::string::npos ? "" : text.substr(0, end);
}

}  // namespace

Pipeline::Pipeline(const PipelineConfig& config, Conversation* conversation, Tools* tools, Recognizer* recognizer, Synthesizer* synthesizer,
                   AudioSink* sink, Emit emit)
    : config_(config),
      conversation_(conversation),
      tools_(tools),
      recognizer_(recognizer),
      synthesizer_(synthesizer),
      sink_(sink),
      emit_(std::move(emit)),
      start_ns_(now_ns()) {}

void Pipeline::emit(json event) {
  const std::lock_guard lock(emit_mutex_);
  event["t_ms"] = ms(now_ns() - start_ns_);
  emit_(event);
}
void Pipeline::phase(const char* name) { emit({{"event", "phase"}, {"phase", name}}); }
void Pipeline::trouble(const std::string& why) {
  failed_ = true;
  emit({{"event", "error"}, {"text", why}});
}

void Pipeline::start() {
  emit(tools_->event());
  phase("listening");
  thread_ = std::thread([this] { run(); });
}

void Pipeline::stop() {
  stop_ = true;
  interrupt();
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    requests_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Pipeline::interrupt() {
  const std::lock_guard lock(mutex_);
  if (!busy_ || interrupt_) return;
  interrupted_ns_ = now_ns();
  interrupt_ = true;
  conversation_->cancel();
  if (sink_) sink_->stop();
}

bool Pipeline::request(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (quit_ || requests_.size() >= kMaxRequests) return false;
    const int64_t now = now_ns();
    requests_.push_back({text, false, now, now, now});
  }
  changed_.notify_all();
  return true;
}

void Pipeline::wait_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return quit_ || (requests_.empty() && !busy_); });
}

ToolResult Pipeline::call_tool(std::string_view call) {
  json parsed;
  const ToolResult result = tools_->call(call, &parsed);
  if (parsed.is_object())
    emit({{"event", "tool"},
          {"name", parsed.value("name", "")},
          {"arguments", parsed.value("arguments", json::object())},
          {"result", json::parse(result.json, nullptr, false)}});
  emit(tools_->event());
  return result;
}

// ---- the audio thread --------------------------------------------------------------------------------------------------------------

struct Pipeline::Utterance {
  std::deque<std::vector<int16_t>> before;
  bool on = false, deaf = false;  // deaf: until this noise ends
  size_t frames = 0;
  std::string partial;
};

void Pipeline::hear(const std::string& partial) {
  emit({{"event", "partial"}, {"text", partial}});
  if (!config_.early_prefill) return;
  {
    const std::lock_guard lock(mutex_);
    partial_ = partial;
  }
  changed_.notify_all();
}

void Pipeline::listen(AudioSource* source, bool in_turn) {
  VoiceActivity activity;
  Utterance u;
  std::string why;
  int16_t frame[kFrame];
  bool end_of_source = false;
  const auto begin = [&] {
    if (config_.barge_in) interrupt();
    phase("hearing");
    u.partial.clear();
    u.frames = 0;
    u.on = recognizer_->start(&why);
    for (const auto& f : u.before) u.on = u.on && recognizer_->feed(f.data(), f.size(), &why);
    u.before.clear();
    u.deaf = !u.on;
    if (!u.on) trouble(why);
  };
  const auto finish = [&](int64_t silence_ns) {
    const int64_t decided = now_ns();
    std::string text;
    u.on = false;
    if (!recognizer_->finish(&text, &why)) return trouble(why);
    if (text.empty()) return phase("listening");
    {
      const std::lock_guard lock(mutex_);
      partial_.reset();
      if (requests_.size() < kMaxRequests) requests_.push_back({text, true, decided - silence_ns, decided, now_ns()});
    }
    changed_.notify_all();
    if (in_turn) wait_idle();
  };
  while (!stop_ && !end_of_source) {
    size_t n = 0;
    while (n < kFrame && !end_of_source) {
      const size_t got = source->read(frame + n, kFrame - n);
      end_of_source = got == 0;
      n += got;
    }
    if (n == 0) break;
    std::fill(frame + n, frame + kFrame, int16_t{0});
    const VoiceActivity::Event event = activity.feed(frame);
    if (event == VoiceActivity::Event::end) u.deaf = false;
    if (u.on) {
      if (!recognizer_->feed(frame, kFrame, &why))
        u.on = false, u.deaf = true, trouble(why);
      else if (event == VoiceActivity::Event::end)
        finish(int64_t{VoiceActivity::kHangoverMs} * 1000000);
      else if (++u.frames >= kMaxUtterance)
        u.deaf = true, finish(0);
      else if (u.frames % kPartialEvery == 0)
        if (std::string text = recognizer_->partial(); text != u.partial) hear(u.partial = std::move(text));
    } else if (!u.deaf) {
      u.before.emplace_back(frame, frame + kFrame);
      if (u.before.size() > kBefore) u.before.pop_front();
      if (event == VoiceActivity::Event::start) begin();
    }
  }
  if (u.on) finish(0);
}

// ---- the model thread --------------------------------------------------------------------------------------------------------------

void Pipeline::run() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    if (!requests_.empty()) {
      const Request request = std::move(requests_.front());
      requests_.pop_front();
      busy_ = true;
      interrupt_ = false;
      conversation_->ready();  // an interruption from here on is of this turn
      lock.unlock();
      turn(request);
      lock.lock();
      busy_ = false;
      changed_.notify_all();
      continue;
    }
    if (partial_) {
      const std::string partial = std::move(*partial_);
      partial_.reset();
      lock.unlock();
      std::string why;
      if (!conversation_->hear(partial, &why)) emit({{"event", "error"}, {"text", why}});
      lock.lock();
      continue;
    }
    const int64_t wait_ms = tools_->next_ring_ms() - tools_->now_ms();
    if (wait_ms <= 0) {
      busy_ = true;
      interrupt_ = false;
      lock.unlock();
      while (const std::optional<Tools::Ring> ring = tools_->ring()) {
        emit({{"event", "ring"}, {"kind", ring->kind}, {"name", ring->name}, {"text", ring->text}});
        emit(tools_->event());
        int64_t first = 0;
        double played = 0;
        say(ring->text, &first, &played);
        phase("listening");
      }
      lock.lock();
      busy_ = false;
      changed_.notify_all();
      continue;
    }
    changed_.wait_for(lock, std::chrono::milliseconds(std::min<int64_t>(wait_ms, 10000)));  // clocks are set, and machines sleep
  }
}

// False: interrupted.
bool Pipeline::say(const std::string& text, int64_t* first_audio_ns, double* played_s) {
  if (!synthesizer_ || !sink_) return true;
  const auto out = [&](const int16_t* samples, size_t n, int rate) {
    if (n == 0) return !interrupt_;
    if (rate <= 0) return false;
    const size_t slice = static_cast<size_t>(std::max(rate / 50, 1));  // 20 ms: so soon an interruption is noticed
    for (size_t at = 0; at < n; at += slice) {
      if (interrupt_) return false;
      const size_t now = std::min(slice, n - at);
      if (!*first_audio_ns) *first_audio_ns = now_ns(), phase("speaking");
      if (!sink_->write(samples + at, now, rate)) return false;
      *played_s += static_cast<double>(now) / rate;
    }
    return true;
  };
  std::string why;
  if (!synthesizer_->speak(text, out, &why) && !interrupt_) trouble(why);
  return !interrupt_;
}

void Pipeline::turn(const Request& request) {
  emit({{"event", "user"}, {"text", request.text}, {"source", request.spoken ? "voice" : "typed"}});
  phase("thinking");
  const int64_t begin = now_ns();
  Reply reply;
  std::string why;
  int64_t first_audio = 0;
  double played = 0;
  const bool ok =
      conversation_->answer(request.text, [this](std::string_view text) { emit({{"event", "token"}, {"text", text}}); }, &reply, &why);
  if (!ok) trouble(why), reply.text = "Sorry, that did not work.";
  if (!reply.cancelled) emit({{"event", "answer"}, {"text", reply.text}});
  const bool whole = !reply.cancelled && say(reply.text, &first_audio, &played);
  if (ok && !reply.cancelled && !whole) conversation_->heard(words_heard(reply.text, played));
  if (!whole) {
    int64_t interrupted = 0;
    {
      const std::lock_guard lock(mutex_);
      interrupted = interrupted_ns_;
    }
    const int64_t now = now_ns();
    emit({{"event", "interrupted"},
          {"after_ms", ms(interrupted - begin)},
          {"silent_after_ms", ms(now - interrupted)},
          {"heard", reply.cancelled ? "" : words_heard(reply.text, played)}});
  }
  if (ok && reply.first_token_ns) {
    // Four clocks begin one after another: the last sample of speech came; its end was decided; its text was there; the model got it.
    const int64_t first = begin + reply.first_token_ns;
    json latency = {{"event", "latency"},
                    {"end_of_speech_to_first_token_ms", ms(first - request.speech_ns)},
                    {"decision_to_first_token_ms", ms(first - request.decided_ns)},
                    {"text_to_first_token_ms", ms(first - request.text_ns)}};
    if (first_audio) {
      latency["end_of_speech_to_first_audio_ms"] = ms(first_audio - request.speech_ns);
      latency["decision_to_first_audio_ms"] = ms(first_audio - request.decided_ns);
      latency["text_to_first_audio_ms"] = ms(first_audio - request.text_ns);
    }
    latency["recognizer_ms"] = ms(request.text_ns - request.decided_ns);
    latency["prefilled_early_tokens"] = reply.early_tokens;
    latency["prompt_tokens"] = reply.prompt_tokens;
    latency["tokens_per_s"] = reply.tokens_per_s;
    latency["rss_bytes"] = rss_bytes();
    emit(latency);
  }
  emit({{"event", "stats"},
        {"arena_bytes", conversation_->arena_bytes()},
        {"rss_bytes", rss_bytes()},
        {"tokens_per_s", reply.tokens_per_s},
        {"context_used", conversation_->context_used()},
        {"context", conversation_->context()}});
  if (config_.early_prefill && !conversation_->hear("", &why)) trouble(why);
  phase("listening");
}

}  // namespace assistant
