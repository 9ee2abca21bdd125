//===- Pt2Import.cpp - Exported program → ft module ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/Pt2Import.h"

#include "compiler/fake/ConstantAttr.h"
#include "compiler/import/Unregistered.h"
#include "compiler/import/pt2/Archive.h"
#include "compiler/import/pt2/GraphBuilder.h"
#include "compiler/import/pt2/Locations.h"
#include "compiler/import/pt2/ModuleSymbols.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ft::pt2 {

//===----------------------------------------------------------------------===//
// Unknown operators
//===----------------------------------------------------------------------===//

namespace {
struct Use {
  unsigned count = 0;
  std::string place;
};
} // namespace

static void collectUnknown(const Graph &graph, llvm::StringRef where,
                           MLIRContext &context,
                           llvm::MapVector<llvm::StringRef, Use> &unknown) {
  for (const Node &node : graph.nodes) {
    if (GraphBuilder::Inlined region = GraphBuilder::inlinedBy(node)) {
      collectUnknown(*region.graph, where, context, unknown);
      continue;
    }
    if (ControlNode control = ControlNode::of(node)) {
      for (const Argument *graph : control.graphs)
        collectUnknown(*graph->graph, where, context, unknown);
      continue;
    }
    if (GraphBuilder::findSchema(node.target, context))
      continue;
    Use &use = unknown[node.target];
    if (!use.count++)
      use.place = nodePlace(node, where);
  }
}

std::string UnknownOperator::message() const {
  return (llvm::Twine(region ? "the region '" : "operator '") + name +
          (region ? "' is not supported yet" : "' is not known") + " (used " +
          llvm::Twine(count) +
          (count == 1 ? " time, here)" : " times, first here)"))
      .str();
}

std::optional<UnknownOperator> UnknownOperator::parse(llvm::StringRef message) {
  UnknownOperator op;
  op.region = message.consume_front("the region '");
  if (!op.region && !message.consume_front("operator '"))
    return std::nullopt;
  // Names come from the archive and may hold anything: look from the end.
  auto [head, tail] = message.rsplit(" (used ");
  if (tail.consumeInteger(10, op.count) ||
      !head.consume_back(op.region ? "' is not supported yet"
                                   : "' is not known"))
    return std::nullopt;
  op.name = head.str();
  return op;
}

/// One row for each operator that the table lacks, in the order of their first
/// use, and one for all custom operators that are not registered.
static llvm::Error checkOperators(const Graph &graph, llvm::StringRef where,
                                  MLIRContext &context) {
  llvm::MapVector<llvm::StringRef, Use> unknown;
  collectUnknown(graph, where, context, unknown);
  if (unknown.empty())
    return llvm::Error::success();
  std::vector<Diagnostic> rows;
  std::vector<UnregisteredOp> custom;
  for (auto &[target, use] : unknown) {
    if (std::string name = GraphBuilder::customName(target); !name.empty()) {
      custom.push_back({name, use.count, use.place});
      continue;
    }
    llvm::StringRef name = target;
    name.consume_front("torch.ops.");
    bool region = name.consume_front("higher_order.");
    UnknownOperator op{name.str(), use.count, region};
    rows.push_back({DiagId::UnknownOp, use.place, op.message(), ""});
  }
  if (!rows.empty())
    rows.back().help = "`foretrace ops` lists the operators that are known";
  if (!custom.empty())
    rows.push_back(unregisteredDiagnostic(custom, where));
  return llvm::make_error<DiagnosticError>(std::move(rows));
}

namespace {

class ProgramImporter {
public:
  /// `data`: where the values of constants are; null if nowhere.
  ProgramImporter(const Program &source, Archive *data, llvm::StringRef path,
                  MLIRContext &mlirContext)
      : program(source), archive(data), where(path), context(mlirContext),
        builder(&mlirContext), body(builder, source.graph, path),
        symbols(body.symbols()) {}

  llvm::Expected<OwningOpRef<ModuleOp>> run(llvm::StringRef modelName);

private:
  std::string stateName(llvm::StringRef name) const;
  bool addArguments(func::FuncOp function);
  bool addArgument(const InputSpec &spec, const Argument &input,
                   func::FuncOp function);
  bool weightOf(const InputSpec &spec, llvm::StringRef name,
                const TensorRecord *&record);
  bool addConstant(Type type, llvm::StringRef record,
                   NamedAttrList &attributes);
  bool addResults(func::FuncOp function);

