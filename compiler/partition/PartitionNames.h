//===- PartitionNames.h - Attributes of the partition ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_PARTITION_PARTITIONNAMES_H
#define FORETRACE_COMPILER_PARTITION_PARTITIONNAMES_H

#include "llvm/ADT/StringRef.h"

namespace ft::names {

/// On an operation of a joint graph: unit, what the user wants (KeptValues.h).
inline constexpr llvm::StringLiteral kKeep = "ft.keep";
inline constexpr llvm::StringLiteral kRecompute = "ft.recompute";
/// On an operation of the backward program: unit, forward has done it, too.
inline constexpr llvm::StringLiteral kAgain = "ft.again";
/// On the backward program: the bytes that forward and backward are to work in
/// (i64, symbols at their hints), for which what is done again may be done
/// several times; products among it only with the second (unit).
inline constexpr llvm::StringLiteral kPeak = "ft.peak";
inline constexpr llvm::StringLiteral kPeakByProducts = "ft.peak_by_products";
/// On a result that is saved for the backward pass: why (StringAttr).
inline constexpr llvm::StringLiteral kReason = "ft.reason";

} // namespace ft::names

#endif // FORETRACE_COMPILER_PARTITION_PARTITIONNAMES_H
