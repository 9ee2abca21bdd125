//===- LinalgSamplers.cpp - Arguments of linear algebra -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices whose condition is known: far from singular where an operator
// divides, definite where it takes roots; singular ones, where the operator
// defines the result. They are new inputs each time: one factor that is off by
// its condition would leave undecided whatever is made of it.

#include "tests/interpreter/Dense.h"
#include "tests/random/Sampler.h"

#include <cmath>

using namespace ft;
using namespace ft::random;
using interpreter::Complex;
using interpreter::Matrix;

//===----------------------------------------------------------------------===//
// Sizes and numbers
//===----------------------------------------------------------------------===//

static DType numbers(Sampler &s) {
  static const DType kTypes[] = {DType::F32, DType::F32, DType::F32, DType::F64,
                                 DType::F64, DType::C64, DType::C128};
  return s.rng.of(kTypes);
}

static Shape batchOf(Sampler &s) {
  if (s.rng.chance(55))
    return {};
  if (s.rng.chance(8))
    return {0};
  if (s.rng.chance(20))
    return {2, s.rng.between(1, 2)};
  return {s.rng.between(1, 3)};
}

/// A batch that broadcasts with the other.
static Shape otherBatch(Sampler &s, const Shape &batch) {
  return s.rng.chance(60) ? batch : s.smaller(batch);
}

static int64_t order(Sampler &s, bool empty = true) {
  return empty && s.rng.chance(5) ? 0
         : s.rng.chance(15)       ? 1
         : s.rng.chance(12)       ? s.rng.between(6, 18)
                                  : s.rng.between(2, 5);
}

static Matrix randomMatrix(Sampler &s, DType dtype, int64_t rows,
                           int64_t cols) {
  bool whole = s.rng.chance(20);
  auto number = [&] {
    return whole ? double(s.rng.between(-3, 3)) : 4 * s.rng.unit() - 2;
  };
  Matrix m(rows, cols);
  for (Complex &x : m.data) {
    x = number();
    if (isComplex(dtype))
      x.imag(number());
  }
  return m;
}

using Kind = llvm::function_ref<Matrix(Sampler &, DType, int64_t, int64_t)>;

static int matrices(Sampler &s, DType dtype, const Shape &batch, int64_t rows,
                    int64_t cols, Kind kind = randomMatrix) {
  Shape shape = batch;
  shape.insert(shape.end(), {rows, cols});
  Tensor data(dtype, shape);
  for (int64_t k = 0, n = interpreter::numelOf(batch); k < n; ++k)
    storeMatrix(data, k, kind(s, dtype, rows, cols));
  return s.place(std::move(data));
}

/// A diagonal beside which the rest is small, in any order of the rows.
static Matrix regular(Sampler &s, DType dtype, int64_t rows, int64_t cols) {
  Matrix m = randomMatrix(s, dtype, rows, cols);
  for (int64_t i = 0; i < std::min(rows, cols); ++i)
    m(i, i) += (m(i, i).real() < 0 ? -2 : 2) * std::sqrt(double(rows));
  if (s.rng.chance(60))
    for (int64_t i = rows; i-- > 1;)
      m.swapRows(i, s.rng.between(0, i));
  return m;
}

/// Sometimes of lower rank: without a row or a column, or with two that are
/// equal.
static Matrix anyRank(Sampler &s, DType dtype, int64_t rows, int64_t cols) {
  Matrix m = s.rng.chance(50) ? regular(s, dtype, rows, cols)
                              : randomMatrix(s, dtype, rows, cols);
  if (!rows || !cols || s.rng.chance(80))
    return m;
  int64_t row = s.rng.between(0, rows - 1), col = s.rng.between(0, cols - 1);
  int64_t style = s.rng.between(0, 3);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      if (style == 0 || (style == 1 && i == row) || (style == 2 && j == col))
        m(i, j) = 0;
      else if (style == 3 && i == row)
        m(i, j) = m(0, j);
  return m;
}

static Matrix definite(Sampler &s, DType dtype, int64_t n, int64_t) {
  Matrix m = randomMatrix(s, dtype, n, n), a = m * m.adjoint();
  for (int64_t i = 0; i < n; ++i)
    a(i, i) += 1;
  return a;
}

