//===- OpCase.h - One call of an operator with its right answer -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_OPCASE_H
#define FORETRACE_TESTS_CONFORMANCE_OPCASE_H

#include "dialects/ft/Schema.h"
#include "tests/conformance/OracleJson.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ft::conformance {

/// What a call gives at one place of its flat list of results.
struct ExpectedResult {
  enum Kind { Undefined, Tensor, Number, Symbol } kind = Undefined;
  /// Tensor, in a metadata case.
  TensorSpec spec;
  /// Tensor, in a value case.
  StoredTensor stored;
  /// The flat tensor argument whose storage it shares; -1 for none.
  int alias = -1;
  /// Number: an Int, Float, Bool or Complex.
  Arg number;
  /// Symbol: "u0", "zuf0", "Eq(u0, 1)".
  std::string symbol;

  std::string str() const;
};

/// What is common to the lines of fake_ops.jsonl and op_values.jsonl.
struct OpCase {
  int64_t id = 0;
  /// "add.Tensor"
  std::string op;
  const Schema *schema = nullptr;
  /// One for each argument of the schema, defaults filled in; empty if the
  /// operator is not in the table. Tensors are numbered as the files do it:
  /// flat, positional arguments first, lists included.
  std::vector<Arg> args;
  std::vector<ExpectedResult> results;
};

/// A line of fake_ops.jsonl.
struct MetaCase : OpCase {
  std::vector<TensorSpec> tensors;
  /// The category of FakeTensor's error; empty if it gave results.
  std::string error;
  bool shapeEnv = false;
  /// What the real kernel did, where it differs: an error, or results.
  std::optional<std::string> realError;
  std::optional<std::vector<ExpectedResult>> realResults;
  /// "kernel", "value", "overlap" or "metadata", empty for none.
  std::string realKind;
};

/// A line of op_values.jsonl.
struct ValueCase : OpCase {
  std::vector<StoredTensor> tensors;
  /// Results in float64, where the file has them.
  std::vector<std::optional<StoredTensor>> results64;
  /// Results that are unique only up to sign, phase or basis.
  std::vector<unsigned> gauge;
  std::map<unsigned, StoredTensor> cotangents;
  /// By flat tensor argument; nothing where there is no gradient.
  std::map<unsigned, std::optional<StoredTensor>> gradients;
  std::map<unsigned, StoredTensor> mutated;
  bool hasGradError = false;
  std::string note;
};

llvm::Expected<MetaCase> readMetaCase(llvm::StringRef line);
llvm::Expected<ValueCase> readValueCase(llvm::StringRef line);

/// Puts positional and keyword arguments in the order of the schema, fills in
/// defaults, and reads a string where the schema wants a device. Fails if one
/// has no place or a required one is missing.
llvm::Expected<std::vector<Arg>>
bindArguments(const Schema &schema, std::vector<Arg> positional,
              std::vector<std::pair<std::string, Arg>> keyword);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_OPCASE_H
