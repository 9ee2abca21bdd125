//===- FtReduce.cpp - Ops: reductions and scans ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtReduce.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtReduce.cpp.inc"

namespace ft {

void registerFtReduce(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtReduce.cpp.inc"
      >(dialect);
}

} // namespace ft
