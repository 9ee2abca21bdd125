//===- RunnerTest.cpp - What runs, and on which sizes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Runner.h"

#include "compiler/support/AtomicFile.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/Npy.h"
#include "tests/unit/runtime/FakeModels.h"

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

namespace {

/// Runs of "halves": y[batch, half] from x[batch, 2*half], mask[batch] and
/// tail[half + 1], whose example has batch 2 and half 3.
class RunnerSizes : public test::ModelTest {
protected:
  void SetUp() override {
    ModelTest::SetUp();
    auto files = emitArtefact(test::halves(), path("halves"), {});
    ASSERT_TRUE(bool(files)) << test::messageOf(files.takeError());
    ASSERT_TRUE(runner.open(files->library));
  }

  std::string message() const {
    return runner.diagnostics().empty() ? ""
                                        : runner.diagnostics().back().message;
  }
  /// A .npy file of ones.
  std::string ones(std::vector<int64_t> shape) {
    std::string file = path("ones.npy");
    auto npy = AtomicFile::create(file);
    EXPECT_TRUE(bool(npy));
    std::vector<float> elements(product(shape), 1);
    llvm::ArrayRef<uint8_t> bytes(
        reinterpret_cast<const uint8_t *>(elements.data()),
        elements.size() * sizeof(float));
    EXPECT_FALSE(writeNpy(npy->os(), "float32", shape, bytes, file));
    EXPECT_FALSE(npy->commit());
    return file;
  }
  static size_t product(const std::vector<int64_t> &shape) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= static_cast<size_t>(size);
    return count;
  }

  Runner runner;
};

using Shape = std::vector<int64_t>;

TEST_F(RunnerSizes, TheExamplesSizesUnlessAsked) {
  EXPECT_EQ(runner.inputs()[0].shape, (Shape{-1, -1}));
  ASSERT_TRUE(runner.run()) << message();
  EXPECT_EQ(runner.inputs()[0].shape, (Shape{2, 6}));
  EXPECT_EQ(runner.inputs()[2].shape, (Shape{4}));
  EXPECT_EQ(runner.outputs()[0].shape, (Shape{2, 3}));
}

TEST_F(RunnerSizes, DimsAndNamesAreAskedFor) {
  ASSERT_TRUE(runner.setSize("mask:0", 5)); // as x:0
  ASSERT_TRUE(runner.setSize("half", 1));
  ASSERT_TRUE(runner.run()) << message();
  EXPECT_EQ(runner.outputs()[0].shape, (Shape{5, 1}));
}

TEST_F(RunnerSizes, GivenInputsDecide) {
  ASSERT_TRUE(runner.setInput("mask", ones({7})));
  ASSERT_TRUE(runner.setSize("x:1", 8));
  ASSERT_TRUE(runner.run()) << message();
  EXPECT_EQ(runner.outputs()[0].shape, (Shape{7, 4}));
}

TEST_F(RunnerSizes, WhatIsAskedInVain) {
  EXPECT_FALSE(runner.setSize("x:1", 7));
  EXPECT_EQ(message(), "'x:1' is 2*half, which is not 7 for any half");
  EXPECT_FALSE(runner.setSize("tail:0", 7));
  EXPECT_EQ(message(), "the size of 'tail:0' follows from others: it is half + "
                       "1");
  EXPECT_EQ(runner.diagnostics().back().help, "it takes one of batch, half");
  EXPECT_FALSE(runner.setSize("z:0", 7));
  EXPECT_EQ(message(), "the model has no size 'z:0'");
  ASSERT_TRUE(runner.setSize("batch", 65));
  EXPECT_FALSE(runner.run());
  EXPECT_EQ(message(), "batch is 65, must be at most 64");
  EXPECT_EQ(runner.exitCode(), 4);
}

TEST_F(RunnerSizes, AskedAgainstAnInput) {
  ASSERT_TRUE(runner.setInput("mask", ones({7})));
  ASSERT_TRUE(runner.setSize("x:0", 8));
  EXPECT_FALSE(runner.run());
  EXPECT_EQ(message(), "batch is to be 8, an input that is given has 7");
}

} // namespace
