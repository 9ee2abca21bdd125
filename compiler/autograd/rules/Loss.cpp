//===- Loss.cpp - Derivatives of the family loss ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

static Term reduceLoss(RuleCall &c, const Term &loss) {
  int64_t reduction = c.arg("reduction").integer();
  if (reduction == 0)
    return loss;
  return c.call(reduction == 1 ? "mean" : "sum", {loss});
}

/// The negative logarithms of the classes that `target` names, of which the
/// dims after the classes are positions.
static Term nll(RuleCall &c, const Term &logs, const Term &target,
                const Term &weight, int64_t reduction, const Term &ignored) {
  int64_t rank = RuleCall::rank(logs);
  auto call = [&](const char *name, const Term &x, const Term &t) {
    return c.call(name, {x, t, weight, reduction, ignored});
  };
  if (rank <= 2)
    return call("nll_loss_forward", logs, target);
  if (rank == 4)
    return call("nll_loss2d_forward", logs, target);
  // All positions as rows of one.
  Dims sizes = RuleCall::sizes(logs), places = RuleCall::sizes(target);
  Dim rest = product(llvm::ArrayRef<Dim>(sizes).drop_front(2));
  Term result = call("nll_loss2d_forward",
                     c.reshape(logs, Dims{sizes[0], sizes[1], 1, rest}),
                     c.reshape(target, Dims{sizes[0], 1, rest}));
  return reduction == 0 ? c.reshape(result, places) : result;
}

static std::vector<Term> nllAnyRank(RuleCall &c) {
  return {nll(c, c.arg("self"), c.arg("target"), c.arg("weight"),
              c.arg("reduction").integer(), c.arg("ignore_index"))};
}

/// Weights of the classes, to be multiplied with `like`.
static Term classWeights(RuleCall &c, const Term &like, int64_t classes) {
  Term weight = c.arg("weight");
  if (!weight.isTensor())
    return weight;
  Dims sizes(static_cast<size_t>(RuleCall::rank(like)), Dim(1));
  sizes[classes] = RuleCall::meta(weight).numel();
  return c.reshape(weight, sizes);
}

/// Targets that are probabilities: -sum(target * log_softmax * weight), by
/// position.
static Term ofProbabilities(RuleCall &c, const Term &logs, Term target,
                            int64_t classes) {
  double smoothing = c.arg("label_smoothing").number();
  Dim count = RuleCall::sizes(logs)[classes];
  if (smoothing > 0) {
    target = c.mul(target, 1 - smoothing);
    target = c.add(target, c.div(smoothing, count));
  }
  Term product = c.mul(logs, target), weight = classWeights(c, logs, classes);
  if (weight.isTensor())
    product = c.mul(product, weight);
  Term loss = c.neg(
      c.call("sum.dim_IntList", {product, std::vector<Term>{classes}, false}));
  switch (c.arg("reduction").integer()) {
  case 0:
    return loss;
  case 1:
    // The mean over positions, whatever the classes weigh.
    return c.div(c.call("sum", {loss}), RuleCall::meta(loss).numel());
  default:
    return c.call("sum", {loss});
  }
}

/// (1 - s) nll + s / classes * smooth, where smooth is the sum over the classes
/// of the weighted negative logarithms, of positions that are not ignored; a
/// mean is over the weights of the targets.
static Term smoothed(RuleCall &c, const Term &logs, const Term &target,
                     int64_t classes, double smoothing) {
  int64_t reduction = c.arg("reduction").integer();
  Term ignored = c.arg("ignore_index"), weight = c.arg("weight");
  Term hard = nll(c, logs, target, weight, reduction, ignored);
  Term weights = classWeights(c, logs, classes);
  Term all = weights.isTensor() ? c.mul(logs, weights) : logs;
  Term smooth = c.neg(
      c.call("sum.dim_IntList", {all, std::vector<Term>{classes}, false}));
  Term skip = c.call("eq", {target, ignored});
  smooth = c.call("masked_fill", {smooth, skip, 0});
  if (reduction == 1) {
    Term kept = c.call("logical_not", {skip});
    Term total;
    if (weight.isTensor()) {
      Term safe = c.call("masked_fill", {target, skip, 0});
      Dims flat = {RuleCall::meta(target).numel()};
      Term each = c.call("index_select", {weight, 0, c.reshape(safe, flat)});
      each = c.call("masked_fill", {each, c.reshape(skip, flat), 0});
      total = c.call("sum", {each});
    } else {
      total = c.call("sum", {kept});
    }
    smooth = c.div(c.call("sum", {smooth}), total);
  } else if (reduction == 2) {
    smooth = c.call("sum", {smooth});
  }
  Term share = c.div(smoothing, RuleCall::sizes(logs)[classes]);
  return c.add(c.mul(hard, 1 - smoothing), c.mul(smooth, share));
}

static std::vector<Term> crossEntropy(RuleCall &c) {
  Term self = c.arg("self"), target = c.arg("target");
  int64_t classes = RuleCall::rank(self) == 1 ? 0 : 1;
  Term logs = c.call("_log_softmax", {self, classes, false});
  double smoothing = c.arg("label_smoothing").number();
  if (RuleCall::sizes(self) == RuleCall::sizes(target) &&
      isFloating(RuleCall::dtype(target)))
    return {ofProbabilities(c, logs, target, classes)};
  if (smoothing > 0)
    return {smoothed(c, logs, target, classes, smoothing)};
  return {nll(c, logs, target, c.arg("weight"), c.arg("reduction").integer(),
              c.arg("ignore_index"))};
}

