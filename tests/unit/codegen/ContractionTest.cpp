//===- ContractionTest.cpp - Matmul and convolution run right -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContractionText.h"

#include "compiler/codegen/cpu/Target.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace ft::test;
using llvm::formatv;

namespace {

/// Small integers: every product and sum is exact, in any order.
template <class T>
std::vector<T> numbers(size_t n, unsigned seed) {
  std::mt19937 g(seed);
  std::vector<T> v(n);
  for (T &x : v)
    x = T(int(g() % 9) - 4);
  return v;
}

int64_t panelOf(const char *cpu) {
  if (llvm::StringRef(cpu).starts_with("cuda"))
    return 32;
  return llvm::cantFail(ft::CpuTarget::resolve(cpu)).panelWidth();
}

/// [n/P][k][P] with zeros behind n, from [n][k].
std::vector<float> packed(const std::vector<float> &w, int64_t n, int64_t k,
                          int64_t p) {
  std::vector<float> r((n + p - 1) / p * p * k);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j)
      r[(i / p * k + j) * p + i % p] = w[i * k + j];
  return r;
}

class Contractions : public testing::TestWithParam<const char *> {};

TEST_P(Contractions, MatmulOfEveryForm) {
  int64_t p = panelOf(GetParam());
  struct Case {
    int64_t m, n, k;
  } cases[] = {{1, 50, 7},   {5, 10, 768}, {197, 64, 7}, {16, 1000, 1},
               {33, 50, 40}, {8, 32, 33},  {64, 31, 64}, {1, 1, 5},
               {4, 50, 0},   {0, 10, 3}};
  for (auto [m, n, k] : cases)
    for (int64_t form : {p, int64_t(0), int64_t(-1)}) {
      ContractionText t = matmulText(m, n, k, form);
      t.bias = std::to_string(n) + "xf32";
      t.epilogue = "relu";
      CompiledKernels kernel(t.module(), GetParam());
      ASSERT_EQ(kernel.error, "");
      auto a = numbers<float>(m * k + 1, 1), w = numbers<float>(n * k + 1, 2),
           bias = numbers<float>(n + 1, 3);
      std::vector<float> b = w, c(m * n + 1, -7);
      if (form > 0)
        b = packed(w, n, k, p);
      else if (form == 0)
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < k; ++j)
            b[j * n + i] = w[i * k + j];
      b.resize(b.size() + 1);
      kernel.run({a.data(), b.data(), bias.data(), c.data()}, 3);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float want = bias[j];
          for (int64_t l = 0; l < k; ++l)
            want += a[i * k + l] * w[j * k + l];
          ASSERT_EQ(c[i * n + j], std::max(want, 0.0f))
              << m << "x" << n << "x" << k << " form " << form << " at " << i
              << "," << j;
        }
      ASSERT_EQ(c[m * n], -7);
    }
}

TEST_P(Contractions, BatchedWithStrides) {
  // Heads of attention: q and k are [s, h, d] in memory, scores [h, s, s].
  ContractionText t;
  t.dims = "h, m, n, k";
  t.iterators = "\"parallel\", \"parallel\", \"parallel\", \"reduction\"";
  t.aType = "3x20x16xf32";
  t.aMap = "h, m, k";
  t.bType = "3x37x16xf32";
  t.bMap = "h, n, k";
  t.cShape = "3x20x37x";
  t.cMap = "h, m, n";
  t.aLayout = ", strided<[16, 48, 1]>";
  t.bLayout = ", strided<[16, 48, 1]>";
  CompiledKernels kernel(t.module(), GetParam());
  ASSERT_EQ(kernel.error, "");
  auto q = numbers<float>(20 * 48, 1), k = numbers<float>(37 * 48, 2);
  std::vector<float> c(3 * 20 * 37);
  kernel.run({q.data(), k.data(), c.data()}, 2);
  for (int h = 0; h < 3; ++h)
    for (int m = 0; m < 20; ++m)
      for (int n = 0; n < 37; ++n) {
        float want = 0;
        for (int d = 0; d < 16; ++d)
          want += q[m * 48 + h * 16 + d] * k[n * 48 + h * 16 + d];
        ASSERT_EQ(c[(h * 20 + m) * 37 + n], want);
      }
}

template <class T>
void typed(const char *cpu, const std::string &element,
           const std::string &zero) {
  int64_t m = 13, n = 45, k = 30;
  for (int64_t form : {0, -1}) {
    ContractionText t = matmulText(m, n, k, form);
    t.element = t.aElement = t.bElement = element;
    t.zero = zero;
    t.aType = formatv("{0}x{1}x{2}", m, k, element);
    t.bType = formatv("{0}x{1}x{2}", form ? n : k, form ? k : n, element);
    CompiledKernels kernel(t.module(), cpu);
    ASSERT_EQ(kernel.error, "");
    auto a = numbers<T>(m * k, 1), b = numbers<T>(n * k, 2);
    std::vector<T> c(m * n);
    kernel.run({a.data(), b.data(), c.data()});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T want = 0;
        for (int64_t l = 0; l < k; ++l)
          want += a[i * k + l] * (form ? b[j * k + l] : b[l * n + j]);
        ASSERT_EQ(c[i * n + j], want);
      }
  }
}

