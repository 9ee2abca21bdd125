//===- Placement.cpp - Where each tensor of the lowered graph lives *- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Placement.h"

#include "compiler/lower/KernelCalls.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ft {

bool isFound(Value tensor) {
  auto call = tensor.getDefiningOp<KernelCallOp>();
  auto found = call ? call->getAttrOfType<DenseI64ArrayAttr>(kTellsSizes)
                    : DenseI64ArrayAttr();
  return found &&
         llvm::is_contained(found.asArrayRef(),
                            int64_t(cast<OpResult>(tensor).getResultNumber()));
}

Dims rowMajorStrides(ArrayRef<Dim> shape) {
  Dims strides(shape.size());
  Dim running = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = running;
    if (!shape[i].is(0))
      running = running * shape[i];
  }
  return strides;
}

int64_t elementBytes(RankedTensorType type) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth() / 8;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

int64_t tensorBytes(RankedTensorType type) {
  return type.getNumElements() * elementBytes(type);
}

Dim tensorBytes(ArrayRef<Dim> sizes, Type element) {
  auto scalar = RankedTensorType::get({}, element);
  return product(sizes) * Dim(elementBytes(scalar));
}

Dim extentOf(ArrayRef<Dim> sizes, ArrayRef<Dim> strides) {
  Dim last = 0;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    if (size.is(0))
      return 0;
    if (!size.is(1))
      last = last + (size - 1) * stride;
  }
  return last + 1;
}

static std::optional<Placement> placeCollapse(tensor::CollapseShapeOp op,
                                              const Placement &operand,
                                              TensorSizes &sizes) {
  std::optional<ArrayRef<Dim>> shape = sizes.of(op.getSrc());
  if (!shape)
    return std::nullopt;
  Placement result = operand;
  result.strides.clear();
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    // The innermost dim that is not 1 gives the stride; outer ones must follow
    // it without a gap.
    Dim stride = 1;
    std::optional<Dim> running;
    for (int64_t d : llvm::reverse(group)) {
      if ((*shape)[d].is(1))
        continue;
      if (!running)
        stride = operand.strides[d];
      else if (operand.strides[d] != *running)
        return std::nullopt;
      running = operand.strides[d] * (*shape)[d];
    }
    result.strides.push_back(stride);
  }
  return result;
}

static std::optional<Placement> placeExpand(tensor::ExpandShapeOp op,
                                            const Placement &operand,
                                            TensorSizes &sizes) {
  std::optional<ArrayRef<Dim>> shape = sizes.of(op.getResult());
  if (!shape)
    return std::nullopt;
  Placement result = operand;
  result.strides.assign(shape->size(), Dim(1));
  for (auto [source, group] : llvm::enumerate(op.getReassociationIndices())) {
    Dim stride = operand.strides[source];
    for (int64_t d : llvm::reverse(group)) {
      result.strides[d] = stride;
      stride = stride * (*shape)[d];
    }
  }
  return result;
}

std::optional<Placement> placeView(Operation *view, const Placement &operand,
                                   TensorSizes &sizes) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view))
    return placeCollapse(collapse, operand, sizes);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return placeExpand(expand, operand, sizes);
  // A size that a guard made known.
  if (isa<tensor::CastOp>(view))
    return operand;
  auto slice = cast<tensor::ExtractSliceOp>(view);
  std::optional<Dims> offsets = TensorSizes::dimsOf(slice.getMixedOffsets());
  std::optional<Dims> steps = TensorSizes::dimsOf(slice.getMixedStrides());
  if (!offsets || !steps)
    return std::nullopt;
  Placement result = operand;
  result.strides.clear();
  Dim offset = 0;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (size_t d = 0; d < operand.strides.size(); ++d) {
    offset = offset + (*offsets)[d] * operand.strides[d];
    if (!dropped.test(d))
      result.strides.push_back(operand.strides[d] * (*steps)[d]);
  }
  result.byteOffset =
      result.byteOffset + offset * Dim(elementBytes(slice.getSourceType()));
  return result;
}

} // namespace ft
