//===- TargetTest.cpp - Code uses what loaders check, and no more ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/Target.h"

#include "KernelHarness.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

#include <gtest/gtest.h>
#include <set>

using namespace ft;
using namespace ft::test;

namespace {

/// What the back end may use once it is given `target`: LLVM's names.
std::set<std::string> usedFeatures(const CpuTarget &target) {
  llvm::InitializeNativeTarget();
  std::string message;
  llvm::Triple triple(target.triple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  EXPECT_TRUE(backend) << message;
  std::set<std::string> names;
  if (!backend)
    return names;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      backend->createMCSubtargetInfo(triple, target.cpu, target.featureString));
  for (const auto &feature : info->getEnabledProcessorFeatures())
    names.insert(feature.Key);
  return names;
}

/// Instruction sets that a loader can check: not tuning flags, for one.
const char *const kChecked[] = {
#define FT_CPU_FEATURE(enumerator, name, leaf, subleaf, reg, bit, os) name,
#include "runtime/src/cpu_features.def"
};

TEST(Target, CodeUsesWhatIsChecked) {
  std::vector<std::string> cpus = knownCpuNames();
  cpus.push_back("native");
  for (const std::string &cpu : cpus) {
    auto target = CpuTarget::resolve(cpu);
    ASSERT_TRUE(bool(target)) << cpu;
    std::set<std::string> used = usedFeatures(*target);
    for (const char *f : kChecked)
      EXPECT_EQ(used.count(f), llvm::count(target->features, f))
          << cpu << ": " << f;
    EXPECT_TRUE(llvm::is_sorted(target->features)) << cpu;
    // Doubles are never left to the x87 stack.
    EXPECT_TRUE(used.count("sse2")) << cpu;
    EXPECT_TRUE(llvm::is_contained(target->features, "sse2")) << cpu;
  }
}

TEST(Target, OldExtensionsAreNotUsed) {
  auto target = CpuTarget::resolve("bdver4");
  ASSERT_TRUE(bool(target));
  std::set<std::string> used = usedFeatures(*target);
  for (const char *f : {"fma4", "xop", "tbm", "sse4a"})
    EXPECT_FALSE(used.count(f)) << f;
  for (const char *f : {"fma", "avx2"})
    EXPECT_TRUE(used.count(f)) << f;
  EXPECT_STREQ(target->isa.name, "avx2");
}

/// One kernel: positions to angles, their cosines and sines, and a causal
/// mask; conversions, f64, comparisons and selects, as language models start.
std::vector<float> angles(const char *cpu) {
  CompiledKernels k(kernelModule("%out: memref<64x64xf32>", R"(
  %e = tensor.empty() : tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<64x64xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %p = arith.index_cast %i : index to i64
      %q = arith.index_cast %j : index to i64
      %pf = arith.sitofp %p : i64 to f32
      %qd = arith.sitofp %q : i64 to f64
      %qs = arith.truncf %qd : f64 to f32
      %scale = arith.constant 0.37 : f32
      %step = arith.mulf %qs, %scale : f32
      %angle = arith.mulf %pf, %step : f32
      %c = math.cos %angle : f32
      %s = math.sin %angle : f32
      %below = arith.cmpi sle, %q, %p : i64
      %n = arith.negf %s : f32
      %v = arith.select %below, %c, %n : f32
      linalg.yield %v : f32
  } -> tensor<64x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<64x64xf32>, memref<64x64xf32>) -> ())"),
                    cpu);
  EXPECT_EQ(k.error, "") << cpu;
  std::vector<float> y(64 * 64);
  if (k.error.empty())
    k.run({y.data()});
  return y;
}

TEST(Target, CpusAgree) {
  std::vector<float> want = angles("native");
  for (const char *cpu : {"x86-64", "k8", "x86-64-v2", "x86-64-v3"}) {
    std::vector<float> got = angles(cpu);
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-6) << cpu << " at " << i;
  }
}

} // namespace
