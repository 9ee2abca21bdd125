//===- Attention.cpp - Scaled dot-product attention ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors are [batch…, heads, sequence, head size]. The layout of the result is
// that of the kernel which would run: the fused ones follow the query, the
// composite one is a row-major product.

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/AttentionRules.h"
#include "compiler/fake/rules/Families.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace ft {

/// A tensor of `sizes` that lies in memory as [B, S, H, D].
static TensorMeta sequenceMajor(DType dtype, ArrayRef<Dim> sizes,
                                Device device) {
  TensorMeta out = TensorMeta::contiguous(dtype, sizes, device);
  int64_t order[] = {0, 2, 1, 3};
  out.strides = denseStrides(sizes, ArrayRef(order).take_front(sizes.size()));
  return out;
}

static LogicalResult checkSizes(FakeCall &c, bool grouped) {
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  for (const TensorMeta *t : {&q, &k, &v})
    if (t->rank() < 2)
      return c.fail(FakeError::Dim,
                    "attention needs at least 2 dims, not " + Twine(t->rank()));
  if (!c.mustEq(q.sizes.back(), k.sizes.back()))
    return c.fail(FakeError::Shape,
                  "the head sizes differ: " + c.sizeAt(q, -1) + ", " +
                      c.sizeAt(k, -1));
  if (!c.mustEq(k.sizes[k.rank() - 2], v.sizes[v.rank() - 2]))
    return c.fail(FakeError::Shape,
                  "the sequence lengths differ: " + c.sizeAt(k, -2) + ", " +
                      c.sizeAt(v, -2));
  if (grouped && q.rank() >= 3) {
    Dim heads = q.sizes[q.rank() - 3], keyHeads = k.sizes[k.rank() - 3];
    if (keyHeads.is(0) || !c.mustEq(mod(heads, keyHeads), 0))
      return c.fail(FakeError::Shape, heads.str() + " query heads, dim " +
                                          Twine(q.rank() - 3) +
                                          ", are no multiple of " +
                                          keyHeads.str() + " key heads");
  }
  return success();
}

static LogicalResult checkMask(FakeCall &c, unsigned arg) {
  const TensorMeta *mask = c.optTensor(arg);
  if (!mask)
    return success();
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1);
  if (mask->dtype != DType::Bool && mask->dtype != q.dtype &&
      mask->dtype != DType::F32)
    return c.fail(FakeError::Dtype, "the mask is " + dtypeName(mask->dtype) +
                                        ", it must be bool or " +
                                        dtypeName(q.dtype));
  Dims scores(q.sizes.begin(), q.sizes.end() - 1);
  scores.push_back(k.sizes[k.rank() - 2]);
  return c.broadcastTo(mask->sizes, scores, mask);
}

FailureOr<Dims> attentionSizes(FakeCall &c, unsigned maskArg, bool grouped) {
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  if (failed(checkSizes(c, grouped)) || failed(checkMask(c, maskArg)))
    return failure();
  TensorMeta left, right;
  size_t kept = grouped ? 3 : 2;
  left.sizes.assign(q.sizes.begin(),
                    q.sizes.end() - std::min(kept, q.sizes.size()));
  right.sizes.assign(k.sizes.begin(),
                     k.sizes.end() - std::min(kept, k.sizes.size()));
  FailureOr<Dims> sizes = c.broadcast({&left, &right}, {&q, &k});
  if (failed(sizes))
    return failure();
  if (grouped && q.rank() >= 3)
    sizes->push_back(q.sizes[q.rank() - 3]);
  sizes->push_back(q.sizes[q.rank() - 2]);
  sizes->push_back(v.sizes.back());
  return sizes;
}

