//===- Term.h - What a rule computes with ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_AUTOGRAD_TERM_H
#define FORETRACE_COMPILER_AUTOGRAD_TERM_H

#include "dialects/ft/Arg.h"

#include "mlir/IR/Value.h"

#include <vector>

namespace ft {

/// A tensor, a number, a list or nothing: an argument of a call that a rule
/// makes, or what the call gave.
///
/// A gradient that does not exist is the `zero` term: it stands for zeros of
/// whatever size fits, so that sums leave it out and products vanish without an
/// operation.
class Term {
public:
  enum Kind : uint8_t { Zero, None, Tensor, Plain, List };

  Term() = default;
  /// A tensor, or a number of the run; null is the zero term.
  Term(mlir::Value value);
  Term(int value) : Term(static_cast<int64_t>(value)) {}
  Term(int64_t value) : Term(Arg::integer(value)) {}
  Term(Dim value) : Term(Arg::integer(value)) {}
  Term(double value) : Term(Arg::floating(value)) {}
  Term(bool value) : Term(Arg::truth(value)) {}
  Term(const char *text) : Term(Arg::string(text)) {}
  Term(DType dtype) : Term(Arg::ofDType(dtype)) {}
  Term(llvm::ArrayRef<Dim> sizes);
  Term(llvm::ArrayRef<int64_t> numbers);
  Term(const Dims &sizes) : Term(llvm::ArrayRef<Dim>(sizes)) {}
  Term(std::vector<Term> items) : tag(List), list(std::move(items)) {}
  /// A constant of any kind but Tensor; lists become lists of terms.
  explicit Term(const Arg &constant);

  static Term none();

  Kind kind() const { return tag; }
  bool isZero() const { return tag == Zero; }
  bool isNone() const { return tag == None; }
  bool isTensor() const { return tag == Tensor; }
  bool isList() const { return tag == List; }
  /// A number, known or of the run.
  bool isNumber() const { return tag == Plain && constant.isNumber(); }
  /// A number whose value is known: an Int (sizes of the run too), Float, Bool
  /// or Complex.
  bool isKnown() const { return isNumber() && !operand; }
  bool isInt() const { return isKnown() && constant.kind == Arg::Int; }

  /// The tensor, or the number of the run; null for anything else.
  mlir::Value value() const { return operand; }
  /// Of a Plain term.
  const Arg &arg() const { return constant; }
  llvm::ArrayRef<Term> items() const & { return list; }
  /// A view of what is gone at once would dangle.
  std::vector<Term> items() && { return std::move(list); }

  /// A known number as double; a size of the run as NaN.
  double number() const;
  /// A static integer; 0 for anything else.
  int64_t integer() const;
  /// An integer, static or of the run: also of a value, by its expression.
  Dim dim() const;
  bool truth() const;
  llvm::StringRef text() const { return constant.str; }

  /// `name = term` among the arguments of a call.
  Term named(llvm::StringRef name) const {
    Term t = *this;
    t.keyword = name;
    return t;
  }
  llvm::StringRef name() const { return keyword; }

private:
  Kind tag = Zero;
  mlir::Value operand;
  Arg constant;
  std::vector<Term> list;
  llvm::StringRef keyword;
};

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_TERM_H
