//===- FtShape.h - Ops: tensors put together and made -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtShape.td.

#ifndef FORETRACE_DIALECTS_FT_FTSHAPE_H
#define FORETRACE_DIALECTS_FT_FTSHAPE_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtShape.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTSHAPE_H
