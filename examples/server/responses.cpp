// OpenAI's Responses, without what would have to be stored.
#include <algorithm>

#include "chat_request.h"
#include "service.h"

namespace server {
namespace {

constexpr int64_t kMaxTopLogprobs = 20;

class ResponsesWriter final : public Writer {
 public:
  ResponsesWriter(std::shared_ptr<Exchange> exchange, std::shared_ptr<Served> served, json asked)
      : Writer(std::move(exchange), std::move(served)), asked_(std::move(asked)), id_(random_id("resp_")) {}
  bool with_logprobs = false;

 private:
  enum class Item { kNone, kReasoning, kMessage, kCall };

  json response(const char* status) const {
    json out = asked_;
    out.update({{"id", id_},
                {"object", "response"},
                {"created_at", created_},
                {"model", served_->id},
                {"status", status},
                {"error", nullptr},
                {"incomplete_details", nullptr},
                {"output", output_},
                {"usage", nullptr}});
    return out;
  }
  void send(const std::string& type, json event) {
    if (!streams) return;
    event["type"] = type;
    event["sequence_number"] = n_sent_++;
    write("event: " + type + "\ndata: " + dump(event) + "\n\n");
  }

  // ---- items, one after the other; the same for an answer that is whole
  json place(json more) const {
    more.update({{"item_id", item_["id"]}, {"output_index", output_.size()}});
    if (open_ != Item::kCall) more["content_index"] = 0;
    return more;
  }
  json part() const {
    if (open_ == Item::kReasoning) return {{"type", "reasoning_text"}, {"text", text_}};
    return {{"type", "output_text"}, {"text", text_}, {"annotations", json::array()}, {"logprobs", logprobs_}};
  }
  void open(Item kind) {
    if (open_ == kind && kind != Item::kCall) return;
    close("completed");
    open_ = kind;
    text_.clear();
    logprobs_ = json::array();
    if (kind == Item::kReasoning)
      item_ = {{"id", random_id("rs_")}, {"type", "reasoning"}, {"summary", json::array()}, {"content", json::array()}};
    else
      item_ = {{"id", random_id("msg_")}, {"type", "message"}, {"role", "assistant"}, {"content", json::array()}};
    item_["status"] = "in_progress";
    if (kind == Item::kCall) return;  // its name is to come
    send("response.output_item.added", {{"output_index", output_.size()}, {"item", item_}});
    send("response.content_part.added", place({{"part", part()}}));
  }
  void close(const char* status) {
    if (open_ == Item::kNone) return;
    if (open_ == Item::kCall) {
      item_["arguments"] = text_;
      send("response.function_call_arguments.done", place({{"name", item_["name"]}, {"arguments", text_}}));
    } else {
      json done = {{"text", text_}};
      if (open_ == Item::kMessage) done["logprobs"] = logprobs_;
      send(open_ == Item::kReasoning ? "response.reasoning_text.done" : "response.output_text.done", place(std::move(done)));
      send("response.content_part.done", place({{"part", part()}}));
      item_["content"].push_back(part());
    }
    item_["status"] = status;
    send("response.output_item.done", {{"output_index", output_.size()}, {"item", item_}});
    output_.push_back(std::move(item_));
    open_ = Item::kNone;
  }

  void piece(Generation& g, AnswerText::Piece piece, std::string_view text, size_t call) override {
    switch (piece) {
      case AnswerText::Piece::kReasoning:
        open(Item::kReasoning);
        text_ += text;
        return send("response.reasoning_text.delta", place({{"delta", text}}));
      case AnswerText::Piece::kContent: {
        open(Item::kMessage);
        text_ += text;
        const json logprobs = with_logprobs ? logprobs_of(*served_->model, g.drawn) : json::array();
        g.drawn.clear();
        logprobs_.insert(logprobs_.end(), logprobs.begin(), logprobs.end());
        return send("response.output_text.delta", place({{"delta", text}, {"logprobs", logprobs}}));
      }
      case AnswerText::Piece::kCall: {
        open(Item::kCall);
        const std::string& own = g.text.calls()[call].id;  // the model's, where it has given one in time
        item_ = {{"id", random_id("fc_")},    {"type", "function_call"},
                 {"status", "in_progress"},   {"call_id", own.empty() ? random_id("call_") : own},
                 {"name", std::string(text)}, {"arguments", ""}};
        g.drawn.clear();
        return send("response.output_item.added", {{"output_index", output_.size()}, {"item", item_}});
      }
      case AnswerText::Piece::kArguments:
        if (open_ != Item::kCall) return;
        text_ += text;
        return send("response.function_call_arguments.delta", place({{"delta", text}}));
      case AnswerText::Piece::kCallEnd:
        return close("completed");
    }
  }

