//===- DeviceRules.cpp - On which device a call runs -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of a call are walked in order. The first one sets the device; a
// later one must agree, except that a 0-dim CPU tensor is a number in disguise:
// it follows the others, and if it came first, the others overrule it. (Facts
// of PyTorch's fake tensors.)
//
//   cuda:0 [3], cpu []   → cuda:0        cpu [], cuda:0 [3] → cuda:0
//   cuda:0 [],  cpu [3]  → error         cpu [1], cuda:0 [3] → error

#include "compiler/fake/FakeCall.h"

using namespace llvm;

namespace ft {

namespace {
struct Walk {
  const TensorMeta *common = nullptr;
  bool isCpuScalar = false;
};
} // namespace

static bool cpuScalar(const TensorMeta &t) {
  return t.sizes.empty() && t.device.kind == Device::Cpu;
}

/// False if `next` is on another device than what came before.
static bool step(Walk &walk, const TensorMeta &next, DevicePolicy policy) {
  bool scalar = policy != DevicePolicy::Strict && cpuScalar(next);
  if (!walk.common) {
    walk = {&next, scalar};
    return true;
  }
  if (policy == DevicePolicy::First)
    return true;
  if (walk.common->device == next.device) {
    walk.isCpuScalar &= scalar;
    return true;
  }
  if (scalar)
    return true;
  if (walk.isCpuScalar) {
    walk = {&next, false};
    return true;
  }
  return false;
}

LogicalResult devicesDiffer(FakeCall &call, const TensorMeta &first,
                            const TensorMeta &second) {
  return call.fail(FakeError::Device,
                   "the tensors must be on the same device, not on " +
                       first.device.str() + " and " + second.device.str() +
                       ", as " + call.nameOf(&first) + " and " +
                       call.nameOf(&second) + " are");
}

static LogicalResult visit(FakeCall &call, Walk &walk, const Arg &arg,
                           DevicePolicy policy) {
  if (arg.kind == Arg::Tensor) {
    const TensorMeta &next = call.tensorOperands()[arg.operand];
    if (!step(walk, next, policy))
      return devicesDiffer(call, *walk.common, next);
  } else if (arg.kind == Arg::List) {
    for (const Arg &item : arg.list)
      if (failed(visit(call, walk, item, policy)))
        return failure();
  }
  return success();
}

LogicalResult resolveDevice(FakeCall &call, DevicePolicy policy) {
  Walk walk;
  for (const Arg &arg : call.arguments())
    if (failed(visit(call, walk, arg, policy)))
      return failure();
  if (walk.common)
    call.device = walk.common->device;
  return success();
}

} // namespace ft
