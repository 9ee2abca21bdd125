//===- DType.h - Element types and devices of tensors ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_DTYPE_H
#define FORETRACE_DIALECTS_FT_DTYPE_H

#include "mlir/IR/Types.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ft {

/// The element types of ATen, in no particular order. MLIR spells them:
/// signless integers are signed, `ui8` … `ui64` unsigned, `i1` bool,
/// `complex<f32>` complex64.
enum class DType : uint8_t {
#define FT_DTYPE(name, torchName, bytes, dlpackCode) name,
#include "dialects/ft/DTypes.def"
#undef FT_DTYPE
};

/// PyTorch's categories, in the order in which type promotion ranks them.
enum class DTypeCategory : uint8_t { Bool, Integer, Floating, Complex };

/// "float32", "bool", …: the names of numpy and PyTorch.
llvm::StringRef dtypeName(DType dtype);
std::optional<DType> dtypeFromName(llvm::StringRef name);
/// Bytes of one element; bool is 1.
int64_t dtypeBytes(DType dtype);
/// The DLPack type code (kDLInt 0, kDLUInt 1, kDLFloat 2, kDLBfloat 4,
/// kDLComplex 5, kDLBool 6, 8-bit floats 7 and up).
unsigned dtypeDLPackCode(DType dtype);
DTypeCategory dtypeCategory(DType dtype);
inline bool isFloating(DType d) {
  return dtypeCategory(d) == DTypeCategory::Floating;
}
inline bool isComplex(DType d) {
  return dtypeCategory(d) == DTypeCategory::Complex;
}
/// Integers and bool, the types that PyTorch calls integral (bool included).
inline bool isIntegral(DType d) {
  return dtypeCategory(d) <= DTypeCategory::Integer;
}
bool isUnsigned(DType dtype);

mlir::Type dtypeToType(mlir::MLIRContext *context, DType dtype);
/// Nothing for types that no tensor of the dialect can have.
std::optional<DType> dtypeFromType(mlir::Type type);

/// Where a tensor lives. `cuda` without an index means `cuda:0`.
struct Device {
  enum Kind : uint8_t { Cpu, Cuda, Meta };
  Kind kind = Cpu;
  int32_t index = 0;

  bool operator==(const Device &other) const {
    return kind == other.kind && index == other.index;
  }
  bool operator!=(const Device &other) const { return !(*this == other); }
  /// "cpu", "cuda:1", "meta".
  std::string str() const;
  static std::optional<Device> parse(llvm::StringRef text);
};

inline llvm::hash_code hash_value(const Device &d) {
  return llvm::hash_combine(static_cast<int>(d.kind), d.index);
}

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_DTYPE_H
