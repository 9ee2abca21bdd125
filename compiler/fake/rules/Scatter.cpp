//===- Scatter.cpp - Copies of a tensor with parts replaced ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/IndexRules.h"
#include "compiler/fake/rules/ViewRules.h"

using namespace llvm;

namespace ft {

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

/// Laid out as a copy of self.
static LogicalResult like(FakeCall &c, const TensorMeta &self) {
  TensorMeta out = self;
  out.strides = cloneStrides(self);
  out.offset = 0;
  out.device = c.device;
  return c.fresh(std::move(out));
}

/// With self's strides and offset, gaps included, unless elements overlap.
static LogicalResult sameLayout(FakeCall &c, const TensorMeta &self) {
  return overlapsItself(self) ? like(c, self) : c.fresh(self);
}

static LogicalResult sameDType(FakeCall &c, const TensorMeta &self,
                               const TensorMeta &source) {
  if (self.dtype == source.dtype)
    return success();
  return c.fail(FakeError::Dtype, c.schema().base + " needs one dtype, not " +
                                      dtypeName(self.dtype) + " and " +
                                      dtypeName(source.dtype));
}

//===----------------------------------------------------------------------===//
// The inverse of a view
//===----------------------------------------------------------------------===//

/// The source must have the size of the part that it replaces.
static LogicalResult checkPart(FakeCall &c, ArrayRef<Dim> part) {
  if (c.sameSizes(c.tensor(1).sizes, part))
    return success();
  return c.fail(FakeError::Shape,
                "the source " + c.show(c.tensor(1)) +
                    " does not have the size of the part that it replaces, " +
                    TensorMeta::contiguous(c.tensor(0).dtype, part).str());
}

static LogicalResult selectScatter(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "select_scatter needs at least one dim");
  FailureOr<int64_t> dim = c.wrapDim(2, self.rank());
  if (failed(dim))
    return failure();
  if (failed(checkedIndex(c, c.dim(3), self.sizes[*dim], *dim)) ||
      failed(checkPart(c, selected(self, *dim, 0).sizes)))
    return failure();
  return sameLayout(c, self);
}

static LogicalResult sliceScatter(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "slice_scatter needs at least one dim");
  FailureOr<int64_t> dim = c.wrapDim(2, self.rank());
  if (failed(dim))
    return failure();
  Dim step = c.dim(5), size = self.sizes[*dim];
  if (c.lt(step, 1))
    return c.fail(FakeError::Index,
                  "a slice's step must be positive, it is " + step.str());
  Dim start = c.isNone(3) ? Dim(0) : clampIndex(c, c.dim(3), size);
  Dim end = c.isNone(4) ? size : clampEnd(c, c.dim(4), size);
  Dims part = self.sizes;
  part[*dim] = lengthBetween(c, start, end, size, step);
  // The source may be broadcast.
  if (failed(c.broadcastTo(c.tensor(1).sizes, part, &c.tensor(1))))
    return failure();
  return sameLayout(c, self);
}

static LogicalResult diagonalScatter(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<TensorMeta> part =
      diagonalOf(c, self, c.dim(2), c.dim(3), c.dim(4));
  if (failed(part) || failed(checkPart(c, part->sizes)))
    return failure();
  return sameLayout(c, self);
}

static LogicalResult asStridedScatter(FakeCall &c) {
  if (failed(checkPart(c, c.dims(2))))
    return failure();
  return sameLayout(c, c.tensor(0));
}

//===----------------------------------------------------------------------===//
// At indices along a dim
//===----------------------------------------------------------------------===//

static LogicalResult indexVector(FakeCall &c, const TensorMeta &index) {
  if (index.rank() > 1)
    return c.fail(FakeError::Dim, "the index needs at most 1 dim, it has " +
                                      Twine(index.rank()));
  return success();
}

