//===- ProverRandomTest.cpp - The prover against enumeration ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random facts and questions over three symbols of small ranges, decided by
// trying every assignment. Proved and Refuted must agree with that; how often
// an answer was missed is printed. FORETRACE_SEED and FORETRACE_ROUNDS choose
// other tests.

#include "gtest/gtest.h"

#include "compiler/shape/FactBase.h"
#include "tests/unit/shape/RandomPredicates.h"

#include <cstdio>

using namespace ft;

namespace {

struct Tally {
  uint64_t asked = 0, decidable = 0, missed = 0, sets = 0, emptySets = 0;
};

/// All assignments of a, b, c in a box.
template <typename Visit>
void enumerate(const Interval (&box)[3], Visit visit) {
  for (int64_t a = box[0].lo; a <= box[0].hi; ++a)
    for (int64_t b = box[1].lo; b <= box[1].hi; ++b)
      for (int64_t c = box[2].lo; c <= box[2].hi; ++c) {
        const int64_t values[3] = {a, b, c};
        visit([&values](llvm::StringRef name, int64_t &v) {
          v = values[name[0] - 'a'];
          return true;
        });
      }
}

Tally compare(uint64_t seed, uint64_t rounds, bool affine) {
  Tally tally;
  for (uint64_t round = 0; round < rounds; ++round) {
    SymContext ctx;
    RandomPredicates make(ctx, seed + round, affine);
    FactBase base(ctx);
    Interval box[3];
    for (unsigned i = 0; i < 3; ++i) {
      int64_t low = make.number(-3, 3);
      box[i] = {low, low + make.number(0, 9)};
      base.declare(make.symbols[i], box[i], make.number(low, box[i].hi));
    }
    std::vector<SymExpr> facts, questions;
    for (int64_t i = make.number(0, 3); i > 0; --i)
      facts.push_back(make.predicate());
    for (unsigned i = 0; i < 6; ++i)
      questions.push_back(make.question());

    // By enumeration: whether each question is true, false somewhere.
    bool satisfiable = false;
    std::vector<std::pair<bool, bool>> seen(questions.size());
    enumerate(box, [&](auto lookup) {
      for (SymExpr fact : facts) {
        SymValue v = SymContext::evaluate(fact, lookup);
        if (!v || !v.value)
          return;
      }
      satisfiable = true;
      for (size_t i = 0; i < questions.size(); ++i)
        if (SymValue v = SymContext::evaluate(questions[i], lookup))
          (v.value ? seen[i].first : seen[i].second) = true;
    });

    std::string story;
    for (unsigned i = 0; i < 3; ++i)
      story += make.symbols[i].str() + " in " + box[i].str() + "; ";
    for (SymExpr fact : facts) {
      base.assume(fact);
      story += fact.str() + "; ";
    }
    ++tally.sets;
    if (!satisfiable) {
      ++tally.emptySets;
      continue;
    }
    EXPECT_FALSE(base.contradictory()) << "round " << round << ": " << story;
    for (size_t i = 0; i < questions.size(); ++i) {
      auto [canHold, canFail] = seen[i];
      Answer answer = base.query(questions[i]);
      ++tally.asked;
      std::string what = "round " + std::to_string(round) + ": " + story +
                         "|- " + questions[i].str();
      if (answer == Answer::Proved) {
        EXPECT_FALSE(canFail) << what << " proved";
      }
      if (answer == Answer::Refuted) {
        EXPECT_FALSE(canHold) << what << " refuted";
      }
      if (canHold && canFail)
        continue;
      ++tally.decidable;
      if (answer == Answer::Unknown) {
        ++tally.missed;
        if (affine && tally.missed <= 5)
          std::printf("missed: %s\n", what.c_str());
      }
      Interval range = base.bounds(ctx.symbol("a"));
      EXPECT_FALSE(range.empty()) << what;
      if (::testing::Test::HasFailure())
        return tally;
    }
  }
  return tally;
}

void report(const char *kind, uint64_t seed, const Tally &t) {
  std::printf("%s, seed %llu: %llu questions about %llu sets of facts (%llu of "
              "them empty), %llu decidable, %llu missed (%.2f %%)\n",
              kind, static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(t.asked),
              static_cast<unsigned long long>(t.sets),
              static_cast<unsigned long long>(t.emptySets),
              static_cast<unsigned long long>(t.decidable),
              static_cast<unsigned long long>(t.missed),
              t.decidable ? 100.0 * t.missed / t.decidable : 0.0);
}

TEST(ProverRandom, AffineAgreesWithEnumeration) {
  uint64_t seed = setting("FORETRACE_SEED", 1);
  Tally tally = compare(seed, setting("FORETRACE_ROUNDS", 1500), true);
  report("affine", seed, tally);
  EXPECT_LE(tally.missed * 200, tally.decidable); // at most one in 200
}

TEST(ProverRandom, NonlinearAgreesWithEnumeration) {
  uint64_t seed = setting("FORETRACE_SEED", 1);
  Tally tally = compare(seed, setting("FORETRACE_ROUNDS", 1500), false);
  report("nonlinear", seed, tally);
}

} // namespace
