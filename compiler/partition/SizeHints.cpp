//===- SizeHints.cpp - Sizes as numbers, symbols at their hints *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/SizeHints.h"

#include "dialects/ft/FtOps.h"

namespace ft {

SizeHints::SizeHints(mlir::ModuleOp module) {
  for (auto symbol : module.getOps<SymbolOp>())
    if (std::optional<uint64_t> hint = symbol.getHint())
      hints[symbol.getSym()] = static_cast<int64_t>(*hint);
}

int64_t SizeHints::at(Dim dim) const {
  if (dim.isStatic())
    return std::max<int64_t>(dim.value(), 0);
  SymContext &context = dim.symbolic().context();
  SymExpr value = context.substitute(dim.symbolic(), [&](llvm::StringRef name) {
    auto it = hints.find(name);
    return context.constant(it == hints.end() ? kUnknown : it->second);
  });
  return value.isConst() ? std::max<int64_t>(value.constant(), 0) : kUnknown;
}

int64_t SizeHints::bytes(const TensorMeta &meta) const {
  return at(denseBytes(meta));
}

Dim denseBytes(const TensorMeta &meta) {
  return meta.numel() * Dim(int64_t(dtypeBytes(meta.dtype)));
}

} // namespace ft
