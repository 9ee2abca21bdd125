//===- ScanByBlocks.h - Running totals without a loop ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_SCANBYBLOCKS_H
#define FORETRACE_COMPILER_LOWER_RULES_SCANBYBLOCKS_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// The running totals of x along `dim` (kinds: runtime/kernels/scan.h), for
/// devices that have no C kernels. x has a dtype that the kernel takes, no
/// complex one for logarithms.
LoweredTensor scanByBlocks(LowerCall &c, LoweredTensor x, unsigned dim,
                           int64_t kind);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_SCANBYBLOCKS_H
