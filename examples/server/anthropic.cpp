// Anthropic's messages, and how many tokens they are.
#include <algorithm>

#include "chat_request.h"
#include "service.h"

namespace server {
namespace {

constexpr int64_t kLeastBudget = 1024;  // tokens of thinking, as the API has it

class MessagesWriter final : public Writer {
 public:
  using Writer::Writer;
  size_t max_tokens = 0;
  std::vector<std::string> stops;  // the client's

 private:
  enum class Block { kNone, kThinking, kText, kCall };

  void send(const char* type, json event) {
    if (!streams) return;
    event["type"] = type;
    write(std::string("event: ") + type + "\ndata: " + dump(event) + "\n\n");
  }
  json usage(const Generation& g) const {
    const Counts& c = g.counts;
    return {{"input_tokens", c.n_prompt - c.n_cached},
            {"cache_creation_input_tokens", 0},
            {"cache_read_input_tokens", c.n_cached},
            {"output_tokens", c.n_drawn},
            {"output_tokens_details", {{"thinking_tokens", g.n_reasoning}}}};
  }
  json message(const Generation& g) const {
    return {{"id", id_},           {"type", "message"},      {"role", "assistant"},      {"model", served_->id},
            {"content", content_}, {"stop_reason", nullptr}, {"stop_sequence", nullptr}, {"usage", usage(g)}};
  }

  // ---- blocks, one after the other; the same for an answer that is whole
  void open(Block kind, json block) {
    close();
    open_ = kind;
    text_.clear();
    block_ = std::move(block);
    send("content_block_start", {{"index", content_.size()}, {"content_block", block_}});
  }
  void delta(const char* type, const char* name, std::string_view text) {
    text_ += text;
    send("content_block_delta", {{"index", content_.size()}, {"delta", {{"type", type}, {name, text}}}});
  }
  void close() {
    switch (open_) {
      case Block::kNone:
        return;
      case Block::kThinking:
        block_["thinking"] = text_;
        send("content_block_delta", {{"index", content_.size()}, {"delta", {{"type", "signature_delta"}, {"signature", ""}}}});
        break;
      case Block::kText:
        block_["text"] = text_;
        break;
      case Block::kCall: {
        const json input = json::parse(text_, nullptr, false);
        block_["input"] = input.is_object() ? input : json::object();
        break;
      }
    }
    send("content_block_stop", {{"index", content_.size()}});
    content_.push_back(std::move(block_));
    open_ = Block::kNone;
  }

  void piece(Generation& g, AnswerText::Piece piece, std::string_view text, size_t call) override {
    switch (piece) {
      case AnswerText::Piece::kReasoning:
        if (open_ != Block::kThinking) open(Block::kThinking, {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}});
        return delta("thinking_delta", "thinking", text);
      case AnswerText::Piece::kContent:
        if (open_ != Block::kText) open(Block::kText, {{"type", "text"}, {"text", ""}});
        return delta("text_delta", "text", text);
      case AnswerText::Piece::kCall: {
        const std::string& own = g.text.calls()[call].id;  // the model's, where it has given one in time
        return open(Block::kCall, {{"type", "tool_use"},
                                   {"id", own.empty() ? random_id("toolu_") : own},
                                   {"name", std::string(text)},
                                   {"input", json::object()}});
      }
      case AnswerText::Piece::kArguments:
        return open_ == Block::kCall ? delta("input_json_delta", "partial_json", text) : void();
      case AnswerText::Piece::kCallEnd:
        return close();
    }
  }

  void begun() override { send("message_start", {{"message", message(*generations_.front())}}); }
  void ended(Generation&) override {}

