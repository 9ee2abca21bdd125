//===- SizesFunction.cpp - The function that works out sizes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   int ft_gen_sizes(exec, sizes, layout) {
//     s0 = sizes[0];  s1 = sizes[1];
//     ...                          every expression, each once, straight on
//     if (something is too large)  return ft_rt_fail(exec, 8, "...");
//     if (!(s0 % 4 == 0))          return ft_rt_fail(exec, 3, "...");
//     layout[0] = s0;  layout[1] = 8;  layout[2] = 8;  ...
//     return 0;
//   }
//===----------------------------------------------------------------------===//

#include "compiler/lower/SizesFunction.h"

#include "foretrace/runtime.h"

#include "dialects/ft/SizeCode.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ft {

namespace {

/// What kernels add to sizes up to this does not wrap.
constexpr int64_t kMost = int64_t(1) << 60;

enum SizesArgument { kExec, kSizes, kLayout };

class SizesEmitter {
public:
  SizesEmitter(ModuleOp module, const Plan &plan)
      : module(module), plan(plan), b(module.getContext()),
        loc(UnknownLoc::get(module.getContext())) {}

  void run(ArrayRef<SizeGuard> guards, Dim arenaBytes,
           ArrayRef<SymExpr> numbers) {
    open();
    loadSymbols();
    SmallVector<Value> layout, conditions;
    for (const std::vector<PlannedValue> *values :
         {&plan.inputs, &plan.outputs})
      for (const PlannedValue &value : *values) {
        TensorMeta meta = metaFromType(value.type).value_or(TensorMeta());
        for (const Dims *dims : {&meta.sizes, &meta.strides})
          for (Dim d : *dims)
            layout.push_back(isTold(d) ? sizeOf(d) : constant(-1));
      }
    layout.push_back(sizeOf(arenaBytes));
    for (const SizeGuard &guard : guards)
      conditions.push_back(code.emit(b, loc, guard.condition, lookup()));
    require(noneTooLarge(layout), FT_ERROR_MEMORY,
            "the sizes are larger than memory can be");
    for (auto [guard, condition] : llvm::zip(guards, conditions))
      require(condition, FT_ERROR_GUARD, guard.sentence);
    for (SymExpr number : numbers)
      if (isTold(Dim(number)))
        code.emit(b, loc, number, lookup());
    if (Value exact = code.isExact(b, loc))
      require(exact, FT_ERROR_GUARD,
              "a number that follows from the sizes needs more than 64 bits");
    for (auto [i, value] : llvm::enumerate(layout))
      LLVM::StoreOp::create(b, loc, asI64(value), element(kLayout, i));
    func::ReturnOp::create(
        b, loc,
        arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0)).getResult());
  }

private:
  ModuleOp module;
  const Plan &plan;
  OpBuilder b;
  Location loc;
  func::FuncOp function;
  SizeCode code;
  llvm::StringMap<Value> symbols;
  unsigned texts = 0;

  Type pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
  Value constant(int64_t v) {
    return arith::ConstantIndexOp::create(b, loc, v);
  }
  Value asI64(Value index) {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }

  void open() {
    SmallVector<Type> types(3, pointer());
    b.setInsertionPointToEnd(module.getBody());
    function = func::FuncOp::create(b, loc, "ft_gen_sizes",
                                    b.getFunctionType(types, {b.getI32Type()}));
    b.setInsertionPointToEnd(function.addEntryBlock());
  }

  Value element(SizesArgument array, size_t index) {
    return LLVM::GEPOp::create(
        b, loc, pointer(), b.getI64Type(), function.getArgument(array),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  }

  void loadSymbols() {
    for (auto [i, symbol] : llvm::enumerate(plan.symbols)) {
      Value v =
          LLVM::LoadOp::create(b, loc, b.getI64Type(), element(kSizes, i));
      symbols[symbol.name] =
          arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
    }
  }

  std::function<Value(StringRef)> lookup() {
    return [this](StringRef name) {
      Value v = symbols.lookup(name);
      return v ? v : constant(0);
    };
  }
  Value sizeOf(Dim d) { return code.emit(b, loc, d, lookup()); }

  /// Some input tells every symbol of the size.
  bool isTold(Dim d) {
    llvm::StringSet<> names;
    if (!d.isStatic())
      d.symbolic().collectSymbols(names);
    for (const PlannedSymbol &symbol : plan.symbols)
      if (symbol.input >= 0)
        names.erase(symbol.name);
    return names.empty();
  }

  /// Whether what was computed so far is right, and `sizes` within bounds.
  Value noneTooLarge(ArrayRef<Value> sizes) {
    Value fits = code.isExact(b, loc);
    if (!fits)
      fits = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    Value most = constant(kMost);
    SetVector<Value> each(sizes.begin(), sizes.end());
    for (Value size : each)
      if (!size.getDefiningOp<arith::ConstantOp>())
        fits = arith::AndIOp::create(
            b, loc, fits,
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, size,
                                  most));
    return fits;
  }

  LLVM::LLVMFuncOp failFunction() {
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>("ft_rt_fail"))
      return known;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    return LLVM::LLVMFuncOp::create(
        b, loc, "ft_rt_fail",
        LLVM::LLVMFunctionType::get(b.getI32Type(),
                                    {pointer(), b.getI32Type(), pointer()}));
  }

  Value text(StringRef sentence) {
    OpBuilder::InsertionGuard guard(b);
    std::string bytes = sentence.str() + '\0';
    LLVM::GlobalOp global;
    {
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(module.getBody());
      global = LLVM::GlobalOp::create(
          b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
          /*isConstant=*/true, LLVM::Linkage::Internal,
          "ft_sizes_text_" + std::to_string(texts++), b.getStringAttr(bytes));
    }
    return LLVM::AddressOfOp::create(b, loc, global);
  }

  /// Goes on where `condition` holds.
  void require(Value condition, int code, StringRef sentence) {
    Block *next = new Block, *failed = new Block;
    function.getBody().push_back(failed);
    function.getBody().push_back(next);
    cf::CondBranchOp::create(b, loc, condition, next, ValueRange{}, failed,
                             ValueRange{});
    b.setInsertionPointToEnd(failed);
    Value number = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(code));
    Value result = LLVM::CallOp::create(b, loc, failFunction(),
                                        ValueRange{function.getArgument(kExec),
                                                   number, text(sentence)})
                       .getResult();
    func::ReturnOp::create(b, loc, result);
    b.setInsertionPointToEnd(next);
  }
};
} // namespace

void emitSizesFunction(ModuleOp module, const Plan &plan,
                       ArrayRef<SizeGuard> guards, Dim arenaBytes,
                       ArrayRef<SymExpr> numbers) {
  SizesEmitter(module, plan).run(guards, arenaBytes, numbers);
}

} // namespace ft
