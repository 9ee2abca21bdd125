//===- Cat.cpp - Lowering of concatenation and rearrangement --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Assemble.h"
#include "compiler/lower/Gather.h"
#include "compiler/lower/OrderedReshape.h"
#include "compiler/lower/Rules.h"
#include "compiler/shape/Positions.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;

namespace ft {

using Sizes = Dims;

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

/// The tensors of a list in the result's dtype.
static SmallVector<LoweredTensor> listOf(LowerCall &c, unsigned arg = 0) {
  SmallVector<LoweredTensor> list;
  for (Value v : c.call().tensors(arg))
    list.push_back(c.cast(c.operandOf(v), c.resultMeta(0).dtype));
  return list;
}

static LogicalResult catAlong(LowerCall &c, ArrayRef<LoweredTensor> list,
                              int64_t dim) {
  auto rank = static_cast<unsigned>(c.resultMeta(0).rank());
  SmallVector<LoweredTensor> pieces;
  // Empty vectors go with every shape, for old programs' sake.
  for (const LoweredTensor &t : list)
    if (t.rank() == rank && !hasNoElements(t.dims()))
      pieces.push_back(t);
  if (pieces.empty())
    c.setResult(0, c.empty(dimsOf(c.resultMeta(0)), c.resultMeta(0).dtype));
  else
    c.setResult(0, concatenate(c, pieces, c.wrapDim(dim, rank)));
  return success();
}

static LogicalResult cat(LowerCall &c) {
  return catAlong(c, listOf(c), c.integer(1));
}

static LogicalResult stack(LowerCall &c) {
  auto rank = static_cast<unsigned>(c.resultMeta(0).rank());
  unsigned dim = c.wrapDim(c.integer(1), rank);
  SmallVector<LoweredTensor> list = listOf(c);
  for (LoweredTensor &t : list) {
    Dims sizes = t.dims();
    sizes.insert(sizes.begin() + dim, Dim(1));
    t = orderedReshape(c, t, sizes);
  }
  return catAlong(c, list, dim);
}

/// Tensors made at least `rank`-dimensional, ones in front.
static SmallVector<LoweredTensor> atLeast(LowerCall &c, size_t rank) {
  SmallVector<LoweredTensor> list = listOf(c);
  for (LoweredTensor &t : list) {
    Sizes sizes = t.dims();
    while (sizes.size() < rank)
      sizes.insert(sizes.begin(), 1);
    t = orderedReshape(c, t, sizes);
  }
  return list;
}

static LogicalResult hstack(LowerCall &c) {
  return catAlong(c, atLeast(c, 1), c.resultMeta(0).rank() == 1 ? 0 : 1);
}
static LogicalResult vstack(LowerCall &c) {
  return catAlong(c, atLeast(c, 2), 0);
}

/// Vectors become [1, n, 1], matrices [m, n, 1].
static LogicalResult dstack(LowerCall &c) {
  SmallVector<LoweredTensor> list = listOf(c);
  for (LoweredTensor &t : list) {
    Sizes sizes = t.dims();
    if (sizes.empty())
      sizes.push_back(1);
    if (sizes.size() == 1)
      sizes.insert(sizes.begin(), 1);
    if (sizes.size() == 2)
      sizes.push_back(1);
    t = orderedReshape(c, t, sizes);
  }
  return catAlong(c, list, 2);
}

static LogicalResult columnStack(LowerCall &c) {
  SmallVector<LoweredTensor> list = listOf(c);
  for (LoweredTensor &t : list)
    if (t.rank() <= 1)
      t = c.reshape(t, {t.rank() ? t.dims()[0] : Dim(1), Dim(1)});
  return catAlong(c, list, 1);
}

static LogicalResult blockDiag(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  LoweredTensor whole = c.filled(dimsOf(meta), meta.dtype, 0);
  Dim row = 0, column = 0;
  for (LoweredTensor t : listOf(c)) {
    Sizes sizes = t.dims();
    while (sizes.size() < 2)
      sizes.insert(sizes.begin(), 1);
    whole = insert(c, whole, c.reshape(t, sizes), {row, column}, {1, 1});
    row = row + sizes[0];
    column = column + sizes[1];
  }
  c.setResult(0, whole);
  return success();
}

/// Every tensor is cut into `chunks` (padded with zeros to a multiple) from
/// `dim` on, flattened, and the chunks of all tensors stand side by side.
static LogicalResult chunkCat(LowerCall &c) {
  SmallVector<LoweredTensor> pieces;
  int64_t chunks = c.integer(2);
  for (LoweredTensor t : listOf(c)) {
    unsigned dim = c.wrapDim(c.integer(1), t.rank());
    Sizes sizes = t.dims(), low(sizes.size(), 0), high(sizes.size(), 0);
    high[dim] = ceilDiv(sizes[dim], chunks) * Dim(chunks) - sizes[dim];
    t = c.pad(t, low, high, 0);
    Sizes flat(sizes.begin(), sizes.begin() + dim);
    Dim rest = ceilDiv(sizes[dim], chunks);
    for (size_t d = dim + 1; d < sizes.size(); ++d)
      rest = rest * sizes[d];
    flat.append({Dim(chunks), rest});
    pieces.push_back(c.reshape(t, flat));
  }
  return catAlong(c, pieces, c.resultMeta(0).rank() - 1);
}

//===----------------------------------------------------------------------===//
// Repetition, reversal, rotation
//===----------------------------------------------------------------------===//

/// Element d of the result is element d mod n of the operand, dims aligned at
/// the end.
static LogicalResult repeated(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Sizes own = t.dims(), sizes = dimsOf(c.resultMeta(0));
  size_t lead = sizes.size() - own.size();
  SmallVector<AffineExpr, 6> index;
  bool isAffine = true;
  for (size_t d = 0; d < own.size(); ++d) {
    AffineExpr at = c.dim(static_cast<unsigned>(lead + d));
    if (own[d].is(1))
      at = c.constant(0);
    else if (own[d] != sizes[lead + d] && own[d].isStatic())
      at = at % std::max<int64_t>(own[d].value(), 1);
    else
      isAffine &= own[d] == sizes[lead + d];
    index.push_back(at);
  }
  if (isAffine) {
    c.setResult(0, gatherAffine(c, t, index, sizes));
    return success();
  }
  c.setResult(
      0, generate(c, sizes, t.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        SmallVector<Value> from(at.drop_front(lead));
        for (auto [d, i] : llvm::enumerate(from)) {
          if (own[d] == sizes[lead + d])
            continue;
          Value size = sizeIndex(c, s, own[d]);
          i = own[d].is(1)
                  ? s.zero(i)
                  : arith::RemUIOp::create(s.b, s.loc, i, size).getResult();
        }
        return readAt(s, t, from);
      }));
  return success();
}

