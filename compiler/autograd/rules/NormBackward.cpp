//===- NormBackward.cpp - Second derivatives of norms ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward operators of the norms, where they are differentiated once more,
// written out. With y = x^ w + b, x^ = (x - m) r over n elements, and
// q = grad w:
//
//   dx = r (q - mean(q) - x^ mean(q x^))      dw = sum(grad x^)    db =
//   sum(grad)
//
// The mean m and the reciprocal deviation r are operands: their gradients go
// to the results of the forward call. Those of a batch norm are no results that
// a gradient goes to, so they are made functions of x here, without changing
// their values.

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

namespace {
/// One norm as tensors that broadcast against each other.
struct Norm {
  Term grad, x, mean, rstd, weight;
  /// What one mean is taken over, and what the gradient of a weight is.
  llvm::SmallVector<int64_t> within, across;
};
} // namespace

static bool isHalf(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16;
}

/// Half precision as float32.
static Term wide(RuleCall &c, const Term &x) {
  return x.isTensor() && isHalf(RuleCall::dtype(x)) ? c.cast(x, DType::F32) : x;
}

static Term sumOver(RuleCall &c, const Term &x, llvm::ArrayRef<int64_t> dims) {
  return dims.empty() ? x : c.call("sum.dim_IntList", {x, dims, true});
}

static Term meanOver(RuleCall &c, const Term &x, llvm::ArrayRef<int64_t> dims) {
  return c.call("mean.dim", {x, dims, true});
}

/// The results that `output_mask` asks for, of the sizes and dtypes of the
/// call's. `constant`: m and r do not depend on x.
static std::vector<Term> gradients(RuleCall &c, const Norm &n, bool constant) {
  std::vector<Term> mask = c.arg("output_mask").items(), results(mask.size());
  auto asked = [&](size_t r) {
    return r < mask.size() && mask[r].truth() && c.result(r).isTensor();
  };
  auto finish = [&](size_t r, const Term &t) {
    results[r] = c.cast(c.reshape(t, RuleCall::sizes(c.result(r))),
                        RuleCall::dtype(c.result(r)));
  };
  Term centred = n.mean.isZero() ? n.x : c.sub(n.x, n.mean);
  Term normal = c.mul(centred, n.rstd);
  if (asked(0)) {
    Term q = n.weight.isTensor() ? c.mul(n.grad, n.weight) : n.grad;
    Term dx = q;
    if (!constant) {
      if (!n.mean.isZero())
        dx = c.sub(dx, meanOver(c, q, n.within));
      dx = c.sub(dx, c.mul(normal, meanOver(c, c.mul(q, normal), n.within)));
    }
    finish(0, c.mul(dx, n.rstd));
  }
  if (asked(1))
    finish(1, sumOver(c, c.mul(n.grad, normal), n.across));
  if (asked(2))
    finish(2, sumOver(c, n.grad, n.across));
  return results;
}

static llvm::SmallVector<int64_t> range(int64_t from, int64_t to) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t d = from; d < to; ++d)
    dims.push_back(d);
  return dims;
}

/// Over the last dims, as many as `normalized_shape` has.
static Norm overLastDims(RuleCall &c, const Term &mean) {
  Norm n{wide(c, c.arg("grad_out")),
         wide(c, c.arg("input")),
         wide(c, mean),
         wide(c, c.arg("rstd")),
         wide(c, c.arg("weight")),
         {},
         {}};
  int64_t rank = RuleCall::rank(n.x);
  auto inner = static_cast<int64_t>(c.arg("normalized_shape").items().size());
  n.within = range(rank - inner, rank);
  n.across = range(0, rank - inner);
  return n;
}

static std::vector<Term> layerNorm(RuleCall &c) {
  return gradients(c, overLastDims(c, c.arg("mean")), false);
}

static std::vector<Term> rmsNorm(RuleCall &c) {
  return gradients(c, overLastDims(c, Term()), false);
}

