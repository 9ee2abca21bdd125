//===- NetworkSamplers.cpp - Arguments of products, windows, norms, losses ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

using namespace ft;
using namespace ft::random;

/// Sums of products: float types mostly, integers sometimes.
static DType productType(Sampler &s) {
  static const DType kTypes[] = {DType::F32,  DType::F32, DType::F32,
                                 DType::F32,  DType::F64, DType::F16,
                                 DType::BF16, DType::I64, DType::C64};
  return s.rng.of(kTypes);
}

/// One with room for loops: 0 and 1 now and then, up to 40.
static int64_t extent(Sampler &s) {
  return s.rng.chance(3)    ? 0
         : s.rng.chance(15) ? 1
         : s.rng.chance(20) ? s.rng.between(9, 40)
                            : s.rng.between(2, 8);
}

static bool matrices(Sampler &s) {
  DType type = productType(s);
  int64_t m = extent(s), k = extent(s), n = extent(s), b = s.rng.between(1, 3);
  llvm::StringRef base = s.schema.base;
  auto beta = [&](unsigned i) {
    for (; i < s.args.size(); ++i)
      s.set(i, s.rng.chance(50) ? Arg::integer(1) : s.number(type));
  };
  if (base == "mm") {
    s.set(0, s.tensor(type, {m, k}));
    s.set(1, s.tensor(type, {k, n}));
  } else if (base == "bmm") {
    s.set(0, s.tensor(type, {b, m, k}));
    s.set(1, s.tensor(type, {b, k, n}));
  } else if (base == "mv") {
    s.set(0, s.tensor(type, {m, k}));
    s.set(1, s.tensor(type, {k}));
  } else if (base == "dot" || base == "vdot") {
    s.set(0, s.tensor(type, {k}));
    s.set(1, s.tensor(type, {k}));
  } else if (base == "outer" || base == "ger") {
    s.set(0, s.tensor(type, {m}));
    s.set(1, s.tensor(type, {n}));
  } else if (base == "addmm") {
    s.set(0, s.tensor(type, s.smaller({m, n})));
    s.set(1, s.tensor(type, {m, k}));
    s.set(2, s.tensor(type, {k, n}));
    beta(3);
  } else if (base == "addmv") {
    s.set(0, s.tensor(type, s.smaller({m})));
    s.set(1, s.tensor(type, {m, k}));
    s.set(2, s.tensor(type, {k}));
    beta(3);
  } else if (base == "addr") {
    s.set(0, s.tensor(type, s.smaller({m, n})));
    s.set(1, s.tensor(type, {m}));
    s.set(2, s.tensor(type, {n}));
    beta(3);
  } else { // baddbmm, addbmm
    s.set(0, s.tensor(type, s.smaller(base == "addbmm" ? Shape{m, n}
                                                       : Shape{b, m, n})));
    s.set(1, s.tensor(type, {b, m, k}));
    s.set(2, s.tensor(type, {b, k, n}));
    beta(3);
  }
  return true;
}

static bool matmul(Sampler &s) {
  DType type = productType(s);
  int64_t m = extent(s), k = extent(s), n = extent(s);
  Shape batch = s.rng.chance(60) ? Shape{} : s.shape(1, 2);
  Shape a = s.smaller(batch), b = s.smaller(batch);
  if (batch.empty() && s.rng.chance(25))
    a = {k};
  else
    a.insert(a.end(), {m, k});
  if (batch.empty() && s.rng.chance(25))
    b = {k};
  else
    b.insert(b.end(), {k, n});
  s.set(0, s.tensor(type, a));
  s.set(1, s.tensor(type, b));
  return true;
}

static bool linear(Sampler &s) {
  DType type = s.floatType();
  int64_t k = extent(s), n = extent(s);
  Shape shape = s.shape(0, 3);
  shape.push_back(k);
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(type, {n, k}));
  if (s.rng.chance(60))
    s.set(2, s.tensor(type, {n}));
  return true;
}

static bool distances(Sampler &s) {
  DType type = s.rng.chance(70) ? DType::F32 : DType::F64;
  static const double kOrders[] = {2, 1, 0, 3, HUGE_VAL, 1.5};
  int64_t k = s.rng.between(1, 6);
  if (s.schema.base.contains("pdist")) {
    s.set(0, s.input(type, {s.rng.between(2, 6), k}));
    s.set(1, Arg::floating(s.rng.of(kOrders)));
    return true;
  }
  Shape batch = s.rng.chance(60) ? Shape{} : Shape{s.rng.between(1, 3)};
  Shape a = batch, b = batch;
  a.insert(a.end(), {s.rng.between(1, 6), k});
  b.insert(b.end(), {s.rng.between(1, 6), k});
  s.set(0, s.tensor(type, a));
  s.set(1, s.tensor(type, b));
  if (s.args.size() > 2) {
    s.set(2, Arg::floating(s.rng.of(kOrders)));
    s.setInt(3, 2); // direct differences: no cancellation
  }
  return true;
}

