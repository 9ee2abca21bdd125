//===- HostTensor.cpp - A tensor in memory --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/HostTensor.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace ft;
using namespace ft::conformance;

int64_t TensorView::numel() const {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

template <typename T>
static T load(const char *data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return value;
}

/// Small floats through LLVM's software floating point.
static double narrowFloat(const llvm::fltSemantics &semantics, uint64_t bits,
                          unsigned width) {
  llvm::APFloat value(semantics, llvm::APInt(width, bits));
  bool lossy;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lossy);
  return value.convertToDouble();
}

static double half(const char *data, int64_t i) {
  return narrowFloat(llvm::APFloat::IEEEhalf(), load<uint16_t>(data, i), 16);
}

std::complex<double> TensorView::at(int64_t i) const {
  switch (dtype) {
  case DType::F16:
    return half(data, i);
  case DType::BF16:
    return narrowFloat(llvm::APFloat::BFloat(), load<uint16_t>(data, i), 16);
  case DType::F32:
    return load<float>(data, i);
  case DType::F64:
    return load<double>(data, i);
  case DType::F8E4M3FN:
    return narrowFloat(llvm::APFloat::Float8E4M3FN(), load<uint8_t>(data, i),
                       8);
  case DType::F8E4M3FNUZ:
    return narrowFloat(llvm::APFloat::Float8E4M3FNUZ(), load<uint8_t>(data, i),
                       8);
  case DType::F8E5M2:
    return narrowFloat(llvm::APFloat::Float8E5M2(), load<uint8_t>(data, i), 8);
  case DType::F8E5M2FNUZ:
    return narrowFloat(llvm::APFloat::Float8E5M2FNUZ(), load<uint8_t>(data, i),
                       8);
  case DType::F8E8M0FNU:
    return narrowFloat(llvm::APFloat::Float8E8M0FNU(), load<uint8_t>(data, i),
                       8);
  case DType::C32:
    return {half(data, 2 * i), half(data, 2 * i + 1)};
  case DType::C64:
    return {load<float>(data, 2 * i), load<float>(data, 2 * i + 1)};
  case DType::C128:
    return {load<double>(data, 2 * i), load<double>(data, 2 * i + 1)};
  case DType::U64:
    return static_cast<double>(load<uint64_t>(data, i));
  default:
    return static_cast<double>(integerAt(i));
  }
}

int64_t TensorView::integerAt(int64_t i) const {
  switch (dtype) {
  case DType::Bool:
    return load<uint8_t>(data, i) != 0;
  case DType::U8:
    return load<uint8_t>(data, i);
  case DType::I8:
    return load<int8_t>(data, i);
  case DType::U16:
    return load<uint16_t>(data, i);
  case DType::I16:
    return load<int16_t>(data, i);
  case DType::U32:
    return load<uint32_t>(data, i);
  case DType::I32:
    return load<int32_t>(data, i);
  case DType::U64:
  case DType::I64:
    return load<int64_t>(data, i);
  default:
    return 0;
  }
}

std::string TensorView::indexText(int64_t i) const {
  std::string text = "]";
  for (size_t d = shape.size(); d-- > 0;) {
    text = std::to_string(i % shape[d]) + (text == "]" ? "" : ", ") + text;
    i /= shape[d];
  }
  return "[" + text;
}

HostTensor::HostTensor(DType dtype, llvm::ArrayRef<int64_t> sizes)
    : dtype(dtype), shape(sizes.begin(), sizes.end()) {
  bytes.resize(static_cast<size_t>(view().numel() * dtypeBytes(dtype)));
}
