//===- Quantile.cpp - Derivatives of quantiles -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A quantile as a sort, and what stands at q (n - 1) in it: between elements a
// and b, a + (b - a) w.

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

/// (self, q, dim, keepdim, interpolation). Rows with a NaN have the last place,
/// where it is sorted to; with `ignoresNan` the rest of the row counts.
template <bool ignoresNan>
static std::vector<Term> quantile(RuleCall &c) {
  Term x = c.arg("self"), dim = c.arg("dim"), q = c.arg("q");
  Term interpolation = c.arg("interpolation");
  llvm::StringRef mode = interpolation.text();
  if (dim.isNone() || RuleCall::rank(x) == 0)
    x = c.reshape(x, Dims{RuleCall::meta(x).numel()});
  else
    x = c.call("movedim", {x, dim, -1});
  bool several = q.isTensor() && RuleCall::rank(q) == 1;
  if (!q.isTensor())
    q = c.call("new_full", {x, Dims{Dim(1)}, q});
  else if (!several)
    q = c.reshape(q, Dims{Dim(1)});
  DType dtype = RuleCall::dtype(x);
  std::vector<Term> last = {-1};
  Term missing = c.call("isnan", {x}), ranks;
  if (ignoresNan) {
    Term there = c.call("sum.dim_IntList",
                        {c.call("logical_not", {missing}), last, true});
    Term end = c.call("clamp_min", {c.sub(c.cast(there, dtype), 1), 0});
    ranks = c.mul(q, end);
  } else {
    Dim end = RuleCall::sizes(x).back() - 1;
    ranks = c.call("where",
                   {c.call("any.dim", {missing, -1, true}),
                    c.call("new_full", {q, Dims{Dim(1)}, end}), c.mul(q, end)});
  }
  std::vector<Term> sorted = c.callAll("sort", {x, -1});
  if (c.failed())
    return {};
  auto at = [&](const Term &place) {
    return c.call("gather", {sorted[0], -1, c.cast(place, DType::I64)});
  };
  Term values;
  if (mode == "lower" || mode == "higher" || mode == "nearest") {
    values = at(c.call(mode == "lower"    ? "floor"
                       : mode == "higher" ? "ceil"
                                          : "round",
                       {ranks}));
  } else {
    Term below = c.call("floor", {ranks});
    Term low = at(below), high = at(c.call("ceil", {ranks}));
    Term weight = mode == "midpoint" ? Term(0.5) : c.sub(ranks, below);
    values = c.call("lerp", {low, high, weight});
  }
  if (several)
    values = c.call("movedim", {values, -1, 0});
  return {c.reshape(values, RuleCall::sizes(c.result(0)))};
}

llvm::ArrayRef<ExpandRow> quantileExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"nanquantile.default", quantile<true>},
      {"nanquantile.scalar", quantile<true>},
      {"quantile.default", quantile<false>},
      {"quantile.scalar", quantile<false>},
  };
  return kRows;
}

} // namespace ft
