//===- LinalgSpectral.cpp - Values, functions and norms of matrices -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eigenvectors and singular vectors have no one value (their sign, phase and
// basis are the algorithm's choice), nor has the order of eigenvalues: they are
// left, and tests check that they are factors.

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"
#include "tests/interpreter/LinalgCall.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

using Values = std::vector<double>;

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

/// (A, UPLO[, compute_v])
static void eigh(Call &call) {
  bool lower = call.text(1) != "U" && call.text(1) != "u";
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    storeVector(call.out(), k, eighOf(a.mirrored(lower)).values);
  });
  if (flagNamed(call, "compute_v", true) && call.results.size() > 1)
    call.leave(1);
}

static void eig(Call &call) {
  openIfNotFinite(call, "a matrix that is not finite");
  for (unsigned i = 0; i < call.results.size(); ++i)
    call.leave(i);
}

/// U, S and V of an operator that can be asked for S alone.
static void svd(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    storeVector(call.out(1), k, svdOf(a).values);
  });
  if (!flagNamed(call, "compute_uv", true))
    return;
  call.leave(0);
  call.leave(2);
}

static void svdvals(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    storeVector(call.out(), k, svdOf(a).values);
  });
}

/// A = U H of full rank, H = V S V^H and U = A H⁻¹.
static void polar(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    SingularFactors f = svdOf(a);
    if (!f.values.empty() && !(f.values.back() > 1e-10 * f.values.front()))
      call.leave(0);
    storeMatrix(call.out(0), k, f.u * f.v.adjoint());
    storeMatrix(call.out(1), k, scaled(f.v, f.values) * f.v.adjoint());
  });
}

static void squareRoot(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    HermitianFactors f = eighOf(a.mirrored(true));
    for (double &x : f.values)
      x = std::sqrt(std::max(x, 0.));
    storeMatrix(call.out(), k,
                scaled(f.vectors, f.values) * f.vectors.adjoint());
  });
}

//===----------------------------------------------------------------------===//
// Tolerances
//===----------------------------------------------------------------------===//

namespace {
/// What values must exceed: max(atol, rtol times the largest).
class Threshold {
public:
  explicit Threshold(Call &call) : call(call) {
    const Tensor &a = call.tensor(0);
    bool isDouble = toReal(a.dtype) == DType::F64;
    most = a.rank() < 2 ? 0 : std::max(a.shape.back(), a.shape[a.rank() - 2]);
    epsilon = isDouble ? 0x1p-52 : 0x1p-23;
  }
  /// For matrix `batch` of a batch that tolerances broadcast to.
  double operator()(Index batch, double largest) const {
    double threshold = exact(batch, largest);
    // What is 0 but for roundings is on either side of such a threshold.
    if (largest > 0 && threshold < 1e-13 * largest)
      call.open("a tolerance within roundings");
    return threshold;
  }

private:
  double exact(Index batch, double largest) const {
    std::optional<double> atol = read("atol", batch),
                          rtol = read("rtol", batch);
    if (!atol)
      atol = read("tol", batch);
    if (!rtol)
      rtol = read("rcond", batch);
    if (!rtol && call.schema.argIndex("rtol") >= 0)
      rtol = atol && *atol > 0 ? 0 : epsilon * double(most);
    return std::max(atol.value_or(0), rtol.value_or(0) * largest);
  }

  std::optional<double> read(llvm::StringRef name, Index batch) const {
    int i = call.schema.argIndex(name);
    if (i < 0 || !call.has(i))
      return std::nullopt;
    if (const Tensor *t = call.optTensor(i))
      return t->real(flattenBroadcast(t->shape, batch));
    return call.number(i);
  }
  Call &call;
  double epsilon;
  int64_t most;
};
} // namespace

static bool isHermitian(const Call &call) {
  return flagNamed(call, "hermitian", false);
}

/// A = U diag(values) V^H; `values` may be negative where A is Hermitian.
static SingularFactors factorsOf(const Matrix &a, bool hermitian) {
  if (!hermitian)
    return svdOf(a);
  HermitianFactors f = eighOf(a.mirrored(true));
  return {f.vectors, f.values, f.vectors};
}

static double largestOf(const Values &values) {
  double largest = 0;
  for (double x : values)
    largest = std::max(largest, std::abs(x));
  return largest;
}

