//===- AtenCall.h - What all calls of ATen overloads share -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_ATENCALL_H
#define FORETRACE_DIALECTS_FT_ATENCALL_H

#include "dialects/ft/FtDialect.h"

#include "mlir/IR/Builders.h"

namespace ft {

/// A call of an ATen overload, read from an operation or about to become one:
/// the schema, one Arg for each of its arguments (defaults filled in), and the
/// operands that the Args refer to by number.
///
///   ft.layer_norm(%x, [64], %w, %b)    schema  layer_norm.default
///                                      args    Tensor 0, List [Int 64],
///                                              Tensor 1, Tensor 2,
///                                              Float 1e-05, Bool true
///                                      operands %x, %w, %b
struct AtenCall {
  const Schema *schema = nullptr;
  llvm::SmallVector<Arg, 8> args;
  llvm::SmallVector<mlir::Value, 4> operands;

  /// Decodes `op`, which must be a call (schemaOf(op) is not null).
  static AtenCall decode(mlir::Operation *op);

  /// The argument called `name`; the schema must have it.
  const Arg &arg(llvm::StringRef name) const;
  bool isNone(unsigned i) const { return args[i].isNone(); }
  /// The tensor of argument `i`; null if it is absent.
  mlir::Value tensor(unsigned i) const {
    return args[i].kind == Arg::Tensor ? operands[args[i].operand]
                                       : mlir::Value();
  }
  /// The tensors of a list argument; null for absent elements.
  llvm::SmallVector<mlir::Value, 4> tensors(unsigned i) const;
  /// Static integers; a symbolic one reads as ShapedType::kDynamic.
  int64_t integer(unsigned i) const;
  llvm::SmallVector<int64_t, 6> integers(unsigned i) const;
  /// A number as double (bools as 0 / 1).
  double number(unsigned i) const;
  bool flag(unsigned i) const { return args[i].boolean; }

  /// Builds the operation: an op of its own where the overload has one,
  /// `ft.aten` otherwise. Discardable attributes (`ft.name`…) are the caller's.
  mlir::Operation *build(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::TypeRange results) const;
};

/// The properties of a call: `args`, and `callee` where one op stands for many
/// overloads. Attributes are unique, so two calls of one op with equal ones
/// have equal schemas and equal arguments, but for the operands.
inline llvm::ArrayRef<mlir::Attribute> callProperties(mlir::Operation *op) {
  size_t bytes = op->getPropertiesStorageSize();
  if (!bytes)
    return {};
  return {op->getPropertiesStorage().as<mlir::Attribute *>(),
          bytes / sizeof(mlir::Attribute)};
}

/// The `args` attribute for these arguments.
mlir::ArrayAttr encodeArgs(mlir::MLIRContext *context,
                           llvm::ArrayRef<Arg> args);

// Shared by all call ops (see Ft_AtenOp in FtBase.td).
//
// Syntax: the ATen call itself, arguments in schema order, those equal to
// their default left out, later ones by name:
//   %y = ft.add(%a, %b, alpha = 2) : (tensor<…>, tensor<…>) -> tensor<…>
mlir::ParseResult parseAtenCall(mlir::OpAsmParser &parser,
                                mlir::OperationState &result);
void printAtenCall(mlir::OpAsmPrinter &printer, mlir::Operation *op);
mlir::LogicalResult verifyAtenCall(mlir::Operation *op);
/// Writes for arguments that the schema writes, and for random ops (which must
/// be neither merged nor dropped in a graph as written); none otherwise.
void atenCallEffects(mlir::Operation *op,
                     llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                         mlir::MemoryEffects::Effect>> &effects);
void atenCallResultNames(mlir::Operation *op,
                         mlir::OpAsmSetValueNameFn setNameFn);

template <typename ConcreteType>
class AtenCallTrait
    : public mlir::OpTrait::TraitBase<ConcreteType, AtenCallTrait> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    // What callProperties relies on.
    using Properties = typename ConcreteType::Properties;
    static_assert(std::is_standard_layout_v<Properties> &&
                  sizeof(Properties) % sizeof(mlir::Attribute) == 0 &&
                  sizeof(Properties) <= 2 * sizeof(mlir::Attribute));
    return verifyAtenCall(op);
  }
};

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_ATENCALL_H
