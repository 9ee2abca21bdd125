//===- Report.cpp - A module as text, JSON or a graph ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Report.h"

#include "compiler/driver/MemoryEstimate.h"
#include "compiler/driver/PartitionReport.h"
#include "compiler/driver/ReportParts.h"
#include "compiler/driver/ValueTable.h"
#include "compiler/lower/Plan.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace ft {

/// Whether the program still consists of tensors with annotations.
static bool hasValues(const Session &session) {
  return session.stage() && *session.stage() < Stage::Lower;
}

static ValueTable tableOf(const Session &session) {
  bool annotated = hasValues(session) && *session.stage() >= Stage::Fake;
  return ValueTable(session.module(), annotated);
}

static std::string modelName(mlir::ModuleOp module) {
  auto name = module->getAttrOfType<mlir::StringAttr>(names::kModel);
  return name ? name.getValue().str() : std::string();
}

std::vector<std::string> symbolLines(mlir::ModuleOp module) {
  std::vector<std::string> lines;
  for (auto symbol : module.getOps<SymbolOp>()) {
    auto number = [](uint64_t v) {
      return std::to_string(static_cast<int64_t>(v));
    };
    std::string text;
    if (symbol.getLower())
      text += number(*symbol.getLower()) + " <= ";
    text += symbol.getSym();
    if (symbol.getUpper())
      text += " <= " + number(*symbol.getUpper());
    if (std::optional<uint64_t> hint = symbol.getHint())
      text += ", hint " + number(*hint);
    if (symbol.getSource())
      text += ", source " + symbol.getSource()->str();
    if (symbol.getTitle() && *symbol.getTitle() != symbol.getSym())
      text += ", called " + symbol.getTitle()->str();
    lines.push_back(std::move(text));
  }
  return lines;
}

