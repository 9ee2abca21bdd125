//===- View.cpp - Lowering of views ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functional graphs know no storage: a view is a value, and so is its copying
// form (`permute_copy`), which shares the rule. Reshapes, permutations and
// slices cost nothing where memory allows it; the others are gathers with
// affine indices.

#include "compiler/lower/Assemble.h"
#include "compiler/lower/Gather.h"
#include "compiler/lower/OrderedReshape.h"
#include "compiler/lower/Rules.h"
#include "compiler/shape/Positions.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace ft {

using Order = SmallVector<unsigned, 6>;

static LogicalResult same(LowerCall &c) {
  c.setResult(0, c.operand(0));
  return success();
}

/// Any view that keeps the elements in their logical order.
static LogicalResult reshaped(LowerCall &c) {
  c.setResult(0, orderedReshape(c, c.operand(0), dimsOf(c.resultMeta(0))));
  return success();
}

static LogicalResult expanded(LowerCall &c) {
  c.setResult(0, c.expand(c.operand(0), dimsOf(c.resultMeta(0))));
  return success();
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

static LogicalResult permuted(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Order dims;
  for (int64_t d : c.integers(1))
    dims.push_back(c.wrapDim(d, t.rank()));
  c.setResult(0, c.permute(t, dims));
  return success();
}

static LogicalResult swapped(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Order dims = identityOrder(t.rank());
  if (t.rank())
    std::swap(dims[c.wrapDim(c.integer(1), t.rank())],
              dims[c.wrapDim(c.integer(2), t.rank())]);
  c.setResult(0, c.permute(t, dims));
  return success();
}

/// The last two dims of a matrix (or a batch of them); `t` leaves vectors.
static LogicalResult transposedMatrix(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Order dims = identityOrder(t.rank());
  if (t.rank() >= 2)
    std::swap(dims[t.rank() - 1], dims[t.rank() - 2]);
  c.setResult(0, c.permute(t, dims));
  return success();
}

static LogicalResult reversedDims(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Order dims = identityOrder(t.rank());
  std::reverse(dims.begin(), dims.end());
  c.setResult(0, c.permute(t, dims));
  return success();
}

/// Each source dim goes to its destination; the others fill the gaps in order.
static LogicalResult moved(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  auto listOf = [&](unsigned arg) {
    Order list;
    if (c.call().args[arg].kind == Arg::List)
      for (int64_t d : c.integers(arg))
        list.push_back(c.wrapDim(d, t.rank()));
    else
      list.push_back(c.wrapDim(c.integer(arg), t.rank()));
    return list;
  };
  Order from = listOf(1), to = listOf(2);
  SmallVector<int, 6> dims(t.rank(), -1);
  for (auto [f, d] : llvm::zip(from, to))
    dims[d] = static_cast<int>(f);
  unsigned next = 0;
  Order result;
  for (int d : dims) {
    while (d < 0 && llvm::is_contained(from, next))
      ++next;
    result.push_back(d < 0 ? next++ : static_cast<unsigned>(d));
  }
  c.setResult(0, c.permute(t, result));
  return success();
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Where a slice starts.
static Dim startOf(LowerCall &c, unsigned arg, Dim n) {
  return c.isNone(arg) ? Dim(0) : clampedPosition(c.dimArg(arg), n);
}

static LogicalResult sliced(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  unsigned dim = c.wrapDim(c.integer(1), t.rank());
  Dim start = startOf(c, 2, t.dims()[dim]);
  int64_t step = c.integer(4);
  c.setResult(0, c.slice(t, dim, start, dimsOf(c.resultMeta(0))[dim], step));
  return success();
}

static LoweredTensor selectAt(LowerCall &c, LoweredTensor t, unsigned dim,
                              Dim at) {
  Dims sizes = t.dims();
  t = c.slice(t, dim, at, 1);
  sizes.erase(sizes.begin() + dim);
  return orderedReshape(c, t, sizes);
}

static LogicalResult selected(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  unsigned dim = c.wrapDim(c.integer(1), t.rank());
  Dim at = c.dimArg(2);
  if (at.isStatic() && ShapedType::isDynamic(at.value()))
    return c.unsupported("an index that is only known at run time");
  c.setResult(0, selectAt(c, t, dim, positionOf(at, t.dims()[dim])));
  return success();
}

static LogicalResult narrowed(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  unsigned dim = c.wrapDim(c.integer(1), t.rank());
  c.setResult(0, c.slice(t, dim, startOf(c, 2, t.dims()[dim]),
                         dimsOf(c.resultMeta(0))[dim]));
  return success();
}

/// The elements of a row-major tensor in another shape: the first ones, or 0
/// where there are no more (PyTorch leaves those as they come).
static LogicalResult resized(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  int format = c.call().schema->argIndex("memory_format");
  if (!isContiguous(c.meta(0)) || !isContiguous(meta) ||
      (format >= 0 && !c.isNone(static_cast<unsigned>(format)) &&
       c.call().args[static_cast<unsigned>(format)].str == "channels_last"))
    return c.unsupported("resizing tensors that are not row-major");
  int64_t have = c.meta(0).numel().value(), want = meta.numel().value();
  LoweredTensor flat = c.reshape(c.operand(0), {have});
  if (want < have)
    flat = c.slice(flat, 0, 0, want);
  else if (want > have)
    flat = c.pad(flat, 0, want - have, 0);
  c.setResult(0, c.reshape(flat, staticSizes(meta)));
  return success();
}

static LogicalResult setToSource(LowerCall &c) {
  c.setResult(0, c.operand(1));
  return success();
}

static LogicalResult setToNothing(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.filled(staticSizes(meta), meta.dtype, 0));
  return success();
}

/// (flat, tensors): the elements of a vector in the shapes of the tensors.
static LogicalResult unflattened(LowerCall &c) {
  LoweredTensor flat = c.operand(0);
  int64_t start = 0;
  for (unsigned r = 0; r < c.numResults(); ++r) {
    const TensorMeta &meta = c.resultMeta(r);
    int64_t count = meta.numel().value();
    c.setResult(r,
                c.reshape(c.slice(flat, 0, start, count), staticSizes(meta)));
    start += count;
  }
  return success();
}

/// Consecutive pieces along a dim, as long as the results say.
static LogicalResult pieces(LowerCall &c, unsigned dim) {
  LoweredTensor t = c.operand(0);
  Dim start = 0;
  for (unsigned r = 0; r < c.numResults(); ++r) {
    Dim size = dimsOf(c.resultMeta(r))[dim];
    c.setResult(r, c.slice(t, dim, start, size));
    start = start + size;
  }
  return success();
}

static LogicalResult split(LowerCall &c) {
  return pieces(c, c.wrapDim(c.integer(2), c.operand(0).rank()));
}

/// Cut before each index; indices may fall back, then pieces are empty.
static LogicalResult splitAt(LowerCall &c, unsigned dim,
                             ArrayRef<Dim> indices) {
  LoweredTensor t = c.operand(0);
  Dim n = t.dims()[dim];
  for (unsigned r = 0; r < c.numResults(); ++r) {
    Dim start = r == 0 ? Dim(0) : clampedPosition(indices[r - 1], n);
    c.setResult(r, c.slice(t, dim, start, dimsOf(c.resultMeta(r))[dim]));
  }
  return success();
}

static LogicalResult tensorSplitIndices(LowerCall &c) {
  return splitAt(c, c.wrapDim(c.integer(2), c.operand(0).rank()), c.dimsArg(1));
}

template <bool kIndices>
static LogicalResult hsplit(LowerCall &c) {
  unsigned dim = c.operand(0).rank() > 1 ? 1 : 0;
  return kIndices ? splitAt(c, dim, c.dimsArg(1)) : pieces(c, dim);
}
template <bool kIndices, unsigned kDim>
static LogicalResult splitDim(LowerCall &c) {
  return kIndices ? splitAt(c, kDim, c.dimsArg(1)) : pieces(c, kDim);
}

static LogicalResult unbound(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  unsigned dim = c.wrapDim(c.integer(1), t.rank());
  for (unsigned r = 0; r < c.numResults(); ++r)
    c.setResult(r, selectAt(c, t, dim, r));
  return success();
}

//===----------------------------------------------------------------------===//
// Affine gathers
//===----------------------------------------------------------------------===//

static LogicalResult diagonalOf(LowerCall &c, int64_t offset, unsigned dim1,
                                unsigned dim2) {
  LoweredTensor t = c.operand(0);
  Dims sizes = dimsOf(c.resultMeta(0));
  auto last = static_cast<unsigned>(sizes.size()) - 1;
  SmallVector<AffineExpr, 6> index;
  unsigned next = 0;
  for (unsigned d = 0; d < t.rank(); ++d) {
    if (d == dim1)
      index.push_back(c.dim(last) + std::max<int64_t>(-offset, 0));
    else if (d == dim2)
      index.push_back(c.dim(last) + std::max<int64_t>(offset, 0));
    else
      index.push_back(c.dim(next++));
  }
  c.setResult(0, gatherAffine(c, t, index, sizes));
  return success();
}

static LogicalResult diagonal(LowerCall &c) {
  unsigned rank = c.operand(0).rank();
  return diagonalOf(c, c.integer(1), c.wrapDim(c.integer(2), rank),
                    c.wrapDim(c.integer(3), rank));
}

static LogicalResult unfolded(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  unsigned dim = c.wrapDim(c.integer(1), t.rank());
  Dims sizes = dimsOf(c.resultMeta(0));
  auto last = static_cast<unsigned>(sizes.size()) - 1;
  SmallVector<AffineExpr, 6> index;
  for (unsigned d = 0; d < t.rank(); ++d)
    index.push_back(d == dim ? c.dim(d) * c.integer(3) + c.dim(last)
                             : c.dim(d));
  if (t.rank() == 0) { // one element, seen as a vector
    t = c.reshape(t, {1});
    index.push_back(c.dim(last));
  }
  c.setResult(0, gatherAffine(c, t, index, sizes));
  return success();
}

/// The operand as a vector in the order of its memory, if it fills its memory
/// without gaps.
static std::optional<LoweredTensor> memoryOf(LowerCall &c) {
  const TensorMeta &meta = c.meta(0);
  // From the dim that varies fastest on; dims of one element lie anywhere.
  Order dims, left;
  for (unsigned d = 0; d < static_cast<unsigned>(meta.rank()); ++d)
    (meta.sizes[d].is(1) ? dims : left).push_back(d);
  Dim expected = 1;
  while (!left.empty()) {
    auto *next = llvm::find_if(
        left, [&](unsigned d) { return meta.strides[d] == expected; });
    if (next == left.end())
      return std::nullopt;
    expected = expected * meta.sizes[*next];
    dims.push_back(*next);
    left.erase(next);
  }
  std::reverse(dims.begin(), dims.end());
  return c.reshape(c.permute(c.operand(0), dims), {meta.numel()});
}

namespace {
/// The first and the last element that are read, of how many.
struct Extent {
  Dim lowest, highest, count;
};
} // namespace

/// as_strided with numbers of the run; that it stays within its operand is
/// checked before anything is read. A result without elements reads
/// nothing.
static LogicalResult stridedInRun(LowerCall &c, LoweredTensor memory, Dim start,
                                  const Extent &extent) {
  Dims sizes = c.dimsArg(1), strides = c.dimsArg(2);
  LoweredTensor fits =
      generate(c, {}, DType::Bool, [&](ScalarBuilder &s, ArrayRef<Value>) {
        using Cmp = ScalarBuilder::Cmp;
        Value low = c.sizeIn(s, extent.lowest, DType::I64);
        Value high = c.sizeIn(s, extent.highest, DType::I64);
        Value inside =
            s.mul(s.cmp(Cmp::Ge, low, s.zero(low)),
                  s.cmp(Cmp::Lt, high, c.sizeIn(s, extent.count, DType::I64)));
        Value elements = c.sizeIn(s, product(sizes), DType::I64);
        Value none = s.cmp(Cmp::Eq, elements, s.zero(elements));
        return arith::OrIOp::create(s.b, s.loc, none, inside);
      });
  c.checkValue(fits, "it reaches beyond the elements of its operand");
  c.setResult(0, generate(c, sizes, memory.dtype,
                          [&](ScalarBuilder &s, ArrayRef<Value> at) {
                            Value place = sizeIndex(c, s, start);
                            for (auto [i, stride] : llvm::zip(at, strides))
                              place = s.add(place,
                                            s.mul(i, sizeIndex(c, s, stride)));
                            return readAt(s, memory, place);
                          }));
  return success();
}

static LogicalResult asStrided(LowerCall &c) {
  Dims sizes = c.dimsArg(1), strides = c.dimsArg(2);
  if (hasNoElements(sizes)) {
    c.setResult(0, c.empty(sizes, c.resultMeta(0).dtype));
    return success();
  }
  std::optional<LoweredTensor> memory = memoryOf(c);
  if (!memory)
    return c.unsupported("strides into a tensor with gaps in its memory");
  // Offsets are those of the storage, which the value may not start.
  bool here = c.call().args.size() < 4 || c.isNone(3);
  Dim start = here ? Dim(0) : c.dimArg(3) - c.meta(0).offset;
  Dim lowest = start, highest = start;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    bool back = stride.isStatic() && stride.value() < 0;
    Dim &end = back ? lowest : highest;
    end = end + stride * (size - 1);
  }
  Dim count = c.meta(0).numel();
  bool isAffine = start.isStatic() &&
                  llvm::all_of(strides, [](Dim d) { return d.isStatic(); });
  if (!isAffine || !highest.isStatic() || !count.isStatic())
    return stridedInRun(c, *memory, start, {lowest, highest, count});
  if (lowest.value() < 0 || highest.value() >= count.value())
    return c.unsupported("as_strided reaches beyond the elements of its "
                         "operand");
  AffineExpr at = c.constant(start.value());
  for (auto [d, stride] : llvm::enumerate(strides))
    at = at + c.dim(static_cast<unsigned>(d)) * stride.value();
  c.setResult(0, gatherAffine(c, *memory, at, sizes));
  return success();
}

