//===- Placement.cpp - Where each tensor of the lowered graph lives *- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Placement.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ft {

SmallVector<int64_t, 6> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 6> strides(shape.size());
  int64_t running = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = running;
    running *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

int64_t strideExtent(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(shape, strides)) {
    if (size == 0)
      return 0;
    last += (size - 1) * stride;
  }
  return last + 1;
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

static std::optional<Placement> placeCollapse(tensor::CollapseShapeOp op,
                                              const Placement &operand) {
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  Placement result = operand;
  result.strides.clear();
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    // The innermost dim that is not 1 gives the stride; outer ones must follow
    // it without a gap.
    int64_t stride = 1, running = -1;
    for (int64_t d : llvm::reverse(group)) {
      if (shape[d] == 1)
        continue;
      if (running < 0)
        stride = operand.strides[d];
      else if (operand.strides[d] != running)
        return std::nullopt;
      running = operand.strides[d] * shape[d];
    }
    result.strides.push_back(stride);
  }
  return result;
}

static Placement placeExpand(tensor::ExpandShapeOp op,
                             const Placement &operand) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  Placement result = operand;
  result.strides.assign(shape.size(), 1);
  for (auto [source, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t stride = operand.strides[source];
    for (int64_t d : llvm::reverse(group)) {
      result.strides[d] = stride;
      stride *= shape[d];
    }
  }
  return result;
}

std::optional<Placement> placeView(Operation *view, const Placement &operand) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view))
    return placeCollapse(collapse, operand);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return placeExpand(expand, operand);
  auto slice = cast<tensor::ExtractSliceOp>(view);
  Placement result = operand;
  result.strides.clear();
  int64_t offset = 0;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (size_t d = 0; d < operand.strides.size(); ++d) {
    offset += slice.getStaticOffsets()[d] * operand.strides[d];
    if (!dropped.test(d))
      result.strides.push_back(operand.strides[d] *
                               slice.getStaticStrides()[d]);
  }
  result.byteOffset += offset * elementBytes(slice.getSourceType());
  return result;
}

} // namespace ft
