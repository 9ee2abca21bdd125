//===- Resample.cpp - Fixed linear maps along one dim ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Resample.h"

#include "compiler/lower/Assemble.h"
#include "compiler/lower/Gather.h"
#include "dialects/ft/TensorSizes.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ft {

bool Resampling::isGather() const {
  return llvm::all_of(to, [](const Taps &t) {
    return t.index.size() == 1 && t.weight.front() == 1;
  });
}

/// The index of a gather as an affine function of the position, if it is the
/// quotient by a constant (nearest-neighbour doubling).
static std::optional<int64_t> quotientOf(const Resampling &map) {
  auto size = static_cast<int64_t>(map.to.size());
  if (map.from == 0 || size % map.from != 0)
    return std::nullopt;
  int64_t factor = size / map.from;
  for (int64_t i = 0; i < size; ++i)
    if (map.to[i].index.front() != i / factor)
      return std::nullopt;
  return factor;
}

LoweredTensor resample(LowerCall &c, LoweredTensor t, unsigned dim,
                       const Resampling &map) {
  Dims sizes = t.dims();
  sizes[dim] = static_cast<int64_t>(map.to.size());
  unsigned rank = t.rank();
  bool gather = map.isGather();
  // Iteration dim p is physical dim p: channels-last images stay so.
  SmallVector<AffineExpr, 6> logical(rank);
  for (unsigned p = 0; p < rank; ++p)
    logical[t.order[p]] = c.dim(p);
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  DType work = gather ? t.dtype : opmathType(t.dtype);
  Access out{c.empty(sizes, work, t.order), logical};
  if (hasNoElements(sizes))
    return out.tensor;
  if (gather)
    if (std::optional<int64_t> factor = quotientOf(map)) {
      SmallVector<AffineExpr, 6> index = logical;
      index[dim] = logical[dim].floorDiv(*factor);
      return c.generic(Access{t, index}, out, iterators,
                       [](ScalarBuilder &, ValueRange v) {
                         return SmallVector<Value>{v[0]};
                       })[0];
    }
  size_t taps = 0;
  for (const Taps &p : map.to)
    taps = std::max(taps, p.index.size());
  SmallVector<Access> ins;
  for (size_t k = 0; k < taps; ++k) {
    SmallVector<int64_t> index;
    SmallVector<double> weight;
    for (const Taps &p : map.to) {
      bool has = k < p.index.size();
      index.push_back(has ? p.index[k] : p.index.front());
      weight.push_back(has ? p.weight[k] : 0);
    }
    ins.push_back({constantVector(c, index), {logical[dim]}});
    if (!gather)
      ins.push_back({constantVector(c, weight, work), {logical[dim]}});
  }
  return c.generic(ins, out, iterators, [&](ScalarBuilder &s, ValueRange v) {
    SmallVector<Value> at(rank);
    for (unsigned p = 0; p < rank; ++p)
      at[t.order[p]] = iterationIndex(s, p);
    auto read = [&](Value index) {
      at[dim] = toIndex(s, index, DType::I64);
      return s.cast(readAt(s, t, at), t.dtype, work);
    };
    if (gather)
      return SmallVector<Value>{read(v[0])};
    Value sum;
    for (size_t k = 0; k < taps; ++k) {
      Value term = s.mul(read(v[2 * k]), v[2 * k + 1]);
      sum = sum ? s.add(sum, term) : term;
    }
    return SmallVector<Value>{sum};
  })[0];
}

/// Of each position before the map, what it adds to: (position after, weight),
/// one pair for each tap, since infinity times weights of both signs, or of
/// none, is not what it is times their sum.
static SmallVector<SmallVector<std::pair<int64_t, double>, 4>, 0>
transposed(const Resampling &map) {
  SmallVector<SmallVector<std::pair<int64_t, double>, 4>, 0> uses(
      static_cast<size_t>(map.from));
  for (auto [i, taps] : llvm::enumerate(map.to))
    for (auto [index, weight] : llvm::zip(taps.index, taps.weight))
      uses[static_cast<size_t>(index)].push_back(
          {static_cast<int64_t>(i), weight});
  return uses;
}

LoweredTensor resampleBackward(LowerCall &c, LoweredTensor gradient,
                               unsigned dim, const Resampling &map) {
  DType from = gradient.dtype, work = opmathType(from);
  Dims sizes = gradient.dims();
  sizes[dim] = map.from;
  unsigned rank = gradient.rank();
  SmallVector<AffineExpr, 6> logical(rank);
  Dims physical(rank, Dim(0));
  for (unsigned p = 0; p < rank; ++p) {
    logical[gradient.order[p]] = c.dim(p);
    physical[p] = sizes[gradient.order[p]];
  }
  LoweredTensor zero = c.filled(physical, work, 0);
  zero.order = gradient.order;
  zero.setDims(sizes);
  auto uses = transposed(map);
  size_t most = 0;
  for (const auto &list : uses)
    most = std::max(most, list.size());
  if (most == 0 || hasNoElements(sizes))
    return zero;
  // NaN where there is no tap: a gradient that is not finite must not reach
  // elements that the map does not read, which 0 times it would.
  SmallVector<int64_t> index;
  SmallVector<double> weight;
  for (const auto &list : uses)
    for (size_t k = 0; k < most; ++k) {
      index.push_back(k < list.size() ? list[k].first : 0);
      weight.push_back(k < list.size()
                           ? list[k].second
                           : std::numeric_limits<double>::quiet_NaN());
    }
  Dims table = {Dim(map.from), Dim(static_cast<int64_t>(most))};
  SmallVector<AffineExpr, 6> entry = {logical[dim], c.dim(rank)};
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  iterators.push_back(Iterator::Reduction);
  return c.generic(
      {Access{c.reshape(constantVector(c, index), table), entry},
       Access{c.reshape(constantVector(c, weight, work), table), entry}},
      Access{zero, logical}, iterators, [&](ScalarBuilder &s, ValueRange v) {
        SmallVector<Value> at(rank);
        for (unsigned p = 0; p < rank; ++p)
          at[gradient.order[p]] = iterationIndex(s, p);
        at[dim] = toIndex(s, v[0], DType::I64);
        Value read = s.cast(readAt(s, gradient, at), from, work);
        Value none = s.cmp(ScalarBuilder::Cmp::Ne, v[1], v[1]);
        Value term = s.select(none, s.zero(read), s.mul(read, v[1]));
        return SmallVector<Value>{s.add(v[2], term)};
      })[0];
}

} // namespace ft
