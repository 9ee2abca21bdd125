//===- ElementNestTest.cpp - Pointwise ops and reductions run right -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelHarness.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace ft::test;
using llvm::formatv;

namespace {

std::vector<float> randomFloats(size_t n, unsigned seed = 1) {
  std::mt19937 g(seed);
  std::uniform_real_distribution<float> d(-2, 2);
  std::vector<float> v(n);
  for (float &x : v)
    x = d(g);
  return v;
}

class EveryCpu : public testing::TestWithParam<const char *> {};

TEST_P(EveryCpu, PointwiseWithBroadcastAndTail) {
  for (int n : {0, 1, 7, 16, 63, 64, 65, 200, 1000}) {
    std::string text =
        kernelModule(formatv("%x: memref<3x{0}xf32>, %y: memref<{0}xf32>, "
                             "%out: memref<3x{0}xf32>",
                             n)
                         .str(),
                     formatv(R"(
  %a = bufferization.to_tensor %x restrict : memref<3x{0}xf32> to tensor<3x{0}xf32>
  %b = bufferization.to_tensor %y restrict : memref<{0}xf32> to tensor<{0}xf32>
  %e = tensor.empty() : tensor<3x{0}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<3x{0}xf32>, tensor<{0}xf32>)
      outs(%e : tensor<3x{0}xf32>) {{
    ^bb0(%p: f32, %q: f32, %o: f32):
      %z = arith.constant 0.0 : f32
      %s = arith.addf %p, %q : f32
      %t = arith.maximumf %s, %z : f32
      linalg.yield %t : f32
  } -> tensor<3x{0}xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<3x{0}xf32>, memref<3x{0}xf32>) -> ())",
                             n)
                         .str());
    CompiledKernels k(text, GetParam());
    ASSERT_EQ(k.error, "");
    auto x = randomFloats(3 * n + 1), y = randomFloats(n + 1, 2);
    std::vector<float> out(3 * n + 1, -7);
    k.run({x.data(), y.data(), out.data()});
    for (int i = 0; i < 3 * n; ++i)
      ASSERT_EQ(out[i], std::max(x[i] + y[i % n], 0.0f)) << n << " " << i;
    ASSERT_EQ(out[3 * n], -7); // nothing beyond the end
  }
}

const char *kSoftmax = R"(
  %a = bufferization.to_tensor %x restrict : memref<{0}x{1}xf32> to tensor<{0}x{1}xf32>
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<{0}xf32>
  %e2 = tensor.empty() : tensor<{0}x{1}xf32>
  %m0 = linalg.fill ins(%ninf : f32) outs(%e1 : tensor<{0}xf32>) -> tensor<{0}xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<{0}xf32>) -> tensor<{0}xf32>
  %m = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<{0}x{1}xf32>) outs(%m0 : tensor<{0}xf32>) {{
    ^bb0(%p: f32, %o: f32):
      %t = arith.maximumf %p, %o : f32
      linalg.yield %t : f32
  } -> tensor<{0}xf32>
  %ex = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %m : tensor<{0}x{1}xf32>, tensor<{0}xf32>)
      outs(%e2 : tensor<{0}x{1}xf32>) {{
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.subf %p, %q : f32
      %t = math.exp %d : f32
      linalg.yield %t : f32
  } -> tensor<{0}x{1}xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%ex : tensor<{0}x{1}xf32>) outs(%s0 : tensor<{0}xf32>) {{
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<{0}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%ex, %s : tensor<{0}x{1}xf32>, tensor<{0}xf32>)
      outs(%e2 : tensor<{0}x{1}xf32>) {{
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
  } -> tensor<{0}x{1}xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<{0}x{1}xf32>, memref<{0}x{1}xf32>) -> ())";

