//===- Attention.cpp - Lowering of scaled dot product attention *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three kernels, each with its own anchor:
//
//   1. scores[…, l, s] = sum_e q[…, l, e] k[…, s, e], then scale and mask
//   2. weights = softmax of each row of scores
//   3. out[…, l, d] = sum_s weights[…, l, s] v[…, s, d]
//
// Query, key and value are read in the order they lie in ([b, s, h, e] behind a
// transpose costs nothing). A row that is masked altogether gives zeros, as
// PyTorch's CPU kernel does. Scores are float32 for 16-bit operands; weights
// are rounded to the operands' dtype before the second product, as there.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Contract.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Rows.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ft {

namespace {

using Ints = Dims;

struct Attention {
  LoweredTensor query, key, value, mask;
  bool causal = false;
  bool grouped = false;
  double scale = 1;
  /// Of the run: scores are also multiplied by 1 / its root.
  Dim headSize = 1;
};

struct AttentionResult {
  LoweredTensor out, weights, logSumExp;
};

} // namespace

/// The index of `t` for the batch position `batch` (one expression for each
/// batch dim of the result): size 1 is broadcast; with grouped heads, several
/// heads of the query share one of the key.
static SmallVector<AffineExpr, 6>
batchIndex(LowerCall &c, const LoweredTensor &t, ArrayRef<AffineExpr> batch,
           ArrayRef<Dim> batchSizes, bool grouped) {
  SmallVector<AffineExpr, 6> index;
  Ints sizes = t.dims();
  size_t own = sizes.size() - 2, skip = batch.size() - own;
  for (size_t i = 0; i < own; ++i) {
    AffineExpr e = batch[skip + i];
    Dim full = batchSizes[skip + i];
    if (sizes[i].is(1) && !full.is(1))
      e = c.constant(0);
    else if (grouped && i + 1 == own && sizes[i] != full)
      e = e.floorDiv(full.value() / sizes[i].value());
    index.push_back(e);
  }
  return index;
}

static Value reciprocalRoot(LowerCall &c, ScalarBuilder &s, Dim size,
                            DType dtype) {
  Value root = s.sqrt(c.sizeIn(s, size, DType::F64));
  return s.cast(s.div(s.one(root), root), DType::F64, dtype);
}

