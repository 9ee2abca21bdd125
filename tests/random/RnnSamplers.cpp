//===- RnnSamplers.cpp - Arguments of recurrent nets and of norms ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

#include <cmath>

using namespace ft;
using namespace ft::random;

static DType wideFloat(Sampler &s) {
  return s.rng.chance(75) ? DType::F32 : DType::F64;
}

//===----------------------------------------------------------------------===//
// Recurrent nets
//===----------------------------------------------------------------------===//

/// How many gates a cell has.
static int64_t gatesOf(llvm::StringRef base) {
  return base.contains("lstm") ? 4 : base.contains("gru") ? 3 : 1;
}

/// (input, hx, w_ih, w_hh, b_ih, b_hh); hx of an LSTM is a list of two.
static bool cell(Sampler &s) {
  llvm::StringRef base = s.schema.base;
  int64_t gates = gatesOf(base), rows = s.rng.between(1, 3),
          in = s.rng.between(1, 5), units = s.rng.between(1, 4);
  DType type = wideFloat(s);
  s.set(0, s.tensor(type, {rows, in}));
  if (gates == 4)
    s.setList(1,
              {s.tensor(type, {rows, units}), s.tensor(type, {rows, units})});
  else
    s.set(1, s.tensor(type, {rows, units}));
  s.set(2, s.tensor(type, {gates * units, in}));
  s.set(3, s.tensor(type, {gates * units, units}));
  if (s.rng.chance(60)) {
    s.set(4, s.tensor(type, {gates * units}));
    s.set(5, s.tensor(type, {gates * units}));
  }
  return true;
}

/// (input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
/// batch_first)
static bool recurrent(Sampler &s) {
  int64_t gates = gatesOf(s.schema.base), steps = s.rng.between(1, 4),
          batch = s.rng.between(1, 3), in = s.rng.between(1, 4),
          units = s.rng.between(1, 4), layers = s.rng.between(1, 2);
  bool two = s.rng.chance(35), biases = s.rng.chance(70),
       first = s.rng.chance(40),
       projected = gates == 4 && units > 1 && s.rng.chance(20);
  int64_t width = projected ? units - 1 : units, directions = two ? 2 : 1;
  DType type = wideFloat(s);
  s.set(0, s.tensor(type,
                    first ? Shape{batch, steps, in} : Shape{steps, batch, in}));
  Shape state = {layers * directions, batch, width},
        memory = {layers * directions, batch, units};
  if (gates == 4)
    s.setList(1, {s.tensor(type, state), s.tensor(type, memory)});
  else
    s.set(1, s.tensor(type, state));
  std::vector<int> params;
  for (int64_t layer = 0; layer < layers; ++layer)
    for (int64_t d = 0; d < directions; ++d) {
      int64_t from = layer ? width * directions : in;
      params.push_back(s.tensor(type, {gates * units, from}));
      params.push_back(s.tensor(type, {gates * units, width}));
      for (int k = 0; biases && k < 2; ++k)
        params.push_back(s.tensor(type, {gates * units}));
      if (projected)
        params.push_back(s.tensor(type, {width, units}));
    }
  s.setList(2, params);
  s.set(3, Arg::truth(biases));
  s.setInt(4, layers);
  s.set(5, Arg::floating(0));
  s.setBool(6);
  s.set(7, Arg::truth(two));
  s.set(8, Arg::truth(first));
  return true;
}

