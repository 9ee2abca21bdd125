//===- SizesTest.cpp - Models that serve all sizes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/runtime/FakeModels.h"

#include <random>
#include <thread>

using namespace ft;
using namespace ft::test;

namespace {

/// A call of "halves" with tensors of any sizes; data is made up.
class SizesTest : public ModelTest {
protected:
  void SetUp() override {
    ModelTest::SetUp();
    model = loaded(halves());
    ASSERT_TRUE(model);
    options = ft_call_options_init();
    options.allocate = [](void *user, int32_t, DLDataType, int32_t,
                          const int64_t *, size_t bytes, size_t) -> void * {
      auto &memory = *static_cast<std::vector<float> *>(user);
      memory.assign(bytes / sizeof(float), -7);
      return memory.data();
    };
    options.allocate_user = &memory;
  }

  /// The message of a call whose output gets its memory from the allocator.
  std::string call(std::vector<int64_t> x, std::vector<int64_t> mask,
                   std::vector<int64_t> tail) {
    Tensor tensors[] = {{data, std::move(x)},
                        {data + 1, std::move(mask)},
                        {data + 2, std::move(tail)}};
    DLTensor in[] = {tensors[0].dl, tensors[1].dl, tensors[2].dl};
    out = ft_tensor(nullptr, 0, 0, 2, shape);
    ft_status status =
        model->api().forward(model->instance(), in, 3, &out, 1, &options);
    code = status.code;
    return messageOf(status);
  }

  static constexpr int64_t kElements = 4096;
  std::unique_ptr<LoadedModel> model;
  ft_call_options options;
  std::vector<float> memory;
  float data[kElements + 2] = {};
  int64_t shape[2] = {};
  DLTensor out;
  int32_t code = 0;
};

TEST_F(SizesTest, OneModelServesAllSizes) {
  for (int i = 0; i < kElements + 2; ++i)
    data[i] = static_cast<float>(i % 17);
  for (int64_t batch : {1, 2, 3, 12, 64})
    for (int64_t half : {0, 1, 2, 7, 31}) {
      EXPECT_EQ(call({batch, 2 * half}, {batch}, {half + 1}), "");
      EXPECT_EQ(shape[0], batch);
      EXPECT_EQ(shape[1], half);
      if (half == 0)
        continue; // needs no memory
      ASSERT_EQ(memory.size(), size_t(batch * half));
      // Row-major, as the caller has no room for strides.
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t j = 0; j < half; ++j)
          EXPECT_EQ(memory[b * half + j],
                    data[1 + b] * (data[b * 2 * half + j] +
                                   data[b * 2 * half + half + j]) +
                        data[2 + j]);
    }
}

