//===- Formula.cpp - Reads the derivatives of the tables -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/Formula.h"

#include "compiler/autograd/FormulaFunctions.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

namespace ft {

namespace {
/// Operators by precedence, the weakest first.
struct Precedence {
  const char *tokens[6];
};
constexpr Precedence kBinary[] = {{{"||"}},
                                  {{"&&"}},
                                  {{"==", "!=", "<=", ">=", "<", ">"}},
                                  {{"+", "-"}},
                                  {{"*", "/"}}};

class Parser {
public:
  Parser(llvm::StringRef text, std::vector<Formula::Node> &nodes)
      : rest(text), whole(text), nodes(nodes) {}

  llvm::Error run() {
    choice();
    skip();
    if (error.empty() && !rest.empty())
      fail("the end");
    if (error.empty())
      return llvm::Error::success();
    return llvm::createStringError(error);
  }

private:
  using Node = Formula::Node;

  unsigned add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<unsigned>(nodes.size()) - 1;
  }
  void fail(llvm::StringRef expected) {
    if (error.empty())
      error = ("'" + whole + "' at " + llvm::Twine(whole.size() - rest.size()) +
               ": expected " + expected)
                  .str();
    rest = "";
  }
  void skip() { rest = rest.ltrim(); }
  bool take(llvm::StringRef token) {
    skip();
    return rest.consume_front(token);
  }
  void expect(llvm::StringRef token) {
    if (!take(token))
      fail(("'" + token + "'").str());
  }
  llvm::StringRef identifier() {
    skip();
    llvm::StringRef name = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(name.size());
    return name;
  }

  unsigned choice() {
    unsigned condition = binary(0);
    if (!take("?"))
      return condition;
    Node node{Node::Choice, "", {}, {condition}, {}};
    node.children.push_back(choice());
    expect(":");
    node.children.push_back(choice());
    return add(std::move(node));
  }

  unsigned binary(size_t level) {
    if (level == std::size(kBinary))
      return unary();
    unsigned left = binary(level + 1);
    while (true) {
      const char *found = nullptr;
      for (const char *token : kBinary[level].tokens)
        if (!found && token && take(token))
          found = token;
      if (!found)
        return left;
      unsigned right = binary(level + 1);
      left = add({Node::Binary, found, {}, {left, right}, {}});
    }
  }

  unsigned unary() {
    for (const char *token : {"-", "!"})
      if (take(token)) {
        unsigned operand = unary();
        return add({Node::Unary, token, {}, {operand}, {}});
      }
    return postfix();
  }

  unsigned postfix() {
    unsigned value = primary();
    while (take("[")) {
      unsigned index = choice();
      expect("]");
      value = add({Node::Index, "", {}, {value, index}, {}});
    }
    return value;
  }

  unsigned primary() {
    skip();
    if (take("(")) {
      unsigned inner = choice();
      expect(")");
      return inner;
    }
    if (take("["))
      return items({Node::List, "", {}, {}, {}}, "]");
    if (take("'")) {
      llvm::StringRef text = rest.take_until([](char c) { return c == '\''; });
      rest = rest.drop_front(text.size());
      expect("'");
      return add({Node::Constant, "", Term(Arg::string(text)), {}, {}});
    }
    if (!rest.empty() && llvm::isDigit(rest.front()))
      return number();
    llvm::StringRef name = identifier();
    if (name.empty()) {
      fail("an expression");
      return 0;
    }
    if (take("("))
      return items({Node::Call, name.str(), {}, {}, {}}, ")");
    if (name == "true" || name == "false")
      return add({Node::Constant, "", Term(name == "true"), {}, {}});
    if (name == "none")
      return add({Node::Constant, "", Term::none(), {}, {}});
    if (name == "pi")
      return add({Node::Constant, "", Term(3.14159265358979323846), {}, {}});
    if (name == "inf")
      return add({Node::Constant,
                  "",
                  Term(std::numeric_limits<double>::infinity()),
                  {},
                  {}});
    return add({Node::Name, name.str(), {}, {}, {}});
  }

  unsigned number() {
    llvm::StringRef digits =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '.'; });
    // "1e-5"
    if (digits.ends_with("e") && rest.size() > digits.size() + 1) {
      llvm::StringRef tail = rest.drop_front(digits.size() + 1);
      size_t exponent = tail.take_while(llvm::isDigit).size();
      digits = rest.take_front(digits.size() + 1 + exponent);
    }
    rest = rest.drop_front(digits.size());
    int64_t integer;
    if (!digits.getAsInteger(10, integer))
      return add({Node::Constant, "", Term(integer), {}, {}});
    double real;
    if (digits.getAsDouble(real))
      fail("a number");
    return add({Node::Constant, "", Term(real), {}, {}});
  }

  unsigned items(Node node, llvm::StringRef end) {
    if (!take(end)) {
      do {
        llvm::StringRef before = rest, key = identifier();
        bool keyword = node.kind == Node::Call && !key.empty() && take("=") &&
                       !rest.starts_with("=");
        if (!keyword)
          rest = before;
        node.keywords.push_back(keyword ? key.str() : "");
        node.children.push_back(choice());
      } while (take(","));
      expect(end);
    }
    return add(std::move(node));
  }

  llvm::StringRef rest, whole;
  std::vector<Node> &nodes;
  std::string error;
};
} // namespace

