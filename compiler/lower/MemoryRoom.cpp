//===- MemoryRoom.cpp - What a tensor may reach of its memory --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/MemoryRoom.h"

#include "compiler/lower/KernelGroups.h"
#include "dialects/ft/TensorMeta.h"

using namespace mlir;

namespace ft {

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

Value MemoryRoom::rootOf(Value v) {
  Operation *op = v.getDefiningOp();
  while (op && roleOf(op) == OpRole::View) {
    v = op->getOperand(0);
    op = v.getDefiningOp();
  }
  return v;
}

Dim MemoryRoom::elementsOf(Value tensor) {
  return product(*schedule.sizes.of(tensor));
}

Dim MemoryRoom::reachOf(Value tensor) {
  return extentOf(*schedule.sizes.of(tensor),
                  schedule.placements.lookup(tensor).strides) *
         Dim(elementBytes(typeOf(tensor)));
}

Dim MemoryRoom::roomOf(Value tensor) {
  Placement place = schedule.placements.lookup(tensor);
  auto annotated = [&](const PlannedValue &value) {
    TensorMeta meta = metaFromType(value.type).value_or(TensorMeta());
    return extentOf(meta.sizes, meta.strides) *
           Dim(elementBytes(typeOf(tensor)));
  };
  switch (place.region) {
  case Region::Arena:
    return schedule.memory.bytes(place.index) - place.byteOffset;
  case Region::Input:
    return annotated(schedule.plan.inputs[place.index]) - place.byteOffset;
  case Region::Output:
    return annotated(schedule.plan.outputs[place.index]) - place.byteOffset;
  case Region::Late: {
    const LateBuffer &late = schedule.late[place.index];
    Dim bytes = late.output < 0 ? late.bytes
                                : extentOf(late.sizes, late.strides) *
                                      Dim(elementBytes(typeOf(tensor)));
    return bytes - place.byteOffset;
  }
  case Region::Weights:
  case Region::State:
  case Region::Found: {
    // The place of a write-back is that of the buffer it writes.
    Value root = rootOf(tensor);
    Dim start = schedule.placements.lookup(root).byteOffset;
    return start + reachOf(root) - place.byteOffset;
  }
  }
  return 0;
}

std::vector<std::pair<int64_t, int64_t>> MemoryRoom::gapsOf(Region region) {
  std::vector<std::pair<int64_t, int64_t>> gaps;
  for (const auto &[value, place] : schedule.placements) {
    if (!isa<BlockArgument>(value) || place.region != region)
      continue;
    int64_t bytes = tensorBytes(typeOf(value));
    if (int64_t gap = MemoryPlan::aligned(bytes) - bytes)
      gaps.emplace_back(place.byteOffset.value() + bytes, gap);
  }
  llvm::sort(gaps);
  return gaps;
}

} // namespace ft
