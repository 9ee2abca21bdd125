//===- FtOps.cpp - Registers the operations of the dialect -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtOps.h"

#include "compiler/shape/SymName.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtOps.cpp.inc"

namespace ft {

void KernelCallOp::getEffects(
    llvm::SmallVectorImpl<
        mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>
        &effects) {
  if (!getHasEffects())
    return;
  effects.emplace_back(mlir::MemoryEffects::Read::get());
  effects.emplace_back(mlir::MemoryEffects::Write::get());
}

mlir::LogicalResult SymbolOp::verify() {
  if (!isSymbolName(getSym()))
    return emitOpError("'") << getSym() << "' is no name of a size";
  auto end = [](mlir::IntegerAttr attribute, int64_t otherwise) {
    return attribute ? attribute.getInt() : otherwise;
  };
  int64_t lower = end(getLowerAttr(), INT64_MIN);
  int64_t upper = end(getUpperAttr(), INT64_MAX);
  if (lower > upper)
    return emitOpError("'") << getSym() << "' has an empty range: lower "
                            << lower << ", upper " << upper;
  return mlir::success();
}

static mlir::LogicalResult verifyRelation(mlir::Operation *op,
                                          llvm::StringRef text) {
  auto *dialect = llvm::cast<FtDialect>(op->getDialect());
  llvm::Expected<SymExpr> relation = dialect->symbolContext().parse(text);
  if (!relation)
    return op->emitOpError("'")
           << text << "': " << llvm::toString(relation.takeError());
  if (!relation->isPredicate())
    return op->emitOpError("'") << text << "' is a number, no relation";
  return mlir::success();
}

mlir::LogicalResult FactOp::verify() {
  return verifyRelation(*this, getRelation());
}

mlir::LogicalResult AssertOp::verify() {
  return verifyRelation(*this, getRelation());
}

/// It stays where it is, and is not dropped.
void AssertOp::getEffects(
    llvm::SmallVectorImpl<
        mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(mlir::MemoryEffects::Write::get());
}

static llvm::Expected<SymExpr> expressionOf(SizeOp op) {
  auto *dialect = llvm::cast<FtDialect>(op->getDialect());
  return dialect->symbolContext().parse(op.getExpression());
}

Dim SizeOp::dim() {
  llvm::Expected<SymExpr> e = expressionOf(*this);
  if (!e) {
    llvm::consumeError(e.takeError());
    return Dim();
  }
  return *e ? Dim(*e) : Dim();
}

mlir::LogicalResult SizeOp::verify() {
  llvm::Expected<SymExpr> e = expressionOf(*this);
  if (!e)
    return emitOpError("'")
           << getExpression() << "': " << llvm::toString(e.takeError());
  if (!*e || e->isPredicate())
    return emitOpError("'") << getExpression() << "' is no size";
  return mlir::success();
}

void FtDialect::registerFtOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ft/FtOps.cpp.inc"
      >();
}

} // namespace ft
