//===- Cat.cpp - Tensors joined, repeated and moved ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/ViewRules.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

using TensorList = SmallVector<const TensorMeta *, 8>;

static LogicalResult listOf(FakeCall &c, unsigned arg, TensorList &list) {
  list = c.tensors(arg);
  if (list.empty() || is_contained(list, nullptr))
    return c.fail(FakeError::Other,
                  c.schema().base + " needs at least one tensor");
  return success();
}

static FailureOr<DType> joinedDType(FakeCall &c,
                                    ArrayRef<const TensorMeta *> list) {
  TypePromotion types;
  for (const TensorMeta *t : list)
    types.add(*t);
  std::optional<DType> dtype = types.result();
  if (dtype)
    return *dtype;
  return noCommonDType(c, types);
}

/// PyTorch's tradition: an empty tensor of 1 dim joins with anything.
static bool isLegacyEmpty(const TensorMeta &t) {
  return t.rank() == 1 && t.sizes[0].is(0);
}

static LogicalResult catTensors(FakeCall &c, ArrayRef<const TensorMeta *> list,
                                Dim dimIndex) {
  FailureOr<DType> dtype = joinedDType(c, list);
  if (failed(dtype))
    return failure();
  const TensorMeta *first = nullptr;
  for (const TensorMeta *t : list)
    if (!first && !isLegacyEmpty(*t))
      first = t;
  if (!first)
    first = list.front();
  if (first->sizes.empty())
    return c.fail(FakeError::Dim,
                  c.nameOf(first) +
                      " has no dims to be joined along; stack the tensors");
  FailureOr<int64_t> dim = c.wrapIndex(dimIndex, first->rank());
  if (failed(dim))
    return failure();
  TensorMeta out = *first;
  out.sizes[*dim] = 0;
  bool allChannelsLast = true;
  for (const TensorMeta *t : list) {
    if (isLegacyEmpty(*t) && first->rank() != 1)
      continue;
    if (t->rank() != first->rank())
      return c.fail(FakeError::Dim, "tensors of " + Twine(first->rank()) +
                                        " and " + Twine(t->rank()) + " dims, " +
                                        c.nameOf(first) + " and " +
                                        c.nameOf(t) + ", cannot be joined");
    for (int64_t d = 0; d < t->rank(); ++d)
      if (d != *dim && !c.mustEq(t->sizes[d], first->sizes[d]))
        return c.fail(FakeError::Dim,
                      c.nameOf(first) + " has size " + first->sizes[d].str() +
                          " and " + c.nameOf(t) + " size " + t->sizes[d].str() +
                          " at dim " + Twine(d) +
                          ", so they cannot be joined at dim " + Twine(*dim));
    out.sizes[*dim] = out.sizes[*dim] + t->sizes[*dim];
    allChannelsLast &= suggestsChannelsLast(*t);
  }
  out.dtype = *dtype;
  out.device = c.device;
  out.offset = 0;
  out.conj = out.neg = false;
  out.strides = allChannelsLast ? channelsLastStrides(out.sizes)
                                : contiguousStrides(out.sizes);
  return c.fresh(std::move(out));
}

static LogicalResult cat(FakeCall &c) {
  TensorList list;
  if (failed(listOf(c, 0, list)))
    return failure();
  return catTensors(c, list, c.dim(1));
}

static LogicalResult stack(FakeCall &c) {
  TensorList list;
  if (failed(listOf(c, 0, list)))
    return failure();
  FailureOr<DType> dtype = joinedDType(c, list);
  FailureOr<int64_t> dim = c.wrapDim(1, list.front()->rank() + 1);
  if (failed(dtype) || failed(dim))
    return failure();
  for (const TensorMeta *t : list)
    if (!c.sameSizes(t->sizes, list.front()->sizes))
      return c.fail(FakeError::Shape,
                    c.nameOf(list.front()) + " and " + c.nameOf(t) +
                        " cannot be stacked, their sizes differ" +
                        unlike(list.front()->sizes, t->sizes));
  Dims sizes = list.front()->sizes;
  sizes.insert(sizes.begin() + *dim, Dim(int64_t(list.size())));
  return rowMajor(c, *dtype, sizes);
}

