//===- OpTable.cpp - What each operator has --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/OpTable.h"

#include "compiler/autograd/DerivativeTable.h"
#include "compiler/driver/DiagnosticCollector.h"
#include "compiler/fake/FakeCall.h"
#include "compiler/functionalize/Functionalize.h"
#include "compiler/import/Unregistered.h"
#include "compiler/import/pt2/Pt2Import.h"
#include "compiler/lower/DeviceCode.h"
#include "compiler/lower/LowerCall.h"
#include "compiler/partition/Cost.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/MapVector.h"

namespace ft {

static std::string derivativeText(const Schema &schema) {
  if (const CustomOp *op = customOp(schema))
    return op->derivative ? "yes" : "-";
  const Derivative &entry = derivativeOf(schema);
  if (!whyNoDerivative(schema).empty())
    return "-";
  if (entry.kind == Derivative::Constant)
    return "zero";
  return entry.exists() || entry.expands() ? "yes" : "-";
}

static std::string whyNone(const Schema &schema, const Schema *pure) {
  if (customOp(schema))
    return "none is registered";
  return pure ? whyNoDerivative(*pure) : "it has no functional form";
}

static OpRow rowOf(const Schema &schema) {
  OpRow row;
  row.name = schema.name.str();
  row.family = schema.family.str();
  row.fake = findFakeRule(schema) != nullptr;
  // Derivatives and code are those of what functionalize leaves.
  const Schema *pure = schema.mutates ? functionalForm(schema) : &schema;
  row.derivative = pure ? derivativeText(*pure) : "-";
  if (row.derivative == "-")
    row.whyNone = whyNone(schema, pure);
  row.cpu = pure && findLowerRule(*pure);
  row.cuda = row.cpu && !customOp(*pure) && hasDeviceCode(*pure);
  row.recompute = recomputeClassName(recomputeClass(schema)).str();
  return row;
}

std::vector<OpRow> opTable() {
  std::vector<OpRow> rows;
  for (const Schema &schema : SchemaTable::get().all())
    // Those two are no operators of ATen.
    if (!schema.base.starts_with("_philox_") && schema.base != "_keep_history")
      rows.push_back(rowOf(schema));
  return rows;
}

std::vector<OpRow> customOps(Session &session) {
  std::vector<OpRow> rows;
  if (!session.loadPlugins())
    return rows;
  for (const std::unique_ptr<CustomOp> &op :
       CustomOps::of(&session.context()).all())
    rows.push_back(rowOf(op->schema));
  return rows;
}

std::vector<MissingOp> missingOps(const Session &session, bool forGpu) {
  llvm::MapVector<const Schema *, MissingOp> found;
  llvm::MapVector<mlir::StringRef, MissingOp> control;
  session.module().walk([&](mlir::Operation *op) {
    const Schema *schema = schemaOf(op);
    bool isRefused = !schema && forGpu && isControl(op);
    if (!schema && !isRefused)
      return;
    MissingOp &missing =
        schema ? found[schema] : control[op->getName().stripDialect()];
    if (missing.count++ == 0)
      missing.where = placeText(op->getLoc(), "");
  });
  std::vector<MissingOp> result;
  for (auto &[schema, missing] : found) {
    OpRow row = rowOf(*schema);
    missing.name = row.name;
    if (!row.fake)
      missing.lacking.push_back("fake rule");
    if (!row.cpu)
      missing.lacking.push_back("CPU code");
    if (forGpu && !row.cuda)
      missing.lacking.push_back("CUDA code");
    if (!missing.lacking.empty())
      result.push_back(missing);
  }
  for (auto &[name, missing] : control) {
    missing.name = name.str();
    missing.lacking.push_back("CUDA code");
    result.push_back(missing);
  }
  return result;
}

bool unknownOps(const Session &session, std::vector<MissingOp> &ops) {
  for (const Diagnostic &row : session.diagnostics()) {
    if (row.exitClass() == ExitClass::Note)
      continue;
    if (row.id == DiagId::UnregisteredOp) {
      for (const UnregisteredOp &op : parseUnregistered(row.message))
        ops.push_back({op.name, op.count, op.place, {"registration"}});
      continue;
    }
    std::optional<pt2::UnknownOperator> op;
    if (row.id == DiagId::UnknownOp)
      op = pt2::UnknownOperator::parse(row.message);
    if (!op)
      return false;
    ops.push_back(
        {op->name, op->count, row.where, {op->region ? "import" : "schema"}});
  }
  return !ops.empty();
}

} // namespace ft
