//===- Diagnostic.h - One message for the user -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of Diagnostics.h that users of the library see: needs no LLVM
// header.

#ifndef FORETRACE_COMPILER_SUPPORT_DIAGNOSTIC_H
#define FORETRACE_COMPILER_SUPPORT_DIAGNOSTIC_H

#include "compiler/support/Export.h"

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

/// One message for the user: where (a place in the user's own source or file,
/// may be empty), what (lower case, no final dot) and one line of help.
struct FORETRACE_API Diagnostic {
  DiagId id;
  std::string where;
  std::string message;
  std::string help;

  /// "FT0101", and what the process exits with because of it.
  std::string code() const;
  ExitClass exitClass() const;

  /// `where: error[FT0101]: message` and, if there is help, a second line
  /// `  help: …`.
  std::string render() const;
};

/// What Diagnostics.def says of one id.
struct DiagnosticInfo {
  std::string code;
  std::string summary;
  ExitClass exitClass;
};

/// All of them, in the order of the table.
FORETRACE_API std::vector<DiagnosticInfo> allDiagnostics();

/// "the model is rejected": what an exit code means.
FORETRACE_API std::string exitClassText(ExitClass exitClass);

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_DIAGNOSTIC_H
