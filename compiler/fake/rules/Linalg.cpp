//===- Linalg.cpp - Factorisations and solvers -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LAPACK works on column-major matrices, so most results are.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/IndexRules.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

//===----------------------------------------------------------------------===//
// Results and checks
//===----------------------------------------------------------------------===//

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

/// The last two dims change places in memory.
static LogicalResult columnMajor(FakeCall &c, DType dtype, Dims sizes) {
  std::swap(sizes[sizes.size() - 2], sizes.back());
  TensorMeta out = TensorMeta::contiguous(dtype, sizes, c.device);
  size_t rank = sizes.size();
  std::swap(out.sizes[rank - 2], out.sizes[rank - 1]);
  std::swap(out.strides[rank - 2], out.strides[rank - 1]);
  return c.fresh(std::move(out));
}

/// The sizes before the last `count`.
static Dims batch(const TensorMeta &t, size_t count = 2) {
  return Dims(t.sizes.begin(), t.sizes.end() - count);
}

static Dims with(Dims sizes, std::initializer_list<Dim> more) {
  sizes.append(more.begin(), more.end());
  return sizes;
}

static LogicalResult matrices(FakeCall &c, const TensorMeta &a) {
  if (a.rank() >= 2)
    return success();
  return c.fail(FakeError::Dim, c.schema().base +
                                    " needs at least 2 dims, the "
                                    "tensor has " +
                                    Twine(a.rank()));
}

static LogicalResult floating(FakeCall &c, const TensorMeta &a) {
  return checkTakes(c, a.dtype, Takes::FloatingOrComplex);
}

/// float32, float64 and their complex types: what LAPACK has.
static LogicalResult fullPrecision(FakeCall &c, const TensorMeta &a) {
  if (failed(floating(c, a)))
    return failure();
  if (dtypeBytes(toReal(a.dtype)) < 4)
    return c.fail(FakeError::Dtype, c.schema().base + " is not defined for " +
                                        dtypeName(a.dtype));
  return success();
}

static LogicalResult square(FakeCall &c, const TensorMeta &a) {
  if (failed(matrices(c, a)))
    return failure();
  if (c.eq(a.sizes[a.rank() - 2], a.sizes.back()))
    return success();
  return c.fail(FakeError::Shape,
                c.schema().base + " needs square matrices, but " +
                    c.sizeAt(a, -2) + " and dim " + Twine(a.rank() - 1) +
                    " has " + a.sizes.back().str());
}

static Dim smaller(const TensorMeta &a) {
  return minDim(a.sizes[a.rank() - 2], a.sizes.back());
}

//===----------------------------------------------------------------------===//
// Determinants, inverses, functions of a matrix
//===----------------------------------------------------------------------===//

/// (det, LU, pivots)
static LogicalResult det(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)))
    return failure();
  (void)rowMajor(c, a.dtype, batch(a));
  (void)columnMajor(c, a.dtype, a.sizes);
  return rowMajor(c, DType::I32, batch(a, 1));
}

/// (sign, log|det|, LU, pivots)
static LogicalResult slogdet(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)) || failed(fullPrecision(c, a)))
    return failure();
  (void)rowMajor(c, a.dtype, batch(a));
  (void)rowMajor(c, toReal(a.dtype), batch(a));
  (void)columnMajor(c, a.dtype, a.sizes);
  return rowMajor(c, DType::I32, batch(a, 1));
}

/// (the matrix's inverse or factor, info)
static LogicalResult squareAndInfo(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)) || failed(floating(c, a)))
    return failure();
  (void)columnMajor(c, a.dtype, a.sizes);
  return rowMajor(c, DType::I32, batch(a));
}

template <bool Lapack>
static LogicalResult squareRowMajor(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)) ||
      failed(Lapack ? fullPrecision(c, a) : floating(c, a)))
    return failure();
  return rowMajor(c, a.dtype, a.sizes);
}

/// Products need no inverse, and so take more dtypes.
static LogicalResult matrixPower(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  Dim n = c.dim(1);
  if (failed(square(c, a)))
    return failure();
  if (c.lt(n, 0)) {
    if (failed(fullPrecision(c, a)))
      return failure();
    // The inverse itself.
    return n.is(-1) ? columnMajor(c, a.dtype, a.sizes)
                    : rowMajor(c, a.dtype, a.sizes);
  }
  if (c.lt(1, n) && failed(checkTakes(c, a.dtype, Takes::NoBool)))
    return failure();
  return rowMajor(c, a.dtype, a.sizes);
}

