//===- FtPointwise.cpp - Ops: elementwise operations ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtPointwise.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtPointwise.cpp.inc"

namespace ft {

void registerFtPointwise(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtPointwise.cpp.inc"
      >(dialect);
}

} // namespace ft
