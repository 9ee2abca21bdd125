//===- LinalgFunctions.cpp - Powers, norms, LDL ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Contract.h"
#include "compiler/lower/rules/Linalg.h"
#include "compiler/lower/rules/PNorm.h"
#include "compiler/lower/rules/Scratch.h"
#include "dialects/ft/Promotion.h"

#include <limits>

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// LDL
//===----------------------------------------------------------------------===//

/// (A, *, hermitian, check_errors) -> LD, pivots, info; without the flag,
/// errors are raised.
template <bool HasCheck>
static LogicalResult ldlFactor(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Matrices m = matricesOf(a.dims());
  Dim n = m.rows;
  bool hermitian = c.flag(1) && isComplex(a.dtype);
  setResults(
      c, callKernel(
             c, "ldl", a,
             {Arg::truth(hermitian), Arg::truth(HasCheck ? c.flag(2) : true)},
             {{a.dims(), a.dtype},
              {m.with({n}), DType::I32},
              {m.batch, DType::I32}},
             scratchFor(m.count, n * n * n,
                        ft_scratch_ldl(scratchUnit(a.dtype), n, 0))));
  return success();
}

/// (LD, pivots, B, *, hermitian)
static LogicalResult ldlSolve(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Matrices m = matricesOf(dimsOf(c.resultMeta(0)));
  bool hermitian = c.flag(3) && isComplex(a.dtype);
  setResults(
      c, callKernel(
             c, "ldl_solve", {a, c.operand(1), c.operand(2)},
             Arg::truth(hermitian), {{m.with({m.rows, m.cols}), a.dtype}},
             scratchFor(m.count, 2 * m.rows * m.rows * m.cols,
                        ft_scratch_ldl(scratchUnit(a.dtype), m.rows, m.cols))));
  return success();
}

//===----------------------------------------------------------------------===//
// Exponentials and powers
//===----------------------------------------------------------------------===//

/// 16-bit floats are computed in float32.
static LogicalResult matrixExp(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  DType dtype = a.dtype;
  if (dtype == DType::F16 || dtype == DType::BF16)
    a = c.cast(a, DType::F32);
  if (!hasKernels(a.dtype))
    return c.unsupported("it is not implemented for " + dtypeName(dtype));
  Matrices m = matricesOf(a.dims());
  Dim n = m.rows;
  LoweredTensor r =
      callKernel(c, "matrix_exp", a, {}, {{a.dims(), a.dtype}},
                 scratchFor(m.count, 20 * n * n * n,
                            ft_scratch_matrix_exp(scratchUnit(a.dtype), n)))[0];
  c.setResult(0, c.cast(r, dtype));
  return success();
}

/// (A, n): by squaring, of the inverse for a negative n.
static LogicalResult matrixPower(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  int64_t n = c.integer(1);
  if (n == 0) {
    unsigned rank = a.rank();
    c.setResult(0, mapWithPosition(c, a, a.dtype,
                                   [&](ScalarBuilder &s, Value x,
                                       ArrayRef<unsigned> loops) {
                                     Value same =
                                         s.cmp(ScalarBuilder::Cmp::Eq,
                                               loopIndex(s, loops[rank - 2]),
                                               loopIndex(s, loops[rank - 1]));
                                     return s.select(same, s.one(x), s.zero(x));
                                   }));
    return success();
  }
  if (n < 0) {
    if (!hasKernels(a.dtype))
      return c.unsupported("negative powers are not implemented for " +
                           dtypeName(a.dtype));
    a = inverseOf(c, a, /*check=*/true)[0];
  }
  // Exact for the smallest integer too.
  uint64_t left = n < 0 ? 0 - static_cast<uint64_t>(n) : n;
  std::optional<LoweredTensor> result;
  auto times = [&](LoweredTensor x, LoweredTensor y) {
    c.newGroup();
    return c.cast(productOf(c, x, y), a.dtype);
  };
  for (LoweredTensor square = a; left; left >>= 1) {
    if (left & 1)
      result = result ? times(*result, square) : square;
    if (left > 1)
      square = times(square, square);
  }
  c.setResult(0, *result);
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix norms
//===----------------------------------------------------------------------===//

namespace {
/// What a norm of the matrices in dims `rows` and `cols` is asked for.
struct NormForm {
  double order = 2;
  /// "fro", "nuc", or empty for `order`.
  StringRef name;
  unsigned rows = 0, cols = 1;
  bool keepDim = false;
};
} // namespace

/// Matrices last, their batch before.
static LoweredTensor matricesLast(LowerCall &c, LoweredTensor a,
                                  const NormForm &form) {
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < a.rank(); ++d)
    if (d != form.rows && d != form.cols)
      dims.push_back(d);
  dims.append({form.rows, form.cols});
  return c.permute(a, dims);
}