/// (self, size, stride), which names a layout as as_strided does; of reshape it
/// is that of the same elements.
static LogicalResult reshapeAlias(LowerCall &c) {
  TensorMeta laid = c.meta(0);
  Dims sizes = c.dimsArg(1), strides = c.dimsArg(2);
  laid.sizes.assign(sizes.begin(), sizes.end());
  laid.strides.assign(strides.begin(), strides.end());
  bool same = isContiguous(c.meta(0)) && isContiguous(laid) &&
              laid.numel() == c.meta(0).numel();
  return same ? reshaped(c) : asStrided(c);
}

//===----------------------------------------------------------------------===//
// Rearrangements of images
//===----------------------------------------------------------------------===//

/// Splits the last three dims (channels, rows, columns) into five, brings these
/// into `order` and joins them to the result's sizes.
static LogicalResult rearranged(LowerCall &c, ArrayRef<Dim> split,
                                ArrayRef<unsigned> order) {
  LoweredTensor t = c.operand(0);
  Dims sizes = t.dims();
  unsigned lead = t.rank() - 3;
  sizes.truncate(lead);
  sizes.append(split.begin(), split.end());
  Order dims = identityOrder(lead);
  for (unsigned d : order)
    dims.push_back(lead + d);
  t = c.permute(orderedReshape(c, t, sizes), dims);
  c.setResult(0, orderedReshape(c, t, dimsOf(c.resultMeta(0))));
  return success();
}

