// Runs the program of a chat template. One call of run() is one function of it: the template itself, a macro, the body of a call block, a
// loop that calls itself, the filter of a loop. Inside of it nothing recurses: values lie on the machine's stack.
#include "interpreter.h"

namespace linnet::chat {
namespace {

bool run(Machine& m, const Function& function, Frame* frame, Value* out);

bool push(Machine& m, const Value& v) {
  if (m.n_stack == m.stack_size) return m.full("values on its stack", m.stack_size);
  m.stack[m.n_stack++] = v;
  return true;
}
Frame* new_frame(Machine& m, const Function& function, Frame* around) {
  Frame* const f = static_cast<Frame*>(m.take(sizeof(Frame)));
  if (!f) return nullptr;
  *f = {around, m.take_values(function.n_slots)};
  if (!f->slots) return nullptr;
  for (uint32_t i = 0; i < function.n_slots; ++i) f->slots[i] = Value();
  return f;
}
std::string_view slot_name(const Machine& m, const Function& function, uint32_t slot) {
  return m.program->text(m.program->names[function.slot_names + slot]);
}

// The value of a name that no function of the template stores: the model's own tokens, then what the caller says, then what Jinja2 has.
bool resolve(Machine& m, std::string_view name, Value* out) {
  if (m.tokens.is(Kind::kDict))
    if (const Value* const v = find(m, *m.tokens.dict, name)) return *out = *v, true;
  if (const Value* const v = find(m, *m.context.dict, name)) return *out = *v, true;
  FunctionId id;
  if (find_function(name, &id)) {
    *out = Value();
    out->kind = Kind::kFunction;
    out->depth = static_cast<uint16_t>(id);
    return true;
  }
  // What transformers gives to every template.
  if (name == "tools" || name == "documents") return *out = none(), true;
  if (name == "add_generation_prompt") return *out = boolean(false), true;
  return false;
}

Value constant(const Program& p, uint32_t i) {
  const ConstantEntry& c = p.constants[i];
  Value v;
  v.kind = static_cast<Kind>(c.kind);
  v.n = c.n;
  if (v.is_text() || v.is(Kind::kBig) || v.is(Kind::kUndefined))
    v.text = p.texts + c.value;
  else if (v.is(Kind::kFloat))
    std::memcpy(&v.real, &c.value, sizeof v.real);
  else
    v.integer = static_cast<int64_t>(c.value);
  if (v.is(Kind::kUndefined)) v.flags = kWhole;
  return v;
}

// ---- calls

bool call_macro(Machine& m, const Macro& macro, const Args& args, Value* out) {
  const Function& f = *macro.function;
  const std::string_view name = f.name == kNoName ? std::string_view("caller") : m.program->text(f.name);
  Frame* const frame = new_frame(m, f, macro.around);
  bool* const used = static_cast<bool*>(m.take(args.n_named + 1));
  if (!frame || !used) return false;
  std::memset(used, 0, args.n_named);
  const auto named = [&](std::string_view key) -> const Value* {
    for (uint32_t i = 0; i < args.n_named; ++i)
      if (!used[i] && args.named[2 * i].view() == key) return used[i] = true, &args.named[2 * i + 1];
    return nullptr;
  };
  const uint32_t by_place = args.n < f.n_params ? args.n : f.n_params;
  for (uint32_t i = 0; i < by_place; ++i) frame->slots[i] = args.values[i];
  for (uint32_t i = by_place; i < f.n_params; ++i)
    if (const Value* const v = named(slot_name(m, f, i))) frame->slots[i] = *v;
  uint32_t slot = f.n_params;
  if (f.flags & kTakesCaller) {
    const Value* const v = named("caller");
    frame->slots[slot++] = v && !v->is(Kind::kNone) ? *v : undefined("No caller defined", true);
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < args.n_named; ++i) left += !used[i];
  if (f.flags & kTakesNamed) {
    Value* const entries = m.take_values(2 * size_t{left} + 1);
    if (!entries) return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < args.n_named; ++i)
      if (!used[i]) entries[2 * n] = args.named[2 * i], entries[2 * n++ + 1] = args.named[2 * i + 1];
    if (!make_dict(m, entries, n, &frame->slots[slot++])) return false;
  } else if (left) {
    for (uint32_t i = 0; i < args.n_named; ++i)
      if (!used[i]) return m.fail("macro '", name, "' takes no keyword argument '", args.named[2 * i].view(), "'");
  }
  const uint32_t more = args.n - by_place;
  if (f.flags & kTakesMore) {
    Value* const items = m.take_values(more);
    if (!items) return false;
    if (more) std::memcpy(static_cast<void*>(items), args.values + by_place, more * sizeof *items);
    if (!make_list(m, Kind::kTuple, items, more, &frame->slots[slot])) return false;
  } else if (more) {
    return m.fail("macro '", name, "' takes not more than ", f.n_params, " argument(s)");
  }
  if (!run(m, f, frame, out)) return false;
  if (m.autoescape) out->flags = static_cast<uint8_t>(out->flags | kMarkup);
  return true;
}

// The body of a recursive loop over v.
bool recurse(Machine& m, const Function& f, Frame* around, const Value& v, uint32_t depth, Value* out) {
  Frame* const frame = new_frame(m, f, around);
  if (!frame) return false;
  frame->slots[0] = v;
  frame->slots[1] = integer(depth);
  return run(m, f, frame, out);
}

// ---- loops

bool new_loop(Machine& m, const Value& over, uint32_t filter, Frame* around, Value* out) {
  Loop* const loop = static_cast<Loop*>(m.take(sizeof(Loop)));
  if (!loop) return false;
  *loop = {};
  if (!begin(m, over, &loop->items)) return false;
  loop->filter = filter ? m.program->functions + (filter - 1) : nullptr;
  loop->around = around;
  loop->length = kUnknownLength;
  *out = Value();
  out->kind = Kind::kLoop;
  out->loop = loop;
  return true;
}

Next peek(Machine& m, Loop* loop) {
  if (!loop->after.is(Kind::kMissing)) return Next::kItem;
  const Next got = loop_next(m, loop, &loop->after);
  if (got != Next::kItem) loop->after = Value();
  return got;
}

// One item further.
Next advance(Machine& m, Loop* loop, Value* out) {
  const Next got = peek(m, loop);
  if (got != Next::kItem) return got;
  *out = loop->after;
  loop->after = Value();
  ++loop->index;
  loop->before = loop->current;
  loop->current = *out;
  return Next::kItem;
}

bool loop_method(Machine& m, Loop* loop, std::string_view name, const Args& args, Value* out) {
  if (args.n_named) return m.fail("loop.", name, "() takes no keyword arguments");
  if (name == "cycle") {
    if (!args.n) return m.fail("no items for cycling given");
    *out = args.values[(loop->index - 1) % args.n];
    return true;
  }
  Value given;
  Value* const items = m.take_values(args.n);
  if (!items) return false;
  if (args.n) std::memcpy(static_cast<void*>(items), args.values, args.n * sizeof *items);
  if (!make_list(m, Kind::kTuple, items, args.n, &given)) return false;
  const bool changed = loop->changed.is(Kind::kMissing) || !equal(m, loop->changed, given);
  if (changed) loop->changed = given;
  *out = boolean(changed);
  return true;
}

bool call(Machine& m, const Value& callee, const Args& args, Value* out) {
  switch (callee.kind) {
    case Kind::kMacro:
      return call_macro(m, *callee.macro, args, out);
    case Kind::kMethod:
      if (callee.method->self.is(Kind::kLoop)) return loop_method(m, callee.method->self.loop, callee.method->name, args, out);
      return call_method(m, *callee.method, args, out);
    case Kind::kFunction:
      return call_function(m, static_cast<FunctionId>(callee.depth), args, out);
    case Kind::kLoop:
      if (!callee.loop->recurse) return m.fail("the loop must have the 'recursive' marker to be called recursively");
      if (args.n != 1 || args.n_named) return m.fail("loop() takes what it shall run through");
      return recurse(m, *callee.loop->recurse, callee.loop->around, args.values[0], callee.loop->depth0 + 1, out);
    case Kind::kJoiner:
      if (args.n || args.n_named) return m.fail("a joiner takes no arguments");
      *out = callee.cycler->at ? callee.cycler->items : text({});
      callee.cycler->at = 1;
      return true;
    case Kind::kUndefined:
      return undefined_error(m, callee);
    default:
      return m.fail("a ", type_name(callee), " cannot be called");
  }
}

// ---- one function

struct Runner {
  Machine& m;
  const Function& function;
  Frame* const frame;
  const uint32_t base;   // of its part of the stack
  const size_t written;  // where what it writes begins
  const Instruction* at;

