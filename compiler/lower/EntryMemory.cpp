//===- EntryMemory.cpp - Where tensors are in a call --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/runtime.h"

#include "compiler/lower/EntryEmitter.h"
#include "compiler/lower/KernelGroups.h"
#include "dialects/ft/SizeCode.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ft {

int64_t EntryEmitter::symbolIndex(StringRef name) {
  for (auto [i, symbol] : llvm::enumerate(schedule.plan.symbols))
    if (symbol.name == name)
      return static_cast<int64_t>(i);
  return 0;
}

Value EntryEmitter::sizeSlot(StringRef name) {
  return LLVM::GEPOp::create(
      b, loc, pointer(), b.getI64Type(), entry.getArgument(kSizes),
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(symbolIndex(name))});
}

Value EntryEmitter::symbolValue(StringRef name) {
  Value v = LLVM::LoadOp::create(b, loc, b.getI64Type(), sizeSlot(name));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
}

Value EntryEmitter::sizeValue(Dim d) {
  if (!d.isStatic())
    requireExact(d.symbolic());
  SizeCode code;
  return code.emit(b, loc, d,
                   [&](StringRef name) { return symbolValue(name); });
}

Dim EntryEmitter::bytesOf(Value v) {
  return tensorBytes(*schedule.sizes.of(v),
                     cast<RankedTensorType>(v.getType()).getElementType());
}

Value EntryEmitter::offsetOf(const Placement &place) {
  Dim offset = place.byteOffset;
  Value slot;
  if (place.region == ft::Region::Arena) {
    int number = schedule.memory.slot(place.index);
    if (number >= 0)
      slot = slotOffsets[number];
    offset = offset + schedule.memory.offset(place.index);
  }
  if (slot && offset.is(0))
    return slot;
  Value value = sizeValue(offset);
  return slot ? arith::AddIOp::create(b, loc, slot, value).getResult() : value;
}

Value EntryEmitter::bytesAt(Value address) {
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

/// In the entry block, so that it is there behind every check too.
Value EntryEmitter::givenByRuntime(StringRef function) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&entry.getBody().front());
  auto give = externalTo(pointer(), function, {pointer()});
  return LLVM::CallOp::create(b, loc, give, entry.getArgument(kExec))
      .getResult();
}

Value EntryEmitter::arenaOf(bool onGpu) {
  if (!onGpu)
    return entry.getArgument(kArena);
  if (!gpuArena)
    gpuArena = givenByRuntime("ft_rt_cuda_arena");
  return gpuArena;
}

Value EntryEmitter::weightsOf(bool onGpu) {
  if (!onGpu)
    return entry.getArgument(kWeights);
  if (!gpuWeights)
    gpuWeights = givenByRuntime("ft_rt_cuda_weights");
  return gpuWeights;
}

