//===- EntryChecks.cpp - What a call checks in passing ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/runtime.h"

#include "compiler/lower/EntryEmitter.h"
#include "dialects/ft/SizeCode.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace ft {

Value EntryEmitter::bytesConstant(const std::string &bytes) {
  LLVM::GlobalOp &global = strings[bytes];
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(
        b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
        name + "_text_" + std::to_string(strings.size() - 1),
        b.getStringAttr(bytes), /*alignment=*/8);
  }
  return LLVM::AddressOfOp::create(b, loc, global);
}

LLVM::LLVMFuncOp EntryEmitter::externalTo(Type result, StringRef name,
                                          ArrayRef<Type> arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  return LLVM::LLVMFuncOp::create(b, loc, name, type);
}

void EntryEmitter::emitAssertion(AssertOp op) {
  auto *dialect = b.getContext()->getLoadedDialect<FtDialect>();
  llvm::Expected<SymExpr> e = dialect->symbolContext().parse(op.getRelation());
  if (!e)
    return llvm::consumeError(e.takeError());
  requireExact(*e);
  SizeCode code;
  Value holds =
      code.emit(b, loc, *e, [&](StringRef name) { return symbolValue(name); });
  Value bad = negation(holds);
  std::string sentence = titled(*e) + " must hold";
  if (op.getCause())
    sentence += (", for " + *op.getCause()).str();
  if (op.getPlace())
    sentence += (" at " + *op.getPlace()).str();
  splitOn(bad, [&] { return report(FT_ERROR_GUARD, sentence); });
}

std::string EntryEmitter::titled(SymExpr e) {
  SymContext &symbols = e.context();
  auto title = [&](StringRef name) {
    for (const PlannedSymbol &symbol : schedule.plan.symbols)
      if (symbol.name == name)
        return symbols.symbol(symbol.title);
    return SymExpr();
  };
  return symbols.substitute(e, title).str();
}

void EntryEmitter::requireExact(SymExpr e) {
  if (e.kind() == SymKind::Symbol || !exact.insert(e).second)
    return;
  llvm::StringSet<> names;
  e.collectSymbols(names);
  // ft_gen_sizes has checked what the inputs tell.
  if (llvm::all_of(names.keys(), [&](StringRef name) {
        return schedule.plan.symbols[symbolIndex(name)].input >= 0;
      }))
    return;
  SizeCode code;
  code.emit(b, loc, e, [&](StringRef name) { return symbolValue(name); });
  if (Value fits = code.isExact(b, loc))
    splitOn(negation(fits), [&] {
      return report(FT_ERROR_INDEX, titled(e) + " needs more than 64 bits");
    });
}

Value EntryEmitter::negation(Value condition) {
  return arith::XOrIOp::create(
      b, loc, condition,
      arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
}

Value EntryEmitter::report(int code, StringRef sentence) {
  auto fail = external("ft_rt_fail", {pointer(), b.getI32Type(), pointer()});
  return LLVM::CallOp::create(b, loc, fail,
                              ValueRange{entry.getArgument(kExec),
                                         constant32(code),
                                         stringConstant(sentence)})
      .getResult();
}

void EntryEmitter::emitSetSize(SetSizeOp op) {
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

void EntryEmitter::emitCheck(CheckTrueOp check) {
  Value flag = load(check.getCondition());
  Value zero =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(flag.getType(), 0));
  Value bad =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, flag, zero);
  splitOn(bad, [&] { return report(FT_ERROR_INDEX, check.getMessage()); });
}

void EntryEmitter::emitCheck(CheckIndexOp check) {
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
  Value tooLow =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, min, bounds[0]);
  Value tooHigh =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, max, bounds[1]);
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

Block *EntryEmitter::newBlock(ArrayRef<Type> arguments) {
  auto *block = new Block;
  for (Type type : arguments)
    block->addArgument(type, loc);
  entry.getBody().push_back(block);
  return block;
}

Block *EntryEmitter::failure() {
  if (!failBlock) {
    failBlock = newBlock();
    failBlock->addArgument(b.getI32Type(), loc);
  }
  return failBlock;
}

void EntryEmitter::splitOn(Value bad,
                           llvm::function_ref<Value()> reportFailure) {
  Block *fail = failure();
  Block *report = newBlock(), *next = newBlock();
  cf::CondBranchOp::create(b, loc, bad, report, ValueRange{}, next,
                           ValueRange{});
  b.setInsertionPointToEnd(report);
  cf::BranchOp::create(b, loc, fail, reportFailure());
  b.setInsertionPointToEnd(next);
}

void EntryEmitter::splitOnCode(Value code) {
  Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, code,
                                    constant32(0));
  Block *next = newBlock();
  cf::CondBranchOp::create(b, loc, bad, failure(), code, next, ValueRange{});
  b.setInsertionPointToEnd(next);
}

} // namespace ft
