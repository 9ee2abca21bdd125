//===- OracleJson.h - The notation of the oracle's files -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_ORACLEJSON_H
#define FORETRACE_TESTS_CONFORMANCE_ORACLEJSON_H

#include "compiler/shape/FactBase.h"
#include "dialects/ft/Arg.h"
#include "dialects/ft/TensorMeta.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace ft::conformance {

/// Parses strict JSON. `1.0` is a Python float and `1` an int, a difference
/// that llvm::json drops: numbers with `.` or an exponent come back in the
/// notation that the files use for other floats, {"float": 1.0}.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// A tensor without data. Sizes and strides are kept as text: "4", "u0",
/// "Max(1, u0)".
struct TensorSpec {
  DType dtype = DType::F32;
  Device device;
  std::vector<std::string> sizes, strides;
  std::string offset = "0";
  bool conj = false, neg = false;

  /// "float32 [2, u0] strides [1, 2] offset 0 cpu": for messages.
  std::string str() const;
  /// Whether this is what `meta` says. With `layoutOfData` strides count only
  /// where they matter: in tensors of at least one element, in dims of more
  /// than one (a real kernel's answer is held to no more). Expressions are the
  /// same if their canonical forms are, or if `facts` prove it.
  bool describes(const TensorMeta &meta, bool layoutOfData = false,
                 FactBase *facts = nullptr) const;
  /// Fails if a size is neither a plain integer nor, with a context, an
  /// expression.
  llvm::Expected<TensorMeta> meta(SymContext *symbols = nullptr) const;
};

llvm::Expected<TensorSpec> readTensorSpec(const llvm::json::Object &object);

/// A tensor in one of the .bin files.
struct StoredTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

llvm::Expected<StoredTensor> readStoredTensor(const llvm::json::Object &object);

/// An argument. `tensor` is asked for everything that stands for a tensor:
/// {"t": …}, {"v": …} and {"n": name}; it gets the object and gives the
/// argument.
using TensorReader =
    llvm::function_ref<llvm::Expected<Arg>(const llvm::json::Object &)>;
llvm::Expected<Arg> readArg(const llvm::json::Value &value,
                            TensorReader tensor);

/// "float" / "complex" objects and plain numbers as double.
std::optional<double> readNumber(const llvm::json::Value &value);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_ORACLEJSON_H
