//===- Norm.cpp - Derivatives of the family norm ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

#include <limits>

namespace ft {

static constexpr const char *kNames[] = {"input", "weight", "bias"};

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

static Term maskOf(GradCall &g) {
  return std::vector<Term>{g.needs("input"), g.needs("weight"),
                           g.needs("bias")};
}

static void setAll(GradCall &g, llvm::ArrayRef<Term> grads) {
  if (grads.size() != 3)
    return;
  for (auto [i, name] : llvm::enumerate(kNames))
    if (g.needs(name))
      g.set(name, grads[i]);
}

/// The gradients of the mean m and of the reciprocal deviation r of n elements:
/// dm/dx = 1/n, dr/dx = -r^3 (x - m) / n. `m` and `r`
/// have the sizes `sizes`, which broadcast against x.
static Term ofStatistics(GradCall &g, const Term &x, const Term &m,
                         const Term &r, const Dim &n, const Dims &sizes) {
  Term sum, gm = g.gradIfAny(1), gr = g.gradIfAny(2);
  if (!gm.isZero())
    sum = g.div(g.reshape(gm, sizes), n);
  if (!gr.isZero()) {
    Term cube = g.mul(g.mul(r, r), r);
    Term scale = g.div(g.mul(g.reshape(gr, sizes), cube), g.neg(n));
    sum = g.add(sum, g.mul(scale, g.sub(x, m)));
  }
  return sum;
}

static void layerNorm(GradCall &g) {
  if (!g.gradIfAny(0).isZero())
    setAll(g, g.callAll("native_layer_norm_backward",
                        {g.grad(), g.arg("input"), g.arg("normalized_shape"),
                         g.result(1), g.result(2), g.arg("weight"),
                         g.arg("bias"), maskOf(g)}));
  Term m = g.result(1), r = g.result(2);
  Dim n = 1;
  for (const Term &size : g.arg("normalized_shape").items())
    n = n * size.dim();
  g.accumulate("input",
               ofStatistics(g, g.arg("input"), m, r, n, GradCall::sizes(m)));
}

static void groupNorm(GradCall &g) {
  if (!g.gradIfAny(0).isZero())
    setAll(g, g.callAll("native_group_norm_backward",
                        {g.grad(), g.arg("input"), g.result(1), g.result(2),
                         g.arg("weight"), g.arg("N"), g.arg("C"), g.arg("HxW"),
                         g.arg("group"), maskOf(g)}));
  if (g.gradIfAny(1).isZero() && g.gradIfAny(2).isZero())
    return;
  // Samples, groups, the elements of one group.
  Dim samples = g.arg("N").dim(), groups = g.arg("group").dim();
  Dim n = floorDiv(g.arg("C").dim() * g.arg("HxW").dim(), groups);
  Dims sizes = {samples, groups, 1};
  Term x = g.reshape(g.arg("input"), Dims{samples, groups, n});
  Term sum = ofStatistics(g, x, g.reshape(g.result(1), sizes),
                          g.reshape(g.result(2), sizes), n, sizes);
  sum = g.call("expand", {sum, Dims{samples, groups, n}});
  g.accumulate("input", g.reshape(sum, GradCall::sizes(g.arg("input"))));
}

/// With the batch's own statistics (results 1 and 2), or the running ones. What
/// is not read is no operand: forward has written the running statistics, and
/// they would be kept as they were.
static void batchNormWith(GradCall &g, const Term &runningMean,
                          const Term &runningVar, bool training) {
  bool saved = g.operation()->getNumResults() > 2;
  Term mean = training && saved ? g.result(1) : Term::none();
  Term deviation = training && saved ? g.result(2) : Term::none();
  setAll(g, g.callAll("native_batch_norm_backward",
                      {g.grad(), g.arg("input"), g.arg("weight"),
                       training ? Term::none() : runningMean,
                       training ? Term::none() : runningVar, mean, deviation,
                       training, g.arg("eps"), maskOf(g)}));
}

static void batchNorm(GradCall &g) {
  batchNormWith(g, g.arg("running_mean"), g.arg("running_var"),
                g.arg("training").truth());
}

static void batchNormOfBatch(GradCall &g) {
  batchNormWith(g, Term::none(), Term::none(), true);
}

static void batchNormOfRunning(GradCall &g) {
  batchNormWith(g, g.arg("running_mean"), g.arg("running_var"), false);
}

/// The forms that keep a reserve for their backward have fixed modes.
template <bool training>
static void batchNormWithReserve(GradCall &g) {
  batchNormWith(g, g.arg("running_mean"), g.arg("running_var"), training);
}

static void rmsNormFused(GradCall &g) {
  Term x = g.arg("input"), r = g.result(1);
  if (!g.gradIfAny(0).isZero()) {
    std::vector<Term> grads =
        g.callAll("_fused_rms_norm_backward",
                  {g.grad(), x, g.arg("normalized_shape"), r, g.arg("weight"),
                   std::vector<Term>{g.needs("input"), g.needs("weight")}});
    if (grads.size() != 2)
      return;
    for (auto [grad, name] : llvm::zip(grads, kNames))
      if (g.needs(name))
        g.set(name, grad);
  }
  if (g.gradIfAny(1).isZero())
    return;
  // r = (mean of x^2 + eps)^(-1/2): dr/dx = -r^3 x / n.
  Dim n = 1;
  for (const Term &size : g.arg("normalized_shape").items())
    n = n * size.dim();
  Term scale = g.mul(g.mul(g.gradIfAny(1), r), g.mul(r, r));
  g.accumulate("input", g.mul(x, g.div(scale, g.neg(n))));
}

llvm::ArrayRef<DerivativeRow> normDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"_batch_norm_no_update.default", batchNormWithReserve<false>},
      {"_batch_norm_with_update_functional.default",
       batchNormWithReserve<true>},
      {"_fused_rms_norm.default", rmsNormFused},
      {"_native_batch_norm_legit.no_stats", batchNormOfBatch},
      {"_native_batch_norm_legit_functional.default", batchNorm},
      {"_native_batch_norm_legit_no_training.default", batchNormOfRunning},
      {"batch_norm.default", batchNorm},
      {"native_batch_norm.default", batchNorm},
      {"native_group_norm.default", groupNorm},
      {"native_layer_norm.default", layerNorm},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// Expansions
