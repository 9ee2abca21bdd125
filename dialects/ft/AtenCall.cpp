//===- AtenCall.cpp - Calls as data, and their encoding --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/AtenCall.h"

#include "dialects/ft/ArgFit.h"
#include "dialects/ft/CustomOps.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// The `args` attribute
//===----------------------------------------------------------------------===//

template <typename ArrayType, typename Element>
static Attribute denseList(MLIRContext *context, ArrayRef<Arg> items,
                           Arg::Kind kind, Element (*get)(const Arg &)) {
  SmallVector<Element> values;
  for (const Arg &item : items) {
    if (item.kind != kind || item.operand >= 0 ||
        (kind == Arg::Int && !item.dim.isStatic()))
      return {};
    values.push_back(get(item));
  }
  return ArrayType::get(context, values);
}

static Attribute encodeArg(MLIRContext *context, const Arg &arg) {
  Builder b(context);
  if (arg.operand >= 0)
    return OperandAttr::get(context);
  switch (arg.kind) {
  case Arg::None:
  case Arg::Tensor:
    return NoneAttr::get(context);
  case Arg::Int:
    // A size of the run (in calls of kernels).
    if (!arg.dim.isStatic())
      return b.getDictionaryAttr(
          b.getNamedAttr("size", b.getStringAttr(arg.dim.str())));
    return b.getI64IntegerAttr(arg.dim.value());
  case Arg::Float:
    return b.getF64FloatAttr(arg.real);
  case Arg::Bool:
    return b.getBoolAttr(arg.boolean);
  case Arg::Complex:
    return ComplexAttr::get(context, b.getF64FloatAttr(arg.real),
                            b.getF64FloatAttr(arg.imag));
  case Arg::Str:
    return b.getStringAttr(arg.str);
  case Arg::DType:
    return TypeAttr::get(dtypeToType(context, arg.dtype));
  case Arg::Device:
    return DeviceAttr::get(context, arg.device);
  case Arg::List:
    break;
  }
  if (Attribute ints = denseList<DenseI64ArrayAttr, int64_t>(
          context, arg.list, Arg::Int,
          [](const Arg &a) { return a.dim.value(); }))
    return ints;
  if (Attribute flags = denseList<DenseBoolArrayAttr, bool>(
          context, arg.list, Arg::Bool, [](const Arg &a) { return a.boolean; }))
    return flags;
  if (Attribute reals = denseList<DenseF64ArrayAttr, double>(
          context, arg.list, Arg::Float, [](const Arg &a) { return a.real; }))
    return reals;
  SmallVector<Attribute> items;
  for (const Arg &item : arg.list)
    items.push_back(encodeArg(context, item));
  return b.getArrayAttr(items);
}

ArrayAttr encodeArgs(MLIRContext *context, ArrayRef<Arg> args) {
  SmallVector<Attribute> items;
  for (const Arg &arg : args)
    items.push_back(encodeArg(context, arg));
  return ArrayAttr::get(context, items);
}