TEST_P(EveryCpu, SoftmaxIsOneNest) {
  for (auto [rows, columns] :
       {std::pair(4, 1), {3, 10}, {5, 197}, {2, 1000}, {1, 40000}}) {
    CompiledKernels k(kernelModule(formatv("%x: memref<{0}x{1}xf32>, "
                                           "%out: memref<{0}x{1}xf32>",
                                           rows, columns)
                                       .str(),
                                   formatv(kSoftmax, rows, columns).str()),
                      GetParam());
    ASSERT_EQ(k.error, "");
    auto x = randomFloats(rows * columns);
    std::vector<float> out(rows * columns);
    k.run({x.data(), out.data()}, 3);
    for (int i = 0; i < rows; ++i) {
      double max = -INFINITY, sum = 0;
      for (int j = 0; j < columns; ++j)
        max = std::max<double>(max, x[i * columns + j]);
      for (int j = 0; j < columns; ++j)
        sum += std::exp(x[i * columns + j] - max);
      for (int j = 0; j < columns; ++j) {
        double want = std::exp(x[i * columns + j] - max) / sum;
        ASSERT_NEAR(out[i * columns + j], want, 1e-6 * want + 1e-9);
      }
    }
  }
}

std::string sumModule(int rows, int columns, bool ofRows) {
  const char *kept = ofRows ? "i" : "j";
  return kernelModule(formatv("%x: memref<{0}x{1}xf32>, %out: memref<{2}xf32>",
                              rows, columns, ofRows ? rows : columns)
                          .str(),
                      formatv(R"(
  %a = bufferization.to_tensor %x restrict : memref<{0}x{1}xf32> to tensor<{0}x{1}xf32>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<{2}xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<{2}xf32>) -> tensor<{2}xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> ({3})>], iterator_types = [{4}]}
      ins(%a : tensor<{0}x{1}xf32>) outs(%s0 : tensor<{2}xf32>) {{
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %p, %o : f32
      linalg.yield %t : f32
  } -> tensor<{2}xf32>
  bufferization.materialize_in_destination %s in restrict writable %out
      : (tensor<{2}xf32>, memref<{2}xf32>) -> ())",
                              rows, columns, ofRows ? rows : columns, kept,
                              ofRows ? "\"parallel\", \"reduction\""
                                     : "\"reduction\", \"parallel\"")
                          .str());
}

TEST_P(EveryCpu, SumsOfRowsAndColumns) {
  for (auto [rows, columns] :
       {std::pair(3, 0), {1, 1}, {5, 7}, {7, 100}, {197, 768}, {2, 300000}})
    for (bool ofRows : {true, false}) {
      CompiledKernels k(sumModule(rows, columns, ofRows), GetParam());
      ASSERT_EQ(k.error, "");
      int n = ofRows ? rows : columns;
      auto x = randomFloats(rows * columns + 1);
      for (float &v : x)
        v += 3;
      std::vector<float> out(n + 1, -7);
      k.run({x.data(), out.data()}, 2);
      for (int i = 0; i < n; ++i) {
        double want = 0;
        int terms = ofRows ? columns : rows;
        for (int t = 0; t < terms; ++t)
          want += ofRows ? x[i * columns + t] : x[t * columns + i];
        // Blocked summation: far closer than one after the other (1e-3).
        ASSERT_NEAR(out[i], want, 3e-7 * want + 1e-6)
            << rows << "x" << columns << (ofRows ? " rows" : " columns");
      }
      ASSERT_EQ(out[n], -7);
    }
}

TEST_P(EveryCpu, ArgmaxHasTwoResults) {
  CompiledKernels k(kernelModule("%x: memref<5x33xf32>, %v: memref<5xf32>, "
                                 "%n: memref<5xi64>",
                                 R"(
  %a = bufferization.to_tensor %x restrict : memref<5x33xf32> to tensor<5x33xf32>
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e1 = tensor.empty() : tensor<5xf32>
  %e2 = tensor.empty() : tensor<5xi64>
  %m0 = linalg.fill ins(%ninf : f32) outs(%e1 : tensor<5xf32>) -> tensor<5xf32>
  %i0 = linalg.fill ins(%zero : i64) outs(%e2 : tensor<5xi64>) -> tensor<5xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<5x33xf32>) outs(%m0, %i0 : tensor<5xf32>, tensor<5xi64>) {
    ^bb0(%p: f32, %o: f32, %oi: i64):
      %j = linalg.index 1 : index
      %ji = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %p, %o : f32
      %m = arith.select %c, %p, %o : f32
      %i = arith.select %c, %ji, %oi : i64
      linalg.yield %m, %i : f32, i64
  } -> (tensor<5xf32>, tensor<5xi64>)
  bufferization.materialize_in_destination %r#0 in restrict writable %v
      : (tensor<5xf32>, memref<5xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %n
      : (tensor<5xi64>, memref<5xi64>) -> ())"),
                    GetParam());
  ASSERT_EQ(k.error, "");
  auto x = randomFloats(5 * 33);
  std::vector<float> v(5);
  std::vector<int64_t> n(5);
  k.run({x.data(), v.data(), n.data()});
  for (int i = 0; i < 5; ++i) {
    auto row = x.begin() + i * 33;
    auto best = std::max_element(row, row + 33);
    EXPECT_EQ(v[i], *best);
    EXPECT_EQ(n[i], best - row);
  }
}

