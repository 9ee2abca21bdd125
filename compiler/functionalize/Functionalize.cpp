//===- Functionalize.cpp - Mutation and aliasing → pure calls --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk in program order. Each call reads the present values of its operands
// (Storages.h). A call that writes becomes its functional form, whose result is
// then written into the argument's storage:
//
//   add_, add.out              → add
//   copy_, zero_, fill_        → copy, zero, fill
//   t_, unsqueeze_ …           → the view; the argument's name moves to it
//   batch_norm while training  → _native_batch_norm_legit_functional, whose
//                                last two results are the running statistics
//   instance_norm, the same    → instance_norm without running statistics, and
//                                their update
//
// Where the functional result has another dtype or layout than the argument
// (int.add_ of a promoted operand), a `copy` gives it the argument's.

#include "compiler/functionalize/Functionalize.h"

#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/OpCall.h"
#include "compiler/fake/SpreadOperands.h"
#include "compiler/functionalize/Storages.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/WrittenArguments.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Functional forms
//===----------------------------------------------------------------------===//

/// The first `count` arguments are of the same types, and `b` needs no more.
static bool sameArguments(const Schema &a, const Schema &b, size_t count) {
  if (a.args.size() < count || b.args.size() < count)
    return false;
  for (const SchemaArg &more : llvm::ArrayRef(b.args).drop_front(count))
    if (!more.hasDefault)
      return false;
  for (size_t i = 0; i < count; ++i)
    if (a.args[i].type.kind != b.args[i].type.kind ||
        a.args[i].type.list != b.args[i].type.list)
      return false;
  return true;
}

/// Whether `form` gives what the operator returns, then the new values of what
/// it writes: _native_batch_norm_legit_functional and its like.
static bool returnsBoth(const Schema &schema, const Schema &form) {
  auto writes = llvm::count_if(schema.args,
                               [](const SchemaArg &a) { return a.type.write; });
  bool fresh =
      llvm::none_of(schema.returns, [](const auto &r) { return r.write; });
  return fresh && !schema.returns.empty() &&
         form.returns.size() ==
             schema.returns.size() + static_cast<size_t>(writes);
}

const Schema *functionalForm(const Schema &schema) {
  if (const CustomOp *op = customOp(schema))
    return op->functional ? &op->functional->schema : nullptr;
  // What set_ writes shares the storage of its source from then on.
  if (schema.base == "set_")
    return nullptr;
  if (schema.name == "copy_.float" || schema.name == "copy_.int")
    return SchemaTable::get().find("fill.Scalar");
  std::string name = schema.base.str();
  size_t outs = 0;
  if (StringRef(name).ends_with("__") && StringRef(name).starts_with("__i"))
    name = "__" + name.substr(3);
  else if (StringRef(name).ends_with("_"))
    name.pop_back();
  else
    outs = llvm::count_if(schema.args,
                          [](const SchemaArg &a) { return a.type.write; });
  size_t count = schema.args.size() - outs;
  const Schema *found = nullptr;
  for (const Schema &other : SchemaTable::get().all()) {
    if (other.base != name || other.mutates ||
        !sameArguments(schema, other, count))
      continue;
    bool exact = other.args.size() == count;
    if (exact && other.overload == schema.overload)
      return &other;
    if (!found || (exact && found->args.size() != count))
      found = &other;
  }
  if (found)
    return found;
  // normal_ → normal_functional; the results must be what is written.
  std::string other = name + "_functional." + schema.overload.str();
  const Schema *form = SchemaTable::get().find(other);
  auto writes = llvm::count_if(schema.args,
                               [](const SchemaArg &a) { return a.type.write; });
  if (form && sameArguments(schema, *form, schema.args.size()) &&
      (form->returns.size() == static_cast<size_t>(writes) ||
       returnsBoth(schema, *form)))
    return form;
  return nullptr;
}

/// In-place ops on metadata, whose result is a view of the argument.
static bool changesMetadata(const Schema &schema) {
  return llvm::is_contained({"t_", "transpose_", "squeeze_", "unsqueeze_",
                             "swapaxes_", "swapdims_", "as_strided_",
                             "detach_"},
                            schema.base);
}

/// batch_norm and instance_norm write their running statistics while training,
/// which their schemas do not say.
static bool updatesStatistics(const AtenCall &call) {
  StringRef name = call.schema->name;
  bool training =
      (name == "batch_norm.default" || name == "native_batch_norm.default" ||
       name == "instance_norm.default") &&
      call.flag(5);
  return training && call.tensor(3) && call.tensor(4);
}

