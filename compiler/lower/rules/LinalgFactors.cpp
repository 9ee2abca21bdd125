//===- LinalgFactors.cpp - Triangular, Cholesky and QR ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Linalg.h"
#include "compiler/lower/rules/Scratch.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Triangular systems
//===----------------------------------------------------------------------===//

namespace {
struct Triangle {
  bool upper, left, unit, transpose;
};
} // namespace

static LoweredTensor solveTriangle(LowerCall &c, LoweredTensor a,
                                   LoweredTensor b, Triangle t) {
  Matrices m = matricesOf(dimsOf(c.resultMeta(0)));
  Dim n = t.left ? m.rows : m.cols, rhs = t.left ? m.cols : m.rows;
  return callKernel(
      c, "triangular", {a, b},
      {Arg::truth(t.upper), Arg::truth(t.left), Arg::truth(t.unit),
       Arg::truth(t.transpose)},
      {{m.with({m.rows, m.cols}), a.dtype}},
      scratchFor(m.count, n * n * rhs,
                 ft_scratch_triangular(scratchUnit(a.dtype), n, rhs)))[0];
}

/// (A, B, *, upper, left, unitriangular)
static LogicalResult solveTriangular(LowerCall &c) {
  c.setResult(0, solveTriangle(c, c.operand(0), c.operand(1),
                               {c.flag(2), c.flag(3), c.flag(4), false}));
  return success();
}

/// (B, A, upper, transpose, unitriangular) -> X, A
static LogicalResult oldTriangularSolve(LowerCall &c) {
  c.setResult(0, solveTriangle(c, c.operand(1), c.operand(0),
                               {c.flag(2), true, c.flag(4), c.flag(3)}));
  c.setResult(1, c.expand(c.operand(1), dimsOf(c.resultMeta(1))));
  return success();
}

//===----------------------------------------------------------------------===//
// Cholesky
//===----------------------------------------------------------------------===//

/// (A, upper, check_errors) -> L, info; without the flag, errors are raised.
template <bool HasCheck>
static LogicalResult cholesky(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Matrices m = matricesOf(a.dims());
  Dim n = m.rows;
  setResults(
      c, callKernel(
             c, "cholesky", a,
             {Arg::truth(c.flag(1)), Arg::truth(HasCheck ? c.flag(2) : true)},
             {{a.dims(), a.dtype}, {m.batch, DType::I32}},
             scratchFor(m.count, n * n * n,
                        ft_scratch_cholesky(scratchUnit(a.dtype), n, 0))));
  return success();
}

/// (B, L, upper)
static LogicalResult choleskySolve(LowerCall &c) {
  LoweredTensor b = c.operand(0);
  Matrices m = matricesOf(dimsOf(c.resultMeta(0)));
  setResults(c, callKernel(c, "cholesky_solve", {b, c.operand(1)},
                           Arg::truth(c.flag(2)),
                           {{m.with({m.rows, m.cols}), b.dtype}},
                           scratchFor(m.count, 2 * m.rows * m.rows * m.cols,
                                      ft_scratch_cholesky(scratchUnit(b.dtype),
                                                          m.rows, m.cols))));
  return success();
}

/// (L, upper)
static LogicalResult choleskyInverse(LowerCall &c) {
  LoweredTensor l = c.operand(0);
  Matrices m = matricesOf(l.dims());
  Dim n = m.rows;
  setResults(c, callKernel(c, "cholesky_inverse", l, Arg::truth(c.flag(1)),
                           {{l.dims(), l.dtype}},
                           scratchFor(m.count, 2 * n * n * n,
                                      ft_scratch_cholesky(scratchUnit(l.dtype),
                                                          n, n))));
  return success();
}

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

static KernelScratch qrScratch(const LoweredTensor &a, Dim other) {
  Matrices m = matricesOf(a.dims());
  return scratchFor(m.count, 2 * m.rows * m.cols * (m.cols + other),
                    ft_scratch_qr(scratchUnit(a.dtype), m.rows, m.cols, other));
}

static LogicalResult geqrf(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Matrices m = matricesOf(a.dims());
  setResults(c, callKernel(c, "geqrf", a, {},
                           {{a.dims(), a.dtype},
                            {m.with({minDim(m.rows, m.cols)}), a.dtype}},
                           qrScratch(a, 0)));
  return success();
}

