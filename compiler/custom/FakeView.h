//===- FakeView.h - Fake rules of custom operators -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What foretrace/plugin.h promises of fake rules, on a FakeCall.
//
// A rule gives the results that the schema does not give itself: those that are
// no written argument. `finishResults` puts both together:
//
//   demo::split_(Tensor(a!) x) -> (Tensor(a!), Tensor)
//   the rule gives [float32 [2]]; the results are x itself, float32 [2]

#ifndef FORETRACE_COMPILER_CUSTOM_FAKEVIEW_H
#define FORETRACE_COMPILER_CUSTOM_FAKEVIEW_H

#include "foretrace/plugin.h"

#include "compiler/fake/FakeCall.h"

#include <functional>

namespace ft {

struct CustomOp;

using CustomRule = std::function<llvm::LogicalResult(FakeCall &)>;

/// A rule in C. `user` is handed on.
CustomRule callbackRule(ft_fake_fn rule, void *user);
/// Every result is `empty_like` argument `index`, which must be a tensor.
CustomRule likeRule(unsigned index);
/// Every result is what an elementwise operator on all tensors gives.
CustomRule broadcastRule();
/// For operators that return nothing but written arguments.
CustomRule writtenRule();
/// Of a functional form: the new values of the written arguments, laid out as
/// clones, and what `original`'s rule gives besides.
CustomRule functionalRule(const CustomOp &original);

/// The number of results that a rule has to give.
unsigned givenResults(const Schema &schema);

/// Sets the call's results from those that a rule gave. Fails if they are too
/// few or too many.
llvm::LogicalResult finishResults(FakeCall &call,
                                  llvm::ArrayRef<TensorMeta> given);

} // namespace ft

#endif // FORETRACE_COMPILER_CUSTOM_FAKEVIEW_H
