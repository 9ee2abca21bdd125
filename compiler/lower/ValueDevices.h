//===- ValueDevices.h - Where values of a lowered graph live ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builtin tensors have no annotation. In a graph on two devices the operations
// that a call became carry its device (kDeviceAttr); what later passes put
// between them is where its operands are:
//
//   %0 = linalg.generic … {ft.device = #ft.device<cpu>}     on the CPU
//   %1 = tensor.expand_shape %0                             where %0 is
//   %2 = ft.kernel_call "_to_copy" "ft_k_device_copy"(%1)
//            {ft.device = #ft.device<cuda:0>}
//
// Invariant: every operation but a device_copy has its tensors on one device.

#ifndef FORETRACE_COMPILER_LOWER_VALUEDEVICES_H
#define FORETRACE_COMPILER_LOWER_VALUEDEVICES_H

#include "dialects/ft/DType.h"

#include "mlir/IR/Operation.h"

namespace ft {

/// The kernel (no function: the entry copies) of the ft.kernel_call that copies
/// between the devices: from the other one to that of its attribute.
inline constexpr llvm::StringLiteral kDeviceCopy = "device_copy";

struct ValueDevices {
  /// Where all values live, or the GPU beside the CPU.
  Device device = {};
  bool isMixed = false;

  Device of(mlir::Value value) const;
  Device of(mlir::Operation *op) const;
  bool isOnGpu(mlir::Value value) const {
    return of(value).kind == Device::Cuda;
  }
  bool isOnGpu(mlir::Operation *op) const {
    return of(op).kind == Device::Cuda;
  }
};

/// Whether an operation is a copy between the devices.
bool isDeviceCopy(mlir::Operation *op);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_VALUEDEVICES_H
