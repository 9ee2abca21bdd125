//===- PackConstant.h - Lays constants out for the kernels -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_EMIT_PACKCONSTANT_H
#define FORETRACE_COMPILER_EMIT_PACKCONSTANT_H

#include "compiler/emit/Artefact.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ft {

/// Produces the bytes of a constant in its packed layout (ConstantLayout), in
/// order, in pieces of at most a few MiB that `take` must use before it
/// returns. Stops at the first error of `take`.
///
/// The packed array is cut into boxes that are contiguous in it. Inside a box
/// each element is gathered: for the packed index p the source offset is
/// linear, sum of step[i] * p[i]. Rows (the last dim) are written whole. When
/// the source is not contiguous along a row, the dim b of the smallest source
/// step becomes the loop around blocks of the row, so that each cache line of
/// the source is used up before it is left:
///
///   W[N, K] -> P[N/32][K][32]:  row steps by K, b = k steps by 1:
///   32 lines of W are live, each gives 16 elements in 16 turns of k.
///
/// Cost: about 1 ns for each element that is not copied in runs.
llvm::Error
packConstant(const Constant &constant,
             llvm::function_ref<llvm::Error(llvm::ArrayRef<char>)> take);

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_PACKCONSTANT_H
