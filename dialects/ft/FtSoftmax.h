//===- FtSoftmax.h - Ops: softmax and attention -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtSoftmax.td.

#ifndef FORETRACE_DIALECTS_FT_FTSOFTMAX_H
#define FORETRACE_DIALECTS_FT_FTSOFTMAX_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtSoftmax.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTSOFTMAX_H
