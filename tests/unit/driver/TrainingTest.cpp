//===- TrainingTest.cpp - Artefacts that give gradients ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Session.h"
#include "compiler/driver/TrainedModel.h"
#include "tests/unit/runtime/FakeModels.h"

#include <gtest/gtest.h>

using namespace ft;

namespace {
/// The perceptron of samples/05-training-step: its loss, of which the logits
/// have no gradient, and four parameters.
class Training : public test::ModelTest {
protected:
  void SetUp() override {
    ModelTest::SetUp();
    Options options;
    options.training = true;
    Session session(options);
    ASSERT_TRUE(session.load(FORETRACE_SOURCE_DIR
                             "/samples/05-training-step/mlp.pt2") &&
                session.compile(path("mlp")))
        << session.diagnostics().front().render();
    auto opened = LoadedModel::open(session.files().library);
    ASSERT_TRUE(bool(opened)) << test::messageOf(opened.takeError());
    model = std::move(*opened);
    ASSERT_EQ(test::messageOf(model->load()), "");
    for (int i = 0; i < 32 * 64; ++i)
      image[i] = float(i % 17) / 17;
    for (int i = 0; i < 32; ++i)
      digit[i] = i % 10;
    inputs[0] = ft_tensor(image, kDLFloat, 32, 4, kImage);
    inputs[1] = ft_tensor(digit, kDLInt, 64, 1, kDigit);
    outputs[0] = ft_tensor(&loss, kDLFloat, 32, 0, nullptr);
    outputs[1] = ft_tensor(logits, kDLFloat, 32, 2, kLogits);
    for (int32_t i = 0; i < model->info().num_state; ++i) {
      const ft_value_info &value = *model->info().state[i];
      llvm::ArrayRef<int64_t> shape(value.sizes, size_t(value.ndim));
      for (auto *arrays : {&values, &grads})
        arrays->push_back(std::make_unique<HostArray>(DType::F32, shape));
      state.push_back(values.back()->view());
      gradients.push_back(grads.back()->view());
    }
    call.struct_size = sizeof call;
    call.phase = FT_TRAIN_STEP;
    call.num_inputs = call.num_outputs = 2;
    call.num_state = int32_t(state.size());
    call.inputs = inputs;
    call.outputs = outputs;
    call.state = state.data();
    call.gradients = gradients.data();
    call.saved = &saved;
    ASSERT_EQ(messageOfLoad(call.num_state), "");
  }

  std::string messageOfLoad(int32_t count) {
    return test::messageOf(
        model->api().load_parameters(model->instance(), state.data(), count));
  }
  std::string train() {
    return test::messageOf(model->api().train(model->instance(), &call));
  }
  std::vector<float> gradient(size_t i) const {
    auto *from = reinterpret_cast<const float *>(grads[i]->bytes().data());
    return std::vector<float>(from, from + grads[i]->elements());
  }

  static constexpr int64_t kImage[] = {32, 1, 8, 8}, kDigit[] = {32},
                           kLogits[] = {32, 10};
  std::unique_ptr<LoadedModel> model;
  float image[32 * 64], loss = 0, logits[320];
  int64_t digit[32];
  DLTensor inputs[2], outputs[2];
  std::vector<std::unique_ptr<HostArray>> values, grads;
  std::vector<DLTensor> state, gradients;
  void *saved = nullptr;
  ft_train_call call = {};
};
} // namespace

TEST_F(Training, AStepIsForwardAndBackward) {
  EXPECT_TRUE(TrainedModel::isTrained(model->info()));
  ASSERT_EQ(train(), "");
  float stepLoss = loss;
  std::vector<float> want = gradient(0);
  EXPECT_GT(stepLoss, 0);
  EXPECT_TRUE(llvm::any_of(want, [](float g) { return g != 0; }));
  call.phase = FT_TRAIN_FORWARD;
  ASSERT_EQ(train(), "");
  EXPECT_EQ(loss, stepLoss);
  ASSERT_NE(saved, nullptr);
  call.phase = FT_TRAIN_BACKWARD;
  ASSERT_EQ(train(), "");
  EXPECT_EQ(saved, nullptr);
  EXPECT_EQ(gradient(0), want);
}

