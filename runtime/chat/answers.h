// What a model answers, taken apart while it comes: reasoning, content, calls of tools and their arguments. How a model marks them is its
// envelope, which convert learns from the chat template (convert/template_probe.cpp) and the model file holds.
//
// Whatever the text is, no character of it is lost: what is no call after all comes as content, its marks too. Left out are the marks of
// what was understood, white space around content and around each piece of reasoning, and a mark of the turn's end that ends the text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../../platform/status.h"
#include "view.h"

namespace linnet::chat {

// A short text, padded with zeros. White space around it is not stored; white space inside may be missing in an answer, or be more.
inline constexpr size_t kMarkBytes = 64;
struct Mark {
  char text[kMarkBytes];
  View view() const {
    const void* const end = std::memchr(text, 0, kMarkBytes);
    return {text, end ? static_cast<size_t>(static_cast<const char*>(end) - text) : kMarkBytes};
  }
  bool empty() const { return !text[0]; }
};

enum class Head : uint8_t {
  kNone,       // no calls
  kNameKey,    // {"name": "N", "arguments": {...}}
  kNameIsKey,  // {"N": {...}}
  kText,       // the name as text, then the arguments
  kHarmony,    // messages with channels and recipients
};
enum class Arguments : uint8_t {
  kJson,
  kPairs,   // a mark for each key and value
  kTags,    // each key is a tag
  kPython,  // N(k='v', n=1)
  kGemma,   // {k:QvQ,n:1}, Q: the mark `quote`
};
enum class Bare : uint8_t {
  kNever,
  kBegins,  // what begins the answer is a call where it looks like one and names a tool
  kAlone,   // so is what is the whole answer
};

struct Envelope {
  uint32_t magic, version;
  Head head;
  Arguments arguments;
  Bare bare;
  uint8_t value_lines;     // kPairs: values stand between line ends that are not theirs
  uint8_t counted;         // kText: a number behind the name and this character is no part of it: N:0; 0: none
  uint8_t python;          // kNameKey: behind section_open stands Python as well, N.call(k='v')
  uint8_t ends_reasoning;  // a call may begin in the middle of reasoning
  uint8_t reserved[9];
  Mark reason_open, reason_close;    // no reason_close: no reasoning
  Mark content_open, content_close;  // around content, where the model writes them
  Mark section_open[2];              // around calls, in either spelling; section_close may be missing
  Mark section_close;
  Mark call_open, call_close;                              // around one call
  Mark name_key, args_key, id_key;                         // kNameKey; "name", "arguments" and "parameters" are known in any case
  Mark name_prefix;                                        // kText: what a name loses: "functions."
  Mark id_open;                                            // kText: an id stands in front of the name and this mark
  Mark id_close;                                           // kText: an id stands behind the name and this mark
  Mark args_open;                                          // kText: ends the name
  Mark key_open, key_close, key_close_other, value_close;  // kPairs; behind key_close_other stands no text but JSON
  Mark quote;                                              // kGemma
  Mark tag_prefix;                                         // kTags
  Mark end[2];                                             // of the turn
  Mark switch_name, switch_on, switch_off;                 // variable of a conversation that switches reasoning, its values as JSON
};
inline constexpr uint32_t kEnvelopeMagic = 0x45414e4c, kEnvelopeVersion = 1;  // "LNAE"

// The bytes of a model file's envelope; refuses what no parser could go by.
Status envelope_open(const void* data, size_t bytes, const char* name, Envelope* out, Error* err);

// Whether a text is one of its marks, a part of one, or holds one (of more than three characters).
bool is_mark(const Envelope& envelope, View text);

enum class AnswerKind : uint8_t {
  kReasoning,
  kContent,
  kCall,       // text: the name
  kArguments,  // text: more of a JSON object
  kCallEnd,    // the call is whole
  kCallLost,   // it was none: forget it; its text comes as content
  kReasoned,   // a mark has ended the reasoning
};
struct AnswerEvent {
  AnswerKind kind;
  View text;  // until the sink returns
  View id;    // of kCall and kCallEnd, where the model gives one; it may be known at the end alone
};
using AnswerSink = void (*)(void* user, const AnswerEvent& event);

// What is written now.
enum class AnswerZone : uint8_t { kReasoning, kContent, kCall };

class Answer {
 public:
  // Memory for calls of up to call_bytes; what is longer comes as content.
  static constexpr size_t kLeastCallBytes = 1024;
  static size_t need(size_t call_bytes) { return 2 * (call_bytes < kLeastCallBytes ? kLeastCallBytes : call_bytes); }

  // prompt: the rendered text that the answer continues, or its end: what it opened is open. tools: a JSON list as templates take it, for
  // the types of arguments and the names of bare calls; empty: not known, any name is one. The envelope, tools and memory must stay.
  void begin(const Envelope& envelope, std::string_view prompt, std::string_view tools, void* memory, size_t bytes, AnswerSink sink,
             void* user);
  void feed(std::string_view text);  // pieces may end anywhere
  void end();
  AnswerZone zone() const {
    return state_ > State::kHeader ? AnswerZone::kCall : reasoning_ ? AnswerZone::kReasoning : AnswerZone::kContent;
  }

