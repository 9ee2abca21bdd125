//===- Scatter.cpp - Derivatives of the family scatter ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scatter_reduce and index_reduce combine each element of self with the values
// that an index sends to it. With n values at an element, counting itself if it
// takes part:
//
//   sum        each has the gradient of the result
//   mean       1/n of it
//   amax amin  those that are equal to the result share it
//   prod       it times the product of the others
//
// The product of the others is the result divided by the value. Where a value
// is zero it is replaced by one and the result computed again: that is right
// for a single zero, and with several at one element all have the gradient
// zero.

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

namespace {
/// What a call reads and writes at its indices: one for each value (scatter),
/// or one for each slice of `dim` (index).
class Reduction {
public:
  explicit Reduction(GradCall &g)
      : g(g), byElement(g.schema().base == "scatter_reduce"),
        self(g.arg("self")), dim(g.arg("dim")), index(g.arg("index")),
        all(g.arg(3)), reduce(g.arg("reduce")),
        includeSelf(g.arg("include_self")),
        source(byElement ? g.cutTo(all, GradCall::sizes(index)) : all) {}

  void run();

private:
  void sums(bool mean);
  void products();
  void extremes();
  void set(Term ofSelf, const Term &ofSource);

  /// For each value, the element that it went to.
  Term at(const Term &t) {
    if (byElement)
      return g.call("gather", {t, dim, index});
    return g.reshape(g.call("index_select", {t, dim, index}),
                     GradCall::sizes(source));
  }
  Term addAt(const Term &t, const Term &values) {
    return g.call(byElement ? "scatter_add" : "index_add",
                  {t, dim, index, values});
  }
  Term combine(const Term &t, const Term &values) {
    return g.call(
        byElement ? "scatter_reduce" : "index_reduce",
        {t, dim, index, values, reduce, includeSelf.named("include_self")});
  }
  Term number(const Term &truths) {
    return g.cast(truths, GradCall::dtype(self));
  }
  Term filled(const Term &t, const Term &mask, int64_t value) {
    return g.call("masked_fill", {t, mask, value});
  }

  GradCall &g;
  bool byElement;
  Term self, dim, index, all, reduce, includeSelf;
  /// The values that have an index.
  Term source;
};
} // namespace

void Reduction::set(Term ofSelf, const Term &ofSource) {
  if (g.needs("self")) {
    // What does not take part is overwritten.
    if (!includeSelf.truth())
      ofSelf =
          g.call(byElement ? "scatter" : "index_fill", {ofSelf, dim, index, 0});
    g.set("self", ofSelf);
  }
  llvm::StringRef name = g.schema().args[3].name;
  if (g.needs(name))
    g.set(name, g.padTo(ofSource, GradCall::sizes(all)));
}

void Reduction::sums(bool mean) {
  Term grad = g.grad();
  if (!mean)
    return set(grad, at(grad));
  Term none = g.call(includeSelf.truth() ? "ones_like" : "zeros_like", {grad});
  Term count = addAt(none, g.call("ones_like", {source}));
  Term share = g.div(grad, g.call("clamp_min", {count, 1}));
  set(share, at(share));
}

void Reduction::extremes() {
  Term isSelf = g.call("eq", {self, g.result(0)});
  Term isSource = g.call("eq", {source, at(g.result(0))});
  Term among = addAt(number(isSelf), number(isSource));
  Term share = g.div(g.grad(), among);
  set(g.mul(share, number(isSelf)), g.mul(at(share), number(isSource)));
}

void Reduction::products() {
  Term grad = g.grad();
  Term one = filled(self, g.call("eq", {self, 0}), 1);
  Term ofSelf = g.div(g.mul(grad, combine(one, source)), one);

  Term zero = g.call("eq", {source, 0});
  Term zeros = at(addAt(g.call("zeros_like", {self}), number(zero)));
  Term single = g.call("logical_and", {zero, g.call("eq", {zeros, 1})});
  Term others = at(g.mul(grad, combine(self, filled(source, single, 1))));
  Term divided = g.div(at(g.mul(grad, g.result(0))), filled(source, zero, 1));
  set(ofSelf, g.call("where", {single, others, divided}));
}

void Reduction::run() {
  llvm::StringRef how = reduce.text();
  if (how == "prod")
    return products();
  if (how == "amax" || how == "amin")
    return extremes();
  sums(how == "mean");
}

static void reduceAt(GradCall &g) { Reduction(g).run(); }

llvm::ArrayRef<DerivativeRow> scatterDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"index_reduce.default", reduceAt},
      {"scatter_reduce.two", reduceAt},
  };
  return kRows;
}

} // namespace ft
