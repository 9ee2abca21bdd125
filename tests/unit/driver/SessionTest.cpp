//===- SessionTest.cpp -----------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Session.h"

#include "compiler/driver/Report.h"

#include <gtest/gtest.h>

using namespace ft;

static const char *const kDouble = R"(
module attributes {ft.model = "double", ft.stage = "fake"} {
  func.func @forward(
      %x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x"})
      -> (tensor<2x3xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %0 = ft.aten "add.Tensor"(%x, %x) {ft.name = "twice"}
      : (tensor<2x3xf32, #ft.meta<cpu>>, tensor<2x3xf32, #ft.meta<cpu>>)
        -> tensor<2x3xf32, #ft.meta<cpu>>
    return %0 : tensor<2x3xf32, #ft.meta<cpu>>
  }
}
)";

TEST(Stages, AreInTheOrderOfTheTable) {
  EXPECT_STREQ(allStages().front().name, "import");
  EXPECT_STREQ(allStages().back().name, "emit");
  EXPECT_EQ(findStage("fake"), Stage::Fake);
  EXPECT_FALSE(findStage("optimise"));
}

TEST(Session, TextStandsAfterTheStageItNames) {
  Session session;
  ASSERT_TRUE(session.loadText(kDouble, "double.mlir"));
  EXPECT_EQ(session.stage(), Stage::Fake);
  EXPECT_EQ(session.exitCode(), 0);
}

TEST(Session, WhatIsPrintedReadsBackTheSame) {
  Session first, second;
  ASSERT_TRUE(first.loadText(kDouble, "double.mlir"));
  ASSERT_TRUE(second.loadText(first.print(), "again.mlir"));
  EXPECT_EQ(first.print(), second.print());
  EXPECT_EQ(second.stage(), Stage::Fake);
}

TEST(Session, AStageThatIsOverIsAnError) {
  Session session;
  ASSERT_TRUE(session.loadText(kDouble, "double.mlir"));
  EXPECT_FALSE(session.runTo(Stage::Import));
  EXPECT_EQ(session.exitCode(), 2);
  EXPECT_EQ(session.diagnostics().front().message,
            "stage 'import' is over: the module stands after 'fake'");
}

TEST(Session, BadTextIsRejectedWithItsPlace) {
  Session session;
  EXPECT_FALSE(session.loadText("module {\n  nonsense\n}", "bad.mlir"));
  EXPECT_EQ(session.exitCode(), 1);
  ASSERT_FALSE(session.diagnostics().empty());
  EXPECT_EQ(session.diagnostics().front().code(), "FT0107");
  EXPECT_EQ(session.diagnostics().front().where.substr(0, 10), "bad.mlir:2");
}

TEST(Session, AnUnknownStageInTheTextIsRejected) {
  Session session;
  EXPECT_FALSE(session.loadText("module attributes {ft.stage = \"dessert\"} {}",
                                "bad.mlir"));
  EXPECT_EQ(session.diagnostics().front().code(), "FT0107");
}

TEST(Session, AutogradNeedsSomethingToDerive) {
  Session session;
  ASSERT_TRUE(session.loadText(kDouble, "double.mlir"));
  // Nothing in it requires a gradient.
  EXPECT_FALSE(session.runTo(Stage::Autograd));
  EXPECT_EQ(session.exitCode(), 1);
}

TEST(Report, JsonNamesValuesAndStorages) {
  Session session;
  ASSERT_TRUE(session.loadText(kDouble, "double.mlir"));
  std::string json = reportJson(session);
  EXPECT_NE(json.find("\"twice\": {"), std::string::npos);
  EXPECT_NE(json.find("\"op\": \"aten.add.Tensor\""), std::string::npos);
  EXPECT_NE(json.find("\"dtype\": \"float32\""), std::string::npos);
}
