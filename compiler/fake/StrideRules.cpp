//===- StrideRules.cpp - Strides of results --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ft {

static bool less(Dim a, Dim b) {
  return a.isStatic() && b.isStatic() && a.value() < b.value();
}

/// Whether a stride is the smaller one: of symbolic ones, whether the other is
/// its multiple.
static bool smallerStride(Dim a, Dim b) {
  if (a.isStatic() && b.isStatic())
    return a.value() < b.value();
  return a != b && !a.is(0) && !b.is(0) && mod(b, a).is(0);
}

//===----------------------------------------------------------------------===//
// Dense layouts
//===----------------------------------------------------------------------===//

bool isDense(ArrayRef<Dim> sizes, ArrayRef<Dim> strides) {
  if (sizes.size() == 1)
    return less(sizes[0], 2) || strides[0].is(1);
  SmallVector<unsigned, 6> order;
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (!less(sizes[d], 2))
      order.push_back(d);
  // Nearly always row-major: walk from the inner end. Symbolic strides are
  // not in a total order, so the sort must be one that does not mind.
  std::reverse(order.begin(), order.end());
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t j = i; j > 0; --j) {
      unsigned a = order[j - 1], b = order[j];
      if (!smallerStride(strides[b], strides[a]) &&
          !(strides[a] == strides[b] && a < b))
        break;
      std::swap(order[j - 1], order[j]);
    }
  Dim running = 1;
  for (unsigned d : order) {
    if (strides[d] != running)
      return false;
    running = running * sizes[d];
  }
  return true;
}

Dims denseStrides(ArrayRef<Dim> sizes, ArrayRef<int64_t> order) {
  Dims strides(sizes.size());
  Dim running = 1;
  for (int64_t d : reverse(order)) {
    strides[d] = running;
    running = running * atLeastOne(sizes[d]);
  }
  return strides;
}

static constexpr int64_t kNhwc[] = {0, 2, 3, 1};
static constexpr int64_t kNdhwc[] = {0, 2, 3, 4, 1};

static ArrayRef<int64_t> channelsLastOrder(size_t rank) {
  return rank == 4 ? ArrayRef<int64_t>(kNhwc) : ArrayRef<int64_t>(kNdhwc);
}

Dims channelsLastStrides(ArrayRef<Dim> sizes) {
  // Unlike row-major strides, these count a size of 0 as it is.
  Dims strides(sizes.size());
  Dim running = 1;
  for (int64_t d : reverse(channelsLastOrder(sizes.size()))) {
    strides[d] = running;
    running = running * atLeastOne(sizes[d]);
  }
  return strides;
}

bool isChannelsLast(const TensorMeta &t) {
  if (t.rank() != 4 && t.rank() != 5)
    return false;
  Dim running = 1;
  for (int64_t d : reverse(channelsLastOrder(t.sizes.size()))) {
    if (t.sizes[d].is(1))
      continue;
    if (t.strides[d] != running)
      return false;
    running = running * t.sizes[d];
  }
  return true;
}

