//===- Linalg.cpp - Lowering of LU and what it solves ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solvers and determinants are one kernel each, which keeps float64 between
// factoring and solving; a factorisation of its own rounds what it returns.

#include "compiler/lower/rules/Linalg.h"

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Scratch.h"
#include "dialects/ft/Promotion.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Matrices of a batch
//===----------------------------------------------------------------------===//

Matrices matricesOf(ArrayRef<Dim> sizes) {
  Matrices m;
  m.batch.assign(sizes.begin(), sizes.end() - 2);
  m.rows = sizes[sizes.size() - 2];
  m.cols = sizes.back();
  m.count = product(m.batch);
  return m;
}

Sizes Matrices::with(std::initializer_list<Dim> more) const {
  Sizes sizes = batch;
  sizes.append(more.begin(), more.end());
  return sizes;
}

LoweredTensor adjointOf(LowerCall &c, LoweredTensor t) {
  SmallVector<unsigned, 6> dims = identityOrder(t.rank());
  std::swap(dims[t.rank() - 2], dims[t.rank() - 1]);
  t = c.permute(t, dims);
  if (!isComplex(t.dtype))
    return t;
  return c.pointwise(t, t.dims(), t.dtype, [](ScalarBuilder &s, ValueRange v) {
    return complex::ConjOp::create(s.b, s.loc, v[0]);
  });
}

LoweredTensor transposeOf(LowerCall &c, LoweredTensor t) {
  SmallVector<unsigned, 6> dims = identityOrder(t.rank());
  std::swap(dims[t.rank() - 2], dims[t.rank() - 1]);
  return c.permute(t, dims);
}

bool hasKernels(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64 || dtype == DType::C64 ||
         dtype == DType::C128;
}

void setResults(LowerCall &c, ArrayRef<LoweredTensor> results) {
  for (auto [i, result] : llvm::enumerate(results))
    if (i < c.numResults())
      c.setResult(static_cast<unsigned>(i), result);
}

//===----------------------------------------------------------------------===//
// LU
//===----------------------------------------------------------------------===//

static SmallVector<LoweredTensor> luOf(LowerCall &c, LoweredTensor a,
                                       bool check) {
  Matrices m = matricesOf(a.dims());
  Dim k = minDim(m.rows, m.cols);
  Dim bytes = ft_scratch_lu(scratchUnit(a.dtype), m.rows, m.cols, 0);
  return callKernel(
      c, "lu", a, Arg::truth(check),
      {{a.dims(), a.dtype}, {m.with({k}), DType::I32}, {m.batch, DType::I32}},
      scratchFor(m.count, m.rows * m.cols * k, bytes));
}

/// (A, pivot, check_errors): LU without pivots is CUDA's.
template <bool HasCheck>
static LogicalResult luFactor(LowerCall &c) {
  if (!c.flag(1))
    return c.unsupported("LU without pivoting is not implemented on the CPU");
  setResults(c, luOf(c, c.operand(0), HasCheck ? c.flag(2) : true));
  return success();
}

/// L, U: the parts of LU below and above the diagonal.
static LoweredTensor part(LowerCall &c, LoweredTensor lu, bool lower) {
  Matrices m = matricesOf(lu.dims());
  Dim k = minDim(m.rows, m.cols);
  unsigned rank = lu.rank();
  lu = lower ? c.slice(lu, rank - 1, 0, k) : c.slice(lu, rank - 2, 0, k);
  return triangleOf(c, lu, lower, /*unit=*/lower);
}

LoweredTensor triangleOf(LowerCall &c, LoweredTensor t, bool lower,
                         bool unitDiagonal) {
  unsigned rank = t.rank();
  return mapWithPosition(
      c, t, t.dtype, [&](ScalarBuilder &s, Value x, ArrayRef<unsigned> loops) {
        Value i = loopIndex(s, loops[rank - 2]);
        Value j = loopIndex(s, loops[rank - 1]);
        using Cmp = ScalarBuilder::Cmp;
        Value kept = s.cmp(lower ? Cmp::Ge : Cmp::Le, i, j);
        Value y = s.select(kept, x, s.zero(x));
        return unitDiagonal ? s.select(s.cmp(Cmp::Eq, i, j), s.one(x), y) : y;
      });
}

/// P of P L U = A: the transposed product of the exchanges.
static LoweredTensor permutation(LowerCall &c, LoweredTensor pivots, Dim rows,
                                 DType dtype) {
  Sizes sizes = pivots.dims();
  sizes.back() = rows;
  Dim count = product(ArrayRef<Dim>(sizes).drop_back());
  sizes.push_back(rows);
  return callKernel(
      c, "permutation", pivots, {}, {{sizes, dtype}},
      scratchFor(count, rows * rows, ft_scratch_of(8, rows, 1)))[0];
}

static LoweredTensor absent(LowerCall &c, DType dtype) {
  return c.filled({0}, dtype, 0);
}

