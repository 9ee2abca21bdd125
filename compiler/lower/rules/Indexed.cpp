//===- Indexed.cpp - Pointwise ops that say how they index -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Indexed.h"

using namespace mlir;

namespace ft {

LoweredTensor mapIndexed(LowerCall &c, LoweredTensor x, DType dtype,
                         Sides sides, ScalarBody body) {
  SmallVector<AffineExpr, 6> index(x.rank());
  for (unsigned p = 0; p < x.rank(); ++p)
    index[x.order[p]] = c.dim(p);
  SmallVector<Access> ins = {Access{x, index}};
  if (sides)
    ins.append(sides(index));
  SmallVector<Iterator> iterators(x.rank(), Iterator::Parallel);
  return c.generic(ins, Access{c.empty(x.dims(), dtype, x.order), index},
                   iterators, [&](ScalarBuilder &s, ValueRange v) {
                     return SmallVector<Value>{
                         body(s, v.take_front(ins.size()))};
                   })[0];
}

LoweredTensor mapWithPosition(
    LowerCall &c, LoweredTensor x, DType dtype,
    llvm::function_ref<Value(ScalarBuilder &, Value, ArrayRef<unsigned>)>
        body) {
  SmallVector<unsigned> loops(x.rank());
  for (unsigned p = 0; p < x.rank(); ++p)
    loops[x.order[p]] = p;
  return mapIndexed(c, x, dtype, nullptr, [&](ScalarBuilder &s, ValueRange v) {
    return body(s, v[0], loops);
  });
}

} // namespace ft
