//===- CustomTest.cpp - Custom operators in a trace ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/plugin.h"
#include "foretrace/trace.h"

#include "compiler/driver/Session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ft;
using testing::HasSubstr;

static ft_op_registration scaleOp() {
  ft_op_registration op = ft_op_registration_init();
  op.schema = "demo::scale(Tensor x, float factor=1.0) -> Tensor";
  op.fake_kind = FT_FAKE_LIKE;
  return op;
}

TEST(Custom, CallsAreByName) {
  FakeMode mode;
  ASSERT_TRUE(mode.registerOp(scaleOp()));
  Tensor x = mode.input("x", TensorDesc({2, 3}).strides({1, 2}));
  Tensor y = ft::call("demo::scale", {x, 2})[0];
  EXPECT_EQ(y.str(), "float32 [2, 3] strides [1, 2] cpu");
  EXPECT_EQ(y.name(), "scale");
  mode.output("y", y + 1);
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_THAT(mode.print(), HasSubstr("ft.custom \"demo::scale\"(%arg0, 2"));
  // The session shares the mode's operators.
  Session session;
  ASSERT_TRUE(session.load(mode));
  EXPECT_TRUE(session.runTo(Stage::Functionalize));
}

TEST(Custom, OtherModesDoNotKnowThem) {
  FakeMode mode, other;
  ASSERT_TRUE(mode.registerOp(scaleOp()));
  Tensor x = other.input("x", {2, 3});
  EXPECT_FALSE(ft::call("demo::scale", {x})[0].ok());
  EXPECT_EQ(other.error().message, "operator 'demo::scale' is not known");
}

TEST(Custom, WhatCannotBeRegisteredIsAnErrorOfTheMode) {
  FakeMode mode;
  ft_op_registration op = scaleOp();
  op.schema = "scale(Tensor x)";
  EXPECT_FALSE(mode.registerOp(op));
  EXPECT_FALSE(mode.ok());
  EXPECT_FALSE(mode.loadPlugin("no-such-file.so"));
  EXPECT_EQ(mode.errorCount(), 2u);
}
