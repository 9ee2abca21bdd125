//===- Diagnostics.h - Errors with stable ids ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_DIAGNOSTICS_H
#define FORETRACE_COMPILER_SUPPORT_DIAGNOSTICS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ft {

/// What the process exits with when a diagnostic ends it.
enum class ExitClass : int {
  Note = 0,
  Rejected = 1,
  Usage = 2,
  Unsupported = 3,
  Contradiction = 4,
  Environment = 5,
  Internal = 70
};

/// One row of Diagnostics.def.
enum class DiagId {
#define FT_DIAG(id, name, exitClass, summary) name,
#include "compiler/support/Diagnostics.def"
#undef FT_DIAG
};

/// "FT0101", the exit class and the one-line summary of a row.
llvm::StringRef diagCode(DiagId id);
ExitClass diagExitClass(DiagId id);
llvm::StringRef diagSummary(DiagId id);
/// The row with this code ("FT0101"), if there is one.
bool findDiag(llvm::StringRef code, DiagId &id);

/// One message for the user: where (a place in the user's own source or file,
/// may be empty), what (lower case, no final dot) and one line of help.
struct Diagnostic {
  DiagId id;
  std::string where;
  std::string message;
  std::string help;

  /// `where: error[FT0101]: message` and, if there is help, a second line
  /// `  help: …`.
  std::string render() const;
};

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
