//===- Matmul.cpp - Lowering of matrix products ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Contract.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace ft {

static Source source(LowerCall &c, unsigned arg) {
  return {c.operand(arg), c.call().tensor(arg)};
}

static LoweredTensor optional(LowerCall &c, unsigned arg) {
  return c.isNone(arg) ? LoweredTensor() : c.operand(arg);
}

/// A number argument in the type that the body computes in, exact for integers.
static Value numberIn(LowerCall &c, ScalarBuilder &s, const Arg &arg,
                      DType dtype) {
  if (!arg.dim.isStatic())
    return c.sizeIn(s, arg.dim, dtype);
  Type type = computeType(s.b.getContext(), dtype);
  if (arg.kind == Arg::Int && isa<IntegerType>(type))
    return s.constantInt(type, arg.dim.value());
  if (arg.kind == Arg::Complex && isComplex(dtype)) {
    auto element = cast<ComplexType>(type).getElementType();
    return complex::CreateOp::create(s.b, s.loc, type,
                                     s.constant(element, arg.real),
                                     s.constant(element, arg.imag));
  }
  double number = arg.kind == Arg::Int    ? static_cast<double>(arg.dim.value())
                  : arg.kind == Arg::Bool ? (arg.boolean ? 1 : 0)
                                          : arg.real;
  return s.constant(type, number);
}

static bool isNumber(const Arg &arg, int64_t value) {
  return (arg.kind == Arg::Int && arg.dim.is(value)) ||
         (arg.kind == Arg::Bool && arg.boolean == (value == 1) &&
          (value == 0 || value == 1)) ||
         (arg.kind == Arg::Float && arg.real == static_cast<double>(value));
}

/// beta * self + alpha * product, rounded once. `self` is not read if beta is
/// 0: its NaNs do not count.
static LogicalResult scaledSum(
    LowerCall &c, LoweredTensor product,
    llvm::function_ref<Value(ScalarBuilder &, Value)> activation = nullptr) {
  const Arg &beta = c.call().arg("beta"), &alpha = c.call().arg("alpha");
  DType sum = product.dtype, dtype = c.resultMeta(0).dtype;
  SmallVector<LoweredTensor> ins = {product};
  bool withSelf = !isNumber(beta, 0);
  if (withSelf)
    ins.push_back(c.operand(0));
  DType selfType = c.meta(0).dtype;
  c.setResult(
      0, c.pointwise(ins, c.resultMeta(0), [&](ScalarBuilder &s, ValueRange v) {
        Value y = v[0];
        if (!isNumber(alpha, 1))
          y = s.mul(numberIn(c, s, alpha, sum), y);
        if (withSelf) {
          Value x = s.cast(v[1], selfType, sum);
          if (!isNumber(beta, 1))
            x = s.mul(numberIn(c, s, beta, sum), x);
          y = s.add(y, x);
        }
        if (activation)
          y = activation(s, y);
        return s.cast(y, sum, dtype);
      }));
  return success();
}

/// mm, bmm, mv, dot, matmul, linalg_matmul…: (self, other).
static LogicalResult product(LowerCall &c) {
  c.setResult(0, c.cast(multiply(c, source(c, 0), source(c, 1)),
                        c.resultMeta(0).dtype));
  return success();
}

/// linear, inner: (self, other), the contracted dim last in both.
static LogicalResult linear(LowerCall &c) {
  LoweredTensor y = linearProduct(c, c.operand(0), source(c, 1));
  bool biased = c.call().args.size() > 2;
  c.setResult(0, addBias(c, y, biased ? optional(c, 2) : LoweredTensor(),
                         c.resultMeta(0).dtype));
  return success();
}

/// Of any rank: the leading dims of both stand in the result.
static LogicalResult inner(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  if (a.rank() == 0 || b.rank() == 0) { // there is nothing to sum over
    DType dtype = c.resultMeta(0).dtype, work = opmathType(dtype);
    c.setResult(0, c.pointwise({a, b}, c.resultMeta(0),
                               [&](ScalarBuilder &s, ValueRange v) {
                                 Value product =
                                     s.mul(s.cast(v[0], a.dtype, work),
                                           s.cast(v[1], b.dtype, work));
                                 return s.cast(product, work, dtype);
                               }));
    return success();
  }
  if (b.rank() <= 2)
    return linear(c);
  return c.unsupported("operands of more than 2 dims");
}

/// addmm, baddbmm, addmv: (self, a, b, beta, alpha).
static LogicalResult plusProduct(LowerCall &c) {
  return scaledSum(c, multiply(c, source(c, 1), source(c, 2)));
}

static LogicalResult plusProductActivation(LowerCall &c) {
  bool gelu = c.call().arg("use_gelu").boolean;
  return scaledSum(
      c, multiply(c, source(c, 1), source(c, 2)),
      [gelu](ScalarBuilder &s, Value x) {
        if (!gelu)
          return s.maximum(x, s.zero(x));
        // The exact form: only the accelerator's has tanh.
        Type t = x.getType();
        Value cdf =
            s.add(s.one(x), s.erf(s.mul(x, s.constant(t, 0.7071067811865476))));
        return s.mul(s.mul(s.constant(t, 0.5), x), cdf);
      });
}

