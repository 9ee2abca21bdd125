//===- LdlTest.cpp - LDL and the exponential of a matrix -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gtest/gtest.h"

#include "runtime/kernels/scratch.h"
#include "tests/unit/kernels/KernelRun.h"

using namespace ft;

namespace {

class LdlTest : public testing::TestWithParam<std::tuple<int, bool>> {
protected:
  int64_t n = std::get<0>(GetParam());
  bool complex = std::get<1>(GetParam());
  int64_t unit = complex ? 16 : 8;
};
INSTANTIATE_TEST_SUITE_P(Sizes, LdlTest,
                         testing::Combine(testing::Values(0, 1, 2, 5, 33),
                                          testing::Bool()));

TEST_P(LdlTest, SolvesIndefiniteSystems) {
  Dense a = Dense::random(n, n, complex, 1),
        b = Dense::random(n, 2, complex, 2);
  for (int64_t i = 0; i < n; ++i) {
    a(i, i) = 0; // forces blocks of two
    for (int64_t j = i + 1; j < n; ++j)
      a(i, j) = std::conj(a(j, i));
  }
  KernelRun factor(complex);
  factor.operand(a);
  factor.number(complex);
  factor.number(0);
  factor.result(n, n);
  factor.integerResult(n);
  factor.integerResult(1);
  ASSERT_EQ(factor.run(ft_k_ldl, ft_scratch_ldl(unit, n, 0)), FT_OK);
  if (n == 1)
    EXPECT_EQ(factor.resultIntegers(2)[0], 1); // the matrix is zero
  if (n < 2)
    return;
  EXPECT_LT(factor.resultIntegers(1)[0], 0);
  KernelRun solve(complex);
  solve.operand(factor.resultMatrix(0));
  solve.integers(factor.resultIntegers(1));
  solve.operand(b);
  solve.number(complex);
  solve.result(n, 2);
  ASSERT_EQ(solve.run(ft_k_ldl_solve, ft_scratch_ldl(unit, n, 2)), FT_OK);
  Dense x = solve.resultMatrix(0);
  EXPECT_LE((a * x - b).size(), 1e-12 * (1 + x.size()));
}

TEST(Ldl, PivotsOfHalfABlockAreAStatus) {
  KernelRun solve(false);
  solve.operand(Dense::identity(2));
  solve.integers({1, -2});
  solve.operand(Dense::identity(2));
  solve.number(0);
  solve.result(2, 2);
  EXPECT_EQ(solve.run(ft_k_ldl_solve, ft_scratch_ldl(8, 2, 2)),
            FT_ERROR_ARGUMENT);
}

TEST_P(LdlTest, ExponentialOfMinusAIsTheInverse) {
  Dense a = Dense::random(n, n, complex, 3), minus = Dense(n, n) - a;
  std::vector<Dense> results;
  for (const Dense &x : {a, minus}) {
    KernelRun exponential(complex);
    exponential.operand(x);
    exponential.result(n, n);
    ASSERT_EQ(exponential.run(ft_k_matrix_exp, ft_scratch_matrix_exp(unit, n)),
              FT_OK);
    results.push_back(exponential.resultMatrix(0));
  }
  EXPECT_LE((results[0] * results[1] - Dense::identity(n)).size(),
            1e-14 * (1 + results[0].size() * results[1].size()) *
                static_cast<double>(n + 1));
}

} // namespace
