//===- MemoryCurve.cpp - Memory against time, by budget --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/MemoryCurve.h"

#include "compiler/driver/PartitionReport.h"
#include "compiler/driver/PeakBudget.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/SessionState.h"
#include "compiler/partition/Cost.h"
#include "compiler/partition/SizeHints.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/Programs.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>

namespace ft {

/// Floating point operations of all calls of all programs.
static double flopsOf(mlir::ModuleOp module) {
  double flops = 0;
  for (mlir::ModuleOp program : programsOf(module)) {
    SizeHints hints(program);
    program.walk([&](mlir::Operation *op) {
      if (std::optional<OpCost> cost = costOf(op))
        flops += double(hints.at(cost->flops));
    });
  }
  return flops;
}

static CurvePoint pointOf(const TriedBudget &tried, int64_t fullBytes,
                          const CpuTarget &target) {
  CurvePoint point;
  PartitionTable table = partitionTable(*tried.programs, &tried.plan);
  point.savedBytes = tried.savedBytes;
  point.peakBytes = tried.plan.bytesAtHints;
  point.recomputedCalls = static_cast<int64_t>(table.recomputed.size());
  point.recomputedFlops = table.recomputedFlops;
  // More than was asked for has to be kept: what can be asked for.
  point.budget =
      fullBytes && double(point.savedBytes) > tried.fraction * double(fullBytes)
          ? std::ceil(1000 * double(point.savedBytes) / double(fullBytes)) /
                1000
          : tried.fraction;
  double repeated = 0;
  for (const RecomputedRow &row : table.recomputed)
    repeated += row.isRepeated ? double(row.flops) : 0;
  point.seconds =
      (flopsOf(*tried.programs) + repeated) / (target.isa.gflops * 1e9) +
      double(tried.plan.movedBytes) / kBytesPerSecond +
      double(tried.plan.kernels) * kSecondsPerKernel;
  return point;
}

static llvm::Error fillCurve(Session::State &state,
                             std::vector<CurvePoint> &curve) {
  llvm::Expected<CpuTarget> target = CpuTarget::resolve(state.options.cpu);
  if (!target)
    return target.takeError();
  llvm::Expected<CodeDevice> device = codeDevice(*state.module);
  if (!device)
    return device.takeError();
  LowerOptions lower = planOptions(*target, state.options, *device);
  PartitionOptions options;
  options.keep = state.options.keep;
  options.recompute = state.options.recompute;
  BudgetList list(*state.module, options, lower);
  int64_t full = -1;
  std::vector<std::pair<int64_t, int64_t>> works;
  while (true) {
    mlir::FailureOr<TriedBudget> tried = list.next();
    if (mlir::failed(tried)) // MLIR was told why
      return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
    if (!tried->programs)
      break;
    full = full < 0 ? tried->savedBytes : full;
    // What keeps more, for more work, is what no budget takes.
    while (works.size() > 1 && works.back() > tried->work) {
      curve.pop_back();
      works.pop_back();
    }
    curve.push_back(pointOf(*tried, full, *target));
    works.push_back(tried->work);
  }
  return llvm::Error::success();
}

std::optional<std::vector<CurvePoint>> memoryCurve(Session &session) {
  Session::State &state = session.inside();
  if (!state.runStages(Stage::Autograd))
    return std::nullopt;
  std::vector<CurvePoint> curve;
  bool ok = state.guarded("trying budgets", DiagId::Internal,
                          [&] { return fillCurve(state, curve); });
  return ok ? std::optional(std::move(curve)) : std::nullopt;
}

std::string curveText(const std::vector<CurvePoint> &curve) {
  std::string text = llvm::formatv("{0,-8}{1,16}{2,16}{3,8}{4,18}{5,14}\n",
                                   "budget", "saved bytes", "peak bytes",
                                   "again", "flops again", "step ms")
                         .str();
  for (const CurvePoint &p : curve)
    text += llvm::formatv("{0,-8}{1,16}{2,16}{3,8}{4,18}{5,14}\n",
                          llvm::formatv("{0:f3}", p.budget).str(), p.savedBytes,
                          p.peakBytes, p.recomputedCalls, p.recomputedFlops,
                          llvm::formatv("{0:f3}", 1000 * p.seconds).str())
                .str();
  return text;
}

std::string curveJson(const std::vector<CurvePoint> &curve) {
  llvm::json::Array rows;
  for (const CurvePoint &p : curve)
    rows.push_back(llvm::json::Object{{"budget", p.budget},
                                      {"saved_bytes", p.savedBytes},
                                      {"peak_bytes", p.peakBytes},
                                      {"recomputed_calls", p.recomputedCalls},
                                      {"recomputed_flops", p.recomputedFlops},
                                      {"step_ms", 1000 * p.seconds}});
  return llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{
                                    {"curve", std::move(rows)}}))
             .str() +
         "\n";
}

} // namespace ft
