//===- Matmul.cpp - Products of matrices and vectors -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results are row-major whatever the operands' layouts.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

static LogicalResult product(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

static LogicalResult needsRank(FakeCall &c, unsigned arg, int64_t rank) {
  const TensorMeta &t = c.tensor(arg);
  if (t.rank() == rank)
    return success();
  return c.fail(FakeError::Dim,
                c.schema().base + ": '" + c.schema().args[arg].name +
                    "' needs " + Twine(rank) + (rank == 1 ? " dim" : " dims") +
                    ", it has " + Twine(t.rank()));
}

/// Dim `l` of `left` and dim `r` of `right`, counted from the end if negative,
/// are summed over together.
static LogicalResult inner(FakeCall &c, const TensorMeta &left, int64_t l,
                           const TensorMeta &right, int64_t r) {
  if (c.mustEq(left.sizes[l < 0 ? left.rank() + l : l],
               right.sizes[r < 0 ? right.rank() + r : r]))
    return success();
  return c.fail(FakeError::Shape,
                "the inner sizes differ: " + c.sizeAt(left, l) + ", " +
                    c.sizeAt(right, r));
}

//===----------------------------------------------------------------------===//
// Two dims
//===----------------------------------------------------------------------===//

static FailureOr<Dims> mmSizes(FakeCall &c, unsigned a, unsigned b) {
  const TensorMeta &left = c.tensor(a), &right = c.tensor(b);
  if (failed(needsRank(c, a, 2)) || failed(needsRank(c, b, 2)) ||
      failed(inner(c, left, 1, right, 0)) || failed(oneDType(c, left, right)))
    return failure();
  return Dims{left.sizes[0], right.sizes[1]};
}

static LogicalResult mm(FakeCall &c) {
  FailureOr<Dims> sizes = mmSizes(c, 0, 1);
  if (failed(sizes))
    return failure();
  DType dtype = c.tensor(0).dtype;
  if (c.schema().overload == "dtype")
    dtype = *c.dtype(2);
  return product(c, dtype, *sizes);
}

static LogicalResult intMm(FakeCall &c) {
  FailureOr<Dims> sizes = mmSizes(c, 0, 1);
  if (failed(sizes))
    return failure();
  if (c.tensor(0).dtype != DType::I8)
    return c.fail(FakeError::Dtype,
                  "_int_mm needs int8, not " + dtypeName(c.tensor(0).dtype));
  return product(c, DType::I32, *sizes);
}

/// self [M, K] times the transposed int8 mat2 [N, K], each column scaled.
static LogicalResult int8Pack(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &mat2 = c.tensor(1);
  const TensorMeta &scales = c.tensor(2);
  if (failed(needsRank(c, 0, 2)) || failed(needsRank(c, 1, 2)) ||
      failed(inner(c, self, 1, mat2, 1)))
    return failure();
  if (!isFloating(self.dtype) || self.dtype == DType::F64)
    return c.fail(FakeError::Dtype, "'self' must be float32, float16 or "
                                    "bfloat16, not " +
                                        dtypeName(self.dtype));
  if (mat2.dtype != DType::I8)
    return c.fail(FakeError::Dtype,
                  "'mat2' must be int8, not " + dtypeName(mat2.dtype));
  if (scales.rank() != 1 || !c.mustEq(scales.sizes[0], mat2.sizes[0]))
    return c.fail(FakeError::Shape,
                  "the scales " + c.show(scales) +
                      " do not fit the columns: " + c.sizeAt(mat2, 0));
  return product(c, self.dtype, {self.sizes[0], mat2.sizes[0]});
}

/// Two int4 weights in each byte: [N, K] → [N, K / 2].
static LogicalResult packInt4(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(needsRank(c, 0, 2)))
    return failure();
  if (self.dtype != DType::I32)
    return c.fail(FakeError::Dtype,
                  "the weight must be int32, not " + dtypeName(self.dtype));
  if (!c.mustEq(mod(self.sizes[1], 2), 0))
    return c.fail(
        FakeError::Shape,
        "the weight " + c.show(self) +
            " must have an even number of columns: " + c.sizeAt(self, 1));
  return product(c, DType::U8, {self.sizes[0], floorDiv(self.sizes[1], 2)});
}

