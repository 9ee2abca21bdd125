//===- Dense.cpp - Small matrices of complex128 ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Dense.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace ft;
using namespace ft::interpreter;

//===----------------------------------------------------------------------===//
// Parts and products
//===----------------------------------------------------------------------===//

Matrix Matrix::identity(int64_t n) {
  Matrix m(n, n);
  for (int64_t i = 0; i < n; ++i)
    m(i, i) = 1;
  return m;
}

Matrix Matrix::transpose() const {
  Matrix m(cols, rows);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      m(j, i) = (*this)(i, j);
  return m;
}

Matrix Matrix::conjugate() const {
  Matrix m = *this;
  for (Complex &x : m.data)
    x = std::conj(x);
  return m;
}

Matrix Matrix::top(int64_t toRows, int64_t toCols) const {
  Matrix m(toRows, toCols);
  for (int64_t i = 0; i < std::min(rows, toRows); ++i)
    for (int64_t j = 0; j < std::min(cols, toCols); ++j)
      m(i, j) = (*this)(i, j);
  return m;
}

Matrix Matrix::triangle(bool lower, bool unit) const {
  Matrix m(rows, cols);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      if (i == j && unit)
        m(i, j) = 1;
      else if (lower ? j <= i : j >= i)
        m(i, j) = (*this)(i, j);
  return m;
}

Matrix Matrix::mirrored(bool lower, bool hermitian) const {
  Matrix m = *this;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      if (lower ? j > i : j < i)
        m(i, j) = hermitian ? std::conj((*this)(j, i)) : (*this)(j, i);
      else if (i == j && hermitian)
        m(i, j) = m(i, j).real();
  return m;
}

void Matrix::swapRows(int64_t i, int64_t j) {
  for (int64_t k = 0; k < cols; ++k)
    std::swap((*this)(i, k), (*this)(j, k));
}

Matrix ft::interpreter::operator*(const Matrix &a, const Matrix &b) {
  Matrix m(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.cols; ++k)
      for (int64_t j = 0; j < b.cols; ++j)
        m(i, j) += product(a(i, k), b(k, j));
  return m;
}

Matrix ft::interpreter::scaled(const Matrix &a, const std::vector<double> &by) {
  Matrix m = a;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.cols; ++j)
      m(i, j) *= by[j];
  return m;
}

//===----------------------------------------------------------------------===//
// Tensors of matrices
//===----------------------------------------------------------------------===//

Shape ft::interpreter::batchOf(const Tensor &t, int64_t last) {
  return Shape(t.shape.begin(),
               t.shape.end() - std::min<int64_t>(last, t.rank()));
}

Matrix ft::interpreter::matrixAt(const Tensor &t, int64_t which) {
  if (t.rank() < 2) {
    Tensor::strayed = true;
    return {};
  }
  Matrix m(t.shape[t.rank() - 2], t.shape.back());
  int64_t n = m.rows * m.cols;
  for (int64_t i = 0; i < n; ++i)
    m.data[i] = t.complex(which * n + i);
  return m;
}

Matrix ft::interpreter::matrixAt(const Tensor &t, Index batch) {
  return matrixAt(t, flattenBroadcast(batchOf(t), batch));
}

void ft::interpreter::storeMatrix(Tensor &out, int64_t which, const Matrix &m) {
  int64_t n = m.rows * m.cols;
  for (int64_t i = 0; i < n; ++i)
    out.setComplex(which * n + i, m.data[i]);
}

void ft::interpreter::storeVector(Tensor &out, int64_t which,
                                  const std::vector<double> &v) {
  int64_t n = v.size();
  for (int64_t i = 0; i < n; ++i)
    out.setReal(which * n + i, v[i]);
}

