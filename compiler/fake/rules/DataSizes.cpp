//===- DataSizes.cpp - Results whose size the data decide ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each such result has a new symbol for a size, with the bounds that hold
// whatever the data are:
//
//   nonzero(x [3, 4])           int64 [u0, 2] strides [1, u0], u0 in [0, 12]
//   masked_select(x [3, 4], …)  [u0], u0 in [0, 12]
//   unique_dim(x [3, 4], 0)     [u0, 4], u0 in [0, 3]
//
// Of an empty tensor nothing can be selected: the size is 0, no symbol.

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/IndexRules.h"

using namespace llvm;

namespace ft {

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

/// How many of at most `most` elements the data select.
static FailureOr<Dim> countOf(FakeCall &c, Dim most,
                              std::optional<unsigned> memoOf) {
  if (most.is(0) &&
      succeeded(c.needsData("the size of " + c.schema().base + "'s result")))
    return Dim(0);
  return c.unbackedSize(0, most, memoOf);
}

//===----------------------------------------------------------------------===//
// Which elements are not zero
//===----------------------------------------------------------------------===//

static LogicalResult nonzero(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<Dim> count = countOf(c, self.numel(), 0);
  if (failed(count))
    return failure();
  // One coordinate after the other.
  TensorMeta out =
      TensorMeta::contiguous(DType::I64, {*count, Dim(self.rank())}, c.device);
  out.strides = {Dim(1), *count};
  return c.fresh(std::move(out));
}

/// A result for each dim: the columns of `nonzero`.
static LogicalResult nonzeroNumpy(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<Dim> count = countOf(c, self.numel(), 0);
  if (failed(count))
    return failure();
  for (int64_t d = 0; d < std::max<int64_t>(self.rank(), 1); ++d) {
    TensorMeta out = TensorMeta::contiguous(DType::I64, {*count}, c.device);
    out.offset = *count * Dim(d);
    if (failed(c.fresh(std::move(out))))
      return failure();
  }
  return success();
}

static LogicalResult maskedSelect(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &mask = c.tensor(1);
  if (c.device.kind == Device::Cpu && mask.dtype != DType::Bool &&
      mask.dtype != DType::U8 && !c.scope)
    return c.fail(FakeError::Dtype,
                  "the mask must be bool, not " + dtypeName(mask.dtype));
  FailureOr<Dims> sizes = c.broadcast({&self, &mask});
  if (failed(sizes))
    return failure();
  FailureOr<Dim> count = countOf(c, product(*sizes), std::nullopt);
  return failed(count) ? failure() : rowMajor(c, self.dtype, {*count});
}

/// As many as `nonzero` finds in the mask: two reads with one mask have one
/// size.
FailureOr<Dim> maskCount(FakeCall &c, const TensorMeta &mask) {
  constexpr StringRef kPurpose = "nonzero";
  size_t operand = &mask - c.tensorOperands().data();
  uint64_t key = operand < c.operandKeys.size() ? c.operandKeys[operand] : 0;
  if (failed(c.needsData("the size of " + c.schema().base + "'s result")))
    return failure();
  if (key)
    if (std::optional<Dim> known = c.scope->remembered(key, kPurpose))
      return *known;
  FailureOr<Dim> count = countOf(c, mask.numel(), std::nullopt);
  if (key && succeeded(count))
    c.scope->remember(key, kPurpose, *count);
  return count;
}

//===----------------------------------------------------------------------===//
// Which elements differ
//===----------------------------------------------------------------------===//

/// What comes after the values: for each input element where its value went,
/// and how often each value occurs; [0] if it is not asked for.
static LogicalResult inverseAndCounts(FakeCall &c, bool inverse,
                                      ArrayRef<Dim> inverseSizes,
                                      std::optional<bool> counts, Dim count) {
  if (failed(rowMajor(c, DType::I64, inverse ? inverseSizes : Dims{0})))
    return failure();
  if (!counts)
    return success();
  return rowMajor(c, DType::I64, {*counts ? count : Dim(0)});
}

/// _unique and _unique2: (self, sorted, return_inverse, return_counts)
template <bool Counts>
static LogicalResult unique(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkTakes(c, self.dtype, Takes::NoComplex)))
    return failure();
  FailureOr<Dim> count = countOf(c, self.numel(), 0);
  if (failed(count) || failed(rowMajor(c, self.dtype, {*count})))
    return failure();
  return inverseAndCounts(c, c.flag(2), self.sizes,
                          Counts ? std::optional(c.flag(3)) : std::nullopt,
                          *count);
}

