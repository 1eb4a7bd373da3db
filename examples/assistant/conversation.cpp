#include "conversation.h"

#include <linnet_convert.h>
#include <linnet_device.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "files.h"

namespace assistant {
namespace {

constexpr uint32_t kMaxAnswer = 160;   // tokens drawn for a call or a sentence
constexpr size_t kMaxResult = 600;     // bytes of a tool's result
constexpr size_t kTurn = 320;          // tokens that are kept free for what follows a request
constexpr size_t kMaxRequest = 1000;   // bytes
constexpr int kMaxCalls = 4;           // of tools in a turn
constexpr size_t kMaxTools = 1 << 20;  // bytes of the tools' file: as many as linnet_grammar_compile takes
constexpr char kLost[] = "Sorry, I did not get that.";

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

}  // namespace

// ---- opening: three objects, each in memory that the app gives ----------------------------------------------------------

bool Conversation::Memory::alloc(const linnet_need& need) {
  data = linnet_mem_alloc(need.bytes);
  bytes = data ? need.bytes : 0;
  return data != nullptr;
}

bool Conversation::open(const ConversationConfig& config, OnTool on_tool, std::string* why) {
  const auto failed = [&] {
    constexpr std::string_view kUnnamed = "model file: ";
    std::string what = err_.text[0] ? err_.text : "no memory for the model";
    if (what.compare(0, kUnnamed.size(), kUnnamed) == 0) what.erase(0, kUnnamed.size());
    *why = what.compare(0, config.model.size(), config.model) ? config.model + ": " + what : what;
    return false;
  };
  on_tool_ = std::move(on_tool);
  n_turns_ = std::max(config.n_turns, 1u);
  linnet_need need = {};
  need.size = sizeof need;
  if (linnet_file_map(config.model.c_str(), LINNET_LOAD_MAP, &file_, &err_) != LINNET_OK) return failed();
  if (linnet_model_need(&file_, nullptr, &need, &err_) != LINNET_OK || !model_memory_.alloc(need)) return failed();
  if (linnet_model_init(&model_, model_memory_.data, need.bytes, &file_, nullptr, &err_) != LINNET_OK) return failed();
  linnet_model_desc desc = {};
  desc.size = sizeof desc;
  if (linnet_model_info(model_, &desc, &err_) != LINNET_OK) return failed();
  params_.size = sizeof params_;
  params_.n_context = config.n_context ? config.n_context : desc.n_context;
  params_.n_threads = config.n_threads;
  params_.threads = LINNET_THREADS_OWN;
  if (!config.tools.empty()) params_.n_logits = 16;  // what the grammar forces is computed at once
  if (linnet_session_need(model_, &params_, &need, &err_) != LINNET_OK || !session_memory_.alloc(need)) return failed();
  if (linnet_session_init(&session_, session_memory_.data, need.bytes, model_, &params_, &err_) != LINNET_OK) return failed();
  for (const linnet_role role : {LINNET_ROLE_USER, LINNET_ROLE_ASSISTANT, LINNET_ROLE_TOOL}) {
    const char *prefix = nullptr, *suffix = nullptr;
    if (linnet_chat_format(model_, role, &prefix, &suffix, &err_) != LINNET_OK) return failed();
  }
  if (!constrain(config.tools, why)) return false;
  // What stands before a conversation; an end-of-sequence token that some tokenizers add has no place here.
  if (!tokenize("", LINNET_ADD_SPECIAL, &tokens_)) return failed();
  if (!tokens_.empty() && tokens_.front() == desc.bos_id)
    tokens_.resize(1);
  else
    tokens_.clear();
  begin_ = tokens_.size();
  return hear("", why);
}

// Answers are sentences, or calls that obey the tools' schemas. A schema that linnet does not know is refused here, by name.
bool Conversation::constrain(const std::string& tools, std::string* why) {
  linnet_need need = {};
  need.size = sizeof need;
  size_t n = 0;
  std::string text;
  std::vector<char> bytes;
  if (read_file(tools, kMaxTools, &text, nullptr, why) != LINNET_OK) return false;
  const auto compile = [&] {
    return linnet_grammar_compile(nullptr, text.data(), text.size(), tools.c_str(), LINNET_GRAMMAR_TEXT_OR_CALL, bytes.data(), bytes.size(),
                                  &n, &err_);
  };
  linnet_status status = compile();
  if (status == LINNET_TOO_SMALL) {
    bytes.resize(n);
    status = compile();
  }
  if (status == LINNET_OK) status = linnet_grammar_need(model_, bytes.data(), bytes.size(), &need, &err_);
  if (status == LINNET_OK && !grammar_memory_.alloc(need)) return *why = "no memory for the grammar", false;
  if (status == LINNET_OK)
    status = linnet_grammar_init(&grammar_, grammar_memory_.data, need.bytes, model_, bytes.data(), bytes.size(), &err_);
  return status == LINNET_OK || (*why = err_.text, false);
}

Conversation::~Conversation() {
  linnet_session_fini(session_);
  linnet_model_fini(model_);
  linnet_file_unmap(&file_);
}

// ---- text to tokens -------------------------------------------------------------------------------------------------------

bool Conversation::tokenize(std::string_view text, uint32_t flags, std::vector<int32_t>* out) {
  size_t need = 0, n = 0;
  if (linnet_tokenize_need(model_, text.size(), &need, &err_) != LINNET_OK) return false;
  if (scratch_.size() < need) scratch_.resize(need);
  const size_t at = out->size();
  out->resize(at + 3 * text.size() + 8);
  const linnet_status status = linnet_tokenize(model_, text.data(), text.size(), flags, scratch_.data(), scratch_.size(), out->data() + at,
                                               out->size() - at, &n, &err_);
  out->resize(status == LINNET_OK ? at + n : at);
  return status == LINNET_OK;
}

// What stands before and behind a message, as the model was trained to see it.
const char* Conversation::edge(linnet_role role, bool behind) const {
  const char* text[2] = {"", ""};
  (void)linnet_chat_format(model_, role, &text[0], &text[1], nullptr);  // open() has seen that there is one
  return text[behind];
}
bool Conversation::open_message(linnet_role role, std::vector<int32_t>* out) {
  return tokenize(edge(role, false), LINNET_PARSE_SPECIAL, out);
}
bool Conversation::close_message(linnet_role role, std::vector<int32_t>* out) {
  return tokenize(edge(role, true), LINNET_PARSE_SPECIAL, out);
}
// What people and tools say cannot hold the tokens that part messages.
bool Conversation::say(std::string_view text, std::vector<int32_t>* out) { return tokenize(text, 0, out); }

// ---- the one rule: the session holds what `tokens` begins with, and is brought to hold all of it -----------------------------

bool Conversation::sync(const std::vector<int32_t>& tokens, bool may_cancel, std::string* why) {
  const auto differ = std::mismatch(tokens.begin(), tokens.end(), held_.begin(), held_.end()).first;
  size_t same = static_cast<size_t>(differ - tokens.begin());
  if (same == tokens.size() && same < held_.size()) --same;  // the last row is computed again: its logits are wanted
  if (same < held_.size()) {
    if (linnet_truncate(session_, 0, same, &err_) != LINNET_OK) return *why = err_.text, false;
    held_.resize(same);
  }
  if (same == tokens.size()) return true;
  linnet_status status = LINNET_CANCELLED;
  while (status == LINNET_CANCELLED &&
         !(may_cancel && cancelled_))  // a cancel that came too late for what it was meant for stops nothing else
    status = linnet_prefill(session_, 0, tokens.data() + same, tokens.size() - same, &err_);
  if (status == LINNET_OK)
    held_ = tokens;
  else if (status != LINNET_CANCELLED)
    *why = err_.text;
  return status == LINNET_OK;
}

// Of a context that would be full the oldest exchanges go, until half of it is free; the rest is computed again, mostly while nobody waits.
bool Conversation::make_room(size_t n_new, std::string* why) {
  n_new += kTurn;
  if (begin_ + n_new > params_.n_context) return *why = "the request is too long for the model's context", false;
  if (tokens_.size() + n_new <= params_.n_context && turns_.size() < n_turns_) return true;
  size_t gone = 0;
  const size_t room = std::min<size_t>(params_.n_context / 2, params_.n_context - n_new);
  while (gone < turns_.size() && (tokens_.size() - (turns_[gone].begin - begin_) > room || turns_.size() - gone > n_turns_ / 2)) ++gone;
  const size_t from = gone < turns_.size() ? turns_[gone].begin : tokens_.size();
  tokens_.erase(tokens_.begin() + static_cast<ptrdiff_t>(begin_), tokens_.begin() + static_cast<ptrdiff_t>(from));
  turns_.erase(turns_.begin(), turns_.begin() + static_cast<ptrdiff_t>(gone));
  for (Turn& t : turns_) t.begin -= from - begin_, t.spoken -= from - begin_;
  return true;
}

// ---- a turn ---------------------------------------------------------------------------------------------------------------

bool Conversation::hear(std::string_view partial, std::string* why) {
  if (partial.size() > kMaxRequest) return *why = "a request has at most 1000 bytes", false;
  std::vector<int32_t> request, ahead;
  if (!open_message(LINNET_ROLE_USER, &request) || !say(partial, &request)) return *why = err_.text, false;
  if (!make_room(request.size(), why)) return false;
  if (!partial.empty()) request.pop_back();  // may yet become one with what follows
  ahead = tokens_;
  ahead.insert(ahead.end(), request.begin(), request.end());
  return ahead.empty() || sync(ahead, false, why);
}

struct Conversation::Draw {
  const OnToken* on_token;
  std::string text;
  std::vector<int32_t> tokens;
  int64_t begin_ns = 0, first_ns = 0, last_ns = 0, waited_ns = 0;
  size_t n = 0;
  std::exception_ptr thrown = nullptr;  // not to go through the library

