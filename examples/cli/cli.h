// What all subcommands of the `linnet` tool share: option tables, arguments, JSON, progress, opening models.
// The tool stands on the C API, which it makes visible, and on convert.h for what people want to know of a model.
#pragma once
#include <convert.h>
#include <linnet_audio.h>
#include <linnet_chat.h>
#include <linnet_convert.h>
#include <linnet_device.h>
#include <linnet_embed.h>
#include <linnet_lora.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace linnet::cli {

inline constexpr int kExitOk = 0, kExitError = 1, kExitUsage = 2;

// ---- options (options.cpp) -----------------------------------------------------------------------------------------------

enum class Kind {
  kFlag,         // no argument
  kText,         // anything
  kTexts,        // may be given several times
  kPath,         // a file or folder
  kModel,        // the same, or a model on the hub (hf:...), which is a path by the time a command runs
  kCount,        // a whole number in [min, max]
  kCountOrOpen,  // the same, or -1: as many, or whichever; count() gives max then
  kReal,         // a decimal number in [min, max]
  kIds,          // token ids with commas: 1,2,3 or [1,2,3]
  kCounts,       // whole numbers with commas, each in [min, max]
  kKv,           // formats of the KV cache: i8, i8/f16, i8,0-3=f16
  kKvs,          // several of these with commas: i8,0-3=f16,f16 are two
  kFormats,      // of weights, with commas
  kFormat,       // of weights; this and those below take one of choices()
  kShape,        // of a known model
  kFull,
  kIsa,
  kCuda,
  kLoad,
  kLayout,
  kShell,
  kCacheTask,
  kLog,
  kRows,
  kWindows,
  kReasoning,
  kPooling,
  kNormalise,
  kTranscript,
};

// A word that a kind takes, what it stands for, and what --help says beside it.
struct Choice {
  std::string name;
  uint32_t value = 0;
  const char* note = "";
};
// The words of a kind: errors, --help, the manual and completion list them, parsing looks them up. None where it takes no words.
std::vector<Choice> choices(Kind kind);

// An end of an option's range: of counts as the whole number that it is.
struct Bound {
  double real;
  uint64_t whole;
  constexpr Bound(double v) : real(v), whole(0) {}
  constexpr Bound(int v) : real(v), whole(v < 0 ? 0 : static_cast<uint64_t>(v)) {}
  constexpr Bound(uint64_t v) : real(static_cast<double>(v)), whole(v) {}
};

// One row of a subcommand's table: parsing, checking and --help all come from it.
struct Option {
  const char* name;      // "--temp", or "-n, --n-tokens" where there is a short form
  const char* argument;  // what --help calls the value; nullptr for a flag
  Kind kind;
  const char* help;                // "{}" in it stands for choices(kind)
  const char* fallback = nullptr;  // used when the option is not given
  Bound min = 0, max = uint64_t{UINT32_MAX};
  bool required = false;
};
using Options = std::vector<Option>;

class Args;
struct Command {
  const char* name;
  const char* summary;     // one line
  const char* positional;  // as shown in usage, "" for none
  int min_positional, max_positional;
  const char* details;  // shown by --help below the options; paragraphs between empty lines, the last one of "example: linnet ..."
  Options options;
  int (*run)(const Args&);
  Kind takes = Kind::kText;  // what a positional argument is
};
std::vector<Command> commands();  // all of them (main.cpp)

class Args {
 public:
  explicit Args(const Command& command) : command_(command) {}
  // Fills the object; on a usage error prints a sentence that names the argument and returns false.
  bool parse(int argc, char** argv);
  int find_models();  // puts paths for models on the hub, pulling what is not there; an exit code; prints what is wrong

  bool given(const char* name) const { return values_.count(&find(name)) != 0; }
  bool flag(const char* name) const { return given(name); }
  bool has(const char* name) const { return given(name) || find(name).fallback; }
  // These need no check: parse() has refused what is not a number, an id list, ... in its range. 0 or empty where there is neither a value
  // nor a fallback.
  std::string text(const char* name) const;
  std::vector<std::string> texts(const char* name) const;
  uint64_t count(const char* name) const;
  bool open(const char* name) const;  // whether it is -1
  double real(const char* name) const;
  std::vector<int32_t> ids(const char* name) const;
  std::vector<uint64_t> counts(const char* name) const;
  std::vector<std::string> items(const char* name) const;  // of a list, each as set() takes it; one "" where there is no value
  uint32_t choice(const char* name) const;                 // the value of the word

