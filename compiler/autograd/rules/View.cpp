//===- View.cpp - Derivatives of the family view ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

/// The gradients of all results, zeros where there is none; empty if there is
/// none at all.
static std::vector<Term> allGradients(GradCall &g) {
  std::vector<Term> grads;
  for (unsigned r = 0; r < g.operation()->getNumResults(); ++r)
    grads.push_back(g.grad(r));
  return grads;
}

/// Pieces along `dim` are put together again. Where the places of the cuts do
/// not rise, pieces share elements, and there are more of them than elements:
/// tensor_split(x, [3, 1]) is x[:3], x[3:1] and x[1:].
static void join(GradCall &g, int64_t dim) {
  Dims sizes = GradCall::sizes(g.arg("self"));
  dim = GradCall::wrap(dim, static_cast<int64_t>(sizes.size()));
  std::vector<Term> grads = allGradients(g);
  Dim total = 0;
  for (unsigned r = 0; r < grads.size(); ++r)
    total = total + GradCall::sizes(g.result(r))[dim];
  int list = g.schema().argIndex("indices");
  if (list < 0 || !total.isStatic() || total == sizes[dim])
    return g.set("self", g.call("cat", {grads, dim}));
  Term cuts = g.arg(static_cast<unsigned>(list)), sum;
  Term from = 0;
  for (auto [r, grad] : llvm::enumerate(grads)) {
    Term to = r < cuts.items().size() ? cuts.items()[r] : Term(sizes[dim]);
    if (!GradCall::sizes(g.result(r))[dim].is(0))
      sum =
          g.add(sum, g.call("slice_backward", {grad, sizes, dim, from, to, 1}));
    from = to;
  }
  g.set("self", sum);
}

static void pieces(GradCall &g) { join(g, g.arg("dim").integer()); }

/// The same along a dim that the name says.
template <int64_t dim>
static void piecesAlong(GradCall &g) {
  join(g, dim);
}

/// Of a vector the only dim, of anything else the second one.
static void piecesAcross(GradCall &g) {
  join(g, GradCall::rank(g.arg("self")) == 1 ? 0 : 1);
}

static void unbind(GradCall &g) {
  if (g.operation()->getNumResults() == 0)
    return g.set("self", g.call("zeros_like", {g.arg("self")}));
  g.set("self", g.call("stack", {allGradients(g), g.arg("dim")}));
}

/// meshgrid(tensors) gives each tensor along a dim of its own.
static void meshgrid(GradCall &g) {
  size_t n = g.arg("tensors").items().size();
  bool swaps = g.schema().argIndex("indexing") >= 0 &&
               g.arg("indexing").text() == "xy" && n >= 2;
  for (size_t i = 0; i < n; ++i) {
    Term grad = g.gradIfAny(static_cast<unsigned>(i));
    if (grad.isZero() || !g.needsItem("tensors", i))
      continue;
    size_t own = swaps && i < 2 ? 1 - i : i;
    llvm::SmallVector<int64_t> others;
    for (size_t d = 0; d < n; ++d)
      if (d != own)
        others.push_back(static_cast<int64_t>(d));
    if (!others.empty())
      grad = g.call("sum.dim_IntList",
                    {grad, llvm::ArrayRef<int64_t>(others), false});
    Term tensor = g.arg("tensors").items()[i];
    g.setItem("tensors", i, g.reshape(grad, GradCall::sizes(tensor)));
  }
}

/// Number of elements from the first to the last one of a static layout.
static std::optional<int64_t> extentOf(llvm::ArrayRef<Dim> sizes,
                                       llvm::ArrayRef<Dim> strides,
                                       int64_t offset) {
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    if (!size.isStatic() || !stride.isStatic())
      return std::nullopt;
    if (size.is(0))
      return 0;
    last += (size.value() - 1) * stride.value();
  }
  return last + 1;
}

