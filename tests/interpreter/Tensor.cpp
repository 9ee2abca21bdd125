//===- Tensor.cpp - The tensors that the interpreter computes with --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Tensor.h"

#include "dialects/ft/Promotion.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>

using namespace ft;
using namespace ft::interpreter;

int64_t ft::interpreter::numelOf(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

static const llvm::fltSemantics &semanticsOf(DType dtype) {
  switch (toReal(dtype)) {
  case DType::F16:
    return llvm::APFloat::IEEEhalf();
  case DType::BF16:
    return llvm::APFloat::BFloat();
  case DType::F8E4M3FN:
    return llvm::APFloat::Float8E4M3FN();
  case DType::F8E4M3FNUZ:
    return llvm::APFloat::Float8E4M3FNUZ();
  case DType::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case DType::F8E5M2FNUZ:
    return llvm::APFloat::Float8E5M2FNUZ();
  case DType::F8E8M0FNU:
    return llvm::APFloat::Float8E8M0FNU();
  case DType::F32:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

static llvm::APFloat converted(DType dtype, double value) {
  llvm::APFloat result(value);
  bool lossy;
  result.convert(semanticsOf(dtype), llvm::APFloat::rmNearestTiesToEven,
                 &lossy);
  return result;
}

Complex ft::interpreter::product(Complex x, Complex y) {
  double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  return {a * c - b * d, a * d + b * c};
}

// By the larger part of the divisor first.
Complex ft::interpreter::quotient(Complex x, Complex y) {
  double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  if (c == 0 && d == 0)
    return {a / std::abs(c), b / std::abs(d)};
  if (std::abs(c) >= std::abs(d)) {
    double ratio = d / c, scale = 1 / (c + d * ratio);
    return {(a + b * ratio) * scale, (b - a * ratio) * scale};
  }
  double ratio = c / d, scale = 1 / (d + c * ratio);
  return {(a * ratio + b) * scale, (b * ratio - a) * scale};
}

double ft::interpreter::roundTo(DType dtype, double value) {
  switch (toReal(dtype)) {
  case DType::F64:
    return value;
  case DType::F32:
    return static_cast<float>(value);
  default: {
    llvm::APFloat result = converted(dtype, value);
    bool lossy;
    result.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &lossy);
    return result.convertToDouble();
  }
  }
}

int64_t ft::interpreter::wrapTo(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::Bool:
    return value != 0;
  case DType::U8:
    return static_cast<uint8_t>(value);
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::U16:
    return static_cast<uint16_t>(value);
  case DType::I16:
    return static_cast<int16_t>(value);
  case DType::U32:
    return static_cast<uint32_t>(value);
  case DType::I32:
    return static_cast<int32_t>(value);
  default:
    return value;
  }
}

Tensor::Tensor(DType dtype, llvm::ArrayRef<int64_t> sizes)
    : dtype(dtype), shape(sizes.begin(), sizes.end()) {
  if (whole())
    integers.resize(numel());
  else
    numbers.resize(numel());
}

Tensor::Tensor(const conformance::TensorView &host)
    : Tensor(host.dtype, host.shape) {
  for (int64_t i = 0, n = numel(); i < n; ++i)
    if (whole())
      integers[i] = host.integerAt(i);
    else
      numbers[i] = host.at(i);
}

thread_local bool Tensor::strayed = false;
thread_local bool Tensor::narrowed = false;
thread_local bool Tensor::overflowed = false;

double Tensor::real(int64_t i) const {
  if (!inside(i))
    return 0;
  narrowed |= isComplex(dtype);
  if (!whole())
    return numbers[i].real();
  return dtype == DType::U64
             ? static_cast<double>(static_cast<uint64_t>(integers[i]))
             : static_cast<double>(integers[i]);
}

Complex Tensor::complex(int64_t i) const {
  if (!inside(i))
    return 0;
  return whole() ? Complex(real(i)) : numbers[i];
}

int64_t Tensor::integer(int64_t i) const {
  if (!inside(i))
    return 0;
  if (whole())
    return integers[i];
  double value = numbers[i].real();
  return std::abs(value) < 0x1p63 ? static_cast<int64_t>(value) : INT64_MIN;
}

void Tensor::setInteger(int64_t i, int64_t value) {
  if (!inside(i))
    return;
  if (whole())
    integers[i] = wrapTo(dtype, value);
  else
    numbers[i] = roundTo(dtype, static_cast<double>(value));
}

void Tensor::setReal(int64_t i, double value) {
  if (!inside(i))
    return;
  if (!whole()) {
    numbers[i] = roundTo(dtype, value);
    return;
  }
  if (dtype == DType::Bool) {
    integers[i] = value != 0;
    return;
  }
  double cut = std::trunc(value);
  bool fits = dtype == DType::U64 ? cut >= 0 && cut < 0x1p64
                                  : cut >= -0x1p63 && cut < 0x1p63;
  if (!fits) {
    undefined = overflowed = true;
    return;
  }
  int64_t exact = dtype == DType::U64
                      ? static_cast<int64_t>(static_cast<uint64_t>(cut))
                      : static_cast<int64_t>(cut);
  integers[i] = wrapTo(dtype, exact);
  if (integers[i] != exact)
    undefined = overflowed = true;
}

void Tensor::setComplex(int64_t i, Complex value) {
  if (!inside(i))
    return;
  if (isComplex(dtype))
    numbers[i] = {roundTo(dtype, value.real()), roundTo(dtype, value.imag())};
  else if (dtype == DType::Bool)
    integers[i] = value != 0.0;
  else
    setReal(i, value.real());
}

void Tensor::set(int64_t i, const Tensor &from, int64_t j) {
  if (!inside(i) || !from.inside(j))
    return;
  if (from.whole() && from.dtype == DType::U64 && !whole())
    setReal(i, from.real(j));
  else if (from.whole())
    setInteger(i, from.integers[j]);
  else
    setComplex(i, from.numbers[j]);
}

Tensor Tensor::to(DType other) const {
  if (other == dtype)
    return *this;
  Tensor result(other, shape);
  for (int64_t i = 0, n = numel(); i < n; ++i)
    result.set(i, *this, i);
  result.undefined |= undefined;
  return result;
}

Tensor Tensor::reshaped(llvm::ArrayRef<int64_t> other) const {
  Tensor result = *this;
  result.shape.assign(other.begin(), other.end());
  return result;
}

/// Writes one real number of the (real) dtype.
static void store(char *to, DType dtype, double value) {
  switch (dtype) {
  case DType::F64:
    std::memcpy(to, &value, 8);
    return;
  case DType::F32: {
    float narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, 4);
    return;
  }
  default: {
    uint64_t bits = converted(dtype, value).bitcastToAPInt().getZExtValue();
    std::memcpy(to, &bits, dtypeBytes(dtype));
  }
  }
}

