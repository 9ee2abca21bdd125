//===- JoinLayoutsTest.cpp - What two branches' results have in common ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/JoinLayouts.h"

#include <gtest/gtest.h>

using namespace ft;

namespace {

class JoinLayouts : public testing::Test {
protected:
  TensorMeta meta(Dims sizes, Dims strides = {}) {
    TensorMeta result = TensorMeta::contiguous(DType::F32, sizes);
    if (!strides.empty())
      result.strides = strides;
    return result;
  }
  /// The joined layout, or why there is none.
  std::string join(const TensorMeta &a, const TensorMeta &b) {
    FakeError category = FakeError::Other;
    std::string reason;
    std::optional<TensorMeta> joined = joinLayouts(
        a, b,
        [&](Dim, Dim) {
          return Dim(symbols.symbol("u" + std::to_string(next++)));
        },
        category, reason);
    next = 0;
    return joined ? joined->str() : reason;
  }
  Dim symbol(llvm::StringRef name) { return Dim(symbols.symbol(name)); }

  SymContext symbols;
  int next = 0;
};

TEST_F(JoinLayouts, EqualLayoutsJoinWhateverTheyAre) {
  EXPECT_EQ(join(meta({4, 5}), meta({4, 5})), "float32 [4, 5] cpu");
  EXPECT_EQ(join(meta({4, 5}, {10, 2}), meta({4, 5}, {10, 2})),
            "float32 [4, 5] strides [10, 2] cpu");
  // A dim of one position has no stride to speak of.
  EXPECT_EQ(join(meta({4, 1}, {1, 1}), meta({4, 1}, {1, 7})),
            "float32 [4, 1] cpu");
}

TEST_F(JoinLayouts, SizesThatDifferAreSymbols) {
  EXPECT_EQ(join(meta({2, 5}), meta({3, 5})), "float32 [u0, 5] cpu");
  EXPECT_EQ(join(meta({4, 2, 6}), meta({4, 3, 6})), "float32 [4, u0, 6] cpu");
  EXPECT_EQ(join(meta({2, 3}), meta({4, 5})), "float32 [u0, u1] cpu");
  EXPECT_EQ(join(meta({symbol("s0"), 5}), meta({symbol("s0") - 1, 5})),
            "float32 [u0, 5] cpu");
  EXPECT_EQ(join(meta({symbol("s0"), 5}), meta({symbol("s0"), 5})),
            "float32 [s0, 5] cpu");
}

TEST_F(JoinLayouts, StridesFollowTheOrderOfTheDims) {
  EXPECT_EQ(join(meta({2, 4}, {1, 2}), meta({3, 4}, {1, 3})),
            "float32 [u0, 4] strides [1, u0] cpu");
  // A stride that is a symbol has its place too.
  EXPECT_EQ(join(meta({symbol("s0"), 2}, {1, symbol("s0")}),
                 meta({symbol("s1"), 2}, {1, symbol("s1")})),
            "float32 [u0, 2] strides [1, u0] cpu");
  EXPECT_EQ(join(meta({1, 4, 5}), meta({3, 4, 1})), "float32 [u0, 4, u1] cpu");
  // One position fits any order.
  EXPECT_EQ(join(meta({1, 4}, {4, 1}), meta({3, 4}, {1, 3})),
            "float32 [u0, 4] strides [1, u0] cpu");
  // Expanded dims keep their stride.
  EXPECT_EQ(join(meta({3, 5}, {0, 1}), meta({4, 5}, {0, 1})),
            "float32 [u0, 5] strides [0, 1] cpu");
}

TEST_F(JoinLayouts, RefusesWhatNoLayoutCovers) {
  TensorMeta a = meta({4, 5}), b = a;
  b.dtype = DType::F64;
  EXPECT_EQ(join(a, b), "their dtypes differ");
  b = a;
  b.device = Device{Device::Cuda, 0};
  EXPECT_EQ(join(a, b), "their devices differ");
  b = a;
  b.offset = 5;
  EXPECT_EQ(join(a, b), "their storage offsets differ");
  EXPECT_EQ(join(a, meta({4})), "their ranks differ");
  EXPECT_EQ(join(a, meta({4, 5}, {1, 4})),
            "their strides stand in different orders");
  EXPECT_EQ(join(meta({4, 2}, {5, 1}), meta({4, 3}, {5, 1})),
            "their strides differ, and not because they are dense tensors of "
            "different sizes");
}

} // namespace
