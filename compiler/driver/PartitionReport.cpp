//===- PartitionReport.cpp - What forward saves for backward ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/PartitionReport.h"

#include "compiler/driver/ReportParts.h"
#include "compiler/partition/ControlCost.h"
#include "compiler/partition/Cost.h"
#include "compiler/partition/PartitionNames.h"
#include "compiler/partition/SizeHints.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/Programs.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/Support/FormatVariadic.h"

namespace ft {

/// The call that made what forward returns, behind the copy that makes it
/// dense.
static mlir::Operation *makerOf(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  const Schema *schema = op ? schemaOf(op) : nullptr;
  if (schema && schema->base == "contiguous")
    if (mlir::Operation *behind = op->getOperand(0).getDefiningOp())
      return behind;
  return op;
}

static std::string nameOf(mlir::Operation *op) {
  mlir::Attribute name = op->getAttr(names::kName);
  if (auto many = llvm::dyn_cast_or_null<mlir::ArrayAttr>(name))
    name = many.empty() ? mlir::Attribute() : many[0];
  if (auto one = llvm::dyn_cast_or_null<mlir::StringAttr>(name))
    return one.getValue().str();
  const Schema *schema = schemaOf(op);
  return schema ? schema->base.str() : op->getName().stripDialect().str();
}

static int64_t flopsOf(mlir::Operation *op, const SizeHints &hints) {
  if (!op)
    return 0;
  if (std::optional<ControlCost> control = controlCostOf(op))
    return hints.at(control->cost.flops);
  std::optional<OpCost> cost = costOf(op);
  return cost ? hints.at(cost->flops) : 0;
}

static void addSaved(PartitionTable &table, mlir::func::FuncOp function,
                     const SizeHints &hints) {
  mlir::Operation *end = function.front().getTerminator();
  Dim total = 0;
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    auto text = [&](llvm::StringRef attribute) {
      auto value = function.getResultAttrOfType<mlir::StringAttr>(r, attribute);
      return value ? value.getValue().str() : std::string();
    };
    mlir::Value value = end->getOperand(r);
    std::optional<TensorMeta> meta = metaOf(value);
    if (text(names::kRole) != "saved" || !meta)
      continue;
    SavedRow row;
    row.name = text(names::kValueName);
    row.reason = text(names::kReason);
    row.meta = *meta;
    row.isInput = llvm::isa<mlir::BlockArgument>(value);
    Dim bytes = denseBytes(*meta);
    row.bytes = hints.at(bytes);
    row.bytesExpr = bytes.isStatic() ? "" : bytes.str();
    row.flops = flopsOf(makerOf(value), hints);
    if (!row.isInput)
      total = total + bytes;
    table.saved.push_back(std::move(row));
  }
  table.savedBytes = hints.at(total);
  table.savedBytesExpr = total.isStatic() ? "" : total.str();
}

/// Of a call that is done again; nothing for a view.
static std::optional<RecomputedRow> rowOf(mlir::Operation *op,
                                          const SizeHints &hints) {
  const Schema *schema = schemaOf(op);
  if (!op->hasAttr(names::kAgain) || !(schema || isControl(op)) ||
      (schema && recomputeClass(*schema) == RecomputeClass::View))
    return std::nullopt;
  RecomputedRow row;
  row.name = nameOf(op);
  row.op = schema ? schema->name.str() : op->getName().getStringRef().str();
  row.flops = flopsOf(op, hints);
  row.isProduct =
      schema && recomputeClass(*schema) == RecomputeClass::Expensive;
  for (mlir::Value result : op->getResults())
    if (std::optional<TensorMeta> meta = metaOf(result))
      row.bytes += hints.bytes(*meta);
  return row;
}

static void addRecomputed(PartitionTable &table, mlir::func::FuncOp function,
                          const SizeHints &hints, const ArenaPlan *plan) {
  auto add = [&](RecomputedRow row) {
    table.recomputedFlops += row.flops;
    table.recomputed.push_back(std::move(row));
  };
  llvm::DenseMap<mlir::Location, llvm::SmallVector<mlir::Operation *, 1>> calls;
  for (mlir::Operation &op : function.front())
    if (std::optional<RecomputedRow> row = rowOf(&op, hints)) {
      calls[op.getLoc()].push_back(&op);
      add(std::move(*row));
    }
  if (!plan)
    return;
  for (const ArenaPlan::Repeated &what : plan->repeated)
    for (mlir::Operation *op : calls.lookup(what.location)) {
      const Schema *schema = schemaOf(op);
      // Copies around a product are no product.
      if (!schema || schema->base != what.from)
        continue;
      RecomputedRow row = *rowOf(op, hints);
      if (row.isProduct && !what.isProduct)
        continue;
      row.isRepeated = true;
      add(std::move(row));
      break;
    }
}

PartitionTable partitionTable(mlir::ModuleOp module, const ArenaPlan *plan) {
  PartitionTable table;
  for (mlir::ModuleOp program : programsOf(module)) {
    auto function = program.lookupSymbol<mlir::func::FuncOp>("forward");
    if (!function || function.isExternal())
      continue;
    SizeHints hints(program);
    if (programName(program) == "forward")
      addSaved(table, function, hints);
    else if (programName(program) == "backward")
      addRecomputed(table, function, hints, plan);
  }
  return table;
}

