//===- SymExpr.h - Integer expressions over named sizes --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_SYMEXPR_H
#define FORETRACE_COMPILER_SHAPE_SYMEXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ft {

class SymContext;
class SymExpr;

/// What a SymExpr is. The first group are integers, the second predicates.
enum class SymKind : uint8_t {
  Const,  // value
  Symbol, // name
  Add,    // value + Σ k·term, two terms or more, or one and k ≠ 1 or value ≠ 0
  Mul,    // Π term^k, k ≥ 1, of total degree ≥ 2: a monomial
  Pow,    // terms[0] ** terms[1], the exponent not constant
  FloorDiv, // floor(terms[0] / terms[1])
  Mod,      // terms[0] - terms[1] * floor(terms[0] / terms[1])
  Min,      // two terms or more
  Max,
  Bool, // value is 0 or 1
  Eq,   // terms[0] == 0
  Ne,   // terms[0] != 0
  Le,   // terms[0] <= 0
  And,  // two terms or more
  Or
};

/// One operand: `k` is the coefficient in an Add, the exponent in a Mul and 1
/// elsewhere.
struct SymTerm;

namespace detail {
struct SymNode;
} // namespace detail

/// An immutable integer expression, or a predicate over such, in canonical
/// form. One pointer: equal expressions of one SymContext are the same object,
/// so that `==` compares pointers.
///
///   SymContext ctx;
///   SymExpr b = ctx.symbol("b"), s = ctx.symbol("s");
///   (b + 1) * 4 - 4 * b            // the constant 4
///   ctx.floorDiv(b * s, b)         // s
///   ctx.floorDiv(ctx.floorDiv(s, ctx.constant(2)), ctx.constant(3)) // s//6
///   ctx.lt(b, s)                   // prints b < s, is Le(b - s + 1)
///
/// Canonical form. A sum is a constant and coefficients of distinct monomials
/// in a fixed order (higher degree first, then by structure and name, never by
/// address, so that output is the same in every run). Products of sums are
/// multiplied out while the result has at most kMaxExpandedTerms terms. A
/// division or remainder by c sheds the part that divides exactly (and brings
/// its constant into 0 … c-1: (h - 1)//2 is (h + 1)//2 - 1), common factors,
/// and inner divisions by constants. Ceiling division is -((-a) // b), or
/// (a + c - 1) // c for a constant c > 0. Min and Max are flat, sorted and
/// without arguments that another beats by a constant. A comparison has one
/// side zero, coprime coefficients, and for equality a positive leading
/// coefficient; `not` is pushed inside.
///
/// Invariant: two expressions with one canonical form have the same value
/// under every assignment for which both have one (no division by zero, no
/// overflow of 64 bits). The converse does not hold: proving more is the
/// ShapeEnv's work.
///
/// Overflow: coefficients are 64 bits wide. An operation whose result does not
/// fit, or that divides by the constant zero, gives the null expression, and
/// every operation on a null expression gives null; so does one that would
/// grow beyond kMaxSize nodes or kMaxDepth levels, which bounds every walk.
/// Callers treat null as "unknown". Nothing asserts.
///
/// Cost: a sum or product is linear in its terms plus a sort; a lookup in the
/// context takes a lock. Expressions live as long as their context.
class SymExpr {
public:
  SymExpr() = default;

  explicit operator bool() const { return node; }
  bool operator==(SymExpr other) const { return node == other.node; }
  bool operator!=(SymExpr other) const { return node != other.node; }

  SymKind kind() const;
  bool isConst() const { return node && kind() == SymKind::Const; }
  bool isConst(int64_t value) const { return isConst() && constant() == value; }
  bool isPredicate() const { return node && kind() >= SymKind::Bool; }
  bool isTrue() const;
  bool isFalse() const;

  /// Const: the value. Add: the constant summand. Bool: 0 or 1. Else 0.
  int64_t constant() const;
  /// Symbol: the name. Else empty.
  llvm::StringRef name() const;
  llvm::ArrayRef<SymTerm> terms() const;
  SymContext &context() const;

  /// The sum's constant and its terms; every other integer expression is a
  /// sum of one term (a constant of none).
  struct Affine {
    int64_t constant;
    llvm::ArrayRef<SymTerm> terms;
  };
  Affine affine(SymTerm &storage) const;

  /// Nodes of the expression written out as a tree.
  uint32_t size() const;

  /// Adds the names of all symbols to `names`.
  void collectSymbols(llvm::StringSet<> &names) const;

  void print(llvm::raw_ostream &os) const;
  /// Python's and sympy's text, as `4*s0 + 1`, `s0//2`, `Max(1, u0)`,
  /// `s0 <= 4`; "<null>" for null.
  std::string str() const;

  const detail::SymNode *getImpl() const { return node; }
  static SymExpr fromImpl(const detail::SymNode *node) { return SymExpr(node); }

  /// A total order by structure: the one of sums, the same in every run.
  static int compare(SymExpr a, SymExpr b);

private:
  explicit SymExpr(const detail::SymNode *impl) : node(impl) {}
  const detail::SymNode *node = nullptr;
};

struct SymTerm {
  int64_t k;
  SymExpr expr;
};

SymExpr operator+(SymExpr a, SymExpr b);
SymExpr operator-(SymExpr a, SymExpr b);
SymExpr operator*(SymExpr a, SymExpr b);
SymExpr operator-(SymExpr a);
SymExpr operator+(SymExpr a, int64_t b);
SymExpr operator-(SymExpr a, int64_t b);
SymExpr operator*(SymExpr a, int64_t b);

/// Why an evaluation has no value.
enum class SymEvalStatus { Ok, Unbound, Overflow, DivisionByZero };
struct SymValue {
  SymEvalStatus status = SymEvalStatus::Ok;
  int64_t value = 0; // predicates: 0 or 1
  explicit operator bool() const { return status == SymEvalStatus::Ok; }
};