/// self [M, K] times such weights, with scales and zero points for each group
/// of `qGroupSize` inner elements: [K / group, N, 2].
static LogicalResult int4Pack(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &mat2 = c.tensor(1);
  const TensorMeta &scales = c.tensor(3);
  if (failed(needsRank(c, 0, 2)) || failed(needsRank(c, 1, 2)))
    return failure();
  if (!c.mustEq(self.sizes[1], mat2.sizes[1] * 2))
    return c.fail(FakeError::Shape, c.sizeAt(self, 1) +
                                        ", which is not twice " +
                                        c.sizeAt(mat2, 1));
  if (!isFloating(self.dtype) || self.dtype == DType::F64)
    return c.fail(FakeError::Dtype, "'self' must be float32, float16 or "
                                    "bfloat16, not " +
                                        dtypeName(self.dtype));
  if (mat2.dtype != DType::U8)
    return c.fail(FakeError::Dtype,
                  "'mat2' must be uint8, not " + dtypeName(mat2.dtype));
  int64_t group = c.dim(2).isStatic() ? c.dim(2).value() : 0;
  if (group != 32 && group != 64 && group != 128 && group != 256)
    return c.fail(FakeError::Other, "groups of " + c.dim(2).str() +
                                        "; 32, 64, 128 and 256 are possible");
  if (scales.rank() != 3 || !c.mustEq(scales.sizes[1], mat2.sizes[0]) ||
      !c.mustEq(scales.sizes[2], 2))
    return c.fail(FakeError::Shape,
                  "the scales " + c.show(scales) +
                      " do not fit the columns: " + c.sizeAt(mat2, 0));
  return product(c, self.dtype, {self.sizes[0], mat2.sizes[0]});
}

/// Products of 8-bit floats, scaled.
static LogicalResult scaledMm(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &mat2 = c.tensor(1);
  if (failed(needsRank(c, 0, 2)) || failed(needsRank(c, 1, 2)) ||
      failed(inner(c, self, 1, mat2, 0)))
    return failure();
  for (const TensorMeta *t : {&self, &mat2})
    if (!isFloating(t->dtype) || dtypeBytes(t->dtype) != 1)
      return c.fail(FakeError::Dtype, "_scaled_mm needs 8-bit floats, not " +
                                          dtypeName(t->dtype));
  // One scale for all, or one for each row of self and column of mat2.
  const TensorMeta &rows = c.tensor(2), &columns = c.tensor(3);
  if (!rows.numel().is(1) || !columns.numel().is(1))
    for (const TensorMeta *t : {&rows, &columns})
      if (t->dtype == DType::F32 && t->rank() != 2)
        return c.fail(FakeError::Dim, "scales of rows and columns need 2 dims, "
                                      "not " +
                                          Twine(t->rank()));
  return product(c, c.dtype(6).value_or(self.dtype),
                 {self.sizes[0], mat2.sizes[1]});
}

/// Rows or columns that lie densely and begin at multiples of 16 bytes: what
/// the kernels on reduced precision ask for on every device.
static LogicalResult alignedRows(FakeCall &c, const TensorMeta &t) {
  int64_t bytes = dtypeBytes(t.dtype);
  if (bytes != 2)
    return success();
  int64_t last = t.rank() - 1;
  for (auto [dense, apart] : {std::pair(last, last - 1), {last - 1, last}}) {
    if (!t.strides[dense].is(1) || c.lt(t.strides[apart], 1) ||
        c.lt(t.strides[apart], t.sizes[dense]))
      continue;
    if (c.eq(mod(t.strides[apart], 16 / bytes), 0))
      return success();
    return c.fail(FakeError::Other, "the rows of " + c.show(t) +
                                        " must begin at multiples of 16 "
                                        "bytes");
  }
  return c.fail(FakeError::Other,
                "the rows or columns of " + c.show(t) + " must be dense");
}

