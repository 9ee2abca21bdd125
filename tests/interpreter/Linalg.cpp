//===- Linalg.cpp - Determinants, LU, systems -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"
#include "tests/interpreter/LinalgCall.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

void ft::interpreter::forEachMatrix(
    Call &call, unsigned i,
    llvm::function_ref<void(const Matrix &, int64_t)> each) {
  openIfNotFinite(call, "a matrix that is not finite");
  const Tensor &a = call.tensor(i);
  for (int64_t k = 0, n = numelOf(batchOf(a)); k < n; ++k)
    each(matrixAt(a, k), k);
}

bool ft::interpreter::flagNamed(const Call &call, llvm::StringRef name,
                                bool otherwise) {
  int i = call.schema.argIndex(name);
  return i < 0 ? otherwise : call.flag(i);
}

void ft::interpreter::noteSingular(Call &call) {
  if (flagNamed(call, "check_errors", true))
    call.refuse("a singular matrix");
  else if (call.left.empty())
    call.leave(0);
}

//===----------------------------------------------------------------------===//
// Determinants
//===----------------------------------------------------------------------===//

namespace {
struct Determinant {
  Complex value = 1, sign = 1;
  double log = 0;

  explicit Determinant(const Matrix &a) {
    LuFactors f = luOf(a);
    for (int64_t k = 0; k < a.rows; ++k) {
      Complex u = f.packed(k, k);
      if (f.pivots[k] != k)
        u = -u;
      value *= u;
      sign *= u == 0.0 ? 0 : u / std::abs(u);
      log += std::log(std::abs(u));
    }
  }
};
} // namespace

/// The factors are of the matrix or of its transpose, by its layout.
static void leaveFactors(Call &call, unsigned from) {
  for (unsigned i = from; i < call.results.size(); ++i)
    call.leave(i);
}

static void det(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    call.out().setComplex(k, Determinant(a).value);
  });
  leaveFactors(call, 1);
}

static void slogdet(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    Determinant d(a);
    call.out(0).setComplex(k, d.sign);
    call.out(1).setReal(k, d.log);
  });
  leaveFactors(call, 2);
}

static void logdet(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    Determinant d(a);
    if (isComplex(call.out().dtype))
      call.out().setComplex(k, std::log(d.sign) + d.log);
    else
      call.out().setReal(k, std::log(d.sign.real()) + d.log);
  });
}

//===----------------------------------------------------------------------===//
// LU
//===----------------------------------------------------------------------===//

static void storePivots(Tensor &out, int64_t which,
                        const std::vector<int64_t> &pivots) {
  int64_t n = pivots.size();
  for (int64_t i = 0; i < n; ++i)
    out.setInteger(which * n + i, pivots[i] + 1);
}

static std::vector<int64_t> pivotsAt(Call &call, const Tensor &t, int64_t which,
                                     int64_t rows) {
  std::vector<int64_t> pivots;
  int64_t n = t.rank() ? t.shape.back() : 0;
  for (int64_t i = 0; i < n; ++i) {
    pivots.push_back(t.integer(which * n + i) - 1);
    if (pivots.back() < i || pivots.back() >= rows) {
      call.refuse("a pivot out of range");
      pivots.back() = i;
    }
  }
  return pivots;
}

/// (A, pivot[, check_errors]) -> LU, pivots[, info]
static void luFactor(Call &call) {
  if (!call.flag(1))
    return call.refuse("LU without pivots is not for the CPU");
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    LuFactors f = luOf(a);
    storeMatrix(call.out(0), k, f.packed);
    storePivots(call.out(1), k, f.pivots);
    if (call.results.size() > 2)
      call.out(2).setInteger(k, f.info);
    if (f.info && flagNamed(call, "check_errors", true))
      call.refuse("a singular matrix");
  });
}

/// The matrix that takes exchanged rows back.
static Matrix permutation(const std::vector<int64_t> &pivots, int64_t n) {
  Matrix p = Matrix::identity(n);
  for (int64_t i = pivots.size(); i-- > 0;)
    p.swapRows(i, pivots[i]);
  return p;
}

