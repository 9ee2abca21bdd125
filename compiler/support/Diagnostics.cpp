//===- Diagnostics.cpp - Errors with stable ids ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/Diagnostics.h"

#include "llvm/Support/raw_ostream.h"

namespace ft {

namespace {
struct Row {
  llvm::StringRef code;
  ExitClass exitClass;
  llvm::StringRef summary;
};
} // namespace

static const Row kRows[] = {
#define FT_DIAG(id, name, exitClass, summary)                                  \
  {#id, ExitClass::exitClass, summary},
#include "compiler/support/Diagnostics.def"
#undef FT_DIAG
};

static const Row &row(DiagId id) { return kRows[static_cast<size_t>(id)]; }

llvm::StringRef diagCode(DiagId id) { return row(id).code; }
ExitClass diagExitClass(DiagId id) { return row(id).exitClass; }
llvm::StringRef diagSummary(DiagId id) { return row(id).summary; }

bool findDiag(llvm::StringRef code, DiagId &id) {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].code == code) {
      id = static_cast<DiagId>(i);
      return true;
    }
  }
  return false;
}

std::string Diagnostic::code() const { return diagCode(id).str(); }

ExitClass Diagnostic::exitClass() const { return diagExitClass(id); }

std::vector<DiagnosticInfo> allDiagnostics() {
  std::vector<DiagnosticInfo> all;
  for (const Row &r : kRows)
    all.push_back({r.code.str(), r.summary.str(), r.exitClass});
  return all;
}

std::string exitClassText(ExitClass exitClass) {
  switch (exitClass) {
  case ExitClass::Note:
    return "a note: the compilation goes on";
  case ExitClass::Rejected:
    return "the model is rejected";
  case ExitClass::Usage:
    return "the command line is wrong";
  case ExitClass::Unsupported:
    return "an operator or a feature is not supported";
  case ExitClass::Contradiction:
    return "a guard, a shape or a budget is contradicted";
  case ExitClass::Environment:
    return "the environment does not allow it";
  case ExitClass::Internal:
    return "an internal error, with a reproducer file";
  }
  return "";
}

std::string Diagnostic::render() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!where.empty())
    os << where << ": ";
  bool isNote = diagExitClass(id) == ExitClass::Note;
  os << (isNote ? "warning[" : "error[") << diagCode(id) << "]: " << message
     << '\n';
  if (!help.empty())
    os << "  help: " << help << '\n';
  return text;
}

char DiagnosticError::ID = 0;

void DiagnosticError::log(llvm::raw_ostream &os) const {
  for (const Diagnostic &d : diagnostics)
    os << d.render();
}

std::error_code DiagnosticError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Error makeError(DiagId id, const llvm::Twine &where,
                      const llvm::Twine &message, const llvm::Twine &help) {
  return llvm::make_error<DiagnosticError>(
      std::vector<Diagnostic>{{id, where.str(), message.str(), help.str()}});
}

std::vector<Diagnostic> takeDiagnostics(llvm::Error error) {
  std::vector<Diagnostic> all;
  llvm::handleAllErrors(
      std::move(error),
      [&](DiagnosticError &e) {
        all.insert(all.end(), e.diagnostics.begin(), e.diagnostics.end());
      },
      [&](llvm::ErrorInfoBase &e) {
        all.push_back({DiagId::Internal, "", e.message(), ""});
      });
  return all;
}

} // namespace ft
