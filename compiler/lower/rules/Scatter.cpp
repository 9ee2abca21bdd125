//===- Scatter.cpp - Lowering of scatters ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scatter is turned around: every element of the result visits all updates
// that might hit it, in their order, and folds in those that do.
//
//   self [a b c], index [2 0 2], src [x y z], sum: c visits x, y, z and takes
//   x and z.
//
// So elements are independent (threads need no atomics), the last of several
// assignments wins, and sums have one order. Cost: elements times updates per
// line, which is right for few updates or short lines.

#include "compiler/lower/Assemble.h"
#include "compiler/lower/Gather.h"
#include "compiler/lower/IndexPlan.h"
#include "compiler/lower/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Sizes = SmallVector<int64_t, 6>;
using Cmp = ScalarBuilder::Cmp;

enum class Fold { Assign, Sum, Product, Mean, Max, Min };

static Fold foldNamed(StringRef name) {
  return name == "prod" || name == "multiply" ? Fold::Product
         : name == "mean"                     ? Fold::Mean
         : name == "amax"                     ? Fold::Max
         : name == "amin"                     ? Fold::Min
                                              : Fold::Sum;
}

static Value combine(ScalarBuilder &s, Fold fold, Value a, Value v,
                     DType dtype) {
  switch (fold) {
  case Fold::Assign:
    return v;
  case Fold::Sum:
  case Fold::Mean:
    return s.add(a, v);
  case Fold::Product:
    return s.mul(a, v);
  case Fold::Max:
    return s.maximum(a, v, isUnsigned(dtype));
  case Fold::Min:
    return s.minimum(a, v, isUnsigned(dtype));
  }
  llvm_unreachable("all folds are listed");
}

namespace {
/// What the updates of one scatter are.
struct Updates {
  Fold fold = Fold::Assign;
  /// Without: the first update replaces the element.
  bool includeSelf = true;
  /// Extents of the reduction dims, which follow the element's own.
  Sizes extents;
  /// What is read for each update.
  SmallVector<Access> ins;
  /// Whether the update hits the current element, and its value (in the
  /// opmath type), given the `ins`.
  llvm::function_ref<std::pair<Value, Value>(ScalarBuilder &, ValueRange)>
      update;
};
} // namespace

/// Folds updates into every element of `self` (row-major iteration).
static LoweredTensor foldUpdates(LowerCall &c, LoweredTensor self,
                                 const Updates &u) {
  Sizes sizes = self.sizes();
  if (llvm::is_contained(sizes, 0) || llvm::is_contained(u.extents, 0))
    return self;
  auto rank = static_cast<unsigned>(sizes.size());
  DType dtype = self.dtype;
  DType work = u.fold == Fold::Assign ? dtype : opmathType(dtype);
  SmallVector<AffineExpr, 6> at;
  for (unsigned d = 0; d < rank; ++d)
    at.push_back(c.dim(d));
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  iterators.append(u.extents.size(), Iterator::Reduction);
  self = c.toRowMajor(self);
  // An operand of its own gives the reduction dims their extents, also where
  // what is read is broadcast.
  SmallVector<Access> ins = u.ins;
  Access extent{c.empty(u.extents, DType::I8), {}};
  for (unsigned k = 0; k < u.extents.size(); ++k)
    extent.index.push_back(c.dim(rank + k));
  size_t given = ins.size();
  ins.push_back(extent);
  size_t first = ins.size();
  bool counts = u.fold == Fold::Mean || !u.includeSelf;
  // The result starts as a copy of self: accumulating over self itself would
  // write an operand.
  SmallVector<Access> outs;
  outs.push_back({c.pointwise(self, sizes, work,
                              [&](ScalarBuilder &s, ValueRange v) {
                                return s.cast(v[0], dtype, work);
                              }),
                  at});
  if (counts)
    outs.push_back({c.filledInt(sizes, DType::I64, u.includeSelf ? 1 : 0), at});
  SmallVector<LoweredTensor> folded =
      c.generic(ins, outs, iterators, [&](ScalarBuilder &s, ValueRange v) {
        auto [hit, value] = u.update(s, v.take_front(given));
        Value old = v[first];
        Value next = combine(s, u.fold, old, value, dtype);
        if (!u.includeSelf) {
          Value fresh = s.cmp(Cmp::Eq, v[first + 1], s.zero(v[first + 1]));
          next = s.select(fresh, value, next);
        }
        SmallVector<Value> results = {s.select(hit, next, old)};
        if (counts) {
          Value n = v[first + 1];
          results.push_back(s.select(hit, s.add(n, s.one(n)), n));
        }
        return results;
      });
  LoweredTensor result = folded[0];
  if (u.fold == Fold::Mean)
    result = c.pointwise(
        {folded[0], folded[1]}, sizes, work,
        [&](ScalarBuilder &s, ValueRange v) -> Value {
          Value n = s.cast(s.maximum(v[1], s.one(v[1])), DType::I64, work);
          if (isFloating(work) || isComplex(work))
            return s.div(v[0], n);
          if (isUnsigned(work))
            return s.div(v[0], n, true);
          return arith::FloorDivSIOp::create(s.b, s.loc, v[0], n);
        });
  return c.cast(result, dtype);
}

