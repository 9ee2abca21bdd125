//===- Spacing.cpp - Derivatives of finite differences ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gradient(x) along a dim whose points lie h apart:
//
//   (x[i+1] - x[i-1]) / 2h
//
// inside, one-sided differences of first or second order at both ends. Points
// at coordinates that are p and n apart from their neighbours before and after
// have the weights -n / p(p+n), (n-p) / pn, p / n(p+n).

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

namespace {
/// x along one dim.
class Line {
public:
  Line(RuleCall &c, const Term &x, int64_t dim)
      : c(c), x(x), dim(dim), size(RuleCall::sizes(x)[dim]) {}

  /// Equal distances.
  Term differences(const Term &h, int64_t order) {
    auto edge = [&](bool end) {
      // -3/2, 2, -1/2 from the end inwards.
      int64_t sign = end ? 1 : -1;
      Term sum = c.sub(at(end, 0), at(end, 1));
      if (order == 2)
        sum = c.add(c.sub(c.mul(at(end, 0), 1.5), c.mul(at(end, 1), 2)),
                    c.mul(at(end, 2), 0.5));
      return c.div(c.mul(sum, sign), h);
    };
    Term inner =
        c.div(c.sub(part(2, size - 2), part(0, size - 2)), c.mul(h, 2));
    return joined(edge(false), inner, edge(true));
  }

  /// At `coordinates`, one for each point.
  Term differencesAt(const Term &coordinates, int64_t order) {
    Dims shape(static_cast<size_t>(RuleCall::rank(x)), Dim(1));
    shape[dim] = size - 1;
    Term steps = c.sub(c.call("narrow", {coordinates, 0, 1, size - 1}),
                       c.call("narrow", {coordinates, 0, 0, size - 1}));
    Line gaps(c, c.reshape(steps, shape), dim);
    Term p = gaps.part(0, size - 2), n = gaps.part(1, size - 2);
    Term both = c.add(p, n);
    Term inner = c.mul(part(2, size - 2), c.div(p, c.mul(n, both)));
    inner = c.sub(inner, c.mul(part(0, size - 2), c.div(n, c.mul(p, both))));
    inner =
        c.add(inner, c.mul(part(1, size - 2), c.div(c.sub(n, p), c.mul(p, n))));
    auto edge = [&](bool end) {
      Term near = gaps.at(end, 0);
      Term slope = c.div(c.sub(at(end, 0), at(end, 1)), near);
      if (order == 2) {
        // f' = (x0 - x1) / a + (x0 - x1) / (a + b) - (x1 - x2) a / b (a + b)
        Term far = gaps.at(end, 1), sum = c.add(near, far);
        Term first = c.sub(at(end, 0), at(end, 1)),
             second = c.sub(at(end, 1), at(end, 2));
        slope = c.add(slope, c.div(first, sum));
        slope = c.sub(slope, c.mul(second, c.div(near, c.mul(far, sum))));
      }
      return end ? slope : c.neg(slope);
    };
    return joined(edge(false), inner, edge(true));
  }

private:
  Term part(const Dim &start, const Dim &length) {
    return c.call("narrow", {x, dim, start, length});
  }
  /// The k-th point from an end.
  Term at(bool end, int64_t k) { return part(end ? size - 1 - k : Dim(k), 1); }
  Term joined(const Term &first, const Term &inner, const Term &last) {
    return c.call("cat", {std::vector<Term>{first, inner, last}, dim});
  }

  RuleCall &c;
  Term x;
  int64_t dim;
  Dim size;
};
} // namespace

static std::vector<Term> gradient(RuleCall &c) {
  Term x = c.arg("self"), dim = c.arg("dim");
  int64_t order = c.arg("edge_order").integer();
  int64_t rank = RuleCall::rank(x);
  llvm::SmallVector<int64_t> dims; // in the order of the results
  if (dim.isNumber())
    dims.push_back(RuleCall::wrap(dim.integer(), rank));
  for (const Term &item : dim.items())
    dims.push_back(RuleCall::wrap(item.integer(), rank));
  if (dims.empty())
    for (int64_t d = 0; d < rank; ++d)
      dims.push_back(d);
  Term spacing =
      c.schema().argIndex("spacing") < 0 ? Term(1) : c.arg("spacing");
  std::vector<Term> results;
  for (auto [i, d] : llvm::enumerate(dims)) {
    Term h = spacing.isNone() ? Term(1) : spacing;
    if (spacing.isList())
      h = Term(spacing.items()[std::min(i, spacing.items().size() - 1)]);
    Line line(c, x, d);
    results.push_back(h.isTensor() ? line.differencesAt(h, order)
                                   : line.differences(h, order));
  }
  return results;
}

llvm::ArrayRef<ExpandRow> spacingExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"gradient.array", gradient},
      {"gradient.scalararray", gradient},
      {"gradient.scalarint", gradient},
      {"gradient.scalarrayarray", gradient},
      {"gradient.scalarrayint", gradient},
      {"gradient.tensorarray", gradient},
      {"gradient.tensorarrayint", gradient},
  };
  return kRows;
}

} // namespace ft
