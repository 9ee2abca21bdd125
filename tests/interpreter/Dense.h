//===- Dense.h - Small matrices of complex128 ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the interpreter's linear algebra is written with: textbook algorithms on
// whole matrices, real ones too, without blocks, packed triangles or shifts.
// Where an algorithm is a choice it is not the one of the runtime's kernels:
// singular values and Hermitian eigenvalues are Jacobi's.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_TESTS_INTERPRETER_DENSE_H
#define FORETRACE_TESTS_INTERPRETER_DENSE_H

#include "tests/interpreter/Tensor.h"

namespace ft::interpreter {

struct Matrix {
  int64_t rows, cols;
  std::vector<Complex> data;

  Matrix(int64_t rows = 0, int64_t cols = 0)
      : rows(rows), cols(cols), data(static_cast<size_t>(rows * cols)) {}
  Complex &operator()(int64_t i, int64_t j) { return data[i * cols + j]; }
  Complex operator()(int64_t i, int64_t j) const { return data[i * cols + j]; }

  static Matrix identity(int64_t n);
  Matrix transpose() const;
  Matrix conjugate() const;
  Matrix adjoint() const { return transpose().conjugate(); }
  /// The first rows and columns; zeros where there are not as many.
  Matrix top(int64_t toRows, int64_t toCols) const;
  /// The lower or upper triangle and zeros; a diagonal of 1 for `unit`.
  Matrix triangle(bool lower, bool unit = false) const;
  /// The Hermitian (or symmetric) matrix that has this triangle.
  Matrix mirrored(bool lower, bool hermitian = true) const;
  void swapRows(int64_t i, int64_t j);
};
Matrix operator*(const Matrix &a, const Matrix &b);
/// Columns times numbers.
Matrix scaled(const Matrix &a, const std::vector<double> &by);

/// The leading dims of a tensor of matrices.
Shape batchOf(const Tensor &t, int64_t last = 2);
/// Matrix `which` of the batch, or that of a batch that `t` broadcasts to.
Matrix matrixAt(const Tensor &t, int64_t which);
Matrix matrixAt(const Tensor &t, Index batch);
void storeMatrix(Tensor &out, int64_t which, const Matrix &m);
void storeVector(Tensor &out, int64_t which, const std::vector<double> &v);
Shape broadcastBatch(const Shape &a, const Shape &b);

/// P A = L U with partial pivoting: rows k and pivots[k] >= k change places at
/// step k. The larger of two complex numbers has the larger |re| + |im|.
struct LuFactors {
  Matrix packed;
  std::vector<int64_t> pivots;
  /// The first pivot that is 0, from 1; or 0.
  int64_t info = 0;
};
LuFactors luOf(Matrix a);
/// What LU and pivots are the factors of.
Matrix unfactored(const Matrix &packed, const std::vector<int64_t> &pivots);
/// A⁻¹ B. `singular` is set where a pivot is 0, or is nothing but rounding
/// beside the largest element of its column.
Matrix solved(const Matrix &a, const Matrix &b, bool &singular);

/// Q R = A: reflectors below the diagonal of R, their scales.
struct QrFactors {
  Matrix packed;
  std::vector<Complex> tau;
};
QrFactors qrOf(Matrix a);
/// H_0 H_1 …, square, of columns that hold reflectors.
Matrix reflectorsOf(const Matrix &packed, const std::vector<Complex> &tau);

/// A = V diag(values) V^H of a Hermitian matrix; values from the least up.
struct HermitianFactors {
  std::vector<double> values;
  Matrix vectors;
};
HermitianFactors eighOf(Matrix a);

/// A = U diag(values) V^H, the smaller size of them, the largest first. A
/// column of U of a value 0 is 0.
struct SingularFactors {
  Matrix u;
  std::vector<double> values;
  Matrix v;
};
SingularFactors svdOf(const Matrix &a);

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_DENSE_H
