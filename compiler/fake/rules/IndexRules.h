//===- IndexRules.h - What rules of reads and writes share -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_RULES_INDEXRULES_H
#define FORETRACE_COMPILER_FAKE_RULES_INDEXRULES_H

#include "compiler/fake/FakeCall.h"

namespace ft {

/// A rule for ops whose result's size is known only from the data.
llvm::LogicalResult dataDependentSize(FakeCall &call);

/// How many elements of a mask are true: a symbol.
llvm::FailureOr<Dim> maskCount(FakeCall &call, const TensorMeta &mask);

/// Fails unless `index` is int64 or int32.
llvm::LogicalResult indexDType(FakeCall &call, const TensorMeta &index,
                               FakeError category = FakeError::Dtype);

/// `self[indices]`; null entries are whole dims. A mask of n dims stands for
/// n indices, the coordinates of its true elements.
llvm::FailureOr<TensorMeta>
indexedMeta(FakeCall &call, const TensorMeta &self,
            llvm::ArrayRef<const TensorMeta *> indices);

/// The index of a gather must not reach over `self` except along `dim`.
llvm::LogicalResult checkGather(FakeCall &call, const TensorMeta &self,
                                int64_t dim, const TensorMeta &index);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_INDEXRULES_H
