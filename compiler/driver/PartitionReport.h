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

  /// Of computing it once more, floating point operations.
  int64_t flops = 0;
  std::string reason;
};

/// A call that both forward and backward do; not views.
struct RecomputedRow {
  std::string name, op;
  int64_t flops = 0;
  /// Of its results.
  int64_t bytes = 0;
};

struct PartitionTable {
  std::vector<SavedRow> saved;
  /// Of activations: rows that are no inputs.
  int64_t savedBytes = 0;
  std::string savedBytesExpr;
  std::vector<RecomputedRow> recomputed;
  int64_t recomputedFlops = 0;
};

/// Of a module after stage partition.
PartitionTable partitionTable(mlir::ModuleOp module);
/// {"saved": [{"name", "shape", "dtype", "bytes", "kind", "reason", "flops"}],
/// "saved_bytes", "recomputed": [{"name", "op", "flops", "bytes"}],
/// "recomputed_flops"}, with "bytes_expr" and "saved_bytes_expr" where symbolic
llvm::json::Object partitionJson(mlir::ModuleOp module);
std::string partitionText(mlir::ModuleOp module);
/// The cut: what forward keeps, the calls of backward that read it, and what
/// is computed again.
std::string partitionDot(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_PARTITIONREPORT_H