  void begun() override {
    for (const char* type : {"response.created", "response.in_progress"}) send(type, {{"response", response("in_progress")}});
  }
  void ended(Generation&) override {}

  void finished() override {
    Generation& g = *generations_.front();
    if (!streams) {
      g.drawn.resize(std::min(g.drawn.size(), g.n_drawn_content));
      if (!g.text.reasoning().empty()) piece(g, AnswerText::Piece::kReasoning, g.text.reasoning(), 0);
      if (!g.text.content().empty()) piece(g, AnswerText::Piece::kContent, g.text.content(), 0);
      for (size_t i = 0; i < g.text.calls().size(); ++i) {
        piece(g, AnswerText::Piece::kCall, g.text.calls()[i].name, i);
        piece(g, AnswerText::Piece::kArguments, g.text.calls()[i].arguments, i);
      }
    }
    const bool cut = g.end == End::kLength;
    if (output_.empty() && open_ == Item::kNone) open(Item::kMessage);
    close(cut ? "incomplete" : "completed");
    json out = response(cut ? "incomplete" : "completed");
    if (cut)
      out["incomplete_details"] = {{"reason", "max_output_tokens"}};
    else
      out["completed_at"] = unix_seconds();
    const Counts& c = g.counts;
    out["usage"] = {{"input_tokens", c.n_prompt},
                    {"input_tokens_details", {{"cached_tokens", c.n_cached}, {"cache_write_tokens", 0}}},
                    {"output_tokens", c.n_drawn},
                    {"output_tokens_details", {{"reasoning_tokens", g.n_reasoning}}},
                    {"total_tokens", c.n_prompt + c.n_drawn}};
    out["timings"] = timings(c);
    if (!streams) return reply(200, out);
    send(cut ? "response.incomplete" : "response.completed", {{"response", std::move(out)}});
    exchange_->end();
  }

  void failed(const Refusal& why) override {
    if (!begun_ || !streams) return refuse(exchange_.get(), why);
    close("incomplete");
    json out = response("failed");
    out["error"] = {{"code", "server_error"}, {"message", why.message}};
    send("response.failed", {{"response", std::move(out)}});
    exchange_->end();
  }