static LogicalResult choleskyInverse(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)))
    return failure();
  return columnMajor(c, a.dtype, a.sizes);
}

static LogicalResult pinv(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(fullPrecision(c, a)))
    return failure();
  int hermitian = c.schema().argIndex("hermitian");
  if (hermitian >= 0 && c.flag(hermitian) && failed(square(c, a)))
    return failure();
  for (auto [i, arg] : enumerate(c.arguments()))
    if (i > 0 && arg.kind == Arg::Tensor && isComplex(c.tensor(i).dtype))
      return c.fail(FakeError::Dtype, "'" + c.schema().args[i].name +
                                          "' must not be complex, it is " +
                                          dtypeName(c.tensor(i).dtype));
  Dims sizes = a.sizes;
  std::swap(sizes[sizes.size() - 2], sizes.back());
  return rowMajor(c, a.dtype, sizes);
}

//===----------------------------------------------------------------------===//
// Eigenvalues and singular values
//===----------------------------------------------------------------------===//

/// (A, UPLO[, compute_v])
static LogicalResult eigh(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)))
    return failure();
  (void)rowMajor(c, toReal(a.dtype), batch(a, 1));
  int vectors = c.schema().argIndex("compute_v");
  if (vectors >= 0 && !c.flag(vectors))
    return rowMajor(c, a.dtype, Dim(0));
  return columnMajor(c, a.dtype, a.sizes);
}

static LogicalResult eig(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)) || failed(floating(c, a)))
    return failure();
  DType complex = toComplex(a.dtype);
  (void)rowMajor(c, complex, batch(a, 1));
  return c.device.kind == Device::Cpu ? columnMajor(c, complex, a.sizes)
                                      : rowMajor(c, complex, a.sizes);
}

/// (U, S, Vh)
static LogicalResult svdOf(FakeCall &c, bool full, bool vectors) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(floating(c, a)))
    return failure();
  Dim m = a.sizes[a.rank() - 2], n = a.sizes.back(), k = smaller(a);
  if (!vectors) {
    (void)rowMajor(c, a.dtype, Dim(0));
    (void)rowMajor(c, toReal(a.dtype), with(batch(a), {k}));
    return rowMajor(c, a.dtype, Dim(0));
  }
  (void)columnMajor(c, a.dtype, with(batch(a), {m, full ? m : k}));
  (void)rowMajor(c, toReal(a.dtype), with(batch(a), {k}));
  Dims vh = with(batch(a), {full ? n : k, n});
  // cuSOLVER gives V, of which Vh is a view.
  return c.device.kind == Device::Cuda ? rowMajor(c, a.dtype, vh)
                                       : columnMajor(c, a.dtype, vh);
}

static LogicalResult svd(FakeCall &c) { return svdOf(c, c.flag(1), c.flag(2)); }
static LogicalResult linalgSvd(FakeCall &c) {
  return svdOf(c, c.flag(1), true);
}
static LogicalResult svdvals(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(floating(c, a)))
    return failure();
  return rowMajor(c, toReal(a.dtype), with(batch(a), {smaller(a)}));
}

/// (Q, R)
static LogicalResult qr(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(floating(c, a)))
    return failure();
  StringRef mode = c.optText(1);
  if (mode.empty())
    mode = "reduced";
  if (mode != "reduced" && mode != "complete" && mode != "r")
    return c.fail(FakeError::Other, "qr's mode must be 'reduced', 'complete' "
                                    "or 'r', not '" +
                                        mode + "'");
  Dim m = a.sizes[a.rank() - 2], n = a.sizes.back();
  Dim k = mode == "complete" ? m : smaller(a);
  if (mode == "r")
    (void)rowMajor(c, a.dtype, Dim(0));
  else
    (void)columnMajor(c, a.dtype, with(batch(a), {m, k}));
  return columnMajor(c, a.dtype, with(batch(a), {k, n}));
}

/// (the reflectors, their scales)
static LogicalResult geqrf(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(fullPrecision(c, a)))
    return failure();
  (void)columnMajor(c, a.dtype, a.sizes);
  return rowMajor(c, a.dtype, with(batch(a), {smaller(a)}));
}