TEST_F(SizesTest, OutputShapesBeforeTheCall) {
  Tensor x(static_cast<float *>(nullptr), {5, 6}),
      mask(static_cast<float *>(nullptr), {5}),
      tail(static_cast<float *>(nullptr), {4});
  DLTensor in[] = {x.dl, mask.dl, tail.dl};
  Tensor y(static_cast<float *>(nullptr), {0, 0}, {0, 0});
  const ft_api &api = model->api();
  EXPECT_EQ(messageOf(api.output_shapes(model->instance(), in, 3, &y.dl, 1)),
            "");
  EXPECT_EQ(y.shape, (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(y.strides, (std::vector<int64_t>{1, 5}));
}

TEST_F(SizesTest, InputShapesOfSymbols) {
  int64_t shapes[3][2], strides[3][2];
  DLTensor in[3];
  for (int i = 0; i < 3; ++i) {
    in[i] = ft_tensor(nullptr, 0, 0, 0, shapes[i]);
    in[i].strides = strides[i];
  }
  auto query = [&](std::vector<int64_t> values) {
    return messageOf(model->api().input_shapes(model->instance(), values.data(),
                                               int32_t(values.size()), in, 3));
  };
  EXPECT_EQ(query({5, 3}), "");
  EXPECT_EQ(in[0].ndim, 2);
  EXPECT_EQ(shapes[0][0], 5);
  EXPECT_EQ(shapes[0][1], 6);
  EXPECT_EQ(strides[0][0], 6);
  EXPECT_EQ(in[2].ndim, 1);
  EXPECT_EQ(shapes[2][0], 4);
  EXPECT_EQ(query({65, 3}), "batch is 65, must be at most 64");
  EXPECT_EQ(query({1, -1}), "half is -1, must be at least 0");
  EXPECT_EQ(query({13, 3}), "batch != 13 must hold, for view at model.py:7: "
                            "batch, dim 0 of input \"x\", is 13");
  EXPECT_EQ(query({5}), "input_shapes: the model has 2 symbols, got 1 values");
}

TEST_F(SizesTest, WhatTheModelSaysOfItself) {
  const ft_model_info &info = model->info();
  ASSERT_EQ(info.num_symbols, 2);
  const ft_symbol_info &half = *info.symbols[1];
  EXPECT_STREQ(half.name, "s1");
  EXPECT_STREQ(half.title, "half");
  EXPECT_EQ(half.lower, 0);
  EXPECT_EQ(half.upper, INT64_MAX);
  EXPECT_EQ(half.hint, 3);
  EXPECT_EQ(half.dim, 1);
  EXPECT_EQ(half.scale, 2);
  EXPECT_STREQ(info.inputs[0]->dims[1], "2*half");
  EXPECT_EQ(info.inputs[0]->sizes[1], -1);
}

TEST_F(SizesTest, Ranges) {
  EXPECT_EQ(call({65, 2}, {65}, {2}),
            "input \"x\": dim 0 (batch) is 65, must be at most 64");
  EXPECT_EQ(code, FT_ERROR_GUARD);
  EXPECT_EQ(call({0, 2}, {0}, {2}),
            "input \"x\": dim 0 (batch) is 0, must be at least 1");
  EXPECT_EQ(call({2, 7}, {2}, {2}),
            "input \"x\": dim 1 (2*half) is 7, must be a multiple of 2");
  EXPECT_EQ(call({-3, 2}, {2}, {2}),
            "input \"x\": dim 0 (batch) is -3, which no size is");
  EXPECT_EQ(code, FT_ERROR_TENSOR);
}

TEST_F(SizesTest, DimsThatMustBeEqual) {
  EXPECT_EQ(call({2, 4}, {3}, {3}),
            "input \"mask\": dim 0 is 3, must be 2, as dim 0 (batch) of input "
            "\"x\"");
  EXPECT_EQ(code, FT_ERROR_GUARD);
  EXPECT_EQ(call({2, 4}, {2}, {5}),
            "input \"tail\": dim 0 is 5, must be 3, half + 1, where half is 2");
}

TEST_F(SizesTest, Guards) {
  EXPECT_EQ(call({13, 4}, {13}, {3}),
            "batch != 13 must hold, for view at model.py:7: batch, dim 0 of "
            "input \"x\", is 13");
  EXPECT_EQ(code, FT_ERROR_GUARD);
}

TEST_F(SizesTest, AcceptsExactlyWhatItSays) {
  std::mt19937 random(7);
  auto size = [&](int64_t right) {
    switch (random() % 8) {
    case 0:
      return int64_t(random() % 70) - 2;
    case 1:
      return right + 1;
    default:
      return right;
    }
  };
  int accepted = 0;
  for (int n = 0; n < 4000; ++n) {
    int64_t batch = size(int64_t(random() % 66)), half = random() % 20;
    int64_t width = size(2 * half), mask = size(batch), tail = size(half + 1);
    bool right = batch >= 1 && batch <= 64 && batch != 13 && width >= 0 &&
                 width % 2 == 0 && mask == batch && tail == width / 2 + 1;
    // More elements than the test has are not read when the sizes are wrong.
    if (right && batch * width > kElements)
      continue;
    EXPECT_EQ(call({batch, width}, {mask}, {tail}) == "", right)
        << batch << " " << width << " " << mask << " " << tail;
    EXPECT_EQ(code == FT_OK || code == FT_ERROR_GUARD ||
                  code == FT_ERROR_TENSOR,
              true);
    accepted += right;
  }
  EXPECT_GT(accepted, 1000);
}

TEST_F(SizesTest, RankAndOutputsAreChecked) {
  EXPECT_EQ(call({8}, {2}, {3}), "input \"x\": expected float32 [batch, "
                                 "2*half], got float32 [8]");
  Tensor x(data, {2, 4}), mask(data, {2}), tail(data, {3});
  DLTensor in[] = {x.dl, mask.dl, tail.dl};
  float y[8];
  Tensor wrong(y, {2, 3});
  EXPECT_EQ(messageOf(model->api().forward(model->instance(), in, 3, &wrong.dl,
                                           1, nullptr)),
            "output \"y\": expected float32 [batch, half] = [2, 2], got "
            "float32 [2, 3]");
}

TEST_F(SizesTest, OtherLayoutsAreCopied) {
  for (int i = 0; i < 12; ++i)
    data[i] = static_cast<float>(i);
  float ones[] = {1, 1, 1}, zeros[3] = {};
  // x in column order, mask broadcast, y row-major with a gap.
  Tensor x(data, {3, 4}, {1, 3}), mask(ones, {3}, {0}), tail(zeros, {3});
  DLTensor in[] = {x.dl, mask.dl, tail.dl};
  float y[9] = {};
  Tensor result(y, {3, 2}, {3, 1});
  EXPECT_EQ(messageOf(model->api().forward(model->instance(), in, 3, &result.dl,
                                           1, nullptr)),
            "");
  for (int b = 0; b < 3; ++b)
    for (int j = 0; j < 2; ++j)
      EXPECT_EQ(y[b * 3 + j], data[b + 3 * j] + data[b + 3 * (j + 2)]);
}

TEST_F(SizesTest, SizesBeyondMemory) {
  // Broadcast tensors need little memory for any size.
  Tensor x(data, {64, int64_t(1) << 40}, {0, 0}), mask(data, {64}),
      tail(data, {(int64_t(1) << 39) + 1}, {0});
  DLTensor in[] = {x.dl, mask.dl, tail.dl};
  auto call = [&] {
    in[0] = x.dl;
    in[2] = tail.dl;
    return model->api().forward(model->instance(), in, 3, &out, 1, &options);
  };
  out = ft_tensor(nullptr, 0, 0, 2, shape);
  options.allocate = [](void *, int32_t, DLDataType, int32_t, const int64_t *,
                        size_t, size_t) -> void * { return nullptr; };
  EXPECT_EQ(messageOf(call()), "output \"y\": no memory for 140737488355328 "
                               "bytes");
  x.shape[1] = int64_t(1) << 62;
  EXPECT_EQ(messageOf(call()), "input \"x\": dim 1 (2*half) is "
                               "4611686018427387904, more than memory can "
                               "hold");
  x.shape[1] = int64_t(1) << 58;
  tail.shape[0] = (int64_t(1) << 57) + 1;
  ft_status status = call();
  EXPECT_EQ(status.code, FT_ERROR_MEMORY);
  EXPECT_EQ(messageOf(status),
            "input \"x\": [batch, 2*half] = [64, 288230376151711744] is more "
            "than memory can hold");
}

TEST_F(SizesTest, ConcurrentCallsOfOtherSizes) {
  auto work = [&](int64_t batch) {
    std::vector<float> x(batch * 6, 1), mask(batch, 2), tail(4, 3),
        y(batch * 3);
    for (int n = 0; n < 200; ++n) {
      std::fill(y.begin(), y.end(), 0.0F);
      Tensor a(x.data(), {batch, 6}), b(mask.data(), {batch}),
          c(tail.data(), {4}), d(y.data(), {batch, 3});
      DLTensor in[] = {a.dl, b.dl, c.dl};
      EXPECT_EQ(messageOf(model->api().forward(model->instance(), in, 3, &d.dl,
                                               1, nullptr)),
                "");
      EXPECT_EQ(y, std::vector<float>(batch * 3, 7));
    }
  };
  std::vector<std::thread> threads;
  for (int64_t batch : {1, 5, 33, 64})
    threads.emplace_back(work, batch);
  for (std::thread &thread : threads)
    thread.join();
}

/// Sizes that the code finds: the output is asked for in the middle of a call.
class ChosenTest : public ModelTest {};

TEST_F(ChosenTest, CallerSeesWhatWasFound) {
  auto model = loaded(chosen());
  ASSERT_TRUE(model);
  float x[] = {1, -1, 2, -1, 3}, y[8];
  auto call = [&](int64_t n, DLTensor &out) {
    Tensor in(x, {n});
    return messageOf(
        model->api().forward(model->instance(), &in.dl, 1, &out, 1, nullptr));
  };
  // In the model's own order, then in another one, which is copied.
  Tensor own(y, {2, 3}, {1, 2}), rows(y, {2, 3}, {4, 1});
  EXPECT_EQ(call(5, own.dl), "");
  EXPECT_EQ(std::vector<float>(y, y + 6),
            (std::vector<float>{1, -1, 2, -2, 3, -3}));
  EXPECT_EQ(call(5, rows.dl), "");
  EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(std::vector<float>(y + 4, y + 7), (std::vector<float>{-1, -2, -3}));
  EXPECT_EQ(call(3, rows.dl), "output \"y\": the call found sizes [2, 2], the "
                              "tensor given for it has [2, 3]");
  Tensor shape(static_cast<float *>(nullptr), {-1, -1});
  EXPECT_EQ(call(0, shape.dl), ""); // nothing to allocate
  EXPECT_EQ(shape.shape, (std::vector<int64_t>{2, 0}));
}

TEST_F(ChosenTest, OutputShapesSayWhatIsKnown) {
  auto model = loaded(chosen());
  ASSERT_TRUE(model);
  Tensor in(static_cast<float *>(nullptr), {7}),
      out(static_cast<float *>(nullptr), {0, 0});
  EXPECT_EQ(messageOf(model->api().output_shapes(model->instance(), &in.dl, 1,
                                                 &out.dl, 1)),
            "");
  EXPECT_EQ(out.shape, (std::vector<int64_t>{2, -1}));
}

} // namespace
