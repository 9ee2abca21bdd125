//===- SymTextTest.cpp - sympy's text of expressions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/SymText.h"

#include "gtest/gtest.h"

#include "compiler/support/Diagnostics.h"

using namespace ft;

namespace {

struct SymTextTest : ::testing::Test {
  SymContext ctx;
  std::string read(llvm::StringRef text) {
    llvm::Expected<SymExpr> e = pt2::parseSymText(ctx, text);
    if (e)
      return e->str();
    Diagnostic d = takeDiagnostics(e.takeError())[0];
    EXPECT_EQ(diagCode(d.id), "FT0206");
    return d.message.substr(d.message.find("cannot be read: ") + 16);
  }
};

TEST_F(SymTextTest, Srepr) {
  EXPECT_EQ(read("Symbol('s77', positive=True, integer=True)"), "s77");
  EXPECT_EQ(read("Mul(Integer(2), Symbol('s27', positive=True, integer=True), "
                 "Symbol('s77', positive=True, integer=True))"),
            "2*s27*s77");
  EXPECT_EQ(read("Mul(Integer(4), Pow(Symbol('s27', integer=True), "
                 "Integer(2)))"),
            "4*s27**2");
  EXPECT_EQ(read("Min(Integer(100), Mul(Integer(100), Max(Integer(1), "
                 "Add(Symbol('s27', positive=True, integer=True), "
                 "Integer(-1)))))"),
            "Min(100, 100*Max(1, s27 - 1))");
  EXPECT_EQ(read("FloorDiv(Symbol('u0', integer=True), Integer(2))"), "u0//2");
  EXPECT_EQ(read("PythonMod(Symbol('u0', integer=True), Integer(2))"),
            "u0 % 2");
  EXPECT_EQ(read("ModularIndexing(Symbol('a'), Integer(4), Integer(8))"),
            "(a//4) % 8");
}

TEST_F(SymTextTest, Predicates) {
  EXPECT_EQ(read("GreaterThan(Symbol('u0', integer=True), Integer(0))"),
            "u0 >= 0");
  EXPECT_EQ(read("StrictLessThan(Symbol('u0'), Symbol('u1'))"), "u0 < u1");
  EXPECT_EQ(read("Equality(Symbol('u0'), Integer(1))"), "u0 == 1");
  EXPECT_EQ(read("Not(And(Unequality(Symbol('a'), Integer(1)), "
                 "LessThan(Symbol('b'), Integer(2))))"),
            "a == 1 or b >= 3");
  EXPECT_EQ(read("true"), "True");
}

TEST_F(SymTextTest, Truncation) {
  // Of quotients that cannot be negative it is the floor.
  EXPECT_EQ(read("TruncToInt(Mul(Float('0.5', precision=53), "
                 "ToFloat(Symbol('s0', positive=True, integer=True))))"),
            "s0//2");
  EXPECT_EQ(read("TruncToInt(Mul(Float('1.5', precision=53), "
                 "ToFloat(Symbol('s0', positive=True, integer=True))))"),
            "(3*s0)//2");
  EXPECT_EQ(read("TruncToInt(IntTrueDiv(Symbol('s0', positive=True, "
                 "integer=True), Integer(2)))"),
            "s0//2");
  EXPECT_EQ(read("CeilToInt(IntTrueDiv(Symbol('a', integer=True), "
                 "Integer(2)))"),
            "(a + 1)//2");
  SymContext local;
  llvm::Expected<SymExpr> e = pt2::parseSymText(
      local, "TruncToInt(IntTrueDiv(Symbol('a', integer=True), Integer(3)))");
  ASSERT_TRUE(bool(e));
  for (int64_t a = -10; a <= 10; ++a)
    EXPECT_EQ(SymContext::evaluate(*e,
                                   [&](llvm::StringRef, int64_t &v) {
                                     v = a;
                                     return true;
                                   })
                  .value,
              a / 3)
        << a;
}

TEST_F(SymTextTest, InfixIsReadToo) {
  EXPECT_EQ(read("2*s0 + 1"), "2*s0 + 1");
  EXPECT_EQ(read("Max(1, u0)"), "Max(1, u0)");
}

TEST_F(SymTextTest, Refused) {
  EXPECT_EQ(read(""), "it ends too early");
  EXPECT_EQ(read("Add(Symbol('a'), Integer(1)"), "')' is missing");
  EXPECT_EQ(read("Foo(Symbol('a'))"),
            "the function 'Foo' of 1 arguments is not known");
  EXPECT_EQ(read("IntTrueDiv(Symbol('a'), Integer(2))"), "it is no integer");
  EXPECT_EQ(read("Symbol('zuf0', real=True)"),
            "the symbol 'zuf0' is no integer");
  EXPECT_EQ(read("Symbol('a b')"), "'a b' is no name of a symbol");
  EXPECT_EQ(read("Max(1, not )"), "'not' is no name of a symbol");
  EXPECT_EQ(read("Integer(99999999999999999999)"),
            "expected an integer of 64 bits");
  EXPECT_EQ(read("Mul(Integer(9223372036854775807), Integer(2))"),
            "it is too large or mixes numbers and conditions");
  EXPECT_EQ(read("FloorDiv(Symbol('a'), Integer(0))"),
            "it is too large or mixes numbers and conditions");
  std::string deep;
  for (int i = 0; i < 5000; ++i)
    deep += "Add(";
  EXPECT_EQ(read(deep), "it is nested deeper than 256");
}

} // namespace
