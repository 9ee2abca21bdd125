//===- Reduce.cpp - Derivatives of the family reduce -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

#include <cmath>

namespace ft {

//===----------------------------------------------------------------------===//
// Variance
//===----------------------------------------------------------------------===//

/// With n elements and correction k, d var / d x = 2 (x - mean) / (n - k); a
/// divisor below zero counts as zero, and gives NaN or infinity as forward
/// does. `grad` has its dims restored.
static Term varianceGradient(GradCall &g, const Term &grad) {
  Term self = g.arg("self"), dim = g.arg("dim");
  Term correction = g.arg("correction");
  if (correction.isNone())
    correction = 1;
  Term divisor = g.sub(GradCall::reducedCount(self, dim), correction);
  if (divisor.isKnown() && divisor.number() < 0)
    divisor = 0;
  Term mean = g.call("mean.dim", {self, dim, true});
  if (divisor.isKnown() && divisor.number() > 0)
    return g.mul(g.mul(grad, g.div(2.0, divisor)), g.sub(self, mean));
  return g.div(g.mul(g.mul(grad, 2), g.sub(self, mean)), divisor);
}

static Term restored(GradCall &g, const Term &reduced) {
  return g.restoreDims(reduced, g.arg("self"), g.arg("dim"),
                       g.arg("keepdim").truth());
}

static void variance(GradCall &g) {
  g.set("self", varianceGradient(g, restored(g, g.grad())));
}

/// d sqrt(v) = dv / (2 sqrt(v)), and 0 where all elements are equal.
static Term standardGradient(GradCall &g, const Term &grad) {
  Term std = restored(g, g.result(0));
  Term half = g.div(restored(g, grad), g.mul(std, 2));
  Term isZero = g.call("eq", {std, 0});
  return varianceGradient(g, g.call("masked_fill", {half, isZero, 0}));
}

static void standard(GradCall &g) {
  g.set("self", standardGradient(g, g.grad()));
}

static Term meanGradient(GradCall &g) {
  Term self = g.arg("self");
  Term grad = g.gradIfAny(1);
  if (grad.isZero())
    return grad;
  Term share =
      g.div(restored(g, grad), GradCall::reducedCount(self, g.arg("dim")));
  return g.call("expand", {share, GradCall::sizes(self)});
}

static void varianceAndMean(GradCall &g) {
  Term grad = g.gradIfAny(0);
  Term spread = grad.isZero() ? Term() : varianceGradient(g, restored(g, grad));
  g.set("self", g.add(spread, meanGradient(g)));
}

static void standardAndMean(GradCall &g) {
  Term grad = g.gradIfAny(0);
  Term spread = grad.isZero() ? Term() : standardGradient(g, grad);
  g.set("self", g.add(spread, meanGradient(g)));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// x / |x|, 0 at 0; and the p-norm's d|x|_p / dx = sgn(x) (|x| / |x|_p)^(p-1).
/// Where the norm is 0 the subgradient is 0.
static void vectorNorm(GradCall &g) {
  Term self = g.arg("self"), order = g.arg("ord"), dim = g.arg("dim");
  bool keepdim = g.arg("keepdim").truth();
  Term grad = g.restoreDims(g.grad(), self, dim, keepdim);
  Term norm = g.restoreDims(g.result(0), self, dim, keepdim);
  if (!order.isKnown())
    return g.fail("the order of the norm is a number of the run");
  double p = order.number();
  if (p == 0)
    return g.set("self", g.call("zeros_like", {self}));
  if (p == 1)
    return g.set("self", g.mul(g.call("sgn", {self}), grad));
  Term isZero = g.call("eq", {norm, 0});
  if (p == 2) {
    Term scale = g.call("masked_fill", {g.div(grad, norm), isZero, 0});
    return g.set("self", g.mul(self, scale));
  }
  if (std::isinf(p)) {
    // The elements of largest (smallest) modulus share it.
    Term size = g.call("abs", {self});
    Term extreme = g.call("eq", {size, norm});
    Term among =
        g.call("sum.dim_IntList",
               {extreme, dim.isNone() ? Term(std::vector<Term>()) : dim, true});
    Term share = g.mul(g.call("sgn", {self}), g.div(grad, among));
    return g.set("self", g.call("where", {extreme, share, 0}));
  }
  Term size = g.call("abs", {self});
  Term power = g.call("pow", {size, p - 1});
  Term scale = g.div(grad, g.call("pow", {norm, p - 1}));
  scale = g.call("masked_fill", {scale, isZero, 0});
  Term result = g.mul(g.mul(g.call("sgn", {self}), power), scale);
  // |0|^(p-1) is infinite there: the subgradient of an element that is 0 is 0.
  if (p < 2)
    result = g.call("masked_fill", {result, g.call("eq", {self, 0}), 0});
  g.set("self", result);
}

//===----------------------------------------------------------------------===//
// Products, extremes
//===----------------------------------------------------------------------===//

/// The product of all elements of `x` along `d` but each one itself: those
/// before it times those after it, so that zeros are no special case.
static Term productOfOthers(GradCall &g, const Term &x, int64_t d) {
  Dims sizes = GradCall::sizes(x);
  Term n = sizes[d];
  Dims one = sizes;
  one[d] = 1;
  Term ones = g.call("new_ones", {x, one});
  auto exclusive = [&](const Term &t) {
    Term shifted = g.call(
        "cat",
        {std::vector<Term>{ones, g.call("narrow", {t, d, 0, g.sub(n, 1)})}, d});
    return g.call("cumprod", {shifted, d});
  };
  Term dims = std::vector<Term>{d};
  Term after = g.call("flip", {exclusive(g.call("flip", {x, dims})), dims});
  return g.mul(exclusive(x), after);
}

static bool isEmpty(const Term &x) {
  return llvm::any_of(GradCall::sizes(x), [](const Dim &d) { return d.is(0); });
}

static void productOf(GradCall &g, const Term &grad, const Term &x, int64_t d) {
  Term self = g.arg("self");
  if (isEmpty(x))
    return g.set("self", g.call("zeros_like", {self}));
  Term others = g.conj(productOfOthers(g, x, d));
  g.set("self", g.reshape(g.mul(grad, others), GradCall::sizes(self)));
}

static void product(GradCall &g) {
  Term self = g.cast(g.arg("self"), GradCall::dtype(g.result(0)));
  Dims flat = {GradCall::meta(self).numel()};
  productOf(g, g.grad(), g.reshape(self, flat), 0);
}

static void productOfDim(GradCall &g) {
  Term self = g.cast(g.arg("self"), GradCall::dtype(g.result(0)));
  if (GradCall::rank(self) == 0)
    return g.set("self", g.grad());
  int64_t d = GradCall::wrap(g.arg("dim").integer(), GradCall::rank(self));
  productOf(g, restored(g, g.grad()), self, d);
}

static void aminmax(GradCall &g) {
  Term self = g.arg("self"), dim = g.arg("dim"), sum;
  for (unsigned r : {0u, 1u}) {
    Term grad = g.gradIfAny(r);
    if (grad.isZero())
      continue;
    Term mask = g.call("eq", {self, restored(g, g.result(r))});
    Term dims =
        dim.isNone() ? Term(std::vector<Term>()) : Term(std::vector<Term>{dim});
    Term among = g.call("sum.dim_IntList", {mask, dims, true});
    sum = g.add(sum, g.div(g.mul(restored(g, grad), mask), among));
  }
  g.set("self", sum);
}

/// y_i = log sum of exp(x_j), j <= i: x_j gets the sum of grad_i exp(x_j - y_i)
/// over i >= j, computed in logarithms because exp(-y_i) may be anything. Where
/// there is nothing to add the logarithm is a number that vanishes beside all
/// others, not -inf, so that the rule can be derived itself.
static void logCumSumExp(GradCall &g) {
  Term x = g.arg("self"), y = g.result(0), grad = g.grad();
  Term dims = std::vector<Term>{g.arg("dim")};
  constexpr double kNothing = -6e4;
  auto sumWhere = [&](const Term &isPart, const Term &part) {
    Term safe = g.call("log", {g.call("where", {isPart, part, 1})});
    Term logs = g.sub(g.call("where", {isPart, safe, kNothing}), y);
    Term sums =
        g.call("logcumsumexp", {g.call("flip", {logs, dims}), g.arg("dim")});
    return g.call("exp", {g.add(g.call("flip", {sums, dims}), x)});
  };
  if (GradCall::isComplex(grad)) {
    Term sum = sumWhere(g.call("ne", {grad, 0}), g.conj(grad));
    return g.set("self", g.conj(sum));
  }
  g.set("self", g.sub(sumWhere(g.call("gt", {grad, 0}), grad),
                      sumWhere(g.call("lt", {grad, 0}), g.neg(grad))));
}

llvm::ArrayRef<DerivativeRow> reduceDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"logcumsumexp.default", logCumSumExp},
      {"aminmax.default", aminmax},
      {"linalg_vector_norm.default", vectorNorm},
      {"prod.default", product},
      {"prod.dim_int", productOfDim},
      {"std.correction", standard},
      {"std_mean.correction", standardAndMean},
      {"var.correction", variance},
      {"var_mean.correction", varianceAndMean},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// Expansions
//===----------------------------------------------------------------------===//

/// The backward of cumprod, to be derived once more. y_i is the product of x_0
/// to x_i, so that x_k gets the sum over i >= k of grad_i times that product
/// without x_k: each row k of [k, i] has a 1 for x_k.
///
/// Cost: the square of the size of the dim, where zeros are no special case.
static std::vector<Term> cumprodBackward(RuleCall &c) {
  Term x = c.arg("input"), grad = c.arg("grad");
  int64_t rank = RuleCall::rank(x);
  if (rank == 0)
    return {c.cast(grad, RuleCall::dtype(c.result(0)))};
  int64_t d = RuleCall::wrap(c.arg("dim").integer(), rank);
  Dims sizes = RuleCall::sizes(x);
  Dim n = sizes[d];
  // [.., i, ..] -> [.., 1, i, ..]
  Term wide = c.call("unsqueeze", {x, d});
  Dims square = RuleCall::sizes(wide);
  square[d] = n;
  Term places = c.call("arange", {n});
  auto along = [&](int64_t dim) {
    Dims one(square.size(), Dim(1));
    one[dim] = n;
    return c.reshape(places, one);
  };
  Term row = along(d), column = along(d + 1);
  Term others = c.call("masked_fill", {c.call("expand", {wide, square}),
                                       c.call("eq", {row, column}), 1});
  Term products = c.conj(c.call("cumprod", {others, d + 1}));
  Term terms = c.mul(products, c.call("unsqueeze", {grad, d}));
  terms = c.call("masked_fill", {terms, c.call("gt", {row, column}), 0});
  Term sum =
      c.call("sum.dim_IntList", {terms, std::vector<Term>{d + 1}, false});
  return {c.cast(sum, RuleCall::dtype(c.result(0)))};
}

llvm::ArrayRef<ExpandRow> reduceExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"cumprod_backward.default", cumprodBackward},
  };
  return kRows;
}

} // namespace ft
