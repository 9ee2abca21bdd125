//===- Unpool.cpp - Lowering of unpooling and fractional pools -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Max pools record the flat position of each maximum in its plane. Unpooling
// and the gradient of a fractional pool put values back there.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Updates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Ints = SmallVector<int64_t, 6>;
using Cmp = ScalarBuilder::Cmp;

static Ints resultSizes(LowerCall &c, unsigned r) {
  Ints sizes;
  for (const Dim &d : c.resultMeta(r).sizes)
    sizes.push_back(d.value());
  return sizes;
}

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t n = 1;
  for (int64_t s : sizes)
    n *= s;
  return n;
}

/// Result 0 gets values[plane, i] at positions[plane, i]; of several for one
/// position the sum, or the last.
static void placeByPosition(LowerCall &c, LoweredTensor values,
                            LoweredTensor positions, unsigned space, bool sum) {
  Ints in = values.sizes(), out = resultSizes(c, 0);
  int64_t planes = product(ArrayRef(in).drop_back(space));
  int64_t many = product(ArrayRef(in).take_back(space));
  int64_t places = product(ArrayRef(out).take_back(space));
  values = c.reshape(values, {planes, many});
  positions = c.reshape(positions, {planes, many});
  Updates u;
  u.fold = sum ? Fold::Sum : Fold::Assign;
  u.sizes = {planes, places};
  u.dtype = c.resultMeta(0).dtype;
  u.loops = 2;
  u.from = {{UpdatePlace::Loop, 0}, {UpdatePlace::Index, 0}};
  u.values = values;
  u.indices = {positions};
  u.loopsOfIndex = true;
  c.setResult(0, c.reshape(foldUpdates(c, u), out));
}

/// (self, indices, output_size, …).
template <unsigned space>
static LogicalResult unpool(LowerCall &c) {
  placeByPosition(c, c.operand(0), c.operand(1), space, false);
  return success();
}

/// (grad, self, kernel, output_size, indices).
template <unsigned space>
static LogicalResult gradient(LowerCall &c) {
  placeByPosition(c, c.operand(0), c.operand(4), space, true);
  return success();
}

/// Window o of `count` in `size` elements starts at
/// int((o + u) * a) - int(u * a), a = (size - length) / (count - 1), where u is
/// the plane's random sample; the last window ends with the line.
static Value fractionalStart(ScalarBuilder &s, Value o, Value sample,
                             DType dtype, int64_t size, int64_t count,
                             int64_t length) {
  auto number = [&](int64_t n) { return s.constantInt(o.getType(), n); };
  Value last = number(size - length);
  if (count == 1)
    return last;
  // Computed in the dtype of the samples, as PyTorch's kernel does.
  Value a =
      s.div(s.constant(sample.getType(), static_cast<double>(size - length)),
            s.constant(sample.getType(), static_cast<double>(count - 1)));
  Value moved = s.mul(s.add(s.cast(o, DType::I64, dtype), sample), a);
  Value start = s.sub(s.cast(moved, dtype, DType::I64),
                      s.cast(s.mul(sample, a), dtype, DType::I64));
  return s.select(s.cmp(Cmp::Eq, o, number(count - 1)), last, start);
}

/// (self, kernel, output_size, random_samples[N, C, space]).
template <unsigned space>
static LogicalResult fractional(LowerCall &c) {
  LoweredTensor x = c.operand(0), samples = c.operand(3);
  Ints sizes = x.sizes(), kernel = c.integers(1), counts = c.integers(2);
  Ints outSizes = resultSizes(c, 0);
  int64_t planes = product(ArrayRef(sizes).drop_back(space));
  Ints flat = {planes};
  flat.append(sizes.end() - space, sizes.end());
  x = c.reshape(x, flat);
  samples = c.reshape(samples, {planes, space});
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
          Value sample = elementAt(
              s, samples, {plane, s.constantInt(plane.getType(), column)});
          int64_t size = flat[1 + i];
          Value here =
              s.add(fractionalStart(s, loopIndex(s, 1 + i), sample, sampleType,
                                    size, counts[i], kernel[i]),
                    loopIndex(s, 1 + space + i));
          at.push_back(here);
          position =
              position
                  ? s.add(s.mul(position, s.constantInt(here.getType(), size)),
                          here)
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
    {"fractional_max_pool2d.default", fractional<2>},
    {"fractional_max_pool2d_backward.default", gradient<2>},
    {"fractional_max_pool3d.default", fractional<3>},
    {"fractional_max_pool3d_backward.default", gradient<3>},
    {"max_unpool2d.default", unpool<2>},
    {"max_unpool3d.default", unpool<3>},
};

ArrayRef<LowerRuleRow> unpoolLowerRules() { return kRows; }

} // namespace ft
