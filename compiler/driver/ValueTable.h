//===- ValueTable.h - The values of a program, for reports -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_VALUETABLE_H
#define FORETRACE_COMPILER_DRIVER_VALUETABLE_H

#include "dialects/ft/FtDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>
#include <vector>

namespace ft {

/// One value of a program.
struct ValueRow {
  mlir::Value value;
  /// The graph that it is in, by the archive's name, with those around it:
  /// "true_graph_0", "true_graph_0.false_graph_1"; empty for the program's own.
  std::string graph;
  /// The archive's name, or v0, v1, … for values without one.
  std::string name;
  /// "aten.linear.default"; the kind ("parameter") for arguments; the
  /// operation's name for those that are no ATen call.
  std::string op;
  /// The name in the model, for arguments ("layer.0.weight").
  std::string target;
  /// What the fake pass found, or what the archive declares before it ran.
  std::optional<TensorMeta> meta;
  bool declaredOnly = false;
  /// Numbered in order of appearance; -1 for values that are no tensors, and
  /// before the fake pass.
  int storage = -1;
  bool requiresGrad = false;
};

/// The values of a module, in program order. Which of them share storage is
/// known once the module is annotated (compiler/fake/AliasSets.h).
class ValueTable {
public:
  ValueTable(mlir::ModuleOp module, bool annotated);

  std::vector<ValueRow> rows;
  /// Position in `rows`; -1 for values that are not in it.
  int indexOf(mlir::Value value) const {
    auto it = index.find(value);
    return it == index.end() ? -1 : static_cast<int>(it->second);
  }

private:
  void addBlock(mlir::Block &block, mlir::Operation *owner,
                const std::string &graph);
  void addArguments(mlir::Block &block, mlir::Operation *owner);
  void addResults(mlir::Operation *op);
  ValueRow &add(mlir::Value value, std::string name);

  llvm::DenseMap<mlir::Value, unsigned> index;
  /// Of the rows that are added.
  std::string graph;
};

/// What an attribute says of result `position`: it holds one thing, or an array
/// of things, one for each result.
mlir::Attribute elementOf(mlir::Attribute attribute, unsigned position);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_VALUETABLE_H