static LoweredTensor atLeastVector(LowerCall &c, LoweredTensor t) {
  return t.rank() ? t : c.reshape(t, {1});
}

//===----------------------------------------------------------------------===//
// scatter and index_add: positions along one dim
//===----------------------------------------------------------------------===//

namespace {
/// Updates src[.., k, ..] at index[.., k, ..] (or index[k]) of dim `dim`.
struct AlongDim {
  LowerCall &c;
  LoweredTensor self;
  unsigned dim;
  LoweredTensor index;
  Fold fold = Fold::Assign;
  bool includeSelf = true;
  /// Null: `number` is written.
  std::optional<LoweredTensor> source = std::nullopt;
  /// A number, or what the source is multiplied by.
  std::optional<unsigned> numberArg = std::nullopt;

  LogicalResult run();
};
} // namespace

static Value numberOf(LowerCall &c, ScalarBuilder &s, unsigned arg,
                      DType dtype) {
  const Arg &a = c.call().args[arg];
  Type type = computeType(c.context(), dtype);
  if (a.kind == Arg::Int && isIntegral(dtype) && dtype != DType::Bool)
    return s.constantInt(type, a.dim.value());
  if (dtype == DType::Bool)
    return s.constantInt(type, c.number(arg) != 0);
  return s.constant(type, c.number(arg));
}

LogicalResult AlongDim::run() {
  Sizes whole = self.sizes(), extent = index.sizes();
  bool oneIndex = extent.size() == 1 && whole.size() != 1;
  unsigned rank = self.rank();
  // Elements beyond the index tensor's sizes stay.
  Sizes region = whole;
  if (!oneIndex)
    for (unsigned d = 0; d < rank; ++d)
      if (d != dim)
        region[d] = extent[d];
  int64_t updates = oneIndex ? extent[0] : extent[dim];
  LoweredTensor part = self;
  for (unsigned d = 0; d < rank; ++d)
    part = c.slice(part, d, 0, region[d]);
  if (!llvm::is_contained(region, 0) && updates)
    c.checkIndex(index, 0, whole[dim], whole[dim]);
  Updates u;
  u.fold = fold;
  u.includeSelf = includeSelf;
  u.extents = {updates};
  SmallVector<AffineExpr, 6> at;
  for (unsigned d = 0; d < rank; ++d)
    at.push_back(c.dim(d == dim ? rank : d));
  if (oneIndex)
    u.ins.push_back({index, {c.dim(rank)}});
  else
    u.ins.push_back({index, at});
  if (source) {
    for (unsigned d = 0; d < rank; ++d)
      *source = c.slice(*source, d, 0, d == dim ? updates : region[d]);
    u.ins.push_back({*source, at});
  }
  DType work = fold == Fold::Assign ? self.dtype : opmathType(self.dtype);
  auto update = [&](ScalarBuilder &s, ValueRange v) {
    Value hit =
        s.cmp(Cmp::Eq, toIndex(s, v[0], index.dtype), iterationIndex(s, dim));
    Value value;
    if (source)
      value = s.cast(v[1], source->dtype, work);
    if (numberArg) {
      Value number = numberOf(c, s, *numberArg, work);
      value = value ? s.mul(value, number) : number;
    }
    return std::pair(hit, value);
  };
  u.update = update;
  LoweredTensor result = foldUpdates(c, part, u);
  if (region != whole)
    result =
        insert(c, c.toRowMajor(self), result, Sizes(rank, 0), Sizes(rank, 1));
  c.setResult(0, c.reshape(result, staticSizes(c.resultMeta(0))));
  return success();
}

