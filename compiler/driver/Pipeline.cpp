//===- Pipeline.cpp - What running one stage means -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Pipeline.h"

#include "compiler/autograd/Autograd.h"
#include "compiler/autograd/LoopBound.h"
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cuda/CudaCodegen.h"
#include "compiler/codegen/cuda/DeviceCalls.h"
#include "compiler/codegen/cuda/Ptxas.h"
#include "compiler/driver/ArtefactBuilder.h"
#include "compiler/driver/InputGradients.h"
#include "compiler/driver/MemoryEstimate.h"
#include "compiler/driver/PeakBudget.h"
#include "compiler/emit/Emit.h"
#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/SpreadOperands.h"
#include "compiler/functionalize/Functionalize.h"
#include "compiler/lower/Lower.h"
#include "compiler/lower/MemoryPlan.h"
#include "compiler/optimizer/Update.h"
#include "compiler/partition/SplitJoint.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Programs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <limits>

namespace ft {

void registerPipelineDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<FtDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect>();
  registerLowerDialects(registry);
  registerCpuCodegenDialects(registry);
}

/// A stage reported its errors to MLIR already.
static llvm::Error reported() {
  return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
}

static llvm::Error runFake(PipelineState &state) {
  if (mlir::failed(propagateFake(state.module, &state.cache)) ||
      mlir::failed(verifyFakeStage(state.module)))
    return reported();
  return llvm::Error::success();
}

llvm::Error checkAnnotations(Stage stage, PipelineState &state) {
  if (stage != Stage::Fake && stage != Stage::Functionalize)
    return llvm::Error::success();
  // Functionalize may leave denser values.
  FakeCheck what =
      stage == Stage::Fake ? FakeCheck::Layouts : FakeCheck::Shapes;
  if (mlir::failed(checkFake(state.module, what, &state.cache)))
    return reported();
  return llvm::Error::success();
}

static llvm::Error runFunctionalize(PipelineState &state) {
  // The module may be a text by hand, here and in stage lower. One that has
  // been through this stage before is checked as what it is.
  auto stage = state.module->getAttrOfType<mlir::StringAttr>(names::kStage);
  bool isFake = stage && stage.getValue() == stageInfo(Stage::Fake).name;
  if (llvm::Error error =
          checkAnnotations(isFake ? Stage::Fake : Stage::Functionalize, state))
    return error;
  if (mlir::failed(functionalize(state.module)) ||
      mlir::failed(verifyFunctionalizeStage(state.module)))
    return reported();
  return llvm::Error::success();
}

static llvm::Error runAutograd(PipelineState &state) {
  if (llvm::Error error = checkAnnotations(Stage::Functionalize, state))
    return error;
  if (llvm::Error error =
          askForGradients(state.module, state.options.inputGradients))
    return error;
  if (mlir::failed(declareBounds(state.module, state.options.loopBounds)) ||
      mlir::failed(buildJoint(state.module, &state.cache)) ||
      mlir::failed(verifyAutogradStage(state.module)))
    return reported();
  return checkGradientsAsked(state.module, state.options.inputGradients);
}

static llvm::Error runPartition(PipelineState &state) {
  if (llvm::Error error = checkAnnotations(Stage::Functionalize, state))
    return error;
  PartitionOptions options;
  options.keep = state.options.keep;
  options.recompute = state.options.recompute;
  mlir::LogicalResult done = mlir::success();
  llvm::StringRef text = state.options.memoryBudget;
  if (text.empty()) {
    done = splitJoint(state.module, options);
  } else {
    llvm::Expected<CpuTarget> target = CpuTarget::resolve(state.options.cpu);
    if (!target)
      return target.takeError();
    llvm::Expected<CodeDevice> device = codeDevice(state.module);
    if (!device)
      return device.takeError();
    LowerOptions lower = planOptions(*target, state.options, *device);
    double fraction = 1;
    std::optional<int64_t> bytes;
    if (text.ends_with_insensitive("b"))
      bytes = parseBytes(text.str());
    else
      (void)text.getAsDouble(fraction);
    done = bytes ? partitionWithinPeak(state.module, options, *bytes, lower)
                 : partitionWithin(state.module, options, fraction, lower);
  }
  if (mlir::failed(done))
    return reported();
  if (!state.options.optimizer.empty()) {
    const OptimizerInfo *optimizer = findOptimizer(state.options.optimizer);
    if (!optimizer)
      return makeError(DiagId::BadCommandLine, "",
                       "no optimizer is called '" + state.options.optimizer +
                           "'",
                       "there are " + optimizerNames());
    if (mlir::failed(addUpdate(state.module, *optimizer, &state.cache)))
      return reported();
  }
  if (mlir::failed(verifyPartitionStage(state.module)))
    return reported();
  return llvm::Error::success();
}