  void finished() override {
    Generation& g = *generations_.front();
    if (!streams) {
      if (!g.text.reasoning().empty()) piece(g, AnswerText::Piece::kReasoning, g.text.reasoning(), 0);
      if (!g.text.content().empty()) piece(g, AnswerText::Piece::kContent, g.text.content(), 0);
      for (size_t i = 0; i < g.text.calls().size(); ++i) {
        piece(g, AnswerText::Piece::kCall, g.text.calls()[i].name, i);
        piece(g, AnswerText::Piece::kArguments, g.text.calls()[i].arguments, i);
      }
    }
    close();
    const bool stopped = g.text.stopped() >= 0 && static_cast<size_t>(g.text.stopped()) < stops.size();
    const json reason = g.end == End::kLength     ? g.counts.n_drawn < max_tokens ? "model_context_window_exceeded" : "max_tokens"
                        : stopped                 ? "stop_sequence"
                        : !g.text.calls().empty() ? "tool_use"
                                                  : "end_turn";
    const json stop = stopped ? json(stops[static_cast<size_t>(g.text.stopped())]) : json();
    if (!streams) {
      json out = message(g);
      out["stop_reason"] = reason;
      out["stop_sequence"] = stop;
      return reply(200, out);
    }
    send("message_delta", {{"delta", {{"stop_reason", reason}, {"stop_sequence", stop}}}, {"usage", usage(g)}});
    send("message_stop", json::object());
    exchange_->end();
  }

  void failed(const Refusal& why) override {
    if (!begun_ || !streams) return refuse(exchange_.get(), why);
    send("error", anthropic_error(why));
    exchange_->end();
  }

  const std::string id_ = random_id("msg_");
  json content_ = json::array(), block_;
  Block open_ = Block::kNone;
  std::string text_;
};

// ---- the request -----------------------------------------------------------------------------------------------------------------------

bool refused(Refusal* why, const std::string& place, const std::string& message) {
  *why = {400, place + ": " + message, "invalid_value", place};
  return false;
}

// A text, or blocks of text.
bool read_text(const json& content, std::string* out, Refusal* why, const std::string& place) {
  if (content.is_string()) return *out += content.get<std::string>(), true;
  if (!content.is_array()) return refused(why, place, "must be a string or an array of blocks");
  for (size_t i = 0; i < content.size(); ++i) {
    const std::string at = place + "." + std::to_string(i);
    if (!content[i].is_object()) return refused(why, at, "must be an object");
    Fields f(content[i], why, at + ".");
    if (const std::string type = f.text("type"); type != "text")
      return refused(why, at, "is of type '" + type.substr(0, 64) + "': this model takes text alone");
    if (!f.has("text")) return refused(why, at + ".text", "Field required");
    *out += f.text("text");
    f.ignore({"cache_control", "citations"});
    if (!f.end()) return false;
  }
  return true;
}

// Messages as OpenAI's chats have them; turns of one role that follow each other are one.
bool read_messages(const json& list, json* out, Refusal* why) {
  const auto text_of = [&](const char* role, const std::string& text) {
    if (!out->empty() && out->back()["role"] == role && !out->back().contains("tool_calls")) {
      std::string& all = out->back()["content"].get_ref<std::string&>();
      all += (all.empty() || text.empty() ? "" : "\n\n") + text;
    } else {
      out->push_back({{"role", role}, {"content", text}});
    }
  };
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string place = "messages." + std::to_string(i);
    if (!list[i].is_object()) return refused(why, place, "must be an object");
    Fields m(list[i], why, place + ".");
    const std::string role = m.one_of("role", {"user", "assistant", "system"}, "");
    if (m.ok() && role.empty()) return refused(why, place + ".role", "Field required");
    const json* content = m.any("content");
    if (!m.end()) return false;
    if (!content) return refused(why, place + ".content", "Field required");
    std::string text;
    if (content->is_string() || role == "system") {
      if (!read_text(*content, &text, why, place + ".content")) return false;
      text_of(role.c_str(), text);
      continue;
    }
    if (!content->is_array()) return refused(why, place + ".content", "must be a string or an array of blocks");
    std::string thought;
    json calls = json::array();
    for (size_t k = 0; k < content->size(); ++k) {
      const std::string at = place + ".content." + std::to_string(k);
      const json& block = (*content)[k];
      if (!block.is_object()) return refused(why, at, "must be an object");
      Fields b(block, why, at + ".");
      const std::string type = b.text("type");
      b.ignore({"cache_control"});
      if (type == "text") {
        if (!b.has("text")) return refused(why, at + ".text", "Field required");
        text += b.text("text");
        b.ignore({"citations"});
      } else if (type == "thinking" && role == "assistant") {
        thought += b.text("thinking");
        b.ignore({"signature"});
      } else if (type == "redacted_thinking" && role == "assistant") {
        b.ignore({"data"});
      } else if (type == "tool_use" && role == "assistant") {
        const std::string id = b.text("id"), name = b.text("name");
        const json* input = b.object("input");
        b.ignore({"caller", "toolset_name"});
        if (b.ok() && (id.empty() || name.empty() || !input)) return refused(why, at, "must have an id, a name and an input");
        if (b.ok()) calls.push_back({{"id", id}, {"type", "function"}, {"function", {{"name", name}, {"arguments", *input}}}});
      } else if (type == "tool_result" && role == "user") {
        const std::string id = b.text("tool_use_id");
        if (b.ok() && id.empty()) return refused(why, at + ".tool_use_id", "Field required");
        const json* result = b.any("content");
        b.ignore({"is_error", "toolset_name"});
        std::string of;
        if (result && !read_text(*result, &of, why, at + ".content")) return false;
        if (!text.empty()) text_of("user", text);
        text.clear();
        out->push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", of}});
      } else if (b.ok()) {
        return refused(why, at, "is of type '" + type.substr(0, 64) + "', which this model does not take from " + role);
      }
      if (!b.end()) return false;
    }
    if (role == "user") {
      if (!text.empty() || out->empty() || out->back()["role"] != "tool") text_of("user", text);
      continue;
    }
    text_of("assistant", text);
    if (!thought.empty()) out->back()["reasoning_content"] = thought;
    if (!calls.empty()) out->back()["tool_calls"] = calls;
  }
  return true;
}

