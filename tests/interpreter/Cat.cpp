//===- Cat.cpp - Joining tensors, putting them into larger ones -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

#include <algorithm>

using namespace ft;
using namespace ft::interpreter;

/// Writes every element of `part` into the result at `target(index)`.
template <typename Target>
static void scatterTo(Tensor &out, const Tensor &part, Target target) {
  forEachIndex(part.shape, [&](Index index, int64_t i) {
    Shape at = target(Shape(index.begin(), index.end()));
    out.set(flatten(out.shape, at), part, i);
  });
}

static void joinAlong(Call &call, llvm::ArrayRef<Tensor> parts, int64_t dim) {
  int64_t start = 0;
  for (const Tensor &part : parts) {
    if (part.rank() == 1 && part.numel() == 0 && call.out().rank() != 1)
      continue; // torch.cat skips these
    scatterTo(call.out(), part, [&](Shape at) {
      at[dim] += start;
      return at;
    });
    start += part.shape[dim];
  }
}

static std::vector<Tensor> partsOf(Call &call) {
  std::vector<Tensor> parts;
  for (const Tensor *part : call.tensors(0))
    parts.push_back(*part);
  return parts;
}

static void cat(Call &call) {
  joinAlong(call, partsOf(call), call.dim(1, call.out().rank()));
}

static void stack(Call &call) {
  int64_t dim = call.dim(1, call.out().rank());
  std::vector<Tensor> parts = partsOf(call);
  for (size_t k = 0; k < parts.size(); ++k)
    scatterTo(call.out(), parts[k], [&](Shape at) {
      at.insert(at.begin() + dim, k);
      return at;
    });
}

/// hstack, vstack, dstack, column_stack: at least so many dims each.
static void stackForms(Call &call) {
  std::vector<Tensor> parts = partsOf(call);
  llvm::StringRef base = call.base();
  int64_t dim = 0;
  for (Tensor &part : parts) {
    Shape shape = part.shape;
    int64_t rank = part.rank();
    if (base == "hstack") {
      if (rank == 0)
        shape = {1};
      dim = shape.size() > 1;
    } else if (base == "column_stack") {
      dim = 1;
      if (rank < 2)
        shape = {part.numel(), 1};
    } else if (base == "dstack") {
      dim = 2;
      if (rank == 0)
        shape = {1, 1, 1};
      else if (rank == 1)
        shape = {1, shape[0], 1};
      else if (rank == 2)
        shape.push_back(1);
    } else if (rank < 2) {
      shape = {1, part.numel()};
    }
    part = part.reshaped(shape);
  }
  joinAlong(call, parts, dim);
}

static void blockDiag(Call &call) {
  int64_t row = 0, column = 0;
  for (const Tensor &part : partsOf(call)) {
    Shape shape = part.rank() == 2   ? part.shape
                  : part.rank() == 1 ? Shape{1, part.shape[0]}
                                     : Shape{1, 1};
    scatterTo(call.out(), part.reshaped(shape),
              [&](Shape at) { return Shape{at[0] + row, at[1] + column}; });
    row += shape[0];
    column += shape[1];
  }
}

static void triangle(Call &call) {
  bool lower = call.base() == "tril";
  const Tensor &self = call.tensor(0);
  int64_t k = call.integer(1);
  forEachIndex(self.shape, [&](Index index, int64_t i) {
    int64_t above = index[index.size() - 1] - index[index.size() - 2];
    if (lower ? above <= k : above >= k)
      call.out().set(i, self, i);
  });
}

/// Where element `index` of a diagonal stands in the whole.
static Shape onDiagonal(Shape index, int64_t offset, int64_t d1, int64_t d2) {
  int64_t k = index.back();
  Shape at;
  size_t next = 0;
  for (int64_t d = 0, rank = index.size() + 1; d < rank; ++d)
    at.push_back(d == d1   ? k + std::max<int64_t>(-offset, 0)
                 : d == d2 ? k + std::max<int64_t>(offset, 0)
                           : index[next++]);
  return at;
}

static void diagEmbed(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t rank = call.out().rank(), offset = call.integer(1);
  int64_t d1 = call.dim(2, rank), d2 = call.dim(3, rank);
  scatterTo(call.out(), self,
            [&](Shape at) { return onDiagonal(at, offset, d1, d2); });
}

