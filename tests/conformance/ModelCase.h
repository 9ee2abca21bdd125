//===- ModelCase.h - An exported program with its right values -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_MODELCASE_H
#define FORETRACE_TESTS_CONFORMANCE_MODELCASE_H

#include "compiler/shape/Interval.h"
#include "tests/conformance/DataFile.h"
#include "tests/conformance/HostTensor.h"
#include "tests/conformance/OracleJson.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ft::conformance {

/// What a node of the graph gives.
struct NodeValue {
  enum Kind { None, Tensor, Symbol, List } kind = None;
  TensorSpec spec;
  std::string symbol;
  /// The results of a multi-result node.
  std::vector<NodeValue> list;
};

/// A node of a .meta.json file.
struct ModelNode {
  std::string name;
  /// "placeholder", "call_function", "get_attr" or "output".
  std::string op;
  /// "aten.add.Tensor", "getitem", "mul", "cond"…; for others a name.
  std::string target;
  llvm::json::Array args;
  llvm::json::Object kwargs;
  NodeValue value;
};

struct SignatureEntry {
  /// "PARAMETER", "BUFFER", "USER_INPUT", "USER_OUTPUT", "BUFFER_MUTATION"…
  std::string kind;
  /// The node.
  std::string arg;
  /// The parameter or buffer; empty for user values.
  std::string target;
};

struct ModelMeta {
  std::vector<ModelNode> nodes;
  /// Of the graphs that branches and loops run, by name.
  std::map<std::string, std::vector<ModelNode>> subgraphs;
  std::vector<SignatureEntry> inputs, outputs;
  /// Of the symbols that the annotations name; expressions are left out.
  std::map<std::string, Interval> ranges;
  std::map<std::string, int64_t> hints;
  /// Why the program refuses case i; nothing where it takes it.
  std::vector<std::optional<std::string>> refusals;
};

llvm::Expected<ModelMeta> readModelMeta(llvm::StringRef path);

/// A value of a .io.json file: a tensor, or a plain number.
struct IoValue {
  std::optional<StoredTensor> tensor;
  Arg number;
};

/// A number that a model takes or returns, as the 0-dim tensor that it comes
/// as.
HostTensor numberTensor(const Arg &number);

/// One set of inputs with what the program made of it.
struct ModelRun {
  std::vector<IoValue> inputs, outputs;
  std::map<std::string, StoredTensor> gradients, buffersAfter;
};

llvm::Expected<std::vector<ModelRun>> readModelRuns(llvm::StringRef path);

/// Copies of the inputs of a run, whose tensors `data` holds.
llvm::Expected<std::vector<HostTensor>> inputsOf(const ModelRun &run,
                                                 const DataFile &data);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_MODELCASE_H