/// On the CPU kernels that go along a dim give all results whether they are
/// asked for them or not.
static LogicalResult uniqueAlong(FakeCall &c, unsigned dimArg, bool inverse,
                                 bool counts) {
  bool all = c.device.kind == Device::Cpu;
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = c.wrapDim(dimArg, self.rank());
  if (failed(dim) || failed(checkTakes(c, self.dtype, Takes::NoComplex)))
    return failure();
  if (self.sizes.empty())
    return c.fail(FakeError::Index, "unique needs a dim to go along, the "
                                    "tensor has none");
  Dim length = self.sizes[*dim];
  bool empty = self.numel().is(0);
  if (empty && !length.is(0))
    for (int64_t d = 0; d < self.rank(); ++d)
      if (d != *dim && self.sizes[d].is(0) && c.device.kind == Device::Cpu &&
          !c.scope)
        return c.fail(FakeError::Other, "rows of no elements, as those of " +
                                            c.show(self) +
                                            ", cannot be told apart");
  FailureOr<Dim> count =
      empty ? FailureOr<Dim>(Dim(0)) : countOf(c, length, std::nullopt);
  if (failed(count))
    return failure();
  Dims sizes = self.sizes;
  sizes[*dim] = *count;
  if (failed(rowMajor(c, self.dtype, sizes)))
    return failure();
  return inverseAndCounts(c, all || inverse, {length}, all || counts, *count);
}

/// (self, dim, sorted, return_inverse, return_counts)
static LogicalResult uniqueDim(FakeCall &c) {
  return uniqueAlong(c, 1, c.flag(3), c.flag(4));
}

/// (self, return_inverse, return_counts, dim)
static LogicalResult uniqueConsecutive(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  // Dim 0 of a vector, written so, is no dim to go along.
  if (!c.isNone(3) && !(self.rank() == 1 && c.dim(3).is(0)))
    return uniqueAlong(c, 3, c.flag(1), c.flag(2));
  if (failed(checkTakes(c, self.dtype, Takes::NoComplex)))
    return failure();
  FailureOr<Dim> count = countOf(c, self.numel(), 0);
  if (failed(count) || failed(rowMajor(c, self.dtype, {*count})))
    return failure();
  return inverseAndCounts(c, c.flag(1), self.sizes, c.flag(2), *count);
}

/// (self, dim, return_inverse, return_counts)
static LogicalResult uniqueDimConsecutive(FakeCall &c) {
  return uniqueAlong(c, 1, c.flag(2), c.flag(3));
}

//===----------------------------------------------------------------------===//
// Packed sequences
//===----------------------------------------------------------------------===//

/// (input [time, batch, …], lengths, batch_first): (data [total, …], the number
/// of sequences at each time)
static LogicalResult packPadded(FakeCall &c) {
  TensorMeta input = c.tensor(0);
  if (input.rank() < 2)
    return c.fail(FakeError::Dim,
                  "sequences need at least 2 dims, not " + Twine(input.rank()));
  if (c.flag(2))
    std::swap(input.sizes[0], input.sizes[1]);
  const TensorMeta &lengths = c.tensor(1);
  if (lengths.rank() != 1 || !c.mustEq(lengths.sizes[0], input.sizes[1]))
    return c.fail(FakeError::Shape,
                  "the lengths " + c.show(lengths) + " do not fit a batch of " +
                      input.sizes[1].str() + ", dim " +
                      Twine(c.flag(2) ? 0 : 1) + " of 'input'");
  if (lengths.dtype != DType::I64 || lengths.device.kind != Device::Cpu)
    return c.fail(FakeError::Other,
                  "the lengths must be int64 on cpu, not " + c.show(lengths));
  FailureOr<Dim> total = c.unbackedSize(0, input.sizes[0] * input.sizes[1]);
  if (failed(total))
    return failure();
  FailureOr<Dim> times = c.unbackedSize(0, input.sizes[0]);
  if (failed(times))
    return failure();
  Dims sizes(input.sizes.begin() + 2, input.sizes.end());
  sizes.insert(sizes.begin(), *total);
  if (failed(rowMajor(c, input.dtype, sizes)))
    return failure();
  c.device = Device();
  return rowMajor(c, DType::I64, {*times});
}

