//===- GuardTextTest.cpp - The guards of an archive ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/GuardText.h"

#include "gtest/gtest.h"

#include "compiler/support/Diagnostics.h"

using namespace ft;
using namespace ft::pt2;

namespace {

/// x is [s77, s27], y [3*s77, 8] with strides [s27, 1], n an integer.
struct GuardTextTest : ::testing::Test {
  SymContext ctx;

  std::optional<Dim> find(const GuardTerm &t) {
    Dim b(ctx.symbol("s77")), s(ctx.symbol("s27"));
    bool size = t.kind == GuardTerm::Size, stride = t.kind == GuardTerm::Stride;
    if (t.input == "x" && size && t.dim < 2)
      return t.dim == 0 ? b : s;
    if (t.input == "batch_y_0" && size && t.dim < 2)
      return t.dim == 0 ? b * Dim(3) : Dim(8);
    if (t.input == "batch_y_0" && stride && t.dim == 0)
      return s;
    if (t.input == "x" && t.kind == GuardTerm::Offset)
      return Dim(0);
    if (t.input == "n" && t.kind == GuardTerm::Value)
      return Dim(ctx.symbol("s0"));
    return std::nullopt;
  }

  std::string read(llvm::StringRef text) {
    llvm::Expected<SymExpr> e =
        parseGuard(ctx, text, [&](const GuardTerm &t) { return find(t); });
    if (e)
      return e->str();
    Diagnostic d = takeDiagnostics(e.takeError())[0];
    EXPECT_EQ(diagCode(d.id), "FT0206");
    return d.message.substr(d.message.find("cannot be read: ") + 16);
  }
};

TEST_F(GuardTextTest, Sizes) {
  EXPECT_EQ(read("L['x'].size()[1] <= 64"), "s27 <= 64");
  EXPECT_EQ(read("((-1) + L['x'].size()[1]) != 1"), "s27 != 2");
  EXPECT_EQ(read("L['x'].size()[0] % 8 == 0"), "s77 % 8 == 0");
  EXPECT_EQ(read("L['x'].size()[0] // 2 <= L['n']"), "s77//2 <= s0");
}

TEST_F(GuardTextTest, NestedArguments) {
  EXPECT_EQ(read("L['batch'][\"y\"][0].size()[0] == "
                 "(3*L['x'].size()[0])"),
            "True");
  EXPECT_EQ(read("L['batch']['y'][0].size()[1] == 9"), "False");
}

TEST_F(GuardTextTest, StridesAndOffsets) {
  EXPECT_EQ(read("L['batch']['y'][0].stride()[0] == L['x'].size()[1]"), "True");
  EXPECT_EQ(read("L['x'].storage_offset() == 0"), "True");
}

TEST_F(GuardTextTest, Unread) {
  EXPECT_EQ(read("L['x'].dtype == torch.float32"),
            "it is not about sizes of inputs");
  EXPECT_EQ(read("L['z'].size()[0] == 2"),
            "the program has no such input as 'z'");
  EXPECT_EQ(read("L['x'].size()[7] == 2"),
            "the program has no such input as 'x'");
  EXPECT_EQ(read("L['x'"), "it is not about sizes of inputs");
  EXPECT_EQ(read("L[x].size()[0] == 1"), "it is not about sizes of inputs");
  EXPECT_EQ(read("len(L['x'].size()[0]) == 1"),
            "it is no relation between integers");
  EXPECT_EQ(read("L['x'].size()[0]"), "it is no condition");
  EXPECT_EQ(read(""), "it is no relation between integers");
}

} // namespace