/// Row `i` of the source goes with index `i`; the other sizes agree.
static LogicalResult checkRows(FakeCall &c, const TensorMeta &self, int64_t dim,
                               const TensorMeta &index,
                               const TensorMeta &source) {
  Dim rows = source.sizes.empty()  ? Dim(1)
             : dim < source.rank() ? source.sizes[dim]
                                   : Dim(1);
  if (!c.mustEq(index.numel(), rows))
    return c.fail(FakeError::Shape, "there are " + index.numel().str() +
                                        " indices, and " + rows.str() +
                                        " in dim " + Twine(dim) + " of " +
                                        c.nameOf(&source));
  if (self.sizes.empty() || source.sizes.empty())
    return success();
  Dims want = self.sizes;
  want[dim] = rows;
  if (!c.sameSizes(source.sizes, want))
    return c.fail(FakeError::Dim, "the source " + c.show(source) +
                                      " does not fit " + c.show(self) +
                                      " apart from dim " + Twine(dim) +
                                      unlike(source.sizes, want));
  return success();
}

/// index_add, index_copy, index_reduce: (self, dim, index, source, …)
static LogicalResult indexRows(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &index = c.tensor(2);
  const TensorMeta &source = c.tensor(3);
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  if (failed(dim) || failed(indexVector(c, index)) ||
      failed(indexDType(c, index)) ||
      failed(checkRows(c, self, *dim, index, source)))
    return failure();
  if (failed(sameDType(c, self, source)))
    return failure();
  TensorMeta out = TensorMeta::contiguous(self.dtype, self.sizes, c.device);
  if (c.schema().base == "index_copy")
    out.strides = selectedStrides({&self}, self.sizes);
  return c.fresh(std::move(out));
}

static LogicalResult indexFill(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &index = c.tensor(2);
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  if (failed(dim) || failed(indexVector(c, index)) ||
      failed(indexDType(c, index)))
    return failure();
  if (const TensorMeta *value = c.optTensor(3))
    if (!value->sizes.empty())
      return c.fail(FakeError::Dim,
                    "the value must have no dims, not " + Twine(value->rank()));
  if (c.arg(3).kind == Arg::Complex && !isComplex(self.dtype))
    return c.fail(FakeError::Dtype,
                  "a complex value does not fit a tensor of " +
                      dtypeName(self.dtype));
  // Of nothing there is nothing to lay out anew.
  if (self.numel().is(0))
    return c.fresh(self);
  return like(c, self);
}

//===----------------------------------------------------------------------===//
// At indices everywhere
//===----------------------------------------------------------------------===//

/// scatter, scatter_add, scatter_reduce: (self, dim, index, source or number)
static LogicalResult scatter(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &index = c.tensor(2);
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  if (failed(dim))
    return failure();
  if (!index.numel().is(0)) {
    if (failed(indexDType(c, index)))
      return failure();
    if (failed(checkGather(c, self, *dim, index)))
      return failure();
    if (const TensorMeta *source = c.optTensor(3)) {
      if (std::max<int64_t>(source->rank(), 1) !=
          std::max<int64_t>(index.rank(), 1))
        return c.fail(FakeError::Dim, "the index " + c.show(index) +
                                          " and the source " + c.show(*source) +
                                          " differ in the number of dims");
      for (int64_t d = 0; d < index.rank(); ++d)
        if (c.lt(source->sizes.empty() ? Dim(1) : source->sizes[d],
                 index.sizes[d]))
          return c.fail(FakeError::Shape,
                        "the index has size " + index.sizes[d].str() +
                            " at dim " + Twine(d) + ", more than the source " +
                            c.show(*source));
    }
  }
  if (const TensorMeta *source = c.optTensor(3))
    if (failed(sameDType(c, self, *source)))
      return failure();
  return rowMajor(c, self.dtype, self.sizes);
}

