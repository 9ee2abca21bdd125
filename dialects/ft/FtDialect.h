//===- FtDialect.h - The ft dialect, its attributes and types --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_FTDIALECT_H
#define FORETRACE_DIALECTS_FT_FTDIALECT_H

#include "dialects/ft/DType.h"
#include "dialects/ft/Schema.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// Generated code needs the headers above.
// clang-format off
#include "dialects/ft/FtDialect.h.inc"
// clang-format on

#define GET_ATTRDEF_CLASSES
#include "dialects/ft/FtAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/ft/FtTypes.h.inc"

namespace ft {

/// The discardable attributes of the dialect, in one place. See README.md.
namespace names {
/// On an operation: the archive's name of its result (StringAttr), or of each
/// result (ArrayAttr of StringAttr).
inline constexpr llvm::StringLiteral kName = "ft.name";
/// On an operation or argument: what the archive claims of the value (TypeAttr,
/// or ArrayAttr of TypeAttr for several results).
inline constexpr llvm::StringLiteral kDeclared = "ft.declared";
/// On an argument: "parameter", "buffer", "constant", "input" or, in a joint
/// graph, "tangent"; in the programs of a model that is trained "saved", and
/// "given_parameter" and "given_buffer" for those that come with each call.
inline constexpr llvm::StringLiteral kKind = "ft.kind";
/// On an argument: the name in the model, "layer.0.weight" (StringAttr).
inline constexpr llvm::StringLiteral kTarget = "ft.target";
/// On an operation: unit, it stood where gradients were switched off.
inline constexpr llvm::StringLiteral kNoGrad = "ft.no_grad";
/// On an operation with regions: the archive's name of each region's graph and
/// of its arguments (ArrayAttr of {name = "…", arguments = ["…", …]}).
inline constexpr llvm::StringLiteral kGraphs = "ft.graphs";
/// On an operation or argument that is a symbolic number: its expression.
inline constexpr llvm::StringLiteral kValue = "ft.value";
/// On an argument: the archive's record that holds its storage (StringAttr).
inline constexpr llvm::StringLiteral kWeight = "ft.weight";
/// On a result that is saved for the backward pass: the name of the value.
inline constexpr llvm::StringLiteral kValueName = "ft.value_name";
/// On an argument: unit, the tensor requires a gradient.
inline constexpr llvm::StringLiteral kRequiresGrad = "ft.requires_grad";
/// On a result of the function: "output" (user output), "loss", "gradient" (of
/// the argument kTarget), "saved", "buffer_mutation", "parameter_mutation",
/// "input_mutation" (StringAttr); kTarget then says which buffer, parameter or
/// input is written.
inline constexpr llvm::StringLiteral kRole = "ft.role";
/// On the module: the file that the weights are in, and its kind.
inline constexpr llvm::StringLiteral kArchive = "ft.archive";
/// On the module: the model's name; the last stage that ran on it.
inline constexpr llvm::StringLiteral kModel = "ft.model";
inline constexpr llvm::StringLiteral kStage = "ft.stage";
} // namespace names

/// Whether arguments of this ft.kind come with each call.
inline bool isGivenByCaller(llvm::StringRef kind) {
  return kind == "input" || kind == "tangent" || kind == "saved" ||
         kind == "given_parameter" || kind == "given_buffer";
}

/// The schema of a call; null if `op` is none.
const Schema *schemaOf(mlir::Operation *op);

/// The layout of an annotated value; nothing if it is not annotated.
inline std::optional<TensorMeta> metaOf(mlir::Value value) {
  return metaFromType(value.getType());
}

/// `tensor<*x!ft.unknown>`: the type of a tensor before the fake pass.
mlir::Type unknownTensorType(mlir::MLIRContext *context);

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_FTDIALECT_H
