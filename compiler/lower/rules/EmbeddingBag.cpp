//===- EmbeddingBag.cpp - Lowering of embedding_bag ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bag b holds the indices from offsets[b] up to offsets[b + 1]. Kernels have no
// loops whose bounds are data, so each bag reads all indices and keeps its own:
//
//   bag[j]    = number of offsets <= j, less one
//   out[b, d] = sum over j with bag[j] = b of weight[index[j], d]
//
// Cost: bags * indices * width, which is the usual cost times the number of
// bags; rows that a bag does not keep are not loaded from afar, as such an
// index is replaced by 0.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

namespace {

using Ints = SmallVector<int64_t, 6>;
using Cmp = ScalarBuilder::Cmp;

enum Mode { Sum = 0, Mean = 1, Max = 2 };

struct Bags {
  LoweredTensor weight, indices, offsets, perSample;
  int64_t mode = Sum, count = 0, paddingIndex = -1;
};

} // namespace

/// bag[j] for each index, as int64.
static LoweredTensor bagOfIndex(LowerCall &c, const Bags &b) {
  int64_t n = b.indices.sizes()[0];
  DType from = b.offsets.dtype;
  LoweredTensor offsets = c.slice(b.offsets, 0, 0, b.count);
  LoweredTensor start = c.filledInt({n}, DType::I64, -1);
  return c.generic(Access{offsets, {c.dim(1)}}, Access{start, {c.dim(0)}},
                   {Iterator::Parallel, Iterator::Reduction},
                   [&](ScalarBuilder &s, ValueRange v) {
                     Value offset = s.cast(v[0], from, DType::I64);
                     Value begun = s.cmp(Cmp::Le, offset, loopIndex(s, 0));
                     Value one = s.cast(begun, DType::Bool, DType::I64);
                     return SmallVector<Value>{s.add(v[1], one)};
                   })[0];
}

/// What both kinds of reductions over the indices of a bag read.
static SmallVector<Access> operandsOf(LowerCall &c, const Bags &b,
                                      const LoweredTensor &bag, AffineExpr j) {
  SmallVector<Access> ins = {{b.indices, {j}}, {bag, {j}}};
  if (b.perSample.value)
    ins.push_back({b.perSample, {j}});
  return ins;
}

/// Whether index j belongs to bag `loop` and is not padding.
static Value belongs(ScalarBuilder &s, const Bags &b, Value index, Value bag,
                     unsigned loop) {
  Value mine = s.cmp(Cmp::Eq, bag, loopIndex(s, loop));
  if (b.paddingIndex < 0)
    return mine;
  Value real =
      s.cmp(Cmp::Ne, index, s.constantInt(index.getType(), b.paddingIndex));
  return arith::AndIOp::create(s.b, s.loc, mine, real);
}

/// How many indices each bag keeps.
static LoweredTensor sizesOfBags(LowerCall &c, const Bags &b,
                                 const LoweredTensor &bag) {
  DType from = b.indices.dtype;
  return c.generic(operandsOf(c, b, bag, c.dim(1)),
                   Access{c.filledInt({b.count}, DType::I64, 0), {c.dim(0)}},
                   {Iterator::Parallel, Iterator::Reduction},
                   [&](ScalarBuilder &s, ValueRange v) {
                     Value index = s.cast(v[0], from, DType::I64);
                     Value kept = belongs(s, b, index, v[1], 0);
                     return SmallVector<Value>{s.add(
                         v.back(), s.cast(kept, DType::Bool, DType::I64))};
                   })[0];
}

static LoweredTensor sums(LowerCall &c, const Bags &b,
                          const LoweredTensor &bag) {
  int64_t width = b.weight.sizes()[1];
  DType from = b.indices.dtype, weight = b.weight.dtype;
  DType sum = opmathType(weight);
  return c.generic(
      operandsOf(c, b, bag, c.dim(2)),
      Access{c.filled({b.count, width}, sum, 0), {c.dim(0), c.dim(1)}},
      {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value index = s.cast(v[0], from, DType::I64);
        Value kept = belongs(s, b, index, v[1], 0);
        index = s.select(kept, index, s.zero(index));
        Value x = s.cast(elementAt(s, b.weight, {index, loopIndex(s, 1)}),
                         weight, sum);
        if (b.perSample.value)
          x = s.mul(x, s.cast(v[2], b.perSample.dtype, sum));
        return SmallVector<Value>{
            s.add(v.back(), s.select(kept, x, s.zero(x)))};
      })[0];
}

