//===- Scan.cpp - Lowering of cumulative operations ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A C kernel goes once along the dim (runtime/kernels/scan.c). It knows float32
// and float64, which both add up in double, their complex numbers, and 64-bit
// integers; other dtypes become one of these first.

#include "runtime/kernels/scan.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/ScanByBlocks.h"
#include "compiler/lower/rules/Updates.h"
#include "dialects/ft/Promotion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <array>
#include <limits>

using namespace mlir;

namespace ft {

using Ints = SmallVector<int64_t, 6>;

/// The dtype that the kernel takes for results of `dtype`.
static DType scanType(DType dtype) {
  DType wide = opmathType(dtype);
  return isFloating(wide) || isComplex(wide) ? wide : DType::I64;
}

/// The running totals of x, of a dtype that scanType gives.
static LoweredTensor scan(LowerCall &c, LoweredTensor x, unsigned dim,
                          int64_t kind) {
  bool hasBlocks = kind != FT_SCAN_LOG_SUM_EXP || !isComplex(x.dtype);
  if (isForGpu(c) && hasBlocks)
    return scanByBlocks(c, x, dim, kind);
  return callKernel(c, "scan", c.toRowMajor(x),
                    {Arg::integer(dim), Arg::integer(kind)},
                    {{x.dims(), x.dtype}}, {})[0];
}

/// The operand in the dtype to accumulate in, with at least one dim.
static LoweredTensor prepared(LowerCall &c, DType dtype) {
  // As the elements are in the result's dtype, which may be narrower.
  LoweredTensor x = c.cast(c.operand(0), c.resultMeta(0).dtype);
  x = c.cast(x, dtype);
  if (dtype != c.operand(0).dtype)
    c.newGroup();
  return x.rank() ? x : c.reshape(x, {1});
}

static LogicalResult finish(LowerCall &c, LoweredTensor y) {
  if (c.resultMeta(0).rank() == 0)
    y = c.reshape(y, {});
  c.setResult(0, c.cast(y, c.resultMeta(0).dtype));
  return success();
}

template <int64_t kind>
static LogicalResult cumulate(LowerCall &c) {
  LoweredTensor x = prepared(c, scanType(c.resultMeta(0).dtype));
  unsigned dim = LowerCall::wrapDim(c.integer(1), x.rank());
  return finish(c, scan(c, x, dim, kind));
}

/// The neighbours along `dim`: those to the left, those to the right.
static std::array<LoweredTensor, 2> neighbours(LowerCall &c, LoweredTensor t,
                                               unsigned dim) {
  int64_t n = t.sizes()[dim];
  return {
      c.slice(t, dim, 0, std::max<int64_t>(n - 1, 0)),
      c.slice(t, dim, std::min<int64_t>(n, 1), std::max<int64_t>(n - 1, 0))};
}

/// y[i] + y[i + 1], in the dtype of y as PyTorch adds them: small integers
/// wrap.
static LoweredTensor heights(LowerCall &c, LoweredTensor y, unsigned dim) {
  auto ends = neighbours(c, y, dim);
  DType acc = opmathType(y.dtype);
  return c.pointwise(
      ends, ends[0].sizes(), y.dtype, [&](ScalarBuilder &s, ValueRange v) {
        Value sum =
            s.add(s.cast(v[0], y.dtype, acc), s.cast(v[1], y.dtype, acc));
        return s.cast(sum, acc, y.dtype);
      });
}

/// x[i + 1] - x[i] for the `x` of a call, which is one vector along `dim` or
/// has as many trailing dims as it likes.
static LoweredTensor widths(LowerCall &c, LoweredTensor x, unsigned rank,
                            unsigned dim) {
  Ints own = x.sizes(), full(rank, 1);
  if (own.size() == 1)
    full[dim] = own[0];
  else
    llvm::copy(own, full.end() - static_cast<ptrdiff_t>(own.size()));
  auto ends = neighbours(c, c.reshape(x, full), dim);
  DType acc = opmathType(x.dtype);
  return c.pointwise(
      ends, ends[0].sizes(), x.dtype, [&](ScalarBuilder &s, ValueRange v) {
        Value d = s.sub(s.cast(v[1], x.dtype, acc), s.cast(v[0], x.dtype, acc));
        return s.cast(d, acc, x.dtype);
      });
}

/// The areas of the trapezoids between neighbours: (y, dx or x, dim). The
/// product of integers is one, too.
static LoweredTensor trapezoids(LowerCall &c, unsigned dim) {
  LoweredTensor y = c.operand(0), high = heights(c, y, dim);
  DType acc = opmathType(c.resultMeta(0).dtype);
  if (c.call().args[1].kind != Arg::Tensor)
    return c.pointwise(
        high, high.sizes(), acc, [&](ScalarBuilder &s, ValueRange v) {
          Value h = s.cast(v[0], y.dtype, acc);
          return s.mul(h, s.constant(h.getType(), c.number(1) / 2));
        });
  LoweredTensor x = c.operand(1), wide = widths(c, x, y.rank(), dim);
  TypePromotion types;
  types.add(c.meta(0));
  types.add(c.meta(1));
  DType product = opmathType(types.result().value_or(acc));
  return c.pointwise({high, wide}, high.sizes(), acc,
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value area = s.mul(s.cast(v[0], y.dtype, product),
                                          s.cast(v[1], x.dtype, product));
                       area = s.cast(area, product, acc);
                       return s.mul(area, s.constant(area.getType(), 0.5));
                     });
}

