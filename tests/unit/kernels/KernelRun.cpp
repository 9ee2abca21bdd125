//===- KernelRun.cpp - Calls a C kernel on tensors of a test ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/kernels/KernelRun.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>

namespace ft {

Dense Dense::identity(int64_t n) {
  Dense eye(n, n);
  for (int64_t i = 0; i < n; ++i)
    eye(i, i) = 1;
  return eye;
}

Dense Dense::random(int64_t rows, int64_t cols, bool complex, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Dense m(rows, cols);
  for (Complex &x : m.data)
    x = {normal(generator), complex ? normal(generator) : 0};
  return m;
}

Dense Dense::adjoint() const {
  Dense r(cols, rows);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      r(j, i) = std::conj((*this)(i, j));
  return r;
}

Dense Dense::operator*(const Dense &other) const {
  Dense r(rows, other.cols);
  for (int64_t j = 0; j < other.cols; ++j)
    for (int64_t k = 0; k < cols; ++k)
      for (int64_t i = 0; i < rows; ++i)
        r(i, j) += (*this)(i, k) * other(k, j);
  return r;
}

Dense Dense::operator-(const Dense &other) const {
  Dense r = *this;
  for (size_t i = 0; i < data.size(); ++i)
    r.data[i] -= other.data[i];
  return r;
}

double Dense::size() const {
  double largest = 0;
  for (const Complex &x : data)
    largest = std::max(largest, std::abs(x));
  return largest;
}

static constexpr char kGuard = 0x5a;
static constexpr size_t kGuardBytes = 512;

void KernelRun::make(std::deque<Storage> &list, DLDataType dtype, int64_t rows,
                     int64_t cols) {
  Storage &s = list.emplace_back();
  s.shape = {rows};
  s.strides = {1};
  if (cols >= 0) {
    s.shape = {rows, cols};
    s.strides = {std::max<int64_t>(cols, 1), 1};
  }
  int64_t count = rows * (cols < 0 ? 1 : cols);
  // Behind the tensor stand bytes that no kernel may write: `run` looks.
  s.size = static_cast<size_t>(count * dtype.bits / 8);
  s.bytes.assign(s.size, 0);
  s.bytes.resize(s.size + kGuardBytes, kGuard);
  s.tensor.data = s.bytes.data();
  s.tensor.device = {kDLCPU, 0};
  s.tensor.dtype = dtype;
  s.tensor.ndim = static_cast<int32_t>(s.shape.size());
  s.tensor.shape = s.shape.data();
  s.tensor.strides = s.strides.data();
}

static DLDataType elementType(bool complex) {
  return {static_cast<uint8_t>(complex ? kDLComplex : kDLFloat),
          static_cast<uint8_t>(complex ? 128 : 64), 1};
}

void KernelRun::operand(const Dense &matrix) {
  make(inputs, elementType(isComplex), matrix.rows, matrix.cols);
  auto *at = reinterpret_cast<double *>(inputs.back().bytes.data());
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.cols; ++j) {
      *at++ = matrix(i, j).real();
      if (isComplex)
        *at++ = matrix(i, j).imag();
    }
  ft_kernel_arg arg = {};
  arg.kind = FT_ARG_TENSOR;
  arg.tensor = &inputs.back().tensor;
  args.push_back(arg);
}

void KernelRun::integers(const std::vector<int32_t> &values) {
  make(inputs, {kDLInt, 32, 1}, static_cast<int64_t>(values.size()), -1);
  if (!values.empty())
    std::memcpy(inputs.back().bytes.data(), values.data(), values.size() * 4);
  ft_kernel_arg arg = {};
  arg.kind = FT_ARG_TENSOR;
  arg.tensor = &inputs.back().tensor;
  args.push_back(arg);
}

void KernelRun::number(int64_t value) {
  ft_kernel_arg arg = {};
  arg.kind = FT_ARG_INT;
  arg.integer = value;
  args.push_back(arg);
}

void KernelRun::real(double value) {
  ft_kernel_arg arg = {};
  arg.kind = FT_ARG_FLOAT;
  arg.real = value;
  args.push_back(arg);
}

void KernelRun::result(int64_t rows, int64_t cols, bool real) {
  make(outputs, elementType(isComplex && !real), rows, cols);
}

void KernelRun::complexResult(int64_t rows, int64_t cols) {
  make(outputs, elementType(true), rows, cols);
}

void KernelRun::integerResult(int64_t count) {
  make(outputs, {kDLInt, 32, 1}, count, -1);
}

int32_t KernelRun::run(int32_t (*kernel)(const ft_kernel_call *),
                       int64_t scratchBytes) {
  make(outputs, {kDLUInt, 8, 1}, 1, scratchBytes);
  std::vector<DLTensor> results;
  for (Storage &s : outputs)
    results.push_back(s.tensor);
  ft_kernel_call call = {};
  call.struct_size = sizeof call;
  call.op = "test";
  call.num_args = static_cast<int32_t>(args.size());
  call.num_results = static_cast<int32_t>(results.size());
  call.args = args.data();
  call.results = results.data();
  call.host = this;
  call.fail = [](const ft_kernel_call *failed, int32_t code,
                 const char *message) {
    static_cast<KernelRun *>(failed->host)->message = message;
    return code;
  };
  call.parallel_for = [](const ft_kernel_call *,
                         void (*body)(void *, int64_t, int64_t), void *data,
                         int64_t n, int64_t) { body(data, 0, n); };
  int32_t status = kernel(&call);
  for (const Storage &s : outputs)
    EXPECT_TRUE(std::all_of(s.bytes.begin() + static_cast<int64_t>(s.size),
                            s.bytes.end(), [](char c) { return c == kGuard; }))
        << "a result of " << s.size << " bytes was overrun";
  return status;
}

Dense KernelRun::resultMatrix(int r) const {
  const Storage &s = outputs[r];
  bool complex = s.tensor.dtype.code == kDLComplex;
  Dense m(s.shape[0], s.shape.size() > 1 ? s.shape[1] : 1);
  const auto *at = reinterpret_cast<const double *>(s.bytes.data());
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.cols; ++j, at += complex ? 2 : 1)
      m(i, j) = {at[0], complex ? at[1] : 0};
  return m;
}

std::vector<int32_t> KernelRun::resultIntegers(int r) const {
  const Storage &s = outputs[r];
  std::vector<int32_t> values(static_cast<size_t>(s.shape[0]));
  if (!values.empty())
    std::memcpy(values.data(), s.bytes.data(), values.size() * 4);
  return values;
}

} // namespace ft
