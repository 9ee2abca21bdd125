//===- PackConstantTest.cpp - Layouts of packed constants ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/PackConstant.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace ft;

namespace {

template <typename T>
std::vector<T> pack(const Constant &c) {
  std::vector<char> bytes;
  llvm::Error error = packConstant(c, [&](llvm::ArrayRef<char> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return llvm::Error::success();
  });
  EXPECT_FALSE(bool(error));
  EXPECT_EQ(bytes.size(), c.bytes());
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// 1, 2, 3, ... so that the zeros of padding show.
template <typename T = float>
std::vector<T> count(size_t n) {
  std::vector<T> values(n);
  std::iota(values.begin(), values.end(), T(1));
  return values;
}

template <typename T>
Constant constant(const std::vector<T> &data, std::vector<int64_t> sizes) {
  Constant c;
  c.elementBytes = sizeof(T);
  c.data = data.data();
  c.sizes = sizes;
  int64_t step = 1;
  c.strides.resize(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; step *= sizes[i])
    c.strides[i] = step;
  return c;
}

TEST(PackConstant, DenseCopy) {
  auto data = count(6);
  EXPECT_EQ(pack<float>(constant(data, {2, 3})), data);
  EXPECT_EQ(pack<float>(constant(data, {})), std::vector<float>{1});
  EXPECT_TRUE(pack<float>(constant(data, {2, 0, 3})).empty());
}

TEST(PackConstant, StridedSourceBecomesDense) {
  auto data = count(6);
  Constant c = constant(data, {3, 2}); // the transpose of a 2x3 array
  c.strides = {1, 3};
  EXPECT_EQ(pack<float>(c), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  c.sizes = {2, 2};
  c.strides = {0, 1}; // an expanded row
  EXPECT_EQ(pack<float>(c), (std::vector<float>{1, 2, 1, 2}));
}

TEST(PackConstant, NoDataIsZeros) {
  Constant c;
  c.elementBytes = 2;
  c.sizes = {3};
  c.strides = {1};
  EXPECT_EQ(pack<uint16_t>(c), (std::vector<uint16_t>{0, 0, 0}));
}

TEST(PackConstant, LinearInPanels) {
  // W[3, 2] in panels of 2 rows: P[p][k][r] = W[2p + r][k], row 3 is padding.
  auto w = count(6);
  Constant c = constant(w, {3, 2});
  c.layout.dims = {2, 2, 2};
  c.layout.coef = {{2, 0, 1}, {0, 1, 0}};
  EXPECT_EQ(pack<float>(c), (std::vector<float>{1, 3, 2, 4, 5, 0, 6, 0}));
}

TEST(PackConstant, BaseShiftsAndPads) {
  // One element of padding on each side, reversed.
  auto w = count<int64_t>(3);
  Constant c = constant(w, {3});
  c.layout.dims = {5};
  c.layout.coef = {{-1}};
  c.layout.base = {3};
  EXPECT_EQ(pack<int64_t>(c), (std::vector<int64_t>{0, 3, 2, 1, 0}));
}

/// What ConstantLayout's definition says, element by element.
template <typename T>
std::vector<T> byDefinition(const Constant &c) {
  std::vector<T> result(c.bytes() / sizeof(T));
  for (size_t n = 0; n < result.size(); ++n) {
    std::vector<int64_t> p(c.layout.dims.size());
    size_t rest = n;
    for (size_t i = p.size(); i-- > 0; rest /= c.layout.dims[i])
      p[i] = static_cast<int64_t>(rest % c.layout.dims[i]);
    int64_t at = 0;
    bool inside = true;
    for (size_t j = 0; j < c.sizes.size(); ++j) {
      int64_t s = c.layout.base.empty() ? 0 : c.layout.base[j];
      for (size_t i = 0; i < p.size(); ++i)
        s += c.layout.coef[j][i] * p[i];
      inside = inside && s >= 0 && s < c.sizes[j];
      at += s * c.strides[j];
    }
    result[n] = inside ? static_cast<const T *>(c.data)[at] : T(0);
  }
  return result;
}

TEST(PackConstant, ConvolutionBlockedByChannels) {
  // W[F, C, KH, KW] -> [F/32][KH][KW][C][32], F = 40 and C = 5.
  auto w = count<int32_t>(40 * 5 * 3 * 2);
  Constant c = constant(w, {40, 5, 3, 2});
  c.layout.dims = {2, 3, 2, 5, 32};
  c.layout.coef = {
      {32, 0, 0, 0, 1}, {0, 0, 0, 1, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}};
  EXPECT_EQ(pack<int32_t>(c), byDefinition<int32_t>(c));
}

TEST(PackConstant, ManyPieces) {
  // 1100 x 1200 floats do not fit one piece; both forms of the inner loops.
  auto w = count<float>(1100 * 1200);
  Constant panels = constant(w, {1100, 1200});
  panels.layout.dims = {35, 1200, 32};
  panels.layout.coef = {{32, 0, 1}, {0, 1, 0}};
  EXPECT_EQ(pack<float>(panels), byDefinition<float>(panels));
  Constant transposed = constant(w, {1100, 1200});
  transposed.layout.dims = {1200, 1100};
  transposed.layout.coef = {{0, 1}, {1, 0}};
  EXPECT_EQ(pack<float>(transposed), byDefinition<float>(transposed));
}

TEST(PackConstant, ElementSizes) {
  auto bytes = count<uint8_t>(12);
  Constant c = constant(bytes, {3, 4});
  c.layout.dims = {4, 3};
  c.layout.coef = {{0, 1}, {1, 0}};
  EXPECT_EQ(pack<uint8_t>(c), byDefinition<uint8_t>(c));
  auto halves = count<uint16_t>(12);
  c.data = halves.data();
  c.elementBytes = 2;
  EXPECT_EQ(pack<uint16_t>(c), byDefinition<uint16_t>(c));
  auto wide = count<long double>(12); // 16 bytes each
  c.data = wide.data();
  c.elementBytes = 16;
  EXPECT_EQ(pack<long double>(c), byDefinition<long double>(c));
}

} // namespace