  static int on_draw(void* user, int32_t token, const char* utf8, size_t n_bytes) {
    Draw& d = *static_cast<Draw*>(user);
    try {
      d.drawn(token, utf8, n_bytes);
    } catch (...) {
      d.thrown = std::current_exception();
    }
    return d.thrown != nullptr;
  }
  void drawn(int32_t token, const char* utf8, size_t n_bytes) {
    if (token >= 0) tokens.push_back(token), last_ns = now_ns(), ++n;
    if (!first_ns) first_ns = last_ns;
    const size_t at = text.size();
    text.append(utf8 ? utf8 : "", n_bytes);
    if (at == 0 && n_bytes && text[0] >= 'a' && text[0] <= 'z')
      text[0] = static_cast<char>(text[0] - 'a' + 'A');  // the model reads and writes lower case
    if (*on_token && n_bytes && text.front() != '{') (*on_token)(std::string_view(text).substr(at));  // a call is no sentence
  }
};

bool Conversation::generate(const OnToken& on_token, Draw* draw, std::string* why) {
  const char* suffix = edge(LINNET_ROLE_ASSISTANT, true);
  linnet_generate_params params = {};
  params.size = sizeof params;
  params.n_stop = suffix[0] ? 1 : 0;
  params.stop = &suffix;
  draw->on_token = &on_token;
  draw->text.clear();
  draw->tokens.clear();
  linnet_generated made = {};
  made.size = sizeof made;
  made.why = LINNET_STOP_CANCEL;
  linnet_status status = linnet_grammar_set(session_, 0, grammar_, &err_);
  while (status == LINNET_OK && made.why == LINNET_STOP_CANCEL && !cancelled_ && draw->tokens.size() < kMaxAnswer) {
    params.max_tokens = kMaxAnswer - static_cast<uint32_t>(draw->tokens.size());
    status = linnet_generate(session_, 0, &params, Draw::on_draw, draw, &made, &err_);
    if (draw->thrown) std::rethrow_exception(draw->thrown);
    if (status == LINNET_CANCELLED) status = LINNET_OK, made.why = LINNET_STOP_CANCEL;
  }
  size_t length = 0;
  (void)linnet_grammar_set(session_, 0, nullptr, nullptr);
  (void)linnet_length(session_, 0, &length, nullptr);
  held_.insert(held_.end(), draw->tokens.begin(), draw->tokens.end());
  held_.resize(std::min(held_.size(), length));
  if (status != LINNET_OK) return *why = err_.text, false;
  if (made.why == LINNET_STOP_STRING) draw->tokens.clear();  // they hold (a part of) the stop string
  if (made.why == LINNET_STOP_LENGTH || made.why == LINNET_STOP_CONTEXT || draw->text.empty())
    draw->text = kLost, draw->tokens.clear();  // half a call is none
  return !draw->tokens.empty() || say(draw->text, &draw->tokens);
}

bool Conversation::answer(std::string_view request, const OnToken& on_token, Reply* reply, std::string* why) {
  *reply = {};
  if (request.empty() || request.size() > kMaxRequest) return *why = "a request has 1 to 1000 bytes", false;
  Draw draw;
  draw.begin_ns = now_ns();
  std::vector<int32_t> message;
  if (!open_message(LINNET_ROLE_USER, &message) || !say(request, &message) || !close_message(LINNET_ROLE_USER, &message))
    return *why = err_.text, false;
  if (!make_room(message.size(), why)) return false;
  Turn turn = {tokens_.size(), tokens_.size()};
  tokens_.insert(tokens_.end(), message.begin(), message.end());
  const auto differ = std::mismatch(tokens_.begin(), tokens_.end(), held_.begin(), held_.end()).first;
  reply->prompt_tokens = message.size();
  reply->early_tokens = static_cast<size_t>(std::max<ptrdiff_t>(0, differ - tokens_.begin() - static_cast<ptrdiff_t>(turn.begin)));
  bool ok = true;
  for (int n_calls = 0; ok; ++n_calls) {
    ok = open_message(LINNET_ROLE_ASSISTANT, &tokens_) && sync(tokens_, true, why) && generate(on_token, &draw, why);
    if (!ok || cancelled_) break;
    turn.spoken = tokens_.size();
    tokens_.insert(tokens_.end(), draw.tokens.begin(), draw.tokens.end());
    reply->text = draw.text;
    if (draw.text.front() != '{') break;
    const int64_t called = now_ns();
    const ToolResult result = on_tool_(draw.text);
    draw.waited_ns += now_ns() - called;
    ok = close_message(LINNET_ROLE_ASSISTANT, &tokens_) && open_message(LINNET_ROLE_TOOL, &tokens_) &&
         say(result.json.substr(0, kMaxResult), &tokens_) && close_message(LINNET_ROLE_TOOL, &tokens_);
    if (!ok || (result.say.empty() && n_calls + 1 < kMaxCalls)) continue;
    reply->text = result.say.empty() ? kLost : result.say;  // the app speaks for itself
    ok = open_message(LINNET_ROLE_ASSISTANT, &tokens_);
    turn.spoken = tokens_.size();
    ok = ok && say(reply->text, &tokens_);
    if (ok && on_token) on_token(reply->text);
    break;
  }
  turns_.push_back(turn);
  reply->cancelled = cancelled_;
  reply->answer_tokens = draw.n;
  reply->first_token_ns = draw.first_ns ? draw.first_ns - draw.begin_ns : 0;
  if (draw.n > 1)
    reply->tokens_per_s =
        static_cast<double>(draw.n - 1) * 1e9 / static_cast<double>(std::max<int64_t>(1, draw.last_ns - draw.first_ns - draw.waited_ns));
  if (ok && !reply->cancelled && close_message(LINNET_ROLE_ASSISTANT, &tokens_)) return true;
  heard("");  // the turn never was
  if (!reply->cancelled && why->empty()) *why = err_.text;
  return reply->cancelled;
}

void Conversation::heard(std::string_view words) {
  if (turns_.empty()) return;
  const Turn turn = turns_.back();
  tokens_.resize(words.empty() ? turn.begin : turn.spoken);
  if (words.empty()) return turns_.pop_back();
  say(words, &tokens_);
  close_message(LINNET_ROLE_ASSISTANT, &tokens_);
}

void Conversation::cancel() {
  cancelled_ = true;
  if (session_) linnet_cancel(session_);
}

size_t Conversation::arena_bytes() const { return model_memory_.bytes + session_memory_.bytes + grammar_memory_.bytes; }

}  // namespace assistant
