//===- CustomArgs.h - Arguments of custom operators, for C -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CUSTOM_CUSTOMARGS_H
#define FORETRACE_COMPILER_CUSTOM_CUSTOMARGS_H

#include "foretrace/kernel.h"

#include "dialects/ft/Schema.h"

#include <optional>

namespace ft {

/// The argument as C code may rely on it: an `int` is an Int, a `float` a
/// Float, whatever the program wrote (`2` for `float factor`, True for `int
/// n`).
Arg asDeclared(Arg arg, const SchemaType &type);

/// FT_ARG_*; complex numbers, which no C kernel takes, are FT_ARG_NONE.
int32_t argKind(const Arg &arg);

DLDataType toDLPack(DType dtype);
/// The device type of `meta`, which DLPack does not have, is 0.
DLDevice toDLPack(Device device);
/// Nothing for what no tensor of a program can have.
std::optional<DType> fromDLPack(DLDataType dtype);
std::optional<Device> fromDLPack(DLDevice device);

/// "float32", or "code 7 of 16 bits" for what has no name.
std::string dtypeText(DLDataType dtype);

} // namespace ft

#endif // FORETRACE_COMPILER_CUSTOM_CUSTOMARGS_H
