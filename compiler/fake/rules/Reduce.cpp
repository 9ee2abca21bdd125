//===- Reduce.cpp - Reductions and scans -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results are row-major whatever the input's layout.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

using DimList = SmallVector<int64_t, 6>;

static Dims reducedSizes(ArrayRef<Dim> sizes, ArrayRef<int64_t> dims,
                         bool keep) {
  Dims out;
  for (auto [d, size] : enumerate(sizes)) {
    if (!is_contained(dims, static_cast<int64_t>(d)))
      out.push_back(size);
    else if (keep)
      out.push_back(1);
  }
  return out;
}

static LogicalResult reduced(FakeCall &c, ArrayRef<int64_t> dims, bool keep,
                             DType dtype) {
  return c.fresh(TensorMeta::contiguous(
      dtype, reducedSizes(c.tensor(0).sizes, dims, keep), c.device));
}

static DimList allDims(const TensorMeta &t) {
  DimList dims;
  for (int64_t d = 0; d < t.rank(); ++d)
    dims.push_back(d);
  return dims;
}

/// A reduction without a neutral element needs something to reduce.
static LogicalResult needsElements(FakeCall &c, ArrayRef<int64_t> dims) {
  const TensorMeta &self = c.tensor(0);
  for (int64_t d : dims)
    if (!self.sizes.empty() && c.isEmpty(self.sizes[d]))
      return c.fail(FakeError::Dim, c.schema().base +
                                        " has no value over dim " + Twine(d) +
                                        " of size 0");
  return success();
}

//===----------------------------------------------------------------------===//
// Sums and means
//===----------------------------------------------------------------------===//

/// The dtype of sums: integers add up in int64 unless told otherwise.
static DType sumDType(FakeCall &c, unsigned dtypeArg) {
  return c.dtype(dtypeArg).value_or(integralToLong(c.tensor(0).dtype));
}

static LogicalResult sumAll(FakeCall &c) {
  return reduced(c, allDims(c.tensor(0)), false, sumDType(c, 1));
}

static LogicalResult sumDims(FakeCall &c) {
  auto dims = c.wrapDims(1, c.tensor(0).rank(), /*emptyIsAll=*/true);
  return failed(dims) ? failure()
                      : reduced(c, *dims, c.flag(2), sumDType(c, 3));
}

/// Sums over the dims that broadcasting `size` to self would add or widen; of
/// self's own size it is self.
static LogicalResult sumToSize(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Dims sizes = c.dims(1);
  if (sizes.size() > self.sizes.size())
    return c.broadcastTo(sizes, self.sizes, nullptr); // which says so
  size_t lead = self.sizes.size() - sizes.size();
  bool same = lead == 0;
  for (auto [d, size] : enumerate(sizes)) {
    FakeCall::Fit how = c.fit(size, self.sizes[lead + d]);
    if (how == FakeCall::Fit::No)
      return c.broadcastTo(sizes, self.sizes, nullptr);
    same &= how == FakeCall::Fit::Same;
  }
  if (same && !sizes.empty()) {
    TensorMeta out = self;
    out.sizes = sizes;
    return c.view(std::move(out), 0);
  }
  return c.fresh(
      TensorMeta::contiguous(integralToLong(self.dtype), sizes, c.device));
}

static LogicalResult nansum(FakeCall &c) {
  if (isComplex(c.tensor(0).dtype))
    return c.fail(FakeError::Dtype,
                  "nansum is not defined for " + dtypeName(c.tensor(0).dtype));
  return sumDims(c);
}

static LogicalResult prodDim(FakeCall &c) {
  FailureOr<int64_t> dim = c.wrapDim(1, c.tensor(0).rank());
  return failed(dim) ? failure() : reduced(c, *dim, c.flag(2), sumDType(c, 3));
}