static AttentionResult attend(LowerCall &c, const Attention &a, DType dtype,
                              bool wantLogSumExp) {
  Ints qs = a.query.dims(), ks = a.key.dims(), vs = a.value.dims();
  size_t rank = std::max({qs.size(), ks.size(), vs.size()});
  Ints batchSizes;
  for (size_t i = 0; i + 2 < rank; ++i) {
    Dim size = 1;
    for (const Ints *s : {&qs, &ks, &vs}) {
      size_t skip = rank - s->size();
      if (i < skip)
        continue;
      // Grouped heads differ; they are numbers.
      Dim other = (*s)[i - skip];
      bool larger =
          size.isStatic() && other.isStatic() && size.value() < other.value();
      if (size.is(1) || larger)
        size = other;
    }
    batchSizes.push_back(size);
  }
  auto nBatch = static_cast<unsigned>(batchSizes.size());
  Dim rows = qs[qs.size() - 2], columns = ks[ks.size() - 2];
  SmallVector<AffineExpr, 6> batch;
  for (unsigned i = 0; i < nBatch; ++i)
    batch.push_back(c.dim(i));
  AffineExpr l = c.dim(nBatch), s = c.dim(nBatch + 1), e = c.dim(nBatch + 2);
  SmallVector<Iterator> iterators(nBatch + 3, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  auto access = [&](const LoweredTensor &t, AffineExpr row, AffineExpr column) {
    Access access{t, batchIndex(c, t, batch, batchSizes, a.grouped)};
    access.index.append({row, column});
    return access;
  };

  Ints scoreSizes(batchSizes);
  scoreSizes.append({rows, columns});
  SmallVector<AffineExpr, 6> scoreIndex(batch);
  scoreIndex.append({l, s});
  LoweredTensor scores = contract(c, access(a.query, l, e), access(a.key, s, e),
                                  scoreSizes, scoreIndex, iterators);
  DType sum = scores.dtype;
  scores = mapIndexed(
      c, scores, sum,
      [&](ArrayRef<AffineExpr> index) {
        SmallVector<Access> sides;
        if (!a.mask.value)
          return sides;
        Ints sizes = a.mask.dims();
        size_t skip = index.size() - sizes.size();
        Access side{a.mask, {}};
        for (size_t i = 0; i < sizes.size(); ++i)
          side.index.push_back(sizes[i] == 1 && scoreSizes[skip + i] != 1
                                   ? c.constant(0)
                                   : index[skip + i]);
        sides.push_back(std::move(side));
        return sides;
      },
      [&](ScalarBuilder &b, ValueRange v) {
        Type type = v[0].getType();
        Value x = b.mul(v[0], b.constant(type, a.scale));
        if (!a.headSize.isStatic())
          x = b.mul(x, reciprocalRoot(c, b, a.headSize, sum));
        Value never =
            b.constant(type, -std::numeric_limits<double>::infinity());
        if (a.mask.value && a.mask.dtype == DType::Bool)
          x = b.select(v[1], x, never);
        else if (a.mask.value)
          x = b.add(x, b.cast(v[1], a.mask.dtype, sum));
        if (a.causal)
          x = b.select(b.cmp(ScalarBuilder::Cmp::Le, loopIndex(b, nBatch + 1),
                             loopIndex(b, nBatch)),
                       x, never);
        return x;
      });
  c.newGroup();

  AttentionResult r;
  unsigned last = nBatch + 1;
  r.weights = softmaxRows(c, scores, last, dtype, true);
  if (wantLogSumExp) {
    ExpSum parts = expSum(c, scores, last, InfiniteMax::LowestIsZero);
    r.logSumExp = c.pointwise(
        {parts.max, parts.sum}, parts.sum.dims(), sum,
        [](ScalarBuilder &b, ValueRange v) {
          Value y = b.add(v[0], b.log(v[1]));
          return b.select(b.cmp(ScalarBuilder::Cmp::Eq, v[1], b.zero(y)),
                          b.zero(y), y);
        });
    Ints sizes(batchSizes);
    sizes.push_back(rows);
    r.logSumExp = c.reshape(r.logSumExp, sizes);
  }
  c.newGroup();

  // Iteration dims now: batch, l, d, s.
  AffineExpr d = c.dim(nBatch + 1), inner = c.dim(nBatch + 2);
  Ints outSizes(batchSizes);
  outSizes.append({rows, vs.back()});
  SmallVector<AffineExpr, 6> outIndex(batch);
  outIndex.append({l, d});
  Access weights{r.weights, batch};
  weights.index.append({l, inner});
  // The result lies as the query does, so that heads can be joined for free.
  SmallVector<unsigned, 6> order;
  if (a.query.rank() == rank)
    order = a.query.order;
  LoweredTensor out = contract(c, weights, access(a.value, inner, d), outSizes,
                               outIndex, iterators, order);
  r.out = c.cast(out, dtype);
  return r;
}

/// The arguments that all forms have, by name.
static Attention argsOf(LowerCall &c) {
  const Schema &schema = *c.call().schema;
  Attention a;
  a.query = c.operand(0);
  a.key = c.operand(1);
  a.value = c.operand(2);
  for (const char *name : {"attn_mask", "attn_bias"}) {
    int mask = schema.argIndex(name);
    if (mask >= 0 && !c.isNone(static_cast<unsigned>(mask)))
      a.mask = c.operand(static_cast<unsigned>(mask));
  }
  a.causal = c.call().arg("is_causal").boolean;
  int gqa = schema.argIndex("enable_gqa");
  a.grouped = gqa >= 0 && c.flag(static_cast<unsigned>(gqa));
  int scale = schema.argIndex("scale");
  Dim head = a.query.dims().back();
  if (!c.isNone(static_cast<unsigned>(scale)))
    a.scale = c.number(static_cast<unsigned>(scale));
  else if (head.isStatic())
    a.scale = 1 / std::sqrt(static_cast<double>(head.value()));
  else
    a.headSize = head;
  return a;
}

static LogicalResult noDropout(LowerCall &c) {
  int gqa = c.call().schema->argIndex("enable_gqa");
  if (gqa >= 0 && c.flag(static_cast<unsigned>(gqa)) &&
      !(c.operand(0).dims()[c.operand(0).rank() - 3].isStatic() &&
        c.operand(1).dims()[c.operand(1).rank() - 3].isStatic()))
    return c.unsupported("a number of heads that is only known at run time");
  int dropout = c.call().schema->argIndex("dropout_p");
  if (dropout >= 0 && c.number(static_cast<unsigned>(dropout)) != 0)
    return c.unsupported("attention with dropout");
  return success();
}

static LogicalResult attention(LowerCall &c) {
  if (failed(noDropout(c)))
    return failure();
  DType dtype = c.resultMeta(0).dtype;
  c.setResult(0, attend(c, argsOf(c), dtype, false).out);
  return success();
}

/// Results: output, logsumexp (0 where there is nothing to attend to).
static LogicalResult withLogSumExp(LowerCall &c) {
  if (failed(noDropout(c)))
    return failure();
  AttentionResult r = attend(c, argsOf(c), c.resultMeta(0).dtype, true);
  c.setResult(0, r.out);
  c.setResult(1, c.cast(r.logSumExp, c.resultMeta(1).dtype));
  return success();
}

/// Results: output, weights. This form adds a mask of booleans as numbers.
static LogicalResult withWeights(LowerCall &c) {
  if (failed(noDropout(c)))
    return failure();
  if (!c.isNone(6))
    return c.unsupported("attention with a dropout mask");
  Attention a = argsOf(c);
  if (a.mask.value && a.mask.dtype == DType::Bool)
    a.mask = c.cast(a.mask, opmathType(c.resultMeta(0).dtype));
  AttentionResult r = attend(c, a, c.resultMeta(0).dtype, false);
  c.setResult(0, r.out);
  c.setResult(1, r.weights);
  return success();
}

/// (qkv [B, T, 3 H E], bias, heads) -> query (over sqrt(E)), key, value, each
/// [B, H, T, E].
static LogicalResult splitHeads(LowerCall &c) {
  LoweredTensor x = c.operand(0), bias = c.operand(1);
  DType dtype = x.dtype, work = opmathType(dtype);
  AffineExpr b = c.dim(0), h = c.dim(1), t = c.dim(2), e = c.dim(3);
  for (unsigned r = 0; r < 3; ++r) {
    SmallVector<int64_t, 6> sizes = staticSizes(c.resultMeta(r));
    int64_t width = sizes[3], all = sizes[1] * width;
    double scale = r == 0 ? 1 / std::sqrt(static_cast<double>(width)) : 1;
    AffineExpr from = h * width + e + all * r;
    SmallVector<Iterator> iterators(4, Iterator::Parallel);
    c.setResult(r,
                c.generic({Access{x, {b, t, from}}, Access{bias, {from}}},
                          Access{c.empty(sizes, dtype), {b, h, t, e}},
                          iterators, [&](ScalarBuilder &s, ValueRange v) {
                            Value y = s.add(s.cast(v[0], dtype, work),
                                            s.cast(v[1], bias.dtype, work));
                            y = s.mul(y, s.constant(y.getType(), scale));
                            return SmallVector<Value>{s.cast(y, work, dtype)};
                          })[0]);
  }
  return success();
}

static const LowerRuleRow kRows[] = {
    {"_transform_bias_rescale_qkv.default", splitHeads},
    anyShape("_scaled_dot_product_attention_math.default", withWeights),
    anyShape("_scaled_dot_product_flash_attention_for_cpu.default",
             withLogSumExp),
    anyShape("scaled_dot_product_attention.default", attention),
};

ArrayRef<LowerRuleRow> attentionLowerRules() { return kRows; }

} // namespace ft