  void set(const char* name, const std::string& value) { values_[&find(name)] = {value}; }  // as if that had been given

  bool json() const { return flag("--json"); }
  bool help() const { return flag("--help"); }
  const std::vector<std::string>& positional() const { return positional_; }
  const Command& command() const { return command_; }

 private:
  const Option* lookup(std::string_view name) const;
  const Option& find(const char* name) const;
  bool accept(const Option& option, const std::string& value);

  const Command& command_;
  std::map<const Option*, std::vector<std::string>> values_;
  std::vector<std::string> positional_;
};

// What somebody who typed that may have meant (habits.cpp), as the end of an error: ": did you mean '--context'?". "" where nothing is like
// it.
std::string meant_option(const Command& command, std::string_view typed);
std::string meant_command(std::string_view typed);
std::string meant_in_chat(std::string_view typed, const std::vector<std::string>& names);  // of a chat's own commands, "/exit"

// Becomes linnet-assistant or linnet-server; returns only when there is none. argv[0] is replaced, the rest is passed on.
int become_other(const char* command, char** argv);
void print_help(const Command& command);
std::vector<std::string> names_of(const Option& option);  // "-m" and "--model"
std::string help_of(const Option& option);                // with the choices, without the fallback
std::string takes(const Option& option);                  // "a whole number from 1 to 256"; "" where that is anything
// Options of several subcommands: `a` followed by `b`.
Options join(Options a, const Options& b);
Option model_option();      // -m
Option weights_option();    // --weights
Options engine_options();   // --weights, --load, --no-cache, --isa, --cuda, --threads, --profile
Options session_options();  // --kv, --context, --chunk, --when-full, --keep
Options all_options();      // all of these

// Whole-text number parsing; false if anything is left over or the value does not fit.
bool parse_count(std::string_view text, uint64_t* out);
bool parse_real(std::string_view text, double* out);
bool parse_ids(std::string_view text, std::vector<int32_t>* out);  // 1,2,3 or, as linnet tokenize prints them, [1,2,3]; [] is none
// Formats of the KV cache: K and V, and of single layers.
struct KvFormats {
  linnet_format k = LINNET_FORMAT_DEFAULT, v = LINNET_FORMAT_DEFAULT;
  std::vector<linnet_kv_layers> layers;
  void apply(linnet_session_params* params) const;  // params points to `layers`
};
// "K", "K/V", then any number of ",LAYER=K/V" or ",FIRST-LAST=K/V".
bool parse_kv(std::string_view text, KvFormats* out);

// What is said on stderr beside errors, which always are: the levels of --log-level.
enum class Log : uint32_t { kError, kNote, kInfo, kDebug };
void set_log(Log level);
bool says(Log level);
// "linnet run: <text>" where that level is said; a note is called one.
[[gnu::format(printf, 3, 4)]] void say(const Args& args, Log level, const char* format, ...);

// "linnet run: <text>" on stderr; they return the exit code.
[[gnu::format(printf, 2, 3)]] int usage_error(const Args& args, const char* format, ...);
[[gnu::format(printf, 2, 3)]] int failed(const Args& args, const char* format, ...);
int failed(const Args& args, const linnet_error& err);
int failed(const Args& args, const std::string& path, const linnet_error& err);  // of what linnet.h calls "model file", or does not name
using convert::printable;  // for everything on a terminal that a file, the system or the command line brings: strings in printf's arguments

// ---- output (output.cpp) ---------------------------------------------------------------------------------------------------

// Writes JSON text; commas are put where they belong. Strings are escaped, bytes that are no UTF-8 become U+FFFD, numbers that JSON
// has no way to say become null.
class Json {
 public:
  Json& object() { return open('{'); }
  Json& array() { return open('['); }
  Json& end();
  Json& key(std::string_view name);
  Json& value(std::string_view text);
  Json& value(const char* text) { return value(std::string_view(text ? text : "")); }
  Json& value(double number);
  Json& value(uint64_t number);
  Json& value(int64_t number);
  Json& value(uint32_t number) { return value(uint64_t{number}); }
  Json& value(int32_t number) { return value(int64_t{number}); }
  Json& value(bool b);
  Json& null();
  Json& raw(std::string_view json);  // a value as it is
  template <class T>
  Json& value(const std::vector<T>& items) {
    array();
    for (const T& item : items) value(item);
    return end();
  }
  template <class T>
  Json& field(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }
  void print() const;  // with a newline
  const std::string& text() const { return text_; }