/// Makes and owns expressions. All functions may be called from several
/// threads at once.
class SymContext {
public:
  /// A product of sums is multiplied out up to this many terms; beyond, the
  /// sums stay factors.
  static constexpr size_t kMaxExpandedTerms = 64;
  /// An expression written out as a tree has at most so many nodes and levels.
  static constexpr uint32_t kMaxSize = 4096;
  static constexpr uint32_t kMaxDepth = 256;

  SymContext();
  ~SymContext();
  SymContext(const SymContext &) = delete;
  SymContext &operator=(const SymContext &) = delete;

  SymExpr constant(int64_t value);
  SymExpr symbol(llvm::StringRef name);
  SymExpr boolean(bool value);
  /// A symbol of a name that no symbol of this context has yet: the prefix and
  /// a number.
  SymExpr freshSymbol(llvm::StringRef prefix);
  /// A symbol that stands for a number which the program's data decides
  /// ("u0"). What PyTorch prints differs for these: their strides allow for a
  /// size of 0 (`Max(1, u0)`).
  SymExpr unbackedSymbol(llvm::StringRef name);
  /// Whether some symbol of the expression was made by unbackedSymbol.
  bool hasUnbacked(SymExpr expr) const;

  SymExpr add(SymExpr a, SymExpr b);
  SymExpr sub(SymExpr a, SymExpr b);
  /// constant + Σ k·expr, at once: cheaper than adding one by one.
  SymExpr sum(int64_t constant, llvm::ArrayRef<SymTerm> terms);
  SymExpr mul(SymExpr a, SymExpr b);
  SymExpr scale(SymExpr a, int64_t factor);
  SymExpr pow(SymExpr base, SymExpr exponent);
  /// Python's `//` and `%`: the quotient is rounded down, the remainder has
  /// the divisor's sign.
  SymExpr floorDiv(SymExpr a, SymExpr b);
  SymExpr mod(SymExpr a, SymExpr b);
  SymExpr ceilDiv(SymExpr a, SymExpr b);
  SymExpr min(llvm::ArrayRef<SymExpr> args);
  SymExpr max(llvm::ArrayRef<SymExpr> args);
  SymExpr min(SymExpr a, SymExpr b) { return min({a, b}); }
  SymExpr max(SymExpr a, SymExpr b) { return max({a, b}); }

  SymExpr eq(SymExpr a, SymExpr b);
  SymExpr ne(SymExpr a, SymExpr b);
  SymExpr lt(SymExpr a, SymExpr b);
  SymExpr le(SymExpr a, SymExpr b);
  SymExpr gt(SymExpr a, SymExpr b) { return lt(b, a); }
  SymExpr ge(SymExpr a, SymExpr b) { return le(b, a); }
  SymExpr logicalAnd(llvm::ArrayRef<SymExpr> args);
  SymExpr logicalOr(llvm::ArrayRef<SymExpr> args);
  SymExpr logicalNot(SymExpr a);

  /// Reads what print writes, and the rest of Python's integer and comparison
  /// syntax: + - * // % ** == != < <= > >= and or not & | ~, Min Max Mod
  /// PythonMod FloorDiv CeilDiv Pow Eq Ne Lt Le Gt Ge And Or Not, True False.
  /// Fails (FT0206) on other text, on nesting beyond 256 and on constants
  /// beyond 64 bits.
  llvm::Expected<SymExpr> parse(llvm::StringRef text);

  using Lookup = llvm::function_ref<SymExpr(llvm::StringRef)>;
  /// Replaces every symbol for which `lookup` gives an expression.
  SymExpr substitute(SymExpr expr, Lookup lookup);

  /// The value under an assignment; `lookup` returns false for a symbol
  /// without a value.
  using Assignment = llvm::function_ref<bool(llvm::StringRef, int64_t &)>;
  static SymValue evaluate(SymExpr expr, Assignment lookup);

private:
  friend class SymExpr;
  struct Store;

  SymExpr unique(SymKind kind, int64_t value, llvm::StringRef name,
                 llvm::ArrayRef<SymTerm> terms);
  SymExpr makeSum(int64_t constant, llvm::ArrayRef<SymTerm> sorted);
  SymExpr makeMonomial(llvm::ArrayRef<SymTerm> sorted);
  SymExpr multiplyMonomials(SymExpr a, SymExpr b);
  struct Division;
  Division divideOut(SymExpr a, SymExpr b);
  SymExpr extremum(SymKind kind, llvm::ArrayRef<SymExpr> args);
  SymExpr connective(SymKind kind, llvm::ArrayRef<SymExpr> args);
  SymExpr relation(SymKind kind, SymExpr difference);

  std::unique_ptr<Store> store;
};

} // namespace ft

namespace llvm {
template <>
struct DenseMapInfo<ft::SymExpr> {
  using Node = const ft::detail::SymNode *;
  static ft::SymExpr getEmptyKey() {
    return ft::SymExpr::fromImpl(reinterpret_cast<Node>(uintptr_t(-1) << 4));
  }
  static ft::SymExpr getTombstoneKey() {
    return ft::SymExpr::fromImpl(reinterpret_cast<Node>(uintptr_t(-2) << 4));
  }
  static unsigned getHashValue(ft::SymExpr e) {
    return DenseMapInfo<const void *>::getHashValue(e.getImpl());
  }
  static bool isEqual(ft::SymExpr a, ft::SymExpr b) { return a == b; }
};

inline raw_ostream &operator<<(raw_ostream &os, ft::SymExpr expr) {
  expr.print(os);
  return os;
}
} // namespace llvm

#endif // FORETRACE_COMPILER_SHAPE_SYMEXPR_H
