//===- CheckAccessesTest.cpp - Accesses outside of buffers do not happen --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelHarness.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace ft::test;
using llvm::formatv;

namespace {

/// out[i] = x[at[i]]: nothing in the kernel says that at[i] is inside.
std::string gather(int n) {
  return kernelModule(
      formatv("%x: memref<4xf32>, %at: memref<{0}xi64>, %out: memref<{0}xf32>",
              n)
          .str(),
      formatv(R"(
  %a = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
  %b = bufferization.to_tensor %at restrict : memref<{0}xi64> to tensor<{0}xi64>
  %e = tensor.empty() : tensor<{0}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>,
      affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b : tensor<{0}xi64>) outs(%e : tensor<{0}xf32>) {{
    ^bb0(%p: i64, %o: f32):
      %i = arith.index_cast %p : i64 to index
      %v = tensor.extract %a[%i] : tensor<4xf32>
      linalg.yield %v : f32
  } -> tensor<{0}xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<{0}xf32>, memref<{0}xf32>) -> ())",
              n)
          .str());
}

class Accesses : public testing::TestWithParam<const char *> {
protected:
  CompiledKernels compile(int n) {
    ft::CpuCodegenOptions options;
    options.checks.accesses = true;
    return CompiledKernels(gather(n), GetParam(), options);
  }
  /// Four elements of x, with others around them.
  float memory[12] = {77, 77, 77, 77, 0, 1, 2, 3, 77, 77, 77, 77};
  float *x = memory + 4;
};

TEST_P(Accesses, InsideNothingIsRefused) {
  for (int n : {1, 5, 20}) {
    CompiledKernels k = compile(n);
    ASSERT_EQ(k.error, "");
    std::vector<int64_t> at(n);
    for (int i = 0; i < n; ++i)
      at[i] = i % 4;
    std::vector<float> out(n);
    k.run({x, at.data(), out.data()});
    EXPECT_TRUE(k.refused.empty()) << k.refused.front();
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(out[i], i % 4);
  }
}

TEST_P(Accesses, OutsideNothingIsRead) {
  for (int n : {1, 5, 20})
    for (int64_t bad : {-1, 4, 7}) {
      CompiledKernels k = compile(n);
      ASSERT_EQ(k.error, "");
      std::vector<int64_t> at(n, 2);
      at[n / 2] = bad;
      std::vector<float> out(n, 5);
      k.run({x, at.data(), out.data()});
      ASSERT_EQ(k.refused.size(), 1u) << n << " " << bad;
      EXPECT_NE(k.refused[0].find("kernel \"k\": access"), std::string::npos);
      EXPECT_NE(k.refused[0].find("a load from argument 0"), std::string::npos);
      EXPECT_NE(k.refused[0].find(formatv("at byte {0} of 16", 4 * bad).str()),
                std::string::npos)
          << k.refused[0];
      EXPECT_NE(out[n / 2], 77);
      for (int i = 0; i < n; ++i)
        if (i != n / 2)
          EXPECT_EQ(out[i], 2);
    }
}

TEST_P(Accesses, AddressesAreAlignedAsClaimed) {
  CompiledKernels k = compile(5);
  ASSERT_EQ(k.error, "");
  std::vector<int64_t> at(5, 1);
  std::vector<float> out(5);
  k.run({reinterpret_cast<char *>(x) + 1, at.data(), out.data()});
  ASSERT_FALSE(k.refused.empty());
  EXPECT_NE(k.refused[0].find("aligned to 4, at byte 4 of 16"),
            std::string::npos)
      << k.refused[0];
}

TEST_P(Accesses, AnExpandedOutputIsOneElement) {
  ft::CpuCodegenOptions options;
  options.checks.accesses = true;
  CompiledKernels k(
      kernelModule("%x: memref<20xf32>, %out: memref<20xf32, strided<[0]>>", R"(
  %a = bufferization.to_tensor %x restrict : memref<20xf32> to tensor<20xf32>
  bufferization.materialize_in_destination %a in restrict writable %out
      : (tensor<20xf32>, memref<20xf32, strided<[0]>>) -> ())"),
      GetParam(), options);
  ASSERT_EQ(k.error, "");
  std::vector<float> in(20, 3), out(20, 77);
  k.run({in.data(), out.data()});
  EXPECT_TRUE(k.refused.empty()) << k.refused.front();
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 77);
}

INSTANTIATE_TEST_SUITE_P(Cpus, Accesses,
                         testing::Values("native", "x86-64-v3"));

} // namespace
