//===- View.cpp - Views that reshape or reorder dims -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/ViewRules.h"

using namespace llvm;

namespace ft {

//===----------------------------------------------------------------------===//
// Another shape
//===----------------------------------------------------------------------===//

FailureOr<Dims> inferSizes(FakeCall &c, Dims sizes, Dim count) {
  int64_t inferred = -1;
  Dim rest = 1;
  for (auto [d, size] : enumerate(sizes)) {
    if (size.is(-1)) {
      if (inferred >= 0)
        return c.fail(FakeError::Shape, "only one size can be -1");
      inferred = static_cast<int64_t>(d);
    } else if (c.lt(size, 0)) {
      return c.fail(FakeError::Shape,
                    "size " + size.str() + " must not be negative");
    } else {
      rest = rest * size;
    }
  }
  std::string shape = dimsText(sizes);
  if (inferred < 0) {
    if (!c.mustEq(rest, count))
      return c.fail(FakeError::Shape, "shape " + shape + " has " + rest.str() +
                                          " elements, not " + count.str());
    return sizes;
  }
  auto ambiguous = [&] {
    return c.fail(FakeError::Shape,
                  "-1 in shape " + shape +
                      " is ambiguous for a tensor without elements");
  };
  // No size beside -1 may be 0, since any would do there: also where the others
  // cancel, as in [b, s, 16] as [b, s, 4, -1], which PyTorch refuses for b = 0.
  // Of a product each factor is asked for, which makes the guards plain.
  if (rest.is(0) ||
      any_of(sizes, [&](Dim d) { return !d.is(-1) && c.isEmpty(d); }))
    return ambiguous();
  Dim size = floorDiv(count, rest);
  if (!c.mustEq(size * rest, count))
    return c.fail(FakeError::Shape, "shape " + shape + " does not divide " +
                                        count.str() + " elements");
  sizes[inferred] = size;
  return sizes;
}

LogicalResult viewAs(FakeCall &c, const TensorMeta &self, ArrayRef<Dim> sizes) {
  std::optional<Dims> strides = viewStrides(c, self, sizes);
  if (!strides)
    return c.fail(FakeError::Shape,
                  "the view of " + c.show(self) + " as " + dimsText(sizes) +
                      " spans dims that are apart in memory; use reshape");
  TensorMeta out = self;
  out.sizes.assign(sizes.begin(), sizes.end());
  out.strides = *strides;
  return c.view(std::move(out), 0);
}

LogicalResult reshapeAs(FakeCall &c, const TensorMeta &self,
                        ArrayRef<Dim> sizes) {
  if (std::optional<Dims> strides =
          viewStrides(c, self, sizes, /*mayCopy=*/true)) {
    TensorMeta out = self;
    out.sizes.assign(sizes.begin(), sizes.end());
    out.strides = *strides;
    return c.view(std::move(out), 0);
  }
  TensorMeta out = TensorMeta::contiguous(self.dtype, sizes, self.device);
  out.conj = self.conj;
  out.neg = self.neg;
  return c.fresh(std::move(out));
}

static LogicalResult view(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<Dims> sizes = inferSizes(c, c.dims(1), self.numel());
  return failed(sizes) ? failure() : viewAs(c, self, *sizes);
}

static LogicalResult reshapeCopy(FakeCall &c) {
  FailureOr<Dims> sizes = inferSizes(c, c.dims(1), c.tensor(0).numel());
  if (failed(sizes))
    return failure();
  return c.fresh(TensorMeta::contiguous(c.tensor(0).dtype, *sizes, c.device));
}

static LogicalResult reshape(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<Dims> sizes = inferSizes(c, c.dims(1), self.numel());
  return failed(sizes) ? failure() : reshapeAs(c, self, *sizes);
}

static LogicalResult viewLike(FakeCall &c) {
  FailureOr<Dims> sizes = inferSizes(c, c.tensor(1).sizes, c.tensor(0).numel());
  return failed(sizes) ? failure() : viewAs(c, c.tensor(0), *sizes);
}

static LogicalResult reshapeLike(FakeCall &c) {
  FailureOr<Dims> sizes = inferSizes(c, c.tensor(1).sizes, c.tensor(0).numel());
  return failed(sizes) ? failure() : reshapeAs(c, c.tensor(0), *sizes);
}

static LogicalResult flatten(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> first = c.wrapDim(1, self.rank());
  FailureOr<int64_t> last = c.wrapDim(2, self.rank());
  if (failed(first) || failed(last))
    return failure();
  if (*first > *last)
    return c.fail(FakeError::Dim, "flatten's start dim " + Twine(*first) +
                                      " comes after its end dim " +
                                      Twine(*last));
  if (self.sizes.empty())
    return reshapeAs(c, self, {Dim(1)});
  if (*first == *last)
    return c.view(self, 0);
  Dims sizes(self.sizes.begin(), self.sizes.begin() + *first);
  sizes.push_back(
      product(ArrayRef<Dim>(self.sizes).slice(*first, *last - *first + 1)));
  sizes.append(self.sizes.begin() + *last + 1, self.sizes.end());
  return reshapeAs(c, self, sizes);
}

static LogicalResult ravel(FakeCall &c) {
  return reshapeAs(c, c.tensor(0), {c.tensor(0).numel()});
}

static LogicalResult unflatten(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  if (failed(dim))
    return failure();
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "unflatten needs at least one dim");
  if (c.length(2) == 0)
    return c.fail(FakeError::Shape, "unflatten needs at least one size");
  FailureOr<Dims> split = inferSizes(c, c.dims(2), self.sizes[*dim]);
  if (failed(split))
    return failure();
  Dims sizes(self.sizes.begin(), self.sizes.begin() + *dim);
  sizes.append(split->begin(), split->end());
  sizes.append(self.sizes.begin() + *dim + 1, self.sizes.end());
  return viewAs(c, self, sizes);
}

