//===- Products.cpp - Lowering of products of all with all -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Contract.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace ft {

using Ints = SmallVector<int64_t, 6>;

/// Kronecker: [a0, 1, a1, 1] times [1, b0, 1, b1], read as [a0 b0, a1 b1].
static LogicalResult kron(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  DType dtype = c.resultMeta(0).dtype, work = opmathType(dtype);
  Ints as = a.sizes(), bs = b.sizes();
  while (as.size() < bs.size())
    as.insert(as.begin(), 1);
  while (bs.size() < as.size())
    bs.insert(bs.begin(), 1);
  Ints left, right, sizes;
  for (auto [x, y] : llvm::zip(as, bs)) {
    left.append({x, 1});
    right.append({1, y});
    sizes.append({x, y});
  }
  DType from = a.dtype, other = b.dtype;
  LoweredTensor y =
      c.pointwise({c.reshape(a, left), c.reshape(b, right)}, sizes, dtype,
                  [&](ScalarBuilder &s, ValueRange v) {
                    Value x = s.cast(v[0], from, work);
                    Value z = s.cast(v[1], other, work);
                    if (work == DType::Bool)
                      return Value(arith::AndIOp::create(s.b, s.loc, x, z));
                    return s.cast(s.mul(x, z), work, dtype);
                  });
  c.setResult(0, c.reshape(y, staticSizes(c.resultMeta(0))));
  return success();
}

/// int8 matrices, summed in int32.
static LogicalResult intMm(LowerCall &c) {
  AffineExpr i = c.dim(0), j = c.dim(1), k = c.dim(2);
  c.setResult(
      0, contract(c, Access{c.operand(0), {i, k}}, Access{c.operand(1), {k, j}},
                  staticSizes(c.resultMeta(0)), {i, j},
                  {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
                  {}, DType::I32));
  return success();
}

/// (self, mat2, scales): x times the transposed int8 matrix [N, K], each column
/// of the result times its scale.
static LogicalResult int8PackMm(LowerCall &c) {
  LoweredTensor x = c.operand(0), scales = c.operand(2);
  DType work = opmathType(x.dtype), dtype = c.resultMeta(0).dtype;
  AffineExpr i = c.dim(0), j = c.dim(1), k = c.dim(2);
  LoweredTensor product = contract(
      c, Access{c.cast(x, work), {i, k}},
      Access{c.cast(c.operand(1), work), {j, k}}, staticSizes(c.resultMeta(0)),
      {i, j}, {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction});
  c.setResult(0, c.pointwise({product, scales}, c.resultMeta(0),
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value f = s.cast(v[1], scales.dtype, work);
                               return s.cast(s.mul(v[0], f), work, dtype);
                             }));
  return success();
}

/// (grad [T', B, O], input [T, B, I], weight [K, I, O], bias, pad), where
///   out[t] = sum over k of input[t + k - pad] weight[k]
static LogicalResult convTbcBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), x = c.operand(1), w = c.operand(2);
  DType dtype = c.resultMeta(0).dtype;
  int64_t pad = c.integer(4), kernel = w.sizes()[0];
  AffineExpr d0 = c.dim(0), d1 = c.dim(1), d2 = c.dim(2), d3 = c.dim(3);
  AffineExpr d4 = c.dim(4);
  constexpr auto kParallel = Iterator::Parallel;
  constexpr auto kReduction = Iterator::Reduction;
  // Step s of the input met weight k in output s - k + pad.
  LoweredTensor wide = c.pad(grad, {kernel - 1, 0, 0}, {kernel - 1, 0, 0}, 0);
  LoweredTensor flipped = c.generic(
      Access{w, {c.constant(kernel - 1) - d0, d1, d2}},
      Access{c.empty(w.sizes(), w.dtype), {d0, d1, d2}},
      {kParallel, kParallel, kParallel}, [](ScalarBuilder &, ValueRange v) {
        return SmallVector<Value>{v[0]};
      })[0];
  c.newGroup();
  LoweredTensor ofX =
      contract(c, Access{wide, {d0 + d3 + pad, d1, d4}},
               Access{flipped, {d3, d2, d4}}, x.sizes(), {d0, d1, d2},
               {kParallel, kParallel, kParallel, kReduction, kReduction});
  c.setResult(0, c.cast(ofX, dtype));
  c.newGroup();
  LoweredTensor padded = c.pad(x, {pad, 0, 0}, {pad, 0, 0}, 0);
  LoweredTensor ofW =
      contract(c, Access{padded, {d0 + d3, d4, d1}}, Access{grad, {d3, d4, d2}},
               w.sizes(), {d0, d1, d2},
               {kParallel, kParallel, kParallel, kReduction, kReduction});
  c.setResult(1, c.cast(ofW, dtype));
  c.newGroup();
  c.setResult(
      2, c.cast(sumOf(c, grad, {0U, 1U}, false, opmathType(dtype)), dtype));
  return success();
}