/// scaled_dot_product_attention: one of the kernels, chosen by what they take.
static LogicalResult attention(FakeCall &c) {
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  if (q.dtype != k.dtype || q.dtype != v.dtype)
    return c.fail(FakeError::Dtype,
                  "query, key and value are " + dtypeName(q.dtype) + ", " +
                      dtypeName(k.dtype) + " and " + dtypeName(v.dtype));
  if (isIntegral(q.dtype))
    return c.fail(FakeError::Dtype, "attention needs a floating dtype, not " +
                                        dtypeName(q.dtype));
  FailureOr<Dims> sizes = attentionSizes(c, 3, c.flag(7));
  if (failed(sizes))
    return failure();
  if (c.arg(3).kind == Arg::Tensor && c.flag(5))
    return c.fail(FakeError::Other,
                  "attention takes either a mask or is_causal");
  TensorMeta out = TensorMeta::contiguous(q.dtype, *sizes, c.device);
  bool fused = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 &&
               isFloating(q.dtype) && c.number(4) == 0 &&
               ArrayRef<Dim>(q.sizes) == ArrayRef<Dim>(*sizes) &&
               !q.sizes[2].is(0) && !k.sizes[2].is(0);
  for (const TensorMeta *t : {&q, &k, &v})
    fused &= !t->sizes.empty() && t->strides.back().is(1);
  if (fused)
    out.strides = likeStrides(q);
  return c.fresh(std::move(out));
}

/// (output, logsumexp)
static LogicalResult flashForCpu(FakeCall &c) {
  const TensorMeta &q = c.tensor(0);
  for (unsigned i : {0u, 1u, 2u})
    if (c.tensor(i).rank() != 4)
      return c.fail(FakeError::Dim, "the kernel needs 4 dims, '" +
                                        c.schema().args[i].name + "' has " +
                                        Twine(c.tensor(i).rank()));
  if (failed(checkSizes(c, false)) || failed(checkMask(c, 5)))
    return failure();
  TensorMeta out = q;
  out.strides = likeStrides(q);
  out.offset = 0;
  out.device = c.device;
  if (failed(c.fresh(std::move(out))))
    return failure();
  DType sums =
      q.dtype == DType::F16 || q.dtype == DType::BF16 ? DType::F32 : q.dtype;
  return c.fresh(
      sequenceMajor(sums, {q.sizes[0], q.sizes[1], q.sizes[2]}, c.device));
}

/// (grad_out, query, key, value, …)
static LogicalResult flashForCpuBackward(FakeCall &c) {
  for (unsigned i : {1u, 2u, 3u}) {
    const TensorMeta &like = c.tensor(i);
    if (like.rank() != 4)
      return c.fail(FakeError::Dim, "the kernel needs 4 dims, '" +
                                        c.schema().args[i].name + "' has " +
                                        Twine(like.rank()));
    (void)c.fresh(sequenceMajor(like.dtype, like.sizes, c.device));
  }
  return success();
}

static LogicalResult needs4(FakeCall &c) {
  for (unsigned i : {0u, 1u, 2u})
    if (c.tensor(i).rank() != 4)
      return c.fail(FakeError::Dim, "the kernel needs 4 dims, '" +
                                        c.schema().args[i].name + "' has " +
                                        Twine(c.tensor(i).rank()));
  return checkSizes(c, false);
}

/// The random state of accelerator kernels: (seed, offset).
static LogicalResult randomState(FakeCall &c, DType dtype, ArrayRef<Dim> seed) {
  if (failed(c.fresh(TensorMeta::contiguous(dtype, seed, c.device))))
    return failure();
  return c.fresh(TensorMeta::contiguous(dtype, {}, c.device));
}

DType attentionDType(DType query) {
  return query == DType::F8E4M3FN ? DType::BF16 : query;
}

Dim debugMaskWidth(FakeCall &c, Dim queries, Dim keys, Dim headSize) {
  Dim block = c.lt(64, headSize) ? 128 : 256;
  return c.le(keys, 128)   ? Dim(128)
         : c.le(keys, 256) ? Dim(256)
                           : ceilDiv(queries, block);
}

