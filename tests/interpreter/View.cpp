//===- View.cpp - Moves: each element of the result is one of the operand -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

using namespace ft;
using namespace ft::interpreter;

/// Fills result `r` with the operand's elements at `source(index)`.
template <typename Source>
static void gatherFrom(Call &call, unsigned r, const Tensor &self,
                       Source source) {
  Tensor &out = call.out(r);
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    Shape at = source(index);
    out.set(i, self, flatten(self.shape, at));
  });
}

static Shape copyOf(Index index) { return Shape(index.begin(), index.end()); }

/// Same elements in the same order.
static void reshape(Call &call) {
  const Tensor &self = call.tensor(0);
  Tensor &out = call.out();
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    out.set(i, self, i);
  if (self.undefined)
    out.undefined = true;
}

static void permuteBy(Call &call, const Shape &order) {
  const Tensor &self = call.tensor(0);
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at(order.size());
    for (size_t d = 0; d < order.size(); ++d)
      at[order[d]] = index[d];
    return at;
  });
}

static void permute(Call &call) {
  Shape order = call.integers(1);
  for (int64_t &d : order)
    d += d < 0 ? order.size() : 0;
  permuteBy(call, order);
}

static Shape identity(int64_t rank) {
  Shape order(rank);
  for (int64_t d = 0; d < rank; ++d)
    order[d] = d;
  return order;
}

static void transpose(Call &call) {
  int64_t rank = call.tensor(0).rank();
  Shape order = identity(rank);
  if (rank)
    std::swap(order[call.dim(1, rank)], order[call.dim(2, rank)]);
  permuteBy(call, order);
}

/// The last two dims: t, mT (and t of vectors, which changes nothing).
static void transposeLast(Call &call) {
  int64_t rank = call.tensor(0).rank();
  Shape order = identity(rank);
  if (rank >= 2)
    std::swap(order[rank - 1], order[rank - 2]);
  permuteBy(call, order);
}

static void adjoint(Call &call) {
  transposeLast(call);
  Tensor &out = call.out();
  for (int64_t i = 0, n = isComplex(out.dtype) ? out.numel() : 0; i < n; ++i)
    out.setComplex(i, std::conj(out.complex(i)));
}

static void negative(Call &call) {
  const Tensor &self = call.tensor(0);
  for (int64_t i = 0, n = self.numel(); i < n; ++i)
    if (self.whole())
      call.out().setInteger(
          i, static_cast<int64_t>(-static_cast<uint64_t>(self.integer(i))));
    else
      call.out().setComplex(i, -self.complex(i));
}

static void reshapeEach(Call &call) {
  std::vector<const Tensor *> parts = call.tensors(0);
  for (size_t k = 0; k < parts.size(); ++k)
    call.out(k) = parts[k]->reshaped(call.out(k).shape);
}

/// Each in the common shape.
static void expandEach(Call &call) {
  std::vector<const Tensor *> parts = call.tensors(0);
  for (size_t k = 0; k < parts.size(); ++k)
    forEachIndex(call.out(k).shape, [&](Index at, int64_t i) {
      call.out(k).set(i, *parts[k], flattenBroadcast(parts[k]->shape, at));
    });
}

/// (self, source): the source in self's shape and dtype.
static void copyInto(Call &call) {
  const Tensor &source = call.tensor(1);
  forEachIndex(call.out().shape, [&](Index at, int64_t i) {
    call.out().set(i, source, flattenBroadcast(source.shape, at));
  });
}

static void reverseDims(Call &call) {
  Shape order = identity(call.tensor(0).rank());
  std::reverse(order.begin(), order.end());
  permuteBy(call, order);
}

static void movedim(Call &call) {
  int64_t rank = call.tensor(0).rank();
  Shape from = call.integers(1), to = call.integers(2), order(rank, -1);
  std::vector<bool> taken(rank, false);
  for (size_t i = 0; i < from.size() && rank; ++i) {
    int64_t source = from[i] < 0 ? from[i] + rank : from[i];
    order[to[i] < 0 ? to[i] + rank : to[i]] = source;
    taken[source] = true;
  }
  int64_t next = 0;
  for (int64_t &source : order)
    if (source < 0) {
      while (taken[next])
        ++next;
      source = next++;
    }
  permuteBy(call, order);
}

