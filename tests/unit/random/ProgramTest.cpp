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

/// Adds a call of one operand and its result to a program.
static void addStep(Program &program, llvm::StringRef name, TensorMeta meta) {
  Step step;
  step.schema = SchemaTable::get().find(name);
  step.operands = {static_cast<int>(program.values.size()) - 1};
  step.args = {Arg::tensor(0)};
  while (step.args.size() < step.schema->args.size())
    step.args.push_back(step.schema->args[step.args.size()].defaultValue);
  Value value;
  value.meta = std::move(meta);
  value.step = static_cast<int>(program.steps.size());
  step.results = {static_cast<int>(program.values.size())};
  program.values.push_back(std::move(value));
  program.steps.push_back(std::move(step));
}

/// 1 over what `name` makes of some float32 numbers.
static Program reciprocalOf(llvm::StringRef name,
                            std::initializer_list<double> numbers) {
  Program program;
  auto n = static_cast<int64_t>(numbers.size());
  Value input;
  input.data = Tensor(DType::F32, {n});
  for (auto [i, number] : llvm::enumerate(numbers))
    input.data.setReal(static_cast<int64_t>(i), number);
  input.meta = TensorMeta::contiguous(DType::F32, Dims{Dim(n)});
  program.values.push_back(input);
  for (llvm::StringRef each : {name, llvm::StringRef("reciprocal.default")})
    addStep(program, each, TensorMeta::contiguous(DType::F32, {}));
  program.outputs = {2};
  std::vector<Tensor> values = program.evaluate();
  for (size_t i = 1; i < values.size(); ++i)
    program.values[i].data = values[i];
  return program;
}

// Which of -0 and 0 is the least is the kernel's choice, so 1 over it is too.
TEST(Judge, TheSignOfTheLeastZeroIsUndecided) {
  Program program = reciprocalOf("amin.default", {0, -0.0});
  for (double infinity : {HUGE_VAL, -HUGE_VAL}) {
    Judge judge(program);
    Tensor got(DType::F32, {});
    got.setReal(0, infinity);
    EXPECT_FALSE(judge.check(0, got.host()));
    EXPECT_EQ(judge.undecided, 1);
  }
}

// 1 - 1 + 1e-20 is 0 in another order, and 1 over it infinite.
TEST(Judge, WhatTermsLeaveThatCancelIsUndecided) {
  Program program = reciprocalOf("sum.default", {1, -1, 1e-20});
  Judge judge(program);
  Tensor got(DType::F32, {});
  got.setReal(0, HUGE_VAL);
  EXPECT_FALSE(judge.check(0, got.host()));
}

TEST(Program, HasLinearAlgebraOnRequestOnly) {
  auto hasIt = [](llvm::StringRef only) {
    for (uint64_t seed = 1; seed < 40; ++seed)
      for (const Step &step : generate(seed, only).steps)
        if (step.schema->family == "linalg")
          return true;
    return false;
  };
  EXPECT_FALSE(hasIt(""));
  EXPECT_FALSE(hasIt("*"));
  EXPECT_TRUE(hasIt("linalg*"));
}
