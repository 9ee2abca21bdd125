//===- PartitionReport.cpp - What forward saves for backward ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/PartitionReport.h"

#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Programs.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/Support/FormatVariadic.h"

namespace ft {

/// The expression with every symbol at its hint.
static int64_t atHints(Dim dim, mlir::ModuleOp program) {
  if (dim.isStatic())
    return dim.value();
  SymContext &context = dim.symbolic().context();
  SymExpr value = context.substitute(dim.symbolic(), [&](llvm::StringRef name) {
    for (auto symbol : program.getOps<SymbolOp>())
      if (symbol.getSym() == name && symbol.getHint())
        return context.constant(static_cast<int64_t>(*symbol.getHint()));
    return SymExpr();
  });
  return value.isConst() ? value.constant() : -1;
}

PartitionTable partitionTable(mlir::ModuleOp module) {
  PartitionTable table;
  for (mlir::ModuleOp program : programsOf(module)) {
    auto function = program.lookupSymbol<mlir::func::FuncOp>("forward");
    if (programName(program) != "forward" || !function || function.isExternal())
      continue;
    mlir::Operation *end = function.front().getTerminator();
    Dim total = 0;
    for (unsigned r = 0; r < function.getNumResults(); ++r) {
      auto role =
          function.getResultAttrOfType<mlir::StringAttr>(r, names::kRole);
      auto name =
          function.getResultAttrOfType<mlir::StringAttr>(r, names::kValueName);
      mlir::Value value = end->getOperand(r);
      std::optional<TensorMeta> meta = metaOf(value);
      if (!role || role.getValue() != "saved" || !meta)
        continue;
      SavedRow row;
      row.name = name ? name.getValue().str() : "";
      row.meta = *meta;
      row.isInput = mlir::isa<mlir::BlockArgument>(value);
      Dim bytes = meta->numel() * Dim(int64_t(dtypeBytes(meta->dtype)));
      row.bytes = atHints(bytes, program);
      row.bytesExpr = bytes.isStatic() ? "" : bytes.str();
      if (!row.isInput)
        total = total + bytes;
      table.saved.push_back(std::move(row));
    }
    table.savedBytes = atHints(total, program);
    table.savedBytesExpr = total.isStatic() ? "" : total.str();
  }
  return table;
}

llvm::json::Object partitionJson(mlir::ModuleOp module) {
  PartitionTable table = partitionTable(module);
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
                              {"reason", row.reason()}};
    if (!row.bytesExpr.empty())
      object["bytes_expr"] = row.bytesExpr;
    saved.push_back(std::move(object));
  }
  llvm::json::Object root{{"saved", std::move(saved)},
                          {"saved_bytes", table.savedBytes},
                          {"recomputed", llvm::json::Array()}};
  if (!table.savedBytesExpr.empty())
    root["saved_bytes_expr"] = table.savedBytesExpr;
  return root;
}

std::string partitionText(mlir::ModuleOp module) {
  PartitionTable table = partitionTable(module);
  size_t width = 4;
  for (const SavedRow &row : table.saved)
    width = std::max(width, row.name.size());
  std::string text = "saved for the backward pass\n";
  for (const SavedRow &row : table.saved)
    text += "  " + row.name + std::string(width - row.name.size() + 2, ' ') +
            dtypeName(row.meta.dtype).str() + " " + dimsText(row.meta.sizes) +
            "  " + std::to_string(row.bytes) + " bytes" +
            (row.isInput ? ", an input" : "") + "\n";
  text += llvm::formatv("{0} values, {1} bytes of activations",
                        table.saved.size(), table.savedBytes)
              .str();
  return text +
         (table.savedBytesExpr.empty() ? ""
                                       : " (" + table.savedBytesExpr + ")") +
         "\n";
}

} // namespace ft