Value EntryEmitter::baseOf(ft::Region region, unsigned index, bool onGpu) {
  if (region != ft::Region::Input && region != ft::Region::Output)
    index = onGpu;
  // Before the insertion point of what is made of it.
  Value start = region == ft::Region::Arena     ? arenaOf(onGpu)
                : region == ft::Region::Weights ? weightsOf(onGpu)
                                                : Value();
  Value &base = bases[{static_cast<unsigned>(region), index}];
  if (base)
    return base;
  // In the entry block, so that it is there behind every check too.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&entry.getBody().front());
  if (start && start.getDefiningOp())
    b.setInsertionPointAfterValue(start);
  switch (region) {
  case ft::Region::Arena:
  case ft::Region::Weights:
    return base = bytesAt(start);
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

Value EntryEmitter::window(Value tensor, const Placement &place,
                           MemRefType type, bool onGpu) {
  Value base;
  if (place.region == ft::Region::Late)
    base = bytesAt(lateBuffers.lookup(place.index));
  else if (place.region == ft::Region::Found)
    base = bytesAt(foundAt.lookup(MemoryRoom::rootOf(tensor)));
  else
    base = baseOf(place.region, place.index, onGpu);
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
  return memref::ReinterpretCastOp::create(b, loc, type, all, b.getIndexAttr(0),
                                           mixed(type.getShape()),
                                           mixed(strides));
}

void EntryEmitter::allocateLate(ArrayRef<Value> outputs) {
  for (Value v : outputs) {
    Placement place = schedule.placements.lookup(v);
    if (place.region == ft::Region::Late)
      lateBuffers[place.index] = memoryFor(schedule.late[place.index]);
  }
}

Value EntryEmitter::memoryFor(const LateBuffer &buffer) {
  if (buffer.output < 0)
    return temporary(buffer.bytes);
  if (name != kModelFunction) {
    Value memory = temporary(buffer.bytes);
    LLVM::StoreOp::create(b, loc, memory,
                          elementAt(entry.getArgument(kOutputs),
                                    static_cast<unsigned>(buffer.output)));
    return memory;
  }
  auto array = [&](ArrayRef<Dim> dims) {
    Value memory = stackWords(static_cast<int64_t>(dims.size()));
    for (auto [i, d] : llvm::enumerate(dims)) {
      Value at =
          LLVM::GEPOp::create(b, loc, pointer(), b.getI64Type(), memory,
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

Value EntryEmitter::temporary(Dim bytes) {
  auto make =
      externalTo(pointer(), "ft_rt_temporary", {pointer(), b.getI64Type()});
  Value size = asI64(sizeValue(bytes));
  return checkedMemory(
      LLVM::CallOp::create(b, loc, make,
                           ValueRange{entry.getArgument(kExec), size})
          .getResult());
}

Value EntryEmitter::checkedMemory(Value memory) {
  Value bad = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, memory,
                                   LLVM::ZeroOp::create(b, loc, pointer()));
  Block *next = newBlock();
  cf::CondBranchOp::create(b, loc, bad, failure(),
                           ValueRange{constant32(FT_ERROR_MEMORY)}, next,
                           ValueRange{});
  b.setInsertionPointToEnd(next);
  return memory;
}

Value EntryEmitter::addressOf(Value tensor, const Placement &place) {
  Value start;
  switch (place.region) {
  case ft::Region::Arena:
    start = arenaOf(isOnGpu(tensor));
    break;
  case ft::Region::Weights:
    start = weightsOf(isOnGpu(tensor));
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
    start = foundAt.lookup(MemoryRoom::rootOf(tensor));
    // The kernel that finds it is about to be called.
    if (!start)
      return LLVM::ZeroOp::create(b, loc, pointer());
    break;
  }
  return LLVM::GEPOp::create(b, loc, pointer(), b.getI8Type(), start,
                             ValueRange{asI64(offsetOf(place))});
}

Value EntryEmitter::stackWords(int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&entry.getBody().front());
  return LLVM::AllocaOp::create(b, loc, pointer(), b.getI64Type(),
                                constant64(std::max<int64_t>(count, 1)));
}

Value EntryEmitter::elementAt(Value array, unsigned index) {
  return LLVM::GEPOp::create(
      b, loc, pointer(), pointer(), array,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

Value EntryEmitter::pointerArray(ArrayRef<Value> pointers) {
  Value array = stackWords(static_cast<int64_t>(pointers.size()));
  for (auto [i, p] : llvm::enumerate(pointers))
    LLVM::StoreOp::create(b, loc, p,
                          elementAt(array, static_cast<unsigned>(i)));
  return array;
}

Value EntryEmitter::bufferAddress(int buffer) {
  Placement place;
  place.index = static_cast<unsigned>(buffer);
  return addressOf(Value(), place);
}

Value EntryEmitter::load(Value v) {
  Placement place = schedule.placements.lookup(v);
  auto scalar = cast<RankedTensorType>(v.getType()).getElementType();
  if (schedule.devices.isOnGpu(v)) {
    // Memory of the device: a wait, and a copy.
    constexpr int64_t kMostBytes = 16;
    Value there = addressOf(v, place), here = stackWords(kMostBytes / 8);
    int64_t bytes = elementBytes(cast<RankedTensorType>(v.getType()));
    auto read = external("ft_rt_cuda_read",
                         {pointer(), pointer(), b.getI64Type(), pointer()});
    splitOnCode(LLVM::CallOp::create(b, loc, read,
                                     ValueRange{entry.getArgument(kExec), there,
                                                constant64(bytes), here})
                    .getResult());
    return LLVM::LoadOp::create(b, loc, scalar, here);
  }
  markTensors("ft_rt_open", v);
  Value loaded = LLVM::LoadOp::create(b, loc, scalar, addressOf(v, place));
  markTensors("ft_rt_close", v);
  return loaded;
}

} // namespace ft
