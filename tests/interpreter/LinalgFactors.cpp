//===- LinalgFactors.cpp - Cholesky, QR, LDL ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Families.h"
#include "tests/interpreter/LinalgCall.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

//===----------------------------------------------------------------------===//
// Cholesky
//===----------------------------------------------------------------------===//

/// (A, upper[, check_errors]) -> L[, info]
static void cholesky(Call &call) {
  bool upper = call.flag(1);
  forEachMatrix(call, 0, [&](const Matrix &given, int64_t which) {
    Matrix a = given.mirrored(!upper), l(a.rows, a.cols);
    int64_t info = 0;
    for (int64_t j = 0; j < a.rows && !info; ++j)
      for (int64_t i = j; i < a.rows; ++i) {
        Complex sum = a(i, j);
        for (int64_t k = 0; k < j; ++k)
          sum -= l(i, k) * std::conj(l(j, k));
        if (i > j) {
          l(i, j) = sum / l(j, j);
          continue;
        }
        if (!(sum.real() > 0)) {
          info = j + 1;
          break;
        }
        l(j, j) = std::sqrt(sum.real());
      }
    if (info)
      noteSingular(call);
    storeMatrix(call.out(), which, upper ? l.adjoint() : l);
    if (call.results.size() > 1)
      call.out(1).setInteger(which, info);
  });
}

/// A of its factor, of which one triangle counts.
static Matrix ofFactor(const Matrix &m, bool upper) {
  Matrix l = m.triangle(!upper);
  return upper ? l.adjoint() * l : l * l.adjoint();
}

/// (B, L, upper)
static void choleskySolve(Call &call) {
  solveAll(call, {call.tensor(1), call.tensor(0), true},
           [&](const Matrix &m, int64_t) { return ofFactor(m, call.flag(2)); });
}

/// (L, upper)
static void choleskyInverse(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &m, int64_t k) {
    bool isSingular = false;
    storeMatrix(call.out(), k,
                solved(ofFactor(m, call.flag(1)), Matrix::identity(m.rows),
                       isSingular));
    if (isSingular)
      call.refuse("a singular factor");
  });
}

//===----------------------------------------------------------------------===//
// Reflectors
//===----------------------------------------------------------------------===//

static std::vector<Complex> scalesAt(const Tensor &tau, int64_t which) {
  std::vector<Complex> scales;
  int64_t n = tau.rank() ? tau.shape.back() : 0;
  for (int64_t i = 0; i < n; ++i)
    scales.push_back(tau.complex(which * n + i));
  return scales;
}

static void geqrf(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    QrFactors f = qrOf(a);
    storeMatrix(call.out(0), k, f.packed);
    for (size_t i = 0; i < f.tau.size(); ++i)
      call.out(1).setComplex(k * f.tau.size() + i, f.tau[i]);
  });
}

/// (A, mode) -> Q, R
static void qr(Call &call) {
  llvm::StringRef mode = call.text(1);
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    QrFactors f = qrOf(a);
    int64_t n = mode == "complete" ? a.rows : std::min(a.rows, a.cols);
    storeMatrix(call.out(1), k, f.packed.top(n, a.cols).triangle(false));
    if (mode != "r")
      storeMatrix(call.out(0), k, reflectorsOf(f.packed, f.tau).top(a.rows, n));
  });
}

/// (reflectors, tau)
static void householder(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    storeMatrix(
        call.out(), k,
        reflectorsOf(a, scalesAt(call.tensor(1), k)).top(a.rows, a.cols));
  });
}

/// (reflectors, tau, C, left, transpose)
static void ormqr(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    Matrix q = reflectorsOf(a, scalesAt(call.tensor(1), k));
    if (call.flag(4))
      q = q.adjoint();
    Matrix c = matrixAt(call.tensor(2), k);
    storeMatrix(call.out(), k, call.flag(3) ? q * c : c * q);
  });
}

//===----------------------------------------------------------------------===//
// LDL
//===----------------------------------------------------------------------===//

static void exchange(Matrix &a, int64_t from, int64_t p, int64_t q) {
  for (int64_t k = from; k < a.rows; ++k)
    std::swap(a(p, k), a(q, k));
  for (int64_t k = from; k < a.rows; ++k)
    std::swap(a(k, p), a(k, q));
}

