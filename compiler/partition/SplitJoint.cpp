//===- SplitJoint.cpp - Joint graph → forward and backward -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/SplitJoint.h"

#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Programs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ft {

namespace {
class Splitter {
public:
  Splitter(ModuleOp module, func::FuncOp joint)
      : module(module), joint(joint), body(joint.front()) {}
  LogicalResult run();

private:
  StringRef kindOf(BlockArgument argument);
  StringRef roleOf(unsigned result);
  void collectForward();
  void need(Value value);
  bool isRemade(Operation *op, Value value);
  LogicalResult collectBackward();
  std::string nameOf(Value value);
  func::FuncOp addProgram(StringRef name);
  void addArgument(func::FuncOp program, BlockArgument from, IRMapping &map);
  void finish(func::FuncOp program, ArrayRef<Value> results,
              ArrayRef<DictionaryAttr> attributes);
  void buildForward();
  void buildBackward();

  ModuleOp module;
  func::FuncOp joint;
  Block &body;
  /// Arguments that forward writes.
  llvm::DenseSet<Value> written;
  llvm::DenseSet<Operation *> forward;
  /// The calls of backward, in the order of the joint graph; views of forward
  /// values among them.
  llvm::DenseSet<Operation *> backward;
  /// Forward values and written arguments that backward reads, and arguments
  /// that it takes from the caller again.
  llvm::SetVector<Value> saved, arguments;
};
} // namespace

StringRef Splitter::kindOf(BlockArgument argument) {
  auto kind =
      joint.getArgAttrOfType<StringAttr>(argument.getArgNumber(), names::kKind);
  return kind ? kind.getValue() : StringRef("input");
}

StringRef Splitter::roleOf(unsigned result) {
  auto role = joint.getResultAttrOfType<StringAttr>(result, names::kRole);
  return role ? role.getValue() : StringRef("output");
}

/// The calls that results of the forward depend on, and calls with effects.
void Splitter::collectForward() {
  llvm::DenseSet<Value> wanted;
  Operation *ret = body.getTerminator();
  llvm::StringSet<> targets;
  for (OpOperand &operand : ret->getOpOperands()) {
    unsigned r = operand.getOperandNumber();
    if (roleOf(r) == "gradient")
      continue;
    wanted.insert(operand.get());
    auto target = joint.getResultAttrOfType<StringAttr>(r, names::kTarget);
    if (target && roleOf(r).ends_with("_mutation"))
      targets.insert(target.getValue());
  }
  for (BlockArgument argument : body.getArguments()) {
    auto target = joint.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                     names::kTarget);
    if (target && targets.contains(target.getValue()))
      written.insert(argument);
  }
  // What depends on a tangent stays out of it even with effects.
  llvm::DenseSet<Value> tangents;
  for (BlockArgument argument : body.getArguments())
    if (kindOf(argument) == "tangent")
      tangents.insert(argument);
  llvm::DenseSet<Operation *> late;
  for (Operation &op : body.without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return tangents.contains(v); })) {
      late.insert(&op);
      tangents.insert(op.result_begin(), op.result_end());
    }
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool used = llvm::any_of(op.getResults(),
                             [&](Value v) { return wanted.contains(v); });
    bool effects = !isMemoryEffectFree(&op) && !late.contains(&op);
    if (!used && !effects)
      continue;
    forward.insert(&op);
    wanted.insert(op.operand_begin(), op.operand_end());
  }
}

/// Whether backward makes a forward value again instead of reading it: views
/// that show what an argument or another value holds, and numbers.
bool Splitter::isRemade(Operation *op, Value value) {
  if (isa_and_nonnull<RefineOp>(op))
    return true;
  const Schema *schema = schemaOf(op);
  if (!schema || schema->mutates)
    return false;
  if (!isa<TensorType>(value.getType()))
    return isMemoryEffectFree(op);
  unsigned r = cast<OpResult>(value).getResultNumber();
  if (schema->returns.empty() || op->getNumOperands() == 0 ||
      schema->aliasedArg(std::min<unsigned>(
          r, static_cast<unsigned>(schema->returns.size()) - 1)) < 0)
    return false;
  Value base = op->getOperand(0);
  std::optional<TensorMeta> whole = metaOf(base), part = metaOf(value);
  if (!whole || !part)
    return false;
  bool ofArgument = isa<BlockArgument>(base) && !written.contains(base);
  return ofArgument || whole->numel() == part->numel();
}

/// Backward reads `value`.
void Splitter::need(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (written.contains(argument))
      saved.insert(argument);
    else
      arguments.insert(argument);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (backward.contains(op))
    return;
  if (!forward.contains(op) || isRemade(op, value)) {
    // Views of views: few, since each one is visited once.
    backward.insert(op);
    for (Value operand : op->getOperands())
      need(operand);
    return;
  }
  saved.insert(value);
}

LogicalResult Splitter::collectBackward() {
  Operation *ret = body.getTerminator();
  for (Operation &op : body.without_terminator())
    if (!forward.contains(&op))
      backward.insert(&op);
  for (Operation &op : body.without_terminator())
    if (!forward.contains(&op))
      for (Value operand : op.getOperands())
        need(operand);
  for (OpOperand &operand : ret->getOpOperands())
    if (roleOf(operand.getOperandNumber()) == "gradient")
      need(operand.get());
  for (Value value : saved)
    if (!isa<TensorType>(value.getType()))
      return emitError(value.getLoc())
             << "[FT0902] a number that the data decide is needed by the "
                "backward pass, which takes tensors only\nhelp: keep it as a "
                "tensor of no dims";
  return success();
}

