//===- FtSoftmax.cpp - Ops: softmax and attention -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtSoftmax.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtSoftmax.cpp.inc"

namespace ft {

void registerFtSoftmax(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtSoftmax.cpp.inc"
      >(dialect);
}

} // namespace ft