static AlongDim alongDim(LowerCall &c, unsigned indexArg) {
  LoweredTensor self = atLeastVector(c, c.operand(0));
  unsigned dim = c.wrapDim(c.integer(1), self.rank());
  return {c, self, dim, atLeastVector(c, c.operand(indexArg))};
}

/// Without indices, of whatever rank, nothing is written.
static bool keepsSelf(LowerCall &c) {
  if (!c.meta(2).numel().is(0))
    return false;
  c.setResult(0, c.operand(0));
  return true;
}

static LogicalResult scatterSource(LowerCall &c, Fold fold, bool includeSelf) {
  if (keepsSelf(c))
    return success();
  AlongDim a = alongDim(c, 2);
  a.source = atLeastVector(c, c.operand(3));
  a.fold = fold;
  a.includeSelf = includeSelf;
  return a.run();
}

static LogicalResult scatterValue(LowerCall &c, Fold fold) {
  if (keepsSelf(c))
    return success();
  AlongDim a = alongDim(c, 2);
  a.numberArg = 3;
  a.fold = fold;
  return a.run();
}

static LogicalResult scatterSrc(LowerCall &c) {
  return scatterSource(c, Fold::Assign, true);
}
static LogicalResult scatterAdd(LowerCall &c) {
  return scatterSource(c, Fold::Sum, true);
}
static LogicalResult scatterSrcReduce(LowerCall &c) {
  return scatterSource(c, foldNamed(c.call().args[4].str), true);
}
static LogicalResult scatterReduceTwo(LowerCall &c) {
  return scatterSource(c, foldNamed(c.call().args[4].str), c.flag(5));
}
static LogicalResult scatterNumber(LowerCall &c) {
  return scatterValue(c, Fold::Assign);
}
static LogicalResult scatterNumberReduce(LowerCall &c) {
  return scatterValue(c, foldNamed(c.call().args[4].str));
}

/// The index tensor of index_add and its like has one dim.
static LogicalResult indexUpdate(LowerCall &c, Fold fold, bool includeSelf,
                                 std::optional<unsigned> alpha) {
  AlongDim a = alongDim(c, 2);
  a.source = atLeastVector(c, c.operand(3));
  a.fold = fold;
  a.includeSelf = includeSelf;
  a.numberArg = alpha;
  return a.run();
}

static LogicalResult indexAdd(LowerCall &c) {
  return indexUpdate(c, Fold::Sum, true, 4);
}
static LogicalResult indexCopy(LowerCall &c) {
  return indexUpdate(c, Fold::Assign, true, std::nullopt);
}
static LogicalResult indexReduce(LowerCall &c) {
  return indexUpdate(c, foldNamed(c.call().args[4].str), c.flag(5),
                     std::nullopt);
}

/// Negative positions are allowed here, unlike in scatter.
static LoweredTensor wrapped(LowerCall &c, LoweredTensor index, int64_t n) {
  if (!llvm::is_contained(index.sizes(), 0))
    c.checkIndex(index, -n, n, n);
  DType from = index.dtype;
  return c.pointwise(
      index, index.sizes(), DType::I64, [&](ScalarBuilder &s, ValueRange v) {
        return fromIndex(s, wrappedIndex(s, v[0], from, n), DType::I64);
      });
}

static LogicalResult indexFill(LowerCall &c) {
  AlongDim a = alongDim(c, 2);
  a.index = wrapped(c, a.index, a.self.sizes()[a.dim]);
  if (c.call().args[3].isNumber()) {
    a.numberArg = 3;
    return a.run();
  }
  Sizes sizes = a.self.sizes();
  sizes[a.dim] = a.index.sizes()[0];
  a.source = c.expand(c.operand(3), sizes);
  return a.run();
}

