//===- GraphBuilder.h - Nodes of a graph → ft operations -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_GRAPHBUILDER_H
#define FORETRACE_COMPILER_IMPORT_PT2_GRAPHBUILDER_H

#include "compiler/import/pt2/GraphRegions.h"
#include "compiler/import/pt2/Schema.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/AtenCall.h"

#include "mlir/IR/Builders.h"

namespace ft::pt2 {

/// Turns the nodes of one graph into operations at the builder's insertion
/// point. Names of values are the graph's own; each is defined once, before
/// its uses. Functions return false after a mistake, which takeError gives.
class GraphBuilder {
public:
  GraphBuilder(mlir::OpBuilder &opBuilder, const Graph &source,
               llvm::StringRef archive)
      : builder(opBuilder), graph(source), where(archive),
        context(*opBuilder.getContext()) {}

  /// What the graph says of a tensor, as an annotated type.
  bool tensorType(llvm::StringRef name, mlir::Type &type);
  bool tensorType(const TensorInfo &info, llvm::StringRef name,
                  mlir::Type &type);
  bool define(llvm::StringRef name, mlir::Value value);
  /// A value by name; a number as an `arith.constant` (null for None).
  bool valueOf(const Argument &argument, mlir::Value &value);
  bool build(const Node &node);

  /// The subgraph that a higher-order operator only runs, and where its
  /// operands start among the node's inputs: regions with gradients switched
  /// off, regions with autocast switched off, and shared subgraphs. These are
  /// built in place; null for every other operator.
  struct Inlined {
    const Graph *graph = nullptr;
    llvm::StringRef name;
    size_t firstOperand = 0;
    bool noGrad = false;
    explicit operator bool() const { return graph; }
  };
  static Inlined inlinedBy(const Node &node);

  bool fail(DiagId id, const llvm::Twine &message,
            const llvm::Twine &help = "");
  llvm::Error takeError() { return std::move(error); }

  SymContext &symbols();

  /// The table's name of a target: "add.Tensor" for
  /// "torch.ops.aten.add.Tensor", "operator.mul" for "_operator.mul".
  static std::string schemaName(llvm::StringRef target);
  /// The name of a custom operator: "demo::scale" for
  /// "torch.ops.demo.scale.default"; empty for targets that cannot be one.
  static std::string customName(llvm::StringRef target);
  /// The schema of a target, in the table or registered; null if there is none.
  static const Schema *findSchema(llvm::StringRef target,
                                  mlir::MLIRContext &context);

  /// A size, stride or symbolic integer in canonical form.
  bool dimOf(const SymValue &value, Dim &dim);

private:
  bool convert(const Argument &argument, const SchemaType &type, bool element,
               AtenCall &call, Arg &arg);
  bool operand(llvm::StringRef name, Arg::Kind kind, AtenCall &call, Arg &arg);
  bool arguments(const Node &node, AtenCall &call);
  void beginResults();
  bool result(const Argument &output, const Node &node);
  /// Names the results of a new operation, and defines them.
  bool finishResults(const Node &node, mlir::Operation *op);
  bool buildInlined(const Node &node, const Inlined &region);
  bool buildControl(const Node &node, const ControlNode &control);
  bool buildRegion(const Argument &argument, mlir::Region &region,
                   mlir::TypeRange arguments, size_t results);

  mlir::OpBuilder &builder;
  const Graph &graph;
  llvm::StringRef where;
  mlir::MLIRContext &context;
  llvm::StringMap<mlir::Value> values;
  /// In front of the names of an inlined graph: "submod_1.".
  std::string prefix;
  bool noGrad = false;
  llvm::Error error = llvm::Error::success();
  std::string place; // of the node that is being built

  /// The results of the node that is being built.
  llvm::SmallVector<mlir::Type, 4> types;
  llvm::SmallVector<mlir::Attribute, 4> declared;
  llvm::SmallVector<std::string, 4> names;
  std::string number;
};

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_GRAPHBUILDER_H
