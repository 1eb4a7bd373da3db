// The tree of a Jinja template, by recursive descent with Jinja2's own order of precedence: `~` binds tighter than + and -, a sign tighter
// than ** and filters, filters tighter than every operator of two sides.
#include <algorithm>

#include "../chat/machine.h"
#include "template_tree.h"

namespace linnet::convert {
namespace {

using chat::Op;

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(template_tokens(source)) { tree_.nodes.push_back({Tag::kConst, 0}); }

  Tree all() {
    tree_.body = statements({});
    return std::move(tree_);
  }

 private:
  // ---- tokens
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& take() {
    const Token& t = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return t;
  }
  static bool is(const Token& t, TokenType type, std::string_view text) { return t.type == type && t.text == text; }
  bool sign(std::string_view s) const { return is(now(), TokenType::kOperator, s); }
  bool word(std::string_view s) const { return is(now(), TokenType::kName, s); }
  bool skip_sign(std::string_view s) { return sign(s) && (take(), true); }
  bool skip_word(std::string_view s) { return word(s) && (take(), true); }
  static std::string show(const Token& t) {
    switch (t.type) {
      case TokenType::kData:
        return "text";
      case TokenType::kBlockBegin:
        return "{%";
      case TokenType::kBlockEnd:
        return "%}";
      case TokenType::kVariableBegin:
        return "{{";
      case TokenType::kVariableEnd:
        return "}}";
      case TokenType::kEnd:
        return "the end of the template";
      default:
        return "'" + t.text + "'";
    }
  }
  [[noreturn]] void fail(const std::string& what) const { throw TemplateError{now().line, what}; }
  void expect_sign(std::string_view s) {
    if (!skip_sign(s)) fail("'" + std::string(s) + "' expected, got " + show(now()));
  }
  void expect_word(std::string_view s) {
    if (!skip_word(s)) fail("'" + std::string(s) + "' expected, got " + show(now()));
  }
  void expect(TokenType type, const char* what) {
    if (now().type != type) fail(std::string(what) + " expected, got " + show(now()));
    take();
  }
  std::string name() {
    if (now().type != TokenType::kName) fail("a name expected, got " + show(now()));
    return take().text;
  }

  // ---- nodes
  // How deep the code may call itself, and how deep what it makes may be.
  struct Deeper {
    explicit Deeper(Parser* p) : parser(p) {
      if (++parser->depth_ > kMaxParserDepth) parser->fail("it nests deeper than " + std::to_string(kMaxParserDepth));
    }
    ~Deeper() { --parser->depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser* parser;
  };
  uint32_t add(Node node) {
    uint32_t depth = 0;
    const auto below = [&](uint32_t i) { depth = std::max(depth, i ? tree_.nodes[i].depth : 0); };
    below(node.left), below(node.right), below(node.third);
    for (const auto* list : {&node.items, &node.body, &node.other})
      for (const uint32_t i : *list) below(i);
    for (const auto& [key, value] : node.named) below(value);
    node.depth = depth + 1;
    if (node.depth > kMaxTreeDepth) fail("it nests deeper than " + std::to_string(kMaxTreeDepth));
    if (tree_.nodes.size() >= chat::kMaxCode) fail("it is too long");
    tree_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }
  Node& node(uint32_t i) { return tree_.nodes[i]; }
  uint32_t constant(uint32_t line, chat::Kind kind, int64_t integer = 0, double real = 0, std::string text = {}) {
    Node n{Tag::kConst, line};
    n.constant = {static_cast<uint32_t>(kind), integer, real, std::move(text)};
    return add(std::move(n));
  }

  // ---- statements