static bool isMutation(Operation *op) {
  const Schema *schema = schemaOf(op);
  if (!schema)
    return false;
  return schema->mutates ||
         (schema->family == "norm" && updatesStatistics(AtenCall::decode(op)));
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

namespace {
class Functionalizer {
public:
  Functionalizer(func::FuncOp function, FakeScope &scope)
      : function(function), scope(scope), builder(function.getContext()),
        storages(builder, scope) {}
  LogicalResult run();
  /// A region of `parent`'s program. It writes only to what it made (the fake
  /// stage has seen to that), so that nothing of it is seen outside but what
  /// it yields.
  LogicalResult runRegion(Region &region);

private:
  void addArguments();
  bool visit(Operation *op);
  void readOperands(Operation *op);
  void addResults(Operation *op);
  bool writeInPlace(Operation *op, const AtenCall &call);
  /// The call with the values that its operands have now; null if refused.
  Operation *callFunctionalForm(Operation *op, AtenCall pure);
  /// Gives the written arguments of `call` the results of `made` from `next`
  /// on, which becomes the first one that is left.
  bool assignWritten(Operation *op, const AtenCall &call, Operation *made,
                     unsigned &next);
  /// For forms that return what the operator returns and what it writes.
  bool writeAndReturn(Operation *op, const AtenCall &call);
  bool writeCustom(Operation *op, const AtenCall &call);
  bool moveName(Operation *op, const AtenCall &call);
  bool resizeTensor(Operation *op, const AtenCall &call);
  bool setSource(Operation *op, const AtenCall &call);
  bool fillDiagonal(Operation *op, const AtenCall &call);
  bool updateStatistics(Operation *op, const AtenCall &call);
  bool updateInstances(Operation *op, const AtenCall &call);
  bool assign(Value target, Value value, Operation *op);
  bool unsupported(Operation *op, const Twine &why);
  LogicalResult returnMutations();
  LogicalResult checkWritten(BlockArgument argument, StringRef target);
  void eraseDead();
  LogicalResult visitBody(Block &body);

  func::FuncOp function;
  /// What the fake stage has found out about symbols.
  FakeScope &scope;
  OpBuilder builder;
  Storages storages;
  SmallVector<Operation *> dead;
  SmallVector<std::string> problems;
  Operation *firstProblem = nullptr;
};
} // namespace

bool Functionalizer::unsupported(Operation *op, const Twine &why) {
  std::string text = shownName(*schemaOf(op));
  std::string name;
  if (auto attr = op->getAttrOfType<StringAttr>(names::kName))
    name = " (" + attr.getValue().str() + ")";
  problems.push_back((text + name + ": " + why).str());
  if (!firstProblem)
    firstProblem = op;
  return false;
}

void Functionalizer::addArguments() {
  // Arguments from one record of the archive share it.
  llvm::DenseMap<Attribute, BlockArgument> records;
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<TensorType>(argument.getType()))
      continue;
    Attribute record =
        function.getArgAttr(argument.getArgNumber(), names::kWeight);
    auto known = record ? records.find(record) : records.end();
    if (known != records.end() &&
        known->second.getType() == argument.getType()) {
      storages.bind(argument, storages.nodeOf(known->second));
      continue;
    }
    storages.addBase(argument);
    if (record)
      records[record] = argument;
  }
}

void Functionalizer::readOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (StorageNode *node = storages.nodeOf(operand.get()))
      operand.set(storages.read(node, op->getLoc()));
}

/// Results of a call that writes nothing: views, or storage of their own.
void Functionalizer::addResults(Operation *op) {
  SmallVector<int> aliases(op->getNumResults(), -1);
  SmallVector<Value> operands(op->getOperands());
  if (schemaOf(op)) {
    OpCall call(op);
    if (call.fake)
      call.fake->scope = &scope;
    if (!call.unknown && succeeded(call.run()))
      for (auto [r, result] : llvm::enumerate(call.fake->results))
        if (r < aliases.size())
          aliases[r] = result.alias;
  }
  for (OpResult result : op->getResults()) {
    if (!isa<TensorType>(result.getType()))
      continue;
    unsigned r = result.getResultNumber();
    StorageNode *parent =
        aliases[r] >= 0 ? storages.nodeOf(operands[aliases[r]]) : nullptr;
    // Its offset counts from the start of the storage.
    const Schema *schema = schemaOf(op);
    if (parent && schema && schema->base == "as_strided")
      parent = parent->base;
    if (parent)
      storages.addView(result, parent, op, r);
    else
      storages.addBase(result);
  }
}