/// One product for each group. A dim that the groups divide (rows or columns,
/// or the inner one) is cut by `offs`; a dim of their own is that of groups.
///   [M, K] × [G, K, N] → [M, N];  [M, K] × [K, N] → [G, M, N]
static LogicalResult groupedMm(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  for (unsigned i : {0u, 1u})
    if (c.tensor(i).rank() != 2 && c.tensor(i).rank() != 3)
      return c.fail(FakeError::Dim, "'" + c.schema().args[i].name +
                                        "' needs 2 or 3 dims, it has " +
                                        Twine(c.tensor(i).rank()));
  if (failed(oneDType(c, a, b)))
    return failure();
  if (!isFloating(a.dtype) || a.dtype == DType::F64)
    return c.fail(FakeError::Dtype, "_grouped_mm needs float32, float16 or "
                                    "bfloat16, not " +
                                        dtypeName(a.dtype));
  if (failed(alignedRows(c, a)) || failed(alignedRows(c, b)))
    return failure();
  bool cutA = a.rank() == 2, cutB = b.rank() == 2;
  Dim m = a.sizes[a.rank() - 2], n = b.sizes.back();
  if (failed(inner(c, a, -1, b, -2)))
    return failure();
  const TensorMeta *offs = c.optTensor(2);
  if ((cutA || cutB) != (offs != nullptr))
    return c.fail(FakeError::Other, cutA || cutB
                                        ? "a matrix of 2 dims needs offs"
                                        : "matrices of 3 dims take no offs");
  if (offs && (offs->rank() != 1 || offs->dtype != DType::I32))
    return c.fail(offs->rank() != 1 ? FakeError::Dim : FakeError::Dtype,
                  "offs must be int32 of 1 dim, not " + c.show(*offs));
  Dim groups = !cutA ? a.sizes[0] : !cutB ? b.sizes[0] : offs->sizes[0];
  if (!cutA && !cutB && !c.mustEq(a.sizes[0], b.sizes[0]))
    return c.fail(FakeError::Shape, "the numbers of groups differ: " +
                                        c.sizeAt(a, 0) + ", " + c.sizeAt(b, 0));
  if (cutA != cutB && !c.mustEq(offs->sizes[0], groups))
    return c.fail(FakeError::Shape, "there are " + offs->sizes[0].str() +
                                        " offsets for " + groups.str() +
                                        " groups");
  Dims sizes = {m, n};
  if (cutA == cutB)
    sizes.insert(sizes.begin(), groups);
  return product(c, c.dtype(4).value_or(a.dtype), sizes);
}

/// self is added after broadcasting; it must have the products' dtype.
static LogicalResult addTo(FakeCall &c, ArrayRef<Dim> sizes) {
  const TensorMeta &self = c.tensor(0);
  if (failed(oneDType(c, self, c.tensor(1))) ||
      failed(c.broadcastTo(self.sizes, sizes, &self)))
    return failure();
  DType dtype = self.dtype;
  if (c.schema().overload == "dtype")
    dtype = *c.dtype(3);
  return product(c, dtype, sizes);
}

static LogicalResult addmm(FakeCall &c) {
  FailureOr<Dims> sizes = mmSizes(c, 1, 2);
  return failed(sizes) ? failure() : addTo(c, *sizes);
}

static LogicalResult mv(FakeCall &c) {
  const TensorMeta &mat = c.tensor(0), &vec = c.tensor(1);
  if (failed(needsRank(c, 0, 2)) || failed(needsRank(c, 1, 1)) ||
      failed(inner(c, mat, 1, vec, 0)) || failed(oneDType(c, mat, vec)))
    return failure();
  return product(c, mat.dtype, mat.sizes[0]);
}

