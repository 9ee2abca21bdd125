//===- FtView.cpp - Ops: views of a tensor's storage ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtView.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtView.cpp.inc"

namespace ft {

void registerFtView(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtView.cpp.inc"
      >(dialect);
}

} // namespace ft
