//===- SymExprParser.cpp - Reads text of symbolic expressions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recursive descent over Python's grammar of integer expressions:
//
//   or    := and (("or" | "|") and)*
//   and   := not (("and" | "&") not)*
//   not   := ("not" | "~") not | cmp
//   cmp   := sum (op sum)?
//   sum   := product (("+" | "-") product)*
//   product := unary (("*" | "//" | "%") unary)*
//   unary := ("-" | "+") unary | power
//   power := atom ("**" unary)?
//   atom  := number | name | name "(" or ("," or)* ")" | "(" or ")"
//
// The recursion is limited to kMaxNesting, whichever rule nests.

#include "compiler/shape/SymExpr.h"
#include "compiler/shape/SymName.h"
#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace ft {

namespace {

constexpr unsigned kMaxNesting = 256;
/// Longer text cannot be an expression of kMaxSize nodes that anyone wrote.
constexpr size_t kMaxText = 1 << 16;

bool isNameChar(char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; }

class Parser {
public:
  Parser(SymContext &context, llvm::StringRef source)
      : ctx(context), text(source), rest(source) {}

  llvm::Expected<SymExpr> run() {
    if (text.size() > kMaxText)
      return failure("the expression is longer than " + llvm::Twine(kMaxText) +
                     " bytes");
    SymExpr e = parseOr();
    skip();
    if (message.empty() && !rest.empty())
      fail("unexpected text");
    if (!message.empty())
      return failure(message + " at column " +
                     llvm::Twine(text.size() - rest.size() + 1));
    if (!e)
      return failure("it is too large or mixes numbers and conditions");
    return e;
  }

private:
  llvm::Error failure(const llvm::Twine &why) {
    return makeError(DiagId::BadExpression, "",
                     "the expression '" + text.take_front(80) +
                         (text.size() > 80 ? "…" : "") +
                         "' cannot be read: " + why);
  }

  /// Remembers the first thing that went wrong.
  SymExpr fail(const llvm::Twine &why) {
    if (message.empty())
      message = why.str();
    return {};
  }
  bool failed() const { return !message.empty(); }

  void skip() { rest = rest.ltrim(" \t\n"); }
  bool eat(llvm::StringRef token) {
    skip();
    return rest.consume_front(token);
  }
  bool eatWord(llvm::StringRef word) {
    skip();
    if (!rest.starts_with(word) ||
        (rest.size() > word.size() && isNameChar(rest[word.size()])))
      return false;
    rest = rest.drop_front(word.size());
    return true;
  }

  SymExpr parseOr() {
    llvm::SmallVector<SymExpr, 2> args{parseAnd()};
    while (!failed() && (eatWord("or") || eat("|")))
      args.push_back(parseAnd());
    return args.size() == 1 ? args[0] : ctx.logicalOr(args);
  }

  SymExpr parseAnd() {
    llvm::SmallVector<SymExpr, 2> args{parseNot()};
    while (!failed() && (eatWord("and") || eat("&")))
      args.push_back(parseNot());
    return args.size() == 1 ? args[0] : ctx.logicalAnd(args);
  }

  SymExpr parseNot() {
    bool negate = false;
    while (eatWord("not") || eat("~"))
      negate = !negate;
    SymExpr e = parseComparison();
    return negate ? ctx.logicalNot(e) : e;
  }

  SymExpr parseComparison() {
    SymExpr left = parseSum();
    if (failed())
      return {};
    if (eat("=="))
      return ctx.eq(left, parseSum());
    if (eat("!="))
      return ctx.ne(left, parseSum());
    if (eat("<="))
      return ctx.le(left, parseSum());
    if (eat(">="))
      return ctx.ge(left, parseSum());
    if (eat("<"))
      return ctx.lt(left, parseSum());
    if (eat(">"))
      return ctx.gt(left, parseSum());
    return left;
  }

  SymExpr parseSum() {
    llvm::SmallVector<SymTerm, 4> terms{{1, parseProduct()}};
    while (!failed()) {
      if (eat("+"))
        terms.push_back({1, parseProduct()});
      else if (eat("-"))
        terms.push_back(isMinimum({"//", "%"})
                            ? SymTerm{1, parseProductAfter(takeMinimum())}
                            : SymTerm{-1, parseProduct()});
      else
        break;
    }
    return terms.size() == 1 ? terms[0].expr : ctx.sum(0, terms);
  }

  /// Whether 2^63 follows, which has no value of its own: only its negative
  /// fits 64 bits. Not where an operator among `others` or a power follows,
  /// which would take it without its sign.
  bool isMinimum(llvm::ArrayRef<llvm::StringRef> others = {}) {
    skip();
    llvm::StringRef after = rest;
    if (!after.consume_front(kMinimum))
      return false;
    if (!after.empty() && llvm::isDigit(after.front()))
      return false;
    after = after.ltrim();
    return !after.starts_with("**") &&
           llvm::none_of(others, [&](llvm::StringRef op) {
             return after.starts_with(op);
           });
  }
  SymExpr takeMinimum() {
    rest = rest.drop_front(kMinimum.size());
    return ctx.constant(INT64_MIN);
  }

