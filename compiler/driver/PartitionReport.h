//===- PartitionReport.h - What forward saves for backward -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_PARTITIONREPORT_H
#define FORETRACE_COMPILER_DRIVER_PARTITIONREPORT_H

#include "dialects/ft/TensorMeta.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace ft {

/// A value that forward returns for backward.
struct SavedRow {
  std::string name;
  TensorMeta meta;
  /// An argument of the model, as it was before forward wrote it.
  bool isInput = false;
  /// With symbols at their hints, and the expression if there are any.
  int64_t bytes = 0;
  std::string bytesExpr;

  const char *reason() const {
    return isInput ? "forward writes it and backward reads it as it was"
                   : "backward reads it";
  }
};

struct PartitionTable {
  std::vector<SavedRow> saved;
  /// Of activations: rows that are no inputs.
  int64_t savedBytes = 0;
  std::string savedBytesExpr;
};

/// Of a module after stage partition.
PartitionTable partitionTable(mlir::ModuleOp module);
/// {"saved": [{"name", "shape", "dtype", "bytes", "kind", "reason"}],
/// "saved_bytes", "recomputed": []}
llvm::json::Object partitionJson(mlir::ModuleOp module);
std::string partitionText(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_PARTITIONREPORT_H