/// `target` holds `value` from here on, in its own dtype and layout.
bool Functionalizer::assign(Value target, Value value, Operation *op) {
  StorageNode *node = storages.nodeOf(target);
  if (!node)
    return unsupported(op, "its argument has no storage");
  // The annotation of the value that is written is that of its place; its
  // metadata may have changed since.
  std::optional<TensorMeta> have = metaOf(value), want = metaOf(node->current);
  if (!have || !want)
    return unsupported(op, "its argument has no storage");
  std::string reason;
  if (have->sizes != want->sizes) { // out=
    if (failed(storages.resize(node, have->sizes, op->getLoc(), reason)))
      return unsupported(op, "the tensor that is written changes its size: " +
                                 reason);
    node = storages.nodeOf(target);
    want = metaOf(node->current);
  }
  bool base = node == node->base;
  if (have->dtype != want->dtype || have->device != want->device ||
      (base && have->strides != want->strides)) {
    value = buildCall(builder, scope, op->getLoc(), "copy.default",
                      {Arg::tensor(0), Arg::tensor(1)},
                      {storages.read(node, op->getLoc()), value});
    if (!value)
      return false;
  }
  StorageWrite how;
  how.keepsHistory = op->hasAttr(names::kNoGrad);
  how.isUniform =
      schemaOf(op)->base == "zero_" || schemaOf(op)->base == "fill_";
  if (failed(storages.write(node, value, how, op->getLoc(), reason)))
    return unsupported(op, reason);
  return true;
}

/// A name for the values that replace those of `op`.
static void inheritName(Operation *from, Operation *to) {
  for (StringRef name : {names::kName, names::kDeclared})
    if (Attribute attribute = from->getAttr(name))
      to->setAttr(name, attribute);
}

bool Functionalizer::writeInPlace(Operation *op, const AtenCall &call) {
  const Schema *form = functionalForm(*call.schema);
  if (!form || !findFakeRule(*form))
    return unsupported(op, "it has no functional form");
  AtenCall pure = call;
  pure.schema = form;
  pure.args.truncate(std::min(pure.args.size(), form->args.size()));
  while (pure.args.size() < form->args.size())
    pure.args.push_back(form->args[pure.args.size()].defaultValue);
  // Operands that only the dropped `out` arguments name must go.
  unsigned used = 0;
  auto count = [&](auto &&self, const Arg &arg) -> void {
    used = std::max<unsigned>(used, arg.operand + 1);
    for (const Arg &item : arg.list)
      self(self, item);
  };
  for (const Arg &arg : pure.args)
    count(count, arg);
  pure.operands.truncate(used);
  for (Value &operand : pure.operands)
    if (StorageNode *node = storages.nodeOf(operand))
      operand = storages.read(node, op->getLoc());
  SmallVector<Value> targets;
  for (auto [i, arg] : llvm::enumerate(call.schema->args)) {
    if (!arg.type.write)
      continue;
    if (arg.type.list)
      llvm::append_range(targets, call.tensors(i));
    else
      targets.push_back(call.tensor(i));
  }
  bool list = !form->returns.empty() && form->returns[0].list;
  SmallVector<Type> types(list ? targets.size() : form->returns.size(),
                          unknownTensorType(op->getContext()));
  Operation *made = pure.build(builder, op->getLoc(), types);
  if (Attribute off = op->getAttr(names::kNoGrad))
    made->setAttr(names::kNoGrad, off);
  if (failed(propagateOp(made, nullptr, &scope)))
    return false;
  if (op->getNumResults() == made->getNumResults())
    inheritName(op, made);
  if (targets.size() > made->getNumResults() ||
      llvm::is_contained(targets, Value()))
    return unsupported(op, "it writes more than its functional form gives");
  for (auto [target, value] : llvm::zip(targets, made->getResults()))
    if (!assign(target, value, op))
      return false;
  for (auto [result, target] : llvm::zip(op->getResults(), targets))
    storages.bind(result, storages.nodeOf(target));
  return true;
}

