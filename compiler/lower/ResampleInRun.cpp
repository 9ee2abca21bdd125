//===- ResampleInRun.cpp - Linear maps along a dim of the run -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map whose sizes are numbers is a table (Resample.cpp). Here its places and
// weights are worked out where they are used: for each element of the result,
// and for gradients once for each position, as vectors that a scatter reads.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Resample.h"
#include "compiler/lower/rules/Updates.h"
#include "dialects/ft/TensorSizes.h"

using namespace mlir;

namespace ft {

LoweredTensor resample(LowerCall &c, LoweredTensor t, unsigned dim,
                       const RunResampling &map) {
  Dims sizes = t.dims();
  sizes[dim] = map.to;
  unsigned rank = t.rank();
  // Iteration dim p is physical dim p: channels-last images stay so.
  SmallVector<AffineExpr, 6> logical(rank);
  for (unsigned p = 0; p < rank; ++p)
    logical[t.order[p]] = c.dim(p);
  DType work = map.weighted ? opmathType(t.dtype) : t.dtype;
  Access out{c.empty(sizes, work, t.order), logical};
  if (hasNoElements(sizes))
    return out.tensor;
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  return c.generic({}, out, iterators, [&](ScalarBuilder &s, ValueRange) {
    SmallVector<Value> at(rank);
    for (unsigned p = 0; p < rank; ++p)
      at[t.order[p]] = iterationIndex(s, p);
    Value sum;
    for (const RunTap &tap : map.at(s, at[dim])) {
      at[dim] = tap.index;
      Value term = s.cast(readAt(s, t, at), t.dtype, work);
      if (tap.weight)
        term = s.mul(term, tap.weight);
      sum = sum ? s.add(sum, term) : term;
    }
    return SmallVector<Value>{sum};
  })[0];
}

LoweredTensor resampleBackward(LowerCall &c, LoweredTensor gradient,
                               unsigned dim, Dim from,
                               const RunResampling &map) {
  DType work = opmathType(gradient.dtype);
  gradient = c.cast(gradient, work);
  unsigned rank = gradient.rank();
  // A vector along the dim, aligned at the last one.
  Dims column(rank - dim, 1);
  column[0] = map.to;
  auto vector = [&](DType dtype,
                    llvm::function_ref<Value(ScalarBuilder &, Value)> f) {
    LoweredTensor v =
        generate(c, {map.to}, dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
          return f(s, at[0]);
        });
    return c.reshape(v, column);
  };
  Updates u;
  u.fold = Fold::Sum;
  u.sizes = gradient.dims();
  u.sizes[dim] = from;
  u.dtype = work;
  u.loops = rank;
  for (unsigned d = 0; d < rank; ++d)
    u.from.push_back(d == dim ? UpdatePlace{UpdatePlace::Index, 0}
                              : UpdatePlace{UpdatePlace::Loop, d});
  for (unsigned k = 0; k < map.taps; ++k) {
    u.indices = {vector(DType::I64, [&](ScalarBuilder &s, Value i) {
      return fromIndex(s, map.at(s, i)[k].index, DType::I64);
    })};
    u.values = gradient;
    if (map.weighted) {
      LoweredTensor weight = vector(work, [&](ScalarBuilder &s, Value i) {
        return map.at(s, i)[k].weight;
      });
      u.values = c.pointwise(
          {gradient, weight}, gradient.dims(), work,
          [](ScalarBuilder &s, ValueRange v) { return s.mul(v[0], v[1]); });
    }
    u.start = foldUpdates(c, u);
  }
  return *u.start;
}

} // namespace ft
