//===- Lines.h - The lines of a tensor along one dim -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_INTERPRETER_LINES_H
#define FORETRACE_TESTS_INTERPRETER_LINES_H

#include "tests/interpreter/Tensor.h"

namespace ft::interpreter {

/// Element `k` of line `l` along `dim` stands at `at(l, k)`. A scalar is one
/// line of one element.
struct Lines {
  int64_t count = 1, length = 1, inner = 1;

  Lines(llvm::ArrayRef<int64_t> shape, int64_t dim) {
    for (int64_t d = 0, n = shape.size(); d < n; ++d) {
      if (d == dim)
        length = shape[d];
      else
        count *= shape[d];
      if (d > dim)
        inner *= shape[d];
    }
  }
  int64_t at(int64_t line, int64_t k) const {
    return (line / inner * length + k) * inner + line % inner;
  }
};

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_LINES_H
