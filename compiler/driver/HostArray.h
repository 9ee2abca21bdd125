//===- HostArray.h - Tensors that the runner owns --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_HOSTARRAY_H
#define FORETRACE_COMPILER_DRIVER_HOSTARRAY_H

#include "foretrace/runtime.h"

#include "dialects/ft/DType.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ft {

/// The dtype that a DLPack type stands for; nothing for others.
std::optional<DType> dtypeFromDLPack(DLDataType type);

/// Elements in memory with the layout that `strides` (in elements) give them.
/// The buffer is aligned to 64 bytes. The sizes are those of a user's model:
/// when they are too large for memory there is no buffer, which valid() tells
/// and nothing else may be asked.
class HostArray {
public:
  /// Row-major, all bytes 0.
  HostArray(DType dtype, llvm::ArrayRef<int64_t> shape);
  /// A copy of `bytes` in the given layout.
  HostArray(DType dtype, llvm::ArrayRef<int64_t> shape,
            llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<uint8_t> bytes);

  bool valid() const { return memory != nullptr; }

  DType dtype;
  llvm::SmallVector<int64_t, 6> shape;
  llvm::SmallVector<int64_t, 6> strides;

  llvm::MutableArrayRef<uint8_t> bytes();
  llvm::ArrayRef<uint8_t> bytes() const;
  int64_t elements() const;
  /// A view of this array, valid while it lives and is not moved.
  DLTensor view();

  /// Fills with numbers uniform in [-1, 1) that depend on `seed` and position
  /// alone; integers and bools stay 0.
  void fillUniform(uint64_t seed);
  /// Element number `i` in memory order, as text.
  std::string elementText(int64_t i) const;

private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  std::unique_ptr<Line[]> memory;
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_HOSTARRAY_H
