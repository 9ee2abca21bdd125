//===- FtLoss.h - Ops: losses -----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtLoss.td.

#ifndef FORETRACE_DIALECTS_FT_FTLOSS_H
#define FORETRACE_DIALECTS_FT_FTLOSS_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtLoss.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTLOSS_H
