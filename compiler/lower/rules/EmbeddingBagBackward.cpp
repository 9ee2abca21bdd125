//===- EmbeddingBagBackward.cpp - Lowering of gradients of bags *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each index adds the gradient of its bag to its row of the weight's gradient.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Segments.h"
#include "compiler/lower/rules/Updates.h"

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

enum Mode { Sum = 0, Mean = 1, Max = 2 };

/// The bag of each of n indices; 0 for one in front of all bags, which the
/// forward operator refuses.
static LoweredTensor bagOfIndex(LowerCall &c, LoweredTensor offsets, Dim n,
                                Dim bags) {
  LoweredTensor bag = segmentsByStart(c, c.slice(offsets, 0, 0, bags), bags, n);
  return c.pointwise(bag, {n}, DType::I64, [](ScalarBuilder &s, ValueRange v) {
    return s.maximum(v[0], s.zero(v[0]));
  });
}

namespace {
/// The gradient of the weight of bags.
struct WeightGradient {
  LoweredTensor grad, indices;
  /// The bag of each index, number of indices of each bag, and of maxima the
  /// row that each element came from.
  LoweredTensor bag, bagSizes, maxima;
  std::optional<LoweredTensor> perSample;
  Dim rows = 0;
  int64_t mode = Sum, padding = -1;
  bool byFrequency = false;
};
} // namespace

/// What each index adds: the gradient of its bag, with its own factor.
static LoweredTensor gradientOfIndices(LowerCall &c, const WeightGradient &w) {
  Dim n = w.indices.dims()[0], width = w.grad.dims()[1];
  DType from = w.grad.dtype, sum = opmathType(from);
  SmallVector<Access> ins = {{w.bag, {c.dim(0)}}};
  if (w.perSample)
    ins.push_back({*w.perSample, {c.dim(0)}});
  return c.generic(
      ins, Access{c.empty({n, width}, sum), {c.dim(0), c.dim(1)}},
      {Iterator::Parallel, Iterator::Parallel},
      [&](ScalarBuilder &s, ValueRange v) {
        Value bag = s.cast(v[0], w.bag.dtype, DType::I64);
        Value g =
            s.cast(elementAt(s, w.grad, {bag, loopIndex(s, 1)}), from, sum);
        if (w.perSample)
          g = s.mul(g, s.cast(v[1], w.perSample->dtype, sum));
        if (w.mode == Mean) {
          Value count =
              s.cast(elementAt(s, w.bagSizes, bag), w.bagSizes.dtype, sum);
          g = s.div(g, s.maximum(count, s.one(count)));
        }
        return SmallVector<Value>{g};
      })[0];
}

static LogicalResult lower(LowerCall &c, const WeightGradient &w) {
  Dim bags = w.grad.dims()[0], width = w.grad.dims()[1];
  Dim n = w.indices.dims()[0];
  DType sum = opmathType(w.grad.dtype), dtype = c.resultMeta(0).dtype;
  Updates u;
  u.fold = Fold::Sum;
  u.sizes = {w.rows, width};
  u.dtype = sum;
  u.loops = 2;
  u.from = {{UpdatePlace::Index, 0}, {UpdatePlace::Loop, 1}};
  if (w.mode == Max) {
    u.values = w.grad;
    u.indices = {w.maxima};
    // Empty bags have no maximum.
    u.mask = c.cast(c.reshape(w.bagSizes, {bags, 1}), DType::Bool);
    c.setResult(0, c.cast(foldUpdates(c, u), dtype));
    return success();
  }
  if (n.is(0) || bags.is(0)) {
    c.setResult(0, c.filled({w.rows, width}, dtype, 0));
    return success();
  }
  u.values = gradientOfIndices(c, w);
  u.indices = {c.reshape(w.indices, {n, 1})};
  if (w.padding >= 0)
    u.skip = w.padding;
  LoweredTensor y = foldUpdates(c, u);
  if (w.byFrequency) {
    u.sizes = {w.rows, 1};
    u.values = c.filled({}, sum, 1);
    y = c.pointwise({y, foldUpdates(c, u)}, {w.rows, width}, sum,
                    [](ScalarBuilder &s, ValueRange v) {
                      return s.div(v[0], s.maximum(v[1], s.one(v[1])));
                    });
  }
  c.setResult(0, c.cast(y, dtype));
  return success();
}