  // The i-th value from the top, 0 = the last one.
  Value& top(uint32_t i = 0) { return m.stack[m.n_stack - 1 - i]; }
  void pop(uint32_t n = 1) { m.n_stack -= n; }
  bool has(uint32_t n) { return m.n_stack - base >= n || m.fail("the program is damaged"); }
  bool replace(uint32_t n, const Value& v) {  // n values by one
    pop(n);
    return push(m, v);
  }
  Frame* outer(uint32_t outwards) {
    Frame* f = frame;
    for (; outwards; --outwards) f = f->parent;
    return f;
  }
  const Function& outer_function(uint32_t outwards) {
    const Function* f = &function;
    for (; outwards; --outwards) f = m.program->functions + f->outer;
    return *f;
  }
  void jump() { at = m.program->code + at->b - 1; }
  bool escapes() { return at->a == 1 || (at->a == 2 && m.autoescape); }

  bool load() {
    const Value& v = outer(at->a)->slots[at->b];
    return push(m, v.is(Kind::kMissing) ? undefined(slot_name(m, outer_function(at->a), at->b)) : v);
  }
  bool put() {
    Value v = top();
    if (at->a == 3 && !v.is_text()) return m.fail("what a block wrote became a ", type_name(v), ", which is no text");
    if (escapes() && !(v.is_text() && v.flags & kMarkup) && !linnet::chat::escape(m, v, &v)) return false;
    if (!put_str(m, v)) return false;
    pop();
    return true;
  }
  bool captured() {
    const size_t mark = static_cast<size_t>(top().integer);
    if (!top().is(Kind::kMissing) || mark < written || mark > m.n_out) return m.fail("the program is damaged");
    Value v;
    if (at->op == static_cast<uint8_t>(Op::kDiscard)) {
      m.drop(mark);
      pop();
      return true;
    }
    if (!m.finish(mark, &v)) return false;
    if (escapes()) v.flags = static_cast<uint8_t>(v.flags | kMarkup);
    return replace(1, v);
  }
  bool compare(Op op) {
    bool yes = false;
    if (op == Op::kEq || op == Op::kNe) {
      yes = equal(m, top(1), top()) == (op == Op::kEq);
    } else if (op == Op::kIn || op == Op::kNotIn) {
      if (!contains(m, top(1), top(), &yes)) return false;
      yes = yes == (op == Op::kIn);
    } else {
      int order = 0;
      if (!linnet::chat::order(m, top(1), top(), &order)) return false;
      yes = order != 2 && (op == Op::kLt ? order < 0 : op == Op::kLe ? order <= 0 : op == Op::kGt ? order > 0 : order >= 0);
    }
    return replace(2, boolean(yes));
  }
  bool concat() {
    const uint32_t n = at->b;
    if (!has(n)) return false;
    bool markup = false;
    for (uint32_t i = 0; i < n; ++i) markup |= top(i).is_text() && (top(i).flags & kMarkup);
    markup = markup && escapes();
    const size_t mark = m.mark();
    for (uint32_t i = n; i-- > 0;) {
      Value v = top(i);
      if (markup && !(v.is_text() && v.flags & kMarkup) && !linnet::chat::escape(m, v, &v)) return false;
      if (!put_str(m, v)) return false;
    }
    Value v;
    if (!m.finish(mark, &v)) return false;
    if (markup) v.flags = static_cast<uint8_t>(v.flags | kMarkup);
    return replace(n, v);
  }
  bool list(Kind kind) {
    const uint32_t n = at->b, n_values = kind == Kind::kDict ? 2 * n : n;
    if (n > m.stack_size || !has(n_values)) return m.fail("the program is damaged");
    Value* const items = m.take_values(n_values);
    if (!items) return false;
    if (n) std::memcpy(static_cast<void*>(items), m.stack + m.n_stack - n_values, n_values * sizeof *items);
    Value v;
    if (!(kind == Kind::kDict ? make_dict(m, items, n, &v) : make_list(m, kind, items, n, &v))) return false;
    return replace(n_values, v);
  }