//===----------------------------------------------------------------------===//
// index_put: positions along several dims
//===----------------------------------------------------------------------===//

/// x[mask] = values: the k-th true element of the mask takes the k-th of the
/// values, which are broadcast to [.., true elements, ..].
static LogicalResult putAtMask(LowerCall &c, LoweredTensor mask, unsigned first,
                               LoweredTensor values, bool accumulate) {
  LoweredTensor x = c.operand(0);
  Sizes sizes = x.sizes(), covered = mask.sizes();
  if (llvm::is_contained(sizes, 0) || llvm::is_contained(values.sizes(), 0)) {
    c.setResult(0, x);
    return success();
  }
  int64_t n = 1;
  for (int64_t d : covered)
    n *= d;
  // The true elements are dim `first` of the values' full shape.
  Sizes given = values.sizes();
  auto last = static_cast<unsigned>(covered.size()) + first;
  int64_t rest = static_cast<int64_t>(sizes.size()) - last;
  auto dim = static_cast<int64_t>(given.size()) - 1 - rest;
  bool each = dim >= 0 && given[dim] != 1;
  LoweredTensor count;
  if (each) {
    LoweredTensor flat = inclusiveCount(c, c.reshape(mask, {n}));
    c.checkIndex(c.slice(flat, 0, n - 1, 1), given[dim], given[dim] + 1,
                 given[dim]);
    count = c.reshape(flat, covered);
  }
  SmallVector<AffineExpr, 6> at, maskAt;
  for (unsigned d = 0; d < sizes.size(); ++d)
    at.push_back(c.dim(d));
  maskAt.assign(at.begin() + first, at.begin() + last);
  SmallVector<Access> ins = {{x, at}, {mask, maskAt}};
  if (each)
    ins.push_back({count, maskAt});
  DType work = accumulate ? opmathType(x.dtype) : x.dtype;
  SmallVector<Iterator> iterators(sizes.size(), Iterator::Parallel);
  c.setResult(
      0,
      c.generic(
          ins, Access{c.empty(sizes, x.dtype), at}, iterators,
          [&](ScalarBuilder &s, ValueRange v) {
            // Dims of the values, from the last to the first.
            SmallVector<Value> from(given.size());
            for (auto d = static_cast<int64_t>(given.size()) - 1; d >= 0; --d) {
              int64_t dimOfX = d > dim ? d - dim - 1 + last : first - (dim - d);
              if (given[d] == 1)
                from[d] = s.constantInt(s.b.getIndexType(), 0);
              else if (d == dim)
                from[d] = toIndex(
                    s, s.maximum(s.sub(v[2], s.one(v[2])), s.zero(v[2])),
                    DType::I64);
              else
                from[d] = iterationIndex(s, static_cast<unsigned>(dimOfX));
            }
            Value put = s.cast(readAt(s, values, from), values.dtype, work);
            Value old = s.cast(v[0], x.dtype, work);
            if (accumulate)
              put = s.add(old, put);
            Value on = s.cast(v[1], mask.dtype, DType::Bool);
            return SmallVector<Value>{
                s.cast(s.select(on, put, old), work, x.dtype)};
          })[0]);
  return success();
}