static void expand(Call &call) {
  const Tensor &self = call.tensor(0);
  Tensor &out = call.out();
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    out.set(i, self, flattenBroadcast(self.shape, index));
  });
}

static void slice(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t dim = call.dim(1, self.rank()), size = self.shape[dim];
  int64_t start = call.has(2) ? call.integer(2) : 0;
  if (start < 0)
    start += size;
  start = std::clamp<int64_t>(start, 0, size);
  int64_t step = call.integer(4);
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    at[dim] = start + at[dim] * step;
    return at;
  });
}

static void narrow(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t dim = call.dim(1, self.rank()), start = call.integer(2);
  if (start < 0)
    start += self.shape[dim];
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    at[dim] += start;
    return at;
  });
}

static void select(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t dim = call.dim(1, self.rank()), which = call.integer(2);
  if (which < 0)
    which += self.shape[dim];
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    at.insert(at.begin() + dim, which);
    return at;
  });
}

/// Pieces along a dim, one after the other: the results' sizes say where.
static void pieces(Call &call) {
  const Tensor &self = call.tensor(0);
  int dimArg = call.schema.argIndex("dim");
  int64_t dim = dimArg >= 0 ? call.dim(dimArg, self.rank()) : 0, start = 0;
  if (call.base() == "hsplit")
    dim = self.rank() > 1;
  else if (call.base() == "dsplit")
    dim = 2;
  for (unsigned r = 0; r < call.results.size(); ++r) {
    gatherFrom(call, r, self, [&](Index index) {
      Shape at = copyOf(index);
      at[dim] += start;
      return at;
    });
    start += call.out(r).shape[dim];
  }
}

/// The same where pieces may begin anywhere and overlap.
static void tensorSplitIndices(Call &call) {
  const Tensor &self = call.tensor(0);
  int dimArg = call.schema.argIndex("dim");
  int64_t dim = dimArg >= 0               ? call.dim(dimArg, self.rank())
                : call.base() == "hsplit" ? self.rank() > 1
                : call.base() == "dsplit" ? 2
                                          : 0;
  Shape indices = call.integers(1);
  int64_t size = self.shape[dim];
  for (unsigned r = 0; r < call.results.size(); ++r) {
    int64_t start = r ? indices[r - 1] : 0;
    start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
    gatherFrom(call, r, self, [&](Index index) {
      Shape at = copyOf(index);
      at[dim] += start;
      return at;
    });
  }
}

static void unbind(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t dim = call.dim(1, self.rank());
  for (unsigned r = 0; r < call.results.size(); ++r)
    gatherFrom(call, r, self, [&](Index index) {
      Shape at = copyOf(index);
      at.insert(at.begin() + dim, r);
      return at;
    });
}

static void diagonal(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t rank = self.rank(), offset = call.integer(1);
  int64_t d1 = call.dim(2, rank), d2 = call.dim(3, rank);
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at;
    size_t next = 0;
    int64_t k = index.back();
    for (int64_t d = 0; d < rank; ++d)
      at.push_back(d == d1   ? k + std::max<int64_t>(-offset, 0)
                   : d == d2 ? k + std::max<int64_t>(offset, 0)
                             : index[next++]);
    return at;
  });
}

static void unfold(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t dim = call.dim(1, self.rank()), step = call.integer(3);
  if (self.rank() == 0)
    return reshape(call);
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at(index.begin(), index.end() - 1);
    at[dim] = at[dim] * step + index.back();
    return at;
  });
}

/// On a row-major operand.
static void asStrided(Call &call) {
  const Tensor &self = call.tensor(0);
  Shape strides = call.integers(2);
  int64_t offset = call.size() > 3 && call.has(3) ? call.integer(3) : 0;
  Tensor &out = call.out();
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    int64_t at = offset;
    for (size_t d = 0; d < index.size(); ++d)
      at += index[d] * strides[d];
    if (at < 0 || at >= self.numel())
      return call.refuse("as_strided leaves the storage");
    out.set(i, self, at);
  });
}