/// A diagonal away from 0; numbers in both triangles, one of which no operator
/// may read.
static Matrix triangular(Sampler &s, DType dtype, int64_t n, int64_t) {
  Matrix m = randomMatrix(s, dtype, n, n);
  for (int64_t i = 0; i < n; ++i)
    m(i, i) += m(i, i).real() < 0 ? -2 : 2;
  for (Complex &x : m.data)
    x /= 2;
  return m;
}

//===----------------------------------------------------------------------===//
// Other arguments
//===----------------------------------------------------------------------===//

static Arg tolerance(Sampler &s) {
  static const double kNumbers[] = {0.5, 0.1, 1e-3, 0, 1.5};
  return Arg::floating(s.rng.of(kNumbers));
}

/// The arguments from `first` on that are not set, by their names.
static void rest(Sampler &s, unsigned first, const Shape &batch) {
  for (unsigned i = first; i < s.args.size(); ++i) {
    const SchemaArg &arg = s.schema.args[i];
    llvm::StringRef name = arg.name;
    if (!s.args[i].isNone())
      continue;
    if (name == "UPLO")
      s.set(i, Arg::string(s.rng.chance(50) ? "L" : "U"));
    else if (name == "mode")
      s.set(i, Arg::string(s.rng.of({"reduced", "complete", "r"})));
    else if (name == "pivot")
      s.set(i, Arg::truth(true)); // else it is CUDA's
    else if (name == "check_errors" || name.starts_with("compute_"))
      s.set(i, Arg::truth(s.rng.chance(name == "check_errors" ? 20 : 80)));
    else if (name == "driver")
      s.set(i, Arg::none());
    else if (name == "atol" || name == "rtol" || name == "tol" ||
             name == "rcond") {
      if (arg.type.optional && s.rng.chance(40))
        continue;
      if (arg.type.kind != SchemaType::Tensor)
        s.set(i, tolerance(s));
      else {
        Tensor data(s.rng.chance(70) ? DType::F32 : DType::F64,
                    otherBatch(s, batch));
        for (int64_t k = 0; k < data.numel(); ++k)
          data.setReal(k, tolerance(s).real);
        s.set(i, s.place(std::move(data)));
      }
    } else if (arg.type.kind == SchemaType::Bool)
      s.setBool(i);
    else if (arg.hasDefault)
      s.set(i, arg.defaultValue);
  }
}

template <Matrix (*kind)(Sampler &, DType, int64_t, int64_t)>
static bool square(Sampler &s) {
  Shape batch = batchOf(s);
  int64_t n = order(s);
  s.set(0, matrices(s, numbers(s), batch, n, n, kind));
  rest(s, 1, batch);
  return true;
}

/// Matrices of any sizes; square ones if `hermitian` is drawn.
template <Matrix (*kind)(Sampler &, DType, int64_t, int64_t)>
static bool rectangular(Sampler &s) {
  Shape batch = batchOf(s);
  int64_t m = order(s), n = s.rng.chance(30) ? m : order(s);
  if (s.schema.base == "linalg_polar" && m < n)
    std::swap(m, n);
  int hermitian = s.schema.argIndex("hermitian");
  if (hermitian >= 0 && s.rng.chance(30)) {
    s.set(hermitian, Arg::truth(true));
    n = m;
  } else if (hermitian >= 0) {
    s.set(hermitian, Arg::truth(false));
  }
  s.set(0, matrices(s, numbers(s), batch, m, n, kind));
  rest(s, 1, batch);
  return true;
}

/// Definite ones; others where their failure is a result.
static bool cholesky(Sampler &s) {
  bool checked = s.schema.argIndex("check_errors") < 0;
  Shape batch = batchOf(s);
  int64_t n = order(s);
  s.set(0, matrices(s, numbers(s), batch, n, n,
                    [&](Sampler &s, DType dtype, int64_t n, int64_t) {
                      return checked || s.rng.chance(75)
                                 ? definite(s, dtype, n, n)
                                 : anyRank(s, dtype, n, n);
                    }));
  rest(s, 1, batch);
  return true;
}

static bool condition(Sampler &s) {
  static const double kOrders[] = {2, -2, 1, -1, HUGE_VAL, -HUGE_VAL};
  Shape batch = batchOf(s);
  int64_t n = order(s), m = n;
  if (s.schema.overload == "p_str") {
    s.set(1, Arg::string(s.rng.of({"fro", "nuc"})));
  } else if (s.rng.chance(80)) {
    double p = s.rng.of(kOrders);
    s.set(1, Arg::floating(p));
    if (std::abs(p) == 2)
      m = order(s);
  }
  s.set(0, matrices(s, numbers(s), batch, m, n, anyRank));
  return true;
}