/// index_put: (self, indices, values, accumulate); any mix of masks and
/// indices.
static LogicalResult indexPut(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &values = c.tensor(2);
  c.device = self.device;
  if (values.device != self.device && !values.sizes.empty())
    return c.fail(FakeError::Device,
                  "the values are on " + values.device.str() +
                      ", the tensor on " + self.device.str());
  auto indices = c.tensors(1);
  bool masks = false;
  int64_t used = 0;
  for (const TensorMeta *index : indices) {
    bool mask =
        index && (index->dtype == DType::Bool || index->dtype == DType::U8);
    masks |= mask;
    used += mask ? index->rank() : 1;
    if (index && !mask && index->dtype != DType::I64 &&
        index->dtype != DType::I32)
      return c.fail(FakeError::Index, "indices must be integers or bool, not " +
                                          dtypeName(index->dtype));
  }
  if (used > self.rank())
    return c.fail(FakeError::Index, "there are " + Twine(used) +
                                        " indices for " + Twine(self.rank()) +
                                        " dims");
  if (self.dtype != values.dtype)
    return c.fail(FakeError::Dtype,
                  "the values are " + dtypeName(values.dtype) +
                      ", the tensor " + dtypeName(self.dtype));
  // How many values masks take is known from the data alone.
  if (!masks) {
    FailureOr<TensorMeta> part = indexedMeta(c, self, indices);
    if (failed(part) ||
        failed(c.broadcastTo(values.sizes, part->sizes, &values)))
      return failure();
  }
  return like(c, self);
}

static LogicalResult indexPutInto(FakeCall &c) {
  if (failed(indexPut(c)))
    return failure();
  c.results.clear();
  return c.view(c.tensor(0), 0);
}

/// (self, mask, indices, values)
static LogicalResult maskedIndexPut(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &mask = c.tensor(1);
  if (mask.dtype != DType::Bool && mask.dtype != DType::U8)
    return c.fail(FakeError::Dtype,
                  "the mask must be bool, not " + dtypeName(mask.dtype));
  auto indices = c.tensors(2);
  if (failed(indexedMeta(c, self, indices)))
    return failure();
  return like(c, self);
}

/// put(self, index, source, accumulate): flat indices.
static LogicalResult put(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &index = c.tensor(1);
  if (failed(sameDType(c, self, c.tensor(2))))
    return failure();
  if (index.dtype != DType::I64)
    return c.fail(FakeError::Dtype,
                  "put needs an int64 index, not " + dtypeName(index.dtype));
  if (!c.mustEq(index.numel(), c.tensor(2).numel()))
    return c.fail(FakeError::Shape, "there are " + index.numel().str() +
                                        " indices for " +
                                        c.tensor(2).numel().str() + " values");
  return like(c, self);
}

static LogicalResult maskedScatter(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &mask = c.tensor(1);
  if (mask.dtype != DType::Bool)
    return c.fail(FakeError::Dtype,
                  "the mask must be bool, not " + dtypeName(mask.dtype));
  if (failed(sameDType(c, self, c.tensor(2))))
    return failure();
  FailureOr<Dims> sizes = c.broadcast({&self, &mask});
  return failed(sizes) ? failure() : rowMajor(c, self.dtype, *sizes);
}

static LogicalResult maskedScatterBackward(FakeCall &c) {
  return rowMajor(c, c.tensor(0).dtype, c.dims(2));
}

//===----------------------------------------------------------------------===//
// Histograms
//===----------------------------------------------------------------------===//

static LogicalResult bins(FakeCall &c, Dim count) {
  if (c.lt(count, 1))
    return c.fail(FakeError::Other, "the number of bins must be positive, it "
                                    "is " +
                                        count.str());
  return success();
}

static LogicalResult histc(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  bool onCpu = c.device.kind == Device::Cpu;
  if (onCpu ? !isFloating(self.dtype) : isComplex(self.dtype))
    return c.fail(FakeError::Unsupported,
                  "histc is not defined for " + dtypeName(self.dtype));
  if (failed(bins(c, c.dim(1))))
    return failure();
  return rowMajor(c, self.dtype, {c.dim(1)});
}

