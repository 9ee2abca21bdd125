//===- Regions.cpp - Exceptions of a region go around the trace *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function of a region is the program's, and may throw. The trace is built
// without exceptions: one that passed through it would leave a region open. So
// each is caught where the trace calls the function, and thrown again when the
// trace has left the region. This file alone is built with exceptions.

#include "compiler/trace/Regions.h"

#include <exception>

namespace ft {

namespace {
class Catch {
public:
  /// `body`, which must outlive the result, without its exceptions.
  Region around(const Region &body) {
    if (!body)
      return {};
    return [this, &body](const Tensors &in) -> std::vector<Tensor> {
      try {
        return body(in);
      } catch (...) {
        exception = std::current_exception();
        thrown = true;
        return {};
      }
    };
  }
  Tensors result(Tensors tensors) const {
    if (thrown)
      std::rethrow_exception(exception);
    return tensors;
  }
  bool thrown = false;

private:
  std::exception_ptr exception;
};
} // namespace

Tensors cond(const Tensor &predicate, TensorList operands, const Region &then,
             const Region &otherwise, Here here) {
  Catch guard;
  return guard.result(detail::traceCond(predicate, operands, guard.around(then),
                                        guard.around(otherwise), here,
                                        guard.thrown));
}

Tensors while_loop(TensorList init, const Region &condition, const Region &body,
                   int64_t most_iterations, Here here) {
  Catch guard;
  return guard.result(detail::traceWhile(init, guard.around(condition),
                                         guard.around(body), most_iterations,
                                         here, guard.thrown));
}

Tensors scan(TensorList init, TensorList xs, const Region &body, int64_t dim,
             bool reverse, Here here) {
  Catch guard;
  return guard.result(detail::traceScan(init, xs, guard.around(body), dim,
                                        reverse, here, guard.thrown));
}

} // namespace ft
