//===- TopkTest.cpp - The k first of a row, ties in PyTorch's order -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/kernels/kernels.h"

#include <cmath>
#include <gtest/gtest.h>

namespace {
struct Selection {
  int64_t n, k;
  bool largest;
  std::vector<int64_t> places;
};

template <typename T>
std::vector<int64_t> topk(std::vector<T> row, int64_t k, bool largest,
                          std::vector<T> &values) {
  int64_t n = static_cast<int64_t>(row.size()), shape[] = {1, n};
  bool real = std::is_same_v<T, double>;
  DLTensor x = {};
  x.data = row.data();
  x.ndim = 2;
  x.shape = shape;
  x.dtype = {static_cast<uint8_t>(real ? kDLFloat : kDLInt), 64, 1};
  ft_kernel_arg args[3] = {};
  args[0].tensor = &x;
  args[1].integer = k;
  args[2].integer = largest;
  std::vector<int64_t> places(k), queue(2 * n);
  values.resize(k);
  DLTensor results[3] = {};
  results[0].data = values.data();
  results[1].data = places.data();
  results[2].data = queue.data();
  ft_kernel_call call = {};
  call.struct_size = sizeof call;
  call.args = args;
  call.num_args = 3;
  call.results = results;
  call.num_results = 3;
  EXPECT_EQ(ft_k_topk(&call), FT_OK);
  return places;
}
} // namespace

// torch.topk of i² 7919 mod 11: each number many times. The second row selects
// with a heap, the longer selections sort more than one partition.
TEST(Topk, TiesStandAsInPyTorch) {
  const Selection kSelections[] = {
      {10, 3, true, {1, 5, 6}},
      {10, 3, false, {0, 8, 3}},
      {300, 4, true, {12, 1, 21, 10}},
      {300, 4, false, {22, 0, 33, 11}},
      {40, 30, true, {1,  34, 32, 23, 21, 12, 10, 17, 6,  5,
                      39, 16, 27, 28, 38, 31, 2,  9,  13, 20,
                      24, 35, 18, 4,  29, 15, 7,  26, 37, 14}},
      {40, 30, false, {0,  22, 33, 11, 14, 25, 30, 19, 36, 8,
                       3,  26, 29, 4,  18, 37, 15, 7,  31, 9,
                       20, 13, 35, 24, 2,  28, 16, 38, 39, 6}},
      {100, 20, true, {32, 78, 76, 87, 89, 98, 1,  10, 12, 65,
                       56, 54, 21, 23, 45, 43, 34, 67, 94, 71}},
      {100, 20, false, {99, 33, 66, 0,  77, 44, 88, 55, 11, 22,
                        19, 36, 91, 47, 25, 80, 30, 41, 85, 3}},
  };
  for (const Selection &s : kSelections) {
    std::vector<int64_t> row, values;
    std::vector<double> reals, realValues;
    for (int64_t i = 0; i < s.n; ++i) {
      row.push_back(i * i * 7919 % 11);
      reals.push_back(static_cast<double>(row.back()));
    }
    EXPECT_EQ(topk(row, s.k, s.largest, values), s.places);
    EXPECT_EQ(topk(reals, s.k, s.largest, realValues), s.places);
    for (int64_t i = 0; i < s.k; ++i)
      EXPECT_EQ(values[i], row[s.places[i]]);
  }
}

TEST(Topk, NaNIsTheLargest) {
  std::vector<double> values;
  EXPECT_EQ(topk<double>({1, std::nan(""), 3}, 2, true, values),
            (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(topk<double>({1, std::nan(""), 3}, 3, false, values),
            (std::vector<int64_t>{0, 2, 1}));
}
