//===- TwoDevicesTest.cpp - Graphs on the CPU and a GPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Session.h"
#include "tests/conformance/CompiledModel.h"
#include "tests/conformance/EmulatedDevice.h"
#include "tests/conformance/ScratchFolder.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace ft;
using namespace ft::conformance;

namespace {

/// A lookup on the CPU, a layer on the GPU, the head on the CPU. `%size` is a
/// number or the symbol n.
std::string lookupBodyHead(const std::string &size) {
  bool isSymbol = size != "3";
  std::string shape = isSymbol ? "?" : size;
  std::string meta = isSymbol ? "#ft.meta<[n], cpu>" : "#ft.meta<cpu>";
  std::string symbol = isSymbol
                           ? "ft.symbol \"n\" {lower = 0 : i64, upper = 64 "
                             ": i64, hint = 3 : i64, source = \"i:0\"}\n"
                           : "";
  return symbol + R"(
func.func @forward(
    %i: tensor<)" +
         shape + "xi64, " + meta +
         R"(> {ft.kind = "input", ft.name = "i", ft.target = "i"},
    %table: tensor<5x4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "table", ft.target = "table"},
    %body: tensor<4x4xf32, #ft.meta<cuda:0>> {ft.kind = "input", ft.name = "body", ft.target = "body"},
    %head: tensor<2x4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "head", ft.target = "head"})
    -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"},
        tensor<*x!ft.unknown> {ft.role = "output", ft.name = "b"}) {
  %e = ft.embedding(%table, %i) {ft.name = "e"} : (tensor<5x4xf32, #ft.meta<cpu>>, tensor<)" +
         shape + "xi64, " + meta + R"(>) -> tensor<*x!ft.unknown>
  %there = ft._to_copy(%e, device = #ft.device<cuda:0>) {ft.name = "there"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
  %m = ft.linear(%there, %body) {ft.name = "m"} : (tensor<*x!ft.unknown>, tensor<4x4xf32, #ft.meta<cuda:0>>) -> tensor<*x!ft.unknown>
  %b = ft.relu(%m) {ft.name = "b"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
  %back = ft._to_copy(%b, device = #ft.device<cpu>) {ft.name = "back"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
  %y = ft.linear(%back, %head) {ft.name = "y"} : (tensor<*x!ft.unknown>, tensor<2x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  return %y, %b : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
})";
}

HostTensor floats(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<float(int64_t)> value) {
  HostTensor t(DType::F32, shape);
  for (int64_t i = 0, n = t.view().numel(); i < n; ++i) {
    float v = value(i);
    std::memcpy(t.bytes.data() + 4 * i, &v, 4);
  }
  return t;
}

class TwoDevicesTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(llvm::toString(loadEmulatedDevice()), ""); }

  std::unique_ptr<CompiledModel> compiled(const std::string &text) {
    Options options;
    options.emulateDevice = true;
    Session session(options);
    if (!session.loadText(text, "two") ||
        !session.compile(scratch.file("two" + llvm::Twine(count++)))) {
      ADD_FAILURE() << session.diagnostics().front().render();
      return nullptr;
    }
    auto model = CompiledModel::load(session.files().library);
    EXPECT_TRUE(bool(model));
    return model ? std::move(*model) : nullptr;
  }

  /// Runs lookupBodyHead on indices 0, 2, 4, 1, … and compares.
  static void check(CompiledModel &model, int64_t n) {
    HostTensor index(DType::I64, {n});
    for (int64_t i = 0; i < n; ++i) {
      int64_t v = 2 * i % 5;
      std::memcpy(index.bytes.data() + 8 * i, &v, 8);
    }
    auto at = [](int64_t i) { return float(i % 7) - 3; };
    HostTensor table = floats({5, 4}, at), body = floats({4, 4}, at),
               head = floats({2, 4}, at);
    std::vector<HostTensor> inputs = {index, table, body, head};
    auto outputs = model.forward(inputs);
    ASSERT_TRUE(bool(outputs)) << llvm::toString(outputs.takeError());
    for (int64_t row = 0; row < n; ++row) {
      float b[4];
      for (int64_t j = 0; j < 4; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < 4; ++k)
          sum += at(2 * row % 5 * 4 + k) * at(4 * j + k);
        b[j] = std::max(sum, 0.0F);
        EXPECT_EQ((*outputs)[1].view().at(4 * row + j).real(), b[j]);
      }
      for (int64_t o = 0; o < 2; ++o) {
        float sum = 0;
        for (int64_t j = 0; j < 4; ++j)
          sum += b[j] * at(4 * o + j);
        EXPECT_EQ((*outputs)[0].view().at(2 * row + o).real(), sum);
      }
    }
  }

  ScratchFolder scratch;
  unsigned count = 0;
};

TEST_F(TwoDevicesTest, LookupAndHeadOnTheHost) {
  auto model = compiled(lookupBodyHead("3"));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->info().inputs[1]->device.device_type, kDLCPU);
  EXPECT_EQ(model->info().inputs[2]->device.device_type, kDLCUDA);
  EXPECT_EQ(model->info().outputs[0]->device.device_type, kDLCPU);
  EXPECT_EQ(model->info().outputs[1]->device.device_type, kDLCUDA);
  for (int i = 0; i < 2; ++i)
    check(*model, 3);
}

TEST_F(TwoDevicesTest, SizesOfTheRun) {
  auto model = compiled(lookupBodyHead("n"));
  ASSERT_TRUE(model);
  for (int64_t n : {7, 1, 0, 64})
    check(*model, n);
}

/// A number on the CPU that a kernel of the GPU reads is copied there, a view
/// as its elements are seen; a value that is read on both sides, once.
TEST_F(TwoDevicesTest, NumbersAndViewsAreCopied) {
  auto model = compiled(R"(
func.func @forward(
    %x: tensor<2x3xf32, #ft.meta<cuda:0>> {ft.kind = "input", ft.name = "x", ft.target = "x"},
    %s: tensor<f32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "s", ft.target = "s"})
    -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"},
        tensor<*x!ft.unknown> {ft.role = "output", ft.name = "z"}) {
  %m = ft.aten "mul.Tensor"(%x, %s) {ft.name = "m"} : (tensor<2x3xf32, #ft.meta<cuda:0>>, tensor<f32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  %t = ft.aten "t.default"(%m) {ft.name = "t"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
  %y = ft._to_copy(%t, device = #ft.device<cpu>) {ft.name = "y"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
  %z = ft.aten "mul.Tensor"(%y, %s) {ft.name = "z"} : (tensor<*x!ft.unknown>, tensor<f32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  return %y, %z : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
})");
  ASSERT_TRUE(model);
  std::vector<HostTensor> inputs = {
      floats({2, 3}, [](int64_t i) { return float(i); }),
      floats({}, [](int64_t) { return 2.0F; })};
  auto outputs = model->forward(inputs);
  ASSERT_TRUE(bool(outputs)) << llvm::toString(outputs.takeError());
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      double x = double(3 * j + i);
      EXPECT_EQ((*outputs)[0].view().at(2 * i + j).real(), 2 * x);
      EXPECT_EQ((*outputs)[1].view().at(2 * i + j).real(), 4 * x);
    }
}

} // namespace
