//===- SymExprPrinter.cpp - Text of symbolic expressions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/SymExpr.h"

#include "llvm/ADT/SmallVector.h"

namespace ft {

namespace {

/// How tightly an expression's outermost operator binds, as in Python.
enum Precedence { kOr, kAnd, kComparison, kSum, kProduct, kPower, kAtom };

class Printer {
public:
  explicit Printer(llvm::raw_ostream &stream) : os(stream) {}

  void print(SymExpr e, Precedence context) {
    bool parens = precedence(e) < context;
    if (parens)
      os << '(';
    body(e);
    if (parens)
      os << ')';
  }

private:
  static Precedence precedence(SymExpr e) {
    switch (e.kind()) {
    case SymKind::Const:
      return e.constant() < 0 ? kSum : kAtom;
    case SymKind::Symbol:
    case SymKind::Min:
    case SymKind::Max:
    case SymKind::Bool:
      return kAtom;
    case SymKind::Add:
      return e.constant() == 0 && e.terms().size() == 1 && e.terms()[0].k > 0
                 ? kProduct
                 : kSum;
    case SymKind::Mul:
      return e.terms().size() == 1 ? kPower : kProduct;
    case SymKind::FloorDiv:
    case SymKind::Mod:
      return kProduct;
    case SymKind::Pow:
      return kPower;
    case SymKind::Eq:
    case SymKind::Ne:
    case SymKind::Le:
      return kComparison;
    case SymKind::And:
      return kAnd;
    case SymKind::Or:
      return kOr;
    }
    return kOr;
  }

  void body(SymExpr e) {
    llvm::ArrayRef<SymTerm> terms = e.terms();
    switch (e.kind()) {
    case SymKind::Const:
      os << e.constant();
      return;
    case SymKind::Symbol:
      os << e.name();
      return;
    case SymKind::Bool:
      os << (e.constant() ? "True" : "False");
      return;
    case SymKind::Add:
      sum(e.constant(), terms);
      return;
    case SymKind::Mul:
      monomial(e);
      return;
    case SymKind::Pow:
      binary(terms, "**");
      return;
    case SymKind::FloorDiv:
      binary(terms, "//");
      return;
    case SymKind::Mod:
      binary(terms, " % ");
      return;
    case SymKind::Min:
    case SymKind::Max:
      os << (e.kind() == SymKind::Min ? "Min(" : "Max(");
      llvm::interleaveComma(terms, os,
                            [&](const SymTerm &t) { print(t.expr, kOr); });
      os << ')';
      return;
    case SymKind::Eq:
    case SymKind::Ne:
    case SymKind::Le:
      comparison(e.kind(), terms[0].expr);
      return;
    case SymKind::And:
    case SymKind::Or: {
      bool isAnd = e.kind() == SymKind::And;
      llvm::interleave(
          terms, os,
          [&](const SymTerm &t) { print(t.expr, isAnd ? kComparison : kAnd); },
          isAnd ? " and " : " or ");
      return;
    }
    }
  }

  void binary(llvm::ArrayRef<SymTerm> terms, llvm::StringRef op) {
    print(terms[0].expr, kAtom);
    os << op;
    print(terms[1].expr, kAtom);
  }

  /// A monomial or atom as a factor of a product.
  void monomial(SymExpr e) {
    if (e.kind() != SymKind::Mul) {
      print(e, kPower);
      return;
    }
    llvm::interleave(
        e.terms(), os,
        [&](const SymTerm &t) {
          print(t.expr, t.k == 1 ? kPower : kAtom);
          if (t.k != 1)
            os << "**" << t.k;
        },
        "*");
  }

  /// |k|·e without its sign.
  void term(int64_t k, SymExpr e, bool alone) {
    uint64_t size = k < 0 ? uint64_t(0) - static_cast<uint64_t>(k) : k;
    if (size != 1) {
      os << size << '*';
      monomial(e);
    } else if (alone) {
      print(e, kProduct);
    } else {
      monomial(e);
    }
  }

  void sum(int64_t constant, llvm::ArrayRef<SymTerm> terms) {
    // A positive constant leads if nothing else is positive: 4 - s0.
    bool constantFirst =
        constant > 0 &&
        llvm::all_of(terms, [](const SymTerm &t) { return t.k < 0; });
    bool first = true;
    if (constantFirst) {
      os << constant;
      first = false;
    }
    for (const SymTerm &t : terms) {
      if (!first)
        os << (t.k < 0 ? " - " : " + ");
      else if (t.k < 0)
        os << '-';
      // "-(a//b)" would read as "(-a)//b".
      term(t.k, t.expr, /*alone=*/!(first && t.k < 0));
      first = false;
    }
    if (constantFirst || constant == 0)
      return;
    uint64_t size =
        constant < 0 ? uint64_t(0) - static_cast<uint64_t>(constant) : constant;
    os << (constant < 0 ? " - " : " + ") << size;
  }

  /// A side of a comparison: the terms of one sign, made positive.
  void side(llvm::ArrayRef<SymTerm> terms, int64_t constant) {
    if (terms.empty())
      os << constant;
    else
      sum(constant, terms);
  }

  /// `d ? 0` with the negative terms brought to the other side.
  void comparison(SymKind kind, SymExpr d) {
    SymTerm storage;
    SymExpr::Affine affine = d.affine(storage);
    llvm::SmallVector<SymTerm, 4> left, right;
    bool movable = affine.constant != INT64_MIN;
    for (const SymTerm &t : affine.terms) {
      movable &= t.k != INT64_MIN;
      if (t.k > 0)
        left.push_back(t);
      else if (movable)
        right.push_back({-t.k, t.expr});
    }
    if (!movable) {
      print(d, kSum);
      os << text(kind) << '0';
      return;
    }
    if (kind == SymKind::Le && left.empty()) {
      // -x + c <= 0 is x >= c.
      side(right, 0);
      os << " >= " << affine.constant;
      return;
    }
    side(left, 0);
    if (kind == SymKind::Le && affine.constant == 1 && !right.empty()) {
      os << " < ";
      side(right, 0);
      return;
    }
    os << text(kind);
    side(right, -affine.constant);
  }

  static llvm::StringRef text(SymKind kind) {
    return kind == SymKind::Eq ? " == " : kind == SymKind::Ne ? " != " : " <= ";
  }

  llvm::raw_ostream &os;
};

} // namespace

void SymExpr::print(llvm::raw_ostream &os) const {
  if (!node) {
    os << "<null>";
    return;
  }
  Printer(os).print(*this, kOr);
}

std::string SymExpr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

} // namespace ft