/// Powers of x along a new last dim, by squaring: (x, N, increasing).
static LogicalResult vander(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  const TensorMeta &meta = c.resultMeta(0);
  int increasing = c.call().schema->argIndex("increasing");
  bool rising = increasing < 0 || c.flag(static_cast<unsigned>(increasing));
  DType dtype = meta.dtype, work = opmathType(dtype);
  Ints sizes = staticSizes(meta);
  int64_t count = sizes.back();
  c.setResult(
      0, generate(c, sizes, dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        Value e = s.cast(readAt(s, x, at.drop_back()), x.dtype, work);
        Value n = at.back();
        if (!rising)
          n = s.sub(s.constantInt(n.getType(), count - 1), n);
        n = arith::IndexCastOp::create(s.b, s.loc, s.b.getI64Type(), n);
        Value y = s.one(e), one = s.constantInt(n.getType(), 1);
        for (int64_t bit = 0; count > 1 && bit < 64; ++bit) {
          if ((count - 1) >> bit == 0)
            break;
          Value set = arith::AndIOp::create(
              s.b, s.loc,
              arith::ShRUIOp::create(s.b, s.loc, n,
                                     s.constantInt(n.getType(), bit)),
              one);
          y = s.select(s.cmp(ScalarBuilder::Cmp::Eq, set, one), s.mul(y, e), y);
          e = s.mul(e, e);
        }
        return s.cast(y, work, dtype);
      }));
  return success();
}

/// The modified Bessel function I0, by its series: all terms are positive.
static double besselI0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 2000 && term > 1e-17 * sum; ++k) {
    term *= x / (2.0 * k) * (x / (2.0 * k));
    sum += term;
  }
  return sum;
}

/// I0(beta sqrt(1 - t^2)) / I0(beta), t from -1 to 1: (window_length, periodic,
/// beta). A periodic window is one longer, without its last number.
static LogicalResult kaiserWindow(LowerCall &c) {
  const Schema &schema = *c.call().schema;
  const TensorMeta &meta = c.resultMeta(0);
  int64_t n = meta.sizes[0].value();
  int periodic = schema.argIndex("periodic"), betaArg = schema.argIndex("beta");
  double beta = betaArg < 0 ? 12 : c.number(static_cast<unsigned>(betaArg));
  bool open = periodic < 0 || c.flag(static_cast<unsigned>(periodic));
  if (n <= 1) {
    c.setResult(0, c.filled({n}, meta.dtype, 1));
    return success();
  }
  auto last = static_cast<double>(open ? n : n - 1);
  SmallVector<double> window;
  for (int64_t i = 0; i < n; ++i) {
    double t = 2 * static_cast<double>(i) / last - 1;
    window.push_back(besselI0(beta * std::sqrt(std::max(0.0, 1 - t * t))) /
                     besselI0(beta));
  }
  DType wide = meta.dtype == DType::F64 ? DType::F64 : DType::F32;
  c.setResult(0, c.cast(constantVector(c, window, wide), meta.dtype));
  return success();
}

