//===- AliasSetsTest.cpp - Which values share storage ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/AliasSets.h"

#include "gtest/gtest.h"

#include "compiler/fake/FakePropagate.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

using namespace ft;

namespace {

/// The storages of all values of @forward, arguments first.
std::vector<int> storages(llvm::StringRef text) {
  mlir::MLIRContext context;
  context.loadDialect<FtDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module || mlir::failed(propagateFake(*module)))
    return {};
  auto function = module->lookupSymbol<mlir::func::FuncOp>("forward");
  AliasSets sets(function);
  std::vector<int> ids;
  for (mlir::Value argument : function.getArguments())
    ids.push_back(sets.storage(argument));
  function.walk([&](mlir::Operation *op) {
    for (mlir::Value result : op->getResults())
      ids.push_back(sets.storage(result));
  });
  return ids;
}

TEST(AliasSets, ViewsAndInPlaceResultsShare) {
  EXPECT_EQ(storages(R"mlir(
    func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>>) {
      %t = ft.aten "t.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      %s:3 = ft.aten "split.Tensor"(%t, 1) : (tensor<*x!ft.unknown>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
      %e = ft.aten "exp.default"(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      %z = ft.aten "zero_.default"(%e) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      return
    })mlir"),
            (std::vector<int>{0, 0, 0, 0, 0, 1, 1}));
}

TEST(AliasSets, ReshapeSharesWhereItIsAView) {
  EXPECT_EQ(storages(R"mlir(
    func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>>) {
      %v = ft.aten "reshape.default"(%x, [6]) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      %t = ft.aten "t.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      %c = ft.aten "reshape.default"(%t, [6]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      return
    })mlir"),
            (std::vector<int>{0, 0, 0, 1}));
}

TEST(AliasSets, SeeMetadataThatChangesInPlace) {
  // A view of what %x was; a copy of what it is then; a view again.
  EXPECT_EQ(storages(R"mlir(
    func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>>) {
      %a = ft.aten "reshape.default"(%x, [6]) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      %t = ft.aten "t_.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      %b = ft.aten "reshape.default"(%x, [6]) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      %u = ft.aten "t_.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      %c = ft.aten "reshape.default"(%x, [6]) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      return
    })mlir"),
            (std::vector<int>{0, 0, 0, 1, 0, 0}));
}

TEST(AliasSets, ArgumentsOfRegionsShowOperands) {
  EXPECT_EQ(storages(R"mlir(
    func.func @forward(%p: i1, %x: tensor<2x3xf32, #ft.meta<cpu>>) {
      %y = ft.cond(%p, %x) : (i1, tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
      then (%a: tensor<*x!ft.unknown>) {
        %t = ft.t(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
        %c = ft.clone(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
        ft.yield %c : tensor<*x!ft.unknown>
      } else (%a: tensor<*x!ft.unknown>) {
        %t = ft.t(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
        %e = ft.exp(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
        ft.yield %e : tensor<*x!ft.unknown>
      }
      return
    })mlir"),
            (std::vector<int>{-1, 0, 0, 1, 0, 2, 3}));
}

TEST(AliasSets, ArgumentsOfOneRecordShare) {
  EXPECT_EQ(storages(R"mlir(
    func.func @forward(%a: tensor<2xf32, #ft.meta<cpu>> {ft.weight = "w0"},
                       %b: tensor<2xf32, #ft.meta<cpu>> {ft.weight = "w1"},
                       %c: tensor<2xf32, #ft.meta<cpu>> {ft.weight = "w0"}) {
      return
    })mlir"),
            (std::vector<int>{0, 1, 0}));
}

} // namespace
