//===- ScanTest.cpp - Running totals against one total for each element ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/kernels/scan.h"

#include "runtime/kernels/kernels.h"

#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace {

template <typename T>
constexpr DLDataType kDType = {};
template <>
constexpr DLDataType kDType<float> = {kDLFloat, 32, 1};
template <>
constexpr DLDataType kDType<double> = {kDLFloat, 64, 1};
template <>
constexpr DLDataType kDType<int64_t> = {kDLInt, 64, 1};
template <>
constexpr DLDataType kDType<uint8_t> = {kDLUInt, 8, 1};
template <>
constexpr DLDataType kDType<std::complex<float>> = {kDLComplex, 64, 1};
template <>
constexpr DLDataType kDType<std::complex<double>> = {kDLComplex, 128, 1};

/// Pieces of a loop, the last first.
void piecewise(const ft_kernel_call *, void (*body)(void *, int64_t, int64_t),
               void *args, int64_t n, int64_t grain) {
  for (int64_t at = (n - 1) / grain * grain; at >= 0; at -= grain)
    body(args, at, std::min(at + grain, n));
}

using Shape = std::vector<int64_t>;

/// Calls a kernel of (x, dim, number); `y` and `places` have the size of x.
template <typename T>
void call(int32_t (*kernel)(const ft_kernel_call *), std::vector<T> &x,
          Shape shape, int64_t dim, int64_t number, std::vector<T> &y,
          std::vector<int64_t> *places = nullptr) {
  Shape strides(shape.size());
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0; step *= shape[d])
    strides[d] = step;
  DLTensor tensor = {};
  tensor.data = x.data();
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.shape = shape.data();
  tensor.strides = strides.data();
  tensor.dtype = kDType<T>;
  ft_kernel_arg args[3] = {};
  args[0].tensor = &tensor;
  args[1].integer = dim;
  args[2].integer = number;
  DLTensor results[3] = {tensor, tensor, tensor};
  y.resize(x.size());
  results[0].data = y.data();
  results[1].data = places ? places->data() : nullptr;
  ft_kernel_call c = {};
  c.struct_size = sizeof c;
  c.args = args;
  c.num_args = 3;
  c.results = results;
  c.num_results = places ? 3 : 2;
  c.parallel_for = piecewise;
  EXPECT_EQ(kernel(&c), FT_OK);
}

/// Calls see(element, all up to it along dim) for each element.
template <typename F>
void eachPrefix(const Shape &shape, int64_t dim, F see) {
  int64_t outer = 1, inner = 1, n = shape[dim];
  for (size_t d = 0; d < shape.size(); ++d)
    (int64_t(d) < dim ? outer : inner) *= int64_t(d) == dim ? 1 : shape[d];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < inner; ++k) {
        std::vector<int64_t> prefix;
        for (int64_t j = 0; j <= i; ++j)
          prefix.push_back((o * n + j) * inner + k);
        see(prefix.back(), prefix, i);
      }
}

// One element, none, rows, columns of less and more than a block, both.
const Shape kShapes[] = {{1},    {0},       {3, 0},   {0, 3},     {37},
                         {5, 7}, {4, 3, 2}, {3, 130}, {2, 5, 257}};

template <typename T>
class Scan : public testing::Test {};
using Types = testing::Types<float, double, int64_t, std::complex<float>>;
TYPED_TEST_SUITE(Scan, Types);

TYPED_TEST(Scan, AddsAndMultipliesAsOneTotalForEachElement) {
  using Wide = std::conditional_t<
      std::is_same_v<TypeParam, float>, double,
      std::conditional_t<std::is_same_v<TypeParam, std::complex<float>>,
                         std::complex<double>, TypeParam>>;
  for (const Shape &shape : kShapes)
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      for (int64_t kind : {FT_SCAN_SUM, FT_SCAN_PRODUCT}) {
        size_t numel = 1;
        for (int64_t size : shape)
          numel *= size;
        std::vector<TypeParam> x(numel), y;
        for (size_t i = 0; i < numel; ++i)
          x[i] = TypeParam(int(i * 7919 % 11) - 5);
        call(ft_k_scan, x, shape, dim, kind, y);
        eachPrefix(
            shape, dim,
            [&](int64_t at, const std::vector<int64_t> &prefix, int64_t) {
              Wide total = kind == FT_SCAN_PRODUCT;
              for (int64_t p : prefix)
                total = kind == FT_SCAN_SUM ? total + Wide(x[p])
                                            : total * Wide(x[p]);
              EXPECT_EQ(y[at], TypeParam(total));
            });
      }
}

