//===- Upsample.cpp - Derivatives of resizing ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resizing is linear in the image: its backward operator is its transpose, and
// that one's backward is resizing again.

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

/// f(self, output_size, …) -> f_backward(grad, output_size, input_size, …).
static void resize(GradCall &g) {
  std::vector<Term> arguments = {g.grad(), g.arg(1),
                                 GradCall::sizes(g.arg("self"))};
  for (unsigned i = 2; i < g.schema().args.size(); ++i)
    arguments.push_back(g.arg(i));
  g.set("self",
        g.call((g.schema().base + "_backward.default").str(), arguments));
}

static void resizeBackward(GradCall &g) {
  std::vector<Term> arguments = {g.grad(), g.arg(1)};
  for (unsigned i = 3; i < g.schema().args.size(); ++i)
    arguments.push_back(g.arg(i));
  llvm::StringRef base = g.schema().base;
  base.consume_back("_backward");
  g.set("grad_output", g.call((base + ".default").str(), arguments));
}

/// f.vec(input, output_size?, …, scale_factors?) as f.default, which takes the
/// size of the output and a factor, or none, for each dim.
static std::vector<Term> byFactors(RuleCall &c) {
  Term x = c.arg("input");
  unsigned last = static_cast<unsigned>(c.schema().args.size()) - 1;
  Dims sizes = RuleCall::sizes(c.result(0));
  sizes.erase(sizes.begin(), sizes.begin() + 2);
  std::vector<Term> arguments = {x, sizes};
  for (unsigned i = 2; i < last; ++i)
    arguments.push_back(c.arg(i));
  Term factors = c.arg(last);
  for (size_t d = 0; d < sizes.size(); ++d)
    arguments.push_back(factors.isNone() ? Term::none() : factors.items()[d]);
  return {c.call((c.schema().base + ".default").str(), arguments)};
}

/// The grid of an affine map: the centres of the pixels (or, aligned, points
/// from edge to edge) in homogeneous coordinates, x first, times theta^T.
static std::vector<Term> affineGrid(RuleCall &c) {
  Term theta = c.arg("theta"), size = c.arg("size");
  bool aligned = c.arg("align_corners").truth();
  size_t dims = size.items().size() - 2;
  Dims sizes;
  for (const Term &item : size.items().drop_front(2))
    sizes.push_back(item.dim());
  std::vector<Term> coordinates;
  for (size_t k = 0; k < dims; ++k) {
    size_t d = dims - 1 - k; // x stands for the last dim
    Dim n = sizes[d];
    // (2 i + 1) / n - 1; aligned: 2 i / (n - 1) - 1.
    Term i = c.cast(c.call("arange", {n}), RuleCall::dtype(theta));
    if (aligned && n.is(1))
      i = c.call("zeros_like", {i});
    else if (aligned)
      i = c.sub(c.div(c.mul(i, 2), n - 1), 1);
    else
      i = c.sub(c.div(c.add(c.mul(i, 2), 1), n), 1);
    Dims wide(dims, Dim(1));
    wide[d] = n;
    coordinates.push_back(
        c.call("expand", {c.call("reshape", {i, wide}), sizes}));
  }
  coordinates.push_back(c.call("ones_like", {coordinates.front()}));
  Dims flat = {Dim(1), product(sizes), Dim(static_cast<int64_t>(dims) + 1)};
  Term points = c.call("reshape", {c.call("stack", {coordinates, -1}), flat});
  Term moved = c.call("matmul", {points, c.call("transpose", {theta, -2, -1})});
  return {c.reshape(moved, RuleCall::sizes(c.result(0)))};
}

#define FT_RESIZED(row)                                                        \
  row("_upsample_bicubic2d_aa"), row("_upsample_bilinear2d_aa"),               \
      row("_upsample_lanczos2d_aa"), row("_upsample_nearest_exact1d"),         \
      row("_upsample_nearest_exact2d"), row("_upsample_nearest_exact3d"),      \
      row("upsample_bicubic2d"), row("upsample_bilinear2d"),                   \
      row("upsample_linear1d"), row("upsample_nearest1d"),                     \
      row("upsample_nearest2d"), row("upsample_nearest3d"),                    \
      row("upsample_trilinear3d")

llvm::ArrayRef<DerivativeRow> upsampleDerivatives() {
#define FT_ROW(name) DerivativeRow{name ".default", resize}
#define FT_BACKWARD_ROW(name)                                                  \
  DerivativeRow { name "_backward.default", resizeBackward }
  static constexpr DerivativeRow kRows[] = {FT_RESIZED(FT_ROW),
                                            FT_RESIZED(FT_BACKWARD_ROW)};
#undef FT_ROW
#undef FT_BACKWARD_ROW
  return kRows;
}

llvm::ArrayRef<ExpandRow> upsampleExpansions() {
#define FT_ROW(name)                                                           \
  ExpandRow { name ".vec", byFactors }
  static constexpr ExpandRow kRows[] = {
      FT_RESIZED(FT_ROW), {"affine_grid_generator.default", affineGrid}};
#undef FT_ROW
  return kRows;
}

#undef FT_RESIZED

} // namespace ft