llvm::json::Object partitionJson(mlir::ModuleOp module, const ArenaPlan *plan) {
  PartitionTable table = partitionTable(module, plan);
  llvm::json::Array saved;
  for (const SavedRow &row : table.saved) {
    llvm::json::Array shape;
    for (Dim d : row.meta.sizes)
      shape.push_back(d.isStatic() ? llvm::json::Value(d.value())
                                   : llvm::json::Value(d.str()));
    llvm::json::Object object{{"name", row.name},
                              {"shape", std::move(shape)},
                              {"dtype", dtypeName(row.meta.dtype)},
                              {"bytes", row.bytes},
                              {"kind", row.isInput ? "input" : "activation"},
                              {"reason", row.reason},
                              {"flops", row.flops}};
    if (!row.bytesExpr.empty())
      object["bytes_expr"] = row.bytesExpr;
    saved.push_back(std::move(object));
  }
  llvm::json::Array recomputed;
  for (const RecomputedRow &row : table.recomputed) {
    llvm::json::Object object{{"name", row.name},
                              {"op", row.op},
                              {"flops", row.flops},
                              {"bytes", row.bytes}};
    if (row.isRepeated)
      object["repeated"] = true;
    recomputed.push_back(std::move(object));
  }
  llvm::json::Object root{{"saved", std::move(saved)},
                          {"saved_bytes", table.savedBytes},
                          {"recomputed", std::move(recomputed)},
                          {"recomputed_flops", table.recomputedFlops}};
  if (!table.savedBytesExpr.empty())
    root["saved_bytes_expr"] = table.savedBytesExpr;
  return root;
}

std::string partitionText(mlir::ModuleOp module, const ArenaPlan *plan) {
  PartitionTable table = partitionTable(module, plan);
  size_t width = 4;
  for (const SavedRow &row : table.saved)
    width = std::max(width, row.name.size());
  for (const RecomputedRow &row : table.recomputed)
    width = std::max(width, row.name.size());
  auto padded = [&](const std::string &name) {
    return "  " + name + std::string(width - name.size() + 2, ' ');
  };
  std::string text = "saved for the backward pass\n";
  for (const SavedRow &row : table.saved)
    text += padded(row.name) + dtypeName(row.meta.dtype).str() + " " +
            dimsText(row.meta.sizes) + "  " + std::to_string(row.bytes) +
            " bytes" + (row.isInput ? ", an input" : "") + ": " + row.reason +
            "\n";
  text += llvm::formatv("{0} values, {1} bytes of activations",
                        table.saved.size(), table.savedBytes)
              .str();
  text +=
      (table.savedBytesExpr.empty() ? "" : " (" + table.savedBytesExpr + ")") +
      "\n";
  if (table.recomputed.empty())
    return text;
  text += "computed again in the backward pass\n";
  for (const RecomputedRow &row : table.recomputed)
    text += padded(row.name) + row.op + "  " + std::to_string(row.flops) +
            " flops instead of " + std::to_string(row.bytes) + " bytes" +
            (row.isRepeated ? ", repeated\n" : "\n");
  return text + llvm::formatv("{0} calls, {1} flops\n", table.recomputed.size(),
                              table.recomputedFlops)
                    .str();
}

/// The cut as a graph: kept values between the calls of forward that make them
/// and those of backward that read them; calls that are done again are dashed.
std::string partitionDot(mlir::ModuleOp module) {
  std::string text = "digraph partition {\n  rankdir=LR;\n"
                     "  node [shape=box, fontname=\"monospace\"];\n";
  auto node = [&](const std::string &id, const std::string &label,
                  llvm::StringRef style) {
    text += "  " + id + " [label=" + dotText(label) + style.str() + "];\n";
  };
  PartitionTable table = partitionTable(module);
  llvm::StringMap<size_t> savedByName;
  for (mlir::ModuleOp program : programsOf(module)) {
    auto function = program.lookupSymbol<mlir::func::FuncOp>("forward");
    if (!function || function.isExternal())
      continue;
    bool isForward = programName(program) == "forward";
    llvm::DenseMap<mlir::Value, std::string> ids;
    for (mlir::BlockArgument argument : function.getArguments()) {
      auto name = function.getArgAttrOfType<mlir::StringAttr>(
          argument.getArgNumber(), names::kName);
      if (name && !isForward && savedByName.count(name.getValue()))
        ids[argument] = "s" + std::to_string(savedByName[name.getValue()]);
    }
    unsigned number = 0;
    for (mlir::Operation &op : function.front().without_terminator()) {
      std::string id = (isForward ? "f" : "b") + std::to_string(number++);
      node(id, nameOf(&op), op.hasAttr(names::kAgain) ? ", style=dashed" : "");
      for (mlir::Value operand : op.getOperands())
        if (auto from = ids.find(operand); from != ids.end())
          text += "  " + from->second + " -> " + id + ";\n";
      for (mlir::Value result : op.getResults())
        ids[result] = id;
    }
    if (!isForward)
      continue;
    mlir::Operation *end = function.front().getTerminator();
    for (unsigned r = 0; r < function.getNumResults(); ++r) {
      auto role =
          function.getResultAttrOfType<mlir::StringAttr>(r, names::kRole);
      auto name =
          function.getResultAttrOfType<mlir::StringAttr>(r, names::kName);
      if (!role || role.getValue() != "saved" || !name ||
          savedByName.size() >= table.saved.size())
        continue;
      size_t row = savedByName.size();
      savedByName[name.getValue()] = row;
      std::string id = "s" + std::to_string(row);
      node(id,
           table.saved[row].name + "\n" +
               std::to_string(table.saved[row].bytes) + " bytes",
           ", style=filled, fillcolor=lightblue");
      if (auto from = ids.find(end->getOperand(r)); from != ids.end())
        text += "  " + from->second + " -> " + id + ";\n";
    }
  }
  return text + "}\n";
}

} // namespace ft
