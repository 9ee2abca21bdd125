//===- ProverSpeed.cpp - What a question costs -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints nanoseconds for each kind of question; compiler/shape/README.md has
// what it printed. No test: it has no opinion on the figures.

#include "compiler/shape/ShapeEnv.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace ft;

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned kRuns = 15;

struct Bench {
  SymContext ctx;

  SymExpr parse(llvm::StringRef text) {
    return llvm::cantFail(ctx.parse(text));
  }

  FactBase base(unsigned symbols) {
    static constexpr int64_t hints[] = {8, 3, 40, 7, 12, 5};
    FactBase facts(ctx);
    for (unsigned i = 0; i < symbols; ++i)
      facts.declare(ctx.symbol(("s" + llvm::Twine(i)).str()), {1, 512},
                    hints[i]);
    return facts;
  }

  /// The median of several runs of `action`, each `count` times; what `prepare`
  /// makes is not counted.
  template <typename Prepare, typename Action>
  void measure(const char *what, unsigned count, Prepare prepare,
               Action action) {
    std::vector<double> times;
    times.reserve(kRuns);
    for (unsigned run = 0; run < kRuns; ++run) {
      auto state = prepare();
      Clock::time_point start = Clock::now();
      for (unsigned i = 0; i < count; ++i)
        action(state, i);
      std::chrono::duration<double, std::nano> spent = Clock::now() - start;
      times.push_back(spent.count() / count);
    }
    std::sort(times.begin(), times.end());
    std::printf("%-52s %9.0f ns\n", what, times[times.size() / 2]);
  }
};

} // namespace

int main() {
  Bench b;
  SymContext &ctx = b.ctx;
  constexpr unsigned kCount = 400;
  // Questions that differ, so that none is answered from memory; interned
  // before, as the rule's own arithmetic does.
  auto numbered = [&](auto make) {
    std::vector<SymExpr> list;
    list.reserve(kCount);
    for (unsigned i = 0; i < kCount; ++i)
      list.push_back(make(static_cast<int64_t>(i)));
    return list;
  };
  SymExpr s0 = b.parse("s0"), s1 = b.parse("s1"), s2 = b.parse("s2");
  auto fresh = [&] { return b.base(3); };
  auto related = [&] {
    FactBase facts = b.base(6);
    for (const char *fact : {"s0 % 8 == 0", "s1 < s2", "s3 == 2*s1 + 1",
                             "s4 <= s2 + 5", "s5 != 7"})
      facts.assume(b.parse(fact));
    return facts;
  };
  auto ask = [](std::vector<SymExpr> list) {
    return [list](FactBase &facts, unsigned i) { facts.query(list[i]); };
  };

  b.measure(
      "make s0 + i == s1 (canonical form, interned)", kCount, [] { return 0; },
      [&](int, unsigned i) {
        ctx.eq(s0 + (static_cast<int64_t>(i) + 1000), s1);
      });
  b.measure("make and ask s0 == s0 (canonical form)", kCount, fresh,
            [&](FactBase &facts, unsigned) { facts.query(ctx.eq(s0, s0)); });
  b.measure(
      "ask again (remembered)", kCount, fresh,
      [&, q = ctx.eq(s0, s1)](FactBase &facts, unsigned) { facts.query(q); });
  b.measure("s0 <= 600 + i (interval)", kCount, fresh,
            ask(numbered(
                [&](int64_t i) { return ctx.le(s0, ctx.constant(600 + i)); })));
  b.measure("s0 == 1 + i (interval, open)", kCount, fresh,
            ask(numbered(
                [&](int64_t i) { return ctx.eq(s0, ctx.constant(i + 1)); })));
  b.measure("s0*s1 + i >= 1 (interval of a product)", kCount, fresh,
            ask(numbered([&](int64_t i) {
              return ctx.ge(s0 * s1 + i, ctx.constant(1));
            })));
  b.measure("s3 == 2*s1 + 1 + i under s3 == 2*s1 + 1 (solved)", kCount, related,
            ask(numbered([&](int64_t i) {
              return ctx.eq(b.parse("s3"), s1 * 2 + (1 + i));
            })));
  b.measure("(s1 + i)//4 <= (s2 + i)//4 (isolated, form)", 40, related,
            ask(numbered([&](int64_t i) {
              return ctx.le(ctx.floorDiv(s1 + i, ctx.constant(4)),
                            ctx.floorDiv(s2 + i, ctx.constant(4)));
            })));
  b.measure("s1 < s2 + i under s1 < s2 (form)", kCount, related,
            ask(numbered([&](int64_t i) { return ctx.lt(s1, s2 + i); })));
  b.measure("s1 + i == s2 under s1 < s2 (models, emptiness)", kCount, related,
            ask(numbered([&](int64_t i) { return ctx.eq(s1 + (i + 1), s2); })));
  b.measure("(s1 + i)//4 < (s2 + i)//4 + 1 + s5 (emptiness)", 40, related,
            ask(numbered([&](int64_t i) {
              return ctx.le(ctx.floorDiv(s1 + i, ctx.constant(4)) * 3,
                            ctx.floorDiv(s2 + i, ctx.constant(4)) * 3 +
                                ctx.floorDiv(s2, ctx.constant(5)));
            })));
  b.measure("add s0 <= 500 - i", 100, related,
            [&](FactBase &facts, unsigned i) {
              facts.assume(ctx.le(s0, ctx.constant(500 - int64_t(i))));
            });
  return 0;
}