/// With `mask`, updates where it is false do nothing and their indices are not
/// looked at.
static LogicalResult putAt(LowerCall &c, ArrayRef<Value> tensors,
                           LoweredTensor values, bool accumulate,
                           std::optional<LoweredTensor> mask = std::nullopt) {
  LoweredTensor x = c.operand(0);
  Sizes sizes = x.sizes();
  if (!mask) {
    int masks = 0, others = 0;
    unsigned at = 0;
    LoweredTensor only;
    for (auto [d, v] : llvm::enumerate(tensors)) {
      if (!v)
        continue;
      LoweredTensor t = c.operandOf(v);
      if (t.dtype == DType::Bool || t.dtype == DType::U8) {
        ++masks;
        at = static_cast<unsigned>(d);
        only = t;
      } else {
        ++others;
      }
    }
    if (masks == 1 && others == 0)
      return putAtMask(c, only, at, values, accumulate);
  }
  FailureOr<IndexPlan> plan = IndexPlan::make(c, sizes, tensors);
  if (failed(plan))
    return failure();
  bool empty = llvm::is_contained(plan->resultSizes, 0);
  if (!mask && !empty)
    plan->check(c, sizes);
  unsigned rank = x.rank();
  Updates u;
  u.fold = accumulate ? Fold::Sum : Fold::Assign;
  u.extents = plan->broadcast;
  u.ins = plan->accesses(c, rank);
  size_t count = u.ins.size();
  SmallVector<DType> dtypes;
  for (const Access &a : u.ins)
    dtypes.push_back(a.tensor.dtype);
  // Where the value for the element and the update stands.
  SmallVector<AffineExpr, 6> result(plan->resultSizes.size());
  for (unsigned d = 0; d < rank; ++d)
    if (!plan->indexOf[d])
      result[plan->resultDim[d]] = c.dim(d);
  for (unsigned k = 0; k < plan->broadcast.size(); ++k)
    result[plan->broadcastAt + k] = c.dim(rank + k);
  u.ins.push_back({values, broadcastIndex(c, values, result)});
  if (mask)
    u.ins.push_back({*mask, broadcastIndex(c, *mask, result)});
  DType work = accumulate ? opmathType(x.dtype) : x.dtype;
  auto update = [&](ScalarBuilder &s, ValueRange v) {
    Value hit;
    unsigned next = 0;
    for (unsigned d = 0; d < rank; ++d) {
      if (!plan->indexOf[d])
        continue;
      Value i = wrappedIndex(s, v[next], dtypes[next], sizes[d]);
      Value same = s.cmp(Cmp::Eq, i, iterationIndex(s, d));
      hit = hit ? s.mul(hit, same) : same;
      ++next;
    }
    if (mask)
      hit = s.mul(hit, s.cast(v[count + 1], mask->dtype, DType::Bool));
    return std::pair(hit, s.cast(v[count], values.dtype, work));
  };
  u.update = update;
  c.setResult(0, empty ? x : foldUpdates(c, x, u));
  return success();
}

static LogicalResult indexPut(LowerCall &c) {
  return putAt(c, c.call().tensors(1), c.operand(2), c.flag(3));
}

static LogicalResult maskedPutAccumulate(LowerCall &c) {
  return putAt(c, c.call().tensors(2), c.operand(3), true, c.operand(1));
}

/// Positions in the flat tensor.
static LogicalResult put(LowerCall &c) {
  int64_t n = c.meta(0).numel().value(), count = c.meta(1).numel().value();
  LoweredTensor self = c.reshape(c.operand(0), {n});
  LoweredTensor index = wrapped(c, c.reshape(c.operand(1), {count}), n);
  AlongDim a{c, self, 0, index};
  a.source = c.reshape(c.operand(2), {count});
  a.fold = c.flag(3) ? Fold::Sum : Fold::Assign;
  return a.run();
}

//===----------------------------------------------------------------------===//
// masked_scatter: consecutive elements of the source
//===----------------------------------------------------------------------===//

static LogicalResult scatterAtMask(LowerCall &c, LoweredTensor self,
                                   LoweredTensor mask, LoweredTensor source) {
  Sizes sizes = staticSizes(c.resultMeta(0));
  int64_t n = c.resultMeta(0).numel().value(), available = 1;
  for (int64_t size : source.sizes())
    available *= size;
  if (n == 0) {
    c.setResult(0, c.reshape(self, sizes));
    return success();
  }
  self = c.reshape(c.expand(self, sizes), {n});
  mask = c.reshape(c.expand(mask, sizes), {n});
  source = c.reshape(source, {available});
  LoweredTensor count = inclusiveCount(c, mask);
  c.checkIndex(c.slice(count, 0, n - 1, 1), 0, available + 1, available);
  if (available == 0) {
    c.setResult(0, c.reshape(self, sizes));
    return success();
  }
  LoweredTensor result = c.pointwise(
      {self, mask, count}, {n}, self.dtype,
      [&](ScalarBuilder &s, ValueRange v) {
        Value place = toIndex(s, s.sub(v[2], s.one(v[2])), DType::I64);
        Value e = readAt(s, source, s.maximum(place, s.zero(place)));
        return s.select(s.cast(v[1], mask.dtype, DType::Bool),
                        s.cast(e, source.dtype, self.dtype), v[0]);
      });
  c.setResult(0, c.reshape(result, sizes));
  return success();
}