static LogicalResult addmv(FakeCall &c) {
  const TensorMeta &mat = c.tensor(1), &vec = c.tensor(2);
  if (failed(needsRank(c, 1, 2)) || failed(needsRank(c, 2, 1)) ||
      failed(inner(c, mat, 1, vec, 0)) || failed(oneDType(c, mat, vec)))
    return failure();
  return addTo(c, mat.sizes[0]);
}

static LogicalResult dot(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  if (failed(needsRank(c, 0, 1)) || failed(needsRank(c, 1, 1)) ||
      failed(oneDType(c, a, b)) || failed(inner(c, a, 0, b, 0)))
    return failure();
  return product(c, a.dtype, {});
}

static LogicalResult outer(FakeCall &c) {
  if (failed(needsRank(c, 0, 1)) || failed(needsRank(c, 1, 1)))
    return failure();
  std::optional<DType> dtype =
      promoteTypes(c.tensor(0).dtype, c.tensor(1).dtype);
  if (!dtype)
    return oneDType(c, c.tensor(0), c.tensor(1));
  return product(c, *dtype, {c.tensor(0).sizes[0], c.tensor(1).sizes[0]});
}

static LogicalResult addr(FakeCall &c) {
  if (failed(needsRank(c, 1, 1)) || failed(needsRank(c, 2, 1)))
    return failure();
  FailureOr<DType> dtype = promotedDType(c, 7);
  Dims sizes = {c.tensor(1).sizes[0], c.tensor(2).sizes[0]};
  if (failed(dtype) ||
      failed(c.broadcastTo(c.tensor(0).sizes, sizes, &c.tensor(0))))
    return failure();
  // An elementwise sum with the outer product.
  TensorMeta added = TensorMeta::contiguous(*dtype, sizes);
  return elementwise(c, {&c.tensor(0), &added}, *dtype);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

static FailureOr<Dims> bmmSizes(FakeCall &c, unsigned a, unsigned b) {
  const TensorMeta &left = c.tensor(a), &right = c.tensor(b);
  if (failed(needsRank(c, a, 3)) || failed(needsRank(c, b, 3)))
    return failure();
  if (!c.mustEq(left.sizes[0], right.sizes[0]))
    return c.fail(FakeError::Dim,
                  "the batch sizes differ: " + c.sizeAt(left, 0) + ", " +
                      c.sizeAt(right, 0));
  if (failed(inner(c, left, 2, right, 1)))
    return failure();
  return Dims{left.sizes[0], left.sizes[1], right.sizes[2]};
}

static LogicalResult bmm(FakeCall &c) {
  const TensorMeta &left = c.tensor(0);
  FailureOr<Dims> sizes = bmmSizes(c, 0, 1);
  if (failed(sizes))
    return failure();
  // The CPU kernel returns before it compares dtypes if there is no batch.
  bool early = sizes->front().is(0) && c.device.kind == Device::Cpu;
  if (!early && failed(oneDType(c, left, c.tensor(1))))
    return failure();
  DType dtype = early ? c.tensor(1).dtype : left.dtype;
  if (c.schema().overload == "dtype")
    dtype = *c.dtype(2);
  return product(c, dtype, *sizes);
}

static LogicalResult baddbmm(FakeCall &c) {
  FailureOr<Dims> sizes = bmmSizes(c, 1, 2);
  if (failed(sizes) || failed(oneDType(c, c.tensor(1), c.tensor(2))))
    return failure();
  return addTo(c, *sizes);
}

static LogicalResult addbmm(FakeCall &c) {
  FailureOr<Dims> sizes = bmmSizes(c, 1, 2);
  if (failed(sizes) || failed(oneDType(c, c.tensor(1), c.tensor(2))))
    return failure();
  return addTo(c, {(*sizes)[1], (*sizes)[2]});
}

//===----------------------------------------------------------------------===//
// Any rank
//===----------------------------------------------------------------------===//

/// [.., n, k] @ [.., k, m] with broadcast batch dims; vectors count as a row or
/// a column, which is dropped from the result.
static FailureOr<Dims> matmulSizes(FakeCall &c, const TensorMeta &a,
                                   const TensorMeta &b) {
  if (a.sizes.empty() || b.sizes.empty())
    return c.fail(FakeError::Dim, "matmul needs at least 1 dim on both sides, "
                                  "they have " +
                                      Twine(a.rank()) + " and " +
                                      Twine(b.rank()));
  if (failed(inner(c, a, -1, b, b.rank() == 1 ? -1 : -2)) ||
      failed(oneDType(c, a, b)))
    return failure();
  TensorMeta left, right;
  if (a.rank() > 2)
    left.sizes.assign(a.sizes.begin(), a.sizes.end() - 2);
  if (b.rank() > 2)
    right.sizes.assign(b.sizes.begin(), b.sizes.end() - 2);
  FailureOr<Dims> sizes = c.broadcast({&left, &right}, {&a, &b}, 2);
  if (failed(sizes))
    return failure();
  if (a.rank() > 1)
    sizes->push_back(a.sizes[a.rank() - 2]);
  if (b.rank() > 1)
    sizes->push_back(b.sizes.back());
  return sizes;
}

static LogicalResult matmul(FakeCall &c) {
  FailureOr<Dims> sizes = matmulSizes(c, c.tensor(0), c.tensor(1));
  return failed(sizes) ? failure() : product(c, c.tensor(0).dtype, *sizes);
}

static LogicalResult linear(FakeCall &c) {
  const TensorMeta &input = c.tensor(0), &weight = c.tensor(1);
  if (weight.rank() != 2 && weight.rank() != 1)
    return c.fail(FakeError::Dim, "linear's weight needs 1 or 2 dims, it has " +
                                      Twine(weight.rank()));
  if (input.sizes.empty())
    return c.fail(FakeError::Dim, "linear's input needs at least one dim");
  if (failed(inner(c, input, -1, weight, -1)) ||
      failed(oneDType(c, input, weight)))
    return failure();
  Dims sizes(input.sizes.begin(), input.sizes.end() - 1);
  if (weight.rank() == 2)
    sizes.push_back(weight.sizes[0]);
  if (const TensorMeta *bias = c.optTensor(2))
    if (failed(oneDType(c, input, *bias)) ||
        failed(c.broadcastTo(bias->sizes, sizes, bias)))
      return failure();
  return product(c, input.dtype, sizes);
}

static LogicalResult innerProduct(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  if (failed(oneDType(c, a, b)))
    return failure();
  if (a.sizes.empty() || b.sizes.empty())
    return pointwise<Promote::Default>(c);
  if (failed(inner(c, a, -1, b, -1)))
    return failure();
  Dims sizes(a.sizes.begin(), a.sizes.end() - 1);
  sizes.append(b.sizes.begin(), b.sizes.end() - 1);
  return product(c, a.dtype, sizes);
}

static LogicalResult vecdot(FakeCall &c) {
  FailureOr<Dims> sizes = c.broadcast({&c.tensor(0), &c.tensor(1)});
  if (failed(sizes) || failed(oneDType(c, c.tensor(0), c.tensor(1))))
    return failure();
  FailureOr<int64_t> dim = c.wrapDim(2, sizes->size());
  if (failed(dim))
    return failure();
  if (sizes->empty())
    return c.fail(FakeError::Dim, "vecdot needs at least one dim");
  sizes->erase(sizes->begin() + *dim);
  return product(c, c.tensor(0).dtype, *sizes);
}

static LogicalResult tensordot(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  auto left = c.wrapDims(2, a.rank(), /*emptyIsAll=*/false);
  auto right = c.wrapDims(3, b.rank(), /*emptyIsAll=*/false);
  if (failed(left) || failed(right) || failed(oneDType(c, a, b)))
    return failure();
  if (left->size() != right->size())
    return c.fail(FakeError::Dim, "tensordot sums over " + Twine(left->size()) +
                                      " and " + Twine(right->size()) + " dims");
  if (!left->empty() && (a.sizes.empty() || b.sizes.empty()))
    return c.fail(FakeError::Dim, "a tensor without dims has none to sum over");
  for (auto [l, r] : zip(*left, *right))
    if (failed(inner(c, a, l, b, r)))
      return failure();
  Dims sizes;
  for (int64_t d = 0; d < a.rank(); ++d)
    if (!is_contained(*left, d))
      sizes.push_back(a.sizes[d]);
  for (int64_t d = 0; d < b.rank(); ++d)
    if (!is_contained(*right, d))
      sizes.push_back(b.sizes[d]);
  return product(c, a.dtype, sizes);
}

static LogicalResult kron(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  // A tensor without dims has been given one when the dtypes meet.
  std::optional<DType> dtype = promoteTypes(a.dtype, b.dtype);
  if (!dtype)
    return promotedDType(c, 3); // which says so
  Dims sizes;
  int64_t rank = std::max(a.rank(), b.rank());
  for (int64_t d = 0; d < rank; ++d) {
    int64_t da = d - (rank - a.rank()), db = d - (rank - b.rank());
    sizes.push_back((da < 0 ? Dim(1) : a.sizes[da]) *
                    (db < 0 ? Dim(1) : b.sizes[db]));
  }
  return product(c, *dtype, sizes);
}

/// A chain a @ b @ c …; the outer ones may be vectors.
static LogicalResult chain(FakeCall &c) {
  auto list = c.tensors(0);
  if (list.size() < 2 || is_contained(list, nullptr))
    return c.fail(FakeError::Other,
                  c.schema().base + " needs at least two matrices");
  TensorMeta running = *list.front();
  for (const TensorMeta *next : ArrayRef(list).drop_front()) {
    if (running.rank() > 2 || next->rank() > 2)
      return c.fail(FakeError::Dim,
                    c.schema().base + " needs matrices of 2 dims, " +
                        c.nameOf(next) + " has " + Twine(next->rank()) +
                        ", what comes before " + Twine(running.rank()));
    FailureOr<Dims> sizes = matmulSizes(c, running, *next);
    if (failed(sizes))
      return failure();
    running = TensorMeta::contiguous(running.dtype, *sizes, c.device);
  }
  return c.fresh(std::move(running));
}

static LogicalResult bilinear(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1), &w = c.tensor(2);
  if (failed(needsRank(c, 2, 3)))
    return failure();
  if (a.rank() != b.rank() || a.sizes.empty() ||
      !c.sameSizes(ArrayRef<Dim>(a.sizes).drop_back(),
                   ArrayRef<Dim>(b.sizes).drop_back()))
    return c.fail(
        FakeError::Shape,
        "bilinear's inputs " + c.show(a) + " and " + c.show(b) +
            " differ in batch sizes" +
            unlike(ArrayRef<Dim>(a.sizes).drop_back(!a.sizes.empty()),
                   ArrayRef<Dim>(b.sizes).drop_back(!b.sizes.empty())));
  if (failed(inner(c, a, -1, w, 1)) || failed(inner(c, b, -1, w, 2)))
    return failure();
  Dims sizes(a.sizes.begin(), a.sizes.end() - 1);
  sizes.push_back(w.sizes[0]);
  return product(c, a.dtype, sizes);
}

