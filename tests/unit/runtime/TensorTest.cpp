//===- TensorTest.cpp - Copies between layouts -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/src/tensor.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace {

struct Value {
  std::vector<int64_t> sizes, strides;
  ft_value_info info;

  Value(std::vector<int64_t> sizes, std::vector<int64_t> strides, uint8_t bits)
      : sizes(std::move(sizes)), strides(std::move(strides)) {
    std::memset(&info, 0, sizeof info);
    info.name = "x";
    info.dtype = {kDLInt, bits, 1};
    info.device.device_type = kDLCPU;
    info.ndim = static_cast<int32_t>(this->sizes.size());
    info.sizes = this->sizes.data();
    info.strides = this->strides.data();
  }
};

/// Strides that keep elements apart: a random order of the dims, with gaps.
std::vector<int64_t> randomStrides(const std::vector<int64_t> &sizes,
                                   std::mt19937 &random) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t dim : order) {
    strides[dim] = step;
    step *= sizes[dim];
    if (random() % 3 == 0)
      step += static_cast<int64_t>(random() % 3);
  }
  return strides;
}

int64_t span(const std::vector<int64_t> &sizes,
             const std::vector<int64_t> &strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    last += (sizes[i] - 1) * strides[i];
  return last + 1;
}

template <typename F>
void forEachIndex(const std::vector<int64_t> &sizes, F visit) {
  std::vector<int64_t> index(sizes.size());
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i])
      index[i] = rest % sizes[i];
    visit(index);
  }
}

int64_t dot(const std::vector<int64_t> &a, const std::vector<int64_t> &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), int64_t(0));
}

template <typename T>
void copyThereAndBack(std::mt19937 &random) {
  std::vector<int64_t> sizes(random() % 5);
  for (int64_t &size : sizes)
    size = 1 + static_cast<int64_t>(random() % 4);
  Value traced(sizes, randomStrides(sizes, random), sizeof(T) * 8);
  std::vector<int64_t> own = randomStrides(sizes, random);

  // Exactly as large as the layouts say, so that ASan sees what is beyond.
  std::vector<T> user(span(sizes, own)), packed(span(sizes, traced.strides));
  std::iota(user.begin(), user.end(), T(1));
  DLTensor tensor = ft_tensor(user.data(), kDLInt, sizeof(T) * 8,
                              traced.info.ndim, sizes.data());
  tensor.strides = own.data();
  ft_copy_in(&traced.info, packed.data(), &tensor);
  forEachIndex(sizes, [&](const std::vector<int64_t> &index) {
    EXPECT_EQ(packed[dot(index, traced.strides)], user[dot(index, own)]);
  });

  std::vector<T> back(user.size());
  tensor.data = back.data();
  ft_copy_out(&traced.info, packed.data(), &tensor);
  forEachIndex(sizes, [&](const std::vector<int64_t> &index) {
    EXPECT_EQ(back[dot(index, own)], user[dot(index, own)]);
  });
}

TEST(Tensor, CopiesOfAllLayouts) {
  // NOLINTNEXTLINE(bugprone-random-generator-seed): the same every time.
  std::mt19937 random(7);
  for (int n = 0; n < 300; ++n) {
    copyThereAndBack<int8_t>(random);
    copyThereAndBack<int16_t>(random);
    copyThereAndBack<int32_t>(random);
    copyThereAndBack<int64_t>(random);
  }
}

TEST(Tensor, EmptyAndScalar) {
  int32_t value = 5, copy = 0;
  Value scalar({}, {}, 32), empty({0, 3}, {3, 1}, 32);
  DLTensor from = ft_tensor(&value, kDLInt, 32, 0, nullptr);
  ft_copy_in(&scalar.info, &copy, &from);
  EXPECT_EQ(copy, 5);
  DLTensor none = ft_tensor(nullptr, kDLInt, 32, 2, empty.sizes.data());
  ft_span memory;
  ft_status status;
  EXPECT_TRUE(
      ft_check_tensor("input", &empty.info, &none, false, &memory, &status));
  EXPECT_EQ(memory.bytes, 0u);
  EXPECT_TRUE(ft_has_layout(&empty.info, &none));
}

TEST(Tensor, StridesOfSingleElementsDoNotMatter) {
  Value v({1, 3}, {3, 1}, 32);
  int32_t data[3] = {};
  int64_t odd[] = {-7, 1};
  DLTensor t = ft_tensor(data, kDLInt, 32, 2, v.sizes.data());
  t.strides = odd;
  ft_span memory;
  ft_status status;
  EXPECT_TRUE(ft_check_tensor("input", &v.info, &t, true, &memory, &status));
  EXPECT_TRUE(ft_has_layout(&v.info, &t));
  EXPECT_EQ(memory.bytes, sizeof data);
}

} // namespace
