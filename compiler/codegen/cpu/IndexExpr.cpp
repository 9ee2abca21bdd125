//===- IndexExpr.cpp - Integer expressions over loop counters -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/IndexExpr.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

namespace ft {

int64_t IndexExpr::coefficient(unsigned atom) const {
  for (auto [id, c] : terms)
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
      int64_t c = a.terms[i].second + b.terms[j].second;
      if (c)
        r.terms.push_back({a.terms[i].first, c});
      ++i, ++j;
    }
  }
  return r;
}

IndexExpr operator*(const IndexExpr &a, int64_t c) {
  if (c == 0)
    return IndexExpr();
  IndexExpr r = a;
  r.constant *= c;
  for (auto &t : r.terms)
    t.second *= c;
  return r;
}

unsigned IndexSpace::addCounter(mlir::Value value, int64_t size,
                                int64_t divisor) {
  atoms.push_back({Kind::Counter, value, std::max<int64_t>(size, 1), divisor,
                   IndexExpr(), 1});
  return atoms.size() - 1;
}

unsigned IndexSpace::addLanes(mlir::Value value, int64_t size) {
  atoms.push_back(
      {Kind::Lanes, value, std::max<int64_t>(size, 1), 1, IndexExpr(), 1});
  return atoms.size() - 1;
}

IndexExpr IndexSpace::of(unsigned atom) const {
  // A loop of one step is no loop: its counter is 0.
  if (atoms[atom].size == 1)
    return IndexExpr();
  IndexExpr e;
  e.terms.push_back({atom, 1});
  return e;
}

std::pair<int64_t, int64_t> IndexSpace::range(const IndexExpr &e) const {
  // Divisions are negative where numerators are; sizes only bound from above,
  // so the lower end of a division is computed.
  int64_t lo = e.constant, hi = e.constant;
  for (auto [id, c] : e.terms) {
    int64_t aLo = 0, aHi = atoms[id].size - 1;
    if (atoms[id].kind == Kind::Division) {
      auto [nLo, nHi] = range(atoms[id].numerator);
      aLo = llvm::divideFloorSigned(nLo, atoms[id].denominator);
      aHi = llvm::divideFloorSigned(nHi, atoms[id].denominator);
    }
    lo += c * (c > 0 ? aLo : aHi);
    hi += c * (c > 0 ? aHi : aLo);
  }
  return {lo, hi};
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

bool IndexSpace::dividesBy(const IndexExpr &e, unsigned atom) const {
  for (auto [id, c] : e.terms)
    if (atoms[id].kind == Kind::Division &&
        dependsOn(atoms[id].numerator, atom))
      return true;
  return false;
}

int64_t IndexSpace::divisor(const IndexExpr &e) const {
  int64_t g = std::abs(e.constant);
  for (auto [id, c] : e.terms)
    g = std::gcd(g, c * atoms[id].divisor);
  return g; // 0: the value is 0, which everything divides
}

IndexExpr IndexSpace::division(const IndexExpr &e, int64_t c) {
  for (unsigned i = 0; i < atoms.size(); ++i)
    if (atoms[i].kind == Kind::Division && atoms[i].denominator == c &&
        atoms[i].numerator == e)
      return of(i);
  auto [lo, hi] = range(e);
  int64_t top = llvm::divideFloorSigned(hi, c);
  int64_t g = divisor(e);
  int64_t divisor = g != 0 && g % c == 0 ? g / c : 1;
  // Size 2 at least: `of` drops counters that can only be 0, but a division may
  // be negative.
  atoms.push_back({Kind::Division, mlir::Value(), std::max<int64_t>(top + 1, 2),
                   divisor, e, c});
  IndexExpr r;
  r.terms.push_back({unsigned(atoms.size() - 1), 1});
  return r;
}

IndexExpr IndexSpace::floorDiv(const IndexExpr &e, int64_t c) {
  if (c == 1)
    return e;
  // What c divides moves out.
  IndexExpr whole, rest;
  whole.constant = llvm::divideFloorSigned(e.constant, c);
  rest.constant = e.constant - whole.constant * c;
  for (auto [id, k] : e.terms) {
    if (k % c == 0)
      whole.terms.push_back({id, k / c});
    else
      rest.terms.push_back({id, k});
  }
  auto inside = [&](const IndexExpr &x, int64_t limit) {
    auto [lo, hi] = range(x);
    return lo >= 0 && hi < limit;
  };
  if (inside(rest, c))
    return whole;
  // (g * a + b) floordiv (g * d) is a floordiv d when 0 <= b < g.
  llvm::SmallVector<int64_t, 4> candidates;
  for (auto [id, k] : rest.terms)
    candidates.push_back(std::gcd(k, c));
  std::sort(candidates.begin(), candidates.end(), std::greater<>());
  for (int64_t g : candidates) {
    if (g <= 1)
      break;
    IndexExpr a, b;
    a.constant = llvm::divideFloorSigned(rest.constant, g);
    b.constant = rest.constant - a.constant * g;
    for (auto [id, k] : rest.terms) {
      if (k % g == 0)
        a.terms.push_back({id, k / g});
      else
        b.terms.push_back({id, k});
    }
    if (inside(b, g))
      return whole + floorDiv(a, c / g);
  }
  // (e floordiv a) floordiv b is e floordiv (a * b).
  if (rest.constant == 0 && rest.terms.size() == 1 &&
      rest.terms[0].second == 1) {
    const Atom &a = atoms[rest.terms[0].first];
    if (a.kind == Kind::Division) {
      IndexExpr numerator = a.numerator;
      return whole + floorDiv(numerator, a.denominator * c);
    }
  }
  return whole + division(rest, c);
}

IndexExpr IndexSpace::mod(const IndexExpr &e, int64_t c) {
  return e + floorDiv(e, c) * -c;
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
    return floorDiv(l + IndexExpr(r.constant - 1), r.constant);
  case mlir::AffineExprKind::Mod:
    return mod(l, r.constant);
  default:
    return IndexExpr();
  }
}

} // namespace ft
