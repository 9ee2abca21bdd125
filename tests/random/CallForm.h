//===- CallForm.h - Random calls of a form that is a line ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of an operator as text, in the order of its schema:
//
//   {"gru_cell", "[b i] [b h] [3*h i] [3*h h] [3*h]|none [3*h]|none"}
//   {"nll_loss_nd", "[n c] int[n]0..c-1 [c]|none 0|1|2 -100"}
//
//   form    {term}
//   term    what{|what}                one of them at random
//   what    [size size] or z[…]        floats, z: all complex in some calls
//           int[…]low..high            whole numbers within bounds
//           sign[…] mask[…]            -1 or 1; true or false
//           [1 n]0.1..0.9              floats within bounds, else -2..2
//           (what what)                a list
//           size                       a number: "2*k+1", "-1"
//           0.5 'text' true false none
//           ?                          true or false
//           _                          the default
//   size    letters, whole numbers, + - *; a letter is a number that is drawn
//           when it is first met: 1 to 3, capitals 3 to 6
//
// Arguments behind the last term have their defaults, and none where they have
// no default.

#ifndef FORETRACE_TESTS_RANDOM_CALLFORM_H
#define FORETRACE_TESTS_RANDOM_CALLFORM_H

#include "tests/random/Sampler.h"

namespace ft::random {

/// Fills the arguments of a call; false where the text is no form, so that a
/// test finds that the operator is never drawn.
bool sampleForm(Sampler &sampler, llvm::StringRef form);

} // namespace ft::random

#endif // FORETRACE_TESTS_RANDOM_CALLFORM_H
