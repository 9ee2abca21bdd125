//===- FakeBench.cpp - What fake propagation costs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Propagation alone; the copy that each run starts from is not timed.

#include "compiler/fake/FakeCache.h"
#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/Propagator.h"
#include "dialects/ft/AtenCall.h"
#include "tests/bench/TransformerStack.h"

#include "mlir/IR/MLIRContext.h"

#include <benchmark/benchmark.h>
#include <chrono>

using namespace ft;

namespace {

double seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// A whole program from an empty cache; the argument is its number of calls.
void propagateStack(benchmark::State &state) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int layers = static_cast<int>(state.range(0)) / kStackLayerCalls;
  auto program = transformerStack(context, layers);
  uint64_t misses = 0;
  for (auto _ : state) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = program->clone();
    FakeCache cache;
    auto start = std::chrono::steady_clock::now();
    if (mlir::failed(propagateFake(*copy, &cache)))
      return state.SkipWithError("refused");
    state.SetIterationTime(seconds(start));
    misses = cache.stats.misses;
  }
  double calls = layers * kStackLayerCalls;
  state.SetComplexityN(state.range(0));
  state.counters["misses"] = static_cast<double>(misses);
  state.counters["per_call"] =
      benchmark::Counter(calls, benchmark::Counter::kIsIterationInvariantRate |
                                    benchmark::Counter::kInvert);
}
BENCHMARK(propagateStack)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond)
    ->Complexity(benchmark::oN);

/// `%z = op(%x, %y)` on square matrices.
struct OneCall {
  OneCall(llvm::StringRef name, int64_t size)
      : context(mlir::MLIRContext::Threading::DISABLED),
        loc(mlir::UnknownLoc::get(&context)) {
    context.loadDialect<FtDialect>();
    mlir::Type type = typeFromMeta(
        &context, TensorMeta::contiguous(DType::F32, {size, size}));
    mlir::OpBuilder builder(&context);
    for (int i = 0; i < 2; ++i)
      block.addArgument(type, loc);
    builder.setInsertionPointToEnd(&block);
    AtenCall call;
    call.schema = SchemaTable::get().find(name);
    call.operands = {block.getArgument(0), block.getArgument(1)};
    call.args = {Arg::tensor(0), Arg::tensor(1)};
    op = call.build(builder, loc, unknownTensorType(&context));
  }
  mlir::MLIRContext context;
  mlir::Location loc;
  mlir::Block block;
  mlir::Operation *op;
};

/// The rule each time: a size of 65536 costs what a size of 2 costs.
void matmulRule(benchmark::State &state) {
  OneCall matmul("mm.default", state.range(0));
  for (auto _ : state)
    if (mlir::failed(propagateOp(matmul.op)))
      return state.SkipWithError("refused");
}
BENCHMARK(matmulRule)->Arg(2)->Arg(65536);

/// A call that the cache knows.
void cacheHit(benchmark::State &state) {
  OneCall matmul("mm.default", 65536);
  FakeCache cache;
  Propagator walk(Propagator::Mode::Annotate, &cache);
  for (auto _ : state)
    if (mlir::failed(walk.visit(matmul.op)))
      return state.SkipWithError("refused");
  if (cache.stats.misses != 1)
    state.SkipWithError("not a hit");
}
BENCHMARK(cacheHit);

} // namespace

BENCHMARK_MAIN();