/// Lines for the symbols, and the facts that are checked, each with its cause
/// in parentheses.
static std::string conditionsText(mlir::ModuleOp module) {
  std::string text;
  for (const std::string &line : symbolLines(module))
    text += line + '\n';
  for (auto fact : module.getOps<FactOp>()) {
    if (fact.getImpliedBy())
      continue;
    text += fact.getRelation();
    if (fact.getCause())
      text += " (" + fact.getCause()->str() + ")";
    text += '\n';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "linear", "true_graph_0.linear".
static std::string nameText(const ValueRow &row) {
  return row.graph.empty() ? row.name : row.graph + "." + row.name;
}

/// "float32 [4, 3] strides [1, 4]"; what says nothing new is left out.
static std::string layoutText(const ValueRow &row) {
  if (!row.meta) {
    std::string type;
    llvm::raw_string_ostream(type) << row.value.getType();
    return type;
  }
  const TensorMeta &m = *row.meta;
  std::string text = dtypeName(m.dtype).str() + " " + dimsText(m.sizes);
  if (m.strides != contiguousStrides(m.sizes))
    text += " strides " + dimsText(m.strides);
  if (!m.offset.is(0))
    text += " offset " + m.offset.str();
  if (m.device.kind != Device::Cpu)
    text += " " + m.device.str();
  if (m.conj)
    text += " conj";
  if (m.neg)
    text += " neg";
  return row.declaredOnly ? text + " (declared)" : text;
}

static std::string padded(std::string text, size_t width) {
  if (text.size() < width)
    text.append(width - text.size(), ' ');
  return text;
}

static bool isPartitioned(const Session &session) {
  return session.stage() == Stage::Partition;
}

static std::string peakLine(const ArenaPlan &plan) {
  return "forward and backward work in " + std::to_string(plan.bytesAtHints) +
         " bytes" +
         (plan.bytes.isStatic() ? "" : " (" + plan.bytes.str() + ")") +
         (plan.hasUnknownSizes ? ", and in memory whose size the data decide\n"
                               : ", these among them\n");
}

std::string reportText(const Session &session) {
  if (isPartitioned(session)) {
    std::optional<ArenaPlan> plan = planOf(session);
    return "model " + modelName(session.module()) + " after stage partition: " +
           partitionText(session.module(), plan ? &*plan : nullptr) +
           (plan ? peakLine(*plan) : "");
  }
  if (!hasValues(session))
    return session.print();
  mlir::ModuleOp module = session.module();
  ValueTable table = tableOf(session);
  size_t nameWidth = 4, opWidth = 2, layoutWidth = 6;
  for (const ValueRow &row : table.rows) {
    nameWidth = std::max(nameWidth, nameText(row).size());
    opWidth = std::max(opWidth, row.op.size());
    layoutWidth = std::max(layoutWidth, layoutText(row).size());
  }
  std::string text = "model " + modelName(module) + " after stage " +
                     stageInfo(*session.stage()).name + ", " +
                     std::to_string(table.rows.size()) + " values\n" +
                     padded("name", nameWidth) + "  " + padded("op", opWidth) +
                     "  " + padded("layout", layoutWidth) + "  storage\n";
  std::vector<bool> seen;
  for (const ValueRow &row : table.rows) {
    text += padded(nameText(row), nameWidth) + "  " + padded(row.op, opWidth) +
            "  ";
    if (row.storage < 0) {
      text += layoutText(row) + '\n';
      continue;
    }
    if (static_cast<size_t>(row.storage) >= seen.size())
      seen.resize(row.storage + 1);
    text += padded(layoutText(row), layoutWidth) + "  " +
            std::to_string(row.storage) + (seen[row.storage] ? " shared" : "") +
            (row.requiresGrad ? " grad" : "") + '\n';
    seen[row.storage] = true;
  }
  return text + conditionsText(module);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Value dimJson(const Dim &dim) {
  if (dim.isStatic())
    return dim.value();
  return dim.str();
}

static llvm::json::Array dimsJson(llvm::ArrayRef<Dim> dims) {
  llvm::json::Array array;
  for (const Dim &d : dims)
    array.push_back(dimJson(d));
  return array;
}

static llvm::json::Object rowJson(const ValueRow &row) {
  llvm::json::Object object{{"op", row.op}};
  if (!row.target.empty())
    object["target"] = row.target;
  if (row.meta) {
    object["shape"] = dimsJson(row.meta->sizes);
    object["stride"] = dimsJson(row.meta->strides);
    object["offset"] = dimJson(row.meta->offset);
    object["dtype"] = dtypeName(row.meta->dtype);
    object["device"] = row.meta->device.str();
    if (row.meta->conj)
      object["conj"] = true;
    if (row.meta->neg)
      object["neg"] = true;
    if (row.declaredOnly)
      object["declared"] = true;
  }
  if (row.storage >= 0)
    object["storage"] = row.storage;
  if (row.meta)
    object["requires_grad"] = row.requiresGrad;
  return object;
}

/// The results of the program: role, target and the value's name.
static llvm::json::Array outputsJson(mlir::ModuleOp module,
                                     const ValueTable &table) {
  llvm::json::Array outputs;
  auto forward = module.lookupSymbol<mlir::func::FuncOp>("forward");
  if (!forward || forward.isExternal())
    return outputs;
  mlir::Operation *end = forward.front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i) {
    llvm::json::Object output;
    if (int at = table.indexOf(end->getOperand(i)); at >= 0)
      output["value"] = table.rows[at].name;
    for (auto [key, attribute] :
         {std::pair("role", names::kRole), std::pair("target", names::kTarget),
          std::pair("name", names::kName)})
      if (auto text =
              forward.getResultAttrOfType<mlir::StringAttr>(i, attribute))
        output[key] = text.getValue();
    outputs.push_back(std::move(output));
  }
  return outputs;
}

llvm::json::Object symbolsJson(mlir::ModuleOp module) {
  llvm::json::Object symbols;
  for (auto symbol : module.getOps<SymbolOp>()) {
    llvm::json::Object row;
    for (auto [key, value] : {std::pair("lower", symbol.getLower()),
                              std::pair("upper", symbol.getUpper()),
                              std::pair("hint", symbol.getHint())})
      if (value)
        row[key] = static_cast<int64_t>(*value);
    for (auto [key, value] : {std::pair("source", symbol.getSource()),
                              std::pair("title", symbol.getTitle())})
      if (value)
        row[key] = *value;
    symbols[symbol.getSym()] = std::move(row);
  }
  return symbols;
}

static llvm::json::Array factsJson(mlir::ModuleOp module) {
  llvm::json::Array facts;
  for (auto fact : module.getOps<FactOp>())
    if (!fact.getImpliedBy())
      facts.push_back(fact.getRelation());
  return facts;
}

static llvm::json::Array kernelsJson(mlir::ModuleOp module);

std::string reportJson(const Session &session) {
  mlir::ModuleOp module = session.module();
  llvm::json::Object root{
      {"stage", session.stage() ? stageInfo(*session.stage()).name : ""},
      {"model", modelName(module)}};
  if (isPartitioned(session)) {
    std::optional<ArenaPlan> plan = planOf(session);
    if (plan) {
      root["peak_bytes"] = plan->bytesAtHints;
      if (!plan->bytes.isStatic())
        root["peak_bytes_expr"] = plan->bytes.str();
      if (plan->hasUnknownSizes)
        root["has_unknown_sizes"] = true;
    }
    for (auto &entry : partitionJson(module, plan ? &*plan : nullptr))
      root[entry.first] = std::move(entry.second);
  } else if (hasValues(session)) {
    ValueTable table = tableOf(session);
    // Names are unique within a graph only.
    llvm::json::Object values;
    std::map<std::string, llvm::json::Object> graphs;
    for (const ValueRow &row : table.rows)
      if (llvm::isa<mlir::TensorType>(row.value.getType()))
        (row.graph.empty() ? values : graphs[row.graph])[row.name] =
            rowJson(row);
    root["values"] = std::move(values);
    if (!graphs.empty()) {
      llvm::json::Object subgraphs;
      for (auto &[name, inside] : graphs)
        subgraphs[name] = std::move(inside);
      root["subgraphs"] = std::move(subgraphs);
    }
    root["outputs"] = outputsJson(module, table);
    root["symbols"] = symbolsJson(module);
    root["guards"] = factsJson(module);
  } else {
    root["kernels"] = kernelsJson(module);
  }
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root)));
}