/// All tuples of elements of the vectors, the last one changing fastest.
static LogicalResult cartesianProduct(LowerCall &c) {
  SmallVector<LoweredTensor> vectors;
  for (Value v : c.call().tensors(0))
    vectors.push_back(c.operandOf(v));
  if (vectors.size() == 1) {
    c.setResult(0, vectors[0]);
    return success();
  }
  const TensorMeta &meta = c.resultMeta(0);
  Ints sizes = staticSizes(meta);
  c.setResult(
      0,
      generate(c, sizes, meta.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        Value row = at[0], y;
        for (size_t k = vectors.size(); k-- > 0;) {
          const LoweredTensor &t = vectors[k];
          Value size = s.constantInt(row.getType(), t.sizes()[0]);
          Value index = arith::RemUIOp::create(s.b, s.loc, row, size);
          row = arith::DivUIOp::create(s.b, s.loc, row, size);
          Value e = readAt(s, t, index);
          Value here =
              s.cmp(ScalarBuilder::Cmp::Eq, at[1],
                    s.constantInt(at[1].getType(), static_cast<int64_t>(k)));
          y = y ? s.select(here, e, y) : e;
        }
        return y;
      }));
  return success();
}

/// (self, r, with_replacement): all sorted tuples of r positions, in order.
static LogicalResult combinations(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  const TensorMeta &meta = c.resultMeta(0);
  Ints sizes = staticSizes(meta);
  if (llvm::is_contained(sizes, 0)) {
    c.setResult(0, c.filled(sizes, meta.dtype, 0));
    return success();
  }
  auto r = static_cast<size_t>(c.integer(1));
  int64_t n = x.sizes()[0], gap = c.flag(2) ? 0 : 1;
  SmallVector<int64_t> all, at(r);
  for (size_t i = 0; i < r; ++i)
    at[i] = gap * static_cast<int64_t>(i);
  for (int64_t row = 0; row < sizes[0]; ++row) {
    all.append(at);
    size_t i = r;
    while (i > 0 && at[i - 1] == n - 1 - gap * static_cast<int64_t>(r - i))
      --i;
    if (i == 0)
      break;
    ++at[i - 1];
    for (; i < r; ++i)
      at[i] = at[i - 1] + gap;
  }
  LoweredTensor positions =
      c.reshape(constantVector(c, ArrayRef<int64_t>(all)), sizes);
  c.setResult(0, c.pointwise(positions, sizes, meta.dtype,
                             [&](ScalarBuilder &s, ValueRange v) {
                               return elementAt(s, x, v[0]);
                             }));
  return success();
}

/// Time, batch, channels: (self, weight [width, in, out], bias, pad).
static LogicalResult convTbc(LowerCall &c) {
  LoweredTensor x = c.operand(0), w = c.operand(1), bias = c.operand(2);
  int64_t pad = c.integer(3);
  DType dtype = c.resultMeta(0).dtype;
  x = c.pad(x, {pad, 0, 0}, {pad, 0, 0}, 0);
  c.newGroup();
  AffineExpr t = c.dim(0), b = c.dim(1), o = c.dim(2), k = c.dim(3),
             i = c.dim(4);
  SmallVector<Iterator> iterators(5, Iterator::Parallel);
  iterators[3] = iterators[4] = Iterator::Reduction;
  LoweredTensor y =
      contract(c, Access{x, {t + k, b, i}}, Access{w, {k, i, o}},
               staticSizes(c.resultMeta(0)), {t, b, o}, iterators);
  c.setResult(0, addBias(c, y, bias, dtype));
  return success();
}

/// The coordinate, from -1 to 1, of pixel i of n; of the middle one exactly 0.
static Value coordinate(ScalarBuilder &s, Value i, int64_t n, bool corners,
                        DType work) {
  i = arith::IndexCastOp::create(s.b, s.loc, s.b.getI64Type(), i);
  i = s.cast(i, DType::I64, work);
  auto count = static_cast<double>(n);
  // Centres of pixels, or corners at -1 and 1: half steps from the middle.
  double half = corners ? 1 / (count - 1) : 1 / count;
  if (n == 1)
    half = 0;
  Value two = s.constant(i.getType(), 2);
  Value away = s.sub(s.mul(i, two), s.constant(i.getType(), count - 1));
  return s.mul(away, s.constant(i.getType(), half));
}

