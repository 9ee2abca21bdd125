//===- EigTest.cpp - Eigenvalues of any matrix -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gtest/gtest.h"

#include "runtime/kernels/scratch.h"
#include "tests/unit/kernels/KernelRun.h"

using namespace ft;

namespace {

/// A V = V diag(values), columns of length 1; the values.
Dense check(const Dense &a, bool complex) {
  int64_t n = a.rows;
  KernelRun eig(complex);
  eig.operand(a);
  eig.number(1);
  eig.complexResult(n, -1);
  eig.complexResult(n, n);
  EXPECT_EQ(eig.run(ft_k_eig, ft_scratch_eig(n)), FT_OK);
  Dense values = eig.resultMatrix(0), v = eig.resultMatrix(1), scaled = v;
  for (int64_t j = 0; j < n; ++j) {
    double length = 0;
    for (int64_t i = 0; i < n; ++i) {
      length += std::norm(v(i, j));
      scaled(i, j) *= values(j, 0);
    }
    EXPECT_NEAR(length, 1, 1e-14);
  }
  EXPECT_LE((a * v - scaled).size(),
            1e-14 * (1 + a.size()) * static_cast<double>(n + 5));
  return values;
}

TEST(Eig, RandomMatrices) {
  for (int64_t n : {0, 1, 2, 3, 5, 33, 70})
    for (bool complex : {false, true})
      check(Dense::random(n, n, complex, static_cast<unsigned>(n)), complex);
}

TEST(Eig, ConjugatePairsOfRealMatrices) {
  Dense turn(2, 2);
  turn(0, 1) = 1;
  turn(1, 0) = -1;
  Dense values = check(turn, false);
  EXPECT_EQ(values(0, 0), Complex(0, 1));
  EXPECT_EQ(values(1, 0), Complex(0, -1));
}

TEST(Eig, EqualAndIsolatedEigenvalues) {
  check(Dense::identity(4), false);
  check(Dense(3, 3), true);
  Dense lower = Dense::random(6, 6, false, 1);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = i + 1; j < 6; ++j)
      lower(i, j) = 0;
  check(lower, false);
  Dense cycle(5, 5); // roots of unity
  for (int64_t i = 0; i < 5; ++i)
    cycle(i, (i + 1) % 5) = 1;
  check(cycle, false);
  check(cycle, true);
}

TEST(Eig, BadlyScaledMatrices) {
  Dense a = Dense::random(4, 4, false, 2);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j)
      a(i, j) *= std::pow(10.0, static_cast<double>(2 * (i - j)));
  check(a, false);
}

TEST(Eig, RefusesWhatIsNotFinite) {
  Dense a = Dense::identity(2);
  a(1, 0) = NAN;
  KernelRun eig(false);
  eig.operand(a);
  eig.number(0);
  eig.complexResult(2, -1);
  EXPECT_EQ(eig.run(ft_k_eig, ft_scratch_eig(2)), FT_ERROR_ARGUMENT);
}

} // namespace