static Matrix inverseAbove(const SingularFactors &f, double threshold) {
  Values inverted;
  for (double x : f.values)
    inverted.push_back(std::abs(x) > threshold ? 1 / x : 0);
  return scaled(f.v, inverted) * f.u.adjoint();
}

static void pinv(Call &call) {
  openIfNotFinite(call, "a matrix that is not finite");
  Threshold threshold(call);
  forEachIndex(batchOf(call.tensor(0)), [&](Index batch, int64_t k) {
    SingularFactors f =
        factorsOf(matrixAt(call.tensor(0), k), isHermitian(call));
    storeMatrix(call.out(), k,
                inverseAbove(f, threshold(batch, largestOf(f.values))));
  });
}

static int64_t rankOf(const Values &values, double threshold) {
  return llvm::count_if(values,
                        [&](double x) { return std::abs(x) > threshold; });
}

static void matrixRank(Call &call) {
  openIfNotFinite(call, "a matrix that is not finite");
  Threshold threshold(call);
  const Tensor &a = call.tensor(0);
  if (!a.numel())
    return; // rank 0, whatever the tolerances
  forEachIndex(call.out().shape, [&](Index batch, int64_t k) {
    Values values = factorsOf(matrixAt(a, batch), isHermitian(call)).values;
    call.out().setInteger(k,
                          rankOf(values, threshold(batch, largestOf(values))));
  });
}

/// (A, B, rcond, driver) -> X, residuals, rank, singular values
static void leastSquares(Call &call) {
  openIfNotFinite(call, "a system that is not finite");
  const Tensor &a = call.tensor(0);
  Tensor b = call.tensor(1);
  if (b.rank() < a.rank())
    b.shape.push_back(1);
  bool isDouble = toReal(a.dtype) == DType::F64;
  for (int64_t k = 0, n = numelOf(batchOf(a)); k < n; ++k) {
    Matrix m = matrixAt(a, k), rhs = matrixAt(b, k);
    SingularFactors f = svdOf(m);
    double rtol = call.has(2) ? call.number(2)
                              : double(std::max(m.rows, m.cols)) *
                                    (isDouble ? 0x1p-52 : 0x1p-23);
    double threshold = rtol * largestOf(f.values);
    int64_t rank = rankOf(f.values, threshold);
    // Of rank-deficient matrices there are no residuals, or none that is
    // defined, and `gels` has no solution.
    if (rank < std::min(m.rows, m.cols))
      call.open("a matrix that is not of full rank");
    Matrix x = inverseAbove(f, threshold) * rhs;
    storeMatrix(call.out(0), k, x);
    if (call.out(1).numel()) {
      Matrix ax = m * x;
      for (int64_t j = 0; j < rhs.cols; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < rhs.rows; ++i)
          sum += std::norm(ax(i, j) - rhs(i, j));
        call.out(1).setReal(k * rhs.cols + j, sum);
      }
    }
    if (call.out(2).numel())
      call.out(2).setInteger(k, rank);
    if (call.out(3).numel())
      storeVector(call.out(3), k, f.values);
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// By its series at A / 2^s, squared s times.
static void matrixExp(Call &call) {
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    double size = 0;
    for (int64_t i = 0; i < a.rows; ++i) {
      double row = 0;
      for (int64_t j = 0; j < a.cols; ++j)
        row += std::abs(a(i, j));
      size = std::max(size, row);
    }
    int halvings = size > 0.25 ? std::ilogb(size) + 3 : 0;
    Matrix x = a, term = Matrix::identity(a.rows), sum = term;
    for (Complex &number : x.data)
      number = {std::ldexp(number.real(), -halvings),
                std::ldexp(number.imag(), -halvings)};
    for (int n = 1; n <= 18; ++n) {
      term = term * x;
      for (Complex &number : term.data)
        number /= n;
      for (size_t i = 0; i < sum.data.size(); ++i)
        sum.data[i] += term.data[i];
    }
    for (int n = 0; n < halvings; ++n)
      sum = sum * sum;
    storeMatrix(call.out(), k, sum);
  });
}

