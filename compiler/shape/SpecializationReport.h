//===- SpecializationReport.h - What a program forces on sizes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_SPECIALIZATIONREPORT_H
#define FORETRACE_COMPILER_SHAPE_SPECIALIZATIONREPORT_H

#include "compiler/shape/ShapeEnv.h"

#include <optional>

namespace ft {

/// What became of one size of an input.
struct SizeReport {
  const SymbolInfo *symbol = nullptr;
  /// As declared.
  Interval asked;
  /// The smallest interval that the guards leave.
  Interval found;
  /// symbol == relation, an expression of other sizes; null if there is none.
  SymExpr relation;
  /// symbol == multiple·k + remainder for an integer k; 1 and 0 if nothing is
  /// known.
  int64_t multiple = 1;
  int64_t remainder = 0;
  /// The first guards after which the restrictions shown were in force, each
  /// once: of the value, the relation or the multiple, then of the range. Empty
  /// if declarations say as much.
  llvm::SmallVector<const Guard *, 2> causes;
  /// What to declare instead, such as "batch = 5", "b = a + 1", "a = 4*_a",
  /// "w[8..9]"; empty if the declaration can stay. Proved to follow from the
  /// guards: it excludes no size that works.
  std::string suggestion;

  bool isFixed() const { return found.isPoint(); }
  bool restricted() const {
    return found != asked || relation || multiple != 1;
  }
};

/// Asked against found, for every size of an input. Example, for
/// x.view(-1, 4) + y:
///
///   size  asked  found         first forced by       suggestion
///   a     0..    multiple of 4 view at model.py:3    a = 4*_a
///   b     0..    a//4          add at model.py:3     b = a//4
struct SpecializationReport {
  std::vector<SizeReport> sizes;
  /// True if every guard follows from the suggestions: with these declared, no
  /// call within the declared ranges fails a guard.
  bool sufficient = true;
  /// Else the required guards that do not.
  std::vector<const Guard *> remaining;
};

/// Looks at the guards of the whole program, outside of regions. Costs some
/// hundred questions for each size.
SpecializationReport reportSpecializations(const ShapeEnv &env);

/// What was found, in words: "5", "a//4", "multiple of 4, 8..64".
std::string foundText(const ShapeEnv &env, const SizeReport &size);

/// The table, and a line for each remaining guard.
void printReport(const ShapeEnv &env, const SpecializationReport &report,
                 llvm::raw_ostream &os);

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_SPECIALIZATIONREPORT_H
