// The server: models, routes, and threads that make jobs of requests.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fields.h"
#include "generation.h"
#include "http.h"
#include "served_models.h"

namespace server {

struct Settings {
  HttpOptions http;
  ModelsOptions models;
  std::string disk_folder;  // of the disk cache; "" = none
  uint64_t disk_bytes = uint64_t{4096} << 20;
  double temperature = 1;     // of requests that say none: OpenAI's
  bool states = false;        // /v1/state is there
  bool fair_by_user = false;  // "user" of a request tells who asks, beside its key
};

class Service {
 public:
  Service() = default;
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  bool start(const Settings& settings, std::string* why);
  // Takes no new requests, waits so long for those that are there, then ends them.
  void stop(std::chrono::milliseconds wait);
  int port() const { return http_.port(); }
  const Settings& settings() const { return settings_; }
  const Models& models() const { return models_; }

  // Of the request's "model", loaded; NULL where there is none of that name, or no room for it.
  std::shared_ptr<Served> find(Fields* fields, const char* name = "model");
  std::shared_ptr<Served> find(const std::string& name, Refusal* why) { return models_.get(name, why); }
  // What all requests that generate have in common: who asks, how long, how tokens are drawn, what they may be.
  // lengths: what the API calls how many tokens are drawn at most.
  bool read_job(Fields* fields, Exchange& exchange, const Served& served, Generation* out,
                std::initializer_list<const char*> lengths = {"max_tokens", "max_completion_tokens", "n_predict"});

 private:
  friend struct Routes;
  void work(std::deque<std::shared_ptr<Exchange>>* from);
  void answer(const std::shared_ptr<Exchange>& exchange);
  std::string metrics() const;
  std::string metrics_of(const std::vector<Models::Known>& all) const;

  Settings settings_;
  Models models_;
  Http http_;
  Clock::time_point began_ = Clock::now();

  std::mutex mutex_;  // of what follows
  std::condition_variable come_;
  std::deque<std::shared_ptr<Exchange>> requests_,
      looks_;  // looks_: of what is asked for by GET, which nothing that takes time may hold up
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

// One function an endpoint; body: a JSON object. What is wrong is answered in the API's form.
void openai_chat(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
void openai_completions(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
void openai_responses(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
void openai_embeddings(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
void anthropic_messages(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
void anthropic_count_tokens(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
// Text, token ids, or an array of these.
bool read_prompts(Fields* fields, const Model& model, std::vector<std::vector<int32_t>>* out);
void state_export(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
void state_import(Service* service, const std::shared_ptr<Exchange>& exchange);
void tokenize(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
void detokenize(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);
void apply_template(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body);

}  // namespace server
