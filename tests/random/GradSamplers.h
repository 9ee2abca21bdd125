//===- GradSamplers.h - Calls that only derivatives are checked of -*- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_RANDOM_GRADSAMPLERS_H
#define FORETRACE_TESTS_RANDOM_GRADSAMPLERS_H

#include "tests/random/Sampler.h"

namespace ft::random {

/// Arguments of operators whose values are not compared with the interpreter:
/// linear algebra, whose factors are a choice, and what it does not know.
struct GradSampler {
  /// Names as in SamplerRow.
  llvm::StringRef names;
  SampleFunction sample = nullptr;
  /// Makes numbers that are drawn into arguments that the operator is smooth
  /// at: positive definite, triangular; null if it is at any.
  void (*settle)(Program &, const Sampler &) = nullptr;
  /// In place of `sample`.
  llvm::StringRef form = "";
};

/// Operators whose arguments are a line, see CallForm.h.
llvm::ArrayRef<GradSampler> gradForms();

/// Null if the operator has none here.
const GradSampler *gradSamplerOf(const Schema &schema);

} // namespace ft::random

#endif // FORETRACE_TESTS_RANDOM_GRADSAMPLERS_H
