//===- DeviceKernel.cpp - One kernel to threads of a GPU ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cuda/DeviceKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ft {

Value DeviceKernel::call(StringRef intrinsic, Type result,
                         ValueRange operands) {
  OpBuilder &b = builder();
  auto name = b.getStringAttr(intrinsic);
  if (!result) {
    LLVM::CallIntrinsicOp::create(b, r.loc, name, operands);
    return Value();
  }
  return LLVM::CallIntrinsicOp::create(b, r.loc, result, name, operands)
      .getResult(0);
}

void DeviceKernel::setCounters(const OutputSpace &space,
                               ArrayRef<unsigned> groups, IndexExpr e,
                               Coords &counters) {
  // Each part gets a counter of its own, so that expressions stay simple.
  for (unsigned i = groups.size(); i-- > 0;) {
    Dim size = space.groups[groups[i]].size;
    IndexExpr part = i ? r.space.mod(e, size) : e;
    counters[groups[i]] =
        r.space.of(r.space.addCounter(r.scalarIndex(part), size));
    e = r.space.floorDiv(e, size);
  }
}

void DeviceKernel::barrier() {
  OpBuilder &b = builder();
  Value zero = arith::ConstantOp::create(b, r.loc, b.getI32IntegerAttr(0));
  call("llvm.nvvm.barrier.cta.sync.aligned.all", Type(), zero);
}

Value DeviceKernel::shuffle(Value value, int mask) {
  OpBuilder &b = builder();
  Type type = value.getType();
  if (type.isIndex()) {
    Value wide = arith::IndexCastOp::create(b, r.loc, b.getI64Type(), value);
    return arith::IndexCastOp::create(b, r.loc, type, shuffle(wide, mask));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  Type asInt = b.getIntegerType(bits);
  if (isa<FloatType>(type)) {
    Value i = arith::BitcastOp::create(b, r.loc, asInt, value);
    return arith::BitcastOp::create(b, r.loc, type, shuffle(i, mask));
  }
  Type i32 = b.getI32Type();
  if (bits < 32) {
    Value wide = arith::ExtUIOp::create(b, r.loc, i32, value);
    return arith::TruncIOp::create(b, r.loc, type, shuffle(wide, mask));
  }
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(b, r.loc, b.getI32IntegerAttr(v));
  };
  if (bits == 32)
    return call("llvm.nvvm.shfl.sync.bfly.i32", i32,
                {constant(-1), value, constant(mask), constant(31)});
  // Two halves.
  Value shift = arith::ConstantOp::create(b, r.loc, b.getI64IntegerAttr(32));
  Value low = arith::TruncIOp::create(b, r.loc, i32, value);
  Value high = arith::TruncIOp::create(
      b, r.loc, i32, arith::ShRUIOp::create(b, r.loc, value, shift));
  Value l = arith::ExtUIOp::create(b, r.loc, type, shuffle(low, mask));
  Value h = arith::ExtUIOp::create(b, r.loc, type, shuffle(high, mask));
  return arith::OrIOp::create(b, r.loc, l,
                              arith::ShLIOp::create(b, r.loc, h, shift));
}

Value DeviceKernel::shared(int64_t bytes) {
  OpBuilder &b = builder();
  OpBuilder::InsertionGuard guard(b);
  constexpr unsigned kSharedSpace = 3;
  auto array = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
  if (!memory) {
    b.setInsertionPointToStart(module.getBody());
    memory = LLVM::GlobalOp::create(
        b, r.loc, array, /*isConstant=*/false, LLVM::Linkage::Internal,
        name + "$shared", Attribute(), /*alignment=*/16, kSharedSpace);
    Block *block = b.createBlock(&memory.getInitializerRegion());
    b.setInsertionPointToStart(block);
    LLVM::ReturnOp::create(b, r.loc, LLVM::UndefOp::create(b, r.loc, array));
  }
  auto now = cast<LLVM::LLVMArrayType>(memory.getGlobalType());
  if (now.getNumElements() < static_cast<unsigned>(bytes)) {
    memory.setGlobalType(array);
    memory.getInitializerRegion().front().front().getResult(0).setType(array);
  }
  b.setInsertionPoint(r.afterSizes);
  return LLVM::AddressOfOp::create(b, r.loc, memory);
}

Value DeviceKernel::below(Value v, Value limit) {
  return arith::CmpIOp::create(builder(), r.loc, arith::CmpIPredicate::slt, v,
                               limit);
}

