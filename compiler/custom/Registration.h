//===- Registration.h - Registers custom operators -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CUSTOM_REGISTRATION_H
#define FORETRACE_COMPILER_CUSTOM_REGISTRATION_H

#include "foretrace/plugin.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ft {

class CustomOps;

/// Who registers: for messages, and to find what registrations name.
struct RegistrationSource {
  /// The path of the plug-in; empty for the program itself.
  std::string name;
  /// Relative paths of kernel files start here.
  std::string folder;
  /// The address of a symbol in the plug-in; null if it has none.
  llvm::function_ref<void *(const char *symbol)> lookup;
  /// Operators without a fake rule get one that runs their kernel on zeros.
  bool learn = false;
};

/// Adds an operator to a registry. Register before the modules are
/// read that call it. Errors: FT0009 for a struct of another version, FT0010
/// for what cannot be registered (a malformed schema, a name that is taken, a
/// rule without its function), FT0002 for a kernel file that is not there.
llvm::Error registerCustomOp(CustomOps &ops,
                             const ft_op_registration &registration,
                             const RegistrationSource &source);

} // namespace ft

#endif // FORETRACE_COMPILER_CUSTOM_REGISTRATION_H
