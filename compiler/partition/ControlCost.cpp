//===- ControlCost.cpp - What a branch or a loop costs ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/ControlCost.h"

#include "compiler/partition/SizeHints.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ft {

static void forbid(ControlCost &total, const char *reason) {
  total.cost.recompute = RecomputeClass::Never;
  total.reason = total.reason ? total.reason : reason;
}

static void addCall(ControlCost &total, mlir::Operation *op) {
  const Schema *schema = schemaOf(op);
  if (schema && schema->family == "random")
    return forbid(total, "it draws random numbers");
  if (!mlir::isMemoryEffectFree(op))
    return forbid(total, "it has effects");
  ControlCost inner;
  if (isControl(op)) {
    inner = *controlCostOf(op);
  } else if (schema) {
    std::optional<OpCost> cost = costOf(op);
    if (!cost || cost->recompute == RecomputeClass::Never)
      return forbid(total, "it need not give the same again");
    inner.cost = *cost;
    inner.calls = cost->recompute == RecomputeClass::View ? 0 : 1;
  } else {
    // Arithmetic on sizes, what a region yields.
    return;
  }
  if (inner.reason)
    return forbid(total, inner.reason);
  total.cost.recompute = std::max(total.cost.recompute, inner.cost.recompute);
  total.cost.flops = total.cost.flops + inner.cost.flops;
  total.calls = total.calls + inner.calls;
}

/// Of all tensors among the values.
static Dim bytesOf(mlir::ValueRange values) {
  Dim bytes = 0;
  for (mlir::Value value : values)
    if (std::optional<TensorMeta> meta = metaOf(value))
      bytes = bytes + denseBytes(*meta);
  return bytes;
}

std::optional<ControlCost> controlCostOf(mlir::Operation *op) {
  if (!isControl(op))
    return std::nullopt;
  ControlCost total;
  total.cost.recompute = RecomputeClass::Pointwise;
  if (mlir::isa<WhileOp>(op)) {
    forbid(total, "how often the loop runs is not known");
    return total;
  }
  for (mlir::Region &region : op->getRegions())
    for (mlir::Operation &inner : region.front().without_terminator())
      addCall(total, &inner);
  total.cost.bytesRead = bytesOf(op->getOperands());
  total.cost.bytesWritten = bytesOf(op->getResults());
  if (auto scan = mlir::dyn_cast<ScanOp>(op)) {
    std::optional<TensorMeta> x =
        scan.getXs().empty() ? std::nullopt : metaOf(scan.getXs().front());
    if (!x || x->sizes.empty()) {
      forbid(total, "how often the loop runs is not known");
      return total;
    }
    int64_t rank = static_cast<int64_t>(x->sizes.size()), dim = scan.getDim();
    Dim trips = x->sizes[static_cast<size_t>(dim < 0 ? dim + rank : dim)];
    total.cost.flops = total.cost.flops * trips;
    total.calls = total.calls * trips;
  }
  return total;
}

} // namespace ft
