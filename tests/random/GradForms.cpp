//===- GradForms.cpp - Calls that are a line each -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/GradSamplers.h"

#include <cmath>

using namespace ft;
using namespace ft::random;

/// Rows of the first argument become logarithms of probabilities.
static void logProbabilities(Program &program, const Sampler &s) {
  Tensor &logs = program.values[s.operands[0]].data;
  int64_t classes = logs.shape.back();
  for (int64_t row = 0; row < logs.numel(); row += classes) {
    double sum = 0;
    for (int64_t i = row; i < row + classes; ++i)
      sum += std::exp(logs.real(i));
    for (int64_t i = row; i < row + classes; ++i)
      logs.setReal(i, logs.real(i) - std::log(sum));
  }
}

llvm::ArrayRef<GradSampler> ft::random::gradForms() {
  struct Row {
    llvm::StringRef names, form;
    void (*settle)(Program &, const Sampler &) = nullptr;
  };
  static constexpr Row kForms[] = {
      // Products
      {"inner", "z[a k]|z[k] z[b k]"},
      {"chain_matmul", "(z[a b] z[b c] z[c d])"},
      {"linalg_multi_dot", "(z[a b] z[b c] z[c d])"},
      {"tensordot", "z[a b k l] z[k c l] (2 3) (0 2)"},
      {"tensordot", "z[a b k l] z[k c l] (2 -1) (0 2)"},
      {"_trilinear", "[a 1 b] [a c 1] [a c b] () () () (0)|(1)|(2)|(0 2)"},
      {"bilinear", "[n i] [n j] [o i j] [o]|none"},
      {"_addmm_activation", "[a b] [a k] [k b] 1|0.5 1|2 ?"},
      {"linalg_tensorinv", "z[6 3 2] 1"},
      {"linalg_tensorsolve", "z[2 3 6] z[2 3]"},
      {"linalg_vander", "z[n]|z[a n] N"},
      {"ormqr", "z[m+2 m] z[m] z[m+2 k] true ?"},
      {"lu_unpack", "z[n n]|z[m n]|z[2 3 2] int[]0..0"},
      // Convolutions
      {"conv1d.padding", "[n 2*c W] [o*2 c k] [o*2]|none (1) 'same'|'valid' "
                         "(1)|(2) 2"},
      {"conv2d.padding", "[n c H W] [o c 3 k] [o]|none (1 1) 'same'|'valid' "
                         "(1 1)"},
      {"conv3d.padding", "[n c 3 H 3] [o c 3 1 2] [o]|none (1 1 1) 'same'"},
      {"_convolution_mode",
       "[n c H W] [o c 3 2] [o]|none (1 1) 'same'|'valid' (1 1)|(1 2) 1"},
      {"_convolution _convolution.deprecated convolution_overrideable",
       "[n c H W] [o c 2 k] [o]|none (1 1)|(2 1) (0 1) (1 1)|(2 1) false (0 0) "
       "1 true true true true"},
      {"mkldnn_convolution",
       "[n c H W] [o c 2 k] [o]|none (1 0) (1 1)|(2 1) (1 1)|(1 2) 1"},
      {"_conv_depthwise2d",
       "[n c H W] [c*2 1 3 2] (3 2) [c*2]|none (1 1)|(2 1) "
       "(1 0) (1 1)|(1 2)"},
      {"conv_depthwise3d", "[n c 3 H W] [c*2 1 3 2 1] (3 2 1) [c*2] (1 1 1) "
                           "(1 0 0) (1 1 1)|(1 2 1)"},
      {"slow_conv_dilated2d", "[n c H W] [o c 2 2] (2 2) [o]|none (1 1)|(2 1) "
                              "(1 0) (1 1)|(1 2)"},
      {"slow_conv_dilated3d",
       "[n c 3 H W] [o c 2 2 1] (2 2 1) [o]|none (1 2 1) "
       "(1 0 0) (1 1 1)|(1 2 1)"},
      {"slow_conv_transpose2d",
       "[n c H W] [c o 3 2] (3 2) [o]|none (2 2) (1 0) (0 1)|(1 0)|(0 0) "
       "(1 1)|(2 2)"},
      {"slow_conv_transpose3d",
       "[n c 2 H 3] [c o 3 2 1] (3 2 1) [o]|none (2 2 1) (1 0 0) "
       "(0 1 0)|(1 0 0)|(0 0 0) (1 1 1)|(2 2 1)"},
      {"slow_conv3d",
       "[n c 3 H W] [o c 2 2 3] (2 2 3) [o]|none (1 2 1) (1 0 1)"},
      {"slow_conv3d_forward",
       "[n c 3 H W] [o c 2 2 3] (2 2 3) [o]|none (1 2 1) (1 0 1)"},
      {"thnn_conv2d _slow_conv2d_forward",
       "[n c H W] [o c 2 3] (2 3) [o]|none (1 1)|(2 1) (1 0)|(1 1)"},
      {"conv_tbc", "[3+t b i] [k i o] [o] 0|1"},
      // Cells and networks
      {"rnn_tanh_cell rnn_relu_cell",
       "[b i] [b h] [h i] [h h] [h]|none [h]|none"},
      {"gru_cell", "[b i] [b h] [3*h i] [3*h h] [3*h]|none [3*h]|none"},
      {"lstm_cell",
       "[b i] ([b h] [b h]) [4*h i] [4*h h] [4*h]|none [4*h]|none"},
      {"rnn_tanh.input rnn_relu.input",
       "[t b i] [1 b h] ([h i] [h h] [h] [h]) true 1 0.0 ? false false"},
      {"gru.input", "[b t i] [2 b h] ([3*h i] [3*h h] [3*h i] [3*h h]) "
                    "false 1 0.0 ? true true"},
      {"lstm.input",
       "[t b i] ([2 b h] [2 b h]) ([4*h i] [4*h h] [4*h] [4*h] [4*h h] "
       "[4*h h] [4*h] [4*h]) true 2 0.0 ? false false"},
      {"_thnn_differentiable_gru_cell_backward",
       "[b h] [b 3*h] [b 3*h] [b h] [3*h] [3*h]"},
      {"_thnn_differentiable_lstm_cell_backward",
       "[b h]|none [b h] [b 4*h] [b 4*h] [4*h] [4*h] [b h] [b h]"},
      {"_scaled_dot_product_attention_math",
       "[b 2 t e] [b 2 s e] [b 2 s v] [t s]|none 0.0 false"},
      // Norms
      {"batch_norm", "[2+b c W] [c]|none [c] [c] [c]0.5..2.5 ? 0.1 0.01 false"},
      {"instance_norm", "[b c W] [c]|none [c] none none true 0.1 0.01 false"},
      {"_batch_norm_no_update",
       "[2+b c W] [c]|none [c] [c] [c]0.5..2.5 0.1 0.01"},
      {"_batch_norm_with_update_functional",
       "[2+b c W] [c]|none [c] [c] [c]0.5..2.5 0.1 0.01"},
      {"renorm", "[a b] 2|1|3 0|1 1.5"},
      {"native_norm", "[a b] 2|3"},
      {"native_norm.ScalarOpt_dim_dtype", "[a b] 2|3 (0)|(1) ?"},
      {"_weight_norm", "[a b c] [a 1 1] 0"},
      {"_weight_norm_interface", "[a b c] [a 1 1] 0"},
      {"_weight_norm_differentiable_backward _weight_norm_interface_backward",
       "[a b c] [a b c] [a 1 1] [a 1 1] 0"},
      // Losses
      {"binary_cross_entropy",
       "[a b]0.1..0.9 [a b]0.1..0.9 [a b]|[b]|none 0|1|2"},
      {"binary_cross_entropy_backward",
       "[a b] [a b]0.1..0.9 [a b]0.1..0.9 [a b]|[b]|none 0|1|2"},
      {"mse_loss_backward soft_margin_loss_backward", "[a b] [a b] [a b] 0"},
      {"huber_loss_backward smooth_l1_loss_backward",
       "[a b] [a b] [a b] 0|1|2 1.0"},
      {"hinge_embedding_loss", "[a b] sign[a b] 1.0|0.5 0|1|2"},
      {"margin_ranking_loss", "[a b] [a b] sign[a b] 0.0|0.5 0|1|2"},
      {"cosine_embedding_loss", "[a b] [a b] sign[a] 0.0|0.5 0|1|2"},
      {"triplet_margin_loss",
       "[a b] [a b] [a b] 1.0 2.0|1.0|3.0 0.000001 ? 0|1|2"},
      {"cosine_similarity", "z[a b c] [a b c] 0|1|-1"},
      {"pairwise_distance", "[a b] [a b]|[b] 2.0|1.0|3.0 0.000001 ?"},
      {"poisson_nll_loss", "[a b]0.5..2.5 [a b]1.5..2.5 ? ? 0.01 0|1|2"},
      {"multi_margin_loss", "[n 3] int[n]0..2 1|2 1|0.5 [3]|none 0|1|2"},
      {"multi_margin_loss_backward",
       "[n] [n 3] int[n]0..2 1|2 1|0.5 [3]|none 0"},
      {"multilabel_margin_loss multilabel_margin_loss_forward",
       "[n 4] int[n 4]-1..3 0|1|2"},
      {"multilabel_margin_loss_backward",
       "[n] [n 4] int[n 4]0..0 0 [n 4]1.0..1.0"},
      {"nll_loss_nd", "[n c] int[n]0..c-1 [c]|none 0|1|2 -100|0"},
      {"nll_loss_backward", "[n] [n c] int[n]0..c-1 [c]|none 0 -100|0 []"},
      {"nll_loss2d_backward",
       "[n h w] [n c h w] int[n h w]0..c-1 [c]|none 0 -100|0 []"},
      {"_ctc_loss ctc_loss.IntList", "[4+t 2 C] int[2 2]1..C-1 (4 4+t) (2 1) 0",
       logProbabilities},
      {"_ctc_loss.Tensor ctc_loss.Tensor",
       "[4+t 2 C] int[2 2]1..C-1 int[2]4..4+t int[2]1..2 0", logProbabilities},
      // Places
      {"einsum", "'ij,jk->ik' ([a b] [b c])"},
      {"embedding_backward", "[n W] int[n]0..3 4 -1 false|true false"},
      {"_embedding_bag embedding_bag",
       "[W d] int[6]0..W-1 int[]0..0 false 0|1 false none false"},
      {"embedding_bag.padding_idx",
       "[W d] int[2 3]0..W-1 none false 0|1|2 false none false -1"},
      {"_embedding_bag_backward",
       "[1 d] int[4]0..W-1 int[1]0..0 int[4]0..0 int[1]4..4 int[1]0..0 W false "
       "0 false none|[4] -1"},
      {"_embedding_bag_per_sample_weights_backward",
       "[1 d] [W d] int[4]0..W-1 int[1]0..0 int[4]0..0 0 -1"},
      {"take_along_dim", "z[a b] int[a c]0..b-1 1"},
      {"gather_backward", "z[a c] z[a b] 1 int[a c]0..b-1 false"},
      {"index_select_backward", "z[a c] (a b) 1 int[c]0..b-1"},
      {"index.Tensor_hacked_twin _unsafe_index.Tensor_hacked_twin",
       "z[a b] (int[c]0..a-1 int[c]0..b-1)"},
      {"index_put.hacked_twin _unsafe_index_put _index_put_impl",
       "z[a b] (int[c]0..a-1 int[c]0..b-1) z[c] true"},
      {"_unsafe_masked_index", "[a b] mask[c] (int[c]0..a-1 int[c]0..b-1) 0.5"},
      {"_unsafe_masked_index_put_accumulate",
       "[a b] mask[c] (int[c]0..a-1 int[c]0..b-1) [c]"},
      {"masked_scatter_backward", "z[a b] mask[a b] (a*b)"},
      {"diagonal_backward", "z[3] (3 4)|(4 3) 0"},
      {"diagonal_scatter", "z[3 4] z[3] 0|1"},
      {"trace_backward", "z[] (a b)"},
      {"value_selecting_reduction_backward", "[a] 1 int[a]0..b-1 (a b) false"},
      {"cummaxmin_backward", "[a b] [a b] int[a b]0..b-1 1"},
      {"cumprod_backward", "z[a b] z[a b] 1 z[a b]"},
      {"_masked_softmax_backward", "[a b] [a b] mask[a b] 1"},
      {"fake_quantize_per_tensor_affine_cachemask_backward "
       "fake_quantize_per_channel_affine_cachemask_backward",
       "[a b] mask[a b]"},
      // Numbers that are drawn, the same in each run
      {"dropout feature_dropout alpha_dropout feature_alpha_dropout",
       "[n c W] 0.5|0.2 ?"},
      {"native_dropout", "[n c W] 0.5|0.2 ?"},
      {"native_dropout_backward _masked_scale", "[n W] mask[n W] 2.0"},
      {"rrelu", "[n W] 0.1 0.3 ?"},
      {"rrelu_with_noise_functional", "[n W] [n W] 0.1 0.3 ?"},
      {"rrelu_with_noise_backward",
       "[n W] [n W] [n W]0.1..0.3 0.1 0.3 ? false"},
      // Pools and pictures
      {"fractional_max_pool2d", "[n c 4 W+1] (2 2) (2 2) [n c 2]0.0..0.9"},
      {"fractional_max_pool3d",
       "[n c 4 W+1 4] (2 2 1) (2 2 3) [n c 3]0.0..0.9"},
      {"fractional_max_pool2d_backward",
       "[n c 2 2] [n c 4 W] (2 2) (2 2) int[n c 2 2]0..11"},
      {"fractional_max_pool3d_backward",
       "[n c 2 2 1] [n c 4 W 2] (2 2 1) (2 2 1) int[n c 2 2 1]0..23"},
      {"max_unpool2d", "[n c 1 1] int[n c 1 1]0..3 (2 2)"},
      {"max_unpool3d",
       "[n c 1 1 1] int[n c 1 1 1]0..7 (2 2 2) (2 2 2) (0 0 0)"},
      {"grid_sampler grid_sampler_2d",
       "[n c H W] [n a b 2]-1.2..1.2 0|1|2 0|1|2 ?"},
      {"grid_sampler_3d", "[n c 3 H W] [n a b d 3]-1.2..1.2 0|1 0|1|2 ?"},
      {"grid_sampler_2d_backward", "[n c a b] [n c H W] [n a b 2]-1.2..1.2 "
                                   "0|1|2 0|1|2 ? (true true)"},
      {"grid_sampler_3d_backward",
       "[n c a b d] [n c 3 H W] [n a b d 3]-1.2..1.2 0|1 0|1|2 ? "
       "(true true)"},
      {"affine_grid_generator", "[n 2 3] (n c H W) ?"},
      {"affine_grid_generator_backward", "[n H W 2] (n c H W) ?"},
      {"_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa",
       "[n c H W] (h+1 w+2) ?"},
      {"_upsample_bilinear2d_aa.vec _upsample_bicubic2d_aa.vec "
       "_upsample_lanczos2d_aa.vec",
       "[n c H W] (h+1 w+2) ? none"},
      {"_upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa_backward "
       "_upsample_lanczos2d_aa_backward",
       "[n c h+1 w+2] (h+1 w+2) (n c H W) ?"},
      // Distances
      {"_cdist_backward", "[a b] [a c] [b c] 2.0|1.0|3.0 [a b]"},
      {"_pdist_backward", "[3] [3 c] 2.0|1.0|3.0 [3]"},
  };
  static const std::vector<GradSampler> rows = [] {
    std::vector<GradSampler> list;
    for (const Row &row : kForms)
      list.push_back({row.names, nullptr, row.settle, row.form});
    return list;
  }();
  return rows;
}
