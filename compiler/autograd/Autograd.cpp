//===- Autograd.cpp - Traces forward and backward jointly ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/Autograd.h"

#include "compiler/autograd/BlockTrace.h"
#include "compiler/autograd/DerivativeTable.h"
#include "compiler/autograd/Expand.h"
#include "compiler/autograd/MergeCalls.h"
#include "compiler/fake/FakeCache.h"
#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/SpreadOperands.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <set>

using namespace mlir;

namespace ft {

namespace {
/// The backward part of one function.
class JointTrace {
public:
  JointTrace(func::FuncOp function, RuleBuilder &to)
      : function(function), body(function.front()), to(to), activity(function),
        trace(body, to, activity) {}
  LogicalResult run();

private:
  LogicalResult checkDerivatives();
  void nameResults();
  void addTangents();
  LogicalResult returnGradients();

  func::FuncOp function;
  Block &body;
  RuleBuilder &to;
  Activity activity;
  BlockTrace trace;
};
} // namespace

LogicalResult JointTrace::checkDerivatives() {
  std::set<std::string> missing;
  Operation *first = nullptr;
  bool any = false;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!activity.isActive(op))
      return;
    any = true;
    if (hasDerivative(op))
      return;
    const Schema *schema = schemaOf(op);
    std::string text =
        schema ? shownName(*schema) : op->getName().getStringRef().str();
    std::string why =
        schema && !customOp(*schema) ? whyNoDerivative(*schema) : "";
    missing.insert(why.empty() ? text : text + " (" + why + ")");
    if (!first)
      first = op;
  });
  if (first)
    return emitError(first->getLoc())
           << "[FT0801] no derivative for " << llvm::join(missing, ", ")
           << "\nhelp: `foretrace ops` shows the operators that have one; a "
              "custom operator registers its own (foretrace/plugin.h)";
  auto returned = [&](Value v) { return activity.needs(v); };
  if (any || llvm::any_of(body.getArguments(), returned))
    return success();
  return emitError(function.getLoc())
         << "[FT0802] no output of the model depends on an argument that "
            "requires a gradient\nhelp: parameters require one unless the "
            "model was exported with requires_grad off; --gradient asks for "
            "that of an input";
}

/// A value that is returned twice has two tangents, which have names.
void JointTrace::nameResults() {
  Builder b(function.getContext());
  llvm::StringSet<> taken;
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    auto name = function.getResultAttrOfType<StringAttr>(r, names::kName);
    if (!name)
      continue;
    std::string unique = name.getValue().str();
    for (unsigned n = 2; !taken.insert(unique).second; ++n)
      unique = name.getValue().str() + "_" + std::to_string(n);
    function.setResultAttr(r, names::kName, b.getStringAttr(unique));
  }
}

void JointTrace::addTangents() {
  Builder b(function.getContext());
  nameResults();
  Operation *ret = body.getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    Value output = operand.get();
    unsigned r = operand.getOperandNumber();
    if (!takesTangent(function, r) || !activity.needs(output))
      continue;
    bool written = isWrittenInput(function, r);
    auto name = function.getResultAttrOfType<StringAttr>(
        r, written ? names::kTarget : names::kName);
    std::string target = written ? "input_tangent_" : "tangent_";
    target += name ? name.getValue().str() : "output" + std::to_string(r);
    NamedAttrList attributes;
    attributes.set(names::kKind, b.getStringAttr("tangent"));
    attributes.set(names::kName, b.getStringAttr(target));
    attributes.set(names::kTarget, b.getStringAttr(target));
    unsigned position = function.getNumArguments();
    (void)function.insertArgument(position, tangentType(output),
                                  attributes.getDictionary(b.getContext()),
                                  function.getLoc());
    trace.arrive(output, function.getArgument(position));
  }
}

LogicalResult JointTrace::returnGradients() {
  Builder b(function.getContext());
  Operation *ret = body.getTerminator();
  SmallVector<Value> results(ret->getOperands());
  for (BlockArgument argument : body.getArguments()) {
    unsigned n = argument.getArgNumber();
    if (!function.getArgAttr(n, names::kRequiresGrad))
      continue;
    FailureOr<Value> gradient = trace.gradientOf(argument);
    if (failed(gradient))
      return failure();
    if (!*gradient)
      continue;
    auto target = function.getArgAttrOfType<StringAttr>(n, names::kTarget);
    std::string name =
        target ? target.getValue().str() : "argument" + std::to_string(n);
    NamedAttrList attributes;
    attributes.set(names::kRole, b.getStringAttr("gradient"));
    attributes.set(names::kTarget, b.getStringAttr(name));
    attributes.set(names::kName, b.getStringAttr("gradient_" + name));
    (void)function.insertResult(function.getNumResults(), gradient->getType(),
                                attributes.getDictionary(b.getContext()));
    results.push_back(*gradient);
  }
  ret->setOperands(results);
  return success();
}

