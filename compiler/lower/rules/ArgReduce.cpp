//===- ArgReduce.cpp - Lowering of reductions with positions ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Value and position are reduced together. Of equal values the first position
// wins, and NaN wins over everything; positions are compared, so that a kernel
// may take the elements in any order.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

/// {values, positions}: along one dim the position in it, along several (all)
/// the position in the flattened tensor.
static SmallVector<LoweredTensor>
extremeWithPosition(LowerCall &c, LoweredTensor x, ArrayRef<unsigned> dims,
                    bool keepDim, bool wantMax) {
  using Cmp = ScalarBuilder::Cmp;
  DType from = x.dtype, dtype = from == DType::Bool ? DType::I8 : from;
  Dims sizes = x.dims();
  SmallVector<LoweredTensor> results = reduceTo(
      c, x, dims, keepDim,
      {wantMax ? lowestOf(dtype) : highestOf(dtype), highestOf(DType::I64)},
      [&](ReduceStep &r) {
        ScalarBuilder &s = r.s;
        Value v = s.cast(r.elements[0], from, dtype);
        Value best = r.accumulators[0], where = r.accumulators[1];
        Value at = s.constantInt(s.b.getI64Type(), 0);
        for (unsigned d : dims)
          at = s.add(s.mul(at, c.sizeIn(s, sizes[d], DType::I64)),
                     r.position(d));
        auto both = [&](Value a, Value b) -> Value {
          return arith::AndIOp::create(s.b, s.loc, a, b);
        };
        auto either = [&](Value a, Value b) -> Value {
          return arith::OrIOp::create(s.b, s.loc, a, b);
        };
        Value earlier = s.cmp(Cmp::Lt, at, where);
        Value better =
            s.cmp(wantMax ? Cmp::Gt : Cmp::Lt, v, best, isUnsigned(dtype));
        Value take = either(better, both(s.cmp(Cmp::Eq, v, best), earlier));
        if (isFloating(dtype)) {
          Value nan = isNan(s, v), bestNan = isNan(s, best);
          Value first = arith::XOrIOp::create(
              s.b, s.loc, bestNan, s.constantInt(s.b.getI1Type(), 1));
          take = either(take, both(nan, either(first, earlier)));
        }
        return SmallVector<Value>{s.select(take, v, best),
                                  s.select(take, at, where)};
      });
  results[0] = c.cast(results[0], from);
  return results;
}

/// argmax, argmin: (self, dim, keepdim), over everything if dim is absent.
template <bool wantMax>
static LogicalResult position(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  SmallVector<unsigned> dims = allDims(x.rank());
  if (!c.isNone(1) && x.rank())
    dims = {LowerCall::wrapDim(c.integer(1), x.rank())};
  LoweredTensor y = extremeWithPosition(c, x, dims, c.flag(2), wantMax)[1];
  c.setResult(0, y);
  return success();
}

/// max.dim, min.dim: (self, dim, keepdim).
template <bool wantMax>
static LogicalResult valueAndPosition(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  SmallVector<unsigned> dims;
  if (x.rank())
    dims = {LowerCall::wrapDim(c.integer(1), x.rank())};
  SmallVector<LoweredTensor> r =
      extremeWithPosition(c, x, dims, c.flag(2), wantMax);
  c.setResult(0, r[0]);
  c.setResult(1, r[1]);
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("argmax.default", position<true>),
    anyShape("argmin.default", position<false>),
    anyShape("max.dim", valueAndPosition<true>),
    anyShape("min.dim", valueAndPosition<false>),
};

ArrayRef<LowerRuleRow> argReduceLowerRules() { return kRows; }

} // namespace ft
