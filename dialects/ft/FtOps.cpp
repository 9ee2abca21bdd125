//===- FtOps.cpp - Registers the operations of the dialect -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtOps.h"

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

void FtDialect::registerFtOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ft/FtOps.cpp.inc"
      >();
}

} // namespace ft
