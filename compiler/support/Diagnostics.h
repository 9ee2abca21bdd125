//===- Diagnostics.h - Errors with stable ids ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_DIAGNOSTICS_H
#define FORETRACE_COMPILER_SUPPORT_DIAGNOSTICS_H

#include "compiler/support/Diagnostic.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ft {

/// "FT0101", the exit class and the one-line summary of a row.
llvm::StringRef diagCode(DiagId id);
ExitClass diagExitClass(DiagId id);
llvm::StringRef diagSummary(DiagId id);
/// The row with this code ("FT0101"), if there is one.
bool findDiag(llvm::StringRef code, DiagId &id);

/// An llvm::Error that carries diagnostics. Every failing function of the
/// compiler returns one of these, so that the command line can print the id
/// and choose the exit code. Errors of other classes count as internal.
class DiagnosticError : public llvm::ErrorInfo<DiagnosticError> {
public:
  static char ID;
  explicit DiagnosticError(std::vector<Diagnostic> list)
      : diagnostics(std::move(list)) {}

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  std::vector<Diagnostic> diagnostics;
};

/// The usual way to fail: `return makeError(DiagId::BadZip, path, "…");`
llvm::Error makeError(DiagId id, const llvm::Twine &where,
                      const llvm::Twine &message, const llvm::Twine &help = "");

/// Takes an error apart; one that is no DiagnosticError becomes FT0070.
std::vector<Diagnostic> takeDiagnostics(llvm::Error error);

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_DIAGNOSTICS_H
