//===- OpFamilies.h - Registers the families of operations -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the sources of the families and of the dialect only.

#ifndef FORETRACE_DIALECTS_FT_OPFAMILIES_H
#define FORETRACE_DIALECTS_FT_OPFAMILIES_H

#include "dialects/ft/FtDialect.h"

namespace ft {

// registerFtView(dialect) in FtView.cpp, and so on: registration instantiates
// most of an op's code, and so is split by family as the ops are.
#define FT_OP_FAMILY(name) void registerFt##name(FtDialect &dialect);
#include "dialects/ft/OpFamilies.def"

/// Lets a family add its ops: MLIR keeps `addOperations` for the dialect's own
/// class. Never made; it only names the function.
struct OpFamily : FtDialect {
  template <typename... Ops>
  static void add(FtDialect &dialect) {
    (dialect.*(&OpFamily::addOperations<Ops...>))();
  }
};

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_OPFAMILIES_H