/// {maxima, positions j of the first maximum}; empty bags keep the start.
static SmallVector<LoweredTensor> maxima(LowerCall &c, const Bags &b,
                                         const LoweredTensor &bag) {
  int64_t width = b.weight.sizes()[1];
  DType from = b.indices.dtype, weight = b.weight.dtype;
  SmallVector<AffineExpr, 6> at = {c.dim(0), c.dim(1)};
  return c.generic(
      operandsOf(c, b, bag, c.dim(2)),
      {Access{filledWith(c, {b.count, width}, lowestOf(weight)), at},
       Access{filledWith(c, {b.count, width}, highestOf(DType::I64)), at}},
      {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value best = v[v.size() - 2], where = v.back(), j = loopIndex(s, 2);
        Value index = s.cast(v[0], from, DType::I64);
        Value kept = belongs(s, b, index, v[1], 0);
        index = s.select(kept, index, s.zero(index));
        Value x = elementAt(s, b.weight, {index, loopIndex(s, 1)});
        Value first = arith::AndIOp::create(s.b, s.loc, s.cmp(Cmp::Eq, x, best),
                                            s.cmp(Cmp::Lt, j, where));
        Value better =
            arith::OrIOp::create(s.b, s.loc, s.cmp(Cmp::Gt, x, best), first);
        Value take = arith::AndIOp::create(s.b, s.loc, kept, better);
        return SmallVector<Value>{s.select(take, x, best),
                                  s.select(take, j, where)};
      });
}

/// (weight, indices, offsets, scale_grad_by_freq, mode, sparse,
/// per_sample_weights, include_last_offset, padding_idx). Results: bags, bag of
/// each index (empty where PyTorch's kernel needs none), bag sizes, and the
/// indices of maxima. Sizes are 0 for sums, as in PyTorch.
static LogicalResult embeddingBag(LowerCall &c) {
  Bags b;
  b.weight = c.operand(0);
  b.indices = c.operand(1);
  b.offsets = c.operand(2);
  b.mode = c.integer(4);
  if (!c.isNone(6))
    b.perSample = c.operand(6);
  bool hasPadding = c.call().args.size() > 8 && !c.isNone(8);
  int64_t rows = b.weight.sizes()[0];
  if (hasPadding) {
    b.paddingIndex = c.integer(8);
    // Only the form with an optional index counts from the end.
    if (b.paddingIndex < 0 && c.call().schema->overload == "padding_idx")
      b.paddingIndex += rows;
  }
  b.count = c.resultMeta(0).sizes[0].value();
  int64_t n = b.indices.sizes()[0], width = b.weight.sizes()[1];
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  if (n > 0)
    c.checkIndex(b.indices, 0, rows, rows);
  // A bag may start where the indices end: it is empty.
  c.checkIndex(b.offsets, 0, n + 1, n + 1);
  LoweredTensor bag = bagOfIndex(c, b);
  c.newGroup();
  LoweredTensor counts = sizesOfBags(c, b, bag);
  c.newGroup();

  LoweredTensor out, most;
  if (b.mode == Max) {
    SmallVector<LoweredTensor> r = maxima(c, b, bag);
    c.newGroup();
    DType from = b.indices.dtype;
    SmallVector<AffineExpr, 6> at = {c.dim(0), c.dim(1)};
    SmallVector<LoweredTensor> done = c.generic(
        {Access{r[0], at}, Access{r[1], at}},
        {Access{c.empty({b.count, width}, dtype), at},
         Access{c.empty({b.count, width}, DType::I64), at}},
        {Iterator::Parallel, Iterator::Parallel},
        [&](ScalarBuilder &s, ValueRange v) {
          Value none = s.cmp(Cmp::Ge, v[1], s.constantInt(v[1].getType(), n));
          Value at0 = s.select(none, s.zero(v[1]), v[1]);
          Value index =
              n ? s.cast(elementAt(s, b.indices, at0), from, DType::I64)
                : s.zero(at0);
          return SmallVector<Value>{s.select(none, s.zero(v[0]), v[0]),
                                    s.select(none, s.zero(index), index)};
        });
    out = done[0];
    most = done[1];
  } else {
    out = sums(c, b, bag);
    SmallVector<LoweredTensor> ins = {out};
    if (b.mode == Mean)
      ins.push_back(c.reshape(counts, {b.count, 1}));
    out = c.pointwise(ins, {b.count, width}, dtype,
                      [&](ScalarBuilder &s, ValueRange v) {
                        Value y = v[0];
                        if (b.mode == Mean) {
                          Value many = s.maximum(v[1], s.one(v[1]));
                          y = s.div(y, s.cast(many, DType::I64, sum));
                        }
                        return s.cast(y, sum, dtype);
                      });
  }
  c.newGroup();

  DType bagType = c.resultMeta(1).dtype, countType = c.resultMeta(2).dtype;
  LoweredTensor sizes = b.mode == Sum ? c.filledInt({b.count}, countType, 0)
                                      : c.cast(counts, countType);
  c.setResult(0, out);
  c.setResult(1, c.resultMeta(1).numel().is(0) ? c.filled({0}, bagType, 0)
                                               : c.cast(bag, bagType));
  c.setResult(2, sizes);
  if (b.mode == Max)
    c.setResult(3, c.cast(most, c.resultMeta(3).dtype));
  else
    c.setResult(3, c.cast(sizes, c.resultMeta(3).dtype));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"_embedding_bag.default", embeddingBag},
    {"_embedding_bag_forward_only.default", embeddingBag},
    {"embedding_bag.default", embeddingBag},
    {"embedding_bag.padding_idx", embeddingBag},
};

ArrayRef<LowerRuleRow> embeddingBagLowerRules() { return kRows; }

} // namespace ft
