//===- FtView.h - Ops: views of a tensor's storage --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtView.td.

#ifndef FORETRACE_DIALECTS_FT_FTVIEW_H
#define FORETRACE_DIALECTS_FT_FTVIEW_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtView.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTVIEW_H
