//===- TrainingTest.cpp - Programs that are traced and trained -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A C++ program writes a model, says what requires a gradient, and compiles it
// with Options::training. What comes back is compared with what PyTorch's
// autograd gives, worked out by hand.

#include "foretrace/trace.h"

#include "tests/unit/trace/TracedStep.h"

#include <gmock/gmock.h>

using namespace ft;
using testing::ElementsAre;
using testing::FloatNear;
using testing::IsEmpty;
using testing::Pointwise;

namespace {
Tensor parameter(FakeMode &mode, const char *name, const Floats &data,
                 std::vector<int64_t> sizes) {
  return mode.fake(RealTensor(data.data(), std::move(sizes)), name,
                   TensorKind::Parameter);
}
Tensor buffer(FakeMode &mode, const char *name, const Floats &data,
              std::vector<int64_t> sizes) {
  return mode.fake(RealTensor(data.data(), std::move(sizes)), name,
                   TensorKind::Buffer);
}
} // namespace

// loss = mean((x w + b)^2)
TEST(Training, GradientsOfParameters) {
  Floats w = {1, 2}, b = {0.5};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {2, 2});
    Tensor y = ops::addmm(parameter(mode, "b", b, {1}), x,
                          parameter(mode, "w", w, {2, 1}));
    EXPECT_TRUE(y.requires_grad());
    mode.output("loss", (y * y).mean());
  }
  TracedStep step(mode, "parameters");
  step.input("x") = {1, 0, 0, 1};
  ASSERT_EQ(step.run(), "");
  // y = 1.5, 2.5
  EXPECT_THAT(step.output("loss"), ElementsAre(4.25));
  EXPECT_THAT(step.gradient("w"), ElementsAre(1.5, 2.5));
  EXPECT_THAT(step.gradient("b"), ElementsAre(4));
}

TEST(Training, GradientsOfInputsThatRequireOne) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {3}).requires_grad_();
    Tensor y = mode.input("y", {3});
    EXPECT_TRUE(x.is_leaf());
    mode.output("z", x * y);
  }
  TracedStep step(mode, "inputs");
  step.input("x") = {1, 2, 3};
  step.input("y") = {4, 5, 6};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.gradient("x"), ElementsAre(4, 5, 6));
  EXPECT_THAT(step.gradient("y"), IsEmpty());
}

// What is under NoGrad, or behind detach(), is a constant of the backward pass.
TEST(Training, NoGradAndDetach) {
  Floats w = {2, 3};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor p = parameter(mode, "w", w, {2});
    Tensor scale;
    {
      NoGrad off;
      scale = p * 10;
      EXPECT_FALSE(scale.requires_grad());
    }
    mode.output("y", p * scale + p.detach() * 100);
  }
  TracedStep step(mode, "nograd");
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.output("y"), ElementsAre(240, 390));
  EXPECT_THAT(step.gradient("w"), ElementsAre(20, 30));
}

// Two names of one parameter: one gradient, the sum.
TEST(Training, SharedParameters) {
  Floats table = {1, 2, 3, 4};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    auto module = mode.fake({{"embed", RealTensor(table.data(), {2, 2})},
                             {"head", RealTensor(table.data(), {2, 2})}});
    EXPECT_TRUE(find(module, "embed").is_same(find(module, "head")));
    Tensor h = ops::mm(mode.input("x", {1, 2}), find(module, "embed"));
    mode.output("y", ops::mm(h, find(module, "head")).sum());
  }
  TracedStep step(mode, "shared");
  step.input("x") = {1, 1};
  ASSERT_EQ(step.run(), "");
  // h = 4 6; dy/dhead = h outer 1; dy/dembed = x outer (3, 7)
  EXPECT_THAT(step.gradient("embed"), ElementsAre(7, 11, 9, 13));
}

// A parameter that no output depends on, and an input that nothing reads.
TEST(Training, UnusedTensors) {
  Floats w = {2}, other = {5};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor p = parameter(mode, "w", w, {1});
    (void)parameter(mode, "other", other, {1});
    (void)mode.input("unused", {4});
    mode.output("y", p * p);
  }
  TracedStep step(mode, "unused");
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.gradient("w"), ElementsAre(4));
  EXPECT_THAT(step.gradient("other"), IsEmpty());
}

TEST(Training, NothingToDerive) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    mode.output("y", mode.input("x", {2}) + 1);
  }
  TracedStep step(mode, "nothing");
  EXPECT_NE(step.refusal().find("FT0802"), std::string::npos) << step.refusal();
}

