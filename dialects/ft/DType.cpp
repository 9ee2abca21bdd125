//===- DType.cpp - Element types and devices of tensors --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/DType.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/StringExtras.h"

namespace ft {

namespace {
struct Row {
  llvm::StringRef name;
  int64_t bytes;
  unsigned dlpackCode;
};
} // namespace

static const Row kRows[] = {
#define FT_DTYPE(name, torchName, bytes, dlpackCode)                           \
  {torchName, bytes, dlpackCode},
#include "dialects/ft/DTypes.def"
#undef FT_DTYPE
};

llvm::StringRef dtypeName(DType dtype) {
  return kRows[static_cast<size_t>(dtype)].name;
}

std::optional<DType> dtypeFromName(llvm::StringRef name) {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].name == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

int64_t dtypeBytes(DType dtype) {
  return kRows[static_cast<size_t>(dtype)].bytes;
}

unsigned dtypeDLPackCode(DType dtype) {
  return kRows[static_cast<size_t>(dtype)].dlpackCode;
}

DTypeCategory dtypeCategory(DType dtype) {
  if (dtype == DType::Bool)
    return DTypeCategory::Bool;
  if (dtype <= DType::I64)
    return DTypeCategory::Integer;
  if (dtype <= DType::F64)
    return DTypeCategory::Floating;
  return DTypeCategory::Complex;
}

bool isUnsigned(DType dtype) {
  return dtype == DType::U8 || dtype == DType::U16 || dtype == DType::U32 ||
         dtype == DType::U64;
}

mlir::Type dtypeToType(mlir::MLIRContext *context, DType dtype) {
  using namespace mlir;
  auto integer = [&](unsigned width, bool isUnsigned) -> Type {
    return IntegerType::get(context, width,
                            isUnsigned ? IntegerType::Unsigned
                                       : IntegerType::Signless);
  };
  switch (dtype) {
  case DType::Bool:
    return integer(1, false);
  case DType::U8:
    return integer(8, true);
  case DType::I8:
    return integer(8, false);
  case DType::U16:
    return integer(16, true);
  case DType::I16:
    return integer(16, false);
  case DType::U32:
    return integer(32, true);
  case DType::I32:
    return integer(32, false);
  case DType::U64:
    return integer(64, true);
  case DType::I64:
    return integer(64, false);
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DType::F8E8M0FNU:
    return Float8E8M0FNUType::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::C32:
    return ComplexType::get(Float16Type::get(context));
  case DType::C64:
    return ComplexType::get(Float32Type::get(context));
  case DType::C128:
    return ComplexType::get(Float64Type::get(context));
  }
  return Type();
}

std::optional<DType> dtypeFromType(mlir::Type type) {
  using namespace mlir;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.isSigned())
      return std::nullopt;
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return isUnsigned ? std::nullopt : std::optional(DType::Bool);
    case 8:
      return isUnsigned ? DType::U8 : DType::I8;
    case 16:
      return isUnsigned ? DType::U16 : DType::I16;
    case 32:
      return isUnsigned ? DType::U32 : DType::I32;
    case 64:
      return isUnsigned ? DType::U64 : DType::I64;
    default:
      return std::nullopt;
    }
  }
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type element = complex.getElementType();
    if (element.isF16())
      return DType::C32;
    if (element.isF32())
      return DType::C64;
    if (element.isF64())
      return DType::C128;
    return std::nullopt;
  }
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3FN;
  if (isa<Float8E4M3FNUZType>(type))
    return DType::F8E4M3FNUZ;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (isa<Float8E5M2FNUZType>(type))
    return DType::F8E5M2FNUZ;
  if (isa<Float8E8M0FNUType>(type))
    return DType::F8E8M0FNU;
  return std::nullopt;
}

std::string Device::str() const {
  switch (kind) {
  case Cpu:
    return "cpu";
  case Cuda:
    return "cuda:" + llvm::utostr(index);
  case Meta:
    return "meta";
  }
  return "";
}

std::optional<Device> Device::parse(llvm::StringRef text) {
  if (text == "cpu" || text == "cpu:0")
    return Device{Cpu, 0};
  if (text == "meta" || text == "meta:0")
    return Device{Meta, 0};
  if (text == "cuda")
    return Device{Cuda, 0};
  int32_t index;
  if (text.consume_front("cuda:") && !text.getAsInteger(10, index) &&
      index >= 0)
    return Device{Cuda, index};
  return std::nullopt;
}

} // namespace ft
