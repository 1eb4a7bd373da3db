// A request's answers: one job each, and what writes them in the form of the API that was asked.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "answer_text.h"
#include "fields.h"
#include "http.h"
#include "scheduler.h"

namespace server {

// A model that is served.
struct Served {
  std::string id;
  int64_t created = 0;
  std::shared_ptr<Model> model;
  Scheduler scheduler;
  std::atomic<Clock::time_point> asked = {}, used = {};  // used: when the last one that was at work with it gave it back
};

class Writer;

class Generation : public Job {
 public:
  Generation(std::shared_ptr<Writer> writer, const Model& model, std::vector<std::string> stops)
      : text(model, std::move(stops)), writer_(std::move(writer)) {}
  size_t index = 0;
  AnswerText text;
  std::vector<Drawn> drawn;    // those that were not written yet
  bool drawn_content = false;  // of them only those of the content ...
  size_t n_drawn_content = 0;  // ... which are so many: what comes behind them may not be the content's
  size_t n_reasoning = 0;      // tokens
  End end = End::kFailed;
  Refusal refusal;

  bool on_prompt() override;
  bool on_token(const Drawn& d) override;
  bool grammar_begins() override { return text.reasoned(); }
  void on_end(End how, const Refusal& why) override;

 private:
  friend class Writer;
  std::shared_ptr<Writer> writer_;
};

// Writes the answers of one request; its calls come on the scheduler's thread, one at a time.
class Writer : public std::enable_shared_from_this<Writer> {
 public:
  Writer(std::shared_ptr<Exchange> exchange, std::shared_ptr<Served> served)
      : exchange_(std::move(exchange)), served_(std::move(served)), created_(unix_seconds()) {}
  virtual ~Writer() = default;

  bool streams = false;
  Writer* add(std::shared_ptr<Generation> generation);
  void submit();  // all of them; a refusal is answered

 protected:
  friend class Generation;
  // The answers may begin: of a stream, what comes before the first piece.
  virtual void begun() {}
  virtual void piece(Generation& g, AnswerText::Piece piece, std::string_view text, size_t call) = 0;  // of streams alone
  virtual void ended(Generation& g) = 0;                                                               // of streams alone
  virtual void finished() = 0;                  // all have ended well: what a stream ends with, or the whole answer
  virtual void failed(const Refusal& why) = 0;  // a refusal in the API's form; of a stream that has begun, an event

  void write(std::string_view event);  // of a stream
  void reply(int status, const json& body, Exchange::Headers headers = {});
  void fail(const Refusal& why);
  void begin();

  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<Served> served_;
  const int64_t created_;
  std::vector<std::shared_ptr<Generation>> generations_;
  bool begun_ = false, failed_ = false;

 private:
  void end_of(Generation& g);
  void watch();
  void changed();
  void let_go();
  std::mutex mutex_;  // of generations_, between the scheduler's thread and HTTP's
  size_t n_ended_ = 0;
};

std::string dump(const json& value);  // one line; what is no UTF-8 is replaced
json openai_error(const Refusal& why);
json anthropic_error(const Refusal& why);
void refuse(Exchange* exchange, const Refusal& why, Exchange::Headers headers = {});  // in the form of the API that the path is of
json logprobs_of(const Model& model, const std::vector<Drawn>& drawn);                // as OpenAI's chat has them
// {"prompt_n":...,"prompt_ms":...,...} as llama.cpp has it.
json timings(const Counts& counts);

}  // namespace server
