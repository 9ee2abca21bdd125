//===- AttentionFused.cpp - Attention kernels and whole layers -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What scaled_dot_product_attention consists of on one backend or another, and
// the fast paths of torch.nn.MultiheadAttention and TransformerEncoderLayer.
// Those of accelerators take [batch, sequence, heads, head size], or
// [total, heads, head size] with offsets of the sequences; the layers take
// [batch, sequence, width].

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/AttentionRules.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/Refusals.h"

using namespace llvm;

namespace ft {

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

//===----------------------------------------------------------------------===//
// Kernels of accelerators
//===----------------------------------------------------------------------===//

static LogicalResult needsHeads(FakeCall &c, int64_t least) {
  for (unsigned i : {0u, 1u, 2u})
    if (c.tensor(i).rank() < least)
      return c.fail(FakeError::Dim, "'" + c.schema().args[i].name +
                                        "' needs at least " + Twine(least) +
                                        " dims, it has " +
                                        Twine(c.tensor(i).rank()));
  return success();
}

/// (output, logsumexp, seed, unused, debug mask)
static LogicalResult flashForward(FakeCall &c) {
  if (failed(needsAccelerator(c)) || failed(needsHeads(c, 3)))
    return failure();
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1);
  (void)likeQuery(c, q.sizes.back());
  const TensorMeta *offsets = c.optTensor(3);
  Dim heads = q.sizes[q.rank() - 2];
  Dim batch = offsets ? offsets->numel() - 1 : q.sizes[0];
  Dim queries = offsets ? c.dim(5) : q.sizes[1];
  Dim keys = c.isNone(4) ? k.sizes[1] : c.dim(6);
  (void)rowMajor(c, DType::F32,
                 offsets ? Dims{heads, q.sizes[0]}
                         : Dims{batch, heads, queries});
  (void)rowMajor(c, DType::U64, Dim(2));
  (void)rowMajor(c, DType::U64, {});
  if (!c.flag(9))
    return rowMajor(c, attentionDType(q.dtype), Dim(0));
  Dim width = debugMaskWidth(c, queries, keys, q.sizes.back());
  return rowMajor(c, attentionDType(q.dtype), {batch, heads, queries, width});
}

/// (output, logsumexp, seed, offset, longest query, longest key)
static LogicalResult efficientForward(FakeCall &c) {
  if (failed(needsAccelerator(c)) || failed(needsHeads(c, 4)))
    return failure();
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  const TensorMeta *offsets = c.optTensor(4);
  if (offsets && (offsets->sizes.empty() || c.isNone(6)))
    return c.fail(FakeError::Other, "cu_seqlens_q goes with max_seqlen_q");
  Dim heads = q.sizes[2];
  (void)rowMajor(c, q.dtype, {q.sizes[0], q.sizes[1], heads, v.sizes.back()});
  Dim batch = offsets ? offsets->sizes[0] - 1 : q.sizes[0];
  Dim queries = offsets ? c.dim(6) : q.sizes[1];
  Dim keys = c.isNone(7) ? k.sizes[1] : c.dim(7);
  // Rows of the sums are padded to 32.
  Dim padded = c.flag(10) ? ceilDiv(queries, 32) * 32 : Dim(0);
  (void)rowMajor(c, DType::F32, {batch, heads, padded});
  (void)rowMajor(c, DType::I64, {});
  (void)rowMajor(c, DType::I64, {});
  (void)c.integer(queries);
  return c.integer(keys);
}

/// A hook for accelerators of other vendors: (output, logsumexp, two absent
/// ones, lengths of queries and keys, seed, offset, absent).
static LogicalResult overrideable(FakeCall &c) {
  const TensorMeta &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  if (failed(needsAccelerator(c)) || failed(needsHeads(c, 3)))
    return failure();
  if (q.rank() > 4)
    return c.fail(FakeError::Dim,
                  "'query' needs 3 or 4 dims, it has " + Twine(q.rank()));
  Dim batch = q.rank() == 4 ? q.sizes[0] : Dim(1);
  Dim heads = q.sizes[q.rank() - 3], queries = q.sizes[q.rank() - 2];
  (void)likeQuery(c, v.sizes.back());
  (void)rowMajor(c, DType::F32, {batch, heads, queries});
  (void)c.undefined();
  (void)c.undefined();
  (void)c.integer(queries);
  (void)c.integer(k.sizes[k.rank() - 2]);
  (void)rowMajor(c, DType::I64, {});
  (void)rowMajor(c, DType::I64, {});
  return c.undefined();
}

