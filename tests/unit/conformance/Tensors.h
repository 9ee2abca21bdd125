//===- Tensors.h - Short ways to write tensors in tests --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_CONFORMANCE_TENSORS_H
#define FORETRACE_TESTS_UNIT_CONFORMANCE_TENSORS_H

#include "tests/conformance/HostTensor.h"

#include <cstring>

namespace ft::conformance {

template <typename T>
HostTensor tensorOf(DType dtype, std::vector<int64_t> shape,
                    std::vector<T> values) {
  HostTensor tensor(dtype, shape);
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

inline HostTensor f32(std::vector<int64_t> shape, std::vector<float> values) {
  return tensorOf(DType::F32, std::move(shape), std::move(values));
}
inline HostTensor f64(std::vector<int64_t> shape, std::vector<double> values) {
  return tensorOf(DType::F64, std::move(shape), std::move(values));
}
inline HostTensor i64(std::vector<int64_t> shape, std::vector<int64_t> values) {
  return tensorOf(DType::I64, std::move(shape), std::move(values));
}

} // namespace ft::conformance

#endif // FORETRACE_TESTS_UNIT_CONFORMANCE_TENSORS_H
