//===- EntryEmitter.h - Emits the function that runs a schedule *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_ENTRYEMITTER_H
#define FORETRACE_COMPILER_LOWER_ENTRYEMITTER_H

#include "compiler/lower/Lower.h"
#include "compiler/lower/MemoryRoom.h"
#include "compiler/lower/Schedule.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace ft {

/// The function of the model itself.
inline constexpr llvm::StringLiteral kModelFunction = "ft_gen_forward";

/// A kernel, a custom operator or a branch or loop of the schedule, with what
/// the memory plan holds for it alone.
struct PlannedCall {
  /// A generated kernel, or a custom operator's.
  mlir::func::FuncOp kernel;
  KernelCallOp custom;
  RunGraphsOp graphs;
  /// Second places of the carried values of a loop (-1: of a size that the data
  /// decide), and of its condition.
  llvm::SmallVector<int> seconds = {};
  /// Of each result of a branch, whether the branch makes its memory.
  llvm::SmallVector<bool> given = {};
  /// The scratch buffer of the memory plan, or -1.
  int scratch = -1;
  int64_t scratchBytes = 0;
};

/// Emits one function of the form of `ft_gen_forward` (runtime/src/abi.h) for a
/// schedule: the model's, or that of a branch or of a part of a loop.
class EntryEmitter {
public:
  EntryEmitter(mlir::ModuleOp module, Schedule &schedule,
               const LowerOptions &options, std::string name)
      : module(module), schedule(schedule), options(options),
        name(std::move(name)), b(module.getContext()),
        loc(mlir::UnknownLoc::get(module.getContext())) {}

  /// Makes the kernels and adds what they need to the memory plan.
  mlir::LogicalResult plan();
  /// Emits the function, when the memory plan is solved. `slots` of the arena
  /// are used; the bytes up to their end.
  Dim emit(size_t slots);

private:
  using Value = mlir::Value;
  using Values = llvm::ArrayRef<Value>;

  /// Arguments of the function.
  enum EntryArgument {
    kExec,
    kInputs,
    kOutputs,
    kArena,
    kWeights,
    kState,
    kSizes
  };

  mlir::ModuleOp module;
  Schedule &schedule;
  const LowerOptions &options;
  std::string name;
  mlir::OpBuilder b;
  mlir::Location loc;
  std::vector<PlannedCall> calls;
  mlir::func::FuncOp entry;
  mlir::Block *failBlock = nullptr;
  llvm::DenseMap<std::pair<unsigned, unsigned>, Value> bases;
  /// Arena and weights on the GPU, in a graph on two devices.
  Value gpuArena, gpuWeights;
  /// Where slots of the arena start, and buffers of late sizes are.
  llvm::SmallVector<Value> slotOffsets;
  llvm::DenseMap<unsigned, Value> lateBuffers;
  /// Where the results are that kernels found for other kernels.
  llvm::DenseMap<Value, Value> foundAt;
  llvm::StringMap<mlir::LLVM::GlobalOp> strings;
  /// What the function and those of its regions compute with, and what is known
  /// to be right at this point of the call.
  llvm::SetVector<SymExpr> numbers;
  llvm::DenseSet<SymExpr> exact;

