//===- Unregistered.h - Custom operators that nobody registered *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_UNREGISTERED_H
#define FORETRACE_COMPILER_IMPORT_UNREGISTERED_H

#include "compiler/support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace ft {

/// A custom operator that a model calls and that is not registered.
struct UnregisteredOp {
  std::string name; ///< "demo::scale"
  unsigned count = 0;
  std::string place; ///< of the first call
};

/// Those of a module, in the order of their first call.
std::vector<UnregisteredOp> unregisteredOps(mlir::ModuleOp module);

/// FT0208: all of them in one message, and how to register them.
///
///   2 custom operators are not registered: demo::scale (3 calls, first at
///   net.py:7); demo::pad (1 call, first at net.py:9)
Diagnostic unregisteredDiagnostic(llvm::ArrayRef<UnregisteredOp> ops,
                                  llvm::StringRef where);
/// The reverse, for those that list operators; empty for another message.
std::vector<UnregisteredOp> parseUnregistered(llvm::StringRef message);

} // namespace ft

#endif // FORETRACE_COMPILER_IMPORT_UNREGISTERED_H