/// `next` counts the operands that have been consumed.
static Arg decodeArg(Attribute attr, OperandRange operands, unsigned &next) {
  if (isa<OperandAttr>(attr) && next < operands.size()) {
    Type type = operands[next].getType();
    Arg arg;
    arg.kind = Arg::Tensor;
    if (type.isInteger(1))
      arg.kind = Arg::Bool;
    else if (type.isIntOrIndex())
      arg.kind = Arg::Int;
    else if (isa<FloatType>(type))
      arg.kind = Arg::Float;
    arg.operand = static_cast<int>(next++);
    return arg;
  }
  if (auto flag = dyn_cast<BoolAttr>(attr))
    return Arg::truth(flag.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return Arg::integer(integer.getInt());
  if (auto run = dyn_cast<DictionaryAttr>(attr)) {
    auto text = run.getAs<StringAttr>("size");
    auto *dialect = attr.getContext()->getLoadedDialect<FtDialect>();
    llvm::Expected<SymExpr> e =
        dialect->symbolContext().parse(text ? text.getValue() : "0");
    Arg arg = Arg::integer(0);
    if (!e)
      llvm::consumeError(e.takeError());
    else if (*e && !e->isPredicate())
      arg.dim = Dim(*e);
    return arg;
  }
  if (auto real = dyn_cast<FloatAttr>(attr))
    return Arg::floating(real.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(attr))
    return Arg::string(text.getValue());
  if (auto type = dyn_cast<TypeAttr>(attr))
    if (std::optional<DType> dtype = dtypeFromType(type.getValue()))
      return Arg::ofDType(*dtype);
  if (auto device = dyn_cast<DeviceAttr>(attr))
    return Arg::ofDevice(device.getDevice());
  if (auto complex = dyn_cast<ComplexAttr>(attr))
    return Arg::complex(complex.getReal().getValueAsDouble(),
                        complex.getImag().getValueAsDouble());
  std::vector<Arg> items;
  if (auto ints = dyn_cast<DenseI64ArrayAttr>(attr)) {
    items.reserve(ints.size());
    for (int64_t v : ints.asArrayRef())
      items.push_back(Arg::integer(v));
    return Arg::listOf(std::move(items));
  }
  if (auto flags = dyn_cast<DenseBoolArrayAttr>(attr)) {
    items.reserve(flags.size());
    for (bool v : flags.asArrayRef())
      items.push_back(Arg::truth(v));
    return Arg::listOf(std::move(items));
  }
  if (auto reals = dyn_cast<DenseF64ArrayAttr>(attr)) {
    items.reserve(reals.size());
    for (double v : reals.asArrayRef())
      items.push_back(Arg::floating(v));
    return Arg::listOf(std::move(items));
  }
  if (auto list = dyn_cast<ArrayAttr>(attr)) {
    items.reserve(list.size());
    for (Attribute item : list)
      items.push_back(decodeArg(item, operands, next));
    return Arg::listOf(std::move(items));
  }
  return Arg::none();
}

AtenCall AtenCall::decode(Operation *op) {
  AtenCall call;
  call.schema = schemaOf(op);
  call.operands.assign(op->operand_begin(), op->operand_end());
  unsigned next = 0;
  if (auto args = op->getAttrOfType<ArrayAttr>("args"))
    for (Attribute attr : args)
      call.args.push_back(decodeArg(attr, op->getOperands(), next));
  return call;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

const Arg &AtenCall::arg(StringRef name) const {
  return args[schema->argIndex(name)];
}

SmallVector<Value, 4> AtenCall::tensors(unsigned i) const {
  SmallVector<Value, 4> values;
  for (const Arg &item : args[i].list)
    values.push_back(item.kind == Arg::Tensor ? operands[item.operand]
                                              : Value());
  return values;
}

static int64_t integerOf(const Arg &arg) {
  if (arg.kind == Arg::Bool)
    return arg.boolean;
  if (arg.operand >= 0 || !arg.dim.isStatic())
    return ShapedType::kDynamic;
  return arg.dim.value();
}

int64_t AtenCall::integer(unsigned i) const { return integerOf(args[i]); }

SmallVector<int64_t, 6> AtenCall::integers(unsigned i) const {
  SmallVector<int64_t, 6> values;
  for (const Arg &item : args[i].list)
    values.push_back(integerOf(item));
  return values;
}

double AtenCall::number(unsigned i) const {
  const Arg &arg = args[i];
  if (arg.kind == Arg::Int || arg.kind == Arg::Bool)
    return static_cast<double>(integerOf(arg));
  return arg.real;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Operation *AtenCall::build(OpBuilder &builder, Location loc,
                           TypeRange results) const {
  MLIRContext *context = builder.getContext();
  bool custom = customOp(*schema);
  std::string name = custom ? "ft.custom" : "ft." + schema->mnemonic;
  bool own =
      !custom && RegisteredOperationName::lookup(name, context).has_value();
  if (!own && !custom)
    name = "ft.aten";
  OperationState state(loc, name);
  if (!own)
    state.addAttribute("callee", builder.getStringAttr(schema->name));
  state.addAttribute("args", encodeArgs(context, args));
  state.addOperands(operands);
  state.addTypes(results);
  return builder.create(state);
}

//===----------------------------------------------------------------------===//
// Verifier, effects, names
//===----------------------------------------------------------------------===//

static unsigned countOperandAttrs(Attribute attr) {
  if (isa<OperandAttr>(attr))
    return 1;
  unsigned count = 0;
  if (auto list = dyn_cast<ArrayAttr>(attr))
    for (Attribute item : list)
      count += countOperandAttrs(item);
  return count;
}

static LogicalResult verifyUnregistered(Operation *op, ArrayAttr args) {
  auto callee = op->getAttrOfType<StringAttr>("callee");
  if (!callee || !CustomOps::isName(callee.getValue()))
    return op->emitOpError("names no operator: expected namespace::name");
  auto keywords = op->getAttrOfType<ArrayAttr>(names::kKeywords);
  if (!args || (keywords && keywords.size() > args.size()) ||
      countOperandAttrs(args) != op->getNumOperands())
    return op->emitOpError("has arguments that do not belong together");
  return success();
}

LogicalResult verifyAtenCall(Operation *op) {
  const Schema *schema = schemaOf(op);
  auto args = op->getAttrOfType<ArrayAttr>("args");
  if (isUnregisteredCall(op))
    return verifyUnregistered(op, args);
  if (!schema)
    return op->emitOpError("names no overload of the table");
  if (!args || args.size() != schema->args.size())
    return op->emitOpError("needs one entry in `args` for each of the ")
           << schema->args.size() << " arguments of " << schema->name;
  if (countOperandAttrs(args) != op->getNumOperands())
    return op->emitOpError("has ")
           << op->getNumOperands() << " operands, `args` refers to "
           << countOperandAttrs(args);
  AtenCall call = AtenCall::decode(op);
  for (size_t i = 0; i < schema->args.size(); ++i)
    if (!fitsType(call.args[i], schema->args[i].type,
                  schema->family == "pointwise"))
      return op->emitOpError("argument '")
             << schema->args[i].name << "' of " << schema->name
             << " does not fit its type";
  bool hasList =
      llvm::any_of(schema->returns, [](const SchemaType &t) { return t.list; });
  if (!hasList && op->getNumResults() != schema->returns.size())
    return op->emitOpError("has ")
           << op->getNumResults() << " results, " << schema->name << " returns "
           << schema->returns.size();
  return success();
}

void atenCallEffects(
    Operation *op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  const Schema *schema = schemaOf(op);
  if (!schema && !isUnregisteredCall(op))
    return;
  const CustomOp *custom = schema ? customOp(*schema) : nullptr;
  if (!schema || schema->mutates || (custom && custom->hasEffects) ||
      schema->family == "random" || schema->family == "assert" ||
      schema->returns.empty()) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

void atenCallResultNames(Operation *op, OpAsmSetValueNameFn setNameFn) {
  Attribute name = op->getAttr(names::kName);
  if (auto one = dyn_cast_or_null<StringAttr>(name)) {
    if (op->getNumResults() == 1)
      setNameFn(op->getResult(0), one.getValue());
    return;
  }
  // All results share one SSA name in the syntax; the first one's is shown.
  if (auto many = dyn_cast_or_null<ArrayAttr>(name))
    if (op->getNumResults() > 0 && !many.empty())
      if (auto first = dyn_cast<StringAttr>(many[0]))
        setNameFn(op->getResult(0), first.getValue());
}

} // namespace ft