/// (A, pivot) -> P, L, U
static LogicalResult linalgLu(LowerCall &c) {
  if (!c.flag(1))
    return c.unsupported("LU without pivoting is not implemented on the CPU");
  LoweredTensor a = c.operand(0);
  SmallVector<LoweredTensor> lu = luOf(c, a, false);
  c.setResult(0, permutation(c, lu[1], matricesOf(a.dims()).rows, a.dtype));
  c.setResult(1, part(c, lu[0], true));
  c.setResult(2, part(c, lu[0], false));
  return success();
}

/// (LU, pivots, unpack_data, unpack_pivots) -> P, L, U
static LogicalResult luUnpack(LowerCall &c) {
  LoweredTensor lu = c.operand(0);
  bool data = c.flag(2), pivots = c.flag(3);
  c.setResult(0, pivots ? permutation(c, c.operand(1),
                                      matricesOf(lu.dims()).rows, lu.dtype)
                        : absent(c, lu.dtype));
  c.setResult(1, data ? part(c, lu, true) : absent(c, lu.dtype));
  c.setResult(2, data ? part(c, lu, false) : absent(c, lu.dtype));
  return success();
}

//===----------------------------------------------------------------------===//
// Determinants
//===----------------------------------------------------------------------===//

/// det, sign, log|det|, LU, pivots. PyTorch factors the transposed matrix if
/// the given one is row-major and real, and returns those factors.
static SmallVector<LoweredTensor> determinant(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Matrices m = matricesOf(a.dims());
  bool transpose = isContiguous(c.meta(0)) && !isComplex(a.dtype);
  Dim n = m.rows;
  return callKernel(c, "det", a, Arg::truth(transpose),
                    {{m.batch, a.dtype},
                     {m.batch, a.dtype},
                     {m.batch, toReal(a.dtype)},
                     {a.dims(), a.dtype},
                     {m.with({n}), DType::I32}},
                    scratchFor(m.count, n * n * n,
                               ft_scratch_lu(scratchUnit(a.dtype), n, n, 0)));
}

static LogicalResult det(LowerCall &c) {
  auto r = determinant(c);
  setResults(c, {r[0], r[3], r[4]});
  return success();
}

static LogicalResult slogdet(LowerCall &c) {
  auto r = determinant(c);
  setResults(c, {r[1], r[2], r[3], r[4]});
  return success();
}

