//===- DataSizes.cpp - Results whose size only data decide ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The annotation of such a result has a symbol for its size: the op makes the
// tensor itself.

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Families.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

static Tensor &resized(Call &call, unsigned i, const Shape &shape) {
  return call.out(i) = Tensor(call.out(i).dtype, shape);
}

//===----------------------------------------------------------------------===//
// Places of what is not 0
//===----------------------------------------------------------------------===//

static std::vector<Shape> nonzeroPlaces(const Tensor &self) {
  std::vector<Shape> places;
  forEachIndex(self.shape, [&](Index at, int64_t i) {
    if (self.complex(i) != 0.)
      places.emplace_back(at.begin(), at.end());
  });
  return places;
}

static void nonzero(Call &call) {
  std::vector<Shape> places = nonzeroPlaces(call.tensor(0));
  int64_t n = places.size(), rank = call.tensor(0).rank();
  Tensor &out = resized(call, 0, {n, rank});
  for (int64_t i = 0; i < n * rank; ++i)
    out.setInteger(i, places[i / rank][i % rank]);
}

/// A tensor for each dim; a number counts as one dim.
static void nonzeroOfDims(Call &call) {
  Tensor self = call.tensor(0);
  if (self.rank() == 0)
    self = self.reshaped({1});
  std::vector<Shape> places = nonzeroPlaces(self);
  for (unsigned d = 0; d < call.results.size(); ++d) {
    Tensor &out = resized(call, d, {int64_t(places.size())});
    for (size_t i = 0; i < places.size(); ++i)
      out.setInteger(i, places[i][d]);
  }
}

/// (self, mask), which broadcast.
static void maskedSelect(Call &call) {
  const Tensor &self = call.tensor(0), &mask = call.tensor(1);
  Shape shape(std::max(self.rank(), mask.rank()), 1), taken;
  for (const Tensor *t : {&self, &mask})
    for (int64_t d = 0; d < t->rank(); ++d)
      if (t->shape[d] != 1)
        shape[shape.size() - t->rank() + d] = t->shape[d];
  forEachIndex(shape, [&](Index at, int64_t) {
    if (mask.integer(flattenBroadcast(mask.shape, at)))
      taken.push_back(flattenBroadcast(self.shape, at));
  });
  Tensor &out = resized(call, 0, {int64_t(taken.size())});
  for (size_t i = 0; i < taken.size(); ++i)
    out.set(i, self, taken[i]);
}

/// (self, weights, minlength)
static void bincount(Call &call) {
  const Tensor &self = call.tensor(0), *weights = call.optTensor(1);
  int64_t n = call.integer(2);
  for (int64_t i = 0; i < self.numel(); ++i) {
    if (self.integer(i) < 0)
      return call.refuse("a negative number to count");
    n = std::max(n, self.integer(i) + 1);
  }
  std::vector<double> sums(n);
  for (int64_t i = 0; i < self.numel(); ++i)
    sums[self.integer(i)] += weights ? weights->real(i) : 1;
  Tensor &out = resized(call, 0, {n});
  for (int64_t i = 0; i < n; ++i)
    out.setReal(i, sums[i]);
}

//===----------------------------------------------------------------------===//
// Elements and slices that differ
//===----------------------------------------------------------------------===//

namespace {
/// The slices of a tensor along a dim, or its elements.
struct Slices {
  const Tensor &self;
  int64_t count, outer = 1, inner = 1;

  Slices(const Tensor &self, std::optional<int64_t> dim)
      : self(self), count(dim ? self.shape[*dim] : self.numel()) {
    for (int64_t d = 0; dim && d < self.rank(); ++d)
      if (d != *dim)
        (d < *dim ? outer : inner) *= self.shape[d];
  }
  int64_t size() const { return outer * inner; }
  /// Element `k` of slice `i`, which is number `i` of `of` slices.
  int64_t at(int64_t i, int64_t k, int64_t of) const {
    return (k / inner * of + i) * inner + k % inner;
  }
  /// The order of two slices by their first elements that differ.
  int compare(int64_t i, int64_t j) const {
    for (int64_t k = 0; k < size(); ++k) {
      int64_t p = at(i, k, count), q = at(j, k, count);
      bool less = self.whole() ? self.integer(p) < self.integer(q)
                               : self.real(p) < self.real(q);
      bool more = self.whole() ? self.integer(p) > self.integer(q)
                               : self.real(p) > self.real(q);
      if (less || more)
        return less ? -1 : 1;
    }
    return 0;
  }
};
} // namespace

