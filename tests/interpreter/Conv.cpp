//===- Conv.cpp - Convolution and its gradients ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
/// One convolution: input [N, C, in…], weight [F, C/g, k…] (transposed: [C,
/// F/g, k…]), output [N, F, out…]. Both directions are the same set of triples
/// (input element, weight element, output element); a transposed convolution
/// swaps the roles of input and output.
struct Convolution {
  Shape input, weight, output;
  Shape stride, padding, dilation;
  bool transposed = false;
  int64_t groups = 1;

  template <typename Visit>
  void each(Visit visit) const {
    // As a forward convolution from `small` (its input) to `large`.
    const Shape &from = transposed ? output : input;
    const Shape &to = transposed ? input : output;
    size_t spatial = weight.size() - 2;
    int64_t channels = weight[1]; // of `from`, in a group
    int64_t filters = to[1] / groups;
    Shape kernel(weight.begin() + 2, weight.end());
    forEachIndex(to, [&](Index index, int64_t t) {
      int64_t group = index[1] / filters;
      for (int64_t c = 0; c < channels; ++c)
        forEachIndex(kernel, [&](Index k, int64_t) {
          Shape at = {index[0], group * channels + c};
          Shape wt = {index[1], c};
          for (size_t d = 0; d < spatial; ++d) {
            int64_t x =
                index[2 + d] * stride[d] - padding[d] + k[d] * dilation[d];
            if (x < 0 || x >= from[2 + d])
              return;
            at.push_back(x);
            wt.push_back(k[d]);
          }
          int64_t f = flatten(from, at), w = flatten(weight, wt);
          visit(transposed ? t : f, w, transposed ? f : t);
        });
    });
  }
};
} // namespace

static Shape batched(Shape shape, size_t rank) {
  if (shape.size() < rank)
    shape.insert(shape.begin(), 1);
  return shape;
}

static void run(Call &call, Convolution conv, const Tensor *bias) {
  openIfNotFinite(call, "a convolution of infinities");
  const Tensor &x = call.tensor(0), &w = call.tensor(1);
  Tensor &out = call.out();
  conv.input = batched(x.shape, w.shape.size());
  conv.weight = w.shape;
  conv.output = batched(out.shape, w.shape.size());
  int64_t pixels = 1;
  for (size_t d = 2; d < conv.output.size(); ++d)
    pixels *= conv.output[d];
  std::vector<Complex> sums(out.numel());
  std::vector<uint64_t> whole(out.whole() ? out.numel() : 0);
  for (size_t i = 0; bias && i < sums.size(); ++i) {
    int64_t feature = i / pixels % conv.output[1];
    sums[i] = bias->complex(feature);
    if (out.whole())
      whole[i] = bias->integer(feature);
  }
  conv.each([&](int64_t i, int64_t k, int64_t o) {
    if (out.whole())
      whole[o] += static_cast<uint64_t>(x.integer(i)) *
                  static_cast<uint64_t>(w.integer(k));
    else if (isComplex(out.dtype))
      sums[o] += x.complex(i) * w.complex(k);
    else
      sums[o] += x.real(i) * w.real(k);
  });
  for (size_t i = 0; i < sums.size(); ++i)
    if (out.whole())
      out.setInteger(i, static_cast<int64_t>(whole[i]));
    else
      out.setComplex(i, sums[i]);
}

/// Every form of the forward convolution: they differ in the order of their
/// arguments, in what they leave out, and in what their names fix.
static void forward(Call &call) {
  size_t spatial = call.tensor(1).rank() - 2;
  auto list = [&](llvm::StringRef name, int64_t otherwise) {
    int i = call.schema.argIndex(name);
    return i < 0 ? Shape(spatial, otherwise) : call.integers(i, spatial);
  };
  llvm::StringRef base = call.base();
  Convolution conv;
  conv.stride = list("stride", 1);
  conv.dilation = list("dilation", 1);
  int flag = call.schema.argIndex("transposed"),
      groups = call.schema.argIndex("groups"),
      padding = call.schema.argIndex("padding");
  conv.transposed = flag >= 0 ? call.flag(flag) : base.contains("transpose");
  conv.groups = groups >= 0 ? call.integer(groups)
                : base.contains("depthwise")
                    ? call.out().rank() > int64_t(spatial) + 1
                          ? call.tensor(0).shape[1]
                          : call.tensor(0).shape[0]
                    : 1;
  if (call.args[padding].kind != Arg::Str) {
    conv.padding = call.integers(padding, spatial);
  } else {
    conv.padding.assign(spatial, 0);
    if (call.text(padding) == "same")
      for (size_t d = 0; d < spatial; ++d) // less before than after
        conv.padding[d] =
            conv.dilation[d] * (call.tensor(1).shape[2 + d] - 1) / 2;
  }
  run(call, conv, call.optTensor(call.schema.argIndex("bias")));
}