 private:
  Json& open(char bracket);
  void separate();
  std::string text_;
  std::vector<char> open_;  // closing brackets that are due
  bool comma_ = false;      // the next value follows another
};

// Reads one JSON string ("...", nothing behind it but blanks); false and a reason if it is not one.
bool parse_json_string(std::string_view line, std::string* out, const char** why);

std::string human_bytes(uint64_t bytes);  // "1.24 GB"
double seconds_now();
double median(std::vector<double> values);                                         // 0 of none
bool read_stdin(std::string* out);                                                 // to its end; false, and errno says why
bool read_text_file(const Args& args, const std::string& path, std::string* out);  // a regular file of at most 1 GiB; prints what is wrong

// A bar on stderr while a model is packed, on terminals only. Also the place where an interrupt_cancels(NULL) stops a conversion.
class Progress {
 public:
  explicit Progress(const char* what);
  ~Progress();
  static int callback(void* progress, uint64_t done, uint64_t total);

 private:
  const char* what_;
  bool terminal_, shown_ = false;
  double last_ = 0;
};

// Memory of linnet_mem_alloc, given back at the end.
struct Memory {
  void* data = nullptr;
  size_t bytes = 0;
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { linnet_mem_free(data, bytes); }
  bool alloc(size_t n);
};

// ---- this machine (machine.cpp) ------------------------------------------------------------------------------------------------

// $LINNET_SYSROOT: a folder that holds copies of another board's /proc and /sys, which then stand for this one's. "" where it is not set.
std::string sysroot();
// What this machine is, rows included. handle is NULL where nothing tells of a CPU: then one is assumed.
struct Board : linnet_board_desc {
  linnet_board* handle;
  std::vector<linnet_cluster> clusters;
  std::vector<linnet_cache> caches;
  std::vector<linnet_zone> zones;
};
const Board& board();  // detected once
// Of n threads those that CPUs of this process are there for; that there are less is a note.
uint32_t usable_threads(const Args& args, uint32_t n);
linnet_status fit_to_board(linnet_profile* profile, linnet_error* err);
std::string isa_name(uint32_t isa);
const char* tier_name(const linnet_model_desc& model);  // of what computes it: "avx512", "cuda"
// The GPU, its memory, clocks and driver in a line, or why there is none.
std::string gpu_text();
std::string cpus_text(const linnet_cpus& cpus);  // "0-3,6"
// A small file below the sysroot, without what ends it; "" where there is none.
std::string read_system(const std::string& path);
// What a Jetson's numbers depend on: its power mode, and the clocks of GPU and memory now and at most. "" and 0: not said; the memory's
// (EMC) is for root alone up to Orin.
struct JetsonPower {
  std::string mode;
  uint64_t gpu_mhz = 0, gpu_max_mhz = 0, emc_mhz = 0, emc_max_mhz = 0;
};
JetsonPower jetson_power();
bool is_jetson();
// Sensors of this machine.
struct Sensors {
  Memory memory;
  linnet_sensors* handle = nullptr;
  bool open(const Args& args);  // prints what is wrong
  linnet_reading read();        // anew
  linnet_reading last() const;
};
// The folder of device profiles: $LINNET_CONFIGS, or beside the installed tool, or of the source.
std::string configs_folder();
// The strongest tier that a board in $LINNET_SYSROOT has: what is picked on it.
uint32_t strongest_isa(const linnet_board_desc& b);
// What a model may take on this machine now, within the limit of its control group.
uint64_t usable_memory();
// Bytes that a measurement of the read bandwidth goes over: 1 GiB, less on small machines.
size_t measure_bytes();

// ---- settings and models (open_model.cpp) ------------------------------------------------------------------------------------------

// What a machine can do at most, as linnet_measure() gives it.
struct Limits {
  double read_gb_s = 0, int8_tops = 0, f8_tops = 0, float_tops = 0;
};
bool measure_limits(const Args& args, const linnet_profile& profile, uint32_t threads, Limits* out);  // prints what is wrong

// What a pass takes at least with these limits, in seconds: every step waits for its bytes or for its products. `compute`: whether it is
// the products.
double floor_of(const convert::CostStep& step, const Limits& limits, bool* compute);
double floor_of(const convert::CostPass& pass, const Limits& limits);

Limits limits_of(const linnet_profile& profile);  // 0 where it does not say
// A profile by its path, by its name in the folder of profiles (raspberry-pi-5), or the one that matches this board ("auto"); fitted to it
// where `fit`. Prints what is wrong.
bool read_profile(const Args& args, const std::string& name, bool fit, linnet_profile* out);

