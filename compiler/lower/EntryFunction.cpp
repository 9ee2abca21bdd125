//===- EntryFunction.cpp - The function that runs a schedule ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/EntryFunction.h"

#include "foretrace/runtime.h"

#include "compiler/lower/KernelCalls.h"
#include "compiler/lower/OutlineKernels.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ft {

namespace {

/// Arguments of ft_gen_forward.
enum EntryArgument { kExec, kInputs, kOutputs, kArena, kWeights, kState };

struct PlannedCall {
  /// A generated kernel, or a custom operator's.
  func::FuncOp kernel;
  KernelCallOp custom;
  /// The scratch buffer of the memory plan, or -1.
  int scratch = -1;
  int64_t scratchBytes = 0;
};

class EntryEmitter {
public:
  EntryEmitter(ModuleOp module, Schedule &schedule, const LowerOptions &options)
      : module(module), schedule(schedule), options(options),
        b(module.getContext()), loc(UnknownLoc::get(module.getContext())) {}

  void run() {
    planCalls();
    schedule.memory.solve();
    schedule.plan.arenaBytes = schedule.memory.totalBytes();
    openFunction();
    unsigned call = 0;
    for (const ScheduleStep &step : schedule.steps) {
      if (auto check = dyn_cast_or_null<CheckIndexOp>(step.check))
        emitCheck(check);
      else if (auto condition = dyn_cast_or_null<CheckTrueOp>(step.check))
        emitCheck(condition);
      else if (calls[call].custom)
        emitCustomCall(calls[call++].custom);
      else
        emitCall(schedule.kernels[step.kernel], calls[call++]);
    }
    func::ReturnOp::create(b, loc, constant32(0));
    // The failure path, shared by all checks, returns their code.
    if (failBlock) {
      b.setInsertionPointToEnd(failBlock);
      func::ReturnOp::create(b, loc, failBlock->getArgument(0));
    }
  }

private:
  ModuleOp module;
  Schedule &schedule;
  const LowerOptions &options;
  OpBuilder b;
  Location loc;
  std::vector<PlannedCall> calls;
  func::FuncOp entry;
  Block *failBlock = nullptr;
  DenseMap<std::pair<unsigned, unsigned>, Value> bases;
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

  void planCalls() {
    KernelOutliner outliner(module, schedule);
    for (auto [step, what] : llvm::enumerate(schedule.steps)) {
      if (what.check)
        continue;
      PlannedCall call;
      call.custom =
          dyn_cast<KernelCallOp>(schedule.kernels[what.kernel].ops.front());
      if (call.custom) {
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
    entry = func::FuncOp::create(b, loc, "ft_gen_forward",
                                 b.getFunctionType(types, {b.getI32Type()}));
    b.setInsertionPointToEnd(entry.addEntryBlock());
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
    case ft::Region::Found: // no kernel of the compiler touches it
      break;
    }
    Value array =
        entry.getArgument(region == ft::Region::Input ? kInputs : kOutputs);
    Value slot = elementAt(array, index);
    return base = bytesAt(LLVM::LoadOp::create(b, loc, pointer(), slot));
  }

  /// The memory of a placed tensor, as the kernel's argument wants it.
  Value window(const Placement &place, MemRefType type) {
    int64_t offset = place.byteOffset;
    if (place.region == ft::Region::Arena)
      offset += schedule.memory.offset(place.index);
    Value base = baseOf(place.region, place.index);
    Value at = indexConstant(offset);
    if (type.getLayout().isIdentity())
      return memref::ViewOp::create(b, loc, type, base, at, ValueRange{});
    SmallVector<int64_t> strides;
    int64_t zero;
    (void)type.getStridesAndOffset(strides, zero);
    auto flat = MemRefType::get({strideExtent(type.getShape(), strides)},
                                type.getElementType());
    Value all = memref::ViewOp::create(b, loc, flat, base, at, ValueRange{});
    return memref::ReinterpretCastOp::create(b, loc, type, all, /*offset=*/0,
                                             type.getShape(), strides);
  }

  void emitCall(const ScheduledKernel &kernel, const PlannedCall &call) {
    SmallVector<Value> operands;
    func::FuncOp kernelFunction = call.kernel;
    auto types = kernelFunction.getArgumentTypes();
    auto add = [&](Value v) {
      operands.push_back(window(schedule.placements.lookup(v),
                                cast<MemRefType>(types[operands.size()])));
    };
    for (Value v : kernel.inputs)
      add(v);
    for (Value v : kernel.outputs)
      add(v);
    if (call.scratch >= 0) {
      Placement scratch;
      scratch.index = static_cast<unsigned>(call.scratch);
      operands.push_back(window(scratch, cast<MemRefType>(types.back())));
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
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), arguments);
    return LLVM::LLVMFuncOp::create(b, loc, name, type);
  }

  LLVM::LLVMFuncOp failFunction() {
    return external("ft_rt_fail_index",
                    {pointer(), pointer(), b.getI64Type(), b.getI64Type()});
  }

  /// Where the elements of a placed tensor start.
  Value addressOf(const Placement &place) {
    Value start;
    int64_t offset = place.byteOffset;
    switch (place.region) {
    case ft::Region::Arena:
      offset += schedule.memory.offset(place.index);
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
    case ft::Region::Found:
      return LLVM::ZeroOp::create(b, loc, pointer());
    }
    return LLVM::GEPOp::create(b, loc, pointer(), b.getI8Type(), start,
                               ValueRange{constant64(offset)});
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
    Value starts;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&entry.getBody().front());
      Value count = constant64(static_cast<int64_t>(tensors.size()) + 1);
      starts = LLVM::AllocaOp::create(b, loc, pointer(), pointer(), count);
    }
    for (auto [i, tensor] : llvm::enumerate(tensors))
      LLVM::StoreOp::create(b, loc, addressOf(placementOf(tensor)),
                            elementAt(starts, static_cast<unsigned>(i)));
    auto run = external("ft_rt_call_kernel",
                        {pointer(), pointer(), pointer(), pointer()});
    Value kernel = LLVM::AddressOfOp::create(
        b, loc, external(call.getSymbol(), {pointer()}));
    Value code =
        LLVM::CallOp::create(
            b, loc, run,
            ValueRange{entry.getArgument(kExec), kernel,
                       bytesConstant(describeKernelCall(call, placementOf)),
                       starts})
            .getResult();
    Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, code,
                                      constant32(0));
    Block *next = newBlock();
    cf::CondBranchOp::create(b, loc, bad, failure(), code, next, ValueRange{});
    b.setInsertionPointToEnd(next);
  }

  /// The element of a placed 0-dim tensor.
  Value load(Value v) {
    Placement place = schedule.placements.lookup(v);
    return memref::LoadOp::create(b, loc, window(place, memrefFor(v, place)));
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
    Value min = load(check.getMin()), max = load(check.getMax());
    Value tooLow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, min,
                                         constant64(check.getLow()));
    Value tooHigh = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                          max, constant64(check.getHigh()));
    Value bad = arith::OrIOp::create(b, loc, tooLow, tooHigh);
    Value which = arith::SelectOp::create(b, loc, tooLow, min, max);
    splitOn(bad, [&] {
      return LLVM::CallOp::create(b, loc, failFunction(),
                                  ValueRange{entry.getArgument(kExec),
                                             stringConstant(check.getWhere()),
                                             which,
                                             constant64(check.getSize())})
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

void emitEntryFunction(ModuleOp module, Schedule &schedule,
                       const LowerOptions &options) {
  EntryEmitter(module, schedule, options).run();
}

} // namespace ft
