//===- Call.cpp - One traced call ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a caller wrote to an operation of the module:
//
// 1. The mode: that of the open scope, else that of the arguments. Arguments
//    that failed make the call fail silently; tensors with data, and fakes of
//    another mode, are converted where the mode allows it, refused elsewhere.
// 2. Arguments become what the schema asks for, tensors are numbered.
// 3. The overload's fake rule gives metadata and aliasing of the results.
// 4. The operation is built with annotated types, named and placed.
// 5. Results become tensors of the trace: views share their operand's storage,
//    in-place forms give their argument back, what was written forgets its
//    constants.
//
// Cost: the fake rule, and about 2 µs for the operation.

#include "compiler/fake/FakeCall.h"
#include "compiler/trace/CallSite.h"
#include "dialects/ft/AtenCall.h"

using namespace llvm;

namespace ft::detail {

namespace {
class TracedCall {
public:
  TracedCall(const Schema &schema, ArrayRef<OpArg> given, const Here &here)
      : schema(schema), given(given), site(schema.name, here),
        trace(site.trace) {}

  /// False after an error, or where an argument failed before.
  bool run();
  Tensor failedResult() const { return site.failedResult(); }
  Tensor tensorResult(size_t i);
  CallResults allResults();

private:
  bool noteArguments();
  bool convert();
  bool convertOne(unsigned index, Arg &arg);
  bool operand(unsigned index, const Tensor &t, Arg &arg);
  bool number(const SymInt &v, Arg &arg);
  bool scalar(const Scalar &v, Arg &arg);
  bool checkLeaves();
  void refuseCall(const FakeCall &call);
  std::string signature() const;
  void build();
  void noteWrites();

