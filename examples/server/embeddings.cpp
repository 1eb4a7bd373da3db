// OpenAI's embeddings: texts as vectors, one text between two passes, so that others' tokens do not wait.
#include <linnet_embed.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>

#include "service.h"

namespace server {
namespace {

constexpr size_t kMaxTexts = 2048;
constexpr size_t kMaxNumbers = size_t{8} << 20;   // of one answer
constexpr size_t kAllNumbers = size_t{16} << 20;  // of all that are being made; each takes up to 16 bytes of text

std::atomic<size_t> numbers_held{0};

// Bytes of little-endian floats.
std::string base64(const std::vector<float>& values) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  const size_t n = 4 * values.size();
  const auto byte = [&](size_t i) -> uint32_t { return i < n ? std::bit_cast<uint32_t>(values[i / 4]) >> 8 * (i % 4) & 255 : 0; };
  out.reserve((n + 2) / 3 * 4);
  for (size_t i = 0; i < n; i += 3) {
    const uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (size_t k = 0; k < 4; ++k) out += i + k <= n ? kLetters[three >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

class Embedding : public std::enable_shared_from_this<Embedding> {
 public:
  Embedding(std::shared_ptr<Exchange> exchange, std::shared_ptr<Served> served)
      : exchange_(std::move(exchange)), served_(std::move(served)) {}
  ~Embedding() { numbers_held -= held_; }

  std::vector<std::vector<int32_t>> texts;
  uint32_t n_dim = 0;
  bool as_base64 = false;

  bool begin(Refusal* why) {
    const size_t n = texts.size() * n_dim;
    if (n > kMaxNumbers) {
      *why = {413,
              std::to_string(texts.size()) + " vectors of " + std::to_string(n_dim) +
                  " numbers are more than an answer holds: send fewer texts",
              "too_large", "input"};
      return false;
    }
    held_ = n;
    exchange_->on_change([weak = weak_from_this()] {
      const auto self = weak.lock();
      linnet_session* const session = self && self->exchange_->gone() ? self->computing_.load() : nullptr;
      if (session) linnet_cancel(session);  // if it comes late, what it stops is done again
    });
    if (numbers_held.fetch_add(n) + n > kAllNumbers)
      return *why = {503, "too many vectors are asked for at a time", "overloaded", {}}, false;
    step();
    return true;
  }

 private:
  void step() {
    served_->scheduler.run([self = shared_from_this()](linnet_session* session, uint32_t seq) { self->one(session, seq); });
  }

  void one(linnet_session* session, uint32_t seq) {
    if (exchange_->gone()) return;
    const std::vector<int32_t>& text = texts[next_];
    const linnet_rows row = {sizeof row, seq, static_cast<uint32_t>(text.size()), text.data()};
    linnet_embed_params params = {};
    params.size = sizeof params;
    params.n_dim = n_dim;
    std::vector<float> vector(n_dim);
    linnet_error err = {};
    computing_ = session;
    linnet_status status = exchange_->gone() ? LINNET_CANCELLED : served_->scheduler.give_adapters(seq, scales_, &err);
    if (status == LINNET_OK) status = linnet_embed(session, &row, 1, &params, vector.data(), vector.size(), &err);
    computing_ = nullptr;
    if (status == LINNET_CANCELLED) return step();  // it may have been meant for the pass before
    if (status != LINNET_OK) {
      const bool theirs = status == LINNET_CONTEXT_FULL || status == LINNET_UNSUPPORTED || status == LINNET_BAD_ARG;
      return refuse(exchange_.get(), {theirs                       ? 400
                                      : status == LINNET_NO_MEMORY ? 503
                                                                   : 500,
                                      err.text, status == LINNET_CONTEXT_FULL ? "context_length_exceeded" : "embedding", "input"});
    }
    add(vector);
    n_tokens_ += text.size();
    texts[next_++] = {};
    if (next_ < texts.size()) return step();
    exchange_->reply(200, "application/json",
                     "{\"object\":\"list\",\"model\":" + dump(json(served_->id)) + ",\"data\":[" + data_ +
                         "],\"usage\":{\"prompt_tokens\":" + std::to_string(n_tokens_) + ",\"total_tokens\":" + std::to_string(n_tokens_) +
                         "}}");
  }

  void add(const std::vector<float>& vector) {
    data_ += std::string(data_.empty() ? "" : ",") + "{\"object\":\"embedding\",\"index\":" + std::to_string(next_) + ",\"embedding\":";
    if (as_base64) {
      data_ += '"' + base64(vector) + "\"}";
      return;
    }
    char before = '[';
    for (const float v : vector) {
      char text[32];
      data_ += before;
      data_.append(text, std::to_chars(text, text + sizeof text, v).ptr);
      before = ',';
    }
    data_ += "]}";
  }

  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<Served> served_;
  const std::vector<float> scales_ = served_->model->lora_scales().get();  // of all its texts
  std::atomic<linnet_session*> computing_{nullptr};
  std::string data_;  // JSON of the vectors that are there
  size_t next_ = 0, n_tokens_ = 0, held_ = 0;
};

// A text, token ids, or an array of these.
bool read_texts(Fields* f, const Model& model, std::vector<std::vector<int32_t>>* out) {
  const json* input = f->any("input");
  if (!input) return f->refuse("input", "is missing", 400, "missing_required_parameter"), false;
  const auto ids = [](const json& list) { return list.is_array() && !list.empty() && list.front().is_number(); };
  const bool many = input->is_array() && !ids(*input);
  const size_t n = many ? input->size() : 1;
  if (!n || n > kMaxTexts) return f->refuse("input", "must be 1 to 2048 texts"), false;
  for (size_t i = 0; i < n; ++i) {
    const json& one = many ? (*input)[i] : *input;
    const std::string place = many ? "input[" + std::to_string(i) + "]" : "input";
    std::vector<int32_t> tokens;
    Refusal why;
    if (one.is_string()) {
      if (one == "") return f->refuse(place, "must not be empty"), false;
      if (!model.tokenize(one.get_ref<const std::string&>(), LINNET_ADD_SPECIAL, &tokens, &why))
        return f->refuse(place, why.message), false;
    } else if (ids(one)) {
      for (const json& t : one) {
        const int64_t id = t.is_number_integer() ? t.get<int64_t>() : -1;
        if (id < 0 || id >= model.desc().n_vocab) return f->refuse(place, "has a token that the model has not: " + dump(t)), false;
        tokens.push_back(static_cast<int32_t>(id));
      }
    } else {
      return f->refuse(place, "must be a text or token ids", 400, "invalid_type"), false;
    }
    if (tokens.empty()) return f->refuse(place, "has no tokens"), false;
    out->push_back(std::move(tokens));
  }
  return true;
}

}  // namespace

void openai_embeddings(Service* service, const std::shared_ptr<Exchange>& exchange, const json& body) {
  Refusal why;
  Fields f(body, &why);
  const auto served = service->find(&f);
  if (!served) return refuse(exchange.get(), why);
  linnet_embed_desc desc = {};
  desc.size = sizeof desc;
  linnet_error err = {};
  if (linnet_embed_info(served->model->handle(), &desc, &err) != LINNET_OK)
    return refuse(exchange.get(), {400, served->id + ": " + err.text, "unsupported", "model"});
  auto embedding = std::make_shared<Embedding>(exchange, served);
  read_texts(&f, *served->model, &embedding->texts);
  embedding->n_dim = static_cast<uint32_t>(f.whole("dimensions", 1, desc.n_dim, desc.n_dim));
  embedding->as_base64 = f.one_of("encoding_format", {"float", "base64"}, "float") == "base64";
  f.text("user");
  const size_t most = served->scheduler.n_context();
  for (size_t i = 0; i < embedding->texts.size(); ++i)
    if (const size_t n = embedding->texts[i].size(); n > most)
      f.refuse("input[" + std::to_string(i) + "]", "has " + std::to_string(n) + " tokens, more than the context's " + std::to_string(most),
               400, "context_length_exceeded");
  if (!f.end() || !embedding->begin(&why)) return refuse(exchange.get(), why);
}

}  // namespace server
