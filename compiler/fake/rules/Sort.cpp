//===- Sort.cpp - Sorting and searching ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/IndexRules.h"

using namespace llvm;

namespace ft {

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

/// (values, indices) in the input's order of dims.
template <unsigned DimArg, bool Values>
static LogicalResult sort(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(c.wrapDim(DimArg, self.rank())) ||
      failed(checkTakes(c, self.dtype, Takes::NoComplex)))
    return failure();
  TensorMeta out = self;
  out.strides = likeStrides(self);
  out.offset = 0;
  TensorMeta indices = out;
  indices.dtype = DType::I64;
  if (Values && failed(c.fresh(std::move(out))))
    return failure();
  return c.fresh(std::move(indices));
}

static LogicalResult msort(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  out.strides = likeStrides(out);
  out.offset = 0;
  return c.fresh(std::move(out));
}

static LogicalResult topk(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<int64_t> dim = c.wrapDim(2, self.rank());
  if (failed(dim))
    return failure();
  Dim k = c.dim(1), size = self.sizes.empty() ? Dim(1) : self.sizes[*dim];
  if (c.lt(k, 0) || c.exceeds(k, size))
    return c.fail(FakeError::Dim,
                  "k = " + k.str() + " is out of range for dim " + Twine(*dim) +
                      " of " + c.nameOf(&self) + ", of size " + size.str());
  Dims sizes = self.sizes;
  if (!sizes.empty())
    sizes[*dim] = k;
  if (failed(rowMajor(c, self.dtype, sizes)))
    return failure();
  return rowMajor(c, DType::I64, sizes);
}

/// bucketize(self, boundaries, out_int32, right)
static LogicalResult bucketize(FakeCall &c) {
  if (c.tensor(1).rank() != 1)
    return c.fail(FakeError::Dim, "the boundaries need 1 dim, they have " +
                                      Twine(c.tensor(1).rank()));
  DType dtype = c.flag(2) ? DType::I32 : DType::I64;
  return c.arg(0).kind == Arg::Tensor ? rowMajor(c, dtype, c.tensor(0).sizes)
                                      : rowMajor(c, dtype, {});
}

/// searchsorted(sequence, self, out_int32, right, side, sorter)
static LogicalResult searchsorted(FakeCall &c) {
  const TensorMeta &sequence = c.tensor(0);
  const TensorMeta *sorter = c.optTensor(5);
  if (sorter && sorter->dtype != DType::I64)
    return c.fail(FakeError::Dtype, "the sorter must be int64, it is " +
                                        dtypeName(sorter->dtype));
  if (sorter && !c.sameSizes(sorter->sizes, sequence.sizes))
    return c.fail(FakeError::Shape, "the sorter " + c.show(*sorter) +
                                        " does not have the size of " +
                                        c.show(sequence) +
                                        unlike(sorter->sizes, sequence.sizes));
  StringRef side = c.optText(4);
  if (!side.empty() && side != "left" && side != "right")
    return c.fail(FakeError::Other,
                  "side must be 'left' or 'right', not '" + side + "'");
  if (side == "left" && c.flag(3))
    return c.fail(FakeError::Other, "side is 'left' but right is true");
  DType dtype = c.flag(2) ? DType::I32 : DType::I64;
  const TensorMeta *values = c.optTensor(1);
  if (!values) {
    if (sequence.rank() != 1)
      return c.fail(FakeError::Shape, "a number is searched in a sequence of 1 "
                                      "dim, not in " +
                                          c.show(sequence));
    return rowMajor(c, dtype, {});
  }
  bool oneRow = sequence.rank() <= 1;
  if (!oneRow && (sequence.rank() != values->rank() ||
                  !c.sameSizes(ArrayRef<Dim>(sequence.sizes).drop_back(),
                               ArrayRef<Dim>(values->sizes).drop_back())))
    return c.fail(
        FakeError::Shape,
        "the values " + c.show(*values) + " do not fit the sequences " +
            c.show(sequence) + " apart from the last dim" +
            unlike(
                ArrayRef<Dim>(values->sizes).drop_back(!values->sizes.empty()),
                ArrayRef<Dim>(sequence.sizes).drop_back()));
  return rowMajor(c, dtype, values->sizes);
}

/// A number, or a tensor, on either side; of the left one's size.
static LogicalResult isin(FakeCall &c) {
  for (unsigned i : {0u, 1u})
    if (const TensorMeta *t = c.optTensor(i))
      if (failed(checkTakes(c, t->dtype, Takes::NoComplex)))
        return failure();
  return c.fresh(TensorMeta::contiguous(
      DType::Bool, c.optTensor(0) ? c.tensor(0).sizes : Dims(), c.device));
}

ArrayRef<FakeRuleRow> sortRules() {
  static const FakeRuleRow rows[] = {
      {"argsort.default", sort<1, false>},
      {"argsort.stable", sort<2, false>},
      {"bucketize.Scalar", bucketize},
      {"bucketize.Tensor", bucketize},
      {"isin.Scalar_Tensor", isin},
      {"isin.Tensor_Scalar", isin},
      {"isin.Tensor_Tensor", isin},
      {"msort.default", msort},
      {"searchsorted.Scalar", searchsorted},
      {"searchsorted.Tensor", searchsorted},
      {"sort.default", sort<1, true>},
      {"sort.stable", sort<2, true>},
      {"topk.default", topk},
  };
  return rows;
}

} // namespace ft