  // Arguments as kCall has them; *n: values on the stack that are theirs.
  bool gather(Args* out, uint32_t* n) {
    const uint32_t by_place = at->b >> 8 & 0xFF, named = at->b >> 16 & 0xFF, spread = at->a & kSpread,
                   spread_named = (at->a & kSpreadNamed) != 0;
    *n = by_place + 2 * named + (spread != 0) + spread_named;
    if (!has(*n + 1)) return false;
    const Value* const first = m.stack + m.n_stack - *n;
    *out = {first, by_place, first + by_place, named};
    if (spread) {
      Value more;
      if (!to_list(m, first[by_place + 2 * named], &more)) return false;
      Value* const all = m.take_values(size_t{by_place} + more.n);
      if (!all) return false;
      for (uint32_t i = 0; i < by_place; ++i) all[i] = first[i];
      for (uint32_t i = 0; i < more.n; ++i) all[by_place + i] = more.items[i];
      out->values = all;
      out->n = by_place + more.n;
    }
    if (spread_named) {
      const Value& more = top();
      if (!more.is(Kind::kDict)) return m.fail("what stands behind ** is no dict but a ", type_name(more));
      Value* const all = m.take_values(2 * (size_t{named} + more.n));
      if (!all) return false;
      for (uint32_t i = 0; i < 2 * named; ++i) all[i] = first[by_place + i];
      for (uint32_t i = 0; i < 2 * more.n; ++i) all[2 * named + i] = more.dict->entries[i];
      out->named = all;
      out->n_named = named + more.n;
    }
    if (out->n > kMaxArguments || out->n_named > kMaxArguments)
      return m.fail("a call of more than ", uint32_t{kMaxArguments}, " arguments");
    for (uint32_t i = 0; i < out->n_named; ++i) {
      if (!out->named[2 * i].is_text()) return m.fail("the name of an argument is a ", type_name(out->named[2 * i]));
      for (uint32_t k = 0; k < i; ++k)
        if (out->named[2 * k].view() == out->named[2 * i].view())
          return m.fail("the argument '", out->named[2 * i].view(), "' is given twice");
    }
    return true;
  }
  bool apply() {
    Args args;
    uint32_t n = 0;
    if (!gather(&args, &n)) return false;
    const Value& of = top(n);
    Value v;
    bool yes = false, ok = false;
    switch (static_cast<Op>(at->op)) {
      case Op::kFilter:
        if (at->a & kWhereEscaped && !m.autoescape)
          v = of, ok = true;
        else
          ok = apply_filter(m, static_cast<FilterId>(at->b & 0xFF), of, args, &v);
        break;
      case Op::kTest:
        ok = apply_test(m, static_cast<TestId>(at->b & 0xFF), of, args, &yes);
        v = boolean(yes);
        break;
      default:
        ok = call(m, of, args, &v);
    }
    return ok && replace(n + 1, v);
  }

