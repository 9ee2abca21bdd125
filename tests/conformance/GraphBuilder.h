//===- GraphBuilder.h - Writes programs of ATen calls ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_GRAPHBUILDER_H
#define FORETRACE_TESTS_CONFORMANCE_GRAPHBUILDER_H

#include "dialects/ft/AtenCall.h"
#include "tests/conformance/ModelCase.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace ft::conformance {

/// Builds the module that an importer would leave: one function `forward` with
/// annotated inputs and calls that the fake pass has not seen.
class GraphBuilder {
public:
  GraphBuilder(mlir::MLIRContext &context, llvm::StringRef model);

  /// `kind` as in `ft.kind`; `target` is the name in the model.
  mlir::Value addInput(llvm::StringRef name, llvm::StringRef kind,
                       llvm::StringRef target, const TensorMeta &meta);
  /// The input requires a gradient.
  void requireGradient(mlir::Value input);
  /// Adds a call with `results` results, whose types follow the schema; its
  /// location is named `name`, and so are the results (by a number when there
  /// are several and `resultNames` does not say more).
  mlir::Operation *addCall(const Schema &schema, llvm::ArrayRef<Arg> args,
                           mlir::ValueRange operands, unsigned results,
                           llvm::StringRef name,
                           llvm::ArrayRef<std::string> resultNames = {});
  /// States the range of a symbol that inputs have; without a hint no guard is
  /// made of it.
  void addSymbol(llvm::StringRef name, Interval range,
                 std::optional<int64_t> hint);
  void addOutput(mlir::Value value, llvm::StringRef name);

  /// The text of the module, with locations.
  std::string finish();

private:
  struct Named {
    mlir::Value value;
    std::string name, kind, target;
    bool requiresGradient = false;
  };
  mlir::MLIRContext &context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::vector<Named> inputs, outputs;
};

/// The graph of a .meta.json file. Fails, naming the node, for operators that
/// are not in the table and for what needs symbolic sizes.
llvm::Expected<std::string> buildGraph(mlir::MLIRContext &context,
                                       llvm::StringRef model,
                                       const ModelMeta &meta);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_GRAPHBUILDER_H