/// i1 · i2 · i3, each with dims of size 1 put in, summed over `sumdim`.
static LogicalResult trilinear(FakeCall &c) {
  int64_t rank = c.tensor(0).rank() + c.length(3);
  TensorMeta inputs[3];
  FailureOr<DType> dtype = promotedDType(c, 7);
  if (failed(dtype))
    return failure();
  for (unsigned i = 0; i < 3; ++i) {
    inputs[i] = c.tensor(i);
    if (dtypeCategory(inputs[i].dtype) != dtypeCategory(*dtype))
      return oneDType(c, inputs[0], inputs[i]);
    if (inputs[i].rank() + static_cast<int64_t>(c.length(3 + i)) != rank)
      return c.fail(
          FakeError::Dim,
          "'" + c.schema().args[i].name + "' has " +
              Twine(inputs[i].rank() + static_cast<int64_t>(c.length(3 + i))) +
              " dims once expanded, 'i1' has " + Twine(rank));
    for (Dim d : c.dims(3 + i)) {
      FailureOr<int64_t> at = c.wrapIndex(d, rank);
      if (failed(at))
        return failure();
      if (*at > inputs[i].rank())
        return c.fail(FakeError::Dim,
                      "dim " + Twine(*at) + " cannot be put into '" +
                          c.schema().args[i].name + "', which has " +
                          Twine(inputs[i].rank()) + " by then");
      inputs[i].sizes.insert(inputs[i].sizes.begin() + *at, Dim(1));
    }
  }
  FailureOr<Dims> sizes =
      c.broadcast({&inputs[0], &inputs[1], &inputs[2]},
                  {&c.tensor(0), &c.tensor(1), &c.tensor(2)});
  auto summed = c.wrapDims(6, rank, /*emptyIsAll=*/false);
  if (failed(sizes) || failed(summed))
    return failure();
  Dims kept;
  for (int64_t d = 0; d < rank; ++d)
    if (!is_contained(*summed, d))
      kept.push_back((*sizes)[d]);
  return product(c, inputs[0].dtype, kept);
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// The dims in front of two matrices, broadcast.
static FailureOr<Dims> batchOf(FakeCall &c, const TensorMeta &a,
                               const TensorMeta &b) {
  TensorMeta left, right;
  left.sizes.assign(a.sizes.begin(), a.sizes.end() - 2);
  right.sizes.assign(b.sizes.begin(), b.sizes.end() - 2);
  return c.broadcast({&left, &right}, {&a, &b}, 2);
}

static LogicalResult cdist(FakeCall &c) {
  const TensorMeta &a = c.tensor(0), &b = c.tensor(1);
  for (const TensorMeta *t : {&a, &b}) {
    if (t->rank() < 2)
      return c.fail(FakeError::Dim,
                    "cdist needs at least 2 dims, not " + Twine(t->rank()));
    if (!isFloating(t->dtype))
      return c.fail(FakeError::Dtype,
                    "cdist needs floating dtypes, not " + dtypeName(t->dtype));
  }
  if (failed(inner(c, a, -1, b, -1)))
    return failure();
  if (c.arguments().size() > 2 && c.number(2) < 0)
    return c.fail(FakeError::Other, "cdist's p must not be negative, it is " +
                                        std::to_string(c.number(2)));
  FailureOr<Dims> sizes = batchOf(c, a, b);
  if (failed(sizes))
    return failure();
  sizes->push_back(a.sizes[a.rank() - 2]);
  sizes->push_back(b.sizes[b.rank() - 2]);
  return product(c, a.dtype, *sizes);
}

static LogicalResult euclidean(FakeCall &c) {
  if (c.tensor(0).rank() > 2 && failed(oneDType(c, c.tensor(0), c.tensor(1))))
    return failure();
  return cdist(c);
}

/// The gradient of x1, over the broadcast batch.
static LogicalResult cdistBackward(FakeCall &c) {
  const TensorMeta &a = c.tensor(1), &b = c.tensor(2);
  if (a.rank() < 2 || b.rank() < 2)
    return c.fail(FakeError::Dim, "cdist needs at least 2 dims, 'x1' has " +
                                      Twine(a.rank()) + " and 'x2' " +
                                      Twine(b.rank()));
  FailureOr<Dims> sizes = batchOf(c, a, b);
  if (failed(sizes))
    return failure();
  sizes->append(a.sizes.end() - 2, a.sizes.end());
  // Of no distances the gradient is 0, for the tensor as it was given.
  if (*sizes == a.sizes)
    return product(c, a.dtype, a.sizes);
  Dims counts = *sizes;
  counts.push_back(b.sizes[b.rank() - 2]);
  for (Dim d : counts)
    if (c.eq(d, 0))
      return product(c, a.dtype, a.sizes);
  return product(c, a.dtype, *sizes);
}

static LogicalResult pdist(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(needsRank(c, 0, 2)))
    return failure();
  if (c.schema().base != "pdist" && !isContiguous(self))
    return c.fail(FakeError::Other, "_pdist_forward needs a row-major tensor, "
                                    "not " +
                                        c.show(self));
  Dim n = self.sizes[0];
  Dim pairs = n.is(0) ? Dim(0) : floorDiv(n * (n - 1), 2);
  return product(c, self.dtype, pairs);
}