  bool unpack() {
    const Value v = top();
    pop();
    Iterator it;
    if (!begin(m, v, &it)) return false;
    const uint32_t n = at->b, first = m.n_stack;
    Value item;
    for (uint32_t i = 0;; ++i) {
      const Next got = next(m, &it, &item);
      if (got == Next::kFailed) return false;
      if (got == Next::kEnd && i < n) return m.fail("not enough values to unpack: expected ", n, ", got ", i);
      if (got == Next::kEnd) break;
      if (i == n) return m.fail("too many values to unpack: expected ", n);
      if (!push(m, item)) return false;
    }
    for (uint32_t i = 0; i < n / 2; ++i) {
      const Value swap = m.stack[first + i];
      m.stack[first + i] = m.stack[first + n - 1 - i];
      m.stack[first + n - 1 - i] = swap;
    }
    return true;
  }
  bool next_item() {
    if (!top().is(Kind::kLoop)) return m.fail("the program is damaged");
    Value v;
    switch (advance(m, top().loop, &v)) {
      case Next::kItem:
        return push(m, v);
      case Next::kEnd:
        jump();
        return true;
      default:
        return false;
    }
  }
  bool macro() {
    Macro* const made = static_cast<Macro*>(m.take(sizeof(Macro)));
    if (!made) return false;
    *made = {m.program->functions + at->b, frame};
    Value v;
    v.kind = Kind::kMacro;
    v.macro = made;
    return push(m, v);
  }
  bool reciter() {
    Value v;
    if (!new_loop(m, frame->slots[0], at->b, frame->parent, &v)) return false;
    v.loop->recurse = &function;
    v.loop->depth0 = static_cast<uint32_t>(frame->slots[1].integer);
    return push(m, v);
  }
  bool set_attribute() {
    const Value& space = top();
    const std::string_view name = m.program->text(at->b);
    if (!space.is(Kind::kNamespace)) return m.fail("cannot assign attribute on non-namespace object");
    const Value v = top(1);
    pop(2);
    return set_in_namespace(m, space.space, name, v);
  }