// Integers pick rows; they have no gradient, and an output of integers takes no
// tangent.
TEST(Training, IntegerInputsAndOutputs) {
  Floats table = {1, 2, 3, 4, 5, 6};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor ids = mode.input("ids", TensorDesc({3}).dtype(kInt64));
    Tensor rows = ops::embedding(parameter(mode, "table", table, {3, 2}), ids);
    mode.output("rows", rows);
    mode.output("best", rows.argmax(1));
  }
  TracedStep step(mode, "integers");
  step.integers("ids") = {2, 0, 2};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.output("rows"), ElementsAre(5, 6, 1, 2, 5, 6));
  EXPECT_THAT(step.gradient("table"), ElementsAre(1, 1, 0, 0, 2, 2));
}

//===----------------------------------------------------------------------===//
// Tangents
//===----------------------------------------------------------------------===//

// y returned transposed and flat: each view has a tangent, of its own layout.
TEST(Training, ViewsOfOneValueHaveATangentEach) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {2, 2}).requires_grad_();
    Tensor y = x * 2;
    mode.output("t", y.t());
    mode.output("flat", y.view({-1}));
  }
  TracedStep step(mode, "views");
  step.input("x") = {1, 2, 3, 4};
  step.tangent("t") = {1, 2, 3, 4};
  step.tangent("flat") = {10, 20, 30, 40};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.gradient("x"), ElementsAre(22, 46, 64, 88));
}

TEST(Training, OneValueReturnedTwice) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor y = mode.input("x", {2}).requires_grad_() * 2;
    mode.output("a", y);
    mode.output("b", y);
    mode.output("c", y.detach());
  }
  TracedStep step(mode, "twice");
  step.tangent("a") = {1, 2};
  step.tangent("b") = {10, 20};
  step.tangent("c") = {1000, 1000}; // not read
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.gradient("x"), ElementsAre(22, 44));
}

TEST(Training, PartsOfOneValue) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensors parts = (mode.input("x", {2, 2}).requires_grad_() * 2).unbind();
    mode.output("first", parts[0]);
    mode.output("second", parts[1]);
  }
  TracedStep step(mode, "parts");
  step.tangent("first") = {1, 2};
  step.tangent("second") = {3, 4};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.gradient("x"), ElementsAre(2, 4, 6, 8));
}

// An input that is returned as it is: its tangent is its gradient.
TEST(Training, AnInputThatIsReturned) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {2}).requires_grad_();
    mode.output("same", x);
    mode.output("more", x + 1);
  }
  TracedStep step(mode, "returned");
  step.input("x") = {1, 2};
  step.tangent("same") = {3, 4};
  step.tangent("more") = {10, 20};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.output("same"), ElementsAre(1, 2));
  EXPECT_THAT(step.gradient("x"), ElementsAre(13, 24));
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

TEST(Training, WritesToIntermediateValues) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor y = mode.input("x", {2}).requires_grad_().clone();
    y.mul_(2);
    mode.output("y", y);
    mode.output("z", y * 3);
  }
  TracedStep step(mode, "clone");
  step.input("x") = {1, 2};
  step.tangent("y") = {1, 10};
  step.tangent("z") = {100, 1000};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.gradient("x"), ElementsAre(602, 6020));
}

// A write through a view replaces what it covers, also for the gradient.
TEST(Training, WritesThroughViews) {
  Floats w = {3};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor y = mode.input("x", {2, 2}).requires_grad_() * 2;
    y.select(0, 0).copy_(parameter(mode, "w", w, {1}).expand({2}));
    y.t().select(0, 1).mul_(10);
    mode.output("y", y);
  }
  TracedStep step(mode, "through");
  step.input("x") = {1, 2, 3, 4};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.output("y"), ElementsAre(3, 30, 6, 80));
  EXPECT_THAT(step.gradient("x"), ElementsAre(0, 0, 2, 20));
  EXPECT_THAT(step.gradient("w"), ElementsAre(11));
}