/// (histogram, edges)
static LogicalResult histogram(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Dim count;
  // The CPU looks for the ends of the edges in full precision only.
  int range = c.schema().argIndex("range");
  bool edges = c.arg(1).kind != Arg::Int ||
               (range >= 0 && !c.isNone(static_cast<unsigned>(range)));
  if (c.device.kind == Device::Cpu &&
      (!isFloating(self.dtype) || (!edges && dtypeBytes(self.dtype) < 4)))
    return c.fail(FakeError::Unsupported,
                  "a histogram is not defined for " + dtypeName(self.dtype));
  if (c.arg(1).kind == Arg::Int) {
    count = c.dim(1);
  } else {
    if (c.tensor(1).rank() != 1)
      return c.fail(FakeError::Dim, "the bins need 1 dim, they have " +
                                        Twine(c.tensor(1).rank()));
    if (failed(sameDType(c, self, c.tensor(1))))
      return failure();
    count = c.tensor(1).sizes[0] - 1;
  }
  if (failed(bins(c, count)) || failed(rowMajor(c, self.dtype, count)))
    return failure();
  return rowMajor(c, self.dtype, count + 1);
}

/// The sizes that a multi-dimensional histogram has.
static FailureOr<Dims> histogramSizes(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  bool given = c.schema().base == "_histogramdd_from_bin_tensors";
  if (!isFloating(self.dtype) || (!given && dtypeBytes(self.dtype) < 4))
    return c.fail(FakeError::Dtype, "histogramdd needs float32 or float64, "
                                    "'self' is " +
                                        dtypeName(self.dtype));
  bool counts = c.schema().base != "_histogramdd_bin_edges";
  if (int w = c.schema().argIndex("weight"); counts && w >= 0)
    if (const TensorMeta *weight = c.optTensor(w))
      if (self.sizes.empty() ||
          !c.sameSizes(weight->sizes, ArrayRef<Dim>(self.sizes).drop_back()))
        return c.fail(FakeError::Shape,
                      "the weight " + c.show(*weight) +
                          " does not have the size of the points, " +
                          c.show(self) + ", without the last dim");
  if (int w = c.schema().argIndex("weight"); counts && w >= 0)
    if (const TensorMeta *weight = c.optTensor(w);
        weight && weight->dtype != self.dtype)
      return c.fail(FakeError::Dtype,
                    "the weight is " + dtypeName(weight->dtype) +
                        ", the points " + dtypeName(self.dtype));
  Dims binCounts;
  if (c.schema().args[1].type.kind == SchemaType::Tensor) {
    for (const TensorMeta *edges : c.tensors(1)) {
      if (!edges || edges->rank() != 1)
        return c.fail(
            FakeError::Dim,
            (edges ? c.nameOf(edges) : std::string("a tensor of the bins")) +
                " needs 1 dim, it has " + Twine(edges ? edges->rank() : 0));
      binCounts.push_back(edges->sizes[0] - 1);
    }
  } else {
    binCounts = c.dims(1);
    // One number is that of every dim.
    if (c.schema().overload == "int_bins" && !self.sizes.empty() &&
        self.sizes.back().isStatic())
      binCounts.assign(self.sizes.back().value(), c.dim(1));
  }
  if (self.rank() < 2 ||
      !c.mustEq(self.sizes.back(), Dim(int64_t(binCounts.size()))))
    return c.fail(FakeError::Dim, "there are bins for " +
                                      Twine(binCounts.size()) +
                                      " dims, the points are " + c.show(self));
  for (Dim count : binCounts)
    if (failed(bins(c, count)))
      return failure();
  return binCounts;
}

static LogicalResult histogramdd(FakeCall &c) {
  FailureOr<Dims> sizes = histogramSizes(c);
  return failed(sizes) ? failure() : rowMajor(c, c.tensor(0).dtype, *sizes);
}

