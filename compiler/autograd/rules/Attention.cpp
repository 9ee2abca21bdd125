//===- Attention.cpp - Derivatives of the family attention -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

#include <cmath>
#include <limits>

namespace ft {

static constexpr const char *kNames[] = {"query", "key", "value"};

/// The fused backward computes the scores again from queries, keys and the
/// logarithms of the row sums, so that no matrix of scores is kept.
static void flash(GradCall &g) {
  if (g.needs("attn_mask"))
    return g.fail("the mask has no derivative in this form");
  std::vector<Term> grads = g.callAll(
      "_scaled_dot_product_flash_attention_for_cpu_backward",
      {g.grad(), g.arg("query"), g.arg("key"), g.arg("value"), g.result(0),
       g.result(1), g.arg("dropout_p"), g.arg("is_causal"),
       g.arg("attn_mask").named("attn_mask"), g.arg("scale").named("scale")});
  if (grads.size() != 3)
    return;
  for (auto [i, name] : llvm::enumerate(kNames))
    g.set(name, grads[i]);
}

llvm::ArrayRef<DerivativeRow> attentionDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"_scaled_dot_product_flash_attention_for_cpu.default", flash},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// Expansions
//===----------------------------------------------------------------------===//

/// A mask of truths as what is added to the scores.
static Term additiveMask(RuleCall &c, const Term &mask, DType dtype) {
  if (!mask.isTensor() || RuleCall::dtype(mask) != DType::Bool)
    return mask;
  Term zeros = c.call("zeros_like", {mask, Term(dtype).named("dtype")});
  return c.call("masked_fill", {zeros, c.call("logical_not", {mask}),
                                -std::numeric_limits<double>::infinity()});
}

/// Whether the fused form computes it: four dims, equal heads and lengths of
/// rows, and a mask that is no function of the parameters.
static bool isFused(RuleCall &c) {
  Term q = c.arg("query"), k = c.arg("key"), v = c.arg("value"),
       mask = c.arg("attn_mask");
  if (RuleCall::rank(q) != 4 || RuleCall::rank(k) != 4 ||
      RuleCall::rank(v) != 4 || c.arg("dropout_p").number() != 0)
    return false;
  Dims qs = RuleCall::sizes(q), ks = RuleCall::sizes(k),
       vs = RuleCall::sizes(v);
  bool same = qs[0] == ks[0] && qs[0] == vs[0] && qs[1] == ks[1] &&
              qs[1] == vs[1] && qs[3] == ks[3] && qs[3] == vs[3];
  for (const Dims &sizes : {qs, ks, vs})
    for (const Dim &size : sizes)
      same &= !size.is(0);
  if (!mask.isTensor())
    return same;
  int64_t rank = RuleCall::rank(mask);
  return same && !c.varies(mask) && (rank == 2 || rank == 4);
}

/// softmax(scale q k^T + mask) v, whose rows without a key are zeros.
/// The weights of the rows go to `rows` if that is asked for.
static Term plain(RuleCall &c, Term *rows = nullptr) {
  Term q = c.arg("query"), k = c.arg("key"), v = c.arg("value"),
       scale = c.arg("scale"), mask = c.arg("attn_mask");
  DType dtype = RuleCall::dtype(q);
  if (c.arg("enable_gqa").truth()) {
    // Each head of keys and values serves as many heads of queries.
    int64_t heads = RuleCall::rank(q) - 3;
    if (heads < 0) {
      c.fail("grouped queries without a dim of heads");
      return {};
    }
    Dim times = floorDiv(RuleCall::sizes(q)[heads], RuleCall::sizes(k)[heads]);
    k = c.call("repeat_interleave.self_int", {k, times, heads});
    v = c.call("repeat_interleave.self_int", {v, times, heads});
  }
  if (scale.isNone()) {
    Dim width = RuleCall::sizes(q).back();
    if (!width.isStatic()) {
      c.fail("attention over rows of a length of the run has none yet");
      return {};
    }
    scale = 1.0 / std::sqrt(static_cast<double>(width.value()));
  }
  Term scores =
      c.call("matmul", {c.mul(q, scale), c.call("transpose", {k, -2, -1})});
  if (c.arg("is_causal").truth()) {
    Dims sizes = {RuleCall::sizes(q).end()[-2], RuleCall::sizes(k).end()[-2]};
    Term ones = c.call("ones", {sizes, Term(DType::Bool).named("dtype")});
    mask = c.call("tril", {ones});
  }
  mask = additiveMask(c, mask, dtype);
  if (mask.isTensor())
    scores = c.add(scores, mask);
  Term weights =
      c.call(mask.isTensor() ? "_safe_softmax" : "softmax.int", {scores, -1});
  double p = c.arg("dropout_p").number();
  if (rows)
    *rows = weights;
  if (p > 0)
    weights = c.call("dropout", {weights, p, true});
  return c.call("matmul", {weights, v});
}

static std::vector<Term> attention(RuleCall &c) {
  if (!isFused(c))
    return {plain(c)};
  Term q = c.arg("query");
  return {c.call("_scaled_dot_product_flash_attention_for_cpu",
                 {q, c.arg("key"), c.arg("value"), 0.0, c.arg("is_causal"),
                  additiveMask(c, c.arg("attn_mask"), RuleCall::dtype(q))
                      .named("attn_mask"),
                  c.arg("scale").named("scale")})};
}

/// Gives the weights too.
static std::vector<Term> attentionWithWeights(RuleCall &c) {
  if (c.arg("dropout_p").number() > 0 || c.arg("dropout_mask").isTensor()) {
    c.fail("with a dropout of its own it has none");
    return {};
  }
  Term weights, result = plain(c, &weights);
  return {result, weights};
}

llvm::ArrayRef<ExpandRow> attentionExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_scaled_dot_product_attention_math.default", attentionWithWeights},
      {"scaled_dot_product_attention.default", attention},
  };
  return kRows;
}

} // namespace ft
