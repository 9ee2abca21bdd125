//===- ValueDevices.cpp - Where values of a lowered graph live ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/ValueDevices.h"

#include "compiler/lower/Lower.h"
#include "compiler/lower/LowerState.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

static Device ofArgument(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function)
    return {};
  auto type = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(),
                                                  names::kMeta);
  std::optional<TensorMeta> meta =
      type ? metaFromType(type.getValue()) : std::nullopt;
  return meta ? meta->device : Device();
}

Device ValueDevices::of(Value value) const {
  if (!isMixed)
    return device;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  return of(value.getDefiningOp());
}

Device ValueDevices::of(Operation *op) const {
  if (!isMixed)
    return device;
  for (;;) {
    if (auto named = op->getAttrOfType<DeviceAttr>(kDeviceAttr))
      return named.getDevice();
    Value tensor;
    for (Value v : op->getOperands())
      if (!tensor && isa<TensorType>(v.getType()))
        tensor = v;
    if (!tensor)
      return {};
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      return ofArgument(argument);
    op = tensor.getDefiningOp();
  }
}

bool isDeviceCopy(Operation *op) {
  auto call = dyn_cast<KernelCallOp>(op);
  StringRef symbol = call ? call.getSymbol() : StringRef();
  return symbol.consume_front("ft_k_") && symbol == kDeviceCopy;
}

} // namespace ft