/// (1 - t) x - (1 + (p - 1) t) log(sigmoid(x)), weighted.
static std::vector<Term> binaryWithLogits(RuleCall &c) {
  Term x = c.arg("self"), t = c.arg("target"), weight = c.arg("weight"),
       positive = c.arg("pos_weight");
  Term log = c.call("log_sigmoid", {x}), loss;
  if (positive.isTensor()) {
    Term scale = c.add(c.mul(c.sub(positive, 1), t), 1);
    loss = c.sub(c.mul(c.sub(1, t), x), c.mul(scale, log));
  } else {
    loss = c.sub(c.mul(c.sub(1, t), x), log);
  }
  if (weight.isTensor())
    loss = c.mul(loss, weight);
  return {reduceLoss(c, loss)};
}

/// max(0, d(a, p) - d(a, n) + margin); with `swap` the nearer of anchor and
/// positive to the negative.
static std::vector<Term> tripletMargin(RuleCall &c) {
  auto distance = [&](const char *a, const char *b) {
    Term apart = c.add(c.sub(c.arg(a), c.arg(b)), c.arg("eps"));
    return c.call("linalg_vector_norm",
                  {apart, c.arg("p"), std::vector<Term>{-1}, false});
  };
  Term near = distance("anchor", "positive"),
       far = distance("anchor", "negative");
  if (c.arg("swap").truth())
    far = c.call("minimum", {far, distance("positive", "negative")});
  Term loss = c.add(c.sub(near, far), c.arg("margin"));
  return {reduceLoss(c, c.call("clamp_min", {loss, 0}))};
}

static std::vector<Term> hingeEmbedding(RuleCall &c) {
  Term x = c.arg("self"), t = c.arg("target");
  Term away = c.call("clamp_min", {c.sub(c.arg("margin"), x), 0});
  Term loss = c.add(c.call("where", {c.call("ne", {t, 1}), away, 0}),
                    c.call("where", {c.call("ne", {t, -1}), x, 0}));
  return {reduceLoss(c, loss)};
}

static std::vector<Term> marginRanking(RuleCall &c) {
  Term apart = c.sub(c.arg("input1"), c.arg("input2"));
  Term loss = c.add(c.mul(c.neg(c.arg("target")), apart), c.arg("margin"));
  return {reduceLoss(c, c.call("clamp_min", {loss, 0}))};
}

/// With s the cosine of both: 1 - s where the target is 1, max(0, s - margin)
/// where it is -1.
static std::vector<Term> cosineEmbedding(RuleCall &c) {
  Term a = c.arg("input1"), b = c.arg("input2"), t = c.arg("target");
  constexpr double kTiny = 1e-12;
  std::vector<Term> last = {-1};
  auto dot = [&](const Term &x, const Term &y) {
    return c.call("sum.dim_IntList", {c.mul(x, y), last, false});
  };
  Term norms =
      c.call("sqrt", {c.mul(c.add(dot(a, a), kTiny), c.add(dot(b, b), kTiny))});
  Term cosine = c.div(dot(a, b), norms);
  Term away = c.call("clamp_min", {c.sub(cosine, c.arg("margin")), 0});
  Term loss =
      c.add(c.call("where", {c.call("eq", {t, 1}), c.sub(1, cosine), 0}),
            c.call("where", {c.call("eq", {t, -1}), away, 0}));
  return {reduceLoss(c, loss)};
}

static std::vector<Term> poisson(RuleCall &c) {
  Term x = c.arg("input"), t = c.arg("target"), loss;
  if (c.arg("log_input").truth())
    loss = c.sub(c.call("exp", {x}), c.mul(t, x));
  else
    loss = c.sub(x, c.mul(t, c.call("log", {c.add(x, c.arg("eps"))})));
  if (c.arg("full").truth()) {
    // Stirling's formula for log(t!), of targets above 1.
    constexpr double kTwoPi = 6.283185307179586;
    Term log = c.call("log", {t});
    Term half = c.mul(c.call("log", {c.mul(t, kTwoPi)}), 0.5);
    Term stirling = c.add(c.sub(c.mul(t, log), t), half);
    loss =
        c.add(loss, c.call("masked_fill", {stirling, c.call("le", {t, 1}), 0}));
  }
  return {reduceLoss(c, loss)};
}

llvm::ArrayRef<ExpandRow> lossExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"binary_cross_entropy_with_logits.default", binaryWithLogits},
      {"cosine_embedding_loss.default", cosineEmbedding},
      {"cross_entropy_loss.default", crossEntropy},
      {"hinge_embedding_loss.default", hingeEmbedding},
      {"margin_ranking_loss.default", marginRanking},
      {"nll_loss_nd.default", nllAnyRank},
      {"poisson_nll_loss.default", poisson},
      {"triplet_margin_loss.default", tripletMargin},
  };
  return kRows;
}

} // namespace ft