/// (U, H) of A = U H
static LogicalResult polar(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(floating(c, a)))
    return failure();
  if (c.lt(a.sizes[a.rank() - 2], a.sizes.back()))
    return c.fail(FakeError::Shape,
                  "polar factors need at least as many rows as columns, but " +
                      c.sizeAt(a, -2) + ", " + c.sizeAt(a, -1));
  (void)rowMajor(c, a.dtype, a.sizes);
  return rowMajor(c, a.dtype, with(batch(a), {a.sizes.back(), a.sizes.back()}));
}

static LogicalResult householder(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &tau = c.tensor(1);
  if (failed(matrices(c, a)))
    return failure();
  if (c.lt(a.sizes[a.rank() - 2], a.sizes.back()))
    return c.fail(
        FakeError::Shape,
        "a product of reflectors needs at least as many rows as columns, but " +
            c.sizeAt(a, -2) + ", " + c.sizeAt(a, -1));
  if (tau.sizes.empty() || tau.rank() != a.rank() - 1)
    return c.fail(FakeError::Dim, "tau needs " + Twine(a.rank() - 1) +
                                      " dims, it has " + Twine(tau.rank()));
  if (c.lt(a.sizes.back(), tau.sizes.back()))
    return c.fail(FakeError::Shape,
                  c.sizeAt(tau, -1) + ", which is more than the reflectors: " +
                      c.sizeAt(a, -1));
  if (failed(oneDType(c, a, tau)))
    return failure();
  return columnMajor(c, a.dtype, a.sizes);
}

/// (input, tau, other, left, transpose)
static LogicalResult ormqr(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &tau = c.tensor(1), &other = c.tensor(2);
  if (failed(matrices(c, a)) || failed(oneDType(c, a, tau)) ||
      failed(oneDType(c, a, other)))
    return failure();
  if (other.rank() != a.rank() || tau.rank() != a.rank() - 1)
    return c.fail(FakeError::Dim, "input, tau and other have " +
                                      Twine(a.rank()) + ", " +
                                      Twine(tau.rank()) + " and " +
                                      Twine(other.rank()) + " dims");
  Dim side = other.sizes[other.rank() - (c.flag(3) ? 2 : 1)];
  if (c.lt(side, tau.sizes.back()) || !c.mustEq(side, a.sizes[a.rank() - 2]))
    return c.fail(FakeError::Shape,
                  "the reflectors do not fit: " + c.sizeAt(a, -2) + ", " +
                      c.sizeAt(other, c.flag(3) ? -2 : -1) + ", " +
                      c.sizeAt(tau, -1));
  return columnMajor(c, other.dtype, other.sizes);
}

//===----------------------------------------------------------------------===//
// LU, LDL
//===----------------------------------------------------------------------===//

/// (P, L, U)
static LogicalResult lu(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(floating(c, a)))
    return failure();
  Dim m = a.sizes[a.rank() - 2], n = a.sizes.back(), k = smaller(a);
  if (c.flag(1))
    (void)rowMajor(c, a.dtype, with(batch(a), {m, m}));
  else
    (void)rowMajor(c, a.dtype, Dim(0));
  (void)rowMajor(c, a.dtype, with(batch(a), {m, k}));
  return rowMajor(c, a.dtype, with(batch(a), {k, n}));
}

/// (LU, pivots, info)
static LogicalResult luFactor(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)))
    return failure();
  (void)columnMajor(c, a.dtype, a.sizes);
  (void)rowMajor(c, DType::I32, with(batch(a), {smaller(a)}));
  return rowMajor(c, DType::I32, batch(a));
}

/// (data, pivots, unpack_data, unpack_pivots)
static LogicalResult luUnpack(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)))
    return failure();
  if (c.flag(3) && c.tensor(1).dtype != DType::I32)
    return c.fail(FakeError::Dtype, "the pivots must be int32, not " +
                                        dtypeName(c.tensor(1).dtype));
  Dim m = a.sizes[a.rank() - 2], n = a.sizes.back(), k = smaller(a);
  if (c.flag(3))
    (void)rowMajor(c, a.dtype, with(batch(a), {m, m}));
  else
    (void)rowMajor(c, a.dtype, Dim(0));
  if (!c.flag(2)) {
    (void)rowMajor(c, a.dtype, Dim(0));
    return rowMajor(c, a.dtype, Dim(0));
  }
  (void)rowMajor(c, a.dtype, with(batch(a), {m, k}));
  return rowMajor(c, a.dtype, with(batch(a), {k, n}));
}

