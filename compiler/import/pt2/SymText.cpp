//===- SymText.cpp - Reads sympy's text of expressions ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/SymText.h"

#include "compiler/shape/SymName.h"
#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

namespace ft::pt2 {

namespace {

constexpr unsigned kMaxNesting = 256;
constexpr size_t kMaxText = 1 << 16;

/// An integer or a predicate; or a quotient of integers, which is real until
/// a rounding around it makes it an integer again.
struct Operand {
  SymExpr value;
  SymExpr divisor; // null unless a quotient
};

class Parser {
public:
  Parser(SymContext &context, llvm::StringRef text)
      : ctx(context), rest(text) {}

  bool run(SymExpr &result) {
    Operand operand;
    if (!parse(operand))
      return false;
    rest = rest.ltrim();
    if (!rest.empty())
      return fail("unexpected text after the expression");
    if (operand.divisor)
      return fail("it is no integer");
    result = operand.value;
    return true;
  }

  std::string message;

private:
  bool fail(const llvm::Twine &why) {
    if (message.empty())
      message = why.str();
    return false;
  }

  bool eat(char c) {
    rest = rest.ltrim();
    if (rest.empty() || rest.front() != c)
      return false;
    rest = rest.drop_front();
    return true;
  }

  llvm::StringRef name() {
    rest = rest.ltrim();
    llvm::StringRef word = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(word.size());
    return word;
  }

  bool integer(int64_t &value) {
    rest = rest.ltrim();
    return !rest.consumeInteger(10, value) ||
           fail("expected an integer of 64 bits");
  }

  bool parse(Operand &out) {
    if (++nesting > kMaxNesting)
      return fail("it is nested deeper than " + llvm::Twine(kMaxNesting));
    bool ok = parseNested(out);
    --nesting;
    return ok;
  }

  bool parseNested(Operand &out) {
    rest = rest.ltrim();
    if (rest.empty())
      return fail("it ends too early");
    if (llvm::isDigit(rest.front()) || rest.front() == '-') {
      int64_t value;
      if (!integer(value))
        return false;
      out.value = ctx.constant(value);
      return true;
    }
    llvm::StringRef word = name();
    if (word.empty())
      return fail("unexpected character");
    if (!eat('(')) {
      if (word == "true" || word == "false" || word == "True" ||
          word == "False")
        out.value = ctx.boolean(word.lower() == "true");
      else if (word == "int_oo" || word == "oo" || word == "nan")
        return fail("'" + word + "' is no integer");
      else if (!isSymbolName(word))
        return fail("'" + word + "' is no name of a symbol");
      else
        out.value = ctx.symbol(word);
      return true;
    }
    if (word == "Symbol" || word == "Dummy")
      return symbol(out);
    if (word == "Integer") {
      int64_t value;
      if (!integer(value) || !(eat(')') || fail("')' is missing")))
        return false;
      out.value = ctx.constant(value);
      return true;
    }
    if (word == "Float")
      return dyadic(out);
    llvm::SmallVector<Operand, 4> args;
    if (!eat(')')) {
      do {
        if (!parse(args.emplace_back()))
          return false;
      } while (eat(','));
      if (!eat(')'))
        return fail("')' is missing");
    }
    return call(word, args, out);
  }

  /// '0.5', precision=53): a fraction of a power of two, whose products with
  /// sizes are exact in double. Those of others are rounded before they are
  /// cut.
  bool dyadic(Operand &out) {
    constexpr int kMostBits = 20;
    rest = rest.ltrim();
    if (rest.empty() || rest.front() != '\'')
      return fail("the number has no digits");
    auto [digits, more] = rest.drop_front().split('\'');
    rest = more.ltrim();
    double number;
    if (digits.getAsDouble(number))
      return fail("'" + digits.take_front(40) + "' is no number");
    double whole = std::ldexp(number, kMostBits);
    if (std::abs(number) >= 4096 || whole != std::floor(whole))
      return fail("products with " + digits + " are rounded");
    if (eat(','))
      rest = rest.drop_while([](char c) { return c != ')'; });
    if (!eat(')'))
      return fail("')' is missing");
    out.value = ctx.constant(static_cast<int64_t>(whole));
    out.divisor = ctx.constant(int64_t(1) << kMostBits);
    return true;
  }

