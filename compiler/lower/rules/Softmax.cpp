//===- Softmax.cpp - Lowering of softmax and its logarithm -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is read three times: its maximum, the sum of exp(x - max), and the
// result. Everything between is float32 (float64 for float64), rounded once.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Rows.h"

using namespace mlir;

namespace ft {

/// Rows of one element where there is no dim at all.
static LoweredTensor asRows(LowerCall &c, LoweredTensor x) {
  return x.rank() ? x : c.reshape(x, {1});
}

static LoweredTensor like(LowerCall &c, LoweredTensor y) {
  return c.resultMeta(0).rank() ? y : c.reshape(y, {});
}

/// The operand in the result's dtype, as PyTorch converts before it computes.
/// A wider one of at most float32 need not be: the rows compute in float32.
static LoweredTensor widened(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  DType dtype = c.resultMeta(0).dtype;
  bool same = dtype == DType::F32 && opmathType(x.dtype) == DType::F32;
  return same ? x : c.cast(x, dtype);
}

/// (self, dim, dtype or half_to_float): the result's dtype says it all.
static LogicalResult softmax(LowerCall &c) {
  LoweredTensor x = asRows(c, widened(c));
  unsigned dim = LowerCall::wrapDim(c.integer(1), x.rank());
  c.setResult(0, like(c, softmaxRows(c, x, dim, c.resultMeta(0).dtype)));
  return success();
}

/// A row that is all -inf gives zeros.
static LogicalResult safeSoftmax(LowerCall &c) {
  LoweredTensor x = asRows(c, widened(c));
  unsigned dim = LowerCall::wrapDim(c.integer(1), x.rank());
  c.setResult(0, like(c, softmaxRows(c, x, dim, c.resultMeta(0).dtype, true)));
  return success();
}

static LogicalResult logSoftmax(LowerCall &c) {
  LoweredTensor x = asRows(c, widened(c));
  unsigned dim = LowerCall::wrapDim(c.integer(1), x.rank());
  c.setResult(0, like(c, logSoftmaxRows(c, x, dim, c.resultMeta(0).dtype)));
  return success();
}

/// (grad, output, dim, input_dtype):
///   softmax      grad_in = (grad - sum(grad * y)) * y
///   log_softmax  grad_in = grad - exp(y) * sum(grad)
template <bool logarithm>
static LogicalResult backward(LowerCall &c) {
  LoweredTensor grad = asRows(c, widened(c)), y = asRows(c, c.operand(1));
  unsigned dim = LowerCall::wrapDim(c.integer(2), y.rank());
  DType from = grad.dtype, sum = opmathType(from),
        dtype = c.resultMeta(0).dtype;
  DType yType = y.dtype;
  LoweredTensor total = reduceTo(
      c, {grad, y}, dim, true, Start{sum, 0, std::nullopt}, [&](ReduceStep &r) {
        Value g = r.s.cast(r.elements[0], from, sum);
        if (!logarithm)
          g = r.s.mul(g, r.s.cast(r.elements[1], yType, sum));
        return SmallVector<Value>{r.s.add(r.accumulators[0], g)};
      })[0];
  LoweredTensor result =
      c.pointwise({grad, y, total}, grad.dims(), dtype,
                  [&](ScalarBuilder &s, ValueRange v) {
                    Value g = s.cast(v[0], from, sum),
                          out = s.cast(v[1], yType, sum);
                    Value r = logarithm ? s.sub(g, s.mul(s.exp(out), v[2]))
                                        : s.mul(s.sub(g, v[2]), out);
                    return s.cast(r, sum, dtype);
                  });
  c.setResult(0, like(c, result));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_log_softmax.default", logSoftmax),
    anyShape("_log_softmax_backward_data.default", backward<true>),
    anyShape("_safe_softmax.default", safeSoftmax),
    anyShape("_softmax.default", softmax),
    anyShape("_softmax_backward_data.default", backward<false>),
    anyShape("log_softmax.int", logSoftmax),
    anyShape("softmax.int", softmax),
    anyShape("special_log_softmax.default", logSoftmax),
    anyShape("special_softmax.default", softmax),
};

ArrayRef<LowerRuleRow> softmaxLowerRules() { return kRows; }

} // namespace ft
