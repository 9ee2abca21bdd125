//===- FakeReport.h - Messages of fake propagation -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_FAKEREPORT_H
#define FORETRACE_COMPILER_FAKE_FAKEREPORT_H

#include "compiler/fake/FakeCall.h"

#include "mlir/IR/BuiltinOps.h"

namespace ft {

/// The id of a category's diagnostics: "FT0302".
llvm::StringRef codeOf(FakeError category);

/// Why a call is refused, in full: what the rule says, the operator, and its
/// tensors by the names of the schema. "the inner sizes … differ: 3 and 4 (in
/// aten.mm.default; self is float32 [2, 3] cpu, mat2 is float32 [4, 5] cpu)"
std::string explain(const FakeCall &call);

/// A call that its rule refuses: [FT0302] to [FT0308], [FT0311] at `op`.
void reportFailure(mlir::Operation *op, const FakeCall &call);

/// A tensor operand without layout [FT0107], or an integer one without a known
/// value [FT0311].
void reportUnknownOperand(mlir::Operation *op, mlir::Value operand);

/// All operators in `root` (an operation is in itself) that have no rule as one
/// error [FT0301]: name, count, first place.
void reportMissingRules(mlir::Operation *root);

/// Warns [FT0310] where the archive claims another layout for the result than
/// `ours`, its annotation. Strides count only where a dim has more than one
/// index, expressions by what is known of their symbols. `declared`: the
/// operation's attribute names::kDeclared.
void compareDeclared(mlir::OpResult result, mlir::Type ours,
                     mlir::Attribute declared, FakeScope *scope);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_FAKEREPORT_H