Operation *Functionalizer::callFunctionalForm(Operation *op, AtenCall pure) {
  pure.schema = functionalForm(*pure.schema);
  for (Value &operand : pure.operands)
    if (StorageNode *node = storages.nodeOf(operand))
      operand = storages.read(node, op->getLoc());
  SmallVector<Type> types(pure.schema->returns.size(),
                          unknownTensorType(op->getContext()));
  Operation *made = pure.build(builder, op->getLoc(), types);
  return succeeded(propagateOp(made, nullptr, &scope)) ? made : nullptr;
}

bool Functionalizer::assignWritten(Operation *op, const AtenCall &call,
                                   Operation *made, unsigned &next) {
  for (auto [i, formal] : llvm::enumerate(call.schema->args)) {
    if (!formal.type.write)
      continue;
    Value value = made->getResult(next++), target = call.tensor(i);
    if (target && !assign(target, value, op))
      return false;
  }
  return true;
}

bool Functionalizer::writeAndReturn(Operation *op, const AtenCall &call) {
  Operation *made = callFunctionalForm(op, call);
  unsigned next = op->getNumResults();
  if (!made || !assignWritten(op, call, made, next))
    return false;
  for (OpResult result : op->getResults())
    storages.bind(result,
                  storages.addBase(made->getResult(result.getResultNumber())));
  return true;
}

/// A custom operator's functional form gives the new values of the written
/// arguments in order, then what else the operator returns.
bool Functionalizer::writeCustom(Operation *op, const AtenCall &call) {
  const Schema &schema = *call.schema;
  Operation *made = callFunctionalForm(op, call);
  unsigned next = 0;
  if (!made || !assignWritten(op, call, made, next))
    return false;
  for (OpResult result : op->getResults()) {
    unsigned r = result.getResultNumber();
    int arg = schema.aliasedArg(r);
    StorageNode *shared =
        arg >= 0 ? storages.nodeOf(call.tensor(arg)) : nullptr;
    if (schema.returns[r].write) {
      storages.bind(result, shared);
      continue;
    }
    Value value = made->getResult(next);
    storages.bind(result, shared ? storages.addView(value, shared, made, next)
                                 : storages.addBase(value));
    ++next;
  }
  return true;
}

bool Functionalizer::moveName(Operation *op, const AtenCall &call) {
  const Schema *form = functionalForm(*call.schema);
  StorageNode *node = storages.nodeOf(call.operands[0]);
  if (!form || !node)
    return unsupported(op, "it has no functional form");
  AtenCall view = call;
  view.schema = form;
  view.operands[0] = storages.read(node, op->getLoc());
  Operation *made = view.build(builder, op->getLoc(), op->getResultTypes());
  if (failed(propagateOp(made, nullptr, &scope)))
    return false;
  inheritName(op, made);
  StorageNode *moved = storages.addView(made->getResult(0), node, made, 0);
  storages.move(node, moved);
  storages.bind(op->getResult(0), moved);
  return true;
}

/// fill_diagonal_ is fill_ of a view.
bool Functionalizer::fillDiagonal(Operation *op, const AtenCall &call) {
  StorageNode *node = storages.nodeOf(call.operands[0]);
  std::optional<TensorMeta> meta;
  if (node)
    meta = metaOf(node->current);
  if (!meta || meta->rank() != 2 || call.flag(2) || call.args[1].operand >= 0)
    return unsupported(op, "other than the diagonal of a matrix");
  Location loc = op->getLoc();
  Value now = storages.read(node, loc);
  Value diagonal =
      buildCall(builder, scope, loc, "diagonal.default", Arg::tensor(0), now);
  if (!diagonal)
    return false;
  StorageNode *view =
      storages.addView(diagonal, node, diagonal.getDefiningOp(), 0);
  Value filled = buildCall(builder, scope, loc, "fill.Scalar",
                           {Arg::tensor(0), call.args[1]}, diagonal);
  StorageWrite how;
  how.keepsHistory = op->hasAttr(names::kNoGrad);
  std::string reason;
  if (!filled)
    return false;
  if (failed(storages.write(view, filled, how, loc, reason)))
    return unsupported(op, reason);
  storages.bind(op->getResult(0), node);
  return true;
}

