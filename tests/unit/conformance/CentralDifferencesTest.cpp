//===- CentralDifferencesTest.cpp - Whether a gradient is one -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/CentralDifferences.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::conformance;

/// A call of mul: 2 * 3 with the gradients 3 and 5, of which the second one is
/// wrong.
static const char *kCase =
    R"({"id": 7, "op": "aten.mul.Tensor", "args": [
        {"v": {"dtype": "float32", "shape": [1], "offset": 0, "nbytes": 4}},
        {"v": {"dtype": "float32", "shape": [1], "offset": 4, "nbytes": 4}}],
      "kwargs": {},
      "out": [{"v": {"dtype": "float32", "shape": [1], "offset": 8,
                     "nbytes": 4}}],
      "cotangent": {"0": {"dtype": "float32", "shape": [1], "offset": 12,
                          "nbytes": 4}},
      "grad": {"0": {"dtype": "float32", "shape": [1], "offset": 16,
                     "nbytes": 4},
               "1": {"dtype": "float32", "shape": [1], "offset": 20,
                     "nbytes": 4}}})";

TEST(CentralDifferences, TellWhichGradientIsRight) {
  ScratchFolder scratch;
  float numbers[] = {2, 3, 6, 1, 3, 5};
  std::string path = scratch.file("case.bin");
  {
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    ASSERT_FALSE(error);
    file.write(reinterpret_cast<const char *>(numbers), sizeof numbers);
  }
  llvm::Expected<DataFile> data = DataFile::open(path);
  ASSERT_TRUE(static_cast<bool>(data));
  llvm::Expected<ValueCase> test = readValueCase(kCase);
  ASSERT_TRUE(static_cast<bool>(test)) << llvm::toString(test.takeError());

  // What a run gave: 3 and 2.
  HostTensor first(DType::F32, {1}), second(DType::F32, {1});
  reinterpret_cast<float *>(first.bytes.data())[0] = 3;
  reinterpret_cast<float *>(second.bytes.data())[0] = 2;
  ft_value_info outputs[2] = {};
  outputs[0].name = "gradient_call_7_arg0";
  outputs[1].name = "gradient_call_7_arg1";
  const ft_value_info *list[] = {&outputs[0], &outputs[1]};
  ft_model_info info = {};
  info.outputs = list;
  info.num_outputs = 2;
  std::vector<HostTensor> results = {first, second};
  GradientResults gradients(info, results);

  auto slopes = slopesOf(*test, *data, gradients, scratch);
  ASSERT_TRUE(static_cast<bool>(slopes)) << llvm::toString(slopes.takeError());
  ASSERT_EQ(slopes->size(), 2u);
  EXPECT_TRUE((*slopes)[0].compiledIsRight());
  EXPECT_TRUE((*slopes)[0].recordedIsRight());
  EXPECT_TRUE((*slopes)[1].compiledIsRight());
  EXPECT_FALSE((*slopes)[1].recordedIsRight()) << (*slopes)[1].str();
}

TEST(CentralDifferences, GoAlongHermitianDirections) {
  double real[] = {1, 2, 4, 3};
  makeHermitian(real, {2, 2}, false);
  EXPECT_EQ(real[1], 3);
  EXPECT_EQ(real[2], 3);
  // [[1 + 5i, 2 + 2i], [4, 3]]
  double complex[] = {1, 5, 2, 2, 4, 0, 3, 0};
  makeHermitian(complex, {1, 2, 2}, true);
  EXPECT_EQ(complex[1], 0);
  EXPECT_EQ(complex[2], 3);
  EXPECT_EQ(complex[3], 1);
  EXPECT_EQ(complex[4], 3);
  EXPECT_EQ(complex[5], -1);

  const Schema *pinv = SchemaTable::get().find("linalg_pinv.atol_rtol_float");
  ASSERT_NE(pinv, nullptr);
  std::vector<Arg> args(pinv->args.size());
  EXPECT_FALSE(isOfHermitian(*pinv, args, "self"));
  args[pinv->argIndex("hermitian")] = Arg::truth(true);
  EXPECT_TRUE(isOfHermitian(*pinv, args, "self"));
}
