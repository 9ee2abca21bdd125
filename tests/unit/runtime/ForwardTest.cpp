//===- ForwardTest.cpp - What a call accepts and refuses -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/runtime/FakeModels.h"

#include <thread>

using namespace ft;
using namespace ft::test;

namespace {

class ForwardTest : public ModelTest {
protected:
  void SetUp() override {
    ModelTest::SetUp();
    model = loaded(affine());
    ASSERT_TRUE(model);
    for (int i = 0; i < 12; ++i)
      x[i] = static_cast<float>(i);
  }

  ft_status call(const DLTensor &in, DLTensor &out,
                 const ft_call_options *options = nullptr) {
    return model->api().forward(model->instance(), &in, 1, &out, 1, options);
  }

  /// Row r, column c of the right answer.
  static float expected(int r, int c) {
    const float scale[] = {2, 3, 4}, shift[] = {10, 20, 30};
    return static_cast<float>(3 * r + c) * scale[c] + shift[c];
  }

  std::unique_ptr<LoadedModel> model;
  float x[12], y[12] = {};
};

TEST_F(ForwardTest, RowMajor) {
  Tensor in(x, {4, 3}), out(y, {4, 3});
  EXPECT_EQ(messageOf(call(in.dl, out.dl)), "");
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(y[i], expected(i / 3, i % 3));
}

TEST_F(ForwardTest, TransposedInputAndOutputAreCopied) {
  float columns[12], result[12];
  for (int i = 0; i < 12; ++i)
    columns[i % 3 * 4 + i / 3] = static_cast<float>(i);
  Tensor in(columns, {4, 3}, {1, 4}), out(result, {4, 3}, {1, 4});
  EXPECT_EQ(messageOf(call(in.dl, out.dl)), "");
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(result[i % 3 * 4 + i / 3], expected(i / 3, i % 3));
}

TEST_F(ForwardTest, BroadcastInputIsCopied) {
  float row[] = {0, 1, 2};
  Tensor in(row, {4, 3}, {0, 1}), out(y, {4, 3});
  EXPECT_EQ(messageOf(call(in.dl, out.dl)), "");
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(y[i], expected(0, i % 3));
}

TEST_F(ForwardTest, ByteOffsetCounts) {
  Tensor in(x - 1, {4, 3}), out(y, {4, 3});
  in.dl.byte_offset = sizeof(float);
  EXPECT_EQ(messageOf(call(in.dl, out.dl)), "");
  EXPECT_EQ(y[11], expected(3, 2));
}

TEST_F(ForwardTest, OutputMayBeTheInput) {
  Tensor in(x, {4, 3}), out(x, {4, 3});
  EXPECT_EQ(messageOf(call(in.dl, out.dl)), "");
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(x[i], expected(i / 3, i % 3));
}

TEST_F(ForwardTest, WrongSize) {
  Tensor in(x, {2, 3}), out(y, {4, 3});
  ft_status s = call(in.dl, out.dl);
  EXPECT_EQ(s.code, FT_ERROR_TENSOR);
  EXPECT_STREQ(s.message,
               "input \"x\": expected float32 [4, 3], got float32 [2, 3]");
}

TEST_F(ForwardTest, WrongRank) {
  Tensor in(x, {12}), out(y, {4, 3});
  EXPECT_EQ(messageOf(call(in.dl, out.dl)),
            "input \"x\": expected float32 [4, 3], got float32 [12]");
}

TEST_F(ForwardTest, WrongDtype) {
  double wide[12] = {};
  Tensor in(wide, {4, 3}), out(y, {4, 3});
  EXPECT_EQ(messageOf(call(in.dl, out.dl)),
            "input \"x\": expected float32 [4, 3], got float64 [4, 3]");
  bool flags[12] = {};
  Tensor result(flags, {4, 3}), good(x, {4, 3});
  EXPECT_EQ(messageOf(call(good.dl, result.dl)),
            "output \"y\": expected float32 [4, 3], got bool [4, 3]");
}

TEST_F(ForwardTest, WrongDevice) {
  Tensor in(x, {4, 3}), out(y, {4, 3});
  in.dl.device = {kDLCUDA, 1};
  EXPECT_EQ(messageOf(call(in.dl, out.dl)),
            "input \"x\": expected a tensor on cpu, got one on cuda:1");
}

TEST_F(ForwardTest, NullAndMisalignedData) {
  Tensor in(static_cast<float *>(nullptr), {4, 3}), out(y, {4, 3});
  EXPECT_EQ(messageOf(call(in.dl, out.dl)), "input \"x\": data is null");
  Tensor odd(x, {4, 3});
  odd.dl.byte_offset = 2;
  EXPECT_EQ(messageOf(call(odd.dl, out.dl)),
            "input \"x\": data is not aligned to 4 bytes");
  Tensor good(x, {4, 3});
  good.dl.shape = nullptr;
  EXPECT_EQ(messageOf(call(good.dl, out.dl)),
            "input \"x\": rank 2 without a shape");
}

TEST_F(ForwardTest, StridesThatCannotBeUsed) {
  Tensor in(x, {4, 3}, {3, -1}), out(y, {4, 3});
  EXPECT_EQ(messageOf(call(in.dl, out.dl)),
            "input \"x\": stride -1 of dim 1 is negative; pass a copy without "
            "gaps");
  Tensor huge(x, {4, 3}, {INT64_MAX / 2, 1});
  EXPECT_EQ(messageOf(call(huge.dl, out.dl)),
            "input \"x\": stride 4611686018427387903 of dim 0 is too large");
  Tensor good(x, {4, 3}), overlapping(y, {4, 3}, {0, 1});
  EXPECT_EQ(messageOf(call(good.dl, overlapping.dl)),
            "output \"y\": elements overlap in memory with strides [0, 1], so "
            "it cannot be written");
}

TEST_F(ForwardTest, WrongNumberOfTensors) {
  Tensor in(x, {4, 3}), out(y, {4, 3});
  const ft_api &api = model->api();
  EXPECT_EQ(messageOf(api.forward(model->instance(), nullptr, 0, &out.dl, 1,
                                  nullptr)),
            "expected 1 input (\"x\"), got 0");
  EXPECT_EQ(
      messageOf(api.forward(model->instance(), &in.dl, 1, &out.dl, 2, nullptr)),
      "expected 1 output (\"y\"), got 2");
  EXPECT_EQ(messageOf(api.forward(model->instance(), nullptr, 1, &out.dl, 1,
                                  nullptr)),
            "the array of inputs is null");
  EXPECT_EQ(messageOf(api.forward(nullptr, &in.dl, 1, &out.dl, 1, nullptr)),
            "forward: model is null");
}

TEST_F(ForwardTest, OutputShapes) {
  Tensor in(static_cast<float *>(nullptr), {4, 3});
  int64_t shape[2], strides[2];
  DLTensor out = ft_tensor(nullptr, 0, 0, 0, nullptr);
  out.shape = shape;
  out.strides = strides;
  ft_status s =
      model->api().output_shapes(model->instance(), &in.dl, 1, &out, 1);
  ASSERT_EQ(messageOf(s), "");
  EXPECT_EQ(out.ndim, 2);
  EXPECT_EQ(out.dtype.code, kDLFloat);
  EXPECT_EQ(out.dtype.bits, 32);
  EXPECT_EQ(shape[0], 4);
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(strides[0], 3);
  EXPECT_EQ(strides[1], 1);
  EXPECT_EQ(out.data, nullptr);
}

TEST_F(ForwardTest, AllocatorGivesOutputs) {
  ft_call_options options = ft_call_options_init();
  std::vector<float> memory;
  options.allocate_user = &memory;
  options.allocate = [](void *user, int32_t, DLDataType, int32_t,
                        const int64_t *, size_t bytes, size_t) -> void * {
    auto *storage = static_cast<std::vector<float> *>(user);
    storage->resize(bytes / sizeof(float));
    return storage->data();
  };
  int64_t shape[2] = {};
  Tensor in(x, {4, 3});
  DLTensor out = ft_tensor(nullptr, 0, 0, 0, nullptr);
  out.shape = shape;
  ASSERT_EQ(messageOf(call(in.dl, out, &options)), "");
  EXPECT_EQ(out.ndim, 2);
  EXPECT_EQ(shape[0], 4);
  ASSERT_EQ(memory.size(), 12u);
  EXPECT_EQ(out.data, memory.data());
  EXPECT_EQ(memory[11], expected(3, 2));

  options.allocate = [](void *, int32_t, DLDataType, int32_t, const int64_t *,
                        size_t, size_t) -> void * { return nullptr; };
  out.data = nullptr;
  EXPECT_EQ(messageOf(call(in.dl, out, &options)),
            "output \"y\": no memory for 48 bytes");
  EXPECT_EQ(messageOf(call(in.dl, out)),
            "output \"y\": data is null and the call has no allocate");
}

TEST_F(ForwardTest, ParallelForOfTheCaller) {
  ft_call_options options = ft_call_options_init();
  int pieces = 0;
  options.parallel_for_user = &pieces;
  options.parallel_for = [](void *user, ft_parallel_body body, void *args,
                            int64_t n, int64_t grain) {
    for (int64_t i = 0; i < n; i += grain, ++*static_cast<int *>(user))
      body(args, i, i + grain);
  };
  Tensor in(x, {4, 3}), out(y, {4, 3});
  EXPECT_EQ(messageOf(call(in.dl, out.dl, &options)), "");
  EXPECT_EQ(pieces, 4);
  EXPECT_EQ(y[11], expected(3, 2));
}

TEST_F(ForwardTest, OptionsOfOtherVersions) {
  Tensor in(x, {4, 3}), out(y, {4, 3});
  ft_call_options unset = {};
  EXPECT_EQ(messageOf(call(in.dl, out.dl, &unset)),
            "ft_call_options.struct_size is not set: start from "
            "ft_call_options_init()");
  // An older program's struct is shorter.
  ft_call_options older = ft_call_options_init();
  older.struct_size = offsetof(ft_call_options, parallel_for);
  older.parallel_for = reinterpret_cast<ft_parallel_for>(1);
  EXPECT_EQ(messageOf(call(in.dl, out.dl, &older)), "");
  // A newer one's is longer; what this library does not know must be zero.
  struct {
    ft_call_options known;
    void *fresh;
  } newer = {ft_call_options_init(), nullptr};
  newer.known.struct_size = sizeof newer;
  EXPECT_EQ(messageOf(call(in.dl, out.dl, &newer.known)), "");
  newer.fresh = &newer;
  EXPECT_EQ(call(in.dl, out.dl, &newer.known).code, FT_ERROR_UNSUPPORTED);
}

TEST_F(ForwardTest, ConcurrentCalls) {
  auto work = [&] {
    for (int n = 0; n < 200; ++n) {
      float mine[12] = {};
      Tensor in(x, {4, 3}), out(mine, {4, 3});
      EXPECT_EQ(call(in.dl, out.dl).code, FT_OK);
      for (int i = 0; i < 12; ++i)
        EXPECT_EQ(mine[i], expected(i / 3, i % 3));
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(ForwardTest, TrainingIsNotInThisArtefact) {
  const char *sentence = "\"affine\" was compiled for inference; training "
                         "needs a model compiled with --training";
  ft_status s = model->api().load_parameters(model->instance(), nullptr, 0);
  EXPECT_EQ(s.code, FT_ERROR_UNSUPPORTED);
  EXPECT_STREQ(s.message, sentence);
  s = model->api().train(model->instance(), nullptr);
  EXPECT_STREQ(s.message, sentence);
}

TEST_F(ModelTest, IndexOutOfRange) {
  auto model = loaded(lookup());
  ASSERT_TRUE(model);
  int64_t index[8] = {0, 1, 2, 3, 4, 0, 0, 0};
  float y[8];
  Tensor in(index, {8}), out(y, {8});
  ASSERT_FALSE(bool(model->forward(in.dl, out.dl)));
  EXPECT_EQ(y[4], 40);
  index[5] = 7;
  EXPECT_EQ(messageOf(model->forward(in.dl, out.dl)),
            "FT0702: embedding: index 7 is out of range for size 5\n");
  index[5] = 1; // a failed call leaves nothing behind
  ASSERT_FALSE(bool(model->forward(in.dl, out.dl)));
}

} // namespace
