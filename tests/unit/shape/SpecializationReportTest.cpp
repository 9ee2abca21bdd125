//===- SpecializationReportTest.cpp - Asked against found ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/SpecializationReport.h"

#include "gtest/gtest.h"

#include "llvm/Support/Error.h"

using namespace ft;

namespace {

struct SpecializationReportTest : ::testing::Test {
  SymContext ctx;
  ShapeEnv env{ctx};

  void size(llvm::StringRef name, int64_t hint,
            Interval range = Interval::atLeast(0)) {
    SymbolInfo info;
    info.userName = name.str();
    info.hint = hint;
    info.range = range;
    env.addInputSize(("s" + llvm::Twine(env.symbols().size())).str(), info);
  }
  void guard(llvm::StringRef text, llvm::StringRef op, unsigned line) {
    llvm::Expected<SymExpr> predicate = ctx.parse(text);
    ASSERT_TRUE(bool(predicate)) << llvm::toString(predicate.takeError());
    env.decide(*predicate, {op.str(), ("model.py:" + llvm::Twine(line)).str()});
  }
  std::string table() {
    std::string text;
    llvm::raw_string_ostream os(text);
    printReport(env, reportSpecializations(env), os);
    return "\n" + text;
  }
};

TEST_F(SpecializationReportTest, NothingForced) {
  size("batch", 4, {1, 64});
  guard("s0 >= 1", "conv2d", 3);
  EXPECT_EQ(table(), R"(
size   asked  found  first forced by  suggestion
batch  1..64  1..64
)");
}

TEST_F(SpecializationReportTest, Fixed) { // x + ones(5)
  size("batch", 5, {2, 64});
  guard("s0 == 5", "add", 12);
  EXPECT_EQ(table(), R"(
size   asked  found  first forced by     suggestion
batch  2..64  5      add at model.py:12  batch = 5
)");
}

TEST_F(SpecializationReportTest, Related) { // x[1:] + y
  size("a", 5, Interval::atLeast(1));
  size("b", 4);
  guard("s0 - 1 == s1", "add", 4);
  EXPECT_EQ(table(), R"(
size  asked  found  first forced by    suggestion
a     1..    1..
b     0..    a - 1  add at model.py:4  b = a - 1
)");
}

TEST_F(SpecializationReportTest, Multiple) { // x.view(-1, 4), then at most 64
  size("a", 8);
  guard("s0 % 4 == 0", "view", 4);
  guard("s0 <= 67", "slice", 5);
  EXPECT_EQ(table(), R"(
size  asked  found                 first forced by                          suggestion
a     0..    multiple of 4, 0..64  view at model.py:4, slice at model.py:5  a[0..64] = 4*_a
)");
}

TEST_F(SpecializationReportTest, Range) { // max_pool1d(2) + ones(4)
  size("w", 8, Interval::atLeast(2));
  guard("(s0 - 2)//2 + 1 == 4", "add", 7);
  EXPECT_EQ(table(), R"(
size  asked  found  first forced by    suggestion
w     2..    8..9   add at model.py:7  w[8..9]
)");
}

TEST_F(SpecializationReportTest, Chunks) { // even and at least 2, not 8
  size("a", 8);
  guard("s0 - (s0 + 1)//2 >= 1", "chunk", 2);
  guard("(s0 + 1)//2 == s0 - (s0 + 1)//2", "add", 3);
  EXPECT_EQ(table(), R"(
size  asked  found               first forced by                         suggestion
a     0..    multiple of 2, 2..  add at model.py:3, chunk at model.py:2  a[2..] = 2*_a
)");
}

TEST_F(SpecializationReportTest, QuotientOfAnother) {
  size("a", 8);
  size("b", 2);
  guard("s0 % 4 == 0", "view", 3);
  guard("s0//4 == s1", "add", 3);
  EXPECT_EQ(table(), R"(
size  asked  found  first forced by    suggestion
a     0..    4*b    add at model.py:3  a = 4*b
b     0..    0..
)");
}

TEST_F(SpecializationReportTest, WhatNoDeclarationSays) {
  size("a", 4);
  size("b", 6);
  guard("(s0*s1) % 8 == 0", "view", 3);
  EXPECT_EQ(table(), R"(
size  asked  found  first forced by  suggestion
a     0..    0..
b     0..    0..
also needed: (a*b) % 8 == 0 (g0, view at model.py:3)
)");
}

TEST_F(SpecializationReportTest, DeclaredFactsAreNoNews) {
  size("a", 8);
  size("b", 8);
  llvm::Expected<SymExpr> same = ctx.parse("s0 == s1");
  ASSERT_TRUE(bool(same));
  env.declare(*same, {"declared", ""});
  guard("s0 == s1", "add", 1);
  EXPECT_EQ(table(), R"(
size  asked  found  first forced by  suggestion
a     0..    0..
b     0..    a
)");
}

} // namespace