static LogicalResult repeatInterleave(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Dims sizes = dimsOf(c.resultMeta(0));
  if (c.isNone(2))
    t = c.reshape(t, {c.meta(0).numel()});
  unsigned dim = c.isNone(2) ? 0 : c.wrapDim(c.integer(2), t.rank());
  SmallVector<AffineExpr, 6> index;
  for (unsigned d = 0; d < t.rank(); ++d)
    index.push_back(d == dim && c.integer(1) > 1
                        ? c.dim(d).floorDiv(c.integer(1))
                        : c.dim(d));
  c.setResult(0, gatherAffine(c, t, index, sizes));
  return success();
}

static LoweredTensor flipDims(LowerCall &c, LoweredTensor t,
                              ArrayRef<unsigned> dims) {
  Dims sizes = t.dims();
  SmallVector<AffineExpr, 6> index;
  bool affine = llvm::all_of(dims, [&](unsigned d) {
    return d >= sizes.size() || sizes[d].isStatic();
  });
  if (!affine)
    return generate(c, sizes, t.dtype,
                    [&](ScalarBuilder &s, ArrayRef<Value> at) {
                      SmallVector<Value> from(at);
                      for (unsigned d : dims) {
                        Value last = s.sub(c.sizeValue(sizes[d]), s.one(at[d]));
                        from[d] = s.sub(last, at[d]);
                      }
                      return readAt(s, t, from);
                    });
  for (unsigned d = 0; d < t.rank(); ++d)
    index.push_back(llvm::is_contained(dims, d) && !sizes[d].is(1) &&
                            !sizes[d].is(0)
                        ? c.constant(sizes[d].value() - 1) - c.dim(d)
                        : c.dim(d));
  return gatherAffine(c, t, index, sizes);
}

static LogicalResult flip(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  SmallVector<unsigned> dims;
  for (int64_t d : c.integers(1))
    dims.push_back(c.wrapDim(d, t.rank()));
  c.setResult(0, flipDims(c, t, dims));
  return success();
}

template <unsigned kDim>
static LogicalResult flipOne(LowerCall &c) {
  c.setResult(0, flipDims(c, c.operand(0), {kDim}));
  return success();
}

