//===- ScanByBlocks.cpp - Running totals without a loop -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line is cut into blocks of 64. Every element adds up its own block as far
// as itself, and takes what the blocks before have in total, which is the same
// problem on a line that is 64 times shorter:
//
//   x       1 2 3 4 | 5 6 7 8          (blocks of 4)
//   within  1 3 6 10 | 5 11 18 26
//   totals  10 36, of those before: 0 10
//   result  1 3 6 10 | 15 21 28 36
//
// All elements of a step are independent. Cost: 64 steps for each element and
// two kernels more for each level; the last level, of short lines or the third,
// is done without blocks.

#include "compiler/lower/rules/ScanByBlocks.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Reducing.h"
#include "dialects/ft/TensorSizes.h"
#include "runtime/kernels/scan.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace ft {

static constexpr int64_t kBlock = 64;
static constexpr unsigned kLevels = 2;

namespace {
class BlockScan {
public:
  BlockScan(LowerCall &c, DType dtype, int64_t kind)
      : c(c), dtype(dtype), kind(kind) {}

  /// Along dim 1 of x[outer, n, inner]; `strict`: of what is before.
  LoweredTensor run(LoweredTensor x, bool strict, unsigned level);

private:
  double neutral() const {
    if (kind == FT_SCAN_SUM)
      return 0;
    return kind == FT_SCAN_PRODUCT ? 1
                                   : -std::numeric_limits<double>::infinity();
  }
  Value combine(ScalarBuilder &s, Value x, Value y) const;
  LoweredTensor apart(LoweredTensor x, bool strict);
  LoweredTensor totals(LoweredTensor x);

  LowerCall &c;
  DType dtype;
  int64_t kind;
};
} // namespace

Value BlockScan::combine(ScalarBuilder &s, Value x, Value y) const {
  if (kind == FT_SCAN_SUM)
    return s.add(x, y);
  if (kind == FT_SCAN_PRODUCT)
    return s.mul(x, y);
  // The larger one, and what the other adds to it; infinite ones add nothing.
  Value high = s.maximum(x, y), low = s.minimum(x, y);
  Value ratio = s.exp(s.sub(low, high));
  Value more = math::Log1pOp::create(s.b, s.loc, ratio);
  return s.select(s.cmp(ScalarBuilder::Cmp::Eq, high, low),
                  s.add(high, s.constant(high.getType(), std::log(2.0))),
                  s.select(s.cmp(ScalarBuilder::Cmp::Eq, ratio, s.zero(ratio)),
                           high, s.add(high, more)));
}

/// Every total by itself, from 0 to where it stands.
LoweredTensor BlockScan::apart(LoweredTensor x, bool strict) {
  LoweredTensor start = filledWith(c, x.dims(), {dtype, neutral(), {}});
  return c.generic(
      {{x, {c.dim(0), c.dim(3), c.dim(2)}}},
      {{start, {c.dim(0), c.dim(1), c.dim(2)}}},
      {Iterator::Parallel, Iterator::Parallel, Iterator::Parallel,
       Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        auto cmp = strict ? ScalarBuilder::Cmp::Lt : ScalarBuilder::Cmp::Le;
        Value isPart = s.cmp(cmp, iterationIndex(s, 3), iterationIndex(s, 1));
        Value none = s.constant(v[0].getType(), neutral());
        return SmallVector<Value>{
            combine(s, v[1], s.select(isPart, v[0], none))};
      })[0];
}

/// x[outer, block, inner] to [outer, inner].
LoweredTensor BlockScan::totals(LoweredTensor x) {
  return reduceTo(
      c, x, {1U}, false, {{dtype, neutral(), {}}}, [&](ReduceStep &step) {
        return SmallVector<Value>{
            combine(step.s, step.accumulators[0], step.elements[0])};
      })[0];
}

LoweredTensor BlockScan::run(LoweredTensor x, bool strict, unsigned level) {
  Dims sizes = x.dims();
  Dim outer = sizes[0], n = sizes[1], inner = sizes[2];
  if (level == kLevels || (n.isStatic() && n.value() <= 2 * kBlock))
    return apart(x, strict);
  Dim blocks = ceilDiv(n, kBlock), filled = blocks * kBlock;
  Dims split = {outer * blocks, kBlock, inner};
  LoweredTensor parts = c.reshape(
      c.pad(x, {0, 0, 0}, {Dim(0), filled - n, Dim(0)}, neutral()), split);
  LoweredTensor within = apart(parts, strict);
  LoweredTensor sums = c.reshape(totals(parts), {outer, blocks, inner});
  c.newGroup();
  LoweredTensor before = run(sums, true, level + 1);
  c.newGroup();
  LoweredTensor all = c.pointwise(
      {within, c.reshape(before, {split[0], Dim(1), inner})}, split, dtype,
      [&](ScalarBuilder &s, ValueRange v) { return combine(s, v[1], v[0]); });
  return c.slice(c.reshape(all, {outer, filled, inner}), 1, 0, n);
}

LoweredTensor scanByBlocks(LowerCall &c, LoweredTensor x, unsigned dim,
                           int64_t kind) {
  Dims sizes = x.dims();
  if (hasNoElements(sizes))
    return c.filled(sizes, x.dtype, 0);
  x = c.toRowMajor(x);
  Dim outer = product(ArrayRef<Dim>(sizes).take_front(dim));
  Dim inner = product(ArrayRef<Dim>(sizes).drop_front(dim + 1));
  c.newGroup();
  LoweredTensor y = BlockScan(c, x.dtype, kind)
                        .run(c.reshape(x, {outer, sizes[dim], inner}),
                             /*strict=*/false, 0);
  return c.reshape(y, sizes);
}

} // namespace ft