static LogicalResult trapezoid(LowerCall &c) {
  LoweredTensor y = c.operand(0);
  unsigned dim = LowerCall::wrapDim(c.integer(2), y.rank());
  DType dtype = c.resultMeta(0).dtype, acc = opmathType(dtype);
  bool spaced = c.call().args[1].kind == Arg::Tensor;
  int64_t n = y.sizes()[dim];
  if (spaced || n == 0) {
    LoweredTensor areas = trapezoids(c, dim);
    c.setResult(0, c.cast(sumOf(c, areas, dim, false, acc), dtype));
    return success();
  }
  // All, less half of both ends.
  LoweredTensor sum = sumOf(c, y, dim, true, acc);
  LoweredTensor total = c.pointwise(
      {sum, c.slice(y, dim, 0, 1), c.slice(y, dim, n - 1, 1)}, sum.sizes(),
      dtype, [&](ScalarBuilder &s, ValueRange v) {
        DType narrow = opmathType(y.dtype);
        Value ends =
            s.add(s.cast(v[1], y.dtype, narrow), s.cast(v[2], y.dtype, narrow));
        ends = s.cast(ends, narrow, acc);
        Value inner = s.sub(v[0], s.mul(ends, s.constant(ends.getType(), 0.5)));
        inner = s.mul(inner, s.constant(inner.getType(), c.number(1)));
        return s.cast(inner, acc, dtype);
      });
  c.setResult(0, c.reshape(total, staticSizes(c.resultMeta(0))));
  return success();
}

static LogicalResult cumulativeTrapezoid(LowerCall &c) {
  unsigned dim = LowerCall::wrapDim(c.integer(2), c.operand(0).rank());
  LoweredTensor areas = trapezoids(c, dim);
  c.newGroup();
  areas = c.cast(areas, scanType(areas.dtype));
  return finish(c, scan(c, areas, dim, FT_SCAN_SUM));
}

static LogicalResult logcumsumexp(LowerCall &c) {
  if (isIntegral(c.operand(0).dtype))
    return c.unsupported("a running logarithm of integers");
  return cumulate<FT_SCAN_LOG_SUM_EXP>(c);
}

