//===- LowerCall.h - One ATen call on its way to linalg --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_LOWERCALL_H
#define FORETRACE_COMPILER_LOWER_LOWERCALL_H

#include "compiler/lower/Scalar.h"
#include "dialects/ft/AtenCall.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace ft {

/// A tensor inside the lower stage: a builtin tensor without encoding, whose
/// memory is row-major over its *physical* dims. Physical dim p holds logical
/// dim order[p]; a channels-last image has order {0, 2, 3, 1}. Element types
/// are those of storage (storageType): bool is i8 holding 0 or 1, unsigned
/// integers are signless.
struct LoweredTensor {
  mlir::Value value;
  llvm::SmallVector<unsigned, 6> order;
  DType dtype = DType::F32;
  /// Logical sizes where some are of the run; else empty, the type has them.
  Dims symbolic = {};

  unsigned rank() const { return static_cast<unsigned>(order.size()); }
  bool isRowMajor() const;
  bool isStatic() const { return symbolic.empty(); }
  /// Logical sizes; of a static tensor.
  llvm::SmallVector<int64_t, 6> sizes() const;
  /// Logical sizes; of any tensor.
  Dims dims() const;
  /// Sets the logical sizes that `value` has.
  void setDims(llvm::ArrayRef<Dim> dims);
  /// What a linalg.generic must use to read logical element `index` (one
  /// expression for each logical dim).
  mlir::AffineMap map(unsigned iterationDims,
                      llvm::ArrayRef<mlir::AffineExpr> index) const;
};

/// Sizes as rules have them: numbers, or numbers of the run among them.
class SizeList {
public:
  SizeList() = default;
  SizeList(Dim only) : dims({only}) {}
  SizeList(int64_t only) : dims({Dim(only)}) {}
  SizeList(std::initializer_list<Dim> list) : dims(list) {}
  SizeList(llvm::ArrayRef<Dim> list) : dims(list.begin(), list.end()) {}
  SizeList(llvm::ArrayRef<int64_t> list) : dims(list.begin(), list.end()) {}
  template <typename T, unsigned N>
  SizeList(const llvm::SmallVector<T, N> &list)
      : dims(list.begin(), list.end()) {}

  operator llvm::ArrayRef<Dim>() const { return dims; }
  size_t size() const { return dims.size(); }
  Dim operator[](size_t i) const { return dims[i]; }
  auto begin() const { return dims.begin(); }
  auto end() const { return dims.end(); }

private:
  Dims dims;
};

/// 0, 1, … rank - 1: the order of row-major memory.
llvm::SmallVector<unsigned, 6> identityOrder(size_t rank);

/// The memory of a tensor as a row-major tensor of its physical sizes.
LoweredTensor inMemoryOrder(LoweredTensor tensor);

/// One operand of a linalg.generic: a tensor and the logical index to read (or
/// to write) in terms of the iteration dims.
struct Access {
  LoweredTensor tensor;
  llvm::SmallVector<mlir::AffineExpr, 6> index;
};

enum class Iterator : uint8_t { Parallel, Reduction };

/// Computes scalars from scalars. Operands arrive as compute values (see
/// Scalar.h: bool as i1), results must be compute values.
using ScalarBody =
    llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange)>;
using ScalarsBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    ScalarBuilder &, mlir::ValueRange)>;

class LowerState;

/// Whether an argument is a number that an op of the model computes. Such
/// numbers are 0-dim tensors of int64, float64 or bool in this stage.
inline bool isRuntimeNumber(const Arg &arg) {
  return arg.isNumber() && arg.operand >= 0;
}
/// The dtype of numbers of this kind (Int, Float or Bool).
DType dtypeOfNumber(Arg::Kind kind);

/// What the lowering rule of an overload sees: the decoded call, its operands
/// as LoweredTensors, metadata, and builders for linalg. A rule sets every
/// result or fails with a reason.
///
///   static LogicalResult relu(LowerCall &c) {
///     c.setResult(0, c.pointwise({c.operand(0)}, c.resultMeta(0),
///         [](ScalarBuilder &s, ValueRange v) { return s.maximum(v[0],
///                                                s.zero(v[0])); }));
///     return success();
///   }
///
/// All ops that one rule emits belong together: they carry the same `ft.group`
/// number, and kernel formation keeps them in one kernel where it can (softmax,
/// layer_norm). A rule that wants its pieces apart calls newGroup().
class LowerCall {
public:
  LowerCall(LowerState &state, mlir::Operation *op, mlir::OpBuilder &builder);

  const AtenCall &call() const { return decoded; }
  mlir::OpBuilder &builder() { return b; }
  mlir::Location loc() const { return location; }
  mlir::MLIRContext *context() { return b.getContext(); }

