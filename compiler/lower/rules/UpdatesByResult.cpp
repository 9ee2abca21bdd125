//===- UpdatesByResult.cpp - Folding updates, seen from the result --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device has no C kernel that goes over the updates. There every element of
// the result looks at all updates that may mean it, and folds those that do:
//
//   result [rows, width], from {index 0, loop 1}, values [n, width]:
//   result[r, w] = fold over j of (index[j] = r ? values[j, w] : nothing)
//
// A loop that is a dim of the result by itself costs nothing; all others are
// gone through for each element. No two threads write one element, so that
// sums have one order, and an index that is out of range means no element.
// Cost: elements of the result * updates for each of them.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Updates.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

namespace {
class FoldByResult {
public:
  FoldByResult(LowerCall &c, const Updates &u, DType dtype)
      : c(c), u(u), dtype(dtype), rank(static_cast<unsigned>(u.sizes.size())) {
    findLoops();
  }

  LoweredTensor run();

private:
  void findLoops();
  Access access(LoweredTensor t);
  Value matches(ScalarBuilder &s, ValueRange indices, Value mask);
  Value position(ScalarBuilder &s);
  LoweredTensor fold(ArrayRef<Access> ins, Fold how);
  LoweredTensor assign(ArrayRef<Access> ins, LoweredTensor start);

  LowerCall &c;
  const Updates &u;
  DType dtype;
  unsigned rank;
  SmallVector<Dim, 6> sizes;                  ///< of the loops
  SmallVector<std::optional<unsigned>, 6> at; ///< iteration dim of each loop
  SmallVector<Iterator> iterators;
};
} // namespace

void FoldByResult::findLoops() {
  sizes.assign(u.loops, Dim(1));
  auto broadcast = [&](const LoweredTensor &t) {
    Dims own = t.dims();
    for (unsigned d = 0; d < own.size(); ++d)
      if (!own[d].is(1))
        sizes[u.loops - own.size() + d] = own[d];
  };
  if (u.loopsOfIndex) {
    broadcast(u.indices.front());
  } else {
    broadcast(u.values);
    if (u.mask)
      broadcast(*u.mask);
    for (const LoweredTensor &index : u.indices)
      broadcast(index);
  }
  iterators.assign(rank, Iterator::Parallel);
  at.assign(u.loops, std::nullopt);
  for (auto [d, place] : llvm::enumerate(u.from)) {
    if (place.kind != UpdatePlace::Loop)
      continue;
    Dim &size = sizes[place.number];
    if (size.is(1) && !u.loopsOfIndex)
      size = u.sizes[d];
    if (size == u.sizes[d])
      at[place.number] = static_cast<unsigned>(d);
  }
  for (unsigned l = 0; l < u.loops; ++l)
    if (!at[l] && !sizes[l].is(1)) {
      at[l] = static_cast<unsigned>(iterators.size());
      iterators.push_back(Iterator::Reduction);
    }
}

/// Aligned at the last loop; what is longer than the loops ends where they do.
Access FoldByResult::access(LoweredTensor t) {
  Access a;
  for (unsigned d = 0, n = t.rank(); d < n; ++d) {
    unsigned loop = u.loops - n + d;
    Dim own = t.dims()[d];
    bool repeats = own.is(1) || !at[loop];
    a.index.push_back(repeats ? c.constant(0) : c.dim(*at[loop]));
    if (!repeats && !(own == sizes[loop]))
      t = c.slice(t, d, 0, sizes[loop]);
  }
  a.tensor = t;
  return a;
}

/// Whether the update of the current loops means the current element.
Value FoldByResult::matches(ScalarBuilder &s, ValueRange indices, Value mask) {
  Value all = mask ? mask : s.constantInt(s.b.getI1Type(), 1);
  auto also = [&](Value more) {
    all = arith::AndIOp::create(s.b, s.loc, all, more);
  };
  for (auto [d, place] : llvm::enumerate(u.from)) {
    Value here = iterationIndex(s, static_cast<unsigned>(d));
    if (place.kind == UpdatePlace::Index) {
      DType from = u.indices[place.number].dtype;
      Value index = indices[place.number];
      Value i = toIndex(s, index, from);
      if (u.skip)
        also(s.cmp(Cmp::Ne, i, s.constantInt(i.getType(), *u.skip)));
      if (u.wrap)
        i = wrappedIndex(s, index, from, sizeIndex(c, s, u.sizes[d]));
      also(s.cmp(Cmp::Eq, i, here));
    } else if (!at[place.number]) {
      also(s.cmp(Cmp::Eq, here, s.zero(here)));
    } else if (*at[place.number] != d) {
      also(s.cmp(Cmp::Eq, here, iterationIndex(s, *at[place.number])));
    }
  }
  return all;
}

