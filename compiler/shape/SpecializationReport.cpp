//===- SpecializationReport.cpp - What a program forces --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The guards are added one by one to the declared facts; after each, what is
// known of every size is compared with what is known in the end, and the first
// that brings it there is the cause. What is known is read off the solved form:
// a constant, 4·t + 1 with a parameter t, or an expression of other sizes.
//
// A suggestion is a predicate. It is shown only if the guards imply it (it
// excludes nothing that works), and the suggestions together are checked to
// imply the guards (they exclude all that does not).

#include "compiler/shape/SpecializationReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <array>
#include <cstdlib>
#include <numeric>

namespace ft {

namespace {

/// What a set of facts says of one size.
struct Knowledge {
  Interval range;
  SymExpr relation;
  int64_t multiple = 1;
  int64_t remainder = 0;
};

class Analysis {
public:
  Analysis(const ShapeEnv &shapes, FactBase facts)
      : base(std::move(facts)), env(shapes), ctx(shapes.context()) {}

  FactBase base;

  Knowledge of(size_t symbol) {
    const SymbolInfo &info = env.symbols()[symbol];
    Knowledge k;
    k.range = base.tightBounds(info.expr);
    if (k.range.isPoint())
      return k;
    k.relation = relation(symbol);
    SymExpr form = base.solvedForm(info.expr);
    SymTerm storage;
    SymExpr::Affine affine = form.affine(storage);
    uint64_t step = 0;
    for (const SymTerm &term : affine.terms)
      step = std::gcd(step, static_cast<uint64_t>(std::llabs(term.k)));
    if (!k.relation && step > 1 && step < INT32_MAX) {
      k.multiple = static_cast<int64_t>(step);
      int64_t rest = affine.constant % k.multiple;
      k.remainder = rest < 0 ? rest + k.multiple : rest;
    }
    return k;
  }

private:
  /// An older size first: b = a + 1, or b = 3·a; else any expression of sizes.
  SymExpr relation(size_t symbol) {
    SymExpr mine = base.solvedForm(env.symbols()[symbol].expr);
    SymTerm storage, otherStorage;
    SymExpr::Affine x = mine.affine(storage);
    for (size_t i = 0; i < symbol; ++i) {
      const SymbolInfo &other = env.symbols()[i];
      SymExpr::Affine y = base.solvedForm(other.expr).affine(otherStorage);
      if (x.terms.empty() || x.terms.size() != y.terms.size())
        continue;
      int64_t factor = y.terms[0].k ? x.terms[0].k / y.terms[0].k : 0;
      bool proportional =
          factor != 0 &&
          llvm::all_of(llvm::zip(x.terms, y.terms), [&](auto pair) {
            auto [s, t] = pair;
            return s.expr == t.expr && t.k * factor == s.k;
          });
      if (proportional)
        return ctx.sum(0, {SymTerm{factor, other.expr},
                           SymTerm{1, ctx.constant(x.constant)},
                           SymTerm{-factor, ctx.constant(y.constant)}});
    }
    if (mine == env.symbols()[symbol].expr)
      return {};
    bool ofSizes = true;
    forEachSymbol(mine, [&](SymExpr s) { ofSizes &= !base.isParameter(s); });
    return ofSizes ? mine : SymExpr();
  }

