//===- Gauge.cpp - Factors that are unique up to sign or basis ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/Gauge.h"

#include "tests/conformance/Compare.h"

#include <algorithm>
#include <cmath>

using namespace ft;
using namespace ft::conformance;

using Number = std::complex<double>;

namespace {
struct Matrix {
  int64_t rows, cols;
  std::vector<Number> data;

  Matrix(int64_t rows, int64_t cols)
      : rows(rows), cols(cols), data(static_cast<size_t>(rows * cols)) {}
  Number &operator()(int64_t i, int64_t j) { return data[i * cols + j]; }
  Number operator()(int64_t i, int64_t j) const { return data[i * cols + j]; }

  static Matrix identity(int64_t n) {
    Matrix m(n, n);
    for (int64_t i = 0; i < n; ++i)
      m(i, i) = 1;
    return m;
  }
  Matrix columns(int64_t n) const {
    Matrix m(rows, n);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < n; ++j)
        m(i, j) = (*this)(i, j);
    return m;
  }
  Matrix adjoint() const {
    Matrix m(cols, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        m(j, i) = std::conj((*this)(i, j));
    return m;
  }
  Matrix trace() const {
    Matrix m(1, 1);
    for (int64_t i = 0; i < rows; ++i)
      m(0, 0) += (*this)(i, i);
    return m;
  }
  double norm() const {
    double sum = 1;
    for (Number x : data)
      sum += std::norm(x);
    return std::sqrt(sum);
  }
  double largest() const {
    double size = 0;
    for (Number x : data)
      size = std::max(size, std::abs(x));
    return size;
  }
};

Matrix operator*(const Matrix &a, const Matrix &b) {
  Matrix m(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.cols; ++k)
      for (int64_t j = 0; j < b.cols; ++j)
        m(i, j) += a(i, k) * b(k, j);
  return m;
}

/// The matrices of one batch entry and the bound they are held to.
class Batch {
public:
  Batch(llvm::ArrayRef<TensorView> outputs, int64_t entry, double bound)
      : outputs(outputs), entry(entry), bound(bound) {}

  static Matrix matrix(const TensorView &view, int64_t entry) {
    int64_t rows = view.shape[view.shape.size() - 2], cols = view.shape.back();
    Matrix m(rows, cols);
    for (int64_t i = 0; i < rows * cols; ++i)
      m.data[i] = view.at(entry * rows * cols + i);
    return m;
  }
  Matrix output(unsigned i) const { return matrix(outputs[i], entry); }
  /// Row `entry` of a batch of vectors, as a diagonal matrix.
  Matrix diagonal(unsigned i) const {
    int64_t n = outputs[i].shape.back();
    Matrix m(n, n);
    for (int64_t k = 0; k < n; ++k)
      m(k, k) = outputs[i].at(entry * n + k);
    return m;
  }

  /// `size`: of what `want` was summed from, where that may be larger.
  void equal(llvm::StringRef what, const Matrix &got, const Matrix &want,
             double size = 1) {
    double scale = bound * std::max(size, want.largest()) *
                   std::max<int64_t>(1, want.rows);
    for (size_t i = 0; i < want.data.size() && problem.empty(); ++i)
      if (!(std::abs(got.data[i] - want.data[i]) <= scale))
        problem = what.str() + " does not hold: off by " +
                  std::to_string(std::abs(got.data[i] - want.data[i]));
  }
  void unitary(llvm::StringRef what, const Matrix &m) {
    equal(what, m.adjoint() * m, Matrix::identity(m.cols));
  }
  void upperTriangular(llvm::StringRef what, const Matrix &m) {
    Matrix upper = m;
    for (int64_t i = 0; i < m.rows; ++i)
      for (int64_t j = 0; j < std::min(i, m.cols); ++j)
        upper(i, j) = 0;
    equal(what, m, upper);
  }

  std::string problem;

private:
  llvm::ArrayRef<TensorView> outputs;
  int64_t entry;
  double bound;
};
} // namespace

static llvm::StringRef stringArg(const OpCase &call, llvm::StringRef name) {
  int i = call.schema->argIndex(name);
  return i >= 0 && call.args[i].kind == Arg::Str
             ? llvm::StringRef(call.args[i].str)
             : llvm::StringRef();
}

/// A with the triangle that `UPLO` does not name mirrored from the other.
static Matrix hermitian(const Matrix &a, bool lower) {
  Matrix m(a.rows, a.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.cols; ++j) {
      bool own = lower ? j <= i : j >= i;
      m(i, j) = own ? a(i, j) : std::conj(a(j, i));
      if (i == j)
        m(i, j) = m(i, j).real();
    }
  return m;
}

