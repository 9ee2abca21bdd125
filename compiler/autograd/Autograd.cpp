//===- Autograd.cpp - Traces forward and backward jointly ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/Autograd.h"

#include "compiler/autograd/Activity.h"
#include "compiler/autograd/DerivativeTable.h"
#include "compiler/autograd/Expand.h"
#include "compiler/autograd/MergeCalls.h"
#include "compiler/custom/Derivative.h"
#include "compiler/fake/FakeCache.h"
#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/ModuleScope.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtControl.h"

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
      : function(function), body(function.front()), to(to), activity(function) {
  }
  LogicalResult run();

private:
  LogicalResult checkDerivatives();
  void addTangents();
  LogicalResult visit(Operation *op);
  FailureOr<SmallVector<Value>> backwardOf(Operation *op,
                                           ArrayRef<Value> gradients);
  FailureOr<Value> gradientOf(Value value);
  LogicalResult returnGradients();

  func::FuncOp function;
  Block &body;
  RuleBuilder &to;
  Activity activity;
  /// What has arrived at each value so far.
  llvm::DenseMap<Value, SmallVector<Value, 2>> arrived;
};
} // namespace

static bool hasDerivative(Operation *op) {
  const Schema *schema = schemaOf(op);
  if (!schema)
    return isa<RefineOp>(op);
  if (const CustomOp *custom = customOp(*schema))
    return custom->derivative != nullptr;
  return derivativeOf(*schema).exists();
}

LogicalResult JointTrace::checkDerivatives() {
  std::set<std::string> missing;
  Operation *first = nullptr;
  bool any = false;
  for (Operation &op : body) {
    if (!activity.isActive(&op))
      continue;
    any = true;
    if (hasDerivative(&op))
      continue;
    const Schema *schema = schemaOf(&op);
    missing.insert(schema ? shownName(*schema)
                          : op.getName().getStringRef().str());
    if (!first)
      first = &op;
  }
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
            "model was exported with requires_grad off";
}

/// Whether static strides fill a storage without holes or overlaps: some order
/// of the dims is row-major.
static bool isDense(const TensorMeta &meta) {
  if (!meta.isStatic())
    return false;
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [size, stride] : llvm::zip(meta.sizes, meta.strides))
    if (size.value() != 1)
      dims.push_back({stride.value(), size.value()});
  llvm::sort(dims);
  int64_t filled = 1;
  for (auto [stride, size] : dims) {
    if (stride != filled)
      return false;
    filled *= size;
  }
  return true;
}

/// A tangent looks like its output: of the same strides if these are dense,
/// row-major otherwise.
static Type tangentType(Value output) {
  TensorMeta meta = *metaOf(output);
  TensorMeta dense =
      TensorMeta::contiguous(meta.dtype, meta.sizes, meta.device);
  if (isDense(meta))
    dense.strides = meta.strides;
  return typeFromMeta(output.getContext(), dense);
}

void JointTrace::addTangents() {
  Builder b(function.getContext());
  llvm::DenseSet<Value> done;
  Operation *ret = body.getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    Value output = operand.get();
    unsigned r = operand.getOperandNumber();
    if (!takesTangent(function, r) || !activity.needs(output) ||
        !done.insert(output).second)
      continue;
    auto name = function.getResultAttrOfType<StringAttr>(r, names::kName);
    std::string target =
        name ? name.getValue().str() : "output" + std::to_string(r);
    NamedAttrList attributes;
    attributes.set(names::kKind, b.getStringAttr("tangent"));
    attributes.set(names::kName, b.getStringAttr("tangent_" + target));
    attributes.set(names::kTarget, b.getStringAttr("tangent_" + target));
    unsigned position = function.getNumArguments();
    (void)function.insertArgument(position, tangentType(output),
                                  attributes.getDictionary(b.getContext()),
                                  function.getLoc());
    arrived[output].push_back(function.getArgument(position));
  }
}

