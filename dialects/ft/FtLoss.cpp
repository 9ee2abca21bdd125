//===- FtLoss.cpp - Ops: losses -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtLoss.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtLoss.cpp.inc"

namespace ft {

void registerFtLoss(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtLoss.cpp.inc"
      >(dialect);
}

} // namespace ft
