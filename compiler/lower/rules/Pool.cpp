//===- Pool.cpp - Lowering of pooling --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace ft {

/// The windows of (self, kernel, stride, padding, …): as many spatial dims as
/// the operator's name says.
static SmallVector<WindowDim> windowsOf(LowerCall &c, unsigned space,
                                        int dilationArg) {
  return stridedWindows(c, 1, dilationArg, c.operand(0).dims(),
                        dimsOf(c.resultMeta(0)), space);
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

static double asDouble(const Start &start) {
  return start.exact ? static_cast<double>(*start.exact) : start.number;
}

/// Values alone: one maximum per tap. Padding never wins, NaN always does.
static LoweredTensor maxValues(LowerCall &c, LoweredTensor x,
                               ArrayRef<WindowDim> dims) {
  Start lowest = lowestOf(x.dtype);
  bool masked =
      llvm::any_of(dims, [](const WindowDim &d) { return !isUniform(d); });
  return reduceWindows(
      c, x, dims, asDouble(lowest), lowest, [&](WindowStep &w) {
        Value best =
            w.s.maximum(w.accumulators[0], w.element, isUnsigned(x.dtype));
        if (masked)
          best = w.s.select(w.inside(), best, w.accumulators[0]);
        return SmallVector<Value>{best};
      })[0];
}

/// Values and the flat position of the first maximum (of a NaN if there is
/// one). Positions are compared, so that the order of taps does not matter.
static SmallVector<LoweredTensor>
maxWithPositions(LowerCall &c, LoweredTensor x, ArrayRef<WindowDim> dims) {
  Start lowest = lowestOf(x.dtype), last = highestOf(DType::I64);
  return reduceWindows(
      c, x, dims, asDouble(lowest), {lowest, last}, [&](WindowStep &w) {
        using Cmp = ScalarBuilder::Cmp;
        ScalarBuilder &s = w.s;
        Value x0 = w.element, best = w.accumulators[0];
        Value at = w.flatPosition(), where = w.accumulators[1];
        auto both = [&](Value a, Value b) -> Value {
          return arith::AndIOp::create(s.b, s.loc, a, b);
        };
        auto either = [&](Value a, Value b) -> Value {
          return arith::OrIOp::create(s.b, s.loc, a, b);
        };
        Value better =
            either(s.cmp(Cmp::Gt, x0, best, isUnsigned(x.dtype)),
                   either(isNan(s, x0), both(s.cmp(Cmp::Eq, x0, best),
                                             s.cmp(Cmp::Lt, at, where))));
        Value take = both(w.inside(), better);
        return SmallVector<Value>{s.select(take, x0, best),
                                  s.select(take, at, where)};
      });
}

template <unsigned space>
static LogicalResult maxPool(LowerCall &c) {
  c.setResult(0, maxValues(c, c.operand(0), windowsOf(c, space, 4)));
  return success();
}

template <unsigned space>
static LogicalResult maxPoolWithIndices(LowerCall &c) {
  SmallVector<LoweredTensor> results =
      maxWithPositions(c, c.operand(0), windowsOf(c, space, 4));
  c.setResult(0, results[0]);
  c.setResult(1, results[1]);
  return success();
}

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

static LoweredTensor windowSums(LowerCall &c, LoweredTensor x,
                                ArrayRef<WindowDim> dims) {
  DType sum = opmathType(x.dtype);
  bool masked =
      llvm::any_of(dims, [](const WindowDim &d) { return !isUniform(d); });
  return reduceWindows(
      c, x, dims, 0, Start{sum, 0, std::nullopt}, [&](WindowStep &w) {
        Value v = w.s.cast(w.element, x.dtype, sum);
        if (masked)
          v = w.s.select(w.inside(), v, w.s.zero(v));
        return SmallVector<Value>{w.s.add(w.accumulators[0], v)};
      })[0];
}

/// How many elements all windows of one dim count; nothing if they differ, or
/// if that is not known.
static std::optional<int64_t> commonLength(const WindowDim &d,
                                           bool countPadding) {
  if (!d.isStatic())
    return std::nullopt;
  std::optional<int64_t> common;
  for (int64_t o = 0; o < d.count.value(); ++o) {
    Dim start = d.startOf(o);
    Dim end = d.adaptive ? d.adaptiveEnd(o)
                         : minDim(start + d.length, d.size + d.low);
    if (!d.adaptive && !countPadding) {
      start = maxDim(start, 0);
      end = minDim(end, d.size);
    }
    int64_t length = (end - start).value();
    if (common.value_or(length) != length)
      return std::nullopt;
    common = length;
  }
  return common.value_or(1);
}

/// Divides each window's sum by the number of elements it counts: a constant if
/// all windows agree, else computed from the window's position.
static LoweredTensor divideByCount(LowerCall &c, LoweredTensor sums,
                                   ArrayRef<WindowDim> dims, bool countPadding,
                                   std::optional<int64_t> divisor,
                                   DType dtype) {
  DType sum = sums.dtype;
  unsigned lead = sums.rank() - static_cast<unsigned>(dims.size());
  std::optional<int64_t> product = 1;
  for (const WindowDim &d : dims) {
    std::optional<int64_t> length = commonLength(d, countPadding);
    product =
        product && length ? std::optional(*product * *length) : std::nullopt;
  }
  if (!divisor)
    divisor = product;
  return mapWithPosition(
      c, sums, dtype, [&](ScalarBuilder &s, Value v, ArrayRef<unsigned> loops) {
        if (divisor)
          return s.cast(s.div(v, s.constantInt(v.getType(), *divisor)), sum,
                        dtype);
        Value by;
        for (auto [i, d] : llvm::enumerate(dims)) {
          Value count =
              elementsOf(c, s, d, loopIndex(s, loops[lead + i]), countPadding);
          by = by ? s.mul(by, count) : count;
        }
        return s.cast(s.div(v, s.cast(by, DType::I64, sum)), sum, dtype);
      });
}

/// (self, kernel, stride, padding, ceil_mode, count_include_pad,
/// divisor_override); the last only from two dims on.
template <unsigned space>
static LogicalResult avgPool(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  SmallVector<WindowDim> dims = windowsOf(c, space, -1);
  std::optional<int64_t> divisor;
  if (c.call().args.size() > 6 && !c.isNone(6))
    divisor = c.integer(6);
  c.setResult(0, divideByCount(c, windowSums(c, x, dims), dims, c.flag(5),
                               divisor, x.dtype));
  return success();
}

//===----------------------------------------------------------------------===//
// Adaptive
//===----------------------------------------------------------------------===//

static SmallVector<WindowDim> adaptiveOf(LowerCall &c, unsigned space) {
  LoweredTensor x = c.operand(0);
  unsigned lead = x.rank() - space;
  SmallVector<WindowDim> dims;
  for (unsigned i = 0; i < space; ++i)
    dims.push_back(
        adaptiveWindows(x.dims()[lead + i], c.resultMeta(0).sizes[lead + i]));
  return dims;
}

template <unsigned space>
static LogicalResult adaptiveAvg(LowerCall &c) {
  LoweredTensor x = c.operand(0), sums;
  SmallVector<WindowDim> dims = adaptiveOf(c, space);
  if (llvm::all_of(dims, [](const WindowDim &d) { return d.count.is(1); })) {
    // One window is the whole image: a plain reduction.
    SmallVector<unsigned> reduced;
    for (unsigned i = 0; i < space; ++i)
      reduced.push_back(x.rank() - space + i);
    sums = sumOf(c, x, reduced, true, opmathType(x.dtype));
  } else {
    sums = windowSums(c, x, dims);
  }
  c.setResult(0, divideByCount(c, sums, dims, true, std::nullopt, x.dtype));
  return success();
}

template <unsigned space>
static LogicalResult adaptiveMax(LowerCall &c) {
  SmallVector<LoweredTensor> results =
      maxWithPositions(c, c.operand(0), adaptiveOf(c, space));
  c.setResult(0, results[0]);
  c.setResult(1, results[1]);
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_adaptive_avg_pool2d.default", adaptiveAvg<2>),
    anyShape("_adaptive_avg_pool3d.default", adaptiveAvg<3>),
    anyShape("adaptive_avg_pool1d.default", adaptiveAvg<1>),
    anyShape("adaptive_avg_pool2d.default", adaptiveAvg<2>),
    anyShape("adaptive_avg_pool3d.default", adaptiveAvg<3>),
    anyShape("adaptive_max_pool1d.default", adaptiveMax<1>),
    anyShape("adaptive_max_pool2d.default", adaptiveMax<2>),
    anyShape("adaptive_max_pool3d.default", adaptiveMax<3>),
    anyShape("avg_pool1d.default", avgPool<1>),
    anyShape("avg_pool2d.default", avgPool<2>),
    anyShape("avg_pool3d.default", avgPool<3>),
    anyShape("max_pool1d.default", maxPool<1>),
    anyShape("max_pool1d_with_indices.default", maxPoolWithIndices<1>),
    anyShape("max_pool2d.default", maxPool<2>),
    anyShape("max_pool2d_with_indices.default", maxPoolWithIndices<2>),
    anyShape("max_pool3d.default", maxPool<3>),
    anyShape("max_pool3d_with_indices.default", maxPoolWithIndices<3>),
};

ArrayRef<LowerRuleRow> poolLowerRules() { return kRows; }

} // namespace ft
