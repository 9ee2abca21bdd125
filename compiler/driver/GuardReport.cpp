//===- GuardReport.cpp - What a program asks of its inputs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/GuardReport.h"

#include "compiler/driver/ReportParts.h"
#include "compiler/fake/ControlNames.h"
#include "compiler/fake/ModuleGuards.h"
#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/Places.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace ft {

static std::string causeText(const std::string &cause,
                             const std::string &place) {
  return place.empty() ? cause : cause + " at " + place;
}

/// The cases that the program would have worked in as well, after `lead`.
static std::string givenUp(const ModuleGuards::Row &row, llvm::StringRef lead) {
  return row.instead.empty() ? ""
                             : lead.str() + llvm::join(row.instead, " or ");
}

static std::string tableText(const ModuleGuards &guards) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printReport(guards.env(), guards.report(), os);
  for (const ModuleGuards::Row &row : guards.rows())
    if (row.required && !row.instead.empty())
      os << "made for " << row.text << " (" << row.id << ", "
         << causeText(row.cause, row.place) << ')' << givenUp(row, ", not for ")
         << '\n';
  return text;
}

std::string reportGuards(const Session &session) {
  std::string text;
  for (const std::string &line : inputLines(session))
    text += line + '\n';
  for (const std::string &line : symbolLines(session.module()))
    text += line + '\n';
  ModuleGuards guards(session.module());
  for (const ModuleGuards::Row &row : guards.rows()) {
    if (!row.required)
      continue;
    text += row.id + "  " + row.text + "  " +
            (row.declared ? "declared" : "required");
    if (!row.cause.empty())
      text += (row.declared ? ": " : " by ") + causeText(row.cause, row.place);
    text += givenUp(row, "; given up: ") + '\n';
  }
  for (const ModuleGuards::Row &row : guards.rows())
    if (!row.required)
      text += "dropped: " + row.id + " (" + row.text + "), implied by " +
              (row.impliedBy.empty() ? "the declarations"
                                     : llvm::join(row.impliedBy, ", ")) +
              '\n';
  bool propagated = session.stage() && *session.stage() >= Stage::Fake;
  if (propagated && !guards.env().symbols().empty())
    text += '\n' + tableText(guards);
  return text;
}

static llvm::json::Object rowJson(const ModuleGuards::Row &row) {
  llvm::json::Array implied;
  for (const std::string &id : row.impliedBy)
    implied.push_back(id);
  llvm::json::Object object{{"id", row.id},
                            {"guard", row.text},
                            {"cause", row.cause},
                            {"declared", row.declared},
                            {"required", row.required}};
  if (!row.place.empty())
    object["place"] = row.place;
  if (!row.required)
    object["implied_by"] = std::move(implied);
  if (!row.instead.empty())
    object["given_up"] = llvm::json::Array(row.instead);
  return object;
}

static llvm::json::Array sizesJson(const ModuleGuards &guards) {
  llvm::json::Array sizes;
  SpecializationReport report = guards.report();
  for (const SizeReport &size : report.sizes) {
    llvm::json::Array causes;
    for (const Guard *cause : size.causes)
      causes.push_back(llvm::json::Object{
          {"id", cause->id},
          {"cause", causeText(cause->origin.op, cause->origin.source)}});
    sizes.push_back(
        llvm::json::Object{{"size", guards.env().text(size.symbol->expr)},
                           {"asked", size.asked.str()},
                           {"found", foundText(guards.env(), size)},
                           {"forced_by", std::move(causes)},
                           {"suggestion", size.suggestion}});
  }
  return sizes;
}

static std::string printed(llvm::json::Object object) {
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
}

std::string reportGuardsJson(const Session &session) {
  ModuleGuards guards(session.module());
  llvm::json::Array rows, inputs;
  for (const ModuleGuards::Row &row : guards.rows())
    rows.push_back(rowJson(row));
  for (const std::string &line : inputLines(session))
    inputs.push_back(line);
  llvm::json::Object object{{"inputs", std::move(inputs)},
                            {"symbols", symbolsJson(session.module())},
                            {"guards", std::move(rows)},
                            {"sizes", sizesJson(guards)}};
  return printed(std::move(object));
}