/// (LD, pivots, info)
static LogicalResult ldlFactor(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)) || failed(floating(c, a)))
    return failure();
  (void)columnMajor(c, a.dtype, a.sizes);
  (void)rowMajor(c, DType::I32, batch(a, 1));
  return rowMajor(c, DType::I32, batch(a));
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

/// The sizes of X in A X = B (or X A = B), batches broadcast.
static FailureOr<Dims> solveSizes(FakeCall &c, const TensorMeta &a,
                                  const TensorMeta &b, bool left) {
  if (failed(square(c, a)))
    return failure();
  if (failed(matrices(c, b)))
    return failure();
  Dim side = b.sizes[b.rank() - (left ? 2 : 1)];
  if (!c.mustEq(side, a.sizes.back()))
    return c.fail(FakeError::Shape,
                  "the matrices and right-hand sides do not fit: " +
                      c.sizeAt(a, -1) + ", " + c.sizeAt(b, left ? -2 : -1));
  TensorMeta first, second;
  first.sizes = batch(a);
  second.sizes = batch(b);
  FailureOr<Dims> sizes = c.broadcast({&first, &second}, {&a, &b}, 2);
  if (failed(sizes))
    return failure();
  sizes->append(b.sizes.end() - 2, b.sizes.end());
  return sizes;
}

/// (result, LU, pivots, info); B may hold vectors.
static LogicalResult solveEx(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  bool left = c.flag(2);
  if (failed(oneDType(c, a, b)) || failed(square(c, a)) ||
      failed(floating(c, a)))
    return failure();
  bool vectors = b.rank() == 1 ||
                 (b.rank() == a.rank() - 1 &&
                  c.sameSizes(b.sizes, ArrayRef<Dim>(a.sizes).drop_back()));
  if (vectors) {
    if (!c.mustEq(b.sizes.back(), a.sizes.back()))
      return c.fail(FakeError::Shape,
                    "the matrices and right-hand sides do not fit: " +
                        c.sizeAt(a, -1) + ", " + c.sizeAt(b, -1));
    Dims sizes = with(batch(a), {a.sizes.back()});
    if (b.rank() == 1)
      (void)rowMajor(c, a.dtype, sizes);
    else
      (void)columnMajor(c, a.dtype, sizes);
  } else {
    FailureOr<Dims> sizes = solveSizes(c, a, b, left);
    if (failed(sizes))
      return failure();
    (void)columnMajor(c, a.dtype, *sizes);
  }
  (void)columnMajor(c, a.dtype, a.sizes);
  (void)rowMajor(c, DType::I32, batch(a, 1));
  return rowMajor(c, DType::I32, batch(a));
}

/// (A, B, *, upper, left, unitriangular)
static LogicalResult solveTriangular(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  FailureOr<Dims> sizes = solveSizes(c, a, b, c.flag(3));
  return failed(sizes) ? failure() : columnMajor(c, a.dtype, *sizes);
}

/// The older form: (b, A) → (X, a copy of A).
static LogicalResult triangularSolve(FakeCall &c) {
  const TensorMeta &b = c.tensor(0), &a = c.tensor(1);
  if (failed(matrices(c, b)) || failed(matrices(c, a)) ||
      failed(oneDType(c, b, a)))
    return failure();
  FailureOr<Dims> sizes = solveSizes(c, a, b, true);
  if (failed(sizes))
    return failure();
  Dims whole(sizes->begin(), sizes->end() - 2);
  (void)columnMajor(c, b.dtype, *sizes);
  return columnMajor(c, a.dtype, with(whole, {a.sizes.back(), a.sizes.back()}));
}

/// The solution stands at the top of the right-hand sides, which have as many
/// rows as the larger of the two sizes.
static LogicalResult topOf(FakeCall &c, DType dtype, Dims sizes, Dim rows,
                           bool vectors) {
  TensorMeta out = TensorMeta::contiguous(dtype, sizes, c.device);
  Dim columns = vectors ? Dim(1) : sizes.back(), step = rows * columns;
  size_t rank = sizes.size(), inner = vectors ? 1 : 2;
  out.strides[rank - inner] = 1;
  if (!vectors)
    out.strides[rank - 1] = maxDim(rows, 1);
  for (size_t d = rank - inner; d-- > 0; step = step * maxDim(sizes[d], 1))
    out.strides[d] = maxDim(step, 1);
  return c.fresh(std::move(out));
}