/// A^n with a rounding to the dtype after each product.
static Tensor powerOf(const Tensor &a, uint64_t n) {
  int64_t rows = a.shape.back();
  auto times = [&](const Tensor &x, const Tensor &y) {
    Tensor out(a.dtype, a.shape);
    for (int64_t at = 0; at < a.numel(); ++at) {
      int64_t matrix = at / (rows * rows) * rows * rows;
      int64_t i = at / rows % rows, j = at % rows;
      Complex sum = 0;
      uint64_t whole = 0;
      for (int64_t k = 0; k < rows; ++k) {
        int64_t p = matrix + i * rows + k, q = matrix + k * rows + j;
        if (a.whole())
          whole += static_cast<uint64_t>(x.integer(p)) *
                   static_cast<uint64_t>(y.integer(q));
        else
          sum += product(x.complex(p), y.complex(q));
      }
      if (a.whole())
        out.setInteger(at, static_cast<int64_t>(whole));
      else
        out.setComplex(at, sum);
    }
    return out;
  };
  std::optional<Tensor> result;
  for (Tensor square = a; n; n >>= 1) {
    if (n & 1)
      result = result ? times(*result, square) : square;
    if (n > 1)
      square = times(square, square);
  }
  return *result;
}

/// (A, n)
static void matrixPower(Call &call) {
  Tensor a = call.tensor(0);
  if (!a.whole())
    openIfNotFinite(call, "a matrix that is not finite");
  int64_t n = call.integer(1);
  for (int64_t k = 0; n <= 0 && k < numelOf(batchOf(a)); ++k) {
    Matrix m = matrixAt(a, k), one = Matrix::identity(m.rows);
    bool isSingular = false;
    storeMatrix(a, k, n == 0 ? one : solved(m, one, isSingular));
    if (isSingular)
      call.refuse("a singular matrix");
  }
  if (a.numel())
    call.out() = n == 0 ? a : powerOf(a, std::abs(n));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static double vectorNorm(const Values &sizes, double p, bool root = true) {
  double sum = p == -HUGE_VAL ? HUGE_VAL : 0;
  for (double x : sizes) {
    if (std::isnan(x))
      return x;
    if (p == HUGE_VAL)
      sum = std::max(sum, x);
    else if (p == -HUGE_VAL)
      sum = std::min(sum, x);
    else
      sum += p == 0 ? double(x != 0) : std::pow(x, p);
  }
  return p == 0 || std::isinf(p) || !root ? sum : std::pow(sum, 1 / p);
}

static Values sizesOf(const Matrix &m) {
  Values sizes;
  for (Complex x : m.data)
    sizes.push_back(std::abs(x));
  return sizes;
}

/// The order of a norm of matrices: a number, "fro", or "nuc".
static double matrixNorm(const Matrix &m, llvm::StringRef name, double order) {
  if (m.data.empty())
    return 0;
  if (name == "fro")
    return vectorNorm(sizesOf(m), 2);
  if (name == "nuc" || std::abs(order) == 2) {
    Values values = svdOf(m).values;
    double sum = 0;
    for (double x : values)
      sum += x;
    return name == "nuc" ? sum : order > 0 ? values.front() : values.back();
  }
  Matrix rows = std::abs(order) == 1 ? m.transpose() : m;
  Values sums;
  for (int64_t i = 0; i < rows.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < rows.cols; ++j)
      sum += std::abs(rows(i, j));
    sums.push_back(sum);
  }
  return vectorNorm(sums, order > 0 ? HUGE_VAL : -HUGE_VAL);
}

namespace {
/// A norm over some dims of a tensor, which are a matrix if `rows` says which.
struct NormForm {
  llvm::StringRef name;
  double order = 2;
  /// All where it is empty.
  Shape dims;
  bool ofMatrix = false, root = true;
};
} // namespace

