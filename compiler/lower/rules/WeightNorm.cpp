//===- WeightNorm.cpp - Lowering of normalised weights and rows -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/PNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace ft {

/// (v, g, dim) -> g v / |v|, and the norms: of everything that shares a place
/// along `dim`, of all if that is -1.
static LogicalResult weightNorm(LowerCall &c) {
  LoweredTensor v = c.operand(0), g = c.operand(1);
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  int64_t dim = c.integer(2);
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < v.rank(); ++d)
    if (dim == -1 || d != LowerCall::wrapDim(dim, v.rank()))
      dims.push_back(d);
  bool whole = dim == -1 && c.numResults() == 1;
  if (dim == -1 && !whole)
    dims.pop_back(); // the interface takes -1 as the last dim
  LoweredTensor norms = pNorm(c, v, 2, dims, true, sum);
  c.newGroup();
  c.setResult(0, c.pointwise({v, g, norms}, v.dims(), dtype,
                             [&](ScalarBuilder &s, ValueRange at) {
                               Value scale =
                                   s.div(s.cast(at[1], g.dtype, sum), at[2]);
                               Value y =
                                   s.mul(s.cast(at[0], v.dtype, sum), scale);
                               return s.cast(y, sum, dtype);
                             }));
  if (c.numResults() > 1) {
    const TensorMeta &meta = c.resultMeta(1);
    c.setResult(1, c.cast(c.reshape(norms, dimsOf(meta)), meta.dtype));
  }
  return success();
}

/// (v, pow, dim): the norms that weight_norm divides by.
static LogicalResult normExceptDim(LowerCall &c) {
  LoweredTensor v = c.operand(0);
  int64_t dim = c.integer(2);
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < v.rank(); ++d)
    if (dim == -1 || d != LowerCall::wrapDim(dim, v.rank()))
      dims.push_back(d);
  const TensorMeta &meta = c.resultMeta(0);
  LoweredTensor y =
      pNorm(c, v, static_cast<double>(c.integer(1)), dims, true, meta.dtype);
  c.setResult(0, c.reshape(y, dimsOf(meta)));
  return success();
}

/// (grad_w, v, g, norms, dim): with t the sum of grad_w v along the norm's
/// dims, dg = t / n and dv = g / n (grad_w - v t / n^2).
static LogicalResult weightNormBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), v = c.operand(1), g = c.operand(2),
                norms = c.operand(3);
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  unsigned dim = LowerCall::wrapDim(c.integer(4), v.rank());
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < v.rank(); ++d)
    if (d != dim)
      dims.push_back(d);
  Start zero{sum, 0, std::nullopt};
  LoweredTensor t =
      reduceTo(c, {v, grad}, dims, true, zero, [&](ReduceStep &step) {
        ScalarBuilder &s = step.s;
        Value y = s.mul(s.cast(step.elements[0], v.dtype, sum),
                        s.cast(step.elements[1], grad.dtype, sum));
        return SmallVector<Value>{s.add(step.accumulators[0], y)};
      })[0];
  c.newGroup();
  c.setResult(
      0, c.pointwise({grad, v, g, norms, t}, v.dims(), dtype,
                     [&](ScalarBuilder &s, ValueRange at) {
                       Value n = s.cast(at[3], norms.dtype, sum);
                       Value inner = s.div(at[4], s.mul(n, n));
                       inner = s.mul(s.cast(at[1], v.dtype, sum), inner);
                       Value y = s.sub(s.cast(at[0], grad.dtype, sum), inner);
                       y = s.mul(y, s.div(s.cast(at[2], g.dtype, sum), n));
                       return s.cast(y, sum, dtype);
                     }));
  const TensorMeta &meta = c.resultMeta(1);
  LoweredTensor dg = c.pointwise(
      {t, norms}, t.dims(), meta.dtype, [&](ScalarBuilder &s, ValueRange at) {
        Value n = s.cast(at[1], norms.dtype, sum);
        return s.cast(s.div(at[0], n), sum, meta.dtype);
      });
  c.setResult(1, c.reshape(dg, dimsOf(meta)));
  return success();
}