conformance::HostTensor Tensor::host() const {
  conformance::HostTensor result(dtype, shape);
  int64_t size = dtypeBytes(dtype);
  char *to = result.bytes.data();
  for (int64_t i = 0, n = numel(); i < n; ++i, to += size) {
    if (whole()) {
      std::memcpy(to, &integers[i], size);
    } else {
      store(to, toReal(dtype), numbers[i].real());
      if (isComplex(dtype))
        store(to + size / 2, toReal(dtype), numbers[i].imag());
    }
  }
  return result;
}

void ft::interpreter::forEachIndex(
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<void(Index, int64_t)> visit) {
  int64_t n = numelOf(shape);
  Shape index(shape.size(), 0);
  for (int64_t flat = 0; flat < n; ++flat) {
    visit(index, flat);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

int64_t ft::interpreter::flatten(llvm::ArrayRef<int64_t> shape, Index index) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    flat = flat * shape[d] + index[d];
  return flat;
}

int64_t ft::interpreter::flattenBroadcast(llvm::ArrayRef<int64_t> shape,
                                          Index index) {
  if (index.size() < shape.size()) {
    Tensor::strayed = true; // into dims that the loop has not
    return 0;
  }
  index = index.take_back(shape.size());
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    flat = flat * shape[d] + (shape[d] == 1 ? 0 : index[d]);
  return flat;
}
