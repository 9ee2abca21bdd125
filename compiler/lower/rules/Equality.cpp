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
static LoweredTensor allOf(LowerCall &c, LoweredTensor truth) {
  LoweredTensor all =
      reduceTo(c, truth, allDims(truth.rank()), false, Start{DType::I8, 0, 1},
               [](ReduceStep &step) {
                 ScalarBuilder &s = step.s;
                 Value bit = s.cast(step.elements[0], DType::Bool, DType::I8);
                 return SmallVector<Value>{arith::AndIOp::create(
                     s.b, s.loc, bit, step.accumulators[0])};
               })[0];
  return c.cast(all, DType::Bool);
}

/// Whether the run finds two lists of sizes to be equal, a 0-dim bool.
static LoweredTensor sameSizes(LowerCall &c, ArrayRef<Dim> a, ArrayRef<Dim> b) {
  return generate(c, {}, DType::Bool, [&](ScalarBuilder &s, ArrayRef<Value>) {
    Value same = s.constantInt(s.b.getI1Type(), 1);
    for (auto [x, y] : llvm::zip(a, b))
      same = arith::AndIOp::create(s.b, s.loc, same,
                                   s.cmp(ScalarBuilder::Cmp::Eq,
                                         c.sizeIn(s, x, DType::I64),
                                         c.sizeIn(s, y, DType::I64)));
    return same;
  });
}

static LogicalResult equal(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  Dims left = a.dims(), right = b.dims();
  bool differ = left.size() != right.size(), open = false;
  for (size_t d = 0; !differ && d < left.size(); ++d) {
    differ = left[d].isStatic() && right[d].isStatic() && left[d] != right[d];
    open |= !c.surelySame(left[d], right[d]);
  }
  if (differ) {
    c.setResult(0, c.filledInt({}, DType::Bool, 0));
    return success();
  }
  // Of sizes that may differ, what both have is compared, and the sizes.
  for (size_t d = 0; open && d < left.size(); ++d) {
    Dim both = minDim(left[d], right[d]);
    a = c.slice(a, static_cast<unsigned>(d), 0, both);
    b = c.slice(b, static_cast<unsigned>(d), 0, both);
  }
  FailureOr<LoweredTensor> same = applyFormula(
      c, FormulaCall{c.call(), {a, b}},
      [](PointwiseBody &p) { return p.eq(p[0], p[1]); }, ComputeIn::Operands,
      a.dims(), DType::Bool);
  if (failed(same))
    return failure();
  LoweredTensor all = allOf(c, *same);
  if (open)
    all = c.pointwise({all, sameSizes(c, left, right)}, {}, DType::Bool,
                      [](ScalarBuilder &s, ValueRange v) {
                        return arith::AndIOp::create(s.b, s.loc, v[0], v[1]);
                      });
  c.setResult(0, all);
  return success();
}

/// (self, other, rtol, atol, equal_nan)
static LogicalResult allClose(LowerCall &c) {
  Dims sizes = broadcastDims(c.operand(0).dims(), c.operand(1).dims());
  FailureOr<LoweredTensor> close =
      applyFormula(c, isClose, ComputeIn::Operands, sizes, DType::Bool);
  if (failed(close))
    return failure();
  c.setResult(0, allOf(c, *close));
  return success();
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
