// The machine that a chat template runs on: memory of values, the text that is being written, what a run may still spend, and the
// operations on values. What can fail returns false behind fail() or full(); nothing here touches a heap or throws.
#pragma once
#include <initializer_list>

#include "../../platform/reader.h"
#include "../../platform/status.h"
#include "program.h"
#include "value.h"

namespace linnet::chat {

// Caps that hold whatever a template does; linnet_template_params has those that a caller sets.
inline constexpr uint32_t kMaxCalls = 64;      // calls of macros, callers and recursive loops in one another
inline constexpr uint32_t kMaxArguments = 64;  // of one call

// What runs through a value. It is changed as it goes.
struct Iterator {
  Value of;         // what it runs through
  uint32_t at = 0;  // of its bytes (a text), items or entries
};
struct Namespace {
  Value* names;   // texts
  Value* values;  // of each
  uint32_t n, room;
};
// What a method is of, and which: "split" of a text.
struct Method {
  Value self;
  std::string_view name;
};
// The slots of a function's variables; those of the functions around it are its parents'.
struct Frame {
  Frame* parent;
  Value* slots;  // (n_slots of the function)
};
struct Macro {
  const Function* function;
  Frame* around;
};
struct Loop {
  Iterator items;
  const Function* filter;  // `for x in xs if ...`: what an item must pass; nullptr: none
  Frame* around;           // of the filter
  const Function* recurse;
  Value before, current, after, changed;  // kMissing where there is none; `changed`: what changed() was last given
  uint32_t length;                        // kUnknownLength until somebody asks
  uint32_t index, depth0;                 // items so far; loops around it that called one another
};
inline constexpr uint32_t kUnknownLength = 0xFFFFFFFF;
struct Cycler {
  Value items;  // a tuple; of a joiner its separator
  uint32_t at;
};

// Arguments of a call, of a filter behind the value, or of a test.
struct Args {
  const Value* values;  // (n) by position
  uint32_t n;
  const Value* named;  // (2 n_named) name, value
  uint32_t n_named;
};

struct Machine {
  const Program* program = nullptr;
  Value context;  // a dict: messages, tools, what the caller says beside
  Value tokens;   // a dict of the model's own special tokens: bos_token, eos_token
  Error* err = nullptr;
  const char* name = "";  // of the template, for errors
  Status status = LINNET_OK;
  uint16_t line = 0;
  bool autoescape = false;  // {% autoescape %}
  int64_t now = 0;          // seconds since 1970, of strftime_now
  uint32_t calls = 0;
  uint64_t steps = 0, max_steps = 0;

  // Memory of values: [memory, memory + n_memory) is taken.
  uint8_t* memory = nullptr;
  size_t n_memory = 0, memory_bytes = 0, peak = 0;

  Value* stack = nullptr;  // (stack_size)
  uint32_t n_stack = 0, stack_size = 0;

  // The text that is being written, and of each byte whether the conversation brought it. Texts that are put together lie at its end until
  // finish() takes them off.
  char* out = nullptr;
  uint8_t* marks = nullptr;
  size_t n_out = 0, out_bytes = 0, out_peak = 0;

  // ---- errors: always false
  template <class... Parts>
  bool fail(Parts... parts) {
    status = linnet::fail(err, LINNET_BAD_ARG, name, ", line ", line, ": ", parts...);
    if (err) err->line = line;
    return false;
  }
  bool full(const char* what, uint64_t cap);  // a cap was reached: "the template makes more than CAP WHAT"

  // ---- what a run may spend
  // Work that grows with n: bytes looked at, items gone through.
  bool spend(uint64_t n) {
    steps += n;
    return steps <= max_steps || full("steps", max_steps);
  }
  void* take(size_t bytes);  // aligned to 8; nullptr behind full()
  Value* take_values(size_t n) { return static_cast<Value*>(take(n * sizeof(Value))); }