/// as_strided(self, size, stride, offset) reads the storage of `self`: the
/// gradient is added up in a storage of zeros, from which the elements of
/// `self` are read.
static void asStrided(GradCall &g) {
  Term self = g.arg("self");
  TensorMeta meta = GradCall::meta(self);
  Dims sizes, strides;
  for (const Term &item : g.arg("size").items())
    sizes.push_back(item.dim());
  for (const Term &item : g.arg("stride").items())
    strides.push_back(item.dim());
  Term offset = g.arg("storage_offset");
  Dim start = offset.isNone() ? meta.offset : offset.dim();
  if (!meta.isStatic() || !start.isStatic())
    return g.fail("as_strided with sizes of the run has none yet");
  std::optional<int64_t> own =
      extentOf(meta.sizes, meta.strides, meta.offset.value());
  std::optional<int64_t> seen = extentOf(sizes, strides, start.value());
  if (!own || !seen)
    return g.fail("as_strided with sizes of the run has none yet");
  int64_t n = std::max(*own, *seen);
  Term where = g.call("arange", {n, Term(meta.device.kind == Device::Cpu
                                             ? Arg::none()
                                             : Arg::ofDevice(meta.device))
                                        .named("device")});
  Dims flat = {Dim(n)}, all = {product(sizes)};
  Term indices = g.call("as_strided", {where, sizes, strides, start});
  Term storage =
      g.call("index_add", {g.call("new_zeros", {g.grad(), flat}), 0,
                           g.reshape(indices, all), g.reshape(g.grad(), all)});
  if (meta.offset.is(0) && isContiguous(meta) && n == *own)
    return g.set("self", g.reshape(storage, meta.sizes));
  Term places =
      g.call("as_strided", {where, meta.sizes, meta.strides, meta.offset});
  Term read = g.call("index", {storage, std::vector<Term>{places}});
  // Elements of `self` that share one place have equal parts of its gradient.
  bool overlaps =
      llvm::any_of(llvm::zip(meta.sizes, meta.strides), [](const auto &dim) {
        return std::get<1>(dim).is(0) && std::get<0>(dim).value() > 1;
      });
  if (overlaps) {
    Dims count = {meta.numel()};
    Term times = g.call("index_add", {g.call("new_zeros", {g.grad(), flat}), 0,
                                      g.reshape(places, count),
                                      g.call("new_ones", {g.grad(), count})});
    read = g.div(read, g.call("index", {times, std::vector<Term>{places}}));
  }
  g.set("self", read);
}

/// What is written over has no gradient in `self`; `src` has that of its place.
static void asStridedScatter(GradCall &g) {
  Term self = g.arg("self"), src = g.arg("src");
  TensorMeta meta = GradCall::meta(self);
  // The places are counted in the layout of `self`.
  Term grad = g.grad();
  if (GradCall::meta(grad).strides != meta.strides)
    grad = g.call("contiguous", {grad});
  if (!isContiguous(meta))
    return g.fail("as_strided_scatter of a tensor that is not row-major has "
                  "none yet");
  Term size = g.arg("size"), stride = g.arg("stride"),
       offset = g.arg("storage_offset");
  g.set("src", g.call("as_strided", {grad, size, stride, offset}));
  g.set("self", g.call("as_strided_scatter", {grad, g.call("zeros_like", {src}),
                                              size, stride, offset}));
}

llvm::ArrayRef<DerivativeRow> viewDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"as_strided.default", asStrided},
      {"as_strided_copy.default", asStrided},
      {"as_strided_scatter.default", asStridedScatter},
      {"chunk.default", pieces},
      {"dsplit.array", piecesAlong<2>},
      {"dsplit.int", piecesAlong<2>},
      {"hsplit.array", piecesAcross},
      {"hsplit.int", piecesAcross},
      {"meshgrid.default", meshgrid},
      {"meshgrid.indexing", meshgrid},
      {"split.Tensor", pieces},
      {"split.sizes", pieces},
      {"split_copy.Tensor", pieces},
      {"split_with_sizes.default", pieces},
      {"split_with_sizes_copy.default", pieces},
      {"tensor_split.indices", pieces},
      {"tensor_split.sections", pieces},
      {"tensor_split.tensor_indices_or_sections", pieces},
      {"unbind.int", unbind},
      {"unbind_copy.int", unbind},
      {"unsafe_chunk.default", pieces},
      {"unsafe_split.Tensor", pieces},
      {"unsafe_split_with_sizes.default", pieces},
      {"vsplit.array", piecesAlong<0>},
      {"vsplit.int", piecesAlong<0>},
  };
  return kRows;
}

} // namespace ft