/// All devices of values, in the order of the program.
static llvm::SmallVector<Device, 2> devicesOf(mlir::ModuleOp module) {
  llvm::SmallVector<Device, 2> devices;
  auto look = [&](mlir::Value value) {
    std::optional<TensorMeta> meta = metaOf(value);
    if (meta && llvm::none_of(devices, [&](const Device &known) {
          return known == meta->device;
        }))
      devices.push_back(meta->device);
  };
  module.walk([&](mlir::Operation *op) {
    for (mlir::Value result : op->getResults())
      look(result);
    for (mlir::Region &region : op->getRegions())
      for (mlir::BlockArgument argument : region.getArguments())
        look(argument);
  });
  return devices;
}

llvm::Expected<CodeDevice> codeDevice(mlir::ModuleOp module) {
  llvm::SmallVector<Device, 2> devices = devicesOf(module);
  for (const Device &device : devices)
    if (device.kind == Device::Meta)
      return makeError(DiagId::MetaDevice, "",
                       "the graph has values on the device meta, which has no "
                       "memory: it can be inspected, not compiled");
  CodeDevice code;
  for (const Device &device : devices) {
    if (device.kind != Device::Cuda)
      continue;
    if (code.device.kind == Device::Cuda)
      return makeError(
          DiagId::NotYetSupported, "",
          "the graph has values on " + code.device.str() + " and " +
              device.str() + ", and code for more than one GPU is not made yet",
          "move the model to one of them: --device " + code.device.str());
    code.device = device;
  }
  code.isMixed = code.device.kind == Device::Cuda && devices.size() > 1;
  return code;
}

/// The GPU that Options::target names.
static llvm::Expected<CudaTarget> cudaTarget(const Options &options) {
  llvm::StringRef chip = options.target;
  if (chip.consume_front("cuda"))
    (void)chip.consume_front(":");
  else
    chip = "";
  return CudaTarget::parse(chip);
}

/// What there is for CPUs alone.
static llvm::Error checkDeviceOptions(const Options &options) {
  if (options.training || options.joint)
    return makeError(DiagId::NotYetSupported, "",
                     "training on a GPU is not compiled yet");
  const CodeChecks &checks = options.checks;
  if (checks.accesses || checks.address || checks.undefined)
    return makeError(DiagId::NotYetSupported, "",
                     "code checks of kernels on a GPU are not made yet");
  return llvm::Error::success();
}

/// Whether the elements of a static tensor, and the storage that they span,
/// have fewer than 2^63 bytes: what code and run time count in.
static bool sizesFit(const TensorMeta &meta) {
  int64_t bytes = dtypeBytes(meta.dtype), last = 0;
  for (size_t i = 0; i < meta.sizes.size(); ++i) {
    int64_t size = meta.sizes[i].value(), stride = meta.strides[i].value();
    int64_t span;
    if (size == 0)
      return true;
    if (llvm::MulOverflow(bytes, size, bytes) ||
        stride == std::numeric_limits<int64_t>::min() ||
        llvm::MulOverflow(size - 1, std::abs(stride), span) ||
        llvm::AddOverflow(last, span, last))
      return false;
  }
  return !llvm::AddOverflow(last, meta.offset.value(), last) &&
         !llvm::AddOverflow(last, int64_t(1), last) &&
         !llvm::MulOverflow(last, int64_t(dtypeBytes(meta.dtype)), last);
}

