//===- MaskIndices.cpp - Masks among indices that are written ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/MaskIndices.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/IndexPlan.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Updates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Sizes = SmallVector<int64_t, 6>;
using Cmp = ScalarBuilder::Cmp;

namespace {
/// A mask: where its true elements are in it, and their number [1].
struct Listed {
  unsigned dim; ///< of x, the first
  Sizes sizes;
  LoweredTensor places, count;
};
} // namespace

static LoweredTensor numbered(LowerCall &c, int64_t n) {
  return c.generic({}, Access{c.empty({n}, DType::I64), {c.dim(0)}},
                   {Iterator::Parallel}, [](ScalarBuilder &s, ValueRange) {
                     return SmallVector<Value>{loopIndex(s, 0)};
                   })[0];
}

static Listed listOf(LowerCall &c, LoweredTensor mask, unsigned dim) {
  Listed list{dim, mask.sizes(), {}, {}};
  int64_t n = 1;
  for (int64_t size : list.sizes)
    n *= size;
  if (n == 0) {
    list.places = c.filledInt({1}, DType::I64, 0);
    list.count = c.filledInt({1}, DType::I64, 0);
    return list;
  }
  LoweredTensor flat = c.reshape(mask, {n}), upTo = inclusiveCount(c, flat);
  Updates u;
  u.sizes = {n};
  u.dtype = DType::I64;
  u.loops = 1;
  u.from = {{UpdatePlace::Index, 0}};
  u.values = numbered(c, n);
  u.indices = {
      c.pointwise(upTo, {n}, DType::I64, [](ScalarBuilder &s, ValueRange v) {
        return s.sub(v[0], s.one(v[0]));
      })};
  u.mask = c.cast(flat, DType::Bool);
  list.places = foldUpdates(c, u);
  list.count = c.slice(upTo, 0, n - 1, 1);
  return list;
}

/// Element min(k, count - 1) of dim `dim`, for k below `length`: a list that is
/// as long as it says, or one element for all.
static LoweredTensor stretched(LowerCall &c, LoweredTensor list,
                               LoweredTensor count, unsigned dim,
                               int64_t length) {
  Sizes sizes = list.sizes();
  int64_t have = sizes[dim];
  sizes[dim] = length;
  SmallVector<AffineExpr, 6> at;
  for (unsigned d = 0; d < sizes.size(); ++d)
    at.push_back(c.dim(d));
  SmallVector<Iterator> iterators(sizes.size(), Iterator::Parallel);
  return c.generic(
      Access{count, {c.constant(0)}}, Access{c.empty(sizes, list.dtype), at},
      iterators, [&](ScalarBuilder &s, ValueRange v) {
        SmallVector<Value> from;
        for (unsigned d = 0; d < sizes.size(); ++d)
          from.push_back(loopIndex(s, d));
        Value k = from[dim], one = s.one(k);
        k = s.select(s.cmp(Cmp::Eq, v[0], one), s.zero(k), k);
        from[dim] = s.minimum(k, s.constantInt(k.getType(), have - 1));
        return SmallVector<Value>{elementAt(s, list, from)};
      })[0];
}

/// Dim `d` of places in a shape.
static LoweredTensor coordinate(LowerCall &c, LoweredTensor places,
                                ArrayRef<int64_t> sizes, unsigned d) {
  int64_t stride = 1;
  for (int64_t size : sizes.drop_front(d + 1))
    stride *= std::max<int64_t>(size, 1);
  return c.pointwise(
      places, places.sizes(), DType::I64, [&](ScalarBuilder &s, ValueRange v) {
        auto number = [&](int64_t n) {
          return s.constantInt(v[0].getType(), std::max<int64_t>(n, 1));
        };
        Value at = s.div(v[0], number(stride));
        return Value(arith::RemSIOp::create(s.b, s.loc, at, number(sizes[d])));
      });
}

/// Fails the run unless each count is 1 or `wanted`, a tensor [1].
static void checkCounts(LowerCall &c, ArrayRef<Listed> lists,
                        LoweredTensor wanted) {
  for (const Listed &list : lists)
    c.checkTrue(
        c.reshape(c.pointwise({list.count, wanted}, {1}, DType::Bool,
                              [](ScalarBuilder &s, ValueRange v) -> Value {
                                return arith::OrIOp::create(
                                    s.b, s.loc, s.cmp(Cmp::Eq, v[0], v[1]),
                                    s.cmp(Cmp::Eq, v[0], s.one(v[0])));
                              }),
                  {}),
        "index_put: its masks select other numbers of elements than what they "
        "are broadcast to");
}

MaskIndices listMasks(LowerCall &c, ArrayRef<Value> tensors,
                      ArrayRef<int64_t> sizes, LoweredTensor values) {
  MaskIndices result;
  result.values = values;
  result.indices.resize(sizes.size());
  std::vector<Listed> lists;
  int64_t length = 1, most = 1;
  unsigned dim = 0;
  for (Value v : tensors) {
    if (!v) {
      ++dim;
      continue;
    }
    LoweredTensor index = c.operandOf(v);
    if (isMask(index)) {
      lists.push_back(listOf(c, index, dim));
      most = std::max(most, lists.back().places.sizes()[0]);
      dim += index.rank();
      continue;
    }
    result.indices[dim++] = index;
    if (index.rank() && index.sizes().back() != 1)
      length = index.sizes().back();
  }
  LoweredTensor total = c.filledInt({1}, DType::I64, length);
  if (length == 1) {
    // As many as the masks say, if they agree.
    length = most;
    total = lists.front().count;
    for (const Listed &list : lists)
      total = c.pointwise({total, list.count}, {1}, DType::I64,
                          [](ScalarBuilder &s, ValueRange v) {
                            Value first = s.cmp(Cmp::Eq, v[0], s.one(v[0]));
                            return s.select(first, v[1], v[0]);
                          });
    LoweredTensor all = numbered(c, length);
    result.counts = c.pointwise({all, total}, {length}, DType::Bool,
                                [](ScalarBuilder &s, ValueRange v) {
                                  return s.cmp(Cmp::Lt, v[0], v[1]);
                                });
  }
  checkCounts(c, lists, total);
  for (const Listed &list : lists) {
    LoweredTensor places = stretched(c, list.places, list.count, 0, length);
    for (unsigned d = 0; d < list.sizes.size(); ++d)
      result.indices[list.dim + d] = coordinate(c, places, list.sizes, d);
  }
  if (!result.counts)
    return result;
  // Behind the lists stand the dims of x that follow the indexed ones.
  SmallVector<unsigned> indexed;
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (result.indices[d])
      indexed.push_back(d);
  bool adjacent = indexed.back() - indexed.front() + 1 == indexed.size();
  auto behind =
      static_cast<unsigned>(adjacent ? sizes.size() - 1 - indexed.back()
                                     : sizes.size() - indexed.size());
  if (values.rank() <= behind)
    return result;
  unsigned at = values.rank() - 1 - behind;
  int64_t given = values.sizes()[at];
  if (given == 1)
    return result;
  LoweredTensor have = c.filledInt({1}, DType::I64, given);
  c.checkTrue(c.reshape(c.pointwise({have, total}, {1}, DType::Bool,
                                    [](ScalarBuilder &s, ValueRange v) {
                                      return s.cmp(Cmp::Eq, v[0], v[1]);
                                    }),
                        {}),
              "index_put: its values are other than its masks select");
  Sizes none = values.sizes();
  none[at] = length;
  result.values = given == 0 ? c.filledInt(none, values.dtype, 0)
                             : stretched(c, values, have, at, length);
  return result;
}

} // namespace ft
