//===- LinalgSpectral.cpp - Derivatives of eigenvectors & co. --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors are unique up to a phase only, and rotations of vectors with equal
// values: gradients of functions that depend on the choice have no meaning, and
// these formulas are right for all others.

#include "compiler/autograd/rules/LinalgTerms.h"

namespace ft {

/// A V = V L with columns of V of length 1. With C = V^-1 dA V: dL is the
/// diagonal of C, and dV = V (C_ij / (l_j - l_i), i != j), less the part along
/// each vector itself, which its length forbids.
static void eig(GradCall &g) {
  Term values = g.result(0), v = g.result(1), vh = g.adjoint(v);
  Term ofValues = g.gradIfAny(0), ofV = g.gradIfAny(1);
  Term inner = diagonalMatrix(g, ofValues);
  if (!ofV.isZero()) {
    Term w = product(g, vh, ofV);
    Term along = g.real(diagonalOf(g, w));
    w = g.sub(w, scaleColumns(g, product(g, vh, v), along));
    // The diagonal is that of the values.
    w = g.sub(w, diagonalMatrix(g, diagonalOf(g, w)));
    inner = g.add(ratio(g, w, g.conj(gaps(g, values))), inner);
  }
  if (!inner.isZero())
    g.set("self", product(g, solveMatrix(g, vh, inner), vh));
}

/// The same of a Hermitian A, where V^-1 is V^H. What A's triangle says is half
/// of the matrix: the gradient is Hermitian.
static void eigh(GradCall &g) {
  Term values = g.result(0), v = g.result(1), vh = g.adjoint(v);
  Term ofValues = g.gradIfAny(0), ofV = g.gradIfAny(1);
  if (ofV.isZero()) {
    g.set("A", product(g, scaleColumns(g, v, ofValues), vh));
    return;
  }
  Term w = product(g, vh, ofV);
  w = g.sub(w, diagonalMatrix(g, diagonalOf(g, w)));
  Term inner = g.add(ratio(g, w, gaps(g, values)), diagonalMatrix(g, ofValues));
  g.set("A", hermitian(g, product(g, product(g, v, inner), vh)));
}

/// A = U S V^H. With the skew parts u, v of U^H grad U and V^H grad V over
/// s_j^2 - s_i^2:
///
///   U (u S + S v + diag(grad S)) V^H
///   + (I - U U^H) grad U S^-1 V^H + U S^-1 grad V^H (I - V V^H)
///
/// Of complex vectors only the difference of the phases of u_i and v_i is
/// decided: i Im(diagonal of U^H grad U) / S in the middle.
static void svd(GradCall &g) {
  Term u = g.result(0), s = g.result(1), vh = g.result(2);
  Term ofU = g.gradIfAny(0), ofS = g.gradIfAny(1), ofVh = g.gradIfAny(2);
  if (g.arg("full_matrices").truth()) {
    Dim k = columnCount(s);
    u = columns(g, u, 0, k);
    ofU = columns(g, ofU, 0, k);
    vh = rows(g, vh, 0, k);
    ofVh = rows(g, ofVh, 0, k);
  }
  if (ofU.isZero() && ofVh.isZero())
    return g.set("A", product(g, scaleColumns(g, u, ofS), vh));
  Term v = g.adjoint(vh), ofV = adjointOrZero(g, ofVh);
  Term squares = gaps(g, g.mul(s, s));
  Term uu = ofU.isZero() ? Term() : product(g, g.adjoint(u), ofU);
  Term vv = ofV.isZero() ? Term() : product(g, vh, ofV);
  auto rotation = [&](const Term &w) {
    Term turned = skew(g, w);
    if (!turned.isZero() && GradCall::isComplex(turned))
      turned = g.sub(turned, diagonalMatrix(g, diagonalOf(g, turned)));
    return ratio(g, turned, squares);
  };
  Term inner =
      g.add(scaleColumns(g, rotation(uu), s), scaleRows(g, s, rotation(vv)));
  if (!ofS.isZero())
    inner = g.add(inner, diagonalMatrix(g, ofS));
  if (!uu.isZero() && GradCall::isComplex(uu)) {
    // Half of the skew part's diagonal is i times its imaginary part.
    Term phase = g.mul(diagonalOf(g, skew(g, uu)), 0.5);
    inner = g.add(inner, diagonalMatrix(g, ratio(g, phase, s)));
  }
  Term grad = product(g, product(g, u, inner), vh);
  Dim m = rowCount(u), n = columnCount(vh), k = columnCount(s);
  auto over = [&](const Term &w) {
    return ratio(g, w, g.call("unsqueeze", {s, -2}));
  };
  if (!ofU.isZero() && m != k) {
    Term outside = g.sub(ofU, product(g, u, uu));
    grad = g.add(grad, product(g, over(outside), vh));
  }
  if (!ofV.isZero() && n != k) {
    Term outside = g.sub(ofV, product(g, v, vv));
    grad = g.add(grad, product(g, u, g.adjoint(over(outside))));
  }
  g.set("A", grad);
}

/// X with h X + X h = w, of a Hermitian h = V diag(d) V^H.
static Term sylvester(RuleCall &c, const Term &v, const Term &d,
                      const Term &w) {
  Term vh = c.adjoint(v);
  Term inner = product(c, product(c, vh, w), v);
  Term sums = c.add(c.call("unsqueeze", {d, -2}), c.call("unsqueeze", {d, -1}));
  return product(c, product(c, v, ratio(c, inner, sums)), vh);
}

/// Y Y = A, both Hermitian: dY Y + Y dY = dA.
static void squareRoot(GradCall &g) {
  std::vector<Term> e = g.callAll("_linalg_eigh", {g.result(0)});
  if (!g.failed())
    g.set("self", hermitian(g, sylvester(g, e[1], e[0], g.grad())));
}

/// A = U H, H Hermitian, U with orthonormal columns. W = U^H dU is skew and
/// solves W H + H W = U^H dA - dA^H U; dU = U W + (I - U U^H) dA H^-1 and
/// dH = U^H dA - W H.
static void polar(GradCall &g) {
  Term u = g.result(0), h = g.result(1);
  Term ofU = g.gradIfAny(0), ofH = g.gradIfAny(1);
  std::vector<Term> e = g.callAll("_linalg_eigh", {h});
  if (g.failed())
    return;
  Term along = ofU.isZero() ? Term() : product(g, g.adjoint(u), ofU);
  Term ofW = g.sub(along, product(g, ofH, h));
  Term grad = product(g, u, g.add(skew(g, sylvester(g, e[1], e[0], ofW)), ofH));
  if (!ofU.isZero() && rowCount(u) != columnCount(u)) {
    Term outside = g.sub(ofU, product(g, u, along));
    Term scaled =
        g.div(product(g, outside, e[1]), g.call("unsqueeze", {e[0], -2}));
    grad = g.add(grad, product(g, scaled, g.adjoint(e[1])));
  }
  g.set("A", grad);
}

/// The adjoint of dA -> d exp(A) is the same map at A^H: the upper right block
/// of exp([[A^H, grad], [0, A^H]]).
static void matrixExp(GradCall &g) {
  Term ah = g.adjoint(g.arg("self")), grad = g.grad();
  Dim n = columnCount(ah);
  Term zeros = g.call("zeros_like", {ah});
  Term top = g.call("cat", {std::vector<Term>{ah, grad}, -1});
  Term bottom = g.call("cat", {std::vector<Term>{zeros, ah}, -1});
  Term both = g.call("linalg_matrix_exp",
                     {g.call("cat", {std::vector<Term>{top, bottom}, -2})});
  g.set("self", columns(g, rows(g, both, 0, n), n, n));
}

llvm::ArrayRef<DerivativeRow> linalgSpectralDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"_linalg_eigh.default", eigh},
      {"_linalg_svd.default", svd},
      {"linalg_eig.default", eig},
      {"linalg_matrix_exp.default", matrixExp},
      {"linalg_matrix_sqrth.default", squareRoot},
      {"linalg_polar.default", polar},
  };
  return kRows;
}

} // namespace ft