static bool matrixPower(Sampler &s) {
  Shape batch = batchOf(s);
  int64_t n = order(s), exponent = s.rng.between(-3, 6);
  DType dtype = exponent < 0 || s.rng.chance(50) ? numbers(s) : s.dtype();
  s.set(0, matrices(s, dtype, batch, n, n,
                    [&](Sampler &s, DType dtype, int64_t n, int64_t) {
                      return exponent < 0 ? regular(s, dtype, n, n)
                                          : randomMatrix(s, dtype, n, n);
                    }));
  s.setInt(1, exponent);
  return true;
}

static bool exponential(Sampler &s) {
  Shape batch = batchOf(s);
  int64_t n = order(s);
  double size = s.rng.of({1e-3, 0.1, 1.0, 1.0, 3.0});
  s.set(0, matrices(s, s.rng.chance(80) ? numbers(s) : s.floatType(), batch, n,
                    n, [&](Sampler &s, DType dtype, int64_t n, int64_t) {
                      Matrix m = randomMatrix(s, dtype, n, n);
                      for (Complex &x : m.data)
                        x *= size / std::sqrt(double(n));
                      return m;
                    }));
  return true;
}

//===----------------------------------------------------------------------===//
// Systems
//===----------------------------------------------------------------------===//

/// (A, B) or (B, A), whose batches broadcast.
template <Matrix (*kind)(Sampler &, DType, int64_t, int64_t)>
static bool system(Sampler &s) {
  Shape batch = batchOf(s);
  bool one = s.schema.base == "_cholesky_solve_helper";
  DType dtype = numbers(s);
  int64_t n = order(s), k = order(s);
  int a = matrices(s, dtype, one ? batch : otherBatch(s, batch), n, n, kind);
  int left = s.schema.argIndex("left");
  bool onRight = left >= 0 && s.rng.chance(40), vectors = false;
  if (left >= 0)
    s.set(left, Arg::truth(!onRight));
  int b;
  if (s.schema.base.contains("solve") && s.schema.args[0].name == "A" &&
      !onRight && s.rng.chance(25)) {
    vectors = true;
    Shape shape = s.rng.chance(50) ? Shape{n} : s.shapeOf(a);
    if (shape.size() > 1)
      shape.pop_back();
    Tensor data(dtype, shape);
    Matrix numbers = randomMatrix(s, dtype, 1, data.numel());
    for (int64_t i = 0; i < data.numel(); ++i)
      data.setComplex(i, numbers.data[i]);
    b = s.place(std::move(data));
  }
  if (!vectors)
    b = matrices(s, dtype, one ? batch : otherBatch(s, batch), onRight ? k : n,
                 onRight ? n : k);
  bool matrixFirst = s.schema.base.starts_with("linalg_") ||
                     s.schema.base.starts_with("_linalg_");
  s.set(0, matrixFirst ? a : b);
  s.set(1, matrixFirst ? b : a);
  rest(s, 2, batch);
  return true;
}

/// What the interpreter says that a factorisation of `a` is.
static std::vector<Tensor> factorsOf(Sampler &s, llvm::StringRef name,
                                     std::vector<Arg> args, int a,
                                     llvm::ArrayRef<DType> types,
                                     llvm::ArrayRef<Shape> shapes) {
  std::vector<TensorMeta> metas;
  for (auto [type, shape] : llvm::zip(types, shapes))
    metas.push_back(
        TensorMeta::contiguous(type, Dims(shape.begin(), shape.end())));
  Tensor operands[] = {s.program.values[a].data};
  s.program.values.pop_back(); // what is factored is no operand
  return interpreter::evaluate(*SchemaTable::get().find(name), args, operands,
                               metas)
      .results;
}

static Shape with(Shape shape, std::initializer_list<int64_t> more) {
  shape.insert(shape.end(), more);
  return shape;
}

