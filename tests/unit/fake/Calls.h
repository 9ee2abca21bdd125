//===- Calls.h - Short ways to write a call in tests -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_FAKE_CALLS_H
#define FORETRACE_TESTS_UNIT_FAKE_CALLS_H

#include "compiler/fake/FakeCall.h"

#include <string>

namespace ft {

/// A float32 tensor on the CPU; row-major without strides.
inline TensorMeta tensor(Dims sizes, Dims strides = {}) {
  TensorMeta meta = TensorMeta::contiguous(DType::F32, sizes);
  if (!strides.empty())
    meta.strides = strides;
  return meta;
}
inline TensorMeta typed(DType dtype, Dims sizes = {}) {
  return TensorMeta::contiguous(dtype, sizes);
}
inline TensorMeta on(llvm::StringRef device, Dims sizes = {}) {
  TensorMeta meta = TensorMeta::contiguous(DType::F32, sizes);
  meta.device = *Device::parse(device);
  return meta;
}

/// What the rule of `name` says: the results, separated by "; ", or "error: …".
/// Arguments that are left out take their defaults.
inline std::string call(llvm::StringRef name,
                        llvm::SmallVector<TensorMeta> operands,
                        llvm::SmallVector<Arg> args) {
  const Schema *schema = SchemaTable::get().find(name);
  if (!schema)
    return "no such overload";
  while (args.size() < schema->args.size())
    args.push_back(schema->args[args.size()].defaultValue);
  FakeCall fake(*schema, args, operands);
  if (llvm::failed(propagateCall(fake)))
    return "error: " + fake.message;
  std::string text;
  for (const FakeResult &result : fake.results) {
    if (!text.empty())
      text += "; ";
    if (result.kind == FakeResult::Undefined)
      text += "undefined";
    else
      text += result.meta.str();
    if (result.alias >= 0)
      text += " = view of " + std::to_string(result.alias);
  }
  return text;
}

inline Arg ints(std::vector<int64_t> values) {
  std::vector<Arg> list;
  for (int64_t v : values)
    list.push_back(Arg::integer(v));
  return Arg::listOf(list);
}

} // namespace ft

#endif // FORETRACE_TESTS_UNIT_FAKE_CALLS_H