static LogicalResult pdistBackward(FakeCall &c) {
  const TensorMeta &self = c.tensor(1);
  for (unsigned i : {1u, 3u})
    if (!isContiguous(c.tensor(i)))
      return c.fail(FakeError::Other, "_pdist_backward needs row-major "
                                      "tensors, not " +
                                          c.show(c.tensor(i)));
  return product(c, self.dtype, self.sizes);
}

template <bool KeepArg>
static LogicalResult distanceAlong(FakeCall &c) {
  FailureOr<Dims> sizes = c.broadcast({&c.tensor(0), &c.tensor(1)});
  FailureOr<DType> dtype = promotedDType(c, 3);
  if (failed(sizes) || failed(dtype))
    return failure();
  // A norm of differences is real.
  if (KeepArg)
    dtype = toReal(toFloat(*dtype));
  else if (failed(checkTakes(c, *dtype, Takes::Floating)))
    return failure();
  int64_t rank = sizes->size();
  FailureOr<int64_t> dim =
      KeepArg ? FailureOr<int64_t>(rank - 1) : c.wrapDim(2, rank);
  if (failed(dim))
    return failure();
  if (rank == 0)
    return product(c, *dtype, {});
  if (KeepArg && c.flag(4))
    (*sizes)[*dim] = 1;
  else
    sizes->erase(sizes->begin() + *dim);
  return product(c, *dtype, *sizes);
}

