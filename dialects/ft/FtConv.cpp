//===- FtConv.cpp - Ops: convolutions -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtConv.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtConv.cpp.inc"

namespace ft {

void registerFtConv(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtConv.cpp.inc"
      >(dialect);
}

} // namespace ft