/// resize_, resize_as_
bool Functionalizer::resizeTensor(Operation *op, const AtenCall &call) {
  StorageNode *node = storages.nodeOf(call.operands[0]);
  if (!node)
    return unsupported(op, "its argument has no storage");
  std::optional<TensorMeta> want = metaOf(op->getResult(0));
  const Arg &format = call.args[2];
  bool rowMajor = format.kind != Arg::Str ||
                  format.str == "contiguous_format" ||
                  format.str == "preserve_format";
  if (!want || !rowMajor)
    return unsupported(op, "a memory format besides the sizes");
  std::string reason;
  if (failed(storages.resize(node, want->sizes, op->getLoc(), reason)))
    return unsupported(op, reason);
  storages.bind(op->getResult(0), storages.nodeOf(call.operands[0]));
  return true;
}

/// set_: the tensor shares the storage of another one from here on.
bool Functionalizer::setSource(Operation *op, const AtenCall &call) {
  StorageNode *node = storages.nodeOf(call.operands[0]);
  StorageNode *source = call.operands.size() > 1 && call.tensor(1)
                            ? storages.nodeOf(call.tensor(1))
                            : nullptr;
  if (!node || !source || call.schema->overload != "source_Tensor")
    return unsupported(op, "it has no functional form");
  for (BlockArgument argument : function.getArguments())
    if (storages.nodeOf(argument) == node)
      return unsupported(op, "the caller's tensor would get another storage");
  storages.move(node, source);
  storages.bind(op->getResult(0), source);
  return true;
}

bool Functionalizer::updateStatistics(Operation *op, const AtenCall &call) {
  SmallVector<Value> targets = {call.tensor(3), call.tensor(4)};
  AtenCall pure;
  pure.schema =
      SchemaTable::get().find("_native_batch_norm_legit_functional.default");
  pure.operands = call.operands;
  for (Value &operand : pure.operands)
    if (StorageNode *node = storages.nodeOf(operand))
      operand = storages.read(node, op->getLoc());
  pure.args.assign(call.args.begin(), call.args.begin() + 5);
  pure.args.push_back(Arg::truth(true));
  pure.args.push_back(call.args[6]);
  pure.args.push_back(call.args[7]);
  SmallVector<Type> types(pure.schema->returns.size(),
                          unknownTensorType(op->getContext()));
  Operation *made = pure.build(builder, op->getLoc(), types);
  if (failed(propagateOp(made, nullptr, &scope)))
    return false;
  for (auto [i, target] : llvm::enumerate(targets))
    if (!assign(target, made->getResult(3 + i), op))
      return false;
  for (OpResult result : op->getResults())
    storages.bind(result,
                  storages.addBase(made->getResult(result.getResultNumber())));
  return true;
}

/// Each statistic becomes (1 - momentum) * statistic + momentum * the mean of
/// those of the images, variances over one element less. No gradient flows
/// through them.
bool Functionalizer::updateInstances(Operation *op, const AtenCall &call) {
  auto make = [&](StringRef name, ArrayRef<Arg> args, ValueRange operands) {
    return operands.empty() || llvm::is_contained(operands, Value())
               ? Value()
               : buildCall(builder, scope, op->getLoc(), name, args, operands);
  };
  auto now = [&](Value value) {
    StorageNode *node = storages.nodeOf(value);
    return node ? storages.read(node, op->getLoc()) : value;
  };
  Value targets[] = {call.tensor(3), call.tensor(4)};
  AtenCall pure = call;
  for (Value &operand : pure.operands)
    operand = now(operand);
  pure.operands.truncate(static_cast<size_t>(pure.args[3].operand));
  pure.args[3] = pure.args[4] = Arg::none();
  Operation *norm =
      pure.build(builder, op->getLoc(), {unknownTensorType(op->getContext())});
  if (failed(propagateOp(norm, nullptr, &scope)))
    return false;
  inheritName(op, norm);
  if (Attribute off = op->getAttr(names::kNoGrad))
    norm->setAttr(names::kNoGrad, off);

  Value input = now(call.tensor(0));
  std::optional<TensorMeta> have = metaOf(input), want = metaOf(targets[0]);
  if (!have || !want || call.args[6].kind != Arg::Float)
    return unsupported(op, "its momentum is no number");
  double momentum = call.args[6].real;
  input = make("detach.default", {Arg::tensor(0)}, {input});
  if (input && have->dtype != want->dtype)
    input = make("to.dtype",
                 {Arg::tensor(0), Arg::ofDType(want->dtype), Arg::truth(false),
                  Arg::truth(false), Arg::none()},
                 {input});
  std::vector<Arg> space;
  for (int64_t d = 2; d < have->rank(); ++d)
    space.push_back(Arg::integer(d));
  for (auto [i, target] : llvm::enumerate(targets)) {
    Value own = i == 0 ? make("mean.dim",
                              {Arg::tensor(0), Arg::listOf(space),
                               Arg::truth(false), Arg::none()},
                              {input})
                       : make("var.dim",
                              {Arg::tensor(0), Arg::listOf(space),
                               Arg::truth(true), Arg::truth(false)},
                              {input});
    own = make("mean.dim",
               {Arg::tensor(0), Arg::listOf({Arg::integer(0)}),
                Arg::truth(false), Arg::none()},
               {own});
    own = make("mul.Scalar", {Arg::tensor(0), Arg::floating(momentum)}, {own});
    Value old =
        make("mul.Scalar", {Arg::tensor(0), Arg::floating(1 - momentum)},
             {now(target)});
    Value updated =
        make("add.Tensor", {Arg::tensor(0), Arg::tensor(1), Arg::integer(1)},
             {old, own});
    if (!updated || !assign(target, updated, op))
      return false;
  }
  storages.bind(op->getResult(0), storages.addBase(norm->getResult(0)));
  return true;
}

