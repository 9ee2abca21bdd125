//===- FtShape.cpp - Ops: tensors put together and made -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtShape.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtShape.cpp.inc"

namespace ft {

void registerFtShape(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtShape.cpp.inc"
      >(dialect);
}

} // namespace ft