/// hstack, vstack, dstack, column_stack: dims are added, then joined.
template <int64_t MinRank, int64_t CatDim>
static LogicalResult stackAlong(FakeCall &c) {
  TensorList list;
  if (failed(listOf(c, 0, list)))
    return failure();
  SmallVector<TensorMeta, 4> widened;
  for (const TensorMeta *t : list) {
    TensorMeta w = *t;
    bool column = c.schema().base == "column_stack";
    if (column && w.rank() <= 1) {
      w.sizes = {t->numel(), Dim(1)};
    } else {
      if (MinRank >= 2 && w.rank() <= 1)
        w.sizes.insert(w.sizes.begin(), Dim(1));
      while (w.rank() < MinRank)
        w.sizes.push_back(1);
    }
    w.strides = contiguousStrides(w.sizes);
    widened.push_back(std::move(w));
  }
  SmallVector<const TensorMeta *, 4> pointers;
  for (const TensorMeta &w : widened)
    pointers.push_back(&w);
  bool flat = CatDim == 1 && MinRank == 1 && widened.front().rank() == 1;
  return catTensors(c, pointers, flat ? Dim(0) : Dim(CatDim));
}

/// All tuples of one element of each tensor, as rows; of one tensor itself.
static LogicalResult cartesianProduct(FakeCall &c) {
  TensorList list;
  if (failed(listOf(c, 0, list)))
    return failure();
  Dim rows = 1;
  for (auto [i, t] : enumerate(list)) {
    if (t->rank() != 1)
      return c.fail(FakeError::Other, "cartesian_prod needs tensors of 1 dim, "
                                      "tensor " +
                                          Twine(i) + " has " +
                                          Twine(t->rank()));
    if (t->dtype != list[0]->dtype)
      return c.fail(FakeError::Other, "cartesian_prod needs one dtype, not " +
                                          dtypeName(list[0]->dtype) + " and " +
                                          dtypeName(t->dtype));
    rows = rows * t->sizes[0];
  }
  if (list.size() == 1) {
    if (failed(c.fresh(*list[0])))
      return failure();
    c.results.back().alias = c.arg(0).list[0].operand;
    return success();
  }
  return rowMajor(c, list[0]->dtype,
                  {rows, Dim(static_cast<int64_t>(list.size()))});
}

/// (self, r, with_replacement): all choices of r elements, as rows.
///   of 5 elements 2: 5 · 4 / 2 = 10 rows, with replacement 5 · 6 / 2
static LogicalResult combinations(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() != 1)
    return c.fail(FakeError::Other, "combinations needs a tensor of 1 dim, it "
                                    "has " +
                                        Twine(self.rank()));
  Dim r = c.dim(1);
  if (!r.isStatic() || r.value() < 0)
    return c.fail(FakeError::Other, "combinations are of 0 or more elements, "
                                    "not " +
                                        r.str());
  if (r.is(0))
    return rowMajor(c, self.dtype, {Dim(0)});
  Dim rows = 1;
  for (int64_t i = 0; i < r.value() && !rows.is(0); ++i)
    rows = floorDiv(rows * (c.flag(2) ? self.sizes[0] + i : self.sizes[0] - i),
                    i + 1);
  return rowMajor(c, self.dtype, {rows, r});
}

static LogicalResult blockDiag(FakeCall &c) {
  TensorList list;
  if (failed(listOf(c, 0, list)))
    return failure();
  FailureOr<DType> dtype = joinedDType(c, list);
  if (failed(dtype))
    return failure();
  Dim rows = 0, columns = 0;
  for (const TensorMeta *t : list) {
    if (t->rank() > 2)
      return c.fail(FakeError::Dim,
                    "block_diag needs at most 2 dims, not " + Twine(t->rank()));
    rows = rows + (t->rank() == 2 ? t->sizes[0] : Dim(1));
    columns = columns + (t->sizes.empty() ? Dim(1) : t->sizes.back());
  }
  return rowMajor(c, *dtype, {rows, columns});
}