  // ---- texts
  // Appends to the text that is being written.
  bool put(std::string_view s, uint8_t from);
  bool put(const Value& text);                 // a text with its marks
  bool put_char(uint32_t code, uint8_t from);  // 1 to 4 bytes
  bool put_integer(int64_t i, uint8_t from);
  size_t mark() const { return n_out; }
  // What was put since mark() becomes a text of its own, and is no longer written.
  bool finish(size_t mark, Value* out_text);
  void drop(size_t mark) { n_out = mark; }
};

// ---- lists and dicts ----------------------------------------------------------------------------------------------------------

// A list or a tuple of items that lie in the machine's memory. Refuses what nests too deep.
bool make_list(Machine& m, Kind kind, const Value* items, size_t n, Value* out);
bool make_pair(Machine& m, const Value& a, const Value& b, Value* out);  // a tuple
// Entries as key, value, ...; of a key that comes twice the last value counts, at the first one's place. Keys must be hashable.
bool make_dict(Machine& m, Value* entries, size_t n, Value* out);
// The value of a key, nullptr where there is none (or the key cannot be one).
const Value* find(Machine& m, const Dict& dict, const Value& key);
const Value* find(Machine& m, const Dict& dict, std::string_view key);
bool hashable(const Value& v);

// ---- operations (operators.cpp) --------------------------------------------------------------------------------------------------

const char* type_name(const Value& v);  // as Python calls it: "str", "int", "NoneType"; an undefined value: "Undefined"
bool truth(const Value& v);
// The error that using an undefined value is: "'tools' is undefined".
bool undefined_error(Machine& m, const Value& v);
bool binary(Machine& m, Op op, const Value& a, const Value& b, Value* out);  // kAdd ... kPower
bool unary(Machine& m, Op op, const Value& a, Value* out);                   // kNegate, kPlus
// As Python's ==. Where a run has spent its steps in it the answer is false, and m.status says so.
bool equal(Machine& m, const Value& a, const Value& b);
// -1, 0, 1, or 2 where a NaN is one of them; an error for what Python does not order.
bool order(Machine& m, const Value& a, const Value& b, int* out);
bool contains(Machine& m, const Value& item, const Value& in, bool* out);
bool get_attribute(Machine& m, const Value& of, std::string_view name, Value* out);  // a.b: attribute, then key
bool get_item(Machine& m, const Value& of, const Value& key, Value* out);            // a[b]: key, then attribute
bool slice(Machine& m, const Value& of, const Value& start, const Value& stop, const Value& step, Value* out);
bool length(Machine& m, const Value& v, int64_t* out);  // len()
size_t count_chars(const Value& text);                  // code points
// The place in a text where character `at` begins, its end where it has fewer.
size_t char_place(const Value& text, size_t at);
// What a list, a text, ... of n items takes of [start:stop:step]: the first place, the step, and how many.
struct Cut {
  int64_t first, step;
  size_t n;
  int64_t stop = 0;  // the place before which it ends
};
bool cut(Machine& m, const Value& start, const Value& stop, const Value& step, size_t n, Cut* out);

// Runs through a value: texts by character, dicts by key. An undefined value has no items.
bool begin(Machine& m, const Value& v, Iterator* out);
enum class Next { kItem, kEnd, kFailed };
Next next(Machine& m, Iterator* it, Value* out);
Next loop_next(Machine& m, Loop* loop, Value* out);  // interpreter.cpp: the filter of a loop is a part of the program
bool loop_length(Machine& m, Loop* loop, int64_t* out);
bool loop_attribute(Machine& m, const Value& loop, std::string_view name, bool* found, Value* out);
bool set_in_namespace(Machine& m, Namespace* space, std::string_view name, const Value& v);
// list(v): all items, or what is left of them.
bool to_list(Machine& m, const Value& v, Value* out);
// What `it` runs through once, as the generators that Jinja2's filters return: of a list that is there already.
bool make_iterator(Machine& m, const Value& list, Value* out);

// ---- characters (characters.cpp) --------------------------------------------------------------------------------------------------

// As Python 3.11's str methods see one character of Unicode 14; newer ones are of the kind that they have in Unicode 16.
bool is_printable(uint32_t code);
bool is_space(uint32_t code);  // also U+001C to U+001F; not U+200B
bool is_alpha(uint32_t code);
bool is_decimal(uint32_t code);
bool is_digit(uint32_t code);
bool is_numeric(uint32_t code);
inline bool is_alnum(uint32_t code) { return is_alpha(code) || is_numeric(code); }
bool is_upper(uint32_t code);
bool is_lower(uint32_t code);
bool is_titlecase(uint32_t code);  // one that is upper and lower at once, as U+01C5
inline bool is_cased(uint32_t code) { return is_upper(code) || is_lower(code) || is_titlecase(code); }
bool is_case_ignorable(uint32_t code);  // what may stand between a final sigma and its word
bool is_identifier_start(uint32_t code);
bool is_identifier_part(uint32_t code);
int decimal_value(uint32_t code);  // 0 to 9 of what is_decimal(), else -1
bool ends_line(uint32_t code);     // what splitlines() cuts behind
// What a character becomes: 1 to 3 characters.
size_t to_upper(uint32_t code, uint32_t (&out)[3]);
size_t to_lower(uint32_t code, uint32_t (&out)[3]);  // a sigma at the end of a word is change_case's
size_t to_title(uint32_t code, uint32_t (&out)[3]);
size_t to_folded(uint32_t code, uint32_t (&out)[3]);

// ---- texts (texts.cpp) ---------------------------------------------------------------------------------------------------------------

// What methods and filters share. Where the text is a markup, so is what comes of it; nothing is escaped here.
Value piece(const Value& text, size_t at, size_t n);  // as part(); without marks where its bytes are of one origin
enum class Case { kUpper, kLower, kTitle, kCapitalize, kSwap, kFold };
bool change_case(Machine& m, const Value& text, Case to, Value* out);
// Takes off white space, or the characters of the text `chars` where one is given (kMissing and none: white space).
enum : uint32_t { kLeft = 1, kRight = 2 };
bool strip(Machine& m, const Value& text, const Value& chars, uint32_t sides, Value* out);
bool replace(Machine& m, const Value& text, const Value& from, const Value& to, int64_t most, Value* out);  // most < 0: all
// `fill`, one character, on these sides of the text until it has `width` characters.
bool pad(Machine& m, const Value& text, int64_t width, const Value& fill, uint32_t sides, Value* out);
// Lists of pieces. separator: a text, or kMissing or none: runs of white space; most: cuts, < 0: all; from the right where `last` says so.
bool split(Machine& m, const Value& text, const Value& separator, int64_t most, bool last, Value* out);
bool split_lines(Machine& m, const Value& text, bool keep_ends, Value* out);
// Where `what` first lies in `in` at or behind byte `from`, in bytes, or last lies; kNowhere. false: the steps are used up.
bool find_bytes(Machine& m, std::string_view in, std::string_view what, size_t from, size_t* at);
bool find_last_bytes(Machine& m, std::string_view in, std::string_view what, size_t* at);

// ---- texts of values (print.cpp) ---------------------------------------------------------------------------------------------------

bool put_str(Machine& m, const Value& v);   // str(v) to the text that is being written
bool put_repr(Machine& m, const Value& v);  // repr(v)
bool to_text(Machine& m, const Value& v, Value* out);
// json.dumps as transformers' tojson calls it; indent kMissing or none: on one line.
bool to_json(Machine& m, const Value& v, bool ascii, const Value& indent, const Value& separators, bool sort_keys, Value* out);
bool escape(Machine& m, const Value& v, Value* out);  // markupsafe.escape: a markup
bool put_ascii(Machine& m, const Value& v);           // ascii(v)
bool put_fill(Machine& m, std::string_view one, uint64_t times, uint8_t from);

// ---- numbers (numbers.cpp) ----------------------------------------------------------------------------------------------------------

inline constexpr size_t kNumberBytes = 32;
size_t float_repr(double v, char (&out)[kNumberBytes]);  // as Python's repr; returns its length
// A decimal number without white space around it, exact to the last bit: false where it is none. "nan" and "inf" are Python's.
bool read_float(std::string_view s, double* out);
// A float with a precision, as Python's formats 'e', 'f', 'g' and their capitals write it: rounded half-way to even from all its digits;
// 'r': its repr.
enum : uint32_t {
  kFloatPoint = 1,           // a point in any case, 'g' keeps its zeros ("#")
  kFloatZero = 2,            // 'g' with a digit behind the point: a format spec without a type
  kFloatNoNegativeZero = 4,  // "z"
};
bool put_float(Machine& m, double v, char kind, uint32_t precision, uint32_t flags, uint8_t from);
bool round_float(double v, int64_t digits, double* out);  // round(v, digits); false: too large for a float
enum class ReadInt { kInt, kBig, kNone };
// As int(s, base) of what has no white space around it: sign, the prefix of base 2, 8, 16 or 0, digits, "_" between them.
ReadInt read_int(std::string_view s, uint32_t base, int64_t* out);

// ---- a conversation (context.cpp) -------------------------------------------------------------------------------------------------------

// A JSON text, all of it data; texts without escapes are views of it. Refuses by JSON pointer what is no JSON, ill-formed UTF-8 (lone
// surrogates too), more than 64 levels. NaN, Infinity and -Infinity are numbers, as in Python; of a key that comes twice the last counts.
inline constexpr uint32_t kMaxJsonDepth = 64;
bool read_json(Machine& m, std::string_view json, Value* out);

// ---- names that templates call (methods.cpp, filters.cpp, predicates.cpp, functions.cpp, formatting.cpp)
// ---------------------------------

// Whether a value has a method or attribute of this name; *out is the value or a kMethod. Names of Python that a sandbox refuses give an
// undefined value that tells so.
bool find_method(Machine& m, const Value& of, std::string_view name, bool* found, Value* out);
bool call_method(Machine& m, const Method& method, const Args& args, Value* out);
bool call_function(Machine& m, FunctionId id, const Args& args, Value* out);
bool apply_filter(Machine& m, FilterId id, const Value& v, const Args& args, Value* out);
bool apply_test(Machine& m, TestId id, const Value& v, const Args& args, bool* out);
// "%..." % v, and str.format.
bool percent(Machine& m, const Value& format, const Value& v, Value* out);
bool format(Machine& m, const Value& format, const Args& args, Value* out);
bool format_spec(Machine& m, const Value& v, const Value& spec, Value* out);  // format(v, spec)

// The arguments of a call by name: names are those of the parameters in order, `least` of them must be given. What is not given is
// kMissing in out (as many as there are names).
bool take_args(Machine& m, const char* callee, const Args& args, std::initializer_list<std::string_view> names, uint32_t least, Value* out);

}  // namespace linnet::chat
