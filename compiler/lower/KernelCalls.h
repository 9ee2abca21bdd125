//===- KernelCalls.h - Calls of custom operators' kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_KERNELCALLS_H
#define FORETRACE_COMPILER_LOWER_KERNELCALLS_H

#include "compiler/lower/Placement.h"
#include "dialects/ft/FtOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace ft {

/// On a call whose result 0 is none of its kernel's, but a vector of int64 that
/// the runtime fills with the sizes, one after the other, of the results whose
/// sizes the kernel finds: the numbers of these results.
inline constexpr llvm::StringLiteral kTellsSizes = "ft.tells_sizes";

/// Why the runtime cannot make this call; empty if it can.
std::string kernelCallLimit(KernelCallOp call);

/// A word of a description that is a size of the run.
struct SizeWord {
  size_t at;
  Dim value;
};

/// The description that ft_rt_call_kernel reads (runtime/src/kernel_call.h).
/// `placementOf`: where an operand or result lives. `roomOf`: how many bytes
/// are there for it; null: the runtime does not check. `sizes` gets the words
/// that the run has to fill in.
std::string describeKernelCall(
    KernelCallOp call, llvm::function_ref<Placement(mlir::Value)> placementOf,
    llvm::function_ref<Dim(mlir::Value)> roomOf, std::vector<SizeWord> &sizes);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_KERNELCALLS_H