LogicalResult likeQuery(FakeCall &c, Dim headSize) {
  TensorMeta out = c.tensor(0);
  if (c.eq(out.sizes.back(), headSize)) {
    out.strides = likeStrides(out);
  } else {
    SmallVector<int64_t, 6> order =
        llvm::to_vector<6>(llvm::seq<int64_t>(0, out.rank()));
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return a != b && (c.lt(out.strides[b], out.strides[a]) ||
                        (a < b && c.eq(out.strides[a], out.strides[b])));
    });
    out.sizes.back() = headSize;
    out.strides = denseStrides(out.sizes, order);
  }
  out.offset = 0;
  out.dtype = attentionDType(out.dtype);
  return c.fresh(std::move(out));
}

static LogicalResult flash(FakeCall &c) {
  if (failed(needs4(c)))
    return failure();
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1);
  (void)likeQuery(c, q.sizes[3]);
  Dim sums[] = {q.sizes[0], q.sizes[1], q.sizes[2]};
  (void)c.fresh(TensorMeta::contiguous(DType::F32, sums, c.device));
  (void)c.undefined();
  (void)c.undefined();
  (void)c.integer(q.sizes[2]);
  (void)c.integer(k.sizes[2]);
  if (failed(randomState(c, DType::U64, Dim(2))))
    return failure();
  // The debug mask is empty unless it is asked for.
  Dims mask = {Dim(0)};
  if (c.flag(c.schema().argIndex("return_debug_mask")))
    mask = {q.sizes[0], q.sizes[1], q.sizes[2],
            debugMaskWidth(c, q.sizes[2], k.sizes[2], q.sizes[3])};
  return c.fresh(
      TensorMeta::contiguous(attentionDType(q.dtype), mask, c.device));
}

static LogicalResult efficient(FakeCall &c) {
  if (failed(needs4(c)))
    return failure();
  const TensorMeta &q = c.tensor(0), &v = c.tensor(2);
  Dim sizes[] = {q.sizes[0], q.sizes[1], q.sizes[2], v.sizes[3]};
  (void)c.fresh(sequenceMajor(q.dtype, sizes, c.device));
  // Rows of the sums are padded to 32.
  Dim sums[] = {q.sizes[0], q.sizes[1],
                c.flag(4) ? ceilDiv(q.sizes[2], 32) * 32 : Dim(0)};
  (void)c.fresh(TensorMeta::contiguous(DType::F32, sums, c.device));
  return randomState(c, DType::I64, {});
}

static LogicalResult cudnn(FakeCall &c) {
  if (failed(needs4(c)))
    return failure();
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  (void)likeQuery(c, v.sizes[3]);
  Dim sums[] = {q.sizes[0], q.sizes[1], q.sizes[2], Dim(1)};
  if (c.flag(4))
    (void)c.fresh(TensorMeta::contiguous(DType::F32, sums, c.device));
  else
    (void)c.undefined();
  (void)c.undefined();
  (void)c.undefined();
  (void)c.integer(q.sizes[2]);
  (void)c.integer(k.sizes[2]);
  if (failed(randomState(c, DType::I64, {})))
    return failure();
  return c.undefined();
}

ArrayRef<FakeRuleRow> attentionRules() {
  static const FakeRuleRow rows[] = {
      {"_scaled_dot_product_cudnn_attention.default", cudnn},
      {"_scaled_dot_product_efficient_attention.default", efficient},
      {"_scaled_dot_product_flash_attention.default", flash},
      {"_scaled_dot_product_flash_attention.quantized", flash},
      {"_scaled_dot_product_flash_attention_for_cpu.default", flashForCpu},
      {"_scaled_dot_product_flash_attention_for_cpu_backward.default",
       flashForCpuBackward},
      {"scaled_dot_product_attention.default", attention},
  };
  return rows;
}

} // namespace ft
