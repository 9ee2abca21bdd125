//===- ModuleSymbols.cpp - The symbols and facts of a program --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/ModuleSymbols.h"

#include "compiler/import/pt2/SymText.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtOps.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace ft::pt2 {

void ModuleSymbols::addSymbols(SymExpr e) {
  llvm::StringSet<> free;
  e.collectSymbols(free);
  for (llvm::StringRef name : free.keys())
    symbols[name.str()];
}

/// Takes the hint and source of a symbol that stands alone.
void ModuleSymbols::addSource(SymExpr e, const std::string &source,
                              std::optional<int64_t> hint) {
  addSymbols(e);
  if (e.kind() != SymKind::Symbol)
    return;
  Symbol &symbol = symbols[e.name().str()];
  if (symbol.source.empty())
    symbol.source = source;
  if (!symbol.hint)
    symbol.hint = hint;
}

void ModuleSymbols::addTensor(const TensorMeta &meta, const TensorInfo &info,
                              llvm::StringRef input) {
  tensors[input] = meta;
  for (auto [i, size] : llvm::enumerate(meta.sizes))
    if (!size.isStatic())
      addSource(size.symbolic(), (input + ":" + llvm::Twine(i)).str(),
                info.sizes[i].hint);
}

void ModuleSymbols::addInteger(const Dim &dim, std::optional<int64_t> hint,
                               llvm::StringRef input) {
  integers[input] = dim;
  if (!dim.isStatic())
    addSource(dim.symbolic(), input.str(), hint);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Takes k*s + c <= 0 into the range of s.
bool ModuleSymbols::narrow(SymExpr condition) {
  if (condition.kind() != SymKind::Le)
    return false;
  SymTerm storage;
  SymExpr::Affine sum = condition.terms()[0].expr.affine(storage);
  if (sum.terms.size() != 1 || sum.terms[0].expr.kind() != SymKind::Symbol ||
      sum.constant == std::numeric_limits<int64_t>::min())
    return false;
  Symbol &symbol = symbols[sum.terms[0].expr.name().str()];
  if (int64_t k = sum.terms[0].k; k > 0) {
    int64_t bound = llvm::divideFloorSigned(-sum.constant, k);
    symbol.upper = symbol.upper ? std::min(*symbol.upper, bound) : bound;
  } else {
    int64_t bound = llvm::divideCeilSigned(-sum.constant, k);
    symbol.lower = symbol.lower ? std::max(*symbol.lower, bound) : bound;
  }
  return true;
}

/// False if it can never hold.
bool ModuleSymbols::addCondition(SymExpr condition, llvm::StringRef cause) {
  if (condition.kind() == SymKind::And)
    return llvm::all_of(condition.terms(), [&](const SymTerm &part) {
      return addCondition(part.expr, cause);
    });
  if (condition.kind() == SymKind::Bool)
    return condition.isTrue();
  addSymbols(condition);
  if (narrow(condition))
    return true;
  std::string relation = condition.str();
  if (llvm::none_of(facts,
                    [&](const Fact &f) { return f.relation == relation; }))
    facts.push_back({std::move(relation), cause.str()});
  return true;
}

/// The least size that the tracer makes a symbol for.
static constexpr int64_t kTracedLower = 2;

/// A bound of 2 that was asked for looks the same; to accept what is smaller is
/// no error.
void ModuleSymbols::addTracedLower(const Range &range) {
  llvm::Expected<SymExpr> e = parseSymText(context, range.symbol);
  if (!e)
    return llvm::consumeError(e.takeError());
  if (e->kind() == SymKind::Symbol && range.lower == kTracedLower &&
      !context.hasUnbacked(*e))
    symbols[e->name().str()].tracedLower = kTracedLower;
}

/// Whether a bound of k*s + c only repeats that of s.
bool ModuleSymbols::isTraced(SymExpr e, int64_t lower) const {
  SymTerm storage;
  SymExpr::Affine sum = e.affine(storage);
  if (sum.terms.size() != 1 || sum.terms[0].expr.kind() != SymKind::Symbol ||
      sum.terms[0].k <= 0)
    return false;
  auto it = symbols.find(sum.terms[0].expr.name().str());
  int64_t least;
  return it != symbols.end() && it->second.tracedLower &&
         !llvm::MulOverflow(sum.terms[0].k, *it->second.tracedLower, least) &&
         !llvm::AddOverflow(least, sum.constant, least) && lower <= least;
}

/// `n - 1 != 1`, `1 < n - 1`, `n - 1 >= 2`: a size made of those of inputs is
/// taken to be no 0 or 1. Of a plain size (`n != 1`) only the program can say
/// so.
static bool isTracedGuard(llvm::StringRef guard) {
  llvm::StringRef size;
  if (guard.starts_with("1 < "))
    size = guard.drop_front(4);
  else if (guard.ends_with(" != 0") || guard.ends_with(" != 1") ||
           guard.ends_with(" >= 2"))
    size = guard.drop_back(5);
  return size.find_first_of("+*/%") != llvm::StringRef::npos &&
         !size.contains(" and ") && !size.contains(" or ") &&
         size.find_first_of("<>=!") == llvm::StringRef::npos;
}

void ModuleSymbols::addRange(const Range &range) {
  llvm::Expected<SymExpr> e = parseSymText(context, range.symbol);
  if (!e || e->isPredicate()) {
    // A name that is no symbol's cannot be one of the graph's, either.
    if (!e)
      llvm::consumeError(e.takeError());
    return;
  }
  addSymbols(*e);
  auto add = [&](SymExpr condition) {
    if (condition)
      addCondition(condition, "the range of " + range.symbol);
  };
  if (range.lower && !isTraced(*e, *range.lower))
    add(context.ge(*e, context.constant(*range.lower)));
  if (range.upper)
    add(context.le(*e, context.constant(*range.upper)));
}

std::optional<Dim> ModuleSymbols::find(const GuardTerm &term) const {
  if (term.kind == GuardTerm::Value) {
    auto it = integers.find(term.input);
    return it == integers.end() ? std::nullopt : std::optional(it->second);
  }
  auto it = tensors.find(term.input);
  if (it == tensors.end())
    return std::nullopt;
  const TensorMeta &meta = it->second;
  if (term.kind == GuardTerm::Offset)
    return meta.offset;
  const Dims &dims = term.kind == GuardTerm::Size ? meta.sizes : meta.strides;
  return term.dim < dims.size() ? std::optional(dims[term.dim]) : std::nullopt;
}

void ModuleSymbols::addConditions(const Program &program,
                                  mlir::Location location) {
  for (const Range &range : program.ranges)
    addTracedLower(range);
  for (const Range &range : program.ranges)
    addRange(range);
  for (const std::string &text : program.guards) {
    if (isTracedGuard(text))
      continue;
    std::string why;
    llvm::Expected<SymExpr> guard = parseGuard(
        context, text, [&](const GuardTerm &term) { return find(term); });
    if (!guard)
      why = takeDiagnostics(guard.takeError())[0].message;
    else if (!addCondition(*guard, text))
      why = "the guard '" + text + "' of the archive can never hold";
    if (!why.empty())
      mlir::emitRemark(location)
          << "[" << diagCode(DiagId::GuardNotRead) << "] " << why;
  }
}

void ModuleSymbols::build(mlir::OpBuilder &builder) const {
  auto number = [&](std::optional<int64_t> v) {
    return v ? builder.getI64IntegerAttr(*v) : mlir::IntegerAttr();
  };
  auto text = [&](const std::string &s) {
    return s.empty() ? mlir::StringAttr() : builder.getStringAttr(s);
  };
  for (const auto &[name, symbol] : symbols) {
    std::optional<int64_t> lower = symbol.lower, traced = symbol.tracedLower;
    if (traced && !lower)
      lower = 0;
    if (traced && *lower >= *traced)
      traced.reset();
    SymbolOp::create(
        builder, builder.getUnknownLoc(), builder.getStringAttr(name),
        number(lower), number(symbol.upper), number(symbol.hint),
        text(symbol.source), /*title=*/mlir::StringAttr(), number(traced));
  }
  for (const Fact &fact : facts)
    FactOp::create(builder, builder.getUnknownLoc(),
                   builder.getStringAttr(fact.relation), text(fact.cause),
                   /*id=*/mlir::StringAttr(), /*place=*/mlir::StringAttr(),
                   /*implied_by=*/mlir::ArrayAttr());
}

} // namespace ft::pt2