/// [N, group, C / group, HxW]
static std::vector<Term> groupNorm(RuleCall &c) {
  Dim samples = c.arg("N").dim(), groups = c.arg("group").dim(),
      each = floorDiv(c.arg("C").dim(), groups), inner = c.arg("HxW").dim();
  auto shaped = [&](llvm::StringRef name, const Dims &sizes) {
    Term x = wide(c, c.arg(name));
    return x.isTensor() ? c.reshape(x, sizes) : x;
  };
  Dims all = {samples, groups, each, inner}, means = {samples, groups, 1, 1},
       channels = {1, groups, each, 1};
  Norm n{shaped("grad_out", all),
         shaped("input", all),
         shaped("mean", means),
         shaped("rstd", means),
         shaped("weight", channels),
         {2, 3},
         {0, 3}};
  return gradients(c, n, false);
}

/// `value`, with the derivative of `function`.
static Term withSlopeOf(RuleCall &c, const Term &value, const Term &function) {
  return c.add(c.call("detach", {value}),
               c.sub(function, c.call("detach", {function})));
}

/// Dim 1 is the one of the channels.
static std::vector<Term> batchNorm(RuleCall &c) {
  Term x = wide(c, c.arg("input"));
  int64_t rank = RuleCall::rank(x);
  Dims one(static_cast<size_t>(rank), Dim(1));
  one[1] = RuleCall::sizes(x)[1];
  auto shaped = [&](llvm::StringRef name) {
    Term t = wide(c, c.arg(name));
    return t.isTensor() ? c.reshape(t, one) : t;
  };
  Norm n;
  n.grad = wide(c, c.arg("grad_out"));
  n.x = x;
  n.weight = shaped("weight");
  n.within = {0};
  n.within.append(range(2, rank));
  n.across = n.within;
  bool train = c.arg("train").truth();
  auto deviation = [&](const Term &variance) {
    return c.call("rsqrt", {c.add(variance, c.arg("eps"))});
  };
  if (train) {
    Term mean = meanOver(c, x, n.within), apart = c.sub(x, mean);
    Term rstd = deviation(meanOver(c, c.mul(apart, apart), n.within));
    Term saved = shaped("save_mean"), savedRstd = shaped("save_invstd");
    n.mean = saved.isTensor() ? withSlopeOf(c, saved, mean) : mean;
    n.rstd = savedRstd.isTensor() ? withSlopeOf(c, savedRstd, rstd) : rstd;
  } else {
    n.mean = shaped("running_mean");
    n.rstd = deviation(shaped("running_var"));
  }
  return gradients(c, n, !train);
}

/// w = v g / |v| with the norms of v as an operand, over all dims but `dim`.
static std::vector<Term> weightNorm(RuleCall &c) {
  Term grad = c.arg("grad_w"), v = c.arg("saved_v"), g = c.arg("saved_g"),
       norms = c.arg("saved_norms");
  int64_t rank = RuleCall::rank(v);
  int64_t kept = RuleCall::wrap(c.arg("dim").integer(), rank);
  llvm::SmallVector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (d != kept)
      dims.push_back(d);
  Dims one(static_cast<size_t>(rank), Dim(1));
  one[kept] = RuleCall::sizes(v)[kept];
  g = c.reshape(g, one);
  norms = c.reshape(norms, one);
  Term along = sumOver(c, c.mul(grad, v), dims);
  Term part = c.mul(v, c.div(along, c.mul(norms, norms)));
  return {c.mul(c.sub(grad, part), c.div(g, norms)),
          c.reshape(c.div(along, norms), RuleCall::sizes(c.result(1)))};
}

llvm::ArrayRef<ExpandRow> normBackwardExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_fused_rms_norm_backward.default", rmsNorm},
      {"_weight_norm_differentiable_backward.default", weightNorm},
      {"_weight_norm_interface_backward.default", weightNorm},
      {"native_batch_norm_backward.default", batchNorm},
      {"native_group_norm_backward.default", groupNorm},
      {"native_layer_norm_backward.default", layerNorm},
  };
  return kRows;
}

} // namespace ft
