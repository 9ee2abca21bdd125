//===- FftRules.h - What Fourier transforms give ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_RULES_FFTRULES_H
#define FORETRACE_COMPILER_FAKE_RULES_FFTRULES_H

#include "compiler/fake/FakeCall.h"

namespace ft {

/// A complex signal along `dims`, to as large a complex one.
TensorMeta complexTransform(const TensorMeta &signal,
                            llvm::ArrayRef<int64_t> dims);
/// A real signal to a complex one, of which `onesided` keeps, along the last
/// of `dims` (at least one), n / 2 + 1 of n.
TensorMeta realTransform(const TensorMeta &signal, llvm::ArrayRef<int64_t> dims,
                         bool onesided);
/// The way back: a complex signal to a real one of `lastSize` along the last
/// of `dims`.
TensorMeta inverseRealTransform(const TensorMeta &signal,
                                llvm::ArrayRef<int64_t> dims, Dim lastSize);

/// The dtype in which a transform of `dtype` computes.
llvm::FailureOr<DType> transformDType(FakeCall &call, DType dtype,
                                      bool complex);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_FFTRULES_H
