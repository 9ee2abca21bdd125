//===- CompareTest.cpp - When two tensors are equal -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/Compare.h"

#include "tests/unit/conformance/Tensors.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ft;
using namespace ft::conformance;

static std::optional<std::string> compare(const HostTensor &got,
                                          const HostTensor &want) {
  return compareTensors(got.view(), want.view(), Accuracy::Pointwise);
}

TEST(Compare, AcceptsRoundingAndNoMore) {
  EXPECT_FALSE(compare(f32({2}, {1.000001f, -3}), f32({2}, {1, -3})));
  EXPECT_EQ(compare(f32({2, 2}, {1, 2, 3.5f, 4}), f32({2, 2}, {1, 2, 3, 4})),
            "[1, 0]: expected 3, got 3.5 (1 of 4 differ)");
}

// The absolute part grows with the largest element: a small one beside a large
// one has no digits of its own to lose.
TEST(Compare, ScalesTheAbsoluteBound) {
  EXPECT_TRUE(compare(f32({2}, {0.0005f, 1}), f32({2}, {0, 1})));
  EXPECT_FALSE(compare(f32({2}, {0.0005f, 1000}), f32({2}, {0, 1000})));
}

TEST(Compare, WantsNaNAndInfinityAtTheirPlaces) {
  float inf = INFINITY, nan = NAN;
  EXPECT_FALSE(compare(f32({3}, {nan, inf, -inf}), f32({3}, {nan, inf, -inf})));
  EXPECT_TRUE(compare(f32({1}, {inf}), f32({1}, {-inf})));
  EXPECT_TRUE(compare(f32({1}, {1e38f}), f32({1}, {inf})));
  EXPECT_TRUE(compare(f32({1}, {0}), f32({1}, {nan})));
  EXPECT_TRUE(compare(f32({1}, {nan}), f32({1}, {0})));
}

TEST(Compare, WantsIntegersExactly) {
  int64_t large = (int64_t(1) << 60) + 1;
  EXPECT_FALSE(compare(i64({1}, {large}), i64({1}, {large})));
  EXPECT_TRUE(compare(i64({1}, {large}), i64({1}, {large - 1})));
}

TEST(Compare, WantsTheSameDtypeAndShape) {
  EXPECT_EQ(compare(f32({1}, {0}), f64({1}, {0})),
            "expected float64 [1], got float32 [1]");
  EXPECT_EQ(compare(f32({1}, {0}), f32({}, {0})),
            "expected float32 [], got float32 [1]");
}

TEST(Compare, TakesEitherPrecision) {
  HostTensor got = f32({1}, {1.0f}), rounded = f32({1}, {1.1f}),
             exact = f64({1}, {1.0});
  TensorView view = exact.view();
  EXPECT_FALSE(
      compareTensors(got.view(), rounded.view(), Accuracy::Pointwise, &view));
  // An overflow of the narrow type stays one.
  HostTensor infinite = f32({1}, {INFINITY}), large = f64({1}, {1e39});
  TensorView wide = large.view();
  EXPECT_TRUE(
      compareTensors(got.view(), infinite.view(), Accuracy::Pointwise, &wide));
}

TEST(Compare, LooksAtSignsOfZeroOnlyWhenAsked) {
  HostTensor got = f32({1}, {-0.0f}), want = f32({1}, {0.0f});
  EXPECT_FALSE(compare(got, want));
  EXPECT_TRUE(compareTensors(got.view(), want.view(), Accuracy::Pointwise,
                             nullptr, /*signedZero=*/true));
}

TEST(Compare, ReadsNarrowFloats) {
  HostTensor half = tensorOf<uint16_t>(DType::F16, {1}, {0x3c00});
  HostTensor brain = tensorOf<uint16_t>(DType::BF16, {1}, {0xbf80});
  EXPECT_EQ(half.view().at(0), 1.0);
  EXPECT_EQ(brain.view().at(0), -1.0);
}
