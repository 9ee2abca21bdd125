//===- LinalgSolve.cpp - Derivatives of systems of equations ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With X = A^-1 B: dX = A^-1 (dB - dA X), so that the gradient of B is
// G = A^-H grad and that of A is -G X^H. Everything here follows from it.

#include "compiler/autograd/rules/LinalgTerms.h"
#include "dialects/ft/Promotion.h"

#include <limits>

namespace ft {

/// The gradients of A and B of A X = B (X A = B): from that of B.
static Term ofMatrix(RuleCall &c, const Term &ofB, const Term &x, bool left) {
  return c.neg(left ? product(c, ofB, c.adjoint(x))
                    : product(c, c.adjoint(x), ofB));
}

static Term luSolve(RuleCall &c, const Term &lu, const Term &pivots,
                    const Term &b, bool left, bool adjoint) {
  return c.call("linalg_lu_solve", {lu, pivots, b, Term(left).named("left"),
                                    Term(adjoint).named("adjoint")});
}

/// (A, B, *, left, check_errors) -> X, LU, pivots, info
static void solveEx(GradCall &g) {
  g.accumulate(
      "A", ofPackedFactors(g, g.result(1), g.result(2), g.gradIfAny(1), true));
  if (g.gradIfAny(0).isZero())
    return;
  Term a = g.arg("A"), b = g.arg("B"), x = g.result(0), grad = g.grad(0);
  bool left = g.arg("left").truth(), vectors = holdsVectors(a, b);
  if (vectors) {
    x = g.call("unsqueeze", {x, -1});
    grad = g.call("unsqueeze", {grad, -1});
  }
  Term ofB = luSolve(g, g.result(1), g.result(2), grad, left, true);
  if (g.needs("A"))
    g.accumulate("A", ofMatrix(g, ofB, x, left));
  if (g.needs("B"))
    g.set("B", vectors ? g.call("squeeze.dim", {ofB, -1}) : ofB);
}

/// (LU, pivots, B, *, left, adjoint), A = P L U. With the gradient of A,
/// dA = P (dL U + L dU).
static void luSolveGradient(GradCall &g) {
  Term lu = g.arg("LU"), pivots = g.arg("pivots"), x = g.result(0);
  bool left = g.arg("left").truth(), adjoint = g.arg("adjoint").truth();
  Term ofB = luSolve(g, lu, pivots, g.grad(), left, !adjoint);
  g.set("B", ofB);
  if (!g.needs("LU"))
    return;
  Term ofA = ofMatrix(g, ofB, x, left);
  if (adjoint)
    ofA = g.adjoint(ofA);
  std::vector<Term> parts = g.callAll("lu_unpack", {lu, pivots});
  if (g.failed())
    return;
  const Term &l = parts[1], &u = parts[2];
  Term permuted = product(g, g.call("transpose", {parts[0], -2, -1}), ofA);
  g.set("LU", g.add(strictLower(g, product(g, permuted, g.adjoint(u))),
                    upperTriangle(g, product(g, g.adjoint(l), permuted))));
}

/// (A, B, *, upper, left, unitriangular)
static void solveTriangular(GradCall &g) {
  Term a = g.arg("self"), x = g.result(0);
  bool upper = g.arg("upper").truth(), left = g.arg("left").truth(),
       unit = g.arg("unitriangular").truth();
  Term ofB = solveTriangle(g, g.adjoint(a), g.grad(), !upper, left, unit);
  g.set("B", ofB);
  if (g.needs("self"))
    g.set("self",
          g.call(upper ? "triu" : "tril",
                 {ofMatrix(g, ofB, x, left), unit ? (upper ? 1 : -1) : 0}));
}

/// (B, A, upper, transpose, unitriangular) -> X, A: op(A) X = B, with the plain
/// transpose, not conjugated.
static void oldTriangularSolve(GradCall &g) {
  Term a = g.arg("A"), grad = g.gradIfAny(0), ofA;
  bool upper = g.arg("upper").truth(), transpose = g.arg("transpose").truth(),
       unit = g.arg("unitriangular").truth();
  if (!grad.isZero()) {
    Term conjugate = g.conj(a);
    // op(A)^H: conj(A) itself where op is the transpose.
    Term matrix =
        transpose ? conjugate : g.call("transpose", {conjugate, -2, -1});
    Term ofB = solveTriangle(g, matrix, grad, upper == transpose, true, unit);
    g.set("self", ofB);
    if (g.needs("A")) {
      ofA = ofMatrix(g, ofB, g.result(0), true);
      if (transpose)
        ofA = g.call("transpose", {ofA, -2, -1});
      ofA = g.call(upper ? "triu" : "tril", {ofA, unit ? (upper ? 1 : -1) : 0});
    }
  }
  g.set("A", g.add(ofA, g.gradIfAny(1)));
}

//===----------------------------------------------------------------------===//
// Determinants
//===----------------------------------------------------------------------===//

/// The factors of a determinant are those of A^T if A is real and row-major, as
/// PyTorch's are.
static bool factorsTransposed(GradCall &g) {
  TensorMeta a = GradCall::meta(g.arg("A"));
  return isContiguous(a) && !isComplex(a.dtype);
}

/// A^-H times a number for each matrix.
static Term adjointInverseTimes(GradCall &g, const Term &factor, const Term &lu,
                                const Term &pivots) {
  Dim n = columnCount(lu);
  Term wide = g.call("unsqueeze", {g.call("unsqueeze", {factor, -1}), -1});
  return luSolve(g, lu, pivots, g.mul(identity(g, n, n, lu), wide), true,
                 !factorsTransposed(g));
}

/// The gradient of A by the way of its factors, which are results of the call.
static Term ofFactors(GradCall &g, const Term &lu, const Term &pivots,
                      const Term &grad) {
  Term ofA = ofPackedFactors(g, lu, pivots, grad, true);
  return ofA.isZero() || !factorsTransposed(g)
             ? ofA
             : g.call("transpose", {ofA, -2, -1});
}

/// A -> det, LU, pivots. d det = det tr(A^-1 dA).
static void det(GradCall &g) {
  Term lu = g.result(1), diagonal = diagonalOf(g, lu);
  // det is 0 where a pivot is: any number there leaves the gradient 0.
  double epsilon = toReal(GradCall::dtype(lu)) == DType::F64
                       ? std::numeric_limits<double>::epsilon()
                       : std::numeric_limits<float>::epsilon();
  Term missing = g.call("masked_fill", {g.call("zeros_like", {diagonal}),
                                        g.call("eq", {diagonal, 0}), epsilon});
  lu = g.add(lu, diagonalMatrix(g, missing));
  g.accumulate("A", ofFactors(g, lu, g.result(2), g.gradIfAny(1)));
  if (!g.gradIfAny(0).isZero())
    g.accumulate("A",
                 adjointInverseTimes(g, g.mul(g.grad(), g.conj(g.result(0))),
                                     lu, g.result(2)));
}

/// A -> sign, log |det|, LU, pivots. d log |det| = Re t and
/// d sign = i sign Im t with t = tr(A^-1 dA).
static void slogdet(GradCall &g) {
  Term sign = g.result(0), factor = g.gradIfAny(1);
  bool isAsked = !factor.isZero() || !g.gradIfAny(0).isZero();
  if (isAsked && GradCall::isComplex(sign)) {
    factor = g.defined(factor, g.result(1));
    Term turn = g.gradIfAny(0);
    Term imag =
        turn.isZero()
            ? g.call("zeros_like", {factor})
            : g.call(
                  "select",
                  {g.call("view_as_real", {g.mul(turn, g.conj(sign))}), -1, 1});
    factor = g.call("complex", {factor, imag});
  }
  g.accumulate("A", ofFactors(g, g.result(2), g.result(3), g.gradIfAny(2)));
  if (!factor.isZero())
    g.accumulate("A", adjointInverseTimes(g, factor, g.result(2), g.result(3)));
}

//===----------------------------------------------------------------------===//
// Least squares
//===----------------------------------------------------------------------===//

/// (A, B, rcond, *, driver) -> X, residuals, rank, singular values. X = P B
/// with the pseudoinverse P; with G = P^H grad and R = B - A X, the gradient
/// of A is -G X^H + R (P G)^H + P^H X (grad - A^H G)^H: the second term where
/// there are more rows than the rank, the third where there are more columns.
static void leastSquares(GradCall &g) {
  Term a = g.arg("self"), b = g.arg("b"), x = g.result(0), grad = g.grad(0);
  Term ofResiduals = g.gradIfAny(1);
  bool vectors = holdsVectors(a, b);
  if (vectors) {
    for (Term *t : {&b, &x, &grad})
      *t = g.call("unsqueeze", {*t, -1});
    if (!ofResiduals.isZero())
      ofResiduals = g.call("unsqueeze", {ofResiduals, -1});
  }
  Term inverse = g.arg("rcond").isNone()
                     ? g.call("linalg_pinv.atol_rtol_float", {a})
                     : g.call("linalg_pinv.atol_rtol_float",
                              {a, g.arg("rcond").named("rtol")});
  Term adjoint = g.adjoint(inverse);
  Term ofB = product(g, adjoint, grad);
  Term rest = g.sub(b, product(g, a, x));
  Term ofA;
  if (g.needs("self")) {
    ofA = ofMatrix(g, ofB, x, true);
    ofA = g.add(ofA, product(g, rest, g.adjoint(product(g, inverse, ofB))));
    Term outside = g.sub(grad, product(g, g.adjoint(a), ofB));
    ofA = g.add(ofA, product(g, product(g, adjoint, x), g.adjoint(outside)));
  }
  // The residuals are sums of |B - A X|^2, and least: dX changes nothing. They
  // are empty where there are none.
  bool hasResiduals = !ofResiduals.isZero() &&
                      llvm::none_of(GradCall::sizes(ofResiduals),
                                    [](const Dim &d) { return d.is(0); });
  if (hasResiduals) {
    Term spread = g.mul(g.mul(rest, 2), g.call("unsqueeze", {ofResiduals, -2}));
    ofB = g.add(ofB, spread);
    if (g.needs("self"))
      ofA = g.sub(ofA, product(g, spread, g.adjoint(x)));
  }
  g.set("self", ofA);
  g.set("b", vectors ? g.call("squeeze.dim", {ofB, -1}) : ofB);
}

/// P of A, of a rank that does not change:
/// dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P.
static void pseudoInverse(GradCall &g) {
  Term a = g.arg(kFirst), p = g.result(0), grad = g.grad();
  Term ph = g.adjoint(p), k = g.adjoint(grad);
  Term inner = g.neg(product(g, product(g, ph, grad), ph));
  Term left = product(g, k, product(g, p, ph));
  left = g.sub(left, product(g, a, product(g, p, left)));
  Term right = product(g, product(g, ph, p), k);
  right = g.sub(right, product(g, product(g, right, p), a));
  g.set(g.schema().args[0].name, g.add(inner, g.add(left, right)));
}

llvm::ArrayRef<DerivativeRow> linalgSolveDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"_linalg_det.default", det},
      {"_linalg_slogdet.default", slogdet},
      {"_linalg_solve_ex.default", solveEx},
      {"linalg_lstsq.default", leastSquares},
      {"linalg_lu_solve.default", luSolveGradient},
      {"linalg_pinv.atol_rtol_float", pseudoInverse},
      {"linalg_pinv.atol_rtol_tensor", pseudoInverse},
      {"linalg_pinv.default", pseudoInverse},
      {"linalg_pinv.rcond_tensor", pseudoInverse},
      {"linalg_solve_triangular.default", solveTriangular},
      {"pinverse.default", pseudoInverse},
      {"triangular_solve.default", oldTriangularSolve},
  };
  return kRows;
}

} // namespace ft