/// (LU, pivots, B), (B, LU, pivots) or (LD, pivots, B)
template <bool ldl>
static bool solveFactored(Sampler &s) {
  Shape batch = batchOf(s), own = otherBatch(s, batch);
  DType dtype = numbers(s);
  int64_t n = order(s), k = order(s);
  std::vector<Arg> args = {Arg::tensor(0), Arg::truth(s.rng.chance(50))};
  if (ldl)
    args.push_back(Arg::truth(false));
  else
    args = {Arg::tensor(0), Arg::truth(true)};
  bool hermitian = args[1].boolean;
  int a = matrices(s, dtype, own, n, n,
                   [&](Sampler &s, DType dtype, int64_t n, int64_t) {
                     Matrix m = regular(s, dtype, n, n);
                     return ldl ? m.mirrored(true, hermitian) : m;
                   });
  std::vector<Tensor> factors = factorsOf(
      s, ldl ? "linalg_ldl_factor_ex.default" : "linalg_lu_factor.default",
      args, a, {dtype, DType::I32, DType::I32},
      {with(own, {n, n}), with(own, {n}), own});
  int lu = s.place(factors[0]), pivots = s.place(factors[1]);
  int left = s.schema.argIndex("left");
  bool onRight = left >= 0 && s.rng.chance(40);
  if (left >= 0)
    s.set(left, Arg::truth(!onRight));
  if (ldl)
    s.set(3, args[1]);
  int b = matrices(s, dtype, otherBatch(s, batch), onRight ? k : n,
                   onRight ? n : k);
  bool rightFirst = s.schema.base == "lu_solve";
  unsigned next = 0;
  if (rightFirst)
    s.set(next++, b);
  s.set(next++, lu);
  s.set(next++, pivots);
  if (!rightFirst)
    s.set(next, b);
  rest(s, 3, batch);
  return true;
}

static bool luUnpack(Sampler &s) {
  Shape batch = batchOf(s);
  int64_t m = order(s), n = order(s), k = std::min(m, n);
  DType dtype = numbers(s);
  s.set(0, matrices(s, dtype, batch, m, n));
  Tensor pivots(DType::I32, with(batch, {k}));
  for (int64_t i = 0; i < pivots.numel(); ++i)
    pivots.setInteger(i, s.rng.between(i % k + 1, m));
  s.set(1, s.place(std::move(pivots)));
  rest(s, 2, batch);
  return true;
}

/// (A, B, rcond, driver)
static bool leastSquares(Sampler &s) {
  Shape batch = batchOf(s);
  DType dtype = numbers(s);
  int64_t m = order(s, false), n = order(s, false), k = order(s, false);
  s.set(0, matrices(s, dtype, batch, m, n, regular));
  if (s.rng.chance(25)) {
    Tensor data(dtype, with(batch, {m}));
    Matrix numbers = randomMatrix(s, dtype, 1, data.numel());
    for (int64_t i = 0; i < data.numel(); ++i)
      data.setComplex(i, numbers.data[i]);
    s.set(1, s.place(std::move(data)));
  } else {
    s.set(1, matrices(s, dtype, batch, m, k));
  }
  if (s.rng.chance(20))
    s.set(2, Arg::floating(1e-4));
  if (s.rng.chance(75))
    s.set(3, Arg::string(s.rng.of({"gels", "gelsy", "gelsd", "gelss"})));
  return true;
}

/// Some dims of a product of `n`.
static Shape split(Sampler &s, int64_t n) {
  Shape shape;
  for (int64_t d = 2; d <= n && s.rng.chance(80); ++d)
    while (n % d == 0 && s.rng.chance(70)) {
      shape.push_back(d);
      n /= d;
    }
  if (n > 1 || shape.empty() || s.rng.chance(20))
    shape.insert(shape.begin() + s.rng.between(0, shape.size()), n);
  return shape;
}

static Tensor regularOf(Sampler &s, DType dtype, int64_t n) {
  Tensor data(dtype, {n, n});
  storeMatrix(data, 0, regular(s, dtype, n, n));
  return data;
}

static bool tensorInverse(Sampler &s) {
  static const int64_t kSizes[] = {1, 2, 4, 6, 6, 8, 12};
  int64_t n = s.rng.of(kSizes);
  Shape rows = split(s, n), cols = split(s, n), shape = rows;
  shape.insert(shape.end(), cols.begin(), cols.end());
  s.set(0, s.place(regularOf(s, numbers(s), n).reshaped(shape)));
  s.setInt(1, rows.size());
  return true;
}

