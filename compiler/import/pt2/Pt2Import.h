//===- Pt2Import.h - Exported program → ft module --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_PT2IMPORT_H
#define FORETRACE_COMPILER_IMPORT_PT2_PT2IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace ft::pt2 {

class Archive;
struct Program;

/// What an FT0203 row of importProgram says, for those that count operators.
struct UnknownOperator {
  std::string name; ///< "mylib.foo.default", "cond"
  unsigned count = 1;
  bool region = false; ///< a higher-order operator

  std::string message() const;
  /// The reverse; nothing for another message.
  static std::optional<UnknownOperator> parse(llvm::StringRef message);
};

/// Builds the module of an archive's program: one `func.func @forward` whose
/// arguments are the parameters, buffers, constants and inputs in the order of
/// the signature, and one operation for each node (dialects/ft/README.md says
/// what the attributes mean).
///
///   {"target": "torch.ops.aten.add.Tensor", "inputs": [x, 2], "name": "add"}
///   ==> %add = ft.add(%x, 2) {ft.name = "add", ft.declared = …} : …
///
/// Arguments have their annotated type; results of operations are
/// `tensor<*x!ft.unknown>`, and what the archive claims of them is
/// `ft.declared`. Arguments that a node leaves out take the default of the
/// schema in AtenOps.def. The elements of lifted constants that are tiny are
/// attributes of their arguments (ConstantAttr.h). Constants among the inputs
/// (None, numbers that were fixed by the export) take no part.
///
/// Errors: FT0203 one row for each unknown operator, with its count and first
/// place; FT0209 one row with all custom operators that are not registered;
/// FT0201 for a graph that contradicts itself or a schema; FT0202 where
/// signature and weights disagree; FT0206; FT0006 for sparse tensors, foreign
/// devices and objects of custom classes.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importProgram(Archive &archive, mlir::MLIRContext &context);

/// The same of a program that has been read, without `ft.constant`; `where` is
/// the archive's path.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importProgram(const Program &program, llvm::StringRef where,
              llvm::StringRef modelName, mlir::MLIRContext &context);

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_PT2IMPORT_H
