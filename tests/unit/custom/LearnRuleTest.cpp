//===- LearnRuleTest.cpp - Shapes from a run of a kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/custom/LearnRule.h"

#include "Operators.h"
#include "gtest/gtest.h"

#include <csignal>
#include <unistd.h>

using namespace ft;

namespace {

int32_t repeat(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  int64_t sizes[2] = {call->args[1].integer, x->shape[0]};
  DLTensor *y = call->result(call, 0, x->dtype, 2, sizes);
  if (!y)
    return FT_ERROR_TENSOR;
  auto *to = static_cast<float *>(y->data);
  for (int64_t i = 0; i < ft_kernel_numel(y); ++i)
    to[i] = static_cast<float *>(x->data)[i % x->shape[0]];
  return FT_OK;
}
int32_t crash(const ft_kernel_call *) {
  std::raise(SIGSEGV);
  return FT_OK;
}
int32_t leave(const ft_kernel_call *) { _exit(0); }
int32_t hang(const ft_kernel_call *) {
  for (;;)
    pause();
}
int32_t forget(const ft_kernel_call *) { return FT_OK; }
int32_t refuse(const ft_kernel_call *call) {
  return call->fail(call, FT_ERROR_TENSOR, "x must not be zero");
}
int32_t flood(const ft_kernel_call *call) {
  int64_t sizes[1] = {1 << 20};
  return call->result(call, 0, call->args[0].tensor->dtype, 1, sizes)
             ? FT_OK
             : FT_ERROR_MEMORY;
}

/// The registry with one operator `t::f(Tensor x, int n=1) -> Tensor`, whose
/// kernel is `kernel` and whose rule is learned.
struct Learning : Registry {
  explicit Learning(ft_kernel_fn kernel, int seconds = 10) {
    auto op =
        llvm::cantFail(CustomOps::parse("t::f(Tensor x, int n=1) -> Tensor"));
    op->kernel.symbol = "f";
    op->kernel.address = reinterpret_cast<void *>(kernel);
    op->fake = learnRule(*op, seconds);
    llvm::cantFail(ops().add(std::move(op)).takeError());
  }
  std::string f(TensorMeta x, int64_t n = 1) {
    return call("t::f", {std::move(x)}, {Arg::tensor(0), Arg::integer(n)});
  }
};

TEST(LearnRule, TheKernelSaysWhatItReturns) {
  Learning l(repeat);
  EXPECT_EQ(l.f(tensor({3}), 2), "float32 [2, 3] cpu");
  EXPECT_EQ(l.f(tensor({5}), 2), "float32 [2, 5] cpu");
  EXPECT_EQ(l.f(tensor({3}), 2), "float32 [2, 3] cpu");
  EXPECT_EQ(l.f(tensor({3}, {7}), 0), "float32 [0, 3] cpu");
}

TEST(LearnRule, AKernelThatFailsIsARefusedCall) {
  const std::string cannot = "error: its results cannot be learned: ";
  EXPECT_EQ(Learning(crash).f(tensor({3})),
            cannot + "its kernel crashed (Segmentation fault)");
  EXPECT_EQ(Learning(leave).f(tensor({3})),
            cannot + "its kernel ended the process");
  EXPECT_EQ(Learning(hang, 1).f(tensor({3})),
            cannot + "its kernel did not finish within 1 seconds");
  EXPECT_EQ(Learning(forget).f(tensor({3})),
            cannot + "its kernel did not ask for result 0 with "
                     "ft_kernel_call::result");
  EXPECT_EQ(Learning(refuse).f(tensor({3})), cannot + "x must not be zero");
}

TEST(LearnRule, SizesAreKnownAndSmall) {
  const std::string cannot = "error: its results cannot be learned: ";
  Learning l(repeat);
  EXPECT_EQ(l.f(tensor({1 << 19})),
            cannot + "its tensors take more than 1 MiB");
  EXPECT_EQ(Learning(flood).f(tensor({3})),
            cannot + "its tensors take more than 1 MiB");
  Dim n(l.dialect().symbolContext().symbol("n"));
  EXPECT_EQ(l.f(tensor({n}, {1})),
            cannot + "the size of a tensor is not known: float32 [n] cpu");
  TensorMeta gpu = tensor({2});
  gpu.device = *Device::parse("cuda:0");
  EXPECT_EQ(l.f(gpu), cannot + "a tensor is on cuda:0");
  EXPECT_EQ(Learning(nullptr).f(tensor({3})),
            cannot + "the plug-in does not export its kernel 'f'");
}

} // namespace