  /// 's77', positive=True, integer=True)
  bool symbol(Operand &out) {
    rest = rest.ltrim();
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return fail("the symbol has no name");
    size_t end = rest.find(rest.front(), 1);
    if (end == llvm::StringRef::npos)
      return fail("the symbol's name does not end");
    llvm::StringRef symbolName = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    // It must read back from own text, too.
    if (!isSymbolName(symbolName))
      return fail("'" + symbolName.take_front(40) + "' is no name of a symbol");
    bool nonNegative = false, real = false, isInteger = false;
    while (eat(',')) {
      llvm::StringRef key = name();
      if (key.empty() || !eat('='))
        return fail("an assumption of the symbol is not understood");
      bool holds = name() == "True";
      nonNegative |= holds && (key == "positive" || key == "nonnegative");
      real |= holds && key == "real";
      isInteger |= holds && key == "integer";
    }
    if (!eat(')'))
      return fail("')' is missing");
    if (real && !isInteger)
      return fail("the symbol '" + symbolName + "' is no integer");
    // PyTorch's names of numbers that data decide; other symbols have another
    // first letter.
    llvm::StringRef digits = symbolName;
    bool byData = digits.consume_front("u") && !digits.empty() &&
                  llvm::all_of(digits, llvm::isDigit);
    out.value =
        byData ? ctx.unbackedSymbol(symbolName) : ctx.symbol(symbolName);
    if (nonNegative)
      known.insert({symbolName, true});
    return true;
  }

  /// True if the expression is certainly not negative.
  bool isNonNegative(SymExpr e) const {
    auto term = [&](const SymTerm &t) { return isNonNegative(t.expr); };
    switch (e.kind()) {
    case SymKind::Const:
      return e.constant() >= 0;
    case SymKind::Symbol:
      return known.contains(e.name());
    case SymKind::Add:
      return e.constant() >= 0 && llvm::all_of(e.terms(), [&](auto &t) {
               return t.k >= 0 && isNonNegative(t.expr);
             });
    case SymKind::Mul:
    case SymKind::Min:
    case SymKind::FloorDiv:
      return llvm::all_of(e.terms(), term);
    case SymKind::Max:
      return llvm::any_of(e.terms(), term);
    case SymKind::Mod:
      return isNonNegative(e.terms()[1].expr);
    default:
      return false;
    }
  }

  SymExpr truncated(SymExpr a, SymExpr b) {
    if (isNonNegative(a) && isNonNegative(b))
      return ctx.floorDiv(a, b);
    SymExpr zero = ctx.constant(0);
    return ctx.add(ctx.max(zero, ctx.floorDiv(a, b)),
                   ctx.min(zero, ctx.ceilDiv(a, b)));
  }

  /// Functions that round a quotient; of an integer they give the integer.
  bool rounding(llvm::StringRef word, const Operand &arg, Operand &out) {
    if (!arg.divisor)
      out.value = arg.value;
    else if (word == "TruncToInt")
      out.value = truncated(arg.value, arg.divisor);
    else if (word == "CeilToInt" || word == "ceiling")
      out.value = ctx.ceilDiv(arg.value, arg.divisor);
    else
      out.value = ctx.floorDiv(arg.value, arg.divisor);
    return true;
  }

