// The program of a template: which variable each name means, and the instructions.
//
// Jinja2 decides at compile time what a name means, by lexical scopes: what a scope stores is its own, and begins as what the name means
// around it; what it only reads belongs to the scope around it, or to the context. A macro sees variables of the functions around it as
// they are when it is called.
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "../../platform/utf8.h"
#include "../chat/value.h"
#include "../guard.h"
#include "template.h"
#include "template_tree.h"

namespace linnet::convert {
namespace {

using chat::Op;

// One function of the program while it is made.
struct Made {
  chat::Function entry = {};
  Made* outer = nullptr;
  uint32_t index = 0;
  std::vector<std::string> slots = {};
  std::map<std::string, uint32_t> by_ident = {};  // a name and how many scopes are around it: scopes beside one another share a slot
  std::vector<chat::Instruction> code = {};
};

struct Ref {
  Made* function = nullptr;
  uint32_t slot = 0;
};
enum class Begins : uint8_t { kParameter, kResolved, kAlias, kUndefined };
struct Load {
  Ref slot;
  Begins how;
  Ref from;  // of kAlias
};

struct Scope {
  Scope* around = nullptr;  // nullptr for the template and for blocks
  Made* function = nullptr;
  uint32_t level = 0;
  bool soft = false;  // in an `if`: what is not known fails only where it is reached
  std::map<std::string, Ref> refs = {};
  std::map<uint32_t, Load> loads = {};  // by slot of `function`, in which all of a scope's own lie
  std::set<std::string> stores = {};

  bool find(const std::string& name, Ref* out) const {
    for (const Scope* s = this; s; s = s->around) {
      const auto it = s->refs.find(name);
      if (it == s->refs.end()) continue;
      *out = it->second;
      return true;
    }
    return false;
  }
};

class Compiler {
 public:
  explicit Compiler(Tree tree) : tree_(std::move(tree)) {}

  void all(std::vector<uint8_t>* out) {
    Made* const root = function(nullptr, {});
    Scope& scope = scopes_.emplace_back();
    scope.function = root;
    root_ = &scope;
    forbid_loop_targets(tree_.body, false);
    look_through(&scope, tree_.body);
    enter(scope);
    statements(tree_.body, scope);
    emit(Op::kReturn, 0, 0);
    while (!later_.empty()) {
      const auto next = std::move(later_.front());
      later_.pop_front();
      next();
    }
    write(out);
  }

 private:
  const Node& node(uint32_t i) const { return tree_.nodes[i]; }
  [[noreturn]] static void fail(uint32_t line, const std::string& what) { throw TemplateError{line, what}; }

  // ---- what names mean