namespace {
/// A pooling over `spatial` dims that has a result.
struct Windowed {
  Shape size, kernel, stride, padding, dilation;
  Windowed(Sampler &s, int spatial) {
    for (int d = 0; d < spatial; ++d) {
      int64_t k = s.rng.between(1, 3);
      kernel.push_back(k);
      dilation.push_back(s.rng.chance(25) ? 2 : 1);
      stride.push_back(s.rng.between(1, 3));
      padding.push_back(s.rng.between(0, 2));
      size.push_back((k - 1) * dilation.back() + s.rng.between(1, 5));
    }
  }
};
} // namespace

/// The image of a pooling op, with a batch dim or without.
template <int spatial>
static Shape image(Sampler &s, const Shape &size) {
  Shape shape;
  if (s.rng.chance(80))
    shape.push_back(s.rng.between(1, 2));
  shape.push_back(s.rng.between(1, 4));
  shape.insert(shape.end(), size.begin(), size.end());
  return shape;
}

template <int spatial>
static bool pool(Sampler &s) {
  Windowed w(s, spatial);
  for (int d = 0; d < spatial; ++d)
    w.padding[d] = s.rng.between(0, w.kernel[d] / 2);
  bool max = s.schema.base.starts_with("max");
  s.set(0, s.tensor(max && s.rng.chance(15) ? DType::I64 : s.floatType(),
                    image<spatial>(s, w.size)));
  s.setInts(1, w.kernel);
  s.setInts(2, s.rng.chance(30) ? Shape{} : w.stride);
  s.setInts(3, w.padding);
  unsigned next = 4;
  if (max)
    s.setInts(next++, w.dilation);
  s.setBool(next++); // ceil_mode
  if (next < s.args.size())
    s.setBool(next++); // count_include_pad
  if (next < s.args.size() && s.rng.chance(30))
    s.setInt(next, s.rng.between(1, 5));
  return true;
}

template <int spatial>
static bool adaptivePool(Sampler &s) {
  Shape size, result;
  for (int d = 0; d < spatial; ++d) {
    size.push_back(s.rng.between(1, 8));
    result.push_back(s.rng.between(1, 5));
  }
  s.set(0, s.tensor(s.floatType(), image<spatial>(s, size)));
  s.setInts(1, result);
  return true;
}

static bool layerNorm(Sampler &s) {
  int x = s.any(1, 4, true);
  int64_t rank = s.meta(x).rank(), inner = s.rng.between(1, rank);
  Shape whole = s.shapeOf(x), shape(whole.end() - inner, whole.end());
  DType type = s.dtypeOf(x);
  s.set(0, x);
  s.setInts(1, shape);
  if (s.rng.chance(60))
    s.set(2, s.tensor(type, shape));
  bool rms = s.schema.base.contains("rms");
  unsigned next = 3;
  if (!rms) {
    if (s.rng.chance(60))
      s.set(next, s.tensor(type, shape));
    ++next;
  }
  s.set(next, Arg::floating(1e-5));
  if (next + 1 < s.args.size())
    s.setBool(next + 1);
  return true;
}

static bool groupNorm(Sampler &s) {
  int64_t groups = s.rng.between(1, 3), channels = groups * s.rng.between(1, 4);
  Shape shape = {s.rng.between(1, 3), channels};
  int64_t area = 1;
  for (int64_t d = s.rng.between(0, 2); d > 0; --d) {
    shape.push_back(s.rng.between(1, 6));
    area *= shape.back();
  }
  DType type = s.floatType();
  s.set(0, s.tensor(type, shape));
  unsigned next = 1;
  bool native = s.schema.base.starts_with("native");
  if (!native)
    s.setInt(next++, groups);
  bool affine = s.rng.chance(60);
  if (affine) {
    s.set(next, s.tensor(type, {channels}));
    s.set(next + 1, s.tensor(type, {channels}));
  }
  next += 2;
  if (native) {
    s.setInt(next++, shape[0]);
    s.setInt(next++, channels);
    s.setInt(next++, area);
    s.setInt(next++, groups);
  }
  s.set(next++, Arg::floating(1e-5));
  if (next < s.args.size())
    s.setBool(next);
  return true;
}

