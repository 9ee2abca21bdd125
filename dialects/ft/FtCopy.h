//===- FtCopy.h - Ops: copies, conversions and writes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtCopy.td.

#ifndef FORETRACE_DIALECTS_FT_FTCOPY_H
#define FORETRACE_DIALECTS_FT_FTCOPY_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtCopy.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTCOPY_H
