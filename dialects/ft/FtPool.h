//===- FtPool.h - Ops: pooling ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtPool.td.

#ifndef FORETRACE_DIALECTS_FT_FTPOOL_H
#define FORETRACE_DIALECTS_FT_FTPOOL_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtPool.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTPOOL_H