  // One instruction; *done behind the last one.
  bool step(Value* out, bool* done) {
    const Op op = static_cast<Op>(at->op);
    Value v;
    switch (op) {
      case Op::kConst:
        return push(m, constant(*m.program, at->b));
      case Op::kLoad:
        return load();
      case Op::kStore:
        if (!has(1)) return false;
        frame->slots[at->b] = top();
        pop();
        return true;
      case Op::kClear:
        frame->slots[at->b] = Value();
        return true;
      case Op::kAlias:
        frame->slots[at->b] = outer(at[1].a)->slots[at[1].b];
        ++at;
        return true;
      case Op::kResolve:
        v = Value();
        resolve(m, slot_name(m, function, at->b), &v);
        frame->slots[at->b] = v;
        return true;
      case Op::kJump:
        jump();
        return true;
      case Op::kJumpIf:
      case Op::kJumpIfNot:
        if (!has(1)) return false;
        v = top();
        pop();
        if (truth(v) == (op == Op::kJumpIf)) jump();
        return true;
      case Op::kJumpIfKeep:
      case Op::kJumpIfNotKeep:
        if (!has(1)) return false;
        if (truth(top()) == (op == Op::kJumpIfKeep))
          jump();
        else
          pop();
        return true;
      case Op::kJumpIfGiven:
        if (!frame->slots[at->a].is(Kind::kMissing)) jump();
        return true;
      case Op::kPop:
        if (!has(1)) return false;
        pop();
        return true;
      case Op::kDup:
        return has(1) && push(m, top());
      case Op::kRotate:
        if (!has(2) || !push(m, top())) return false;
        top(1) = top(2);
        top(2) = top();
        return true;
      case Op::kSwapPop:
        return has(2) && replace(2, v = top());
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
      case Op::kDivide:
      case Op::kFloorDivide:
      case Op::kModulo:
      case Op::kPower:
        return has(2) && binary(m, op, top(1), top(), &v) && replace(2, v);
      case Op::kNegate:
      case Op::kPlus:
        return has(1) && unary(m, op, top(), &v) && replace(1, v);
      case Op::kNot:
        return has(1) && replace(1, boolean(!truth(top())));
      case Op::kEq:
      case Op::kNe:
      case Op::kLt:
      case Op::kLe:
      case Op::kGt:
      case Op::kGe:
      case Op::kIn:
      case Op::kNotIn:
        return has(2) && compare(op);
      case Op::kConcat:
        return concat();
      case Op::kList:
        return list(Kind::kList);
      case Op::kTuple:
        return list(Kind::kTuple);
      case Op::kDict:
        return list(Kind::kDict);
      case Op::kAttribute:
        return has(1) && get_attribute(m, top(), m.program->text(at->b), &v) && replace(1, v);
      case Op::kItem:
        return has(2) && get_item(m, top(1), top(), &v) && replace(2, v);
      case Op::kSlice:
        return has(4) && slice(m, top(3), top(2), top(1), top(), &v) && replace(4, v);
      case Op::kCall:
      case Op::kFilter:
      case Op::kTest:
        return apply();
      case Op::kPut:
        return has(1) && put();
      case Op::kPutText:
        return m.put(m.program->text(at->b), 0);
      case Op::kCapture:
        v.integer = static_cast<int64_t>(m.mark());
        return push(m, v);
      case Op::kCaptured:
      case Op::kDiscard:
        return has(1) && captured();
      case Op::kUnpack:
        return has(1) && unpack();
      case Op::kFor:
        return has(1) && new_loop(m, top(), at->b, frame, &v) && replace(1, v);
      case Op::kNext:
        return has(1) && next_item();
      case Op::kLoopVar:
        if (!has(1)) return false;
        frame->slots[at->b] = top();
        return true;
      case Op::kMacro:
        return macro();
      case Op::kReturn:
        *done = true;
        if (&function == m.program->functions) return true;  // the template's own text stays where it is
        if (!m.finish(written, out)) return false;
        if (escapes()) out->flags = static_cast<uint8_t>(out->flags | kMarkup);
        return true;
      case Op::kReturnValue:
        if (!has(1)) return false;
        *out = top();
        *done = true;
        return true;
      case Op::kRecurse:
        return has(1) && recurse(m, m.program->functions[at->b], frame, top(), 0, &v) && replace(1, v);
      case Op::kReciter:
        return reciter();
      case Op::kNamespaceCheck:
        return outer(at->a)->slots[at->b].is(Kind::kNamespace) || m.fail("cannot assign attribute on non-namespace object");
      case Op::kNamespaceSet:
        return has(2) && set_attribute();
      case Op::kEscape:
        if (!has(1)) return false;
        v = boolean(m.autoescape);
        m.autoescape = truth(top());
        return replace(1, v);
      case Op::kRestore:
        if (!has(1)) return false;
        m.autoescape = truth(top());
        pop();
        return true;
      case Op::kFail:
        return m.fail(m.program->text(at->b));
      default:
        return m.fail("the program is damaged");
    }
  }
};

bool run(Machine& m, const Function& function, Frame* frame, Value* out) {
  if (m.calls == kMaxCalls) return m.full("calls in one another", kMaxCalls);
  ++m.calls;
  const uint16_t line = m.line;
  Runner r{m, function, frame, m.n_stack, m.mark(), m.program->code + function.entry};
  bool done = false;
  for (; !done; ++r.at) {
    m.line = r.at->line;
    if (!m.spend(1) || !r.step(out, &done)) return false;
  }
  m.n_stack = r.base;
  m.line = line;
  --m.calls;
  return true;
}

}  // namespace

