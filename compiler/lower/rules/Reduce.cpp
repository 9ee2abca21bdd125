//===- Reduce.cpp - Lowering of reductions ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums accumulate in the opmath dtype of the result (float32 for 16-bit floats,
// int64 for integers, whose sums have that dtype) and are rounded once.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace ft {

/// What a reduction's arguments say: the dims, by the schema's names. Absent
/// arguments mean all dims, and none kept.
struct ReduceArgs {
  SmallVector<unsigned> dims;
  bool keepDim = false;
};

static ReduceArgs argsOf(LowerCall &c) {
  const Schema &schema = *c.call().schema;
  unsigned rank = c.operand(0).rank();
  ReduceArgs r;
  int dim = schema.argIndex("dim"), keep = schema.argIndex("keepdim");
  r.dims = dim < 0 ? allDims(rank)
                   : reducedDims(c, static_cast<unsigned>(dim), rank);
  r.keepDim = keep >= 0 && c.flag(static_cast<unsigned>(keep));
  return r;
}

static LogicalResult set(LowerCall &c, LoweredTensor t) {
  c.setResult(0, c.cast(t, c.resultMeta(0).dtype));
  return success();
}

static DType accumulatorOf(LowerCall &c) {
  return opmathType(c.resultMeta(0).dtype);
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// What is summed or multiplied is first of the result's dtype: 1e6 with
/// dtype=float16 is infinite. (A mean is not.)
static LoweredTensor inResultDType(LowerCall &c) {
  return c.cast(c.operand(0), c.resultMeta(0).dtype);
}

static LogicalResult sum(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  return set(c,
             sumOf(c, inResultDType(c), r.dims, r.keepDim, accumulatorOf(c)));
}

static LogicalResult nansum(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  return set(c, sumOf(c, inResultDType(c), r.dims, r.keepDim, accumulatorOf(c),
                      [](ScalarBuilder &s, Value v) {
                        return s.select(isNan(s, v), s.zero(v), v);
                      }));
}

static LoweredTensor scaled(LowerCall &c, LoweredTensor sums, Dim count,
                            DType dtype) {
  DType from = sums.dtype;
  return c.pointwise(sums, sums.dims(), dtype,
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value by = c.sizeIn(s, count, from);
                       return s.cast(s.div(v[0], by), from, dtype);
                     });
}

/// The mean of nothing is 0 / 0.
static LogicalResult mean(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  LoweredTensor x = c.operand(0);
  LoweredTensor sums = sumOf(c, x, r.dims, r.keepDim, accumulatorOf(c));
  c.setResult(0,
              scaled(c, sums, elementsAlong(x, r.dims), c.resultMeta(0).dtype));
  return success();
}

static LogicalResult nanmean(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  LoweredTensor x = inResultDType(c);
  DType acc = accumulatorOf(c), from = x.dtype, dtype = c.resultMeta(0).dtype;
  Start zero{acc, 0, std::nullopt};
  SmallVector<LoweredTensor> t =
      reduceTo(c, x, r.dims, r.keepDim, {zero, zero}, [&](ReduceStep &step) {
        ScalarBuilder &s = step.s;
        Value v = s.cast(step.elements[0], from, acc), nan = isNan(s, v);
        return SmallVector<Value>{
            s.add(step.accumulators[0], s.select(nan, s.zero(v), v)),
            s.add(step.accumulators[1], s.select(nan, s.zero(v), s.one(v)))};
      });
  c.setResult(0, c.pointwise({t[0], t[1]}, t[0].dims(), dtype,
                             [&](ScalarBuilder &s, ValueRange v) {
                               return s.cast(s.div(v[0], v[1]), acc, dtype);
                             }));
  return success();
}

static LogicalResult prod(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  LoweredTensor x = inResultDType(c);
  DType acc = accumulatorOf(c), from = x.dtype;
  return set(c, reduceTo(c, x, r.dims, r.keepDim, Start{acc, 1, std::nullopt},
                         [&](ReduceStep &step) {
                           Value v = step.s.cast(step.elements[0], from, acc);
                           return SmallVector<Value>{
                               step.s.mul(step.accumulators[0], v)};
                         })[0]);
}

static LogicalResult countNonzero(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  LoweredTensor x = c.operand(0);
  DType from = x.dtype;
  return set(c, reduceTo(c, x, r.dims, false, Start{DType::I64, 0, 0},
                         [&](ReduceStep &step) {
                           Value set =
                               step.s.cast(step.elements[0], from, DType::Bool);
                           Value one =
                               step.s.cast(set, DType::Bool, DType::I64);
                           return SmallVector<Value>{
                               step.s.add(step.accumulators[0], one)};
                         })[0]);
}