  using Ends = std::initializer_list<std::string_view>;
  bool ends(Ends words) const { return now().type == TokenType::kName && std::find(words.begin(), words.end(), now().text) != words.end(); }
  // What stands up to a tag that begins with one of these words, whose name is the next token then.
  std::vector<uint32_t> statements(Ends words) {
    const Deeper deeper(this);
    std::vector<uint32_t> out;
    for (;;) {
      const Token& t = now();
      if (t.type == TokenType::kEnd) {
        if (words.size()) fail("'" + std::string(*std::prev(words.end())) + "' is missing");
        return out;
      }
      if (t.type == TokenType::kData) {
        Node n{Tag::kData, t.line};
        n.text = take().text;
        out.push_back(add(std::move(n)));
      } else if (t.type == TokenType::kVariableBegin) {
        Node n{Tag::kPrint, t.line};
        take();
        n.items.push_back(tuple(true, {}));
        expect(TokenType::kVariableEnd, "'}}'");
        out.push_back(add(std::move(n)));
      } else {
        expect(TokenType::kBlockBegin, "'{%'");
        if (ends(words)) return out;
        out.push_back(statement());
        expect(TokenType::kBlockEnd, "'%}'");
      }
    }
  }
  // The body of a statement: its tag ends, and what follows goes up to one of the words.
  std::vector<uint32_t> body(Ends words) {
    skip_sign(":");
    expect(TokenType::kBlockEnd, "'%}'");
    return statements(words);
  }
  std::vector<uint32_t> whole_body(std::string_view end) {
    std::vector<uint32_t> out = body({end});
    take();
    return out;
  }

  uint32_t statement() {
    const Deeper deeper(this);
    if (now().type != TokenType::kName) fail("the name of a statement expected, got " + show(now()));
    Node n{Tag::kScope, now().line};
    const std::string what = take().text;
    if (what == "for") return for_loop(n);
    if (what == "if") return condition(n);
    if (what == "set") return set(n);
    if (what == "macro") {
      n.tag = Tag::kMacro;
      n.text = target_name();
      signature(&n);
      n.body = whole_body("endmacro");
    } else if (what == "call") {
      n.tag = Tag::kCallBlock;
      if (sign("(")) signature(&n);
      n.left = expression();
      if (node(n.left).tag != Tag::kCall) fail("a call expected behind 'call'");
      n.body = whole_body("endcall");
    } else if (what == "filter") {
      n.tag = Tag::kFilterBlock;
      n.left = filters(0, true);
      n.body = whole_body("endfilter");
    } else if (what == "with") {
      n.tag = Tag::kWith;
      while (now().type != TokenType::kBlockEnd) {
        if (!n.items.empty()) expect_sign(",");
        n.items.push_back(target({}, false));
        expect_sign("=");
        n.items.push_back(expression());
      }
      n.body = whole_body("endwith");
    } else if (what == "generation") {  // of transformers: what the model has written, for training
      n.flag = true;
      n.body = whole_body("endgeneration");
    } else if (what == "autoescape") {
      Node inner{Tag::kAutoescape, n.line};
      inner.left = expression();
      inner.body = whole_body("endautoescape");
      n.body.push_back(add(std::move(inner)));
    } else if (what == "block") {
      return block(n);
    } else if (what == "print") {
      n.tag = Tag::kPrint;
      while (now().type != TokenType::kBlockEnd) {
        if (!n.items.empty()) expect_sign(",");
        n.items.push_back(expression());
      }
    } else if (what == "break" || what == "continue") {
      n.tag = what == "break" ? Tag::kBreak : Tag::kContinue;
    } else if (what == "extends" || what == "include" || what == "import" || what == "from") {
      n.tag = Tag::kImpossible;
      n.text = "'" + what + "' needs other templates, and a chat template has none";
      while (now().type != TokenType::kBlockEnd && now().type != TokenType::kEnd) take();
    } else {
      throw TemplateError{n.line, "'" + what + "' is no statement that stands here"};
    }
    return add(std::move(n));
  }
  uint32_t for_loop(Node& n) {
    n.tag = Tag::kFor;
    n.left = target({"in"}, false);
    expect_word("in");
    n.right = tuple(false, {"recursive"});
    if (skip_word("if")) n.third = expression();
    n.flag = skip_word("recursive");
    n.body = body({"else", "endfor"});
    if (take().text == "else") n.other = whole_body("endfor");
    return add(std::move(n));
  }
  uint32_t condition(Node& n) {
    n.tag = Tag::kIf;
    n.left = tuple(false, {});
    n.body = body({"elif", "else", "endif"});
    while (word("elif")) {
      Node branch{Tag::kIf, now().line};
      take();
      branch.left = tuple(false, {});
      branch.body = body({"elif", "else", "endif"});
      n.items.push_back(add(std::move(branch)));
    }
    if (take().text == "else") n.other = whole_body("endif");
    return add(std::move(n));
  }
  uint32_t set(Node& n) {
    n.left = target({}, true);
    if (skip_sign("=")) {
      n.tag = Tag::kSet;
      n.right = tuple(true, {});
    } else {
      n.tag = Tag::kSetBlock;
      n.right = filters(0, false);
      n.body = whole_body("endset");
    }
    return add(std::move(n));
  }
  uint32_t block(Node& n) {
    n.tag = Tag::kBlock;
    n.text = name();
    n.flag = skip_word("scoped");
    const bool required = skip_word("required");
    if (sign("-")) fail("the name of a block has no hyphen");
    n.body = body({"endblock"});
    take();
    if (required) {
      for (const uint32_t i : n.body)
        if (node(i).tag != Tag::kData || node(i).text.find_first_not_of(" \t\n") != std::string::npos)
          fail("a required block holds nothing");
      n.tag = Tag::kImpossible;
      n.text = "the required block '" + n.text + "' is missing";
      n.body.clear();
    }
    skip_word(n.text);
    return add(std::move(n));
  }
  void signature(Node* n) {
    expect_sign("(");
    bool defaults = false;
    while (!sign(")")) {
      if (!n->named.empty()) expect_sign(",");
      std::string parameter = target_name();
      uint32_t value = 0;
      if (skip_sign("=")) {
        value = expression();
        defaults = true;
      } else if (defaults) {
        fail("a parameter without a default behind one that has it");
      }
      n->named.emplace_back(std::move(parameter), value);
    }
    expect_sign(")");
  }

