//===- KernelRun.h - Calls a C kernel on tensors of a test -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_KERNELS_KERNELRUN_H
#define FORETRACE_TESTS_UNIT_KERNELS_KERNELRUN_H

#include "runtime/kernels/kernels.h"

#include <complex>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace ft {

using Complex = std::complex<double>;

/// A matrix or vector of the tests, column-major, in complex numbers.
struct Dense {
  int64_t rows = 0, cols = 0;
  std::vector<Complex> data;

  Dense(int64_t rows, int64_t cols)
      : rows(rows), cols(cols), data(static_cast<size_t>(rows * cols)) {}
  Complex &operator()(int64_t i, int64_t j) { return data[i + j * rows]; }
  const Complex &operator()(int64_t i, int64_t j) const {
    return data[i + j * rows];
  }
  static Dense identity(int64_t n);
  static Dense random(int64_t rows, int64_t cols, bool complex, unsigned seed);
  Dense adjoint() const;
  Dense operator*(const Dense &other) const;
  Dense operator-(const Dense &other) const;
  /// The largest element.
  double size() const;
};

/// One call: operands, numbers, results, the scratch last.
class KernelRun {
public:
  explicit KernelRun(bool complex) : isComplex(complex) {}

  void operand(const Dense &matrix);
  void integers(const std::vector<int32_t> &values);
  void number(int64_t value);
  void real(double value);
  /// Results: matrices of the run's dtype (`real`: of float64), int32 vectors.
  void result(int64_t rows, int64_t cols, bool real = false);
  void complexResult(int64_t rows, int64_t cols);
  void integerResult(int64_t count);

  /// The status; `message` has what the kernel said. The test fails if the
  /// kernel wrote behind a result or the scratch memory.
  int32_t run(int32_t (*kernel)(const ft_kernel_call *), int64_t scratchBytes);

  Dense resultMatrix(int r) const;
  std::vector<int32_t> resultIntegers(int r) const;
  std::string message;

private:
  struct Storage {
    std::vector<int64_t> shape, strides;
    std::vector<char> bytes; ///< the tensor's, then the guard's
    size_t size = 0;         ///< of the tensor
    DLTensor tensor = {};
  };
  bool isComplex;
  std::deque<Storage> inputs, outputs;
  std::vector<ft_kernel_arg> args;

  static void make(std::deque<Storage> &list, DLDataType dtype, int64_t rows,
                   int64_t cols);
};

} // namespace ft

#endif // FORETRACE_TESTS_UNIT_KERNELS_KERNELRUN_H
