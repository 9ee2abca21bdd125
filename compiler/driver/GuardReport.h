//===- GuardReport.h - What a program asks of its inputs -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_GUARDREPORT_H
#define FORETRACE_COMPILER_DRIVER_GUARDREPORT_H

#include "compiler/driver/Session.h"

#include <string>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace ft {

/// The conditions on the inputs that the program checks: layouts, ranges of
/// symbols, then a line for each guard that is required, and one that names
/// those that others imply. Example:
///
///   x: float32 [batch, 16]
///   0 <= batch <= 64, hint 8, source x:0
///   g1  batch % 4 == 0  required by view at view_1, net.py:12
///   dropped: g0 (batch % 2 == 0), implied by g1
///
/// After stage fake with symbols a table of asked against found follows.
FORETRACE_API std::string reportGuards(const Session &session);
/// {"inputs": [TEXT], "symbols": {NAME: {"lower", "upper", "hint", "source",
/// "title"}}, "guards": [{"id", "guard", "cause", "place", "declared",
/// "required", "implied_by"}], "sizes": [{"size", "asked", "found",
/// "forced_by", "suggestion"}]}.
FORETRACE_API std::string reportGuardsJson(const Session &session);

/// The story of one guard, by its id: what it says, which operator asked first
/// and where, what the example says, what implies it, and which sizes it
/// restricts. Empty if there is no such guard.
FORETRACE_API std::string explainGuard(const Session &session,
                                       const std::string &id);
FORETRACE_API std::string explainGuardJson(const Session &session,
                                           const std::string &id);

/// What became of the declared sizes of a module that has been propagated.
enum class SizesVerdict { AsAsked, Restricted, Fixed };
/// `table`: asked, found, first forced by, suggestion.
SizesVerdict judgeSizes(mlir::ModuleOp module, std::string &table);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_GUARDREPORT_H
