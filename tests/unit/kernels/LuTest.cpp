//===- LuTest.cpp - LU and what is solved with it --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gtest/gtest.h"

#include "runtime/kernels/scratch.h"
#include "tests/unit/kernels/KernelRun.h"

using namespace ft;

namespace {

/// Sizes around the blocks of 32, and both element types.
class LuTest : public testing::TestWithParam<std::tuple<int, bool>> {
protected:
  int64_t n = std::get<0>(GetParam());
  bool complex = std::get<1>(GetParam());
  int64_t unit = complex ? 16 : 8;
  double tolerance = 1e-13 * static_cast<double>(n + 1);
};
INSTANTIATE_TEST_SUITE_P(Sizes, LuTest,
                         testing::Combine(testing::Values(0, 1, 2, 5, 33, 128),
                                          testing::Bool()));

TEST_P(LuTest, RowsOfATimesPermutationAreLTimesU) {
  for (int64_t cols : {n, n / 2, n + 3}) {
    Dense a = Dense::random(n, cols, complex, 1);
    KernelRun lu(complex);
    lu.operand(a);
    lu.number(1);
    lu.result(n, cols);
    int64_t k = std::min(n, cols);
    lu.integerResult(k);
    lu.integerResult(1);
    ASSERT_EQ(lu.run(ft_k_lu, ft_scratch_lu(unit, n, cols, 0)), FT_OK);
    Dense factors = lu.resultMatrix(0), l(n, k), u(k, cols);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < cols; ++j) {
        if (i > j)
          l(i, j) = factors(i, j);
        else
          u(i, j) = factors(i, j);
      }
    for (int64_t i = 0; i < k; ++i)
      l(i, i) = 1;
    std::vector<int32_t> pivots = lu.resultIntegers(1);
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_GT(pivots[i], i);
      ASSERT_LE(pivots[i], n);
      for (int64_t j = 0; j < cols; ++j)
        std::swap(a(i, j), a(pivots[i] - 1, j));
    }
    EXPECT_LE((l * u - a).size(), tolerance);
    EXPECT_LE(l.size(), 1.5); // the pivot was the largest
  }
}

TEST_P(LuTest, SolvesFromBothSides) {
  Dense a = Dense::random(n, n, complex, 2);
  for (bool left : {true, false}) {
    Dense b = left ? Dense::random(n, 3, complex, 3)
                   : Dense::random(3, n, complex, 3);
    KernelRun solve(complex);
    solve.operand(a);
    solve.operand(b);
    solve.number(left);
    solve.number(1);
    solve.result(b.rows, b.cols);
    solve.result(n, n);
    solve.integerResult(n);
    solve.integerResult(1);
    ASSERT_EQ(solve.run(ft_k_solve, ft_scratch_lu(unit, n, n, 3)), FT_OK);
    Dense x = solve.resultMatrix(0);
    Dense rest = left ? a * x - b : x * a - b;
    EXPECT_LE(rest.size(), tolerance * (1 + x.size() * a.size()));
  }
}

TEST_P(LuTest, InverseTimesMatrixIsIdentity) {
  Dense a = Dense::random(n, n, complex, 4);
  KernelRun inverse(complex);
  inverse.operand(a);
  inverse.number(1);
  inverse.result(n, n);
  inverse.integerResult(1);
  ASSERT_EQ(inverse.run(ft_k_inverse, ft_scratch_lu(unit, n, n, n)), FT_OK);
  Dense x = inverse.resultMatrix(0);
  EXPECT_LE((a * x - Dense::identity(n)).size(),
            tolerance * (1 + x.size() * a.size()));
}

TEST(Lu, SingularMatrixSaysWhichPivot) {
  Dense a(2, 2);
  a(0, 0) = 1, a(0, 1) = 2, a(1, 0) = 2, a(1, 1) = 4;
  for (int check : {0, 1}) {
    KernelRun inverse(false);
    inverse.operand(a);
    inverse.number(check);
    inverse.result(2, 2);
    inverse.integerResult(1);
    int32_t code = inverse.run(ft_k_inverse, ft_scratch_lu(8, 2, 2, 2));
    EXPECT_EQ(code, check ? FT_ERROR_ARGUMENT : FT_OK);
    EXPECT_EQ(inverse.resultIntegers(1)[0], 2);
    if (check)
      EXPECT_EQ(inverse.message,
                "the diagonal element 2 is zero, the inversion could not be "
                "completed because the input matrix is singular");
  }
}

TEST(Lu, DeterminantAndItsLogarithm) {
  Dense a(2, 2);
  a(0, 0) = 1, a(0, 1) = 2, a(1, 0) = 3, a(1, 1) = 4;
  KernelRun det(false);
  det.operand(a);
  det.number(0);
  for (int i = 0; i < 3; ++i)
    det.result(1, 1);
  det.result(2, 2);
  det.integerResult(2);
  // Numbers are tensors without dims: a kernel reads their first element.
  ASSERT_EQ(det.run(ft_k_det, ft_scratch_lu(8, 2, 2, 0)), FT_OK);
  EXPECT_NEAR(det.resultMatrix(0)(0, 0).real(), -2, 1e-15);
  EXPECT_EQ(det.resultMatrix(1)(0, 0).real(), -1);
  EXPECT_NEAR(det.resultMatrix(2)(0, 0).real(), std::log(2.0), 1e-15);
}

TEST(Lu, TooLittleScratchIsAStatus) {
  KernelRun lu(false);
  lu.operand(Dense::identity(4));
  lu.number(0);
  lu.result(4, 4);
  lu.integerResult(4);
  lu.integerResult(1);
  EXPECT_EQ(lu.run(ft_k_lu, 64), FT_ERROR_MEMORY);
}

TEST(Lu, PivotsOutOfRangeAreAStatus) {
  KernelRun solve(false);
  solve.operand(Dense::identity(2));
  solve.integers({1, 7});
  solve.operand(Dense::identity(2));
  solve.number(1);
  solve.number(0);
  solve.result(2, 2);
  EXPECT_EQ(solve.run(ft_k_lu_solve, ft_scratch_lu(8, 2, 2, 2)),
            FT_ERROR_ARGUMENT);
}

} // namespace
