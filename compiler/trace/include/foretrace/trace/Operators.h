//===- Operators.h - x + y, 2 * x, x < y -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TRACE_OPERATORS_H
#define FORETRACE_TRACE_OPERATORS_H

#include "foretrace/trace/Tensor.h"

namespace ft {

/// An operand of an operator and the place that the operator stands at:
/// operators take no default arguments, conversions to their operands do.
class Operand {
public:
  Operand(const Tensor &tensor, const char *file = __builtin_FILE(),
          int line = __builtin_LINE())
      : tensor(tensor), here{file, line} {}
  const Tensor &tensor;
  Here here;
};

// A number stays a number (`add.Tensor(x, 2)`): it does not take part in type
// promotion as a tensor would.
#define FT_BINARY(symbol)                                                      \
  FORETRACE_API Tensor operator symbol(const Operand &a, const Operand &b);    \
  FORETRACE_API Tensor operator symbol(const Operand &a, const Scalar &b);     \
  FORETRACE_API Tensor operator symbol(const Scalar &a, const Operand &b);
FT_BINARY(+)
FT_BINARY(-)
FT_BINARY(*)
FT_BINARY(/)
FT_BINARY(==)
FT_BINARY(!=)
FT_BINARY(<)
FT_BINARY(<=)
FT_BINARY(>)
FT_BINARY(>=)
#undef FT_BINARY
FORETRACE_API Tensor operator&(const Operand &a, const Operand &b);
FORETRACE_API Tensor operator|(const Operand &a, const Operand &b);
FORETRACE_API Tensor operator^(const Operand &a, const Operand &b);
FORETRACE_API Tensor operator-(const Operand &a);
FORETRACE_API Tensor operator~(const Operand &a);

} // namespace ft

#endif // FORETRACE_TRACE_OPERATORS_H