static bool batchNorm(Sampler &s) {
  Shape shape = {s.rng.between(2, 4), s.rng.between(1, 5)};
  for (int64_t d = s.rng.between(0, 2); d > 0; --d)
    shape.push_back(s.rng.between(1, 5));
  DType type = s.rng.chance(75) ? DType::F32 : DType::F64;
  Shape channels = {shape[1]};
  for (unsigned i = 0; i < s.args.size(); ++i) {
    llvm::StringRef name = s.schema.args[i].name;
    if (name == "input") {
      s.set(i, s.tensor(type, shape));
    } else if (name == "running_var") { // not below zero
      int value = s.integers(channels, {1, 6}, type);
      s.set(i, value);
    } else if (s.schema.isTensorArg(i)) {
      if (name.starts_with("running") || s.rng.chance(60))
        s.set(i, s.input(type, channels));
    } else if (name == "eps") {
      s.set(i, Arg::floating(1e-5));
    } else if (name == "momentum") {
      s.set(i, Arg::floating(0.1));
    } else {
      s.setBool(i);
      if (s.schema.overload == "no_stats") // there is nothing else to use
        s.set(i, Arg::truth(true));
    }
  }
  return true;
}

static bool pairLoss(Sampler &s) {
  int x = s.any(0, 3, true);
  s.set(0, x);
  bool marks = s.schema.base.starts_with("soft_margin");
  bool probabilities = s.schema.base.starts_with("binary_cross_entropy") &&
                       !s.schema.base.contains("logits");
  if (probabilities)
    return false;
  Shape shape = s.shapeOf(x);
  s.set(1, marks ? s.integers(shape, {-1, 1}, s.dtypeOf(x))
                 : s.tensor(s.dtypeOf(x), shape));
  s.guessRest(2, x);
  for (unsigned i = 2; i < s.args.size(); ++i)
    if (s.schema.args[i].type.kind == SchemaType::Float)
      s.set(i, Arg::floating(s.rng.chance(50) ? 1.0 : 0.5));
  return true;
}

static bool classLoss(Sampler &s) {
  int64_t classes = s.rng.between(1, 5), n = s.rng.between(1, 4);
  bool planes = s.schema.base.contains("2d");
  Shape scores = {n, classes}, targets = {n};
  if (planes || (!s.schema.base.ends_with("_forward") &&
                 s.schema.base != "nll_loss" && s.rng.chance(30))) {
    for (int d = 0; d < 2; ++d) {
      int64_t size = s.rng.between(1, 4);
      scores.push_back(size);
      targets.push_back(size);
    }
  } else if (s.rng.chance(20)) {
    scores = {classes};
    targets = {};
  }
  DType type = s.rng.chance(75) ? DType::F32 : DType::F64;
  s.set(0, s.tensor(type, scores));
  s.set(1, s.integers(targets, {0, classes - 1}));
  if (s.rng.chance(40)) // not negative
    s.set(2, s.integers({classes}, {1, 4}, type));
  s.setInt(3, s.rng.between(0, 2));
  s.setInt(4, s.rng.chance(50) ? -100 : 0);
  if (s.args.size() > 5)
    s.set(5, Arg::floating(s.rng.chance(60) ? 0 : 0.1));
  return true;
}

static bool attention(Sampler &s) {
  Shape batch = {s.rng.between(1, 2)};
  if (s.rng.chance(70) || s.schema.base.starts_with("_"))
    batch.push_back(s.rng.between(1, 3));
  int64_t length = s.rng.between(1, 9), keys = s.rng.between(1, 9),
          width = s.rng.between(1, 9);
  bool causal = s.rng.chance(30);
  DType type = s.rng.chance(70) ? DType::F32 : s.floatType();
  auto with = [&](int64_t rows, int64_t columns) {
    Shape shape = batch;
    shape.insert(shape.end(), {rows, columns});
    return shape;
  };
  s.set(0, s.tensor(type, with(length, width)));
  s.set(1, s.tensor(type, with(keys, width)));
  s.set(2, s.tensor(type, with(keys, width)));
  for (unsigned i = 3; i < s.args.size(); ++i) {
    llvm::StringRef name = s.schema.args[i].name;
    if (name == "attn_mask") {
      if (!causal && s.rng.chance(50))
        s.set(i, s.tensor(type, {length, keys}));
    } else if (name == "is_causal") {
      s.set(i, Arg::truth(causal));
    } else if (name == "scale") {
      if (s.rng.chance(40))
        s.set(i, Arg::floating(0.5));
    } else {
      s.set(i, s.schema.args[i].defaultValue);
    }
  }
  return true;
}

