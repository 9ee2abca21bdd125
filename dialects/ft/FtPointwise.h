//===- FtPointwise.h - Ops: elementwise operations --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtPointwise.td.

#ifndef FORETRACE_DIALECTS_FT_FTPOINTWISE_H
#define FORETRACE_DIALECTS_FT_FTPOINTWISE_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtPointwise.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTPOINTWISE_H
