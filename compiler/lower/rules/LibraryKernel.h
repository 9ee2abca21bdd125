//===- LibraryKernel.h - Calls of the runtime's C kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factorisations and transforms are C functions (runtime/kernels), called as
// the kernels of custom operators are: one ft.kernel_call, of no file, since
// emit finds the function in the archive that it carries. The kernel reads and
// writes tensors by their strides, so nothing is laid out for it.

#ifndef FORETRACE_COMPILER_LOWER_RULES_LIBRARYKERNEL_H
#define FORETRACE_COMPILER_LOWER_RULES_LIBRARYKERNEL_H

#include "compiler/lower/LowerCall.h"

namespace ft {

using Sizes = Dims;

/// One result of a kernel.
struct KernelResult {
  SizeList sizes;
  DType dtype;
  /// Of a result with sizes that the kernel finds: its annotation in the call,
  /// which gives the order in memory. `sizes` is then not looked at.
  const TensorMeta *found = nullptr;
};

/// Result `r` of the call as its annotation says.
KernelResult kernelResult(LowerCall &c, unsigned r);

/// The memory that a kernel works in: how many pieces of its batch can run at
/// once, and the bytes that each needs (runtime/kernels/scratch.h).
struct KernelScratch {
  Dim pieces = 1;
  Dim bytes = 0;
};

/// Pieces for a batch of `count` problems of about `work` operations each: one
/// for what is not worth a thread, and no more than 8 MiB of scratch together.
/// A batch of the run, or work of the run, counts as much.
KernelScratch scratchFor(Dim count, Dim work, Dim bytes);

/// Calls `ft_k_<name>` with `ins`, then `numbers`. The results are row-major;
/// the scratch is not among them. Nothing is called if all results are empty.
/// A result with sizes to be found can only be returned by the model.
llvm::SmallVector<LoweredTensor> callKernel(LowerCall &c, llvm::StringRef name,
                                            llvm::ArrayRef<LoweredTensor> ins,
                                            llvm::ArrayRef<Arg> numbers,
                                            llvm::ArrayRef<KernelResult> outs,
                                            KernelScratch scratch);

/// The size of a result that a kernel found, as a 0-dim int64 tensor; nothing
/// if `t` is no such result.
std::optional<LoweredTensor> foundSize(LowerCall &c, const LoweredTensor &t,
                                       unsigned dim);

/// Whether the call runs on a GPU, which has no C kernels.
bool isForGpu(LowerCall &c);

/// 8, or 16 for complex elements: the `unit` of scratch.h.
int64_t scratchUnit(DType dtype);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_LIBRARYKERNEL_H