/// `dims` of A stand anywhere: X has the sizes of those.
static bool tensorSolve(Sampler &s) {
  static const int64_t kSizes[] = {1, 2, 4, 6, 6, 8, 12};
  int64_t n = s.rng.of(kSizes);
  DType dtype = numbers(s);
  Shape rows = split(s, n), cols = split(s, n), shape = rows;
  shape.insert(shape.end(), cols.begin(), cols.end());
  Tensor a = regularOf(s, dtype, n).reshaped(shape);
  if (s.rng.chance(40)) {
    // The columns' dims go to the front, and are named.
    Shape turned = cols, dims;
    turned.insert(turned.end(), rows.begin(), rows.end());
    Tensor other(dtype, turned);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        other.set(j * n + i, a, i * n + j);
    a = other;
    for (size_t d = 0; d < cols.size(); ++d)
      dims.push_back(d);
    s.setInts(2, dims);
  }
  s.set(0, s.place(std::move(a)));
  Tensor b(dtype, rows);
  storeMatrix(b, 0, randomMatrix(s, dtype, n, 1));
  s.set(1, s.place(std::move(b)));
  return true;
}

//===----------------------------------------------------------------------===//
// Reflectors
//===----------------------------------------------------------------------===//

/// (reflectors, tau[, C, left, transpose]): of a matrix, or any.
static bool reflectors(Sampler &s) {
  bool applied = s.schema.base == "ormqr";
  Shape batch = batchOf(s);
  DType dtype = numbers(s);
  int64_t n = order(s), m = n + s.rng.between(0, 3), k = n;
  int a = matrices(s, dtype, batch, m, n);
  Tensor packed, tau(dtype, with(batch, {k}));
  if (s.rng.chance(60)) {
    std::vector<Tensor> factors =
        factorsOf(s, "geqrf.default", {Arg::tensor(0)}, a, {dtype, dtype},
                  {with(batch, {m, n}), with(batch, {k})});
    packed = factors[0];
    tau = factors[1];
  } else {
    packed = s.program.values[a].data;
    s.program.values.pop_back();
    if (!applied && s.rng.chance(40))
      tau = Tensor(dtype, with(batch, {k = s.rng.between(0, n)}));
    Matrix numbers = randomMatrix(s, dtype, 1, tau.numel());
    for (int64_t i = 0; i < tau.numel(); ++i)
      tau.setComplex(i, numbers.data[i] / 4.0);
  }
  s.set(0, s.place(std::move(packed)));
  s.set(1, s.place(std::move(tau)));
  if (!applied)
    return true;
  bool left = s.rng.chance(50);
  int64_t other = order(s);
  s.set(2, matrices(s, dtype, batch, left ? m : other, left ? other : m));
  s.set(3, Arg::truth(left));
  s.setBool(4);
  return true;
}

//===----------------------------------------------------------------------===//
// Norms and products of vectors
//===----------------------------------------------------------------------===//

/// Norms over dims: of matrices by name or order, of vectors by any.
static bool norm(Sampler &s) {
  static const double kOfMatrix[] = {1, -1, 2, -2, HUGE_VAL, -HUGE_VAL};
  static const double kOfVector[] = {2, 1, 0, 3, -1, 0.5, HUGE_VAL, -HUGE_VAL};
  llvm::StringRef base = s.schema.base;
  int order = std::max(s.schema.argIndex("ord"), s.schema.argIndex("p"));
  int dim = s.schema.argIndex("dim"), dtype = s.schema.argIndex("dtype");
  bool named = base == "nuclear_norm" || s.schema.overload == "ord_str" ||
               s.schema.overload == "str_ord";
  bool ofMatrix = named || base == "linalg_matrix_norm" ||
                  (base == "linalg_norm" && s.rng.chance(50));
  bool all = dim < 0 || (base != "linalg_matrix_norm" &&
                         s.schema.args[dim].type.optional && s.rng.chance(30));
  Shape shape = s.shape(ofMatrix ? 2 : 1, ofMatrix ? (all ? 2 : 4) : 3);
  if (ofMatrix && all)
    shape.resize(2, 3);
  int64_t rank = shape.size();
  DType type = s.rng.chance(80) ? numbers(s) : s.floatType();
  Tensor data(type, shape);
  Matrix numbers = randomMatrix(s, type, 1, data.numel());
  for (int64_t i = 0; i < data.numel(); ++i)
    data.setComplex(i, numbers.data[i]);
  s.set(0, s.place(std::move(data)));
  if (order >= 0 && named)
    s.set(order, Arg::string(s.rng.of({"fro", "nuc"})));
  else if (order >= 0 && ofMatrix)
    s.set(order, Arg::floating(s.rng.of(kOfMatrix)));
  else if (order >= 0 &&
           !(s.schema.args[order].type.optional && s.rng.chance(20)))
    s.set(order, Arg::floating(s.rng.of(kOfVector)));
  if (dim >= 0 && !all) {
    int64_t first = s.rng.between(0, rank - 1);
    Shape dims = {first};
    if (ofMatrix)
      dims.push_back((first + s.rng.between(1, rank - 1)) % rank);
    for (int64_t &d : dims)
      if (s.rng.chance(40))
        d -= rank;
    s.setInts(dim, dims);
  } else if (dim >= 0) {
    s.set(dim,
          s.schema.args[dim].type.optional ? Arg::none() : Arg::listOf({}));
  }
  if (dtype >= 0 && s.rng.chance(25))
    s.set(dtype, Arg::ofDType(isComplex(type) ? DType::C128 : DType::F64));
  if (int keep = s.schema.argIndex("keepdim"); keep >= 0)
    s.setBool(keep);
  return true;
}