/// [N…, C r², H, W] to [N…, C, H r, W r].
static void pixelShuffle(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t r = call.integer(1);
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    size_t c = at.size() - 3, h = c + 1, w = c + 2;
    at[c] = (index[c] * r + index[h] % r) * r + index[w] % r;
    at[h] = index[h] / r;
    at[w] = index[w] / r;
    return at;
  });
}

static void pixelUnshuffle(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t r = call.integer(1);
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    size_t c = at.size() - 3, h = c + 1, w = c + 2;
    at[c] = index[c] / (r * r);
    at[h] = index[h] * r + index[c] / r % r;
    at[w] = index[w] * r + index[c] % r;
    return at;
  });
}

static void channelShuffle(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t groups = call.integer(1), each = self.shape[1] / groups;
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    at[1] = index[1] % groups * each + index[1] / groups;
    return at;
  });
}

static void flip(Call &call) {
  const Tensor &self = call.tensor(0);
  std::vector<bool> flipped(self.rank(), false);
  if (call.base() == "fliplr")
    flipped[1] = true;
  else if (call.base() == "flipud")
    flipped[0] = true;
  else
    flipped = call.dims(1, self.rank(), false);
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    for (size_t d = 0; d < at.size(); ++d)
      if (flipped[d])
        at[d] = self.shape[d] - 1 - at[d];
    return at;
  });
}

static int64_t modulo(int64_t a, int64_t b) { return ((a % b) + b) % b; }

static void roll(Call &call) {
  const Tensor &self = call.tensor(0);
  Shape shifts = call.integers(1), dims = call.integers(2);
  if (dims.empty()) { // of all elements, as one line
    int64_t n = self.numel();
    for (int64_t i = 0; i < n; ++i)
      call.out().set(i, self, modulo(i - shifts[0], n));
    return;
  }
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    for (size_t k = 0; k < dims.size(); ++k) {
      int64_t d = dims[k] < 0 ? dims[k] + self.rank() : dims[k];
      at[d] = modulo(at[d] - shifts[k], self.shape[d]);
    }
    return at;
  });
}

static void rot90(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t turns = modulo(call.integer(1), 4);
  Shape dims = call.integers(2);
  int64_t a = dims[0] < 0 ? dims[0] + self.rank() : dims[0];
  int64_t b = dims[1] < 0 ? dims[1] + self.rank() : dims[1];
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    int64_t i = index[a], j = index[b];
    if (turns == 1) {
      at[a] = j;
      at[b] = self.shape[b] - 1 - i;
    } else if (turns == 2) {
      at[a] = self.shape[a] - 1 - i;
      at[b] = self.shape[b] - 1 - j;
    } else if (turns == 3) {
      at[a] = self.shape[a] - 1 - j;
      at[b] = i;
    }
    return at;
  });
}

static void repeat(Call &call) {
  const Tensor &self = call.tensor(0);
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index.take_back(self.rank()));
    for (size_t d = 0; d < at.size(); ++d)
      at[d] %= self.shape[d];
    return at;
  });
}

static void repeatInterleave(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t repeats = call.integer(1);
  if (!call.has(2)) {
    for (int64_t i = 0, n = call.out().numel(); i < n; ++i)
      call.out().set(i, self, i / repeats);
    return;
  }
  int64_t dim = call.dim(2, self.rank());
  gatherFrom(call, 0, self, [&](Index index) {
    Shape at = copyOf(index);
    at[dim] /= repeats;
    return at;
  });
}

static void meshgrid(Call &call) {
  std::vector<const Tensor *> list = call.tensors(0);
  bool swap = call.schema.overload == "indexing" && call.text(1) == "xy" &&
              list.size() >= 2;
  for (unsigned r = 0; r < list.size(); ++r) {
    size_t axis = swap && r < 2 ? 1 - r : r;
    forEachIndex(call.out(r).shape, [&](Index index, int64_t i) {
      call.out(r).set(i, *list[r], list[r]->rank() ? index[axis] : 0);
    });
  }
}

static void viewAsReal(Call &call) {
  const Tensor &self = call.tensor(0);
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    call.out().setReal(2 * i, self.complex(i).real());
    call.out().setReal(2 * i + 1, self.complex(i).imag());
  }
}

