//===- FactorsTest.cpp - Factors multiplied give the matrix ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gtest/gtest.h"

#include "runtime/kernels/scratch.h"
#include "tests/unit/kernels/KernelRun.h"

using namespace ft;

namespace {

class FactorsTest : public testing::TestWithParam<std::tuple<int, bool>> {
protected:
  int64_t n = std::get<0>(GetParam());
  bool complex = std::get<1>(GetParam());
  int64_t unit = complex ? 16 : 8;
  double tolerance = 1e-14 * static_cast<double>(n + 10);

  static Dense diagonal(const Dense &values, int64_t rows, int64_t cols) {
    Dense d(rows, cols);
    for (int64_t i = 0; i < values.rows; ++i)
      d(i, i) = values(i, 0);
    return d;
  }
  static double offIdentity(const Dense &q) {
    return (q.adjoint() * q - Dense::identity(q.cols)).size();
  }
  void checkSvd(const Dense &a);
  void checkEigh(const Dense &a);
};
INSTANTIATE_TEST_SUITE_P(Sizes, FactorsTest,
                         testing::Combine(testing::Values(0, 1, 2, 5, 33, 128),
                                          testing::Bool()));

TEST_P(FactorsTest, Qr) {
  for (int64_t cols : {n, n + 2, n / 2}) {
    Dense a = Dense::random(n, cols, complex, 1);
    KernelRun qr(complex);
    qr.operand(a);
    qr.number(n);
    qr.result(n, n);
    qr.result(n, cols);
    if (n == 0)
      continue; // Q without columns is not asked for
    ASSERT_EQ(qr.run(ft_k_qr, ft_scratch_qr(unit, n, cols, n)), FT_OK);
    Dense q = qr.resultMatrix(0), r = qr.resultMatrix(1);
    EXPECT_LE((q * r - a).size(), tolerance * 3);
    EXPECT_LE(offIdentity(q), tolerance);
    for (int64_t j = 0; j < cols; ++j)
      for (int64_t i = j + 1; i < n; ++i)
        EXPECT_EQ(std::abs(r(i, j)), 0);
  }
}

TEST_P(FactorsTest, Cholesky) {
  Dense b = Dense::random(n, n, complex, 2), a = b * b.adjoint();
  for (int64_t i = 0; i < n; ++i)
    a(i, i) += 1;
  for (bool upper : {false, true}) {
    KernelRun cholesky(complex);
    cholesky.operand(a);
    cholesky.number(upper);
    cholesky.number(1);
    cholesky.result(n, n);
    cholesky.integerResult(1);
    ASSERT_EQ(cholesky.run(ft_k_cholesky, ft_scratch_cholesky(unit, n, 0)),
              FT_OK);
    Dense l = cholesky.resultMatrix(0);
    Dense product = upper ? l.adjoint() * l : l * l.adjoint();
    EXPECT_LE((product - a).size(), tolerance * (1 + a.size()));
  }
}

TEST(Cholesky, SaysWhichMinorIsNotPositive) {
  Dense a = Dense::identity(3);
  a(1, 1) = -1;
  KernelRun cholesky(false);
  cholesky.operand(a);
  cholesky.number(0);
  cholesky.number(1);
  cholesky.result(3, 3);
  cholesky.integerResult(1);
  EXPECT_EQ(cholesky.run(ft_k_cholesky, ft_scratch_cholesky(8, 3, 0)),
            FT_ERROR_ARGUMENT);
  EXPECT_EQ(cholesky.resultIntegers(1)[0], 2);
}

void FactorsTest::checkEigh(const Dense &a) {
  KernelRun eigh(complex);
  eigh.operand(a);
  eigh.number(0);
  eigh.number(1);
  eigh.result(a.rows, -1, /*real=*/true);
  eigh.result(a.rows, a.rows);
  ASSERT_EQ(eigh.run(ft_k_eigh, ft_scratch_eigh(unit, a.rows)), FT_OK);
  Dense values = eigh.resultMatrix(0), v = eigh.resultMatrix(1);
  EXPECT_LE(offIdentity(v), tolerance);
  EXPECT_LE((a * v - v * diagonal(values, a.rows, a.rows)).size(),
            tolerance * (1 + a.size()) * 3);
  for (int64_t i = 1; i < a.rows; ++i)
    EXPECT_LE(values(i - 1, 0).real(), values(i, 0).real());
}

TEST_P(FactorsTest, Eigh) {
  Dense b = Dense::random(n, n, complex, 3);
  checkEigh(b * b.adjoint());    // positive
  checkEigh(Dense::identity(n)); // all equal
  checkEigh(Dense(n, n));        // zero
  Dense ones(n, n);              // rank 1
  for (Complex &x : ones.data)
    x = 1;
  checkEigh(ones);
}

void FactorsTest::checkSvd(const Dense &a) {
  int64_t m = a.rows, cols = a.cols, k = std::min(m, cols);
  KernelRun svd(complex);
  svd.operand(a);
  svd.number(1);
  svd.result(m, m);
  svd.result(k, -1, /*real=*/true);
  svd.result(cols, cols);
  ASSERT_EQ(svd.run(ft_k_svd, ft_scratch_svd(unit, m, cols)), FT_OK);
  Dense u = svd.resultMatrix(0), s = svd.resultMatrix(1);
  Dense vh = svd.resultMatrix(2);
  EXPECT_LE(offIdentity(u), tolerance);
  EXPECT_LE(offIdentity(vh.adjoint()), tolerance);
  EXPECT_LE((u * diagonal(s, m, cols) * vh - a).size(),
            tolerance * (1 + a.size()) * 3);
  for (int64_t i = 0; i < k; ++i)
    EXPECT_GE(s(i, 0).real(), i + 1 < k ? s(i + 1, 0).real() : 0);
}

TEST_P(FactorsTest, Svd) {
  checkSvd(Dense::random(n, n, complex, 4));
  checkSvd(Dense::random(n, n + 3, complex, 5));
  checkSvd(Dense::random(n + 3, n, complex, 6));
  checkSvd(Dense::identity(n));
  checkSvd(Dense(n, n));
  Dense shifted(n, n); // nilpotent: a zero singular value in a bidiagonal
  for (int64_t i = 1; i < n; ++i)
    shifted(i - 1, i) = 1;
  checkSvd(shifted);
  Dense low = Dense::random(n, 1, complex, 7);
  checkSvd(low * low.adjoint());
}

TEST(Svd, RefusesWhatIsNotFinite) {
  Dense a = Dense::identity(2);
  a(0, 1) = INFINITY;
  KernelRun svd(false);
  svd.operand(a);
  svd.number(0);
  svd.result(2, -1);
  EXPECT_EQ(svd.run(ft_k_svd, ft_scratch_svd(8, 2, 2)), FT_ERROR_ARGUMENT);
}

TEST_P(FactorsTest, TriangularSystems) {
  Dense a = Dense::random(n, n, complex, 8), full = a;
  for (int64_t i = 0; i < n; ++i) {
    full(i, i) = a(i, i) = 3 + static_cast<double>(n);
    for (int64_t j = i + 1; j < n; ++j)
      full(i, j) = 0; // which a keeps: it must not be read
  }
  for (bool left : {true, false}) {
    Dense b = left ? Dense::random(n, 2, complex, 9)
                   : Dense::random(2, n, complex, 9);
    KernelRun solve(complex);
    solve.operand(a);
    solve.operand(b);
    for (int64_t flag : {0, left ? 1 : 0, 0, 0})
      solve.number(flag);
    solve.result(b.rows, b.cols);
    ASSERT_EQ(solve.run(ft_k_triangular, ft_scratch_triangular(unit, n, 2)),
              FT_OK);
    Dense x = solve.resultMatrix(0);
    EXPECT_LE((left ? full * x - b : x * full - b).size(), tolerance);
  }
}

} // namespace
