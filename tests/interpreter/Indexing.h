//===- Indexing.h - Where x[i, :, j] reads and writes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_INTERPRETER_INDEXING_H
#define FORETRACE_TESTS_INTERPRETER_INDEXING_H

#include "tests/interpreter/Interpreter.h"

namespace ft::interpreter {

/// The elements of a tensor of `shape` that index tensors name (null: the whole
/// dim), as flat positions in the order of the result. An index out of range is
/// an error of the call, or moves to the nearest end with `clampOutside`.
struct IndexedPlaces {
  Shape resultShape;
  std::vector<int64_t> places;

  IndexedPlaces(Call &call, const Shape &shape,
                llvm::ArrayRef<const Tensor *> indices, bool clampOutside);
};

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_INDEXING_H
