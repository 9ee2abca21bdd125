//===- PlacementTest.cpp - Views as windows into memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Placement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace ft;
using Strides = Dims;

namespace {

struct PlacementTest : testing::Test {
  PlacementTest() {
    context.loadDialect<mlir::func::FuncDialect, mlir::tensor::TensorDialect>();
  }

  /// The placement of `%v` in `body`, a view of an argument of type `from`
  /// with these strides.
  std::optional<Placement> place(const std::string &from, Strides strides,
                                 const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%x: " + from + ") { %v = " + body + "\n return }",
        &context);
    EXPECT_TRUE(module);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    Placement operand;
    operand.strides = strides;
    TensorSizes sizes;
    return placeView(&function.getBody().front().front(), operand, sizes);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

TEST(Placement, RowMajorStridesCountEmptyDimsAsOne) {
  EXPECT_EQ(rowMajorStrides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(rowMajorStrides({2, 0, 4}), (Strides{4, 4, 1}));
  EXPECT_EQ(rowMajorStrides({}), Strides());
}

TEST_F(PlacementTest, ASliceMovesTheStart) {
  std::optional<Placement> p =
      place("tensor<6x8xf32>", {8, 1},
            "tensor.extract_slice %x[2, 1] [2, 3] [2, 1] : tensor<6x8xf32> to "
            "tensor<2x3xf32>");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->byteOffset, (2 * 8 + 1) * 4);
  EXPECT_EQ(p->strides, (Strides{16, 1}));
}

TEST_F(PlacementTest, ADroppedDimHasNoStride) {
  std::optional<Placement> p =
      place("tensor<6x8xi8>", {8, 1},
            "tensor.extract_slice %x[0, 5] [6, 1] [1, 1] : tensor<6x8xi8> to "
            "tensor<6xi8>");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->byteOffset, 5);
  EXPECT_EQ(p->strides, (Strides{8}));
}

TEST_F(PlacementTest, ExpandingSplitsAStride) {
  std::optional<Placement> p = place(
      "tensor<6xf32>", {5},
      "tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : tensor<6xf32> "
      "into tensor<2x3xf32>");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->strides, (Strides{15, 5}));
}

TEST_F(PlacementTest, CollapsingNeedsNeighbours) {
  const char *collapse = "tensor.collapse_shape %x [[0, 1, 2]] : "
                         "tensor<2x1x3xf32> into tensor<6xf32>";
  std::optional<Placement> p = place("tensor<2x1x3xf32>", {3, 77, 1}, collapse);
  ASSERT_TRUE(p); // the stride of a dim of size 1 says nothing
  EXPECT_EQ(p->strides, (Strides{1}));
  EXPECT_FALSE(place("tensor<2x1x3xf32>", {4, 4, 1}, collapse));
}
