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

/// Overloads that may be without an entry, and why.
static const std::vector<Without> &without() {
  static const std::vector<Without> all = {
      {"kernels for devices that no code is made for",
       {"_efficient_attention_*", "_flash_attention_*",
        "_native_multi_head_attention.*",
        "_scaled_dot_product_cudnn_attention.*",
        "_scaled_dot_product_efficient_attention*",
        "_scaled_dot_product_flash_attention.*",
        "_scaled_dot_product_flash_attention_backward.*",
        "_scaled_dot_product_fused_attention_overrideable.*",
        "_transformer_encoder_layer_fwd.*", "cudnn_batch_norm.*",
        "batch_norm_backward.*", "_grouped_mm.*", "_scaled_mm.*",
        "_weight_int*", "_convert_weight_*", "addmm.dtype", "baddbmm.dtype",
        "_batch_norm_impl_index*"}},
      {"packed sequences, whose steps only data knows",
       {"gru.data", "lstm.data", "rnn_relu.data", "rnn_tanh.data",
        "_pack_padded_sequence*", "_pad_packed_sequence.*"}},
      {"observers, which no code is made for",
       {"_fused_moving_avg_obs_*", "fused_moving_avg_obs_*"}},
      {"their derivative has no code",
       {"_sample_dirichlet.*", "_standard_gamma.*"}},
      {"PyTorch has none either",
       {"_amp_*",
        "_chunk_cat.*",
        "_ctc_loss_backward.*",
        "_dirichlet_grad.*",
        "_embedding_bag_dense_backward.*",
        "_embedding_bag_forward_only.*",
        "_fake_quantize_learnable_*_backward.*",
        "_foreach_powsum.*",
        "_fused_ad*",
        "_fused_sgd.*",
        "_make_per_tensor_*",
        "_scaled_dot_product_flash_attention_for_cpu_backward.*",
        "_segment_reduce_backward.*",
        "_standard_gamma_grad.*",
        "_transform_bias_rescale_qkv.*",
        "_unique*",
        "batch_norm_update_stats.*",
        "conv_tbc_backward.*",
        "dequantize.*",
        "embedding_renorm.*",
        "geqrf.*",
        "glu_jvp.*",
        "linalg__powsum.*",
        "linalg_ldl_*",
        "narrow.Tensor",
        "quantize_*",
        "resize.*",
        "resize_as.*",
        "set.*",
        "unique_*"}},
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
        entry.expands())
      continue;
    EXPECT_TRUE(mayBeWithout(schema.name))
        << schema.name.str() << " has no derivative, and no reason for that";
  }
}
