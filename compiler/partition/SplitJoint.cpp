//===- SplitJoint.cpp - Joint graph → forward and backward -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/SplitJoint.h"

#include "compiler/fake/StrideRules.h"
#include "compiler/partition/CallAgain.h"
#include "compiler/partition/CarriedSizes.h"
#include "compiler/partition/KeptValues.h"
#include "compiler/partition/PartitionNames.h"
#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Programs.h"
#include "dialects/ft/WrittenArguments.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ft {

namespace {
class Splitter {
public:
  Splitter(ModuleOp moduleOp, const JointGraph &jointGraph,
           const KeptValues &keptValues)
      : module(moduleOp), joint(jointGraph), kept(keptValues),
        written(jointGraph.function()) {}
  LogicalResult run();

private:
  void collectForward();
  void collectBackward();
  bool takes(BlockArgument argument) const;
  LogicalResult collectSizes();
  void emitBackward(Value value, llvm::DenseSet<Operation *> &done);
  func::FuncOp addProgram(StringRef name);
  Value addArgument(func::FuncOp program, Type type, Location location,
                    NamedAttrList attributes);
  void addArgument(func::FuncOp program, BlockArgument from, IRMapping &map);
  void finish(func::FuncOp program, ArrayRef<Value> results,
              ArrayRef<DictionaryAttr> attributes);
  void buildForward();
  void buildBackward();

  ModuleOp module;
  const JointGraph &joint;
  const KeptValues &kept;
  WrittenArguments written;
  llvm::DenseSet<Operation *> forward;
  /// The calls of backward, in the order they are made.
  SmallVector<Operation *> backward;
  /// Of the arguments of the program that is being built.
  SmallVector<DictionaryAttr> argumentAttributes;
  /// What backward reads of them, kept values in the order of `kept`.
  llvm::DenseSet<Value> taken;
  SmallVector<Value> saved;
  /// Saved behind those.
  std::vector<CarriedSize> sizes;
};
} // namespace

/// What forward results need and what makes the kept values.
void Splitter::collectForward() {
  SmallVector<Operation *> left;
  auto add = [&](Operation *op) {
    if (op && forward.insert(op).second)
      left.push_back(op);
  };
  for (Value value : saved)
    add(value.getDefiningOp());
  for (const CarriedSize &size : sizes) {
    add(size.maker);
    add(size.like.getDefiningOp());
  }
  while (!left.empty())
    for (Value operand : left.pop_back_val()->getOperands())
      add(operand.getDefiningOp());
  for (Operation &op : joint.body().without_terminator())
    if (joint.isForward(&op))
      forward.insert(&op);
}

/// Appends what makes `value` and is not there yet. Not recursive: a chain may
/// be long.
void Splitter::emitBackward(Value value, llvm::DenseSet<Operation *> &done) {
  struct Open {
    Operation *op;
    SmallVector<Value, 4> operands;
    unsigned next = 0;
  };
  SmallVector<Open> open;
  auto enter = [&](Value needed) {
    Operation *op = needed.getDefiningOp();
    if (!op || kept.contains(needed))
      taken.insert(needed);
    else if (done.insert(op).second)
      open.push_back({op, operandsAgain(op)});
  };
  enter(value);
  while (!open.empty()) {
    Open &last = open.back();
    if (last.next < last.operands.size()) {
      enter(last.operands[last.next++]);
      continue;
    }
    backward.push_back(last.op);
    open.pop_back();
  }
}

/// Calls with tangents in their order; what is done again stands in front of
/// the first one that reads it, so that it does not lie about.
void Splitter::collectBackward() {
  llvm::DenseSet<Operation *> done;
  for (Operation &op : joint.body().without_terminator())
    if (joint.isLate(&op)) {
      for (Value operand : op.getOperands())
        emitBackward(operand, done);
      if (done.insert(&op).second)
        backward.push_back(&op);
    }
  for (OpOperand &operand : joint.terminator()->getOpOperands())
    if (joint.isOfBackward(operand.getOperandNumber()))
      emitBackward(operand.get(), done);
  for (const auto &[value, reason] : kept)
    if (taken.contains(value))
      saved.push_back(value);
}

/// Whether backward takes the argument as it is.
bool Splitter::takes(BlockArgument argument) const {
  if (joint.kindOf(argument) == "tangent")
    return true;
  std::optional<unsigned> result = written.resultOf(argument);
  bool writes = result && joint.isOfBackward(*result);
  bool reads = taken.contains(argument) && !joint.isWritten(argument);
  return writes || reads;
}

