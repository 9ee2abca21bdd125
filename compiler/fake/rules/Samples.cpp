//===- Samples.cpp - Statistics and calculus of samples --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantiles, covariances, finite differences and sums of trapezoids.

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

//===----------------------------------------------------------------------===//
// Quantiles
//===----------------------------------------------------------------------===//

/// (self, q, dim, keepdim, *, interpolation). Several quantiles are computed
/// side by side, as a last dim, which is then moved to the front.
///   quantile(f32 [3, 4], f32 [2], 1): f32 [2, 3] strides [1, 2]
static LogicalResult quantile(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  StringRef base = c.schema().base;
  if (self.dtype != DType::F32 && self.dtype != DType::F64)
    return c.fail(FakeError::Other, base + " needs float32 or float64, not " +
                                        dtypeName(self.dtype));
  for (auto [d, size] : enumerate(self.sizes))
    if (size.is(0))
      return c.fail(FakeError::Other, base + " of nothing: dim " + Twine(d) +
                                          " of " + c.show(self) + " is 0");
  StringRef how = c.optText(4);
  if (how != "linear" && how != "lower" && how != "higher" &&
      how != "midpoint" && how != "nearest")
    return c.fail(FakeError::Other, base +
                                        "'s interpolation must be 'linear', "
                                        "'lower', 'higher', 'midpoint' or "
                                        "'nearest', not '" +
                                        how + "'");
  const TensorMeta *q = c.optTensor(1);
  if (q && q->rank() > 1)
    return c.fail(FakeError::Other, base + "'s q needs at most 1 dim, it has " +
                                        Twine(q->rank()));
  if (q && q->dtype != self.dtype)
    return c.fail(FakeError::Other, base + " needs one dtype, self is " +
                                        dtypeName(self.dtype) + ", q " +
                                        dtypeName(q->dtype));
  if (!q && (c.number(1) < 0 || c.number(1) > 1))
    return c.fail(FakeError::Other, base + "'s q must be from 0 to 1, not " +
                                        std::to_string(c.number(1)));
  Dims sizes;
  bool keep = c.flag(3);
  if (c.isNone(2)) {
    sizes.assign(keep ? self.rank() : 0, Dim(1));
  } else {
    FailureOr<int64_t> dim = c.wrapDim(2, self.rank());
    if (failed(dim))
      return failure();
    for (int64_t d = 0; d < self.rank(); ++d)
      if (d != *dim)
        sizes.push_back(self.sizes[d]);
      else if (keep)
        sizes.push_back(1);
  }
  if (!q || q->sizes.empty())
    return rowMajor(c, self.dtype, sizes);
  sizes.push_back(q->sizes[0]);
  TensorMeta out = TensorMeta::contiguous(self.dtype, sizes, c.device);
  std::rotate(out.sizes.begin(), out.sizes.end() - 1, out.sizes.end());
  std::rotate(out.strides.begin(), out.strides.end() - 1, out.strides.end());
  return c.fresh(std::move(out));
}

//===----------------------------------------------------------------------===//
// Covariances
//===----------------------------------------------------------------------===//

/// Variables are rows; one variable gives one number.
static LogicalResult matrixOfRows(FakeCall &c, DType dtype) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() < 2 || c.eq(self.sizes[0], 1))
    return rowMajor(c, dtype, {});
  return rowMajor(c, dtype, {self.sizes[0], self.sizes[0]});
}

static LogicalResult checkSamples(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() > 2)
    return c.fail(FakeError::Other, c.schema().base +
                                        " needs at most 2 dims, the tensor "
                                        "has " +
                                        Twine(self.rank()));
  if (self.dtype == DType::Bool)
    return c.fail(FakeError::Other,
                  c.schema().base + " is not defined for bool");
  return success();
}

