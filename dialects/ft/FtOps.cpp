//===- FtOps.cpp - Registers the operations of the dialect -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtOps.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtOps.cpp.inc"

namespace ft {

void FtDialect::registerFtOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ft/FtOps.cpp.inc"
      >();
}

} // namespace ft
