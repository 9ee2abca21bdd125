//===- KernelSizes.h - The sizes of a kernel's tensors ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A size is a plain number, or an expression over the symbols of the model
// whose values are arguments of the kernel. Where it stands in the IR:
//
//   %x: memref<?x64xf32> {ft.layout = tensor<?x64xf32, #ft.meta<[s0], cpu>>}
//   %s: index {ft.symbol = "s0", ft.lower, ft.upper, ft.hint : i64}
//   %n = ft.size_of "s0*64"
//   tensor.empty(%n), tensor.expand_shape … output_shape [%n, 4], …
//
// The sizes of every other tensor follow from those of its operands.

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_KERNELSIZES_H
#define FORETRACE_COMPILER_CODEGEN_CPU_KERNELSIZES_H

#include "compiler/shape/FactBase.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ft {

/// Names of argument attributes, see above.
namespace names {
inline constexpr llvm::StringLiteral kLayout = "ft.layout";
inline constexpr llvm::StringLiteral kSymbol = "ft.symbol";
inline constexpr llvm::StringLiteral kLower = "ft.lower";
inline constexpr llvm::StringLiteral kUpper = "ft.upper";
inline constexpr llvm::StringLiteral kHint = "ft.hint";
} // namespace names

class KernelSizes : public TensorSizes {
public:
  /// Reads the arguments. Fails, with a message at the kernel, if a size or
  /// stride of an argument is not said.
  static mlir::FailureOr<KernelSizes> read(mlir::func::FuncOp kernel);

  /// The strides of a memref argument, in elements.
  llvm::ArrayRef<Dim> strides(mlir::Value memref) {
    return stridesOf.find(memref)->second;
  }

  /// What is known of the symbols; null if there are none.
  FactBase *facts() const { return known.get(); }
  /// The value at the hints: for estimates. At least `least`.
  int64_t estimate(Dim d, int64_t least = 1) const;
  /// The largest value in the ranges, if it is known.
  std::optional<int64_t> most(Dim d) const;
  /// The argument that holds a symbol; null if none does.
  mlir::Value symbol(llvm::StringRef name) const {
    return symbols.lookup(name).argument;
  }

private:
  struct Symbol {
    mlir::Value argument;
    int64_t hint = 1;
  };

  llvm::StringMap<Symbol> symbols;
  std::unique_ptr<FactBase> known;
  llvm::DenseMap<mlir::Value, Dims> stridesOf;
};

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_KERNELSIZES_H
