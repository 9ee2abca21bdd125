//===- Call.h - A call by the name of its overload -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TRACE_CALL_H
#define FORETRACE_TRACE_CALL_H

#include "foretrace/trace/Tensor.h"

#include <variant>

namespace ft {

/// An argument of a call by name.
class Argument {
public:
  using Value = std::variant<std::monostate, Tensor, std::vector<Tensor>,
                             Scalar, std::vector<SymInt>, std::vector<double>,
                             std::string, ScalarType, DeviceId>;

  /// An absent argument; None in ATen.
  Argument() = default;
  Argument(const Tensor &v) : held(v) {}
  Argument(std::vector<Tensor> v) : held(std::move(v)) {}
  Argument(const Scalar &v) : held(v) {}
  Argument(const SymInt &v) : held(Scalar(v)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Argument(T v) : held(Scalar(v)) {}
  Argument(std::vector<SymInt> v) : held(std::move(v)) {}
  Argument(const std::vector<int64_t> &v)
      : held(std::vector<SymInt>(v.begin(), v.end())) {}
  Argument(std::vector<double> v) : held(std::move(v)) {}
  Argument(const char *v) : held(std::string(v)) {}
  Argument(std::string v) : held(std::move(v)) {}
  Argument(ScalarType v) : held(v) {}
  Argument(DeviceId v) : held(v) {}

  const Value &value() const { return held; }

private:
  Value held;
};

/// Calls an operator by the name of its overload, with its arguments in the
/// order of the schema; those that are left out have their defaults.
///
///   ft::call("add.Tensor", {x, y})          as ft::ops::add(x, y)
///   ft::call("demo::scale", {x, 2.0})       of a plug-in that the mode loaded
FORETRACE_API Tensors call(const std::string &name,
                           const std::vector<Argument> &arguments,
                           Here here = Here::current());

} // namespace ft

#endif // FORETRACE_TRACE_CALL_H
