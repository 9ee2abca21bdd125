//===- GraphBuilder.cpp - Nodes of a graph → ft operations -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/GraphBuilder.h"

#include "compiler/import/pt2/Locations.h"
#include "compiler/import/pt2/SymText.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/CustomOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft::pt2 {

bool GraphBuilder::fail(DiagId id, const llvm::Twine &message,
                        const llvm::Twine &help) {
  // The first mistake counts.
  if (error)
    return false;
  error = makeError(id, place.empty() ? where : llvm::StringRef(place), message,
                    help);
  return false;
}

SymContext &GraphBuilder::symbols() {
  return context.getLoadedDialect<FtDialect>()->symbolContext();
}

std::string GraphBuilder::schemaName(llvm::StringRef target) {
  if (target.consume_front("torch.ops.aten."))
    return target.str();
  if (target.consume_front("_operator."))
    return ("operator." + target).str();
  target.consume_front("torch.ops.");
  return target.str();
}

std::string GraphBuilder::customName(llvm::StringRef target) {
  if (!target.consume_front("torch.ops."))
    return "";
  auto [space, rest] = target.split('.');
  if (space == "aten" || space == "higher_order")
    return "";
  rest.consume_back(".default");
  std::string name = (space + "::" + rest).str();
  return CustomOps::isName(name) ? name : "";
}

