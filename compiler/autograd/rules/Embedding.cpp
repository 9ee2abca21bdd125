//===- Embedding.cpp - Derivatives of bags of embeddings -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bag is the sum, mean or maximum of rows of a table. A sum is linear in the
// table and in the factors of its rows, so that the backward operators' own
// backward is a bag again.

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

enum BagMode : uint8_t { Sum, Mean, Max };

static void bag(GradCall &g) {
  Term weight = g.arg("weight");
  if (g.needs("weight"))
    g.set("weight",
          g.call("_embedding_bag_backward",
                 {g.grad(), g.arg("indices"), g.arg("offsets"), g.result(1),
                  g.result(2), g.result(3), GradCall::sizes(weight)[0],
                  g.arg("scale_grad_by_freq"), g.arg("mode"), g.arg("sparse"),
                  g.arg("per_sample_weights"), g.arg("padding_idx")}));
  if (g.needs("per_sample_weights"))
    g.set("per_sample_weights",
          g.call("_embedding_bag_per_sample_weights_backward",
                 {g.grad(), weight, g.arg("indices"), g.arg("offsets"),
                  g.result(1), g.arg("mode"), g.arg("padding_idx")}));
}

/// The bags of a table that stands for a gradient of it; `offsets` has one
/// entry more than there are bags if it ends with their number.
static Term bagsOf(GradCall &g, const Term &table, const Term &bags,
                   const Term &mode, const Term &factors) {
  Term offsets = g.arg("offsets");
  bool last = GradCall::sizes(offsets)[0] != GradCall::sizes(bags)[0];
  return g.call("_embedding_bag",
                {table, g.arg("indices"), offsets, false, mode, false, factors,
                 last, g.arg("padding_idx")});
}

static void bagBackward(GradCall &g) {
  Term grad = g.arg("grad"), factors = g.arg("per_sample_weights");
  int64_t mode = g.arg("mode").integer();
  if (g.arg("scale_grad_by_freq").truth())
    return g.fail("gradients by frequency have none of their own");
  if (mode == Max) {
    Term empty = g.call("unsqueeze", {g.call("eq", {g.arg("bag_size"), 0}), 1});
    Term read = g.call("gather", {g.grad(), 0, g.arg("maximum_indices")});
    return g.set("grad", g.call("masked_fill", {read, empty, 0}));
  }
  if (g.needs("grad"))
    g.set("grad", bagsOf(g, g.grad(), grad, mode, factors));
  if (g.needs("per_sample_weights"))
    g.set("per_sample_weights",
          g.call("_embedding_bag_per_sample_weights_backward",
                 {grad, g.grad(), g.arg("indices"), g.arg("offsets"),
                  g.arg("offset2bag"), mode, g.arg("padding_idx")}));
}

/// factor_j = grad[bag_j] . weight[index_j]
static void factorsBackward(GradCall &g) {
  Term grad = g.arg("grad"), weight = g.arg("weight");
  if (g.needs("grad"))
    g.set("grad", bagsOf(g, weight, grad, static_cast<int64_t>(Sum), g.grad()));
  if (!g.needs("weight"))
    return;
  // Sums have neither sizes nor maxima of their bags.
  Term none = g.call("zeros_like", {g.arg("offsets")});
  g.set("weight",
        g.call("_embedding_bag_backward",
               {grad, g.arg("indices"), g.arg("offsets"), g.arg("offset2bag"),
                none, none, GradCall::sizes(weight)[0], false,
                static_cast<int64_t>(Sum), false, g.grad(),
                g.arg("padding_idx")}));
}

llvm::ArrayRef<DerivativeRow> embeddingDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"_embedding_bag.default", bag},
      {"_embedding_bag_backward.default", bagBackward},
      {"_embedding_bag_per_sample_weights_backward.default", factorsBackward},
  };
  return kRows;
}

static std::vector<Term> anyBag(RuleCall &c) {
  Term padding = -1;
  if (c.schema().argIndex("padding_idx") >= 0 &&
      !c.arg("padding_idx").isNone()) {
    padding = c.arg("padding_idx");
    if (padding.integer() < 0) // counted from the end
      padding = c.add(padding, RuleCall::sizes(c.arg("weight"))[0]);
  }
  return c.callAll("_embedding_bag.default",
                   {c.arg("weight"), c.arg("indices"), c.arg("offsets"),
                    c.arg("scale_grad_by_freq"), c.arg("mode"), c.arg("sparse"),
                    c.arg("per_sample_weights"), c.arg("include_last_offset"),
                    padding});
}

llvm::ArrayRef<ExpandRow> embeddingExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"embedding_bag.default", anyBag},
      {"embedding_bag.padding_idx", anyBag},
  };
  return kRows;
}

} // namespace ft