  Ref define(Scope* s, const std::string& name, Begins how, Ref from = {}) {
    const std::string ident = std::to_string(s->level) + ' ' + name;
    const auto [it, is_new] = s->function->by_ident.emplace(ident, static_cast<uint32_t>(s->function->slots.size()));
    if (is_new) s->function->slots.push_back(name);
    const Ref ref{s->function, it->second};
    s->refs[name] = ref;
    s->loads[ref.slot] = {ref, how, from};
    return ref;
  }
  Ref parameter(Scope* s, const std::string& name) {
    s->stores.insert(name);
    return define(s, name, Begins::kParameter);
  }
  void load(Scope* s, const std::string& name) {
    Ref ref;
    if (!s->find(name, &ref)) define(s, name, Begins::kResolved);
  }
  void store(Scope* s, const std::string& name) {
    s->stores.insert(name);
    if (s->refs.count(name)) return;
    Ref around;
    if (s->around && s->around->find(name, &around))
      define(s, name, Begins::kAlias, around);
    else
      define(s, name, Begins::kUndefined);
  }
  // What only some branches of an `if` store has its old value behind the others.
  void join(Scope* s, const std::vector<Scope>& branches) {
    std::set<std::string> stores;
    for (const Scope& b : branches) stores.insert(b.stores.begin(), b.stores.end());
    for (const std::string& name : s->stores) stores.erase(name);
    for (const Scope& b : branches) {
      for (const auto& [name, ref] : b.refs) s->refs[name] = ref;
      for (const auto& [slot, how] : b.loads) s->loads[slot] = how;
      s->stores.insert(b.stores.begin(), b.stores.end());
    }
    for (const std::string& name : stores) {
      Ref ref, around;
      s->find(name, &ref);
      if (s->around && s->around->find(name, &around))
        s->loads[ref.slot] = {ref, Begins::kAlias, around};
      else
        s->loads[ref.slot] = {ref, Begins::kResolved, {}};
    }
  }
  void look_through_expressions(Scope* s, const Node& n) {
    const auto one = [&](uint32_t i) {
      if (i) look_at(s, i);
    };
    one(n.left), one(n.right), one(n.third);
    for (const uint32_t i : n.items) one(i);
    for (const auto& [key, value] : n.named) one(value);
  }
  void look_at_target(Scope* s, uint32_t i, bool as_parameter = false) {
    const Node& n = node(i);
    if (n.tag == Tag::kTuple) {
      for (const uint32_t item : n.items) look_at_target(s, item, as_parameter);
    } else if (n.tag == Tag::kNamespace) {
      load(s, n.text);
    } else if (as_parameter) {
      parameter(s, n.text);
    } else {
      store(s, n.text);
    }
  }
  // The names in an expression or a statement, as far as they are this scope's.
  void look_at(Scope* s, uint32_t i) {
    const Node& n = node(i);
    switch (n.tag) {
      case Tag::kName:
        return load(s, n.text);
      case Tag::kIf: {
        look_at(s, n.left);
        std::vector<Scope> branches;
        const auto branch = [&](const std::vector<uint32_t>& list) {
          branches.push_back(*s);
          look_through(&branches.back(), list);
        };
        branch(n.body);
        branch(n.items);
        branch(n.other);
        return join(s, branches);
      }
      case Tag::kMacro:
        return store(s, n.text);
      case Tag::kSet:
        look_at(s, n.right);
        return look_at_target(s, n.left);
      case Tag::kSetBlock:
        return look_at_target(s, n.left);
      case Tag::kFor:
        return look_at(s, n.right);
      case Tag::kCallBlock:
      case Tag::kFilterBlock:
        return look_at(s, n.left);
      case Tag::kWith:
        for (size_t k = 1; k < n.items.size(); k += 2) look_at(s, n.items[k]);
        return;
      case Tag::kScope:
      case Tag::kBlock:
        return;
      case Tag::kAutoescape:
        look_at(s, n.left);
        return look_through(s, n.body);
      default:
        return look_through_expressions(s, n);
    }
  }
  void look_through(Scope* s, const std::vector<uint32_t>& list) {
    for (const uint32_t i : list) look_at(s, i);
  }
  // A scope in another one. All live as long as the compiler: functions are compiled behind the one that they stand in.
  Scope& inner(Scope& around) {
    Scope& s = scopes_.emplace_back();
    s.around = &around;
    s.function = around.function;
    s.level = around.level + 1;
    return s;
  }

  // Whether names are read anywhere in a body, macros in it included, before they are stored.
  void find_undeclared(const std::vector<uint32_t>& list, std::set<std::string>* names, std::set<std::string>* found) const {
    for (const uint32_t i : list)
      if (i) find_undeclared(i, names, found);
  }
  void find_undeclared(uint32_t i, std::set<std::string>* names, std::set<std::string>* found) const {
    const Node& n = node(i);
    if (n.tag == Tag::kBlock) return;
    if (n.tag == Tag::kName) {
      if (names->count(n.text)) found->insert(n.text);
      return;
    }
    const bool first_right = n.tag == Tag::kSet;
    if (n.tag == Tag::kMacro || n.tag == Tag::kCallBlock)
      for (const auto& [name, value] : n.named) names->erase(name);
    for (const auto& [name, value] : n.named)
      if (value) find_undeclared(value, names, found);
    if (first_right && n.right) find_undeclared(n.right, names, found);
    const bool is_target = n.tag == Tag::kSet || n.tag == Tag::kSetBlock || n.tag == Tag::kFor;
    if (n.left) is_target ? forget_target(n.left, names) : find_undeclared(n.left, names, found);
    if (!first_right && n.right) find_undeclared(n.right, names, found);
    if (n.third) find_undeclared(n.third, names, found);
    find_undeclared(n.items, names, found);
    find_undeclared(n.body, names, found);
    find_undeclared(n.other, names, found);
  }
  void forget_target(uint32_t i, std::set<std::string>* names) const {
    const Node& n = node(i);
    if (n.tag == Tag::kName) names->erase(n.text);
    for (const uint32_t item : n.items) forget_target(item, names);
  }
  bool reads(const std::vector<uint32_t>& body, const char* name) const {
    std::set<std::string> names{name}, found;
    find_undeclared(body, &names, &found);
    return !found.empty();
  }
  // Inside of a loop nothing may be called `loop` but the loop.
  void forbid_loop_targets(const std::vector<uint32_t>& list, bool in_loop) const {
    for (const uint32_t i : list) {
      if (!i) continue;
      const Node& n = node(i);
      const bool inside = in_loop || n.tag == Tag::kFor;
      if (inside && (n.tag == Tag::kSet || n.tag == Tag::kSetBlock || n.tag == Tag::kFor)) forbid_loop_target(n.left);
      if (inside && n.tag == Tag::kMacro && n.text == "loop") fail(n.line, "nothing may be called 'loop' in a loop");
      forbid_loop_targets(n.body, inside);
      forbid_loop_targets(n.other, inside);
      if (n.tag == Tag::kIf) forbid_loop_targets(n.items, inside);
    }
  }
  void forbid_loop_target(uint32_t i) const {
    const Node& n = node(i);
    if (n.tag == Tag::kName && n.text == "loop") fail(n.line, "nothing may be called 'loop' in a loop");
    for (const uint32_t item : n.items) forbid_loop_target(item);
  }

