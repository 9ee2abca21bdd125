//===- UpdateTest.cpp - Folding values into a tensor at indices -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/kernels/update.h"

#include "runtime/kernels/kernels.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {
struct Tensor {
  std::vector<int64_t> shape, strides;
  DLTensor t = {};

  Tensor(void *data, DLDataType dtype, std::vector<int64_t> sizes)
      : shape(std::move(sizes)), strides(shape.size()) {
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
      strides[d] = stride;
    t.data = data;
    t.dtype = dtype;
    t.ndim = static_cast<int32_t>(shape.size());
    t.shape = shape.data();
    t.strides = strides.data();
  }
};

const DLDataType kF32 = {kDLFloat, 32, 1}, kI64 = {kDLInt, 64, 1};
const DLDataType kBool = {FT_DL_BOOL, 8, 1};
std::string message;

/// The status of an update of `out`, and `message`.
int32_t update(std::vector<DLTensor *> tensors, DLTensor &out,
               std::vector<int64_t> numbers) {
  std::vector<ft_kernel_arg> args;
  for (DLTensor *t : tensors) {
    ft_kernel_arg arg = {};
    arg.kind = FT_ARG_TENSOR;
    arg.tensor = t;
    args.push_back(arg);
  }
  for (int64_t n : numbers) {
    ft_kernel_arg arg = {};
    arg.kind = FT_ARG_INT;
    arg.integer = n;
    args.push_back(arg);
  }
  ft_kernel_call call = {};
  call.struct_size = sizeof call;
  call.args = args.data();
  call.num_args = static_cast<int32_t>(args.size());
  call.results = &out;
  call.num_results = 2;
  call.fail = [](const ft_kernel_call *, int32_t code, const char *why) {
    message = why;
    return code;
  };
  call.parallel_for = [](const ft_kernel_call *,
                         void (*body)(void *, int64_t, int64_t), void *state,
                         int64_t n, int64_t) { body(state, 0, n); };
  return ft_k_update(&call);
}
} // namespace

// The gradient of a lookup: rows 2, 0 and 2 of three; row 1 is padding.
TEST(Update, SumsRowsThatAnIndexNames) {
  float values[] = {1, 2, 10, 20, 100, 200, 5, 5}, out[6];
  int64_t rows[] = {2, 0, 2, 1};
  Tensor v(values, kF32, {4, 2}), i(rows, kI64, {4, 1}), o(out, kF32, {3, 2});
  // Sum, flags, the row to skip, two loops; dim 0 is index 0, dim 1 loop 1.
  ASSERT_EQ(
      update({&v.t, &i.t}, o.t, {FT_UPDATE_ADD, FT_UPDATE_SKIP, 1, 2, 0, -2}),
      FT_OK);
  EXPECT_EQ(std::vector<float>(out, out + 6),
            (std::vector<float>{10, 20, 0, 0, 101, 202}));
}

// scatter along dim 1: positions of row 0 and of row 1, the last one wins.
TEST(Update, TheLastAssignmentWins) {
  float start[] = {1, 2, 3, 4, 5, 6}, values[] = {7, 8, 9, 10}, out[6];
  int64_t at[] = {2, 2, 0, 1};
  Tensor x(start, kF32, {2, 3}), v(values, kF32, {2, 2});
  Tensor i(at, kI64, {2, 2}), o(out, kF32, {2, 3});
  int64_t flags = FT_UPDATE_INITIAL | FT_UPDATE_OWN;
  ASSERT_EQ(
      update({&x.t, &v.t, &i.t}, o.t, {FT_UPDATE_ASSIGN, flags, 0, 2, -1, 0}),
      FT_OK);
  EXPECT_EQ(std::vector<float>(out, out + 6),
            (std::vector<float>{1, 2, 8, 9, 10, 6}));
}

// Indices that a mask leaves out are not looked at; others are checked before
// the result is written.
TEST(Update, ChecksIndicesThatCount) {
  float values[] = {1, 2}, out[3] = {9, 9, 9};
  int64_t at[] = {-1, 7};
  bool on[] = {true, false};
  Tensor v(values, kF32, {2}), i(at, kI64, {2}), m(on, kBool, {2});
  Tensor o(out, kF32, {3});
  EXPECT_EQ(
      update({&v.t, &i.t}, o.t, {FT_UPDATE_MAXIMUM, FT_UPDATE_WRAP, 0, 1, 0}),
      FT_ERROR_INDEX);
  EXPECT_EQ(message, "index 7 is out of range for size 3");
  EXPECT_EQ(out[2], 9);
  EXPECT_EQ(
      update({&v.t, &m.t, &i.t}, o.t,
             {FT_UPDATE_MAXIMUM, FT_UPDATE_WRAP | FT_UPDATE_MASK, 0, 1, 0}),
      FT_OK);
  EXPECT_EQ(std::vector<float>(out, out + 3), (std::vector<float>{0, 0, 1}));
}
