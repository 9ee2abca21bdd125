//===- SizeHints.h - Sizes as numbers, symbols at their hints --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_PARTITION_SIZEHINTS_H
#define FORETRACE_COMPILER_PARTITION_SIZEHINTS_H

#include "dialects/ft/TensorMeta.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

namespace ft {

/// What sizes of a module come to when each symbol is what its hint says. A
/// symbol without one (the data decide it) counts as 4096.
class SizeHints {
public:
  static constexpr int64_t kUnknown = 4096;

  /// No hints.
  SizeHints() = default;
  explicit SizeHints(mlir::ModuleOp module);

  /// Not negative; kUnknown for what the hints do not make a number.
  int64_t at(Dim dim) const;
  /// Of all elements, dense.
  int64_t bytes(const TensorMeta &meta) const;

private:
  llvm::StringMap<int64_t> hints;
};

/// Of all elements, dense.
Dim denseBytes(const TensorMeta &meta);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_SIZEHINTS_H
