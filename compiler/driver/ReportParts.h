//===- ReportParts.h - What reports have in common -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_REPORTPARTS_H
#define FORETRACE_COMPILER_DRIVER_REPORTPARTS_H

#include "compiler/driver/Session.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/JSON.h"

namespace ft {

/// "x: float32 [2, 16]" for each input.
std::vector<std::string> inputLines(const Session &session);
/// "2 <= s0 <= 64, hint 4, source x:0" for each symbol.
std::vector<std::string> symbolLines(mlir::ModuleOp module);
/// {NAME: {"lower", "upper", "hint", "source", "title"}}
llvm::json::Object symbolsJson(mlir::ModuleOp module);
/// A text in the language of Graphviz, with its quotes.
std::string dotText(llvm::StringRef text);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_REPORTPARTS_H