static LogicalResult meanDType(FakeCall &c, unsigned arg, DType &dtype) {
  dtype = c.dtype(arg).value_or(c.tensor(0).dtype);
  if (isFloating(dtype) || isComplex(dtype))
    return success();
  return c.fail(FakeError::Dtype,
                c.schema().base + " needs a floating or complex dtype, not " +
                    dtypeName(dtype));
}

static LogicalResult meanAll(FakeCall &c) {
  DType dtype;
  if (failed(meanDType(c, 1, dtype)))
    return failure();
  return reduced(c, allDims(c.tensor(0)), false, dtype);
}

static LogicalResult meanDims(FakeCall &c) {
  DType dtype;
  if (failed(meanDType(c, 3, dtype)))
    return failure();
  auto dims = c.wrapDims(1, c.tensor(0).rank(), /*emptyIsAll=*/true);
  return failed(dims) ? failure() : reduced(c, *dims, c.flag(2), dtype);
}

/// var and std, with the mean as a second result if `Both`.
template <bool Both>
static LogicalResult variance(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  StringRef overload = c.schema().overload;
  bool hasDims = overload != "default";
  if (!isFloating(self.dtype) && !isComplex(self.dtype))
    return c.fail(FakeError::Dtype, c.schema().base +
                                        " needs a floating or complex dtype, "
                                        "not " +
                                        dtypeName(self.dtype));
  FailureOr<DimList> dims =
      hasDims ? c.wrapDims(1, self.rank(), true) : allDims(self);
  if (failed(dims))
    return failure();
  bool keep = hasDims && c.flag(3);
  if (failed(reduced(c, *dims, keep, toReal(self.dtype))))
    return failure();
  return Both ? reduced(c, *dims, keep, self.dtype) : success();
}

//===----------------------------------------------------------------------===//
// Predicates and counts
//===----------------------------------------------------------------------===//

/// any and all keep uint8, by PyTorch's tradition.
static DType boolOf(const TensorMeta &self) {
  return self.dtype == DType::U8 ? DType::U8 : DType::Bool;
}

static LogicalResult anyAll(FakeCall &c) {
  return reduced(c, allDims(c.tensor(0)), false, boolOf(c.tensor(0)));
}

static LogicalResult anyDim(FakeCall &c) {
  FailureOr<int64_t> dim = c.wrapDim(1, c.tensor(0).rank());
  return failed(dim) ? failure()
                     : reduced(c, *dim, c.flag(2), boolOf(c.tensor(0)));
}

static LogicalResult anyDims(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  // No list is all dims, an empty one is none.
  auto dims = c.wrapDims(1, self.rank(), /*emptyIsAll=*/c.isNone(1));
  return failed(dims) ? failure() : reduced(c, *dims, c.flag(2), boolOf(self));
}

static LogicalResult countNonzero(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (c.arg(1).kind == Arg::Int) {
    FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
    return failed(dim) ? failure() : reduced(c, *dim, false, DType::I64);
  }
  auto dims = c.wrapDims(1, self.rank(), /*emptyIsAll=*/true);
  return failed(dims) ? failure() : reduced(c, *dims, false, DType::I64);
}

/// A truth value that only the run knows.
static LogicalResult dataDependent(FakeCall &c) {
  c.bypass = "new symbol";
  if (c.scope && c.scope->allowsUnknownTruth())
    return c.scalar(FakeResult::Bool);
  return c.fail(FakeError::DataDependent,
                "the result of " + c.schema().base + " depends on data");
}

static LogicalResult isNonzero(FakeCall &c) {
  if (!c.mustEq(c.tensor(0).numel(), 1))
    return c.fail(FakeError::Other, "a tensor of " + c.tensor(0).numel().str() +
                                        " elements is no truth value");
  return dataDependent(c);
}

//===----------------------------------------------------------------------===//
// Extrema
//===----------------------------------------------------------------------===//

static LogicalResult noComplex(FakeCall &c) {
  // The kernels return early for tensors without dims.
  StringRef base = c.schema().base;
  if (c.tensor(0).sizes.empty() &&
      (base == "cummax" || base == "cummin" || base == "kthvalue"))
    return success();
  return checkTakes(c, c.tensor(0).dtype, Takes::NoComplex);
}

