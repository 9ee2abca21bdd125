//===- Passes.cpp - The lower stage as passes ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Passes.h"

#include "compiler/lower/Lower.h"
#include "compiler/lower/Scalar.h"
#include "compiler/lower/ToLinalg.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace ft {

static int64_t defaultPanelWidth(DType dtype, Device) {
  return 128 / std::max<int64_t>(dtypeBytes(opmathType(dtype)), 4);
}

namespace {

template <typename Self>
struct LowerPass : PassWrapper<Self, OperationPass<ModuleOp>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registerLowerDialects(registry);
  }
};

/// ft calls ==> linalg on builtin tensors (ToLinalg.h).
struct LowerToLinalgPass : LowerPass<LowerToLinalgPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLinalgPass)
  StringRef getArgument() const override { return "ft-lower-to-linalg"; }
  StringRef getDescription() const override {
    return "replace ft calls by linalg on builtin tensors";
  }
  void runOnOperation() override {
    if (failed(lowerToLinalg(getOperation(), defaultPanelWidth)))
      signalPassFailure();
  }
};

/// The whole stage (Lower.h).
struct LowerStagePass : LowerPass<LowerStagePass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerStagePass)
  StringRef getArgument() const override { return "ft-lower"; }
  StringRef getDescription() const override {
    return "make kernels and a schedule on planned memory";
  }
  void runOnOperation() override {
    if (failed(lowerModule(getOperation(), {defaultPanelWidth, nullptr, {}})))
      signalPassFailure();
  }
};

} // namespace

void registerLowerPasses() {
  PassRegistration<LowerToLinalgPass>();
  PassRegistration<LowerStagePass>();
}

} // namespace ft
