//===- Instrument.h - Device code to code of the emulator ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_EMULATOR_INSTRUMENT_H
#define FORETRACE_TESTS_EMULATOR_INSTRUMENT_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ft::emulator {

/// What the emulator has to know of a kernel.
struct KernelNotes {
  std::string name;
  std::vector<std::string> shared, constants; ///< names of global variables
  bool waits = false;
};

struct Notes {
  std::vector<KernelNotes> kernels;
  /// What each numbered access, barrier and shuffle is: "access 4, a load".
  std::vector<std::string> places;
};

/// The name of the function that unpacks parameters, `void (void **)`.
inline std::string entryName(llvm::StringRef kernel) {
  return (kernel + "$emulated").str();
}

/// Rewrites kernels for the machine that this runs on: thread and block
/// numbers, barriers and shuffles become calls, each load and store tells where
/// it goes first (the ft_emulator_ functions of Program.cpp). Error: the code
/// holds something of the device that is not emulated.
llvm::Expected<Notes> instrument(llvm::Module &module);

} // namespace ft::emulator

#endif // FORETRACE_TESTS_EMULATOR_INSTRUMENT_H
