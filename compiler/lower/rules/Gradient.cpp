//===- Gradient.cpp - Lowering of differences along dims -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch.gradient: the slope at each point from its neighbours. With distances
// l to the left and r to the right neighbour,
//
//   inside   -r/(l (l + r)) f[i-1] + (r - l)/(l r) f[i] + l/(r (l + r)) f[i+1]
//   edges    (f[1] - f[0]) / r, or the parabola through three points
//
// All three are a weighted sum of three neighbours, of which the first is
// clamped to 0 … n - 3 (n - 2 for the straight line).

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Reducing.h"

using namespace mlir;

namespace ft {

namespace {
/// The distances between points along a dim: a number, or coordinates.
struct Spacing {
  double step = 1;
  LoweredTensor points;
};
} // namespace

static LoweredTensor slopeAlong(LowerCall &c, LoweredTensor x, unsigned dim,
                                const Spacing &spacing, bool parabola,
                                const TensorMeta &meta) {
  DType acc = opmathType(meta.dtype), from = x.dtype;
  int64_t n = x.sizes()[dim];
  return generate(
      c, x.sizes(), meta.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        using Cmp = ScalarBuilder::Cmp;
        Value i = at[dim];
        auto whole = [&](int64_t v) { return s.constantInt(i.getType(), v); };
        Value first = s.cmp(Cmp::Eq, i, whole(0));
        Value last = s.cmp(Cmp::Eq, i, whole(n - 1));
        // Three neighbouring points; of two points, the second twice.
        Value start = s.sub(i, whole(1));
        start = s.minimum(s.maximum(start, whole(0)),
                          whole(std::max<int64_t>(n - 3, 0)));
        Value index[3] = {start,
                          s.minimum(s.add(start, whole(1)), whole(n - 1)),
                          s.minimum(s.add(start, whole(2)), whole(n - 1))};
        Value f[3], p[3];
        for (int k = 0; k < 3; ++k) {
          SmallVector<Value> where(at);
          where[dim] = index[k];
          f[k] = s.cast(readAt(s, x, where), from, acc);
          if (spacing.points.value)
            p[k] = s.cast(readAt(s, spacing.points, index[k]),
                          spacing.points.dtype, acc);
        }
        Type type = f[0].getType();
        Value l = s.constant(type, spacing.step), r = l;
        if (spacing.points.value) {
          l = s.sub(p[1], p[0]);
          r = s.sub(p[2], p[1]);
        }
        Value both = s.add(l, r), zero = s.zero(l);
        // That of the parabola through the points, x behind the first: a sum of
        // weighted values, so that one infinite value is no two.
        auto slopeAt = [&](Value x) {
          Value two = s.add(x, x);
          Value a = s.div(s.sub(two, s.add(l, both)), s.mul(l, both));
          Value b = s.div(s.sub(both, two), s.mul(l, r));
          Value d = s.div(s.sub(two, l), s.mul(r, both));
          return s.add(s.add(s.mul(a, f[0]), s.mul(b, f[1])), s.mul(d, f[2]));
        };
        Value inside =
            spacing.points.value ? slopeAt(l) : s.div(s.sub(f[2], f[0]), both);
        // PyTorch subtracts at the edges in the operand's dtype.
        auto edge = [&](Value a, Value b, Value by) {
          Value d = s.cast(s.cast(s.sub(a, b), acc, from), from, acc);
          return s.div(d, by);
        };
        Value low = edge(f[1], f[0], l), high = edge(f[2], f[1], r);
        if (parabola) {
          low = slopeAt(zero);
          high = slopeAt(both);
        }
        // Of two points, the second stands twice.
        Value y =
            n == 2 ? low : s.select(first, low, s.select(last, high, inside));
        return s.cast(y, acc, meta.dtype);
      });
}

/// (self, spacing, dim, edge_order), of which spacing may be missing.
static LogicalResult gradient(LowerCall &c) {
  const Schema &schema = *c.call().schema;
  LoweredTensor x = c.operand(0);
  int spacing = schema.argIndex("spacing");
  auto dimArg = static_cast<unsigned>(schema.argIndex("dim"));
  bool parabola =
      c.integer(static_cast<unsigned>(schema.argIndex("edge_order"))) == 2;
  SmallVector<unsigned> dims;
  const Arg &dim = c.call().args[dimArg];
  if (dim.kind == Arg::List)
    for (int64_t d : c.integers(dimArg))
      dims.push_back(LowerCall::wrapDim(d, x.rank()));
  else if (dim.isNone())
    dims = allDims(x.rank());
  else
    dims.push_back(LowerCall::wrapDim(c.integer(dimArg), x.rank()));
  for (auto [k, d] : llvm::enumerate(dims)) {
    Spacing along;
    const Arg *arg = spacing < 0 ? nullptr : &c.call().args[spacing];
    if (arg && arg->kind == Arg::List)
      arg = &arg->list[k];
    if (arg && arg->kind == Arg::Tensor)
      along.points = c.operandOf(c.call().operands[arg->operand]);
    else if (arg && arg->kind == Arg::Complex)
      return c.unsupported("a complex spacing");
    else if (arg && !arg->isNone())
      along.step = arg->kind == Arg::Int ? static_cast<double>(arg->dim.value())
                                         : arg->real;
    auto r = static_cast<unsigned>(k);
    c.setResult(r, slopeAlong(c, x, d, along, parabola, c.resultMeta(r)));
    c.newGroup();
  }
  return success();
}

ArrayRef<LowerRuleRow> gradientLowerRules() {
  static const LowerRuleRow rows[] = {
      {"gradient.array", gradient},
      {"gradient.scalararray", gradient},
      {"gradient.scalarint", gradient},
      {"gradient.scalarrayarray", gradient},
      {"gradient.scalarrayint", gradient},
      {"gradient.tensorarray", gradient},
      {"gradient.tensorarrayint", gradient},
  };
  return rows;
}

} // namespace ft
