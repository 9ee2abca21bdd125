//===- OptimizeIr.h - LLVM's passes for generated kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_OPTIMIZEIR_H
#define FORETRACE_COMPILER_CODEGEN_CPU_OPTIMIZEIR_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Module;
class PassBuilder;
class TargetMachine;
} // namespace llvm

namespace ft {

/// Runs LLVM's pipeline for O2 over the module, without its vectorizers:
/// kernels are vectorized, or made of threads, already. `extend` may add
/// passes.
void optimizeIr(llvm::Module &module, llvm::TargetMachine &machine,
                llvm::function_ref<void(llvm::PassBuilder &)> extend = nullptr);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_OPTIMIZEIR_H
