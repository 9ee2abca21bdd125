//===- LinalgFactors.cpp - Derivatives of factorizations -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/rules/LinalgTerms.h"

namespace ft {

static bool isEmptyResult(const Term &x) {
  return x.isTensor() && RuleCall::meta(x).numel().is(0);
}

/// The rows and columns of a matrix; fails where they are known in the run
/// only.
static bool staticSizes(RuleCall &c, const Term &a, int64_t &m, int64_t &n) {
  Dim rows = rowCount(a), cols = columnCount(a);
  if (!rows.isStatic() || !cols.isStatic()) {
    c.fail("the sizes of its matrices are only known at run time");
    return false;
  }
  m = rows.value();
  n = cols.value();
  return true;
}

//===----------------------------------------------------------------------===//
// Cholesky
//===----------------------------------------------------------------------===//

/// A = L L^H: dL = L F(L^-1 dA L^-H), where F takes the lower triangle and half
/// of the diagonal. The adjoint of F makes a Hermitian matrix of a triangle.
static void cholesky(GradCall &g) {
  Term l = g.result(0), grad = g.grad(0);
  if (g.arg("upper").truth()) {
    l = g.adjoint(l);
    grad = g.adjoint(grad);
  }
  Term w = product(g, g.adjoint(l), grad);
  Term both = g.add(g.call("tril", {w}), g.adjoint(strictLower(g, w)));
  Term half = solveTriangle(g, g.adjoint(l), both, true, true);
  g.set("self", g.mul(solveTriangle(g, l, half, false, false), 0.5));
}

/// The gradient of L (or of U) from that of A = L L^H (U^H U): dA = dL L^H +
/// L dL^H. Elements of the other triangle, which are not read, are used as they
/// are, as PyTorch does.
static Term ofCholeskyFactor(RuleCall &c, const Term &ofA, const Term &factor,
                             bool upper) {
  Term both = c.add(ofA, c.adjoint(ofA));
  return upper ? product(c, factor, both) : product(c, both, factor);
}

/// (B, L, upper)
static void choleskySolve(GradCall &g) {
  Term l = g.arg("input2"), upper = g.arg("upper");
  Term ofB = g.call("cholesky_solve", {g.grad(), l, upper});
  g.set("self", ofB);
  if (g.needs("input2")) {
    Term ofA = g.neg(product(g, ofB, g.adjoint(g.result(0))));
    g.set("input2", ofCholeskyFactor(g, ofA, l, upper.truth()));
  }
}

/// (L, upper) -> A^-1
static void choleskyInverse(GradCall &g) {
  Term inverse = g.result(0), l = g.arg("self");
  Term ofA = g.neg(product(g, product(g, inverse, g.grad()), inverse));
  g.set("self", ofCholeskyFactor(g, ofA, l, g.arg("upper").truth()));
}

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

/// A = Q R with a square R: (grad Q + Q S) R^-H, where S is Hermitian with the
/// upper triangle of grad R R^H - Q^H grad Q.
static Term tallQr(RuleCall &c, const Term &q, const Term &r, const Term &ofQ,
                   const Term &ofR) {
  Term w = c.sub(product(c, ofR, c.adjoint(r)), product(c, c.adjoint(q), ofQ));
  if (w.isZero())
    return {};
  Term upper = c.call("triu", {w, 1});
  Term diagonal = diagonalMatrix(c, c.real(diagonalOf(c, w)));
  Term s = c.add(c.add(upper, c.adjoint(upper)), diagonal);
  Term sum = c.add(ofQ, product(c, q, s));
  return solveTriangle(c, c.adjoint(r), sum, false, false);
}

/// (A, mode) -> Q, R. Of a wide A = [X | Y], R = [U | V] and Y = Q V: the
/// gradient of Y is Q grad V, and Q has Y (grad V)^H more.
static void qr(GradCall &g) {
  Term q = g.result(0), r = g.result(1);
  Term ofQ = g.gradIfAny(0), ofR = g.gradIfAny(1);
  int64_t m = 0, n = 0;
  if (!staticSizes(g, g.arg("A"), m, n))
    return;
  if (g.arg("mode").text() == "complete" && m > n)
    return g.fail("Q of mode 'complete' has columns that A does not decide");
  if (m >= n)
    return g.set("A", tallQr(g, q, r, ofQ, ofR));
  Term ofV = columns(g, ofR, m, n - m);
  ofQ = g.add(
      ofQ, product(g, columns(g, g.arg("A"), m, n - m), adjointOrZero(g, ofV)));
  Term ofX = tallQr(g, q, columns(g, r, 0, m), ofQ, columns(g, ofR, 0, m));
  Term ofY = product(g, q, g.defined(ofV, columns(g, r, m, n - m)));
  g.set("A", g.call("cat", {std::vector<Term>{ofX, ofY}, -1}));
}

//===----------------------------------------------------------------------===//
// LU
//===----------------------------------------------------------------------===//

/// The gradient of A = L U (A with its rows in the order of the pivots), L
/// m x k and U k x n with k = min(m, n). Square, with dL = L tril(L^-1 dA U^-1)
/// and dU likewise:
///
///   L^-H (strict lower triangle of L^H grad L + upper of grad U U^H) U^-H
///
/// A wide U = [U1 | U2] has U2 = L^-1 A2, a tall L has L2 = A2 U^-1.
static Term luGradient(RuleCall &c, const Term &l, const Term &u, Term ofL,
                       Term ofU, int64_t m, int64_t n) {
  int64_t k = std::min(m, n);
  Term l1 = rows(c, l, 0, k), u1 = columns(c, u, 0, k);
  Term ofRest;
  if (m < n) {
    Term u2 = columns(c, u, k, n - k);
    ofRest = solveTriangle(c, c.adjoint(l1),
                           c.defined(columns(c, ofU, k, n - k), u2), true, true,
                           true);
    ofU = columns(c, ofU, 0, k);
    ofL = c.sub(ofL, product(c, ofRest, c.adjoint(u2)));
  } else if (m > n) {
    Term l2 = rows(c, l, k, m - k);
    ofRest = solveTriangle(c, c.adjoint(u1),
                           c.defined(rows(c, ofL, k, m - k), l2), false, false);
    ofL = rows(c, ofL, 0, k);
    ofU = c.sub(ofU, product(c, c.adjoint(l2), ofRest));
  }
  Term lower = strictLower(c, product(c, c.adjoint(l1), ofL));
  Term upper = upperTriangle(c, product(c, ofU, c.adjoint(u1)));
  Term middle = c.defined(c.add(lower, upper), u1);
  Term square = solveTriangle(
      c, c.adjoint(l1), solveTriangle(c, c.adjoint(u1), middle, false, false),
      true, true, true);
  if (ofRest.isZero())
    return square;
  return c.call("cat", {std::vector<Term>{square, ofRest}, m < n ? -1 : -2});
}

/// (A, *, pivot) -> P, L, U
static void lu(GradCall &g) {
  int64_t m = 0, n = 0;
  if (!staticSizes(g, g.arg("A"), m, n))
    return;
  Term ofA = luGradient(g, g.result(1), g.result(2), g.gradIfAny(1),
                        g.gradIfAny(2), m, n);
  bool pivot = g.arg("pivot").truth() && !isEmptyResult(g.result(0));
  g.set("A", pivot ? product(g, g.result(0), ofA) : ofA);
}

Term ofPackedFactors(RuleCall &c, const Term &packed, const Term &pivots,
                     const Term &grad, bool pivot) {
  int64_t m = 0, n = 0;
  if (grad.isZero() || !staticSizes(c, packed, m, n))
    return {};
  std::vector<Term> parts = c.callAll("lu_unpack", {packed, pivots});
  if (c.failed())
    return {};
  int64_t k = std::min(m, n);
  Term ofA =
      luGradient(c, parts[1], parts[2], strictLower(c, columns(c, grad, 0, k)),
                 upperTriangle(c, rows(c, grad, 0, k)), m, n);
  return pivot ? product(c, parts[0], ofA) : ofA;
}

/// (A, *, pivot, check_errors) -> L and U in one matrix, pivots, info
static void luFactor(GradCall &g) {
  g.set("A", ofPackedFactors(g, g.result(0), g.result(1), g.gradIfAny(0),
                             g.arg("pivot").truth()));
}

/// (LU, pivots, unpack_data, unpack_pivots) -> P, L, U
static void luUnpack(GradCall &g) {
  int64_t m = 0, n = 0;
  if (!staticSizes(g, g.arg("LU_data"), m, n))
    return;
  Term lower = strictLower(g, g.gradIfAny(1));
  Term upper = upperTriangle(g, g.gradIfAny(2));
  // L is m x k, U is k x n.
  if (m < n && !lower.isZero())
    lower = g.call("constant_pad_nd", {lower, std::vector<Term>{0, n - m}});
  if (m > n && !upper.isZero())
    upper =
        g.call("constant_pad_nd", {upper, std::vector<Term>{0, 0, 0, m - n}});
  g.set("LU_data", g.add(lower, upper));
}

llvm::ArrayRef<DerivativeRow> linalgFactorsDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"cholesky_inverse.default", choleskyInverse},
      {"cholesky_solve.default", choleskySolve},
      {"linalg_cholesky_ex.default", cholesky},
      {"linalg_lu.default", lu},
      {"linalg_lu_factor_ex.default", luFactor},
      {"linalg_qr.default", qr},
      {"lu_unpack.default", luUnpack},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// Products of Householder matrices
