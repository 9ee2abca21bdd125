//===- DeviceCalls.cpp - Launches in entry functions ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cuda/DeviceCalls.h"

#include "compiler/codegen/cpu/KernelCalls.h"

using namespace mlir;

namespace ft {

static LLVM::LLVMFuncOp launchFunction(ModuleOp module) {
  constexpr llvm::StringLiteral name = "ft_rt_cuda_launch";
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {ptr, b.getI32Type(), b.getI64Type(), ptr});
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), name, type);
}

/// One call of kernel `number`, whose parameters are read before it returns.
static void emitLaunch(func::CallOp call, const LaunchInfo &kernel,
                       unsigned number, LLVM::LLVMFuncOp launch) {
  auto entry = call->getParentOfType<func::FuncOp>();
  OpBuilder b(call);
  Location loc = call.getLoc();
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto stack = [&](Type type, int64_t count) -> Value {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry.front());
    Value n = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(count));
    return LLVM::AllocaOp::create(b, loc, ptr, type, n, 16);
  };
  auto count = static_cast<int64_t>(call.getNumOperands());
  Value parameters = stack(ptr, std::max<int64_t>(count, 1));
  // Sixteen bytes hold any scalar.
  Value slots = stack(b.getIntegerType(128), std::max<int64_t>(count, 1));
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    auto at = [&](Value base, Type type) -> Value {
      return LLVM::GEPOp::create(
          b, loc, ptr, type, base,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    };
    Value v = operand;
    if (isa<MemRefType>(v.getType()))
      v = pointerTo(b, loc, v);
    else if (v.getType().isIndex())
      v = arith::IndexCastOp::create(b, loc, b.getI64Type(), v);
    Value slot = at(slots, b.getIntegerType(128));
    LLVM::StoreOp::create(b, loc, v, slot);
    LLVM::StoreOp::create(b, loc, slot, at(parameters, ptr));
  }
  SizeCode code;
  Value blocks = code.emit(b, loc, kernel.blocks, [&](StringRef name) -> Value {
    for (const auto &[symbol, argument] : kernel.symbols)
      if (symbol == name)
        return call.getOperand(argument);
    return arith::ConstantIndexOp::create(b, loc, 0);
  });
  Value id = arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(number)));
  LLVM::CallOp::create(
      b, loc, launch,
      ValueRange{entry.getArgument(0), id,
                 arith::IndexCastOp::create(b, loc, b.getI64Type(), blocks),
                 parameters});
}

LogicalResult rewriteDeviceCalls(ModuleOp module,
                                 ArrayRef<LaunchInfo> kernels) {
  llvm::StringMap<unsigned> numbers;
  for (auto [i, kernel] : llvm::enumerate(kernels))
    numbers[kernel.name] = static_cast<unsigned>(i);
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (numbers.contains(call.getCallee()))
      calls.push_back(call);
  });
  auto ptr = LLVM::LLVMPointerType::get(module.getContext());
  for (func::CallOp call : calls) {
    auto entry = call->getParentOfType<func::FuncOp>();
    if (!entry || !entry.getNumArguments() ||
        entry.getArgument(0).getType() != ptr) {
      call.emitError("a kernel is called outside of an entry function");
      return failure();
    }
    unsigned number = numbers.lookup(call.getCallee());
    SmallVector<Value> views(call.getOperands());
    emitLaunch(call, kernels[number], number, launchFunction(module));
    call.erase();
    eraseUnused(views);
  }
  return success();
}

} // namespace ft