/// log(det): NaN for a negative determinant.
static LogicalResult logdet(LowerCall &c) {
  auto r = determinant(c);
  c.setResult(0, c.pointwise({r[1], r[2]}, c.resultMeta(0),
                             [](ScalarBuilder &s, ValueRange v) -> Value {
                               Value log = s.log(v[0]);
                               Type type = log.getType();
                               if (!isa<ComplexType>(type))
                                 return s.add(log, v[1]);
                               return s.add(log, complex::CreateOp::create(
                                                     s.b, s.loc, type, v[1],
                                                     s.zero(v[1])));
                             }));
  return success();
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

/// Whether `b` holds vectors. A batch of them is as the batch of A: the result
/// then has no more dims than they. (Sizes that are equal by a guard need not
/// be written alike.)
static bool holdsVectors(LowerCall &c, const LoweredTensor &a,
                         const LoweredTensor &b) {
  return b.rank() == 1 ||
         (b.rank() + 1 == a.rank() && c.resultMeta(0).rank() < a.rank());
}

static LoweredTensor asColumns(LowerCall &c, LoweredTensor b) {
  Sizes sizes = b.dims();
  sizes.push_back(1);
  return c.reshape(b, sizes);
}

SmallVector<LoweredTensor> solveOf(LowerCall &c, LoweredTensor a,
                                   LoweredTensor b, bool left, bool check) {
  bool vectors = holdsVectors(c, a, b);
  if (vectors)
    b = asColumns(c, b);
  Matrices ma = matricesOf(a.dims()), mb = matricesOf(b.dims());
  Sizes batch = broadcastDims(ma.batch, mb.batch), sizes = batch;
  sizes.append({mb.rows, mb.cols});
  Matrices mx = matricesOf(sizes);
  Dim n = ma.rows, rhs = left || vectors ? mx.cols : mx.rows;
  SmallVector<LoweredTensor> r = callKernel(
      c, "solve", {a, b}, {Arg::truth(left || vectors), Arg::truth(check)},
      {{sizes, a.dtype},
       {mx.with({n, n}), a.dtype},
       {mx.with({n}), DType::I32},
       {mx.batch, DType::I32}},
      scratchFor(mx.count, n * n * (n + rhs),
                 ft_scratch_lu(scratchUnit(a.dtype), n, n, rhs)));
  if (vectors)
    r[0] = c.reshape(r[0], ArrayRef<Dim>(sizes).drop_back());
  // The factors of a matrix that is broadcast are the same for all.
  size_t lead = batch.size() - ma.batch.size();
  auto repeats = [&](size_t d) {
    return (d < lead || ma.batch[d - lead] == 1) && !batch[d].is(0) &&
           !batch[d].is(1);
  };
  // Of no solutions there are no factors to take.
  auto vanishes = [&](size_t d) {
    return batch[d].is(0) && (d < lead || !ma.batch[d - lead].is(0));
  };
  for (size_t d = 0; d < batch.size(); ++d)
    // Of the run: there may be none for all.
    if (vanishes(d) || (repeats(d) && !batch[d].isStatic())) {
      llvm::copy(luOf(c, a, check), r.begin() + 1);
      return r;
    }
  for (LoweredTensor &factor : MutableArrayRef(r).drop_front()) {
    for (size_t d = 0; d < batch.size(); ++d)
      if (repeats(d))
        factor = c.slice(factor, static_cast<unsigned>(d), 0, 1);
    Sizes own = factor.dims();
    if (lead)
      factor = c.reshape(factor, ArrayRef<Dim>(own).drop_front(lead));
  }
  return r;
}

/// (A, B, left, check_errors) -> X, LU, pivots, info
static LogicalResult solveEx(LowerCall &c) {
  setResults(c, solveOf(c, c.operand(0), c.operand(1), c.flag(2), c.flag(3)));
  return success();
}

/// (A, B, left, check_errors) -> X, info
static LogicalResult solvePair(LowerCall &c) {
  auto r = solveOf(c, c.operand(0), c.operand(1), c.flag(2), c.flag(3));
  setResults(c, {r[0], r[3]});
  return success();
}

/// (A, B, left) -> X
static LogicalResult solve(LowerCall &c) {
  setResults(c, solveOf(c, c.operand(0), c.operand(1), c.flag(2), true));
  return success();
}

SmallVector<LoweredTensor> inverseOf(LowerCall &c, LoweredTensor a,
                                     bool check) {
  Matrices m = matricesOf(a.dims());
  Dim n = m.rows;
  return callKernel(c, "inverse", a, Arg::truth(check),
                    {{a.dims(), a.dtype}, {m.batch, DType::I32}},
                    scratchFor(m.count, 2 * n * n * n,
                               ft_scratch_lu(scratchUnit(a.dtype), n, n, n)));
}

/// (A, check_errors) -> inverse, info; without the flag, errors are raised.
template <bool HasCheck>
static LogicalResult inverse(LowerCall &c) {
  setResults(c, inverseOf(c, c.operand(0), HasCheck ? c.flag(1) : true));
  return success();
}

static LoweredTensor solveFactored(LowerCall &c, LoweredTensor lu,
                                   LoweredTensor pivots, LoweredTensor b,
                                   bool left, bool adjoint) {
  Sizes sizes = dimsOf(c.resultMeta(0));
  Matrices m = matricesOf(sizes);
  Dim n = lu.dims().back(), rhs = left ? m.cols : m.rows;
  return callKernel(
      c, "lu_solve", {lu, pivots, b}, {Arg::truth(left), Arg::truth(adjoint)},
      {{sizes, lu.dtype}},
      scratchFor(m.count, n * n * rhs,
                 ft_scratch_lu(scratchUnit(lu.dtype), n, n, rhs)))[0];
}

/// (LU, pivots, B, left, adjoint) -> X
static LogicalResult luSolve(LowerCall &c) {
  c.setResult(0, solveFactored(c, c.operand(0), c.operand(1), c.operand(2),
                               c.flag(3), c.flag(4)));
  return success();
}

/// (B, LU, pivots) -> X
static LogicalResult oldLuSolve(LowerCall &c) {
  c.setResult(0, solveFactored(c, c.operand(1), c.operand(2), c.operand(0),
                               true, false));
  return success();
}

template <LowerRule Rule>
constexpr LowerRule lapack = fullPrecision<Rule>;

static const LowerRuleRow kRows[] = {
    anyShape("_linalg_det.default", lapack<det>),
    anyShape("_linalg_slogdet.default", lapack<slogdet>),
    anyShape("_linalg_solve_ex.default", lapack<solveEx>),
    anyShape("_lu_with_info.default", lapack<luFactor<true>>),
    anyShape("det.default", lapack<det>),
    anyShape("inverse.default", lapack<inverse<false>>),
    anyShape("linalg_det.default", lapack<det>),
    anyShape("linalg_inv.default", lapack<inverse<false>>),
    anyShape("linalg_inv_ex.default", lapack<inverse<true>>),
    anyShape("linalg_lu.default", lapack<linalgLu>),
    anyShape("linalg_lu_factor.default", lapack<luFactor<false>>),
    anyShape("linalg_lu_factor_ex.default", lapack<luFactor<true>>),
    anyShape("linalg_lu_solve.default", lapack<luSolve>),
    anyShape("linalg_slogdet.default", lapack<slogdet>),
    anyShape("linalg_solve.default", lapack<solve>),
    anyShape("linalg_solve_ex.default", lapack<solvePair>),
    anyShape("logdet.default", lapack<logdet>),
    anyShape("lu_solve.default", lapack<oldLuSolve>),
    anyShape("lu_unpack.default", lapack<luUnpack>),
    anyShape("slogdet.default", lapack<slogdet>),
};

ArrayRef<LowerRuleRow> linalgLowerRules() { return kRows; }

} // namespace ft
