//===- Scalar.h - Scalar arithmetic inside kernels -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_SCALAR_H
#define FORETRACE_COMPILER_LOWER_SCALAR_H

#include "dialects/ft/DType.h"

#include "mlir/IR/Builders.h"

namespace ft {

/// The element type in memory: bool is i8 (0 or 1), unsigned integers are
/// signless, everything else is itself.
mlir::Type storageType(mlir::MLIRContext *context, DType dtype);
/// The type that bodies compute with: bool is i1, otherwise storageType.
mlir::Type computeType(mlir::MLIRContext *context, DType dtype);
/// What PyTorch's kernels accumulate and evaluate in: float32 for 16-bit
/// floats, the dtype itself otherwise.
DType opmathType(DType dtype);

/// Emits scalar operations (arith, math, complex) in a body. The MLIR type of a
/// value decides between integer, float and complex forms; signedness, which
/// MLIR's types do not carry, is an argument where it matters.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constantInt(mlir::Type type, int64_t value);
  mlir::Value zero(mlir::Value like) { return constant(like.getType(), 0); }
  mlir::Value one(mlir::Value like) { return constant(like.getType(), 1); }

  /// Conversion as Tensor.to does: float to integer truncates, anything to bool
  /// is != 0, real to complex gets imaginary 0, complex to real drops it.
  mlir::Value cast(mlir::Value v, DType from, DType to);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// Float or complex division; integers: truncating, see floorDiv for `//`.
  mlir::Value div(mlir::Value x, mlir::Value y, bool isUnsigned = false);
  mlir::Value neg(mlir::Value x);
  /// NaN wins, as in torch.maximum.
  mlir::Value maximum(mlir::Value x, mlir::Value y, bool isUnsigned = false);
  mlir::Value minimum(mlir::Value x, mlir::Value y, bool isUnsigned = false);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);

  // Comparisons give i1; floats compare ordered (NaN is false, but ne is true).
  enum class Cmp { Eq, Ne, Lt, Le, Gt, Ge };
  mlir::Value cmp(Cmp kind, mlir::Value x, mlir::Value y,
                  bool isUnsigned = false);
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_SCALAR_H