/// The sum of the diagonal.
static LogicalResult trace(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  Dims sizes = x.dims();
  Dim n = minDim(sizes[0], sizes[1]);
  x = c.slice(c.slice(x, 0, 0, n), 1, 0, n);
  DType acc = accumulatorOf(c), from = x.dtype;
  AffineExpr d = c.dim(0);
  LoweredTensor y = c.generic(
      Access{x, {d, d}}, Access{c.filled({}, acc, 0), {}}, Iterator::Reduction,
      [&](ScalarBuilder &s, ValueRange v) {
        return SmallVector<Value>{s.add(v[1], s.cast(v[0], from, acc))};
      })[0];
  return set(c, y);
}

//===----------------------------------------------------------------------===//
// Truth
//===----------------------------------------------------------------------===//

/// Reduced as 0 / 1 in a byte, which kernels combine lane by lane.
template <bool wantAll>
static LogicalResult truth(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  // Here, unlike elsewhere, an empty list of dims means none.
  if (c.call().schema->overload == "dims" && !c.isNone(1) &&
      c.call().args[1].list.empty())
    r.dims.clear();
  LoweredTensor x = c.operand(0);
  DType from = x.dtype;
  return set(
      c, reduceTo(c, x, r.dims, r.keepDim, Start{DType::I8, 0, wantAll ? 1 : 0},
                  [&](ReduceStep &step) {
                    ScalarBuilder &s = step.s;
                    Value v = s.cast(step.elements[0], from, DType::Bool);
                    v = s.cast(v, DType::Bool, DType::I8);
                    Value a = step.accumulators[0];
                    return SmallVector<Value>{
                        wantAll
                            ? Value(arith::AndIOp::create(s.b, s.loc, a, v))
                            : Value(arith::OrIOp::create(s.b, s.loc, a, v))};
                  })[0]);
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

static LogicalResult amax(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  return set(c, maxOf(c, c.operand(0), r.dims, r.keepDim));
}

static LogicalResult amin(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  return set(c, minOf(c, c.operand(0), r.dims, r.keepDim));
}

static LogicalResult aminmax(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  c.setResult(0, minOf(c, c.operand(0), r.dims, r.keepDim));
  c.setResult(1, maxOf(c, c.operand(0), r.dims, r.keepDim));
  return success();
}

/// max.other, min.other are maximum and minimum.
template <bool wantMax>
static LogicalResult binary(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  DType left = a.dtype, right = b.dtype, dtype = c.resultMeta(0).dtype;
  c.setResult(0, c.pointwise({a, b}, c.resultMeta(0),
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value x = s.cast(v[0], left, dtype);
                               Value y = s.cast(v[1], right, dtype);
                               return wantMax
                                          ? s.maximum(x, y, isUnsigned(dtype))
                                          : s.minimum(x, y, isUnsigned(dtype));
                             }));
  return success();
}

//===----------------------------------------------------------------------===//
// Variance
//===----------------------------------------------------------------------===//

/// n minus the correction; `unbiased` is a correction of 1.
static double correctionOf(LowerCall &c) {
  const Schema &schema = *c.call().schema;
  int correction = schema.argIndex("correction");
  if (correction >= 0)
    return c.isNone(static_cast<unsigned>(correction))
               ? 1
               : c.number(static_cast<unsigned>(correction));
  int unbiased = schema.argIndex("unbiased");
  return unbiased < 0 || c.flag(static_cast<unsigned>(unbiased)) ? 1 : 0;
}

