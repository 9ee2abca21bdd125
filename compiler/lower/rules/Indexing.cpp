//===- Indexing.cpp - Lowering of gathers ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices are checked before anything is read with them; the gathers themselves
// then read freely. What masks select is for a kernel to find (DataSizes.cpp).

#include "compiler/lower/Gather.h"
#include "compiler/lower/IndexPlan.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/DataSizes.h"
#include "compiler/lower/rules/Updates.h"
#include "dialects/ft/TensorSizes.h"

using namespace mlir;

namespace ft {

static SmallVector<AffineExpr, 6> identity(LowerCall &c, size_t rank) {
  SmallVector<AffineExpr, 6> index;
  for (unsigned d = 0; d < rank; ++d)
    index.push_back(c.dim(d));
  return index;
}

/// x[i, :, j]; with a mask, elements outside it are `fill` and their indices
/// are not looked at.
static LogicalResult indexBy(LowerCall &c, ArrayRef<Value> tensors,
                             std::optional<LoweredTensor> mask = std::nullopt,
                             unsigned fillArg = 0) {
  LoweredTensor x = c.operand(0);
  Dims sizes = x.dims(), result = dimsOf(c.resultMeta(0));
  FailureOr<IndexPlan> plan = IndexPlan::make(c, sizes, tensors);
  if (failed(plan))
    return failure();
  if (hasNoElements(result)) {
    c.setResult(0, c.empty(result, x.dtype));
    return success();
  }
  if (!mask)
    plan->check(c, sizes);
  SmallVector<Access> ins = plan->accesses(c, plan->broadcastAt);
  SmallVector<AffineExpr, 6> out = identity(c, result.size());
  size_t count = ins.size();
  SmallVector<DType> dtypes;
  for (const Access &a : ins)
    dtypes.push_back(a.tensor.dtype);
  if (mask)
    ins.push_back({*mask, broadcastIndex(c, *mask, out)});
  double fill = mask ? c.number(fillArg) : 0;
  if (x.dtype == DType::Bool)
    fill = fill != 0;
  SmallVector<Iterator> iterators(result.size(), Iterator::Parallel);
  c.setResult(
      0, c.generic(ins, Access{c.empty(result, x.dtype), out}, iterators,
                   [&](ScalarBuilder &s, ValueRange v) {
                     SmallVector<Value> at;
                     unsigned next = 0;
                     for (unsigned d = 0; d < sizes.size(); ++d) {
                       if (!plan->indexOf[d]) {
                         at.push_back(iterationIndex(s, plan->resultDim[d]));
                         continue;
                       }
                       Value i = wrappedIndex(s, v[next], dtypes[next],
                                              sizeIndex(c, s, sizes[d]));
                       if (mask) {
                         Value n = sizeIndex(c, s, sizes[d] - 1);
                         i = s.minimum(s.maximum(i, s.zero(i)), n);
                       }
                       at.push_back(i);
                       ++next;
                     }
                     Value e = readAt(s, x, at);
                     if (mask)
                       e = s.select(s.cast(v[count], mask->dtype, DType::Bool),
                                    e, s.constant(e.getType(), fill));
                     return SmallVector<Value>{e};
                   })[0]);
  return success();
}

static LogicalResult index(LowerCall &c) {
  SmallVector<Value, 4> tensors = c.call().tensors(1);
  bool masked = llvm::any_of(tensors, [&](Value v) {
    DType dtype = v ? c.operandOf(v).dtype : DType::I64;
    return dtype == DType::Bool || dtype == DType::U8;
  });
  return masked ? lowerMaskedIndex(c, tensors) : indexBy(c, tensors);
}

static LogicalResult maskedIndex(LowerCall &c) {
  return indexBy(c, c.call().tensors(2), c.operand(1), 3);
}

/// Vectors of one element for numbers.
static LoweredTensor atLeastVector(LowerCall &c, LoweredTensor t) {
  return t.rank() ? t : c.reshape(t, {1});
}

/// result[.., k, ..] = x[.., index, ..], the index tensor read as `read` says.
static LoweredTensor gatherAlong(LowerCall &c, LoweredTensor x, unsigned dim,
                                 LoweredTensor at, ArrayRef<Dim> sizes,
                                 ArrayRef<AffineExpr> read) {
  if (hasNoElements(sizes))
    return c.empty(sizes, x.dtype);
  Dim n = x.dims()[dim];
  c.checkIndex(at, 0, n, n);
  SmallVector<Iterator> iterators(sizes.size(), Iterator::Parallel);
  return c.generic(Access{at, SmallVector<AffineExpr, 6>(read)},
                   Access{c.empty(sizes, x.dtype), identity(c, sizes.size())},
                   iterators, [&](ScalarBuilder &s, ValueRange v) {
                     SmallVector<Value> position;
                     for (unsigned d = 0; d < sizes.size(); ++d)
                       position.push_back(d == dim ? toIndex(s, v[0], at.dtype)
                                                   : iterationIndex(s, d));
                     return SmallVector<Value>{readAt(s, x, position)};
                   })[0];
}

static LogicalResult gather(LowerCall &c) {
  LoweredTensor x = atLeastVector(c, c.operand(0));
  LoweredTensor at = atLeastVector(c, c.operand(2));
  unsigned dim = c.wrapDim(c.integer(1), x.rank());
  Dims sizes = at.dims();
  LoweredTensor y =
      gatherAlong(c, x, dim, at, sizes, identity(c, sizes.size()));
  c.setResult(0, c.reshape(y, dimsOf(c.resultMeta(0))));
  return success();
}

static LogicalResult indexSelect(LowerCall &c) {
  LoweredTensor x = atLeastVector(c, c.operand(0));
  LoweredTensor at = atLeastVector(c, c.operand(2));
  unsigned dim = c.wrapDim(c.integer(1), x.rank());
  Dims sizes = x.dims();
  sizes[dim] = at.dims()[0];
  LoweredTensor y = gatherAlong(c, x, dim, at, sizes, c.dim(dim));
  c.setResult(0, c.reshape(y, dimsOf(c.resultMeta(0))));
  return success();
}

/// Elements of the flat tensor.
static LogicalResult take(LowerCall &c) {
  LoweredTensor at = c.operand(1);
  Dim n = c.meta(0).numel();
  LoweredTensor x = c.reshape(c.operand(0), {n});
  Dims sizes = at.dims();
  if (!hasNoElements(sizes))
    c.checkIndex(at, n * -1, n, n);
  c.setResult(
      0, c.pointwise(at, sizes, x.dtype, [&](ScalarBuilder &s, ValueRange v) {
        return readAt(s, x,
                      wrappedIndex(s, v[0], at.dtype, sizeIndex(c, s, n)));
      }));
  return success();
}

/// gather after broadcasting both, but for the dim.
static LogicalResult takeAlongDim(LowerCall &c) {
  LoweredTensor x = c.operand(0), at = c.operand(1);
  if (c.isNone(2)) {
    x = c.reshape(x, {c.meta(0).numel()});
    at = c.reshape(at, {c.meta(1).numel()});
  }
  unsigned dim = c.isNone(2) ? 0 : c.wrapDim(c.integer(2), x.rank());
  Dims sizes = dimsOf(c.resultMeta(0)), wide = sizes;
  wide[dim] = x.dims()[dim];
  sizes[dim] = at.dims()[dim];
  c.setResult(0, gatherAlong(c, c.expand(x, wide), dim, at, sizes,
                             broadcastIndex(c, at, identity(c, sizes.size()))));
  return success();
}

/// The coordinates of the first `size` elements that are not zero, rows of
/// `fill` after the last. An element goes to the row of its count, less one.
static LogicalResult nonzeroStatic(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  Dims sizes = x.dims(), result = dimsOf(c.resultMeta(0));
  Dim n = c.meta(0).numel();
  int64_t fill = c.integer(2);
  if (n.is(0) || hasNoElements(result)) {
    c.setResult(0, c.filledInt(result, DType::I64, fill));
    return success();
  }
  LoweredTensor flat = c.cast(c.reshape(x, {n}), DType::Bool);
  LoweredTensor count = inclusiveCount(c, flat);
  Updates u;
  u.sizes = {result[0]};
  u.dtype = DType::I64;
  u.start = c.filledInt(u.sizes, DType::I64, -1);
  u.loops = 1;
  u.from = {{UpdatePlace::Index, 0}};
  u.values =
      generate(c, {n}, DType::I64, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        return fromIndex(s, at[0], DType::I64);
      });
  u.indices = {c.pointwise(
      {count, flat}, {n}, DType::I64, [&](ScalarBuilder &s, ValueRange v) {
        Value last = c.sizeIn(s, result[0], DType::I64);
        Value kept = s.mul(v[1], s.cmp(ScalarBuilder::Cmp::Le, v[0], last));
        return s.select(kept, s.sub(v[0], s.one(v[0])),
                        s.constantInt(v[0].getType(), -1));
      })};
  u.skip = -1;
  LoweredTensor place = foldUpdates(c, u);
  c.newGroup();
  c.setResult(
      0, generate(
             c, result, DType::I64, [&](ScalarBuilder &s, ArrayRef<Value> at) {
               Value p = readAt(s, place, at[0]);
               Value d = fromIndex(s, at[1], DType::I64);
               Value coordinate = s.zero(p);
               // Divided by the sizes from the last on.
               Value rest = p;
               for (size_t dim = sizes.size(); dim-- > 0;) {
                 Value size =
                     s.maximum(c.sizeIn(s, sizes[dim], DType::I64), s.one(p));
                 Value whole = s.div(rest, size);
                 Value r = s.sub(rest, s.mul(whole, size));
                 Value here = s.cmp(ScalarBuilder::Cmp::Eq, d,
                                    s.constantInt(d.getType(), dim));
                 coordinate = s.select(here, r, coordinate);
                 rest = whole;
               }
               Value none = s.cmp(ScalarBuilder::Cmp::Lt, p, s.zero(p));
               return s.select(none, s.constantInt(p.getType(), fill),
                               coordinate);
             }));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"index.Tensor", index, Numbers::Constant, ResultSizes::Found,
     Shapes::Symbolic},
    {"index.Tensor_hacked_twin", index, Numbers::Constant, ResultSizes::Found,
     Shapes::Symbolic},
    anyShape("_unsafe_index.Tensor", index),
    anyShape("_unsafe_index.Tensor_hacked_twin", index),
    anyShape("_unsafe_masked_index.default", maskedIndex),
    anyShape("gather.default", gather),
    anyShape("index_select.default", indexSelect),
    anyShape("take.default", take),
    anyShape("take_along_dim.default", takeAlongDim),
    anyShape("nonzero_static.default", nonzeroStatic),
};

ArrayRef<LowerRuleRow> indexingLowerRules() { return kRows; }

} // namespace ft