static LogicalResult rot90(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  SmallVector<int64_t, 6> plane = c.integers(2);
  unsigned a = c.wrapDim(plane[0], t.rank()), b = c.wrapDim(plane[1], t.rank());
  int64_t turns = ((c.integer(1) % 4) + 4) % 4;
  SmallVector<unsigned> swapped(t.rank());
  std::iota(swapped.begin(), swapped.end(), 0U);
  std::swap(swapped[a], swapped[b]);
  if (turns == 1)
    t = c.permute(flipDims(c, t, {b}), swapped);
  else if (turns == 2)
    t = flipDims(c, t, {a, b});
  else if (turns == 3)
    t = c.permute(flipDims(c, t, {a}), swapped);
  c.setResult(0, t);
  return success();
}

/// Two slices change places along each dim; without dims, in the flat tensor.
static LogicalResult roll(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Dims shifts = c.dimsArg(1), sizes = t.dims();
  SmallVector<int64_t, 6> dims = c.integers(2);
  if (hasNoElements(sizes)) {
    c.setResult(0, t);
    return success();
  }
  if (dims.empty()) {
    t = c.reshape(t, {c.meta(0).numel()});
    dims.push_back(0);
  }
  for (auto [shift, d] : llvm::zip(shifts, dims)) {
    unsigned dim = c.wrapDim(d, t.rank());
    Dim n = t.rank() ? t.dims()[dim] : Dim(1);
    // The first of the new order. Of the run, n may be 0.
    Dim split = mod(Dim(0) - shift, n.isStatic() ? n : maxDim(n, 1));
    if (!split.is(0))
      t = concatenate(
          c, {c.slice(t, dim, split, n - split), c.slice(t, dim, 0, split)},
          dim);
  }
  c.setResult(0, c.reshape(t, sizes));
  return success();
}

//===----------------------------------------------------------------------===//
// Triangles and diagonals
//===----------------------------------------------------------------------===//

/// Keeps what lies on one side of a diagonal of the last two dims.
static LogicalResult triangle(LowerCall &c, bool upper) {
  LoweredTensor t = c.operand(0);
  int64_t offset = c.integer(1);
  unsigned rank = t.rank();
  c.setResult(
      0, generateFrom(c, t, t.dims(), t.dtype,
                      [&](ScalarBuilder &s, ValueRange v, ArrayRef<Value> at) {
                        Value limit =
                            s.add(at[rank - 2],
                                  s.constantInt(at[0].getType(), offset));
                        auto keep = upper ? ScalarBuilder::Cmp::Ge
                                          : ScalarBuilder::Cmp::Le;
                        return s.select(s.cmp(keep, at[rank - 1], limit), v[0],
                                        s.zero(v[0]));
                      }));
  return success();
}
static LogicalResult tril(LowerCall &c) { return triangle(c, false); }
static LogicalResult triu(LowerCall &c) { return triangle(c, true); }

/// A tensor of zeros whose diagonal (offset, dim1, dim2) is `t`, the diagonal
/// being the last dim of `t`.
static LoweredTensor onDiagonal(LowerCall &c, LoweredTensor t, int64_t offset,
                                unsigned dim1, unsigned dim2,
                                ArrayRef<Dim> sizes) {
  Dim length = t.dims().back();
  int64_t down = std::max<int64_t>(-offset, 0);
  int64_t right = std::max<int64_t>(offset, 0);
  if (length.is(0))
    return c.filled(sizes, t.dtype, 0);
  return generate(
      c, sizes, t.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) -> Value {
        using Cmp = ScalarBuilder::Cmp;
        Type index = at[0].getType();
        Value i = s.sub(at[dim1], s.constantInt(index, down));
        Value j = s.sub(at[dim2], s.constantInt(index, right));
        Value on = s.mul(s.cmp(Cmp::Eq, i, j),
                         s.cmp(Cmp::Lt, i, sizeIndex(c, s, length), true));
        SmallVector<Value> source;
        for (unsigned d = 0; d < at.size(); ++d)
          if (d != dim1 && d != dim2)
            source.push_back(at[d]);
        source.push_back(s.select(on, i, s.constantInt(index, 0)));
        Value v = readAt(s, t, source);
        return s.select(on, v, s.zero(v));
      });
}

static LogicalResult diagEmbed(LowerCall &c) {
  auto rank = static_cast<unsigned>(c.resultMeta(0).rank());
  unsigned dim1 = c.wrapDim(c.integer(2), rank);
  unsigned dim2 = c.wrapDim(c.integer(3), rank);
  c.setResult(0, onDiagonal(c, c.operand(0), c.integer(1), dim1, dim2,
                            dimsOf(c.resultMeta(0))));
  return success();
}