static bool cross(Sampler &s) {
  Shape shape = s.shape(0, 3);
  int64_t dim = s.rng.between(0, shape.size());
  shape.insert(shape.begin() + dim, 3);
  DType type = s.dtype();
  Shape other = shape;
  for (size_t d = 0; d < other.size(); ++d)
    if (int64_t(d) != dim && s.rng.chance(20))
      (s.rng.chance(50) ? other : shape)[d] = 1;
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(type, other));
  if (s.schema.base == "linalg_cross" || s.rng.chance(60))
    s.setInt(2, s.rng.chance(40) ? dim - int64_t(shape.size()) : dim);
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::linalgSamplers() {
  static const SamplerRow rows[] = {
      {"det linalg_det _linalg_det slogdet linalg_slogdet _linalg_slogdet "
       "logdet linalg_inv_ex linalg_ldl_factor_ex linalg_eig linalg_eigvals "
       "_linalg_eigvals linalg_eigh linalg_eigvalsh _linalg_eigh "
       "linalg_matrix_sqrth",
       square<anyRank>},
      {"inverse linalg_inv linalg_ldl_factor", square<regular>},
      {"linalg_lu linalg_lu_factor_ex geqrf linalg_qr linalg_svd _linalg_svd "
       "svd linalg_svdvals linalg_pinv linalg_pinv.atol_rtol_float "
       "linalg_pinv.atol_rtol_tensor linalg_pinv.rcond_tensor pinverse "
       "linalg_matrix_rank linalg_matrix_rank.atol_rtol_float "
       "linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.tol_tensor "
       "linalg_polar",
       rectangular<anyRank>},
      {"linalg_lu_factor _lu_with_info", rectangular<regular>},
      {"linalg_cholesky linalg_cholesky_ex", cholesky},
      {"cholesky_inverse", square<triangular>},
      {"linalg_cond linalg_cond.p_str", condition},
      {"matrix_power linalg_matrix_power", matrixPower},
      {"matrix_exp linalg_matrix_exp", exponential},
      {"linalg_solve linalg_solve_ex _linalg_solve_ex", system<regular>},
      {"cholesky_solve _cholesky_solve_helper linalg_solve_triangular "
       "triangular_solve",
       system<triangular>},
      {"linalg_lu_solve lu_solve", solveFactored<false>},
      {"linalg_ldl_solve", solveFactored<true>},
      {"lu_unpack", luUnpack},
      {"linalg_lstsq", leastSquares},
      {"linalg_tensorinv", tensorInverse},
      {"linalg_tensorsolve", tensorSolve},
      {"linalg_householder_product orgqr ormqr", reflectors},
      {"linalg_matrix_norm linalg_matrix_norm.str_ord linalg_norm "
       "linalg_norm.ord_str nuclear_norm nuclear_norm.dim native_norm "
       "native_norm.ScalarOpt_dim_dtype linalg__powsum",
       norm},
      {"cross linalg_cross", cross},
  };
  return rows;
}
