//===- PointwiseBody.h - Formulas of elementwise operators -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_POINTWISEBODY_H
#define FORETRACE_COMPILER_LOWER_RULES_POINTWISEBODY_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// A number that an op computes, or a size of the run.
inline bool isNumberOfRun(const Arg &arg) {
  return isRuntimeNumber(arg) || (arg.kind == Arg::Int && !arg.dim.isStatic());
}

/// Whether an argument is read element by element: a tensor, or a number of the
/// run, which is a 0-dim tensor.
inline bool isElement(const Arg &arg) {
  return arg.kind == Arg::Tensor || isNumberOfRun(arg);
}

class PointwiseBody;

/// A number in a formula: known now, or one that only the run knows, which is a
/// value of the type that the formula computes in. Known ones are combined in
/// float64 here, others by code.
class Number {
public:
  Number(double known) : known_(known) {}
  Number(PointwiseBody &body, mlir::Value ofRun) : body(&body), ofRun(ofRun) {}

  bool isKnown() const { return !body; }
  double known() const { return known_; }
  /// As a value of a type, that of formulas for a number of the run.
  mlir::Value in(PointwiseBody &p, mlir::Type type) const;

  friend Number operator+(Number x, Number y);
  friend Number operator-(Number x, Number y);
  friend Number operator*(Number x, Number y);
  friend Number operator/(Number x, Number y);
  Number operator-() const { return Number(0) - *this; }

private:
  PointwiseBody *body = nullptr;
  mlir::Value ofRun;
  double known_ = 0;
};

/// What a formula sees: the arguments of an elementwise call at one element,
/// converted to the dtype that the call computes in, and scalar arithmetic.
/// Tensors and numbers look alike, so that one formula serves all overloads:
///
///   Value sub(PointwiseBody &p) { return p.sub(p[0], p.scaled(p[1], 2)); }
///
/// A formula returns a value of the compute type, an i1 (which counts as bool),
/// or a float from a complex computation.
class PointwiseBody : public ScalarBuilder {
public:
  /// `elements` are the arguments that isElement, in schema order. Numbers are
  /// rounded to `numberDtype` first: comparisons see 0.1 as a bfloat16 tensor
  /// does.
  PointwiseBody(ScalarBuilder &s, const AtenCall &call, DType dtype,
                DType numberDtype, DType resultDtype, mlir::ValueRange elements,
                llvm::ArrayRef<DType> dtypes);

  /// What is computed in: float32 for 16-bit floats.
  const DType dtype;
  /// What the result is rounded to in the end.
  const DType resultDtype;
  mlir::Type type() const { return computeType(b.getContext(), dtype); }
  bool isFloat() const { return isFloating(dtype); }
  bool isComplex() const { return ft::isComplex(dtype); }
  bool isInteger() const { return isIntegral(dtype); }
  /// Bool counts as unsigned: i1 would compare as -1 < 0.
  bool isUnsigned() const {
    return dtype == DType::Bool || ft::isUnsigned(dtype);
  }

  //===--- Arguments by schema position -----------------------------------===//
  mlir::Value operator[](unsigned arg) { return as(arg, dtype); }
  mlir::Value as(unsigned arg, DType to);
  /// As in PyTorch's logical ops and conditions: != 0.
  mlir::Value truth(unsigned arg) { return as(arg, DType::Bool); }
  bool has(unsigned arg) const { return !call.isNone(arg); }
  Number number(unsigned arg);
  /// A number that the formula itself depends on: a constant.
  double known(unsigned arg);
  bool flag(unsigned arg);
  llvm::StringRef text(unsigned arg) const { return call.args[arg].str; }
  bool isNumber(unsigned arg) const { return call.args[arg].isNumber(); }
  /// Whether `arg` is the number 1, known now.
  bool isOne(unsigned arg) const;
  /// x times the number `arg` (`alpha`, `value`); x itself if that is 1.
  mlir::Value scaled(mlir::Value x, unsigned arg);

