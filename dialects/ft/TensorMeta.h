//===- TensorMeta.h - What is known of a tensor without data ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_TENSORMETA_H
#define FORETRACE_DIALECTS_FT_TENSORMETA_H

#include "compiler/shape/Dim.h"
#include "dialects/ft/DType.h"

#include "mlir/IR/BuiltinTypes.h"

namespace ft {

/// Shape, strides, storage offset (in elements), dtype, device and the lazy
/// conj / neg flags of one tensor: what the fake pass works out for each value.
/// In the IR it is a `tensor<…, #ft.meta<…>>` type; this is the unpacked form
/// that rules compute with.
struct TensorMeta {
  DType dtype = DType::F32;
  Device device;
  bool conj = false;
  bool neg = false;
  Dims sizes;
  Dims strides;
  Dim offset;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  Dim numel() const { return product(sizes); }
  bool isStatic() const;

  bool operator==(const TensorMeta &other) const;
  bool operator!=(const TensorMeta &other) const { return !(*this == other); }

  /// "float32 [2, 3] strides [3, 1] cpu": for messages.
  std::string str() const;

  /// A row-major tensor.
  static TensorMeta contiguous(DType dtype, llvm::ArrayRef<Dim> sizes,
                               Device device = {});
};

/// "[2, s0]": for messages.
std::string dimsText(llvm::ArrayRef<Dim> dims);

/// The annotated type of `meta`: static extents stand in the type, the rest in
/// its `#ft.meta` encoding.
mlir::RankedTensorType typeFromMeta(mlir::MLIRContext *context,
                                    const TensorMeta &meta);
/// Nothing if `type` is no ranked tensor with a `#ft.meta` encoding.
std::optional<TensorMeta> metaFromType(mlir::Type type);

/// Whether the strides are row-major, with the strides of size-1 dims ignored
/// and every tensor of fewer than two elements contiguous (PyTorch's
/// is_contiguous). Symbolic sizes are compared as written.
bool isContiguous(const TensorMeta &meta);

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_TENSORMETA_H
