//===- GradSamplers.cpp - Calls that only derivatives are checked of ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/GradSamplers.h"

#include "llvm/ADT/StringMap.h"

using namespace ft;
using namespace ft::random;
using interpreter::Complex;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Leading dims of a batch: none mostly.
static Shape batchOf(Sampler &s) {
  Shape batch;
  if (s.rng.chance(40))
    batch.push_back(s.rng.between(1, 3));
  if (s.rng.chance(10))
    batch.push_back(2);
  return batch;
}

static Shape matrix(const Shape &batch, int64_t rows, int64_t columns) {
  Shape shape = batch;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

/// Factors of complex matrices have a phase that no derivative fixes.
static DType numbers(Sampler &s, bool real = false) {
  return !real && s.rng.chance(35) ? DType::C128 : DType::F64;
}

/// The rest of the arguments, small numbers for integers.
static void rest(Sampler &s, unsigned from, int self) {
  for (unsigned i = from; i < s.args.size(); ++i) {
    const SchemaArg &arg = s.schema.args[i];
    if (!s.args[i].isNone())
      continue;
    if (arg.name == "UPLO")
      s.set(i, Arg::string(s.rng.chance(50) ? "L" : "U"));
    else if (arg.name == "p")
      s.set(i, Arg::string(s.rng.chance(50) ? "fro" : "nuc"));
    else if (arg.name == "mode")
      s.set(i, Arg::string(s.rng.chance(70) ? "reduced" : "r"));
    else if (arg.name == "full_matrices" || arg.name == "some")
      // Columns beyond the rank are free to turn.
      s.set(i, Arg::truth(arg.name == "some"));
    else if (arg.name == "driver" || arg.name == "check_errors" ||
             arg.name == "dtype" || arg.name.contains("tol") ||
             arg.name == "rcond" || arg.name == "pivot" ||
             arg.name == "hermitian" || arg.name.starts_with("compute"))
      s.set(i, arg.hasDefault ? arg.defaultValue : Arg::truth(true));
    else
      s.guess(i, self);
  }
}

template <bool real>
static bool square(Sampler &s) {
  int64_t n = s.rng.between(1, 4);
  int a = s.input(numbers(s, real), matrix(batchOf(s), n, n));
  s.set(0, a);
  for (unsigned i = 1; i < s.args.size(); ++i)
    if (s.schema.args[i].name == "n")
      s.setInt(i, s.rng.between(-2, 4));
  rest(s, 1, a);
  return true;
}

template <bool real>
static bool tall(Sampler &s) {
  int64_t n = s.rng.between(1, 4), m = n + s.rng.between(0, 2);
  int a = s.input(numbers(s, real), matrix(batchOf(s), m, n));
  s.set(0, a);
  rest(s, 1, a);
  return true;
}

/// Two arguments: a matrix, and what it is applied to or solved for.
static bool system(Sampler &s) {
  int64_t n = s.rng.between(1, 4);
  Shape batch = batchOf(s);
  DType dtype = numbers(s);
  int a = s.input(dtype, matrix(batch, n, n));
  int left = s.schema.argIndex("left");
  bool onRight = left >= 0 && s.rng.chance(30);
  if (left >= 0)
    s.set(left, Arg::truth(!onRight));
  int64_t k = s.rng.between(1, 3);
  int b = s.input(dtype, onRight ? matrix(batch, k, n) : matrix(batch, n, k));
  bool matrixFirst = s.schema.base != "cholesky_solve" &&
                     s.schema.base != "triangular_solve" &&
                     s.schema.base != "_cholesky_solve_helper";
  s.set(0, matrixFirst ? a : b);
  s.set(1, matrixFirst ? b : a);
  rest(s, 2, a);
  return true;
}

static bool leastSquares(Sampler &s) {
  int64_t n = s.rng.between(1, 3), m = n + s.rng.between(0, 2);
  Shape batch = batchOf(s);
  DType dtype = numbers(s);
  s.set(0, s.input(dtype, matrix(batch, m, n)));
  s.set(1, s.input(dtype, matrix(batch, m, s.rng.between(1, 3))));
  s.set(2, Arg::none());
  rest(s, 3, 0);
  return true;
}

/// (LU, pivots, B), or B first.
static bool luSolve(Sampler &s) {
  int64_t n = s.rng.between(1, 4), k = s.rng.between(1, 3);
  DType dtype = numbers(s);
  int lu = s.input(dtype, {n, n});
  Tensor pivots(DType::I32, {n});
  int p = s.integers({n}, {1, n}, DType::I32);
  for (int64_t i = 0; i < n; ++i)
    s.program.values[p].data.setInteger(i, s.rng.between(i + 1, n));
  int b = s.input(dtype, {n, k});
  if (s.schema.base == "lu_solve") {
    s.set(0, b);
    s.set(1, lu);
    s.set(2, p);
    return true;
  }
  s.set(0, lu);
  s.set(1, p);
  s.set(2, b);
  s.set(3, Arg::truth(true));
  s.setBool(4);
  return true;
}

static bool reflectors(Sampler &s) {
  int64_t n = s.rng.between(1, 3), m = n + s.rng.between(0, 2);
  Shape batch = batchOf(s), taus = batch;
  taus.push_back(n);
  DType dtype = numbers(s);
  s.set(0, s.input(dtype, matrix(batch, m, n)));
  s.set(1, s.input(dtype, taus));
  return true;
}

static bool crossOrDot(Sampler &s) {
  Shape shape = s.shape(0, 2);
  shape.push_back(3);
  DType dtype = numbers(s);
  s.set(0, s.input(dtype, shape));
  s.set(1, s.input(dtype, shape));
  if (s.args.size() > 2)
    s.setInt(2, -1);
  return true;
}

static bool twoMatrices(Sampler &s) {
  DType dtype = numbers(s);
  s.set(0, s.input(dtype, s.shape(1, 2)));
  s.set(1, s.input(dtype, s.shape(1, 2)));
  return true;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static bool segments(Sampler &s) {
  static const char *const kKinds[] = {"sum", "mean", "max", "min", "prod"};
  int64_t n = s.rng.between(1, 4), total = 0;
  Shape lengths = {n};
  int count = s.integers(lengths, {1, 3});
  for (int64_t i = 0; i < n; ++i)
    total += s.program.values[count].data.integer(i);
  Shape shape = {total};
  if (s.rng.chance(50))
    shape.push_back(s.rng.between(1, 3));
  int data = s.input(DType::F64, shape);
  s.set(0, data);
  s.set(1, Arg::string(s.rng.of(kKinds)));
  s.set(2, count);
  for (unsigned i = 3; i < s.args.size(); ++i)
    s.set(i, s.schema.args[i].defaultValue);
  return true;
}

/// A quantile at a number or at several.
static bool quantile(Sampler &s) {
  static const char *const kModes[] = {"linear", "lower", "higher", "midpoint",
                                       "nearest"};
  Shape shape = s.shape(1, 3);
  for (int64_t &size : shape)
    size = std::max<int64_t>(size, 1);
  int x = s.input(DType::F64, shape);
  s.set(0, x);
  if (s.schema.overload == "scalar")
    s.set(1, Arg::floating(s.rng.unit()));
  else
    s.set(1, s.input(DType::F64, s.rng.chance(50) ? Shape{3} : Shape{}));
  s.set(2, s.rng.chance(70) ? Arg::integer(s.dim(int64_t(shape.size())))
                            : Arg::none());
  s.setBool(3);
  s.set(4, Arg::string(s.rng.of(kModes)));
  return true;
}

/// Spacings, dims and orders of differences.
static bool spaced(Sampler &s) {
  int64_t rank = s.rng.between(1, 3);
  Shape shape;
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(s.rng.between(3, 5));
  int x = s.input(numbers(s), shape);
  s.set(0, x);
  int dim = s.schema.argIndex("dim"), spacing = s.schema.argIndex("spacing");
  llvm::SmallVector<int64_t> dims;
  bool list = s.schema.args[dim].type.list;
  if (list || s.rng.chance(50))
    dims.push_back(s.rng.between(0, rank - 1));
  if (list)
    s.setInts(dim, dims);
  else
    s.set(dim, dims.empty() ? Arg::none() : Arg::integer(dims[0]));
  size_t count = dims.empty() ? static_cast<size_t>(rank) : 1;
  auto sizeOf = [&](size_t k) { return shape[dims.empty() ? k : dims[0]]; };
  if (spacing >= 0) {
    const SchemaType &type = s.schema.args[spacing].type;
    if (type.kind == SchemaType::Tensor) {
      llvm::SmallVector<int> points;
      for (size_t k = 0; k < count; ++k)
        points.push_back(s.input(DType::F64, {sizeOf(k)}));
      s.setList(spacing, points);
    } else if (type.list) {
      std::vector<Arg> steps;
      for (size_t k = 0; k < count; ++k)
        steps.push_back(Arg::floating(0.5 + double(s.rng.between(0, 3))));
      s.set(spacing, Arg::listOf(std::move(steps)));
    } else {
      s.set(spacing, Arg::floating(0.5));
    }
  }
  s.setInt(s.schema.argIndex("edge_order"), s.rng.between(1, 2));
  return true;
}

static bool choices(Sampler &s) {
  s.set(0, s.input(numbers(s), {s.rng.between(1, 4)}));
  s.setInt(1, s.rng.between(1, 3));
  s.setBool(2);
  return true;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Tensor &matrixOf(Program &program, const Sampler &s, unsigned arg) {
  return program.values[s.operands[s.args[arg].operand]].data;
}

/// m m^H + 1
static void definite(Program &program, const Sampler &s) {
  Tensor &a = matrixOf(program, s, 0);
  Tensor m = a;
  int64_t n = a.shape.back(), count = n ? a.numel() / (n * n) : 0;
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        Complex sum = i == j ? 1 : 0;
        for (int64_t l = 0; l < n; ++l)
          sum += m.complex((k * n + i) * n + l) *
                 std::conj(m.complex((k * n + j) * n + l));
        a.setComplex((k * n + i) * n + j, sum);
      }
}

/// A diagonal away from 0, of the matrix at `arg`.
template <unsigned arg>
static void regular(Program &program, const Sampler &s) {
  Tensor &a = matrixOf(program, s, arg);
  int64_t n = a.shape.back();
  for (int64_t i = 0; i < a.numel(); ++i)
    if (i / n % n == i % n)
      a.setComplex(i, a.complex(i) + Complex(a.real(i) < 0 ? -2 : 2));
}

/// One triangle of the matrix at `arg` (its `upper` says which) and zeros.
template <unsigned arg>
static void triangular(Program &program, const Sampler &s) {
  regular<arg>(program, s);
  Tensor &a = matrixOf(program, s, arg);
  int flag = s.schema.argIndex("upper");
  bool upper = flag >= 0 && s.args[flag].boolean;
  int64_t n = a.shape.back();
  for (int64_t i = 0; i < a.numel(); ++i) {
    int64_t row = i / n % n, column = i % n;
    if (upper ? row > column : row < column)
      a.setComplex(i, 0);
  }
}

/// Probabilities within 0 and 1.
static void probable(Program &program, const Sampler &s) {
  if (s.args[1].kind != Arg::Tensor)
    return;
  Tensor &q = matrixOf(program, s, 1);
  for (int64_t i = 0; i < q.numel(); ++i)
    q.setReal(i, (q.real(i) + 2) / 4);
}

/// Points one after the other.
static void rising(Program &program, const Sampler &s) {
  for (size_t k = 1; k < s.operands.size(); ++k) {
    Tensor &points = program.values[s.operands[k]].data;
    for (int64_t i = 0; i < points.numel(); ++i)
      points.setReal(i, points.real(i) / 8 + double(i));
  }
}

const GradSampler *ft::random::gradSamplerOf(const Schema &schema) {
  static const GradSampler kRows[] = {
      {"det linalg_det _linalg_det slogdet linalg_slogdet _linalg_slogdet "
       "inverse linalg_inv linalg_inv_ex logdet matrix_power "
       "linalg_matrix_power linalg_cond linalg_cond.p_str linalg_lu_factor "
       "linalg_lu_factor_ex "
       "linalg_lu _lu_with_info linalg_pinv linalg_pinv.rcond_tensor "
       "linalg_eigvals _linalg_eigvals linalg_pinv.atol_rtol_tensor",
       square<false>, regular<0>},
      {"linalg_matrix_exp matrix_exp", square<false>},
      {"linalg_eigh _linalg_eigh linalg_eigvalsh", square<true>},
      {"cholesky linalg_cholesky linalg_cholesky_ex linalg_matrix_sqrth",
       square<false>, definite},
      {"cholesky_inverse", square<false>, triangular<0>},
      {"linalg_svd _linalg_svd svd", tall<true>},
      {"linalg_polar linalg_svdvals linalg_qr qr linalg_pinv.atol_rtol_float "
       "pinverse "
       "nuclear_norm linalg_matrix_norm linalg_matrix_norm.str_ord",
       tall<false>},
      {"linalg_solve linalg_solve_ex _linalg_solve_ex", system, regular<0>},
      {"linalg_solve_triangular", system, triangular<0>},
      {"triangular_solve cholesky_solve _cholesky_solve_helper", system,
       triangular<1>},
      {"linalg_lstsq", leastSquares},
      {"linalg_lu_solve", luSolve, regular<0>},
      {"lu_solve", luSolve, regular<1>},
      {"linalg_householder_product orgqr", reflectors},
      {"linalg_cross linalg_vecdot cross", crossOrDot},
      {"kron", twoMatrices},
      {"segment_reduce", segments},
      {"quantile quantile.scalar nanquantile nanquantile.scalar", quantile,
       probable},
      {"gradient.array gradient.scalararray gradient.scalarint "
       "gradient.scalarrayarray gradient.scalarrayint gradient.tensorarray "
       "gradient.tensorarrayint",
       spaced, rising},
      {"combinations", choices},
  };
  static const llvm::StringMap<const GradSampler *> byName = [] {
    llvm::StringMap<const GradSampler *> map;
    for (llvm::ArrayRef<GradSampler> rows :
         {llvm::ArrayRef(kRows), gradForms()})
      for (const GradSampler &row : rows) {
        llvm::SmallVector<llvm::StringRef> names;
        row.names.split(names, ' ', -1, false);
        for (llvm::StringRef name : names)
          map[name.contains('.') ? name.str() : name.str() + ".default"] = &row;
      }
    return map;
  }();
  return byName.lookup(schema.name);
}
