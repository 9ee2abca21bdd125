//===- RunnerTest.cpp - Runners without a model or a run -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Runner.h"

#include <gtest/gtest.h>

using namespace ft;

TEST(Runner, WithoutAModelNothingRuns) {
  Runner runner;
  EXPECT_FALSE(runner.run());
  ASSERT_EQ(runner.diagnostics().size(), 1u);
  EXPECT_EQ(runner.diagnostics().front().code(), "FT0008");
  EXPECT_EQ(runner.diagnostics().front().message, "no model is open");
  EXPECT_FALSE(runner.setInput("x", "x.npy"));
  EXPECT_EQ(runner.exitCode(), 5);
}

TEST(Runner, OutputsThatAreNotThereAreEmpty) {
  Runner runner;
  EXPECT_EQ(runner.outputText(0, 8), "");
  EXPECT_EQ(runner.elementText(7, 0), "");
  EXPECT_EQ(runner.outputData(0), nullptr);
  EXPECT_FALSE(runner.writeOutput(3, "y.npy"));
  EXPECT_EQ(runner.diagnostics().front().code(), "FT0701");
}
