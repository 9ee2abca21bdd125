//===- WeightsFile.h - Streams the weights ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_EMIT_WEIGHTSFILE_H
#define FORETRACE_COMPILER_EMIT_WEIGHTSFILE_H

#include "compiler/emit/Artefact.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace ft {

/// Gives all bytes of the weights, gaps as zeros, to `take` in order, and
/// returns their hash (ft_hash). Holds a few MiB at a time.
llvm::Expected<uint64_t>
streamWeights(const Artefact &artefact,
              llvm::function_ref<llvm::Error(llvm::ArrayRef<char>)> take);

/// The first FT_WEIGHTS_DATA bytes of a .weights file (runtime/src/abi.h).
/// compileId has 32 hex digits.
std::string weightsFileHead(uint64_t dataBytes, uint64_t dataHash,
                            llvm::StringRef compileId, uint64_t &headerHash);

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_WEIGHTSFILE_H
