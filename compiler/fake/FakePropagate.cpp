//===- FakePropagate.cpp - Annotates every value of a module ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakePropagate.h"

#include "compiler/fake/FakeReport.h"
#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/Propagator.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace ft {

/// A model is one function; calls in another one would never be reached.
static LogicalResult checkFunctions(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getName() == "forward")
      continue;
    WalkResult walked = function.walk([&](Operation *op) {
      if (!isa_and_nonnull<FtDialect>(op->getDialect()))
        return WalkResult::advance();
      emitError(op->getLoc())
          << "[FT0107] the function @" << function.getName()
          << " has operations on tensors: a model is the function @forward "
             "alone\nhelp: inline it into @forward";
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return failure();
  }
  return success();
}

static LogicalResult walkForward(ModuleOp module, Propagator::Mode mode,
                                 FakeCache *cache) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function || function.isExternal())
    return emitError(module.getLoc())
           << "[FT0107] the module has no function @forward";
  if (failed(checkFunctions(module)))
    return failure();
  FakeCache own;
  Propagator walk(mode, cache ? cache : &own);
  ModuleScope scope(module, function,
                    mode == Propagator::Mode::Annotate
                        ? ModuleScope::Use::Remake
                        : ModuleScope::Use::Follow);
  if (failed(scope.verify()))
    return failure();
  walk.setScope(&scope.scope());
  LogicalResult done = walk.run(function);
  if (mode == Propagator::Mode::Annotate)
    scope.bind(module);
  if (walk.missesRules())
    reportMissingRules(module);
  return done;
}

LogicalResult propagateFake(ModuleOp module, FakeCache *cache) {
  return walkForward(module, Propagator::Mode::Annotate, cache);
}

LogicalResult checkFake(ModuleOp module, FakeCheck what, FakeCache *cache) {
  return walkForward(module,
                     what == FakeCheck::Layouts ? Propagator::Mode::CheckLayouts
                                                : Propagator::Mode::CheckShapes,
                     cache);
}

LogicalResult propagateOp(Operation *op, FakeCache *cache, FakeScope *scope) {
  Propagator walk(Propagator::Mode::Annotate, cache);
  walk.setScope(scope);
  walk.trustNotes();
  LogicalResult done = walk.visit(op);
  if (walk.missesRules())
    reportMissingRules(op);
  return done;
}

//===----------------------------------------------------------------------===//
// The stage verifier
//===----------------------------------------------------------------------===//

static LogicalResult verifyValue(Value value, Location location) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  if (!tensor)
    return success();
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  auto encoding =
      ranked ? dyn_cast_or_null<MetaAttr>(ranked.getEncoding()) : MetaAttr();
  if (!encoding || !metaFromType(tensor))
    return emitError(location)
           << "[FT0309] a value of type " << tensor << " has no layout";
  return encoding.verifyEncoding(
      ranked.getShape(), ranked.getElementType(),
      [&] { return emitError(location) << "[FT0309] "; });
}

LogicalResult verifyFakeStage(ModuleOp module) {
  bool sound = true;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      sound &= succeeded(verifyValue(result, op->getLoc()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          sound &= succeeded(verifyValue(argument, argument.getLoc()));
    // It would accept other strides without a word.
    if (op->getName().getStringRef() == "tensor.cast") {
      emitError(op->getLoc())
          << "[FT0107] tensor.cast between annotated types: "
          << op->getOperandTypes().front() << " to "
          << op->getResultTypes().front()
          << "\nhelp: ft.refine states that both are the same, ft.clone makes "
             "other strides";
      sound = false;
    }
  });
  return success(sound);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FakePropagatePass
    : PassWrapper<FakePropagatePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FakePropagatePass)

  StringRef getArgument() const final { return "ft-fake-propagate"; }
  StringRef getDescription() const final {
    return "annotate every value with its shape, strides, dtype and device";
  }
  void runOnOperation() final {
    if (failed(propagateFake(getOperation())) ||
        failed(verifyFakeStage(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void registerFakePasses() { PassRegistration<FakePropagatePass>(); }

} // namespace ft