//===----------------------------------------------------------------------===//

/// With the batch's statistics and no running ones: the form that gives them.
static std::vector<Term> batchNormExpansion(RuleCall &c) {
  if (!c.arg("training").truth() || c.arg("running_mean").isTensor())
    return {};
  return {c.call("_native_batch_norm_legit.no_stats",
                 {c.arg("input"), c.arg("weight"), c.arg("bias"), true,
                  c.arg("momentum"), c.arg("eps")})};
}

/// Samples and channels, and the elements of a channel of one sample.
static Term nativeGroupNorm(RuleCall &c, const Term &groups) {
  Term input = c.arg("input");
  Dims sizes = RuleCall::sizes(input);
  Dim rest = product(llvm::ArrayRef<Dim>(sizes).drop_front(2));
  return c.call("native_group_norm",
                {input, c.arg("weight"), c.arg("bias"), sizes[0], sizes[1],
                 rest, groups, c.arg("eps")});
}

static std::vector<Term> groupNormExpansion(RuleCall &c) {
  return {nativeGroupNorm(c, c.arg("num_groups"))};
}

/// Each channel is a group of its own; with running statistics that are used
/// it is a batch norm.
static std::vector<Term> instanceNorm(RuleCall &c) {
  if (c.arg("use_input_stats").truth())
    return {nativeGroupNorm(c, RuleCall::sizes(c.arg("input"))[1])};
  return {c.call("batch_norm",
                 {c.arg("input"), c.arg("weight"), c.arg("bias"),
                  c.arg("running_mean"), c.arg("running_var"), false,
                  c.arg("momentum"), c.arg("eps"), c.arg("cudnn_enabled")})};
}

static double epsilonOf(DType dtype) {
  switch (dtype) {
  case DType::F64:
  case DType::C128:
    return std::numeric_limits<double>::epsilon();
  case DType::F16:
    return 0x1p-10;
  case DType::BF16:
    return 0x1p-7;
  default:
    return std::numeric_limits<float>::epsilon();
  }
}

/// x / sqrt(mean(x^2) + eps) * weight, computed in float32 at least.
static std::vector<Term> rmsNorm(RuleCall &c) {
  Term input = c.arg("input"), eps = c.arg("eps"), weight = c.arg("weight");
  DType dtype = RuleCall::dtype(input);
  bool half = dtype == DType::F16 || dtype == DType::BF16;
  Term x = half ? c.cast(input, DType::F32) : input;
  if (eps.isNone())
    eps = epsilonOf(dtype);
  std::vector<Term> dims;
  for (size_t d = c.arg("normalized_shape").items().size(); d > 0; --d)
    dims.push_back(-static_cast<int64_t>(d));
  Term square = c.real(c.mul(x, c.conj(x)));
  Term mean = c.call("mean.dim", {square, dims, true});
  Term result = c.mul(x, c.call("rsqrt", {c.add(mean, eps)}));
  if (weight.isTensor())
    result = c.mul(result, half ? c.cast(weight, DType::F32) : weight);
  return {c.cast(result, RuleCall::dtype(c.result(0)))};
}

/// All dims but one.
static std::vector<Term> dimsBut(int64_t dim, int64_t rank) {
  std::vector<Term> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim)
      dims.push_back(d);
  return dims;
}

/// Slices along `dim` whose norm is above `maxnorm` are scaled down to it.
static std::vector<Term> renorm(RuleCall &c) {
  Term self = c.arg("self"), most = c.arg("maxnorm");
  int64_t rank = RuleCall::rank(self);
  int64_t d = RuleCall::wrap(c.arg("dim").integer(), rank);
  Term norm =
      c.call("linalg_vector_norm", {self, c.arg("p"), dimsBut(d, rank), true});
  Term scale = c.div(most, c.add(norm, 1e-7));
  Term above = c.call("gt", {norm, most});
  return {c.mul(self, c.call("where", {above, scale, 1.0}))};
}

/// v scaled so that its slices along `dim` (-1: all of it) have the norm g.
static std::vector<Term> weightNorm(RuleCall &c) {
  Term v = c.arg("v");
  int64_t rank = RuleCall::rank(v), dim = c.arg("dim").integer();
  Term norm =
      dim == -1
          ? c.call("linalg_vector_norm", {v, 2})
          : c.call("linalg_vector_norm",
                   {v, 2, dimsBut(RuleCall::wrap(dim, rank), rank), true});
  Term result = c.mul(v, c.div(c.arg("g"), norm));
  if (c.operation()->getNumResults() == 1)
    return {result};
  return {result, norm};
}

llvm::ArrayRef<ExpandRow> normExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_weight_norm.default", weightNorm},
      {"_weight_norm_interface.default", weightNorm},
      {"batch_norm.default", batchNormExpansion},
      {"group_norm.default", groupNormExpansion},
      {"instance_norm.default", instanceNorm},
      {"renorm.default", renorm},
      {"rms_norm.default", rmsNorm},
  };
  return kRows;
}

} // namespace ft