/// (A, B, rcond, *, driver). Two drivers give residuals only of matrices of
/// full rank. A graph has them of all matrices; elsewhere that depends on data.
static LogicalResult leastSquares(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  if (!c.scope || !c.scope->allowsUnknownTruth() || !a.isStatic() ||
      !b.isStatic())
    return dataDependentSize(c);
  if (failed(matrices(c, a)) || failed(floating(c, a)) ||
      failed(oneDType(c, a, b)))
    return failure();
  StringRef driver = c.isNone(3) ? "gelsy" : c.text(3);
  if (!is_contained({"gels", "gelsy", "gelsd", "gelss"}, driver))
    return c.fail(FakeError::Other, "driver '" + driver +
                                        "' is none of gels, gelsy, gelsd and "
                                        "gelss");
  ArrayRef<Dim> heights = ArrayRef<Dim>(a.sizes).drop_back();
  bool vectors = b.rank() == a.rank() - 1;
  if (vectors ? !c.sameSizes(b.sizes, heights)
              : b.rank() != a.rank() ||
                    !c.sameSizes(ArrayRef<Dim>(b.sizes).drop_back(), heights))
    return c.fail(FakeError::Shape,
                  "right-hand sides " + c.show(b) + " do not fit matrices " +
                      c.show(a) +
                      unlike(vectors ? ArrayRef<Dim>(b.sizes)
                                     : ArrayRef<Dim>(b.sizes).drop_back(),
                             heights));
  int64_t m = heights.back().value(), n = a.sizes.back().value();
  Dim columns = vectors ? Dim(1) : b.sizes.back();
  Dims stack = batch(a);
  Dims sizes = with(stack, {Dim(n)});
  if (!vectors)
    sizes.push_back(columns);
  bool values = driver == "gelsd" || driver == "gelss";
  (void)topOf(c, a.dtype, sizes, std::max(m, n), vectors);
  bool residuals = m > n && driver != "gelsy";
  (void)rowMajor(c, toReal(a.dtype),
                 residuals ? with(stack, {columns}) : Dims{0});
  (void)rowMajor(c, DType::I64, driver == "gels" ? Dims{0} : stack);
  return rowMajor(c, toReal(a.dtype),
                  values ? with(stack, {Dim(std::min(m, n))}) : Dims{0});
}

/// (b, the Cholesky factor)
static LogicalResult choleskySolve(FakeCall &c) {
  const TensorMeta &b = c.tensor(0), &a = c.tensor(1);
  if (failed(matrices(c, b)) || failed(matrices(c, a)) ||
      failed(oneDType(c, b, a)))
    return failure();
  FailureOr<Dims> sizes = solveSizes(c, a, b, true);
  return failed(sizes) ? failure() : columnMajor(c, b.dtype, *sizes);
}

static LogicalResult solvePivoted(FakeCall &c, const TensorMeta &a,
                                  const TensorMeta &pivots, const TensorMeta &b,
                                  bool ldl, bool left) {
  if (failed(matrices(c, a)) || failed(floating(c, a)) ||
      failed(oneDType(c, a, b)) || failed(square(c, a)))
    return failure();
  if (ldl ? !isIntegral(pivots.dtype) : pivots.dtype != DType::I32)
    return c.fail(FakeError::Dtype,
                  "the pivots must be int32, not " + dtypeName(pivots.dtype));
  if (pivots.sizes.empty() || !c.mustEq(pivots.sizes.back(), a.sizes.back()))
    return c.fail(FakeError::Dim,
                  "the pivots " + c.show(pivots) + " do not fit " + c.show(a) +
                      unlike(pivots.sizes, ArrayRef<Dim>(a.sizes).drop_back()));
  if (!c.sameSizes(pivots.sizes, ArrayRef<Dim>(a.sizes).drop_back()))
    return c.fail(FakeError::Shape,
                  "the pivots " + c.show(pivots) + " do not fit " + c.show(a) +
                      unlike(pivots.sizes, ArrayRef<Dim>(a.sizes).drop_back()));
  FailureOr<Dims> sizes = solveSizes(c, a, b, left);
  if (failed(sizes))
    return failure();
  // X A = B is solved as Aᵀ Xᵀ = Bᵀ.
  return left ? columnMajor(c, a.dtype, *sizes) : rowMajor(c, a.dtype, *sizes);
}