static mlir::LogicalResult checkSizes(mlir::ModuleOp module) {
  auto check = [](mlir::Value value, mlir::Location location) {
    std::optional<TensorMeta> meta = metaOf(value);
    if (!meta || !meta->isStatic() || sizesFit(*meta))
      return mlir::success();
    return mlir::LogicalResult(mlir::emitError(location)
                               << "[FT0006] a tensor of 2^63 bytes or more "
                                  "cannot be compiled: "
                               << meta->str());
  };
  mlir::WalkResult result = module.walk([&](mlir::Operation *op) {
    for (mlir::Region &region : op->getRegions())
      for (mlir::BlockArgument argument : region.getArguments())
        if (mlir::failed(check(argument, argument.getLoc())))
          return mlir::WalkResult::interrupt();
    for (mlir::Value value : op->getResults())
      if (mlir::failed(check(value, op->getLoc())))
        return mlir::WalkResult::interrupt();
    return mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

LowerOptions lowerOptions(const CpuTarget &target, const Options &options,
                          CodeDevice code) {
  LowerOptions lower;
  lower.device = code.device;
  lower.isMixed = code.isMixed;
  lower.panelWidth = [&](DType, Device where) {
    return where.kind == Device::Cuda ? kDevicePanel : target.panelWidth();
  };
  lower.scratchBytes = [&](mlir::func::FuncOp kernel) {
    return kernelScratchBytes(kernel, target);
  };
  lower.checks = options.checks;
  return lower;
}

LowerOptions planOptions(const CpuTarget &target, const Options &options,
                         CodeDevice code) {
  LowerOptions plan = lowerOptions(target, options, code);
  plan.scratchBytes = nullptr;
  return plan;
}

static llvm::Error runLower(PipelineState &state) {
  llvm::Expected<CodeDevice> device = codeDevice(state.module);
  if (!device)
    return device.takeError();
  bool isCuda = device->device.kind == Device::Cuda;
  if (isCuda) {
    if (llvm::Error error = checkDeviceOptions(state.options))
      return error;
    llvm::Expected<CudaTarget> chip = cudaTarget(state.options);
    if (!chip)
      return chip.takeError();
  }
  if (mlir::failed(checkSizes(state.module)))
    return reported();
  for (mlir::ModuleOp program : programsOf(state.module))
    if (mlir::failed(checkFake(program, FakeCheck::Shapes, &state.cache)) ||
        mlir::failed(spreadOperands(program)))
      return reported();
  if (mlir::failed(lowerModule(
          state.module, lowerOptions(*state.target, state.options, *device))))
    return reported();
  if (isCuda)
    state.module->setAttr(
        kDeviceAttr,
        DeviceAttr::get(state.module.getContext(), device->device));
  if (device->isMixed)
    state.module->setAttr(kHostAttr,
                          mlir::UnitAttr::get(state.module.getContext()));
  return llvm::Error::success();
}

/// Compiles the kernels of a model that is on a GPU; what is left of the module
/// launches them.
static llvm::Error compileForDevice(PipelineState &state) {
  auto device = state.module->getAttrOfType<DeviceAttr>(kDeviceAttr);
  state.device.reset();
  if (!device)
    return llvm::Error::success();
  llvm::Expected<CudaTarget> chip = cudaTarget(state.options);
  if (!chip)
    return chip.takeError();
  llvm::Expected<DeviceCode> code = compileKernels(state.module, *chip);
  if (!code)
    return code.takeError();
  if (mlir::failed(rewriteDeviceCalls(state.module, code->kernels)))
    return reported();
  AbiDeviceCode &made = state.device.emplace();
  for (const LaunchInfo &kernel : code->kernels) {
    made.kernels.push_back(kernel.name);
    made.uses.push_back({kernel.name, std::nullopt, kernel.sharedBytes});
  }
  made.threads = kBlockThreads;
  made.device = device.getDevice().index;
  made.sm = chip->sm;
  made.exact = chip->exact;
  made.isMixed = state.module->hasAttr(kHostAttr);
  if (state.options.emulateDevice) {
    made.ptx = emulatedImage(code->bitcode);
    return llvm::Error::success();
  }
  made.ptx = std::move(code->ptx);
  std::optional<std::string> ptxas = findPtxas();
  if (!ptxas || made.kernels.empty())
    return llvm::Error::success();
  llvm::Expected<Assembled> assembled = assemble(*ptxas, made.ptx, *chip);
  if (!assembled)
    return assembled.takeError();
  made.cubin = std::move(assembled->cubin);
  for (const KernelResources &k : assembled->kernels)
    for (AbiKernelUse &use : made.uses)
      if (use.name == k.name) {
        use.registers = k.registers;
        use.sharedBytes = k.sharedBytes;
        use.spillBytes = k.spillBytes;
      }
  return llvm::Error::success();
}

/// Programs that are linked together have entries of different names, see
/// AbiProgram.
static void nameEntries(mlir::ModuleOp program) {
  llvm::StringRef name = programName(program);
  if (name == "forward")
    return;
  AbiProgram names;
  names.name = name.str();
  for (auto [from, to] : {std::pair{"ft_gen_forward", names.entry()},
                          std::pair{"ft_gen_sizes", names.sizes()}})
    if (mlir::Operation *entry = program.lookupSymbol(from))
      mlir::SymbolTable::setSymbolName(entry, to);
}

/// Only the plan still names symbols, and it stays as it is.
static void dropSymbols(mlir::ModuleOp module) {
  for (mlir::Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (mlir::isa<SymbolOp, FactOp>(op))
      op.erase();
}

static llvm::Error runCodegen(PipelineState &state) {
  CpuCodegenOptions options;
  options.checks = state.options.checks;
  for (mlir::ModuleOp program : programsOf(state.module)) {
    if (program == state.module)
      if (llvm::Error error = compileForDevice(state))
        return error;
    std::optional<Plan> plan = Plan::of(program);
    if (plan && programName(program) == "forward")
      state.guards = guardsOf(program, *plan);
    dropSymbols(program);
    nameEntries(program);
    llvm::Expected<std::string> object =
        compileToObject(program, *state.target, options);
    if (!object)
      return object.takeError();
    state.objects.push_back(std::move(*object));
  }
  return llvm::Error::success();
}

/// A text by hand may ask for any amount of weights; a plan that was made has
/// no more than its constants take.
static llvm::Error checkWeightsBytes(const Artefact &artefact) {
  uint64_t end = 0;
  for (const Constant &c : artefact.constants)
    end = std::max(end, c.offset + c.bytes());
  if (artefact.weightsBytes <= llvm::alignTo(end, MemoryPlan::kAlignment))
    return llvm::Error::success();
  return makeError(DiagId::BadText, "",
                   "ft.plan: weights_bytes is " +
                       llvm::Twine(artefact.weightsBytes) +
                       ", the constants end at " + llvm::Twine(end));
}

/// What codegen has left of the programs; empty if something is missing.
static std::vector<ProgramParts> compiledPrograms(PipelineState &state) {
  std::vector<ProgramParts> parts;
  auto programs = programsOf(state.module);
  if (programs.size() != state.objects.size())
    return parts;
  for (auto [program, object] : llvm::zip(programs, state.objects)) {
    std::optional<Plan> plan = Plan::of(program);
    if (!plan || object.empty())
      return {};
    auto optimizer =
        program->getAttrOfType<mlir::StringAttr>(names::kOptimizer);
    parts.push_back({programName(program).str(), std::move(*plan),
                     std::move(object), optimizer ? optimizer.str() : ""});
  }
  return parts;
}

static llvm::Error runEmit(PipelineState &state) {
  std::vector<ProgramParts> programs = compiledPrograms(state);
  if (programs.empty())
    return makeError(DiagId::NotYetSupported, "",
                     "cannot go on from the text of stage codegen: the "
                     "object code is not in it",
                     "start from a dump of stage lower");
  std::unique_ptr<WeightSource> opened;
  WeightSource *weights = state.weights;
  auto archive = state.module->getAttrOfType<mlir::StringAttr>(names::kArchive);
  bool needsRecords = llvm::any_of(programs, [](const ProgramParts &p) {
    return !p.plan.constants.empty() ||
           llvm::any_of(p.plan.inputs, [](const PlannedValue &v) {
             return !v.record.empty();
           });
  });
  if (!weights && archive && needsRecords) {
    llvm::Expected<std::unique_ptr<WeightSource>> source =
        WeightSource::open(archive.getValue());
    if (!source)
      return source.takeError();
    opened = std::move(*source);
    weights = opened.get();
  }
  llvm::StringRef name = llvm::sys::path::filename(state.outputBase);
  bool isTrained = programs.size() > 1;
  ProgramParts &only = programs.front();
  llvm::Expected<Artefact> artefact =
      isTrained ? buildTrainingArtefact(name, std::move(programs),
                                        *state.target, weights)
                : buildArtefact(name, only.plan, *state.target, weights,
                                std::move(only.object));
  if (!artefact)
    return artefact.takeError();
  artefact->guards = state.guards;
  artefact->device = state.device;
  artefact->sanitized = state.options.checks.address;
  if (llvm::Error error = checkWeightsBytes(*artefact))
    return error;
  EmitOptions options;
  options.linker = state.options.linker;
  llvm::Expected<EmittedFiles> files =
      emitArtefact(*artefact, state.outputBase, options);
  if (!files)
    return files.takeError();
  state.files = {files->library, files->header, files->weights};
  return llvm::Error::success();
}

using StageFunction = llvm::Error (*)(PipelineState &);

/// One row for each stage that works on the module; null: not in this build.
static StageFunction functionOf(Stage stage) {
  switch (stage) {
  case Stage::Fake:
    return runFake;
  case Stage::Functionalize:
    return runFunctionalize;
  case Stage::Autograd:
    return runAutograd;
  case Stage::Partition:
    return runPartition;
  case Stage::Import:
    return nullptr;
  case Stage::Lower:
    return runLower;
  case Stage::Codegen:
    return runCodegen;
  case Stage::Emit:
    return runEmit;
  }
  return nullptr;
}

bool hasStage(Stage stage) {
  return stage == Stage::Import || functionOf(stage);
}

bool isForTraining(Stage stage) {
  return stage == Stage::Autograd || stage == Stage::Partition;
}

Stage stageAfter(Stage stage, Stage last, const Options &options) {
  auto isLeftOut = [&](Stage next) {
    bool asked =
        options.training || (next == Stage::Autograd &&
                             (options.joint || last == Stage::Partition));
    return isForTraining(next) && !asked;
  };
  Stage next = stage;
  do
    next = static_cast<Stage>(static_cast<int>(next) + 1);
  while (next != last && isLeftOut(next));
  return next;
}

llvm::Error runStage(Stage stage, PipelineState &state) {
  const StageInfo &info = stageInfo(stage);
  StageFunction run = functionOf(stage);
  if (!run)
    return makeError(DiagId::NotYetSupported, "",
                     llvm::Twine("stage '") + info.name +
                         "' is not in this build",
                     "`foretrace stages` lists those that are");
  if (stage >= Stage::Lower && !state.target) {
    llvm::Expected<CpuTarget> target = CpuTarget::resolve(state.options.cpu);
    if (!target)
      return target.takeError();
    state.target = std::move(*target);
  }
  if (llvm::Error error = run(state))
    return error;
  if (state.options.verify && mlir::failed(mlir::verify(state.module)))
    return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
  state.module->setAttr(
      names::kStage,
      mlir::StringAttr::get(state.module.getContext(), info.name));
  return llvm::Error::success();
}

} // namespace ft
