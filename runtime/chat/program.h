// A chat template as a program: what convert/template_program.cpp makes of the Jinja text and interpreter.cpp runs. One
// position-independent blob, little-endian, checked whole when it is opened: every name, slot and jump lies inside, so that a run checks
// its stack alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../platform/status.h"
#include "view.h"

namespace linnet::chat {

enum class FilterId : uint8_t {
#define FILTER(id, name) id,
#include "names.inc"
  kEnd
};
enum class TestId : uint8_t {
#define TEST(id, name) id,
#include "names.inc"
  kEnd
};
enum class FunctionId : uint8_t {
#define FUNCTION(id, name) id,
#include "names.inc"
  kEnd
};
bool find_filter(std::string_view name, FilterId* out);
bool find_test(std::string_view name, TestId* out);
bool find_function(std::string_view name, FunctionId* out);
std::string_view filter_name(FilterId id);
std::string_view test_name(TestId id);

// Instructions work on a stack of values; [a b -- c]: what they take from it and what they leave. `a` and `b` are the instruction's own.
enum class Op : uint8_t {
  kConst,          // [-- v] constant b
  kLoad,           // [-- v] slot b of the a-th function outwards; one without a value is undefined
  kStore,          // [v --]
  kClear,          // [--] the slot has no value
  kAlias,          // [--] slot b takes what the slot of the next instruction (kLoad) has, which may be no value
  kResolve,        // [--] slot b of this function takes the context's value of its name, if there is one
  kJump,           // [--] to instruction b
  kJumpIf,         // [v --] where v is true
  kJumpIfNot,      // [v --]
  kJumpIfKeep,     // [v -- v | ] jumps with v where it is true, else takes it off: `or`
  kJumpIfNotKeep,  // `and`
  kJumpIfGiven,    // [--] where slot a has a value: a parameter's default is passed by
  kPop,            // [v --]
  kDup,            // [v -- v v]
  kRotate,         // [x y -- y x y]: `a < b < c` goes on with b
  kSwapPop,        // [x y -- y]: what is left of it
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,  // [x y -- v]
  kNegate,
  kPlus,
  kNot,  // [x -- v]
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kIn,
  kNotIn,   // [x y -- bool]
  kConcat,  // [v1 ... vb -- text] `~`
  kList,
  kTuple,           // [v1 ... vb -- list]
  kDict,            // [k1 v1 ... kb vb -- dict]
  kAttribute,       // [v -- x] v.NAME, name b
  kItem,            // [v key -- x]
  kSlice,           // [v start stop step -- x]
  kCall,            // [f args -- v]
  kFilter,          // [v args -- x] filter b
  kTest,            // [v args -- bool] test b
  kPut,             // [v --] writes it; a: 1 escapes it first, 2 where the run is in an autoescape block; 3: it must be a text
  kPutText,         // [--] writes text b
  kCapture,         // [-- mark] what is written from here on
  kCaptured,        // [mark -- text] becomes a value; a as in kPut: the value is a markup
  kDiscard,         // [mark --] is dropped
  kUnpack,          // [v -- vb ... v1]
  kFor,             // [v -- loop] b: function of the filter + 1 (0: none)
  kNext,            // [loop -- loop v | loop] the next item, or jumps to b behind the last one
  kLoopVar,         // [loop -- loop] slot b is the loop
  kMacro,           // [-- macro] function b
  kReturn,          // [--] the function's text is what it wrote; a as in kPut: it is a markup
  kReturnValue,     // [v --] the value itself, of a loop's filter
  kRecurse,         // [v -- text] runs function b, a loop that is recursive, over v
  kReciter,         // [-- loop] in such a function: the loop over what it was given, with itself to recurse
  kNamespaceCheck,  // [--] slot b of the a-th function outwards is a namespace
  kNamespaceSet,    // [v ns --] its attribute b becomes v
  kEscape,          // [v -- old] autoescape becomes truth(v); the old state is kept
  kRestore,         // [old --]
  kFail,            // [--] the error text b
  kEnd
};
// Whether b is an instruction to go to.
constexpr bool jumps(Op op) { return (op >= Op::kJump && op <= Op::kJumpIfGiven) || op == Op::kNext; }
// Arguments of kCall, kFilter, kTest lie on the stack: values by position, then name and value of each named one, then a list if kSpread
// and a dict if kSpreadNamed (`*args`, `**kwargs`). b holds what is called (low 8 bits of kFilter and kTest), n (bits 8..15), n_named
// (16..23).
enum : uint8_t { kSpread = 1, kSpreadNamed = 2 };
inline constexpr uint8_t kWhereEscaped = 4;  // of kFilter: only where what is printed is escaped

struct Instruction {
  uint8_t op, a;
  uint16_t line;  // of the template; the last one that fits
  uint32_t b;
};
struct ConstantEntry {
  uint32_t kind;   // Kind: none, bool, int, float, big, text, undefined (the message of an `if` without else)
  uint32_t n;      // bytes of a text
  uint64_t value;  // the number's bits, or where the text begins in the texts
};
enum : uint32_t { kTakesNamed = 1, kTakesMore = 2, kTakesCaller = 4 };  // kwargs, varargs, caller
struct Function {
  uint32_t entry;    // instruction
  uint32_t n_slots;  // parameters come first, then caller, kwargs, varargs where it takes them
  uint32_t n_params;
  uint32_t flags;
  uint32_t name;        // constant, a text; of a loop or a call block none: kNoName
  uint32_t slot_names;  // first of n_slots names: in the program's `names`
  uint32_t outer;       // the function around it; of function 0, the template itself, 0
  uint32_t depth;       // functions around it
};
inline constexpr uint32_t kNoName = 0xFFFFFFFF;

struct ProgramHeader {
  uint32_t magic, version;
  uint32_t n_code, n_constants, n_functions, n_names, n_texts;
  uint32_t n_envelope;  // bytes of the answers' envelope (answers.h); 0: none
};
// Behind the header: Instruction code[n_code], ConstantEntry constants[n_constants], Function functions[n_functions], uint32_t
// names[n_names] (constants, texts), uint8_t envelope[n_envelope], char texts[n_texts].
inline constexpr uint32_t kProgramMagic = 0x50544e4c, kProgramVersion = 1;  // "LNTP"
inline constexpr uint32_t kMaxCode = 1u << 20, kMaxConstants = 1u << 18, kMaxFunctions = 4096, kMaxNames = 1u << 18, kMaxTexts = 1u << 24;
inline constexpr uint32_t kMaxSlots = 4096;

// A checked view of a blob, which must lie at a multiple of 8 and stay unchanged.
struct Program {
  const Instruction* code = nullptr;
  const ConstantEntry* constants = nullptr;
  const Function* functions = nullptr;
  const uint32_t* names = nullptr;
  const char* texts = nullptr;
  std::string_view envelope = {};  // bytes that envelope_open checks
  uint32_t n_code = 0, n_constants = 0, n_functions = 0;
  std::string_view text(uint32_t constant) const {
    const ConstantEntry& c = constants[constant];
    return {texts + c.value, c.n};
  }
};
Status program_open(const void* blob, size_t bytes, const char* name, Program* out, Error* err);

}  // namespace linnet::chat
