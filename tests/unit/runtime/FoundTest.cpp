//===- FoundTest.cpp - Outputs whose sizes a call finds --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/runtime/FakeModels.h"

using namespace ft;
using namespace ft::test;

namespace {

class FoundTest : public ModelTest {
protected:
  void SetUp() override {
    ModelTest::SetUp();
    model = loaded(positive());
    ASSERT_TRUE(model);
    options = ft_call_options_init();
    options.allocate = [](void *user, int32_t, DLDataType, int32_t,
                          const int64_t *, size_t bytes, size_t) -> void * {
      auto &memory = *static_cast<std::vector<int64_t> *>(user);
      memory.assign(bytes / sizeof(int64_t), -7);
      return memory.data();
    };
    options.allocate_user = &memory;
  }

  std::string call(DLTensor &out, bool allocator = true) {
    Tensor in(x, {2, 3});
    return messageOf(model->api().forward(model->instance(), &in.dl, 1, &out, 1,
                                          allocator ? &options : nullptr));
  }

  std::unique_ptr<LoadedModel> model;
  ft_call_options options;
  std::vector<int64_t> memory;
  float x[6] = {1, -1, 2, -1, 3, -1};
};

TEST_F(FoundTest, OutputShapesSayWhatIsKnown) {
  Tensor in(x, {2, 3}), out(static_cast<int64_t *>(nullptr), {0, 0});
  EXPECT_EQ(messageOf(model->api().output_shapes(model->instance(), &in.dl, 1,
                                                 &out.dl, 1)),
            "");
  EXPECT_EQ(out.shape, (std::vector<int64_t>{2, -1}));
}

TEST_F(FoundTest, TheAllocatorIsAskedWhenTheSizesAreFound) {
  Tensor out(static_cast<int64_t *>(nullptr), {-1, -1});
  EXPECT_EQ(call(out.dl), "");
  EXPECT_EQ(out.shape, (std::vector<int64_t>{2, 3}));
  // Row-major, as the caller has no room for strides.
  EXPECT_EQ(memory, (std::vector<int64_t>{0, 0, 1, 0, 2, 1}));
}

TEST_F(FoundTest, WithRoomForStridesTheModelChooses) {
  Tensor out(static_cast<int64_t *>(nullptr), {-1, -1}, {0, 0});
  EXPECT_EQ(call(out.dl), "");
  EXPECT_EQ(out.strides, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(memory, (std::vector<int64_t>{0, 0, 0, 2, 1, 1}));
}

TEST_F(FoundTest, MemoryOfTheCallerMustFit) {
  int64_t y[8] = {};
  Tensor wide(y, {2, 4});
  EXPECT_EQ(call(wide.dl, false),
            "output \"where\": the call found sizes [2, 3], the tensor given "
            "for it has [2, 4]");
  Tensor fits(y, {2, 3}, {4, 1});
  EXPECT_EQ(call(fits.dl, false), "");
  EXPECT_EQ(std::vector<int64_t>(y, y + 8),
            (std::vector<int64_t>{0, 0, 1, 0, 0, 2, 1, 0}));
}

TEST_F(FoundTest, NothingIsAskedForWithoutElements) {
  for (float &e : x)
    e = -1;
  Tensor out(static_cast<int64_t *>(nullptr), {-1, -1});
  EXPECT_EQ(call(out.dl, false), "");
  EXPECT_EQ(out.shape, (std::vector<int64_t>{2, 0}));
}

TEST_F(FoundTest, Refusals) {
  Tensor out(static_cast<int64_t *>(nullptr), {-1, -1});
  EXPECT_EQ(call(out.dl, false),
            "output \"where\": data is null and the call has no allocate");
  out.dl.shape = nullptr;
  EXPECT_EQ(call(out.dl), "output \"where\": its sizes depend on data, and "
                          "there is no shape to tell them in");
  alignas(8) float shared[12] = {1, -1, 1, -1, 1, -1};
  Tensor in(shared, {2, 3}), same(reinterpret_cast<int64_t *>(shared), {2, 3});
  EXPECT_EQ(messageOf(model->api().forward(model->instance(), &in.dl, 1,
                                           &same.dl, 1, nullptr)),
            "output \"where\" shares memory with input \"x\"");
  for (float &e : x)
    e = 1;
  Tensor again(static_cast<int64_t *>(nullptr), {-1, -1});
  EXPECT_EQ(call(again.dl), "positive: its kernel did not ask for result 0");
}

} // namespace
