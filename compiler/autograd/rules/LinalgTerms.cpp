//===- LinalgTerms.cpp - Matrices in the rules of autograd -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/rules/LinalgTerms.h"

namespace ft {

Term product(RuleCall &c, const Term &a, const Term &b) {
  if (a.isZero() || b.isZero())
    return {};
  return c.call("matmul", {a, b});
}

Term diagonalOf(RuleCall &c, const Term &a) {
  return c.call("diagonal", {a, 0, -2, -1});
}

Term diagonalMatrix(RuleCall &c, const Term &d) {
  return d.isZero() ? d : c.call("diag_embed", {d});
}

Term scaleColumns(RuleCall &c, const Term &a, const Term &d) {
  if (a.isZero() || d.isZero())
    return {};
  return c.mul(a, c.call("unsqueeze", {d, -2}));
}

Term scaleRows(RuleCall &c, const Term &d, const Term &a) {
  if (a.isZero() || d.isZero())
    return {};
  return c.mul(a, c.call("unsqueeze", {d, -1}));
}

Term identity(RuleCall &c, const Dim &rows, const Dim &cols, const Term &like) {
  TensorMeta meta = RuleCall::meta(like);
  return c.call("eye.m", {rows, cols, Term(meta.dtype).named("dtype"),
                          Term(Arg::ofDevice(meta.device)).named("device")});
}

Term strictLower(RuleCall &c, const Term &a) {
  return a.isZero() ? a : c.call("tril", {a, -1});
}

Term upperTriangle(RuleCall &c, const Term &a) {
  return a.isZero() ? a : c.call("triu", {a});
}

Term adjointOrZero(RuleCall &c, const Term &a) {
  return a.isZero() ? a : c.adjoint(a);
}

Term hermitian(RuleCall &c, const Term &a) {
  return c.mul(c.add(a, adjointOrZero(c, a)), 0.5);
}

Term skew(RuleCall &c, const Term &a) { return c.sub(a, adjointOrZero(c, a)); }

Term columns(RuleCall &c, const Term &a, const Dim &start, const Dim &count) {
  return a.isZero() ? a : c.call("narrow", {a, -1, start, count});
}

Term rows(RuleCall &c, const Term &a, const Dim &start, const Dim &count) {
  return a.isZero() ? a : c.call("narrow", {a, -2, start, count});
}

Dim rowCount(const Term &a) {
  Dims sizes = RuleCall::sizes(a);
  return sizes[sizes.size() - 2];
}

Dim columnCount(const Term &a) { return RuleCall::sizes(a).back(); }

Term gaps(RuleCall &c, const Term &d) {
  Dim n = columnCount(d);
  Term gap = c.sub(c.call("unsqueeze", {d, -2}), c.call("unsqueeze", {d, -1}));
  return c.add(gap, identity(c, n, n, d));
}

Term ratio(RuleCall &c, const Term &a, const Term &b) {
  if (a.isZero())
    return a;
  return c.call("masked_fill", {c.div(a, b), c.call("eq", {a, 0}), 0});
}

Term solveTriangle(RuleCall &c, const Term &t, const Term &b, bool upper,
                   bool left, bool unitDiagonal) {
  if (b.isZero())
    return b;
  return c.call("linalg_solve_triangular",
                {t, b, Term(upper).named("upper"), Term(left).named("left"),
                 Term(unitDiagonal).named("unitriangular")});
}

Term solveMatrix(RuleCall &c, const Term &a, const Term &b) {
  return b.isZero() ? b : c.call("_linalg_solve_ex", {a, b});
}

bool holdsVectors(const Term &a, const Term &b) {
  Dims left = RuleCall::sizes(a), right = RuleCall::sizes(b);
  if (right.size() == 1)
    return true;
  return right.size() + 1 == left.size() &&
         llvm::ArrayRef<Dim>(left).drop_back() == llvm::ArrayRef<Dim>(right);
}

} // namespace ft