ArrayRef<FakeRuleRow> matmulRules() {
  static const FakeRuleRow rows[] = {
      {"_addmm_activation.default", addmm},
      {"_cdist_backward.default", cdistBackward},
      {"_cdist_forward.default", cdist},
      {"_euclidean_dist.default", euclidean},
      {"_convert_weight_to_int4pack_for_cpu.default", packInt4},
      {"_grouped_mm.default", groupedMm},
      {"_int_mm.default", intMm},
      {"_scaled_mm.default", scaledMm},
      {"_weight_int4pack_mm_for_cpu.default", int4Pack},
      {"_weight_int8pack_mm.default", int8Pack},
      {"_pdist_backward.default", pdistBackward},
      {"_pdist_forward.default", pdist},
      {"_trilinear.default", trilinear},
      {"addbmm.default", addbmm},
      {"addmm.default", addmm},
      {"addmm.dtype", addmm},
      {"addmv.default", addmv},
      {"addr.default", addr},
      {"baddbmm.default", baddbmm},
      {"baddbmm.dtype", baddbmm},
      {"bilinear.default", bilinear},
      {"bmm.default", bmm},
      {"bmm.dtype", bmm},
      {"cdist.default", cdist},
      {"chain_matmul.default", chain},
      {"cosine_similarity.default", distanceAlong<false>},
      {"dot.default", dot},
      {"ger.default", outer},
      {"inner.default", innerProduct},
      {"kron.default", kron},
      {"linalg_matmul.default", matmul},
      {"linalg_multi_dot.default", chain},
      {"linalg_vecdot.default", vecdot},
      {"linear.default", linear},
      {"matmul.default", matmul},
      {"mm.default", mm},
      {"mm.dtype", mm},
      {"mv.default", mv},
      {"outer.default", outer},
      {"pairwise_distance.default", distanceAlong<true>},
      {"pdist.default", pdist},
      {"tensordot.default", tensordot},
      {"vdot.default", dot},
  };
  return rows;
}

} // namespace ft