Next loop_next(Machine& m, Loop* loop, Value* out) {
  for (;;) {
    const Next got = next(m, &loop->items, out);
    if (got != Next::kItem || !loop->filter) return got;
    Frame* const frame = new_frame(m, *loop->filter, loop->around);
    if (!frame) return Next::kFailed;
    frame->slots[0] = *out;
    Value passes;
    if (!run(m, *loop->filter, frame, &passes)) return Next::kFailed;
    *out = frame->slots[0];
    if (truth(passes)) return Next::kItem;
  }
}

bool loop_length(Machine& m, Loop* loop, int64_t* out) {
  if (loop->length == kUnknownLength) {
    const Value& of = loop->items.of;
    int64_t n = 0;
    if (!loop->filter && !of.is(Kind::kIterator) && !of.is(Kind::kLoop)) {
      if (!length(m, of, &n)) return false;
    } else {
      // The rest is gone through ahead.
      Value items;
      size_t n_items = 0, room = 8;
      Value* list = m.take_values(room);
      for (;;) {
        if (!list) return false;
        if (n_items == room) {
          Value* const more = m.take_values(2 * room);
          if (!more) return false;
          std::memcpy(static_cast<void*>(more), list, n_items * sizeof *list);
          list = more;
          room *= 2;
        }
        const Next got = loop_next(m, loop, &list[n_items]);
        if (got == Next::kFailed) return false;
        if (got == Next::kEnd) break;
        ++n_items;
      }
      if (!make_list(m, Kind::kList, list, n_items, &items)) return false;
      loop->items = {items, 0};
      loop->filter = nullptr;
      n = static_cast<int64_t>(n_items) + loop->index + !loop->after.is(Kind::kMissing);
    }
    loop->length = static_cast<uint32_t>(n);
  }
  *out = loop->length;
  return true;
}

