//===- Quantile.cpp - Lowering of quantiles --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Reducing.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ft {

/// (self, q, dim, keepdim, interpolation): q is a number or a tensor, of one
/// dim if there are several, which then is the first of the result.
template <bool IgnoreNan>
static LogicalResult quantile(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  bool single = x.dtype != DType::F64;
  // Rows: the reduced dim last, all others before it.
  SmallVector<unsigned, 6> order;
  Dim n = elementsAlong(x, allDims(x.rank())), rows = 1;
  if (!c.isNone(2) && x.rank() > 0) {
    unsigned dim = LowerCall::wrapDim(c.integer(2), x.rank());
    n = x.dims()[dim];
    for (unsigned d = 0; d < x.rank(); ++d)
      if (d != dim)
        order.push_back(d);
    if (!n.is(0))
      rows = elementsAlong(x, order);
    order.push_back(dim);
    x = c.permute(x, order);
  }
  x = c.toRowMajor(c.reshape(c.cast(x, DType::F64), {rows, n}));
  LoweredTensor q;
  if (c.call().args[1].kind == Arg::Tensor)
    q = c.cast(c.operand(1), DType::F64);
  else
    q = c.filled({1}, DType::F64, c.number(1));
  Dim count = elementsAlong(q, allDims(q.rank()));
  q = c.toRowMajor(c.reshape(q, {count}));
  int64_t mode = llvm::StringSwitch<int64_t>(c.call().args[4].str)
                     .Case("lower", 1)
                     .Case("higher", 2)
                     .Case("midpoint", 3)
                     .Case("nearest", 4)
                     .Default(0);
  auto r = callKernel(
      c, "quantile", {x, q},
      {Arg::truth(IgnoreNan), Arg::integer(mode), Arg::truth(single)},
      {{{count, rows}, DType::F64}}, {1, maxDim(64, 8 * n)});
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.cast(c.reshape(r[0], dimsOf(meta)), meta.dtype));
  return success();
}

ArrayRef<LowerRuleRow> quantileLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("nanquantile.default", quantile<true>),
      anyShape("nanquantile.scalar", quantile<true>),
      anyShape("quantile.default", quantile<false>),
      anyShape("quantile.scalar", quantile<false>),
  };
  return rows;
}

} // namespace ft