/// [.., C r², H, W] → [.., C, H r, W r].
static LogicalResult pixelShuffle(LowerCall &c) {
  int64_t r = c.integer(1);
  Dims sizes = c.operand(0).dims();
  ArrayRef<Dim> image = ArrayRef<Dim>(sizes).take_back(3);
  Dims split = {floorDiv(image[0], r * r), r, r, image[1], image[2]};
  return rearranged(c, split, {0, 3, 1, 4, 2});
}

static LogicalResult pixelUnshuffle(LowerCall &c) {
  int64_t r = c.integer(1);
  Dims sizes = c.operand(0).dims();
  ArrayRef<Dim> image = ArrayRef<Dim>(sizes).take_back(3);
  Dims split = {image[0], floorDiv(image[1], r), r, floorDiv(image[2], r), r};
  return rearranged(c, split, {0, 2, 4, 1, 3});
}

static LogicalResult channelShuffle(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  int64_t groups = c.integer(1);
  Dims sizes = t.dims(), wide(sizes);
  wide[1] = groups;
  wide.insert(wide.begin() + 2, floorDiv(sizes[1], groups));
  Order dims = identityOrder(t.rank() + 1);
  std::swap(dims[1], dims[2]);
  t = c.permute(orderedReshape(c, t, wide), dims);
  c.setResult(0, orderedReshape(c, t, sizes));
  return success();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static LogicalResult broadcastTensors(LowerCall &c) {
  for (auto [r, v] : llvm::enumerate(c.call().tensors(0)))
    c.setResult(r, c.expand(c.operandOf(v), dimsOf(c.resultMeta(r))));
  return success();
}

static LogicalResult reshapedList(LowerCall &c) {
  for (auto [r, v] : llvm::enumerate(c.call().tensors(0)))
    c.setResult(r, orderedReshape(c, c.operandOf(v), dimsOf(c.resultMeta(r))));
  return success();
}

static LogicalResult meshgrid(LowerCall &c) {
  bool xy = c.call().args.size() > 1 && c.call().args[1].str == "xy";
  SmallVector<Value, 4> tensors = c.call().tensors(0);
  for (auto [r, v] : llvm::enumerate(tensors)) {
    Dims sizes = dimsOf(c.resultMeta(r));
    size_t dim = xy && r < 2 && tensors.size() > 1 ? 1 - r : r;
    Dims line(sizes.size(), Dim(1));
    line[dim] = sizes[dim];
    c.setResult(r, c.expand(c.reshape(c.operandOf(v), line), sizes));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Parts of complex numbers, and bits
//===----------------------------------------------------------------------===//

template <typename PartOp>
static LogicalResult part(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  if (!isComplex(t.dtype))
    return same(c);
  c.setResult(0, c.pointwise(t, c.resultMeta(0),
                             [](ScalarBuilder &s, ValueRange v) -> Value {
                               return PartOp::create(s.b, s.loc, v[0]);
                             }));
  return success();
}

static LogicalResult conjugated(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  if (isComplex(t.dtype))
    t = c.pointwise(t, t.dims(), t.dtype,
                    [](ScalarBuilder &s, ValueRange v) -> Value {
                      return complex::ConjOp::create(s.b, s.loc, v[0]);
                    });
  c.setResult(0, t);
  return success();
}

static LogicalResult negated(LowerCall &c) {
  c.setResult(0, c.pointwise(c.operand(0), c.resultMeta(0),
                             [](ScalarBuilder &s, ValueRange v) {
                               return s.neg(v[0]);
                             }));
  return success();
}

/// The conjugate transpose.
static LogicalResult adjoint(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Order dims = identityOrder(t.rank());
  if (t.rank() >= 2)
    std::swap(dims[t.rank() - 1], dims[t.rank() - 2]);
  t = c.permute(t, dims);
  if (isComplex(t.dtype))
    t = c.pointwise(t, t.dims(), t.dtype,
                    [](ScalarBuilder &s, ValueRange v) -> Value {
                      return complex::ConjOp::create(s.b, s.loc, v[0]);
                    });
  c.setResult(0, t);
  return success();
}

static LogicalResult viewAsComplex(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  unsigned last = t.rank() - 1;
  Dims sizes = dimsOf(c.resultMeta(0));
  LoweredTensor re = orderedReshape(c, c.slice(t, last, 0, 1), sizes);
  LoweredTensor im = orderedReshape(c, c.slice(t, last, 1, 1), sizes);
  c.setResult(0, c.pointwise({re, im}, c.resultMeta(0),
                             [](ScalarBuilder &s, ValueRange v) -> Value {
                               return complex::CreateOp::create(
                                   s.b, s.loc, ComplexType::get(v[0].getType()),
                                   v[0], v[1]);
                             }));
  return success();
}

static LogicalResult viewAsReal(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Dims sizes = dimsOf(c.resultMeta(0));
  Dims wide = t.dims();
  wide.push_back(1);
  t = orderedReshape(c, t, wide);
  SmallVector<AffineExpr, 6> in, out;
  auto rank = static_cast<unsigned>(sizes.size());
  for (unsigned d = 0; d < rank; ++d) {
    in.push_back(d + 1 == rank ? c.constant(0) : c.dim(d));
    out.push_back(c.dim(d));
  }
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  c.setResult(0, c.generic(Access{t, in},
                           Access{c.empty(sizes, c.resultMeta(0).dtype), out},
                           iterators, [&](ScalarBuilder &s, ValueRange v) {
                             Value at = iterationIndex(s, rank - 1);
                             Value first =
                                 s.cmp(ScalarBuilder::Cmp::Eq, at,
                                       s.constantInt(at.getType(), 0));
                             Value re = complex::ReOp::create(s.b, s.loc, v[0]);
                             Value im = complex::ImOp::create(s.b, s.loc, v[0]);
                             return SmallVector<Value>{s.select(first, re, im)};
                           })[0]);
  return success();
}

/// The same bits as another dtype of the same width.
static LogicalResult viewDType(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  DType to = c.resultMeta(0).dtype;
  if (t.dtype == to)
    return same(c);
  if (dtypeBytes(t.dtype) != dtypeBytes(to))
    return c.unsupported("a view as a dtype of another width");
  if (isComplex(t.dtype) || isComplex(to))
    return c.unsupported("a view of complex numbers as other numbers");
  // A byte is true if it is not 0.
  if (t.dtype == DType::Bool || to == DType::Bool) {
    if (!isIntegral(t.dtype) || !isIntegral(to))
      return c.unsupported("a view of truth values as 8-bit floats");
    c.setResult(0, c.cast(t, to));
    return success();
  }
  c.setResult(0, c.pointwise(t, c.resultMeta(0),
                             [&](ScalarBuilder &s, ValueRange v) -> Value {
                               Type type = computeType(c.context(), to);
                               if (v[0].getType() == type)
                                 return v[0];
                               return arith::BitcastOp::create(s.b, s.loc, type,
                                                               v[0]);
                             }));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("alias.default", same),
    anyShape("alias_copy.default", same),
    anyShape("detach.default", same),
    anyShape("detach_copy.default", same),
    anyShape("lift.default", same),
    anyShape("lift_fresh.default", same),
    anyShape("positive.default", same),
    anyShape("resolve_conj.default", same),
    anyShape("resolve_neg.default", same),

    anyShape("view.default", reshaped),
    anyShape("view_copy.default", reshaped),
    anyShape("view_as.default", reshaped),
    anyShape("_unsafe_view.default", reshaped),
    anyShape("reshape.default", reshaped),
    anyShape("reshape_as.default", reshaped),
    anyShape("_reshape_alias.default", reshapeAlias),
    anyShape("_reshape_alias_copy.default", reshapeAlias),
    anyShape("_reshape_copy.default", reshaped),
    anyShape("flatten.using_ints", reshaped),
    anyShape("unflatten.int", reshaped),
    anyShape("ravel.default", reshaped),
    anyShape("unsqueeze.default", reshaped),
    anyShape("unsqueeze_copy.default", reshaped),
    anyShape("squeeze.default", reshaped),
    anyShape("squeeze.dim", reshaped),
    anyShape("squeeze.dims", reshaped),
    anyShape("squeeze_copy.default", reshaped),
    anyShape("squeeze_copy.dim", reshaped),
    anyShape("squeeze_copy.dims", reshaped),
    anyShape("atleast_1d.default", reshaped),
    anyShape("atleast_2d.default", reshaped),
    anyShape("atleast_3d.default", reshaped),
    anyShape("atleast_1d.Sequence", reshapedList),
    anyShape("atleast_2d.Sequence", reshapedList),
    anyShape("atleast_3d.Sequence", reshapedList),

    anyShape("expand.default", expanded),
    anyShape("expand_copy.default", expanded),
    anyShape("expand_as.default", expanded),
    anyShape("broadcast_to.default", expanded),
    anyShape("broadcast_tensors.default", broadcastTensors),
    anyShape("meshgrid.default", meshgrid),
    anyShape("meshgrid.indexing", meshgrid),

    anyShape("permute.default", permuted),
    anyShape("permute_copy.default", permuted),
    anyShape("transpose.int", swapped),
    anyShape("transpose_copy.int", swapped),
    anyShape("swapaxes.default", swapped),
    anyShape("swapdims.default", swapped),
    anyShape("t.default", transposedMatrix),
    anyShape("t_copy.default", transposedMatrix),
    anyShape("mT.default", transposedMatrix),
    anyShape("mT.a", transposedMatrix),
    anyShape("mH.default", adjoint),
    anyShape("mH.a", adjoint),
    anyShape("adjoint.default", adjoint),
    anyShape("matrix_H.default", adjoint),
    anyShape("numpy_T.default", reversedDims),
    anyShape("numpy_T.a", reversedDims),
    anyShape("movedim.int", moved),
    anyShape("movedim.intlist", moved),
    anyShape("moveaxis.int", moved),
    anyShape("moveaxis.intlist", moved),

    anyShape("slice.Tensor", sliced),
    anyShape("slice_copy.Tensor", sliced),
    anyShape("select.int", selected),
    anyShape("select_copy.int", selected),
    anyShape("narrow.default", narrowed),
    {"resize.default", resized},
    {"resize_as.default", resized},
    {"set.default", setToNothing},
    {"set.source_Tensor", setToSource},
    {"unflatten_dense_tensors.default", unflattened},
    anyShape("narrow_copy.default", narrowed),
    anyShape("split.Tensor", split),
    anyShape("split_copy.Tensor", split),
    anyShape("split.default", split),
    anyShape("split.sizes", split),
    anyShape("split_with_sizes.default", split),
    anyShape("split_with_sizes_copy.default", split),
    anyShape("unsafe_split.Tensor", split),
    anyShape("unsafe_split_with_sizes.default", split),
    anyShape("chunk.default", split),
    anyShape("unsafe_chunk.default", split),
    anyShape("tensor_split.sections", split),
    anyShape("tensor_split.indices", tensorSplitIndices),
    anyShape("hsplit.int", hsplit<false>),
    anyShape("hsplit.array", hsplit<true>),
    anyShape("vsplit.int", splitDim<false, 0>),
    anyShape("vsplit.array", splitDim<true, 0>),
    anyShape("dsplit.int", splitDim<false, 2>),
    anyShape("dsplit.array", splitDim<true, 2>),
    anyShape("unbind.int", unbound),
    anyShape("unbind_copy.int", unbound),

    anyShape("diagonal.default", diagonal),
    anyShape("diagonal_copy.default", diagonal),
    anyShape("linalg_diagonal.default", diagonal),
    anyShape("unfold.default", unfolded),
    anyShape("unfold_copy.default", unfolded),
    anyShape("as_strided.default", asStrided),
    anyShape("as_strided_copy.default", asStrided),
    anyShape("pixel_shuffle.default", pixelShuffle),
    anyShape("pixel_unshuffle.default", pixelUnshuffle),
    anyShape("channel_shuffle.default", channelShuffle),
    anyShape("native_channel_shuffle.default", channelShuffle),

    anyShape("real.default", part<complex::ReOp>),
    anyShape("imag.default", part<complex::ImOp>),
    anyShape("conj.default", conjugated),
    anyShape("_conj.default", conjugated),
    anyShape("_conj_copy.default", conjugated),
    anyShape("_neg_view.default", negated),
    anyShape("_neg_view_copy.default", negated),
    anyShape("view_as_complex.default", viewAsComplex),
    anyShape("view_as_complex_copy.default", viewAsComplex),
    anyShape("view_as_real.default", viewAsReal),
    anyShape("view_as_real_copy.default", viewAsReal),
    anyShape("view.dtype", viewDType),
    anyShape("view_copy.dtype", viewDType),
};

ArrayRef<LowerRuleRow> viewLowerRules() { return kRows; }

} // namespace ft
