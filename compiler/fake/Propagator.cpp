//===- Propagator.cpp - The walk that annotates values ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/Propagator.h"

#include "compiler/fake/FakeReport.h"
#include "compiler/fake/OpCall.h"

#include <deque>

using namespace mlir;

namespace ft {

std::optional<Dim> Propagator::numberOf(Value value) const {
  auto it = numbers.find(value);
  return it != numbers.end() ? std::optional(it->second)
                             : constantInteger(value);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void Propagator::setResult(OpResult result, const FakeResult &fake) {
  MLIRContext *context = result.getContext();
  switch (fake.kind) {
  case FakeResult::Tensor:
    result.setType(typeFromMeta(context, fake.meta));
    compareDeclared(result, result.getType());
    return;
  case FakeResult::Undefined:
    result.setType(NoneType::get(context));
    return;
  case FakeResult::Int:
  case FakeResult::Bool:
    if (fake.value)
      numbers[result] = *fake.value;
    return;
  case FakeResult::Float:
    return;
  }
}

/// Sizes that are known must be the same; relations between symbols are decided
/// where they are made.
static bool sameSizes(const TensorMeta &a, const TensorMeta &b) {
  if (a.rank() != b.rank())
    return false;
  for (auto [x, y] : llvm::zip(a.sizes, b.sizes))
    if (x.isStatic() && y.isStatic() && x != y)
      return false;
  return true;
}

/// Strides are not compared: functionalization may leave a value denser than
/// the one it stands for.
LogicalResult Propagator::checkResult(OpResult result, const FakeResult &fake) {
  auto bad = [&] {
    return emitError(result.getOwner()->getLoc())
           << "[FT0107] the annotation of a result does not fit its call: ";
  };
  bool isTensor = isa<TensorType>(result.getType());
  if (fake.kind != FakeResult::Tensor) {
    bool fits = fake.kind == FakeResult::Undefined
                    ? isa<NoneType>(result.getType())
                    : !isTensor;
    if (!fits)
      return bad() << result.getType() << " is of another kind";
    if (fake.value)
      numbers[result] = *fake.value;
    return success();
  }
  std::optional<TensorMeta> meta =
      isTensor ? metaFromType(result.getType()) : std::nullopt;
  if (!meta)
    return bad() << result.getType() << " must be " << fake.meta.str();
  if (meta->dtype != fake.meta.dtype || !sameSizes(*meta, fake.meta))
    return bad() << meta->str() << " must be " << fake.meta.str();
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult Propagator::visitCall(Operation *op) {
  std::deque<TensorMeta> metas;
  OpCall call(
      op,
      [&](Value value) -> const TensorMeta * {
        std::optional<TensorMeta> meta = metaOf(value);
        return meta ? &metas.emplace_back(std::move(*meta)) : nullptr;
      },
      [&](Value value) { return numberOf(value); });
  if (call.unknown) {
    reportUnknownOperand(op, call.unknown);
    return failure();
  }
  if (failed(call.run())) {
    reportFailure(op, *call.fake);
    return failure();
  }
  auto &results = call.fake->results;
  if (results.size() != op->getNumResults())
    return emitError(op->getLoc())
           << "[FT0307] aten." << call.aten.schema->name << " gives "
           << results.size() << " results here, the program takes "
           << op->getNumResults();
  for (auto [result, fake] : llvm::zip(op->getResults(), results)) {
    if (mode == Mode::Annotate)
      setResult(result, fake);
    else if (failed(checkResult(result, fake)))
      return failure();
    // `x.t_()` changes x itself, for whoever reads it from here on.
    unsigned r = result.getResultNumber();
    if (fake.kind == FakeResult::Tensor && fake.alias >= 0 &&
        call.aten.schema->returnsWritten(r)) {
      Value written = call.aten.operands[fake.alias];
      if (typeOf(written) != result.getType())
        change(written, result.getType());
    }
  }
  return success();
}

LogicalResult Propagator::visit(Operation *op) {
  // What depends on a call that failed has nothing to go by.
  if (!refused.empty() && llvm::any_of(op->getOperands(), [&](Value operand) {
        return refused.contains(operand);
      })) {
    refused.insert(op->result_begin(), op->result_end());
    return success();
  }
  if (!schemaOf(op))
    return success();
  if (succeeded(visitCall(op)))
    return success();
  refused.insert(op->result_begin(), op->result_end());
  return failure();
}

//===----------------------------------------------------------------------===//
// Blocks and functions
//===----------------------------------------------------------------------===//

LogicalResult Propagator::visitBlock(Block &block) {
  int before = errors;
  for (Operation &op : block)
    if (failed(visit(&op)) && ++errors >= kMostErrors)
      break;
  return success(errors == before);
}

LogicalResult Propagator::visitArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<TensorType>(argument.getType()))
      continue;
    std::optional<TensorMeta> meta = metaFromType(argument.getType());
    if (!meta && mode == Mode::Annotate) {
      auto declared = function.getArgAttrOfType<TypeAttr>(
          argument.getArgNumber(), names::kDeclared);
      if (declared)
        meta = metaFromType(declared.getValue());
    }
    if (!meta)
      return emitError(argument.getLoc())
             << "[FT0107] argument " << argument.getArgNumber()
             << " of @forward has neither a layout nor a declared one";
    if (mode == Mode::Annotate)
      argument.setType(typeFromMeta(function.getContext(), *meta));
  }
  return success();
}

LogicalResult Propagator::run(func::FuncOp function) {
  if (!function.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(function.getBody().front().getTerminator()))
    return function.emitError("[FT0308] control flow between blocks: @forward "
                              "must be one block");
  Block &body = function.getBody().front();
  if (failed(visitArguments(function)) || failed(visitBlock(body)))
    return failure();
  if (mode == Mode::Check)
    return success();
  function.setType(FunctionType::get(
      function.getContext(), llvm::to_vector(body.getArgumentTypes()),
      llvm::to_vector(body.getTerminator()->getOperandTypes())));
  return success();
}

} // namespace ft