bool Functionalizer::visit(Operation *op) {
  builder.setInsertionPoint(op);
  const Schema *schema = schemaOf(op);
  // The fake stage has decided these.
  if (schema && schema->name == "_assert_tensor_metadata.default") {
    dead.push_back(op);
    return true;
  }
  if (!isMutation(op)) {
    // The nodes are looked up by the values as written.
    SmallVector<Value> written(op->getOperands());
    SmallVector<StorageNode *> before;
    for (Value v : written)
      before.push_back(storages.nodeOf(v));
    readOperands(op);
    for (auto [operand, node] : llvm::zip(op->getOperands(), before))
      if (node && !storages.nodeOf(operand))
        storages.bind(operand, node);
    addResults(op);
    bool sound = true;
    for (Region &region :
         isControl(op) ? op->getRegions() : MutableArrayRef<Region>())
      sound &= succeeded(Functionalizer(function, scope).runRegion(region));
    return sound;
  }
  dead.push_back(op);
  AtenCall call = AtenCall::decode(op);
  if (updatesStatistics(call))
    return schema->base == "instance_norm" ? updateInstances(op, call)
                                           : updateStatistics(op, call);
  if (customOp(*schema))
    return writeCustom(op, call);
  if (changesMetadata(*schema))
    return moveName(op, call);
  if (schema->base == "resize_" || schema->base == "resize_as_")
    return resizeTensor(op, call);
  if (schema->base == "set_")
    return setSource(op, call);
  if (schema->base == "fill_diagonal_")
    return fillDiagonal(op, call);
  const Schema *form = functionalForm(*schema);
  if (form && returnsBoth(*schema, *form))
    return writeAndReturn(op, call);
  return writeInPlace(op, call);
}

//===----------------------------------------------------------------------===//
// What the arguments hold in the end
//===----------------------------------------------------------------------===//

/// Whether an argument may be written: constants of the file are shared by all
/// instances, and two layouts of one storage are two values here.
LogicalResult Functionalizer::checkWritten(BlockArgument argument,
                                           StringRef target) {
  unsigned i = argument.getArgNumber();
  auto kind = function.getArgAttrOfType<StringAttr>(i, names::kKind);
  if (kind && kind.getValue() == "constant")
    return emitError(function.getLoc())
           << "[FT0401] the constant '" << target
           << "' is written, which every run is to find as it was"
           << "\nhelp: make it a buffer of the module";
  Attribute record = function.getArgAttr(i, names::kWeight);
  if (!record)
    return success();
  for (BlockArgument other : function.getArguments())
    if (other != argument && other.getType() != argument.getType() &&
        function.getArgAttr(other.getArgNumber(), names::kWeight) == record)
      return emitError(function.getLoc())
             << "[FT0401] '" << target << "' is written, and shares its memory "
             << "in another layout with '"
             << function
                    .getArgAttrOfType<StringAttr>(other.getArgNumber(),
                                                  names::kTarget)
                    .getValue()
             << "'";
  return success();
}