static void normOver(Call &call, const NormForm &form) {
  Tensor self = call.tensor(0);
  int dtype = call.schema.argIndex("dtype");
  if (dtype >= 0 && call.args[dtype].kind == Arg::DType)
    self = self.to(call.args[dtype].dtype);
  openIfNotFinite(call, "a tensor that is not finite");
  Shape dims;
  for (int64_t d : form.dims)
    dims.push_back(d < 0 ? d + self.rank() : d);
  for (int64_t d = 0; form.dims.empty() && d < self.rank(); ++d)
    dims.push_back(d);
  Shape kept, inner;
  for (int64_t d = 0; d < self.rank(); ++d)
    if (!llvm::is_contained(dims, d))
      kept.push_back(d);
  auto sizes = [&](const Shape &of) {
    Shape shape;
    for (int64_t d : of)
      shape.push_back(self.shape[d]);
    return shape;
  };
  inner = sizes(dims);
  forEachIndex(sizes(kept), [&](Index outer, int64_t k) {
    Matrix m(form.ofMatrix ? inner[0] : 1,
             form.ofMatrix ? inner[1] : numelOf(inner));
    forEachIndex(inner, [&](Index index, int64_t i) {
      Shape at(self.rank());
      for (size_t d = 0; d < kept.size(); ++d)
        at[kept[d]] = outer[d];
      for (size_t d = 0; d < dims.size(); ++d)
        at[dims[d]] = index[d];
      m.data[i] = self.complex(flatten(self.shape, at));
    });
    if (m.data.empty() && (form.order < 0 || std::isinf(form.order)))
      call.open("a norm of nothing");
    call.out().setReal(k, form.ofMatrix
                              ? matrixNorm(m, form.name, form.order)
                              : vectorNorm(sizesOf(m), form.order, form.root));
  });
}

/// The order at argument `i`, a number or a name.
static NormForm formOf(Call &call, unsigned i) {
  NormForm form;
  if (call.args[i].kind == Arg::Str)
    form.name = call.text(i);
  else if (call.has(i))
    form.order = call.number(i);
  return form;
}

/// (A, ord, dim, keepdim, dtype)
static void matrixNormOp(Call &call) {
  NormForm form = formOf(call, 1);
  form.dims = call.integers(2);
  form.ofMatrix = true;
  normOver(call, form);
}

/// (self, ord, dim, keepdim, dtype): of matrices if there is an order and two
/// dims, which need not be named then.
static void linalgNorm(Call &call) {
  NormForm form = formOf(call, 1);
  form.dims = call.integers(2);
  bool two = form.dims.size() == 2 ||
             (form.dims.empty() && call.tensor(0).rank() == 2);
  form.ofMatrix = call.has(1) && two;
  if (!form.name.empty() && !two)
    return call.refuse("a norm of matrices by name");
  normOver(call, form);
}

static void powerSum(Call &call) {
  NormForm form = formOf(call, 1);
  form.dims = call.integers(2);
  form.root = false;
  if (std::isinf(form.order))
    return call.refuse("no power");
  normOver(call, form);
}

/// (self[, dim], keepdim)
static void nuclearNorm(Call &call) {
  NormForm form;
  form.name = "nuc";
  if (call.schema.overload == "dim")
    form.dims = call.integers(1);
  form.ofMatrix = true;
  normOver(call, form);
}

/// (self, p[, dim, keepdim, dtype])
static void nativeNorm(Call &call) {
  NormForm form = formOf(call, 1);
  if (call.size() > 2)
    form.dims = call.integers(2);
  normOver(call, form);
}

/// (A, p): the ratio of the extreme singular values, the sum of them by that of
/// their inverses, or ‖A‖ ‖A⁻¹‖, which is infinite for a singular matrix.
static void cond(Call &call) {
  NormForm form = formOf(call, 1);
  forEachMatrix(call, 0, [&](const Matrix &a, int64_t k) {
    if (a.data.empty())
      return;
    bool nuclear = form.name == "nuc";
    if (nuclear || (form.name.empty() && std::abs(form.order) == 2)) {
      Values s = svdOf(a).values;
      double sum = 0, ofInverses = 0;
      for (double x : s) {
        sum += x;
        ofInverses += 1 / x;
      }
      bool isSingular = s.front() > 0 && s.back() < 1e-13 * s.front();
      if (isSingular && (nuclear || form.order > 0))
        call.open("the inverse of a rounding");
      call.out().setReal(k, nuclear          ? sum * ofInverses
                            : form.order > 0 ? s.front() / s.back()
                                             : s.back() / s.front());
      return;
    }
    bool isSingular = false;
    Matrix inverse = solved(a, Matrix::identity(a.rows), isSingular);
    if (isSingular && !luOf(a).info)
      call.open("the inverse of a rounding");
    double norm = matrixNorm(a, form.name, form.order);
    call.out().setReal(
        k, isSingular ? norm * HUGE_VAL
                      : norm * matrixNorm(inverse, form.name, form.order));
  });
}

