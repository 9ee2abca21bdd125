//===- FtMatmul.cpp - Ops: matrix products --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtMatmul.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtMatmul.cpp.inc"

namespace ft {

void registerFtMatmul(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtMatmul.cpp.inc"
      >(dialect);
}

} // namespace ft
