//===- EntryFunction.cpp - The function that runs a schedule ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/EntryFunction.h"

#include "foretrace/runtime.h"

#include "compiler/lower/KernelCalls.h"
#include "compiler/lower/KernelGroups.h"
#include "compiler/lower/OutlineKernels.h"
#include "compiler/lower/SizesFunction.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/SizeCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ft {

namespace {

/// Arguments of ft_gen_forward.
enum EntryArgument {
  kExec,
  kInputs,
  kOutputs,
  kArena,
  kWeights,
  kState,
  kSizes
};

struct PlannedCall {
  /// A generated kernel, or a custom operator's.
  func::FuncOp kernel;
  KernelCallOp custom;
  RunGraphsOp graphs;
  /// Second places of the carried values of a loop, and of its condition.
  SmallVector<int> seconds = {};
  /// The scratch buffer of the memory plan, or -1.
  int scratch = -1;
  int64_t scratchBytes = 0;
};

class EntryEmitter {
public:
  EntryEmitter(ModuleOp module, Schedule &schedule, const LowerOptions &options,
               std::string name)
      : module(module), schedule(schedule), options(options),
        name(std::move(name)), b(module.getContext()),
        loc(UnknownLoc::get(module.getContext())) {}

  /// The bytes of its arena.
  FailureOr<Dim> run() {
    if (failed(planCalls()))
      return mlir::failure();
    schedule.memory.solve();
    schedule.plan.arenaBytes = schedule.memory.estimatedBytes();
    Dim arena = schedule.memory.totalBytes();
    for (Dim slot : schedule.memory.slotBytes())
      arena = arena + slot;
    bool isModel = name == "ft_gen_forward";
    if (isModel && !schedule.plan.symbols.empty())
      emitSizesFunction(module, schedule.plan, schedule.guards, arena);
    openFunction();
    if (!isModel)
      entry.setPrivate();
    placeSlots();
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

private:
  ModuleOp module;
  Schedule &schedule;
  const LowerOptions &options;
  std::string name;
  OpBuilder b;
  Location loc;
  std::vector<PlannedCall> calls;
  func::FuncOp entry;
  Block *failBlock = nullptr;
  DenseMap<std::pair<unsigned, unsigned>, Value> bases;
  /// Where slots of the arena start, and buffers of late sizes are.
  SmallVector<Value> slotOffsets;
  DenseMap<unsigned, Value> lateBuffers;
  /// Where the results are that kernels found for other kernels.
  DenseMap<Value, Value> foundAt;
  llvm::StringMap<LLVM::GlobalOp> strings;

  Value constant32(int64_t v) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(v));
  }
  Value constant64(int64_t v) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
  }
  Value indexConstant(int64_t v) {
    return arith::ConstantIndexOp::create(b, loc, v);
  }
  Type pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }

  LogicalResult planCalls() {
    KernelOutliner outliner(module, schedule);
    for (auto [step, what] : llvm::enumerate(schedule.steps)) {
      if (what.check)
        continue;
      PlannedCall call;
      call.custom =
          dyn_cast<KernelCallOp>(schedule.kernels[what.kernel].ops.front());
      call.graphs =
          dyn_cast<RunGraphsOp>(schedule.kernels[what.kernel].ops.front());
      if (call.graphs && failed(planGraphs(call, static_cast<unsigned>(step))))
        return mlir::failure();
      if (call.custom || call.graphs) {
        calls.push_back(call);
        continue;
      }
      call.kernel = outliner.outline(schedule.kernels[what.kernel]);
      // A function that is called twice has its scratch argument already.
      if (hasScratch(call.kernel))
        call.scratchBytes =
            cast<MemRefType>(call.kernel.getArgumentTypes().back())
                .getNumElements();
      else if (options.scratchBytes)
        call.scratchBytes = options.scratchBytes(call.kernel);
      if (call.scratchBytes) {
        auto now = static_cast<unsigned>(step);
        call.scratch =
            static_cast<int>(schedule.memory.add(call.scratchBytes, now, now));
        addScratchArgument(call);
      }
      calls.push_back(call);
    }
    return success();
  }

  int64_t estimate(Dim d) {
    if (d.isStatic())
      return d.value();
    SymValue v = SymContext::evaluate(
        d.symbolic(), [&](StringRef symbol, int64_t &value) {
          for (const PlannedSymbol &known : schedule.plan.symbols)
            if (known.name == symbol)
              return value = known.hint, true;
          return false;
        });
    return v ? std::max<int64_t>(v.value, 0) : 0;
  }

  /// Emits the functions of the graphs, and plans the memory that they and a
  /// loop's second values need.
  LogicalResult planGraphs(PlannedCall &call, unsigned now) {
    Dim most = 64;
    for (Attribute symbol : call.graphs.getGraphs()) {
      auto graph = module.lookupSymbol<func::FuncOp>(
          cast<FlatSymbolRefAttr>(symbol).getValue());
      std::string name = "ft_" + graph.getName().str();
      FailureOr<Schedule> inner = Schedule::build(graph, &schedule.plan);
      if (failed(inner))
        return mlir::failure();
      FailureOr<Dim> bytes = EntryEmitter(module, *inner, options, name).run();
      if (failed(bytes))
        return mlir::failure();
      if (!inner->plan.constants.empty() || !inner->late.empty())
        return graph.emitError("[FT0501] no code for a branch whose memory "
                               "the data decide");
      graph.erase();
      most = maxDim(most, *bytes);
    }
    call.scratch =
        static_cast<int>(schedule.memory.add(most, estimate(most), now, now));
    for (unsigned i = 0; i < call.graphs.getCarried(); ++i) {
      Value v = call.graphs.getResult(i);
      Dim bytes = bytesOf(v);
      call.seconds.push_back(static_cast<int>(
          schedule.memory.add(bytes, estimate(bytes), now, now)));
    }
    // What the condition gives.
    call.seconds.push_back(static_cast<int>(schedule.memory.add(64, now, now)));
    return success();
  }
  Dim bytesOf(Value v) {
    return tensorBytes(*schedule.sizes.of(v),
                       cast<RankedTensorType>(v.getType()).getElementType());
  }

  static bool hasScratch(func::FuncOp kernel) {
    unsigned n = kernel.getNumArguments();
    return n && kernel.getArgAttr(n - 1, "ft.scratch");
  }

  void addScratchArgument(const PlannedCall &call) {
    if (hasScratch(call.kernel))
      return;
    func::FuncOp kernel = call.kernel;
    auto type = MemRefType::get({call.scratchBytes}, b.getI8Type());
    auto attrs =
        b.getDictionaryAttr(b.getNamedAttr("ft.scratch", b.getUnitAttr()));
    (void)kernel.insertArgument(kernel.getNumArguments(), type, attrs, loc);
  }

  void openFunction() {
    SmallVector<Type> types(7, pointer());
    b.setInsertionPointToEnd(module.getBody());
    entry = func::FuncOp::create(b, loc, name,
                                 b.getFunctionType(types, {b.getI32Type()}));
    b.setInsertionPointToEnd(entry.addEntryBlock());
  }

  /// The number of a symbol in the sizes of a call.
  int64_t symbolIndex(StringRef name) {
    for (auto [i, symbol] : llvm::enumerate(schedule.plan.symbols))
      if (symbol.name == name)
        return static_cast<int64_t>(i);
    return 0;
  }
  Value sizeSlot(StringRef name) {
    return LLVM::GEPOp::create(
        b, loc, pointer(), b.getI64Type(), entry.getArgument(kSizes),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(symbolIndex(name))});
  }
  /// The value of a symbol at this point of the call.
  Value symbolValue(StringRef name) {
    Value v = LLVM::LoadOp::create(b, loc, b.getI64Type(), sizeSlot(name));
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
  }
  Value sizeValue(Dim d) {
    SizeCode code;
    return code.emit(b, loc, d,
                     [&](StringRef name) { return symbolValue(name); });
  }
  Value asI64(Value index) {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }

  void placeSlots() {
    Value at = indexConstant(schedule.memory.totalBytes());
    for (Dim bytes : schedule.memory.slotBytes()) {
      slotOffsets.push_back(at);
      at = arith::AddIOp::create(b, loc, at, sizeValue(bytes));
    }
  }

  /// The byte offset of a placed tensor from the start of its memory.
  Value offsetOf(const Placement &place) {
    Dim offset = place.byteOffset;
    Value slot;
    if (place.region == ft::Region::Arena) {
      int number = schedule.memory.slot(place.index);
      if (number >= 0)
        slot = slotOffsets[number];
      else
        offset = offset + Dim(schedule.memory.offset(place.index));
    }
    if (slot && offset.is(0))
      return slot;
    Value value = sizeValue(offset);
    return slot ? arith::AddIOp::create(b, loc, slot, value).getResult()
                : value;
  }

  /// A memref<?xi8> over everything from `address` on.
  Value bytesAt(Value address) {
    auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    Type i64 = b.getI64Type();
    auto array = LLVM::LLVMArrayType::get(i64, 1);
    auto descriptor = LLVM::LLVMStructType::getLiteral(
        b.getContext(), {pointer(), pointer(), i64, array, array});
    Value d = LLVM::UndefOp::create(b, loc, descriptor);
    auto set = [&](Value v, ArrayRef<int64_t> at) {
      d = LLVM::InsertValueOp::create(b, loc, d, v, at);
    };
    set(address, {0});
    set(address, {1});
    set(constant64(0), {2});
    set(constant64(std::numeric_limits<int64_t>::max()), {3, 0});
    set(constant64(1), {4, 0});
    return UnrealizedConversionCastOp::create(b, loc, bytes, d).getResult(0);
  }

  Value baseOf(ft::Region region, unsigned index) {
    if (region != ft::Region::Input && region != ft::Region::Output)
      index = 0;
    Value &base = bases[{static_cast<unsigned>(region), index}];
    if (base)
      return base;
    // In the entry block, so that it is there behind every check too.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry.getBody().front());
    switch (region) {
    case ft::Region::Arena:
      return base = bytesAt(entry.getArgument(kArena));
    case ft::Region::Weights:
      return base = bytesAt(entry.getArgument(kWeights));
    case ft::Region::State:
      return base = bytesAt(entry.getArgument(kState));
    case ft::Region::Input:
    case ft::Region::Output:
      break;
    case ft::Region::Late:
    case ft::Region::Found: // windowAt
      return base;
    }
    Value array =
        entry.getArgument(region == ft::Region::Input ? kInputs : kOutputs);
    Value slot = elementAt(array, index);
    return base = bytesAt(LLVM::LoadOp::create(b, loc, pointer(), slot));
  }

  /// The memory of a placed tensor, as the kernel's argument wants it.
  Value window(Value tensor, const Placement &place, MemRefType type) {
    Value base;
    if (place.region == ft::Region::Late)
      base = bytesAt(lateBuffers.lookup(place.index));
    else if (place.region == ft::Region::Found)
      base = bytesAt(foundAt.lookup(rootOf(tensor)));
    else
      base = baseOf(place.region, place.index);
    Value at = offsetOf(place);
    if (type.getLayout().isIdentity() && type.hasStaticShape())
      return memref::ViewOp::create(b, loc, type, base, at, ValueRange{});
    // Kernels take where it starts; how far it goes, their arguments say.
    auto flat = MemRefType::get({1}, type.getElementType());
    Value all = memref::ViewOp::create(b, loc, flat, base, at, ValueRange{});
    SmallVector<int64_t> strides;
    int64_t zero;
    (void)type.getStridesAndOffset(strides, zero);
    auto mixed = [&](ArrayRef<int64_t> numbers) {
      SmallVector<OpFoldResult> values;
      for (int64_t v : numbers)
        values.push_back(ShapedType::isDynamic(v)
                             ? OpFoldResult(indexConstant(1))
                             : OpFoldResult(b.getIndexAttr(v)));
      return values;
    };
    return memref::ReinterpretCastOp::create(
        b, loc, type, all, b.getIndexAttr(0), mixed(type.getShape()),
        mixed(strides));
  }

  /// The value whose memory a view shows.
  static Value rootOf(Value v) {
    Operation *op = v.getDefiningOp();
    while (op && roleOf(op) == OpRole::View) {
      v = op->getOperand(0);
      op = v.getDefiningOp();
    }
    return v;
  }

  /// Memory for results whose size the data decide.
  void allocateLate(ArrayRef<Value> outputs) {
    for (Value v : outputs) {
      Placement place = schedule.placements.lookup(v);
      if (place.region == ft::Region::Late)
        lateBuffers[place.index] = memoryFor(schedule.late[place.index]);
    }
  }
  Value memoryFor(const LateBuffer &buffer) {
    if (buffer.output < 0)
      return temporary(buffer.bytes);
    auto array = [&](ArrayRef<Dim> dims) {
      Value memory;
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(&entry.getBody().front());
        memory = LLVM::AllocaOp::create(
            b, loc, pointer(), b.getI64Type(),
            constant64(static_cast<int64_t>(dims.size()) + 1));
      }
      for (auto [i, d] : llvm::enumerate(dims)) {
        Value at = LLVM::GEPOp::create(
            b, loc, pointer(), b.getI64Type(), memory,
            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
        LLVM::StoreOp::create(b, loc, asI64(sizeValue(d)), at);
      }
      return memory;
    };
    Value sizes = array(buffer.sizes), strides = array(buffer.strides);
    auto make = externalTo(pointer(), "ft_rt_output",
                           {pointer(), b.getI32Type(), pointer(), pointer()});
    return checkedMemory(
        LLVM::CallOp::create(b, loc, make,
                             ValueRange{entry.getArgument(kExec),
                                        constant32(buffer.output), sizes,
                                        strides})
            .getResult());
  }
  Value temporary(Dim bytes) {
    auto make =
        externalTo(pointer(), "ft_rt_temporary", {pointer(), b.getI64Type()});
    Value size = asI64(sizeValue(bytes));
    return checkedMemory(
        LLVM::CallOp::create(b, loc, make,
                             ValueRange{entry.getArgument(kExec), size})
            .getResult());
  }
  /// Goes on if there is memory; else the runtime recorded why not.
  Value checkedMemory(Value memory) {
    Value bad = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, memory,
                                     LLVM::ZeroOp::create(b, loc, pointer()));
    Block *next = newBlock();
    cf::CondBranchOp::create(b, loc, bad, failure(),
                             ValueRange{constant32(FT_ERROR_MEMORY)}, next,
                             ValueRange{});
    b.setInsertionPointToEnd(next);
    return memory;
  }

  void emitCall(const ScheduledKernel &kernel, const PlannedCall &call) {
    SmallVector<Value> operands;
    func::FuncOp kernelFunction = call.kernel;
    auto types = kernelFunction.getArgumentTypes();
    allocateLate(kernel.outputs);
    auto add = [&](Value v) {
      operands.push_back(window(v, schedule.placements.lookup(v),
                                cast<MemRefType>(types[operands.size()])));
    };
    for (Value v : kernel.inputs)
      add(v);
    for (Value v : kernel.outputs)
      add(v);
    for (const std::string &name : kernel.symbols)
      operands.push_back(symbolValue(name));
    if (call.scratch >= 0) {
      Placement scratch;
      scratch.index = static_cast<unsigned>(call.scratch);
      operands.push_back(
          window(Value(), scratch, cast<MemRefType>(types.back())));
    }
    func::CallOp::create(b, loc, call.kernel, operands);
  }

  /// The constant bytes, aligned to 8.
  Value bytesConstant(const std::string &bytes) {
    LLVM::GlobalOp &global = strings[bytes];
    if (!global) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
      global = LLVM::GlobalOp::create(
          b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
          "ft_text_" + std::to_string(strings.size() - 1),
          b.getStringAttr(bytes), /*alignment=*/8);
    }
    return LLVM::AddressOfOp::create(b, loc, global);
  }
  Value stringConstant(StringRef text) {
    return bytesConstant(text.str() + '\0');
  }

  /// A function of the runtime, or a custom kernel, that gives an i32.
  LLVM::LLVMFuncOp external(StringRef name, ArrayRef<Type> arguments) {
    return externalTo(b.getI32Type(), name, arguments);
  }
  LLVM::LLVMFuncOp externalTo(Type result, StringRef name,
                              ArrayRef<Type> arguments) {
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(result, arguments);
    return LLVM::LLVMFuncOp::create(b, loc, name, type);
  }

  LLVM::LLVMFuncOp failFunction() {
    return external("ft_rt_fail_index",
                    {pointer(), pointer(), b.getI64Type(), b.getI64Type()});
  }

  /// Where the elements of a placed tensor start.
  Value addressOf(Value tensor, const Placement &place) {
    Value start;
    switch (place.region) {
    case ft::Region::Arena:
      start = entry.getArgument(kArena);
      break;
    case ft::Region::Weights:
      start = entry.getArgument(kWeights);
      break;
    case ft::Region::State:
      start = entry.getArgument(kState);
      break;
    case ft::Region::Input:
    case ft::Region::Output:
      start = LLVM::LoadOp::create(
          b, loc, pointer(),
          elementAt(entry.getArgument(
                        place.region == ft::Region::Input ? kInputs : kOutputs),
                    place.index));
      break;
    case ft::Region::Late:
      start = lateBuffers.lookup(place.index);
      break;
    case ft::Region::Found:
      start = foundAt.lookup(rootOf(tensor));
      // The kernel that finds it is about to be called.
      if (!start)
        return LLVM::ZeroOp::create(b, loc, pointer());
      break;
    }
    return LLVM::GEPOp::create(b, loc, pointer(), b.getI8Type(), start,
                               ValueRange{asI64(offsetOf(place))});
  }

  /// The address of pointer number `index` of an array.
  Value elementAt(Value array, unsigned index) {
    return LLVM::GEPOp::create(
        b, loc, pointer(), pointer(), array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  }

  /// ft_rt_call_kernel(exec, kernel, description, {start of each tensor}).
  void emitCustomCall(KernelCallOp call) {
    auto placementOf = [&](Value v) { return schedule.placements.lookup(v); };
    SmallVector<Value> tensors(call.getOperands());
    llvm::append_range(tensors, call.getResults());
    allocateLate(SmallVector<Value>(call.getResults()));
    Value starts;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&entry.getBody().front());
      Value count = constant64(static_cast<int64_t>(tensors.size()) + 1);
      starts = LLVM::AllocaOp::create(b, loc, pointer(), pointer(), count);
    }
    for (auto [i, tensor] : llvm::enumerate(tensors))
      LLVM::StoreOp::create(b, loc, addressOf(tensor, placementOf(tensor)),
                            elementAt(starts, static_cast<unsigned>(i)));
    auto run = external("ft_rt_call_kernel",
                        {pointer(), pointer(), pointer(), pointer()});
    Value kernel = LLVM::AddressOfOp::create(
        b, loc, external(call.getSymbol(), {pointer()}));
    Value code =
        LLVM::CallOp::create(b, loc, run,
                             ValueRange{entry.getArgument(kExec), kernel,
                                        describe(call, placementOf), starts})
            .getResult();
    Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, code,
                                      constant32(0));
    Block *next = newBlock();
    cf::CondBranchOp::create(b, loc, bad, failure(), code, next, ValueRange{});
    b.setInsertionPointToEnd(next);
    for (auto [i, tensor] : llvm::enumerate(tensors))
      if (isFound(tensor) && !foundAt.count(tensor))
        foundAt[tensor] = LLVM::LoadOp::create(
            b, loc, pointer(), elementAt(starts, static_cast<unsigned>(i)));
  }

  /// An array of pointers on the stack.
  Value pointerArray(ArrayRef<Value> pointers) {
    Value array;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&entry.getBody().front());
      array = LLVM::AllocaOp::create(
          b, loc, pointer(), pointer(),
          constant64(static_cast<int64_t>(pointers.size()) + 1));
    }
    for (auto [i, p] : llvm::enumerate(pointers))
      LLVM::StoreOp::create(b, loc, p,
                            elementAt(array, static_cast<unsigned>(i)));
    return array;
  }
  Value bufferAddress(int buffer) {
    Placement place;
    place.index = static_cast<unsigned>(buffer);
    return addressOf(Value(), place);
  }
  /// Calls the function of a graph; goes on if it gives 0.
  void callGraph(RunGraphsOp op, unsigned which, ArrayRef<Value> inputs,
                 ArrayRef<Value> outputs, int scratch) {
    auto symbol = cast<FlatSymbolRefAttr>(op.getGraphs()[which]);
    auto function =
        module.lookupSymbol<func::FuncOp>(("ft_" + symbol.getValue()).str());
    Value code =
        func::CallOp::create(
            b, loc, function,
            ValueRange{entry.getArgument(kExec), pointerArray(inputs),
                       pointerArray(outputs), bufferAddress(scratch),
                       entry.getArgument(kWeights), entry.getArgument(kState),
                       entry.getArgument(kSizes)})
            .getResult(0);
    Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, code,
                                      constant32(0));
    Block *next = newBlock();
    cf::CondBranchOp::create(b, loc, bad, failure(), code, next, ValueRange{});
    b.setInsertionPointToEnd(next);
  }
  Value isTrue(Value address) {
    Value flag = LLVM::LoadOp::create(b, loc, b.getI8Type(), address);
    Value zero = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, flag, zero);
  }

  void emitGraphs(const PlannedCall &call) {
    RunGraphsOp op = call.graphs;
    SmallVector<Value> operands, results;
    for (Value v : op.getOperands())
      operands.push_back(addressOf(v, schedule.placements.lookup(v)));
    for (Value v : op.getResults())
      results.push_back(addressOf(v, schedule.placements.lookup(v)));
    if (op.getKind() == "cond")
      return emitCond(call, operands, results);
    emitWhile(call, operands, results);
  }

  void emitCond(const PlannedCall &call, ArrayRef<Value> operands,
                ArrayRef<Value> results) {
    Value chosen = isTrue(operands[0]);
    Block *sides[] = {newBlock(), newBlock()}, *after = newBlock();
    cf::CondBranchOp::create(b, loc, chosen, sides[0], ValueRange{}, sides[1],
                             ValueRange{});
    for (unsigned which : {0U, 1U}) {
      b.setInsertionPointToEnd(sides[which]);
      callGraph(call.graphs, which, operands.drop_front(), results,
                call.scratch);
      cf::BranchOp::create(b, loc, after);
    }
    b.setInsertionPointToEnd(after);
  }

  /// The carried values live where the results will be; an iteration writes
  /// their next values beside them.
  void emitWhile(const PlannedCall &call, ArrayRef<Value> operands,
                 ArrayRef<Value> results) {
    RunGraphsOp op = call.graphs;
    auto carried = static_cast<size_t>(op.getCarried());
    SmallVector<Value> inputs(results.take_front(carried)), next, bytes;
    llvm::append_range(inputs, operands.drop_front(carried));
    for (size_t i = 0; i < carried; ++i) {
      next.push_back(bufferAddress(call.seconds[i]));
      bytes.push_back(
          asI64(sizeValue(bytesOf(op.getResult(static_cast<unsigned>(i))))));
    }
    auto copy = [&](Value to, Value from, Value size) {
      LLVM::MemcpyOp::create(b, loc, to, from, size, /*isVolatile=*/false);
    };
    for (size_t i = 0; i < carried; ++i)
      copy(results[i], operands[i], bytes[i]);
    Value condition = bufferAddress(call.seconds.back());
    Block *head = newBlock(), *body = newBlock(), *after = newBlock();
    cf::BranchOp::create(b, loc, head);
    b.setInsertionPointToEnd(head);
    callGraph(op, 0, inputs, condition, call.scratch);
    cf::CondBranchOp::create(b, loc, isTrue(condition), body, ValueRange{},
                             after, ValueRange{});
    b.setInsertionPointToEnd(body);
    callGraph(op, 1, inputs, next, call.scratch);
    for (size_t i = 0; i < carried; ++i)
      copy(results[i], next[i], bytes[i]);
    cf::BranchOp::create(b, loc, head);
    b.setInsertionPointToEnd(after);
  }

  /// The description of a call: a constant, or a copy of one with the sizes of
  /// the run in it.
  Value describe(KernelCallOp call,
                 llvm::function_ref<Placement(Value)> placementOf) {
    std::vector<SizeWord> sizes;
    std::string bytes = describeKernelCall(call, placementOf, sizes);
    Value constant = bytesConstant(bytes);
    if (sizes.empty())
      return constant;
    Value words;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&entry.getBody().front());
      words = LLVM::AllocaOp::create(
          b, loc, pointer(), b.getI8Type(),
          constant64(static_cast<int64_t>(bytes.size())), /*alignment=*/8);
    }
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

  /// The element of a placed 0-dim tensor.
  Value load(Value v) {
    Placement place = schedule.placements.lookup(v);
    auto scalar = cast<RankedTensorType>(v.getType()).getElementType();
    return LLVM::LoadOp::create(b, loc, scalar, addressOf(v, place));
  }

  void emitAssertion(AssertOp op) {
    auto *dialect = b.getContext()->getLoadedDialect<FtDialect>();
    llvm::Expected<SymExpr> e =
        dialect->symbolContext().parse(op.getRelation());
    if (!e)
      return llvm::consumeError(e.takeError());
    SizeCode code;
    Value holds = code.emit(b, loc, *e,
                            [&](StringRef name) { return symbolValue(name); });
    Value bad = arith::XOrIOp::create(
        b, loc, holds, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
    std::string sentence = (op.getRelation() + " must hold").str();
    if (op.getCause())
      sentence += (", for " + *op.getCause()).str();
    if (op.getPlace())
      sentence += (" (" + *op.getPlace() + ")").str();
    splitOn(bad, [&] {
      auto fail =
          external("ft_rt_fail", {pointer(), b.getI32Type(), pointer()});
      return LLVM::CallOp::create(b, loc, fail,
                                  ValueRange{entry.getArgument(kExec),
                                             constant32(FT_ERROR_GUARD),
                                             stringConstant(sentence)})
          .getResult();
    });
  }

  void emitSetSize(SetSizeOp op) {
    Value value = load(op.getValue());
    auto outside = [&](arith::CmpIPredicate p, int64_t end) {
      return arith::CmpIOp::create(b, loc, p, value, constant64(end));
    };
    Value bad = arith::OrIOp::create(
        b, loc, outside(arith::CmpIPredicate::slt, op.getLower()),
        outside(arith::CmpIPredicate::sgt, op.getUpper()));
    splitOn(bad, [&] {
      std::string where = op.getCause().value_or(op.getSym()).str();
      return LLVM::CallOp::create(b, loc, failFunction(),
                                  ValueRange{entry.getArgument(kExec),
                                             stringConstant(where), value,
                                             constant64(op.getUpper())})
          .getResult();
    });
    LLVM::StoreOp::create(b, loc, value, sizeSlot(op.getSym()));
  }

  void emitCheck(CheckTrueOp check) {
    Value flag = load(check.getCondition());
    Value zero =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(flag.getType(), 0));
    Value bad =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, flag, zero);
    splitOn(bad, [&] {
      auto fail =
          external("ft_rt_fail", {pointer(), b.getI32Type(), pointer()});
      return LLVM::CallOp::create(
                 b, loc, fail,
                 ValueRange{entry.getArgument(kExec),
                            constant32(FT_ERROR_INDEX),
                            stringConstant(check.getMessage())})
          .getResult();
    });
  }

  void emitCheck(CheckIndexOp check) {
    // Low, high and size; numbers, or expressions of the run.
    SmallVector<Value, 3> bounds;
    if (std::optional<ArrayAttr> texts = check.getBounds()) {
      auto *dialect = b.getContext()->getLoadedDialect<FtDialect>();
      for (Attribute text : *texts) {
        llvm::Expected<SymExpr> e =
            dialect->symbolContext().parse(cast<StringAttr>(text).getValue());
        if (!e)
          llvm::consumeError(e.takeError());
        bounds.push_back(e && *e ? asI64(sizeValue(Dim(*e))) : constant64(0));
      }
    } else {
      for (int64_t number : {check.getLow(), check.getHigh(), check.getSize()})
        bounds.push_back(constant64(number));
    }
    Value min = load(check.getMin()), max = load(check.getMax());
    Value tooLow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, min,
                                         bounds[0]);
    Value tooHigh = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                          max, bounds[1]);
    Value bad = arith::OrIOp::create(b, loc, tooLow, tooHigh);
    // No index at all is none that is out of range.
    if (check.getBounds())
      bad = arith::AndIOp::create(
          b, loc, bad,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, min, max));
    Value which = arith::SelectOp::create(b, loc, tooLow, min, max);
    splitOn(bad, [&] {
      return LLVM::CallOp::create(b, loc, failFunction(),
                                  ValueRange{entry.getArgument(kExec),
                                             stringConstant(check.getWhere()),
                                             which, bounds[2]})
          .getResult();
    });
  }

  Block *newBlock() {
    auto *block = new Block;
    entry.getBody().push_back(block);
    return block;
  }
  /// Where failed checks and calls go with their code.
  Block *failure() {
    if (!failBlock) {
      failBlock = newBlock();
      failBlock->addArgument(b.getI32Type(), loc);
    }
    return failBlock;
  }

  /// Splits the control flow: on to the next step, or out with the code that
  /// `reportFailure` gets for its message.
  void splitOn(Value bad, llvm::function_ref<Value()> reportFailure) {
    Block *fail = failure();
    Block *report = newBlock(), *next = newBlock();
    cf::CondBranchOp::create(b, loc, bad, report, ValueRange{}, next,
                             ValueRange{});
    b.setInsertionPointToEnd(report);
    cf::BranchOp::create(b, loc, fail, reportFailure());
    b.setInsertionPointToEnd(next);
  }
};

} // namespace

LogicalResult emitEntryFunction(ModuleOp module, Schedule &schedule,
                                const LowerOptions &options) {
  return EntryEmitter(module, schedule, options, "ft_gen_forward").run();
}

} // namespace ft