/// (theta [n, d, d + 1], size, align_corners): where the pixels of an image of
/// that size, whose coordinates run from -1 to 1, come from.
static LogicalResult affineGrid(LowerCall &c) {
  LoweredTensor theta = c.operand(0);
  const TensorMeta &meta = c.resultMeta(0);
  bool corners = c.flag(2);
  Ints sizes = staticSizes(meta); // n, [depth,] height, width, d
  auto dims = static_cast<unsigned>(sizes.size() - 2);
  DType dtype = meta.dtype, work = opmathType(dtype);
  c.setResult(
      0, generate(c, sizes, dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        auto element = [&](unsigned column) {
          Value j = s.constantInt(at[0].getType(), column);
          return s.cast(readAt(s, theta, {at[0], at.back(), j}), theta.dtype,
                        work);
        };
        Value y = element(dims);
        for (unsigned d = 0; d < dims; ++d) {
          // x is the last dim of the image.
          unsigned axis = dims - d;
          Value x = coordinate(s, at[axis], sizes[axis], corners, work);
          y = s.add(y, s.mul(x, element(d)));
        }
        return s.cast(y, work, dtype);
      }));
  return success();
}

/// (grad [n, ..., d], size, align_corners) -> [n, d, d + 1]
static LogicalResult affineGridBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0);
  const TensorMeta &meta = c.resultMeta(0);
  bool corners = c.flag(2);
  Ints image = grad.sizes();
  auto dims = static_cast<unsigned>(image.size() - 2);
  DType dtype = meta.dtype, work = opmathType(dtype);
  // Iterates n, row, column, then the pixels.
  SmallVector<AffineExpr, 6> index = {c.dim(0)};
  SmallVector<Iterator> iterators(3, Iterator::Parallel);
  for (unsigned d = 0; d < dims; ++d) {
    index.push_back(c.dim(3 + d));
    iterators.push_back(Iterator::Reduction);
  }
  index.push_back(c.dim(1));
  Ints sizes = staticSizes(meta);
  LoweredTensor y = c.generic(
      Access{grad, index},
      Access{c.filled(sizes, work, 0), {c.dim(0), c.dim(1), c.dim(2)}},
      iterators, [&](ScalarBuilder &s, ValueRange v) {
        Value column = iterationIndex(s, 2);
        Value base = s.constant(computeType(s.b.getContext(), work), 1);
        for (unsigned d = 0; d < dims; ++d) {
          unsigned axis = dims - d;
          Value x = coordinate(s, iterationIndex(s, 2 + axis), image[axis],
                               corners, work);
          Value here = s.cmp(ScalarBuilder::Cmp::Eq, column,
                             s.constantInt(column.getType(), d));
          base = s.select(here, x, base);
        }
        Value g = s.mul(s.cast(v[0], grad.dtype, work), base);
        return SmallVector<Value>{s.add(v[1], g)};
      })[0];
  c.setResult(0, c.cast(y, dtype));
  return success();
}

ArrayRef<LowerRuleRow> productsLowerRules() {
  static const LowerRuleRow rows[] = {
      {"_int_mm.default", intMm},
      {"affine_grid_generator.default", affineGrid},
      {"affine_grid_generator_backward.default", affineGridBackward},
      {"cartesian_prod.default", cartesianProduct},
      {"combinations.default", combinations},
      {"_weight_int8pack_mm.default", int8PackMm},
      {"conv_tbc.default", convTbc},
      {"conv_tbc_backward.default", convTbcBackward},
      {"kaiser_window.beta", kaiserWindow},
      {"kaiser_window.default", kaiserWindow},
      {"kaiser_window.periodic", kaiserWindow},
      {"kron.default", kron},
      {"linalg_vander.default", vander},
      {"vander.default", vander},
  };
  return rows;
}

} // namespace ft