TEST_F(Training, GradientsAreLinearInTheTangents) {
  ASSERT_EQ(train(), "");
  std::vector<float> want = gradient(2);
  for (float &g : want)
    g *= 2;
  float two = 2;
  DLTensor tangents[2] = {ft_tensor(&two, kDLFloat, 32, 0, nullptr), {}};
  call.tangents = tangents; // that of the logits is not read
  ASSERT_EQ(train(), "");
  EXPECT_EQ(gradient(2), want);
}

TEST_F(Training, WhatForwardSavedMayBeGivenBack) {
  call.phase = FT_TRAIN_FORWARD;
  ASSERT_EQ(train(), "");
  model->api().release(model->instance(), saved);
  model->api().release(model->instance(), nullptr);
  // Two forwards before their backwards.
  void *first = nullptr, *second = nullptr;
  call.saved = &first;
  ASSERT_EQ(train(), "");
  call.saved = &second;
  ASSERT_EQ(train(), "");
  EXPECT_NE(first, second);
  call.phase = FT_TRAIN_BACKWARD;
  ASSERT_EQ(train(), "");
  call.saved = &first;
  void *taken = first;
  ASSERT_EQ(train(), "");
  // A handle is taken once.
  first = taken;
  EXPECT_NE(train(), "");
  model->api().release(model->instance(), taken);
  model->api().release(model->instance(), taken);
  // One that nobody takes goes with the model.
  call.phase = FT_TRAIN_FORWARD;
  ASSERT_EQ(train(), "");
}

TEST_F(Training, MistakesAreSentences) {
  call.phase = 7;
  EXPECT_EQ(train(), "train: there is no phase 7");
  call.phase = FT_TRAIN_BACKWARD;
  const std::string kNoHandle = "train: saved is not what a forward of this "
                                "model made, or was given back";
  EXPECT_EQ(train(), kNoHandle);
  saved = &loss; // is compared, not looked into
  EXPECT_EQ(train(), kNoHandle);
  call.saved = nullptr;
  EXPECT_EQ(train(), "train: saved is null");
  call.phase = FT_TRAIN_STEP;
  call.num_state = 3;
  EXPECT_EQ(train(), "train: expected 4 states, got 3");
  call.num_state = 4;
  call.gradients = nullptr;
  EXPECT_EQ(train(), "train: the array of gradients is null");
  call.gradients = gradients.data();
  call.optimizer = state.data();
  EXPECT_EQ(train(), "train: \"mlp\" was compiled without an optimizer");
  call.optimizer = nullptr;
  static constexpr int64_t kWrong[] = {3};
  state[1].shape = const_cast<int64_t *>(kWrong);
  EXPECT_NE(train(), "");
  EXPECT_EQ(messageOfLoad(3), "load_parameters: expected 4 tensors, got 3");
  call.struct_size = 0;
  EXPECT_NE(train(), "");
  EXPECT_EQ(test::messageOf(model->api().forward(model->instance(), inputs, 2,
                                                 outputs, 2, nullptr)),
            "forward: \"mlp\" was compiled with --training: call train");
}

TEST_F(Training, ShapesAreAskedForAsOfAnyModel) {
  int64_t shape[2] = {0, 0};
  DLTensor asked[2] = {ft_tensor(nullptr, 0, 0, 0, nullptr),
                       ft_tensor(nullptr, 0, 0, 2, shape)};
  EXPECT_EQ(test::messageOf(model->api().output_shapes(model->instance(),
                                                       inputs, 2, asked, 2)),
            "");
  EXPECT_EQ(shape[0], 32);
  EXPECT_EQ(shape[1], 10);
}