// The common options with the profile below them; a field that an option of the command line names wins.
struct Settings {
  Settings() { profile.size = sizeof profile; }
  linnet_profile profile = {};  // with its size set
  linnet_session_params session = {};
  KvFormats kv;
  linnet_format weights = LINNET_FORMAT_DEFAULT, floats = LINNET_FORMAT_DEFAULT;  // see convert::Options
  linnet_load load = LINNET_LOAD_MAP;
  bool shape_only = false;                       // see convert::Options
  bool fit = true;                               // the profile to this board; false: it is another device's
  bool keep = true;                              // what is packed on the way in, for the next start
  convert::WeightError* weight_error = nullptr;  // see convert::Options
};
bool read_settings(const Args& args, Settings* out);  // prints what is wrong
// Where packed models are kept (cache_command.cpp): $XDG_CACHE_HOME/linnet or ~/.cache/linnet; "" where nobody has a home.
std::string cache_folder();

// --lora PATH or PATH:SCALE, as often as it is given.
bool read_loras(const Args& args, std::vector<std::pair<std::string, float>>* out);  // prints what is wrong (loras.cpp)
struct Adapter {
  Memory memory;
  linnet_lora* lora = nullptr;
  float scale = 1;
};

// A model and, once opened, a session on it. The calls print what is wrong and return false.
struct Engine {
  convert::Loaded loaded;
  Memory model_memory, session_memory, grammar_memory;
  std::string source;  // the model, as it was given
  linnet_model* model = nullptr;
  linnet_session* session = nullptr;
  linnet_grammar* grammar = nullptr;                  // that answers obey
  const linnet_template* grammar_template = nullptr;  // whose format of calls it has
  uint32_t profile_context = 0;                       // of the profile it was opened with
  linnet_model_desc desc = {};
  std::vector<std::unique_ptr<Adapter>> loras;  // that all sequences have
  bool takes_loras = true;                      // false: --lora is for another model
  bool layer_embd_stays = false;                // its embeddings of layers stay in the mapped file
  linnet_session_params params = {};
  Sensors sensors;
  Memory power_memory;
  linnet_power* power = nullptr;  // NULL where nothing governs the session
  float temperature_limit = 0;    // that it holds
  uint32_t n_power_changes = 0;

  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();
  bool open(const Args& args, const std::string& path, const Settings& settings, bool vocab_only = false);
  bool start(const Args& args, const linnet_session_params& params);
  // What start() does for --lora: loads the adapters and asks for room; gives them to all sequences.
  bool adapt(const Args& args, linnet_session_params* session_params);
  bool give_adapters(const Args& args);
  uint64_t adapter_bytes() const;
  // After start(): holds what the profile's power section asks for, if there is one.
  bool govern(const Args& args, const linnet_profile& profile);
  // Reads --tools, --schema, --grammar, --regex or --choices, if one is given. calls (may be NULL): the template in whose format tools are
  // called; {"name", "arguments"} otherwise.
  bool constrain(const Args& args, const linnet_template* calls);
  linnet_power_state power_state() const;
  std::string power_text() const;  // a sentence on what the governor did, "" where there is none
  uint64_t arena_bytes() const { return model_memory.bytes + session_memory.bytes + grammar_memory.bytes + adapter_bytes(); }
};
// Where the answer is to obey a grammar: room for the logits of what that leaves no choice about.
void jump_forward(const Args& args, linnet_session_params* session);

const char* power_why(const linnet_power_state& state);  // "free", "heat", "rate", "battery"

// Flags of linnet_tokenize: all special tokens, but for the option that `no_add` names, which keeps BOS away, and --no-parse-special.
uint32_t token_flags(const Args& args, const char* no_add);
bool tokenize(const Args& args, const Engine& engine, std::string_view text, uint32_t flags, std::vector<int32_t>* out);
bool detokenize(const Args& args, const Engine& engine, const std::vector<int32_t>& tokens, std::string* out);
bool token_text(const Args& args, const Engine& engine, int32_t token, std::string* out);    // its bytes inside a text
bool check_ids(const Args& args, const Engine& engine, const std::vector<int32_t>& tokens);  // each in the vocabulary

// Puts the path of its files for a model on the hub (pull_command.cpp); other text stays. An exit code; prints what is wrong.
int find_hub_model(const Args& args, std::string* model);