  // ---- instructions

  Made* function(Made* outer, const std::string& name) {
    if (functions_.size() >= chat::kMaxFunctions) fail(line_, "more than " + std::to_string(chat::kMaxFunctions) + " macros and loops");
    functions_.push_back(std::make_unique<Made>());
    Made* const f = functions_.back().get();
    f->outer = outer;
    f->index = static_cast<uint32_t>(functions_.size() - 1);
    f->entry.outer = outer ? outer->index : 0;
    f->entry.depth = outer ? outer->entry.depth + 1 : 0;
    f->entry.name = name.empty() ? chat::kNoName : text_constant(name);
    if (f->entry.depth > 200) fail(line_, "macros nest deeper than 200");
    if (!current_) current_ = f;
    return f;
  }
  uint32_t text_constant(const std::string& s) { return constant({static_cast<uint32_t>(chat::Kind::kText), 0, 0, s}); }
  uint32_t constant(const Constant& c) {
    uint64_t bits = static_cast<uint64_t>(c.integer);
    if (c.kind == static_cast<uint32_t>(chat::Kind::kFloat)) std::memcpy(&bits, &c.real, sizeof bits);
    const auto [it, is_new] = constants_.emplace(std::make_tuple(c.kind, bits, c.text), static_cast<uint32_t>(entries_.size()));
    if (!is_new) return it->second;
    chat::ConstantEntry e{c.kind, 0, bits};
    if (!c.text.empty() || c.kind == static_cast<uint32_t>(chat::Kind::kText)) {
      e.n = static_cast<uint32_t>(c.text.size());
      e.value = texts_.size();
      texts_ += c.text;
    }
    if (entries_.size() >= chat::kMaxConstants || texts_.size() > chat::kMaxTexts) fail(line_, "it is too long");
    entries_.push_back(e);
    return it->second;
  }
  uint32_t emit(Op op, uint32_t a = 0, uint32_t b = 0) {
    if (a > 0xFF || n_code_ >= chat::kMaxCode) fail(line_, "it is too long");
    ++n_code_;
    current_->code.push_back(
        {static_cast<uint8_t>(op), static_cast<uint8_t>(a), static_cast<uint16_t>(line_ > 0xFFFF ? 0xFFFF : line_), b});
    return static_cast<uint32_t>(current_->code.size() - 1);
  }
  // Jumps are to places in their function; write() adds where that begins.
  void land(uint32_t jump) { current_->code[jump].b = static_cast<uint32_t>(current_->code.size()); }
  uint32_t here() const { return static_cast<uint32_t>(current_->code.size()); }

  void load_ref(Ref ref, Op op = Op::kLoad) {
    uint32_t outwards = 0;
    for (const Made* f = current_; f != ref.function; f = f->outer) ++outwards;
    emit(op, outwards, ref.slot);
  }
  void store_ref(Ref ref) { emit(Op::kStore, 0, ref.slot); }  // a scope stores in its own function alone
  void enter(const Scope& s) {
    for (const auto& [slot, how] : s.loads) {
      if (how.how == Begins::kResolved) emit(Op::kResolve, 0, slot);
      if (how.how == Begins::kUndefined) emit(Op::kClear, 0, slot);
      if (how.how == Begins::kAlias) {
        emit(Op::kAlias, 0, slot);
        load_ref(how.from);
      }
    }
  }
  void leave(const Scope& s) {
    for (const auto& [slot, how] : s.loads) emit(Op::kClear, 0, slot);
  }

  // ---- statements

  // What waits on the stack inside of a statement, for `break` and `continue` to clear away.
  enum class Waits : uint8_t { kLoop, kCapture, kEscape };
  struct OpenLoop {
    uint32_t next;                      // the instruction that goes on
    std::vector<uint32_t> breaks = {};  // jumps behind the loop
  };