  const Program &program;
  Archive *archive;
  llvm::StringRef where;
  MLIRContext &context;
  OpBuilder builder;
  GraphBuilder body;
  ModuleSymbols symbols;
  llvm::StringSet<> inputNames; // of what the caller gives
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static llvm::StringRef kindText(InputSpec::Kind kind) {
  switch (kind) {
  case InputSpec::Parameter:
    return "parameter";
  case InputSpec::Buffer:
    return "buffer";
  case InputSpec::TensorConstant:
    return "constant";
  default:
    return "input";
  }
}

/// What a parameter, buffer or constant is called. If `forward` of the module
/// has an argument `mask`, its buffer `mask` is "self.mask".
std::string ProgramImporter::stateName(llvm::StringRef name) const {
  return (inputNames.contains(name) ? "self." : "") + name.str();
}

/// The record of a parameter, buffer or constant. Buffers that are not saved
/// with the model stand among the constants.
bool ProgramImporter::weightOf(const InputSpec &spec, llvm::StringRef name,
                               const TensorRecord *&record) {
  for (const auto *map : {&program.weights, &program.constants}) {
    auto it = map->find(spec.target);
    if (it != map->end())
      record = &it->second;
    if (record)
      break;
  }
  if (!record)
    return body.fail(DiagId::BadWeights,
                     "the archive holds no data of the " + kindText(spec.kind) +
                         " '" + spec.target + "'",
                     "export the model again");
  auto declared = program.graph.tensors.find(name);
  if (declared == program.graph.tensors.end())
    return true;
  const TensorInfo &a = declared->second, &b = record->info;
  bool same = a.dtype == b.dtype && a.sizes.size() == b.sizes.size();
  for (size_t i = 0; same && i < a.sizes.size(); ++i)
    same = a.sizes[i].expr == b.sizes[i].expr &&
           a.sizes[i].number == b.sizes[i].number;
  if (!same)
    return body.fail(DiagId::BadWeights,
                     "the " + kindText(spec.kind) + " '" + spec.target +
                         "' has another shape or dtype in the program than "
                         "among the weights",
                     "export the model again");
  return true;
}

/// Shapes are computed with constants of a few elements: those go into the IR.
bool ProgramImporter::addConstant(Type type, llvm::StringRef record,
                                  NamedAttrList &attributes) {
  std::optional<TensorMeta> meta = metaFromType(type);
  std::optional<uint64_t> bytes = meta ? constantBytes(*meta) : std::nullopt;
  if (!archive || !bytes)
    return true;
  llvm::Expected<llvm::ArrayRef<uint8_t>> data =
      archive->record(record, *bytes);
  if (!data) {
    std::vector<Diagnostic> rows = takeDiagnostics(data.takeError());
    return body.fail(rows[0].id, rows[0].message);
  }
  ConstantPtr value =
      readConstant(*meta, reinterpret_cast<const char *>(data->data()));
  if (value)
    attributes.set(names::kConstant, constantAttr(&context, *meta, *value));
  return true;
}

bool ProgramImporter::addArgument(const InputSpec &spec, const Argument &input,
                                  func::FuncOp function) {
  if (spec.kind == InputSpec::CustomObject || spec.kind == InputSpec::Token ||
      input.kind == Argument::CustomObject)
    return body.fail(DiagId::NotYetSupported,
                     "the input '" + input.text +
                         "' is an object of a custom class");
  // None and fixed numbers are values of the export, not inputs.
  Type type;
  NamedAttrList attributes;
  auto text = [&](llvm::StringRef key, llvm::StringRef value) {
    attributes.set(key, builder.getStringAttr(value));
  };
  switch (input.kind) {
  case Argument::Tensor: {
    auto info = program.graph.tensors.find(input.text);
    if (spec.kind == InputSpec::UserInput) {
      if (!body.tensorType(input.text, type))
        return false;
      if (std::optional<TensorMeta> meta = metaFromType(type))
        symbols.addTensor(*meta, info->second, input.text);
    } else {
      const TensorRecord *record = nullptr;
      if (!weightOf(spec, input.text, record) ||
          !body.tensorType(record->info, input.text, type))
        return false;
      text(names::kWeight, record->record);
      if (spec.kind == InputSpec::TensorConstant &&
          !addConstant(type, record->record, attributes))
        return false;
    }
    if (info != program.graph.tensors.end() && info->second.requiresGrad)
      attributes.set(names::kRequiresGrad, builder.getUnitAttr());
    break;
  }
  case Argument::SymInt:
    type = builder.getI64Type();
    if (auto it = program.graph.symInts.find(input.text);
        it != program.graph.symInts.end()) {
      Dim dim;
      if (!body.dimOf(it->second, dim))
        return false;
      text(names::kValue, dim.str());
      symbols.addInteger(dim, it->second.hint, input.text);
    }
    break;
  case Argument::SymFloat:
    type = builder.getF64Type();
    break;
  case Argument::SymBool:
    type = builder.getI1Type();
    break;
  case Argument::None:
  case Argument::Int:
  case Argument::Float:
  case Argument::Bool:
  case Argument::String:
    return true;
  default:
    return body.fail(DiagId::NotYetSupported,
                     "an input is neither a tensor nor a number");
  }
  text(names::kKind, kindText(spec.kind));
  text(names::kName, input.text);
  text(names::kTarget,
       spec.kind == InputSpec::UserInput ? input.text : stateName(spec.target));
  unsigned index = function.getNumArguments();
  Location loc = NameLoc::get(builder.getStringAttr(input.text));
  if (failed(function.insertArgument(index, type,
                                     attributes.getDictionary(&context), loc)))
    return body.fail(DiagId::Internal, "an argument cannot be added");
  return body.define(input.text, function.getArgument(index));
}

bool ProgramImporter::addArguments(func::FuncOp function) {
  for (auto [spec, input] :
       llvm::zip_equal(program.inputs, program.graph.inputs))
    if (spec.kind == InputSpec::UserInput)
      inputNames.insert(input.text);
  for (auto [spec, input] :
       llvm::zip_equal(program.inputs, program.graph.inputs))
    if (!addArgument(spec, input, function))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The role of a result; empty for those that this compiler does not produce.
static llvm::StringRef roleText(OutputSpec::Kind kind) {
  switch (kind) {
  case OutputSpec::UserOutput:
    return "output";
  case OutputSpec::LossOutput:
    return "loss";
  case OutputSpec::BufferMutation:
    return "buffer_mutation";
  case OutputSpec::ParameterMutation:
    return "parameter_mutation";
  case OutputSpec::UserInputMutation:
    return "input_mutation";
  case OutputSpec::GradientToParameter:
  case OutputSpec::GradientToUserInput:
  case OutputSpec::Token:
    return "";
  }
  return "";
}

bool ProgramImporter::addResults(func::FuncOp function) {
  llvm::SmallVector<Value> values;
  llvm::SmallVector<Type> types;
  llvm::SmallVector<DictionaryAttr> attributes;
  for (auto [spec, output] :
       llvm::zip_equal(program.outputs, program.graph.outputs)) {
    llvm::StringRef role = roleText(spec.kind);
    if (role.empty())
      return body.fail(DiagId::NotYetSupported,
                       "the program returns gradients or tokens: it is a "
                       "joint graph, not a model",
                       "export the forward model; Foretrace makes the "
                       "backward itself");
    Value value;
    if (!body.valueOf(output, value))
      return false;
    if (!value) // None
      continue;
    NamedAttrList attrs;
    attrs.set(names::kRole, builder.getStringAttr(role));
    if (!output.text.empty())
      attrs.set(names::kName, builder.getStringAttr(output.text));
    if (!spec.target.empty())
      attrs.set(names::kTarget,
                builder.getStringAttr(spec.kind == OutputSpec::UserInputMutation
                                          ? spec.target
                                          : stateName(spec.target)));
    values.push_back(value);
    types.push_back(value.getType());
    attributes.push_back(attrs.getDictionary(&context));
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), types));
  function.setAllResultAttrs(attributes);
  return true;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

llvm::Expected<OwningOpRef<ModuleOp>>
ProgramImporter::run(llvm::StringRef modelName) {
  Location loc = FileLineColLoc::get(&context, where, 0, 0);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  (*module)->setAttr(names::kModel, builder.getStringAttr(modelName));
  (*module)->setAttr(names::kArchive, builder.getStringAttr(where));
  (*module)->setAttr(names::kStage, builder.getStringAttr("import"));

  auto function =
      func::FuncOp::create(loc, "forward", builder.getFunctionType({}, {}));
  module->push_back(function);
  function.addEntryBlock();
  builder.setInsertionPointToEnd(&function.getBody().front());
  bool ok = addArguments(function);
  for (const Node &node : program.graph.nodes)
    ok = ok && body.build(node);
  ok = ok && addResults(function);
  if (!ok)
    return body.takeError();
  llvm::consumeError(body.takeError());
  builder.setInsertionPoint(function);
  symbols.addConditions(program, loc);
  symbols.build(builder);

  // What contradicts a schema is a fault of the archive.
  std::string message, node;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    if (!message.empty())
      return;
    message = d.str();
    if (auto name = dyn_cast<NameLoc>(d.getLocation()))
      node = name.getName().str();
  });
  if (failed(verify(*module))) {
    llvm::StringRef text = message;
    if (text.starts_with("'"))
      text = text.split(" op ").second;
    return makeError(DiagId::BadSchema,
                     where + (node.empty() ? "" : " (" + node + ")"), text,
                     "export the model again");
  }
  return module;
}

static llvm::Expected<OwningOpRef<ModuleOp>>
importFrom(const Program &program, Archive *data, llvm::StringRef where,
           llvm::StringRef modelName, MLIRContext &context) {
  context.loadDialect<FtDialect, func::FuncDialect, arith::ArithDialect>();
  if (llvm::Error error = checkOperators(program.graph, where, context))
    return std::move(error);
  return ProgramImporter(program, data, where, context).run(modelName);
}

llvm::Expected<OwningOpRef<ModuleOp>> importProgram(const Program &program,
                                                    llvm::StringRef where,
                                                    llvm::StringRef modelName,
                                                    MLIRContext &context) {
  return importFrom(program, nullptr, where, modelName, context);
}

llvm::Expected<OwningOpRef<ModuleOp>> importProgram(Archive &archive,
                                                    MLIRContext &context) {
  llvm::Expected<Program> program = readProgram(archive);
  if (!program)
    return program.takeError();
  llvm::StringRef name = archive.modelName();
  if (name == "model")
    name = llvm::sys::path::stem(archive.where());
  return importFrom(*program, &archive, archive.where(), name, context);
}

} // namespace ft::pt2