  // ---- what is assigned to

  std::string target_name() {
    std::string n = name();
    static constexpr std::string_view kTaken[] = {"true", "false", "none", "True", "False", "None"};
    for (const std::string_view taken : kTaken)
      if (n == taken) fail("'" + n + "' cannot be assigned to");
    return n;
  }
  uint32_t target(Ends ends_at, bool namespaces) {
    const uint32_t line = now().line;
    std::vector<uint32_t> items;
    bool is_tuple = false;
    for (;;) {
      if (is_tuple && tuple_ends(ends_at)) break;
      items.push_back(primary_target(namespaces));
      if (!skip_sign(",")) break;
      is_tuple = true;
    }
    if (!is_tuple) return items[0];
    Node n{Tag::kTuple, line};
    n.items = std::move(items);
    return add(std::move(n));
  }
  uint32_t primary_target(bool namespaces) {
    const Deeper deeper(this);
    Node n{Tag::kName, now().line};
    if (skip_sign("(")) {
      const uint32_t inner = sign(")") ? 0 : target({}, namespaces);
      expect_sign(")");
      if (inner) return inner;
      n.tag = Tag::kTuple;
      return add(std::move(n));
    }
    if (skip_sign("[")) fail("a list cannot be assigned to");
    n.text = target_name();
    if (namespaces && skip_sign(".")) {
      n.tag = Tag::kNamespace;
      n.attribute = name();
    }
    return add(std::move(n));
  }

  // ---- expressions

  bool tuple_ends(Ends words) const {
    return now().type == TokenType::kVariableEnd || now().type == TokenType::kBlockEnd || sign(")") || ends(words);
  }
  uint32_t tuple(bool conditions, Ends words, bool in_brackets = false) {
    const uint32_t line = now().line;
    std::vector<uint32_t> items;
    bool is_tuple = false;
    for (;;) {
      if (tuple_ends(words)) break;
      items.push_back(conditions ? expression() : disjunction());
      if (!skip_sign(",")) break;
      is_tuple = true;
    }
    if (!is_tuple && !items.empty()) return items[0];
    if (!is_tuple && !in_brackets) fail("an expression expected, got " + show(now()));
    Node n{Tag::kTuple, line};
    n.items = std::move(items);
    return add(std::move(n));
  }

