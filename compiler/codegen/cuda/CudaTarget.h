//===- CudaTarget.h - GPUs and the PTX that they take ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CUDA_CUDATARGET_H
#define FORETRACE_COMPILER_CODEGEN_CUDA_CUDATARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ft {

/// A GPU to compile for. `parse` fills it, and what it returns is a pair of
/// chip and PTX version that LLVM's backend takes: it ends the process on
/// others.
struct CudaTarget {
  std::string chip;   ///< "sm_90"
  unsigned ptx = 0;   ///< version of PTX times ten: 80
  unsigned sm = 0;    ///< 90; code for it runs on chips of this number and up
  bool exact = false; ///< "sm_90a": runs on this chip alone
  /// "+tf32": products of float32 may be rounded to TF32's 11 bits before they
  /// are multiplied. Sums are float32 in any case.
  bool tf32 = false;

  /// As LLVM takes it: "+ptx80".
  std::string features() const { return "+ptx" + std::to_string(ptx); }
  /// Bytes of shared memory that a block may have without asking.
  static constexpr int64_t kSharedBytes = 48 * 1024;

  /// `text` is what follows "cuda:" on the command line: empty (sm_90), a chip,
  /// or a chip and a version of PTX and "tf32" ("sm_80+ptx71", "sm_90+tf32").
  /// Error FT0503 for one that
  /// is not known, is too old for this compiler (before sm_80), or for a
  /// version of PTX that does not know the chip.
  static llvm::Expected<CudaTarget> parse(llvm::StringRef text);
};

/// Chips that `parse` accepts, for `foretrace targets`.
std::vector<std::string> knownCudaChips();

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CUDA_CUDATARGET_H