static double largeness(Complex x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

// Bunch and Kaufman's pivots on the whole symmetric matrix: of one row, or of
// two where its diagonal is small. What is left of the matrix is exchanged,
// columns of L that are done are not.
static int64_t ldlOf(Matrix &a, std::vector<int64_t> &pivots, bool hermitian) {
  const double alpha = (1 + std::sqrt(17.)) / 8;
  int64_t n = a.rows, info = 0;
  auto turned = [&](Complex x) { return hermitian ? std::conj(x) : x; };
  pivots.assign(n, 0);
  for (int64_t k = 0, width; k < n; k += width) {
    width = 1;
    int64_t row = k, p = k;
    double below = 0, beside = 0, diagonal = largeness(a(k, k));
    for (int64_t i = k + 1; i < n; ++i)
      if (largeness(a(i, k)) > below) {
        below = largeness(a(i, k));
        row = i;
      }
    if (diagonal == 0 && below == 0) {
      info = info ? info : k + 1;
      pivots[k] = k + 1;
      continue;
    }
    for (int64_t j = k; j < n; ++j)
      if (j != row)
        beside = std::max(beside, largeness(a(row, j)));
    if (diagonal < alpha * below && diagonal * beside < alpha * below * below) {
      p = row;
      width = largeness(a(row, row)) >= alpha * beside ? 1 : 2;
    }
    int64_t with = k + width - 1;
    if (p != with)
      exchange(a, k, with, p);
    // The block's inverse, then L = A D⁻¹ of what is below.
    Matrix d(width, width);
    for (int64_t i = 0; i < width; ++i)
      for (int64_t j = 0; j < width; ++j)
        d(i, j) = a(k + i, k + j);
    Complex det = width == 1 ? d(0, 0) : d(0, 0) * d(1, 1) - d(0, 1) * d(1, 0);
    Matrix adjugate(width, width);
    if (width == 1) {
      adjugate(0, 0) = 1;
    } else {
      adjugate(0, 0) = d(1, 1);
      adjugate(1, 1) = d(0, 0);
      adjugate(0, 1) = -d(0, 1);
      adjugate(1, 0) = -d(1, 0);
    }
    int64_t first = k + width;
    Matrix x(n - first, width);
    for (int64_t i = first; i < n; ++i)
      for (int64_t j = 0; j < width; ++j)
        x(i - first, j) = a(i, k + j);
    Matrix l = x * adjugate;
    for (Complex &number : l.data)
      number /= det;
    for (int64_t i = first; i < n; ++i)
      for (int64_t j = first; j < n; ++j)
        for (int64_t c = 0; c < width; ++c)
          a(i, j) -= x(i - first, c) * turned(l(j - first, c));
    for (int64_t i = first; i < n; ++i)
      for (int64_t c = 0; c < width; ++c)
        a(i, k + c) = l(i - first, c);
    pivots[k] = width == 1 ? p + 1 : -(p + 1);
    if (width == 2)
      pivots[k + 1] = pivots[k];
  }
  return info;
}

static bool isHermitian(Call &call) {
  return flagNamed(call, "hermitian", false) && isComplex(call.tensor(0).dtype);
}

/// (A, *, hermitian[, check_errors]) -> LD, pivots[, info]
static void ldlFactor(Call &call) {
  bool hermitian = isHermitian(call);
  forEachMatrix(call, 0, [&](const Matrix &given, int64_t k) {
    Matrix a = given.mirrored(true, hermitian);
    std::vector<int64_t> pivots;
    int64_t info = ldlOf(a, pivots, hermitian), n = a.rows;
    storeMatrix(call.out(0), k, a.triangle(true));
    for (int64_t i = 0; i < n; ++i)
      call.out(1).setInteger(k * n + i, pivots[i]);
    if (call.results.size() > 2)
      call.out(2).setInteger(k, info);
    if (info && flagNamed(call, "check_errors", true))
      call.refuse("a singular matrix");
  });
}

/// The matrix of the factors, from the last block of D to the first.
static Matrix ofLdl(Call &call, const Matrix &ld,
                    const std::vector<int64_t> &pivots, bool hermitian) {
  int64_t n = ld.rows;
  Matrix a(n, n);
  auto turned = [&](Complex x) { return hermitian ? std::conj(x) : x; };
  for (int64_t k = n, width; k > 0;) {
    width = pivots[k - 1] < 0 ? 2 : 1;
    k -= width;
    int64_t p = std::abs(pivots[std::max<int64_t>(k, 0)]) - 1;
    if (k < 0 || p < k || p >= n ||
        (width == 2 && pivots[k] != pivots[k + 1])) {
      call.refuse("pivots of no factorisation");
      return a;
    }
    Matrix d(width, width);
    for (int64_t i = 0; i < width; ++i)
      for (int64_t j = 0; j < width; ++j)
        d(i, j) = j <= i ? ld(k + i, k + j) : turned(ld(k + j, k + i));
    if (hermitian)
      for (int64_t i = 0; i < width; ++i)
        d(i, i) = d(i, i).real();
    // Columns of L, which are those of the identity within the block.
    auto l = [&](int64_t i, int64_t c) {
      return i < k + width ? Complex(i == k + c) : ld(i, k + c);
    };
    for (int64_t i = k; i < n; ++i)
      for (int64_t j = k; j < n; ++j)
        for (int64_t c = 0; c < width; ++c)
          for (int64_t e = 0; e < width; ++e)
            a(i, j) += l(i, c) * d(c, e) * turned(l(j, e));
    exchange(a, k, k + width - 1, p);
  }
  return a;
}

/// (LD, pivots, B, *, hermitian)
static void ldlSolve(Call &call) {
  bool hermitian = isHermitian(call);
  const Tensor &given = call.tensor(1);
  solveAll(call, {call.tensor(0), call.tensor(2), true},
           [&](const Matrix &ld, int64_t k) {
             std::vector<int64_t> pivots;
             for (int64_t i = 0; i < ld.rows; ++i)
               pivots.push_back(given.integer(k * ld.rows + i));
             return ofLdl(call, ld, pivots, hermitian);
           });
}

llvm::ArrayRef<OpRow> ft::interpreter::linalgFactorsOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_cholesky_solve_helper.default", choleskySolve, Accumulated},
      {"cholesky_inverse.default", choleskyInverse, Accumulated},
      {"cholesky_solve.default", choleskySolve, Accumulated},
      {"geqrf.default", geqrf, Accumulated},
      {"linalg_cholesky.default", cholesky, Accumulated},
      {"linalg_cholesky_ex.default", cholesky, Accumulated},
      {"linalg_householder_product.default", householder, Accumulated},
      {"linalg_ldl_factor.default", ldlFactor, Accumulated},
      {"linalg_ldl_factor_ex.default", ldlFactor, Accumulated},
      {"linalg_ldl_solve.default", ldlSolve, Accumulated},
      {"linalg_qr.default", qr, Accumulated},
      {"orgqr.default", householder, Accumulated},
      {"ormqr.default", ormqr, Accumulated},
  };
  return rows;
}