/// (LU or LD, pivots, B, …)
template <bool Ldl>
static LogicalResult pivotedSolve(FakeCall &c) {
  return solvePivoted(c, c.tensor(0), c.tensor(1), c.tensor(2), Ldl,
                      Ldl || c.flag(3));
}

/// The older order: (B, LU, pivots)
static LogicalResult luSolve(FakeCall &c) {
  return solvePivoted(c, c.tensor(1), c.tensor(2), c.tensor(0), false, true);
}

static LogicalResult cross(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  if (a.rank() != b.rank())
    return c.fail(FakeError::Dim, "cross needs one number of dims, " +
                                      c.nameOf(&a) + " has " + Twine(a.rank()) +
                                      " and " + c.nameOf(&b) + " " +
                                      Twine(b.rank()));
  FailureOr<int64_t> dim = 0;
  if (!c.isNone(2)) {
    dim = c.wrapDim(2, a.rank());
  } else {
    // Without a dim it is the first of size 3.
    while (*dim < a.rank() && !c.eq(a.sizes[*dim], 3))
      ++*dim;
    if (*dim == a.rank())
      return c.fail(FakeError::Dim, "cross needs a dim of size 3, there is "
                                    "none in " +
                                        c.show(a));
  }
  if (failed(dim))
    return failure();
  for (const TensorMeta *t : {&a, &b})
    if (t->sizes.empty() || !c.mustEq(t->sizes[*dim], 3))
      return c.fail(FakeError::Dim,
                    t->sizes.empty()
                        ? c.nameOf(t) + " has no dim to be crossed along"
                        : "cross needs size 3, but " + c.sizeAt(*t, *dim));
  if (failed(oneDType(c, a, b)))
    return failure();
  FailureOr<Dims> sizes = c.broadcast({&a, &b});
  return failed(sizes) ? failure() : rowMajor(c, a.dtype, *sizes);
}

//===----------------------------------------------------------------------===//
// Composites: some results of the ops above
//===----------------------------------------------------------------------===//

/// The results of `Rule` whose bits are set in `Kept`.
template <FakeRule Rule, unsigned Kept>
static LogicalResult some(FakeCall &c) {
  if (failed(Rule(c)))
    return failure();
  SmallVector<FakeResult, 2> kept;
  for (auto [i, result] : enumerate(c.results))
    if (Kept >> i & 1)
      kept.push_back(std::move(result));
  c.results = std::move(kept);
  return success();
}

static LogicalResult logdet(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(square(c, a)) || failed(fullPrecision(c, a)))
    return failure();
  return rowMajor(c, a.dtype, batch(a));
}

/// (result, info) for inputs that factorisations give.
static LogicalResult solvePair(FakeCall &c) { return some<solveEx, 9>(c); }

static LogicalResult matrixNorm(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(floating(c, a)))
    return failure();
  auto dims = c.wrapDims(2, a.rank(), /*emptyIsAll=*/false);
  if (failed(dims))
    return failure();
  if (dims->size() != 2)
    return c.fail(FakeError::Dim,
                  "a matrix norm is over 2 dims, not " + Twine(dims->size()));
  if (c.arg(1).kind != Arg::Str && failed(needsLeast(c, *dims, c.number(1))))
    return failure();
  Dims sizes;
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (!is_contained(*dims, d))
      sizes.push_back(a.sizes[d]);
    else if (c.flag(3))
      sizes.push_back(1);
  }
  return rowMajor(c, toReal(c.dtype(4).value_or(a.dtype)), sizes);
}

/// (self, p): by singular values, else by the norms of A and its inverse.
static LogicalResult cond(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(fullPrecision(c, a)))
    return failure();
  bool named = c.arg(1).kind == Arg::Str;
  double order = named || c.isNone(1) ? 2 : std::abs(c.number(1));
  if (named && c.text(1) != "fro" && c.text(1) != "nuc")
    return c.fail(FakeError::Other,
                  "linalg_cond's p must be 'fro' or 'nuc', not '" + c.text(1) +
                      "'");
  if (order != 1 && order != 2 && order < 1e300)
    return c.fail(FakeError::Other, "linalg_cond's p must be ±1, ±2 or ±inf, "
                                    "not " +
                                        std::to_string(c.number(1)));
  if ((named || order != 2) && failed(square(c, a)))
    return failure();
  return rowMajor(c, toReal(a.dtype), batch(a));
}

