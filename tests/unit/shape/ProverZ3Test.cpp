//===- ProverZ3Test.cpp - The prover against z3 ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random affine facts and questions over symbols of large and unbounded ranges,
// which enumeration cannot reach. Proved and Refuted must agree with z3; how
// often an answer was missed is printed. FORETRACE_SEED and FORETRACE_ROUNDS
// choose other tests. Built where z3 is found.

#include "gtest/gtest.h"

#include "compiler/shape/FactBase.h"
#include "tests/unit/shape/RandomPredicates.h"

#include <cstdio>
#include <z3++.h>

using namespace ft;

namespace {

class ToZ3 {
public:
  explicit ToZ3(z3::context &context) : z(context) {}

  z3::expr integer(SymExpr e) {
    llvm::ArrayRef<SymTerm> terms = e.terms();
    switch (e.kind()) {
    case SymKind::Const:
      return z.int_val(e.constant());
    case SymKind::Symbol:
      return z.int_const(e.name().str().c_str());
    case SymKind::Add: {
      z3::expr sum = z.int_val(e.constant());
      for (const SymTerm &term : terms)
        sum = sum + z.int_val(term.k) * integer(term.expr);
      return sum;
    }
    // z3's quotients and remainders by positive numbers round as ours.
    case SymKind::FloorDiv:
      return integer(terms[0].expr) / integer(terms[1].expr);
    case SymKind::Mod:
      return z3::mod(integer(terms[0].expr), integer(terms[1].expr));
    case SymKind::Min:
    case SymKind::Max: {
      z3::expr best = integer(terms[0].expr);
      for (const SymTerm &term : terms.drop_front()) {
        z3::expr other = integer(term.expr);
        best = z3::ite(e.kind() == SymKind::Min ? other < best : other > best,
                       other, best);
      }
      return best;
    }
    default:
      ADD_FAILURE() << "not affine: " << e.str();
      return z.int_val(0);
    }
  }
  z3::expr predicate(SymExpr e) {
    switch (e.kind()) {
    case SymKind::Bool:
      return z.bool_val(e.isTrue());
    case SymKind::Le:
      return integer(e.terms()[0].expr) <= 0;
    case SymKind::Eq:
      return integer(e.terms()[0].expr) == 0;
    case SymKind::Ne:
      return integer(e.terms()[0].expr) != 0;
    default: {
      bool isAnd = e.kind() == SymKind::And;
      z3::expr all = z.bool_val(isAnd);
      for (const SymTerm &term : e.terms())
        all = isAnd ? all && predicate(term.expr) : all || predicate(term.expr);
      return all;
    }
    }
  }

private:
  z3::context &z;
};

/// Sizes, data, and bounded numbers small and large.
Interval anyRange(RandomPredicates &make) {
  switch (make.number(0, 5)) {
  case 0:
    return {};
  case 1:
    return Interval::atLeast(0);
  case 2:
    return Interval::atLeast(make.number(1, 4));
  case 3:
    return Interval::atMost(make.number(-5, 100));
  case 4:
    return {make.number(-50, 0), make.number(1, 4096)};
  default:
    return {2, int64_t(1) << make.number(20, 50)};
  }
}

TEST(ProverZ3, AffineAgreesWithZ3) {
  uint64_t seed = setting("FORETRACE_SEED", 1);
  uint64_t rounds = setting("FORETRACE_ROUNDS", 60);
  uint64_t asked = 0, decidable = 0, missed = 0, skipped = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    SymContext ctx;
    RandomPredicates make(ctx, seed + round, /*affineOnly=*/true);
    FactBase base(ctx);
    z3::context z;
    ToZ3 convert(z);
    z3::solver solver(z);
    z3::params params(z);
    params.set("timeout", 1000u);
    solver.set(params);
    std::string story;
    for (SymExpr symbol : make.symbols) {
      Interval range = anyRange(make);
      base.declare(symbol, range,
                   range.lo != Interval::kMin ? range.lo : range.hi);
      if (range.lo != Interval::kMin)
        solver.add(convert.integer(symbol) >= z.int_val(range.lo));
      if (range.hi != Interval::kMax)
        solver.add(convert.integer(symbol) <= z.int_val(range.hi));
      story += symbol.str() + " in " + range.str() + "; ";
    }
    for (int64_t i = make.number(0, 4); i > 0; --i) {
      SymExpr fact = make.predicate();
      base.assume(fact);
      solver.add(convert.predicate(fact));
      story += fact.str() + "; ";
    }
    z3::check_result possible = solver.check();
    if (possible == z3::unsat)
      continue;
    if (possible == z3::sat) {
      ASSERT_FALSE(base.contradictory()) << "round " << round << ": " << story;
    }
    for (unsigned i = 0; i < 6; ++i) {
      SymExpr question = make.question();
      Answer answer = base.query(question);
      ++asked;
      auto with = [&](const z3::expr &e) {
        solver.push();
        solver.add(e);
        z3::check_result result = solver.check();
        solver.pop();
        return result;
      };
      z3::check_result holds = with(convert.predicate(question));
      z3::check_result fails = with(!convert.predicate(question));
      std::string what = "round " + std::to_string(round) + ": " + story +
                         "|- " + question.str();
      if (answer == Answer::Proved) {
        ASSERT_NE(fails, z3::sat) << what << " proved";
      }
      if (answer == Answer::Refuted) {
        ASSERT_NE(holds, z3::sat) << what << " refuted";
      }
      if (holds == z3::unknown || fails == z3::unknown) {
        ++skipped;
        continue;
      }
      if (holds == z3::sat && fails == z3::sat)
        continue;
      ++decidable;
      if (answer == Answer::Unknown) {
        ++missed;
        if (missed <= 5)
          std::printf("missed: %s\n", what.c_str());
      }
    }
  }
  std::printf("seed %llu: %llu questions, %llu decidable, %llu missed "
              "(%.2f %%), %llu given up by z3\n",
              static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(asked),
              static_cast<unsigned long long>(decidable),
              static_cast<unsigned long long>(missed),
              decidable ? 100.0 * missed / decidable : 0.0,
              static_cast<unsigned long long>(skipped));
  EXPECT_LE(missed * 100, decidable);
}

} // namespace