//===----------------------------------------------------------------------===//
// Graphviz
//===----------------------------------------------------------------------===//

std::string dotText(llvm::StringRef text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string reportDot(const Session &session) {
  if (isPartitioned(session))
    return partitionDot(session.module());
  mlir::ModuleOp module = session.module();
  ValueTable table = tableOf(session);
  std::string text = "digraph " + dotText(modelName(module)) +
                     " {\n  node [shape=box, fontname=\"monospace\"];\n";
  auto id = [](unsigned i) { return "v" + std::to_string(i); };
  for (unsigned i = 0; i < table.rows.size(); ++i) {
    const ValueRow &row = table.rows[i];
    std::string label =
        dotText(nameText(row) + "\n" + row.op + "\n" + layoutText(row));
    bool argument = llvm::isa<mlir::BlockArgument>(row.value);
    text += "  " + id(i) + " [label=" + label +
            (argument ? ", style=filled, fillcolor=lightgrey" : "") + "];\n";
    if (argument)
      continue;
    for (mlir::Value operand : row.value.getDefiningOp()->getOperands())
      if (int from = table.indexOf(operand); from >= 0)
        text += "  " + id(from) + " -> " + id(i) + ";\n";
  }
  return text + "}\n";
}

//===----------------------------------------------------------------------===//
// Inputs and kernels
//===----------------------------------------------------------------------===//

std::vector<std::string> inputLines(const Session &session) {
  std::vector<std::string> lines;
  ValueTable table = tableOf(session);
  for (const ValueRow &row : table.rows)
    if (row.op == "input" && row.meta)
      lines.push_back(row.name + ": " + layoutText(row));
  return lines;
}

static llvm::json::Array kernelsJson(mlir::ModuleOp module) {
  llvm::json::Array kernels;
  module.walk([&](mlir::func::FuncOp function) {
    if (!function->hasAttr("ft.kernel"))
      return;
    llvm::json::Array operands;
    for (mlir::Type type : function.getArgumentTypes()) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      operands.push_back(std::move(text));
    }
    unsigned operations = 0;
    function.walk([&](mlir::Operation *op) {
      if (op->getDialect() && op->getDialect()->getNamespace() == "linalg" &&
          op->getNumRegions() != 0)
        ++operations;
    });
    kernels.push_back(llvm::json::Object{{"name", function.getSymName()},
                                         {"operations", operations},
                                         {"operands", std::move(operands)}});
  });
  if (std::optional<Plan> plan = Plan::of(module))
    for (const PlannedKernel &kernel : plan->kernels)
      kernels.push_back(llvm::json::Object{{"name", kernel.symbol},
                                           {"custom", kernel.op},
                                           {"operations", 1},
                                           {"operands", llvm::json::Array()}});
  return kernels;
}

std::string reportKernels(const Session &session) {
  std::string text;
  for (const llvm::json::Value &kernel : kernelsJson(session.module())) {
    const llvm::json::Object &object = *kernel.getAsObject();
    if (std::optional<llvm::StringRef> op = object.getString("custom")) {
      text += object.getString("name")->str() + ": kernel of " + op->str();
      text += '\n';
      continue;
    }
    text += object.getString("name")->str() + ": " +
            std::to_string(*object.getInteger("operations")) + " operations";
    for (const llvm::json::Value &operand : *object.getArray("operands"))
      text += ", " + operand.getAsString()->str();
    text += '\n';
  }
  return text;
}

} // namespace ft
