// OpenAI's chat completions and completions, with llama.cpp's further fields.
#include <algorithm>
#include <cmath>

#include "chat_request.h"
#include "service.h"

namespace server {
namespace {

constexpr int64_t kMaxAnswers = 128, kMaxTopLogprobs = 20;

const char* reason(const Generation& g, bool calls) {
  if (g.end == End::kLength) return "length";
  return calls ? "tool_calls" : "stop";
}

json usage_of(const std::vector<std::shared_ptr<Generation>>& all, size_t n_prompts) {
  size_t prompt = 0, cached = 0, drawn = 0, reasoning = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % (all.size() / n_prompts) == 0) prompt += all[i]->counts.n_prompt, cached += all[i]->counts.n_cached;
    drawn += all[i]->counts.n_drawn;
    reasoning += all[i]->n_reasoning;
  }
  return {{"prompt_tokens", prompt},
          {"completion_tokens", drawn},
          {"total_tokens", prompt + drawn},
          {"prompt_tokens_details", {{"cached_tokens", cached}}},
          {"completion_tokens_details", {{"reasoning_tokens", reasoning}}}};
}

class OpenAiWriter : public Writer {
 public:
  using Writer::Writer;
  bool with_usage = false, with_logprobs = false;
  std::string id;

 protected:
  virtual const char* chunk_object() const = 0;
  json head(const char* object) const {
    return {{"id", id}, {"object", object}, {"created", created_}, {"model", served_->id}, {"system_fingerprint", "linnet"}};
  }
  void send(const json& event) { write("data: " + dump(event) + "\n\n"); }
  void chunk(json choice) {
    json event = head(chunk_object());
    event["choices"] = json::array({std::move(choice)});
    if (with_usage) event["usage"] = nullptr;
    send(event);
  }
  void finish_stream(size_t n_prompts) {
    if (with_usage) {
      json event = head(chunk_object());
      event["choices"] = json::array();
      event["usage"] = usage_of(generations_, n_prompts);
      event["timings"] = timings(generations_.front()->counts);
      send(event);
    }
    write("data: [DONE]\n\n");
    exchange_->end();
  }
  void failed(const Refusal& why) override {
    if (!begun_ || !streams) return refuse(exchange_.get(), why);
    send(openai_error(why));
    exchange_->end();
  }
};

// ---- chat
// --------------------------------------------------------------------------------------------------------------------------------

class ChatWriter final : public OpenAiWriter {
 public:
  using OpenAiWriter::OpenAiWriter;

 private:
  const char* chunk_object() const override { return "chat.completion.chunk"; }

  json choice(Generation& g, json delta, json finish) {
    json out = {{"index", g.index}, {"delta", std::move(delta)}, {"logprobs", nullptr}, {"finish_reason", std::move(finish)}};
    if (with_logprobs && !g.drawn.empty()) {
      out["logprobs"] = {{"content", logprobs_of(*served_->model, g.drawn)}, {"refusal", nullptr}};
      g.drawn.clear();
    }
    return out;
  }

  void begun() override {
    for (const auto& g : generations_) chunk(choice(*g, {{"role", "assistant"}, {"content", nullptr}}, nullptr));
  }

  void piece(Generation& g, AnswerText::Piece piece, std::string_view text, size_t call) override {
    json delta;
    switch (piece) {
      case AnswerText::Piece::kReasoning:
        delta["reasoning_content"] = text;
        break;
      case AnswerText::Piece::kContent:
        delta["content"] = text;
        break;
      case AnswerText::Piece::kCall:
        delta["tool_calls"] = json::array(
            {{{"index", call}, {"id", id_of(g, call)}, {"type", "function"}, {"function", {{"name", text}, {"arguments", ""}}}}});
        break;
      case AnswerText::Piece::kArguments:
        delta["tool_calls"] = json::array({{{"index", call}, {"function", {{"arguments", text}}}}});
        break;
      case AnswerText::Piece::kCallEnd:
        return;
    }
    chunk(choice(g, std::move(delta), nullptr));
  }

  // The model's own where it has given one in time.
  std::string id_of(const Generation& g, size_t call) const {
    const std::string& own = g.text.calls()[call].id;
    return !own.empty() ? own : "call_" + id.substr(id.find('-') + 1) + "_" + std::to_string(g.index) + "_" + std::to_string(call);
  }

  void ended(Generation& g) override { chunk(choice(g, json::object(), reason(g, !g.text.calls().empty()))); }

