//===- FtNorm.h - Ops: normalizations ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtNorm.td.

#ifndef FORETRACE_DIALECTS_FT_FTNORM_H
#define FORETRACE_DIALECTS_FT_FTNORM_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtNorm.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTNORM_H
