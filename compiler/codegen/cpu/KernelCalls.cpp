//===- KernelCalls.cpp - Calls of kernels in entry functions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func.call @k(%a, %b)
// becomes
//   direct     call @k(pa, pb, 0, N)
//   parallel   s = alloca {ptr, ptr}; store pa, pb;
//              call @ft_rt_parallel_for(exec, @k$body, s, N, grain)
//              @k$body(ptr s, i64 lo, i64 hi): call @k(s[0], s[1], lo, hi)

#include "compiler/codegen/cpu/KernelCalls.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

using namespace mlir;

namespace ft {

// Waking a thread and waiting for it costs about a microsecond; below twenty
// there is nothing to win. A chunk of ten keeps threads evenly busy.
static constexpr double kParallelNanoseconds = 20000;
static constexpr double kGrainNanoseconds = 10000;

Value pointerTo(OpBuilder &b, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  // Never read; and MLIR has no descriptor for shapes with a 0.
  if (llvm::is_contained(type.getShape(), 0))
    return LLVM::ZeroOp::create(b, loc, ptr);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  bool noOffset =
      succeeded(type.getStridesAndOffset(strides, offset)) && offset == 0;
  Value at = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
  at = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
  Value p = LLVM::IntToPtrOp::create(b, loc, ptr, at);
  if (noOffset)
    return p;
  auto parts = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value elements =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), parts.getOffset());
  Type element = type.getElementType();
  if (auto c = dyn_cast<ComplexType>(element))
    element = LLVM::LLVMStructType::getLiteral(
        b.getContext(), {c.getElementType(), c.getElementType()});
  if (element.isIndex())
    element = b.getI64Type();
  if (element.isInteger(1))
    element = b.getI8Type();
  return LLVM::GEPOp::create(b, loc, ptr, element, p,
                             ArrayRef<LLVM::GEPArg>{elements});
}

static Type inMemory(Type t, OpBuilder &b) {
  return t.isIndex() ? b.getI64Type() : t;
}

/// The body function for a kernel, made once.
static LLVM::LLVMFuncOp thunkFor(ModuleOp module, func::FuncOp kernel,
                                 LLVM::LLVMStructType packed) {
  std::string name = (kernel.getName() + "$body").str();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder b(kernel);
  b.setInsertionPointAfter(kernel);
  Location loc = kernel.getLoc();
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {ptr, b.getI64Type(), b.getI64Type()});
  auto f =
      LLVM::LLVMFuncOp::create(b, loc, name, type, LLVM::Linkage::Internal);
  Block *entry = f.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  SmallVector<Value> operands;
  for (auto [i, t] : llvm::enumerate(packed.getBody())) {
    Value at =
        LLVM::GEPOp::create(b, loc, ptr, packed, entry->getArgument(0),
                            ArrayRef<LLVM::GEPArg>{int32_t(0), int32_t(i)});
    Value v = LLVM::LoadOp::create(b, loc, t, at);
    if (kernel.getArgumentTypes()[i].isIndex())
      v = arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
    operands.push_back(v);
  }
  for (unsigned i : {1u, 2u})
    operands.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                                  entry->getArgument(i)));
  func::CallOp::create(b, loc, kernel, operands);
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return f;
}

static LLVM::LLVMFuncOp parallelFor(ModuleOp module) {
  constexpr llvm::StringLiteral name = "ft_rt_parallel_for";
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()),
      {ptr, ptr, ptr, b.getI64Type(), b.getI64Type()});
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), name, type);
}

void eraseUnused(ArrayRef<Value> values) {
  for (Value v : values) {
    Operation *op = v.getDefiningOp();
    while (op && isOpTriviallyDead(op)) {
      Operation *before =
          op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr;
      op->erase();
      op = before;
    }
  }
}

