//===- IndexExpr.cpp - Integer expressions over loop counters -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/IndexExpr.h"

#include "compiler/codegen/cpu/KernelSizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

namespace ft {

std::optional<Dim> exactQuotient(Dim a, Dim c) {
  if (c.is(0))
    return std::nullopt;
  if (a.isStatic() && c.isStatic())
    return a.value() % c.value() ? std::nullopt
                                 : std::optional(Dim(a.value() / c.value()));
  if (a.isStatic())
    return a.is(0) ? std::optional(Dim(0)) : std::nullopt;
  Dim q = ft::floorDiv(a, c);
  return q * c == a ? std::optional(q) : std::nullopt;
}

int64_t knownDivisor(Dim d) {
  if (d.isStatic())
    return std::abs(d.value());
  SymTerm storage;
  SymExpr::Affine sum = d.symbolic().affine(storage);
  int64_t g = std::abs(sum.constant);
  for (const SymTerm &t : sum.terms)
    g = std::gcd(g, t.k);
  return g;
}

Dim IndexExpr::coefficient(unsigned atom) const {
  for (const auto &[id, c] : terms)
    if (id == atom)
      return c;
  return 0;
}

IndexExpr operator+(const IndexExpr &a, const IndexExpr &b) {
  IndexExpr r(a.constant + b.constant);
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() ||
        (i < a.terms.size() && a.terms[i].first < b.terms[j].first)) {
      r.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].first < a.terms[i].first) {
      r.terms.push_back(b.terms[j++]);
    } else {
      Dim c = a.terms[i].second + b.terms[j].second;
      if (!c.is(0))
        r.terms.push_back({a.terms[i].first, c});
      ++i, ++j;
    }
  }
  return r;
}

IndexExpr operator*(const IndexExpr &a, Dim c) {
  if (c.is(0))
    return IndexExpr();
  IndexExpr r = a;
  r.constant = r.constant * c;
  for (auto &t : r.terms)
    t.second = t.second * c;
  return r;
}

/// What a counter runs over, as `size` says it: no loop has no steps.
static Dim atomSize(Dim size) {
  return size.isStatic() ? Dim(std::max<int64_t>(size.value(), 1)) : size;
}

unsigned IndexSpace::addCounter(mlir::Value value, Dim size, int64_t divisor) {
  atoms.push_back(
      {Kind::Counter, value, atomSize(size), divisor, IndexExpr(), 1});
  return atoms.size() - 1;
}

unsigned IndexSpace::addLanes(mlir::Value value, Dim size) {
  atoms.push_back({Kind::Lanes, value, atomSize(size), 1, IndexExpr(), 1});
  return atoms.size() - 1;
}

IndexExpr IndexSpace::of(unsigned atom) const {
  // A loop of one step is no loop: its counter is 0.
  if (atoms[atom].size.is(1))
    return IndexExpr();
  IndexExpr e;
  e.terms.push_back({atom, 1});
  return e;
}

bool IndexSpace::nonNegative(Dim d) const {
  if (d.isStatic())
    return d.value() >= 0;
  SymContext &context = d.symbolic().context();
  FactBase *facts = sizes ? sizes->facts() : nullptr;
  return facts && facts->query(context.ge(d.symbolic(), context.constant(0))) ==
                      Answer::Proved;
}

bool IndexSpace::nonNegative(const IndexExpr &e) const {
  auto r = range(e);
  return r && nonNegative(r->first);
}

bool IndexSpace::within(const IndexExpr &e, Dim low, Dim high) const {
  auto r = range(e);
  return r && nonNegative(r->first - low) && nonNegative(high - 1 - r->second);
}

std::optional<std::pair<Dim, Dim>> IndexSpace::range(const IndexExpr &e) const {
  // Divisions are negative where numerators are; sizes only bound from above,
  // so the lower end of a division is computed.
  Dim lo = e.constant, hi = e.constant;
  for (const auto &[id, c] : e.terms) {
    Dim aLo = 0, aHi = atoms[id].size - 1;
    if (atoms[id].kind == Kind::Division) {
      auto n = range(atoms[id].numerator);
      if (!n)
        return std::nullopt;
      aLo = ft::floorDiv(n->first, atoms[id].denominator);
      aHi = ft::floorDiv(n->second, atoms[id].denominator);
    }
    bool up = nonNegative(c);
    if (!up && !nonNegative(c * -1))
      return std::nullopt;
    lo = lo + c * (up ? aLo : aHi);
    hi = hi + c * (up ? aHi : aLo);
  }
  return std::pair(lo, hi);
}

bool IndexSpace::dependsOn(const IndexExpr &e, unsigned atom) const {
  for (auto [id, c] : e.terms) {
    if (id == atom)
      return true;
    if (atoms[id].kind == Kind::Counter)
      continue;
    // Lanes of which nothing is known depend on everything.
    if (atoms[id].kind == Kind::Lanes && atoms[id].value)
      return true;
    if (dependsOn(atoms[id].numerator, atom))
      return true;
  }
  return false;
}

bool IndexSpace::hasValue(const IndexExpr &e) const {
  return llvm::all_of(e.terms, [&](const auto &term) {
    const Atom &a = atoms[term.first];
    return a.kind == Kind::Division ? hasValue(a.numerator) : bool(a.value);
  });
}

bool IndexSpace::dividesBy(const IndexExpr &e, unsigned atom) const {
  for (auto [id, c] : e.terms)
    if (atoms[id].kind == Kind::Division &&
        dependsOn(atoms[id].numerator, atom))
      return true;
  return false;
}