  uint32_t expression() {
    const Deeper deeper(this);
    uint32_t left = disjunction();
    while (word("if")) {
      Node n{Tag::kCondition, take().line};
      n.left = left;
      n.right = disjunction();
      if (skip_word("else")) n.third = expression();
      left = add(std::move(n));
    }
    return left;
  }
  uint32_t pair(Tag tag, uint32_t line, uint32_t left, uint32_t right, Op op = Op::kEnd) {
    Node n{tag, line};
    n.left = left, n.right = right, n.op = op;
    return add(std::move(n));
  }
  uint32_t disjunction() {
    uint32_t left = conjunction();
    while (word("or")) {
      const uint32_t line = take().line;
      left = pair(Tag::kOr, line, left, conjunction());
    }
    return left;
  }
  uint32_t conjunction() {
    uint32_t left = negation();
    while (word("and")) {
      const uint32_t line = take().line;
      left = pair(Tag::kAnd, line, left, negation());
    }
    return left;
  }
  uint32_t negation() {
    const Deeper deeper(this);
    if (!word("not")) return comparison();
    const uint32_t line = take().line;
    return pair(Tag::kUnary, line, negation(), 0, Op::kNot);
  }
  uint32_t comparison() {
    static constexpr std::pair<std::string_view, Op> kSigns[] = {{"==", Op::kEq}, {"!=", Op::kNe}, {"<", Op::kLt},
                                                                 {"<=", Op::kLe}, {">", Op::kGt},  {">=", Op::kGe}};
    Node n{Tag::kCompare, now().line};
    n.left = sum();
    for (;;) {
      Op op = Op::kEnd;
      for (const auto& [text, which] : kSigns)
        if (sign(text)) op = which;
      if (word("in")) op = Op::kIn;
      if (word("not") && is(ahead(), TokenType::kName, "in")) {
        take();
        op = Op::kNotIn;
      }
      if (op == Op::kEnd) break;
      take();
      n.ops.push_back(op);
      n.items.push_back(sum());
    }
    return n.ops.empty() ? n.left : add(std::move(n));
  }
  uint32_t sum() {
    uint32_t left = concatenation();
    while (sign("+") || sign("-")) {
      const Op op = sign("+") ? Op::kAdd : Op::kSubtract;
      const uint32_t line = take().line;
      left = pair(Tag::kBinary, line, left, concatenation(), op);
    }
    return left;
  }
  uint32_t concatenation() {
    Node n{Tag::kConcat, now().line};
    n.items.push_back(product());
    while (skip_sign("~")) n.items.push_back(product());
    return n.items.size() == 1 ? n.items[0] : add(std::move(n));
  }
  uint32_t product() {
    static constexpr std::pair<std::string_view, Op> kSigns[] = {
        {"*", Op::kMultiply}, {"/", Op::kDivide}, {"//", Op::kFloorDivide}, {"%", Op::kModulo}};
    uint32_t left = power();
    for (;;) {
      Op op = Op::kEnd;
      for (const auto& [text, which] : kSigns)
        if (sign(text)) op = which;
      if (op == Op::kEnd) return left;
      const uint32_t line = take().line;
      left = pair(Tag::kBinary, line, left, power(), op);
    }
  }
  uint32_t power() {
    uint32_t left = signed_value(true);
    while (sign("**")) {
      const uint32_t line = take().line;
      left = pair(Tag::kBinary, line, left, signed_value(true), Op::kPower);
    }
    return left;
  }
  uint32_t signed_value(bool with_filters) {
    const Deeper deeper(this);
    const uint32_t line = now().line;
    uint32_t value = 0;
    if (sign("-") || sign("+")) {
      const Op op = sign("-") ? Op::kNegate : Op::kPlus;
      take();
      value = pair(Tag::kUnary, line, signed_value(false), 0, op);
    } else {
      value = primary();
    }
    value = postfix(value);
    return with_filters ? filtered(value) : value;
  }
  uint32_t primary() {
    const uint32_t line = now().line;
    switch (now().type) {
      case TokenType::kName: {
        const std::string text = take().text;
        if (text == "true" || text == "True" || text == "false" || text == "False")
          return constant(line, chat::Kind::kBool, text == "true" || text == "True");
        if (text == "none" || text == "None") return constant(line, chat::Kind::kNone);
        Node n{Tag::kName, line};
        n.text = text;
        return add(std::move(n));
      }
      case TokenType::kString: {
        std::string text = take().text;
        while (now().type == TokenType::kString) text += take().text;
        return constant(line, chat::Kind::kText, 0, 0, std::move(text));
      }
      case TokenType::kInteger:
        return whole_number(line, take().text);
      case TokenType::kFloat: {
        double value = 0;
        if (!chat::read_float(now().text, &value)) fail("a number that is none");
        take();
        return constant(line, chat::Kind::kFloat, 0, value);
      }
      default:
        if (skip_sign("(")) {
          const uint32_t inner = tuple(true, {}, true);
          expect_sign(")");
          return inner;
        }
        if (sign("[")) return list();
        if (sign("{")) return dict();
        fail("an expression expected, got " + show(now()));
    }
  }
  uint32_t whole_number(uint32_t line, const std::string& digits) {
    const char kind = digits.size() > 1 ? digits[1] : ' ';
    const uint32_t base = kind == 'x' || kind == 'X' ? 16 : kind == 'o' || kind == 'O' ? 8 : kind == 'b' || kind == 'B' ? 2 : 10;
    int64_t value = 0;
    switch (chat::read_int(std::string_view(digits).substr(base == 10 ? 0 : 2), base, &value)) {
      case chat::ReadInt::kInt:
        return constant(line, chat::Kind::kInt, value);
      case chat::ReadInt::kBig:
        if (base == 10) return constant(line, chat::Kind::kBig, 0, 0, digits);
        [[fallthrough]];
      default:
        fail("the number " + digits + " is too large");
    }
  }
  uint32_t list() {
    Node n{Tag::kList, take().line};
    while (!sign("]")) {
      if (!n.items.empty()) expect_sign(",");
      if (sign("]")) break;
      n.items.push_back(expression());
    }
    expect_sign("]");
    return add(std::move(n));
  }
  uint32_t dict() {
    Node n{Tag::kDict, take().line};
    while (!sign("}")) {
      if (!n.items.empty()) expect_sign(",");
      if (sign("}")) break;
      n.items.push_back(expression());
      expect_sign(":");
      n.items.push_back(expression());
    }
    expect_sign("}");
    return add(std::move(n));
  }