/// The same without the kernel: every element looks at all up to itself.
static SmallVector<LoweredTensor> extremesApart(LowerCall &c, LoweredTensor x,
                                                unsigned dim, bool wantMax) {
  using Cmp = ScalarBuilder::Cmp;
  DType from = x.dtype, dtype = from == DType::Bool ? DType::I8 : from;
  unsigned rank = x.rank();
  SmallVector<AffineExpr, 6> here, before;
  for (unsigned d = 0; d < rank; ++d) {
    here.push_back(c.dim(d));
    before.push_back(c.dim(d == dim ? rank : d));
  }
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  iterators.push_back(Iterator::Reduction);
  Start worst = wantMax ? lowestOf(dtype) : highestOf(dtype);
  LoweredTensor start = filledWith(c, x.dims(), worst);
  SmallVector<LoweredTensor> r = c.generic(
      Access{x, before},
      {Access{start, here},
       Access{c.filledInt(x.dims(), DType::I64, -1), here}},
      iterators, [&](ScalarBuilder &s, ValueRange v) {
        auto both = [&](Value a, Value b) -> Value {
          return arith::AndIOp::create(s.b, s.loc, a, b);
        };
        auto either = [&](Value a, Value b) -> Value {
          return arith::OrIOp::create(s.b, s.loc, a, b);
        };
        Value e = s.cast(v[0], from, dtype), best = v[1], where = v[2];
        Value at = fromIndex(s, iterationIndex(s, rank), DType::I64);
        Value isPart =
            s.cmp(Cmp::Le, iterationIndex(s, rank), iterationIndex(s, dim));
        // Places are compared too: any order of the elements is right.
        Value isLater = s.cmp(Cmp::Gt, at, where);
        Value better =
            s.cmp(wantMax ? Cmp::Gt : Cmp::Lt, e, best, isUnsigned(dtype));
        Value take = either(better, both(s.cmp(Cmp::Eq, e, best), isLater));
        if (isFloating(dtype)) {
          Value nan = isNan(s, e), number = s.cmp(Cmp::Eq, best, best);
          take = either(take, both(nan, either(number, isLater)));
        }
        take = both(isPart, take);
        return SmallVector<Value>{s.select(take, e, best),
                                  s.select(take, at, where)};
      });
  r[0] = c.cast(r[0], from);
  return r;
}

/// Values and positions together; of equal values the last, and NaN stays.
template <bool wantMax>
static LogicalResult extreme(LowerCall &c) {
  if (isComplex(c.operand(0).dtype))
    return c.unsupported("complex numbers have no order");
  LoweredTensor x = prepared(c, c.operand(0).dtype);
  unsigned dim = LowerCall::wrapDim(c.integer(1), x.rank());
  SmallVector<LoweredTensor> found =
      isForGpu(c)
          ? extremesApart(c, x, dim, wantMax)
          : callKernel(c, "scan_extreme", c.toRowMajor(x),
                       {Arg::integer(dim), Arg::truth(wantMax)},
                       {{x.dims(), x.dtype}, {x.dims(), DType::I64}}, {});
  for (unsigned r : {0U, 1U})
    c.setResult(r, c.resultMeta(r).rank() == 0 ? c.reshape(found[r], {})
                                               : found[r]);
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// (grad, input, indices, dim): what was the extreme gets the gradient.
static LogicalResult extremeBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), at = c.operand(2);
  const TensorMeta &meta = c.resultMeta(0);
  auto rank = static_cast<unsigned>(meta.rank());
  if (rank == 0) {
    c.setResult(0, c.cast(grad, meta.dtype));
    return success();
  }
  unsigned dim = LowerCall::wrapDim(c.integer(3), rank);
  Updates u;
  u.fold = Fold::Sum;
  u.sizes = dimsOf(meta);
  u.dtype = meta.dtype;
  u.loops = rank;
  for (unsigned d = 0; d < rank; ++d)
    u.from.push_back(d == dim ? UpdatePlace{UpdatePlace::Index, 0}
                              : UpdatePlace{UpdatePlace::Loop, d});
  u.values = grad;
  u.indices = {at};
  c.setResult(0, foldUpdates(c, u));
  return success();
}

static LoweredTensor reversed(LowerCall &c, LoweredTensor t, unsigned dim) {
  SmallVector<AffineExpr, 6> from, to;
  for (unsigned d = 0; d < t.rank(); ++d) {
    to.push_back(c.dim(d));
    from.push_back(d == dim ? c.constant(t.sizes()[d] - 1) - c.dim(d)
                            : c.dim(d));
  }
  SmallVector<Iterator> iterators(t.rank(), Iterator::Parallel);
  LoweredTensor r =
      c.generic(Access{t, from}, Access{c.empty(t.sizes(), t.dtype), to},
                iterators, [](ScalarBuilder &, ValueRange v) {
                  return SmallVector<Value>{v[0]};
                })[0];
  c.newGroup();
  return r;
}

