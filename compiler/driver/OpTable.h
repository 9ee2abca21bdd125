//===- OpTable.h - What each operator has ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_OPTABLE_H
#define FORETRACE_COMPILER_DRIVER_OPTABLE_H

#include "compiler/driver/Session.h"

#include <string>
#include <vector>

namespace ft {

/// One overload of AtenOps.def and the contracts that exist for it.
struct OpRow {
  std::string name;   ///< "add.Tensor"
  std::string family; ///< names the files of its rules
  bool fake = false;
  /// "yes"; "zero" if the results are locally constant; "-" without one.
  std::string derivative = "-";
  /// Why there is none: "PyTorch has none either"; empty if there is one.
  std::string whyNone;
  bool cpu = false;
  /// Some calls may still need what a GPU has no code for; the compiler then
  /// says so.
  bool cuda = false;
  /// "view", "pointwise", "reduction", "expensive" or "never": what computing
  /// it again would cost (compiler/partition/Cost.h).
  std::string recompute;
};

/// All overloads, by name.
FORETRACE_API std::vector<OpRow> opTable();

/// The custom operators of a session, in the order of registration ("demo::f",
/// family "custom"). Loads its plug-ins; empty after an error, which the
/// session's diagnostics hold.
FORETRACE_API std::vector<OpRow> customOps(Session &session);

/// An overload that a model uses and that cannot be compiled.
struct MissingOp {
  std::string name;
  unsigned count = 0;
  std::string where; ///< the first place
  /// "fake rule", "CPU code", "CUDA code"
  std::vector<std::string> lacking;
};

/// After a load that failed only because the archive uses operators that are
/// not in the table (FT0203): fills in these, and gives true. What else the
/// model lacks is not known before they are.
FORETRACE_API bool unknownOps(const Session &session,
                              std::vector<MissingOp> &ops);

/// What keeps the model from being compiled for the CPU, or (`forGpu`) from
/// being moved to a GPU. In-place and `out=` overloads count as their
/// functional form, which they become; branches and loops as "cond",
/// "while_loop", …
FORETRACE_API std::vector<MissingOp> missingOps(const Session &session,
                                                bool forGpu = false);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_OPTABLE_H
