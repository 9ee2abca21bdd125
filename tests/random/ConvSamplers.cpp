//===- ConvSamplers.cpp - Arguments of convolutions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

using namespace ft;
using namespace ft::random;

namespace {
/// Sizes of a convolution that has a result.
struct Geometry {
  Shape size, kernel, stride, padding, dilation, extra;
  bool transposed = false;
  int64_t batch, groups = 1, in, out;

  Geometry(Sampler &s, int spatial, bool transposed)
      : transposed(transposed), batch(s.rng.between(1, 2)) {
    for (int d = 0; d < spatial; ++d) {
      int64_t k = s.rng.between(1, 3);
      kernel.push_back(k);
      dilation.push_back(s.rng.chance(25) ? 2 : 1);
      stride.push_back(s.rng.between(1, 3));
      padding.push_back(s.rng.between(0, 2));
      size.push_back((k - 1) * dilation.back() + s.rng.between(1, 5));
      int64_t most = std::max(stride.back(), dilation.back()) - 1;
      extra.push_back(transposed && s.rng.chance(40) ? s.rng.between(0, most)
                                                     : 0);
    }
    setGroups(s, s.rng.chance(70) ? 1 : s.rng.between(2, 3));
  }
  void setGroups(Sampler &s, int64_t count) {
    groups = count;
    in = groups * (s.rng.chance(15) ? 17 : s.rng.between(1, 4));
    out = groups * s.rng.between(1, 4);
  }
  Shape with(Shape shape, const Shape &more) const {
    shape.insert(shape.end(), more.begin(), more.end());
    return shape;
  }
  Shape input() const { return with({batch, in}, size); }
  Shape weight() const {
    return with(transposed ? Shape{in, out / groups} : Shape{out, in / groups},
                kernel);
  }
  Shape output() const {
    Shape shape = {batch, out};
    for (size_t d = 0; d < size.size(); ++d) {
      int64_t reach = dilation[d] * (kernel[d] - 1) + 1 - 2 * padding[d];
      shape.push_back(transposed ? (size[d] - 1) * stride[d] + reach + extra[d]
                                 : (size[d] - reach) / stride[d] + 1);
    }
    return shape;
  }
};
} // namespace

static int spatialOf(Sampler &s) {
  llvm::StringRef base = s.schema.base;
  return base.contains("1d")   ? 1
         : base.contains("2d") ? 2
         : base.contains("3d") ? 3
                               : std::max<int>(1, s.rng.between(0, 3));
}

/// Every form: what an argument is, its name says.
static bool convolution(Sampler &s) {
  llvm::StringRef base = s.schema.base;
  int spatial = spatialOf(s);
  int flag = s.schema.argIndex("transposed");
  Geometry g(s, spatial,
             base.contains("transpose") || (flag >= 0 && s.rng.chance(30)));
  bool depthwise = base.contains("depthwise");
  if (s.schema.argIndex("groups") < 0)
    g.setGroups(s, depthwise ? s.rng.between(1, 4) : 1);
  if (depthwise)
    g.in = g.groups;
  DType type = s.floatType();
  bool named = base.starts_with("conv") && flag < 0 && !depthwise;
  for (unsigned i = 0; i < s.args.size(); ++i) {
    llvm::StringRef name = s.schema.args[i].name;
    if (i == 0) {
      Shape x = g.input();
      if (named && s.rng.chance(15))
        x.erase(x.begin());
      s.set(0, s.tensor(type, x));
    } else if (name == "weight") {
      s.set(i, s.tensor(type, g.weight()));
    } else if (name == "bias") {
      if (s.rng.chance(60))
        s.set(i, s.tensor(type, {g.out}));
    } else if (name == "kernel_size") {
      s.setInts(i, g.kernel);
    } else if (name == "padding" &&
               s.schema.args[i].type.kind == SchemaType::Str) {
      bool same = s.rng.chance(60);
      if (same) // the stride stands before it
        s.setInts(s.schema.argIndex("stride"), Shape(spatial, 1));
      s.set(i, Arg::string(same ? "same" : "valid"));
    } else if (name == "stride") {
      s.setInts(i, g.stride);
    } else if (name == "padding") {
      s.setInts(i, g.padding);
    } else if (name == "dilation") {
      s.setInts(i, g.dilation);
    } else if (name == "output_padding") {
      s.setInts(i, g.extra);
    } else if (name == "groups") {
      s.setInt(i, g.groups);
    } else if (name == "transposed") {
      s.set(i, Arg::truth(g.transposed));
    } else {
      s.setBool(i);
    }
  }
  return true;
}

/// (grad, input, weight, bias_sizes, stride, padding, dilation, transposed,
/// output_padding, groups, mask)
static bool convolutionBackward(Sampler &s) {
  Geometry g(s, spatialOf(s), s.rng.chance(30));
  for (int64_t size : g.output())
    if (size < 1)
      return false;
  DType type = s.rng.chance(70) ? DType::F32 : DType::F64;
  s.set(0, s.tensor(type, g.output()));
  s.set(1, s.tensor(type, g.input()));
  s.set(2, s.tensor(type, g.weight()));
  s.setInts(3, {g.out});
  s.setInts(4, g.stride);
  s.setInts(5, g.padding);
  s.setInts(6, g.dilation);
  s.set(7, Arg::truth(g.transposed));
  s.setInts(8, g.extra);
  s.setInt(9, g.groups);
  s.set(10,
        Arg::listOf({Arg::truth(s.rng.chance(80)), Arg::truth(s.rng.chance(80)),
                     Arg::truth(s.rng.chance(50))}));
  return true;
}

/// [T, B, C] with [K, C, F].
static bool timeBatchChannel(Sampler &s) {
  int64_t k = s.rng.between(1, 3), pad = s.rng.between(0, 2),
          t = k + s.rng.between(0, 4), b = s.rng.between(1, 3),
          c = s.rng.between(1, 4), f = s.rng.between(1, 4);
  DType type = s.rng.chance(70) ? DType::F32 : DType::F64;
  unsigned next = 0;
  if (s.schema.base.ends_with("backward"))
    s.set(next++, s.tensor(type, {t + 2 * pad - k + 1, b, f}));
  s.set(next, s.tensor(type, {t, b, c}));
  s.set(next + 1, s.tensor(type, {k, c, f}));
  s.set(next + 2, s.tensor(type, {f}));
  s.setInt(next + 3, pad);
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::convSamplers() {
  static const SamplerRow rows[] = {
      {"convolution _convolution _convolution.deprecated "
       "convolution_overrideable _convolution_mode mkldnn_convolution conv1d "
       "conv2d conv3d conv1d.padding conv2d.padding conv3d.padding "
       "conv_transpose1d conv_transpose2d.input conv_transpose3d.input "
       "_conv_depthwise2d conv_depthwise3d _slow_conv2d_forward slow_conv3d "
       "slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d "
       "slow_conv_transpose2d slow_conv_transpose3d thnn_conv2d",
       convolution},
      {"convolution_backward", convolutionBackward},
      {"conv_tbc conv_tbc_backward", timeBatchChannel},
  };
  return rows;
}
