//===- Regions.h - Control flow behind the catch ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_TRACE_REGIONS_H
#define FORETRACE_COMPILER_TRACE_REGIONS_H

#include "foretrace/trace/Control.h"

namespace ft::detail {

// The calls of Control.h for regions that do not throw. After a region has set
// `thrown`, the call fails without an error, and the mode is as if it had not
// been made.
Tensors traceCond(const Tensor &predicate, TensorList operands,
                  const Region &then, const Region &otherwise, Here here,
                  const bool &thrown);
Tensors traceWhile(TensorList init, const Region &condition, const Region &body,
                   int64_t most, Here here, const bool &thrown);
Tensors traceScan(TensorList init, TensorList xs, const Region &body,
                  int64_t dim, bool reverse, Here here, const bool &thrown);

} // namespace ft::detail

#endif // FORETRACE_COMPILER_TRACE_REGIONS_H