Shape ft::interpreter::broadcastBatch(const Shape &a, const Shape &b) {
  Shape batch(std::max(a.size(), b.size()), 1);
  for (const Shape *shape : {&a, &b})
    for (size_t d = 0; d < shape->size(); ++d)
      if ((*shape)[d] != 1)
        batch[batch.size() - shape->size() + d] = (*shape)[d];
  return batch;
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

static double sizeOf(Complex x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

LuFactors ft::interpreter::luOf(Matrix a) {
  LuFactors f;
  for (int64_t k = 0; k < std::min(a.rows, a.cols); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (sizeOf(a(i, k)) > sizeOf(a(best, k)))
        best = i;
    f.pivots.push_back(best);
    a.swapRows(k, best);
    if (a(k, k) == 0.0) {
      if (!f.info)
        f.info = k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.cols; ++j)
        a(i, j) -= a(i, k) * a(k, j);
    }
  }
  f.packed = std::move(a);
  return f;
}

Matrix ft::interpreter::unfactored(const Matrix &packed,
                                   const std::vector<int64_t> &pivots) {
  int64_t k = std::min(packed.rows, packed.cols);
  Matrix a = packed.top(packed.rows, k).triangle(true, true) *
             packed.top(k, packed.cols).triangle(false);
  for (int64_t i = pivots.size(); i-- > 0;)
    a.swapRows(i, pivots[i]);
  return a;
}

Matrix ft::interpreter::solved(const Matrix &a, const Matrix &b,
                               bool &singular) {
  int64_t n = a.rows;
  Matrix left = a, x = b;
  std::vector<double> largest(n, 0);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i)
      largest[j] = std::max(largest[j], std::abs(a(i, j)));
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(left(i, k)) > std::abs(left(best, k)))
        best = i;
    left.swapRows(k, best);
    x.swapRows(k, best);
    if (!(std::abs(left(k, k)) > 1e-12 * largest[k])) {
      singular = true;
      return x;
    }
    // Gauss and Jordan: every other row loses its share of row k.
    for (int64_t i = 0; i < n; ++i) {
      Complex factor = left(i, k) / left(k, k);
      if (i == k || factor == 0.0)
        continue;
      for (int64_t j = k; j < n; ++j)
        left(i, j) -= factor * left(k, j);
      for (int64_t j = 0; j < x.cols; ++j)
        x(i, j) -= factor * x(k, j);
    }
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < x.cols; ++j)
      x(i, j) /= left(i, i);
  return x;
}

//===----------------------------------------------------------------------===//
// Reflections
//===----------------------------------------------------------------------===//

/// a := (1 - tau v v^H) a, where v is 0 above row k, 1 there, and what column k
/// of `packed` holds below.
static void reflect(Matrix &a, const Matrix &packed, int64_t k, Complex tau) {
  auto v = [&](int64_t i) { return i == k ? Complex(1) : packed(i, k); };
  for (int64_t j = 0; j < a.cols; ++j) {
    Complex sum = 0;
    for (int64_t i = k; i < a.rows; ++i)
      sum += std::conj(v(i)) * a(i, j);
    for (int64_t i = k; i < a.rows; ++i)
      a(i, j) -= tau * v(i) * sum;
  }
}

// The reflector takes column k to beta e_k, where beta is real and has the sign
// that alpha has not; 1 - conj(tau) v v^H is what is applied. A column that is
// such already has no reflector.
QrFactors ft::interpreter::qrOf(Matrix a) {
  QrFactors f;
  f.packed = Matrix(a.rows, a.cols);
  for (int64_t k = 0; k < std::min(a.rows, a.cols); ++k) {
    double below = 0;
    for (int64_t i = k + 1; i < a.rows; ++i)
      below += std::norm(a(i, k));
    Complex alpha = a(k, k);
    if (below == 0 && alpha.imag() == 0) {
      f.tau.push_back(0);
      continue;
    }
    double beta =
        -std::copysign(std::sqrt(std::norm(alpha) + below), alpha.real());
    Complex tau = (beta - alpha) / beta;
    for (int64_t i = k + 1; i < a.rows; ++i)
      f.packed(i, k) = a(i, k) / (alpha - beta);
    reflect(a, f.packed, k, std::conj(tau));
    a(k, k) = beta;
    for (int64_t i = k + 1; i < a.rows; ++i)
      a(i, k) = 0;
    f.tau.push_back(tau);
  }
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = i; j < a.cols; ++j)
      f.packed(i, j) = a(i, j);
  return f;
}

Matrix ft::interpreter::reflectorsOf(const Matrix &packed,
                                     const std::vector<Complex> &tau) {
  Matrix q = Matrix::identity(packed.rows);
  for (int64_t k = tau.size(); k-- > 0;)
    reflect(q, packed, k, tau[k]);
  return q;
}