LogicalResult rewriteKernelCalls(ModuleOp module,
                                 const llvm::StringMap<KernelInfo> &kernels) {
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (kernels.contains(call.getCallee()) &&
        !call->getParentOfType<func::FuncOp>()->hasAttr("ft.emitted"))
      calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    auto kernel = module.lookupSymbol<func::FuncOp>(call.getCallee());
    const KernelInfo &info = kernels.find(call.getCallee())->second;
    OpBuilder b(call);
    Location loc = call.getLoc();
    if (call.getNumOperands() + 2 != kernel.getNumArguments()) {
      call.emitError("passes ")
          << call.getNumOperands() << " arguments to a kernel that takes "
          << kernel.getNumArguments() - 2;
      return failure();
    }
    SmallVector<Value> views(call.getOperands());
    auto eraseCall = [&] {
      call.erase();
      eraseUnused(views);
    };
    if (info.trips.is(0)) {
      eraseCall();
      continue;
    }
    SizeCode code;
    auto number = [&](Dim d) {
      return code.emit(b, loc, d, [&](StringRef name) -> Value {
        for (const auto &[symbol, argument] : info.symbols)
          if (symbol == name)
            return call.getOperand(argument);
        return arith::ConstantIndexOp::create(b, loc, 0);
      });
    };
    SmallVector<Value> operands;
    for (Value v : call.getOperands())
      operands.push_back(isa<MemRefType>(v.getType()) ? pointerTo(b, loc, v)
                                                      : v);
    auto entry = call->getParentOfType<func::FuncOp>();
    auto ptr = LLVM::LLVMPointerType::get(b.getContext());
    bool exec =
        entry.getNumArguments() && entry.getArgument(0).getType() == ptr;
    // Where sizes are of the run, the runtime decides.
    bool parallel = exec && (!info.trips.isStatic() || !info.points.isStatic());
    if (info.trips.isStatic() && !parallel)
      parallel = exec && info.trips.value() > 1 &&
                 info.trips.value() * info.nanoseconds >= kParallelNanoseconds;
    if (!parallel) {
      operands.push_back(arith::ConstantIndexOp::create(b, loc, 0));
      operands.push_back(number(info.trips));
      func::CallOp::create(b, loc, kernel, operands);
      eraseCall();
      continue;
    }
    SmallVector<Type> types;
    for (Value v : operands)
      types.push_back(inMemory(v.getType(), b));
    auto packed = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    Value memory;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&entry.front());
      Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
      memory = LLVM::AllocaOp::create(b, loc, ptr, packed, one, 16);
    }
    for (auto [i, v] : llvm::enumerate(operands)) {
      if (v.getType().isIndex())
        v = arith::IndexCastOp::create(b, loc, b.getI64Type(), v);
      Value at =
          LLVM::GEPOp::create(b, loc, ptr, packed, memory,
                              ArrayRef<LLVM::GEPArg>{int32_t(0), int32_t(i)});
      LLVM::StoreOp::create(b, loc, v, at);
    }
    LLVM::LLVMFuncOp thunk = thunkFor(module, kernel, packed);
    // At the hints `points` take `nanoseconds`; what they take in the run is
    // in proportion.
    double perPoint = std::max(info.nanoseconds, 0.01) / info.pointsAtHints;
    Dim grain = std::max<int64_t>(
        1, int64_t(std::ceil(kGrainNanoseconds / info.nanoseconds)));
    if (!info.points.isStatic())
      grain =
          floorDiv(Dim(int64_t(std::min(kGrainNanoseconds / perPoint, 1e9))),
                   info.points) +
          1;
    auto i64 = [&](Dim x) -> Value {
      return arith::IndexCastOp::create(b, loc, b.getI64Type(), number(x));
    };
    Value body = LLVM::AddressOfOp::create(b, loc, thunk);
    LLVM::CallOp::create(b, loc, parallelFor(module),
                         ValueRange{entry.getArgument(0), body, memory,
                                    i64(info.trips), i64(grain)});
    eraseCall();
  }
  return success();
}

} // namespace ft