/// (grad, output, mask, dim): y (g - sum of g y), nothing where hidden.
static LogicalResult maskedSoftmaxBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), y = c.operand(1), mask = c.operand(2);
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  if (y.rank() == 0) {
    grad = c.reshape(grad, {1});
    y = c.reshape(y, {1});
    mask = c.reshape(mask, {1});
  }
  unsigned dim =
      c.isNone(3) ? y.rank() - 1 : LowerCall::wrapDim(c.integer(3), y.rank());
  LoweredTensor products = c.pointwise(
      {grad, y, mask}, y.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
        Value p =
            s.mul(s.cast(v[0], grad.dtype, sum), s.cast(v[1], y.dtype, sum));
        return s.select(v[2], s.zero(p), p);
      });
  LoweredTensor total = sumOf(c, products, dim, true, sum);
  c.newGroup();
  LoweredTensor result =
      c.pointwise({grad, y, mask, total}, y.dims(), dtype,
                  [&](ScalarBuilder &s, ValueRange v) {
                    Value d = s.sub(s.cast(v[0], grad.dtype, sum), v[3]);
                    d = s.mul(s.cast(v[1], y.dtype, sum), d);
                    return s.cast(s.select(v[2], s.zero(d), d), sum, dtype);
                  });
  c.setResult(0, c.reshape(result, dimsOf(c.resultMeta(0))));
  return success();
}

/// (grad, x, normalized_shape, rstd, weight, mask): with h = x rstd and
/// g = grad weight, dx = rstd (g - h mean(g h)), dweight = sum of grad h.
static LogicalResult rmsNormBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), x = c.operand(1), rstd = c.operand(3);
  bool weighted = !c.isNone(4);
  DType sum = opmathType(x.dtype);
  auto rank = x.rank();
  auto inner = static_cast<unsigned>(c.dimsArg(2).size());
  SmallVector<unsigned> shared, outer;
  Dims statSizes = x.dims();
  for (unsigned d = 0; d < rank; ++d) {
    (d < rank - inner ? outer : shared).push_back(d);
    if (d >= rank - inner)
      statSizes[d] = 1;
  }
  rstd = c.reshape(rstd, statSizes);
  SmallVector<LoweredTensor> ins = {x, grad, rstd};
  if (weighted) {
    LoweredTensor w = c.operand(4);
    Dims sizes(rank, 1);
    Dims own = w.dims();
    llvm::copy(own, sizes.begin() + (rank - inner));
    ins.push_back(c.reshape(w, sizes));
  }
  auto weightedGrad = [&](ScalarBuilder &s, ValueRange v) {
    Value g = s.cast(v[1], grad.dtype, sum);
    return weighted ? s.mul(g, s.cast(v[3], ins[3].dtype, sum)) : g;
  };
  auto normal = [&](ScalarBuilder &s, ValueRange v) {
    return s.mul(s.cast(v[0], x.dtype, sum), s.cast(v[2], rstd.dtype, sum));
  };
  Start zero{sum, 0, std::nullopt};
  auto wants = [&](size_t i) { return c.call().args[5].list[i].boolean; };
  auto setOrNothing = [&](unsigned r, LoweredTensor t) {
    const TensorMeta &meta = c.resultMeta(r);
    if (!t.value)
      t = c.filled(dimsOf(meta), meta.dtype, 0);
    c.setResult(r, c.cast(c.reshape(t, dimsOf(meta)), meta.dtype));
  };
  LoweredTensor dx, dw;
  if (wants(0)) {
    Dim count = elementsAlong(x, shared);
    LoweredTensor dot =
        reduceTo(c, ins, shared, true, zero, [&](ReduceStep &step) {
          ScalarBuilder &s = step.s;
          Value y =
              s.mul(weightedGrad(s, step.elements), normal(s, step.elements));
          return SmallVector<Value>{s.add(step.accumulators[0], y)};
        })[0];
    SmallVector<LoweredTensor> all(ins);
    all.push_back(dot);
    dx = c.pointwise(all, x.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
      Value mean = s.div(v.back(), c.sizeIn(s, count, sum));
      Value y = s.sub(weightedGrad(s, v), s.mul(normal(s, v), mean));
      return s.mul(y, s.cast(v[2], rstd.dtype, sum));
    });
    c.newGroup();
  }
  if (weighted && wants(1)) {
    dw = reduceTo(c, {x, grad, rstd}, outer, true, zero, [&](ReduceStep &step) {
      ScalarBuilder &s = step.s;
      Value y = s.mul(s.cast(step.elements[1], grad.dtype, sum),
                      normal(s, step.elements));
      return SmallVector<Value>{s.add(step.accumulators[0], y)};
    })[0];
    c.newGroup();
  }
  setOrNothing(0, dx);
  setOrNothing(1, dw);
  return success();
}

