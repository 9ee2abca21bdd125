//===- DeviceSchedule.cpp - What a GPU cannot be given yet ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/DeviceSchedule.h"

#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

LogicalResult checkDeviceSchedule(const Schedule &schedule, Location loc) {
  struct Missing {
    std::string what;
    Location where;
    unsigned count;
  };
  std::vector<Missing> missing;
  auto miss = [&](StringRef what, Location where) {
    auto known = llvm::find_if(
        missing, [&](const Missing &m) { return m.what == what; });
    if (known == missing.end())
      missing.push_back({what.str(), where, 1});
    else
      ++known->count;
  };
  for (const ScheduledKernel &kernel : schedule.kernels)
    for (Operation *op : kernel.ops) {
      if (isDeviceCopy(op) || !schedule.devices.isOnGpu(op))
        continue;
      if (auto call = dyn_cast<KernelCallOp>(op))
        miss(call.getCallee(), op->getLoc());
      else if (isa<RunGraphsOp>(op))
        miss("branches and loops", op->getLoc());
    }
  for (const auto &[value, place] : schedule.placements) {
    if (!schedule.devices.isOnGpu(value))
      continue;
    if (place.region == Region::Late || place.region == Region::Found)
      miss("tensors whose sizes the data decide", loc);
    if (place.region == Region::State)
      miss("buffers that the model writes", loc);
  }
  for (const Missing &m : missing)
    emitError(m.where, "[FT0501] no CUDA code for ")
        << m.what << " (" << m.count << (m.count == 1 ? " place)" : " places)");
  return success(missing.empty());
}

} // namespace ft
