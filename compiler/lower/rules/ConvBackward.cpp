//===- ConvBackward.cpp - Lowering of gradients of convolutions *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of the input is a convolution the other way round: transposed
// for an ordinary one, ordinary for a transposed one, with the same weights.
// The gradient of the weights is a contraction over images and pixels:
//
//   dw[f, c, k] = sum over n, o of dy[n, f, o] * x[n, c, o * stride + k *
//   dilation]

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Convolution.h"
#include "compiler/lower/rules/Reducing.h"

using namespace mlir;

namespace ft {

using Ints = Dims;

/// `far` has the pixels that windows reach (the input; for a transposed
/// convolution the gradient), `near` one pixel for each window. The result is
/// [channels of near, channels of far / groups, taps…].
static LoweredTensor weightGradient(LowerCall &c, LoweredTensor near,
                                    LoweredTensor far, const Convolution &conv,
                                    ArrayRef<Dim> kernel) {
  unsigned space = near.rank() - 2;
  Ints ns = near.dims(), fs = far.dims();
  Ints low(far.rank(), 0), high(far.rank(), 0);
  for (unsigned i = 0; i < space; ++i) {
    low[2 + i] = conv.padding[i];
    Dim reach = (ns[2 + i] - 1) * Dim(conv.stride[i]) +
                (kernel[i] - 1) * Dim(conv.dilation[i]) + 1;
    high[2 + i] = maxDim(reach - fs[2 + i] - conv.padding[i], 0);
  }
  far = c.pad(far, low, high, 0);
  int64_t groups = conv.groups;
  auto split = [&](LoweredTensor t) {
    Ints sizes = t.dims();
    Dim channels = sizes[1];
    sizes[1] = groups;
    sizes.insert(sizes.begin() + 2, floorDiv(channels, groups));
    return c.reshape(t, sizes);
  };
  bool grouped = groups > 1;
  if (grouped) {
    near = split(near);
    far = split(far);
  }

  SmallVector<Iterator> iterators;
  auto loop = [&](Iterator kind) {
    iterators.push_back(kind);
    return c.dim(static_cast<unsigned>(iterators.size() - 1));
  };
  SmallVector<AffineExpr, 6> out, a, b;
  Ints outSizes;
  AffineExpr g;
  if (grouped) {
    g = loop(Iterator::Parallel);
    out.push_back(g);
    outSizes.push_back(groups);
  }
  AffineExpr f = loop(Iterator::Parallel), ch = loop(Iterator::Parallel);
  out.append({f, ch});
  outSizes.append({floorDiv(ns[1], groups), floorDiv(fs[1], groups)});
  SmallVector<AffineExpr> taps;
  for (unsigned i = 0; i < space; ++i) {
    taps.push_back(loop(Iterator::Parallel));
    out.push_back(taps.back());
    outSizes.push_back(kernel[i]);
  }
  AffineExpr n = loop(Iterator::Reduction);
  a.push_back(n);
  b.push_back(n);
  if (grouped) {
    a.push_back(g);
    b.push_back(g);
  }
  a.push_back(f);
  b.push_back(ch);
  for (unsigned i = 0; i < space; ++i) {
    AffineExpr o = loop(Iterator::Reduction);
    a.push_back(o);
    b.push_back(o * conv.stride[i] + taps[i] * conv.dilation[i]);
  }
  LoweredTensor dw = contract(c, {near, a}, {far, b}, outSizes, out, iterators);
  if (grouped) {
    outSizes.erase(outSizes.begin());
    outSizes[0] = ns[1];
    dw = c.reshape(dw, outSizes);
  }
  return dw;
}

/// (grad_output, input, weight, bias_sizes, stride, padding, dilation,
/// transposed, output_padding, groups, output_mask).
static LogicalResult backward(LowerCall &c) {
  LoweredTensor dy = c.operand(0), x = c.operand(1), w = c.operand(2);
  unsigned space = w.rank() - 2;
  if (x.rank() != w.rank())
    return c.unsupported("the gradient of an unbatched convolution");
  Convolution conv;
  conv.stride = c.integers(4, space);
  conv.padding = c.integers(5, space);
  conv.dilation = c.integers(6, space);
  conv.transposed = c.flag(7);
  conv.groups = c.integer(9);
  conv.outputPadding.assign(space, 0);
  const std::vector<Arg> &mask = c.call().args[10].list;
  Ints ws = w.dims(), xs = x.dims(), ys = dy.dims();
  Ints kernel(ws.begin() + 2, ws.end());

  if (mask[0].boolean) {
    Convolution back = conv;
    back.transposed = !conv.transposed;
    for (unsigned i = 0; i < space && back.transposed; ++i) {
      Dim covered = (ys[2 + i] - 1) * Dim(conv.stride[i]) -
                    2 * conv.padding[i] +
                    Dim(conv.dilation[i]) * (kernel[i] - 1) + 1;
      back.outputPadding[i] = xs[2 + i] - covered;
    }
    LoweredTensor dx = convolve(c, dy, {w, c.call().tensor(2)}, back);
    // An output padding of a whole stride, which a dilation allows, makes room
    // for windows that belong to no element of the input.
    for (unsigned i = 0; i < space && conv.transposed; ++i)
      if (dx.dims()[2 + i] != xs[2 + i])
        dx = c.slice(dx, 2 + i, 0, xs[2 + i]);
    c.setResult(0, c.cast(dx, c.resultMeta(0).dtype));
    c.newGroup();
  }
  if (mask[1].boolean) {
    LoweredTensor dw = conv.transposed ? weightGradient(c, x, dy, conv, kernel)
                                       : weightGradient(c, dy, x, conv, kernel);
    c.setResult(1, c.cast(dw, c.resultMeta(1).dtype));
    c.newGroup();
  }
  if (mask[2].boolean) {
    SmallVector<unsigned> dims = {0};
    for (unsigned i = 0; i < space; ++i)
      dims.push_back(2 + i);
    LoweredTensor db = sumOf(c, dy, dims, false, opmathType(dy.dtype));
    c.setResult(2, c.cast(db, c.resultMeta(2).dtype));
  }
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("convolution_backward.default", backward),
};

ArrayRef<LowerRuleRow> convBackwardLowerRules() { return kRows; }

} // namespace ft