bool read_tools(Fields* f, ChatRequest* chat, Refusal* why) {
  if (const json* tools = f->array("tools")) {
    for (size_t i = 0; i < tools->size(); ++i) {
      const std::string place = "tools." + std::to_string(i);
      if (!(*tools)[i].is_object()) return refused(why, place, "must be an object");
      Fields t((*tools)[i], why, place + ".");
      if (const std::string type = t.text("type", "custom"); t.ok() && type != "custom")
        return refused(why, place + ".type", "is '" + type.substr(0, 64) + "': tools of the client's own alone are supported");
      json function = {{"name", t.text("name")}};
      const json* schema = t.object("input_schema");
      if (t.ok() && function["name"] == "") return refused(why, place + ".name", "Field required");
      if (t.ok() && !schema) return refused(why, place + ".input_schema", "Field required");
      if (t.has("description")) function["description"] = t.text("description");
      t.ignore({"cache_control", "strict", "input_examples", "defer_loading", "eager_input_streaming", "allowed_callers"});
      if (!t.end()) return false;
      function["parameters"] = *schema;
      chat->tools.push_back({{"type", "function"}, {"function", std::move(function)}});
    }
  }
  if (const json* choice = f->object("tool_choice")) {
    Fields c(*choice, why, "tool_choice.");
    const std::string type = c.one_of("type", {"auto", "any", "tool", "none"}, "");
    if (c.ok() && type.empty()) return refused(why, "tool_choice.type", "Field required");
    chat->choice = type == "any"    ? ChatRequest::Choice::kRequired
                   : type == "tool" ? ChatRequest::Choice::kNamed
                   : type == "none" ? ChatRequest::Choice::kNone
                                    : ChatRequest::Choice::kAuto;
    if (type == "tool") chat->tool = c.text("name");
    chat->parallel = !c.flag("disable_parallel_tool_use", false);
    if (!c.end()) return false;
  }
  return f->ok();
}

