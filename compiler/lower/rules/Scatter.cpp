//===- Scatter.cpp - Lowering of scatters ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes at indices are folds of values into a copy of self (Updates.h). What a
// mask selects, or a view covers, every element of the result finds by itself.

#include "compiler/lower/Assemble.h"
#include "compiler/lower/Gather.h"
#include "compiler/lower/IndexPlan.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/MaskIndices.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Updates.h"
#include "compiler/shape/Positions.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Sizes = Dims;
using Cmp = ScalarBuilder::Cmp;

namespace {
/// How an element and its updates become one.
struct Reduction {
  Fold fold = Fold::Assign;
  bool mean = false;
  /// Without: the updates of an element replace it.
  bool includeSelf = true;
};
} // namespace

static Reduction reductionNamed(StringRef name, bool includeSelf = true) {
  bool mean = name == "mean";
  Fold fold = name == "prod" || name == "multiply" ? Fold::Product
              : name == "amax"                     ? Fold::Max
              : name == "amin"                     ? Fold::Min
                                                   : Fold::Sum;
  return {fold, mean, includeSelf};
}

/// Sums and counts of updates become means.
static LoweredTensor divided(LowerCall &c, LoweredTensor sum,
                             LoweredTensor count) {
  DType dtype = sum.dtype;
  return c.pointwise({sum, count}, sum.dims(), dtype,
                     [&](ScalarBuilder &s, ValueRange v) -> Value {
                       Value n = s.cast(s.maximum(v[1], s.one(v[1])),
                                        DType::I64, dtype);
                       if (isFloating(dtype) || isComplex(dtype))
                         return s.div(v[0], n);
                       if (isUnsigned(dtype))
                         return s.div(v[0], n, true);
                       return arith::FloorDivSIOp::create(s.b, s.loc, v[0], n);
                     });
}

/// Folds the updates `u` (of which `fold` and `start` are not looked at) into
/// self.
static LoweredTensor reduceUpdates(LowerCall &c, LoweredTensor self, Updates u,
                                   const Reduction &r) {
  DType dtype = self.dtype;
  u.sizes = self.dims();
  u.dtype = r.fold == Fold::Assign ? dtype : opmathType(dtype);
  u.fold = r.fold;
  u.start = c.cast(self, u.dtype);
  if (!r.includeSelf) {
    Updates fresh = u;
    fresh.fold = Fold::Assign;
    fresh.values = filledWith(c, {}, neutralOf(r.fold, u.dtype));
    u.start = foldUpdates(c, fresh);
  }
  LoweredTensor result = foldUpdates(c, u);
  if (r.mean) {
    Updates counts = u;
    counts.dtype = DType::I64;
    counts.start = c.filledInt(u.sizes, DType::I64, r.includeSelf ? 1 : 0);
    counts.values = c.filledInt({}, DType::I64, 1);
    result = divided(c, result, foldUpdates(c, counts));
  }
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
  Reduction reduction = {};
  bool wrap = false;
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
    return c.sizeIn(s, a.dim, dtype);
  if (dtype == DType::Bool)
    return s.constantInt(type, c.number(arg) != 0);
  return s.constant(type, c.number(arg));
}

