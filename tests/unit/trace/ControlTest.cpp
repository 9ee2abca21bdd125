//===- ControlTest.cpp - Branches and loops in a trace ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace.h"

#include "compiler/driver/Session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ft;
using testing::HasSubstr;

namespace {
struct Control : testing::Test {
  FakeMode mode;
  FakeMode::Scope scope{mode};
  Tensor x = mode.input("x", {4, 3});
  Tensor w = mode.parameter("w", {3, 3});

  /// What was traced is a module that the compiler takes.
  void expectSound() {
    ASSERT_TRUE(mode.ok()) << mode.error().render();
    Session session, again;
    ASSERT_TRUE(session.load(mode));
    bool read = again.loadText(session.print(), "trace.mlir");
    ASSERT_TRUE(read) << again.diagnostics()[0].render();
    EXPECT_EQ(again.print(), session.print());
  }
};
} // namespace

TEST_F(Control, Cond) {
  Tensors y = cond(
      x.sum() > 0, {x},
      [](const Tensors &in) { return std::vector{in[0].sin()}; },
      [](const Tensors &in) { return std::vector{in[0] + 1}; });
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].str(), "float32 [4, 3] cpu");
  EXPECT_FALSE(y[0].requires_grad());
  mode.output("y", y[0]);
  expectSound();
}

TEST_F(Control, RegionsCaptureWhatTheyUse) {
  Tensor v = mode.input("v", {3, 3});
  Tensors y = cond(
      x.sum() > 0, {},
      [&](const Tensors &) { return std::vector{x.mm(w).relu()}; },
      [&](const Tensors &) {
        // Through two regions.
        Tensors inner = cond(
            x.mean() > 1, {},
            [&](const Tensors &) { return std::vector{x.mm(v)}; },
            [&](const Tensors &) { return std::vector{x * 2}; });
        return std::vector{inner[0].exp()};
      });
  EXPECT_EQ(y[0].str(), "float32 [4, 3] cpu");
  EXPECT_TRUE(y[0].requires_grad()) << "w is captured";
  mode.output("y", y[0]);
  expectSound();
}

TEST_F(Control, While) {
  Tensor start = ops::zeros({}, kInt64);
  Tensors y = while_loop(
      {start, x}, [](const Tensors &in) { return std::vector{in[0] < 5}; },
      [&](const Tensors &in) { return std::vector{in[0] + 1, in[1].mm(w)}; });
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(y[0].str(), "int64 [] cpu");
  EXPECT_EQ(y[1].str(), "float32 [4, 3] cpu");
  mode.output("n", y[0]);
  mode.output("y", y[1]);
  expectSound();
}

TEST_F(Control, Scan) {
  Tensor state = ops::zeros({3});
  Tensors y = scan({state}, {x}, [&](const Tensors &in) {
    Tensor next = (in[0] + in[1]).tanh();
    return std::vector{next, next * 2};
  });
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(y[0].str(), "float32 [3] cpu");
  EXPECT_EQ(y[1].str(), "float32 [4, 3] cpu");
  mode.output("y", y[1]);
  expectSound();
}

TEST_F(Control, BranchesMustAgree) {
  Tensors y = cond(
      x.sum() > 0, {x},
      [](const Tensors &in) { return std::vector{in[0].sin()}; },
      [](const Tensors &in) { return std::vector{in[0] > 0}; });
  EXPECT_FALSE(y[0].ok());
  EXPECT_THAT(mode.error().message, HasSubstr("do not agree"));
  EXPECT_EQ(mode.numOperations(), 4u) << "the op itself is taken back";
}

TEST_F(Control, WhatARegionMadeIsGoneBehindIt) {
  Tensor kept;
  Tensors y = cond(
      x.sum() > 0, {x},
      [&](const Tensors &in) { return std::vector{kept = in[0].sin()}; },
      [](const Tensors &in) { return std::vector{in[0].cos()}; });
  EXPECT_TRUE(y[0].ok());
  EXPECT_EQ(kept.name(), "");
  EXPECT_FALSE((kept + 1).ok());
  EXPECT_THAT(mode.error().message,
              HasSubstr("was made inside of a branch or loop that is over"));
}

