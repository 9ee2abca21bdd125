//===- BlockTrace.cpp - The backward calls of one block --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/BlockTrace.h"

#include "compiler/autograd/Autograd.h"
#include "compiler/autograd/ControlFlow.h"
#include "compiler/autograd/DerivativeTable.h"
#include "compiler/custom/Derivative.h"
#include "compiler/fake/FakePropagate.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtControl.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ft {

bool hasDerivative(Operation *op) {
  const Schema *schema = schemaOf(op);
  if (!schema)
    return isa<RefineOp, CondOp, ScanOp>(op);
  if (const CustomOp *custom = customOp(*schema))
    return custom->derivative != nullptr;
  return derivativeOf(*schema).exists();
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

Type tangentType(Value output) {
  TensorMeta meta = *metaOf(output);
  TensorMeta dense =
      TensorMeta::contiguous(meta.dtype, meta.sizes, meta.device);
  if (isDense(meta))
    dense.strides = meta.strides;
  return typeFromMeta(output.getContext(), dense);
}

/// The sum of what has arrived at a value; null if nothing has.
FailureOr<Value> BlockTrace::gradientOf(Value value) {
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
BlockTrace::backwardOf(Operation *op, ArrayRef<Value> gradients) {
  const Schema *schema = schemaOf(op);
  if (isControl(op))
    return backwardOfControl(op, gradients, to, activity);
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

/// What a derivative does besides computing stays in backward.
static void pinEffects(OpBuilder &at, Operation *before) {
  Block *block = at.getInsertionBlock();
  Operation *end = &*at.getInsertionPoint();
  Operation *made = before ? before->getNextNode() : &block->front();
  for (; made != end; made = made->getNextNode())
    if (!isMemoryEffectFree(made))
      made->setAttr(kOfBackward, at.getUnitAttr());
}

LogicalResult BlockTrace::visit(Operation *op) {
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
  // A branch or loop is replaced by one that keeps more.
  SmallVector<Value> operands(op->getOperands());
  bool isReplaced = isControl(op); // op is gone then
  Operation *before = to.builder.getInsertionPoint()->getPrevNode();
  FailureOr<SmallVector<Value>> made = backwardOf(op, gradients);
  if (failed(made))
    return failure();
  // What replaces a branch or loop stands at its place.
  if (!isReplaced)
    pinEffects(to.builder, before);
  for (auto [operand, gradient] : llvm::zip(operands, *made))
    if (gradient && activity.needs(operand))
      arrived[operand].push_back(gradient);
  return success();
}

LogicalResult BlockTrace::run() {
  SmallVector<Operation *> forward;
  for (Operation &op : body.without_terminator())
    if (activity.isActive(&op))
      forward.push_back(&op);
  OpBuilder::InsertionGuard outside(to.builder);
  to.builder.setInsertionPoint(body.getTerminator());
  for (Operation *op : llvm::reverse(forward))
    if (failed(visit(op)))
      return failure();
  return success();
}

} // namespace ft
