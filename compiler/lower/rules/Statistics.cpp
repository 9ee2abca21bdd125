//===- Statistics.cpp - Covariances and the nuclear norm -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows are variables, columns observations with weights w:
//
//   cov[i, j] = sum over n of w (x_i - mean_i) conj(x_j - mean_j) / divisor

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Linalg.h"
#include "dialects/ft/Promotion.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace ft {

/// [variables, variables] in `acc`; frequencies and weights may be absent.
static LoweredTensor covariance(LowerCall &c, LoweredTensor x, DType acc,
                                double correction, LoweredTensor frequencies,
                                LoweredTensor weights) {
  DType real = toReal(acc), from = x.dtype;
  if (x.rank() < 2)
    x = c.reshape(x, {1, countOf(x, allDims(x.rank()))});
  int64_t variables = x.sizes()[0], count = x.sizes()[1];

  LoweredTensor w = c.filled({1, count}, real, 1);
  for (const LoweredTensor &more : {frequencies, weights})
    if (more.value)
      w = c.pointwise({w, more}, {1, count}, real,
                      [&](ScalarBuilder &s, ValueRange v) {
                        return s.mul(v[0], s.cast(v[1], more.dtype, real));
                      });
  LoweredTensor total = sumOf(c, w, {0, 1}, true, real);
  Start zero{acc, 0, std::nullopt};
  LoweredTensor sums =
      reduceTo(c, {x, w}, {1}, true, zero, [&](ReduceStep &step) {
        ScalarBuilder &s = step.s;
        Value y = s.mul(s.cast(step.elements[0], from, acc),
                        s.cast(step.elements[1], real, acc));
        return SmallVector<Value>{s.add(step.accumulators[0], y)};
      })[0];
  c.newGroup();
  LoweredTensor centred = c.pointwise(
      {x, sums, total}, x.sizes(), acc, [&](ScalarBuilder &s, ValueRange v) {
        Value mean = s.div(v[1], s.cast(v[2], real, acc));
        return s.sub(s.cast(v[0], from, acc), mean);
      });
  c.newGroup();

  LoweredTensor divisor = total;
  LoweredTensor squares;
  if (weights.value && correction != 0)
    squares = sumOf(c,
                    c.pointwise({w, weights}, {1, count}, real,
                                [&](ScalarBuilder &s, ValueRange v) {
                                  return s.mul(
                                      v[0], s.cast(v[1], weights.dtype, real));
                                }),
                    {0, 1}, true, real);
  SmallVector<LoweredTensor> ins = {total};
  if (squares.value)
    ins.push_back(squares);
  if (correction != 0)
    divisor =
        c.pointwise(ins, {1, 1}, real, [&](ScalarBuilder &s, ValueRange v) {
          Value less = s.constant(v[0].getType(), correction);
          if (squares.value)
            less = s.mul(less, s.div(v[1], v[0]));
          Value y = s.sub(v[0], less);
          // NaN stays: max takes it.
          return s.maximum(y, s.zero(y));
        });
  c.newGroup();

  AffineExpr i = c.dim(0), j = c.dim(1), n = c.dim(2);
  LoweredTensor products =
      c.generic({Access{centred, {i, n}}, Access{centred, {j, n}},
                 Access{w, {c.constant(0), n}}},
                Access{c.filled({variables, variables}, acc, 0), {i, j}},
                {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
                [&](ScalarBuilder &s, ValueRange v) {
                  Value other = v[1];
                  if (isComplex(acc))
                    other = complex::ConjOp::create(s.b, s.loc, other);
                  Value y = s.mul(s.mul(v[0], s.cast(v[2], real, acc)), other);
                  return SmallVector<Value>{s.add(v[3], y)};
                })[0];
  c.newGroup();
  return c.pointwise({products, divisor}, products.sizes(), acc,
                     [&](ScalarBuilder &s, ValueRange v) {
                       return s.div(v[0], s.cast(v[1], real, acc));
                     });
}

static LogicalResult setSquare(LowerCall &c, LoweredTensor t) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.cast(c.reshape(t, staticSizes(meta)), meta.dtype));
  return success();
}

/// (self, correction, fweights, aweights)
static LogicalResult cov(LowerCall &c) {
  auto optional = [&](unsigned arg) {
    return c.isNone(arg) ? LoweredTensor() : c.operand(arg);
  };
  DType acc = opmathType(c.resultMeta(0).dtype);
  return setSquare(c, covariance(c, c.operand(0), acc,
                                 static_cast<double>(c.integer(1)), optional(2),
                                 optional(3)));
}

/// cov[i, j] over the deviations of i and j; a single variable has 1. Rounding
/// must not lead outside -1 … 1.
static LogicalResult corrcoef(LowerCall &c) {
  DType acc = opmathType(c.resultMeta(0).dtype), real = toReal(acc);
  LoweredTensor m = covariance(c, c.operand(0), acc, 1, {}, {});
  bool scalar = c.resultMeta(0).rank() == 0;
  c.newGroup();
  AffineExpr i = c.dim(0), j = c.dim(1);
  LoweredTensor y = c.generic(
      {Access{m, {i, j}}, Access{m, {i, i}}, Access{m, {j, j}}},
      Access{c.empty(m.sizes(), acc), {i, j}},
      {Iterator::Parallel, Iterator::Parallel},
      [&](ScalarBuilder &s, ValueRange v) {
        if (scalar)
          return SmallVector<Value>{s.div(v[0], v[0])};
        auto deviation = [&](Value x) {
          return s.cast(s.sqrt(s.cast(x, acc, real)), real, acc);
        };
        Value r = s.div(s.div(v[0], deviation(v[1])), deviation(v[2]));
        auto clip = [&](Value x) {
          Value one = s.one(x);
          return s.minimum(s.maximum(x, s.neg(one)), one);
        };
        if (auto type = dyn_cast<ComplexType>(r.getType())) {
          Type part = type.getElementType();
          Value re = complex::ReOp::create(s.b, s.loc, part, r);
          Value im = complex::ImOp::create(s.b, s.loc, part, r);
          return SmallVector<Value>{
              complex::CreateOp::create(s.b, s.loc, type, clip(re), clip(im))};
        }
        return SmallVector<Value>{clip(r)};
      })[0];
  return setSquare(c, y);
}

/// The sum of the singular values: (self, [dim,] keepdim).
static LogicalResult nuclearNorm(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  const TensorMeta &meta = c.resultMeta(0);
  int dimArg = c.call().schema->argIndex("dim");
  if (dimArg >= 0) {
    SmallVector<unsigned, 6> order, last;
    for (int64_t d : c.integers(static_cast<unsigned>(dimArg)))
      last.push_back(LowerCall::wrapDim(d, x.rank()));
    for (unsigned d = 0; d < x.rank(); ++d)
      if (!llvm::is_contained(last, d))
        order.push_back(d);
    order.append(last.begin(), last.end());
    x = c.permute(x, order);
  }
  LoweredTensor s =
      svdOf(c, x, false, false, isComplex(x.dtype) ? DType::C128 : DType::F64)
          .s;
  LoweredTensor y = sumOf(c, s, s.rank() - 1, false, s.dtype);
  c.setResult(0, c.cast(c.reshape(y, staticSizes(meta)), meta.dtype));
  return success();
}

ArrayRef<LowerRuleRow> statisticsLowerRules() {
  static const LowerRuleRow rows[] = {
      {"corrcoef.default", corrcoef},
      {"cov.default", cov},
      {"nuclear_norm.default", nuclearNorm},
      {"nuclear_norm.dim", nuclearNorm},
  };
  return rows;
}

} // namespace ft
