//===- LinalgTerms.h - Matrices in the rules of autograd -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last two dims of a tensor are a matrix, all others its batch.

#ifndef FORETRACE_COMPILER_AUTOGRAD_RULES_LINALGTERMS_H
#define FORETRACE_COMPILER_AUTOGRAD_RULES_LINALGTERMS_H

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

/// The position of an argument whose name differs from overload to overload.
inline constexpr unsigned kFirst = 0;

/// a b; the zero term if one of them is.
Term product(RuleCall &c, const Term &a, const Term &b);
/// The vector on the diagonal, and the matrix with it there.
Term diagonalOf(RuleCall &c, const Term &a);
Term diagonalMatrix(RuleCall &c, const Term &d);
/// a diag(d), and diag(d) a.
Term scaleColumns(RuleCall &c, const Term &a, const Term &d);
Term scaleRows(RuleCall &c, const Term &d, const Term &a);
/// rows x cols, of the dtype and the device of `like`, without a batch.
Term identity(RuleCall &c, const Dim &rows, const Dim &cols, const Term &like);
/// The triangle below, and the one above with the diagonal. Zero terms stay.
Term strictLower(RuleCall &c, const Term &a);
Term upperTriangle(RuleCall &c, const Term &a);
/// (a + a^H) / 2 and a - a^H. Zero terms stay.
Term hermitian(RuleCall &c, const Term &a);
Term skew(RuleCall &c, const Term &a);
/// As RuleCall::adjoint; zero terms stay.
Term adjointOrZero(RuleCall &c, const Term &a);
/// Columns `start` and on, or rows.
Term columns(RuleCall &c, const Term &a, const Dim &start, const Dim &count);
Term rows(RuleCall &c, const Term &a, const Dim &start, const Dim &count);
Dim rowCount(const Term &a);
Dim columnCount(const Term &a);

/// d_j - d_i at (i, j), and 1 on the diagonal.
Term gaps(RuleCall &c, const Term &d);
/// a / b, and 0 where a is: parts that no gradient reaches stay 0 where b is 0
/// (equal eigenvalues, singular values that are 0).
Term ratio(RuleCall &c, const Term &a, const Term &b);

/// X of t X = b (or X t = b) with a triangular t.
Term solveTriangle(RuleCall &c, const Term &t, const Term &b, bool upper,
                   bool left, bool unitDiagonal = false);
/// X of a X = b.
Term solveMatrix(RuleCall &c, const Term &a, const Term &b);
/// The gradient of A = P L U from that of L and U in one matrix, `packed`.
Term ofPackedFactors(RuleCall &c, const Term &packed, const Term &pivots,
                     const Term &grad, bool pivot);
/// Whether B of a system A X = B holds vectors: as torch.linalg.solve says.
bool holdsVectors(const Term &a, const Term &b);

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_RULES_LINALGTERMS_H
