//===- FakeCacheTest.cpp - What equal calls gave before --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakeCache.h"

#include "gtest/gtest.h"

#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/Propagator.h"
#include "tests/unit/fake/Modules.h"

using namespace ft;

namespace {

/// x → permute → linear → gelu → x, `layers` times.
std::vector<std::string> stack(int layers) {
  std::vector<std::string> calls;
  std::string x = "%x";
  for (int i = 0; i < layers; ++i) {
    std::string n = std::to_string(i);
    calls.push_back("%t" + n + " = transpose.int(" + x + ", 0, 1)");
    calls.push_back("%m" + n + " = mm.default(%t" + n + ", " + x + ")");
    calls.push_back("%g" + n + " = gelu.default(%m" + n + ")");
    x = "%g" + n;
  }
  return calls;
}

TEST(FakeCache, LayersAreWorkedOutOnce) {
  // However many layers there are, rules are asked for the first one only.
  for (int layers : {1, 10, 1000}) {
    Program program("16x16", stack(layers));
    FakeCache cache;
    ASSERT_TRUE(succeeded(propagateFake(*program.module, &cache)));
    EXPECT_EQ(cache.stats.misses, 3u);
    EXPECT_EQ(cache.stats.hits, 3u * (layers - 1));
    EXPECT_EQ(cache.size(), 3u);
  }
}

TEST(FakeCache, ServesSeveralWalks) {
  Program program("16x16", stack(2));
  FakeCache cache;
  ASSERT_TRUE(succeeded(propagateFake(*program.module, &cache)));
  ASSERT_TRUE(
      succeeded(checkFake(*program.module, FakeCheck::Layouts, &cache)));
  EXPECT_EQ(cache.stats.misses, 3u);
  EXPECT_EQ(cache.stats.hits, 9u);
}

TEST(FakeCache, ASignatureIsAllThatARuleMayRead) {
  // Nine calls, nine entries: the op, the layout, the dims, the kind of a
  // number and its value all count.
  Program program("20x30", {
                               "%a = transpose.int(%x, 0, 1)",
                               "%b = relu.default(%x)",
                               "%c = relu.default(%a)",
                               "%d = sum.dim_IntList(%x, [0])",
                               "%e = sum.dim_IntList(%x, [1])",
                               "%f = full_like.default(%x, 1)",
                               "%g = full_like.default(%x, 1.0)",
                               "%h = full_like.default(%x, true)",
                               "%i = select.int(%x, 0, 1)",
                           });
  FakeCache cache;
  ASSERT_TRUE(succeeded(propagateFake(*program.module, &cache)));
  EXPECT_EQ(cache.stats.misses, 9u);
  EXPECT_EQ(program.layout("c"), "float32 [30, 20] strides [1, 30] cpu");
  EXPECT_EQ(program.layout("e"), "float32 [20] cpu");
}

TEST(FakeCache, NumbersFromTheProgramCountByValue) {
  Program program("4x6", {
                             "%a = sum.dim_IntList(%x, [%n], true)",
                             "%b = select.int(%x, 0, %n)",
                             "%c = select.int(%x, 0, %n)",
                         });
  program.op("a")->erase();
  FakeCache cache;
  ASSERT_TRUE(succeeded(propagateFake(*program.module, &cache)));
  EXPECT_EQ(cache.stats.misses, 1u);
  EXPECT_EQ(cache.stats.hits, 1u);
}

TEST(FakeCache, HitsKeepTheAlias) {
  // A view of an empty tensor, made twice, is twice a view.
  Program program("0x8", {"%a = view.default(%x, [8, 0])",
                          "%b = view.default(%x, [8, 0])",
                          "%c = clone.default(%x)", "%d = clone.default(%x)"});
  FakeCache cache;
  Propagator walk(Propagator::Mode::Annotate, &cache);
  auto aliasOf = [&](llvm::StringRef name) {
    EXPECT_TRUE(succeeded(walk.visit(program.op(name))));
    return walk.lastResults().front().alias;
  };
  EXPECT_EQ(aliasOf("a"), 0);
  EXPECT_EQ(aliasOf("b"), 0);
  EXPECT_EQ(aliasOf("c"), -1);
  EXPECT_EQ(aliasOf("d"), -1);
  EXPECT_EQ(cache.stats.hits, 2u);
}

TEST(FakeCache, ChangedMetadataIsPartOfTheSignature) {
  // x is 32 x 64, then 64 x 32, then 32 x 64 again: the third relu is the
  // first one's hit, the second has its own entry.
  Program program("32x64", {"%a = relu.default(%x)", "%t = t_.default(%x)",
                            "%b = relu.default(%x)", "%u = t_.default(%x)",
                            "%c = relu.default(%x)"});
  FakeCache cache;
  ASSERT_TRUE(succeeded(propagateFake(*program.module, &cache)));
  EXPECT_EQ(program.layout("a"), "float32 [32, 64] cpu");
  EXPECT_EQ(program.layout("t"), "float32 [64, 32] strides [1, 64] cpu");
  EXPECT_EQ(program.layout("b"), "float32 [64, 32] strides [1, 64] cpu");
  EXPECT_EQ(program.layout("u"), "float32 [32, 64] cpu");
  EXPECT_EQ(program.layout("c"), "float32 [32, 64] cpu");
  EXPECT_EQ(cache.stats.hits, 1u);
  EXPECT_EQ(cache.stats.misses, 4u);
}

TEST(FakeCache, SymbolsServeTheWalkThatMadeTheEntry) {
  // What is known of s0, and what a rule asked for, belongs to one walk.
  Program program("4x3", {"%a = relu.default(%x)", "%b = relu.default(%x)"});
  SymContext &symbols =
      program.context->getLoadedDialect<FtDialect>()->symbolContext();
  program.forward().getArgument(0).setType(typeFromMeta(
      program.context.get(),
      TensorMeta::contiguous(DType::F32, {Dim(symbols.symbol("s0")), 3})));
  FakeCache cache;
  for (int walk = 1; walk <= 3; ++walk) {
    ASSERT_TRUE(succeeded(propagateFake(*program.module, &cache)));
    EXPECT_EQ(program.layout("b"), "float32 [s0, 3] cpu");
    EXPECT_EQ(cache.stats.misses, uint64_t(walk));
    EXPECT_EQ(cache.stats.hits, uint64_t(walk));
    EXPECT_EQ(cache.size(), 1u);
  }
}

TEST(FakeCache, RefusedCallsAreNotKept) {
  Program program("2x3", {"%a = mm.default(%x, %x)"});
  FakeCache cache;
  mlir::ScopedDiagnosticHandler silent(
      program.context.get(),
      [](mlir::Diagnostic &) { return mlir::success(); });
  EXPECT_TRUE(failed(propagateFake(*program.module, &cache)));
  EXPECT_EQ(cache.size(), 0u);
}

TEST(FakeCache, TheCrosscheckFindsAnEntryThatIsWrong) {
  Program program("2x3", {"%a = relu.default(%x)", "%b = relu.default(%x)",
                          "%c = t.default(%x)", "%d = t.default(%x)"});
  FakeCache cache;
  cache.crosscheck = true;
  ASSERT_TRUE(succeeded(propagateFake(*program.module, &cache)));
  EXPECT_EQ(cache.stats.checked, cache.stats.hits);

  // As a rule that reads more than the signature would have it.
  cache.entry(0).front().type = cache.entry(1).front().type;
  cache.entry(1).front().alias = -1;
  std::string said;
  mlir::ScopedDiagnosticHandler listen(program.context.get(),
                                       [&](mlir::Diagnostic &d) {
                                         said += d.str() + "\n";
                                         return mlir::success();
                                       });
  EXPECT_TRUE(failed(propagateFake(*program.module, &cache)));
  EXPECT_NE(said.find("[FT0070] the cache of fake propagation has other "
                      "results for aten.relu.default than its rule: "
                      "'tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>'; the "
                      "rule gives 'tensor<2x3xf32, #ft.meta<cpu>>'"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("for aten.t.default than its rule: 'tensor<3x2xf32, "
                      "#ft.meta<strides = [1, 3], cpu>>'; the rule gives "
                      "'tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>' in "
                      "operand 0"),
            std::string::npos)
      << said;
}

} // namespace
