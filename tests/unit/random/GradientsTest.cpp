//===- GradientsTest.cpp - Derivatives that were once wrong ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/GradCheck.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::random;

/// A few calls of each operator against central differences.
static void check(std::initializer_list<const char *> operators, bool twice) {
  std::vector<Program> programs;
  for (const char *only : operators)
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      programs.push_back(differentiableCall(seed, only));
      programs.back().seed = programs.size(); // names are unique
    }
  GradCheck gradients;
  gradients.twice = twice;
  gradients.onFailure = [](const Program &program, const std::string &why) {
    ADD_FAILURE() << program.steps.front().schema->name.str() << ": " << why;
  };
  gradients.onUnsupported = gradients.onFailure;
  gradients.run(programs);
  EXPECT_GT(gradients.checked, static_cast<int64_t>(operators.size()));
}

TEST(Gradients, OfOperatorsOnLists) {
  check({"hstack.*", "dstack.*", "column_stack.*", "block_diag.*"}, false);
}

TEST(Gradients, OfTheEdgesOfOperators) {
  check({"topk.*", "embedding_dense_backward.*", "heaviside.*"}, false);
}

TEST(Gradients, OfLinearAlgebra) {
  check({"_linalg_det.*", "linalg_slogdet.*", "linalg_qr.*", "linalg_eigh.*",
         "cholesky_solve.*", "linalg_lu_factor.*"},
        false);
}

TEST(Gradients, OfQuantilesAndSpacings) {
  check({"quantile.*", "nanquantile.*", "gradient.*", "combinations.*",
         "segment_reduce.*"},
        false);
}

TEST(Gradients, OfBackwardOperators) {
  check({"native_layer_norm.*", "native_group_norm.*",
         "_native_batch_norm_legit.no_stats", "_fused_rms_norm.*", "cumprod.*",
         "cdist.*", "pdist.*"},
        true);
}
