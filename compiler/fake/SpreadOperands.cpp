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