llvm::Expected<Formula> Formula::parse(llvm::StringRef text) {
  Formula formula;
  formula.source = text.str();
  if (llvm::Error error = Parser(text, formula.nodes).run())
    return std::move(error);
  return formula;
}

/// The number of `grad3` or `result`, 0 without digits; nothing for another
/// name.
static std::optional<unsigned> numbered(llvm::StringRef name,
                                        llvm::StringRef prefix) {
  unsigned index = 0;
  if (!name.consume_front(prefix) ||
      (!name.empty() && name.getAsInteger(10, index)))
    return std::nullopt;
  return index;
}

std::vector<std::string> Formula::argumentNames() const {
  std::vector<std::string> names;
  for (const Node &node : nodes)
    if (node.kind == Node::Name && !numbered(node.text, "grad") &&
        !numbered(node.text, "result"))
      names.push_back(node.text);
  return names;
}

std::vector<std::string> Formula::operatorNames() const {
  std::vector<std::string> names;
  for (const Node &node : nodes)
    if (node.kind == Node::Call && !findFormulaFunction(node.text))
      names.push_back(node.text);
  return names;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
class Evaluator {
public:
  Evaluator(llvm::ArrayRef<Formula::Node> nodes, RuleCall &call,
            GradCall *grads)
      : nodes(nodes), call(call), grads(grads) {}

  Term evaluate(unsigned index) {
    const Formula::Node &node = nodes[index];
    if (call.failed())
      return {};
    switch (node.kind) {
    case Formula::Node::Constant:
      return node.constant;
    case Formula::Node::Name:
      return named(node.text);
    case Formula::Node::Call:
      return called(node);
    case Formula::Node::List: {
      std::vector<Term> items;
      for (unsigned child : node.children)
        items.push_back(evaluate(child));
      return Term(std::move(items));
    }
    case Formula::Node::Index:
      return indexed(node);
    case Formula::Node::Unary: {
      Term operand = evaluate(node.children[0]);
      if (node.text == "-")
        return call.neg(operand);
      return operand.isTensor() ? call.call("logical_not", {operand})
                                : Term(!operand.truth());
    }
    case Formula::Node::Binary:
      return binary(node);
    case Formula::Node::Choice: {
      Term condition = evaluate(node.children[0]);
      if (condition.isTensor()) {
        call.fail("a condition of its rule is a tensor");
        return {};
      }
      return evaluate(node.children[condition.truth() ? 1 : 2]);
    }
    }
    return {};
  }

private:
  Term named(llvm::StringRef name) {
    if (call.schema().argIndex(name) >= 0 || !numbered(name, "grad"))
      if (std::optional<unsigned> r = numbered(name, "result");
          !r || call.schema().argIndex(name) >= 0)
        return call.arg(name);
    if (std::optional<unsigned> r = numbered(name, "result"))
      return call.result(*r);
    if (grads)
      return grads->gradIfAny(*numbered(name, "grad"));
    call.fail("its expansion names a gradient");
    return {};
  }

  std::vector<Term> arguments(const Formula::Node &node) {
    std::vector<Term> terms;
    for (auto [child, keyword] : llvm::zip(node.children, node.keywords)) {
      Term term = evaluate(child);
      terms.push_back(keyword.empty() ? term : term.named(keyword));
    }
    return terms;
  }

  Term called(const Formula::Node &node) {
    std::vector<Term> terms = arguments(node);
    if (const FormulaFunction *function = findFormulaFunction(node.text))
      return function->compute(call, terms);
    return call.call(node.text, terms);
  }

  Term indexed(const Formula::Node &node) {
    const Formula::Node &of = nodes[node.children[0]];
    Term index = evaluate(node.children[1]);
    std::vector<Term> items;
    if (of.kind == Formula::Node::Call && !findFormulaFunction(of.text))
      items = call.callAll(of.text, arguments(of));
    else
      items = evaluate(node.children[0]).items();
    int64_t i = index.integer();
    if (i < 0)
      i += static_cast<int64_t>(items.size());
    if (i >= 0 && i < static_cast<int64_t>(items.size()))
      return items[i];
    call.fail("its rule takes item " + llvm::Twine(i) + " of " +
              llvm::Twine(items.size()));
    return {};
  }

  Term binary(const Formula::Node &node) {
    llvm::StringRef op = node.text;
    Term a = evaluate(node.children[0]);
    // The other side of a decided && or || may make no sense.
    if (op == "&&" && !a.isTensor() && !a.truth())
      return Term(false);
    if (op == "||" && !a.isTensor() && a.truth())
      return Term(true);
    Term b = evaluate(node.children[1]);
    if (op == "+")
      return call.add(a, b);
    if (op == "-")
      return call.sub(a, b);
    if (op == "*")
      return call.mul(a, b);
    if (op == "/")
      return call.div(a, b);
    if (op == "&&" || op == "||") {
      if (!a.isTensor())
        return b;
      if (!b.isTensor())
        return b.truth() == (op == "&&") ? a : Term(op == "||");
      return call.call(op == "&&" ? "logical_and" : "logical_or", {a, b});
    }
    return compareTerms(call, op, a, b);
  }

  llvm::ArrayRef<Formula::Node> nodes;
  RuleCall &call;
  GradCall *grads;
};
} // namespace

Term Formula::evaluate(RuleCall &call, GradCall *grads) const {
  return Evaluator(nodes, call, grads)
      .evaluate(static_cast<unsigned>(nodes.size()) - 1);
}

} // namespace ft