/// How many singular values exceed the tolerances, which broadcast.
static LogicalResult matrixRank(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(matrices(c, a)) || failed(fullPrecision(c, a)))
    return failure();
  if (c.flag(c.schema().argIndex("hermitian")) && failed(square(c, a)))
    return failure();
  TensorMeta each;
  each.sizes = batch(a);
  SmallVector<const TensorMeta *, 3> shapes = {&each};
  for (auto [i, arg] : enumerate(c.arguments())) {
    if (i == 0 || arg.kind != Arg::Tensor)
      continue;
    if (isComplex(c.tensor(i).dtype))
      return c.fail(FakeError::Other, "'" + c.schema().args[i].name +
                                          "' must not be complex, it is " +
                                          dtypeName(c.tensor(i).dtype));
    shapes.push_back(&c.tensor(i));
  }
  // Empty matrices have rank 0, whatever the tolerance.
  if (a.numel().is(0))
    return rowMajor(c, DType::I64, each.sizes);
  FailureOr<Dims> sizes = c.broadcast(shapes);
  return failed(sizes) ? failure() : rowMajor(c, DType::I64, *sizes);
}

/// The inverse of a tensor whose first `ind` dims are the rows.
///   [2, 3, 6]: a matrix of 6 × 6, inverted [6, 2, 3] strides [1, 18, 6]
static LogicalResult tensorInv(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(fullPrecision(c, a)))
    return failure();
  if (c.lt(c.dim(1), 1) || !c.dim(1).isStatic())
    return c.fail(FakeError::Other, "linalg_tensorinv's ind must be positive, "
                                    "not " +
                                        c.dim(1).str());
  size_t ind = std::min<size_t>(c.dim(1).value(), a.sizes.size());
  ArrayRef<Dim> rows = ArrayRef<Dim>(a.sizes).take_front(ind);
  ArrayRef<Dim> columns = ArrayRef<Dim>(a.sizes).drop_front(ind);
  if (!c.mustEq(product(rows), product(columns)))
    return c.fail(FakeError::Other,
                  "linalg_tensorinv needs as many rows as columns, " +
                      c.show(a) + " has " + product(rows).str() + " and " +
                      product(columns).str());
  TensorMeta out;
  out.dtype = a.dtype;
  out.device = c.device;
  out.sizes.append(columns.begin(), columns.end());
  out.strides = contiguousStrides(columns);
  out.sizes.append(rows.begin(), rows.end());
  for (Dim stride : contiguousStrides(rows))
    out.strides.push_back(stride * atLeastOne(product(columns)));
  return c.fresh(std::move(out));
}

/// (A, B, dims): X with tensordot(A, X) = B; `dims` of A go last.
static LogicalResult tensorSolve(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  if (failed(oneDType(c, a, b)) || failed(fullPrecision(c, a)))
    return failure();
  auto moved = c.wrapDims(2, a.rank(), /*emptyIsAll=*/false);
  if (failed(moved))
    return failure();
  Dims sizes;
  for (int64_t d = 0; d < a.rank(); ++d)
    if (!is_contained(*moved, d))
      sizes.push_back(a.sizes[d]);
  for (int64_t d : *moved)
    sizes.push_back(a.sizes[d]);
  size_t given = std::min(b.sizes.size(), sizes.size());
  ArrayRef<Dim> rows = ArrayRef<Dim>(sizes).take_front(given);
  ArrayRef<Dim> columns = ArrayRef<Dim>(sizes).drop_front(given);
  if (!c.mustEq(product(rows), product(columns)) ||
      !c.mustEq(product(rows), b.numel()))
    return c.fail(FakeError::Other, "linalg_tensorsolve of " + c.show(a) +
                                        " with " + product(rows).str() +
                                        " rows and " + product(columns).str() +
                                        " columns does not fit " + c.show(b));
  return rowMajor(c, a.dtype, columns);
}

/// svd(self, some, compute_uv): V where linalg_svd gives its adjoint.
static LogicalResult oldSvd(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (failed(svdOf(c, !c.flag(1), true)))
    return failure();
  if (!c.flag(2)) {
    // Zeros in place of the vectors, as many as there would be of all.
    Dim m = a.sizes[a.rank() - 2], n = a.sizes.back();
    c.results[0].meta =
        TensorMeta::contiguous(a.dtype, with(batch(a), {m, m}), c.device);
    c.results[2].meta =
        TensorMeta::contiguous(a.dtype, with(batch(a), {n, n}), c.device);
  }
  TensorMeta &v = c.results[2].meta;
  size_t rank = v.sizes.size();
  std::swap(v.sizes[rank - 2], v.sizes[rank - 1]);
  std::swap(v.strides[rank - 2], v.strides[rank - 1]);
  v.conj = isComplex(v.dtype);
  return success();
}

