//===- DeviceRulesTest.cpp - On which device a call runs -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calls.h"
#include "gtest/gtest.h"

using namespace ft;

namespace {

std::string add(TensorMeta a, TensorMeta b) {
  return call("add.Tensor", {a, b}, {Arg::tensor(0), Arg::tensor(1)});
}

TEST(DeviceRules, TensorsWithoutDimsOnCpuGoWithTheOthers) {
  EXPECT_EQ(add(on("cuda", {3}), on("cpu")), "float32 [3] cuda:0");
  EXPECT_EQ(add(on("cpu"), on("cuda", {3})), "float32 [3] cuda:0");
  EXPECT_EQ(add(on("cpu"), on("cuda")), "float32 [] cuda:0");
}

TEST(DeviceRules, OthersMustAgree) {
  EXPECT_EQ(add(on("cuda"), on("cpu", {3})),
            "error: the tensors must be on the same device, not on cuda:0 and "
            "cpu, as 'self' and 'other' are");
  // One element is not the same as no dims.
  EXPECT_EQ(add(on("cpu", {1}), on("cuda", {3})),
            "error: the tensors must be on the same device, not on cpu and "
            "cuda:0, as 'self' and 'other' are");
  EXPECT_EQ(add(on("meta", {3}), on("cpu", {3})),
            "error: the tensors must be on the same device, not on meta and "
            "cpu, as 'self' and 'other' are");
}

TEST(DeviceRules, NextafterTakesNoNumbersInDisguise) {
  EXPECT_EQ(call("nextafter.default", {on("cuda", {3}), on("cpu")},
                 {Arg::tensor(0), Arg::tensor(1)}),
            "error: the tensors must be on the same device, not on cuda:0 and "
            "cpu, as 'self' and 'other' are");
}

TEST(DeviceRules, SomeOpsFollowTheirFirstTensor) {
  llvm::SmallVector<Arg> indexed = {Arg::tensor(0),
                                    Arg::listOf({Arg::tensor(1)})};
  TensorMeta index = typed(DType::I64, {2});
  EXPECT_EQ(call("index.Tensor", {on("cuda", {3}), index}, indexed),
            "float32 [2] cuda:0");
  index.device = *Device::parse("cuda");
  EXPECT_EQ(call("index.Tensor", {on("cpu", {3}), index}, indexed),
            "float32 [2] cpu");
}

TEST(DeviceRules, AnArgumentDecides) {
  EXPECT_EQ(call("to.device", {on("cuda", {3})},
                 {Arg::tensor(0), Arg::ofDevice(*Device::parse("cpu")),
                  Arg::ofDType(DType::F32)}),
            "float32 [3] cpu");
}

} // namespace
