//===- SizeCode.cpp - Code that computes a size ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/SizeCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

namespace {
struct Emitter {
  OpBuilder &b;
  Location loc;
  llvm::DenseMap<SymExpr, Value> &known;
  SizeCode::Symbol symbol;

  Value number(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }
  Value truth(bool v) {
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(v));
  }
  template <typename Op>
  Value fold(ArrayRef<SymTerm> terms) {
    Value all;
    for (const SymTerm &t : terms) {
      Value v = emit(t.expr);
      all = all ? Op::create(b, loc, all, v).getResult() : v;
    }
    return all;
  }
  Value scaled(const SymTerm &t) {
    Value v = emit(t.expr);
    return t.k == 1 ? v
                    : arith::MulIOp::create(b, loc, v, number(t.k)).getResult();
  }
  Value power(Value base, int64_t exponent) {
    Value all = base;
    for (int64_t i = 1; i < exponent; ++i)
      all = arith::MulIOp::create(b, loc, all, base);
    return all;
  }
  /// At least 1, so that it can divide.
  Value divisor(SymExpr e) {
    if (e.isConst())
      return number(e.constant() ? e.constant() : 1);
    return arith::MaxSIOp::create(b, loc, emit(e), number(1));
  }
  Value compareZero(arith::CmpIPredicate p, SymExpr e) {
    return arith::CmpIOp::create(b, loc, p, emit(e), number(0));
  }

  Value emit(SymExpr e) {
    if (Value v = known.lookup(e))
      return v;
    Value v = emitNew(e);
    known[e] = v;
    return v;
  }

  Value emitNew(SymExpr e) {
    ArrayRef<SymTerm> terms = e.terms();
    switch (e.kind()) {
    case SymKind::Const:
      return number(e.constant());
    case SymKind::Symbol:
      return symbol(e.name());
    case SymKind::Add: {
      Value sum;
      for (const SymTerm &t : terms) {
        Value v = scaled(t);
        sum = sum ? arith::AddIOp::create(b, loc, sum, v).getResult() : v;
      }
      if (!e.constant())
        return sum;
      return arith::AddIOp::create(b, loc, sum, number(e.constant()));
    }
    case SymKind::Mul: {
      Value all;
      for (const SymTerm &t : terms) {
        Value v = power(emit(t.expr), t.k);
        all = all ? arith::MulIOp::create(b, loc, all, v).getResult() : v;
      }
      return all;
    }
    case SymKind::Pow: {
      // By repeated multiplication; exponents of sizes are small. Without a
      // loop: base ** exponent for exponents below 64.
      Value base = emit(terms[0].expr), exponent = emit(terms[1].expr);
      Value all = number(1);
      Value square = base;
      for (int bit = 0; bit < 6; ++bit) {
        Value set = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::ne,
            arith::AndIOp::create(b, loc, exponent, number(int64_t(1) << bit)),
            number(0));
        Value with = arith::MulIOp::create(b, loc, all, square);
        all = arith::SelectOp::create(b, loc, set, with, all);
        square = arith::MulIOp::create(b, loc, square, square);
      }
      return all;
    }
    case SymKind::FloorDiv:
      return arith::FloorDivSIOp::create(b, loc, emit(terms[0].expr),
                                         divisor(terms[1].expr));
    case SymKind::Mod: {
      Value a = emit(terms[0].expr), c = divisor(terms[1].expr);
      Value q = arith::FloorDivSIOp::create(b, loc, a, c);
      return arith::SubIOp::create(b, loc, a,
                                   arith::MulIOp::create(b, loc, q, c));
    }
    case SymKind::Min:
      return fold<arith::MinSIOp>(terms);
    case SymKind::Max:
      return fold<arith::MaxSIOp>(terms);
    case SymKind::Bool:
      return truth(e.isTrue());
    case SymKind::Eq:
      return compareZero(arith::CmpIPredicate::eq, terms[0].expr);
    case SymKind::Ne:
      return compareZero(arith::CmpIPredicate::ne, terms[0].expr);
    case SymKind::Le:
      return compareZero(arith::CmpIPredicate::sle, terms[0].expr);
    case SymKind::And:
      return fold<arith::AndIOp>(terms);
    case SymKind::Or:
      return fold<arith::OrIOp>(terms);
    }
    return number(0);
  }
};
} // namespace

Value SizeCode::emit(OpBuilder &b, Location loc, Dim d, Symbol symbol) {
  if (d.isStatic())
    return arith::ConstantIndexOp::create(b, loc, d.value());
  return emit(b, loc, d.symbolic(), symbol);
}

Value SizeCode::emit(OpBuilder &b, Location loc, SymExpr e, Symbol symbol) {
  return Emitter{b, loc, known, symbol}.emit(e);
}

} // namespace ft