/// self [T, B, C], weight [K, C, F], bias [F], pad: `visit(i, w, o)` for each
/// product.
template <typename Visit>
static void eachOfTbc(const Shape &in, const Shape &weight, const Shape &out,
                      int64_t pad, Visit visit) {
  forEachIndex(out, [&](Index o, int64_t flat) {
    for (int64_t k = 0; k < weight[0]; ++k)
      for (int64_t c = 0, t = o[0] + k - pad; c < weight[1]; ++c)
        if (t >= 0 && t < in[0])
          visit(flatten(in, {t, o[1], c}), flatten(weight, {k, c, o[2]}), flat);
  });
}

static void convTbc(Call &call) {
  openIfNotFinite(call, "a convolution of infinities");
  const Tensor &x = call.tensor(0), &w = call.tensor(1), &b = call.tensor(2);
  Tensor &out = call.out();
  std::vector<double> sums(out.numel());
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = b.real(i % b.numel());
  eachOfTbc(x.shape, w.shape, out.shape, call.integer(3),
            [&](int64_t i, int64_t k, int64_t o) {
              sums[o] += x.real(i) * w.real(k);
            });
  for (size_t i = 0; i < sums.size(); ++i)
    out.setReal(i, sums[i]);
}

/// (grad, input, weight, bias, pad)
static void convTbcBackward(Call &call) {
  openIfNotFinite(call, "a convolution of infinities");
  const Tensor &grad = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2);
  std::vector<double> sums[3];
  for (int r = 0; r < 3; ++r)
    sums[r].resize(call.out(r).numel());
  eachOfTbc(x.shape, w.shape, grad.shape, call.integer(4),
            [&](int64_t i, int64_t k, int64_t o) {
              sums[0][i] += grad.real(o) * w.real(k);
              sums[1][k] += grad.real(o) * x.real(i);
            });
  for (int64_t o = 0, n = grad.numel(); o < n; ++o)
    sums[2][o % grad.shape[2]] += grad.real(o);
  for (int r = 0; r < 3; ++r)
    for (size_t i = 0; i < sums[r].size(); ++i)
      call.out(r).setReal(i, sums[r][i]);
}

/// grad, input, weight, bias_sizes, stride, padding, dilation, transposed,
/// output_padding, groups, mask.
static void convolutionBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2);
  size_t spatial = w.rank() - 2;
  Convolution conv;
  conv.stride = call.integers(4, spatial);
  conv.padding = call.integers(5, spatial);
  conv.dilation = call.integers(6, spatial);
  conv.transposed = call.flag(7);
  conv.groups = call.integer(9);
  conv.input = batched(x.shape, w.rank());
  conv.weight = w.shape;
  conv.output = batched(grad.shape, w.rank());
  openIfNotFinite(call, "a convolution of infinities");
  std::vector<Complex> dx(x.numel()), dw(w.numel());
  conv.each([&](int64_t i, int64_t k, int64_t o) {
    dx[i] += grad.complex(o) * std::conj(w.complex(k));
    dw[k] += grad.complex(o) * std::conj(x.complex(i));
  });
  Shape mask = call.integers(10);
  auto store = [&](unsigned r, const std::vector<Complex> &values) {
    if (!mask[r])
      return;
    for (size_t i = 0; i < values.size(); ++i)
      call.out(r).setComplex(i, values[i]);
  };
  store(0, dx);
  store(1, dw);
  if (mask[2]) {
    std::vector<Complex> db(conv.output[1]);
    int64_t pixels = 1;
    for (size_t d = 2; d < conv.output.size(); ++d)
      pixels *= conv.output[d];
    for (int64_t i = 0, n = grad.numel(); i < n; ++i)
      db[i / pixels % conv.output[1]] += grad.complex(i);
    store(2, db);
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::convOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"convolution.default", forward, Accumulated},
      {"_convolution.default", forward, Accumulated},
      {"_convolution.deprecated", forward, Accumulated},
      {"convolution_overrideable.default", forward, Accumulated},
      {"_convolution_mode.default", forward, Accumulated},
      {"mkldnn_convolution.default", forward, Accumulated},
      {"conv1d.default", forward, Accumulated},
      {"conv2d.default", forward, Accumulated},
      {"conv3d.default", forward, Accumulated},
      {"conv1d.padding", forward, Accumulated},
      {"conv2d.padding", forward, Accumulated},
      {"conv3d.padding", forward, Accumulated},
      {"conv_transpose1d.default", forward, Accumulated},
      {"conv_transpose2d.input", forward, Accumulated},
      {"conv_transpose3d.input", forward, Accumulated},
      {"_conv_depthwise2d.default", forward, Accumulated},
      {"conv_depthwise3d.default", forward, Accumulated},
      {"_slow_conv2d_forward.default", forward, Accumulated},
      {"slow_conv3d.default", forward, Accumulated},
      {"slow_conv3d_forward.default", forward, Accumulated},
      {"slow_conv_dilated2d.default", forward, Accumulated},
      {"slow_conv_dilated3d.default", forward, Accumulated},
      {"slow_conv_transpose2d.default", forward, Accumulated},
      {"slow_conv_transpose3d.default", forward, Accumulated},
      {"thnn_conv2d.default", forward, Accumulated},
      {"conv_tbc.default", convTbc, Accumulated},
      {"conv_tbc_backward.default", convTbcBackward, Accumulated},
      {"convolution_backward.default", convolutionBackward, Accumulated},
  };
  return rows;
}
