//===- ProverTest.cpp - What follows from what -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each row: declared facts, and predicates that follow from them without a
// guard. Sizes are called a, b, c, h, n, s (from 0 up), data u, v, w (any
// integer).

#include "gtest/gtest.h"

#include "compiler/shape/FactBase.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

using namespace ft;

namespace {

struct Prover {
  SymContext ctx;
  FactBase facts{ctx};

  Prover() {
    for (llvm::StringRef name : {"a", "b", "c", "h", "n", "s"})
      facts.declare(ctx.symbol(name), Interval::atLeast(0), 8);
    for (llvm::StringRef name : {"u", "v", "w"})
      facts.declare(ctx.symbol(name), {}, 0);
  }
  SymExpr parse(llvm::StringRef text) {
    llvm::Expected<SymExpr> e = ctx.parse(text);
    if (e)
      return *e;
    ADD_FAILURE() << text.str() << ": " << llvm::toString(e.takeError());
    return {};
  }
  /// Predicates separated by ';'.
  std::vector<SymExpr> list(llvm::StringRef text) {
    std::vector<SymExpr> result;
    llvm::SmallVector<llvm::StringRef> parts;
    text.split(parts, ';', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts)
      result.push_back(parse(part.trim()));
    return result;
  }
};

void proves(llvm::StringRef facts, llvm::StringRef conclusions,
            Answer expected = Answer::Proved) {
  Prover p;
  for (SymExpr fact : p.list(facts))
    p.facts.assume(fact);
  for (SymExpr conclusion : p.list(conclusions))
    EXPECT_EQ(p.facts.query(conclusion), expected)
        << facts.str() << " |- " << conclusion.str();
  EXPECT_FALSE(p.facts.contradictory()) << facts.str();
}
void refutes(llvm::StringRef facts, llvm::StringRef conclusions) {
  proves(facts, conclusions, Answer::Refuted);
}
void leavesOpen(llvm::StringRef facts, llvm::StringRef conclusions) {
  proves(facts, conclusions, Answer::Unknown);
}

// What a prover by canonical forms, ranges and recorded guards misses.
TEST(Prover, AffineFacts) {
  proves("a < b; b < c", "a < c; a + 1 < c; c >= 2; a != c");
  proves("a <= b; b <= a", "a == b; a*4 == b*4; a*c == b*c");
  proves("a <= b; a >= b; a + b == 10", "a == 5; b == 5");
  proves("2*a == 3*b", "a % 3 == 0; b % 2 == 0; 4*a == 6*b");
  proves("a % 4 == 1", "a % 2 == 1; (a - 1) % 4 == 0; a >= 1; a != 2");
  proves("a % 4 == 0; a % 6 == 0; a > 0", "a % 12 == 0; a >= 12; a % 3 == 0");
  proves("a % 8 == 0", "a % 4 == 0; a % 2 == 0");
  proves("a % 8 == 0; a >= 1", "a >= 8");
  proves("a//2 == 4", "8 <= a; a <= 9");
  proves("(a - 2)//2 + 1 == 4", "8 <= a; a <= 9");
  proves("", "a//2 <= a; a//2 + (a + 1)//2 == a; 4*((a + 3)//4) >= a;"
             "4*((a + 3)//4) < a + 4; (a + 3)//4 - a//4 <= 1;"
             "(a + 3)//4 - a//4 >= 0");
  proves("a >= 1", "(a + 3)//4 <= a");
  proves("", "Max(a, b) >= a; Max(a, b) >= Min(a, b);"
             "Max(a, b) + Min(a, b) == a + b; Max(a, a + 1) == a + 1");
  proves("a < b", "a < b + 7; a <= b + 7; a != b; b >= 1");
  proves("a >= 2; a != 2; a != 3", "a >= 4");
  proves("u <= a", "u <= a + 3");
  proves("u + v == a; u >= 0; v >= 0", "u <= a; v <= a");
  proves("u % 4 == 0", "(12*u) % 48 == 0; u % 2 == 0");
  proves("2*(h//2) == h", "h % 2 == 0");
  proves("0 <= u; u <= v; v <= 100",
         "u <= 100; v >= 0; Min(u, 100) == u; Max(0, v - Min(100, u)) == v - u;"
         "4*Min(100, u) == 4*u");
  proves("u == (-a) % 4", "u >= 0; u <= 3; (a + u) % 4 == 0; a + u <= a + 3");
}

TEST(Prover, WhatIsUsuallyProved) {
  proves("u < v", "u <= v; u != v");
  proves("4*u < 200", "u <= 49; u < 50");
  proves("a == 2*b", "a % 2 == 0; a//2 == b; a >= b");
  proves("a % 4 == 0", "4*(a//4) == a; a % 2 == 0");
  proves("a == b + c; b == c", "a % 2 == 0; a//2 == b");
  proves("", "a*b*c == c*b*a; (a*b) % 1 == 0");
  proves("b >= 1", "(a*b)//b == a; (a*b) % b == 0");
  proves("a <= 10", "2*a + 1 <= 21; a - u - a == -u");
  proves("a < b; a >= 2", "b >= 3");
}

TEST(Prover, Refutes) {
  refutes("a < b", "a == b; b <= a; b == 0");
  refutes("a % 4 == 1", "a % 2 == 0; a == 2; a == 0");
  refutes("2*a == 3*b", "a == 1; a == b + 3*b + 1");
  refutes("a//2 == 4", "a == 10; a % 16 == 1");
  refutes("(2*u) % (u + v) == 0; (2*u)//(u + v) != 0", "(2*u)//(u + v) == 0");
  refutes("a == 1 or a == 2", "a == 3; a >= 3; a % 3 == 0");
}

TEST(Prover, NeverGuesses) {
  leavesOpen("", "a == 0; a == 1; a >= 1; a != 1; u >= 0; a == b; a < b");
  leavesOpen("a < b", "a + 1 == b; b >= 2");
  leavesOpen("a % 4 == 0", "a % 8 == 0; a >= 1; a//4 == 1");
  leavesOpen("", "a*b == a; a*b >= 1; a*b == 0; (a*b) % 8 == 0; a*a >= a + 1");
  leavesOpen("a != b", "a < b; a >= 1");
  leavesOpen("a == 1 or a == b", "a == 1; a == b");
}

// Products are opaque, but their sign, factors and divisors are known.
TEST(Prover, Products) {
  proves("", "a*b >= 0; a*a >= 0; u*u >= 0; u**4 >= 0");
  proves("a >= 2; b >= 2", "a*b >= 4; a*b >= a; a*b >= b; a*b >= a + b");
  proves("a >= 1; b >= 1", "a*b >= a; a*b >= 1; a*b*c >= c");
  proves("a % 4 == 0", "(a*b) % 4 == 0; (a*b)//4*4 == a*b; (a*b) % 2 == 0");
  proves("a % 2 == 0; b % 2 == 0", "(a*b) % 4 == 0");
  proves("c == a*b; b >= 1", "c//b == a; c % b == 0; c >= a");
  proves("(a*b) % 8 == 0", "(a*b) % 4 == 0; 8*((a*b)//8) == a*b");
  proves("a*b == a; a >= 1", "b == 1");
  proves("a*b == a*c; a >= 1", "b == c");
  proves("a*b >= 1", "a >= 1; b >= 1; a*b != 0");
  proves("a*b <= 64; b >= 2", "a <= 32");
  proves("a <= 4; b <= 5", "a*b <= 20; (a + 1)*(b + 1) <= 30");
  proves("u >= 3; v <= -1", "u*v <= -3");
  proves("", "(a + b)*(a - b) == a*a - b*b; (a + 1)*b == a*b + b");
  proves("a == b", "a*b == b*b; a*b*c == c*a**2");
}

TEST(Prover, DivisionBySymbols) {
  proves("b >= 1", "a % b >= 0; a % b < b; a//b <= a; b*(a//b) <= a;"
                   "b*(a//b) + a % b == a");
  proves("b >= 1; a < b", "a//b == 0; a % b == a");
  proves("b >= 1; a % b == 0", "b*(a//b) == a");
  proves("n >= 1; n <= 3; a == n*4", "a//n == 4; a % n == 0; a <= 12");
}

TEST(Prover, MinMaxNested) {
  proves("a <= b", "Max(a, b) == b; Min(a, b) == a; Max(a, b)//2 == b//2");
  proves("", "Max(1, a) >= 1; Min(a, 5) <= 5; Max(a, b)*2 == Max(2*a, 2*b)");
  proves("", "Min(Max(a, 2), 7) >= 2; Min(Max(a, 2), 7) <= 7");
  proves("a >= 2; a <= 7", "Min(Max(a, 2), 7) == a");
  proves("u <= 4; u >= 0; v >= 0; v <= 5", "Max(u, v) >= 0; Max(u, v) <= 5");
}

TEST(Prover, Disjunctions) {
  proves("a == 64 or a == 128 or a == 256",
         "a % 64 == 0; a >= 64; a <= 256; a != 192");
  proves("a == 1 or a == 2 or a == 4; a != 2; a > 1", "a == 4");
  proves("a == 1 or a == b; a >= 2", "a == b");
  proves("a <= 1 or a >= 5; a >= 2", "a >= 5");
  proves("a % 4 == 0 or a % 6 == 0", "a % 2 == 0");
  proves("", "a == 0 or a >= 1; a % 2 == 0 or a % 2 == 1");
}

// Contradictory facts need not be noticed, but nothing is decided wrongly.
TEST(Prover, Contradictions) {
  Prover p;
  EXPECT_TRUE(p.facts.assume(p.parse("a < b")));
  EXPECT_FALSE(p.facts.assume(p.parse("b <= a")));
  EXPECT_TRUE(p.facts.contradictory());
}

// Overflow: bounds beyond 64 bits become none.
TEST(Prover, LargeNumbers) {
  proves("", "a + 9223372036854775807 >= a");
  proves("a >= 4611686018427387904; b >= 4611686018427387904", "a*b >= 5");
  leavesOpen("", "a*9223372036854775807 >= 5");
  proves("a <= 9223372036854775806", "a != 9223372036854775807");
  refutes("u >= -9223372036854775806", "u == -9223372036854775807");
}

TEST(Prover, CommonQuestionsNeedNoEmptinessTest) {
  Prover p;
  for (SymExpr fact : p.list("a % 8 == 0; a >= 8; b == a; c == 2*b + 1"))
    p.facts.assume(fact);
  for (SymExpr q : p.list("a == b; a == 1; a >= 1; a*h == b*h; a % 4 == 0;"
                          "c % 2 == 1; (a*h) % 8 == 0; a//2 + 1 >= 1; h == 1"))
    p.facts.query(q);
  EXPECT_EQ(p.facts.counters().byEmptiness, 0u);
}

} // namespace
