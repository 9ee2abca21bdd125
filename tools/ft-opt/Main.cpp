//===- Main.cpp - ft-opt: runs passes on .mlir files -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/Autograd.h"
#include "compiler/fake/FakePropagate.h"
#include "compiler/functionalize/Functionalize.h"
#include "compiler/lower/Lower.h"
#include "compiler/lower/Passes.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtInliner.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  ft::registerFakePasses();
  ft::registerFunctionalizePasses();
  ft::registerAutogradPasses();
  mlir::registerTransformsPasses();
  ft::registerLowerPasses();
  mlir::DialectRegistry registry;
  registry.insert<ft::FtDialect>();
  ft::registerLowerDialects(registry);
  ft::registerFtInliner(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Foretrace's pass driver for .mlir files\n", registry));
}
