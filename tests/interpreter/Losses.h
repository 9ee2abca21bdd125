//===- Losses.h - What losses have in common -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_INTERPRETER_LOSSES_H
#define FORETRACE_TESTS_INTERPRETER_LOSSES_H

#include "tests/interpreter/Tensor.h"

namespace ft::interpreter {

/// Writes the values as `reduction` says: 0 each, 1 their mean, 2 their sum.
inline void reduceTo(Tensor &out, llvm::ArrayRef<double> values,
                     int64_t reduction) {
  if (reduction == 0) {
    for (size_t i = 0; i < values.size(); ++i)
      out.setReal(i, values[i]);
    return;
  }
  double total = 0;
  for (double x : values)
    total += x;
  out.setReal(0, reduction == 1 ? total / double(values.size()) : total);
}

/// The shape that operands broadcast to.
inline Shape broadcastShape(llvm::ArrayRef<const Tensor *> tensors) {
  Shape shape;
  for (const Tensor *t : tensors) {
    while (shape.size() < t->shape.size())
      shape.insert(shape.begin(), 1);
    for (int64_t d = 0; d < t->rank(); ++d)
      if (t->shape[d] != 1)
        shape[shape.size() - t->rank() + d] = t->shape[d];
  }
  return shape;
}

/// The element that `index` of the broadcast shape reads.
inline double at(const Tensor &tensor, Index index) {
  return tensor.real(flattenBroadcast(tensor.shape, index));
}

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_LOSSES_H
