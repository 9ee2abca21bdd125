//===- FakeTiming.cpp - How long fake propagation takes --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/FakeTiming.h"

#include "compiler/driver/SessionState.h"
#include "compiler/fake/FakePropagate.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtDialect.h"

#include <chrono>

namespace ft {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static FakeCacheStats statsOf(const FakeCache &cache) {
  FakeCacheStats stats{
      cache.stats.hits, cache.stats.misses, cache.stats.checked, {}};
  for (auto &[reason, count] : cache.stats.bypasses)
    stats.bypasses.emplace_back(reason.str(), count);
  return stats;
}

FakeCacheStats fakeCacheStats(const Session &session) {
  return statsOf(session.inside().cache);
}

/// Takes the annotations of results away: the state that import leaves.
static size_t stripAnnotations(mlir::ModuleOp module) {
  size_t calls = 0;
  mlir::Type unknown = unknownTensorType(module.getContext());
  module.walk([&](mlir::Operation *op) {
    if (!schemaOf(op))
      return;
    ++calls;
    for (mlir::Value result : op->getResults())
      if (mlir::isa<mlir::TensorType, mlir::NoneType>(result.getType()))
        result.setType(unknown);
  });
  return calls;
}

static bool propagateOnce(mlir::ModuleOp module, bool crosscheck,
                          FakeTiming &timing) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  timing.nodes = stripAnnotations(*copy);
  FakeCache cache;
  cache.crosscheck = crosscheck;
  auto start = Clock::now();
  bool ok = mlir::succeeded(propagateFake(*copy, &cache));
  double taken = secondsSince(start);
  timing.seconds = timing.runs ? std::min(timing.seconds, taken) : taken;
  timing.cache = statsOf(cache);
  return ok;
}

bool timeFake(Session &session, double seconds, FakeTiming &timing) {
  Session::State &s = session.inside();
  if (s.module && !s.declareSizes())
    return false;
  return s.guarded("stage fake", DiagId::Internal, [&]() -> llvm::Error {
    if (!s.module || *s.stage >= Stage::Lower)
      return makeError(DiagId::BadCommandLine, s.source,
                       "the module stands after stage lower, where there is "
                       "nothing to propagate",
                       "start from an earlier dump of the model");
    bool crosscheck = s.options.crosscheck;
    // The first run warms up, and says what there is to say.
    if (!propagateOnce(*s.module, crosscheck, timing))
      return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
    mlir::ScopedDiagnosticHandler silent(
        &s.context(), [](mlir::Diagnostic &) { return mlir::success(); });
    auto begin = Clock::now();
    do {
      propagateOnce(*s.module, crosscheck, timing);
      ++timing.runs;
    } while (secondsSince(begin) < seconds);
    return llvm::Error::success();
  });
}

} // namespace ft