  //===--- Arguments, by schema position ----------------------------------===//
  bool isNone(unsigned arg) const { return decoded.isNone(arg); }
  const TensorMeta &meta(unsigned arg) const;
  /// A tensor, or a number or size of the run as a 0-dim tensor.
  LoweredTensor operand(unsigned arg);
  /// Whether all sizes of a result are known before its kernel is called.
  bool isDefined(const TensorMeta &meta) const;
  /// Makes arguments of numbers that follow from sizes: their Dims.
  void resolveNumbers();
  /// A number that an op of the model computes: its value is not known here.
  bool isRuntimeNumber(unsigned arg) const {
    return ft::isRuntimeNumber(decoded.args[arg]);
  }
  LoweredTensor operandOf(mlir::Value ftValue);
  /// The operand with logical order = physical order (transposed if needed).
  LoweredTensor rowMajor(unsigned arg);
  LoweredTensor toOrder(LoweredTensor t, llvm::ArrayRef<unsigned> order);
  LoweredTensor toRowMajor(LoweredTensor t);
  /// Integers as numbers. Read of one that is of the run, the call is refused
  /// after its rule, whatever that made of it (see readInRun).
  int64_t integer(unsigned arg) const {
    noteRead(arg, decoded.args[arg]);
    return decoded.integer(arg);
  }
  /// An integer argument that may be of the run.
  Dim dimArg(unsigned arg) const { return decoded.args[arg].dim; }
  llvm::SmallVector<int64_t, 6> integers(unsigned arg) const {
    for (const Arg &item : decoded.args[arg].list)
      noteRead(arg, item);
    return decoded.integers(arg);
  }
  /// A list with one number for each of `count` dims: a single one stands for
  /// all of them, and `absent` for those of an empty list. (dimsArg: of the
  /// run, too.)
  llvm::SmallVector<int64_t, 6> integers(unsigned arg, unsigned count,
                                         int64_t absent = 1) const;
  double number(unsigned arg) const {
    noteRead(arg, decoded.args[arg]);
    return decoded.number(arg);
  }
  bool flag(unsigned arg) const { return decoded.flag(arg); }
  /// An integer list whose entries may be of the run.
  Dims dimsArg(unsigned arg) const {
    Dims dims;
    for (const Arg &item : decoded.args[arg].list)
      dims.push_back(item.dim);
    return dims;
  }
  Dims dimsArg(unsigned arg, unsigned count, int64_t absent = 1) const;
  /// To be said of numbers that are read in another way.
  void noteRead(unsigned arg, const Arg &value) const {
    if (!value.dim.isStatic())
      wrongRead = arg;
  }
  /// The argument that was read as a number although it is of the run.
  std::optional<unsigned> readInRun() const { return wrongRead; }
  /// `dim` (may be negative) as 0 … rank-1; 0 for rank 0.
  static unsigned wrapDim(int64_t dim, unsigned rank);

  //===--- Results --------------------------------------------------------===//
  const TensorMeta &resultMeta(unsigned r) const { return resultMetas[r]; }
  unsigned numResults() const {
    return static_cast<unsigned>(resultMetas.size());
  }
  void setResult(unsigned r, LoweredTensor tensor);
  mlir::LogicalResult unsupported(const llvm::Twine &why);

  //===--- Building -------------------------------------------------------===//
  LoweredTensor empty(const SizeList &sizes, DType dtype,
                      llvm::ArrayRef<unsigned> order = {});
  /// A size as a value of type index, for `tensor` operations and in bodies.
  mlir::Value sizeValue(Dim size);
  mlir::OpFoldResult sizeOperand(Dim size);
  /// Whether the module's facts prove that two sizes are one, that one is
  /// at least 1.
  bool surelySame(Dim a, Dim b);
  bool surelyPositive(Dim size);
  /// The same in a body, in the dtype that it computes in.
  mlir::Value sizeIn(ScalarBuilder &s, Dim size, DType dtype);
  /// A size as a 0-dim tensor of I64 or Bool.
  LoweredTensor sizeTensor(Dim size, DType dtype);
  /// A tensor filled with a number (converted to dtype).
  LoweredTensor filled(const SizeList &sizes, DType dtype, double number);
  /// The same with an exact integer.
  LoweredTensor filledInt(const SizeList &sizes, DType dtype, int64_t number);

  /// Broadcasts `ins` (numpy rules) to `sizes` and computes each element.
  /// The result takes the physical order of the first operand of full rank
  /// whose order is not row-major, else row-major.
  LoweredTensor pointwise(llvm::ArrayRef<LoweredTensor> ins,
                          const SizeList &sizes, DType dtype, ScalarBody body);
  LoweredTensor pointwise(llvm::ArrayRef<LoweredTensor> ins,
                          const TensorMeta &result, ScalarBody body);
  /// Converts elements as Tensor.to(dtype) does.
  LoweredTensor cast(LoweredTensor t, DType dtype);

