//===- JointBench.cpp - What the backward pass costs to trace --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The joint graph alone, in CPU time; propagation of the forward pass and the
// copy that each run starts from are not timed.

#include "compiler/autograd/Autograd.h"
#include "compiler/fake/FakePropagate.h"
#include "dialects/ft/FtDialect.h"
#include "tests/bench/TransformerStack.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include <benchmark/benchmark.h>
#include <ctime>

using namespace ft;

namespace {

/// A stack whose arguments are inputs and parameters and which returns what its
/// last layer gives.
mlir::OwningOpRef<mlir::ModuleOp> stackToTrain(mlir::MLIRContext &context,
                                               int layers) {
  auto module = transformerStack(context, layers);
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  mlir::Block &body = function.front();
  mlir::Builder b(&context);
  for (unsigned n = 0; n < function.getNumArguments(); ++n) {
    auto name = b.getStringAttr("a" + std::to_string(n));
    function.setArgAttr(n, names::kName, name);
    function.setArgAttr(n, names::kTarget, name);
    function.setArgAttr(n, names::kKind,
                        b.getStringAttr(n ? "parameter" : "input"));
    if (n)
      function.setArgAttr(n, names::kRequiresGrad, b.getUnitAttr());
  }
  mlir::Operation *end = body.getTerminator();
  mlir::Value last = end->getPrevNode()->getResult(0);
  end->setOperands(last);
  function.setFunctionType(
      b.getFunctionType(function.getArgumentTypes(), last.getType()));
  return mlir::succeeded(propagateFake(*module)) ? std::move(module) : nullptr;
}

/// The argument is the number of calls of the forward pass.
void joint(benchmark::State &state) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int layers = static_cast<int>(state.range(0)) / kStackLayerCalls;
  auto program = stackToTrain(context, layers);
  if (!program)
    return state.SkipWithError("refused");
  for (auto _ : state) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = program->clone();
    std::clock_t start = std::clock();
    if (mlir::failed(buildJoint(*copy)))
      return state.SkipWithError("refused");
    state.SetIterationTime(double(std::clock() - start) / CLOCKS_PER_SEC);
  }
  state.SetComplexityN(state.range(0));
  state.counters["per_call"] = benchmark::Counter(
      layers * kStackLayerCalls, benchmark::Counter::kIsIterationInvariantRate |
                                     benchmark::Counter::kInvert);
}
BENCHMARK(joint)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

} // namespace

BENCHMARK_MAIN();