// ---- templates (template.cpp) -----------------------------------------------------------------------------------------------------------

// What a conversation looks like to a model. All print what is wrong.
struct Template {
  Memory memory;
  linnet_template* handle = nullptr;
  std::string stop;          // text that ends an answer, of a file's own chat format; "" where tokens do
  bool text_tokens = false;  // of that format: tokens that stand for text are found in what is said, as linnet_tokenize finds them
  std::string text;          // Jinja, "" where it is not known

  // `which`: a file, or the name of one of the model's templates; "": its chat format, or its template, with `tools` the one for those.
  bool open(const Args& args, const Engine& engine, const std::string& which, bool tools);
  // tokens: JSON of the special tokens that the text may use; NULL: those of the program.
  bool compile(const Args& args, const std::string& text, const std::string& name, const linnet_model* model, const std::string* tokens);
  // These two print nothing.
  linnet_status render(std::string_view conversation, int64_t now, linnet_rendered* out, linnet_error* err) const;
  // Of what was rendered last, text_bytes long; *n_keep (may be NULL) of `held` stay.
  linnet_status tokens(const Engine& engine, size_t text_bytes, const std::vector<int32_t>& held, std::vector<int32_t>* out, size_t* n_keep,
                       linnet_error* err) const;
  bool names(std::string_view variable) const;  // whether its code does

 private:
  bool init(const Args& args, const linnet_view& from, const char* name, const linnet_model* model, const std::string* tokens,
            const std::string& source);
};
int64_t day_number(int64_t year, int64_t month, int64_t day);  // days since 1970
int64_t local_now();                                           // seconds since 1970 of the clock on the wall

// ---- lines of input (chat_input.cpp, edit.cpp)

enum class Line {
  kRead,
  kEnd,      // of the input, or a signal came
  kBad,      // it cannot be read
  kSkipped,  // what was wrong with it has been said
};
inline constexpr size_t kMaxLine = size_t{1} << 20;  // bytes of a line, and of a message of several

// One line of stdin without its newline (CR LF too).
Line read_line(const Args& args, std::string* out);

// Reads a line from a terminal where it can be edited, and former ones come back.
struct Editor {
  virtual ~Editor() = default;
  virtual Line read(const char* prompt, std::string* out) = 0;  // pasted text may have several lines
  virtual void remember(const std::string& text) = 0;
  bool cleared = false;  // the last read ended by Ctrl-C, and took away what had been typed
};
std::unique_ptr<Editor> open_editor(bool remembers);  // NULL: there is none for this terminal. remembers: in a file as well

// What is said in a chat: lines; what ends with \ goes on in the next one, and all between two """ is one.
class ChatInput {
 public:
  explicit ChatInput(const Args& args);
  bool terminal() const { return terminal_; }
  bool cleared() const { return cleared_; }  // of the last read a signal took away what had been typed, as far as is known
  Line read(std::string* out);

 private:
  Line line(const char* prompt, std::string* out);
  const Args& args_;
  const bool terminal_;
  bool cleared_ = false;
  std::unique_ptr<Editor> editor_;  // NULL: lines come as they are
};

// ---- generating (answer.cpp) --------------------------------------------------------------------------------------------------------

// An answer as the model's template tells it apart: what it thinks, says and calls.
class Parts {
 public:
  struct Call {
    std::string name, arguments, id;  // arguments: a JSON object
    std::string line() const;         // {"name":...,"arguments":...}
  };
  std::string content, reasoning;
  std::vector<Call> calls;

  // hide: reasoning is not shown. Prints what is wrong.
  bool open(const Args& args, const Template& format, bool hide, size_t call_bytes = size_t{1} << 20);
  // Of an answer to what the template rendered last. tools: JSON, which must stay.
  linnet_status begin(std::string_view tools, linnet_error* err);
  // Whether a special token's text belongs to the format: others are no text of the answer.
  bool is_mark(std::string_view text) const;
  // What is to be shown of the next piece.
  std::string feed(std::string_view text);
  std::string end();
  bool hides() const { return hide_; }

 private:
  void hear(const linnet_answer_event& event);
  void rethrow();
  void end_thought();
  void end_call();
  Memory memory_;
  linnet_answer* answer_ = nullptr;
  bool hide_ = false, styled_ = false, thinks_ = false, called_ = false;
  std::string name_, arguments_, shown_;
  std::exception_ptr thrown_ = nullptr;  // by hear: not to go through the library
};

void put_calls(Json* json, const Parts& parts);  // "tool_calls": [...] of an object