ArrayRef<FakeRuleRow> linalgRules() {
  static const FakeRuleRow rows[] = {
      {"_linalg_det.default", det},
      {"_linalg_eigh.default", eigh},
      {"_linalg_slogdet.default", slogdet},
      {"_linalg_solve_ex.default", solveEx},
      {"_linalg_svd.default", svd},
      {"_cholesky_solve_helper.default", choleskySolve},
      {"_linalg_eigvals.default", some<eig, 1>},
      {"_lu_with_info.default", luFactor},
      {"cholesky_inverse.default", choleskyInverse},
      {"cholesky_solve.default", choleskySolve},
      {"cross.default", cross},
      {"det.default", some<det, 1>},
      {"geqrf.default", geqrf},
      {"inverse.default", some<squareAndInfo, 1>},
      {"linalg_cholesky.default", some<squareAndInfo, 1>},
      {"linalg_det.default", some<det, 1>},
      {"linalg_eigh.default", eigh},
      {"linalg_cond.default", cond},
      {"linalg_cond.p_str", cond},
      {"linalg_eigvals.default", some<eig, 1>},
      {"linalg_eigvalsh.default", some<eigh, 1>},
      {"linalg_inv.default", some<squareAndInfo, 1>},
      {"linalg_lu_factor.default", some<luFactor, 3>},
      {"linalg_matrix_norm.default", matrixNorm},
      {"linalg_matrix_norm.str_ord", matrixNorm},
      {"linalg_matrix_rank.atol_rtol_float", matrixRank},
      {"linalg_matrix_rank.atol_rtol_tensor", matrixRank},
      {"linalg_matrix_rank.default", matrixRank},
      {"linalg_matrix_rank.tol_tensor", matrixRank},
      {"linalg_matrix_power.default", matrixPower},
      {"linalg_pinv.default", pinv},
      {"linalg_slogdet.default", some<slogdet, 3>},
      {"linalg_solve.default", some<solveEx, 1>},
      {"linalg_solve_ex.default", solvePair},
      {"linalg_svd.default", linalgSvd},
      {"linalg_svdvals.default", svdvals},
      {"logdet.default", logdet},
      {"matrix_exp.default", squareRowMajor<false>},
      {"matrix_power.default", matrixPower},
      {"slogdet.default", some<slogdet, 3>},
      {"linalg_cholesky_ex.default", squareAndInfo},
      {"linalg_cross.default", cross},
      {"linalg_eig.default", eig},
      {"linalg_householder_product.default", householder},
      {"linalg_inv_ex.default", squareAndInfo},
      {"linalg_ldl_factor.default", some<ldlFactor, 3>},
      {"linalg_ldl_factor_ex.default", ldlFactor},
      {"linalg_ldl_solve.default", pivotedSolve<true>},
      {"linalg_lstsq.default", leastSquares},
      {"linalg_lu.default", lu},
      {"linalg_lu_factor_ex.default", luFactor},
      {"linalg_lu_solve.default", pivotedSolve<false>},
      {"linalg_matrix_exp.default", squareRowMajor<false>},
      {"linalg_matrix_sqrth.default", squareRowMajor<true>},
      {"linalg_pinv.atol_rtol_float", pinv},
      {"linalg_pinv.atol_rtol_tensor", pinv},
      {"linalg_pinv.rcond_tensor", pinv},
      {"linalg_polar.default", polar},
      {"linalg_qr.default", qr},
      {"linalg_solve_triangular.default", solveTriangular},
      {"linalg_tensorinv.default", tensorInv},
      {"linalg_tensorsolve.default", tensorSolve},
      {"lu_solve.default", luSolve},
      {"lu_unpack.default", luUnpack},
      {"orgqr.default", householder},
      {"ormqr.default", ormqr},
      {"pinverse.default", pinv},
      {"svd.default", oldSvd},
      {"triangular_solve.default", triangularSolve},
  };
  return rows;
}

} // namespace ft