static LogicalResult extremumDims(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  auto dims = c.wrapDims(1, self.rank(), /*emptyIsAll=*/true);
  if (failed(dims) || failed(noComplex(c)) || failed(needsElements(c, *dims)))
    return failure();
  return reduced(c, *dims, c.flag(2), self.dtype);
}

/// max(), median(): one value of the whole tensor.
template <bool NeedsElements>
static LogicalResult extremumAll(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  DimList dims = allDims(self);
  if (failed(noComplex(c)) || (NeedsElements && failed(needsElements(c, dims))))
    return failure();
  return reduced(c, dims, false, self.dtype);
}

/// (values, indices) along a dim.
static LogicalResult extremumDim(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  if (failed(dim) || failed(noComplex(c)) || failed(needsElements(c, *dim)))
    return failure();
  bool keep = c.flag(2);
  if (failed(reduced(c, *dim, keep, self.dtype)))
    return failure();
  return reduced(c, *dim, keep, DType::I64);
}

static LogicalResult aminmax(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  DimList dims = allDims(self);
  bool keep = c.flag(2);
  if (!c.isNone(1)) {
    FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
    if (failed(dim))
      return failure();
    dims = {*dim};
  }
  if (failed(noComplex(c)) || failed(needsElements(c, dims)) ||
      failed(reduced(c, dims, keep, self.dtype)))
    return failure();
  return reduced(c, dims, keep, self.dtype);
}

/// The older form: with a dim or without.
static LogicalResult aminmaxKernel(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  DimList dims = allDims(self);
  bool hasDim = c.arguments().size() > 1;
  if (hasDim) {
    FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
    if (failed(dim))
      return failure();
    dims = {*dim};
  }
  if (failed(noComplex(c)) || failed(needsElements(c, dims)))
    return failure();
  bool keep = hasDim && c.flag(2);
  (void)reduced(c, dims, keep, self.dtype);
  return reduced(c, dims, keep, self.dtype);
}

static LogicalResult isTrue(FakeCall &c) {
  if (c.tensor(0).dtype != DType::Bool)
    return c.fail(FakeError::Dtype, c.schema().base + " needs bool, not " +
                                        dtypeName(c.tensor(0).dtype));
  return reduced(c, allDims(c.tensor(0)), false, DType::Bool);
}

static LogicalResult argExtremum(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  DimList dims = allDims(self);
  if (!c.isNone(1)) {
    FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
    if (failed(dim))
      return failure();
    dims = {*dim};
  }
  if (failed(checkTakes(c, self.dtype, Takes::NoBoolNoComplex)) ||
      failed(needsElements(c, dims)))
    return failure();
  return reduced(c, dims, c.flag(2), DType::I64);
}

static LogicalResult kthvalue(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = c.wrapDim(2, self.rank());
  if (failed(dim) || failed(noComplex(c)) || failed(needsElements(c, *dim)))
    return failure();
  Dim size = self.sizes.empty() ? Dim(1) : self.sizes[*dim];
  if (c.lt(c.dim(1), 1) || c.lt(size, c.dim(1)))
    return c.fail(FakeError::Index, "k = " + c.dim(1).str() +
                                        " is out of range for dim " +
                                        Twine(*dim) + " of " + c.nameOf(&self) +
                                        ", of size " + size.str());
  if (failed(reduced(c, *dim, c.flag(3), self.dtype)))
    return failure();
  return reduced(c, *dim, c.flag(3), DType::I64);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

static LogicalResult scan(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(c.wrapDim(1, self.rank())))
    return failure();
  if (c.schema().mutates && c.dtype(2).value_or(self.dtype) != self.dtype)
    return c.fail(FakeError::Dtype,
                  c.schema().base + " of " + dtypeName(self.dtype) +
                      " has no other dtype, not " + dtypeName(*c.dtype(2)));
  return c.fresh(TensorMeta::contiguous(sumDType(c, 2), self.sizes, c.device));
}