/// The product of the reflectors 1 - tau_k v_k v_k*, where v_k is column k of
/// `a` below the diagonal, with a leading 1.
static Matrix reflectors(const Matrix &a, const Matrix &tau) {
  Matrix q = Matrix::identity(a.rows);
  for (int64_t k = 0; k < tau.rows; ++k) {
    Matrix v(a.rows, 1);
    for (int64_t i = k; i < a.rows; ++i)
      v(i, 0) = i == k ? Number(1) : a(i, k);
    Matrix scaled = v.adjoint();
    for (Number &x : scaled.data)
      x *= tau(k, k);
    Matrix reflector = v * scaled;
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < a.rows; ++j)
        reflector(i, j) = Number(i == j) - reflector(i, j);
    q = q * reflector;
  }
  return q;
}

static void checkOne(const OpCase &call, llvm::StringRef op, const Matrix &a,
                     llvm::ArrayRef<TensorView> outputs, Batch &batch) {
  if (op.ends_with("eigh")) {
    Matrix v = batch.output(1);
    if (v.data.empty())
      return;
    batch.equal("V diag(L) V* = A", v * batch.diagonal(0) * v.adjoint(),
                hermitian(a, stringArg(call, "UPLO") != "U"));
    batch.unitary("V* V = 1", v);
  } else if (op.ends_with("eig")) {
    Matrix v = batch.output(1);
    batch.equal("A V = V diag(L)", a * v, v * batch.diagonal(0));
    for (int64_t j = 0; j < v.cols; ++j) {
      Matrix column(v.rows, 1);
      for (int64_t i = 0; i < v.rows; ++i)
        column(i, 0) = v(i, j);
      batch.unitary("column length 1", column);
    }
  } else if (op.ends_with("eigvals")) {
    Matrix l = batch.diagonal(0), powers = l, power = a;
    for (int64_t k = 1; k <= a.rows;
         ++k, powers = powers * l, power = power * a)
      batch.equal("the trace of A^k = that of diag(L)^k", powers.trace(),
                  power.trace(), power.norm());
  } else if (op.ends_with("svd")) {
    Matrix u = batch.output(0), s = batch.diagonal(1), vh = batch.output(2);
    if (op == "svd") // which gives V
      vh = vh.adjoint();
    int vectors = call.schema->argIndex("compute_uv");
    if (u.data.empty() || (vectors >= 0 && !call.args[vectors].boolean))
      return;
    batch.equal("U diag(S) Vh = A",
                u.columns(s.rows) * s * vh.adjoint().columns(s.rows).adjoint(),
                a);
    batch.unitary("U* U = 1", u);
    batch.unitary("Vh Vh* = 1", vh.adjoint());
  } else if (op.ends_with("qr")) {
    Matrix r = batch.output(1);
    batch.upperTriangular("R upper triangular", r);
    if (stringArg(call, "mode") == "r") {
      batch.equal("R* R = A* A", r.adjoint() * r, a.adjoint() * a);
      return;
    }
    Matrix q = batch.output(0);
    batch.equal("Q R = A", q * r, a);
    batch.unitary("Q* Q = 1", q);
  } else { // geqrf
    Matrix packed = batch.output(0), r = packed;
    for (int64_t i = 0; i < r.rows; ++i)
      for (int64_t j = 0; j < std::min(i, r.cols); ++j)
        r(i, j) = 0;
    Matrix q = reflectors(packed, batch.diagonal(1));
    batch.equal("Q R = A", q * r, a);
    batch.unitary("Q* Q = 1", q);
  }
}

std::optional<std::string>
ft::conformance::checkFactors(const OpCase &call,
                              llvm::ArrayRef<TensorView> inputs,
                              llvm::ArrayRef<TensorView> outputs) {
  llvm::StringRef op = call.schema->base;
  bool known = op.ends_with("eigh") || op.ends_with("eig") ||
               op.ends_with("eigvals") || op.ends_with("svd") ||
               op.ends_with("qr") || op == "geqrf";
  if (!known)
    return "no check for the factors of " + op.str();
  const TensorView &a = inputs.front();
  int64_t entries = 1;
  for (int64_t size : a.shape.drop_back(2))
    entries *= size;
  if (a.numel() == 0)
    return std::nullopt;
  Tolerance tolerance = toleranceFor(a.dtype, Accuracy::Accumulated);
  for (int64_t entry = 0; entry < entries; ++entry) {
    Batch batch(outputs, entry, tolerance.relative + tolerance.absolute);
    checkOne(call, op, Batch::matrix(a, entry), outputs, batch);
    if (!batch.problem.empty())
      return batch.problem;
  }
  return std::nullopt;
}