  /// The formula has no meaning for this dtype: the call is refused.
  mlir::Value refuse();
  bool refused = false;
  /// The formula asked for the constant that a number of the run is not.
  bool needsConstant = false;

  //===--- Arithmetic that ScalarBuilder lacks ------------------------------//
  // On bools, + is or and * is and.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, Number y) {
    return y.isKnown() ? mul(x, y.known()) : mul(x, like(x, y));
  }
  /// Both parts of a complex number: infinity times y + 0i would be NaN.
  mlir::Value mul(mlir::Value x, double y);
  mlir::Value add(mlir::Value x, Number y) { return add(x, like(x, y)); }
  mlir::Value add(mlir::Value x, double y) { return add(x, Number(y)); }
  mlir::Value k(double value) { return constant(type(), value); }
  mlir::Value like(mlir::Value x, Number v) { return v.in(*this, x.getType()); }
  mlir::Value max(mlir::Value x, mlir::Value y) {
    return maximum(x, y, isUnsigned());
  }
  mlir::Value min(mlir::Value x, mlir::Value y) {
    return minimum(x, y, isUnsigned());
  }
  mlir::Value eq(mlir::Value x, mlir::Value y);
  mlir::Value ne(mlir::Value x, mlir::Value y) { return logicalNot(eq(x, y)); }
  mlir::Value lt(mlir::Value x, mlir::Value y) {
    return cmp(Cmp::Lt, x, y, isUnsigned());
  }
  mlir::Value le(mlir::Value x, mlir::Value y) {
    return cmp(Cmp::Le, x, y, isUnsigned());
  }
  mlir::Value gt(mlir::Value x, mlir::Value y) { return lt(y, x); }
  mlir::Value ge(mlir::Value x, mlir::Value y) { return le(y, x); }
  mlir::Value isNan(mlir::Value x);
  mlir::Value logicalNot(mlir::Value x);
  mlir::Value bitAnd(mlir::Value x, mlir::Value y);
  mlir::Value bitOr(mlir::Value x, mlir::Value y);
  mlir::Value bitXor(mlir::Value x, mlir::Value y);

  mlir::Value abs(mlir::Value x);
  mlir::Value square(mlir::Value x) { return mul(x, x); }
  mlir::Value reciprocal(mlir::Value x) { return div(one(x), x); }
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value floor(mlir::Value x);
  mlir::Value ceil(mlir::Value x);
  mlir::Value truncate(mlir::Value x);
  /// Half to even.
  mlir::Value round(mlir::Value x);
  mlir::Value copySign(mlir::Value x, mlir::Value sign);
  mlir::Value pow(mlir::Value x, mlir::Value y);
  mlir::Value sin(mlir::Value x);
  mlir::Value cos(mlir::Value x);
  mlir::Value tan(mlir::Value x);
  mlir::Value sinh(mlir::Value x);
  mlir::Value cosh(mlir::Value x);
  mlir::Value asin(mlir::Value x);
  mlir::Value acos(mlir::Value x);
  mlir::Value atan(mlir::Value x);
  mlir::Value asinh(mlir::Value x);
  mlir::Value acosh(mlir::Value x);
  mlir::Value atanh(mlir::Value x);
  mlir::Value atan2(mlir::Value y, mlir::Value x);
  mlir::Value erfc(mlir::Value x);
  mlir::Value exp2(mlir::Value x);
  mlir::Value expm1(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value log2(mlir::Value x);
  mlir::Value log10(mlir::Value x);
  mlir::Value real(mlir::Value z);
  mlir::Value imag(mlir::Value z);
  mlir::Value makeComplex(mlir::Value re, mlir::Value im);

  /// c[0] x^(n-1) + … + c[n-1]: highest power first (Horner).
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> c);
  /// c[0] T0(t) + c[1] T1(t) + …, where x in [low, high] is mapped to t in
  /// [-1, 1] (Clenshaw). Outside the interval the value means nothing.
  mlir::Value chebyshev(mlir::Value x, double low, double high,
                        llvm::ArrayRef<double> c);

  /// while more(v): v = next(v), from v = `start`; the last v. The kernel that
  /// holds it goes element by element.
  llvm::SmallVector<mlir::Value>
  repeat(mlir::ValueRange start,
         llvm::function_ref<mlir::Value(mlir::ValueRange)> more,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>
             next);

  // Integers never trap: a divisor of 0 (an error in ATen) gives x / 1 and
  // x % 1, and the smallest integer by -1 wraps.
  /// Rounds towards zero, on floats too.
  mlir::Value truncDiv(mlir::Value x, mlir::Value y);
  mlir::Value floorDiv(mlir::Value x, mlir::Value y);
  /// The remainder of truncDiv (C's % and fmod).
  mlir::Value remainderTrunc(mlir::Value x, mlir::Value y);
  /// The remainder of floorDiv (Python's %).
  mlir::Value remainderFloor(mlir::Value x, mlir::Value y);

