// A conversation with a model that calls tools. All of linnet that the assistant uses is in conversation.cpp; the README's "Put it in your
// app" walks through it.
#pragma once
#include <linnet_chat.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assistant {

struct ConversationConfig {
  std::string model, tools;  // files: a packed GGUF with a chat format for roles user, assistant and tool; the tools as JSON
  uint32_t n_threads = 1;
  uint32_t n_context = 0;  // tokens; 0: as the model was trained
  uint32_t n_turns = 8;    // exchanges remembered at most
};

// What a tool gives back: JSON for the model, which makes a sentence of it; or a sentence of the app's own in `say`, where the model would
// not know what to say.
struct ToolResult {
  std::string json, say;
};

struct Reply {
  std::string text;            // to be spoken
  bool cancelled = false;      // nothing is to be spoken, and the context is as before the turn
  size_t prompt_tokens = 0;    // of this turn: request and what stands around it
  size_t early_tokens = 0;     // of these computed before the request was complete
  size_t answer_tokens = 0;    // drawn
  int64_t first_token_ns = 0;  // from the call of answer() to the first token
  double tokens_per_s = 0;
};

// Used by one thread at a time, cancel() excepted. Calls that fail say why and leave the conversation as it was.
class Conversation {
 public:
  using OnTool = std::function<ToolResult(std::string_view call)>;
  using OnToken = std::function<void(std::string_view text)>;

  Conversation() = default;
  Conversation(const Conversation&) = delete;
  ~Conversation();
  bool open(const ConversationConfig& config, OnTool on_tool, std::string* why);

  // The user is still speaking, and this is what has been understood so far: it is computed ahead, and what no longer holds is rolled back.
  // "" makes ready for the next request.
  bool hear(std::string_view partial, std::string* why);
  // The user has said this. Calls tools as the model asks for them; on_token gets the sentence piece by piece.
  bool answer(std::string_view request, const OnToken& on_token, Reply* reply, std::string* why);
  // Of the last answer the user heard only this much, since they spoke. Of nothing heard nothing is remembered, not even the request.
  void heard(std::string_view words);
  // Ends the running answer soon, or the next one. Any thread.
  void cancel();
  // Cancels from here on are meant for what comes.
  void ready() { cancelled_ = false; }

  size_t arena_bytes() const;
  size_t context_used() const { return held_.size(); }
  size_t context() const { return params_.n_context; }
  const linnet_session* session() const { return session_; }

 private:
  struct Turn {
    size_t begin = 0, spoken = 0;  // where its tokens begin, and those of its spoken sentence
  };
  struct Memory {
    void* data = nullptr;
    size_t bytes = 0;
    bool alloc(const linnet_need& need);
    ~Memory() { linnet_mem_free(data, bytes); }
  };
  struct Draw;

  bool constrain(const std::string& tools, std::string* why);
  bool tokenize(std::string_view text, uint32_t flags, std::vector<int32_t>* out);
  const char* edge(linnet_role role, bool behind) const;
  bool open_message(linnet_role role, std::vector<int32_t>* out);
  bool close_message(linnet_role role, std::vector<int32_t>* out);
  bool say(std::string_view text, std::vector<int32_t>* out);
  bool make_room(size_t n_new, std::string* why);
  bool sync(const std::vector<int32_t>& tokens, bool may_cancel, std::string* why);
  bool generate(const OnToken& on_token, Draw* draw, std::string* why);

  OnTool on_tool_;
  linnet_error err_ = {};
  linnet_view file_ = {};
  Memory model_memory_, session_memory_, grammar_memory_;
  linnet_model* model_ = nullptr;
  linnet_session* session_ = nullptr;
  linnet_grammar* grammar_ = nullptr;
  linnet_session_params params_ = {};
  uint32_t n_turns_ = 8;
  std::atomic<bool> cancelled_{false};
  std::vector<char> scratch_;
  std::vector<int32_t> tokens_;  // of the conversation
  std::vector<int32_t> held_;    // of the session: what is computed
  std::vector<Turn> turns_;
  size_t begin_ = 0;  // tokens before the first turn
};

}  // namespace assistant