static LogicalResult scanWithIndices(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(c.wrapDim(1, self.rank())) || failed(noComplex(c)))
    return failure();
  if (failed(c.fresh(TensorMeta::contiguous(self.dtype, self.sizes, c.device))))
    return failure();
  return c.fresh(TensorMeta::contiguous(DType::I64, self.sizes, c.device));
}

/// The kernel behind cummax and cummin: fills `values` and `indices`.
static LogicalResult scanInto(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &values = c.tensor(1);
  if (failed(c.wrapDim(3, self.rank())) || failed(noComplex(c)))
    return failure();
  for (const TensorMeta *out : {&values, &c.tensor(2)})
    if (!c.sameSizes(out->sizes, self.sizes))
      return c.fail(FakeError::Shape,
                    "the tensor that is written, " + c.show(*out) +
                        ", does not have the size of " + c.show(self) +
                        unlike(out->sizes, self.sizes));
  if (values.dtype != self.dtype)
    return c.fail(FakeError::Dtype, "'values' is " + dtypeName(values.dtype) +
                                        ", the tensor " +
                                        dtypeName(self.dtype));
  if (c.tensor(2).dtype != DType::I64)
    return c.fail(FakeError::Dtype, "'indices' must be int64, not " +
                                        dtypeName(c.tensor(2).dtype));
  return success();
}

static LogicalResult logcumsumexp(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(c.wrapDim(1, self.rank())))
    return failure();
  return c.fresh(TensorMeta::contiguous(self.dtype, self.sizes, c.device));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static LogicalResult logsumexp(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (c.dims(1).empty() && !self.sizes.empty())
    return c.fail(FakeError::Dim, "logsumexp needs at least one dim");
  auto dims = c.wrapDims(1, self.rank(), /*emptyIsAll=*/true);
  return failed(dims) ? failure()
                      : reduced(c, *dims, c.flag(2), toFloat(self.dtype));
}

static LogicalResult normOver(FakeCall &c, ArrayRef<int64_t> dims, bool keep,
                              std::optional<DType> dtype) {
  const TensorMeta &self = c.tensor(0);
  if (!isFloating(self.dtype) && !isComplex(self.dtype))
    return c.fail(FakeError::Dtype, c.schema().base +
                                        " needs a floating or complex dtype, "
                                        "not " +
                                        dtypeName(self.dtype));
  // Complex stays complex, real stays real, and neither gets narrower.
  if (dtype && (isComplex(*dtype) != isComplex(self.dtype) ||
                promoteTypes(self.dtype, *dtype) != *dtype))
    return c.fail(FakeError::Dtype, c.schema().base + " of " +
                                        dtypeName(self.dtype) +
                                        " has no dtype " + dtypeName(*dtype));
  return reduced(c, dims, keep, toReal(dtype.value_or(self.dtype)));
}

/// linalg_vector_norm(self, ord, dim, keepdim, dtype)
static LogicalResult vectorNorm(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  auto dims = c.wrapDims(2, self.rank(), /*emptyIsAll=*/true);
  if (failed(dims))
    return failure();
  if (c.dtype(4) && !isFloating(*c.dtype(4)) && !isComplex(*c.dtype(4)))
    return c.fail(FakeError::Dtype, "a norm's dtype must be floating or "
                                    "complex, not " +
                                        dtypeName(*c.dtype(4)));
  // Maxima have no neutral element.
  double order = c.number(1);
  if (order < 0 || order > 1e300)
    if (failed(needsElements(c, *dims)))
      return failure();
  return normOver(c, *dims, c.flag(3), c.dtype(4));
}

