//===- Unpool.cpp - Lowering of unpooling and fractional pools -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Max pools record the flat position of each maximum in its plane. Unpooling
// and the gradient of a fractional pool put values back there.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Updates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Ints = Dims;
using Cmp = ScalarBuilder::Cmp;

static Ints resultSizes(LowerCall &c, unsigned r) {
  return dimsOf(c.resultMeta(r));
}

/// (self, indices, output_size, …).
template <unsigned space>
static LogicalResult unpool(LowerCall &c) {
  c.setResult(0,
              foldAtPositions(c, c.operand(0), c.operand(1), resultSizes(c, 0),
                              space, Fold::Assign, c.resultMeta(0).dtype));
  return success();
}

/// (grad, self, kernel, output_size, indices).
template <unsigned space>
static LogicalResult gradient(LowerCall &c) {
  c.setResult(0,
              foldAtPositions(c, c.operand(0), c.operand(4), resultSizes(c, 0),
                              space, Fold::Sum, c.resultMeta(0).dtype));
  return success();
}

/// Window o of `count` in `size` elements starts at
/// int((o + u) * a) - int(u * a), a = (size - length) / (count - 1), where u is
/// the plane's random sample; the last window ends with the line.
static Value fractionalStart(LowerCall &c, ScalarBuilder &s, Value o,
                             Value sample, DType dtype, Dim size, Dim count,
                             Dim length) {
  auto number = [&](Dim n) { return c.sizeIn(s, n, DType::I64); };
  Value last = number(size - length);
  if (count.is(1))
    return last;
  // Computed in the dtype of the samples, as PyTorch's kernel does.
  Value a =
      s.div(c.sizeIn(s, size - length, dtype), c.sizeIn(s, count - 1, dtype));
  Value moved = s.mul(s.add(s.cast(o, DType::I64, dtype), sample), a);
  Value start = s.sub(s.cast(moved, dtype, DType::I64),
                      s.cast(s.mul(sample, a), dtype, DType::I64));
  return s.select(s.cmp(Cmp::Eq, o, number(count - 1)), last, start);
}

/// (self, kernel, output_size, random_samples[N, C, space]).
template <unsigned space>
static LogicalResult fractional(LowerCall &c) {
  LoweredTensor x = c.operand(0), samples = c.operand(3);
  Ints sizes = x.dims(), kernel = c.dimsArg(1, space);
  Ints counts = c.dimsArg(2, space);
  Ints outSizes = resultSizes(c, 0);
  Dim planes = product(ArrayRef<Dim>(sizes).drop_back(space));
  Ints flat = {planes};
  flat.append(sizes.end() - space, sizes.end());
  x = c.reshape(x, flat);
  Dim channels = samples.dims()[1];
  DType dtype = x.dtype, sampleType = samples.dtype;

  // Loops: plane, windows, taps.
  SmallVector<Iterator> iterators(1 + 2 * space, Iterator::Parallel);
  Access taps;
  Ints tapSizes(kernel), compact = {planes};
  SmallVector<AffineExpr, 6> index = {c.dim(0)};
  for (unsigned i = 0; i < space; ++i) {
    index.push_back(c.dim(1 + i));
    compact.push_back(counts[i]);
    iterators[1 + space + i] = Iterator::Reduction;
    taps.index.push_back(c.dim(1 + space + i));
  }
  taps.tensor = c.empty(tapSizes, dtype);
  SmallVector<LoweredTensor> r = c.generic(
      taps,
      {Access{filledWith(c, compact, lowestOf(dtype)), index},
       Access{filledWith(c, compact, highestOf(DType::I64)), index}},
      iterators, [&](ScalarBuilder &s, ValueRange v) {
        Value best = v[1], where = v[2], plane = loopIndex(s, 0), position;
        SmallVector<Value> at = {plane};
        for (unsigned i = 0; i < space; ++i) {
          // In two dims the samples stand in the order width, height.
          unsigned column = space == 2 ? 1 - i : i;
          Value width = c.sizeIn(s, channels, DType::I64);
          Value image = s.div(plane, width);
          Value sample = elementAt(s, samples,
                                   {image, s.sub(plane, s.mul(image, width)),
                                    s.constantInt(plane.getType(), column)});
          Dim size = flat[1 + i];
          Value here =
              s.add(fractionalStart(c, s, loopIndex(s, 1 + i), sample,
                                    sampleType, size, counts[i], kernel[i]),
                    loopIndex(s, 1 + space + i));
          at.push_back(here);
          position =
              position
                  ? s.add(s.mul(position, c.sizeIn(s, size, DType::I64)), here)
                  : here;
        }
        Value e = elementAt(s, x, at);
        Value first = arith::AndIOp::create(s.b, s.loc, s.cmp(Cmp::Eq, e, best),
                                            s.cmp(Cmp::Lt, position, where));
        Value take = arith::OrIOp::create(
            s.b, s.loc, s.cmp(Cmp::Gt, e, best),
            Value(arith::OrIOp::create(s.b, s.loc, isNan(s, e), first)));
        return SmallVector<Value>{s.select(take, e, best),
                                  s.select(take, position, where)};
      });
  c.setResult(0, c.reshape(r[0], outSizes));
  c.setResult(1, c.reshape(r[1], outSizes));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("fractional_max_pool2d.default", fractional<2>),
    anyShape("fractional_max_pool2d_backward.default", gradient<2>),
    anyShape("fractional_max_pool3d.default", fractional<3>),
    anyShape("fractional_max_pool3d_backward.default", gradient<3>),
    anyShape("max_unpool2d.default", unpool<2>),
    anyShape("max_unpool3d.default", unpool<3>),
};

ArrayRef<LowerRuleRow> unpoolLowerRules() { return kRows; }

} // namespace ft
