//===- Lower.cpp - From annotated graphs to kernels and a schedule *- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Lower.h"

#include "compiler/lower/CheckGraph.h"
#include "compiler/lower/DeviceSchedule.h"
#include "compiler/lower/EntryFunction.h"
#include "compiler/lower/Schedule.h"
#include "compiler/lower/ToLinalg.h"
#include "compiler/partition/PartitionNames.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Programs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace ft {

void registerLowerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, complex::ComplexDialect,
                  func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
}

/// The graph of one program as operations that kernels are made of.
static FailureOr<func::FuncOp> toKernelOps(ModuleOp module,
                                           const LowerOptions &options) {
  auto graph = module.lookupSymbol<func::FuncOp>("forward");
  if (graph && !graph.isExternal() &&
      (failed(options.isMixed ? checkValues(graph)
                              : checkValues(graph, options.device)) ||
       failed(checkInterface(graph))))
    return failure();
  if (failed(lowerToLinalg(module, options.panelWidth, options.isMixed)))
    return failure();
  // Unused results go, reshapes of reshapes meet, equal ops become one.
  PassManager passes(module.getContext(), func::FuncOp::getOperationName());
  passes.enableVerifier(!options.onlyPlan);
  // Regions here are single blocks: nothing to simplify between blocks.
  passes.addPass(createCanonicalizerPass(
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Disabled)));
  passes.addPass(createCSEPass());
  for (auto graph : module.getOps<func::FuncOp>())
    if (failed(passes.run(graph)))
      return failure();
  return module.lookupSymbol<func::FuncOp>("forward");
}

namespace {
using Programs = std::vector<std::unique_ptr<PlannedProgram>>;
} // namespace

/// Schedules programs that run one after the other on one arena, and plans it.
static FailureOr<Programs> planPrograms(ArrayRef<ModuleOp> modules,
                                        const LowerOptions &options) {
  Programs programs;
  for (ModuleOp module : modules) {
    FailureOr<func::FuncOp> function = toKernelOps(module, options);
    if (failed(function))
      return failure();
    ScheduleOptions how;
    how.redZone = options.redZone();
    how.devices = {options.device, options.isMixed};
    how.keepsSaved = module != modules.back();
    how.before = programs.empty() ? nullptr : &programs.back()->schedule;
    if (auto peak = module->getAttrOfType<IntegerAttr>(names::kPeak)) {
      how.peak = peak.getInt();
      how.peakByProducts = module->hasAttr(names::kPeakByProducts);
    }
    FailureOr<Schedule> schedule = Schedule::build(*function, how);
    if (failed(schedule))
      return failure();
    if (options.device.kind == Device::Cuda &&
        failed(checkDeviceSchedule(*schedule, module.getLoc())))
      return failure();
    programs.push_back(std::make_unique<PlannedProgram>(
        module, std::move(*schedule), options));
    if (failed(programs.back()->plan()))
      return failure();
  }
  MemoryPlan &memory = programs.back()->schedule.memory;
  memory.setUseful(options.useful);
  memory.solve(&programs.back()->schedule.told);
  for (std::unique_ptr<PlannedProgram> &program : programs)
    if (program != programs.back())
      program->schedule.memory = memory;
  return programs;
}

/// What goes on one arena: forward and backward, all others each alone.
static SmallVector<SmallVector<ModuleOp, 2>> arenasOf(ModuleOp module) {
  SmallVector<SmallVector<ModuleOp, 2>> arenas;
  for (ModuleOp program : programsOf(module)) {
    if (programName(program) == "backward" && !arenas.empty() &&
        programName(arenas.back().back()) == "forward")
      arenas.back().push_back(program);
    else
      arenas.push_back({program});
  }
  return arenas;
}

static void loadDialects(ModuleOp module) {
  // A stage may run outside of a pass manager, which would load them.
  DialectRegistry registry;
  registerLowerDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    module.getContext()->getOrLoadDialect(name);
}

LogicalResult lowerModule(ModuleOp module, const LowerOptions &options) {
  loadDialects(module);
  for (ArrayRef<ModuleOp> modules : arenasOf(module)) {
    FailureOr<Programs> programs = planPrograms(modules, options);
    if (failed(programs))
      return failure();
    for (std::unique_ptr<PlannedProgram> &program : *programs) {
      const MemoryPlan &memory = program->schedule.memory;
      bool isLast = program == programs->back();
      program->emit(isLast ? memory.toldSlots() : memory.slotBytes().size());
      program->module.lookupSymbol<func::FuncOp>("forward").erase();
      if (failed(verifyLowered(program->module)))
        return failure();
    }
  }
  return success();
}

/// Of the tensors that a kernel reads and writes; what the hints do not make a
/// number counts nothing.
static int64_t movedBytes(Schedule &schedule, const ScheduledKernel &kernel) {
  int64_t total = 0;
  auto add = [&](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    Dim bytes = tensorBytes(schedule.shapeOf(v), type.getElementType());
    if (llvm::AddOverflow(total, schedule.atHints(bytes), total))
      total = std::numeric_limits<int64_t>::max();
  };
  llvm::for_each(kernel.inputs, add);
  llvm::for_each(kernel.outputs, add);
  return total;
}

FailureOr<ArenaPlan> planArenas(ModuleOp module, const LowerOptions &given) {
  loadDialects(module);
  LowerOptions options = given;
  options.onlyPlan = true;
  ArenaPlan plan;
  OwningOpRef<ModuleOp> copy(module.clone());
  for (ArrayRef<ModuleOp> modules : arenasOf(*copy)) {
    FailureOr<Programs> programs = planPrograms(modules, options);
    if (failed(programs))
      return failure();
    const Schedule &last = programs->back()->schedule;
    if (last.memory.estimatedBytes() >= plan.bytesAtHints) {
      plan.bytesAtHints = last.memory.estimatedBytes();
      plan.bytes = last.memory.arenaBytes();
      plan.mostLive = last.memory.lowerBound();
    }
    for (std::unique_ptr<PlannedProgram> &program : *programs) {
      Schedule &schedule = program->schedule;
      plan.hasUnknownSizes |= !schedule.late.empty();
      for (const Schedule::Repeated &what : schedule.repeated)
        plan.repeated.push_back({what.location, what.from, what.isProduct});
      plan.kernels += static_cast<int64_t>(schedule.kernels.size());
      for (const ScheduledKernel &kernel : schedule.kernels)
        if (llvm::AddOverflow(plan.movedBytes, movedBytes(schedule, kernel),
                              plan.movedBytes))
          plan.movedBytes = std::numeric_limits<int64_t>::max();
    }
  }
  return plan;
}

LogicalResult verifyLowered(ModuleOp module) {
  WalkResult walked = module.walk([](Operation *op) {
    if (isa_and_nonnull<FtDialect>(op->getDialect()) &&
        // The plan names symbols; kernels compute with sizes.
        !isa<SymbolOp, FactOp, SizeOp>(op)) {
      op->emitError("[FT0070] is left after lowering");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

} // namespace ft
