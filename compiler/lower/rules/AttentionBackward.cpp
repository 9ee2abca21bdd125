//===- AttentionBackward.cpp - Gradients of attention ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights are computed again from the scores and the kept logsumexp:
//
//   w = exp(scale q k^T + mask - logsumexp)       dv = w^T dout
//   ds = w (dout v^T - rows of sum(dout out))     dq = scale ds k
//                                                 dk = scale ds^T q

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Contract.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Reducing.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ft {

/// (grad_out, query, key, value, out, logsumexp, dropout_p, is_causal,
/// attn_mask, scale), tensors of [batch, heads, length, width].
static LogicalResult flashBackward(LowerCall &c) {
  if (c.number(6) != 0)
    return c.unsupported("attention with dropout");
  LoweredTensor dOut = c.operand(0), q = c.operand(1), k = c.operand(2),
                v = c.operand(3), out = c.operand(4), lse = c.operand(5);
  bool causal = c.flag(7), masked = !c.isNone(8);
  LoweredTensor mask = masked ? c.operand(8) : LoweredTensor();
  Dims sizes = q.dims(), keys = k.dims();
  // Of the run, the root of the head size is divided by.
  bool divides = c.isNone(9) && !sizes[3].isStatic();
  double scale = 1;
  if (!c.isNone(9))
    scale = c.number(9);
  else if (!divides)
    scale = 1 / std::sqrt(static_cast<double>(sizes[3].value()));
  Dim rows = sizes[2], columns = keys[2];
  DType sum = opmathType(q.dtype);

  auto scaled = [&](ScalarBuilder &s, Value x) {
    x = s.mul(x, s.constant(x.getType(), scale));
    if (!divides)
      return x;
    Value root = s.sqrt(c.sizeIn(s, sizes[3], DType::F64));
    return s.mul(x, s.cast(s.div(s.one(root), root), DType::F64, sum));
  };

  AffineExpr n = c.dim(0), h = c.dim(1), i = c.dim(2), j = c.dim(3),
             e = c.dim(4);
  SmallVector<Iterator> iterators(5, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  Dims scoreSizes = {sizes[0], sizes[1], rows, columns};
  auto product = [&](const LoweredTensor &a, const LoweredTensor &b) {
    return contract(c, Access{a, {n, h, i, e}}, Access{b, {n, h, j, e}},
                    scoreSizes, {n, h, i, j}, iterators);
  };
  auto maskAt = [&](ArrayRef<AffineExpr> index) {
    Access side{mask, {}};
    Dims own = mask.dims();
    size_t skip = index.size() - own.size();
    for (size_t d = 0; d < own.size(); ++d)
      side.index.push_back(own[d] == 1 ? c.constant(0) : index[skip + d]);
    return side;
  };

  LoweredTensor scores = product(q, k);
  LoweredTensor weights = mapIndexed(
      c, scores, sum,
      [&](ArrayRef<AffineExpr> index) {
        SmallVector<Access> sides = {{lse, {index[0], index[1], index[2]}}};
        if (masked)
          sides.push_back(maskAt(index));
        return sides;
      },
      [&](ScalarBuilder &s, ValueRange at) {
        Type type = at[0].getType();
        Value x = scaled(s, at[0]);
        Value never =
            s.constant(type, -std::numeric_limits<double>::infinity());
        if (masked && mask.dtype == DType::Bool)
          x = s.select(at[2], x, never);
        else if (masked)
          x = s.add(x, s.cast(at[2], mask.dtype, sum));
        if (causal)
          x = s.select(
              s.cmp(ScalarBuilder::Cmp::Le, loopIndex(s, 3), loopIndex(s, 2)),
              x, never);
        Value y = s.exp(s.sub(x, s.cast(at[1], lse.dtype, sum)));
        // Also in a row that is masked altogether.
        return s.select(s.cmp(ScalarBuilder::Cmp::Eq, x, never), s.zero(y), y);
      });
  c.newGroup();
  LoweredTensor dot =
      sumOf(c,
            c.pointwise({dOut, out}, dOut.dims(), sum,
                        [&](ScalarBuilder &s, ValueRange at) {
                          return s.mul(s.cast(at[0], dOut.dtype, sum),
                                       s.cast(at[1], out.dtype, sum));
                        }),
            3, true, sum);
  c.newGroup();
  LoweredTensor slopes = product(dOut, v);
  c.newGroup();
  LoweredTensor dScores = c.pointwise({weights, slopes, dot}, scoreSizes, sum,
                                      [&](ScalarBuilder &s, ValueRange at) {
                                        Value y =
                                            s.mul(at[0], s.sub(at[1], at[2]));
                                        return scaled(s, y);
                                      });
  c.newGroup();
  // Rounded as the operands are, so that products have one dtype.
  weights = c.cast(weights, q.dtype);
  dScores = c.cast(dScores, q.dtype);
  c.newGroup();

  auto finish = [&](unsigned r, const Access &a, const Access &b) {
    auto own = dimsOf(c.resultMeta(r));
    LoweredTensor y = contract(c, a, b, own, {n, h, i, j}, iterators);
    c.setResult(r, c.cast(y, c.resultMeta(r).dtype));
    c.newGroup();
  };
  finish(0, Access{dScores, {n, h, i, e}}, Access{k, {n, h, e, j}});
  finish(1, Access{dScores, {n, h, e, i}}, Access{q, {n, h, e, j}});
  finish(2, Access{weights, {n, h, e, i}}, Access{dOut, {n, h, e, j}});
  return success();
}

ArrayRef<LowerRuleRow> attentionBackwardLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("_scaled_dot_product_flash_attention_for_cpu_backward.default",
               flashBackward),
  };
  return rows;
}

} // namespace ft
