// What `is` asks of a value.
#include "machine.h"

namespace linnet::chat {
namespace {

// What Python calls one object. Equal numbers and texts of one place count as one: Python shares its constants.
bool same(Machine& m, const Value& a, const Value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::kMissing:
    case Kind::kUndefined:  // each use of a name makes a new one
      return false;
    case Kind::kNone:
      return true;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kBig:
    case Kind::kRange:
      return equal(m, a, b);
    case Kind::kText:
      return a.n == b.n && (a.n <= 1 ? a.view() == b.view() : a.text == b.text) && !((a.flags ^ b.flags) & kMarkup);
    case Kind::kList:
    case Kind::kTuple:
      return a.n == b.n && a.items == b.items;
    case Kind::kFunction:
      return a.depth == b.depth;
    case Kind::kView:
      return a.dict == b.dict && a.depth == b.depth;
    default:
      return a.space == b.space;
  }
}

bool is_callable(const Value& v) {
  return v.is(Kind::kFunction) || v.is(Kind::kMethod) || v.is(Kind::kMacro) || v.is(Kind::kJoiner) || v.is(Kind::kLoop) ||
         v.is(Kind::kUndefined);
}

// Whether it has a length and items; an undefined value has both, until they are asked for.
bool is_sequence(const Value& v) { return v.is_text() || v.is_list() || v.is(Kind::kDict) || v.is(Kind::kRange) || v.is(Kind::kUndefined); }
bool is_iterable(const Value& v) { return is_sequence(v) || v.is(Kind::kView) || v.is(Kind::kIterator) || v.is(Kind::kLoop); }

// v % by == remainder
bool leaves(Machine& m, const Value& v, const Value& by, int64_t remainder, bool* out) {
  Value left;
  if (v.is(Kind::kBig) && by.is(Kind::kInt) && by.integer == 2) {
    *out = (v.text[v.n - 1] & 1) == remainder;
    return true;
  }
  if (!binary(m, Op::kModulo, v, by, &left)) return false;
  *out = equal(m, left, integer(remainder));
  return m.status == LINNET_OK;
}

// str(v).islower() and its like.
bool ask_text(Machine& m, const Value& v, std::string_view method, bool* out) {
  Method ask;
  ask.name = method;
  Value answer;
  if (!to_text(m, v, &ask.self) || !call_method(m, ask, {}, &answer)) return false;
  *out = truth(answer);
  return true;
}

// Whether a test takes a second value.
bool compares(TestId id) {
  switch (id) {
    case TestId::kIsBoolean:
    case TestId::kIsCallable:
    case TestId::kIsDefined:
    case TestId::kIsEscaped:
    case TestId::kIsEven:
    case TestId::kIsFalse:
    case TestId::kIsFilter:
    case TestId::kIsFloat:
    case TestId::kIsInteger:
    case TestId::kIsIterable:
    case TestId::kIsLower:
    case TestId::kIsMapping:
    case TestId::kIsNone:
    case TestId::kIsNumber:
    case TestId::kIsOdd:
    case TestId::kIsSequence:
    case TestId::kIsString:
    case TestId::kIsTest:
    case TestId::kIsTrue:
    case TestId::kIsUndefined:
    case TestId::kIsUpper:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool apply_test(Machine& m, TestId id, const Value& v, const Args& args, bool* out) {
  const std::string_view name = test_name(id);
  const bool two = compares(id);
  Value other = args.n ? args.values[0] : Value{};
  if (two && args.n_named == 1 && !args.n) {  // the operators of Python have no names for theirs
    const std::string_view parameter = id == TestId::kIsDivisibleBy ? "num" : id == TestId::kIsSameAs ? "other" : "seq";
    const bool named = id == TestId::kIsDivisibleBy || id == TestId::kIsSameAs || id == TestId::kIsIn;
    if (!named || args.named[0].view() != parameter)
      return m.fail("the test '", name, "' got an unexpected keyword argument '", args.named[0].view(), "'");
    other = args.named[1];
  } else if (args.n_named || args.n != (two ? 1 : 0)) {
    return m.fail("the test '", name, "' takes ", two ? 1 : 0, " arguments, ", args.n + args.n_named, " were given");
  }
  switch (id) {
    case TestId::kIsBoolean:
      *out = v.is(Kind::kBool);
      return true;
    case TestId::kIsCallable:
      *out = is_callable(v);
      return true;
    case TestId::kIsDefined:
      *out = !v.is(Kind::kUndefined);
      return true;
    case TestId::kIsUndefined:
      *out = v.is(Kind::kUndefined);
      return true;
    case TestId::kIsDivisibleBy:
      return leaves(m, v, other, 0, out);
    case TestId::kIsEven:
      return leaves(m, v, integer(2), 0, out);
    case TestId::kIsOdd:
      return leaves(m, v, integer(2), 1, out);
    case TestId::kIsEq:
    case TestId::kIsEqualTo:
    case TestId::kIsEqSign:
      *out = equal(m, v, other);
      return m.status == LINNET_OK;
    case TestId::kIsNe:
    case TestId::kIsNeSign:
      *out = !equal(m, v, other);
      return m.status == LINNET_OK;
    case TestId::kIsLt:
    case TestId::kIsLtSign:
    case TestId::kIsLessThan:
    case TestId::kIsLe:
    case TestId::kIsLeSign:
    case TestId::kIsGt:
    case TestId::kIsGtSign:
    case TestId::kIsGreaterThan:
    case TestId::kIsGe:
    case TestId::kIsGeSign: {
      const bool less =
          id == TestId::kIsLt || id == TestId::kIsLtSign || id == TestId::kIsLessThan || id == TestId::kIsLe || id == TestId::kIsLeSign;
      const bool or_equal = id == TestId::kIsLe || id == TestId::kIsLeSign || id == TestId::kIsGe || id == TestId::kIsGeSign;
      int o = 0;
      if (!order(m, v, other, &o)) return false;
      *out = o == (less ? -1 : 1) || (or_equal && o == 0);
      return true;
    }
    case TestId::kIsEscaped:
      *out = v.is_text() && (v.flags & kMarkup);
      return true;
    case TestId::kIsFalse:
      *out = v.is(Kind::kBool) && !v.integer;
      return true;
    case TestId::kIsTrue:
      *out = v.is(Kind::kBool) && v.integer;
      return true;
    case TestId::kIsFilter:
    case TestId::kIsTest: {
      if (!hashable(v)) return m.fail("a ", type_name(v), " is no name of a ", name);
      FilterId filter;
      TestId test;
      *out = v.is_text() && (id == TestId::kIsFilter ? find_filter(v.view(), &filter) : find_test(v.view(), &test));
      return true;
    }
    case TestId::kIsFloat:
      *out = v.is(Kind::kFloat);
      return true;
    case TestId::kIsIn:
      return contains(m, v, other, out);
    case TestId::kIsInteger:
      *out = v.is(Kind::kInt) || v.is(Kind::kBig);
      return true;
    case TestId::kIsIterable:
      *out = is_iterable(v);
      return true;
    case TestId::kIsLower:
      return ask_text(m, v, "islower", out);
    case TestId::kIsUpper:
      return ask_text(m, v, "isupper", out);
    case TestId::kIsMapping:
      *out = v.is(Kind::kDict);
      return true;
    case TestId::kIsNone:
      *out = v.is(Kind::kNone);
      return true;
    case TestId::kIsNumber:
      *out = v.is_number();
      return true;
    case TestId::kIsSameAs:
      *out = same(m, v, other);
      return m.status == LINNET_OK;
    case TestId::kIsSequence:
      *out = is_sequence(v);
      return true;
    case TestId::kIsString:
      *out = v.is_text();
      return true;
    case TestId::kEnd:
      break;
  }
  return m.fail("a test that is not known");
}

}  // namespace linnet::chat
