//===- Families.h - The interpreter's tables, family by family -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_INTERPRETER_FAMILIES_H
#define FORETRACE_TESTS_INTERPRETER_FAMILIES_H

#include "tests/interpreter/Interpreter.h"

namespace ft::interpreter {

#define FT_INTERPRETER_FAMILY(name) llvm::ArrayRef<OpRow> name##Ops();
#include "tests/interpreter/Families.def"

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_FAMILIES_H
