//===- FftTest.cpp - Fourier transforms ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gtest/gtest.h"

#include "runtime/kernels/scratch.h"
#include "tests/unit/kernels/KernelRun.h"

using namespace ft;

namespace {

/// What a transform is divided by.
enum Norm { kNothing, kRoot, kCount };

/// Two lines of n points, transformed along dim 1, in `scratch` bytes.
Dense transform(const Dense &x, bool inverse, Norm norm, int64_t scratch = 0) {
  int64_t n = x.cols;
  KernelRun fft(/*complex=*/true);
  fft.operand(x);
  fft.number(1);
  fft.number(n);
  fft.number(inverse);
  fft.number(0);
  fft.number(norm);
  fft.number(n);
  fft.result(x.rows, n);
  EXPECT_EQ(fft.run(ft_k_fft, scratch ? scratch : ft_scratch_fft(n)), FT_OK);
  return fft.resultMatrix(0);
}

/// The definition, with exact angles.
Dense sums(const Dense &x) {
  int64_t n = x.cols;
  Dense spectrum(x.rows, n);
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j) {
      double angle = -2 * 3.14159265358979323846 *
                     static_cast<double>(j * k % n) / static_cast<double>(n);
      for (int64_t i = 0; i < x.rows; ++i)
        spectrum(i, k) += x(i, j) * std::polar(1.0, angle);
    }
  return spectrum;
}

class FftTest : public testing::TestWithParam<int> {};
// Each factor, products of them, a prime that is summed, two that are not.
INSTANTIATE_TEST_SUITE_P(Points, FftTest,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 12, 30, 49, 61,
                                         64, 67, 134, 210, 1009));

TEST_P(FftTest, IsItsDefinition) {
  Dense x = Dense::random(2, GetParam(), true, 1);
  EXPECT_LE((transform(x, false, kNothing) - sums(x)).size(),
            1e-14 * GetParam() + 1e-14);
}

TEST_P(FftTest, InverseGivesTheSignalBack) {
  Dense x = Dense::random(2, GetParam(), true, 2);
  Dense back = transform(transform(x, false, kNothing), true, kCount);
  EXPECT_LE((back - x).size(), 1e-14);
}

TEST_P(FftTest, TwoRootsAreTheCount) {
  Dense x = Dense::random(2, GetParam(), true, 3);
  Dense back = transform(transform(x, false, kRoot), true, kRoot);
  EXPECT_LE((back - x).size(), 1e-14);
}

// Where the number of points is only known at run time.
TEST_P(FftTest, BoundOfScratchIsEnough) {
  int64_t n = GetParam(), bound = ft_scratch_any_fft(n);
  EXPECT_LE(ft_scratch_fft(n), bound);
  Dense x = Dense::random(2, GetParam(), true, 4);
  Dense back = transform(transform(x, false, kNothing, bound), true, kCount);
  EXPECT_LE((back - x).size(), 1e-14);
}

TEST(Fft, LargePrimesBecomeConvolutions) {
  EXPECT_EQ(ft_fft_convolution(61), 0);
  EXPECT_EQ(ft_fft_convolution(4096), 0);
  EXPECT_EQ(ft_fft_convolution(67), 135); // 3 * 3 * 3 * 5 >= 133
}

} // namespace
