//===- ConstantValue.h - The elements of a tiny tensor ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_CONSTANTVALUE_H
#define FORETRACE_COMPILER_FAKE_CONSTANTVALUE_H

#include "dialects/ft/DType.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>

namespace ft {

/// The value of a tensor of a few elements, in row-major order whatever its
/// strides: shapes that a program computes with tensors come from these. No
/// data of the program's are behind it.
struct ConstantValue {
  /// Tensors of more elements carry no value.
  static constexpr int64_t kMostElements = 6;

  DType dtype = DType::I64;
  /// Integers and bools; of floats the elements in `reals`.
  llvm::SmallVector<int64_t, 4> integers;
  llvm::SmallVector<double, 0> reals;

  bool isReal() const { return isFloating(dtype); }
  size_t size() const { return isReal() ? reals.size() : integers.size(); }
};

using ConstantPtr = std::shared_ptr<const ConstantValue>;

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_CONSTANTVALUE_H