/// Also sums over the batch: out[m, n] = sum over b and k.
static LogicalResult addbmm(LowerCall &c) {
  LoweredTensor a = c.operand(1), b = c.operand(2);
  Dims as = a.dims(), bs = b.dims();
  AffineExpr m = c.dim(0), n = c.dim(1), batch = c.dim(2), k = c.dim(3);
  return scaledSum(c, contract(c, {a, {batch, m, k}}, {b, {batch, k, n}},
                               {as[1], bs[2]}, {m, n},
                               {Iterator::Parallel, Iterator::Parallel,
                                Iterator::Reduction, Iterator::Reduction}));
}

static LoweredTensor outerProduct(LowerCall &c, LoweredTensor a,
                                  LoweredTensor b, DType dtype) {
  Dim rows = a.dims()[0], columns = b.dims()[0];
  DType from = a.dtype, to = opmathType(dtype), right = b.dtype;
  Access out{c.empty({rows, columns}, dtype), {c.dim(0), c.dim(1)}};
  return c.generic({Access{a, {c.dim(0)}}, Access{b, {c.dim(1)}}}, out,
                   {Iterator::Parallel, Iterator::Parallel},
                   [&](ScalarBuilder &s, ValueRange v) {
                     Value y =
                         s.mul(s.cast(v[0], from, to), s.cast(v[1], right, to));
                     return SmallVector<Value>{s.cast(y, to, dtype)};
                   })[0];
}

static LogicalResult outer(LowerCall &c) {
  c.setResult(
      0, outerProduct(c, c.operand(0), c.operand(1), c.resultMeta(0).dtype));
  return success();
}

static LogicalResult addr(LowerCall &c) {
  DType dtype = opmathType(c.resultMeta(0).dtype);
  return scaledSum(c, outerProduct(c, c.operand(1), c.operand(2), dtype));
}

static LogicalResult vdot(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  if (isComplex(a.dtype))
    a = c.pointwise(a, a.dims(), a.dtype, [](ScalarBuilder &s, ValueRange v) {
      return Value(complex::ConjOp::create(s.b, s.loc, v[0]));
    });
  c.setResult(0, c.cast(multiply(c, {a, Value()}, {b, Value()}),
                        c.resultMeta(0).dtype));
  return success();
}

/// out[…, o] = sum over i, j of x1[…, i] * w[o, i, j] * x2[…, j] + bias[o].
static LogicalResult bilinear(LowerCall &c) {
  LoweredTensor x1 = c.operand(0), x2 = c.operand(1), w = c.operand(2);
  Dims outer = x1.dims(), ws = w.dims();
  outer.pop_back();
  auto rank = static_cast<unsigned>(outer.size());
  SmallVector<AffineExpr, 6> lead;
  for (unsigned i = 0; i < rank; ++i)
    lead.push_back(c.dim(i));
  AffineExpr o = c.dim(rank), j = c.dim(rank + 1), i = c.dim(rank + 2);
  SmallVector<Iterator> iterators(rank + 3, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;

  // t[…, o, j] = sum over i of x1[…, i] * w[o, i, j].
  Access a{x1, lead};
  a.index.push_back(i);
  Dims sizes(outer);
  sizes.append({ws[0], ws[2]});
  SmallVector<AffineExpr, 6> index(lead);
  index.append({o, j});
  LoweredTensor t = contract(c, a, {w, {o, i, j}}, sizes, index, iterators);
  c.newGroup();

  iterators.pop_back();
  iterators.back() = Iterator::Reduction;
  Access left{t, index}, right{x2, lead};
  right.index.push_back(j);
  sizes.pop_back();
  index.pop_back();
  LoweredTensor y = contract(c, left, right, sizes, index, iterators);
  c.setResult(0, addBias(c, y, optional(c, 3), c.resultMeta(0).dtype));
  return success();
}

static LogicalResult chainMatmul(LowerCall &c) {
  SmallVector<Value, 4> matrices = c.call().tensors(0);
  LoweredTensor y = c.operandOf(matrices[0]);
  for (Value next : llvm::drop_begin(matrices)) {
    y = c.cast(multiply(c, {y, Value()}, {c.operandOf(next), next}),
               c.resultMeta(0).dtype);
    c.newGroup();
  }
  c.setResult(0, y);
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_addmm_activation.default", plusProductActivation),
    anyShape("addbmm.default", addbmm),
    anyShape("addmm.default", plusProduct),
    anyShape("addmm.dtype", plusProduct),
    anyShape("addmv.default", plusProduct),
    anyShape("addr.default", addr),
    anyShape("baddbmm.default", plusProduct),
    anyShape("baddbmm.dtype", plusProduct),
    anyShape("bilinear.default", bilinear),
    anyShape("bmm.default", product),
    anyShape("bmm.dtype", product),
    anyShape("chain_matmul.default", chainMatmul),
    anyShape("dot.default", product),
    anyShape("ger.default", outer),
    anyShape("inner.default", inner),
    anyShape("linalg_matmul.default", product),
    anyShape("linalg_multi_dot.default", chainMatmul),
    anyShape("linear.default", linear),
    anyShape("matmul.default", product),
    anyShape("mm.default", product),
    anyShape("mm.dtype", product),
    anyShape("mv.default", product),
    anyShape("outer.default", outer),
    anyShape("vdot.default", vdot),
};

ArrayRef<LowerRuleRow> matmulLowerRules() { return kRows; }

} // namespace ft
