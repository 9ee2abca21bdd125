//===- Importer.h - File → ft module ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_IMPORTER_H
#define FORETRACE_COMPILER_IMPORT_IMPORTER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace ft {

/// What a file is, told by its content, never by its name.
enum class ModelKind { Zip, MlirText, Onnx, Bytecode, Unknown };
ModelKind detectModelKind(llvm::ArrayRef<uint8_t> bytes);

/// Reads a model: a .pt2 archive or .mlir text. The file is mapped, weights are
/// not read. A kind that is not read yet is FT0006 (exit code 3), anything else
/// FT0101.
///
/// The context must have the dialects that the module may use: FtDialect,
/// func and arith. Text is parsed recursively to a depth that guardMlirText
/// bounds; call this where the stack has some MiB, as Session does. Errors
/// that MLIR's parser reports go to the context's diagnostic handler, in which
/// case the returned error has no rows.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(llvm::StringRef path, mlir::MLIRContext &context);

/// The records that `ft.weight` attributes name, read in place and checked
/// against their checksums.
class WeightSource {
public:
  virtual ~WeightSource() = default;
  /// The file that `ft.archive` of the module names.
  static llvm::Expected<std::unique_ptr<WeightSource>>
  open(llvm::StringRef path);
  /// The first `bytes` bytes of a storage; valid as long as this object.
  /// FT0202 if it is shorter or there is none, FT0103 if it is damaged.
  virtual llvm::Expected<llvm::ArrayRef<uint8_t>> record(llvm::StringRef name,
                                                         uint64_t bytes) = 0;
};

} // namespace ft

#endif // FORETRACE_COMPILER_IMPORT_IMPORTER_H
