//===- ProgramTest.cpp - Random programs are reproducible -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Judge.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::random;

static std::string textOf(const Program &program) {
  mlir::MLIRContext context;
  conformance::GraphBuilder graph(context, "test");
  program.build(graph, "p");
  return graph.finish();
}

TEST(Program, ASeedGivesTheSameProgram) {
  EXPECT_EQ(textOf(generate(17, "")), textOf(generate(17, "")));
  EXPECT_NE(textOf(generate(17, "")), textOf(generate(18, "")));
}

TEST(Program, EvaluatesToWhatItHolds) {
  Program program = generate(5, "add*");
  std::vector<Tensor> values = program.evaluate();
  ASSERT_EQ(values.size(), program.values.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i].host().bytes, program.values[i].data.host().bytes);
}

TEST(Program, PruningKeepsWhatAnOutputNeeds) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Program program = generate(seed, "");
    for (int output : program.outputs) {
      Program pruned = program.prunedTo(output);
      EXPECT_LE(pruned.steps.size(), program.steps.size());
      EXPECT_EQ(pruned.values[pruned.outputs[0]].data.host().bytes,
                program.values[output].data.host().bytes);
    }
  }
}

TEST(Judge, AcceptsTheRightValueAndNoOther) {
  for (uint64_t seed = 1; seed < 40; ++seed) {
    Program program = generate(seed, "add.Tensor");
    Judge judge(program);
    for (size_t k = 0; k < program.outputs.size(); ++k) {
      const Tensor &right = program.values[program.outputs[k]].data;
      EXPECT_FALSE(judge.check(k, right.host()));
      if (right.numel() == 0 || right.whole())
        continue;
      Tensor wrong = right;
      wrong.setReal(0, 12345);
      EXPECT_TRUE(judge.check(k, wrong.host()));
    }
  }
}