  void statements(const std::vector<uint32_t>& list, Scope& s) {
    for (const uint32_t i : list) statement(i, s);
  }
  void statement(uint32_t i, Scope& s) {
    const Node& n = node(i);
    line_ = n.line;
    switch (n.tag) {
      case Tag::kData:
        emit(Op::kPutText, 0, text_constant(n.text));
        return;
      case Tag::kPrint:
        for (const uint32_t item : n.items) {
          if (node(item).tag == Tag::kConst && node(item).constant.kind == static_cast<uint32_t>(chat::Kind::kText) && !escape_) {
            emit(Op::kPutText, 0, text_constant(node(item).constant.text));
            continue;
          }
          expression(item, s);
          emit(Op::kPut, escape_);
        }
        return;
      case Tag::kFor:
        return n.flag ? recursive_loop(i, s) : loop(i, s, nullptr);
      case Tag::kIf:
        return condition(n, s);
      case Tag::kSet:
        check_namespaces(n.left, s);
        expression(n.right, s);
        return assign(n.left, s);
      case Tag::kSetBlock:
        return set_block(n, s);
      case Tag::kMacro:
        macro(i, s, n.text);
        return store_name(n.text, s);
      case Tag::kCallBlock:
        return call_block(i, s);
      case Tag::kFilterBlock: {
        Scope& in = inner(s);
        look_through(&in, n.body);
        look_at(&in, n.left);
        enter(in);
        captured(n.body, in);
        expression(n.left, in);
        line_ = n.line;
        emit(Op::kPut, 3);
        return leave(in);
      }
      case Tag::kWith: {
        Scope& in = inner(s);
        for (size_t k = 0; k < n.items.size(); k += 2) look_at_target(&in, n.items[k], true);
        look_through(&in, n.body);
        enter(in);
        for (size_t k = 0; k < n.items.size(); k += 2) {
          expression(n.items[k + 1], s);
          assign(n.items[k], in);
        }
        statements(n.body, in);
        return leave(in);
      }
      case Tag::kScope: {
        // A generation block is a call block to transformers, which shows where its body asks who calls it.
        std::set<std::string> names{"caller", "kwargs", "varargs"}, found;
        if (n.flag) find_undeclared(n.body, &names, &found);
        if (!found.empty()) {
          macro(i, s, {});
          emit(Op::kCall, 0, 0);
          emit(Op::kPut, 0);
          return;
        }
        Scope& in = inner(s);
        look_through(&in, n.body);
        enter(in);
        statements(n.body, in);
        return leave(in);
      }
      case Tag::kAutoescape:
        return autoescape(n, s);
      case Tag::kBlock:
        return block(i, s);
      case Tag::kBreak:
      case Tag::kContinue:
        return jump_out(n);
      case Tag::kImpossible:
        emit(Op::kFail, 0, text_constant(n.text));
        return;
      default:
        expression(i, s);
        emit(Op::kPop);
    }
  }

  void store_name(const std::string& name, Scope& s) {
    Ref ref;
    s.find(name, &ref);
    store_ref(ref);
  }
  void assign(uint32_t target, Scope& s) {
    const Node& n = node(target);
    if (n.tag == Tag::kTuple) {
      emit(Op::kUnpack, 0, static_cast<uint32_t>(n.items.size()));
      for (const uint32_t item : n.items) assign(item, s);
    } else if (n.tag == Tag::kNamespace) {
      load_name(n.text, s);
      emit(Op::kNamespaceSet, 0, text_constant(n.attribute));
    } else {
      store_name(n.text, s);
    }
  }
  void check_namespaces(uint32_t target, Scope& s) {
    const Node& n = node(target);
    for (const uint32_t item : n.items) check_namespaces(item, s);
    if (n.tag != Tag::kNamespace) return;
    Ref ref;
    s.find(n.text, &ref);
    load_ref(ref, Op::kNamespaceCheck);
  }

  void condition(const Node& n, Scope& s) {
    const bool was = s.soft;
    s.soft = true;
    std::vector<uint32_t> ends;
    const auto branch = [&](const Node& of, bool last) {
      line_ = of.line;
      expression(of.left, s);
      const uint32_t past = emit(Op::kJumpIfNot);
      statements(of.body, s);
      if (!last) ends.push_back(emit(Op::kJump));
      land(past);
    };
    branch(n, n.items.empty() && n.other.empty());
    for (size_t k = 0; k < n.items.size(); ++k) branch(node(n.items[k]), k + 1 == n.items.size() && n.other.empty());
    statements(n.other, s);
    for (const uint32_t jump : ends) land(jump);
    s.soft = was;
  }