  void finished() override {
    if (streams) return finish_stream(1);
    json out = head("chat.completion");
    out["choices"] = json::array();
    for (const auto& g : generations_) {
      const AnswerText& t = g->text;
      json message = {{"role", "assistant"}, {"content", t.content()}, {"refusal", nullptr}};
      if (!t.reasoning().empty()) message["reasoning_content"] = t.reasoning();
      if (!t.calls().empty()) {
        if (t.content().empty()) message["content"] = nullptr;
        for (size_t i = 0; i < t.calls().size(); ++i)
          message["tool_calls"].push_back({{"id", id_of(*g, i)},
                                           {"type", "function"},
                                           {"function", {{"name", t.calls()[i].name}, {"arguments", t.calls()[i].arguments}}}});
      }
      json one = {
          {"index", g->index}, {"message", std::move(message)}, {"logprobs", nullptr}, {"finish_reason", reason(*g, !t.calls().empty())}};
      if (with_logprobs) one["logprobs"] = {{"content", logprobs_of(*served_->model, g->drawn)}, {"refusal", nullptr}};
      out["choices"].push_back(std::move(one));
    }
    out["usage"] = usage_of(generations_, 1);
    out["timings"] = timings(generations_.front()->counts);
    reply(200, out);
  }
};

bool read_tools(Fields* f, ChatRequest* out) {
  if (const json* tools = f->array("tools")) {
    for (size_t i = 0; i < tools->size() && f->ok(); ++i) {
      const json& tool = (*tools)[i];
      const std::string place = "tools[" + std::to_string(i) + "]";
      const bool good = tool.is_object() && tool.value("type", json()) == "function" && tool.contains("function") &&
                        tool["function"].is_object() && tool["function"].contains("name") && tool["function"]["name"].is_string();
      if (!good) f->refuse(place, "must be {\"type\":\"function\",\"function\":{\"name\":...}}");
    }
    out->tools = *tools;
  }
  if (const json* choice = f->any("tool_choice")) {
    if (*choice == "auto")
      out->choice = ChatRequest::Choice::kAuto;
    else if (*choice == "none")
      out->choice = ChatRequest::Choice::kNone;
    else if (*choice == "required")
      out->choice = ChatRequest::Choice::kRequired;
    else if (choice->is_object() && choice->contains("function") && (*choice)["function"].is_object() &&
             (*choice)["function"].contains("name") && (*choice)["function"]["name"].is_string()) {
      out->choice = ChatRequest::Choice::kNamed;
      out->tool = (*choice)["function"]["name"].get<std::string>();
    } else {
      f->refuse("tool_choice", "must be auto, none, required or {\"type\":\"function\",\"function\":{\"name\":...}}");
    }
  }
  out->parallel = f->flag("parallel_tool_calls", true);
  return f->ok();
}

// Strings at which an answer ends.
std::vector<std::string> read_stops(Fields* f) {
  std::vector<std::string> out;
  const json* stop = f->any("stop");
  if (!stop) return out;
  const json list = stop->is_array() ? *stop : json::array({*stop});
  for (const json& s : list) {
    if (!s.is_string() || s.get_ref<const std::string&>().empty() || s.get_ref<const std::string&>().size() > 255 || out.size() == 16) {
      f->refuse("stop", "must be a string or up to 16 strings of 1 to 255 bytes");
      break;
    }
    out.push_back(s.get<std::string>());
  }
  return out;
}

bool read_stream(Fields* f, OpenAiWriter* writer) {
  writer->streams = f->flag("stream", false);
  if (const json* options = f->object("stream_options")) {
    if (!writer->streams) f->refuse("stream_options", "goes with stream alone");
    Refusal why;
    Fields o(*options, &why, "stream_options.");
    writer->with_usage = o.flag("include_usage", false);
    o.ignore({"include_obfuscation"});
    if (!o.end()) f->refuse(why.param, why.message);
  }
  return f->ok();
}

}  // namespace