/// Each element and all that follow it, of the products of two tensors.
static LoweredTensor sumsFromHere(LowerCall &c, LoweredTensor a,
                                  LoweredTensor b, unsigned dim) {
  LoweredTensor products = c.pointwise(
      {a, b}, a.sizes(), a.dtype,
      [](ScalarBuilder &s, ValueRange v) { return s.mul(v[0], v[1]); });
  c.newGroup();
  LoweredTensor sums = scan(c, reversed(c, products, dim), dim, FT_SCAN_SUM);
  return reversed(c, sums, dim);
}

/// (grad, input, dim, output). Without zeros, element k gets the sum over
/// j >= k of grad[j] output[j], over x[k]. That also holds in front of the
/// first zero; the first zero itself gets the same sum with it left out of the
/// products, and nothing depends on what follows.
///
///   x [2 0 3]: slopes (1 + 0 + 0, 2 + 2 * 3, 0) for gradients of 1
static LogicalResult cumprodBackward(LowerCall &c) {
  using Cmp = ScalarBuilder::Cmp;
  const TensorMeta &meta = c.resultMeta(0);
  DType dtype = opmathType(meta.dtype);
  LoweredTensor grad = c.cast(c.operand(0), dtype);
  if (meta.numel().is(0) || meta.rank() == 0) {
    c.setResult(0, c.cast(grad, meta.dtype));
    return success();
  }
  LoweredTensor x = c.cast(c.operand(1), dtype);
  LoweredTensor output = c.cast(c.operand(3), dtype);
  if (isComplex(dtype))
    for (LoweredTensor *t : {&x, &output})
      *t = c.pointwise(*t, t->sizes(), dtype,
                       [](ScalarBuilder &s, ValueRange v) -> Value {
                         return complex::ConjOp::create(s.b, s.loc, v[0]);
                       });
  unsigned dim = LowerCall::wrapDim(c.integer(2), x.rank());
  LoweredTensor zeros =
      c.pointwise(x, x.sizes(), DType::I64, [](ScalarBuilder &s, ValueRange v) {
        return s.cast(s.cmp(Cmp::Eq, v[0], s.zero(v[0])), DType::Bool,
                      DType::I64);
      });
  c.newGroup();
  zeros = scan(c, zeros, dim, FT_SCAN_SUM);
  auto isFirst = [](ScalarBuilder &s, Value x, Value count) {
    return s.mul(s.cmp(Cmp::Eq, x, s.zero(x)),
                 s.cmp(Cmp::Eq, count, s.one(count)));
  };
  LoweredTensor others = c.pointwise(
      {x, zeros}, x.sizes(), dtype, [&](ScalarBuilder &s, ValueRange v) {
        return s.select(isFirst(s, v[0], v[1]), s.one(v[0]), v[0]);
      });
  c.newGroup();
  others = scan(c, others, dim, FT_SCAN_PRODUCT);
  LoweredTensor before = sumsFromHere(c, grad, output, dim);
  LoweredTensor at = sumsFromHere(c, grad, others, dim);
  c.setResult(0, c.pointwise({x, zeros, before, at}, x.sizes(), meta.dtype,
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value none = s.cmp(Cmp::Eq, v[1], s.zero(v[1]));
                               Value behind = s.select(isFirst(s, v[0], v[1]),
                                                       v[3], s.zero(v[3]));
                               Value y =
                                   s.select(none, s.div(v[2], v[0]), behind);
                               return s.cast(y, dtype, meta.dtype);
                             }));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("cummax.default", extreme<true>),
    anyShape("cummin.default", extreme<false>),
    {"cummaxmin_backward.default", extremeBackward},
    anyShape("cumprod.default", cumulate<FT_SCAN_PRODUCT>),
    {"cumprod_backward.default", cumprodBackward},
    anyShape("cumsum.default", cumulate<FT_SCAN_SUM>),
    {"cumulative_trapezoid.dx", cumulativeTrapezoid},
    {"cumulative_trapezoid.x", cumulativeTrapezoid},
    anyShape("_logcumsumexp.default", logcumsumexp),
    anyShape("logcumsumexp.default", logcumsumexp),
    {"trapezoid.dx", trapezoid},
    {"trapezoid.x", trapezoid},
    {"trapz.dx", trapezoid},
    {"trapz.x", trapezoid},
};

ArrayRef<LowerRuleRow> scanLowerRules() { return kRows; }

} // namespace ft