  void targets(uint32_t target, Scope& s) {
    const Node& n = node(target);
    if (n.tag != Tag::kTuple) return load_name(n.text, s);
    for (const uint32_t item : n.items) targets(item, s);
    emit(Op::kTuple, 0, static_cast<uint32_t>(n.items.size()));
  }
  // The function of a loop's filter: its one parameter is the item, which it may change.
  uint32_t loop_filter(const Node& n, Scope& s) {
    if (!n.third) return 0;
    Made* const f = function(current_, {});
    Scope* const in = &inner(s);
    in->function = f;
    f->slots.push_back("item");
    f->entry.n_params = 1;
    look_at_target(in, n.left, true);
    look_at(in, n.third);
    const Node* const loop = &n;
    later(f, [this, in, loop] {
      line_ = loop->line;
      enter(*in);
      emit(Op::kLoad, 0, 0);
      assign(loop->left, *in);
      if (node(loop->left).tag == Tag::kTuple) {  // what comes through is a tuple of the targets, whatever the item was
        targets(loop->left, *in);
        emit(Op::kStore, 0, 0);
      }
      expression(loop->third, *in);
      emit(Op::kReturnValue);
    });
    return f->index + 1;
  }
  // `reciter`: in the function of a recursive loop, whose filter it is.
  void loop(uint32_t i, Scope& s, const uint32_t* reciter) {
    const Node& n = node(i);
    Scope& in = inner(s);
    Scope& other = inner(s);
    const bool named = n.flag || reads(n.body, "loop");
    Ref loop_ref;
    if (named) loop_ref = parameter(&in, "loop");
    look_at_target(&in, n.left, true);
    look_through(&in, n.body);
    look_through(&other, n.other);
    if (reciter) {
      emit(Op::kReciter, 0, *reciter);
    } else {
      const uint32_t filter = loop_filter(n, s);
      expression(n.right, s);
      line_ = n.line;
      emit(Op::kFor, 0, filter);
    }
    // Whether no item came to the end of the body.
    uint32_t none_slot = 0;
    if (!n.other.empty()) {
      none_slot = static_cast<uint32_t>(current_->slots.size());
      current_->slots.push_back("no item");
      emit(Op::kConst, 0, constant({static_cast<uint32_t>(chat::Kind::kBool), 1, 0, {}}));
      emit(Op::kStore, 0, none_slot);
    }
    const uint32_t next = emit(Op::kNext);
    waits_.push_back(Waits::kLoop);
    loops_.push_back({next});
    assign(n.left, in);
    if (named) emit(Op::kLoopVar, 0, loop_ref.slot);
    enter(in);
    statements(n.body, in);
    line_ = n.line;
    if (!n.other.empty()) {
      emit(Op::kConst, 0, constant({static_cast<uint32_t>(chat::Kind::kBool), 0, 0, {}}));
      emit(Op::kStore, 0, none_slot);
    }
    emit(Op::kJump, 0, next);
    land(next);
    for (const uint32_t jump : loops_.back().breaks) land(jump);
    loops_.pop_back();
    waits_.pop_back();
    emit(Op::kPop);
    leave(in);
    if (n.other.empty()) return;
    emit(Op::kLoad, 0, none_slot);
    const uint32_t past = emit(Op::kJumpIfNot);
    enter(other);
    statements(n.other, other);
    leave(other);
    land(past);
  }
  void recursive_loop(uint32_t i, Scope& s) {
    const Node& n = node(i);
    const uint32_t filter = loop_filter(n, s);
    Made* const f = function(current_, {});
    f->slots = {"items", "depth"};
    f->entry.n_params = 2;
    Scope* const around = &inner(s);
    around->level = s.level;  // the loop's own scope is the next one
    around->function = f;
    const uint8_t escape = escape_;
    later(f, [this, around, i, filter, escape] {
      escape_ = escape;
      loop(i, *around, &filter);
      emit(Op::kReturn, escape_);
    });
    expression(n.right, s);
    line_ = n.line;
    emit(Op::kRecurse, 0, f->index);
    emit(Op::kPut, 0);
  }

  void captured(const std::vector<uint32_t>& body, Scope& s) {
    emit(Op::kCapture);
    waits_.push_back(Waits::kCapture);
    statements(body, s);
    waits_.pop_back();
    emit(Op::kCaptured, escape_);
  }
  void set_block(const Node& n, Scope& s) {
    Scope& in = inner(s);
    look_through(&in, n.body);
    if (n.right) look_at(&in, n.right);
    enter(in);
    captured(n.body, in);
    line_ = n.line;
    if (n.right) expression(n.right, in);
    if (n.right && escape_) {  // what a filter makes of a block is a markup, as the block is
      chat::FilterId safe = {};
      if (chat::find_filter("safe", &safe)) emit(Op::kFilter, chat::kWhereEscaped, static_cast<uint32_t>(safe));
    }
    check_namespaces(n.left, s);
    assign(n.left, s);
    leave(in);
  }

