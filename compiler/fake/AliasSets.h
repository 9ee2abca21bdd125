//===- AliasSets.h - Which values share storage ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_ALIASSETS_H
#define FORETRACE_COMPILER_FAKE_ALIASSETS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace ft {

class FakeScope;

/// The storage of each tensor value of an annotated function. Two values with
/// one id may overlap in memory: views of one base, the result of an in-place
/// op and its argument, arguments that come from one record of the archive.
/// Ids count from 0 in order of first appearance. Values in regions count: an
/// argument that shows an operand has the operand's storage.
///
///   %a           0
///   %b = t(%a)   0, %b views %a
///   %c = add(%b) 1
class AliasSets {
public:
  explicit AliasSets(mlir::func::FuncOp function);
  /// The values of a region alone, its arguments each with a storage of its
  /// own; what stands in regions inside is left out.
  explicit AliasSets(mlir::Region &region);

  /// The storage of a tensor value; -1 for anything else.
  int storage(mlir::Value value) const;
  /// The values with this storage, in program order.
  llvm::ArrayRef<mlir::Value> members(int storage) const {
    return sets[storage];
  }
  int numStorages() const { return static_cast<int>(sets.size()); }
  bool alias(mlir::Value a, mlir::Value b) const {
    return storage(a) >= 0 && storage(a) == storage(b);
  }
  /// The operand that a result is a view of (or is the same tensor as); null
  /// for values with storage of their own.
  mlir::Value viewedFrom(mlir::Value value) const {
    return bases.lookup(value);
  }

private:
  void visit(mlir::Block &block, bool inner);
  void visitCall(mlir::Operation *op);
  void add(mlir::Value value, int storage);
  int fresh();
  /// While the sets are built. What `t_` and the like have made of a value.
  FakeScope *scope = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Type> changed;
  llvm::DenseMap<mlir::Value, int> ids;
  llvm::DenseMap<mlir::Value, mlir::Value> bases;
  std::vector<std::vector<mlir::Value>> sets;
};

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_ALIASSETS_H
