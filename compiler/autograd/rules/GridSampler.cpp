//===- GridSampler.cpp - Derivatives of grid samplers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of sampling is an operator with a kernel of its own. Where that
// one is differentiated in turn it is written out, in terms of operators that
// have derivatives of any order:
//
//   out[n, c, p]       = sum over taps t: w_t[n, p] image[n, c, at_t[n, p]]
//   gradient of image  = for each t, grad w_t added at at_t
//   gradient of grid_d = unit_d * sum over t of
//                        (sum over c: grad image[.., at_t]) dw_t / dx_d
//
// A tap is one choice of a pixel for each dim: 2 of each for linear, 1 for
// nearest, 4 for cubic interpolation. The weights are functions of the position
// x in pixels, the pixels are locally constant.
//
// Cost: taps * (elements of grad), 4 to 16 taps.

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

static void gridSampler(GradCall &g) {
  Term mask = std::vector<Term>{g.needs("input"), g.needs("grid")};
  std::string name = (g.schema().base + "_backward.default").str();
  std::vector<Term> grads =
      g.callAll(name, {g.grad(), g.arg("input"), g.arg("grid"),
                       g.arg("interpolation_mode"), g.arg("padding_mode"),
                       g.arg("align_corners"), mask});
  if (grads.size() != 2)
    return;
  if (g.needs("input"))
    g.set("input", grads[0]);
  g.set("grid", grads[1]);
}

llvm::ArrayRef<DerivativeRow> gridSamplerDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"grid_sampler_2d.default", gridSampler},
      {"grid_sampler_3d.default", gridSampler},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// The backward written out
//===----------------------------------------------------------------------===//

namespace {

enum Interpolation : uint8_t { Linear, Nearest, Cubic };
enum Padding : uint8_t { Zeros, Border, Reflection };

/// One pixel of one dim: its index (a float), its weight and how the weight
/// changes with the position; a zero slope if it does not.
struct Tap {
  Term at, weight, slope;
};

/// One spatial dim of the image.
struct Axis {
  RuleCall &c;
  Dim size;
  Padding padding;
  bool alignCorners;

  Term last() const { return size - 1; }

  /// From [-1, 1] to pixels.
  Term toPixels(const Term &x) const {
    Term up = c.add(x, 1);
    if (alignCorners)
      return c.mul(up, half(last()));
    return c.mul(c.sub(c.mul(up, size), 1), 0.5);
  }
  /// How many pixels a step of 1 in the grid is.
  Term unit() const { return half(alignCorners ? last() : Term(size)); }

  /// Positions outside, moved inside.
  Term padded(const Term &x) const {
    if (padding == Zeros)
      return x;
    Term y = padding == Border ? x : folded(x).position;
    return c.call("clamp", {y, 0, last()});
  }
  /// How `padded` changes with the position: by 1, -1, or not at all.
  Term direction(const Term &x) const {
    if (padding == Zeros)
      return 1;
    Folded at = padding == Border ? Folded{x, Term(1)} : folded(x);
    Term inside = c.call("logical_and", {c.call("gt", {at.position, 0}),
                                         c.call("lt", {at.position, last()})});
    return c.mul(c.cast(inside, RuleCall::dtype(x)), at.direction);
  }

private:
  struct Folded {
    Term position, direction;
  };
  Term half(const Term &n) const { return c.div(n, 2.0); }
  /// Back and forth between the centres of the edge pixels, or their borders.
  Folded folded(const Term &x) const {
    Term low = alignCorners ? Term(0) : Term(-0.5);
    Term span = alignCorners ? last() : Term(size);
    if (span.isInt() && span.dim().is(0))
      return {c.mul(x, 0), Term(1)};
    Term offset = c.sub(x, low), apart = c.call("abs", {offset});
    Term rest = c.call("fmod", {apart, span});
    Term turns = c.call("floor", {c.div(c.call("detach", {apart}), span)});
    Term even = c.call("eq", {c.call("fmod", {turns, 2}), 0});
    Term sign = c.call("sgn", {c.call("detach", {offset})});
    return {c.add(c.call("where", {even, rest, c.sub(span, rest)}), low),
            c.call("where", {even, sign, c.neg(sign)})};
  }
};

/// The call, with the pixels of the output in one row: `grad` [N, C, P],
/// `image` [N, C, S].
struct GridBackward {
  RuleCall &c;
  Term input, grid, grad, image;
  Interpolation mode;
  std::vector<Axis> axes;
  Dims strides;
  Dim batch, channels, pixels;