/// Gradients of views: zeros with the gradient in the place of the view, and
/// the scatter forms: a copy with the source there.
static void diagonalInto(Call &call) {
  bool scatter = call.base() == "diagonal_scatter";
  const Tensor &part = call.tensor(scatter ? 1 : 0);
  int64_t rank = call.out().rank(), offset = call.integer(2);
  if (scatter)
    call.out() = call.tensor(0);
  int64_t d1 = call.dim(3, rank), d2 = call.dim(4, rank);
  scatterTo(call.out(), part,
            [&](Shape at) { return onDiagonal(at, offset, d1, d2); });
}

static void selectInto(Call &call) {
  bool scatter = call.base() == "select_scatter";
  const Tensor &part = call.tensor(scatter ? 1 : 0);
  int64_t rank = call.out().rank();
  if (scatter)
    call.out() = call.tensor(0);
  int64_t dim = call.dim(2, rank), which = call.integer(3);
  if (which < 0)
    which += call.out().shape[dim];
  scatterTo(call.out(), part, [&](Shape at) {
    at.insert(at.begin() + dim, which);
    return at;
  });
}

static void sliceInto(Call &call) {
  bool scatter = call.base() == "slice_scatter";
  const Tensor &part = call.tensor(scatter ? 1 : 0);
  int64_t rank = call.out().rank();
  if (scatter)
    call.out() = call.tensor(0);
  int64_t dim = call.dim(2, rank), size = call.out().shape[dim];
  int64_t start = call.has(3) ? call.integer(3) : 0;
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  int64_t step = call.integer(5);
  scatterTo(call.out(), part, [&](Shape at) {
    at[dim] = start + at[dim] * step;
    return at;
  });
}

/// Windows that overlap add up.
static void unfoldBackward(Call &call) {
  const Tensor &grad = call.tensor(0);
  Tensor &out = call.out();
  int64_t dim = call.dim(2, out.rank()), step = call.integer(4);
  if (out.rank() == 0) {
    for (int64_t i = 0, n = grad.numel(); i < n; ++i)
      out.set(0, grad, i);
    return;
  }
  std::vector<Complex> sums(out.numel());
  forEachIndex(grad.shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end() - 1);
    at[dim] = at[dim] * step + index.back();
    sums[flatten(out.shape, at)] += grad.complex(i);
  });
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    out.setComplex(i, sums[i]);
}

static void asStridedScatter(Call &call) {
  Tensor &out = call.out();
  const Tensor &part = call.tensor(1);
  out = call.tensor(0);
  Shape sizes = call.integers(2), strides = call.integers(3);
  int64_t offset = call.has(4) ? call.integer(4) : 0;
  forEachIndex(sizes, [&](Index index, int64_t i) {
    int64_t at = offset;
    for (size_t d = 0; d < index.size(); ++d)
      at += index[d] * strides[d];
    if (at < 0 || at >= out.numel())
      return call.refuse("as_strided_scatter leaves the storage");
    out.set(at, part, i);
  });
}

static void chunkCat(Call &call) {
  std::vector<Tensor> parts = partsOf(call);
  int64_t dim = call.integer(1), chunks = call.integer(2), column = 0;
  Tensor &out = call.out();
  for (const Tensor &part : parts) {
    int64_t rank = part.rank(), d = dim < 0 ? dim + rank : dim;
    int64_t each = (part.shape[d] + chunks - 1) / chunks, inner = each;
    for (int64_t k = d + 1; k < rank; ++k)
      inner *= part.shape[k];
    forEachIndex(part.shape, [&](Index index, int64_t i) {
      Shape at(index.begin(), index.begin() + d);
      at.push_back(index[d] / each);
      int64_t rest = index[d] % each;
      for (int64_t k = d + 1; k < rank; ++k)
        rest = rest * part.shape[k] + index[k];
      at.push_back(column + rest);
      out.set(flatten(out.shape, at), part, i);
    });
    column += inner;
  }
}

/// n-th differences, each rounded; bools by exclusive or.
static void diff(Call &call) {
  Tensor self = call.tensor(0);
  if (call.has(3) || call.has(4))
    return call.open("diff with more elements at its ends");
  int64_t dim = call.dim(2, self.rank());
  for (int64_t k = 0, n = call.integer(1); k < n; ++k) {
    Shape shape = self.shape;
    shape[dim] = std::max<int64_t>(shape[dim] - 1, 0);
    Tensor next(self.dtype, shape);
    forEachIndex(shape, [&](Index index, int64_t i) {
      Shape at(index.begin(), index.end());
      int64_t low = flatten(self.shape, at);
      at[dim] += 1;
      int64_t high = flatten(self.shape, at);
      if (self.dtype == DType::Bool)
        next.setInteger(i, self.integer(high) != self.integer(low));
      else if (self.whole())
        next.setInteger(
            i, static_cast<int64_t>(static_cast<uint64_t>(self.integer(high)) -
                                    static_cast<uint64_t>(self.integer(low))));
      else
        next.setComplex(i, self.complex(high) - self.complex(low));
    });
    self = std::move(next);
  }
  call.out() = self;
}

