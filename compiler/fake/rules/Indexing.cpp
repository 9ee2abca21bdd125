//===- Indexing.cpp - Reads at indices -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/IndexRules.h"

using namespace llvm;

namespace ft {

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

LogicalResult dataDependentSize(FakeCall &c) {
  return c.fail(FakeError::DataDependent,
                "the size of " + c.schema().base + "'s result depends on data");
}

LogicalResult indexDType(FakeCall &c, const TensorMeta &index,
                         FakeError category) {
  if (index.dtype == DType::I64 || index.dtype == DType::I32)
    return success();
  return c.fail(category, "indices must be int64 or int32, not " +
                              dtypeName(index.dtype));
}

//===----------------------------------------------------------------------===//
// x[i, :, j]
//===----------------------------------------------------------------------===//
// The index tensors broadcast to one shape, which takes the place of the
// indexed dims; if those are not neighbours, it goes to the front.
//
//   x [3, 4, 5] strides [20, 5, 1], x[i2, :, i2] → [2, 4]
//
// The layout is that of an elementwise op over x in which the indexed dims do
// not move: their strides are 0, the others keep their order.

/// A mask counts as the coordinates of its true elements: an index of a new
/// size for each of its dims.
static LogicalResult expandMask(FakeCall &c, const TensorMeta &self,
                                const TensorMeta &mask, int64_t at,
                                SmallVectorImpl<TensorMeta> &coordinates) {
  for (int64_t m = 0; m < mask.rank(); ++m) {
    if (at + m >= self.rank())
      return c.fail(FakeError::Index, "the mask " + c.show(mask) +
                                          " reaches beyond the dims of " +
                                          c.show(self));
    if (!c.mustEq(mask.sizes[m], self.sizes[at + m]))
      return c.fail(FakeError::Index,
                    "the mask " + c.show(mask) + " has size " +
                        mask.sizes[m].str() + " at dim " + Twine(m) +
                        ", the dim of " + c.show(self) +
                        " that it selects has " + self.sizes[at + m].str());
  }
  FailureOr<Dim> count = maskCount(c, mask);
  if (failed(count))
    return failure();
  for (int64_t m = 0; m < mask.rank(); ++m)
    coordinates.push_back(
        TensorMeta::contiguous(DType::I64, {*count}, mask.device));
  return success();
}

static bool isMask(const TensorMeta *t) {
  return t && (t->dtype == DType::Bool || t->dtype == DType::U8);
}

FailureOr<TensorMeta> indexedMeta(FakeCall &c, const TensorMeta &self,
                                  ArrayRef<const TensorMeta *> given) {
  for (const TensorMeta *index : given)
    if (index && !isMask(index) && index->dtype != DType::I64 &&
        index->dtype != DType::I32)
      return c.fail(FakeError::Index,
                    "indices must be int64, int32, uint8 or bool, not " +
                        dtypeName(index->dtype));
  // Masks replaced; the storage must not move while it is pointed at.
  SmallVector<TensorMeta, 2> coordinates;
  if (any_of(given, isMask)) {
    int64_t total = 0;
    for (const TensorMeta *index : given)
      total += isMask(index) ? index->rank() : 0;
    coordinates.reserve(total);
  }
  // With what each was given as.
  SmallVector<const TensorMeta *, 4> indices, origins;
  for (const TensorMeta *index : given) {
    if (!isMask(index)) {
      indices.push_back(index);
      origins.push_back(index);
      continue;
    }
    size_t before = coordinates.size();
    if (failed(expandMask(c, self, *index, indices.size(), coordinates)))
      return failure();
    for (size_t i = before; i < coordinates.size(); ++i) {
      indices.push_back(&coordinates[i]);
      origins.push_back(index);
    }
  }
  auto count = static_cast<int64_t>(indices.size());
  SmallVector<const TensorMeta *, 4> present, named;
  SmallVector<int64_t, 4> dims;
  for (auto [d, index] : enumerate(indices))
    if (index) {
      present.push_back(index);
      named.push_back(origins[d]);
      dims.push_back(d);
    }
  if (count > self.rank())
    return c.fail(FakeError::Index, "there are " + Twine(count) +
                                        " indices for " + Twine(self.rank()) +
                                        " dims");
  FailureOr<Dims> shape = c.broadcast(present, named);
  if (failed(shape))
    return failure();
  if (dims.empty())
    return self;
  bool adjacent =
      dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size());
  int64_t at = adjacent ? dims.front() : 0;
  TensorMeta moved = self;
  moved.sizes.clear();
  moved.strides.clear();
  auto putShape = [&] {
    for (Dim d : *shape) {
      moved.sizes.push_back(d);
      moved.strides.push_back(0);
    }
  };
  for (int64_t d = 0; d < self.rank(); ++d) {
    if (d == at)
      putShape();
    if (is_contained(dims, d))
      continue;
    moved.sizes.push_back(self.sizes[d]);
    moved.strides.push_back(self.strides[d]);
  }
  moved.strides = elementwiseStrides({&moved}, moved.sizes);
  moved.offset = 0;
  moved.device = c.device;
  return moved;
}

