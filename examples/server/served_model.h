// A model as the server has it: its file, tokenizer and chat template, and the grammars that requests bring. Any thread may use it; what
// only one may use at a time is lent.
#pragma once

#include <linnet.h>
#include <linnet_chat.h>
#include <linnet_convert.h>
#include <linnet_lora.h>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace server {

// What a request cannot have, with the status and the code that the API has for it.
struct Refusal {
  int status = 400;
  std::string message, code = "invalid_request", param = {};
};

class Memory {  // of linnet_mem_alloc
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { linnet_mem_free(data, bytes); }
  bool alloc(size_t n);
  void* data = nullptr;
  size_t bytes = 0;
};

// A grammar on this model. Drawing with it belongs to the scheduler's thread.
class Grammar {
 public:
  Grammar(std::shared_ptr<std::atomic<size_t>> of_all, std::string from) : key(std::move(from)), of_all_(std::move(of_all)) {}
  ~Grammar() { *of_all_ -= counted_; }
  void count() { *of_all_ += counted_ = memory.bytes + key.size(); }

  Memory memory;
  linnet_grammar* handle = nullptr;
  const std::string key;  // what it was compiled from

 private:
  const std::shared_ptr<std::atomic<size_t>> of_all_;  // bytes of all of the model
  size_t counted_ = 0;
};

// A prompt with what is to be known of its answer.
struct Prompt {
  std::vector<int32_t> tokens;
  std::string tail;  // the end of its text: what it has opened
};

class Model;

// A chat template in memory of its own, lent to one thread.
class Chat {
 public:
  // A conversation as the template takes it: {"messages":[...],"add_generation_prompt":true,...}.
  bool render(std::string_view conversation, Prompt* out, std::string* text, Refusal* why);
  const linnet_template* handle() const { return handle_; }

 private:
  friend class Model;
  const Model* model_ = nullptr;
  Memory memory_;
  linnet_template* handle_ = nullptr;
};

// Adapters' scales where requests say none, by ids. They outlast the model, which may go and come back. Any thread.
class LoraScales {
 public:
  std::vector<float> get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return scales_;
  }
  void set(std::vector<float> scales) {
    const std::lock_guard<std::mutex> lock(mutex_);
    scales_ = std::move(scales);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<float> scales_;
};

class Model {
 public:
  struct Options {
    std::string name, path, cache;  // cache: a folder where packed files are kept, "" = none
    linnet_format weights = LINNET_FORMAT_DEFAULT;
    linnet_load load = LINNET_LOAD_DEFAULT;
    unsigned n_threads = 1;
    bool shape_only = false;                                // for a plan: weights that take no memory
    size_t grammar_bytes = size_t{64} << 20;                // of grammars that are remembered or at work
    std::vector<std::pair<std::string, float>> loras = {};  // adapters: paths, and their scales where requests say none
    std::shared_ptr<LoraScales> scales = {};                // ... as they are now; NULL: as loras says
  };
  static std::shared_ptr<LoraScales> first_scales(const Options& options);
  Model() = default;
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  bool open(const Options& options, std::string* why);

  const linnet_model* handle() const { return model_; }
  const linnet_model_desc& desc() const { return desc_; }
  const std::string& name() const { return options_.name; }
  const std::string& path() const { return options_.path; }
  size_t memory_bytes() const;  // with adapters
  struct Lora {
    std::string path;
    Memory memory;
    linnet_lora* handle = nullptr;
    uint32_t rank = 0;
  };
  const std::vector<std::unique_ptr<Lora>>& loras() const { return loras_; }  // by their ids
  LoraScales& lora_scales() const { return *options_.scales; }
  size_t file_bytes() const { return file_.bytes; }
  size_t grammar_bytes() const { return options_.grammar_bytes; }
  size_t grammars_used() const { return *grammars_held_; }

  std::atomic<uint32_t> n_context{0};  // positions of a sequence, as its scheduler has them
  // Whether the prompt leaves room for an answer; field: of the request that it came in, for the reason.
  bool fits(const std::vector<int32_t>& prompt, const char* field, Refusal* why) const;

  bool has_chat() const { return !program_.empty() || own_template_; }
  const std::string& no_chat() const { return no_chat_; }  // why not
  const linnet_template_desc& chat_desc() const { return chat_desc_; }
  const std::string& chat_stop() const { return chat_stop_; }  // a text that ends an answer and is no token; "" = none
  std::unique_ptr<Chat> lend_chat(Refusal* why);
  void take_back(std::unique_ptr<Chat> chat);

  bool tokenize(std::string_view text, uint32_t flags, std::vector<int32_t>* out, Refusal* why) const;
  bool detokenize(const std::vector<int32_t>& tokens, std::string* out, Refusal* why) const;
  std::string token_text(int32_t token) const;
  uint32_t token_kind(int32_t token) const;

  // Bytes that compiling a grammar takes, for that long; one at a time is, of all models.
  static size_t compiler_bytes();
  // The same text gives the same grammar, while it is remembered; what was used least recently goes for another's room. chat: for calls as
  // the model writes them (json: the tools).
  struct GrammarText {
    linnet_grammar_kind kind = LINNET_GRAMMAR_SCHEMA;
    bool spaced = false, calls = false, required = false, parallel = true;
    std::string text, tool;
    std::string field = "response_format";  // of the request that it came in, for what is wrong with it
  };
  std::shared_ptr<Grammar> grammar(const GrammarText& of, const Chat* chat, Refusal* why);

 private:
  bool open_chat();
  bool open_lora(Lora* lora, std::string* why);
  bool compile(const GrammarText& of, const Chat* chat, std::vector<char>* out, Refusal* why) const;
  bool format_template(std::string* text, std::string* tokens);
  bool make_chat(Chat* out, std::string* why) const;

  Options options_;
  linnet_source* source_ = nullptr;
  linnet_view file_ = {};
  Memory memory_;
  linnet_model* model_ = nullptr;
  linnet_model_desc desc_ = {};
  std::vector<std::unique_ptr<Lora>> loras_;
  std::vector<char> program_;  // of a template that was made here
  std::string special_tokens_, chat_stop_, no_chat_;
  bool own_template_ = false, text_tokens_ = false;
  linnet_template_desc chat_desc_ = {};
  std::string switch_name_, switch_on_, switch_off_;

  std::mutex chats_mutex_;
  std::vector<std::unique_ptr<Chat>> chats_;
  std::mutex grammars_mutex_;                     // of what follows
  std::list<std::shared_ptr<Grammar>> grammars_;  // what was used last is first
  const std::shared_ptr<std::atomic<size_t>> grammars_held_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace server
