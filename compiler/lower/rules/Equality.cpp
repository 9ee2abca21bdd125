//===- Equality.cpp - Lowering of questions about whole tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Their answers are numbers that only the run knows (see Sym.cpp).

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/PointwiseBody.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

/// Whether all elements are true; of none they are.
static LogicalResult setAll(LowerCall &c, LoweredTensor truth) {
  LoweredTensor all =
      reduceTo(c, truth, allDims(truth.rank()), false, Start{DType::I8, 0, 1},
               [](ReduceStep &step) {
                 ScalarBuilder &s = step.s;
                 Value bit = s.cast(step.elements[0], DType::Bool, DType::I8);
                 return SmallVector<Value>{arith::AndIOp::create(
                     s.b, s.loc, bit, step.accumulators[0])};
               })[0];
  c.setResult(0, c.cast(all, DType::Bool));
  return success();
}

static LogicalResult equal(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  if (a.dims() != b.dims() && a.isStatic() && b.isStatic()) {
    c.setResult(0, c.filledInt({}, DType::Bool, 0));
    return success();
  }
  if (a.dims() != b.dims())
    return c.unsupported("sizes that may differ at run time");
  FailureOr<LoweredTensor> same = applyFormula(
      c, [](PointwiseBody &p) { return p.eq(p[0], p[1]); }, ComputeIn::Operands,
      a.dims(), DType::Bool);
  return failed(same) ? failure() : setAll(c, *same);
}

/// (self, other, rtol, atol, equal_nan)
static LogicalResult allClose(LowerCall &c) {
  Dims sizes = broadcastDims(c.operand(0).dims(), c.operand(1).dims());
  FailureOr<LoweredTensor> close =
      applyFormula(c, isClose, ComputeIn::Operands, sizes, DType::Bool);
  return failed(close) ? failure() : setAll(c, *close);
}

/// Of the only element.
static LogicalResult isNonzero(LowerCall &c) {
  c.setResult(0, c.cast(c.reshape(c.rowMajor(0), {}), DType::Bool));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("allclose.default", allClose),
    anyShape("equal.default", equal),
    anyShape("is_nonzero.default", isNonzero),
};

ArrayRef<LowerRuleRow> equalityLowerRules() { return kRows; }

} // namespace ft
