//===- OpCaseTest.cpp - Reading the oracle's lines ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/OpCase.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::conformance;

static MetaCase metaCase(llvm::StringRef line) {
  llvm::Expected<MetaCase> result = readMetaCase(line);
  EXPECT_TRUE(static_cast<bool>(result));
  return result ? *result
                : (llvm::consumeError(result.takeError()), MetaCase());
}

static const char kAdd[] = R"({"id": 7, "op": "aten.add.Tensor",
  "args": [{"t": {"dtype": "float32", "shape": [2, 3], "stride": [1, 2],
                  "offset": 4, "device": "cuda:0"}}, 1.0],
  "kwargs": {"alpha": 2},
  "out": [{"t": {"dtype": "float32", "shape": [2, 3], "stride": [1, 2],
                 "offset": 0, "device": "cuda:0"}}],
  "src": "hand", "checked_real": false})";

TEST(OpCase, ReadsACall) {
  MetaCase add = metaCase(kAdd);
  EXPECT_EQ(add.id, 7);
  EXPECT_EQ(add.op, "add.Tensor");
  ASSERT_EQ(add.args.size(), 3u);
  EXPECT_EQ(add.args[0], Arg::tensor(0));
  // 1.0 is a float and 2 an int, which decides dtypes.
  EXPECT_EQ(add.args[1], Arg::floating(1.0));
  EXPECT_EQ(add.args[2], Arg::integer(2));
  EXPECT_EQ(add.tensors[0].str(),
            "float32 [2, 3] strides [1, 2] offset 4 cuda:0");
  EXPECT_EQ(add.results[0].alias, -1);
}

TEST(OpCase, FillsInDefaults) {
  MetaCase layerNorm = metaCase(R"({"id": 1, "op": "aten.layer_norm.default",
    "args": [{"t": {"dtype": "float32", "shape": [4], "stride": [1],
                    "offset": 0, "device": "cpu"}}, [4]],
    "kwargs": {}, "out": []})");
  ASSERT_EQ(layerNorm.args.size(), 6u);
  EXPECT_TRUE(layerNorm.args[2].isNone());
  EXPECT_EQ(layerNorm.args[4], Arg::floating(1e-5));
}

TEST(OpCase, ReadsErrorsAndRealAnswers) {
  MetaCase wrong = metaCase(R"({"id": 1, "op": "aten.relu.default",
    "args": [], "kwargs": {"self": {"t": {"dtype": "float32", "shape": [],
      "stride": [], "offset": 0, "device": "cpu"}}},
    "error": {"type": "RuntimeError", "category": "shape", "message": "no"},
    "real": {"out": [{"sym": "u0"}, null, true, {"float": "-inf"}]}})");
  EXPECT_EQ(wrong.error, "shape");
  ASSERT_TRUE(wrong.realResults);
  EXPECT_EQ((*wrong.realResults)[0].str(), "u0");
  EXPECT_EQ((*wrong.realResults)[1].kind, ExpectedResult::Undefined);
  EXPECT_EQ((*wrong.realResults)[2].number, Arg::truth(true));
  EXPECT_EQ((*wrong.realResults)[3].number.real, -HUGE_VAL);
}

TEST(OpCase, KeepsOperatorsThatAreNotKnown) {
  MetaCase unknown = metaCase(R"({"id": 1, "op": "aten.no_such_thing.default",
    "args": [], "kwargs": {}, "out": []})");
  EXPECT_EQ(unknown.schema, nullptr);
}

// Only strides that reach an element count in a real kernel's answer.
TEST(TensorSpec, ComparesLayouts) {
  TensorSpec spec = metaCase(kAdd).tensors[0];
  TensorMeta meta = llvm::cantFail(spec.meta());
  EXPECT_TRUE(spec.describes(meta));
  meta.sizes[0] = Dim(1);
  spec.sizes[0] = "1";
  meta.strides[0] = Dim(77);
  EXPECT_FALSE(spec.describes(meta));
  EXPECT_TRUE(spec.describes(meta, /*layoutOfData=*/true));
}

TEST(OpCase, ReadsStoredTensors) {
  llvm::Expected<ValueCase> relu =
      readValueCase(R"({"id": 3, "op": "aten.relu_.default",
    "args": [{"v": {"dtype": "float32", "shape": [2], "offset": 16,
                    "nbytes": 8}}], "kwargs": {},
    "out": [{"v": {"dtype": "float32", "shape": [2], "offset": 32,
                   "nbytes": 8}}],
    "mutated": {"0": {"dtype": "float32", "shape": [2], "offset": 48,
                      "nbytes": 8}},
    "grad": {"0": null}, "gauge": [0]})");
  ASSERT_TRUE(static_cast<bool>(relu));
  EXPECT_EQ(relu->tensors[0].offset, 16u);
  EXPECT_EQ(relu->mutated.at(0).offset, 48u);
  EXPECT_FALSE(relu->gradients.at(0).has_value());
  EXPECT_EQ(relu->gauge, std::vector<unsigned>{0});
}