TEST_P(EveryCpu, GatherReadsRowsByNumber) {
  CompiledKernels k(kernelModule("%ids: memref<2x5xi64>, "
                                 "%table: memref<11x24xf32>, "
                                 "%out: memref<2x5x24xf32>",
                                 R"(
  %i = bufferization.to_tensor %ids restrict : memref<2x5xi64> to tensor<2x5xi64>
  %t = bufferization.to_tensor %table restrict : memref<11x24xf32> to tensor<11x24xf32>
  %e = tensor.empty() : tensor<2x5x24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s)>,
      affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%i : tensor<2x5xi64>) outs(%e : tensor<2x5x24xf32>) {
    ^bb0(%id: i64, %o: f32):
      %row = arith.index_cast %id : i64 to index
      %col = linalg.index 2 : index
      %v = tensor.extract %t[%row, %col] : tensor<11x24xf32>
      linalg.yield %v : f32
  } -> tensor<2x5x24xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<2x5x24xf32>, memref<2x5x24xf32>) -> ())"),
                    GetParam());
  ASSERT_EQ(k.error, "");
  std::vector<int64_t> ids = {3, 0, 10, 10, 7, 1, 2, 9, 4, 0};
  auto table = randomFloats(11 * 24);
  std::vector<float> out(10 * 24);
  k.run({ids.data(), table.data(), out.data()});
  for (int i = 0; i < 10; ++i)
    for (int d = 0; d < 24; ++d)
      EXPECT_EQ(out[i * 24 + d], table[ids[i] * 24 + d]);
}

TEST_P(EveryCpu, PadTransposeAndSliceOnlyMoveElements) {
  CompiledKernels k(kernelModule("%x: memref<5x6xf32>, %out: memref<9x8xf32>",
                                 R"(
  %a = bufferization.to_tensor %x restrict : memref<5x6xf32> to tensor<5x6xf32>
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<5x6xf32>) outs(%e : tensor<6x5xf32>) {
    ^bb0(%p: f32, %o: f32):
      linalg.yield %p : f32
  } -> tensor<6x5xf32>
  %p = tensor.pad %t low[1, 2] high[2, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %one : f32
  } : tensor<6x5xf32> to tensor<9x8xf32>
  bufferization.materialize_in_destination %p in restrict writable %out
      : (tensor<9x8xf32>, memref<9x8xf32>) -> ())"),
                    GetParam());
  ASSERT_EQ(k.error, "");
  auto x = randomFloats(30);
  std::vector<float> out(72);
  k.run({x.data(), out.data()});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 8; ++j) {
      bool inside = i >= 1 && i < 7 && j >= 2 && j < 7;
      EXPECT_EQ(out[i * 8 + j], inside ? x[(j - 2) * 6 + i - 1] : 1.0f);
    }
}

INSTANTIATE_TEST_SUITE_P(Cpus, EveryCpu,
                         testing::Values("native", "x86-64-v3", "x86-64-v2",
                                         "cuda:sm_80", "cuda:sm_90"),
                         [](const auto &info) {
                           std::string s = info.param;
                           std::replace(s.begin(), s.end(), '-', '_');
                           std::replace(s.begin(), s.end(), ':', '_');
                           return s;
                         });

} // namespace
