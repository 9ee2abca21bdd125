//===- Embedding.cpp - Table look-ups --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

static LogicalResult indexDType(FakeCall &c, unsigned arg, FakeError category) {
  DType d = c.tensor(arg).dtype;
  if (d == DType::I64 || d == DType::I32)
    return success();
  return c.fail(category, "'" + c.schema().args[arg].name +
                              "' must be int64 or int32, not " + dtypeName(d));
}

static LogicalResult embedding(FakeCall &c) {
  const TensorMeta &weight = c.tensor(0), &indices = c.tensor(1);
  if (weight.rank() != 2)
    return c.fail(FakeError::Dim, "embedding's weight needs 2 dims, it has " +
                                      Twine(weight.rank()));
  if (failed(indexDType(c, 1, FakeError::Index)))
    return failure();
  Dims sizes = indices.sizes;
  sizes.push_back(weight.sizes[1]);
  return rowMajor(c, weight.dtype, sizes);
}

/// (grad, indices, num_weights, padding_idx, scale_grad_by_freq)
static LogicalResult embeddingBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &indices = c.tensor(1);
  if (grad.sizes.empty())
    return c.fail(FakeError::Dim, "the gradient needs at least one dim");
  Dims sizes(grad.sizes.begin(), grad.sizes.end() - 1);
  if (!c.mustEq(product(sizes), indices.numel()))
    return c.fail(FakeError::Shape,
                  c.nameOf(&grad) + " has " + product(sizes).str() +
                      " rows, its dims but the last, for " +
                      indices.numel().str() + " " + c.nameOf(&indices));
  return rowMajor(c, grad.dtype, {c.dim(2), grad.sizes.back()});
}

static LogicalResult notSparse(FakeCall &c) {
  if (int sparse = c.schema().argIndex("sparse"); sparse >= 0 && c.flag(sparse))
    return c.fail(FakeError::Unsupported,
                  "sparse gradients are not supported; give sparse=False");
  return success();
}

static LogicalResult embeddingBackwardDense(FakeCall &c) {
  return failed(notSparse(c)) ? failure() : embeddingBackward(c);
}

/// Writes the rows that are looked up.
static LogicalResult embeddingRenorm(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() != 2)
    return c.fail(FakeError::Dim, "embedding_renorm needs 2 dims, the tensor "
                                  "has " +
                                      Twine(self.rank()));
  if (failed(indexDType(c, 1, FakeError::Dtype)))
    return failure();
  return c.view(self, 0);
}

/// A copy in which the rows that are looked up are written.
static LogicalResult embeddingRenormed(FakeCall &c) {
  if (failed(embeddingRenorm(c)))
    return failure();
  FakeResult &result = c.results.front();
  result.meta.strides = cloneStrides(c.tensor(0));
  result.meta.offset = 0;
  result.alias = -1;
  return success();
}

//===----------------------------------------------------------------------===//
// Bags
//===----------------------------------------------------------------------===//
// `_embedding_bag` returns its workspace too: the bag of each index, the size
// of each bag and the index of each maximum. Which of them are filled depends
// on the kernel; the CPU one for sums skips the first.

namespace {
enum Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };
}

/// (weight, indices, offsets, scale, mode, sparse, per_sample_weights,
/// include_last_offset, padding_idx)
template <bool ForwardOnly>
static LogicalResult embeddingBag(FakeCall &c) {
  const TensorMeta &weight = c.tensor(0), &indices = c.tensor(1);
  const TensorMeta &offsets = c.tensor(2);
  const TensorMeta *scale = c.optTensor(6);
  if (failed(indexDType(c, 1, FakeError::Dtype)) ||
      failed(indexDType(c, 2, FakeError::Dtype)) ||
      failed(checkTakes(c, weight.dtype, Takes::Floating)))
    return failure();
  if (weight.rank() != 2 || indices.rank() != 1 || offsets.rank() != 1) {
    if (scale && indices.sizes.empty() && !c.mustEq(scale->numel(), 1))
      return c.fail(FakeError::Index, "there are " + scale->numel().str() +
                                          " weights for one index");
    return c.fail(FakeError::Dim, "embedding_bag needs a weight of 2 dims and "
                                  "indices and offsets of 1, not " +
                                      Twine(weight.rank()) + ", " +
                                      Twine(indices.rank()) + " and " +
                                      Twine(offsets.rank()));
  }
  int64_t mode = c.dim(4).isStatic() ? c.dim(4).value() : -1;
  if (mode < kSum || mode > kMax)
    return c.fail(FakeError::Other, c.dim(4).str() + " is no mode of "
                                                     "embedding_bag");
  if (scale) {
    if (mode != kSum)
      return c.fail(FakeError::Other,
                    "per_sample_weights are for sums, mode 0, not for mode " +
                        c.dim(4).str());

    if (scale->rank() != 1 || !c.mustEq(scale->numel(), indices.numel()))
      return c.fail(FakeError::Index, "there are " + scale->numel().str() +
                                          " weights for " +
                                          indices.numel().str() + " indices");
  }
  bool last = c.flag(7);
  Dim bags = last ? offsets.sizes[0] - 1 : offsets.sizes[0];
  if (c.lt(bags, 0))
    return c.fail(FakeError::Shape, "there must be at least one offset if the "
                                    "last one is included");
  if (failed(rowMajor(c, weight.dtype, {bags, weight.sizes[1]})))
    return failure();
  bool padded = c.arguments().size() > 8 && c.arg(8).kind == Arg::Int &&
                !c.lt(c.dim(8), 0);
  DType index = offsets.dtype;
  // The workspace lives beside the offsets.
  c.device = offsets.device;
  if (c.device.kind != Device::Cpu) {
    (void)rowMajor(c, indices.dtype, indices.sizes);
    (void)rowMajor(c, indices.dtype, offsets.sizes);
    return mode == kMax ? rowMajor(c, indices.dtype, {bags, weight.sizes[1]})
                        : rowMajor(c, indices.dtype, Dim(0));
  }
  bool fast = mode == kSum && !padded && weight.strides[1].is(1) &&
              weight.dtype != DType::F64 && (!scale || scale->strides[0].is(1));
  (void)rowMajor(c, index, fast ? Dims{Dim(0)} : indices.sizes);
  Dim sized = ForwardOnly && last && mode == kSum ? offsets.sizes[0] : bags;
  (void)rowMajor(c, index, sized);
  return mode == kMax ? rowMajor(c, index, {bags, weight.sizes[1]})
                      : rowMajor(c, index, sized);
}