/// Each tensor's dim is padded to a multiple of the chunks, cut into them, and
/// what is left is joined: [chunks, all the rest].
static LogicalResult chunkCat(FakeCall &c) {
  TensorList list;
  if (failed(listOf(c, 0, list)))
    return failure();
  Dim dim = c.dim(1), chunks = c.dim(2);
  // A dim counted from the end means the same only for equal ranks.
  bool sameRank = all_of(list, [&](const TensorMeta *t) {
    return t->rank() == list.front()->rank();
  });
  if (sameRank) {
    FailureOr<int64_t> wrapped = c.wrapDim(1, list.front()->rank());
    if (failed(wrapped))
      return failure();
    dim = *wrapped;
  }
  if (c.lt(chunks, 1))
    return c.fail(FakeError::Other, "the number of chunks must be positive, "
                                    "it is " +
                                        chunks.str());
  if (!dim.isStatic() || dim.value() < 0)
    return c.fail(FakeError::Dim,
                  "_chunk_cat's dim must not be negative, it is " + dim.str());
  int64_t at = dim.value();
  Dims sizes;
  Dim last = 0;
  for (const TensorMeta *t : list) {
    if (t->dtype != list.front()->dtype)
      return c.fail(FakeError::Dtype, "_chunk_cat needs one dtype, not " +
                                          dtypeName(list.front()->dtype) +
                                          " and " + dtypeName(t->dtype));
    if (t->rank() <= at)
      return c.fail(FakeError::Dim, "dim " + Twine(at) +
                                        " is out of range for " +
                                        Twine(t->rank()) + " dims");
    if (!c.sameSizes(ArrayRef<Dim>(t->sizes).take_front(at),
                     ArrayRef<Dim>(list.front()->sizes).take_front(at)))
      return c.fail(FakeError::Dim, "the sizes before dim " + Twine(at) +
                                        " differ: " + c.show(*list.front()) +
                                        ", " + c.show(*t));
    Dim rest = product(ArrayRef<Dim>(t->sizes).drop_front(at + 1));
    last = last + ceilDiv(t->sizes[at], chunks) * rest;
  }
  sizes.assign(list.front()->sizes.begin(), list.front()->sizes.begin() + at);
  sizes.push_back(chunks);
  sizes.push_back(last);
  return rowMajor(c, list.front()->dtype, sizes);
}

static LogicalResult diff(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "diff needs at least one dim");
  FailureOr<int64_t> dim = c.wrapDim(2, self.rank());
  if (failed(dim))
    return failure();
  if (c.lt(c.dim(1), 0))
    return c.fail(FakeError::Other, "diff's order must not be negative, it "
                                    "is " +
                                        c.dim(1).str());
  TypePromotion types;
  types.add(self);
  Dim length = self.sizes[*dim];
  for (unsigned i : {3u, 4u}) {
    const TensorMeta *more = c.optTensor(i);
    if (!more)
      continue;
    types.add(*more);
    if (more->rank() != self.rank())
      return c.fail(FakeError::Dim, "'" + c.schema().args[i].name +
                                        "' must have as many dims as 'self', " +
                                        Twine(self.rank()) + ", it has " +
                                        Twine(more->rank()));
    for (int64_t d = 0; d < self.rank(); ++d)
      if (d != *dim && !c.mustEq(more->sizes[d], self.sizes[d]))
        return c.fail(FakeError::Shape,
                      c.sizeAt(*more, d) + ", " + c.sizeAt(self, d) +
                          ", so they cannot be joined at dim " + Twine(*dim));
    length = length + more->sizes[*dim];
  }
  if (c.dim(1).is(0))
    return c.fresh(TensorMeta::contiguous(self.dtype, self.sizes, c.device));
  std::optional<DType> dtype = types.result();
  if (!dtype)
    return noCommonDType(c, types);
  Dims sizes = self.sizes;
  Dim rest = length - c.dim(1);
  bool positive = c.scope && c.scope->less(rest, 0) == false;
  sizes[*dim] = positive ? rest : maxDim(rest, 0);
  return rowMajor(c, *dtype, sizes);
}

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

