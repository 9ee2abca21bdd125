//===- Functionalize.h - Mutation and aliasing → pure calls ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functionalize stage. Input: an annotated module (compiler/fake). Output:
// the same program without writes; what it wrote to its arguments are results.
//
//   %0 = ft.relu_(%x)                  %0 = ft.relu(%x)
//   %1 = ft.add_.Tensor(%n, 1)   →     %1 = ft.add(%n, 1)
//   return %0                          return %1, %0
//                                        ft.role "buffer_mutation" first
//
// Results of mutations stand before the user's, in the order of the arguments,
// with ft.role (`parameter_mutation`, `buffer_mutation`, `input_mutation`) and
// ft.target; those that the archive lists itself stay where they are.
//
// Diagnostics: [FT0401] names every op whose mutation is not supported;
// [FT0402] (internal) one that still writes afterwards.

#ifndef FORETRACE_COMPILER_FUNCTIONALIZE_FUNCTIONALIZE_H
#define FORETRACE_COMPILER_FUNCTIONALIZE_FUNCTIONALIZE_H

#include "dialects/ft/Schema.h"

#include "mlir/IR/BuiltinOps.h"

namespace ft {

mlir::LogicalResult functionalize(mlir::ModuleOp module);

/// The stage verifier: no call writes memory or metadata, and every value is
/// annotated.
mlir::LogicalResult verifyFunctionalizeStage(mlir::ModuleOp module);

/// What a call that writes becomes: "add_.Tensor" → "add.Tensor", "mm.out" →
/// "mm.default"; null if the table has no such overload.
const Schema *functionalForm(const Schema &schema);

/// The pass `ft-functionalize` (functionalize, then the verifier).
void registerFunctionalizePasses();

} // namespace ft

#endif // FORETRACE_COMPILER_FUNCTIONALIZE_FUNCTIONALIZE_H