LogicalResult Functionalizer::returnMutations() {
  Operation *end = function.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  readOperands(end);
  auto text = [](Attribute attribute) {
    auto string = dyn_cast_or_null<StringAttr>(attribute);
    return string ? string.getValue() : StringRef();
  };
  // The archive may list some of them itself.
  WrittenArguments listed(function);
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (BlockArgument argument : function.getArguments()) {
    StorageNode *node = storages.nodeOf(argument);
    if (!node || node->base->version == 0)
      continue;
    unsigned i = argument.getArgNumber();
    StringRef target = text(function.getArgAttr(i, names::kTarget));
    if (failed(checkWritten(argument, target)))
      return failure();
    if (listed.contains(argument))
      continue;
    StringRef kind = text(function.getArgAttr(i, names::kKind));
    // The caller's tensor keeps its layout, whatever `t_` has made of it here.
    values.push_back(storages.read(node->base, end->getLoc()));
    NamedAttrList list;
    list.set(names::kRole, builder.getStringAttr(mutationOf(kind)));
    list.set(names::kTarget, builder.getStringAttr(target));
    attributes.push_back(list.getDictionary(builder.getContext()));
  }
  SmallVector<Value> all(values);
  all.append(end->operand_begin(), end->operand_end());
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    auto old = function.getResultAttrDict(r);
    attributes.push_back(old ? old : builder.getDictionaryAttr({}));
  }
  end->setOperands(all);
  function.setType(
      FunctionType::get(builder.getContext(), function.getArgumentTypes(),
                        llvm::to_vector(ValueRange(all).getTypes())));
  function.setAllResultAttrs(attributes);
  return success();
}

LogicalResult Functionalizer::visitBody(Block &body) {
  bool sound = true;
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    sound &= visit(&op);
  if (!problems.empty()) {
    InFlightDiagnostic error = emitError(firstProblem->getLoc());
    error << "[FT0401] " << problems.size()
          << (problems.size() == 1 ? " mutation is" : " mutations are")
          << " not supported: ";
    llvm::interleave(
        problems, [&](const std::string &p) { error << p; },
        [&] { error << "; "; });
  }
  return success(sound);
}

void Functionalizer::eraseDead() {
  for (Operation *op : llvm::reverse(dead)) {
    // Names of erased values may still stand in for their nodes.
    op->dropAllUses();
    op->erase();
  }
}

LogicalResult Functionalizer::run() {
  addArguments();
  if (failed(visitBody(function.getBody().front())))
    return failure();
  if (failed(returnMutations()))
    return failure();
  eraseDead();
  return success();
}

LogicalResult Functionalizer::runRegion(Region &region) {
  Block &body = region.front();
  for (BlockArgument argument : body.getArguments())
    if (isa<TensorType>(argument.getType()))
      storages.addBase(argument);
  if (failed(visitBody(body)))
    return failure();
  builder.setInsertionPoint(body.getTerminator());
  readOperands(body.getTerminator());
  eraseDead();
  return success();
}

LogicalResult functionalize(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function || function.isExternal())
    return emitError(module.getLoc())
           << "[FT0107] the module has no function @forward";
  // Text may come without annotations.
  bool annotated = true;
  module.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      annotated &=
          !isa<TensorType>(operand.getType()) || metaOf(operand).has_value();
  });
  if (!annotated)
    return emitError(module.getLoc())
           << "[FT0107] a value has no layout\nhelp: run stage fake first";
  ModuleScope scope(module, function, ModuleScope::Use::Keep);
  return failed(Functionalizer(function, scope.scope()).run())
             ? failure()
             : spreadOperands(module);
}

//===----------------------------------------------------------------------===//
// The stage verifier and the pass
//===----------------------------------------------------------------------===//

LogicalResult verifyFunctionalizeStage(ModuleOp module) {
  bool sound = true;
  module.walk([&](Operation *op) {
    if (!isMutation(op))
      return;
    emitError(op->getLoc())
        << "[FT0402] " << shownName(*schemaOf(op)) << " still writes";
    sound = false;
  });
  return success(sound && succeeded(verifyFakeStage(module)));
}

namespace {
struct FunctionalizePass
    : PassWrapper<FunctionalizePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FunctionalizePass)

  StringRef getArgument() const final { return "ft-functionalize"; }
  StringRef getDescription() const final {
    return "turn mutation into pure calls and extra results";
  }
  void runOnOperation() final {
    if (failed(functionalize(getOperation())) ||
        failed(verifyFunctionalizeStage(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void registerFunctionalizePasses() { PassRegistration<FunctionalizePass>(); }

} // namespace ft
