//===- IndexExpr.h - Integer expressions over loop counters ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a kernel reads a tensor is known while the kernel is compiled: a sum of
// loop counters times constants, sometimes with a division (after a reshape or
// for a packed operand). Code generation asks of such an expression: which
// stride do the lanes of a vector see? Do these two reads hit the same element?
//
// An IndexExpr is `constant + sum of coefficient * atom`. An atom is a loop
// counter (a range and a known divisor), an opaque number, or a floor division
// of an expression. `e mod c` is written `e - c * (e floordiv c)`: then
// `(e floordiv c) * c + e mod c` is `e` by plain addition, and a reshape whose
// two halves meet again in one address vanishes.
//
//   i in [0, 8), j in [0, 64):   (i * 64 + j) floordiv 64  ==>  i
//                                (i * 64 + j) mod 64       ==>  j
//
// Coefficients are sizes (Dim.h): plain numbers where shapes are static, and
// else expressions over the sizes of the run, which divide each other as they
// would by hand:
//
//   i in [0, b), j in [0, s):    (i * s + j) floordiv s        ==>  i
//
// Equal expressions are equal member by member (terms sorted by atom, atoms
// unique). Costs are linear in the handful of terms.

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_INDEXEXPR_H
#define FORETRACE_COMPILER_CODEGEN_CPU_INDEXEXPR_H

#include "compiler/shape/Dim.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ft {

struct IndexExpr {
  /// The same for every atom; not always a plain number.
  Dim constant;
  /// (atom, coefficient != 0), sorted by atom.
  llvm::SmallVector<std::pair<unsigned, Dim>, 3> terms;

  IndexExpr() = default;
  explicit IndexExpr(Dim c) : constant(c) {}
  explicit IndexExpr(int64_t c) : constant(c) {}
  bool isConstant() const { return terms.empty(); }
  Dim coefficient(unsigned atom) const;
  bool operator==(const IndexExpr &o) const {
    return constant == o.constant && terms == o.terms;
  }
};

IndexExpr operator+(const IndexExpr &a, const IndexExpr &b);
IndexExpr operator*(const IndexExpr &a, Dim c);

/// a / c where c divides a, whatever the sizes are.
std::optional<Dim> exactQuotient(Dim a, Dim c);
/// The largest number that is known to divide d; 0 for the number 0.
int64_t knownDivisor(Dim d);

class KernelSizes;

/// The atoms of one kernel.
class IndexSpace {
public:
  /// `sizes` of the kernel's tensors, for walks and their code; may be null
  /// where only expressions are computed.
  explicit IndexSpace(KernelSizes *sizes = nullptr) : sizes(sizes) {}

  enum class Kind {
    Counter, ///< one number, the same for all lanes (plus the lane, if it is
             ///< the lane counter)
    Lanes,   ///< one number per lane: `value` is a vector of index
    Division ///< numerator floordiv denominator
  };
  struct Atom {
    Kind kind;
    mlir::Value value; ///< may be null during analysis
    Dim size;          ///< 0 <= atom < size
    int64_t divisor;   ///< of the value (for the lane counter: of lane 0)
    IndexExpr numerator;
    Dim denominator = 1;
  };

  KernelSizes *sizes;
  /// Whether this holds for all sizes in their ranges: d >= 0, low <= e < high.
  bool nonNegative(Dim d) const;
  bool within(const IndexExpr &e, Dim low, Dim high) const;

  /// A loop counter in [0, size).
  unsigned addCounter(mlir::Value value, Dim size, int64_t divisor = 1);
  /// A number per lane in [0, size).
  unsigned addLanes(mlir::Value value, Dim size);
  const Atom &atom(unsigned id) const { return atoms[id]; }
  /// Gives an atom made for analysis (null value) its value.
  void setValue(unsigned id, mlir::Value value) { atoms[id].value = value; }
  /// Says what a number per lane depends on, for analysis.
  void setNumerator(unsigned id, IndexExpr e) {
    atoms[id].numerator = std::move(e);
  }

  IndexExpr of(unsigned atom) const;
  /// `c` is positive wherever the value is asked for.
  IndexExpr floorDiv(const IndexExpr &e, Dim c);
  IndexExpr mod(const IndexExpr &e, Dim c);
  /// Evaluates an affine expression whose dims are `dims`. Symbols do not occur
  /// in linalg's maps.
  IndexExpr evaluate(mlir::AffineExpr expr, llvm::ArrayRef<IndexExpr> dims);

  /// Smallest and largest value, where the signs of the coefficients are known.
  std::optional<std::pair<Dim, Dim>> range(const IndexExpr &e) const;
  /// Whether no value is negative.
  bool nonNegative(const IndexExpr &e) const;
  /// Whether the value can change with this atom.
  bool dependsOn(const IndexExpr &e, unsigned atom) const;
  /// Whether all that it is made of has a value: no atom of an analysis.
  bool hasValue(const IndexExpr &e) const;
  /// As dependsOn, but only through a division.
  bool dividesBy(const IndexExpr &e, unsigned atom) const;
  /// The largest known divisor of the value.
  int64_t divisor(const IndexExpr &e) const;

private:
  IndexExpr division(const IndexExpr &e, Dim c);

  std::vector<Atom> atoms;
};

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_INDEXEXPR_H