/// The number of the update among those that may mean an element.
Value FoldByResult::position(ScalarBuilder &s) {
  Value n = s.constantInt(s.b.getI64Type(), 0);
  for (unsigned l = 0; l < u.loops; ++l)
    if (at[l] && *at[l] >= rank)
      n = s.add(s.mul(n, c.sizeIn(s, sizes[l], DType::I64)),
                fromIndex(s, iterationIndex(s, *at[l]), DType::I64));
  return n;
}

Start neutralOf(Fold fold, DType dtype) {
  switch (fold) {
  case Fold::Max:
    return lowestOf(dtype);
  case Fold::Min:
    return highestOf(dtype);
  case Fold::Product:
    return {dtype, 1, {}};
  case Fold::Sum:
  case Fold::Assign:
    return {dtype, 0, {}};
  }
  llvm_unreachable("all folds are listed");
}

static Value folded(ScalarBuilder &s, Fold fold, DType dtype, Value x,
                    Value y) {
  switch (fold) {
  case Fold::Sum:
    return s.add(x, y);
  case Fold::Product:
    return s.mul(x, y);
  case Fold::Max:
    return s.maximum(x, y, isUnsigned(dtype));
  case Fold::Min:
    return s.minimum(x, y, isUnsigned(dtype));
  case Fold::Assign:
    return y;
  }
  llvm_unreachable("all folds are listed");
}

LoweredTensor FoldByResult::fold(ArrayRef<Access> ins, Fold how) {
  SmallVector<AffineExpr, 6> here;
  for (unsigned d = 0; d < rank; ++d)
    here.push_back(c.dim(d));
  Start neutral = neutralOf(how, dtype);
  return c.generic(ins, Access{filledWith(c, u.sizes, neutral), here},
                   iterators, [&](ScalarBuilder &s, ValueRange v) {
                     Value isMeant =
                         matches(s, v.slice(1, u.indices.size()),
                                 u.mask ? v[1 + u.indices.size()] : Value());
                     Value so = v.back(),
                           next = folded(s, how, dtype, so, v[0]);
                     return SmallVector<Value>{s.select(isMeant, next, so)};
                   })[0];
}

/// The last one wins: numbers of updates are compared, so that a kernel may
/// look at them in any order.
LoweredTensor FoldByResult::assign(ArrayRef<Access> ins, LoweredTensor start) {
  SmallVector<AffineExpr, 6> here;
  for (unsigned d = 0; d < rank; ++d)
    here.push_back(c.dim(d));
  return c.generic(
      ins,
      {Access{start, here}, Access{c.filledInt(u.sizes, DType::I64, -1), here}},
      iterators, [&](ScalarBuilder &s, ValueRange v) {
        Value isMeant = matches(s, v.slice(1, u.indices.size()),
                                u.mask ? v[1 + u.indices.size()] : Value());
        Value so = v[v.size() - 2], where = v.back(), now = position(s);
        Value take = arith::AndIOp::create(s.b, s.loc, isMeant,
                                           s.cmp(Cmp::Gt, now, where));
        return SmallVector<Value>{s.select(take, v[0], so),
                                  s.select(take, now, where)};
      })[0];
}

LoweredTensor FoldByResult::run() {
  SmallVector<Access> ins = {access(u.values)};
  for (const LoweredTensor &index : u.indices)
    ins.push_back(access(index));
  if (u.mask)
    ins.push_back(access(*u.mask));
  LoweredTensor start = u.start ? *u.start : c.filledInt(u.sizes, dtype, 0);
  c.newGroup();
  if (u.fold == Fold::Assign)
    return assign(ins, start);
  LoweredTensor all = fold(ins, u.fold);
  if (!u.start && u.fold == Fold::Sum)
    return all;
  return c.pointwise({start, all}, u.sizes, dtype,
                     [&](ScalarBuilder &s, ValueRange v) {
                       return folded(s, u.fold, dtype, v[0], v[1]);
                     });
}

/// Bools are sums and products as integers are maxima and minima.
static Fold foldOfBools(Fold fold) {
  if (fold == Fold::Sum)
    return Fold::Max;
  return fold == Fold::Product ? Fold::Min : fold;
}

LoweredTensor foldByResult(LowerCall &c, const Updates &given) {
  Updates u = given;
  DType work = u.fold == Fold::Assign ? u.dtype : opmathType(u.dtype);
  if (u.dtype == DType::Bool) {
    work = DType::I8;
    u.fold = foldOfBools(u.fold);
  }
  u.values = c.cast(u.values, work);
  if (u.start)
    u.start = c.cast(*u.start, work);
  for (auto [d, place] : llvm::enumerate(u.from)) {
    // What is left out may have any index.
    if (place.kind != UpdatePlace::Index || u.mask || u.skip)
      continue;
    Dim size = u.sizes[d];
    c.checkIndex(u.indices[place.number], u.wrap ? Dim(0) - size : Dim(0), size,
                 size);
  }
  if (hasNoElements(u.sizes))
    return c.filled(u.sizes, given.dtype, 0);
  return c.cast(FoldByResult(c, u, work).run(), given.dtype);
}

} // namespace ft