/// The sizes that a guard speaks of, with what became of them.
static std::string restricted(const ModuleGuards &guards,
                              const ModuleGuards::Row &row) {
  std::string text;
  SpecializationReport report = guards.report();
  for (const SizeReport &size : report.sizes) {
    bool named = false;
    forEachSymbol(row.predicate,
                  [&](SymExpr s) { named |= s == size.symbol->expr; });
    if (!named)
      continue;
    text += "  " + guards.env().text(size.symbol->expr);
    if (!size.symbol->input.empty())
      text +=
          " (" + size.symbol->input +
          (size.symbol->dim < 0 ? "" : ":" + std::to_string(size.symbol->dim)) +
          ")";
    text += ": asked " + size.asked.str() + ", found " +
            foundText(guards.env(), size);
    if (size.symbol->hint)
      text += ", " + std::to_string(*size.symbol->hint) + " in the example";
    if (!size.suggestion.empty())
      text += "; declare " + size.suggestion;
    text += '\n';
  }
  return text;
}

std::string explainGuard(const Session &session, const std::string &id) {
  ModuleGuards guards(session.module());
  const ModuleGuards::Row *row = guards.find(id);
  if (!row)
    return "";
  std::string text = row->id + ": " + row->text + '\n';
  if (row->declared) {
    text += "declared" + (row->cause.empty() ? "" : ": " + row->cause) + '\n';
  } else {
    text += "The program needs it: " + row->cause + " asked first";
    if (!row->place.empty())
      text += ", at " + row->place;
    text += ".\n";
  }
  if (!row->instead.empty())
    text += "The operator would also work for " +
            llvm::join(row->instead, " or for ") +
            ", but the program is made for the case of the example.\n";
  if (row->required)
    text += "It is checked before each call.\n";
  else if (row->impliedBy.empty())
    text += "It is not checked: it follows from what is declared.\n";
  else
    text += "It is not checked: it follows from " +
            llvm::join(row->impliedBy, " and ") + ".\n";
  std::string sizes = restricted(guards, *row);
  if (!sizes.empty())
    text += "It speaks of\n" + sizes;
  return text;
}

std::string explainGuardJson(const Session &session, const std::string &id) {
  ModuleGuards guards(session.module());
  const ModuleGuards::Row *row = guards.find(id);
  if (!row)
    return "";
  llvm::json::Object object = rowJson(*row);
  object["story"] = explainGuard(session, id);
  llvm::json::Object whole{{"guard", std::move(object)}};
  return printed(std::move(whole));
}

static std::string operandName(mlir::Value value) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
    if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(
            argument.getOwner()->getParentOp()))
      if (auto name = function.getArgAttrOfType<mlir::StringAttr>(
              argument.getArgNumber(), names::kName))
        return "'" + name.str() + "'";
  return nameOf(value);
}

/// Where an operand has the size that a declared one must be, whoever asks for
/// it: "batch is 4 as a size of 'w', float32 [4, 1] cpu".
static void citeOperands(mlir::ModuleOp module, const ShapeEnv &env,
                         const SizeReport &size, llvm::raw_ostream &os) {
  auto isCause = [&](mlir::Operation *op) {
    const Schema *schema = schemaOf(op);
    return schema && llvm::any_of(size.causes, [&](const Guard *guard) {
             return guard->origin.op == schema->base &&
                    guard->origin.source == placeOf(op->getLoc());
           });
  };
  mlir::Operation *cause = nullptr;
  module.walk([&](mlir::Operation *op) {
    cause = isCause(op) ? op : cause;
    return cause ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  if (!cause)
    return;
  for (mlir::Value operand : cause->getOperands()) {
    std::optional<TensorMeta> meta = metaOf(operand);
    if (meta && llvm::is_contained(meta->sizes, Dim(size.found.lo)))
      os << env.text(size.symbol->expr) << " is " << size.found.lo
         << " as a size of " << operandName(operand) << ", " << meta->str()
         << '\n';
  }
}

SizesVerdict judgeSizes(mlir::ModuleOp module, std::string &table) {
  ModuleGuards guards(module);
  SpecializationReport report = guards.report();
  SizesVerdict verdict = SizesVerdict::AsAsked;
  for (const SizeReport &size : report.sizes) {
    if (size.causes.empty())
      continue; // as declared
    if (size.isFixed() && !size.asked.isPoint())
      verdict = SizesVerdict::Fixed;
    else if (verdict == SizesVerdict::AsAsked && size.restricted())
      verdict = SizesVerdict::Restricted;
  }
  if (verdict == SizesVerdict::AsAsked && !report.remaining.empty())
    verdict = SizesVerdict::Restricted;
  if (verdict == SizesVerdict::AsAsked)
    return verdict;
  table = tableText(guards);
  llvm::raw_string_ostream os(table);
  for (const SizeReport &size : report.sizes)
    if (size.isFixed() && !size.asked.isPoint())
      citeOperands(module, guards.env(), size, os);
  return verdict;
}

} // namespace ft