  Value constant32(int64_t v) {
    return mlir::arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(v));
  }
  Value constant64(int64_t v) {
    return mlir::arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
  }
  Value indexConstant(int64_t v) {
    return mlir::arith::ConstantIndexOp::create(b, loc, v);
  }
  mlir::Type pointer() {
    return mlir::LLVM::LLVMPointerType::get(b.getContext());
  }
  Value asI64(Value index) {
    return mlir::arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }

  //===--- The schedule (EntryFunction.cpp) -------------------------------===//
  mlir::LogicalResult planCalls();
  /// To plan memory takes no kernel that wants none.
  bool makesKernels() const {
    return !options.onlyPlan || options.scratchBytes;
  }
  static bool hasScratch(mlir::func::FuncOp kernel);
  void addScratchArgument(const PlannedCall &call);
  void markInPlace();
  void openFunction();
  void placeSlots(size_t slots);
  void emitCall(const ScheduledKernel &kernel, const PlannedCall &call);
  /// ft_rt_call_kernel(exec, kernel, description, {start of each tensor}).
  void emitCustomCall(KernelCallOp call);
  /// ft_rt_cuda_copy(exec, to, from, bytes, whether to the GPU).
  void emitDeviceCopy(KernelCallOp call);
  /// The description of a call: a constant, or a copy of one with the sizes of
  /// the run in it.
  Value describe(KernelCallOp call,
                 llvm::function_ref<Placement(Value)> placementOf);

  //===--- Memory (EntryMemory.cpp) ---------------------------------------===//
  /// The number of a symbol in the sizes of a call.
  int64_t symbolIndex(llvm::StringRef name);
  Value sizeSlot(llvm::StringRef name);
  /// The value of a symbol at this point of the call.
  Value symbolValue(llvm::StringRef name);
  /// A size or another number at this point of the call, which goes on only if
  /// 64 bits hold it.
  Value sizeValue(Dim d);
  Dim bytesOf(Value v);
  /// The byte offset of a placed tensor from the start of its memory.
  Value offsetOf(const Placement &place);
  /// A memref<?xi8> over everything from `address` on.
  Value bytesAt(Value address);
  Value baseOf(ft::Region region, unsigned index, bool onGpu);
  /// Where memory that both devices have starts on this one.
  Value arenaOf(bool onGpu);
  Value weightsOf(bool onGpu);
  Value givenByRuntime(llvm::StringRef function);
  /// The memory of a placed tensor, as the kernel's argument wants it. `onGpu`:
  /// the kernel of a graph on two devices runs there.
  Value window(Value tensor, const Placement &place, mlir::MemRefType type,
               bool onGpu);
  /// Whether the tensor is on the GPU of a graph on two devices.
  bool isOnGpu(Value tensor) const {
    return schedule.devices.isMixed && tensor &&
           schedule.devices.isOnGpu(tensor);
  }
  /// Where the elements of a placed tensor start.
  Value addressOf(Value tensor, const Placement &place);
  /// The element of a placed 0-dim tensor.
  Value load(Value v);
  /// Memory for results whose size the data decide.
  void allocateLate(Values outputs);
  Value memoryFor(const LateBuffer &buffer);
  Value temporary(Dim bytes);
  /// Goes on if there is memory; else the runtime recorded why not.
  Value checkedMemory(Value memory);
  /// So many words of 8 bytes on the stack.
  Value stackWords(int64_t count);
  /// The address of pointer number `index` of an array.
  Value elementAt(Value array, unsigned index);
  /// An array of pointers on the stack.
  Value pointerArray(Values pointers);
  Value bufferAddress(int buffer);

  //===--- Branches and loops (EntryControl.cpp) --------------------------===//
  /// Emits the functions of the graphs, and plans the memory that they and a
  /// loop's second values need.
  mlir::LogicalResult planGraphs(PlannedCall &call, unsigned now);
  /// Calls the function of a graph; goes on if it gives 0. The array that had
  /// the outputs.
  Value callGraph(RunGraphsOp op, unsigned which, Values inputs, Values outputs,
                  int scratch);
  Value isTrue(Value address);
  void emitGraphs(const PlannedCall &call);
  void emitCond(const PlannedCall &call, Values operands, Values results);
  /// Sizes that a graph has decided.
  void setTold(RunGraphsOp op, unsigned which);
  void emitWhile(const PlannedCall &call, Values operands, Values results);
  void emitScan(const PlannedCall &call, Values operands, Values results);
  /// The carried values of a loop live where the results will be; an iteration
  /// writes their next values beside them.
  struct Carried {
    llvm::SmallVector<Value> current, next, bytes;
    /// The temporary memory that was there before the loop.
    Value mark;
  };
  /// Whether the functions make the memory of a result, whose size they find.
  bool makesMemory(const PlannedCall &call, unsigned result) const;
  /// Such results of a scan, the symbols of their sizes, and words that keep
  /// what the first step found.
  struct FoundSlices {
    llvm::SmallVector<unsigned> results;
    llvm::SmallVector<llvm::StringRef> symbols;
    Value sizes;
    /// From step to step: the mark of the temporary memory, and the memory of
    /// each result.
    llvm::SmallVector<Value> state;
  };
  void startSlices(RunGraphsOp op, FoundSlices &found);
  /// Copies what a step gave (`given`: the array of its outputs).
  void keepSlices(RunGraphsOp op, FoundSlices &found, Value step,
                  Value position, Value given);
  /// One position of a tensor that is cut along its first dim.
  Value sliceBytes(Value tensor);
  Value sliceAt(Value start, Value bytes, Value position);
  Carried startLoop(const PlannedCall &call, Values operands, Values results);
  void nextIteration(const Carried &carried);

  //===--- Checked builds (EntryGuards.cpp) -------------------------------===//
  MemoryRoom room{schedule};
  /// Does not call a kernel that would be told of memory that is not there.
  void checkRoom(llvm::StringRef kernel, Values tensors);
  void mark(llvm::StringRef function, Value start, Value bytes);
  /// Opens or closes what a step is given of the arena.
  void markTensors(llvm::StringRef function, Values tensors);
  void markBuffers(llvm::StringRef function, llvm::ArrayRef<int> buffers);
  /// What belongs to no parameter, buffer or constant.
  void closeGaps();

  //===--- Checks (EntryChecks.cpp) ---------------------------------------===//
  /// The constant bytes, aligned to 8.
  Value bytesConstant(const std::string &bytes);
  Value stringConstant(llvm::StringRef text) {
    return bytesConstant(text.str() + '\0');
  }
  /// A function of the runtime, or a custom kernel, that gives an i32.
  mlir::LLVM::LLVMFuncOp external(llvm::StringRef name,
                                  llvm::ArrayRef<mlir::Type> arguments) {
    return externalTo(b.getI32Type(), name, arguments);
  }
  mlir::LLVM::LLVMFuncOp externalTo(mlir::Type result, llvm::StringRef name,
                                    llvm::ArrayRef<mlir::Type> arguments);
  mlir::LLVM::LLVMFuncOp failFunction() {
    return external("ft_rt_fail_index",
                    {pointer(), pointer(), b.getI64Type(), b.getI64Type()});
  }
  Value negation(Value condition);
  /// Records an error of the call; its code.
  Value report(int code, llvm::StringRef sentence);
  /// The text of an expression, in the names that the user knows.
  std::string titled(SymExpr e);
  /// Goes on if 64 bits hold the number and all on the way to it.
  void requireExact(SymExpr e);
  void emitAssertion(AssertOp op);
  void emitSetSize(SetSizeOp op);
  void emitCheck(CheckTrueOp check);
  void emitCheck(CheckIndexOp check);
  mlir::Block *newBlock(llvm::ArrayRef<mlir::Type> arguments = {});
  /// Where failed checks and calls go with their code.
  mlir::Block *failure();
  /// Splits the control flow: on to the next step, or out with the code that
  /// `reportFailure` gets for its message.
  void splitOn(Value bad, llvm::function_ref<Value()> reportFailure);
  /// Goes on if a function gave 0.
  void splitOnCode(Value code);
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_ENTRYEMITTER_H
