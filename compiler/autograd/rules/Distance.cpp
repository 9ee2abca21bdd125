//===- Distance.cpp - Second derivatives of distances ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward operators of distances, written out where they are
// differentiated once more: all differences d side by side, each with the slope
// of |d|_p by d,
//
//   sign(d) |d|^(p-1) / dist^(p-1),   0 where the distance is.
//
// The distance is an operand, whose gradient goes to the forward call.
//
// Cost: memory for all differences, which the operators do without.

#include "compiler/autograd/DerivativeTable.h"

#include <cmath>

namespace ft {

/// grad and distance have a last dim of size 1.
static Term slopes(RuleCall &c, double p, const Term &grad, const Term &d,
                   const Term &distance) {
  if (p == 0)
    return c.call("zeros_like", {d});
  Term sign = c.call("sign", {d}), size = c.call("abs", {d});
  if (p == 1)
    return c.mul(grad, sign);
  if (std::isinf(p))
    return c.call("where",
                  {c.call("eq", {size, distance}), c.mul(grad, sign), 0});
  // Distances of 0 are replaced before they divide, so that no slope of
  // theirs is NaN.
  Term none = c.call("eq", {distance, 0});
  Term divisor = c.call("masked_fill", {distance, none, 1});
  Term slope;
  if (p == 2) {
    slope = c.div(c.mul(grad, d), divisor);
  } else {
    Term power = c.mul(sign, c.call("pow", {size, p - 1}));
    if (p < 2)
      power = c.call("masked_fill", {power, c.call("eq", {d, 0}), 0});
    slope = c.div(c.mul(grad, power), c.call("pow", {divisor, p - 1}));
  }
  return c.call("masked_fill", {slope, none, 0});
}

/// (grad [.., i, j], x1 [.., i, m], x2 [.., j, m], p, cdist [.., i, j])
static std::vector<Term> betweenSets(RuleCall &c) {
  Term grad = c.call("unsqueeze", {c.arg("grad_output"), -1});
  Term distance = c.call("unsqueeze", {c.arg("cdist"), -1});
  Term d = c.sub(c.call("unsqueeze", {c.arg("x1"), -2}),
                 c.call("unsqueeze", {c.arg("x2"), -3}));
  Term all = slopes(c, c.arg("p").number(), grad, d, distance);
  Term sum = c.call("sum.dim_IntList", {all, std::vector<Term>{-2}, false});
  return {c.call("expand", {sum, RuleCall::sizes(c.result(0))})};
}

/// (grad [pairs], x [n, m], p, pdist [pairs]): pairs i < j, row by row.
static std::vector<Term> withinSet(RuleCall &c) {
  Term x = c.arg("self");
  Dim n = RuleCall::sizes(x)[0];
  Term pairs = c.call("triu_indices", {n, n, 1});
  Term i = c.call("select", {pairs, 0, 0}), j = c.call("select", {pairs, 0, 1});
  Term d = c.sub(c.call("index_select", {x, 0, i}),
                 c.call("index_select", {x, 0, j}));
  Term all = slopes(c, c.arg("p").number(),
                    c.call("unsqueeze", {c.arg("grad_output"), -1}), d,
                    c.call("unsqueeze", {c.arg("pdist"), -1}));
  Term zeros = c.call("zeros_like", {x});
  return {c.sub(c.call("index_add", {zeros, 0, i, all}),
                c.call("index_add", {zeros, 0, j, all}))};
}

llvm::ArrayRef<ExpandRow> distanceExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_cdist_backward.default", betweenSets},
      {"_pdist_backward.default", withinSet},
  };
  return kRows;
}

} // namespace ft
