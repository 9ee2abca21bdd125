//===- FtCopy.cpp - Ops: copies, conversions and writes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtCopy.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtCopy.cpp.inc"

namespace ft {

void registerFtCopy(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtCopy.cpp.inc"
      >(dialect);
}

} // namespace ft
