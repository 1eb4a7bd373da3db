// llama.cpp's own endpoints: tokens of a text, text of tokens, what a template makes of a conversation.
#include "chat_request.h"
#include "service.h"

namespace server {

void tokenize(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  const std::string content = f.text("content");
  const bool special = f.flag("add_special", false), parse = f.flag("parse_special", true), pieces = f.flag("with_pieces", false);
  std::vector<int32_t> tokens;
  if (!f.end() || !served->model->tokenize(content, special * LINNET_ADD_SPECIAL | parse * LINNET_PARSE_SPECIAL, &tokens, &why))
    return refuse(exchange.get(), why);
  json list = json::array();
  for (const int32_t t : tokens) {
    if (!pieces) {
      list.push_back(t);
      continue;
    }
    // Its text where that is whole characters, else its bytes.
    const std::string text = served->model->token_text(t);
    CertainText whole({});
    if (whole.feed(text) == text) {
      list.push_back({{"id", t}, {"piece", text}});
    } else {
      json bytes = json::array();
      for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
      list.push_back({{"id", t}, {"piece", bytes}});
    }
  }
  exchange->reply(200, "application/json", dump({{"tokens", list}}));
}

void detokenize(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  std::vector<int32_t> tokens;
  if (const json* list = f.array("tokens")) {
    for (const json& t : *list) {
      const int64_t id = t.is_number_integer() ? t.get<int64_t>() : -1;
      if (id < 0 || id >= served->model->desc().n_vocab) {
        f.refuse("tokens", "must be token ids of the model");
        break;
      }
      tokens.push_back(static_cast<int32_t>(id));
    }
  }
  std::string text;
  if (!f.end() || !served->model->detokenize(tokens, &text, &why)) return refuse(exchange.get(), why);
  exchange->reply(200, "application/json", dump({{"content", text}}));
}

void apply_template(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  ChatRequest chat;
  if (const json* messages = f.array("messages")) chat.messages = *messages;
  if (const json* tools = f.array("tools")) chat.tools = *tools;
  if (const json* variables = f.object("chat_template_kwargs")) chat.variables = *variables;
  std::string text;
  size_t n_tokens = 0;
  if (!f.end() || !chat.render(served->model.get(), &text, &n_tokens, &why)) return refuse(exchange.get(), why);
  exchange->reply(200, "application/json", dump({{"prompt", text}}));
}

}  // namespace server
