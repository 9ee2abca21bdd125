//===- ControlChecks.cpp - Annotated branches and loops, checked -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/AliasSets.h"
#include "compiler/fake/ControlFlow.h"
#include "compiler/fake/ControlNames.h"
#include "compiler/fake/FakeScope.h"
#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

static int64_t wrapped(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + rank : dim;
}

//===----------------------------------------------------------------------===//
// Annotations that are there already
//===----------------------------------------------------------------------===//

/// Where branches differ in a size, the result has a symbol of the op's own,
/// with the range that the module states: this walk makes it too.
static void makeJoinedSizes(Propagator &walk, CondOp cond) {
  FakeScope *scope = walk.callScope();
  auto module = cond->getParentOfType<ModuleOp>();
  if (!scope || !module)
    return;
  auto metaBefore = [&](unsigned r, unsigned i) {
    Value v = yieldOf(cond->getRegion(r)).getOperand(i);
    auto refine = v.getDefiningOp<RefineOp>();
    return metaFromType((refine ? refine.getInput() : v).getType());
  };
  for (unsigned i = 0; i < cond->getNumResults(); ++i) {
    std::optional<TensorMeta> joined =
        metaFromType(cond->getResult(i).getType());
    std::optional<TensorMeta> a = metaBefore(0, i), b = metaBefore(1, i);
    if (!joined || !a || !b || a->rank() != b->rank() ||
        a->rank() != joined->rank())
      continue;
    for (auto [size, x, y] : llvm::zip(joined->sizes, a->sizes, b->sizes)) {
      if (x == y || size.isStatic() ||
          size.symbolic().kind() != SymKind::Symbol)
        continue;
      StringRef name = size.symbolic().name();
      Interval range = Interval::atLeast(0);
      for (auto symbol : module.getOps<SymbolOp>())
        if (symbol.getSym() == name)
          range = {
              static_cast<int64_t>(symbol.getLower().value_or(0)),
              static_cast<int64_t>(symbol.getUpper().value_or(Interval::kMax))};
      Dim made = scope->unbackedInteger(range.lo,
                                        range.hi == Interval::kMax
                                            ? std::nullopt
                                            : std::optional<Dim>(range.hi),
                                        "cond");
      // The text may number its symbols otherwise.
      if (made != size)
        scope->env().addUnbacked(range, {"cond", ""}, name);
    }
  }
}