  const json asked_;  // fields of the request that a response repeats
  const std::string id_;
  size_t n_sent_ = 0;
  json output_ = json::array();
  Item open_ = Item::kNone;
  json item_, logprobs_ = json::array();
  std::string text_;
};

// ---- the request -----------------------------------------------------------------------------------------------------------------------

// Items of a conversation as messages: reasoning, text and calls of one turn are one message.
bool read_items(const json& items, ChatRequest* chat, Refusal* why) {
  json& messages = chat->messages;
  std::string reasoning;  // of the turn that follows
  bool turn = false;      // the last message is the assistant's, and its turn may go on
  const auto assistant = [&]() -> json& {
    if (!turn) {
      messages.push_back({{"role", "assistant"}, {"content", ""}});
      if (!reasoning.empty()) messages.back()["reasoning_content"] = std::move(reasoning);
      reasoning.clear();
      turn = true;
    }
    return messages.back();
  };
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string place = "input[" + std::to_string(i) + "]";
    const json& item = items[i];
    if (!item.is_object()) return *why = {400, "'" + place + "' must be an object", "invalid_type", place}, false;
    Fields f(item, why, place + ".");
    const std::string type = f.text("type", "message");
    f.ignore({"id", "status", "phase"});
    std::string text;
    const auto content = [&](const char* name) {
      const json* value = f.any(name);
      return !value || read_content(*value, &text, why, place + "." + name);
    };
    if (type == "message") {
      const std::string role = f.one_of("role", {"user", "assistant", "system", "developer"}, "");
      if (role.empty()) f.refuse("role", "must be user, assistant, system or developer");
      if (!f.has("content")) f.refuse("content", "is missing");
      if (!f.ok() || !content("content")) return false;
      if (role == "assistant") {
        if (turn && messages.back().contains("tool_calls")) turn = false;
        std::string& all = assistant()["content"].get_ref<std::string&>();
        all += text;
      } else {
        turn = false;
        reasoning.clear();
        messages.push_back({{"role", role}, {"content", text}});
      }
    } else if (type == "reasoning") {
      f.ignore({"encrypted_content", "summary"});
      if (!f.ok()) return false;
      for (const char* name : {"content", "summary"}) {
        const json* parts = f.array(name);
        if (!reasoning.empty() || !parts) continue;
        for (const json& part : *parts)
          if (part.is_object() && part.contains("text") && part["text"].is_string()) reasoning += part["text"].get<std::string>();
      }
      turn = false;
    } else if (type == "function_call") {
      const std::string name = f.text("name"), id = f.text("call_id");
      if (name.empty()) f.refuse("name", "must be a string that is not empty");
      if (id.empty()) f.refuse("call_id", "must be a string that is not empty");
      const json call = {{"id", id}, {"type", "function"}, {"function", {{"name", name}, {"arguments", f.text("arguments")}}}};
      if (f.ok()) assistant()["tool_calls"].push_back(call);
    } else if (type == "function_call_output") {
      const std::string id = f.text("call_id");
      if (id.empty()) f.refuse("call_id", "must be a string that is not empty");
      if (!f.has("output")) f.refuse("output", "is missing");
      if (!f.ok() || !content("output")) return false;
      turn = false;
      messages.push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", text}});
    } else if (type == "item_reference") {
      f.refuse("type", "refers to an item that is stored: nothing is stored here", 400, "unsupported_parameter");
    } else {
      f.refuse("type", "is '" + type.substr(0, 64) + "': message, reasoning, function_call and function_call_output are known", 400,
               "unsupported_parameter");
    }
    if (!f.end()) return false;
  }
  return true;
}

// {"type":"function","name":...,"parameters":...}, as chats have them.
void read_flat_tools(Fields* f, ChatRequest* chat) {
  if (const json* tools = f->array("tools")) {
    for (size_t i = 0; i < tools->size() && f->ok(); ++i) {
      const std::string place = "tools[" + std::to_string(i) + "]";
      const json& tool = (*tools)[i];
      if (!tool.is_object()) return f->refuse(place, "must be an object");
      Refusal why;
      Fields t(tool, &why, place + ".");
      if (const std::string type = t.text("type"); type != "function")
        t.refuse("type", "is '" + type.substr(0, 64) + "': only tools of type function are supported", 400, "unsupported_parameter");
      json function = {{"name", t.text("name")}};
      if (function["name"] == "") t.refuse("name", "must be a string that is not empty");
      if (t.has("description")) function["description"] = t.text("description");
      const json* parameters = t.object("parameters");
      function["parameters"] = parameters ? *parameters : json{{"type", "object"}, {"properties", json::object()}};
      t.ignore({"strict", "allowed_callers", "defer_loading", "output_schema"});
      if (!t.end()) return f->refuse(why.param, why.message.substr(why.message.find(' ') + 1), 400, why.code.c_str());
      chat->tools.push_back({{"type", "function"}, {"function", std::move(function)}});
    }
  }
  if (const json* choice = f->any("tool_choice")) {
    if (*choice == "auto")
      chat->choice = ChatRequest::Choice::kAuto;
    else if (*choice == "none")
      chat->choice = ChatRequest::Choice::kNone;
    else if (*choice == "required")
      chat->choice = ChatRequest::Choice::kRequired;
    else if (choice->is_object() && choice->value("type", json()) == "function" && choice->contains("name") &&
             (*choice)["name"].is_string()) {
      chat->choice = ChatRequest::Choice::kNamed;
      chat->tool = (*choice)["name"].get<std::string>();
    } else {
      f->refuse("tool_choice", "must be auto, none, required or {\"type\":\"function\",\"name\":...}");
    }
  }
  chat->parallel = f->flag("parallel_tool_calls", true);
}

// Up to 16 texts of the client's own, which come back as they are.
void read_metadata(Fields* f) {
  const json* metadata = f->object("metadata");
  if (!metadata) return;
  bool good = metadata->size() <= 16;
  for (const auto& item : metadata->items())
    good = good && item.key().size() <= 64 && item.value().is_string() && item.value().get_ref<const std::string&>().size() <= 512;
  if (!good) f->refuse("metadata", "must be up to 16 strings of at most 512 bytes, with names of at most 64");
}

}  // namespace

