//===- SymExprTest.cpp - Canonical forms of expressions --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/SymExpr.h"

#include "gtest/gtest.h"

#include "compiler/shape/Dim.h"
#include "compiler/support/Diagnostics.h"

#include <thread>

using namespace ft;

namespace {

struct SymExprTest : ::testing::Test {
  SymContext ctx;

  SymExpr parse(llvm::StringRef text) {
    llvm::Expected<SymExpr> e = ctx.parse(text);
    if (!e) {
      ADD_FAILURE() << llvm::toString(e.takeError());
      return {};
    }
    return *e;
  }
  std::string error(llvm::StringRef text) {
    llvm::Expected<SymExpr> e = ctx.parse(text);
    if (e)
      return "no error: " + e->str();
    return takeDiagnostics(e.takeError())[0].message;
  }
  /// Both texts have one canonical form.
  void same(llvm::StringRef a, llvm::StringRef b) {
    EXPECT_EQ(parse(a), parse(b)) << a.str() << " is " << parse(a).str() << ", "
                                  << b.str() << " is " << parse(b).str();
  }
  /// The canonical text, which reads back as the same expression.
  void prints(llvm::StringRef text, llvm::StringRef canonical) {
    SymExpr e = parse(text);
    EXPECT_EQ(e.str(), canonical);
    EXPECT_EQ(parse(e.str()), e) << e.str();
  }
};

TEST_F(SymExprTest, SumsMergeAndSort) {
  prints("1 + s0*4", "4*s0 + 1");
  prints("b + a + a - b", "2*a");
  prints("4 - s0", "4 - s0");
  prints("-s0 + s1", "-s0 + s1");
  prints("s0 - s0", "0");
  prints("-(s0 + 1)", "-s0 - 1");
  same("2*(a + b) - a", "a + 2*b");
}

TEST_F(SymExprTest, ProductsArePolynomials) {
  prints("s77*s27*2", "2*s27*s77");
  prints("4*s27**2", "4*s27**2");
  same("s17*(s94 - 1)", "s94*s17 - s17");
  same("(a + b)*(a - b)", "a**2 - b**2");
  same("(a + 1)**3", "a**3 + 3*a**2 + 3*a + 1");
  same("(a*b)**2", "a**2*b**2");
  prints("2**u0", "2**u0");
  // Beyond the eighth power a sum stays a factor.
  prints("(a + b)**9", "(a + b)**9");
}

TEST_F(SymExprTest, Division) {
  prints("s0//2", "s0//2");
  prints("s0//2 + 1", "s0//2 + 1");
  prints("2*(s0//2)", "2*(s0//2)");
  prints("-(s0//2)", "-(s0//2)");
  prints("(2*s0)//3", "(2*s0)//3");
  same("(4*a + 8*b + 3)//4", "a + 2*b");
  same("(2*a + 3)//4", "(a + 1)//2");
  same("(a//2)//3", "a//6");
  same("(a + 8)//4", "a//4 + 2");
  same("a//(-2)", "(-a)//2");
  same("(a*b)//b", "a");
  same("(a*b + c)//b", "a + c//b");
  same("(2*a + 2*b)//(a + b)", "2");
  same("(6*a*b)//(4*b)", "(3*a)//2");
  same("CeilDiv(a, 4)", "(a + 3)//4");
  same("CeilDiv(a*b, b)", "a");
  // The size after three convolutions of stride 2.
  same("((((((h - 1)//2 + 1) - 1)//2 + 1) - 1)//2 + 1)", "(h - 1)//8 + 1");
  EXPECT_FALSE(ctx.floorDiv(ctx.symbol("a"), ctx.constant(0)));
}

TEST_F(SymExprTest, Remainder) {
  prints("s0 % 4", "s0 % 4");
  prints("2*(s0 % 4)", "2*(s0 % 4)");
  same("Mod(s0, 4)", "PythonMod(s0, 4)");
  same("(4*a + b) % 4", "b % 4");
  same("(5*a) % 4", "a % 4");
  same("(2*a + 1) % 4", "2*(a % 2) + 1");
  same("(a % 8) % 4", "a % 4");
  same("(a + (-a) % 4) % 4", "0");
  same("(a*b) % b", "0");
  same("(-7) % 3", "2");
  same("7 % (-3)", "-2");
  same("a % (-3)", "-((-a) % 3)");
}

TEST_F(SymExprTest, MinAndMax) {
  prints("Max(u0, 1)", "Max(1, u0)");
  prints("100*Max(1, s27 - 1)", "100*Max(1, s27 - 1)");
  same("Max(a, Max(b, c))", "Max(c, a, b, b)");
  same("Max(a, a + 1)", "a + 1");
  same("Min(a, a + 1, 3, 5)", "Min(3, a)");
  same("Min(a, 9223372036854775807)", "a");
}

TEST_F(SymExprTest, Relations) {
  prints("s0 <= 4", "s0 <= 4");
  prints("u0 >= 0", "u0 >= 0");
  prints("a < b", "a < b");
  prints("a > b + 1", "b <= a - 2");
  prints("2*u0 < 7", "u0 <= 3");
  prints("Eq(u0, u1)", "u0 == u1");
  prints("2*a == 4*b + 6", "a == 2*b + 3");
  prints("2*a == 2*b + 1", "False");
  prints("not (a < b and c == 1)", "c != 1 or b <= a");
  same("a <= b", "a < b + 1");
  same("~(a <= 3) | Eq(b, 0)", "a >= 4 or b == 0");
  EXPECT_TRUE(parse("a <= a").isTrue());
  EXPECT_FALSE(ctx.add(parse("a <= b"), ctx.constant(1)));
}

TEST_F(SymExprTest, OverflowIsUnknown) {
  SymExpr huge = parse("9223372036854775807*a");
  EXPECT_FALSE(huge * 2);
  EXPECT_FALSE(huge * 2 + 1);
  EXPECT_FALSE(ctx.constant(INT64_MAX) + 1);
  EXPECT_FALSE(-ctx.constant(INT64_MIN));
  EXPECT_EQ(parse("-9223372036854775808").constant(), INT64_MIN);
  prints("x - 9223372036854775807 - 1", "x - 9223372036854775808");
  prints("x - 9223372036854775808*y", "x - 9223372036854775808*y");
  EXPECT_EQ(error("2**64"), "the expression '2**64' cannot be read: it is too "
                            "large or mixes numbers and conditions");
}

TEST_F(SymExprTest, SizeIsBounded) {
  // Each step doubles the tree.
  SymExpr e = ctx.symbol("a"), s = ctx.symbol("s");
  int steps = 0;
  for (; e && steps < 100; ++steps)
    e = ctx.max(ctx.floorDiv(e, s), ctx.floorDiv(e, s + 1));
  EXPECT_LT(steps, 20);
}

TEST_F(SymExprTest, ParserRefuses) {
  EXPECT_EQ(error("s0 +"),
            "the expression 's0 +' cannot be read: it ends too early at "
            "column 5");
  EXPECT_EQ(error("s0 s1"), "the expression 's0 s1' cannot be read: "
                            "unexpected text at column 4");
  EXPECT_EQ(error("Sin(x)"), "the expression 'Sin(x)' cannot be read: 'Sin' "
                             "is no function of it at column 7");
  EXPECT_EQ(error("99999999999999999999"),
            "the expression '99999999999999999999' cannot be read: a number "
            "does not fit 64 bits at column 1");
  EXPECT_NE(error(std::string(100000, '(')).find("longer than"),
            std::string::npos);
  EXPECT_NE(error(std::string(10000, '(')).find("nested deeper than 256"),
            std::string::npos);
  std::string powers = "a";
  for (int i = 0; i < 1000; ++i)
    powers += "**a";
  EXPECT_NE(error(powers).find("nested deeper than 256"), std::string::npos);
}

TEST_F(SymExprTest, Evaluates) {
  auto value = [&](llvm::StringRef text, int64_t a, int64_t b) {
    return SymContext::evaluate(parse(text),
                                [&](llvm::StringRef name, int64_t &v) {
                                  v = name == "a" ? a : b;
                                  return name == "a" || name == "b";
                                });
  };
  EXPECT_EQ(value("2*a*b + a//b - Max(a, b)", 7, 2).value, 28 + 3 - 7);
  EXPECT_EQ(value("(-a)//2", 7, 0).value, -4);
  EXPECT_EQ(value("(-a) % b", 7, 4).value, 1);
  EXPECT_EQ(value("a < b and a != 3", 2, 5).value, 1);
  EXPECT_EQ(value("a//b", 1, 0).status, SymEvalStatus::DivisionByZero);
  EXPECT_EQ(value("a*b", INT64_MAX, 2).status, SymEvalStatus::Overflow);
  EXPECT_EQ(value("c", 1, 2).status, SymEvalStatus::Unbound);
}

// Every rule of the canonical form keeps the value: compared with a direct
// computation over a grid.
TEST_F(SymExprTest, CanonicalFormsKeepTheValue) {
  auto floorDiv = [](int64_t x, int64_t y) {
    return x / y - (x % y != 0 && (x % y < 0) != (y < 0));
  };
  for (int64_t c : {-6, -4, -1, 1, 3, 4, 12}) {
    for (int64_t k : {-8, -3, 2, 6, 7}) {
      for (int64_t r : {-5, 0, 4, 9}) {
        SymExpr a = ctx.symbol("a"), b = ctx.symbol("b");
        SymExpr x = a * k + ctx.floorDiv(b, ctx.constant(4)) + r;
        SymExpr quotient = ctx.floorDiv(x, ctx.constant(c));
        SymExpr rest = ctx.mod(x, ctx.constant(c));
        SymExpr up = ctx.ceilDiv(x, ctx.constant(c));
        SymExpr byName = ctx.floorDiv(x * 3, a * c);
        for (int64_t av = -5; av <= 5; ++av) {
          for (int64_t bv = -9; bv <= 9; ++bv) {
            auto at = [&](SymExpr e) {
              return SymContext::evaluate(
                  e, [&](llvm::StringRef name, int64_t &v) {
                    v = name == "a" ? av : bv;
                    return true;
                  });
            };
            int64_t xv = k * av + floorDiv(bv, 4) + r;
            ASSERT_EQ(at(x).value, xv);
            ASSERT_EQ(at(quotient).value, floorDiv(xv, c));
            ASSERT_EQ(at(rest).value, xv - c * floorDiv(xv, c));
            ASSERT_EQ(at(up).value, -floorDiv(-xv, c));
            if (av != 0) {
              ASSERT_EQ(at(byName).value, floorDiv(3 * xv, c * av));
            }
          }
        }
      }
    }
  }
}

TEST_F(SymExprTest, Substitutes) {
  SymExpr e = parse("4*s0 + (s0*s1)//3 + Max(1, s0)");
  SymExpr four = ctx.substitute(e, [&](llvm::StringRef name) {
    return name == "s0" ? ctx.constant(4) : SymExpr();
  });
  EXPECT_EQ(four, parse("20 + (4*s1)//3"));
}

TEST_F(SymExprTest, ThreadsShareOneObject) {
  SymExpr results[4];
  std::vector<std::thread> threads;
  for (SymExpr &result : results)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        result = ctx.symbol("s") * i + ctx.symbol("t");
    });
  for (std::thread &thread : threads)
    thread.join();
  for (SymExpr result : results)
    EXPECT_EQ(result, parse("999*s + t"));
}

TEST_F(SymExprTest, DimsMixNumbersAndExpressions) {
  Dim s(ctx.symbol("s"));
  EXPECT_EQ((s * 4 + 1).str(), "4*s + 1");
  EXPECT_TRUE((s - s).is(0));
  EXPECT_EQ(floorDiv(s * 8, Dim(4)), s * 2);
  EXPECT_EQ(contiguousStrides({Dim(2), s, Dim(3)})[0], s * 3);
  Dim huge = s * INT64_MAX;
  EXPECT_NE(huge * 2, huge * 2); // not representable: equal to nothing
}

} // namespace
