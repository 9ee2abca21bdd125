//===- DataMoves.cpp - Moves whose places are data or bits ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Families.h"

#include <cmath>
#include <cstring>

using namespace ft;
using namespace ft::interpreter;

/// Which element each of the results repeats.
static Shape repeated(Call &call, const Tensor &repeats, int64_t size) {
  Shape from;
  for (int64_t i = 0; i < size; ++i) {
    int64_t times = repeats.integer(repeats.numel() == 1 ? 0 : i);
    if (times < 0) {
      call.refuse("a negative number of repeats");
      break;
    }
    from.insert(from.end(), times, i);
  }
  return from;
}

/// (repeats, *, output_size)
static void repeatIndices(Call &call) {
  const Tensor &repeats = call.tensor(0);
  Shape from = repeated(call, repeats, repeats.numel());
  if (int64_t(from.size()) != call.out().numel())
    return call.refuse("an output_size that is not the sum of the repeats");
  for (size_t i = 0; i < from.size(); ++i)
    call.out().setInteger(i, from[i]);
}

/// (self, repeats, dim, *, output_size)
static void repeatElements(Call &call) {
  Tensor self = call.tensor(0), &out = call.out();
  if (!call.has(2))
    self = self.reshaped({self.numel()});
  else if (self.rank() == 0)
    self = self.reshaped({1});
  int64_t dim = call.has(2) ? call.dim(2, self.rank()) : 0;
  Shape from = repeated(call, call.tensor(1), self.shape[dim]);
  if (out.rank() != self.rank() || int64_t(from.size()) != out.shape[dim])
    return call.refuse("an output_size that is not the sum of the repeats");
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end());
    at[dim] = from[at[dim]];
    out.set(i, self, flatten(self.shape, at));
  });
}

/// The same bytes as another dtype.
static void viewAsType(Call &call) {
  const Tensor &self = call.tensor(0);
  conformance::HostTensor from = self.host(), to = call.out().host();
  if (from.bytes.size() != to.bytes.size())
    return call.refuse("a view of another size");
  std::memcpy(to.bytes.data(), from.bytes.data(), to.bytes.size());
  call.out() = Tensor(to.view());
  for (const Tensor *t : {&self, &std::as_const(call.out())})
    for (int64_t i = 0; i < t->numel(); ++i)
      if (std::isnan(std::abs(t->complex(i))))
        call.open("the bits of NaN");
}

/// (flat, tensors): the shapes of these, one after the other.
static void unflatten(Call &call) {
  int64_t next = 0;
  for (Tensor &out : call.results)
    for (int64_t i = 0; i < out.numel(); ++i)
      out.set(i, call.tensor(0), next++);
}

/// (grad, mask, sizes): what the mask took, and zeros.
static void maskedScatterBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &mask = call.tensor(1);
  if (mask.shape != grad.shape)
    return call.refuse("a mask of another shape");
  int64_t next = 0;
  for (int64_t i = 0; i < grad.numel(); ++i)
    if (mask.integer(i)) {
      if (next >= call.out().numel())
        return call.refuse("too many elements for the result");
      call.out().set(next++, grad, i);
    }
}

/// (start, end[, step]): with the end. Integers are those of the numbers cut.
static void range(Call &call) {
  Tensor &out = call.out();
  bool steps = call.schema.overload == "step";
  for (int64_t i = 0; i < out.numel(); ++i)
    if (out.whole())
      out.setInteger(i, call.integer(0) + i * (steps ? call.integer(2) : 1));
    else
      out.setReal(i, call.number(0) + double(i) * (steps ? call.number(2) : 1));
}

llvm::ArrayRef<OpRow> ft::interpreter::dataMovesOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"masked_scatter_backward.default", maskedScatterBackward, Exact},
      {"range.default", range, Elementary},
      {"range.step", range, Elementary},
      {"repeat_interleave.Tensor", repeatIndices, Exact},
      {"repeat_interleave.self_Tensor", repeatElements, Exact},
      {"unflatten_dense_tensors.default", unflatten, Exact},
      {"view.dtype", viewAsType, Exact},
      {"view_copy.dtype", viewAsType, Exact},
  };
  return rows;
}