static void storeParts(Call &call, int64_t k, const Matrix &packed) {
  int64_t n = std::min(packed.rows, packed.cols);
  storeMatrix(call.out(1), k, packed.top(packed.rows, n).triangle(true, true));
  storeMatrix(call.out(2), k, packed.top(n, packed.cols).triangle(false));
}

/// (A, pivot) -> P, L, U
static void lu(Call &call) {
  if (!call.flag(1))
    return call.refuse("LU without pivots is not for the CPU");
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    LuFactors f = luOf(a);
    storeMatrix(call.out(0), k, permutation(f.pivots, a.rows));
    storeParts(call, k, f.packed);
  });
}

/// (LU, pivots, unpack_data, unpack_pivots) -> P, L, U
static void luUnpack(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &packed, int64_t k) {
    if (call.flag(2))
      storeParts(call, k, packed);
    if (call.flag(3))
      storeMatrix(call.out(0), k,
                  permutation(pivotsAt(call, call.tensor(1), k, packed.rows),
                              packed.rows));
  });
}

//===----------------------------------------------------------------------===//
// Systems
//===----------------------------------------------------------------------===//

void ft::interpreter::solveAll(
    Call &call, System system,
    llvm::function_ref<Matrix(const Matrix &, int64_t)> made) {
  openIfNotFinite(call, "a system that is not finite");
  Shape own = batchOf(system.a);
  Shape batch = broadcastBatch(own, batchOf(system.b));
  forEachIndex(batch, [&](Index index, int64_t which) {
    int64_t at = flattenBroadcast(own, index);
    Matrix a = made(matrixAt(system.a, at), at), b = matrixAt(system.b, index);
    bool isSingular = false;
    Matrix x =
        system.left
            ? solved(a, b, isSingular)
            : solved(a.transpose(), b.transpose(), isSingular).transpose();
    if (isSingular)
      return noteSingular(call);
    storeMatrix(call.out(), which, x);
  });
}

static Matrix same(const Matrix &a, int64_t) { return a; }

/// (A, B, left[, check_errors]) -> X[, LU, pivots][, info]
static void solve(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  bool vectors =
      b.rank() == 1 || (b.rank() + 1 == a.rank() &&
                        Index(b.shape) == Index(a.shape).drop_back());
  Tensor columns = b;
  if (vectors)
    columns.shape.push_back(1);
  solveAll(call, {a, columns, call.flag(2)}, same);
  if (call.results.size() == 1)
    return;
  unsigned last = call.results.size() - 1;
  forEachMatrix(call, 0, [&](const Matrix &m, int64_t k) {
    LuFactors f = luOf(m);
    call.out(last).setInteger(k, f.info);
    if (last == 1)
      return;
    storeMatrix(call.out(1), k, f.packed);
    storePivots(call.out(2), k, f.pivots);
  });
}

/// (A[, check_errors]) -> A⁻¹[, info]
static void inverse(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    bool isSingular = false;
    Matrix x = solved(a, Matrix::identity(a.rows), isSingular);
    if (isSingular)
      noteSingular(call);
    storeMatrix(call.out(), k, x);
    if (call.results.size() > 1)
      call.out(1).setInteger(k, luOf(a).info);
  });
}

static void solveFactored(Call &call, const Tensor &packed,
                          const Tensor &pivots, const Tensor &b, bool left,
                          bool adjoint) {
  solveAll(call, {packed, b, left}, [&](const Matrix &m, int64_t k) {
    Matrix a = unfactored(m, pivotsAt(call, pivots, k, m.rows));
    return adjoint ? a.adjoint() : a;
  });
}

/// (LU, pivots, B, left, adjoint)
static void luSolve(Call &call) {
  solveFactored(call, call.tensor(0), call.tensor(1), call.tensor(2),
                call.flag(3), call.flag(4));
}
/// (B, LU, pivots)
static void oldLuSolve(Call &call) {
  solveFactored(call, call.tensor(1), call.tensor(2), call.tensor(0), true,
                false);
}

/// (A, B, *, upper, left, unitriangular)
static void solveTriangular(Call &call) {
  bool upper = call.flag(2), unit = call.flag(4);
  solveAll(call, {call.tensor(0), call.tensor(1), call.flag(3)},
           [&](const Matrix &m, int64_t) { return m.triangle(!upper, unit); });
}

