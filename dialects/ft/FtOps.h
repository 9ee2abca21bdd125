//===- FtOps.h - Calls of ATen overloads and module-level ops --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_FTOPS_H
#define FORETRACE_DIALECTS_FT_FTOPS_H

#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtOps.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTOPS_H
