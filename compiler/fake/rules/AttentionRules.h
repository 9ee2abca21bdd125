//===- AttentionRules.h - What rules of attention share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_RULES_ATTENTIONRULES_H
#define FORETRACE_COMPILER_FAKE_RULES_ATTENTIONRULES_H

#include "compiler/fake/FakeCall.h"

namespace ft {

/// The size of attention's result for query, key and value in arguments 0 to 2
/// and an optional mask; `grouped`: several query heads share one of the key.
///   [2, 4, 8, 16], [2, 4, 6, 16], [2, 4, 6, 12] → [2, 4, 8, 12]
llvm::FailureOr<Dims> attentionSizes(FakeCall &call, unsigned maskArg,
                                     bool grouped);

/// Results of kernels on 8-bit floats are bfloat16.
DType attentionDType(DType query);

/// The last dim of the debug mask, which is that of the kernel's blocks.
Dim debugMaskWidth(FakeCall &call, Dim queries, Dim keys, Dim headSize);

/// A result as the query (argument 0), but for the last size: dense in the
/// order of its dims.
llvm::LogicalResult likeQuery(FakeCall &call, Dim headSize);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_ATTENTIONRULES_H