/// A vector on the diagonal of a matrix, or the diagonal of a matrix.
static LogicalResult diag(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  int64_t offset = c.integer(1);
  if (t.rank() == 1) {
    c.setResult(0, onDiagonal(c, t, offset, 0, 1, dimsOf(c.resultMeta(0))));
    return success();
  }
  int64_t down = std::max<int64_t>(-offset, 0);
  int64_t right = std::max<int64_t>(offset, 0);
  auto at = [&](ScalarBuilder &s, Value i, int64_t by) {
    return s.add(i, s.constantInt(i.getType(), by));
  };
  c.setResult(0, generate(c, dimsOf(c.resultMeta(0)), t.dtype,
                          [&](ScalarBuilder &s, ArrayRef<Value> i) {
                            return readAt(
                                s, t, {at(s, i[0], down), at(s, i[0], right)});
                          }));
  return success();
}

static LogicalResult diagFlat(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  t = c.reshape(t, {c.meta(0).numel()});
  c.setResult(0, onDiagonal(c, t, c.integer(1), 0, 1, dimsOf(c.resultMeta(0))));
  return success();
}

/// Sequences one above the other, the shorter ones filled up on one side:
/// (sequences, batch_first, padding_value, padding_side).
static LogicalResult padSequence(LowerCall &c) {
  SmallVector<LoweredTensor> list = listOf(c);
  Dim longest = 0;
  for (const LoweredTensor &t : list)
    longest = maxDim(longest, t.dims()[0]);
  bool left = c.call().args[3].str == "left";
  unsigned dim = c.flag(1) ? 0 : 1;
  for (LoweredTensor &t : list) {
    Sizes low(t.rank(), 0), high(t.rank(), 0);
    (left ? low : high)[0] = longest - t.dims()[0];
    t = c.pad(t, low, high, c.number(2));
    Sizes sizes = t.dims();
    sizes.insert(sizes.begin() + dim, 1);
    t = c.reshape(t, sizes);
    c.newGroup();
  }
  return catAlong(c, list, dim);
}

/// All elements of all tensors in one vector.
static LogicalResult flattened(LowerCall &c) {
  SmallVector<LoweredTensor> list = listOf(c);
  for (LoweredTensor &t : list)
    t = c.reshape(t, {product(t.dims())});
  return catAlong(c, list, 0);
}

