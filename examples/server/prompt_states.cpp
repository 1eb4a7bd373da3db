// Prefill here, decode there: what a prompt computes leaves as bytes and comes in elsewhere, where the same prompt goes on from it (as
// DistServe splits the two: Zhong et al. 2024). Only with --state: who may send a state may make a model say anything.
#include "chat_request.h"
#include "service.h"

namespace server {
namespace {

class PromptAlone final : public Generation {
 public:
  using Generation::Generation;
  bool on_prompt() override { return false; }
};

class StateWriter final : public Writer {
 public:
  using Writer::Writer;
  size_t first = 0, n = 0, most_bytes = 0;

 private:
  void piece(Generation&, AnswerText::Piece, std::string_view, size_t) override {}
  void ended(Generation&) override {}
  void failed(const Refusal& why) override { refuse(exchange_.get(), why); }
  // The prefix cache has it now: out of that it goes, between two passes.
  void finished() override {
    std::vector<int32_t> tokens = generations_.front()->prompt;
    if (served_->scheduler.states()) tokens.pop_back();  // where the same prompt goes on from, as it needs its last token's logits
    if (n && first + n < tokens.size()) tokens.resize(first + n);
    served_->scheduler.run(
        [served = served_, exchange = exchange_, tokens = std::move(tokens), from = first, most = most_bytes](linnet_session*, uint32_t) {
          linnet_error err = {};
          size_t n_bytes = 0, n_tokens = 0;
          if (!served->scheduler.prefix())
            return refuse(exchange.get(), {400, "there is no prefix cache to take it from", "no_prefix_cache", {}});
          linnet_status status =
              linnet_prefix_export(served->scheduler.prefix(), tokens.data(), tokens.size(), from, nullptr, 0, &n_bytes, &n_tokens, &err);
          if (status == LINNET_TOO_SMALL && n_bytes > most)
            return refuse(exchange.get(), {413,
                                           "the state has " + std::to_string(n_bytes) + " bytes, --max-body allows " +
                                               std::to_string(most) + ": ask for parts by 'first' and 'n'",
                                           "state_too_large", "n"});
          std::string out(n_bytes, 0);
          if (status == LINNET_TOO_SMALL)
            status = linnet_prefix_export(served->scheduler.prefix(), tokens.data(), tokens.size(), from, out.data(), out.size(), &n_bytes,
                                          &n_tokens, &err);
          if (status != LINNET_OK) return refuse(exchange.get(), {500, err.text, "server_error", {}});
          exchange->reply(200, "application/octet-stream", std::move(out), {{"X-Linnet-Tokens", std::to_string(n_tokens)}});
        });
  }
};

}  // namespace

void state_export(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  auto writer = std::make_shared<StateWriter>(exchange, served);
  auto job = std::make_shared<PromptAlone>(writer, *served->model, std::vector<std::string>());
  job->max_tokens = 1;
  job->key = exchange->key;
  (void)!linnet_sampling_init(&(job->sampling = {.size = sizeof(linnet_sampling)}), nullptr);
  writer->most_bytes = service->settings().http.max_body;
  writer->first = static_cast<size_t>(f.whole("first", 0, INT32_MAX, 0));
  writer->n = static_cast<size_t>(f.whole("n", 0, INT32_MAX, 0));
  if (writer->first % 16) f.refuse("first", "must be a multiple of 16");
  if (const json* messages = f.array("messages")) {
    ChatRequest chat;
    chat.messages = *messages;
    if (const json* tools = f.array("tools")) chat.tools = *tools;
    if (const json* variables = f.object("chat_template_kwargs")) chat.variables = *variables;
    if (!f.end() || !chat.prepare(served->model.get(), served->scheduler.states(), {job}, &why)) return refuse(exchange.get(), why);
    job->grammar = nullptr;
  } else {
    std::vector<std::vector<int32_t>> prompts;
    if (read_prompts(&f, *served->model, &prompts) && prompts.size() > 1) f.refuse("prompt", "must be one prompt");
    if (!f.end()) return refuse(exchange.get(), why);
    job->prompt = std::move(prompts.front());
  }
  writer->add(std::move(job));
  writer->submit();
}

void state_import(Service* service, const std::shared_ptr<Exchange>& exchange) {
  Refusal why;
  const auto name = exchange->query.find("model");
  const auto served = service->find(name == exchange->query.end() ? "" : name->second, &why);
  if (!served) return refuse(exchange.get(), why);
  const bool runs = served->scheduler.run([served, exchange](linnet_session*, uint32_t) {
    linnet_error err = {};
    size_t n_tokens = 0;
    if (!served->scheduler.prefix()) return refuse(exchange.get(), {400, "there is no prefix cache to take it up", "no_prefix_cache", {}});
    const linnet_status status =
        linnet_prefix_import(served->scheduler.prefix(), exchange->body.data(), exchange->body.size(), &n_tokens, &err);
    if (status != LINNET_OK) return refuse(exchange.get(), {400, err.text, "bad_state", {}});
    exchange->reply(200, "application/json", dump({{"tokens", n_tokens}}));
  });
  if (!runs) refuse(exchange.get(), {503, "the server is stopping", "stopping", {}});
}

}  // namespace server
