//===- SymCanonical.cpp - Canonical forms of expressions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every constructor of SymContext that has something to decide. The rules are
// identities of integers that hold for all values of the symbols (but for
// division by zero, which has no value on either side):
//
//   sums       merge equal monomials, drop zero coefficients
//   products   distribute over sums, merge equal factors
//   division   (c·q + r) // c = q + r // c              exact part shed
//              (g·x + u) // (g·c) = (x + u // g) // c   common factor
//              (y + x // d) // c = (d·y + x) // (d·c)   inner division
//   remainder  (c·q + r) % c = r % c, (x % (c·d)) % c = x % c,
//              (g·x + u) % (g·c) = g·(x % c) + u        for 0 <= u < g
//   Max, Min   flat; of two arguments that differ by a constant one is left
//   relations  one side zero, coprime coefficients, Le rounded to integers

#include "compiler/shape/SymExpr.h"
#include "compiler/shape/SymNode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <numeric>

namespace ft {

using namespace detail;
using Terms = llvm::SmallVector<SymTerm, 4>;

static bool isInteger(SymExpr e) { return e && !e.isPredicate(); }

static uint64_t magnitude(int64_t v) {
  return v < 0 ? uint64_t(0) - static_cast<uint64_t>(v) : v;
}

static bool bySymbolOrder(const SymTerm &a, const SymTerm &b) {
  return SymExpr::compare(a.expr, b.expr) < 0;
}

/// Sorts and merges equal expressions by adding their k; drops k = 0. False on
/// overflow.
static bool normalize(Terms &terms) {
  llvm::sort(terms, bySymbolOrder);
  size_t out = 0;
  for (size_t i = 0; i < terms.size();) {
    SymTerm merged = terms[i++];
    for (; i < terms.size() && terms[i].expr == merged.expr; ++i) {
      std::optional<int64_t> k = checkedAdd(merged.k, terms[i].k);
      if (!k)
        return false;
      merged.k = *k;
    }
    if (merged.k != 0)
      terms[out++] = merged;
  }
  terms.truncate(out);
  return true;
}

/// The positive greatest common divisor of all k; 0 for no terms. It may not
/// fit a signed integer (2^63), in which case the caller gives up on it.
static uint64_t content(llvm::ArrayRef<SymTerm> terms) {
  uint64_t g = 0;
  for (const SymTerm &term : terms)
    g = std::gcd(g, magnitude(term.k));
  return g;
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

SymExpr SymContext::makeSum(int64_t value, llvm::ArrayRef<SymTerm> sorted) {
  if (sorted.empty())
    return constant(value);
  if (value == 0 && sorted.size() == 1 && sorted[0].k == 1)
    return sorted[0].expr;
  return unique(SymKind::Add, value, "", sorted);
}

SymExpr SymContext::makeMonomial(llvm::ArrayRef<SymTerm> sorted) {
  if (sorted.empty())
    return constant(1);
  if (sorted.size() == 1 && sorted[0].k == 1)
    return sorted[0].expr;
  return unique(SymKind::Mul, 0, "", sorted);
}

SymExpr SymContext::sum(int64_t value, llvm::ArrayRef<SymTerm> summands) {
  Terms terms;
  for (const SymTerm &summand : summands) {
    if (!isInteger(summand.expr))
      return {};
    SymTerm storage;
    SymExpr::Affine affine = summand.expr.affine(storage);
    std::optional<int64_t> part = checkedMul(summand.k, affine.constant);
    std::optional<int64_t> total =
        part ? checkedAdd(value, *part) : std::nullopt;
    if (!total)
      return {};
    value = *total;
    for (const SymTerm &term : affine.terms) {
      std::optional<int64_t> k = checkedMul(summand.k, term.k);
      if (!k)
        return {};
      terms.push_back({*k, term.expr});
    }
  }
  if (!normalize(terms))
    return {};
  return makeSum(value, terms);
}

SymExpr SymContext::add(SymExpr a, SymExpr b) {
  return sum(0, {SymTerm{1, a}, SymTerm{1, b}});
}

SymExpr SymContext::sub(SymExpr a, SymExpr b) {
  return sum(0, {SymTerm{1, a}, SymTerm{-1, b}});
}

SymExpr SymContext::scale(SymExpr a, int64_t factor) {
  return sum(0, SymTerm{factor, a});
}

SymExpr SymContext::multiplyMonomials(SymExpr a, SymExpr b) {
  Terms factors;
  for (SymExpr e : {a, b}) {
    if (e.kind() == SymKind::Mul)
      factors.append(e.terms().begin(), e.terms().end());
    else
      factors.push_back({1, e});
  }
  if (!normalize(factors))
    return {};
  return makeMonomial(factors);
}

SymExpr SymContext::mul(SymExpr a, SymExpr b) {
  if (!isInteger(a) || !isInteger(b))
    return {};
  if (a.isConst())
    return scale(b, a.constant());
  if (b.isConst())
    return scale(a, b.constant());
  SymTerm storageA, storageB;
  SymExpr::Affine x = a.affine(storageA), y = b.affine(storageB);
  size_t countA = x.terms.size() + (x.constant != 0);
  size_t countB = y.terms.size() + (y.constant != 0);
  if (countA * countB > kMaxExpandedTerms) {
    // Too large to multiply out: both stay factors.
    return multiplyMonomials(a, b);
  }
  Terms products;
  auto push = [&](int64_t k, int64_t l, SymExpr e) {
    std::optional<int64_t> coefficient = checkedMul(k, l);
    if (!coefficient || !e)
      return false;
    if (*coefficient)
      products.push_back({*coefficient, e});
    return true;
  };
  for (const SymTerm &s : x.terms) {
    for (const SymTerm &t : y.terms)
      if (!push(s.k, t.k, multiplyMonomials(s.expr, t.expr)))
        return {};
    if (!push(s.k, y.constant, s.expr))
      return {};
  }
  for (const SymTerm &t : y.terms)
    if (!push(t.k, x.constant, t.expr))
      return {};
  std::optional<int64_t> value = checkedMul(x.constant, y.constant);
  if (!value || !normalize(products))
    return {};
  return makeSum(*value, products);
}

SymExpr SymContext::pow(SymExpr base, SymExpr exponent) {
  if (!isInteger(base) || !isInteger(exponent))
    return {};
  if (!exponent.isConst())
    return base.isConst(1)
               ? base
               : unique(SymKind::Pow, 0, "", {{1, base}, {1, exponent}});
  int64_t n = exponent.constant();
  if (base.isConst()) {
    std::optional<int64_t> value = checkedPow(base.constant(), n);
    return value ? constant(*value) : SymExpr();
  }
  if (n < 0)
    return {};
  if (n == 0)
    return constant(1);
  if (base.kind() == SymKind::Add) {
    constexpr int64_t kMaxExpandedPower = 8;
    if (n > kMaxExpandedPower &&
        !(base.constant() == 0 && base.terms().size() == 1))
      return makeMonomial(SymTerm{n, base});
    SymExpr result = base;
    if (n <= kMaxExpandedPower) {
      for (int64_t i = 1; i < n; ++i)
        result = mul(result, base);
      return result;
    }
    // k·m to a high power.
    std::optional<int64_t> k = checkedPow(base.terms()[0].k, n);
    return k ? scale(pow(base.terms()[0].expr, exponent), *k) : SymExpr();
  }
  Terms factors;
  if (base.kind() == SymKind::Mul)
    factors.append(base.terms().begin(), base.terms().end());
  else
    factors.push_back({1, base});
  for (SymTerm &factor : factors) {
    std::optional<int64_t> k = checkedMul(factor.k, n);
    if (!k)
      return {};
    factor.k = *k;
  }
  return makeMonomial(factors);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// a = quotient · b + rest, where the rest holds what b does not divide.
struct SymContext::Division {
  SymExpr quotient;
  SymExpr rest;
};

/// Removes the factors of `divisor` from those of `monomial`; false if one is
/// missing.
static bool removeFactors(SymExpr monomial, SymExpr divisor, Terms &left) {
  left.clear();
  if (monomial.kind() == SymKind::Mul)
    left.append(monomial.terms().begin(), monomial.terms().end());
  else
    left.push_back({1, monomial});
  SymTerm single{1, divisor};
  llvm::ArrayRef<SymTerm> factors =
      divisor.kind() == SymKind::Mul ? divisor.terms() : single;
  for (const SymTerm &factor : factors) {
    auto *it = llvm::find_if(
        left, [&](const SymTerm &t) { return t.expr == factor.expr; });
    if (it == left.end() || it->k < factor.k)
      return false;
    it->k -= factor.k;
  }
  llvm::erase_if(left, [](const SymTerm &t) { return t.k == 0; });
  return true;
}

SymContext::Division SymContext::divideOut(SymExpr a, SymExpr b) {
  SymTerm storageA, storageB;
  SymExpr::Affine x = a.affine(storageA), y = b.affine(storageB);
  Terms quotient, rest;
  int64_t quotientConstant = 0, restConstant = x.constant;
  if (b.isConst()) {
    int64_t c = b.constant();
    for (const SymTerm &term : x.terms) {
      if (floorMod(term.k, c) == 0)
        quotient.push_back({*checkedFloorDiv(term.k, c), term.expr});
      else
        rest.push_back(term);
    }
    quotientConstant = *checkedFloorDiv(x.constant, c);
    restConstant = floorMod(x.constant, c);
  } else if (y.terms.size() == 1 && y.constant == 0) {
    Terms left;
    for (const SymTerm &term : x.terms) {
      if (floorMod(term.k, y.terms[0].k) == 0 &&
          checkedFloorDiv(term.k, y.terms[0].k) &&
          removeFactors(term.expr, y.terms[0].expr, left))
        quotient.push_back(
            {*checkedFloorDiv(term.k, y.terms[0].k), makeMonomial(left)});
      else
        rest.push_back(term);
    }
  } else {
    // A sum divides only its own multiples.
    rest.append(x.terms.begin(), x.terms.end());
    int64_t lead = y.terms[0].k;
    const SymTerm *match = llvm::find_if(
        x.terms, [&](const SymTerm &t) { return t.expr == y.terms[0].expr; });
    if (match != x.terms.end() && floorMod(match->k, lead) == 0) {
      std::optional<int64_t> n = checkedFloorDiv(match->k, lead);
      SymExpr multiple = n ? scale(b, *n) : SymExpr();
      if (multiple && multiple == a)
        return {constant(*n), constant(0)};
    }
  }
  return {sum(quotientConstant, quotient), sum(restConstant, rest)};
}

SymExpr SymContext::floorDiv(SymExpr a, SymExpr b) {
  if (!isInteger(a) || !isInteger(b) || b.isConst(0))
    return {};
  SymTerm storage;
  // A positive leading coefficient below: a // b = (-a) // (-b).
  SymExpr::Affine y = b.affine(storage);
  if (b.isConst() ? b.constant() < 0 : y.terms[0].k < 0)
    return floorDiv(scale(a, -1), scale(b, -1));
  if (b.isConst(1))
    return a;
  Division parts = divideOut(a, b);
  if (!parts.quotient || !parts.rest)
    return {};
  SymExpr rest = parts.rest;
  if (rest.isConst(0) ||
      (rest.isConst() && b.isConst() && rest.constant() < b.constant()))
    return parts.quotient;

  // A factor common to the divisor and all coefficients of the rest.
  SymTerm restStorage;
  SymExpr::Affine r = rest.affine(restStorage);
  uint64_t divisorContent =
      b.isConst() ? magnitude(b.constant())
                  : std::gcd(content(y.terms), magnitude(y.constant));
  uint64_t common = std::gcd(content(r.terms), divisorContent);
  // With a symbolic divisor the constant must divide too: the rule rounds it.
  if (!b.isConst())
    common = std::gcd(common, magnitude(r.constant));
  if (common > 1 && common <= INT64_MAX) {
    int64_t g = static_cast<int64_t>(common);
    auto divide = [&](SymExpr::Affine e) {
      Terms terms(e.terms.begin(), e.terms.end());
      for (SymTerm &term : terms)
        term.k /= g;
      return makeSum(*checkedFloorDiv(e.constant, g), terms);
    };
    SymExpr inner = floorDiv(divide(r), b.isConst() ? constant(b.constant() / g)
                                                    : divide(y));
    return add(parts.quotient, inner);
  }

  // A factor common to a divisor of one term and all terms of the rest:
  // (a·x) // (b·x) = a // b.
  if (!b.isConst() && y.terms.size() == 1 && y.constant == 0 &&
      r.constant == 0) {
    SymTerm single{1, y.terms[0].expr};
    llvm::ArrayRef<SymTerm> factors =
        single.expr.kind() == SymKind::Mul ? single.expr.terms() : single;
    Terms left;
    for (const SymTerm &factor : factors) {
      if (!llvm::all_of(r.terms, [&](const SymTerm &t) {
            return removeFactors(t.expr, factor.expr, left);
          }))
        continue;
      Division dividend = divideOut(rest, factor.expr);
      Division divisor = divideOut(b, factor.expr);
      return add(parts.quotient, floorDiv(dividend.quotient, divisor.quotient));
    }
  }

  // (y + x // d) // c = (d·y + x) // (d·c), constants d and c.
  if (b.isConst()) {
    for (const SymTerm &term : r.terms) {
      if (term.k != 1 || term.expr.kind() != SymKind::FloorDiv ||
          !term.expr.terms()[1].expr.isConst())
        continue;
      SymExpr x = term.expr.terms()[0].expr;
      int64_t d = term.expr.terms()[1].expr.constant();
      std::optional<int64_t> divisor = checkedMul(d, b.constant());
      SymExpr others = add(rest, scale(term.expr, -1));
      SymExpr dividend = others ? add(scale(others, d), x) : SymExpr();
      if (!divisor || !dividend)
        continue;
      return add(parts.quotient, floorDiv(dividend, constant(*divisor)));
    }
  }
  SymExpr opaque = unique(SymKind::FloorDiv, 0, "", {{1, rest}, {1, b}});
  return opaque ? add(parts.quotient, opaque) : SymExpr();
}

SymExpr SymContext::mod(SymExpr a, SymExpr b) {
  if (!isInteger(a) || !isInteger(b) || b.isConst(0))
    return {};
  SymTerm storage;
  SymExpr::Affine y = b.affine(storage);
  if (b.isConst() ? b.constant() < 0 : y.terms[0].k < 0) {
    // a % -b = -((-a) % b)
    SymExpr positive = mod(scale(a, -1), scale(b, -1));
    return positive ? scale(positive, -1) : SymExpr();
  }
  if (b.isConst(1))
    return constant(0);
  if (!b.isConst()) {
    Division parts = divideOut(a, b);
    if (!parts.rest || parts.rest.isConst(0))
      return parts.rest;
    return unique(SymKind::Mod, 0, "", {{1, parts.rest}, {1, b}});
  }

  int64_t c = b.constant();
  // Inner remainders by a multiple of c fall away; coefficients are taken
  // modulo c.
  SymTerm storageA;
  SymExpr::Affine x = a.affine(storageA);
  Terms terms;
  int64_t value = floorMod(x.constant, c);
  for (const SymTerm &term : x.terms) {
    int64_t k = floorMod(term.k, c);
    if (k == 0)
      continue;
    if (term.expr.kind() == SymKind::Mod &&
        term.expr.terms()[1].expr.isConst() &&
        floorMod(term.expr.terms()[1].expr.constant(), c) == 0)
      terms.push_back({k, term.expr.terms()[0].expr});
    else
      terms.push_back({k, term.expr});
  }
  SymExpr reduced = sum(value, terms);
  if (!reduced)
    return {};
  if (reduced != a)
    return mod(reduced, b);
  if (a.isConst())
    return a;

  uint64_t common = std::gcd(content(x.terms), magnitude(c));
  if (common > 1) {
    int64_t g = static_cast<int64_t>(common);
    Terms divided(x.terms.begin(), x.terms.end());
    for (SymTerm &term : divided)
      term.k /= g;
    SymExpr inner =
        mod(makeSum(*checkedFloorDiv(x.constant, g), divided), constant(c / g));
    return inner ? sum(floorMod(x.constant, g), SymTerm{g, inner}) : SymExpr();
  }
  return unique(SymKind::Mod, 0, "", {{1, a}, {1, b}});
}

SymExpr SymContext::ceilDiv(SymExpr a, SymExpr b) {
  if (!isInteger(a) || !isInteger(b))
    return {};
  if (b.isConst() && b.constant() > 0)
    return floorDiv(sum(b.constant() - 1, SymTerm{1, a}), b);
  SymExpr down = floorDiv(scale(a, -1), b);
  return down ? scale(down, -1) : SymExpr();
}

//===----------------------------------------------------------------------===//
// Min, Max, predicates
//===----------------------------------------------------------------------===//

static bool sameTerms(llvm::ArrayRef<SymTerm> a, llvm::ArrayRef<SymTerm> b) {
  return llvm::equal(a, b, [](const SymTerm &s, const SymTerm &t) {
    return s.k == t.k && s.expr == t.expr;
  });
}

SymExpr SymContext::extremum(SymKind kind, llvm::ArrayRef<SymExpr> args) {
  if (args.empty())
    return {};
  llvm::SmallVector<SymExpr, 4> flat;
  for (SymExpr arg : args) {
    if (!isInteger(arg))
      return {};
    if (arg.kind() == kind)
      for (const SymTerm &term : arg.terms())
        flat.push_back(term.expr);
    else
      flat.push_back(arg);
  }
  llvm::SmallVector<SymExpr, 4> kept;
  for (SymExpr arg : flat) {
    SymTerm storage;
    SymExpr::Affine x = arg.affine(storage);
    bool replaced = false;
    for (SymExpr &other : kept) {
      SymTerm otherStorage;
      SymExpr::Affine y = other.affine(otherStorage);
      if (!sameTerms(x.terms, y.terms))
        continue;
      bool better = kind == SymKind::Max ? x.constant > y.constant
                                         : x.constant < y.constant;
      if (better)
        other = arg;
      replaced = true;
      break;
    }
    if (!replaced)
      kept.push_back(arg);
    if (kept.size() > kMaxSize)
      return {};
  }
  // No value is beyond 64 bits: x[:9223372036854775807] is all of x.
  int64_t limit = kind == SymKind::Min ? std::numeric_limits<int64_t>::max()
                                       : std::numeric_limits<int64_t>::min();
  if (kept.size() > 1)
    llvm::erase_if(kept, [&](SymExpr arg) {
      return arg.isConst() && arg.constant() == limit;
    });
  if (kept.size() == 1)
    return kept[0];
  // Constants first, as Max(1, u0).
  llvm::sort(kept, [](SymExpr a, SymExpr b) {
    if (a.isConst() != b.isConst())
      return a.isConst();
    return SymExpr::compare(a, b) < 0;
  });
  Terms terms;
  for (SymExpr arg : kept)
    terms.push_back({1, arg});
  return unique(kind, 0, "", terms);
}

SymExpr SymContext::min(llvm::ArrayRef<SymExpr> args) {
  return extremum(SymKind::Min, args);
}
SymExpr SymContext::max(llvm::ArrayRef<SymExpr> args) {
  return extremum(SymKind::Max, args);
}

SymExpr SymContext::relation(SymKind kind, SymExpr difference) {
  if (!isInteger(difference))
    return {};
  if (difference.isConst()) {
    int64_t v = difference.constant();
    return boolean(kind == SymKind::Eq   ? v == 0
                   : kind == SymKind::Ne ? v != 0
                                         : v <= 0);
  }
  SymTerm storage;
  SymExpr::Affine d = difference.affine(storage);
  uint64_t common = content(d.terms);
  if (common > INT64_MAX)
    return unique(kind, 0, "", SymTerm{1, difference});
  int64_t g = static_cast<int64_t>(common);
  int64_t sign = 1;
  int64_t value = 0;
  if (kind == SymKind::Le) {
    // k·m + v <= 0 over the integers: round v/g up.
    value = *checkedFloorDiv(d.constant, g) + (floorMod(d.constant, g) != 0);
  } else {
    if (floorMod(d.constant, g) != 0)
      return boolean(kind == SymKind::Ne);
    value = d.constant / g;
    sign = d.terms[0].k < 0 ? -1 : 1;
  }
  Terms terms(d.terms.begin(), d.terms.end());
  for (SymTerm &term : terms) {
    std::optional<int64_t> k = checkedMul(term.k / g, sign);
    if (!k)
      return {};
    term.k = *k;
  }
  std::optional<int64_t> signedValue = checkedMul(value, sign);
  SymExpr canonical = signedValue ? makeSum(*signedValue, terms) : SymExpr();
  return canonical ? unique(kind, 0, "", SymTerm{1, canonical}) : SymExpr();
}

SymExpr SymContext::eq(SymExpr a, SymExpr b) {
  return relation(SymKind::Eq, sum(0, {{1, a}, {-1, b}}));
}
SymExpr SymContext::ne(SymExpr a, SymExpr b) {
  return relation(SymKind::Ne, sum(0, {{1, a}, {-1, b}}));
}
SymExpr SymContext::le(SymExpr a, SymExpr b) {
  return relation(SymKind::Le, sum(0, {{1, a}, {-1, b}}));
}
SymExpr SymContext::lt(SymExpr a, SymExpr b) {
  return relation(SymKind::Le, sum(1, {{1, a}, {-1, b}}));
}

SymExpr SymContext::logicalNot(SymExpr a) {
  if (!a || !a.isPredicate())
    return {};
  switch (a.kind()) {
  case SymKind::Bool:
    return boolean(!a.constant());
  case SymKind::Eq:
    return relation(SymKind::Ne, a.terms()[0].expr);
  case SymKind::Ne:
    return relation(SymKind::Eq, a.terms()[0].expr);
  case SymKind::Le: // not (d <= 0) is 1 - d <= 0
    return relation(SymKind::Le, sum(1, SymTerm{-1, a.terms()[0].expr}));
  default:
    break;
  }
  llvm::SmallVector<SymExpr, 4> negated;
  for (const SymTerm &term : a.terms())
    negated.push_back(logicalNot(term.expr));
  return a.kind() == SymKind::And ? logicalOr(negated) : logicalAnd(negated);
}

SymExpr SymContext::connective(SymKind kind, llvm::ArrayRef<SymExpr> args) {
  bool neutral = kind == SymKind::And;
  llvm::SmallVector<SymExpr, 4> flat;
  for (SymExpr arg : args) {
    if (!arg || !arg.isPredicate())
      return {};
    if (arg.kind() == SymKind::Bool) {
      if (bool(arg.constant()) != neutral)
        return arg;
    } else if (arg.kind() == kind) {
      for (const SymTerm &term : arg.terms())
        flat.push_back(term.expr);
    } else {
      flat.push_back(arg);
    }
  }
  llvm::sort(flat,
             [](SymExpr a, SymExpr b) { return SymExpr::compare(a, b) < 0; });
  flat.erase(llvm::unique(flat), flat.end());
  if (flat.empty())
    return boolean(neutral);
  if (flat.size() == 1)
    return flat[0];
  Terms terms;
  for (SymExpr arg : flat)
    terms.push_back({1, arg});
  return unique(kind, 0, "", terms);
}

SymExpr SymContext::logicalAnd(llvm::ArrayRef<SymExpr> args) {
  return connective(SymKind::And, args);
}
SymExpr SymContext::logicalOr(llvm::ArrayRef<SymExpr> args) {
  return connective(SymKind::Or, args);
}

} // namespace ft