/// One of each run of equal slices, in order or as they stand, with the number
/// of its run for each slice and the lengths of the runs.
static void unique(Call &call, std::optional<int64_t> dim, bool inOrder) {
  const Tensor &self = call.tensor(0);
  if (isComplex(self.dtype))
    return call.refuse("complex numbers have no order");
  for (int64_t i = 0; i < self.numel() && !self.whole(); ++i)
    if (std::isnan(self.real(i)))
      return call.open("NaN equals nothing");
  int64_t zeros = llvm::count(self.shape, 0);
  if (dim && (zeros > 1 || (zeros && self.shape[*dim])))
    return call.refuse("rows of no elements cannot be told apart");
  Slices slices(self, dim);
  std::vector<int64_t> order(slices.count);
  for (int64_t i = 0; i < slices.count; ++i)
    order[i] = i;
  if (inOrder)
    llvm::sort(order, [&](int64_t i, int64_t j) {
      int difference = slices.compare(i, j);
      return difference ? difference < 0 : i < j;
    });
  Shape first, counts, runs(slices.count);
  for (int64_t i : order) {
    if (first.empty() || slices.compare(first.back(), i)) {
      first.push_back(i);
      counts.push_back(0);
    }
    ++counts.back();
    runs[i] = int64_t(first.size()) - 1;
  }
  int64_t n = first.size();
  Shape shape = dim ? self.shape : Shape{n};
  if (dim)
    shape[*dim] = n;
  Tensor &out = resized(call, 0, shape);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < slices.size(); ++k)
      out.set(slices.at(i, k, n), self, slices.at(first[i], k, slices.count));
  auto asked = [&](llvm::StringRef name) {
    int i = call.schema.argIndex(name);
    return i >= 0 && call.flag(i);
  };
  // Slices have them unasked.
  if (dim || asked("return_inverse")) {
    Tensor &inverse =
        resized(call, 1, dim ? Shape{slices.count} : Shape(self.shape));
    for (int64_t i = 0; i < slices.count; ++i)
      inverse.setInteger(i, runs[i]);
  }
  if (dim || asked("return_counts")) {
    Tensor &lengths = resized(call, 2, {n});
    for (int64_t i = 0; i < n; ++i)
      lengths.setInteger(i, counts[i]);
  }
}

/// (self, sorted, return_inverse[, return_counts])
static void uniqueElements(Call &call) { unique(call, std::nullopt, true); }

/// (self, return_inverse, return_counts, dim)
static void uniqueRuns(Call &call) {
  int64_t rank = call.tensor(0).rank();
  std::optional<int64_t> dim;
  // Dim 0 of a vector, written so, is none.
  if (call.has(3) && !(rank == 1 && call.integer(3) == 0))
    dim = call.dim(3, rank);
  unique(call, dim, false);
}

/// (self, dim, …)
template <bool inOrder>
static void uniqueSlices(Call &call) {
  unique(call, call.dim(1, call.tensor(0).rank()), inOrder);
}

llvm::ArrayRef<OpRow> ft::interpreter::dataSizesOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_unique.default", uniqueElements, Exact},
      {"_unique2.default", uniqueElements, Exact},
      {"argwhere.default", nonzero, Exact},
      {"bincount.default", bincount, Accumulated},
      {"masked_select.default", maskedSelect, Exact},
      {"nonzero.default", nonzero, Exact},
      {"nonzero_numpy.default", nonzeroOfDims, Exact},
      {"unique_consecutive.default", uniqueRuns, Exact},
      {"unique_dim.default", uniqueSlices<true>, Exact},
      {"unique_dim_consecutive.default", uniqueSlices<false>, Exact},
      {"where.default", nonzeroOfDims, Exact},
  };
  return rows;
}
