//===- EntryFunction.cpp - The function that runs a schedule ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/EntryFunction.h"

#include "compiler/lower/EntryEmitter.h"
#include "compiler/lower/KernelCalls.h"
#include "compiler/lower/KernelGroups.h"
#include "compiler/lower/OutlineKernels.h"
#include "compiler/lower/SizesFunction.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ft {

LogicalResult EntryEmitter::plan() { return planCalls(); }

Dim EntryEmitter::emit(size_t slots) {
  schedule.plan.arenaBytes = schedule.memory.estimatedBytes();
  Dim arena = schedule.memory.totalBytes();
  for (Dim slot : schedule.memory.slotBytes().take_front(slots))
    arena = arena + slot;
  bool isModel = name == kModelFunction;
  if (isModel && !schedule.plan.symbols.empty())
    emitSizesFunction(module, schedule.plan, schedule.guards, arena,
                      numbers.getArrayRef());
  openFunction();
  if (!isModel)
    entry.setPrivate();
  placeSlots(slots);
  if (isModel)
    closeGaps();
  markInPlace();
  unsigned call = 0;
  for (const ScheduleStep &step : schedule.steps) {
    if (auto check = dyn_cast_or_null<CheckIndexOp>(step.check))
      emitCheck(check);
    else if (auto condition = dyn_cast_or_null<CheckTrueOp>(step.check))
      emitCheck(condition);
    else if (auto size = dyn_cast_or_null<SetSizeOp>(step.check))
      emitSetSize(size);
    else if (auto assertion = dyn_cast_or_null<AssertOp>(step.check))
      emitAssertion(assertion);
    else if (calls[call].custom && isDeviceCopy(calls[call].custom))
      emitDeviceCopy(calls[call++].custom);
    else if (calls[call].custom)
      emitCustomCall(calls[call++].custom);
    else if (calls[call].graphs)
      emitGraphs(calls[call++]);
    else
      emitCall(schedule.kernels[step.kernel], calls[call++]);
  }
  func::ReturnOp::create(b, loc, constant32(0));
  // The failure path, shared by all checks, returns their code.
  if (failBlock) {
    b.setInsertionPointToEnd(failBlock);
    func::ReturnOp::create(b, loc, failBlock->getArgument(0));
  }
  return arena;
}

LogicalResult EntryEmitter::planCalls() {
  KernelOutliner outliner(module, schedule);
  for (auto [step, what] : llvm::enumerate(schedule.steps)) {
    if (what.check)
      continue;
    PlannedCall call;
    call.custom =
        dyn_cast<KernelCallOp>(schedule.kernels[what.kernel].ops.front());
    call.graphs =
        dyn_cast<RunGraphsOp>(schedule.kernels[what.kernel].ops.front());
    unsigned now = schedule.firstStep + static_cast<unsigned>(step);
    if (call.graphs && failed(planGraphs(call, now)))
      return mlir::failure();
    if (call.custom || call.graphs) {
      calls.push_back(call);
      continue;
    }
    const ScheduledKernel &scheduled = schedule.kernels[what.kernel];
    numbers.insert_range(scheduled.numbers);
    if (!makesKernels()) {
      calls.push_back(call);
      continue;
    }
    call.kernel = outliner.outline(scheduled);
    // A function that is called twice has its scratch argument already.
    // Kernels of a GPU have memory of their own.
    if (schedule.devices.isOnGpu(scheduled.ops.front()))
      call.scratchBytes = 0;
    else if (hasScratch(call.kernel))
      call.scratchBytes =
          cast<MemRefType>(call.kernel.getArgumentTypes().back())
              .getNumElements();
    else if (options.scratchBytes)
      call.scratchBytes = options.scratchBytes(call.kernel);
    if (call.scratchBytes) {
      call.scratch =
          static_cast<int>(schedule.memory.add(call.scratchBytes, now, now));
      addScratchArgument(call);
    }
    calls.push_back(call);
  }
  return success();
}

bool EntryEmitter::hasScratch(func::FuncOp kernel) {
  unsigned n = kernel.getNumArguments();
  return n && kernel.getArgAttr(n - 1, "ft.scratch");
}

void EntryEmitter::addScratchArgument(const PlannedCall &call) {
  if (hasScratch(call.kernel))
    return;
  func::FuncOp kernel = call.kernel;
  auto type = MemRefType::get({call.scratchBytes}, b.getI8Type());
  auto attrs =
      b.getDictionaryAttr(b.getNamedAttr("ft.scratch", b.getUnitAttr()));
  (void)kernel.insertArgument(kernel.getNumArguments(), type, attrs, loc);
}

/// Tells the kernels which of their inputs may be the memory of an output.
/// Equal kernels are one function: all calls of one have the mark of any.
void EntryEmitter::markInPlace() {
  DenseMap<int, func::FuncOp> functions;
  unsigned call = 0;
  for (const ScheduleStep &step : schedule.steps)
    if (!step.check)
      functions[step.kernel] = calls[call++].kernel;
  for (const Schedule::Tie &tie : schedule.ties)
    if (schedule.memory.isInPlace(tie.buffer))
      functions[tie.kernel].setArgAttr(tie.input, "ft.inplace",
                                       b.getUnitAttr());
}

void EntryEmitter::openFunction() {
  SmallVector<Type> types(7, pointer());
  b.setInsertionPointToEnd(module.getBody());
  entry = func::FuncOp::create(b, loc, name,
                               b.getFunctionType(types, {b.getI32Type()}));
  b.setInsertionPointToEnd(entry.addEntryBlock());
}