void openai_chat(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  auto writer = std::make_shared<ChatWriter>(exchange, served);
  writer->id = random_id("chatcmpl-");
  read_stream(&f, writer.get());
  ChatRequest chat;
  read_tools(&f, &chat);
  read_format(&f, &chat.format);
  if (const json* messages = f.array("messages")) chat.messages = *messages;
  std::vector<std::string> stops = read_stops(&f);
  if (!served->model->chat_stop().empty()) stops.push_back(served->model->chat_stop());
  if (const json* variables = f.object("chat_template_kwargs")) chat.variables = *variables;
  const std::string effort = f.one_of("reasoning_effort", {"none", "minimal", "low", "medium", "high", "xhigh", "max"}, "");
  if (effort == "none")
    chat.reasoning = ChatRequest::Reasoning::kOff;
  else if (!effort.empty())
    chat.reasoning = ChatRequest::Reasoning::kOn, chat.effort = effort;
  const int64_t n = f.whole("n", 1, kMaxAnswers, 1);
  const bool logprobs = f.flag("logprobs", false);
  const int64_t top = f.whole("top_logprobs", 0, kMaxTopLogprobs, 0);
  if (top && !logprobs) f.refuse("top_logprobs", "goes with logprobs alone");
  if (f.has("max_tokens") && f.has("max_completion_tokens")) f.refuse("max_tokens", "does not go with max_completion_tokens");
  for (const char* name : {"functions", "function_call"})
    if (f.has(name)) f.refuse(name, "is no longer known: tools and tool_choice take its place");
  for (const char* name : {"audio", "web_search_options", "prediction"})
    if (f.has(name)) f.refuse(name, "is not supported", 400, "unsupported_parameter");
  if (const json* m = f.array("modalities"); m && *m != json::array({"text"})) f.refuse("modalities", "may be [\"text\"] alone");
  if (f.flag("store", false)) f.refuse("store", "is not supported: nothing is stored here", 400, "unsupported_parameter");
  writer->with_logprobs = logprobs;
  std::vector<std::shared_ptr<Generation>> jobs;
  for (int64_t i = 0; i < n; ++i) {
    auto g = std::make_shared<Generation>(writer, *served->model, stops);
    if (!service->read_job(&f, *exchange, *served, g.get())) break;
    g->sampling.seed += static_cast<uint64_t>(i);
    g->n_logprobs = logprobs ? static_cast<int>(top) : -1;
    jobs.push_back(std::move(g));
  }
  f.ignore({"metadata", "service_tier", "verbosity", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "id_slot",
            "timings_per_token", "return_progress", "reasoning_format", "reasoning_in_content", "add_generation_prompt",
            "parse_tool_calls"});
  if (!f.end() || !chat.prepare(served->model.get(), served->scheduler.states(), jobs, &why)) return refuse(exchange.get(), why);
  for (auto& g : jobs) writer->add(std::move(g));
  writer->submit();
}

// ---- completions
// ---------------------------------------------------------------------------------------------------------------------------

namespace {

class CompletionWriter final : public OpenAiWriter {
 public:
  using OpenAiWriter::OpenAiWriter;
  size_t n_prompts = 1;
  std::vector<std::string> echoes;  // of each prompt

 private:
  const char* chunk_object() const override { return "text_completion"; }
  const std::string& echo(const Generation& g) const {
    static const std::string none;
    return echoes.empty() ? none : echoes[g.index / (generations_.size() / n_prompts)];
  }
  // The older form of logprobs: arrays beside each other.
  json logprobs(Generation& g) {
    if (!with_logprobs) return nullptr;
    json tokens = json::array(), values = json::array(), tops = json::array();
    const Model& model = *served_->model;
    for (const Drawn& d : g.drawn) {
      tokens.push_back(model.token_text(d.token));
      values.push_back(std::isfinite(d.logprob) ? d.logprob : -9999.0f);
      json top = json::object();
      for (const auto& [token, value] : d.top) top[model.token_text(token)] = value;
      tops.push_back(std::move(top));
    }
    g.drawn.clear();
    return {{"tokens", tokens}, {"token_logprobs", values}, {"top_logprobs", tops}};
  }
  void begun() override {
    for (const auto& g : generations_)
      if (!echo(*g).empty()) chunk({{"index", g->index}, {"text", echo(*g)}, {"logprobs", nullptr}, {"finish_reason", nullptr}});
  }
  void piece(Generation& g, AnswerText::Piece, std::string_view text, size_t) override {
    chunk({{"index", g.index}, {"text", text}, {"logprobs", logprobs(g)}, {"finish_reason", nullptr}});
  }
  void ended(Generation& g) override {
    chunk({{"index", g.index}, {"text", ""}, {"logprobs", logprobs(g)}, {"finish_reason", reason(g, false)}});
  }
  void finished() override {
    if (streams) return finish_stream(n_prompts);
    json out = head("text_completion");
    out["choices"] = json::array();
    for (const auto& g : generations_)
      out["choices"].push_back(
          {{"index", g->index}, {"text", echo(*g) + g->text.content()}, {"logprobs", logprobs(*g)}, {"finish_reason", reason(*g, false)}});
    out["usage"] = usage_of(generations_, n_prompts);
    out["timings"] = timings(generations_.front()->counts);
    reply(200, out);
  }
};

}  // namespace

