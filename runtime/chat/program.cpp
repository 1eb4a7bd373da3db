#include "program.h"

#include "../../platform/reader.h"
#include "value.h"

namespace linnet::chat {
namespace {

constexpr std::string_view kFilterNames[] = {
#define FILTER(id, name) name,
#include "names.inc"
};
constexpr std::string_view kTestNames[] = {
#define TEST(id, name) name,
#include "names.inc"
};
constexpr std::string_view kFunctionNames[] = {
#define FUNCTION(id, name) name,
#include "names.inc"
};
template <class Id, size_t N>
bool find_name(const std::string_view (&names)[N], std::string_view name, Id* out) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == name) {
      *out = static_cast<Id>(i);
      return true;
    }
  return false;
}

// What the operand b of an instruction is.
enum class Operand : uint8_t { kAny, kConstant, kText, kJump, kSlot, kOuterSlot, kFunction, kFilter, kFilterOrNone, kTest, kCount };
Operand operand_of(Op op) {
  if (jumps(op)) return Operand::kJump;
  switch (op) {
    case Op::kConst:
      return Operand::kConstant;
    case Op::kLoad:
    case Op::kNamespaceCheck:
      return Operand::kOuterSlot;
    case Op::kStore:
    case Op::kClear:
    case Op::kAlias:
    case Op::kResolve:
    case Op::kLoopVar:
      return Operand::kSlot;
    case Op::kAttribute:
    case Op::kPutText:
    case Op::kNamespaceSet:
    case Op::kFail:
      return Operand::kText;
    case Op::kFor:
    case Op::kReciter:
      return Operand::kFilterOrNone;
    case Op::kMacro:
    case Op::kRecurse:
      return Operand::kFunction;
    case Op::kFilter:
      return Operand::kFilter;
    case Op::kTest:
      return Operand::kTest;
    default:
      return Operand::kAny;
  }
}
bool ends_function(Op op) { return op == Op::kReturn || op == Op::kReturnValue || op == Op::kJump || op == Op::kFail; }

struct Checker {
  const Program& p;
  uint32_t n_names, n_texts;

  bool constant(uint32_t i) const {
    const ConstantEntry& c = p.constants[i];
    switch (static_cast<Kind>(c.kind)) {
      case Kind::kText:
      case Kind::kBig:
      case Kind::kUndefined:
        return fits(c.value, c.n, n_texts) && (c.kind != static_cast<uint32_t>(Kind::kBig) || c.n > 0);
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        return c.n == 0;
      default:
        return false;
    }
  }
  bool is_text(uint32_t constant) const {
    return constant < p.n_constants && p.constants[constant].kind == static_cast<uint32_t>(Kind::kText);
  }
  uint32_t end_of(uint32_t function) const { return function + 1 < p.n_functions ? p.functions[function + 1].entry : p.n_code; }
  bool function(uint32_t i) const {
    const Function& f = p.functions[i];
    const uint32_t end = end_of(i);
    const uint32_t more = ((f.flags & kTakesCaller) != 0) + ((f.flags & kTakesNamed) != 0) + ((f.flags & kTakesMore) != 0);
    if (f.entry >= end || end > p.n_code || f.n_slots > kMaxSlots || f.n_params > f.n_slots || more > f.n_slots - f.n_params) return false;
    if (!ends_function(static_cast<Op>(p.code[end - 1].op)) || !fits(f.slot_names, f.n_slots, n_names)) return false;
    if (f.name != kNoName && !is_text(f.name)) return false;
    return i == 0 ? f.entry == 0 && f.outer == 0 && f.depth == 0 : f.outer < i && f.depth == p.functions[f.outer].depth + 1;
  }
  bool outer_slot(uint32_t function, uint32_t outwards, uint32_t slot) const {
    for (; outwards && function; --outwards) function = p.functions[function].outer;
    return outwards == 0 && slot < p.functions[function].n_slots;
  }
  bool instruction(uint32_t function, uint32_t at) const {
    const Instruction& i = p.code[at];
    if (i.op >= static_cast<uint8_t>(Op::kEnd)) return false;
    const Op op = static_cast<Op>(i.op);
    if (op == Op::kJumpIfGiven && i.a >= p.functions[function].n_slots) return false;
    // What kAlias takes is said by the next instruction.
    if (op == Op::kAlias && (at + 1 == end_of(function) || p.code[at + 1].op != static_cast<uint8_t>(Op::kLoad))) return false;
    switch (operand_of(op)) {
      case Operand::kConstant:
        return i.b < p.n_constants;
      case Operand::kText:
        return is_text(i.b);
      case Operand::kJump:
        return i.b >= p.functions[function].entry && i.b < end_of(function);
      case Operand::kSlot:
        return i.b < p.functions[function].n_slots;
      case Operand::kOuterSlot:
        return outer_slot(function, i.a, i.b);
      case Operand::kFunction:
        return i.b < p.n_functions && i.b != 0 && p.functions[i.b].outer == function;
      case Operand::kFilterOrNone: {
        // The filter of a recursive loop stands beside the loop's function, that of another one in the function that has the loop.
        const Function& f = p.functions[function];
        if (op == Op::kReciter && (function == 0 || f.n_slots < 2)) return false;
        return i.b == 0 || (i.b > 1 && i.b <= p.n_functions && p.functions[i.b - 1].n_slots > 0 &&
                            p.functions[i.b - 1].outer == (op == Op::kReciter ? f.outer : function));
      }
      case Operand::kFilter:
        return (i.b & 0xFF) < static_cast<uint32_t>(FilterId::kEnd);
      case Operand::kTest:
        return (i.b & 0xFF) < static_cast<uint32_t>(TestId::kEnd);
      default:
        return true;
    }
  }
};

}  // namespace

