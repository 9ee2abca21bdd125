//===- Numbers.cpp - Sizes and numbers of a trace --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/trace/TraceState.h"

namespace ft {

using detail::SymNode;
using detail::TraceState;

SymInt TraceState::failedNumber(const std::shared_ptr<Origin> &origin) {
  auto node = std::make_shared<SymNode>();
  if (origin && origin->kind == Origin::Trace)
    node->trace = std::static_pointer_cast<TraceState>(origin);
  return symInt(std::move(node));
}

Scalar detail::CallResults::number(size_t i) const {
  return i < numbers.size()
             ? numbers[i]
             : Scalar(TraceState::failedNumber(TraceState::originOf(failed)));
}

std::string SymInt::str() const {
  if (!node)
    return std::to_string(number);
  return node->value ? node->dim.str() : "failed";
}

bool SymInt::ok() const { return !node || node->value; }

/// The mode whose error it is, if there is one to tell.
static TraceState *traceOf(const SymInt &a, const SymInt &b) {
  for (const SymInt *v : {&a, &b})
    if (const std::shared_ptr<SymNode> &node = TraceState::nodeOf(*v))
      return node->trace.get();
  return detail::activeTrace().get();
}

static SymInt failedNumber(TraceState *trace) {
  return TraceState::failedNumber(trace ? trace->shared_from_this()
                                        : std::shared_ptr<detail::Origin>());
}

SymInt SymInt::apply(const char *op, const SymInt &a, const SymInt &b) {
  if (!a.node && !b.node) {
    bool quotient = std::string_view(op) == "operator.floordiv";
    if (b.number == 0) {
      TraceState *trace = traceOf(a, b);
      if (trace)
        trace->fail(DiagId::FakeOther, {},
                    "division by zero: " + a.str() +
                        (quotient ? " / " : " % ") + b.str());
      return failedNumber(trace);
    }
    if (b.number == -1) // the one quotient that overflows has this divisor
      return quotient ? SymInt(0) - a : SymInt(0);
    return quotient ? floorDiv(Dim(a.number), Dim(b.number)).value()
                    : mod(Dim(a.number), Dim(b.number)).value();
  }
  if (!a.ok() || !b.ok())
    return a.ok() ? b : a;
  detail::OpArg args[] = {detail::OpArg(a), detail::OpArg(b)};
  detail::CallResults results = detail::callNamed(op, args, 2, {});
  if (results.numbers.empty())
    return failedNumber(traceOf(a, b));
  return results.number(0).toInt();
}

bool SymInt::decide(const char *relation, const SymInt &a, const SymInt &b) {
  if (!a.ok() || !b.ok())
    return false;
  auto dim = [](const SymInt &v) {
    return v.node ? v.node->dim : Dim(v.number);
  };
  std::string_view kind = relation;
  if (dim(a).identical(dim(b)))
    return kind != "<";
  TraceState *trace = traceOf(a, b);
  SymContext &symbols = trace->scope->symbols();
  SymExpr x = dim(a).toExpr(symbols), y = dim(b).toExpr(symbols);
  SymExpr predicate = kind == "<"    ? symbols.lt(x, y)
                      : kind == "<=" ? symbols.le(x, y)
                                     : symbols.eq(x, y);
  if (std::optional<bool> taken = trace->branch(predicate))
    return *taken;
  trace->fail(
      DiagId::SymbolicUndecided, {},
      "the program branches on " + a.str() + " " + relation + " " + b.str() +
          ", which is not known before the model runs",
      "keep the choice inside of the graph with ft::cond, or assert what is "
      "known of the number");
  return false;
}

int64_t SymInt::symbolicValue() const {
  if (ok())
    node->trace->fail(DiagId::SymbolicUndecided, {},
                      "the program needs the value of " + str() +
                          ", which is not known before the model runs",
                      "pass it on as a SymInt");
  return 0;
}

SymInt Scalar::toInt() const {
  if (!isStatic() || tag == Int || tag == Bool)
    return integer;
  return SymInt(static_cast<int64_t>(re));
}

double Scalar::toDouble() const {
  if (!isStatic() || tag == Int || tag == Bool)
    return static_cast<double>(integer.value());
  return re;
}

bool Scalar::toBool() const {
  if (!isStatic() || tag == Int || tag == Bool)
    return integer.value() != 0;
  return re != 0 || im != 0;
}

} // namespace ft
