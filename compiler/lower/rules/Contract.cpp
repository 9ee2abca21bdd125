//===- Contract.cpp - Sums of products -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Contract.h"

using namespace mlir;

namespace ft {

LoweredTensor contract(LowerCall &c, const Access &a, const Access &b,
                       const SizeList &outSizes, ArrayRef<AffineExpr> outIndex,
                       ArrayRef<Iterator> iterators, ArrayRef<unsigned> order,
                       std::optional<DType> accumulate) {
  DType left = a.tensor.dtype, right = b.tensor.dtype;
  // Operands differ only where one of them was computed in float32.
  DType sum = accumulate.value_or(
      opmathType(dtypeBytes(right) > dtypeBytes(left) ? right : left));
  Dims physical(outSizes.begin(), outSizes.end());
  for (size_t p = 0; p < order.size(); ++p)
    physical[p] = outSizes[order[p]];
  LoweredTensor init = c.filled(physical, sum, 0);
  if (!order.empty())
    init.order.assign(order.begin(), order.end());
  init.setDims(outSizes);
  Access out{init, SmallVector<AffineExpr, 6>(outIndex)};
  return c.generic({a, b}, out, iterators, [&](ScalarBuilder &s, ValueRange v) {
    Value product = s.mul(s.cast(v[0], left, sum), s.cast(v[1], right, sum));
    return SmallVector<Value>{s.add(v[2], product)};
  })[0];
}

/// Narrower matrices would be mostly padding in a panel.
static constexpr int64_t kNarrowestPanel = 8;

Access matrixAt(LowerCall &c, const Source &matrix, unsigned nDim, AffineExpr n,
                AffineExpr k) {
  const LoweredTensor &t = matrix.tensor;
  Dims sizes = t.dims();
  bool isStatic = t.isStatic();
  int64_t columns = sizes[nDim].value(), depth = sizes[1 - nDim].value();
  if (matrix.value && isStatic && isFloating(t.dtype) &&
      columns >= kNarrowestPanel && depth > 0) {
    int64_t width = c.panelWidth(t.dtype);
    SmallVector<SmallVector<int64_t>> coef(2);
    coef[nDim] = {width, 0, 1};
    coef[1 - nDim] = {0, 1, 0};
    if (std::optional<LoweredTensor> panels = c.packed(
            matrix.value, {(columns + width - 1) / width, depth, width}, coef))
      return {*panels, {n.floorDiv(width), k, n % width}};
  }
  Access a{t, {k, k}};
  a.index[nDim] = n;
  return a;
}

LoweredTensor multiply(LowerCall &c, const Source &a, const Source &b) {
  Dims as = a.tensor.dims(), bs = b.tensor.dims();
  size_t aBatch = as.size() > 2 ? as.size() - 2 : 0;
  size_t bBatch = bs.size() > 2 ? bs.size() - 2 : 0;
  size_t batch = std::max(aBatch, bBatch);

  Dims outSizes;
  SmallVector<AffineExpr, 6> outIndex;
  SmallVector<Iterator> iterators;
  auto parallel = [&](Dim size) {
    AffineExpr d = c.dim(static_cast<unsigned>(iterators.size()));
    iterators.push_back(Iterator::Parallel);
    outSizes.push_back(size);
    outIndex.push_back(d);
    return d;
  };

  Access left{a.tensor, {}}, right{b.tensor, {}};
  for (size_t i = 0; i < batch; ++i) {
    // Position in each operand, counted from the right.
    bool inA = i + aBatch >= batch, inB = i + bBatch >= batch;
    Dim sa = inA ? as[i + aBatch - batch] : Dim(1);
    Dim sb = inB ? bs[i + bBatch - batch] : Dim(1);
    // Sizes that are equal by a guard need not be written alike.
    Dim size = sa.is(1) ? sb : sa;
    AffineExpr d = parallel(size);
    if (inA)
      left.index.push_back(!sa.is(1) || size.is(1) ? d : c.constant(0));
    if (inB)
      right.index.push_back(!sb.is(1) || size.is(1) ? d : c.constant(0));
  }
  if (as.size() > 1)
    left.index.push_back(parallel(as[as.size() - 2]));
  AffineExpr n;
  if (bs.size() > 1)
    n = parallel(bs.back());
  AffineExpr k = c.dim(static_cast<unsigned>(iterators.size()));
  iterators.push_back(Iterator::Reduction);
  left.index.push_back(k);
  right.index.push_back(k);
  if (bs.size() == 2)
    right = matrixAt(c, b, 1, n, k);
  else if (n)
    right.index.push_back(n);
  return contract(c, left, right, outSizes, outIndex, iterators);
}

LoweredTensor linearProduct(LowerCall &c, LoweredTensor x, const Source &w) {
  Dims outSizes = x.dims();
  auto rank = static_cast<unsigned>(outSizes.size());
  SmallVector<AffineExpr, 6> outIndex;
  Access left{x, {}};
  for (unsigned i = 0; i + 1 < rank; ++i) {
    outIndex.push_back(c.dim(i));
    left.index.push_back(c.dim(i));
  }
  outSizes.pop_back();
  bool vector = w.tensor.rank() == 1;
  unsigned loops = rank + (vector ? 0 : 1);
  AffineExpr k = c.dim(loops - 1);
  left.index.push_back(k);
  Access right{w.tensor, {k}};
  if (!vector) {
    AffineExpr n = c.dim(rank - 1);
    outSizes.push_back(w.tensor.dims()[0]);
    outIndex.push_back(n);
    right = matrixAt(c, w, 0, n, k);
  }
  SmallVector<Iterator> iterators(loops, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  return contract(c, left, right, outSizes, outIndex, iterators);
}

LoweredTensor addBias(LowerCall &c, LoweredTensor product,
                      const LoweredTensor &bias, DType dtype) {
  DType sum = product.dtype;
  if (!bias.value)
    return c.cast(product, dtype);
  return c.pointwise({product, bias}, product.dims(), dtype,
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value y = s.add(v[0], s.cast(v[1], bias.dtype, sum));
                       return s.cast(y, sum, dtype);
                     });
}

} // namespace ft