static LogicalResult maskedScatter(LowerCall &c) {
  return scatterAtMask(c, c.operand(0), c.operand(1), c.operand(2));
}

/// The gradient of masked_select: (grad, input, mask).
static LogicalResult maskedSelectBackward(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  return scatterAtMask(c, c.filled(staticSizes(meta), meta.dtype, 0),
                       c.operand(2), c.operand(0));
}

/// The gradient of masked_scatter's source, of these sizes: what stands at the
/// k-th set place of the mask is element k, the rest is 0.
static LogicalResult maskedScatterBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0);
  const TensorMeta &meta = c.resultMeta(0);
  int64_t n = c.meta(0).numel().value(), count = meta.numel().value();
  Sizes sizes = staticSizes(meta);
  if (n == 0 || count == 0) {
    c.setResult(0, c.filled(sizes, meta.dtype, 0));
    return success();
  }
  LoweredTensor mask = c.reshape(c.expand(c.operand(1), grad.sizes()), {n});
  grad = c.reshape(grad, {n});
  LoweredTensor places = inclusiveCount(c, mask);
  c.newGroup();
  AffineExpr k = c.dim(0), i = c.dim(1);
  // At most one place is hit, so that the sum is what stands there.
  LoweredTensor result =
      c.generic({Access{grad, {i}}, Access{mask, {i}}, Access{places, {i}}},
                Access{c.filled({count}, meta.dtype, 0), {k}},
                {Iterator::Parallel, Iterator::Reduction},
                [&](ScalarBuilder &s, ValueRange v) {
                  Value at = iterationIndex(s, 0);
                  at = fromIndex(s, at, DType::I64);
                  at = s.add(at, s.one(at));
                  Value hit = arith::AndIOp::create(
                      s.b, s.loc, s.cast(v[1], mask.dtype, DType::Bool),
                      s.cmp(ScalarBuilder::Cmp::Eq,
                            s.cast(v[2], places.dtype, DType::I64), at));
                  return SmallVector<Value>{s.select(hit, v[0], v[3])};
                })[0];
  c.setResult(0, c.reshape(result, sizes));
  return success();
}

//===----------------------------------------------------------------------===//
// Writing a view
//===----------------------------------------------------------------------===//

static LogicalResult selectScatter(LowerCall &c) {
  LoweredTensor self = c.operand(0), src = c.operand(1);
  unsigned dim = c.wrapDim(c.integer(2), self.rank());
  Sizes sizes = self.sizes(), start(sizes.size(), 0), step(sizes.size(), 1);
  int64_t at = c.integer(3);
  start[dim] = at < 0 ? at + sizes[dim] : at;
  sizes[dim] = 1;
  src = c.reshape(c.cast(src, self.dtype), sizes);
  c.setResult(0, insert(c, self, src, start, step));
  return success();
}

static LogicalResult sliceScatter(LowerCall &c) {
  LoweredTensor self = c.operand(0), src = c.operand(1);
  unsigned dim = c.wrapDim(c.integer(2), self.rank());
  Sizes sizes = self.sizes(), start(sizes.size(), 0), step(sizes.size(), 1);
  int64_t n = sizes[dim];
  auto clip = [&](unsigned arg, int64_t otherwise) {
    int64_t i = c.isNone(arg) ? otherwise : c.integer(arg);
    return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n);
  };
  start[dim] = clip(3, 0);
  int64_t end = std::max(clip(4, n), start[dim]);
  step[dim] = c.integer(5);
  sizes[dim] = (end - start[dim] + step[dim] - 1) / step[dim];
  src = c.cast(c.expand(src, sizes), self.dtype);
  c.setResult(0, insert(c, self, src, start, step));
  return success();
}

