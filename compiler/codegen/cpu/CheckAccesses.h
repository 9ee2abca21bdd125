//===- CheckAccesses.h - Guards the memory accesses of kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For --check-accesses: every load and store of an emitted kernel, of lanes and
// under masks too, is compared with the buffer that its address was made from.
//
//   %v = llvm.load %p        %at = %p - %x             // the argument's start
//     becomes                %ok = 0 <= %at && %at + 64 <= bytes of %x
//                            scf.if !%ok: ft_rt_fail_access("…", %at, bytes)
//                            %v = llvm.load (%ok ? %p : aside)
//
// An access outside, or at an address without the alignment that it claims,
// does not happen; the call ends with a status that names it. Works on what was
// emitted, not on what should have been: it shares nothing with the emitters.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_CHECKACCESSES_H
#define FORETRACE_COMPILER_CODEGEN_CPU_CHECKACCESSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ft {

/// Memory that a kernel is given.
struct CheckedBuffer {
  mlir::Value pointer;
  mlir::Value bytes; ///< index; defined where it dominates all accesses
  std::string name;  ///< "argument 2"
};

/// Guards all accesses of `kernel`, an emitted function that no conversion has
/// seen. What it allocates on the stack, and constants, are buffers too. Fails,
/// with an error, if some access cannot be followed to a buffer.
mlir::LogicalResult checkAccesses(mlir::func::FuncOp kernel,
                                  llvm::ArrayRef<CheckedBuffer> buffers);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_CHECKACCESSES_H