/// (grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights,
/// scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx). The bags
/// are found again, since PyTorch's forward kernel for sums leaves them out.
static LogicalResult backward(LowerCall &c) {
  WeightGradient w;
  w.grad = c.operand(0);
  w.indices = c.operand(1);
  w.bag = bagOfIndex(c, c.operand(2), w.indices.dims()[0], w.grad.dims()[0]);
  w.bagSizes = c.operand(4);
  w.maxima = c.operand(5);
  w.rows = c.dimArg(6);
  w.byFrequency = c.flag(7);
  w.mode = c.integer(8);
  if (!c.isNone(10))
    w.perSample = c.operand(10);
  w.padding = c.integer(11);
  return lower(c, w);
}

/// (grad, indices, offset2bag, bag_size, maximum_indices, num_weights,
/// scale_grad_by_freq, mode, per_sample_weights, padding_idx).
static LogicalResult denseBackward(LowerCall &c) {
  WeightGradient w;
  w.grad = c.operand(0);
  w.indices = c.operand(1);
  w.bag = c.operand(2);
  w.bagSizes = c.operand(3);
  w.maxima = c.operand(4);
  Dim bags = w.grad.dims()[0];
  w.rows = c.dimArg(5);
  w.byFrequency = c.flag(6);
  w.mode = c.integer(7);
  if (!c.isNone(8))
    w.perSample = c.operand(8);
  w.padding = c.integer(9);
  if (w.mode != Max) {
    // PyTorch's forward kernel for sums returns none.
    if (w.bag.dims()[0].is(0) && !w.indices.dims()[0].is(0))
      return c.unsupported("without the bag of each index");
    c.checkIndex(w.bag, 0, bags, bags);
  }
  return lower(c, w);
}

/// (grad, weight, indices, offsets, offset2bag, mode, padding_idx): the dot
/// product of each index's row with its bag's gradient.
static LogicalResult perSampleBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), weight = c.operand(1);
  LoweredTensor indices = c.operand(2);
  Dim n = indices.dims()[0], width = grad.dims()[1];
  Dim rows = weight.dims()[0];
  int64_t padding = c.integer(6);
  DType from = grad.dtype, sum = opmathType(from), indexType = indices.dtype;
  DType dtype = c.resultMeta(0).dtype;
  c.checkIndex(indices, 0, rows, rows);
  LoweredTensor bag = bagOfIndex(c, c.operand(3), n, grad.dims()[0]);
  c.newGroup();
  // An operand that is never read gives the inner loop its extent.
  Access extent{c.empty({width}, dtype), {c.dim(1)}};
  LoweredTensor y = c.generic(
      {Access{indices, {c.dim(0)}}, Access{bag, {c.dim(0)}}, extent},
      Access{c.filled({n}, sum, 0), {c.dim(0)}},
      {Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value index = s.cast(v[0], indexType, DType::I64), d = loopIndex(s, 1);
        Value g = s.cast(elementAt(s, grad, {v[1], d}), from, sum);
        Value w = s.cast(elementAt(s, weight, {index, d}), weight.dtype, sum);
        Value term = s.mul(g, w);
        if (padding >= 0)
          term = s.select(
              s.cmp(Cmp::Ne, index, s.constantInt(index.getType(), padding)),
              term, s.zero(term));
        return SmallVector<Value>{s.add(v[3], term)};
      })[0];
  c.setResult(0, c.cast(y, dtype));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_embedding_bag_backward.default", backward),
    anyShape("_embedding_bag_dense_backward.default", denseBackward),
    anyShape("_embedding_bag_per_sample_weights_backward.default",
             perSampleBackward),
};

ArrayRef<LowerRuleRow> embeddingBagBackwardLowerRules() { return kRows; }

} // namespace ft