bool suggestsChannelsLast(const TensorMeta &t) {
  if ((t.rank() != 4 && t.rank() != 5) || t.strides[1].is(0))
    return false;
  // From the innermost dim (channels) outwards, strides must not shrink.
  Dim running = 0;
  for (int64_t d : reverse(channelsLastOrder(t.sizes.size()))) {
    if (t.sizes[d].is(0) || smallerStride(t.strides[d], running))
      return false;
    // N111 and the like: as much row-major as channels last.
    if (d == 0 && running == t.strides[1])
      return false;
    running = t.strides[d];
    if (!less(t.sizes[d], 2))
      running = running * t.sizes[d];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The order of dims that results inherit
//===----------------------------------------------------------------------===//
// The dims are sorted by an insertion sort, inner to outer, starting from
// row-major order. Two dims are compared on one operand after the other until
// one decides: a stride of 0 (broadcast) does not decide, neither do equal
// strides unless the inner dim is the larger; otherwise the smaller stride goes
// inside. The sort is not quite an ordering (ambiguous pairs are skipped, not
// equal), so it must be done exactly this way to give PyTorch's layouts.
//
//   [3, 4] strides [1, 3]  with  [3, 4] strides [4, 1]: the first decides,
//   the result has strides [1, 3].
//
// Cost: rank² × operands comparisons, for ranks of 6 at most in practice.

namespace {
struct Operand {
  ArrayRef<Dim> sizes, strides;
  size_t shift;
  /// The stride along dim `d` of the broadcast shape.
  Dim stride(size_t d, ArrayRef<Dim> shape) const {
    if (d < shift)
      return 0;
    size_t own = d - shift;
    if (sizes[own].is(1) && !shape[d].is(1))
      return 0;
    return strides[own];
  }
};
} // namespace

static SmallVector<int64_t, 6> sortedOrder(ArrayRef<Operand> operands,
                                           ArrayRef<Dim> shape) {
  auto rank = static_cast<int64_t>(shape.size());
  SmallVector<int64_t, 6> perm; // inner to outer
  for (int64_t d = rank; d-- > 0;)
    perm.push_back(d);
  // 1: swap, -1: in order, 0: cannot tell.
  auto compare = [&](int64_t inner, int64_t outer) {
    for (const Operand &t : operands) {
      Dim a = t.stride(inner, shape), b = t.stride(outer, shape);
      if (a.is(0) || b.is(0))
        continue;
      if (a == b) {
        if (less(shape[outer], shape[inner]))
          return 1;
        continue;
      }
      return smallerStride(b, a) ? 1 : -1;
    }
    return 0;
  };
  for (int64_t i = 1; i < rank; ++i) {
    int64_t at = i;
    for (int64_t j = i; j-- > 0;) {
      int verdict = compare(perm[j], perm[at]);
      if (verdict > 0) {
        std::swap(perm[j], perm[at]);
        at = j;
      } else if (verdict < 0) {
        break;
      }
    }
  }
  std::reverse(perm.begin(), perm.end());
  return perm;
}

Dims likeStrides(const TensorMeta &t) {
  return elementwiseStrides({&t}, t.sizes);
}

Dims cloneStrides(const TensorMeta &t) {
  return isDense(t.sizes, t.strides) ? t.strides : likeStrides(t);
}

std::optional<Dims> formatStrides(StringRef format, ArrayRef<Dim> sizes,
                                  const TensorMeta *like) {
  if (format == "preserve_format") {
    if (!like)
      return contiguousStrides(sizes);
    if (like->sizes.size() == sizes.size())
      return likeStrides(*like);
  }
  if (format == "channels_last")
    return sizes.size() == 4 ? std::optional(channelsLastStrides(sizes))
                             : std::nullopt;
  if (format == "channels_last_3d")
    return sizes.size() == 5 ? std::optional(channelsLastStrides(sizes))
                             : std::nullopt;
  return contiguousStrides(sizes);
}

Dims followingStrides(ArrayRef<Dim> sizes, const TensorMeta &like) {
  if ((sizes.size() == 4 || sizes.size() == 5) &&
      like.sizes.size() == sizes.size() && suggestsChannelsLast(like))
    return channelsLastStrides(sizes);
  return contiguousStrides(sizes);
}

Dims elementwiseStrides(ArrayRef<const TensorMeta *> tensors,
                        ArrayRef<Dim> sizes) {
  if (sizes.empty())
    return {};
  if (sizes.size() == 1)
    return {Dim(1)};
  SmallVector<Operand, 4> operands;
  bool allContiguous = true, allChannelsLast = true;
  bool empty = is_contained(sizes, Dim(0));
  for (const TensorMeta *t : tensors) {
    // 0-dim tensors are numbers, they have no say.
    if (t->sizes.empty())
      continue;
    operands.push_back({t->sizes, t->strides, sizes.size() - t->sizes.size()});
    bool whole = ArrayRef<Dim>(t->sizes) == sizes;
    // Of no elements every layout is contiguous, also what broadcasts to it.
    allContiguous &= empty || (whole && isContiguous(*t));
    allChannelsLast &= whole && isChannelsLast(*t);
  }
  if (operands.empty() || (allContiguous && !allChannelsLast))
    return contiguousStrides(sizes);
  if (allChannelsLast && !allContiguous)
    return channelsLastStrides(sizes);
  return denseStrides(sizes, sortedOrder(operands, sizes));
}

Dims orderedStrides(ArrayRef<const TensorMeta *> tensors, ArrayRef<Dim> sizes) {
  if (sizes.size() < 2 || is_contained(sizes, Dim(0)))
    return contiguousStrides(sizes);
  SmallVector<Operand, 4> operands;
  for (const TensorMeta *t : tensors)
    if (!t->sizes.empty())
      operands.push_back(
          {t->sizes, t->strides, sizes.size() - t->sizes.size()});
  return denseStrides(sizes, sortedOrder(operands, sizes));
}

Dims selectedStrides(ArrayRef<const TensorMeta *> tensors,
                     ArrayRef<Dim> sizes) {
  TensorMeta out;
  out.sizes.assign(sizes.begin(), sizes.end());
  out.strides = orderedStrides(tensors, sizes);
  return isContiguous(out) ? out.strides : contiguousStrides(sizes);
}

//===----------------------------------------------------------------------===//
// Views of another shape
//===----------------------------------------------------------------------===//
// Dims that lie one after the other in memory form a chunk, seen as one long
// dim. From the inner end, new dims are taken until they fill a chunk exactly;
// a new dim that would reach over the end of a chunk makes the view impossible.
//
//   [4, 3] strides [1, 4]: two chunks, 4 (stride 1) and 3 (stride 4).
//   [2, 2, 3]: 3 fills the inner chunk, 2·2 the outer one: strides [2, 1, 4].
//   [12]: 12 elements in a chunk of 3: impossible.

/// The strides of dims of one element mean nothing, but are compared. PyTorch
/// derives them by turning the tensor's dims into the wanted ones from the
/// left: a dim that fits is kept; otherwise dims are merged until the product
/// is divisible by the wanted size, which is then split off.
static void fixUnitStrides(const TensorMeta &t, ArrayRef<Dim> wanted,
                           Dims &strides) {
  auto fixed = [](Dim d) { return d.isStatic(); };
  if (!all_of(t.sizes, fixed) || !all_of(wanted, fixed))
    return;
  Dims sizes = t.sizes, have = t.strides;
  size_t at = 0;
  for (Dim length : wanted) {
    if (at == sizes.size()) {
      sizes.push_back(1);
      have.push_back(have.empty() ? Dim(1) : have.back());
    }
    if (sizes[at].is(length.value())) {
      ++at;
      continue;
    }
    Dim merged = sizes[at];
    size_t end = at;
    while (merged.value() % length.value() && end + 1 < sizes.size())
      merged = merged * sizes[++end];
    Dim stride = have[end];
    for (size_t d = at; d < end; ++d)
      if (!sizes[d].is(1))
        stride = minDim(stride, have[d]);
    Dim rest = floorDiv(merged, length);
    sizes.erase(sizes.begin() + at, sizes.begin() + end + 1);
    have.erase(have.begin() + at, have.begin() + end + 1);
    if (!rest.is(1) || merged != length) {
      sizes.insert(sizes.begin() + at, rest);
      have.insert(have.begin() + at, stride);
    }
    sizes.insert(sizes.begin() + at, length);
    have.insert(have.begin() + at, stride * rest);
    ++at;
  }
  for (size_t d = 0; d < wanted.size(); ++d)
    if (wanted[d].is(1))
      strides[d] = have[d];
}

/// The chunks, with questions on sizes answered by `same` and `reaches`
/// (filled < chunk).
static std::optional<Dims> fillChunks(const TensorMeta &t, ArrayRef<Dim> sizes,
                                      function_ref<bool(Dim, Dim)> same,
                                      function_ref<bool(Dim, Dim)> below) {
  Dims strides(sizes.size());
  auto next = static_cast<int64_t>(sizes.size()) - 1;
  Dim base = t.strides.back();
  Dim chunk = 1, filled = 1;
  for (int64_t d = t.rank() - 1; d >= 0; --d) {
    chunk = chunk * t.sizes[d];
    bool ends = d == 0 || (!t.sizes[d - 1].is(1) &&
                           !same(t.strides[d - 1], chunk * base));
    if (!ends)
      continue;
    while (next >= 0 && (sizes[next].is(1) || below(filled, chunk))) {
      strides[next] = filled * base;
      filled = filled * sizes[next];
      --next;
    }
    if (!same(filled, chunk))
      return std::nullopt;
    if (d > 0) {
      base = t.strides[d - 1];
      chunk = filled = 1;
    }
  }
  return next == -1 ? std::optional(strides) : std::nullopt;
}

static bool isFixed(ArrayRef<Dim> dims) {
  return all_of(dims, [](Dim d) { return d.isStatic(); });
}

// Where sizes are symbols, a view that holds whatever they are comes first:
// chunks that are known to be one, filled by dims whose product is known to be
// the chunk's. It is right for sizes of 1 and 0, too, where others would do as
// well. Only if there is none, the example decides.
std::optional<Dims> viewStrides(FakeCall &call, const TensorMeta &t,
                                ArrayRef<Dim> sizes, bool mayCopy) {
  if (t.sizes.empty())
    return Dims(sizes.size(), Dim(1));
  Dim count = t.numel();
  if (count.is(0))
    return contiguousStrides(sizes);
  // The usual case, and the one that needs no relation between symbols.
  if (isContiguous(t) && t.strides == contiguousStrides(t.sizes))
    return contiguousStrides(sizes);
  if (!isFixed(t.sizes) || !isFixed(sizes) || !isFixed(t.strides)) {
    auto surely = [&](Dim a, Dim b) { return call.surelyEq(a, b); };
    std::optional<Dims> strides =
        fillChunks(t, sizes, surely, [&](Dim filled, Dim chunk) {
          return filled.isStatic() && chunk.isStatic()
                     ? filled.value() < chunk.value()
                     : !call.surelyEq(filled, chunk);
        });
    if (strides || mayCopy)
      return strides;
  }
  std::optional<Dims> strides = fillChunks(
      t, sizes, [&](Dim a, Dim b) { return call.eq(a, b); },
      [&](Dim a, Dim b) { return call.lt(a, b); });
  if (strides)
    fixUnitStrides(t, sizes, *strides);
  return strides;
}

bool overlapsItself(const TensorMeta &t) {
  for (auto [size, stride] : zip(t.sizes, t.strides))
    if (size.is(0))
      return false;
  for (auto [size, stride] : zip(t.sizes, t.strides))
    if (stride.is(0) && !less(size, 2))
      return true;
  return false;
}

} // namespace ft
