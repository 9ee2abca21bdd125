//===- GraphBuilder.cpp - Writes programs of ATen calls -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/GraphBuilder.h"

#include "dialects/ft/FtOps.h"
#include "tests/conformance/OpCase.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ft;
using namespace ft::conformance;

GraphBuilder::GraphBuilder(mlir::MLIRContext &context, llvm::StringRef model)
    : context(context), builder(&context) {
  context.loadDialect<mlir::func::FuncDialect, FtDialect>();
  mlir::Location loc = builder.getUnknownLoc();
  module = mlir::ModuleOp::create(loc);
  (*module)->setAttr(names::kModel, builder.getStringAttr(model));
  (*module)->setAttr(names::kStage, builder.getStringAttr("import"));
  builder.setInsertionPointToEnd(module->getBody());
  function = mlir::func::FuncOp::create(builder, loc, "forward",
                                        builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

mlir::Value GraphBuilder::addInput(llvm::StringRef name, llvm::StringRef kind,
                                   llvm::StringRef target,
                                   const TensorMeta &meta) {
  mlir::Location loc = mlir::NameLoc::get(builder.getStringAttr(name));
  mlir::Value value =
      function.front().addArgument(typeFromMeta(&context, meta), loc);
  inputs.push_back({value, name.str(), kind.str(), target.str()});
  return value;
}

void GraphBuilder::requireGradient(mlir::Value input) {
  for (Named &named : inputs)
    if (named.value == input)
      named.requiresGradient = true;
}

/// A `Scalar` is the number that an element of the first operand is; of
/// numbers, an integer if all are.
static mlir::Type resultType(mlir::OpBuilder &builder, const SchemaType &type,
                             llvm::ArrayRef<Arg> args,
                             mlir::ValueRange operands) {
  auto isInteger = [](const Arg &arg) {
    return arg.kind == Arg::Int || arg.kind == Arg::Bool;
  };
  std::optional<TensorMeta> first;
  switch (type.kind) {
  case SchemaType::Int:
    return builder.getI64Type();
  case SchemaType::Scalar:
    if (!operands.empty())
      first = metaFromType(operands.front().getType());
    if (first && isIntegral(first->dtype))
      return builder.getIntegerType(first->dtype == DType::Bool ? 1 : 64);
    if (!first && llvm::all_of(args, isInteger))
      return builder.getI64Type();
    return builder.getF64Type();
  case SchemaType::Float:
    return builder.getF64Type();
  case SchemaType::Bool:
    return builder.getI1Type();
  default:
    return unknownTensorType(builder.getContext());
  }
}

mlir::Operation *GraphBuilder::addCall(const Schema &schema,
                                       llvm::ArrayRef<Arg> args,
                                       mlir::ValueRange operands,
                                       unsigned results, llvm::StringRef name,
                                       llvm::ArrayRef<std::string> named) {
  AtenCall call;
  call.schema = &schema;
  call.args.assign(args.begin(), args.end());
  call.operands.assign(operands.begin(), operands.end());
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Attribute> names;
  for (unsigned i = 0; i < results; ++i) {
    // A `Tensor[]` return stands for all results that are left.
    size_t position = std::min<size_t>(i, schema.returns.size() - 1);
    types.push_back(
        resultType(builder, schema.returns[position], args, operands));
    names.push_back(builder.getStringAttr(
        i < named.size() ? named[i]
        : results == 1   ? name.str()
                         : (name + "_unused_" + llvm::Twine(i)).str()));
  }
  mlir::Operation *op = call.build(
      builder, mlir::NameLoc::get(builder.getStringAttr(name)), types);
  if (results == 1 && !schema.returns.front().list &&
      schema.returns.size() == 1)
    op->setAttr(names::kName, names[0]);
  else if (results > 0)
    op->setAttr(names::kName, builder.getArrayAttr(names));
  return op;
}

void GraphBuilder::addSymbol(llvm::StringRef name, Interval range,
                             std::optional<int64_t> hint) {
  mlir::OpBuilder front(function);
  auto number = [&](int64_t v, int64_t none) {
    return v == none ? mlir::IntegerAttr() : front.getI64IntegerAttr(v);
  };
  SymbolOp::create(front, front.getUnknownLoc(), front.getStringAttr(name),
                   number(range.lo, Interval::kMin),
                   number(range.hi, Interval::kMax),
                   hint ? front.getI64IntegerAttr(*hint) : mlir::IntegerAttr(),
                   /*source=*/mlir::StringAttr(), /*title=*/mlir::StringAttr(),
                   /*traced_lower=*/mlir::IntegerAttr());
}

void GraphBuilder::addOutput(mlir::Value value, llvm::StringRef name) {
  outputs.push_back({value, name.str(), "", ""});
}

std::string GraphBuilder::finish() {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Type> argTypes, resultTypes;
  for (const Named &input : inputs)
    argTypes.push_back(input.value.getType());
  for (const Named &output : outputs) {
    values.push_back(output.value);
    resultTypes.push_back(output.value.getType());
  }
  mlir::func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  function.setFunctionType(builder.getFunctionType(argTypes, resultTypes));
  for (auto [i, input] : llvm::enumerate(inputs)) {
    function.setArgAttr(i, names::kName, builder.getStringAttr(input.name));
    function.setArgAttr(i, names::kKind, builder.getStringAttr(input.kind));
    function.setArgAttr(i, names::kTarget, builder.getStringAttr(input.target));
    if (input.requiresGradient)
      function.setArgAttr(i, names::kRequiresGrad, builder.getUnitAttr());
  }
  for (auto [i, output] : llvm::enumerate(outputs)) {
    function.setResultAttr(i, names::kName, builder.getStringAttr(output.name));
    function.setResultAttr(i, names::kRole, builder.getStringAttr("output"));
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo();
  module->print(os, flags);
  return text;
}

namespace {
/// Walks the nodes of a .meta.json file.
class GraphReader {
public:
  GraphReader(mlir::MLIRContext &context, llvm::StringRef model,
              const ModelMeta &meta)
      : context(context), builder(context, model), meta(meta) {}

  llvm::Expected<std::string> build();

private:
  llvm::Error add(const ModelNode &node);
  llvm::Error addCall(const ModelNode &node);
  llvm::Error addGetItem(const ModelNode &node);
  llvm::Error addOutputs(const ModelNode &node);
  /// The archive's names for the results of a multi-result node: those of the
  /// getitem nodes that take them apart.
  std::vector<std::string> resultNames(const ModelNode &node) const;

  mlir::MLIRContext &context;
  GraphBuilder builder;
  const ModelMeta &meta;
  llvm::StringMap<llvm::SmallVector<mlir::Value, 1>> values;
};
} // namespace

static llvm::Error failed(const ModelNode &node, const llvm::Twine &why) {
  return llvm::createStringError("node '" + node.name + "' (" + node.target +
                                 "): " + why);
}

std::vector<std::string> GraphReader::resultNames(const ModelNode &node) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < node.value.list.size(); ++i)
    names.push_back(node.name + "_unused_" + std::to_string(i));
  for (const ModelNode &other : meta.nodes) {
    if (other.target != "getitem" || other.args.size() != 2)
      continue;
    const llvm::json::Object *from = other.args[0].getAsObject();
    std::optional<int64_t> index = other.args[1].getAsInteger();
    if (from && index && from->getString("n") == node.name && *index >= 0 &&
        static_cast<size_t>(*index) < names.size())
      names[*index] = other.name;
  }
  return names;
}

llvm::Error GraphReader::addCall(const ModelNode &node) {
  llvm::StringRef name = node.target;
  // "mul" is Python's operator on sizes.
  std::string overload =
      name.consume_front("aten.") ? name.str() : ("operator." + name).str();
  const Schema *schema = SchemaTable::get().find(overload);
  if (!schema)
    return failed(node, "no such operator in the table");
  llvm::SmallVector<mlir::Value> operands;
  auto tensor = [&](const llvm::json::Object &value) -> llvm::Expected<Arg> {
    std::optional<llvm::StringRef> from = value.getString("n");
    auto found = from ? values.find(*from) : values.end();
    if (found == values.end() || found->second.size() != 1)
      return failed(node, "an argument is no value of the graph");
    mlir::Value operand = found->second.front();
    Arg arg = Arg::tensor(operands.size());
    mlir::Type type = operand.getType();
    if (type.isInteger(1))
      arg.kind = Arg::Bool;
    else if (type.isIntOrIndex())
      arg.kind = Arg::Int;
    else if (type.isIntOrFloat())
      arg.kind = Arg::Float;
    operands.push_back(operand);
    return arg;
  };
  std::vector<Arg> positional;
  for (const llvm::json::Value &value : node.args) {
    llvm::Expected<Arg> arg = readArg(value, tensor);
    if (!arg)
      return arg.takeError();
    positional.push_back(std::move(*arg));
  }
  // Operands stand in the order of the schema.
  std::vector<std::pair<std::string, Arg>> keyword;
  for (const SchemaArg &expected : schema->args)
    if (const llvm::json::Value *value = node.kwargs.get(expected.name)) {
      llvm::Expected<Arg> arg = readArg(*value, tensor);
      if (!arg)
        return arg.takeError();
      keyword.emplace_back(expected.name.str(), std::move(*arg));
    }
  llvm::Expected<std::vector<Arg>> args =
      bindArguments(*schema, std::move(positional), std::move(keyword));
  if (!args)
    return args.takeError();
  unsigned results = node.value.kind == NodeValue::None ? 0
                     : node.value.kind == NodeValue::List
                         ? node.value.list.size()
                         : 1;
  mlir::Operation *op = builder.addCall(*schema, *args, operands, results,
                                        node.name, resultNames(node));
  values[node.name].assign(op->result_begin(), op->result_end());
  return llvm::Error::success();
}

llvm::Error GraphReader::addGetItem(const ModelNode &node) {
  const llvm::json::Object *from =
      node.args.size() == 2 ? node.args[0].getAsObject() : nullptr;
  std::optional<int64_t> index =
      node.args.size() == 2 ? node.args[1].getAsInteger() : std::nullopt;
  std::optional<llvm::StringRef> name =
      from ? from->getString("n") : std::nullopt;
  if (!name || !index || *index < 0 ||
      static_cast<size_t>(*index) >= values[*name].size())
    return failed(node, "it takes apart what has no such element");
  values[node.name] = {values[*name][*index]};
  return llvm::Error::success();
}

llvm::Error GraphReader::addOutputs(const ModelNode &node) {
  const llvm::json::Array *list =
      node.args.size() == 1 ? node.args[0].getAsArray() : nullptr;
  if (!list)
    return failed(node, "the outputs are no list");
  for (const llvm::json::Value &value : *list) {
    const llvm::json::Object *object = value.getAsObject();
    std::optional<llvm::StringRef> name =
        object ? object->getString("n") : std::nullopt;
    if (!name || values[*name].size() != 1)
      continue; // a number, which has no metadata
    builder.addOutput(values[*name].front(), *name);
  }
  return llvm::Error::success();
}

llvm::Error GraphReader::add(const ModelNode &node) {
  if (node.op == "output")
    return addOutputs(node);
  if (node.op == "call_function") {
    if (node.target == "getitem")
      return addGetItem(node);
    return addCall(node);
  }
  if (node.op != "placeholder")
    return llvm::Error::success();
  llvm::StringRef kind = "input", target;
  for (const SignatureEntry &entry : meta.inputs)
    if (entry.arg == node.name) {
      kind = llvm::StringSwitch<llvm::StringRef>(entry.kind)
                 .Case("PARAMETER", "parameter")
                 .Case("BUFFER", "buffer")
                 .Case("CONSTANT_TENSOR", "constant")
                 .Default("input");
      target = entry.target;
    }
  if (node.value.kind != NodeValue::Tensor)
    return failed(node, "an input that is no tensor");
  llvm::Expected<TensorMeta> spec = node.value.spec.meta(
      &context.getLoadedDialect<FtDialect>()->symbolContext());
  if (!spec)
    return failed(node, llvm::toString(spec.takeError()));
  values[node.name] = {builder.addInput(
      node.name, kind, target.empty() ? llvm::StringRef(node.name) : target,
      *spec)};
  return llvm::Error::success();
}

llvm::Expected<std::string> GraphReader::build() {
  for (const auto &[name, range] : meta.ranges) {
    auto hint = meta.hints.find(name);
    // Those of the run are made anew.
    if (hint != meta.hints.end())
      builder.addSymbol(name, range, hint->second);
  }
  for (const ModelNode &node : meta.nodes)
    if (llvm::Error error = add(node))
      return error;
  return builder.finish();
}

llvm::Expected<std::string>
ft::conformance::buildGraph(mlir::MLIRContext &context, llvm::StringRef model,
                            const ModelMeta &meta) {
  return GraphReader(context, model, meta).build();
}
