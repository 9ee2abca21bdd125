//===- AffineSystem.h - Emptiness of affine constraints --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_AFFINESYSTEM_H
#define FORETRACE_COMPILER_SHAPE_AFFINESYSTEM_H

#include "compiler/shape/FactBase.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir::presburger {
class Simplex;
} // namespace mlir::presburger

namespace ft {

/// Asks whether a hypothesis is compatible with the facts that share symbols
/// with it (directly or through others), as a system of linear constraints over
/// the integers. A small system is decided by the simplex of MLIR's Presburger
/// library, with branches on coordinates that are no integers; a large one, or
/// one with too many branches, is refuted by Elimination.h or left open. (The
/// library's own integer test is exact, but has no limit: it was seen to take
/// seconds at eight columns.)
///
/// Columns are symbols and what is opaque to linear arithmetic: quotients,
/// products, extrema. What is known of these becomes rows:
///
///   q = e // c        0 <= e - c·q <= c - 1
///   e % c             e - c·(e // c), no column
///   q = e // b        0 <= e - b·q <= b - 1 with the product b·q a column
///   m = Max(x, y)     m >= x, m >= y, and (m <= x or m <= y)
///   p = x·y           its range, and (x - lx)·(y - ly) >= 0 multiplied out,
///                     for all four pairs of finite ends: with x, y >= 1 these
///                     give p >= x and p >= y
///
/// Example: a <= b and not a // 4 <= b // 4 has columns a, b, p = a//4, q =
/// b//4 and rows 0 <= a - 4p <= 3, 0 <= b - 4q <= 3, b >= a, p >= q + 1: no
/// integer point.
///
/// Alternatives (disequalities, disjunctions, the arms of extrema) are split
/// one by one, by the simplex only where its point satisfies no arm.
///
/// Invariant: Empty is a proof. Constraints may be left out (an overflow, a
/// cap), which only makes the set larger; a Sample satisfies the rows, not
/// necessarily what the opaque columns mean.
///
/// Cost: an elimination for each of up to kMaxSteps combinations of arms.
class AffineSystem {
public:
  static constexpr size_t kMaxColumns = 40;
  static constexpr size_t kMaxRows = 220;
  static constexpr unsigned kMaxSteps = 48;
  /// Beyond, the simplex' numbers grow out of 64 bits and take milliseconds.
  static constexpr size_t kMaxSimplexColumns = 8;
  static constexpr size_t kMaxSimplexRows = 40;
  static constexpr unsigned kMaxBranches = 60;

  enum Result { Empty, Sample, GaveUp };

  explicit AffineSystem(FactBase &base) : facts(base), ctx(base.context()) {}

  /// `hypothesis` is reduced. On Sample, `sample` has values for the symbols
  /// that take part.
  Result solve(SymExpr hypothesis, FactBase::Model &sample);

private:
  /// Σ k·column + constant, = 0 or >= 0.
  struct Row {
    llvm::SmallVector<std::pair<unsigned, int64_t>, 4> terms;
    int64_t constant = 0;
    bool equation = false;
  };
  using Rows = llvm::SmallVector<Row, 2>;
  /// At least one of the arms holds.
  using Alternative = llvm::SmallVector<Rows, 2>;

  void gatherFacts(SymExpr hypothesis);
  unsigned column(SymExpr atom);
  void describe(SymExpr atom, unsigned index);
  void describeProduct(SymExpr product);
  bool accumulate(Row &row, SymExpr e, int64_t k);
  std::optional<Row> row(SymExpr e, bool equation);
  std::optional<Alternative> encode(SymExpr predicate);
  void require(SymExpr predicate);
  void requireAtLeastZero(SymExpr e);
  void requireRange(SymExpr e, Interval range);

  using Point = llvm::SmallVector<int64_t>;
  bool isRefuted(llvm::ArrayRef<const Row *> extra);
  static bool satisfies(llvm::ArrayRef<int64_t> point,
                        const Alternative &alternative);
  using Simplex = mlir::presburger::Simplex;
  void add(Simplex &simplex, const Row &row) const;
  Result branch(Simplex &simplex, Point &point);
  bool allRefuted(llvm::SmallVectorImpl<const Row *> &extra, size_t next);

  FactBase &facts;
  SymContext &ctx;
  llvm::DenseMap<SymExpr, unsigned> columns;
  llvm::SmallVector<SymExpr> atoms;
  std::vector<Row> rows;
  std::vector<Alternative> alternatives;
  unsigned steps = 0;
  unsigned branches = 0;
  /// Coefficients that elimination may still compute: a few milliseconds.
  uint64_t budget = 100000;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_AFFINESYSTEM_H
