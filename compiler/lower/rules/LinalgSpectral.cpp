//===- LinalgSpectral.cpp - Eigen- and singular values ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is made of a decomposition stays in float64 until the end: the kernels
// compute in it anyway, and products of rounded factors would lose digits.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Contract.h"
#include "compiler/lower/rules/Linalg.h"
#include "compiler/lower/rules/Scratch.h"
#include "dialects/ft/Promotion.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

static DType wide(DType dtype) {
  return isComplex(dtype) ? DType::C128 : DType::F64;
}

Spectrum eighOf(LowerCall &c, LoweredTensor a, bool upper, bool vectors,
                DType dtype) {
  Matrices m = matricesOf(a.dims());
  Dim n = m.rows;
  SmallVector<KernelResult> results = {{m.with({n}), toReal(dtype)}};
  if (vectors)
    results.push_back({a.dims(), dtype});
  auto r = callKernel(c, "eigh", a, {Arg::truth(upper), Arg::truth(vectors)},
                      results,
                      scratchFor(m.count, 9 * n * n * n,
                                 ft_scratch_eigh(scratchUnit(a.dtype), n)));
  return {r[0], vectors ? r[1] : LoweredTensor()};
}

Singular svdOf(LowerCall &c, LoweredTensor a, bool full, bool vectors,
               DType dtype) {
  Matrices m = matricesOf(a.dims());
  Dim k = minDim(m.rows, m.cols);
  KernelScratch scratch =
      scratchFor(m.count, 12 * m.rows * m.cols * maxDim(k, 1),
                 ft_scratch_svd(scratchUnit(a.dtype), m.rows, m.cols));
  KernelResult s = {m.with({k}), toReal(dtype)};
  if (!vectors)
    return {{}, callKernel(c, "svd", a, Arg::truth(false), s, scratch)[0], {}};
  auto r = callKernel(c, "svd", a, Arg::truth(true),
                      {{m.with({m.rows, full ? m.rows : k}), dtype},
                       s,
                       {m.with({full ? m.cols : k, m.cols}), dtype}},
                      scratch);
  return {r[0], r[1], r[2]};
}

/// Eigenvectors of any matrix, in complex numbers.
static SmallVector<LoweredTensor> eigOf(LowerCall &c, LoweredTensor a,
                                        bool vectors) {
  Matrices m = matricesOf(a.dims());
  Dim n = m.rows;
  DType dtype = toComplex(a.dtype);
  SmallVector<KernelResult> results = {{m.with({n}), dtype}};
  if (vectors)
    results.push_back({a.dims(), dtype});
  return callKernel(c, "eig", a, Arg::truth(vectors), results,
                    scratchFor(m.count, 25 * n * n * n, ft_scratch_eig(n)));
}

//===----------------------------------------------------------------------===//
// The operators themselves
//===----------------------------------------------------------------------===//

static bool isUpper(LowerCall &c) {
  StringRef uplo = c.call().args[1].str;
  return uplo == "U" || uplo == "u";
}

/// (A, UPLO[, compute_v])
static LogicalResult eigh(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  bool vectors = c.call().args.size() < 3 || c.flag(2);
  Spectrum s = eighOf(c, a, isUpper(c), vectors && c.numResults() > 1, a.dtype);
  c.setResult(0, s.values);
  if (c.numResults() > 1)
    c.setResult(1, vectors ? s.vectors
                           : c.filled(dimsOf(c.resultMeta(1)), a.dtype, 0));
  return success();
}

static LogicalResult eig(LowerCall &c) {
  setResults(c, eigOf(c, c.operand(0), c.numResults() > 1));
  return success();
}

static LogicalResult setSvd(LowerCall &c, bool full, bool vectors) {
  LoweredTensor a = c.operand(0);
  Singular r = svdOf(c, a, full, vectors, a.dtype);
  auto absent = [&](unsigned i) {
    return c.filled(dimsOf(c.resultMeta(i)), a.dtype, 0);
  };
  c.setResult(0, vectors ? r.u : absent(0));
  c.setResult(1, r.s);
  c.setResult(2, vectors ? r.vh : absent(2));
  return success();
}

