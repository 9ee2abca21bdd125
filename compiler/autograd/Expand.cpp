//===- Expand.cpp - Replaces calls before they are derived -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/Expand.h"

#include "compiler/autograd/Activity.h"
#include "compiler/autograd/ControlFlow.h"
#include "compiler/autograd/DerivativeTable.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtControl.h"

using namespace mlir;

namespace ft {

/// The replacements of the results; empty if the call stays.
static FailureOr<std::vector<Term>> expansionOf(Operation *op,
                                                RuleBuilder &builder) {
  const Schema *schema = schemaOf(op);
  if (!schema || customOp(*schema))
    return std::vector<Term>();
  const Derivative &derivative = derivativeOf(*schema);
  if (!derivative.expands())
    return std::vector<Term>();
  RuleCall call(builder, op);
  std::vector<Term> results;
  if (derivative.expand)
    results = derivative.expand(call);
  else
    for (const Formula &formula : derivative.expansion)
      results.push_back(formula.evaluate(call, nullptr));
  if (call.failed())
    return failure();
  for (auto [r, term] : llvm::enumerate(results)) {
    if (r >= op->getNumResults() || !term.isTensor())
      continue;
    TensorMeta have = RuleCall::meta(term),
               want = RuleCall::meta(Term(op->getResult(r)));
    if (have.sizes == want.sizes && have.dtype == want.dtype) {
      // Whoever uses the result relies on its layout.
      term = call.laidOut(term, want);
      if (call.failed())
        return failure();
      continue;
    }
    call.fail("it expands to " + have.str() + ", not to " + want.str());
    return failure();
  }
  return results;
}

/// Random numbers are drawn from an explicit key whether or not a gradient
/// flows through them, see rules/Random.cpp.
static bool isRandom(Operation *op) {
  const Schema *schema = schemaOf(op);
  return schema && schema->family == "random";
}

/// What a call of a no_grad block becomes is of that block.
static void keepNoGrad(Operation *from, Operation *first) {
  if (Attribute off = from->getAttr(names::kNoGrad))
    for (Operation *made = first; made != from; made = made->getNextNode())
      made->setAttr(names::kNoGrad, off);
}

namespace {
class Expander {
public:
  Expander(RuleBuilder &to, const Activity &activity)
      : to(to), activity(activity) {}

  llvm::DenseSet<Value> varied;
  LogicalResult run(Block &body);

private:
  LogicalResult visitControl(Operation *op);
  RuleBuilder &to;
  const Activity &activity;
  /// Calls with a result that nothing replaces.
  llvm::DenseSet<Operation *> kept;
};
} // namespace

LogicalResult Expander::visitControl(Operation *op) {
  markVaried(op, varied);
  for (Region &region : op->getRegions())
    if (failed(run(region.front())))
      return failure();
  return success();
}

LogicalResult Expander::run(Block &body) {
  for (Operation *op = &body.front(); op;) {
    Operation *next = op->getNextNode();
    bool varies = passesGradients(op) && !kept.contains(op) &&
                  llvm::any_of(op->getOperands(),
                               [&](Value v) { return varied.contains(v); });
    if (!varies && (kept.contains(op) || !isRandom(op))) {
      op = next;
      continue;
    }
    if (isControl(op)) {
      if (activity.isActive(op)) {
        to.builder.setInsertionPoint(op);
        FailureOr<Operation *> simpler = simplifyControl(op, to);
        if (failed(simpler))
          return failure();
        op = *simpler;
      }
      if (failed(visitControl(op)))
        return failure();
      op = next;
      continue;
    }
    Operation *before = op->getPrevNode();
    to.builder.setInsertionPoint(op);
    FailureOr<std::vector<Term>> results = expansionOf(op, to);
    if (failed(results))
      return failure();
    if (results->empty()) {
      for (OpResult result : op->getResults())
        if (varies && ft::varies(result))
          varied.insert(result);
      op = next;
      continue;
    }
    keepNoGrad(op, before ? before->getNextNode() : &body.front());
    for (auto [result, term] : llvm::zip(op->getResults(), *results)) {
      if (!term.isTensor())
        continue;
      Operation *made = term.value().getDefiningOp();
      Attribute name = op->getAttr(names::kName);
      if (name && made && op->getNumResults() == made->getNumResults() &&
          !made->hasAttr(names::kName))
        made->setAttr(names::kName, name);
      result.replaceAllUsesWith(term.value());
    }
    // What it became is visited in its place.
    Operation *first = before ? before->getNextNode() : &body.front();
    // What still has uses has results that nothing replaces: it stays, and is
    // not expanded once more.
    if (op->use_empty())
      op->erase();
    else
      kept.insert(op);
    op = first == op ? next : first;
  }
  return success();
}

LogicalResult expandCalls(func::FuncOp function, RuleBuilder &builder) {
  // Loops are made simpler only where they are derived.
  Activity activity(function);
  Expander expander(builder, activity);
  for (BlockArgument argument : function.getArguments())
    if (isDifferentiable(argument) &&
        function.getArgAttr(argument.getArgNumber(), names::kRequiresGrad))
      expander.varied.insert(argument);
  builder.varied = &expander.varied;
  LogicalResult done = expander.run(function.front());
  builder.varied = nullptr;
  return done;
}

} // namespace ft
