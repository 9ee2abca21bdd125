//===- ArgFit.h - Whether an argument fits its type ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_ARGFIT_H
#define FORETRACE_DIALECTS_FT_ARGFIT_H

#include "dialects/ft/Schema.h"

namespace ft {

/// Whether an argument of this type can have the value. `wrapsNumbers`: numbers
/// stand for tensors.
bool fitsType(const Arg &arg, const SchemaType &type,
              bool wrapsNumbers = false);

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_ARGFIT_H
