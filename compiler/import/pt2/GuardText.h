//===- GuardText.h - Reads the guards of an archive ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_GUARDTEXT_H
#define FORETRACE_COMPILER_IMPORT_PT2_GUARDTEXT_H

#include "compiler/shape/Dim.h"

#include <optional>

namespace ft::pt2 {

/// What a guard asks of an input.
struct GuardTerm {
  enum Kind : uint8_t { Size, Stride, Offset, Value };
  Kind kind;
  std::string input; // "batch_ids" for L['batch']['ids']
  unsigned dim = 0;  // of Size and Stride
};

/// What stands for a term in the graph: the size of an input's annotation.
/// Nothing if there is no such input or dim.
using GuardLookup =
    llvm::function_ref<std::optional<Dim>(const GuardTerm &term)>;

/// Reads a guard as archives hold it, Python text about the arguments of the
/// exported function, as a predicate over the graph's symbols:
///
///   L['x'].size()[1] <= 64                         s27 <= 64
///   L['i'].size()[0] == (3*L['off'].size()[0])     True: i is 3*s36 long
///
/// The keys of a nested argument are joined by `_`, as the exporter names
/// the inputs of the graph. Fails (FT0206) on whatever is not about a size, a
/// stride, an offset or an integer input.
llvm::Expected<SymExpr> parseGuard(SymContext &context, llvm::StringRef text,
                                   GuardLookup lookup);

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_GUARDTEXT_H