//===----------------------------------------------------------------------===//
// Jacobi's rotations
//===----------------------------------------------------------------------===//

namespace {
/// The unitary change of two columns that makes [[app, apq], [apq*, aqq]]
/// diagonal.
struct Rotation {
  double cosine, sine;
  Complex phase;

  Rotation(double app, double aqq, Complex apq)
      : phase(std::conj(apq) / std::abs(apq)) {
    double theta = (aqq - app) / (2 * std::abs(apq));
    double tangent = std::copysign(1, theta) /
                     (std::abs(theta) + std::sqrt(theta * theta + 1));
    if (std::isinf(theta * theta))
      tangent = 0.5 / theta;
    cosine = 1 / std::sqrt(tangent * tangent + 1);
    sine = tangent * cosine;
  }
  void columns(Matrix &m, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < m.rows; ++i) {
      Complex x = m(i, p), y = m(i, q) * phase;
      m(i, p) = cosine * x - sine * y;
      m(i, q) = sine * x + cosine * y;
    }
  }
};
} // namespace

/// The order in which `values` rise (or fall).
static std::vector<int64_t> orderOf(const std::vector<double> &values,
                                    bool falling) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    if (values[i] != values[j])
      return falling ? values[i] > values[j] : values[i] < values[j];
    return i < j;
  });
  return order;
}

static Matrix columnsOf(const Matrix &m, const std::vector<int64_t> &order) {
  Matrix r(m.rows, m.cols);
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.cols; ++j)
      r(i, j) = m(i, order[j]);
  return r;
}

static std::vector<double> reordered(const std::vector<double> &values,
                                     const std::vector<int64_t> &order) {
  std::vector<double> r;
  for (int64_t i : order)
    r.push_back(values[i]);
  return r;
}

HermitianFactors ft::interpreter::eighOf(Matrix a) {
  int64_t n = a.rows;
  Matrix vectors = Matrix::identity(n);
  bool turned = true;
  for (int sweep = 0; turned && sweep < 100; ++sweep) {
    turned = false;
    double size = 0;
    for (Complex x : a.data)
      size = std::max(size, std::abs(x));
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        if (!(std::abs(a(p, q)) > 1e-17 * size))
          continue;
        turned = true;
        Rotation r(a(p, p).real(), a(q, q).real(), a(p, q));
        r.columns(a, p, q);
        a = a.adjoint();
        r.columns(a, p, q);
        a = a.adjoint();
        a(p, q) = a(q, p) = 0;
        r.columns(vectors, p, q);
      }
  }
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(a(i, i).real());
  std::vector<int64_t> order = orderOf(values, false);
  return {reordered(values, order), columnsOf(vectors, order)};
}

// One-sided: rotates columns until they are orthogonal; their lengths are the
// values.
SingularFactors ft::interpreter::svdOf(const Matrix &a) {
  if (a.rows < a.cols) {
    SingularFactors f = svdOf(a.adjoint());
    std::swap(f.u, f.v);
    return f;
  }
  Matrix u = a, v = Matrix::identity(a.cols);
  bool turned = true;
  for (int sweep = 0; turned && sweep < 100; ++sweep) {
    turned = false;
    for (int64_t p = 0; p < a.cols; ++p)
      for (int64_t q = p + 1; q < a.cols; ++q) {
        double pp = 0, qq = 0;
        Complex pq = 0;
        for (int64_t i = 0; i < a.rows; ++i) {
          pp += std::norm(u(i, p));
          qq += std::norm(u(i, q));
          pq += std::conj(u(i, p)) * u(i, q);
        }
        if (!(std::abs(pq) > 1e-15 * std::sqrt(pp * qq)))
          continue;
        turned = true;
        Rotation r(pp, qq, pq);
        r.columns(u, p, q);
        r.columns(v, p, q);
      }
  }
  std::vector<double> values, inverse;
  for (int64_t j = 0; j < a.cols; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < a.rows; ++i)
      sum += std::norm(u(i, j));
    values.push_back(std::sqrt(sum));
    inverse.push_back(sum > 0 ? 1 / values.back() : 0);
  }
  std::vector<int64_t> order = orderOf(values, true);
  return {columnsOf(scaled(u, inverse), order), reordered(values, order),
          columnsOf(v, order)};
}