/// (grad, query, key, value, …): the gradients of the last three, row-major or,
/// as the efficient kernel leaves them, with heads inside of sequences.
template <bool HeadsInside>
static LogicalResult kernelBackward(FakeCall &c) {
  if (failed(needsAccelerator(c)))
    return failure();
  if (!c.sameSizes(c.tensor(0).sizes, c.tensor(4 + HeadsInside).sizes))
    return c.fail(
        FakeError::Shape,
        "the gradient " + c.show(c.tensor(0)) + " does not have the size of " +
            c.show(c.tensor(4 + HeadsInside)) +
            unlike(c.tensor(0).sizes, c.tensor(4 + HeadsInside).sizes));
  for (unsigned i : {1u, 2u, 3u}) {
    const TensorMeta &like = c.tensor(i);
    TensorMeta out = TensorMeta::contiguous(like.dtype, like.sizes, c.device);
    if (HeadsInside && c.schema().base.starts_with("_scaled") &&
        like.rank() == 4)
      out.strides = denseStrides(like.sizes, {0, 2, 1, 3});
    (void)c.fresh(std::move(out));
  }
  return success();
}

/// With the gradient of the bias, whose rows are padded to 16.
static LogicalResult efficientBackward(FakeCall &c) {
  if (failed(kernelBackward<true>(c)))
    return failure();
  const TensorMeta *bias = c.optTensor(4);
  bool scaled = c.schema().base.starts_with("_scaled");
  const std::vector<Arg> &mask = c.arg(10).list;
  bool wanted = scaled ? mask.size() == 4 && mask[3].boolean : c.flag(15);
  if (!bias || !wanted || bias->sizes.empty())
    return scaled ? c.undefined() : rowMajor(c, c.tensor(1).dtype, {});
  Dims padded = bias->sizes;
  padded.back() = ceilDiv(padded.back(), 16) * 16;
  TensorMeta out = TensorMeta::contiguous(bias->dtype, bias->sizes, c.device);
  out.strides = contiguousStrides(padded);
  return c.fresh(std::move(out));
}

//===----------------------------------------------------------------------===//
// The composite form
//===----------------------------------------------------------------------===//

/// (output, weights): products and a softmax, row-major.
static LogicalResult math(FakeCall &c) {
  FailureOr<Dims> sizes = attentionSizes(c, /*maskArg=*/3, c.flag(8));
  if (failed(sizes))
    return failure();
  if (c.arg(3).kind == Arg::Tensor && c.flag(5))
    return c.fail(FakeError::Other,
                  "attention takes either a mask or is_causal");
  const TensorMeta &k = c.tensor(1);
  Dims weights = *sizes;
  weights.back() = k.sizes[k.rank() - 2];
  (void)rowMajor(c, c.tensor(0).dtype, *sizes);
  return rowMajor(c, c.tensor(0).dtype, weights);
}

//===----------------------------------------------------------------------===//
// Whole layers
//===----------------------------------------------------------------------===//

/// A parameter of a layer must have these sizes.
static LogicalResult hasSizes(FakeCall &c, unsigned arg, ArrayRef<Dim> sizes) {
  const TensorMeta &t = c.tensor(arg);
  if (c.sameSizes(t.sizes, sizes))
    return success();
  return c.fail(FakeError::Shape,
                "'" + c.schema().args[arg].name + "' is " + c.show(t) +
                    ", it must be " +
                    TensorMeta::contiguous(t.dtype, sizes, t.device).str());
}

/// The packed projections of query, key and value, and that of the output,
/// which begin at `first`.
static LogicalResult projections(FakeCall &c, unsigned first, Dim width,
                                 Dim heads) {
  if (c.lt(heads, 1) || !c.mustEq(mod(width, heads), 0))
    return c.fail(FakeError::Shape, "a width of " + width.str() +
                                        " does not divide into " + heads.str() +
                                        " heads");
  if (failed(hasSizes(c, first, {width * 3, width})) ||
      failed(hasSizes(c, first + 1, {width * 3})) ||
      failed(hasSizes(c, first + 2, {width, width})))
    return failure();
  return hasSizes(c, first + 3, {width});
}

/// (query, key, value, width, heads, qkv weight and bias, output weight and
/// bias, mask, need_weights, average_attn_weights, mask_type):
/// (output, weights)
static LogicalResult multiHead(FakeCall &c) {
  const TensorMeta &q = c.tensor(0);
  for (unsigned i : {0u, 1u, 2u})
    if (c.tensor(i).rank() != 3)
      return c.fail(FakeError::Dim, "'" + c.schema().args[i].name +
                                        "' needs 3 dims, it has " +
                                        Twine(c.tensor(i).rank()));
  if (failed(projections(c, 5, c.dim(3), c.dim(4))))
    return failure();
  for (unsigned i : {0u, 1u, 2u})
    if (!c.mustEq(c.tensor(i).sizes[2], c.dim(3)))
      return c.fail(FakeError::Shape, c.sizeAt(c.tensor(i), 2) +
                                          ", not the width of " +
                                          c.dim(3).str());
  for (unsigned i : {0u, 1u, 2u, 5u, 6u, 7u, 8u})
    if (c.tensor(i).dtype != q.dtype)
      return c.fail(FakeError::Dtype, "'" + c.schema().args[i].name + "' is " +
                                          dtypeName(c.tensor(i).dtype) +
                                          ", the query " + dtypeName(q.dtype));
  (void)rowMajor(c, q.dtype, q.sizes);
  if (!c.flag(10))
    return c.undefined();
  Dim keys = c.tensor(1).sizes[1];
  return rowMajor(c, q.dtype,
                  c.flag(11) ? Dims{q.sizes[0], q.sizes[1], keys}
                             : Dims{q.sizes[0], c.dim(4), q.sizes[1], keys});
}