 private:
  enum class State : uint8_t {
    kText,
    kBetween,  // behind a call
    kHeader,   // of a message of harmony
    kSection,  // behind section_open, or behind a call there
    kHead,     // behind call_open
    kKey,      // of a call's object
    kSkip,     // its value says nothing
    kNextKey,
    kNamed,   // kNameIsKey: behind the name
    kObject,  // arguments: an object is next, or a text that holds one
    kJson,
    kPair,
    kTextValue,  // of a pair: a text
    kValue,      // of a pair: something else
    kTag,
    kTagText,
    kParameter,  // of a Python call
    kPython,     // its value
    kNextParameter,
    kClose,  // behind the arguments
  };
  enum class What : uint8_t {
    kNothing,
    kReasonOpen,
    kReasonClose,
    kContentOpen,
    kContentClose,
    kSection,
    kCall,
    kBare,
    kEnd,
    kMessage,
    kMessageEnd
  };
  struct Found {
    What what;
    size_t end;
  };
  // White space that is text only if more follows.
  struct Blanks {
    char text[256];
    uint16_t n;
    bool begun;  // text went out
    bool skip;   // none has in this piece
  };
  // A JSON or Python value on its way to JSON.
  enum class Scan : uint8_t { kMore, kDone, kBroken };
  enum class Want : uint8_t { kValue, kKey, kColon, kNext };
  static constexpr uint32_t kMaxDepth = 64;
  struct Literal {
    Arguments form;
    Want want;
    bool text, marked;  // inside of a text; of one between marks
    bool first;         // nothing stands in the innermost container
    bool silent;
    char quote;
    uint8_t depth;
    uint64_t objects;         // a bit per level
    char closers[kMaxDepth];  // of each level
  };

  View text() const { return {memory_ + from_, n_ - from_}; }
  void take(size_t n) { from_ += n, base_ += n; }
  void emit(AnswerKind kind, View text, View id = {});
  void put(View text);
  void put_blanks(Blanks* b, View blanks);
  void put_json(View text);  // inside of a JSON text
  void put_args(View text) {
    if (!literal_.silent && !text.empty()) emit(AnswerKind::kArguments, text);
  }
  void begin_piece(bool reasoning);

  size_t match(const Mark& mark, size_t at) const;
  size_t skip(size_t at) const;  // white space
  Found mark_at(size_t at) const;
  Found bare_at(size_t at) const;
  bool step();
  bool text_step();
  bool between_step();
  bool header_step();
  bool section_step();
  bool head_step();
  bool name_step(size_t at, bool python);
  bool key_step();
  bool next_key_step();
  bool named_step();
  bool object_step();
  bool arguments_step();
  bool skip_step();
  bool pair_step();
  bool text_value_step();
  bool value_step();
  bool tag_step();
  bool tag_text_step();
  bool parameter_step();
  bool next_parameter_step();
  bool close_step();

  void open(size_t end, State next);
  void begin_call(size_t start, size_t at, State next);
  bool announce();
  void lose();
  bool broken();
  bool call_ended(size_t at);
  bool object_ended(size_t at);
  bool begin_json(size_t at, State next);
  bool text_argument(size_t from, size_t to);
  void put_key(View key);
  bool is_harmony_end(size_t at, size_t* end) const;
  size_t value_end(size_t at, size_t* behind) const;
  void begin_literal(Arguments form, bool silent);
  bool reads(Arguments form, View value, bool silent);
  Scan literal(View s, size_t* at, bool whole);
  Scan literal_text(View s, size_t* at, bool whole);
  Scan literal_word(View s, size_t* at, bool whole);
  Scan text_closes(View s, size_t at, bool whole, bool* yes) const;
  void put_typed(View value, View schema, bool json);

  const Envelope* e_ = nullptr;
  View tools_;
  char* memory_ = nullptr;
  size_t room_ = 0, from_ = 0, n_ = 0;  // memory_[from_, n_) is not told yet
  AnswerSink sink_ = nullptr;
  void* user_ = nullptr;
  uint64_t base_ = 0;         // bytes told before
  uint64_t tried_until_ = 0;  // where attempts at calls ended
  uint32_t tries_ = 0;
  uint64_t starts_[4] = {};  // which bytes a mark begins with
  Blanks reason_ = {}, content_ = {};
  State state_ = State::kText;
  bool reasoning_ = false, final_ = false, content_opened_ = false;
  bool prompt_reasons_ = false;  // the prompt began reasoning, and the answer has said nothing yet
  bool opens_ = true;            // what may open at the beginning of content alone: nothing but white space came

  // The call at hand; places count from from_.
  size_t start_ = 0, at_ = 0, scan_ = 0;
  bool section_ = false, list_ = false, announced_ = false, bare_ = false, told_ = false, first_ = false, value_json_ = false;
  bool null_args_ = false, other_keys_ = false;
  State next_ = State::kClose;  // behind the arguments
  uint32_t n_in_section_ = 0, n_wraps_ = 0;
  size_t name_at_ = 0, name_n_ = 0, id_at_ = 0, id_n_ = 0, args_at_ = 0, args_n_ = 0, key_at_ = 0, key_n_ = 0;
  View parameters_;  // the schema of what the tool takes
  static constexpr uint32_t kMaxTags = 16;
  struct Tag {
    size_t at, n;
    bool list, first;
    View schema;
  } tags_[kMaxTags] = {};
  uint32_t n_tags_ = 0;
  Literal literal_ = {};
};

}  // namespace linnet::chat
