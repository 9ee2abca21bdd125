//===- ShapeEnvTest.cpp - Guards of small programs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rules of operators ask, written out for small programs, and the
// guards that are left: each program needs exactly those listed.

#include "compiler/shape/ShapeEnv.h"

#include "gtest/gtest.h"

#include "llvm/Support/Error.h"

using namespace ft;

namespace {

struct ShapeEnvTest : ::testing::Test {
  SymContext ctx;
  ShapeEnv env{ctx};

  SymExpr parse(llvm::StringRef text) {
    llvm::Expected<SymExpr> e = ctx.parse(text);
    if (e)
      return *e;
    ADD_FAILURE() << text.str() << ": " << llvm::toString(e.takeError());
    return {};
  }
  /// A size of an input: any from 0 unless said otherwise.
  SymExpr size(llvm::StringRef name, int64_t hint,
               Interval range = Interval::atLeast(0)) {
    SymbolInfo info;
    info.input = "x";
    info.dim = static_cast<int64_t>(env.symbols().size());
    info.hint = hint;
    info.range = range;
    return env.addInputSize(name, info);
  }
  SymExpr data(llvm::StringRef name, Interval range = {}) {
    return env.addUnbacked(range, {"item", "model.py:1"}, name);
  }

  /// Asks as a rule does that must know.
  bool decide(llvm::StringRef predicate, llvm::StringRef op = "op") {
    Decision d = env.decide(parse(predicate), {op.str(), "model.py:7"});
    EXPECT_TRUE(bool(d)) << predicate.str();
    return d.value;
  }
  void proved(llvm::StringRef predicate) {
    EXPECT_EQ(env.query(parse(predicate)), Answer::Proved) << predicate.str();
  }
  void refuted(llvm::StringRef predicate) {
    EXPECT_EQ(env.query(parse(predicate)), Answer::Refuted) << predicate.str();
  }
  void open(llvm::StringRef predicate) {
    EXPECT_EQ(env.query(parse(predicate)), Answer::Unknown) << predicate.str();
  }
  void simplifies(llvm::StringRef from, llvm::StringRef to) {
    EXPECT_EQ(env.simplify(parse(from)).str(), parse(to).str()) << from.str();
  }
  /// Broadcasting as elementwise rules ask it: equal, or one of them is 1.
  void broadcast(llvm::StringRef a, llvm::StringRef b) {
    SymExpr x = parse(a), y = parse(b), one = ctx.constant(1);
    EXPECT_TRUE(env.choose({ctx.eq(x, y), ctx.eq(x, one), ctx.eq(y, one)},
                           {"add", "model.py:5"}))
        << a.str() << ", " << b.str();
  }
  /// view or reshape of `numel` elements to sizes of which one is -1: the
  /// others multiply to `known`.
  SymExpr inferred(llvm::StringRef numel, llvm::StringRef known) {
    SymExpr n = parse(numel), k = parse(known);
    Decision d = env.decide(ctx.eq(ctx.mod(n, k), ctx.constant(0)),
                            {"view", "model.py:3"});
    EXPECT_TRUE(d.value);
    return env.simplify(ctx.floorDiv(n, k));
  }
  /// The required guards.
  std::string guards() {
    std::string text;
    for (const GuardStatus &status : env.minimalGuards())
      if (status.required)
        text += (text.empty() ? "" : "; ") + status.guard->predicate.str();
    return text;
  }
};

TEST_F(ShapeEnvTest, ProvedAndRefutedAddNothing) {
  size("a", 8);
  EXPECT_TRUE(decide("a >= 0"));
  EXPECT_FALSE(decide("a == -1"));
  EXPECT_TRUE(decide("(4*a) % 2 == 0"));
  EXPECT_EQ(guards(), "");
  open("a == 8"); // the hint is no fact
}

TEST_F(ShapeEnvTest, GuardsTellWhoAsked) {
  size("a", 8);
  Decision d = env.decide(parse("a % 4 == 0"), {"view", "model.py:3"});
  EXPECT_EQ(d.how, Decision::Guarded);
  EXPECT_TRUE(d.value);
  ASSERT_TRUE(d.guard);
  EXPECT_EQ(d.guard->id, "g0");
  EXPECT_EQ(d.guard->origin.op, "view");
  EXPECT_EQ(d.guard->origin.source, "model.py:3");
  EXPECT_EQ(env.guard("g0"), d.guard);
  EXPECT_EQ(env.guard("g7"), nullptr);
  EXPECT_EQ(env.decide(parse("a == 3"), {}).how, Decision::Refuted);
  EXPECT_EQ(env.decide(parse("a % 2 == 0"), {}).how, Decision::Proved);
  ASSERT_EQ(env.facts().size(), 1u);
  EXPECT_EQ(env.facts()[0].kind, ShapeEnv::FactKind::Guard);
}

TEST_F(ShapeEnvTest, DataBecomesAssertions) {
  size("a", 8);
  data("u", Interval::atLeast(0));
  EXPECT_EQ(env.branch(parse("u == 0"), {}).how, Decision::Undecided);
  EXPECT_TRUE(env.decideOr(parse("u == 0"), true, {}));
  EXPECT_FALSE(env.decideOr(parse("u == 0"), false, {}));
  EXPECT_TRUE(env.guards().empty());
  Decision d = env.decide(parse("u <= a"), {"slice", "model.py:9"});
  EXPECT_EQ(d.how, Decision::Asserted);
  EXPECT_EQ(d.guard->id, "a0");
  EXPECT_TRUE(d.guard->atRunTime);
  proved("u <= a + 3");
  EXPECT_EQ(env.facts()[0].kind, ShapeEnv::FactKind::Assertion);
}

TEST_F(ShapeEnvTest, RequireHoldsEvenAgainstTheHint) {
  size("a", 8);
  Decision d = env.require(parse("a <= 4"), {"check", ""});
  EXPECT_EQ(d.how, Decision::Guarded);
  EXPECT_FALSE(d.value); // the example fails it
  proved("a <= 4");
  EXPECT_EQ(env.require(parse("a == 9"), {}).how, Decision::Refuted);
}

//===----------------------------------------------------------------------===//
// Programs and the guards that they need
//===----------------------------------------------------------------------===//

TEST_F(ShapeEnvTest, AddToConstantSize) { // x + ones(5)
  size("b", 5);
  broadcast("b", "5");
  EXPECT_EQ(guards(), "b == 5");
}
TEST_F(ShapeEnvTest, SizeOneStaysFree) { // x + 1 with x: (1, 3)
  size("b", 1);
  proved("b*3 >= 0");
  EXPECT_EQ(guards(), "");
}
TEST_F(ShapeEnvTest, UnrelatedEqualHints) { // f(x, y) then x + y, both of 5
  size("a", 5);
  size("b", 5);
  open("a == b");
  broadcast("a", "b");
  EXPECT_EQ(guards(), "a == b");
  proved("a*7 == b*7");
}
TEST_F(ShapeEnvTest, BroadcastsOnlyWhatIsNeeded) { // x (1,) + y (5,)
  size("a", 1);
  size("b", 5);
  broadcast("a", "b");
  EXPECT_EQ(guards(), "a == 1"); // not a != b, nor b != 1
}
TEST_F(ShapeEnvTest, BroadcastOfData) { // masks of one tensor, of two tensors
  data("u", Interval::atLeast(0));
  data("v", Interval::atLeast(0));
  broadcast("u", "u");
  EXPECT_EQ(guards(), "");
  broadcast("u", "v");
  EXPECT_EQ(guards(), "u == v");
  EXPECT_FALSE(env.choose({parse("u == -1"), parse("v == -2")}, {}));
}
TEST_F(ShapeEnvTest, ViewByFour) { // x.view(-1, 4)
  size("a", 8);
  EXPECT_EQ(inferred("a", "4").str(), "a//4");
  EXPECT_EQ(guards(), "a % 4 == 0");
  proved("4*(a//4) == a");
}
TEST_F(ShapeEnvTest, BranchOnSize) { // if x.size(0) <= 16
  size("a", 8);
  EXPECT_TRUE(decide("a <= 16"));
  EXPECT_EQ(guards(), "a <= 16");
}
TEST_F(ShapeEnvTest, SliceThenAdd) { // x[1:] + y
  size("a", 5, Interval::atLeast(1));
  size("b", 4);
  broadcast("a - 1", "b");
  EXPECT_EQ(guards(), "a == b + 1");
}
TEST_F(ShapeEnvTest, ConcatenateThenAdd) { // cat(x, y) + z
  size("a", 5);
  size("b", 4);
  size("z", 9);
  broadcast("a + b", "z");
  EXPECT_EQ(guards(), "a + b == z");
}
TEST_F(ShapeEnvTest, ViewOfTwoSizes) { // x.view(-1, 8) of (4, 6)
  size("a", 4);
  size("b", 6);
  inferred("a*b", "8");
  proved("8*((a*b)//8) == a*b");
  EXPECT_EQ(guards(), "(a*b) % 8 == 0");
}
TEST_F(ShapeEnvTest, HalvesAdded) { // n = x.size(0)//2; x[:n] + x[n:]
  size("a", 8);
  simplifies("Min(a//2, a)", "a//2");
  broadcast("a//2", "a - a//2");
  EXPECT_EQ(guards(), "a % 2 == 0");
}
TEST_F(ShapeEnvTest, ChunksAdded) { // a, b = x.chunk(2); a + b
  size("a", 8);
  // Two chunks of (a + 1)//2 and the rest, if there is a rest.
  decide("a - (a + 1)//2 >= 1");
  broadcast("(a + 1)//2", "a - (a + 1)//2");
  EXPECT_EQ(guards(), "a >= 2; a % 2 == 0");
  open("a == 8");
}
TEST_F(ShapeEnvTest, PoolThenAdd) { // max_pool1d(2) + ones(4)
  size("a", 8, Interval::atLeast(2));
  broadcast("(a - 2)//2 + 1", "4");
  EXPECT_EQ(env.tightBounds(parse("a")), (Interval{8, 9}));
}
TEST_F(ShapeEnvTest, Arange) { // arange(0, a, 2)
  size("a", 8);
  simplifies("Max(0, CeilDiv(a, 2))", "(a + 1)//2");
  EXPECT_EQ(guards(), "");
}
TEST_F(ShapeEnvTest, Convolution) { // conv2d 3x3 without padding
  size("h", 32);
  decide("h - 2 >= 1", "conv2d");
  EXPECT_EQ(guards(), "h >= 3");
  open("h == 3");
}
TEST_F(ShapeEnvTest, PoolAndInterpolate) { // interpolate(max_pool(x, 2), 2) + x
  size("h", 8, Interval::atLeast(2));
  broadcast("2*((h - 2)//2 + 1)", "h");
  EXPECT_EQ(guards(), "h % 2 == 0");
}
TEST_F(ShapeEnvTest, Unflatten) { // x.unflatten(0, (-1, 2))
  size("a", 8);
  EXPECT_EQ(inferred("a", "2").str(), "a//2");
  EXPECT_EQ(guards(), "a % 2 == 0");
}
TEST_F(ShapeEnvTest, TransposedReshape) { // x.reshape(b, a) of (a, b)
  size("a", 4);
  size("b", 6);
  proved("a*b == b*a");
  EXPECT_EQ(guards(), "");
}
TEST_F(ShapeEnvTest, PadToMultiple) { // pad by (64 - W % 64) % 64
  size("W", 100, {64, 128});
  proved("(64 - W % 64) % 64 >= 0");
  proved("(W + (64 - W % 64) % 64) % 64 == 0");
  EXPECT_EQ(guards(), "");
}
TEST_F(ShapeEnvTest, CeilPool) { // max_pool1d(2, ceil_mode=True), any w >= 1
  size("w", 9, Interval::atLeast(1));
  // The last window must start inside the input.
  proved("((w + 1)//2 - 1)*2 < w");
  EXPECT_EQ(guards(), "");
}
TEST_F(ShapeEnvTest, EverySecondAdded) { // x + y[::2], (4,) and (8,)
  size("a", 4);
  size("b", 8);
  broadcast("a", "(b + 1)//2");
  EXPECT_EQ(guards(), "a == (b + 1)//2");
  open("b >= 3");
}
TEST_F(ShapeEnvTest, ReshapeByTwenty) { // x.reshape(-1, 20) of (a, 10)
  size("a", 1024);
  EXPECT_EQ(inferred("10*a", "20").str(), "a//2");
  proved("20*(a//2) == 10*a");
  EXPECT_EQ(guards(), "a % 2 == 0");
}
TEST_F(ShapeEnvTest, AttentionHeads) {
  // x: (b, s, 16).view(b, s, 4, -1).transpose(1, 2).reshape(b, s, -1)
  size("b", 2);
  size("s", 10);
  decide("b*s != 0", "view"); // -1 is ambiguous for an empty tensor
  simplifies("(16*b*s)//(4*b*s)", "4");
  proved("(16*b*s) % (4*b*s) == 0");
  proved("(16*b*s) % (b*s) == 0");
  EXPECT_EQ(guards(), "b*s != 0");
  open("s == 4");
  proved("b >= 1");
}
TEST_F(ShapeEnvTest, ViewOfMultiple) { // x(5n).view(5, -1)[i] - y(n), n in 1..8
  size("n", 4, {1, 8});
  EXPECT_EQ(inferred("5*n", "5").str(), "n");
  broadcast("n", "n");
  EXPECT_EQ(guards(), "");
  open("n == 1");
}
TEST_F(ShapeEnvTest, CacheWrite) { // cache(8, 4)[:n] = x(n, 4)
  size("n", 8);
  simplifies("Min(n, 8)", "Min(n, 8)");
  broadcast("Min(n, 8)", "n");
  EXPECT_EQ(guards(), "n <= 8");
  simplifies("Min(n, 8)", "n");
}
TEST_F(ShapeEnvTest, PositionTable) { // x(b, s, 4) + pos(10, 4)[:s]
  size("s", 7);
  broadcast("s", "Min(s, 10)");
  EXPECT_EQ(guards(), "s <= 10");
}
TEST_F(ShapeEnvTest, Interpolation) { // interpolate(x, 2) + y
  size("h", 4);
  size("H", 8);
  broadcast("2*h", "H");
  EXPECT_EQ(guards(), "H == 2*h");
}
TEST_F(ShapeEnvTest, DownAndUp) { // conv s2 p1 k3, transposed conv s2 k2, + x
  size("h", 8, Interval::atLeast(1));
  broadcast("2 + 2*((h - 1)//2)", "h");
  EXPECT_EQ(guards(), "h % 2 == 0");
}
TEST_F(ShapeEnvTest, RowsOfProducts) { // (a, b, 2560).reshape(-1, 2560)
  size("a", 3);
  size("b", 5);
  EXPECT_EQ(inferred("a*b*2560", "2560").str(), "a*b");
  EXPECT_EQ(guards(), "");
}
TEST_F(ShapeEnvTest, BroadcastOfQuotients) { // [a/4, 4] * [b/4, 4], a=4, b=8
  size("a", 4);
  size("b", 8);
  decide("a % 4 == 0");
  decide("b % 4 == 0");
  // One question for all that is needed instead of a case.
  decide("a//4 == 1 or b//4 == 1 or a//4 == b//4");
  EXPECT_EQ(guards(), "a % 4 == 0; b % 4 == 0; "
                      "a == 4 or a == b or b == 4");
  open("a == 4");
  proved("a == 4 or b == 4 or a == b");
}
TEST_F(ShapeEnvTest, NegatedSizes) { // if x.size() != (5, 1, 2, 3)
  size("a", 5);
  size("b", 1);
  size("c", 3);
  size("d", 4);
  EXPECT_TRUE(decide("a != 5 or b != 1 or c != 2 or d != 3"));
  EXPECT_EQ(guards(), "a != 5 or b != 1 or c != 2 or d != 3");
  open("a == 5");
  EXPECT_FALSE(decide("a == 5 and b == 1 and c == 2 and d == 3"));
}
TEST_F(ShapeEnvTest, RewrittenSizesAddNothing) { // pad of (1, 3, 3h, 3w) by 1
  size("h", 3);
  size("w", 4);
  simplifies("3*h + 2", "3*h + 2");
  proved("3*h + 2 >= 2");
  EXPECT_EQ(guards(), "");
  EXPECT_TRUE(env.facts().empty());
}

//===----------------------------------------------------------------------===//
// Programs whose sizes are data
//===----------------------------------------------------------------------===//

TEST_F(ShapeEnvTest, OffsetsFromData) { // 0 <= u <= v <= 100: x(100, 4)[u:v]
  data("u");
  data("v");
  for (llvm::StringRef check : {"u >= 0", "u <= v", "v <= 100"})
    EXPECT_TRUE(env.require(parse(check), {"check", ""}).value);
  simplifies("Max(0, v - Min(100, u))", "v - u");
  simplifies("4*Min(100, u)", "4*u");
}
TEST_F(ShapeEnvTest, SplitByData) { // x(10, 2), u + v == 10
  data("u", Interval::atLeast(0));
  data("v", Interval::atLeast(0));
  env.require(parse("u + v == 10"), {"split_with_sizes", ""});
  proved("u <= 10");
  proved("10 - u == v");
}
TEST_F(ShapeEnvTest, SelectByData) { // x[k], 0 <= k < n
  size("n", 6);
  data("k");
  env.require(parse("k >= 0"), {"check", ""});
  env.require(parse("k < n"), {"check", ""});
  proved("k < n and k >= -n");
  refuted("k < 0");
  proved("n >= 1");
}
TEST_F(ShapeEnvTest,
       LargerOfTwoCounts) { // zeros(max(nonzero(x4), nonzero(y5)))
  data("u", {0, 4});
  data("v", {0, 5});
  EXPECT_EQ(env.bounds(parse("Max(u, v)")), (Interval{0, 5}));
}
TEST_F(ShapeEnvTest, LinearInData) { // 256*u == 256
  data("u", Interval::atLeast(0));
  EXPECT_EQ(parse("256*u == 256").str(), "u == 1");
  open("256*u == 256");
  env.enterRegion(parse("u == 1"), {"cond", ""});
  proved("256*u == 256");
  env.leaveRegion();
  env.enterRegion(parse("u != 1"), {"cond", ""});
  refuted("256*u == 256");
  env.leaveRegion();
  open("256*u == 256");
}
TEST_F(ShapeEnvTest, AttentionOnMaskedBatch) { // y = x(5, …)[mask]
  data("u", {0, 5});
  proved("u >= 0 and u <= 5");
  proved("(u*4*8*16)//(u*8) == 64");
  EXPECT_EQ(guards(), "");
}
TEST_F(ShapeEnvTest, DiscreteSizes) { // a dim declared as one of three
  size("a", 128);
  env.declare(parse("a == 64 or a == 128 or a == 256"), {"declared", ""});
  proved("a % 64 == 0");
  EXPECT_EQ(env.tightBounds(parse("a")), (Interval{64, 256}));
  refuted("a == 192");
}
TEST_F(ShapeEnvTest, RemaindersOfRemainders) {
  size("x", 4);
  const int64_t values[] = {0, 128, 256, 0, 128, 256};
  for (int64_t i = 0; i < 6; ++i) {
    SymExpr e =
        ctx.substitute(parse("(128*(x % 3)) % 356"),
                       [&](llvm::StringRef) { return ctx.constant(i); });
    EXPECT_TRUE(e.isConst(values[i])) << e.str();
  }
  proved("(128*(x % 3)) % 356 <= 256");
  proved("(128*(x % 3)) % 356 == 128*(x % 3)");
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

TEST_F(ShapeEnvTest, RegionsForgetTheirFacts) {
  size("a", 8);
  data("u", Interval::atLeast(0));
  env.enterRegion(parse("a >= 10"), {"cond", "model.py:5"});
  proved("a >= 2");
  env.decide(parse("u <= a"), {"slice", ""});
  proved("u <= a");
  env.leaveRegion();
  open("a >= 2");
  open("u <= a"); // the assertion ran only inside
}
TEST_F(ShapeEnvTest, GuardsOutliveTheirRegion) {
  size("a", 8);
  env.enterRegion(parse("a >= 4"), {"cond", ""});
  EXPECT_TRUE(decide("a % 2 == 0"));
  env.leaveRegion();
  open("a % 2 == 0");
  EXPECT_EQ(guards(), "a % 2 == 0 or a <= 3");
  env.enterRegion(parse("a >= 6"), {"cond", ""});
  proved("a % 2 == 0");
  env.leaveRegion();
}
TEST_F(ShapeEnvTest, RegionThatTheExampleDoesNotEnter) {
  size("a", 8);
  env.enterRegion(parse("a >= 10"), {"cond", ""});
  // Decided by some input that does enter, not by the example's 8.
  Decision d = env.decide(parse("a == 8"), {});
  EXPECT_EQ(d.how, Decision::Refuted);
  d = env.decide(parse("a == 12"), {});
  if (d)
    EXPECT_EQ(d.value, env.query(parse("a == 12")) == Answer::Proved);
  env.leaveRegion();
  open("a == 8");
}

//===----------------------------------------------------------------------===//
// Which guards are needed
//===----------------------------------------------------------------------===//

TEST_F(ShapeEnvTest, LaterGuardsImplyEarlierOnes) {
  size("a", 8);
  decide("a != 3");
  decide("a >= 2");
  decide("a % 4 == 0");
  std::vector<GuardStatus> all = env.minimalGuards();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_FALSE(all[0].required);
  ASSERT_EQ(all[0].impliedBy.size(), 1u);
  EXPECT_EQ(all[0].impliedBy[0]->id, "g2");
  EXPECT_TRUE(all[1].required); // 0 is a multiple of 4
  EXPECT_TRUE(all[2].required);
}
TEST_F(ShapeEnvTest, DroppedGuardsAreNoCause) {
  size("a", 8);
  decide("a >= 2");
  decide("a >= 4");
  decide("a == 8");
  std::vector<GuardStatus> all = env.minimalGuards();
  EXPECT_EQ(guards(), "a == 8");
  for (unsigned i : {0, 1}) {
    ASSERT_EQ(all[i].impliedBy.size(), 1u);
    EXPECT_EQ(all[i].impliedBy[0]->id, "g2");
  }
}
TEST_F(ShapeEnvTest, TwoThatImplyOneAnother) {
  size("a", 8);
  size("b", 8);
  size("c", 8);
  decide("a <= b");
  decide("b <= a");
  decide("a == c");
  EXPECT_EQ(guards(), "a <= b; b <= a; a == c");
  decide("b == c");
  EXPECT_EQ(env.guards().size(), 3u); // proved
}

TEST_F(ShapeEnvTest, TextHasTheUsersNames) {
  SymbolInfo info;
  info.userName = "batch";
  info.hint = 4;
  env.addInputSize("s0", info);
  EXPECT_EQ(env.text(parse("s0 % 2 == 0")), "batch % 2 == 0");
}

} // namespace