  explicit GridBackward(RuleCall &c);
  Term coordinate(size_t d) const;
  std::vector<Tap> tapsOf(size_t d) const;
  std::vector<Term> run(bool ofImage, bool ofGrid);

private:
  void visit(size_t d, std::vector<Tap> &chosen);
  std::vector<std::vector<Tap>> taps;
  Term imageGradient;
  std::vector<Term> gridGradients;
};

} // namespace

GridBackward::GridBackward(RuleCall &c)
    : c(c), input(c.arg("input")), grid(c.arg("grid")),
      mode(static_cast<Interpolation>(c.arg("interpolation_mode").integer())) {
  auto padding = static_cast<Padding>(c.arg("padding_mode").integer());
  Dims sizes = RuleCall::sizes(input), places = RuleCall::sizes(grid);
  batch = sizes[0];
  channels = sizes[1];
  pixels = product(llvm::ArrayRef(places).drop_front().drop_back());
  Dims spatial(sizes.begin() + 2, sizes.end());
  for (const Dim &size : spatial)
    axes.push_back({c, size, padding, c.arg("align_corners").truth()});
  strides.assign(spatial.size(), Dim(1));
  for (size_t d = spatial.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] * spatial[d + 1];
  grad = c.reshape(c.arg("grad_output"), Dims{batch, channels, pixels});
  image = c.reshape(input, Dims{batch, channels, product(spatial)});
}

/// The coordinate of dim d, [N, P]; x comes first in the grid.
Term GridBackward::coordinate(size_t d) const {
  auto k = static_cast<int64_t>(axes.size() - 1 - d);
  return c.reshape(c.call("select", {grid, -1, k}), Dims{batch, pixels});
}

/// A polynomial from its coefficients, the highest power first.
static Term polynomial(RuleCall &c, const Term &x,
                       llvm::ArrayRef<double> coefficients) {
  Term y = coefficients.front();
  for (double k : coefficients.drop_front())
    y = c.add(c.mul(y, x), k);
  return y;
}

std::vector<Tap> GridBackward::tapsOf(size_t d) const {
  const Axis &a = axes[d];
  Term x = a.toPixels(coordinate(d));
  if (mode != Cubic)
    x = a.padded(x);
  auto whole = [&](const char *how, const Term &y) {
    return c.call(how, {c.call("detach", {y})});
  };
  if (mode == Nearest)
    return {{whole("round", x), Term(1), Term()}};
  Term low = whole("floor", x), t = c.sub(x, low), rest = c.sub(1, t);
  if (mode == Linear)
    return {{low, rest, Term(-1)}, {c.add(low, 1), t, Term(1)}};
  // Keys' cubic with a = -3/4, of the distance; each pixel is padded by itself.
  auto tap = [&](int64_t step, const Term &distance, int sign,
                 llvm::ArrayRef<double> k) {
    double slope[] = {3 * k[0], 2 * k[1], k[2]};
    return Tap{a.padded(c.add(low, step)), polynomial(c, distance, k),
               c.mul(polynomial(c, distance, slope), sign)};
  };
  constexpr double kNear[] = {1.25, -2.25, 0, 1};
  constexpr double kFar[] = {-0.75, 3.75, -6, 3};
  return {tap(-1, c.add(t, 1), 1, kFar), tap(0, t, 1, kNear),
          tap(1, rest, -1, kNear), tap(2, c.add(rest, 1), -1, kFar)};
}