bool read_prompts(Fields* f, const Model& model, std::vector<std::vector<int32_t>>* out) {
  const json* prompt = f->any("prompt");
  if (!prompt) return f->refuse("prompt", "is missing"), false;
  const auto ids = [&](const json& list) {
    return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), [](const json& t) { return t.is_number_integer(); });
  };
  const bool many = prompt->is_array() && !ids(*prompt);
  const json list = many ? *prompt : json::array({*prompt});
  if (list.empty() || list.size() > kMaxAnswers) return f->refuse("prompt", "must be 1 to 128 prompts"), false;
  for (const json& one : list) {
    std::vector<int32_t> tokens;
    Refusal why;
    if (one.is_string()) {
      if (!model.tokenize(one.get_ref<const std::string&>(), LINNET_ADD_SPECIAL | LINNET_PARSE_SPECIAL, &tokens, &why))
        return f->refuse("prompt", why.message), false;
    } else if (ids(one)) {
      for (const json& t : one) {
        const auto id = t.get<int64_t>();
        if (id < 0 || id >= model.desc().n_vocab) return f->refuse("prompt", "has a token that the model has not: " + t.dump()), false;
        tokens.push_back(static_cast<int32_t>(id));
      }
    } else {
      return f->refuse("prompt", "must be text, token ids, or an array of these"), false;
    }
    out->push_back(std::move(tokens));
  }
  return true;
}

void openai_completions(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  auto writer = std::make_shared<CompletionWriter>(exchange, served);
  writer->id = random_id("cmpl-");
  read_stream(&f, writer.get());
  std::vector<std::vector<int32_t>> prompts;
  read_prompts(&f, *served->model, &prompts);
  const std::vector<std::string> stops = read_stops(&f);
  const int64_t n = f.whole("n", 1, kMaxAnswers, 1);
  const int64_t logprobs = f.whole("logprobs", 0, kMaxTopLogprobs, -1);
  const bool echo = f.flag("echo", false);
  Model::GrammarText format;
  read_format(&f, &format);
  if (f.has("suffix") && !f.text("suffix").empty()) f.refuse("suffix", "is not supported", 400, "unsupported_parameter");
  if (f.whole("best_of", 1, kMaxAnswers, n) != n) f.refuse("best_of", "other than n is not supported", 400, "unsupported_parameter");
  f.ignore({"id_slot", "timings_per_token"});
  if (f.ok() && prompts.size() * static_cast<size_t>(n) > static_cast<size_t>(kMaxAnswers))
    f.refuse("n", "times the prompts is more than 128");
  for (const auto& prompt : prompts)
    if (f.ok() && !served->model->fits(prompt, "prompt", &why)) return refuse(exchange.get(), why);
  writer->with_logprobs = logprobs >= 0;
  writer->n_prompts = prompts.size();
  std::shared_ptr<Grammar> grammar;
  if (f.ok() && !format.text.empty() && !(grammar = served->model->grammar(format, nullptr, &why))) return refuse(exchange.get(), why);
  std::vector<std::shared_ptr<Generation>> jobs;
  for (const auto& prompt : prompts) {
    for (int64_t i = 0; i < n && f.ok(); ++i) {
      auto g = std::make_shared<Generation>(writer, *served->model, stops);
      if (!service->read_job(&f, *exchange, *served, g.get())) break;
      if (!g->max_tokens && !f.has("n_predict")) g->max_tokens = 16;  // the API's default
      g->prompt = prompt;
      g->sampling.seed += static_cast<uint64_t>(i);
      g->n_logprobs = static_cast<int>(logprobs);
      g->grammar = grammar;
      jobs.push_back(std::move(g));
    }
    std::string text;
    if (echo && !served->model->detokenize(prompt, &text, &why)) return refuse(exchange.get(), why);
    if (echo) writer->echoes.push_back(std::move(text));
  }
  if (!f.end()) return refuse(exchange.get(), why);
  for (auto& g : jobs) writer->add(std::move(g));
  grammar = nullptr;  // the jobs have it, and none of it is left here when they have ended
  writer->submit();
}

}  // namespace server