//===----------------------------------------------------------------------===//
// Products of vectors
//===----------------------------------------------------------------------===//

/// (a, b, dim): without a dim it is the first of size 3.
static void cross(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  int64_t dim = llvm::find(a.shape, 3) - a.shape.begin();
  if (call.has(2))
    dim = call.dim(2, a.rank());
  Tensor &out = call.out();
  // Each product is one of the dtype, which may overflow.
  auto rounded = [&](Complex x) {
    return Complex(roundTo(out.dtype, x.real()), roundTo(out.dtype, x.imag()));
  };
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    auto at = [&](const Tensor &t, int64_t by) {
      Shape from(index.begin(), index.end());
      from[dim] = (from[dim] + by) % 3;
      return flattenBroadcast(t.shape, from);
    };
    int64_t a1 = at(a, 1), a2 = at(a, 2), b1 = at(b, 1), b2 = at(b, 2);
    if (out.whole())
      out.setInteger(i, static_cast<int64_t>(
                            uint64_t(a.integer(a1)) * uint64_t(b.integer(b2)) -
                            uint64_t(a.integer(a2)) * uint64_t(b.integer(b1))));
    else
      out.setComplex(i, rounded(product(a.complex(a1), b.complex(b2))) -
                            rounded(product(a.complex(a2), b.complex(b1))));
  });
}

llvm::ArrayRef<OpRow> ft::interpreter::linalgSpectralOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_linalg_eigh.default", eigh, Accumulated},
      {"_linalg_eigvals.default", eig, Accumulated},
      {"_linalg_svd.default", svd, Accumulated},
      {"cross.default", cross, Accumulated},
      {"linalg__powsum.default", powerSum, Accumulated},
      {"linalg_cond.default", cond, Accumulated},
      {"linalg_cond.p_str", cond, Accumulated},
      {"linalg_cross.default", cross, Accumulated},
      {"linalg_eig.default", eig, Accumulated},
      {"linalg_eigh.default", eigh, Accumulated},
      {"linalg_eigvals.default", eig, Accumulated},
      {"linalg_eigvalsh.default", eigh, Accumulated},
      {"linalg_lstsq.default", leastSquares, Accumulated},
      {"linalg_matrix_exp.default", matrixExp, Accumulated},
      {"linalg_matrix_norm.default", matrixNormOp, Accumulated},
      {"linalg_matrix_norm.str_ord", matrixNormOp, Accumulated},
      {"linalg_matrix_power.default", matrixPower, Accumulated},
      {"linalg_matrix_rank.atol_rtol_float", matrixRank, Accumulated},
      {"linalg_matrix_rank.atol_rtol_tensor", matrixRank, Accumulated},
      {"linalg_matrix_rank.default", matrixRank, Accumulated},
      {"linalg_matrix_rank.tol_tensor", matrixRank, Accumulated},
      {"linalg_matrix_sqrth.default", squareRoot, Accumulated},
      {"linalg_norm.default", linalgNorm, Accumulated},
      {"linalg_norm.ord_str", linalgNorm, Accumulated},
      {"linalg_pinv.atol_rtol_float", pinv, Accumulated},
      {"linalg_pinv.atol_rtol_tensor", pinv, Accumulated},
      {"linalg_pinv.default", pinv, Accumulated},
      {"linalg_pinv.rcond_tensor", pinv, Accumulated},
      {"linalg_polar.default", polar, Accumulated},
      {"linalg_svd.default", svd, Accumulated},
      {"linalg_svdvals.default", svdvals, Accumulated},
      {"matrix_exp.default", matrixExp, Accumulated},
      {"matrix_power.default", matrixPower, Accumulated},
      {"native_norm.ScalarOpt_dim_dtype", nativeNorm, Accumulated},
      {"native_norm.default", nativeNorm, Accumulated},
      {"nuclear_norm.default", nuclearNorm, Accumulated},
      {"nuclear_norm.dim", nuclearNorm, Accumulated},
      {"pinverse.default", pinv, Accumulated},
      {"svd.default", svd, Accumulated},
  };
  return rows;
}