/// Indexing an empty dim with something is an error at once.
static LogicalResult checkEmpty(FakeCall &c, const TensorMeta &self,
                                ArrayRef<const TensorMeta *> indices) {
  for (auto [d, index] : enumerate(indices))
    if (index && d < self.sizes.size() && self.sizes[d].is(0) &&
        c.device.kind == Device::Cpu && !index->numel().is(0))
      return c.fail(FakeError::Index,
                    "index is out of range for dim " + Twine(d) + " of size 0");
  return success();
}

static LogicalResult index(FakeCall &c) {
  auto indices = c.tensors(1);
  FailureOr<TensorMeta> out = indexedMeta(c, c.tensor(0), indices);
  if (failed(out) || failed(checkEmpty(c, c.tensor(0), indices)))
    return failure();
  return c.fresh(*out);
}

/// (self, mask, indices, fill)
static LogicalResult maskedIndex(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &mask = c.tensor(1);
  if (mask.dtype != DType::Bool && mask.dtype != DType::U8)
    return c.fail(FakeError::Dtype,
                  "the mask must be bool, not " + dtypeName(mask.dtype));
  auto indices = c.tensors(2);
  // The kernel clamps them, as it knows how for these.
  for (const TensorMeta *index : indices)
    if (index && index->dtype != DType::I64 && index->dtype != DType::I32)
      return c.fail(FakeError::Dtype,
                    "the indices must be int32 or int64, not " +
                        dtypeName(index->dtype));
  FailureOr<TensorMeta> out = indexedMeta(c, self, indices);
  if (failed(out))
    return failure();
  FailureOr<Dims> sizes = c.broadcast({&*out, &mask}, {&self, &mask});
  return failed(sizes) ? failure() : rowMajor(c, self.dtype, *sizes);
}

//===----------------------------------------------------------------------===//
// Along one dim
//===----------------------------------------------------------------------===//

LogicalResult checkGather(FakeCall &c, const TensorMeta &self, int64_t dim,
                          const TensorMeta &index) {
  if (index.numel().is(0))
    return success();
  int64_t rank = std::max<int64_t>(self.rank(), 1);
  if (std::max<int64_t>(index.rank(), 1) != rank)
    return c.fail(FakeError::Dim, "the index " + c.show(index) +
                                      " and the tensor " + c.show(self) +
                                      " differ in the number of dims");
  for (int64_t d = 0; d < index.rank() && d < self.rank(); ++d)
    if (d != dim && c.lt(self.sizes[d], index.sizes[d]))
      return c.fail(FakeError::Dim, "the index has size " +
                                        index.sizes[d].str() + " at dim " +
                                        Twine(d) + ", more than the " +
                                        self.sizes[d].str() + " of 'self'");
  return success();
}

static LogicalResult gather(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &index = c.tensor(2);
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  if (failed(dim))
    return failure();
  if (!index.numel().is(0) && failed(indexDType(c, index)))
    return failure();
  if (failed(checkGather(c, self, *dim, index)))
    return failure();
  return rowMajor(c, self.dtype, index.sizes);
}

