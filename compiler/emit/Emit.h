//===- Emit.h - Writes a compiled model ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_EMIT_EMIT_H
#define FORETRACE_COMPILER_EMIT_EMIT_H

#include "compiler/emit/Artefact.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ft {

struct EmitOptions {
  /// The ld.lld to run. Empty: beside LLVM, then in PATH.
  std::string linker;
  /// Weights above this many bytes go to PATH.weights.
  uint64_t inlineWeightsLimit = 1 << 20;
};

/// The files that were written.
struct EmittedFiles {
  std::string library;
  std::string header;
  /// Empty when the weights are inside the library.
  std::string weights;
  std::string compileId;
};

/// Writes `outputBase`.so, .h and (when the weights are large) .weights, each
/// under a temporary name that is renamed at the end: after a failure the
/// files that were there before are untouched and no temporary is left. The
/// bytes depend on the artefact and on the last part of outputBase only. A
/// .weights file that an earlier, larger model of this name left is removed.
///
/// Fails with FT0003 (not writable, disk full), FT0004 (no linker), FT0007
/// (the linker failed) FT0504 (the object needs a symbol outside
/// runtime/src/imports.def) or FT0070 (the artefact is inconsistent).
llvm::Expected<EmittedFiles> emitArtefact(const Artefact &artefact,
                                          llvm::StringRef outputBase,
                                          const EmitOptions &options);

/// `text` as a C identifier: other characters become '_', and one that starts
/// with a digit or is a keyword gets a prefix.
std::string cIdentifier(llvm::StringRef text);

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_EMIT_H
