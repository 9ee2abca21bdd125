//===- PartitionReport.h - What forward saves for backward -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_PARTITIONREPORT_H
#define FORETRACE_COMPILER_DRIVER_PARTITIONREPORT_H

#include "compiler/driver/Session.h"
#include "compiler/lower/Lower.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/JSON.h"

#include <optional>
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
  /// A product, convolution or attention.
  bool isProduct = false;
  /// Not the first time: its result went in between, for memory was short.
  bool isRepeated = false;
};

struct PartitionTable {
  std::vector<SavedRow> saved;
  /// Of activations: rows that are no inputs.
  int64_t savedBytes = 0;
  std::string savedBytesExpr;
  std::vector<RecomputedRow> recomputed;
  int64_t recomputedFlops = 0;
};

/// Of a module after stage partition. `plan`: of the memory of that module,
/// with what is repeated for it; may be null.
PartitionTable partitionTable(mlir::ModuleOp module,
                              const ArenaPlan *plan = nullptr);
/// {"saved": [{"name", "shape", "dtype", "bytes", "kind", "reason", "flops"}],
/// "saved_bytes", "recomputed": [{"name", "op", "flops", "bytes"}],
/// "recomputed_flops"}, with "bytes_expr" and "saved_bytes_expr" where
/// symbolic, and "repeated" where it is not the first time.
llvm::json::Object partitionJson(mlir::ModuleOp module, const ArenaPlan *plan);
std::string partitionText(mlir::ModuleOp module, const ArenaPlan *plan);
/// The cut: what forward keeps, the calls of backward that read it, and what
/// is computed again.
std::string partitionDot(mlir::ModuleOp module);

/// What lowering the module of a session would plan; nothing if it cannot be
/// lowered.
std::optional<ArenaPlan> planOf(const Session &session);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_PARTITIONREPORT_H
