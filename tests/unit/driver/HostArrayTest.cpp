//===- HostArrayTest.cpp ---------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/HostArray.h"

#include <gtest/gtest.h>

using namespace ft;

TEST(HostArray, IsRowMajorAndZero) {
  HostArray array(DType::I64, {2, 3});
  EXPECT_EQ(array.strides, (llvm::SmallVector<int64_t, 6>{3, 1}));
  EXPECT_EQ(array.elements(), 6);
  EXPECT_EQ(array.elementText(5), "0");
}

TEST(HostArray, ScalarsAndEmptyArraysHaveAnAddress) {
  HostArray scalar(DType::F32, {}), empty(DType::F32, {0, 4});
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(empty.elements(), 0);
  EXPECT_NE(empty.view().data, nullptr);
}

TEST(HostArray, UniformNumbersDependOnTheSeedAlone) {
  HostArray a(DType::F32, {64}), b(DType::F32, {64}), c(DType::F32, {64});
  a.fillUniform(1);
  b.fillUniform(1);
  c.fillUniform(1u << 20);
  EXPECT_EQ(a.bytes(), b.bytes());
  EXPECT_NE(a.bytes(), c.bytes());
  const float *x = reinterpret_cast<const float *>(a.bytes().data());
  float least = 1, most = -1;
  for (int i = 0; i < 64; ++i) {
    least = std::min(least, x[i]);
    most = std::max(most, x[i]);
  }
  EXPECT_GE(least, -1.0f);
  EXPECT_LT(most, 1.0f);
  EXPECT_LT(least, -0.5f);
  EXPECT_GT(most, 0.5f);
}

TEST(HostArray, IntegersStayZero) {
  HostArray array(DType::Bool, {3});
  array.fillUniform(7);
  EXPECT_EQ(array.elementText(1), "false");
}

TEST(HostArray, HalfPrecisionIsRounded) {
  HostArray array(DType::BF16, {1});
  uint16_t one = 0x3f80;
  memcpy(array.bytes().data(), &one, 2);
  EXPECT_EQ(array.elementText(0), "1");
}
