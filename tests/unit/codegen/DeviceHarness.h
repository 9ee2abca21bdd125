//===- DeviceHarness.h - Kernels for a GPU, run by the emulator -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_CODEGEN_DEVICEHARNESS_H
#define FORETRACE_TESTS_UNIT_CODEGEN_DEVICEHARNESS_H

#include "compiler/codegen/cuda/CudaCodegen.h"
#include "tests/emulator/Program.h"

namespace ft::test {

/// The kernel "k" of a module, for a GPU.
class DeviceKernels {
public:
  /// The module is consumed. `error` holds the message if it cannot be
  /// compiled, or if ptxas is there and does not take the PTX. `change` does
  /// harm to what the emulator runs.
  DeviceKernels(mlir::ModuleOp module, llvm::StringRef chip,
                const std::function<void(llvm::Module &)> &change = {});

  /// Launches k on these buffers, which are as large as its arguments say, to
  /// the byte. Empty, or what the emulator reports.
  std::string run(const std::vector<void *> &pointers);

  std::string error;
  DeviceCode code;

private:
  std::vector<size_t> bytes; ///< of each argument
  std::unique_ptr<emulator::Program> program;
};

} // namespace ft::test

#endif // FORETRACE_TESTS_UNIT_CODEGEN_DEVICEHARNESS_H