/// The norm over all dims but one, which stays: [3, 4, 5] without dim 1 is
/// [1, 4, 1]; -1 leaves out none.
static LogicalResult normExceptDim(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  DimList dims = allDims(self);
  if (c.dim(2).is(-1))
    return normOver(c, dims, false, std::nullopt);
  FailureOr<int64_t> kept = c.wrapDim(2, self.rank());
  if (failed(kept))
    return failure();
  llvm::erase(dims, *kept);
  if (failed(normOver(c, dims, true, std::nullopt)))
    return failure();
  // A dim in the middle is transposed to the front and back.
  TensorMeta &out = c.results.front().meta;
  if (*kept + 1 < self.rank())
    out.strides.assign(out.sizes.size(), Dim(1));
  return success();
}

/// norm(self, p[, dim, keepdim][, dtype])
static LogicalResult norm(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  StringRef overload = c.schema().overload;
  std::optional<DType> dtype;
  if (overload.contains("dtype"))
    dtype = c.dtype(overload.contains("dim") ? 4 : 2);
  if (dtype && isIntegral(*dtype))
    return c.fail(FakeError::Dtype, "a norm's dtype must be floating or "
                                    "complex, not " +
                                        dtypeName(*dtype));
  if (!overload.contains("dim"))
    return normOver(c, allDims(self), false,
                    overload.contains("dtype") ? c.dtype(2) : std::nullopt);
  auto dims = c.wrapDims(2, self.rank(), /*emptyIsAll=*/true);
  if (failed(dims))
    return failure();
  return normOver(c, *dims, c.flag(3),
                  overload.contains("dtype") ? c.dtype(4) : std::nullopt);
}

/// A norm of matrices by their singular values. The two dims, if kept, are
/// added to the result at the end and then put into their places.
static LogicalResult singularNorm(FakeCall &c, ArrayRef<int64_t> dims,
                                  bool keep, std::optional<DType> dtype) {
  const TensorMeta &self = c.tensor(0);
  if (dtypeBytes(toReal(self.dtype)) < 4)
    return c.fail(FakeError::Other, c.schema().base +
                                        " by singular values is not defined "
                                        "for " +
                                        dtypeName(self.dtype));
  if (failed(normOver(c, dims, keep, dtype)))
    return failure();
  if (keep)
    for (int64_t d : dims)
      c.results.front().meta.strides[d] = 1;
  return success();
}

/// linalg_norm(self, ord, dim, keepdim, dtype): of matrices if there is an
/// order and two dims, else of vectors; without dims and order, of all
/// elements.
static LogicalResult linalgNorm(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  bool named = c.arg(1).kind == Arg::Str, ordered = !c.isNone(1);
  if (ordered && c.isNone(2) && self.rank() != 2 && (named || self.rank() != 1))
    return c.fail(FakeError::Other, "linalg_norm with an order and no dim "
                                    "needs a vector or a matrix, not " +
                                        Twine(self.rank()) + " dims");
  auto dims = c.wrapDims(2, self.rank(), /*emptyIsAll=*/true);
  if (failed(dims))
    return failure();
  bool matrix = ordered && dims->size() == 2;
  if (named && !matrix)
    return c.fail(FakeError::Other, "the norm '" + c.text(1) +
                                        "' is over 2 dims, not " +
                                        Twine(dims->size()));
  if (named && c.text(1) != "fro" && c.text(1) != "nuc")
    return c.fail(FakeError::Other,
                  "a norm's name must be 'fro' or 'nuc', not '" + c.text(1) +
                      "'");
  double order = ordered && !named ? std::abs(c.number(1)) : 2;
  if (matrix && order != 1 && order != 2 && order < 1e300)
    return c.fail(FakeError::Other, "a matrix norm's order must be ±1, ±2 or "
                                    "±inf, not " +
                                        std::to_string(c.number(1)));
  bool extreme = ordered && !named && (c.number(1) < 0 || order > 1e300);
  if (extreme && failed(matrix ? needsLeast(c, *dims, c.number(1))
                               : needsElements(c, *dims)))
    return failure();
  if (isComplex(self.dtype) && c.dtype(4) && !isComplex(*c.dtype(4)))
    return c.fail(FakeError::Other, "the norm of " + dtypeName(self.dtype) +
                                        " needs a complex dtype, not " +
                                        dtypeName(*c.dtype(4)));
  bool singular = matrix && (named ? c.text(1) == "nuc" : order == 2);
  return singular ? singularNorm(c, *dims, c.flag(3), c.dtype(4))
                  : normOver(c, *dims, c.flag(3), c.dtype(4));
}

