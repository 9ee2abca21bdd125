//===- CpuCodegen.h - From kernels on tensors to object code ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
#define FORETRACE_COMPILER_CODEGEN_CPU_CPUCODEGEN_H

#include "compiler/codegen/cpu/Target.h"
#include "compiler/support/CodeChecks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace ft {

/// What compileToObject can be told besides the target.
struct CpuCodegenOptions {
  /// See CheckAccesses.h and CheckUndefined.h.
  CodeChecks checks;
  /// Called with the module after emission (LLVM dialect) and with the LLVM IR
  /// text after optimization, where set: for dumps.
  std::function<void(mlir::ModuleOp)> onLlvmDialect;
  std::function<void(llvm::StringRef)> onLlvmIr;
};

/// Loads the dialects that compileToObject needs into the registry.
void registerCpuCodegenDialects(mlir::DialectRegistry &registry);

/// Compiles the module (see README.md for what it may hold) to the bytes of a
/// position-independent ELF object. The module is consumed: afterwards it is
/// in the LLVM dialect. The same module and target give the same bytes.
/// Errors: FT0501 for something that has no code, FT0070 for a broken module.
llvm::Expected<std::string>
compileToObject(mlir::ModuleOp module, const CpuTarget &target,
                const CpuCodegenOptions &options = {});

/// Bytes of scratch memory that the kernel needs as its last argument
/// (`memref<BYTESxi8>` with the argument attribute `ft.scratch`); nearly
/// always 0.
int64_t kernelScratchBytes(mlir::func::FuncOp kernel, const CpuTarget &target);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
