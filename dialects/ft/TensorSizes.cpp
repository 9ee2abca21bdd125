//===- TensorSizes.cpp - Sizes of builtin tensors of the run --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/TensorSizes.h"

#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ft {

void TensorSizes::say(Value value, ArrayRef<Dim> dims) {
  known[value] = std::make_unique<Dims>(dims.begin(), dims.end());
}

void TensorSizes::forget(Operation *op) {
  for (Value value : op->getResults())
    known.erase(value);
}

std::optional<Dim> TensorSizes::dimOf(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return Dim(*constant);
  if (auto op = cast<Value>(value).getDefiningOp<SizeOp>())
    return op.dim();
  return std::nullopt;
}

std::optional<Dims> TensorSizes::dimsOf(ArrayRef<OpFoldResult> values) {
  Dims dims;
  for (OpFoldResult value : values) {
    std::optional<Dim> d = TensorSizes::dimOf(value);
    if (!d)
      return std::nullopt;
    dims.push_back(*d);
  }
  return dims;
}

std::optional<ArrayRef<Dim>> TensorSizes::of(Value value) {
  auto it = known.find(value);
  if (it == known.end()) {
    std::optional<Dims> computed = compute(value);
    auto owned = computed ? std::make_unique<Dims>(*computed) : nullptr;
    it = known.try_emplace(value, std::move(owned)).first;
  }
  if (!it->second)
    return std::nullopt;
  return ArrayRef<Dim>(*it->second);
}

std::optional<Dims> TensorSizes::compute(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasRank())
    return std::nullopt;
  if (type.hasStaticShape())
    return Dims(type.getShape().begin(), type.getShape().end());
  Operation *op = value.getDefiningOp();
  auto operand = [&](Value v) -> std::optional<Dims> {
    std::optional<ArrayRef<Dim>> sizes = of(v);
    return sizes ? std::optional(Dims(sizes->begin(), sizes->end()))
                 : std::nullopt;
  };
  if (auto memory = dyn_cast_or_null<bufferization::ToTensorOp>(op))
    return operand(memory.getBuffer());
  if (!op)
    return std::nullopt;
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return dimsOf(empty.getMixedSizes());
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return operand(fill.getOutputs()[0]);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return operand(
        generic.getDpsInits()[cast<OpResult>(value).getResultNumber()]);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return operand(cast.getSource());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return operand(insert.getDest());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return dimsOf(getMixedValues(expand.getStaticOutputShape(),
                                 expand.getOutputShape(), op->getContext()));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    std::optional<Dims> all = dimsOf(slice.getMixedSizes());
    if (!all)
      return std::nullopt;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    Dims kept;
    for (unsigned d = 0; d < all->size(); ++d)
      if (!dropped.test(d))
        kept.push_back((*all)[d]);
    return kept;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    std::optional<Dims> from = operand(collapse.getSrc());
    if (!from)
      return std::nullopt;
    Dims joined;
    for (const ReassociationIndices &group :
         collapse.getReassociationIndices()) {
      Dim all = 1;
      for (int64_t d : group)
        all = all * (*from)[d];
      joined.push_back(all);
    }
    return joined;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    std::optional<Dims> from = operand(pad.getSource());
    std::optional<Dims> low = dimsOf(pad.getMixedLowPad());
    std::optional<Dims> high = dimsOf(pad.getMixedHighPad());
    if (!from || !low || !high)
      return std::nullopt;
    for (unsigned d = 0; d < from->size(); ++d)
      (*from)[d] = (*from)[d] + (*low)[d] + (*high)[d];
    return from;
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    std::optional<Dims> all;
    for (Value input : concat.getInputs()) {
      std::optional<Dims> next = operand(input);
      if (!next)
        return std::nullopt;
      if (!all)
        all = next;
      else
        (*all)[concat.getDim()] =
            (*all)[concat.getDim()] + (*next)[concat.getDim()];
    }
    return all;
  }
  return std::nullopt;
}

Dims TensorSizes::loops(linalg::GenericOp op) {
  // The size of a dim that some operand has as it is; plain numbers first.
  Dims steps(op.getNumLoops(), Dim(1));
  SmallVector<bool> found(op.getNumLoops(), false);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    std::optional<ArrayRef<Dim>> shape = of(operand.get());
    if (!shape)
      continue;
    for (auto [i, e] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto d = dyn_cast<AffineDimExpr>(e);
      if (!d)
        continue;
      Dim &step = steps[d.getPosition()];
      if (!found[d.getPosition()] ||
          (!step.isStatic() && (*shape)[i].isStatic()))
        step = (*shape)[i];
      found[d.getPosition()] = true;
    }
  }
  return steps;
}

} // namespace ft