//===----------------------------------------------------------------------===//
// Dims added, dropped, repeated
//===----------------------------------------------------------------------===//

LogicalResult unsqueezeAt(FakeCall &c, unsigned dimArg) {
  TensorMeta out = c.tensor(0);
  FailureOr<int64_t> dim = c.wrapDim(dimArg, out.rank() + 1);
  if (failed(dim))
    return failure();
  Dim stride = *dim < out.rank() ? out.sizes[*dim] * out.strides[*dim] : Dim(1);
  out.sizes.insert(out.sizes.begin() + *dim, Dim(1));
  out.strides.insert(out.strides.begin() + *dim, stride);
  return c.view(std::move(out), 0);
}

static LogicalResult unsqueeze(FakeCall &c) { return unsqueezeAt(c, 1); }

static LogicalResult dropOnes(FakeCall &c, ArrayRef<int64_t> dims) {
  const TensorMeta &self = c.tensor(0);
  TensorMeta out = self;
  out.sizes.clear();
  out.strides.clear();
  for (int64_t d = 0; d < self.rank(); ++d) {
    if (is_contained(dims, d) && c.eq(self.sizes[d], 1))
      continue;
    out.sizes.push_back(self.sizes[d]);
    out.strides.push_back(self.strides[d]);
  }
  return c.view(std::move(out), 0);
}

static LogicalResult squeezeAll(FakeCall &c) {
  SmallVector<int64_t, 6> all;
  for (int64_t d = 0; d < c.tensor(0).rank(); ++d)
    all.push_back(d);
  return dropOnes(c, all);
}

static LogicalResult squeezeDim(FakeCall &c) {
  FailureOr<int64_t> dim = c.wrapDim(1, c.tensor(0).rank());
  return failed(dim) ? failure() : dropOnes(c, *dim);
}

static LogicalResult squeezeDims(FakeCall &c) {
  auto dims = c.wrapDims(1, c.tensor(0).rank(), /*emptyIsAll=*/false);
  return failed(dims) ? failure() : dropOnes(c, *dims);
}

/// A size that data decide is taken not to be 1.
static FakeCall::Fit fitExpanded(FakeCall &c, Dim have, Dim wanted) {
  auto ofData = [&](Dim d) {
    return c.scope &&
           c.scope->symbols().hasUnbacked(d.toExpr(c.scope->symbols()));
  };
  if (ofData(have) || ofData(wanted))
    return c.mustEq(wanted, have) ? FakeCall::Fit::Same : FakeCall::Fit::No;
  return c.fit(have, wanted);
}

