//===- FtIndexing.cpp - Ops: elements chosen by other tensors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtIndexing.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtIndexing.cpp.inc"

namespace ft {

void registerFtIndexing(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtIndexing.cpp.inc"
      >(dialect);
}

} // namespace ft