/// (data, batch_sizes, batch_first, padding_value, total_length):
/// ([time, batch, …], lengths); the batch is the first of batch_sizes.
static LogicalResult padPacked(FakeCall &c) {
  const TensorMeta &data = c.tensor(0), &times = c.tensor(1);
  if (data.sizes.empty() || times.rank() != 1)
    return c.fail(FakeError::Dim, "packed data needs a dim, and batch_sizes "
                                  "exactly one");
  FailureOr<Dim> batch = c.unbackedSize(0, data.sizes[0]);
  if (failed(batch))
    return failure();
  Dim length = times.sizes[0];
  if (c.lt(0, c.dim(4))) {
    if (c.lt(c.dim(4), length))
      return c.fail(FakeError::Other, "total_length " + c.dim(4).str() +
                                          " is below " + length.str());
    length = c.dim(4);
  }
  TensorMeta out = data;
  out.sizes.erase(out.sizes.begin());
  out.sizes.insert(out.sizes.begin(), {length, *batch});
  out.strides = contiguousStrides(out.sizes);
  out.offset = 0;
  if (c.flag(2)) {
    std::swap(out.sizes[0], out.sizes[1]);
    std::swap(out.strides[0], out.strides[1]);
  }
  (void)c.fresh(std::move(out));
  c.device = Device();
  return rowMajor(c, DType::I64, {*batch});
}

//===----------------------------------------------------------------------===//
// How often each number occurs
//===----------------------------------------------------------------------===//

/// (self, weights, minlength)
static LogicalResult bincount(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() != 1 && !(self.numel().is(0) && self.rank() <= 1))
    return c.fail(FakeError::Dim, "bincount needs 1 dim, " + c.nameOf(&self) +
                                      " has " + Twine(self.rank()));
  if (failed(checkTakes(c, self.dtype, Takes::IntegerNoBool)))
    return failure();
  Dim least = c.dim(2);
  if (c.lt(least, 0))
    return c.fail(FakeError::Other,
                  "minlength must not be negative, it is " + least.str());
  const TensorMeta *weights = c.optTensor(1);
  if (weights && !c.sameSizes(weights->sizes, self.sizes))
    return c.fail(FakeError::Shape, "the weights " + c.show(*weights) +
                                        " do not have the size of " +
                                        c.show(self) +
                                        unlike(weights->sizes, self.sizes));
  DType dtype = !weights                       ? DType::I64
                : weights->dtype == DType::F32 ? DType::F32
                                               : DType::F64;
  FailureOr<Dim> count = c.unbackedSize(least.isStatic() ? least.value() : 0,
                                        std::nullopt, std::nullopt);
  return failed(count) ? failure() : rowMajor(c, dtype, {*count});
}

ArrayRef<FakeRuleRow> dataSizesRules() {
  static const FakeRuleRow rows[] = {
      {"_pack_padded_sequence.default", packPadded, DevicePolicy::First},
      {"_pad_packed_sequence.default", padPacked, DevicePolicy::First},
      {"_unique.default", unique<false>},
      {"_unique2.default", unique<true>},
      {"argwhere.default", nonzero},
      {"bincount.default", bincount},
      {"masked_select.default", maskedSelect},
      {"nonzero.default", nonzero},
      {"nonzero_numpy.default", nonzeroNumpy},
      {"unique_consecutive.default", uniqueConsecutive},
      {"unique_dim.default", uniqueDim},
      {"unique_dim_consecutive.default", uniqueDimConsecutive},
      {"where.default", nonzeroNumpy},
  };
  return rows;
}

} // namespace ft