static LogicalResult repeatBy(FakeCall &c, Dims repeats) {
  const TensorMeta &self = c.tensor(0);
  size_t added = repeats.size() - self.sizes.size();
  for (size_t d = 0; d < self.sizes.size(); ++d)
    repeats[added + d] = repeats[added + d] * self.sizes[d];
  for (size_t d = 0; d < repeats.size(); ++d)
    if (c.lt(repeats[d], 0))
      return c.fail(FakeError::Other,
                    "a repeat must not be negative, it gives size " +
                        repeats[d].str() + " at dim " + Twine(d));
  return rowMajor(c, self.dtype, repeats);
}

static LogicalResult repeat(FakeCall &c) {
  Dims repeats = c.dims(1);
  if (static_cast<int64_t>(repeats.size()) < c.tensor(0).rank())
    return c.fail(FakeError::Dim, Twine(repeats.size()) + " repeats for " +
                                      Twine(c.tensor(0).rank()) + " dims");
  return repeatBy(c, std::move(repeats));
}

static LogicalResult tile(FakeCall &c) {
  Dims repeats = c.dims(1);
  while (static_cast<int64_t>(repeats.size()) < c.tensor(0).rank())
    repeats.insert(repeats.begin(), Dim(1));
  return repeatBy(c, std::move(repeats));
}

static LogicalResult repeatInterleaveInt(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Dim repeats = c.dim(1);
  if (c.lt(repeats, 0))
    return c.fail(FakeError::Other,
                  "a repeat must not be negative, it is " + repeats.str());
  FailureOr<int64_t> dim =
      c.isNone(2) ? FailureOr<int64_t>(0) : c.wrapDim(2, self.rank());
  if (failed(dim))
    return failure();
  Dims sizes = c.isNone(2) ? Dims(1, self.numel()) : self.sizes;
  if (sizes.empty())
    sizes.push_back(1);
  sizes[*dim] = sizes[*dim] * repeats;
  if (!c.isNone(3) && !c.mustEq(c.dim(3), sizes[*dim]))
    return c.fail(FakeError::Shape,
                  "output_size is " + c.dim(3).str() + ", dim " + Twine(*dim) +
                      " has after repetition " + sizes[*dim].str());
  return rowMajor(c, self.dtype, sizes);
}

/// The sum of the repeats: `output_size`, or for the data to tell.
static FailureOr<Dim> repeatedSize(FakeCall &c, unsigned sizeArg) {
  return c.isNone(sizeArg) ? c.unbackedSize(0, std::nullopt)
                           : FailureOr<Dim>(c.dim(sizeArg));
}

/// (repeats, *, output_size): the index of each repeated element.
static LogicalResult repeatInterleave(FakeCall &c) {
  const TensorMeta &repeats = c.tensor(0);
  if (repeats.dtype != DType::I64 && repeats.dtype != DType::I32)
    return c.fail(FakeError::Dtype, "repeats must be int64 or int32, not " +
                                        dtypeName(repeats.dtype));
  if (repeats.rank() != 1)
    return c.fail(FakeError::Dim,
                  "repeats need 1 dim, they have " + Twine(repeats.rank()));
  FailureOr<Dim> total = repeatedSize(c, 1);
  return failed(total) ? failure() : rowMajor(c, repeats.dtype, {*total});
}

static LogicalResult repeatInterleaveSelf(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  const TensorMeta &repeats = c.tensor(1);
  FailureOr<int64_t> dim =
      c.isNone(2) ? FailureOr<int64_t>(0) : c.wrapDim(2, self.rank());
  if (failed(dim))
    return failure();
  Dims sizes = c.isNone(2) ? Dims{self.numel()} : self.sizes;
  if (sizes.empty())
    sizes.push_back(1);
  if (repeats.rank() > 1 || (repeats.rank() == 1 && !repeats.sizes[0].is(1) &&
                             !c.mustEq(repeats.sizes[0], sizes[*dim])))
    return c.fail(FakeError::Shape, "there are " + repeats.sizes[0].str() +
                                        " repeats, " + c.sizeAt(self, *dim));
  FailureOr<Dim> total = repeatedSize(c, 3);
  if (failed(total))
    return failure();
  sizes[*dim] = *total;
  return rowMajor(c, self.dtype, sizes);
}

