//===- FtPool.cpp - Ops: pooling ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtPool.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtPool.cpp.inc"

namespace ft {

void registerFtPool(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtPool.cpp.inc"
      >(dialect);
}

} // namespace ft