struct Answer {
  Answer() { end.size = sizeof end; }
  bool silent = false;  // otherwise the text goes to stdout as it comes
  std::vector<int32_t> tokens;
  struct Likely {
    int32_t token;
    float logprob;
  };
  std::vector<Likely> likely;           // of --logprobs: of each token itself, and behind it the likeliest
  std::string text;                     // with `parts` special tokens too
  linnet_generated end = {};            // with its size set
  bool broken = false;                  // nobody reads stdout any more
  size_t n_state = 0;                   // tokens of a saved sequence that the prompt follows
  std::exception_ptr thrown = nullptr;  // by on_token: not to go through the library
  Parts* parts = nullptr;               // takes it apart; NULL: text is text
  const linnet_model* hides = nullptr;  // whose special tokens are no text of the answer; NULL: they are
  void finish();                        // shows what was held back
  static int on_token(void* answer, int32_t token, const char* utf8, size_t n_bytes);
  void take_back(size_t n);  // of the tokens, the last ones

 private:
  void show(std::string_view utf8);
  void write(const std::string& shown);
  struct Hidden {
    size_t at;  // of its token
    std::string text;
  };
  std::vector<Hidden> hidden_;  // texts that come and are to be left out
  std::string coming_;          // what may be the beginning of the first of them
};
// Prefill (unless the prompt is empty), then at most n tokens, after --stop (and `stop`, "" for none) and --ignore-eos. A cancel in either
// is a clean end.
linnet_status generate(const Args& args, Engine& engine, const int32_t* prompt, size_t n_prompt, uint32_t n, const char* stop, Answer* out,
                       linnet_error* err);
Options sampling_options(const char* temperature);          // --temp ... --stop, --ignore-eos, --special
Options grammar_options();                                  // --tools, --schema ... --choices
int read_sampling(const Args& args, linnet_sampling* out);  // an exit code; prints what is wrong
// Speed and memory since the session's statistics were reset: to stderr, or with --json one object that holds the answer too.
void report_answer(const Args& args, const Engine& engine, const Answer& out, size_t n_prompt, const linnet_sampling& draw);

// ---- the operating system (system_posix.cpp, system_windows.cpp) -----------------------------------------------------------------------

// At the beginning of main: *argc and *argv become UTF-8, as everything the tool reads and writes.
void begin_process(int* argc, char*** argv);
std::string environment(const char* name);  // "" where it is not set
std::string home_folder();                  // "" where nobody says
bool on_terminal(std::FILE* file);
bool shows_style(std::FILE* file);  // dim text and the like: a terminal that can, where nobody asks for none ($NO_COLOR)
std::string own_path();             // of this program, with / between its folders; "" where the system does not say
uint64_t peak_rss_bytes();
// Becomes that program, or the one of that name in PATH; argv is NULL-terminated. Returns only where it cannot, with the reason; "" is that
// there is none.
std::string become_program(const std::string& path, const char* name, char** argv);

// SIGINT and SIGTERM (Ctrl-C and Ctrl-Break on Windows) end the process at once, but where something is to be finished or removed: from
// here on the first one cancels what `session` (may be NULL) does, and is remembered; the second one ends the process.
void interrupt_cancels(linnet_session* session);
void interrupt_ends();                 // at once again; one that came meanwhile stays remembered
int interrupted();                     // the signal since interrupt_cancels, 0: none
extern const char* const kEndOfInput;  // what is typed on a terminal to end it
int input_byte();                      // of stdin; EOF at its end (errno 0), where it cannot be read, or when there is a signal
void die_if_interrupted();             // of that signal, as whoever started the process wants to know
// Opens what is to be there whole or not at all: before there is anything to remove, a signal is remembered and cancels `session`.
linnet_status begin_file(const std::string& path, linnet_session* session, convert::WholeFile* file, linnet_error* err);  // output.cpp

// ---- subcommands --------------------------------------------------------------------------------------------------------------------

Command convert_command();
Command cache_command();
Command pull_command();
Command run_command();
Command chat_command();
Command template_command();
Command tokenize_command();
Command detokenize_command();
Command embed_command();
Command logits_command();
Command eval_command();
Command bench_command();
Command plan_command();
Command inspect_command();
Command devices_command();
Command doctor_command();
Command assistant_command();  // options are the programs' own, which become_other() runs
Command serve_command();
Command transcribe_command();
Command completion_command();  // manual.cpp
Command manual_command();

}  // namespace linnet::cli
