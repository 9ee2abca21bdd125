//===- Refusals.h - Operators that no kernel takes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that exist for one backend or one kind of storage are refused by
// name for all others, as the dispatcher of PyTorch does.

#ifndef FORETRACE_COMPILER_FAKE_RULES_REFUSALS_H
#define FORETRACE_COMPILER_FAKE_RULES_REFUSALS_H

#include "compiler/fake/FakeCall.h"

namespace ft {

/// An operator that has no kernel for the tensors of this dialect at all.
inline llvm::LogicalResult noKernel(FakeCall &c, const llvm::Twine &why) {
  return c.fail(FakeError::Unsupported,
                c.schema().name + " is not supported: " + why);
}

/// An operator that accelerators have a kernel for, but not the CPU.
inline llvm::LogicalResult needsAccelerator(FakeCall &c) {
  if (c.device.kind != Device::Cpu)
    return llvm::success();
  return noKernel(c, "it has no kernel for the CPU");
}

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_REFUSALS_H