void GridBackward::visit(size_t d, std::vector<Tap> &chosen) {
  if (d < axes.size()) {
    for (const Tap &tap : taps[d]) {
      chosen.push_back(tap);
      visit(d + 1, chosen);
      chosen.pop_back();
    }
    return;
  }
  Term inside, place;
  for (size_t k = 0; k < axes.size(); ++k) {
    const Term &at = chosen[k].at;
    for (Term here :
         {c.call("ge", {at, 0}), c.call("le", {at, axes[k].last()})})
      inside = inside.isZero() ? here : c.call("logical_and", {inside, here});
    Term safe = c.call("clamp", {at, 0, axes[k].last()});
    place = c.add(place, c.mul(c.cast(safe, DType::I64), strides[k]));
  }
  place = c.call("expand", {c.call("unsqueeze", {place, 1}),
                            Dims{batch, channels, pixels}});
  auto product = [&](size_t derived) {
    Term weight = 1;
    for (size_t k = 0; k < axes.size(); ++k)
      weight = c.mul(weight, k == derived ? chosen[k].slope : chosen[k].weight);
    return weight;
  };
  auto masked = [&](const Term &x) {
    return x.isZero() ? x : c.call("where", {inside, x, 0});
  };
  if (!imageGradient.isZero()) {
    Term weight = product(axes.size());
    if (!weight.isTensor())
      weight = c.call("ones_like", {coordinate(0)});
    weight = c.call("unsqueeze", {masked(weight), 1});
    imageGradient =
        c.call("scatter_add", {imageGradient, 2, place, c.mul(grad, weight)});
  }
  if (gridGradients.empty() || mode == Nearest)
    return;
  Term read = c.mul(grad, c.call("gather", {image, 2, place}));
  read = masked(c.call("sum.dim_IntList", {read, std::vector<Term>{1}, false}));
  for (size_t k = 0; k < axes.size(); ++k)
    gridGradients[k] = c.add(gridGradients[k], c.mul(read, product(k)));
}

std::vector<Term> GridBackward::run(bool ofImage, bool ofGrid) {
  for (size_t d = 0; d < axes.size(); ++d)
    taps.push_back(tapsOf(d));
  if (ofImage)
    imageGradient = c.call("zeros_like", {image});
  if (ofGrid)
    gridGradients.resize(axes.size());
  std::vector<Tap> chosen;
  visit(0, chosen);
  std::vector<Term> results(2);
  if (ofImage)
    results[0] = c.reshape(imageGradient, RuleCall::sizes(input));
  if (!ofGrid)
    return results;
  std::vector<Term> coordinates; // x first
  for (size_t d = axes.size(); d-- > 0;) {
    Term x = c.call("detach", {coordinate(d)});
    if (gridGradients[d].isZero()) {
      coordinates.push_back(c.call("zeros_like", {x}));
      continue;
    }
    Term slope = axes[d].unit();
    if (mode == Linear) // otherwise each pixel is padded by itself
      slope = c.mul(axes[d].direction(axes[d].toPixels(x)), slope);
    coordinates.push_back(c.mul(gridGradients[d], slope));
  }
  results[1] =
      c.reshape(c.call("stack", {coordinates, -1}), RuleCall::sizes(grid));
  return results;
}

static std::vector<Term> gridBackward(RuleCall &c) {
  std::vector<Term> mask = c.arg("output_mask").items();
  GridBackward backward(c);
  return backward.run(mask[0].truth(), mask[1].truth());
}

/// By the number of dims.
static std::vector<Term> anyGrid(RuleCall &c) {
  bool deep = RuleCall::rank(c.arg("input")) == 5;
  return {c.call(deep ? "grid_sampler_3d" : "grid_sampler_2d",
                 {c.arg("input"), c.arg("grid"), c.arg("interpolation_mode"),
                  c.arg("padding_mode"), c.arg("align_corners")})};
}

llvm::ArrayRef<ExpandRow> gridSamplerExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"grid_sampler.default", anyGrid},
      {"grid_sampler_2d_backward.default", gridBackward},
      {"grid_sampler_3d_backward.default", gridBackward},
  };
  return kRows;
}

} // namespace ft
