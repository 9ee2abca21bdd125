//===- Target.h - CPUs and what their vectors can do -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_TARGET_H
#define FORETRACE_COMPILER_CODEGEN_CPU_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ft {

/// One row of the table of instruction sets: what tiles are made of.
struct IsaRow {
  const char *name;     ///< "avx512", "avx2", "base128"
  unsigned vectorBytes; ///< 64, 32, 16
  unsigned registers;   ///< vector registers: 32, 16
  unsigned panel;       ///< columns of a matmul tile and of a packed panel
  unsigned maxRows;     ///< rows of a matmul tile for 4-byte accumulators
  bool maskedMemory;    ///< cheap masked loads and stores of every width
  double gflops;        ///< f32 rate of one core for cost estimates
};

/// A CPU to compile for. `resolve` fills it; everything else reads it.
struct CpuTarget {
  std::string triple; ///< "x86_64-unknown-linux-gnu"
  std::string cpu;    ///< LLVM's name: "sapphirerapids", "x86-64-v3"
  /// LLVM feature names that the code may use ("avx2", "fma", …), sorted: a
  /// loader must find every one of them on the machine it runs on.
  std::vector<std::string> features;
  /// The same with signs, as LLVM takes it ("+avx2,-avx512f,…").
  std::string featureString;
  IsaRow isa;

  /// Columns of a packed panel, for every element type.
  int64_t panelWidth() const { return isa.panel; }

  /// `name` is a CPU that LLVM knows for this architecture, "native" or empty
  /// for the machine that this runs on. Error FT0503 otherwise.
  static llvm::Expected<CpuTarget> resolve(llvm::StringRef name);
};

/// Names that `resolve` accepts, for `foretrace targets`.
std::vector<std::string> knownCpuNames();

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_TARGET_H
