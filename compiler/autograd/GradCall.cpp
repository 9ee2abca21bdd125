//===- GradCall.cpp - The backward of one call -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/GradCall.h"

using namespace mlir;

namespace ft {

GradCall::GradCall(RuleBuilder &to, Operation *forward,
                   ArrayRef<Value> gradients, const Activity &activity)
    : RuleCall(to, forward), gradients(gradients), activity(activity) {
  results.resize(forward->getNumOperands());
}

Term GradCall::grad(unsigned result) {
  return defined(gradIfAny(result), this->result(result));
}

int GradCall::operandOf(StringRef argument, int item) {
  int index = schema().argIndex(argument);
  if (index < 0) {
    fail("the rule names '" + argument + "', which is no argument");
    return -1;
  }
  const Arg &arg = forward().args[index];
  if (item < 0)
    return arg.operand;
  return static_cast<size_t>(item) < arg.list.size() ? arg.list[item].operand
                                                     : -1;
}

bool GradCall::needs(StringRef argument) {
  int index = schema().argIndex(argument);
  if (index >= 0 && forward().args[index].kind == Arg::List) {
    for (size_t i = 0; i < forward().args[index].list.size(); ++i)
      if (needsItem(argument, i))
        return true;
    return false;
  }
  int operand = operandOf(argument, -1);
  return operand >= 0 && activity.needs(forward().operands[operand]);
}

bool GradCall::needsItem(StringRef argument, size_t item) {
  int operand = operandOf(argument, static_cast<int>(item));
  return operand >= 0 && activity.needs(forward().operands[operand]);
}

void GradCall::set(StringRef argument, const Term &gradient) {
  setOperand(operandOf(argument, -1), gradient);
}

void GradCall::accumulate(StringRef argument, const Term &gradient) {
  int operand = operandOf(argument, -1);
  if (operand < 0 || gradient.isZero())
    return;
  Term before = results[operand];
  setOperand(operand, gradient);
  if (before.isTensor() && !failed())
    results[operand] = add(before, results[operand]).value();
}

void GradCall::setItem(StringRef argument, size_t item, const Term &gradient) {
  setOperand(operandOf(argument, static_cast<int>(item)), gradient);
}

void GradCall::setOperand(int operand, const Term &gradient) {
  if (operand < 0 || failed() || gradient.isZero())
    return;
  Value value = forward().operands[operand];
  if (!activity.needs(value))
    return;
  if (!gradient.isTensor())
    return fail("the gradient of an argument is no tensor");
  Term g = gradient, primal = value;
  if (!isComplex(primal))
    g = real(g);
  TensorMeta want = meta(primal);
  g = cast(sumTo(g, want.sizes), want.dtype);
  if (failed())
    return;
  TensorMeta have = meta(g);
  if (have.device != want.device) {
    g = call("_to_copy", {g, Term(Arg::ofDevice(want.device)).named("device")});
    have = meta(g);
  }
  if (failed())
    return;
  if (have.sizes != want.sizes)
    return fail("the gradient " + have.str() + " of operand " + Twine(operand) +
                " must be " + want.str());
  results[operand] = g.value();
}

} // namespace ft