void EntryEmitter::placeSlots(size_t slots) {
  Value at = indexConstant(schedule.memory.totalBytes());
  for (Dim bytes : schedule.memory.slotBytes().take_front(slots)) {
    slotOffsets.push_back(at);
    at = arith::AddIOp::create(b, loc, at, sizeValue(bytes));
  }
}

void EntryEmitter::emitCall(const ScheduledKernel &kernel,
                            const PlannedCall &call) {
  SmallVector<Value> operands;
  func::FuncOp kernelFunction = call.kernel;
  for (SymExpr number : kernel.numbers)
    requireExact(number);
  auto types = kernelFunction.getArgumentTypes();
  allocateLate(kernel.outputs);
  bool onGpu =
      schedule.devices.isMixed && schedule.devices.isOnGpu(kernel.ops.front());
  auto add = [&](Value v) {
    operands.push_back(window(v, schedule.placements.lookup(v),
                              cast<MemRefType>(types[operands.size()]), onGpu));
  };
  for (Value v : kernel.inputs)
    add(v);
  for (Value v : kernel.outputs)
    add(v);
  SmallVector<Value> tensors(kernel.inputs.begin(), kernel.inputs.end());
  llvm::append_range(tensors, kernel.outputs);
  for (const std::string &name : kernel.symbols)
    operands.push_back(symbolValue(name));
  if (call.scratch >= 0) {
    Placement scratch;
    scratch.index = static_cast<unsigned>(call.scratch);
    operands.push_back(
        window(Value(), scratch, cast<MemRefType>(types.back()), false));
  }
  checkRoom(kernelFunction.getName(), tensors);
  markTensors("ft_rt_open", tensors);
  func::CallOp::create(b, loc, call.kernel, operands);
  markTensors("ft_rt_close", tensors);
}

void EntryEmitter::emitDeviceCopy(KernelCallOp call) {
  Value from = call.getOperand(0), to = call.getResult(0);
  auto copy = external("ft_rt_cuda_copy", {pointer(), pointer(), pointer(),
                                           b.getI64Type(), b.getI32Type()});
  splitOnCode(
      LLVM::CallOp::create(
          b, loc, copy,
          ValueRange{entry.getArgument(kExec),
                     addressOf(to, schedule.placements.lookup(to)),
                     addressOf(from, schedule.placements.lookup(from)),
                     asI64(sizeValue(bytesOf(from))), constant32(isOnGpu(to))})
          .getResult());
}

void EntryEmitter::emitCustomCall(KernelCallOp call) {
  auto placementOf = [&](Value v) { return schedule.placements.lookup(v); };
  SmallVector<Value> tensors(call.getOperands());
  llvm::append_range(tensors, call.getResults());
  allocateLate(SmallVector<Value>(call.getResults()));
  Value starts = stackWords(static_cast<int64_t>(tensors.size()));
  for (auto [i, tensor] : llvm::enumerate(tensors))
    LLVM::StoreOp::create(b, loc, addressOf(tensor, placementOf(tensor)),
                          elementAt(starts, static_cast<unsigned>(i)));
  markTensors("ft_rt_open", tensors);
  auto run = external("ft_rt_call_kernel",
                      {pointer(), pointer(), pointer(), pointer()});
  Value kernel = LLVM::AddressOfOp::create(
      b, loc, external(call.getSymbol(), {pointer()}));
  Value code =
      LLVM::CallOp::create(b, loc, run,
                           ValueRange{entry.getArgument(kExec), kernel,
                                      describe(call, placementOf), starts})
          .getResult();
  splitOnCode(code);
  for (auto [i, tensor] : llvm::enumerate(tensors))
    if (isFound(tensor) && !foundAt.count(tensor))
      foundAt[tensor] = LLVM::LoadOp::create(
          b, loc, pointer(), elementAt(starts, static_cast<unsigned>(i)));
  markTensors("ft_rt_close", tensors);
}

Value EntryEmitter::describe(KernelCallOp call,
                             llvm::function_ref<Placement(Value)> placementOf) {
  std::vector<SizeWord> sizes;
  auto roomOf = [&](Value v) { return room.roomOf(v); };
  llvm::function_ref<Dim(Value)> checked = roomOf;
  std::string bytes = describeKernelCall(
      call, placementOf, options.checks.accesses ? checked : nullptr, sizes);
  Value constant = bytesConstant(bytes);
  if (sizes.empty())
    return constant;
  Value words = stackWords(static_cast<int64_t>(bytes.size() + 7) / 8);
  LLVM::MemcpyOp::create(b, loc, words, constant,
                         constant64(static_cast<int64_t>(bytes.size())),
                         /*isVolatile=*/false);
  for (const SizeWord &word : sizes) {
    Value at = LLVM::GEPOp::create(
        b, loc, pointer(), b.getI64Type(), words,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(word.at)});
    LLVM::StoreOp::create(b, loc, asI64(sizeValue(word.value)), at);
  }
  return words;
}

PlannedProgram::PlannedProgram(ModuleOp module, Schedule given,
                               const LowerOptions &options)
    : module(module), schedule(std::move(given)),
      emitter(std::make_unique<EntryEmitter>(module, schedule, options,
                                             kModelFunction.str())) {}
PlannedProgram::~PlannedProgram() = default;

LogicalResult PlannedProgram::plan() { return emitter->plan(); }

void PlannedProgram::emit(size_t slots) {
  emitter->emit(slots);
  schedule.plan.attachTo(module);
}

} // namespace ft
