//===- StateTest.cpp - Parameters and buffers ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/runtime/FakeModels.h"

#include <thread>

using namespace ft;
using namespace ft::test;

namespace {

class StateTest : public ModelTest {
protected:
  int64_t add(const LoadedModel &model, int64_t x) {
    int64_t y = -1;
    Tensor in(&x, {}), out(&y, {});
    EXPECT_FALSE(bool(model.forward(in.dl, out.dl)));
    return y;
  }
  int64_t total(const LoadedModel &model) {
    int64_t value = -1;
    Tensor to(&value, {});
    EXPECT_EQ(messageOf(model.api().read_state(model.instance(), 0, &to.dl)),
              "");
    return value;
  }
};

TEST_F(StateTest, ForwardChangesTheBufferOfItsInstance) {
  auto model = loaded(counter());
  ASSERT_TRUE(model);
  EXPECT_EQ(add(*model, 5), 105);
  EXPECT_EQ(add(*model, 1), 106);
  EXPECT_EQ(total(*model), 106);

  ft_model *second = nullptr;
  ASSERT_EQ(model->api().load(nullptr, &second).code, FT_OK);
  int64_t value = -1;
  Tensor to(&value, {});
  model->api().read_state(second, 0, &to.dl);
  EXPECT_EQ(value, 100);
  model->api().unload(second);

  int64_t seven = 7;
  Tensor from(&seven, {});
  EXPECT_EQ(messageOf(model->api().write_state(model->instance(), 0, &from.dl)),
            "");
  EXPECT_EQ(add(*model, 1), 8);
  model->api().reset_state(model->instance());
  EXPECT_EQ(total(*model), 100);
}

TEST_F(StateTest, CallsThatWriteRunOneAfterTheOther) {
  auto model = loaded(counter());
  ASSERT_TRUE(model);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n)
        add(*model, 1);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(total(*model), 100 + 4 * 1000);
}

TEST_F(StateTest, ConstantsAreReadable) {
  auto model = loaded(affine());
  ASSERT_TRUE(model);
  const ft_model_info &info = model->info();
  ASSERT_EQ(info.num_state, 2);
  EXPECT_STREQ(info.state[0]->name, "scale");
  EXPECT_EQ(info.state[0]->flags, uint32_t(FT_VALUE_PARAMETER));
  EXPECT_EQ(info.state[1]->flags, uint32_t(FT_VALUE_BUFFER | FT_VALUE_PACKED));
  float values[3];
  Tensor scale(values, {3});
  ft_model *m = model->instance();
  EXPECT_EQ(messageOf(model->api().read_state(m, 0, &scale.dl)), "");
  EXPECT_EQ(values[2], 4);
  EXPECT_EQ(messageOf(model->api().write_state(m, 0, &scale.dl)),
            "parameter \"scale\" is constant in this model and cannot be "
            "written");
  EXPECT_EQ(messageOf(model->api().read_state(m, 1, &scale.dl)),
            "buffer \"shift\" was repacked at compile time and cannot be read");
  EXPECT_EQ(messageOf(model->api().read_state(m, 2, &scale.dl)),
            "read_state: index 2, the model has 2 parameters and buffers");
  Tensor small(values, {2});
  EXPECT_EQ(messageOf(model->api().read_state(m, 0, &small.dl)),
            "parameter \"scale\": expected float32 [3], got float32 [2]");
}

} // namespace
