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
  llvm::SmallVectorImpl<SizeCode::Step> &steps;
  llvm::SmallVectorImpl<Value> &conditions;
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
  Value add(Value x, Value y) {
    Value sum = arith::AddIOp::create(b, loc, x, y);
    steps.push_back({sum});
    return sum;
  }
  Value multiply(Value x, Value y, Value matters = {}) {
    Value product = arith::MulIOp::create(b, loc, x, y);
    steps.push_back({product, matters});
    return product;
  }
  Value scaled(const SymTerm &t) {
    Value v = emit(t.expr);
    return t.k == 1 ? v : multiply(v, number(t.k));
  }
  Value power(Value base, int64_t exponent) {
    Value all = base;
    for (int64_t i = 1; i < exponent; ++i)
      all = multiply(all, base);
    return all;
  }
  /// At least 1, so that it can divide.
  Value divisor(SymExpr e) {
    if (e.isConst())
      return number(e.constant() ? e.constant() : 1);
    return arith::MaxSIOp::create(b, loc, emit(e), number(1));
  }
  Value compare(arith::CmpIPredicate p, Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, p, x, number(y));
  }
  Value compareZero(arith::CmpIPredicate p, SymExpr e) {
    return compare(p, emit(e), 0);
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
        sum = sum ? add(sum, v) : v;
      }
      return e.constant() ? add(sum, number(e.constant())) : sum;
    }
    case SymKind::Mul: {
      Value all;
      for (const SymTerm &t : terms) {
        Value v = power(emit(t.expr), t.k);
        all = all ? multiply(all, v) : v;
      }
      return all;
    }
    case SymKind::Pow: {
      // By repeated multiplication; exponents of sizes are small. Without a
      // loop: base ** exponent for exponents below 64.
      Value base = emit(terms[0].expr), exponent = emit(terms[1].expr);
      conditions.push_back(compare(arith::CmpIPredicate::ult, exponent, 64));
      Value all = number(1);
      Value square = base;
      for (int bit = 0; bit < 6; ++bit) {
        int64_t weight = int64_t(1) << bit;
        if (bit)
          square =
              multiply(square, square,
                       compare(arith::CmpIPredicate::sge, exponent, weight));
        Value set =
            compare(arith::CmpIPredicate::ne,
                    arith::AndIOp::create(b, loc, exponent, number(weight)), 0);
        all = arith::SelectOp::create(b, loc, set, multiply(all, square, set),
                                      all);
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
  return Emitter{b, loc, known, steps, conditions, symbol}.emit(e);
}

/// A sum has left 64 bits if both operands have one sign and it has the other;
/// a product, if its upper half is not the sign of its lower.
static Value stepIsExact(OpBuilder &b, Location loc, Operation *step) {
  auto wide = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  };
  auto compare = [&](arith::CmpIPredicate p, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, p, x, y);
  };
  Value x = wide(step->getOperand(0)), y = wide(step->getOperand(1));
  if (isa<arith::AddIOp>(step)) {
    Value r = wide(step->getResult(0));
    Value turned =
        arith::AndIOp::create(b, loc, arith::XOrIOp::create(b, loc, x, r),
                              arith::XOrIOp::create(b, loc, y, r));
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    return compare(arith::CmpIPredicate::sge, turned, zero);
  }
  auto product = arith::MulSIExtendedOp::create(b, loc, x, y);
  Value bits = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(63));
  Value sign = arith::ShRSIOp::create(b, loc, product.getLow(), bits);
  return compare(arith::CmpIPredicate::eq, product.getHigh(), sign);
}

Value SizeCode::isExact(OpBuilder &b, Location loc) {
  for (const Step &step : steps) {
    Value exact = stepIsExact(b, loc, step.result.getDefiningOp());
    if (step.matters) {
      Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
      exact = arith::SelectOp::create(b, loc, step.matters, exact, yes);
    }
    conditions.push_back(exact);
  }
  Value all;
  for (Value condition : conditions)
    all = all ? arith::AndIOp::create(b, loc, all, condition).getResult()
              : condition;
  steps.clear();
  conditions.clear();
  return all;
}

} // namespace ft