/// The norm of each matrix, the last two dims of `a`, without these dims.
static LoweredTensor normOf(LowerCall &c, LoweredTensor a, StringRef name,
                            double order, DType dtype) {
  unsigned rank = a.rank();
  Matrices m = matricesOf(a.dims());
  if (m.rows.is(0) || m.cols.is(0))
    return c.filled(m.batch, dtype, 0);
  if (name == "fro")
    return pNorm(c, a, 2, {rank - 2, rank - 1}, false, dtype);
  if (name == "nuc" || std::abs(order) == 2) {
    LoweredTensor s =
        svdOf(c, a, false, false, isComplex(a.dtype) ? DType::C128 : DType::F64)
            .s;
    LoweredTensor r = name == "nuc"
                          ? sumOf(c, s, rank - 2, false, DType::F64)
                          : (order > 0 ? maxOf : minOf)(c, s, rank - 2, false);
    return c.cast(r, dtype);
  }
  // 1: the largest sum of a column; inf: of a row. Negative: the smallest.
  bool columns = std::abs(order) == 1;
  LoweredTensor sums =
      pNorm(c, a, 1, {columns ? rank - 2 : rank - 1}, false, dtype);
  return (order > 0 ? maxOf : minOf)(c, sums, rank - 2, false);
}

static LogicalResult setNorm(LowerCall &c, LoweredTensor a,
                             const NormForm &form) {
  bool spectral =
      form.name == "nuc" || (form.name.empty() && std::abs(form.order) == 2);
  if (spectral && !hasKernels(a.dtype))
    return c.unsupported("this norm is not implemented for " +
                         dtypeName(a.dtype));
  DType dtype = c.resultMeta(0).dtype;
  LoweredTensor r =
      normOf(c, matricesLast(c, a, form), form.name, form.order, dtype);
  c.setResult(0, c.reshape(r, dimsOf(c.resultMeta(0))));
  return success();
}

LogicalResult lowerMatrixNorm(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  NormForm form;
  const Arg &order = c.call().args[1];
  if (order.kind == Arg::Str)
    form.name = order.str;
  else
    form.order = c.number(1);
  form.rows = a.rank() - 2;
  form.cols = a.rank() - 1;
  if (!c.isNone(2)) {
    auto dims = c.integers(2);
    if (dims.size() != 2)
      return c.unsupported("a matrix norm of other than two dims");
    form.rows = LowerCall::wrapDim(dims[0], a.rank());
    form.cols = LowerCall::wrapDim(dims[1], a.rank());
  }
  form.keepDim = c.flag(3);
  if (!c.isNone(4))
    a = c.cast(a, c.call().args[4].dtype);
  return setNorm(c, a, form);
}