/// (A, mode) -> Q, R
static LogicalResult qr(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Sizes q = dimsOf(c.resultMeta(0)), r = dimsOf(c.resultMeta(1));
  bool absent = c.call().args[1].str == "r";
  Dim cols = absent ? Dim(0) : q.back();
  SmallVector<KernelResult> results;
  // A Q without columns is not asked for either.
  if (!cols.is(0))
    results.push_back({q, a.dtype});
  results.push_back({r, a.dtype});
  auto parts =
      callKernel(c, "qr", a, Arg::integer(cols), results, qrScratch(a, cols));
  c.setResult(0, !cols.is(0) ? parts[0] : c.filled(q, a.dtype, 0));
  c.setResult(1, parts.back());
  return success();
}

/// (reflectors, tau)
static LogicalResult householder(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  setResults(c,
             callKernel(c, "householder", {a, c.operand(1)}, {},
                        {{a.dims(), a.dtype}}, qrScratch(a, a.dims().back())));
  return success();
}

/// (reflectors, tau, C, left, transpose)
static LogicalResult ormqr(LowerCall &c) {
  LoweredTensor a = c.operand(0), other = c.operand(2);
  bool left = c.flag(3);
  Matrices m = matricesOf(other.dims());
  setResults(c, callKernel(c, "ormqr", {a, c.operand(1), other},
                           {Arg::truth(left), Arg::truth(c.flag(4))},
                           {{other.dims(), other.dtype}},
                           qrScratch(a, left ? m.cols : m.rows)));
  return success();
}

//===----------------------------------------------------------------------===//
// Products of vectors
//===----------------------------------------------------------------------===//

/// (a, b, dim), three elements along dim: a_(i+1) b_(i+2) - a_(i+2) b_(i+1).
/// Without a dim it is the first of size 3.
static LogicalResult cross(LowerCall &c) {
  Sizes sizes = dimsOf(c.resultMeta(0)), own = c.operand(0).dims();
  auto rank = static_cast<unsigned>(sizes.size());
  auto dim = static_cast<unsigned>(llvm::find(own, Dim(3)) - own.begin());
  if (!c.isNone(2))
    dim = LowerCall::wrapDim(c.integer(2), rank);
  DType dtype = c.resultMeta(0).dtype;
  LoweredTensor a = c.expand(c.cast(c.operand(0), dtype), sizes);
  LoweredTensor b = c.expand(c.cast(c.operand(1), dtype), sizes);
  c.setResult(
      0, generate(c, sizes, dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        auto read = [&](const LoweredTensor &t, int64_t by) {
          SmallVector<Value> from(at);
          Type type = at[dim].getType();
          Value moved = s.add(at[dim], s.constantInt(type, by));
          Value three = s.constantInt(type, 3);
          from[dim] = s.select(s.cmp(ScalarBuilder::Cmp::Ge, moved, three),
                               s.sub(moved, three), moved);
          return readAt(s, t, from);
        };
        return s.sub(s.mul(read(a, 1), read(b, 2)),
                     s.mul(read(a, 2), read(b, 1)));
      }));
  return success();
}

template <LowerRule Rule>
constexpr LowerRule lapack = fullPrecision<Rule>;

static const LowerRuleRow kRows[] = {
    anyShape("_cholesky_solve_helper.default", lapack<choleskySolve>),
    anyShape("cholesky_inverse.default", lapack<choleskyInverse>),
    anyShape("cholesky_solve.default", lapack<choleskySolve>),
    anyShape("cross.default", cross),
    anyShape("geqrf.default", lapack<geqrf>),
    anyShape("linalg_cholesky.default", lapack<cholesky<false>>),
    anyShape("linalg_cholesky_ex.default", lapack<cholesky<true>>),
    anyShape("linalg_cross.default", cross),
    anyShape("linalg_householder_product.default", lapack<householder>),
    anyShape("linalg_qr.default", lapack<qr>),
    anyShape("linalg_solve_triangular.default", lapack<solveTriangular>),
    anyShape("orgqr.default", lapack<householder>),
    anyShape("ormqr.default", lapack<ormqr>),
    anyShape("triangular_solve.default", lapack<oldTriangularSolve>),
};

ArrayRef<LowerRuleRow> linalgFactorsLowerRules() { return kRows; }

} // namespace ft
