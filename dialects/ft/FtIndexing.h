//===- FtIndexing.h - Ops: elements chosen by other tensors -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtIndexing.td.

#ifndef FORETRACE_DIALECTS_FT_FTINDEXING_H
#define FORETRACE_DIALECTS_FT_FTINDEXING_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtIndexing.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTINDEXING_H
