//===- DiagnosticCollector.h - MLIR's messages as rows ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_DIAGNOSTICCOLLECTOR_H
#define FORETRACE_COMPILER_DRIVER_DIAGNOSTICCOLLECTOR_H

#include "compiler/support/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"

#include <vector>

namespace ft {

/// "block.py:31 (linear_3)": the user's own place that a location holds, and
/// the name of the node. `file` stands in where there is a name only.
std::string placeText(mlir::Location location, llvm::StringRef file);

/// While alive, takes every diagnostic of the context. Passes that report to
/// MLIR (verifiers, the fake pass) start the text with the id and may end it
/// with a help line:
///
///   op->emitError() << "[FT0302] sizes 3 and 4 do not fit\nhelp: …";
///
/// An error without an id becomes `fallback`: FT0107 while text from outside
/// is parsed, FT0070 in a stage.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext &context, llvm::StringRef file,
                      DiagId fallback, std::vector<Diagnostic> &into);

private:
  void take(mlir::Diagnostic &diagnostic);

  std::string file;
  DiagId fallback;
  std::vector<Diagnostic> &into;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_DIAGNOSTICCOLLECTOR_H