  // The body of a macro or a call block, as a function that is compiled later; leaves the macro on the stack.
  void macro(uint32_t i, Scope& s, const std::string& name) {
    const Node& n = node(i);
    Made* const f = function(current_, name);
    Scope* const in = &inner(s);
    in->function = f;
    std::set<std::string> names{"caller", "kwargs", "varargs"}, found;
    find_undeclared(n.body, &names, &found);
    bool caller_given = false;
    for (const auto& [parameter_name, value] : n.named) {
      if (parameter_name == "caller") {
        if (!value) fail(n.line, "the parameter 'caller' needs a default");
        caller_given = true;
      }
      if (in->stores.count(parameter_name)) fail(n.line, "the parameter '" + parameter_name + "' comes twice");
      parameter(in, parameter_name);
      found.erase(parameter_name == "caller" ? std::string() : parameter_name);
    }
    f->entry.n_params = static_cast<uint32_t>(n.named.size());
    if (found.count("caller") && !caller_given) parameter(in, "caller"), f->entry.flags |= chat::kTakesCaller;
    if (found.count("kwargs")) parameter(in, "kwargs"), f->entry.flags |= chat::kTakesNamed;
    if (found.count("varargs")) parameter(in, "varargs"), f->entry.flags |= chat::kTakesMore;
    for (const auto& [parameter_name, value] : n.named)
      if (value) look_at(in, value);
    look_through(in, n.body);
    const uint8_t escape = escape_;
    later(f, [this, in, i, escape] {
      const Node& of = node(i);
      escape_ = escape;
      line_ = of.line;
      enter(*in);
      for (uint32_t k = 0; k < of.named.size(); ++k) {
        if (!of.named[k].second) continue;
        const uint32_t past = emit(Op::kJumpIfGiven, k);
        expression(of.named[k].second, *in);
        emit(Op::kStore, 0, k);
        land(past);
      }
      statements(of.body, *in);
      emit(Op::kReturn);
    });
    line_ = n.line;
    emit(Op::kMacro, 0, f->index);
  }
  void call_block(uint32_t i, Scope& s) {
    const Node& n = node(i);
    const Node& call = node(n.left);
    expression(call.left, s);
    const auto caller = [&] {
      emit(Op::kConst, 0, text_constant("caller"));
      macro(i, s, {});
    };
    arguments(call, s, Op::kCall, 0, caller);
    line_ = n.line;
    emit(Op::kPut, 0);
  }
  void autoescape(const Node& n, Scope& s) {
    expression(n.left, s);
    emit(Op::kEscape);
    waits_.push_back(Waits::kEscape);
    const uint8_t was = escape_;
    escape_ = node(n.left).tag == Tag::kConst ? is_true(node(n.left).constant) : 2;
    statements(n.body, s);
    escape_ = was;
    waits_.pop_back();
    emit(Op::kRestore);
  }
  static bool is_true(const Constant& c) { return c.integer || c.real != 0 || !c.text.empty(); }

  // A block stands where it is written, and sees what the template itself has stored so far.
  void block(uint32_t i, Scope& s) {
    const Node& n = node(i);
    if (!blocks_.insert(n.text).second) fail(n.line, "the block '" + n.text + "' is defined twice");
    Scope& in = scopes_.emplace_back();
    in.function = current_;
    in.level = s.level + 1;
    look_through(&in, n.body);
    enter(in);
    for (const auto& [slot, how] : in.loads) {
      Ref seen;
      const std::string& name = current_->slots[slot];
      if (how.how != Begins::kResolved || !(n.flag ? &s : root_)->find(name, &seen)) continue;
      if (!n.flag && !root_->stores.count(name)) continue;
      emit(Op::kAlias, 0, slot);
      load_ref(seen);
      const uint32_t past = emit(Op::kJumpIfGiven, slot);
      emit(Op::kResolve, 0, slot);
      land(past);
    }
    std::vector<OpenLoop> loops;
    std::swap(loops, loops_);
    statements(n.body, in);
    std::swap(loops, loops_);
    leave(in);
  }
  void jump_out(const Node& n) {
    if (loops_.empty()) fail(n.line, n.tag == Tag::kBreak ? "'break' outside of a loop" : "'continue' outside of a loop");
    for (size_t k = waits_.size(); k-- > 0 && waits_[k] != Waits::kLoop;) emit(waits_[k] == Waits::kCapture ? Op::kDiscard : Op::kRestore);
    if (n.tag == Tag::kContinue)
      emit(Op::kJump, 0, loops_.back().next);
    else
      loops_.back().breaks.push_back(emit(Op::kJump));
  }

