//===- Indexing.cpp - Reading elements that indices name ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Indexing.h"

#include "tests/interpreter/Families.h"

using namespace ft;
using namespace ft::interpreter;

IndexedPlaces::IndexedPlaces(Call &call, const Shape &shape,
                             llvm::ArrayRef<const Tensor *> indices,
                             bool clampOutside) {
  // Masks stand for the indices of their true elements, one for each dim.
  std::vector<std::optional<Tensor>> perDim;
  for (const Tensor *index : indices) {
    if (!index) {
      perDim.emplace_back();
      continue;
    }
    if (index->dtype != DType::Bool && index->dtype != DType::U8) {
      perDim.push_back(*index);
      continue;
    }
    std::vector<Shape> found;
    forEachIndex(index->shape, [&](Index at, int64_t i) {
      if (index->integer(i))
        found.emplace_back(at.begin(), at.end());
    });
    for (int64_t d = 0; d < index->rank(); ++d) {
      Tensor positions(DType::I64, {int64_t(found.size())});
      for (size_t k = 0; k < found.size(); ++k)
        positions.setInteger(k, found[k][d]);
      perDim.push_back(positions);
    }
  }
  perDim.resize(std::max(perDim.size(), shape.size()));
  Shape broadcast;
  std::vector<size_t> indexed;
  for (size_t d = 0; d < perDim.size(); ++d) {
    if (!perDim[d])
      continue;
    indexed.push_back(d);
    const Shape &other = perDim[d]->shape;
    while (broadcast.size() < other.size())
      broadcast.insert(broadcast.begin(), 1);
    for (size_t k = 0; k < other.size(); ++k)
      if (other[k] != 1)
        broadcast[broadcast.size() - other.size() + k] = other[k];
  }
  // The indexed dims become one group, in their place if they are adjacent.
  bool adjacent = !indexed.empty() &&
                  indexed.back() - indexed.front() + 1 == indexed.size();
  size_t place = adjacent ? indexed.front() : 0;
  Shape rest;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!perDim[d])
      rest.push_back(shape[d]);
  resultShape.assign(rest.begin(), rest.begin() + place);
  resultShape.insert(resultShape.end(), broadcast.begin(), broadcast.end());
  resultShape.insert(resultShape.end(), rest.begin() + place, rest.end());
  forEachIndex(resultShape, [&](Index at, int64_t) {
    Index group = at.slice(place, broadcast.size());
    size_t next = 0;
    Shape from;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!perDim[d]) {
        from.push_back(at[next < place ? next : next + broadcast.size()]);
        ++next;
        continue;
      }
      int64_t value =
          perDim[d]->integer(flattenBroadcast(perDim[d]->shape, group));
      if (clampOutside)
        value = std::clamp<int64_t>(value, -shape[d], shape[d] - 1);
      if (value < -shape[d] || value >= shape[d]) {
        call.refuse("an index out of range");
        value = 0;
      }
      from.push_back(value < 0 ? value + shape[d] : value);
    }
    places.push_back(numelOf(shape) ? flatten(shape, from) : 0);
  });
}

static void index(Call &call) {
  const Tensor &self = call.tensor(0);
  std::vector<const Tensor *> indices = call.tensors(1);
  IndexedPlaces where(call, self.shape, indices, false);
  if (!call.error.empty())
    return;
  for (size_t i = 0; i < where.places.size(); ++i)
    call.out().set(i, self, where.places[i]);
}

/// Outside of the mask an index may be anything; the result is `fill`.
static void unsafeMaskedIndex(Call &call) {
  const Tensor &self = call.tensor(0), &mask = call.tensor(1);
  std::vector<const Tensor *> indices = call.tensors(2);
  IndexedPlaces where(call, self.shape, indices, true);
  Tensor value(call.out().dtype, {});
  value.setReal(0, call.number(3));
  forEachIndex(where.resultShape, [&](Index at, int64_t i) {
    if (mask.integer(flattenBroadcast(mask.shape, at)))
      call.out().set(i, self, where.places[i]);
    else
      call.out().set(i, value, 0);
  });
}

static void gather(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(2);
  int64_t dim = call.dim(1, self.rank());
  forEachIndex(indices.shape, [&](Index at, int64_t i) {
    int64_t k = indices.integer(i);
    if (self.rank() == 0) {
      if (k != 0)
        call.refuse("an index out of range");
      return call.out().set(i, self, 0);
    }
    Shape from(at.begin(), at.end());
    if (from.empty())
      from.push_back(0);
    if (k < 0 || k >= self.shape[dim])
      return call.refuse("an index out of range");
    from[dim] = k;
    call.out().set(i, self, flatten(self.shape, from));
  });
}

static void takeAlongDim(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(1);
  Tensor &out = call.out();
  if (!call.has(2)) {
    for (int64_t i = 0, n = out.numel(); i < n; ++i) {
      int64_t k = indices.integer(i), size = self.numel();
      if (k < -size || k >= size)
        return call.refuse("an index out of range");
      out.set(i, self, k < 0 ? k + size : k);
    }
    return;
  }
  int64_t dim = call.dim(2, self.rank());
  forEachIndex(out.shape, [&](Index at, int64_t i) {
    int64_t k = indices.integer(flattenBroadcast(indices.shape, at));
    Shape from;
    for (size_t d = 0; d < at.size(); ++d)
      from.push_back(self.shape[d] == 1 ? 0 : at[d]);
    int64_t size = self.shape[dim];
    if (k < -size || k >= size)
      return call.refuse("an index out of range");
    from[dim] = k < 0 ? k + size : k;
    out.set(i, self, flatten(self.shape, from));
  });
}

