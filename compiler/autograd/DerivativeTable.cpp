//===- DerivativeTable.cpp - The derivative of each overload ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

#include "compiler/autograd/FormulaFunctions.h"

#include "llvm/Support/GlobPattern.h"

namespace ft {

namespace {
/// The tables, by overload. Built once, when the first derivative is asked for.
class Table {
public:
  Table() : entries(SchemaTable::get().all().size()) {
#define FT_PARTIAL(overload, argument, text)                                   \
  addFormula(overload, argument, text, true);
#define FT_GRADIENT(overload, argument, text)                                  \
  addFormula(overload, argument, text, false);
#define FT_EXPAND(overload, text) addExpansion(overload, text);
#define FT_CONSTANT(overload) addConstant(overload);
#define FT_CONSTANT_RESULTS(overload, first, last)                             \
  addConstantResults(overload, first, last);
#include "compiler/autograd/Formulas.def"
#define FT_DERIVATIVE_FAMILY(name) addFunctions(name##Derivatives());
#define FT_EXPAND_FAMILY(name) addExpansions(name##Expansions());
#include "compiler/autograd/Families.def"
    for (const Schema &schema : SchemaTable::get().all()) {
      Derivative &entry = entries[schema.index];
      // Gamma numbers follow their shapes, by a derivative that has no code.
      bool followsShape = schema.base == "_standard_gamma" ||
                          schema.base == "_sample_dirichlet";
      bool constant = schema.family == "factory" || schema.family == "assert" ||
                      schema.family == "sym" ||
                      (schema.family == "random" && !followsShape);
      if (constant && entry.kind == Derivative::Missing && !entry.expands())
        entry.kind = Derivative::Constant;
    }
    // Last, so that what they name is complete.
#define FT_SAME(overload, other) addSame(overload, other);
#include "compiler/autograd/Formulas.def"
  }

  const Derivative &entry(const Schema &schema) const {
    return entries[schema.index];
  }
  const std::vector<std::string> &problems() const { return wrong; }

private:
  void complain(llvm::StringRef overload, const llvm::Twine &what) {
    wrong.push_back((overload + ": " + what).str());
  }

  const Schema *find(llvm::StringRef overload) {
    const Schema *schema = SchemaTable::get().find(overload);
    if (!schema)
      complain(overload, "there is no such overload");
    return schema;
  }

  std::optional<Formula> parse(const Schema &schema, llvm::StringRef text) {
    llvm::Expected<Formula> formula = Formula::parse(text);
    if (!formula) {
      complain(schema.name, llvm::toString(formula.takeError()));
      return std::nullopt;
    }
    for (const std::string &name : formula->argumentNames())
      if (schema.argIndex(name) < 0)
        complain(schema.name, "it has no argument '" + name + "'");
    for (const std::string &name : formula->operatorNames())
      if (!isOperator(name))
        complain(schema.name, "there is no operator '" + name + "'");
    return std::move(*formula);
  }

  static bool isOperator(llvm::StringRef name) {
    if (name.contains('.'))
      return SchemaTable::get().find(name);
    return llvm::any_of(SchemaTable::get().all(),
                        [&](const Schema &s) { return s.base == name; });
  }

  void addFormula(llvm::StringRef overload, llvm::StringRef argument,
                  llvm::StringRef text, bool isPartial) {
    const Schema *schema = find(overload);
    if (!schema)
      return;
    if (schema->argIndex(argument) < 0)
      return complain(overload, "it has no argument '" + argument + "'");
    Derivative &entry = claim(*schema, Derivative::Formulas);
    for (const Derivative::Row &row : entry.formulas)
      if (row.argument == argument)
        complain(overload, "argument '" + argument + "' has two formulas");
    if (std::optional<Formula> formula = parse(*schema, text))
      entry.formulas.push_back(
          {argument.str(), isPartial, std::move(*formula)});
  }

  /// An overload has one kind of derivative.
  Derivative &claim(const Schema &schema, Derivative::Kind kind) {
    Derivative &entry = entries[schema.index];
    if (entry.kind != Derivative::Missing &&
        (entry.kind != kind || kind != Derivative::Formulas))
      complain(schema.name, "it has two derivatives");
    entry.kind = kind;
    return entry;
  }

  void addExpansion(llvm::StringRef overload, llvm::StringRef text) {
    const Schema *schema = find(overload);
    if (!schema)
      return;
    std::vector<Formula> &expansion = entries[schema->index].expansion;
    if (expansion.size() == schema->returns.size())
      return complain(overload, "it has more expansions than results");
    if (std::optional<Formula> formula = parse(*schema, text))
      expansion.push_back(std::move(*formula));
  }