LogicalResult AlongDim::run() {
  unsigned rank = self.rank();
  DType dtype = self.dtype;
  bool ordered = reduction.fold == Fold::Max || reduction.fold == Fold::Min;
  if (ordered && isComplex(dtype))
    return c.unsupported("complex numbers have no order");
  DType work = reduction.fold == Fold::Assign ? dtype : opmathType(dtype);
  Updates u;
  u.loops = rank;
  u.wrap = wrap;
  for (unsigned d = 0; d < rank; ++d)
    u.from.push_back(d == dim ? UpdatePlace{UpdatePlace::Index, 0}
                              : UpdatePlace{UpdatePlace::Loop, d});
  // An index of the rank of self says how far the updates go.
  u.loopsOfIndex = index.rank() == rank;
  if (!u.loopsOfIndex) {
    Sizes sizes(rank, 1);
    sizes[dim] = index.dims()[0];
    index = c.reshape(index, sizes);
  }
  u.indices = {index};
  if (!source) {
    u.values = generate(c, {}, work, [&](ScalarBuilder &s, ArrayRef<Value>) {
      return numberOf(c, s, *numberArg, work);
    });
  } else {
    u.values = c.cast(*source, work);
    if (numberArg && c.number(*numberArg) != 1)
      u.values = c.pointwise(
          u.values, u.values.dims(), work, [&](ScalarBuilder &s, ValueRange v) {
            return s.mul(v[0], numberOf(c, s, *numberArg, work));
          });
  }
  c.setResult(0, c.reshape(reduceUpdates(c, self, u, reduction),
                           dimsOf(c.resultMeta(0))));
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

static LogicalResult scatterSource(LowerCall &c, const Reduction &reduction) {
  if (keepsSelf(c))
    return success();
  AlongDim a = alongDim(c, 2);
  a.source = atLeastVector(c, c.operand(3));
  a.reduction = reduction;
  return a.run();
}

static LogicalResult scatterValue(LowerCall &c, const Reduction &reduction) {
  if (keepsSelf(c))
    return success();
  AlongDim a = alongDim(c, 2);
  a.numberArg = 3;
  a.reduction = reduction;
  return a.run();
}

static LogicalResult scatterSrc(LowerCall &c) { return scatterSource(c, {}); }
static LogicalResult scatterAdd(LowerCall &c) {
  return scatterSource(c, {Fold::Sum});
}
static LogicalResult scatterSrcReduce(LowerCall &c) {
  return scatterSource(c, reductionNamed(c.call().args[4].str));
}
static LogicalResult scatterReduceTwo(LowerCall &c) {
  return scatterSource(c, reductionNamed(c.call().args[4].str, c.flag(5)));
}
static LogicalResult scatterNumber(LowerCall &c) { return scatterValue(c, {}); }
static LogicalResult scatterNumberReduce(LowerCall &c) {
  return scatterValue(c, reductionNamed(c.call().args[4].str));
}

/// The index tensor of index_add and its like has one dim.
static LogicalResult indexUpdate(LowerCall &c, const Reduction &reduction,
                                 std::optional<unsigned> alpha = {}) {
  AlongDim a = alongDim(c, 2);
  a.source = atLeastVector(c, c.operand(3));
  a.reduction = reduction;
  a.numberArg = alpha;
  return a.run();
}

static LogicalResult indexAdd(LowerCall &c) {
  return indexUpdate(c, {Fold::Sum}, 4);
}
static LogicalResult indexCopy(LowerCall &c) { return indexUpdate(c, {}); }
static LogicalResult indexReduce(LowerCall &c) {
  return indexUpdate(c, reductionNamed(c.call().args[4].str, c.flag(5)));
}

/// Negative positions are allowed here, unlike in scatter.
static LogicalResult indexFill(LowerCall &c) {
  AlongDim a = alongDim(c, 2);
  a.wrap = true;
  if (c.call().args[3].isNumber() && !c.isRuntimeNumber(3))
    a.numberArg = 3;
  else
    a.source = c.operand(3);
  return a.run();
}

//===----------------------------------------------------------------------===//
// index_put: positions along several dims
//===----------------------------------------------------------------------===//

/// How many elements of a flat mask are true, given the counts up to each.
static LoweredTensor countOfTrue(LowerCall &c, LoweredTensor mask,
                                 LoweredTensor counts) {
  Dim n = mask.dims()[0];
  if (n.isStatic())
    return c.slice(counts, 0, n - 1, 1);
  // Of the run: there may be no last one.
  return sumOf(c, c.cast(mask, DType::Bool), 0U, false, DType::I64);
}

/// x[mask] = values: the k-th true element of the mask takes the k-th of the
/// values, which are broadcast to [.., true elements, ..].
static LogicalResult putAtMask(LowerCall &c, LoweredTensor mask, unsigned first,
                               LoweredTensor values, bool accumulate) {
  LoweredTensor x = c.operand(0);
  Sizes sizes = x.dims(), covered = mask.dims();
  if (hasNoElements(sizes) || hasNoElements(values.dims())) {
    c.setResult(0, x);
    return success();
  }
  Dim n = product(covered);
  // The true elements are dim `first` of the values' full shape.
  Sizes given = values.dims();
  auto last = static_cast<unsigned>(covered.size()) + first;
  int64_t rest = static_cast<int64_t>(sizes.size()) - last;
  int64_t dim = static_cast<int64_t>(given.size()) - 1 - rest;
  bool each = dim >= 0 && given[dim] != 1;
  LoweredTensor count;
  if (each) {
    LoweredTensor flat = c.reshape(mask, {n});
    LoweredTensor counted = inclusiveCount(c, flat);
    c.checkIndex(countOfTrue(c, flat, counted), given[dim], given[dim] + 1,
                 given[dim]);
    count = c.reshape(counted, covered);
    values = withSpare(c, values, static_cast<unsigned>(dim));
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
  Sizes sizes = x.dims();
  int masks = 0, others = 0;
  if (!mask) {
    unsigned at = 0;
    LoweredTensor only;
    for (auto [d, v] : llvm::enumerate(tensors)) {
      if (!v)
        continue;
      LoweredTensor t = c.operandOf(v);
      if (isMask(t)) {
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
  FailureOr<IndexPlan> plan;
  std::optional<LoweredTensor> counts;
  if (masks) {
    if (!x.isStatic() || !values.isStatic())
      return c.unsupported("a mask beside other indices, of sizes that are "
                           "only known at run time");
    if (llvm::is_contained(x.sizes(), 0)) {
      c.setResult(0, x);
      return success();
    }
    MaskIndices listed = listMasks(c, tensors, x.sizes(), values);
    plan = IndexPlan::of(sizes, listed.indices);
    values = listed.values;
    counts = listed.counts;
  } else {
    plan = IndexPlan::make(c, sizes, tensors);
  }
  if (failed(plan))
    return failure();
  Updates u;
  u.loops = static_cast<unsigned>(plan->resultSizes.size());
  u.wrap = true;
  u.mask = mask;
  u.values = values;
  // Behind the dims of the indices stand those of x that follow them.
  size_t behind = u.loops - plan->broadcastAt - plan->broadcast.size();
  if (counts) {
    Sizes wide = counts->dims();
    wide.append(behind, 1);
    u.mask = c.reshape(*counts, wide);
  }
  for (unsigned d = 0; d < x.rank(); ++d) {
    if (!plan->indexOf[d]) {
      u.from.push_back({UpdatePlace::Loop, plan->resultDim[d]});
      continue;
    }
    auto number = static_cast<unsigned>(u.indices.size());
    u.from.push_back({UpdatePlace::Index, number});
    LoweredTensor index = *plan->indexOf[d];
    Sizes wide = index.dims();
    wide.append(behind, 1);
    u.indices.push_back(c.reshape(index, wide));
  }
  c.setResult(0,
              reduceUpdates(c, x, u, {accumulate ? Fold::Sum : Fold::Assign}));
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
  Dim n = c.meta(0).numel(), count = c.meta(1).numel();
  LoweredTensor self = c.reshape(c.operand(0), {n});
  AlongDim a{c, self, 0, c.reshape(c.operand(1), {count})};
  a.wrap = true;
  a.source = c.reshape(c.operand(2), {count});
  if (c.flag(3))
    a.reduction.fold = Fold::Sum;
  return a.run();
}

//===----------------------------------------------------------------------===//
// masked_scatter: consecutive elements of the source
//===----------------------------------------------------------------------===//

static LogicalResult scatterAtMask(LowerCall &c, LoweredTensor self,
                                   LoweredTensor mask, LoweredTensor source) {
  Sizes sizes = dimsOf(c.resultMeta(0));
  Dim n = c.resultMeta(0).numel(), available = product(source.dims());
  if (n.is(0)) {
    c.setResult(0, c.reshape(self, sizes));
    return success();
  }
  self = c.reshape(c.expand(self, sizes), {n});
  mask = c.reshape(c.expand(mask, sizes), {n});
  source = c.reshape(source, {available});
  LoweredTensor count = inclusiveCount(c, mask);
  c.checkIndex(countOfTrue(c, mask, count), 0, available + 1, available);
  if (available.is(0)) {
    c.setResult(0, c.reshape(self, sizes));
    return success();
  }
  source = withSpare(c, source, 0);
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
  return scatterAtMask(c, c.filled(dimsOf(meta), meta.dtype, 0), c.operand(2),
                       c.operand(0));
}

/// The gradient of masked_scatter's source, of these sizes: what stands at the
/// k-th set place of the mask is element k, the rest is 0.
static LogicalResult maskedScatterBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0);
  const TensorMeta &meta = c.resultMeta(0);
  Dim n = c.meta(0).numel(), count = meta.numel();
  Sizes sizes = dimsOf(meta);
  if (n.is(0) || count.is(0)) {
    c.setResult(0, c.filled(sizes, meta.dtype, 0));
    return success();
  }
  LoweredTensor mask = c.reshape(c.expand(c.operand(1), grad.dims()), {n});
  LoweredTensor places = inclusiveCount(c, mask);
  Updates u;
  u.sizes = {count};
  u.dtype = meta.dtype;
  u.loops = 1;
  u.from = {{UpdatePlace::Index, 0}};
  u.values = c.reshape(grad, {n});
  u.mask = mask;
  u.indices = {
      c.pointwise(places, {n}, DType::I64, [](ScalarBuilder &s, ValueRange v) {
        return s.sub(v[0], s.one(v[0]));
      })};
  c.setResult(0, c.reshape(foldUpdates(c, u), sizes));
  return success();
}

//===----------------------------------------------------------------------===//
// Writing a view
//===----------------------------------------------------------------------===//

static LogicalResult selectScatter(LowerCall &c) {
  LoweredTensor self = c.operand(0), src = c.operand(1);
  unsigned dim = c.wrapDim(c.integer(2), self.rank());
  Sizes sizes = self.dims(), start(sizes.size(), 0);
  SmallVector<int64_t, 6> step(sizes.size(), 1);
  start[dim] = positionOf(c.dimArg(3), sizes[dim]);
  sizes[dim] = 1;
  src = c.reshape(c.cast(src, self.dtype), sizes);
  c.setResult(0, insert(c, self, src, start, step));
  return success();
}

static LogicalResult sliceScatter(LowerCall &c) {
  LoweredTensor self = c.operand(0), src = c.operand(1);
  unsigned dim = c.wrapDim(c.integer(2), self.rank());
  Sizes sizes = self.dims(), start(sizes.size(), 0);
  SmallVector<int64_t, 6> step(sizes.size(), 1);
  Dim n = sizes[dim];
  auto clip = [&](unsigned arg, Dim otherwise) {
    return c.isNone(arg) ? otherwise : clampedPosition(c.dimArg(arg), n);
  };
  start[dim] = clip(3, 0);
  Dim end = maxDim(clip(4, n), start[dim]);
  step[dim] = c.integer(5);
  sizes[dim] = ceilDiv(end - start[dim], step[dim]);
  // The fake pass saw that these are the sizes of the source, which need not be
  // written alike; only one of 1 is broadcast.
  Sizes given = src.dims();
  for (size_t d = 0, lead = sizes.size() - given.size(); d < given.size(); ++d)
    if (!given[d].is(1))
      sizes[lead + d] = given[d];
  src = c.cast(c.expand(src, sizes), self.dtype);
  c.setResult(0, insert(c, self, src, start, step));
  return success();
}

static LogicalResult diagonalScatter(LowerCall &c) {
  LoweredTensor self = c.operand(0), src = c.operand(1);
  unsigned dim1 = c.wrapDim(c.integer(3), self.rank());
  unsigned dim2 = c.wrapDim(c.integer(4), self.rank());
  int64_t offset = c.integer(2);
  Dim length = src.dims().back();
  int64_t down = std::max<int64_t>(-offset, 0);
  int64_t right = std::max<int64_t>(offset, 0);
  if (hasNoElements(src.dims())) {
    c.setResult(0, self);
    return success();
  }
  c.setResult(0, generateFrom(
                     c, self, self.dims(), self.dtype,
                     [&](ScalarBuilder &s, ValueRange v, ArrayRef<Value> at) {
                       Type index = s.b.getIndexType();
                       Value i = s.sub(at[dim1], s.constantInt(index, down));
                       Value j = s.sub(at[dim2], s.constantInt(index, right));
                       Value on = s.mul(
                           s.cmp(Cmp::Eq, i, j),
                           s.cmp(Cmp::Lt, i, sizeIndex(c, s, length), true));
                       SmallVector<Value> from;
                       for (unsigned d = 0; d < at.size(); ++d)
                         if (d != dim1 && d != dim2)
                           from.push_back(at[d]);
                       from.push_back(s.select(on, i, s.constantInt(index, 0)));
                       Value e =
                           s.cast(readAt(s, src, from), src.dtype, self.dtype);
                       return s.select(on, e, v[0]);
                     }));
  return success();
}

static LogicalResult asStridedScatter(LowerCall &c) {
  LoweredTensor self = c.operand(0), src = c.operand(1);
  if (!isContiguous(c.meta(0)))
    return c.unsupported("as_strided_scatter on a tensor that is not "
                         "contiguous");
  Sizes sizes = c.dimsArg(2), strides = c.dimsArg(3);
  Dim start = c.isNone(4) ? Dim(0) : c.dimArg(4) - c.meta(0).offset;
  Dim n = c.meta(0).numel();
  if (hasNoElements(sizes)) {
    c.setResult(0, self);
    return success();
  }
  Updates u;
  u.loops = static_cast<unsigned>(sizes.size());
  u.from = {{UpdatePlace::Index, 0}};
  u.values = src;
  u.indices = {
      generate(c, sizes, DType::I64, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        Value place = sizeIndex(c, s, start);
        for (auto [d, stride] : llvm::enumerate(strides))
          place = s.add(place, s.mul(at[d], sizeIndex(c, s, stride)));
        return fromIndex(s, place, DType::I64);
      })};
  LoweredTensor flat = reduceUpdates(c, c.reshape(self, {n}), u, {});
  c.setResult(0, c.reshape(flat, self.dims()));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("scatter.src", scatterSrc),
    anyShape("scatter.value", scatterNumber),
    anyShape("scatter.reduce", scatterSrcReduce),
    anyShape("scatter.value_reduce", scatterNumberReduce),
    anyShape("scatter_add.default", scatterAdd),
    anyShape("scatter_reduce.two", scatterReduceTwo),
    anyShape("index_add.default", indexAdd),
    anyShape("index_copy.default", indexCopy),
    anyShape("index_fill.int_Scalar", indexFill, Numbers::Runtime),
    anyShape("index_fill.int_Tensor", indexFill),
    anyShape("index_reduce.default", indexReduce),
    anyShape("index_put.default", indexPut),
    anyShape("index_put.hacked_twin", indexPut),
    anyShape("_index_put_impl.default", indexPut),
    anyShape("_unsafe_index_put.default", indexPut),
    anyShape("_unsafe_masked_index_put_accumulate.default",
             maskedPutAccumulate),
    anyShape("put.default", put),
    anyShape("masked_scatter.default", maskedScatter),
    anyShape("masked_scatter_backward.default", maskedScatterBackward),
    anyShape("masked_select_backward.default", maskedSelectBackward),
    anyShape("select_scatter.default", selectScatter),
    anyShape("slice_scatter.default", sliceScatter),
    anyShape("diagonal_scatter.default", diagonalScatter),
    anyShape("as_strided_scatter.default", asStridedScatter),
};

ArrayRef<LowerRuleRow> scatterLowerRules() { return kRows; }

} // namespace ft
