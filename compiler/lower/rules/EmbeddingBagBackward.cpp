//===- EmbeddingBagBackward.cpp - Lowering of gradients of bags *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turned around like a scatter: each row of the weight's gradient visits all
// indices and takes those that name it.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

enum Mode { Sum = 0, Mean = 1, Max = 2 };

/// The bag of each index: the number of offsets up to it, less one.
static LoweredTensor bagOfIndex(LowerCall &c, LoweredTensor offsets, int64_t n,
                                int64_t bags) {
  DType from = offsets.dtype;
  offsets = c.slice(offsets, 0, 0, bags);
  return c.generic(Access{offsets, {c.dim(1)}},
                   Access{c.filledInt({n}, DType::I64, -1), {c.dim(0)}},
                   {Iterator::Parallel, Iterator::Reduction},
                   [&](ScalarBuilder &s, ValueRange v) {
                     Value offset = s.cast(v[0], from, DType::I64);
                     Value begun = s.cmp(Cmp::Le, offset, loopIndex(s, 0));
                     return SmallVector<Value>{
                         s.add(v[1], s.cast(begun, DType::Bool, DType::I64))};
                   })[0];
}

static Value notPadding(ScalarBuilder &s, Value hit, Value index,
                        int64_t padding) {
  if (padding < 0)
    return hit;
  Value real = s.cmp(Cmp::Ne, index, s.constantInt(index.getType(), padding));
  return arith::AndIOp::create(s.b, s.loc, hit, real);
}

/// (grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights,
/// scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx).
static LogicalResult backward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), indices = c.operand(1);
  int64_t rows = c.integer(6), mode = c.integer(8), padding = c.integer(11);
  int64_t bags = grad.sizes()[0], width = grad.sizes()[1];
  int64_t n = indices.sizes()[0];
  DType from = grad.dtype, sum = opmathType(from), indexType = indices.dtype;
  DType dtype = c.resultMeta(0).dtype;
  AffineExpr v0 = c.dim(0), d = c.dim(1), j = c.dim(2);
  SmallVector<AffineExpr, 6> out = {v0, d};
  SmallVector<Iterator> iterators = {Iterator::Parallel, Iterator::Parallel,
                                     Iterator::Reduction};
  if (mode == Max) {
    // maximum_indices[bag, d] is the row that the gradient belongs to.
    LoweredTensor most = c.operand(5);
    DType mostType = most.dtype;
    LoweredTensor y = c.generic(
        {Access{grad, {j, d}}, Access{most, {j, d}}},
        Access{c.filled({rows, width}, sum, 0), out}, iterators,
        [&](ScalarBuilder &s, ValueRange v) {
          Value row = s.cast(v[1], mostType, DType::I64);
          Value hit = s.cmp(Cmp::Eq, row, loopIndex(s, 0));
          Value g = s.cast(v[0], from, sum);
          return SmallVector<Value>{s.add(v[2], s.select(hit, g, s.zero(g)))};
        })[0];
    c.setResult(0, c.cast(y, dtype));
    return success();
  }
  LoweredTensor bag = bagOfIndex(c, c.operand(2), n, bags);
  c.newGroup();
  LoweredTensor sizes = c.operand(4);
  bool weighted = !c.isNone(10), byFrequency = c.flag(7);
  SmallVector<Access> ins = {{indices, {j}}, {bag, {j}}};
  if (weighted)
    ins.push_back({c.operand(10), {j}});
  SmallVector<Access> outs = {{c.filled({rows, width}, sum, 0), out},
                              {c.filled({rows, width}, sum, 0), out}};
  SmallVector<LoweredTensor> r =
      c.generic(ins, outs, iterators, [&](ScalarBuilder &s, ValueRange v) {
        Value index = s.cast(v[0], indexType, DType::I64);
        Value hit = s.cmp(Cmp::Eq, index, loopIndex(s, 0));
        hit = notPadding(s, hit, index, padding);
        Value g =
            s.cast(elementAt(s, grad, {v[1], loopIndex(s, 1)}), from, sum);
        if (weighted)
          g = s.mul(g, s.cast(v[2], c.operand(10).dtype, sum));
        if (mode == Mean) {
          Value count = s.cast(elementAt(s, sizes, v[1]), sizes.dtype, sum);
          g = s.div(g, s.maximum(count, s.one(count)));
        }
        size_t a = v.size() - 2;
        return SmallVector<Value>{
            s.add(v[a], s.select(hit, g, s.zero(g))),
            s.add(v[a + 1], s.select(hit, s.one(g), s.zero(g)))};
      });
  c.setResult(0, c.pointwise({r[0], r[1]}, {rows, width}, dtype,
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value y = v[0];
                               if (byFrequency)
                                 y = s.div(y, s.maximum(v[1], s.one(v[1])));
                               return s.cast(y, sum, dtype);
                             }));
  return success();
}

/// (grad, weight, indices, offsets, offset2bag, mode, padding_idx): the dot
/// product of each index's row with its bag's gradient.
static LogicalResult perSampleBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), weight = c.operand(1);
  LoweredTensor indices = c.operand(2);
  int64_t n = indices.sizes()[0], width = grad.sizes()[1];
  int64_t rows = weight.sizes()[0], padding = c.integer(6);
  DType from = grad.dtype, sum = opmathType(from), indexType = indices.dtype;
  DType dtype = c.resultMeta(0).dtype;
  c.checkIndex(indices, 0, rows, rows);
  LoweredTensor bag = bagOfIndex(c, c.operand(3), n, grad.sizes()[0]);
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
    {"_embedding_bag_backward.default", backward},
    {"_embedding_bag_per_sample_weights_backward.default", perSampleBackward},
};

ArrayRef<LowerRuleRow> embeddingBagBackwardLowerRules() { return kRows; }

} // namespace ft