static LogicalResult histogramEdges(FakeCall &c) {
  FailureOr<Dims> sizes = histogramSizes(c);
  if (failed(sizes))
    return failure();
  for (Dim count : *sizes)
    (void)rowMajor(c, c.tensor(0).dtype, count + 1);
  return success();
}

/// (histogram, edges…): the edges that are given are those arguments.
static LogicalResult histogramddWithEdges(FakeCall &c) {
  if (failed(histogramdd(c)))
    return failure();
  const TensorMeta &self = c.tensor(0);
  if (c.schema().args[1].type.kind != SchemaType::Tensor) {
    Dims sizes = c.results.front().meta.sizes;
    for (Dim count : sizes)
      (void)rowMajor(c, self.dtype, count + 1);
    return success();
  }
  for (auto [edges, arg] : zip(c.tensors(1), c.arg(1).list)) {
    if (edges->dtype != self.dtype)
      return c.fail(FakeError::Dtype,
                    "the bins are " + dtypeName(edges->dtype) +
                        ", the points " + dtypeName(self.dtype));
    (void)c.fresh(*edges);
    c.results.back().alias = arg.operand;
  }
  return success();
}

/// (self, value, wrap): the diagonal of a matrix or, of more dims, of a cube.
static LogicalResult fillDiagonal(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() < 2)
    return c.fail(FakeError::Dim, "fill_diagonal_ needs at least 2 dims, the "
                                  "tensor has " +
                                      Twine(self.rank()));
  for (Dim d : self.sizes)
    if (self.rank() > 2 && !c.mustEq(d, self.sizes[0]))
      return c.fail(FakeError::Shape,
                    "the dims of " + c.show(self) + " must have one size");
  return c.view(self, 0);
}

ArrayRef<FakeRuleRow> scatterRules() {
  using enum DevicePolicy;
  static const FakeRuleRow rows[] = {
      {"_histogramdd_bin_edges.default", histogramEdges},
      {"_histogramdd_from_bin_cts.default", histogramdd},
      {"_histogramdd_from_bin_tensors.default", histogramdd},
      {"_index_put_impl.default", indexPut, First},
      {"_index_put_impl_.default", indexPutInto},
      {"_index_put_impl_.hacked_twin", indexPutInto, First},
      {"_unsafe_index_put.default", indexPut, First},
      {"_unsafe_masked_index_put_accumulate.default", maskedIndexPut, First},
      {"as_strided_scatter.default", asStridedScatter},
      {"diagonal_scatter.default", diagonalScatter, First},
      {"fill_diagonal_.default", fillDiagonal},
      {"histc.default", histc},
      {"histogram.bin_ct", histogram},
      {"histogram.bins_tensor", histogram},
      {"histogramdd.TensorList_bins", histogramddWithEdges},
      {"histogramdd.default", histogramddWithEdges},
      {"histogramdd.int_bins", histogramddWithEdges},
      {"index_add.default", indexRows},
      {"index_copy.default", indexRows, Strict},
      {"index_fill.int_Scalar", indexFill},
      {"index_fill.int_Tensor", indexFill},
      {"index_put.default", indexPut, First},
      {"index_put.hacked_twin", indexPut, First},
      {"index_put_.default", indexPutInto, First},
      {"index_put_.hacked_twin", indexPutInto, First},
      {"index_reduce.default", indexRows},
      {"masked_scatter.default", maskedScatter},
      {"masked_scatter_backward.default", maskedScatterBackward},
      {"put.default", put},
      {"scatter.reduce", scatter},
      {"scatter.src", scatter},
      {"scatter.value", scatter},
      {"scatter.value_reduce", scatter},
      {"scatter_add.default", scatter},
      {"scatter_reduce.two", scatter},
      {"select_scatter.default", selectScatter},
      {"slice_scatter.default", sliceScatter, First},
  };
  return rows;
}

} // namespace ft
