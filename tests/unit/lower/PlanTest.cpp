//===- PlanTest.cpp - The plan survives text -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Plan.h"

#include "dialects/ft/FtDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace ft;

namespace {

struct PlanTest : testing::Test {
  PlanTest() { context.loadDialect<FtDialect>(); }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  mlir::RankedTensorType type(llvm::ArrayRef<Dim> sizes) {
    return typeFromMeta(&context, TensorMeta::contiguous(DType::F32, sizes));
  }

  mlir::MLIRContext context;
};

} // namespace

TEST_F(PlanTest, WhatIsAttachedPrintedAndReadIsTheSame) {
  Plan plan;
  plan.inputs = {{"x", type({2, 3}), true}};
  plan.outputs = {{"y", type({}), false}};
  plan.state = {{"w", type({4}), true, 64, -1}};
  plan.constants = {{0,
                     "data/weights/weight_0",
                     type({4, 8}),
                     {1, 8, 32},
                     {{32, 0, 1}, {0, 1, 0}},
                     {0, 0}}};
  plan.arenaBytes = 128;
  plan.weightsBytes = 1024;
  plan.stateBytes = 64;
  mlir::OwningOpRef<mlir::ModuleOp> module = parse("module {}");
  plan.attachTo(*module);
  std::string text;
  llvm::raw_string_ostream(text) << *module;

  mlir::OwningOpRef<mlir::ModuleOp> again = parse(text);
  ASSERT_TRUE(again);
  std::optional<Plan> read = Plan::of(*again);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->inputs[0].name, "x");
  EXPECT_TRUE(read->inputs[0].written);
  EXPECT_EQ(read->outputs[0].type, type({}));
  EXPECT_EQ(read->state[0].weightsOffset, 64);
  EXPECT_EQ(read->state[0].stateOffset, -1);
  EXPECT_EQ(read->constants[0].coef, plan.constants[0].coef);
  EXPECT_EQ(read->constants[0].dims, plan.constants[0].dims);
  EXPECT_EQ(read->arenaBytes, 128);
  EXPECT_EQ(read->weightsBytes, 1024);
  EXPECT_EQ(read->stateBytes, 64);
}

TEST_F(PlanTest, AMissingOrMalformedPlanIsNone) {
  EXPECT_FALSE(Plan::of(*parse("module {}")));
  EXPECT_FALSE(Plan::of(*parse("module attributes {ft.plan = 3 : i64} {}")));
  EXPECT_FALSE(Plan::of(*parse(
      "module attributes {ft.plan = {inputs = [1], outputs = [], state = [], "
      "constants = [], arena_bytes = 0, weights_bytes = 0, state_bytes = 0}} "
      "{}")));
}
