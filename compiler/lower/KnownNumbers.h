//===- KnownNumbers.h - Numbers that need no code --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_KNOWNNUMBERS_H
#define FORETRACE_COMPILER_LOWER_KNOWNNUMBERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ft {

/// Makes constants of the integers and truth values that the fake pass worked
/// out (`ft.value`), and writes constants into the calls that use them: what is
/// an operand afterwards is a number that only the run knows.
///
///   %n = ft.aten "sym_size.int"(%x, 0) {ft.value = "3"} : … -> i64
///   %y = ft.view(%x, [%n, 4])        ==>  %y = ft.view(%x, [3, 4])
void foldKnownNumbers(mlir::func::FuncOp function);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_KNOWNNUMBERS_H