static LogicalResult expandTo(FakeCall &c, ArrayRef<Dim> sizes) {
  const TensorMeta &self = c.tensor(0);
  if (sizes.size() < self.sizes.size())
    return c.fail(FakeError::Shape, "expand to " + Twine(sizes.size()) +
                                        " dims, but " + c.nameOf(&self) +
                                        " has " + Twine(self.rank()));
  TensorMeta out = self;
  out.sizes.assign(sizes.begin(), sizes.end());
  out.strides.assign(sizes.size(), Dim(0));
  size_t added = sizes.size() - self.sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) {
    Dim wanted = sizes[d];
    if (d < added) {
      if (c.lt(wanted, 0))
        return c.fail(FakeError::Shape, "expand cannot give size " +
                                            wanted.str() + " to the new dim " +
                                            Twine(d));
      // Row-major steps for new dims of one element, as PyTorch has them.
      continue;
    }
    Dim have = self.sizes[d - added];
    if (wanted.is(-1) || wanted.identical(have)) {
      out.sizes[d] = have;
      out.strides[d] = self.strides[d - added];
      continue;
    }
    FakeCall::Fit how = FakeCall::Fit::Repeated;
    if (!have.is(1))
      how = fitExpanded(c, have, wanted);
    if (how == FakeCall::Fit::No)
      return c.fail(FakeError::Shape, "expand cannot turn size " + have.str() +
                                          " of dim " + Twine(d) + " into " +
                                          wanted.str());
    Dim stride = self.strides[d - added];
    if (how == FakeCall::Fit::Same) {
      out.strides[d] = stride;
      continue;
    }
    if (c.lt(wanted, 0))
      return c.fail(FakeError::Shape, "expand cannot give size " +
                                          wanted.str() + " to dim " + Twine(d));
    if (how == FakeCall::Fit::Either)
      out.strides[d] = c.broadcastStride(have, stride);
  }
  // A new dim of size 1 gets the stride that a row-major walk would give it.
  for (size_t d = added; d-- > 0;)
    if (out.sizes[d].is(1) && d + 1 < out.sizes.size())
      out.strides[d] = out.sizes[d + 1] * out.strides[d + 1];
  return c.view(std::move(out), 0);
}

static LogicalResult expand(FakeCall &c) { return expandTo(c, c.dims(1)); }
static LogicalResult expandAs(FakeCall &c) {
  return expandTo(c, c.tensor(1).sizes);
}

//===----------------------------------------------------------------------===//
// Another order of dims
//===----------------------------------------------------------------------===//

static LogicalResult permuteBy(FakeCall &c, ArrayRef<int64_t> order) {
  const TensorMeta &self = c.tensor(0);
  TensorMeta out = self;
  for (auto [to, from] : enumerate(order)) {
    out.sizes[to] = self.sizes[from];
    out.strides[to] = self.strides[from];
  }
  return c.view(std::move(out), 0);
}

static LogicalResult permute(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (c.length(1) != self.sizes.size())
    return c.fail(FakeError::Dim, "permute names " + Twine(c.length(1)) +
                                      " dims, but " + c.nameOf(&self) +
                                      " has " + Twine(self.rank()));
  auto order = c.wrapDims(1, self.rank(), /*emptyIsAll=*/false);
  return failed(order) ? failure() : permuteBy(c, *order);
}

static LogicalResult swap(FakeCall &c, int64_t a, int64_t b) {
  TensorMeta out = c.tensor(0);
  if (!out.sizes.empty()) {
    std::swap(out.sizes[a], out.sizes[b]);
    std::swap(out.strides[a], out.strides[b]);
  }
  return c.view(std::move(out), 0);
}

static LogicalResult transpose(FakeCall &c) {
  FailureOr<int64_t> a = c.wrapDim(1, c.tensor(0).rank());
  FailureOr<int64_t> b = c.wrapDim(2, c.tensor(0).rank());
  return failed(a) || failed(b) ? failure() : swap(c, *a, *b);
}

static LogicalResult t(FakeCall &c) {
  int64_t rank = c.tensor(0).rank();
  if (rank > 2)
    return c.fail(FakeError::Dim,
                  "t needs at most 2 dims, the tensor has " + Twine(rank));
  return rank < 2 ? c.view(c.tensor(0), 0) : swap(c, 0, 1);
}

static LogicalResult reverseDims(FakeCall &c) {
  SmallVector<int64_t, 6> order;
  for (int64_t d = c.tensor(0).rank(); d-- > 0;)
    order.push_back(d);
  return permuteBy(c, order);
}

template <bool Conjugate>
static LogicalResult matrixTranspose(FakeCall &c) {
  int64_t rank = c.tensor(0).rank();
  if (rank < 2)
    return c.fail(FakeError::Dim,
                  c.schema().base + " needs at least 2 dims, the tensor has " +
                      Twine(rank));
  if (failed(swap(c, rank - 2, rank - 1)))
    return failure();
  TensorMeta &out = c.results.front().meta;
  if (Conjugate && isComplex(out.dtype))
    out.conj = !out.conj;
  return success();
}

