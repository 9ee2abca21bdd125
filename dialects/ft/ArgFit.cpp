//===- ArgFit.cpp - Whether an argument fits its type ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/ArgFit.h"

#include "llvm/ADT/STLExtras.h"

namespace ft {

/// A pointwise operator takes a number for any of its tensors: a 0-dim tensor
/// that does not take part in type promotion as one (a "wrapped number").
static bool fits(const Arg &arg, const SchemaType &type, bool element,
                 bool wrapsNumbers) {
  if (arg.isNone())
    return element ? type.elementOptional : type.optional;
  if (type.list && !element) {
    if (arg.kind != Arg::List)
      return false;
    return llvm::all_of(arg.list, [&](const Arg &a) {
      return fits(a, type, true, wrapsNumbers);
    });
  }
  switch (type.kind) {
  case SchemaType::Tensor:
    return arg.kind == Arg::Tensor ||
           (wrapsNumbers && !type.list && arg.isNumber());
  case SchemaType::Int:
    return arg.kind == Arg::Int || arg.kind == Arg::Bool;
  case SchemaType::Float:
    return arg.kind == Arg::Float || arg.kind == Arg::Int;
  case SchemaType::Bool:
    return arg.kind == Arg::Bool;
  case SchemaType::Scalar:
    return arg.isNumber();
  case SchemaType::Str:
  case SchemaType::Layout:
  case SchemaType::MemoryFormat:
    return arg.kind == Arg::Str;
  case SchemaType::DType:
    return arg.kind == Arg::DType;
  case SchemaType::Device:
    return arg.kind == Arg::Device;
  case SchemaType::Generator:
  case SchemaType::Storage:
    return false;
  }
  return false;
}

bool fitsType(const Arg &arg, const SchemaType &type, bool wrapsNumbers) {
  return fits(arg, type, /*element=*/false, wrapsNumbers);
}

} // namespace ft
