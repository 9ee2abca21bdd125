//===- Gauge.h - Factors that are unique up to sign or basis ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_GAUGE_H
#define FORETRACE_TESTS_CONFORMANCE_GAUGE_H

#include "tests/conformance/HostTensor.h"
#include "tests/conformance/OpCase.h"

#include <optional>
#include <string>

namespace ft::conformance {

/// Two right decompositions of one matrix need not have an element in common:
/// an eigenvector's sign, or the basis of a repeated eigenvalue's space, is the
/// algorithm's choice. Instead of comparing such factors this checks what makes
/// them factors, for each matrix of a batch:
///
///   eigh   V diag(L) V* = A,  V* V = 1      (A from one triangle)
///   eig    A V = V diag(L),  columns of length 1
///   eigvals  the sums of the powers of L are the traces of those of A
///   svd    U diag(S) Vh = A,  U* U = 1,  Vh Vh* = 1
///   qr     Q R = A,  Q* Q = 1,  R upper triangular   (mode "r": R* R = A* A)
///   geqrf  Q R = A with Q from the reflectors, Q* Q = 1
///
/// Nothing if that holds, otherwise what does not. The bound is the tolerance
/// of accumulated values, relative to the largest element of A.
std::optional<std::string> checkFactors(const OpCase &call,
                                        llvm::ArrayRef<TensorView> inputs,
                                        llvm::ArrayRef<TensorView> outputs);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_GAUGE_H
