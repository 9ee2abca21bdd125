//===- CallTable.h - Calls and their answers, one a line -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The notation of tables/*.txt:
//
//   view(f32[4,3]/[1,4], [2,2,3])        -> f32[2,2,3]/[2,1,4] =0
//   max.dim(f32[2,3], 1)                 -> f32[2]; i64[2]
//   add(f16[3]@cuda, f64[])              -> f16[3]@cuda:0
//   mm(f32[3,4], f32[5,4])               -> error shape
//   nonzero(f32[3,4])                    -> i64[u0,2]/[1,u0]
//
// A tensor is its dtype, [sizes], /[strides] if they are not row-major, +offset
// and @device; `=k` after a result means that it shares the storage of the k-th
// tensor argument. Other arguments are numbers, True, False, None, 'strings',
// [lists] and dtypes as `dtype.f32`; name=value gives one by name. An overload
// that is left out is the first of default, Tensor, self, int, dim that there
// is. An error's category stands behind it, "any" for whichever; texts in
// quotes behind the category must all stand in the message. A `?` in place of a
// size or stride is any: PyTorch's kernels give other strides than its shape
// functions to dims of one element. Lines that start with # are comments.
//
// Calls one after the other, the last of which is answered:
//
//   x = f32[2,3]; t_(x); relu(x)         -> f32[3,2]/[1,3]
//   x = f32[4]; u = item(i64[]); narrow(x, 0, 0, u)
//
// A name stands for a tensor, or for the first result of a call; what is
// written to it in place, metadata too, is seen by the calls behind.

#ifndef FORETRACE_TESTS_UNIT_FAKE_CALLTABLE_H
#define FORETRACE_TESTS_UNIT_FAKE_CALLTABLE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ft {

/// What the last call of `text` gives, in the notation of the tables. Calls may
/// make symbols for sizes that data decide if `dataDependent`. A text that
/// cannot be read gives "malformed: …". Of a refused call `message` is all that
/// a user reads.
std::string answerOf(llvm::StringRef text, bool dataDependent,
                     std::string *message = nullptr);

/// Whether an answer is what a table wants: the same, up to `?` and the parts
/// of the message.
bool fits(llvm::StringRef answer, llvm::StringRef message,
          llvm::StringRef wanted);

} // namespace ft

#endif // FORETRACE_TESTS_UNIT_FAKE_CALLTABLE_H
