//===- ViewSlice.cpp - Views of a part of a tensor -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/ViewRules.h"
#include "compiler/shape/Positions.h"

#include <limits>

using namespace llvm;

namespace ft {

//===----------------------------------------------------------------------===//
// One dim cut
//===----------------------------------------------------------------------===//

/// Whether data decide if a < b, and nothing is known of them.
static bool isOpen(FakeCall &c, Dim a, Dim b) {
  Dim difference = b - a;
  return c.scope && !difference.isStatic() &&
         c.scope->symbols().hasUnbacked(difference.symbolic()) &&
         !c.surelyLt(a, b) && !c.surelyLe(b, a);
}

Dim clampIndex(FakeCall &c, Dim index, Dim size) {
  // The end that means "to the end", decided without a question on `size`.
  if (index.is(0))
    return index;
  if (index.isStatic() && index.value() == std::numeric_limits<int64_t>::max())
    return size;
  if (isOpen(c, index, 0))
    return clampedPosition(index, size);
  if (c.lt(index, 0))
    index = index + size;
  if (isOpen(c, index, 0))
    return maxDim(index, 0);
  if (c.lt(index, 0))
    return 0;
  if (isOpen(c, size, index))
    return minDim(index, size);
  return c.lt(size, index) ? size : index;
}

Dim clampEnd(FakeCall &c, Dim index, Dim size) {
  if (index.isStatic() && size.isStatic())
    return clampIndex(c, index, size);
  if (c.surelyLe(size, index))
    return size;
  if (isOpen(c, index, 0) || c.lt(index, 0))
    return clampIndex(c, index, size);
  return c.surelyLe(index, size) ? index : minDim(index, size);
}

Dim lengthBetween(FakeCall &c, Dim start, Dim end, Dim size, Dim step) {
  if (!end.identical(size) && !start.is(0)) {
    if (isOpen(c, end, start))
      end = maxDim(start, end);
    else if (c.lt(end, start))
      end = start;
  }
  return ceilDiv(end - start, step);
}

FailureOr<Dim> checkedIndex(FakeCall &c, Dim index, Dim size, int64_t dim) {
  auto outside = [&](Dim a, Dim b) {
    return isOpen(c, a, b) ? c.exceeds(b, a) : c.lt(a, b);
  };
  // One that data decide must be in range; others are seen to be.
  if (outside(index, Dim(0) - size) || outside(size - 1, index))
    return c.fail(FakeError::Index, "index " + index.str() +
                                        " is out of range for dim " +
                                        Twine(dim) + " of size " + size.str());
  if (isOpen(c, index, 0))
    return positionOf(index, size);
  return c.lt(index, 0) ? index + size : index;
}

TensorMeta sliced(const TensorMeta &self, int64_t dim, Dim start, Dim length,
                  Dim step) {
  TensorMeta out = self;
  out.offset = self.offset + start * self.strides[dim];
  out.sizes[dim] = length;
  out.strides[dim] = self.strides[dim] * step;
  return out;
}

TensorMeta selected(const TensorMeta &self, int64_t dim, Dim index) {
  TensorMeta out = self;
  out.offset = self.offset + index * self.strides[dim];
  out.sizes.erase(out.sizes.begin() + dim);
  out.strides.erase(out.strides.begin() + dim);
  return out;
}

static FailureOr<int64_t> dimOf(FakeCall &c, unsigned arg) {
  const TensorMeta &self = c.tensor(0);
  if (self.sizes.empty())
    return c.fail(FakeError::Dim,
                  c.schema().base + " needs a tensor with at least one dim");
  return c.wrapDim(arg, self.rank());
}

static LogicalResult select(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = dimOf(c, 1);
  if (failed(dim))
    return failure();
  FailureOr<Dim> at = checkedIndex(c, c.dim(2), self.sizes[*dim], *dim);
  return failed(at) ? failure() : c.view(selected(self, *dim, *at), 0);
}

static LogicalResult slice(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = dimOf(c, 1);
  if (failed(dim))
    return failure();
  Dim step = c.dim(4);
  if (c.lt(step, 1))
    return c.fail(FakeError::Index,
                  "a slice's step must be positive, it is " + step.str());
  Dim size = self.sizes[*dim];
  Dim start = c.isNone(2) ? Dim(0) : clampIndex(c, c.dim(2), size);
  Dim end = c.isNone(3) ? size : clampEnd(c, c.dim(3), size);
  Dim length = lengthBetween(c, start, end, size, step);
  return c.view(sliced(self, *dim, start, length, step), 0);
}

static LogicalResult narrow(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = dimOf(c, 1);
  if (failed(dim))
    return failure();
  Dim start = c.dim(2), length = c.dim(3), size = self.sizes[*dim];
  if (c.arg(2).kind == Arg::Tensor)
    return c.fail(FakeError::DataDependent,
                  "narrow's start is a tensor, so the result depends on data");
  if (c.lt(length, 0))
    return c.fail(FakeError::Index,
                  "narrow's length must not be negative, it is " +
                      length.str());
  if (c.lt(start, 0))
    start = start + size;
  if (c.lt(start, 0) || c.exceeds(start, size) ||
      c.exceeds(start + length, size))
    return c.fail(FakeError::Index, "start " + c.dim(2).str() + " and length " +
                                        length.str() + " leave dim " +
                                        Twine(*dim) + " of size " + size.str());
  return c.view(sliced(self, *dim, start, length), 0);
}

//===----------------------------------------------------------------------===//
// Cut into pieces
//===----------------------------------------------------------------------===//

/// Pieces of the given lengths, which must add up to the dim.
static LogicalResult pieces(FakeCall &c, int64_t dim, ArrayRef<Dim> lengths) {
  const TensorMeta &self = c.tensor(0);
  Dim start = 0;
  for (Dim length : lengths) {
    if (c.lt(length, 0))
      return c.fail(FakeError::Shape, "a split size must not be negative, it "
                                      "is " +
                                          length.str());
    if (failed(c.view(sliced(self, dim, start, length), 0)))
      return failure();
    start = start + length;
  }
  if (!c.mustEq(start, self.sizes[dim]))
    return c.fail(FakeError::Shape, "the split sizes add up to " + start.str() +
                                        ", " + c.sizeAt(self, dim));
  return success();
}

/// A program has as many results; more than this is no program.
static constexpr int64_t kMostResults = 1 << 16;

/// The number of results, which a program has fixed: that of the example.
static FailureOr<int64_t> countOf(FakeCall &c, Dim count) {
  std::optional<int64_t> number = c.example(count);
  if (!number)
    return c.fail(FakeError::Undecided,
                  "the number of results, " + count.str() + ", is not known");
  if (*number <= kMostResults)
    return *number;
  return c.fail(FakeError::Unsupported,
                c.schema().base + " into " + Twine(*number) + " tensors");
}

/// Pieces of one length, the last one shorter.
static LogicalResult equalPieces(FakeCall &c, int64_t dim, Dim length,
                                 Dim count) {
  const TensorMeta &self = c.tensor(0);
  Dim size = self.sizes[dim];
  FailureOr<int64_t> number = countOf(c, count);
  if (failed(number))
    return failure();
  // As many as in the example: the last one has an element, but not too many.
  if (!count.isStatic() &&
      ((*number > 1 && c.le(size, length * (*number - 1))) ||
       c.lt(length * *number, size)))
    return c.fail(FakeError::Undecided,
                  "the number of results, " + count.str() + ", is not known");
  for (int64_t i = 0; i < *number; ++i) {
    Dim start = length * i;
    // A dim of no elements has one piece, or as many as were asked for.
    Dim part = i + 1 == *number && !length.is(0) ? size - start : length;
    if (failed(c.view(sliced(self, dim, start, part), 0)))
      return failure();
  }
  return success();
}

static LogicalResult split(FakeCall &c) {
  FailureOr<int64_t> dim = dimOf(c, 2);
  if (failed(dim))
    return failure();
  if (c.arg(1).kind == Arg::List)
    return pieces(c, *dim, c.dims(1));
  Dim length = c.dim(1), size = c.tensor(0).sizes[*dim];
  if (c.lt(length, 0) || (c.eq(length, 0) && !c.mustEq(size, 0)))
    return c.fail(FakeError::Shape,
                  "dim " + Twine(*dim) + " of size " + size.str() +
                      " cannot be split into pieces of " + length.str());
  Dim count = 1;
  if (!length.is(0) && !size.is(0))
    count = ceilDiv(size, length);
  return equalPieces(c, *dim, length, count);
}

static LogicalResult chunk(FakeCall &c) {
  FailureOr<int64_t> dim = dimOf(c, 2);
  if (failed(dim))
    return failure();
  Dim chunks = c.dim(1), size = c.tensor(0).sizes[*dim];
  if (c.lt(chunks, 1))
    return c.fail(FakeError::Shape,
                  "the number of chunks must be positive, it is " +
                      chunks.str());
  Dim length = ceilDiv(size, chunks);
  if (size.is(0))
    return equalPieces(c, *dim, 0, chunks);
  return equalPieces(c, *dim, length, ceilDiv(size, length));
}

/// `sections` pieces whose lengths differ by one at most, or cuts at indices.
static LogicalResult tensorSplitAt(FakeCall &c, int64_t dim, unsigned arg) {
  const TensorMeta &self = c.tensor(0);
  Dim size = self.sizes[dim];
  if (c.arg(arg).kind == Arg::Int) {
    Dim sections = c.dim(arg);
    if (!sections.isStatic() || sections.value() < 1)
      return c.fail(FakeError::Shape,
                    "the number of sections must be positive, it is " +
                        sections.str());
    if (failed(countOf(c, sections)))
      return failure();
    Dim small = floorDiv(size, sections), longer = mod(size, sections);
    bool even = c.surelyEq(longer, 0);
    Dim start = 0;
    for (int64_t i = 0; i < sections.value(); ++i) {
      // Of a size of the run: the first size % sections are longer by one.
      Dim length =
          even ? small : floorDiv(size + (sections.value() - 1 - i), sections);
      if (failed(c.view(sliced(self, dim, start, length), 0)))
        return failure();
      start = start + length;
    }
    return success();
  }
  Dims cuts = c.dims(arg);
  cuts.push_back(size);
  Dim start = 0;
  for (Dim cut : cuts) {
    Dim from = clampIndex(c, start, size);
    Dim end = cut.identical(size) ? size : clampIndex(c, cut, size);
    if (c.lt(end, from))
      end = from;
    if (failed(c.view(sliced(self, dim, from, end - from), 0)))
      return failure();
    start = cut;
  }
  return success();
}

static LogicalResult tensorSplit(FakeCall &c) {
  FailureOr<int64_t> dim = dimOf(c, 2);
  if (failed(dim))
    return failure();
  if (c.arg(1).kind == Arg::Tensor)
    return c.fail(FakeError::DataDependent,
                  "tensor_split's sections are a tensor, so the result depends "
                  "on data");
  return tensorSplitAt(c, *dim, 1);
}

/// hsplit, vsplit, dsplit: tensor_split along a fixed dim, sections even.
template <int Dimension>
static LogicalResult fixedSplit(FakeCall &c) {
  int64_t rank = c.tensor(0).rank(), dim = Dimension;
  int64_t least = Dimension == 0 ? 2 : Dimension == 1 ? 1 : 3;
  if (rank < least)
    return c.fail(FakeError::Dim, c.schema().base + " needs at least " +
                                      Twine(least) + " dims, the tensor has " +
                                      Twine(rank));
  if (Dimension == 1 && rank == 1)
    dim = 0;
  Dim size = c.tensor(0).sizes[dim];
  if (c.arg(1).kind == Arg::Int &&
      (c.lt(c.dim(1), 1) || !c.mustEq(mod(size, c.dim(1)), 0)))
    return c.fail(FakeError::Shape, "dim " + Twine(dim) + " of size " +
                                        size.str() + " does not split into " +
                                        c.dim(1).str() + " even sections");
  return tensorSplitAt(c, dim, 1);
}

static LogicalResult unbind(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = dimOf(c, 1);
  if (failed(dim))
    return failure();
  Dim count = self.sizes[*dim];
  FailureOr<int64_t> number = countOf(c, count);
  if (failed(number))
    return failure();
  if (!c.mustEq(count, *number))
    return c.fail(FakeError::Undecided,
                  "the number of results, " + count.str() + ", is not known");
  for (int64_t i = 0; i < *number; ++i)
    if (failed(c.view(selected(self, *dim, i), 0)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Diagonals and windows
//===----------------------------------------------------------------------===//

FailureOr<TensorMeta> diagonalOf(FakeCall &c, const TensorMeta &self,
                                 Dim offset, Dim dim1, Dim dim2) {
  FailureOr<int64_t> row = c.wrapIndex(dim1, self.rank());
  FailureOr<int64_t> column = c.wrapIndex(dim2, self.rank());
  if (failed(row) || failed(column))
    return failure();
  if (*row == *column || self.rank() < 2)
    return c.fail(FakeError::Dim, "a diagonal needs two different dims, not " +
                                      dim1.str() + " and " + dim2.str());
  bool above = !c.lt(offset, 0);
  Dim rows = self.sizes[*row], columns = self.sizes[*column];
  Dim length =
      above ? minDim(rows, columns - offset) : minDim(rows + offset, columns);
  length = maxDim(length, 0);
  TensorMeta out = self;
  if (!length.is(0))
    out.offset = self.offset + (above ? offset * self.strides[*column]
                                      : Dim(0) - offset * self.strides[*row]);
  for (int64_t d : {std::max(*row, *column), std::min(*row, *column)}) {
    out.sizes.erase(out.sizes.begin() + d);
    out.strides.erase(out.strides.begin() + d);
  }
  out.sizes.push_back(length);
  out.strides.push_back(self.strides[*row] + self.strides[*column]);
  return out;
}

static LogicalResult diagonal(FakeCall &c) {
  FailureOr<TensorMeta> out =
      diagonalOf(c, c.tensor(0), c.dim(1), c.dim(2), c.dim(3));
  return failed(out) ? failure() : c.view(*out, 0);
}

static LogicalResult unfold(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  if (failed(dim))
    return failure();
  Dim size = c.dim(2), step = c.dim(3);
  Dim have = self.sizes.empty() ? Dim(1) : self.sizes[*dim];
  if (c.lt(size, 0) || c.lt(have, size))
    return c.fail(FakeError::Shape, "a window of " + size.str() +
                                        " does not fit dim " + Twine(*dim) +
                                        " of size " + have.str());
  if (c.lt(step, 1))
    return c.fail(FakeError::Shape,
                  "unfold's step must be positive, it is " + step.str());
  TensorMeta out = self;
  out.sizes.push_back(size);
  if (self.sizes.empty()) {
    out.strides.push_back(1);
    return c.view(out, 0);
  }
  out.strides.push_back(self.strides[*dim]);
  out.sizes[*dim] = floorDiv(have - size, step) + 1;
  out.strides[*dim] = self.strides[*dim] * step;
  return c.view(out, 0);
}

ArrayRef<FakeRuleRow> viewSliceRules() {
  static const FakeRuleRow rows[] = {
      {"chunk.default", chunk},
      {"diagonal.default", diagonal},
      {"dsplit.array", fixedSplit<2>},
      {"dsplit.int", fixedSplit<2>},
      {"hsplit.array", fixedSplit<1>},
      {"hsplit.int", fixedSplit<1>},
      {"linalg_diagonal.default", diagonal},
      {"narrow.Tensor", narrow, DevicePolicy::First},
      {"narrow.default", narrow},
      {"select.int", select},
      {"slice.Tensor", slice},
      {"split.Tensor", split},
      {"split.default", split},
      {"split.sizes", split},
      {"split_with_sizes.default", split},
      {"tensor_split.indices", tensorSplit},
      {"tensor_split.sections", tensorSplit},
      {"tensor_split.tensor_indices_or_sections", tensorSplit,
       DevicePolicy::First},
      {"unbind.int", unbind},
      {"unfold.default", unfold},
      {"unsafe_chunk.default", chunk},
      {"unsafe_split.Tensor", split},
      {"unsafe_split_with_sizes.default", split},
      {"vsplit.array", fixedSplit<0>},
      {"vsplit.int", fixedSplit<0>},
  };
  return rows;
}

} // namespace ft
