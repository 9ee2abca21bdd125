//===- Cat.cpp - Derivatives of the family cat -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

/// An empty list of numbers that cat passes over, whatever its rank.
static bool isSkipped(const Term &tensor, int64_t rank) {
  return GradCall::rank(tensor) == 1 && rank != 1 &&
         GradCall::sizes(tensor)[0].is(0);
}

static void cat(GradCall &g) {
  Term tensors = g.arg("tensors"), grad = g.grad();
  int64_t rank = GradCall::rank(grad);
  int64_t d = GradCall::wrap(g.arg("dim").integer(), rank);
  Dim start = 0;
  for (auto [i, tensor] : llvm::enumerate(tensors.items())) {
    if (isSkipped(tensor, rank)) {
      g.setItem("tensors", i, g.call("zeros_like", {tensor}));
      continue;
    }
    Dim length = GradCall::sizes(tensor)[d];
    if (g.needsItem("tensors", i))
      g.setItem("tensors", i, g.call("narrow", {grad, d, start, length}));
    start = start + length;
  }
}

static void stack(GradCall &g) {
  for (size_t i = 0; i < g.arg("tensors").items().size(); ++i)
    if (g.needsItem("tensors", i))
      g.setItem(
          "tensors", i,
          g.call("select", {g.grad(), g.arg("dim"), static_cast<int64_t>(i)}));
}

/// With repeats r and sizes s, element (j s + i) of a dim is element i: the
/// gradient as (r, s) for each dim, summed over all r.
static void repeated(GradCall &g, const Term &repeats) {
  Term self = g.arg("self");
  Dims sizes = GradCall::sizes(self), apart;
  size_t extra =
      repeats.items().size() - std::min(repeats.items().size(), sizes.size());
  llvm::SmallVector<int64_t> summed;
  size_t missing = sizes.size() > repeats.items().size()
                       ? sizes.size() - repeats.items().size()
                       : 0;
  for (size_t d = 0; d < extra + sizes.size(); ++d) {
    // tile: dims that are not named are repeated once.
    Dim times = d < missing ? Dim(1) : repeats.items()[d - missing].dim();
    if (d < extra) {
      summed.push_back(static_cast<int64_t>(apart.size()));
      apart.push_back(times);
      continue;
    }
    if (!times.is(1)) {
      summed.push_back(static_cast<int64_t>(apart.size()));
      apart.push_back(times);
    }
    apart.push_back(sizes[d - extra]);
  }
  Term grad = g.call("reshape", {g.grad(), apart});
  if (!summed.empty())
    grad = g.call("sum.dim_IntList",
                  {grad, llvm::ArrayRef<int64_t>(summed), false});
  g.set("self", grad);
}

static void repeat(GradCall &g) { repeated(g, g.arg("repeats")); }
static void tile(GradCall &g) { repeated(g, g.arg("dims")); }

/// Each element stands `repeats` times in a row.
static void repeatInterleave(GradCall &g) {
  Term self = g.arg("self"), dim = g.arg("dim");
  Dims sizes = GradCall::sizes(self), apart;
  int64_t d = 0;
  if (dim.isNone())
    apart = {product(sizes)};
  else {
    apart = sizes;
    d = GradCall::wrap(dim.integer(), GradCall::rank(self));
  }
  if (apart.empty())
    apart.push_back(1);
  apart.insert(apart.begin() + d + 1, g.arg("repeats").dim());
  Term grad = g.call("reshape", {g.grad(), apart});
  Term summed =
      g.call("sum.dim_IntList", {grad, std::vector<Term>{d + 1}, false});
  g.set("self", g.reshape(summed, sizes));
}

/// Where each index repeats by a tensor of counts: the gradients of the copies
/// are added up at their source.
static void repeatInterleaveBy(GradCall &g) {
  Term self = g.arg("self"), dim = g.arg("dim");
  int64_t d =
      dim.isNone() ? 0 : GradCall::wrap(dim.integer(), GradCall::rank(self));
  Dims sizes = GradCall::sizes(self);
  Dims from = dim.isNone() ? Dims{product(sizes)} : sizes;
  Term sources = g.call("repeat_interleave.Tensor",
                        {g.call("expand", {g.arg("repeats"), Dims{from[d]}})});
  Term sum = g.call("index_add", {g.call("new_zeros", {g.grad(), from}), d,
                                  sources, g.grad()});
  g.set("self", g.reshape(sum, sizes));
}

llvm::ArrayRef<DerivativeRow> catDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"cat.default", cat},
      {"concat.default", cat},
      {"concatenate.default", cat},
      {"repeat.default", repeat},
      {"repeat_interleave.self_Tensor", repeatInterleaveBy},
      {"repeat_interleave.self_int", repeatInterleave},
      {"stack.default", stack},
      {"tile.default", tile},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// Expansions
//===----------------------------------------------------------------------===//

/// Each padded dim in turn: its end, itself, its start. `pad` names the dims
/// from the last one, a negative pad cuts.
static std::vector<Term> padCircular(RuleCall &c) {
  Term x = c.arg("self");
  std::vector<Term> pads = c.arg("pad").items();
  int64_t rank = RuleCall::rank(x);
  for (size_t k = 0; 2 * k + 1 < pads.size(); ++k) {
    int64_t d = rank - 1 - static_cast<int64_t>(k);
    Dim before = pads[2 * k].dim(), after = pads[2 * k + 1].dim();
    if (!before.isStatic() || !after.isStatic()) {
      c.fail("circular padding by sizes of the run has none yet");
      return {};
    }
    Dim size = RuleCall::sizes(x)[d];
    auto narrow = [&](Dim start, Dim length) {
      return c.call("narrow", {x, d, start, length});
    };
    std::vector<Term> parts;
    if (before.value() > 0)
      parts.push_back(narrow(size - before, before));
    Dim cutBefore = before.value() < 0 ? Dim(-before.value()) : Dim(0);
    Dim cutAfter = after.value() < 0 ? Dim(-after.value()) : Dim(0);
    parts.push_back(narrow(cutBefore, size - cutBefore - cutAfter));
    if (after.value() > 0)
      parts.push_back(narrow(0, after));
    x = parts.size() == 1 ? parts[0] : c.call("cat", {parts, d});
  }
  return {x};
}

/// The n-th difference along `dim`, with what is put before and after.
static std::vector<Term> diff(RuleCall &c) {
  Term x = c.arg("self");
  int64_t d = RuleCall::wrap(c.arg("dim").integer(), RuleCall::rank(x));
  std::vector<Term> parts;
  if (c.arg("prepend").isTensor())
    parts.push_back(c.arg("prepend"));
  parts.push_back(x);
  if (c.arg("append").isTensor())
    parts.push_back(c.arg("append"));
  if (parts.size() > 1)
    x = c.call("cat", {parts, d});
  for (int64_t n = c.arg("n").integer(); n > 0; --n) {
    Dim size = RuleCall::sizes(x)[d];
    if (size.is(0))
      break;
    Term later = c.call("narrow", {x, d, 1, size - 1});
    x = c.sub(later, c.call("narrow", {x, d, 0, size - 1}));
  }
  return {c.call("alias", {x})};
}

llvm::ArrayRef<ExpandRow> catExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_pad_circular.default", padCircular},
      {"diff.default", diff},
  };
  return kRows;
}

} // namespace ft
