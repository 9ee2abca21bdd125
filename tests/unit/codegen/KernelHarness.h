//===- KernelHarness.h - Compiles kernels from text and runs them -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_CODEGEN_KERNELHARNESS_H
#define FORETRACE_TESTS_UNIT_CODEGEN_KERNELHARNESS_H

#include "DeviceHarness.h"

#include "compiler/codegen/cpu/CpuCodegen.h"

#include <memory>
#include <string>
#include <vector>

namespace ft::test {

/// A compiled module. `cpu` may be a GPU ("cuda:sm_80"): then it is the kernel
/// "k" alone, run by the emulator. `run` calls the entry `run(exec,
/// pointers…)`, which is made for the kernel "k" if the module has none.
class CompiledKernels {
public:
  /// `error` holds the message if `text` cannot be compiled.
  explicit CompiledKernels(const std::string &text,
                           llvm::StringRef cpu = "native",
                           const CpuCodegenOptions &options = {});
  ~CompiledKernels();

  /// Calls run. Parallel loops are run in `chunks` pieces, last piece first.
  void run(std::vector<void *> pointers, int64_t chunks = 1);

  std::string error;
  std::string object;
  /// Calls of ft_rt_parallel_for by the last run.
  int64_t parallelCalls = 0;
  /// What the last run gave to ft_rt_fail_access.
  std::vector<std::string> refused;

private:
  struct Jit;
  std::unique_ptr<Jit> jit;
  std::unique_ptr<DeviceKernels> device;
};

/// A module with one kernel called "k". `arguments` is its argument list ("%x:
/// memref<4xf32>, %out: memref<4xf32>"), `body` what stands between its braces.
/// `#name` aliases go to `prelude`.
std::string kernelModule(const std::string &arguments, const std::string &body,
                         const std::string &prelude = "");

} // namespace ft::test

#endif // FORETRACE_TESTS_UNIT_CODEGEN_KERNELHARNESS_H
