//===- LeastSquares.cpp - Lowering of linalg_lstsq ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// X = A⁺ B by the singular values of A, in double precision, for every driver:
// the smallest of all X for which |A X - B| is smallest. LAPACK's drivers find
// it in other ways; `gels` takes A to be of full rank. Where A is not, gelsd
// and gelss return no residuals in PyTorch. Their size would depend on data:
// the annotations have them, and they are those of the smallest X.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Linalg.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace ft {

/// Of each column, the sum of |A X - B|².
static LoweredTensor residualsOf(LowerCall &c, LoweredTensor ax,
                                 LoweredTensor b) {
  DType dtype = b.dtype;
  LoweredTensor squares =
      c.pointwise({ax, b}, b.dims(), DType::F64,
                  [&](ScalarBuilder &s, ValueRange v) -> Value {
                    Value d = s.sub(v[0], v[1]);
                    if (!isComplex(dtype))
                      return s.mul(d, d);
                    Type part = s.b.getF64Type();
                    Value re = complex::ReOp::create(s.b, s.loc, part, d);
                    Value im = complex::ImOp::create(s.b, s.loc, part, d);
                    return s.add(s.mul(re, re), s.mul(im, im));
                  });
  return sumOf(c, squares, b.rank() - 2, false, DType::F64);
}

static LogicalResult leastSquares(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  Sizes solution = dimsOf(c.resultMeta(0));
  DType work = isComplex(a.dtype) ? DType::C128 : DType::F64;
  bool vectors = b.rank() < a.rank();
  if (vectors) {
    Sizes columns = b.dims();
    columns.push_back(1);
    b = c.reshape(c.toRowMajor(b), columns);
  }
  b = c.cast(b, work);
  bool gels = !c.isNone(3) && c.call().args[3].str == "gels";
  auto zeros = [&](unsigned r) {
    const TensorMeta &meta = c.resultMeta(r);
    return c.filledInt(dimsOf(meta), meta.dtype, 0);
  };
  auto asked = [&](unsigned r) { return !c.resultMeta(r).numel().is(0); };
  if (hasNoElements(a.dims())) {
    for (unsigned r : {0U, 1U, 2U, 3U})
      c.setResult(r, zeros(r));
    // Without columns all of B is left over; `gels` returns without a look.
    if (asked(1) && !gels)
      c.setResult(1, c.cast(residualsOf(c, c.filledInt(b.dims(), work, 0), b),
                            c.resultMeta(1).dtype));
    return success();
  }
  std::optional<double> rtol;
  if (!c.isNone(2))
    rtol = c.number(2);
  PseudoInverse p = pseudoInverseOf(c, a, rtol);
  LoweredTensor x = productOf(c, p.inverse, b);
  c.setResult(0, c.reshape(c.toRowMajor(c.cast(x, a.dtype)), solution));
  c.setResult(1, zeros(1));
  if (asked(1)) {
    LoweredTensor left = residualsOf(c, productOf(c, c.cast(a, work), x), b);
    c.setResult(1, c.cast(left, c.resultMeta(1).dtype));
  }
  c.setResult(2, gels ? zeros(2) : p.rank);
  c.setResult(3, asked(3) ? c.cast(p.values, c.resultMeta(3).dtype) : zeros(3));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("linalg_lstsq.default", fullPrecision<leastSquares>),
};

ArrayRef<LowerRuleRow> leastSquaresLowerRules() { return kRows; }

} // namespace ft
