//===- Dim.cpp - One size, stride or offset --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/Dim.h"

#include "compiler/shape/Overflow.h"

#include "llvm/ADT/StringExtras.h"

namespace ft {

std::string Dim::str() const {
  return expr ? expr.str() : llvm::itostr(number);
}

static int64_t wrap(uint64_t v) { return static_cast<int64_t>(v); }

using Operation = SymExpr (SymContext::*)(SymExpr, SymExpr);

/// Computes with expressions, at least one of which is symbolic.
static Dim symbolic(Dim a, Dim b, Operation operation) {
  SymContext &context = (a.isStatic() ? b : a).symbolic().context();
  SymExpr result = (context.*operation)(a.toExpr(context), b.toExpr(context));
  return Dim(result ? result : context.freshSymbol(kTooLarge));
}

static bool bothStatic(Dim a, Dim b) { return a.isStatic() && b.isStatic(); }

Dim operator+(Dim a, Dim b) {
  if (!bothStatic(a, b))
    return symbolic(a, b, &SymContext::add);
  return wrap(uint64_t(a.value()) + uint64_t(b.value()));
}
Dim operator-(Dim a, Dim b) {
  if (!bothStatic(a, b))
    return symbolic(a, b, &SymContext::sub);
  return wrap(uint64_t(a.value()) - uint64_t(b.value()));
}
Dim operator*(Dim a, Dim b) {
  if (!bothStatic(a, b))
    return symbolic(a, b, &SymContext::mul);
  return wrap(uint64_t(a.value()) * uint64_t(b.value()));
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = b == -1 ? wrap(-uint64_t(a)) : a / b;
  return b != -1 && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Dim floorDiv(Dim a, Dim b) {
  if (!bothStatic(a, b))
    return symbolic(a, b, &SymContext::floorDiv);
  return floorDivide(a.value(), b.value());
}
Dim ceilDiv(Dim a, Dim b) {
  if (!bothStatic(a, b))
    return symbolic(a, b, &SymContext::ceilDiv);
  return wrap(-uint64_t(floorDivide(wrap(-uint64_t(a.value())), b.value())));
}
Dim mod(Dim a, Dim b) {
  if (!bothStatic(a, b))
    return symbolic(a, b, &SymContext::mod);
  return a - floorDiv(a, b) * b;
}
Dim minDim(Dim a, Dim b) {
  if (!bothStatic(a, b))
    return symbolic(a, b, &SymContext::min);
  return a.value() < b.value() ? a : b;
}
Dim maxDim(Dim a, Dim b) {
  if (!bothStatic(a, b))
    return symbolic(a, b, &SymContext::max);
  return a.value() < b.value() ? b : a;
}

Dim product(llvm::ArrayRef<Dim> dims) {
  Dim n = 1;
  for (Dim d : dims)
    n = n * d;
  return n;
}

/// Whether the sum of sizes may be 0 if each of them may.
static bool mayBeZero(SymExpr e) {
  SymTerm storage;
  SymExpr::Affine sum = e.affine(storage);
  bool grows = llvm::all_of(sum.terms, [](const SymTerm &term) {
    return term.k > 0 && term.expr.kind() <= SymKind::Mul;
  });
  return !(grows && sum.constant > 0);
}

Dim atLeastOne(Dim size) {
  if (size.isStatic())
    return size.is(0) ? Dim(1) : size;
  SymExpr e = size.symbolic();
  if (!mayBeZero(e) || !e.context().hasUnbacked(e))
    return size;
  return maxDim(size, 1);
}

Dims contiguousStrides(llvm::ArrayRef<Dim> sizes) {
  Dims strides(sizes.size());
  Dim running = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = running;
    running = running * atLeastOne(sizes[i]);
  }
  return strides;
}

} // namespace ft