/// (self, *, correction, fweights, aweights)
static LogicalResult cov(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkSamples(c)))
    return failure();
  DType dtype = toFloat(self.dtype);
  Dim count = self.sizes.empty() ? Dim(1) : self.sizes.back();
  for (unsigned i : {2u, 3u}) {
    const TensorMeta *weights = c.optTensor(i);
    if (!weights)
      continue;
    StringRef name = c.schema().args[i].name;
    if (weights->rank() > 1)
      return c.fail(FakeError::Other, "cov's " + name +
                                          " need at most 1 dim, they have " +
                                          Twine(weights->rank()));
    if (i == 2 ? !isIntegral(weights->dtype) || weights->dtype == DType::Bool
               : !isFloating(weights->dtype))
      return c.fail(FakeError::Other, "cov's " + name + " must be " +
                                          (i == 2 ? "integers" : "floating") +
                                          ", not " + dtypeName(weights->dtype));
    if (!c.mustEq(weights->numel(), count))
      return c.fail(FakeError::Other, "cov's " + name + " are " +
                                          weights->numel().str() + " for " +
                                          count.str() + " samples");
    if (i == 2)
      continue;
    std::optional<DType> both = promoteTypes(self.dtype, weights->dtype);
    if (!both)
      return c.fail(FakeError::Dtype, "cov's self, " + dtypeName(self.dtype) +
                                          ", and " + name + ", " +
                                          dtypeName(weights->dtype) +
                                          ", have no common dtype");
    dtype = *both;
  }
  return matrixOfRows(c, dtype);
}

static LogicalResult corrcoef(FakeCall &c) {
  if (failed(checkSamples(c)))
    return failure();
  return matrixOfRows(c, toFloat(c.tensor(0).dtype));
}

//===----------------------------------------------------------------------===//
// Finite differences
//===----------------------------------------------------------------------===//