bool find_filter(std::string_view name, FilterId* out) { return find_name(kFilterNames, name, out); }
bool find_test(std::string_view name, TestId* out) { return find_name(kTestNames, name, out); }
bool find_function(std::string_view name, FunctionId* out) { return find_name(kFunctionNames, name, out); }
std::string_view filter_name(FilterId id) { return kFilterNames[static_cast<size_t>(id)]; }
std::string_view test_name(TestId id) { return kTestNames[static_cast<size_t>(id)]; }

Status program_open(const void* blob, size_t bytes, const char* name, Program* out, Error* err) {
  ProgramHeader h;
  ByteReader in(blob, bytes);
  h = in.read<ProgramHeader>();
  if (!in.ok() || h.magic != kProgramMagic) return fail(err, LINNET_BAD_FILE, name, ": no program of a chat template");
  if (h.version != kProgramVersion)
    return fail(err, LINNET_UNSUPPORTED, name, ": its program has version ", h.version, ", this linnet runs version ", kProgramVersion);
  if (reinterpret_cast<uintptr_t>(blob) % 8) return fail(err, LINNET_BAD_ARG, name, ": a program must lie at a multiple of 8 bytes");
  const auto damaged = [&](const char* what, uint32_t at) {
    return fail(err, LINNET_BAD_FILE, name, ": its program is damaged: ", what, " ", at);
  };
  if (h.n_code > kMaxCode || h.n_constants > kMaxConstants || h.n_functions > kMaxFunctions || h.n_names > kMaxNames ||
      h.n_texts > kMaxTexts || h.n_functions == 0 || h.n_envelope > 65536)
    return damaged("its sizes, code", h.n_code);
  Program p;
  p.n_code = h.n_code, p.n_constants = h.n_constants, p.n_functions = h.n_functions;
  const auto table = [&in](size_t size, uint32_t n) { return in.view(uint64_t{n} * size).data(); };
  p.code = reinterpret_cast<const Instruction*>(table(sizeof(Instruction), h.n_code));
  p.constants = reinterpret_cast<const ConstantEntry*>(table(sizeof(ConstantEntry), h.n_constants));
  p.functions = reinterpret_cast<const Function*>(table(sizeof(Function), h.n_functions));
  p.names = reinterpret_cast<const uint32_t*>(table(sizeof(uint32_t), h.n_names));
  p.envelope = in.view(h.n_envelope);
  p.texts = table(1, h.n_texts);
  if (!in.ok()) return damaged("it is cut off behind byte", static_cast<uint32_t>(bytes));
  const Checker check{p, h.n_names, h.n_texts};
  for (uint32_t i = 0; i < p.n_constants; ++i)
    if (!check.constant(i)) return damaged("constant", i);
  for (uint32_t i = 0; i < h.n_names; ++i)
    if (!check.is_text(p.names[i])) return damaged("name", i);
  for (uint32_t i = 0; i < p.n_functions; ++i)
    if (!check.function(i)) return damaged("function", i);
  for (uint32_t f = 0; f < p.n_functions; ++f)
    for (uint32_t at = p.functions[f].entry; at < check.end_of(f); ++at)
      if (!check.instruction(f, at)) return damaged("instruction", at);
  *out = p;
  return LINNET_OK;
}

}  // namespace linnet::chat