void openai_responses(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  for (const char* name : {"previous_response_id", "conversation", "prompt", "max_tool_calls", "context_management", "moderation", "image"})
    if (f.has(name)) f.refuse(name, "is not supported", 400, "unsupported_parameter");
  for (const char* name : {"store", "background"})
    if (f.flag(name, false)) f.refuse(name, "is not supported: nothing is stored here", 400, "unsupported_parameter");
  if (f.one_of("truncation", {"auto", "disabled"}, "disabled") == "auto")
    f.refuse("truncation", "may be disabled alone", 400, "unsupported_parameter");

  ChatRequest chat;
  const std::string instructions = f.text("instructions");
  if (!instructions.empty()) chat.messages.push_back({{"role", "system"}, {"content", instructions}});
  const json* input = f.any("input");
  if (!input || (!input->is_string() && !input->is_array()))
    f.refuse("input", input ? "must be a string or an array of items" : "is missing", 400,
             input ? "invalid_type" : "missing_required_parameter");
  else if (input->is_string())
    chat.messages.push_back({{"role", "user"}, {"content", *input}});
  else if (f.ok() && !read_items(*input, &chat, &why))
    return refuse(exchange.get(), why);
  // Templates know one system message, the first.
  if (!instructions.empty() && chat.messages.size() > 1 &&
      (chat.messages[1]["role"] == "system" || chat.messages[1]["role"] == "developer")) {
    chat.messages[0]["content"] = instructions + "\n\n" + chat.messages[1]["content"].get<std::string>();
    chat.messages.erase(1);
  }
  read_flat_tools(&f, &chat);
  if (const json* text = f.object("text")) {
    Fields t(*text, &why, "text.");
    const json* format = t.any("format");
    t.ignore({"verbosity"});
    if (f.ok() && (!t.end() || (format && !read_response_format(*format, &chat.format, &why, "text.format"))))
      return refuse(exchange.get(), why);
  }
  std::string effort;
  if (const json* reasoning = f.object("reasoning")) {
    Fields r(*reasoning, &why, "reasoning.");
    effort = r.one_of("effort", {"none", "minimal", "low", "medium", "high", "xhigh", "max"}, "");
    r.ignore({"summary", "generate_summary", "context", "mode"});
    if (f.ok() && !r.end()) return refuse(exchange.get(), why);
    if (effort == "none")
      chat.reasoning = ChatRequest::Reasoning::kOff;
    else if (!effort.empty())
      chat.reasoning = ChatRequest::Reasoning::kOn, chat.effort = effort;
  }
  bool logprobs = false;
  if (const json* include = f.array("include")) {
    // The others are of tools that there are not, and of reasoning that is in the answer as it is.
    static constexpr const char* kKnown[] = {"message.output_text.logprobs",
                                             "reasoning.encrypted_content",
                                             "file_search_call.results",
                                             "web_search_call.results",
                                             "web_search_call.action.sources",
                                             "message.input_image.image_url",
                                             "computer_call_output.output.image_url",
                                             "code_interpreter_call.outputs"};
    for (const json& name : *include) {
      if (std::none_of(std::begin(kKnown), std::end(kKnown), [&](const char* known) { return name == known; }))
        f.refuse("include", "has " + dump(name).substr(0, 64) + ", which is not known");
      logprobs = logprobs || name == kKnown[0];
    }
  }
  const int64_t top = f.whole("top_logprobs", 0, kMaxTopLogprobs, 0);
  read_metadata(&f);
  if (const json* options = f.object("stream_options")) {
    Fields o(*options, &why, "stream_options.");
    o.ignore({"include_obfuscation"});
    if (f.ok() && !o.end()) return refuse(exchange.get(), why);
  }
  const bool streams = f.flag("stream", false);
  f.ignore({"service_tier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "safety_identifier"});

  const auto of = [&](const char* name, json absent) {
    const auto at = body.find(name);
    return at == body.end() || at->is_null() ? std::move(absent) : *at;
  };
  json text = of("text", json::object());
  if (!text.contains("format")) text["format"] = {{"type", "text"}};
  json asked = {{"instructions", of("instructions", nullptr)},
                {"max_output_tokens", of("max_output_tokens", nullptr)},
                {"metadata", of("metadata", json::object())},
                {"parallel_tool_calls", chat.parallel},
                {"previous_response_id", nullptr},
                {"reasoning", {{"effort", effort.empty() ? json() : json(effort)}, {"summary", nullptr}}},
                {"background", false},
                {"store", false},
                {"text", std::move(text)},
                {"tool_choice", of("tool_choice", "auto")},
                {"tools", of("tools", json::array())},
                {"temperature", of("temperature", service->settings().temperature)},
                {"top_p", of("top_p", 1.0)},
                {"top_logprobs", top},
                {"truncation", "disabled"},
                {"service_tier", "default"},
                {"user", of("user", nullptr)}};
  auto writer = std::make_shared<ResponsesWriter>(exchange, served, std::move(asked));
  writer->streams = streams;
  writer->with_logprobs = logprobs;
  std::vector<std::string> stops;
  if (!served->model->chat_stop().empty()) stops.push_back(served->model->chat_stop());
  auto g = std::make_shared<Generation>(writer, *served->model, std::move(stops));
  service->read_job(&f, *exchange, *served, g.get(), {"max_output_tokens"});
  g->n_logprobs = logprobs ? static_cast<int>(top) : -1;
  g->drawn_content = true;
  if (!f.end() || !chat.prepare(served->model.get(), served->scheduler.states(), {g}, &why)) return refuse(exchange.get(), why);
  writer->add(std::move(g));
  writer->submit();
}

}  // namespace server