TEST_P(Contractions, OtherTypes) {
  typed<double>(GetParam(), "f64", "0.0");
  typed<int32_t>(GetParam(), "i32", "0");
  typed<int64_t>(GetParam(), "i64", "0");
}

TEST_P(Contractions, Bfloat16AccumulatesInFloat) {
  int64_t m = 9, n = 40, k = 100, p = panelOf(GetParam());
  ContractionText t = matmulText(m, n, k, p);
  t.aElement = t.bElement = "bf16";
  t.extend = "arith.extf";
  t.aType = formatv("{0}x{1}xbf16", m, k);
  t.bType = formatv("{0}x{1}x{2}xbf16", (n + p - 1) / p, k, p);
  CompiledKernels kernel(t.module(), GetParam());
  ASSERT_EQ(kernel.error, "");
  auto a = numbers<float>(m * k, 1), w = numbers<float>(n * k, 2);
  auto narrow = [](const std::vector<float> &v) {
    std::vector<uint16_t> r;
    for (float x : v) {
      uint32_t bits;
      memcpy(&bits, &x, 4);
      r.push_back(bits >> 16);
    }
    return r;
  };
  auto a16 = narrow(a), b16 = narrow(packed(w, n, k, p));
  std::vector<float> c(m * n);
  kernel.run({a16.data(), b16.data(), c.data()});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float want = 0;
      for (int64_t l = 0; l < k; ++l)
        want += a[i * k + l] * w[j * k + l];
      ASSERT_EQ(c[i * n + j], want);
    }
}

TEST_P(Contractions, Convolution) {
  int64_t p = panelOf(GetParam());
  struct Case {
    int64_t n, oh, ow, f, kh, kw, c, stride;
  } cases[] = {{1, 9, 9, 64, 3, 3, 16, 1},
               {2, 5, 7, 12, 7, 7, 3, 2},
               {1, 14, 14, 33, 1, 1, 8, 2},
               {2, 3, 1, 40, 3, 2, 5, 1}};
  for (auto [n, oh, ow, f, kh, kw, c, stride] : cases) {
    CompiledKernels kernel(
        convText(n, oh, ow, f, kh, kw, c, stride, p).module(), GetParam());
    ASSERT_EQ(kernel.error, "");
    int64_t ih = (oh - 1) * stride + kh, iw = (ow - 1) * stride + kw;
    auto x = numbers<float>(n * ih * iw * c, 1);
    auto w = numbers<float>(f * kh * kw * c, 2);
    auto wp = packed(w, f, kh * kw * c, p);
    std::vector<float> out(n * oh * ow * f);
    kernel.run({x.data(), wp.data(), out.data()}, 2);
    for (int64_t b = 0; b < n; ++b)
      for (int64_t y = 0; y < oh; ++y)
        for (int64_t z = 0; z < ow; ++z)
          for (int64_t o = 0; o < f; ++o) {
            float want = 0;
            for (int64_t i = 0; i < kh; ++i)
              for (int64_t j = 0; j < kw; ++j)
                for (int64_t l = 0; l < c; ++l)
                  want +=
                      x[((b * ih + y * stride + i) * iw + z * stride + j) * c +
                        l] *
                      w[((o * kh + i) * kw + j) * c + l];
            ASSERT_EQ(out[((b * oh + y) * ow + z) * f + o], want);
          }
  }
}

TEST_P(Contractions, DepthwiseConvolution) {
  ContractionText t;
  t.dims = "n, oh, ow, c, kh, kw";
  t.iterators = "\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
                "\"reduction\", \"reduction\"";
  t.aType = "1x7x8x40xf32";
  t.aMap = "n, oh + kh, ow + kw, c";
  t.bType = "3x3x40xf32";
  t.bMap = "kh, kw, c";
  t.cShape = "1x5x6x40x";
  t.cMap = "n, oh, ow, c";
  CompiledKernels kernel(t.module(), GetParam());
  ASSERT_EQ(kernel.error, "");
  auto x = numbers<float>(7 * 8 * 40, 1), w = numbers<float>(9 * 40, 2);
  std::vector<float> out(30 * 40);
  kernel.run({x.data(), w.data(), out.data()});
  for (int y = 0; y < 5; ++y)
    for (int z = 0; z < 6; ++z)
      for (int c = 0; c < 40; ++c) {
        float want = 0;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            want += x[((y + i) * 8 + z + j) * 40 + c] * w[(i * 3 + j) * 40 + c];
        ASSERT_EQ(out[(y * 6 + z) * 40 + c], want);
      }
}

TEST(ContractionBytes, SameTwice) {
  std::string text = matmulText(20, 50, 60, 32).module();
  CompiledKernels one(text), two(text);
  EXPECT_EQ(one.object, two.object);
  EXPECT_FALSE(one.object.empty());
}

INSTANTIATE_TEST_SUITE_P(Cpus, Contractions,
                         testing::Values("native", "x86-64-v3", "x86-64-v2",
                                         "cuda:sm_80", "cuda:sm_90"),
                         [](const auto &info) {
                           std::string s = info.param;
                           std::replace(s.begin(), s.end(), '-', '_');
                           std::replace(s.begin(), s.end(), ':', '_');
                           return s;
                         });

} // namespace