static void indexSelect(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(2);
  int64_t dim = call.dim(1, self.rank());
  forEachIndex(call.out().shape, [&](Index at, int64_t i) {
    Shape from(at.begin(), at.end());
    int64_t size = self.rank() ? self.shape[dim] : 1;
    int64_t k = indices.integer(from.empty() ? 0 : from[dim]);
    if (k < 0 || k >= size)
      return call.refuse("an index out of range");
    if (self.rank() == 0)
      from.clear();
    else
      from[dim] = k;
    call.out().set(i, self, flatten(self.shape, from));
  });
}

static void take(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(1);
  for (int64_t i = 0, n = indices.numel(), size = self.numel(); i < n; ++i) {
    int64_t k = indices.integer(i);
    if (k < -size || k >= size)
      return call.refuse("an index out of range");
    call.out().set(i, self, k < 0 ? k + size : k);
  }
}

static void nonzeroStatic(Call &call) {
  const Tensor &self = call.tensor(0);
  Tensor &out = call.out();
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    out.setInteger(i, call.integer(2));
  int64_t row = 0;
  forEachIndex(self.shape, [&](Index at, int64_t i) {
    if (self.complex(i) == 0. || row >= out.shape[0])
      return;
    for (size_t d = 0; d < at.size(); ++d)
      out.setInteger(row * int64_t(at.size()) + int64_t(d), at[d]);
    ++row;
  });
}

/// (weight, indices, padding_idx…): rows of the table.
static void embedding(Call &call) {
  const Tensor &weight = call.tensor(0), &indices = call.tensor(1);
  int64_t width = weight.numel() / std::max<int64_t>(weight.shape[0], 1);
  for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
    int64_t k = indices.integer(i);
    if (k < 0 || k >= weight.shape[0])
      return call.refuse("an index out of range");
    for (int64_t j = 0; j < width; ++j)
      call.out().set(i * width + j, weight, k * width + j);
  }
}

/// grad, indices, num_weights, padding_idx, scale_grad_by_freq
static void embeddingBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &indices = call.tensor(1);
  Tensor &out = call.out();
  int64_t rows = call.integer(2), padding = call.integer(3);
  int64_t width = rows ? out.numel() / rows : 0;
  std::vector<double> sums(out.numel()), counts(rows);
  for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
    if (indices.integer(i) < 0 || indices.integer(i) >= rows)
      return call.refuse("an index out of range");
    counts[indices.integer(i)] += 1;
  }
  for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
    int64_t k = indices.integer(i);
    if (k == padding)
      continue;
    double scale = call.flag(4) ? 1 / counts[k] : 1;
    for (int64_t j = 0; j < width; ++j)
      sums[k * width + j] += grad.real(i * width + j) * scale;
  }
  for (size_t i = 0; i < sums.size(); ++i)
    out.setReal(i, sums[i]);
}

/// (grad, self or its sizes, dim, index): adds each element of `grad` up at the
/// place that it was read from: along `dim` by an index of the same shape, or
/// by one for each step.
static void readBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &index = call.tensor(3);
  Tensor &out = call.out();
  int64_t dim = call.dim(2, out.rank());
  std::vector<Complex> sums(out.numel());
  std::vector<uint64_t> whole(out.numel());
  bool steps = call.base() == "index_select_backward";
  forEachIndex(grad.shape, [&](Index at, int64_t i) {
    Shape to(at.begin(), at.end());
    int64_t k = steps ? (at.empty() ? 0 : at[dim]) : flatten(index.shape, at);
    int64_t row = index.integer(k), size = out.rank() ? out.shape[dim] : 1;
    if (row < 0 || row >= size)
      return call.refuse("an index out of range");
    if (!to.empty())
      to[dim] = row;
    sums[flatten(out.shape, to)] += grad.complex(i);
    whole[flatten(out.shape, to)] += static_cast<uint64_t>(grad.integer(i));
  });
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    if (out.whole())
      out.setInteger(i, static_cast<int64_t>(whole[i]));
    else
      out.setComplex(i, sums[i]);
}

llvm::ArrayRef<OpRow> ft::interpreter::indexingOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"index.Tensor", index, Exact},
      {"_unsafe_index.Tensor", index, Exact},
      {"index.Tensor_hacked_twin", index, Exact},
      {"_unsafe_index.Tensor_hacked_twin", index, Exact},
      {"_unsafe_masked_index.default", unsafeMaskedIndex, Exact},
      {"gather.default", gather, Exact},
      {"take_along_dim.default", takeAlongDim, Exact},
      {"gather_backward.default", readBackward, Accumulated},
      {"index_select_backward.default", readBackward, Accumulated},
      {"index_select.default", indexSelect, Exact},
      {"take.default", take, Exact},
      {"nonzero_static.default", nonzeroStatic, Exact},
      {"embedding.default", embedding, Exact},
      {"embedding_dense_backward.default", embeddingBackward, Accumulated},
      {"embedding_backward.default", embeddingBackward, Accumulated},
  };
  return rows;
}
