//===- StepSamplers.cpp - Arguments of optimizers and of quantization -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

#include <cmath>

using namespace ft;
using namespace ft::random;

static DType wideFloat(Sampler &s) {
  return s.rng.chance(75) ? DType::F32 : DType::F64;
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// Lists of one to three tensors, numbers by their names.
static bool fusedStep(Sampler &s) {
  size_t count = s.rng.between(1, 3);
  DType type = wideFloat(s);
  std::vector<Shape> shapes;
  for (size_t k = 0; k < count; ++k)
    shapes.push_back(s.shape(0, 3));
  bool amsgrad = s.rng.chance(40), momentum = s.rng.chance(70),
       scaled = s.rng.chance(30);
  for (unsigned i = 0; i < s.args.size(); ++i) {
    const SchemaArg &arg = s.schema.args[i];
    llvm::StringRef name = arg.name;
    if (arg.type.kind == SchemaType::Tensor && arg.type.list) {
      std::vector<int> list;
      bool none = (name == "max_exp_avg_sqs" && !amsgrad) ||
                  (name == "momentum_buffer_list" && !momentum);
      for (size_t k = 0; k < count && !none; ++k) {
        if (name == "state_steps")
          list.push_back(s.integers({}, {1, 5}, DType::F32));
        else if (name.contains("sq") || name.contains("sums"))
          list.push_back(s.reals(type, shapes[k], 0, 3));
        else // every list is written: it shares nothing with another
          list.push_back(s.reals(type, shapes[k], -3, 3));
      }
      s.setList(i, list);
    } else if (name == "grad_scale" || name == "found_inf") {
      if (scaled)
        s.set(i, s.integers({}, name == "found_inf" ? Range{0, 1} : Range{1, 4},
                            DType::F32));
    } else if (name == "lr") {
      if (arg.type.kind == SchemaType::Tensor)
        s.set(i, s.reals(DType::F32, {}, 0.01, 0.1));
      else
        s.set(i, Arg::floating(0.1));
    } else if (name == "amsgrad") {
      s.set(i, Arg::truth(amsgrad));
    } else if (name == "momentum") {
      s.set(i, Arg::floating(momentum ? 0.75 : 0));
    } else if (name == "nesterov") {
      s.set(i, Arg::truth(momentum && s.rng.chance(40)));
    } else if (arg.type.kind == SchemaType::Bool) {
      s.setBool(i);
    } else if (name == "eps") {
      s.set(i, Arg::floating(1e-3));
    } else if (name.starts_with("beta")) {
      s.set(i, Arg::floating(name == "beta1" ? 0.75 : 0.875));
    } else {
      s.set(i, Arg::floating(s.rng.chance(40) ? 0 : 0.125));
    }
  }
  return true;
}

/// (list, found_inf, inv_scale)
static bool unscale(Sampler &s) {
  DType type = wideFloat(s);
  std::vector<int> list;
  for (int64_t k = s.rng.between(1, 3); k > 0; --k)
    list.push_back(s.input(type, s.shape(0, 3)));
  s.setList(0, list);
  s.set(1, s.integers({}, {0, 0}, DType::F32));
  s.set(2, s.reals(DType::F32, {}, 0.25, 2));
  return true;
}

static bool updateScale(Sampler &s) {
  s.set(0, s.integers({}, {1, 9}, DType::F32));
  s.set(1, s.integers({}, {0, 3}, DType::I32));
  s.set(2, s.integers({}, {0, 1}, DType::F32));
  s.set(3, Arg::floating(2));
  s.set(4, Arg::floating(0.5));
  s.setInt(5, s.rng.between(1, 4));
  return true;
}

/// Two lists of matrices, or a list of scalars in one tensor.
static bool foreachOther(Sampler &s) {
  size_t count = s.rng.between(1, 3);
  DType type = wideFloat(s);
  bool product = s.schema.base == "_foreach_mm";
  std::vector<Shape> shapes;
  for (size_t k = 0; k < count; ++k)
    shapes.push_back(product ? s.shape(2, 2) : s.shape(0, 3));
  for (unsigned i = 0; i < s.args.size(); ++i) {
    const SchemaArg &arg = s.schema.args[i];
    if (arg.type.kind == SchemaType::Tensor && arg.type.list) {
      std::vector<int> list;
      for (Shape shape : shapes) {
        if (product && i == 1)
          shape = {shape[1], s.rng.between(1, 5)};
        list.push_back(s.tensor(type, shape));
      }
      s.setList(i, list);
    } else if (arg.type.kind == SchemaType::Tensor) {
      s.set(i, s.tensor(type, {int64_t(count)}));
    } else if (arg.name == "ord") {
      static const double kOrders[] = {2, 1, 3};
      s.set(i, Arg::floating(s.rng.of(kOrders)));
    } else {
      s.set(i, arg.defaultValue);
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// Every form, by the names of its arguments.
static bool fakeQuantize(Sampler &s) {
  bool learned = s.schema.base.contains("learnable"),
       channels = s.schema.base.contains("channel");
  DType type = learned ? DType::F32 : wideFloat(s);
  Shape shape = s.shape(channels ? 1 : 0, 4), places = {1};
  int64_t axis = 0;
  if (channels) {
    axis = s.rng.between(0, shape.size() - 1);
    places = {shape[axis]};
  }
  bool bytes = s.rng.chance(50);
  int self = -1;
  for (unsigned i = 0; i < s.args.size(); ++i) {
    const SchemaArg &arg = s.schema.args[i];
    llvm::StringRef name = arg.name;
    bool tensor = s.schema.isTensorArg(i);
    if (name == "self" || name == "grad") {
      self = s.reals(type, shape, -9, 9);
      s.set(i, s.rng.chance(70) ? self : s.tensor(type, shape));
    } else if (name == "scale" && !tensor) {
      s.set(i, Arg::floating(s.rng.chance(50) ? 0.125 : 0.1));
    } else if (name == "scale") {
      // Powers of two, whose quotients are exact.
      Tensor data(DType::F32, places);
      for (int64_t k = 0; k < data.numel(); ++k)
        data.setReal(k, s.rng.chance(60)
                            ? std::ldexp(1, -int(s.rng.between(0, 4)))
                            : 0.05 + s.rng.unit());
      s.set(i, s.constant(std::move(data)));
    } else if (name == "zero_point" && !tensor) {
      s.setInt(i, s.rng.between(0, 9));
    } else if (name == "zero_point") {
      s.set(i, learned ? s.reals(DType::F32, places, 0, 9)
                       : s.integers(places, {0, 9}, DType::I32));
    } else if (name == "fake_quant_enabled") {
      s.set(i, s.integers({1}, {s.rng.chance(80), 1}));
    } else if (name == "axis") {
      s.setInt(i, axis);
    } else if (name == "quant_min") {
      s.setInt(i, bytes ? 0 : -8);
    } else if (name == "quant_max") {
      s.setInt(i, bytes ? 255 : 7 + s.rng.between(0, 9));
    } else {
      s.set(i, Arg::floating(s.rng.chance(50) ? 1 : 0.5));
    }
  }
  return true;
}

static bool maskedGradient(Sampler &s) {
  Shape shape = s.shape(0, 4);
  s.set(0, s.tensor(wideFloat(s), shape));
  s.set(1, s.tensor(DType::Bool, shape));
  return true;
}

//===----------------------------------------------------------------------===//
// Pooling that keeps places
//===----------------------------------------------------------------------===//

/// (self, kernel, result, samples), ([grad,] self, kernel, result, indices)
template <int dims>
static bool fractionalPool(Sampler &s) {
  bool backward = s.schema.base.ends_with("backward");
  DType type = wideFloat(s);
  Shape size, kernel, result;
  int64_t area = 1;
  for (int d = 0; d < dims; ++d) {
    int64_t k = s.rng.between(1, 3), r = s.rng.between(1, 4);
    kernel.push_back(k);
    result.push_back(r);
    size.push_back(k + r - 1 + s.rng.between(0, 4));
    area *= size.back();
  }
  Shape planes = {s.rng.between(1, 2), s.rng.between(1, 3)}, samples = planes;
  samples.push_back(dims);
  if (s.rng.chance(20)) {
    planes = {planes[1]};
    samples = {1, planes[0], dims};
  }
  auto with = [&](const Shape &rest) {
    Shape shape = planes;
    shape.insert(shape.end(), rest.begin(), rest.end());
    return shape;
  };
  unsigned next = 0;
  if (backward)
    s.set(next++, s.tensor(type, with(result)));
  s.set(next++, s.tensor(type, with(size)));
  s.setInts(next++, kernel);
  s.setInts(next++, result);
  s.set(next, backward ? s.integers(with(result), {0, area - 1})
                       : s.reals(type, samples, 0, 0.99));
  return true;
}

/// (self, indices, size[, stride, padding]) with places that differ.
template <int dims>
static bool maxUnpool(Sampler &s) {
  Shape own, size;
  int64_t count = 1, area = 1;
  for (int d = 0; d < dims; ++d) {
    own.push_back(s.rng.between(1, 3));
    size.push_back(own[d] * 2 - s.rng.between(0, 1));
    count *= own[d];
    area *= size[d];
  }
  Shape shape = {s.rng.between(1, 2), s.rng.between(1, 3)};
  int64_t planes = shape[0] * shape[1];
  if (s.rng.chance(20)) {
    planes = shape[1];
    shape = {planes};
  }
  shape.insert(shape.end(), own.begin(), own.end());
  s.set(0, s.tensor(s.rng.chance(80) ? s.floatType() : DType::I64, shape));
  Tensor places(DType::I64, shape);
  for (int64_t p = 0; p < planes; ++p) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < area; ++i)
      all.insert(all.begin() + s.rng.between(0, i), i);
    for (int64_t i = 0; i < count; ++i)
      places.setInteger(p * count + i, all[i]);
  }
  s.set(1, s.constant(std::move(places)));
  s.setInts(2, size);
  if (dims == 3) {
    s.setInts(3, {2, 2, 2});
    s.setInts(4, {0, 0, 0});
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// (query, key, value, mask, dropout, causal, dropout_mask, scale, gqa)
static bool attentionMath(Sampler &s) {
  Shape batch = {s.rng.between(1, 2), s.rng.between(1, 2)};
  int64_t length = s.rng.between(1, 5), keys = s.rng.between(1, 5),
          width = s.rng.between(1, 5);
  DType type = wideFloat(s);
  auto with = [&](int64_t rows) {
    return Shape{batch[0], batch[1], rows, width};
  };
  s.set(0, s.tensor(type, with(length)));
  s.set(1, s.tensor(type, with(keys)));
  s.set(2, s.tensor(type, with(keys)));
  bool causal = s.rng.chance(30);
  if (!causal && s.rng.chance(50))
    s.set(3, s.tensor(type, {length, keys}));
  s.set(4, Arg::floating(0));
  s.set(5, Arg::truth(causal));
  if (s.rng.chance(40))
    s.set(7, Arg::floating(0.5));
  s.set(8, Arg::truth(false));
  return true;
}

/// (grad, query, key, value, out, logsumexp, dropout, causal, mask, scale),
/// with what the forward call gives.
static bool attentionBackward(Sampler &s) {
  int64_t batch = s.rng.between(1, 2), heads = s.rng.between(1, 2),
          length = s.rng.between(1, 5), keys = s.rng.between(1, 5),
          width = s.rng.between(1, 5);
  DType type = wideFloat(s);
  Shape rows = {batch, heads, length, width},
        columns = {batch, heads, keys, width};
  s.set(0, s.tensor(type, rows));
  s.set(1, s.reals(type, rows, -2, 2));
  s.set(2, s.reals(type, columns, -2, 2));
  s.set(3, s.reals(type, columns, -2, 2));
  bool causal = s.rng.chance(30);
  Arg scale = s.rng.chance(40) ? Arg::floating(0.5) : Arg::none();
  int mask =
      !causal && s.rng.chance(40) ? s.reals(type, {length, keys}, -1, 1) : -1;
  const Schema *forward = SchemaTable::get().find(
      "_scaled_dot_product_flash_attention_for_cpu.default");
  std::vector<Arg> args = {
      Arg::tensor(0),     Arg::tensor(1), Arg::tensor(2), Arg::floating(0),
      Arg::truth(causal), Arg::none(),    scale};
  std::vector<Tensor> operands;
  for (size_t k = 1; k < 4; ++k)
    operands.push_back(s.program.values[s.operands[k]].data);
  if (mask >= 0) {
    args[5] = Arg::tensor(3);
    operands.push_back(s.program.values[mask].data);
  }
  Shape sums = {batch, heads, length};
  TensorMeta metas[] = {
      TensorMeta::contiguous(type, Dims(rows.begin(), rows.end())),
      TensorMeta::contiguous(type, Dims(sums.begin(), sums.end()))};
  interpreter::CallResult result =
      interpreter::evaluate(*forward, args, operands, metas);
  s.set(4, s.constant(std::move(result.results[0])));
  s.set(5, s.constant(std::move(result.results[1])));
  s.set(6, Arg::floating(0));
  s.set(7, Arg::truth(causal));
  if (mask >= 0)
    s.set(8, mask);
  s.set(9, scale);
  return true;
}

static bool splitHeads(Sampler &s) {
  int64_t heads = s.rng.between(1, 3), width = heads * s.rng.between(1, 4);
  DType type = wideFloat(s);
  s.set(0,
        s.tensor(type, {s.rng.between(1, 3), s.rng.between(1, 4), 3 * width}));
  s.set(1, s.tensor(type, {3 * width}));
  s.setInt(2, heads);
  return true;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// a and x of the incomplete gamma function, not below zero mostly.
static bool incompleteGamma(Sampler &s) {
  DType type = wideFloat(s);
  Shape shape = s.shape(0, 3);
  double low = s.rng.chance(90) ? 0 : -1;
  s.set(0, s.reals(type, shape, low, 12));
  s.set(1, s.rng.chance(20) ? s.integers(s.smaller(shape), {0, 5}, type)
                            : s.reals(type, s.smaller(shape), low, 15));
  return true;
}

/// (glu, x, dx, dim)
static bool gluJvp(Sampler &s) {
  DType type = wideFloat(s);
  Shape half = s.shape(1, 3), whole = half;
  int64_t d = s.rng.between(0, half.size() - 1);
  whole[d] *= 2;
  s.set(0, s.tensor(type, half));
  s.set(1, s.tensor(type, whole));
  s.set(2, s.tensor(type, whole));
  s.setInt(3, d);
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::stepSamplers() {
  static const SamplerRow rows[] = {
      {"_fused_adam _fused_adam.tensor_lr _fused_adamw _fused_adamw.tensor_lr "
       "_fused_sgd _fused_sgd.tensor_lr _fused_adagrad "
       "_fused_adagrad.tensor_lr",
       fusedStep},
      {"_amp_foreach_non_finite_check_and_unscale", unscale},
      {"_amp_update_scale", updateScale},
      {"_foreach_mm _foreach_norm.Scalar _foreach_powsum.Scalar "
       "_foreach_addcdiv.Tensor _foreach_addcmul.Tensor",
       foreachOther},
      {"fake_quantize_per_tensor_affine "
       "fake_quantize_per_tensor_affine.tensor_qparams "
       "fake_quantize_per_channel_affine "
       "fake_quantize_per_tensor_affine_cachemask "
       "fake_quantize_per_channel_affine_cachemask "
       "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams "
       "_fake_quantize_learnable_per_tensor_affine "
       "_fake_quantize_learnable_per_channel_affine "
       "_fake_quantize_learnable_per_tensor_affine_backward "
       "_fake_quantize_learnable_per_channel_affine_backward",
       fakeQuantize},
      {"fake_quantize_per_tensor_affine_cachemask_backward "
       "fake_quantize_per_channel_affine_cachemask_backward",
       maskedGradient},
      {"fractional_max_pool2d fractional_max_pool2d_backward",
       fractionalPool<2>},
      {"fractional_max_pool3d fractional_max_pool3d_backward",
       fractionalPool<3>},
      {"max_unpool2d", maxUnpool<2>},
      {"max_unpool3d", maxUnpool<3>},
      {"_scaled_dot_product_attention_math", attentionMath},
      {"_scaled_dot_product_flash_attention_for_cpu_backward",
       attentionBackward},
      {"_transform_bias_rescale_qkv", splitHeads},
      {"igamma igammac special_gammainc special_gammaincc", incompleteGamma},
      {"glu_jvp", gluJvp},
  };
  return rows;
}