static LogicalResult diagonalScatter(LowerCall &c) {
  LoweredTensor self = c.operand(0), src = c.operand(1);
  unsigned dim1 = c.wrapDim(c.integer(3), self.rank());
  unsigned dim2 = c.wrapDim(c.integer(4), self.rank());
  int64_t offset = c.integer(2), length = src.sizes().back();
  int64_t down = std::max<int64_t>(-offset, 0);
  int64_t right = std::max<int64_t>(offset, 0);
  if (llvm::is_contained(src.sizes(), 0)) {
    c.setResult(0, self);
    return success();
  }
  c.setResult(
      0, generateFrom(
             c, self, self.sizes(), self.dtype,
             [&](ScalarBuilder &s, ValueRange v, ArrayRef<Value> at) {
               Type index = s.b.getIndexType();
               Value i = s.sub(at[dim1], s.constantInt(index, down));
               Value j = s.sub(at[dim2], s.constantInt(index, right));
               Value on =
                   s.mul(s.cmp(Cmp::Eq, i, j),
                         s.cmp(Cmp::Lt, i, s.constantInt(index, length), true));
               SmallVector<Value> from;
               for (unsigned d = 0; d < at.size(); ++d)
                 if (d != dim1 && d != dim2)
                   from.push_back(at[d]);
               from.push_back(s.select(on, i, s.constantInt(index, 0)));
               Value e = s.cast(readAt(s, src, from), src.dtype, self.dtype);
               return s.select(on, e, v[0]);
             }));
  return success();
}

/// Every element of the storage visits all elements of the view.
static LogicalResult asStridedScatter(LowerCall &c) {
  LoweredTensor self = c.operand(0), src = c.operand(1);
  if (!isContiguous(c.meta(0)))
    return c.unsupported("as_strided_scatter on a tensor that is not "
                         "contiguous");
  Sizes sizes = c.integers(2), strides = c.integers(3);
  int64_t start = c.isNone(4) ? 0 : c.integer(4) - c.meta(0).offset.value();
  int64_t n = c.meta(0).numel().value();
  Updates u;
  u.extents = sizes;
  SmallVector<AffineExpr, 6> at;
  for (unsigned d = 0; d < sizes.size(); ++d)
    at.push_back(c.dim(1 + d));
  src = c.cast(src, self.dtype);
  u.ins.push_back({src, at});
  auto update = [&](ScalarBuilder &s, ValueRange v) {
    Type index = s.b.getIndexType();
    Value place = s.constantInt(index, start);
    for (auto [d, stride] : llvm::enumerate(strides))
      place = s.add(
          place, s.mul(iterationIndex(s, 1 + d), s.constantInt(index, stride)));
    return std::pair(s.cmp(Cmp::Eq, place, iterationIndex(s, 0)), Value(v[0]));
  };
  u.update = update;
  LoweredTensor flat = foldUpdates(c, c.reshape(self, {n}), u);
  c.setResult(0, c.reshape(flat, self.sizes()));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"scatter.src", scatterSrc},
    {"scatter.value", scatterNumber},
    {"scatter.reduce", scatterSrcReduce},
    {"scatter.value_reduce", scatterNumberReduce},
    {"scatter_add.default", scatterAdd},
    {"scatter_reduce.two", scatterReduceTwo},
    {"index_add.default", indexAdd},
    {"index_copy.default", indexCopy},
    {"index_fill.int_Scalar", indexFill},
    {"index_fill.int_Tensor", indexFill},
    {"index_reduce.default", indexReduce},
    {"index_put.default", indexPut},
    {"index_put.hacked_twin", indexPut},
    {"_index_put_impl.default", indexPut},
    {"_unsafe_index_put.default", indexPut},
    {"_unsafe_masked_index_put_accumulate.default", maskedPutAccumulate},
    {"put.default", put},
    {"masked_scatter.default", maskedScatter},
    {"masked_scatter_backward.default", maskedScatterBackward},
    {"masked_select_backward.default", maskedSelectBackward},
    {"select_scatter.default", selectScatter},
    {"slice_scatter.default", sliceScatter},
    {"diagonal_scatter.default", diagonalScatter},
    {"as_strided_scatter.default", asStridedScatter},
};

ArrayRef<LowerRuleRow> scatterLowerRules() { return kRows; }

} // namespace ft
