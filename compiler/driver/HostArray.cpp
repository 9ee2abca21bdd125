//===- HostArray.cpp - Tensors that the runner owns ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/HostArray.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <new>

namespace ft {

static const DType kAllDTypes[] = {
#define FT_DTYPE(name, torchName, bytes, dlpackCode) DType::name,
#include "dialects/ft/DTypes.def"
#undef FT_DTYPE
};

std::optional<DType> dtypeFromDLPack(DLDataType type) {
  for (DType d : kAllDTypes)
    if (dtypeDLPackCode(d) == type.code && dtypeBytes(d) * 8 == type.bits &&
        type.lanes == 1)
      return d;
  return std::nullopt;
}

static int64_t count(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

/// The bytes of an array; nothing if no memory could hold them. Sizes of 0
/// count as 1, so that strides fit too.
static std::optional<int64_t> checkedBytes(DType dtype,
                                           llvm::ArrayRef<int64_t> shape) {
  int64_t bytes = dtypeBytes(dtype);
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes))
      return std::nullopt;
  return bytes;
}

HostArray::HostArray(DType dtype, llvm::ArrayRef<int64_t> shape)
    : dtype(dtype), shape(shape), strides(shape.size(), 1) {
  if (!checkedBytes(dtype, shape))
    return;
  size_t lines = size_t(count(shape) * dtypeBytes(dtype)) / sizeof(Line) + 1;
  memory.reset(new (std::nothrow) Line[lines]());
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
}

HostArray::HostArray(DType dtype, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> strides,
                     llvm::ArrayRef<uint8_t> from)
    : HostArray(dtype, shape) {
  this->strides.assign(strides.begin(), strides.end());
  if (valid() && !from.empty())
    std::memcpy(bytes().data(), from.data(),
                std::min(from.size(), bytes().size()));
}

int64_t HostArray::elements() const { return count(shape); }

llvm::MutableArrayRef<uint8_t> HostArray::bytes() {
  return {memory[0].bytes, size_t(elements() * dtypeBytes(dtype))};
}
llvm::ArrayRef<uint8_t> HostArray::bytes() const {
  return {memory[0].bytes, size_t(elements() * dtypeBytes(dtype))};
}

DLTensor HostArray::view() {
  DLTensor tensor = ft_tensor(memory[0].bytes, uint8_t(dtypeDLPackCode(dtype)),
                              uint8_t(dtypeBytes(dtype) * 8),
                              int32_t(shape.size()), shape.data());
  tensor.strides = strides.data();
  return tensor;
}

/// The format of one real component; null for integers and bools.
static const llvm::fltSemantics *semanticsOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
  case DType::C32:
    return &llvm::APFloat::IEEEhalf();
  case DType::BF16:
    return &llvm::APFloat::BFloat();
  case DType::F32:
  case DType::C64:
    return &llvm::APFloat::IEEEsingle();
  case DType::F64:
  case DType::C128:
    return &llvm::APFloat::IEEEdouble();
  case DType::F8E4M3FN:
    return &llvm::APFloat::Float8E4M3FN();
  case DType::F8E4M3FNUZ:
    return &llvm::APFloat::Float8E4M3FNUZ();
  case DType::F8E5M2:
    return &llvm::APFloat::Float8E5M2();
  case DType::F8E5M2FNUZ:
    return &llvm::APFloat::Float8E5M2FNUZ();
  case DType::F8E8M0FNU:
    return &llvm::APFloat::Float8E8M0FNU();
  default:
    return nullptr;
  }
}

/// Steele, Lea and Flood's mixing of a counter: the same on every machine.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

void HostArray::fillUniform(uint64_t seed) {
  const llvm::fltSemantics *semantics = semanticsOf(dtype);
  if (!semantics)
    return;
  size_t width = dtypeBytes(dtype) / (isComplex(dtype) ? 2 : 1);
  llvm::MutableArrayRef<uint8_t> to = bytes();
  for (size_t i = 0; i * width < to.size(); ++i) {
    // 53 bits in [0, 1), then [-1, 1).
    double value = double(mix(seed + i) >> 11) * 0x1p-52 - 1.0;
    uint8_t *at = to.data() + i * width;
    if (width == 8) {
      std::memcpy(at, &value, 8);
    } else if (semantics == &llvm::APFloat::IEEEsingle()) {
      float single = float(value);
      std::memcpy(at, &single, 4);
    } else {
      llvm::APFloat rounded(value);
      bool lossy = false;
      rounded.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &lossy);
      uint64_t bits = rounded.bitcastToAPInt().getZExtValue();
      std::memcpy(at, &bits, width); // little endian
    }
  }
}

static std::string realText(const uint8_t *at, size_t width,
                            const llvm::fltSemantics &semantics) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, width);
  llvm::APFloat value(semantics, llvm::APInt(unsigned(width * 8), bits));
  bool lossy = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lossy);
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(width == 8 ? "%.15g" : "%.6g", value.convertToDouble());
  return text;
}

std::string HostArray::elementText(int64_t i) const {
  size_t width = dtypeBytes(dtype);
  const uint8_t *at = bytes().data() + size_t(i) * width;
  if (const llvm::fltSemantics *semantics = semanticsOf(dtype)) {
    if (!isComplex(dtype))
      return realText(at, width, *semantics);
    return realText(at, width / 2, *semantics) + " + " +
           realText(at + width / 2, width / 2, *semantics) + "i";
  }
  uint64_t bits = 0;
  std::memcpy(&bits, at, width);
  if (dtype == DType::Bool)
    return bits ? "true" : "false";
  llvm::APInt value(unsigned(width * 8), bits);
  llvm::SmallString<24> text;
  value.toString(text, 10, /*Signed=*/!isUnsigned(dtype));
  return text.str().str();
}

} // namespace ft