  bool call(llvm::StringRef word, llvm::ArrayRef<Operand> operands,
            Operand &out) {
    size_t count = operands.size();
    if (count == 1 &&
        (word == "TruncToInt" || word == "FloorToInt" || word == "floor" ||
         word == "CeilToInt" || word == "ceiling"))
      return rounding(word, operands[0], out);
    if (count == 1 && word == "ToFloat") {
      out = operands[0];
      return true;
    }
    if (word == "Mul" && llvm::any_of(operands, [](const Operand &operand) {
          return bool(operand.divisor);
        })) {
      out.value = out.divisor = ctx.constant(1);
      for (const Operand &operand : operands) {
        out.value = ctx.mul(out.value, operand.value);
        if (operand.divisor)
          out.divisor = ctx.mul(out.divisor, operand.divisor);
      }
      return (out.value && out.divisor) || fail("its numbers are too large");
    }
    llvm::SmallVector<SymExpr, 4> args;
    for (const Operand &operand : operands) {
      if (operand.divisor)
        return fail("'" + word + "' of a real number is not supported");
      args.push_back(operand.value);
    }
    if (word == "Add") {
      llvm::SmallVector<SymTerm, 4> terms;
      for (SymExpr arg : args)
        terms.push_back({1, arg});
      out.value = ctx.sum(0, terms);
      return true;
    }
    if (word == "Mul") {
      out.value = ctx.constant(1);
      for (SymExpr arg : args)
        out.value = ctx.mul(out.value, arg);
      return true;
    }
    using Nary = SymExpr (SymContext::*)(llvm::ArrayRef<SymExpr>);
    static constexpr std::pair<llvm::StringLiteral, Nary> kNary[] = {
        {"Max", &SymContext::max},
        {"Min", &SymContext::min},
        {"And", &SymContext::logicalAnd},
        {"Or", &SymContext::logicalOr},
    };
    for (auto [key, function] : kNary) {
      if (word != key)
        continue;
      if (args.empty())
        return fail("'" + word + "' needs an argument");
      out.value = (ctx.*function)(args);
      return true;
    }
    if (count == 1 &&
        (word == "Not" || word == "Identity" || word == "ToInt")) {
      out.value = word == "Not" ? ctx.logicalNot(args[0]) : args[0];
      return true;
    }
    if (count == 3 && word == "ModularIndexing") {
      out.value = ctx.mod(ctx.floorDiv(args[0], args[1]), args[2]);
      return true;
    }
    if (count == 2 && (word == "IntTrueDiv" || word == "TrueDiv")) {
      out = {args[0], args[1]};
      if (!args[1]) // keep "quotient" apart from "integer"
        return fail("a divisor is too large");
      return true;
    }
    if (count == 2 && (word == "LShift" || word == "RShift")) {
      SymExpr power = ctx.pow(ctx.constant(2), args[1]);
      out.value = word == "LShift" ? ctx.mul(args[0], power)
                                   : ctx.floorDiv(args[0], power);
      return true;
    }
    using Binary = SymExpr (SymContext::*)(SymExpr, SymExpr);
    static constexpr std::pair<llvm::StringLiteral, Binary> kBinary[] = {
        {"FloorDiv", &SymContext::floorDiv},
        {"CleanDiv", &SymContext::floorDiv},
        {"CeilDiv", &SymContext::ceilDiv},
        {"Mod", &SymContext::mod},
        {"PythonMod", &SymContext::mod},
        {"Pow", &SymContext::pow},
        {"PowByNatural", &SymContext::pow},
        {"Equality", &SymContext::eq},
        {"Eq", &SymContext::eq},
        {"Unequality", &SymContext::ne},
        {"Ne", &SymContext::ne},
        {"StrictLessThan", &SymContext::lt},
        {"Lt", &SymContext::lt},
        {"LessThan", &SymContext::le},
        {"Le", &SymContext::le},
        {"StrictGreaterThan", &SymContext::gt},
        {"Gt", &SymContext::gt},
        {"GreaterThan", &SymContext::ge},
        {"Ge", &SymContext::ge},
    };
    for (auto [key, function] : kBinary) {
      if (word != key)
        continue;
      if (count != 2)
        return fail("'" + word + "' takes two arguments");
      out.value = (ctx.*function)(args[0], args[1]);
      return true;
    }
    return fail("the function '" + word.take_front(40) + "' of " +
                llvm::Twine(count) + " arguments is not known");
  }

  SymContext &ctx;
  llvm::StringRef rest;
  llvm::StringMap<bool> known; // symbols that are not negative
  unsigned nesting = 0;
};

} // namespace

llvm::Expected<SymExpr> parseSymText(SymContext &context,
                                     llvm::StringRef text) {
  auto failure = [&](const llvm::Twine &why) {
    return makeError(DiagId::BadExpression, "",
                     "the expression '" + text.take_front(120) +
                         (text.size() > 120 ? "…" : "") +
                         "' cannot be read: " + why);
  };
  if (text.size() > kMaxText)
    return failure("it is longer than " + llvm::Twine(kMaxText) + " bytes");
  Parser parser(context, text);
  SymExpr result;
  if (parser.run(result)) {
    if (result)
      return result;
    return failure("it is too large or mixes numbers and conditions");
  }
  // Infix text has no srepr constructors in it.
  if (!text.contains("Symbol(") && !text.contains("Integer(")) {
    llvm::Expected<SymExpr> infix = context.parse(text);
    if (infix)
      return infix;
    llvm::consumeError(infix.takeError());
  }
  return failure(parser.message);
}

} // namespace ft::pt2