/// (self, *, spacing, dim, edge_order) in some order; one result for each dim.
static LogicalResult gradient(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  int spacingArg = c.schema().argIndex("spacing");
  unsigned dimArg = c.schema().argIndex("dim");
  Dim order = c.dim(c.schema().argIndex("edge_order"));
  if (self.dtype == DType::U8 || self.dtype == DType::Bool)
    return c.fail(FakeError::Other,
                  "gradient is not defined for " + dtypeName(self.dtype));
  if (!order.is(1) && !order.is(2))
    return c.fail(FakeError::Other,
                  "gradient's edge_order must be 1 or 2, not " + order.str());
  SmallVector<int64_t, 6> dims;
  if (c.isNone(dimArg)) {
    for (int64_t d = 0; d < self.rank(); ++d)
      dims.push_back(d);
  } else {
    auto given = c.wrapDims(dimArg, self.rank(), /*emptyIsAll=*/false);
    if (failed(given))
      return failure();
    dims = *given;
  }
  bool list = spacingArg >= 0 && c.arg(spacingArg).kind == Arg::List;
  if (list && c.length(spacingArg) != dims.size())
    return c.fail(FakeError::Other,
                  "gradient got " + Twine(c.length(spacingArg)) +
                      " spacings for " + Twine(dims.size()) + " dims");
  for (auto [i, d] : enumerate(dims)) {
    Dim size = self.sizes.empty() ? Dim(1) : self.sizes[d];
    if (c.lt(size, order + 1))
      return c.fail(FakeError::Other, "gradient with edge_order " +
                                          order.str() + " needs at least " +
                                          (order + 1).str() + " at dim " +
                                          Twine(d) + ", not " + size.str());
    DType dtype = toFloat(self.dtype);
    if (list && c.arg(spacingArg).list[i].kind == Arg::Tensor) {
      const TensorMeta &at = *c.tensors(spacingArg)[i];
      if (at.rank() != 1 || !c.mustEq(at.sizes[0], size))
        return c.fail(FakeError::Other, "gradient's spacing of dim " +
                                            Twine(d) + " must have size [" +
                                            size.str() + "], it is " +
                                            c.show(at));
      std::optional<DType> both = promoteTypes(self.dtype, at.dtype);
      if (!both)
        return c.fail(FakeError::Dtype,
                      "gradient's self, " + dtypeName(self.dtype) +
                          ", and spacing, " + dtypeName(at.dtype) +
                          ", have no common dtype");
      dtype = toFloat(*both);
    }
    if (failed(rowMajor(c, dtype, self.sizes)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Trapezoids
//===----------------------------------------------------------------------===//

/// (y, x or dx, dim)
template <bool Cumulative>
static LogicalResult trapezoid(FakeCall &c) {
  const TensorMeta &y = c.tensor(0);
  const TensorMeta *x = c.optTensor(1);
  StringRef base = c.schema().base;
  if (y.sizes.empty())
    return c.fail(FakeError::Index, base + " needs a y of at least 1 dim");
  FailureOr<int64_t> dim = c.wrapDim(2, y.rank());
  if (failed(dim))
    return failure();
  Dim count = y.sizes[*dim];
  Dims sizes = y.sizes;
  DType dtype = y.dtype;
  if (x && !count.is(0)) {
    TensorMeta places = *x;
    if (x->rank() == 1) {
      if (!c.mustEq(x->sizes[0], count))
        return c.fail(FakeError::Other,
                      base + " needs an x for each y: there are " +
                          x->sizes[0].str() + " for " + count.str() +
                          " at dim " + Twine(*dim));
      places.sizes.assign(y.rank(), Dim(1));
      places.sizes[*dim] = count;
    }
    if (x->dtype == DType::Bool)
      return c.fail(FakeError::Other, base + "'s x must not be bool");
    FailureOr<Dims> both = c.broadcast({&y, &places}, {&y, x});
    if (failed(both))
      return failure();
    if (both->size() != sizes.size())
      return c.fail(FakeError::Unsupported,
                    base + " with an x of more dims than y, " +
                        Twine(x->rank()) + " and " + Twine(y.rank()) +
                        ", is not supported");
    sizes = *both;
    std::optional<DType> promoted = promoteTypes(y.dtype, x->dtype);
    if (!promoted)
      return c.fail(FakeError::Dtype, base + "'s y, " + dtypeName(y.dtype) +
                                          ", and x, " + dtypeName(x->dtype) +
                                          ", have no common dtype");
    dtype = *promoted;
  }
  if (Cumulative) {
    sizes[*dim] = c.surelyLe(1, count) ? count - 1 : maxDim(count - 1, 0);
    return rowMajor(c, toFloat(dtype), sizes);
  }
  sizes.erase(sizes.begin() + *dim);
  // Nothing to add up: zeros of y's own dtype.
  return rowMajor(c, count.is(0) ? y.dtype : toFloat(dtype), sizes);
}

ArrayRef<FakeRuleRow> samplesRules() {
  static const FakeRuleRow rows[] = {
      {"corrcoef.default", corrcoef},
      {"cov.default", cov},
      {"cumulative_trapezoid.dx", trapezoid<true>},
      {"cumulative_trapezoid.x", trapezoid<true>},
      {"gradient.array", gradient},
      {"gradient.scalararray", gradient},
      {"gradient.scalarint", gradient},
      {"gradient.scalarrayarray", gradient},
      {"gradient.scalarrayint", gradient},
      {"gradient.tensorarray", gradient},
      {"gradient.tensorarrayint", gradient},
      {"nanquantile.default", quantile, DevicePolicy::Strict},
      {"nanquantile.scalar", quantile},
      {"quantile.default", quantile, DevicePolicy::Strict},
      {"quantile.scalar", quantile},
      {"trapezoid.dx", trapezoid<false>},
      {"trapezoid.x", trapezoid<false>},
      {"trapz.dx", trapezoid<false>},
      {"trapz.x", trapezoid<false>},
  };
  return rows;
}

} // namespace ft