int64_t IndexSpace::divisor(const IndexExpr &e) const {
  int64_t g = knownDivisor(e.constant);
  for (const auto &[id, c] : e.terms)
    g = std::gcd(g, knownDivisor(c) * atoms[id].divisor);
  return g; // 0: the value is 0, which everything divides
}

IndexExpr IndexSpace::division(const IndexExpr &e, Dim c) {
  for (unsigned i = 0; i < atoms.size(); ++i)
    if (atoms[i].kind == Kind::Division && atoms[i].denominator == c &&
        atoms[i].numerator == e)
      return of(i);
  auto r = range(e);
  // Size 2 at least: `of` drops counters that can only be 0, but a division may
  // be negative.
  Dim size = r ? ft::floorDiv(r->second, c) + 1 : Dim(int64_t(1) << 62);
  if (size.isStatic())
    size = std::max<int64_t>(size.value(), 2);
  int64_t g = divisor(e), divisor = 1;
  if (c.isStatic() && g != 0 && g % c.value() == 0)
    divisor = g / c.value();
  atoms.push_back({Kind::Division, mlir::Value(), size, divisor, e, c});
  IndexExpr quotient;
  quotient.terms.push_back({unsigned(atoms.size() - 1), 1});
  return quotient;
}

/// Common divisors of a coefficient and a denominator, the large ones first.
static void commonDivisors(Dim k, Dim c, llvm::SmallVectorImpl<Dim> &divisors) {
  if (k.isStatic() && c.isStatic()) {
    divisors.push_back(std::gcd(k.value(), c.value()));
    return;
  }
  if (exactQuotient(c, k))
    divisors.push_back(k);
  divisors.push_back(std::gcd(knownDivisor(k), knownDivisor(c)));
}

IndexExpr IndexSpace::floorDiv(const IndexExpr &e, Dim c) {
  if (c.is(1))
    return e;
  // What c divides moves out.
  IndexExpr whole, rest;
  if (e.constant.isStatic() && c.isStatic()) {
    whole.constant = llvm::divideFloorSigned(e.constant.value(), c.value());
    rest.constant = e.constant - whole.constant * c;
  } else if (auto q = exactQuotient(e.constant, c)) {
    whole.constant = *q;
  } else {
    rest.constant = e.constant;
  }
  for (const auto &[id, k] : e.terms) {
    if (auto q = exactQuotient(k, c))
      whole.terms.push_back({id, *q});
    else
      rest.terms.push_back({id, k});
  }
  if (within(rest, 0, c))
    return whole;
  // (g * a + b) floordiv (g * d) is a floordiv d when 0 <= b < g.
  llvm::SmallVector<Dim, 4> candidates;
  for (const auto &[id, k] : rest.terms)
    commonDivisors(k, c, candidates);
  llvm::sort(candidates, [](const Dim &a, const Dim &b) {
    if (a.isStatic() != b.isStatic())
      return b.isStatic();
    return a.isStatic() && a.value() > b.value();
  });
  for (const Dim &g : candidates) {
    if (g.isStatic() && g.value() <= 1)
      continue;
    IndexExpr a, b;
    if (rest.constant.isStatic() && g.isStatic()) {
      a.constant = llvm::divideFloorSigned(rest.constant.value(), g.value());
      b.constant = rest.constant - a.constant * g;
    } else if (auto q = exactQuotient(rest.constant, g)) {
      a.constant = *q;
    } else {
      b.constant = rest.constant;
    }
    for (const auto &[id, k] : rest.terms) {
      if (auto q = exactQuotient(k, g))
        a.terms.push_back({id, *q});
      else
        b.terms.push_back({id, k});
    }
    if (within(b, 0, g))
      return whole + floorDiv(a, *exactQuotient(c, g));
  }
  // (e floordiv a) floordiv b is e floordiv (a * b).
  if (rest.constant.is(0) && rest.terms.size() == 1 &&
      rest.terms[0].second.is(1)) {
    const Atom &a = atoms[rest.terms[0].first];
    if (a.kind == Kind::Division) {
      IndexExpr numerator = a.numerator;
      return whole + floorDiv(numerator, a.denominator * c);
    }
  }
  return whole + division(rest, c);
}

IndexExpr IndexSpace::mod(const IndexExpr &e, Dim c) {
  return e + floorDiv(e, c) * (c * -1);
}

IndexExpr IndexSpace::evaluate(mlir::AffineExpr expr,
                               llvm::ArrayRef<IndexExpr> dims) {
  if (auto d = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return dims[d.getPosition()];
  if (auto c = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return IndexExpr(c.getValue());
  auto bin = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  IndexExpr l = evaluate(bin.getLHS(), dims);
  IndexExpr r = evaluate(bin.getRHS(), dims);
  switch (expr.getKind()) {
  case mlir::AffineExprKind::Add:
    return l + r;
  case mlir::AffineExprKind::Mul:
    return r.isConstant() ? l * r.constant : r * l.constant;
  case mlir::AffineExprKind::FloorDiv:
    return floorDiv(l, r.constant);
  case mlir::AffineExprKind::CeilDiv:
    return floorDiv(l + IndexExpr(r.constant - Dim(1)), r.constant);
  case mlir::AffineExprKind::Mod:
    return mod(l, r.constant);
  default:
    return IndexExpr();
  }
}

} // namespace ft
