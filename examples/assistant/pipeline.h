// From sound to sound: what is heard is recognised while the user speaks and computed ahead; answers are spoken, until the user speaks
// again.
//   audio thread (whoever calls listen):  source -> voice activity -> recogniser -> partial and final texts
//   model thread (its own):               texts -> conversation -> tools -> synthesiser -> sink; rings timers and alarms
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "audio.h"
#include "conversation.h"
#include "recognizer.h"
#include "synthesizer.h"
#include "tools.h"

namespace assistant {

struct PipelineConfig {
  bool barge_in = true;       // speech ends the answer
  bool early_prefill = true;  // what is recognised so far is computed while the user speaks
};

class Pipeline {
 public:
  using Emit = std::function<void(const json& event)>;  // from both threads, one at a time

  // Recogniser, synthesiser and sink may be NULL: then there is typing, or reading.
  Pipeline(const PipelineConfig& config, Conversation* conversation, Tools* tools, Recognizer* recognizer, Synthesizer* synthesizer,
           AudioSink* sink, Emit emit);
  ~Pipeline() { stop(); }

  void start();  // once the conversation is open
  // Until the source ends, or stop(). in_turn: the source waits for each answer, as a file does that is read faster than it was spoken.
  void listen(AudioSource* source, bool in_turn);
  bool request(const std::string& text);  // typed; false: too many wait. Any thread
  void interrupt();                       // as speech does during an answer. Any thread
  void wait_idle();
  void stop();  // the running answer ends soon
  ToolResult call_tool(std::string_view call);
  bool failed() const { return failed_; }  // something went wrong that an event told

 private:
  struct Request {
    std::string text;
    bool spoken;
    int64_t speech_ns, decided_ns, text_ns;  // the last sample of speech came; its end was decided; its text was there
  };
  struct Utterance;

  void run();
  void turn(const Request& request);
  bool say(const std::string& text, int64_t* first_audio_ns, double* played_s);
  void hear(const std::string& partial);
  void emit(json event);
  void phase(const char* name);
  void trouble(const std::string& why);

  const PipelineConfig config_;
  Conversation* const conversation_;
  Tools* const tools_;
  Recognizer* const recognizer_;
  Synthesizer* const synthesizer_;
  AudioSink* const sink_;
  const Emit emit_;
  const int64_t start_ns_;

  std::thread thread_;
  std::mutex emit_mutex_, mutex_;
  std::condition_variable changed_;
  // Under mutex_:
  std::deque<Request> requests_;
  std::optional<std::string> partial_;
  bool busy_ = false, quit_ = false;
  int64_t interrupted_ns_ = 0;

  std::atomic<bool> interrupt_{false}, stop_{false}, failed_{false};
};

}  // namespace assistant
