//===- DerivativeTableTest.cpp - The tables of derivatives ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

#include "dialects/ft/Schema.h"

#include <gtest/gtest.h>

using namespace ft;

TEST(DerivativeTable, IsSound) {
  for (const std::string &problem : checkDerivativeTables())
    ADD_FAILURE() << problem;
}

/// IsSound sees to it that there is one for every overload without a
/// derivative.
TEST(DerivativeTable, SaysWhyThereIsNone) {
  auto why = [](const char *overload) {
    return whyNoDerivative(*SchemaTable::get().find(overload));
  };
  EXPECT_EQ(why("mm.default"), "");
  EXPECT_EQ(why("argmax.default"), "");
  EXPECT_EQ(why("geqrf.default"), "PyTorch has none either");
  EXPECT_EQ(why("lstm.data"), "packed sequences, whose steps only data knows");
}