//===----------------------------------------------------------------------===//
// The same elements elsewhere
//===----------------------------------------------------------------------===//

static LogicalResult like(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  out.strides = likeStrides(out);
  out.offset = 0;
  out.conj = out.neg = false;
  return c.fresh(std::move(out));
}

static LogicalResult flip(FakeCall &c) {
  if (failed(c.wrapDims(1, c.tensor(0).rank(), /*emptyIsAll=*/false)))
    return failure();
  return like(c);
}

template <int64_t MinRank>
static LogicalResult flipFixed(FakeCall &c) {
  if (c.tensor(0).rank() < MinRank)
    return c.fail(FakeError::Dim, c.schema().base + " needs at least " +
                                      Twine(MinRank) + " dims, 'self' has " +
                                      Twine(c.tensor(0).rank()));
  return like(c);
}

static LogicalResult roll(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Dims shifts = c.dims(1), dims = c.dims(2);
  if (dims.empty() && shifts.size() != 1)
    return c.fail(FakeError::Dim, "roll without dims takes one shift, not " +
                                      Twine(shifts.size()));
  if (!dims.empty() && dims.size() != shifts.size())
    return c.fail(FakeError::Dim, Twine(shifts.size()) + " shifts for " +
                                      Twine(dims.size()) + " dims");
  if (!dims.empty() && self.sizes.empty())
    return c.fail(FakeError::Dim, "the tensor has no dims to roll");
  for (Dim d : dims)
    if (!self.numel().is(0) && failed(c.wrapIndex(d, self.rank())))
      return failure();
  TensorMeta out = TensorMeta::contiguous(self.dtype, self.sizes, c.device);
  if (self.numel().is(0) && !dims.empty()) {
    out.strides = self.strides;
    return c.fresh(std::move(out));
  }
  // The CPU joins two pieces of the tensor, which keeps channels last.
  if (c.device.kind == Device::Cpu && !dims.empty())
    out.strides = followingStrides(self.sizes, self);
  return c.fresh(std::move(out));
}

static LogicalResult rot90(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() < 2)
    return c.fail(FakeError::Dim, "rot90 needs at least 2 dims, the tensor "
                                  "has " +
                                      Twine(self.rank()));
  auto dims = c.wrapDims(2, self.rank(), /*emptyIsAll=*/false);
  if (failed(dims))
    return failure();
  if (dims->size() != 2)
    return c.fail(FakeError::Dim,
                  "rot90 turns 2 dims, not " + Twine(dims->size()));
  if (c.dim(1).isStatic() && c.dim(1).value() % 2 == 0)
    return like(c);
  // The transpose of a flipped tensor.
  TensorMeta out = self;
  out.strides = likeStrides(self);
  out.offset = 0;
  std::swap(out.sizes[(*dims)[0]], out.sizes[(*dims)[1]]);
  std::swap(out.strides[(*dims)[0]], out.strides[(*dims)[1]]);
  return c.fresh(std::move(out));
}

static LogicalResult triangle(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() < 2)
    return c.fail(FakeError::Dim, c.schema().base +
                                      " needs at least 2 dims, the tensor "
                                      "has " +
                                      Twine(self.rank()));
  TensorMeta out = TensorMeta::contiguous(self.dtype, self.sizes, c.device);
  out.strides = selectedStrides({&self}, self.sizes);
  return c.fresh(std::move(out));
}

static LogicalResult diagEmbed(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "diag_embed needs at least one dim");
  FailureOr<int64_t> a = c.wrapDim(2, self.rank() + 1);
  FailureOr<int64_t> b = c.wrapDim(3, self.rank() + 1);
  if (failed(a) || failed(b))
    return failure();
  if (*a == *b)
    return c.fail(FakeError::Dim, "diag_embed needs two different dims, not " +
                                      c.dim(2).str() + " and " +
                                      c.dim(3).str());
  Dim offset = c.dim(1);
  Dim length = self.sizes.back() + (c.lt(offset, 0) ? Dim(0) - offset : offset);
  Dims sizes(self.sizes.begin(), self.sizes.end() - 1);
  sizes.insert(sizes.begin() + std::min(*a, *b), length);
  sizes.insert(sizes.begin() + std::max(*a, *b), length);
  return rowMajor(c, self.dtype, sizes);
}

