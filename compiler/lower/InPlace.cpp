//===- InPlace.cpp - Kernels that write where they read --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/InPlace.h"

#include "compiler/lower/KernelGroups.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace ft {

/// Another way to see one of `values`.
static bool isViewOf(const DenseSet<Value> &values, Value v) {
  Operation *op = v.getDefiningOp();
  while (op && roleOf(op) == OpRole::View) {
    if (values.contains(op->getOperand(0)))
      return true;
    op = op->getOperand(0).getDefiningOp();
  }
  return false;
}

namespace {
/// How an operation, its body included, reads some values.
struct Reads {
  bool direct = false, throughViews = false;

  Reads(Operation *op, const DenseSet<Value> &values) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        direct |= values.contains(operand);
        throughViews |= isViewOf(values, operand);
      }
    });
  }
};
} // namespace

bool isReadAsWritten(ArrayRef<Operation *> kernel, Value v, Value out) {
  DenseSet<Value> alike{v};
  for (Operation *op : kernel) {
    Reads reads(op, alike);
    // A view may show any element.
    if (reads.throughViews)
      return false;
    if (!reads.direct)
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() != 0 ||
        generic.getNumDpsInits() != 1 ||
        !generic.getIndexingMapMatchingResult(generic->getResult(0))
             .isIdentity())
      return false;
    // Not from inside the body, and not as the initial value.
    for (Operation &inner : *generic.getBody())
      for (Value operand : inner.getOperands())
        if (alike.contains(operand))
          return false;
    for (OpOperand &operand : op->getOpOperands())
      if (alike.contains(operand.get()) &&
          (!generic.isDpsInput(&operand) ||
           !generic.getMatchingIndexingMap(&operand).isIdentity()))
        return false;
    alike.insert(generic->getResult(0));
  }
  return alike.contains(out);
}

bool areReadAsWritten(ArrayRef<Operation *> kernel, Value v, Value out) {
  for (Operation *op : kernel)
    if (roleOf(op) != OpRole::Pointwise ||
        llvm::any_of(op->getResultTypes(), [&](Type type) {
          return cast<RankedTensorType>(type).getShape() !=
                 cast<RankedTensorType>(v.getType()).getShape();
        }))
      return false;
  return isReadAsWritten(kernel, v, out) ||
         llvm::none_of(kernel, [&](Operation *op) {
           Reads reads(op, {v});
           return reads.direct || reads.throughViews;
         });
}

} // namespace ft
