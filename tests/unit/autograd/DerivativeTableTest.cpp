//===- DerivativeTableTest.cpp - The tables of derivatives ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

#include "dialects/ft/Schema.h"

#include "llvm/Support/GlobPattern.h"

#include <gtest/gtest.h>

using namespace ft;

TEST(DerivativeTable, IsSound) {
  for (const std::string &problem : checkDerivativeTables())
    ADD_FAILURE() << problem;
}

namespace {
struct Without {
  const char *why;
  std::vector<const char *> names;
};
} // namespace

/// Overloads that may be without an entry. Families of linear algebra are not
/// looked at: their operators are decided one by one.
static const std::vector<Without> &without() {
  static const std::vector<Without> all = {
      {"kernels for devices that no code is made for",
       {"_efficient_attention_*", "_flash_attention_*",
        "_native_multi_head_attention.*", "_scaled_dot_product_*",
        "_transform_bias_rescale_qkv.*", "_transformer_encoder_layer_fwd.*",
        "cudnn_batch_norm.*", "batch_norm_backward.*", "_grouped_mm.*",
        "_scaled_mm.*", "_weight_int*", "_convert_weight_*", "addmm.dtype",
        "baddbmm.dtype", "conv_tbc_backward.*", "_batch_norm_impl_index*",
        "_fused_moving_avg_obs_*", "_fake_quantize_learnable_*",
        "fake_quantize_per_tensor_affine.tensor_qparams"}},
      {"packed sequences, whose steps only data knows",
       {"gru.data", "lstm.data", "rnn_relu.data", "rnn_tanh.data",
        "_pack_padded_sequence*", "_pad_packed_sequence.*"}},
      {"PyTorch has none either",
       {"_dirichlet_grad.*",
        "_standard_gamma_grad.*",
        "special_zeta.other_scalar",
        "_unique*",
        "unique_*",
        "_embedding_bag_dense_backward.*",
        "_embedding_bag_forward_only.*",
        "embedding_renorm.*",
        "_ctc_loss_backward.*",
        "_amp_*",
        "_fused_ad*",
        "_fused_sgd.*",
        "quantize_*",
        "dequantize.*",
        "_make_per_tensor_*",
        "batch_norm_update_stats.*",
        "resize.*",
        "resize_as.*",
        "set.*",
        "narrow.Tensor",
        "_foreach_powsum.*",
        "linalg__powsum.*"}},
      {"the second derivative of these is not written yet",
       {"_cdist_backward.*", "_fused_rms_norm_backward.*",
        "_masked_softmax_backward.*", "_pdist_backward.*",
        "_segment_reduce_backward.*", "_thnn_differentiable_*",
        "_weight_norm_*_backward.*", "affine_grid_generator_backward.*",
        "cumprod_backward.*", "glu_jvp.*", "native_*_norm_backward.*"}},
      {"their derivative has no code",
       {"_sample_dirichlet.*", "_standard_gamma.*"}},
      {"composed of others in ways that are not written yet",
       {"_chunk_cat.*", "combinations.*", "corrcoef.*", "cov.*", "gradient.*",
        "linalg_norm.*", "nanquantile.*", "nuclear_norm.*", "quantile.*",
        "unflatten_dense_tensors.*"}},
  };
  return all;
}

static bool mayBeWithout(llvm::StringRef overload) {
  for (const Without &group : without())
    for (const char *name : group.names) {
      llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(name);
      if (!glob) {
        ADD_FAILURE() << name << ": " << llvm::toString(glob.takeError());
        continue;
      }
      if (glob->match(overload))
        return true;
    }
  return false;
}

/// Functional overloads that read a tensor and give one.
static bool computesTensors(const Schema &schema) {
  auto isTensor = [](const SchemaType &type) {
    return type.kind == SchemaType::Tensor;
  };
  return !schema.mutates && llvm::any_of(schema.returns, isTensor) &&
         llvm::any_of(schema.args,
                      [&](const SchemaArg &arg) { return isTensor(arg.type); });
}

TEST(DerivativeTable, HasAnEntryForEveryOverload) {
  for (const Schema &schema : SchemaTable::get().all()) {
    const Derivative &entry = derivativeOf(schema);
    if (!computesTensors(schema) || entry.kind != Derivative::Missing ||
        entry.expands() || schema.family == "linalg" || schema.family == "fft")
      continue;
    EXPECT_TRUE(mayBeWithout(schema.name))
        << schema.name.str() << " has no derivative, and no reason for that";
  }
}