/// frobenius_norm(self, dim, keepdim)
static LogicalResult frobeniusNorm(FakeCall &c) {
  auto dims = c.wrapDims(1, c.tensor(0).rank(), /*emptyIsAll=*/true);
  if (failed(dims))
    return failure();
  if (c.length(1) > 2)
    return c.fail(FakeError::Other, "frobenius_norm is over at most 2 dims, "
                                    "not " +
                                        Twine(c.length(1)));
  return normOver(c, *dims, c.flag(2), std::nullopt);
}

/// nuclear_norm(self[, dim], keepdim)
static LogicalResult nuclearNorm(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  bool named = c.schema().overload == "dim";
  auto dims = named ? c.wrapDims(1, self.rank(), /*emptyIsAll=*/false)
                    : FailureOr<DimList>(allDims(self));
  if (failed(dims))
    return failure();
  if (dims->size() != 2)
    return c.fail(FakeError::Other,
                  "nuclear_norm is over 2 dims, not " + Twine(dims->size()));
  return singularNorm(c, *dims, c.flag(named ? 2 : 1), std::nullopt);
}

static LogicalResult dist(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, 3);
  FailureOr<Dims> sizes = c.broadcast({&c.tensor(0), &c.tensor(1)});
  if (failed(dtype) || failed(sizes))
    return failure();
  if (isIntegral(*dtype))
    return c.fail(FakeError::Dtype, "dist needs floating or complex dtypes, "
                                    "not " +
                                        dtypeName(*dtype));
  return c.fresh(TensorMeta::contiguous(toReal(*dtype), {}, c.device));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static LogicalResult trace(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() != 2)
    return c.fail(FakeError::Dim, "trace needs 2 dims, " + c.nameOf(&self) +
                                      " has " + Twine(self.rank()));
  return c.fresh(
      TensorMeta::contiguous(integralToLong(self.dtype), {}, c.device));
}

static LogicalResult hashTensor(FakeCall &c) {
  auto dims = c.wrapDims(1, c.tensor(0).rank(), /*emptyIsAll=*/true);
  return failed(dims) ? failure() : reduced(c, *dims, c.flag(2), DType::U64);
}

/// segment_reduce(data, reduce, lengths, indices, offsets, axis, …)
static LogicalResult segmentReduce(FakeCall &c) {
  const TensorMeta &data = c.tensor(0);
  const TensorMeta *lengths = c.optTensor(2), *offsets = c.optTensor(4);
  FailureOr<int64_t> axis = c.wrapDim(5, data.rank());
  if (failed(axis))
    return failure();
  if (!lengths && !offsets)
    return c.fail(FakeError::Other, "segment_reduce needs lengths or offsets");
  const TensorMeta &segments = lengths ? *lengths : *offsets;
  if (segments.rank() < *axis + 1 || data.sizes.empty())
    return c.fail(FakeError::Dim, "the segments " + c.show(segments) +
                                      " do not reach axis " + Twine(*axis));
  Dims sizes(data.sizes.begin(), data.sizes.begin() + *axis);
  Dim count = segments.sizes.back();
  if (!lengths && c.isEmpty(count))
    return c.fail(FakeError::Shape,
                  "segments of n offsets are n - 1, 'offsets' "
                  "has none");
  sizes.push_back(lengths ? count : count - 1);
  sizes.append(data.sizes.begin() + *axis + 1, data.sizes.end());
  return c.fresh(TensorMeta::contiguous(data.dtype, sizes, c.device));
}

