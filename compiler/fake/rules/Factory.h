//===- Factory.h - What rules that make tensors share ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_RULES_FACTORY_H
#define FORETRACE_COMPILER_FAKE_RULES_FACTORY_H

#include "compiler/fake/FakeCall.h"

namespace ft {

/// The arguments `dtype, layout, device, pin_memory[, memory_format]` that all
/// factories end with, starting at argument `first`.
struct FactoryOptions {
  std::optional<DType> dtype;
  std::optional<Device> device;
  llvm::StringRef format;
};
llvm::FailureOr<FactoryOptions> factoryOptions(FakeCall &call, unsigned first);

/// A fresh row-major tensor; fails for negative sizes.
llvm::LogicalResult makeTensor(FakeCall &call, llvm::ArrayRef<Dim> sizes,
                               DType dtype, const FactoryOptions &options);
/// A fresh tensor like argument 0, with what the options change.
llvm::LogicalResult makeLike(FakeCall &call, const FactoryOptions &options);

/// The dtype of a number: bool, int64, the default float or complex.
DType numberDType(const Arg &number);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_FACTORY_H
