//===- LlvmBackend.h - From the LLVM dialect to an object ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_LLVMBACKEND_H
#define FORETRACE_COMPILER_CODEGEN_CPU_LLVMBACKEND_H

#include "compiler/codegen/cpu/CpuCodegen.h"

namespace ft {

/// Everything to the LLVM dialect: scf, arith, math, vector, memref, func…
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

/// Translates, optimizes and assembles.
llvm::Expected<std::string> emitObject(mlir::ModuleOp module,
                                       const CpuTarget &target,
                                       const CpuCodegenOptions &options);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_LLVMBACKEND_H