  const ShapeEnv &env;
  SymContext &ctx;
};

} // namespace

/// The only sizes that the facts leave, of a small range with gaps; else none.
static llvm::SmallVector<int64_t, 8> membersOf(FactBase &base,
                                               const SizeReport &size) {
  constexpr int64_t kWidest = 64;
  constexpr size_t kMost = 8;
  SymContext &ctx = base.context();
  llvm::SmallVector<int64_t, 8> members;
  auto [low, high] = size.found;
  if (high == Interval::kMax || low == Interval::kMin || high - low > kWidest)
    return {};
  for (int64_t v = low; v <= high; ++v) {
    SymExpr is = ctx.eq(size.symbol->expr, ctx.constant(v));
    if (base.query(is) != Answer::Refuted)
      members.push_back(v);
    if (members.size() > kMost)
      return {};
  }
  bool hasGaps = static_cast<int64_t>(members.size()) <= high - low;
  return hasGaps ? members : llvm::SmallVector<int64_t, 8>();
}

/// The new declaration as a fact, with its text.
static SymExpr suggest(const ShapeEnv &env, FactBase &base, SizeReport &size) {
  SymContext &ctx = env.context();
  SymExpr symbol = size.symbol->expr;
  std::string name = env.text(symbol);
  std::string range =
      size.found == size.asked ? "" : "[" + size.found.str() + "]";
  if (size.isFixed()) {
    size.suggestion = name + " = " + std::to_string(size.found.lo);
    return ctx.eq(symbol, ctx.constant(size.found.lo));
  }
  SymExpr fact = ctx.boolean(true);
  if (size.relation) {
    size.suggestion = name + " = " + env.text(size.relation);
    fact = ctx.eq(symbol, size.relation);
  } else if (size.multiple != 1) {
    size.suggestion =
        llvm::formatv("{0}{1} = {2}*_{0}", name, range, size.multiple).str();
    if (size.remainder)
      size.suggestion += " + " + std::to_string(size.remainder);
    fact = ctx.eq(ctx.mod(symbol, ctx.constant(size.multiple)),
                  ctx.constant(size.remainder));
  } else if (!range.empty()) {
    llvm::SmallVector<SymExpr, 8> cases;
    std::string list;
    for (int64_t member : membersOf(base, size)) {
      cases.push_back(ctx.eq(symbol, ctx.constant(member)));
      list += (list.empty() ? "" : ",") + std::to_string(member);
    }
    size.suggestion = name + (list.empty() ? range : "{" + list + "}");
    if (!cases.empty())
      return ctx.logicalOr(cases);
  }
  llvm::SmallVector<SymExpr, 4> parts{fact};
  if (size.found.lo != Interval::kMin)
    parts.push_back(ctx.ge(symbol, ctx.constant(size.found.lo)));
  if (size.found.hi != Interval::kMax)
    parts.push_back(ctx.le(symbol, ctx.constant(size.found.hi)));
  return ctx.logicalAnd(parts);
}

SpecializationReport reportSpecializations(const ShapeEnv &env) {
  SpecializationReport report;
  llvm::SmallVector<size_t> backed;
  for (auto [i, info] : llvm::enumerate(env.symbols()))
    if (info.backed)
      backed.push_back(i);

  // Knowledge after each guard; the last is what is reported.
  llvm::SmallVector<const Guard *> guards;
  for (const GuardStatus &status : env.minimalGuards())
    if (!status.guard->atRunTime)
      guards.push_back(status.guard);
  Analysis analysis(env, env.declaredFacts());
  std::vector<llvm::SmallVector<Knowledge, 4>> history;
  auto record = [&] {
    llvm::SmallVector<Knowledge, 4> row;
    for (size_t symbol : backed)
      row.push_back(analysis.of(symbol));
    history.push_back(std::move(row));
  };
  record();
  for (const Guard *guard : guards) {
    analysis.base.assume(guard->predicate);
    record();
  }

  FactBase suggested = env.declaredFacts();
  for (auto [i, symbol] : llvm::enumerate(backed)) {
    const SymbolInfo &info = env.symbols()[symbol];
    SizeReport size;
    size.symbol = &info;
    size.asked = info.range;
    const Knowledge &final = history.back()[i];
    size.found = final.range;
    size.relation = final.relation;
    size.multiple = final.multiple;
    size.remainder = final.remainder;
    // The first guard from which on a part is as in the end.
    auto addCause = [&](auto part) {
      if (part(history.front()[i]) == part(final))
        return;
      size_t g = guards.size() - 1;
      while (part(history[g][i]) == part(final))
        --g;
      if (!llvm::is_contained(size.causes, guards[g]))
        size.causes.push_back(guards[g]);
    };
    if (!size.isFixed()) {
      addCause([](const Knowledge &k) { return k.relation; });
      addCause([](const Knowledge &k) {
        return std::pair(k.multiple, k.remainder);
      });
    }
    if (!size.relation)
      addCause(
          [](const Knowledge &k) { return std::pair(k.range.lo, k.range.hi); });
    // What declarations already say needs no suggestion.
    if (size.restricted() && !size.causes.empty()) {
      SymExpr fact = suggest(env, analysis.base, size);
      if (analysis.base.query(fact) == Answer::Proved)
        suggested.assume(fact);
      else
        size.suggestion.clear();
    }
    report.sizes.push_back(std::move(size));
  }
  for (const GuardStatus &status : env.minimalGuards())
    if (!status.guard->atRunTime && status.required &&
        suggested.query(status.guard->predicate) != Answer::Proved)
      report.remaining.push_back(status.guard);
  report.sufficient = report.remaining.empty();
  return report;
}

std::string foundText(const ShapeEnv &env, const SizeReport &size) {
  if (size.isFixed())
    return std::to_string(size.found.lo);
  std::string text;
  if (size.relation)
    return env.text(size.relation);
  if (size.multiple != 1) {
    text = "multiple of " + std::to_string(size.multiple);
    if (size.remainder)
      text += " plus " + std::to_string(size.remainder);
    if (size.found != size.asked)
      text += ", ";
  }
  if (size.multiple == 1 || size.found != size.asked)
    text += size.found.str();
  return text;
}

static std::string describe(llvm::ArrayRef<const Guard *> causes) {
  std::string text;
  for (const Guard *cause : causes) {
    std::string one = cause->origin.op;
    if (!cause->origin.source.empty())
      one += (one.empty() ? "" : " at ") + cause->origin.source;
    text += (text.empty() || one.empty() ? "" : ", ") + one;
  }
  return text;
}

void printReport(const ShapeEnv &env, const SpecializationReport &report,
                 llvm::raw_ostream &os) {
  std::vector<std::array<std::string, 5>> rows;
  rows.push_back({"size", "asked", "found", "first forced by", "suggestion"});
  for (const SizeReport &size : report.sizes)
    rows.push_back({env.text(size.symbol->expr), size.asked.str(),
                    foundText(env, size), describe(size.causes),
                    size.suggestion});
  std::array<size_t, 5> widths{};
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    os << llvm::StringRef(line).rtrim() << '\n';
  }
  for (const Guard *guard : report.remaining)
    os << "also needed: " << env.text(guard->predicate) << " (" << guard->id
       << (describe(guard).empty() ? "" : ", ") << describe(guard) << ")\n";
}

} // namespace ft
