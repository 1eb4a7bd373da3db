// The syntax tree of a Jinja template, which template_lexer.cpp and template_parser.cpp make and template_program.cpp compiles.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../chat/program.h"

namespace linnet::convert {

// What is wrong with a template, and where. Thrown inside of the compiler alone.
struct TemplateError {
  uint32_t line;
  std::string what;
};

enum class TokenType : uint8_t {
  kData,
  kBlockBegin,
  kBlockEnd,
  kVariableBegin,
  kVariableEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd
};
struct Token {
  TokenType type;
  uint32_t line;
  std::string text;  // of a string literal the text that it stands for; of an operator its characters
};
// Comments and raw blocks are resolved, white space is as trim_blocks, lstrip_blocks and the signs at the tags leave it.
std::vector<Token> template_tokens(std::string_view source);

enum class Tag : uint8_t {
  // Expressions. left, right, third: operands, 0 where there is none.
  kName,       // text
  kNamespace,  // `ns.attr` as a target: text, attribute
  kConst,      // constant
  kList,       // items
  kTuple,      // items
  kDict,       // items: key, value, ...
  kUnary,      // op, left
  kBinary,     // op, left, right
  kAnd,        // left, right
  kOr,         // left, right
  kCompare,    // left, then items with ops
  kConcat,     // items
  kCondition,  // left if right else third
  kAttribute,  // left.text
  kItem,       // left[right]
  kSlice,      // left[items[0] : items[1] : items[2]], 0 where one is absent
  kCall,       // left(items, named, *right, **third)
  kFilter,     // left | text(items, named, *right, **third); left is 0 for what a block wrote
  kTest,       // left is text(...)
  // Statements.
  kData,         // text
  kPrint,        // items
  kFor,          // for left in right if third: body, other
  kIf,           // left: body; items: elifs, which are kIf themselves; other: else
  kSet,          // left = right
  kSetBlock,     // left = filter right of body
  kMacro,        // text(params): body
  kCallBlock,    // call(params) left: body
  kFilterBlock,  // filter left: body
  kWith,         // items = target, value, ...: body
  kAutoescape,   // left: body
  kScope,        // body, in a scope of its own; flag: of a generation block
  kBlock,        // text: body
  kBreak,
  kContinue,
  kImpossible,  // what fails where it is reached: text says why
};

struct Constant {
  uint32_t kind;  // chat::Kind
  int64_t integer;
  double real;
  std::string text;
};

struct Node {
  Tag tag;
  uint32_t line, depth = 1;  // nodes below one another
  chat::Op op = chat::Op::kEnd;
  bool flag = false;  // a loop is recursive, a block is scoped
  uint32_t left = 0, right = 0, third = 0;
  std::string text = {}, attribute = {};
  Constant constant = {};
  std::vector<uint32_t> items = {}, body = {}, other = {};
  std::vector<chat::Op> ops = {};
  std::vector<std::pair<std::string, uint32_t>> named = {};  // arguments; of parameters the default, 0 where there is none
};
inline constexpr uint32_t kMaxTreeDepth = 200;   // nodes below one another
inline constexpr uint32_t kMaxParserDepth = 80;  // brackets, statements and signs in one another

struct Tree {
  std::vector<Node> nodes;  // 0 is none
  std::vector<uint32_t> body;
};
Tree template_tree(std::string_view source);

}  // namespace linnet::convert
