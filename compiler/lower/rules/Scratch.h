//===- Scratch.h - The scratch memory of C kernels -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of runtime/kernels/scratch.h for sizes of the run: what the
// kernel works out from its operands, as an expression that is worked out
// before the call. For numbers it is the same number.

#ifndef FORETRACE_COMPILER_LOWER_RULES_SCRATCH_H
#define FORETRACE_COMPILER_LOWER_RULES_SCRATCH_H

#include "compiler/shape/Dim.h"

#define FT_SIZE ft::Dim
#define FT_SIZE_QUOTIENT(a, b) ft::floorDiv(a, b)
#define FT_SIZE_LARGER(a, b) ft::maxDim(a, b)
#define FT_SIZE_SMALLER(a, b) ft::minDim(a, b)
#include "runtime/kernels/scratch.h"

#endif // FORETRACE_COMPILER_LOWER_RULES_SCRATCH_H