/// (A, p): the ratio of the extreme singular values, the sum of them by that of
/// their inverses, or ‖A‖ ‖A⁻¹‖.
static LogicalResult cond(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Matrices m = matricesOf(a.dims());
  DType dtype = c.resultMeta(0).dtype;
  const Arg &p = c.call().args[1];
  StringRef name = p.kind == Arg::Str ? StringRef(p.str) : StringRef();
  double order = p.isNone() || p.kind == Arg::Str ? 2 : c.number(1);
  if (m.rows.is(0) || m.cols.is(0)) {
    c.setResult(0, c.filled(m.batch, dtype, 0));
    return success();
  }
  DType wide = isComplex(a.dtype) ? DType::C128 : DType::F64;
  auto combine = [&](LoweredTensor x, LoweredTensor y, bool divide) {
    c.setResult(0, c.cast(c.pointwise({x, y}, m.batch, DType::F64,
                                      [&](ScalarBuilder &s, ValueRange v) {
                                        return divide ? s.div(v[0], v[1])
                                                      : s.mul(v[0], v[1]);
                                      }),
                          dtype));
    return success();
  };
  if (name.empty() && std::abs(order) == 2) {
    LoweredTensor s = svdOf(c, a, false, false, wide).s;
    unsigned last = s.rank() - 1;
    LoweredTensor most = maxOf(c, s, last, false);
    LoweredTensor least = minOf(c, s, last, false);
    return order > 0 ? combine(most, least, true) : combine(least, most, true);
  }
  // The nuclear norm of a singular matrix's inverse would be that of
  // infinities.
  if (name == "nuc") {
    LoweredTensor s = svdOf(c, a, false, false, wide).s;
    unsigned last = s.rank() - 1;
    LoweredTensor inverted = c.pointwise(
        s, s.dims(), DType::F64, [](ScalarBuilder &b, ValueRange v) -> Value {
          return b.div(b.one(v[0]), v[0]);
        });
    return combine(sumOf(c, s, last, false, DType::F64),
                   sumOf(c, inverted, last, false, DType::F64), false);
  }
  LoweredTensor wideA = c.cast(a, wide);
  auto inverse = inverseOf(c, wideA, /*check=*/false);
  // A singular matrix has an infinite condition number.
  LoweredTensor x = normOf(c, wideA, name, order, DType::F64);
  LoweredTensor y = normOf(c, inverse[0], name, order, DType::F64);
  LoweredTensor finite = c.pointwise(
      {y, inverse[1]}, m.batch, DType::F64, [](ScalarBuilder &s, ValueRange v) {
        Value infinite =
            s.constant(v[0].getType(), std::numeric_limits<double>::infinity());
        return s.select(s.cmp(ScalarBuilder::Cmp::Ne, v[1], s.zero(v[1])),
                        infinite, v[0]);
      });
  return combine(x, finite, false);
}

//===----------------------------------------------------------------------===//
// Tensors as matrices
//===----------------------------------------------------------------------===//

/// (self, ind): the inverse of the matrix whose rows are the first `ind` dims.
static LogicalResult tensorInverse(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Sizes sizes = a.dims();
  Dim n = 1;
  for (int64_t d = 0; d < c.integer(1) && d < a.rank(); ++d)
    n = n * sizes[d];
  LoweredTensor r = inverseOf(c, c.reshape(a, {n, n}), /*check=*/true)[0];
  c.setResult(0, c.reshape(r, dimsOf(c.resultMeta(0))));
  return success();
}

/// (A, B, dims): `dims` of A go last; its other dims are those of B.
static LogicalResult tensorSolve(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  SmallVector<unsigned> order, last;
  if (!c.isNone(2))
    for (int64_t d : c.integers(2))
      last.push_back(LowerCall::wrapDim(d, a.rank()));
  for (unsigned d = 0; d < a.rank(); ++d)
    if (!llvm::is_contained(last, d))
      order.push_back(d);
  order.append(last.begin(), last.end());
  Dim n = product(b.dims());
  a = c.reshape(c.permute(a, order), {n, n});
  LoweredTensor x = solveOf(c, a, c.reshape(b, {n}), true, /*check=*/true)[0];
  c.setResult(0, c.reshape(x, dimsOf(c.resultMeta(0))));
  return success();
}

template <LowerRule Rule>
constexpr LowerRule lapack = fullPrecision<Rule>;

static const LowerRuleRow kRows[] = {
    anyShape("linalg_cond.default", lapack<cond>),
    anyShape("linalg_cond.p_str", lapack<cond>),
    anyShape("linalg_ldl_factor.default", lapack<ldlFactor<false>>),
    anyShape("linalg_ldl_factor_ex.default", lapack<ldlFactor<true>>),
    anyShape("linalg_ldl_solve.default", lapack<ldlSolve>),
    anyShape("linalg_matrix_exp.default", matrixExp),
    anyShape("linalg_matrix_norm.default", lowerMatrixNorm),
    anyShape("linalg_matrix_norm.str_ord", lowerMatrixNorm),
    anyShape("linalg_matrix_power.default", matrixPower),
    anyShape("linalg_norm.ord_str", lowerMatrixNorm),
    anyShape("linalg_tensorinv.default", lapack<tensorInverse>),
    anyShape("linalg_tensorsolve.default", lapack<tensorSolve>),
    anyShape("matrix_exp.default", matrixExp),
    anyShape("matrix_power.default", matrixPower),
};

ArrayRef<LowerRuleRow> linalgFunctionsLowerRules() { return kRows; }

} // namespace ft
