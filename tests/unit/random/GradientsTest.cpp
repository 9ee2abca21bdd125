//===- GradientsTest.cpp - Derivatives that were once wrong ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Schema.h"
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

TEST(Gradients, AreDrawnOfEveryOperator) {
  for (const std::string &line : undrawnOps())
    EXPECT_EQ(line.find("no sampler"), std::string::npos) << line;
}

TEST(Gradients, OfWhatIsNotDrawnAreInTheDerivativesOfOthers) {
  std::set<std::string> forward, expected;
  for (const Schema &schema : SchemaTable::get().all())
    if (llvm::StringRef from = derivedFrom(schema); !from.empty()) {
      forward.insert(from.str());
      expected.insert(schema.name.str());
    }
  std::vector<Program> programs;
  for (const std::string &only : forward)
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      programs.push_back(differentiableCall(seed, only));
      programs.back().seed = programs.size();
    }
  GradCheck gradients;
  gradients.twice = true;
  gradients.onFailure = [](const Program &program, const std::string &why) {
    ADD_FAILURE() << program.steps.front().schema->name.str() << ": " << why;
  };
  gradients.run(programs);
  for (const std::string &name : expected)
    EXPECT_TRUE(gradients.inJointGraphs.count(name)) << name;
}

TEST(Gradients, OfOperatorsOnLists) {
  check({"hstack.*", "dstack.*", "column_stack.*", "block_diag.*",
         "tensor_split.indices", "hsplit.array"},
        false);
}

TEST(Gradients, OfTheEdgesOfOperators) {
  check({"topk.*", "embedding_dense_backward.*", "heaviside.*",
         "cumulative_trapezoid.*", "ldexp.*", "pdist.*"},
        false);
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
         "cdist.*", "pdist.*", "multi_margin_loss.*"},
        true);
}

TEST(Gradients, OfFactorsThatTheBackwardKeeps) {
  check({"_linalg_det.*", "_linalg_slogdet.*", "logdet.*", "_linalg_solve_ex.*",
         "linalg_solve.*"},
        true);
}

TEST(Gradients, OfLogarithmsOfCumulativeSums) {
  check({"logcumsumexp.*"}, false);
  check({"logcumsumexp.*"}, true);
}

TEST(Gradients, OfAlignmentsWhoseLengthsDataDecide) {
  check({"ctc_loss.Tensor", "_ctc_loss.Tensor"}, false);
}

TEST(Gradients, OfNumbersThatAreDrawn) {
  check({"native_dropout.*", "alpha_dropout.*", "rrelu.*"}, false);
  check({"native_dropout.*", "rrelu_with_noise_functional.*"}, true);
}