  // Functions are compiled behind the one that they stand in.
  template <class Fn>
  void later(Made* f, Fn fn) {
    later_.push_back([this, f, fn = std::move(fn)] {
      current_ = f;
      waits_.clear();
      loops_.clear();
      fn();
    });
  }
  // ---- expressions

  void load_name(const std::string& name, Scope& s) {
    Ref ref;
    if (!s.find(name, &ref)) fail(line_, "'" + name + "' cannot be used here");
    load_ref(ref);
  }
  void expression(uint32_t i, Scope& s) {
    const Node& n = node(i);
    line_ = n.line;
    switch (n.tag) {
      case Tag::kName:
        return load_name(n.text, s);
      case Tag::kConst:
        emit(Op::kConst, 0, constant(n.constant));
        return;
      case Tag::kList:
      case Tag::kTuple:
      case Tag::kDict:
        for (const uint32_t item : n.items) expression(item, s);
        emit(n.tag == Tag::kList    ? Op::kList
             : n.tag == Tag::kTuple ? Op::kTuple
                                    : Op::kDict,
             0, static_cast<uint32_t>(n.tag == Tag::kDict ? n.items.size() / 2 : n.items.size()));
        return;
      case Tag::kUnary:
        expression(n.left, s);
        line_ = n.line;
        emit(n.op);
        return;
      case Tag::kBinary:
        expression(n.left, s);
        expression(n.right, s);
        line_ = n.line;
        emit(n.op);
        return;
      case Tag::kAnd:
      case Tag::kOr: {
        expression(n.left, s);
        const uint32_t past = emit(n.tag == Tag::kAnd ? Op::kJumpIfNotKeep : Op::kJumpIfKeep);
        expression(n.right, s);
        return land(past);
      }
      case Tag::kCompare:
        return compare(n, s);
      case Tag::kConcat:
        for (const uint32_t item : n.items) expression(item, s);
        line_ = n.line;
        emit(Op::kConcat, escape_, static_cast<uint32_t>(n.items.size()));
        return;
      case Tag::kCondition:
        return choose(n, s);
      case Tag::kAttribute:
        expression(n.left, s);
        line_ = n.line;
        emit(Op::kAttribute, 0, text_constant(n.text));
        return;
      case Tag::kItem:
        expression(n.left, s);
        expression(n.right, s);
        line_ = n.line;
        emit(Op::kItem);
        return;
      case Tag::kSlice:
        expression(n.left, s);
        for (const uint32_t item : n.items)
          if (item)
            expression(item, s);
          else
            emit(Op::kConst, 0, constant({static_cast<uint32_t>(chat::Kind::kNone), 0, 0, {}}));
        line_ = n.line;
        emit(Op::kSlice);
        return;
      case Tag::kCall:
        expression(n.left, s);
        return arguments(n, s, Op::kCall, 0, [] {});
      case Tag::kFilter:
      case Tag::kTest:
        return apply(n, s);
      default:
        fail(n.line, "an expression expected");
    }
  }
  void compare(const Node& n, Scope& s) {
    expression(n.left, s);
    std::vector<uint32_t> ends;
    for (size_t k = 0; k < n.ops.size(); ++k) {
      expression(n.items[k], s);
      line_ = n.line;
      const bool last = k + 1 == n.ops.size();
      if (!last) emit(Op::kRotate);
      emit(n.ops[k]);
      if (!last) ends.push_back(emit(Op::kJumpIfNotKeep));
    }
    if (ends.empty()) return;
    const uint32_t past = emit(Op::kJump);
    for (const uint32_t jump : ends) land(jump);
    emit(Op::kSwapPop);
    land(past);
  }
  void choose(const Node& n, Scope& s) {
    const bool was = s.soft;
    s.soft = true;
    expression(n.right, s);
    const uint32_t other = emit(Op::kJumpIfNot);
    expression(n.left, s);
    const uint32_t past = emit(Op::kJump);
    land(other);
    if (n.third)
      expression(n.third, s);
    else
      emit(Op::kConst, 0,
           constant({static_cast<uint32_t>(chat::Kind::kUndefined), 0, 0,
                     "the inline if-expression on line " + std::to_string(n.line) + " evaluated to false and has no else"}));
    land(past);
    s.soft = was;
  }
  template <class More>
  void arguments(const Node& n, Scope& s, Op op, uint32_t id, const More& more) {
    for (const uint32_t item : n.items) expression(item, s);
    for (const auto& [name, value] : n.named) {
      emit(Op::kConst, 0, text_constant(name));
      expression(value, s);
    }
    const uint32_t before = here();
    more();
    const uint32_t n_named = static_cast<uint32_t>(n.named.size()) + (here() > before);
    if (n.right) expression(n.right, s);
    if (n.third) expression(n.third, s);
    line_ = n.line;
    emit(op, (n.right ? uint32_t{chat::kSpread} : 0) | (n.third ? uint32_t{chat::kSpreadNamed} : 0),
         id | static_cast<uint32_t>(n.items.size()) << 8 | n_named << 16);
  }
  void apply(const Node& n, Scope& s) {
    if (n.left) expression(n.left, s);  // else what a block wrote lies there
    uint32_t id = 0;
    bool known = false;
    if (n.tag == Tag::kFilter) {
      chat::FilterId filter;
      known = chat::find_filter(n.text, &filter);
      if (known) id = static_cast<uint32_t>(filter);
    } else {
      chat::TestId test;
      known = chat::find_test(n.text, &test);
      if (known) id = static_cast<uint32_t>(test);
    }
    if (known) return arguments(n, s, n.tag == Tag::kFilter ? Op::kFilter : Op::kTest, id, [] {});
    const std::string what = std::string("No ") + (n.tag == Tag::kFilter ? "filter" : "test") + " named '" + n.text + "' found.";
    if (!s.soft) fail(n.line, what);
    emit(Op::kFail, 0, text_constant(what));
  }

