//===- Judge.h - Whether a computed tensor is right ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_RANDOM_JUDGE_H
#define FORETRACE_TESTS_RANDOM_JUDGE_H

#include "tests/random/Program.h"

#include <optional>
#include <string>

namespace ft::random {

/// Compares the outputs of one program with the interpreter's.
///
/// What only exact ops made is equal to the last bit (NaN at the same places).
/// Otherwise an element may differ by the tolerance of its dtype (the one of
/// ft-conformance), and by as much as it moves when the interpreter runs again
/// with every inexact result off by a few units in the last place: that is what
/// the program does to roundings. Elements that then change their kind (an
/// integer, a NaN) are undecided, and counted.
class Judge {
public:
  explicit Judge(const Program &program);

  /// Nothing if output `k` of the program is right, else what differs.
  std::optional<std::string> check(size_t k,
                                   const conformance::HostTensor &got);
  /// Nothing if the factors among `outputs`, one for each of the program, are
  /// factors of the operands of their steps.
  std::optional<std::string>
  checkFactors(llvm::ArrayRef<conformance::HostTensor> outputs);
  int64_t elements = 0, undecided = 0;
  /// Of what only exact ops made, zeros have the same sign too.
  bool signedZeros = false;

private:
  const Program &program;
  /// Of each value: the least exact op that it depends on.
  std::vector<interpreter::OpClass> exactness;
  std::vector<std::vector<Tensor>> shaken;
};

/// Whether factors that the op leaves to the algorithm can be checked.
bool hasFactorCheck(const Schema &schema);

/// An element as text, to the last bit.
std::string elementText(const Tensor &tensor, int64_t i);

} // namespace ft::random

#endif // FORETRACE_TESTS_RANDOM_JUDGE_H
