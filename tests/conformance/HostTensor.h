//===- HostTensor.h - A tensor in memory -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_HOSTTENSOR_H
#define FORETRACE_TESTS_CONFORMANCE_HOSTTENSOR_H

#include "dialects/ft/DType.h"

#include "llvm/ADT/ArrayRef.h"

#include <complex>
#include <string>
#include <vector>

namespace ft::conformance {

/// A row-major tensor that views its bytes.
struct TensorView {
  DType dtype = DType::F32;
  llvm::ArrayRef<int64_t> shape;
  const char *data = nullptr;

  int64_t numel() const;
  /// Element `i` in row-major order. Integers beyond 2^53 are rounded.
  std::complex<double> at(int64_t i) const;
  /// An integer or bool element, exactly (unsigned ones by their bits).
  int64_t integerAt(int64_t i) const;
  /// "[1, 0]": the index of element `i`, for messages.
  std::string indexText(int64_t i) const;
};

/// A row-major tensor that owns its bytes.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  HostTensor() = default;
  HostTensor(DType dtype, llvm::ArrayRef<int64_t> shape);
  TensorView view() const { return {dtype, shape, bytes.data()}; }
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_HOSTTENSOR_H