  // ---- the blob

  template <class T>
  static void append(std::vector<uint8_t>* out, const T* items, size_t n) {
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(items);
    out->insert(out->end(), bytes, bytes + n * sizeof *items);
  }
  void write(std::vector<uint8_t>* out) {
    std::vector<chat::Instruction> code;
    std::vector<chat::Function> functions;
    std::vector<uint32_t> names;
    for (const auto& f : functions_) {
      chat::Function entry = f->entry;
      entry.entry = static_cast<uint32_t>(code.size());
      entry.n_slots = static_cast<uint32_t>(f->slots.size());
      entry.slot_names = static_cast<uint32_t>(names.size());
      if (entry.n_slots > chat::kMaxSlots || names.size() + f->slots.size() > chat::kMaxNames) fail(1, "it has too many variables");
      for (const std::string& name : f->slots) names.push_back(text_constant(name));
      functions.push_back(entry);
      for (chat::Instruction i : f->code) {
        if (chat::jumps(static_cast<Op>(i.op))) i.b += entry.entry;
        code.push_back(i);
      }
    }
    const auto n = [](const auto& list) { return static_cast<uint32_t>(list.size()); };
    const chat::ProgramHeader header{
        chat::kProgramMagic, chat::kProgramVersion, n(code), n(entries_), n(functions), n(names), n(texts_), 0};
    out->clear();
    append(out, &header, 1);
    append(out, code.data(), code.size());
    append(out, entries_.data(), entries_.size());
    append(out, functions.data(), functions.size());
    append(out, names.data(), names.size());
    append(out, texts_.data(), texts_.size());
  }

  const Tree tree_;
  std::vector<std::unique_ptr<Made>> functions_ = {};
  std::deque<std::function<void()>> later_ = {};
  std::deque<Scope> scopes_ = {};
  std::map<std::tuple<uint32_t, uint64_t, std::string>, uint32_t> constants_ = {};
  std::vector<chat::ConstantEntry> entries_ = {};
  std::string texts_ = {};
  std::set<std::string> blocks_ = {};
  std::vector<Waits> waits_ = {};
  std::vector<OpenLoop> loops_ = {};
  Made* current_ = nullptr;
  Scope* root_ = nullptr;
  uint32_t line_ = 1, n_code_ = 0;
  uint8_t escape_ = 0;  // whether what is printed is escaped: 1 yes, 2 as the run says
};

}  // namespace

Status template_compile(std::string_view source, const char* name, std::vector<uint8_t>* out, Error* err) {
  if (source.size() > kMaxTemplateBytes)
    return fail(err, LINNET_UNSUPPORTED, name, ": a template of ", source.size(), " bytes, more than ", kMaxTemplateBytes);
  for (size_t i = 0; i < source.size();) {
    const Char c = next_char(source.data() + i, source.size() - i);
    if (c.code == kBadByte) return fail(err, LINNET_BAD_FILE, name, ": byte ", i, " is no UTF-8");
    i += c.bytes;
  }
  return guarded(name, err, [&] {
    try {
      Compiler(template_tree(source)).all(out);
      return LINNET_OK;
    } catch (const TemplateError& e) {
      const Status status = fail(err, LINNET_BAD_FILE, name, ", line ", e.line, ": ", std::string_view(e.what));
      if (err) err->line = e.line;
      return status;
    }
  });
}

}  // namespace linnet::convert
