//===- EmbeddingBag.cpp - Lowering of embedding_bag ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bag b holds the indices from offsets[b] up to offsets[b + 1]:
//
//   bag[j]    = number of offsets <= j, less one
//   rows[j]   = weight[index[j]] (times its own factor)
//   out[b, d] = sum, or maximum, over j with bag[j] = b of rows[j, d]
//
// Cost: indices * width.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Segments.h"
#include "compiler/lower/rules/Updates.h"

using namespace mlir;

namespace ft {

namespace {

using Cmp = ScalarBuilder::Cmp;

enum Mode { Sum = 0, Mean = 1, Max = 2 };

struct Bags {
  LoweredTensor weight, indices, offsets, perSample;
  int64_t mode = Sum, paddingIndex = -1;
  Dim count = 0;
};

} // namespace

/// The rows that are looked up, in float32 for 16-bit weights.
static LoweredTensor lookedUp(LowerCall &c, const Bags &b) {
  Dim n = b.indices.dims()[0], width = b.weight.dims()[1];
  DType from = b.indices.dtype, weight = b.weight.dtype;
  DType work = opmathType(weight);
  SmallVector<AffineExpr, 6> at = {c.dim(0), c.dim(1)};
  SmallVector<Access> ins = {{b.indices, {c.dim(0)}}};
  if (b.perSample.value)
    ins.push_back({b.perSample, {c.dim(0)}});
  return c.generic(ins, Access{c.empty({n, width}, work), at},
                   {Iterator::Parallel, Iterator::Parallel},
                   [&](ScalarBuilder &s, ValueRange v) {
                     Value index = s.cast(v[0], from, DType::I64);
                     Value x = s.cast(
                         elementAt(s, b.weight, {index, loopIndex(s, 1)}),
                         weight, work);
                     if (b.perSample.value)
                       x = s.mul(x, s.cast(v[1], b.perSample.dtype, work));
                     return SmallVector<Value>{x};
                   })[0];
}

/// Whether each index counts; nothing if all do.
static std::optional<LoweredTensor> isWord(LowerCall &c, const Bags &b) {
  if (b.paddingIndex < 0)
    return std::nullopt;
  DType from = b.indices.dtype;
  return c.pointwise(b.indices, b.indices.dims(), DType::Bool,
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value index = s.cast(v[0], from, DType::I64);
                       return s.cmp(
                           Cmp::Ne, index,
                           s.constantInt(index.getType(), b.paddingIndex));
                     });
}

static LoweredTensor sums(LowerCall &c, const Bags &b, const LoweredTensor &bag,
                          std::optional<LoweredTensor> words) {
  Dim n = b.indices.dims()[0];
  Updates u;
  u.fold = Fold::Sum;
  u.sizes = {b.count, b.weight.dims()[1]};
  u.dtype = opmathType(b.weight.dtype);
  u.loops = 2;
  u.from = {{UpdatePlace::Index, 0}, {UpdatePlace::Loop, 1}};
  u.values = lookedUp(c, b);
  u.indices = {c.reshape(bag, {n, 1})};
  if (words)
    u.mask = c.reshape(*words, {n, 1});
  u.skip = -1;
  return foldUpdates(c, u);
}

/// What the call says of indices or bags, as long as the annotation is: that
/// depends on the device. Empty where nothing is asked for, with a 0 for the
/// end of the last bag where that counts as one.
static LoweredTensor fitted(LowerCall &c, LoweredTensor t, unsigned result) {
  const TensorMeta &meta = c.resultMeta(result);
  if (meta.numel().is(0))
    return c.filledInt({0}, meta.dtype, 0);
  Dim own = t.dims()[0], size = meta.sizes[0];
  if (own != size)
    t = c.pad(t, {Dim(0)}, {size - own}, 0);
  return c.cast(t, meta.dtype);
}

/// (weight, indices, offsets, scale_grad_by_freq, mode, sparse,
/// per_sample_weights, include_last_offset, padding_idx). Results: bags, bag of
/// each index (empty where PyTorch's kernel needs none), bag sizes, and the
/// indices of maxima. Sizes are 0 for sums, as in PyTorch.
static LogicalResult embeddingBag(LowerCall &c) {
  Bags b;
  b.weight = c.operand(0);
  b.indices = c.operand(1);
  b.offsets = c.operand(2);
  b.mode = c.integer(4);
  if (!c.isNone(6))
    b.perSample = c.operand(6);
  bool hasPadding = c.call().args.size() > 8 && !c.isNone(8);
  Dim rows = b.weight.dims()[0];
  if (hasPadding) {
    b.paddingIndex = c.integer(8);
    // Only the form with an optional index counts from the end.
    if (b.paddingIndex < 0 && c.call().schema->overload == "padding_idx") {
      if (!rows.isStatic())
        return c.unsupported("a padding index that counts from the end of a "
                             "table whose size is only known at run time");
      b.paddingIndex += rows.value();
    }
  }
  b.count = c.resultMeta(0).sizes[0];
  Dim n = b.indices.dims()[0], width = b.weight.dims()[1];
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  if (!n.is(0))
    c.checkIndex(b.indices, 0, rows, rows);
  // A bag may start where the indices end: it is empty.
  c.checkIndex(b.offsets, 0, n + 1, n + 1);
  LoweredTensor bag =
      segmentsByStart(c, c.slice(b.offsets, 0, 0, b.count), b.count, n);
  LoweredTensor out, most, counts;
  if (b.mode == Max) {
    SmallVector<LoweredTensor> r =
        callKernel(c, "bag_maxima", {lookedUp(c, b), bag, b.indices},
                   Arg::integer(b.paddingIndex),
                   {KernelResult{{b.count, width}, sum},
                    KernelResult{{b.count, width}, DType::I64},
                    KernelResult{{b.count}, DType::I64}},
                   {1, 64});
    out = c.cast(r[0], dtype);
    most = r[1];
    counts = r[2];
  } else {
    std::optional<LoweredTensor> words = isWord(c, b);
    counts = rowsOfSegments(c, bag, b.count, words);
    out = sums(c, b, bag, words);
    SmallVector<LoweredTensor> ins = {out};
    if (b.mode == Mean)
      ins.push_back(c.reshape(counts, {b.count, 1}));
    out = c.pointwise(ins, {b.count, width}, dtype,
                      [&](ScalarBuilder &s, ValueRange v) {
                        Value y = v[0];
                        if (b.mode == Mean) {
                          Value many = s.maximum(v[1], s.one(v[1]));
                          y = s.div(y, s.cast(many, DType::I64, sum));
                        }
                        return s.cast(y, sum, dtype);
                      });
  }
  c.newGroup();

  LoweredTensor sizes =
      b.mode == Sum ? c.filledInt({b.count}, DType::I64, 0) : counts;
  c.setResult(0, out);
  c.setResult(1, fitted(c, bag, 1));
  c.setResult(2, fitted(c, sizes, 2));
  c.setResult(3, b.mode == Max ? c.cast(most, c.resultMeta(3).dtype)
                               : fitted(c, sizes, 3));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_embedding_bag.default", embeddingBag),
    anyShape("_embedding_bag_forward_only.default", embeddingBag),
    anyShape("embedding_bag.default", embeddingBag),
    anyShape("embedding_bag.padding_idx", embeddingBag),
};

ArrayRef<LowerRuleRow> embeddingBagLowerRules() { return kRows; }

} // namespace ft