  uint32_t postfix(uint32_t value) {
    for (;;) {
      if (sign(".") || sign("["))
        value = subscript(value);
      else if (sign("("))
        value = call(value);
      else
        return value;
    }
  }
  uint32_t filtered(uint32_t value) {
    for (;;) {
      if (sign("|"))
        value = filters(value, false);
      else if (word("is"))
        value = test(value);
      else if (sign("("))
        value = call(value);
      else
        return value;
    }
  }
  uint32_t subscript(uint32_t value) {
    const uint32_t line = now().line;
    if (skip_sign(".")) {
      if (now().type == TokenType::kInteger) return pair(Tag::kItem, line, value, whole_number(line, take().text));
      Node n{Tag::kAttribute, line};
      n.text = name();
      n.left = value;
      return add(std::move(n));
    }
    take();
    std::vector<uint32_t> keys;
    while (!sign("]")) {
      if (!keys.empty()) expect_sign(",");
      keys.push_back(key());
    }
    expect_sign("]");
    if (keys.size() == 1 && node(keys[0]).tag == Tag::kSlice) {
      node(keys[0]).left = value;
      node(keys[0]).depth = std::max(node(keys[0]).depth, node(value).depth + 1);
      if (node(keys[0]).depth > kMaxTreeDepth) fail("it nests deeper than " + std::to_string(kMaxTreeDepth));
      return keys[0];
    }
    for (const uint32_t k : keys)
      if (node(k).tag == Tag::kSlice) fail("a slice among other keys");
    if (keys.size() == 1) return pair(Tag::kItem, line, value, keys[0]);
    Node n{Tag::kTuple, line};
    n.items = std::move(keys);
    return pair(Tag::kItem, line, value, add(std::move(n)));
  }
  uint32_t key() {
    const uint32_t line = now().line;
    const auto ended = [this] { return sign(":") || sign("]") || sign(","); };
    const uint32_t start = sign(":") ? 0 : expression();
    if (!skip_sign(":")) return start;
    Node n{Tag::kSlice, line};
    n.items = {start, ended() ? 0 : expression(), 0};
    if (skip_sign(":") && !ended()) n.items[2] = expression();
    return add(std::move(n));
  }

