//===- StrideRulesTest.cpp - Examples of how results are laid out *- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"

#include "Calls.h"
#include "gtest/gtest.h"

using namespace ft;

namespace {

std::string text(const Dims &dims) {
  std::string out;
  for (Dim d : dims)
    out += (out.empty() ? "" : " ") + d.str();
  return out;
}

/// Strides of an elementwise op over these tensors.
std::string elementwise(std::vector<TensorMeta> tensors) {
  const Schema &schema = *SchemaTable::get().find("add.Tensor");
  FakeCall call(schema, {}, {});
  std::vector<const TensorMeta *> pointers;
  for (const TensorMeta &t : tensors)
    pointers.push_back(&t);
  llvm::FailureOr<Dims> sizes = call.broadcast(pointers);
  return failed(sizes) ? call.message
                       : text(elementwiseStrides(pointers, *sizes));
}

TEST(StrideRules, TheFirstOperandDecides) {
  EXPECT_EQ(elementwise({tensor({3, 4}, {1, 3}), tensor({3, 4})}), "1 3");
  EXPECT_EQ(elementwise({tensor({3, 4}), tensor({3, 4}, {1, 3})}), "4 1");
  EXPECT_EQ(elementwise({tensor({4}), tensor({3, 4}, {1, 3})}), "1 3");
}

TEST(StrideRules, ChannelsLastIsFollowed) {
  TensorMeta last = tensor({2, 6, 4, 4}, {96, 1, 24, 6});
  TensorMeta plain = tensor({2, 6, 4, 4});
  EXPECT_EQ(elementwise({last, plain}), "96 1 24 6");
  EXPECT_EQ(elementwise({plain, last}), "96 16 4 1");
}

TEST(StrideRules, BroadcastDimsDoNotDecide) {
  EXPECT_EQ(elementwise({tensor({3, 1}), tensor({1, 4})}), "4 1");
  EXPECT_EQ(elementwise({tensor({3, 1, 5}), tensor({1, 4, 5}, {20, 1, 4})}),
            "20 1 4");
  TensorMeta expanded = tensor({3, 4}, {0, 1});
  EXPECT_EQ(elementwise({expanded, expanded}), "4 1");
}

TEST(StrideRules, ResultsAreDense) {
  EXPECT_EQ(elementwise({tensor({3, 4}, {8, 2})}), "4 1");
  EXPECT_EQ(elementwise({tensor({2, 3, 4}, {24, 2, 6})}), "12 1 3");
  EXPECT_EQ(elementwise({tensor({2, 3, 4}, {0, 4, 1})}), "12 4 1");
  EXPECT_EQ(elementwise({tensor({2, 3, 4}, {1, 8, 2})}), "1 8 2");
}

TEST(StrideRules, SizesThatDoNotBroadcast) {
  EXPECT_EQ(elementwise({tensor({3, 4}), tensor({3})}),
            "sizes 4 of an operand and 3 of an operand do not broadcast at dim "
            "1 of 2");
}

TEST(StrideRules, LikeKeepsTheOrderOfDims) {
  EXPECT_EQ(text(likeStrides(tensor({3, 4}, {2, 6}))), "1 3");
  EXPECT_EQ(text(likeStrides(tensor({3, 4}, {8, 2}))), "4 1");
  EXPECT_EQ(text(likeStrides(tensor({3, 4}, {0, 1}))), "4 1");
  EXPECT_EQ(text(likeStrides(tensor({3, 4}, {1, 3}))), "1 3");
}

TEST(StrideRules, MemoryFormats) {
  EXPECT_TRUE(suggestsChannelsLast(tensor({2, 6, 4, 4}, {96, 1, 24, 6})));
  EXPECT_FALSE(suggestsChannelsLast(tensor({2, 6, 4, 4})));
  // N111 is as much row-major as channels last.
  EXPECT_FALSE(suggestsChannelsLast(tensor({2, 1, 1, 1})));
  EXPECT_TRUE(isChannelsLast(tensor({2, 1, 1, 1})));
  EXPECT_FALSE(suggestsChannelsLast(tensor({2, 6, 4})));
}

/// Strides of `t` seen as `sizes`, "copy" where it cannot be.
std::string view(const TensorMeta &t, Dims sizes) {
  const Schema &schema = *SchemaTable::get().find("view.default");
  FakeCall call(schema, {}, {});
  std::optional<Dims> strides = viewStrides(call, t, sizes);
  return strides ? text(*strides) : "copy";
}

TEST(StrideRules, Views) {
  TensorMeta transposed = tensor({4, 3}, {1, 4});
  EXPECT_EQ(view(transposed, {2, 2, 3}), "2 1 4");
  EXPECT_EQ(view(transposed, {4, 1, 3}), "1 12 4");
  EXPECT_EQ(view(transposed, {12}), "copy");
  EXPECT_EQ(view(tensor({4, 1, 3}, {3, 99, 1}), {12}), "1");
  EXPECT_EQ(view(tensor({0, 3}, {1, 7}), {3, 0}), "1 1");
  EXPECT_EQ(view(tensor({}), {1, 1}), "1 1");
}

TEST(StrideRules, Dense) {
  EXPECT_TRUE(isDense({Dim(3), Dim(4)}, {Dim(1), Dim(3)}));
  EXPECT_FALSE(isDense({Dim(3), Dim(4)}, {Dim(8), Dim(2)}));
  EXPECT_FALSE(isDense({Dim(3), Dim(4)}, {Dim(0), Dim(1)}));
  EXPECT_TRUE(isDense({Dim(1), Dim(4)}, {Dim(77), Dim(1)}));
}

} // namespace