LogicalResult JointTrace::run() {
  if (failed(checkDerivatives()))
    return failure();
  addTangents();
  to.builder.setInsertionPoint(body.getTerminator());
  return failed(trace.run()) ? failure() : returnGradients();
}

/// The backward comes behind all that the program asserts of its sizes; a call
/// that is expanded had its annotation by what is asserted before it.
static LogicalResult learnAssertions(Block &body, FakeScope &scope) {
  for (Operation &op : body) {
    const Schema *schema = schemaOf(&op);
    if (schema &&
        (schema->base == "_assert_scalar" ||
         schema->base == "sym_constrain_range" ||
         schema->base == "sym_constrain_range_for_size") &&
        failed(propagateOp(&op, /*cache=*/nullptr, &scope)))
      return failure();
    auto check = dyn_cast<AssertOp>(op);
    if (!check)
      continue;
    llvm::Expected<SymExpr> relation =
        scope.symbols().parse(check.getRelation());
    if (relation)
      (void)scope.require(*relation, "assert");
    else
      llvm::consumeError(relation.takeError());
  }
  return success();
}

/// Backward takes symbols that the data have decided as given: their ranges
/// say what was asserted of them.
static void narrowRanges(ModuleOp module, FakeScope &scope) {
  for (SymbolOp op : module.getOps<SymbolOp>()) {
    SymExpr symbol = scope.symbols().symbol(op.getSym());
    if (!scope.symbols().hasUnbacked(symbol))
      continue;
    Interval range = scope.env().bounds(symbol);
    if (range.lo != Interval::kMin)
      op.setLower(range.lo);
    if (range.hi != Interval::kMax)
      op.setUpper(range.hi);
  }
}

LogicalResult buildJoint(ModuleOp module, FakeCache *cache) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function || function.isExternal())
    return emitError(module.getLoc())
           << "[FT0107] the module has no function @forward";
  FakeCache own;
  ModuleScope scope(module, function, ModuleScope::Use::Keep);
  OpBuilder builder(module.getContext());
  RuleBuilder to{builder, cache ? cache : &own, &scope.scope()};
  mergeCalls(function.front(), /*beforeGradients=*/true);
  if (failed(learnAssertions(function.front(), scope.scope())) ||
      failed(expandCalls(function, to)))
    return failure();
  narrowRanges(module, scope.scope());
  if (failed(JointTrace(function, to).run()))
    return failure();
  scope.declareMade(module);
  mergeCalls(function.front());
  return spreadOperands(module);
}

LogicalResult verifyAutogradStage(ModuleOp module) {
  if (failed(verifyFakeStage(module)))
    return failure();
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function)
    return success();
  llvm::StringMap<BlockArgument> byTarget;
  for (BlockArgument argument : function.getArguments())
    if (auto target = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), names::kTarget))
      if (function.getArgAttr(argument.getArgNumber(), names::kRequiresGrad))
        byTarget.try_emplace(target.getValue(), argument);
  Operation *ret = function.front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    unsigned r = operand.getOperandNumber();
    auto role = function.getResultAttrOfType<StringAttr>(r, names::kRole);
    auto target = function.getResultAttrOfType<StringAttr>(r, names::kTarget);
    if (!role || role.getValue() != "gradient" || !target)
      continue;
    auto primal = byTarget.find(target.getValue());
    if (primal == byTarget.end())
      return emitError(ret->getLoc())
             << "[FT0803] a gradient of '" << target.getValue()
             << "', which is no argument that requires one";
    std::optional<TensorMeta> have = metaOf(operand.get()),
                              want = metaOf(primal->second);
    if (!have || !want || have->sizes != want->sizes ||
        have->dtype != want->dtype || have->device != want->device)
      return emitError(ret->getLoc())
             << "[FT0803] the gradient of '" << target.getValue() << "' is "
             << (have ? have->str() : "no tensor") << ", not "
             << (want ? want->str() : "a tensor");
  }
  return success();
}

namespace {
struct AutogradPass : PassWrapper<AutogradPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AutogradPass)

  StringRef getArgument() const final { return "ft-autograd"; }
  StringRef getDescription() const final {
    return "trace the backward pass jointly with the forward pass";
  }
  void runOnOperation() final {
    if (failed(buildJoint(getOperation())) ||
        failed(verifyAutogradStage(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void registerAutogradPasses() { PassRegistration<AutogradPass>(); }

} // namespace ft