static LogicalResult diagonalBackward(LowerCall &c) {
  Dims sizes = c.dimsArg(1);
  auto rank = static_cast<unsigned>(sizes.size());
  c.setResult(0, onDiagonal(c, c.operand(0), c.integer(2),
                            c.wrapDim(c.integer(3), rank),
                            c.wrapDim(c.integer(4), rank), sizes));
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients of views
//===----------------------------------------------------------------------===//

static LogicalResult sliceBackward(LowerCall &c) {
  Dims sizes = c.dimsArg(1);
  LoweredTensor g = c.operand(0);
  unsigned dim = c.wrapDim(c.integer(2), g.rank());
  Dim start = clampedPosition(c.dimArg(3), sizes[dim]);
  Dims starts(sizes.size(), 0);
  SmallVector<int64_t, 6> steps(sizes.size(), 1);
  starts[dim] = start;
  steps[dim] = c.integer(5);
  c.setResult(0, insert(c, c.filled(sizes, g.dtype, 0), g, starts, steps));
  return success();
}

static LogicalResult selectBackward(LowerCall &c) {
  Dims sizes = c.dimsArg(1);
  LoweredTensor g = c.operand(0);
  unsigned dim = c.wrapDim(c.integer(2), static_cast<unsigned>(sizes.size()));
  Dims wide = g.dims(), starts(sizes.size(), 0);
  SmallVector<int64_t, 6> steps(sizes.size(), 1);
  wide.insert(wide.begin() + dim, 1);
  starts[dim] = positionOf(c.dimArg(3), sizes[dim]);
  c.setResult(0, insert(c, c.filled(sizes, g.dtype, 0), c.reshape(g, wide),
                        starts, steps));
  return success();
}

/// Every window that holds a position adds its element.
static LogicalResult unfoldBackward(LowerCall &c) {
  LoweredTensor g = c.operand(0);
  Dims sizes = c.dimsArg(1), from = g.dims();
  if (sizes.empty()) { // one window of one element
    c.setResult(0, c.reshape(g, sizes));
    return success();
  }
  auto rank = static_cast<unsigned>(sizes.size());
  unsigned dim = c.wrapDim(c.integer(2), rank);
  int64_t step = c.integer(4);
  Dim windows = from[dim];
  DType work = opmathType(g.dtype);
  if (hasNoElements(from)) {
    c.setResult(0, c.filled(sizes, g.dtype, 0));
    return success();
  }
  // Iteration: the result's dims, then the window.
  SmallVector<AffineExpr, 6> out;
  for (unsigned d = 0; d < rank; ++d)
    out.push_back(c.dim(d));
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  iterators.push_back(Iterator::Reduction);
  // Gives the reduction its extent; its values are not read.
  Access extent{c.empty({windows}, DType::I8), {c.dim(rank)}};
  LoweredTensor sum = c.generic(
      extent, Access{c.filled(sizes, work, 0), out}, iterators,
      [&](ScalarBuilder &s, ValueRange v) {
        SmallVector<Value> at;
        for (unsigned d = 0; d < rank; ++d)
          at.push_back(iterationIndex(s, d));
        Value window = iterationIndex(s, rank);
        Type index = window.getType();
        Value inside =
            s.sub(at[dim], s.mul(window, s.constantInt(index, step)));
        Value hit = s.cmp(ScalarBuilder::Cmp::Lt, inside,
                          sizeIndex(c, s, from.back()), true);
        at[dim] = window;
        at.push_back(s.select(hit, inside, s.constantInt(index, 0)));
        Value e = s.cast(readAt(s, g, at), g.dtype, work);
        return SmallVector<Value>{s.add(v[1], s.select(hit, e, s.zero(e)))};
      })[0];
  c.setResult(0, c.cast(sum, g.dtype));
  return success();
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

/// n times x[1:] - x[:-1] (bools: xor), after prepending and appending.
static LogicalResult diff(LowerCall &c) {
  LoweredTensor t = c.cast(c.operand(0), c.resultMeta(0).dtype);
  unsigned dim = c.wrapDim(c.integer(2), t.rank());
  SmallVector<LoweredTensor> pieces;
  if (!c.isNone(3))
    pieces.push_back(c.cast(c.operand(3), t.dtype));
  pieces.push_back(t);
  if (!c.isNone(4))
    pieces.push_back(c.cast(c.operand(4), t.dtype));
  t = concatenate(c, pieces, dim);
  DType work = opmathType(t.dtype);
  for (int64_t i = 0; i < c.integer(1); ++i) {
    Dims sizes = t.dims();
    if (sizes[dim].isStatic() && sizes[dim].value() <= 1) {
      c.setResult(0, c.empty(dimsOf(c.resultMeta(0)), t.dtype));
      return success();
    }
    // Of the run: no element is left of one, nor of none.
    sizes[dim] =
        sizes[dim].isStatic() ? sizes[dim] - 1 : maxDim(sizes[dim] - 1, 0);
    t = c.pointwise(
        {c.slice(t, dim, 1, sizes[dim]), c.slice(t, dim, 0, sizes[dim])}, sizes,
        t.dtype, [&](ScalarBuilder &s, ValueRange v) {
          if (t.dtype == DType::Bool)
            return s.cmp(ScalarBuilder::Cmp::Ne, v[0], v[1]);
          return s.cast(
              s.sub(s.cast(v[0], t.dtype, work), s.cast(v[1], t.dtype, work)),
              work, t.dtype);
        });
  }
  c.setResult(0, t);
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("cat.default", cat),
    anyShape("concat.default", cat),
    anyShape("concatenate.default", cat),
    anyShape("stack.default", stack),
    anyShape("_stack.default", stack),
    anyShape("hstack.default", hstack),
    anyShape("vstack.default", vstack),
    anyShape("row_stack.default", vstack),
    anyShape("dstack.default", dstack),
    anyShape("column_stack.default", columnStack),
    anyShape("block_diag.default", blockDiag),
    anyShape("_chunk_cat.default", chunkCat),
    anyShape("repeat.default", repeated),
    anyShape("tile.default", repeated),
    anyShape("repeat_interleave.self_int", repeatInterleave),
    anyShape("flip.default", flip),
    anyShape("fliplr.default", flipOne<1>),
    anyShape("flipud.default", flipOne<0>),
    anyShape("rot90.default", rot90),
    anyShape("roll.default", roll),
    anyShape("tril.default", tril),
    anyShape("triu.default", triu),
    anyShape("diag_embed.default", diagEmbed),
    anyShape("diag.default", diag),
    anyShape("diagflat.default", diagFlat),
    anyShape("flatten_dense_tensors.default", flattened),
    anyShape("pad_sequence.default", padSequence),
    anyShape("diagonal_backward.default", diagonalBackward),
    anyShape("slice_backward.default", sliceBackward),
    anyShape("select_backward.default", selectBackward),
    anyShape("unfold_backward.default", unfoldBackward),
    anyShape("diff.default", diff),
};

ArrayRef<LowerRuleRow> catLowerRules() { return kRows; }

} // namespace ft
