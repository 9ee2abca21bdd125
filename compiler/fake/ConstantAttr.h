//===- ConstantAttr.h - Tiny constants: bytes, IR, elements ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_CONSTANTATTR_H
#define FORETRACE_COMPILER_FAKE_CONSTANTATTR_H

#include "compiler/fake/ConstantValue.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace ft {

namespace names {
/// On an argument that is a constant of the model, of at most
/// ConstantValue::kMostElements elements: its elements (DenseElementsAttr of
/// the argument's shape and element type). What a program computes with such
/// tensors is often a size:
///
///   %n: tensor<2xi64, …> {ft.kind = "constant",
///                         ft.constant = dense<[3, 4]> : tensor<2xi64>}
inline constexpr llvm::StringLiteral kConstant = "ft.constant";
} // namespace names

/// How many bytes of its storage a tensor reaches to; nothing unless it is
/// static, tiny and of a dtype that carries values. 0 for one without elements.
std::optional<uint64_t> constantBytes(const TensorMeta &meta);

/// The elements of a tensor, read from its storage: at least constantBytes of
/// it. Null where constantBytes has none.
ConstantPtr readConstant(const TensorMeta &meta, const char *storage);

/// As an attribute; `meta` is the tensor's.
mlir::DenseElementsAttr constantAttr(mlir::MLIRContext *context,
                                     const TensorMeta &meta,
                                     const ConstantValue &value);

/// The elements that the attribute of an argument states: null if it has none,
/// or if the program writes the argument, whose value is then that of the first
/// run only. Fails with FT0107 at the argument if what it states is no value
/// of a tensor like `meta`.
llvm::FailureOr<ConstantPtr> constantOf(mlir::BlockArgument argument,
                                        const TensorMeta &meta);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_CONSTANTATTR_H
