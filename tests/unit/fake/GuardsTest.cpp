//===- GuardsTest.cpp - Calls that need relations between sizes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gtest/gtest.h"

#include "tests/unit/fake/Calls.h"

using namespace ft;

namespace {

struct GuardsTest : ::testing::Test {
  SymContext ctx;
  ShapeEnv env{ctx};
  FakeScope scope{env};

  GuardsTest() { scope.allowGuards(); }

  Dim size(llvm::StringRef name, int64_t hint) {
    SymbolInfo info;
    info.hint = hint;
    return Dim(env.addInputSize(name, info));
  }
  std::string call(llvm::StringRef name, llvm::SmallVector<TensorMeta> operands,
                   llvm::SmallVector<Arg> args) {
    const Schema *schema = SchemaTable::get().find(name);
    while (args.size() < schema->args.size())
      args.push_back(schema->args[args.size()].defaultValue);
    FakeCall fake(*schema, args, operands, &scope);
    if (llvm::failed(propagateCall(fake)))
      return "error: " + fake.message;
    return fake.results[0].meta.str();
  }
  std::string guards() {
    std::string text;
    for (const auto &guard : env.guards())
      text += guard->predicate.str() + " (" + guard->origin.op + "); ";
    return text;
  }
};

TEST_F(GuardsTest, EqualSizes) {
  Dim a = size("a", 5), b = size("b", 5);
  call("add.Tensor", {tensor({a}), tensor({b})},
       {Arg::tensor(0), Arg::tensor(1)});
  EXPECT_EQ(guards(), "a == b (add); ");
}
TEST_F(GuardsTest, BroadcastSize) {
  Dim a = size("a", 1), b = size("b", 5);
  EXPECT_EQ(call("add.Tensor", {tensor({a}), tensor({b})},
                 {Arg::tensor(0), Arg::tensor(1)}),
            tensor({b}).str());
  EXPECT_EQ(guards(), "a == 1 (add); ");
}
TEST_F(GuardsTest, ViewOfMultiples) {
  Dim a = size("a", 8);
  call("view", {tensor({a})}, {Arg::tensor(0), ints({-1, 4})});
  EXPECT_EQ(guards(), "a % 4 == 0 (view); ");
}
/// Of no elements any size would do for -1.
TEST_F(GuardsTest, ViewWithAnOpenSizeBesideOneThatMayBeZero) {
  Dim a = size("a", 2), b = size("b", 3);
  call("view", {tensor({a, 12})},
       {Arg::tensor(0), Arg::listOf({Arg::integer(b), Arg::integer(-1)})});
  EXPECT_EQ(guards(), "b >= 1 (view); b*((12*a)//b) == 12*a (view); ");
}
/// Also where the others cancel: view(0, 3, 4, -1) is an error.
TEST_F(GuardsTest, ViewWithAnOpenSizeThatIsOneNumber) {
  Dim a = size("a", 2), b = size("b", 3);
  EXPECT_EQ(
      call("view", {tensor({a, b, 16})},
           {Arg::tensor(0), Arg::listOf({Arg::integer(a), Arg::integer(b),
                                         Arg::integer(4), Arg::integer(-1)})}),
      tensor({a, b, 4, 4}).str());
  EXPECT_EQ(guards(), "a >= 1 (view); b >= 1 (view); ");
}
TEST_F(GuardsTest, ViewWithAnOpenSizeThatMayBeZero) {
  Dim a = size("a", 2);
  EXPECT_EQ(call("view", {tensor({a, 4})}, {Arg::tensor(0), ints({-1, 2})}),
            tensor({a * Dim(2), 2}).str());
  EXPECT_EQ(guards(), "");
}
TEST_F(GuardsTest, TakeOfAnEmptyTensorTakesNothing) {
  Dim a = size("a", 2), n = size("n", 3);
  call("take.default", {tensor({a}), typed(DType::I64, {n})},
       {Arg::tensor(0), Arg::tensor(1)});
  EXPECT_EQ(guards(), "n == 0 or a >= 1 (take); ");
}
TEST_F(GuardsTest, NothingWithoutLeave) {
  scope.allowGuards(false);
  Dim a = size("a", 5), b = size("b", 5);
  std::string result = call("add.Tensor", {tensor({a}), tensor({b})},
                            {Arg::tensor(0), Arg::tensor(1)});
  EXPECT_EQ(result.substr(0, 6), "error:") << result;
  EXPECT_EQ(guards(), "");
}

} // namespace