/// (B, A, upper, transpose, unitriangular) -> X, A
static void oldTriangularSolve(Call &call) {
  bool upper = call.flag(2), transpose = call.flag(3), unit = call.flag(4);
  const Tensor &a = call.tensor(1);
  solveAll(call, {a, call.tensor(0), true}, [&](const Matrix &m, int64_t) {
    Matrix t = m.triangle(!upper, unit);
    return transpose ? t.transpose() : t;
  });
  Tensor &copy = call.out(1);
  forEachIndex(batchOf(copy), [&](Index index, int64_t which) {
    storeMatrix(copy, which, matrixAt(a, index));
  });
}

//===----------------------------------------------------------------------===//
// Tensors as matrices
//===----------------------------------------------------------------------===//

/// (self, ind)
static void tensorInverse(Call &call) {
  const Tensor &a = call.tensor(0);
  int64_t n = numelOf(
      Index(a.shape).take_front(std::min<int64_t>(call.integer(1), a.rank())));
  openIfNotFinite(call, "a matrix that is not finite");
  bool isSingular = false;
  storeMatrix(
      call.out(), 0,
      solved(matrixAt(a.reshaped({n, n}), 0), Matrix::identity(n), isSingular));
  if (isSingular)
    call.refuse("a singular matrix");
}

/// (A, B, dims): `dims` of A go last.
static void tensorSolve(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  openIfNotFinite(call, "a system that is not finite");
  std::vector<int64_t> order, last;
  for (int64_t d : call.integers(2))
    last.push_back(d < 0 ? d + a.rank() : d);
  for (int64_t d = 0; d < a.rank(); ++d)
    if (!llvm::is_contained(last, d))
      order.push_back(d);
  order.insert(order.end(), last.begin(), last.end());
  Shape shape;
  for (int64_t d : order)
    shape.push_back(a.shape[d]);
  Matrix m(b.numel(), b.numel());
  forEachIndex(shape, [&](Index index, int64_t i) {
    Shape at(a.rank());
    for (size_t d = 0; d < at.size(); ++d)
      at[order[d]] = index[d];
    m.data[i] = a.complex(flatten(a.shape, at));
  });
  bool isSingular = false;
  Matrix x = solved(m, matrixAt(b.reshaped({b.numel(), 1}), 0), isSingular);
  if (isSingular)
    call.refuse("a singular matrix");
  storeMatrix(call.out(), 0, x);
}

llvm::ArrayRef<OpRow> ft::interpreter::linalgOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_linalg_det.default", det, Accumulated},
      {"_linalg_slogdet.default", slogdet, Accumulated},
      {"_linalg_solve_ex.default", solve, Accumulated},
      {"_lu_with_info.default", luFactor, Accumulated},
      {"det.default", det, Accumulated},
      {"inverse.default", inverse, Accumulated},
      {"linalg_det.default", det, Accumulated},
      {"linalg_inv.default", inverse, Accumulated},
      {"linalg_inv_ex.default", inverse, Accumulated},
      {"linalg_lu.default", lu, Accumulated},
      {"linalg_lu_factor.default", luFactor, Accumulated},
      {"linalg_lu_factor_ex.default", luFactor, Accumulated},
      {"linalg_lu_solve.default", luSolve, Accumulated},
      {"linalg_slogdet.default", slogdet, Accumulated},
      {"linalg_solve.default", solve, Accumulated},
      {"linalg_solve_ex.default", solve, Accumulated},
      {"linalg_solve_triangular.default", solveTriangular, Accumulated},
      {"linalg_tensorinv.default", tensorInverse, Accumulated},
      {"linalg_tensorsolve.default", tensorSolve, Accumulated},
      {"logdet.default", logdet, Accumulated},
      {"lu_solve.default", oldLuSolve, Accumulated},
      {"lu_unpack.default", luUnpack, Exact},
      {"slogdet.default", slogdet, Accumulated},
      {"triangular_solve.default", oldTriangularSolve, Accumulated},
  };
  return rows;
}