static LogicalResult segmentReduceBackward(FakeCall &c) {
  const TensorMeta &data = c.tensor(2);
  return c.fresh(
      TensorMeta::contiguous(c.tensor(0).dtype, data.sizes, c.device));
}

ArrayRef<FakeRuleRow> reduceRules() {
  static const FakeRuleRow rows[] = {
      {"_segment_reduce_backward.default", segmentReduceBackward},
      {"all.default", anyAll},
      {"all.dim", anyDim},
      {"all.dims", anyDims},
      {"allclose.default", dataDependent},
      {"amax.default", extremumDims},
      {"amin.default", extremumDims},
      {"_cummax_helper.default", scanInto},
      {"_cummin_helper.default", scanInto},
      {"_aminmax.default", aminmaxKernel},
      {"_aminmax.dim", aminmaxKernel},
      {"_is_all_true.default", isTrue},
      {"_is_any_true.default", isTrue},
      {"_logcumsumexp.default", logcumsumexp},
      {"aminmax.default", aminmax},
      {"any.default", anyAll},
      {"any.dim", anyDim},
      {"any.dims", anyDims},
      {"argmax.default", argExtremum},
      {"argmin.default", argExtremum},
      {"count_nonzero.default", countNonzero},
      {"count_nonzero.dim_IntList", countNonzero},
      {"cummax.default", scanWithIndices},
      {"cummin.default", scanWithIndices},
      {"cumprod.default", scan},
      {"cumsum.default", scan},
      {"dist.default", dist},
      {"equal.default", dataDependent},
      {"frobenius_norm.dim", frobeniusNorm},
      {"hash_tensor.default", hashTensor},
      {"is_nonzero.default", isNonzero},
      {"kthvalue.default", kthvalue},
      {"linalg__powsum.default", vectorNorm},
      {"linalg_norm.default", linalgNorm},
      {"linalg_norm.ord_str", linalgNorm},
      {"linalg_vector_norm.default", vectorNorm},
      {"logcumsumexp.default", logcumsumexp},
      {"logsumexp.default", logsumexp},
      {"max.default", extremumAll<true>},
      {"max.dim", extremumDim},
      {"max.other", pointwise<Promote::Default, 3, Takes::NoComplex>},
      {"mean.default", meanAll},
      {"mean.dim", meanDims},
      {"median.default", extremumAll<false>},
      {"median.dim", extremumDim},
      {"min.default", extremumAll<true>},
      {"min.dim", extremumDim},
      {"min.other", pointwise<Promote::Default, 3, Takes::NoComplex>},
      {"mode.default", extremumDim},
      {"nanmean.default", meanDims},
      {"nanmedian.default", extremumAll<false>},
      {"nanmedian.dim", extremumDim},
      {"nansum.default", nansum},
      {"norm.Scalar", norm},
      {"norm_except_dim.default", normExceptDim},
      {"norm.ScalarOpt_dim", norm},
      {"norm.ScalarOpt_dim_dtype", norm},
      {"norm.ScalarOpt_dtype", norm},
      {"nuclear_norm.default", nuclearNorm},
      {"nuclear_norm.dim", nuclearNorm},
      {"prod.default", sumAll},
      {"prod.dim_int", prodDim},
      {"segment_reduce.default", segmentReduce},
      {"special_logsumexp.default", logsumexp},
      {"std.correction", variance<false>},
      {"std.default", variance<false>},
      {"std.dim", variance<false>},
      {"std_mean.correction", variance<true>},
      {"std_mean.default", variance<true>},
      {"std_mean.dim", variance<true>},
      {"sum.default", sumAll},
      {"sum.dim_IntList", sumDims},
      {"sum_to_size.default", sumToSize},
      {"trace.default", trace},
      {"var.correction", variance<false>},
      {"var.default", variance<false>},
      {"var.dim", variance<false>},
      {"var_mean.correction", variance<true>},
      {"var_mean.default", variance<true>},
      {"var_mean.dim", variance<true>},
  };
  return rows;
}

} // namespace ft