  /// Reduces `dims` (logical); the accumulator has `accumulate` as its dtype
  /// and starts at `init`. keepDim keeps them as 1.
  LoweredTensor
  reduce(LoweredTensor in, llvm::ArrayRef<unsigned> dims, bool keepDim,
         DType accumulate, double init,
         llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::Value element,
                                        mlir::Value accumulator)>
             combine);

  /// The general form: one linalg.generic. `outs` are initial values.
  llvm::SmallVector<LoweredTensor> generic(llvm::ArrayRef<Access> ins,
                                           llvm::ArrayRef<Access> outs,
                                           llvm::ArrayRef<Iterator> iterators,
                                           ScalarsBody body);
  /// Iteration dim d of the generic being described.
  mlir::AffineExpr dim(unsigned d) {
    return mlir::getAffineDimExpr(d, b.getContext());
  }
  mlir::AffineExpr constant(int64_t v) {
    return mlir::getAffineConstantExpr(v, b.getContext());
  }

  // Views: free where memory allows (row-major), otherwise a copy.
  LoweredTensor reshape(LoweredTensor t, const SizeList &sizes);
  LoweredTensor permute(LoweredTensor t, llvm::ArrayRef<unsigned> dims);
  LoweredTensor slice(LoweredTensor t, unsigned dim, Dim start, Dim size,
                      Dim step = 1);
  /// Broadcasts explicitly: a copy, while pointwise broadcasts for free. Dims
  /// of which the run decides whether they are repeated make a window instead,
  /// whose step along them is 0 or 1.
  LoweredTensor expand(LoweredTensor t, const SizeList &sizes);
  /// Pads logical dims with a constant.
  LoweredTensor pad(LoweredTensor t, const SizeList &low, const SizeList &high,
                    double value);

  /// A constant weight in another layout, computed at compile time: row-major
  /// `dims`, element p = source element s[j] = base[j] + sum coef[j][i] * p[i],
  /// zero outside (see compiler/emit/Artefact.h). Nothing if `ftValue` is not
  /// a constant: a parameter, buffer or constant that no call writes, or a
  /// view of one.
  std::optional<LoweredTensor>
  packed(mlir::Value ftValue, llvm::ArrayRef<int64_t> dims,
         llvm::ArrayRef<llvm::SmallVector<int64_t>> coef,
         llvm::ArrayRef<int64_t> base = {});
  bool isConstant(mlir::Value ftValue) const;
  /// Lanes of a weight panel for this dtype on the target (32 for float32).
  int64_t panelWidth(DType dtype) const;

  /// Makes the call fail at run time (status, nothing read) unless every
  /// element of the integer tensor is in [low, high); `size` and the op's name
  /// go into the message. Emitted before any op that indexes with it.
  void checkIndex(LoweredTensor indices, Dim low, Dim high, Dim size);

  /// Makes the call fail at run time, with `message` in the status, unless the
  /// 0-dim bool tensor is true. Emitted before any op that relies on it.
  void checkTrue(LoweredTensor condition, const llvm::Twine &message);

  /// The same for a value that the op cannot take: `message` follows the op's
  /// name, and its place in the user's program stands behind.
  void checkValue(LoweredTensor condition, const llvm::Twine &message);

  /// Ops emitted from here on belong to another group.
  void newGroup();

private:
  LowerState &state;
  mlir::Operation *op;
  mlir::OpBuilder &b;
  mlir::Location location;
  AtenCall decoded;
  llvm::SmallVector<TensorMeta, 4> operandMetas;
  llvm::SmallVector<TensorMeta, 2> resultMetas;
  mutable std::optional<unsigned> wrongRead;
};

/// A rule: sets all results or fails through unsupported().
using LowerRule = mlir::LogicalResult (*)(LowerCall &);

/// Whether a rule takes tensors with sizes of the run. Calls with such tensors
/// are kept from the others, which read all sizes as numbers.
enum class Shapes : uint8_t { Static, Symbolic };

/// Whether a rule takes numbers of the run. Calls with such numbers are kept
/// from the others, which read all numbers as constants.
enum class Numbers : uint8_t { Constant, Runtime };

/// Whether results may have sizes that depend on data, which the kernel finds.
enum class ResultSizes : uint8_t { Known, Found };

struct LowerRuleRow {
  llvm::StringLiteral name;
  LowerRule rule;
  Numbers numbers = Numbers::Constant;
  ResultSizes sizes = ResultSizes::Known;
  Shapes shapes = Shapes::Static;
};

/// The row of a rule that takes all shapes.
constexpr LowerRuleRow anyShape(llvm::StringLiteral name, LowerRule rule,
                                Numbers numbers = Numbers::Constant) {
  return {name, rule, numbers, ResultSizes::Known, Shapes::Symbolic};
}

/// The row of an overload; null if there is none. Each family's table is
/// returned by a function `<family>LowerRules()` (Rules.h).
const LowerRuleRow *findLowerRule(const Schema &schema);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_LOWERCALL_H
