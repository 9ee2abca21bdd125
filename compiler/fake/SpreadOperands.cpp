//===- SpreadOperands.cpp - Broadcasting made explicit ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/SpreadOperands.h"

#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/Propagator.h"
#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtOps.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ft {

/// The expanded operand, in front of the call; null after an error.
static Value expandTo(Operation *caller, Value operand, ArrayRef<Dim> sizes,
                      FakeScope &scope) {
  AtenCall call;
  call.schema = SchemaTable::get().find("expand.default");
  call.operands.push_back(operand);
  std::vector<Arg> list;
  for (Dim d : sizes)
    list.push_back(Arg::integer(d));
  call.args = {Arg::tensor(0), Arg::listOf(std::move(list)), Arg::truth(false)};
  OpBuilder builder(caller);
  Operation *made =
      call.build(builder, caller->getLoc(),
                 SmallVector<Type>{unknownTensorType(builder.getContext())});
  return succeeded(propagateOp(made, nullptr, &scope)) ? made->getResult(0)
                                                       : Value();
}

/// That the operand has the size that it is expanded to, or 1, follows from the
/// guard of the call. Where sizes are nested too deeply for that to be proved
/// once more, it is stated.
static void stateFit(ModuleOp module, FakeScope &scope,
                     const FakeScope::Spread &spread) {
  SymContext &symbols = scope.symbols();
  Dim own =
      metaOf(spread.caller->getOperand(spread.operand))->sizes[spread.dim];
  SymExpr from = own.toExpr(symbols), to = spread.size.toExpr(symbols);
  SymExpr fits = symbols.logicalOr(
      {symbols.eq(from, to), symbols.eq(from, symbols.constant(1))});
  if (!fits || scope.answer(fits))
    return;
  SmallVector<StringRef> guards;
  FactOp last;
  unsigned stated = 0;
  for (FactOp fact : module.getOps<FactOp>()) {
    last = fact;
    stated += fact.getId() && fact.getId()->starts_with("e");
    if (fact.getId() && !fact.getImpliedBy())
      guards.push_back(*fact.getId());
  }
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  if (last)
    builder.setInsertionPointAfter(last);
  FactOp::create(builder, spread.caller->getLoc(),
                 builder.getStringAttr(fits.str()),
                 builder.getStringAttr("expand"),
                 builder.getStringAttr("e" + llvm::Twine(stated)),
                 /*place=*/StringAttr(), builder.getStrArrayAttr(guards));
  scope.env().declare(fits, {"expand", ""});
}

LogicalResult spreadOperands(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (module.getOps<SymbolOp>().empty())
    return success();
  // An operand that was expanded may ask the same of another one.
  constexpr int kMostRounds = 8;
  for (int round = 0; function && round < kMostRounds; ++round) {
    ModuleScope scope(module, function, ModuleScope::Use::Follow);
    if (failed(scope.verify()))
      return failure();
    FakeCache cache;
    Propagator walk(Propagator::Mode::CheckShapes, &cache);
    walk.setScope(&scope.scope());
    if (failed(walk.run(function)))
      return failure();
    llvm::MapVector<std::pair<Operation *, unsigned>, Dims> wanted;
    for (const FakeScope::Spread &spread : scope.scope().spreadOperands()) {
      stateFit(module, scope.scope(), spread);
      Dims &sizes = wanted[{spread.caller, spread.operand}];
      if (sizes.empty())
        sizes = metaOf(spread.caller->getOperand(spread.operand))->sizes;
      sizes[spread.dim] = spread.size;
    }
    if (wanted.empty())
      return success();
    for (const auto &[place, sizes] : wanted) {
      auto [caller, operand] = place;
      Value wide =
          expandTo(caller, caller->getOperand(operand), sizes, scope.scope());
      if (!wide)
        return failure();
      caller->setOperand(operand, wide);
    }
  }
  return success();
}

} // namespace ft