static void viewAsComplex(Call &call) {
  const Tensor &self = call.tensor(0);
  for (int64_t i = 0, n = call.out().numel(); i < n; ++i)
    call.out().setComplex(i, {self.real(2 * i), self.real(2 * i + 1)});
}

static void realPart(Call &call) {
  const Tensor &self = call.tensor(0);
  for (int64_t i = 0, n = self.numel(); i < n; ++i)
    call.out().set(i, Tensor(self), i);
}

static void imagPart(Call &call) {
  const Tensor &self = call.tensor(0);
  for (int64_t i = 0, n = self.numel(); i < n; ++i)
    call.out().setReal(i, self.complex(i).imag());
}

static void conjugate(Call &call) {
  const Tensor &self = call.tensor(0);
  for (int64_t i = 0, n = self.numel(); i < n; ++i)
    if (isComplex(self.dtype))
      call.out().setComplex(i, std::conj(self.complex(i)));
    else
      call.out().set(i, self, i);
}

llvm::ArrayRef<OpRow> ft::interpreter::viewOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"view.default", reshape, Exact},
      {"view_copy.default", reshape, Exact},
      {"_unsafe_view.default", reshape, Exact},
      {"_reshape_copy.default", reshape, Exact},
      {"reshape.default", reshape, Exact},
      {"reshape_as.default", reshape, Exact},
      {"view_as.default", reshape, Exact},
      {"flatten.using_ints", reshape, Exact},
      {"unflatten.int", reshape, Exact},
      {"ravel.default", reshape, Exact},
      {"alias.default", reshape, Exact},
      {"alias_copy.default", reshape, Exact},
      {"detach.default", reshape, Exact},
      {"detach_copy.default", reshape, Exact},
      {"lift.default", reshape, Exact},
      {"lift_fresh.default", reshape, Exact},
      {"lift_fresh_copy.default", reshape, Exact},
      {"squeeze.default", reshape, Exact},
      {"squeeze.dim", reshape, Exact},
      {"squeeze.dims", reshape, Exact},
      {"squeeze_copy.default", reshape, Exact},
      {"squeeze_copy.dim", reshape, Exact},
      {"squeeze_copy.dims", reshape, Exact},
      {"unsqueeze.default", reshape, Exact},
      {"unsqueeze_copy.default", reshape, Exact},
      {"atleast_1d.default", reshape, Exact},
      {"atleast_2d.default", reshape, Exact},
      {"atleast_3d.default", reshape, Exact},
      // Copies and conversions: the result's dtype says which.
      {"clone.default", reshape, Exact},
      {"contiguous.default", reshape, Exact},
      {"_to_copy.default", reshape, Exact},
      {"to.dtype", reshape, Exact},
      {"to.device", reshape, Exact},
      {"to.other", reshape, Exact},
      {"type_as.default", reshape, Exact},
      {"_cast_Byte.default", reshape, Exact},
      {"_cast_Char.default", reshape, Exact},
      {"_cast_Short.default", reshape, Exact},
      {"_cast_Double.default", reshape, Exact},
      {"_cast_Float.default", reshape, Exact},
      {"_cast_Half.default", reshape, Exact},
      {"_cast_Int.default", reshape, Exact},
      {"_cast_Long.default", reshape, Exact},
      {"resolve_conj.default", reshape, Exact},
      {"resolve_neg.default", reshape, Exact},
      {"copy.default", copyInto, Exact},
      {"chalf.default", reshape, Exact},
      {"cpu.default", reshape, Exact},
      {"to.dtype_layout", reshape, Exact},
      {"to.prim_Device", reshape, Exact},
      {"to.prim_dtype", reshape, Exact},
      {"to.prim_other", reshape, Exact},
      {"_lazy_clone.default", reshape, Exact},
      {"_reshape_alias.default", asStrided, Exact},
      {"_reshape_alias_copy.default", asStrided, Exact},
      {"atleast_1d.Sequence", reshapeEach, Exact},
      {"atleast_2d.Sequence", reshapeEach, Exact},
      {"atleast_3d.Sequence", reshapeEach, Exact},
      {"broadcast_tensors.default", expandEach, Exact},
      {"_neg_view.default", negative, Exact},
      {"_neg_view_copy.default", negative, Exact},
      {"mH.default", adjoint, Exact},
      {"mH.a", adjoint, Exact},
      {"matrix_H.default", adjoint, Exact},
      {"adjoint.default", adjoint, Exact},
      {"permute.default", permute, Exact},
      {"permute_copy.default", permute, Exact},
      {"transpose.int", transpose, Exact},
      {"transpose_copy.int", transpose, Exact},
      {"swapaxes.default", transpose, Exact},
      {"swapdims.default", transpose, Exact},
      {"t.default", transposeLast, Exact},
      {"t_copy.default", transposeLast, Exact},
      {"mT.default", transposeLast, Exact},
      {"mT.a", transposeLast, Exact},
      {"numpy_T.default", reverseDims, Exact},
      {"numpy_T.a", reverseDims, Exact},
      {"movedim.int", movedim, Exact},
      {"movedim.intlist", movedim, Exact},
      {"moveaxis.int", movedim, Exact},
      {"moveaxis.intlist", movedim, Exact},
      {"expand.default", expand, Exact},
      {"expand_copy.default", expand, Exact},
      {"expand_as.default", expand, Exact},
      {"broadcast_to.default", expand, Exact},
      {"slice.Tensor", slice, Exact},
      {"slice_copy.Tensor", slice, Exact},
      {"narrow.default", narrow, Exact},
      {"narrow_copy.default", narrow, Exact},
      {"select.int", select, Exact},
      {"select_copy.int", select, Exact},
      {"split.Tensor", pieces, Exact},
      {"split_copy.Tensor", pieces, Exact},
      {"split.default", pieces, Exact},
      {"split.sizes", pieces, Exact},
      {"split_with_sizes.default", pieces, Exact},
      {"split_with_sizes_copy.default", pieces, Exact},
      {"unsafe_split.Tensor", pieces, Exact},
      {"unsafe_split_with_sizes.default", pieces, Exact},
      {"unsafe_chunk.default", pieces, Exact},
      {"chunk.default", pieces, Exact},
      {"tensor_split.sections", pieces, Exact},
      {"hsplit.int", pieces, Exact},
      {"vsplit.int", pieces, Exact},
      {"dsplit.int", pieces, Exact},
      {"tensor_split.indices", tensorSplitIndices, Exact},
      {"hsplit.array", tensorSplitIndices, Exact},
      {"vsplit.array", tensorSplitIndices, Exact},
      {"dsplit.array", tensorSplitIndices, Exact},
      {"unbind.int", unbind, Exact},
      {"unbind_copy.int", unbind, Exact},
      {"diagonal.default", diagonal, Exact},
      {"diagonal_copy.default", diagonal, Exact},
      {"linalg_diagonal.default", diagonal, Exact},
      {"unfold.default", unfold, Exact},
      {"unfold_copy.default", unfold, Exact},
      {"as_strided.default", asStrided, Exact},
      {"as_strided_copy.default", asStrided, Exact},
      {"pixel_shuffle.default", pixelShuffle, Exact},
      {"pixel_unshuffle.default", pixelUnshuffle, Exact},
      {"channel_shuffle.default", channelShuffle, Exact},
      {"native_channel_shuffle.default", channelShuffle, Exact},
      {"flip.default", flip, Exact},
      {"fliplr.default", flip, Exact},
      {"flipud.default", flip, Exact},
      {"roll.default", roll, Exact},
      {"rot90.default", rot90, Exact},
      {"repeat.default", repeat, Exact},
      {"tile.default", repeat, Exact},
      {"repeat_interleave.self_int", repeatInterleave, Exact},
      {"meshgrid.default", meshgrid, Exact},
      {"meshgrid.indexing", meshgrid, Exact},
      {"view_as_real.default", viewAsReal, Exact},
      {"view_as_real_copy.default", viewAsReal, Exact},
      {"view_as_complex.default", viewAsComplex, Exact},
      {"view_as_complex_copy.default", viewAsComplex, Exact},
      {"real.default", realPart, Exact},
      {"imag.default", imagPart, Exact},
      {"_conj.default", conjugate, Exact},
      {"_conj_copy.default", conjugate, Exact},
      {"conj.default", conjugate, Exact},
  };
  return rows;
}