void DeviceKernel::when(Value condition, llvm::function_ref<void()> body) {
  OpBuilder &b = builder();
  auto branch = scf::IfOp::create(b, r.loc, condition, false);
  OpBuilder::InsertionGuard guard(b);
  TensorReader::Scope scope(r);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// The outputs in groups of one shape.
static SmallVector<SmallVector<KernelOutput>> groupOutputs(func::FuncOp kernel,
                                                           KernelSizes &sizes) {
  SmallVector<SmallVector<KernelOutput>> groups;
  for (Operation &op : kernel.front()) {
    auto m = dyn_cast<bufferization::MaterializeInDestinationOp>(op);
    if (!m)
      continue;
    ArrayRef<Dim> shape = *sizes.of(m.getDest());
    auto *same = llvm::find_if(groups, [&](const auto &g) {
      return *sizes.of(g.front().memory) == shape;
    });
    if (same == groups.end())
      groups.push_back({{m.getSource(), m.getDest()}});
    else
      same->push_back({m.getSource(), m.getDest()});
  }
  return groups;
}

FailureOr<LaunchInfo> emitDeviceKernel(func::FuncOp kernel, bool tf32) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  FailureOr<KernelSizes> sizes = KernelSizes::read(kernel);
  if (failed(sizes))
    return failure();
  LaunchInfo info;
  info.name = kernel.getName().str();
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  auto pointer = LLVM::LLVMPointerType::get(context);
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    Type t = kernel.getArgument(i).getType();
    SmallVector<NamedAttribute> attrs;
    bool isMemory = isa<MemRefType>(t);
    if (isMemory && !kernel.getArgAttr(i, "ft.inplace"))
      attrs.push_back(b.getNamedAttr("llvm.noalias", b.getUnitAttr()));
    if (auto align = kernel.getArgAttrOfType<IntegerAttr>(i, kAlignAttr);
        align && isMemory)
      attrs.push_back(b.getNamedAttr("llvm.align", align));
    if (auto symbol = kernel.getArgAttrOfType<StringAttr>(i, names::kSymbol))
      info.symbols.push_back({symbol.str(), i});
    types.push_back(isMemory ? Type(pointer) : t);
    attributes.push_back(b.getDictionaryAttr(attrs));
  }
  auto emitted = func::FuncOp::create(b, loc, kernel.getName(),
                                      b.getFunctionType(types, {}));
  emitted.setAllArgAttrs(attributes);
  Block *entry = emitted.addEntryBlock();
  llvm::DenseMap<Value, Value> arguments;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    arguments[kernel.getArgument(i)] = entry->getArgument(i);
  b.setInsertionPointToStart(entry);
  // Sizes are computed before this constant, which nothing uses.
  Operation *afterSizes = arith::ConstantIndexOp::create(b, loc, 0);

  // The reader asks its target how wide vectors are; threads have none.
  CpuTarget scalars;
  scalars.isa = IsaRow{"gpu", 0, 0, 0, 0, false, 0};
  TensorReader reader(b, loc, scalars, *sizes, std::move(arguments));
  reader.afterSizes = afterSizes;
  reader.scalarOnly = true;
  auto id = [&](const char *name) -> Value {
    Value v = LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(),
                                            b.getStringAttr(name), ValueRange())
                  .getResult(0);
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), v);
  };
  Value thread = id("llvm.nvvm.read.ptx.sreg.tid.x");
  Value block = id("llvm.nvvm.read.ptx.sreg.ctaid.x");
  DeviceKernel device(reader, thread, block,
                      kernel->getParentOfType<ModuleOp>(), kernel.getName());
  device.tf32 = tf32;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (auto align = kernel.getArgAttrOfType<IntegerAttr>(i, kAlignAttr))
      device.alignments[kernel.getArgument(i)] = align.getInt();

  for (const auto &group : groupOutputs(kernel, *sizes)) {
    ArrayRef<Dim> shape = *sizes->of(group.front().memory);
    if (hasNoElements(shape))
      continue;
    TensorReader::Scope scope(reader);
    b.setInsertionPointToEnd(entry);
    // A nest of more than one has to ask whether the block is one of its own.
    TileNest tiles(device, group, shape);
    ThreadNest threads(device, group, shape);
    bool isTiles = tiles.plan();
    Dim blocks = 0;
    bool ok = !reader.failed;
    if (ok && isTiles) {
      ok = tiles.emit(info.blocks);
      blocks = tiles.blocks;
    } else if (ok) {
      ok = threads.emit(info.blocks);
      blocks = threads.blocks;
    }
    if (!ok) {
      Operation *culprit = reader.failed ? reader.failed : kernel;
      culprit->emitError("has no code for CUDA");
      emitted.erase();
      return failure();
    }
    info.blocks = info.blocks + blocks;
  }
  info.sharedBytes = device.sharedBytes();
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, loc);
  kernel.erase();
  return info;
}

} // namespace ft