/// A square matrix with `elements` on a diagonal.
static LogicalResult onDiagonal(FakeCall &c, Dim elements, Dim offset) {
  Dim length = elements + (c.lt(offset, 0) ? Dim(0) - offset : offset);
  return rowMajor(c, c.tensor(0).dtype, {length, length});
}

static LogicalResult diagFlat(FakeCall &c) {
  return onDiagonal(c, c.tensor(0).numel(), c.dim(1));
}

/// Of a vector a matrix, of a matrix a copy of its diagonal.
static LogicalResult diag(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() != 1 && self.rank() != 2)
    return c.fail(FakeError::Dim, "diag needs 1 or 2 dims, " + c.nameOf(&self) +
                                      " has " + Twine(self.rank()));
  Dim offset = c.dim(1);
  if (self.rank() == 1)
    return onDiagonal(c, self.sizes[0], offset);
  bool below = c.lt(offset, 0);
  Dim rows = below ? self.sizes[0] + offset : self.sizes[0];
  Dim columns = below ? self.sizes[1] : self.sizes[1] - offset;
  return rowMajor(c, self.dtype, {maxDim(minDim(rows, columns), 0)});
}

/// Sequences of different lengths, padded to the longest: [longest, batch, …],
/// or with the batch first.
static LogicalResult padSequence(FakeCall &c) {
  TensorList list;
  if (failed(listOf(c, 0, list)))
    return failure();
  StringRef side = c.text(3);
  if (side != "left" && side != "right")
    return c.fail(FakeError::Other, "padding_side must be 'left' or 'right', "
                                    "not '" +
                                        side + "'");
  const TensorMeta &first = *list.front();
  if (first.sizes.empty())
    return c.fail(FakeError::Dim, c.nameOf(list.front()) +
                                      " needs at least one dim, it has none");
  Dim longest = 0;
  for (const TensorMeta *t : list) {
    if (t->sizes.empty())
      return c.fail(FakeError::Dim, c.nameOf(list.front()) +
                                        " needs at least one dim, it has none");
    longest = maxDim(longest, t->sizes[0]);
    if (failed(c.broadcastTo(ArrayRef<Dim>(t->sizes).drop_front(),
                             ArrayRef<Dim>(first.sizes).drop_front(), t)))
      return failure();
  }
  Dims sizes(first.sizes.begin() + 1, first.sizes.end());
  Dim outer[] = {longest, Dim(int64_t(list.size()))};
  if (c.flag(1))
    std::swap(outer[0], outer[1]);
  sizes.insert(sizes.begin(), std::begin(outer), std::end(outer));
  return rowMajor(c, first.dtype, sizes);
}

/// All elements of all tensors, one tensor after the other.
static LogicalResult flattenDense(FakeCall &c) {
  TensorList list;
  if (failed(listOf(c, 0, list)))
    return failure();
  FailureOr<DType> dtype = joinedDType(c, list);
  if (failed(dtype))
    return failure();
  Dim total = 0;
  for (const TensorMeta *t : list)
    total = total + t->numel();
  return rowMajor(c, *dtype, {total});
}

//===----------------------------------------------------------------------===//
// Derivatives of views: zeros of the view's base, partly filled
//===----------------------------------------------------------------------===//

/// The sizes of the part of a base of `sizes` that the gradient is of.
static FailureOr<Dims> viewedPart(FakeCall &c, const Dims &sizes) {
  TensorMeta base = TensorMeta::contiguous(c.tensor(0).dtype, sizes);
  if (c.schema().base == "diagonal_backward") {
    FailureOr<TensorMeta> part =
        diagonalOf(c, base, c.dim(2), c.dim(3), c.dim(4));
    return failed(part) ? FailureOr<Dims>(failure()) : part->sizes;
  }
  FailureOr<int64_t> dim = c.wrapDim(2, sizes.size());
  if (failed(dim) || sizes.empty())
    return failed(dim) ? FailureOr<Dims>(failure()) : sizes;
  Dim size = sizes[*dim];
  if (c.schema().base == "select_backward") {
    if (failed(checkedIndex(c, c.dim(3), size, *dim)))
      return failure();
    return selected(base, *dim, 0).sizes;
  }
  Dim step = c.dim(5);
  if (c.lt(step, 1))
    return c.fail(FakeError::Index,
                  "a slice's step must be positive, it is " + step.str());
  Dim start = clampIndex(c, c.dim(3), size), end = clampEnd(c, c.dim(4), size);
  Dims part = sizes;
  part[*dim] = lengthBetween(c, start, end, size, step);
  return part;
}

