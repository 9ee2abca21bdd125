//===- LinalgTest.cpp - What random linear algebra has found --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/random/OneCall.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::random;

TEST(LinalgDefects, ASingularMatrixHasAnInfiniteNuclearCondition) {
  Tensor a = reals(DType::F32, {2, 2, 2}, {1, 0, 0, 0, 3, 0, 0, 4});
  std::vector<Arg> args = {first, Arg::string("nuc")};
  // (3 + 4) (1/3 + 1/4)
  std::vector<double> want = {kInf, double(float(49. / 12))};
  EXPECT_EQ(valuesOf("linalg_cond.p_str", args, {a}), want);
  EXPECT_EQ(failureOf("linalg_cond.p_str", args, {a}), "");
}

TEST(LinalgDefects, EigenvectorsThatAreNotAskedForAreNone) {
  Tensor a = reals(DType::F32, {2, 2}, {1, 9, 0, 4});
  std::vector<Arg> args = {first, Arg::string("L"), Arg::truth(false)};
  Program program = callOf("_linalg_eigh.default", args, {a});
  ASSERT_EQ(program.outputs.size(), 2U);
  EXPECT_EQ(program.values[program.outputs[1]].data.shape, Shape{0});
  EXPECT_EQ(failureOf("_linalg_eigh.default", args, {a}), "");
}

TEST(LinalgDefects, OnlyTallMatricesHavePolarFactors) {
  EXPECT_EQ(failureOf("linalg_polar.default", {first},
                      {reals(DType::F32, {1, 2}, {3, 4})}),
            "refused");
}

/// Norms of a negative order take the least of something, those of a positive
/// one the largest, which is 0 if there is nothing.
TEST(LinalgDefects, MatrixNormsOfNothing) {
  Tensor noRows(DType::F32, {0, 3}), noColumns(DType::F32, {3, 0});
  for (llvm::StringRef name :
       {"linalg_matrix_norm.default", "linalg_norm.default"})
    for (auto [order, ofNoRows, ofNoColumns] :
         {std::tuple<double, const char *, const char *>{1, "", ""},
          {-1, "", "refused"},
          {kInf, "", ""},
          {-kInf, "refused", ""},
          {2, "", ""},
          {-2, "refused", "refused"}}) {
      std::vector<Arg> args = {first, Arg::floating(order)};
      EXPECT_EQ(failureOf(name, args, {noRows}), ofNoRows) << name.str();
      EXPECT_EQ(failureOf(name, args, {noColumns}), ofNoColumns) << name.str();
    }
}

TEST(LinalgDefects, NoSolutionsHaveFactorsStill) {
  Tensor a = reals(DType::F32, {1, 2, 2}, {1, 2, 4, 2}),
         b(DType::F32, {0, 2, 1});
  std::vector<Arg> args = {first, Arg::tensor(1)};
  EXPECT_EQ(valuesOf("_linalg_solve_ex.default", args, {a, b}, 1),
            std::vector<double>({4, 2, 0.25, 1.5}));
  EXPECT_EQ(failureOf("_linalg_solve_ex.default", args,
                      {reals(DType::F32, {2, 2}, {1, 2, 4, 2}), b}),
            "");
}
