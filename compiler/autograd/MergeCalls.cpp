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
/// The hash is worked out once.
struct CallKey {
  Operation *op;
  unsigned hash;
  bool hasNoGradient = false;

  static CallKey of(Operation *op, bool beforeGradients) {
    ArrayRef<Attribute> properties = callProperties(op);
    return {
        op,
        static_cast<unsigned>(llvm::hash_combine(
            op->getName(),
            llvm::hash_combine_range(properties.begin(), properties.end()),
            llvm::hash_combine_range(op->operand_begin(), op->operand_end()))),
        beforeGradients && op->hasAttr(names::kNoGrad)};
  }
};

struct SameCall {
  static CallKey getEmptyKey() {
    return {llvm::DenseMapInfo<Operation *>::getEmptyKey(), 0};
  }
  static CallKey getTombstoneKey() {
    return {llvm::DenseMapInfo<Operation *>::getTombstoneKey(), 0};
  }
  static unsigned getHashValue(const CallKey &key) { return key.hash; }
  static bool isEqual(const CallKey &x, const CallKey &y) {
    Operation *a = x.op, *b = y.op;
    if (a == b)
      return true;
    for (const CallKey &special : {getEmptyKey(), getTombstoneKey()})
      if (a == special.op || b == special.op)
        return false;
    return x.hash == y.hash && x.hasNoGradient == y.hasNoGradient &&
           a->getName() == b->getName() &&
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

void mergeCalls(Block &body, bool beforeGradients) {
  bool isRegion = isa<YieldOp>(body.getTerminator());
  llvm::DenseSet<CallKey, SameCall> seen;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        mergeCalls(inner, beforeGradients);
    if (!schemaOf(&op) || !isMemoryEffectFree(&op))
      continue;
    auto [known, isNew] = seen.insert(CallKey::of(&op, beforeGradients));
    if (isNew || (isRegion && isYielded(op)))
      continue;
    op.replaceAllUsesWith(known->op->getResults());
    op.erase();
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace ft