static LogicalResult viewBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0);
  Dims sizes = c.dims(1);
  for (Dim d : sizes)
    if (c.lt(d, 0))
      return c.fail(FakeError::Dim,
                    "size " + d.str() + " must not be negative");
  unsigned dimArg = c.schema().base == "diagonal_backward" ? 3 : 2;
  if (failed(c.wrapDim(dimArg, sizes.size())))
    return failure();
  FailureOr<Dims> part = viewedPart(c, sizes);
  if (failed(part))
    return failure();
  if (!c.sameSizes(grad.sizes, *part))
    return c.fail(FakeError::Shape,
                  "the gradient " + c.show(grad) +
                      " does not have the size of the view, " +
                      dimsText(*part));
  return rowMajor(c, grad.dtype, sizes);
}

static LogicalResult unfoldBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0);
  Dims sizes = c.dims(1);
  FailureOr<int64_t> dim = c.wrapDim(2, sizes.size());
  if (failed(dim))
    return failure();
  if (grad.rank() !=
      static_cast<int64_t>(std::max<size_t>(sizes.size(), 0)) + 1)
    return c.fail(FakeError::Dtype,
                  "the gradient " + c.show(grad) +
                      " needs one dim more than an input of size " +
                      dimsText(sizes));
  // One window after the other along `dim`, their elements in a last dim.
  for (int64_t d = 0; d < grad.rank() - 1; ++d)
    if (d != *dim && !c.mustEq(grad.sizes[d], sizes[d]))
      return c.fail(FakeError::Shape,
                    c.sizeAt(grad, d) + ", the input has " + sizes[d].str());
  return rowMajor(c, grad.dtype, sizes);
}

ArrayRef<FakeRuleRow> catRules() {
  static const FakeRuleRow rows[] = {
      {"_chunk_cat.default", chunkCat},
      {"_stack.default", stack, DevicePolicy::Strict},
      {"block_diag.default", blockDiag},
      {"cartesian_prod.default", cartesianProduct},
      {"cat.default", cat, DevicePolicy::Strict},
      {"column_stack.default", stackAlong<2, 1>},
      {"concat.default", cat, DevicePolicy::Strict},
      {"concatenate.default", cat, DevicePolicy::Strict},
      {"diag.default", diag},
      {"diag_embed.default", diagEmbed},
      {"diagflat.default", diagFlat},
      {"diagonal_backward.default", viewBackward},
      {"combinations.default", combinations},
      {"diff.default", diff},
      {"dstack.default", stackAlong<3, 2>},
      {"flatten_dense_tensors.default", flattenDense},
      {"flip.default", flip},
      {"fliplr.default", flipFixed<2>},
      {"flipud.default", flipFixed<1>},
      {"hstack.default", stackAlong<1, 1>},
      {"pad_sequence.default", padSequence},
      {"repeat.default", repeat},
      {"repeat_interleave.Tensor", repeatInterleave},
      {"repeat_interleave.self_Tensor", repeatInterleaveSelf},
      {"repeat_interleave.self_int", repeatInterleaveInt},
      {"roll.default", roll},
      {"rot90.default", rot90},
      {"row_stack.default", stackAlong<2, 0>},
      {"select_backward.default", viewBackward},
      {"slice_backward.default", viewBackward},
      {"stack.default", stack, DevicePolicy::Strict},
      {"tile.default", tile},
      {"tril.default", triangle},
      {"triu.default", triangle},
      {"unfold_backward.default", unfoldBackward},
      {"vstack.default", stackAlong<2, 0>},
  };
  return rows;
}

} // namespace ft