LogicalResult Splitter::collectSizes() {
  SmallVector<Value> known(saved);
  for (BlockArgument argument : joint.body().getArguments())
    if (takes(argument))
      known.push_back(argument);
  FailureOr<std::vector<CarriedSize>> carried =
      carriedSizes(joint, module, backward, known);
  if (succeeded(carried))
    sizes = std::move(*carried);
  return success(succeeded(carried));
}

/// An empty program in the module: its own symbols and facts, and @forward.
func::FuncOp Splitter::addProgram(StringRef name) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto program = ModuleOp::create(b, module.getLoc(), name);
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    program->setAttr(attribute.getName(), attribute.getValue());
  b.setInsertionPointToStart(program.getBody());
  for (Operation &op : *module.getBody())
    if (isa<SymbolOp, FactOp>(op))
      b.clone(op);
  auto function = func::FuncOp::create(b, joint.function().getLoc(), "forward",
                                       b.getFunctionType({}, {}));
  function.addEntryBlock();
  argumentAttributes.clear();
  return function;
}

/// The function's own lists are set once, in finish: each change of them is a
/// list of its own in the context.
Value Splitter::addArgument(func::FuncOp program, Type type, Location location,
                            NamedAttrList attributes) {
  argumentAttributes.push_back(attributes.getDictionary(module.getContext()));
  return program.front().addArgument(type, location);
}

void Splitter::addArgument(func::FuncOp program, BlockArgument from,
                           IRMapping &map) {
  Builder b(module.getContext());
  unsigned n = from.getArgNumber();
  NamedAttrList attributes(joint.function().getArgAttrDict(n));
  StringRef kind = joint.kindOf(from);
  if (kind == "parameter" || kind == "buffer")
    attributes.set(names::kKind, b.getStringAttr("given_" + kind));
  map.map(from, addArgument(program, from.getType(), from.getLoc(),
                            std::move(attributes)));
}

/// A part of a larger tensor is kept without what lies between its elements.
static Type denseType(Value value) {
  std::optional<TensorMeta> meta = metaOf(value);
  if (!meta || (meta->offset.is(0) && isDense(meta->sizes, meta->strides)))
    return value.getType();
  TensorMeta dense = *meta;
  dense.strides = contiguousStrides(meta->sizes);
  dense.offset = 0;
  return typeFromMeta(value.getContext(), dense);
}

static Value densely(OpBuilder &b, Value value) {
  Type type = denseType(value);
  if (type == value.getType())
    return value;
  AtenCall copy;
  copy.schema = SchemaTable::get().find("contiguous.default");
  copy.operands = {value};
  copy.args = {Arg::tensor(0)};
  while (copy.args.size() < copy.schema->args.size())
    copy.args.push_back(copy.schema->args[copy.args.size()].defaultValue);
  return copy.build(b, value.getLoc(), type)->getResult(0);
}

/// Ends a program with its results.
void Splitter::finish(func::FuncOp program, ArrayRef<Value> results,
                      ArrayRef<DictionaryAttr> attributes) {
  OpBuilder b = OpBuilder::atBlockEnd(&program.front());
  func::ReturnOp::create(b, joint.terminator()->getLoc(), results);
  program.setFunctionType(b.getFunctionType(program.front().getArgumentTypes(),
                                            ValueRange(results).getTypes()));
  program.setAllArgAttrs(argumentAttributes);
  program.setAllResultAttrs(attributes);
}

void Splitter::buildForward() {
  func::FuncOp program = addProgram("forward");
  OpBuilder b = OpBuilder::atBlockEnd(&program.front());
  IRMapping map;
  for (BlockArgument argument : joint.body().getArguments())
    if (joint.kindOf(argument) != "tangent")
      addArgument(program, argument, map);
  for (Operation &op : joint.body().without_terminator())
    if (forward.contains(&op))
      b.clone(op, map);
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  for (OpOperand &operand : joint.terminator()->getOpOperands()) {
    unsigned r = operand.getOperandNumber();
    if (joint.isOfBackward(r))
      continue;
    results.push_back(map.lookup(operand.get()));
    attributes.push_back(DictionaryAttr::get(
        b.getContext(), joint.function().getResultAttrs(r)));
  }
  auto addSaved = [&](size_t i, Value result, StringRef reason,
                      const Twine &name) {
    results.push_back(result);
    NamedAttrList list;
    list.set(names::kRole, b.getStringAttr("saved"));
    list.set(names::kReason, b.getStringAttr(reason));
    list.set(names::kName, b.getStringAttr("saved_" + std::to_string(i)));
    list.set(names::kValueName, b.getStringAttr(name));
    attributes.push_back(list.getDictionary(b.getContext()));
  };
  for (auto [i, value] : llvm::enumerate(saved))
    addSaved(i, densely(b, map.lookup(value)), kept.lookup(value),
             joint.nameOf(value));
  for (auto [i, size] : llvm::enumerate(sizes))
    addSaved(saved.size() + i, size.build(b, map.lookup(size.like)),
             "backward needs its size", "size " + size.symbol.str());
  finish(program, results, attributes);
}