/// Two passes; the variance of complex numbers is that of their distance. The
/// squares under a root are summed in float64: they may overflow where the root
/// does not, as in PyTorch.
template <bool root, bool withMean>
static LogicalResult variance(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  LoweredTensor x = c.operand(0);
  DType from = x.dtype, acc = opmathType(from);
  DType dtype = c.resultMeta(0).dtype, part = opmathType(dtype);
  DType real = root ? DType::F64 : part;
  Dim count = elementsAlong(x, r.dims);
  double correction = correctionOf(c);

  LoweredTensor mean = scaled(c, sumOf(c, x, r.dims, true, acc), count, acc);
  LoweredTensor squares = reduceTo(
      c, {x, mean}, r.dims, r.keepDim, Start{real, 0, std::nullopt},
      [&](ReduceStep &step) {
        ScalarBuilder &s = step.s;
        Value d = s.sub(s.cast(step.elements[0], from, acc), step.elements[1]);
        auto squared = [&](Value e) {
          e = s.cast(e, part, real);
          return s.mul(e, e);
        };
        Value square;
        if (auto type = dyn_cast<ComplexType>(d.getType())) {
          Value re =
              complex::ReOp::create(s.b, s.loc, type.getElementType(), d);
          Value im =
              complex::ImOp::create(s.b, s.loc, type.getElementType(), d);
          square = s.add(squared(re), squared(im));
        } else {
          square = squared(d);
        }
        return SmallVector<Value>{s.add(step.accumulators[0], square)};
      })[0];
  c.setResult(0, c.pointwise(squares, squares.dims(), dtype,
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value n = c.sizeIn(s, count, real);
                               Type type = n.getType();
                               Value rest =
                                   s.sub(n, s.constant(type, correction));
                               Value y =
                                   s.div(v[0], s.maximum(rest, s.zero(rest)));
                               if (root)
                                 y = s.sqrt(y);
                               return s.cast(y, real, dtype);
                             }));
  if (withMean) {
    const TensorMeta &meta = c.resultMeta(1);
    Dims sizes;
    for (const Dim &d : meta.sizes)
      sizes.push_back(d);
    c.setResult(1, c.cast(c.reshape(mean, sizes), meta.dtype));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

static LogicalResult logsumexp(LowerCall &c) {
  ReduceArgs r = argsOf(c);
  LoweredTensor x = c.operand(0);
  if (isComplex(x.dtype))
    return c.unsupported("complex numbers");
  const TensorMeta &meta = c.resultMeta(0);
  if (!isFloating(x.dtype))
    x = c.cast(x, meta.dtype);
  ExpSum e = expSum(c, x, r.dims, InfiniteMax::IsZero);
  DType sum = e.sum.dtype;
  LoweredTensor y =
      c.pointwise({e.max, e.sum}, e.sum.dims(), meta.dtype,
                  [&](ScalarBuilder &s, ValueRange v) {
                    return s.cast(s.add(s.log(v[1]), v[0]), sum, meta.dtype);
                  });
  Dims sizes;
  for (const Dim &d : meta.sizes)
    sizes.push_back(d);
  c.setResult(0, c.reshape(y, sizes));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_aminmax.default", aminmax),
    anyShape("_aminmax.dim", aminmax),
    anyShape("_is_all_true.default", truth<true>),
    anyShape("_is_any_true.default", truth<false>),
    anyShape("all.default", truth<true>),
    anyShape("all.dim", truth<true>),
    anyShape("all.dims", truth<true>),
    anyShape("amax.default", amax),
    anyShape("amin.default", amin),
    anyShape("aminmax.default", aminmax),
    anyShape("any.default", truth<false>),
    anyShape("any.dim", truth<false>),
    anyShape("any.dims", truth<false>),
    anyShape("count_nonzero.default", countNonzero),
    anyShape("count_nonzero.dim_IntList", countNonzero),
    anyShape("logsumexp.default", logsumexp),
    anyShape("max.default", amax),
    anyShape("max.other", binary<true>),
    anyShape("mean.default", mean),
    anyShape("mean.dim", mean),
    anyShape("min.default", amin),
    anyShape("min.other", binary<false>),
    anyShape("nanmean.default", nanmean),
    anyShape("nansum.default", nansum),
    anyShape("prod.default", prod),
    anyShape("prod.dim_int", prod),
    anyShape("special_logsumexp.default", logsumexp),
    anyShape("std.correction", variance<true, false>),
    anyShape("std.default", variance<true, false>),
    anyShape("std.dim", variance<true, false>),
    anyShape("std_mean.correction", variance<true, true>),
    anyShape("std_mean.default", variance<true, true>),
    anyShape("std_mean.dim", variance<true, true>),
    anyShape("sum.default", sum),
    anyShape("sum.dim_IntList", sum),
    anyShape("trace.default", trace),
    anyShape("var.correction", variance<false, false>),
    anyShape("var.default", variance<false, false>),
    anyShape("var.dim", variance<false, false>),
    anyShape("var_mean.correction", variance<false, true>),
    anyShape("var_mean.default", variance<false, true>),
    anyShape("var_mean.dim", variance<false, true>),
};

ArrayRef<LowerRuleRow> reduceLowerRules() { return kRows; }

} // namespace ft
