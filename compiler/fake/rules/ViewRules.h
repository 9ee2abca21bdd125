//===- ViewRules.h - What rules of views share -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_RULES_VIEWRULES_H
#define FORETRACE_COMPILER_FAKE_RULES_VIEWRULES_H

#include "compiler/fake/FakeCall.h"
#include "compiler/fake/rules/Families.h"

namespace ft {

/// `sizes` with a -1 replaced so that the product is `count`.
llvm::FailureOr<Dims> inferSizes(FakeCall &call, Dims sizes, Dim count);

/// Argument 0 seen as `sizes`, which must have as many elements.
llvm::LogicalResult viewAs(FakeCall &call, const TensorMeta &self,
                           llvm::ArrayRef<Dim> sizes);
/// The same, copied where it can't be seen so.
llvm::LogicalResult reshapeAs(FakeCall &call, const TensorMeta &self,
                              llvm::ArrayRef<Dim> sizes);
llvm::LogicalResult unsqueezeAt(FakeCall &call, unsigned dimArg);

/// `start` or `end` of a slice, negative ones counted from the end, clamped to
/// the dim.
Dim clampIndex(FakeCall &call, Dim index, Dim size);
/// The same for an end: x[:16] serves rows of any number, as x[:min(16, n)].
Dim clampEnd(FakeCall &call, Dim index, Dim size);
/// The elements from `start` to `end`, both clamped to `size`, by `step`.
Dim lengthBetween(FakeCall &call, Dim start, Dim end, Dim size, Dim step);
/// The position that `index` means in dim `dim` of `size`; fails if it is out
/// of range, which the run checks of one that data decide.
llvm::FailureOr<Dim> checkedIndex(FakeCall &call, Dim index, Dim size,
                                  int64_t dim);

/// The part [start, start + length · step) of a dim.
TensorMeta sliced(const TensorMeta &self, int64_t dim, Dim start, Dim length,
                  Dim step = 1);
/// One index of a dim, which is dropped.
TensorMeta selected(const TensorMeta &self, int64_t dim, Dim index);

/// diagonal(self, offset, dim1, dim2).
llvm::FailureOr<TensorMeta> diagonalOf(FakeCall &call, const TensorMeta &self,
                                       Dim offset, Dim dim1, Dim dim2);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_VIEWRULES_H
