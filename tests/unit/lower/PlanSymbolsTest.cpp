//===- PlanSymbolsTest.cpp - The sizes that a run decides ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/SizesFunction.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/SizeCode.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace ft;

namespace {

struct PlanSymbolsTest : testing::Test {
  PlanSymbolsTest() {
    context.loadDialect<FtDialect, mlir::arith::ArithDialect,
                        mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                        mlir::LLVM::LLVMDialect>();
  }

  /// The types of `inputs`, in text, in a plan.
  void takes(std::initializer_list<llvm::StringRef> types) {
    for (auto [i, text] : llvm::enumerate(types))
      plan.inputs.push_back({std::string(1, static_cast<char>('x' + i)),
                             llvm::cast<mlir::RankedTensorType>(
                                 mlir::parseType(text, &context))});
  }
  /// The sentences of what is left to check.
  std::vector<std::string> plans(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    std::vector<std::string> sentences;
    mlir::FailureOr<std::vector<SizeGuard>> left = planSymbols(*module, plan);
    EXPECT_TRUE(mlir::succeeded(left));
    if (mlir::succeeded(left))
      guards = std::move(*left);
    for (const SizeGuard &guard : guards)
      sentences.push_back(guard.sentence);
    return sentences;
  }
  std::string sizesOf(size_t input) {
    return dimsText(metaFromType(plan.inputs[input].type)->sizes);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Plan plan;
  std::vector<SizeGuard> guards;
};

using Sentences = std::vector<std::string>;

TEST_F(PlanSymbolsTest, DimsTellSymbols) {
  takes({"tensor<?x8xf32, #ft.meta<[\"2*s1\"], cpu>>",
         "tensor<?x?xf32, #ft.meta<[\"4*s0 + 1\", s1], cpu>>"});
  EXPECT_EQ(plans(R"(
    ft.symbol "s0" {lower = 1 : i64, upper = 64 : i64, hint = 5 : i64,
                    title = "batch"}
    ft.symbol "s1" {}
    ft.symbol "u0" {source = "nonzero"})"),
            Sentences{});
  ASSERT_EQ(plan.symbols.size(), 3u);
  EXPECT_EQ(plan.symbols[0].title, "batch");
  EXPECT_EQ(plan.symbols[0].lower, 1);
  EXPECT_EQ(plan.symbols[0].upper, 64);
  EXPECT_EQ(plan.symbols[0].hint, 5);
  EXPECT_EQ(plan.symbols[0].input, 1);
  EXPECT_EQ(plan.symbols[0].dim, 0);
  EXPECT_EQ(plan.symbols[0].scale, 4);
  EXPECT_EQ(plan.symbols[0].offset, 1);
  // Where it stands alone, although that is later.
  EXPECT_EQ(plan.symbols[1].title, "s1");
  EXPECT_EQ(plan.symbols[1].input, 1);
  EXPECT_EQ(plan.symbols[1].dim, 1);
  EXPECT_EQ(plan.symbols[1].scale, 1);
  EXPECT_EQ(plan.symbols[2].input, -1);
}

TEST_F(PlanSymbolsTest, FactsBecomeRangesDimsAndGuards) {
  takes({"tensor<?x?xf32, #ft.meta<[s0, s1], cpu>>",
         "tensor<?x?xf32, #ft.meta<[s2, s3], cpu>>"});
  EXPECT_EQ(plans(R"(
    ft.symbol "s0" {title = "batch"}
    ft.symbol "s1" {title = "width"}
    ft.symbol "s2" {}
    ft.symbol "s3" {upper = 100 : i64}
    ft.fact "s0 >= 2"
    ft.fact "s3 <= 64"
    ft.fact "s0 == s2"
    ft.fact "s3 == 2*s1 + 1"
    ft.fact "s1 % 4 == 0" {id = "g0", cause = "view", place = "net.py:12"}
    ft.fact "s1 % 2 == 0" {id = "g1", cause = "view", implied_by = ["g0"]}
    ft.fact "s0*s1 <= 1000" {id = "g2", cause = "reshape"})"),
            (Sentences{"width must be a multiple of 4, for view at net.py:12",
                       "batch*width <= 1000 must hold, for reshape"}));
  EXPECT_EQ(plan.symbols[0].lower, 2);
  EXPECT_EQ(plan.symbols[3].upper, 64);
  EXPECT_EQ(sizesOf(0), "[s0, s1]");
  EXPECT_EQ(sizesOf(1), "[s0, 2*s1 + 1]");
}

TEST_F(PlanSymbolsTest, SizesThatNoDimTells) {
  takes({"tensor<?xf32, #ft.meta<[\"s0*s1\"], cpu>>"});
  module = mlir::parseSourceString<mlir::ModuleOp>(
      "ft.symbol \"s0\" {} ft.symbol \"s1\" {title = \"seq\"}", &context);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    message = d.str();
    return mlir::success();
  });
  EXPECT_TRUE(mlir::failed(planSymbols(*module, plan)));
  EXPECT_TRUE(llvm::StringRef(message).starts_with(
      "[FT0006] no dim of an input tells the size '"))
      << message;
}

TEST_F(PlanSymbolsTest, TheFunctionIsWellFormed) {
  takes({"tensor<?x?xf32, #ft.meta<[s0, s1], cpu>>"});
  plan.outputs = {
      {"y", llvm::cast<mlir::RankedTensorType>(mlir::parseType(
                "tensor<?x?xf32, #ft.meta<[\"s0*s1\", u0], cpu>>", &context))}};
  plans(R"(
    ft.symbol "s0" {} ft.symbol "s1" {} ft.symbol "u0" {}
    ft.fact "s0 % 4 == 0" {id = "g0", cause = "view"})");
  SymContext &symbols = context.getLoadedDialect<FtDialect>()->symbolContext();
  Dim arena(symbols.symbol("s0") * symbols.symbol("s1") * 4);
  emitSizesFunction(*module, plan, guards, arena);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  auto function = module->lookupSymbol<mlir::func::FuncOp>("ft_gen_sizes");
  ASSERT_TRUE(function);
  size_t stores = 0, products = 0;
  function.walk([&](mlir::Operation *op) {
    stores += llvm::isa<mlir::LLVM::StoreOp>(op);
    products += llvm::isa<mlir::arith::MulSIExtendedOp>(op);
  });
  EXPECT_EQ(stores, 9u); // 4 sizes, 4 strides, the arena
  EXPECT_GE(products, 2u);
}

} // namespace