static void diag(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t k = call.integer(1);
  bool flat = call.base() == "diagflat";
  if (flat || self.rank() == 1)
    return scatterTo(call.out(), self.reshaped({self.numel()}),
                     [&](Shape at) { return onDiagonal(at, k, 0, 1); });
  for (int64_t i = 0, n = call.out().numel(); i < n; ++i) {
    Shape at = onDiagonal({i}, k, 0, 1);
    call.out().set(i, self, flatten(self.shape, at));
  }
}

/// Every choice of one element of each.
static void cartesianProd(Call &call) {
  std::vector<Tensor> parts = partsOf(call);
  Tensor &out = call.out();
  if (parts.size() == 1) {
    out = parts[0];
    return;
  }
  Shape shape;
  for (const Tensor &part : parts)
    shape.push_back(part.numel());
  forEachIndex(shape, [&](Index at, int64_t i) {
    for (size_t k = 0; k < at.size(); ++k)
      out.set(i * int64_t(at.size()) + int64_t(k), parts[k], at[k]);
  });
}

/// r elements each, in the order of their places.
static void combinations(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t r = call.integer(1), row = 0;
  bool again = call.flag(2);
  forEachIndex(Shape(r, self.numel()), [&](Index at, int64_t) {
    for (size_t k = 1; k < at.size(); ++k)
      if (again ? at[k] < at[k - 1] : at[k] <= at[k - 1])
        return;
    for (int64_t k = 0; k < r; ++k)
      call.out().set(row * r + k, self, at[k]);
    ++row;
  });
}

static void flattenDense(Call &call) {
  int64_t to = 0;
  for (const Tensor &part : partsOf(call))
    for (int64_t i = 0, n = part.numel(); i < n; ++i)
      call.out().set(to++, part, i);
}

/// (sequences, batch_first, padding_value, padding_side)
static void padSequence(Call &call) {
  std::vector<Tensor> parts = partsOf(call);
  Tensor &out = call.out();
  bool batchFirst = call.flag(1);
  int64_t longest = out.shape[batchFirst ? 1 : 0];
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    out.setComplex(i, call.number(2));
  for (size_t b = 0; b < parts.size(); ++b) {
    int64_t skip = call.text(3) == "left" ? longest - parts[b].shape[0] : 0;
    scatterTo(out, parts[b], [&](Shape at) {
      at[0] += skip;
      at.insert(at.begin() + (batchFirst ? 0 : 1), b);
      return at;
    });
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::catOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"cat.default", cat, Exact},
      {"concat.default", cat, Exact},
      {"concatenate.default", cat, Exact},
      {"stack.default", stack, Exact},
      {"_stack.default", stack, Exact},
      {"cartesian_prod.default", cartesianProd, Exact},
      {"combinations.default", combinations, Exact},
      {"diag.default", diag, Exact},
      {"diagflat.default", diag, Exact},
      {"flatten_dense_tensors.default", flattenDense, Exact},
      {"pad_sequence.default", padSequence, Exact},
      {"hstack.default", stackForms, Exact},
      {"vstack.default", stackForms, Exact},
      {"row_stack.default", stackForms, Exact},
      {"dstack.default", stackForms, Exact},
      {"column_stack.default", stackForms, Exact},
      {"block_diag.default", blockDiag, Exact},
      {"tril.default", triangle, Exact},
      {"triu.default", triangle, Exact},
      {"diag_embed.default", diagEmbed, Exact},
      {"diagonal_backward.default", diagonalInto, Exact},
      {"diagonal_scatter.default", diagonalInto, Exact},
      {"select_backward.default", selectInto, Exact},
      {"select_scatter.default", selectInto, Exact},
      {"slice_backward.default", sliceInto, Exact},
      {"slice_scatter.default", sliceInto, Exact},
      {"unfold_backward.default", unfoldBackward, Accumulated},
      {"as_strided_scatter.default", asStridedScatter, Exact},
      {"_chunk_cat.default", chunkCat, Exact},
      {"diff.default", diff, Exact},
  };
  return rows;
}
