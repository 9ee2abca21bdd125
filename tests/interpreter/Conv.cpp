//===- Conv.cpp - Convolution and its gradients ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

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

/// Zeros of the padding times infinity: what that gives is the algorithm's
/// choice.
static void openIfNotFinite(Call &call) {
  for (const Tensor &operand : call.operands)
    for (int64_t i = 0, n = operand.numel(); i < n; ++i)
      if (!std::isfinite(operand.real(i)))
        return call.open("a convolution of infinities");
}

static void run(Call &call, Convolution conv, const Tensor *bias) {
  openIfNotFinite(call);
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

/// convolution(input, weight, bias, stride, padding, dilation, transposed,
/// output_padding, groups), and its old form with more flags.
static void convolution(Call &call) {
  size_t spatial = call.tensor(1).rank() - 2;
  Convolution conv;
  conv.stride = call.integers(3, spatial);
  conv.padding = call.integers(4, spatial);
  conv.dilation = call.integers(5, spatial);
  conv.transposed = call.flag(6);
  conv.groups = call.integer(8);
  run(call, conv, call.optTensor(2));
}

/// convNd(input, weight, bias, stride, padding, dilation, groups)
static void convNd(Call &call) {
  size_t spatial = call.tensor(1).rank() - 2;
  Convolution conv;
  conv.stride = call.integers(3, spatial);
  conv.dilation = call.integers(5, spatial);
  conv.groups = call.integer(6);
  if (call.args[4].kind == Arg::Str) {
    conv.padding.assign(spatial, 0);
    if (call.text(4) == "same")
      for (size_t d = 0; d < spatial; ++d) // less before than after
        conv.padding[d] =
            conv.dilation[d] * (call.tensor(1).shape[2 + d] - 1) / 2;
  } else {
    conv.padding = call.integers(4, spatial);
  }
  run(call, conv, call.optTensor(2));
}

/// conv_transposeNd(input, weight, bias, stride, padding, output_padding,
/// groups, dilation)
static void convTransposeNd(Call &call) {
  size_t spatial = call.tensor(1).rank() - 2;
  Convolution conv;
  conv.stride = call.integers(3, spatial);
  conv.padding = call.integers(4, spatial);
  conv.groups = call.integer(6);
  conv.dilation = call.integers(7, spatial);
  conv.transposed = true;
  run(call, conv, call.optTensor(2));
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
  openIfNotFinite(call);
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
      {"convolution.default", convolution, Accumulated},
      {"_convolution.default", convolution, Accumulated},
      {"conv1d.default", convNd, Accumulated},
      {"conv2d.default", convNd, Accumulated},
      {"conv3d.default", convNd, Accumulated},
      {"conv1d.padding", convNd, Accumulated},
      {"conv2d.padding", convNd, Accumulated},
      {"conv3d.padding", convNd, Accumulated},
      {"conv_transpose1d.default", convTransposeNd, Accumulated},
      {"conv_transpose2d.input", convTransposeNd, Accumulated},
      {"conv_transpose3d.input", convTransposeNd, Accumulated},
      {"convolution_backward.default", convolutionBackward, Accumulated},
  };
  return rows;
}