// What messages and count_tokens have in common.
bool read_conversation(Fields* f, ChatRequest* chat, int64_t max_tokens, Refusal* why) {
  std::string system;
  if (const json* given = f->any("system"))
    if (f->ok() && !read_text(*given, &system, why, "system")) return false;
  if (!system.empty()) chat->messages.push_back({{"role", "system"}, {"content", system}});
  const json* messages = f->array("messages");
  if (!f->ok()) return false;
  if (!messages) return refused(why, "messages", "Field required");
  if (messages->empty()) return refused(why, "messages", "at least one message is required");
  if (!read_messages(*messages, &chat->messages, why) || !read_tools(f, chat, why)) return false;
  const json& last = chat->messages.back();
  const bool prefilled = last["role"] == "assistant" && !last.contains("tool_calls");
  if (prefilled) {
    const std::string& text = last["content"].get_ref<const std::string&>();
    if (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
      return refused(why, "messages", "final assistant content cannot end with trailing whitespace");
  }
  chat->reasoning = ChatRequest::Reasoning::kOff;  // unless it is asked for
  if (const json* thinking = f->object("thinking")) {
    Fields t(*thinking, why, "thinking.");
    const std::string type = t.one_of("type", {"enabled", "disabled", "adaptive"}, "");
    if (t.ok() && type.empty()) return refused(why, "thinking.type", "Field required");
    const int64_t budget = t.whole("budget_tokens", kLeastBudget, INT32_MAX, 0);
    t.ignore({"display"});
    if (!t.end()) return false;
    if (type == "enabled" && !budget) return refused(why, "thinking.budget_tokens", "Field required");
    if (max_tokens && budget >= max_tokens) return refused(why, "max_tokens", "must be greater than thinking.budget_tokens");
    if (type != "disabled") {
      chat->reasoning = type == "enabled" ? ChatRequest::Reasoning::kOn : ChatRequest::Reasoning::kDefault;
      if (chat->choice == ChatRequest::Choice::kRequired || chat->choice == ChatRequest::Choice::kNamed)
        return refused(why, "thinking", "may not be enabled when tool_choice forces tool use");
      if (prefilled) return refused(why, "thinking", "does not go with an assistant's message at the end");
    }
  }
  if (const json* config = f->object("output_config")) {
    Fields c(*config, why, "output_config.");
    chat->effort = c.one_of("effort", {"low", "medium", "high", "xhigh", "max"}, "");
    const json* format = c.object("format");
    if (!c.end() || (format && !read_response_format(*format, &chat->format, why, "output_config.format"))) return false;
  }
  f->ignore({"cache_control", "speed"});
  return f->ok();
}

}  // namespace

void anthropic_messages(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  const int64_t max_tokens = f.whole("max_tokens", 1, INT32_MAX, 0);
  if (f.ok() && !max_tokens) return refused(&why, "max_tokens", "Field required"), refuse(exchange.get(), why);
  ChatRequest chat;
  if (!read_conversation(&f, &chat, max_tokens, &why)) return refuse(exchange.get(), why);
  auto writer = std::make_shared<MessagesWriter>(exchange, served);
  writer->max_tokens = static_cast<size_t>(max_tokens);
  writer->streams = f.flag("stream", false);
  if (const json* stops = f.array("stop_sequences")) {
    for (const json& s : *stops) {
      const std::string text = s.is_string() ? s.get<std::string>() : "";
      if (text.find_first_not_of(" \t\r\n") == std::string::npos || text.size() > 255 || writer->stops.size() == 64) {
        f.refuse("stop_sequences", "must be up to 64 strings of at most 255 bytes, none of white space alone");
        break;
      }
      writer->stops.push_back(text);
    }
  }
  // What the scheduler is told, under the names that it has elsewhere.
  json job = {{"max_tokens", max_tokens}};
  if (f.has("temperature")) job["temperature"] = f.number("temperature", 0, 1, 1);
  if (f.has("top_p")) job["top_p"] = f.number("top_p", 0, 1, 1);
  if (f.has("top_k")) job["top_k"] = std::min<int64_t>(f.whole("top_k", 0, INT32_MAX, 0), served->model->desc().n_vocab);
  if (const json* metadata = f.object("metadata")) {
    Fields m(*metadata, &why, "metadata.");
    if (m.has("user_id")) job["user"] = m.text("user_id");
    if (f.ok() && !m.end()) return refuse(exchange.get(), why);
  }
  f.ignore({"service_tier", "inference_geo", "diagnostics"});
  if (!f.end()) return refuse(exchange.get(), why);
  std::vector<std::string> stops = writer->stops;
  if (!served->model->chat_stop().empty()) stops.push_back(served->model->chat_stop());
  auto g = std::make_shared<Generation>(writer, *served->model, std::move(stops));
  Fields j(job, &why);
  if (!service->read_job(&j, *exchange, *served, g.get()) || !chat.prepare(served->model.get(), served->scheduler.states(), {g}, &why))
    return refuse(exchange.get(), why);
  writer->add(std::move(g));
  writer->submit();
}

void anthropic_count_tokens(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  ChatRequest chat;
  std::string text;
  size_t n_tokens = 0;
  if (!read_conversation(&f, &chat, 0, &why) || !f.end() || !chat.render(served->model.get(), &text, &n_tokens, &why))
    return refuse(exchange.get(), why);
  exchange->reply(200, "application/json", dump({{"input_tokens", n_tokens}}));
}

}  // namespace server
