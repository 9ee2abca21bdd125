//===- FtNorm.cpp - Ops: normalizations -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtNorm.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtNorm.cpp.inc"

namespace ft {

void registerFtNorm(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtNorm.cpp.inc"
      >(dialect);
}

} // namespace ft