/// The sum of what has arrived at a value; null if nothing has.
FailureOr<Value> JointTrace::gradientOf(Value value) {
  auto found = arrived.find(value);
  if (found == arrived.end())
    return Value();
  SmallVector<Value, 2> parts = std::move(found->second);
  arrived.erase(found);
  Value sum = parts.front();
  for (Value part : ArrayRef(parts).drop_front()) {
    AtenCall call;
    call.schema = SchemaTable::get().find("add.Tensor");
    call.args = {Arg::tensor(0), Arg::tensor(1), Arg::integer(1)};
    call.operands = {sum, part};
    Operation *made = call.build(to.builder, value.getLoc(),
                                 {unknownTensorType(value.getContext())});
    if (failed(propagateOp(made, to.cache, to.scope)))
      return failure();
    sum = made->getResult(0);
  }
  return sum;
}

/// An argument that needs a gradient and has no formula; null if there is none.
/// Of what views and copies read besides `self` only sizes and dtypes count.
static const SchemaArg *argumentWithout(const Derivative &derivative,
                                        GradCall &call) {
  const Schema &schema = call.schema();
  if (schema.family == "view" || schema.family == "copy")
    return nullptr;
  for (const SchemaArg &argument : schema.args) {
    auto isIts = [&](const Derivative::Row &row) {
      return row.argument == argument.name;
    };
    if (argument.type.kind == SchemaType::Tensor && call.needs(argument.name) &&
        llvm::none_of(derivative.formulas, isIts))
      return &argument;
  }
  return nullptr;
}

FailureOr<SmallVector<Value>>
JointTrace::backwardOf(Operation *op, ArrayRef<Value> gradients) {
  const Schema *schema = schemaOf(op);
  if (!schema) // ft.refine: the same tensor
    return SmallVector<Value>(gradients);
  if (customOp(*schema))
    return buildCustomBackward(to.builder, op, ValueRange(gradients));
  const Derivative &derivative = derivativeOf(*schema);
  GradCall call(to, op, gradients, activity);
  if (derivative.kind == Derivative::Function)
    derivative.function(call);
  if (derivative.kind == Derivative::Formulas)
    if (const SchemaArg *argument = argumentWithout(derivative, call))
      call.fail("none is known by '" + argument->name + "'");
  for (const Derivative::Row &row : derivative.formulas) {
    if (!call.needs(row.argument))
      continue;
    Term term = row.formula.evaluate(call, &call);
    if (row.isPartial)
      term = call.mul(call.grad(), call.conj(term));
    call.set(row.argument, term);
  }
  if (call.failed())
    return failure();
  return SmallVector<Value>(call.operandGradients());
}

LogicalResult JointTrace::visit(Operation *op) {
  SmallVector<Value> gradients;
  bool any = false;
  for (Value result : op->getResults()) {
    FailureOr<Value> gradient = gradientOf(result);
    if (failed(gradient))
      return failure();
    any |= *gradient != Value();
    gradients.push_back(*gradient);
  }
  if (!any)
    return success();
  FailureOr<SmallVector<Value>> operands = backwardOf(op, gradients);
  if (failed(operands))
    return failure();
  for (auto [operand, gradient] : llvm::zip(op->getOperands(), *operands))
    if (gradient && activity.needs(operand))
      arrived[operand].push_back(gradient);
  return success();
}

LogicalResult JointTrace::returnGradients() {
  Builder b(function.getContext());
  Operation *ret = body.getTerminator();
  SmallVector<Value> results(ret->getOperands());
  for (BlockArgument argument : body.getArguments()) {
    unsigned n = argument.getArgNumber();
    if (!function.getArgAttr(n, names::kRequiresGrad))
      continue;
    FailureOr<Value> gradient = gradientOf(argument);
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
  SmallVector<Operation *> forward;
  for (Operation &op : body.without_terminator())
    if (activity.isActive(&op))
      forward.push_back(&op);
  addTangents();
  to.builder.setInsertionPoint(body.getTerminator());
  for (Operation *op : llvm::reverse(forward))
    if (failed(visit(op)))
      return failure();
  return returnGradients();
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
  mergeCalls(function);
  if (failed(expandCalls(function, to)) ||
      failed(JointTrace(function, to).run()))
    return failure();
  scope.declareMade(module);
  mergeCalls(function);
  return success();
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