template <int spatial>
static bool upsample(Sampler &s) {
  Shape shape = {s.rng.between(1, 2), s.rng.between(1, 3)}, result;
  for (int d = 0; d < spatial; ++d) {
    shape.push_back(s.rng.between(1, 6));
    result.push_back(s.rng.between(1, 9));
  }
  DType type = s.rng.chance(60) ? DType::F32 : s.floatType();
  bool backward = s.schema.base.ends_with("backward");
  Shape grad = {shape[0], shape[1]};
  grad.insert(grad.end(), result.begin(), result.end());
  s.set(0, s.tensor(type, backward ? grad : shape));
  s.setInts(1, result);
  unsigned next = 2;
  if (backward)
    s.setInts(next++, shape);
  for (; next < s.args.size(); ++next)
    if (s.schema.args[next].type.kind == SchemaType::Bool)
      s.setBool(next);
  return true;
}

static bool softmax(Sampler &s) {
  int x = s.any(0, 4, true);
  s.set(0, x);
  s.setInt(1, s.dim(s.meta(x).rank()));
  for (unsigned i = 2; i < s.args.size(); ++i)
    s.set(i, s.schema.args[i].type.kind == SchemaType::Bool ? Arg::truth(false)
             : s.rng.chance(30) ? Arg::ofDType(s.floatType())
                                : Arg::none());
  return true;
}

static bool softmaxBackward(Sampler &s) {
  int x = s.any(0, 4, true);
  s.set(0, x);
  s.set(1, s.tensor(s.dtypeOf(x), s.shapeOf(x)));
  s.setInt(2, s.dim(s.meta(x).rank()));
  s.set(3, Arg::ofDType(s.dtypeOf(x)));
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::networkSamplers() {
  static const SamplerRow rows[] = {
      {"mm bmm mv dot vdot outer ger addmm addmv addr baddbmm addbmm",
       matrices},
      {"matmul linalg_matmul", matmul},
      {"linear", linear},
      {"_cdist_forward cdist _euclidean_dist _pdist_forward pdist", distances},
      {"avg_pool1d max_pool1d max_pool1d_with_indices", pool<1>},
      {"avg_pool2d max_pool2d max_pool2d_with_indices", pool<2>},
      {"avg_pool3d max_pool3d max_pool3d_with_indices", pool<3>},
      {"adaptive_avg_pool1d adaptive_max_pool1d", adaptivePool<1>},
      {"adaptive_avg_pool2d adaptive_max_pool2d _adaptive_avg_pool2d",
       adaptivePool<2>},
      {"adaptive_avg_pool3d adaptive_max_pool3d _adaptive_avg_pool3d",
       adaptivePool<3>},
      {"layer_norm native_layer_norm rms_norm _fused_rms_norm", layerNorm},
      {"group_norm native_group_norm", groupNorm},
      {"native_batch_norm _native_batch_norm_legit_functional "
       "_native_batch_norm_legit.no_stats "
       "_native_batch_norm_legit_no_training",
       batchNorm},
      {"mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss kl_div "
       "binary_cross_entropy_with_logits",
       pairLoss},
      {"nll_loss_forward nll_loss2d_forward cross_entropy_loss nll_loss "
       "nll_loss2d nll_loss_nd",
       classLoss},
      {"scaled_dot_product_attention "
       "_scaled_dot_product_flash_attention_for_cpu",
       attention},
      {"upsample_nearest1d upsample_linear1d upsample_nearest1d_backward "
       "upsample_linear1d_backward _upsample_nearest_exact1d "
       "_upsample_nearest_exact1d_backward upsample_nearest1d.vec "
       "_upsample_nearest_exact1d.vec upsample_linear1d.vec",
       upsample<1>},
      {"upsample_nearest2d upsample_bilinear2d upsample_bicubic2d "
       "upsample_nearest2d_backward upsample_bilinear2d_backward "
       "_upsample_nearest_exact2d _upsample_nearest_exact2d_backward "
       "upsample_bicubic2d_backward upsample_nearest2d.vec "
       "_upsample_nearest_exact2d.vec upsample_bilinear2d.vec "
       "upsample_bicubic2d.vec _upsample_bilinear2d_aa "
       "_upsample_bilinear2d_aa.vec _upsample_bilinear2d_aa_backward "
       "_upsample_bicubic2d_aa _upsample_bicubic2d_aa.vec "
       "_upsample_bicubic2d_aa_backward _upsample_lanczos2d_aa "
       "_upsample_lanczos2d_aa.vec _upsample_lanczos2d_aa_backward",
       upsample<2>},
      {"upsample_nearest3d upsample_trilinear3d upsample_nearest3d_backward "
       "upsample_trilinear3d_backward _upsample_nearest_exact3d "
       "_upsample_nearest_exact3d_backward upsample_nearest3d.vec "
       "_upsample_nearest_exact3d.vec upsample_trilinear3d.vec",
       upsample<3>},
      {"_softmax _log_softmax softmax.int log_softmax.int _safe_softmax "
       "special_softmax special_log_softmax",
       softmax},
      {"_softmax_backward_data _log_softmax_backward_data", softmaxBackward},
  };
  return rows;
}