void Splitter::buildBackward() {
  func::FuncOp program = addProgram("backward");
  OpBuilder b = OpBuilder::atBlockEnd(&program.front());
  IRMapping map;
  for (BlockArgument argument : joint.body().getArguments())
    if (joint.kindOf(argument) != "tangent" && takes(argument))
      addArgument(program, argument, map);
  auto addSaved = [&](size_t i, Type type, Location location) {
    std::string name = "saved_" + std::to_string(i);
    NamedAttrList list;
    list.set(names::kKind, b.getStringAttr("saved"));
    list.set(names::kName, b.getStringAttr(name));
    list.set(names::kTarget, b.getStringAttr(name));
    return addArgument(program, type, location, std::move(list));
  };
  for (auto [i, value] : llvm::enumerate(saved))
    map.map(value, addSaved(i, denseType(value), value.getLoc()));
  for (auto [i, size] : llvm::enumerate(sizes))
    addSaved(saved.size() + i, size.type(), size.like.getLoc());
  for (BlockArgument argument : joint.body().getArguments())
    if (joint.kindOf(argument) == "tangent")
      addArgument(program, argument, map);
  for (Operation *op : backward) {
    Operation *copy =
        joint.isLate(op) ? b.clone(*op, map) : cloneAgain(b, op, map);
    if (forward.contains(op))
      copy->setAttr(names::kAgain, b.getUnitAttr());
  }
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  for (OpOperand &operand : joint.terminator()->getOpOperands()) {
    unsigned r = operand.getOperandNumber();
    if (!joint.isOfBackward(r))
      continue;
    results.push_back(map.lookup(operand.get()));
    attributes.push_back(DictionaryAttr::get(
        b.getContext(), joint.function().getResultAttrs(r)));
  }
  finish(program, results, attributes);
}

LogicalResult Splitter::run() {
  collectBackward();
  if (failed(collectSizes()))
    return failure();
  collectForward();
  buildForward();
  buildBackward();
  joint.function().erase();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<SymbolOp, FactOp>(op))
      op.erase();
  return success();
}

LogicalResult splitJoint(ModuleOp module, const PartitionOptions &options) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function || function.isExternal())
    return emitError(module.getLoc())
           << "[FT0107] the module has no function @forward";
  JointGraph joint(function);
  FailureOr<KeptValues> kept = chooseKept(joint, module, options);
  if (failed(kept))
    return failure();
  return Splitter(module, joint, *kept).run();
}

LogicalResult verifyPartitionStage(ModuleOp module) {
  func::FuncOp forward, backward;
  for (ModuleOp program : programsOf(module)) {
    auto function = program.lookupSymbol<func::FuncOp>("forward");
    if (!function)
      return emitError(program.getLoc())
             << "[FT0901] a program has no function @forward";
    if (programName(program) == "update")
      continue;
    (program.getSymName().value_or("forward") == "backward" ? backward
                                                            : forward) =
        function;
  }
  if (!forward || !backward)
    return emitError(module.getLoc())
           << "[FT0901] the modules @forward and @backward are not there";
  llvm::StringMap<Type> kept;
  Operation *ret = forward.front().getTerminator();
  for (unsigned n = 0; n < forward.getNumArguments(); ++n) {
    auto kind = forward.getArgAttrOfType<StringAttr>(n, names::kKind);
    if (kind && kind.getValue() == "tangent")
      return emitError(forward.getLoc())
             << "[FT0901] a tangent reaches the forward program";
  }
  for (unsigned r = 0; r < forward.getNumResults(); ++r) {
    auto role = forward.getResultAttrOfType<StringAttr>(r, names::kRole);
    auto name = forward.getResultAttrOfType<StringAttr>(r, names::kName);
    if (role && name && role.getValue() == "saved")
      kept[name.getValue()] = ret->getOperand(r).getType();
  }
  for (BlockArgument argument : backward.getArguments()) {
    unsigned n = argument.getArgNumber();
    auto kind = backward.getArgAttrOfType<StringAttr>(n, names::kKind);
    auto name = backward.getArgAttrOfType<StringAttr>(n, names::kName);
    if (!kind || kind.getValue() != "saved")
      continue;
    if (!name || kept.lookup(name.getValue()) != argument.getType())
      return emitError(backward.getLoc())
             << "[FT0901] backward takes '"
             << (name ? name.getValue() : StringRef("a value"))
             << "', which forward does not save";
  }
  return success();
}

} // namespace ft
