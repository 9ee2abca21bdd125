//===- FtReduce.h - Ops: reductions and scans -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtReduce.td.

#ifndef FORETRACE_DIALECTS_FT_FTREDUCE_H
#define FORETRACE_DIALECTS_FT_FTREDUCE_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtReduce.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTREDUCE_H