const Schema *GraphBuilder::findSchema(llvm::StringRef target,
                                       MLIRContext &context) {
  if (const Schema *schema = SchemaTable::get().find(schemaName(target)))
    return schema;
  std::string name = customName(target);
  const CustomOp *op =
      name.empty() ? nullptr : CustomOps::of(&context).find(name);
  return op ? &op->schema : nullptr;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool GraphBuilder::dimOf(const SymValue &value, Dim &dim) {
  if (value.expr.empty()) {
    dim = value.number;
    return true;
  }
  llvm::Expected<SymExpr> parsed = parseSymText(symbols(), value.expr);
  if (!parsed) {
    std::vector<Diagnostic> rows = takeDiagnostics(parsed.takeError());
    return fail(rows[0].id, rows[0].message);
  }
  if (parsed->isPredicate())
    return fail(DiagId::BadExpression,
                "the size '" + parsed->str() + "' is a condition");
  dim = Dim(*parsed);
  if (dim.isStatic() && dim.value() < 0)
    return fail(DiagId::BadExpression,
                "the size '" + llvm::StringRef(value.expr).take_front(80) +
                    "' is negative");
  return true;
}

bool GraphBuilder::tensorType(const TensorInfo &info, llvm::StringRef name,
                              Type &type) {
  if (info.layout != "strided")
    return fail(DiagId::NotYetSupported,
                "tensor '" + name + "' has the layout " + info.layout +
                    "; only strided tensors are read",
                "convert it with to_dense() before the export");
  std::optional<ft::Device> device = ft::Device::parse(info.device.str());
  if (!device)
    return fail(DiagId::NotYetSupported,
                "tensor '" + name + "' is on the device '" + info.device.str() +
                    "'; known are cpu, cuda and meta",
                "export the model on one of these devices");
  std::optional<DType> dtype = dtypeFromName(info.dtype->name);
  if (!dtype)
    return fail(DiagId::NotYetSupported,
                "tensor '" + name + "' has the dtype " + info.dtype->name);
  TensorMeta meta;
  meta.dtype = *dtype;
  meta.device = *device;
  meta.sizes.resize(info.sizes.size());
  meta.strides.resize(info.strides.size());
  for (size_t i = 0; i < info.sizes.size(); ++i)
    if (!dimOf(info.sizes[i], meta.sizes[i]) ||
        !dimOf(info.strides[i], meta.strides[i]))
      return false;
  if (!dimOf(info.offset, meta.offset))
    return false;
  type = typeFromMeta(&context, meta);
  return true;
}

bool GraphBuilder::tensorType(llvm::StringRef name, Type &type) {
  auto it = graph.tensors.find(name);
  if (it == graph.tensors.end())
    return fail(DiagId::BadSchema,
                "graph_module.graph.tensor_values has no '" + name + "'");
  return tensorType(it->second, name, type);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool GraphBuilder::define(llvm::StringRef name, Value value) {
  if (!values.try_emplace(name, value).second)
    return fail(DiagId::BadSchema, "the value '" + name + "' is defined twice");
  return true;
}

bool GraphBuilder::valueOf(const Argument &argument, Value &value) {
  Location loc = builder.getUnknownLoc();
  auto constant = [&](TypedAttr attr) {
    value = arith::ConstantOp::create(builder, loc, attr);
    return true;
  };
  switch (argument.kind) {
  case Argument::None:
    value = {};
    return true;
  case Argument::Int:
    return constant(builder.getI64IntegerAttr(argument.integer));
  case Argument::Float:
    return constant(builder.getF64FloatAttr(argument.real));
  case Argument::Bool:
    return constant(builder.getBoolAttr(argument.integer));
  case Argument::Tensor:
  case Argument::SymInt:
  case Argument::SymFloat:
  case Argument::SymBool: {
    auto it = values.find(argument.text);
    if (it == values.end())
      return fail(DiagId::BadSchema, "the value '" + argument.text +
                                         "' is used before it is defined");
    value = it->second;
    bool isTensor = isa<TensorType>(value.getType());
    if (isTensor != (argument.kind == Argument::Tensor))
      return fail(DiagId::BadSchema, "the value '" + argument.text +
                                         "' is used as another kind of value");
    return true;
  }
  default:
    return fail(DiagId::NotYetSupported,
                "a value that is neither a tensor nor a number is returned");
  }
}

//===----------------------------------------------------------------------===//
// Arguments of a call
//===----------------------------------------------------------------------===//

bool GraphBuilder::operand(llvm::StringRef name, Arg::Kind kind, AtenCall &call,
                           Arg &arg) {
  Argument reference;
  reference.kind = kind == Arg::Tensor ? Argument::Tensor : Argument::SymInt;
  reference.text = name.str();
  Value value;
  if (!valueOf(reference, value))
    return false;
  arg = {};
  arg.kind = kind;
  arg.operand = static_cast<int>(call.operands.size());
  call.operands.push_back(value);
  return true;
}

bool GraphBuilder::convert(const Argument &argument, const SchemaType &type,
                           bool element, AtenCall &call, Arg &arg) {
  switch (argument.kind) {
  case Argument::None:
    arg = Arg::none();
    return true;
  case Argument::Tensor:
    return operand(argument.text, Arg::Tensor, call, arg);
  case Argument::SymInt:
    return operand(argument.text, Arg::Int, call, arg);
  case Argument::SymFloat:
    return operand(argument.text, Arg::Float, call, arg);
  case Argument::SymBool:
    return operand(argument.text, Arg::Bool, call, arg);
  case Argument::Int:
    arg = type.kind == SchemaType::Float
              ? Arg::floating(static_cast<double>(argument.integer))
              : Arg::integer(argument.integer);
    break;
  case Argument::Float:
    arg = Arg::floating(argument.real);
    break;
  case Argument::Bool:
    arg = Arg::truth(argument.integer);
    break;
  case Argument::Complex:
    arg = Arg::complex(argument.real, argument.imag);
    break;
  case Argument::String:
    arg = Arg::string(argument.text);
    return true;
  case Argument::ScalarType: {
    std::optional<DType> dtype =
        dtypeFromName(findScalarType(argument.integer)->name);
    if (!dtype)
      return fail(DiagId::NotYetSupported,
                  "a dtype argument is " +
                      findScalarType(argument.integer)->name);
    arg = Arg::ofDType(*dtype);
    return true;
  }
  case Argument::Layout:
    arg = Arg::string(layoutName(argument.integer));
    return true;
  case Argument::MemoryFormat:
    arg = Arg::string(memoryFormatName(argument.integer));
    return true;
  case Argument::Device: {
    std::optional<ft::Device> device = ft::Device::parse(argument.device.str());
    if (!device)
      return fail(DiagId::NotYetSupported,
                  "the device '" + argument.device.str() +
                      "' is not known; known are cpu, cuda and meta");
    arg = Arg::ofDevice(*device);
    return true;
  }
  case Argument::List: {
    std::vector<Arg> items(argument.list.size());
    for (size_t i = 0; i < items.size(); ++i)
      if (!convert(argument.list[i], type, /*element=*/true, call, items[i]))
        return false;
    arg = Arg::listOf(std::move(items));
    return true;
  }
  case Argument::CustomObject:
  case Argument::Graph:
  case Argument::Operator:
  case Argument::Dict:
    return fail(DiagId::NotYetSupported,
                "an argument is neither a tensor nor a plain value");
  }
  // One number for a list of a fixed length.
  if (type.list && !element && type.fixedLength > 0)
    arg = Arg::listOf(std::vector<Arg>(type.fixedLength, arg));
  return true;
}

bool GraphBuilder::arguments(const Node &node, AtenCall &call) {
  const Schema &schema = *call.schema;
  // Converted in the order of the schema: so are the operands numbered.
  llvm::SmallVector<const Argument *, 8> given(schema.args.size(), nullptr);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const NamedArgument &input = node.inputs[i];
    int slot =
        input.name.empty() ? static_cast<int>(i) : schema.argIndex(input.name);
    // Python's own functions have no schema to agree with: by position.
    if (slot < 0 && schema.family == "sym")
      slot = static_cast<int>(i);
    if (slot < 0 || slot >= static_cast<int>(given.size()))
      return fail(DiagId::BadSchema, llvm::Twine("operator '") + schema.name +
                                         "' has no argument '" + input.name +
                                         "'");
    if (given[slot])
      return fail(DiagId::BadSchema, llvm::Twine("argument '") +
                                         schema.args[slot].name + "' of '" +
                                         schema.name + "' is given twice");
    given[slot] = &input.value;
  }
  call.args.resize(schema.args.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const SchemaArg &formal = schema.args[i];
    if (given[i]) {
      if (!convert(*given[i], formal.type, /*element=*/false, call,
                   call.args[i]))
        return false;
    } else if (formal.hasDefault) {
      call.args[i] = formal.defaultValue;
    } else {
      return fail(DiagId::BadSchema, llvm::Twine("argument '") + formal.name +
                                         "' of '" + schema.name +
                                         "' is missing");
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Adds one output of a node to `types`, `declared` and `names`.
bool GraphBuilder::result(const Argument &output, const Node &node) {
  auto plain = [&](Type type) {
    types.push_back(type);
    declared.push_back(TypeAttr::get(type));
    names.push_back(output.text);
    return true;
  };
  switch (output.kind) {
  case Argument::Tensor: {
    Type type;
    if (!tensorType(output.text, type))
      return false;
    types.push_back(unknownTensorType(&context));
    declared.push_back(TypeAttr::get(type));
    names.push_back(output.text);
    return true;
  }
  case Argument::None: // an undefined tensor
    types.push_back(unknownTensorType(&context));
    declared.push_back(TypeAttr::get(builder.getNoneType()));
    names.push_back("");
    return true;
  case Argument::SymInt: {
    auto it = graph.symInts.find(output.text);
    Dim dim;
    // What a condition selects is no expression; its rule says what is known.
    if (it != graph.symInts.end() &&
        !llvm::StringRef(it->second.expr).contains("Piecewise(")) {
      if (!dimOf(it->second, dim))
        return false;
      number = dim.str();
    }
    return plain(builder.getI64Type());
  }
  case Argument::SymFloat:
    return plain(builder.getF64Type());
  case Argument::SymBool:
    return plain(builder.getI1Type());
  case Argument::Int: // a number that the export fixed
    return plain(builder.getI64Type());
  case Argument::Float:
    return plain(builder.getF64Type());
  case Argument::Bool:
    return plain(builder.getI1Type());
  case Argument::List:
    return llvm::all_of(
        output.list, [&](const Argument &item) { return result(item, node); });
  default:
    return fail(DiagId::NotYetSupported,
                "node '" + node.name +
                    "' returns what is neither a tensor nor a number");
  }
}

bool GraphBuilder::build(const Node &node) {
  place = nodePlace(node, where);
  if (Inlined region = inlinedBy(node))
    return buildInlined(node, region);
  if (ControlNode control = ControlNode::of(node))
    return buildControl(node, control);
  AtenCall call;
  call.schema = findSchema(node.target, context);
  if (!call.schema)
    return fail(DiagId::UnknownOp,
                "operator '" + node.target + "' is not known");
  beginResults();
  if (!arguments(node, call))
    return false;
  for (const Argument &output : node.outputs)
    if (!result(output, node))
      return false;

  bool ok = finishResults(
      node, call.build(builder, nodeLocation(context, node), TypeRange(types)));
  place.clear();
  return ok;
}

void GraphBuilder::beginResults() {
  types.clear();
  declared.clear();
  names.clear();
  number.clear();
}

bool GraphBuilder::finishResults(const Node &node, Operation *op) {
  auto shown = [&](llvm::StringRef name) -> Attribute {
    return builder.getStringAttr(name.empty() ? name : prefix + name);
  };
  if (names.size() == 1) {
    op->setAttr(ft::names::kName, shown(names[0]));
    op->setAttr(ft::names::kDeclared, declared[0]);
  } else if (names.empty()) {
    op->setAttr(ft::names::kName, shown(node.name));
  } else {
    llvm::SmallVector<Attribute> all;
    for (const std::string &name : names)
      all.push_back(shown(name));
    op->setAttr(ft::names::kName, builder.getArrayAttr(all));
    op->setAttr(ft::names::kDeclared, builder.getArrayAttr(declared));
  }
  if (noGrad)
    op->setAttr(ft::names::kNoGrad, builder.getUnitAttr());
  if (!number.empty())
    op->setAttr(ft::names::kValue, builder.getStringAttr(number));
  for (auto [name, value] : llvm::zip_equal(names, op->getResults()))
    if (!name.empty() && !define(name, value))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Regions that are only run
//===----------------------------------------------------------------------===//

GraphBuilder::Inlined GraphBuilder::inlinedBy(const Node &node) {
  llvm::StringRef op = node.target;
  if (!op.consume_front("torch.ops.higher_order."))
    return {};
  const auto &inputs = node.inputs;
  auto is = [&](size_t i, Argument::Kind kind) {
    return i < inputs.size() && inputs[i].value.kind == kind;
  };
  Inlined region;
  auto take = [&](size_t graph, size_t operands) {
    if (!is(graph, Argument::Graph) || operands > inputs.size())
      return;
    region.graph = inputs[graph].value.graph.get();
    region.name = inputs[graph].value.text;
    region.firstOperand = operands;
  };
  if (op == "wrap_with_set_grad_enabled" && is(0, Argument::Bool)) {
    take(1, 2); // (enabled, graph, operands…)
    region.noGrad = !inputs[0].value.integer;
  } else if (op == "wrap_with_autocast" && is(2, Argument::Bool) &&
             !inputs[2].value.integer) {
    take(4, 5); // (device, dtype, enabled, cache, graph, operands…)
  } else if (op == "invoke_subgraph") {
    take(0, 2); // (graph, identifier, operands…)
  }
  return region;
}

bool GraphBuilder::buildInlined(const Node &node, const Inlined &region) {
  const Graph &inner = *region.graph;
  GraphBuilder child(builder, inner, where);
  child.prefix = prefix + region.name.str() + ".";
  child.noGrad = noGrad || region.noGrad;
  size_t operands = node.inputs.size() - region.firstOperand;
  if (operands != inner.inputs.size() ||
      node.outputs.size() != inner.outputs.size())
    return fail(DiagId::BadSchema,
                "the graph '" + region.name +
                    "' has another number of inputs or outputs than its call");
  bool ok = true;
  for (size_t i = 0; ok && i < operands; ++i) {
    Value value;
    if (!valueOf(node.inputs[region.firstOperand + i].value, value))
      return false;
    if (value)
      ok = child.define(inner.inputs[i].text, value);
  }
  for (const Node &innerNode : inner.nodes)
    ok = ok && child.build(innerNode);
  for (size_t i = 0; ok && i < inner.outputs.size(); ++i) {
    Value value;
    ok = child.valueOf(inner.outputs[i], value);
    if (ok && value && !define(node.outputs[i].text, value))
      return false;
  }
  if (llvm::Error inside = child.takeError()) {
    llvm::consumeError(std::move(error));
    error = std::move(inside);
  }
  place.clear();
  return ok;
}

} // namespace ft::pt2