/// (grad, …, num_weights, …)
static LogicalResult embeddingBagBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0);
  if (grad.rank() != 2)
    return c.fail(FakeError::Dim,
                  "the gradient needs 2 dims, it has " + Twine(grad.rank()));
  if (failed(notSparse(c)))
    return failure();
  int rows = c.schema().argIndex("num_weights");
  return rowMajor(c, grad.dtype, {c.dim(rows), grad.sizes[1]});
}

/// (grad, weight, indices, offsets, offset2bag, mode, padding_idx)
static LogicalResult perSampleBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &weight = c.tensor(1);
  if (!c.dim(5).is(kSum))
    return c.fail(FakeError::Other,
                  "per_sample_weights are for sums, mode 0, not for mode " +
                      c.dim(5).str());
  if (grad.rank() != 2)
    return c.fail(FakeError::Dim,
                  "the gradient needs 2 dims, it has " + Twine(grad.rank()));
  if (weight.rank() != 2 || !c.mustEq(weight.sizes[1], grad.sizes[1]))
    return c.fail(FakeError::Other,
                  weight.rank() != 2
                      ? c.nameOf(&weight) + " needs 2 dims, it has " +
                            std::to_string(weight.rank())
                      : c.sizeAt(weight, 1) + ", " + c.sizeAt(grad, 1));
  const TensorMeta &indices = c.tensor(2);
  if (indices.rank() != 1)
    return c.fail(FakeError::Dim,
                  "the indices need 1 dim, they have " + Twine(indices.rank()));
  return rowMajor(c, grad.dtype, indices.sizes);
}

static LogicalResult oneHot(FakeCall &c) {
  if (c.tensor(0).dtype != DType::I64)
    return c.fail(FakeError::Dtype,
                  "one_hot needs int64, not " + dtypeName(c.tensor(0).dtype));
  Dims sizes = c.tensor(0).sizes;
  if (c.dim(1).is(-1)) {
    if (c.tensor(0).numel().is(0))
      return c.fail(FakeError::Other, "how many classes there are cannot be "
                                      "told from an empty tensor");
    FailureOr<Dim> classes = c.unbackedSize(1, std::nullopt);
    if (failed(classes))
      return failure();
    sizes.push_back(*classes);
    return rowMajor(c, DType::I64, sizes);
  }
  if (c.lt(c.dim(1), 1))
    return c.fail(FakeError::Other,
                  "num_classes must be positive, it is " + c.dim(1).str());
  sizes.push_back(c.dim(1));
  return rowMajor(c, DType::I64, sizes);
}

ArrayRef<FakeRuleRow> embeddingRules() {
  static const FakeRuleRow rows[] = {
      {"_embedding_bag.default", embeddingBag<false>, DevicePolicy::First},
      {"_embedding_bag_backward.default", embeddingBagBackward},
      {"_embedding_bag_forward_only.default", embeddingBag<true>},
      {"_embedding_bag_per_sample_weights_backward.default", perSampleBackward},
      {"embedding.default", embedding},
      {"embedding_bag.default", embeddingBag<false>, DevicePolicy::First},
      {"embedding_bag.padding_idx", embeddingBag<false>, DevicePolicy::First},
      {"_embedding_bag_dense_backward.default", embeddingBagBackward},
      {"embedding_backward.default", embeddingBackwardDense},
      {"embedding_dense_backward.default", embeddingBackward},
      {"embedding_renorm.default", embeddingRenormed},
      {"embedding_renorm_.default", embeddingRenorm},
      {"one_hot.default", oneHot},
  };
  return rows;
}

} // namespace ft