TEST_F(Control, RegionsDoNotWriteWhatTheyCapture) {
  auto writes = [&](const std::function<void(Tensor)> &write) {
    FakeMode::Pause pause;
    FakeMode inner;
    FakeMode::Scope scope(inner);
    Tensor z = inner.input("z", {4, 3}), outside = z + 1;
    cond(
        z.sum() > 0, {z},
        [&](const Tensors &in) {
          write(outside);
          return std::vector{in[0] + 1};
        },
        [](const Tensors &in) { return std::vector{in[0] + 2}; });
    return inner.ok() ? "" : inner.error().message;
  };
  EXPECT_THAT(writes([](Tensor t) { t.add_(1); }),
              HasSubstr("aten.add_.Scalar in 'then' writes argument 1, which "
                        "comes from outside ft.cond 'cond'"));
  // Through a view, and metadata alone.
  EXPECT_THAT(writes([](Tensor t) { t[0].relu_(); }),
              HasSubstr("aten.relu_.default in 'then' writes argument 1"));
  EXPECT_THAT(writes([](Tensor t) { t.t_(); }),
              HasSubstr("aten.t_.default in 'then' writes argument 1"));
  EXPECT_EQ(writes([](Tensor t) { (t + 1).add_(1); }), "");
}

TEST_F(Control, DoNotNestWithoutEnd) {
  std::function<Tensor(Tensor, int)> nest = [&](const Tensor &t, int depth) {
    if (depth == 0)
      return t + 1;
    return cond(
        t.sum() > 0, {t},
        [&](const Tensors &in) { return std::vector{nest(in[0], depth - 1)}; },
        [](const Tensors &in) { return std::vector{in[0] + 2}; })[0];
  };
  EXPECT_TRUE(nest(x, 50).ok());
  mode.output("y", nest(x, 50));
  expectSound();
  EXPECT_FALSE(nest(x, 300).ok());
  EXPECT_EQ(mode.error().message,
            "branches and loops are nested deeper than 200 levels");
}

TEST_F(Control, OutputsAreNamedOutsideOfRegions) {
  Tensor kept;
  Tensors y = cond(
      x.sum() > 0, {x},
      [&](const Tensors &in) {
        kept = in[0].sin();
        mode.output("inner", kept);
        mode.output("outer", x);
        return std::vector{kept};
      },
      [](const Tensors &in) { return std::vector{in[0].cos()}; });
  EXPECT_TRUE(y[0].ok());
  EXPECT_EQ(mode.error().id, DiagId::TraceMisuse);
  EXPECT_EQ(mode.error().message,
            "the output 'inner' is named inside of a branch or loop");
  EXPECT_EQ(mode.errorCount(), 2u);
  mode.output("late", kept);
  EXPECT_EQ(mode.errorCount(), 3u);
  EXPECT_THAT(mode.print(), HasSubstr("ft.cond"));
}

TEST_F(Control, ExceptionsLeaveTheModeAsItWas) {
  Tensor positive = x.sum() > 0;
  auto fine = [](const Tensors &in) { return std::vector{in[0].cos()}; };
  auto throws = [&](const Tensors &in) -> std::vector<Tensor> {
    // From two regions deep, behind operations and a capture.
    Tensors inner = cond(positive, {in[0]}, fine,
                         [&](const Tensors &deep) -> std::vector<Tensor> {
                           (void)(deep[0].exp().mm(w) + x);
                           throw 3;
                         });
    return inner.vector();
  };
  EXPECT_THROW(cond(positive, {x}, throws, fine), int);
  EXPECT_THROW(cond(positive, {x}, fine, throws), int);
  EXPECT_THROW(while_loop({x}, throws, fine), int);
  EXPECT_THROW(scan({x}, {x}, throws), int);
  EXPECT_TRUE(mode.ok());
  mode.output("z", x.relu());
  expectSound();
  EXPECT_THAT(mode.print(), Not(HasSubstr("ft.cond")));
}

TEST_F(Control, RegionsMustBeFunctions) {
  auto fine = [](const Tensors &in) { return std::vector{in[0].cos()}; };
  EXPECT_FALSE(cond(x.sum() > 0, {x}, fine, Region())[0].ok());
  EXPECT_EQ(mode.error().id, DiagId::FakeOther);
  EXPECT_EQ(mode.error().message, "a region of cond is no function");
  EXPECT_FALSE(while_loop({x}, Region(), fine)[0].ok());
  EXPECT_FALSE(scan({x}, {x}, Region())[0].ok());
  EXPECT_EQ(mode.errorCount(), 3u);
  EXPECT_TRUE((x + 1).ok());
}