  void addConstant(llvm::StringRef overload) {
    if (const Schema *schema = find(overload))
      claim(*schema, Derivative::Constant);
  }

  void addConstantResults(llvm::StringRef overload, unsigned first,
                          unsigned last) {
    const Schema *schema = find(overload);
    if (!schema)
      return;
    if (first > last || last >= schema->returns.size())
      return complain(overload, "it has no such results");
    for (unsigned r = first; r <= last; ++r)
      entries[schema->index].constantResults |= 1u << r;
  }

  void addFunctions(llvm::ArrayRef<DerivativeRow> rows) {
    for (const DerivativeRow &row : rows)
      if (const Schema *schema = find(row.name))
        claim(*schema, Derivative::Function).function = row.function;
  }

  void addExpansions(llvm::ArrayRef<ExpandRow> rows) {
    for (const ExpandRow &row : rows)
      if (const Schema *schema = find(row.name)) {
        if (std::exchange(entries[schema->index].expand, row.function))
          complain(row.name, "it has two expansions");
      }
  }

  void addSame(llvm::StringRef overload, llvm::StringRef other) {
    const Schema *schema = find(overload), *source = find(other);
    if (!schema || !source)
      return;
    const Derivative &from = entries[source->index];
    if (from.kind == Derivative::Missing && !from.expands())
      complain(overload, "'" + other + "' has no derivative");
    for (const Derivative::Row &row : from.formulas)
      if (schema->argIndex(row.argument) < 0)
        complain(overload, "it has no argument '" + row.argument + "'");
    if (entries[schema->index].kind != Derivative::Missing)
      complain(overload, "it has two derivatives");
    entries[schema->index] = from;
  }

  std::vector<Derivative> entries;
  std::vector<std::string> wrong;
};
} // namespace

static const Table &table() {
  static const Table built;
  return built;
}

const Derivative &derivativeOf(const Schema &schema) {
  return table().entry(schema);
}

//===----------------------------------------------------------------------===//
// Overloads without one
//===----------------------------------------------------------------------===//

namespace {
struct WithoutRow {
  const char *names, *why;
};
} // namespace

static constexpr WithoutRow kWithout[] = {
#define FT_WITHOUT(names, why) {names, why},
#include "compiler/autograd/Without.def"
};

/// The row that `overload` is of; null: none.
static const WithoutRow *withoutRow(llvm::StringRef overload) {
  static const std::vector<llvm::GlobPattern> patterns = [] {
    std::vector<llvm::GlobPattern> all;
    for (const WithoutRow &row : kWithout)
      all.push_back(llvm::cantFail(llvm::GlobPattern::create(row.names)));
    return all;
  }();
  for (auto [row, pattern] : llvm::zip(kWithout, patterns))
    if (pattern.match(overload))
      return &row;
  return nullptr;
}

/// A gradient could flow through it: it reads a tensor and gives one.
static bool computesTensors(const Schema &schema) {
  auto isTensor = [](const SchemaType &type) {
    return type.kind == SchemaType::Tensor;
  };
  return llvm::any_of(schema.returns, isTensor) &&
         llvm::any_of(schema.args,
                      [&](const SchemaArg &arg) { return isTensor(arg.type); });
}

/// Where a row says so an expansion is for calls that no gradient flows
/// through.
static bool isWithout(const Schema &schema) {
  const Derivative &entry = derivativeOf(schema);
  return entry.kind == Derivative::Missing &&
         (!entry.expands() || withoutRow(schema.name));
}

std::string whyNoDerivative(const Schema &schema) {
  if (!isWithout(schema))
    return "";
  if (const WithoutRow *row = withoutRow(schema.name))
    return row->why;
  return computesTensors(schema) ? "" : "it makes no tensor of a tensor";
}

std::vector<std::string> checkDerivativeTables() {
  std::vector<std::string> problems = table().problems();
  llvm::DenseSet<const WithoutRow *> used;
  for (const Schema &schema : SchemaTable::get().all()) {
    if (schema.mutates || !computesTensors(schema) || !isWithout(schema))
      continue;
    const WithoutRow *row = withoutRow(schema.name);
    if (!row)
      problems.push_back(schema.name.str() +
                         ": it has no derivative, and no row in Without.def");
    used.insert(row);
  }
  for (const WithoutRow &row : kWithout)
    if (!used.contains(&row))
      problems.push_back(std::string(row.names) +
                         ": no overload needs this row of Without.def");
  return problems;
}

} // namespace ft