LogicalResult checkControl(Propagator &walk, Operation *op) {
  auto bad = [&] {
    return emitError(op->getLoc())
           << "[FT0107] the annotations of " << nameOf(op) << " do not fit: ";
  };
  ValueRange inits;
  if (auto loop = dyn_cast<WhileOp>(op))
    inits = loop.getInits();
  else if (auto scan = dyn_cast<ScanOp>(op))
    inits = scan.getInits();
  SmallVector<std::optional<Dim>> numbers = makeCarriedNumbers(walk, op, inits);
  for (Region &region : op->getRegions())
    for (auto [argument, number] :
         llvm::zip(region.getArguments().take_front(inits.size()), numbers))
      if (number)
        walk.setNumber(argument, *number);
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (Value outside = capturedBy(argument))
        if (std::optional<Dim> number = walk.numberOf(outside))
          walk.setNumber(argument, *number);
  // What stands on both sides of a border is equal, unless one is unknown.
  for (Region &region : op->getRegions()) {
    for (BlockArgument argument : region.getArguments())
      if (isa<TensorType>(argument.getType()) &&
          !metaFromType(argument.getType()))
        return bad() << nameOf(argument) << " of " << nameOf(region)
                     << " has no layout";
    if (failed(walk.visitBlock(region.front())))
      return failure();
  }
  for (Value result : op->getResults())
    if (isa<TensorType>(result.getType()) && !metaFromType(result.getType()))
      return bad() << nameOf(result) << " has no layout";
  if (auto cond = dyn_cast<CondOp>(op))
    makeJoinedSizes(walk, cond);
  for (auto [result, number] :
       llvm::zip(op->getResults().take_front(inits.size()),
                 makeCarriedNumbers(walk, op, inits)))
    if (number)
      walk.setNumber(result, *number);
  auto predicate = [&](Value value) -> LogicalResult {
    std::optional<TensorMeta> meta = metaFromType(value.getType());
    if (meta && meta->numel().isStatic() && !meta->numel().is(1))
      return bad() << "the condition is " << meta->str();
    return success();
  };
  if (auto cond = dyn_cast<CondOp>(op))
    return predicate(cond.getPredicate());
  if (auto loop = dyn_cast<WhileOp>(op))
    return predicate(yieldOf(loop.getCondRegion()).getOperand(0));

  // A slice and what it is cut from, a stacked result and one position of it.
  auto scan = cast<ScanOp>(op);
  Region &body = scan.getBodyRegion();
  std::optional<Dim> length;
  auto fits = [&](Value whole, Value part) -> LogicalResult {
    std::optional<TensorMeta> a = metaFromType(whole.getType());
    std::optional<TensorMeta> b = metaFromType(part.getType());
    int64_t rank = a ? a->rank() : 0;
    int64_t dim = wrapped(scan.getDim(), rank);
    bool sound = a && b && b->rank() == rank - 1 && a->dtype == b->dtype &&
                 dim >= 0 && dim < rank;
    if (sound) {
      auto mayBeEqual = [](Dim x, Dim y) {
        return x == y || !x.isStatic() || !y.isStatic();
      };
      sound = !length || mayBeEqual(*length, a->sizes[dim]);
      length = a->sizes[dim];
      a->sizes.erase(a->sizes.begin() + dim);
      for (auto [x, y] : llvm::zip(a->sizes, b->sizes))
        sound &= mayBeEqual(x, y);
    }
    if (!sound)
      return bad() << whole.getType() << " does not consist of "
                   << part.getType() << " along dim " << scan.getDim();
    return success();
  };
  size_t carried = scan.getInits().size();
  for (auto [i, x] : llvm::enumerate(scan.getXs()))
    if (failed(fits(x, body.getArgument(carried + i))))
      return failure();
  for (size_t i = carried; i < op->getNumResults(); ++i)
    if (failed(fits(op->getResult(i), yieldOf(body).getOperand(i))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Storages
//===----------------------------------------------------------------------===//

static LogicalResult checkRegion(Region &region, const AliasSets &sets) {
  Operation *parent = region.getParentOp();
  llvm::DenseMap<int, Value> outside, yielded;
  for (BlockArgument argument : region.getArguments())
    if (int storage = sets.storage(argument); storage >= 0)
      outside.try_emplace(storage, argument);
  for (Operation &op : region.front().without_terminator()) {
    const Schema *schema = schemaOf(&op);
    if (!schema || !schema->mutates)
      continue;
    AtenCall call = AtenCall::decode(&op);
    for (auto [i, formal] : llvm::enumerate(schema->args)) {
      if (!formal.type.write)
        continue;
      SmallVector<Value, 4> written = {call.tensor(i)};
      if (formal.type.list)
        written = call.tensors(i);
      for (Value value : written) {
        auto it = value ? outside.find(sets.storage(value)) : outside.end();
        if (it != outside.end())
          return emitError(op.getLoc())
                 << "[FT0308] aten." << schema->name << " in " << nameOf(region)
                 << " writes " << nameOf(it->second)
                 << ", which comes from outside " << nameOf(parent)
                 << "\nhelp: write to a clone() of it and return that";
      }
    }
  }
  YieldOp yield = yieldOf(region);
  bool condition = isa<WhileOp>(parent) && region.getRegionNumber() == 0;
  for (Value value : yield.getOperands()) {
    int storage = sets.storage(value);
    if (storage < 0 || condition)
      continue;
    auto other = outside.find(storage);
    bool again = other == outside.end();
    if (again)
      other = yielded.find(storage);
    if (other != (again ? yielded.end() : outside.end()))
      return emitError(value.getLoc())
             << "[FT0308] " << nameOf(region) << " of " << nameOf(parent)
             << " gives " << nameOf(value) << ", which "
             << (other->second == value
                     ? (again ? "it gives already" : "comes from outside")
                     : "shares storage with " + nameOf(other->second) +
                           (again ? "" : " from outside"))
             << "\nhelp: return a clone() of it";
    yielded[storage] = value;
  }
  return success();
}

LogicalResult checkRegionStorages(Operation *op) {
  bool sound = true;
  for (Region &region : op->getRegions())
    sound &= succeeded(checkRegion(region, AliasSets(region)));
  return success(sound);
}

LogicalResult checkRegionStorages(func::FuncOp function) {
  SmallVector<Operation *> all;
  function.walk([&](Operation *op) {
    if (isControl(op))
      all.push_back(op);
  });
  if (all.empty())
    return success();
  AliasSets sets(function);
  bool sound = true;
  for (Operation *op : all)
    for (Region &region : op->getRegions())
      sound &= succeeded(checkRegion(region, sets));
  return success(sound);
}

} // namespace ft