/// (A, full_matrices, compute_uv, *, driver)
static LogicalResult svd(LowerCall &c) {
  return setSvd(c, c.flag(1), c.flag(2));
}
/// (A, full_matrices, *, driver)
static LogicalResult linalgSvd(LowerCall &c) {
  return setSvd(c, c.flag(1), true);
}
static LogicalResult svdvals(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  c.setResult(0, svdOf(c, a, false, false, a.dtype).s);
  return success();
}

/// (A, some, compute_uv) -> U, S, V; zeros for vectors that are not asked for.
static LogicalResult oldSvd(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  if (!c.flag(2))
    return setSvd(c, false, false);
  Singular r = svdOf(c, a, !c.flag(1), true, a.dtype);
  setResults(c, {r.u, r.s, adjointOf(c, r.vh)});
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of the values
//===----------------------------------------------------------------------===//

LoweredTensor productOf(LowerCall &c, LoweredTensor a, LoweredTensor b) {
  return multiply(c, {a, Value()}, {b, Value()});
}

/// Columns of `a` times the numbers `s`, of the real dtype of `a`.
static LoweredTensor scaleColumns(LowerCall &c, LoweredTensor a,
                                  LoweredTensor s) {
  Sizes sizes = s.dims();
  sizes.insert(sizes.end() - 1, 1);
  s = c.cast(c.reshape(s, sizes), a.dtype);
  return c.pointwise(
      {a, s}, a.dims(), a.dtype,
      [](ScalarBuilder &b, ValueRange v) { return b.mul(v[0], v[1]); });
}

static LoweredTensor
mapped(LowerCall &c, LoweredTensor x,
       llvm::function_ref<Value(ScalarBuilder &, Value)> f) {
  return c.pointwise(x, x.dims(), x.dtype, [&](ScalarBuilder &s, ValueRange v) {
    return f(s, v[0]);
  });
}

static Value absolute(ScalarBuilder &s, Value x) {
  return s.maximum(x, s.neg(x));
}

/// A = U H: with A = W S Vh, U = W Vh and H = V S Vh.
static LogicalResult polar(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Singular r = svdOf(c, a, false, true, wide(a.dtype));
  LoweredTensor u = productOf(c, r.u, r.vh);
  LoweredTensor h =
      productOf(c, scaleColumns(c, adjointOf(c, r.vh), r.s), r.vh);
  setResults(c, {c.cast(u, a.dtype), c.cast(h, a.dtype)});
  return success();
}

/// V sqrt(max(L, 0)) V^H of A = V L V^H.
static LogicalResult squareRoot(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Spectrum e = eighOf(c, a, false, true, wide(a.dtype));
  LoweredTensor roots = mapped(c, e.values, [](ScalarBuilder &s, Value x) {
    return s.sqrt(s.maximum(x, s.zero(x)));
  });
  LoweredTensor r =
      productOf(c, scaleColumns(c, e.vectors, roots), adjointOf(c, e.vectors));
  c.setResult(0, c.cast(r, a.dtype));
  return success();
}

//===----------------------------------------------------------------------===//
// Tolerances
//===----------------------------------------------------------------------===//

namespace {
/// What singular values must exceed, for each matrix: max(atol, rtol times the
/// largest). By argument name; a tensor may hold one for each matrix.
struct Tolerance {
  std::optional<LoweredTensor> atolTensor, rtolTensor;
  double atol = 0, rtol = 0;
  /// What `rtol` is multiplied by.
  Dim times = 1;

  Value relative(LowerCall &c, ScalarBuilder &s) const {
    Type type = s.b.getF64Type();
    if (times.isStatic())
      return s.constant(type, rtol * static_cast<double>(times.value()));
    return s.mul(s.constant(type, rtol), c.sizeIn(s, times, DType::F64));
  }
};
} // namespace

static double epsilonOf(DType dtype) {
  return toReal(dtype) == DType::F64 ? 2.220446049250313e-16
                                     : 1.1920928955078125e-07;
}

/// `fallback`: rtol is the machine's precision times the larger size where
/// neither tolerance is given.
static Tolerance toleranceOf(LowerCall &c) {
  const AtenCall &call = c.call();
  Matrices m = matricesOf(c.operand(0).dims());
  Tolerance t;
  auto read = [&](StringRef name, std::optional<LoweredTensor> &tensor,
                  double &number) {
    int i = call.schema->argIndex(name);
    if (i < 0 || call.isNone(static_cast<unsigned>(i)))
      return false;
    if (call.args[i].kind == Arg::Tensor)
      tensor = c.cast(c.operand(static_cast<unsigned>(i)), DType::F64);
    else
      number = c.number(static_cast<unsigned>(i));
    return true;
  };
  // No overload has both names of one.
  bool absolute =
      read("atol", t.atolTensor, t.atol) || read("tol", t.atolTensor, t.atol);
  bool relative =
      read("rtol", t.rtolTensor, t.rtol) || read("rcond", t.rtolTensor, t.rtol);
  bool named = call.schema->argIndex("rtol") >= 0;
  if (relative || !named)
    return t;
  t.rtol = epsilonOf(c.operand(0).dtype);
  t.times = maxDim(m.rows, m.cols);
  if (absolute && t.atolTensor) {
    // A positive absolute tolerance replaces the default relative one.
    t.rtolTensor = mapped(c, *t.atolTensor, [&](ScalarBuilder &s, Value x) {
      return s.select(s.cmp(ScalarBuilder::Cmp::Gt, x, s.zero(x)), s.zero(x),
                      t.relative(c, s));
    });
  } else if (absolute && t.atol > 0) {
    t.rtol = 0;
  }
  return t;
}

/// body(value, whether |value| is above the tolerance) for values [batch, k] in
/// float64; the batch is that of `sizes`, to which tolerances broadcast.
static LoweredTensor
aboveTolerance(LowerCall &c, LoweredTensor values, const Tolerance &t,
               ArrayRef<Dim> batch, DType dtype,
               llvm::function_ref<Value(ScalarBuilder &, Value, Value)> body) {
  unsigned last = values.rank() - 1;
  LoweredTensor sizes = mapped(c, values, absolute);
  LoweredTensor most = maxOf(c, sizes, last, true);
  Sizes result(batch.begin(), batch.end());
  result.push_back(values.dims().back());
  SmallVector<LoweredTensor> ins = {values, most};
  for (const auto &tensor : {t.atolTensor, t.rtolTensor})
    if (tensor) {
      Sizes column = tensor->dims();
      column.push_back(1);
      ins.push_back(c.reshape(*tensor, column));
    }
  bool hasAtol = t.atolTensor.has_value(), hasRtol = t.rtolTensor.has_value();
  return c.pointwise(ins, result, dtype, [&](ScalarBuilder &s, ValueRange v) {
    Type type = v[0].getType();
    Value atol = hasAtol ? v[2] : s.constant(type, t.atol);
    Value rtol = hasRtol ? v[hasAtol ? 3 : 2] : t.relative(c, s);
    Value limit = s.maximum(atol, s.mul(rtol, v[1]));
    return body(s, v[0],
                s.cmp(ScalarBuilder::Cmp::Gt, absolute(s, v[0]), limit));
  });
}

static bool isHermitian(LowerCall &c) {
  int i = c.call().schema->argIndex("hermitian");
  return i >= 0 && c.flag(static_cast<unsigned>(i));
}

/// V S⁺ U^H of A = U S V^H, where S⁺ inverts what is above the tolerance.
static LogicalResult pinv(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Sizes sizes = dimsOf(c.resultMeta(0));
  if (hasNoElements(a.dims())) {
    c.setResult(0, c.filled(sizes, a.dtype, 0));
    return success();
  }
  LoweredTensor values, left, right;
  if (isHermitian(c)) {
    Spectrum e = eighOf(c, a, false, true, wide(a.dtype));
    values = e.values;
    left = e.vectors;
    right = adjointOf(c, e.vectors);
  } else {
    Singular r = svdOf(c, a, false, true, wide(a.dtype));
    values = r.s;
    left = adjointOf(c, r.vh);
    right = adjointOf(c, r.u);
  }
  LoweredTensor inverted =
      aboveTolerance(c, values, toleranceOf(c), matricesOf(a.dims()).batch,
                     DType::F64, [](ScalarBuilder &s, Value x, Value above) {
                       return s.select(above, s.div(s.one(x), x), s.zero(x));
                     });
  c.setResult(
      0, c.cast(productOf(c, scaleColumns(c, left, inverted), right), a.dtype));
  return success();
}

static LogicalResult matrixRank(LowerCall &c) {
  LoweredTensor a = c.operand(0);
  Sizes sizes = dimsOf(c.resultMeta(0));
  if (hasNoElements(a.dims())) {
    c.setResult(0, c.filled(sizes, DType::I64, 0));
    return success();
  }
  LoweredTensor values = isHermitian(c)
                             ? eighOf(c, a, false, false, wide(a.dtype)).values
                             : svdOf(c, a, false, false, wide(a.dtype)).s;
  LoweredTensor above = aboveTolerance(
      c, values, toleranceOf(c), sizes, DType::I64,
      [](ScalarBuilder &s, Value, Value yes) {
        Type type = s.b.getI64Type();
        return s.select(yes, s.constantInt(type, 1), s.constantInt(type, 0));
      });
  c.setResult(0, sumOf(c, above, above.rank() - 1, false, DType::I64));
  return success();
}

PseudoInverse pseudoInverseOf(LowerCall &c, LoweredTensor a,
                              std::optional<double> rtol) {
  Singular r = svdOf(c, a, false, true, wide(a.dtype));
  Matrices m = matricesOf(a.dims());
  Tolerance t;
  t.rtol = rtol.value_or(epsilonOf(a.dtype));
  if (!rtol)
    t.times = maxDim(m.rows, m.cols);
  LoweredTensor inverted = aboveTolerance(
      c, r.s, t, m.batch, DType::F64, [](ScalarBuilder &s, Value x, Value yes) {
        return s.select(yes, s.div(s.one(x), x), s.zero(x));
      });
  LoweredTensor counted = aboveTolerance(
      c, r.s, t, m.batch, DType::I64, [](ScalarBuilder &s, Value, Value yes) {
        Type type = s.b.getI64Type();
        return s.select(yes, s.constantInt(type, 1), s.constantInt(type, 0));
      });
  return {productOf(c, scaleColumns(c, adjointOf(c, r.vh), inverted),
                    adjointOf(c, r.u)),
          r.s, sumOf(c, counted, counted.rank() - 1, false, DType::I64)};
}

template <LowerRule Rule>
constexpr LowerRule lapack = fullPrecision<Rule>;

static const LowerRuleRow kRows[] = {
    anyShape("_linalg_eigh.default", lapack<eigh>),
    anyShape("_linalg_eigvals.default", lapack<eig>),
    anyShape("_linalg_svd.default", lapack<svd>),
    anyShape("linalg_eig.default", lapack<eig>),
    anyShape("linalg_eigh.default", lapack<eigh>),
    anyShape("linalg_eigvals.default", lapack<eig>),
    anyShape("linalg_eigvalsh.default", lapack<eigh>),
    anyShape("linalg_matrix_rank.atol_rtol_float", lapack<matrixRank>),
    anyShape("linalg_matrix_rank.atol_rtol_tensor", lapack<matrixRank>),
    anyShape("linalg_matrix_rank.default", lapack<matrixRank>),
    anyShape("linalg_matrix_rank.tol_tensor", lapack<matrixRank>),
    anyShape("linalg_matrix_sqrth.default", lapack<squareRoot>),
    anyShape("linalg_pinv.atol_rtol_float", lapack<pinv>),
    anyShape("linalg_pinv.atol_rtol_tensor", lapack<pinv>),
    anyShape("linalg_pinv.default", lapack<pinv>),
    anyShape("linalg_pinv.rcond_tensor", lapack<pinv>),
    anyShape("linalg_polar.default", lapack<polar>),
    anyShape("linalg_svd.default", lapack<linalgSvd>),
    anyShape("linalg_svdvals.default", lapack<svdvals>),
    anyShape("pinverse.default", lapack<pinv>),
    anyShape("svd.default", lapack<oldSvd>),
};

ArrayRef<LowerRuleRow> linalgSpectralLowerRules() { return kRows; }

} // namespace ft
