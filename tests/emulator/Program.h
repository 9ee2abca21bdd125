//===- Program.h - Kernels, loaded and run ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_EMULATOR_PROGRAM_H
#define FORETRACE_TESTS_EMULATOR_PROGRAM_H

#include "Block.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>

namespace ft::emulator {

/// The kernels of one module of device code.
class Program {
public:
  /// Compiles bitcode, of which DeviceCode (compiler/codegen/cuda) has a copy
  /// for what it makes PTX of. `change` is called before, to do harm.
  static llvm::Expected<std::unique_ptr<Program>>
  load(llvm::StringRef bitcode,
       const std::function<void(llvm::Module &)> &change = {});
  ~Program();

  const Kernel *kernel(llvm::StringRef name) const;

private:
  Program();
  struct Jit;
  std::unique_ptr<Jit> jit;
  std::vector<Kernel> kernels;
  std::vector<std::string> places;
};

/// Runs a kernel; `parameters[i]` is where parameter i stands. Empty, or a
/// sentence that says what went wrong first.
std::string launch(const Kernel &kernel, const Memory &memory, Grid grid,
                   void **parameters);

} // namespace ft::emulator

#endif // FORETRACE_TESTS_EMULATOR_PROGRAM_H
