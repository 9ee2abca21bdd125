//===- DiagnosticCollectorTest.cpp -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/DiagnosticCollector.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace ft;

namespace {
struct DiagnosticCollectorTest : testing::Test {
  mlir::MLIRContext context;
  std::vector<Diagnostic> rows;
  mlir::Location line = mlir::FileLineColLoc::get(&context, "block.py", 31, 0);
  mlir::Location node =
      mlir::NameLoc::get(mlir::StringAttr::get(&context, "linear_3"), line);
};
} // namespace

TEST_F(DiagnosticCollectorTest, TheUsersOwnPlaceAndTheNode) {
  EXPECT_EQ(placeText(node, "m.pt2"), "block.py:31 (linear_3)");
  EXPECT_EQ(placeText(line, "m.pt2"), "block.py:31");
  EXPECT_EQ(placeText(mlir::UnknownLoc::get(&context), "m.pt2"), "m.pt2");
  mlir::Location bare =
      mlir::NameLoc::get(mlir::StringAttr::get(&context, "relu"));
  EXPECT_EQ(placeText(bare, "m.pt2"), "m.pt2 (relu)");
}

TEST_F(DiagnosticCollectorTest, AnIdAndAHelpLineBecomeARow) {
  DiagnosticCollector collector(context, "m.pt2", DiagId::Internal, rows);
  mlir::emitError(node) << "[FT0302] sizes 3 and 4 do not fit\nhelp: look";
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].code(), "FT0302");
  EXPECT_EQ(rows[0].exitClass(), ExitClass::Rejected);
  EXPECT_EQ(rows[0].render(),
            "block.py:31 (linear_3): error[FT0302]: sizes 3 and 4 do not fit\n"
            "  help: look\n");
}

TEST_F(DiagnosticCollectorTest, AnErrorWithoutIdIsTheFallbackWithItsNotes) {
  DiagnosticCollector collector(context, "m.pt2", DiagId::BadText, rows);
  mlir::emitError(line, "expected '('").attachNote() << "opened here";
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].code(), "FT0107");
  EXPECT_EQ(rows[0].message, "expected '('; opened here");
}

TEST_F(DiagnosticCollectorTest, AnUnknownIdIsPartOfTheText) {
  DiagnosticCollector collector(context, "m.pt2", DiagId::Internal, rows);
  mlir::emitError(line, "[FT9999] odd");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].code(), "FT0070");
  EXPECT_EQ(rows[0].message, "[FT9999] odd");
}

TEST_F(DiagnosticCollectorTest, RemarksOfPassesAreNotForUsers) {
  DiagnosticCollector collector(context, "m.pt2", DiagId::Internal, rows);
  mlir::emitRemark(line, "vectorized");
  EXPECT_TRUE(rows.empty());
  mlir::emitWarning(line, "[FT0310] the archive claims another layout");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].exitClass(), ExitClass::Note);
}
