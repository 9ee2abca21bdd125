//===- MergeCalls.cpp - One call for those that are the same ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/MergeCalls.h"

#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtControl.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ft {

namespace {
/// Calls with one name, equal properties, operands and result types are equal.
struct SameCall {
  static Operation *getEmptyKey() {
    return llvm::DenseMapInfo<Operation *>::getEmptyKey();
  }
  static Operation *getTombstoneKey() {
    return llvm::DenseMapInfo<Operation *>::getTombstoneKey();
  }
  static unsigned getHashValue(Operation *op) {
    ArrayRef<Attribute> properties = callProperties(op);
    return static_cast<unsigned>(llvm::hash_combine(
        op->getName(),
        llvm::hash_combine_range(properties.begin(), properties.end()),
        llvm::hash_combine_range(op->operand_begin(), op->operand_end())));
  }
  static bool isEqual(Operation *a, Operation *b) {
    if (a == b)
      return true;
    for (Operation *special : {getEmptyKey(), getTombstoneKey()})
      if (a == special || b == special)
        return false;
    return a->getName() == b->getName() &&
           callProperties(a) == callProperties(b) &&
           llvm::equal(a->getOperands(), b->getOperands()) &&
           llvm::equal(a->getResultTypes(), b->getResultTypes());
  }
};
} // namespace

/// Each value that a region yields has a storage of its own.
static bool isYielded(Operation &op) {
  return llvm::any_of(op.getUsers(),
                      [](Operation *user) { return isa<YieldOp>(user); });
}

void mergeCalls(Block &body) {
  bool isRegion = isa<YieldOp>(body.getTerminator());
  // Its hashes are not kept: growing would work them out again.
  llvm::DenseSet<Operation *, SameCall> seen;
  seen.reserve(static_cast<unsigned>(body.getOperations().size()));
  for (Operation &op : llvm::make_early_inc_range(body)) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        mergeCalls(inner);
    if (!schemaOf(&op) || !isMemoryEffectFree(&op))
      continue;
    auto [known, isNew] = seen.insert(&op);
    if (isNew || (isRegion && isYielded(op)))
      continue;
    op.replaceAllUsesWith((*known)->getResults());
    op.erase();
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace ft