  SymExpr parseProduct() { return parseProductAfter(parseUnary()); }

  SymExpr parseProductAfter(SymExpr left) {
    while (!failed()) {
      skip();
      if (rest.starts_with("**"))
        break;
      if (eat("*"))
        left = ctx.mul(left, parseUnary());
      else if (eat("//"))
        left = ctx.floorDiv(left, parseUnary());
      else if (eat("%"))
        left = ctx.mod(left, parseUnary());
      else
        break;
    }
    return left;
  }

  SymExpr parseUnary() {
    bool negate = false;
    for (;;) {
      if (eat("-"))
        negate = !negate;
      else if (!eat("+"))
        break;
    }
    if (negate && isMinimum())
      return takeMinimum();
    SymExpr e = parsePower();
    return negate ? ctx.scale(e, -1) : e;
  }

  SymExpr parsePower() {
    SymExpr base = parseAtom();
    if (failed() || !eat("**"))
      return base;
    if (++nesting > kMaxNesting)
      return fail("it is nested deeper than " + llvm::Twine(kMaxNesting));
    SymExpr exponent = parseUnary();
    --nesting;
    return ctx.pow(base, exponent);
  }

  SymExpr parseAtom() {
    if (failed())
      return {};
    skip();
    if (rest.empty())
      return fail("it ends too early");
    if (llvm::isDigit(rest.front())) {
      int64_t value;
      if (rest.consumeInteger(10, value))
        return fail("a number does not fit 64 bits");
      return ctx.constant(value);
    }
    if (++nesting > kMaxNesting)
      return fail("it is nested deeper than " + llvm::Twine(kMaxNesting));
    SymExpr e = parseNested();
    --nesting;
    return e;
  }

  SymExpr parseNested() {
    if (eat("(")) {
      SymExpr e = parseOr();
      if (!failed() && !eat(")"))
        return fail("')' is missing");
      return e;
    }
    llvm::StringRef name = rest.take_while(isNameChar);
    if (name.empty())
      return fail("unexpected character");
    rest = rest.drop_front(name.size());
    if (!eat("(")) {
      if (name == "True" || name == "False")
        return ctx.boolean(name == "True");
      return isSymbolName(name) ? ctx.symbol(name)
                                : fail("'" + name + "' is no name of a size");
    }
    llvm::SmallVector<SymExpr, 4> args;
    do {
      args.push_back(parseOr());
      if (failed())
        return {};
    } while (eat(","));
    if (!eat(")"))
      return fail("')' is missing");
    return call(name, args);
  }

  SymExpr call(llvm::StringRef name, llvm::ArrayRef<SymExpr> args) {
    if (name == "Min")
      return ctx.min(args);
    if (name == "Max")
      return ctx.max(args);
    if (name == "And")
      return ctx.logicalAnd(args);
    if (name == "Or")
      return ctx.logicalOr(args);
    if (name == "Not" && args.size() == 1)
      return ctx.logicalNot(args[0]);
    using Binary = SymExpr (*)(SymContext &, SymExpr, SymExpr);
    auto function =
        llvm::StringSwitch<Binary>(name)
            .Case("FloorDiv",
                  [](auto &c, auto a, auto b) { return c.floorDiv(a, b); })
            .Case("CeilDiv",
                  [](auto &c, auto a, auto b) { return c.ceilDiv(a, b); })
            .Cases({"Mod", "PythonMod"},
                   [](auto &c, auto a, auto b) { return c.mod(a, b); })
            .Case("Pow", [](auto &c, auto a, auto b) { return c.pow(a, b); })
            .Case("Eq", [](auto &c, auto a, auto b) { return c.eq(a, b); })
            .Case("Ne", [](auto &c, auto a, auto b) { return c.ne(a, b); })
            .Case("Lt", [](auto &c, auto a, auto b) { return c.lt(a, b); })
            .Case("Le", [](auto &c, auto a, auto b) { return c.le(a, b); })
            .Case("Gt", [](auto &c, auto a, auto b) { return c.gt(a, b); })
            .Case("Ge", [](auto &c, auto a, auto b) { return c.ge(a, b); })
            .Default(nullptr);
    if (!function)
      return fail("'" + name.take_front(40) + "' is no function of it");
    if (args.size() != 2)
      return fail("'" + name + "' takes two arguments");
    return function(ctx, args[0], args[1]);
  }

  static constexpr llvm::StringLiteral kMinimum = "9223372036854775808";

  SymContext &ctx;
  llvm::StringRef text;
  llvm::StringRef rest;
  std::string message;
  unsigned nesting = 0;
};

} // namespace

bool isSymbolName(llvm::StringRef name) {
  static constexpr llvm::StringLiteral kWords[] = {"and", "or", "not", "True",
                                                   "False"};
  return !name.empty() &&
         (llvm::isAlpha(name.front()) || name.front() == '_') &&
         llvm::all_of(name, isNameChar) && !llvm::is_contained(kWords, name);
}

llvm::Expected<SymExpr> SymContext::parse(llvm::StringRef text) {
  return Parser(*this, text).run();
}

} // namespace ft
