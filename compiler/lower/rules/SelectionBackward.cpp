//===- SelectionBackward.cpp - Gradients of selections and sums -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was selected gets the gradient, everything else 0. An element that was
// selected more than once gets the sum.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Updates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

/// (grad, sizes): the gradient on the diagonal.
static LogicalResult traceBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0);
  if (grad.rank())
    grad = c.reshape(grad, {});
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, generate(c, dimsOf(meta), meta.dtype,
                          [&](ScalarBuilder &s, ArrayRef<Value> at) {
                            Value g = readAt(s, grad, {});
                            Value on =
                                s.cmp(ScalarBuilder::Cmp::Eq, at[0], at[1]);
                            return s.select(on, g, s.zero(g));
                          }));
  return success();
}

/// out[…, k, …] = sum over j with index[…, j, …] = k of grad[…, j, …]; the
/// index has the rank of `grad`, or one dim, `dim`.
static LoweredTensor addSelected(LowerCall &c, LoweredTensor grad,
                                 LoweredTensor index, unsigned dim) {
  const TensorMeta &meta = c.resultMeta(0);
  Updates u;
  u.fold = Fold::Sum;
  u.sizes = dimsOf(meta);
  u.dtype = meta.dtype;
  u.loops = static_cast<unsigned>(meta.rank());
  for (unsigned d = 0; d < u.loops; ++d)
    u.from.push_back(d == dim ? UpdatePlace{UpdatePlace::Index, 0}
                              : UpdatePlace{UpdatePlace::Loop, d});
  u.wrap = true;
  // gather takes an index that is smaller than its operand in other dims.
  u.loopsOfIndex = index.rank() == u.loops;
  if (!u.loopsOfIndex) {
    Dims sizes(u.loops, 1);
    sizes[dim] = index.dims()[0];
    index = c.reshape(index, sizes);
  }
  u.values = grad;
  u.indices = {index};
  return foldUpdates(c, u);
}

static LogicalResult setSelected(LowerCall &c, LoweredTensor grad,
                                 LoweredTensor index, int64_t dim) {
  const TensorMeta &meta = c.resultMeta(0);
  if (meta.rank() == 0) {
    LoweredTensor sum =
        sumOf(c, grad, allDims(grad.rank()), false, opmathType(meta.dtype));
    c.setResult(0, c.cast(sum, meta.dtype));
    return success();
  }
  auto rank = static_cast<unsigned>(meta.rank());
  c.setResult(0, addSelected(c, grad, index, LowerCall::wrapDim(dim, rank)));
  return success();
}

/// (grad, self, dim, index, sparse_grad)
static LogicalResult gatherBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), index = c.operand(3);
  if (c.resultMeta(0).rank() > 0 && grad.rank() == 0) {
    grad = c.reshape(grad, {1});
    index = c.reshape(index, {1});
  }
  return setSelected(c, grad, index, c.integer(2));
}

/// (grad, sizes, dim, index)
static LogicalResult indexSelectBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), index = c.operand(3);
  if (index.rank() == 0)
    index = c.reshape(index, {1});
  return setSelected(c, grad, index, c.integer(2));
}

/// (grad, dim, indices, sizes, keepdim): of max.dim and the like.
static LogicalResult reductionBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), index = c.operand(2);
  const TensorMeta &meta = c.resultMeta(0);
  auto rank = static_cast<unsigned>(meta.rank());
  unsigned dim = LowerCall::wrapDim(c.integer(1), rank);
  if (!c.flag(4) && rank > 0) {
    auto sizes = dimsOf(meta);
    sizes[dim] = 1;
    grad = c.reshape(grad, sizes);
    index = c.reshape(index, sizes);
  }
  return setSelected(c, grad, index, c.integer(1));
}

/// Sums what broadcasting would repeat.
static LogicalResult sumToSize(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  const TensorMeta &meta = c.resultMeta(0);
  auto sizes = dimsOf(meta), own = x.dims();
  size_t lead = own.size() - sizes.size();
  SmallVector<unsigned> dims;
  // A dim that the run may find repeated is so many times the wanted size: once
  // (or never, of size 0) if it was not.
  Dims parts;
  for (size_t d = 0; d < own.size(); ++d) {
    bool isOpen = d >= lead && !sizes[d - lead].is(1) &&
                  !c.surelySame(sizes[d - lead], own[d]);
    if (isOpen)
      parts.push_back(floorDiv(own[d], maxDim(sizes[d - lead], 1)));
    if (isOpen || d < lead || (sizes[d - lead] == 1 && own[d] != 1))
      dims.push_back(
          static_cast<unsigned>(isOpen ? parts.size() - 1 : parts.size()));
    parts.push_back(isOpen ? sizes[d - lead] : own[d]);
  }
  if (parts.size() != own.size())
    x = c.reshape(x, parts);
  if (!dims.empty())
    x = sumOf(c, x, dims, true, opmathType(meta.dtype));
  c.setResult(0, c.cast(c.reshape(x, sizes), meta.dtype));
  return success();
}

ArrayRef<LowerRuleRow> selectionBackwardLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("gather_backward.default", gatherBackward),
      anyShape("index_select_backward.default", indexSelectBackward),
      anyShape("sum_to_size.default", sumToSize),
      anyShape("trace_backward.default", traceBackward),
      anyShape("value_selecting_reduction_backward.default", reductionBackward),
  };
  return rows;
}

} // namespace ft