TEST(ScanInDouble, LosesNoTermOfALongSum) {
  std::vector<float> x(1 << 20, 0.1F), y;
  call(ft_k_scan, x, {1 << 20}, 0, FT_SCAN_SUM, y);
  EXPECT_EQ(y.back(), float((1 << 20) * double(0.1F)));
}

TEST(ScanOfIntegers, Wraps) {
  std::vector<int64_t> x = {std::numeric_limits<int64_t>::max(), 1, 1}, y;
  call(ft_k_scan, x, {3}, 0, FT_SCAN_SUM, y);
  EXPECT_EQ(y[2], std::numeric_limits<int64_t>::min() + 1);
}

TEST(ScanLogSumExp, StandsForTheSumOfExponentials) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> x = {-inf, 0, 1000, 1000, inf, 3}, y;
  call(ft_k_scan, x, {6}, 0, FT_SCAN_LOG_SUM_EXP, y);
  EXPECT_EQ(y[0], -inf);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 1000);
  EXPECT_DOUBLE_EQ(y[3], 1000 + std::log(2.0));
  EXPECT_EQ(y[4], inf);
  EXPECT_EQ(y[5], inf);
}

// PyTorch's values.
TEST(ScanLogSumExp, OfComplexNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  using Numbers = std::vector<std::complex<double>>;
  auto last = [](Numbers x) {
    Numbers y;
    call(ft_k_scan, x, {int64_t(x.size())}, 0, FT_SCAN_LOG_SUM_EXP, y);
    return y.back();
  };
  auto near = [](std::complex<double> x, std::complex<double> y) {
    EXPECT_LT(std::abs(x - y), 1e-14 * std::abs(y));
  };
  near(last({{1, 2}, {3, -1}, {-2, 0.5}}),
       std::log(std::exp(std::complex<double>(1, 2)) +
                std::exp(std::complex<double>(3, -1)) +
                std::exp(std::complex<double>(-2, 0.5))));
  near(last({{800, 1}, {801, 1}}), {801.3132616875182, 1});
  near(last({{1, 4}, {1, 4}}), {1.6931471805599454, 4});
  EXPECT_EQ(last({{1, 7}}), std::complex<double>(1, 7));
  EXPECT_EQ(last({{-inf, 7}, {2, 9}}), std::complex<double>(2, 9));
  EXPECT_EQ(last({{-inf, 0}, {-inf, 2}}), std::complex<double>(-inf, 0));
  EXPECT_EQ(last({{1, 0}, {inf, 1}}), std::complex<double>(inf, 1));
  EXPECT_TRUE(std::isnan(last({{1, 0}, {1, inf}}).real()));
  EXPECT_TRUE(std::isnan(last({{1, 0}, {-inf, NAN}, {0, 0}}).imag()));
}

TEST(ScanExtreme, TakesTheLastOfEqualOnesAndKeepsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x = {1, 3, 3, -0.0F, 2, nan, 9}, y;
  std::vector<int64_t> places(x.size());
  call(ft_k_scan_extreme, x, {7}, 0, 1, y, &places);
  EXPECT_EQ(places, (std::vector<int64_t>{0, 1, 2, 2, 2, 5, 5}));
  EXPECT_EQ(y[4], 3);
  EXPECT_TRUE(std::isnan(y[6]));
  call(ft_k_scan_extreme, x, {7}, 0, 0, y, &places);
  EXPECT_EQ(places, (std::vector<int64_t>{0, 0, 0, 3, 3, 5, 5}));
  EXPECT_TRUE(std::signbit(y[4]));
}

TEST(ScanExtreme, GoesAlongAnyDim) {
  for (const Shape &shape : kShapes)
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      for (bool largest : {false, true}) {
        size_t numel = 1;
        for (int64_t size : shape)
          numel *= size;
        std::vector<uint8_t> x(numel), y;
        for (size_t i = 0; i < numel; ++i)
          x[i] = static_cast<uint8_t>(i * 7919 % 251);
        std::vector<int64_t> places(numel);
        call(ft_k_scan_extreme, x, shape, dim, largest, y, &places);
        eachPrefix(
            shape, dim,
            [&](int64_t at, const std::vector<int64_t> &prefix, int64_t) {
              int64_t best = 0;
              for (size_t j = 0; j < prefix.size(); ++j)
                if (largest ? x[prefix[j]] >= x[prefix[best]]
                            : x[prefix[j]] <= x[prefix[best]])
                  best = static_cast<int64_t>(j);
              EXPECT_EQ(y[at], x[prefix[best]]);
              EXPECT_EQ(places[at], best);
            });
      }
}

} // namespace
