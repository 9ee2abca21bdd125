//===- LowerState.h - What lowering one function keeps ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_LOWERSTATE_H
#define FORETRACE_COMPILER_LOWER_LOWERSTATE_H

#include "compiler/lower/LowerCall.h"
#include "compiler/shape/FactBase.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace ft {

/// Attributes that the lower stage puts on the arguments and operations of the
/// function that it builds.
namespace names {
/// On an argument: the annotated type of the value (TypeAttr).
inline constexpr llvm::StringLiteral kMeta = "ft.meta";
/// On an argument of kind "packed": number of the argument whose storage it is
/// made from, the (annotated) view of that storage, and the layout of
/// compiler/emit/Artefact.h.
inline constexpr llvm::StringLiteral kSource = "ft.source";
inline constexpr llvm::StringLiteral kDims = "ft.dims";
inline constexpr llvm::StringLiteral kCoef = "ft.coef";
inline constexpr llvm::StringLiteral kBase = "ft.base";
/// On an operation: which ops belong together (i64).
inline constexpr llvm::StringLiteral kGroup = "ft.group";
/// Groups from this number on are those of ft.fuse: one kernel.
inline constexpr int64_t kFusedGroups = int64_t(1) << 40;
/// On an operation: the ATen name of the call that it was made from.
inline constexpr llvm::StringLiteral kFrom = "ft.from";
/// On the function of a region: the symbols that have values when it runs, and
/// those of them that the model's inputs tell.
inline constexpr llvm::StringLiteral kKnown = "ft.known";
inline constexpr llvm::StringLiteral kTold = "ft.told";
/// On a result of such a function: it makes the memory of the result, whose
/// size its caller does not know, and puts the address where its caller
/// would.
inline constexpr llvm::StringLiteral kGives = "ft.gives";
} // namespace names

/// The state of lowering one function to linalg.
class LowerState {
public:
  LowerState(mlir::func::FuncOp source, mlir::func::FuncOp target,
             llvm::function_ref<int64_t(DType, Device)> panelWidth);

  mlir::func::FuncOp source, target;
  llvm::function_ref<int64_t(DType, Device)> panelWidth;
  /// In a graph on two devices: that of the call that is being lowered, and
  /// what was copied there, by what it is a copy of.
  std::optional<Device> device;
  llvm::DenseMap<mlir::Value, mlir::Value> onGpu, onHost;
  /// The call that is being lowered is one that forward has done, too.
  bool isAgain = false;
  llvm::DenseMap<mlir::Value, LoweredTensor> values;
  /// Tags what was emitted since the last call with the number of a group of
  /// its own, or (`fuse`) of the group of all calls with that ft.fuse, and the
  /// ATen name that it came from.
  void closeGroup(llvm::StringRef from, mlir::IntegerAttr fuse = {});
  /// A size as an index: a constant, or an `ft.size_of` at the function's
  /// start.
  mlir::Value sizeValue(Dim size);
  /// The same as tensor operations take it.
  mlir::OpFoldResult sizeOperand(Dim size);
  /// The expression over sizes that a number is, if it is one.
  std::optional<Dim> numberOf(mlir::Value ftValue);
  /// Whether all symbols of a size have their values by now.
  bool isDefined(Dim size) const;
  bool isDefined(SymExpr expression) const;
  /// Says that a symbol has its value from here on; false if it had.
  bool define(llvm::StringRef symbol) { return defined.insert(symbol).second; }
  /// The symbols that have values by now, and those that inputs tell.
  mlir::ArrayAttr knownSymbols();
  mlir::ArrayAttr toldSymbols();
  /// Says that a symbol of the data has this value, or the run has failed.
  void fix(llvm::StringRef symbol, int64_t value) { fixed[symbol] = value; }
  /// A size, or the annotation of a value, with the numbers that fixed symbols
  /// are.
  Dim known(Dim size) const;
  TensorMeta known(TensorMeta meta) const;
  /// What the module declares of a symbol.
  Interval rangeOf(llvm::StringRef symbol) const;

  /// What the module says of its symbols, and what the run asserts; made when
  /// it is first asked for.
  FactBase &facts();

  /// Filled by a rule that gave up.
  std::string reason;

  /// The argument of `source` that a constant value is a view of; null if the
  /// value is none.
  mlir::BlockArgument constantRoot(mlir::Value ftValue) const;

  /// The packed argument with this layout, made at its first use.
  LoweredTensor packedArgument(mlir::BlockArgument root,
                               mlir::RankedTensorType view,
                               llvm::ArrayRef<int64_t> dims,
                               mlir::ArrayAttr coef,
                               llvm::ArrayRef<int64_t> base);

private:
  llvm::DenseMap<SymExpr, mlir::Value> sizes;
  llvm::DenseMap<mlir::Value, std::optional<Dim>> numbers;
  /// Symbols that have values: those of inputs, at first.
  llvm::StringSet<> defined, told;
  llvm::StringMap<Interval> ranges;
  llvm::StringMap<int64_t> fixed;
  bool isDeclared(SymExpr e) const;
  std::optional<FactBase> knownFacts;
  int64_t group = 0;
  mlir::Operation *lastTagged = nullptr;
  /// Arguments of `source` that some result of the function overwrites.
  llvm::StringSet<> writtenTargets;
  llvm::DenseMap<mlir::Attribute, mlir::Value> packedByKey;
};

/// The tensor on the device of the call that is being lowered: itself, or a
/// copy, made at its first use there.
LoweredTensor broughtHere(LowerState &state, LowerCall &call,
                          LoweredTensor tensor);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_LOWERSTATE_H
