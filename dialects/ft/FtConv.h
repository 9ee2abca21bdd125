//===- FtConv.h - Ops: convolutions -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtConv.td.

#ifndef FORETRACE_DIALECTS_FT_FTCONV_H
#define FORETRACE_DIALECTS_FT_FTCONV_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtConv.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTCONV_H