private:
  const AtenCall &call;
  DType numberDtype;
  /// By schema position: the element and its dtype; null for other arguments.
  llvm::SmallVector<mlir::Value, 8> elementOf;
  llvm::SmallVector<DType, 8> dtypeOf;

  mlir::Value safeDivisor(mlir::Value y);
  mlir::Value complexAbs(mlir::Value z);
  mlir::Value complexPow(mlir::Value x, mlir::Value y);
};

using Formula = mlir::Value (*)(PointwiseBody &);

/// The dtype that a formula computes in, before widening 16-bit floats.
enum class ComputeIn : uint8_t {
  /// The result's.
  Result,
  /// What the operands promote to (comparisons, predicates).
  Operands,
  /// What the tensors promote to, whatever the numbers are.
  Tensors,
  /// The operands' if that is complex (abs, angle), else the result's.
  Parts,
  /// float64, rounded once: special functions, whose formulas lose digits.
  Double,
  /// Python's numbers: float64 if one of them is a float, else int64.
  Numbers
};

/// One line of a table of elementwise operators.
struct FormulaRow {
  llvm::StringLiteral name;
  Formula formula;
  ComputeIn computeIn = ComputeIn::Result;
};

// The tables, one file each.
llvm::ArrayRef<FormulaRow> arithmeticFormulas();
llvm::ArrayRef<FormulaRow> comparisonFormulas();
llvm::ArrayRef<FormulaRow> activationFormulas();
llvm::ArrayRef<FormulaRow> specialFormulas();
llvm::ArrayRef<FormulaRow> besselFormulas();
llvm::ArrayRef<FormulaRow> orthogonalFormulas();
llvm::ArrayRef<FormulaRow> numberFormulas(); // Sym.cpp

/// The tables above, one after the other.
std::vector<FormulaRow> allFormulas();

/// The rules of Foreach.cpp: the same formulas on lists of tensors.
llvm::ArrayRef<LowerRuleRow> foreachLowerRules();
/// Those of IncompleteGamma.cpp, whose elements need loops.
llvm::ArrayRef<LowerRuleRow> incompleteGammaLowerRules();
/// (self, other, rtol, atol, equal_nan)
mlir::Value isClose(PointwiseBody &p);
/// (self, other)
mlir::Value shiftLeft(PointwiseBody &p);
mlir::Value shiftRight(PointwiseBody &p);

/// The row of an operator; null if it is no formula.
const FormulaRow *formulaNamed(llvm::StringRef name);

/// A call to apply a formula to: its operands are the tensors among its
/// arguments, and the numbers of the run, in their order.
struct FormulaCall {
  const AtenCall &call;
  llvm::SmallVector<LoweredTensor> ins;
};

/// A formula over the elements of the operands, broadcast to `sizes`.
mlir::FailureOr<LoweredTensor>
applyFormula(LowerCall &c, const FormulaCall &f, Formula formula,
             ComputeIn computeIn, const SizeList &sizes, DType result);
/// The same for the call that is being lowered.
mlir::FailureOr<LoweredTensor> applyFormula(LowerCall &c, Formula formula,
                                            ComputeIn computeIn,
                                            const SizeList &sizes,
                                            DType result);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_POINTWISEBODY_H
