//===- OpCall.h - An operation as its fake rule sees it --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_OPCALL_H
#define FORETRACE_COMPILER_FAKE_OPCALL_H

#include "compiler/fake/FakeCall.h"
#include "dialects/ft/AtenCall.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ft {

/// The integer that an `arith.constant` gives; nothing for other values.
std::optional<Dim> constantInteger(mlir::Value value);

/// The same, and the number that the fake pass has noted for the result of an
/// operation or that an argument of @forward stands for: an expression.
std::optional<Dim> annotatedNumber(mlir::Value value);

/// A call of the IR decoded for its fake rule. Not copyable: the call refers to
/// what stands beside it.
class OpCall {
public:
  /// The annotated type that a value has by now.
  using TypeLookup = llvm::function_ref<mlir::Type(mlir::Value)>;
  using NumberLookup = llvm::function_ref<std::optional<Dim>(mlir::Value)>;

  /// `op` must be a call. Where the operands' types are annotated, the defaults
  /// will do.
  explicit OpCall(mlir::Operation *op);
  OpCall(mlir::Operation *op, TypeLookup typeOf, NumberLookup numberOf);
  OpCall(const OpCall &) = delete;
  OpCall &operator=(const OpCall &) = delete;

  /// Runs the rule.
  llvm::LogicalResult run();

  AtenCall aten;
  std::optional<FakeCall> fake;
  /// An operand without layout, or an integer operand without a known value:
  /// the rule cannot be run.
  mlir::Value unknown;

private:
  void read(TypeLookup typeOf, NumberLookup numberOf);
  void readNumbers(Arg &arg, NumberLookup numberOf);
  llvm::SmallVector<TensorMeta, 4> metas;
};

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_OPCALL_H