// An input whose gradient is given and that is written: the caller goes on with
// the new elements, so they have a tangent, zeros if there is none.
TEST(Training, AWrittenInputHasATangent) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {2});
    Tensor view = x.view({2});
    view.mul_(3);
    mode.output("y", x + 1);
  }
  TracedStep step(mode, "written", {"x"});
  step.input("x") = {1, 2};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.input("x"), ElementsAre(3, 6));
  EXPECT_THAT(step.output("y"), ElementsAre(4, 7));
  EXPECT_THAT(step.gradient("x"), ElementsAre(3, 3));

  step.inputTangent("x") = {10, 100};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.input("x"), ElementsAre(9, 18));
  EXPECT_THAT(step.gradient("x"), ElementsAre(33, 303));
}

// What a parameter leaves in an input is the caller's to go on with, too.
TEST(Training, AnInputThatAParameterIsAddedTo) {
  Floats w = {5};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {2});
    x.add_(parameter(mode, "w", w, {1}));
    mode.output("y", x * 2);
  }
  TracedStep step(mode, "added", {"x"});
  step.input("x") = {1, 2};
  step.inputTangent("x") = {10, 100};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.input("x"), ElementsAre(6, 7));
  EXPECT_THAT(step.gradient("x"), ElementsAre(12, 102));
  EXPECT_THAT(step.gradient("w"), ElementsAre(114));
}

// A view of a written input that is returned shows what was written.
TEST(Training, AViewOfAWrittenInput) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {3});
    Tensor tail = x.slice(0, 1, 3);
    x.add_(100);
    mode.output("first", tail.select(0, 0));
    mode.output("tail", tail);
  }
  TracedStep step(mode, "tail", {"x"});
  step.input("x") = {5, 6, 7};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.output("first"), ElementsAre(106));
  EXPECT_THAT(step.output("tail"), ElementsAre(106, 107));
  EXPECT_THAT(step.gradient("x"), ElementsAre(0, 2, 1));
}

// Buffers and parameters are the caller's: a step writes them in place.
TEST(Training, BuffersAndParametersThatAreWritten) {
  Floats w = {1, -4}, count = {0}, mean = {0, 0};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor p = parameter(mode, "w", w, {2});
    {
      NoGrad off;
      p.clamp_(-2, 2);
      buffer(mode, "count", count, {1}).add_(1);
    }
    Tensor m = buffer(mode, "mean", mean, {2});
    Tensor y = p * p;
    m.mul_(0.5).add_(y.detach() * 0.5);
    mode.output("y", y + m);
  }
  TracedStep step(mode, "buffers");
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.state("w"), ElementsAre(1, -2));
  EXPECT_THAT(step.state("count"), ElementsAre(1));
  EXPECT_THAT(step.state("mean"), ElementsAre(0.5, 2));
  EXPECT_THAT(step.output("y"), ElementsAre(1.5, 6));
  EXPECT_THAT(step.gradient("w"), ElementsAre(2, -4));
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.state("count"), ElementsAre(2));
  EXPECT_THAT(step.state("mean"), ElementsAre(0.75, 3));
}

// As in PyTorch, a leaf that requires a gradient is written under NoGrad only.
TEST(Training, ALeafIsNotWrittenByWhatIsDerived) {
  Floats w = {1};
  FakeMode mode;
  FakeMode::Scope scope(mode);
  parameter(mode, "w", w, {1}).mul_(2);
  EXPECT_FALSE(mode.ok());
  EXPECT_NE(mode.error().message.find("leaf"), std::string::npos)
      << mode.error().render();
}

//===----------------------------------------------------------------------===//
// Modules, optimizers, sizes
//===----------------------------------------------------------------------===//

// Statistics of batch_norm and instance_norm move, though no call says so.
TEST(Training, NormsUpdateTheirStatistics) {
  Floats mean = {0}, variance = {1}, means = {0}, variances = {1};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {2, 1, 2}).requires_grad_();
    Tensor a = ops::batch_norm(x, {}, {}, buffer(mode, "mean", mean, {1}),
                               buffer(mode, "variance", variance, {1}), true,
                               0.5, 0, false);
    Tensor b = ops::instance_norm(x, {}, {}, buffer(mode, "means", means, {1}),
                                  buffer(mode, "variances", variances, {1}),
                                  true, 0.5, 0, false);
    mode.output("a", a);
    mode.output("b", b);
  }
  TracedStep step(mode, "norms");
  step.input("x") = {0, 2, 4, 10};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.state("mean"), ElementsAre(2));
  // Squares of distances from 4: 16 + 4 + 0 + 36 over 3; of the images 2
  // and 18.
  EXPECT_THAT(step.state("variance"), ElementsAre(FloatNear(59.f / 6, 1e-5f)));
  EXPECT_THAT(step.state("means"), ElementsAre(2));
  EXPECT_THAT(step.state("variances"), ElementsAre(5.5));
  EXPECT_THAT(step.output("b"), ElementsAre(-1, 1, -1, 1));
}