  // `(a, b, c=d, *e, **f)`.
  void arguments(Node* n) {
    expect_sign("(");
    bool first = true;
    while (!sign(")")) {
      if (!first) {
        expect_sign(",");
        if (sign(")")) break;
      }
      first = false;
      if (sign("*")) {
        if (n->right || n->third) fail("a '*' that does not stand here");
        take();
        n->right = expression();
      } else if (sign("**")) {
        if (n->third) fail("a '**' that does not stand here");
        take();
        n->third = expression();
      } else if (now().type == TokenType::kName && is(ahead(), TokenType::kOperator, "=")) {
        if (n->third) fail("an argument behind '**'");
        std::string argument = take().text;
        take();
        const uint32_t value = expression();
        n->named.emplace_back(std::move(argument), value);
      } else {
        if (n->right || n->third || !n->named.empty()) fail("an argument by place behind one by name");
        n->items.push_back(expression());
      }
      if (n->items.size() + n->named.size() > chat::kMaxArguments) fail("more than " + std::to_string(chat::kMaxArguments) + " arguments");
    }
    expect_sign(")");
  }
  uint32_t call(uint32_t value) {
    Node n{Tag::kCall, now().line};
    n.left = value;
    arguments(&n);
    return add(std::move(n));
  }
  std::string dotted_name() {
    std::string out = name();
    while (skip_sign(".")) out += "." + name();
    return out;
  }
  // `| a | b(c)` behind a value, or 0 where a block is filtered; `inline_first`: the first one has no sign before it.
  uint32_t filters(uint32_t value, bool inline_first) {
    while (inline_first || sign("|")) {
      if (!inline_first) take();
      inline_first = false;
      Node n{Tag::kFilter, now().line};
      n.text = dotted_name();
      n.left = value;
      if (sign("(")) arguments(&n);
      value = add(std::move(n));
    }
    return value;
  }
  uint32_t test(uint32_t value) {
    Node n{Tag::kTest, take().line};
    const bool negated = skip_word("not");
    n.text = dotted_name();
    n.left = value;
    if (sign("(")) {
      arguments(&n);
    } else if (now().type == TokenType::kName || now().type == TokenType::kString || now().type == TokenType::kInteger ||
               now().type == TokenType::kFloat || sign("[") || sign("{")) {
      if (!word("else") && !word("or") && !word("and")) {
        if (word("is")) fail("tests cannot be chained with 'is'");
        n.items.push_back(postfix(primary()));
      }
    }
    const uint32_t line = n.line;
    const uint32_t out = add(std::move(n));
    return negated ? pair(Tag::kUnary, line, out, 0, Op::kNot) : out;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  Tree tree_ = {};
};

}  // namespace

Tree template_tree(std::string_view source) { return Parser(source).all(); }

}  // namespace linnet::convert