bool loop_attribute(Machine& m, const Value& of, std::string_view name, bool* found, Value* out) {
  Loop* const loop = of.loop;
  int64_t n = 0;
  *found = true;
  const int64_t index = loop->index;
  if (name == "index0") return *out = integer(index - 1), true;
  if (name == "index") return *out = integer(index), true;
  if (name == "first") return *out = boolean(index == 1), true;
  if (name == "depth") return *out = integer(int64_t{loop->depth0} + 1), true;
  if (name == "depth0") return *out = integer(loop->depth0), true;
  if (name == "length" || name == "revindex" || name == "revindex0") {
    if (!loop_length(m, loop, &n)) return false;
    *out = integer(name == "length" ? n : name == "revindex" ? n - index + 1 : n - index);
    return true;
  }
  if (name == "last" || name == "nextitem") {
    const Next got = peek(m, loop);
    if (got == Next::kFailed) return false;
    if (name == "last")
      *out = boolean(got == Next::kEnd);
    else
      *out = got == Next::kEnd ? undefined("there is no next item", true) : loop->after;
    return true;
  }
  if (name == "previtem") {
    *out = index == 1 ? undefined("there is no previous item", true) : loop->before;
    return true;
  }
  if (name == "cycle" || name == "changed") {
    Method* const method = static_cast<Method*>(m.take(sizeof(Method)));
    if (!method) return false;
    *method = {of, name};
    *out = Value();
    out->kind = Kind::kMethod;
    out->method = method;
    return true;
  }
  *found = false;
  return true;
}

bool set_in_namespace(Machine& m, Namespace* space, std::string_view name, const Value& v) {
  for (uint32_t i = 0; i < space->n; ++i) {
    if (!m.spend(1)) return false;
    if (space->names[i].view() == name) {
      space->values[i] = v;
      return true;
    }
  }
  if (space->n == space->room) {
    const uint32_t room = space->room ? 2 * space->room : 4;
    Value* const names = m.take_values(2 * size_t{room});
    if (!names) return false;
    if (space->n) {
      std::memcpy(static_cast<void*>(names), space->names, space->n * sizeof *names);
      std::memcpy(static_cast<void*>(names + room), space->values, space->n * sizeof *names);
    }
    space->names = names;
    space->values = names + room;
    space->room = room;
  }
  space->names[space->n] = text(name);
  space->values[space->n++] = v;
  return true;
}

bool run_template(Machine& m) {
  const Function& function = m.program->functions[0];
  m.n_stack = 0;
  m.stack = m.take_values(kStackSize);
  m.stack_size = m.stack ? kStackSize : 0;
  Frame* const frame = m.stack ? new_frame(m, function, nullptr) : nullptr;
  Value out;
  return frame && run(m, function, frame, &out);
}

}  // namespace linnet::chat
