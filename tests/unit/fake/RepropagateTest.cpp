//===- RepropagateTest.cpp - Annotates a graph for other inputs *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/Repropagate.h"

#include "gtest/gtest.h"

#include "compiler/fake/FakeCache.h"
#include "compiler/fake/FakePropagate.h"
#include "tests/unit/fake/Modules.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace ft;

namespace {

/// Propagated as written: x is float32 [2, 3] on the CPU.
Program annotated(llvm::ArrayRef<std::string> calls) {
  Program program("2x3", calls);
  EXPECT_TRUE(succeeded(propagateFake(*program.module)));
  return program;
}

const std::vector<std::string> kProgram = {
    "%t = transpose.int(%x, 0, 1)", "%r = relu.default(%t)",
    "%m = mm.default(%x, %r)", "%e = exp.default(%m)"};

/// The last error that `work` reports.
template <typename Work>
std::string errorOf(Program &program, Work work) {
  std::string said;
  mlir::ScopedDiagnosticHandler listen(program.context.get(),
                                       [&](mlir::Diagnostic &d) {
                                         said = d.str();
                                         return mlir::success();
                                       });
  work();
  return said;
}

TEST(Repropagate, OtherSizes) {
  Program program = annotated(kProgram);
  EXPECT_EQ(program.layout("m"), "float32 [2, 2] cpu");
  ASSERT_TRUE(succeeded(propagate(
      *program.module, {{"x", TensorMeta::contiguous(DType::F32, {8, 5})}})));
  EXPECT_EQ(program.layout("t"), "float32 [5, 8] strides [1, 5] cpu");
  EXPECT_EQ(program.layout("m"), "float32 [8, 8] cpu");
}

TEST(Repropagate, OtherStrides) {
  Program program = annotated({"%r = relu.default(%x)"});
  TensorMeta transposed = TensorMeta::contiguous(DType::F32, {2, 3});
  transposed.strides = {1, 2};
  ASSERT_TRUE(succeeded(propagate(*program.module, {{"x", transposed}})));
  EXPECT_EQ(program.layout("r"), "float32 [2, 3] strides [1, 2] cpu");
}

TEST(Repropagate, OtherDeviceAndDtype) {
  Program program = annotated(kProgram);
  ASSERT_TRUE(succeeded(
      propagate(*program.module,
                {{"x", TensorMeta::contiguous(DType::F16, {2, 3},
                                              *Device::parse("cuda:1"))}})));
  EXPECT_EQ(program.layout("e"), "float16 [2, 2] cuda:1");
}

TEST(Repropagate, ValuesThatAreFakeAlready) {
  // The output of one graph is the input of the next.
  Program first = annotated({"%t = transpose.int(%x, 0, 1)"});
  Program second(first.context, "7x7", {"%c = clone.default(%x)"});
  mlir::Value fake = first.op("t")->getResult(0);
  ASSERT_TRUE(succeeded(propagate(*second.module, {{"x", fake}})));
  EXPECT_EQ(second.layout("c"), "float32 [3, 2] strides [1, 3] cpu");
}

TEST(Repropagate, ACacheIsReused) {
  Program program = annotated(kProgram);
  FakeCache cache;
  FakeInput small("x", TensorMeta::contiguous(DType::F32, {2, 3}));
  FakeInput large("x", TensorMeta::contiguous(DType::F32, {64, 3}));
  for (const FakeInput &input : {small, large, small, large})
    ASSERT_TRUE(
        succeeded(propagate(*program.module, input, {.cache = &cache})));
  EXPECT_EQ(cache.stats.misses, 8u);
  EXPECT_EQ(cache.stats.hits, 8u);
}

TEST(Repropagate, AnnotationsAreRestoredIfAsked) {
  Program program = annotated(kProgram);
  mlir::FailureOr<Propagated> answer = propagate(
      *program.module, {{"x", TensorMeta::contiguous(DType::F32, {8, 5})}},
      {.restore = true});
  ASSERT_TRUE(succeeded(answer));
  mlir::Value m = program.op("m")->getResult(0);
  EXPECT_EQ(metaFromType(answer->types.lookup(m))->str(), "float32 [8, 8] cpu");
  // Nothing is left of it in the graph, its arguments included.
  EXPECT_EQ(program.layout("m"), "float32 [2, 2] cpu");
  EXPECT_EQ(metaOf(program.forward().getArgument(0))->str(),
            "float32 [2, 3] cpu");
  EXPECT_TRUE(succeeded(checkFake(*program.module, FakeCheck::Layouts)));
}

TEST(Repropagate, OperationsThatAPassAdded) {
  // One operation without a layout among annotated ones.
  Program program = annotated(kProgram);
  mlir::Operation *exp = program.op("e");
  mlir::Operation *added = exp->clone();
  exp->getBlock()->getOperations().insertAfter(exp->getIterator(), added);
  added->setOperand(0, program.op("r")->getResult(0));
  added->getResult(0).setType(unknownTensorType(program.context.get()));
  ASSERT_TRUE(succeeded(propagate(*program.module, {})));
  EXPECT_EQ(metaOf(added->getResult(0))->str(),
            "float32 [3, 2] strides [1, 3] cpu");
}

TEST(Repropagate, MutatedMetadataIsThatOfThePlace) {
  // The earlier node keeps [32, 64]; behind t_ the same value is [64, 32].
  Program program("32x64",
                  {"%a = clone.default(%x)", "%b = relu.default(%a)",
                   "%t = t_.default(%a)", "%c = relu.default(%a)",
                   "%s = unsqueeze_.default(%a, 0)", "%d = exp.default(%a)"});
  ASSERT_TRUE(succeeded(propagateFake(*program.module)));
  EXPECT_EQ(program.layout("a"), "float32 [32, 64] cpu");
  EXPECT_EQ(program.layout("b"), "float32 [32, 64] cpu");
  EXPECT_EQ(program.layout("c"), "float32 [64, 32] strides [1, 64] cpu");
  EXPECT_EQ(program.layout("d"), "float32 [1, 64, 32] strides [64, 1, 64] cpu");
  // Once more, with the same inputs and with others: nothing accumulates.
  ASSERT_TRUE(succeeded(propagate(*program.module, {})));
  EXPECT_EQ(program.layout("c"), "float32 [64, 32] strides [1, 64] cpu");
  ASSERT_TRUE(succeeded(propagate(
      *program.module, {{"x", TensorMeta::contiguous(DType::F32, {4, 5})}})));
  EXPECT_EQ(program.layout("b"), "float32 [4, 5] cpu");
  EXPECT_EQ(program.layout("c"), "float32 [5, 4] strides [1, 5] cpu");
}

TEST(Repropagate, ARefusedInputChangesNothing) {
  Program program = annotated(kProgram);
  EXPECT_EQ(
      errorOf(program,
              [&] {
                EXPECT_TRUE(failed(propagate(
                    *program.module,
                    {{"x", TensorMeta::contiguous(DType::F32, {2, 3, 4})}})));
              }),
      "[FT0305] mm: 'self' needs 2 dims, it has 3 (in "
      "aten.mm.default; self is float32 [2, 3, 4] cpu, mat2 is float32 "
      "[3, 2, 4] strides [4, 12, 1] cpu)");
  EXPECT_EQ(program.layout("m"), "float32 [2, 2] cpu");

  EXPECT_EQ(errorOf(program,
                    [&] {
                      EXPECT_TRUE(failed(propagate(
                          *program.module,
                          {{"y", TensorMeta::contiguous(DType::F32, {2})}})));
                    }),
            "[FT0107] @forward has no argument 'y'; its inputs are x");
  EXPECT_EQ(errorOf(program,
                    [&] {
                      EXPECT_TRUE(
                          failed(propagate(*program.module, {{"x", Dim(3)}})));
                    }),
            "[FT0107] 'x' is a tensor, what was given is a number");
}

/// A loop whose init operand is cloned in front if it is not row-major.
constexpr char kLoop[] = R"mlir(
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>> {ft.name = "x"}) {
    %y = ft.while(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    cond (%a: tensor<*x!ft.unknown>) {
      %s = ft.sum(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %s : tensor<*x!ft.unknown>
    } do (%a: tensor<*x!ft.unknown>) {
      %c = ft.clone(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %c : tensor<*x!ft.unknown>
    }
    return
  })mlir";

TEST(Repropagate, WhatRegionsNeedIsTakenOutAgain) {
  mlir::MLIRContext context;
  context.loadDialect<FtDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kLoop, &context);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(propagateFake(*module)));
  auto clones = [&] {
    unsigned count = 0;
    module->walk([&](mlir::Operation *op) {
      count += op->getName().getStringRef() == "ft.clone";
    });
    return count;
  };
  EXPECT_EQ(clones(), 1u);
  TensorMeta wide = TensorMeta::contiguous(DType::F32, {4, 5});
  wide.strides = {10, 2};
  ASSERT_TRUE(succeeded(propagate(*module, {{"x", wide}}, {.restore = true})));
  EXPECT_EQ(clones(), 1u);
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
  ASSERT_TRUE(succeeded(propagate(*module, {{"x", wide}})));
  EXPECT_EQ(clones(), 2u);
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
}

} // namespace