/// (self, mask, dim, mask_type): softmax of what the mask does not hide. Type 0
/// is a mask [L, L] of each head, type 1 a mask [B, L] of keys, both of
/// [B, H, L, L]; another has the operand's sizes. NaN where all is hidden.
static LogicalResult maskedSoftmax(LowerCall &c) {
  LoweredTensor x = c.operand(0), mask = c.operand(1);
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  int64_t type = c.isNone(3) ? 2 : c.integer(3);
  if (type == 1 && mask.rank() == 2 && x.rank() == 4) {
    auto sizes = mask.dims();
    mask = c.reshape(mask, {sizes[0], 1, 1, sizes[1]});
  }
  if (x.rank() == 0) {
    x = c.reshape(x, {1});
    mask = c.reshape(mask, {1});
  }
  unsigned dim =
      c.isNone(2) ? x.rank() - 1 : LowerCall::wrapDim(c.integer(2), x.rank());
  double least = -std::numeric_limits<double>::infinity();
  LoweredTensor shown = c.pointwise(
      {x, mask}, x.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
        Value e = s.cast(v[0], x.dtype, sum);
        return s.select(v[1], s.constant(e.getType(), least), e);
      });
  c.newGroup();
  LoweredTensor most = maxOf(c, shown, dim, true);
  c.newGroup();
  LoweredTensor powers = c.pointwise(
      {shown, most}, x.dims(), sum,
      [&](ScalarBuilder &s, ValueRange v) { return s.exp(s.sub(v[0], v[1])); });
  LoweredTensor total = sumOf(c, powers, dim, true, sum);
  c.newGroup();
  LoweredTensor y = c.pointwise({powers, total}, x.dims(), dtype,
                                [&](ScalarBuilder &s, ValueRange v) {
                                  return s.cast(s.div(v[0], v[1]), sum, dtype);
                                });
  c.setResult(0, c.reshape(y, dimsOf(c.resultMeta(0))));
  return success();
}

/// (weight, indices, max_norm, norm_type): rows that an index names are made
/// no longer than max_norm.
static LogicalResult embeddingRenorm(LowerCall &c) {
  LoweredTensor w = c.operand(0), indices = c.operand(1);
  double most = c.number(2), p = c.number(3);
  Dim rows = w.dims()[0];
  Dim count = elementsAlong(indices, allDims(indices.rank()));
  DType dtype = w.dtype, sum = opmathType(dtype), from = indices.dtype;
  indices = c.reshape(indices, {count});
  c.checkIndex(indices, 0, rows, rows);
  LoweredTensor named = c.generic(
      Access{indices, {c.dim(1)}},
      Access{c.filledInt({rows, 1}, DType::I64, 0), {c.dim(0), c.constant(0)}},
      {Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value hit = s.cmp(ScalarBuilder::Cmp::Eq,
                          s.cast(v[0], from, DType::I64), loopIndex(s, 0));
        return SmallVector<Value>{
            s.maximum(v[1], s.cast(hit, DType::Bool, DType::I64))};
      })[0];
  c.newGroup();
  LoweredTensor norms = pNorm(c, w, p, {1}, true, sum);
  c.newGroup();
  c.setResult(
      0,
      c.pointwise({w, named, norms}, w.dims(), dtype,
                  [&](ScalarBuilder &s, ValueRange v) {
                    Value e = s.cast(v[0], dtype, sum);
                    Value limit = s.constant(v[2].getType(), most);
                    Value tooLong = arith::AndIOp::create(
                        s.b, s.loc, s.cmp(ScalarBuilder::Cmp::Gt, v[2], limit),
                        s.cmp(ScalarBuilder::Cmp::Ne, v[1], s.zero(v[1])));
                    Value scale = s.div(
                        limit, s.add(v[2], s.constant(v[2].getType(), 1e-7)));
                    Value y = s.mul(e, s.select(tooLong, scale, s.one(e)));
                    return s.cast(y, sum, dtype);
                  }));
  return success();
}

ArrayRef<LowerRuleRow> weightNormLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("_fused_rms_norm_backward.default", rmsNormBackward),
      anyShape("_masked_softmax.default", maskedSoftmax),
      anyShape("_masked_softmax_backward.default", maskedSoftmaxBackward),
      anyShape("_weight_norm_differentiable_backward.default",
               weightNormBackward),
      anyShape("_weight_norm_interface_backward.default", weightNormBackward),
      anyShape("norm_except_dim.default", normExceptDim),
      anyShape("_weight_norm.default", weightNorm),
      anyShape("_weight_norm_interface.default", weightNorm),
      anyShape("embedding_renorm.default", embeddingRenorm),
  };
  return rows;
}

} // namespace ft