/// (qkv [batch, sequence, 3 · width], bias, heads): query, key and value,
/// [batch, heads, sequence, head size] each, which lie one after the other.
static LogicalResult splitHeads(FakeCall &c) {
  const TensorMeta &qkv = c.tensor(0), &bias = c.tensor(1);
  if (qkv.rank() != 3)
    return c.fail(FakeError::Dim,
                  "'qkv' needs 3 dims, it has " + Twine(qkv.rank()));
  if (failed(hasSizes(c, 1, {qkv.sizes[2]})) || bias.dtype != qkv.dtype)
    return c.fail(
        FakeError::Shape,
        "'bias' must be " +
            TensorMeta::contiguous(qkv.dtype, {qkv.sizes[2]}, qkv.device)
                .str() +
            ", as dim 2 of 'qkv' has size " + qkv.sizes[2].str() + "; it is " +
            bias.str());
  Dim heads = c.dim(2), width = floorDiv(qkv.sizes[2], 3);
  if (!c.mustEq(mod(qkv.sizes[2], 3), 0) || c.lt(heads, 1) ||
      !c.mustEq(mod(width, heads), 0))
    return c.fail(FakeError::Shape, c.sizeAt(qkv, 2) +
                                        ", which is not that of 3 times " +
                                        heads.str() + " heads");
  Dims sizes = {qkv.sizes[0], heads, qkv.sizes[1], floorDiv(width, heads)};
  for (int64_t i : {0, 1, 2}) {
    TensorMeta out = TensorMeta::contiguous(qkv.dtype, sizes, c.device);
    out.offset = product(sizes) * Dim(i);
    (void)c.fresh(std::move(out));
  }
  return success();
}

/// (src, width, heads, qkv weight and bias, output weight and bias, gelu, norm
/// first, eps, norm 1 weight and bias, norm 2 weight and bias, feed-forward
/// weights and biases, mask, mask_type)
static LogicalResult encoderLayer(FakeCall &c) {
  const TensorMeta &src = c.tensor(0);
  Dim width = c.dim(1);
  if (src.rank() != 3)
    return c.fail(FakeError::Dim,
                  "'src' needs 3 dims, it has " + Twine(src.rank()));
  if (!c.mustEq(src.sizes[2], width))
    return c.fail(FakeError::Shape,
                  c.sizeAt(src, 2) + ", not the width of " + width.str());
  if (failed(projections(c, 3, width, c.dim(2))))
    return failure();
  for (unsigned i : {10u, 11u, 12u, 13u})
    if (failed(hasSizes(c, i, {width})))
      return failure();
  const TensorMeta &inner = c.tensor(14);
  if (inner.rank() != 2)
    return c.fail(FakeError::Dim, "'" + c.schema().args[14].name +
                                      "' needs 2 dims, it has " +
                                      Twine(inner.rank()));
  if (failed(hasSizes(c, 14, {inner.sizes[0], width})) ||
      failed(hasSizes(c, 15, {inner.sizes[0]})) ||
      failed(hasSizes(c, 16, {width, inner.sizes[0]})) ||
      failed(hasSizes(c, 17, {width})))
    return failure();
  return rowMajor(c, src.dtype, src.sizes);
}

ArrayRef<FakeRuleRow> attentionFusedRules() {
  static const FakeRuleRow rows[] = {
      {"_efficient_attention_backward.default", efficientBackward},
      {"_efficient_attention_forward.default", efficientForward},
      {"_flash_attention_backward.default", kernelBackward<false>},
      {"_flash_attention_forward.default", flashForward},
      {"_flash_attention_forward.quantized", flashForward},
      {"_native_multi_head_attention.default", multiHead},
      {"_scaled_dot_product_attention_math.default", math},
      {"_scaled_dot_product_efficient_attention_backward.default",
       efficientBackward},
      {"_scaled_dot_product_flash_attention_backward.default",
       kernelBackward<false>},
      {"_scaled_dot_product_fused_attention_overrideable.default",
       overrideable},
      {"_transform_bias_rescale_qkv.default", splitHeads},
      {"_transformer_encoder_layer_fwd.default", encoderLayer},
  };
  return rows;
}

} // namespace ft