static bool cellBackward(Sampler &s) {
  int64_t gates = gatesOf(s.schema.base), rows = s.rng.between(1, 3),
          units = s.rng.between(1, 4);
  DType type = wideFloat(s);
  for (unsigned i = 0; i < s.args.size(); ++i) {
    llvm::StringRef name = s.schema.args[i].name;
    if (name.ends_with("gates"))
      s.set(i, s.tensor(type, {rows, gates * units}));
    else if (name.ends_with("bias"))
      s.set(i, s.tensor(type, {gates * units}));
    else if (name != "grad_cy" || s.rng.chance(60))
      s.set(i, s.tensor(type, {rows, units}));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static Arg flags(Sampler &s, int count) {
  std::vector<Arg> list;
  for (int i = 0; i < count; ++i)
    list.push_back(Arg::truth(s.rng.chance(75)));
  return Arg::listOf(std::move(list));
}

/// The means of the channels of an image, or their inverse deviations.
static int statistic(Sampler &s, int image, bool wantMean) {
  const Tensor &x = s.program.values[image].data;
  int64_t channels = x.shape[1], area = 1;
  for (int64_t d = 2; d < x.rank(); ++d)
    area *= x.shape[d];
  Tensor result(x.dtype, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0, count = 0;
    for (int pass = 0; pass < 2; ++pass) {
      double mean = count ? sum / count : 0;
      for (int64_t i = 0, n = x.numel(); i < n; ++i)
        if (i / area % channels == c) {
          (pass ? squares : sum) +=
              pass ? std::pow(x.real(i) - mean, 2) : x.real(i);
          count += !pass;
        }
    }
    result.setReal(c, wantMean ? sum / count
                               : 1 / std::sqrt(squares / count + 1e-2));
  }
  return s.constant(std::move(result));
}

/// Every operator on channels, by the names of its arguments.
static bool channels(Sampler &s) {
  Shape shape = {s.rng.between(2, 4), s.rng.between(1, 5)};
  bool instances = s.schema.base == "instance_norm";
  for (int64_t d = s.rng.between(instances ? 1 : 0, 2); d > 0; --d)
    shape.push_back(s.rng.between(instances ? 2 : 1, 5));
  DType type = wideFloat(s);
  Shape each = {shape[1]};
  // With statistics of its own where it has no others.
  bool own = s.rng.chance(50), running = !own || s.rng.chance(50);
  bool affine = s.rng.chance(60);
  for (unsigned i = 0; i < s.args.size(); ++i) {
    llvm::StringRef name = s.schema.args[i].name;
    bool optional = s.schema.args[i].type.optional;
    if (name == "input" || name == "grad_out")
      s.set(i, s.tensor(type, shape));
    else if (name == "reserve")
      s.set(i, s.integers({0}, {0, 0}, DType::U8));
    else if (name.starts_with("save")) {
      s.set(i, statistic(s, s.operands[1], name == "save_mean"));
    } else if (name == "running_var") { // above zero
      if (running || !optional)
        s.set(i, s.integers(each, {1, 6}, type));
    } else if (name == "running_mean") {
      if (running || !optional)
        s.set(i, s.integers(each, {-2, 2}, type));
    } else if (s.schema.isTensorArg(i)) {
      if (affine || !optional)
        s.set(i, s.tensor(type, each));
    } else if (name == "eps")
      s.set(i, Arg::floating(1e-5));
    else if (name == "momentum")
      s.set(i, Arg::floating(0.1));
    else if (name == "output_mask")
      s.set(i, flags(s, 3));
    else
      s.set(i, Arg::truth(name == "cudnn_enabled" ? false : own));
  }
  return true;
}

/// ([grad,] v, g, [norms,] dim)
static bool weightNorm(Sampler &s) {
  bool backward = s.schema.base.ends_with("backward");
  DType type = wideFloat(s);
  Shape shape = s.shape(1, 4), lengths(shape.size(), 1);
  for (int64_t &size : shape)
    size = std::max<int64_t>(size, 1);
  int64_t dim = s.rng.chance(50) ? 0 : int64_t(shape.size()) - 1;
  bool all = s.schema.base == "_weight_norm" && s.rng.chance(20);
  lengths[dim] = shape[dim];
  if (all) {
    dim = -1;
    lengths = {};
  }
  unsigned next = 0;
  if (backward)
    s.set(next++, s.tensor(type, shape));
  int v = s.tensor(type, shape);
  s.set(next++, v);
  s.set(next++, s.tensor(type, lengths));
  if (backward) {
    const Tensor &data = s.program.values[v].data;
    int64_t inner = dim == 0 ? data.numel() / shape[0] : 1;
    Tensor norms(type, lengths);
    std::vector<double> squares(norms.numel());
    for (int64_t i = 0, n = data.numel(); i < n; ++i)
      squares[i / inner % shape[dim]] += data.real(i) * data.real(i);
    for (size_t i = 0; i < squares.size(); ++i)
      norms.setReal(i, std::sqrt(squares[i]));
    s.set(next++, s.constant(std::move(norms)));
  }
  s.setInt(next, dim);
  return true;
}

/// (grad, input, normalized_shape, rstd, weight, mask)
static bool rmsNormBackward(Sampler &s) {
  DType type = wideFloat(s);
  Shape shape = s.shape(1, 3);
  int64_t inner = s.rng.between(1, shape.size());
  Shape own(shape.end() - inner, shape.end()), rows = shape;
  for (size_t d = shape.size() - inner; d < shape.size(); ++d)
    rows[d] = 1;
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(type, shape));
  s.setInts(2, own);
  s.set(3, s.tensor(type, rows));
  if (s.rng.chance(60))
    s.set(4, s.tensor(type, own));
  s.set(5, flags(s, 2));
  return true;
}

static bool renorm(Sampler &s) {
  static const double kOrders[] = {2, 2, 1, HUGE_VAL, 3};
  Shape shape = s.shape(2, 4);
  s.set(0, s.tensor(s.rng.chance(80) ? wideFloat(s) : DType::C64, shape));
  s.set(1, Arg::floating(s.rng.of(kOrders)));
  s.setInt(2, s.dim(shape.size()));
  s.set(3, Arg::floating(s.rng.chance(50) ? 1 : 2.5));
  return true;
}

//===----------------------------------------------------------------------===//
// Softmax and attention
//===----------------------------------------------------------------------===//

/// (self, mask, dim, mask_type)
static bool maskedSoftmax(Sampler &s) {
  DType type = wideFloat(s);
  int64_t kind = s.rng.between(0, 2);
  Shape shape = kind == 2 ? s.shape(1, 4)
                          : Shape{s.rng.between(1, 3), s.rng.between(1, 2), 0,
                                  s.rng.between(1, 5)};
  if (kind != 2)
    shape[2] = shape[3];
  Shape mask = kind == 0   ? Shape{shape[2], shape[3]}
               : kind == 1 ? Shape{shape[0], shape[3]}
                           : shape;
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(DType::Bool, mask));
  if (kind != 2)
    s.setInt(2, 3);
  else if (s.rng.chance(70))
    s.setInt(2, s.dim(shape.size()));
  s.setInt(3, kind);
  return true;
}

static bool maskedSoftmaxBackward(Sampler &s) {
  DType type = wideFloat(s);
  Shape shape = s.shape(1, 4);
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(type, shape));
  s.set(2, s.tensor(DType::Bool, shape));
  if (s.rng.chance(70))
    s.setInt(3, s.dim(shape.size()));
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::rnnSamplers() {
  static const SamplerRow rows[] = {
      {"rnn_relu_cell rnn_tanh_cell lstm_cell gru_cell", cell},
      {"rnn_relu.input rnn_tanh.input lstm.input gru.input", recurrent},
      {"_thnn_differentiable_lstm_cell_backward "
       "_thnn_differentiable_gru_cell_backward",
       cellBackward},
      {"batch_norm instance_norm _batch_norm_no_update "
       "_batch_norm_with_update_functional native_batch_norm_backward "
       "batch_norm_backward",
       channels},
      {"_weight_norm _weight_norm_interface _weight_norm_interface_backward "
       "_weight_norm_differentiable_backward",
       weightNorm},
      {"_fused_rms_norm_backward", rmsNormBackward},
      {"renorm", renorm},
      {"_masked_softmax", maskedSoftmax},
      {"_masked_softmax_backward", maskedSoftmaxBackward},
  };
  return rows;
}
