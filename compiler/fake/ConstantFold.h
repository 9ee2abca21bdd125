//===- ConstantFold.h - Elements of tiny tensors ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_CONSTANTFOLD_H
#define FORETRACE_COMPILER_FAKE_CONSTANTFOLD_H

#include "compiler/fake/FakeCall.h"

namespace ft {

/// After a rule has succeeded: gives the result its elements where they follow
/// from numbers in the program, through the few ops that programs compute
/// shapes with. Everything else, and what is larger than
/// ConstantValue::kMostElements, stays without. Needs the call's scope.
///
///   full([2], 3) → {3, 3};  arange(3) → {0, 1, 2};  add({0, 1, 2}, 1) → {1, 2,
///   3};  select({1, 2, 3}, 0, 1) → {2};  item({2}) → the integer 2
///
/// Cost: one load for the ops that it does not know.
void foldConstants(FakeCall &call);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_CONSTANTFOLD_H