//===----------------------------------------------------------------------===//

namespace {
/// Q = H_1 ... H_k = I - V T V^H with H_i = I - tau_i v_i v_i^H: v_i is column
/// i of the input below its diagonal, with a 1 on it, and
/// T = (I + D S)^-1 D, D = diag(tau), S the strict upper triangle of V^H V.
/// As k rows of products it would be k calls.
struct Reflections {
  Term v, t;
};
} // namespace

static Reflections reflectionsOf(RuleCall &c, const Term &input,
                                 const Term &tau) {
  Dim m = rowCount(input), k = columnCount(tau);
  Term first = columns(c, input, 0, k);
  Term v = c.add(strictLower(c, first), identity(c, m, k, input));
  Term s = c.call("triu", {product(c, c.adjoint(v), v), 1});
  Term d = diagonalMatrix(c, tau);
  Term matrix = c.add(scaleRows(c, tau, s), identity(c, k, k, input));
  return {v, solveTriangle(c, matrix, d, true, true, true)};
}

/// (input, tau): the first columns of Q, as many as the input has.
static std::vector<Term> householderProduct(RuleCall &c) {
  Term input = c.arg(kFirst), tau = c.arg(1U);
  if (isEmptyResult(input) || isEmptyResult(tau))
    return {};
  Dim m = rowCount(input), n = columnCount(input);
  Reflections r = reflectionsOf(c, input, tau);
  Term top = c.adjoint(rows(c, r.v, 0, n));
  return {
      c.sub(identity(c, m, n, input), product(c, r.v, product(c, r.t, top)))};
}

/// (input, tau, other, left, transpose): Q or Q^H times other, or other times
/// it.
static std::vector<Term> multiplyByQ(RuleCall &c) {
  Term input = c.arg("self"), tau = c.arg("input2"), other = c.arg("input3");
  if (isEmptyResult(input) || isEmptyResult(tau) || isEmptyResult(other))
    return {};
  Reflections r = reflectionsOf(c, input, tau);
  Term t = c.arg("transpose").truth() ? c.adjoint(r.t) : r.t;
  Term vh = c.adjoint(r.v);
  if (c.arg("left").truth())
    return {
        c.sub(other, product(c, r.v, product(c, t, product(c, vh, other))))};
  return {c.sub(other, product(c, product(c, product(c, other, r.v), t), vh))};
}

llvm::ArrayRef<ExpandRow> linalgFactorsExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"linalg_householder_product.default", householderProduct},
      {"orgqr.default", householderProduct},
      {"ormqr.default", multiplyByQ},
  };
  return kRows;
}

} // namespace ft