static LogicalResult takeAlongDim(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &index = c.tensor(1);
  if (failed(indexDType(c, index)))
    return failure();
  if (c.isNone(2))
    return rowMajor(c, self.dtype, {index.numel()});
  FailureOr<int64_t> dim = c.wrapDim(2, self.rank());
  if (failed(dim))
    return failure();
  if (self.rank() != index.rank())
    return c.fail(FakeError::Dim, "the index " + c.show(index) +
                                      " and the tensor " + c.show(self) +
                                      " differ in the number of dims");
  if (self.sizes.empty())
    return rowMajor(c, self.dtype, {});
  TensorMeta other = self;
  other.sizes[*dim] = 1;
  TensorMeta wanted = index;
  wanted.sizes[*dim] = 1;
  FailureOr<Dims> sizes = c.broadcast({&other, &wanted}, {&self, &index}, 0);
  if (failed(sizes))
    return failure();
  (*sizes)[*dim] = index.sizes[*dim];
  return rowMajor(c, self.dtype, *sizes);
}

static LogicalResult indexSelect(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &index = c.tensor(2);
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  if (failed(dim))
    return failure();
  if (index.rank() > 1)
    return c.fail(FakeError::Dim, "index_select needs an index of at most 1 "
                                  "dim, it has " +
                                      Twine(index.rank()));
  if (failed(indexDType(c, index)))
    return failure();
  Dim count = index.numel();
  Dims sizes = self.sizes;
  if (sizes.empty()) {
    if (!c.mustEq(count, 1))
      return c.fail(FakeError::Shape, "a tensor without dims has one element, "
                                      "the index asks for " +
                                          count.str());
  } else {
    sizes[*dim] = count;
  }
  return rowMajor(c, self.dtype, sizes);
}

static LogicalResult take(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &index = c.tensor(1);
  if (index.dtype != DType::I64)
    return c.fail(FakeError::Other,
                  "take needs an int64 index, not " + dtypeName(index.dtype));
  Dim have = self.numel(), want = index.numel();
  bool empty = have.is(0) && !want.is(0);
  if (c.scope && !(have.isStatic() && (want.isStatic() || !have.is(0)))) {
    SymContext &symbols = c.scope->symbols();
    SymExpr zero = symbols.constant(0), one = symbols.constant(1);
    empty =
        !c.demands(symbols.logicalOr({symbols.ge(have.toExpr(symbols), one),
                                      symbols.eq(want.toExpr(symbols), zero)}));
  }
  if (empty)
    return c.fail(FakeError::Dim, "nothing can be taken from an empty tensor");
  return rowMajor(c, self.dtype, index.sizes);
}

static LogicalResult nonzeroStatic(FakeCall &c) {
  if (c.lt(c.dim(1), 0))
    return c.fail(FakeError::Other,
                  "the size must not be negative, it is " + c.dim(1).str());
  TensorMeta out = TensorMeta::contiguous(
      DType::I64, {c.dim(1), Dim(c.tensor(0).rank())}, c.device);
  // CUDA writes one coordinate after the other.
  if (c.device.kind == Device::Cuda)
    out.strides = {Dim(1), c.dim(1)};
  return c.fresh(std::move(out));
}

ArrayRef<FakeRuleRow> indexingRules() {
  static const FakeRuleRow rows[] = {
      {"_unsafe_index.Tensor", index, DevicePolicy::First},
      {"_unsafe_index.Tensor_hacked_twin", index, DevicePolicy::First},
      {"_unsafe_masked_index.default", maskedIndex},
      {"gather.default", gather},
      {"index.Tensor", index, DevicePolicy::First},
      {"index.Tensor_hacked_twin", index, DevicePolicy::First},
      {"index_select.default", indexSelect},
      {"nonzero_static.default", nonzeroStatic},
      {"take.default", take},
      {"take_along_dim.default", takeAlongDim},
  };
  return rows;
}

} // namespace ft