std::string Splitter::nameOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto name = joint.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   names::kName);
    return name ? name.getValue().str() : "";
  }
  Operation *op = value.getDefiningOp();
  unsigned r = cast<OpResult>(value).getResultNumber();
  Attribute name = op->getAttr(names::kName);
  if (auto one = dyn_cast_or_null<StringAttr>(name))
    return op->getNumResults() == 1
               ? one.getValue().str()
               : one.getValue().str() + "_" + std::to_string(r);
  if (auto many = dyn_cast_or_null<ArrayAttr>(name))
    if (r < many.size())
      if (auto one = dyn_cast<StringAttr>(many[r]))
        return one.getValue().str();
  return op->getName().stripDialect().str() + "_" + std::to_string(r);
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
  auto function = func::FuncOp::create(b, joint.getLoc(), "forward",
                                       b.getFunctionType({}, {}));
  function.addEntryBlock();
  return function;
}

void Splitter::addArgument(func::FuncOp program, BlockArgument from,
                           IRMapping &map) {
  Builder b(module.getContext());
  unsigned n = from.getArgNumber(), position = program.getNumArguments();
  NamedAttrList attributes(joint.getArgAttrDict(n));
  StringRef kind = kindOf(from);
  if (kind == "parameter" || kind == "buffer")
    attributes.set(names::kKind, b.getStringAttr("given_" + kind));
  (void)program.insertArgument(position, from.getType(),
                               attributes.getDictionary(b.getContext()),
                               from.getLoc());
  map.map(from, program.getArgument(position));
}

/// Ends a program with its results.
void Splitter::finish(func::FuncOp program, ArrayRef<Value> results,
                      ArrayRef<DictionaryAttr> attributes) {
  OpBuilder b = OpBuilder::atBlockEnd(&program.front());
  func::ReturnOp::create(b, body.getTerminator()->getLoc(), results);
  program.setFunctionType(b.getFunctionType(program.getArgumentTypes(),
                                            ValueRange(results).getTypes()));
  for (auto [r, dictionary] : llvm::enumerate(attributes))
    program.setResultAttrs(static_cast<unsigned>(r), dictionary);
}

void Splitter::buildForward() {
  func::FuncOp program = addProgram("forward");
  OpBuilder b = OpBuilder::atBlockEnd(&program.front());
  IRMapping map;
  for (BlockArgument argument : body.getArguments())
    if (kindOf(argument) != "tangent")
      addArgument(program, argument, map);
  for (Operation &op : body.without_terminator())
    if (forward.contains(&op))
      b.clone(op, map);
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
    unsigned r = operand.getOperandNumber();
    if (roleOf(r) == "gradient")
      continue;
    results.push_back(map.lookup(operand.get()));
    attributes.push_back(
        DictionaryAttr::get(b.getContext(), joint.getResultAttrs(r)));
  }
  for (auto [i, value] : llvm::enumerate(saved)) {
    results.push_back(map.lookup(value));
    NamedAttrList list;
    list.set(names::kRole, b.getStringAttr("saved"));
    list.set(names::kName, b.getStringAttr("saved_" + std::to_string(i)));
    list.set(names::kValueName, b.getStringAttr(nameOf(value)));
    attributes.push_back(list.getDictionary(b.getContext()));
  }
  finish(program, results, attributes);
}

void Splitter::buildBackward() {
  func::FuncOp program = addProgram("backward");
  OpBuilder b = OpBuilder::atBlockEnd(&program.front());
  IRMapping map;
  for (BlockArgument argument : body.getArguments())
    if (kindOf(argument) != "tangent" && arguments.contains(argument))
      addArgument(program, argument, map);
  for (auto [i, value] : llvm::enumerate(saved)) {
    std::string name = "saved_" + std::to_string(i);
    NamedAttrList list;
    list.set(names::kKind, b.getStringAttr("saved"));
    list.set(names::kName, b.getStringAttr(name));
    list.set(names::kTarget, b.getStringAttr(name));
    unsigned position = program.getNumArguments();
    (void)program.insertArgument(position, value.getType(),
                                 list.getDictionary(b.getContext()),
                                 value.getLoc());
    map.map(value, program.getArgument(position));
  }
  for (BlockArgument argument : body.getArguments())
    if (kindOf(argument) == "tangent")
      addArgument(program, argument, map);
  for (Operation &op : body.without_terminator())
    if (backward.contains(&op))
      b.clone(op, map);
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
    unsigned r = operand.getOperandNumber();
    if (roleOf(r) != "gradient")
      continue;
    results.push_back(map.lookup(operand.get()));
    attributes.push_back(
        DictionaryAttr::get(b.getContext(), joint.getResultAttrs(r)));
  }
  finish(program, results, attributes);
}

LogicalResult Splitter::run() {
  collectForward();
  if (failed(collectBackward()))
    return failure();
  buildForward();
  buildBackward();
  joint.erase();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<SymbolOp, FactOp>(op))
      op.erase();
  return success();
}

LogicalResult splitJoint(ModuleOp module) {
  auto joint = module.lookupSymbol<func::FuncOp>("forward");
  if (!joint || joint.isExternal())
    return emitError(module.getLoc())
           << "[FT0107] the module has no function @forward";
  return Splitter(module, joint).run();
}

LogicalResult verifyPartitionStage(ModuleOp module) {
  func::FuncOp forward, backward;
  for (ModuleOp program : programsOf(module)) {
    auto function = program.lookupSymbol<func::FuncOp>("forward");
    if (!function)
      return emitError(program.getLoc())
             << "[FT0901] a program has no function @forward";
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
