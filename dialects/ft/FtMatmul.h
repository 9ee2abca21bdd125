//===- FtMatmul.h - Ops: matrix products ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtMatmul.td.

#ifndef FORETRACE_DIALECTS_FT_FTMATMUL_H
#define FORETRACE_DIALECTS_FT_FTMATMUL_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtMatmul.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTMATMUL_H