// The same drawn numbers in both passes: where y is zero, so is the gradient.
TEST(Training, DropoutKeepsItsMask) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {64}).requires_grad_();
    mode.output("y", ops::dropout(x, 0.5, true));
  }
  TracedStep step(mode, "dropout");
  step.input("x") = Floats(64, 1);
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.gradient("x"), Pointwise(FloatNear(0), step.output("y")));
  Floats first = step.output("y");
  ASSERT_EQ(step.run(), "");
  EXPECT_NE(step.output("y"), first);
}

// Integers and samples, too: the rows that forward drew are those that backward
// gives a gradient, also where only the keys are kept, and backward draws
// again.
TEST(Training, DrawnPositionsAreTheSameInBothPasses) {
  Floats table(32);
  for (bool again : {false, true}) {
    FakeMode mode;
    {
      FakeMode::Scope scope(mode);
      Tensor p = parameter(mode, "table", table, {32});
      Tensor drawn = ops::randint(32, {4});
      Tensor order = ops::randperm(32).slice(0, 0, 4);
      Tensor samples = ops::multinomial(ops::ones({32}), 4);
      Tensor rows = ops::cat({drawn, order, samples});
      mode.output("y", ops::sin(ops::index_select(p, 0, rows)));
      mode.output("rows", rows.to(kFloat32));
    }
    Options options;
    if (again)
      options.recompute = {"cat", "randint", "randperm", "multinomial"};
    TracedStep step(mode, "drawn", {}, options);
    for (int run = 0; run < 3; ++run) {
      ASSERT_EQ(step.run(), "");
      Floats want(32);
      for (float row : step.output("rows"))
        want[static_cast<size_t>(row)] += 1;
      EXPECT_EQ(step.gradient("table"), want);
    }
  }
}

TEST(Training, AnUpdateInTheSameCall) {
  Floats w = {1, 2};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor p = parameter(mode, "w", w, {2});
    mode.output("loss", (p * p).sum());
  }
  Options options;
  options.optimizer = "sgd";
  TracedStep step(mode, "sgd", {}, options);
  step.hyperparameters().lr = 0.25;
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.output("loss"), ElementsAre(5));
  EXPECT_THAT(step.state("w"), ElementsAre(0.5, 1));
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.output("loss"), ElementsAre(1.25));
}

// One artefact, any batch; none at all is a batch.
TEST(Training, ABatchOfAnySize) {
  Floats w = {1, 2};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", TensorDesc({4, 2}).dynamic(0, "batch[0..64]"));
    Tensor y = ops::mv(x, parameter(mode, "w", w, {2}));
    mode.output("loss", (y * y).sum());
  }
  TracedStep step(mode, "batches");
  for (int64_t batch : {4, 1, 0, 7}) {
    step.resize("x", {batch, 2});
    step.input("x") = Floats(static_cast<size_t>(2 * batch), 1);
    ASSERT_EQ(step.run(), "") << batch;
    EXPECT_THAT(step.output("loss"), ElementsAre(9.f * batch));
    EXPECT_THAT(step.gradient("w"), ElementsAre(6.f * batch, 6.f * batch));
  }
}

// Branches and loops of a traced program.
TEST(Training, BranchesAndLoops) {
  Floats w = {2};
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {1});
    Tensor p = parameter(mode, "w", w, {1});
    auto times = [&](const Tensors &in) { return std::vector{in[0] * p}; };
    Tensor power = scan({ops::ones({1})}, {ops::zeros({3})}, times)[0];
    auto large = [](const Tensors &in) { return std::vector{in[0] * 10}; };
    auto small = [](const Tensors &in) { return std::vector{in[1].clone()}; };
    Tensor y = cond(x > 0, {power, p}, large, small)[0];
    mode.output("y", y);
  }
  TracedStep step(mode, "control");
  step.input("x") = {1};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.output("y"), ElementsAre(80));
  EXPECT_THAT(step.gradient("w"), ElementsAre(120));
  step.input("x") = {-1};
  ASSERT_EQ(step.run(), "");
  EXPECT_THAT(step.gradient("w"), ElementsAre(1));
}