static LogicalResult movedim(FakeCall &c) {
  int64_t rank = c.tensor(0).rank();
  SmallVector<int64_t, 6> from, to;
  for (unsigned i : {1u, 2u}) {
    Dims given = c.dims(i);
    if (c.arg(i).kind == Arg::Int)
      given = {c.dim(i)};
    for (Dim d : given) {
      FailureOr<int64_t> index = c.wrapIndex(d, rank);
      if (failed(index))
        return failure();
      auto &list = i == 1 ? from : to;
      if (is_contained(list, *index))
        return c.fail(FakeError::Dim,
                      "dim " + Twine(*index) + " appears twice");
      list.push_back(*index);
    }
  }
  if (from.size() != to.size())
    return c.fail(FakeError::Dim, "movedim moves " + Twine(from.size()) +
                                      " dims to " + Twine(to.size()) +
                                      " places");
  if (rank == 0)
    return c.view(c.tensor(0), 0);
  SmallVector<int64_t, 6> order(rank, -1);
  for (auto [source, target] : zip(from, to))
    order[target] = source;
  int64_t next = 0;
  for (int64_t &place : order) {
    if (place >= 0)
      continue;
    while (is_contained(from, next))
      ++next;
    place = next++;
  }
  return permuteBy(c, order);
}

/// mH of a matrix, not of a batch of them.
static LogicalResult matrixH(FakeCall &c) {
  int64_t rank = c.tensor(0).rank();
  if (rank != 2 && rank != 0)
    return c.fail(FakeError::Dim,
                  "H is that of a matrix of 2 dims, not " + Twine(rank));
  return rank == 0 ? c.view(c.tensor(0), 0) : matrixTranspose<true>(c);
}

/// [] → [1, 1, 1]; [n] → [1, n] or [1, n, 1]; [n, m] → [n, m, 1].
static LogicalResult atleastOf(FakeCall &c, const TensorMeta &self, int rank) {
  if (self.rank() >= rank)
    return c.view(self, 0);
  TensorMeta out = self;
  if (rank >= 2 && self.rank() == 1) {
    out.strides.insert(out.strides.begin(), out.sizes[0] * out.strides[0]);
    out.sizes.insert(out.sizes.begin(), Dim(1));
  }
  out.sizes.resize(rank, Dim(1));
  out.strides.resize(rank, Dim(1));
  return c.view(std::move(out), 0);
}

template <int Rank>
static LogicalResult atleast(FakeCall &c) {
  return atleastOf(c, c.tensor(0), Rank);
}

template <int Rank>
static LogicalResult atleastEach(FakeCall &c) {
  for (auto [i, t] : enumerate(c.tensors(0))) {
    if (!t)
      return c.fail(FakeError::Other, "a tensor of the list is missing");
    if (failed(atleastOf(c, *t, Rank)))
      return failure();
    c.results.back().alias = c.arg(0).list[i].operand;
  }
  return success();
}

ArrayRef<FakeRuleRow> viewRules() {
  static const FakeRuleRow rows[] = {
      {"_reshape_copy.default", reshapeCopy},
      {"_unsafe_view.default", view},
      {"adjoint.default", matrixTranspose<true>},
      {"atleast_1d.Sequence", atleastEach<1>, DevicePolicy::First},
      {"atleast_1d.default", atleast<1>},
      {"atleast_2d.Sequence", atleastEach<2>, DevicePolicy::First},
      {"atleast_2d.default", atleast<2>},
      {"atleast_3d.Sequence", atleastEach<3>, DevicePolicy::First},
      {"atleast_3d.default", atleast<3>},
      {"broadcast_to.default", expand},
      {"expand.default", expand},
      {"expand_as.default", expandAs, DevicePolicy::First},
      {"flatten.using_ints", flatten},
      {"mH.a", matrixTranspose<true>},
      {"mH.default", matrixTranspose<true>},
      {"mT.a", matrixTranspose<false>},
      {"mT.default", matrixTranspose<false>},
      {"matrix_H.default", matrixH},
      {"moveaxis.int", movedim},
      {"moveaxis.intlist", movedim},
      {"movedim.int", movedim},
      {"movedim.intlist", movedim},
      {"numpy_T.a", reverseDims},
      {"numpy_T.default", reverseDims},
      {"permute.default", permute},
      {"ravel.default", ravel},
      {"reshape.default", reshape},
      {"reshape_as.default", reshapeLike, DevicePolicy::First},
      {"squeeze.default", squeezeAll},
      {"squeeze.dim", squeezeDim},
      {"squeeze.dims", squeezeDims},
      {"squeeze_.default", squeezeAll},
      {"squeeze_.dim", squeezeDim},
      {"squeeze_.dims", squeezeDims},
      {"swapaxes.default", transpose},
      {"swapaxes_.default", transpose},
      {"swapdims.default", transpose},
      {"swapdims_.default", transpose},
      {"t.default", t},
      {"t_.default", t},
      {"transpose.int", transpose},
      {"transpose_.default", transpose},
      {"unflatten.int", unflatten},
      {"unsqueeze.default", unsqueeze},
      {"unsqueeze_.default", unsqueeze},
      {"view.default", view},
      {"view_copy.default", reshapeCopy},
      {"view_as.default", viewLike, DevicePolicy::First},
  };
  return rows;
}

} // namespace ft
