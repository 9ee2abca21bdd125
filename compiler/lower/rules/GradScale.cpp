//===- GradScale.cpp - Lowering of loss scaling ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Training in 16 bits multiplies the loss, and with it all gradients, by a
// scale. Each step divides the gradients by it again, looks whether one is not
// finite, and lets the scale grow after many good steps or shrink after a bad
// one.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

/// A tensor of one element without dims.
static LoweredTensor scalar(LowerCall &c, LoweredTensor t) {
  return t.rank() ? c.reshape(t, {}) : t;
}

/// Neither infinite nor NaN: the difference from itself is 0.
static Value isFinite(ScalarBuilder &s, Value x) {
  return s.cmp(Cmp::Eq, s.sub(x, x), s.zero(x));
}

/// (tensors, found_inf, inv_scale) -> scaled tensors, found_inf: 1 if any
/// element is not finite, else as it was.
static LogicalResult unscale(LowerCall &c) {
  LoweredTensor found = c.operand(1), scale = scalar(c, c.operand(2));
  DType flag = found.dtype;
  SmallVector<LoweredTensor> bad;
  for (auto [i, value] : llvm::enumerate(c.call().tensors(0))) {
    LoweredTensor t = c.operandOf(value);
    DType dtype = t.dtype, work = opmathType(dtype);
    bad.push_back(
        reduceTo(c, t, allDims(t.rank()), false, Start{DType::Bool, 0, 0},
                 [&](ReduceStep &r) {
                   ScalarBuilder &s = r.s;
                   Value good = isFinite(s, s.cast(r.elements[0], dtype, work));
                   Value no = s.constantInt(good.getType(), 0);
                   Value yes = s.constantInt(good.getType(), 1);
                   return SmallVector<Value>{
                       s.add(r.accumulators[0], s.select(good, no, yes))};
                 })[0]);
    c.newGroup();
    c.setResult(static_cast<unsigned>(i),
                c.pointwise({t, scale}, t.dims(), dtype,
                            [&](ScalarBuilder &s, ValueRange v) {
                              Value f = s.cast(v[1], scale.dtype, work);
                              return s.cast(s.mul(s.cast(v[0], dtype, work), f),
                                            work, dtype);
                            }));
  }
  SmallVector<LoweredTensor> all = {found};
  llvm::append_range(all, bad);
  c.setResult(
      c.numResults() - 1,
      c.pointwise(all, found.dims(), flag, [&](ScalarBuilder &s, ValueRange v) {
        Value result = v[0];
        for (Value one : v.drop_front())
          result = s.select(one, s.one(result), result);
        return result;
      }));
  return success();
}

/// (scale, growth_tracker, found_inf, growth, backoff, interval) -> scale,
/// growth_tracker.
static LogicalResult updateScale(LowerCall &c) {
  LoweredTensor scale = c.operand(0), tracker = c.operand(1);
  LoweredTensor found = scalar(c, c.operand(2));
  auto compute = [&](unsigned r) {
    DType dtype = c.resultMeta(r).dtype;
    return c.pointwise(
        {scalar(c, scale), scalar(c, tracker), found}, {}, dtype,
        [&](ScalarBuilder &s, ValueRange v) {
          Value bad = s.cmp(Cmp::Ne, v[2], s.zero(v[2]));
          Value steps = s.add(v[1], s.one(v[1]));
          Value full = s.cmp(Cmp::Eq, steps,
                             s.constantInt(steps.getType(), c.integer(5)));
          if (r == 1)
            return s.select(bad, s.zero(steps),
                            s.select(full, s.zero(steps), steps));
          auto times = [&](double factor) {
            return s.mul(v[0], s.constant(v[0].getType(), factor));
          };
          Value grown = times(c.number(3));
          // A scale that would become infinite stays.
          grown = s.select(isFinite(s, grown), grown, v[0]);
          return s.select(bad, times(c.number(4)), s.select(full, grown, v[0]));
        });
  };
  for (unsigned r : {0U, 1U})
    c.setResult(r, c.reshape(compute(r), dimsOf(c.resultMeta(r))));
  return success();
}

ArrayRef<LowerRuleRow> gradScaleLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("_amp_foreach_non_finite_check_and_unscale.default", unscale),
      anyShape("_amp_update_scale.default", updateScale),
  };
  return rows;
}

} // namespace ft