  const Schema &schema;
  ArrayRef<OpArg> given;
  CallSite site;
  std::shared_ptr<TraceState> &trace;
  AtenCall call;
  SmallVector<TensorMeta, 4> metas;
  SmallVector<uint32_t, 4> ids; // tensors of the operands; kFailed for numbers
  std::optional<FakeCall> fake;
  mlir::Operation *op = nullptr;
  SmallVector<uint32_t, 2> resultIds;
};
} // namespace

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// "add.Tensor(self: float32 [3] cpu, other: float32 [4] cpu)"
std::string TracedCall::signature() const {
  std::string text = schema.name.str() + "(";
  bool first = true;
  auto add = [&](const Twine &part) {
    text += (first ? "" : ", ") + part.str();
    first = false;
  };
  for (auto [i, arg] : enumerate(call.args)) {
    StringRef name = schema.args[i].name;
    if (arg.kind == Arg::Tensor) {
      add(name + ": " + metas[arg.operand].str());
    } else if (schema.isTensorArg(i) && arg.kind == Arg::List) {
      for (auto [j, item] : enumerate(arg.list))
        if (item.kind == Arg::Tensor)
          add(name + "[" + Twine(j) + "]: " + metas[item.operand].str());
    } else if (arg.kind == Arg::Int && !schema.args[i].hasDefault) {
      add(name + ": " + arg.dim.str());
    }
  }
  return text + ")";
}

static DiagId idOf(FakeError category) {
  switch (category) {
  case FakeError::Shape:
    return DiagId::FakeShape;
  case FakeError::Dtype:
    return DiagId::FakeDtype;
  case FakeError::Device:
    return DiagId::FakeDevice;
  case FakeError::Dim:
  case FakeError::Index:
    return DiagId::FakeIndex;
  case FakeError::DataDependent:
    return DiagId::FakeDataDependent;
  case FakeError::Unsupported:
    return DiagId::FakeUnsupported;
  case FakeError::Undecided:
    return DiagId::SymbolicUndecided;
  case FakeError::Other:
    break;
  }
  return DiagId::FakeOther;
}

void TracedCall::refuseCall(const FakeCall &call) {
  StringRef help;
  if (call.category == FakeError::DataDependent)
    help = "a mode without symbols has static sizes only: set "
           "FakeModeOptions::symbols, or keep the number inside of the graph";
  site.refuse(idOf(call.category), signature() + ": " + call.message, help);
}

//===----------------------------------------------------------------------===//
// The mode
//===----------------------------------------------------------------------===//

bool TracedCall::noteArguments() {
  auto tensors = [&](const OpArg &arg) {
    for (const Tensor &t :
         ArrayRef(static_cast<const Tensor *>(arg.pointer), arg.size))
      if (!site.note(t))
        return false;
    return true;
  };
  for (const OpArg &arg : given) {
    bool ok = true;
    switch (arg.kind) {
    case OpArg::OneTensor:
      ok = site.note(*static_cast<const Tensor *>(arg.pointer));
      break;
    case OpArg::ManyTensors:
      ok = tensors(arg);
      break;
    case OpArg::Int:
      ok = site.note(*static_cast<const SymInt *>(arg.pointer));
      break;
    case OpArg::Number:
      ok = site.note(
          TraceState::symbolOf(*static_cast<const Scalar *>(arg.pointer)));
      break;
    case OpArg::Ints: {
      const auto &list = *static_cast<const IntList *>(arg.pointer);
      for (size_t i = 0; ok && !list.plainData() && i < list.size(); ++i)
        ok = site.note(list[i]);
      break;
    }
    default:
      break;
    }
    if (!ok)
      return false;
  }
  return site.settle();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

bool TracedCall::operand(unsigned index, const Tensor &t, Arg &arg) {
  if (!t.defined())
    return true;
  std::optional<uint32_t> id = site.resolve(schema.args[index].name, t);
  if (!id)
    return false;
  const TraceTensor &known = trace->tensors[*id];
  arg = Arg::tensor(static_cast<int>(call.operands.size()));
  call.operands.push_back(known.value);
  metas.push_back(known.meta);
  ids.push_back(*id);
  return true;
}

bool TracedCall::number(const SymInt &v, Arg &arg) {
  const std::shared_ptr<SymNode> &node = TraceState::nodeOf(v);
  if (!node) {
    arg = Arg::integer(v.value());
    return true;
  }
  arg = Arg::integer(node->dim);
  arg.operand = static_cast<int>(call.operands.size());
  call.operands.push_back(node->value);
  metas.emplace_back();
  ids.push_back(TraceState::kFailed);
  return true;
}

bool TracedCall::scalar(const Scalar &v, Arg &arg) {
  const SymInt &symbol = TraceState::symbolOf(v);
  if (!v.isStatic()) {
    number(symbol, arg);
    if (v.kind() == Scalar::Float)
      arg.kind = Arg::Float;
    else if (v.kind() == Scalar::Bool)
      arg.kind = Arg::Bool;
    return true;
  }
  switch (v.kind()) {
  case Scalar::Int:
    arg = Arg::integer(symbol.value());
    break;
  case Scalar::Float:
    arg = Arg::floating(v.real());
    break;
  case Scalar::Bool:
    arg = Arg::truth(symbol.value() != 0);
    break;
  case Scalar::Complex:
    arg = Arg::complex(v.real(), v.imag());
    break;
  }
  return true;
}

bool TracedCall::convertOne(unsigned index, Arg &arg) {
  const OpArg &from = given[index];
  auto listOf = [&](auto *items, auto make) {
    std::vector<Arg> list;
    list.reserve(from.size);
    for (size_t i = 0; i < from.size; ++i)
      list.push_back(make(items[i]));
    arg = Arg::listOf(std::move(list));
    return true;
  };
  switch (from.kind) {
  case OpArg::None:
    return true;
  case OpArg::Default:
    arg = schema.args[index].defaultValue;
    return true;
  case OpArg::OneTensor:
    return operand(index, *static_cast<const Tensor *>(from.pointer), arg);
  case OpArg::ManyTensors: {
    bool ok = true;
    listOf(static_cast<const Tensor *>(from.pointer), [&](const Tensor &t) {
      Arg item;
      ok = ok && operand(index, t, item);
      return item;
    });
    return ok;
  }
  case OpArg::Int:
    return number(*static_cast<const SymInt *>(from.pointer), arg);
  case OpArg::Float:
    arg = Arg::floating(from.real);
    return true;
  case OpArg::Bool:
    arg = Arg::truth(from.flag);
    return true;
  case OpArg::Number:
    return scalar(*static_cast<const Scalar *>(from.pointer), arg);
  case OpArg::Str:
    arg = Arg::string(
        StringRef(static_cast<const char *>(from.pointer), from.size));
    return true;
  case OpArg::DType:
    if (!isKnown(from.type)) {
      site.refuse(DiagId::FakeDtype, site.callee + " is called with " +
                                         scalarTypeName(from.type) +
                                         ", which is no dtype");
      return false;
    }
    arg = Arg::ofDType(internal(from.type));
    return true;
  case OpArg::Device:
    if (!isKnown(from.device)) {
      site.refuse(DiagId::FakeDevice, site.callee + " is called with " +
                                          from.device.str() +
                                          ", which is no device");
      return false;
    }
    arg = Arg::ofDevice(internal(from.device));
    return true;
  case OpArg::Ints: {
    const auto &ints = *static_cast<const IntList *>(from.pointer);
    size_t copies = 1;
    if (ints.isOne())
      copies =
          static_cast<size_t>(std::max(1, schema.args[index].type.fixedLength));
    std::vector<Arg> list;
    list.reserve(ints.size() * copies);
    for (size_t i = 0; i < ints.size(); ++i)
      for (size_t n = 0; n < copies; ++n)
        number(ints[i], list.emplace_back());
    arg = Arg::listOf(std::move(list));
    return true;
  }
  case OpArg::Floats:
    return listOf(static_cast<const double *>(from.pointer),
                  [](double v) { return Arg::floating(v); });
  case OpArg::Bools:
    return listOf(static_cast<const bool *>(from.pointer),
                  [](bool v) { return Arg::truth(v); });
  case OpArg::Numbers:
    return listOf(static_cast<const Scalar *>(from.pointer),
                  [&](const Scalar &v) {
                    Arg item;
                    scalar(v, item);
                    return item;
                  });
  }
  return true;
}

bool TracedCall::convert() {
  call.schema = &schema;
  call.args.resize(schema.args.size());
  for (unsigned i = 0; i < schema.args.size(); ++i)
    if (!convertOne(i, call.args[i]))
      return false;
  return true;
}

/// A leaf that requires a gradient must stay what the gradient is taken for.
bool TracedCall::checkLeaves() {
  if (!schema.mutates || !gradEnabled())
    return true;
  for (auto [i, arg] : enumerate(call.args)) {
    if (!schema.args[i].type.write || arg.kind != Arg::Tensor)
      continue;
    const TraceTensor &tensor = trace->tensors[ids[arg.operand]];
    if (tensor.leaf && tensor.requiresGrad) {
      site.refuse(
          DiagId::FakeOther,
          signature() + ": argument '" + schema.args[i].name +
              "' is a leaf that requires a gradient, it cannot be written",
          "write it inside of an ft::NoGrad scope");
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// What is written has no known value any more, and neither has anything that
/// shares its storage.
void TracedCall::noteWrites() {
  auto write = [&](const Arg &arg) {
    if (arg.kind == Arg::Tensor)
      ++trace->storages[trace->tensors[ids[arg.operand]].storage].version;
  };
  for (auto [i, arg] : enumerate(call.args)) {
    if (!schema.args[i].type.write)
      continue;
    write(arg);
    for (const Arg &item : arg.list)
      write(item);
  }
}

void TracedCall::build() {
  mlir::MLIRContext *context = trace->context.get();
  mlir::OpBuilder &builder = trace->builder;
  SmallVector<mlir::Type, 2> types;
  for (const FakeResult &result : fake->results) {
    switch (result.kind) {
    case FakeResult::Tensor:
      types.push_back(typeFromMeta(context, result.meta));
      break;
    case FakeResult::Undefined:
      types.push_back(builder.getNoneType());
      break;
    case FakeResult::Int:
      types.push_back(builder.getI64Type());
      break;
    case FakeResult::Float:
      types.push_back(builder.getF64Type());
      break;
    case FakeResult::Bool:
      types.push_back(builder.getI1Type());
      break;
    }
  }
  // "scale" for "demo::scale", as in exported programs.
  std::string name = trace->uniqueName(schema.base.rsplit("::").second.empty()
                                           ? schema.base
                                           : schema.base.rsplit("::").second);
  op = call.build(builder, trace->location(site.here, name), types);
  ++trace->operations;
  if (types.size() == 1) {
    op->setAttr(names::kName, builder.getStringAttr(name));
  } else {
    SmallVector<mlir::Attribute, 2> all;
    for (size_t i = 0; i < types.size(); ++i)
      all.push_back(builder.getStringAttr(
          trace->uniqueName((name + "_" + Twine(i)).str())));
    op->setAttr(names::kName, builder.getArrayAttr(all));
  }
  if (fake->results.size() == 1 && fake->results[0].kind == FakeResult::Int &&
      fake->results[0].value)
    op->setAttr(names::kValue,
                builder.getStringAttr(fake->results[0].value->str()));
  if (!gradEnabled())
    op->setAttr(names::kNoGrad, builder.getUnitAttr());

  if (schema.mutates)
    noteWrites();
  bool needsGrad = false;
  if (gradEnabled())
    for (uint32_t id : ids)
      needsGrad |= id != TraceState::kFailed && trace->tensors[id].requiresGrad;
  for (auto [r, result] : enumerate(fake->results)) {
    uint32_t &id = resultIds.emplace_back(TraceState::kFailed);
    if (result.kind != FakeResult::Tensor)
      continue;
    bool differentiable = needsGrad && (isFloating(result.meta.dtype) ||
                                        isComplex(result.meta.dtype));
    mlir::Value value = op->getResult(static_cast<unsigned>(r));
    if (result.alias >= 0 && schema.returnsWritten(static_cast<unsigned>(r))) {
      // The argument itself, in its new state.
      id = ids[result.alias];
      TraceTensor &self = trace->tensors[id];
      self.value = value;
      self.meta = result.meta;
      self.requiresGrad |= differentiable;
      self.leaf &= !differentiable;
      continue;
    }
    uint32_t storage = result.alias >= 0
                           ? trace->tensors[ids[result.alias]].storage
                           : trace->addStorage();
    id = trace->addTensor(value, result.meta, storage);
    TraceTensor &tensor = trace->tensors[id];
    tensor.requiresGrad = differentiable && schema.base != "detach";
    tensor.leaf = !tensor.requiresGrad;
    if (result.constant)
      trace->scope->setConstant(trace->dataKey(id), result.constant);
  }
}

bool TracedCall::run() {
  if (!noteArguments() || !convert())
    return false;
  fake.emplace(schema, call.args, metas, trace->scope.get());
  SmallVector<uint64_t, 4> keys;
  for (uint32_t id : ids)
    keys.push_back(id == TraceState::kFailed ? 0 : trace->dataKey(id));
  fake->operandKeys = keys;
  fake->spreads = true;
  if (failed(propagateCall(*fake))) {
    refuseCall(*fake);
    return false;
  }
  if (!checkLeaves())
    return false;
  build();
  return true;
}

Tensor TracedCall::tensorResult(size_t i) {
  if (i >= resultIds.size())
    return failedResult();
  // An undefined result is an undefined tensor.
  return resultIds[i] == TraceState::kFailed ? Tensor()
                                             : trace->handle(resultIds[i]);
}

CallResults TracedCall::allResults() {
  CallResults results;
  results.failed = failedResult();
  for (size_t i = 0; i < resultIds.size(); ++i) {
    const FakeResult &result = fake->results[i];
    results.tensorResults.push_back(tensorResult(i));
    Scalar &number = results.numbers.emplace_back();
    mlir::Value value = op->getResult(static_cast<unsigned>(i));
    switch (result.kind) {
    case FakeResult::Tensor:
    case FakeResult::Undefined:
      break;
    case FakeResult::Int:
      if (result.value)
        number = trace->symInt(value, *result.value);
      break;
    case FakeResult::Bool:
      if (result.value && result.value->isStatic())
        number = Scalar(!result.value->is(0));
      else
        number = TraceState::scalar(
            Scalar::Bool,
            std::make_shared<SymNode>(SymNode{trace, value, Dim()}));
      break;
    case FakeResult::Float:
      number = TraceState::scalar(
          Scalar::Float,
          std::make_shared<SymNode>(SymNode{trace, value, Dim()}));
      break;
    }
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

Tensors CallResults::tensors(size_t i) const {
  std::vector<Tensor> list;
  for (size_t k = i; k < tensorResults.size(); ++k)
    list.push_back(tensorResults[k]);
  return Tensors(std::move(list), failed);
}

std::vector<SymInt> CallResults::integers(size_t i) const {
  std::vector<SymInt> list;
  for (size_t k = i; k < numbers.size(); ++k)
    list.push_back(numbers[k].toInt());
  return list;
}

Tensor callTensor(unsigned index, const OpArg *args, size_t count,
                  const Here &here) {
  TracedCall call(SchemaTable::get().all()[index], ArrayRef(args, count), here);
  return call.run() ? call.tensorResult(0) : call.failedResult();
}

CallResults callAll(const Schema &schema, const OpArg *args, size_t count,
                    const Here &here) {
  TracedCall call(schema, ArrayRef(args, count), here);
  (void)call.run();
  return call.allResults();
}

CallResults callAll(unsigned index, const OpArg *args, size_t count,
                    const Here &here) {
  return callAll(SchemaTable::get().all()[index], args, count, here);
}

static unsigned indexOf(const char *name) {
  return SchemaTable::get().find(name)->index;
}

Tensor callNamedTensor(const char *name, const OpArg *args, size_t count,
                       const Here &here) {
  return callTensor(indexOf(name), args, count, here);
}

CallResults callNamed(const char *name, const OpArg *args, size_t count,
                      const Here &here) {
  return callAll(indexOf(name), args, count, here);
}

} // namespace ft::detail
