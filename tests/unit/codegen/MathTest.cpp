//===- MathTest.cpp - Errors of elementary functions ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelHarness.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace ft::test;
using llvm::formatv;

namespace {

struct Function {
  const char *op;
  double (*exact)(double);
  float low, high;
  double ulps;
};

std::vector<float> apply(const char *op, std::vector<float> x,
                         const char *cpu) {
  CompiledKernels k(
      kernelModule(
          formatv("%x: memref<{0}xf32>, %out: memref<{0}xf32>", x.size()).str(),
          formatv(R"(
  %a = bufferization.to_tensor %x restrict : memref<{0}xf32> to tensor<{0}xf32>
  %e = tensor.empty() : tensor<{0}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>,
      affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<{0}xf32>) outs(%e : tensor<{0}xf32>) {{
    ^bb0(%p: f32, %o: f32):
      %t = math.{1} %p : f32
      linalg.yield %t : f32
  } -> tensor<{0}xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<{0}xf32>, memref<{0}xf32>) -> ())",
                  x.size(), op)
              .str()),
      cpu);
  EXPECT_EQ(k.error, "");
  std::vector<float> y(x.size());
  if (k.error.empty())
    k.run({x.data(), y.data()});
  return y;
}

TEST(Folding, AtanOfTwoZeros) {
  CompiledKernels k(kernelModule("%out: memref<5xf32>", R"(
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%e : tensor<5xf32>) {
    ^bb0(%o: f32):
      %i = arith.constant 0 : i32
      %z = arith.sitofp %i : i32 to f32
      %t = math.atan2 %z, %z : f32
      linalg.yield %t : f32
  } -> tensor<5xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<5xf32>, memref<5xf32>) -> ())"));
  ASSERT_EQ(k.error, "");
  std::vector<float> out(5, 7);
  k.run({out.data()});
  EXPECT_EQ(out, std::vector<float>(5, 0));
}

class Math : public testing::TestWithParam<const char *> {};

TEST_P(Math, ErrorsAreSmall) {
  Function functions[] = {
      {"exp", std::exp, -103, 88.7f, 2},
      {"exp2", std::exp2, -149, 127.9f, 2},
      {"expm1", std::expm1, -20, 88, 3},
      {"log", std::log, 1e-40f, 1e38f, 2},
      {"log2", std::log2, 1e-40f, 1e38f, 3},
      {"log10", std::log10, 1e-40f, 1e38f, 3},
      {"log1p", std::log1p, -0.99f, 1e10f, 3},
      {"tanh", std::tanh, -12, 12, 3},
      {"erf", std::erf, -5, 5, 3},
      {"sin", std::sin, -1e4f, 1e4f, 2},
      {"cos", std::cos, -1e4f, 1e4f, 2},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1e-30f, 1e30f, 2},
  };
  std::mt19937 g(7);
  for (const Function &f : functions) {
    std::vector<float> x;
    std::uniform_real_distribution<float> d(f.low, f.high);
    for (int i = 0; i < 20000; ++i)
      x.push_back(d(g));
    // Every magnitude, too.
    for (float m = 1e-38f; m < f.high; m *= 1.01f) {
      x.push_back(m);
      if (-m > f.low)
        x.push_back(-m);
    }
    auto y = apply(f.op, x, GetParam());
    double worst = 0, at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] < f.low || x[i] > f.high)
        continue;
      double want = f.exact(x[i]);
      float near = std::abs(float(want));
      double ulp =
          std::max<double>(std::nextafter(near, INFINITY) - near, 1.4e-45);
      double error = std::abs(y[i] - want) / ulp;
      if (!(error <= worst)) {
        worst = error;
        at = x[i];
      }
    }
    EXPECT_LE(worst, f.ulps) << f.op << " at " << at;
    RecordProperty(f.op, std::to_string(worst));
    printf("  %-6s %.2f ulp at %g\n", f.op, worst, at);
  }
}

TEST_P(Math, OddFunctionsKeepTheSignOfZero) {
  for (const char *op : {"sin", "tan", "tanh", "erf", "expm1", "log1p"}) {
    std::vector<float> y = apply(op, {-0.0F, 0}, GetParam());
    EXPECT_TRUE(y[0] == 0 && std::signbit(y[0])) << op;
    EXPECT_TRUE(y[1] == 0 && !std::signbit(y[1])) << op;
  }
}

TEST_P(Math, LimitsAndNans) {
  float inf = INFINITY, nan = NAN;
  auto same = [&](const char *op, std::vector<float> x,
                  std::vector<float> want) {
    auto y = apply(op, x, GetParam());
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(want[i]))
        EXPECT_TRUE(std::isnan(y[i])) << op << " " << x[i] << " " << y[i];
      else
        EXPECT_EQ(y[i], want[i]) << op << " " << x[i];
    }
  };
  same("exp", {0, inf, -inf, nan, 100, -110}, {1, inf, 0, nan, inf, 0});
  same("exp2", {0, inf, -inf, nan, 10}, {1, inf, 0, nan, 1024});
  same("expm1", {0, inf, -inf, nan}, {0, inf, -1, nan});
  same("log", {1, 0, inf, -1, nan}, {0, -inf, inf, nan, nan});
  same("log2", {8, 0, inf, -1, nan}, {3, -inf, inf, nan, nan});
  same("log1p", {0, -1, inf, -2, nan}, {0, -inf, inf, nan, nan});
  same("tanh", {0, inf, -inf, nan, 50}, {0, 1, -1, nan, 1});
  same("erf", {0, inf, -inf, nan, 50}, {0, 1, -1, nan, 1});
  same("sin", {0, inf, nan}, {0, nan, nan});
  same("cos", {0, inf, nan}, {1, nan, nan});
  same("rsqrt", {4, 0, inf, -1, nan}, {0.5, inf, 0, nan, nan});
}

INSTANTIATE_TEST_SUITE_P(Cpus, Math,
                         testing::Values("native", "x86-64-v3", "x86-64-v2",
                                         "x86-64", "k8", "cuda:sm_80"),
                         [](const auto &info) {
                           std::string s = info.param;
                           std::replace(s.begin(), s.end(), '-', '_');
                           std::replace(s.begin(), s.end(), ':', '_');
                           return s;
                         });

} // namespace
